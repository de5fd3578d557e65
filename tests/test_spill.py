"""Small arrays whose elements are found by data lie on the stack."""
import re

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import _core, accelerate


def histogram(a, k):
    h = np.zeros(8, np.int64)
    for i in range(a.shape[0]):
        h[a[i]] += 1
    return h


def of_a_branch(a, k):
    h = np.zeros(8)
    for i in range(a.shape[0]):
        if a[i] > k:
            h[a[i]] += 0.1
            if a[i] > 5:
                h[a[i] - 5] -= 1.0
        else:
            h[0] += k
        h[1] = h[1] * 0.5
    return h


def most_common(a, k):
    """Straight code, in each of many rounds."""
    out = np.zeros(a.shape[0], np.int64)
    for i in range(2, a.shape[0]):
        c = np.zeros(8, np.int64)
        c[a[i]] += 1
        c[a[i - 1]] += 2
        c[a[i - 2]] += 1
        best = 0
        for j in range(8):
            if c[j] > c[best]:
                best = j
        out[i] = best
    return out


def sorted_by_insertion(a, k):
    out = np.zeros(a.shape[0])
    for i in range(4, a.shape[0]):
        w = np.zeros(5)
        for j in range(5):
            w[j] = a[i - j] * 0.5
        for j in range(1, 5):
            v = w[j]
            b = j - 1
            while b >= 0 and w[b] > v:
                w[b + 1] = w[b]
                b -= 1
            w[b + 1] = v
        out[i] = w[2]
    return out


def whole_vectors(a, k):
    """Read as one between changes of elements, and after the loop."""
    s = np.zeros(4)
    t = np.zeros(4)
    for i in range(a.shape[0]):
        s[a[i] % 4] += 1.5
        t = t + s * 0.25
    return t - s, s.sum()


def two(a, k):
    h = np.zeros(8, np.int32)
    g = np.zeros(8)
    for i in range(a.shape[0]):
        h[a[i]] += 1
        g[h[a[i]] % 8] += a[i]
    return h, g


def made_anew(a, k):
    out = np.zeros((a.shape[0], 4), np.int64)
    for i in range(a.shape[0]):
        c = np.zeros(4, np.int64)
        for j in range(i, min(i + 20, a.shape[0])):
            c[a[j] % 4] += j
        out[i] = c
    return out


def until_it_is_full(a, k):
    h = np.zeros(8, np.int64)
    i = 0
    while i < a.shape[0] and h[3] < 4:
        h[a[i]] += 1
        if h[a[i]] > 6:
            break
        i += 1
    return h, i


def of_an_element(a, k):
    """Where an element is stored is found in the vector itself."""
    h = np.arange(6)
    for i in range(a.shape[0]):
        h[h[a[i] % 6] % 6] = h[i % 6] + 1
    return h


def swapped(a, k):
    p = np.arange(5)
    for i in range(a.shape[0]):
        u = a[i] % 5
        v = (int(a[i]) + i) % 5
        t = p[u]
        p[u] = p[v]
        p[v] = t
    return p


ALL = [histogram, of_a_branch, most_common, sorted_by_insertion, whole_vectors,
       two, made_anew, until_it_is_full, of_an_element, swapped]


def older_one(a, k):
    """What the array was before it was changed is asked for."""
    h = np.zeros(4)
    d = 0.0
    for i in range(a.shape[0]):
        old = h + 0.0
        h[a[i] % 4] += 1.0
        d += old[a[i] % 4] + h[0]
    return h, d


def one_of_two(a, k):
    """The round ends with another vector than the changed one."""
    h = np.zeros(4)
    for i in range(a.shape[0]):
        g = h * 0.5
        g[a[i] % 4] += 1.0
        if a[i] > k:
            h = g
    return h


def counted_lanes(a, k):
    """The same lanes in all rounds: for SIMD."""
    out = np.zeros(a.shape[0])
    for i in range(8, a.shape[0]):
        w = np.zeros(9)
        for j in range(9):
            w[j] = a[i - j] * 0.5
        for p in range(9):
            for q in range(8 - p):
                if w[q] > w[q + 1]:
                    t = w[q]
                    w[q] = w[q + 1]
                    w[q + 1] = t
        out[i] = w[4]
    return out


def arguments(n, seed=0):
    return np.random.default_rng(seed).integers(0, 8, n).astype(np.uint8), 3


@pytest.mark.parametrize("fn", ALL + [older_one, one_of_two, counted_lanes],
                         ids=lambda fn: fn.__name__)
def test_same(fn):
    for opts in ("", "unroll=0", "spill=0", "general=1", "tallies=0"):
        fast = accelerate(fn)
        fast._set_variant(opts)
        for n in (0, 1, 3, 12, 700, 3000):
            assert_same(fast, arguments(n))


def test_indices_out_of_range():
    for fn in (histogram, of_a_branch, most_common):
        fast = accelerate(fn)
        for wrong in (8, 200):
            a, k = arguments(50)
            a[31] = wrong
            assert_same(fast, (a, k), native=False)


def changed(fn):
    """What pass spill makes of the function."""
    fast = accelerate(fn)
    text = _core.compile_info(fast, arguments(50), front_only=True,
                              opts="dump=*")["dump"]
    return re.search(r"after spill$", text, re.M) is not None


@pytest.mark.parametrize("fn", ALL, ids=lambda fn: fn.__name__)
def test_fires(fn):
    assert changed(fn)


def test_lanes_that_a_loop_counts_stay():
    assert not changed(counted_lanes)
