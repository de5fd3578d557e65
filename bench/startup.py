"""What it costs before and around a kernel.

    python bench/startup.py [--json FILE]

import time beyond NumPy's, a call's overhead for one and three arrays, the
first call with an empty cache, and a second process up to its first native
result.  Exit status by the limits of LIMITS.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = {"import_ms": 15.0, "one_array_ns": 100.0, "three_arrays_ns": 200.0,
          "cached_ms": 5.0}

IMPORT = """
import time, numpy
start = time.perf_counter()
import vizgen
print(1e3 * (time.perf_counter() - start))
"""

FIRST = """
import time
import numpy, blur_two_stage
img = numpy.ones((32, 32))
start = time.perf_counter()
blur_two_stage.two_stage_blur(img)
print(1e3 * (time.perf_counter() - start))
assert blur_two_stage.two_stage_blur.stats.native_calls == 1
"""

CALLS = """
import timeit
import numpy as np
from vizgen import accelerate

@accelerate(strict=True)
def one(a):
    return None

@accelerate(strict=True)
def three(a, b, c):
    return None

def nothing(a):
    return None

a = np.ones((4, 4))
for name, call in (("one_array_ns", "one(a)"),
                   ("three_arrays_ns", "three(a, a, a)"),
                   ("python_ns", "nothing(a)")):
    timer = timeit.Timer(call, globals=globals())
    n = 200000
    print(name, min(timer.repeat(7, n)) / n * 1e9)
assert one.stats.python_calls == 0 and three.stats.python_calls == 0
"""


def run(code, **env):
    """The words that 'code', in a file, prints in a fresh process."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "apps")])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        pathlib.Path(program).write_text(code)
        done = subprocess.run(
            [sys.executable, program], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": path, **env}, check=True)
    return done.stdout.split()


def median_of(code, times, **env):
    return statistics.median(float(run(code, **env)[0]) for _ in range(times))


def measure():
    figures = {"import_ms": median_of(IMPORT, 7)}
    words = run(CALLS)
    figures |= {k: float(v) for k, v in zip(words[::2], words[1::2])}
    cold = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(5):
            cache = os.path.join(folder, str(k))
            cold.append(float(run(FIRST, VIZGEN_CACHE_DIR=cache)[0]))
        figures["first_call_ms"] = statistics.median(cold)
        figures["cached_ms"] = median_of(FIRST, 7, VIZGEN_CACHE_DIR=cache)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    figures = measure()
    good = True
    for name, value in figures.items():
        limit = LIMITS.get(name)
        kept = limit is None or value <= limit
        good = good and kept
        print(f"{name:16} {value:8.1f}"
              + (f"   limit {limit:g}" if limit else "")
              + ("" if kept else "   ABOVE"))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
