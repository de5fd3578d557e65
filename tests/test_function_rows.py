"""NumPy's functions of single numbers, computed by rows."""
import numpy as np
import pytest

from tests.support import assert_same, layouts
from vizgen import accelerate

COLUMNS = (0, 1, 7, 8, 9, 255, 256, 257, 600)


def mapped(a, b, k):
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = np.exp(-a[y, x]) * np.sin(b[y, x]) + k
    return out


def chained(a, b, k):
    """The operand of one is made of the other."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            b[y, x] = np.log1p(np.tanh(a[y, x] * k)) - np.cos(a[y, x])


def summed(a, b, k):
    total = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            total += np.exp(-(a[y, x] - b[y, x]) ** 2 / k)
    return total


def in_place(a, b, k):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            a[y, x] = np.exp(a[y, x] * k)


def recurrence(a, b, k):
    """The operand is what the round before has made: no rows."""
    t = 0.5
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            t = np.cos(t * a[y, x])
            b[y, x] = t


def sometimes(a, b, k):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > k:
                b[y, x] = np.log(a[y, x] - k)


def to_an_index(a, b, k):
    """With a check of what comes out."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            b[y, int(np.exp2(-a[y, x] * a[y, x]) * 0.9)] += 1


FUNCTIONS = (mapped, chained, summed, in_place, recurrence, sometimes,
             to_an_index)


def arguments(columns, rows=3, dtype=np.float64):
    rng = np.random.default_rng(columns)
    return (rng.uniform(-3, 3, (rows, columns)).astype(dtype),
            rng.uniform(-3, 3, (rows, columns)).astype(dtype), 0.7)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_same(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for columns in COLUMNS:
            assert_same(fast, arguments(columns), native=False)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_odd_numbers(fn):
    """Also their warnings."""
    fast = accelerate(fn)
    for bad in (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, -0.0, 1e5):
        args = arguments(300)
        args[0][1, 17] = args[1][2, 290] = bad
        assert_same(fast, args, native=False)


@pytest.mark.parametrize("fn", (mapped, chained, summed))
def test_by_rows(fn):
    fast = accelerate(fn)
    assert "vz_row1(np_" in fast.inspect_c(*arguments(300))
    fast._set_variant("rows=0")
    assert "vz_row1(np_" not in fast.inspect_c(*arguments(300))
    assert_same(fast, arguments(300))


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_dtypes_and_layouts(fn):
    fast = accelerate(fn)
    for dtype in ("f4", "i8"):
        assert_same(fast, arguments(40, dtype=dtype), native=False)
    a, b, k = arguments(40)
    for name in layouts(a):
        assert_same(fast, (layouts(a)[name], layouts(b)[name], k),
                    native=False)


def behind_checks(a, b, q):
    """Whether a load is in range is found by a check that waits for a sum."""
    s = 0.0
    p = 0
    for i in range(b.shape[0]):
        j = int(q[i])
        assert p >= 0
        assert j >= 0
        assert j + p < a.shape[0]
        s += np.exp(a[j])
        p = p + int(b[i] & 1)
    return s


def test_loads_behind_a_check_that_waits():
    fast = accelerate(behind_checks)
    for bad in (3, 49, 50, 10 ** 10):
        q = np.full(30, 3)
        q[20] = bad
        assert_same(fast, (np.arange(50.0) / 50, np.arange(30), q),
                    native=False)


def from_to(q):
    s = 0.0
    for i in range(int(q[0]), int(q[1])):
        s += np.exp(i * 1e-3)
    return s


def test_ends_that_are_far_apart():
    fast = accelerate(from_to)
    far = 2 ** 62 + 5000
    for lo, hi in ((far, -far), (5, 5), (7, -9), (-3, 40), (3, 300),
                   (-2 ** 63, -2 ** 63 + 20), (2 ** 63 - 1, 0)):
        assert_same(fast, (np.array([lo, hi]),), native=False)
