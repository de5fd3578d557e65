"""Rounds that only add to elements of an array add to copies of it."""
import re
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

ADDED = "is only added to"


def counted(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] += 1


def counted_new(img, h):
    counts = np.zeros(h.shape[0], np.int32)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            counts[img[y, x]] += 1
    return counts


def less(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] -= 3


def of_pairs(img, h):
    pairs = np.zeros((4, 6), np.int64)
    for y in range(img.shape[0]):
        for x in range(1, img.shape[1]):
            pairs[img[y, x] % 4, img[y, x - 1] % 6] += 1
    return pairs


def sums_by_value(img, h):
    total = np.zeros(h.shape[0], np.int64)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            total[img[y, x]] += img[y, x] * 3 - y % 7
            h[img[y, x]] += 1
    return total


def some(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > 2:
                h[img[y, x]] += 2
            else:
                h[0] += 1
            h[-1] += 1


def along_a_row(img, h):
    """One loop of many rounds."""
    row = img.ravel()
    for i in range(row.shape[0]):
        h[row[i]] += 1


def in_a_view(img, h):
    both = np.zeros((2, h.shape[0]), np.int64)
    part = both[1]
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            part[img[y, x]] += 1
    both[0] = part[::-1]
    return both


def every_other(img, h):
    part = h[::2]
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            part[img[y, x] // 2] += 1


def beside(img, h):
    """Rows of another array are written in the same rounds."""
    out = np.zeros(img.shape, np.int64)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] += 1
            out[y, x] = img[y, x] * 2
    return out


def triangles(img, h):
    """Inner loops end where the outer one says."""
    for y in range(img.shape[0]):
        for x in range(min(y, img.shape[1])):
            h[img[y, x]] += 1


def by_float(img, h):
    """An index is checked in each round."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[int(img[y, x] * 0.75)] += 1


ALL = [counted, counted_new, less, of_pairs, sums_by_value, some, along_a_row,
       in_a_view, every_other, beside, by_float]


def last_wins(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] = h[img[y, x]] + 1
            h[0] = y


def looked_at(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if h[0] < 40:
                h[img[y, x]] += 1


def the_neighbour(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] = h[(img[y, x] + 1) % h.shape[0]] + 1


def twice_the_same(img, h):
    """Both are loaded before either is stored."""
    for y in range(img.shape[0]):
        for x in range(1, img.shape[1]):
            a = h[img[y, x]]
            b = h[img[y, x - 1]]
            h[img[y, x]] = a + 1
            h[img[y, x - 1]] = b + 1


def doubled(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] += h[img[y, x]] + 1


def kept(img, h):
    """What an element was is used again."""
    out = np.zeros(img.shape, np.int64)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            n = h[img[y, x]]
            h[img[y, x]] = n + 1
            out[y, x] = n
    return out


def of_floats(img, h):
    total = np.zeros(h.shape[0])
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            total[img[y, x]] += 0.1
    return total


def through_a_name(img, h):
    """One array, two names."""
    part = h[::-1]
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] += 1
            part[img[y, x]] += part[0]


REFUSED = [last_wins, looked_at, the_neighbour, twice_the_same, doubled, kept,
           of_floats, through_a_name]
SIZES = [(0, 0), (1, 1), (2, 5), (41, 47), (97, 64), (3000, 1), (1, 5000)]


def arguments(shape, seed=0, dtype=np.uint8, counts=np.int64, bins=8):
    rng = np.random.default_rng(seed)
    return (rng.integers(0, bins, shape).astype(dtype),
            rng.integers(0, 9, bins).astype(counts))


def text_of(fn, *args):
    return str(accelerate(fn).explain(*(args or arguments((97, 64)))))


@pytest.mark.parametrize("fn", ALL + REFUSED + [triangles],
                         ids=lambda fn: fn.__name__)
def test_same(fn, monkeypatch):
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in SIZES:
            assert_same(fast, arguments(shape), native=False)
        assert_same(fast, arguments((97, 64), 1))
    assert_same(fast, arguments((64, 97), 1, counts=np.int32))
    assert_same(fast, arguments((64, 97), 1, np.int16, np.uint32), native=False)


@pytest.mark.parametrize("fn", ALL, ids=lambda fn: fn.__name__)
def test_blocks_are_parallel(fn):
    text = text_of(fn)
    assert ADDED in text
    assert "the rounds of `block` are independent" in text


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_refused(fn):
    assert ADDED not in text_of(fn)


def by_labels(labels, values, out):
    for i in range(labels.shape[0]):
        out[labels[i]] += values[i]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16,
                                   np.int32, np.uint32, np.int64, np.uint64])
def test_sums_that_wrap_warn(dtype, monkeypatch):
    """Near the end of what an element holds, and where all that is added is
    too much for it: wrapped, with one warning, as in Python."""
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    labels = rng.integers(0, 5, 6000)
    few = np.int8 if info.min else np.uint8
    values = rng.integers(0, 3, 6000).astype(few)
    fast = accelerate(by_labels, threads=2)
    starts = (0, info.max // 2 - 9, info.max // 2, info.max // 2 + 1,
              info.max - 3000, info.max - 2400, info.max, info.min,
              info.min + 1, info.min // 2)
    for start in {max(start, info.min) for start in starts}:
        for sign in (1, -1):
            out = np.full(5, start, dtype)
            signed = values if sign > 0 or info.min == 0 else -values
            got = []
            for fn in (by_labels, fast):
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    own = out.copy()
                    fn(labels, signed, own)
                got.append((own.tobytes(), bool(told)))
            assert got[0] == got[1], (dtype, start, sign)


def unused_sum(labels, h, k):
    for i in range(labels.shape[0]):
        t = h[labels[i]]
        u = t + k           # warns, and nothing more
        h[labels[i]] = t + 1


def unused_difference(labels, h, k):
    for i in range(labels.shape[0]):
        t = h[labels[i]]
        u = k - t
        h[labels[i]] = t + 1


@pytest.mark.parametrize("fn, k", [
    (unused_sum, np.int64(2 ** 63 - 1)), (unused_sum, np.int64(3)),
    (unused_difference, np.int64(-2 ** 63)), (unused_difference, np.int64(3))])
def test_other_warnings_stay(fn, k, monkeypatch):
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    labels = np.zeros(9000, np.int64)
    for threads in (1, 2):
        assert_same(accelerate(fn, threads=threads),
                    (labels, np.ones(8, np.int64), k))


def inner_far(a, out, ends):
    lo = int(ends[0])
    hi = int(ends[1])
    for y in range(a.shape[0]):
        for x in range(lo, hi):
            out[a[y]] += 1


@pytest.mark.parametrize("low", [2 ** 62 + 513, -2 ** 62 - 77, 2 ** 53 + 1, 0])
def test_rounds_are_counted_exactly(low):
    """The difference of two large ends, not that of what doubles hold."""
    fast = accelerate(inner_far)
    for many in (1535, 1100, 5):
        ends = np.array([low, low + many])
        for start in (16383, 9000, -20000):
            assert_same(fast, (np.zeros(15, np.int64),
                               np.full(8, start, np.int16), ends),
                        native=False)


def of_eight_axes(labels, h):
    for i in range(labels.shape[0]):
        h[labels[i], 0, 1, 0, 1, 0, 1, 0] += 1


def of_seven_axes(labels, h):
    for i in range(labels.shape[0]):
        h[labels[i], 0, 1, 0, 1, 0, 1] += 1


def test_many_axes():
    labels = np.arange(30000) % 2
    assert_same(accelerate(of_eight_axes),
                (labels, np.zeros((2,) * 8, np.int64)))
    assert_same(accelerate(of_seven_axes),
                (labels, np.zeros((2,) * 7, np.int64)))


def test_few_rounds_for_many_elements_add_in_place():
    fast = accelerate(by_labels)
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 10**6, 3000)
    assert_same(fast, (labels, np.ones(3000, np.int64),
                       np.zeros(10**6, np.int64)))


def test_an_array_that_is_read_as_well():
    """Overlapping arguments are what they are in Python."""
    a = np.random.default_rng(5).integers(0, 8, 5000)
    fast = accelerate(by_labels, threads=2)
    for make in (lambda x: (x, x, x), lambda x: (x[8:], x[8:], x),
                 lambda x: (x[:-8], x[8:], x[-8:])):
        assert_same(fast, make(a), native=False)


def failing(img, h, limit):
    h[0] = -5
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] += 1
            if img[y, x] > limit:
                raise ValueError


def test_a_failure_leaves_what_python_leaves(monkeypatch):
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    fast = accelerate(failing, threads=5)
    for seed, limit in ((0, 7), (1, 6), (2, 3), (3, 99)):
        assert_same(fast, (*arguments((70, 60), seed), limit), native=False)
    short = arguments((70, 60))[0], np.zeros(5, np.int64)
    for fn in (counted, some, by_float, sums_by_value):
        assert_same(accelerate(fn, threads=5), short, native=False)


def far(a, out, lo, hi):
    for y in range(lo, hi):
        for x in range(a.shape[0]):
            out[a[x]] += 1


def test_numbers_near_the_end_of_int64():
    fast = accelerate(far)
    top = 2 ** 63
    a = np.random.default_rng(6).integers(0, 8, 1500)
    for lo, hi in [(0, 9), (9, 0), (-7, 6), (top - 12, top - 6),
                   (1 - top, 4 - top), (top - 1, 1 - top)]:
        assert_same(fast, (a, np.zeros(8, np.int64), lo, hi), native=False)


def test_a_switch():
    def text(opts):
        fast = accelerate(counted)
        fast._set_variant(opts)
        return str(fast.explain(*arguments((97, 64))))

    assert ADDED in text("") and ADDED not in text("tallies=0")
    assert re.search("not parallel .*`h`", text("tallies=0"))
