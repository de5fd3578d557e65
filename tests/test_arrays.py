"""Arrays as a whole, against NumPy: expressions, stores, functions."""
import numpy as np
import pytest

from tests.arrays import (
    DTYPES, FLOATS, INTEGERS, adder, check_program, name_of, numbers, pairs,
    singles, some,
)
from tests.support import layouts
from vizgen import accelerate

PROGRAMS = []
program = adder(PROGRAMS)


@pytest.mark.parametrize("case", PROGRAMS, ids=name_of)
def test_program(case):
    check_program(case)


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
          for left in DTYPES[1:] for right in some(DTYPES[1:])])
def promotion(a, b):
    return a + b, a * b, a < b, a == b


@program([(numbers((5, 6), dtype), scalar, 3)
          for dtype in some((*INTEGERS, *FLOATS))
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


# --- functions ---

SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.5, 0.5, 1e-3])


def special(dtype, n=67, seed=0):
    random = np.random.RandomState(seed)
    return (random.choice(SPECIAL.astype(dtype), n),
            random.choice(SPECIAL.astype(dtype), n))


@program([special(dtype) for dtype in FLOATS]
         + pairs(*INTEGERS, shapes=((40, 33),)),
         replays=len(FLOATS))  # fmin of zeros of both signs
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
