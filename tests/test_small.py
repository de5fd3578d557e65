"""dtypes as values, attributes and methods of scalars, sequences of numbers,
and casts that warn, against NumPy."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

DTYPES = ("float64", "float32", "uint8", "int32", "int64", "uint64", "bool")


def scalars(a):
    x = a[0]
    return (x.astype(np.float32), np.float32(x).item(), x.item(),
            x.astype(np.int32), x.itemsize, x.nbytes, x.size, x.ndim)


def by_name(a):
    if a.dtype.name == "float32" or a.dtype.kind == "u":
        return 1, a.dtype.itemsize, a.itemsize, a.nbytes
    return 2, a.dtype.itemsize, a.itemsize, a.nbytes


def texts(a):
    name = str(a.dtype)
    if name == "float64":
        return name, a.dtype.name, a.dtype.kind, str(-3)
    return name, a.dtype.str, a.dtype.char, str("x")


def equal(a):
    t = np.dtype(np.int32)
    return (t == "int32", a.dtype == "uint8", "u1" == a.dtype,
            a.dtype in (np.float32, np.float64), a.dtype == np.dtype(float),
            a.dtype != np.uint8, np.float64 == a.dtype)


def limits(a):
    t = a.dtype
    if t.kind == "f":
        return (np.finfo(t).eps, np.finfo(t).max, np.finfo(a.dtype).tiny,
                np.finfo(np.float32).eps * 2, np.finfo(a[0]).min)
    if t.kind == "b":
        return 0
    return np.iinfo(t).min, np.iinfo(np.int64).max, np.iinfo(t).bits


def saturated(a):
    low = np.iinfo("int32").min
    high = np.iinfo(np.int32).max
    out = np.zeros(a.shape, np.int32)
    for i in range(a.shape[0]):
        out[i] = min(max(int(a[i]) * 2, low), high)
    return out


def converted(a):
    return np.float32(a), np.int16(a), np.float64(a).sum()


def results(a):
    t = np.result_type(a, np.float32)
    return np.zeros(3, t), np.zeros(3, np.dtype("f4")), np.result_type(a, 2.5)\
        == a.dtype


def filled(a):
    b = np.empty(a.shape, a.dtype)
    b.fill(1)
    a.fill(a[1])
    return b


def sequences(a):
    n = a.shape[0]
    return (np.arange(n), np.arange(n) * 2.5, np.arange(1, n, 2),
            np.arange(0.0, 1.0, 0.1), np.arange(5, dtype=np.float32),
            np.arange(n, 0, -1), np.arange(3, -n, -2), np.arange(0),
            np.arange(n)[:, None] + np.arange(3.0, n))


FUNCTIONS = (scalars, by_name, texts, equal, limits, saturated, converted,
             results, filled, sequences)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_dtypes(fn, dtype):
    fn = accelerate(fn)
    if fn.__name__ == "scalars" and dtype == "uint64":
        return  # its item may be too large for a C integer
    for a in ([1.5, 2.25, 3.0, 0.0], [7, 1]):
        assert_same(fn, (np.array(a).astype(dtype),))


def test_same_array_is_returned():
    same = accelerate(lambda a: np.float64(a))
    a = np.arange(3.0)
    assert same(a) is a and same.stats.native_calls == 1


# --- casts -------------------------------------------------------------------


def cast_scalar(a):
    return a[0].astype(np.int32), np.int32(a[0]), np.uint8(a[1])


def cast_array(a):
    return a.astype(np.uint8), np.array(a, np.int16), np.uint64(a)


def cast_store(a):
    out = np.zeros(a.shape, np.int32)
    out[:] = a
    return out


def cast_loop(a):
    out = np.zeros((a.shape[0], 3), np.uint8)
    for i in range(a.shape[0]):
        out[i] = a[i] * np.ones(3, a.dtype)
        out[i, 1] = a[i]
    return out


def cast_rounded(a):
    return np.round(a).astype(np.int64), np.clip(a, 0, 255).astype(np.uint8)


def cast_masked(a):
    out = np.zeros(a.shape, np.int32)
    out[a > 1] = a[a > 1]
    return out, np.full(3, a[0], dtype=np.int32)


def cast_unsigned(a):
    return a.astype(np.uint32), np.uint32(a[0])


VALUES = ([1.5, 2.25, 3.0, 0.0], [np.nan, 1, 2, 3], [1, 2, 3e10, np.nan],
          [-1, 300, 1e30, np.inf], [1e300, 2.0, 3.0, 4.0],
          [255.9, -0.5, 256, -1.0], [2**31, 2**31 - 1, -2**31, -2**31 - 1],
          [2.0**63, -2.0**63, 2.0**64, -2.0**63 * 1.5])


def with_values(values, dtype, n):
    with np.errstate(all="ignore"):
        some = np.array(values).astype(dtype)
    a = np.linspace(0, 255, n).astype(dtype)
    a[:2] = some[:2]
    a[-2:] = some[2:]
    return a


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ("float64", "float32"))
@pytest.mark.parametrize(
    "fn", (cast_scalar, cast_array, cast_store, cast_loop, cast_rounded,
           cast_masked, cast_unsigned), ids=lambda fn: fn.__name__)
def test_casts_warn(fn, dtype):
    native = fn is not cast_unsigned  # other bits: left to Python
    fn = accelerate(fn)
    for values in VALUES:
        for n in (4, 2003):
            assert_same(fn, (with_values(values, dtype, n),), native)
            assert not native or fn.stats.python_calls == 0
