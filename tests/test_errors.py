"""One program per diagnostic: it appears, at its place, and the program that
its help suggests does without it.

A file of tests/errors defines `subject`, `changed` and `arguments()` (and
`changed_arguments()` where they differ).  Its block names what `subject`
gets: a refusal, with which it runs in Python, or a remark.  What depends on
the surroundings rather than on a program is tested below.
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import vizgen
from tests.fuzz.harness import load
from tests.support import assert_same
from vizgen import accelerate
from vizgen.compare import clone, difference

pytestmark = pytest.mark.usefixtures("usual_compiler")

HERE = pathlib.Path(__file__).resolve().parent
FILES = sorted((HERE / "errors").glob("VZ_*.py"))
BLOCK = re.compile(r"^# >>> (refusal|remark)\n((?:#.*\n)*)# <<<$", re.M)

# What a warning says of loops that run native nevertheless.
PARTS = re.compile(r"line \d+ stays in Python: (.*); \d+ loops? runs? native$")


def code_of(path):
    return path.name[:7].replace("_", "-")


def read_block(path):
    """Kind and lines; a line that is indented goes on the one before."""
    match = BLOCK.search(path.read_text())
    joined = re.sub(r"\n#     +", " ", match[2])
    return match[1], [line[2:] for line in joined.splitlines()]


def rewrite(path, kind, lines):
    body = "".join(textwrap.fill(line, 86, initial_indent="# ",
                                 subsequent_indent="#     ",
                                 break_long_words=False,
                                 break_on_hyphens=False) + "\n"
                   for line in lines)
    text = BLOCK.sub(lambda _: f"# >>> {kind}\n{body}# <<<", path.read_text())
    path.write_text(text)


def diagnostics(fn):
    """[(code, line, column, message)] of everything said about 'fn'."""
    items = [item for spec in fn._describe()
             for item in spec["diagnostics"] + spec["remarks"]]
    return [(i["code"], i.get("line"), i.get("col", 0) + 1, i["message"])
            for i in items]


def call(fn, args):
    """(value, texts of FallbackWarnings)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = fn(*args)
    return value, [str(w.message) for w in caught
                   if issubclass(w.category, vizgen.FallbackWarning)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_subject(path, request):
    module = load(path)
    kind, want = read_block(path)
    fn = accelerate(module.subject)
    args = module.arguments()
    expected = module.subject(*clone(args))
    value, told = call(fn, args)
    assert difference(value, expected) is None
    if kind == "refusal":
        assert len(told) == 1, told
        assert fn.stats.native_calls == 0
        got = told[0].splitlines()[:1]
        assert len(told[0].splitlines()) <= 12
        got = [PARTS.sub(r"\1", line.replace(str(path), path.name))
               for line in got]
    else:
        assert not told, told
        got = [f"{path.name}:{line}:{col}  {code}  {message}"
               for code, line, col, message in diagnostics(fn)
               if code == code_of(path)]
    assert any(code_of(path) in line for line in got), got
    if got != want and request.config.getoption("--update-golden"):
        rewrite(path, kind, got)
        return
    assert got == want


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_changed(path):
    module = load(path)
    fn = accelerate(module.changed, strict=True)
    make = getattr(module, "changed_arguments", module.arguments)
    assert_same(fn, make())
    codes = [code for code, _, _, _ in diagnostics(fn)]
    assert code_of(path) not in codes


# --- what depends on the surroundings --------------------------------------

def plain(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2.0
    return a


def test_VZ_1001_no_source():
    names = {}
    exec("def f(a):\n    return a[0] * 2.0\n", names)
    fn = accelerate(names["f"])
    value, told = call(fn, (np.arange(1.0, 3.0),))
    assert value == 2.0 and "VZ-1001" in told[0]


def test_VZ_1002_source_changed(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(a):\n    return a[0] * 2.0\n")
    fn = accelerate(load(path).f)
    path.write_text("def f(a):\n    return a[0] * 3.0\n")
    value, told = call(fn, (np.arange(1.0, 3.0),))
    assert value == 2.0 and "VZ-1002" in told[0]


def carry(a):
    total = 0.0
    for i in range(a.shape[0]):
        total = total * 0.5 + a[i]
    return total


def test_VZ_3014_directive():
    """A directive that would change the result is refused."""
    fn = accelerate(carry)
    text = "directives=" + "\n".join(f"parallel {k}" for k in range(64))
    info = vizgen._core.compile_info(fn, (np.ones(9),), opts=text)
    assert info["ok"]
    assert "VZ-3014" in [item["code"] for item in info["remarks"]]


def test_VZ_4001_errstate():
    fn = accelerate(lambda a: a[0] / a[1])
    a = np.array([1.0, 0.0])
    fn(np.array([1.0, 2.0]))
    assert "VZ-4001" not in fn.explain(a)
    with np.errstate(divide="raise"):
        with pytest.raises(FloatingPointError):
            fn(a)
    assert "VZ-4001" in fn.explain(a)


class Masked(np.ndarray):
    pass


def test_VZ_4002_layout():
    fn = accelerate(plain)
    value, told = call(fn, (np.ones(3).view(Masked),))
    assert type(value) is Masked and "VZ-4002" in told[0]
    value, told = call(fn, (np.ones(3, ">f8"),))
    assert value[0] == 2.0 and fn.stats.native_calls == 0


@accelerate
def first(a, n):
    return a[0] if n == 0 else a[1]


def test_VZ_4003_signatures():
    told = []
    dtypes = (np.float64, np.float32, np.int8, np.int16, np.int32, np.int64,
              np.uint8, np.uint16, np.uint32, np.uint64, np.bool_)
    for dtype in dtypes:
        for n in (0, 1.0, np.float32(1)):
            told += call(first, (np.ones(3, dtype), n))[1]
    assert any("VZ-4003" in text for text in told)
    assert call(first, (np.ones(3), 0))[0] == 1.0


def power_of(a):
    return int(a[0]) ** int(a[1])


def test_VZ_4004_repeated():
    """See also tests/test_trial.py, where VZ-4005 is tested."""
    fn = accelerate(power_of)
    told = [text for _ in range(10)
            for text in call(fn, (np.array([10, 30]),))[1]]
    assert len(told) == 1 and "VZ-4004" in told[0]
    assert call(fn, (np.array([10.0, 3.0]),)) == (1000, [])


def in_process(code, **env):
    """What a fresh process prints that calls 'plain' after 'code'."""
    program = textwrap.dedent(f"""
        import warnings, numpy as np, vizgen
        from tests.test_errors import plain
        {code}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fn = vizgen.accelerate(plain)
            print(fn(np.ones(3)).tolist())
        print(*[str(w.message) for w in caught])
        print(fn.stats)
        print(fn.explain(np.ones(3)))
    """)
    done = subprocess.run([sys.executable, "-c", program],
                          env={**os.environ, **env}, cwd=HERE.parent,
                          capture_output=True, text=True, check=True)
    assert "[2.0, 2.0, 2.0]" in done.stdout
    return done.stdout


def test_VZ_5001_no_compiler(tmp_path):
    out = in_process("", VIZGEN_CC=str(tmp_path / "nothing"),
                     VIZGEN_CACHE_DIR=str(tmp_path / "cache"))
    assert "VZ-5001" in out and "native_calls=0" in out
    assert f"VIZGEN_CC: compiler '{tmp_path / 'nothing'}'" in out


def test_VZ_5002_compiler_failed(tmp_path):
    broken = tmp_path / "gcc"
    broken.write_text("#!/bin/sh\ncase \"$*\" in *--version*) echo gcc 12;;"
                      " *) echo broken >&2; exit 1;; esac\n")
    broken.chmod(0o755)
    out = in_process("", VIZGEN_CC=str(broken),
                     VIZGEN_CACHE_DIR=str(tmp_path / "cache"))
    assert "VZ-5002" in out and "broken" in out and "native_calls=0" in out


def test_VZ_5003_unusable_cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    out = in_process("", VIZGEN_CACHE_DIR=str(folder))
    assert "native_calls=1" in out and "VZ-5003" in out
    assert not any(folder.iterdir())


SLOW_COMPILER = """#!/bin/bash
case "$*" in
*-O1*|*--version*|*--help*) ;;
*k.c*) while :; do :; done;;
esac
exec gcc "$@"
"""


def test_VZ_5006_simple(tmp_path, monkeypatch):
    """A compiler that takes too long is run again with less to do."""
    slow = tmp_path / "gcc"
    slow.write_text(SLOW_COMPILER)
    slow.chmod(0o755)
    monkeypatch.setenv("VIZGEN_CC", str(slow))
    monkeypatch.setenv("VIZGEN_CC_DEADLINE", "0.5")
    monkeypatch.setenv("VIZGEN_CACHE_DIR", str(tmp_path / "cache"))
    fn = accelerate(optimised_less)
    assert_same(fn, (np.arange(9.0) * 0.7,))
    assert [d[0] for d in diagnostics(fn)].count("VZ-5006") == 1
    assert "optimised less" in fn.explain()


def optimised_less(a):
    total = 0.0
    for v in a:
        total += v * v
    return total


BAD_VARIABLES = [
    ("VIZGEN_OPTS", "nonsense=1", "unknown option 'nonsense=1'", "defaults"),
    ("VIZGEN_THREADS", "many", "not a whole number", "as the machine has"),
    ("VIZGEN_THREADS", "0", "not a whole number", "as the machine has"),
    ("VIZGEN_DUMP", "9", "letter '9'", "the other letters"),
    ("VIZGEN_CACHE_DIR", "here", "not an absolute path", "this process only"),
    ("VIZGEN_CACHE_DIR", "/proc/here", "can't be used", "this process only"),
    ("VIZGEN_STRICT", "no", "neither 0 nor 1", "counts as 1"),
    ("VIZGEN_CC_TIMEOUT", "1 h", "not a number", "60 seconds"),
    ("VIZGEN_CC_DEADLINE", "soon", "not a number", "5 seconds"),
    ("VIZGEN_PARALLEL_NS", "-1", "not a number", "the default"),
    ("VIZGEN_CACHE_MB", "", "", ""),
    ("VIZGEN_APPROX", "fast", "has the word 'fast'", "results are exact"),
    ("VIZGEN_THREADS", "2", "", ""),
    ("VIZGEN_OPTS", "parallel=0", "", ""),
    ("VIZGEN_DUMP", "*", "", ""),
]


@pytest.mark.parametrize("name, value, why, instead", BAD_VARIABLES)
def test_VZ_5005_environment(name, value, why, instead, tmp_path):
    """One warning, where vizgen is imported; the program runs all the same."""
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\nimport vizgen\n"
                    "@vizgen.accelerate\ndef f(a):\n    return a[0] * 2.0\n"
                    "print(f(np.ones(3)), f.stats.native_calls)\n")
    env = {**os.environ, "PYTHONPATH": str(HERE.parent), name: value}
    done = subprocess.run([sys.executable, path], env=env, cwd=tmp_path,
                          capture_output=True, text=True, check=True)
    assert done.stdout == "2.0 1\n"
    told = [line for line in done.stderr.splitlines() if "VZ-5005" in line]
    assert len(told) == bool(why), done.stderr
    if why:
        where, words = told[0].split(": UserWarning: VZ-5005  ")
        assert where == f"{path}:2" and words.startswith(f"{name}={value!r} ")
        assert why in words and instead in words.split("; ")[-1]


def test_VZ_5005_environment_changes(monkeypatch):
    """Options are read when a function is decorated; each value is told once."""
    monkeypatch.setenv("VIZGEN_OPTS", "no=such")
    with pytest.warns(UserWarning, match="VZ-5005"):
        fn = accelerate(plain)
    assert accelerate(plain)(np.ones(2))[0] == 2.0
    assert fn(np.ones(2))[0] == 2.0 and fn.stats.native_calls == 1


def test_VZ_3018_relaxed():
    """See also tests/test_approx.py."""
    def third(a):
        return a / 3.0

    assert "VZ-3018" in accelerate(third, approx="reassoc").explain(np.ones(3))
    assert "VZ-3018" not in accelerate(third).explain(np.ones(3))


def test_VZ_5004_pages():
    """VZ-5004 means a fault of the compiler, so no program shows it; every
    code has a page."""
    table = (HERE.parent / "csrc/base/diag.def").read_text()
    for code in re.findall(r'"(VZ-\d{4})"', table):
        assert all(vizgen._core.page(code))
    with pytest.raises(KeyError):
        vizgen._core.page("VZ-9999")
