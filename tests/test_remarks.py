"""Why a loop is not parallel, vector or split: the remark says where."""
import re

import numpy as np
import pytest

from vizgen import accelerate

A = np.arange(30.0).reshape(5, 6)


def above(a, b):
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1]):
            a[y, x] = a[y - 1, x] + 1.0


def carried(a, b):
    total, n = 0.0, 0
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            total = total * 0.5 + a[y, x]
            n += 1
        b[y, 0] = total + n


def carried_in_a_branch(a, b):
    last = 0.5
    for y in range(a.shape[0]):
        if a[y, 0] > 2.0:
            last = a[y, 1]
        b[y, 0] = last


def ends(a, b):
    for y in range(a.shape[0]):
        if a[y, 0] > 20.0:
            break
        b[y, 0] = 1.0


def twice(a, b):
    for y in range(a.shape[0]):
        b[y // 2, 0] = a[y, 1]


def steps(a, b):
    for y in range(a.shape[0]):
        for x in range(min(a.shape)):
            b[y, x] = a[x, y] + a[x, 0]


def middle(a, b):
    m = int(a[0, 3])
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            v = a[y, x]
            if x > m:
                v = v * 2.0
            b[y, x] = v


# function, code, message, the sites as they are written; lines from the 'def',
# which is line 1, as "+n"
CASES = [
    (above, "VZ-3002", "`a`, written in line +4, may be read by another round "
     "in line +4", ["+4:23  a[y - 1, x]", "+4:13  a[y, x]"]),
    (carried, "VZ-3002", "carries `total`, `n` from round to round",
     ["+5:13  total = total * 0.5 + a[y, x]"]),
    (carried_in_a_branch, "VZ-3002", "carries `last` from round to round",
     ["+5:13  last = a[y, 1]"]),
    (ends, "VZ-3002", "may end early, depending on what a round finds",
     ["+3:9  if a[y, 0] > 20.0:"]),
    (twice, "VZ-3002", "two rounds may write one element of `b` "
     "(lines +3 and +3)", ["+3:9  b[y // 2, 0]"]),
    (steps, "VZ-3004", "`a` is not walked along its last axis",
     ["+4:33  a[x, 0]"]),
    (middle, "VZ-3006", "1 condition on `x` does not end a constant number of "
     "rounds from either end", ["+6:13  if x > m:"]),
]


@pytest.mark.parametrize("function,code,message,sites", CASES,
                         ids=[case[0].__name__ for case in CASES])
def test_places(function, code, message, sites):
    first = function.__code__.co_firstlineno - 1

    def moved(text):
        return re.sub(r"\+(\d+)", lambda n: str(int(n[1]) + first), text)

    lines = [line.strip() for line in
             accelerate(function).explain(A, A.copy()).splitlines()]
    at, = (k for k, line in enumerate(lines) if line.startswith(code))
    assert lines[at].endswith(f"  {moved(message)}")
    places = [f"at {moved(site)}" for site in sites]
    assert lines[at + 1:at + 1 + len(sites)] == places, lines
