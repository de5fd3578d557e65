"""Other names for memory, and buffers that grow, from passes to C.

tests/ir/name_*.ir and grow_*.ir say what passes make of them and that these
keep their meaning; here the C text of the result is compared with the reference
interpreter, as tests/test_emit.py does for functions written at level 'sched'.
The same is done with random functions (tests/fuzz/names.py).
"""
import os
import re
import subprocess

import pytest

from tests import vzopt
from tests.fuzz.names import Program
from tests.test_emit import compilers, run, tool  # noqa: F401
from tests.test_ir_random import evaluate

pytestmark = vzopt.needs_tools

FILES = sorted(path for word in ("name", "grow")
               for path in (vzopt.ROOT / "tests/ir").glob(f"{word}_*.ir"))


def lowered(path, folder, *flags):
    """The function in 'path' after all passes, in a file of its own."""
    done = subprocess.run([vzopt.path(), "--all", *flags, str(path)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    out = folder / f"{path.stem}{''.join(flags)}.ir"
    out.write_text(done.stdout)
    return out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cc", compilers())
@pytest.mark.parametrize("flags", [[], ["--general"]], ids=" ".join)
def test_passes_and_c(tool, cc, flags, tmp_path):  # noqa: F811
    paths = [lowered(path, tmp_path, *flags) for path in FILES]
    out = run(tool, "--cc", cc, "--seeds", "40", *paths)
    equal = [int(n) for n in re.findall(r"(\d+) equal", out)]
    assert len(equal) == len(FILES)
    assert min(equal) >= 8


# --- random functions ------------------------------------------------------------

HOW_MANY = int(os.environ.get("VIZGEN_FUZZ", "20"))
FIRST = int(os.environ.get("VIZGEN_FUZZ_SEED", "0"))
PIPELINES = (["--clone", "--clone-body"], ["--passes=exits,ssa"],
             ["--passes=exits,ssa,simplify"], ["--all"], ["--all", "--general"])


@pytest.mark.parametrize("flags", PIPELINES, ids=" ".join)
def test_passes_keep_meaning(flags, tmp_path):
    for seed in range(FIRST, FIRST + HOW_MANY):
        program = Program(seed)
        status, before = evaluate(vzopt.path(), program, [])
        assert status == "ok", program.text
        now, after = evaluate(vzopt.path(), program, flags)
        if after != before and now != "bail":
            (tmp_path / "failing.ir").write_text(program.text)
            pytest.fail(f"seed {seed}: {tmp_path}/failing.ir "
                        f"{' '.join(program.args)}\n{before}\n{after}")


@pytest.mark.parametrize("flags", [[], ["--general"]], ids=" ".join)
def test_c_of_random_functions(tool, flags, tmp_path):  # noqa: F811
    paths = []
    for seed in range(FIRST, FIRST + HOW_MANY):
        path = tmp_path / f"names{seed}.ir"
        path.write_text(Program(seed).text)
        paths.append(lowered(path, tmp_path, *flags))
    out = run(tool, "--seeds", "12", *paths)
    equal = [int(n) for n in re.findall(r"(\d+) equal", out)]
    assert sum(equal) >= 6 * HOW_MANY
