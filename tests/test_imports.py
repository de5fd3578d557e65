"""Imports inside a function."""
import math
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def whole_module(a):
    import math
    return math.sqrt(a[1]) + math.pi


def by_another_name(a):
    """With a docstring."""
    import numpy as xp, math as m
    from math import floor, ceil as up
    out = xp.zeros_like(a)
    for i in range(len(a)):
        out[i] = floor(a[i]) + up(a[i]) * m.sin(xp.float64(i))
    return out


def submodule(a):
    import numpy.linalg
    from numpy import linalg as la, float32
    return numpy.linalg.norm(a) + la.norm(float32(2) * a)


def nested(a):
    from math import cos

    def inner(x):
        return cos(x) + 1
    return [inner(v) for v in a]


@pytest.mark.parametrize(
    "fn", [whole_module, by_another_name, nested], ids=lambda f: f.__name__)
def test_native(fn):
    fast = accelerate(fn, strict=True)
    for n in (2, 3, 7):
        assert_same(fast, (np.linspace(0.25, 9, n),))
    assert fast.stats.python_calls == 0


def test_submodule():
    assert_same(accelerate(submodule), (np.arange(5.0),), native=False)


def before_it_is_bound(a, early):
    if early:
        return math.sqrt(a[0])
    import math
    return math.sqrt(a[1])


def bound_twice(a, n):
    import math
    for math in range(n):
        a[0] += 1
    return math


def in_a_branch(a, n):
    if n:
        import math
    return math.sqrt(a[0])


def missing(a, n):
    from math import no_such_name  # noqa: F401
    return a[0]


def global_name(a, n):
    global math
    import math
    return math.sqrt(a[0])


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("fn", [before_it_is_bound, bound_twice, in_a_branch,
                                missing, global_name],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_as_python(fn, n):
    assert_same(accelerate(fn), (np.arange(1.0, 5.0), n), native=False)


def from_own_module(a):
    from own_module_of_test import scale, times
    return times(a[0]) * scale


def test_what_the_module_holds_may_change(monkeypatch):
    module = types.ModuleType("own_module_of_test")
    module.scale = 3.0
    module.times = lambda x: 2 * x
    monkeypatch.setitem(sys.modules, module.__name__, module)
    fast = accelerate(from_own_module)
    a = np.arange(2.0, 4.0)
    assert fast(a) == 12.0
    module.scale = 5.0
    assert fast(a) == 20.0
    module.times = lambda x: 7 * x
    assert fast(a) == 70.0
    other = types.ModuleType(module.__name__)
    other.scale, other.times = 1.0, abs
    monkeypatch.setitem(sys.modules, module.__name__, other)
    assert fast(a) == 2.0


LATE = """
import sys
import numpy as np
from vizgen import accelerate

@accelerate(strict=True)
def first(a):
    return a[0] * 2.0

assert first(np.ones(3)) == 2.0
assert not {"cmath", "heapq"} & set(sys.modules), "loaded for nobody"
import cmath, heapq

@accelerate(strict=True)
def root(a):
    return abs(cmath.sqrt(-a[0]))

@accelerate(strict=True)
def least(a):
    items = [a[0], a[1], a[2]]
    heapq.heapify(items)
    heapq.heappush(items, 0.5)
    return heapq.heappop(items)

assert root(np.ones(3)) == 1.0 and least(np.ones(3)) == 0.5
"""


def test_modules_that_come_later(tmp_path):
    """What heapq and cmath have is known as soon as a program imports them."""
    (tmp_path / "program.py").write_text(LATE)
    subprocess.run([sys.executable, tmp_path / "program.py"], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


class Odd:
    """Of a program's objects no attribute is looked at."""

    def __getattr__(self, name):
        raise RuntimeError(name)


class OddKind(type):
    @property
    def __name__(cls):
        raise RuntimeError("asked")


class OddClass(metaclass=OddKind):
    pass


odd = Odd()


def names_odd(a):
    y, z = odd, OddClass
    return a[0] + 1.0


def test_objects_are_not_asked():
    fn = accelerate(names_odd)
    assert fn(np.ones(3)) == 2.0
