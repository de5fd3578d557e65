"""Arrays in Fortran's order: results have the strides that NumPy gives them."""
import numpy as np
import pytest

from tests.support import assert_same, outcome
from vizgen import accelerate


def arithmetic(a, b):
    return a + b, a * 2.5 + 1, -a, a > 1, abs(a), a / b


def functions(a, b):
    return (np.sqrt(a), np.where(a > 1, a, 0), np.clip(a, 0, 1),
            np.maximum(a, b), np.minimum(a, 2))


def copies(a, b):
    return (np.zeros_like(a), np.ones_like(a, dtype=np.int32),
            np.full_like(b, 3), a.copy(), a.astype(np.float32), np.array(b),
            np.array(a, dtype=np.int16))


def broadcast(a, b):
    return a - a[0], a * b[:, :1], a - a.mean(axis=0), a + b[:, 0][:, None]


def parts(a, b):
    x = a * 2
    return x, x[1:], x.T, x[0], x[:, 1], x, (a[1:-1, ::2] * 2)[:, ::-1]


def loops(a, b):
    x = a + 1
    for i in range(3):
        x = x * 0.5 + b
    return x


def branches(a, b):
    if a[0, 0] > 1:
        x = a * 2
    else:
        x = b + 1
    y = a + b
    y += x
    y[0] = 3
    return x, y


def stencil(a, b):
    out = np.zeros_like(a)
    for i in range(1, a.shape[0] - 1):
        for k in range(1, a.shape[1] - 1):
            out[i, k] = a[i - 1, k] + b[i, k + 1]
    return out


def transposed(a, b):
    return a.T * 2, a.T + b.T, (a.T * 2).T, a.transpose() - 1


def sums(a, b):
    x = a * 2 + b
    return (a.sum(), x.mean(), x.std(), a.sum(axis=0), x.mean(axis=1),
            a.max(axis=0), x.var(axis=1), a.argmin(axis=0), a.argmax(),
            (x.T - 1).sum(axis=1), a[1:, :-1].sum(), np.any(a > 3.9))


FUNCTIONS = (arithmetic, functions, copies, broadcast, parts, loops, branches,
             stencil, transposed, sums)


def layouts(values):
    def within(order, key):
        whole = np.zeros((40, 40), values.dtype, order)
        part = whole[key][:values.shape[0], :values.shape[1]]
        part[...] = values
        return part

    return {
        "c": values,
        "fortran": np.asfortranarray(values),
        "every second": within("C", np.s_[::2, ::2]),
        "every second, fortran": within("F", np.s_[::2, ::2]),
        "reversed": within("C", np.s_[:, ::-1]),
        "reversed, fortran": within("F", np.s_[::-1]),
    }


def random(shape, dtype="float64"):
    values = np.random.RandomState(0).uniform(0.1, 4, shape)
    return values.astype(dtype)


def same_order(got, want):
    if isinstance(want, tuple):
        return all(map(same_order, got, want))
    return (not isinstance(want, np.ndarray)
            or (got.strides == want.strides and str(got.flags) == str(
                want.flags) and (got.base is None) == (want.base is None)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ("float64", "float32", "int32"))
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_orders(fn, dtype):
    fn = accelerate(fn)
    for name, a in layouts(random((17, 9), dtype)).items():
        args = a, a * 0 + 1
        got = assert_same(fn, args)
        assert same_order(got, outcome(fn.py_func, args)[0]), name


@pytest.mark.parametrize("fn", (arithmetic, transposed),
                         ids=lambda fn: fn.__name__)
def test_orders_that_differ(fn):
    """C wins against Fortran; an axis of one element has a place of its own,
    which only Python knows."""
    fn = accelerate(fn)
    a = random((6, 5))
    b = np.asfortranarray(a)
    for args in ((a, b), (b, a), (b[:1], b[:1]), (b[:, :1], b[:, :1]),
                 (b[:0], b[:0]), (b[:2, :2], b[3:5, 1:3])):
        got = assert_same(fn, args, native=False)
        assert same_order(got, outcome(fn.py_func, args)[0])


def planes(a, b):
    return a * 2, a[..., 0] + 1, a[0] * 2, a + b[0, 0], a.sum()


def test_three_axes():
    fn = accelerate(planes)
    for a in (random((4, 5, 6)), np.asfortranarray(random((4, 5, 6)))):
        got = assert_same(fn, (a, a))
        assert same_order(got, planes(a, a))
    mixed = accelerate(arithmetic)  # neither order: left to Python
    a = np.moveaxis(random((4, 5, 6)), 0, 1)
    got = assert_same(mixed, (a, a), native=False)
    assert same_order(got, arithmetic(a, a)) and mixed.stats.python_calls
