"""Floats that are cut to a range and made integers: only nan is refused, and
choices that follow each other keep all bits."""
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def by_branches(img, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x] * 255.0 + 0.5
            if v < 0:
                v = 0.0
            if v > 255:
                v = 255.0
            out[y, x] = int(v)


def by_clip(img, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = int(np.clip(img[y, x] / 4.0 - 1.0, 0.0, 255.0))


def by_min_and_max(img, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = int(min(max(-img[y, x] * 3.0, 1.0), 99.0))


def other_way_round(img, out):
    """A nan becomes a number in one of the two."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = abs(img[y, x]) * 8.0
            out[y, x] = int(min(200.0, max(0.0, v)))


def numbers_fail(img, out):
    """It is cut on one side only."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x] * 16.0
            if v < 0:
                v = 0.0
            out[y, x] = int(v) & 255


def product_with_zero(img, out):
    """inf gives nan, too."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x] * 0.0
            if v < 0:
                v = 0.0
            if v > 9:
                v = 9.0
            out[y, x] = int(v)


def two_sources(img, out):
    for y in range(img.shape[0]):
        for x in range(1, img.shape[1]):
            v = img[y, x] + img[y, x - 1]
            if v < 0:
                v = 0.0
            if v > 9:
                v = 9.0
            out[y, x] = int(v)


def read_inside(img, out):
    """What is read has no name of its own."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = int(min(max(float(img[y, x]), 0.0), 255.0))


def read_as_single(img, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = int(min(max(-np.float32(img[y, x]), 0.0), 255.0))


PROGRAMS = (by_branches, by_clip, by_min_and_max, other_way_round,
            numbers_fail, product_with_zero, two_sources, read_inside,
            read_as_single)
SPECIAL = (0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324,
           255.0, 254.999999999999, 0.49803921568627446)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_special_values(program, dtype):
    """In the first, the last and a middle place; what was stored before stays,
    as with Python."""
    rng = np.random.default_rng(2)
    for options in ("", "verify=0"):
        fn = accelerate(program)
        fn._set_variant(options)
        img = (rng.random((3, 67)) * 2.0 - 0.5).astype(dtype)
        assert_same(fn, (img, np.full((3, 67), 7, np.uint8)))
    for value in SPECIAL:
        for place in (0, 101, 3 * 67 - 1):
            img = (rng.random((3, 67)) * 2.0 - 0.5).astype(dtype)
            with np.errstate(over="ignore"):
                img.flat[place] = value
            args = img, np.full((3, 67), 7, np.uint8)
            assert_same(accelerate(program), args, native=False)


def test_only_nan_is_asked_for():
    """By one comparison, of what was read."""
    args = np.zeros((3, 67)), np.zeros((3, 67), np.uint8)
    for program in (by_branches, by_clip, by_min_and_max):
        text = accelerate(program).inspect_c(*args)
        assert re.search(r"vz_le\(t_\d+, __builtin_inf\(\)\)", text), text
    text = accelerate(product_with_zero).inspect_c(*args)
    assert re.search(r"vz_le\(v_\d+, __builtin_inf\(\)\)", text), text
    assert "__builtin_inf()" not in accelerate(numbers_fail).inspect_c(*args)


def cut_only(img, out, low):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x]
            if v < 0.0:
                v = 0.0
            if v > 1.0:
                v = 1.0
            out[y, x] = v


def cut_sum(img, out, low):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x] + low
            if v < -0.0:
                v = -0.0
            if v > 1.0:
                v = 1.0
            out[y, x] = v


@pytest.mark.parametrize("program", [cut_only, cut_sum])
def test_choices_keep_all_bits(program):
    """Signs of zeros, payloads of nans, signalling ones."""
    bits = np.array([0x7ff0000000000001, 0xfff0000000000abc, 0x7ff8000000000123,
                     0xfff8000000000000, 0x8000000000000000, 0, 1,
                     0x3ff0000000000000], np.uint64)
    img = np.tile(bits, 36).view(np.float64).reshape(4, 72)
    for low in (0.0, -0.0):
        fn = accelerate(program)
        got, want = np.zeros((4, 72)), np.zeros((4, 72))
        with np.errstate(invalid="ignore"):
            program(img, want, low)
            fn(img, got, low)
        assert got.tobytes() == want.tobytes()


# --- bounds that are nan in the text -----------------------------------------------


def above_nan(x, n):
    return np.clip(x, np.nan, n), np.clip(n, np.nan, x)


def below_nan(x, n):
    return np.clip(x, n, np.nan), np.clip(x, 2, np.nan), np.minimum(x, np.nan)


def inside_inf(x, n):
    return np.clip(x, -np.inf, n), np.clip(x, n, np.inf)


@pytest.mark.parametrize("fn", [above_nan, below_nan, inside_inf])
def test_bounds_that_are_known(fn):
    fast = accelerate(fn)
    for x in (0.3, np.float64(7.5), float("nan"), np.array([0.3, 4.0, np.nan]),
              np.array([1.5], np.float32)):
        for n in (2, 0.5):
            assert_same(fast, (x, n), native=False)
