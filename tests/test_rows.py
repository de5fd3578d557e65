"""Tuples of numbers stored into rows of arrays."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def pixels(img, r, g):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            img[y, x] = (r, g, y)


def region(img, v):
    img[1:3, ::2] = (v, 0, 1)
    img[0] = [v, v, 1]
    img[-1, 0] = v, 2, 3


@pytest.mark.parametrize("dtype", (np.uint8, np.int32, np.float32, np.float64))
def test_rows(dtype):
    img = np.zeros((4, 5, 3), dtype)
    assert_same(accelerate(pixels), (img, 7, 200))
    assert_same(accelerate(region), (img, 9))
    assert_same(accelerate(region), (img[::-1, ::2], 9))
    fast = accelerate(region)
    assert_same(fast, (img, 2.7), native=False)
    assert_same(fast, (img, np.float64(3.2)), native=False)
    assert_same(fast, (img, np.int64(-3)), native=False)
    assert_same(fast, (img, 300), native=False)
    assert_same(accelerate(pixels), (np.zeros((2, 2, 4), dtype), 1, 2),
                native=False)
