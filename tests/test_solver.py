"""Z3 beside the affine prover: it may prove more, and judges what was proved.

`VIZGEN_DUMP=?` writes out every question as SMT-LIB with its verdict.  Z3
itself is from the z3-solver wheel, and the tests that need it are skipped
without it; the others use libraries that only look like it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.fuzz import harness, kinds
from vizgen import _core, accelerate

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = [*range(1, 40, 3), *range(2, 20, 5)]


def histogram(a, n):
    """k < n follows from k <= n and k != n, which is no bound of k."""
    out = np.zeros(n)
    for i in range(a.shape[0]):
        k = a[i]
        if k != n:
            if 0 <= k <= n:
                out[k] += 1.0
    return out


def beyond(a, n):
    """Not in range: k == n is reached."""
    out = np.zeros(n)
    for i in range(a.shape[0]):
        k = a[i]
        if k != n + 1:
            if 0 <= k <= n:
                out[k] += 1.0
    return out


def checks_left(function, solver):
    info = _core.compile_info(accelerate(function), (np.arange(20), 9),
                              opts=f"dump=? solver={solver}", front_only=True)
    left = [r for r in info["remarks"] if r["code"] == "VZ-3007"]
    return len(left), info["dump"]


def test_z3_proves_more():
    pytest.importorskip("z3")
    assert checks_left(histogram, "")[0] == 1
    left, dump = checks_left(histogram, "auto")
    assert left == 0
    assert re.search(r"; Z3: unsat \(:rlimit \d+\)", dump)
    assert checks_left(beyond, "auto")[0] == 1


def test_results_with_z3(monkeypatch):
    monkeypatch.setenv("VIZGEN_OPTS", "solver=auto")
    for function in (histogram, beyond):
        fn = accelerate(function)
        for n in range(7):
            for high in range(1, n + 3):
                a = np.arange(60) % high
                try:
                    want = function(a, n)
                except IndexError:
                    with pytest.raises(IndexError):
                        fn(a, n)
                else:
                    assert np.array_equal(fn(a, n), want)
        assert fn.stats.native_calls > 0


def test_same_code_in_every_run():
    pytest.importorskip("z3")
    texts = {_core.compile_info(accelerate(histogram), (np.arange(20), 9),
                                opts="solver=auto", front_only=True)["c"]
             for _ in range(3)}
    assert len(texts) == 1


def test_the_affine_prover_is_right(tmp_path, monkeypatch):
    """What it proved is unsatisfiable, says Z3.  Conditions that are known as
    a whole, of floats for instance, are not in the scripts."""
    z3 = pytest.importorskip("z3")
    monkeypatch.setenv("VIZGEN_TRIALS", "0")
    scripts = {}
    for seed in PROGRAMS:
        path = kinds.write("pixels", seed, tmp_path)
        module = harness.load(str(path))
        info = _core.compile_info(accelerate(module.run), module.arguments(),
                                  opts="dump=?", front_only=True)
        for text in (info.get("dump") or "").split("; query\n")[1:]:
            script, verdict = text.split("(check-sat)\n", 1)
            if verdict.startswith("; affine: proved"):
                scripts[script] = seed
    assert len(scripts) > 150
    doubtful = []
    for script, seed in scripts.items():
        goal, = re.findall(r".* ; the goal fails", script)
        if re.search(r"\bf\d", goal):
            continue
        solver = z3.Solver()
        solver.set("rlimit", 500000)
        solver.from_string(script)
        if solver.check() == z3.sat:
            doubtful.append((seed, script))
    # Overflow tests that are known to be false are not said either.
    doubtful = [d for d in doubtful if "9223372036854775807)) true)" not in d[1]
                and "(- 9223372036854775808)))" not in d[1]]
    assert not doubtful, doubtful[0]


# --- libraries that are not Z3 ---

STUB = """
#include <string.h>
void *Z3_mk_config(void) { return "config"; }
void Z3_del_config(void *c) { (void)c; }
void *Z3_mk_context(void *c) { return %(context)s; }
static void (*handler)(void *, int);
void Z3_set_error_handler(void *c, void (*fn)(void *, int)) { handler = fn; }
const char *Z3_eval_smtlib2_string(void *c, const char *text)
{
    %(eval)s
}
"""
STUBS = {
    "unknown": ('"c"', 'return "unknown\\n";'),
    "error": ('"c"', 'handler(c, 4); return "unsat\\n";'),
    "said": ('"c"', 'return "unsat\\n(error \\"line 1\\")\\n";'),
    "null": ('"c"', "return 0;"),
    "empty": ('"c"', 'return "";'),
    "no_context": ("0", 'return "unsat\\n";'),
    "lying": ('"c"', 'return "unsat\\n(:rlimit 1)\\n";'),
}


def stub(folder, kind):
    context, text = STUBS[kind]
    source = folder / f"{kind}.c"
    source.write_text(STUB % {"context": context, "eval": text})
    library = folder / f"{kind}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source],
                   check=True)
    return library


def brute_force(library):
    """Exit status of a process that compares `beyond` with Python for all
    small sizes."""
    code = ("import tests.test_solver as t, numpy as np\n"
            "from vizgen import accelerate\n"
            "fn = accelerate(t.beyond)\n"
            "fn.compile(np.arange(20), 9)\n"
            "for n in range(1, 7):\n"
            "    a = np.arange(n + 1)\n"
            "    try:\n"
            "        fn(a, n)\n"
            "    except IndexError:\n"
            "        continue\n"
            "    raise SystemExit(f'no IndexError for {n}')\n")
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "VIZGEN_OPTS": f"solver={library}",
             "VIZGEN_TRIALS": "0"})


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("kind", sorted(set(STUBS) - {"lying"}))
def test_a_broken_solver_proves_nothing(tmp_path, kind):
    done = brute_force(stub(tmp_path, kind))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["missing.so", "text.so"])
def test_no_library(tmp_path, name):
    (tmp_path / "text.so").write_text("no library")
    done = brute_force(tmp_path / name)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_a_lying_solver_is_caught(tmp_path):
    """By the comparison with Python for all small sizes, which each test of a
    proof makes."""
    done = brute_force(stub(tmp_path, "lying"))
    assert done.returncode != 0
