"""Objects as arguments: attributes that are read and assigned, methods.

Each program runs decorated on one set of arguments and plain on another; the
results and all that can be seen of the arguments afterwards must be the same,
and the decorated one must have run native.
"""
import dataclasses
import types

import numpy as np
import pytest

from vizgen import accelerate
from vizgen.compare import difference

CALLS = 4


def grid(shape=(5, 7), dtype=np.float64):
    values = np.random.RandomState(3).uniform(0, 90, shape)
    return values.astype(dtype)


class Base:
    SIZE = 3
    SHIFT = 0.5
    OFFSETS = ((0, 1), (1, 0))

    def helper(self, v):
        return min(max(v * self.SHIFT, 1.0), 60.0)

    @staticmethod
    def twice(v):
        return v + v


class Filter(Base):
    SHIFT = 0.75

    def __init__(self, gain=1.5):
        self.gain = gain
        self.table = np.arange(9.0)
        self.sum = np.zeros((5, 7))
        self.count = 0
        self.name = "sharp"
        self.offset = None
        self.pair = (2, 0.5)
        self.history = [1.0, 2.5, 4.0]
        self.small = np.float32(0.25)
        self.flag = True
        self.other = {"not": "translated"}


@dataclasses.dataclass
class Camera:
    zoom: float = 2.0
    width: int = 7
    filter: Filter = dataclasses.field(default_factory=Filter)
    pixels: np.ndarray = dataclasses.field(
        default_factory=lambda: np.zeros((5, 7), np.uint8))


@dataclasses.dataclass(frozen=True)
class Frozen:
    radius: int = 2
    weight: float = 0.25


class Slotted:
    __slots__ = ("depth", "step")

    def __init__(self):
        self.depth = 0.25


# --- reading ----------------------------------------------------------------

def reads(self, img):
    total = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            total += img[y, x] * self.gain + self.table[x] + self.SIZE
    return total


def kinds(self, img):
    if self.name != "sharp":
        return None
    if self.offset is not None:
        return self.offset + img[0, 0]
    a, b = self.pair
    return (a * b + self.history[1] + len(self.history), self.small * 2,
            self.flag, self.OFFSETS[1][0])


def whole_arrays(self, img):
    return np.clip(img * self.gain + self.table[:7], 0, 99).astype(np.uint8)


def nested(camera, img):
    out = np.zeros(img.shape)
    for y in range(img.shape[0]):
        for x in range(camera.width):
            out[y, x] = img[y, x] * camera.zoom * camera.filter.gain
    return out


def frozen(options, img):
    out = np.zeros_like(img)
    r = options.radius
    for y in range(r, img.shape[0] - r):
        for x in range(r, img.shape[1] - r):
            out[y, x] = img[y - r:y + r + 1, x].sum() * options.weight
    return out


def namespace(options, img):
    return (img - options.low) / (options.high - options.low)


def slots(s, img):
    return img[1, 1] * s.depth


def attributes_of_arrays(self, img):
    return self.table.shape[0] + self.sum.shape[1] + self.table.size


def given_on(self, img):
    def inner(obj, v):
        return v * obj.gain

    copy = self
    return inner(copy, img[0, 0]) + inner(obj=self, v=2.0)


READS = [
    (reads, Filter), (kinds, Filter), (whole_arrays, Filter),
    (nested, Camera), (frozen, Frozen), (slots, Slotted),
    (namespace, lambda: types.SimpleNamespace(low=3.0, high=np.float64(8))),
    (attributes_of_arrays, Filter), (given_on, Filter),
]


# --- assigning --------------------------------------------------------------

def counts(self, img):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > 40:
                self.count += 1
    return self.count


def in_arrays(self, img):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            self.sum[y, x] += img[y, x]
    self.table *= 2
    return self.sum


def only_on_a_path(self, img):
    if img[0, 0] < 0:
        self.SIZE = 8
        self.count = 5
    return self.SIZE + self.count


def of_the_class(self, img):
    self.SIZE += 1
    return self.SIZE


def makes(self, img):
    for y in range(img.shape[0]):
        self.fresh = img[y, 0]
    return self.fresh


def another_type(self, img):
    self.count = self.count + 0.5
    self.offset = 3
    self.flag = None
    self.name = "soft"
    self.gain = np.float32(self.gain)
    return self.count


def arrays_are_bound(self, img):
    out = img * 2
    self.sum = out
    self.table = img
    return out


def swaps(self, img):
    self.sum, self.table = self.table, self.sum
    self.gain, self.count = self.count, self.gain
    return self.gain


def leaves_early(self, img):
    for y in range(img.shape[0]):
        self.count += y
        if img[y, 0] > 60:
            self.gain = img[y, 0]
            return y
        if y == 3:
            break
    else:
        self.count = -1
    self.gain *= 2
    return -1


def nested_assigned(camera, img):
    camera.zoom += 1
    camera.filter.gain = camera.zoom
    camera.filter.count += 1
    camera.pixels[...] = 3
    return camera.filter.gain


def slots_assigned(s, img):
    s.depth += 1
    s.step = 4
    return s.depth


def given_back(self, img):
    self.count = 4
    return self, self.count


ASSIGNS = [
    (counts, Filter), (in_arrays, Filter), (only_on_a_path, Filter),
    (of_the_class, Filter), (makes, Filter), (another_type, Filter),
    (arrays_are_bound, Filter), (swaps, Filter), (leaves_early, Filter),
    (nested_assigned, Camera), (slots_assigned, Slotted),
    (given_back, Filter),
]


# --- methods ----------------------------------------------------------------

class Walker(Base):
    def __init__(self):
        self.x = 0
        self.y = 0.5
        self.trail = np.zeros(12)
        self.steps = 0
        self.__secret = 3

    def step(self, dx):
        self.x += dx
        self.trail[self.x % 12] += 1
        self.steps = self.steps + 1

    def move(self, n):
        for i in range(n):
            if i % 2:
                self.step(i)
            elif i == 4:
                return self.x
            else:
                self.step(dx=1)
        return self.x

    def until(self, limit):
        while self.steps < limit:
            self.step(2)
            if self.trail[0] > 2:
                break
        return self.trail.sum()

    def value(self):
        self.steps += 1
        return self.helper(self.x) + self.twice(self.y) + Base.twice(1)

    def values(self, n):
        return [self.value() for _ in range(n)], self.steps

    def order(self, n):
        return self.steps * 100 + self.value() + self.steps

    def secret(self, n):
        self.__secret += n
        return self.__secret

    def early(self, n):
        for i in range(n):
            self.x = i
            if i == 3:
                return
        self.x = -1

    def calls_early(self, n):
        self.early(n)
        first = self.x
        self.early(2)
        return first, self.x

    def tick(self, v=0):
        self.steps += 1
        return self.steps if v % 2 else -self.steps

    def in_comprehensions(self, n):
        a = [self.tick(v) for v in range(n) if self.tick() > 5]
        return (a, sum(self.tick(v) for v in a), self.steps,
                max(self.tick(v) for v in range(n)),
                any(self.tick(v) > 4 for v in a), self.steps)

    def in_stores(self, n):
        a = np.zeros(4)
        a[self.tick() % 4] += self.tick()
        a[:2] = self.tick(), self.tick()
        xs = [1, 2]
        xs[0] = self.tick()
        xs.append(self.tick())
        mixed = [1, np.zeros(2)]
        mixed[0] = self.tick()
        mixed.append(self.tick())
        return a, xs, mixed[0], mixed[2], self.steps

    def in_iterables(self, n):
        for i in range(self.tick() - 2, self.tick() + n):
            self.x += self.tick()
        for i, v in enumerate([self.tick(), self.tick()], self.tick()):
            self.x += i * v
        return self.x, self.steps, divmod(self.tick(), self.tick())

    def swap_with(self, other):
        self.x, other.x = other.x, self.x + 1
        return self.x, other.x, self is other, self is not None

    def meet(self, other):
        for i in range(3):
            self.steps += 1
            other.steps += 2
        return self.steps, other.steps


METHODS = [
    ("move", (7,)), ("move", (2,)), ("until", (9,)), ("value", ()),
    ("values", (3,)), ("order", (1,)), ("secret", (2,)), ("early", (6,)),
    ("calls_early", (9,)), ("in_comprehensions", (4,)), ("in_stores", (1,)),
    ("in_iterables", (3,)), ("swap_with", (Walker,)), ("swap_with", ("self",)),
    ("meet", (Walker,)), ("meet", ("self",)),
]


# --- the tests --------------------------------------------------------------

def check(fn, plain, make, calls=CALLS):
    """'make' gives the arguments; native in all calls."""
    mine, theirs = make(), make()
    for _ in range(calls):
        got, want = fn(*mine), plain(*theirs)
        words = difference((got, mine), (want, theirs))
        assert words is None, words
    assert fn.stats.native_calls == calls, fn.explain()
    return mine, got


@pytest.mark.parametrize("program, make", READS + ASSIGNS,
                         ids=lambda row: getattr(row, "__name__", "make"))
def test_programs(program, make):
    check(accelerate(program), program, lambda: (make(), grid()))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("program", [reads, counts, whole_arrays])
def test_dtypes(program, dtype):
    for shape in ((5, 7), (1, 1), (0, 7)):
        if program is whole_arrays and shape[1] == 1:
            continue
        check(accelerate(program), program,
              lambda: (Filter(), grid(shape, dtype)))


@pytest.mark.parametrize("name, args", METHODS)
def test_methods(name, args):
    def make():
        me = Walker()
        return (me,) + tuple(me if arg == "self" else arg() if arg is Walker
                             else arg for arg in args)

    plain = getattr(Walker, name)
    mine, got = check(accelerate(plain), plain, make)
    for value in mine:
        assert not isinstance(value, Walker) or list(vars(value)) == list(
            vars(Walker()))


def test_decorated_in_the_class():
    class Brush:
        size = 2

        def __init__(self):
            self.ink = 5.0

        @accelerate
        def paint(self, img):
            for y in range(img.shape[0]):
                img[y, 0] = self.use(y)
            return self.size

        @accelerate
        def use(self, y):
            self.ink -= 0.5
            return self.ink * self.scale(y)

        @staticmethod
        @accelerate
        def scale(y):
            return y + 1

        @classmethod
        @accelerate
        def area(cls, k):
            return cls.size * k + cls.scale(k)

    brush, img = Brush(), grid()
    assert brush.paint(img) == 2
    assert brush.ink == 2.5
    assert list(img[:, 0]) == [4.5, 8.0, 10.5, 12.0, 12.5]
    assert Brush.area(3) == 10 and brush.area(3) == 10
    assert brush.scale(3) == 4
    for fn in (Brush.paint, Brush.scale, Brush.area.__func__):
        assert fn.stats.native_calls > 0 and fn.stats.python_calls == 0
