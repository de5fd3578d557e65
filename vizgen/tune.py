"""`vizgen tune`: try program variants, keep the fastest that is right.

    parent (here)            decides, logs, installs; runs no user code
    worker (worker.py)       ran the workload in Python, keeps its calls
    a child per variant      compiles, compares with Python, times

The log gets one line per variant, on disk before the next one starts; a
later --resume reads it back.  The first Ctrl-C ends the search after the
current variant and keeps the best; the second one leaves at once.
"""
import hashlib
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np

import vizgen
from vizgen import _core, term, tuned

SCHEMA = 1
LEAST_GAIN = 1.02     # below that a choice isn't worth keeping
VARIANT_LIMIT = 60.0  # seconds for one variant, compilation included

EXIT_OK, EXIT_FAILED, EXIT_USAGE = 0, 1, 2
EXIT_MISMATCH, EXIT_TOOLS, EXIT_INTERRUPTED = 4, 5, 130


class Stopped(Exception):
    """The second Ctrl-C, or the first before anything was measured."""


class Interrupts:
    """Counts Ctrl-C while tuning runs."""

    def __init__(self):
        self.count = 0
        self.urgent = True    # whether the first one leaves at once, too

    def __enter__(self):
        self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self.before)

    def _note(self, *_):
        self.count += 1
        if self.urgent or self.count > 1:
            raise Stopped


class Worker:
    """The process that holds the captured calls."""

    def __init__(self, path, argv, verbose=False):
        mine, theirs = socket.socketpair()
        env = dict(os.environ)
        env.pop("VIZGEN_CHECK", None)
        env["VIZGEN_TRIALS"] = "0"  # variants are timed, not Python
        env["PYTHONPATH"] = os.pathsep.join(
            [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
            + [p for p in [env.get("PYTHONPATH")] if p])
        fd = theirs.fileno()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vizgen.worker", str(fd), path, *argv],
            pass_fds=[fd], env=env, stdin=subprocess.DEVNULL,
            stdout=None if verbose else subprocess.DEVNULL,
            stderr=None if verbose else subprocess.DEVNULL,
            start_new_session=True)
        theirs.close()
        self.stream = mine.makefile("rw", encoding="utf-8")
        mine.close()

    def receive(self):
        """The worker's next message; None when it died."""
        line = self.stream.readline()
        return json.loads(line) if line else None

    def ask(self, request):
        self.stream.write(json.dumps(request) + "\n")
        self.stream.flush()
        return self.receive()

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Log:
    """The JSON lines of one program's tunings."""

    def __init__(self, path, resume):
        key = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()
        self.name = f"{key[:32]}.jsonl"
        self.folder = tuned.open_folder(create=True)
        self.earlier = self._read() if resume else []
        if not resume:
            self._set_aside()

    def _set_aside(self):
        try:
            os.rename(self.name, self.name + ".old", src_dir_fd=self.folder,
                      dst_dir_fd=self.folder)
        except FileNotFoundError:
            pass

    def _read(self):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = os.open(self.name, flags, dir_fd=self.folder)
        except FileNotFoundError:
            return []
        records = []
        with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue        # torn by whatever ended that tuning
                if isinstance(record, dict):
                    records.append(record)
        return records

    def write(self, event, **fields):
        record = {"schema": SCHEMA, "event": event, "time": time.time(),
                  **fields}
        _core.tune_log(self.folder, self.name, json.dumps(record))
        return record

    def trials(self, key):
        """[(index, gain)] of the variants measured under 'key' before."""
        return [(r["index"], r["gain"]) for r in self.earlier
                if r.get("event") == "variant" and r.get("key") == key]


def compilers():
    """Names of the compilers to try; the first is the default one's."""
    present = [c for c in ("gcc", "clang") if shutil.which(c)]
    default = os.environ.get("VIZGEN_CC") or os.environ.get("CC") or "cc"
    name = os.path.basename(os.path.realpath(shutil.which(default) or ""))
    for compiler in present:
        if name.startswith(compiler) or f"-{compiler}" in name:
            present.remove(compiler)
            present.insert(0, compiler)
            break
    return tuple(present)


def environment():
    """What a measurement depends on besides the program."""
    text = "\n".join([vizgen.__version__, platform.python_version(),
                      np.__version__, tuned.machine(),
                      str(os.cpu_count()), *compilers()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Search:
    """The search for one function's best variant."""

    def __init__(self, function, number, worker, log, options):
        self.function = function
        self.number = number
        self.worker = worker
        self.log = log
        self.options = options
        self.compilers = compilers()
        self.key = f"{function['name']} {function['source']} {environment()}"
        self.trials = log.trials(self.key)
        self.best = None          # (gain, low, high, index)
        self.counts = {}
        self.default_ms = None
        self.mismatch = None

    def variant(self, index):
        return _core.tune_variant(self.compilers, index)

    def words(self, index):
        opts, compiler = self.variant(index)
        return " ".join(w for w in (opts or "default", compiler) if w)

    def next_index(self):
        tried = [(0, 1.0)] + self.trials
        return _core.tune_next(self.compilers, tried)

    def measure(self, index, event="variant"):
        """Measure one variant, log it, and return its record."""
        answer = self.worker.ask({
            "function": self.number, "base": self.variant(0),
            "variant": self.variant(index),
            "seconds": min(2.0, self.options.budget / 10),
            "limit": VARIANT_LIMIT})
        if answer is None:
            answer = {"status": "worker", "why": "the worker process died"}
        record = {"key": self.key, "function": self.function["name"],
                  "index": index, "variant": self.words(index), "gain": 0.0,
                  "status": answer["status"], "why": answer.get("why", "")}
        if answer["status"] == "ok":
            self._rate(record, answer["base"], answer["times"])
        return self.log.write(event, **record)

    def _rate(self, record, base, times):
        gain, low, high = _core.tune_ratio(base, times)
        record.update(gain=gain, low=low, high=high, pairs=len(base),
                      base_ms=1e3 * float(np.median(base)),
                      ms=1e3 * float(np.median(times)))
        self.default_ms = record["base_ms"]

    def note(self, record):
        """Take one measured variant into account."""
        status = record["status"]
        self.trials.append((record["index"], record["gain"]))
        self.counts[status] = self.counts.get(status, 0) + 1
        if status == "mismatch":
            self.mismatch = self.mismatch or record
        if status == "ok" and record["low"] > 1.0:
            if self.best is None or record["gain"] > self.best["gain"]:
                self.best = record

    def restore(self):
        """Take over what an earlier, interrupted tuning found."""
        for record in self.log.earlier:
            if record.get("event") == "variant" \
                    and record.get("key") == self.key:
                status = record["status"]
                self.counts[status] = self.counts.get(status, 0) + 1
                if status == "ok":
                    self.default_ms = record["base_ms"]
                    if record["low"] > 1.0 and (
                            self.best is None
                            or record["gain"] > self.best["gain"]):
                        self.best = record

    def confirmed(self):
        """The best variant, measured once more: the best of many is partly
        luck, so its figure from the search is too good.  None when it isn't
        reliably faster than the default."""
        if self.best is None:
            return None
        record = self.measure(self.best["index"], "confirm")
        good = record["status"] == "ok" and record["low"] > 1.0
        return record if good and record["gain"] >= LEAST_GAIN else None

    def install(self, winner, complete):
        """Keep 'winner' for later runs, or the default where it is None."""
        name, source = self.function["name"], self.function["source"]
        if winner is None:
            tuned.forget(name)
            return
        opts, compiler = self.variant(winner["index"])
        figures = {k: winner[k] for k in ("gain", "low", "high", "ms")}
        figures["complete"] = complete
        if compiler == self.compilers[0]:
            compiler = ""
        tuned.install(name, source, opts, compiler, figures)


# --- the command -----------------------------------------------------------

def tune(path, argv, options, say):
    """Tune the program in 'path'; returns the exit status.  'say' prints one
    line of results."""
    if not os.path.isfile(path):
        print(f"vizgen: can't open file {path!r}", file=sys.stderr)
        return EXIT_USAGE
    if not compilers():
        print("vizgen: no C compiler was found (VZ-5001); "
              "apt install gcc", file=sys.stderr)
        return EXIT_TOOLS
    log = Log(path, options.resume)
    worker = Worker(path, argv, options.verbose)
    progress = term.Progress(options.quiet)
    with Interrupts() as interrupts:
        try:
            return _tune_all(worker, log, options, say, progress, interrupts)
        except Stopped:
            progress.clear()
            print("vizgen: interrupted", file=sys.stderr)
            return EXIT_INTERRUPTED
        finally:
            worker.stop()


def _tune_all(worker, log, options, say, progress, interrupts):
    progress.show("running the workload in plain Python ...")
    hello = worker.receive()
    progress.clear()
    if hello is None or hello["failure"]:
        why = hello["failure"] if hello else "it died"
        print(f"vizgen: the workload failed: {why}", file=sys.stderr)
        return EXIT_FAILED
    chosen = [(k, f) for k, f in enumerate(hello["functions"])
              if f["calls"] and options.function in (None, _short(f))]
    if not chosen:
        print("vizgen: the workload calls no accelerated function",
              file=sys.stderr)
        return EXIT_FAILED
    status = EXIT_OK
    deadline = time.monotonic() + options.budget
    interrupts.urgent = False
    for done, (number, function) in enumerate(chosen):
        search = Search(function, number, worker, log, options)
        share = (deadline - time.monotonic()) / (len(chosen) - done)
        complete = _search(search, share, progress, interrupts)
        winner = search.confirmed()
        search.install(winner, complete)
        _conclude(search, winner, complete, log, say)
        if search.mismatch:
            status = EXIT_MISMATCH
        if interrupts.count:
            return EXIT_INTERRUPTED
    return status


def _short(function):
    return function["name"].rsplit(".", 1)[-1]


def _search(search, seconds, progress, interrupts):
    """Try variants until all are known, time is up or Ctrl-C came.  Returns
    whether all are known."""
    search.restore()
    start = time.monotonic()
    while True:
        index = search.next_index()
        if index is None:
            return True
        if interrupts.count or time.monotonic() - start > seconds:
            return False
        progress.show(_progress_line(search, time.monotonic() - start,
                                     seconds, index))
        record = search.measure(index)
        search.note(record)
        progress.clear()
        if record["status"] == "refused":
            return True


def _progress_line(search, elapsed, seconds, index):
    size = _core.tune_size(search.compilers)
    line = (f"{_short(search.function)}  {elapsed:.0f}/{seconds:.0f} s  "
            f"{len(search.trials)} of {size - 1} variants")
    if search.best:
        line += f"  best {search.best['gain']:.2f}x"
    return f"{line}  trying {search.words(index)}"


def _conclude(search, winner, complete, log, say):
    """Say and log what was found for one function."""
    default = search.default_ms
    failed = sum(n for status, n in search.counts.items() if status != "ok")
    fields = {
        "function": search.function["name"], "complete": complete,
        "variants": sum(search.counts.values()), "failed": failed,
        "python_ms": search.function["python_ms"], "default_ms": default,
        "best": winner["variant"] if winner else "default",
        "best_ms": winner["ms"] if winner else default,
        "gain": winner["gain"] if winner else 1.0,
        "low": winner["low"] if winner else None,
        "high": winner["high"] if winner else None,
    }
    record = log.write("complete" if complete else "stopped", **fields)
    say(record, _summary(search, fields))


def _summary(search, fields):
    """The result as two or three lines of text."""
    head = (f"{_short(search.function)}: {fields['variants']} variants, "
            f"{fields['failed']} failed"
            + ("" if fields["complete"] else
               ", stopped early (--resume goes on)"))
    lines = [head]
    if fields["default_ms"]:
        factor = fields["python_ms"] / fields["best_ms"]
        ms = fields["best_ms"]
        lines.append(f"  best: {fields['best']}, {ms:.3g} ms, "
                     f"{factor:.0f}x Python")
    if fields["low"]:
        lines.append(f"  {fields['gain']:.2f}x the default "
                     f"(95 %: {fields['low']:.2f} .. {fields['high']:.2f})")
    elif fields["default_ms"]:
        lines.append("  no variant is reliably faster than the default")
    if "refused" in search.counts:
        lines.append("  it runs in Python; vizgen explain says why")
    if search.mismatch:
        lines.append(f"  mismatch: {search.mismatch['variant']}: "
                     f"{search.mismatch['why']}")
    return "\n".join(lines)
