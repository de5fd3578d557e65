"""np.random's global state in compiled code: the same numbers, the same state
afterwards, whatever happens in between."""
import os
import subprocess
import sys

import numpy as np
import pytest

from vizgen import accelerate

from .support import ROOT


def walk(n):
    """Every scalar draw, in an order that depends on what is drawn."""
    x, k = 0.0, 0
    for _ in range(n):
        x += np.random.randn() * 0.5 + np.random.uniform(-1, 1)
        if np.random.random() < 0.3:
            k += np.random.randint(0, 10)
        elif np.random.rand() < 0.5:
            k += np.random.randint(3)
        x += np.random.normal(0.5, 2.0) + np.random.standard_normal()
    return x, k


def seeded(n, seed):
    np.random.seed(seed)
    total = np.random.randn()
    for _ in range(n):
        total += np.random.random_sample()
    return total


def shuffled(a):
    np.random.shuffle(a)
    return np.random.choice(a)


def fails_late(a, n):
    """Draws, then an index out of range: nothing may have been drawn twice."""
    for k in range(n):
        a[k] = np.random.normal()
    return a[0]


def state():
    """All of it, comparable."""
    kind, key, at, has_gauss, gauss = np.random.get_state()
    return kind, key.tobytes(), at, has_gauss, gauss


def run(function, args, kept):
    np.random.seed(11)
    if kept:
        np.random.randn()  # the second of the pair is kept
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        return function(*args), args, state()
    except IndexError as error:
        return str(error), args, state()


CALLS = [
    (walk, (0,)), (walk, (1,)), (walk, (700,)),
    (seeded, (3, 0)), (seeded, (700, 123)), (seeded, (1, 2**32 - 1)),
    (shuffled, (np.arange(30.0),)), (shuffled, (np.arange(1),)),
    (fails_late, (np.zeros(4), 4)), (fails_late, (np.zeros(4), 6)),
]


@pytest.mark.parametrize("kept", (False, True))
@pytest.mark.parametrize("function, args", CALLS)
def test_draws(function, args, kept):
    fast = accelerate(function)
    for _ in range(2):
        want = run(function, args, kept)
        got = run(fast, args, kept)
        assert repr(got) == repr(want)
        assert [type(v) for v in np.atleast_1d(got[0]).tolist()] == [
            type(v) for v in np.atleast_1d(want[0]).tolist()]
    assert fast.stats.python_calls == 0
    assert fast.stats.native_calls + fast.stats.replays == 2


def test_another_generator():
    """A bit generator that isn't NumPy's default is NumPy's business."""
    accelerate(walk)(1)     # NumPy's own is known from the first use on
    fast = accelerate(walk)
    ours = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.MT19937(5))
        got = fast(5)
        np.random.set_bit_generator(np.random.MT19937(5))
        assert got == walk(5)
    finally:
        np.random.set_bit_generator(ours)
    assert fast.stats.native_calls == 0


def test_first_use(tmp_path):
    """NumPy imports numpy.random when it is first named."""
    path = tmp_path / "first.py"
    path.write_text("import sys\nimport numpy as np\n"
                    "from vizgen import accelerate\n"
                    "assert 'numpy.random' not in sys.modules\n"
                    "@accelerate\ndef other(x):\n    return x + 1\n"
                    "@accelerate\ndef draw(n):\n    np.random.seed(n)\n"
                    "    return np.random.random()\n"
                    "assert other(1) == 2\n"
                    "assert draw(3) == draw.py_func(3)\n"
                    "assert draw.stats.native_calls == 1\n")
    subprocess.run([sys.executable, path], check=True, timeout=120,
                   env={**os.environ, "PYTHONPATH": str(ROOT)})
