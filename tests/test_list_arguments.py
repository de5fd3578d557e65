"""Lists as arguments, as arrays and under several names, against CPython."""
import numpy as np
import pytest

from tests.lists import adder, check_program, image, ints

PROGRAMS = []
program = adder(PROGRAMS)


@pytest.mark.parametrize("function, args, native, python", PROGRAMS)
def test_program(function, args, native, python):
    check_program(function, args, native, python)


# --- arguments ---


@program(([3, 1, 2], 5), ([], 0), ([7], 1))
def total_and_last(items, n):
    total = n
    for v in items:
        total += v
    best = items[-1] if items else None
    return total, best, len(items), items


@program(([1.5, 2, -0.0, 7],), ([1.0, 2.0],), ([None, 3, None],),
         ([np.float32(1.5), np.float32(2)],), ([np.uint8(200), 3],),
         ([2, True],), ([True],))
def kinds(items):
    out = []
    for v in items:
        if v is not None:
            out.append(v)
    return out, list(items)


@program(([(0, 1, 2), (2, 1, 3)], image(4, 3, dtype=np.float64)),
         ([], image(1, 3, dtype=np.float64)))
def triangle_areas(faces, points):
    out = np.zeros(len(faces))
    for k, (a, b, c) in enumerate(faces):
        ux = points[b, 0] - points[a, 0]
        uy = points[b, 1] - points[a, 1]
        vx = points[c, 0] - points[a, 0]
        vy = points[c, 1] - points[a, 1]
        out[k] = 0.5 * abs(ux * vy - uy * vx)
    return out


@program((image(6, 7, dtype=np.float64), [[1, 2, 1], [2, 4, 2], [1, 2, 1]]),
         (image(3, 3, dtype=np.float64), [[0.5, 0, 1.5]]),
         (image(3, 3, dtype=np.float64), [[], []]))
def convolved(img, kernel):
    kh, kw = len(kernel), len(kernel[0])
    out = np.zeros(img.shape)
    for y in range(kh // 2, img.shape[0] - kh // 2):
        for x in range(kw // 2, img.shape[1] - kw // 2):
            acc = 0.0
            for i in range(kh):
                for j in range(kw):
                    acc += img[y + i - kh // 2, x + j - kw // 2] * kernel[i][j]
            out[y, x] = acc
    return out


@program(([[1, 2, 3], [4, 5, 6]],), ([[1.5]],), ([[], []],), ([],))
def rows_of_lists(img):
    sums = []
    for row in img:
        total = 0
        for v in row:
            total += v
        sums.append(total)
        sums.append(len(row))
    return sums


@program(([(1, [2, 3.5]), (4, [5, 6.0])],), ([(1, [2, None])],))
def nested_items(items):
    total = 0
    out = []
    for a, (b, c) in items:
        total += a * b
        out.append(c)
    return total, out


@program((tuple(range(40)), 3), (tuple((i, i * 0.5) for i in range(20)), 7))
def long_tuples(items, k):
    out = []
    for v in items:
        out.append(v)
    return out, items[k], items


@program(([5, 3, 9],), ([2],))
def copied_argument(items):
    own = list(items)
    own.sort()
    own.append(items[0])
    part = items[1:]
    part.append(len(own))
    return own, items, part, items + [4], items * 2


@program(([1, 2 ** 70],), (["a"],), ([1, (2, 3)],), ([[1, 2], [3]],),
         ([np.zeros(2)],), ([{}],), native=False, python=True)
def left_to_python(items):
    return len(items)


# --- arrays ---


@program((4, [1.5, 2.5]), (1, [0.5]))
def arrays_of_lists(n, items):
    ints = [i * i for i in range(n)]
    points = [(i, i * 0.5) for i in range(n)]
    flags = [i > 1 for i in range(n)]
    rows = [[i, -i, 2 * i] for i in range(n)]
    return (np.array(ints), np.array(points), np.array(flags), np.array(rows),
            np.asarray(items), np.array(ints, dtype=np.float32),
            np.array(points, dtype=np.int32), np.asarray(np.array(items)),
            np.array([[1, 2, n], [n, 5, 6]]), np.array([(1, 2.5), (n, 4)]),
            np.array(((n, n),)), np.array(items, dtype=float) * 2)


@program(([1, 2.5],), ([1.0],), ([[1, 2], [3, 4]],), ([[1.5], [2]],),
         ([(1, 2.0, True)],), ([np.float32(2), np.float32(3)],))
def array_of_argument(items):
    return np.array(items)


@program(([],), ([[], []],))
def array_of_nothing(items):
    return np.array(items)


@program((0,), (3,), native=False)
def array_of_ints(n):
    return np.array([i for i in range(n)])


@program((0,), (3,))
def array_of_floats(n):
    return np.array([i * 0.5 for i in range(n)]), np.zeros(n)


@program((3,), (0,))
def filtered(n):
    """np.array of what a loop has gathered, with a dtype."""
    kept = []
    for i in range(n):
        if i != 1:
            kept.append(i)
    return np.array(kept, dtype=np.int64), np.zeros(len(kept))


# --- several names ---


@program((3,), (0,), (4,))
def exchanged(n):
    a = [1]
    b = [2, 3]
    for i in range(n):
        a.append(i)
        a, b = b, a
    return a, b, a


@program((4,), (1,))
def one_list_two_names(n):
    a = []
    b = a
    for i in range(n):
        a.append(i)
        b.append(-i)
    return a, b, len(a)


@program((True, 3), (False, 3))
def either(flag, n):
    a = [1] * n
    if flag:
        a = [2, 3]
        a.append(n)
    else:
        a.append(4)
    a.append(5)
    return a


@program((5, 3), (2, 8))
def longer_first(n, m):
    a = [1] * n
    b = [2] * m
    if len(a) < len(b):
        a, b = b, a
    a[0] = 9
    return a, b


@program((ints(2, 0, 3, 0, 0, 4),), (ints(),), (ints(0, 1),))
def reset(a):
    run = []
    runs = []
    for v in a:
        if v == 0:
            runs.append(len(run))
            run = []
        else:
            run.append(int(v))
    return run, runs


@program((5,), (0,))
def pascal(n):
    row = [1]
    for i in range(n):
        new = [1]
        for k in range(1, len(row)):
            new.append(row[k - 1] + row[k])
        new.append(1)
        row = new
    return row


@program((ints(1, 2, 3, 9), ints(2, 3, 4)), (ints(), ints(1)))
def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i in range(len(a)):
        now = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            now.append(min(now[j] + 1, before[j + 1] + 1, before[j] + cost))
        before = now
    return before[len(b)]


@program((3,), (0,))
def not_yet(n):
    path = None
    for i in range(n):
        if path is None:
            path = [i]
        else:
            path.append(i)
    return path


@program((3,))
def bound_in_loop(n):
    for i in range(n):
        last = [i]
        last.append(i + 1)
    return last, last[-1]
