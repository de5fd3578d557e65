"""Loops as people write them, on one thread, against Numba.

    python bench/everyday.py [LOOP ...] [--pairs 7]

The applications are large programs that were looked at for long; these are
what most users begin with.  A ratio is ours over Numba's, by interleaved pairs
with its 95 % interval; both change their arrays in place, call after call.
Before that, results are compared with Python's on small pictures.
"""
import argparse
import copy
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["VIZGEN_TRIALS"] = "0"

import numba
import numpy as np

from bench import loops, timing
from vizgen import accelerate


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray)
               else a == b for a, b in zip(one, other, strict=True))


def check(function, fast, make):
    """The fast one does what Python does."""
    args = make(np.random.RandomState(1), 11, 17)
    own = copy.deepcopy(args)
    results = function(*args), fast(*own)
    assert same((results[0], *args), (results[1], *own)), function.__name__


def measure(function, make, pairs):
    """(ratio, low, high, milliseconds)"""
    fast = accelerate(function)
    check(function, fast, make)
    contenders = {}
    for name, fn in (("ours", fast), ("numba", numba.njit(function))):
        args = make(np.random.RandomState(0), 600, 800)
        contenders[name] = lambda fn=fn, args=args: fn(*args)
        for _ in range(3):
            contenders[name]()
    times = timing.interleaved(contenders, pairs)
    ratio = timing.ratio(times["ours"], times["numba"])
    return (*ratio, 1e3 * sorted(times["ours"])[pairs // 2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loops", nargs="*", metavar="LOOP")
    parser.add_argument("--pairs", type=int, default=7)
    options = parser.parse_args()
    print(f"{'loop':<16}{'vizgen':>9}   ratio, 95 % interval")
    for function, make in loops.LOOPS:
        if options.loops and function.__name__ not in options.loops:
            continue
        ratio, low, high, ms = measure(function, make, options.pairs)
        print(f"{function.__name__:<16}{ms:9.3f}   {ratio:.2f} "
              f"({low:.2f} .. {high:.2f})", flush=True)


if __name__ == "__main__":
    main()
