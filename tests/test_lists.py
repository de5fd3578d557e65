"""Lists whose length is known at run time only, compared with CPython's."""
import numpy as np
import pytest

from tests.lists import adder, check_program, image, ints, refuser
from tests.support import assert_same
from vizgen import accelerate

PROGRAMS = []
program = adder(PROGRAMS)


@pytest.mark.parametrize("function, args, native, python", PROGRAMS)
def test_program(function, args, native, python):
    check_program(function, args, native, python)


# --- growing ---


@program((np.array([1.0, -2, 3]),), (np.zeros(0),),
         (np.array([5, 0, 7], dtype=np.uint8),))
def positives(a):
    out = []
    for v in a:
        if v > 0:
            out.append(v)
    return out


@program((5,), (0,), (-3,))
def squares(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return out, len(out)


@program((ints(1, 1, 2, 2, 2, 3),), (np.zeros(0, np.int8),),
         (np.array([np.nan, np.nan]),))
def run_lengths(a):
    runs = []
    if len(a) == 0:
        return runs
    cur = a[0]
    n = 1
    for i in range(1, len(a)):
        if a[i] == cur:
            n += 1
        else:
            runs.append((cur, n))
            cur = a[i]
            n = 1
    runs.append((cur, n))
    return runs


@program((0, 0, 7, 3), (4, 1, 4, 1), (2, 9, -3, 0))
def line(x0, y0, x1, y1):
    points = []
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx = 1 if x0 < x1 else -1
    sy = 1 if y0 < y1 else -1
    err = dx + dy
    while True:
        points.append((x0, y0))
        if x0 == x1 and y0 == y1:
            break
        e2 = 2 * err
        if e2 >= dy:
            err += dy
            x0 += sx
        if e2 <= dx:
            err += dx
            y0 += sy
    return points


@program((ints(3, 1, 2), 2), (ints(), 1))
def mixed_kinds(a, n):
    out = [0]
    for i in range(n):
        for v in a:
            out.append(v)
    flags = [True]
    for v in a:
        flags.append(v > 1)
    halves = [n / 2]
    for v in a:
        halves.append(float(v) / 2)
    return out, flags, halves


@program((4,), (0,))
def int_or_float(n):
    out = []
    for i in range(n):
        if i % 2:
            out.append(i)
        else:
            out.append(i * 0.5)
    return out


@program((5,), (0,), (1,))
def may_be_none(n):
    best = [None] * n
    for i in range(0, n, 2):
        best[i] = i
    total = 0
    for v in best:
        if v is not None:
            total += v
    return best, total


# --- stacks and queues ---


@program((np.zeros((5, 6), np.int32), 1, 2, 7), (image(9, 8), 4, 4, 5),
         (image(30, 20, dtype=np.uint8, top=2), 3, 3, 9))
def flood_fill(img, y, x, new):
    old = img[y, x]
    if old == new:
        return 0
    h, w = img.shape
    stack = [(y, x)]
    count = 0
    while stack:
        y, x = stack.pop()
        if y < 0 or x < 0 or y >= h or x >= w or img[y, x] != old:
            continue
        img[y, x] = new
        count += 1
        stack.append((y + 1, x))
        stack.append((y - 1, x))
        stack.append((y, x + 1))
        stack.append((y, x - 1))
    return count


@program((image(7, 9, top=2), 0, 0), (image(1, 1), 0, 0))
def breadth_first(grid, sy, sx):
    h, w = grid.shape
    dist = np.full((h, w), -1)
    queue = [(sy, sx, 0)]
    dist[sy, sx] = 0
    head = 0
    while head < len(queue):
        y, x, d = queue[head]
        head += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            ny, nx = y + dy, x + dx
            if 0 <= ny < h and 0 <= nx < w and grid[ny, nx] == 0:
                if dist[ny, nx] < 0:
                    dist[ny, nx] = d + 1
                    queue.append((ny, nx, d + 1))
    return dist, len(queue)


@program((image(6, 6, top=2), 2), (image(1, 1), 0))
def first_in_first_out(a, start):
    queue = [start]
    seen = [False] * a.shape[0]
    order = []
    seen[start] = True
    while len(queue) > 0:
        u = queue.pop(0)
        order.append(u)
        for v in range(a.shape[1]):
            if a[u, v] and not seen[v]:
                seen[v] = True
                queue.append(v)
    return order


@program((image(12, 12, top=4) == 1, 3), (image(3, 3) == 9, 0))
def levels(near, start):
    n = near.shape[0]
    dist = [-1] * n
    dist[start] = 0
    front = [start]
    while front:
        found = []
        for u in front:
            for v in range(n):
                if near[u, v] and dist[v] < 0:
                    dist[v] = dist[u] + 1
                    found.append(v)
        front = found
    return dist


@program((ints(0, 1, 2, 3), ints(1, 3, 4, 5)), (ints(), ints()))
def union_find(a, b):
    parent = list(range(8))
    for k in range(len(a)):
        i, j = int(a[k]), int(b[k])
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        while parent[j] != j:
            j = parent[j]
        if i != j:
            parent[max(i, j)] = min(i, j)
    return parent


def root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@program((image(9, 11, top=2) > 0,), (np.zeros((0, 3), bool),),
         (np.ones((1, 1), bool),))
def label(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=np.int32)
    parent = [0]
    for y in range(h):
        for x in range(w):
            if not mask[y, x]:
                continue
            up = int(labels[y - 1, x]) if y else 0
            left = int(labels[y, x - 1]) if x else 0
            if up == 0 and left == 0:
                parent.append(len(parent))
                labels[y, x] = len(parent) - 1
            elif up and left:
                ra, rb = root(parent, up), root(parent, left)
                parent[max(ra, rb)] = min(ra, rb)
                labels[y, x] = min(ra, rb)
            else:
                labels[y, x] = max(up, left)
    for y in range(h):
        for x in range(w):
            if labels[y, x]:
                labels[y, x] = root(parent, int(labels[y, x]))
    return labels, len(parent)


# --- methods ---


@program((6,), (0,), (1,))
def all_methods(n):
    a = []
    for i in range(n):
        a.append(i * 3 % 5)
    a.insert(0, -1)
    a.insert(2, -2)
    a.insert(-1, -3)
    a.insert(100, -4)
    a.insert(-100, -5)
    b = a.copy()
    c = list(a)
    a.reverse()
    b.extend(a)
    b.extend([7, 8])
    b += c
    b += (1, 2)
    c.clear()
    last = b.pop()
    first = b.pop(0)
    mid = b.pop(len(b) // 2)
    low = b.pop(-2)
    return a, b, c, last, first, mid, low


@program((5, 2), (3, 0), (0, 4), (2, -1))
def repeated(n, m):
    a = [0] * n
    b = m * [1, 2]
    c = a * m
    d = [3] * 2 + b + c
    for i in range(len(a)):
        a[i] += i
        a[-1] = a[i] + 1
    return a, b, c, d


@program((7, 2, 5), (7, -3, 100), (3, 2, 1), (0, 0, 0), (5, -9, -2))
def slices(n, lo, hi):
    a = list(range(n))
    b = a[lo:hi]
    b.append(9)
    return a, b, a[lo:], a[:hi], a[:], a[-2:], a[:-1]


@program((ints(4, 5, 6),), (ints(),))
def unpacked(a):
    pairs = []
    for i, v in enumerate(a):
        pairs.append([int(v), (i, v)])
    total = 0
    for (x, (i, v)) in pairs:
        total += x * i + v
    out = []
    for k, (x, (i, v)) in enumerate(pairs):
        out.append(k + x + i)
    for x, p in zip(out, pairs):
        total += x - p[0] + p[1][0]
    return total, out, pairs


@program((5,), (0,))
def while_iterating(n):
    a = list(range(n))
    seen = []
    for v in a:
        seen.append(v)
        if len(a) < 12:
            a.append(v + 10)
        if v % 3 == 0:
            continue
        if v == 21:
            break
    for i, v in enumerate(a):
        if v % 2:
            a.pop(i)
    return a, seen


@program((3, 2), (0, 0))
def exact_three(n, k):
    a = [k] * n
    a.append(5)
    if n == 2:
        a.append(7)
    if n:
        x, y, z, w = a
        return x + y + z + w
    return 0


# --- comprehensions, order, membership ---


@program((5, np.array([1.5, -2.0, 0.5])), (0, np.zeros(0)))
def comprehensions(n, a):
    evens = [i for i in range(n) if i % 2 == 0]
    pairs = [(i, j * 0.5) for i in range(n) for j in range(i)]
    signs = [v > 0 for v in a]
    picked = [v * 2 for v in a if v > 0]
    nested = [sum([k for k in range(i)]) for i in range(n)]
    evens.append(100)
    pairs.append((n, 2.5))
    return evens, pairs, signs, picked, nested


@program((image(40, top=9), 3), (image(17, top=99), 0), (ints(), 5),
         (ints(5, 4, 4, 3), 4))
def ordered(a, n):
    x = [int(v) for v in a]
    y = [v for v in x]
    x.sort()
    y.sort(reverse=True)
    pairs = [(v % 3, i) for i, v in enumerate(y)]
    z = sorted(pairs)
    w = sorted(pairs, reverse=True)
    return x, y, z, w, sorted(range(n)), n in x, n not in y, sorted(a)


@program((np.random.RandomState(3).rand(50),), (np.zeros(0),),
         (np.array([0.0, -0.0, 1.0, 0.0, -0.0]),),
         (np.array([1.0, np.nan, 0.0]),), native=False)
def ordered_floats(a):
    x = list(a)
    x.sort()
    y = sorted([float(v) for v in a], reverse=True)
    return x, y, [(v, w) for v, w in sorted(zip(x, y))]


@program((ints(4, 1, 3),), (ints(7),))
def folded(a):
    x = [int(v) for v in a]
    y = [v * 0.5 for v in a]
    return (sum(x), min(x), max(x), sum(y), min(y), max(y), any(x), all(x),
            max([v % 3 for v in x]), len([v for v in x if v > 1]))


@program((ints(),), native=False)
def least_of_none(a):
    x = [int(v) for v in a]
    return min(x)


@program((ints(4, 1, 3), 2.0), (ints(), 1.0), (ints(1, 2), float("nan")),
         native=False)
def found(a, x):
    values = [float(v) for v in a]
    values.append(2.0)
    return x in values, 3 in values, 7 not in values


# --- functions ---


def push_twice(stack, v):
    stack.append(v)
    stack.append(-v)


def neighbours(y, x, h, w):
    found = []
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if 0 <= y + dy < h and 0 <= x + dx < w and (dy or dx):
                found.append((y + dy, x + dx))
    return found


@program((3, 4), (1, 1), (0, 0))
def helpers(h, w):
    stack = []
    counts = []
    for y in range(h):
        for x in range(w):
            n = neighbours(y, x, h, w)
            counts.append(len(n))
            for a, b in n:
                push_twice(stack, a * w + b)
    return stack, counts, neighbours(0, 0, h, w)


@program((image(9, 9, dtype=np.float64, top=99),))
def median_filter(img):
    out = np.zeros(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            values = []
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    r, c = y + dy, x + dx
                    if 0 <= r < img.shape[0] and 0 <= c < img.shape[1]:
                        values.append(img[r, c])
            best = values[0]
            for v in values:
                if v > best:
                    best = v
            out[y, x] = best + len(values)
    return out


# --- exceptions ---


@program((image(4), 2), (image(4), 9), native=False)
def pops_too_often(a, n):
    stack = [1, 2, 3]
    stack.append(4)
    for i in range(n):
        a[i % 4] = 10 + i
        a[0] += stack.pop()
    return stack


@program((image(4), 3), (image(4), -4), (image(4), -5), native=False)
def index_out_of_range(a, k):
    items = []
    for v in a:
        items.append(v)
        a[0] = 5
    items[k] = 1
    return items


@program((3,), (0,), native=False)
def nothing_in_it(n):
    items = []
    for i in range(n):
        items.append(i)
    return items[-1], items.pop(0), items.pop()


# --- left to Python ---

REFUSED = []
refused = refuser(REFUSED)


@refused(3)
def no_common_type(n):
    out = []
    for i in range(n):
        out.append(i)
        out.append((i, i))
    return len(out)


@refused([1, 2, 3])
def changed_argument(items):
    items.append(4)
    return items


@refused([[1, 2], [3, 4]])
def row_of_argument(items):
    return items[0]


@refused(3)
def two_kinds_and_none(n):
    some = None
    if n > 2:
        some = n
    out = [0.5] * 3
    out[1] = some
    return out


@refused(np.ones(3))
def several_types_backwards(a):
    out = [0.0]
    out.extend(reversed((1, a[0])))
    return out


@refused(np.ones(3))
def several_types_counted(a):
    out = list(enumerate((1, a[0])))
    out.append((2, a[1]))
    return out


@pytest.mark.parametrize("function, args", REFUSED)
def test_refused(function, args):
    fast = accelerate(function)
    assert_same(fast, args, native=False)
    assert fast.stats.native_calls == 0 and fast.stats.python_calls > 0


def test_lists_of_several_kinds():
    """One function, many lists: few specialisations."""
    def total(items):
        t = 0
        for v in items:
            t += v
        return t

    fast = accelerate(total)
    for k in range(40):
        assert_same(fast, (list(range(k)),))
        assert_same(fast, ([v * 0.5 for v in range(k)],))
        assert_same(fast, ([v if v % 2 else v * 0.5 for v in range(k)],))
    assert fast.stats.python_calls == 0
    assert len(fast.signatures) <= 4
    for k in range(3):
        assert_same(fast, ([1, "a", k],), native=False)
        assert_same(fast, ([2 ** 64, k],), native=False)
    assert len(fast.signatures) <= 4
