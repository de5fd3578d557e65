"""What is read and what is written are parts of one memory, or not.

Views are cut at random out of one block: shifted, with steps, backwards,
transposed, single channels, the same bytes under another dtype.  Overlapping
or not, each call must leave the whole block as Python does.  With
VIZGEN_FULL=1 there are 2,000 pairs for every program and compiler.
"""
import random
import shutil
import warnings

import numpy as np
import pytest

from tests import FULL
from vizgen import accelerate

PAIRS = 2000 if FULL else 200
BLOCK = 600


def scaled(a, b):
    for y in range(min(a.shape[0], b.shape[0])):
        for x in range(min(a.shape[1], b.shape[1])):
            b[y, x] = a[y, x] * 2 + 1


def blurred(a, b):
    for y in range(1, min(a.shape[0], b.shape[0]) - 1):
        for x in range(min(a.shape[1], b.shape[1])):
            b[y, x] = a[y - 1, x] // 3 + a[y, x] // 3 + a[y + 1, x] // 3


def two_stages(a, b):
    rows, cols = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
    t = np.zeros((rows, cols))
    for y in range(rows):
        for x in range(1, cols):
            t[y, x] = a[y, x - 1] + a[y, x]
    for y in range(1, rows):
        for x in range(cols):
            b[y, x] = t[y - 1, x] // 2 - t[y, x] // 4


def mirrored(a, b):
    rows, cols = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
    for y in range(rows):
        for x in range(cols):
            b[y, x] = a[rows - 1 - y, cols - 1 - x] + b[y, x] // 2


def whole(a, b):
    rows, cols = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
    b[:rows, :cols] = a[:rows, :cols] // 2 + 3
    b[1:rows, :cols] += b[:rows - 1, :cols]


def looked_up(a, b):
    """Where it is written depends on what is read."""
    for y in range(min(a.shape[0], b.shape[0])):
        for x in range(min(a.shape[1], b.shape[1])):
            b[int(a[y, x]) % b.shape[0], x] += 1


def gathered(a, b):
    total = 0.0
    for y in range(min(a.shape[0], b.shape[0])):
        for x in range(min(a.shape[1], b.shape[1])):
            b[y, x] = total
            total += a[y, x]
    return total


PROGRAMS = [scaled, blurred, two_stages, mirrored, whole, looked_up, gathered]


def plane(choose, block):
    """A random part of 'block', of two axes."""
    rows, cols = choose.randint(1, 9), choose.randint(1, 9)
    deep = choose.random() < 0.3
    dtype = choose.choice([np.float64] * 4 + [np.uint32, np.int16, np.float32])
    items = block.view(dtype)
    size = rows * cols * (3 if deep else 1)
    start = choose.randint(0, min(len(items) - size, 40))
    part = items[start:start + size].reshape((rows, cols, 3) if deep
                                             else (rows, cols))
    if deep:
        part = part[..., choose.randrange(3)]
    if choose.random() < 0.3:
        part = part.T
    for axis in range(2):
        cut = choose.choice([slice(None)] * 3 + [
            slice(1, None), slice(None, None, 2), slice(None, None, -1),
            slice(0, -1)])
        part = part[(slice(None),) * axis + (cut,)]
    return part


def call(fn, seed):
    """What a call with random views leaves in memory."""
    choose = random.Random(seed)
    content = np.random.RandomState(seed % 50).randint(0, 200, BLOCK)
    block = content.astype(np.float64)
    other = block if choose.random() < 0.7 else block.copy()
    a, b = plane(choose, block), plane(choose, other)
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = fn(a, b)
        except Exception as raised:
            result, error = None, (type(raised), str(raised))
    return result, error, block.tobytes(), other.tobytes()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_parts_of_one_block(program, compiler, monkeypatch):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("VIZGEN_CC", compiler)
    monkeypatch.setenv("VIZGEN_PARALLEL_NS", "0")
    fn = accelerate(program)
    for seed in range(PAIRS):
        got, want = call(fn, seed), call(program, seed)
        assert repr(got[:2]) == repr(want[:2]) and got[2:] == want[2:], seed
    assert fn.stats.native_calls > PAIRS / 4, fn
