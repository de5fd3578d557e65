"""Functions of what a loop doesn't change are called before it."""
import math
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import _core, accelerate


def turned(a, t):
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = x * math.cos(t) - y * math.sin(t) + a[y, x]
    return out


def by_rows(a, t):
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1]):
            out[y, x] = a[y, x] * np.exp(-y * t) + math.atan2(t, y)
    return out


def powers(a, t):
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s += a[y, x] * abs(t) ** 1.7 + np.float64(t) ** 2.5
    return s


def warns(a, t):
    """np.log of a number below 0 warns, if there is a round."""
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s += np.log(np.float64(t))
    return s


def raises(a, t):
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(y):
            s += math.log(t) + math.sqrt(t + 3)
    return s


def downwards(a, t):
    s = 0.0
    for y in range(a.shape[0], -2, -1):
        for x in range(a.shape[1], 2, -3):
            s += math.exp(t * 0.1) * x
    return s


MOVED = [turned, by_rows, powers, warns, raises, downwards]


def in_a_branch(a, t):
    """Few rounds may make the call."""
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > 0.9:
                s += np.log(np.float64(t))
    return s


def changed(a, t):
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s += math.cos(t)
            t = t * 0.5 + x
    return s


def of_memory(a, t):
    """What it is a function of is overwritten by the rounds."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            a[y, x] = math.sin(a[0, 0]) + t
    return a


def until(a, t):
    s = 0.0
    x = 0
    while s < 5.0 and x < 40:
        s += math.cosh(t * 0.01)
        x += 1
    return s


STAY = [in_a_branch, changed, of_memory, until]
SHAPES = [(0, 0), (0, 3), (4, 0), (1, 1), (7, 9)]


@pytest.mark.parametrize("fn", MOVED + STAY, ids=lambda fn: fn.__name__)
def test_same(fn):
    for opts in ("", "once=0", "general=1"):
        fast = accelerate(fn)
        fast._set_variant(opts)
        for shape in SHAPES:
            for t in (0.3, -0.7, -2.0, 0.0, 1e300, float("inf"), float("nan")):
                a = np.random.default_rng(0).random(shape)
                assert_same(fast, (a, t), native=False)


def test_no_round_makes_a_check():
    fast = accelerate(turned)
    for shape in ((0, 3), (4, 0)):
        assert_same(fast, (np.ones(shape), float("inf")))


def moves(fn):
    text = _core.compile_info(accelerate(fn), (np.ones((7, 9)), 0.3),
                              front_only=True, opts="dump=*")["dump"]
    return re.search(r"after once$", text, re.M) is not None


@pytest.mark.parametrize("fn", MOVED, ids=lambda fn: fn.__name__)
def test_moves(fn):
    assert moves(fn)


@pytest.mark.parametrize("fn", STAY, ids=lambda fn: fn.__name__)
def test_stays(fn):
    assert not moves(fn)


def test_a_loop_without_calls_has_lanes():
    text = str(accelerate(turned).explain(np.ones((30, 40)), 0.3))
    assert "1 of 1 inner loop with SIMD" in text
