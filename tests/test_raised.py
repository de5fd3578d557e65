"""Warnings that are errors, or call something.

What nobody uses raises too, and what follows in Python has not happened.
"""
import contextlib
import math
import warnings

import numpy as np
import pytest

from tests.test_warnings import BIG, outcome, same_warnings
from vizgen import accelerate


def never_used(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        a[i] / b[i]
        total += a[i]
    return total


def array_never_used(a, b):
    quotients = a / b
    return a + b


def chosen_away(a, b):
    return np.where(b != 0, a / b, 0.0)


def stored(a, b):
    for i in range(a.shape[0]):
        a[i] = a[i] / b[i]


def stored_beside(a, b):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        b[i] = a[i] / b[i]
        out[i] = b[i]
    return out


def counted(a, b):
    a[0] = 9
    return a.sum() + np.int8(100) * b.astype(np.int8)[0]


def invalid(a, b):
    for i in range(a.shape[0]):
        x = np.sqrt(b[i] - 1)
        a[i] = a[i] + 0 * x


ERRORS = [never_used, array_never_used, chosen_away, stored, stored_beside,
          counted, invalid]


@contextlib.contextmanager
def errors(mode, seen):
    with warnings.catch_warnings():
        if mode == "error":
            warnings.simplefilter("error")
            yield
        else:
            with np.errstate(divide=mode, over=mode, invalid=mode,
                             call=lambda *what: seen.append(what)):
                yield


def ends(fn, args, mode):
    """Result or error, what became of the arguments, what was called."""
    seen = []
    with errors(mode, seen):
        try:
            value = fn(*args)
        except (RuntimeWarning, FloatingPointError) as error:
            value = str(error)
    return repr((value, args)), seen


@pytest.mark.parametrize("mode", ["error", "raise", "call"])
@pytest.mark.parametrize("size", [7, 50000])
@pytest.mark.parametrize("fn", ERRORS)
def test_errors(fn, size, mode):
    """What nobody uses raises too, and what follows has not happened."""
    fast = accelerate(fn)
    for zero in (None, size // 2, 0, None):
        def args():
            b = np.ones(size)
            if fn is counted:
                b[0] = 1 if zero is None else 2
            elif zero is not None:
                b[zero] = 0
            return np.arange(1.0, size + 1), b
        replays = fast.stats.replays
        want, got = ends(fn, args(), mode), ends(fast, args(), mode)
        assert got == want
        raised = fast.stats.replays > replays
        assert raised == (zero is not None)
    assert fast.stats.python_calls == 0


def test_error_takes_back_random_numbers():
    @accelerate
    def fn(a, rng):
        s = 0.0
        for v in a:
            s += rng.random()
            s / v
        return s

    for a in (np.ones(9), np.array([1.0, 1, 0, 1])):
        streams = [np.random.default_rng(5) for _ in range(2)]
        results = []
        for each, rng in zip((fn.py_func, fn), streams):
            results.append((ends(each, (a, rng), "error")[0].split("Gen")[0],
                            rng.random()))
        assert results[0] == results[1]
    assert fn.stats.python_calls == 0 and fn.stats.replays == 1


def overlapping(a, b):
    for i in range(a.shape[0]):
        a[i] = b[i] * 0.5


def of_integers(a, b):
    s = 0
    for i in range(a.shape[0]):
        a[i] = b[i]
        s = s + a[i]
    return s


def hoisted_check(a, out):
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[i + 5] = a[i] * 0.5


@pytest.mark.parametrize("fn, dtype", [
    (overlapping, np.float64), (of_integers, np.int32),
    (hoisted_check, np.float64)])
def test_errors_in_program_order(fn, dtype):
    """Calls of the general kernel are native, too, as often as they come."""
    fast = accelerate(fn)
    for _ in range(12):
        outcomes = []
        for each in (fn, fast):
            memory = np.ones(40, dtype)
            memory[11:] = -1
            out = memory[:21].copy() if fn is hoisted_check else memory[:21]
            outcomes.append(ends(each, (memory[1:22], out), "error"))
        assert outcomes[0] == outcomes[1]
    assert fast.stats.native_calls == 12 and fast.stats.python_calls == 0


def ends_by_error(a, b):
    n = 0
    x = a[0]
    while not x < 1:
        x = np.sqrt(x - b[0])
        n += 1
    a[1] = n
    return x


def grows_until_error(a, b):
    out = []
    while a[0] > 0:
        out.append(a[0] / (b[0] - 5))
        a[1] += 1
    return out


def many_end_by_error(a, b):
    for i in range(a.shape[0]):
        x = a[i]
        while not x < 1:
            x = np.sqrt(x - b[0])
        a[i] = x


@pytest.mark.parametrize("fn, size", [
    (ends_by_error, 2), (grows_until_error, 2), (many_end_by_error, 20000)])
@pytest.mark.parametrize("mode", ["error", "raise"])
@pytest.mark.timeout(30)
def test_loops_that_an_error_ends(fn, size, mode):
    """They have no other end; every call is one of Python's, and none is
    taken for a mistake."""
    fast = accelerate(fn)
    args = (np.full(size, 4.0), np.full(1, 5.0))
    want = ends(fn, [a.copy() for a in args], mode)
    for _ in range(10):
        assert ends(fast, [a.copy() for a in args], mode) == want
    assert fast.stats.replays == 10


def far_literals(a, which):
    if which == 0:
        a[0] = 1e39
    elif which == 1:
        return a * 1e39
    elif which == 2:
        return a[0] < 1e39
    elif which == 3:
        return np.where(a > 1, a, -1e39)
    elif which == 4:
        return np.array([1e39, 1.0], dtype=np.float32)
    elif which == 5:
        return np.float32(1e39)
    return a[0] * 2


@pytest.mark.parametrize("which", range(7))
def test_literals_beyond_singles(which):
    """The C compiler makes infinities of them, and no flag tells."""
    fast = accelerate(far_literals)

    def args():
        return np.ones(3, np.float32), which
    same_warnings(fast, args)
    for mode in ("error", "raise"):
        assert ends(fast, args(), mode) == ends(far_literals, args(), mode)


def determinant(m):
    return np.linalg.det(m)


@pytest.mark.parametrize("m", [
    [[np.inf, 2], [2, 4]], [[math.nan, 1], [1, 1]], [[1, 2], [3, 4]],
    [[1e308, 1], [1, 1e308]]])
def test_errors_of_determinants(m):
    m = np.array(m, float)
    assert ends(accelerate(determinant), (m,), "raise") == ends(
        determinant, (m,), "raise")


ODD = [BIG, -BIG, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 0.0,
       -0.0, 5e-324, 2.0, -2.0, 0.5]


@pytest.mark.parametrize("name", ["power", "nextafter", "logaddexp",
                                  "logaddexp2", "hypot", "arctan2", "fmod"])
def test_errors_of_odd_operands(name):
    functions = {
        "power": lambda a, b: np.power(a, b),
        "nextafter": lambda a, b: np.nextafter(a, b),
        "logaddexp": lambda a, b: np.logaddexp(a, b),
        "logaddexp2": lambda a, b: np.logaddexp2(a, b),
        "hypot": lambda a, b: np.hypot(a, b),
        "arctan2": lambda a, b: np.arctan2(a, b),
        "fmod": lambda a, b: np.fmod(a, b)}
    fast = accelerate(functions[name])
    for x in ODD:
        for y in ODD:
            args = np.array([x]), np.array([y])
            want = ends(fast.py_func, args, "raise")
            assert ends(fast, args, "raise") == want, (x, y)


def quiet_but_for_underflow(a):
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return a[0] * 1e-300 * 1e-300


def test_underflow_where_all_else_is_ignored():
    fast = accelerate(quiet_but_for_underflow)
    for mode in ("ignore", "raise"):
        with np.errstate(under=mode):
            assert outcome(fast, np.ones(1)) == outcome(fast.py_func,
                                                        np.ones(1))
