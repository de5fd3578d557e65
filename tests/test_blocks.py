"""Pictures made in blocks: what keeps blocks apart, and branches inside."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def put(src, out, block):
    """Rows of two kinds, interleaved: c // 2 and c % 2 say which."""
    for by in range(out.shape[0] // 12):
        for bx in range(out.shape[1] // 12):
            for c in range(4):
                for y in range(6):
                    for x in range(6):
                        v = src[by * 6 + y, bx * 6 + x]
                        out[by * 12 + y * 2 + c // 2,
                            bx * 12 + x * 2 + c % 2] = v * (c + 1.0)


def put_wide(src, out, block):
    """Each block begins inside of the one before: the last one counts."""
    for by in range(out.shape[0] // 12 - 1):
        for c in range(5):
            for y in range(6):
                for x in range(out.shape[1]):
                    v = src[by * 6 + y, x // 2]
                    out[by * 12 + y * 2 + c // 2, x] = v + by + c


def put_scaled(src, out, block):
    """What is added comes from memory."""
    for by in range(out.shape[0] // 12):
        for y in range(12):
            for x in range(out.shape[1]):
                off = int(block[y]) % 12
                out[by * 12 + off, x] = src[by * 6 + y // 2, x // 2] + y


def put_scaled_wide(src, out, block):
    for by in range(out.shape[0] // 12 - 1):
        for y in range(12):
            for x in range(out.shape[1]):
                off = int(block[y]) % 13
                out[by * 12 + off, x] = src[by * 6 + y // 2, x // 2] + y + by


APART = (put, put_scaled)
WIDE = (put_wide, put_scaled_wide)


def arguments(rows=60, cols=48):
    rng = np.random.default_rng(7)
    return (rng.random((rows // 2, cols // 2)), np.zeros((rows, cols)),
            rng.integers(0, 30, 12))


@pytest.mark.parametrize("fn", APART + WIDE)
def test_blocks(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for _ in range(3):
            assert_same(fast, arguments())
        assert_same(fast, arguments(24, 600))
        assert_same(fast, arguments(12, 12))
        assert_same(fast, arguments(0, 12))


@pytest.mark.parametrize("fn", APART + WIDE)
def test_which_are_apart(fn):
    text = str(accelerate(fn).explain(*arguments()))
    assert ("the rounds of `by` are independent" in text) == (fn in APART)


# --- branches that store -----------------------------------------------------

def gradient(src, out, k):
    """Both sides store to one element, the values of either computed before."""
    for y in range(1, out.shape[0] - 1):
        for x in range(1, out.shape[1] - 1):
            v = (src[y - 1, x] + src[y + 1, x]) / 2
            h = (src[y, x - 1] + src[y, x + 1]) / 2
            if abs(src[y - 1, x] - src[y + 1, x]) < abs(v - h):
                out[y, x] = v
            else:
                out[y, x] = h


def several(src, out, k):
    for y in range(out.shape[0]):
        for x in range(out.shape[1] - 1):
            if src[y, x] < k:
                out[y, x] = src[y, x]
                out[y, x + 1] = out[y, x] + 1.0
            elif src[y, x] < 2 * k:
                out[y, x] = k
                out[y, x + 1] = -k
            else:
                out[y, x] = 0.0
                out[y, x + 1] = out[y, x] + src[y, x + 1]


def moved(src, out, k):
    """One side reads what the other one has written in another round."""
    for y in range(1, out.shape[0]):
        for x in range(out.shape[1]):
            if src[y, x] < k:
                out[y, x] = out[y - 1, x] + 1.0
            else:
                out[y, x] = src[y, x]


@pytest.mark.parametrize("fn", (gradient, several, moved))
@pytest.mark.parametrize("threads", (1, 2, 5))
def test_branches(fn, threads):
    fast = accelerate(fn, threads=threads)
    src = np.random.default_rng(2).random((23, 61))
    src[4, 5] = np.nan
    for k in (0.0, 0.3, 5.0, np.nan):
        assert_same(fast, (src, np.zeros(src.shape), k))
        assert_same(fast, (src[:1, :2], np.zeros((1, 2)), k))
    assert_same(fast, (src, src, 0.3), native=False)
    assert_same(fast, (src, src[::-1], 0.3), native=False)


def test_branches_become_selects():
    text = str(accelerate(gradient).explain(np.ones((5, 9)), np.ones((5, 9)),
                                            0.5))
    assert "several rounds at a time" in text
