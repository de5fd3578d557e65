"""What a loop computes is made apart from what it does with it."""
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

FIRED = "several rounds at a time"


def toned(a, table, k):
    """A table behind a check that only data decides."""
    out = np.zeros((a.shape[0] * 2, a.shape[1] * 2))
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * k + 20.0
            i = int(np.clip(w, 0, 1023) + 0.5)
            out[y * 2, x * 2 + 1] = table[i]
    return out


def unclipped(a, table, k):
    """The index may be out of range, too."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 300.0 + (u * u - v) * k + 20.0
            out[y, a.shape[1] - 1 - x] = table[int(w)]
    return out


def in_place(a, table, k):
    """Stores that must be undone, and reads of what is stored."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * k + 20.0
            i = int(np.clip(w, 0, 1023) + 0.5)
            a[y, x] = table[i] + u
    return None


def short(a, table, k):
    """Few rounds, of which the number is known; a branch that computes."""
    out = np.zeros((a.shape[0], 24))
    for y in range(a.shape[0]):
        for c in range(2):
            for x in range(11):
                u = a[y, x + 1] * 0.5 + k
                v = a[y, x] * u + k * u * u - 0.25 * (u - k) * (u + 1.0)
                w = v * 400.0 + (u * u - v) * k + 20.0
                if w < 0.0:
                    w = -w
                i = int(min(w, 1023.0))
                out[y, x * 2 + c] = table[i]
    return out


def guarded(a, table, k):
    """A comparison of floats that keeps an index in range."""
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            u = a[y, x]
            v = u * 0.75 + k * u * u - 0.25 * (u - k) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * k + 20.0
            if float(x) >= 1024.0 or v > 1e6:
                raise ValueError("too far")
            out[y, a.shape[1] - 1 - x] = w + table[x]
    return out


PROGRAMS = (toned, unclipped, in_place, short, guarded)
BAD = (np.nan, np.inf, -np.inf, 1e300, -1e19)


def arguments(shape, bad=None, place=None, dtype=np.float64):
    a = np.random.default_rng(9).random(shape).astype(dtype)
    if place is not None:
        a.flat[place] = bad
    return a, np.linspace(0.0, 1.0, 1024), 0.3


@pytest.mark.parametrize("fn", PROGRAMS)
def test_programs(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for shape in ((3, 12), (7, 300), (1, 129), (2, 128), (0, 20),
                      (2, 3000)):
            assert_same(fast, arguments(shape), native=False)
        for bad in BAD:
            for place in (0, 7 * 150 + 3, 7 * 300 - 1):
                assert_same(fast, arguments((7, 300), bad, place),
                            native=False)


@pytest.mark.parametrize("fn", (toned, short))
def test_fires(fn):
    fast = accelerate(fn)
    assert FIRED in str(fast.explain(*arguments((7, 300))))
    fast._set_variant("fission=0")
    assert FIRED not in str(fast.explain(*arguments((7, 300))))
    assert_same(fast, arguments((7, 300)))


@pytest.mark.parametrize("fn", PROGRAMS)
def test_strided_arguments(fn):
    fast = accelerate(fn)
    a, table, k = arguments((9, 40))
    for view in (a[:, ::-1], a[::2, ::2], np.asfortranarray(a)):
        assert_same(fast, (view, table, k), native=False)
    assert_same(fast, (a, table[::-1], k), native=False)


# --- what a branch computes, ahead of it ---------------------------------------

def lit(a, out, k):
    """Stores far apart, and a call, in a branch that divides."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            d = a[y, x]
            if d > 0:
                v = (k + d) / d
                w = np.sqrt(v * v + 1.0) / (v + d)
                out[y, x, 0] = w ** 5.5
                out[y, x, 2] = v
            else:
                out[y, x, 1] = d


def lit_else(a, out, k):
    """The other side, names of the loop, and what the branch hands out."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            d = a[y, x]
            u = d * k
            if d <= 0:
                out[y, x, 0] = u
                s = -1.0
            else:
                v = (float(x) + d) / d
                s = v / (u + 1.0) + np.sqrt(v) * u
                if s > 2.0:
                    out[y, x, 2] = s
            out[y, x, 1] = s


def plain_floats(a, out, k):
    """Nobody listens to the flags of Python's floats."""
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1]):
            d = float(a[y, x])
            if d > 0.0:
                before = float(a[y, x - 1])
                v = before * d + k * d - before * before * 0.5
                w = v * v + d * 0.25 - (before + d) * (v + 1.0)
                out[y, x, 0] = w - v
                out[y, x, 1] = 0.5 * v


def looked_up(a, out, k):
    """The branch reads what the loop writes."""
    for y in range(a.shape[0]):
        for x in range(1, a.shape[1]):
            d = a[y, x]
            u = out[y, x - 1, 0] + d
            if d > 0:
                v = (k + u) / d
                out[y, x, 0] = np.sqrt(v * v + 1.0) / (v + d) - u


def vectors(a, out, k):
    """Small vectors go from one loop to the other, and a check fails."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            p = np.array([float(x), float(y), a[y, x]]) * k
            p /= np.sqrt(np.dot(p, p) + 1.0)
            if a[y, x] > 0:
                q = (p + 1.0) / a[y, x]
                q -= p * np.dot(p, q)
                s = np.dot(q, q)
                if s == 1.0:
                    raise ValueError("one")
                out[y, x, 1] = s ** 1.5


def viewed(a, out, k):
    """A view that each round makes."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            row = a[y:y + 1].reshape(a.shape[1])
            d = row[x]
            if d > 0:
                v = (k + d) / d
                w = np.sqrt(v * v + 1.0) / (v + d)
                out[y, x, 0] = w ** 5.5
                out[y, x, 2] = v


def by_place(a, out, k):
    """Rounds that take the branch are not the one that divides by zero."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            d = a[y, x]
            if d > 0:
                v = d / (float(x) - 5.0) + (k + d) / d
                w = np.sqrt(v * v + 1.0) / (d + k)
                out[y, x, 0] = w ** 5.5


def short_rows(a, out, k):
    """Few rounds, of which the number is known, in a `while`."""
    y = 0
    while y < a.shape[0] and a.shape[1] >= 40:
        for x in range(40):
            d = a[y, x]
            if d > 0:
                v = (k + d) / d
                w = np.sqrt(v * v + 1.0) / (v + d)
                out[y, x, 0] = w ** 5.5
                out[y, x, 2] = v
        y += 1


def two_branches(a, out, k):
    """The second one is worth it; checks and stores stand before it."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            d = a[y, x]
            if d > 4:
                raise ValueError("too large")
            if d < 0:
                out[y, x, 1] = d
            e = d * k
            if d > 0:
                v = (k + e) / d + float(x)
                out[y, x, 0] = np.sqrt(v * v + 1.0) / (v + d) ** 1.5
            out[y, x, 2] = e


BRANCHES = (lit, lit_else, plain_floats, looked_up, vectors, viewed,
            by_place, short_rows, two_branches)


def branch_arguments(shape, share, zeros, dtype=np.float64):
    """Of all rounds a "share" takes the branch; the others divide by zero, or
    take roots of what is negative, if they do all the same."""
    rng = np.random.default_rng(3)
    a = rng.random(shape) + 0.5
    a[rng.random(shape) >= share] = 0.0 if zeros else -2.0
    return a.astype(dtype), np.full(shape + (3,), 7.0), 1.25


@pytest.mark.parametrize("fn", BRANCHES)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_branches(fn):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for share in (0.0, 0.05, 0.3, 0.9, 1.0):
            for shape in ((3, 12), (4, 300), (1, 129), (2, 128), (0, 20),
                          (3, 0), (1, 1)):
                for dtype in (np.float64, np.float32):
                    args = branch_arguments(shape, share, share < 0.5, dtype)
                    assert_same(fast, args)
    args = branch_arguments((5, 300), 0.7, False)
    args[0][3, 130:] = np.nan
    args[0][2, 5] = np.inf
    assert_same(fast, args, native=False)


@pytest.mark.parametrize("fn,fires", list(zip(
    BRANCHES, (1, 1, 1, 0, 1, 0, 1, 1, 1), strict=True)))
def test_branch_fires(fn, fires):
    fast = accelerate(fn)
    args = branch_arguments((5, 300), 0.7, False)
    assert ("taken_" in fast.inspect_c(*args)) == bool(fires)
    fast._set_variant("fission=0")
    assert "taken_" not in fast.inspect_c(*args)
    assert_same(fast, args)


def test_rounds_in_vain_do_not_warn():
    """What they would divide by is zero."""
    for fn in (lit, lit_else, vectors, by_place):
        fast = accelerate(fn)
        args = branch_arguments((5, 300), 0.7, True)
        args[0][:, 5] = 0.0
        assert_same(fast, args)
        assert fast.stats.compiles == 1, "a second kernel was asked"


@pytest.mark.parametrize("cols,lanes", [(20, 4), (22, 0), (24, 0), (4, 4),
                                        (28, 4)])
def test_lanes_that_leave_no_round_over(tmp_path, cols, lanes):
    """In a loop of so many rounds that notes whether one failed."""
    text = f"""
def rows(a, table):
    out = np.zeros((a.shape[0], {cols} * 2))
    for y in range(a.shape[0]):
        for x in range({cols}):
            u = a[y, x]
            v = u * 0.75 + 0.3 * u * u - 0.25 * (u - 0.3) * (u + 1.0)
            w = v * 400.0 + (u * u - v) * 0.3 + 20.0
            out[y, x * 2] = table[int(np.clip(w, 0, 1023) + 0.5)]
    return out
"""
    path = tmp_path / "rows.py"
    path.write_text(text)
    names = {"np": np}
    exec(compile(text, str(path), "exec"), names)
    fast = accelerate(names["rows"])
    a, table, _ = arguments((7, 300))
    found = re.findall(r"simdlen\((\d+)\)", fast.inspect_c(a, table))
    assert [int(n) for n in found] == ([lanes] if lanes else [])
    assert_same(fast, (a, table))
    a[3, 1] = np.nan
    assert_same(fast, (a, table), native=False)
