"""Many random programs, by several processes at once.

A batch of programs runs in one child process (tests.fuzz.harness) under one
of SETTINGS, so that a crash or a hang is a failure like any other, and the
next child goes on behind the program that ended this one.  The compiler's
optimisation is most of what a program costs, so of four batches three are
compiled by -O1.

What fails is kept in a folder, made smaller where time allows, and told in
one line each; `Summary` counts the rest.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from tests.fuzz import variants

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BATCH = 15
# Batches take turns: threads even for little work, fewer transformations,
# warnings that are exceptions.
SETTINGS = (
    {"VIZGEN_THREADS": "2", "VIZGEN_PARALLEL_NS": "0"},
    {"VIZGEN_THREADS": "1"},
    {"VIZGEN_THREADS": "5", "VIZGEN_PARALLEL_NS": "0"},
    {"VIZGEN_OPTS": "vectorize=0 regions=0"},
    {"VIZGEN_THREADS": "2", "VIZGEN_OPTS": "pipes=0 unroll=0"},
    {"VIZGEN_THREADS": "1", "VIZGEN_FUZZ_MODE": "error"},
    {"VIZGEN_THREADS": "2", "VIZGEN_PARALLEL_NS": "0",
     "VIZGEN_FUZZ_MODE": "raise"},
)
LIMIT = 60.0             # seconds for one program
FAILED = ("wrong", "crash")


# --- one batch ---


def run_batch(job):
    """Records of the programs in job = (environment, paths), in as many
    processes as it takes."""
    settings, paths = job
    words = " ".join(f"{k}={v!r}" for k, v in settings.items())
    records = []
    while paths:
        done = _run_process(settings, paths)
        records += [{**record, "settings": words, "env": settings}
                    for record in done]
        paths = paths[len(done):]
    return records


def _run_process(settings, paths):
    """Records up to the program that ended the process, if one did."""
    command = [sys.executable, "-X", "faulthandler", "-m",
               "tests.fuzz.harness", *map(str, paths)]
    environment = {**os.environ, "VIZGEN_TRIALS": "0",
                   "VIZGEN_FUZZ_LIMIT": str(LIMIT), **settings}
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True,
                              env=environment, text=True,
                              timeout=LIMIT * (len(paths) + 1))
        out, err, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        out, err, code = (late.stdout or b"").decode(), "", "a timeout"
    lines = [json.loads(line) for line in out.splitlines()
             if line.startswith("{")]
    records = [line for line in lines if "file" in line]
    if len(records) < len(paths):
        why = f"the process ended with {code}: {err[-2000:]}"
        records.append({"file": str(paths[len(records)]),
                        "status": "crash", "why": why})
    return records


def batches_of(paths, settings=SETTINGS, size=BATCH):
    return [(settings[k // size % len(settings)], paths[k:k + size])
            for k in range(0, len(paths), size)]


# --- a long run ---


class Summary:
    """Counts of the records so far."""

    def __init__(self):
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.fired = collections.Counter()
        self.raised = self.replays = self.unwarned = 0

    def add(self, record):
        self.counts[record["status"]] += 1
        self.raised += record.get("raised", False)
        self.replays += bool(record.get("replays"))
        self.unwarned += "unwarned" in record
        self.fired.update(record.get("fired", ()))
        if record["status"] == "python":
            found = re.search(r"VZ-\d{4}[^\n]*", record["why"])
            self.reasons[found[0][:90] if found else record["why"][:90]] += 1

    @property
    def programs(self):
        return sum(self.counts.values())

    def shares(self):
        """How often each transform fired, as text."""
        return [f"{100.0 * self.fired[name] / max(self.programs, 1):5.1f} % "
                f"{name}" for name in variants.TRANSFORMS]

    def __str__(self):
        failed = sum(self.counts[status] for status in FAILED)
        native = 100.0 * self.counts["ok"] / max(self.programs, 1)
        endless = self.counts["endless"]
        words = f"{endless} endless, " if endless else ""
        return (f"{self.programs} programs, {native:.1f} % native, {words}"
                f"{self.raised} raise, {self.replays} repeated, "
                f"{self.unwarned} with a warning less, {failed} differences")


class Soak:
    """Programs 'first' to 'first' + 'count' - 1 of a kind, by 'jobs'
    processes, until 'seconds' have passed."""

    def __init__(self, kind, first, count, jobs, folder, seconds):
        self.kind = kind
        self.seeds = range(first, first + count)
        self.jobs = jobs
        self.folder = folder
        self.end = time.monotonic() + seconds
        self.summary = Summary()
        self.failures = []
        self.lock = threading.Lock()

    def run(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        starts = range(self.seeds.start, self.seeds.stop, BATCH)
        with tempfile.TemporaryDirectory(prefix="vizgen-soak-") as scratch:
            self.quick = write_quick_compiler(pathlib.Path(scratch))
            self.scratch = pathlib.Path(scratch)
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(self.one, enumerate(starts)))
        return self.summary, self.failures

    def one(self, numbered):
        """One batch, in a folder and with a cache of its own, both removed
        afterwards."""
        number, start = numbered
        if time.monotonic() > self.end:
            return
        place = self.scratch / f"batch_{number}"
        place.mkdir()
        paths = [f"{self.kind}:{seed}:{place}" for seed in
                 range(start, min(start + BATCH, self.seeds.stop))]
        settings = dict(SETTINGS[number % len(SETTINGS)])
        settings["VIZGEN_CACHE_DIR"] = str(place / "cache")
        if self.quick and number % 4:
            settings["VIZGEN_CC"] = self.quick
        records = run_batch((settings, paths))
        with self.lock:
            for record in records:
                self.take(record)
            if number % 20 == 19:
                print(f"... {self.summary}", flush=True)
        shutil.rmtree(place, ignore_errors=True)

    def take(self, record):
        self.summary.add(record)
        if record["status"] not in FAILED:
            return
        kept = self.keep(record["file"])
        kept.with_suffix(".txt").write_text(
            f"{record['settings']}\n{record['why']}\n")
        environment = {key: value for key, value in record["env"].items()
                       if key != "VIZGEN_CACHE_DIR"}
        if record.get("choice"):
            environment.update(VIZGEN_OPTS=record["choice"],
                               VIZGEN_FUZZ_SETS="0")
        self.failures.append((kept, environment))
        print(f"{record['status']}: {kept} {record['settings']}\n"
              f"    {record['why'][:600]}", flush=True)


    def keep(self, named):
        """A copy of a failing program; of one that ended the process while
        it was being made, of what is there."""
        path = pathlib.Path(named)
        if not named.endswith(".py"):
            kind, seed, folder = named.split(":", 2)
            path = pathlib.Path(folder) / f"program_{seed}.py"
        if not path.exists():
            path = path.with_name(path.stem + "_asked.py")
        kept = self.folder / path.name
        if path.exists():
            shutil.copy(path, kept)
        return kept


def write_quick_compiler(folder):
    """The path of a program that is gcc with -O1; None without gcc."""
    gcc = shutil.which("gcc")
    if not gcc:
        return None
    path = folder / "quick-gcc"
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(gcc)} "$@" -O1\n')
    path.chmod(0o700)
    return str(path)
