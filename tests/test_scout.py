"""Checks that follow stores are made before them, in loops of their own.

Where one fails, nothing has been stored yet, and Python does the call: its
exception, the user's line and what it leaves in the arrays must be those of
Python from the first, a middle and the last round, however many threads run.
"""
import math

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

ROWS, COLS = 40, 300
FIRED = "before anything is stored"
KEPT = "VZ-3013"


def bars(out, heights, scale):
    """One bar a column; how long it is is known in the loop only."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = 0.5
    for x in range(out.shape[1]):
        end = int(float(heights[x]) / float(scale[x]))
        for y in range(end):
            out[y, x] = x + 1.0


def chosen_bars(out, heights, scale):
    """Ends that the sides of branches compute."""
    for x in range(out.shape[1]):
        if x % 3 == 1:
            end = int(float(heights[x]) * 0.5 / float(scale[x]))
        elif scale[x] > 2.0:
            end = 2
        else:
            end = int(float(heights[x]) / float(scale[x])) - 1
        for y in range(1, end):
            out[y, x] = y - 1.0


def stairs(out, heights, scale):
    """What a loop carries decides, and whether it ends early."""
    total = 0.0
    for x in range(out.shape[1]):
        total = total * 0.5 + float(heights[x])
        if total < 0.0:
            break
        end = int(total / float(scale[x]))
        for y in range(end):
            out[y, x] = total


def checked(out, heights, scale):
    """Errors that the program itself raises."""
    for x in range(out.shape[1]):
        for y in range(out.shape[0]):
            out[y, x] = 0.25
    for x in range(out.shape[1]):
        if heights[x] > 1000.0:
            raise ValueError("too high")
        if scale[x] == 0.0:
            raise ZeroDivisionError
        end = min(int(heights[x]), out.shape[0])
        for y in range(end):
            out[y, x] += scale[x]


PROGRAMS = {f.__name__: f for f in (bars, chosen_bars, stairs, checked)}
BAD = {
    "index": (1e3, 1.0),
    "index of a large scale": (-8e3, 100.0),
    "zero division": (4.0, 0.0),
    "overflow": (np.inf, 1.0),
    "value": (np.nan, 1.0),
    "huge": (1e300, 1e-300),
    "beyond 64 bits": (1e19, 1.0),
}


def arguments(bad, place):
    rng = np.random.default_rng(3)
    heights = rng.integers(0, 18, COLS).astype(float)
    scale = np.full(COLS, 1.0)
    if place is not None:
        heights[place], scale[place] = BAD[bad]
    return np.full((ROWS, COLS), -1.0), heights, scale


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", PROGRAMS)
def test_failing_check(name, bad):
    for threads in (1, 2, 5):
        fast = accelerate(PROGRAMS[name], threads=threads)
        assert_same(fast, arguments(bad, None))
        for place in (0, COLS // 2 + 1, COLS - 1):
            assert_same(fast, arguments(bad, place), native=False)
        assert_same(fast, arguments(bad, None))


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_kept(name):
    fast = accelerate(PROGRAMS[name])
    text = str(fast.explain(*arguments(None, None)))
    assert FIRED in text and KEPT not in text


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", ((0, 4), (4, 0), (1, 1), (3, 2)))
def test_small_arrays(name, shape):
    fast = accelerate(PROGRAMS[name])
    for height in (0.0, 1.0, 2.0, 7.0):
        heights = np.full(shape[1], height)
        args = np.zeros(shape), heights, np.ones(shape[1])
        assert_same(fast, args, native=False)


def test_arguments_that_overlap():
    """The scout reads what the loops would have written."""
    fast = accelerate(bars)
    for threads in (1, 5):
        fast = accelerate(bars, threads=threads)
        for row in (0, 3, ROWS - 1):
            out, _, scale = arguments(None, None)
            out[:] = np.arange(COLS) % 7
            assert_same(fast, (out, out[row], scale), native=False)
            assert_same(fast, (out[:, ::-1], out[row], scale), native=False)
            assert_same(fast, (out, scale, out[row]), native=False)


# --- no scout ----------------------------------------------------------------

def own_ends(out, heights, scale):
    """What is checked depends on what was stored."""
    for x in range(out.shape[1]):
        out[0, x] = heights[x]
        end = int(float(out[0, x - 1]) / float(scale[x]))
        for y in range(1, end):
            out[y, x] = x + 1.0


def made_ends(out, heights, scale):
    """What is checked is in memory that is made in the call."""
    ends = np.zeros(out.shape[1])
    for x in range(out.shape[1]):
        ends[x] = heights[x] * 0.5
    for x in range(out.shape[1]):
        end = int(float(ends[x]) / float(scale[x]))
        for y in range(end):
            out[y, x] = x + 1.0


def scattered(out, heights, scale):
    """To look first would take as long as the loop itself."""
    for x in range(out.shape[1]):
        for y in range(out.shape[0]):
            out[y, int(heights[x])] += scale[x]


NO_SCOUT = {f.__name__: f for f in (own_ends, made_ends)}


@pytest.mark.parametrize("name", NO_SCOUT)
def test_old_values_are_kept(name):
    text = str(accelerate(NO_SCOUT[name]).explain(*arguments(None, None)))
    assert FIRED not in text and KEPT in text


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("fn", (own_ends, made_ends, scattered))
def test_without_a_scout(fn, bad):
    for threads in (1, 2, 5):
        fast = accelerate(fn, threads=threads)
        for place in (None, 0, COLS // 2 + 1, COLS - 1):
            assert_same(fast, arguments(bad, place), native=False)


def test_switch():
    fast = accelerate(bars)
    fast._set_variant("scout=0")
    assert_same(fast, arguments(None, None))
    assert_same(fast, arguments("index", COLS - 1), native=False)
    assert FIRED not in str(fast.explain(*arguments(None, None)))


def to_bytes(img, out, scale):
    """Conversions that any number may forbid; in lanes, the looking is short."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = float(img[y, x]) * 255.0 * scale
            out[y, x] = int(min(max(v, 0.0), 255.0))


def counted(img, out, scale):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[int(img[y, x] * scale), 0] += 1


def by_values(img, out, scale):
    """The index is what is in memory."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[int(img[y, x]), 1] += 1


def rooted(img, out, scale):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = int(math.sqrt(img[y, x]) * scale)


ODD = [None, math.nan, math.inf, -math.inf, 1e300, -1e300, -0.6, 20.5]


@pytest.mark.parametrize("fn", (to_bytes, counted, by_values, rooted))
def test_by_lanes(fn):
    """Python's exceptions, and its stores before them, wherever it is odd."""
    for dtype in (np.float64, np.float32):
        fast = accelerate(fn)
        for odd in ODD:
            for place in (0, 77, 129):
                img = np.random.default_rng(1).random((10, 13)).astype(dtype)
                if odd is not None:
                    with np.errstate(over="ignore"):
                        img[divmod(place, 13)] = odd
                out = np.zeros((10, 13), dtype=np.int64)
                assert_same(fast, (img, out, 1.0), native=False)
    fresh = accelerate(fn)
    assert FIRED in str(fresh.explain(np.zeros((10, 13)), out, 1.0))


def cut(img, out):
    for i in range(img.shape[0]):
        out[i] = int(img[i])


def cut_products(img, out):
    for i in range(img.shape[0]):
        out[i] = int(img[i] * 1.5 - 0.25)


ENDS = [-0.0, -0.5, -0.9999999, -1.0, -1.0000001, 255.5, 255.99999, 256.0,
        127.9, 128.0, -128.5, -129.0, 32767.999, 32768.0, -32768.9, -32769.0,
        65535.9, 65536.0, 3e9, -3e9, 2.0 ** 53, 9.3e18, -2.0 ** 63, 1e300,
        math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16,
                                   np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("program", [cut, cut_products])
def test_what_floats_are_cut_to(program, dtype):
    """A limit of the integer is asked of the float."""
    fast = accelerate(program)
    for of in (np.float64, np.float32):
        for end in ENDS:
            for place in (0, 7, 18):
                img = np.arange(19).astype(of)
                with np.errstate(over="ignore"):
                    img[place] = end
                out = np.full(19, 3, dtype)
                assert_same(fast, (img, out), native=False)
    fresh = accelerate(program)
    fresh(np.arange(19.0), np.zeros(19, np.uint8))
    assert "vz_lt(-1.0, " in fresh.inspect_c()


def looked_up(a, b, out):
    """What is loaded behind a check of its place is not loaded in lanes."""
    for i in range(out.shape[0]):
        k = a[i]
        out[i] = int(b[k])


def test_places_that_are_checked():
    fast = accelerate(looked_up)
    for bad in (None, 3, 10 ** 12, -10 ** 12):
        a = np.arange(50) % 3
        if bad is not None:
            a[30] = bad
        for b in (np.array([0.5, 2.5, 3.5]), np.array([0.5, math.nan, 1.0])):
            assert_same(fast, (a, b, np.zeros(50, dtype=np.int64)),
                        native=False)


# --- what has few values ---------------------------------------------------------

def by_byte(img, table, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = table[img[y, x]]


def tallied(img, table, out):
    """Two tables, one of them written."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[img[y, x] % 7, 0] += table[img[y, x]]


def by_odd_place(img, table, out):
    """An index of more values than the dtype's."""
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = table[img[y, x] * np.int64(2) + 1]


@pytest.mark.parametrize("program", [by_byte, tallied, by_odd_place])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16])
def test_few_values(program, dtype):
    """Tables just long enough, one too short, and far too short ones, of which
    the first entries are all that is asked for."""
    fn = accelerate(program)
    most = int(np.iinfo(dtype).max)
    rng = np.random.default_rng(5)
    for size in (most + 1, most, most + 2, 2 * most + 2, 2 * most + 1, 40, 0):
        for top in (most, 12):
            img = rng.integers(0, top + 1, (9, 70)).astype(dtype)
            img[4, 33] = top
            args = img, rng.random(size), np.zeros((9, 70))
            assert_same(fn, args, native=False)
            img[4, 33] = np.iinfo(dtype).min
            assert_same(fn, args, native=False)


def handed_on(table, first, second):
    """A nest of which the next one uses what it found."""
    most = 0
    for i in range(first.shape[0]):
        most = max(most, int(first[i]))
        table[int(first[i])] += 1.0
    for i in range(second.shape[0]):
        table[max(most, int(second[i]))] = 2.0


@pytest.mark.parametrize("size", [256, 255, 40, 10])
def test_few_values_handed_on(size):
    fn = accelerate(handed_on)
    rng = np.random.default_rng(5)
    for top in (9, 39, 255):
        args = (np.zeros(size), rng.integers(0, top + 1, 70).astype(np.uint8),
                rng.integers(0, top + 1, 50).astype(np.uint8))
        assert_same(fn, args, native=top < size - 1 or size == 256)


def test_few_values_are_asked_for_once():
    args = np.zeros((9, 70), np.uint8), np.zeros(256), np.zeros((9, 70))
    assert "<= 255) {" in accelerate(by_byte).inspect_c(*args)
