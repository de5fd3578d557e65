"""Forms of the language: each program does natively what it does in Python."""
import copy
import warnings

import pytest

import vizgen
from tests.forms import PROGRAMS
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
