"""Integers that are Python's or NumPy's int64, by the run: as bounds, in
arithmetic, converted."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def bounds(a, k):
    total = 0.0
    row = k
    for i in range(4):
        part = a[row - 1:row + 2]
        total += part.sum()
        top = max(row - 2, 0)
        row = top + np.count_nonzero(a > i)
    return total, row


def pairs(a, k):
    row, col = k, 0
    for i in range(4):
        n = np.count_nonzero(a > i)
        place = 3 + int(a.sum()) // (n + 1), 7 // (n + 1)
        if place == (row, col):
            break
        row, col = place
    return row, col


def arithmetic(a, k):
    row = k
    for i in range(int(a[0])):
        row = np.int64(7) + i
    return (row + 2, row - k, row * 3, 5 - row, row + np.int64(1), row + 1.5,
            row < 3, row == k, row // 2, row % 3, row % -2, -7 // (row + 9),
            np.int64(row), a[row % 3])


def counted(a, k):
    n = k
    for x in a:
        n = n + 1
        if x > 3:
            n = np.int64(n) * 2
    out = np.zeros(9)
    out[n % 9] = n
    return n, n - a.shape[0], out


def wraps(a, k):
    row = k
    for i in range(int(a[0])):
        row = np.int64(k) + i
    return row * 3, row - 9, row + row


@pytest.mark.parametrize("fn", (bounds, pairs, arithmetic, counted),
                         ids=lambda fn: fn.__name__)
def test_either_int(fn):
    fn = accelerate(fn)
    for a in (np.arange(7.0), np.arange(7.0)[::-1] + 1, np.full(5, 2.0)):
        for k in (0, 1, 2, 5):
            assert_same(fn, (a, k))


def test_overflow_is_pythons_or_warns():
    fn = accelerate(wraps)
    for rounds in (0.0, 2.0):
        for k in (3, 2**62, -2**62, 2**63 - 1, -2**63):
            native = rounds > 0 or k == 3
            assert_same(fn, (np.array([rounds]), k), native=native)
