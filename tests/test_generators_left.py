"""What is left to NumPy of its random generators, and what others see of them
while compiled code draws."""
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from tests.test_generators import compare, generator, made, state
from vizgen import accelerate

from .support import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")


# --- left to Python ----------------------------------------------------------


class Own(np.random.Generator):
    def random(self):
        return 0.25


def draws(rng, n):
    s = 0.0
    for _ in range(n):
        s += rng.random()
    return s


@pytest.mark.parametrize("make", (
    lambda: np.random.Generator(np.random.MT19937(3)),
    lambda: np.random.Generator(np.random.SFC64(3)),
    lambda: np.random.Generator(np.random.PCG64DXSM(3)),
    lambda: np.random.RandomState(np.random.PCG64(3)),
    lambda: Own(np.random.PCG64(3))))
def test_other_generators(make):
    fast = accelerate(draws)
    assert fast(make(), 5) == draws(make(), 5)
    assert fast.stats.native_calls == 0


def returned(rng, n):
    s = rng.random()
    return rng, s


def returned_new(seed):
    rng = np.random.default_rng(seed)
    rng.random()
    return rng


def listed(seed):
    rngs = [np.random.default_rng(seed), np.random.default_rng(seed + 1)]
    return rngs[0].random(), rngs


class Holder:
    pass


def kept(holder, rng):
    holder.rng = rng
    holder.x = rng.random()
    return holder.x


def kept_new(holder, seed):
    holder.rng = np.random.default_rng(seed)
    return holder.rng.random()


def test_handed_over():
    """Nobody gets what stands for a generator."""
    fast = accelerate(returned)
    rng = generator()
    out, value = fast(rng, 3)
    assert out is rng and value == returned(generator(), 3)[1]
    new = accelerate(returned_new)(4)
    assert type(new) is np.random.Generator
    assert state(new) == state(returned_new(4))
    value, rngs = accelerate(listed)(4)
    assert value == listed(4)[0]
    assert {type(one) for one in rngs} == {np.random.Generator}
    for function, arg in ((kept, rng), (kept_new, 5)):
        holder, other = Holder(), Holder()
        if function is kept:
            before = rng.bit_generator.state
            want = function(other, arg)
            rng.bit_generator.state = before
        else:
            want = function(other, arg)
        assert accelerate(function)(holder, arg) == want
        assert type(holder.rng) is np.random.Generator
        assert state(holder.rng) == state(other.rng)


def sets_attribute(rng):
    rng.words = 1


def asks_for_type(rng, n):
    if isinstance(rng, np.random.Generator):
        return rng.random() * n
    return 0.0


def reads_bits(rng, n):
    return rng.bit_generator.state["has_uint32"] + n


def truth(rng, n):
    return (1 if rng else 0) + n, rng is None, rng == rng


def single_normal(rng, n):
    return rng.standard_normal(dtype=np.float32) * n


def other_integers(rng, n):
    return [rng.integers(0, 2, n, dtype=bool), rng.integers(2, dtype=np.bool_)]


def truth_values(rng, n):
    return rng.integers(0, 2, dtype=bool), n


def long_integers(rng, n):
    return rng.integers(5, dtype=np.uint64), rng.integers(n)


def named_dtype(rng, n):
    return rng.integers(5, dtype="u1"), rng.random(n, "f4")


def integers_in_floats(rng, n):
    return rng.random(dtype=int) + n


def out_given(rng, n):
    a = np.zeros(n)
    rng.random(out=a)
    return a


def without_replacement(rng, n):
    return rng.choice(10, size=n, replace=False)


def other_distribution(rng, n):
    return rng.poisson(3.0) + rng.gamma(2.0) + n


def integers_of_floats(rng, n):
    return rng.integers(n + 2.0), rng.integers(True)


def axis_of_two(rng, n):
    a = np.arange(12).reshape(3, 4)
    rng.shuffle(a)
    return a, rng.choice(a), rng.permutation(a)


@pytest.mark.parametrize("function", (
    asks_for_type, reads_bits, truth, single_normal, other_integers,
    truth_values, long_integers, named_dtype, integers_in_floats, out_given,
    without_replacement, other_distribution, integers_of_floats, axis_of_two))
def test_left_to_python(function):
    compare(function, generator, (4,), times=3)


def test_attributes_are_not_set():
    with pytest.raises(AttributeError):
        accelerate(sets_attribute)(generator())


def test_lock():
    """A kernel doesn't draw while somebody else holds the lock."""
    fast, rng = accelerate(draws), generator()
    fast(rng, 1)
    done = []
    with rng.bit_generator.lock:
        thread = threading.Thread(target=lambda: done.append(fast(rng, 5)))
        thread.start()
        thread.join(0.2)
        assert not done
    thread.join()
    assert len(done) == 1


def test_many_threads():
    """No number is drawn twice."""
    def take(rng, out):
        for k in range(out.shape[0]):
            out[k] = rng.random()

    fast, rng = accelerate(take), np.random.default_rng(2)
    outs = [np.zeros(20000) for _ in range(4)]
    fast(rng, np.zeros(0))
    threads = [threading.Thread(target=fast, args=(rng, out)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    want = np.random.default_rng(2).random(80000)
    assert sorted(np.concatenate(outs)) == sorted(want)


CHECKED = """
import numpy as np
from vizgen import accelerate

RNG = np.random.default_rng(4)
STATE = np.random.RandomState(4)

@accelerate
def draws(rng, n):
    s = 0.0
    for _ in range(n):
        s += rng.random() + RNG.normal() + STATE.randn() + np.random.randn()
    return s

rng = np.random.default_rng(3)
np.random.seed(2)
print([draws(rng, 5) for _ in range(3)], draws.stats.native_calls)
"""


def test_checked(tmp_path):
    """VIZGEN_CHECK puts the generators back between its two runs."""
    path = tmp_path / "checked.py"
    path.write_text(CHECKED)
    texts = [subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "VIZGEN_CHECK": word}
        ).stdout for word in ("0", "1")]
    assert texts[0] == texts[1] and texts[0].endswith(" 3\n")


def test_unknown_numbers(monkeypatch):
    """A NumPy that draws other numbers is left alone."""
    from vizgen.library import streams

    monkeypatch.setattr(streams, "_known", False)
    monkeypatch.setattr(streams, "_views", type(streams._views)())
    for function, args in ((draws, (generator(), 4)), (made, (1, 4))):
        fast = accelerate(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fast(*args)
        assert fast.stats.native_calls == 0
