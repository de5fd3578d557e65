"""The decorated object: it looks and behaves like the function."""

import copy
import functools
import gc
import inspect
import pickle
import types
import weakref

import numpy as np
import pytest

import vizgen
from vizgen import _core, accelerate


@accelerate
def scaled(img, factor=2.0, *, offset=0.0):
    """Scale an image."""
    out = np.empty(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = img[y, x] * factor + offset
    return out


@accelerate
def total(values):
    s = 0.0
    for i in range(values.shape[0]):
        s += values[i]
    return s


def image():
    return np.arange(12.0).reshape(3, 4)


def runs_native(f, *args, **kwargs):
    """The result of a call that must not enter the interpreter."""
    before = f.stats
    result = f(*args, **kwargs)
    after = f.stats
    assert after.native_calls == before.native_calls + 1, f.explain()
    return result


# --- it looks like the function ----------------------------------------------


def test_metadata():
    assert scaled.__name__ == "scaled"
    assert scaled.__qualname__ == "scaled"
    assert scaled.__module__ == __name__
    assert scaled.__doc__ == "Scale an image."
    assert scaled.__wrapped__ is scaled.py_func
    assert isinstance(scaled.py_func, types.FunctionType)


def test_function_attributes():
    assert scaled.__code__ is scaled.py_func.__code__
    assert scaled.__defaults__ == (2.0,)
    assert scaled.__kwdefaults__ == {"offset": 0.0}
    assert scaled.__closure__ is None
    assert scaled.__globals__ is globals()


def test_inspect():
    assert str(inspect.signature(scaled)) == "(img, factor=2.0, *, offset=0.0)"
    assert "Scale an image" in inspect.getsource(scaled)
    assert inspect.getdoc(scaled) == "Scale an image."
    assert inspect.unwrap(scaled) is scaled.py_func


def test_attributes_can_be_set():
    scaled.note = 3
    assert scaled.note == 3 and scaled.__dict__["note"] == 3
    del scaled.note
    with pytest.raises(AttributeError):
        scaled.py_func = None


def test_repr():
    @accelerate
    def fresh(a):
        return a + 1.0

    assert repr(fresh) == "<accelerated fresh: 0 native versions, 0 calls, 0 fallbacks>"
    fresh(1.0)
    assert repr(fresh) == "<accelerated fresh: 1 native version, 1 call, 0 fallbacks>"


def test_weakref_and_collection():
    def make():
        @accelerate
        def f(a):
            return f if a is None else a
        return f

    f = make()
    f(1.0)
    ref = weakref.ref(f)
    del f
    gc.collect()
    assert ref() is None


def test_hash_and_equality():
    assert scaled == scaled and scaled != total
    assert {scaled: 1}[scaled] == 1


# --- pickling and copying ----------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_by_name(protocol):
    assert pickle.loads(pickle.dumps(scaled, protocol)) is scaled


def test_copies_are_the_function():
    assert copy.copy(scaled) is scaled
    assert copy.deepcopy([scaled])[0] is scaled


def test_nested_function_reduces_to_parts():
    def inner(a):
        return a * 2.0

    f = accelerate(inner, threads=1)
    rebuild, (function, options) = f.__reduce__()
    assert function is inner and options["threads"] == 1
    assert rebuild(function, options).py_func is inner


class Camera:
    gain = 2.0

    @accelerate
    def shoot(self, value):
        return value + 1.0

    @staticmethod
    @accelerate
    def twice(value):
        return value * 2.0

    @accelerate
    @staticmethod
    def thrice(value):
        return value * 3.0

    @classmethod
    @accelerate
    def named(cls, value):
        return value

    @property
    @accelerate
    def brightness(self):
        return 0.5


def test_pickle_of_methods():
    camera = Camera()
    method = pickle.loads(pickle.dumps(camera.shoot))
    assert method.__func__ is Camera.shoot
    assert pickle.loads(pickle.dumps(Camera.twice)) is Camera.twice


# --- decorators and kinds of callables ---------------------------------------


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
def test_methods():
    camera = Camera()
    assert isinstance(camera.shoot, types.MethodType)
    assert camera.shoot(1.0) == 2.0
    assert Camera.shoot(camera, 1.0) == 2.0
    assert Camera.named(3) == 3
    assert camera.brightness == 0.5
    assert isinstance(Camera.shoot, _core.Accelerated)


def test_static_methods_run_native():
    assert runs_native(Camera.twice, 4.0) == 8.0
    assert runs_native(Camera.thrice, 4.0) == 12.0
    assert Camera().twice(1.0) == 2.0


def test_under_functools():
    assert functools.partial(scaled, factor=3.0)(image())[0, 1] == 3.0
    cached = functools.cache(total)
    with pytest.raises(TypeError):
        cached(image())
    single = functools.singledispatch(total)
    assert single(np.ones(3)) == 3.0


def test_above_another_decorator():
    def loud(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) + 100.0
        return wrapper

    @accelerate
    @loud
    def f(a):
        return a + 1.0

    with pytest.warns(vizgen.FallbackWarning, match="VZ-2001"):
        assert f(1.0) == 102.0

    @loud
    @accelerate
    def g(a):
        return a + 1.0

    assert g(1.0) == 102.0
    assert g.__wrapped__.stats.native_calls == 1


def test_accelerate_twice_is_once():
    assert accelerate(scaled) is scaled
    assert accelerate(scaled, threads=1).py_func is scaled.py_func


def test_options_form():
    @accelerate(threads=2, strict=True)
    def f(a):
        return a + 1.0

    assert f.options["threads"] == 2 and f(1.0) == 2.0


@pytest.mark.parametrize("options", [
    {"threads": 0}, {"threads": 1.5}, {"target": "tpu"}, {"approx": 1e-3},
])
def test_bad_options(options):
    with pytest.raises(ValueError):
        accelerate(**options)


def test_not_callable():
    for thing in (3, None, "text", property(len), np.ones(3)):
        kind = type(thing).__name__
        with pytest.raises(TypeError, match=f"needs a function, not '{kind}'"):
            accelerate(thing)


def test_generators_and_coroutines_pass_through():
    def numbers():
        yield 1

    async def later():
        return 1

    for function in (numbers, later, Camera, len):
        with pytest.warns(vizgen.FallbackWarning, match="VZ-1003"):
            assert accelerate(function) is function
        with pytest.raises(vizgen.CompileError):
            accelerate(function, strict=True)


def test_lambdas():
    double, triple = accelerate(lambda a: a * 2.0), accelerate(lambda a: a * 3.0)
    assert runs_native(double, 4.0) == 8.0
    assert runs_native(triple, 4.0) == 12.0
