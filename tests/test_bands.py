"""Rounds that write at one index that never falls are a loop of their own."""
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

GROUPED = "that write at one index form bands"


def block_sums(a, out):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y // 3, x // 4] += a[y, x] * 0.37


def clamped(a, out):
    """The last index stands for two blocks, the first for one and a half."""
    last = out.shape[0] - 1
    for y in range(1, a.shape[0] - 1):
        i = min((y + 4) // 8, last)
        for x in range(a.shape[1]):
            v = int(np.clip(a[y, x], 0, 1) * 2.9)
            out[i, v] += a[y, x]
        out[i, 0] += a[y, 0] * 5.0


def from_below(a, out):
    """Quotients of what is negative, and a bound from below."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            i = max((y - 7) // 4, 0) + 1
            out[i, x % 3] = out[i, x % 3] * 0.5 + a[y, x]


def shifted(a, out):
    for y in range(2, a.shape[0]):
        row = (y - 2) >> 1
        for x in range(a.shape[1]):
            out[row, x // 5] -= a[y, x]


def twice(a, out):
    """A quotient of a quotient, and blocks of channels."""
    for y in range(a.shape[0]):
        k = (y // 2 + 1) // 3
        for x in range(a.shape[1]):
            out[k, x // 6] += a[y, x]
            out[k, x // 7] += 1.0


def counted(a, out):
    """A histogram for each band of rows; every index is checked."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y // 8, int(a[y, x] * 4.0)] += 1


def backwards(a, out):
    for y in range(a.shape[0] - 1, -1, -1):
        for x in range(a.shape[1]):
            out[y // 3, x // 4] += a[y, x]


def falling(a, out):
    """An index that falls: no bands."""
    n = a.shape[0]
    for y in range(n):
        for x in range(a.shape[1]):
            out[(n - 1 - y) // 3, x // 4] += a[y, x]


def before(a, out):
    """Reads what the band before has written: in order."""
    for y in range(3, a.shape[0]):
        for x in range(a.shape[1]):
            out[y // 3, x // 4] += out[y // 3 - 1, x // 4] * a[y, x]


BANDS = [block_sums, clamped, from_below, shifted, twice, counted]
NONE = [falling, before]
SIZES = [(0, 0), (1, 1), (2, 5), (3, 0), (9, 4), (29, 13), (31, 7), (64, 48)]


def pair(shape, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random(shape),
            rng.random((shape[0] // 2 + 3, shape[1] // 2 + 4)))


def remarks(fn):
    return str(accelerate(fn).explain(*pair((40, 30))))


@pytest.mark.parametrize("fn", BANDS + NONE + [backwards])
def test_equal(fn, monkeypatch):
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in SIZES:
            assert_same(fast, pair(shape), native=False)
        assert_same(fast, pair((64, 48), 1))


@pytest.mark.parametrize("fn", BANDS)
def test_fires(fn):
    text = remarks(fn)
    assert GROUPED in text
    assert re.search(r"(\d) of \1 loops? in parallel", text)


@pytest.mark.parametrize("fn", NONE)
def test_refused(fn):
    assert GROUPED not in remarks(fn)


def test_an_index_out_of_range(monkeypatch):
    """Raised where Python raises, with all before it done and none after."""
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    for fn in (block_sums, clamped, counted):
        fast = accelerate(fn, threads=5)
        for shape in ((2, 9), (4, 9), (5, 3), (14, 2)):
            a = np.random.default_rng(1).random((40, 30))
            assert_same(fast, (a, np.zeros(shape)), native=False)


def far(a, out, lo, hi):
    for y in range(lo, hi):
        for x in range(a.shape[0]):
            out[(y + 5) // 4 - (lo + 5) // 4, x // 2] += a[x]


def test_numbers_near_the_end_of_int64():
    """A bound that wraps around must not make rounds vanish."""
    fast = accelerate(far)
    top = 2 ** 63
    for lo, hi in [(0, 9), (9, 0), (-7, 6), (top - 12, top - 6),
                   (1 - top, 4 - top)]:
        assert_same(fast, (np.arange(5.0), np.zeros((6, 3)), lo, hi),
                    native=False)


def by_a_number_in_memory(a, out, table, n):
    for y in range(a.shape[0]):
        i = (y + (table[n] & 7)) // 8
        for x in range(a.shape[1]):
            out[i, x] += a[y, x]


def test_an_index_in_memory():
    """It is loaded where there is a round, and not before."""
    fast = accelerate(by_a_number_in_memory)
    table = np.arange(50)
    for rows, n in ((30, 3), (0, 3), (0, 10 ** 9), (3, 10 ** 9), (30, -1)):
        assert_same(fast, (np.ones((rows, 6)), np.zeros((9, 6)), table, n),
                    native=False)
