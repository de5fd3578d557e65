"""Measure the applications against their peers, side by side.

    python bench/run.py [ROW ...] [--pairs 31] [--json FILE]
    python bench/run.py --python            measure plain CPython again
    python bench/run.py --approx fma,f32    relaxed, against C in float32

A ratio is ours over the strongest exact peer, by interleaved pairs with its
95 % interval.  Exit status 0: every row keeps its limit.  Clang's peers run
in a process of their own, since two OpenMP runtimes in one disturb each
other; their ratio is taken through the copy limit of either process.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
# What `vizgen tune` once chose for an application must not be measured here.
os.environ.setdefault("VIZGEN_CACHE_DIR", str(HERE.parent / "build" / "bench"))
os.environ["VIZGEN_TRIALS"] = "0"

from bench import approx, rows, timing
from bench.peers import c

PYTHON_TIMES = HERE / "results" / "cpython.json"


# --- plain Python, kept ----------------------------------------------------

def python_times(names, again):
    """{row: milliseconds} of CPython, measured when not known."""
    known = {}
    if PYTHON_TIMES.exists():
        known = json.loads(PYTHON_TIMES.read_text())["rows"]
    for row in rows.all_rows():
        if row.name in names and (again or row.name not in known):
            print(f"measuring CPython: {row.name}", file=sys.stderr)
            known[row.name] = _python_ms(row)
    record = {"python": platform.python_version(), "numpy": np.__version__,
              "machine": machine(), "rows": known}
    PYTHON_TIMES.write_text(json.dumps(record, indent=1) + "\n")
    return known


def _python_ms(row):
    """From a process where nothing is accelerated, helpers included."""
    done = subprocess.run(
        [sys.executable, __file__, "--python-only", row.name], cwd=HERE.parent,
        env=dict(os.environ, VIZGEN_DISABLE="1"), capture_output=True,
        text=True, check=True)
    return float(done.stdout)


def python_only(row):
    """The other side of _python_ms(): what takes long is run once."""
    call, args = row.fn.py_func, row.args()
    start = time.perf_counter()
    call(*args)
    once = time.perf_counter() - start
    if once > 1.0:
        return 1e3 * once
    times = timing.interleaved({"python": lambda: call(*args)}, 1)
    return 1e3 * times["python"][0]


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return f"{line.split(':', 1)[1].strip()} x{os.cpu_count()}"
    return platform.machine()


# --- contenders ------------------------------------------------------------

def peers(row, compiler):
    """{name: (exact, callable)} of every peer that can run here."""
    found = {}
    for name, dtype, exact, call in c.variants(row.name, compiler):
        args = [a.astype(dtype) if isinstance(a, np.ndarray) else a
                for a in row.args()]
        found[name] = exact, _bind(call, args)
    if compiler == "gcc":
        for name, _, exact, call in _numba_variants(row.name):
            found[name] = exact, _bind(call, row.args())
    return found


def _numba_variants(name):
    try:
        from bench.peers import numba_rows
    except ImportError:
        return []
    return numba_rows.variants(name)


def _bind(call, args):
    return lambda: call(*args)


def _aligned(size):
    """'size' bytes that begin at a multiple of 64."""
    memory = np.ones(size + 64, np.uint8)
    skip = -memory.ctypes.data % 64
    return memory[skip:skip + size]


def copies(row, compiler):
    """{name: callable} that move as many bytes as the row must."""
    source, target = _aligned(row.moved // 2), _aligned(row.moved // 2)
    return {f"copy {name}": _bind(call, (source, target))
            for name, call in c.copies(compiler).items()}


def check_exact(row, exact_calls):
    """Every exact contender gives our bits, or values as near as the row
    says; SystemExit where one doesn't."""
    want = row.result()
    for name, call in exact_calls.items():
        got = call()
        same = got.dtype == want.dtype and got.shape == want.shape and (
            got.tobytes() == want.tobytes()
            or row.apart and np.abs(got - want).max() <= row.apart)
        if not same:
            sys.exit(f"{row.name}: {name} differs from vizgen")


# --- one row ---------------------------------------------------------------

def measure(row, pairs):
    """The row's record: times, ratios, verdict."""
    found = peers(row, "gcc")
    check_exact(row, {n: call for n, (exact, call) in found.items() if exact})
    contenders = {"vizgen": _bind(row.fn, row.args())}
    contenders |= {name: call for name, (_, call) in found.items()}
    contenders |= copies(row, "gcc")
    times = timing.interleaved(contenders, pairs)
    stats = row.fn.stats
    record = {
        "row": row.name, "native": not (stats.python_calls
                                        or stats.mixed_calls),
        "ms": {name: 1e3 * statistics.median(t) for name, t in times.items()},
        "exact": sorted(n for n, (exact, _) in found.items() if exact),
    }
    _compare(record, row, times)
    return record


def _compare(record, row, times):
    mine = times["vizgen"]
    record["ratios"] = {name: timing.ratio(mine, other)
                        for name, other in times.items() if name != "vizgen"}
    rivals = record["exact"]
    if row.against != "strongest":
        rivals = [name for name in rivals if name == row.against]
    rival = min(rivals, key=lambda name: record["ms"][name], default=None)
    record["rival"] = rival
    record["limit"] = row.limit
    record["kept"] = record["native"] and (
        rival is None or record["ratios"][rival][1] <= row.limit)


def measure_clang(names, pairs):
    """{row: {peer: ms per copied millisecond}} from a process that uses
    clang's OpenMP only; empty without clang."""
    done = subprocess.run(
        [sys.executable, __file__, "--clang-only", "--pairs",
         str(pairs), *names], cwd=HERE.parent, capture_output=True, text=True)
    if done.returncode:
        print("clang's peers can't run here", file=sys.stderr)
        return {}
    return json.loads(done.stdout)


def clang_only(chosen, pairs):
    """The other side of measure_clang()."""
    result = {}
    for row in chosen:
        found = {name: peer for name, peer in peers(row, "clang").items()
                 if peer[0]}
        contenders = {name: call for name, (_, call) in found.items()}
        limit = copies(row, "clang")
        times = timing.interleaved(contenders | limit, pairs)
        base = times["copy memcpy"]
        result[row.name] = {
            name: {"ms": 1e3 * statistics.median(times[name]),
                   "copies": timing.ratio(times[name], base)}
            for name in found}
    return result


def add_clang(record, clang, row):
    """Let clang's exact peers count: ours in copies over theirs."""
    mine = record["ratios"].get("copy memcpy")
    for name, peer in clang.get(row.name, {}).items():
        record["ms"][name] = peer["ms"]
        if not mine or row.against != "strongest":
            continue
        theirs = peer["copies"]
        low = mine[1] / theirs[2]
        high = mine[2] / theirs[1] if theirs[1] > 0 else math.inf
        record["ratios"][name] = mine[0] / theirs[0], low, high
        record["exact"].append(name)
        worst = record["ratios"][record["rival"]][0] if record["rival"] else 0
        if mine[0] / theirs[0] > worst:
            record["rival"] = name
            record["kept"] = record["native"] and low <= row.limit


# --- the table -------------------------------------------------------------

def table(records, python):
    head = (f"{'row':15} {'python':>9} {'vizgen':>8} {'factor':>8} "
            f"{'rival':>8}  {'ratio, 95 % interval':22} {'copies':>6}  name")
    lines = [head, "-" * len(head)]
    for record in records:
        ms = record["ms"]
        line = (f"{record['row']:15} {python[record['row']]:9.1f} "
                f"{ms['vizgen']:8.3f} "
                f"{python[record['row']] / ms['vizgen']:7.0f}x ")
        rival = record["rival"]
        if rival:
            middle, low, high = record["ratios"][rival]
            copy = min(v for k, v in ms.items() if k.startswith("copy "))
            line += (f"{ms[rival]:8.3f}  {middle:5.2f} "
                     f"({low:.2f} .. {high:.2f})     "
                     f"{ms['vizgen'] / copy:6.2f}  {rival}")
        if not record["native"]:
            line += "  NOT NATIVE"
        elif not record["kept"]:
            line += f"  ABOVE {record['limit']}"
        lines.append(line)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--no-clang", action="store_true")
    parser.add_argument("--approx", metavar="WORDS",
                        help="measure with accelerate(approx=WORDS) against C "
                        "in float32")
    parser.add_argument("--clang-only", action="store_true",
                        help=argparse.SUPPRESS)
    parser.add_argument("--python-only", action="store_true",
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Cannot cache compiled")
    chosen = [row for row in rows.all_rows()
              if not options.rows or row.name in options.rows]
    if options.python_only:
        print(python_only(chosen[0]))
        return 0
    if options.clang_only:
        print(json.dumps(clang_only(chosen, options.pairs)))
        return 0
    if options.approx:
        print(approx.table([approx.measure(row, options.pairs, options.approx)
                            for row in chosen]))
        return 0
    names = [row.name for row in chosen]
    python = python_times(names, options.python)
    records = [measure(row, options.pairs) for row in chosen]
    if not options.no_clang:
        clang = measure_clang(names, options.pairs)
        for row, record in zip(chosen, records):
            add_clang(record, clang, row)
    print(table(records, python))
    if options.json:
        report = {"machine": machine(), "pairs": options.pairs,
                  "python_ms": python, "rows": records}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1))
    return 0 if all(record["kept"] for record in records) else 1


if __name__ == "__main__":
    sys.exit(main())
