"""Makes a failing program smaller.

    python -m tests.fuzz.shrink PROGRAM.py [NAME=VALUE...]

NAME=VALUE are the settings under which it fails.  Statements are removed,
branches replaced by their bodies and expressions by their parts, as long as
the program still fails in the same way (differs, or ends its process).  The
result is written to PROGRAM_small.py.

Each trial is a process forked from this one, which has everything loaded, so
that a crash is an answer like any other and most trials take no longer than
the C compiler.
"""
import ast
import copy
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = float(os.environ.get("VIZGEN_FUZZ_PATIENCE", "240"))
LIMIT = 20.0


def verdict(path):
    """'ok', 'python', 'wrong', 'broken' or 'crash' of the program in 'path',
    and why."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(path, send)
    os.close(send)
    ready, _, _ = select.select([receive], [], [], LIMIT)
    text = b""
    if ready:
        with os.fdopen(receive, "rb") as stream:
            text = stream.read()
    else:
        os.close(receive)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if text:
        return tuple(json.loads(text))
    return "crash", f"status {status}" if ready else "timeout"


def _answer(path, send):
    """In the child: run the program, write the verdict, end."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    from tests.fuzz import harness
    try:
        record = harness.check(str(path), [{}])
        words = record["status"], record["why"]
    except BaseException as error:
        words = "broken", repr(error)
    os.write(send, json.dumps(words).encode()[:60000])
    os._exit(0)


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


def shrunk(path, environment):
    """What became of the failing program in 'path', as text."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.shrink", str(path), *settings],
        cwd=ROOT, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr[-300:]).rstrip()


def main(path, settings):
    # Read at import, so before it.
    os.environ.update(word.split("=", 1) for word in settings)
    os.environ["VIZGEN_TRIALS"] = "0"
    from tests.fuzz import harness  # noqa: F401 - loaded before the forks
    small = shrink(pathlib.Path(path).resolve())
    print(f"--- {small} {' '.join(settings)}", small.read_text(),
          *verdict(small), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
