"""What the tests of lists of run-time length share: arguments, and the check."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate
from vizgen.errors import CompileError


def adder(programs):
    """A decorator that adds a function to 'programs' with the arguments it is
    called with.  'native' as for assert_same; 'python': Python runs it."""
    def program(*argument_lists, native=True, python=False):
        def add(function):
            for args in argument_lists:
                programs.append(pytest.param(function, args, native, python,
                                             id=function.__name__))
            return function
        return add
    return program


def adder_with_replays(programs):
    """The same, but the last 'replays' of the argument lists end in Python."""
    def program(*argument_lists, replays=0):
        def add(function):
            for i, args in enumerate(argument_lists):
                native = i < len(argument_lists) - replays
                programs.append(pytest.param(function, args, native,
                                             id=function.__name__))
            return function
        return add
    return program


def refuser(functions):
    """A decorator that adds a function to 'functions' with its arguments."""
    def refused(*args):
        def add(function):
            functions.append(pytest.param(function, args,
                                          id=function.__name__))
            return function
        return add
    return refused


def check_native(function, args, native):
    """Two calls that never fall back, not even where they are repeated."""
    fast = accelerate(function, strict=True)
    for _ in range(2):
        assert_same(fast, args, native=native)
    assert fast.stats.python_calls == 0


def check_refused(function, args, code):
    with pytest.raises(CompileError, match=code):
        accelerate(function, strict=True)(*args)
    assert_same(accelerate(function), args, native=False)


def check_program(function, args, native, python):
    """Two calls, the second one of a kernel that is ready."""
    fast = accelerate(function)
    for _ in range(2):
        assert_same(fast, args, native=native)
    stats = fast.stats
    if not python:
        assert stats.native_calls + stats.replays == 2, stats


def ints(*values):
    return np.array(values, dtype=np.int64)


def image(*shape, dtype=np.int32, seed=0, top=3):
    values = np.random.RandomState(seed).randint(0, top, shape)
    return values.astype(dtype)
