"""What is known of floats: ends, and whether they may be nan.

Indices that were made of floats need no check where the float was clipped;
what nan and infinities do must stay what Python does.
"""
import math
import random

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

ODD = [0.0, -0.0, 1.0, 0.5, -1.0, 0.05, 0.95, 1.0 + 2.0 ** -52, 1e300, -1e300,
       2.0 ** 53, 5e-324, 10.0, 255.0, 0.9999999999999999, math.inf, -math.inf,
       math.nan]


def table(a, lut):
    """np.clip keeps nan."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        v = np.clip(a[i], 0, 1) * (1 / 0.1)
        k = int(v + 0.5)
        out[i] = lut[k] + k
    return out


def histogram(a, counts):
    for i in range(a.shape[0]):
        v = min(max(a[i], 0.0), 1.0)
        counts[int(v * 10)] += v


def span(a, img):
    """A disc: squares aren't negative, and their root isn't above 20."""
    for j in range(5, 45):
        width = math.sqrt(20 * 20 - (25 - j) * (25 - j))
        for i in range(int(25 - width), int(25 + width)):
            img[i, j] += a[0]
    return img


def lengths(a, lut):
    """A sum of squares has a root, whatever the numbers are."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        dx = a[i] - 1.5
        dy = lut[3] * a[i]
        out[i] = math.sqrt(dx * dx + dy * dy + abs(a[i]))
    return out


def roots(a, lut):
    """Of what may well be negative."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        out[i] = math.sqrt(a[i] * a[i] - 0.5) * lut[1]
    return out


def wholes(a, lut):
    """Integers beyond 32 bits, and clipped ones."""
    out = np.zeros((a.shape[0], 2), dtype=np.int64)
    for i in range(a.shape[0]):
        out[i, 0] = int(a[i] * 1e10)
        out[i, 1] = int(min(max(a[i] * 1e9, -3e9), 3e9))
    return out


def by_branches(a, lut):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        v = a[i]
        if v < 0.0:
            v = 0.0
        elif not v <= 10.0:
            v = 10.0
        out[i] = lut[int(v)]
    return out


def halves(a, lut):
    """Counters that are compared with floats."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        if i > 2.5 and i <= 9.0 and not i >= 8.5:
            out[i] = lut[i]
        elif i < -0.5:
            out[i] = lut[i + 100]
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", [table, by_branches, halves, lengths,
                                     wholes])
def test_tables(program, dtype):
    fn = accelerate(program)
    lut = np.arange(11).astype(dtype)
    fits = np.random.RandomState(1).uniform(-2, 12, 200).astype(dtype)
    assert_same(fn, (fits, lut))
    with np.errstate(all="ignore"):
        odd = np.array(ODD).astype(dtype)
    for value in odd:
        assert_same(fn, (np.array([value] * 10), lut), native=False)
    assert_same(fn, (fits[:0], lut))


def test_histogram():
    fn = accelerate(histogram)
    for value in ODD:
        assert_same(fn, (np.array([0.25, value]), np.zeros(11)), native=False)
        assert_same(fn, (np.array([0.25, value]), np.zeros(10)), native=False)


def test_span():
    fn = accelerate(span)
    a = np.array([2.0])
    assert_same(fn, (a, np.zeros((50, 50))))
    assert "every round" not in fn.explain(a, np.zeros((50, 50)))
    assert_same(fn, (a, np.zeros((45, 45))))
    assert_same(fn, (a, np.zeros((44, 50))), native=False)


def left_checks(text):
    lines = text.split("\n")
    return [line for line in lines if "the check of an index" in line]


def test_no_check_left():
    fn = accelerate(table)
    text = fn.explain(np.zeros(5), np.zeros(11))
    assert not left_checks(text), text
    fn = accelerate(by_branches)
    text = fn.explain(np.zeros(5), np.zeros(11))
    assert not left_checks(text), text


def test_sums_of_squares_are_not_checked():
    text = accelerate(lengths).explain(np.zeros(5), np.zeros(11))
    assert "every round" not in str(text), text


def test_roots():
    fn = accelerate(roots)
    lut = np.ones(2)
    assert_same(fn, (np.array([1.0, -2.0, 0.8]), lut))
    for value in ODD:
        assert_same(fn, (np.array([1.0, value]), lut), native=False)


def waves(a, n):
    """The sine's argument is finite; the others may be anything."""
    out = np.zeros(n)
    for i in range(n):
        out[i] = math.sin(i * 0.25) + math.cos(min(max(i, 1), 9) / 3.0)
        if math.isinf(i * 2.0) or math.isnan(i - 0.5):
            out[i] = 7.0
        if math.isfinite(float(a[i])) and not math.isnan(float(a[i]) * 0.0):
            out[i] += math.sin(float(a[i]))
    return out


def test_waves():
    fn = accelerate(waves)
    a = np.array(ODD)
    assert_same(fn, (a, len(ODD)))
    big = float(2 ** 62)
    assert_same(fn, (np.array([big, -big, math.inf, math.nan]), 4))


def sines(a):
    for i in range(a.shape[0]):
        a[i] = math.sin(float(a[i]))


def test_sines_raise():
    fn = accelerate(sines)
    for value in ODD:
        assert_same(fn, (np.array([0.5, value]),), native=False)


STEPS = ["v = v * {c}", "v = v + {c}", "v = {c} - v", "v = v / {c}",
         "v = abs(v)", "v = -v", "v = min(v, {c})", "v = max({c}, v)",
         "if v < {c}: v = {d}", "if not v <= {c}: v = {d}",
         "if v >= {c} and v <= {d}: v = {c}",
         "v = {c} if v < {d} else v", "v = {c} if not v > {d} else v",
         "if {c} < v: v = v - {d}", "v = v * v", "v = float(int(v))"]
ASKS = ["v < {c}", "v <= {c}", "v > {c}", "not v < {c}", "not v >= {c}",
        "v == {c}", "v != {c}", "i < {c}", "{c} <= i"]
NUMBERS = ["0.0", "1.0", "-1.0", "0.5", "10.0", "-3.25", "1e300", "2.5"]


def random_program(seed):
    rng = random.Random(seed)

    def filled(text):
        return text.format(c=rng.choice(NUMBERS), d=rng.choice(NUMBERS))

    lines = ["def program(a, out):", "    for i in range(a.shape[0]):",
             "        v = float(a[i])"]
    for _ in range(rng.randint(2, 7)):
        lines.append("        " + filled(rng.choice(STEPS)))
        if rng.random() < 0.5:
            lines.append(f"        if {filled(rng.choice(ASKS))}:")
            lines.append("            out[i] = out[i] * 2.0 + 1.0")
    lines.append("        out[i] += v")
    return "\n".join(lines) + "\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(40))
def test_random(seed, tmp_path):
    """One element a call, since an odd one may raise."""
    path = tmp_path / f"ranges_{seed}.py"
    path.write_text(random_program(seed))
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    program = names["program"]
    import linecache
    linecache.cache[str(path)] = (
        len(path.read_text()), None,
        path.read_text().splitlines(keepends=True), str(path))
    fn = accelerate(program)
    for value in ODD:
        a = np.array([0.5, value, 1.0])
        assert_same(fn, (a, np.zeros(3)), native=False)
