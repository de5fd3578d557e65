"""Complex arrays in memory: made, masked, viewed, gathered; lists; programs."""
import numpy as np
import pytest

from tests.pairs import DTYPES, native, numbers
from tests.support import assert_same, layouts
from vizgen import accelerate


# --- making, masks, views, indices --------------------------------------------


def made(n):
    z = np.zeros(n, complex)
    z[0] = 1
    z[1] = 2.5
    z[2] = 3 - 1j
    return (z, np.ones((2, n), "complex64"), np.full((n, 2), 1 - 2j),
            np.full(3, 2, np.complex128), np.zeros_like(z), np.ones_like(z),
            np.array([1, 2j, 3.5]), np.array([1, 2], complex),
            np.full_like(z, 1j), np.zeros((0, 3), complex),
            z.astype(np.complex64), np.ones(3, int).astype(complex),
            np.array([1.5, 2]).astype("complex64"), np.complex64(1 + 2j),
            np.complex128(3), complex(z[2]), z.dtype == np.complex128)


def test_made():
    native(made, (4,), (3,))


def masked(z, c):
    alive = np.abs(z) < 1.5
    w = z.copy()
    w[alive] = w[alive] * w[alive] + c
    w[~alive] = 0
    w[alive] *= 0.5 + 0.25j
    w[alive] += 1
    small = z[alive]
    w.real[alive] = 7
    return w, small, small * small, w[w.imag > 0], (z == w).sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(dtype):
    z = numbers(5, 4, dtype=dtype)
    native(masked, (z, 0.5 - 0.25j), (z[:0], 1j), (z * 0 + 9, 1j))
    one = np.full((3, 3), 9 + 0j, dtype)
    for seed in range(5):
        one[1, 1] = numbers(1, seed=seed)[0] * 0.1
        native(masked, (one, 0.3 + 0.7j))


def parts_set(x, y):
    z = np.empty((len(y), len(x)), complex)
    z.real = x
    z.imag = y[:, None]
    z[0].imag = 2.5
    return z


def test_parts_that_are_set():
    native(parts_set, (np.linspace(0, 1, 5), np.linspace(-1, 1, 3)))


def viewed(z):
    w = z.copy()
    w.real[...] = 3
    w.imag[1:] = w.imag[:-1]
    w.real[0] += w.imag[-1]
    w[::-1].imag[0] = 8
    w.T[0] = 1j
    return (w, z.real, z.imag, z[1:].real, z.T.imag, z.real.T, z[0].imag,
            z.reshape(-1).real, z.ravel()[::2], z[:, None], z.real[::-1, ::2],
            z.real + 1, (z * z).imag, z.real.sum(), z.imag.max(), z.flatten(),
            z.swapaxes(0, 1), z.real.ravel(), z.shape, z.size, z.ndim, len(z))


def test_views():
    for dtype in DTYPES:
        native(viewed, (numbers(4, 3, dtype=dtype),))
    fast = accelerate(viewed)
    for x in layouts(numbers(4, 3)).values():
        assert_same(fast, (x,), native=False)


def from_library(z):
    return (np.angle(z), np.angle(z, deg=True), np.flip(z), np.diff(z),
            np.roll(z, 1), np.angle(z[0]), np.array_equal(z, z))


def test_library():
    for dtype in DTYPES:
        native(from_library, (numbers(5, dtype=dtype),))


def gathered(z, i, j):
    w = z.copy()
    w[i, j] = 1j
    w[i] += z[i] * 2
    w[i, 0] *= 1 - 1j
    return z[i], z[i, j], z[:, j], w


def test_gather():
    for dtype in DTYPES:
        z = numbers(5, 4, dtype=dtype)
        i = np.array([0, 3, 3, 1])
        j = np.array([1, 2, 0, -1])
        native(gathered, (z, i, j), (z, i[:1], j[:1]))


def iterated(z):
    best = 0.0
    out = []
    for row in z:
        for w in row:
            best = max(best, w.real)
            out.append(w.imag)
    a, b = z[0, 0], z[0, 1]
    a, b = b, a
    (c, d) = z[0, :2]
    return best, out, a, b, c, d, [w.real for w in z[1]]


def test_iteration():
    for dtype in DTYPES:
        native(iterated, (numbers(3, 4, dtype=dtype),))


def orbit(c, limit):
    z = 0j
    points = []
    for n in range(limit):
        z = z * z + c
        if abs(z) > 2:
            break
        points.append(z)
    return points


def in_lists(points, n):
    total = 0
    turned = [p * 1j for p in points]
    mixed = [0]
    for i, p in enumerate(points):
        total += p
        mixed.append(p)
    turned.reverse()
    table = [np.exp(2j * np.pi * k / n) for k in range(n)]
    return (total, turned, mixed[:n], np.array(points), np.array(table),
            turned[0], sum(points), points[-1] == total, list(zip(points, turned)))


def test_lists():
    native(orbit, (-0.1 + 0.65j, 40), (2 + 2j, 5), (np.complex128(0.1j), 5))
    native(in_lists, ([1j, 2 - 1j, 3 + 0.5j], 4), (list(numbers(5)), 3),
           ([complex(1, -0.0)], 1))


def truths(z):
    return (z.any(), z.all(), np.any(z), np.all(z, axis=0), z.any(axis=1),
            np.count_nonzero(z))


def test_truths():
    z = numbers(3, 4)
    for w in (z, z * 0, z.real + 0j, z * (z.real > 0), -1j * (z.imag > 0)):
        for dtype in DTYPES:
            native(truths, (w.astype(dtype),))


def from_zero(c, n):
    z = 2
    for k in range(n):
        z = z * z + c
    return z


def test_a_name_that_stays_an_int():
    for c in (0.5j, np.complex128(0.5j)):
        native(from_zero, (c, 0), (c, 2))


def fourier(x):
    """A butterfly network, in place."""
    n = x.shape[0]
    y = x.astype(complex)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            y[i], y[j] = y[j], y[i]
    size = 2
    while size <= n:
        step = complex(np.cos(2 * np.pi / size), -np.sin(2 * np.pi / size))
        for start in range(0, n, size):
            w = 1 + 0j
            for k in range(size // 2):
                even = y[start + k]
                odd = y[start + k + size // 2] * w
                y[start + k] = even + odd
                y[start + k + size // 2] = even - odd
                w = w * step
        size *= 2
    return y


def test_programs():
    native(fourier, (np.sin(np.arange(16.0)),), (numbers(8),))
