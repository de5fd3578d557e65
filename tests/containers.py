"""Programs with lists that change, global tables and dicts, for test_forms.py."""
import numpy as np

from tests.forms import program

# --- lists that grow, of things that no long list holds ---


def halved(a):
    h, w = a.shape[0] // 2, a.shape[1] // 2
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            out[y, x] = (a[2 * y, 2 * x] + a[2 * y + 1, 2 * x + 1]) / 2
    return out


def pyramid(a, depth):
    levels = [a * 1.0]
    for _ in range(depth):
        levels.append(halved(levels[-1]))
    return levels


@program((np.arange(64.0).reshape(8, 8), 3), (np.ones((9, 8)), 2))
def pyramids(a, depth):
    levels = [a * 1.0]
    for k in range(3):
        levels.append(halved(levels[-1]))
    more = pyramid(a, depth)
    more.append(levels[0])
    total = 0.0
    for k, level in enumerate(reversed(levels)):
        total += level[0, 0] * (k + 1) if level.shape[0] > 0 else 0.5
    return total, len(levels), levels[1], more[-2], len(more)


@program((np.arange(64.0).reshape(8, 8),))
def changed_lists(a):
    rows = [a[0] * 1, a[1] * 2, 3]
    rows[2] = a[2] * 1.5
    rows.insert(0, a[3] + 1)
    last = rows.pop()
    first = rows.pop(0)
    rows.reverse()
    rows.append(None)
    n = len(rows)
    return rows[0][1], rows[1][1], rows[2], last[0], first[0], n, rows.copy()[2]


@program((np.zeros((8, 8)), 3), refused="two names")
def grows_under_two_names(a, n):
    x = [a, None]
    y = x
    y.append(a * 2)
    return len(x), y[2][0, 0]


@program((np.zeros((8, 8)), 3), refused="change of this list")
def grows_in_helper(a, n):
    def put(items):
        items.append(a)
    x = [a * 1, None]
    put(x)
    return len(x)


@program((np.zeros((8, 8)), 3), refused="change of this list")
def grows_while_iterated(a, n):
    x = [a * 1, None]
    for v in x:
        if len(x) < 4:
            x.append(v)
    return len(x)


@program((4, 2.5), (1, 1.0))
def looked_for(n, x):
    t = (1, x, n, 1)
    u = [n, 2, n]
    return (t.count(1), t.index(1), u.count(n), u.index(2), t.index(n),
            (1, "a").index("a"))


@program((np.arange(3.0),))
def counted_by_numpys_numbers(a):
    return (1, 2, 1).count(a[1]), (2, 1, 1).index(a[1]), a[2] in (1, 2)


@program((np.arange(3.0),), refused="not translated")
def tuple_and_numpys_number(a):
    return (1, 2) == a[1], a[1] != (1, 2)


@program((3,), (7,), replays=1)
def not_found(n):
    return (1, 2, 3).index(n)


@program((3,))
def slices(n):
    t = (1, 2.5, n, "x", None)
    u = [1, n]
    return (t[::2], t[::-1], t[3:0:-2], t[-2:], u[::-1], t[7:], t[:-9], t[1:-1],
            t[-1:-3:-1], u[:], t[5:2])


# --- global lists and dicts, dicts with constant keys ---

TAPS = [1, 4, 6, 4, 1]
NEAR = [(-1, 0), (0, -1), (0, 1), (1, 0)]
STEPS = {"near": 1, "far": 2.5, "taps": [1, 2], 3: "three"}


@program((np.arange(12.0).reshape(3, 4),), (np.ones((1, 1)),))
def global_lists(a):
    h, w = a.shape
    total = 0.0
    for y in range(h):
        for x in range(w):
            for k in range(len(TAPS)):
                total += TAPS[k] * a[y, (x + k) % w]
            for dy, dx in NEAR:
                total -= a[(y + dy) % h, (x + dx) % w]
    return total, sum(TAPS), TAPS[::-1], TAPS[1:] + [h], NEAR[-1], max(TAPS), 6 in TAPS


@program((3, "near"), (4, "far"))
def global_dicts(n, name):
    total = 0
    for key, value in STEPS.items():
        if key == "taps":
            total += value[1]
    return (STEPS["far"] * n, STEPS.get("none"), STEPS.get("x", n), STEPS["taps"][0],
            STEPS[name], "near" in STEPS, n in STEPS, len(STEPS), STEPS[3.0], total,
            [k for k in STEPS], sum(v for v in (STEPS["near"], STEPS["far"])))


@program((1,), (2,), (7,), replays=1)
def dict_by_number(n):
    d = {1: 10, 2: n * 2.5, 3: 4}
    e = dict(a=1, b=n)
    return d[n], d.get(n, -1), e["b"], e["a"], sorted(e.values())


def options(a, scale=1, offset=0, **rest):
    return a * scale + offset, len(rest), rest.get("extra", 0)


@program((3,), (2.5,))
def keyword_arguments(x):
    d = {"scale": 2, "offset": x}
    return (options(x, **d), options(x, scale=3, extra=x, more=1),
            options(**{"a": 1}, offset=2), options(x, **STEPS_ONLY))


STEPS_ONLY = {"scale": 4}


def weighted(a, weights=[1.0, 2.5]):  # noqa: B006
    return a * weights[1]


@program((3,), (2.0,))
def default_list(a):
    return weighted(a), weighted(a, [0, a])


@program((2, 1), (0, 2), (-3, 3), (7, 3), replays=1)
def mixed_items(k, n):
    t = (1, 2.5, n)
    total = 0
    for i in range(-3, 3):
        total += t[i]
    return total, t[k], (n, None)[n > 1] is None


@program((np.ones(3), np.zeros(4), 1.0), (np.ones(3), np.zeros(4), -1.0))
def chosen_array(a, b, x):
    total = 0.0
    for i in range(2):
        v = (a, b)[(i + int(x)) % 2]
        total += v[1] * (i + 1)
    return total, ("near", "far")[x > 0] if False else 1


ZIGZAG = [(i, s - i) for s in range(15) for i in range(max(0, s - 7), min(s, 7) + 1)]
LEVELS = tuple(k * k / 7 for k in range(256))


@program((np.arange(64.0).reshape(8, 8), np.arange(0, 250, 7, dtype=np.uint8)),)
def long_tables(block, img):
    total = 0.0
    for k in range(64):
        y, x = ZIGZAG[k]
        total = total * 0.75 + block[y, x]
    for y, x in ZIGZAG:
        total += block[x, y]
    out = np.zeros(len(img))
    for i in range(len(img)):
        out[i] = LEVELS[img[i]] + ZIGZAG[i][0]
    return total, out, len(ZIGZAG), LEVELS[-1]
