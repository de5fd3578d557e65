"""Makes a failing program smaller.

    python -m tests.fuzz.shrink PROGRAM.py

Statements are removed, branches replaced by their bodies and expressions by
their parts, as long as the program still fails in the same way (differs, or
ends its process).  The result is written to PROGRAM_small.py.
"""
import ast
import copy
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = 240.0


def verdict(path):
    """'ok', 'python', 'wrong' or 'crash' of the program in 'path', and why."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.harness", str(path)], cwd=ROOT,
            capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "crash", "timeout"
    records = [json.loads(line) for line in done.stdout.splitlines()
               if line.startswith('{"file"')]
    if records:
        return records[-1]["status"], records[-1]["why"]
    if "Traceback" in done.stderr and done.returncode == 1:
        return "broken", done.stderr[-300:]
    return "crash", f"exit {done.returncode}"


def kind_of(status, why):
    """What must stay: the status and the sort of difference."""
    words = why.split(": ", 1)[-1].split()
    return status, words[0] if words else ""


def candidates(tree):
    """Smaller trees, the boldest first."""
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)
                 and n.name != "arguments"]
    for function in functions:
        for node in ast.walk(function):
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if isinstance(block, list):
                    yield from _without(tree, node, field, block)
    for function in functions:
        for node in ast.walk(function):
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    yield from _simpler(tree, node, name, value)


def _changed(tree, node, field, value):
    """A copy of 'tree' in which 'node'.field is 'value'."""
    old = getattr(node, field)
    setattr(node, field, value)
    other = copy.deepcopy(tree)
    setattr(node, field, old)
    return other


def _without(tree, node, field, block):
    for k, statement in enumerate(block):
        if isinstance(statement, ast.Pass):
            continue
        rest = block[:k] + block[k + 1:]
        if not rest and field == "body":
            rest = [ast.Pass()]
        yield _changed(tree, node, field, rest)
        inner = getattr(statement, "body", None)
        if isinstance(inner, list):
            yield _changed(tree, node, field,
                           block[:k] + inner + block[k + 1:])


def _simpler(tree, node, name, value):
    if isinstance(value, ast.BinOp):
        parts = [value.left, value.right]
    elif isinstance(value, ast.BoolOp):
        parts = value.values
    elif isinstance(value, ast.UnaryOp):
        parts = [value.operand]
    elif isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.Call) and value.args \
            and not isinstance(node, ast.For):
        parts = value.args
    else:
        return
    for part in parts:
        yield _changed(tree, node, name, part)


def shrink(path):
    """The smallest program found that fails as 'path' does."""
    tree = ast.parse(path.read_text())
    tree.body = [n for n in tree.body if not isinstance(n, ast.If)]
    trial = path.with_name(path.stem + "_trial.py")
    wanted = kind_of(*verdict(path))
    if wanted[0] not in ("wrong", "crash"):
        sys.exit(f"{path} does not fail: {wanted}")
    end = time.monotonic() + PATIENCE
    smaller = True
    while smaller:
        smaller = False
        for other in candidates(tree):
            if time.monotonic() > end:
                break
            trial.write_text(ast.unparse(ast.fix_missing_locations(other)))
            if kind_of(*verdict(trial)) == wanted:
                tree, smaller = other, True
                break
    trial.unlink(missing_ok=True)
    small = path.with_name(path.stem + "_small.py")
    small.write_text(ast.unparse(tree) + "\n")
    return small


if __name__ == "__main__":
    result = shrink(pathlib.Path(sys.argv[1]).resolve())
    print(result.read_text())
    print(*verdict(result))
