"""A call: arguments, messages, exceptions and warnings."""

import pickle
import warnings

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


@accelerate
def add_to(values, amount):
    for i in range(values.shape[0]):
        values[i] += amount


@accelerate
def left(values):
    return np.roots(values)


def image():
    return np.arange(12.0).reshape(3, 4)


def runs_native(f, *args, **kwargs):
    """The result of a call that must not enter the interpreter."""
    before = f.stats
    result = f(*args, **kwargs)
    after = f.stats
    assert after.native_calls == before.native_calls + 1, f.explain()
    return result


# --- arguments ---------------------------------------------------------------


def test_keywords_and_defaults():
    img = image()
    for args, kwargs in [((img,), {}), ((img, 3.0), {}),
                         ((img,), {"factor": 3.0}),
                         ((), {"img": img, "offset": 1.0}),
                         ((img, 0.5), {"offset": -1.0})]:
        want = scaled.py_func(*args, **kwargs)
        got = runs_native(scaled, *args, **kwargs)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("args, kwargs", [
    ((), {}), ((1, 2, 3), {}), ((image(),), {"gain": 1}),
    ((image(),), {"img": 1}),
])
def test_bad_calls_raise_what_python_raises(args, kwargs):
    with pytest.raises(TypeError) as want:
        scaled.py_func(*args, **kwargs)
    with pytest.raises(TypeError) as got:
        scaled(*args, **kwargs)
    assert str(got.value) == str(want.value)


def test_signatures_are_texts():
    @accelerate
    def f(a, b):
        return a

    f(1, np.ones((2, 2), np.float32))
    assert f.signatures == ["int, float32[:, :]"]


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("make", [
    lambda: np.ones(4).astype(">f8"),
    lambda: np.frombuffer(bytes(33), np.uint8)[1:].view(np.float64),
    lambda: np.ones(4, np.float16),
    lambda: np.ma.array(np.ones(4)),
    lambda: np.ones(4).view(np.recarray),
    lambda: [1.0, 2.0],
    lambda: np.ones(4, np.longlong),
    lambda: np.array([1, None, 2], object)[[0, 2]],
    lambda: np.broadcast_to(1.0, 1 << 31)[:0:1 << 30],
])
def test_unusual_arguments_go_to_python(make):
    values = make()
    if not isinstance(values, np.ndarray):
        with pytest.raises(AttributeError):
            total(values)
        return
    before = total.stats.native_calls
    assert total(values) == total.py_func(values)
    assert total.stats.native_calls == before or values.dtype == float


def test_huge_extent_goes_to_python():
    @accelerate
    def extent(a):
        return a.shape[0] * 2

    huge = np.broadcast_to(np.float64(0), (1 << 31,))
    assert extent(huge) == 1 << 32
    assert extent.stats.native_calls == 0
    small = np.broadcast_to(np.float64(0), ((1 << 31) - 1,))
    assert extent(small) == (1 << 32) - 2
    assert extent.stats.native_calls == 1


def test_read_only_destination():
    values = np.ones(3)
    add_to(values, 1.0)
    values.flags.writeable = False
    with pytest.warns(vizgen.FallbackWarning, match="VZ-4002"):
        with pytest.raises(ValueError, match="read-only"):
            add_to(values, 1.0)
    assert (values == 2.0).all()


def test_big_int_goes_to_python():
    @accelerate
    def f(a):
        return a + 1

    assert runs_native(f, 5) == 6
    assert f(1 << 80) == (1 << 80) + 1
    assert f((1 << 63) - 1) == 1 << 63
    assert f.stats.replays >= 1


def test_written_array_that_overlaps_itself():
    values = np.lib.stride_tricks.as_strided(np.zeros(5), (4,), (0,))
    want = np.lib.stride_tricks.as_strided(np.zeros(5), (4,), (0,))
    add_to.py_func(want, 1.0)
    before = add_to.stats.native_calls
    add_to(values, 1.0)
    assert add_to.stats.native_calls == before
    assert values[0] == want[0] == 4.0


def test_too_many_signatures():
    @accelerate
    def f(a, k):
        return k

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(40):
            assert f(1.0, ("key", k)) == ("key", k)
    codes = [str(w.message) for w in caught]
    assert len([text for text in codes if "VZ-4003" in text]) <= 1


@accelerate
def filled(n, value):
    out = np.zeros(n)
    for i in range(n):
        out[i] = value
    return out


def test_large_results_own_their_memory():
    n = 3_000_000
    for value in (1.0, 2.0, 3.0):
        out = runs_native(filled, n, value)
        assert out.flags.owndata and out.flags.writeable
        assert out[0] == out[-1] == value
    kept = [filled(n, float(k)) for k in range(12)]
    assert [array[-1] for array in kept] == list(range(12))
    del kept
    out = filled(n, 4.0)
    out.resize(n + 1000, refcheck=False)
    assert out[n - 1] == 4.0 and out[-1] == 0.0
    out.resize(10, refcheck=False)
    assert out.tolist() == [4.0] * 10


def test_recycled_memory_is_cleared():
    @accelerate
    def border(n):
        out = np.zeros((n, n))
        for i in range(n):
            out[i, 0] = 1.0
        return out

    n = 2000
    for _ in range(3):
        assert filled(n * n, 7.0).sum() == 7.0 * n * n
        assert runs_native(border, n).sum() == n


# --- what it says ------------------------------------------------------------


def test_fallback_is_told_once():
    with pytest.warns(vizgen.FallbackWarning) as caught:
        assert left(np.array([2.0, 1.0])) == -0.5
        left(np.array([2.0, 1.0]))
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "test_dispatch.py:" in text and "VZ-2003" in text and "^" in text
    assert caught[0].filename == __file__


def test_strict_raises():
    strict = accelerate(left.py_func, strict=True)
    for _ in range(2):
        with pytest.raises(vizgen.CompileError) as error:
            strict(np.ones(2))
        assert error.value.code == "VZ-2003"
        assert error.value.diagnostics[0]["line"] > 0
    copied = pickle.loads(pickle.dumps(error.value))
    assert copied.code == "VZ-2003" and str(copied) == str(error.value)


def test_warning_as_error():
    f = accelerate(left.py_func)
    with warnings.catch_warnings():
        warnings.simplefilter("error", vizgen.FallbackWarning)
        with pytest.raises(vizgen.FallbackWarning):
            f(np.ones(2))


def test_explain_and_inspect():
    f = accelerate(total.py_func)
    assert "not called" in f.explain()
    text = f.explain(np.ones(3))
    assert "total(float64[:])" in text and "native" in text
    assert "0 of 1 loop in parallel, 0 of 1 inner loop with SIMD, no checks" in text
    assert "no arrays allocated" in text
    assert "    VZ-3002  not parallel  carries `s` from round to round" in text
    assert f.stats.native_calls == 0
    assert "vz_kernel" in f.inspect_c(np.ones(3))
    assert "VZ-2003" in accelerate(left.py_func).explain(np.ones(3))


def test_compile_ahead():
    f = accelerate(total.py_func)
    assert f.compile(np.ones(3, np.float32)) is True
    assert f.signatures == ["float32[:]"]
    stats = f.stats
    assert stats.compiles + stats.cache_hits == 1 and stats.native_calls == 0
    f(np.ones(5, np.float32))
    assert f.stats.compiles + f.stats.cache_hits == 1
    with pytest.raises(TypeError):
        f.compile()
    with pytest.warns(vizgen.FallbackWarning, match="VZ-2003"):
        assert accelerate(left.py_func).compile(np.ones(3)) is False
    with pytest.warns(vizgen.FallbackWarning, match="VZ-2001"):
        assert f.compile({}) is False


def test_set_variant():
    f = accelerate(total.py_func)
    f(np.ones(3))
    f._set_variant("parallel=0 vectorize=0", None)
    assert f.signatures == []
    assert f(np.ones(3)) == 3.0
    with pytest.raises(ValueError):
        f._set_variant("nonsense=1")


def test_compile_info():
    info = _core.compile_info(total, (np.ones(3),), front_only=True)
    assert info["ok"] and "vz_kernel" in info["c"] and info["key"] is None
    info = _core.compile_info(left, (np.ones(3),))
    assert not info["ok"] and info["diagnostics"][0]["code"] == "VZ-2003"
    assert "VZ-2003" in info["texts"][0]


def test_pages():
    codes = _core.codes()
    assert "VZ-2003" in codes and len(set(codes)) == len(codes)
    assert _core.page("VZ-2003")[1]
    with pytest.raises(KeyError):
        _core.page("VZ-0000")


def test_doctor():
    doctor = _core.doctor()
    assert doctor["compiler"]["ok"] and doctor["threads"] >= 1
    assert doctor["version"] == vizgen.__version__


# --- exceptions, warnings ----------------------------------------------------


def test_exception_is_pythons_own():
    @accelerate
    def at(values, i):
        values[0] = 7.0
        return values[i]

    values = np.zeros(3)
    assert runs_native(at, values, 1) == 0.0
    values[0] = 0.0
    with pytest.raises(IndexError) as error:
        at(values, 3)
    frames = []
    trace = error.value.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert frames == ["test_exception_is_pythons_own", "at"]
    assert values[0] == 7.0 and at.stats.replays == 1


@accelerate
def inverse(values):
    out = np.zeros(values.shape[0])
    for i in range(values.shape[0]):
        out[i] = 1.0 / values[i]
    return out


def test_division_warning():
    values = np.array([1.0, 0.0])
    with pytest.warns(RuntimeWarning, match="divide by zero encountered"):
        assert np.isinf(inverse(values)[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="scalar divide"):
            inverse(values)
        assert inverse(np.ones(2))[0] == 1.0


def test_errstate():
    values = np.array([1.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(divide="ignore"):
            assert np.isinf(runs_native(inverse, values)[1])
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            inverse(values)
    seen = []
    with np.errstate(divide="call"):
        before = np.seterrcall(lambda *what: seen.append(what))
        inverse(values)
        np.seterrcall(before)
    assert seen


def test_python_floats_do_not_warn():
    @accelerate
    def blow_up(x):
        y = x * 1e200
        return y - y

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(blow_up(1e200))
        assert np.isnan(blow_up(1e200))


@accelerate
def cross(a, b, p):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def test_tuples_of_many_values():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b, p = (tuple(float(v) for v in rng.random(2)) for _ in range(3))
        assert runs_native(cross, a, b, p) == cross.py_func(a, b, p)
    assert len(cross.signatures) == 2
    assert cross((1, 2), (3, 4), (5, 7)) == 2
    assert type(cross((1, 2), (3, 4), (5, 7))) is int


@accelerate
def weighted(values, weights):
    s = 0.0
    for k in range(len(weights)):
        s += values[k] * weights[k]
    return s


def test_tuples_that_must_be_known():
    values = np.arange(1.0, 4.0)
    for k in range(6):
        weights = (0.5, float(k), 2.0)
        assert weighted(values, weights) == weighted.py_func(values, weights)
