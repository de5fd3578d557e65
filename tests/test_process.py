"""Threads, forks, signals and the environment's variables."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import vizgen
from vizgen import accelerate

from .support import ROOT

pytestmark = pytest.mark.usefixtures("usual_compiler")


def run_python(code, **environment):
    """A fresh interpreter that runs 'code', with vizgen importable."""
    env = dict(os.environ, PYTHONPATH=str(ROOT), **environment)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)],
                          capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def run_file(tmp_path, code, **environment):
    """Like run_python for a program in a file, so that it has a source."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(code))
    env = dict(os.environ, PYTHONPATH=str(ROOT), **environment)
    return subprocess.run([sys.executable, str(path)], capture_output=True,
                          text=True, env=env, timeout=120, cwd=tmp_path)


SUM_PROGRAM = """
import numpy as np, warnings
from vizgen import accelerate

@accelerate
def total(values):
    s = 0.0
    for i in range(values.shape[0]):
        s += values[i]
    return s

@accelerate
def left(values):
    return values.tobytes()
"""


@accelerate
def total(values):
    s = 0.0
    for i in range(values.shape[0]):
        s += values[i]
    return s


# --- threads, forks, signals -------------------------------------------------


def test_first_call_from_many_threads():
    f = accelerate(total.py_func)
    start = threading.Barrier(8)
    results = []

    def work():
        start.wait()
        results.append(f(np.arange(1000.0)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [499500.0] * 8
    assert f.stats.compiles + f.stats.cache_hits == 1


def test_fork(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + """
import os
assert total(np.ones(4)) == 4.0
pid = os.fork()
if pid == 0:
    ok = total(np.ones(5)) == 5.0 and total(np.ones(5, np.int32)) == 5.0
    os._exit(0 if ok and total.stats.native_calls == 3 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
""")
    assert done.returncode == 0, done.stderr


def test_fork_while_compiling(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + """
import os, threading, time
thread = threading.Thread(target=total, args=(np.ones(4),))
thread.start()
pids = []
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if total(np.ones(5)) == 5.0 else 1)
    pids.append(pid)
    time.sleep(0.005)
thread.join()
for pid in pids:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
""")
    assert done.returncode == 0, done.stderr


IMPORTING = """
import os, sys, threading, time
from vizgen import lazy

sys.path.insert(0, os.path.dirname(__file__))
thread = threading.Thread(target=lazy.load, args=("slow",))
thread.start()
while "slow" not in sys.modules:
    time.sleep(0.001)
pid = os.fork()
if pid == 0:
    os._exit(lazy.load("slow").answer - 42)
deadline = time.monotonic() + 20
while os.waitpid(pid, os.WNOHANG) == (0, 0):
    assert time.monotonic() < deadline, "the child hangs"
    time.sleep(0.01)
thread.join()
"""


def test_fork_while_importing(tmp_path):
    """The child would wait for the end of an import that nobody ends."""
    (tmp_path / "slow.py").write_text(
        "import time\ntime.sleep(0.5)\nanswer = 42\n")
    done = run_file(tmp_path, IMPORTING)
    assert done.returncode == 0, done.stderr


def test_fork_by_an_import(tmp_path):
    """A module may fork while it is imported; nobody waits for long."""
    (tmp_path / "slow.py").write_text(
        "import os, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "time.sleep(0.2)\n"
        "answer = 42\n")
    done = run_file(tmp_path, IMPORTING)
    assert done.returncode == 0, done.stderr


def test_fork_returns_from_an_import(tmp_path):
    """The child goes on where the import was, and both import again."""
    (tmp_path / "forks.py").write_text(
        "import os\npid = os.fork()\n"
        "if pid:\n    assert os.waitpid(pid, 0)[1] == 0\n")
    done = run_file(tmp_path, """
import os
from vizgen import lazy
pid = lazy.load("forks").pid
assert lazy.load("colorsys").ONE_THIRD > 0
if pid == 0:
    os._exit(0)
child = os.fork()
if child == 0:
    lazy.load("wave")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""")
    assert done.returncode == 0, done.stderr


def test_multiprocessing_by_name(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(total, [np.ones(3), np.ones(4)]) == [3.0, 4.0]
""")
    assert done.returncode == 0, done.stderr


INTERRUPTING = """
import signal, time

def interrupt_in(seconds):
    def stop(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
"""


def test_interrupt(tmp_path):
    done = run_file(tmp_path, INTERRUPTING + """
from vizgen import accelerate

@accelerate
def spin(n):
    s = 0
    for i in range(n):
        for k in range(n):
            s = (s * 3 + i) & 1023
    return s

spin(3)
interrupt_in(0.3)
start = time.time()
try:
    spin(10_000_000)
except KeyboardInterrupt:
    assert spin.stats.native_calls == 1 and spin.stats.python_calls == 0
    assert time.time() - start < 5
else:
    raise SystemExit("was not interrupted")
""")
    assert done.returncode == 0, done.stderr


def test_interrupt_between_long_rounds(tmp_path):
    """Loops that are known to be of few rounds may take long all the same."""
    done = run_file(tmp_path, INTERRUPTING + """
import numpy as np
from vizgen import accelerate

@accelerate
def sums(a, out):
    for k in range(out.shape[0]):
        for j in range(min(out.shape[1], 4000)):
            out[k, j] = np.sum(a[j % 2])

a = np.ones((2, 2_000_000))
sums(a, np.zeros((1, 2)))
interrupt_in(0.3)
start = time.time()
try:
    sums(a, np.zeros((3000, 4000)))
except KeyboardInterrupt:
    assert time.time() - start < 5
else:
    raise SystemExit("was not interrupted")
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("threads", ["1", "2"])
def test_interrupt_after_short_rounds(tmp_path, threads):
    """A round of one loop may take a million times as long as one of the loop
    before."""
    done = run_file(tmp_path, INTERRUPTING + """
import numpy as np
from vizgen import accelerate

@accelerate
def slower(a, out, n, m):
    y = 1.0
    for k in range(n):
        y = y * 0.999 + 1e-3 * (k % 7)
    for k in range(m):
        for j in range(a.shape[0]):
            out[j] = a[j] * 2.0 + k
    for k in range(m):
        out[k % 4] = np.sum(a[k % 4:]) + out[(k + 1) % 4]
    return y

a, out = np.ones(1_000_000), np.zeros(1_000_000)
slower(a, out, 3, 3)
for n, m in ((20_000_000, 1_000_000), (20_000_000, 3)):
    interrupt_in(0.4)
    start = time.time()
    try:
        slower(a, out, n, m)
        while True:
            slower(a, out, 20_000_000, 100)
    except KeyboardInterrupt:
        assert time.time() - start < 4
""", VIZGEN_THREADS=threads)
    assert done.returncode == 0, done.stderr


def test_interrupt_while_compiling(tmp_path):
    """The compiler is stopped, the call ends, and the next one compiles."""
    slow = tmp_path / "slow-cc"
    slow.write_text(f"""#!/bin/sh
case "$*" in *k.c*) if [ ! -e {tmp_path}/go ]; then sleep 30; fi ;; esac
exec cc "$@"
""")
    slow.chmod(0o755)
    done = run_file(tmp_path, INTERRUPTING + f"""
import pathlib
from vizgen import accelerate

@accelerate
def double(n):
    return 2 * n

interrupt_in(1.0)
start = time.time()
try:
    double(3)
except KeyboardInterrupt:
    assert time.time() - start < 20
    assert double.stats.native_calls == double.stats.python_calls == 0
else:
    raise SystemExit("was not interrupted")
pathlib.Path({str(tmp_path / "go")!r}).touch()
assert double(4) == 8 and double.stats.native_calls == 1
""", VIZGEN_CC=str(slow))
    assert done.returncode == 0, done.stderr


def test_interrupt_leaves_what_was_stored(tmp_path):
    """As Python would: what was stored stays, logged or not."""
    done = run_file(tmp_path, INTERRUPTING + """
import numpy as np
from vizgen import accelerate

@accelerate
def fill(a, index, n):
    for i in range(a.shape[0]):
        a[index[i]] = 1.0
    x = 0
    for i in range(n):
        for k in range(n):
            x = (x * 3 + i) & 1023
        a[0] = 2.0
    return x

size = 100
index = np.arange(size)
fill(np.zeros(size), index, 3)
interrupt_in(0.3)
a = np.zeros(size)
try:
    fill(a, index, 100_000)
except KeyboardInterrupt:
    assert fill.stats.native_calls == 1 and fill.stats.python_calls == 0
    assert a[1:].all() and a[0] in (1.0, 2.0), a
else:
    raise SystemExit("was not interrupted")
""")
    assert done.returncode == 0, done.stderr


def test_gil_is_released():
    @accelerate
    def spin(n):
        s = 0
        for i in range(n):
            for k in range(1000):
                s = (s * 3 + i) & 1023
        return s

    spin(3)
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    spin(300_000)
    stop.set()
    thread.join()
    assert len(ticks) > 10


def test_threads_with_different_settings():
    """Each call keeps to its own number, whatever others ask for."""
    def fill(out):
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                out[i, k] = i * 0.5 + k
        return out.shape[0]

    wanted = [accelerate(fill, threads=n) for n in (1, 2, 3)]
    want = np.empty((600, 300))
    fill(want)
    bad = []

    def work(fn):
        out = np.empty_like(want)
        for _ in range(60):
            out[:] = -1
            fn(out)
            if not np.array_equal(out, want):
                bad.append(fn)

    threads = [threading.Thread(target=work, args=(fn,)) for fn in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad
    assert all(fn.stats.native_calls == 60 for fn in wanted)
    assert vizgen._core.doctor()["threads"] >= 1


# --- environment -------------------------------------------------------------


def test_disable(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + """
assert total(np.ones(3)) == 3.0
assert total.stats.python_calls == 1 and total.stats.compiles == 0
""", VIZGEN_DISABLE="1")
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_strict_variable(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + "left(np.ones(2))",
                    VIZGEN_STRICT="1")
    assert done.returncode == 1 and "CompileError" in done.stderr


def test_check_variable(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + """
assert total(np.ones(3)) == 3.0
assert total.stats.native_calls == 1
try:
    total(None)
except AttributeError:
    pass
""", VIZGEN_CHECK="1")
    assert done.returncode == 0, done.stderr


def test_check_finds_a_difference():
    from vizgen import checking

    class Wrong:
        """As an accelerated function whose native version is wrong."""
        py_func = staticmethod(total.py_func)

        def _hidden(self):
            return ()

        def _call(self, values):
            values[0] = 9.0
            return 3.0

    with pytest.raises(vizgen.MismatchError) as error:
        checking.call(Wrong(), (np.ones(3),), {})
    with np.load(error.value.saved) as saved:
        assert (saved["arg0"] == 1.0).all()
    os.unlink(error.value.saved)


def test_dump_variable(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + "total(np.ones(3))",
                    VIZGEN_DUMP="*")
    assert done.returncode == 0 and done.stderr.strip()


def test_opts_variable(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + "total(np.ones(3))",
                    VIZGEN_OPTS="parallel=0")
    assert done.returncode == 0, done.stderr


def test_no_compiler(tmp_path):
    done = run_file(tmp_path, SUM_PROGRAM + """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert total(np.ones(3)) == 3.0
assert "VZ-5001" in str(caught[0].message), caught
""", VIZGEN_CC="/nonexistent/cc")
    assert done.returncode == 0, done.stderr


def test_cached_kernels_are_found(tmp_path):
    program = SUM_PROGRAM + "total(np.ones(3)); print(total.stats.cache_hits)"
    cache = str(tmp_path / "cache")
    for hits in ("0", "1"):
        done = run_file(tmp_path, program, VIZGEN_CACHE_DIR=cache)
        assert done.stdout.strip() == hits, done.stderr


def test_import_is_cheap():
    done = run_python("""
        import sys
        import numpy
        before = set(sys.modules)
        import vizgen
        print(*sorted(set(sys.modules) - before))
        """)
    names = done.stdout.split()
    assert "inspect" not in names or len(names) < 12, names
    assert all(name.startswith("vizgen") for name in names), names


def test_functions_without_source():
    done = run_python("""
        import warnings
        from vizgen import accelerate
        names = {}
        exec(compile("def f(a): return a + 1", "<nowhere>", "exec"), names)
        f = accelerate(names["f"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert f(1) == 2
            assert f(1) == 2
        assert len(caught) == 1 and "VZ-1001" in str(caught[0].message)
        assert f.stats.python_calls == 2
        """)
    assert not done.stderr
