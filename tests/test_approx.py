"""approx=: what need not be exact is near, and the same for any threads."""
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import vizgen
import vizgen.approx
from tests import vzopt
from vizgen import _core, accelerate

APPROX = "fma,reassoc,vecmath"


def dot(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


def total(a):
    s = 0.0
    low = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            s -= a[y, x] / 10.0
            if a[y, x] < 0.5:
                low += a[y, x]
    return s, low


def functions(a):
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            v = a[y, x]
            out[y, x] = (math.exp(-v ** 2 / 10.0) + math.sin(v) * v + v ** 7
                         + v ** 0.5 + v ** 0.3)
    return out


def blur(a):
    out = np.zeros(a.shape)
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            out[y, x] = (a[y, x - 1] * 0.3 + a[y, x] * 0.4
                         + a[y, x + 1] * 0.3) / 3.0
    return out


def whole(a):
    return np.exp(a) * 2.0 + np.arctan2(a, a + 1.0) - np.log10(a + 1.0)


def two_stages(a):
    rows = np.zeros(a.shape)
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1] - 1):
            rows[y, x] = a[y, x - 1] + a[y, x] * 2.0 + a[y, x + 1]
    for y in range(1, a.shape[0] - 1):
        for x in range(a.shape[1]):
            out[y, x] = math.sqrt(rows[y - 1, x] + rows[y, x]
                                  + rows[y + 1, x]) / 3.0
    return out


def looked_up(a):
    """Indices are made of floats; what a loop carries is float32."""
    table = np.zeros(16)
    out = np.zeros(a.shape)
    step = 1.0
    for i in range(16):
        table[i] = math.cos(i * 0.1) * step
        step *= 0.9
    for i in range(a.shape[0]):
        out[i] = table[int(a[i] * 15.999999999)]
    return out, step


def short_dots(a):
    out = np.zeros(a.shape[0])
    v = np.array([0.1, 0.2, 0.3])
    for i in range(a.shape[0]):
        out[i] = np.dot(a[i], v)
    return out


def recurrence(a):
    out = np.zeros(a.shape)
    s = 0.0
    for i in range(a.shape[0]):
        s = a[i] + s * 0.5
        out[i] = s
    return out


def differences(a, b):
    """Products less something, and something less products."""
    out = np.zeros((a.shape[0], 4))
    for i in range(a.shape[0]):
        out[i, 0] = a[i] * 3.0 - b[i]
        out[i, 1] = b[i] - a[i] * 0.3
        out[i, 2] = 3.0 * b[i] - a[i] * 0.7
        out[i, 3] = a[i] * 5.0 + b[i]
    return out


def partial(a):
    """Sums of several terms, one of them read between two terms."""
    seen = np.zeros(a.shape[0])
    s = 0.0
    t = 1.0
    for i in range(a.shape[0]):
        for c in range(3):
            s += a[i, c] * a[i, 2 - c]
        t += a[i, 0]
        seen[i] = t
        t -= a[i, 1]
    return seen, s, t


def picture(*shape):
    return np.random.default_rng(5).random(shape)


CASES = [
    (dot, lambda: (picture(1003), picture(1003) + 1.0)),
    (total, lambda: (picture(61, 47),)),
    (functions, lambda: (picture(61, 47),)),
    (blur, lambda: (picture(61, 47),)),
    (whole, lambda: (picture(6100),)),
    (whole, lambda: (picture(61, 47)[:, ::2],)),
    (recurrence, lambda: (picture(1000),)),
    (two_stages, lambda: (picture(61, 47),)),
    (looked_up, lambda: (np.arange(16) / 15.999999999 + 1e-12,)),
    (short_dots, lambda: (picture(61, 3),)),
    (differences, lambda: (picture(300), picture(300) - 2.0)),
    (partial, lambda: (picture(301, 3),)),
]


def near(got, want, rtol=1e-13):
    if isinstance(want, tuple):
        for one, other in zip(got, want, strict=True):
            near(one, other, rtol)
        return
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, rtol=rtol)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", ["fma", "reassoc", "vecmath", APPROX])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_near(case, words):
    function, arguments = CASES[case]
    fn = accelerate(function, approx=words, strict=True)
    near(fn(*arguments()), function(*arguments()))
    assert fn.stats.native_calls == 1


@pytest.mark.parametrize("words", ["f32", "all"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_float32_inside(case, words):
    """Arguments and results keep their dtype."""
    function, arguments = CASES[case]
    fn = accelerate(function, approx=words, strict=True)
    near(fn(*arguments()), function(*arguments()), 2e-6)
    assert fn.stats.native_calls == 1


def test_float32_differs():
    """Scratch memory is narrow, and an index is what it would be."""
    fn = accelerate(two_stages, approx="f32")
    a = picture(61, 47)
    assert 1e-9 < np.max(np.abs(fn(a) - two_stages(a))) < 1e-6
    assert "`rows` holds float32" in fn.explain(a)


def guarded(a):
    out = np.zeros(a.shape)
    t = np.zeros(a.shape)
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for i in range(a.shape[0]):
        out[i] = 1.0 / (t[i] + 1e-300)
    return out


def test_float32_has_no_such_constant():
    fn = accelerate(guarded, approx="f32")
    a = np.array([0.0, 1.0, 3.0])
    assert fn(a).tobytes() == guarded(a).tobytes()
    assert "float64 stays: 1e-300 is no float32" in fn.explain(a)


def either(a, b, start):
    """float32 or float64 under one name, on the paths of a branch, of a loop
    and of a builtin."""
    best = start
    total = 0.0
    for i in range(a.shape[0]):
        if i % 3 == 0:
            s = a[i]
        else:
            s = b[i] * 2.5
        if s > best:
            best = s
        pair = (a[i], i) if i % 2 else (b[i], i)
        total += pair[0] * 0.5 + max(a[i], b[i])
    return best, total


def test_float32_meets_float64():
    """The name is float64; a Python float that is no float32 is rounded."""
    a = np.random.default_rng(5).random(300).astype(np.float32)
    b = np.random.default_rng(6).random(300)
    exact = accelerate(either)
    with pytest.warns(vizgen.FallbackWarning, match="VZ-2006"):
        exact(a, b, 0.1)
    for words in ("f32", "all"):
        fn = accelerate(either, approx=words, strict=True)
        for args in ((a, b, 0.1), (b, a, np.float64(0.1)), (a, a, 0.1)):
            got, want = np.array(fn(*args)), np.array(either(*args))
            assert np.allclose(got, want, rtol=1e-6, atol=0)
        assert fn.stats.native_calls == 3
        assert fn.stats.python_calls == 0


def guard_meets(a, b, use):
    eps = 1e-300
    if use:
        eps = a[0]
    out = np.zeros(b.shape[0])
    for i in range(b.shape[0]):
        out[i] = 1.0 / (b[i] * 0.0 + eps)
    return out, eps > 0.0


def huge_meets(a, b, use):
    best = 1e300
    if use:
        best = a[0]
    found = [a[1]]
    found.append(best)
    return best < 1e301, found[1]


def counted(a, b, use):
    """A sum of Python's, which float32 would end at 2 ** 24."""
    s = 16777215.0
    t = 0.0
    if a[0] > 2.0:
        t = a[0]
    for i in range(a.shape[0]):
        s = a[i] if a[i] > 2.0 or use else s + 1.0
        t += 1000000.25
    return s, t - 1e8


def index_meets(a, b, use):
    pos = 16777217.0
    for i in range(a.shape[0]):
        if a[i] > 2.0:
            pos = a[i]
    return b[int(pos - 16777210.0) % 50]


def starts(a, b, use):
    s = 0.1
    t = 0.0
    for i in range(a.shape[0]):
        s = s * 0.5 + a[i]
        t += a[i] * s
    return s, t, max(a[0], 0.1, b[0]), max(b[1], 0.1, a[1]), max(0.1, a[2])


def maybe(a, b, use):
    s = None
    pair = (a[0], 1)
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            s = a[i]
        elif b[i] > 0.25:
            s = b[i]
        if use:
            pair = (b[i], i)
    return (0.0 if s is None else s * 2.0), pair[0] - pair[1]


def divided(a, b, use):
    """Python's zero is none of NumPy's."""
    x = float(b[0]) * 0.0
    if use:
        x = a[0]
    return 1.0 / x


@pytest.mark.parametrize("use", [False, True])
@pytest.mark.parametrize("words", ["f32", "all"])
@pytest.mark.parametrize("function", [guard_meets, huge_meets, counted,
                                      index_meets, starts, maybe, divided])
def test_where_floats_meet(function, words, use):
    a = np.random.default_rng(5).random(100).astype(np.float32)
    b = np.random.default_rng(6).random(100)
    fn = accelerate(function, approx=words, strict=True)
    try:
        want = function(a, b, use)
    except ZeroDivisionError as error:
        with pytest.raises(type(error), match=str(error)):
            fn(a, b, use)
        return
    got = fn(a, b, use)
    for one, other in zip(got if isinstance(got, tuple) else (got,),
                          want if isinstance(want, tuple) else (want,),
                          strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert fn.stats.native_calls == 1


def test_float32_meets_float64_within_a_bound():
    a = np.random.default_rng(5).random(300).astype(np.float32)
    b = np.random.default_rng(6).random(300)
    fn = accelerate(either, approx="psnr>=60", strict=True)
    got = np.array(fn(a, b, 0.1))
    assert np.allclose(got, np.array(either(a, b, 0.1)), rtol=1e-5, atol=0)
    assert fn.stats.native_calls == 1


def bits(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(part).tobytes() for part in parts]


@pytest.mark.parametrize("words", [APPROX, "all"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_same_for_any_threads(case, words, monkeypatch):
    """Also where the lanes of a loop end, and a thread's rounds."""
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    function, arguments = CASES[case]
    fn = accelerate(function, approx=words, strict=True)
    got = []
    for threads in (1, 2, 5):
        _core.threads(threads)
        got.append(bits(fn(*arguments())))
    _core.threads(0)
    assert got[0] == got[1] == got[2]


def test_place_in_array_does_not_matter():
    """An element's bits are those that it has alone."""
    fn = accelerate(whole, approx=APPROX, strict=True)
    a = picture(37)
    rows = fn(a)
    for n in range(1, 37, 5):
        assert fn(a[n:]).tobytes() == rows[n:].tobytes()
        assert fn(a[:n]).tobytes() == rows[:n].tobytes()


def power(x, n):
    out = np.zeros(n.shape)
    for i in range(out.shape[0]):
        out[i] = x[i] ** 3 + x[i] ** -2 + x[i] ** 0.5 + x[i] ** 2
    return out


def test_specials():
    """Infinities, nans and zeros are what they are in Python."""
    def of(x):
        out = np.zeros((4, len(x)))
        out[0] = x ** 3.0
        out[1] = np.exp(x)
        out[2] = np.float64(1.0) * x / 7.0
        for i in range(x.shape[0]):
            out[3, i] = x[i] ** 0.5
        return out

    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0])
    with np.errstate(all="ignore"):
        want = of(x)
        got = accelerate(of, approx=APPROX)(x)
    near(got, want)
    assert (np.signbit(got) == np.signbit(want))[:, :4].all()


@pytest.mark.parametrize("power", [*range(-8, 9), 50, 63, -63])
def test_whole_powers(power):
    def of(x):
        out = np.zeros(x.shape)
        for i in range(x.shape[0]):
            out[i] = x[i] ** power
        return out

    x = np.array([0.1, 0.7, -1.3, 2.5, -2.0, 1e3])
    near(accelerate(of, approx="reassoc", strict=True)(x), of(x), 1e-14)


UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
         "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
         "arcsinh", "arccosh", "arctanh", "cbrt"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", UNARY)
def test_units_in_the_last_place(name, dtype):
    function = getattr(np, name)

    def of(x):
        return function(x)

    x = np.linspace(0.001, 0.999, 10001) + (name == "arccosh")
    x = x.astype(dtype)
    got = accelerate(of, approx="vecmath", strict=True)(x)
    want = function(x.astype(np.longdouble))
    ulp = np.spacing(np.abs(want.astype(dtype))).astype(np.longdouble)
    assert got.dtype == dtype
    assert np.max(np.abs(got - want) / ulp) <= 4


# --- nothing else changes -------------------------------------------------------

def c_text(function, args, **options):
    return _core.compile_info(accelerate(function, **options), args)["c"]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_exact_is_untouched(case):
    """The relaxations off, the text is what it is without them."""
    function, arguments = CASES[case]
    args = arguments()
    exact = c_text(function, args)
    assert c_text(function, args, approx="exact") == exact
    assert "vz_muladd" not in exact and "vz_vm" not in exact
    got, want = accelerate(function)(*args), function(*args)
    assert bits(got) == bits(want)


def keys_of(approx):
    fn = accelerate(recurrence, approx=approx)
    return _core.compile_info(fn, (picture(9),))["key"]


def test_keys_differ():
    """Even where the text is the same: what is allowed is part of the key."""
    keys = [keys_of(approx) for approx in (None, "fma", "reassoc", "vecmath",
                                           "f32", "fma,reassoc", "all")]
    assert len(set(keys)) == len(keys)
    assert keys_of("exact") == keys[0]


# --- the text -------------------------------------------------------------------

@pytest.mark.parametrize("text, meaning", [
    ("fma", ("fma", "", 0.0)),
    ("f32, vecmath", ("vecmath,f32", "", 0.0)),
    ("all", ("fma,reassoc,vecmath,f32", "", 0.0)),
    ("exact", ("", "", 0.0)),
    ("psnr>=50", ("fma,reassoc,vecmath,f32", "psnr", 50.0)),
    ("fma,reassoc,maxerr<=1e-6", ("fma,reassoc", "maxerr", 1e-6)),
    ("ulp<=4", ("fma,reassoc,vecmath,f32", "ulp", 4.0)),
])
def test_words(text, meaning):
    assert _core.approx(text) == meaning


@pytest.mark.parametrize("text", ["fast", "", "fma;f32", "psnr", "psnr<=50",
                                  "psnr>=", "psnr>=nan", "psnr>=50 ulp<=4",
                                  "ulp<=-1", "fma,f16"])
def test_bad_words(text):
    with pytest.raises(ValueError, match="approx="):
        accelerate(dot, approx=text)


def test_bad_values():
    with pytest.raises(ValueError, match="takes fma, reassoc, vecmath, f32"):
        accelerate(dot, approx="fast")
    with pytest.raises(ValueError, match="str or None"):
        accelerate(dot, approx=True)


def run(code, **env):
    return subprocess.run(
        [sys.executable, "-c", "import numpy as np, vizgen\n"
         "from tests.test_approx import dot, picture\n" + code],
        env={**os.environ, **env}, cwd=vzopt.ROOT, capture_output=True,
        text=True, check=True)


SHOW = """
for approx in (None, "exact", "vecmath"):
    fn = vizgen.accelerate(dot, approx=approx)
    fn(picture(9), picture(9))
    print("summed" in fn.explain())
"""


def test_environment():
    """For functions that say nothing themselves."""
    assert run(SHOW).stdout.split() == ["False"] * 3
    done = run(SHOW, VIZGEN_APPROX="reassoc")
    assert done.stdout.split() == ["True", "False", "False"]
    done = run(SHOW, VIZGEN_APPROX="fast")
    assert done.stdout.split() == ["False"] * 3
    assert "VZ-5005" in done.stderr and "results are exact" in done.stderr


def test_checked_calls_are_exact():
    done = run("fn = vizgen.accelerate(dot, approx='reassoc')\n"
               "print(fn(picture(99), picture(99)) == dot(picture(99), "
               "picture(99)))", VIZGEN_CHECK="1")
    assert done.stdout.split() == ["True"]


# --- bounds ---------------------------------------------------------------------

def note(function, args, approx):
    fn = accelerate(function, approx=approx)
    got = fn(*args)
    assert fn.stats.native_calls == 1
    line = next(row for row in fn.explain().splitlines() if "approx: " in row)
    return line.split("approx: ")[1], got


def test_bound_that_is_kept():
    """All four words lose little of this; what was measured is told."""
    a = picture(61, 47)
    words, got = note(two_stages, (a,), "psnr>=100")
    assert words.startswith("fma,reassoc,vecmath,f32: psnr 1")
    assert words.endswith("in the first call (psnr>=100)")
    assert vizgen.approx.psnr(got, two_stages(a)) >= 100
    assert got.tobytes() != two_stages(a).tobytes()


def test_bound_that_f32_breaks():
    a = picture(61, 47)
    words, got = note(two_stages, (a,), "maxerr<=1e-12")
    assert words.startswith("fma,reassoc,vecmath: maxerr")
    assert np.max(np.abs(got - two_stages(a))) <= 1e-12
    words, got = note(two_stages, (a,), "fma,ulp<=4")
    assert words.startswith("fma: ulp")


def test_bound_that_nothing_keeps():
    a = picture(61, 47)
    words, got = note(two_stages, (a,), "f32,maxerr<=0")
    assert words == "exact: nothing else keeps maxerr<=0"
    assert got.tobytes() == two_stages(a).tobytes()


def in_place(a, *, factor):
    for i in range(a.shape[0]):
        a[i] = a[i] / factor + 1.0 / 3.0


def test_trials_leave_arguments_alone():
    """A call changes its array once, however many versions are tried."""
    a = np.arange(9.0)
    fn = accelerate(in_place, approx="maxerr<=1e-6")
    fn(a, factor=3.0)
    near(a, np.arange(9.0) / 3.0 + 1.0 / 3.0)
    assert fn.stats.native_calls == 1 and "approx: fma" in fn.explain()


SHARED = np.ones(9)


def global_array(a):
    for i in range(a.shape[0]):
        SHARED[i] += a[i] / 3.0
    return SHARED[0]


def test_global_arrays_are_not_tried():
    words, got = note(global_array, (np.ones(9),), "psnr>=50")
    assert "it uses global arrays" in words and got == 1.0 + 1.0 / 3.0


# --- what is said of it ---------------------------------------------------------

def test_VZ_3018_explained():
    fn = accelerate(functions, approx=APPROX)
    text = fn.explain(picture(9, 9))
    assert "VZ-3018  relaxed" in text
    for word in ("`exp` is computed within 4 units", "computed by products",
                 "power is a root", "the quotient by a constant is a product",
                 "added without being rounded"):
        assert word in text
    assert "`s` is summed in an order of its own" in accelerate(
        dot, approx=APPROX).explain(picture(9), picture(9))
    assert "VZ-3018" not in vizgen.accelerate(functions).explain(picture(9, 9))
