"""Arrays as a whole, against NumPy: expressions, stores, indexing.

Each program runs decorated and plain with arrays of several dtypes, shapes and
layouts.  Results, what became of the arguments, strides and warnings must be
equal, and the calls must have run natively unless the table says that Python
has to decide ("replays") or that the program is refused.
"""
import warnings

import numpy as np
import pytest

from tests.support import assert_same, layouts, outcome
from vizgen import accelerate

FLOATS = ("float64", "float32")
INTEGERS = ("int8", "int16", "int32", "int64",
            "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
SHAPES = ((7, 9), (1, 1), (40, 33), (0, 4), (4, 0))

PROGRAMS = []


def numbers(shape, dtype, seed=0):
    """Values of both signs; no zero."""
    random = np.random.RandomState(seed)
    kind = np.dtype(dtype).kind
    if kind == "f":
        return (random.randint(1, 900, shape) / 8
                * random.choice([1, -1], shape)).astype(dtype)
    if kind == "b":
        return random.randint(0, 2, shape).astype(bool)
    low = 1 if kind == "u" else -90
    out = random.randint(low, 120, shape).astype(dtype)
    return np.where(out == 0, 3, out).astype(dtype)


def pairs(*dtypes, shapes=SHAPES):
    """Argument lists of two arrays of one shape."""
    return [(numbers(shape, dtype, 1), numbers(shape, dtype, 2))
            for dtype in dtypes for shape in shapes]


def singles(*dtypes, shapes=SHAPES):
    return [(numbers(shape, dtype, 3),)
            for dtype in dtypes for shape in shapes]


def program(argument_lists, replays=0, refused=None):
    """Adds a function to the table; 'refused' is the code of a refusal."""
    def add(function):
        PROGRAMS.append((function, argument_lists, replays, refused))
        return function
    return add


def shapes_of(result):
    """Strides, owners and flags, which difference() does not look at."""
    if isinstance(result, tuple | list):
        return [shapes_of(item) for item in result]
    if isinstance(result, np.ndarray):
        strides = [stride for stride, n in zip(result.strides, result.shape,
                                               strict=True) if n > 1]
        return (strides if result.size else None, result.base is None,
                result.flags.owndata)
    return None


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c[0].__name__)
def test_program(case):
    function, argument_lists, replays, refused = case
    fast = accelerate(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in argument_lists:
            fast = fast if fast.stats.compiles < 7 else accelerate(function)
            before = fast.stats
            assert_same(fast, args, native=False)
            after = fast.stats
            native = after.python_calls == before.python_calls
            assert replays or refused or native, [
                d["refusal"] for d in fast._describe()]
            want = outcome(function, args)[0]
            assert shapes_of(outcome(fast, args)[0]) == shapes_of(want), args
            replays -= after.replays > before.replays
    refusals = [d["refusal"] for d in fast._describe() if d["refusal"]]
    assert replays == 0
    assert not refused or refused in refusals[0], refusals


# --- element-wise expressions ---


@program(pairs(*DTYPES))
def sums(a, b):
    return a + b, a * b, a + b * a


@program(pairs(*INTEGERS, *FLOATS))
def differences(a, b):
    return a - b, -a, +a, abs(a - b), a / b


@program(pairs(*FLOATS))
def divisions(a, b):
    return a // b, a % b, (a / b) ** 2, (a * a) ** 0.5, a ** -1, a ** 1


@program(pairs(*INTEGERS))
def whole_divisions(a, b):
    return a // b, a % b, a // 7, a % 5


@program([(np.array([[1, 0], [-128, 5]], np.int8),
           np.array([[0, 3], [-1, 2]], np.int8))])
def division_by_zero(a, b):
    return a // b, a % b


@program(pairs(*DTYPES))
def relations(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b


@program(pairs("bool", *INTEGERS))
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, ~(a & b) | a


@program(pairs(*INTEGERS))
def shifts(a, b):
    return a << 3, a >> 2, a << (b & 15), a >> (b & 15)


@program(pairs(*INTEGERS))
def powers(a, b):
    return a ** 2, b ** 3, a ** 1, b ** 0, a ** 5


@program([(numbers((5, 6), left, 1), numbers((5, 6), right, 2))
          for left in DTYPES for right in DTYPES
          if "bool" not in (left, right)])
def promotion(a, b):
    return a + b, a * b, a < b, a == b


@program([(numbers((5, 6), dtype), scalar, 3)
          for dtype in (*INTEGERS, *FLOATS)
          for scalar in (2, 2.5, np.float32(2.5), np.float64(0.1),
                         np.int16(7), np.uint8(100))])
def scalars(a, x, n):
    return a + x, x - a, a * x + n, a > x, x * 2 * a


@program([(numbers((5, 6), "uint8"), 300), (numbers((5, 6), "int8"), -129)],
         replays=2)
def number_out_of_range(a, n):
    return a + n


@program([(numbers((5, 6), dtype), n) for dtype in INTEGERS
          for n in (300, -1, -200, 70000, 2 ** 40)])
def relations_with_ints(a, n):
    return a < n, a == n, n <= a


@program([(numbers((4, 5, 6), "float64"), numbers(shape, "float64", 1))
          for shape in ((1,), (6,), (1, 1, 1), (4, 1, 6), (4, 5, 6), (1, 6),
                        (5, 1), (5, 6))])
def broadcast(a, b):
    return a + b, b - a, (a + b) * b, a > b


@program([(np.ones((2, 3)), np.ones((2, 4)))], replays=1)
def wrong_shapes(a, b):
    return a + b


@program([(numbers((40, 33), "float32"),)])
def columns(a):
    row, column = a[3], a[:, 2]
    return a - row, a * column[:, None], row[None, :] * column[:, None]


@program([(view,) for view in
          layouts(numbers((9, 8), "float64")).values()
          if "transposed" not in str(view.strides) and
          abs(view.strides[0]) > abs(view.strides[1])])
def layouts_in_rows(a):
    return a * 2.0, a + a[::-1], a.astype(np.float32), a.copy()


@program(singles("float64", "uint8", "int64"))
def named_and_used_again(a):
    b = a + 1
    c = b * a
    b = c - b
    return b, c.astype(np.float32), c.astype(np.uint16)


@program([(numbers((30, 20, 3), dtype), np.array([0.5, 2.0, 1.0]))
          for dtype in ("uint8", "float32", "float64")])
def pixels(img, gains):
    half = img * 0.5
    out = np.zeros(img.shape)
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            out[r, c] = half[r, c] * gains + img[r, c]
    return out, img * gains, half + gains[1]


def bumped(a):
    a += 1
    return a[0, 0]


@program(singles("float64", shapes=((6, 5),)))
def read_before_a_call(a):
    return (a * 2) + bumped(a), a


@program([(numbers((6, 5), "float64"), 3), (numbers((6, 5), "float64"), 0)])
def inside_of_loops(a, n):
    total = np.zeros((6, 5))
    for i in range(n):
        step = a * i + total
        total += step * 0.5
    return total


# --- stores ---


@program(pairs(*FLOATS, shapes=((7, 9), (1, 1), (3, 3), (40, 33), (2, 2))))
def stencil(a, b):
    out = np.zeros_like(a)
    out[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1]
                              + a[2:, 1:-1]) - 0.5 * b[1:-1, 1:-1]
    return out


@program(pairs(*FLOATS, shapes=((7, 9), (3, 3), (40, 33))))
def stencil_in_place(a, b):
    a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1]
                            + a[2:, 1:-1]) - 0.5 * b[1:-1, 1:-1]
    a[0, :], a[-1, :] = a[1, :], a[-2, :]
    a[:, 0] = a[:, 1]
    a[:, -1] = 2 * a[:, -2] - a[:, -3]


@program(singles(*INTEGERS, *FLOATS, shapes=((8, 10), (2, 2), (41, 34))))
def overlapping_shifts(a):
    a[1:, :] = a[:-1, :]
    a[:, :-2] = a[:, 2:]
    a[2:, 3:] += a[:-2, :-3]
    a[1:, 1:] -= a[:-1, :-1]
    a[::-1] = a
    a[:, ::2] *= a[:, 1::2]


@program(pairs(*INTEGERS, *FLOATS))
def in_place(a, b):
    a += b
    a *= 2
    a -= b * b
    b[:] = a
    b[...] = b + a


@program([(numbers((6, 5), "float32"), numbers((6, 5), "float64", 1)),
          (numbers((6, 5), "float64"), numbers((6, 5), "int32", 1)),
          (numbers((6, 5), "int16"), numbers((6, 5), "int64", 1)),
          (numbers((6, 5), "uint8"), numbers((6, 5), "float64", 1))])
def converting_stores(a, b):
    a[:] = abs(b)
    a[1] = abs(b[0]) + 1
    a[:, 2] = 7
    a[2:4, 1:3] = 3.5
    a[:, 0] = abs(b[:, 1])


@program([(numbers((6, 5), "float32"), numbers((6, 5), "float64", 1)),
          (numbers((6, 5), "int8"), numbers((6, 5), "int64", 1))])
def casting_in_place(a, b):
    a += b
    a *= b
    a[1:] -= b[:-1]


@program([(numbers((6, 5), "float64"), numbers(shape, "float64", 1))
          for shape in ((1,), (5,), (6, 1), (1, 5), (6, 5), (1, 1, 5))])
def broadcasting_stores(a, b):
    a[:] = b
    a[...] = b
    a[...] = b * 2


@program([(numbers((6, 5), "float64"), numbers(shape, "float64", 1))
          for shape in ((1,), (5,), (6, 1), (1, 5), (6, 5))])
def broadcasting_in_place(a, b):
    a += b
    a[:, :] *= b


@program(singles("float64", shapes=((6, 7),)))
def rows_in_loops(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * 0.5 + a[i]
        a[i, 1:] += a[i, :-1]
    return a


def overlapping():
    whole = numbers(60, "float64")
    return [(whole[3:-1].reshape(7, 8), whole[:-4].reshape(7, 8)),
            (whole[:-4].reshape(7, 8), whole[4:].reshape(7, 8))]


@pytest.mark.parametrize("args", overlapping())
def test_arguments_that_overlap(args):
    def shifted(a, b):
        a[1:] = b[:-1] * 2.0
        a += b
        b[...] = a

    fast = accelerate(shifted)
    for _ in range(2):
        mine = [np.lib.stride_tricks.as_strided(
            base, a.shape, a.strides) for base, a in zip(
                _shared(args), args, strict=True)]
        theirs = [np.lib.stride_tricks.as_strided(
            base, a.shape, a.strides) for base, a in zip(
                _shared(args), args, strict=True)]
        fast(*mine)
        shifted(*theirs)
        np.testing.assert_array_equal(mine[0], theirs[0])
        np.testing.assert_array_equal(mine[1], theirs[1])
    assert fast.stats.python_calls == 0


def _shared(args):
    """Copies of the arrays that overlap as they do."""
    base = args[0].base
    base = base if base.base is None else base.base
    copy = base.copy()
    start = base.__array_interface__["data"][0]
    return [copy[(a.__array_interface__["data"][0] - start) // 8:]
            for a in args]


# --- indexing ---


@program(singles(*DTYPES, shapes=((7, 9), (1, 1), (3, 4))))
def steps(a):
    return (a[::2].copy(), a[::-1, ::-1].copy(), a[1::3, :-1:2].copy(),
            a[-2::-1].copy(), a[5:1:-2].copy(), a[100::-1].copy())


@program([(numbers((7, 9), "float64"), lo, hi)
          for lo in (-20, -9, -3, 0, 2, 7, 30)
          for hi in (-20, -8, -1, 0, 3, 9, 30)])
def bounds(a, lo, hi):
    return (a[lo:hi] * 1, a[:, lo:hi] * 1, a[lo:hi:2] * 1, a[lo:hi:-1] * 1,
            a[hi::-3] * 1, a[:lo:-2] * 1, a[-3:] * 1, a[:-5, 8:] * 1,
            a[50:] * 1, a[-1:2] * 1)


@program(singles("float64", shapes=((4, 5, 6), (1, 2, 3))))
def mixed(a):
    return (a[..., 0] * 2, a[0, ...] * 2, a[..., None] * 2, a[None, 0] * 2,
            a[:, None, 1, ::-1] * 2, a[0, :, None] * a[0, 0], a[...] * 2,
            a[0, ..., 1] * 2, a[np.newaxis] * 2)


@program(singles("float64", "uint8", shapes=((7, 9), (4, 4))))
def written_through(a):
    view = a[::2, ::-1]
    view[0] = 3
    view[:, 1] += 1
    row = view[1]
    row *= 2
    last = a[-1]
    last[1:] = row[:-1]
    return view[0, 0], row[1]


@program([(np.arange(10.0), k) for k in (0, 3, 8)])
def insertion(a, k):
    best = np.full(5, 1e6)
    for v in a:
        if v < best[4]:
            pos = 4
            while pos > 0 and v < best[pos - 1]:
                pos -= 1
            best[pos + 1:] = best[pos:-1]
            best[pos] = v
    return best, best[k % 5:] * 1.0


@program([(np.arange(10.0), 3), (np.arange(10.0), 9)])
def single_column(a, k):
    m = a[:, None] * a
    return m[:, k:k + 1] * m


@program([(np.arange(12.0).reshape(3, 4), 2)])
def small_and_changed(a, k):
    v = a[0] * 2.0
    v[1:3] = a[1, :2]
    w = v
    w += 1
    v[k:] = 0.0
    return v * 1.0, w[:k] + 0.0


# --- functions ---

SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.5, 0.5, 1e-3])


def special(dtype, n=67, seed=0):
    random = np.random.RandomState(seed)
    return (random.choice(SPECIAL.astype(dtype), n),
            random.choice(SPECIAL.astype(dtype), n))


@program([special(dtype) for dtype in FLOATS]
         + pairs(*INTEGERS, shapes=((40, 33),)))
def choices(a, b):
    return (np.minimum(a, b), np.maximum(a, b), np.fmin(a, b), np.fmax(a, b),
            np.where(a > b, a, b), np.where(a, 1, b), np.where(b < 1, 7, 3))


@program([special(dtype) for dtype in FLOATS]
         + pairs("bool", *INTEGERS, shapes=((40, 33),)))
def logic(a, b):
    return (np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b),
            np.logical_not(a), np.isnan(a), np.isinf(b), np.isfinite(a),
            np.logical_and(a > 0, b > 0))


@program([(a,) for dtype in FLOATS for a in special(dtype)])
def roundings(a):
    return (np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), np.fix(a),
            np.fabs(a), np.abs(a), np.sign(a), np.square(a), np.signbit(a),
            np.negative(a), np.positive(a), np.round(a))


@program(singles("float64", "float32", shapes=((40, 33),)))
def more_functions(a):
    return (np.sqrt(np.abs(a)), np.reciprocal(a), np.round(a, 2),
            a.round(-1), np.around(a, 1), np.copysign(a, a.T[0, 0]))


@program(singles(*INTEGERS, shapes=((40, 33),)))
def whole_functions(a):
    return (np.abs(a), np.sign(a), np.square(a), np.floor(a), np.round(a, 1),
            np.invert(a), np.negative(a))


@program([special(dtype) for dtype in FLOATS])
def clipping(a, b):
    c = b + 0.25
    return (np.clip(a, -1, 1), np.clip(a, c, 2.0), np.clip(a, -1.0, c),
            np.clip(a, 0, None), np.clip(a, None, 1), a.clip(0.0, 1.0),
            a.clip(max=1.0), np.clip(a, c, c[::-1]))


@program([special("float64")], replays=1)
def clipping_at_zeros(a, b):
    return np.clip(a, b, 2.0)


@program([(numbers((20, 30), dtype), lo, hi) for dtype in INTEGERS
          for lo, hi in ((0, 100), (-5, 300), (10, 20))]
         + [(numbers((20, 30), "uint8"), 0.5, 99.5)])
def clipping_whole_numbers(a, lo, hi):
    return np.clip(a, lo, hi), a.clip(lo, hi), np.clip(a, -1000, 70)


@program(pairs("float64", "int16", "uint8", shapes=((40, 33),)))
def as_functions(a, b):
    return (np.add(a, b), np.subtract(a, b), np.multiply(a, 2),
            np.divide(a, b), np.floor_divide(a, b), np.mod(a, b),
            np.remainder(a, b), np.less(a, b),
            np.greater_equal(a, b), np.equal(a, b), np.true_divide(b, a))


@program(pairs("float64", "float32", shapes=((40, 33), (3, 3))))
def into(a, b):
    out = np.zeros(a.shape)
    np.add(a, b, out=out)
    np.multiply(out, 2, out)
    kept = np.sqrt(np.abs(out), out=out)
    kept += 1
    np.add(out[1:], out[:-1], out=out[1:])
    np.minimum(a[0], b, out=b)
    return out, kept


@program([(np.float64(2.5), np.float32(1.5), 3), (1.25, np.float64(-1.0), 0)])
def of_numbers(x, y, n):
    return (np.add(x, y), np.minimum(x, y), np.sign(x), np.square(y),
            np.clip(x, 0, 1), np.isnan(x), np.round(x, 1),
            np.maximum(n, 2), np.logical_and(x, n), np.less(x, y))


@program(singles("float64", shapes=((6, 3),)))
def of_small_parts(a):
    out = np.zeros(3)
    for r in range(a.shape[0]):
        out += np.where(a[r] > 0, a[r], -1.0) + np.maximum(a[r], a[0])
        out -= np.clip(a[r], -1, 1) * np.sign(a[r])
    return out


# --- views and shapes ---


@program([(numbers((12, 10), "float64"), r, 2) for r in (3, 7, 0, 11)])
def slices_as_values(a, r, half):
    area = (slice(r - half, r + half + 1), slice(None, None, 2))
    window = a[area]
    rows = slice(1, -1)
    t = (1, 2, 3, 4)
    return (window * 2, a[rows, 3] + 0, a[rows] + 0, a[slice(5)] * 1,
            a[..., slice(2, None)] * 1, t[::-1], t[3:0:-2], t[-2:])


@program([(numbers((5, 3), "float64"),)])
def vector_steps(a):
    v = a[1] * 2.0
    return v[::-1] + 0.0, v[::2] + 0.0, v[2:0:-1] * 1.0, v[-2:] * 1.0


@program(singles("float64", "uint8", shapes=((4, 6), (1, 1), (3, 3))))
def axes(a):
    return (np.transpose(a)[0] * 1, a.T[0] * 1, a.swapaxes(0, 1)[0] * 1,
            a.T[-1] + a[:, -1], np.expand_dims(a, 0)[0] * 1,
            (a.T * a.T)[0, 0], np.moveaxis(a, 0, 1)[0] + 0)


@program(singles("float64", shapes=((4, 6), (6, 9))))
def more_axes(a):
    return (a[:, None].squeeze(1) * 3, np.squeeze(a[None]) * 1,
            np.atleast_3d(a) + 0, np.atleast_2d(a[0]) * 1,
            np.expand_dims(a, -1) * 2, a[None].transpose(1, 0, 2) + 0)


@program(singles("float64", "int16", shapes=((6, 9), (3, 3), (9, 4))))
def shapes(a):
    return (a.reshape(-1) * 2, a.ravel() + 1, a.reshape(3, -1) * 1,
            a.flatten(), np.reshape(a, (3, -1, 1)) + 0, a.size, a.ndim,
            a.reshape((a.shape[1], a.shape[0])) * 1, np.ravel(a) - 1)


@program(singles("float64", shapes=((6, 9), (8, 8))))
def gaps(a):
    return (a[1:-1, 1:-1].ravel(), a[::2, 1:].flatten(), a[1:3].ravel() * 2,
            a[:, 0].flatten(), a[1:-1, 1:-1].reshape(-1) * 1,
            a[2].reshape(-1, 1) * 1)


@program([(numbers((6, 8), "float64"), np.zeros((6, 8)))])
def through_other_shapes(a, out):
    total = 0.0
    for v in a.ravel():
        total += v
    a.flat[3] = 7
    pairs = a.reshape(-1, 2)
    pairs[:, 1] = 5
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = a.flat[i] + i
    return total, a.flat[2], pairs[3] + 0.0


@program(singles("float64", shapes=((4, 6), (1, 1))))
def parts_returned(a):
    return a[1:-1], a[::-1, ::-2], a.T, a[0], a[None, :, 0], a[..., ::-1].T


@program(singles("float64", "int8", shapes=((4, 6),)))
def shapes_returned(a):
    out = np.zeros((4, 6))
    out[1] = a[1]
    b = a * 2
    c = b[1:3, 1:]
    c[0] = 9
    return (out.reshape(6, 4), out.T, out[1:, 2:4], out.ravel(), c, out,
            a.reshape(2, -1), a.reshape(-1, 2)[1:], b.T[1])


@program([(numbers((5, 6), "float64"), k) for k in (0, 2, 4)])
def parts_by_number(a, k):
    return a[k], a[k:k + 2], a[k::-1], a[5:2], a[:, k], a[k - 1:]


def crop(a):
    return a[1:-1, 1:-1]


@program(singles("float64", shapes=((6, 7),)))
def returned_through_a_helper(a):
    inner = crop(crop(a))
    inner += 1
    return inner, a


def test_parts_share_memory():
    fast = accelerate(parts_returned)
    a = numbers((4, 6), "float64")
    for mine, theirs in zip(fast(a), parts_returned(a), strict=True):
        assert np.shares_memory(mine, theirs)
        assert mine.base is a
        mine[...] = 1.0
    assert fast.stats.python_calls == 0


# --- arrays as indices ---


def indices(n, shape, dtype="int64", seed=5):
    random = np.random.RandomState(seed)
    low = 0 if np.dtype(dtype).kind == "u" else -n
    return random.randint(low, n, shape).astype(dtype)


@program([(numbers((10,), "float64"), indices(10, (7, 8), dtype))
          for dtype in ("int64", "uint8", "int16", "uint64")]
         + [(numbers((256,), "uint8"), numbers((7, 8), "uint8"))]
         + [(numbers((10,), "float64"), indices(10, (0, 3)))])
def tables(lut, img):
    return lut[img], lut[img] * 2, lut[img[:1]], img + lut[img][:, :1]


@program([(numbers((10,), "uint8"), indices(10, (7, 8), "uint8"))])
def table_in_place(lut, img):
    img[...] = lut[img] % 10
    img[:] = lut[img[::-1]] % 10


@program([(numbers((5, 6), "float64"), indices(5, 3), indices(6, 3))])
def pairs_of_indices(a, r, c):
    return (a[r, c], a[r], a[:, c], a[r][:, c], a[1, c], a[r, 1:3],
            a[r[:, None], c], a[..., c], a[None, r], a[r, None, c])


@program([(numbers((5, 6, 3), dtype),) for dtype in ("float64", "uint8")])
def lists_of_indices(a):
    return (a[[0, 2]], a[..., [2, 1, 0]], a[[2, -1], [0, 1]], a[:, [0, 1]],
            a[[0, 1], :, [1, 2]], a[0, :, [1, 2]])


@program([(numbers((5, 6), "float64"), indices(7, 3), 0),
          (numbers((5, 6), "float64"), indices(7, 3), 1)], replays=2)
def indices_out_of_range(a, i, k):
    a[0, 0] = 5
    if k:
        a[i + 3] = 1
    return a[i + 3]


@program(singles("float64", "int16", shapes=((5, 6), (1, 1), (0, 4), (9, 30))))
def masked(a):
    return a[a > 0.5], a[a[:1] > 0.5] if len(a) == 1 else a[a > 1e9]


@program(pairs("float64", "int32", shapes=((5, 6), (1, 1), (0, 4), (30, 7))))
def masked_stores(a, b):
    a[a > 3] = 0
    a[b > 5] += 1
    a[b > 2] = b[b > 2]
    a[a < 1] *= b[a < 1]
    b[a < b] = b[a < b] * 2 - a[a < b]
    if a.shape[1]:
        b[a[:, 0] > 3] = 7
        a[a[:, -1] > 2, 0] = 9
    return a.size


@program([(numbers((5, 6), "float64"), np.arange(6.0)),
          (numbers((5, 6), "float64"), np.ones((1, 6)))])
def rows_under_a_mask(a, row):
    a[a[:, 0] > 0] = row
    a[np.array([True, False, True, False, True])] += row


@program([(np.arange(12.0).reshape(3, 4), np.arange(5.0)),
          (np.arange(12.0).reshape(3, 4), np.arange(3.0))], replays=1)
def count_of_values(a, v):
    a[a > 8] = v
    return a


@program(singles("float64", "bool", "int8",
                 shapes=((5, 6), (1, 1), (0, 4), (30, 7))))
def positions(a):
    r, c = np.nonzero(a)
    w = np.where(a > 0)
    b = a.copy()
    b[w] = 1
    return (r, c, b, w[1], np.argwhere(a), np.flatnonzero(a),
            len(r), a.nonzero()[0] + 1)


@program([(numbers((5, 5), "float64"), indices(5, 3), value)
          for value in (2.0, numbers((3, 5), "float64"))])
def scattered(a, i, v):
    a[i] = v
    a[i] += 1
    a[i, 1:] = 0.5
    a[:, i[:2]] = 3
    a[i, i[::-1]] -= a[i, i]
    a[np.nonzero(a > 1)] = 0
    return a[i, i]


@program([(np.zeros(6), np.array([1, 3, 1, 1]), np.arange(4.0))])
def last_value_wins(a, i, v):
    a[i] = v
    a[i] += v
    a[a.astype(np.int64) % 6] = a[:1]
