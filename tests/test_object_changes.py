"""Objects as arguments when something about them is out of the ordinary: other
values, other classes, classes that change, and what is left to Python."""
import types
import warnings

import numpy as np
import pytest

from tests.test_objects import (
    Camera, Filter, Frozen, arrays_are_bound, check, given_back, grid,
    only_on_a_path,
)
from vizgen import accelerate
from vizgen.compare import difference


def test_identity_of_results():
    mine = check(accelerate(arrays_are_bound), arrays_are_bound,
                 lambda: (Filter(), grid()))
    (self, img), out = mine
    assert self.sum is out and self.table is img
    (self, _), (same, _) = check(accelerate(given_back), given_back,
                                 lambda: (Filter(), grid()))
    assert same is self


def test_class_attributes_are_not_copied():
    fn = accelerate(only_on_a_path)
    me = Filter()
    assert fn(me, grid()) == 3
    assert "SIZE" not in vars(me)
    assert fn(me, -grid()) == 13
    assert vars(me)["SIZE"] == 8


def test_a_call_that_python_repeats_sets_nothing():
    def overflow(self, k):
        self.count += 1
        self.total = 2 ** 40 * k
        return self.total * 2 ** 20

    fn, me = accelerate(overflow), Filter()
    assert fn(me, 1) == 2 ** 60
    assert fn(me, 2 ** 10) == 2 ** 70
    assert (me.count, me.total) == (2, 2 ** 50)
    assert fn.stats.replays == 1

    def raises(self, k):
        self.count += 1
        return self.table[k]

    fn, me = accelerate(raises), Filter()
    assert fn(me, 1) == 1.0
    with pytest.raises(IndexError):
        fn(me, 99)
    assert me.count == 2


def test_missing_attributes():
    def missing(self, k):
        if k > 3:
            return self.nothing
        return self.gain

    fn = accelerate(missing)
    assert fn(Filter(), 1) == 1.5
    with pytest.raises(AttributeError, match="'Filter' object has no"):
        fn(Filter(), 5)


def test_what_is_not_used_may_be_anything():
    def uses(self, k):
        if k > 2:
            return k * self.gain
        return k

    fn = accelerate(uses)
    for gain in (1.5, "text", [{}], None, (1,), np.zeros(3), 2 ** 80):
        assert fn(Filter(gain), 1) == 1
    one = fn.stats.native_calls
    assert one >= 1

    def ignores(self, img):
        self.gain = 2
        return self.gain + img[0, 0]

    fn = accelerate(ignores)
    assert fn(types.SimpleNamespace(), grid()) == grid()[0, 0] + 2
    assert fn.stats.native_calls == 1


# --- changes between calls --------------------------------------------------

def test_classes_may_change():
    class Shape:
        size = 2

        def area(self):
            return self.size * self.size

        def run(self, k):
            return self.area() + k

    fn, shape = accelerate(Shape.run), Shape()
    assert fn(shape, 1) == 5
    Shape.size = 3
    assert fn(shape, 1) == 10
    shape.size = 2.5
    assert fn(shape, 1) == 7.25
    Shape.area = lambda self: 7
    assert fn(shape, 1) == 8
    shape.area = lambda: 70
    assert fn(shape, 1) == 71
    del shape.area
    assert fn(shape, 1) == 8
    assert fn.stats.native_calls >= 4
    del shape.size
    Shape.size = property(lambda self: 9)
    Shape.area = lambda self: self.size
    assert fn(shape, 1) == 10
    Shape.area.__code__ = (lambda self: 5).__code__
    assert fn(shape, 1) == 6


def test_static_methods_may_be_hidden_by_an_attribute():
    class Tool:
        @staticmethod
        def pick(k):
            return k + 1

        def run(self, k):
            return self.pick(k)

    fn, tool = accelerate(Tool.run), Tool()
    assert fn(tool, 1) == 2
    tool.pick = lambda k: k + 10
    assert fn(tool, 1) == 11
    assert fn.stats.native_calls == 1


def test_several_classes():
    class A:
        def weight(self):
            return 2

    class B:
        scale = 1.5

        def weight(self):
            return self.scale

    class C(B):
        def weight(self):
            return self.extra(1) + self.later

        def extra(self, k):
            return k * self.scale

        later = 3

    def run(a, b):
        return a.weight() + 10 * b.weight()

    fn = accelerate(run)
    for classes in ((A, A), (A, B), (B, A), (C, A), (C, C), (B, C), (A, B)):
        args = [class_() for class_ in classes]
        assert fn(*args) == run(*args)
        assert fn(args[0], args[0]) == run(args[0], args[0])
    assert fn.stats.python_calls == 0


# --- globals ----------------------------------------------------------------

class Settings:
    GAIN = 2.5
    LIMITS = (3, 9)


SETTINGS = types.SimpleNamespace(gain=2.0, table=np.arange(4.0))
SHARED = Filter()


def test_global_objects():
    def run(img):
        low, high = Settings.LIMITS
        return (img[0, 0] * SETTINGS.gain + SETTINGS.table[2] + Settings.GAIN
                + SHARED.helper(low) + SHARED.count * high)

    fn = accelerate(run)
    for change in (lambda: None, lambda: setattr(SETTINGS, "gain", 3),
                   lambda: setattr(Settings, "GAIN", 1.0),
                   lambda: setattr(SHARED, "count", 2)):
        change()
        assert fn(grid()) == run(grid())
    assert fn.stats.native_calls == 4, fn.explain()


def test_global_objects_are_not_assigned():
    def run(k):
        SHARED.count = k
        return SHARED.count

    fn = accelerate(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fn(7) == 7 and SHARED.count == 7
    assert fn.stats.native_calls == 0


# --- what is left to Python -------------------------------------------------

class Watched:
    def __init__(self):
        self.log = []
        self.gain = 2

    @property
    def area(self):
        self.log.append("area")
        return 5

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        self.log.append(name)


class Dynamic:
    def __getattr__(self, name):
        return 4


class Full(Filter):
    def __len__(self):
        return 0


def reads_area(obj, k):
    return obj.area + k


def sets_gain(obj, k):
    obj.gain = k
    return obj.gain


def asks_truth(obj, k):
    return k if obj else -k


def in_a_condition(obj, k):
    return k > 1 and obj.bump(k)


def in_a_test(obj, k):
    while obj.bump(1) < k:
        pass
    return obj.count


def as_a_value(obj, k):
    f = obj.bump
    return f(k)


class Bumped:
    def __init__(self):
        self.count = 0

    def bump(self, k):
        self.count += k
        return self.count


@pytest.mark.parametrize("program, make", [
    (reads_area, Watched), (sets_gain, Watched), (sets_gain, Frozen),
    (reads_area, Dynamic), (asks_truth, Full), (in_a_condition, Bumped),
    (in_a_test, Bumped), (as_a_value, Bumped), (sets_gain, lambda: Settings),
    (sets_gain, lambda: [1]),
])
def test_left_to_python(program, make):
    fn = accelerate(program)
    mine, theirs = make(), make()
    for k in (1, 2, 3):
        results = []
        for function, obj in ((program, theirs), (fn, mine)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    results.append(function(obj, k))
                except AttributeError as error:
                    results.append(str(error))
        assert results[0] == results[1]
        if program is not sets_gain:
            assert difference(mine, theirs) is None
    assert fn.stats.native_calls == 0


def test_loops_that_assign_by_calls():
    """A call inside a loop may assign what the loop itself never names."""
    def outer(obj, k):
        first = obj.count
        for i in range(k):
            helper(obj, i)
        return first, obj.count

    def twice(obj, k):
        for i in range(k):
            for j in range(2):
                obj.bump(j)
            if obj.count > 3:
                obj.count = 0
        return obj.count

    for program in (outer, twice):
        check(accelerate(program), program, lambda: (Bumped(), 5))


def helper(obj, i):
    if i % 2:
        obj.bump(i)


def test_two_names_of_one_object():
    """Two names for one object, also inside of another."""
    def run(camera, filt, img):
        camera.filter.count += 1
        filt.count += 10
        return camera.filter.count, camera.filter is filt

    fn = accelerate(run)
    for same in (True, False, True):
        pair = []
        for function in (run, fn):
            camera = Camera()
            filt = camera.filter if same else Filter()
            pair.append((function(camera, filt, grid()), camera, filt))
        assert difference(*pair) is None
    assert fn.stats.native_calls == 3


def test_loops_of_functions_that_are_split():
    """A loop that has attributes under other names does not see the object."""
    class Counter:
        def __init__(self):
            self.a = 1
            self.b = -2

        def change(self, k):
            self.a = k % 11
            self.b += 1
            return self.a - self.b

        def run(self, n):
            repr(0)
            for i in range(n):
                self.b += self.change(i)
            for i in range(n):
                self.a += i * self.b
            if n % 2:
                return self.a
            return (self.a, self.b)

        def other(self, friend, n):
            repr(0)
            for i in range(n):
                self.b += friend.change(i)
            return self.b

    for _ in range(2):
        fn, mine, theirs = accelerate(Counter.run), Counter(), Counter()
        for n in (3, 4, 200, 201):
            assert fn(mine, n) == theirs.run(n)
            assert vars(mine) == vars(theirs)
        fn = accelerate(Counter.other)
        for n in (3, 4, 200, 201):
            assert fn(mine, mine, n) == theirs.other(theirs, n)
            assert vars(mine) == vars(theirs)
