"""collections.deque, compared with CPython's."""
import collections
from collections import deque

import numpy as np
import pytest

from tests.lists import adder_with_replays, check_native, check_refused, refuser
from tests.support import assert_same
from vizgen import accelerate

PROGRAMS = []
REFUSED = []
program = adder_with_replays(PROGRAMS)
refused = refuser(REFUSED)


def maze(*shape):
    return (np.random.RandomState(0).rand(*shape) < 0.2).astype(np.uint8)


@program((maze(50, 60), 3, 3), (maze(1, 1), 0, 0))
def breadth_first(img, y, x):
    h, w = img.shape
    steps = np.full((h, w), -1)
    front = deque([(y, x)])
    steps[y, x] = 0
    while front:
        y, x = front.popleft()
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            r, c = y + dy, x + dx
            if 0 <= r < h and 0 <= c < w and not img[r, c] and steps[r, c] < 0:
                steps[r, c] = steps[y, x] + 1
                front.append((r, c))
    return steps, len(front)


@program((50,), (13,), (3,))
def all_methods(n):
    d = collections.deque()
    out = []
    for i in range(n):
        d.appendleft(i)
        d.append(-i)
        if i % 3 == 1:
            out.append(d.popleft())
        if i % 4 == 3:
            out.append(d.pop())
        d[0] += 1
        if i % 5 == 2:
            d.insert(1, 100)
            d.reverse()
    out.append(len(d))
    out.append(d[-1])
    for v in d:
        out.append(v)
    for k, v in enumerate(reversed(d)):
        out.append(k * v)
    s = sorted(d)
    t = list(d)
    out.append(max(d) - min(d) + sum(d))
    d.clear()
    while t:
        d.appendleft(t.pop())
    d.extend(s)
    d += [5, 7]
    out.extend(d)
    out.append(d.count(3))
    if 5 in d:
        d.remove(5)
        out.append(d.index(s[2]))
    return out


@program((300, 7), (300, 1), (40, 40), (0, 3))
def window(n, size):
    d = deque()
    total = 0
    best = 0
    for i in range(n):
        d.append(i * i % 17)
        total += i * i % 17
        if len(d) > size:
            total -= d.popleft()
        best = max(best, total)
    return best, total, list(d)


@program((40,), (0,))
def of_arrays(n):
    d = deque([np.zeros(3)])
    total = 0.0
    for k in range(n):
        d.append(np.full(k + 1, 1.0 * k))
        d.appendleft(np.full(2, 0.5 * k))
        v = d.popleft() if k % 2 else d.pop()
        total = total * 2 + v.sum() + len(v)
        if k % 3:
            total += d.popleft()[0]
    return total, len(d)


@program((40,), (1,))
def room_of_the_last(n):
    d = deque()
    total = 0.0
    for k in range(n):
        for i in range(3):
            d.append(np.full(n, 1.0 * i))
        d.clear()
        d.append(np.full(n, 5.0))
        d.appendleft(np.full(n, 1.0 * k))
        d.pop()
        d.append(np.full(n, 9.0))
        total += d[0].sum() + len(d)
    return total


@program((30,), (1,))
def made_in_rounds(n):
    total = 0
    for k in range(n):
        d = deque(range(k))
        while len(d) > 1:
            d.append(d.popleft() + d.popleft())
        total = total * 3 + (d[0] if d else 1)
    return total


def fill(d, n):
    for k in range(n):
        d.appendleft(k * 0.5)
    return d


@program((30,), (0,))
def by_a_helper(n):
    d = fill(deque(), n)
    return list(d), isinstance(d, list)


@program((4,), replays=1)
def runs_empty(n):
    d = deque()
    for i in range(n):
        d.append(i)
    total = 0
    while True:
        total += d.popleft()


@pytest.mark.parametrize("function, args, native", PROGRAMS)
def test_program(function, args, native):
    check_native(function, args, native)


@refused(4)
def changed_while_iterated(n):
    d = deque(range(n))
    for v in d:
        d.append(v)
    return len(d)


@refused(40)
def returned(n):
    d = deque()
    for i in range(n):
        d.append(i)
    return d


@refused(40)
def bounded(n):
    d = deque([], 3)
    for i in range(n):
        d.append(i)
    return list(d)


@refused(40)
def bounded_by_name(n):
    d = deque(maxlen=3)
    for i in range(n):
        d.append(i)
    return list(d)


@refused(40)
def sliced(n):
    d = deque()
    for i in range(n):
        d.append(i)
    return d[1:]


@refused(40)
def added(n):
    d = deque()
    for i in range(n):
        d.append(i)
    return len(d + [1])


@refused(40)
def list_or_deque(n):
    d = deque()
    for i in range(n):
        d.append(i)
        if i == n // 2:
            d = [i]
    return len(d)


@refused(40)
def list_without_front(n):
    d = [0]
    for i in range(n):
        d.append(i)
    return d.popleft()


@refused(40)
def popped_by_number(n):
    d = deque()
    for i in range(n):
        d.append(i)
    return d.pop(0)


@pytest.mark.parametrize("function, args", REFUSED)
def test_refused(function, args):
    check_refused(function, args, "VZ-20")


def is_list(t):
    return isinstance(t, list), isinstance(t, tuple), len(t)


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("n", [0, 3, 100])
def test_isinstance(kind, n):
    assert_same(accelerate(is_list), (kind(range(n)),))
