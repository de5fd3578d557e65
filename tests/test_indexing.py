"""Parts of arrays, against NumPy: slices, views, arrays as indices, masks."""
import numpy as np
import pytest

from tests.arrays import DTYPES, adder, check_program, name_of, numbers, pairs, singles
from vizgen import accelerate

PROGRAMS = []
program = adder(PROGRAMS)


@pytest.mark.parametrize("case", PROGRAMS, ids=name_of)
def test_program(case):
    check_program(case)


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
