"""What a fast kernel asks at its entry is not more than the program needs: a
test that always fails would send every call to the slow kernel, unseen."""
import math

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def guarded(e, m):
    """The size of one array guards an index of the other."""
    h, w = e.shape
    for y in range(1, h):
        for x in range(w):
            b = e[y, x]
            if x < w - 1:
                b += m[y - 1, x + 1]
            m[y, x] = b


def guarded_by_two(e, m):
    h, w = e.shape
    for y in range(1, h):
        for x in range(w):
            b = e[y, x]
            if x < w - 1 and m[y - 1, x + 1] < b:
                b = m[y - 1, x + 1]
            if x > 1 and m[y - 1, x - 2] < b:
                b = m[y - 1, x - 2]
            m[y, x] = b


def guarded_below(e, m):
    h, w = e.shape
    for y in range(h):
        for x in range(w):
            if not (x + 2 >= w or e[y, x + 2] > 0.5):
                m[y, x] = m[y, x + 2] * 0.5


def quotients(e, m):
    """16 rows and 16 columns make one block each, the last one less."""
    h, w = e.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            m[y // 3, (x - 1) // 4] += e[y, x]


def shifted(e, m):
    for y in range(e.shape[0]):
        for x in range(e.shape[1]):
            m[y >> 1, x >> 2] = e[y, x]


CASES = [(guarded, (17, 23)), (guarded_by_two, (17, 23)),
         (guarded_below, (17, 23)), (quotients, (6, 6)), (shifted, (9, 6))]


def arguments(shape):
    rng = np.random.default_rng(0)
    return rng.random((17, 23)), rng.random(shape)


@pytest.mark.parametrize("fn, shape", CASES, ids=lambda v: getattr(
    v, "__name__", ""))
def test_the_fast_kernel_runs(fn, shape):
    fast = accelerate(fn)
    assert_same(fast, arguments(shape))
    assert sum(spec["bails"] for spec in fast._describe()) == 0


def divided(a, t):
    """Nothing is divided by 0 where nothing is above 0."""
    total = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > math.sin(t):
                total += 1 / math.sin(t) + a[y, x] / t
    return total


def test_a_divisor_of_a_branch():
    fast = accelerate(divided)
    for a, t in ((-np.ones((9, 7)), 0.0), (np.ones((9, 7)), 0.5)):
        assert_same(fast, (a, t))
    assert sum(spec["bails"] for spec in fast._describe()) == 0
    assert_same(fast, (np.ones((9, 7)), 0.0), native=False)


def test_calls_that_fail_it_are_told():
    fast = accelerate(guarded)
    a = np.random.default_rng(0).random((18, 23))
    assert "failed a test" not in str(fast.explain(*arguments((17, 23))))
    for _ in range(2):
        assert_same(fast, (a[1:], a[:-1]))
    assert "2 calls failed a test at the entry" in str(fast.explain())


@pytest.mark.parametrize("fn, shape", CASES, ids=lambda v: getattr(
    v, "__name__", ""))
def test_too_small(fn, shape):
    """One row or column less: an error, or what Python does."""
    for less in ((1, 0), (0, 1), (2, 2)):
        assert_same(accelerate(fn), arguments(np.subtract(shape, less)),
                    native=False)
