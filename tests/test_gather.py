"""Loops over threads whose rounds gather: counts, sums of integers, extremes.

Each program is called plain and accelerated, with fewer and with more rows
than there are blocks.  The last programs must stay serial: what was gathered
is used in between, or its order matters.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

GATHER = "independent but for what they gather"
OPTIONS = ("", "parallel=0", "vectorize=0", "regions=0 pipes=0")


def counts(a):
    """In branches, with stores beside it."""
    high = 0
    both = 3
    out = np.zeros(a.shape)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2.0
            if a[r, c] > 0.5:
                high += 1
                if c > 2:
                    both += 1
            else:
                both += 1
    return high, both, out


def extremes(a):
    return np.max(a), np.min(a), np.any(a > 2.0), np.all(a > -1.0)


def found(a, t):
    """Flags, and a maximum of ints."""
    some = False
    every = True
    last = -1
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            if a[r, c] == t:
                some = True
                every = False
                last = max(last, r)
    return some, every, last


def line(a):
    """Without a loop inside."""
    n = 10
    for i in range(1, a.shape[1] - 1):
        if a[0, i] > a[0, i - 1]:
            n += 1
    return n


def early(a):
    """The loop inside ends early."""
    n = 0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            if a[r, c] > 0.9:
                break
            n += 1
    return n


def whiles(a):
    """The count is checked in every round."""
    n = 0
    for r in range(a.shape[0]):
        c = 0
        while c < a.shape[1] and a[r, c] < 0.9:
            c += 1
            n += 2
    return n


def longest(a):
    """A run begins anew in every row."""
    best = 0
    for r in range(a.shape[0]):
        run = 0
        for c in range(a.shape[1]):
            if a[r, c] > 0.5:
                run += 1
            else:
                run = 0
            best = max(best, run)
    return best


def numbered(a):
    """What was gathered is stored."""
    n = 0
    out = np.zeros(a.shape, np.int64)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            if a[r, c] > 0.5:
                out[r, c] = n
                n += 1
    return out, n


def total(a):
    """Sums of floats keep their order."""
    s = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            s += a[r, c]
    return s


def restarted(a):
    """Some rows forget what was found."""
    n = 0
    for r in range(a.shape[0]):
        if a[r, 0] > 0.99:
            n = 0
        for c in range(a.shape[1]):
            if a[r, c] > 0.5:
                n += 1
    return n


def until_enough(a):
    """What was gathered decides about the next step."""
    n = 0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            if a[r, c] > 0.5 and n < 100:
                n += 1
    return n


SHAPES = [(1, 1), (3, 7), (255, 4), (257, 9), (900, 31), (2, 5000), (9, 0)]


def picture(shape, seed=0):
    return np.random.default_rng(seed).random(shape)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fn", [counts, line, early, whiles, longest, numbered,
                                total, until_enough],
                         ids=lambda fn: fn.__name__)
def test_gathered(fn, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    f = accelerate(fn)
    for shape in SHAPES:
        a = picture(shape)
        for view in (a, a[::-1], np.asfortranarray(a)):
            assert_same(f, (view,))


@pytest.mark.parametrize("fn, args, gathers", [
    (counts, (), True), (extremes, (), True), (found, (0.5,), True),
    (line, (), True), (early, (), True), (whiles, (), False),
    (longest, (), True), (numbered, (), False), (total, (), False),
    (restarted, (), False), (until_enough, (), False)],
    ids=lambda x: getattr(x, "__name__", None))
def test_which_are_parallel(fn, args, gathers):
    f = accelerate(fn)
    a = picture((300, 20))
    assert_same(f, (a, *args))
    assert (GATHER in str(f.explain(a, *args))) == gathers


@pytest.mark.parametrize("options", OPTIONS)
def test_flags(options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    f = accelerate(found)
    a = picture((600, 40))
    for at in ((0, 0), (599, 39), (300, 7)):
        b = a.copy()
        b[at] = 2.0
        assert_same(f, (b, 2.0))
        assert_same(f, (a, 2.0))


# Zeros of both signs and nans, in the first element and in some block.
ODD = [{}, {(0, 0): 0.0}, {(0, 0): -0.0}, {(0, 0): np.nan},
       {(450, 3): np.nan}, {(899, 30): -0.0, (450, 0): 0.0},
       {(0, 1): 0.0, (899, 30): -0.0}, {(0, 0): np.inf, (5, 5): -np.inf}]


def extremes_of_floats(a):
    """As a program writes them, strict and not."""
    first = a[0, 0]
    most = first
    least = first
    late = first
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            if a[r, c] > most:
                most = a[r, c]
            if a[r, c] < least:
                least = a[r, c]
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            if a[r, c] >= late:
                late = a[r, c]
    return most, least, late


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("sign", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("fn", [extremes, extremes_of_floats],
                         ids=lambda fn: fn.__name__)
def test_extremes_of_floats(fn, sign, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    f = accelerate(fn)
    for odd in ODD:
        a = picture((900, 31)) * sign
        for at, value in odd.items():
            a[at] = value
        assert_same(f, (a,), native=False)


def test_integers_of_numpy():
    """Sums of NumPy's integers wrap in any grouping."""
    def sums(a):
        return np.sum(a), np.max(a), np.min(a), np.count_nonzero(a)

    f = accelerate(sums)
    rng = np.random.default_rng(5)
    for dtype in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, (700, 50), dtype, endpoint=True)
        assert_same(f, (a,))
        assert GATHER in str(f.explain(a))
