"""Names that are one thing on one path and another on the other.

Each program runs in Python and compiled, with several layouts and sizes, and
must run natively.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def picture(shape, dtype=np.float64):
    values = np.random.RandomState(sum(shape)).uniform(0, 200, shape)
    return values.astype(dtype)


def heat(img, rounds):
    """Two buffers change places in every round."""
    now = img.copy()
    after = np.zeros_like(now)
    h, w = img.shape
    for _ in range(rounds):
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                after[y, x] = (now[y - 1, x] + now[y + 1, x] + now[y, x - 1]
                               + now[y, x + 1]) / 4
        now, after = after, now
    return now


def two_fields(img, rounds):
    """Two pairs of buffers; both are returned."""
    u, v = img.copy(), img.copy()
    u2, v2 = np.empty_like(u), np.empty_like(u)
    for _ in range(rounds):
        for y in range(img.shape[0]):
            for x in range(img.shape[1]):
                u2[y, x] = u[y, x] + 0.5 * v[y, x]
                v2[y, x] = v[y, x] - 0.5 * u[y, x]
        u, u2 = u2, u
        v, v2 = v2, v
    return u, v


def fresh_each_round(img, rounds):
    """The array made in one round is read in the next."""
    now = img.copy()
    for _ in range(rounds):
        after = np.zeros(now.shape)
        for y in range(now.shape[0]):
            for x in range(now.shape[1]):
                after[y, x] = now[y, (x + 1) % now.shape[1]] + 1
        now = after
    return now


def shrinking(img):
    """The sizes change from round to round."""
    now = img.copy()
    total = 0.0
    while now.shape[0] > 1 and now.shape[1] > 1:
        half = np.zeros((now.shape[0] // 2, now.shape[1] // 2))
        for y in range(half.shape[0]):
            for x in range(half.shape[1]):
                half[y, x] = now[2 * y, 2 * x] + now[2 * y + 1, 2 * x + 1]
                total += half[y, x]
        now = half
    return now, total


def one_of_two(img, flag):
    """Made in either branch, read after both."""
    h, w = img.shape
    if flag > 0:
        out = np.zeros((h, w))
        for y in range(h):
            out[y, 0] = img[y, 0]
    else:
        out = np.ones((w, h))
    for y in range(out.shape[0]):
        out[y, 0] += 1
    return out


def the_argument_or_a_copy(img, flag):
    """Read only; may be the caller's array."""
    src = img
    if flag > 0:
        src = img.copy()
    src2 = src if flag > 1 else img
    total = 0.0
    for y in range(src.shape[0]):
        total += src[y, 0] + src2[y, 0]
        img[y, 0] = -1
    return total


def the_old_name(img, rounds):
    """A name keeps the array that another name has left."""
    now = img.copy()
    first = now
    old = now
    for k in range(rounds):
        old = now
        now = np.full(img.shape, float(k))
        old[0, 0] += 1
    return first[0, 0], old[0, 0], now[0, 0]


def perhaps_none(img, limit):
    best = None
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > limit:
                best = np.zeros((y + 1, x + 1))
                best[y, x] = img[y, x]
    if best is None:
        return -1, -1
    return best.shape[0], best[-1, -1]


def total_of_pixels(img, rows):
    """An int that becomes a vector for colour pictures."""
    total = 0
    for y in range(rows):
        for x in range(img.shape[1]):
            total += img[y, x] * 0.5
    return total


def last_bright(img, limit):
    """None or a small array is returned."""
    best = None
    for y in range(img.shape[0]):
        if img[y, 0, 0] > limit:
            best = img[y, 0] * 2
    return best


def either_return(img, k):
    """Small arrays made in a branch and in a loop."""
    if k > 1:
        return np.ones((4, 4)), img
    for i in range(3):
        made = np.zeros((4, 4))
        made[i, i] = 1
        if i == k:
            return made, img
    return np.full((2, 3), 5.0), img


def pair_of_either(img, k):
    """Tuples of one type that hold different arrays."""
    one, two = np.zeros(img.shape), np.ones(img.shape)
    pair = (one, 1) if k > 0 else (two, 1)
    for y in range(img.shape[0]):
        pair[0][y, 0] = img[y, 0]
    if k > 1:
        return pair[0], img
    return two, img


SHAPES = ((7, 9), (1, 1), (2, 5), (0, 3), (8, 8))
PROGRAMS = [
    (heat, [(0,), (1,), (2,), (5,)]),
    (two_fields, [(0,), (1,), (4,)]),
    (fresh_each_round, [(0,), (1,), (7,)]),
    (shrinking, [()]),
    (one_of_two, [(1,), (0,)]),
    (the_argument_or_a_copy, [(0,), (1,), (2,)]),
    (the_old_name, [(0,), (1,), (3,)]),
    (either_return, [(0,), (1,), (2,), (-1,)]),
    (pair_of_either, [(0,), (1,), (2,)]),
    (perhaps_none, [(50.0,), (150.0,), (500.0,)]),
]


FAIL_EMPTY = (one_of_two, the_old_name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program, rest", PROGRAMS,
                         ids=[p.__name__ for p, _ in PROGRAMS])
def test_arrays(program, rest):
    fast = accelerate(program, strict=True)
    for shape in SHAPES:
        for img in (picture(shape), np.asfortranarray(picture(shape)),
                    picture((2 * shape[0], shape[1]))[::2, ::-1]):
            for args in rest:
                raises = 0 in shape and program in FAIL_EMPTY
                assert_same(fast, (img, *args), native=not raises)
    assert fast.stats.python_calls == 0


@pytest.mark.parametrize("dtype", (np.float64, np.float32, np.int32))
@pytest.mark.parametrize("shape", ((5, 4), (5, 4, 3), (1, 1, 4)))
def test_numbers_and_vectors(shape, dtype):
    fast = accelerate(total_of_pixels)
    img = picture(shape, dtype)
    for rows in (0, 1, shape[0]):
        assert_same(fast, (img, rows))


def test_none_or_vector():
    fast = accelerate(last_bright)
    for limit in (0.0, 100.0, 500.0):
        assert_same(fast, (picture((6, 2, 3)), limit))


def remarks(fast):
    return {(r["code"], r["line"]) for spec in fast._describe()
            for r in spec["remarks"]}


def test_exchanged_buffers_are_apart():
    """Two buffers that change places are two in every round: the loops over
    the picture are parallel and vectorised."""
    fast = accelerate(heat)
    fast(picture((20, 30)), 2)
    first = heat.__code__.co_firstlineno
    assert ("VZ-3001", first + 6) in remarks(fast)
    assert ("VZ-3003", first + 7) in remarks(fast)


def same_buffer_twice(img, rounds):
    """After the first round both names mean one array."""
    now = img.copy()
    after = np.zeros_like(now)
    for _ in range(rounds):
        for y in range(1, img.shape[0]):
            for x in range(img.shape[1]):
                after[y, x] = now[y - 1, x] + 1
        now = after
    return now


def test_names_of_one_array_overlap():
    fast = accelerate(same_buffer_twice)
    for rounds in (0, 1, 2, 5):
        assert_same(fast, (picture((9, 8)), rounds))
    first = same_buffer_twice.__code__.co_firstlineno
    assert ("VZ-3001", first + 5) not in remarks(fast)
