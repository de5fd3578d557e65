"""Pictures in every layout: what is computed doesn't depend on it.

Each program runs with pictures in the order of C, in Fortran's, transposed,
backwards, and as every second row and column of larger ones, and reads one
layout while it writes another.
"""
import itertools

import numpy as np
import pytest

from tests.support import assert_same, layouts
from vizgen import FallbackWarning, accelerate


SHAPES = [(0, 4), (1, 1), (1, 9), (9, 1), (5, 7), (40, 70), (70, 40)]


def numbers(shape, dtype, seed=0):
    values = np.random.RandomState(seed).uniform(0, 100, shape)
    return values.astype(dtype)


def scaled(a, out):
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2 + 1


def with_rows(a, out):
    """Values of the outer loop go to the inside."""
    for r in range(a.shape[0]):
        first = a[r, 0] * 2
        above = r - 1
        for c in range(a.shape[1]):
            out[r, c] = a[above, c] + first


def blurred(a, out):
    rows, cols = a.shape[0], a.shape[1]
    for r in range(rows):
        for c in range(cols):
            total = a[r, c] * 4
            if r > 0:
                total += a[r - 1, c]
            if c > 0:
                total += a[r, c - 1]
            if r < rows - 1:
                total += a[r + 1, c]
            if c < cols - 1:
                total += a[r, c + 1]
            out[r, c] = total


def windows(a, out):
    for r in range(1, a.shape[0] - 1):
        for c in range(1, a.shape[1] - 1):
            total = a[r, c] * 0
            for y in range(-1, 2):
                for x in range(-1, 2):
                    total += a[r + y, c + x]
            out[r, c] = total


def in_place(a, out):
    """Each round reads what others have written: the order is kept."""
    for r in range(1, out.shape[0]):
        for c in range(out.shape[1] - 1):
            out[r, c] = out[r - 1, c + 1] + a[r, c]


def triangle(a, out):
    for r in range(a.shape[0]):
        for c in range(min(r, a.shape[1])):
            out[r, c] = a[r, c]


def two_stages(a, out):
    """A fresh array in the order of C between the two."""
    rows, cols = a.shape[0], a.shape[1]
    tmp = np.zeros(a.shape, a.dtype)
    for r in range(rows - 2):
        for c in range(cols):
            tmp[r, c] = a[r, c] + a[r + 1, c] + a[r + 2, c]
    for r in range(rows - 2):
        for c in range(cols - 2):
            out[r, c] = tmp[r, c] + tmp[r, c + 1] + tmp[r, c + 2]


def like(a, out):
    """Fresh arrays in the order of the picture, and in that of C."""
    tmp = np.empty_like(a)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            tmp[r, c] = a[r, c] * 3
    res = np.empty(a.shape, a.dtype)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            res[r, c] = tmp[r, c] + out[r, c]
    return res


def with_checks(a, out):
    """A check stays in the loops: the call is repeated as a whole."""
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = out[r, c] + a[int(a[r, c]) % a.shape[0], c]


def mirrored(a, out):
    rows, cols = a.shape[0], a.shape[1]
    for r in range(rows):
        for c in range(cols):
            out[r, c] = a[rows - 1 - r, cols - 1 - c]


def counted(a, lens, n, out):
    """The inner loop's end is in memory, and not looked at without rounds."""
    for r in range(n):
        for c in range(lens[0]):
            out[r, c] = a[r, c] + 1


def test_ends_in_memory():
    fn = accelerate(counted, strict=True)
    a = np.asfortranarray(numbers((40, 30), float))
    for lens, n in (([30], 40), ([3], 40), ([0], 9), ([], 0), ([30], 0)):
        out = np.zeros((40, 30), order="F")
        assert_same(fn, (a, np.array(lens, int), n, out))
    with pytest.raises(IndexError):
        fn(a, np.array([], int), 1, out)


def rectangle(a, out, y, x, h, w):
    """The inner loop's ends are computed in each round of the outer one."""
    for r in range(max(0, y), min(y + h, a.shape[0] - 1)):
        for c in range(int(max(0, x)), int(min(x + w, a.shape[1] - 1.0))):
            out[r, c] = a[r, c] * 2


def trapeze(a, out, y, x, h, w):
    """They depend on the outer loop."""
    for r in range(max(0, y), min(y + h, a.shape[0] - 1)):
        left = max(0, x - r)
        for c in range(left, min(left + w, a.shape[1])):
            out[r, c] = a[r, c] * 2


@pytest.mark.parametrize("function,inside", [(rectangle, True),
                                             (trapeze, False)])
def test_ends_in_the_outer_loop(function, inside):
    fn = accelerate(function, strict=True)
    a = np.asfortranarray(numbers((40, 30), float))
    for y, x, h, w in ((0, 0, 40, 30), (3, 4, 20, 9), (-5, -6, 99, 99),
                       (7, 50, 3, 3), (50, 2, 3, 3), (2, 3, 0, -4)):
        out = np.zeros((40, 30), order="F")
        assert_same(fn, (a, out, y, x, h, w))
    text = fn.explain(a, out, 0, 0, 40, 30)
    assert ("the loop over `r` runs on the inside" in text) == inside, text


GRAY = [scaled, with_rows, blurred, windows, in_place, triangle, two_stages,
        like, with_checks, mirrored]
RGB = [scaled, blurred, two_stages, like, mirrored]
NAMES = tuple(layouts(np.zeros((2, 2))))
USUAL = ("c", "fortran", "columns reversed", "every second")
PAIRS = [*itertools.product(USUAL, repeat=2), *((n, n) for n in NAMES)]


def compare(program, shape, dtype, pairs=PAIRS):
    """The result is written to the second of a pair."""
    fn = accelerate(program, strict=True)
    read = layouts(numbers(shape, dtype))
    written = layouts(numbers(shape, dtype, 1))
    for name, other in pairs:
        assert_same(fn, (read[name], written[other]))
    assert fn.stats.python_calls == 0


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", GRAY, ids=lambda p: p.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_gray(program, dtype):
    compare(program, (40, 70), dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", RGB, ids=lambda p: p.__name__)
def test_colour(program):
    compare(program, (40, 30, 3), np.float64)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", [scaled, blurred, two_stages, mirrored],
                         ids=lambda p: p.__name__)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(program, shape):
    compare(program, shape, np.float64,
            [("fortran", "fortran"), ("fortran", "c"), ("c", "fortran"),
             ("every second", "columns reversed")])


@pytest.mark.parametrize("key, step", [
    (np.s_[:, ::-1], -8), (np.s_[::2, ::2], 16), (np.s_[1:-1, 1:-1], 8)])
def test_steps_that_are_known(key, step):
    """The C compiler sees them as constants; other steps run all the same."""
    fn = accelerate(scaled, strict=True)
    a, out = numbers((12, 12), float)[key], np.zeros((12, 12))[key]
    assert_same(fn, (a, out))
    text = fn.inspect_c(a, out)
    assert f"* {step})" in text and "a_0s1" not in text
    wide = numbers((12, 40), float)
    for k in (3, -2, 1):
        assert_same(fn, (wide[:, ::k], wide[:, ::-k]))
    assert_same(fn, (np.broadcast_to(wide[0], (12, 40)), wide[::-1]))
    assert fn.stats.python_calls == 0


def shifted(out, k):
    """Everything is written before the index that may be out of range."""
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[r, c] = out[r, c] * 2
    out[k, 0] = 1


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8,
                                   np.int16])
@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 3), (9, 7, 2), (5, 4, 11)])
def test_what_was_written_is_put_back(dtype, shape):
    fn = accelerate(shifted)
    for out in layouts(numbers(shape, dtype)).values():
        assert_same(fn, (out, 3), native=False)
        assert_same(fn, (out, 9), native=False)


def of_ravelled(img):
    counts = np.zeros(17, np.int64)
    for v in img.ravel():
        counts[v] += 1
    return counts


def test_plain_arrays_are_compiled_as_they_are():
    """However many layouts came before: what others need copied is not copied
    there."""
    fast = accelerate(of_ravelled)
    for dtype in ("uint8", "int16", "int32"):
        a = (np.arange(600).reshape(20, 30) % 16).astype(dtype)
        for array in (a, a[::-1], np.asfortranarray(a), a[:, ::2], a[:, ::-1], a):
            assert_same(fast, (array,))
    assert fast.stats.replays == 0


def add_one(a):
    for i in range(a.shape[0]):
        a[i, 0] += 1


def test_an_array_that_overlaps_itself_is_told():
    a = np.lib.stride_tricks.as_strided(np.zeros(50, np.int64), (40, 5), (8, 8))
    with pytest.warns(FallbackWarning, match="elements of an array that it"):
        accelerate(add_one)(a)


def added(a, b):
    total = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            total += a[y, x] + b[y, x]
    return total


def test_plain_arrays_where_versions_are_used_up():
    """What is for any layout is for theirs, too, then."""
    fast = accelerate(added)
    dtypes = ("int8", "int16", "int32", "int64", "uint8", "uint16", "float32",
              "float64")
    for dtype in dtypes:
        a = np.ones((4, 5), dtype).T
        assert_same(fast, (a, a))
    for dtype in dtypes:
        assert_same(fast, (np.ones((4, 10), dtype)[:, ::2], np.ones((4, 10))[:, ::2]))
    assert_same(fast, (np.ones((4, 4)), np.ones((4, 4))))
