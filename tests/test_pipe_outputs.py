"""Nests that write several arrays feed others: all are computed in tiles."""
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def numbers(shape, dtype=np.float64):
    values = np.random.RandomState(5).uniform(-90, 90, shape)
    return values.astype(dtype)


def products(img):
    """Three products of gradients, each smoothed by a clamped window."""
    rows, cols = img.shape
    xx = np.zeros((rows, cols))
    yy = np.zeros((rows, cols))
    xy = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            dx = img[r, min(c + 1, cols - 1)] - img[r, max(c - 1, 0)]
            dy = img[min(r + 1, rows - 1), c] - img[max(r - 1, 0), c]
            xx[r, c] = dx * dx
            yy[r, c] = dy * dy
            xy[r, c] = dx * dy
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            a = max(r - 1, 0)
            b = min(r + 1, rows - 1)
            sx = xx[a, c] + 2 * xx[r, c] + xx[b, c]
            sy = yy[a, c] + 2 * yy[r, c] + yy[b, c]
            sz = xy[a, c] + 2 * xy[r, c] + xy[b, c]
            out[r, c] = sx * sy - sz * sz
    return out


def chained(img):
    """Two outputs feed two, and those the last."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols), dtype=np.float32)
    for r in range(rows):
        for c in range(cols):
            p[r, c] = img[r, c] * 3
            q[r, c] = img[r, c] + 1
    s = np.zeros((rows, cols))
    t = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(1, cols):
            s[r, c] = p[r, c - 1] + q[r, c]
            t[r, c] = p[r, c] - q[r, c - 1]
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(1, cols):
            out[r, c] = s[r - 1, c] * t[r, c] + t[r - 1, c]
    return out


def shifted(img):
    """All outputs lie one row and column from the loop's place."""
    rows, cols = img.shape
    p = np.zeros((rows + 2, cols + 2))
    q = np.zeros((rows + 2, cols + 2))
    for r in range(rows):
        for c in range(cols):
            p[r + 1, c + 1] = img[r, c] * 2
            q[r + 1, c + 1] = img[r, c] - 7
    out = np.zeros((rows, cols))
    for r in range(1, rows - 1):
        for c in range(1, cols - 1):
            out[r, c] = p[r, c] + q[r + 2, c + 2] + p[r + 1, c + 1]
    return out


def two_shifts(img):
    """Outputs at different places stay arrays."""
    rows, cols = img.shape
    p = np.zeros((rows + 1, cols))
    q = np.zeros((rows + 1, cols))
    for r in range(rows):
        for c in range(cols):
            p[r + 1, c] = img[r, c] * 2
            q[r, c] = img[r, c] - 7
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = p[r, c] + q[r, c]
    return out


def one_returned(img):
    """One output is seen outside."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = img[r, c] * 2
            q[r, c] = img[r, c] - 7
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = p[r - 1, c] + q[r, c]
    return out, q


def read_twice(img):
    """A second nest reads one of them."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = img[r, c] * 2
            q[r, c] = img[r, c] - 7
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = p[r - 1, c] + q[r, c]
    for r in range(rows):
        for c in range(cols):
            out[r, c] += q[rows - 1 - r, c]
    return out


def own_read(img):
    """An output that its nest reads is no stage."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            p[r, c] = img[r, c] * 2
            q[r, c] = p[r - 1, c] + 1
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = p[r - 1, c] + q[r, c]
    return out


def stored_twice(img):
    """One buffer, two stores."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = img[r, c]
            p[r, c] = p[r, c] * 2
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = p[r - 1, c] + p[r, c]
    return out


def pixels(img):
    """Small vectors beside numbers."""
    rows, cols = img.shape
    p = np.zeros((rows, cols, 3))
    q = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = np.array([1.0, 2.0, 3.0]) * img[r, c]
            q[r, c] = img[r, c] + 1
    out = np.zeros((rows, cols, 3))
    for r in range(1, rows):
        for c in range(1, cols):
            out[r, c] = p[r - 1, c] * q[r, c - 1] + p[r, c]
    return out


def powers(img):
    """Costly values: blocks are higher."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = img[r, c] ** 2 / 3.0
            q[r, c] = (img[r, c] + 1) ** 2 / 7.0
    out = np.zeros((rows, cols))
    for r in range(1, rows - 1):
        for c in range(1, cols - 1):
            out[r, c] = (p[r - 1, c - 1] + p[r + 1, c + 1] + q[r, c]
                         + q[r - 1, c + 1] - q[r + 1, c - 1])
    return out


def failing(img):
    """The reader's last row asks for what is not there."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = img[r, c] * 2
            q[r, c] = img[r, c] - 7
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            out[r, c] = p[r + 1, c] + q[r, c]
    return out


def dividing(img):
    """A check in the producer: it may fail in the first, a middle or the
    last round."""
    rows, cols = img.shape
    p = np.zeros((rows, cols))
    q = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            p[r, c] = 1.0 / float(img[r, c])
            q[r, c] = img[r, c] - 7
    out = np.zeros((rows, cols))
    for r in range(1, rows):
        for c in range(cols):
            out[r, c] = p[r - 1, c] + q[r, c]
    return out


FUSED = (products, chained, pixels, powers)
KEPT = (two_shifts, one_returned, read_twice, own_read, dividing)
SHAPES = ((20, 30), (1, 1), (2, 1), (1, 5), (3, 2), (0, 4), (4, 0), (17, 300))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", FUSED + KEPT + (shifted, stored_twice,
                                         failing),
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", ("", "parallel=0 vectorize=0 regions=0"))
def test_same_results(program, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fast = accelerate(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape in SHAPES:
            assert_same(fast, (numbers(shape),), native=False)
            assert_same(fast, (numbers(shape)[::-1, ::-1],), native=False)
        assert_same(fast, (numbers((9, 14), np.float32),), native=False)
    if program is not failing:
        assert fast.stats.python_calls == 0


@pytest.mark.parametrize("place", ((0, 0), (8, 6), (15, 12)))
def test_a_check_in_a_stage(place):
    fast = accelerate(dividing)
    img = numbers((16, 13))
    img[place] = 0.0
    assert_same(fast, (img,), native=False)


@pytest.mark.parametrize("program", FUSED, ids=lambda f: f.__name__)
def test_fused(program):
    text = accelerate(program).explain(numbers((6, 7)))
    assert "VZ-3009" in text and "VZ-3010" not in text


@pytest.mark.parametrize("program", KEPT, ids=lambda f: f.__name__)
def test_kept(program):
    assert "VZ-3009" not in accelerate(program).explain(numbers((6, 7)))


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_threads(threads):
    fast = accelerate(powers, threads=threads)
    assert_same(fast, (numbers((203, 401)),))


def again_and_again(a):
    """Each line reads the last one twice: written out, that is 2**24."""
    b = a * 0.5
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    b = np.where(b > 0, b, 0.5 - b)
    return b


def test_values_stay_small():
    fast = accelerate(again_and_again)
    a = np.linspace(-2, 2, 50)
    assert fast(a).tobytes() == again_and_again(a).tobytes()
    assert fast.stats.native_calls == 1
