"""Calls that leave the caller's registers alone (VZ_FAR in prelude.h)."""
import ctypes
import pathlib
import shutil
import subprocess

import pytest

from tests.test_powers import FLAGS

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_registers_are_kept(compiler, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"needs {compiler}")
    path = tmp_path / "far.so"
    subprocess.run([compiler, *FLAGS, f"-I{ROOT}",
                    str(ROOT / "tests/unit/prelude_far.c"), "-o", str(path)],
                   check=True)
    assert ctypes.CDLL(str(path)).far_differs(50) == 0
