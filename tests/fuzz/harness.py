"""Runs programs and compares vizgen with CPython.

    python -m tests.fuzz.harness FILE... KIND:SEED:FOLDER...

A program is a file, or is made here (tests/fuzz/kinds.py).  It has the entry
`run` and `arguments()`; where it has VARIANTS = n, `arguments(0)` to
`arguments(n - 1)`, which differ in sizes and values.  One JSON line is
printed when a program is done, so that whoever started this process knows
which one ended it.

VIZGEN_FUZZ_SETS=n runs each program by n random choices of transforms as
well (tests/fuzz/variants.py).
VIZGEN_FUZZ_MODE says what a warning is: "warn" (one like any other), "error"
(python -W error) or "raise" (np.errstate(all="raise")).
"""
import contextlib
import faulthandler
import importlib.util
import json
import os
import pathlib
import resource
import signal
import sys
import traceback
import warnings

import numpy as np

import vizgen
from tests.fuzz import kinds, variants
from vizgen.compare import difference

MODE = os.environ.get("VIZGEN_FUZZ_MODE", "warn")
MEMORY = 4 << 30     # bytes: a drawn shape can be that of a huge array
SETS = int(os.environ.get("VIZGEN_FUZZ_SETS", "0"))
LIMIT = float(os.environ.get("VIZGEN_FUZZ_LIMIT", "60"))   # seconds a program


@contextlib.contextmanager
def climate():
    """The mode's filters and errstate."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error" if MODE == "error" else "always")
        warnings.simplefilter("always", vizgen.FallbackWarning)
        if MODE == "raise":
            with np.errstate(all="raise"):
                yield caught
        else:
            yield caught


class Outcome:
    """All that can be observed of one call."""

    def __init__(self, fn, path, args):
        self.args = args
        self.result = None
        self.error = None
        self.fell_back = ""
        with climate() as caught:
            try:
                self.result = fn(*args)
            except Exception as error:
                self.error = self._describe(error, path)
        self.warnings = set()
        for item in caught:
            if issubclass(item.category, vizgen.FallbackWarning):
                self.fell_back = str(item.message)
            else:
                # "overflow encountered in scalar add": its kind counts.
                kind = str(item.message).split(" encountered")[0]
                self.warnings.add((item.category.__name__, kind))

    @staticmethod
    def _describe(error, path):
        """Type, text and the lines of the program that it came through."""
        lines = [(frame.name, frame.lineno)
                 for frame in traceback.extract_tb(error.__traceback__)
                 if frame.filename == path]
        if isinstance(error, UnboundLocalError) and lines:
            # Python 3.11 gives the line before, once a function that has run
            # a few times stores and loads two locals in one instruction.
            lines[-1] = (lines[-1][0], None)
        return type(error).__name__, str(error), lines

    def owners(self):
        """The arrays that own the arguments' memory."""
        found = []
        for arg in self.args:
            while isinstance(arg, np.ndarray):
                found.append(arg)
                arg = arg.base
        return found

    def compare(self, want):
        """None, or how this differs from 'want'."""
        if self.error != want.error:
            return f"raised {self.error} instead of {want.error}"
        if not self.warnings <= want.warnings:
            return (f"warned {sorted(self.warnings)} "
                    f"instead of {sorted(want.warnings)}")
        return (difference(self.result, want.result)
                or difference(self.args, want.args, "arguments")
                or difference(self.owners(), want.owners(), "memory")
                or self._compare_identity(want))

    def _compare_identity(self, want):
        """Results share memory with the arguments as Python's do."""
        for mine, theirs in zip(_arrays(self.result), _arrays(want.result)):
            shared = [np.may_share_memory(mine, a)
                      for a in _arrays(self.args)]
            wanted = [np.may_share_memory(theirs, a)
                      for a in _arrays(want.args)]
            if shared != wanted:
                return "result: shares memory with other arguments"
        return None


def _arrays(value):
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [a for item in value for a in _arrays(item)]
    return []


def load(path):
    """The program's module.  It goes by its file's name, so that tracebacks
    and sources are found."""
    name = pathlib.Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Endless(BaseException):
    """Not to be caught by the program."""


@contextlib.contextmanager
def seconds(limit):
    """Endless is raised if the block takes longer."""
    def stop(*_):
        raise Endless
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(path, options):
    """The record of one program: status 'ok', 'python' or 'wrong'; 'endless'
    if plain Python doesn't come to an end, where there is nothing to compare.
    """
    module = load(path)
    record = {"file": path, "status": "ok", "why": "", "native": 0,
              "replays": 0, "raised": False}
    chosen = [(k,) for k in range(getattr(module, "VARIANTS", 0))] or [()]
    try:
        with seconds(LIMIT / 2):
            wants = [Outcome(module.run, path, module.arguments(*which))
                     for which in chosen]
    except Endless:
        return {**record, "status": "endless"}
    record["raised"] = wants[0].error is not None
    pairs = list(zip(chosen, wants))
    runs = [(vizgen.accelerate(module.run, **setting), setting, (0, 0))
            for setting in options]
    if SETS:
        args = module.arguments(*chosen[-1])
        record["fired"], texts = variants.draw(path, module.run, args, SETS)
        runs += [(variants.chosen(module.run, text), text, variants.THREADS)
                 for text in texts]
    for fn, setting, threads in runs:
        print(f"{setting!r}", file=sys.stderr)   # said of a crash
        words = _differs(record, fn, threads, pairs, module, path)
        if words:
            choice = setting if isinstance(setting, str) else None
            return {**record, "status": "wrong", "choice": choice,
                    "why": f"{setting!r} {words}"}
        record["native"] += fn.stats.native_calls
        record["replays"] += fn.stats.replays
    return record


def _differs(record, fn, threads, wanted, module, path):
    """None, or in which call a function differs: all are made once for each
    number of threads."""
    for attempt, count in enumerate(threads):
        with variants.threads(count):
            for which, want in wanted:
                got = Outcome(fn, path, module.arguments(*which))
                words = got.compare(want)
                if words:
                    return (f"call {attempt + 1} {which} by {count} threads: "
                            f"{words}")
                _note(record, got, want)
    return None


def _note(record, got, want):
    if got.warnings < want.warnings:
        record["unwarned"] = sorted(want.warnings - got.warnings)
    if got.fell_back:
        record.update(status="python", why=got.fell_back)


def main(paths):
    if "san" not in os.environ.get("LD_PRELOAD", ""):   # they map far more
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    options = [{}]
    threads = os.environ.get("VIZGEN_FUZZ_THREADS")
    if threads:
        options = [{"threads": int(n)} for n in threads.split(",")]
    for path in paths:
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        if not path.endswith(".py"):
            kind, seed, folder = path.split(":", 2)
            path = str(kinds.write(kind, int(seed), pathlib.Path(folder)))
        record = check(path, options)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
