"""Named tuples, and objects that are made in the call: values, methods,
operators, results."""
import collections
import dataclasses
import typing
import warnings

import numpy as np
import pytest

from tests.test_objects import check, grid
from vizgen import accelerate
from vizgen.compare import difference

Point = collections.namedtuple("Point", "x y z", defaults=(1.5,))
Frame = collections.namedtuple("Frame", "image mode point limit")


class Vec(typing.NamedTuple):
    x: float
    y: float = 0.25

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    def scaled(self, k):
        return Vec(self.x * k, y=self.y * k)

    @property
    def norm(self):
        return self.dot(self) ** 0.5

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __rmul__(self, k):
        return self.scaled(k)


@dataclasses.dataclass
class Colour:
    r: float
    g: float = 0.5
    b: int = 2

    def __add__(self, other):
        if isinstance(other, float):
            return Colour(self.r + other, self.g + other, self.b)
        return Colour(self.r + other.r, self.g + other.g, self.b)

    def __mul__(self, k):
        return Colour(self.r * k, self.g * k, self.b)

    __rmul__ = __mul__

    def __neg__(self):
        return Colour(-self.r, b=-self.b)

    def total(self):
        return self.r + self.g + self.b


@dataclasses.dataclass(frozen=True)
class Hit:
    t: float
    colour: Colour
    _: dataclasses.KW_ONLY
    index: int = -1


@dataclasses.dataclass(slots=True)
class Cell:
    value: float
    name: str = "cell"


class Ray:
    KIND = "ray"

    def __init__(self, origin, direction, *, far=10.0):
        """Normalised."""
        self.origin = origin
        n = (direction.x ** 2 + direction.y ** 2) ** 0.5
        if n > 0:
            self.direction = Vec(direction.x / n, direction.y / n)
        else:
            self.direction = Vec(0.0, 0.0)
        self.near, self.far = 0.0, far
        self.far += self.near

    def at(self, t):
        return Vec(self.origin.x + self.direction.x * t,
                   self.origin.y + self.direction.y * t)

    @property
    def length(self):
        return self.far - self.near


# --- named tuples ------------------------------------------------------------

def as_a_tuple(p, k):
    a, b, c = p
    total = 0
    for item in p:
        total += item
    first, *rest = p
    return (a + k, p[1], p[-1], len(p), total, rest, p + (1,), p * 2, p[:2],
            p == (1, 2, 1.5), tuple(p), list(p), sum(p), max(p), 2 in p)


def by_name(p, k):
    return p.x + p.y * k, p.z


def made(p, k):
    q = Point(k, y=p.x)
    r = q._replace(z=2)
    return p, q, r, Point(*p), Point(x=1, z=2, y=3)


def methods(v, k):
    w = v.scaled(k)
    return w, v.dot(w), w.norm, (v - w).norm, 2.0 * v, v.count(1.0)


def of_vecs(v, k):
    best = None
    for i in range(k):
        u = v.scaled(i - 1)
        if best is None or u.dot(v) > best.dot(v):
            best = u
    if best is not None and best.x > 100:
        return None
    return best


def carried(v, k):
    for i in range(k):
        v = Vec(v.y, v.x + i)
    return v


def chosen(v, k):
    w = v if k > 2 else Vec(float(k))
    u = v or Vec(1.0)
    return w.x + u.y


def listed(v, k):
    pts = [Vec(i * 0.5, v.y) for i in range(k)]
    pts.append(v)
    total = 0.0
    for p in pts:
        total += p.x
    return pts, total, pts[-1].y, pts[k - 1]


def arrays_inside(frame, k):
    out = np.zeros(frame.image.shape)
    if frame.mode == "add":
        for y in range(out.shape[0]):
            out[y] = frame.image[y] + frame.point.x * k
    image, _, point, limit = frame
    image[0, 0] = 7
    return out, frame, Frame(out, None, point, limit), limit is None


TUPLES = [
    (as_a_tuple, lambda: Point(1, 2)), (by_name, lambda: Point(1, 2)),
    (as_a_tuple, lambda: Point(1.5, 2.5, 0.25)),
    (made, lambda: Point(3, 2.5)), (methods, lambda: Vec(1.0, 2.0)),
    (of_vecs, lambda: Vec(3.0)), (carried, lambda: Vec(1.0, 2.0)),
    (chosen, lambda: Vec(1.0, 2.0)), (listed, lambda: Vec(1.0, 2.0)),
    (arrays_inside, lambda: Frame(grid(), "add", Point(1, 2), None)),
]


@pytest.mark.parametrize("program, make", TUPLES,
                         ids=lambda row: getattr(row, "__name__", "make"))
def test_named_tuples(program, make):
    for k in (4, 1):
        check(accelerate(program), program, lambda: (make(), k))


def test_named_tuples_in_attributes():
    class Body:
        def __init__(self):
            self.pos = Vec(0.5, 1.0)
            self.old = None

        def run(self, n):
            for i in range(n):
                self.step(0.5)
                if self.pos.norm > 2:
                    self.old = self.pos
            return self.pos

        def step(self, dt):
            self.pos = Vec(self.pos.x + dt, self.pos.y)

    check(accelerate(Body.run), Body.run, lambda: (Body(), 5))


def test_a_tuple_of_another_length():
    """tuple.__new__ makes what the class never would."""
    def run(p, k):
        return p[0] + k

    fn = accelerate(run)
    assert fn(Point(1, 2), 1) == 2
    assert fn(tuple.__new__(Point, (1, 2)), 1) == 2
    assert fn.stats.native_calls == 1


class Loud(Point):
    def __getitem__(self, k):
        return 100


class Longer(Point):
    def __len__(self):
        return 9


class Strange(Point):
    def __new__(cls, x, y):
        return super().__new__(cls, x, y * 10)


@pytest.mark.parametrize("make", [lambda: Loud(1, 2), lambda: Longer(1, 2),
                                  lambda: Strange(1, 2)])
def test_other_subclasses_stay_in_python(make):
    def run(p, k):
        return p[0] + len(p) + k + p.y

    fn = accelerate(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fn(make(), 1) == run(make(), 1)
    assert fn.stats.native_calls == 0


# --- objects that are made ---------------------------------------------------

def operators(k, n):
    acc = Colour(k)
    for i in range(n):
        acc = acc + Colour(1.0, i) * 0.5
        acc += 2.0 * Colour(i)
        acc *= 1.5
    acc = -acc + 1.0
    return acc, acc.total()


def nested_objects(k, n):
    best = Hit(1e9, Colour(0.0))
    for i in range(n):
        t = abs(i - k)
        if t < best.t:
            best = Hit(t, Colour(t, g=0.5, b=i), index=i)
    return best.t, best.colour.total(), best.index, best


def perhaps_none(k, n):
    best = None
    for i in range(n):
        if i > k and (best is None or best.value < i):
            best = Cell(i)
    if best:
        return best.value
    return best is None


def by_init(k, n):
    ray = Ray(Vec(k, 1.0), Vec(3.0, 4.0), far=n)
    p = ray.at(2)
    return p, ray.length, ray, ray.origin


def two_objects(k, n):
    return Cell(k), [Cell(n, name="x"), (Colour(1), Cell(2))]


def handed_on(k, n):
    def shade(c, weight=2):
        return c.total() * weight

    cells = (Colour(k), Colour(1.0, b=n))
    return [shade(c) for c in cells], shade(weight=3, c=Colour(0))


@pytest.mark.parametrize("program", [
    operators, nested_objects, perhaps_none, by_init, two_objects, handed_on])
def test_objects_that_are_made(program):
    for args in ((1.5, 4), (0.5, 1), (7.0, 0)):
        _, got = check(accelerate(program), program, lambda: args)
    if program is by_init:
        assert list(vars(got[2])) == ["origin", "direction", "near", "far"]


def test_objects_become_attributes():
    class Scene:
        def __init__(self):
            self.best = None
            self.base = Colour(1.0)

        def run(self, k):
            self.best = Colour(k) + self.base
            self.pair = (Cell(1), Cell(2))
            return self.best.r

    check(accelerate(Scene.run), Scene.run, lambda: (Scene(), 2.0))


# --- what is left to Python --------------------------------------------------

class Counted:
    made = 0

    def __init__(self, k):
        self.k = k
        Counted.made += 1


class Init(Ray):
    def __init__(self, k):
        super().__init__(Vec(k), Vec(k, k))
        self.k = k


class Setter:
    def __init__(self, k):
        self.k = k

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Sub(Colour):
    def __radd__(self, other):
        return "sub"


@dataclasses.dataclass
class Post:
    k: int

    def __post_init__(self):
        self.k *= 2


def twice_the_same(make, k):
    a = make(k)
    return a, a


def same_in_a_list(make, k):
    a = make(k)
    return [a, k], a


def compares(make, k):
    return make(k) == make(k)


def identity(make, k):
    a = make(k)
    return a is make(k)


def reads(make, k):
    return make(k).k


def subclass(make, k):
    return make(k) + Sub(1.0)


@pytest.mark.parametrize("program, made", [
    (twice_the_same, Colour), (same_in_a_list, Colour), (compares, Colour),
    (identity, Colour), (reads, Counted), (reads, Init), (reads, Setter),
    (reads, Post), (subclass, Colour)])
def test_left_to_python(program, made):
    def run(k):
        return program(made, k)

    fn = accelerate(run)
    for k in (2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, want = fn(k), run(k)
        assert difference(got, want) is None
        if program is twice_the_same:
            assert got[0] is got[1]
    assert fn.stats.native_calls == 0, fn.explain()


def test_makers_may_change():
    class Item:
        def __init__(self, k):
            self.k = k

        def value(self):
            return self.k

    def run(k):
        return Item(k).value()

    fn = accelerate(run)
    assert fn(2) == 2

    def other(self, k):
        self.k = k + 1

    Item.__init__ = other
    assert fn(2) == 3
    Item.value = lambda self: -self.k
    assert fn(2) == -3
    Item.k = property(lambda self: 9, lambda self, value: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fn(2) == -9
    assert fn.stats.native_calls >= 2


def test_wrong_arguments():
    def run(k):
        return Colour(k, 1, 2, 3) if k > 2 else Colour(q=k)

    fn = accelerate(run)
    for k in (1, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(TypeError):
                fn(k)
