"""Calls between loops of what can't be compiled: the loops run native, the
call in Python, whatever it gives back."""
import warnings

import numpy as np
import pytest

import vizgen
from vizgen import _core, accelerate
from vizgen.compare import clone, difference

pytestmark = pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
CALLS = 6       # so many that trials come to an end


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """All parts are compiled when they are first met, and stay native."""
    monkeypatch.setenv("VIZGEN_TRIALS", "0")
    before = _core.part_heat(0)
    yield
    _core.part_heat(before)


class Unknown:
    """What no compiler can look into; gives what it was told to give."""

    def __init__(self):
        self.value = None
        self.calls = 0

    def __call__(self, *args, **keywords):
        self.calls += 1
        return self.value(*args, **keywords)


unknown = Unknown()


def grid(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-2, 2, shape or (9, 11))


# --- NumPy's functions --------------------------------------------------------


def spectrum(img):
    h, w = img.shape
    a = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            a[y, x] = img[y, x] * (1 + (x + y) % 2)
    b = np.fft.fft2(a)
    s = 0.0
    for y in range(h):
        for x in range(w):
            s += b[y, x].real * 0.5 - abs(b[y, x])
    return s, b


def histograms(img):
    n = 0
    for v in img.ravel():
        if v > 0.5:
            n += 1
    counts, xs, ys = np.histogram2d(img[0], img[1], bins=4)
    total = 0.0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            total += counts[i, j] * xs[i] - ys[j]
    return n, total


def solved(img):
    n = img.shape[0]
    a = np.zeros((n, n))
    for y in range(n):
        for x in range(n):
            a[y, x] = img[y, x] + 4.0 * (x == y)
    values, vectors = np.linalg.eigh(a)
    s = 0.0
    for y in range(n):
        for x in range(n):
            s += vectors[y, x] * values[x]
    return s


def masked(img):
    out = img.copy()
    for y in range(img.shape[0]):
        out[y, 0] = 0.0
    where = np.argwhere(out > 1.0)
    best = 0
    for k in range(where.shape[0]):
        if where[k, 0] > where[k, 1]:
            best += 1
    rows = np.apply_along_axis(np.ptp, 1, out)
    for y in range(rows.shape[0]):
        rows[y] += best
    return rows, where


def text_between(img):
    s = 0.0
    for y in range(img.shape[0]):
        s += img[y, 0]
    lines = np.array2string(img[:2, :2], precision=2).splitlines()
    for y in range(img.shape[0]):
        s += img[y, 1] * len(lines)
    return s, lines


def rows_one_by_one(img):
    """The call is in the loop: the loop inside is native."""
    out = np.zeros(img.shape[0])
    for y in range(img.shape[0]):
        row = np.fft.fft(img[y])
        s = 0.0
        for x in range(row.shape[0]):
            s += row[x].real * row[x].real + row[x].imag * row[x].imag
        out[y] = s
    return out


NUMPY = [spectrum, histograms, solved, masked, text_between, rows_one_by_one]


@pytest.mark.parametrize("function", NUMPY,
                         ids=lambda function: function.__name__)
@pytest.mark.parametrize("make", (
    grid, lambda: grid(9, 22)[:, ::2], lambda: np.asfortranarray(grid()),
    lambda: (grid() * 50).astype(np.int32), lambda: grid(8, 8)[::-1]))
def test_numpy(function, make):
    if function is solved:
        make = lambda: grid(7, 7)  # noqa: E731
    fast = accelerate(function)
    for _ in range(CALLS):
        mine, theirs = make(), make()
        assert difference(fast(mine), function(theirs)) is None
        assert difference(mine, theirs) is None
    assert fast.stats.mixed_calls == CALLS, fast.explain(make())
    assert fast.stats.python_calls == 0 and fast.stats.native_calls == 0


def blurred(img):
    import scipy.ndimage as ndimage

    out = np.zeros(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = img[y, x] * 2.0
    soft = ndimage.gaussian_filter(out, 1.5)
    s = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            s += soft[y, x] * img[y, x]
    return s, soft


def test_scipy():
    pytest.importorskip("scipy.ndimage")
    fast = accelerate(blurred)
    for _ in range(CALLS):
        assert difference(fast(grid()), blurred(grid())) is None
    assert fast.stats.mixed_calls == CALLS


# --- what a call gives --------------------------------------------------------


def summed(img, gain):
    a = np.zeros(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            a[y, x] = img[y, x] * gain
    b = unknown(a)
    s = 0
    for y in range(len(b)):
        s = s + b[y] * gain
    return s, b


VALUES = {
    "rows": lambda a: a,
    "column": lambda a: a[:, 0],
    "fewer": lambda a: a[:3, 1],
    "ints": lambda a: (a[:, 0] * 9).astype(np.int32),
    "bytes": lambda a: (a[:, 0] * 9).astype(np.int8),
    "floats": lambda a: a[:, 0].astype(np.float32),
    "complex": lambda a: a[:, 0] * 1j,
    "list": lambda a: a[:, 0].tolist(),
    "tuple": lambda a: (1, 2.5, np.float32(3)),
    "half": lambda a: a[:, 0].astype(np.float16),
    "objects": lambda a: a[:, 0].astype(object),
    "masked": lambda a: np.ma.masked_less(a[:, 0], 0.0),
    "big": lambda a: [2**70, 1],
    "text": lambda a: np.array([1.5, 2.5]).astype(object),
    "empty": lambda a: [],
    "reversed": lambda a: a[::-1, 2],
    "readonly": lambda a: np.broadcast_to(np.float64(2.0), 5),
}
FAILURES = {
    "none": lambda a: None,
    "strings": lambda a: ["a", "b"],
    "raises": lambda a: a[100],
    "divides": lambda a: 1 // 0,
}


@pytest.mark.parametrize("gain", (2, 0.5))
def test_types_change(gain):
    """Every call may give something of another type."""
    fast = accelerate(summed)
    for _ in range(2):
        for name, value in VALUES.items():
            unknown.value = value
            got, want = fast(grid(), gain), summed(grid(), gain)
            if name == "masked":
                got, want = map(repr, (got, want))
            words = difference(got, want)
            assert words is None, (name, words)
            assert type(got[1]) is type(want[1])
    assert fast.stats.python_calls + fast.stats.mixed_calls == 2 * len(VALUES)
    assert fast.stats.mixed_calls > 0 and fast.stats.native_calls == 0


@pytest.mark.parametrize("value", FAILURES.values(), ids=FAILURES)
def test_failures(value):
    fast = accelerate(summed)
    unknown.value = value
    for _ in range(3):
        texts = []
        for function in (fast, summed):
            unknown.calls = 0
            with pytest.raises(Exception) as raised:
                function(grid(), 2)
            texts.append((type(raised.value), str(raised.value)))
            assert unknown.calls == 1      # nothing is done twice
        assert texts[0] == texts[1]


def between(a, b):
    for y in range(a.shape[0]):
        a[y, 0] = y
    out = unknown(a, b, key=a[0, 0])
    for y in range(a.shape[0]):
        b[y] = out[y] + a[y, 1]
    unknown(b, a)
    for y in range(b.shape[0]):
        a[y, 2] -= b[y]
    return out is a


def change(a, b, key=0.0):
    """Changes its argument in place, and keeps what it was given."""
    a[...] = a * 2.0 + 1.0
    kept.append(a)
    return b


kept = []


@pytest.mark.parametrize("alias", (False, True))
def test_arguments_change(alias):
    """The call changes what the loops around it read and write."""
    unknown.value = change
    fast = accelerate(between)
    for _ in range(CALLS):
        for values in [grid(5, 4)]:
            a = values
            b = a[:, 3] if alias else np.zeros(5)
            mine = clone((a, b))
            theirs = clone((a, b))
            unknown.calls = 0
            got = fast(*mine)
            assert unknown.calls == 2
            assert got == between(*theirs)
            assert difference(mine, theirs) is None
            assert kept[-3] is mine[1] and kept[-4] is mine[0]
    assert fast.stats.mixed_calls == CALLS


def test_unknown_calls_the_function_again():
    def deeper(img, n):
        s = 0.0
        for y in range(img.shape[0]):
            s += img[y, 0] * n
        if n > 0:
            s += unknown(img, n - 1)
        for y in range(img.shape[0]):
            s -= img[y, 1]
        return s

    fast = accelerate(deeper)
    for _ in range(3):
        unknown.value = deeper
        want = deeper(grid(), 3)
        unknown.value = fast
        assert fast(grid(), 3) == want


# --- what is said -------------------------------------------------------------


def test_message():
    fast = accelerate(spectrum)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            fast(grid())
    texts = [str(one.message) for one in caught
             if one.category is vizgen.FallbackWarning]
    assert len(texts) == 1
    assert "VZ-2003" in texts[0] and "`np.fft.fft2` is not translated" in texts[0]
    assert "2 loops run native" in texts[0]


def in_rounds(img):
    out = []
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out.append(np.linalg.svd(img)[1][0] * x)
    return out


def test_cost_is_named():
    fast = accelerate(in_rounds)
    fast(grid(2, 2))
    assert ("`np.linalg.svd` is not translated: a call of Python in each round"
            " of 2 loops") in fast.explain()
    fast = accelerate(rows_one_by_one)
    fast(grid())
    assert ": a call of Python in each round\n" in fast.explain() + "\n"


# --- returns from loops -------------------------------------------------------


def finds(img, limit):
    words = unknown(limit)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > limit:
                return y, x, words
    return words, y


def two_ways_out(img, limit):
    words = unknown(limit)
    out = np.zeros(img.shape[0])
    for y in range(img.shape[0]):
        out[y] = img[y, 0]
        if img[y, 0] > limit:
            return out
        if img[y, 1] > limit:
            return [words, unknown(y)]
        if img[y, 2] > limit:
            return
    else:
        y = -1
    return y, out, words


def until(img, limit):
    words = unknown(limit)
    n = 0
    while True:
        n += 1
        if n * 0.01 > limit:
            return n, words


def within_finally(img, limit):
    log = unknown(limit)
    last = -1
    try:
        for y in range(img.shape[0]):
            last = y * 2
            if img[y, 0] > limit:
                return y, log
    finally:
        log.append(last)
    return log


def seen_by_inner(img, limit):
    log = unknown(limit)

    def tell():
        log.append(k)

    k = 0
    try:
        for y in range(img.shape[0]):
            k += y
            if img[y, 1] > limit:
                return log
    finally:
        tell()
    return k, log


class Search:
    def __init__(self):
        self.steps = 0

    def run(self, img, limit):
        words = unknown(limit)
        for y in range(img.shape[0]):
            self.steps += 1
            if img[y, 1] > limit:
                return self.steps * 0.5, words
        return self.steps, words


def raises_in_return(img, limit):
    words = unknown(limit)
    for y in range(img.shape[0]):
        if img[y, 0] > limit:
            return words[y + 1000]
    return words


def under_conditions(img, limit):
    words = unknown(limit)
    n = 0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > limit:
                break
            if img[y, x] * 7 < -limit:
                return y - x, words
        else:
            n += y
            continue
        if x > 3:
            break
    return words, x, y, n


RETURNS = [finds, two_ways_out, until, within_finally, seen_by_inner,
           raises_in_return, under_conditions]


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("trials", ("0", "1"))
@pytest.mark.parametrize("function", RETURNS,
                         ids=lambda function: function.__name__)
def test_returns(function, trials, monkeypatch):
    unknown.value = lambda value: [str(value)]
    monkeypatch.setenv("VIZGEN_TRIALS", trials)
    fast = accelerate(function)
    for _ in range(CALLS):
        for limit in (0.0, 1.0, 1.7, 1.95, 3.0):
            got = outcome(fast, grid(), limit)
            assert difference(got, outcome(function, grid(), limit)) is None
    if trials == "0":
        assert fast.stats.mixed_calls > CALLS, fast.explain(grid(), 1.0)


def test_returns_with_attributes():
    unknown.value = lambda value: [str(value)]
    fast = accelerate(Search.run)
    for _ in range(CALLS):
        for limit in (0.0, 1.0, 1.9, 3.0):
            ours, theirs = Search(), Search()
            got = fast(ours, grid(), limit)
            assert difference(got, theirs.run(grid(), limit)) is None
            assert ours.steps == theirs.steps
    assert fast.stats.mixed_calls == 4 * CALLS, fast.explain(ours, grid(), 1.0)


# --- comprehensions -----------------------------------------------------------


def weighted(img, gain):
    rows = unknown(img)
    total = sum(rows[k] * gain for k in range(len(rows)))
    best = max(abs(value) for value in rows)
    total += sum(img[y, x] for y in range(img.shape[0])
                 for x in range(img.shape[1]) if x > y)
    squares: list = [value * value for value in rows]
    return total, best, squares, unknown(img)[0]


def in_a_loop(img, gain):
    out = []
    for y in range(img.shape[0]):
        name = str(unknown(img)[0])
        s = sum(img[y, x] * gain for x in range(img.shape[1]))
        out.append((name, s))
    return out


def of_objects(img, gain):
    texts = [str(value) for value in unknown(img)]
    rows = [row for row in img]
    pairs = {k: row[0] * gain for k, row in enumerate(rows)}
    found = [a is b for a, b in zip(rows, rows[1:])]
    return texts, [row.base is img for row in rows], pairs, found


def shared(img, gain):
    kept = unknown(img)
    rows = [kept, kept]
    again = [row for row in rows]
    return again[0] is again[1], again[0] is kept, gain


def too_far(img, gain):
    kept = unknown(img)
    s = sum(kept[k] * gain for k in range(len(kept) + 1))
    return s


def walrus(img, gain):
    kept = unknown(img)
    many = [last := value * gain for value in kept]
    return many, last


@pytest.mark.parametrize("trials", ("0", "1"))
@pytest.mark.parametrize("function", (
    weighted, in_a_loop, of_objects, shared, too_far, walrus),
    ids=lambda function: function.__name__)
def test_comprehensions(function, trials, monkeypatch):
    monkeypatch.setenv("VIZGEN_TRIALS", trials)
    fast = accelerate(function)
    for value in (lambda a: a[:, 0].copy(), lambda a: a[1].tolist(),
                  lambda a: a[2].astype(np.float32), lambda a: [1, 2, 3],
                  lambda a: (a[3] * 9).astype(np.int16)):
        unknown.value = value
        for _ in range(3):
            img = grid()
            got = outcome(fast, img, 2)
            img = grid()
            want = outcome(function, img, 2)
            assert difference(got, want) is None, (got, want)
    if trials == "0" and function in (weighted, in_a_loop):
        assert fast.stats.mixed_calls > 0, fast.explain(grid(), 2)
