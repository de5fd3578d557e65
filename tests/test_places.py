"""Where elements lie: constants of indices go to the end of an address, and
names that are a constant away from others are spelled out there."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def grid(a, out, n):
    """Eight neighbours, by names that are a constant apart."""
    for i in range(1, n):
        k = int(a[i, 0, 0, 0] * 3.0)
        up = k + 1
        j = i - 1
        for c in range(2):
            out[i, c] = (a[i, k, 0, c] - a[j, k, 1, c] + a[i, up, 1, c]
                         - a[j, up, 0, c] + a[i, k + 2, 1, 1 - c]
                         + a[j + 1, up - 1, 0, c])


def carried(a, out, n):
    """What a loop carries is another number before and behind its step."""
    at = 1
    for i in range(n):
        after = at + 1
        before = at - 1
        at = (at * 5 + 3) % 4 + 1
        again = at + 1
        out[i, 0] = a[after, 1, 0, 0] - a[before, 2, 1, 1]
        out[i, 1] = a[at, 0, 0, 1] - a[again, 3, 1, 0]


def nested(a, out, n):
    """The name's operand changes in the loop inside."""
    for i in range(n):
        k = 0
        last = k + 2
        while k < 3 and a[k + 1, i % 4, 0, 0] < 0.9:
            last = k + 1
            k += 1
            out[i, 0] += a[last, k + 1, 1, 0] * 0.5
        out[i, 1] = a[last, 0, 0, 1]


def few(a, out, n):
    """One axis and unsigned constants."""
    row = a[2, 1, 1]
    for i in range(n):
        x = np.uint8(1)
        out[i, 0] = row[x] - row[x - 1] + a[i % 5 + 1, 3, x, 0]


PROGRAMS = (grid, carried, nested, few)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("layout", ["c", "reversed", "strided", "fortran"])
def test_places(program, layout):
    fn = accelerate(program)
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 6):
        a = rng.random((7, 5, 2, 2))
        if layout == "reversed":
            a = a[::-1, :, ::-1]
        elif layout == "strided":
            a = rng.random((14, 5, 4, 2))[::2, :, ::2]
        elif layout == "fortran":
            a = np.asfortranarray(a)
        assert_same(fn, (a, np.zeros((7, 2)), n))


def test_constants_go_to_the_end():
    """As far as extents are constants: the last axis is one of two channels,
    so that a step before it is two elements."""
    def program(a, out):
        for i in range(1, a.shape[0]):
            for j in range(a.shape[1] - 1):
                out[i] = a[i - 1, j + 1, 1] + a[i, j, 0]

    text = accelerate(program).inspect_c(np.zeros((7, 5, 2)), np.zeros(7))
    assert " * 2 + 3]" in text, text
    assert " - 1) * a_" in text, text
