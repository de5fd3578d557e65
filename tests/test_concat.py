"""np.concatenate and its kin, np.unique, np.append, against NumPy."""
import numpy as np
import pytest

from tests.support import assert_same, outcome
from tests.test_order import same_order
from vizgen import accelerate

DTYPES = ("float64", "float32", "uint8", "int64", "bool")


def lines(a, b):
    return (np.concatenate((a, b)), np.concatenate([a, b, a], axis=0),
            np.concatenate((a[::2], b * 2)), np.hstack([a, b]),
            np.concatenate((b[:0], a)))


def stacked(a, b):
    n = min(a.shape[0], b.shape[0])
    a, b = a[:n], b[:n]
    return (np.stack((a, b)), np.stack([a, b, a], axis=-1),
            np.stack((a, b), axis=1), np.vstack((a, b)),
            np.column_stack((a, b)))


def with_lists(a, b):
    return (np.concatenate(([0], a)), np.concatenate(([1.5, 2], b, [3])),
            np.hstack([a, [True]]))


def dtypes_meet(a, b):
    return (np.concatenate((a, b.astype(np.float32))), np.hstack((a, b > 1)),
            np.concatenate((a, np.arange(3))))


def grown(a, b):
    out = np.zeros(0)
    for i in range(4):
        out = np.concatenate((out, a))
    return out


def appended(a, b):
    return (np.append(a, 3), np.append(a, [1, 2]), np.append(a, b),
            np.append(a, a[0]))


def distinct(a, b):
    return np.unique(a), np.unique(b, return_counts=True), np.unique(a[:0])


def passed_on(a, b):
    pair = (a, b)
    joined = np.concatenate(pair)
    joined[0] = 1
    return joined.sum(), joined


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "fn", (lines, stacked, with_lists, dtypes_meet, grown, appended, distinct,
           passed_on), ids=lambda fn: fn.__name__)
def test_one_axis(fn, dtype):
    fn = accelerate(fn)
    values = np.random.RandomState(0).randint(0, 9, 40).astype(dtype)
    for a, b in ((values[:7], values[10:33]), (values[::-3], values[:2])):
        assert_same(fn, (a, b))


def planes(a, b):
    return (np.concatenate((a, b)), np.concatenate((a, b), axis=1),
            np.concatenate((a, b), -1), np.vstack((a, b, a[:1])),
            np.hstack((a, b)), np.dstack((a, b)), np.stack((a, b), axis=1),
            np.vstack((a, b[0])), np.concatenate([a[:2] * 2, b]))


def turned(a, b):
    return np.concatenate((a, b)), np.concatenate((a, b * 2), axis=1)


def test_two_axes():
    a = np.random.RandomState(0).uniform(0, 4, (7, 5))
    fn = accelerate(planes)
    for x, y in ((a, a + 1), (a[::-1], a), (a[:0], a[:0] + 1)):
        if x.size:
            got = assert_same(fn, (x, y))
            assert same_order(got, outcome(planes, (x, y))[0])
    fn = accelerate(turned)
    a = np.asfortranarray(a)
    got = assert_same(fn, (a, a + 1))
    assert same_order(got, outcome(turned, (a, a + 1))[0])


def three(a, b):
    return np.concatenate((a, b), axis=2), np.stack((a, b), axis=3)


def test_three_axes():
    a = np.random.RandomState(0).uniform(0, 4, (3, 4, 5))
    assert_same(accelerate(three), (a, a * 2))


def joined(a, b):
    return np.concatenate((a, b))


def test_what_raises():
    a = np.zeros((3, 4))
    for args in ((a, a[:, :2]), (a, a[0]), (a[0], a)):
        assert_same(accelerate(joined), args, native=False)


def test_zeros_and_nan_are_pythons():
    fn = accelerate(lambda a: np.unique(a))
    for values in ([1, np.nan, 1], [0.0, -0.0, 1]):
        assert_same(fn, (np.array(values),), native=False)
    assert fn.stats.replays == 2


def narrowed(a):
    out = np.zeros(a.shape)
    out[:] = a.astype(np.float32)
    return out


@pytest.mark.parametrize("n", (3, 4, 5, 8, 13, 200))
def test_both_conversions_happen(n):
    """gcc dropped them in lanes."""
    assert_same(accelerate(narrowed), (np.linspace(0.1, 1, n),))
