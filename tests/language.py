"""Programs of the language, each with arguments, for test_infer.py.

They are kept apart from the tests because pytest rewrites `assert`, and what
was rewritten is no longer what its source says.
"""
import math

import numpy as np

PROGRAMS = []


def program(*argument_lists, replays=0, refused=None):
    """Adds a function; 'replays' of its argument lists end in Python."""
    def add(function):
        PROGRAMS.append((function, argument_lists, replays, refused))
        return function
    return add


def image(*shape, dtype=np.float64, seed=0):
    values = np.random.RandomState(seed).randint(0, 100, shape)
    return values.astype(dtype)


# --- names and joins ---


@program((np.arange(4.0),), (np.zeros(0),), (np.arange(3, dtype=np.float32),),
         (np.arange(5, dtype=np.uint8),))
def sum_of(a):
    total = 0
    for i in range(a.shape[0]):
        total += a[i]
    return total


@program((np.arange(4.0), 2), (np.zeros(0), 3))
def mean_of(a, n):
    total = 0
    for v in a:
        total = total + v
    return total / n, total * 2, -total, abs(total), total < 1, int(total)


@program((np.zeros(0), 0), replays=1)
def zero_by_zero(a, n):
    total = 0
    for v in a:
        total += v
    return total / n


@program((np.array([3.0, 1.0, 2.0]),), (np.array([np.nan, 1.0]),),
         (np.zeros(0),))
def smallest(a):
    best = None
    where = -1
    for i in range(len(a)):
        if best is None or a[i] < best:
            best = a[i]
            where = i
    return best, where


@program((5,), (0,), replays=1)
def last_round(n):
    for i in range(n):
        last = i * 2
    return last


@program((3,), (0,), (7,))
def loop_variable_lives_on(n):
    i = -1
    for i in range(n):
        if i == 4:
            break
    return i


@program((np.arange(6.0), 3.0), (np.arange(6.0), 9.0))
def found_or_else(a, x):
    for i in range(len(a)):
        if a[i] == x:
            where = i
            break
    else:
        where = None
    return where


@program((10,), (1,))
def while_else(n):
    k = 0
    while k < n:
        k += 3
        if k == 6:
            break
    else:
        k = -k
    return k


@program((7, 3), (2, 9))
def swaps(a, b):
    a, b = b, a
    (a, b), c = (b, a), a + b
    x = y = a * 2
    x += 1
    return a, b, c, x, y


@program((2,), (-3,))
def two_kinds(n):
    x = 1 if n > 0 else 2.5
    y = True
    if n < 0:
        y = 7
    return x, y, x + y


@program((True,), (False,))
def constant_branch(flag):
    if flag:
        size = (3, 2)
    else:
        size = 4
    return np.zeros(size)


@program((np.ones((3, 4)),), (np.ones((3, 4, 3)),))
def gray_or_colour(img):
    if len(img.shape) == 2:
        out = np.zeros(img.shape[:2])
    else:
        out = np.zeros((img.shape[0], img.shape[1], 3))
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            out[r, c] = img[r, c] * 2 + 1
    return out


@program((np.arange(12.0).reshape(3, 4), "clamp"),
         (np.arange(12.0).reshape(3, 4), "wrap"))
def border(a, mode):
    out = np.empty_like(a)
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            if mode == "clamp":
                k = min(x + 1, w - 1)
            elif mode == "wrap":
                k = (x + 1) % w
            else:
                raise ValueError(mode)
            out[y, x] = a[y, k] - a[y, x]
    return out


@program((3,), (4,), replays=1)
def fails_sometimes(n):
    if n == 4:
        raise ValueError("four")
    assert n < 10, "large"
    return n


@program((3,))
def closing_none(n):
    n += 1


@program((3,), (-3,))
def none_or_number(n):
    if n > 0:
        return n * 2
    return None


# --- loops ---


@program((0, 10, 3), (10, 0, -3), (5, 5, 1), (-4, 9, 2), (9, -4, -2),
         (1, 2, 0), replays=1)
def any_step(lo, hi, step):
    out = 0
    n = 0
    for i in range(lo, hi, step):
        out = out * 3 + i
        n += 1
    return out, n


@program((np.arange(20.0),))
def constant_steps(a):
    total = 0.0
    for i in range(len(a) - 1, -1, -1):
        total = total * 0.5 + a[i]
    for i in range(1, len(a), 4):
        total -= a[i]
    for i in range(-3, 3):
        total += a[i]
    return total


@program((image(4, 5),))
def rows_of(img):
    total = 0.0
    for row in img:
        for v in row:
            total += v
        row[0] = total
    return total


@program((np.arange(5),))
def enumerated(a):
    total = 0
    for k, v in enumerate(a, start=2):
        total += k * int(v)
    for k, (i, w) in enumerate(zip(range(3), a)):
        total += k + i + int(w)
    return total


@program((6, 5), (1, 1))
def offsets(h, w):
    count = 0
    for y in range(h):
        for x in range(w):
            for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if y + dy < 0 or y + dy >= h:
                    continue
                if not 0 <= x + dx < w:
                    continue
                count += 1
    return count


@program((image(6, 6), 50.0), (image(6, 6), 1000.0))
def nested_breaks(a, limit):
    total = 0.0
    rounds = 0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            total += a[r, c]
            if total > limit:
                break
            rounds += 1
        else:
            continue
        if rounds > 3:
            break
        total = 0.0
    return total, rounds


@program((30,), (0,))
def forever(n):
    k = 0
    while True:
        k += 1
        if k * k > n:
            root = k - 1
            break
    return root


def first_above(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return i
    return -1


@program((np.arange(9.0), 4.5), (np.arange(9.0), 100.0))
def call_in_test(a, limit):
    n = 0
    while first_above(a, limit + n) >= 0 and n < 5:
        n += 1
    return n, first_above(a, limit)


# --- calls ---


def scaled(x, factor=2.0, *, offset=0):
    return x * factor + offset


@program((1.5,), (2,))
def keywords(x):
    return (scaled(x), scaled(x, 3), scaled(x, offset=1),
            scaled(factor=0.5, x=x, offset=-1))


def put(img, y, x, value):
    if y < 0 or x < 0:
        return
    img[y, x] = value


@program((np.zeros((3, 3)),))
def writes_through(img):
    for k in range(-1, 3):
        put(img, k, k, k + 0.5)
    row = img[1]
    row[2] = 9
    put(img[0:2], 0, 2, -1)
    return img


def halves(v):
    return v / 2, v % 2


@program((7.0,), (7,))
def tuples_returned(v):
    a, b = halves(v)
    pair = halves(a)
    return a, b, pair, pair[0], pair[-1], len(pair)


def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@program((np.array([-1.0, 0.0, 2.0]),))
def early_returns(a):
    total = 0
    for v in a:
        total = total * 10 + sign(v)
    return total


# --- small arrays ---


@program((image(4, 5, 3), np.zeros((4, 5, 3))),
         (image(4, 5, 4, dtype=np.uint8), np.zeros((4, 5, 4))))
def vector_pixels(img, out):
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            acc = np.zeros(img.shape[2])
            acc += img[r, c]
            acc[0] = acc[0] + 1
            acc *= 0.5
            acc[-1] -= 2
            k = r % 3
            acc[k] += 10
            out[r, c] = acc / 2.0 + img[r, c]
    return out


@program((image(3, 3, 3),))
def view_of_pixel(img):
    p = img[1, 1]
    q = p * 1.0
    img[1, 1, 0] = -5.0
    p += 1.0
    r, g, b = img[1, 1]
    return r, g, b, q, p[0] - q[0]


@program((np.arange(3.0),))
def two_names(v):
    a = np.zeros(3)
    b = a
    b += v
    a[0] = 7.0
    c = np.array([1.0, 2.5, 4])
    return a[0], b[0], b[2], c


def brighten(colour, amount):
    colour += amount


@program((2,))
def changed_by_callee(n):
    colour = np.zeros(3)
    for k in range(n):
        brighten(colour, k + 1)
    return colour[0], colour[1]


@program((image(5, 3),))
def carried_vector(a):
    low = a[0] * 1.0
    acc = np.zeros(3)
    for r in range(1, a.shape[0]):
        acc = acc + a[r]
        low = np.minimum(low, a[r])
    return acc, low, np.clip(acc, 0, 100), -acc, abs(acc - 50)


@program((1.0, 2), (0.0, 5))
def made_arrays(x, n):
    a = np.array([x, n, 1])
    b = np.array([n, 3], dtype=np.float32)
    c = np.full(2, x)
    return a, b, c, np.ones((n, 2), dtype=np.uint8), np.full((n,), 3)


@program((np.arange(24.0).reshape(2, 3, 4),))
def shapes(a):
    h, w, n = a.shape
    return (h, w, n, a.ndim, a.size, len(a), a.shape[-1], a.T[1, 2, 1],
            a[1, -1, -4], a[:, 1][1, 2], a[1][2][3], a[0:1, :2][0, 1, 2])


@program((np.arange(10.0), 3, -2), (np.arange(10.0), -20, 50),
         (np.arange(10.0), 4, 4))
def slices(a, lo, hi):
    part = a[lo:hi]
    total = 0.0
    for v in part:
        total += v
    for i in range(len(part)):
        part[i] = total
    return total, len(part), a.copy(), a.astype(np.int32)


# --- checks ---


@program((np.arange(3.0), 2), (np.arange(3.0), -3), (np.arange(3.0), 3),
         (np.arange(3.0), -4), replays=2)
def index_range(a, i):
    return a[i]


@program((np.zeros(4, np.uint8), 255), (np.zeros(4, np.uint8), 256),
         (np.zeros(4, np.uint8), -1), replays=2)
def store_range(a, x):
    a[0] = 1
    a[1] = x
    return a


@program((2 ** 62, 1), (2 ** 62, 2), (-2 ** 63, -1), replays=2)
def big_integers(a, b):
    return a * b + 1


@program((2.0,), (-1.0,), (np.float32(3),), (7,), replays=1)
def functions(x):
    return (math.sqrt(x), math.floor(x), math.ceil(x + 0.5), round(x + 0.5),
            math.atan2(x, 2), math.hypot(x, 1) if False else math.pi)


@program((3, 2), (-3, 2), (3, -2), (0, 5), (2, 0), (0, -1), replays=1)
def powers(a, b):
    return (a ** 2, a ** 3, 2 ** -b * 1.0, 2.0 ** b, a ** -b)


@program((3, 2), (-7, 2), (7, -2), (1, 0), replays=1)
def divisions(a, b):
    return a // b, a % b, a / b, divmod(a, b), a // 2.5, a % 2.5


@program((5, 2), (-5, 70), (5, -1), replays=1)
def shifts(a, n):
    return a >> n, a & 6, a | 3, a ^ 5, ~a, 1 << 3


@program((1, 2.0, np.float32(3)), (3, 2.0, np.float32(1)),
         (2, 2.0, np.float32(2)))
def extremes(a, b, c):
    return min(a, b), max(a, b), max(b, c), min(c, 2.5), max(a, 0, 7)


@program((0, 3.5), (2, 0.0), (-1, 1.0))
def chosen_values(a, b):
    return (a and b, a or b, not a, a if a > b else b, 0 < a <= b,
            a == 0 or b, a < b < 10 and b)


# --- refusals ---


@program((np.arange(40.0), 30), refused="VZ-2006")
def conflicting(a, n):
    if n > 2:
        x = a
    else:
        x = 1.0
    return x


@program((np.ones((3, 100)),))
def unknown_size(a):
    return a[0] * 2.0


@program((np.ones((3, 3)),))
def view_returned(a):
    return a[0]


@program((np.ones((3, 3), int),), replays=1)
def casting_rule(a):
    a[0] /= 2
    return a


@program((np.arange(4.0),), refused="VZ-2003")
def unknown_function(a):
    return np.roots(a)
