"""The IR by its text: tests/ir/*.ir hold a function and what to expect of it.

Every file must survive reading and printing, and cloning.  Below the function
stand blocks of comments, each of which is a test:

    ; >>> after=ssa,simplify         the function after these passes
    ; >>> count after=unroll         how many statements: 'If 0  For 2'
    ; >>> eval arg='f64[3]=ramp'     lines that --eval prints
    ; >>> same after=* arg=i64=5     --eval prints the same before and after
    ; >>> remarks after=parallel     lines of remarks
    ; >>> sched after=regions        the directives proposed
    ; <<<

Words: after=PASSES ('*': the whole table), general, sched='parallel 3',
opts='...', arg=... (see csrc/driver/vz_opt.c).  --update-golden rewrites the
blocks that hold text.  tests/ir/broken.ir has a function per rule of verify.
"""
import difflib
import itertools
import re
import shlex
import struct
import subprocess
import textwrap

import numpy as np
import pytest

from tests import vzopt

ROOT = vzopt.ROOT
FOLDER = ROOT / "tests" / "ir"
BLOCK = re.compile(r"^; >>> (.*)\n((?:;.*\n)*?); <<<$", re.M)
RULE = re.compile(r"^; rule: (\S+)\n(.*?^}\n)", re.M | re.S)
KINDS = ("ir", "count", "eval", "same", "remarks", "sched")

pytestmark = vzopt.needs_tools


@pytest.fixture(scope="session")
def vz_opt():
    return vzopt.path()


@pytest.fixture(scope="session")
def core_tool(tmp_path_factory):
    """tests/unit/core_tool.c."""
    out = tmp_path_factory.mktemp("core") / "core_tool"
    vzopt.link(out, [ROOT / "tests/unit/core_tool.c"],
               ("csrc/base", "csrc/ir"))
    return str(out)


def run(command, text=None, status=0):
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          timeout=120, env=vzopt.LEAKS)
    assert done.returncode == status, \
        f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


# --- golden files ----------------------------------------------------------------

def sources():
    return sorted(p for p in FOLDER.glob("**/*.ir") if p.name != "broken.ir")


def blocks():
    for path in sources():
        for number, match in enumerate(BLOCK.finditer(path.read_text())):
            name = f"{path.relative_to(FOLDER)}:{number}:{match[1]}"
            yield pytest.param(path, number, id=name)


def flags_of(words, wanted=("after", "sched", "opts", "arg", "general")):
    """The words of a block's first line as options of vz-opt."""
    flags = []
    for word in words:
        name, _, value = word.partition("=")
        if name not in ("after", "sched", "opts", "arg", "general"):
            raise ValueError(f"what is '{word}'?")
        if name not in wanted:
            continue
        if name == "after":
            flags.append("--all" if value == "*" else f"--passes={value}")
        else:
            flags.append(f"--{name}={value}" if value else f"--{name}")
    return flags


def answer(vz_opt, path, kind, words):
    """What the compiler has to say to a block."""
    extra = {"ir": [], "count": ["--count"], "eval": ["--eval"],
             "remarks": ["--remarks"], "sched": ["--print-sched"]}[kind]
    return run([vz_opt, *flags_of(words), *extra, str(path)])


def pairs(text):
    """'If 0  For 2' as a set of pairs."""
    words = text.split()
    return set(zip(words[::2], words[1::2]))


def check_same(vz_opt, path, words):
    before = run([vz_opt, "--eval", *flags_of(words, ("arg",)), str(path)])
    after = run([vz_opt, "--eval", *flags_of(words), str(path)])
    assert after == before


def compare(kind, expected, actual):
    """The lines that differ; '' when the block is satisfied."""
    if kind == "count":
        return "\n".join(f"{a} {b}" for a, b in pairs(expected) - pairs(actual))
    if kind == "eval":
        missing = set(expected.splitlines()) - set(actual.splitlines())
        return "\n".join(sorted(missing)) and f"{missing}\nnot in\n{actual}"
    return "\n".join(difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), "expected", "actual",
        lineterm=""))


def rewrite(path, number, actual):
    """Puts 'actual' into block 'number' of the file."""
    text = path.read_text()
    match = list(BLOCK.finditer(text))[number]
    body = textwrap.indent(actual, "; ", lambda line: True)
    body = re.sub(r"^; $", ";", body, flags=re.M)
    path.write_text(text[:match.start(2)] + body + text[match.end(2):])


@pytest.mark.parametrize("path,number", list(blocks()))
def test_block(vz_opt, path, number, request):
    match = list(BLOCK.finditer(path.read_text()))[number]
    words = shlex.split(match[1])
    kind = words.pop(0) if words and words[0] in KINDS else "ir"
    if kind == "same":
        check_same(vz_opt, path, words)
        return
    expected = re.sub(r"^; ?", "", match[2], flags=re.M)
    actual = answer(vz_opt, path, kind, words)
    difference = compare(kind, expected, actual)
    if difference and request.config.getoption("--update-golden") \
            and kind != "count":
        rewrite(path, number, actual)
        return
    assert not difference, difference


# --- the text form ---------------------------------------------------------------

@pytest.mark.parametrize("path", sources(), ids=lambda p: p.name)
def test_round_trip(vz_opt, path):
    once = run([vz_opt, str(path)])
    assert run([vz_opt, "-"], once) == once
    assert run([vz_opt, "--clone", "-"], once) == once


@pytest.mark.parametrize("path", sources(), ids=lambda p: p.name)
def test_clone_computes_the_same(vz_opt, path):
    """A clone of the body is valid, disjoint from the body, and equal."""
    for match in BLOCK.finditer(path.read_text()):
        words = shlex.split(match[1])
        if words[0] == "eval" and "after" not in match[1]:
            flags = flags_of(words[1:])
            plain = run([vz_opt, "--eval", *flags, str(path)])
            clone = run([vz_opt, "--clone", "--clone-body", "--eval", *flags,
                         str(path)])
            assert clone == plain


def test_spelled_out(vz_opt):
    """Words, blanks and comments may stand anywhere."""
    text = run([vz_opt, str(FOLDER / "everything.ir")])
    loose = re.sub(r"\n", " ; comment\n\n", text).replace("(", " ( ")
    assert run([vz_opt, "-"], loose) == text


@pytest.mark.parametrize("text,where", [
    ("", "line 1, column 1: 'func' expected"),
    ("func f x {\n}", "line 1, column 8: a level expected"),
    ("func f loops {\n  let %a.0:i64 = (foo 1)\n}", "line 2, column 19: an op"),
    ("func f loops {\n  let %a.0:i64 = %b.1\n}", "%b.1 was not mentioned"),
    ("func f loops {\n  store &a.0[1] = 1.0\n}", "no buffer &a.0"),
    ("func f loops {\n  let %a.0:i65 = 1\n}", "a type expected"),
    ("func f loops {\n  let %a.0:i64 = 1.5:i64\n}", "a float literal"),
    ("func f loops {\n  let %a.0:f64 = 1:f64\n}", "an integer literal"),
    ("func f loops {\n  check true x replay\n}", "an exception expected"),
    ("func f loops {\n}\n}", "text after the function"),
    ("func f loops {\n  let %a.99999999:i64 = 1\n}", "a number from 0 to"),
    ("func f loops {\n  let %a.0:i64 = " + "(neg " * 5000, "nested too"),
    ("func f loops {\n" + "if true {" * 5000, "nested too"),
])
def test_unreadable(vz_opt, text, where):
    assert where in run([vz_opt, "-"], text, status=1)


def test_cut_anywhere(vz_opt):
    """No prefix of a program crashes the reader or the verifier."""
    text = run([vz_opt, str(FOLDER / "everything.ir")])
    for end in range(0, len(text), 37):
        done = subprocess.run([vz_opt, "-"], input=text[:end], text=True,
                              capture_output=True, env=vzopt.LEAKS)
        assert done.returncode == 1, text[:end] + done.stderr


def test_memory_runs_out(vz_opt):
    """Whichever allocation fails, the failure is reported and nothing leaks."""
    path = str(FOLDER / "everything.ir")
    for nth in itertools.count(1, 61):
        done = subprocess.run([vz_opt, f"--fail-at={nth}", "--clone", path],
                              capture_output=True, text=True,
                              env=vzopt.LEAKS)
        if done.returncode == 0:
            break
        assert done.returncode == 2 and "out of memory" in done.stderr, \
            done.stderr
    assert nth > 200


# --- verify ----------------------------------------------------------------------

def broken():
    text = (FOLDER / "broken.ir").read_text()
    for rule, function in RULE.findall(text):
        yield pytest.param(rule, function, id=function.split()[1])


@pytest.mark.parametrize("rule,function", list(broken()))
def test_rule(vz_opt, rule, function):
    said = run([vz_opt, "--verify", "-"], function, status=int(rule != "ok"))
    assert said.split(":")[0].strip() == rule, said


def test_every_rule_is_tested(core_tool):
    code = "".join(p.read_text() for p in (ROOT / "csrc/ir").glob("verify*.c"))
    rules = set(re.findall(r'verify_broken\(v,\s*"([a-z-]+)"', code))
    tested = {param.values[0] for param in broken()} - {"ok"}
    tested |= {line.split()[1] for line in run([core_tool, "rules"]).splitlines()}
    assert rules == tested


# --- types and tables ------------------------------------------------------------

def test_promotion_is_numpys(vz_opt):
    lines = run([vz_opt, "--promote"]).splitlines()
    assert len(lines) == 13 * 13
    for line in lines:
        lhs, rhs, both = map(np.dtype, line.split())
        assert np.result_type(lhs, rhs) == both, line


def test_core(core_tool):
    said = run([core_tool, "walk"]) + run([core_tool, "base"])
    no = {"equal_of_others", "equal_after_collision", "zeros_equal"}
    for line in said.splitlines():
        name, value = line.split(" ", 1)
        if value in ("yes", "no"):
            assert (value == "no") == (name in no), line
    assert "subst (add (add %y.3 1) 1)\n" in said
    assert "clone_twice ok\n" in said
    assert 'literal "a\\042\\012\\077\\077/\\134\\303\\251"\n' in said
    assert "opts_bad paralel=0\nopts_value parallel=2\n" in said
    assert "fatal outer of out of memory" in said


def test_doubles_read_back(core_tool):
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**64, 2000, np.uint64)
    values = list(bits.view(np.float64)) + [
        0.0, -0.0, 1.0, 10.0, 0.1, 1e15, 1e16, 1e17, 123456789.25, 1e-4, 1e-5,
        5e-324, 1.7976931348623157e308, float("inf"), -float("inf")]
    values = [float(v) for v in values if v == v]
    done = subprocess.run([core_tool, "numbers"], capture_output=True,
                          input=struct.pack(f"{len(values)}d", *values))
    for text, value in zip(done.stdout.decode().splitlines(), values):
        assert struct.pack("d", float(text)) == struct.pack("d", value)
        assert len(text) <= len(repr(value)) + 2
        if 1e-4 <= abs(value) < 1e16:
            assert text == repr(value)


# --- diagnostics -----------------------------------------------------------------

@pytest.mark.parametrize("source,span,expected", [
    ("for y in range(h):\n    t = f(win, 50)\n", (2, 8, 2, 18), """\
     app.py:2:9  VZ-2003  left in Python: `f`
         1 | for y in range(h):
         2 |     t = f(win, 50)
           |         ^^^^^^^^^^
        help: do it
              another way
        more: vizgen explain VZ-2003
     """),
    ("\tx = '日本' + f(é)\n", (1, 16, 1, 21), """\
     app.py:1:13  VZ-2003  left in Python: `f`
         1 |         x = '日本' + f(é)
           |                      ^^^^
        help: do it
              another way
        more: vizgen explain VZ-2003
     """),
    ("t = f(1,\n      2)\n", (1, 4, 2, 8), """\
     app.py:1:5  VZ-2003  left in Python: `f`
         1 | t = f(1,
           |     ^^^^
        help: do it
              another way
        more: vizgen explain VZ-2003
     """),
    ("a\n\nb = 1 # \u202e\x1b[2J", (3, 0, 3, 1), """\
     app.py:3:1  VZ-2003  left in Python: `f`
         2 |
         3 | b = 1 # \ufffd\ufffd[2J
           | ^
        help: do it
              another way
        more: vizgen explain VZ-2003
     """),
    ("a\n", (7, 3, 7, 4), """\
     app.py:7:4  VZ-2003  left in Python: `f`
        help: do it
              another way
        more: vizgen explain VZ-2003
     """),
], ids=["plain", "wide", "several lines", "unsafe", "no such line"])
def test_carets(core_tool, tmp_path, source, span, expected):
    path = tmp_path / "app.py"
    path.write_text(source)
    said = run([core_tool, "diag", str(path), *map(str, span)])
    assert said == textwrap.dedent(expected)
