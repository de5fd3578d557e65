"""2 ** k is an int or a float, by the sign of k: what is computed of it."""
import math

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

INTS = (7, -7, 1, -1, 0, 12, 8, -8, 5, 2 ** 52 + 1, 2 ** 60 + 1)
EXPONENTS = (0, 1, 2, 3, 4, 5, 9, 20)
FLOATS = (1.5, -2.5, 0.5, -0.0, 1e300, 3.0, math.inf, math.nan)


def quotients(n, k, x):
    a = 2 ** (k - 3)
    b = n // a
    c = n % a
    return b, c, math.copysign(1.0, b), math.copysign(1.0, c), b * -1.5


def divisors(n, k, x):
    a = 2 ** (k - 3)
    return a // n, a % n, a // x, a % x


def dividends(n, k, x):
    a = 2 ** (k - 3)
    return x // a, x % a, (-a) // 3, -(n // a) * 0.5, n // a % 3


@pytest.mark.parametrize("fn", (quotients, divisors, dividends))
def test_quotients(fn):
    fast = accelerate(fn, strict=True)
    for k in EXPONENTS:
        for n in INTS:
            for x in FLOATS:
                assert_same(fast, (n, k, x), native=False)
    assert fast.stats.python_calls == 0
    assert fast.stats.native_calls > fast.stats.replays


def levels(img):
    """A pyramid's sizes, by floor division and by its number of levels."""
    n = 8
    while n > 1 and min(img.shape[0], img.shape[1]) // 2 ** (n - 1) < 1:
        n -= 1
    out = np.zeros((n, 3))
    for k in range(n):
        out[k, 0] = img.shape[0] // 2 ** k
        out[k, 1] = img.shape[0] // 2 ** (k - 1)
        out[k, 2] = img.shape[1] % 2 ** (k - 1)
    return out


def test_levels():
    for size in ((1, 1), (2, 9), (64, 64), (100, 37), (300, 257)):
        assert_same(accelerate(levels), (np.zeros(size),))


def highlights(a, b):
    """max(v, 0) is NumPy's float or Python's int, and so is its power."""
    v = max(a[0] * b[0], 0) ** 30
    w = max(a[1] * b[1], 0) ** 2 + v
    return v, w, max(a[0], 1) ** 3


def test_powers_of_maybe_ints():
    fast = accelerate(highlights)
    for x in (0.5, -0.5, 1.5, 0.0, -0.0):
        assert_same(fast, (np.array([x, x]), np.array([1.25, 2.0])))
    assert fast.stats.python_calls == 0


def largest(a, limit):
    """-1 before the first element, one of NumPy's integers after it."""
    top = -1
    for v in a:
        if v > top and top < limit and top != 300:
            top = v
    return int(top), top


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int32, np.uint32,
                                   np.int64))
def test_comparisons_of_maybe_ints(dtype):
    fast = accelerate(largest)
    a = np.array([3, 1, 7, 7, 100, 2], dtype)
    for limit in (1000, 5, -3, 2 ** 40):
        signed = a.dtype.kind == "i"  # -1 is no uint8
        assert_same(fast, (a, limit), native=signed)
        assert_same(fast, (a[:0], limit), native=signed)


TWO = (lambda v, w, b: np.remainder(v, w), lambda v, w, b: np.add(v, v),
       lambda v, w, b: np.maximum(v, w), lambda v, w, b: np.clip(b, v, w),
       lambda v, w, b: np.where(b > 1, v, w))


@pytest.mark.parametrize("of_two", TWO)
def test_functions_of_two_maybe_ints(of_two):
    """Each is Python's int or an int16: an int64 if neither is NumPy's."""
    def run(a, b, n, both):
        v = n if n else a[1]
        w = n if both else a[0]
        return of_two(v, w, b)

    fast = accelerate(run)
    b = np.array([1, 5, 9], np.uint8)
    for n, both in ((3, True), (3, False), (0, False), (0, True)) * 2:
        assert_same(fast, (np.array([3, 4], np.int16), b, n, both),
                    native=False)
    assert fast.stats.native_calls > 0
