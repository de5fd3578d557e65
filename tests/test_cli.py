"""The command line: exit status, streams, exactness of `run`, tuning."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("usual_compiler")

ROOT = pathlib.Path(__file__).resolve().parent.parent


def vizgen(*args, cwd=None, env=None, **more):
    """Run the command and return what subprocess.run() returns."""
    full = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run([sys.executable, "-m", "vizgen", *map(str, args)],
                          cwd=cwd, env=full, capture_output=True, text=True,
                          **more)


def python(*args, cwd=None):
    full = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *map(str, args)], cwd=cwd,
                          env=full, capture_output=True, text=True)


@pytest.fixture
def write(tmp_path):
    """write(name, text) makes a file and returns its path."""
    def maker(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path
    return maker


# --- run -------------------------------------------------------------------

SHOW = '''
import sys, os
print(__name__, __file__, sys.argv, sys.path[0], __spec__, __doc__)
print(sorted(k for k in globals() if k.startswith("__")))
print(sys.modules["__main__"].__dict__ is globals())
'''


@pytest.mark.parametrize("tail", ([], ["a b", "--flag", "-x"]))
def test_run_looks_like_python(write, tmp_path, tail):
    path = write("show.py", '"""Doc."""' + SHOW)
    for name, cwd in (("show.py", tmp_path), (path, None)):
        want = python(name, *tail, cwd=cwd)
        got = vizgen("run", name, *tail, cwd=cwd)
        assert (got.stdout, got.stderr) == (want.stdout, want.stderr)


@pytest.mark.parametrize("body", (
    "import sys; sys.exit(7)", "import sys; sys.exit('words')",
    "raise SystemExit", "1 / 0", "def f():\n    return {}['key']\nf()",
    "raise KeyboardInterrupt", "x = (", "import nothing_there",
    "import sys\nsys.excepthook = lambda *a: print('hook', a[1])\n1 / 0",
    "import atexit\natexit.register(print, 'bye')\n1 / 0",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError from e",
))
def test_run_ends_like_python(write, tmp_path, body):
    write("ends.py", body + "\n")
    want = python("ends.py", cwd=tmp_path)
    got = vizgen("run", "ends.py", cwd=tmp_path)
    assert got.returncode == want.returncode
    assert got.stdout == want.stdout
    assert got.stderr == want.stderr


def test_run_missing_file():
    got = vizgen("run", "nothing.py")
    assert got.returncode == 2 and "nothing.py" in got.stderr


KERNEL = '''
import numpy as np
from vizgen import accelerate


@accelerate
def double(a, out):
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2.0
    return None


@accelerate
def fallback(a):
    return a.tobytes()


def test(n=None):
    a, out = np.ones((300, 400)), np.zeros((300, 400))
    double(a, out)
    return out


if __name__ == "__main__":
    print(test().sum())
'''


def test_run_strict(write):
    path = write("kernel.py", KERNEL)
    assert vizgen("run", path).stdout == "240000.0\n"
    assert vizgen("run", "--strict", path).returncode == 0
    path = write("other.py", KERNEL + "    fallback(np.ones((2, 2)))\n")
    assert vizgen("run", path).returncode == 0
    assert vizgen("run", "--strict", path).returncode == 3
    assert vizgen("run", "--disable", "--strict", path).returncode == 0


def test_run_check(write):
    path = write("kernel.py", KERNEL)
    got = vizgen("run", "--check", path)
    assert got.returncode == 0 and got.stdout == "240000.0\n"


# --- check, explain, doctor ------------------------------------------------

def test_check_does_not_run(write):
    kernel = KERNEL.replace("    return a.tobytes()\n",
                            "    class Local:\n        pass\n    return a\n")
    path = write("bad.py", kernel + "raise SystemExit('it ran')\n")
    got = vizgen("check", path)
    assert got.returncode == 0 and "it ran" not in got.stderr
    assert "bad.py:16:5  VZ-1003  `class` is not translated" in got.stdout
    assert got.stderr == ""
    assert vizgen("check", "--strict", path).returncode == 3
    lines = vizgen("check", "--json", path).stdout.splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["VZ-1003"]


def test_check_tells_of_loops(write):
    path = write("loops.py", "\ndef f(a):\n    for v in a:\n"
                             "        a[0] += v\n    return {len(a)}\n")
    got = vizgen("check", "--all", path)
    assert "loops outside of it run by themselves: lines 3-4" in got.stdout
    line = vizgen("check", "--all", "--json", path).stdout
    assert json.loads(line)["loops"] == [[3, 4]]


def test_check_all(write):
    path = write("plain.py", "import numpy as np\n\n\ndef f(a):\n"
                             "    return np.roots(a)\n")
    assert "VZ-2003" not in vizgen("check", path).stdout
    assert "plain.py:5:12  VZ-2003" in vizgen("check", "--all", path).stdout


def test_check_knows_the_library(write):
    path = write("known.py", "import numpy as np\n\n\ndef f(n):\n"
                             "    assert n > 0, f'{n} is too small'\n"
                             "    return np.eye(n) + np.random.rand()\n")
    assert "VZ-" not in vizgen("check", "--all", path).stdout


def test_check_syntax_error(write):
    path = write("broken.py", "def f(:\n")
    got = vizgen("check", path)
    assert got.returncode == 1 and "broken.py:1" in got.stdout


def test_explain_code():
    got = vizgen("explain", "VZ-2003")
    assert got.returncode == 0 and got.stdout.startswith("VZ-2003: ")
    assert vizgen("explain", "vz-2003").stdout == got.stdout
    assert vizgen("explain", "VZ-9999").returncode == 2
    assert "VZ-2003  this function is not" in vizgen("explain", "VZ").stdout


def test_explain_function(write):
    path = write("kernel.py", KERNEL)
    got = vizgen("explain", f"{path}:double")
    assert got.returncode == 0 and "double" in got.stdout
    assert "float64[:, :]" in got.stdout
    assert vizgen("explain", f"{path}:missing").returncode == 2


def test_doctor():
    got = vizgen("doctor")
    assert got.returncode == 0
    for part in ("compiler", "threads", "prover", "cpu", "cache"):
        assert part in got.stdout
    parts = json.loads(vizgen("doctor", "--json").stdout)["parts"]
    assert {"name", "ok", "text", "fix"} == set(parts[0])


def test_doctor_without_compiler(tmp_path):
    env = {"VIZGEN_CC": str(tmp_path / "none")}
    got = vizgen("doctor", env=env)
    assert got.returncode == 0 and "apt install gcc" in got.stdout
    got = vizgen("doctor", "--require", "compiler", env=env)
    assert got.returncode == 5


def test_cache(tmp_path, write):
    env = {"VIZGEN_CACHE_DIR": str(tmp_path / "own")}
    vizgen("run", write("kernel.py", KERNEL), env=env)
    assert vizgen("cache", "dir", env=env).stdout.strip() == str(
        tmp_path / "own")
    assert "1 compiled" in vizgen("cache", "ls", env=env).stdout
    assert vizgen("cache", "verify", env=env).returncode == 0
    assert "removed 1" in vizgen("cache", "clear", env=env).stdout
    assert "0 compiled" in vizgen("cache", "ls", env=env).stdout


@pytest.mark.parametrize("args", ([], ["nonsense"], ["run"], ["tune"],
                                  ["tune", "--budget", "soon", "x.py"]))
def test_usage(args):
    got = vizgen(*args)
    assert got.returncode == 2 and got.stdout == "" and got.stderr


# --- tune ------------------------------------------------------------------

def tune(path, tmp_path, *more, **env):
    env = {"VIZGEN_CACHE_DIR": str(tmp_path / "tune"), **env}
    return vizgen("tune", "--budget", "4s", *more, path, env=env)


def log_of(tmp_path):
    folder = tmp_path / "tune" / "tuned"
    path = next(p for p in folder.iterdir() if p.suffix == ".jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_tune(write, tmp_path):
    path = write("kernel.py", KERNEL)
    got = tune(path, tmp_path)
    assert got.returncode == 0, got.stderr
    assert "double: " in got.stdout and "x Python" in got.stdout
    assert got.stderr == ""        # no progress where there is no terminal
    log = log_of(tmp_path)
    tried = [r for r in log if r["event"] == "variant"]
    assert tried and all(r["status"] == "ok" for r in tried), tried
    assert log[-1]["event"] in ("complete", "stopped")
    assert len(tried) == len({r["index"] for r in tried})


def test_tune_resume(write, tmp_path):
    path = write("kernel.py", KERNEL)
    tune(path, tmp_path)
    before = len([r for r in log_of(tmp_path) if r["event"] == "variant"])
    tune(path, tmp_path, "--resume")
    tried = [r["index"] for r in log_of(tmp_path) if r["event"] == "variant"]
    assert len(tried) >= before and len(set(tried)) == len(tried)


def test_tuned_choice_is_used(write, tmp_path):
    """A kept choice is looked up, and its program runs with it."""
    path = write("kernel.py", KERNEL)
    env = {"VIZGEN_CACHE_DIR": str(tmp_path / "tune")}
    code = (f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
            "import kernel\nfrom vizgen import tuned\n"
            "f = kernel.double.py_func\n"
            "tuned.install(tuned.name_of(f), tuned.source_hash(f),"
            " 'parallel=0', '', {})\n"
            "print(tuned.choice(f))\n"
            "kernel.test()\n"
            "print([r['code'] for s in kernel.double._describe()"
            " for r in s['remarks']])\n")
    full = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    done = subprocess.run([sys.executable, "-c", code], env=full,
                          capture_output=True, text=True)
    assert done.stdout.startswith("('parallel=0', None)"), done.stderr
    assert "VZ-3001" not in done.stdout
    path.write_text(KERNEL.replace("* 2.0", "* 2.5"))
    code = "\n".join(line for line in code.splitlines()
                     if not line.startswith("tuned.install"))
    done = subprocess.run([sys.executable, "-c", code], env=full,
                          capture_output=True, text=True)
    assert done.stdout.startswith("None"), done.stderr


def test_tune_interrupted(write, tmp_path):
    path = write("kernel.py", KERNEL)
    env = {**os.environ, "PYTHONPATH": str(ROOT),
           "VIZGEN_CACHE_DIR": str(tmp_path / "tune")}
    process = subprocess.Popen(
        [sys.executable, "-m", "vizgen", "tune", "--budget", "60s",
         str(path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            if any(r["event"] == "variant" for r in log_of(tmp_path)):
                break
        except (OSError, StopIteration, ValueError):
            pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "stopped early" in out
    assert log_of(tmp_path)[-1]["event"] == "stopped"


def test_tune_failing_program(write, tmp_path):
    path = write("fails.py", "raise ValueError('no')\n")
    got = tune(path, tmp_path)
    assert got.returncode == 1 and "ValueError: no" in got.stderr
    assert tune(write("empty.py", "x = 1\n"), tmp_path).returncode == 1
    assert tune("missing.py", tmp_path).returncode == 2


# --- the tuned folder ------------------------------------------------------

@pytest.fixture
def tuned(monkeypatch, tmp_path):
    from vizgen import tuned as module
    monkeypatch.setenv("VIZGEN_CACHE_DIR", str(tmp_path / "private"))
    return module


def test_tuned_round_trip(tuned):
    assert tuned.lookup("m.f", "hash") is None
    tuned.install("m.f", "hash", "parallel=0 regions=1", "clang", {"gain": 2})
    assert tuned.lookup("m.f", "hash") == ("parallel=0 regions=1", "clang")
    assert tuned.lookup("m.f", "other") is None
    tuned.forget("m.f")
    assert tuned.lookup("m.f", "hash") is None


@pytest.mark.parametrize("change", (
    {"opts": "dump=*"}, {"opts": "parallel=2"}, {"opts": "parallel=0;x"},
    {"compiler": "/tmp/evil"}, {"schema": 99}, {"name": 3}, {"source": None},
    {"opts": "verify=0"},
))
def test_tuned_refuses(tuned, change):
    tuned.install("m.f", "hash", "", "", {})
    folder = pathlib.Path(os.environ["VIZGEN_CACHE_DIR"]) / "tuned"
    path = next(folder.iterdir())
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, **change}))
    assert tuned.lookup("m.f", "hash") is None


def test_tuned_folder_must_be_private(tuned):
    tuned.install("m.f", "hash", "", "gcc", {})
    folder = pathlib.Path(os.environ["VIZGEN_CACHE_DIR"]) / "tuned"
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert tuned.lookup("m.f", "hash") is None
    folder.chmod(0o700)
    path = next(folder.iterdir())
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    assert tuned.lookup("m.f", "hash") is None


# --- decisions of the tuner ------------------------------------------------

def test_search_sees_every_variant_once():
    from vizgen import _core
    compilers = ("gcc", "clang")
    trials = [(0, 1.0)]
    while (index := _core.tune_next(compilers, trials)) is not None:
        trials.append((index, 1.5 if index == 1 else 0.5))
    assert sorted(i for i, _ in trials) == list(
        range(_core.tune_size(compilers)))
    # The neighbours of the best one come before the others.
    one_away = {1 ^ 2, 1 ^ 4, 1 + 8}
    assert one_away <= {i for i, _ in trials[2:6]}


def test_variants_are_distinct():
    from vizgen import _core
    compilers = ("gcc", "clang")
    found = [_core.tune_variant(compilers, i)
             for i in range(_core.tune_size(compilers))]
    assert len(set(found)) == len(found) and found[0] == ("", "gcc")


def test_ratio_interval():
    from vizgen import _core
    rng = np.random.RandomState(3)
    base = rng.uniform(1.0, 1.1, 41)
    median, low, high = _core.tune_ratio(base, base / 1.5)
    assert low <= median <= high and abs(median - 1.5) < 1e-12
    assert _core.tune_ratio([1.0] * 5, [1.0] * 5)[1:] == (0.0, float("inf"))
    misses = 0
    for _ in range(400):
        noisy = rng.lognormal(0.0, 0.3, 31)
        _, low, high = _core.tune_ratio(noisy, np.ones(31))
        misses += not low <= 1.0 <= high
    assert misses <= 36           # 5 % and three standard deviations
