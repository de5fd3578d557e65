"""What the tests of programs with whole arrays share: arguments, and the check.

Each program runs decorated and plain with arrays of several dtypes, shapes and
layouts.  Results, what became of the arguments, strides and warnings must be
equal, and the calls must have run natively unless the table says that Python
has to decide ("replays") or that the program is refused.
"""
import warnings

import numpy as np

from tests import FULL
from tests.support import assert_same, outcome
from vizgen import accelerate

FLOATS = ("float64", "float32")
INTEGERS = ("int8", "int16", "int32", "int64",
            "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
SHAPES = ((7, 9), (1, 1), (40, 33), (0, 4), (4, 0))


def numbers(shape, dtype, seed=0):
    """Values of both signs; no zero."""
    random = np.random.RandomState(seed)
    kind = np.dtype(dtype).kind
    if kind == "f":
        return (random.randint(1, 900, shape) / 8
                * random.choice([1, -1], shape)).astype(dtype)
    if kind == "b":
        return random.randint(0, 2, shape).astype(bool)
    low = 1 if kind == "u" else -90
    out = random.randint(low, 120, shape).astype(dtype)
    return np.where(out == 0, 3, out).astype(dtype)


def pairs(*dtypes, shapes=SHAPES):
    """Argument lists of two arrays of one shape."""
    return [(numbers(shape, dtype, 1), numbers(shape, dtype, 2))
            for dtype in some(dtypes) for shape in shapes]


def singles(*dtypes, shapes=SHAPES):
    return [(numbers(shape, dtype, 3),)
            for dtype in some(dtypes) for shape in shapes]


def some(dtypes):
    """Of many every fourth one, but with VIZGEN_FULL=1."""
    return dtypes if FULL or len(dtypes) < 6 else dtypes[len(dtypes) % 2::4]


def adder(programs):
    """A decorator that adds a function to the table 'programs'; 'refused' is the
    code of a refusal."""
    def program(argument_lists, replays=0, refused=None):
        def add(function):
            programs.append((function, argument_lists, replays, refused))
            return function
        return add
    return program


def shapes_of(result):
    """Strides, owners and flags, which difference() does not look at."""
    if isinstance(result, tuple | list):
        return [shapes_of(item) for item in result]
    if isinstance(result, np.ndarray):
        strides = [stride for stride, n in zip(result.strides, result.shape,
                                               strict=True) if n > 1]
        return (strides if result.size else None, result.base is None,
                result.flags.owndata)
    return None


def name_of(case):
    return case[0].__name__


def check_program(case):
    """Runs a row of the table with each of its argument lists."""
    function, argument_lists, replays, refused = case
    fast = accelerate(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in argument_lists:
            fast = fast if fast.stats.compiles < 7 else accelerate(function)
            before = fast.stats
            assert_same(fast, args, native=False)
            after = fast.stats
            native = after.python_calls == before.python_calls
            assert replays or refused or native, [
                d["refusal"] for d in fast._describe()]
            want = outcome(function, args)[0]
            assert shapes_of(outcome(fast, args)[0]) == shapes_of(want), args
            replays -= after.replays > before.replays
    refusals = [d["refusal"] for d in fast._describe() if d["refusal"]]
    assert replays == 0
    assert not refused or refused in refusals[0], refusals
