"""Complex numbers in arrays and as NumPy's scalars, against NumPy."""
import itertools

import numpy as np
import pytest

from tests.pairs import DTYPES, corners, native, numbers
from tests.support import assert_same, layouts
from vizgen import accelerate

# --- whole arrays -------------------------------------------------------------


def sums(a, b):
    return a + b, a - b, -a, +a, a == b, a != b, a + 2, 1.5 - a, a - 1j


def products(a, b):
    return a * b, a * a, a ** 2, a * 2, 0.5 * a, a * (1 + 2j), a * b + a


def quotients(a, b):
    return a / b, a / 3, 2 / a, (1 - 2j) / a


def functions(a, b):
    return (abs(a), np.abs(a), np.conj(a), a.conj(), a.conjugate(),
            np.isfinite(a), np.isnan(a), np.isinf(a), np.square(a),
            np.where(a.real > 0, a, b), np.where(a.real > 0, a, 0),
            np.multiply(a, b), np.add(a, b), a.copy(), np.real(a), np.imag(b))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fn", [sums, products, quotients, functions])
def test_arrays(fn, dtype):
    a = numbers(7, 5, dtype=dtype)
    b = numbers(7, 5, dtype=dtype, seed=1)
    fast = native(fn, (a, b), (a[0], b[1]), (a[:1, :1], b[:1, :1]),
                  (a[:0], b[:0]), (a, b[0]), (a[:, :1], b))
    for other in DTYPES:
        if other != dtype:
            native(fn, (a, b.astype(other)))


def into(a, b):
    out = np.zeros((10, a.shape[0], a.shape[1]), a.dtype)
    out[0] = a + b
    out[1] = a * b
    out[2] = a / b
    out[3] = -a - b
    out[4] = a.conj()
    out[5] = a ** 2
    out[6].real[...] = abs(a)
    out[6].imag[...] = b.imag
    out[7] = a * 2j
    out[8] = 2 / a
    out[9, ::-1, ::-1] = a
    return out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a = numbers(7, 5, dtype=dtype)
    b = numbers(7, 5, dtype=dtype, seed=1)
    fast = accelerate(into, strict=True)
    for name, x in layouts(a).items():
        odd = "reversed" in name
        assert_same(fast, (x, b), native=not odd)
        assert_same(fast, (b, x), native=not odd)
        assert_same(fast, (x, x), native=not odd)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fn", [sums, products, quotients, functions])
def test_special_numbers(fn, dtype):
    """Infinite and missing parts, zeros of both signs, with all warnings."""
    fast = accelerate(fn)
    a = corners(dtype)
    for shift in (0, 3, 11, 24):
        assert_same(fast, (a, np.roll(a, shift)), native=False)
    big = numbers(9, dtype=dtype) * np.finfo(dtype).max ** 0.75
    huge = np.full(3, np.finfo(dtype).max * (0.9 + 0.9j), dtype)
    assert_same(fast, (numbers(3, dtype=dtype), huge), native=False)
    assert_same(fast, (big, big[::-1].copy()), native=False)
    assert_same(fast, (numbers(9, dtype=dtype), big), native=False)


def mixed(z, x):
    return z + x, x - z, z * x, x * z, z / x, x / z, z == x


def test_promotion():
    z = numbers(6)
    for dtype in ("bool", "uint8", "int16", "int64", "float32", "float64"):
        x = np.arange(1, 7).astype(dtype)
        for own in DTYPES:
            native(mixed, (z.astype(own), x), (z.astype(own)[:1], x[:1]))


def weak(z, n, x, c):
    return z + n, z * n, z * x, z + c, c * z, z / c, n / z, z - True


@pytest.mark.parametrize("dtype", DTYPES)
def test_weak_numbers(dtype):
    z = numbers(6, dtype=dtype)
    fast = native(weak, (z, 3, 0.1, 1 - 2j), (z[:1], -1, 2.5, -1j))
    assert_same(fast, (z, 3, 1e300, 1j), native=dtype == "complex128")


def of_reals(x, y, c):
    return 1j * y[:, None] + x, x * c, x + c, np.float32(2) * 1j


def test_reals_with_imaginary_numbers():
    x = np.linspace(-2, 1, 7)
    y = np.linspace(-1, 1, 5)
    native(of_reals, (x, y, 2 - 1j), (x.astype("f4"), y.astype("f4"), 1j))


def sums_of_all(z):
    return z.sum(), np.mean(z), np.sum(z)


def sums_of_some(z):
    return (z.sum(axis=0), z.sum(axis=1), np.mean(z, axis=0), z.mean(axis=-1),
            z.sum(axis=0, keepdims=True), np.sum(z, axis=(0, 1)),
            z.sum(keepdims=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums(dtype):
    """In NumPy's order, which is another one than for floats."""
    whole = accelerate(sums_of_all, strict=True)
    axes = accelerate(sums_of_some, strict=True)
    for n in (*range(1, 20), 63, 64, 65, 66, 129, 257, 1000, 8192, 8193, 20000):
        assert_same(whole, (numbers(n, dtype=dtype),))
        assert_same(whole, (numbers(2 * n, dtype=dtype)[::2],))
    for rows, cols in ((3, 4), (1, 5), (5, 1), (130, 3), (3, 130), (9, 1000),
                       (1000, 9)):
        z = numbers(rows, cols, dtype=dtype)
        assert_same(whole, (z,))
        assert_same(axes, (z,))
    for x in layouts(numbers(20, 30, dtype=dtype)).values():
        assert_same(whole, (x,), native=False)


def by_loops(z):
    out = np.zeros_like(z)
    for i in range(z.shape[0]):
        out[i] = np.exp(z[i]) + np.sqrt(z[i])
    return (np.exp(z), np.log(z), np.sqrt(z), np.sin(z), np.cos(z), np.tan(z),
            np.sinh(z), np.cosh(z), np.tanh(z), np.log2(z), np.log10(z),
            np.arcsin(z), np.arccos(z), np.arctan(z), np.exp(z) * z + 1, out)


def compared(z, w):
    return (z < w, z <= w, z > w, z >= w, z < 1, 2j >= w, np.less(z, w),
            z[0] < w[1], z[0] >= 1.5, z[1] <= 1j)


def powers(z):
    return z ** 3, z ** 1, z ** -2, z ** 2.5, (z ** 3 - 1) / (3 * z ** 2)


def test_powers_and_order():
    for dtype in DTYPES:
        z = numbers(40, dtype=dtype)
        fast = accelerate(compared, strict=True)
        assert_same(fast, (z, np.roll(z, 1)))
        assert_same(fast, (np.round(z), np.roll(np.round(z), 1)))
        with np.errstate(all="ignore"):
            for shift in (1, 5, 20):
                z = corners(dtype)
                assert_same(fast, (z, np.roll(z, shift)), native=False)
        fast = accelerate(powers, strict=True)
        for n in (1, 9, 300):
            assert_same(fast, (numbers(n, dtype=dtype),))
        assert_same(fast, (corners(dtype),), native=False)


def waves(x):
    return np.exp(1j * x), np.exp(-2j * np.pi * x / 8), abs(np.exp(1j * x))


def test_functions_of_numpy():
    """NumPy's own loops, by rows and one by one."""
    for dtype in DTYPES:
        fast = accelerate(by_loops, strict=True)
        for n in (1, 7, 9, 300):
            assert_same(fast, (numbers(n, dtype=dtype) * 0.3,))
        assert_same(fast, (corners(dtype),), native=False)
        assert_same(fast, (numbers(3, dtype=dtype) * 400,), native=False)
    native(waves, (np.linspace(0, 7, 100),), (np.ones((3, 4)),))


# --- in place -----------------------------------------------------------------


def in_place(a, b, c):
    a += b
    a -= 1j
    a *= b
    a *= c
    a /= 2 - 1j
    a[1:] *= b[1:]
    a[::2] += 1
    a.real += 1
    a.imag[:1] = b.real[:1]
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place(dtype):
    """One element alone is multiplied without fused operations."""
    fast = accelerate(in_place, strict=True)
    for n, seed in itertools.product((1, 2, 5, 9), range(6)):
        a = numbers(n, dtype=dtype, seed=seed)
        b = numbers(n, dtype=dtype, seed=seed + 7)
        assert_same(fast, (a, b, 0.3 + 0.7j))


def onto_itself(a, k):
    if k == 0:
        a[1:] *= a[:-1]
    elif k == 1:
        a[:-1] *= a[1:]
    elif k == 2:
        a[::2] *= a[1::2]
    elif k == 3:
        a[:2] *= a[4:6]
    else:
        a *= a
    return a


def test_factors_that_overlap():
    for dtype, k in itertools.product(DTYPES, range(5)):
        fast = accelerate(onto_itself)
        for seed in range(3):
            a = numbers(8, dtype=dtype, seed=seed)
            assert_same(fast, (a, k), native=k == 4)


def between_arguments(a, b):
    a *= b


def test_arguments_that_overlap():
    fast = accelerate(between_arguments)
    a = numbers(9)
    assert_same(fast, (a, numbers(9, seed=4)))
    for x, y in ((a[1:], a[:-1]), (a[:-1], a[1:]), (a[::2][:4], a[1::2])):
        whole = a.copy()
        want = a.copy()
        shift = (x.__array_interface__["data"][0]
                 - a.__array_interface__["data"][0]) // 16
        other = (y.__array_interface__["data"][0]
                 - a.__array_interface__["data"][0]) // 16
        step = x.strides[0] // 16
        key = slice(shift, shift + step * (len(x) - 1) + 1, step)
        by = slice(other, other + step * (len(y) - 1) + 1, step)
        between_arguments(want[key], want[by])
        fast(whole[key], whole[by])
        assert whole.tobytes() == want.tobytes()


def measured(z):
    return abs(z), z ** 2, np.square(z), z * z


def test_steps():
    """Backwards NumPy takes other instructions, even for one number."""
    for dtype in DTYPES:
        fast = accelerate(measured, strict=True)
        for n, step in itertools.product((1, 2, 5, 9), (1, 2, 3)):
            for seed in range(4):
                z = numbers(40, dtype=dtype, seed=seed)
                assert_same(fast, (z[::step][:n],))
        fast = accelerate(measured)
        for n, step in itertools.product((1, 2, 5, 9), (-1, -3)):
            for seed in range(4):
                z = numbers(40, dtype=dtype, seed=seed)
                assert_same(fast, (z[::step][:n],), native=False)


def ranks(a, b):
    return a * b


def test_factors_of_several_ranks():
    for dtype in DTYPES:
        fast = accelerate(ranks, strict=True)
        for seed in range(4):
            assert_same(fast, (numbers(1, dtype=dtype, seed=seed),
                               numbers(1, 1, dtype=dtype, seed=seed + 5)))
            assert_same(fast, (numbers(3, dtype=dtype, seed=seed),
                               numbers(2, 3, dtype=dtype, seed=seed + 5)))


# --- elements -----------------------------------------------------------------


def elements(z, c):
    out = np.zeros_like(z)
    total = 0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            out[i, j] = z[i, j] ** 2 + c
            out[i, j] *= 2
            out[i, j] += z[i, j].conjugate()
            out[i, j] /= 1 + 2j
            out[i, j] -= z[i, 0] * z[0, j]
            if z[i, j].real > 0 and z[i, j] != c:
                total += 1
            out[i, j].imag
    return out, total, z[0, 0], z[0, 0].real, z[0, 0] == c, z[0, 0].dtype == c


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements(dtype):
    z = numbers(4, 3, dtype=dtype)
    fast = accelerate(elements)
    for x in layouts(z).values():
        assert_same(fast, (x, 0.25 - 0.5j), native=False)


def scalars(z, w):
    return (z + w, z - w, z * w, z / w, w / z, -z, +z, z == w, z != w, z * 2,
            2 - z, z + 0.5, z * 1j, 1j / z, z.real, z.imag, z.conj(),
            z ** 2, z ** 3, z ** 4, z ** 5, z ** 1)


def test_scalars():
    fast = accelerate(scalars)
    values = [*corners(), *numbers(8), np.complex128(1e300 + 1j),
              np.complex128(1e-310 - 1e-310j)]
    with np.errstate(all="ignore"):
        for z, w in itertools.product(values[::3], values[::4]):
            assert_same(fast, (z, w), native=False)
            assert_same(fast, (np.complex64(z), np.complex64(w)), native=False)
            assert_same(fast, (z, complex(w)), native=False)
    fast = accelerate(scalars, strict=True)
    for z, w in zip(numbers(20), numbers(20, seed=3)):
        assert_same(fast, (z, w))
        assert_same(fast, (z, complex(w)))
        assert_same(fast, (np.complex64(z), np.complex64(w)))
        assert_same(fast, (np.complex64(z), z))
        assert_same(fast, (z, np.float64(w.real)))
        assert_same(fast, (z, np.int8(3)))


def lengths(z):
    return abs(z), np.abs(z), np.conj(z), np.isfinite(z)


def test_lengths():
    fast = accelerate(lengths)
    for z in numbers(30):
        assert_same(fast, (z,))
        assert_same(fast, (complex(z),))
    for z in corners():
        assert_same(fast, (z,), native=False)


def escape(c, limit):
    counts = np.zeros(c.shape, np.int32)
    last = np.zeros_like(c)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0j
            n = 0
            while abs(z) <= 2 and n < limit:
                z = z * z + c[i, j]
                n += 1
            counts[i, j] = n
            last[i, j] = z
    return counts, last


def julia(z, c, limit):
    count = 0
    for k in range(limit):
        if z.real * z.real + z.imag * z.imag > 4:
            break
        z = z * z + c
        count += 1
    return z, count


def from_int(c, n):
    z = 0
    for k in range(n):
        z = z * z + c[k]
    return z


def doubled(c, n):
    z = 0j
    for k in range(n):
        z = 2 * z + 1
        z = z * c[k]
    return z


def test_names_of_two_types():
    """Python's complex number before the loop, NumPy's in it."""
    x = np.linspace(-2, 0.5, 12)
    c = x + 1j * np.linspace(-1, 1, 9)[:, None]
    native(escape, (c, 0), (c, 1), (c, 40))
    native(julia, (c[0, 0], -0.8 + 0.156j, 30), (0.1 + 0.2j, c[1, 1], 30),
           (np.complex128(3), 1j, 5))
    small = numbers(5) * 0.2
    native(from_int, (small, 0), (small, 1), (small, 5))
    native(doubled, (small, 0), (small, 1), (small, 5))


def rotated(p, c, s):
    out = np.zeros_like(p)
    for i in range(p.shape[0]):
        x = p[i, 0]
        y = p[i, 1]
        out[i, 0] = x * c - y * s
        out[i, 1] = x * s + y * c
    return out


def negated(a, b):
    return -(a * b), -(a * 2j), 0 - a * b


def test_negated_products():
    """Zeros keep their sign."""
    for dtype in DTYPES:
        fast = accelerate(negated, strict=True)
        zeros = np.array([0j, -0j, complex(0, -0.0), complex(-0.0, -0.0)])
        for shift in range(4):
            a = np.repeat(zeros, 5).astype(dtype)
            b = numbers(20, dtype=dtype) * (numbers(20).real > 0)
            assert_same(fast, (a, np.roll(b, shift)))


def turned(x, y, c, s):
    return x * c - y * s, x * s + y * c


def test_products_that_compilers_would_fuse():
    """Sums and differences of products that become neighbours in memory."""
    random = np.random.RandomState(5)
    for dtype in ("float64", "float32"):
        p = random.randn(200, 2).astype(dtype)
        native(rotated, (p, dtype_of(p, 0.8), dtype_of(p, 0.6)), (p, 0.8, 0.6))
    for x, y, c, s in random.randn(50, 4):
        native(turned, (x, y, c, s), (float(x), float(y), float(c), float(s)))


def power_of(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        re = a[k, 0] * b[k, 0] - a[k, 1] * b[k, 1]
        im = a[k, 0] * b[k, 1] + a[k, 1] * b[k, 0]
        total += re * re
        total += im * im
    return total


def test_products_that_are_added_up():
    random = np.random.RandomState(6)
    fast = accelerate(power_of, strict=True)
    for n in (1, 3, 10, 200, 201):
        for _ in range(8):
            a, b = random.randn(2, n, 2)
            assert_same(fast, (a, b))


def dtype_of(array, x):
    return array.dtype.type(x)


# --- what is not translated ---------------------------------------------------


def narrowed(z):
    return z.astype(float)


def stored(z):
    x = np.zeros(3)
    x[0] = z[0]
    return x


def rooted(z):
    return z ** 0.5


def sorted_(z):
    return np.sort(z)


def least(z):
    return z.min()


def polynomial(z):
    return np.polyval([1, 2j], z)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fn", [narrowed, stored, rooted, sorted_,
                                least, polynomial])
def test_refused(fn):
    fast = accelerate(fn)
    assert_same(fast, (numbers(4),), native=False)
    assert fast.stats.native_calls == 0
