"""Dicts with strings as keys that a function keeps to itself."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def statistics(a):
    s = {"low": 1e9, "high": -1e9, "n": 0, "last": None}
    for v in a:
        s["n"] += 1
        if v < s["low"]:
            s["low"] = v
        s["high"] = max(s["high"], v)
        s["last"] = v
    return s["low"], s["high"], s["n"], s["last"]


def anew_in_each_round(a):
    total = 0.0
    for k in range(4):
        box = {"x0": k, "x1": k + 2, "sum": 0}
        for i in range(box["x0"], min(box["x1"], len(a))):
            box["sum"] += a[i]
        total += box["sum"]
        box["x0"], box["x1"] = box["x1"], box["x0"]
        total += box["x0"] - box["x1"]
    return total


def arrays_in_it(a):
    d = {"now": a.copy(), "next": np.zeros(len(a)), "rounds": 3}
    while d["rounds"] > 0:
        for i in range(len(a)):
            d["next"][i] = d["now"][i - 1] * 0.5
        d["now"], d["next"] = d["next"], d["now"]
        d["rounds"] -= 1
    return d["now"]


def in_comprehensions(a):
    d = {"scale": 2, "parts": [0]}
    d["scale"] = d["scale"] + 1
    values = [v * d["scale"] for v in a if v > d["scale"]]
    for v in values:
        d["parts"].append(int(v))
    return len(values), sum(d["parts"])


def used_as_a_whole(a):
    """Python's, as the dict itself is asked for."""
    d = {"n": 0}
    for v in a:
        d["n"] += 1
    return len(d) + d["n"]


def bound_twice(a):
    d = {"n": 0}
    if len(a) > 3:
        d = {"n": 10, "m": 1}
    d["n"] += 1
    return d["n"]


def another_key(a):
    d = {"n": 0}
    d["m"] = len(a)
    d["n"] += d["m"]
    return d["n"]


def deleted(a):
    d = {"n": 0, "m": 1}
    d["n"] += len(a)
    del d["m"]
    return d["n"]


def seen_by_another(a):
    d = {"n": 0}

    def count():
        d["n"] += 1
    for _ in a:
        count()
    return d["n"]


def too_early(a):
    """KeyError's place is taken by another exception of the name: Python's."""
    if len(a) > 3:
        d = {"n": 0}
        d["n"] = 1
    return d["n"]


ARRAYS = [np.array([3.0, -1.0, 5.5, 2.0, 9.0]), np.arange(7)[::-1],
          np.array([4.0], np.float32)]


@pytest.mark.parametrize("function", [statistics, anew_in_each_round,
                                      arrays_in_it, in_comprehensions])
def test_native(function):
    compiled = accelerate(function)
    for a in ARRAYS:
        assert_same(compiled, (a,))


@pytest.mark.parametrize("function", [
    statistics, anew_in_each_round, arrays_in_it, used_as_a_whole,
    bound_twice, another_key, deleted, seen_by_another, too_early])
def test_same(function):
    compiled = accelerate(function)
    for a in [*ARRAYS, np.zeros(0)]:
        assert_same(compiled, (a,), native=False)
