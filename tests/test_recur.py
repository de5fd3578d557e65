"""What a round has stored the next one need not load."""
import numpy as np
import pytest

from tests.support import assert_same, layouts
from vizgen import accelerate


def first_order(a, k):
    y = np.zeros(a.shape)
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            y[r, c] = y[r, c - 1] * k + a[r, c]
    return y


def from_the_right(a, k):
    for r in range(a.shape[0]):
        for c in range(a.shape[1] - 2, -1, -1):
            a[r, c] += a[r, c + 1] * k
    return a


def summed_areas(a, k):
    y = np.zeros(a.shape)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            y[r, c] = a[r, c]
            if r > 0:
                y[r, c] += y[r - 1, c]
            if c > 0:
                y[r, c] += y[r, c - 1]
            if r > 0 and c > 0:
                y[r, c] -= y[r - 1, c - 1]
    return y


def longest(a, k):
    """The load stands in a branch."""
    d = np.zeros((a.shape[0] + 1, a.shape[1] + 1), np.int64)
    for r in range(1, a.shape[0] + 1):
        for c in range(1, a.shape[1] + 1):
            if a[r - 1, c - 1] > k:
                d[r, c] = d[r - 1, c - 1] + 1
            else:
                d[r, c] = max(d[r - 1, c], d[r, c - 1])
    return d


def diffused(a, k):
    """Three values go on to the next round, two of them in another row."""
    for r in range(a.shape[0] - 1):
        for c in range(1, a.shape[1] - 1):
            old = a[r, c]
            new = 1.0 if old > k else 0.0
            a[r, c] = new
            e = old - new
            a[r, c + 1] += e * 7 / 16
            a[r + 1, c - 1] += e * 3 / 16
            a[r + 1, c] += e * 5 / 16
            a[r + 1, c + 1] += e / 16
    return a


def second_order(a, k):
    """Of the two loads one is of the round before."""
    y = np.zeros(a.shape)
    for r in range(a.shape[0]):
        for c in range(2, a.shape[1]):
            y[r, c] = a[r, c] + k * y[r, c - 1] - 0.25 * y[r, c - 2]
    return y


def sometimes(a, k):
    """The store is not made in every round."""
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            v = a[r, c - 1]
            if v > k:
                a[r, c] = v * 0.5
    return a


def overwritten(a, k):
    """Another store comes in between, at the same place."""
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            v = a[r, c - 1] * k
            a[r, c] = v + 1
            if v < 0.3:
                a[r, c] = v
    return a


def perhaps_overwritten(a, k):
    """And one that may be anywhere."""
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            v = a[r, c - 1] * k
            a[r, c] = v + 1
            a[r, int(v * 3) % a.shape[1]] = 0.5
    return a


def behind(a, k):
    """Loaded after it was stored to in the same round."""
    y = np.zeros(a.shape)
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            y[r, c - 1] = a[r, c] * k
            y[r, c] = y[r, c - 1] + 1
    return y


def two_arrays(a, k):
    """At places of the same numbers."""
    y = np.ones(a.shape)
    for r in range(a.shape[0]):
        for c in range(a.shape[1] - 1):
            y[r, c + 1] = y[r, c] * k + a[r, c]
    return y


def places_that_go_round(a, k):
    """An index that is no linear form of the loop's variable."""
    y = np.ones(a.shape[0] + 1)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            n = c % y.shape[0]
            y[n] = y[n] * k + a[r, c]
    return y


def places_from_memory(a, k):
    """The place is the same until the store changes it."""
    y = np.zeros(4, np.int64)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            y[y[0] % 4] = y[y[0] % 4] + int(a[r, c] * 4)
    return y


def whole_rows(a, k):
    """The loop over rows is the innermost one."""
    y = np.zeros(a.shape[0])
    for r in range(1, a.shape[0]):
        y[r] = y[r - 1] * k + a[r, 0]
    return y


def guarded(a, k):
    """The first load is not in range where the condition doesn't hold."""
    y = np.zeros(a.shape[0])
    n = 0
    for r in range(a.shape[0]):
        if r > 0:
            n += int(a[r, 0] * 4)
            y[r] = y[r - 1] + n
    return y


def one_of_two(a, k):
    """In each round a name stands for the one or the other array."""
    y = np.zeros(a.shape[1])
    z = np.full(a.shape[1], 100.0)
    for c in range(1, a.shape[1]):
        v = y if a[0, c] > k else z
        v[c] = v[c - 1] + 1.0
    return y, z


HANDED = (first_order, from_the_right, longest, diffused, second_order)
FUNCTIONS = HANDED + (summed_areas, sometimes, overwritten,
                      perhaps_overwritten, behind, whole_rows, guarded,
                      two_arrays, places_that_go_round, places_from_memory,
                      one_of_two)
SIZES = ((1, 0), (1, 1), (2, 2), (3, 3), (5, 4), (7, 40))


def arguments(shape, dtype=np.float64):
    a = np.random.default_rng(7).random(shape)
    return (a if np.dtype(dtype).kind == "f" else a * 9).astype(dtype), 0.5


def has_carries(fn):
    """Compared with the code without the pass."""
    fast = accelerate(fn)
    with_it = fast.inspect_c(*arguments((7, 40)))
    fast._set_variant("recur=0")
    return fast.inspect_c(*arguments((7, 40))) != with_it


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_same(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in SIZES:
            assert_same(fast, arguments(shape), native=False)
        args = arguments((6, 30))
        for bad in (np.nan, np.inf, -0.0):
            args[0][2, 5] = bad
            assert_same(fast, (args[0].copy(), args[1]), native=False)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_dtypes_and_layouts(fn):
    fast = accelerate(fn)
    for dtype in ("f4", "i8", "u1"):
        assert_same(fast, arguments((7, 40), dtype), native=False)
    a, k = arguments((7, 40))
    for name in layouts(a):
        assert_same(fast, (layouts(a)[name], k), native=False)


@pytest.mark.parametrize("fn", HANDED)
def test_fires(fn):
    assert has_carries(fn)


@pytest.mark.parametrize("fn", (sometimes, perhaps_overwritten))
def test_refused(fn):
    assert not has_carries(fn)


def test_views_that_overlap():
    """A sliding window over one row: its elements are in several rows."""
    def smoothed(w, k):
        for r in range(w.shape[0]):
            for c in range(1, w.shape[1]):
                w[r, c] = w[r, c - 1] * k + w[r, c]

    fast = accelerate(smoothed)
    for step in (0, 1, 2):
        def window():
            row = np.random.default_rng(3).random(60)
            return np.lib.stride_tricks.as_strided(row, (5, 9), (8, 8 * step))
        assert_same(fast, (window(), 0.5), native=False)
