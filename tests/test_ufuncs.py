"""NumPy's functions of floats, one element at a time, against NumPy."""
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

ONE = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
       "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
       "arccosh", "arctanh", "cbrt", "degrees", "radians", "deg2rad",
       "rad2deg")
TWO = ("arctan2", "hypot", "power", "fmod", "logaddexp", "logaddexp2",
       "nextafter", "heaviside")


def program(name, body, namespace):
    """A function whose source vizgen can read."""
    import linecache
    import textwrap
    text = textwrap.dedent(body)
    path = f"<{name}>"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(text, path, "exec"), namespace)
    return namespace["run"]


def each_of_one(function):
    return program(f"one {function}", f"""
        def run(a):
            out = np.zeros_like(a)
            for i in range(a.shape[0]):
                out[i] = np.{function}(a[i])
            return out, np.{function}(0.5), np.{function}(np.array([0.25, 0.75]))
        """, {"np": np})


def each_of_two(function):
    return program(f"two {function}", f"""
        def run(a, b):
            out = np.zeros_like(a)
            for i in range(a.shape[0]):
                out[i] = np.{function}(a[i], b[i])
            v = np.array([0.25, 2.0, 3.5])
            return (out, np.{function}(v, 2.0), np.{function}(v, 0.5),
                    np.{function}(2.5, v), np.{function}(v, v),
                    np.{function}(1.5, 2))
        """, {"np": np})


def numbers(dtype, seed):
    random = np.random.RandomState(seed)
    return np.concatenate([
        random.randn(200), random.rand(200) * 100, random.rand(100) * 1e-4,
        np.exp(random.randn(100) * 20), [1, 2, 0.5, -1, 3]]).astype(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", ONE)
def test_one(function, dtype):
    fn = accelerate(each_of_one(function))
    a = numbers(dtype, 1)
    if function.startswith("log") or function == "arccosh":
        a = abs(a) + (function == "arccosh")
    if function in ("arcsin", "arccos", "arctanh"):
        a = a[abs(a) < 1]
    if function in ("exp", "exp2", "expm1", "sinh", "cosh"):
        a = a[abs(a) < 80]
    if function == "arccosh":
        with np.errstate(all="ignore"):
            assert_same(fn, (a,), native=False)
    else:
        assert_same(fn, (a,))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", TWO)
def test_two(function, dtype):
    fn = accelerate(each_of_two(function))
    a, b = numbers(dtype, 2), numbers(dtype, 3)
    if function == "power":
        keep = (a > 0) & (a < 50) & (abs(b) < 9)
        a, b = a[keep], b[keep]
    assert_same(fn, (a, b))


def of_arrays(a, b):
    c = np.zeros_like(a)
    np.sin(a, out=c)
    return (np.exp(a), np.hypot(a, b) + np.arctan2(b, 0.5), c,
            np.power(abs(a), 2.0), np.power(abs(a), abs(b) / 9),
            np.sum(np.cos(a * b)), np.tanh(a).max())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays(dtype):
    fn = accelerate(of_arrays)
    a = numbers(dtype, 4)[:300].reshape(20, 15) / 30
    b = numbers(dtype, 6)[:300].reshape(20, 15) / 30
    assert_same(fn, (a, b))
    assert_same(fn, (a[0], b[1]))
    assert_same(fn, (a[1:, ::2], b[1:, ::2]), native=False)
    assert_same(fn, (a[::-1], b), native=False)


def elements(a):
    return np.sum(np.sin(a)), np.cos(a[1]).max(), np.log(a[:, 0]).min()


def test_elements():
    a = abs(numbers("float64", 7)[:300].reshape(20, 15)) + 0.1
    for array in (a, a[1:, 2:], a[::2, ::3]):
        assert_same(accelerate(elements), (array,))
    assert_same(accelerate(elements), (a[:, ::-1],), native=False)


def warns(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        out[i] = np.log(a[i])
    return out


def overflows(a):
    return np.exp(a[0]) + np.exp(a[1])


def test_warnings():
    fn = accelerate(warns)
    for items in ([1.0, 2.0], [1.0, 0.0], [-1.0, 2.0], [0.0, -1.0], [np.nan]):
        assert_same(fn, (np.array(items),), native=False)
    for dtype in ("float64", "float32"):
        assert_same(accelerate(overflows), (np.array([1e4, 1], dtype),),
                    native=False)


def of_pixel(img):
    h, w = img.shape[:2]
    out = np.zeros(img.shape)
    for y in range(h):
        for x in range(w):
            out[y, x] = np.exp(img[y, x]) + np.hypot(img[y, x], 0.5)
    return out


def test_pixels():
    img = numbers("float64", 5)[:180].reshape(6, 10, 3)
    assert_same(accelerate(of_pixel), (img,))
    fn = accelerate(of_pixel)
    assert_same(fn, (img[:, ::-1],))
    assert_same(fn, (img[:, :, ::-1],), native=False)
    assert fn.stats.replays == 1


def of_small(a):
    return np.sin(a[0])


def test_small_integers_are_refused():
    fn = accelerate(of_small)
    with pytest.warns(Warning, match="VZ-2003"):
        fn(np.array([1], np.int8))
    for dtype in ("int16", "int32", "int64", "uint16"):
        assert_same(accelerate(of_small), (np.array([3], dtype),))


def powers(a, gamma):
    v = a[0, :3] ** 1.5
    return (a ** 2.2, a ** gamma, 2.0 ** a, a ** a, a ** -2.5, a ** 0.0, v,
            a ** -1, (a ** gamma).sum(), a[1] ** 3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers(dtype):
    a = np.random.RandomState(3).rand(9, 40).astype(dtype) + 0.1
    for gamma in (2.0, 0.5, 1.0, 0.0, -1.0, 1 / 2.4, 2, 3):
        assert_same(accelerate(powers), (a, gamma))


def log_and_tanh(a):
    s = np.zeros(len(a))
    t = np.zeros(len(a))
    for i in range(len(a)):
        s[i] = np.log(a[i])
        t[i] = np.tanh(a[i])
    return s, t


def divide_and_tanh(a):
    return np.tanh(a), 1 / a, np.tanh(a * 2)


@pytest.mark.parametrize("function", (log_and_tanh, divide_and_tanh),
                         ids=lambda f: f.__name__)
def test_warnings_stay_beside_tanh(function):
    """NumPy's loop of tanh clears the processor's flags when it is done."""
    a = np.array([0.0, -1.0, 2.0, 3.0])
    told = []
    for fn in (function, accelerate(function)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fn(a)
        told.append({str(w.message) for w in caught})
    assert told[0] == told[1] != set()


# --- integers to the power of Python's floats ----------------------------------


def gamma(a, g):
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        out[i] = a[i] ** g + a[i] ** 0.5
    return out, a[0] ** 1.5


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64,
                                   np.uint64])
def test_integers_to_broken_powers(dtype):
    """NumPy leaves them to arrays, whose power has bits of its own."""
    fast = accelerate(gamma)
    rng = np.random.default_rng(7)
    top = int(np.iinfo(dtype).max)
    a = np.append(rng.integers(0, top, 200, dtype=dtype),
                  np.array([0, 1, 2, top], dtype))
    for g in (0.5, 2.0, 1 / 2.2, 2.2, 0.0, 1.0, 3.0):
        assert_same(fast, (a, g), native=True)
    with np.errstate(all="ignore"):
        for g in (-1.0, -0.5, 400.0):
            assert_same(fast, (a, g), native=True)
            assert_same(fast, (a.astype(np.int8), g), native=True)


KINDS = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64,
         np.float32, np.float64]


@pytest.mark.parametrize("left", KINDS)
def test_dtypes_of_copysign(left):
    """The narrowest float to which each operand can be cast."""
    def signed(a, b):
        return np.copysign(a, b), np.copysign(a[0], b), np.copysign(a, b[0])

    def with_numbers(a):
        return np.copysign(a, -2), np.copysign(1.5, a), np.copysign(a[0], -1.0)

    for right in KINDS:
        assert_same(accelerate(signed), (np.ones(3, left), np.ones(3, right)),
                    native=False)
    assert_same(accelerate(with_numbers), (np.ones(3, left),), native=False)


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("clip", (
    lambda v: np.clip(v, 4), lambda v: np.clip(v, a_max=4),
    lambda v: v.clip(4), lambda v: v.clip(max=4),
    lambda v: np.clip(v, None, 4), lambda v: np.clip(v, 4, None)))
def test_bounds_of_clip(clip):
    """The function takes two of them."""
    assert_same(accelerate(clip), (np.array([3.0, 5, 4]),), native=False)
