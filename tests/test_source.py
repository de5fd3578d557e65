"""The house style, as far as a machine can see it."""
import ast
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("csrc", "typeinfer", "transforms", "autotune", "vizgen", "apps",
           "bench", "tests")
MOST_LINES = 700
LONGEST_FUNCTION = 70

# Programs of their own, which may do as they like.
PROGRAMS = ("bench/", "tests/", "csrc/driver/vz_opt")

# Which files may call what the compiler's core must not.
RESERVED_CALLS = {
    "malloc|calloc|realloc|free": (
        "csrc/base/arena.c", "csrc/base/str.c", "csrc/base/map.c",
        "csrc/run/", "csrc/py/", "csrc/emit/prelude",
        "csrc/analysis/prove.c"),
    "printf|puts|fprintf|putchar": (
        "csrc/base/arena.c", "csrc/run/"),
    "exit|abort|_exit": (
        "csrc/base/arena.c", "csrc/run/"),
    "system|popen|strtok|gets|strcpy|strcat|sprintf": (),
}


def files(*endings):
    return sorted(path for folder in FOLDERS
                  for path in (ROOT / folder).rglob("*")
                  if path.suffix in endings
                  and "__pycache__" not in path.parts)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def bare(text):
    """C without comments and string literals, line numbers kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\''
    return re.sub(pattern, blank, text, flags=re.S)


def test_lines():
    bad = []
    for path in files(".c", ".h", ".def", ".py"):
        width = 88 if path.suffix == ".py" else 80
        lines = path.read_text().splitlines()
        if len(lines) > MOST_LINES:
            bad.append(f"{name_of(path)}: {len(lines)} lines")
        for number, line in enumerate(lines, 1):
            where = f"{name_of(path)}:{number}"
            if "\t" in line:
                bad.append(f"{where}: a tab")
            if len(line) > width:
                bad.append(f"{where}: {len(line)} columns")
            if line != line.rstrip():
                bad.append(f"{where}: blanks at the end")
    assert not bad, "\n".join(bad)


def test_headers_are_guarded():
    bad = []
    for path in files(".h"):
        name = name_of(path)
        if not name.startswith(("csrc", "typeinfer", "transforms",
                                "autotune")):
            continue
        parts = pathlib.PurePosixPath(name).with_suffix("").parts
        parts = parts[1:] if parts[0] == "csrc" else parts
        guard = "_".join(("VZ", *parts, "H")).upper()
        first = path.read_text().splitlines()[:2]
        if first != [f"#ifndef {guard}", f"#define {guard}"]:
            bad.append(f"{name}: no guard {guard}")
    assert not bad, "\n".join(bad)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_headers_stand_alone():
    bad = []
    for path in files(".h"):
        name = name_of(path)
        if name.startswith(("csrc/py", "csrc/emit/prelude",
                            "csrc/emit/relaxed", "bench")):
            continue
        done = subprocess.run(
            ["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{ROOT}", "-x", "c",
             "-fsyntax-only", str(path)], capture_output=True, text=True)
        if done.returncode:
            bad.append(f"{name}: {done.stderr.splitlines()[0]}")
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("calls", sorted(RESERVED_CALLS))
def test_reserved_calls(calls):
    pattern = re.compile(rf"(?<![\w.>])({calls})\s*\(")
    bad = []
    for path in files(".c", ".h"):
        name = name_of(path)
        if name.startswith((*RESERVED_CALLS[calls], *PROGRAMS)):
            continue
        for match in pattern.finditer(bare(path.read_text())):
            line = path.read_text()[:match.start()].count("\n") + 1
            bad.append(f"{name}:{line}: {match[1]}")
    assert not bad, "\n".join(bad)


def c_functions(text):
    """(name, first line, lines) of the functions in house format."""
    lines = bare(text).splitlines()
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            head = lines[start - 1]
            for back in range(start - 1, max(start - 8, 0), -1):
                if lines[back] and not lines[back][0].isspace():
                    head = lines[back]
                    break
            yield head.split("(")[0], start, number - start + 1
            start = None


def test_c_functions_are_short():
    bad = []
    for path in files(".c"):
        if name_of(path).startswith("bench"):
            continue
        text = path.read_text()
        for name, line, size in c_functions(text):
            if size > LONGEST_FUNCTION and not _is_flat_switch(text, line,
                                                               size):
                bad.append(f"{name_of(path)}:{line}: {name}: {size} lines")
    assert not bad, "\n".join(bad)


def _is_flat_switch(text, line, size):
    """A function that is one long switch may be long."""
    body = text.splitlines()[line:line + size]
    cases = sum(row.strip().startswith("case ") for row in body)
    return cases * 5 >= size


def test_python_functions_are_short():
    bad = []
    for path in files(".py"):
        if name_of(path).startswith("apps/"):
            continue  # written as their authors would, not as we do
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                size = node.end_lineno - node.lineno + 1
                if size > LONGEST_FUNCTION:
                    bad.append(f"{name_of(path)}: {node.name}: {size}")
    assert not bad, "\n".join(bad)


def test_every_pass_has_a_file_and_a_test():
    table = (ROOT / "transforms" / "passes.def").read_text()
    code = "\n".join(p.read_text() for p in files(".c"))
    blocks = re.findall(r"(?:passes|after)=([\w,]+)", "\n".join(
        p.read_text() for p in (ROOT / "tests" / "ir").glob("*.ir")))
    tried = {name for block in blocks for name in block.split(",")}
    for name in re.findall(r"PASS\('.',\s*(\w+)", bare_def(table)):
        assert re.search(rf"^pass_{name}\(", code, re.M), f"pass {name}"
        assert name in tried, f"no file of tests/ir runs pass {name}"


def bare_def(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def diagnostics():
    table = (ROOT / "csrc" / "base" / "diag.def").read_text()
    return re.findall(r'DIAG\((\w+), "(VZ-\d{4})"', table)


def test_every_diagnostic_is_used_and_tested():
    code = "\n".join(p.read_text() for p in files(".c")
                     if "csrc/base/diag" not in name_of(p))
    python = "\n".join(p.read_text() for p in (ROOT / "vizgen").glob("*.py"))
    tests = "\n".join([p.name for p in (ROOT / "tests/errors").glob("*.py")]
                      + [(ROOT / "tests/test_errors.py").read_text()])
    bad = []
    for name, number in diagnostics():
        if f"DIAG_{name}" not in code and number not in python:
            bad.append(f"{number} ({name}) is never given")
        if number not in tests and number.replace("-", "_") not in tests:
            bad.append(f"{number} ({name}) has no test")
    assert not bad, "\n".join(bad)


def test_diagnostic_codes_are_unique():
    codes = [code for _, code in diagnostics()]
    assert len(set(codes)) == len(codes) and codes == sorted(codes)


def test_no_leftovers():
    """No unfinished business, nothing about how the work was organised."""
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    bad = [f"{name_of(path)}: {pattern.search(path.read_text())[0]}"
           for path in files(".c", ".h", ".def", ".py")
           if path != pathlib.Path(__file__).resolve()
           and pattern.search(path.read_text())]
    assert not bad, "\n".join(bad)
