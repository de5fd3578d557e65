"""Branches that store, in loops that run in SIMD lanes."""
import numpy as np
import pytest

from tests.support import assert_same, layouts
from vizgen import accelerate

SIMD = "several rounds at a time"
SIZES = ((0, 3), (1, 1), (3, 7), (5, 16), (4, 33), (2, 200))


def threshold(a, b, out, t):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > t:
                out[y, x] = a[y, x] * 2


def in_place(a, b, out, t):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            v = a[y, x]
            if v > t:
                a[y, x] = t
            elif v < 0.25:
                a[y, x] = v + t


def nested(a, b, out, t):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            v = a[y, x]
            w = 0.0
            if v > t:
                w = v * 0.5
                if b[y, x] > 0.5:
                    out[y, x] = b[y, x] * 2
                    w = w + 1
                else:
                    b[y, x] = v
            else:
                if v < 0.1:
                    out[y, x] = 0.0
            a[y, x] = w


def two_arrays(a, b, out, t):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] < t:
                b[y, x] = a[y, x] - 1
            else:
                out[y, x] = a[y, x] + b[y, x] * 3


def shifted(a, b, out, t):
    """Only where there is a neighbour; the border's conditions are known in
    the interior, the others are masks."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if x > 0 and a[y, x] > t:
                out[y, x] = a[y, x - 1]


def behind(a, b, out, t):
    """Reads what an earlier store of the round may have written."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > t:
                out[y, x] = 5.0
            b[y, x] = out[y, x] + 1


def twice(a, b, out, t):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > t:
                out[y, x] = 1.0
            if b[y, x] > t:
                out[y, x] = 2.0


def counted(a, b, out, t):
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > t:
                out[y, x] = -1.0
                n += 1
    return n


def to_the_left(a, b, out, t):
    """Each round may write what another one writes: no SIMD."""
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1]):
            if a[y, x] > t:
                out[y, x - 1] = 1.0
            else:
                out[y, x] = 2.0


def divided(a, b, out, t):
    """Warns where the condition holds, and only there."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > t:
                out[y, x] = b[y, x] / (a[y, x] - a[y, x])


MASKS = (threshold, in_place, nested, two_arrays, shifted, twice, counted)
OTHERS = (behind, to_the_left, divided)


def arguments(shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    arrays = [rng.random(shape) for _ in range(3)]
    if np.dtype(dtype).kind != "f":
        arrays = [array * 3 for array in arrays]
    return (*(array.astype(dtype) for array in arrays), 0.5)


@pytest.mark.parametrize("fn", MASKS + OTHERS)
def test_same(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in SIZES:
            assert_same(fast, arguments(shape))
        args = arguments((6, 40), seed=3)
        for bad in (np.nan, np.inf, -0.0):
            args[0][2, 5] = bad
            assert_same(fast, args)


@pytest.mark.parametrize("fn", (threshold, in_place, twice, two_arrays))
@pytest.mark.parametrize("dtype", ("f4", "u1", "i2", "i8", "?"))
def test_dtypes(fn, dtype):
    fast = accelerate(fn)
    for shape in SIZES:
        args = arguments(shape, dtype)
        assert_same(fast, (*args[:3], dtype[0] == "f" and 0.5 or 1),
                    native=False)


@pytest.mark.parametrize("fn", MASKS)
def test_layouts(fn):
    fast = accelerate(fn)
    a, b, out, t = arguments((9, 40))
    for name in layouts(a):
        assert_same(fast, (layouts(a)[name], layouts(b)[name],
                           layouts(out)[name], t))
    assert_same(fast, (a, b, a, t), native=False)
    memory = np.random.default_rng(2).random(400)
    for shift in (1, 3, 40):
        def overlapping(k):
            return memory.copy()[k:k + 360].reshape(9, 40)
        assert_same(fast, (overlapping(0), b, overlapping(shift), t))


@pytest.mark.parametrize("fn", MASKS)
def test_in_lanes(fn):
    assert SIMD in str(accelerate(fn).explain(*arguments((9, 40))))


def test_not_in_lanes():
    assert SIMD not in str(
        accelerate(to_the_left).explain(*arguments((9, 40))))


def test_an_index_in_range_by_its_condition_only():
    def far(a, out, n):
        for x in range(a.shape[0]):
            if x < n:
                out[x] = a[x] * 2
            if x + 3 < a.shape[0]:
                out[x] = a[x + 3]

    fast = accelerate(far)
    for n in (0, 5, 40):
        assert_same(fast, (np.arange(40.0), np.zeros(40), n))
        assert_same(fast, (np.arange(40.0), np.zeros(37), n), native=False)
