"""Squares and roots by rows (transforms/rows.c) are what they are one by one.

Each program is called plain and accelerated, with rows that are shorter and
longer than a strip, and numbers of which pow must be asked.
"""
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

OPTIONS = ("", "rows=0", "parallel=0", "vectorize=0")


def apart(a, b, out):
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            d = a[r, c] - b[r, c]
            out[r, c] = d ** 2 + d


def twice(a, b, out):
    """A square of a square, and a root of it; two operands."""
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            s = (a[r, c] ** 2 + b[r, c] ** 2) ** 2
            out[r, c] = s ** 0.5 + a[r, c] ** 2


def many(a, b, out):
    """More of them than there are rows."""
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            x = a[r, c]
            y = b[r, c]
            out[r, c] = (x ** 2 + y ** 2 + (x + y) ** 2 + (x - y) ** 2
                         + (x * y) ** 2 + (x + 1.0) ** 2 + (y - 1.0) ** 2)


def in_place(a, b, out):
    """Reads what the same round writes later, and what it wrote before."""
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = out[r, c] ** 2 + a[r, c]
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] + b[r, c]
            out[r, c] += out[r, c] ** 2


def chain(a, b, out):
    """Every round reads what the one before has written."""
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            out[r, c] = (out[r, c - 1] * 0.5 + a[r, c]) ** 2


def chain_of_sums(a, b, out):
    """The same, of which a sum is taken on the way."""
    total = 0.0
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            out[r, c] = out[r, c - 1] * 0.5 + a[r, c]
            total += out[r, c - 1] ** 2
    return total


def sums(a, b, out):
    """Sums of floats, in order."""
    total = 0.0
    for r in range(a.shape[0]):
        row = 0.0
        for c in range(a.shape[1]):
            row += (a[r, c] - b[r, c]) ** 2
            total += row
        out[r, 0] = row ** 0.5
    return total


def counts(a, b, out):
    """What is gathered, and an operand that is used itself."""
    n = 0
    worst = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            d = a[r, c] - b[r, c]
            if d ** 2 > 0.25 and d < 0.5:
                n += 1
            worst = max(worst, d ** 2)
    return n, worst


def looked_up(a, b, out):
    """The index of what is loaded is checked, and comes from memory."""
    total = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            total += (a[r, int(b[r, c] * 3)] - 0.3) ** 2
        out[r, 0] = total
    return total


def carried_operand(a, b, out):
    """The operand depends on the sum so far."""
    total = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            total = total * 0.5 + (total - a[r, c]) ** 2
    return total


def until_large(a, b, out):
    total = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            total += a[r, c] ** 2
            if total > 50.0:
                break
    return total


PROGRAMS = [apart, twice, many, in_place, chain, chain_of_sums, sums, counts,
            looked_up, carried_operand, until_large]
COLUMNS = (4, 17, 63, 64, 65, 255, 256, 257, 600)


def arguments(cols, seed=0):
    rng = np.random.default_rng(seed + cols)
    return rng.random((9, cols)), rng.random((9, cols)), rng.random((9, cols))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_rows(fn, options, monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", options)
    f = accelerate(fn)
    for cols in COLUMNS:
        a, b, out = arguments(cols)
        assert_same(f, (a, b, out))
    assert_same(f, (a[:, ::-1], b[::-1], out[:, ::-1]))
    assert_same(f, tuple(map(np.asfortranarray, (a, b, out))))


@pytest.mark.parametrize("fn, n", [(apart, 1), (twice, 3), (sums, 1),
                                   (counts, 1), (chain, 0), (chain_of_sums, 0),
                                   (looked_up, 1),
                                   (carried_operand, 0), (until_large, 0)],
                         ids=lambda x: getattr(x, "__name__", None))
def test_which_are_rows(fn, n):
    text = accelerate(fn).inspect_c(*arguments(300))
    assert text.count("vz_row_") == n


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overlap():
    """Arguments that share memory: the general kernel, or one that may not
    look ahead."""
    f = accelerate(apart)
    for off in (0, 1, 5):
        for to in (0, 1, 2):
            memory = np.random.default_rng(off).random(4000)
            a = memory[:1500].reshape(5, 300)
            b = memory[off:off + 1500].reshape(5, 300)
            out = memory[to:to + 1500].reshape(5, 300)
            want = memory.copy()
            apart(want[:1500].reshape(5, 300),
                  want[off:off + 1500].reshape(5, 300),
                  want[to:to + 1500].reshape(5, 300))
            f(a, b, out)
            assert memory.tobytes() == want.tobytes()


ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e200, -1e-200, 5e-324, 1e154,
       1.3407807929942596e154, 2.0**-32, 2.0**-50, 2.0**50, -3.0)


@pytest.mark.parametrize("fn", [apart, twice, sums], ids=lambda fn: fn.__name__)
def test_odd_numbers(fn):
    f = accelerate(fn)
    rng = np.random.default_rng(8)
    for value in ODD:
        a, b, out = arguments(300)
        a[rng.integers(0, 9, 20), rng.integers(0, 300, 20)] = value
        b[2] = 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want, got = out.copy(), out.copy()
            assert repr(fn(a, b, want)) == repr(f(a, b, got))
        assert got.tobytes() == want.tobytes() or np.isnan(want).any()
        np.testing.assert_array_equal(got, want)


def test_failing_index():
    """A check that fails behind stores."""
    f = accelerate(looked_up)
    a, b, out = arguments(300)
    b[7, 299] = 1000.0
    assert_same(f, (a, b, out), native=False)
