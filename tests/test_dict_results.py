"""Dicts that a call makes and returns: keys, values and their order."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import CompileError, accelerate


def counted(a):
    d = {}
    for v in a:
        d[int(v)] = d.get(int(v), 0) + 1
    return d


def pairs(a):
    d = {}
    for i in range(len(a) - 1):
        key = (int(a[i]), int(a[i + 1]))
        if key not in d:
            d[key] = 0.0
        d[key] += a[i] / 2
    return len(d), d


def of_numpy(a):
    """Keys and values keep their types."""
    d = {}
    for v in a:
        d[v] = v * 2
    return d


def groups(a):
    d = {}
    for i in range(len(a)):
        key = int(a[i]) % 3
        if key not in d:
            d[key] = []
        d[key].append(i)
    return d


def two(a):
    d, e = {}, {}
    for v in a:
        d[int(v)] = 1
        e[-int(v)] = v > 1
    return d, e


def early(a):
    d = {}
    for i in range(len(a)):
        if a[i] < 0:
            return d
        d[i] = float(a[i])
    d[-1] = 0.5
    return d


def never_filled(a):
    d = {}
    for v in a:
        if v > 1e9:
            d[1] = 2
    return d


def helped(a):
    return table(a), 1


def table(a):
    d = {}
    for v in a:
        d[int(v)] = 1
    return d


def sized(a):
    return len(table(a))


@pytest.mark.parametrize("function", [counted, pairs, of_numpy, groups, two,
                                      early, never_filled, helped,
                                      sized])
def test_native(function):
    compiled = accelerate(function)
    arrays = [np.array([3.0, 1.0, 2.5, 1.0, -4.0, 3.0]), np.arange(40) % 7,
              np.zeros(0), np.arange(5, dtype=np.uint8)]
    for a in arrays:
        got = assert_same(compiled, (a,))
        want = function(a)
        assert repr(got) == repr(want)


def twice(a):
    d = {}
    for v in a:
        d[int(v)] = 1
    return d, d


def test_left_to_python():
    a = np.arange(4)
    assert_same(accelerate(twice), (a,), native=False)
    with pytest.raises(CompileError, match="VZ-2010"):
        accelerate(twice, strict=True)(a)
