"""Random functions through the passes, against the reference interpreter.

tests/unit/passes_gen.c makes them, passes_fuzz.c runs each pass and compares.
VIZGEN_FUZZ multiplies the number of seeds.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = 400 * int(os.environ.get("VIZGEN_FUZZ", "1"))

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


@pytest.fixture(scope="session")
def passes_fuzz(tmp_path_factory):
    out = tmp_path_factory.mktemp("passes") / "passes_fuzz"
    sources = sorted((ROOT / "tests" / "unit").glob("passes_*.c"))
    for folder in ("csrc/base", "csrc/ir", "csrc/analysis", "csrc/pipe",
                   "transforms"):
        sources += sorted((ROOT / folder).glob("*.c"))
    subprocess.run(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{ROOT}", "-g", "-O1",
         "-fsanitize=undefined", "-fno-sanitize-recover=undefined",
         *map(str, sources), "-lm", "-o", str(out)], check=True)
    return str(out)


def test_passes_keep_the_meaning(passes_fuzz):
    done = subprocess.run([passes_fuzz, "1", str(SEEDS)], capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"([a-z ]+?) (\d+) ?", done.stdout))
    assert int(counts["faults"]) == 0, "the generator makes faulty functions"
    assert int(counts["ended well"]) > int(counts["calls"]) // 10, counts
    assert int(counts["dropped"]) > 0, counts
