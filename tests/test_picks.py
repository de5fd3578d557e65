"""Choices between floats in loops whose rounds wait for each other."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def dither(img):
    for y in range(img.shape[0] - 1):
        for x in range(1, img.shape[1] - 1):
            old = img[y, x]
            new = 1.0 if old > 0.5 else 0.0
            img[y, x] = new
            err = old - new
            img[y, x + 1] += err * 7 / 16
            img[y + 1, x - 1] += err * 3 / 16
            img[y + 1, x] += err * 5 / 16
            img[y + 1, x + 1] += err * 1 / 16


def clamped(img):
    """What is chosen is compared, or is not; nan goes where Python's does."""
    s = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x]
            s = s * 0.5 + v
            w = s if s < 0.7 else 0.7
            k = 0.25 if 0.4 <= v else w
            s = k if not v > 2.0 else s
            img[y, x] = s + w
    return s


def by_what_was(img):
    """Compares what the next round will have changed."""
    last = 0.0
    best = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x]
            best = v if last < v else best
            last = v * 0.5 + best * 0.25
            img[y, x] = best
    return best, last


def from_outside(img):
    """Compared before the loops, and in the caller of a part that is shared."""
    low = img.shape[0] * 0.25
    high = low * 2.0 - 1.0
    c = low < high
    out = np.zeros(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = img[y, x] * (1.0 if low < 0.5 else 3.0)
            out[y, x] += high if c else low
    return out, 2.0 if c else 1.0


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
@pytest.mark.parametrize("fn", (dither, clamped, by_what_was,
                                from_outside))
def test_same(fn, dtype, monkeypatch):
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    fast = accelerate(fn, threads=2)
    for shape in ((0, 0), (1, 1), (2, 3), (20, 31)):
        img = np.random.default_rng(2).random(shape).astype(dtype)
        assert_same(fast, (img,), native=dtype == np.float64)
        for odd in (np.nan, np.inf, -np.inf, -0.0, 0.5, 0.4, 0.7):
            if img.size > 5:
                img[1, 2] = odd
                assert_same(fast, (img,), native=False)


def test_without_a_branch():
    fast = accelerate(dither)
    fast(np.ones((5, 5)))
    assert "vz_pick_lt_f64(0.5," in fast.inspect_c()
