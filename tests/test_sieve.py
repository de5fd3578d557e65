"""Rounds in which a branch is not taken are passed over by SIMD."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

PASSED = "where it never holds, they are passed over"


def listed(a, out):
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > 0.9:
                out[n] = y * 1000 + x
                n += 1
    return n


def appended(a, out):
    found = []
    for y in range(a.shape[0]):
        for x in range(3, a.shape[1]):
            if a[y, x] > 0.9 and a[y, x - 3] < 0.5:
                found.append(x)
    return len(found), sum(found)


def computed(a, out):
    """The condition is made of names, one of them used in the branch."""
    last = -1.0
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1]):
            rise = a[y, x] - a[y, x - 1]
            if rise * rise > 0.7:
                out[x] = rise + last
                last = rise
    return last


def counted(a, out):
    """An index that only data tells."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > 0.9:
                out[int(a[y, x] * 9.5)] += 1.0
    return None


def with_loops(a, out):
    """A loop in the branch, which carries."""
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > 0.95:
                for k in range(x % 5):
                    s = s * 0.5 + k
    return s


def out_of_range(a, out):
    """The list is too short: an error in the middle."""
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > 0.5:
                out[n * 40] = x
                n += 1
    return n


def best(a, out):
    """The condition asks what was found before."""
    most = 0.0
    at = -1
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > most:
                most = a[y, x]
                at = x
                out[0] = x
    return most, at


def spread(a, out):
    """The branch writes what later conditions read."""
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1] - 9):
            if a[y, x] > 0.97:
                a[y, x + n % 9 + 1] = n % 3
                out[n % 7] = x
                n += 1
    return n


def ahead(a, out):
    """The condition asks for what was found before, in memory and not."""
    least = 0.9
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if a[y, x] > least + out[x] * 0.01:
                least = least * 0.5 + float(a[y, x]) * 0.5
                out[(x * 7) % 64] = x % 5
    return least


def at_a_carry(a, out):
    n = 0
    for x in range(min(a.size // 2, out.size)):
        if out[n] > 0.5:
            n += 1
    return n


def passed(a, out):
    """Where the branch isn't taken, something changes as well."""
    gap = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            longer = gap + 1.0
            if a[y, x] > 0.97:
                out[x] += gap
                gap = 0.0
            else:
                gap = longer
    return gap


FIRES = [listed, appended, computed, counted, with_loops, out_of_range,
         best, spread, ahead]
NONE = [at_a_carry, passed]
SIZES = [(0, 0), (1, 1), (1, 63), (2, 64), (3, 65), (2, 127), (1, 128),
         (9, 300)]


def arguments(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random(shape), rng.random(2000)


@pytest.mark.parametrize("fn", FIRES + NONE)
def test_same(fn):
    fast = accelerate(fn)
    for shape in SIZES:
        for seed in range(3):
            assert_same(fast, arguments(shape, seed), native=False)


@pytest.mark.parametrize("fn", FIRES)
def test_fires(fn):
    assert PASSED in str(accelerate(fn).explain(*arguments((30, 40))))


@pytest.mark.parametrize("fn", NONE)
def test_refused(fn):
    assert PASSED not in str(accelerate(fn).explain(*arguments((30, 40))))


def flagged(mask, a, h):
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            if mask[y, x]:
                h[a[y, x]] += 1


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.int32,
                                   np.int64, np.float32])
def test_dtypes(dtype):
    rng = np.random.default_rng(1)
    fast = accelerate(flagged)
    for share in (0.0, 0.01, 0.5, 1.0):
        mask = (rng.random((13, 201)) < share).astype(dtype)
        a = rng.integers(0, 256, mask.shape).astype(np.uint8)
        assert_same(fast, (mask, a, np.zeros(256, dtype=np.int64)))
        assert_same(fast, (mask[::-1, ::2], a[::-1, ::2],
                           np.zeros(256, dtype=np.int64)))


def test_what_is_found_is_known_to_the_next_block():
    assert_same(accelerate(ahead), arguments((9, 300)))
