"""Reductions and NumPy's library functions, against NumPy.

Each program runs decorated and plain, with every dtype and with memory that
lies in every way; results, dtypes and warnings must be equal, and the call
must have run natively unless 'replays' says that Python has to decide.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

FLOATS = ("float64", "float32")
INTEGERS = ("bool", "int8", "int16", "int32", "int64",
            "uint8", "uint16", "uint32", "uint64")
DTYPES = FLOATS + INTEGERS


def values(shape, dtype, seed=0):
    """Numbers of both signs, with many that are equal."""
    random = np.random.RandomState(seed)
    if np.dtype(dtype).kind == "f":
        out = random.randint(-40, 40, shape) / 8 + 1 / 16
        return (out * random.choice([1, 1e3, 1e-3], shape)).astype(dtype)
    if dtype == "bool":
        return random.randint(0, 2, shape).astype(bool)
    low = 0 if dtype.startswith("u") else -90
    return random.randint(low, 120, shape).astype(dtype)


def spread(array):
    """Equal arrays that lie differently in memory."""
    yield array
    yield np.asfortranarray(array)
    wide = np.zeros([2 * n + 1 for n in array.shape], array.dtype)
    part = wide[tuple(slice(1, None, 2) for _ in array.shape)]
    part[...] = array
    yield part
    if array.ndim:
        yield array[::-1].copy()[::-1]


# --- whole arrays ---


def sums(a):
    return np.sum(a), a.sum(), np.sum(a, axis=None)


def products(a):
    return np.prod(a), a.prod()


def extremes(a):
    return np.min(a), a.max(), np.amax(a), np.amin(a)


def truths(a):
    return np.any(a), np.all(a), a.any(), a.all()


def positions(a):
    return np.argmin(a), a.argmax(), np.argmax(a), a.argmin()


def counts(a):
    return np.count_nonzero(a)


def means(a):
    return np.mean(a), a.mean()


def spreads(a):
    return np.ptp(a)


def variances(a):
    return np.var(a), a.std(), np.std(a, ddof=1) if a.size > 1 else 0.0


def variance(a):
    return a.var(), np.std(a)


WHOLE = {
    sums: DTYPES, products: INTEGERS, variance: DTYPES,
    extremes: DTYPES, truths: DTYPES,
    positions: DTYPES, counts: DTYPES, means: DTYPES,
    spreads: FLOATS + INTEGERS[1:],
}
CASES = [(program, dtype) for program, dtypes in WHOLE.items()
         for dtype in dtypes]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("program, dtype", CASES)
def test_whole(program, dtype):
    fn = accelerate(program)
    for shape in ((1,), (7,), (300,), (3, 5), (1, 4), (2, 3, 4)):
        for array in spread(values(shape, dtype)):
            assert_same(fn, (array,))


@pytest.mark.parametrize("program", [sums, products, truths, counts])
def test_whole_empty(program):
    fn = accelerate(program)
    assert_same(fn, (np.zeros(0, np.int32),))
    assert_same(fn, (np.zeros((3, 0), np.uint8),))


@pytest.mark.parametrize("program", [extremes, positions, means, spreads])
def test_whole_empty_raises(program):
    fn = accelerate(program)
    assert_same(fn, (np.zeros(0, np.int32),), native=False)
    assert fn.stats.replays == 1


def test_special_values():
    nan, inf = np.nan, np.inf
    lists = ([1, nan, 2], [nan, nan], [inf, -inf, 3], [0.0, 0.0], [-0.0, 5],
             [-0.0, -0.0], [nan, 1], [1, 2, nan], [inf, inf], [-5, -0.0])
    for dtype in FLOATS:
        for items in lists:
            for program in (extremes, positions, truths, counts):
                assert_same(accelerate(program), (np.array(items, dtype),))


def test_zeros_of_both_signs():
    fn = accelerate(extremes)
    assert_same(fn, (np.array([0.0, -0.0]),), native=False)
    assert fn.stats.replays == 1


def test_mean_of_large_integers():
    fn = accelerate(means)
    assert_same(fn, (np.array([2**62, 3, -2**62]),), native=False)
    assert fn.stats.replays == 1


# --- the order of additions ---


def rough(shape, dtype, seed):
    """Numbers whose sum depends on the order."""
    random = np.random.RandomState(seed)
    scale = random.choice([1, 1e3, -1e5], shape)
    return (random.rand(*shape) * scale).astype(dtype)


def lying(array):
    """Parts, turns and repetitions of a two-dimensional array."""
    yield array
    yield array.T
    yield array[::-1]
    yield array[:, ::-1]
    yield array[::2, 1:]
    yield array[1:, :-1]
    yield np.asfortranarray(array)
    yield np.broadcast_to(array[0], array.shape)
    yield np.broadcast_to(array[:, :1], array.shape)


def order(a):
    return np.sum(a), a.mean(), a.var()


def order_of_part(a, n):
    return np.sum(a[1:, :n]), np.sum(a[:n, 1:].T), np.sum(a[n - 1])


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_of_small(dtype):
    fn = accelerate(order)
    for h in range(1, 21):
        for w in range(2, 21):
            for array in lying(rough((h, w), dtype, h * 31 + w)):
                if array.size:
                    assert_same(fn, (array,))


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_of_long(dtype):
    fn = accelerate(order)
    lengths = (*range(1, 40), *range(120, 140), *range(250, 264), 1000, 4095,
               4096, 4097, 8191, 8192, 8193, 8200, 16383, 16384, 20000)
    for n in lengths:
        array = rough((2 * n,), dtype, n)
        for part in (array[:n], array[::2], array[n - 1::-1]):
            assert_same(fn, (part,))


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_around_the_buffer(dtype):
    fn = accelerate(order)
    for shape in ((3, 4095), (3, 4097), (2, 4096), (9, 1000), (3, 9000),
                  (100, 90), (40, 7, 35), (5, 60, 60), (6, 5, 4, 80)):
        whole = rough((shape[0], *(n + 3 for n in shape[1:])), dtype, 7)
        part = whole[(slice(None), *(slice(0, n) for n in shape[1:]))]
        for array in (whole, part, part.T, part[::-1], part[::2]):
            assert_same(fn, (array,))


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_of_parts(dtype):
    fn = accelerate(order_of_part)
    for n in range(1, 20):
        assert_same(fn, (rough((20, 22), dtype, n), n))
        assert_same(fn, (rough((22, 20), dtype, n).T, n))


def box_mean(img, r):
    h, w = img.shape
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            y0, y1 = max(0, y - r), min(h, y + r + 1)
            x0, x1 = max(0, x - r), min(w, x + r + 1)
            out[y, x] = np.mean(img[y0:y1, x0:x1])
    return out


def gray(img):
    h, w = img.shape[:2]
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            out[y, x] = np.mean(img[y, x]) + img[y, x].sum() + img[y, x].std()
    return out


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_in_loops(dtype):
    fn = accelerate(box_mean)
    for array in lying(rough((17, 14), dtype, 3)):
        for r in (1, 2, 4):
            assert_same(fn, (array, r))
    for channels in (1, 3, 4, 7, 8, 9, 17, 30):
        assert_same(accelerate(gray), (rough((5, 4, channels), dtype, 4),))


def in_place(a):
    for i in range(1, a.shape[0]):
        a[i, 0] = np.sum(a[i - 1]) * 0.5
    return np.sum(a)


def test_sums_see_stores():
    assert_same(accelerate(in_place), (rough((9, 6), "float64", 1),))


def test_special_sums():
    nan, inf = np.nan, np.inf
    for items in ([-0.0, -0.0], [-0.0], [inf, -inf], [nan, 1], [1e308, 1e308],
                  [inf, 1], [-0.0] * 9, [1e308] * 20):
        for dtype in FLOATS:
            with np.errstate(all="ignore"):
                array = np.array(items).astype(dtype)
            assert_same(accelerate(sums), (array,), native=False)
            assert_same(accelerate(means), (array,), native=False)


# --- axes ---


def along_first(a):
    return (np.sum(a, axis=0), a.max(axis=0), np.argmin(a, axis=0),
            a.any(0), np.count_nonzero(a, axis=0))


def along_last(a):
    return (np.sum(a, axis=-1), a.min(axis=-1), np.argmax(a, axis=-1),
            np.all(a, axis=-1), np.mean(a, axis=-1), np.ptp(a, axis=-1))


def along_first_float(a):
    return (a.max(axis=0), np.argmin(a, axis=0), a.any(0),
            np.count_nonzero(a, axis=0))


def along_kept(a):
    return (np.sum(a, axis=1, keepdims=True), a.max(axis=1, keepdims=True),
            np.max(a, keepdims=True))


def along_two(a):
    return np.sum(a, axis=(0, 2)), np.max(a, axis=(-1, 1))


def along_channels(a):
    out = np.zeros(a.shape[:2])
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = np.sum(a[y, x]) + a[y, x].max() + np.argmin(a[y, x])
    return out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "uint16"])
@pytest.mark.parametrize("program, shapes", [
    (along_first, ((4, 5), (1, 3), (5,))),
    (along_last, ((4, 5), (3, 1), (5,), (2, 3, 4))),
    (along_kept, ((4, 5), (3, 1))),
    (along_two, ((2, 3, 4), (1, 3, 1))),
    (along_channels, ((4, 5, 3), (2, 2, 4))),
])
def test_axes(program, shapes, dtype):
    fn = accelerate(program)
    for shape in shapes:
        assert_same(fn, (values(shape, dtype),))


@pytest.mark.parametrize("dtype", FLOATS)
def test_axes_of_floats(dtype):
    fn = accelerate(along_first_float)
    assert_same(fn, (values((6, 4), dtype),))
    assert_same(fn, (values((6, 4, 3), dtype),))


# --- parts ---


def parts(a, y, x):
    return (np.sum(a[y - 1:y + 2, x - 1:x + 2]), a[y].max(),
            a[:, x].argmin(), np.any(a[:y] > 5) if False else 0)


def in_loops(a):
    h, w = a.shape
    out = np.zeros((h, w))
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            out[y, x] = a[y - 1:y + 2, x - 1:x + 2].max()
    return out


def test_parts():
    for dtype in ("int32", "uint8"):
        assert_same(accelerate(parts), (values((9, 8), dtype), 3, 4))
    for dtype in DTYPES:
        assert_same(accelerate(in_loops), (values((9, 8), dtype),))


def small_vectors(a, b):
    v = np.array([a, b, a * b])
    return v.max(), v.min(), np.argmax(v), np.any(v), v.sum(keepdims=True)


def test_vectors():
    assert_same(accelerate(small_vectors), (3, 4))


# --- refused ---


def unknown_axis(a, k):
    return np.sum(a, axis=k + len(a))


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (3, 0), (2, 3)])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_axes_without_elements(name, shape):
    """They raise also where the result would have none."""
    programs = {
        "max": lambda a, k: a.max(axis=1) if k else (a * 2).max(axis=0),
        "min": lambda a, k: a.min(axis=1) if k else (a * 2).min(axis=0),
        "argmax": lambda a, k: np.argmax(a, axis=1 if k else 0),
        "argmin": lambda a, k: np.argmin(a, axis=1 if k else 0)}
    for dtype in (np.float64, np.uint8):
        for k in (False, True):
            assert_same(accelerate(programs[name]),
                        (np.ones(shape, dtype), k), native=False)


@pytest.mark.parametrize("program, args", [
    (unknown_axis, (np.arange(6).reshape(2, 3), -1)),
])
def test_refused(program, args):
    fn = accelerate(program)
    with pytest.warns(Warning, match="VZ-2003"):
        fn(*args)
    assert fn.stats.native_calls == 0


def along_axes(a):
    return (np.sum(a, axis=0), a.mean(axis=1), a.sum(axis=-1),
            (a - np.mean(a, axis=0, keepdims=True)).max())


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_along_axes(dtype):
    fn = accelerate(along_axes)
    for h in (1, 2, 5, 8, 9, 130, 300):
        for w in (1, 2, 7, 8, 17, 129, 260):
            whole = rough((h + 1, w + 1), dtype, h * 31 + w)
            for array in (whole[:h, :w], whole[:h, :w].copy(),
                          np.asfortranarray(whole), whole.T[:w, :h],
                          whole[::-1], whole[:h, ::-1]):
                assert_same(fn, (array,))
    assert_same(fn, (np.broadcast_to(whole[0], whole.shape),), native=False)


def products_of_floats(a):
    return np.prod(a), a.prod(axis=0), np.prod(a, axis=1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_floats(dtype):
    fn = accelerate(products_of_floats)
    a = (np.random.RandomState(0).rand(13, 21) * 0.2 + 0.9).astype(dtype)
    for array in (a, a[1:, ::3], a[::-1]):
        assert_same(fn, (array,))
    assert_same(fn, (a.T,), native=False)


def along_axes_of_three(a):
    return (a.sum(axis=0), a.mean(axis=1), a.sum(axis=2),
            np.sum(a, axis=(0, 1)), np.mean(a, axis=(1, 2)),
            a.mean(axis=(0, 1), keepdims=True))


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_along_axes_of_three(dtype):
    fn = accelerate(along_axes_of_three)
    for shape in ((2, 3, 4), (5, 7, 1), (9, 1, 3), (1, 9, 3), (12, 11, 3),
                  (20, 30, 40), (3, 70, 200), (130, 9, 20), (1, 1, 5)):
        whole = rough(tuple(n + 1 for n in shape), dtype, 5)
        h, w, c = shape
        assert_same(fn, (whole[:h, :w, :c],))
        assert_same(fn, (whole[:h, :w, :c].copy(),))
        assert_same(fn, (whole[:h, ::-1, :c],))
        assert_same(fn, (whole[:h, :w, :c].T,), native=False)


def along_channels_of_part(a, y, x):
    return (np.mean(a[y - 2:y + 3, x - 1:x + 2], axis=(0, 1)),
            np.sum(a[y], axis=0), a[y - 1:y + 1, x].mean(axis=1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_along_axes_of_parts(dtype):
    for channels in (1, 3, 4, 9):
        array = rough((9, 8, channels), dtype, 2)
        assert_same(accelerate(along_channels_of_part), (array, 4, 3))


def of_expressions(a, b):
    d = a * b
    return (np.sum(d), np.sum(a - b, axis=0), np.mean((a - b) ** 2),
            d.var(), np.sum(d[1:]), np.max(a * 2 - b),
            np.sum(np.zeros_like(a)), np.argmax(d, axis=0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_of_expressions(dtype):
    fn = accelerate(of_expressions)
    a, b = rough((30, 17), dtype, 1) / 1e5, rough((30, 17), dtype, 2)
    assert_same(fn, (a, b))
    assert_same(fn, (a[1:, :-1], b[:-1, 1:]))
    assert_same(fn, (a.T, b.T), native=False)
    assert_same(fn, (np.asfortranarray(a), b), native=False)


def steps(a):
    return (np.sum(a[::2]), np.sum(a[::-1, 1::3]), a[:, ::-2].mean(),
            a[1::2, :, None].var(), a[::3].max(), a[::-1].argmin())


@pytest.mark.parametrize("dtype", FLOATS)
def test_steps(dtype):
    for array in lying(rough((23, 19), dtype, 8)):
        assert_same(accelerate(steps), (array,))


def of_lists(a, b):
    return (np.argmin([a, b, a * b]), np.max((a, b)), np.sum([a, b, 1.5]),
            np.mean([a, b]), np.any([a > b, False]))


def test_lists():
    for a, b in ((1.5, 2.5), (np.float32(3), np.float32(1)), (2, 3)):
        assert_same(accelerate(of_lists), (a, b))


# --- other dtypes, variances over axes ---


def wider(f, i):
    return (np.sum(f, dtype=np.float64), f.mean(dtype=np.float64),
            np.sum(i, dtype=np.float64), i.sum(dtype=np.int32),
            i.sum(axis=0, dtype=np.uint8), np.mean(i, dtype="float64"),
            np.sum(f[1], dtype="f8"), np.sum(i, axis=1, dtype=np.float64),
            np.prod(i, dtype=np.int16))


def test_given_dtypes():
    for dtype in ("int32", "uint8", "bool", "int64"):
        for shape in ((3, 4), (20, 30), (90, 110)):
            f = rough(shape, "float32", 1)
            assert_same(accelerate(wider), (f, values(shape, dtype)))
            assert_same(accelerate(wider), (f[:, ::2], values(shape, dtype).T))


def variances_along(a):
    return (a.std(axis=0), np.var(a, axis=1), np.std(a, axis=-1, ddof=1),
            np.var(a, axis=0, ddof=1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", FLOATS + ("int32", "uint8"))
def test_variances_along_axes(dtype):
    fn = accelerate(variances_along)
    for shape in ((2, 2), (5, 7), (9, 130), (200, 3), (2, 300)):
        a = rough((shape[0] + 1, shape[1] + 1), "float64", 3)
        a = a.astype(dtype) if dtype in FLOATS else values(a.shape, dtype)
        for array in (a, a[1:, :-1], np.asfortranarray(a), a[::-1, ::2]):
            assert_same(fn, (array,))
    assert_same(fn, (a[:1],), native=False)


def of_pixels(a):
    return a.std(axis=2), a.std(axis=(0, 1)), np.var(a, axis=(1, 2))


@pytest.mark.parametrize("dtype", FLOATS + ("uint8",))
def test_variances_of_pixels(dtype):
    a = (abs(rough((12, 9, 3), "float64", 4)) / 500).astype(dtype)
    assert_same(accelerate(of_pixels), (a,))
    assert_same(accelerate(of_pixels), (a[1:, 2:],))


def by_ufuncs(a):
    return (np.add.reduce(a), np.maximum.reduce(a[0]),
            np.minimum.reduce(a, axis=1), np.logical_and.reduce(a > 0),
            np.multiply.reduce(a[:, 0]), np.add.reduce(a, axis=None))


def test_ufuncs():
    for dtype in FLOATS + ("int32",):
        a = np.random.RandomState(1).randint(1, 9, (4, 5)).astype(dtype)
        assert_same(accelerate(by_ufuncs), (a,))


def one_at_a_time(a, k):
    """`v[i:i + 1]` has one element, but which is not known."""
    v = np.array([a, a + 1, a + 2])
    total = 0.0
    for i in range(k):
        total += np.sum(v[i:i + 1])
    return total


def test_slice_of_one():
    assert_same(accelerate(one_at_a_time), (1.5, 3))
    assert_same(accelerate(one_at_a_time), (1.5, 5), native=False)
