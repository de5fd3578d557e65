"""Names that a loop or a branch leaves behind.

What a name holds after a loop may have been made inside, in one of its rounds;
it is one array of several, of one size and layout or another.  Each program
runs in Python and compiled, and must run natively.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def made_in_the_last_round(a):
    for k in range(3):
        b = a * k
    return b


def made_in_a_branch_of_a_round(a):
    total = 0.0
    for k in range(4):
        if k % 2:
            b = a + k
        else:
            b = a - k
        for x in b:
            total += x
    return b, total


def pair_of_arrays(a):
    for k in range(3):
        pair = (a * k, k)
    return pair[0][1] + pair[1]


def found_by_break(a):
    for k in range(10):
        b = a + k
        if b[0] > 3:
            break
    return b.sum(), k


def written_out(a):
    """Two rounds of known number; the nest inside makes the array anew."""
    b = a
    for k in (1, 2):
        for index in np.ndindex(a.shape):
            b = b[:] // k + index[0]
    return b.sum()


def nest_with_lists(a):
    """The loops of an index are written out, each by itself."""
    total = 0.0
    for y, x in np.ndindex(2, 2):
        row = []
        for k in range(y + x + 1):
            row.append(a[k] * x)
        total += sum(row)
    return total


def stacked(a):
    """The sizes are known, but not to the code that makes the array."""
    n = 0
    while n < 1 and a[n] > -5:
        n += 1
        b = np.stack((np.ones(4), np.full(4, a[0])))
    return [0.5] * b.shape[0], b.sum()


def last_row(a):
    """A part of one array or another outlives the loop."""
    grid = a.copy().reshape(2, -1)
    grid = grid + 1 if a[0] > 0 else grid
    for row in grid:
        if row[0] > 100:
            break
    return row.sum(), np.cumsum(row)


def list_or_argument(a, numbers):
    """An argument of one kind becomes a list of another."""
    if a[0] > 0:
        total = sum(numbers)
    else:
        total = 1.5
        if a[1] > 5:
            numbers = [a.shape[0], 2.5]
    return total


def list_in_rounds(a, numbers):
    for k in numbers:
        a[a > k] = 0
        if k > 2:
            numbers = [k for k in range(5)]
    return a


ARRAYS = [np.arange(1.0, 9.0), np.arange(-3.0, 5.0)[::-1],
          np.arange(1, 9, dtype=np.float32), np.full(8, -4.0)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [
    made_in_the_last_round, made_in_a_branch_of_a_round, pair_of_arrays,
    found_by_break, written_out, nest_with_lists, stacked, last_row])
def test_arrays(function):
    compiled = accelerate(function)
    for a in ARRAYS:
        assert_same(compiled, (a,))


@pytest.mark.parametrize("function", [list_or_argument, list_in_rounds])
def test_lists_of_the_caller(function):
    compiled = accelerate(function)
    for a in ARRAYS:
        assert_same(compiled, (a, [3, 1, 2, 5]))
