"""Nests over the same rows become one loop, and what they pass on a row."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def numbers(shape, seed=1):
    return np.random.RandomState(seed).uniform(-9, 9, shape)


def looked_up(img, table):
    """The index may be out of range, or nan: a check is left."""
    rows, cols = img.shape
    mid = np.zeros((rows, cols, 2))
    for y in range(rows):
        for x in range(cols):
            k = int(img[y, x] * 3)
            if k < 0:
                k = 0
            mid[y, x, 0] = table[k] * 2.0
            mid[y, x, 1] = img[y, x] + k
    out = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            out[y, x] = mid[y, x, 0] / (mid[y, cols - 1 - x, 1] + 100.0)
    return out


def three(img, table):
    """A chain, of which the array in the middle is returned as well."""
    rows, cols = img.shape
    a = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            a[y, x] = table[int(abs(img[y, x]))] + img[y, x]
    b = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            b[y, x] = table[int(abs(a[y, x])) % 4] - a[y, x]
    c = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            c[y, x] = table[int(abs(b[y, cols - 1 - x])) % 3] * a[y, x]
    return b, c


def other_rows(img, table):
    """What is read is of a row that is written later, or was before."""
    rows, cols = img.shape
    a = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            a[y, x] = table[int(abs(img[y, x]))] + img[y, x]
    b = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            b[y, x] = a[rows - 1 - y, x] + table[int(abs(img[y, x]))]
    c = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            c[y, x] = b[max(y - 1, 0), x] + table[int(abs(img[y, x]))]
    return c


def in_place(img, table):
    """The argument itself passes rows on, and is changed again."""
    rows, cols = img.shape
    out = np.empty((rows, cols))
    for y in range(rows):
        for x in range(cols):
            img[y, x] = table[int(abs(img[y, x]))] - img[y, x]
    for y in range(rows):
        for x in range(cols):
            out[y, x] = img[y, cols - 1 - x] * 2.0
            img[y, cols - 1 - x] = table[int(abs(img[y, x])) % 5]
    return out


def between(img, table):
    """What stands between the nests needs the whole of the first."""
    rows, cols = img.shape
    a = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            a[y, x] = table[int(abs(img[y, x]))] + img[y, x]
    last = a[rows - 1, cols - 1]
    b = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(cols):
            b[y, x] = a[y, x] * last
    return b


PROGRAMS = (looked_up, three, other_rows, in_place, between)
SHAPES = ((9, 7), (1, 1), (1, 5), (6, 1), (0, 3), (4, 0))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", ("", "parallel=0 vectorize=0 regions=0"))
def test_same_as_python(program, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fast = accelerate(program)
    table = numbers(30, seed=2)
    for shape in SHAPES:
        img = numbers(shape)
        assert_same(fast, (img, table), native=False)
        assert_same(fast, (np.asfortranarray(img), table), native=False)
        assert_same(fast, (img[::-1, ::-1], table), native=False)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_raises_still_does(program):
    fast = accelerate(program)
    table = numbers(30, seed=2)
    for bad in (np.nan, np.inf, 1e300, 77.0):
        img = numbers((6, 5))
        img[3, 2] = bad
        assert_same(fast, (img, table), native=False)


@pytest.mark.parametrize("threads", (1, 2, 5))
@pytest.mark.parametrize("program", (looked_up, three, in_place),
                         ids=lambda f: f.__name__)
def test_by_threads(program, threads):
    fast = accelerate(program, threads=threads)
    assert_same(fast, (numbers((203, 150)), numbers(30, seed=2)))


def test_the_report_says_so():
    args = numbers((6, 5)), numbers(30, seed=2)
    assert "follows that of the loop" in accelerate(looked_up).explain(*args)
    assert "follows that" not in accelerate(between).explain(*args)
    text = accelerate(looked_up).inspect_c(*args)
    assert "vz_reuse" in text, "one row, made in each round"
