"""Results of which only the run knows what they are: the argument itself or a
fresh array, None or a tuple, the same array twice."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate
from vizgen.compare import clone


def rounds(a, n):
    sums = []
    for i in range(n):
        new = np.zeros_like(a)
        for k in range(a.shape[0]):
            new[k] = a[k - 1] + 1
        a = new
        sums.append(int(a.sum()))
    return a, sums


def maybe(a, n):
    if n > 1:
        a = a * 2
    return a


def swapped(a, n):
    x, y = a * 2, a + 1
    for i in range(n):
        x, y = y, x
    return x, y


def swapped_arguments(a, n):
    x, y = a, a + 1
    for i in range(n):
        x, y = y, x + 1
    return x, y, x, a


def older(a, n):
    first = a * 2
    now, before = first, first * 0.5
    for i in range(n):
        now, before = now + before, now
    return first, now, before


def no_array(a, n):
    x = None
    if n > 1:
        x = a
    if n > 2:
        x = a + 1
    return x


def early(a, n):
    if n == 0:
        return None
    if n == 1:
        return a
    return a * 2


def no_tuple(a, n):
    if n == 0:
        return None
    x = a
    if n == 2:
        x = a * 2
    return x, x.sum(), None if n == 3 else 2.5


def changed(a, n):
    x = a
    if n > 1:
        x = a.copy()
    x[0] = 5
    return x


def counted(a, n):
    x = a
    while n > 0:
        x = x + a
        n -= 1
    return x


def other_name(a, n):
    x = a * 1
    y = x
    if n:
        y = a + 2
    return y, x


def nested(a, n):
    def step(x, on):
        return x + 1 if on else x

    b = step(a, n > 1)
    return step(b, n > 2), b, a


FUNCTIONS = (rounds, maybe, swapped, swapped_arguments, older, no_array, early,
             no_tuple, changed, counted, other_name, nested)


def flat(result):
    if isinstance(result, tuple):
        return [one for item in result for one in flat(item)]
    return [result]


def identities(fn, args):
    """Which arrays among the results and arguments are one."""
    args = clone(args)
    found = flat(fn(*args)) + list(args)
    arrays = [one for one in found if isinstance(one, np.ndarray)]
    return [[one is other for other in arrays] for one in arrays]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_which_array(fn):
    fn = accelerate(fn)
    whole = np.random.RandomState(0).uniform(0, 4, (14, 10))
    for a in (whole, np.asfortranarray(whole), whole[::2, 1:], whole[:0],
              whole[:1]):
        for n in range(5):
            few = a.shape[0] < 2 and not a.flags.c_contiguous
            if a.shape[0] == 0 and fn.py_func is changed:
                continue
            assert_same(fn, (a, n), native=not few)
            assert identities(fn, (a, n)) == identities(fn.py_func, (a, n))
    assert fn.stats.python_calls == 0


def either(a, b, n):
    return a if n else b


def test_one_of_two_arguments():
    fn = accelerate(either)
    a = np.arange(5.0)
    b = a[:]
    assert fn(a, a, 0) is a and fn(a, a, 1) is a
    assert fn(a, b, 0) is b and fn(a, b, 1) is a
    assert fn(a[:0], b, 0) is b
    assert fn.stats.python_calls == 0 and fn.stats.replays == 0


def none_within(a, n):
    if n == 0:
        return None
    return a, (None if n == 1 else (n, a * 2)), (n, None if n == 2 else 2.5)


def test_none_within_what_may_be_none():
    fn = accelerate(none_within)
    for n in range(4):
        assert_same(fn, (np.arange(3.0), n))


def by_flag(a, verbose=False):
    if a[0] > 100:
        return None
    if verbose:
        return a, 1
    return a, 1, 2


def by_number(a, n=0):
    def form(x):
        if n == 1:
            return x.sum()
        return x * 2

    return form(a)


@pytest.mark.parametrize("fn", (by_flag, by_number),
                         ids=lambda fn: fn.__name__)
def test_arguments_decide_the_form(fn):
    fn = accelerate(fn)
    a = np.arange(7.0)
    for args in ((a,), (a, True), (a + 200,), (a + 200, True), (a, False)):
        assert_same(fn, args)


def halves(a, rows, cols):
    """Zeros, of which only some are written."""
    out = np.zeros((rows, cols))
    for y in range(0, rows, 2):
        out[y, 0] = a[y % 3]
    return out


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_zeros_are_cleared_by_all_threads(threads):
    """In memory that held something else: around the sizes from which on it is
    shared, and such that no part is whole."""
    fn = accelerate(halves, threads=threads)
    a = np.arange(1.0, 4.0)
    for cols in (1, 1021, 2048, 4096, 4099, 65536, 262147):
        for rows in (1, 8, 9):
            np.full((rows, cols), np.pi)     # its memory comes back
            got = fn(a, rows, cols)
            assert got.tobytes() == halves(a, rows, cols).tobytes()
            del got
