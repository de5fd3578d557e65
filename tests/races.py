"""Parallel loops under ThreadSanitizer: `make tsan`.

    python -m tests.races

The core and all kernels are compiled for it, and a child process runs random
pipelines and the applications by 2 and 5 threads, also for little work.  It
must not report anything.  Then the test of dependences is replaced by one that
allows every loop to run in parallel, and a loop that must not is reported: so
a race would have been seen.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
DEPEND = "csrc/analysis/depend.c"
RIGHT, WRONG = "    return test_pairs(&c, why);\n", "    return true;\n"
PIPELINES = range(2, 102, 2)     # every second program is one
APPS = ("composite_gray", "blur1_gray", "blur2_rgb", "harris", "interpolate",
        "camera_pipe", "mandelbrot", "bilateral_grid")
THREADS = (2, 5)


# --- in the child ---


def work():
    """Says how many kernels there were, and how many parallel loops."""
    from bench import rows
    from tests.fuzz import harness, kinds, variants

    calls = [(row.fn, row.args) for row in rows.all_rows()
             if row.name in APPS]
    folder = pathlib.Path(tempfile.mkdtemp())
    for seed in PIPELINES:
        module = harness.load(str(kinds.write("pixels", seed, folder)))
        calls.append((module.run, module.arguments))
    loops = 0
    for function, arguments in calls:
        fn = variants.chosen(getattr(function, "py_func", function), "")
        for count in THREADS:
            with variants.threads(count):
                harness.Outcome(fn, "", arguments())
        loops += sum(line.startswith("parallel") for item in fn._describe()
                     for line in (item["sched"] or "").splitlines())
    shutil.rmtree(folder)
    print(f"{len(calls)} programs, {loops} parallel loops")


def running(a):
    """Each row needs the one above it."""
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1]):
            a[y, x] = a[y - 1, x] + 1.0


def planted():
    from tests.fuzz import variants

    fn = variants.chosen(running, "")
    with variants.threads(4):
        for _ in range(20):
            fn(np.zeros((2000, 1000)))


# --- the parent ---


def link(folder, text):
    """A package in 'folder', with 'text' in place of the dependence test."""
    package = folder / "vizgen"
    package.mkdir()
    for path in (ROOT / "vizgen").iterdir():
        if not path.name.startswith("_core") or path.suffix == ".pyi":
            (package / path.name).symlink_to(path)
    source = folder / DEPEND
    source.parent.mkdir(parents=True)
    source.write_text(text)
    include = " ".join(f"-isystem {path}" for path in
                       (sysconfig.get_path("include"), np.get_include()))
    subprocess.run(
        ["make", "-s", "exchange", "VIZGEN_BUILD=tsan", f"SUFFIX={SUFFIX}",
         f"PY_INCLUDE={include}", f"FILE={DEPEND}", f"FROM={source}",
         f"TO={package / ('_core' + SUFFIX)}"], cwd=ROOT, check=True)


def compiler(folder):
    """The path of a compiler that makes kernels for ThreadSanitizer."""
    path = folder / "tsan-gcc"
    path.write_text(f"#!/bin/sh\nexec {shutil.which('gcc')} \"$@\" "
                    "-O1 -g -fsanitize=thread\n")
    path.chmod(0o700)
    return path


def reports(task, text):
    """The reports of a child that runs 'task' with 'text' as dependence
    test, joined; what it printed is printed."""
    with tempfile.TemporaryDirectory(prefix="vizgen-tsan-") as name:
        folder = pathlib.Path(name)
        link(folder, text)
        library = subprocess.run(["gcc", "-print-file-name=libtsan.so"],
                                 capture_output=True, text=True, check=True)
        done = subprocess.run(
            [sys.executable, "-c", f"from tests import races; races.{task}()"],
            cwd=folder, timeout=1800, check=False, env={
                **os.environ, "PYTHONPATH": f"{folder}:{ROOT}",
                "LD_PRELOAD": library.stdout.strip(),
                "TSAN_OPTIONS": f"log_path={folder}/report exitcode=0",
                "VIZGEN_CC": str(compiler(folder)), "VIZGEN_TRIALS": "0",
                "VIZGEN_CACHE_DIR": f"{folder}/cache",
                "VIZGEN_PARALLEL_NS": "0"})
        if done.returncode:
            sys.exit(f"{task}: status {done.returncode}")
        return "".join(p.read_text() for p in folder.glob("report.*"))


def main():
    text = (ROOT / DEPEND).read_text()
    assert text.count(RIGHT) == 1, DEPEND
    found = reports("work", text)
    count = found.count("WARNING: ThreadSanitizer")
    print(f"{count} reports")
    print(found[:6000], end="")
    seen = reports("planted", text.replace(RIGHT, WRONG))
    caught = "WARNING: ThreadSanitizer: data race" in seen
    print("the planted race is", "reported" if caught else "NOT reported")
    sys.exit(count > 0 or not caught)


if __name__ == "__main__":
    main()
