"""Lists of run-time length that hold arrays, compared with CPython's."""
import numpy as np
import pytest

from tests.lists import adder_with_replays, check_native, check_refused, refuser
from tests.support import assert_same
from vizgen import accelerate

PROGRAMS = []
REFUSED = []
program = adder_with_replays(PROGRAMS)
refused = refuser(REFUSED)


def image(*shape, dtype=np.float64, seed=0):
    values = np.random.RandomState(seed).uniform(0, 100, shape)
    return values.astype(dtype)


# --- growing ---


@program((np.arange(5.0), 20, 3), (np.arange(5.0), 1, 3), (np.zeros(0), 9, 2),
         (np.arange(80.0), 11, 1), (np.arange(40, dtype=np.float32), 7, 2))
def snapshots(rod, frames, every):
    kept = [rod]
    for frame in range(1, frames):
        following = np.zeros(len(rod), dtype=rod.dtype)
        for k in range(len(rod)):
            following[k] = rod[k] * 0.5 + k * frame
        rod = following
        if frame % every == 0:
            kept.append(rod)
    return np.array(kept), np.array(kept).T, len(kept), sum(rod)


@program((image(3, 4), 9), (np.arange(5.0), 0), (np.arange(35.0), 4),
         (image(2, 3, 4, dtype=np.float32), 5), (np.zeros((0, 3)), 3),
         (image(3, 40, dtype=np.uint8), 3), (image(3, 4)[::2, ::-1], 3),
         replays=1)
def copies(u, n):
    kept = []
    for i in range(n):
        u = u * 2 - u
        if i % 2:
            kept.append(u.copy())
    return kept


@program((image(33, 20), 2), (image(8, 8), 1), (image(2, 2), 0),
         (image(1, 20), 1), (image(16, 16, dtype=np.float32), 3), replays=2)
def pyramid(img, k):
    levels = []
    cur = img
    while cur.shape[0] > 1 and cur.shape[1] > 1:
        cur = cur[::2, ::2] * 0.5
        levels.append(cur)
    total = 0.0
    for i in range(len(levels)):
        total += levels[i][0, -1] * levels[i].size
        for y in range(levels[i].shape[0]):
            for x in range(levels[i].shape[1]):
                total += levels[i][y, x] * (y + x)
    for level in levels:
        total += level.sum() + level[-1, 0]
    return total, levels[k], len(levels), [d.shape for d in levels]


@program((image(33, 20),), (image(8, 8),), (image(1, 2),), (image(3, 3),))
def levels_of(img):
    levels = []
    cur = img
    while cur.shape[0] > 1 and cur.shape[1] > 1:
        cur = cur[::2, ::2] * 0.5
        levels.append(cur)
    return levels


@program((image(33, 20),), (image(8, 8),))
def levels_upwards(img):
    levels = []
    cur = img
    while cur.shape[0] > 1 and cur.shape[1] > 1:
        cur = cur[::2, ::2] * 0.5
        levels.append(cur)
    return levels[::-1]


@program((image(33, 20),), (image(9, 9),))
def rebuilt(img):
    details = []
    cur = img + 0.5
    while min(cur.shape) >= 2:
        smaller = cur[::2, ::2] + 0.25
        details.append(cur - smaller[0, 0])
        cur = smaller
    shapes = [d.shape for d in details]
    while details:
        detail = details.pop()
        cur = detail * 0.5 + cur[0, 0] * len(details)
    return cur, shapes


@program((image(30), image(30, seed=1)), (image(1), image(1)))
def small_vectors(a, b):
    pos, vel = [], []
    for i in range(len(a)):
        if a[i] > 30:
            p = np.array([a[i], b[i]])
            pos.append(p)
            vel.append(p * 2)
    total = 0.0
    for i in range(len(pos)):
        for j in range(i):
            d = pos[i] - pos[j]
            total += d[0] * d[1] + vel[j][0]
    for p, v in zip(pos, vel):
        total += p[0] - v[1]
    return vel, total, len(pos)


@program((image(30), image(30, seed=1)))
def vectors_as_array(a, b):
    rows = []
    for i in range(len(a)):
        rows.append(np.array([a[i], b[i], i]))
    return np.array(rows), np.array(rows, dtype=np.float32)


@program((np.arange(12.0), 3), (np.arange(7.0), 2), (np.zeros(0), 4))
def chunks_of_differing_length(a, n):
    parts = []
    for i in range(0, len(a), n):
        parts.append(a[i:i + n])
    sizes = []
    for part in parts:
        sizes.append(len(part))
    return sizes, sum([p.sum() for p in parts])


@program((image(6, 40), 50.0), (image(6, 4), 500.0))
def rows_that_pass(img, limit):
    kept = []
    for row in img:
        if row[0] < limit:
            kept.append(row)
    total = 0.0
    for row in kept:
        total += row[-1]
    return len(kept), total


@program((image(6, 5),), (image(6, 5).T,))
def columns(img):
    kept = []
    for k in range(img.shape[1]):
        kept.append(img[:, k])
    return np.array(kept)


@program((5,), (0,), (1,))
def scored(n):
    found = []
    for k in range(n):
        found.append((k * 0.5, np.full(k + 1, 0.5 * k), k))
    total = 0.0
    for score, values, k in found:
        total += score * values[k]
    return found, total


# --- changes of the list ---


@program((9,), (1,), (0,))
def queue_of_arrays(n):
    queue = [np.zeros(3)]
    total = 0.0
    for k in range(n):
        queue.append(np.full(k + 2, 1.5 * k))
        first = queue.pop(0)
        total = total * 3 + first.sum() + len(first)
        queue.insert(0, np.full(2, total))
        queue.reverse()
    return total, queue


@program((9,), (1,))
def stack_of_arrays(n):
    stack = []
    total = 0.0
    for k in range(n):
        stack.append(np.full(k + 1, 1.0 * k))
        stack.append(np.full(4, 0.5 * k))
        top = stack.pop()
        stack.append(top + 1)
        below = stack.pop(-2)
        total = total * 3 + below.sum() - top[0]
    return total, stack


@program((9,), (3,), (2,))
def stored_items(n):
    ring = []
    for k in range(3):
        ring.append(np.full(k + 2, 1.0))
    for k in range(n):
        ring[k % 3] = ring[(k + 1) % 3] * 2 + k
        ring[-1] = np.full(k % 4, 0.5 * k)
    return ring


@program((6,), (0,))
def made_anew(n):
    total = 0.0
    last = np.zeros(2)
    for k in range(n):
        parts = []
        for i in range(k):
            parts.append(np.full(i + 1, 1.0 * k))
        parts.reverse()
        for p in parts:
            total = total * 2 + p[0] + len(p)
            last = p
        parts.clear()
        parts.append(last)
    return total, last


@program((6,), (1,))
def joined(n):
    a = []
    b = []
    for k in range(n):
        a.append(np.full(k + 1, 1.0 * k))
        b.append(np.full(2, 0.25 * k))
    both = a + b
    both.extend(a)
    both += b[1:]
    total = 0.0
    for k, p in enumerate(both[::-1]):
        total = total * 2 + p.sum() * k
    for p in reversed(a):
        total = total * 3 + p[0]
    c = a.copy()
    c.append(b[0])
    return total, len(both), len(c), len(a)


@program((7,), (2,), (3,))
def swapped(n):
    front = [np.zeros(1)]
    for k in range(n):
        following = []
        for p in front:
            following.append(p * 0.5 + k)
            if len(following) < 5:
                following.append(np.full(len(p) + 1, 1.0))
        front = following
    total = 0.0
    for p in front:
        total = total * 2 + p.sum()
    return total, len(front)


@program((image(8, 8),), (np.ones((2, 3)),))
def under_two_names(a):
    x = [a]
    y = x
    y.append(a * 2)
    return len(x), y[1][0, 0]


@program((image(8, 8), 5), (np.ones((2, 3)), 0))
def while_iterated(a, n):
    x = [a * 1]
    for v in x:
        if len(x) < n:
            x.append(v + 1)
    return x[-1].sum(), len(x)


def test_one_version_for_many_lengths():
    fast = accelerate(copies, strict=True)
    for n in range(40, 60):
        assert_same(fast, (image(3, 4), n))
    assert fast.stats.compiles + fast.stats.cache_hits <= 2


# --- order of changes ---


@program((4, 3), (0, 1))
def changed_before(n, m):
    rows = []
    for k in range(m):
        row = np.zeros(n)
        for i in range(n):
            row[i] = i * k
        row += 1
        rows.append(row)
    return rows


@program((4,), (0,))
def changed_in_an_earlier_loop(n):
    row = np.zeros(40)
    for i in range(40):
        row[i] = i * n
    rows = []
    for k in range(n):
        rows.append(row)
    return np.array(rows).sum(), len(rows)


def put_into(rows, row):
    rows.append(row * 2)
    return len(rows)


@program((image(5, 50),))
def by_a_helper(img):
    rows = []
    n = 0
    for row in img:
        n += put_into(rows, row)
    return rows, n


# --- layouts ---


@program((image(9, 7),), (image(9, 7).T,), (image(9, 7)[::2, 1:],),
         (np.asfortranarray(image(4, 4)),))
def of_any_layout(img):
    kept = []
    for k in range(30):
        kept.append(img + k)
    return kept[1].sum(axis=0), kept[2][0, 1]


@pytest.mark.parametrize("function, args, native", PROGRAMS)
def test_program(function, args, native):
    odd = function in (columns, of_any_layout)
    check_native(function, args, native and not odd)


# --- refusals ---


@refused(30)
def changed_afterwards(n):
    rows = []
    row = np.zeros(40)
    for k in range(n):
        rows.append(row)
    row[0] = 1
    return np.array(rows)


@refused(30)
def changed_in_the_next_round(n):
    rows = []
    row = np.zeros(40)
    for k in range(n):
        row[0] = k
        rows.append(row)
    return np.array(rows)


@refused(30)
def small_changed_in_the_next_round(n):
    rows = []
    row = np.zeros(2)
    for k in range(n):
        row[0] = k
        rows.append(row)
    return np.array(rows)


@refused(30)
def carried_round(n):
    rows = []
    row = np.zeros(40)
    for k in range(n):
        row[1] = k
        other = np.zeros(40)
        rows.append(other)
        row = other
    return np.array(rows)


@refused(30)
def changed_through_a_view(n):
    rows = []
    row = np.zeros(40)
    part = row[3:]
    for k in range(n):
        rows.append(row)
        part[0] += 1
    return np.array(rows)


@refused(30)
def item_changed(n):
    rows = []
    for k in range(n):
        rows.append(np.zeros(40))
    rows[0][1] = 5
    return np.array(rows)


@refused(30)
def small_item_changed(n):
    rows = []
    for k in range(n):
        rows.append(np.array([1.0, k]))
    for row in rows:
        row *= 2
    return np.array(rows)


@refused(30)
def item_changed_by_name(n):
    rows = []
    for k in range(n):
        rows.append(np.zeros(40))
    first = rows[0]
    first += 1
    return np.array(rows)


@refused(30)
def item_augmented(n):
    rows = []
    for k in range(n):
        rows.append(np.zeros(40))
    row = rows[0]
    rows[0] += 1
    return row[0]


@refused(30)
def filled_afterwards(n):
    rows = []
    row = np.zeros(40)
    for k in range(n):
        rows.append(row)
        row.fill(k)
    return np.array(rows)


@refused(30)
def changed_in_its_round(n):
    rows = []
    for k in range(n):
        row = np.zeros(40)
        rows.append(row)
        row[0] = k
    return np.array(rows)


@refused(np.zeros((4, 40)), 30)
def argument_changed(img, n):
    rows = []
    for k in range(n):
        rows.append(img[k % 4])
    img[0, 0] = 100
    return np.array(rows)


@refused(30)
def item_as_out(n):
    rows = []
    for k in range(n):
        rows.append(np.zeros(40))
    np.add(rows[0], 1, out=rows[0])
    return np.array(rows)


@refused(np.zeros(40), np.zeros(40), 30)
def arguments_may_overlap(a, b, n):
    rows = []
    for k in range(n):
        rows.append(a)
    for k in range(len(rows)):
        b[k] = 1
    return np.array(rows)


@refused(30)
def one_array_twice(n):
    rows = []
    for k in range(n):
        row = np.full(40, 1.0 * k)
        rows.append(row)
        rows.append(row)
    return rows


@refused(30)
def one_array_in_all_rounds(n):
    rows = []
    row = np.zeros(40)
    for k in range(n):
        rows.append(row)
    return rows


@refused(30)
def list_and_array(n):
    rows = []
    row = np.zeros(40)
    for k in range(n):
        row = np.full(40, 1.0 * k)
        rows.append(row)
    return rows, row


@refused(30)
def list_and_item(n):
    rows = []
    for k in range(n):
        rows.append(np.full(40, 1.0 * k))
    return rows, rows[0]


@refused(30)
def list_and_slice(n):
    rows = []
    for k in range(n):
        rows.append(np.full(40, 1.0 * k))
    return rows, rows[::-1]


@refused(30)
def slice_twice(n):
    rows = []
    for k in range(n):
        rows.append(np.full(40, 1.0 * k))
    both = rows[:2]
    both.extend(rows)
    return both


@refused(30)
def two_items(n):
    rows = []
    for k in range(n):
        rows.append(np.full(40, 1.0 * k))
    return rows[0], rows[-1]


@refused(np.zeros(40), 30)
def argument_in_a_list(a, n):
    rows = [a]
    for k in range(n):
        rows.append(a * k)
    return rows


@refused(np.zeros((4, 40)))
def views_in_a_list(a):
    rows = []
    for row in a:
        rows.append(row)
    return rows


@refused(np.zeros(40), 30)
def argument_as_item(a, n):
    rows = [a]
    for k in range(n):
        rows.append(a * k)
    return rows[n]


@refused(30)
def two_dtypes(n):
    rows = []
    for k in range(n):
        rows.append(np.zeros(40))
        rows.append(np.zeros(40, dtype=np.int32))
    return len(rows)


@refused(30)
def two_ranks(n):
    rows = []
    for k in range(n):
        rows.append(np.zeros(40))
        rows.append(np.zeros((40, 40)))
    return len(rows)


@pytest.mark.parametrize("function, args", REFUSED)
def test_refused(function, args):
    check_refused(function, args, "VZ-20")


@refused(np.zeros((4, 40)), 30)
def view_as_item(a, n):
    b = a * 2
    rows = []
    for k in range(n):
        rows.append(b[k % 4])
    return rows[1]


# --- results that are an argument if a loop has no round ---


def smoothed(img, n):
    for k in range(n):
        img = img * 0.5 + k
    return img


def larger(a, n):
    best = a
    for k in range(n):
        other = a * k
        if other[0] > best[0]:
            best = other
    return best, n


def exchanged(a, b, n):
    for k in range(n):
        a, b = b, a + b
    return a


@pytest.mark.parametrize("function, args, argument", [
    (smoothed, (image(30, 40), 3), None), (smoothed, (image(30, 40), 0), 0),
    (smoothed, (np.zeros(0), 40), None), (smoothed, (np.zeros(0), 0), 0),
    (smoothed, (np.arange(3.0), 20), None), (smoothed, (np.arange(3.0), 0), 0),
    (larger, (np.ones(40), 20), None), (larger, (np.zeros(40), 20), 0),
    (exchanged, (np.ones(40), np.zeros(40), 0), 0),
    (exchanged, (np.ones(40), np.zeros(40), 1), 1),
    (exchanged, (np.ones(40), np.zeros(40), 2), None),
])
def test_argument_or_fresh(function, args, argument):
    fast = accelerate(function, strict=True)
    assert_same(fast, args, native=argument is None)
    result = fast(*args)
    result = result[0] if isinstance(result, tuple) else result
    is_argument = [result is arg for arg in args]
    assert is_argument == [k == argument for k in range(len(args))]
    assert result.base is None


# --- one of two small arrays, in registers and in memory ---


def bounced(a, b, va, vb):
    line = a - b
    push = (va - vb).dot(line) / line.dot(line)
    if push >= 0:
        return va, vb
    return va - push * line, vb + push * line


def all_pairs(pos, vel, n):
    for i in range(n):
        for j in range(i + 1, n):
            vel[i], vel[j] = bounced(pos[i], pos[j], vel[i], vel[j])
    return vel


def test_rows_or_vectors():
    fast = accelerate(all_pairs, strict=True)
    assert_same(fast, (image(5, 2), image(5, 2, seed=1), 5))
