"""Arrays of which only one question is asked are kept as its answers."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

KEPT = "only the answers to a condition are kept"


def detector(a, k):
    det = np.zeros(a.shape)
    trace = np.zeros(a.shape)
    count = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            det[y, x] = a[y, x] * a[y, x] - 0.2
            trace[y, x] = a[y, x] + 0.1
            if det[y, x] - k * trace[y, x] > 0.1:
                count += 1
    found = np.zeros((count, 2))
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if det[y, x] - k * trace[y, x] > 0.1:
                found[n, 0] = y
                found[n, 1] = x
                n += 1
    return found


def asked_twice(a, k):
    """By two loops, at other places of their own."""
    level = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] * 3.0 - k
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if level[y, x] > 1.0:
                n += x
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1]):
            if level[y - 1, x] > 1.0:
                n -= y
    return n


def two_questions(a, k):
    level = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] * 3.0 - k
    out = np.zeros(a.shape)
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if level[y, x] > 1.0:
                n += x
            if level[y, x] < 0.5 or x == 3:
                n *= 3
                n %= 1001
            out[y, x] = n
    return out


def made_in_a_loop(a, k):
    """Anew in each round, and asked with what the round knows."""
    total = 0
    for i in range(3):
        level = np.zeros(a.shape)
        for y in range(a.shape[0]):
            for x in range(a.shape[1]):
                level[y, x] = a[y, x] * i - k
        for y in range(a.shape[0]):
            for x in range(a.shape[1]):
                if level[y, x] > 0.3 * i:
                    total = (total * 3 + x) % 1001
    return total


def by_columns(a, k):
    """Stored by one order of loops, asked by the other."""
    level = np.empty(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] - k
    n = 0
    for x in range(a.shape[1]):
        for y in range(a.shape[0]):
            if level[y, x] > 0.2:
                n = (n * 5 + y) % 1009
    return n


def returned_too(a, k):
    level = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] - k
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if level[y, x] > 0.2:
                n = (n * 5 + y) % 1009
    return n, level


def used_too(a, k):
    level = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] - k
    s = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if level[y, x] > 0.2:
                s = s * 0.5 + level[y, x]
    return s


def late_threshold(a, k):
    """The limit is known only when all is stored."""
    level = np.zeros(a.shape)
    top = 0.0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] - k
            top = max(top, float(a[y, x]))
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if level[y, x] > top * 0.5:
                n = (n * 5 + y) % 1009
    return n


def stored_again(a, k):
    """The second nest changes one of the two arrays alone."""
    u = np.zeros(a.shape)
    v = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u[y, x] = a[y, x] - k
            v[y, x] = a[y, x] * a[y, x]
    for y in range(a.shape[0]):
        for x in range(0, a.shape[1], 2):
            v[y, x] = 0.1
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if u[y, x] > v[y, x]:
                n = (n * 5 + y) % 1009
    return n


def elsewhere(a, k):
    """Two elements that lie apart."""
    u = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u[y, x] = (a[y, x] - k) * 3.0
    n = 0
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1]):
            if u[y, x] > u[y - 1, x]:
                n = (n * 5 + y) % 1009
    return n


def divided(a, k):
    """NumPy's quotient warns where it is computed, and only there."""
    u = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u[y, x] = a[y, x] - a[y, 0]
    n = 0
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1]):
            if 1.0 / u[y, x] > k:
                n = (n * 5 + y) % 1009
    return n


def constant(a, k):
    """Squares that overflow: a warning, though all is known beforehand."""
    u = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u[y, x] = 1e300 if x == 3 else a[y, x]
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if u[y, x] * u[y, x] > k:
                n = (n * 5 + y) % 1009
    return n


FIRES = [detector, asked_twice, made_in_a_loop, by_columns]
NONE = [returned_too, used_too, late_threshold, stored_again, elsewhere,
        divided, two_questions, constant]
SIZES = [(0, 0), (1, 1), (2, 5), (3, 0), (7, 64), (29, 65), (8, 200)]


def picture(shape):
    return np.random.default_rng(3).random(shape)


@pytest.mark.parametrize("fn", FIRES + NONE)
def test_same(fn, monkeypatch):
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    for threads in (1, 2):
        fast = accelerate(fn, threads=threads)
        for shape in SIZES:
            for k in (0.05, 0.6):
                assert_same(fast, (picture(shape), k), native=False)


@pytest.mark.parametrize("fn", FIRES)
def test_fires(fn):
    assert KEPT in str(accelerate(fn).explain(picture((30, 40)), 0.05))


@pytest.mark.parametrize("fn", NONE)
def test_refused(fn):
    assert KEPT not in str(accelerate(fn).explain(picture((30, 40)), 0.05))


def never_written(a, k):
    """np.empty: whatever lies there, the answer is yes or no."""
    level = np.empty(a.shape)
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1]):
            level[y, x] = a[y, x] - k
    n = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if level[y, x] > 0.2:
                n += 1
    return n


def test_elements_that_are_never_written():
    a = picture((30, 40))
    fast = accelerate(never_written)
    for _ in range(5):
        below = int((a[1:] - 0.1 > 0.2).sum())
        assert below <= fast(a, 0.1) <= below + 40
