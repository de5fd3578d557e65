"""Programs with sequences of fixed length, comprehensions and other forms of the
language, each with arguments, for test_forms.py."""
import itertools
import math

import numpy as np

PROGRAMS = []
NAN = float("nan")


def program(*argument_lists, replays=0, refused=None):
    """Adds a function; 'replays' of its argument lists end in Python."""
    def add(function):
        PROGRAMS.append((function, argument_lists, replays, refused))
        return function
    return add


# --- tuples and lists ---


@program((3, 2.5), (1, 1.0), (-1, 7.0))
def compared_tuples(a, b):
    t = (a, b)
    return (t == (1, 1.0), t != (3, b), t == (a, b, 1), t < (1, 2.0),
            t <= (3, 2.5), (a,) > t, (a, (b, 2)) == (3, (2.5, 2)),
            (1, 2) < (1, 3), [a] == [1], [a] == (1,), t == 5, None == t)


@program((1.0, 2.0), (2.0, 1.0), (NAN, 1.0), (NAN, NAN), replays=1)
def compared_floats(a, b):
    return (a, 1) == (b, 1), (a, 1) < (b, 2)


@program((np.float64(1), np.float64(2)), (np.float64(2), np.float64(2)))
def ordered_scalars(a, b):
    return (a, 1) < (b, 2), (a, 1) == (b, 2), (a,) < (b,)


@program((3,), (5,), (-2,))
def membership(n):
    return (n in (1, 3, 5), n not in [2, 3], n in (), 3 in (1, 3),
            n in range(1, 9), n in range(1, 9, 2), n not in range(4),
            "b" in "abc", "x" in ("x", "y"), None in (1, None), (n, 1) in ((3, 1),))


@program((2.0,), (NAN,), (3.5,))
def float_membership(x):
    return x in (1, 2, 3), x not in (0.5, 3.5)


@program((2.0, 2.0), (NAN, 1.0), (NAN, NAN), replays=1)
def unknown_membership(x, y):
    return x in (y, 1.0)


@program((4,), (0,))
def repeated(n):
    t = (n, 1.5) * 2
    u = 2 * [n] + [0] * 3
    return t, u, len(t), len(u), t[3], (1,) * 0, () * 3


@program((np.arange(3.0), 2), (np.arange(4.0), 3))
def sums(a, n):
    t = (n, 1.5, True)
    return (sum(t), sum([n, n]), sum((n, 2), 10), sum(t, start=0.5), sum(()),
            sum(a), sum(range(n)), sum(range(5)), sum(a[i] for i in range(n)),
            sum([v * 2 for v in a]), sum(v for v in a if v > 1))


@program((np.arange(5, dtype=np.uint8),), (np.array([200, 100], np.uint8),),
         (np.zeros(0, np.uint8),))
def sums_of_bytes(a):
    return sum(a), sum(int(v) for v in a)


@program((np.array([1.0, -2.0, 3.0]),), (np.zeros(0),), (np.array([0.0]),))
def searches(a):
    return (any(v < 0 for v in a), all(v < 5 for v in a), any(a), all(a),
            any([v > 2 for v in a]), all(v > w for v in a for w in (-5, -6)),
            any(v == w for v in a for w in a if w > 2))


@program((4, 0), (0, 0), (3, 2.5))
def searches_of_tuples(a, b):
    return any((a, b)), all((a, b)), any([]), all(()), any((0, None, "")), all((1, "x"))


@program((np.array([3.0, 1.0, 2.0]), 2), (np.array([1.0]), 1))
def extremes(a, n):
    t = (n, 2, 7 - n)
    return (min(t), max(t), min([n, 3]), max(a), min(a), max(range(n, 9)),
            max(abs(v) for v in a), min(v * v for v in a if v > 0),
            max((), default=n), min((v for v in a if v > 99), default=-1))


@program((np.zeros(0),), replays=1)
def no_extreme(a):
    return max(v for v in a)


@program((3, 1, 2), (1, 1, 0), (-5, 9, 9))
def ordered_ints(a, b, c):
    return sorted((a, b, c)), sorted([a, b, c], reverse=True), sorted((c, b))[0]


@program((3.0, 1.0, 2.0), (0.0, -0.0, 0.0), (-0.0, 0.0, -1.0),
         (1.0, NAN, 0.0), replays=1)
def ordered_floats(a, b, c):
    return sorted((a, b, c)), sorted((a, b, c), reverse=True)


@program((np.array([5, 3, 9, 1, 7, 3, 8, 0, 2], np.uint8),))
def median_of(a):
    window = sorted([a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]])
    return window[4], window


@program((np.arange(12.0).reshape(4, 3),))
def made_sequences(a):
    t = tuple(a.shape)
    return (t, list(range(3)), tuple(zip((1, 2), (3.5, 4))), list(t),
            tuple(enumerate((5, 6), 2)), list(reversed((1, 2.5))),
            tuple(reversed(range(4))), list(), tuple(), sum(tuple(a[1, :3])))


# --- comprehensions ---


@program((3,), (-2,))
def comprehensions(n):
    t = [k * n for k in range(4)]
    u = tuple(k + v for k, v in enumerate(t))
    w = [(i, j) for i in range(3) for j in range(i)]
    x = [i for i in range(6) if i % 2 == 0]
    k = 7
    return t, u, w, x, k, [y for y in (n, 2.5)], len([0 for _ in range(5)])


@program((np.arange(6.0).reshape(2, 3),))
def comprehension_of_rows(a):
    h, w = a.shape
    pairs = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    total = 0.0
    for y in range(h):
        for x in range(w):
            total += sum(a[(y + dy) % h, (x + dx) % w] for dy, dx in pairs)
    return total, len(pairs)


@program((np.arange(4.0),))
def comprehension_in_loop(a):
    out = 0.0
    for v in a:
        t = [v * k for k in (1, 2, 3)]
        out += t[0] + t[2]
    return out


@program((5,), (3,))
def list_of_unknown_length(n):
    return sum([i * i for i in range(n)]), max([i % 3 for i in range(n)])


# --- numbers of 64 bits ---


@program((np.arange(5, dtype=np.uint64),), (np.array([2 ** 64 - 1], np.uint64),))
def hash_of(a):
    h = np.uint64(0xCBF29CE484222325)
    for v in a:
        h = (h ^ v) & np.uint64(0xFFFFFFFFFFFFFFFF)
        h = h ^ (h >> np.uint64(29)) | np.uint64(1 << 3)
    return h, np.uint64(0x8000000000000000), np.uint64(7)


@program((1.0,), (2,), replays=0, refused="more than 63 bits")
def too_large(x):
    return np.uint64(0x10000000000000000) if x > 1 else 0


# --- walrus ---


@program((5,), (20,))
def walrus(n):
    if (m := n * 2) > 10:
        m += 1
    return m, (k := m + 1), k


@program((np.array([3.0, 2.0, 0.0, 5.0]),), (np.array([0.0]),),
         (np.array([1.5, -2.0, np.nan, 1.0, 0.0]),))
def walrus_in_while(a):
    k, total = 0, 0.0
    while (v := a[k]) != 0:
        k += 1
        if v < 0:
            continue
        total += v
    return k, total, v


@program((7,), (27,), (1,))
def walrus_in_two_whiles(n):
    steps = []
    while (n := n // 2 if n % 2 == 0 else 3 * n + 1) > 1:
        d = 0
        while (rest := n >> d) > 4 and rest % 2 == 0:
            d += 1
            if d > 3:
                break
        else:
            d = -d
        steps.append((n, d, rest))
    return steps, n


@program((3, 4), (3, 2), (0, 0))
def walrus_with_else(n, stop):
    k = 0
    while (m := n - k) > 0:
        k += 1
        if k == stop:
            break
    else:
        m = -1
    return k, m


@program((np.zeros(4), 2), (np.arange(6.0), 1), replays=1)
def walrus_runs_out(a, k):
    while (v := a[k]) < 3:
        a[k] = v + 1
        k += 1
    return v, k


@program((5,), refused="whose `else` leaves")
def walrus_leaves_outer_loop(n):
    for i in range(n):
        while (m := n - i) > 3:
            n -= 1
        else:
            continue
        n += 1
    return n, m


@program((5,), refused="always evaluated")
def conditional_walrus(n):
    if n > 3 and (m := n * 2) > 10:
        return m
    return 0


# --- iteration ---


@program((3,), (0,))
def different_items(n):
    out = []
    total = 0
    for k in (1, 2.5, n, True):
        total += k
    for name, v in (("a", 1), ("b", 2.5), ("c", (n, 4))):
        if name == "c":
            total += v[0] * v[1]
        else:
            total = total + v
    return total, k, name, out


@program((np.arange(6.0).reshape(2, 3), np.ones(4)),)
def different_arrays(a, b):
    total = 0.0
    for m in (a, b):
        total += m.shape[0] * (m[0, 1] if m.ndim == 2 else m[0])
    return total


@program((3,), (1,), (7,))
def breaks_in_written_loops(n):
    found = -1
    seen = 0
    for k, v in ((1, 2.5), (3, 4), (7, 8)):
        if k < n:
            continue
        seen += 1
        if k == n:
            found = v
            break
        if n == 2:
            return 22, seen
    else:
        found = 0
    return found, seen


@program((1,), (2,), (3,), (4,))
def returns_from_written_loops(n):
    for a in (1, 2.0):
        for b in (1, None):
            if n == 4:
                break
            if a == n and b is None:
                return int(a), b
            if b is None:
                continue
            if n == 3 and b == 1 and a == 2:
                return 33, None
        else:
            n = n + 10
        n += 1
    return n, None


@program((np.arange(5.0), 3), (np.zeros(0), 0), (np.arange(3.0), 1))
def reversals(a, n):
    out = 0.0
    for v in reversed(a):
        out = out * 2 + v
    for i in reversed(range(n)):
        out = out * 3 + i
    for i in reversed(range(1, 9, 3)):
        out = out * 3 + i
    for i, v in enumerate(reversed((n, 2, 3))):
        out = out * 2 + i * v
    for v in reversed((1, 2.5, n)):
        out += v
    return out


@program((np.arange(6.0).reshape(2, 3), 2), (np.zeros((0, 3)), 1))
def products(a, n):
    out = 0.0
    for y, x in np.ndindex(a.shape):
        out = out * 0.5 + a[y, x]
    for index in np.ndindex(*a.shape):
        out = out * 0.5 + a[index]
    for y, x in itertools.product(range(a.shape[0]), range(1, a.shape[1])):
        out = out * 0.5 + a[y, x]
        if out > 3:
            break
    for i, j in itertools.product((1, 2), range(n)):
        if i == j:
            continue
        out += i * j
    else:
        out += 100
    for (y, x), v in np.ndenumerate(a):
        out += v * (y + x)
    for i, j, k in np.ndindex(2, n, 2):
        out += i * j * k
    return out, i, j


@program((np.arange(12.0).reshape(3, 4),))
def rows(a):
    out = 0.0
    for y, row in enumerate(a):
        for x, v in enumerate(row):
            out += v * (y - x)
    for r, s in zip(a, a[1:]):
        out += r[0] * s[1]
    for r in a:
        for v in r:
            out = out * 0.5 + v
    for p, q in ((0, 1), (1, 0)):
        out += a[p, q]
    return out


@program((5,))
def while_written_out(n):
    t = (n,)
    while len(t) < 4:
        t = t + (len(t),)
    u = ()
    for k in range(3):
        u += (k * n,)
    return t, u


@program((4,), (1,))
def lists_in_written_loops(n):
    t = (1, 2.5)
    out = 0
    for k in range(2):
        out += t[k]
    for k in range(2):
        if k == n:
            break
        out = out + t[k] * n
    return out


# --- stars ---


@program((3,), (0,))
def stars(n):
    t = (n, 2.5, 7)
    a, *b = t
    *c, d = [1, n]
    e, *f, g = (1, 2)
    (h, *i), j = t, n
    return a, b, c, d, e, f, g, h, i, j, (0, *t), [*t, *c], max(*t), min(n, *c)


@program((np.arange(4.0),), (np.arange(3, dtype=np.uint8),))
def starred_arrays(v):
    a, *b = v[:3]
    first, *rest = (v[0], v)
    return a, b, first, len(rest), rest[0][1]


def spread(a, b=2, *rest, scale=1):
    total = a + b * 10
    for v in rest:
        total += v * scale
    return total, len(rest)


@program((3,), (-1,))
def var_arguments(n):
    t = (n, 4, 5.5)
    return (spread(n), spread(n, 1), spread(n, 1, 2, 3.5), spread(*t),
            spread(*t, scale=3), spread(n, *t, 8), spread(b=n, a=1))


# --- nested functions ---


@program((np.arange(4.0), 2), (np.zeros(0), 3))
def closures(a, k):
    def scaled(x, by=k + 1):
        return x * k + by

    def twice(f, x):
        return f(f(x))

    out = 0.0
    for v in a:
        out += scaled(v)
    k = 10
    add = lambda x: x + out  # noqa: E731
    return out, scaled(1), scaled(1, by=0), twice(add, 1), twice(scaled, 2)


@program((3, True), (3, False))
def chosen_function(n, flag):
    f = math.floor if flag else math.ceil
    g = (lambda x: x + 1) if n > 2 else (lambda x: x + 1)
    return f(n / 2)


def applied(a, f=math.sqrt, g=lambda v: v + 1):
    return f(a) + g(a)


@program((4.0,), (2.0,))
def functions_as_arguments(x):
    return applied(x), applied(x, math.sin), applied(x, g=lambda v: v * x)


@program((5,), refused="outlives")
def escapes(n):
    def make(k):
        return lambda x: x + k
    return make(n)(3)


@program((2,), (4,), (0,))
def known_depth(depth):
    def power(x, k):
        return 1 if k == 0 else x * power(x, k - 1)
    return power(2.5, depth), power(3, 5)


@program((np.zeros(3), 1),)
def changes_in_nested(a, n):
    count = np.zeros(3)

    def bump(i):
        count[i] += n
        a[i] = count[i]

    for i in range(3):
        bump(i)
        bump(0)
    return count


@program((np.zeros(3), 1), refused="name of the function around")
def nonlocal_name(a, n):
    def bump():
        nonlocal n
        n += 1
    bump()
    return n


# --- statements that Python handles when they fail ---


@program((np.arange(3.0), 1), (np.arange(3.0), 9), replays=1)
def handled(a, i):
    try:
        v = a[i]
    except IndexError:
        return -1.0
    else:
        v += 1
    finally:
        i = i + 1
    return v, i


@program((4,), (0,), replays=1)
def raised_and_handled(n):
    try:
        if n == 0:
            raise ValueError("none")
        out = 10 / n
    except (ValueError, ZeroDivisionError):
        out = 0.0
    return out


# --- None or a tuple ---


@program((np.array([3.0, 1.0, 2.0]),), (np.zeros(0),), (np.array([9.0]),))
def tuple_or_none(a):
    best = None
    for i in range(len(a)):
        if best is None or a[i] < best[1]:
            best = (i, a[i])
    if best is None:
        return None
    i, v = best
    return i, v, best


@program((5, 3), (2, 9))
def clamped_box(a, b):
    if a >= b:
        return None
    return (a, b), a + b


def box(a, b):
    if a >= b:
        return
    return a, b, (a, 1.5)


@program((5, 3), (2, 9), (1, 2))
def helper_tuple_or_none(a, b):
    t = box(a, b)
    if t:
        a, b, c = t
    else:
        c = (0, 0.0)
    u = box(b, a) or (1, 2, (3, 4.0))
    return a, b, c, t is None, u is not None, not t, len(u)


@program((5, 3), (2, 9), replays=1)
def unpacks_none(a, b):
    x, y, z = box(a, b)
    return x + y


@program((3,), (0,), (-1,), replays=1)
def unbound_tuple(n):
    for i in range(n):
        t = (i, 2.5)
    if n < 0:
        t = (0, 0.0)
    return t[0], t


@program((np.arange(3.0), True), (np.arange(3.0), False))
def tuple_of_array_or_none(a, flag):
    t = None
    if flag:
        t = (a * 2, 3)
    if t is None:
        return -1.0
    return t[0][1] + t[1]


@program((1,))
def floats_from_text(n):
    return (float("inf"), float("-inf"), float("nan"), float("2.5"), -float("inf"),
            float("1e3") + n)


# --- with, del ---


@program((3,), (0,), replays=1)
def deleted(n):
    x = n * 2
    y = x + 1
    del x
    if n == 0:
        return x
    x = 5
    return x, y


@program((1.0,), refused="this `with` is not translated")
def other_context(x):
    with np.errstate(all="raise"):
        return x * 2
