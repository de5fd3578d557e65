"""Private arrays may lie in another order of axes; no result depends on it."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def numbers(shape, dtype=np.float64):
    values = np.random.RandomState(3).uniform(-90, 90, shape)
    return values.astype(dtype)


def last_axis_slow(img, n):
    rows, cols = img.shape
    s = np.zeros((rows, cols, n))
    for k in range(n):
        for y in range(rows):
            for x in range(cols):
                s[y, x, k] = img[y, x] * k
    for k in range(1, n):
        for y in range(1, rows):
            for x in range(cols):
                s[y, x, k] += s[y - 1, x, k - 1]
    out = np.zeros((rows, cols))
    for k in range(n):
        for y in range(rows):
            for x in range(cols):
                out[y, x] = out[y, x] * 0.5 + s[y, x, k]
    return out


def columns_first(img, n):
    rows, cols = img.shape
    s = np.empty((rows, cols), dtype=np.float32)
    for x in range(cols):
        for y in range(rows):
            s[y, x] = img[y, x] + n
    out = np.zeros(cols)
    for x in range(cols):
        for y in range(rows):
            out[x] += s[y, x] * y
    return out


def curves(img, n):
    """Eight numbers a place, on an axis that is not the last."""
    rows, cols = img.shape
    s = np.zeros((rows, cols, 8, n + 1))
    for y in range(rows):
        for x in range(cols):
            for k in range(8):
                s[y, x, k, 0] = img[y, x] * k
    for l in range(1, n + 1):
        for y in range(rows // 2 ** l):
            for x in range(cols // 2 ** l):
                s[y, x, :, l] = (s[2 * y, 2 * x, :, l - 1]
                                 + 3.0 * s[2 * y + 1, 2 * x, :, l - 1])
    out = np.zeros((rows, cols))
    for l in range(n + 1):
        for y in range(rows):
            for x in range(cols):
                k = int(abs(img[y, x])) % 8
                out[y, x] += s[y, x, k, l] - s[rows - 1 - y, x, 7 - k, l]
    return out


def integers(img, n):
    """A box of another dtype, filled with ones, written in part."""
    rows, cols = img.shape
    s = np.ones((cols, rows, 3), dtype=np.int16)
    for y in range(rows - 1):
        for x in range(1, cols):
            s[x, y, 1] = int(img[y, x]) + n
    total = 0
    for y in range(rows):
        for x in range(cols):
            total = (total * 7 + int(s[x, y, 0]) + int(s[x, y, 1])) % 1000003
    return total


def gathered_rows(img, n):
    rows, cols = img.shape
    s = np.zeros((cols, rows))
    for y in range(rows):
        for x in range(cols):
            s[x, y] = img[y, x]
    total = 0.0
    for y in range(rows):
        for x in range(cols):
            total += s[(x * n) % cols, y - 1]
    return total


def out_of_range(img, n):
    rows, cols = img.shape
    s = np.zeros((rows, cols, 2))
    for k in range(2):
        for y in range(rows):
            for x in range(cols):
                s[y + k, x, k] = img[y, x]
    return s[0, 0, 0]


def shown(img, n):
    """A view of the array is handed out: it must stay as it is."""
    rows, cols = img.shape
    s = np.zeros((rows, cols, 2))
    for k in range(2):
        for y in range(rows):
            for x in range(cols):
                s[y, x, k] = img[y, x] * (n + k)
    return s


def through_view(img, n):
    """Elements by another name."""
    rows, cols = img.shape
    s = np.zeros((rows, cols, 3))
    t = s[:, ::-1, 1]
    for k in range(3):
        for y in range(rows):
            for x in range(cols):
                s[y, x, k] += img[y, x]
    for y in range(rows):
        for x in range(cols):
            t[y, x] = t[y, x] * n
    total = 0.0
    for k in range(3):
        for y in range(rows):
            for x in range(cols):
                total = total * 0.9 + s[y, x, k]
    return total


def even_vote(img, n):
    """Written one way and read the other."""
    rows, cols = img.shape
    s = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            s[y, x] = img[y, x] * n
    total = 0.0
    for x in range(cols):
        for y in range(rows):
            total = total * 0.5 + s[y, x]
    return total


MOVED = (last_axis_slow, columns_first, curves, integers, gathered_rows,
         through_view)
KEPT = (shown, even_vote)
SHAPES = ((6, 7), (1, 1), (9, 2), (2, 5), (0, 3), (3, 0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", MOVED + KEPT + (out_of_range,),
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", ("", "parallel=0 vectorize=0 pipes=0"))
def test_same_results(program, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fast = accelerate(program)
    for shape in SHAPES:
        for n in (2, 1, 0):
            assert_same(fast, (numbers(shape), n), native=False)
        assert_same(fast, (numbers(shape)[::-1, ::-1], 2), native=False)
    if program is not out_of_range:
        assert fast.stats.python_calls == 0


@pytest.mark.parametrize("program", MOVED, ids=lambda f: f.__name__)
def test_moved(program):
    assert "VZ-3016" in accelerate(program).explain(numbers((6, 7)), 2)


@pytest.mark.parametrize("program", KEPT, ids=lambda f: f.__name__)
def test_kept(program):
    assert "VZ-3016" not in accelerate(program).explain(numbers((6, 7)), 2)


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_threads(threads):
    fast = accelerate(curves, threads=threads)
    assert_same(fast, (numbers((64, 33)), 3))
