"""The reference interpreter's arithmetic against NumPy's and Python's.

Each operator runs over all pairs of a list of awkward values of each dtype it
takes.  Warnings of NumPy are of no interest here: only values are compared,
as bits (any nan equals any nan).
"""
import math
import subprocess

import numpy as np
import pytest

from tests import vzopt


pytestmark = vzopt.needs_tools

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f32", "f64")
NAMES = {"b1": "bool", "i": "int", "u": "uint", "f": "float"}


@pytest.fixture(scope="module")
def vz_opt():
    return vzopt.path()


def dtype_of(short):
    if short == "b1":
        return np.dtype(bool)
    return np.dtype(NAMES[short[0]] + short[1:])


def values(short):
    """Awkward values of a dtype."""
    dt = dtype_of(short)
    if short == "b1":
        return np.array([False, True])
    if short[0] == "f":
        big = float(np.finfo(dt).max)
        some = [0.0, 1.0, 0.1, 2.5, 3.0, 7.0, 1e-3, 127.5, 128.0, 255.9, 256.0,
                32768.0, 65536.5, 2.0**31, 2.0**32, 2.0**53, 2.0**63, 2.0**64,
                1e20, big, float(np.finfo(dt).tiny), math.inf]
        return np.array(some + [-v for v in some] + [math.nan], dt)
    info = np.iinfo(dt)
    some = {0, 1, 2, 3, 7, 8, 31, 63, 64, 100, info.max, info.max - 1,
            info.max // 2, info.max // 3}
    some |= {-v for v in some} | {info.min, info.min + 1, -5}
    return np.array(sorted(v for v in some if info.min <= v <= info.max), dt)


def text_of(array, short):
    number = float if short[0] == "f" else int
    items = ",".join(repr(number(v)) for v in array.tolist())
    return f"{short}[{len(array)}]=list:{items}"


def compute(vz_opt, expression, result, *operands):
    """'expression' of %a and %b over the operands' elements, as an array."""
    shorts = [short for short, _ in operands]
    names = "ab"[:len(shorts)]
    lines = ["func f loops {"]
    lines += [f"  param {n} &{n}.{i}:{s}[:]"
              for i, (n, s) in enumerate(zip(names, shorts))]
    lines += [f"  alloc &out.5:{result}[(dim &a.0 0)] result number=0",
              "  for %i.6:i64 in 0, (dim &a.0 0) #7 {"]
    lines += [f"    let %{n}.{i + 8}:{s} = &{n}.{i}[%i.6]"
              for i, (n, s) in enumerate(zip(names, shorts))]
    lines += [f"    store &out.5[%i.6] = {expression} @1:0", "  }",
              "  ret &out.5", "}"]
    args = [f"--arg={text_of(array, short)}" for short, array in operands]
    done = subprocess.run([vz_opt, "--eval", *args, "-"], text=True,
                          input="\n".join(lines), capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    line = next(x for x in done.stdout.splitlines() if x.startswith("ret 0"))
    number = float if result[0] == "f" else int
    return np.array([number(w) for w in line.split()[3:]], dtype_of(result))


def check(actual, expected, *operands):
    expected = np.asarray(expected).astype(actual.dtype)
    if actual.dtype.kind == "f":
        same = (np.isnan(actual) & np.isnan(expected)) | (
            (actual == expected) & (np.signbit(actual) == np.signbit(expected)))
    else:
        same = actual == expected
    bad = np.flatnonzero(~same)
    assert not len(bad), (tuple(o[bad[0]] for o in operands), actual[bad[0]],
                          expected[bad[0]])


def all_pairs(short):
    some = values(short)
    return np.repeat(some, len(some)), np.tile(some, len(some))


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "idiv": np.floor_divide, "mod": np.remainder, "min": np.minimum,
    "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift,
    "div": np.true_divide, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal,
}
COMPARE = ("eq", "ne", "lt", "le")
OF_FLOATS = ("add", "sub", "mul", "div")
OF_BOOL = ("and", "or", "xor")


def binary_cases():
    for op in BINARY:
        if op != "div":
            yield from ((op, short) for short in INTS)
        if op in OF_FLOATS + COMPARE:
            yield from ((op, short) for short in FLOATS)
        if op in OF_BOOL + COMPARE:
            yield op, "b1"


@pytest.mark.parametrize("op,short", list(binary_cases()))
def test_binary(vz_opt, op, short):
    a, b = all_pairs(short)
    result = "b1" if op in COMPARE else short
    actual = compute(vz_opt, f"({op} %a.8 %b.9)", result, (short, a), (short, b))
    with np.errstate(all="ignore"):
        check(actual, BINARY[op](a, b), a, b)


@pytest.mark.parametrize("short", INTS + FLOATS)
@pytest.mark.parametrize("op", ["neg", "abs", "inv"])
def test_unary(vz_opt, op, short):
    if op == "inv" and short in FLOATS:
        pytest.skip("integers only")
    a = values(short)
    actual = compute(vz_opt, f"({op} %a.8)", short, (short, a))
    fn = {"neg": np.negative, "abs": np.abs, "inv": np.invert}[op]
    with np.errstate(all="ignore"):
        check(actual, fn(a), a)


@pytest.mark.parametrize("short", INTS)
@pytest.mark.parametrize("op", ["addo", "subo", "mulo"])
def test_overflow(vz_opt, op, short):
    a, b = all_pairs(short)
    info = np.iinfo(dtype_of(short))
    exact = {"addo": int.__add__, "subo": int.__sub__, "mulo": int.__mul__}[op]
    expected = [not info.min <= exact(x, y) <= info.max
                for x, y in zip(a.tolist(), b.tolist())]
    actual = compute(vz_opt, f"({op} %a.8 %b.9)", "b1", (short, a), (short, b))
    check(actual, expected, a, b)


@pytest.mark.parametrize("to", ("b1",) + INTS + FLOATS)
@pytest.mark.parametrize("short", ("b1",) + INTS + FLOATS)
def test_cast(vz_opt, short, to):
    a = values(short)
    actual = compute(vz_opt, f"(cast {to} %a.8)", to, (short, a))
    with np.errstate(all="ignore"):
        expected = np.array([v.astype(dtype_of(to)) for v in a])
    check(actual, expected, a)


@pytest.mark.parametrize("short", FLOATS)
@pytest.mark.parametrize("fn", ["npmod", "npfloordiv"])
def test_numpy_division(vz_opt, fn, short):
    a, b = all_pairs(short)
    actual = compute(vz_opt, f"(call {fn}:{short} %a.8 %b.9)", short,
                     (short, a), (short, b))
    ufunc = np.remainder if fn == "npmod" else np.floor_divide
    with np.errstate(all="ignore"):
        check(actual, [ufunc(x, y) for x, y in zip(a, b)], a, b)


@pytest.mark.parametrize("fn", ["pymod", "pyfloordiv"])
def test_python_division(vz_opt, fn):
    a, b = all_pairs("f64")
    a, b = a[b != 0], b[b != 0]
    actual = compute(vz_opt, f"(call {fn}:f64 %a.8 %b.9)", "f64", ("f64", a),
                     ("f64", b))
    pairs = zip(a.tolist(), b.tolist())
    check(actual, [x % y if fn == "pymod" else x // y for x, y in pairs], a, b)


def test_powers(vz_opt):
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000) * 10.0 ** rng.integers(-3, 4, 3000)
    check(compute(vz_opt, "(call square:f64 %a.8)", "f64", ("f64", x)),
          [v ** 2 for v in x.tolist()], x)
    a, b = np.meshgrid(np.arange(-13, 14), np.arange(0, 70))
    a, b = a.ravel(), b.ravel()
    exact = [x ** y for x, y in zip(a.tolist(), b.tolist())]
    wrapped = [(v + 2**63) % 2**64 - 2**63 for v in exact]
    actual = compute(vz_opt, "(call ipow:i64 %a.8 %b.9)", "i64", ("i64", a),
                     ("i64", b))
    check(actual, np.array(wrapped, np.int64), a, b)
    actual = compute(vz_opt, "(call ipowo:b1 %a.8 %b.9)", "b1", ("i64", a),
                     ("i64", b))
    check(actual, [not -2**63 <= v < 2**63 for v in exact], a, b)


@pytest.mark.parametrize("fn", ["floor", "ceil", "trunc", "rint", "sqrt"])
@pytest.mark.parametrize("short", FLOATS)
def test_rounding(vz_opt, fn, short):
    a = values(short)
    actual = compute(vz_opt, f"(call {fn}:{short} %a.8)", short, (short, a))
    with np.errstate(all="ignore"):
        check(actual, getattr(np, fn)(a), a)


@pytest.mark.parametrize("fn", ["exp", "log", "sin", "atan", "log1p", "cosh"])
def test_libm(vz_opt, fn):
    a = np.linspace(0.01, 5.0, 200)
    actual = compute(vz_opt, f"(call {fn}:f64 %a.8)", "f64", ("f64", a))
    check(actual, [getattr(math, fn)(x) for x in a.tolist()], a)
