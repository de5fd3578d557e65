"""Arrays that must not be written, by whatever name they are."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

FUNCTIONS = []


def writer(function):
    FUNCTIONS.append(function)
    return function


@writer
def element(a, k):
    a[0, k] = 7


@writer
def raveled(a, k):
    v = a.ravel()
    for i in range(len(v)):
        v[i] = 7


@writer
def raveled_part(a, k):
    a.ravel()[1:] = k


@writer
def reshaped(a, k):
    b = a.reshape(-1, 2)
    b[0, 1] += k


@writer
def other_rank(a, k):
    c = np.reshape(a, (2, 3, 2))
    c[1] *= 2


@writer
def own_name(a, k):
    a = a.reshape(-1)
    a[k] = 1


@writer
def flat(a, k):
    a.flat[k] = 3


@writer
def transposed(a, k):
    a.T[k] += 1


def fills(v, k):
    v[k] = k


@writer
def by_helper(a, k):
    fills(a[1].reshape(2, 2), 1)


@writer
def one_of_two(a, k):
    v = a.ravel()
    if k > 100:
        v = np.zeros(3)
    v[0] = 9


def locked(dtype=float):
    a = np.arange(12).astype(dtype).reshape(3, 4)
    a.flags.writeable = False
    return a


def outcome(function, a, k):
    try:
        return repr(function(a, k)), a.tolist()
    except ValueError as error:
        return str(error), a.tolist()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_read_only_arguments(function):
    fast = accelerate(function)
    for k in (2, 1):
        assert_same(fast, (np.arange(12.0).reshape(3, 4), k), native=True)
        for a in (locked(), locked(np.int32),
                  np.frombuffer(bytes(range(12)), np.uint8).reshape(3, 4)):
            want = outcome(function, a, k)
            assert outcome(fast, a, k) == want
            assert "read-only" in want[0]


def stores_then_fails(a, k):
    v = a.ravel()
    v[0] = 100
    return v[k]


def test_stores_by_other_names_are_taken_back():
    """Python does the call again, on what was there before."""
    fast = accelerate(stores_then_fails)
    for k in (3, 99):
        assert_same(fast, (np.arange(12.0).reshape(3, 4), k), native=k == 3)
