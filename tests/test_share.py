"""Sizes that are a power-of-two share of another, and what may be read with
them: every program is compared with Python, also where the power is too large,
the exponent has the other sign, or the index is one too far."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def numbers(shape):
    return np.random.RandomState(7).uniform(-9, 9, shape)


def halves(img, first, last):
    """h = n // 2**l is in range, and so is 2 * h - 1 from l = 1 on."""
    rows, cols = img.shape
    total = 0.0
    for l in range(first, last):
        h = rows // 2 ** l
        w = cols // 2 ** l
        for y in range(h):
            for x in range(w):
                total = total * 0.5 + img[y, x] + img[2 * y, 2 * x + 1]
    return total


def one_too_far(img, first, last):
    rows, cols = img.shape
    total = 0.0
    for l in range(first, last):
        h = rows // 2 ** l
        for y in range(h):
            total = total * 0.5 + img[y + 1, 0] + img[2 * y + 1, cols - 1]
    return total


def floats(img, first, last):
    """The same by int(n * 2 ** -l)."""
    rows, cols = img.shape
    total = 0.0
    for l in range(first, last):
        h = int(rows * 2 ** (-l))
        w = int(cols * 2 ** (-l + 1))
        for y in range(h):
            for x in range(w):
                total = total * 0.5 + img[y, x]
    return total


def doubled(img, first, last):
    rows, cols = img.shape
    total = 0.0
    for l in range(first, last):
        h = int(rows * 2 ** (-l))
        for y in range(h):
            total = total * 0.5 + img[2 * y, 0] + img[2 * y + 1, cols - 1]
    return total


def upwards(img, first, last):
    """The exponent has the other sign: more rows than there are."""
    rows, cols = img.shape
    total = 0.0
    for l in range(first, last):
        h = int(rows * 2 ** l)
        for y in range(h):
            total = total * 0.5 + img[y, 0]
    return total


def backwards(img, first, last):
    rows, cols = img.shape
    total = 0.0
    for l in range(last - 1, first - 1, -1):
        h = int(rows * 2 ** (-l))
        w = cols // 2 ** l
        for y in range(h):
            for x in range(w - 1):
                total = total * 0.5 + img[int(y / 2), int((x + 1) / 2)]
    return total


def quotients(img, first, last):
    """int() of a quotient cuts towards 0, and by less than 1 it grows."""
    rows, cols = img.shape
    total = 0.0
    for k in range(first, last):
        for x in range(-cols, cols):
            total = total * 0.5 + img[0, int(x / 2)] + img[0, int(x / 4.5)]
        for x in range(cols - 1):
            total = total * 0.5 + img[0, int(x / 0.75)] + k
    return total


def signed(img, first, last):
    """A quotient of what may be negative, by what may be."""
    rows, cols = img.shape
    total = 0
    for k in range(first, last):
        for n in range(-rows, rows):
            q = n // (k - 1) if k != 1 else 0
            total = total * 3 % 1000003 + q
            if 0 <= q < cols:
                total += int(img[0, q])
    return total


def overflowing(img, first, last):
    """2 ** l leaves 64 bits, n * 2 ** l the doubles."""
    rows, cols = img.shape
    total = 0
    for l in range(first, last):
        total += rows // 2 ** (20 * l) + int(cols * 2 ** (-300 * l))
    return total


PROGRAMS = (halves, one_too_far, floats, doubled, upwards, backwards,
            quotients, signed, overflowing)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", ("", "regions=0 vectorize=0 parallel=0"))
def test_same_results(program, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fast = accelerate(program)
    for shape in ((8, 8), (7, 9), (1, 1), (2, 3), (1, 6), (5, 1), (0, 4),
                  (4, 0)):
        for first, last in ((0, 3), (1, 4), (2, 2), (0, 1), (-2, 2), (1, 6)):
            assert_same(fast, (numbers(shape), first, last), native=False)


@pytest.mark.parametrize("program", (halves, floats, backwards),
                         ids=lambda f: f.__name__)
def test_native_where_in_range(program):
    fast = accelerate(program)
    assert_same(fast, (numbers((16, 24)), 1, 4))
    assert fast.stats.python_calls == 0 and fast.stats.replays == 0


def levels(img):
    """No check of an index is left in the loops."""
    rows, cols = img.shape
    out = np.zeros((rows, cols))
    for l in range(1, 5):
        h = rows // 2 ** l
        w = int(cols * 2 ** (-l))
        for y in range(h):
            for x in range(w):
                out[y, x] += img[2 * y, 2 * x] + img[2 * y + 1, int(x / 2)]
    return out


def test_checks_are_proved():
    fast = accelerate(levels)
    assert_same(fast, (numbers((33, 21)),))
    assert "the check of an index" not in fast.explain(numbers((33, 21)))
