"""What the layout of its pictures costs an application.

    python bench/layouts.py [ROW ...] [--seconds 2]

Every row on pictures that lie in C order, in Fortran's, backwards along the
last axis, and as every second row and column of larger ones; the least times
of interleaved calls, and how many times that of C order each is.  Exit status
0: none is above LIMIT.
"""
import argparse
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from bench import rows

LIMIT = 2.5


def backwards(a):
    return a[..., ::-1].copy()[..., ::-1]


def second(a):
    wide = np.empty((2 * a.shape[0], 2 * a.shape[1], *a.shape[2:]), a.dtype)
    wide[::2, ::2] = a
    return wide[::2, ::2]


LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray,
           "backwards": backwards, "second": second}


def in_layout(value, layout):
    picture = isinstance(value, np.ndarray) and value.ndim >= 2
    return LAYOUTS[layout](value) if picture else value


def times(row, seconds):
    """{layout: least seconds of a call}; the first ones compile."""
    args = {name: [in_layout(a, name) for a in row.args()]
            for name in LAYOUTS}
    for values in args.values():
        row.fn(*values)                      # compiles
    least = {}
    end = time.perf_counter() + seconds
    while not least or time.perf_counter() < end:
        for name, values in args.items():
            start = time.perf_counter()
            row.fn(*values)
            took = time.perf_counter() - start
            least[name] = min(took, least.get(name, took))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    worst = 0.0
    for row in rows.all_rows():
        if options.rows and row.name not in options.rows:
            continue
        least = times(row, options.seconds)
        parts = []
        for name, took in least.items():
            ratio = took / least["C"]
            worst = max(worst, ratio)
            mark = "!" if ratio > LIMIT else " "
            parts.append(f"{name} {1e3 * took:8.3f} ms {ratio:5.2f}{mark}")
        print(f"{row.name:16}", "  ".join(parts), flush=True)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
