"""Zeroed arrays of which a program uses parts are cleared where these come
into use, and what is read without having been written is still zero.

Every program runs first on numbers that are not, so that what it leaves in
recycled memory would be seen.
"""
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def numbers(shape, seed=1):
    return np.random.RandomState(seed).uniform(-9, 9, shape)


def pyramid(img, levels):
    """Each level fills the upper left part; odd sizes read beyond it."""
    rows, cols = img.shape
    pyr = np.zeros((levels, rows, cols))
    for y in range(rows):
        for x in range(cols):
            pyr[0, y, x] = img[y, x]
    for l in range(1, levels):
        h = rows // 2 ** l
        w = cols // 2 ** l
        for y in range(h):
            for x in range(w):
                pyr[l, y, x] = pyr[l - 1, 2 * y, 2 * x] + pyr[l - 1, y + h, x]
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows // 2 ** l):
            for x in range(cols // 2 ** l):
                out[y, x] += pyr[l, (y + 1) // 2, (x + 1) // 2] + pyr[l, y, x]
    return out


def pixels(img, levels):
    """Channels belong to a column; two stores side by side, and one at the
    end of each row."""
    rows, cols = img.shape
    big = np.zeros((levels, rows, cols, 4))
    for l in range(levels):
        h = int(rows * 2 ** (-l))
        w = int(cols * 2 ** (-l))
        for y in range(h):
            big[l, y, 0, :] = img[y, 0] + l
            for x in range(1, w - 1):
                big[l, y, x, :] = img[y, x] - l
            big[l, y, w - 1, :] = 5.0
    out = np.zeros((rows, cols, 4))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x, :] = out[y, x, :] * 2.0 + big[l, y, x, :]
    return out


def border(img, levels):
    """Only the inside of each slab is written, a frame is read."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    total = 0.0
    for l in range(levels):
        h = rows // 2 ** l
        for y in range(1, h - 1):
            for x in range(2, cols - 1):
                s[l, y, x] = img[y, x] * l
        for y in range(rows):
            for x in range(cols):
                total = total * 0.5 + s[l, y, x]
    return total


def sparse(img, levels):
    """A condition decides what is written; the rest is read as zero."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    out = np.zeros((levels, rows))
    for l in range(levels):
        h = rows // 2 ** l
        for y in range(h):
            for x in range(cols):
                if img[y, x] > l:
                    s[l, y, x] = img[y, x]
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[l, y] += s[l, y, cols - 1 - x] * x
    return out


def backwards(img, levels):
    """Slabs and columns that count from the end."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    for l in range(levels):
        h = rows // 2 ** l
        for y in range(h):
            for x in range(cols - l):
                s[-1 - l, y, x - 1] = img[y, x]
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x] += s[l, y, x - 1] + s[l, y - 1, x]
    return out


def gathered(img, levels):
    """Where it is read depends on what was read."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    for l in range(levels):
        for y in range(rows // (l + 1)):
            for x in range(cols // (l + 1)):
                s[l, y, x] = img[y, x]
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                k = int(abs(img[y, x])) % cols
                out[y, x] += s[l, (y * 7) % rows, k]
    return out


def carried(img, levels):
    """Rows that a while loop chooses, and a slab that none does."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    for l in range(levels - 1):
        h = rows // 2 ** l
        for y in range(h):
            x = 0
            while x < cols and img[y, x] > -5:
                s[l, y, x] = img[y, x]
                x += 1
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x] += s[l, y, x]
    return out


def summed(img, levels):
    """Read before it is written, in the same nest."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    for k in range(2):
        for l in range(levels):
            h = rows // 2 ** l
            for y in range(h):
                for x in range(cols):
                    s[l, y, x] += img[y, x]
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x] += s[l, y, x]
    return out


def whole_slabs(img, levels):
    rows, cols = img.shape
    a = np.zeros((levels, rows, cols))
    b = np.zeros((levels, rows, cols))
    for l in range(levels):
        for y in range(rows // 2 ** l):
            for x in range(cols // 2):
                a[l, y, x] = img[y, x] + l
        b[l, :, :] = a[l, :, :]
    a[0, :, :] = b[levels - 1, :, :]
    return a[0] + b[0]


def levels_of(img, levels):
    """A pyramid whose level l has rows // (l + 1) rows, and a column less."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    for l in range(levels):
        for y in range(rows // (l + 1)):
            for x in range(cols - 1 - l):
                s[l, y, x] = img[y, x] + l
    return s


def copied_down(img, levels):
    """The last level of one is the last of another, upside down."""
    rows, cols = img.shape
    levels = max(levels, 1)
    s = levels_of(img, levels)
    t = np.zeros((levels, rows, cols))
    for y in range(rows):
        for x in range(cols):
            t[levels - 1, rows - 1 - y, x] = s[levels - 1, y, x]
    out = np.zeros((rows, cols))
    for l in range(levels - 1, -1, -1):
        for y in range(rows):
            for x in range(cols):
                out[y, x] = out[y, x] / 2 + t[l, y, x] - s[l, y, x]
    return out


def copied_over(img, levels):
    """Over what is there, in a part of the rows; longer and shorter ones."""
    rows, cols = img.shape
    levels = max(levels, 1)
    s = levels_of(img, levels)
    t = levels_of(-img, levels)
    for y in range(rows):
        for x in range(cols):
            t[0, y, x] = s[levels - 1, y, x]
    for y in range(rows // 2, rows):
        for x in range(cols // 2):
            t[levels - 1, y, x] = s[0, y, x]
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x] += t[l, y, x] * (l + 1)
    return out


def copied_beside(img, levels):
    """To other columns, to what was filled with another number, and back."""
    rows, cols = img.shape
    levels = max(levels, 1)
    s = levels_of(img, levels)
    t = np.full((levels, rows, cols), -0.0)
    for y in range(rows):
        for x in range(cols):
            t[levels - 1, y, x] = s[levels - 1, y, x]
    for y in range(rows):
        for x in range(cols - 1):
            s[levels - 1, y, x + 1] = t[levels - 1, y, x]
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x] += np.copysign(1.0, t[l, y, x]) + s[l, y, x]
    return out


def copied_channels(img, levels):
    """Two channels of three, then all of them."""
    rows, cols = img.shape
    levels = max(levels, 1)
    s = np.zeros((levels, rows, cols, 3))
    t = np.zeros((levels, rows, cols, 3))
    u = np.zeros((levels, rows, cols, 3))
    for l in range(levels):
        for y in range(rows // 2 ** l):
            for x in range(cols // 2 ** l):
                s[l, y, x, :] = img[y, x] * (l + 1)
    for y in range(rows):
        for x in range(cols):
            t[levels - 1, y, x, 0] = s[levels - 1, y, x, 1]
            t[levels - 1, y, x, 2] = s[levels - 1, y, x, 2]
    for y in range(rows):
        for x in range(cols):
            u[levels - 1, y, x, :] = s[levels - 1, y, x, :]
    out = np.zeros((rows, cols, 3))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x, :] += t[l, y, x, :] + 0.5 * u[l, y, x, :]
    return out


def ones(img, levels):
    """Filled with something else than zeros."""
    rows, cols = img.shape
    s = np.full((levels, rows, cols), 3, dtype=np.int32)
    for l in range(levels):
        for y in range(rows // 2 ** l):
            for x in range(cols):
                s[l, y, x] = y - x
    out = np.zeros((rows, cols))
    for l in range(levels):
        for y in range(rows):
            for x in range(cols):
                out[y, x] += s[l, y, x]
    return out


def failing(img, levels):
    """The last level's rows are too many."""
    rows, cols = img.shape
    s = np.zeros((levels, rows, cols))
    for l in range(levels):
        n = rows - 2 + l
        for y in range(n):
            for x in range(cols):
                s[l, y, x] = img[y % rows, x]
    return s[levels - 1, 0, 0]


PROGRAMS = (pyramid, pixels, border, sparse, backwards, gathered, carried,
            summed, whole_slabs, ones, copied_down, copied_over, copied_beside,
            copied_channels, failing)
SHAPES = ((8, 8), (7, 9), (1, 1), (2, 1), (1, 6), (5, 3), (0, 4), (4, 0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", ("", "parallel=0 vectorize=0 regions=0"))
def test_parts_are_cleared(program, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fast = accelerate(program)
    for shape in SHAPES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fast(np.full(shape, np.nan), 3)
            except (IndexError, ValueError):
                pass
        for levels in (3, 1, 0):
            assert_same(fast, (numbers(shape), levels), native=False)


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_many_rows_by_threads(threads):
    fast = accelerate(pyramid, threads=threads)
    fast(np.full((203, 101), np.nan), 5)
    assert_same(fast, (numbers((203, 101)), 5))
    assert_same(fast, (numbers((203, 101))[::-1, ::-1], 4))


@pytest.mark.parametrize(
    "program", (pyramid, pixels, border, sparse, backwards, gathered,
                whole_slabs, ones),
    ids=lambda f: f.__name__)
def test_the_report_says_so(program):
    fast = accelerate(program)
    text = fast.explain(numbers((8, 8)), 3)
    assert "cleared row by row" in text


@pytest.mark.parametrize(
    "program", (copied_down, copied_over, copied_channels),
    ids=lambda f: f.__name__)
def test_only_what_is_in_use_is_copied(program):
    fast = accelerate(program)
    assert "valid" in fast.inspect_c(numbers((8, 8)), 3)


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_copies_by_threads(threads):
    for program in (copied_down, copied_over):
        fast = accelerate(program, threads=threads)
        fast(np.full((203, 101), np.nan), 5)
        assert_same(fast, (numbers((203, 101)), 5))


def whole(img):
    """All of it is in use: nothing is gained by asking for rows."""
    rows, cols = img.shape
    s = np.zeros((rows, cols))
    for y in range(1, rows - 1):
        for x in range(1, cols - 1):
            s[y, x] = img[y, x]
    t = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            t[y, x] = s[y, x] + s[rows - 1 - y, cols - 1 - x]
    return t


def test_a_whole_array_is_cleared_at_once():
    fast = accelerate(whole)
    assert_same(fast, (numbers((6, 7)),))
    assert "cleared row by row" not in fast.explain(numbers((6, 7)))
