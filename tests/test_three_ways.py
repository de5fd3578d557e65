"""Names that may be None, one of Python's numbers, or a number of NumPy's.

`best = None` before a loop, `total = 0` in it and `total += a[i]` after that:
the name has a value of one of three types, and which decides what operators,
comparisons and results do.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def best_row(img, limit):
    best = None
    where = -1
    for y in range(img.shape[0]):
        total = 0
        for x in range(img.shape[1]):
            if img[y, x] > limit:
                total += img[y, x]
        if best is None or total > best:
            best = total
            where = y
    return best, where


def nearest(img, limit):
    """Distances that begin as an int."""
    best = None
    for y in range(img.shape[0]):
        d = 0
        for x in range(img.shape[1]):
            d += (img[y, x] - limit) ** 2
        if best is None or d < best:
            best = d
    return best


def last_of_three(img, limit):
    value = None
    for x in range(img.shape[1]):
        if img[0, x] > limit:
            value = img[0, x]
        elif img[0, x] == limit:
            value = 7
    return value


def shown(img, limit):
    """Tested, but not returned."""
    value = None
    if limit > 100:
        value = 0
    elif img.shape[1] > 3:
        value = img[0, 3]
    out = img * 2
    if value is not None:
        out[0, 0] = value / 2 + 1
    return out, value is None


def true_or_not(img, limit):
    value = None
    for x in range(img.shape[1]):
        if x == 1:
            value = 0
        if img[0, x] > limit:
            value = img[0, x]
        if value:
            return x, value
    if not value:
        return -1, value
    return 0, 1


def unbound(img, limit):
    """Read where it is bound, or Python raises."""
    for x in range(img.shape[1]):
        if img[0, x] > limit:
            value = img[0, x]
        elif img[0, x] < 0:
            value = 1
    return value


def unbound_in_rounds(img, limit):
    total = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if x == 0:
                value = 0
            else:
                value += img[y, x]
        total += value
    return total


def twice(value):
    return -1 if value is None else value * 2


def helped(img, limit):
    value = None
    out = []
    for x in range(img.shape[1]):
        out.append(float(twice(value)))
        value = img[0, x] if img[0, x] > limit else 3
    return out, twice(value)


def in_a_tuple(img, limit):
    best = (None, 0)
    for x in range(img.shape[1]):
        key = 0 if img[0, x] < limit else img[0, x]
        if best[0] is None or key > best[0]:
            best = (key, x)
    return best


def chosen(img, limit):
    value = None
    for x in range(img.shape[1]):
        if img[0, x] > limit:
            value = img[0, x] if x % 2 else 5
    other = value or 1
    return other, value


def carried(img, limit):
    """The previous value of the first round is None."""
    before = None
    change = 0
    for x in range(img.shape[1]):
        now = 0 if img[0, x] < limit else img[0, x]
        if before is not None and now != before:
            change += 1
        before = now
    return change, before


def floats(img, limit):
    """Python's float among NumPy's numbers."""
    low = None
    for y in range(img.shape[0]):
        v = 0.5 if y % 2 else img[y, 0]
        if low is None or v < low:
            low = v
    return low


PROGRAMS = [best_row, nearest, last_of_three, shown, true_or_not,
            unbound_in_rounds, helped, in_a_tuple, chosen, carried, floats]


def pictures(dtype):
    values = np.random.RandomState(3).randint(0, 120, (5, 6))
    yield values.astype(dtype)
    yield values.astype(dtype)[::-1, ::2]
    yield values.astype(dtype).T
    yield np.zeros((2, 4), dtype)
    yield values[:1, :1].astype(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function, dtype):
    compiled = accelerate(function)
    for img in pictures(dtype):
        for limit in (50, 0, 119):
            assert_same(compiled, (img, limit), native=dtype == "float64")


@pytest.mark.parametrize("function", PROGRAMS)
def test_special_values(function):
    compiled = accelerate(function)
    img = np.array([[np.nan, -0.0, 0.0, np.inf], [-np.inf, -0.0, 1.5, 2.0]])
    for a in (img, img[::-1], img[:, ::-1], img.astype(np.float32)):
        assert_same(compiled, (a, 1), native=False)


def test_unbound_names_raise():
    compiled = accelerate(unbound)
    for img in pictures("float64"):
        for limit in (50, 500):
            assert_same(compiled, (img, limit), native=False)


def test_an_int_that_float_lacks():
    """It can't be kept in a float64, so Python repeats the call."""
    @accelerate
    def f(a, n):
        value = None
        for i in range(a.shape[0]):
            value = a[i] if a[i] > 0 else n
        return value
    for n in (3, 2 ** 53 + 1, -2 ** 60):
        assert_same(f, (np.array([1.0, -1.0]), n), native=False)
        assert_same(f, (np.array([1.0, 2.0]), 3))
    assert f.stats.replays == 2
