"""Random functions (tests/fuzz/ir.py): passes must not change what they compute.

The reference interpreter runs each function as it is and after passes.  A
fast kernel may instead ask for the general one.  VIZGEN_FUZZ=N sets how many
functions are tried, VIZGEN_FUZZ_SEED where they begin; a failing one is
written out as a file for tests/ir.
"""
import os
import subprocess

import pytest

from tests import vzopt
from tests.fuzz.ir import Program

pytestmark = vzopt.needs_tools

HOW_MANY = int(os.environ.get("VIZGEN_FUZZ", "40"))
FIRST = int(os.environ.get("VIZGEN_FUZZ_SEED", "0"))
PIPELINES = (
    ["--clone", "--clone-body"],
    ["--passes=exits"],
    ["--passes=exits,ssa"],
    ["--passes=exits,ssa,simplify"],
    ["--all"],
    ["--all", "--general"],
)


@pytest.fixture(scope="module")
def vz_opt():
    return vzopt.path()


def evaluate(vz_opt, program, flags):
    """(status, everything printed)"""
    done = subprocess.run([vz_opt, *flags, "--eval", *program.args, "-"],
                          input=program.text, capture_output=True, text=True,
                          env=vzopt.LEAKS)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.split()[1], done.stdout


def difference(vz_opt, program, flags):
    """Why the flags are wrong for the program; None when they are right."""
    status, before = evaluate(vz_opt, program, [])
    assert status in ("ok", "replay"), program.text
    try:
        now, after = evaluate(vz_opt, program, flags)
    except AssertionError as error:
        return str(error)
    if now == "bail" and "--general" not in flags:
        return None
    if now != status or (status == "ok" and after != before):
        return f"before:\n{before}\nafter:\n{after}"
    return None


@pytest.mark.parametrize("flags", PIPELINES, ids=" ".join)
def test_passes_keep_meaning(vz_opt, flags, tmp_path):
    for seed in range(FIRST, FIRST + HOW_MANY):
        program = Program(seed)
        wrong = difference(vz_opt, program, flags)
        if wrong:
            path = tmp_path / f"seed{seed}.ir"
            path.write_text(program.text)
            args = " ".join(program.args)
            pytest.fail(f"seed {seed}: {path} {args}\n{wrong}")


def test_programs_are_worth_running(vz_opt):
    """At least a third of the functions run to their end."""
    done = [evaluate(vz_opt, Program(seed), [])[0] for seed in range(60)]
    assert done.count("ok") >= 20
