"""What a pass must not do: for each a small program that would show it.

tests/planted.py plants a fault in each of these passes.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

PROGRAMS = []


def program(*argument_lists):
    def add(function):
        PROGRAMS.append(pytest.param(function, argument_lists,
                                     id=function.__name__))
        return function
    return add


def numbers(*shape):
    return np.random.RandomState(3).uniform(-9, 9, shape)


def dirty():
    """Leaves numbers in memory that is used again."""
    for size in (64, 600, 5000, 40000):
        blocks = [np.full(size, 7.5) for _ in range(8)]
        del blocks


# --- exits --------------------------------------------------------------------


@program((numbers(20), 3.0), (numbers(1), 0.0), (numbers(0), 0.0))
def continue_in_a_branch(a, k):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] > -k:
            s += a[i]
            if a[i] > k:
                s *= 0.5
                if a[i] > 2 * k:
                    continue
            s -= 1
        s += i
    return s


@program((numbers(20), 3.0), (numbers(1), 20.0))
def rest_behind_a_continue(a, k):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] < k:
            s += a[i]
        else:
            s -= k
            continue
        s = s * 0.5 + i
    return s


@program((numbers(4, 5), 3.0), (numbers(1, 1), 20.0), (numbers(6, 3), -20.0))
def breaks_of_two_loops(a, k):
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > k:
                break
            if a[y, x] > k - 1:
                return s
            s += a[y, x]
        else:
            s += 100
    return s


# --- ssa and unroll -----------------------------------------------------------


@program((numbers(3), 0.0), (numbers(3), 9.0), (numbers(3), -9.0),
         (np.array([1.0, 5.0, 1.0]), 3.0))
def first_of_three(a, k):
    s = 0.0
    for c in range(3):
        if a[c] > k:
            break
        s = s * 10 + a[c]
    return s, c


@program((numbers(9), 4), (numbers(9), 0), (numbers(9), 1))
def constant_from_the_second_round_on(a, n):
    last = -1.0
    s = 0.0
    for i in range(n):
        s += last * a[i]
        last = 5.0
    return s, last


# --- prealloc -----------------------------------------------------------------


@program((numbers(30, 41),), (numbers(3, 3),), (numbers(2, 5),),
         (numbers(1, 1),))
def border_of_zeros(a):
    out = np.zeros(a.shape)
    for y in range(2, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 3):
            out[y, x] = a[y, x - 1] + a[y - 2, x]
    return out


@program((numbers(30, 41),), (numbers(2, 2),))
def behind_what_is_written(a):
    out = np.zeros((a.shape[0] + 3, a.shape[1] + 2))
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = a[y, x]
    return out


# --- interchange --------------------------------------------------------------


@program((numbers(40, 50),), (numbers(2, 3),))
def the_inner_loop_carries(a):
    """The loops would change places if rows were independent."""
    for x in range(a.shape[1]):
        for y in range(1, a.shape[0]):
            a[y, x] = a[y - 1, x] * 0.5 + a[y, x]


@program((numbers(40, 50),), (numbers(2, 3),))
def diagonal_neighbours(a):
    for x in range(1, a.shape[1]):
        for y in range(a.shape[0] - 1):
            a[y, x] = a[y + 1, x - 1] * 0.5 + 1


# --- pack and fission ---------------------------------------------------------


@program((numbers(6, 9, 3), numbers(6, 9, 3), 0.75))
def channels_of_two_pixels(out, a, k):
    for y in range(out.shape[0]):
        for x in range(1, out.shape[1]):
            out[y, x, 0] = a[y, x, 0] * k
            out[y, x - 1, 1] = a[y, x, 1] * k
            out[y, x, 2] = a[y, x, 2] * k


def curve(u, k):
    v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
    return v * 40.0 + (u * u - v) * k + 20.0


@program((np.linspace(0, 1, 900).reshape(3, 300), np.arange(90.0), 0.3),
         (np.linspace(0, 1, 200).reshape(2, 100), np.arange(90.0), 0.3))
def loads_of_what_was_stored(a, table, k):
    """The next round reads it."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1] - 1):
            i = int(np.clip(curve(a[y, x], k), 0, 89))
            a[y, x + 1] = table[i] * 0.01


# --- vectorize ----------------------------------------------------------------


@program((numbers(50), np.arange(50) % 3), (numbers(1), np.zeros(1, int)))
def quotients_in_a_branch(a, d):
    out = np.zeros(a.shape[0], np.int64)
    for i in range(a.shape[0]):
        q = 7
        if d[i] != 0:
            q = i // d[i]
        out[i] = q
    return out


# --- clear --------------------------------------------------------------------


@program((numbers(60, 70), 3), (numbers(5, 4), 2), (numbers(9, 9), 1))
def a_level_reads_itself(img, levels):
    """Below what it has written: zeros."""
    h, w = img.shape
    pyr = np.zeros((levels + 1, h, w))
    for l in range(1, levels + 1):
        for y in range(h >> l):
            for x in range(w >> l):
                pyr[l, y, x] = img[y, x] + pyr[l, y + 1, x] + pyr[l - 1, y, x]
    return pyr[levels].copy(), pyr[1, 0, :].copy()


# --- axes ---------------------------------------------------------------------


@program((numbers(8, 9),), (numbers(2, 2),))
def planes_in_a_product(a):
    """A library's routine sees how they lie in memory."""
    h, w = a.shape
    s = np.zeros((w, h))
    for y in range(h):
        for x in range(w):
            s[x, y] = a[y, x] * 2
    t = np.zeros((w, h))
    for y in range(h):
        for x in range(w):
            t[x, y] = s[x, y] + 1
    return np.dot(a, s)[0, 0] + t[0, 0]


@pytest.mark.parametrize("function, argument_lists", PROGRAMS)
def test_program(function, argument_lists):
    for threads in (1, 2):
        fast = accelerate(function, threads=threads)
        for args in argument_lists:
            for _ in range(2):
                dirty()
                assert_same(fast, args, native=False)
        assert fast.stats.native_calls > 0, fast.explain()
