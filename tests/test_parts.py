"""Functions that can't be compiled as a whole: their loops run native, the
rest stays in Python, and together they do what the function does."""

import io
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest

import vizgen
from tests.support import outcome, user_lines
from vizgen import _core, accelerate
from vizgen.compare import difference

CALLS = 6       # so many that trials come to an end


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Inner loops are compiled when they are first met, and all are tried."""
    monkeypatch.delenv("VIZGEN_TRIALS", raising=False)
    before = _core.part_heat(0)
    yield
    _core.part_heat(before)


class Opaque:
    """What keeps a function in Python."""

    def __call__(self, *values):
        return sorted({str(value) for value in values})


opaque = Opaque()


def grid(seed=0, shape=(9, 11)):
    return np.random.RandomState(seed).uniform(-5, 5, shape)


def run(fn, args):
    """Everything that can be seen of a call."""
    out = io.StringIO()
    with redirect_stdout(out):
        result, error, after, kinds = outcome(fn, args)
    kinds = {kind for kind in kinds if kind[0] is not vizgen.FallbackWarning}
    return result, error, after, kinds, out.getvalue()


def check(function, *args, mixed=True):
    """Calls the accelerated function several times; each call does what
    Python does, and in parts."""
    fn = accelerate(function)
    want, want_error, want_after, want_kinds, want_text = run(function, args)
    for _ in range(CALLS):
        got, error, after, kinds, text = run(fn, args)
        assert type(error) is type(want_error), (error, want_error)
        if error is not None:
            assert str(error) == str(want_error)
            assert user_lines(error) == user_lines(want_error)
            assert_frames(error, want_error)
        words = (difference((got,), (want,))
                 or difference(after, want_after, "arguments"))
        assert words is None, words
        assert text == want_text
        assert kinds == want_kinds
    stats = fn.stats
    assert stats.native_calls == 0 and stats.replays == 0
    if mixed:
        assert stats.mixed_calls == CALLS and not stats.python_calls, stats
        assert any(part.runs for part in fn._parts()), fn.explain(*args)
    else:
        assert stats.mixed_calls == 0 and stats.python_calls == CALLS
    return fn


def assert_frames(error, want):
    """The same names of functions in the same files, without those of the
    test itself."""
    def frames(raised):
        return [(frame.name, frame.filename, frame.line)
                for frame in traceback.extract_tb(raised.__traceback__)[1:]]

    assert frames(error) == frames(want)


# --- loops and what surrounds them -------------------------------------------


def two_loops(img, gain):
    """The words of a docstring."""
    h, w = img.shape
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            out[y, x] = img[y, x] * gain
    words = opaque("middle")
    total = 0.0
    for y in range(h):
        for x in range(w):
            total += out[y, x]
    return out, total, words, y, x


def between_prints(img):
    print("before", img.shape)
    s = 0.0
    for v in img[0]:
        s += v
    print("after", s)
    for v in img[-1]:
        s -= v
    print("end", s)
    return s


def lists_and_dicts(img):
    rows = {}
    found = []
    for y in range(img.shape[0]):
        best = -1e9
        for x in range(img.shape[1]):
            if img[y, x] > best:
                best = img[y, x]
        rows[f"row {y}"] = best
        found.append(best)
    return rows, found


def generator_source(img):
    total = 0.0
    for row in (line for line in img):
        s = 0.0
        for k in range(row.shape[0]):
            s += row[k] * row[k]
        total += s
        print(s)
    return total


def zip_and_items(img):
    sums = {"a": 1.0, "b": 2.0}
    out = []
    for (name, gain), row in zip(sums.items(), img):
        s = 0.0
        for k in range(len(row)):
            s += row[k] * gain
        out.append((name, s))
    return out


def break_and_else(img, limit):
    for y in range(img.shape[0]):
        if img[y, 0] > limit:
            break
    else:
        y = -1
    words = opaque(y)
    n = 0
    while n < img.shape[1]:
        if img[0, n] > limit:
            n += 1
            continue
        n += 2
        if n > 7:
            break
    else:
        n = -n
    return words, y, n


def else_of_outer(img):
    out = []
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > 4:
                break
        else:
            out.append(opaque(y))
            continue
        if x > 5:
            break
    return out, x, y


def left_by_return(img, limit):
    words = opaque(limit)
    for y in range(img.shape[0]):
        s = 0.0
        for x in range(img.shape[1]):
            s += img[y, x]
        if s > limit:
            return words, y, s
    return words


def try_around(img, at):
    words = opaque(at)
    try:
        s = 0.0
        for y in range(img.shape[0]):
            s += img[y, at]
    except IndexError as error:
        words.append(str(error))
        s = -1.0
    else:
        words.append("fine")
    finally:
        words.append("done")
    for y in range(img.shape[0]):
        s += img[y, 0]
    return words, s


def under_errstate(img):
    out = np.zeros(img.shape[0])
    zero = img[0, 0] - img[0, 0]
    opaque()
    with np.errstate(all="ignore"):
        for y in range(img.shape[0]):
            out[y] = img[y, 0] / zero
    return out


def errstate_raises(img):
    out = np.zeros(img.shape[0])
    zero = img[0, 0] - img[0, 0]
    opaque()
    try:
        with np.errstate(all="raise"):
            for y in range(img.shape[0]):
                out[y] = img[y, 0] / zero
    except FloatingPointError as error:
        return str(error), out
    return out


def bound_in_with(img):
    with np.errstate(divide="ignore"):
        base = img * 2.0
        words = opaque()
    s = 0.0
    for y in range(base.shape[0]):
        s += base[y, 1]
    return s, words


def in_place(a, b):
    opaque()
    for y in range(a.shape[0]):
        a[y] += b[y]
        a[y, 0] = y
    c = a
    for _ in range(2):
        c += 1.0
    return c is a


def deleted(img):
    n = 3
    opaque()
    for y in range(img.shape[0]):
        n += y
    del y
    try:
        print(y)
    except UnboundLocalError as error:
        print(error)
    for y in range(n):
        n -= y
    return n


def empty_loop(img, n):
    opaque()
    last = "none"
    for y in range(n):
        last = img[y, 0]
    return last


def annotated(img: np.ndarray, n: "int" = 2) -> float:
    s: float = 0.0
    for y in range(n):
        s += img[y, y]
    words: list = opaque(s)
    return s, words


def star_args(*images, gain=2.0, **more):
    s = 0.0
    for y in range(images[0].shape[0]):
        s += images[0][y, 0]
    first = images[0]
    for y in range(first.shape[0]):
        s += first[y, 0] * gain
    return s, sorted(more)


def matched(kind, img):
    s = 0.0
    match kind:
        case ("sum", gain):
            for y in range(img.shape[0]):
                s += img[y, 0] * gain
        case {"name": name}:
            for y in range(img.shape[0]):
                s += img[y, 1]
            s = (name, s)
        case _:
            s = None
    return s


def walrus(img):
    opaque()
    n = 0
    if (m := img.shape[0]) > 3:
        while n < m:
            img[n, 0] = n
            n += 1
    return n, m


def swapped(img, rounds):
    a, b = img.copy(), np.zeros(img.shape)
    opaque()
    for _ in range(rounds):
        for y in range(1, img.shape[0]):
            for x in range(img.shape[1]):
                b[y, x] = a[y - 1, x] + 1.0
        a, b = b, a
    return a, b


PROGRAMS = [
    (two_loops, lambda: (grid(), 2.0)),
    (between_prints, lambda: (grid(),)),
    (lists_and_dicts, lambda: (grid(),)),
    (generator_source, lambda: (grid(),)),
    (zip_and_items, lambda: (grid(),)),
    (break_and_else, lambda: (grid(), 4.5)),
    (break_and_else, lambda: (grid(), 99.0)),
    (left_by_return, lambda: (grid(), 3.0)),
    (left_by_return, lambda: (grid(), 1e9)),
    (try_around, lambda: (grid(), 3)),
    (try_around, lambda: (grid(), 300)),
    (under_errstate, lambda: (grid(),)),
    (bound_in_with, lambda: (grid(),)),
    (in_place, lambda: (grid(), grid(1))),
    (deleted, lambda: (grid(),)),
    (empty_loop, lambda: (grid(), 5)),
    (annotated, lambda: (grid(),)),
    (star_args, lambda: (grid(), grid(1))),
    (matched, lambda: (("sum", 2.0), grid())),
    (matched, lambda: ({"name": "x"}, grid())),
    (walrus, lambda: (grid(),)),
    (swapped, lambda: (grid(), 3)),
]


@pytest.mark.parametrize("function, make", PROGRAMS,
                         ids=lambda value: getattr(value, "__name__", ""))
def test_programs(function, make, monkeypatch):
    check(function, *make())
    monkeypatch.setenv("VIZGEN_TRIALS", "0")
    check(function, *make())


@pytest.mark.parametrize("function, args", [
    (errstate_raises, (grid(),)),
    (else_of_outer, (grid(),)),
    (matched, (3, grid())),
    (empty_loop, (grid(), 0)),
], ids=lambda value: getattr(value, "__name__", ""))
def test_programs_whose_loops_need_python(function, args):
    check(function, *args, mixed=False)


# --- what it says ------------------------------------------------------------


def test_warning():
    fn = accelerate(two_loops)
    with pytest.warns(vizgen.FallbackWarning) as caught:
        for _ in range(CALLS):
            fn(grid(), 2.0)
    assert len(caught) == 1 and caught[0].filename == __file__
    head = str(caught[0].message).splitlines()[0]
    line = two_loops.__code__.co_firstlineno + 7
    assert f":{line}:" in head
    assert f"line {line} stays in Python: " in head
    assert head.endswith("; 2 loops run native")


def test_warning_as_error():
    fn = accelerate(two_loops)
    with warnings.catch_warnings():
        warnings.simplefilter("error", vizgen.FallbackWarning)
        with pytest.raises(vizgen.FallbackWarning, match="2 loops run native"):
            fn(grid(), 2.0)
    assert fn(grid(), 2.0)[4] == 10


def test_warning_of_a_call_that_raises():
    from tests.test_parts_names import calls_failing

    fn = accelerate(calls_failing)
    with pytest.warns(vizgen.FallbackWarning, match="runs native"):
        with pytest.raises(IndexError):
            fn(grid(), 200)


def test_strict():
    for _ in range(2):
        with pytest.raises(vizgen.CompileError):
            accelerate(two_loops, strict=True)(grid(), 2.0)


def test_explain():
    fn = accelerate(lists_and_dicts)
    assert "not met yet" in fn.explain(grid())
    fn(grid())
    lines = fn.explain().splitlines()
    first = lists_and_dicts.__code__.co_firstlineno
    assert any(f"lines {first + 5}-{first + 7}  (" in line and "native" in line
               for line in lines), lines
    assert any(f"lines {first + 3}-{first + 9}  in Python: VZ-" in line
               for line in lines), lines


def test_metadata():
    fn = accelerate(annotated)
    fn(grid())
    assert fn.__code__ is annotated.__code__
    assert fn.__wrapped__ is annotated and fn.__name__ == "annotated"


# --- threads, checking, tuning -----------------------------------------------


def test_threads():
    fn = accelerate(two_loops)
    want = two_loops(grid(), 2.0)
    parts, wrong = set(), []
    start = threading.Barrier(4)

    def call():
        start.wait()
        for _ in range(20):
            if difference(fn(grid(), 2.0), want) is not None:
                wrong.append(1)
            parts.update(fn._parts())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong and len(parts) == 4    # two nests of two loops
    assert fn.stats.mixed_calls + fn.stats.python_calls == 80


PROGRAM = """
    import numpy as np
    from vizgen import accelerate

    @accelerate
    def rows(img):
        s = 0.0
        for y in range(img.shape[0]):
            for x in range(img.shape[1]):
                s += img[y, x]
                img[y, x] = s
        return s, str({s})

    def test():
        for _ in range(3):
            print(rows(np.ones((4, 5)))[0])

    if __name__ == "__main__":
        test()
        print(rows.stats[:3])
"""


def program(folder, *words, **environment):
    path = folder / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run(
        [sys.executable, *words, str(path)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


ROOT = pathlib.Path(__file__).resolve().parent.parent


def test_checked(tmp_path):
    text = program(tmp_path, VIZGEN_CHECK="1")
    assert text.count("20.0") == 3 and "(0, 3, 0)" in text


def test_disabled(tmp_path):
    text = program(tmp_path, VIZGEN_DISABLE="1")
    assert text.count("20.0") == 3 and "(0, 0, 3)" in text


def test_tuned(tmp_path):
    text = program(tmp_path, "-m", "vizgen", "tune", "--budget", "2s")
    assert "it runs in Python" in text


def test_explained(tmp_path):
    text = program(tmp_path, "-m", "vizgen", "explain")
    assert "lines 8-11  (" in text and "  native, " in text, text


# --- never slower ------------------------------------------------------------


def converted_lists(n):
    values, total = list(range(1000)), 0
    for y in range(n):
        opaque(y)
        for k in range(10):
            total += values[k + y % 7]
    return total


def generators(n):
    s = 0.0
    for _ in range(n):
        opaque()
        for value in (q for q in range(6)):
            s += value
    return s


def over_dict(table):
    s = 0.0
    for key in table:
        s += table[key]
    return s


def python_helper(n):
    s = 0.0
    for _ in range(n):
        s += over_dict({1: 1.0, 2: 3.0})
    return s, opaque(1)


def short_rows(n):
    a, s = np.ones((n, 2)), 0.0
    for y in range(n):
        opaque(y)
        for value in a[y]:
            s += value
    return s


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("function,kind", [
    (converted_lists, "python_calls"), (generators, "python_calls"),
    (python_helper, "mixed_calls")])
def test_the_faster_way_is_kept(function, kind):
    """One way takes several times as long, so that trials find it."""
    fn = accelerate(function)
    for _ in range(32):
        assert fn(1000) == function(1000)
    assert getattr(fn.stats, kind) >= 20, (fn.stats, fn.explain())


def test_short_rows():
    fn = accelerate(short_rows)
    for _ in range(12):
        assert fn(1000) == short_rows(1000)
