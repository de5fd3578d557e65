"""NumPy's functions of vizgen/library/numeric.py, against NumPy."""
import functools

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

fast = functools.cache(accelerate)  # one object for each function of a test


@pytest.fixture(autouse=True)
def anew():
    fast.cache_clear()

FLOATS = ("float64", "float32")
DTYPES = FLOATS + ("int32", "uint8", "int64")


def numbers(shape, dtype, seed=0):
    random = np.random.RandomState(seed)
    return abs(random.randn(*shape) * 20).astype(dtype)


def running(a):
    return np.cumsum(a), np.cumsum(a, axis=0), np.cumsum(a, dtype=np.float64)


def running_products(a):
    return np.cumprod(a[:5]), np.cumprod(a[:3], dtype=np.float32)


def running_rows(a):
    return (np.cumsum(a, axis=0), np.cumsum(a, axis=1), np.cumsum(a),
            np.cumsum(np.cumsum(a, axis=-1), axis=0))


def integral(img):
    table = np.zeros((img.shape[0] + 1, img.shape[1] + 1), np.uint32)
    squares = img.astype(np.uint32) ** 2 * np.uint32(10000)
    table[1:, 1:] = np.cumsum(np.cumsum(squares, axis=0, dtype=np.uint32),
                              axis=1, dtype=np.uint32)
    return table


def differences(a):
    return np.diff(a), np.gradient(a), np.trapezoid(a)


def differences_of_rows(a):
    y, x = np.gradient(a)
    return np.diff(a), np.diff(a, axis=0), y, x, np.gradient(a, axis=1)


def order(a):
    return (np.median(a), np.percentile(a, 25), np.percentile(a, 99.5),
            np.quantile(a, 0.5))


def medians(a):
    return np.median(a)


def tables(a):
    return np.histogram(a), np.histogram(a, bins=7, range=(0, 40))


def places(table, keys):
    return (np.searchsorted(table, keys), np.searchsorted(table, keys, "right"),
            np.searchsorted(table, keys[0]))


def counts(x, w):
    return np.bincount(x), np.bincount(x, minlength=99), np.bincount(x, w)


def between(x, xp, fp):
    return (np.interp(x, xp, fp), np.interp(0.3, xp, fp),
            np.interp(x[0], xp, fp, left=-1.0, right=7))


def others(a):
    return np.average(a), np.average(a, weights=a + 1), np.polyval(a[:3], a)


def traces(m):
    return np.trace(m), m.trace(), m.cumsum(axis=1), m[0].cumsum()


def filters(a, v):
    return (np.convolve(a, v), np.convolve(a, v, "same"),
            np.convolve(v, a, mode="valid"))


def correlations(a, v):
    return np.correlate(a, v), np.correlate(a, v, "full")


def medians_along(a):
    return (np.median(a, axis=0), np.median(a, axis=1),
            np.percentile(a[0] * 1.0, [5, 50, 95.5]))


def indices(a, k):
    return (np.unravel_index(np.argmax(a), a.shape), np.unravel_index(k, (4,)),
            np.unravel_index(k, (2, 3, 4)))


def comparisons(a, b):
    return np.isclose(a, b), np.allclose(a, b), np.allclose(a, a + 1e-9)


def gaps(a):
    return np.nansum(a), np.nanmean(a), np.nanmin(a), np.nanmax(a)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype):
    for n in (2, 3, 30):
        a = numbers((2 * n,), dtype, n)
        for array in (a[:n], a[::2], a[::-1]):
            for program in (running, running_products, differences, medians,
                            others):
                assert_same(fast(program), (array,))
            if dtype != "float32":
                assert_same(fast(order), (array,))
                assert_same(fast(tables), (array,))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_planes(dtype):
    a = numbers((7, 9), dtype, 1)
    for array in (a, a[1:, ::2], a[::-1]):
        for program in (running_rows, differences_of_rows, traces, medians):
            assert_same(fast(program), (array,))
    assert_same(fast(integral), (numbers((5, 6), "uint8", 2),))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_filters(dtype):
    for n in (1, 3, 12, 40):
        for m in (1, 2, 11, 12, 30):
            a, v = numbers((n,), dtype, n), numbers((m,), dtype, m)
            assert_same(fast(filters), (a - 3, v))
            assert_same(fast(filters), (a[::-1], v[::2]))
            assert_same(fast(filters), (a, v * 0.5))
            if m <= n:
                assert_same(fast(correlations), (a, v))


@pytest.mark.parametrize("dtype", ("float64", "int32", "uint8"))
def test_medians_along(dtype):
    for shape in ((1, 1), (4, 5), (7, 2)):
        assert_same(fast(medians_along), (numbers(shape, dtype, 1),))


def test_indices_and_comparisons():
    a = numbers((4, 5), "float64", 2)
    assert_same(fast(indices), (a, 3))
    assert_same(fast(indices), (a, 4), native=False)
    assert_same(fast(comparisons), (a, a + 1e-7))
    assert_same(fast(comparisons), (a[0], a[0, 1]))
    b = a.copy()
    b[1, 1] = np.inf
    assert_same(fast(comparisons), (b, b))


@pytest.mark.parametrize("dtype", DTYPES)
def test_search(dtype):
    keys = numbers((40,), dtype, 3)
    for table in (np.sort(numbers((31,), dtype, 4)), numbers((31,), dtype, 5)):
        assert_same(fast(places), (table, keys))
    x = numbers((50,), "uint8", 6)
    assert_same(fast(counts), (x, numbers((50,), "float64", 7)))
    assert_same(fast(counts), (x.astype(np.int64), np.ones(50)))


def test_interpolation():
    random = np.random.RandomState(8)
    for n in (2, 3, 4, 5, 17, 60):
        xp = np.sort(random.randn(n))
        x = np.concatenate([random.randn(50), xp[::2], [np.nan]])
        assert_same(fast(between), (x, xp, random.randn(n)))
        assert_same(fast(between), (x, xp[::-1], random.randn(n)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gaps(dtype):
    a = numbers((40,), dtype, 9)
    assert_same(fast(gaps), (a,))
    a[::3] = np.nan
    assert_same(fast(gaps), (a,))
    assert_same(fast(gaps), (a.reshape(5, 8),))
    assert_same(fast(gaps), (a * np.nan,), native=False)
    assert_same(fast(medians), (a,))


def test_wraps_in_silence():
    a = np.array([2**62, 2**62, 2**62])
    assert_same(fast(running_rows), (a.reshape(1, 3),))
    with np.errstate(all="ignore"):
        b = np.array([1e308, 1e308, -np.inf])
    assert_same(fast(running_rows), (b.reshape(1, 3),), native=False)


def kinds(a, x):
    if a.dtype == np.uint8 or a.dtype == "uint8":
        return 1, np.ndim(a), np.ndim(x)
    if a.dtype in (np.float32, float):
        return 2
    return a.dtype != np.int32, a.dtype == "f8", a.dtype != x.dtype


def test_dtypes_are_compared():
    for dtype in DTYPES:
        a = np.ones((2, 3), dtype)
        assert_same(fast(kinds), (a, a[0, 0]))


def extremes_of_numbers(a):
    return np.nanmax(a), np.nanmin(a)


@pytest.mark.parametrize("dtype", ("bool", "uint8", "int64", "float32", "f8"))
def test_nan_extremes_keep_the_dtype(dtype):
    """2**53 + 1 is no double."""
    a = np.array([0, 7, 1, 2**53 + 1 if dtype == "int64" else 3]).astype(dtype)
    assert_same(fast(extremes_of_numbers), (a,))


def fmax_fmin(a, b):
    return np.fmax(a[0], b[0]), np.fmin(a[0], b[0]), np.fmax(a, b), np.fmin(b, a)


def test_fmax_of_zeros_of_both_signs():
    a, b = np.full(9, 0.0), np.full(9, -0.0)
    for args in ((a, b), (b, a)):  # by their places: Python's
        assert_same(fast(fmax_fmin), args, native=False)
    for args in ((a, a), (a + 1, b), (a * np.nan, b)):
        assert_same(fast(fmax_fmin), args)


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp)


def test_interp_is_in_c_order():
    x = np.asfortranarray(numbers((4, 5), "float64"))
    xp, fp = np.array([0.0, 3.0, 20.0]), np.array([1.0, -2.0, 5.0])
    got = assert_same(fast(interpolated), (x, xp, fp))
    assert got.flags.c_contiguous


def counted(a, least):
    return np.bincount(a, minlength=least)


def test_bincount_of_negative_length():
    fast = accelerate(counted)
    for least in (0, 5, -1):
        assert_same(fast, (np.array([1, 2]), least), native=least >= 0)


# --- powers of integers ---------------------------------------------------------


def power_in_place(a):
    a **= a[0]
    return a


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64", "int64"])
def test_large_exponents(dtype):
    """Up to the largest number of uint64, which no int64 holds."""
    top = np.iinfo(dtype).max
    fast = accelerate(power_in_place)
    for first in (top - 4, top // 2 + 1, top, 5, 0):
        assert_same(fast, (np.array([first, 3, 5, 7, 0, 1, 2, top], dtype),))
