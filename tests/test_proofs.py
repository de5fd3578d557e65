"""What the prover knows: checks that vanish, and why they may.

Each program is compared with Python for all small sizes, so a proof that is
wrong shows as a wrong result; the remarks say that it was made.
"""
import itertools
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def middle(a):
    """n // 2 < n where n >= 1."""
    h, w = a.shape
    total = 0.0
    for y in range(h):
        for x in range(w):
            total += a[y, x] * a[h // 2, w // 2] - a[y, x // 2]
    return total


def quarters(a):
    """Quotients of one divisor are in the order of what is divided."""
    h, w = a.shape
    out = np.zeros((h // 4 + 1, w // 4 + 1))
    for y in range(h):
        for x in range(w):
            out[y // 4, x // 4] += a[y, x]
    return out


def sweeps(a):
    """Two choices by one condition, and a step that is not 0."""
    h, w = a.shape
    out = np.zeros((h, w))
    for sweep in range(2):
        down = sweep != 0
        first = h - 1 if down else 0
        stop = -1 if down else h
        step = -1 if down else 1
        for y in range(first, stop, step):
            for x in range(w):
                out[y, x] = out[y, x] * 0.5 + a[y, x]
    return out


def differences(a):
    """n - i does not overflow where 0 <= i < n."""
    n = a.shape[0] * a.shape[1]
    total = 0
    for i in range(n):
        total ^= n - i
    return total


def up_to_one_less(a, n):
    """A loop that has rounds only if n > 1."""
    out = np.zeros(max(n, 0))
    total = 0.0
    for k in range(n - 1):
        out[k] = out[k + 1] + 1.0
        total += out[k]
    return total + a.shape[0]


def shifted(a):
    """(x + 3) // 4 <= w // 4 + 1."""
    h, w = a.shape
    out = np.zeros((h, w // 4 + 2))
    for y in range(h):
        for x in range(w):
            out[y, (x + 3) // 4] += a[y, x] + out[y, x // 4]
    return out


def clamped(a):
    """A clamp of a clamp of a clamp: each asks for the ranges of the next."""
    h, w = a.shape
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            for d in range(-2, 3):
                top = min(max(min(max(y + d, 0), h - 1) - 2 * d, 0), h - 1)
                left = min(max(min(max(x - d, 0), w - 1) + 2 * d, 0), w - 1)
                down = min(max(min(max(top + left, 0), h - 1) + d, 0), h - 1)
                out[y, x] += a[top, left] + a[down, left] * a[top, x]
    return out


def one_too_few(a):
    """(x + 2) // 4 <= w // 4 is wrong for w = 3."""
    h, w = a.shape
    out = np.zeros(w // 4 + 1)
    for y in range(h):
        for x in range(w):
            out[(x + 2) // 4] += a[y, x]
    return out


def overflowing(a, n):
    """n - i overflows where i < 0, which is not excluded."""
    total = 0.0
    for i in range(-3, a.shape[0]):
        total += n - i
    return total


def behind_a_branch(a, n):
    """What holds in the branch doesn't hold behind it."""
    h, w = a.shape
    total = 0.0
    for y in range(h):
        k = max(n, 0)
        if k + 1 < w:
            total += a[y, k + 1] + a[y, min(k + 1, w)]
        total -= a[y, min(k + 1, w)]
    return total


def not_zero_both(a, n):
    """The second choice is 0."""
    total = 0.0
    for i in range(a.shape[0]):
        step = -1 if n > 3 else 0
        if step != 0:
            total += 1.0
    return total


SIZES = [*itertools.product(range(6), range(9)), (1, 17), (13, 2)]
PROGRAMS = (middle, quarters, differences, shifted, clamped)


def compare(function, *args):
    fn = accelerate(function)
    assert fn.compile(*args)
    for size in SIZES:
        a = np.arange(float(size[0] * size[1])).reshape(size) / 3
        more = [size[1] if isinstance(v, int) else v for v in args[1:]]
        got, want = fn(a, *more), function(a, *more)
        assert np.array_equal(got, want) and type(got) is type(want), size
    assert fn.stats.python_calls == fn.stats.replays == 0
    return fn.explain(*args)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_all_small_sizes(function):
    text = compare(function, np.ones((20, 30)))
    assert "no checks in loops" in text, text


@pytest.mark.parametrize("function,numbers", [
    (one_too_few, [()]),
    (overflowing, [(0,), (2**63 - 1,), (2**63 - 3,), (-2**63,)]),
    (behind_a_branch, [(-1,), (0,), (3,), (8,), (2**40,)]),
    (not_zero_both, [(3,), (4,)]),
], ids=lambda v: getattr(v, "__name__", None))
def test_what_is_not_so(function, numbers):
    fn = accelerate(function)
    for size, more in itertools.product(SIZES, numbers):
        a = np.ones(size)
        try:
            want = function(a, *more)
        except IndexError as error:
            with pytest.raises(IndexError, match=re.escape(str(error))):
                fn(a, *more)
        else:
            assert np.array_equal(fn(a, *more), want), (size, more)
    assert fn.stats.native_calls > 0


def test_two_choices_by_one_condition():
    compare(sweeps, np.ones((20, 30)))


def test_rounds_known_by_the_count():
    text = compare(up_to_one_less, np.ones((20, 30)), 5)
    assert "no checks in loops" in text, text


def of_one_name(a, table, n):
    total = 0.0
    m = n // 2
    k = min(m, 7)
    for i in range(a.shape[0]):
        if n > 3:
            total += table[k]
        else:
            total -= table[k]
        total += table[k] * a[i]
    return total


@pytest.mark.parametrize("n", [40, 4, 3, -3, -30])
def test_behind_a_branch(n):
    """What is asked of one name in a branch and behind it."""
    fn = accelerate(of_one_name)
    args = np.arange(30.0) + 1, np.arange(9.0) + 1, n
    assert_same(fn, args, native=False)
