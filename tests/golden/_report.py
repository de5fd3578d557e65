"""Runs one golden program and prints what its blocks are compared with."""
import contextlib
import io
import json
import sys

from tests.fuzz.harness import load


def report(path):
    module = load(path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if hasattr(module, "main"):
            module.main()
        else:
            module.run(*module.arguments())
    fn = module.run
    stats = fn.stats._asdict()
    remarks = sorted({(r["line"], r["code"])
                      for spec in fn._describe()
                      for r in spec["remarks"] + spec["diagnostics"]})
    return {
        "run": out.getvalue().splitlines(),
        "stats": stats,
        "remark": [f"{line}  {code}" for line, code in remarks],
        "count": fn.inspect_c(*module.arguments()),
    }


if __name__ == "__main__":
    print(json.dumps(report(sys.argv[1])))
