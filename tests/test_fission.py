"""What a loop computes is made apart from what it does with it."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

FIRED = "several rounds at a time"


def toned(a, table, k):
    """A table behind a check that only data decides."""
    out = np.zeros((a.shape[0] * 2, a.shape[1] * 2))
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * k + 20.0
            i = int(np.clip(w, 0, 1023) + 0.5)
            out[y * 2, x * 2 + 1] = table[i]
    return out


def unclipped(a, table, k):
    """The index may be out of range, too."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 300.0 + (u * u - v) * k + 20.0
            out[y, a.shape[1] - 1 - x] = table[int(w)]
    return out


def in_place(a, table, k):
    """Stores that must be undone, and reads of what is stored."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * k + 20.0
            i = int(np.clip(w, 0, 1023) + 0.5)
            a[y, x] = table[i] + u
    return None


def short(a, table, k):
    """Few rounds, of which the number is known; a branch that computes."""
    out = np.zeros((a.shape[0], 24))
    for y in range(a.shape[0]):
        for c in range(2):
            for x in range(11):
                u = a[y, x + 1] * 0.5 + k
                v = a[y, x] * u + k * u * u - 0.25 * (u - k) * (u + 1.0)
                w = v * 400.0 + (u * u - v) * k + 20.0
                if w < 0.0:
                    w = -w
                i = int(min(w, 1023.0))
                out[y, x * 2 + c] = table[i]
    return out


def guarded(a, table, k):
    """A comparison of floats that keeps an index in range."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * k + 20.0
            if float(x) >= 1024.0 or v > 1e6:
                raise ValueError("too far")
            out[y, a.shape[1] - 1 - x] = w + table[x]
    return out


PROGRAMS = (toned, unclipped, in_place, short, guarded)
BAD = (np.nan, np.inf, -np.inf, 1e300, -1e19)


def arguments(shape, bad=None, place=None, dtype=np.float64):
    a = np.random.default_rng(9).random(shape).astype(dtype)
    if place is not None:
        a.flat[place] = bad
    return a, np.linspace(0.0, 1.0, 1024), 0.3


@pytest.mark.parametrize("fn", PROGRAMS)
def test_programs(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in ((3, 12), (7, 300), (1, 129), (2, 128), (0, 20),
                      (2, 3000)):
            assert_same(fast, arguments(shape), native=False)
        for bad in BAD:
            for place in (0, 7 * 150 + 3, 7 * 300 - 1):
                assert_same(fast, arguments((7, 300), bad, place),
                            native=False)


@pytest.mark.parametrize("fn", (toned, short))
def test_fires(fn):
    fast = accelerate(fn)
    assert FIRED in str(fast.explain(*arguments((7, 300))))
    fast._set_variant("fission=0")
    assert FIRED not in str(fast.explain(*arguments((7, 300))))
    assert_same(fast, arguments((7, 300)))


@pytest.mark.parametrize("fn", PROGRAMS)
def test_strided_arguments(fn):
    fast = accelerate(fn)
    a, table, k = arguments((9, 40))
    for view in (a[:, ::-1], a[::2, ::2], np.asfortranarray(a)):
        assert_same(fast, (view, table, k), native=False)
    assert_same(fast, (a, table[::-1], k), native=False)
