"""What each transform is worth: every row with one of them switched off.

    python bench/transforms.py [ROW ...] [--pairs 15] [--markdown]

A number is the row's time without the transform over its time with all of
them, the median of interleaved pairs; above 1 the transform helps.  "." stands
for the same code (the transform does not fire) and "x" for a row that is left
in Python without it.  The last column is the time with all of them.
"""
import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("VIZGEN_CACHE_DIR", str(HERE.parent / "build" / "bench"))
os.environ["VIZGEN_TRIALS"] = "0"

from vizgen import _core, accelerate
from bench import rows, timing


def version(row, option):
    """The row's function, compiled with 'option' alone changed."""
    function = accelerate(row.fn.py_func)
    function._set_variant(option)
    return function


def code_of(function):
    """All that was compiled for it and its parts, as text; None where a call
    would stay in Python."""
    items = function._describe()
    if all(item["native"] for item in items):
        return [item["c"] for item in items]
    parts = [part.accelerated for part in function._parts(True) or ()]
    found = [code_of(part) for part in parts if part._describe()]
    return found if found and None not in found else None


def measure(row, pairs):
    """({transform: ratio, None (the same code) or NaN (in Python)}, seconds)"""
    versions = {name: version(row, f"{name}=0") for name in _core.transforms()}
    versions[""] = version(row, "")
    args = {name: row.args() for name in versions}
    for name, function in versions.items():
        function(*args[name])
        function(*args[name])
    code = {name: code_of(function) for name, function in versions.items()}
    calls = {name: lambda f=function, a=args[name]: f(*a)
             for name, function in versions.items()
             if not name or code[name] not in (None, code[""])}
    times = timing.interleaved(calls, pairs)
    ratios = {name: float("nan") if code[name] is None else None
              for name in versions if name}
    for name in times:
        if name:
            ratios[name] = timing.ratio(times[name], times[""])[0]
    return ratios, min(times[""])


def cell(ratio):
    if ratio is None:
        return "."
    return "x" if ratio != ratio else f"{ratio:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    between, edge = (" | ", "|") if options.markdown else ("  ", "")
    names = _core.transforms()

    def line(first, cells):
        print(edge, between.join([f"{first:16}", *(f"{c:>9}" for c in cells)]),
              edge, flush=True)

    line("row", [*names, "ms"])
    if options.markdown:
        line("---", ["---:"] * (len(names) + 1))
    for row in rows.all_rows():
        if not options.rows or row.name in options.rows:
            ratios, seconds = measure(row, options.pairs)
            line(row.name, [*(cell(ratios[name]) for name in names),
                            f"{1e3 * seconds:.2f}"])


if __name__ == "__main__":
    main()
