"""Do the tests find faults of the compiler?

tests/planted.py lists faults: one line of a source, and what is wrong in its
place.  For each, a module is linked in which that line is exchanged, and a few
tests run with it, of which at least one must fail.  They pass without it, as
part of all tests.  A fault that no test finds shows that one is missing.

With VIZGEN_FULL=1 (make test-full) all are planted, else some.  The objects of
'make dev' are used, so that a fault costs one compilation.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

from tests import FULL
from tests.planted import FAULTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
OBJECTS = ROOT / "build" / f"dev{SUFFIX[:-len('.so')]}"
EVERY = 1 if FULL else 12

# The package must come from where PYTHONPATH says, before pytest puts the
# root first.
RUN = ("import sys, vizgen, pytest; assert sys.argv[1] in vizgen.__file__; "
       "sys.exit(pytest.main(sys.argv[2:]))")

pytestmark = pytest.mark.skipif(
    not (OBJECTS / "csrc/base/arena.o").exists() or not shutil.which("make"),
    reason="needs the objects of make dev")


def planted_text(fault):
    text = (ROOT / fault.file).read_text()
    assert text.count(fault.right) == 1, f"{fault.file}: {fault.right!r}"
    return text.replace(fault.right, fault.wrong)


def test_every_fault_has_its_place():
    for fault in FAULTS:
        planted_text(fault)
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names)


def build(fault, folder):
    """A package like ours whose compiler has the fault."""
    package = folder / "vizgen"
    package.mkdir()
    for path in (ROOT / "vizgen").iterdir():
        if not path.name.startswith(("_core.", "__pycache__")) \
                or path.suffix == ".pyi":
            (package / path.name).symlink_to(path)
    for name in {fault.source, fault.file}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text((ROOT / name).read_text())
    (folder / fault.file).write_text(planted_text(fault))
    include = " ".join(f"-isystem {path}" for path in
                       (sysconfig.get_path("include"), np.get_include()))
    subprocess.run(
        ["make", "-s", "exchange", "VIZGEN_BUILD=dev", f"SUFFIX={SUFFIX}",
         f"PY_INCLUDE={include}", f"FILE={fault.source}",
         f"FROM={folder / fault.source}",
         f"TO={package / ('_core' + SUFFIX)}"], cwd=ROOT, check=True)


@pytest.mark.parametrize("fault", FAULTS[::EVERY], ids=lambda f: f.name)
def test_planted(fault, tmp_path):
    build(fault, tmp_path)
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("VIZGEN_FULL", "LD_PRELOAD")}
    environment.update(PYTHONPATH=f"{tmp_path}:{ROOT}", VIZGEN_THREADS="2",
                       VIZGEN_PARALLEL_NS="0")
    environment.setdefault("VIZGEN_CC", "gcc")  # with all optimisation
    environment["MALLOC_PERTURB_"] = "165"  # memory that is not cleared
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN, str(tmp_path), "-q", "-x",
         "-p", "no:cacheprovider", *fault.tests], cwd=ROOT, env=environment,
        capture_output=True, text=True, timeout=300)
    # 1: a test failed; negative: the process ended, which is found as well.
    assert done.returncode == 1 or done.returncode < 0, (
        f"{fault.name} was not found\n{done.stdout[-1500:]}"
        f"{done.stderr[-500:]}")
    assert "error during collection" not in done.stdout, done.stdout
