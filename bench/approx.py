"""Applications with approx=, against C in float32 and their exact selves.

    python bench/run.py --approx fma,reassoc,vecmath,f32 [ROW ...]

The peers take float32 arrays; ours take the float64 arrays of the row, and
float32 ones beside ("single").  Errors are those of the first call against
the exact result.
"""
import statistics

import numpy as np

from bench import timing
from bench.peers import c
from vizgen import accelerate, approx


def singles(args):
    return [a.astype(np.float32) if isinstance(a, np.ndarray)
            and a.dtype == np.float64 else a for a in args]


def _bind(call, args):
    return lambda: call(*args)


def result_of(row, fn):
    args = row.args()
    returned = fn(*args)
    return returned if row.output is None else args[row.output]


def measure(row, pairs, words):
    """The row's record: milliseconds, ratios to the best C float32, error."""
    fn = accelerate(row.fn.py_func, approx=words)
    contenders = {"exact": _bind(row.fn, row.args()),
                  "approx": _bind(fn, row.args()),
                  "single": _bind(fn, singles(row.args()))}
    for name, dtype, _, call in c.variants(row.name, "gcc"):
        if dtype == np.float32:
            contenders[name] = _bind(call, singles(row.args()))
    want, got = row.result(), result_of(row, fn)
    times = timing.interleaved(contenders, pairs)
    ms = {name: 1e3 * statistics.median(t) for name, t in times.items()}
    rival = min((name for name in ms if name not in ("exact", "approx",
                                                     "single")),
                key=ms.get, default=None)
    record = {"row": row.name, "ms": ms, "rival": rival,
              "psnr": approx.psnr(got, want),
              "maxerr": approx.maxerr(got, want)}
    if rival:
        record["ratios"] = {name: timing.ratio(times[name], times[rival])
                            for name in ("approx", "single")}
    return record


def table(records):
    head = (f"{'row':15} {'exact':>8} {'approx':>8} {'single':>8} "
            f"{'C float32':>9}  {'approx / C':>18}  {'single / C':>18}  "
            f"{'PSNR':>6} {'max error':>9}")
    lines = [head, "-" * len(head)]
    for record in records:
        ms = record["ms"]
        line = (f"{record['row']:15} {ms['exact']:8.3f} {ms['approx']:8.3f} "
                f"{ms['single']:8.3f} ")
        if record["rival"]:
            line += f"{ms[record['rival']]:9.3f}  "
            line += "  ".join("{:5.2f} ({:.2f}..{:.2f})".format(*r)
                              for r in record["ratios"].values())
        lines.append(f"{line}  {record['psnr']:6.1f} {record['maxerr']:9.1e}")
    return "\n".join(lines)
