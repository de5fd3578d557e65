"""Forms of the language: each program does natively what it does in Python."""
import copy
import warnings

import numpy as np
import pytest

import vizgen
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
