"""Python's complex numbers in compiled code, by CPython's formulas."""
import cmath
import itertools

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def operations(a, b, c, d):
    x = complex(a, b)
    y = complex(c, d)
    return (x + y, x - y, x * y, x / y, -x, +x, abs(x), x == y, x != y, x == a,
            x ** 3, x * 2, 3 - x, 1j * x, x + 2.5, x.real, (x * y).imag)


def test_operations():
    inf, nan = float("inf"), float("nan")
    fast = accelerate(operations, strict=True)
    firsts = (0.0, -0.0, 1.5, -2.0, 1e300, inf)
    lasts = (1.0, -2.5, 0.0, 1e200, nan)
    for a, b, c, d in itertools.product(firsts, (0.0, -0.0, 3.0), lasts,
                                        (0.0, -0.0, 4.0)):
        native = not (c == 0 and d == 0) and max(abs(a), abs(c)) < 1e100
        assert_same(fast, (a, b, c, d), native=native)
    assert fast.stats.python_calls == 0


def julia(w, h, c, limit):
    out = np.zeros((h, w), dtype=np.int32)
    for y in range(h):
        for x in range(w):
            z = complex(3 * x / w - 1.5, 2 * y / h - 1)
            n = 0
            while abs(z) <= 2 and n < limit:
                z = z * z + complex(c[0], c[1])
                n += 1
            out[y, x] = n
    return out


def escape(x, y, limit):
    """A name that is an int before the loop and complex in it."""
    c = complex(x, y)
    z = 0
    for n in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4:
            break
    else:
        n = limit
    return n, z


def test_programs():
    fast = accelerate(julia)
    assert_same(fast, (20, 15, (-0.7, 0.27), 50))
    fast = accelerate(escape)
    for x, y in ((0.1, 0.2), (1.5, 1.0), (-1.0, 0.0)):
        assert_same(fast, (x, y, 40))


def mixed(z, x):
    return z * x, z + x, x - z, z / x, x / z, z == x, x == z, x * z


def test_numpys_scalars():
    """np.float64 is a float, which other scalars are not."""
    for dtype in ("float64", "float32", "int8", "int64", "uint64", "bool"):
        fast = accelerate(mixed, strict=True)
        for z in (1 + 2j, -0.5j, 3 + 0j):
            if dtype != "bool":
                assert_same(fast, (z, np.dtype(dtype).type(3)))


def shifted(z, k):
    return z * k, z + (1j, 2)[0], abs(z)


def test_arguments():
    fast = accelerate(shifted)
    for z in (1 + 2j, -0j, complex("inf")):
        assert_same(fast, (z, 3))


def exponential(z):
    return cmath.exp(z)


def logarithm(z):
    return cmath.log(z)


def root(z):
    return cmath.sqrt(z)


def waves(z):
    return cmath.sin(z), cmath.cos(z)


def hyperbolic(z):
    return cmath.sinh(z), cmath.cosh(z)


def angles(z):
    return cmath.phase(z), cmath.polar(z), cmath.rect(z.real, z.imag)


@pytest.mark.parametrize("fn", [exponential, logarithm, root, waves, hyperbolic,
                                angles])
def test_cmath(fn):
    """CPython's own formulas; what is very large or small is left to it."""
    random = np.random.RandomState(3)
    fast = accelerate(fn, strict=True)
    for re, im in random.randn(60, 2) * np.exp(random.randn(60, 2) * 2):
        assert_same(fast, (complex(re, im),))
    assert_same(fast, (np.complex128(0.5 - 2j),))
    if fn is not angles:
        assert_same(fast, (2.5,))
        assert_same(fast, (3,))
    fast = accelerate(fn)
    special = (0.0, -0.0, 1.0, -2.5, 1e-310, 1e308, 710.0, float("inf"),
               float("nan"))
    for re, im in itertools.product(special, special):
        assert_same(fast, (complex(re, im),), native=False)


CORNERS = (1 + 0j, complex(-0.5, 0.75), complex(-0.5, -0.75))
SHIFT = 0.5j


def nearest(z):
    best = 0
    for k in range(3):
        if abs(z - CORNERS[k]) < abs(z - CORNERS[best]):
            best = k
    return best, CORNERS[best] + SHIFT


def test_constants_outside():
    global SHIFT
    fast = accelerate(nearest, strict=True)
    for z in (1j, 2 + 1j, -1 - 1j):
        assert_same(fast, (z,))
    SHIFT = -0.5j
    assert_same(fast, (1j,))
    SHIFT = 0.5j
