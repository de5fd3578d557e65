"""Sorting with keys, searching in lists and products of iterables, compared
with CPython's."""
import itertools
from itertools import product

import numpy as np
import pytest

from tests.lists import adder_with_replays, check_native
from tests.support import assert_same
from vizgen import accelerate
from vizgen.errors import CompileError

PROGRAMS = []
program = adder_with_replays(PROGRAMS)


FEW = np.random.RandomState(0).randint(0, 5, 40)
MORE = np.random.RandomState(1).randint(0, 5, 40).astype(float)


# --- keys ---


@program((FEW, MORE), (FEW[:5], MORE[:5]), (FEW[:17], MORE[:17]),
         (FEW[:1], MORE[:1]), (FEW[:0], MORE[:0]), replays=1)
def by_keys(a, b):
    found = []
    for i in range(len(a)):
        found.append((i, a[i], b[i]))
    one = sorted(found, key=lambda t: t[1])
    found.sort(key=lambda t: (t[2], -t[1]), reverse=True)
    two = sorted(found, key=lambda t: -t[0])
    return (one, found, two, min(found, key=lambda t: t[1]),
            max(found, key=lambda t: t[2]), max(found, key=lambda t: -t[0]))


@program((MORE,), (np.array([3.0, -0.0, 0.0, 2.0]),), (np.zeros(0),),
         (np.array([np.nan, 2.0, 3.0]),), replays=1)
def of_numbers(a):
    kept = [v for v in a if v >= 0 or v != v]
    other = list(kept)
    kept.sort(key=abs)
    return (kept, sorted(other, key=lambda v: -v),
            sorted(other, key=lambda v: v % 2, reverse=True),
            sorted((v * 2 for v in a), key=lambda v: v % 3),
            sorted(a, key=lambda v: -v))


def distance(point):
    return point[0] ** 2 + point[1] ** 2


@program((7,), (1,))
def by_a_function(n):
    points = []
    for i in range(n):
        points.append((i * 5 % 7 - 3, i * 3 % 7 - 3))
    points.sort(key=distance)
    nearest = min(points, key=distance)
    farthest = max((p for p in points if p[0] <= 3), key=distance)
    return points, nearest, farthest


@program((40,), (3,), (1,))
def with_arrays(n):
    found = []
    for i in range(n):
        found.append((i * 7 % 5, np.full(i + 1, 1.0 * i)))
    found.sort(key=lambda t: t[0])
    total = 0.0
    for k, v in found:
        total = total * 2 + k + v[0] + len(v)
    best = max(found, key=lambda t: t[1].sum())
    return total, best[0], best[1]


@program((3, 2, 1), (1, 1, 0), (-2, 2, 0))
def of_displays(a, b, c):
    pairs = [(a, b), (b, c), (c, a)]
    pairs.sort(key=lambda t: t[1])
    return (pairs, max([a, b, c], key=lambda v: -v), min((a, b, c), key=abs),
            sorted([a, b, c], key=lambda v: -v))


@program((FEW,))
def effects_of_a_key(a):
    seen = []

    def key(v):
        seen.append(v)
        return -v

    items = []
    for v in a:
        items.append(v)
    best = min(items, key=key)
    items.sort(key=key)
    return items, seen, best


# --- search ---


@program((FEW, 3), (FEW, 0), (FEW, 17), (FEW[:0], 1), replays=2)
def searched(a, x):
    numbers, pairs = [], []
    for v in a:
        numbers.append(int(v))
        pairs.append((int(v), v * 2.0))
    found = (numbers.count(x), pairs.count((x, x * 2.0)), numbers.index(x),
             pairs.index((x, 2 * x)), (x, 2 * x) in pairs,
             (x, 2 * x + 1) not in pairs, x in numbers)
    numbers.remove(x)
    pairs.remove((x, x * 2))
    return found, numbers, pairs


@program((MORE, 1.0), (MORE, 7), (np.array([np.nan]), 1.0),
         (np.array([1.0]), np.nan), replays=1)
def counted(a, x):
    values = []
    for v in a:
        values.append(v)
    empty = []
    for _ in range(len(a)):
        empty.clear()
    return values.count(x), x in values, empty.count(x)


# --- stores of tuples ---


@program((9,), (1,))
def stored_tuples(n):
    pairs = [(0, 0.5)] * n
    for i in range(n):
        pairs[i] = (i, i * 0.25)
        pairs[i // 2] = pairs[-1]
    return pairs


# --- products ---


@program((5,), (0,), (1,), (4,))
def squares(n):
    total = 0
    for a, b in itertools.product(range(n), repeat=2):
        if a == b:
            continue
        if a > 3:
            break
        total = total * 3 + a * b
    return total


@program((5,))
def four_parts(n):
    total = 0.0
    for i, x, j, y in product(range(2), (1.5, n), repeat=2):
        total = total * 2 + i * x + j * y
    cubes = 0
    for t in product(range(3), repeat=3):
        cubes = cubes * 2 + t[0] - t[2]
    return total, cubes, [p * q for p, q in product([1, 2], repeat=2)]


@program((4,))
def evaluated_once(n):
    calls = []

    def size(k):
        calls.append(k)
        return k

    total = 0
    for a, b in product(range(size(n)), repeat=2):
        total += a * b
    return total, calls


@pytest.mark.parametrize("function, args, native", PROGRAMS)
def test_program(function, args, native):
    check_native(function, args, native)


# --- refusals ---


def no_order(n):
    found = []
    for i in range(n):
        found.append((None, i))
    found.sort(key=lambda t: t[0])
    return found


def unlike(n):
    found = []
    for i in range(n):
        found.append((i, i))
    return found.count(3)


def unknown_repeat(a):
    total = 0
    for t in product(range(2), repeat=int(a[0])):
        total += len(t)
    return total


@pytest.mark.parametrize("function, args, code", [
    (no_order, (30,), "VZ-2005"), (unlike, (30,), "VZ-2005"),
    (unknown_repeat, (np.arange(3) + 2,), "VZ-2003")])
def test_refused(function, args, code):
    with pytest.raises(CompileError, match=code):
        accelerate(function, strict=True)(*args)


def test_names_that_no_list_has():
    def subject(n):
        items = [0]
        for i in range(n):
            items.append(i)
        return items.has(3)

    fast = accelerate(subject)
    assert_same(fast, (40,), native=False)
