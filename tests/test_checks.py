"""Every kind of check, in every kind of loop, at every place in it.

A check that fails must lead to Python's exception, with the user's line in
the traceback, and to the memory that Python would have left behind.
"""
import importlib.util
import sys

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

# name: (expression or statement at pixel [r, c], good, bad).  'x' is a
# float, 'k' an int: the pixel of the array that holds 'bad' at one place.
KINDS = {
    "index above": ("v = table[{k}]", 3, 8),
    "index below": ("v = table[{k}]", -2, -9),
    "floor division": ("v = 100 // {k}", 7, 0),
    "remainder": ("v = 100 % {k}", 7, 0),
    "division": ("v = 1.5 / {x}", 7, 0),
    "int division": ("v = 3 / {k}", 7, 0),
    "overflow": ("v = {k} * 4611686018427387904 * 2", 0, 3),
    "sum overflow": ("v = {k} + 9223372036854775800", 2, 100),
    "store above": ("small[r, c] = {k}\n{pad}v = 1", 9, 300),
    "store below": ("small[r, c] = {k}\n{pad}v = 1", 9, -1),
    "shift": ("v = 1 << {k}", 3, -1),
    "square root": ("v = math.sqrt({x})", 4, -4),
    "logarithm": ("v = math.log({x})", 4, 0),
    "int of nan": ("v = int({x})", 4, float("nan")),
    "int of inf": ("v = int({x})", 4, float("inf")),
    "assertion": ("assert {x} < 1000.0, 'too bright'\n{pad}v = 2", 4, 5000),
    "raise": ("if {x} > 1000.0:\n{pad}    raise ValueError('bright')\n"
              "{pad}v = 2", 4, 5000),
    "unbound": ("if {x} > 1000.0:\n{pad}    v = late\n"
                "{pad}else:\n{pad}    v = 1.0", 4, 5000),
}

# Loops around the check; every one writes into the caller's 'out'.
SERIAL = """
def serial(ints, floats, table, small, out):
    s = 0.0
    for r in range(ints.shape[0]):
        for c in range(ints.shape[1]):
            {check}
            s = s * 0.5 + v
            out[r, c] = s
    return s
"""
PARALLEL = """
def parallel(ints, floats, table, small, out):
    for r in range(ints.shape[0]):
        for c in range(ints.shape[1]):
            {check}
            out[r, c] = v * 0.25 + floats[r, c]
    return out
"""
FRESH = """
def fresh(ints, floats, table, small, out):
    res = np.zeros((ints.shape[0], ints.shape[1]))
    for r in range(ints.shape[0]):
        for c in range(ints.shape[1]):
            {check}
            res[r, c] = v * 2.0
    return res
"""
FUSED = """
def fused(ints, floats, table, small, out):
    h, w = ints.shape[0], ints.shape[1]
    tmp = np.zeros((h, w))
    for r in range(h):
        for c in range(w):
            {check}
            tmp[r, c] = v * 0.5
    for r in range(h - 1):
        for c in range(w - 1):
            out[r, c] = tmp[r, c] + tmp[r + 1, c] + tmp[r, c + 1]
    return out
"""
VECTOR = """
def vector(ints, floats, table, small, out):
    for r in range(ints.shape[0]):
        for c in range(ints.shape[1]):
            out[r, c] = floats[r, c] * 0.5
    for r in range(1):
        for c in range(ints.shape[1]):
            {check}
            out[r, c] = out[r, c] + v
    return None
"""
LOOPS = {"serial": SERIAL, "parallel": PARALLEL, "fresh": FRESH,
         "fused": FUSED, "vector": VECTOR}
SIZE = {"vector": (1, 300)}
HEAD = "import math\n\nimport numpy as np\n"
PAD = " " * 12


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """{kind: module} with one function for each kind of loop."""
    folder = tmp_path_factory.mktemp("checks")
    modules = {}
    for number, (kind, (check, _, _)) in enumerate(KINDS.items()):
        text = check.format(k="int(ints[r, c])", x="float(floats[r, c])",
                            pad=PAD)
        source = HEAD + "".join("\n" + loop.format(check=text)
                                for loop in LOOPS.values())
        if kind == "unbound":
            source = source.replace("    return ", "    late = 1.0\n"
                                    "    return ")
        path = folder / f"checks_{number}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        modules[kind] = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = modules[kind]
        spec.loader.exec_module(modules[kind])
    return modules


def arguments(kind, loop, place):
    """Arguments of which pixel number 'place' (None: no pixel) is bad."""
    _, good, bad = KINDS[kind]
    shape = SIZE.get(loop, (40, 30))
    values = np.full(shape, float(good))
    if place is not None:
        values.flat[place] = bad
    ints = np.where(np.isfinite(values), values, 0.0).astype(np.int64)
    return (ints, values, np.linspace(-1.0, 1.0, 8),
            np.zeros(shape, np.uint8), np.full(shape, -1.0))


def places(loop):
    rows, cols = SIZE.get(loop, (40, 30))
    return 0, rows * cols // 2 + 3, rows * cols - 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", KINDS)
def test_failing_check(programs, kind, loop):
    fn = getattr(programs[kind], loop)
    for threads in (1, 2, 5) if loop in ("parallel", "fused") else (2,):
        fast = accelerate(fn, threads=threads)
        assert_same(fast, arguments(kind, loop, None))
        for place in places(loop):
            assert_same(fast, arguments(kind, loop, place), native=False)
        assert_same(fast, arguments(kind, loop, None))


@accelerate
def exceed(out, start):
    total = start
    for i in range(out.shape[0]):
        out[i] = i * 0.5
        total = total * 3
    return total


def test_big_result():
    """Beyond 64 bits the result is Python's, and so is 'out'."""
    assert_same(exceed, (np.zeros(10), 1))
    got = assert_same(exceed, (np.zeros(50), 7), native=False)
    assert got == 7 * 3 ** 50


@accelerate
def late_failure(out, table, key):
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[r, c] = out[r, c] + 1.0
    return table[key]


def test_failure_after_all_stores():
    """Every store is undone before Python starts again."""
    out = np.arange(600.0).reshape(20, 30)
    assert_same(late_failure, (out, np.arange(3.0), 2))
    assert_same(late_failure, (out, np.arange(3.0), 3), native=False)


@accelerate
def wrap_in_place(a, b):
    a[0] = b[0]
    b[0] = 7 - a[1]
    return None


def test_warning_after_stores():
    """An integer that wraps warns once; what was stored is stored once."""
    for _ in range(3):
        args = np.array([1, 200], np.uint8), np.array([9], np.uint8)
        assert_same(wrap_in_place, args, native=False)


@accelerate
def shifted(src, dst):
    for i in range(src.shape[0]):
        dst[i] = src[i] + 1.0
    return None


def test_overlap():
    """Stores are seen by later loads, as in Python."""
    whole = np.arange(50.0)
    for args in ((whole[:-1], whole[1:]), (whole[1:], whole[:-1]),
                 (whole, whole), (whole, whole[::-1]),
                 (whole[::2], whole[1::2])):
        assert_same(shifted, args)


def test_destination_too_small():
    assert_same(shifted, (np.arange(9.0), np.zeros(5)), native=False)


def test_read_only():
    dst = np.zeros(9)
    dst.flags.writeable = False
    assert_same(shifted, (np.arange(9.0), dst), native=False)
