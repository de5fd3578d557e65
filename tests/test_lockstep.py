"""Rounds that go side by side through a loop with an exit.

Each program is called plain and accelerated, with numbers of columns around
that of the lanes; most must have run in lockstep, the last ones must not.
"""
import math
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

OPTIONS = ("", "vectorize=0", "parallel=0")
TOGETHER = "until all have left"


def escape(rows, cols, limit):
    """Counts, with a break; the last z isn't used."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            x = c / 17.0 - 2.0
            y = r / 3.0 - 1.0
            zx = 0.0
            zy = 0.0
            n = 0
            while n < limit:
                xx = zx * zx
                yy = zy * zy
                if xx + yy > 4.0:
                    break
                zy = 2.0 * zx * zy + y
                zx = xx - yy + x
                n += 1
            out[r, c] = float(n) / limit
    return out


def escape_smooth(rows, cols, limit):
    """The last z is used."""
    out = np.zeros((rows, cols, 2))
    for r in range(rows):
        for c in range(cols):
            x = c / 17.0 - 2.0
            zx = 0.5
            zy = r / 9.0
            n = 0
            while n < limit and zx * zx + zy * zy <= 4.0:
                zx, zy = zx * zx - zy * zy + x, 2.0 * zx * zy + 0.1
                n = n + 1
            out[r, c, 0] = zx - zy
            out[r, c, 1] = n
    return out


def begun(rows, cols, limit):
    """Counts the round that ends the loop, too."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            z = c / 40.0 + r
            n = -2
            while n < limit:
                n += 1
                z = z * z - 0.5
                if z > 9.0:
                    break
            out[r, c] = n
    return out


def downwards(rows, cols, limit):
    """Counts down, and only rounds that don't end the loop."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            z = c / 40.0 + r
            left = limit
            while left > 1:
                z = z * z - 0.5
                if z > 9.0:
                    break
                left -= 3
            out[r, c] = left
    return out


def with_for(rows, cols, limit):
    """A for with a break; its variable is used behind it."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            v = c + 0.25 * r
            at = -1
            for i in range(2, limit):
                v = v * 0.75 - 0.5
                if v < 0.125:
                    at = i
                    break
            out[r, c] = at * 1000.0 + v
    return out


def march(rows, cols, limit):
    """Two loops, one behind the other, and a branch between them."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            d = math.sqrt(c + 1.0) + r
            t = 0.0
            while t < limit and d > 0.01:
                t = t + d
                d = abs(d - 0.125 * t) * 0.5
            if d > 0.005:
                step = d
            else:
                step = -d
            k = 0
            while k < 5 + c * 0.25:
                t = t - step / (k + 1)
                k += 1
            out[r, c] = t + k
    return out


def newton(rows, cols, limit):
    """Divides; the break stands in the middle."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            x = 1.0 + c
            for i in range(limit):
                y = 0.5 * (x + (r + c + 1.0) / x)
                if abs(y - x) < 1e-9:
                    break
                x = y
            out[r, c] = x
    return out


def checked(rows, cols, limit):
    """The count overflows nowhere, but nobody knows."""
    out = np.zeros((rows, cols), dtype=np.int64)
    for r in range(rows):
        for c in range(cols):
            total = r
            x = c * 0.5
            while x < limit:
                x = x * 1.5 + 1.0
                total = total + 3 * total + c
            out[r, c] = total
    return out


def raises(rows, cols, limit):
    """Divides by zero in column 40, in its third round."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            x = 3.0 + abs(c - 40)
            n = 0
            while n < limit and x < 1e6:
                x = x - 1.0
                x = x + 1.0 / x if c == 40 and n < 2 else 2.0 * x + 1.0 / x
                n += 1
            out[r, c] = 1.0 / (x - 1.0)
    return out


def exchanged(rows, cols, limit):
    """Carries that depend on each other, a bool among them."""
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            a = c * 1.0
            b = r + 0.5
            odd = False
            n = 0
            while n < limit and a + b < 500.0:
                a, b = b + 1.25, a
                odd = not odd
                n += 1
            out[r, c] = a - b if odd else b
    return out


def one_axis(rows, cols, limit):
    """Threads and lanes for the same loop."""
    out = np.zeros(rows * cols)
    for i in range(rows * cols):
        x = i * 0.01
        n = 0
        while n < limit:
            if x > 2.0:
                break
            x = x * x + 0.2
            n += 1
        out[i] = n
    return out


def from_place(rows, cols, limit):
    """Columns that don't begin at 0, elements that are read before."""
    out = np.ones((rows, cols + 5))
    for r in range(rows):
        for c in range(3, cols):
            x = out[r, c] + c * 0.5
            while x < limit:
                x = x + x * 0.25
            out[r, c] = x
    return out


def nested_breaks(rows, cols, limit):
    out = np.zeros((rows, cols))
    for r in range(rows):
        for c in range(cols):
            x = 0.001 * c
            why = 0.0
            n = 0
            while n < limit:
                x = x * 1.75 + 0.001
                if x > 1.0:
                    if r < 1:
                        why = 2.0
                        break
                    if x > 3.0:
                        why = 1.0
                        break
                n += 1
            out[r, c] = x + why * n
    return out


def fixed_parts(rows, cols, limit):
    """What has no form for lanes is the same in all rounds."""
    m = max(limit, 1) + 2
    out = np.ones((rows, cols))
    for r in range(rows):
        for c in range(cols):
            t = 0.5
            n = 0
            while n < limit and t < out[r, c] * 40.0 + c % m:
                if r % m == 0:
                    t = t * 1.5 + (r + c) // m
                else:
                    t = t + 1.25
                n += 1
            out[r, c] = t
    return out


PROGRAMS = [escape, escape_smooth, begun, downwards, with_for, march, newton,
            exchanged, one_axis, from_place, nested_breaks, fixed_parts]
SIZES = [(2, 0), (0, 40), (1, 1), (2, 3), (3, 31), (2, 32), (2, 33), (3, 100)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_lockstep(program, options):
    fn = accelerate(program)
    if options:
        fn._set_variant(options, None)
    for rows, cols in SIZES:
        for limit in (0, 1, 50):
            if program is escape and limit == 0 and rows * cols:
                continue
            assert_same(fn, (rows, cols, limit))
    assert (TOGETHER in fn.explain(2, 33, 50)) == ("vectorize" not in options)


@pytest.mark.parametrize("program,rounds", [
    (escape, 4), (begun, 4), (downwards, 4), (escape_smooth, 1)])
def test_rounds_between_two_looks(program, rounds):
    """Several where what is kept are counts."""
    text = accelerate(program).inspect_c(2, 33, 50)
    start = text.index("simd reduction")
    lanes = text[start:text.index(" live_", start)]
    tests = len(re.findall(r"const _Bool go_\w+ =", lanes))
    counts = len(re.findall(r"const int64_t \w+ = .* \+ \(int64_t\)", lanes))
    assert max(tests, counts) == rounds, lanes


def up_to(x, out, limit):
    """The counter is the loop's own, and not used behind it."""
    for i in range(x.shape[0]):
        v = x[i]
        for _k in range(2, limit):
            if v > 90.0:
                break
            v = v * 1.5 + 0.25
        out[i] = v


def one_more(x, out, limit):
    """The limit has a name in the round."""
    for i in range(x.shape[0]):
        v = x[i]
        for _k in range(1, min(limit, 60) + 1):
            if v > 90.0:
                break
            v = v * 1.0001 + 0.25
        out[i] = v


def limit_of_each(x, out, limit):
    for i in range(x.shape[0]):
        v = x[i]
        n = 0
        most = min(limit, 60) + i // 3
        while n < most:
            if v > 90.0:
                break
            v = v * 1.5 + 0.25
            n += 1
        out[i] = v * n


def by_twos(x, out, limit):
    for i in range(x.shape[0]):
        v = x[i]
        n = 0
        while n < limit:
            if v > 90.0:
                break
            v = v * 1.5 + 0.25
            n += 2
        out[i] = v * n


@pytest.mark.parametrize("program,tests", [
    (escape, 0), (up_to, 0), (one_more, 0), (limit_of_each, 1), (by_twos, 1)])
def test_rounds_that_are_counted(program, tests):
    """A counter that is the same in all lanes is not asked for in any."""
    fn = accelerate(program)
    rng = np.random.default_rng(4)
    if program is not escape:
        for limit in (-(2 ** 63), -1, 0, 1, 2, 3, 5, 6, 7, 8, 9, 50):
            for cols in (0, 1, 31, 32, 33, 70):
                x = rng.random(cols) * 100
                out, expected = np.zeros(cols), np.zeros(cols)
                fn(x, out, limit)
                program(x, expected, limit)
                assert out.tobytes() == expected.tobytes(), (limit, cols)
        assert fn.explain(x, out, 50).count("Python") == 0
        text = fn.inspect_c(x, out, 50)
    else:
        text = fn.inspect_c(2, 33, 50)
    lanes = text[text.index("simd reduction"):]
    lanes = lanes[:lanes.index(" live_")]
    assert bool(re.findall(r"const _Bool go_\w+ =", lanes)) == bool(tests), lanes


@pytest.mark.parametrize("program", [checked, raises, escape])
def test_checks_of_lanes(program):
    """What a lane does that has left fails no check; what one does that is in
    makes Python raise."""
    fn = accelerate(program)
    for cols in (30, 39, 41, 70):
        assert_same(fn, (2, cols, 9), native=program is not raises)
    assert_same(fn, (2, 70, 0), native=False)


def numpy_numbers(x, out):
    """NumPy's numbers warn: lanes that have left must not."""
    for i in range(x.shape[0]):
        v = x[i]
        n = 0
        while v < 100.0:
            v = v * v
            n += 1
            if n > 20:
                break
        out[i] = v + n


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numpy_numbers(dtype):
    fn = accelerate(numpy_numbers)
    for n in (0, 5, 64, 200):
        x = np.linspace(0.5, 3.0, n).astype(dtype)
        assert_same(fn, (x, np.zeros(n, dtype)))
    x = np.linspace(0.5, 3.0, 70).astype(dtype)
    x[7] = np.nan
    x[8] = np.inf
    x[9] = -1e30
    assert_same(fn, (x, np.zeros(70, dtype)))


def reads(a, out):
    for i in range(out.shape[0]):
        k = 0
        while a[k] < out[i]:
            k += 1
        out[i] = k


def depends(a, out):
    x = 0.0
    for i in range(out.shape[0]):
        while x < a[i]:
            x = x + 0.25
        out[i] = x


def divides(a, out):
    for i in range(out.shape[0]):
        x = i * 37 % 101 + 1
        y = 60
        while y:
            x, y = y, x % y
        out[i] = x


def guarded(a, out):
    """Only in some rounds is there such an element."""
    for i in range(out.shape[0]):
        k = 0
        x = 0.0
        while k < 5:
            if i < a.shape[0]:
                x = x + a[i]
            k += 1
        out[i] = x


@pytest.mark.parametrize("program", [reads, depends, divides, guarded])
def test_not_in_lockstep(program):
    fn = accelerate(program)
    args = np.linspace(0, 50, 90), np.arange(70.0) % 11
    assert_same(fn, args)
    if program is guarded:
        assert_same(fn, (args[0][:40], args[1]))
    assert TOGETHER not in fn.explain(*args)
