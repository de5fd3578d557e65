"""Small integers from memory, compared with one that does not change."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def compared(img, t, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x]
            k = 0
            if v > t:
                k += 1
            if v >= t:
                k += 2
            if t == v:
                k += 4
            if v != t:
                k += 8
            out[y, x] = k if t > v else k + 16


def by_extent(img, t, out):
    """With sizes, and with what each row makes."""
    for y in range(img.shape[0]):
        limit = t + y * 100
        for x in range(img.shape[1]):
            a = 1 if img[y, x] < img.shape[0] else 2
            b = 4 if limit <= img[y, x] else 8
            out[y, x] = a + b


LIMITS = (-2 ** 63, -2 ** 40, -32769, -32768, -129, -128, -1, 0, 1, 127, 128,
          200, 255, 256, 32767, 32768, 65535, 65536, 2 ** 32 + 5, 2 ** 62)


@pytest.mark.parametrize("fn", (compared, by_extent))
@pytest.mark.parametrize("dtype", (np.uint8, np.int8, np.uint16, np.int16,
                                   np.int32, np.bool_))
def test_same(fn, dtype):
    fast = accelerate(fn)
    rng = np.random.default_rng(1)
    img = rng.integers(-40000, 70000, (13, 67)).astype(dtype)
    low, high = (0, 1) if dtype == np.bool_ else (np.iinfo(dtype).min,
                                                  np.iinfo(dtype).max)
    img[0, :2] = low, high
    for t in LIMITS:
        out = np.zeros(img.shape, dtype=np.int64)
        assert_same(fast, (img, t, out), native=abs(t) < 2 ** 62)
