"""Warnings: native code gives NumPy's own texts, at the user's lines.

Each program runs decorated and plain; results, kinds, texts and places of all
warnings must be the same, and nothing may have entered the interpreter.
"""
import math
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

BIG = 1e300


def told(fn, args):
    """The set of (text, file, line) of what 'fn' warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fn(*args)
    return {(str(w.message), w.filename, w.lineno) for w in caught}


def same_warnings(fn, args, calls=2):
    """Of native calls; the first one compiles the counting kernel."""
    want = told(fn.py_func, args())
    for _ in range(calls):
        before = fn.stats
        assert told(fn, args()) == want
        assert fn.stats.native_calls == before.native_calls + 1, fn.explain()
        assert fn.stats.python_calls == before.python_calls
    return want


# --- scalars ------------------------------------------------------------------


def both_of(a, b):
    return (a[0] + b[0],
            a[0] - b[0],
            a[0] * b[0],
            a[0] / b[0])


def floor_of(a, b):
    return (a[0] // b[0],
            a[0] % b[0])


FLOATS = [0.0, 1.0, -2.5, 3e38, -3e38, BIG, -BIG, math.inf, -math.inf,
          math.nan, 1e-38]


@pytest.mark.parametrize("fn", [both_of, floor_of])
@pytest.mark.parametrize("left, right", [
    (float, float), (np.float32, np.float32), (np.float32, float),
    (np.int8, np.float32), (np.int32, np.float32), (float, np.uint64)])
def test_scalars(fn, left, right):
    native = accelerate(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [(np.array([a]).astype(left), np.array([b]).astype(right))
                 for a in FLOATS for b in FLOATS]
    for a, b in pairs:
        want, got = (told(f, (a, b)) for f in (fn, native))
        assert got == want, (a, b)
    assert native.stats.python_calls == native.stats.replays == 0


def quotient(a, b):
    return a[0] / b[0]


@pytest.mark.parametrize("left", [np.bool_, np.int16, np.uint64, np.float32])
@pytest.mark.parametrize("right", [np.bool_, np.int8, np.int64, np.float64])
def test_divided_by_zero(left, right):
    same_warnings(accelerate(quotient), lambda: (np.ones(1, left),
                                                 np.zeros(1, right)))


def with_python_numbers(a, n, x):
    return (a[0] / n,
            1 / a[1],
            a[0] / x,
            1.0 / a[1])


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_python_numbers(dtype):
    same_warnings(accelerate(with_python_numbers),
                  lambda: (np.array([1, 0], dtype), 0, 0.0))


def integers(a, b):
    return (a[0] + a[0],
            a[0] * b[0],
            -a[0],
            abs(a[0]))


def test_integers():
    same_warnings(accelerate(integers),
                  lambda: (np.array([-128], np.int8), np.array([3], np.int8)))
    same_warnings(accelerate(integers),
                  lambda: (np.array([200], np.uint8), np.array([3], np.uint8)))


def pairs_of_divmod(a, b):
    q, r = divmod(a, b)
    u, v = divmod(a[0], b[0])
    return q, r, u, v


def other_ufuncs(a, b):
    return (a ** -1,
            a.astype(np.int16) ** 0.5,
            np.logaddexp(a, b),
            np.logaddexp2(a[1], b[1]))


@pytest.mark.parametrize("fn", [pairs_of_divmod, other_ufuncs])
@pytest.mark.parametrize("n", [3, 50])
def test_names_of_ufuncs(fn, n):
    """divmod is one ufunc; powers of arrays are others, of integers not; a nan
    is compared in logaddexp."""
    def args():
        a, b = np.zeros(n), np.zeros(n)
        a[:3], b[:3] = (5.0, 0.0, -4.0), (0.0, np.nan, 1.0)
        return a, b

    assert same_warnings(accelerate(fn), args)


def quotients_of_few_values(a, m):
    out = np.zeros(len(a))
    for i in range(len(a)):
        k = 1.0 if a[i] > 3 else 0.0
        out[i] = np.float64(2.0) / k
    return (out,
            1 / (m * 1.0),
            np.float32(3) / m.astype(np.float32),
            2.0 / np.where(a > 3, 1.0, 0.0),
            m / (a > 3))


@pytest.mark.parametrize("n", [5, 100])
def test_quotients_of_few_values(n):
    """The C compiler knows all of them beforehand, but must divide."""
    same_warnings(accelerate(quotients_of_few_values),
                  lambda: (np.arange(1.0 * n), np.arange(n) % 2 == 0))


def powers(a, n):
    return (a[0] ** 2,
            a[1] ** 0.5,
            a[2] ** n,
            a[0] ** a[0],
            np.sqrt(a[1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers(dtype):
    same_warnings(accelerate(powers),
                  lambda: (np.array([3e38, -8, 0], dtype), -1.0))


def casts(a, f32, u8):
    f32[0] = a[0]
    u8[0] = a[0]
    return np.float32(a[0])


def test_casts():
    want = same_warnings(accelerate(casts), lambda: (
        np.array([BIG]), np.zeros(1, np.float32), np.zeros(1, np.uint8)))
    assert len(want) == 3


# --- small arrays -------------------------------------------------------------


def lanes(img, k):
    p = img[0, 0]
    q = img[0, 1]
    return (p + q,
            p * k,
            p / q,
            p // q,
            p % q,
            p ** 2,
            p ** 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanes(dtype):
    top = float(np.finfo(dtype).max)
    same_warnings(accelerate(lanes), lambda: (
        np.array([[[top, 1, -4], [top, 0, 2]]], dtype), 3))
    same_warnings(accelerate(lanes), lambda: (
        np.array([[[1, 1, 4], [4, 5, 2]]], dtype), 3))


# --- arrays -------------------------------------------------------------------


def whole_arrays(a, b):
    c = a + b
    d = a * b
    e = a / b
    f = a // b
    g = a % b
    h = a ** 2
    return (c, d, e, f, g, h,
            (a - b) * b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_arrays(dtype):
    top = float(np.finfo(dtype).max)
    for values in ([top, 1, -4], [1, 1, 4], [math.inf, 0, 2]):
        same_warnings(accelerate(whole_arrays), lambda: (
            np.resize(np.array(values, dtype), (5, 7)),
            np.resize(np.array([top, 0, -2], dtype), (5, 7))))


def functions(a, b):
    return (np.exp(a[0]),
            np.log(a[1]),
            np.log2(a[1]),
            np.log10(a[2]),
            np.log1p(a[2] + 0.0),
            np.arcsin(a[0]),
            np.sin(b[0]),
            np.power(a[1], a[2]),
            np.sqrt(a[2]),
            np.cosh(a[0]),
            np.arctanh(b[1]),
            np.fmod(a[0], a[1]),
            np.hypot(b[2], b[2]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions(dtype):
    top = float(np.finfo(dtype).max)
    same_warnings(accelerate(functions), lambda: (
        np.array([1000, 0, -1], dtype), np.array([math.inf, 1, top], dtype)))
    same_warnings(accelerate(functions), lambda: (
        np.array([1, 1, 2], dtype), np.array([1, 0.5, 1], dtype)))


def integer_arrays(a, b):
    c = a // b
    return (c,
            a % b)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_integer_arrays(dtype):
    same_warnings(accelerate(integer_arrays), lambda: (
        np.array([1, 7, 128]).astype(dtype), np.array([0, 2, 255]).astype(dtype)))


def array_casts(a):
    b = a.astype(np.float32)
    return (b,
            a.astype(np.uint8))


def test_array_casts():
    fn = accelerate(array_casts)
    args = np.array([BIG, 1.0, -7.0]),
    assert told(fn, args) == told(array_casts, args)


def sums(a):
    b = np.sum(a)
    return (b,
            np.mean(a[:2]))


def test_sums():
    """Those of sums are Python's to tell."""
    fn = accelerate(sums)
    for values in ([1e308, 1e308, 1], [math.inf, -math.inf, 1], [math.nan, 1],
                   [math.inf, 1], [1, 2]):
        args = np.array(values),
        assert told(fn, args) == told(sums, args)
    assert fn.stats.python_calls == 0 and fn.stats.replays == 2


# --- which arithmetic warns ---------------------------------------------------


def python_floats_too(a, x):
    """Only the division of NumPy's number may warn."""
    y = x * 1e200
    total = 0.0
    for i in range(a.shape[0]):
        total = y * y - y
    return total + (1.0 / a[0] if a[0] < 5 else 0.0)


def test_python_floats_never_warn():
    for first in (0.0, 9.0):
        want = same_warnings(accelerate(python_floats_too),
                             lambda: (np.array([first, 1.0]), 1e200))
        assert len(want) == (first == 0.0)


def hoisted(a, n, scale):
    """Divisions that don't change in loops that may not run."""
    total = 0.0
    for i in range(n):
        for k in range(n - 1):
            total += a[k] * (a[0] / a[1]) * (a[0] * scale[0])
    return total


@pytest.mark.parametrize("n", [0, 1, 2])
def test_loops_that_do_not_run(n):
    same_warnings(accelerate(hoisted), lambda: (
        np.array([1.0, 0.0, 2.0]), n, np.array([BIG])))


def branches(a, b):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        if b[i] != 0:
            out[i] = a[i] / b[i]
        elif a[i] > 1 and a[i] / b[i] > 0:
            out[i] = 1.0
        else:
            out[i] = a[i] * 2 if a[i] < BIG else a[i] * a[i]
    return out


@pytest.mark.parametrize("numbers", [(0.5, 3.0), (2.0, 3.0), (BIG, 0.0)])
def test_branches(numbers):
    def arguments():
        return (np.resize(np.array(numbers), 9),
                np.resize(np.array([0.0, 4.0]), 9))
    same_warnings(accelerate(branches), arguments)


def in_place(a, b):
    """Can't be run twice."""
    for i in range(a.shape[0]):
        a[i] = a[i] / b[i] + a[i]


@pytest.mark.parametrize("size", [3, 40000])
def test_in_place(size):
    def arguments():
        return np.ones(size), np.resize(np.array([1.0, 0.0, 2.0]), size)
    fn = accelerate(in_place)
    same_warnings(fn, arguments, calls=4)
    assert_same(fn, arguments())


# --- later calls, many warnings -----------------------------------------------


def helper_of(x, y):
    return x / y


def through_helper(a):
    return helper_of(a[0], a[1])


def test_the_helpers_line():
    want = same_warnings(accelerate(through_helper),
                         lambda: (np.array([1.0, 0.0]),))
    (_, _, line), = want
    assert line == helper_of.__code__.co_firstlineno + 1


def test_by_default_a_warning_is_shown_once():
    fn = accelerate(through_helper)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(5):
            fn(np.array([1.0, 0.0]))
    assert len(caught) == 1
    assert fn.stats.native_calls == 5


def in_vain(a, k):
    """Python's floats raise flags, and warn of nothing."""
    total = 0.0
    for i in range(a.shape[0]):
        x = float(a[i]) * k
        if x - x < 1.0:
            total += x
    return total / 3.0


def test_flags_that_are_raised_in_vain():
    """The careful kernel takes over, and where that raises them as well the
    counting one; each of them warns where it should."""
    fn = accelerate(in_vain)
    warns = accelerate(branches)
    for value in (1.0, math.inf) * 3 + (math.inf,) * 20:
        args = np.array([value, 2.0]), 1e300 * 1e300 if value > 5 else 2.0
        assert repr(fn(*args)) == repr(in_vain(*args))
        assert told(fn, args) == set()
    assert fn.stats.python_calls == 0
    warns._set_variant("careful=1")
    bad = np.array([3.0]), np.array([0.0])
    assert told(warns, bad) == told(warns.py_func, bad) != set()


def test_calm_calls_go_back_to_the_fast_kernel():
    fn = accelerate(branches)
    bad = np.array([3.0]), np.array([0.0])
    good = np.array([3.0]), np.array([1.0])
    for args in (bad, good):
        want = told(fn.py_func, args)
        for _ in range(100):
            assert told(fn, args) == want
    assert fn.stats.python_calls == 0


# --- underflow ----------------------------------------------------------------


def product(a):
    total = a[0]
    for i in range(1, a.shape[0]):
        total = total * a[i]
    return total


def outcome(fn, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return fn(*args), [str(w.message) for w in caught]
        except FloatingPointError as error:
            return str(error)


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
def test_underflow(mode):
    fn = accelerate(product)
    small = np.full(4, 1e-200)
    with np.errstate(under=mode):
        assert outcome(fn, small) == outcome(product, small)
        assert fn.stats.python_calls == (mode != "ignore")
    fn(small)
    assert fn.stats.native_calls == 1 + (mode == "ignore")


def test_errstate_is_looked_up_in_every_call():
    fn = accelerate(product)
    a = np.array([BIG, BIG])
    for mode in ("warn", "ignore", "raise", "warn", "ignore"):
        with np.errstate(over=mode):
            assert outcome(fn, a) == outcome(product, a)


# --- an exception made of a warning -------------------------------------------


def test_a_hook_that_raises():
    """The work is done and can't be taken back; the exception is the hook's."""
    fn = accelerate(in_place)
    fn(np.ones(2), np.ones(2))

    class Stop(Exception):
        pass

    def hook(*args, **kwargs):
        raise Stop

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hook
        for size in (2, 50000):
            a = np.ones(size)
            with pytest.raises(Stop):
                fn(a, np.zeros(size))


# --- many ----------------------------------------------------------------------

def program_of(tmp_path, lines, inner):
    """A function of so many quotients and products, one a line; in a loop with
    SIMD or one that has branches, too."""
    body = "".join(
        f"            out[y, x, {i}] = p {'/*'[i % 2]} (a[y, x] - {i})\n"
        for i in range(lines))
    text = ("import numpy as np\n\n\ndef f(a, out):\n"
            "    for y in range(a.shape[0]):\n"
            "        for x in range(a.shape[1]):\n"
            f"            p = a[y, x] * {inner}\n" + body)
    path = tmp_path / "many.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


@pytest.mark.parametrize("lines", [40, 110, 250])
@pytest.mark.parametrize("threads", [1, 3])
def test_each_of_many_has_its_line(tmp_path, lines, threads):
    """More than there are bits, of which each operation takes two or three."""
    fn = accelerate(program_of(tmp_path, lines, 1.0), threads=threads)
    for value in (0.0, 2.0, 38.0, lines - 2.0, 1e200, -1e308):
        a = np.full((3, 5), 0.5)
        a[1, 2] = value
        args = a, np.zeros((3, 5, lines))
        assert told(fn, args) == told(fn.py_func, args), value


def test_many_that_are_errors(tmp_path):
    fn = accelerate(program_of(tmp_path, 150, 1.0))
    for value in (0.0, 38.0, 148.0):
        a = np.full((3, 5), 0.5)
        a[1, 2] = value
        args = a, np.zeros((3, 5, 150))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_same(fn, args, native=False)
