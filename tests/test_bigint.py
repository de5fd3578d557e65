"""Constants of more than 63 bits beside NumPy's integers and in comparisons."""
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


BASIS = np.uint64(0xcbf29ce484222325)


def fnv(a):
    h = BASIS
    for v in a:
        h = ((h ^ v) * np.uint64(0x100000001b3)) & 0xFFFFFFFFFFFFFFFF
    return h, h % 0xFFFFFFFFFFFFFFC5, 0x8000000000000000 | h, h // (2 ** 63)


def of_arrays(a):
    return a & 0xFFFFFFFFFFFFFFFF, a ^ 0x9E3779B97F4A7C15, a | (1 << 63)


def below(a):
    n = 0
    for v in a:
        n += (v < 0x8000000000000001) + 2 * (v == 0xFFFFFFFFFFFFFFFF)
        n += 4 * (v >= 2 ** 63)
    return n


VALUES = (0, 1, 3, 2 ** 63 - 1, 2 ** 63, 2 ** 63 + 1, 2 ** 64 - 1)


@pytest.mark.parametrize("fn", (fnv, of_arrays, below))
def test_uint64(fn):
    fast = accelerate(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (0, 1, 4, 7):
            assert_same(fast, (np.array(VALUES[:n], np.uint64),), native=False)
    assert fast.stats.python_calls == 0
    assert fast.stats.native_calls > fast.stats.replays


def edges(a, k):
    n = 0
    for v in a:
        if v != 2 ** 63:
            n += 1
        if v < 2 ** 63 and v > -2 ** 64 and not v == 0x8000000000000000:
            n += 2
        if v > 1 << 70 or v <= -2 ** 63 - 1:
            n += 4
    return n, k < 2 ** 64, k >= 2 ** 63, k > 2 ** 63 - 1, a[0] != 2 ** 63


@pytest.mark.parametrize("dtype", (np.int64, np.int8, np.uint32, np.int32))
def test_comparisons(dtype):
    fast = accelerate(edges)
    for k in (0, -1, 2 ** 63 - 1, -2 ** 63):
        assert_same(fast, (np.array([3, 0, 7], dtype), k))


def masked(h):
    return h & 0xFFFFFFFFFFFFFFFF


def test_python_ints():
    """They have more bits: left in Python, with the reason."""
    with pytest.warns(UserWarning, match="an integer of more than 63 bits"):
        assert accelerate(masked)(-1) == 2 ** 64 - 1
