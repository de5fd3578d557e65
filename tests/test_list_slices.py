"""Slices of lists with steps, lists as indices of arrays, and choices between
lists, compared with CPython's."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate
from vizgen.errors import CompileError

PROGRAMS = []
OFFSETS = [3, 1, 4, 1, 5]
PAIRS = [(-1, 0), (0, 1), (1, 0), (0, -1)]


def program(*argument_lists, native=True):
    """Adds a function with the arguments it is called with."""
    def add(function):
        for args in argument_lists:
            PROGRAMS.append(pytest.param(function, args, native,
                                         id=function.__name__))
        return function
    return add


@program((10, 2, 7), (0, 0, 0), (1, -1, 5), (7, -3, -9), (9, 30, -40),
         (5, -40, 30), (6, 6, 0), (6, -6, -7))
def all_steps(n, lo, hi):
    lst = []
    for i in range(n):
        lst.append(i * i)
    return (lst[::-1], lst[::2], lst[lo:hi:3], lst[lo:hi:-2], lst[-3::-1],
            lst[:lo:-1], lst[hi:], lst[-100:100:7], lst[100:-100:-7],
            lst[lo:hi], lst[hi::-1], lst[lo::1])


@program((7,), (1,), (0,))
def slices_are_copies(n):
    lst = [0]
    for i in range(n):
        lst.append(i)
    back = lst[::-1]
    back.append(-1)
    lst[0] = 9
    back[1] = 7
    return lst, back


@program((np.arange(6),), (np.arange(0),), (np.arange(1),))
def zigzag(a):
    order = []
    for s in range(len(a)):
        line = [(i, s - i) for i in range(s + 1)]
        order += line if s % 2 else line[::-1]
    return order


@program((4,), (0,), (9,), (-2,))
def parts_of_a_display(n):
    total = 0
    for i in range(-1, n):
        for v in OFFSETS[:i]:
            total = total * 3 + v
        for dy, dx in PAIRS[i::-1]:
            total += dy * 5 + dx
        some = [2.5, 1.0, 0.5][i:]
        some.append(1.0)
        total += len(some)
    return total


@program((np.array([0, 1, 1, 0, 0, 1, 0, 1]),), (np.zeros(8, np.uint8),))
def four_of_eight(ring_of):
    ring = []
    for v in ring_of:
        ring.append(v)
    north, east, south, west = ring[0::2]
    return north * 8 + east * 4 + south * 2 + west, sum(ring)


@program((3,), (5,), (4,))
def unpacked_slice(n):
    lst = [0]
    for i in range(n):
        lst.append(i)
    a, b = lst[::3]
    return a, b


@program((np.array([3, 0, 2]), 2), (np.array([3, 0, 2]), 9))
def choice_of_two(a, n):
    best = [1] if a[0] > n else [2, 3, 4]
    best.append(n)
    return best


@program((4, True), (4, False))
def returned_choice(n, down):
    lst = []
    for i in range(n):
        lst.append(i)
    return lst[::-1] if down and n > 2 else lst


@program((20, 3), (20, -2), (3, 1), (20, 50))
def deleted_items(n, k):
    lst = []
    for i in range(n):
        lst.append(i * i)
    del lst[k]
    del lst[-1], lst[0]
    few = [1, 2, 3]
    del few[1]
    few.append(n)
    return lst, few


# --- indices ---

ROWS = np.arange(12).reshape(6, 2)


@program((ROWS * 0.5, 3), (ROWS, 300), (np.zeros((0, 2)), 1),
         (ROWS.astype(np.float32)[::-1], 4), (ROWS.T.copy().T, -1))
def kept_rows(a, t):
    keep = []
    for i in range(len(a)):
        if a[i, 0] > t:
            keep.append(i)
    return a[keep], keep


@program((ROWS * 0.5, 3), (ROWS, 300), (ROWS, -300))
def two_lists(a, t):
    rows = []
    cols = []
    for i in range(len(a)):
        if a[i, 0] > t:
            rows.append(i)
            cols.append(i % 2)
    b = a.copy()
    b[rows, cols] = -1
    b[rows] += 5
    return b, a[rows, cols], a[rows, :1], a[-1, cols], a[..., cols]


@program((np.arange(12.0), 3), (np.arange(12), 300))
def mask_of_a_list(a, t):
    mask = []
    for v in a:
        mask.append(bool(v > t))
    b = a.copy()
    b[mask] = 0
    return a[mask], b


@program((np.zeros(0), 3))
def empty_mask(a, t):
    mask = []
    for v in a:
        mask.append(v > t)
    return a[mask]


@program((np.arange(12.0), 3), (np.arange(12.0), -9))
def comprehension_as_index(a, t):
    return a[[k for k in range(len(a)) if a[k] > t]]


@program((np.arange(12), 7), (np.arange(12), 1000))
def out_of_range(a, n):
    keep = []
    for i in range(n):
        keep.append(2 * i - 3)
    return a[keep].sum()


@program((ROWS, 4), (ROWS, 1))
def list_of_pairs(a, n):
    pairs = []
    for i in range(n):
        pairs.append([i, (i + 1) % 6])
    return a[pairs]


@program((np.arange(5.0),), (np.zeros((3, 2)),))
def always_empty(a):
    keep = []
    for _ in range(3):
        keep.clear()
    return a[keep]


@program((np.arange(9.0), np.int8(3)), (np.arange(9.0), np.uint16(4)))
def indices_of_numpy(a, step):
    keep = []
    for i in range(2):
        keep.append(step)
        keep.append(step - step)
    a[keep] = 1
    return a[keep[::-1]]


@pytest.mark.parametrize("function, args, native", PROGRAMS)
def test_program(function, args, native):
    fn = accelerate(function, strict=True)
    raises = function.__name__ in ("out_of_range", "empty_mask")
    lengths = function is unpacked_slice and args != (3,) and args != (5,)
    raises |= function is deleted_items and args == (20, 50)
    assert_same(fn, args, native and not raises and not lengths)


# --- refusals ---


def floats_as_index(a):
    keep = [0.5]
    for v in a:
        keep.append(v)
    return a[keep]


def wide_unsigned(a, n):
    keep = [n]
    for _ in range(3):
        keep.append(n)
    return a[keep]


@pytest.mark.parametrize("function, args, code", [
    (floats_as_index, (np.arange(3.0),), "VZ-2007"),
    (wide_unsigned, (np.arange(3.0), np.uint64(1)), "VZ-2007"),
])
def test_refused(function, args, code):
    with pytest.raises(CompileError, match=code):
        accelerate(function, strict=True)(*args)


# --- comparisons of what is float32 or a number of Python's ---


def float32_or_float(a, t, k):
    out = []
    hits = 0
    for i in range(len(a)):
        v = max(0.0, a[i])
        w = min(1, a[i])
        hits += 1 if v <= t else 0
        hits += 10 if v < k else 0
        hits += 100 if t == v else 0
        hits += 1000 if max(0.25, a[i]) < 0.1 else 0
        hits += 10000 if 16777216 <= max(16777215.0, a[i]) else 0
        hits += 100000 if w < 0.9999999999 else 0
        hits += 1000000 if v != w else 0
        hits += 10000000 if v == max(0.0, a[i - 1]) else 0
        out.append(bool(v >= t))
    return hits, out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t", [
    0.45, 0.0, 0.1, float(np.float32(0.1)), np.nan, 16777217.0, 1e-60, -1e-60,
    1.00000000001])
def test_comparisons(dtype, t):
    fn = accelerate(float32_or_float)
    a = np.array([0.3, -1, 0.1, 0, 5, np.sqrt(0.1), 1.67e7, 1, 1, np.nan])
    assert_same(fn, (a.astype(dtype), t, 1))
