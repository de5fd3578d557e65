"""`a.flat`: an iterator, no array."""
import numpy as np
import pytest

from tests.support import assert_same
from tests.lists import check_refused, refuser
from vizgen import accelerate

REFUSED = []
refused = refuser(REFUSED)


def image():
    return np.arange(12.0).reshape(3, 4)


def elements(a, b, k):
    total = 0.0
    for v in a.flat:
        total += v
    for i, v in enumerate(a.flat):
        total += i * v
    for u, v in zip(a.flat, b.flat):
        total += u * v
    a.flat[k] = a.flat[-1] + 1
    a.flat[k] += 2
    return total, a.flat[k], [v * 2 for v in b.flat], sum(v for v in a.flat)


def test_elements():
    fast = accelerate(elements)
    for k in (0, 5, -12):
        assert_same(fast, (image(), image() + 1, k), native=True)
    assert_same(fast, (image(), image(), 12), native=False)


class Box:
    def __init__(self):
        self.flat = np.arange(4.0)


def attribute(box):
    return box.flat[1:].sum() + box.flat.max()


def test_attribute_of_that_name():
    assert_same(accelerate(attribute), (Box(),), native=True)


@refused(image())
def part(a):
    s = a.flat[1:4]
    a[0, 1] = 99.0
    return s[0]


@refused(image())
def part_changed(a):
    a.flat[1:4] = 5
    return a.flat[2]


@refused(image())
def two_loops(a):
    it = a.flat
    s = 0.0
    for v in it:
        s += v
        if s > 2:
            break
    for v in it:
        s += v * 10
    return s


@refused(image())
def no_method(a):
    return a.flat.max()


@refused(image())
def arithmetic(a):
    return a.flat * 2


@refused(image())
def backwards(a):
    for v in reversed(a.flat):
        return v


@refused(image()[:, ::2])
def with_gaps(a):
    return a.flat[0]


@pytest.mark.parametrize("function, args", REFUSED)
def test_refused(function, args):
    check_refused(function, args, "VZ-2005")
