"""numpy.random's Generator and RandomState objects in compiled code: the same
numbers, the same state afterwards, whatever happens in between."""

import numpy as np
import pytest

from vizgen import accelerate
from vizgen.compare import difference

pytestmark = pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")


def generator():
    """With the half of a draw kept for the next number of 32 bits."""
    rng = np.random.default_rng(11)
    rng.integers(0, 5)
    return rng


def legacy():
    """With the second normal number of a pair kept."""
    rng = np.random.RandomState(11)
    rng.randn()
    return rng


def state(rng):
    """All of it, comparable."""
    return repr(rng.bit_generator.state if hasattr(rng, "bit_generator")
                else rng.get_state())


# --- programs ----------------------------------------------------------------


def walk(rng, n):
    x, k = 0.0, 0
    for _ in range(n):
        x += rng.random() * 0.5 + rng.uniform(-1, 1)
        if rng.random() < 0.3:
            k += rng.integers(0, 10)
        elif rng.random() < 0.5:
            k += rng.integers(3)
        x += rng.normal(0.5, 2.0) + rng.standard_normal()
        x -= rng.exponential() * rng.standard_exponential()
    return x, k


def legacy_walk(rng, n):
    x, k = 0.0, 0
    for _ in range(n):
        x += rng.rand() * 0.5 + rng.uniform(-1, 1) + rng.random_sample()
        if rng.random() < 0.3:
            k += rng.randint(0, 10)
        x += rng.normal(0.5, 2.0) + rng.standard_normal() + rng.randn()
        x -= rng.exponential(0.25)
    return x, k


def many_integers(rng, n):
    out = np.zeros((n, 8), np.int64)
    for k in range(n):
        out[k, 0] = rng.integers(0, 2**32)
        out[k, 1] = rng.integers(0, 2**32 - 1)
        out[k, 2] = rng.integers(-2**61, 2**62)
        out[k, 3] = rng.integers(5, 6)
        out[k, 4] = rng.integers(-3, 3, endpoint=True)
        out[k, 5] = rng.integers(0, 3 * 2**30)
        out[k, 6] = rng.integers(2**63 - 1)
        out[k, 7] = rng.integers(np.int32(7))
    return out, rng.integers(9)


def dtypes(rng, n):
    s = 0
    for _ in range(n):
        s += int(rng.integers(0, 10, dtype=np.uint8))
        s += int(rng.integers(-5, 100, dtype=np.int16))
        s += rng.integers(7, dtype=int) + rng.integers(3, dtype=np.int64)
    return (s, rng.integers(0, 256, n, np.uint8), rng.integers(3, 4, n, np.int8),
            rng.integers(-128, 127, (2, n), np.int8, endpoint=True),
            rng.integers(0, 250, n, dtype=np.uint8), rng.integers(5, size=n),
            rng.integers(0, 2**16, n, np.uint16), rng.integers(9, 99, n, np.int16),
            rng.integers(0, 2**32, n, np.uint32),
            rng.integers(-2**31, 2**31 - 1, n, np.int32),
            rng.integers(100, 200, size=n, dtype=np.uint8),
            rng.integers(0, 2, n, dtype=int), rng.integers(4, dtype=np.uint32))


def singles(rng, n):
    s = 0.0
    for _ in range(n):
        s += rng.random(dtype=np.float32)
    return s, rng.random(n, np.float32), rng.random((n, 2), dtype=np.float64)


def wrong_dtype(rng, high):
    s = 0
    for _ in range(3):
        s += int(rng.integers(0, high, dtype=np.uint8))
    return s


def choices(rng, a, p):
    n = 0
    total = rng.choice(a)
    for _ in range(50):
        total += rng.choice(a) + rng.choice(a, p=p)
        n += rng.choice(9) + rng.choice(4, p=[0.1, 0.2, 0.3, 0.4])
    return (total, n, rng.choice(9), rng.choice(a, 7), rng.choice(5, (2, 3)),
            rng.choice(a, size=4, p=p), rng.choice(len(a), 3, p=p))


def shuffled(rng, a):
    rng.shuffle(a)
    return rng.permutation(a), rng.permutation(7)


def filled(rng, h, w):
    return (rng.random((h, w)), rng.normal(0.5, 2.0, (h, w)), rng.random(3),
            rng.standard_normal(w), rng.uniform(-1.0, 1.0, size=h),
            rng.exponential(2.0, (w,)), rng.integers(0, 9, size=(h, w)),
            rng.integers(-5, 2**40, w))


def legacy_filled(rng, h, w):
    return (rng.rand(h, w), rng.normal(0.5, 2.0, (h, w)), rng.random(3),
            rng.standard_normal(w), rng.uniform(-1.0, 1.0, size=h),
            rng.randint(0, 9, size=(h, w)), rng.randn(w))


def noise(rng, img):
    out = np.empty_like(img)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = img[y, x] + rng.normal(0.0, 0.1)
    return out


def fails_late(rng, a, n):
    """Draws, then an index out of range: nothing may have been drawn twice."""
    for k in range(n):
        a[k] = rng.normal() + rng.random()
        a[k] += rng.integers(5) if isinstance(n, int) else 0
    return a[0]


def legacy_fails_late(rng, a, n):
    for k in range(n):
        a[k] = rng.normal() + rng.random()
    return a[0]


def draw(rng, low=-1.0):
    return rng.uniform(low, 1.0)


def by_helper(rng, n):
    s = 0.0
    for _ in range(n):
        s += draw(rng) * draw(rng, 0.5)
    return s


def two_names(rng, other, n):
    s = 0.0
    for _ in range(n):
        s += rng.random() - other.random()
    return s, rng is other


def wrong_range(rng, low, high):
    s = 0
    for _ in range(3):
        s += rng.integers(low, high)
    return s


def wrong_scale(rng, scale):
    s = 0.0
    for _ in range(3):
        s += rng.normal(0.0, scale)
    return s


def wrong_uniform(rng, low, high):
    s = 0.0
    for _ in range(3):
        s += rng.uniform(low, high)
    return s


def wrong_exponential(rng, scale):
    s = 0.0
    for _ in range(3):
        s += rng.exponential(scale)
    return s


A = np.arange(6) * 10
P = np.array([0.1, 0.2, 0.0, 0.3, 0.15, 0.25])

NATIVE = [
    (walk, generator, (0,)), (walk, generator, (1,)),
    (walk, generator, (3000,)),
    (legacy_walk, legacy, (0,)), (legacy_walk, legacy, (1,)),
    (legacy_walk, legacy, (700,)),
    (many_integers, generator, (40,)),
    (dtypes, generator, (50,)), (dtypes, generator, (0,)),
    (singles, generator, (21,)), (wrong_dtype, generator, (256,)),
    (choices, generator, (A, P)), (choices, generator, (A * 0.5, P)),
    (choices, generator, ([3, 1, 4, 1, 5, 9], P.tolist())),
    (choices, legacy, (A, P)),
    (shuffled, generator, (np.arange(30.0),)),
    (shuffled, generator, (np.arange(1),)),
    (shuffled, generator, (np.arange(24, dtype=np.uint8)[::-2],)),
    (shuffled, legacy, (np.arange(30.0),)),
    (filled, generator, (4, 7)), (filled, generator, (0, 1)),
    (legacy_filled, legacy, (4, 7)),
    (noise, generator, (np.ones((5, 6)),)),
    (noise, generator, (np.ones((5, 6), np.float32).T,)),
    (noise, generator, (np.ones((0, 6)),)),
    (fails_late, generator, (np.zeros(4), 4)),
    (legacy_fails_late, legacy, (np.zeros(4), 4)),
    (by_helper, generator, (20,)), (by_helper, legacy, (20,)),
    (wrong_range, generator, (-4, 5)), (wrong_scale, generator, (0.0,)),
]

REPLAYED = [
    (fails_late, generator, (np.zeros(4), 6)),
    (legacy_fails_late, legacy, (np.zeros(4), 6)),
    (wrong_dtype, generator, (257,)), (wrong_dtype, generator, (0,)),
    (wrong_range, generator, (5, 5)), (wrong_range, generator, (5, -5)),
    (wrong_scale, generator, (-1.0,)), (wrong_scale, generator, (-0.0,)),
    (wrong_scale, legacy, (-0.0,)), (wrong_scale, generator, (np.nan,)),
    (wrong_uniform, generator, (2.0, 1.0)),
    (wrong_uniform, generator, (0.0, np.inf)),
    (wrong_uniform, legacy, (-1e308, 1e308)),
    (wrong_exponential, generator, (-0.0,)),
    (wrong_exponential, legacy, (-2.0,)),
    (choices, generator, (A, np.ones(6))),
    (choices, generator, (A, P[:5])),
    (choices, generator, (A[:0], P[:0])),
]


def run(function, make, args):
    rng = make()
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        out = function(rng, *args)
    except Exception as error:
        out = repr(error)
    return out, args, state(rng)


def compare(function, make, args, times=2):
    fast = accelerate(function)
    for _ in range(times):
        want = run(function, make, args)
        got = run(fast, make, args)
        assert difference(got, want) is None, (got, want)
        assert repr(got) == repr(want)
    return fast


@pytest.mark.parametrize("function, make, args", NATIVE)
def test_native(function, make, args):
    fast = compare(function, make, args)
    assert fast.stats.native_calls == 2, fast.explain(make(), *args)


@pytest.mark.parametrize("function, make, args", REPLAYED)
def test_replayed(function, make, args):
    fast = compare(function, make, args)
    assert fast.stats.replays == 2, (fast.stats, fast.explain(make(), *args))


def test_two_names():
    fast = accelerate(two_names)
    for other in (False, True):
        rngs = [[generator(), np.random.default_rng(2)] for _ in range(2)]
        for pair in rngs:
            pair[1] = pair[1] if other else pair[0]
        assert fast(*rngs[0], 9) == two_names(*rngs[1], 9)
        assert [*map(state, rngs[0])] == [*map(state, rngs[1])]
    assert fast.stats.native_calls == 2


def test_one_state_of_two_generators():
    """Two objects that draw from one bit generator."""
    fast = accelerate(two_names)
    pairs = []
    for _ in range(2):
        bits = np.random.PCG64(5)
        pairs.append([np.random.Generator(bits), np.random.Generator(bits)])
    assert fast(*pairs[0], 9) == two_names(*pairs[1], 9)
    assert state(pairs[0][0]) == state(pairs[1][0])


def test_the_global_state_by_two_names():
    def both(rng, n):
        s = 0.0
        for _ in range(n):
            s += rng.randn() - 2.0 * np.random.randn()
        return s

    fast = accelerate(both)
    ours = np.random.mtrand._rand
    for n in (4, 5):
        np.random.seed(4)
        want = both(ours, n), state(ours)
        np.random.seed(4)
        assert (fast(ours, n), state(ours)) == want
    assert fast.stats.native_calls == 2


# --- where they come from ----------------------------------------------------

RNG = np.random.default_rng(8)


def of_module(n):
    s = 0.0
    for _ in range(n):
        s += RNG.normal()
    return s, RNG.integers(4)


def test_global():
    fast = accelerate(of_module)
    for n in (3, 0):
        before = RNG.bit_generator.state
        want = of_module(n), state(RNG)
        RNG.bit_generator.state = before
        assert (fast(n), state(RNG)) == want
    assert fast.stats.native_calls == 2


def test_another_global():
    """The name means another generator from now on."""
    global RNG
    fast = accelerate(of_module)
    fast(2)
    kept = RNG
    try:
        RNG = np.random.default_rng(77)
        got = fast(2)
        RNG = np.random.default_rng(77)
        assert got == of_module(2)
        RNG = np.random.Generator(np.random.MT19937(77))
        got = fast(2)
        RNG = np.random.Generator(np.random.MT19937(77))
        assert got == of_module(2)
    finally:
        RNG = kept


class Simulation:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.steps = 0

    def run(self, n):
        s = 0.0
        for _ in range(n):
            s += self.rng.normal() * self.rng.random()
            self.steps += 1
        return s


def test_attribute():
    fast = accelerate(Simulation.run)
    ours, theirs = Simulation(3), Simulation(3)
    for n in (4, 0, 9):
        assert fast(ours, n) == theirs.run(n)
        assert state(ours.rng) == state(theirs.rng)
        assert ours.steps == theirs.steps
    ours.rng = theirs.rng = np.random.default_rng(1)
    before = ours.rng.bit_generator.state
    want = theirs.run(4)
    ours.rng.bit_generator.state = before
    assert fast(ours, 4) == want
    assert fast.stats.native_calls == 4


def test_closure_and_default():
    inner = np.random.default_rng(5)

    def closure(n):
        s = 0.0
        for _ in range(n):
            s += inner.random()
        return s

    def default(n, rng=np.random.default_rng(6)):
        s = 0.0
        for _ in range(n):
            s += rng.random()
        return s

    for function, rng in ((closure, inner), (default, default.__defaults__[0])):
        fast = accelerate(function)
        before = rng.bit_generator.state
        want = function(7), state(rng)
        rng.bit_generator.state = before
        assert (fast(7), state(rng)) == want
        assert fast.stats.native_calls == 1


def made(seed, n):
    rng = np.random.default_rng(seed)
    s = 0.0
    for _ in range(n):
        s += rng.normal() + rng.integers(7)
    return s


def made_of_bits(seed, n):
    rng = np.random.Generator(np.random.PCG64(seed))
    return [rng.random() for _ in range(n)], rng.choice(5)


def made_legacy(seed, n):
    rng = np.random.RandomState(seed)
    s = rng.randint(5)
    for _ in range(n):
        s += rng.randn()
    rng.seed(3)
    return s, rng.rand(2, 3)


def made_in_a_loop(seed, n):
    s = 0.0
    for k in range(n):
        rng = np.random.default_rng(seed + k)
        s += rng.random()
    return s


def made_for_helper(seed, n):
    return by_helper(np.random.default_rng(seed), n)


@pytest.mark.parametrize("seed", (0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1))
@pytest.mark.parametrize("function", (
    made, made_of_bits, made_legacy, made_in_a_loop, made_for_helper))
def test_made(function, seed):
    fast = accelerate(function)
    if function is made_legacy and seed >= 2**32:
        with pytest.raises(ValueError):
            fast(seed, 3)
        return
    for n in (3, 0, 5):
        if function is made_in_a_loop and seed == 2**63 - 1:
            n = min(n, 1)
        got, want = fast(seed, n), function(seed, n)
        assert difference(got, want) is None and repr(got) == repr(want)
    assert fast.stats.native_calls == 3, fast.explain(seed, 3)


@pytest.mark.parametrize("seed", (-1, 2**64, 1.5))
def test_wrong_seeds(seed):
    fast = accelerate(made)
    try:
        want = made(seed, 3)
    except Exception as error:
        with pytest.raises(type(error)):
            fast(seed, 3)
    else:
        assert fast(seed, 3) == want
    assert fast.stats.native_calls == 0
