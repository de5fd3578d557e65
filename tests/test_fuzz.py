"""Random programs against CPython; python -m tests.fuzz runs many more.

VIZGEN_FUZZ_SEED and VIZGEN_FUZZ_COUNT choose the programs.  They run in
child processes, so that a crash is a failure like any other.  A failing
program is kept as a file that can be run by itself.
"""
import collections
import concurrent.futures
import os
import pathlib

import pytest

from tests.fuzz import broad, generate, harness, kinds, soak, variants

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = int(os.environ.get("VIZGEN_FUZZ_SEED", "1"))
COUNT = int(os.environ.get("VIZGEN_FUZZ_COUNT", "300"))
JOBS = min(4, len(os.sched_getaffinity(0)))
LEAST_NATIVE = 0.90
LEAST_FIRED = 0.10
# Arithmetic whose value nobody uses may lose its warning.
MOST_UNWARNED = 0.02


def write_programs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for seed in range(SEED, SEED + COUNT):
        path = folder / f"program_{seed}.py"
        path.write_text(generate.program(seed))
        paths.append(path)
    return paths


@pytest.mark.usefixtures("usual_compiler")
def test_random_programs(tmp_path):
    print(f"\nVIZGEN_FUZZ_SEED={SEED} VIZGEN_FUZZ_COUNT={COUNT}")
    paths = write_programs(tmp_path / "programs")
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        records = [r for part in pool.map(soak.run_batch,
                                          soak.batches_of(paths))
                   for r in part]
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


def test_programs_of_the_whole_language(tmp_path):
    """They are made by the process that runs them."""
    count = COUNT // 15
    jobs = [f"broad:{seed}:{tmp_path}" for seed in range(SEED, SEED + count)]
    batches = soak.batches_of(jobs, size=5)
    summary = soak.Summary()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        records = [r for part in pool.map(soak.run_batch, batches)
                   for r in part]
    for record in records:
        summary.add(record)
    bad = [r for r in records if r["status"] in soak.FAILED]
    print(summary, *summary.reasons.most_common(12), sep="\n  ")
    assert not bad, "\n".join(f"{r['file']}: {r['settings']} {r['why']}"
                              for r in bad)
    assert summary.counts["ok"] >= 0.75 * count, "too few run native"


def test_any_choice_of_transforms_has_the_same_bits(tmp_path):
    """With 1, 2 and 5 threads; the quick compiler is good enough for this."""
    count = COUNT // 15
    jobs = [f"pixels:{seed}:{tmp_path}" for seed in range(SEED, SEED + count)]
    settings = {"VIZGEN_FUZZ_SETS": "4", "VIZGEN_PARALLEL_NS": "0"}
    quick = soak.write_quick_compiler(tmp_path)
    if quick:
        settings["VIZGEN_CC"] = quick
    batches = soak.batches_of(jobs, settings=(settings,), size=5)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        records = [r for part in pool.map(soak.run_batch, batches)
                   for r in part]
    bad = [r for r in records if r["status"] in soak.FAILED]
    assert not bad, "\n".join(f"{r['file']}: {r['why']}" for r in bad)


def test_every_transform_fires_often(tmp_path, monkeypatch):
    monkeypatch.setenv("VIZGEN_TRIALS", "0")
    summary = soak.Summary()
    for seed in range(1, 201):
        path = kinds.write("pixels", seed, tmp_path)
        module = harness.load(str(path))
        fired, _ = variants.draw(str(path), module.run, module.arguments(), 0)
        summary.add({"status": "ok", "fired": fired})
    print(*summary.shares(), sep="\n")
    rare = [name for name in variants.TRANSFORMS
            if summary.fired[name] < LEAST_FIRED * 200]
    assert not rare, summary.shares()


def test_same_seed_same_program():
    assert generate.program(7) == generate.program(7)
    assert generate.program(7) != generate.program(8)
    assert broad.program(7) == broad.program(7)
