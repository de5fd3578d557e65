"""Channels that are written one by one are written as one pixel."""
import numpy as np
import pytest

from tests.support import assert_same, layouts
from vizgen import accelerate

FIRED = "runs over the elements of whole rows"


def clear(out, a, k):
    for y in range(out.shape[0] - 1):
        for x in range(1, out.shape[1]):
            out[y, x, 0] = 0.5
            out[y, x, 1] = 0.5
            out[y, x, 2] = 0.5


def tint(out, a, k):
    """Numbers that differ, and that no round changes."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x, 2] = 0.25
            out[y, x, 0] = k
            out[y, x, 1] = -0.5


def mix(out, a, k):
    """Its own pixel, others of another array, what all channels share."""
    for y in range(1, out.shape[0]):
        for x in range(out.shape[1] - 1):
            g = a[y, x + 1, 1] * k
            gray = abs(a[y - 1, x, 0]) * 0.5
            out[y, x, 0] = out[y, x, 0] + a[y, x + 1, 0] * k + gray
            out[y, x, 1] = out[y, x, 1] + g + gray
            b = a[y, x + 1, 2] * k
            out[y, x, 2] = out[y, x, 2] + b + gray


def folded(out, a, k):
    """Branches that only compute."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            r = a[y, x, 0] - k
            if r < 0.0:
                r = -r
            g = a[y, x, 1] - k
            if g < 0.0:
                g = -g
            b = a[y, x, 2] - k
            if b < 0.0:
                b = -b
            out[y, x, 0] = r
            out[y, x, 1] = g
            out[y, x, 2] = b


def two_targets(out, a, k):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x, 0] = a[y, x, 0] * 2.0
            a[y, x, 0] = k
            out[y, x, 1] = a[y, x, 1] * 2.0
            a[y, x, 1] = k
            out[y, x, 2] = a[y, x, 2] * 2.0
            a[y, x, 2] = k


def smeared(out, a, k):
    """A channel of what the round itself has stored."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x, 0] = a[y, x, 0] * k
            out[y, x, 1] = out[y, x, 0] + a[y, x, 1] * k
            out[y, x, 2] = out[y, x, 1] + a[y, x, 2] * k


def run(out, a, k):
    """The pixel before."""
    for y in range(out.shape[0]):
        for x in range(1, out.shape[1]):
            out[y, x, 0] = out[y, x - 1, 0] * k
            out[y, x, 1] = out[y, x - 1, 1] * k
            out[y, x, 2] = out[y, x - 1, 2] * k


def swapped(out, a, k):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x, 0] = a[y, x, 2]
            out[y, x, 1] = a[y, x, 1] + 1.0
            out[y, x, 2] = a[y, x, 0]


PACKED = (clear, tint, mix, folded)
OTHERS = (two_targets, smeared, run, swapped)
SHAPES = ((7, 9), (1, 1), (2, 200), (0, 3), (3, 0), (5, 2))


def arguments(shape, channels, dtype=np.float64):
    rng = np.random.default_rng(5)
    out = (rng.random((*shape, channels)) * 4 - 2).astype(dtype)
    return out, (rng.random((*shape, channels)) * 4 - 2).astype(dtype), 0.75


@pytest.mark.parametrize("fn", PACKED + OTHERS)
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_programs(fn, dtype):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in SHAPES:
            assert_same(fast, arguments(shape, 3, dtype), native=False)
        assert_same(fast, arguments((5, 6), 4, dtype))
        assert_same(fast, arguments((5, 6), 2, dtype), native=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fn", PACKED + OTHERS)
def test_layouts_and_overlap(fn):
    fast = accelerate(fn)
    out, a, k = arguments((6, 8), 3)
    for view in layouts(out).values():
        assert_same(fast, (view, a, k), native=False)
    assert_same(fast, (a, a, k), native=False)
    assert_same(fast, (a[:, 1:], a[:, :-1], k), native=False)
    assert_same(fast, (a[:, ::-1], a, k), native=False)


@pytest.mark.parametrize("fn", PACKED)
def test_fires(fn):
    fast = accelerate(fn)
    assert FIRED in str(fast.explain(*arguments((5, 6), 3)))
    fast._set_variant("pack=0")
    assert FIRED not in str(fast.explain(*arguments((5, 6), 3)))


def test_channels_become_known():
    fast = accelerate(clear)
    for channels in (3, 4, 3, 4):
        assert_same(fast, arguments((5, 6), channels))
    assert len(fast.signatures) == 2
