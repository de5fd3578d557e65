"""The larger applications against plain Python: changed sizes, gray and
colour, arguments after the call.

The reference is the same file loaded once more with a decorator that does
nothing, so that helpers are plain Python, too.
"""
import importlib.util

import numpy as np
import pytest

import vizgen
from tests.support import APPS, app, layouts, outcome
from vizgen.compare import difference

# Those that run native as a whole.  Only additions are welcome.
NATIVE = {"bilateral_grid", "camera_pipe", "harris_corner", "interpolate",
          "local_laplacian", "optical_flow", "pacman", "raytracer"}


def plain(name):
    """The application's module without acceleration."""
    app(name)
    spec = importlib.util.spec_from_file_location(
        "plain_" + name, APPS / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    accelerate = vizgen.accelerate
    vizgen.accelerate = lambda fn: fn
    try:
        spec.loader.exec_module(module)
    finally:
        vizgen.accelerate = accelerate
    return module


def picture(*size, seed=0):
    return app("images").picture(*size, seed=seed)


# --- arguments, by size -----------------------------------------------------

def gray(rows, cols):
    return (picture(rows, cols),)


def colour(rows, cols):
    return (picture(rows, cols, 3),)


def raw(rows, cols):
    return (app("camera_pipe").mosaic(picture(rows, cols, 3)),)


def holes(rows, cols):
    return (app("interpolate").with_holes(picture(rows, cols, 3)),)


def copied(*size):
    img = picture(*size)
    return img, img.copy()


def bright(*size):
    """In 0..255, where circles have another colour."""
    img = picture(*size) * 255.0
    return img, img.copy()


def pair(rows, cols):
    a = picture(rows, cols, 3)
    return a, app("optical_flow").moved(a), np.zeros(a.shape)


def frame(rows, cols, time):
    return (picture(rows, cols, 3), picture(rows, cols, 3, seed=1), time)


CASES = {
    "bilateral_grid": ("bilateral_grid", [
        gray(64, 48), gray(37, 51), gray(33, 70), gray(40, 40)]),
    "camera_pipe": ("camera_pipe", [
        raw(100, 120), raw(56, 64), raw(120, 88), raw(60, 200)]),
    "harris_corner": ("harris_corner", [
        copied(60, 76), copied(33, 20, 3), bright(50, 41), bright(24, 31, 3),
        copied(1, 1), copied(2, 9), copied(7, 1, 3)]),
    "interpolate": ("interpolate", [
        holes(64, 37), holes(20, 33), holes(1, 5), holes(3, 2), holes(17, 1)]),
    "local_laplacian": ("local_laplacian", [
        colour(33, 40), colour(20, 17), colour(1, 9), colour(3, 2)]),
    "optical_flow": ("optical_flow", [pair(41, 47), pair(45, 40)]),
    "pacman": ("render_1_frame", [
        frame(600, 200, 0.0), frame(600, 200, 7.0), frame(570, 160, 3),
        frame(640, 210, 12.5)]),
    "raytracer": ("raytracer", [(0.5,), ()]),
}


def check(name, args, native):
    """The accelerated function and the plain one do the same."""
    entry = CASES[name][0]
    fn = getattr(app(name), entry)
    want, want_error, want_args, want_kinds = outcome(
        getattr(plain(name), entry), args)
    before = fn.stats
    got, error, got_args, kinds = outcome(fn, args)
    kinds = {k for k in kinds if k[0] is not vizgen.FallbackWarning}
    assert type(error) is type(want_error), (error, want_error)
    assert str(error) == str(want_error)
    words = (difference((got,), (want,))
             or difference(got_args, want_args, "arguments"))
    assert words is None, words
    assert kinds == want_kinds
    if native and not want_kinds:    # a warning may take a second run
        after = fn.stats
        assert after.native_calls == before.native_calls + 1, after
        assert after.python_calls == before.python_calls, after


@pytest.mark.parametrize("name, k", [
    (name, k) for name in CASES for k in range(len(CASES[name][1]))])
def test_same(name, k):
    check(name, CASES[name][1][k], name in NATIVE)


OF_PICTURES = [name for name in CASES if name != "raytracer"]


def as_dtype(array, dtype):
    """Integers are 0..255."""
    scale = 255 if np.dtype(dtype).kind in "iu" and array.max() <= 1 else 1
    return (array * scale).astype(dtype)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", ("f4", "u1", "i4"))
@pytest.mark.parametrize("name", OF_PICTURES)
def test_dtypes(name, dtype):
    args = [as_dtype(a, dtype) if isinstance(a, np.ndarray) else a
            for a in CASES[name][1][0]]
    # Of float32 pictures the best distance is np.float32 or np.float64.
    mixed = name == "optical_flow" and dtype == "f4"
    check(name, tuple(args), name in NATIVE and not mixed)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("layout", ("fortran", "rows reversed",
                                    "every second"))
@pytest.mark.parametrize("name", OF_PICTURES)
def test_layouts(name, layout):
    args = [layouts(a)[layout] if isinstance(a, np.ndarray) else a
            for a in CASES[name][1][0]]
    check(name, tuple(args), name in NATIVE)


def test_does_not_fit():
    """Pictures that are too small or have the wrong axes raise as in
    Python."""
    check("bilateral_grid", gray(9, 9), False)
    check("interpolate", colour(8, 8), False)
    check("local_laplacian", gray(8, 8), False)
    check("pacman", frame(120, 60, 1.0), False)
    check("optical_flow", (picture(40, 40, 3), picture(41, 40, 3),
                           np.zeros((40, 40, 3))), False)


def kernel_calls(fn):
    return sum(item["calls"] for item in fn._describe())


@pytest.mark.parametrize("name", sorted(CASES))
def test_workload(name):
    """test() returns a picture."""
    if name in NATIVE:
        module = app(name)
        fn = getattr(module, CASES[name][0])
        before, ran = fn.stats.native_calls, kernel_calls(fn)
        assert module.test().size > 0
        assert fn.stats.native_calls == before + 1
        assert kernel_calls(fn) == ran + 1, "a second run, for warnings"
