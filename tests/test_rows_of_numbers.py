"""Arrays with tuples and lists as operands, and powers of integers."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def shifted(img):
    return img + (1, 2, 3)


def scaled(img):
    return [0.5, 2, 1] * img - (1.5, 0, 0)


def pixels(img):
    total = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            c = img[y, x] * (2, 1, 3)
            total += c[0] - c[2] / 2
    return total


def bits(img):
    return img & (1, 3, 7)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
@pytest.mark.parametrize("function", [shifted, scaled, pixels])
def test_rows(function, dtype):
    compiled = accelerate(function)
    img = np.random.RandomState(0).randint(0, 99, (4, 5, 3)).astype(dtype)
    for a in (img, img[::-1, ::2], img[:0]):
        assert_same(compiled, (a,))
    assert_same(compiled, (img[..., :2],), native=False)  # ValueError


def test_bits():
    compiled = accelerate(bits)
    assert_same(compiled, (np.arange(24).reshape(2, 4, 3),))


def power(a, n):
    return a ** n


def power_in_place(a, n):
    a **= n
    return a


def powers(a, n):
    total = np.zeros(a.shape, a.dtype)
    for k in range(n):
        total += a ** k
    return total


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("function", [power, power_in_place, powers])
def test_powers(function, dtype):
    """They wrap, whatever the exponent."""
    compiled = accelerate(function)
    values = np.array([-3, 0, 1, 2, 5, 100, -1, 7] * 5).astype(dtype)
    for n in (3, 0, 1, 70, 127):
        for a in (values, values.reshape(5, 8).T, values[::-3]):
            assert_same(compiled, (a, n))


def test_powers_that_raise():
    compiled = accelerate(power)
    a = np.arange(40, dtype=np.int8)
    for n in (3, -1, 300, -200):
        assert_same(compiled, (a, n), native=False)
