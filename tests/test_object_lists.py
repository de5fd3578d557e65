"""Lists of objects as arguments and attributes."""
import dataclasses
import typing
import warnings

import numpy as np
import pytest

from tests.test_objects import check
from vizgen import accelerate
from vizgen.compare import difference


class Vec(typing.NamedTuple):
    x: float
    y: float
    z: float

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def minus(self, other):
        return Vec(self.x - other.x, self.y - other.y, self.z - other.z)


@dataclasses.dataclass
class Sphere:
    center: Vec
    radius: float
    colour: tuple = (1.0, 0.5, 0.25)
    name: str = "sphere"
    index: int = 0

    def hit(self, start, along):
        to = start.minus(self.center)
        b, c = to.dot(along), to.dot(to) - self.radius ** 2
        inner = b * b - c
        return -1.0 if inner < 0 else -b - inner ** 0.5

    @property
    def area(self):
        return self.radius ** 2 * 3.0


class Scene:
    def __init__(self):
        self.spheres = [
            Sphere(Vec(0.0, 0.0, 5.0), 1.0),
            Sphere(Vec(1.0, 0.5, 4.0), 0.5, (0.1, 0.2, 0.3), "small", 7)]
        self.lights = [Vec(1.0, 1.0, 0.0), Vec(0.0, 2.0, 0.5)]
        self.rays = 0

    def trace(self, along):
        best, near = None, 1e9
        start = Vec(0.0, 0.0, 0.0)
        for s in self.spheres:
            t = s.hit(start, along)
            if 0 < t < near:
                near, best = t, s
        if best is None:
            return (0.0, 0.0, 0.0)
        light = 0.0
        for direction in self.lights:
            light += direction.dot(along)
        self.rays += 1
        return best.colour[0] * light, best.colour[1], best.area

    def render(self):
        out = np.zeros((4, 6, 3))
        for y in range(4):
            for x in range(6):
                dx, dy = (x - 3) / 6, (y - 2) / 4
                n = (dx * dx + dy * dy + 1) ** 0.5
                out[y, x] = self.trace(Vec(dx / n, dy / n, 1.0 / n))
        return out


def indices(scene):
    return (scene.spheres[0].radius, scene.spheres[-1].center.x,
            len(scene.spheres), scene.spheres[1].index)


def comprehensions(scene):
    return ([s.radius * 2 for s in scene.spheres],
            max(s.area for s in scene.spheres),
            sum(1 for s in scene.spheres if s.index > 3))


def unpacked(scene):
    a, b = scene.spheres
    return a.radius + b.center.dot(scene.lights[0])


def loops(scene):
    total = 0.0
    for i, s in enumerate(scene.spheres):
        for light in scene.lights:
            total += s.radius * light.x * i
        if s.index == 7:
            break
    for s, light in zip(scene.spheres, scene.lights):
        total += s.center.minus(light).z
    return total


def named_tuples(scene):
    v = scene.lights[0]
    for k in range(3):
        v = Vec(v.y, v.z, v.x + k)
    return (v, scene.lights[0] + (1,), list(scene.lights), scene.lights[1],
            scene.lights[0] == Vec(1.0, 1.0, 0.0))


@pytest.mark.parametrize("program", [
    Scene.render, indices, comprehensions, unpacked, loops, named_tuples])
def test_lists(program):
    check(accelerate(program), program, lambda: (Scene(),))


def test_a_list_as_an_argument():
    def run(spheres, k):
        total = 0.0
        for s in spheres:
            total += s.area * k
        return total

    fn = accelerate(run)
    spheres = Scene().spheres
    for change in (lambda: None, lambda: setattr(spheres[0], "radius", 3.0),
                   lambda: spheres.append(Sphere(Vec(0.0, 0.0, 0.0), 0.25)),
                   lambda: setattr(spheres[1], "radius", 2.5),
                   spheres.clear):
        change()
        assert difference(fn(spheres, 2), run(spheres, 2)) is None
    assert fn.stats.native_calls == 5, fn.explain()


class Big(Sphere):
    @property
    def area(self):
        return 1000.0


def test_items_that_differ():
    def run(scene):
        return sum(s.area for s in scene.spheres)

    def add(item):
        def change(scene):
            scene.spheres.append(item)
        return change

    def shadow(scene):
        vars(scene.spheres[0])["hit"] = None
        scene.spheres[0].__class__ = Big

    def lacks(scene):
        del scene.spheres[1].radius

    for change in (add(Big(Vec(0.0, 0.0, 0.0), 1.0)), shadow, lacks,
                   add(Sphere(None, "text")), add(Sphere(None, 2 ** 70))):
        fn = accelerate(run)
        scene = Scene()
        assert fn(scene) == run(scene)
        assert fn.stats.native_calls == 1
        change(scene)
        results = []
        for function in (run, fn):
            try:
                results.append(function(scene))
            except (AttributeError, TypeError) as error:
                results.append(repr(error))
        assert results[0] == results[1]
        assert fn.stats.native_calls == 1


def test_classes_may_change():
    class Item:
        def __init__(self, k):
            self.k = k

        def value(self):
            return self.k

    def run(items):
        total = 0
        for item in items:
            total += item.value()
        return total

    fn, items = accelerate(run), [Item(1), Item(2)]
    assert fn(items) == 3
    items[1].value = lambda: 50
    assert fn(items) == 51
    del items[1].value
    assert fn(items) == 3
    Item.value = lambda self: self.k * 10
    assert fn(items) == 30
    assert fn(items) == 30
    assert fn.stats.native_calls == 3


# --- what is left to Python -------------------------------------------------

def an_item(scene):
    return scene.spheres[0], scene.spheres[0].radius


def an_item_of_several(scene):
    best = scene.spheres[0]
    for s in scene.spheres:
        if s.radius > best.radius:
            best = s
    return best


def the_list(scene):
    scene.spheres[0].radius + 1
    return scene.spheres


def in_an_attribute(scene):
    scene.best = scene.spheres[scene.spheres[0].index]
    return 1


def changed(scene):
    scene.spheres[0].radius = 2.0
    return scene.spheres[0].radius


def changed_by_another_name(scene):
    first = scene.first
    first.radius = 9.0
    return sum(s.radius for s in scene.spheres)


def appended(scene):
    scene.lights.append(scene.lights[0])
    return len(scene.lights)


def identity(scene):
    return (scene.spheres[0] is scene.spheres[1],
            scene.spheres[0].radius)


def texts(scene):
    return [s.name for s in scene.spheres]


@pytest.mark.parametrize("program", [
    an_item, an_item_of_several, the_list, in_an_attribute, changed,
    changed_by_another_name, appended, identity, texts])
def test_left_to_python(program):
    fn = accelerate(program)
    mine, theirs = Scene(), Scene()
    for scene in (mine, theirs):
        scene.first = scene.spheres[0]
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, want = fn(mine), program(theirs)
        assert difference((got, mine), (want, theirs)) is None
    assert fn.stats.native_calls == 0
    if program is an_item:
        assert got[0] is mine.spheres[0]
