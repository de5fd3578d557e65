"""A long run of random programs against CPython.

    python -m tests.fuzz --count 20000 --jobs 16 --seed 1 --out failures

Progress and differences are printed as they come, a summary at the end; the
exit status is 1 if a program differs.  Failing programs are kept in the
folder --out, beside each a .txt that says how it ran, and as many of them as
--shrink says are made smaller.  --seconds ends the run early.
"""
import argparse
import os
import pathlib
import sys
import time

from tests.fuzz import kinds, shrink, soak


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    add = parser.add_argument
    add("--count", type=int, default=300, help="how many programs")
    add("--seed", type=int, default=1, help="the first program's number")
    add("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    add("--seconds", type=float, default=1e9, help="start none after these")
    add("--out", default="fuzz-failures", help="folder for what fails")
    add("--shrink", type=int, default=5, help="how many are made smaller")
    add("--sets", type=int, default=0, help="random choices of transforms by "
        "which each program runs too, with 1, 2 and 5 threads")
    add("--kind", choices=sorted(kinds.MAKERS), default="all")
    return parser.parse_args()


def main():
    options = arguments()
    os.environ["VIZGEN_FUZZ_SETS"] = str(options.sets)
    folder = pathlib.Path(options.out).resolve()
    began = time.monotonic()
    work = soak.Soak(options.kind, options.seed, options.count,
                     options.jobs, folder, options.seconds)
    summary, failures = work.run()
    for path, environment in failures[:options.shrink]:
        print(shrink.shrunk(path, environment), flush=True)
    print("why in Python:", *(f"{n:6} {why}" for why, n in
                              summary.reasons.most_common(15)), sep="\n  ")
    if options.sets:
        print("transforms that fired:", *summary.shares(), sep="\n  ")
    print(f"seeds {options.seed} to {options.seed + options.count - 1}: "
          f"{summary}, {time.monotonic() - began:.0f} s")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
