"""Lists that hold lists: grids, ragged rows, neighbours, buckets.

Two names, or two places of a list, may be one list; changes are seen through
both, and results have the same identities as in Python.
"""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import CompileError, accelerate


def grid(h, w):
    rows = [[0] * w for _ in range(h)]
    for y in range(h):
        for x in range(w):
            rows[y][x] += y * 10 + x
    return rows


def counted(h, w):
    """A histogram of literal rows."""
    hist = [[0, 0, 0], [0, 0, 0]]
    for k in range(h * w):
        hist[k % 2][k % 3] += k
    return hist


def one_row_many_times(h, w):
    rows = [[0] * w] * h
    for y in range(h):
        if w > 0:
            rows[y][y % w] += 1
    return rows


def neighbours(n, w):
    near = [[] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i != j and abs(i - j) <= w:
                near[i].append(j)
    return near


def ragged(n, w):
    rows = []
    for i in range(n):
        row = []
        for j in range(i % (w + 1)):
            row.append((j, i * 0.5))
        rows.append(row)
    return rows, [len(row) for row in rows]


def pascal(n, w):
    rows = [[1]]
    for i in range(1, n):
        row = [1]
        for j in range(1, i):
            row.append(rows[-1][j - 1] + rows[-1][j])
        row.append(1)
        rows.append(row)
    return rows


def merged(n, w):
    """Pairs that are changed once they are in a list."""
    parts = []
    for i in range(n):
        parts.append([i * w, i * w + i % 3])
    out = []
    for part in parts:
        if out and part[0] <= out[-1][1] + 1:
            out[-1][1] = part[1]
        else:
            out.append(part)
    return out, parts


def two_names(n, w):
    rows = [[i] for i in range(n)]
    first = rows[0]
    last = rows[-1]
    for k in range(w):
        first.append(k)
        rows[-1].append(-k)
    total = 0
    for v in last:
        total += v
    return rows, first, total


def choose(n, w):
    """A name that is one row or another."""
    rows = [[], []]
    for i in range(n):
        row = rows[0] if i % 3 else rows[1]
        row.append(i)
        if i == w:
            rows[0], rows[1] = rows[1], rows[0]
    return rows


def generations(n, w):
    """A new grid replaces the old one in every round."""
    old = [[(x * y) % 3 for x in range(w)] for y in range(n)]
    for _ in range(3):
        new = [[0] * w for _ in range(n)]
        for y in range(n):
            for x in range(w):
                new[y][x] = old[(y + 1) % n][x] + old[y][(x + 1) % w]
        old = new
    return old


def made_again(n, w):
    """What is made in the loop is of fixed length, but for the last lines."""
    rows = [[i, w] for i in range(3)]
    for k in range(n):
        rows = [[i, w - k] for i in range(3)]
    for row in rows:
        row.sort()
    return rows


def copies(n, w):
    rows = [[i, i + 1] for i in range(n)]
    same = list(rows)
    apart = [row[:] for row in rows]
    for row in rows:
        row.append(w)
    apart[0][0] = -1
    return rows, same, apart


def taken_out(n, w):
    rows = [[i] * (i % 4) for i in range(n + 2)]
    row = rows.pop()
    first = rows.pop(0)
    row.extend(first)
    rows.insert(1, row)
    rows.reverse()
    rows[0].insert(0, 7)
    while row:
        row.pop()
    return rows, len(row)


def three_deep(n, w):
    cube = [[[0.0] * w for _ in range(n)] for _ in range(2)]
    for z in range(2):
        for y in range(n):
            for x in range(w):
                cube[z][y][x] += z + y * 0.5 + x
    plane = cube[1]
    if n > 1 and w > 0:
        plane[1][0] = -1.0
    return cube


def put(row, value):
    row.append(value)
    return row


def helpers(n, w):
    rows = []
    for i in range(n):
        rows.append(put([], i))
    for row in rows:
        put(row, w)
    return rows


def as_array(n, w):
    rows = [[x + y * 0.5 for x in range(w)] for y in range(n)]
    return np.array(rows)


def iterated(n, w):
    """A row that grows while it is gone through."""
    rows = [[0] for _ in range(n)]
    for k, row in enumerate(rows):
        for v in row:
            if len(row) < w + k:
                row.append(v + 1)
    total = 0
    for row in reversed(rows):
        for a, b in zip(row, row[1:]):
            total += a * b
    return rows, total, max(len(row) for row in rows)


def buckets(n, w):
    """Rows of pairs, found by a number of the run."""
    rows = [[] for _ in range(w + 1)]
    for i in range(n * 3):
        rows[i * 7 % (w + 1)].append((i, i % 5))
    order = []
    for row in rows:
        while row:
            a, b = row.pop()
            order.append(a * 100 + b)
    return order


def mixed_numbers(n, w):
    rows = [[0] * w for _ in range(n)]
    for y in range(n):
        for x in range(w):
            if x > y:
                rows[y][x] = x / 2
    return rows


def maybe_items(n, w):
    rows = [[None] * w for _ in range(n)]
    for y in range(n):
        for x in range(w):
            if x > y:
                rows[y][x] = x
    found = 0
    for row in rows:
        for v in row:
            if v is not None:
                found += v
    return rows, found


def looked_at(n, w):
    """The list that is gone through is a condition in the body."""
    rows = [i * w for i in range(n)]
    total = 0
    for v in rows:
        if rows and v > 2:
            total += v
    return total


def one_or_the_other(n, w):
    """Both lists live on, and the name is a third one for one of them."""
    low, high = [], []
    for i in range(n):
        chosen = low if i % 2 else high
        chosen.append(i * w)
    return low, high


def exchanged(n, w):
    """A further name keeps the first list."""
    front = [1, w]
    first = front
    for i in range(n):
        back = []
        for v in front:
            back.append(v + i)
        front = back
        first.append(-1)
    return front, first


def longest(n, w):
    """One of many lists is the best so far."""
    best = []
    for i in range(n):
        row = []
        for j in range((i * w) % 7):
            row.append(i + j)
        if len(row) > len(best):
            best = row
    best.append(-1)
    return best


def other_name_left(n, w):
    a = [0]
    b = a
    for i in range(n):
        a.append(i * w)
        a = [i]
    return a, b


def shared_choice(n, w):
    """A list, or a copy of it, under one name."""
    lst = []
    for v in range(n):
        lst.append(v)
    other = lst if w > 2 else lst[::-1]
    other.append(1)
    return lst, other


def twice(n, w):
    """One list of fixed length in two places of the result."""
    row = [n, w]
    return [row, row, [n]], row


PROGRAMS = [one_or_the_other, exchanged, longest, looked_at, grid, counted,
            one_row_many_times, neighbours, ragged, pascal, merged,
            other_name_left, shared_choice, twice, two_names, choose,
            generations, made_again, copies, taken_out, three_deep, helpers,
            as_array, iterated, buckets, mixed_numbers, maybe_items]


def identities(value, seen, out):
    """For each list the number at which it was met first."""
    if isinstance(value, (list, tuple)):
        if isinstance(value, list):
            out.append(seen.setdefault(id(value), len(seen)))
        for item in value:
            identities(item, seen, out)
    return out


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function):
    compiled = accelerate(function)
    for args in ((4, 3), (1, 1), (7, 5), (3, 9)):
        got = assert_same(compiled, args)
        want = function(*args)
        assert identities(got, {}, []) == identities(want, {}, [])


@pytest.mark.parametrize("function", PROGRAMS)
def test_empty(function):
    """Some raise, and Python does that."""
    compiled = accelerate(function)
    for args in ((0, 0), (1, 0), (0, 2)):
        assert_same(compiled, args, native=False)


def wrong_index(n, w):
    rows = [[0] * w for _ in range(n)]
    rows[n - 1][w] = 1
    return rows


def unequal(n, w):
    return np.array([[0] * (w + i // 2) for i in range(n)])


@pytest.mark.parametrize("function", [wrong_index, unequal])
def test_python_raises(function):
    compiled = accelerate(function)
    assert_same(compiled, (4, 3), native=False)
    assert compiled.stats.replays == 1


def in_itself(n):
    rows = [[]]
    for _ in range(n):
        rows.append(rows)
    return len(rows)


def ordered(n):
    rows = [[n - i] for i in range(n)]
    rows[0].append(1)
    rows.sort()
    return rows


def sought(n):
    rows = [[i] for i in range(n)]
    rows[0].append(1)
    return [2] in rows


@pytest.mark.parametrize("function", [in_itself, ordered, sought])
def test_refusals(function):
    compiled = accelerate(function, strict=True)
    with pytest.raises(CompileError, match="VZ-200"):
        compiled(3)


def test_in_an_image():
    """Rows, checks and arrays in one function, with several layouts."""
    @accelerate
    def runs(img):
        out = []
        for row in img:
            cur = [0]
            for v in row:
                if (v > 100) == (len(cur) % 2 == 0):
                    cur[-1] += 1
                else:
                    cur.append(1)
            out.append(cur)
        return out
    img = np.random.RandomState(1).randint(0, 255, (20, 31)).astype(np.uint8)
    for a in (img, img.T, img[::-1, ::2], img[:0], img[:1]):
        assert_same(runs, (a,))


def made_anew(n, s):
    """In a loop another list of lists takes the name."""
    rows = [[k, s] for k in range(3)]
    for i in range(n):
        rows = [[k, 4] for k in range(3)]
    for row in rows:
        row.sort()
    return rows


def test_made_anew_in_a_loop():
    for n in (0, 4):
        assert_same(accelerate(made_anew), (n, 2), native=False)
