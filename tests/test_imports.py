"""Imports inside a function."""
import inspect
import math
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate, source


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
from vizgen import accelerate, source

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


def heap_inside(a):
    import cmath
    import heapq

    items = [a[0], a[1]]
    heapq.heapify(items)
    return heapq.heappop(items) + abs(cmath.sqrt(-a[0]))


PATCH = """
import builtins, functools, sys, types, warnings
import numpy as np
from vizgen import accelerate, source

def warm(a):
    return a[0] * 2.0 + max(a[0], 1.0) + np.sin(a[0])

if sys.argv[2] == "after":
    accelerate(warm)(np.ones(3))
state = np.random.RandomState(5)
plain = builtins.max
vectorized = np.vectorize(lambda x: x + 100.0)
vectorized.__name__, vectorized.__module__ = "sin", "numpy"

class float64(np.float64):
    __module__ = "numpy"
    def __new__(cls, x):
        return 7.0

@functools.wraps(plain)
def logged(*args):
    return plain(*args) + 1000.0

def normal(loc=0.0, scale=1.0):
    return 7.0

PATCHES = {
    "generator": (np.random, "normal", np.random.default_rng(5).normal),
    "state": (np.random, "normal", state.normal),
    "function": (np.random, "normal", normal),
    "wrapped": (builtins, "max", logged),
    "vectorized": (np, "sin", vectorized),
    "type": (np, "float64", float64),
    "other": (np, "sin", np.cos),
}
setattr(*PATCHES[sys.argv[1]])

def f(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += max(a[i], 2.0) + np.sin(a[i]) + np.float64(a[i])
        s += np.random.normal(0.0, 0.0)
    return s

if sys.argv[1] == "generator":
    def f(a):
        s = 0.0
        for i in range(a.shape[0]):
            s += np.random.normal(0.0, 1.0)
        return s
    want = f(np.ones(4))
    np.random.normal = np.random.default_rng(5).normal
else:
    want = f(np.ones(4))
warnings.simplefilter("ignore")
got = accelerate(f)(np.ones(4))
assert got == want, (got, want)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("patch", ["generator", "state", "function", "wrapped",
                                   "vectorized", "type", "other"])
def test_what_is_put_in_place_of_a_function(patch, when, tmp_path):
    """The first compilation may come before it or after it."""
    (tmp_path / "program.py").write_text(PATCH)
    subprocess.run([sys.executable, tmp_path / "program.py", patch, when],
                   check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def test_imports_of_what_is_not_loaded(tmp_path):
    text = "import sys\nimport numpy as np\nfrom vizgen import accelerate\n"
    text += inspect.getsource(heap_inside)
    text += ("assert not {'cmath', 'heapq'} & set(sys.modules)\n"
             "fn = accelerate(heap_inside, strict=True)\n"
             "assert fn(np.ones(3)) == 2.0 and fn.stats.native_calls\n")
    (tmp_path / "program.py").write_text(text)
    subprocess.run([sys.executable, tmp_path / "program.py"], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


class Moved:
    __module__ = property(lambda self: "somewhere")
    gain = 3.0


def gained(a):
    return a[0] * Moved.gain


def test_a_class_without_a_module():
    fn = accelerate(gained, strict=True)
    assert fn(np.ones(2)) == 3.0 and fn.stats.native_calls == 1


def test_names_of_objects():
    named = {len: "builtins.len", int: "builtins.int", math.sin: "math.sin",
             np.sin: "numpy.sin", np.sum: "numpy.sum", np.array: "numpy.array",
             np.float32: "numpy.float32", np.ndarray: "numpy.ndarray",
             np.linalg.inv: "numpy.linalg.inv", np.dtype: "numpy.dtype",
             np.random.normal: "numpy.random.normal",
             np.random.seed: "numpy.random.seed",
             np.random.default_rng: "numpy.random.default_rng",
             np.random.RandomState: "numpy.random.RandomState"}
    for value, name in named.items():
        assert source.known_name(value) == name
    for value in (None, 3, "len", math, np.pi, test_names_of_objects, object(),
                  np.random.RandomState(1).normal, [].append):
        assert source.known_name(value) is None
