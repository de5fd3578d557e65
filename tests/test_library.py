"""NumPy functions that are written in Python, against NumPy's own."""
import functools

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

fast = functools.cache(accelerate)  # one object for each function of a test


@pytest.fixture(autouse=True)
def anew():
    fast.cache_clear()


def eyes(n, m):
    return np.eye(n), np.eye(n, m, 1), np.eye(n, dtype=int), np.identity(m)


def flips(a):
    return np.flip(a) + 1, np.flipud(a) + 1, np.fliplr(a) + 1, np.flip(a, 1) * 2


def rolls(a, row, k):
    return (np.roll(a, k, axis=0), np.roll(a, k, axis=1), np.roll(row, k),
            np.roll(np.roll(a, 1, axis=0), -1, 1))


def pads(a):
    return (np.pad(a, 2), np.pad(a, ((1, 2), (0, 3)), mode="edge"),
            np.pad(a, 1, mode="reflect"), np.pad(a, 3, "symmetric"),
            np.pad(a, 2, mode="wrap"),
            np.pad(a, 1, mode="constant", constant_values=7))


def coloured_pad(a):
    return np.pad(a, ((1, 1), (2, 2), (0, 0)), mode="edge")


def equal(a, b):
    return np.array_equal(a, b), np.array_equal(a, a[::-1])


def products(row):
    return np.outer(row, row)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", (np.uint8, np.int32, np.float32, np.float64))
def test_functions(dtype):
    a = (np.arange(20).reshape(4, 5) % 7).astype(dtype)
    for x in (a, a[::-1, ::2], np.asfortranarray(a)):
        order = not x.flags.fnc  # else results are in Fortran's order, too
        assert_same(fast(flips), (x,), native=order)
        assert_same(fast(pads), (x,))
        for k in (0, 1, -2, 9):
            assert_same(fast(rolls), (x, x[0], k), native=order)
        assert_same(fast(equal), (x, x.copy()))
        assert_same(fast(equal), (x, x[:-1]))
    assert_same(fast(coloured_pad), (np.ones((3, 4, 3), dtype),))
    assert_same(fast(products), (a[1],))


def test_eye():
    for n, m in ((3, 4), (1, 1), (0, 2), (5, 2)):
        assert_same(fast(eyes), (n, m))


def kinds(x, t):
    return (isinstance(x, int), isinstance(x, float),
            isinstance(x, (int, float)), isinstance(x, np.ndarray),
            isinstance(x, np.float32), isinstance(t, tuple),
            isinstance(t, (list, str)), isinstance(x, bool))


def test_isinstance():
    for x in (1, True, 2.5, np.float64(1), np.float32(1), np.int64(3),
              np.ones(3)):
        assert_same(fast(kinds), (x, (1, 2)))
