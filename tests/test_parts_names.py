"""Parts of functions and what they share with the rest: functions that are
called, variables of closures, attributes of objects."""

import numpy as np
import pytest

from tests.test_parts import (CALLS, at_once, check, grid,  # noqa: F401
                              opaque)
from vizgen import accelerate
from vizgen.compare import clone, difference


# --- functions that are called -----------------------------------------------


def helper_rows(img, gain):
    total = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            total += img[y, x] * gain
    return total


def helper_mixed(img, out):
    print("helper", len(out))
    s = 0.0
    for y in range(img.shape[0]):
        s += img[y, 0]
    out.append(s)
    return s


def helper_fails(img, at):
    for y in range(img.shape[0]):
        img[y, at] = 0.0
    return img


def calls_helpers(img):
    out = []
    a = helper_rows(img, gain=2.0)
    b = helper_mixed(img, out)
    return a, b, out, [helper_rows(row[None], 1.0) for row in img]


def calls_failing(img, at):
    words = opaque(at)
    helper_fails(img, 1)
    return words, helper_fails(img, at)


def recursive(img, depth):
    s = 0.0
    for y in range(img.shape[0]):
        s += img[y, depth]
    if depth == 0:
        return opaque(s)
    return opaque(s) + recursive(img, depth - 1)


def shadowed(img, helper_rows):
    return opaque(1), helper_rows(img, 2.0)


def test_helpers():
    fn = check(calls_helpers, grid())
    text = fn.explain()
    assert "calls of `helper_rows`  (" in text and "native" in text
    assert "calls of `helper_mixed`  in Python" in text


def test_helper_raises():
    check(calls_failing, grid(), 2)
    check(calls_failing, grid(), 200)


def test_recursion(monkeypatch):
    check(recursive, grid(), 3)
    fn = accelerate(recursive)
    monkeypatch.setitem(globals(), "recursive", fn)
    assert fn(grid(), 3) == recursive.py_func(grid(), 3)
    assert fn.stats.mixed_calls == 7    # three of them are from Python


def test_helper_is_replaced(monkeypatch):
    fn = accelerate(calls_helpers)
    fn(grid())

    def other(img, gain):
        return "other"

    monkeypatch.setitem(globals(), "helper_rows", other)
    assert fn(grid())[0] == "other"
    monkeypatch.delitem(globals(), "helper_rows")
    with pytest.raises(NameError):
        fn(grid())


def test_parameter_hides_helper():
    check(shadowed, grid(), lambda img, gain: gain, mixed=False)


# --- closures ----------------------------------------------------------------


def closures():
    """Functions that read and write the variables of another."""
    gain, table, count = 2.0, np.arange(20.0), 0

    def reads(img):
        s = 0.0
        for y in range(img.shape[0]):
            s += img[y, 0] * gain + table[y]
        return s, opaque(s)

    def writes(img):
        nonlocal count
        for y in range(img.shape[0]):
            count += 1
        s = 0.0
        for y in range(img.shape[0]):
            s += img[y, 0] * count
        return s, opaque(count)

    def reset(value):
        nonlocal gain, count
        gain, count = value, 0

    return reads, writes, reset


def test_closures():
    reads, writes, reset = closures()
    for gain in (2.0, 3.0, 5):
        reset(gain)
        check(reads, grid())
    fn = accelerate(writes)
    for _ in range(CALLS):
        reset(1.0)
        want = writes(grid())
        reset(1.0)
        assert fn(grid()) == want
    assert fn.stats.mixed_calls == CALLS


def captured(img):
    """Inner functions that share names with loops."""
    s = 0.0

    def add(value):
        nonlocal s
        s += value
        return s

    words = opaque()
    for y in range(img.shape[0]):
        words.append(add(img[y, 0]))
    last = 0
    for y in range(img.shape[0]):
        last = last + y
    later = [lambda: last, lambda: y]
    return s, words, [f() for f in later]


def unset_cell(flag):
    if flag:
        value = 3.0

    def function(img):
        s = 0.0
        for y in range(img.shape[0]):
            s += img[y, 0] * value
        return s, opaque(s)
    return function


def test_captured_names():
    check(captured, grid())
    check(unset_cell(True), grid())
    check(unset_cell(False), grid(), mixed=False)


def comprehensions(img):
    rows = [[value for value in row] for row in img]
    n = len(rows)
    s = 0.0
    for y in range(n):
        for x in range(len(rows[0])):
            s += img[y, x]
    return s, {y: rows[y][0] for y in range(n)}, (lambda: n)(), opaque(n)


def test_comprehensions():
    check(comprehensions, grid())


# --- methods -----------------------------------------------------------------


class Options:
    GAIN = 0.5


class Camera:
    scale = 3.0

    def __init__(self, shape=(9, 11)):
        self.gain = 1.5
        self.table = np.arange(20.0)
        self.sum = np.zeros(shape)
        self.count = 0
        self.inner = Slotted()
        self.__hidden = 2

    def reads(self, img):
        repr(0)
        total = 0.0
        for y in range(img.shape[0]):
            for x in range(img.shape[1]):
                total += (img[y, x] * self.gain + self.table[x] + self.scale
                          + self.inner.depth + Options.GAIN)
        return total

    def writes(self, img):
        repr(0)
        for y in range(self.sum.shape[0]):
            for x in range(self.sum.shape[1]):
                self.sum[y, x] += img[y, x]
                if img[y, x] > 0:
                    self.count += 1
        return self.count

    def deeper(self, img):
        repr(0)
        for y in range(img.shape[0]):
            for x in range(img.shape[1]):
                self.inner.depth += img[y, x]
        return self.inner.depth

    def mangled(self, img):
        for y in range(img.shape[0]):
            self.__hidden += y
        return self.__hidden, super().__init__.__name__

    def makes(self, img):
        repr(0)
        for y in range(img.shape[0]):
            self.fresh = img[y, 0]
        return self.fresh

    def removes(self, img):
        for y in range(img.shape[0]):
            if y == 1:
                del self.gain
        return img

    def meets(self, img, other):
        repr(0)
        for y in range(img.shape[0]):
            self.count += 1
            other.count += 2
        return self.count, other.count

    def state(self):
        return (self.gain, self.sum, self.count, self._Camera__hidden,
                sorted(vars(self)))


class Slotted:
    __slots__ = ("depth",)

    def __init__(self):
        self.depth = 0.25


class Computed(Camera):
    """Attributes that are computed."""

    @property
    def gain(self):
        self.count += 1
        return self.count

    @gain.setter
    def gain(self, value):
        pass


class Dynamic(Camera):
    def __getattr__(self, name):
        raise AttributeError(name)


class Noisy(Camera):
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2 if name == "count" else value)


def called(function, camera, args):
    """What a method gives or raises, for "self" as an argument itself."""
    args = [camera if isinstance(arg, str) else arg() if callable(arg)
            else clone((arg,))[0] for arg in args]
    try:
        return function(camera, *args)
    except AttributeError as error:
        return str(error)


def check_method(make, name, *args, mixed=True):
    function = getattr(Camera, name)
    fn = accelerate(function)
    mine, theirs = make(), make()
    for _ in range(CALLS):
        results = [called(function, theirs, args), called(fn, mine, args)]
        assert difference(*results) is None
        assert vars(mine).keys() == vars(theirs).keys()
        if name != "removes":
            assert difference(mine.state(), theirs.state()) is None
    assert (fn.stats.mixed_calls > 0) == mixed, fn.explain()
    assert fn.stats.native_calls == 0


@pytest.mark.parametrize("name, args, mixed", [
    ("reads", (grid(),), True),
    ("writes", (grid(),), True),
    ("deeper", (grid(),), True),
    ("mangled", (grid(),), True),
    ("makes", (grid(),), True),
    ("removes", (grid(),), False),
    ("meets", (grid(), "self"), False),
    ("meets", (grid(), Camera), True),
])
def test_methods(name, args, mixed):
    check_method(Camera, name, *args, mixed=mixed)


@pytest.mark.parametrize("make, name", [
    (Computed, "reads"), (Dynamic, "reads"), (Noisy, "writes"),
])
def test_methods_of_other_classes(make, name):
    check_method(make, name, grid(), mixed=False)
