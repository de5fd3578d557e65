"""Positions that are ints first and NumPy's integers later.

`p = 0` and `p += counts[i]`: a run of a loop decides whether `p` is Python's or
NumPy's integer.  As an index, a bound, a size or an operand it is either.
"""
import math
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

COUNTS = ([2, 3, 3], [1], [], [0, 0, 4], [5, 0, 1, 2])


def marks(c):
    out = np.zeros(12)
    p = 0
    for i in range(len(c)):
        out[p] = 1
        p += c[i]
    return out


def ranges(c):
    out = np.zeros(12)
    p = 0
    for i in range(len(c)):
        n = c[i]
        out[p:p + n] = i + 1
        p += n
    return out, p


def steps(c):
    out = np.zeros((3, 12))
    p = 0
    for i in range(len(c)):
        out[:, p] += out[i % 3, p] + 1
        out[1, p::2] = 3
        out[2, -p - 1] = p
        p += c[i]
    return out


def parts(c):
    out = np.zeros(12)
    p = 0
    for i in range(len(c)):
        for k in range(c[i]):
            out[p + k] = k
        p = p + c[i]
    return out, p + 1


def greatest(c):
    p = 0
    s = 0
    for i in range(len(c)):
        s = s + (p > 3)
        p = max(p, c[i])
    return s, p, p * 2, p - 7, -p, abs(p - 3), p // 2, p % 3


def stored(c):
    out = np.zeros(len(c), np.int64)
    p = 0
    for i in range(len(c)):
        out[i] = p * 2
        p = c[i]
    return out, p << 2, p >> 1, p & 6, p | 8, p ^ 5, ~p, p / 4


def sizes(c):
    p = 2
    for i in range(len(c)):
        p = c[i] + 1
    return (np.zeros(p), np.ones((p + 1, 2)), np.full(3, p), np.array([p, 4]),
            np.arange(12).reshape(-1, 6)[0, :p], np.int64(p), float(p), int(p))


def exact(c, k, x):
    p = k
    for i in range(len(c)):
        p = c[i]
    return p / 3, p < x, p == x, p + x


FUNCTIONS = (marks, ranges, steps, parts, greatest, stored, sizes)


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("dtype", (np.int64, np.int32, np.uint8, np.int8))
def test_offsets(fn, dtype):
    fast = accelerate(fn)
    negative = fn in (greatest, stored, steps) and np.dtype(dtype).kind == "u"
    narrow = fn is sizes and dtype is not np.int64  # of np.full(3, p)
    native = not negative and not narrow
    for counts in COUNTS:
        assert_same(fast, (np.array(counts, dtype),), native=native)
    if native:
        assert fast.stats.python_calls == 0


def test_exact():
    fast = accelerate(exact)
    for k in (0, 7, -3, 2 ** 53 + 1, 2 ** 60 + 1, -2 ** 62 - 1):
        for x in (0.5, 7.0, float(2 ** 53), float(2 ** 60), math.inf):
            for counts in ([], [5, 2]):
                c = np.array(counts, np.int64)
                assert_same(fast, (c, k, x), native=False)
    assert fast.stats.python_calls == 0


def overflows(c, k):
    p = k
    for i in range(len(c)):
        p = c[i]
    return p + p, p * 3, p - 5, -p, p << 3


def test_overflow():
    """Python's integers grow, NumPy's wrap with a warning."""
    for dtype in (np.int64, np.int8):
        fast = accelerate(overflows)
        edge = np.iinfo(dtype).max
        for k in (3, edge, edge - 1, -edge, -edge - 1, edge // 2 + 1):
            for counts in ([], [5], [edge], [-edge - 1]):
                c = np.array(counts, dtype)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    assert_same(fast, (c, k), native=False)


def into_float32(c, k):
    p = k
    for i in range(len(c)):
        p = c[i]
    out = np.zeros(2, np.float32)
    out[0] = p
    return out


def test_stored_in_float32():
    fast = accelerate(into_float32)
    for k in (1, 2 ** 24 + 1, 2 ** 60 + 2 ** 36 + 1, 2 ** 54 + 2 ** 30 + 1):
        for counts in ([], [k]):
            assert_same(fast, (np.array(counts, np.int64), k), native=False)


def neuron(w, x):
    z = 0.0
    for i in range(len(w)):
        z += w[i] * x[i]
    return 1 / (1 + np.exp(-z)), np.tanh(z), np.maximum(z, 0.5), np.sqrt(z * z)


def summed(w, x):
    z = 0
    for i in range(len(w)):
        z += w[i] * x[i]
    return np.exp(-z), np.hypot(z, 3.0), math.exp(z), math.atan2(z, 2)


@pytest.mark.parametrize("fn", (neuron, summed))
def test_functions(fn):
    fast = accelerate(fn)
    rng = np.random.default_rng(3)
    for n in (0, 1, 5):
        assert_same(fast, (rng.normal(size=n), rng.normal(size=n)))
    assert fast.stats.python_calls == fast.stats.replays == 0


def signs(w):
    z = 0
    for i in range(len(w)):
        z += w[i]
    return np.sign(z), np.abs(z), np.floor(z)


def test_functions_that_tell_ints():
    """np.sign of an int is an int64: not the same, so the call is repeated."""
    fast = accelerate(signs)
    for n in (3, 2, 1, 0):
        assert_same(fast, (np.full(n, -1.5),), native=n > 0)
    single = accelerate(neuron)
    for n in (3, 0):
        x = np.full(n, 0.7, np.float32)
        assert_same(single, (x, x), native=n > 0)
