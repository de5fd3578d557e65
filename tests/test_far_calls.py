"""Rare calls out of loops (pow, polls) leave what the loops carry alone.

The loops run in order and carry more numbers than there are registers; about
one square in 34 is pow's, and a poll comes every few thousand rounds.
"""
import shutil

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def floats(a, b):
    """Float carries, each a sum in order."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = s9 = 0.0
    t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = t8 = t9 = 1.0
    for i in range(a.shape[0]):
        d = (a[i] - b[i]) ** 2
        s0 += d
        s1 += s0 * 0.5
        s2 -= s1
        s3 += s2 * 1e-3
        s4 = s3 - s4
        s5 += d * s0
        s6 = s5 - s6
        s7 += s4
        s8 = s7 * 0.5 - s8
        s9 += s8
        e = (a[i] + b[i]) ** 0.5
        t0 += e
        t1 = t0 - t1
        t2 += t1 * 0.5
        t3 = t2 - t3
        t4 += t3
        t5 = t4 * 1e-3 - t5
        t6 += t5
        t7 = t6 - t7
        t8 += t7
        t9 = t8 - t9
    return (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9,
            t0, t1, t2, t3, t4, t5, t6, t7, t8, t9)


def mixed(a, b):
    """Integers, floats and places in memory."""
    i0 = i1 = i2 = i3 = i4 = i5 = i6 = i7 = 1
    s = np.float64(0.0)
    t = 0.25
    for i in range(a.shape[0]):
        k = i % 7
        i0 = (i0 + k) & 0xFFFF
        i1 = (i1 ^ i0) + 1
        i2 = (i2 + i1) & 0xFFFFFF
        i3 = (i3 * 3 + i2) & 0xFFFF
        i4 = i3 - i4
        i5 = (i5 + i4) & 0xFFF
        i6 = i5 ^ i6
        i7 = (i7 + i6 + i) & 0xFFFFFFF
        s += a[i] ** 2 * i7
        t = t * 0.5 + float(b[i]) ** 2
        b[i] = t
    return i0, i1, i2, i3, i4, i5, i6, i7, s, t


def stops(a, b):
    """The sum decides when to stop."""
    best = 1e30
    at = 0
    for i in range(a.shape[0] - 16):
        dist = 0.0
        for k in range(16):
            dist += (a[i + k] - b[k]) ** 2
            if dist > best:
                break
        if dist < best:
            best = dist
            at = i
    return at, best


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("program", [floats, mixed, stops])
def test_carried(program, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    fn = accelerate(program)
    fn._set_variant("", compiler)
    for n in (0, 1, 17, 1000, 30000):
        random = np.random.RandomState(n)
        assert_same(fn, (random.rand(n), random.rand(n + 16)))
    tiny = np.array([0.0, 1e-160, 1e-170, 1e160, np.inf, np.nan, 1.0] * 4)
    assert_same(fn, (tiny, np.zeros(28)))


def assigned(a, out):
    """'last' is assigned before each use, so no round needs another's."""
    last = -1.0
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            last = 0.0
            for k in range(4):
                for j in range(3):
                    last += a[r, c + k] * j
            out[r, c] = last


def unassigned(a, out):
    """Here a round may do without: 'last' is that of another one."""
    last = -1.0
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            for k in range(c % 3):
                last = a[r, k]
            out[r, c] = last
    return last


@pytest.mark.parametrize("program", [assigned, unassigned])
def test_assigned_before_use(program):
    fn = accelerate(program)
    for rows, cols in ((0, 4), (3, 0), (1, 1), (5, 9)):
        a = np.random.RandomState(rows).rand(rows, cols + 4)
        assert_same(fn, (a, np.zeros((rows, cols))))
    parallel = "rounds of `r` are independent" in fn.explain(a, a[:, :9])
    assert parallel == (program is assigned)
