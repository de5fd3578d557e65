"""vz-opt, the compiler without Python, for the tests that drive it by text."""
import fcntl
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

needs_tools = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("make")),
    reason="needs gcc and make")


# Of which build; "asan": under the sanitizers.
KIND = os.environ.get("VIZGEN_TOOLS", "dev")
SANITIZE = ["-fsanitize=address,undefined"] if KIND == "asan" else []


@functools.cache
def path():
    """Builds it; VZ_OPT names another one."""
    given = os.environ.get("VZ_OPT")
    if not given:
        (ROOT / "build").mkdir(exist_ok=True)
        with open(ROOT / "build" / "tools.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
            subprocess.run(["make", "-s", "-C", str(ROOT), "core-tools",
                            f"PY={sys.executable}", f"VIZGEN_TOOLS={KIND}"],
                           check=True, stdout=subprocess.DEVNULL)
    return given or str(ROOT / "build" / "tools" / "vz-opt")


def link(program, sources, folders):
    """Makes 'program' of C files and of all objects of some folders, which are
    there already."""
    path()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    build = ROOT / "build" / (KIND + suffix[:-len(".so")])
    objects = [one for folder in folders
               for one in sorted((build / folder).glob("*.o"))]
    subprocess.run(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{ROOT}", "-g", "-O1",
         "-DVIZGEN_DEV=1", *SANITIZE, *map(str, sources), *map(str, objects),
         "-fopenmp", "-lm", "-ldl", "-o", str(program)], check=True)


# Of the tool and of programs that are linked: what the sanitizers find ends
# them.  LEAKS: at their end, too, nothing may be left.
STRICT = {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
LEAKS = {**STRICT, "ASAN_OPTIONS": "detect_leaks=1"}
