"""Lists and tuples that are known to be empty, and read all the same.

Each program is called plain and accelerated with places that it reaches and
places that it does not.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

NOTHING = ()


def default(x, n, taps=()):
    s = 0.0
    for i in range(n):
        if i < len(taps):
            s += taps[i] * x[i]
    return s


def display(x, n):
    b = []
    s = 0.0
    i = 0
    while i < len(b):
        s += b[i]
        i += 1
    return s


def loops(x, n):
    b = []
    s = 0.0
    for i in range(n):
        s += b[i]
    return s


def glob(x, n):
    return NOTHING[n] + x[0]


def negative(x, n):
    b = ()
    return b[n - 1]


def sliced(x, n):
    b = [1.0][1:]
    return b[n]


def compr(x, n):
    b = [v for v in range(0)]
    return x[0] * b[n]


def nested(x, n):
    b = [[], [1.0]]
    return b[0][n]


def pairs(x, n):
    b = [(1, 2.0)][:0]
    return b[n][1]


def handled(x, n):
    s = 0.0
    bad = []
    for i in range(n):
        try:
            s += x[i]
        except IndexError:
            bad.append(i)
            s -= 1
        if i < len(bad):
            s += x[bad[i]]
    return s, bad


def added(x, n):
    b = ()
    b += ()
    return b[n] if n > 5 else 3


def chosen(x, n):
    b = () if x[0] > 0 else ()
    return b[n] if n > 1000 else len(b)


def unpacked(x, n):
    t = ((), (1.0, 2.0))
    s = 0.0
    for k in t:
        for i in range(len(k)):
            s += k[i]
    return s


def a_row(x, n):
    c = [[], []]
    return c[n]


def rows_and_one(x, n):
    c = [[] for _ in range(n)]
    c.append(c[0])
    return c


def rows_of_rows(x, n):
    c = [[[]], [[]]]
    return c[n], c[n][0]


def reversed_first(x, n):
    b = []
    c = list(reversed(b))
    if n > 1:
        c.extend([1, 2])
    return c


def extended_by_nothing(x, n):
    c = [1, n]
    for b in ([], ()):
        c.extend(reversed(b))
        c.extend(enumerate(b))
        c += list(zip(b, c))
    for v in reversed([]):
        c.append(v)
    return c, list(enumerate(reversed([])))


PROGRAMS = [default, display, loops, glob, negative, sliced, compr, nested,
            pairs, handled, added, chosen, unpacked, a_row, rows_and_one,
            rows_of_rows, reversed_first, extended_by_nothing]


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_nothing_in_it(program):
    fn = accelerate(program)
    for n in (0, 1, 3, -1, 0):
        assert_same(fn, (np.arange(1.0, 5.0), n), native=False)


def test_one_row_twice():
    got = accelerate(rows_and_one)(np.ones(1), 2)
    assert got[0] is got[2] and got[0] is not got[1]
