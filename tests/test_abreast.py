"""Rounds that go side by side through loops of equally many rounds."""
import numpy as np
import pytest

from tests.support import assert_same, layouts
from vizgen import accelerate

FIRED = "several rounds at a time through the loop inside"


def correlation(a, k, n):
    """A window whose size is known at run time only."""
    out = np.zeros((max(a.shape[0] - k.shape[0] + 1, 0),
                    max(a.shape[1] - k.shape[1] + 1, 0)))
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            s = 0.0
            for i in range(k.shape[0]):
                for j in range(k.shape[1]):
                    s += a[y + i, x + j] * k[i, j]
            out[y, x] = s
    return out


def product(a, k, n):
    """Of matrices."""
    out = np.zeros((a.shape[0], a.shape[1]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t = 1.0
            for p in range(n):
                t = t * 0.5 + k[i % 2, p % 3] * a[p % a.shape[0], j]
            out[i, j] = t - 1
    return out


def two_sums(a, k, n):
    """Of which one begins with what differs from lane to lane, and is used
    between the loops."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            v = a[y, x]
            s = v
            t = 0.0
            for i in range(n):
                s = s - a[i % a.shape[0], x] * v
                t += s
            u = s * 2.0 + t
            for i in range(3):
                for j in range(n):
                    u = u * 0.25 + k[0, j % 3] * v
                u += v
            out[y, x] = u + t
    return out


def rows_of_a_window(a, k, n):
    """A sum of each row is added to that of the window."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s = 0.0
            for i in range(n):
                row = 0.0
                for j in range(k.shape[1]):
                    row += k[i % k.shape[0], j] * a[y, x]
                s += row * row
            out[y, x] = s
    return out


def triangle(a, k, n):
    """Rounds of the innermost loop depend on the loop around."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s = 0.0
            for i in range(n):
                for j in range(i, n):
                    s = s * 0.9 + a[y, x] * (i - j)
            out[y, x] = s
    return out


def used_twice(a, k, n):
    """What the loop inside begins with goes elsewhere, too."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = 1.0
            w = 0.0
            for i in range(n):
                w += u
                for j in range(n):
                    u = u * 0.5 + a[y, x]
            out[y, x] = u + w
    return out


def choices(a, k, n):
    """Branches that only compute, and swapped carries."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            lo = 1.0
            hi = 0.0
            for i in range(n):
                v = a[i % a.shape[0], x] - a[y, x]
                if v < lo:
                    hi, lo = lo, v * 1.5
                else:
                    lo, hi = hi, lo
            out[y, x] = lo - hi
    return out


def counts(a, k, n):
    """Integers, and floats of two kinds."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            c = 0
            s = 0.0
            for i in range(n):
                if a[i % a.shape[0], x] > 0.5:
                    c += 1
                s = s * 0.5 + c
            out[y, x] = s + c
    return out


def differing(a, k, n):
    """Rounds of the inner loop differ from lane to lane."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s = 0.0
            for i in range(x):
                s = s * 0.5 + a[y, x]
            out[y, x] = s
    return out


def in_place(a, k, n):
    """Reads what rounds before have written."""
    for y in range(a.shape[0]):
        for x in range(2, a.shape[1]):
            s = 0.0
            for i in range(1, 3):
                s = s * 0.5 + a[y, x - i]
            a[y, x] = s
    return a


def down_columns(a, k, n):
    """Neighbouring rounds are rows apart."""
    out = np.zeros(a.shape[0])
    for y in range(a.shape[0]):
        s = 0.0
        for x in range(a.shape[1]):
            s += a[y, x]
        out[y] = s
    return out


LANES = (correlation, product, two_sums, rows_of_a_window, triangle, used_twice,
         choices, counts)
OTHERS = (differing, in_place, down_columns)
SIZES = ((0, 0), (1, 1), (3, 31), (4, 32), (2, 33), (5, 64), (3, 70), (9, 130))


def arguments(shape, dtype=np.float64, n=4):
    rng = np.random.default_rng(5)
    a = rng.random(shape) * (1 if np.dtype(dtype).kind == "f" else 9)
    return a.astype(dtype), rng.random((2, 3)), n


@pytest.mark.parametrize("fn", LANES + OTHERS)
def test_same(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in SIZES:
            for n in (0, 1, 5):
                assert_same(fast, arguments(shape, n=n), native=False)
        args = arguments((6, 70))
        for bad in (np.nan, np.inf, -0.0, 1e308):
            args[0][2, 5] = bad
            assert_same(fast, args, native=False)


@pytest.mark.parametrize("fn", LANES)
def test_fires(fn):
    args = arguments((6, 70))
    fast = accelerate(fn)
    assert FIRED in str(fast.explain(*args))
    assert_same(fast, args)
    fast._set_variant("vectorize=0")
    assert FIRED not in str(fast.explain(*args))


@pytest.mark.parametrize("fn", OTHERS)
def test_refused(fn):
    assert FIRED not in str(accelerate(fn).explain(*arguments((6, 70))))


@pytest.mark.parametrize("fn", LANES)
@pytest.mark.parametrize("dtype", ("f4", "u1", "i8"))
def test_dtypes(fn, dtype):
    fast = accelerate(fn)
    for shape in SIZES:
        assert_same(fast, arguments(shape, dtype), native=False)


@pytest.mark.parametrize("fn", LANES)
def test_layouts(fn):
    fast = accelerate(fn)
    a, k, n = arguments((9, 70))
    for name in layouts(a):
        assert_same(fast, (layouts(a)[name], k, n), native=False)
