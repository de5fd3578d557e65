"""Names that change their type on one path: what follows is compiled for
each."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def scaled(img, color):
    """An int array on one path, a float array on the other."""
    color = np.array([color, 10, 255])
    if np.max(img) <= 1:
        color = color / 255.0
    out = np.zeros(img.shape)
    for r in range(img.shape[0]):
        out[r] = img[r] * color
    out[0] = color * 2
    return out


def scalar(img, color):
    """An int or a float of NumPy's."""
    level = np.max(np.array([color, 3]))
    if img[0, 0] < 0.5:
        level = level / 2
    level = level // 2 * 2
    img[0] = level
    return img


def ranks(a, n):
    """A row, a column sum, or all of it."""
    if a[0, 0] > 2.0:
        part = a[0]
    elif a[0, 0] > 1.0:
        part = a[0, 0]
    else:
        part = a
    out = np.zeros(a.shape)
    out[:] = part * 2.0
    return out + n


def nested(a, n):
    """The name is read after two blocks."""
    x = 1
    if a[0, 0] > 1.0:
        n += 1
        if a[0, 1] > 1.0:
            x = a[0] + n
    n += 2
    return np.sum(x * a) + n


def in_loop(a, n):
    """Every round anew, with continue and break after it."""
    total = 0.0
    for r in range(a.shape[0]):
        if a[r, 0] > 1.5:
            v = a[r]
        elif a[r, 0] > 2.5:
            v = 3
        else:
            v = a[r, 0]
        if r == n:
            continue
        total += np.sum(a[r] - v)
        if total > 6.0:
            break
    return total, r


def early(a, n):
    """One of the paths returns."""
    if a[0, 0] > 2.0:
        v = a[0]
    elif a[0, 0] > 1.0:
        return a * 3
    else:
        v = 7
    a[0] = v
    v = n
    return a * v


def helper(a, flag):
    if flag > 0.5:
        a = a[0]
    return np.sum(a * a)


def called(a, n):
    """In a function that is inlined."""
    return helper(a, a[0, 0]) + helper(a, a[0, 1]) * n


def images():
    for seed in range(6):
        yield np.random.RandomState(seed).uniform(0, 3, (5, 3))


@pytest.mark.parametrize("fn", (scaled, scalar, ranks, nested, in_loop, early,
                                called), ids=lambda fn: fn.__name__)
def test_same(fn):
    fast = accelerate(fn)
    for img in images():
        for n in (0, 2, 30):
            for a in (img, img / 3.0, np.ones_like(img), img * 0.0):
                assert_same(fast, (a, n), native=False)
    assert fast.stats.python_calls == 0, fast.explain(img, 2)
    assert fast.stats.native_calls > fast.stats.replays


def too_many(a, n):
    if a[0, 0] > 1.0:
        x = a[0]
    else:
        x = 1
    for i in range(n):
        if a[0, 1] > i:
            x = a
        else:
            x = x * 2
    return np.sum(x)


def test_refused():
    """A conflict that a loop carries on is still one."""
    fast = accelerate(too_many)
    for img in images():
        assert_same(fast, (img, 300), native=False)
