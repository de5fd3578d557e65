"""Random functions through the passes, against the reference interpreter.

tests/unit/passes_gen.c makes them, passes_fuzz.c runs each pass and compares.
VIZGEN_FUZZ multiplies the number of seeds.
"""
import os
import pathlib
import re
import subprocess

import pytest

from tests import vzopt

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = 200 * int(os.environ.get("VIZGEN_FUZZ", "1"))

pytestmark = vzopt.needs_tools


@pytest.fixture(scope="session")
def passes_fuzz(tmp_path_factory):
    out = tmp_path_factory.mktemp("passes") / "passes_fuzz"
    vzopt.link(out, sorted((ROOT / "tests" / "unit").glob("passes_*.c")),
               ("csrc/base", "csrc/ir", "csrc/analysis", "csrc/pipe",
                "transforms"))
    return str(out)


def test_passes_keep_the_meaning(passes_fuzz):
    done = subprocess.run([passes_fuzz, "1", str(SEEDS)], capture_output=True,
                          text=True, timeout=600, env=vzopt.STRICT)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"([a-z ]+?) (\d+) ?", done.stdout))
    assert int(counts["faults"]) == 0, "the generator makes faulty functions"
    assert int(counts["ended well"]) > int(counts["calls"]) // 10, counts
    assert int(counts["dropped"]) > 0, counts
