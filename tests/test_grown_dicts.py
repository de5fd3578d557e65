"""Dicts into which a program stores, compared with CPython's."""
import numpy as np
import pytest

from tests.lists import adder_with_replays, check_native, check_refused, refuser

PROGRAMS = []
REFUSED = []
program = adder_with_replays(PROGRAMS)
refused = refuser(REFUSED)


def ints(seed, n, low, high, dtype=np.int64):
    values = np.random.RandomState(seed).randint(low, high, n)
    return values.astype(dtype)


@program((ints(0, 2000, -90, 90),), (np.zeros(3, int),), (np.zeros(0, int),),
         (ints(1, 3000, -2**62, 2**62),))
def renumbered(a):
    final = {}
    out = a.copy()
    for i in range(len(a)):
        if a[i] == 0:
            continue
        root = int(a[i])
        if root not in final:
            final[root] = len(final) + 1
        out[i] = final[root]
    return out, len(final)


@program((ints(0, 100, -5, 5),), (np.zeros(3, np.uint8),),
         (np.zeros(0, np.int32),), (ints(2, 300, 0, 200, np.uint8),))
def counted(a):
    counts = {}
    for v in a:
        counts[v] = counts.get(v, 0) + 1
    total = 0
    for k, n in counts.items():
        total = total * 3 % 10007 + n * int(k)
    some = [k for k in counts if counts[k] > 1]
    for k in counts:
        counts[k] += 1
    most = max(counts.values()) if counts else 0
    return (total, sorted(counts), sum(counts.values()), some, most,
            len(counts), list(counts), list(counts.items()))


@program((8,), (1,), (0,), replays=1)
def tuples_as_keys(n):
    memo = {(0, 0): 1}
    for i in range(n):
        for j in range(n):
            first = 1 if i == j == 0 else 0
            memo[i, j] = (memo.get((i - 1, j), 0) + memo.get((i, j - 1), 0)
                          + first)
    total = 0
    for (i, j), v in memo.items():
        total += i * j * v
    return (memo[(n - 1, n - 1)], total, (n, n) in memo, (0, 0) in memo,
            len(memo))


@program((30,), (0,))
def made_in_rounds(n):
    total = 0.0
    for i in range(n):
        d = {}
        for j in range(i):
            d[j % 3] = j * 0.5
        if d:
            total = total * 2 + d[0] + len(d)
        if not d:
            total += 1
    return total


@program((30, 4), (30, 100), replays=1)
def missing_key(n, k):
    d = {}
    for i in range(n):
        d[i] = i * i
    return d[k]


@program((30,), (7,))
def arrays_as_values(n):
    d = {}
    for i in range(n):
        d[i % 7] = np.full(i + 1, 1.0 * i)
    total = 0.0
    for k, v in d.items():
        total = total * 2 + v.sum() + k
    return total, d[0][0], len(d)


def note(d, k):
    d[k] = d.get(k, 0) + 1
    return len(d)


@program((30,), (0,))
def by_a_helper(n):
    d = {n: 2, 1: 1}
    last = 0
    for i in range(n):
        last = note(d, i * i % 11)
    return last, list(d.items()), True in d, np.int8(4) in d


@program((40,), (3,))
def overwritten(n):
    d = dict()
    for i in range(n):
        d[i % 5] = (i, i * 0.5)
        d[i % 5] = (i + 1, i * 0.25)
    out = []
    for k in d:
        out.append(k)
        out.append(d[k][0])
    return out, list(d.values())


@pytest.mark.parametrize("function, args, native", PROGRAMS)
def test_program(function, args, native):
    check_native(function, args, native)


@refused(5)
def stored_while_iterated(n):
    d = {0: 1}
    for i in range(n):
        d[i] = i
    for k in d:
        d[k + 1] = 2
    return len(d)


@refused(5)
def view_returned(n):
    d = {}
    for i in range(n):
        d[i] = i
    return d.keys()


@refused(5)
def view_indexed(n):
    d = {}
    for i in range(n):
        d[i] = i
    return d.values()[0]


@refused(5)
def view_appended(n):
    d = {}
    for i in range(n):
        d[i] = i
    d.keys().append(3)
    return len(d)


@refused(5)
def view_as_array(n):
    d = {}
    for i in range(n):
        d[i] = i
    return len(np.array(d.values()).shape)


@refused(5)
def view_sliced(n):
    d = {}
    for i in range(n):
        d[i] = i
    return len(d.keys()[1:])


@program((5,), (0,), (40,))
def float_keys(n):
    d = {}
    for i in range(n):
        d[i / 4] = i
        d[-(i / 4)] = -i
    return d.get(0.0, 7), d.get(1.5, -1), 0.3 in d, [k for k in d]


@program((np.array([0.5, -0.0, 0.0, 0.5, 2.0**62, -2.0**63, 2.0**63]),),
         (np.array([np.inf, -np.inf, 1e300, np.inf]),), (np.zeros(0),),
         (np.arange(1000) % 37 * 1e-20,), (np.arange(1000) % 37 * 1e15,),
         (np.arange(30, dtype=np.float32) % 7 / 3,))
def floats_counted(a):
    d = {}
    for v in a:
        if v in d:
            d[v] += 1
        else:
            d[v] = 1
    return list(d.keys()), list(d.values())


@program((np.arange(50) % 9 / 8,), (np.zeros(1),))
def pairs_of_floats(a):
    d = {}
    for i in range(len(a) - 1):
        k = (a[i], i % 3)
        d[k] = d.get(k, 0) + i
    return sum([k[0] * v for k, v in d.items()]), len(d)


@refused(np.arange(5.0))
def floats_of_two_kinds(a):
    d = {}
    for v in a:
        d[v] = 1
    return np.float32(0.1) in d


@refused(5)
def keys_of_two_kinds(n):
    d = {}
    for i in range(n):
        d[i] = i
        d[i == 1] = 7
    return list(d)


@refused(5)
def sought_by_float(n):
    d = {}
    for i in range(n):
        d[i] = i
    return n * 0.5 in d


@refused(5)
def compared(n):
    d = {}
    for i in range(n):
        d[i] = i
    return d == {0: 0}


TABLE = {1: 2, 3: 4}


@refused(3)
def global_by_name(n):
    d = TABLE
    d[n] = 5
    return d[n] + d[1]


@refused(3)
def global_in_a_helper(n):
    return note(TABLE, n)


@pytest.mark.parametrize("function, args", REFUSED)
def test_refused(function, args):
    check_refused(function, args, "VZ-")
