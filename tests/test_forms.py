"""Forms of the language: each program does natively what it does in Python."""
import copy
import warnings

import numpy as np
import pytest

import vizgen
import tests.containers
import tests.pymath  # noqa: F401, adds programs
from tests.forms import PROGRAMS
from tests.support import assert_same
from vizgen.compare import difference


def outcome(function, args):
    args = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), args
        except Exception as error:
            return type(error).__name__, args


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c[0].__name__)
def test_program(case):
    function, argument_lists, replays, refused = case
    fast = vizgen.accelerate(function)
    for args in argument_lists:
        got, want = outcome(fast, args), outcome(function, args)
        assert difference(got[0], want[0]) is None, args
        assert difference(got[1], want[1]) is None, args
    refusals = [d["refusal"] for d in fast._describe() if d["refusal"]]
    if refused:
        assert refused in refusals[0]
        return
    assert not refusals, refusals[0]
    assert fast.stats.replays == replays
    assert fast.stats.native_calls == len(argument_lists) - replays


# --- warnings under np.errstate ---


def ignored_integers(a, b):
    out = np.zeros(len(a), np.int64)
    with np.errstate(over="ignore"):
        for i in range(len(a)):
            out[i] = a[i] * b[i] - a[i]
    return out


def some_integers(a, b):
    with np.errstate(all="ignore"):
        x = a[0] * b[0]
    return x, a[0] - b[0]


def helper(x, y):
    return x / y


def ignored_floats(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return helper(a[0], b[0]), a * b[0], np.sqrt(a[1])


def some_floats(a, b):
    with np.errstate(divide="ignore"):
        x = a[0] / b[0]
    return x + a[1] / b[1]


FLOATS = [(1.0, 2.0), (0.0, 0.0), (1.0, 0.0), (1e308, 1e-308), (-1.0, np.inf)]
BYTES = [(1, 2), (200, 3), (3, 200), (255, 255)]


@pytest.mark.parametrize("fn", [ignored_integers, some_integers])
def test_errstate_of_integers(fn):
    fast = vizgen.accelerate(fn)
    for x in BYTES:
        for y in BYTES:
            args = np.array(x, np.uint8), np.array(y, np.uint8)
            assert_same(fast, args, native=fn is ignored_integers)
    assert fast.stats.python_calls == 0


@pytest.mark.parametrize("fn", [ignored_floats, some_floats])
def test_errstate_of_floats(fn):
    fast = vizgen.accelerate(fn)
    for x in FLOATS:
        for y in FLOATS:
            assert_same(fast, (np.array(x), np.array(y)), native=False)
    assert fast.stats.python_calls == 0
    before = fast.stats.native_calls
    fast(np.array((1.0, 2.0)), np.array((3.0, 4.0)))
    assert fast.stats.native_calls == before + 1


# --- what globals hold is looked at in each call ---

HELD = [1, 2, 3]
NAMED = {"a": 1, "b": [2, 3]}


def held(n):
    return HELD[n] + NAMED["a"] * n + NAMED["b"][0]


def test_globals_that_change():
    fast = vizgen.accelerate(held)
    assert fast(1) == held(1) == 5
    HELD[1] = 7.5
    assert fast(1) == held(1) == 10.5
    HELD.append(9)
    assert fast(3) == held(3) == 14
    NAMED["b"][0] = 10
    assert fast(1) == held(1) == 18.5
    NAMED["a"] = -1
    assert fast(1) == held(1) == 16.5
    assert fast.stats.python_calls == 0


GROWN = [1, 2]


def appends_to_global(n):
    GROWN.append(n)
    return len(GROWN)


def stores_into_global(n):
    x = GROWN
    x[0] = n
    return x[0]


def returns_global(n):
    return GROWN


@pytest.mark.parametrize("fn", [appends_to_global, stores_into_global,
                                returns_global])
def test_global_lists_are_not_changed(fn):
    fast = vizgen.accelerate(fn)
    before = len(GROWN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = fast(3)
    assert value is GROWN or value in (before + 1, 3)
    assert fast.stats.native_calls == 0
