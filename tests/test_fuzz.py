"""Random programs against CPython.

VIZGEN_FUZZ_SEED and VIZGEN_FUZZ_COUNT choose the programs.  They run in
child processes, so that a crash is a failure like any other.  A failing
program is kept as a file that can be run by itself.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from tests.fuzz import generate

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = int(os.environ.get("VIZGEN_FUZZ_SEED", "1"))
COUNT = int(os.environ.get("VIZGEN_FUZZ_COUNT", "300"))
BATCH = 15
# Batches take turns: threads even for little work, fewer transformations.
SETTINGS = (
    {"VIZGEN_THREADS": "2", "VIZGEN_PARALLEL_NS": "0"},
    {"VIZGEN_THREADS": "1"},
    {"VIZGEN_THREADS": "5", "VIZGEN_PARALLEL_NS": "0"},
    {"VIZGEN_OPTS": "vectorize=0 regions=0"},
    {"VIZGEN_THREADS": "2", "VIZGEN_OPTS": "pipes=0 unroll=0"},
)
JOBS = min(4, len(os.sched_getaffinity(0)))
LIMIT = 20.0             # seconds for one program
LEAST_NATIVE = 0.90
# Arithmetic whose value nobody uses may lose its warning.
MOST_UNWARNED = 0.02


def run_batch(job):
    """Records of the programs in job = (environment, paths), in as many
    processes as it takes."""
    settings, paths = job
    words = " ".join(f"{k}={v!r}" for k, v in settings.items())
    records = []
    while paths:
        done = _run_process(settings, paths)
        records += [{**record, "settings": words} for record in done]
        paths = paths[len(done):]
    return records


def _run_process(settings, paths):
    """Records up to the program that ended the process, if one did."""
    command = [sys.executable, "-X", "faulthandler", "-m",
               "tests.fuzz.harness", *map(str, paths)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True,
                              env={**os.environ, **settings}, text=True,
                              timeout=LIMIT * len(paths))
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


def write_programs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for seed in range(SEED, SEED + COUNT):
        path = folder / f"program_{seed}.py"
        path.write_text(generate.program(seed))
        paths.append(path)
    return paths


def test_random_programs(tmp_path):
    print(f"\nVIZGEN_FUZZ_SEED={SEED} VIZGEN_FUZZ_COUNT={COUNT}")
    paths = write_programs(tmp_path / "programs")
    batches = [(SETTINGS[k // BATCH % len(SETTINGS)], paths[k:k + BATCH])
               for k in range(0, len(paths), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        records = [r for part in pool.map(run_batch, batches) for r in part]
    bad = [r for r in records if r["status"] in ("wrong", "crash")]
    for record in bad:
        print(f"{record['status']}: {record['settings']} PYTHONPATH={ROOT} "
              f"python {record['file']}\n    {record['why']}")
    counts = collections.Counter(r["status"] for r in records)
    reasons = collections.Counter(r["why"].split("\n")[0].split("  ")[-1]
                                  for r in records if r["status"] == "python")
    print(dict(counts), *reasons.most_common(12), sep="\n  ")
    unwarned = [r for r in records if "unwarned" in r]
    for record in unwarned:
        print("no warning:", record["settings"], record["file"],
              record["unwarned"])
    assert not bad, f"{len(bad)} of {COUNT} programs differ; see above"
    assert len(unwarned) <= max(2, MOST_UNWARNED * COUNT)
    assert counts["ok"] >= LEAST_NATIVE * COUNT, "too few run native"


def test_same_seed_same_program():
    assert generate.program(7) == generate.program(7)
    assert generate.program(7) != generate.program(8)
