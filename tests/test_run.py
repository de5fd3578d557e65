"""csrc/run: hashes, undo, threads, and the C compiler as a child process.

The C programs of tests/unit/run_*.c are built once; run_tool is then driven
through environments and fake compilers.  tests/test_cache.py does the rest.
"""
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.runkit import kernel, needs_gcc, programs, tool_fixture  # noqa: F401

pytestmark = [needs_gcc,
              pytest.mark.usefixtures("usual_compiler")]


# --- sha256, manifests, undo, threads -----------------------------------------

def test_sha256():
    lines = subprocess.run([programs()["run_sha"]], capture_output=True, text=True,
                           check=True).stdout.split()
    data = bytes(i * 7 % 251 for i in range(300))
    want = [hashlib.sha256(data[:n]).hexdigest() for n in range(300)]
    want.append(hashlib.sha256(b"a" * 1000000).hexdigest())
    assert lines == want


@pytest.mark.parametrize("name", ["run_manifest", "run_undo"])
@pytest.mark.parametrize("seed", [1, 20, 300])
def test_random_programs(name, seed):
    done = subprocess.run([programs()[name], "5000", str(seed)], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("env", [
    {}, {"OMP_NUM_THREADS": "1"}, {"VIZGEN_THREADS": "3"},
    {"OMP_WAIT_POLICY": "active"}, {"OMP_THREAD_LIMIT": "2"},
])
def test_threads(env):
    done = subprocess.run([programs()["run_threads"]], capture_output=True, text=True,
                          env={**os.environ, **env}, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads_that_the_system_refuses():
    done = subprocess.run([programs()["run_threads"], "starved"], capture_output=True,
                          text=True, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads_under_thread_sanitizer(tmp_path):
    """Once by gcc's, with threads that it sees; `make tsan` runs kernels."""
    root = pathlib.Path(__file__).resolve().parent.parent
    sources = [root / "tests/unit/run_threads.c",
               *sorted((root / "csrc/run").glob("*.c")),
               *sorted((root / "csrc/base").glob("*.c"))]
    program = tmp_path / "run_threads"
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{root}", "-fopenmp",
                    "-O1", "-g", "-fsanitize=thread", "-DVIZGEN_TSAN",
                    *map(str, sources), "-lm", "-ldl", "-o", str(program)],
                   check=True)
    # One sanitizer is enough for it.
    env = {key: os.environ[key] for key in os.environ if key != "LD_PRELOAD"}
    done = subprocess.run([program], capture_output=True, text=True, timeout=200,
                          env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ThreadSanitizer" not in done.stderr, done.stderr


LITTLE = """
import os, numpy as np
from tests import test_run
from vizgen import accelerate
fn = accelerate(test_run.doubled)
a = np.ones((4, 3))
fn(a)
before = len(os.listdir("/proc/self/task"))
for _ in range(3):
    assert np.array_equal(fn(a), 2 * a)
assert fn.stats.native_calls == 4
print(len(os.listdir("/proc/self/task")), before)
"""


def doubled(a):
    out = np.zeros(a.shape)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = a[y, x] * 2.0
    return out


@pytest.mark.parametrize("least,more", [("0", True), ("1e9", False), (None, False)])
def test_how_much_work_is_worth_threads(least, more, tmp_path):
    environment = {**os.environ, "VIZGEN_THREADS": "3", "VIZGEN_TRIALS": "0",
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("VIZGEN_PARALLEL_NS", None)
    if least:
        environment["VIZGEN_PARALLEL_NS"] = least
    done = subprocess.run([sys.executable, "-c", LITTLE], capture_output=True,
                          text=True, env=environment, check=False,
                          cwd=pathlib.Path(__file__).resolve().parent.parent)
    assert done.returncode == 0, done.stderr
    after = int(done.stdout.split()[0])
    assert (after >= 3) == more, done.stdout


def test_number_of_threads(tool):
    cpus = len(os.sched_getaffinity(0))
    assert 1 <= int(tool("threads")["threads"]) <= cpus
    assert tool("threads", OMP_NUM_THREADS="3")["threads"] == "3"
    assert tool("threads", VIZGEN_THREADS="7", OMP_NUM_THREADS="3")["threads"] == "7"
    assert int(tool("threads", VIZGEN_THREADS="100000")["threads"]) <= 1024
    one = {os.sched_getaffinity(0).pop()}
    pin = {"preexec_fn": lambda: os.sched_setaffinity(0, one)}
    assert tool("threads", options=pin)["threads"] == "1"


# --- Finding the compiler -----------------------------------------------------

def test_find_names_and_paths(tool):
    gcc = shutil.which("gcc")
    assert tool("find", "gcc")["path"] == gcc
    assert tool("find", VIZGEN_CC=gcc)["path"] == gcc
    assert tool("find", CC="gcc")["path"] == gcc
    found = tool("find")
    assert found["ok"] == "1" and found["path"].startswith("/") and found["id"]
    spaces = tool.folder / "my tools"
    spaces.mkdir()
    (spaces / "the gcc").symlink_to(gcc)
    assert tool("find", VIZGEN_CC=str(spaces / "the gcc"))["ok"] == "1"
    assert tool.build(VIZGEN_CC=str(spaces / "the gcc"))["value"] == "42"
    assert tool("find", VIZGEN_CC="my tools/the gcc")["ok"] == "1"


@pytest.mark.parametrize("name", [
    "gcc; touch pwned", "gcc -m32", "-x", "$(touch pwned)", "gcc\ntouch pwned",
    "no-such-compiler", "/etc/passwd", "/", "", "@file",
])
def test_find_refuses(tool, name):
    found = tool("find", VIZGEN_CC=name)
    assert found["ok"] == ("0" if name else "1")
    assert name == "" or found["why"]
    assert not (tool.folder / "pwned").exists()
    built = tool.build(VIZGEN_CC=name)
    assert ("value" in built) == (name == "")


def test_unusable_cc_is_passed_over_with_a_reason(tool):
    found = tool("find", CC="ccache gcc -m64")
    assert found["ok"] == "1" and "ccache gcc -m64" in found["why"]


def test_relative_parts_of_path_are_not_used(tool):
    fake = tool.fake(f"touch {tool.folder}/pwned; exit 1", "cc")
    for name in ("gcc", "clang"):
        shutil.copy(fake, tool.folder / name)
    path = f".::{tool.env['PATH']}:../{tool.folder.name}"
    assert tool("find", PATH=path)["path"].startswith("/usr")
    assert tool.build(PATH=path)["value"] == "42"
    assert not (tool.folder / "pwned").exists()
    assert tool("find", PATH=".")["ok"] == "0"


def test_unknown_compiler_is_refused(tool):
    path = tool.folder / "odd"
    path.write_text("#!/bin/sh\necho odd compiler 3\n")
    path.chmod(0o755)
    assert "neither gcc nor clang" in tool("find", VIZGEN_CC=str(path))["why"]


def test_features_are_an_explicit_list(tool):
    first = tool("find", "gcc")
    assert "native" not in first["features"]
    words = first["features"].split()
    assert all(re.fullmatch(r"-m[a-z0-9._=-]+", word) for word in words)
    assert list(tool.cache.glob("cc-*"))
    assert tool("find", "gcc") == first


def test_remembered_features_are_checked(tool):
    """What the cache says of a compiler never becomes a flag unchecked."""
    first = tool("find", "gcc")
    (note,) = tool.cache.glob("cc-*")
    good = note.read_text()
    head = good[:good.index("native")]
    for bad in ("native ff -fplugin=evil\n", "native ff x -o/pwned\n", "",
                "native ffffffffffffffff znver3\n", "native 0 a\0b\n"):
        note.write_text(head + bad)
        assert tool("find", "gcc") == first, bad
        note.write_text(good + "more\n")
        assert tool("find", "gcc") == first
    note.unlink()
    note.symlink_to("/etc/passwd")
    assert tool("find", "gcc") == first


def test_a_compiler_is_asked_once(tool):
    """For as long as it is the same file."""
    copy = tool.folder / "gcc-copy"
    shutil.copy(os.path.realpath(shutil.which("gcc")), copy)
    first = tool("find", str(copy))
    (note,) = tool.cache.glob("cc-*")
    text = note.read_text().replace(first["id"], "gcc 99")
    note.write_text(text)
    assert tool("find", str(copy)) == first  # by the sum
    text = text[:text.index("sum ")]
    whole = f"{text}sum {hashlib.sha256(text.encode()).hexdigest()}\n"
    note.write_text(whole + "\0more")
    assert tool("find", str(copy)) == first
    note.write_text(whole)
    assert tool("find", str(copy)) == {**first, "id": "gcc 99"}
    os.utime(copy)
    assert tool("find", str(copy)) == first


@pytest.mark.parametrize("binary", [False, True])
def test_a_wrapper_is_asked_each_time(tool, binary):
    """What it runs may be another compiler today."""
    real = pathlib.Path(tool.fake("exit 1", "real"))
    wrapper = tool.folder / "gcc"
    if binary:
        source = tool.source('#include <unistd.h>\nint main(int n, char **a) {'
                             f'return execv("{real}", a) * n; }}', "wrap.c")
        subprocess.run(["gcc", "-o", wrapper, source], check=True)
    else:
        wrapper.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
        wrapper.chmod(0o755)
    assert tool("find", str(wrapper))["id"] == "gcc (fake) 1"
    real.write_text(real.read_text().replace("(fake) 1", "(fake) 2"))
    assert tool("find", str(wrapper))["id"] == "gcc (fake) 2"


# --- Compilers that misbehave -------------------------------------------------

# Later "-o" words are followed, as gcc does: the fake writes ./k.so.
FAULTS = {
    "exit 1": ("echo 'k.c:1: error: no' >&2; exit 1", "k.c:1: error: no"),
    "no output": ("exit 0", "wrote no shared object"),
    "empty": (": > k.so", "no whole shared object"),
    "garbage": ("head -c 5000 /dev/urandom > k.so", "no whole shared object"),
    "text": ("echo hello > k.so", "no whole shared object"),
    "cut": ('gcc "$@"; head -c 9000 k.so > x; mv x k.so', "no whole shared object"),
    "object file": ("gcc -c -x c k.c -o k.so", "no whole shared object"),
    "directory": ("mkdir k.so", "wrote no shared object"),
    "symlink": ("ln -s /bin/true k.so", "wrote no shared object"),
    "no symbol": ("echo 'int x;' | gcc -shared -fPIC -x c - -o k.so", "vz_kernel"),
    "no abi": ("echo 'int vz_kernel(void){return 0;}' | gcc -shared -x c - -o k.so",
               "vz_abi"),
    "other abi": ("sed 's/vz_abi = .*/vz_abi = 999;/' k.c > x.c;"
                  "gcc -shared -fPIC -x c x.c -o k.so", "ABI 999"),
    "undefined": ("(cat k.c; echo 'EXPORT int f(void){extern int g();return g();}')"
                  "> x.c; gcc -shared -fPIC -x c x.c -o k.so", "can't be loaded"),
    "killed": ("kill -9 $$", "killed by signal 9"),
    "crash": ("kill -SEGV $$", "killed by signal 11"),
    "huge output": ("head -c 100000000 /dev/zero | tr '\\0' x >&2; exit 3",
                    "exit status 3"),
    "huge file": ("head -c 400000000 /dev/zero > k.so; exit $?", "compiler"),
    "terminal codes": ("printf '\\033]0;pwned\\007\\033[31mred' >&2; exit 1", "red"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_compiler_faults(tool, fault):
    script, want = FAULTS[fault]
    begin = time.monotonic()
    got = tool.build(VIZGEN_CC=tool.fake(script))
    assert want in got["error"], got
    assert len(got["error"]) < 6000 and "\033" not in got["error"]
    assert time.monotonic() - begin < 5
    assert not list(tool.temp.iterdir()), "temporary files are left"
    assert not tool.entries() and not tool.temps()


@pytest.mark.parametrize("script", [
    "sleep 30", "exec sleep 30", "exec >&- 2>&-; sleep 30", "yes; yes >&2",
    "trap '' TERM INT; while :; do :; done",
])
def test_compiler_hangs(tool, script):
    begin = time.monotonic()
    got = tool.build(VIZGEN_CC=tool.fake(script), VIZGEN_CC_TIMEOUT="0.3")
    assert "VIZGEN_CC_TIMEOUT" in got["error"]
    assert time.monotonic() - begin < 3
    assert not list(tool.temp.iterdir())


def test_deadline(tool):
    """Less optimisation where all of it takes too long, but only there."""
    loop = "case \"$*\" in *-O1*) ;; *) while :; do :; done;; esac\n"
    late = tool.fake(loop + 'exec gcc "$@"')
    got = tool.build(VIZGEN_CC=late, VIZGEN_CC_DEADLINE="1")
    assert got.get("value") == "42", got
    wrong = tool.fake("exit 1", "wrong-gcc")
    assert "exit status 1" in tool.build(VIZGEN_CC=wrong)["error"]
    never = tool.fake("while :; do :; done", "slow-gcc")
    got = tool.build(VIZGEN_CC=never, VIZGEN_CC_DEADLINE="1",
                     VIZGEN_CC_TIMEOUT="4")
    assert "VIZGEN_CC_TIMEOUT" in got["error"] or "killed" in got["error"]


def test_compile_bomb_is_stopped(tool):
    lines = ["#define A0 1,1,1,1,1,1,1,1"]
    lines += [f"#define A{i} " + ",".join([f"A{i - 1}"] * 8) for i in range(1, 12)]
    text = "\n".join([*lines, "long bomb[] = { A11 };", kernel()])
    begin = time.monotonic()
    got = tool.build(text, VIZGEN_CC="gcc", VIZGEN_CC_TIMEOUT="0.5")
    assert "error" in got and time.monotonic() - begin < 5
    time.sleep(0.1)
    for entry in pathlib.Path("/proc").glob("[0-9]*/cwd"):
        try:
            where = os.readlink(entry)
        except OSError:
            continue
        assert not where.startswith(str(tool.temp)), "a compiler is left running"


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.parametrize("end", ["exit 1", "exec gcc \"$@\"", "sleep 30"])
def test_background_children_are_killed(tool, end):
    note = tool.folder / "pid"
    fake = tool.fake(f"sleep 300 & echo $! > {note}\n{end}")
    begin = time.monotonic()
    got = tool.build(VIZGEN_CC=fake, VIZGEN_CC_TIMEOUT="1")
    assert ("value" in got) == ("gcc" in end)
    assert time.monotonic() - begin < 4
    time.sleep(0.05)
    assert not is_alive(int(note.read_text()))


def test_ignored_sigchld(tool):
    """The exit status is lost; the object itself must then convince."""
    ignore = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
    path = tool.source(kernel())
    assert tool("build", path, options=ignore)["value"] == "42"
    fake = tool.fake("echo no > k.so; exit 1")
    assert "error" in tool("build", path, options=ignore, VIZGEN_CC=fake)


# --- What the compiler gets to see --------------------------------------------

def test_environment_of_the_compiler(tool):
    note = tool.folder / "seen"
    fake = tool.fake(f'{{ env; echo "cwd=$(pwd)"; ulimit -a; ls -l /proc/$$/fd;'
                     f' umask; }} > {note}; exec gcc "$@"')
    hostile = {name: "/evil" for name in (
        "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
        "CFLAGS", "LDFLAGS", "BASH_ENV", "ENV", "LD_LIBRARY_PATH", "LD_AUDIT_X",
        "DEPENDENCIES_OUTPUT", "SOURCE_DATE_EPOCH", "PYTHONPATH")}
    read, write = os.pipe()
    got = tool("build", tool.source(kernel()), VIZGEN_CC=fake,
               options={"pass_fds": (read, write)}, **hostile)
    inherited = f"pipe:[{os.fstat(read).st_ino}]"
    os.close(read)
    os.close(write)
    assert got["value"] == "42", got
    seen = note.read_text()
    names = set(re.findall(r"^([A-Za-z_]+)=", seen, re.M))
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PWD", "OLDPWD",
                     "SHLVL", "_", "cwd"}
    assert "/evil" not in seen and "TMPDIR=.\n" in seen
    cwd = re.search(r"^cwd=(.*)$", seen, re.M)[1]
    assert pathlib.Path(cwd).parent == tool.temp
    numbers = set(map(int, re.findall(r" (\d+) -> ", seen)))
    assert numbers <= {0, 1, 2, 10, 11, 255}, seen  # a shell's own are the last
    assert inherited not in seen
    assert re.search(r"core.* 0$", seen, re.M) and not re.search(
        r"(vmemory|virtual memory).*unlimited", seen)


def test_hostile_environment_changes_nothing(tool):
    evil = tool.folder / "evil"
    evil.mkdir()
    for name in ("math.h", "stdint.h"):
        (evil / name).write_text("#error evil\n")
    text = "#include <stdint.h>\n" + kernel()
    plain = tool.build(text)
    tool("clear")
    hostile = tool.build(
        text, CPATH=str(evil), C_INCLUDE_PATH=str(evil), GCC_EXEC_PREFIX=str(evil),
        COMPILER_PATH=str(evil), LIBRARY_PATH=str(evil),
        LD_PRELOAD="/no/such/library.so")
    assert hostile["value"] == "42" and hostile["from_cache"] == "0"
    assert hostile["key"] == plain["key"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_are_not_changed(tool, compiler):
    """No contraction, no reassociation, subnormals stay, ints wrap."""
    if not shutil.which(compiler):
        pytest.skip(f"needs {compiler}")
    body = """
        volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30, one = -1, tiny = 0x1p-1060;
        volatile double nan = 0.0 / (a - a), big = 1e300;
        volatile long most = 0x7fffffffffffffffL;
        int fused = a * b + one != 0;
        int moved = (a + big) - big != 0;
        int flushed = tiny * 0x1p-10 == 0;
        int lost = nan == nan || !(nan != nan);
        int wraps = most + 1 < most;
    """
    value = "fused + 2 * moved + 4 * flushed + 8 * lost + 16 * !wraps"
    assert tool.build(kernel(value, body), VIZGEN_CC=compiler)["value"] == "0"


def test_reproducible(tool):
    objects = set()
    for number in range(2):
        where = tool.folder / f"at {number}"
        where.mkdir()
        tool("compile", tool.source(kernel()), tool.folder / "out.so",
             TMPDIR=str(where), HOME=str(where))
        objects.add((tool.folder / "out.so").read_bytes())
    assert len(objects) == 1


def test_compile_to_a_place_that_is_not_there(tool):
    got = tool("compile", tool.source(kernel()), tool.folder / "no/out.so")
    assert got["ok"] == "0" and "can't write" in got["error"]
