"""Last stages that gather something: counts, sums, extremes, flags."""
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def smoothed(img):
    """By a clamped window of three rows: what all the programs here read."""
    rows, cols = img.shape
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            out[r, c] = (img[max(r - 1, 0), c] + 2 * img[r, c]
                         + img[min(r + 1, rows - 1), c])
    return out


def slopes(img):
    """The same with whole numbers."""
    rows, cols = img.shape
    out = np.zeros((rows, cols), np.int64)
    for r in range(rows):
        for c in range(cols):
            out[r, c] = img[min(r + 1, rows - 1), c] > img[r, c]
    return out


def counted(img):
    soft = smoothed(img)
    rows, cols = img.shape
    count = 0
    for r in range(1, rows):
        for c in range(cols):
            if soft[r, c] - soft[r - 1, c] > 10:
                count += 1
    return count


def stored_and_counted(img):
    soft = smoothed(img)
    rows, cols = img.shape
    out = np.zeros((rows, cols))
    count = 3
    other = -1
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = soft[r, c] - soft[r - 1, c]
            if out[r, c] > 10:
                count += 1
            elif out[r, c] < -20:
                other += 2
    return out, count, other


def extremes(img):
    steep = slopes(img)
    rows, cols = img.shape
    low = 1000
    high = -1000
    for r in range(1, rows):
        for c in range(cols):
            d = int(steep[r, c]) + int(steep[r - 1, c])
            if d > high:
                high = d
            low = min(low, d)
    return low, high


def flagged(img):
    soft = smoothed(img)
    rows, cols = img.shape
    some = False
    every = True
    for r in range(1, rows):
        for c in range(cols):
            bright = soft[r, c] + soft[r - 1, c] > 300
            if bright:
                some = True
            else:
                every = False
    return some, every


def summed(img):
    """A sum of floats keeps its order."""
    soft = smoothed(img)
    rows, cols = img.shape
    total = 0.0
    for r in range(1, rows):
        for c in range(cols):
            total += soft[r, c] - soft[r - 1, c]
    return total


def brightest(img):
    """The first of the greatest: of 0.0 and -0.0, that which comes first."""
    soft = smoothed(img)
    rows, cols = img.shape
    best = soft[0, 0]
    for r in range(1, rows):
        for c in range(cols):
            v = (soft[r, c] - soft[r - 1, c]) * 0.0
            if v > best:
                best = v
    return best


def placed(img):
    """The place of the last one depends on the order."""
    soft = smoothed(img)
    rows, cols = img.shape
    at = -1
    for r in range(1, rows):
        for c in range(cols):
            if soft[r, c] - soft[r - 1, c] > 10:
                at = r * cols + c
    return at


def numbered(img):
    """What is counted is used meanwhile."""
    soft = smoothed(img)
    rows, cols = img.shape
    out = np.zeros((rows, cols), np.int64)
    n = 0
    for r in range(1, rows):
        for c in range(cols):
            if soft[r, c] - soft[r - 1, c] > 10:
                n += 1
            out[r, c] = n
    return out


def by_row(img):
    """A count that begins anew in each row."""
    soft = smoothed(img)
    rows, cols = img.shape
    out = np.zeros(rows, np.int64)
    most = 0
    for r in range(1, rows):
        n = 0
        for c in range(cols):
            if soft[r, c] - soft[r - 1, c] > 10:
                n += 1
        out[r] = n
        most = max(most, n)
    return out, most


def last_row(img):
    """Each row begins with what there was before all of them."""
    soft = smoothed(img)
    rows, cols = img.shape
    start = 5
    n = start
    for r in range(1, rows):
        n = start
        for c in range(cols):
            if soft[r, c] - soft[r - 1, c] > 10:
                n += 1
    return n


def rows_too(img):
    """Each row counts for one more."""
    soft = smoothed(img)
    rows, cols = img.shape
    n = 0
    for r in range(1, rows):
        n += 1
        for c in range(cols):
            if soft[r, c] - soft[r - 1, c] > 10:
                n += 1
    return n


FUSED = (counted, stored_and_counted, extremes, flagged)
OTHERS = (summed, brightest, placed, numbered, by_row, last_row, rows_too)
SHAPES = ((20, 30), (1, 1), (2, 1), (1, 5), (3, 2), (0, 4), (4, 0), (17, 1100),
          (203, 60))


def picture(shape):
    return np.random.default_rng(8).integers(0, 256, shape).astype(float)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", FUSED + OTHERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", ("", "parallel=0 vectorize=0 regions=0"))
def test_same_results(program, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fast = accelerate(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape in SHAPES:
            if program is not brightest or 0 not in shape:
                assert_same(fast, (picture(shape),), native=False)
        assert_same(fast, (picture((31, 44))[::-1, ::2],), native=False)
    assert fast.stats.python_calls == 0


@pytest.mark.parametrize("program", FUSED, ids=lambda f: f.__name__)
def test_fused(program):
    assert "VZ-3009" in accelerate(program).explain(picture((6, 7)))


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_threads(threads):
    for program in (stored_and_counted, extremes, flagged):
        fast = accelerate(program, threads=threads)
        assert_same(fast, (picture((403, 301)),))
