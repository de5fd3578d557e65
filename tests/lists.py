"""What the tests of lists of run-time length share: arguments, and the check."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


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
