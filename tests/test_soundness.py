"""Programs that go wrong where a proof or a check is a little too bold.

Each was written for a fault of the compiler that no test found when it was
planted (tests/planted.py): loops whose rounds depend on each other at every
distance, stores that are not undone because Python repeats them anyway,
conditions that excuse a check that they should not, stages that read one
element too far.
"""
import importlib.util
import itertools
import sys

import numpy as np
import pytest

from tests.fuzz import harness, stencils
from tests.support import assert_same
from vizgen import accelerate

OPTIONS = ("", "vectorize=0 regions=0", "pipes=0 unroll=0", "parallel=0", "recur=0")


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """The accelerated function 'f' of a text."""
    folder = tmp_path_factory.mktemp("soundness")
    numbers = itertools.count()

    def load(text):
        path = folder / f"sound_{next(numbers)}.py"
        path.write_text("import numpy as np\n\n\n" + text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return accelerate(module.f)
    return load


# --- rounds that depend on each other ---

DISTANCES = """def f(a, b, m):
    n = a.shape[0]
    for i in range({low}, n - {high}):
        a[i + {to}] = a[i + {read}] * 0.5 + b[i]
    for i in range(n - 1 - {high}, {low} - 1, -1):
        a[i + {to}] = a[i + {read}] * 0.5 + b[i]
"""


@pytest.mark.parametrize("to, read", [(0, -1), (0, 1), (1, 0), (-2, 0),
                                      (0, 0), (2, -1)])
def test_distances(load, to, read):
    fn = load(DISTANCES.format(low=2, high=2, to=to, read=read))
    a, b = np.random.RandomState(1).uniform(0, 1, (2, 3000))
    assert_same(fn, (a, b, 3))


HALVES = """def f(a, n):
    for i in range(n):
        a[i] = a[i + n - {less}] * 0.5 + 1.0
    for i in range(n):
        a[i + n - {less}] = a[i] * 0.5 + 1.0
"""


@pytest.mark.parametrize("less", (0, 1, 2))
def test_halves(load, less):
    """The halves of an array meet in no element, in one, in two; where they
    are short, within the lanes of a SIMD register."""
    a = np.random.RandomState(2).uniform(0, 1, 4000)
    fn = load(HALVES.format(less=less))
    for n in (2, 3, 4, 5, 7, 8, 9, 16, 17, 1999):
        assert_same(fn, (a, n))


def test_rows_that_threads_share():
    """So many that several threads are at work, so NumPy tells the rows."""
    a = np.random.RandomState(4).uniform(0, 1, (1500, 1500))
    want = a.copy()
    for r in range(1, len(want)):
        want[r] = want[r - 1] * 0.5 + want[r]
    fn = accelerate(rows_of_rows)
    fn(a)
    assert (a == want).all() and fn.stats.native_calls == 1


def carried(a, out):
    total = 0.0
    last = 0.0
    for i in range(a.shape[0]):
        total = total * 0.5 + a[i]
        out[i] = total - last
        last = a[i]
    return total, last


def rows_of_rows(a):
    for r in range(1, a.shape[0]):
        for c in range(a.shape[1]):
            a[r, c] = a[r - 1, c] * 0.5 + a[r, c]


def towards_the_right(a):
    for r in range(a.shape[0]):
        for c in range(1, a.shape[1]):
            a[r, c] = a[r, c - 1] * 0.5 + a[r, c]


def diagonal(a):
    for r in range(1, a.shape[0]):
        for c in range(a.shape[1] - 1):
            a[r, c] = a[r - 1, c + 1] * 0.5 + a[r, c]


def counted(a, table):
    for i in range(a.shape[0]):
        table[int(a[i] * 10)] += 1.0


def stored_and_read(a, b):
    """The second load must see the store between them."""
    for i in range(1, a.shape[0]):
        x = a[i - 1]
        a[i - 1] = b[i]
        b[i] = a[i - 1] + x
        a[i] = b[i] + a[i]


def maybe_same(a, b):
    """Element 3 is read again after a store that may be to it."""
    j = int(b[3])
    for i in range(a.shape[0]):
        x = a[j]
        a[i] = x + 1.0
        b[i] = a[j] + x
        a[j] = a[i] * 0.5


@pytest.mark.parametrize("options", OPTIONS)
def test_carried(options):
    rng = np.random.RandomState(3)
    line, plane = rng.uniform(0, 1, 2000), rng.uniform(0, 1, (70, 80))
    for fn, args in ((carried, (line, np.zeros(2000))),
                     (rows_of_rows, (plane,)), (towards_the_right, (plane,)),
                     (diagonal, (plane,)), (counted, (line, np.zeros(10))),
                     (stored_and_read, (line, line * 2)),
                     (maybe_same, (line, np.arange(2000.0)))):
        fast = accelerate(fn)
        fast._set_variant(options)
        assert_same(fast, args)


# --- what a failing check leaves behind ---


def adds(values, out):
    """Python must begin with what was there before."""
    for i in range(values.shape[0]):
        out[i % out.shape[0]] += 100 // int(values[i])
        out[0] = out[0] * 0.5 + 1.0


def adds_then_fails(values, out, k):
    for i in range(out.shape[0]):
        out[i] = out[i] * 2.0 + 1.0
    return 100 // int(values[k])


def adds_in_rows(values, out):
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[r, c] += 1.0
            if values[r] == 0:
                raise ValueError("zero")


def counts(values, out):
    """Nothing here may warn, so that no copy is taken for that."""
    for i in range(values.shape[0]):
        k = i % out.shape[0]
        out[k] = int(out[k]) * 3 % 1000 + 100 // int(values[i])


@pytest.mark.parametrize("at", (0, 1, 17, 39))
@pytest.mark.parametrize("options", OPTIONS)
def test_what_was_stored_before_a_check(options, at):
    values = np.arange(1.0, 41.0)
    values[at] = 0
    for fn, out in ((adds, np.ones(3)), (adds, np.ones(40)),
                    (adds_in_rows, np.ones((40, 5))),
                    (counts, np.ones(3, np.int64)),
                    (counts, np.ones(40, np.int64))):
        fast = accelerate(fn)
        fast._set_variant(options)
        assert_same(fast, (np.ones(40), out))
        assert_same(fast, (values, out), native=False)
    fast = accelerate(adds_then_fails)
    fast._set_variant(options)
    assert_same(fast, (values, np.ones(500), at), native=False)


# --- checks ---


def only_if(a, k, out):
    """The index is out of range in the very rounds that the branch runs."""
    for i in range(a.shape[0]):
        if k > 0:
            out[i] = a[i + k]
        else:
            out[i] = a[i]


def unless(a, k, out):
    for i in range(a.shape[0]):
        if k > 1:
            out[i] = 1.0
        else:
            out[i] = a[i + k]


def one_further(a, k, n, out):
    for i in range(n):
        if k > 0:
            out[i] = a[i + 1]
        else:
            out[i] = a[i]
    for i in range(n):
        if k != 1:
            out[i] += a[i + 1]


def no_rounds(a, n, k):
    total = 0.0
    for i in range(n):
        total += a[i + k]
    return total


@pytest.mark.parametrize("k", (-1, 0, 1, 2, 5))
def test_conditions_around_checks(k):
    a = np.arange(1.0, 9.0)
    assert_same(accelerate(only_if), (a, k, np.zeros(8)), native=False)
    assert_same(accelerate(unless), (a, k, np.zeros(8)), native=False)
    for n in (-1, 0, 1, 7, 8):
        assert_same(accelerate(one_further), (a, k, n, np.zeros(8)),
                    native=False)
    for n in (-1, 0, 1, 8 - max(k, 0), 9):
        assert_same(accelerate(no_rounds), (a, n, k), native=False)


def simd_sums(a, b, out):
    for i in range(a.shape[0]):
        out[i] = int(a[i]) + int(b[i])
    for i in range(a.shape[0]):
        out[i] = int(b[i]) - int(a[i])


@pytest.mark.parametrize("at", (0, 3, 50, 299))
@pytest.mark.parametrize("value", (2**63 - 1, -2**63))
def test_overflow_in_any_lane(at, value):
    a = np.full(300, 5)
    b = np.full(300, -7)
    assert_same(accelerate(simd_sums), (a, b, np.zeros(300, np.int64)))
    b[at] = value
    a[at] = 9 if value > 0 else -9
    fn = accelerate(simd_sums)
    assert_same(fn, (a, b, np.zeros(300, np.int64)), native=False)


def sum_in_order(a):
    total = 0
    for i in range(a.shape[0]):
        total = total // 2 + int(a[i])
    return total


@pytest.mark.parametrize("at", (0, 50, 299))
def test_overflow_of_a_sum(at):
    a = np.full(300, 2 ** 62)
    assert_same(accelerate(sum_in_order), (a,))
    a[at:at + 2] = 2 ** 63 - 1
    assert_same(accelerate(sum_in_order), (a,), native=False)


def float_or_float32(a, flag, y):
    """In double where it is Python's, which float32 can't hold."""
    x = a[0] if flag else y
    return x * y, x + 0.3, x - y, x / 0.7


def test_python_floats_beside_float32():
    fn = accelerate(float_or_float32)
    for flag, y in itertools.product((True, False), (0.5, 0.1, 1e-3, 3.0)):
        assert_same(fn, (np.array([0.3], np.float32), flag, y), native=False)


@accelerate
def dirty(n, value):
    out = np.zeros(n)
    for i in range(n):
        out[i] = value
    return out


@accelerate
def mostly_zero(n):
    out = np.zeros(n)
    scratch = np.zeros(n)
    scratch[n // 3] = 3.0
    out[n // 2] = 1.0
    return out, scratch[n // 3] + scratch[5]


def test_zeros_in_recycled_memory():
    n = 3_000_000
    for _ in range(3):
        assert dirty(n, 7.0).sum() == 7.0 * n
        out, both = mostly_zero(n)
        assert out.sum() == 1.0 and both == 3.0


# --- stages ---

STAGES = """def f(img):
    h, w = img.shape
    t = np.zeros((h, w))
    for r in range({r0}, h - {r1}):
        for c in range({c0}, w - {c1}):
            t[r, c] = img[r, c] * 2.0 + 1.0
    out = np.zeros((h, w))
    for r in range(1, h - 1):
        for c in range(1, w - 1):
            out[r, c] = t[r {dr}, c {dc}] * 0.5 + t[r, c]
    return out
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ends", list(itertools.product((0, 1, 2), repeat=2)))
@pytest.mark.parametrize("step", [("+ 1", ""), ("", "+ 1"), ("- 1", ""),
                                  ("", "- 1")])
def test_stages_that_reach_the_border(load, ends, step):
    """What the first stage does not write is zero."""
    near = dict(r0=ends[0], r1=ends[1], c0=ends[0], c1=ends[1])
    fn = load(STAGES.format(**near, dr=step[0], dc=step[1]))
    img = np.random.RandomState(6).uniform(1, 2, (40, 50))
    assert_same(fn, (img,))
    assert_same(fn, (img[:3, :3],))



@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_stages(tmp_path, seed):
    path = tmp_path / f"stages_{seed}.py"
    path.write_text(stencils.program(seed))
    record = harness.check(str(path), [{}])
    assert record["status"] in ("ok", "python"), record["why"]


# --- loops around loops, and arrays that change places ---


def runs(lens, values, width):
    """How far an inner loop goes is another number in every round."""
    out = np.zeros((lens.shape[0], width))
    total = 0
    for y in range(lens.shape[0]):
        pos = 0
        for i in range(lens.shape[1]):
            k = int(lens[y, i])
            if k == 1:
                out[y, pos] = values[y, i]
            for _ in range(k):
                pos += 1
                total += 1
    return out, total


def stage_of_turns(img):
    """The rounds of a stage's producer exchange arrays."""
    h, w = img.shape
    tmp = np.zeros((h, w))
    a, b, c = np.zeros(h), np.ones(h), np.full(h, 2.0)
    for y in range(h):
        for x in range(w):
            tmp[y, x] = img[y, x] * a[y] + 1.0
        a, b, c = b, c, a
    out = np.zeros((h, w))
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            out[y, x] = tmp[y - 1, x - 1] + tmp[y + 1, x + 1] + tmp[y, x + 1]
    return out


def turns_of_a_stage(img):
    """So do those of the last stage."""
    w = img.shape[1]
    tmp = np.zeros(w)
    for x in range(w):
        tmp[x] = img[0, x] * 0.5 + 1.0
    out = np.zeros(w)
    a, b, c = np.zeros(w), np.ones(w), np.full(w, 2.0)
    for x in range(1, w - 1):
        out[x] = tmp[x - 1] * 3.0 + tmp[x + 1] + tmp[x] + a[x]
        a, b, c = b, c, a
    return out


def empty_neighbour(img):
    """That a loop has a round says nothing for the one beside it."""
    h, w = img.shape
    count = np.zeros(9)
    acc = np.zeros((h, w))
    for t in range(3):
        tmp = np.zeros((h, w))
        for y in range(h):
            for i in range(t):
                count[i] += 1.0
            for x in range(1, w):
                k = min(x, x - 1 + t)
                tmp[y, k] = img[y, x] + 1.0
        for y in range(h):
            for x in range(w):
                acc[y, x] += tmp[y, x] * tmp[y, x]
    return acc, count


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fn", [stage_of_turns, turns_of_a_stage,
                                empty_neighbour], ids=lambda f: f.__name__)
def test_loops_beside_each_other(fn, options):
    fast = accelerate(fn)
    fast._set_variant(options)
    for shape in [(40, 1000), (3, 5), (1, 1)]:
        junk = [np.full(shape, 7.5) for _ in range(20)]
        del junk                    # recycled memory is not zero
        assert_same(fast, (np.random.RandomState(1).uniform(0, 1, shape),))


@pytest.mark.parametrize("options", OPTIONS)
def test_rounds_of_an_inner_loop(options):
    fast = accelerate(runs)
    fast._set_variant(options)
    values = np.ones((1, 4))
    assert_same(fast, (np.array([[1, 0, 1, 2]]), values, 4))
    for n in (1000, 40000):         # the last store is out of bounds
        with pytest.raises(IndexError):
            fast(np.array([[n, 1, 1, 1]]), values, 4)


def sum_of_rows(a):
    s = 0.0
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            x = a[i - 1, j]
            a[i, j - 1] = i * 10.0 + j
            s += a[i - 1, j] + x
    return s


def raised(a):
    a += 1.0
    return a[0, 0]


@pytest.mark.parametrize("strides", [(0, 8), (8, 8), (-8, 8), (8, 0)])
@pytest.mark.parametrize("fn", [sum_of_rows, raised])
def test_elements_that_coincide(fn, strides):
    """A written array in which two indices mean one element."""
    fast = accelerate(fn)
    for _ in range(2):
        results = []
        for one in (fn, fast):
            base = np.arange(60.0)
            view = np.lib.stride_tricks.as_strided(base[8:], (8, 5), strides)
            results.append((one(view), base.tolist()))
        assert results[0] == results[1]
