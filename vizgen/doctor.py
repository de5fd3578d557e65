"""`vizgen doctor`: is everything there that makes code fast?"""
import importlib.metadata
import os
import platform
import shutil

import numpy as np

import vizgen
from vizgen import _core, tuned


def examine():
    """[{name, ok, text, fix}] of each part."""
    return [_python(), _compiler(), _threads(), _prover(), _cpu(), _cache()]


def text(parts):
    """The parts as lines for people."""
    lines = []
    for part in parts:
        mark = "ok" if part["ok"] else "--"
        lines.append(f"  {part['name']:9} {mark}   {part['text']}")
        if part["fix"]:
            lines.append(f"  {'':9}      {part['fix']}")
    return "\n".join(lines)


def _part(name, ok, words, fix=""):
    return {"name": name, "ok": bool(ok), "text": words, "fix": fix}


def _python():
    return _part("vizgen", True,
                 f"{vizgen.__version__}, Python {platform.python_version()}, "
                 f"NumPy {np.__version__}")


def _compiler():
    found = _core.doctor()["compiler"]
    if not found["ok"]:
        return _part("compiler", False, found["why"] or "none",
                     "apt install gcc | dnf install gcc | set VIZGEN_CC "
                     "(until then everything runs in Python)")
    others = [c for c in ("gcc", "clang") if shutil.which(c)]
    words = f"{found['path']}, {found['id']}"
    if len(others) > 1:
        words += f"; tuning tries {' and '.join(others)}"
    return _part("compiler", True, words)


def _threads():
    cores = len(os.sched_getaffinity(0))
    wanted = os.environ.get("OMP_NUM_THREADS")
    words = f"{_core.threads()} of {cores} processors"
    if wanted:
        words += f" (OMP_NUM_THREADS={wanted})"
    return _part("threads", True, words)


def _prover():
    try:
        version = importlib.metadata.version("z3-solver")
    except importlib.metadata.PackageNotFoundError:
        return _part("prover", True, "built in; no Z3 for solver=auto")
    return _part("prover", True, f"built in; Z3 {version} for solver=auto")


def _cpu():
    info = _core.doctor()["compiler"]
    flags = info.get("features", "")
    wide = ("AVX-512" if "avx512f" in flags else
            "AVX2" if "avx2" in flags else "")
    name = tuned.machine()
    return _part("cpu", True, f"{name}{', ' + wide if wide else ''}")


def _cache():
    info = _core.cache_info()
    if not info["dir"]:
        return _part("cache", False, f"memory only: {info['why']}",
                     "set VIZGEN_CACHE_DIR to a folder of yours, mode 0700")
    return _part("cache", True,
                 f"{info['dir']}, {info['entries']} entries, "
                 f"{info['bytes'] / 1e6:.1f} MB")
