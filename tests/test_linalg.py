"""Products and lengths of short vectors: np.dot, np.linalg.norm, np.cross."""
import os
import subprocess
import sys

import numpy as np
import numpy.linalg
import pytest

from tests.support import assert_same
from vizgen import accelerate

DTYPES = ("f8", "f4", "i8", "u1", "i2", "u8")


def dots(a, b):
    return np.dot(a, b), a.dot(b), np.inner(b, a), np.dot(a + a, b)


def norms(a, b):
    return (numpy.linalg.norm(a), np.linalg.norm(a - b),
            a / np.linalg.norm(a))


def crosses(a, b):
    c = np.cross(a, b)
    return c, np.dot(a * 1.0, c)


def facing(normals, light):
    """Rows of a picture, of any stride."""
    out = np.zeros(normals.shape[:2])
    for r in range(normals.shape[0]):
        for c in range(normals.shape[1]):
            n = normals[r, c] / np.linalg.norm(normals[r, c])
            out[r, c] = max(np.dot(n, light), 0.0)
    return out


def lengths(a):
    return np.linalg.norm(a, axis=-1), np.linalg.norm(a, axis=0)


def row_products(a, b):
    out = np.zeros(len(a), a.dtype)
    for i in range(len(a)):
        out[i] = np.dot(a[i], b[i])
    return out


def vectors(n, dtype, seed=0):
    rng = np.random.RandomState(seed)
    if np.dtype(dtype).kind == "f":
        return (rng.randn(n) * 10.0 ** rng.randint(-3, 4, n)).astype(dtype)
    return rng.randint(0, 200, n).astype(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", (1, 2, 3, 4, 7))
def test_dot(n, dtype):
    fn = accelerate(dots)
    for seed in range(12):
        assert_same(fn, (vectors(n, dtype, seed), vectors(n, dtype, -seed % 9)))
    apart = vectors(3 * n, dtype)
    assert_same(fn, (apart[::3], apart[n:2 * n]), native=False)
    assert_same(fn, (apart[::-3], apart[::3]), native=False)
    assert_same(fn, (apart[:n], apart[:n]))


@pytest.mark.parametrize("dtype", ("f4", "i4", "u1"))
def test_mixed(dtype):
    for fn in (accelerate(dots), accelerate(crosses)):
        assert_same(fn, (vectors(3, dtype), vectors(3, "f8", 3)))
        assert_same(fn, (vectors(3, "f8", 1), vectors(3, dtype, 2)))


@pytest.mark.parametrize("values", (
    (-0.0, -0.0, -0.0), (np.nan, 1.0, 2.0), (np.inf, 1.0, 0.0),
    (1e200, 1e200, 1.0), (5e-324, 1e-200, 0.0), (-0.0,), (0.0, -0.0)))
def test_odd_values(values):
    a = np.array(values)
    b = np.array([1.0, -2.0, 0.0][:len(a)])
    for dtype in ("f8", "f4"):
        with np.errstate(all="ignore"):
            x, y = a.astype(dtype), b.astype(dtype)
        assert_same(accelerate(dots), (x, y), native=False)
        assert_same(accelerate(norms), (x, y), native=False)


@pytest.mark.parametrize("dtype", DTYPES[:4])
def test_norm_and_cross(dtype):
    for seed in range(8):
        args = vectors(3, dtype, seed), vectors(3, dtype, seed + 20)
        assert_same(accelerate(norms), args)
        assert_same(accelerate(crosses), args)


def check_rows(dtype, native):
    rng = np.random.RandomState(1)
    for n in (2, 3, 4, 9):
        light = rng.randn(n).astype(dtype)
        img = rng.randn(9, 7, n).astype(dtype)
        assert_same(accelerate(facing), (img, light), native)
        assert_same(accelerate(facing), (np.asfortranarray(img), light),
                    native=False)
        assert_same(accelerate(facing), (img[::-2, :, ::-1], light),
                    native=False)
        assert_same(accelerate(row_products), (img[0], img[1]), native)
    assert_same(accelerate(lengths), (img,), native)


@pytest.mark.parametrize("dtype", ("f8", "f4"))
def test_rows(dtype):
    check_rows(dtype, native=True)


def test_more_than_is_known():
    """Long vectors and matrices are NumPy's."""
    for args in ((np.arange(40.0), np.arange(40.0)),
                 (np.eye(3), np.arange(3.0)), (np.arange(3.0), 2.0),
                 (np.zeros(0), np.zeros(0))):
        assert_same(accelerate(dots), args, native=False)
    assert_same(accelerate(dots), (np.arange(3.0), np.arange(4.0)),
                native=False)
    assert_same(accelerate(norms), (np.eye(3), np.ones((3, 3))), native=False)
    assert_same(accelerate(crosses), (np.eye(3), np.ones((3, 3))),
                native=False)


def test_short_products_call_nothing():
    """Every BLAS that is known adds the products of three elements from left
    to right, fused or not."""
    fn = accelerate(dots)
    assert_same(fn, (vectors(3, "f8"), vectors(3, "f8", 1)))
    assert "->routine(" not in fn.inspect_c()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("core", ("Prescott", "Haswell", "SkylakeX"))
def test_kernels_of_other_processors(core):
    """NumPy's BLAS has kernels for many processors, with other roundings; one
    that this processor can't run is not taken."""
    code = ("from tests import test_linalg\n"
            "for dtype in ('f8', 'f4'): test_linalg.check_rows(dtype, False)")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, "OPENBLAS_CORETYPE": core}, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
