"""csrc/run: the cache on disk, loading, several processes at once, and what
happens when the disk doesn't play along.  SECURITY.md has the rules."""
import errno
import hashlib
import os
import pathlib
import random
import shutil
import stat
import subprocess
import tempfile
import time

import pytest

from tests.runkit import (  # noqa: F401
    IS_ROOT, NOBODY, Tool, abi, kernel, needs_gcc, needs_root, programs, tool_fixture)

pytestmark = [needs_gcc,
              pytest.mark.usefixtures("usual_compiler")]


# --- The cache ----------------------------------------------------------------

def test_second_process_loads(tool):
    first = tool.build()
    second = tool.build()
    assert (first["from_cache"], second["from_cache"]) == ("0", "1")
    assert first["key"] == second["key"] and second["value"] == "42"
    assert not tool.temps()
    info = tool("info")
    assert info["dir"] == str(tool.cache) and info["entries"] == "1"
    assert int(info["bytes"]) > 1000
    assert tool("verify")["bad"] == "0"
    assert tool("clear")["removed"] == "1"
    assert tool.build()["from_cache"] == "0"


def test_what_the_key_depends_on(tool):
    path = tool.source(kernel())
    key = tool("build", path)["key"]
    moved = tool.source('#line 7 "a.py"\n' + kernel() + '#line 9 "b.py"\n')
    assert tool("build", moved)["key"] == key
    others = [tool("build", path, "numpy 1")["key"],
              tool("build", path, "numpy 2")["key"],
              tool.build(kernel(43))["key"],
              tool.build(VIZGEN_DEBUG="1")["key"]]
    if shutil.which("clang"):
        others.append(tool.build(VIZGEN_CC="clang")["key"])
    assert len({key, *others}) == len(others) + 1


def test_debug_builds_are_loaded_by_name(tool):
    assert tool.build(VIZGEN_DEBUG="1")["value"] == "42"
    again = tool.build(VIZGEN_DEBUG="1")
    assert again["value"] == "42" and again["from_cache"] == "1"


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_modes(tool, mask):
    tool("build", tool.source(kernel()), options={"umask": mask})
    for path in [tool.cache, *tool.cache.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_places(tool):
    home = tool.folder / "home"
    home.mkdir()
    place = {"VIZGEN_CACHE_DIR": "", "HOME": str(home)}
    assert tool("info", **place)["dir"] == f"{home}/.cache/vizgen"
    xdg = {**place, "XDG_CACHE_HOME": f"{home}/xdg"}
    assert tool("info", **xdg)["dir"] == f"{home}/xdg/vizgen"
    assert tool("info", **{**xdg, "XDG_CACHE_HOME": "rel"})["dir"].endswith(
        "/.cache/vizgen")
    info = tool("info", VIZGEN_CACHE_DIR="relative/place")
    assert info["dir"] == "" and "absolute" in info["why"]


@pytest.mark.parametrize("name", [
    "$(touch pwned)", "; touch pwned", "-o x", "@file", "a b", 'q"u\'o`te', "new\nline",
    "*/", "??/", "\udce9\udcff", "\u202egnp.exe", "x" * 255, "%s%n", "dir/", ".hidden",
])
def test_hostile_names(tool, name):
    where = f"{tool.folder}/{name}"
    got = tool.build(VIZGEN_CACHE_DIR=where)
    assert got["value"] == "42"
    assert tool.build(VIZGEN_CACHE_DIR=where)["from_cache"] == "1"
    assert not (tool.folder / "pwned").exists()
    text = f'#line 1 "{name}"\n'.encode("utf-8", "surrogateescape")
    (tool.folder / "named.c").write_bytes(text.replace(b"\n", b" ")[:-1] + b"\n"
                                          + kernel(7).encode())
    got = tool("build", tool.folder / "named.c")
    assert "value" in got or "error" in got


def refused(tool, reason, **env):
    """The cache isn't used, which has a reason and does no harm."""
    info = tool("info", **env)
    assert info["dir"] == "" and reason in info["why"], info
    for _ in range(2):
        got = tool.build(**env)
        assert got["value"] == "42" and got["from_cache"] == "0"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_directory_writable_by_others(tool, mode):
    tool.cache.mkdir()
    tool.cache.chmod(mode)
    refused(tool, "writable by others")
    assert not list(tool.cache.iterdir())


@needs_root
def test_directory_of_another_user(tool):
    tool.cache.mkdir(mode=0o700)
    os.chown(tool.cache, NOBODY, NOBODY)
    refused(tool, "another user")
    assert not list(tool.cache.iterdir())


def test_parent_writable_by_everyone(tool):
    parent = tool.folder / "open"
    parent.mkdir()
    parent.chmod(0o777)
    refused(tool, "everyone", VIZGEN_CACHE_DIR=str(parent / "cache"))
    parent.chmod(0o1777)
    assert tool("info", VIZGEN_CACHE_DIR=str(parent / "cache"))["dir"]


def test_symlink_as_cache(tool):
    target = tool.folder / "target"
    target.mkdir()
    tool.cache.symlink_to(target)
    refused(tool, "symlink")
    assert not list(target.iterdir())


def test_symlinks_above_the_cache(tool):
    """Our own are followed, another user's are not."""
    real = tool.folder / "real"
    real.mkdir()
    link = tool.folder / "link"
    link.symlink_to("real")
    env = {"VIZGEN_CACHE_DIR": f"{link}/deep/../cache"}
    tool("build", tool.source(kernel()), VIZGEN_CACHE_DIR=f"{link}/deep/cache")
    assert tool.build(**env)["value"] == "42"
    assert (real / "cache").is_dir()
    loop = tool.folder / "loop"
    loop.symlink_to("loop")
    refused(tool, "symlinks", VIZGEN_CACHE_DIR=f"{loop}/cache")
    if IS_ROOT:
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
        refused(tool, "another user", **env)


def test_cache_that_is_a_file(tool):
    tool.cache.write_text("hello")
    refused(tool, "not a directory")
    assert tool.cache.read_text() == "hello"


def parts_of(tool):
    """Paths of the one entry by name."""
    (entry,) = tool.entries()
    return {"shard": entry.parent, "entry": entry, "so": entry / "kernel.so",
            "manifest": entry / "manifest"}


@pytest.mark.parametrize("part", ["shard", "entry", "so", "manifest"])
def test_symlinks_inside_the_cache(tool, part):
    tool.build()
    path = parts_of(tool)[part]
    target = tool.folder / "target"
    path.rename(target)
    before = {p: p.read_bytes() for p in [target, *target.rglob("*")] if p.is_file()}
    path.symlink_to(target)
    assert tool.build()["from_cache"] == "0"
    assert tool.build()["value"] == "42"
    after = {p: p.read_bytes() for p in [target, *target.rglob("*")] if p.is_file()}
    assert before == after


def test_symlinks_as_lock_and_temporary(tool):
    """A lock's name is known beforehand; whatever lies there is not touched."""
    victim = tool.folder / "victim"
    victim.write_text("precious")
    key = tool.build()["key"]
    tool("clear")
    lock = tool.cache / f"lock-{key[:40]}"
    for make in (lambda: lock.symlink_to(victim), lambda: os.mkfifo(lock), lock.mkdir):
        make()
        assert tool.build()["value"] == "42"
        tool("clear")
        if lock.is_dir() and not lock.is_symlink():
            lock.rmdir()
        else:
            lock.unlink(missing_ok=True)
    assert victim.read_text() == "precious"


def bad_entry_is_replaced(tool):
    assert tool("verify")["bad"] == "1"
    got = tool.build()
    assert got["value"] == "42" and got["from_cache"] == "0"
    assert tool.build()["from_cache"] == "1"
    assert tool("verify")["bad"] == "0"


def test_hard_links_and_modes_of_files(tool):
    tool.build()
    parts = parts_of(tool)
    os.link(parts["so"], tool.folder / "second name")
    bad_entry_is_replaced(tool)
    for name in ("so", "manifest"):
        parts[name].chmod(0o666)
        bad_entry_is_replaced(tool)
        parts[name].unlink()
        os.mkfifo(parts[name])
        bad_entry_is_replaced(tool)
        parts[name].unlink()
        bad_entry_is_replaced(tool)
    if IS_ROOT:
        os.chown(parts["so"], NOBODY, NOBODY)
        bad_entry_is_replaced(tool)


def test_every_cut_is_found(tool):
    tool.build()
    so = parts_of(tool)["so"]
    data = so.read_bytes()
    for n in range(0, len(data), 64):
        os.truncate(so, n)
        assert tool("verify")["bad"] == "1", n
        so.write_bytes(data)
    so.write_bytes(data + b"\0")
    bad_entry_is_replaced(tool)
    os.truncate(so, len(data) // 2)
    bad_entry_is_replaced(tool)


def test_flipped_bits_are_found(tool):
    tool.build()
    so = parts_of(tool)["so"]
    data = so.read_bytes()
    chance = random.Random(5)
    for _ in range(100):
        bad = bytearray(data)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        so.write_bytes(bad)
        assert tool("verify")["bad"] == "1"
    so.write_bytes(bytes(4096) + data[4096:])
    bad_entry_is_replaced(tool)


def test_exchanged_entries_are_found(tool):
    one = tool.build(kernel(1))["key"]
    two = tool.build(kernel(2))["key"]
    a = tool.cache / one[:2] / one[2:]
    b = tool.cache / two[:2] / two[2:]
    keep = tool.folder / "keep"
    a.rename(keep)
    b.rename(a)
    keep.rename(b)
    assert tool("verify")["bad"] == "2"
    assert tool.build(kernel(1))["value"] == "1"
    assert tool.build(kernel(2))["value"] == "2"
    so = (tool.cache / one[:2] / one[2:] / "kernel.so").read_bytes()
    (tool.cache / two[:2] / two[2:] / "kernel.so").write_bytes(so)
    assert tool("verify")["bad"] == "1"
    assert tool.build(kernel(2))["value"] == "2"


@pytest.mark.parametrize("change", [
    ("vizgen-entry 1", "vizgen-entry 2"), ("vizgen-entry 1", "vizgen-entry 0"),
    ("features ", "features -mno-such-thing "), ("features ", "features -mavx512er "),
    (f"abi {abi()}", f"abi {abi() + 1}"), ("size ", "size 0"), ("size ", "size 9"),
])
def test_manifests_that_are_well_formed_but_wrong(tool, change):
    """With a right checksum: other formats, other CPUs, other ABIs."""
    tool.build()
    path = parts_of(tool)["manifest"]
    text = path.read_text().replace(*change)
    text = text[:text.index("check ")]
    text += f"check {hashlib.sha256(text.encode()).hexdigest()}\n"
    path.write_text(text)
    bad_entry_is_replaced(tool)


def test_foreign_files_are_left_alone(tool):
    tool.build()
    strange = tool.cache / "bomb.pickle"
    strange.write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    (tool.cache / "zz").mkdir()
    assert tool.build()["from_cache"] == "1"
    tool("clear")
    assert strange.exists() and not (tool.folder / "pwned").exists()


# --- Several at once, and killed ----------------------------------------------

def counting(tool):
    """A compiler that leaves a line per compilation."""
    log = tool.folder / "log"
    log.touch()
    path = tool.folder / "counting-gcc"
    path.write_text(f'#!/bin/sh\ncase "$*" in *k.so*) echo x >> {log};; esac\n'
                    'exec gcc "$@"\n')
    path.chmod(0o755)
    return str(path), log


def test_processes_compile_a_key_once(tool):
    compiler, log = counting(tool)
    env = {**tool.env, "VIZGEN_CC": compiler}
    tool("find", VIZGEN_CC=compiler)
    path = tool.source(kernel())
    children = [subprocess.Popen(tool.command("build", path), env=env,
                                 stdout=subprocess.PIPE, text=True)
                for _ in range(8)]
    texts = [child.communicate(timeout=60)[0] for child in children]
    assert all("value 42\n" in text for text in texts)
    assert log.read_text().count("x") == 1
    assert not tool.temps() and len(tool.entries()) == 1


def test_threads_compile_a_key_once(tool):
    compiler, log = counting(tool)
    got = tool("at-once", tool.source(kernel()), VIZGEN_CC=compiler)
    assert got["same"] == "8" and got["loaded"] == "1"
    assert log.read_text().count("x") == 1
    bad = tool("at-once", tool.source("int x = ;"), VIZGEN_CC=compiler)
    assert bad["same"] == "8" and "loaded" not in bad


def test_fork_while_another_thread_builds(tool):
    slow = tool.fake('sleep 0.2; exec gcc "$@"')
    got = tool("forked", tool.source(kernel()), VIZGEN_CC=slow)
    assert got == {"child": "0", "parent": "1"}


def test_every_kernel_is_itself(tool):
    """The dynamic loader goes by names: no two loads may share one."""
    assert tool("many", 40) == {"good": "40", "leaked": "0"}
    assert tool("many", 40) == {"good": "40", "leaked": "0"}
    assert tool("again", tool.source(kernel()))["same"] == "1"


def test_dead_lock_holder_and_live_one(tool):
    key = tool.build()["key"]
    tool("clear")
    lock = tool.cache / f"lock-{key[:40]}"
    lock.touch(mode=0o600)  # left by a killed process: nobody holds it
    begin = time.monotonic()
    assert tool.build()["value"] == "42"
    assert time.monotonic() - begin < 5
    tool("clear")
    holder = subprocess.Popen(["flock", str(lock), "sleep", "30"])
    try:
        time.sleep(0.1)
        assert tool.build(VIZGEN_CC_TIMEOUT="0.5")["value"] == "42"
    finally:
        holder.kill()
        holder.wait()


def test_killed_at_any_moment(tool):
    tool("find")
    chance = random.Random(11)
    for number in range(40):
        path = tool.source(kernel(number), f"k{number}.c")
        child = subprocess.Popen(tool.command("build", path), env=tool.env,
                                 stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.05))
        child.kill()
        child.wait()
    assert tool("verify")["bad"] == "0"
    for number in range(0, 40, 8):
        assert tool.build(kernel(number))["value"] == str(number)


def test_leftovers_are_collected(tool):
    tool.build()
    past = time.time() - 7200
    for where, name in ((tool.cache, "tmp-old"), (tool.temp, "vizgen-cc-old")):
        (where / name / "deep").mkdir(parents=True)
        (where / name / "deep" / "file").touch()
        os.utime(where / name, (past, past))
    (tool.cache / "lock-old").touch()
    os.utime(tool.cache / "lock-old", (past, past))
    (tool.cache / "tmp-new").mkdir()
    outside = tool.folder / "outside"
    outside.mkdir()
    (outside / "file").touch()
    (tool.cache / "tmp-old" / "link").symlink_to(outside)
    os.utime(tool.cache / "tmp-old", (past, past))
    tool.build(kernel(1))
    assert [p.name for p in tool.temps()] == ["tmp-new"]
    assert not list(tool.temp.iterdir()) and (outside / "file").exists()


def test_size_limit(tool):
    keys = []
    for number in range(6):
        keys.append(tool.build(kernel(number), VIZGEN_CACHE_MB="0.03")["key"])
        for age, entry in enumerate(reversed(keys)):
            path = tool.cache / entry[:2] / entry[2:]
            if path.exists():
                os.utime(path, (time.time() - 1000 * age - 1000,) * 2)
    left = [key for key in keys if (tool.cache / key[:2] / key[2:]).exists()]
    assert left and left == keys[-len(left):]
    assert int(tool("info")["bytes"]) <= 0.03 * 2**20


def test_entries_are_looked_at_once_in_many_publishes(tool):
    # 1 MB: every 16th.
    big = tool.cache / "00" / ("a" * 62)
    tool.build(kernel(0), VIZGEN_CACHE_MB="1")
    big.mkdir(parents=True)
    (big / "kernel.so").write_bytes(bytes(2 << 20))
    count = tool.cache / "published"
    assert count.read_bytes() == b"."
    tool.build(kernel(1), VIZGEN_CACHE_MB="1")
    assert count.read_bytes() == b".." and big.exists()
    count.write_bytes(b"." * 15)
    tool.build(kernel(2), VIZGEN_CACHE_MB="1")
    assert count.read_bytes() == b"" and not big.exists()
    count.unlink()
    count.symlink_to(tool.folder / "elsewhere")  # not followed: always scans
    big.mkdir()
    (big / "kernel.so").write_bytes(bytes(2 << 20))
    tool.build(kernel(3), VIZGEN_CACHE_MB="1")
    assert not big.exists() and not (tool.folder / "elsewhere").exists()


# --- Where nothing can be written ---------------------------------------------

@pytest.fixture
def public():
    """A folder any user may read, with the program in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vizgen-test-", dir="/tmp"))
    folder.chmod(0o755)
    shutil.copy(programs()["run_tool"], folder / "run_tool")
    (folder / "run_tool").chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@needs_root
def test_read_only_cache(public):
    """By a user whom modes bind, which root is not."""
    tool = Tool(public / "run_tool", public)
    tool.temp.chmod(0o1777)
    path = tool.source(kernel())
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    tool.cache.mkdir(mode=0o700)
    os.chown(tool.cache, NOBODY, NOBODY)
    assert tool("build", path, options=as_nobody)["value"] == "42"
    tool.cache.chmod(0o500)
    got = tool("build", path, options=as_nobody)
    assert got["from_cache"] == "1"
    path.write_text(kernel(43))
    for _ in range(2):
        got = tool("build", path, options=as_nobody)
        assert (got["value"], got["from_cache"]) == ("43", "0")
    tool.cache.chmod(0o000)
    info = tool("info", options=as_nobody)
    assert info["dir"] == "" and "Permission denied" in info["why"]
    assert tool("build", path, options=as_nobody)["value"] == "43"


@needs_root
def test_user_without_a_home(public):
    tool = Tool(public / "run_tool", public)
    tool.temp.chmod(0o1777)
    path = tool.source(kernel())
    stranger = {"user": 54321, "group": 54321, "extra_groups": []}
    env = {"VIZGEN_CACHE_DIR": "", "HOME": ""}
    info = tool("info", options=stranger, **env)
    assert info["dir"] == "" and "home" in info["why"]
    assert tool("build", path, options=stranger, **env)["value"] == "42"


@needs_root
@pytest.mark.parametrize("options", ["size=16k", "ro", "noexec", "size=16k,noexec"])
def test_mounts(tool, options):
    """Full, read-only and noexec file systems, as cache and as TMPDIR."""
    mount = tool.folder / "mount"
    mount.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(mount)],
                          capture_output=True)
    if done.returncode:
        pytest.skip("can't mount here")
    try:
        env = {"VIZGEN_CACHE_DIR": str(mount / "cache")}
        assert tool.build(**env)["value"] == "42"
        got = tool.build(**env)
        assert got["value"] == "42"
        assert got["from_cache"] == ("1" if options == "noexec" else "0")
        assert tool("verify", **env)["bad"] == "0"
        got = tool.build(TMPDIR=str(mount))
        assert "value" in got or "error" in got
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_few_file_descriptors(tool):
    path = tool.source(kernel())
    for _ in range(2):
        for most in range(3, 20):
            got = tool("limited", path, most)
            assert got.get("value") == "42" or got["error"], most
        tool("build", path)
    assert tool("verify")["bad"] == "0"


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>
static int count;
static int fails(void)
{
    const char *nth = getenv("FAIL_NTH");
    if (!nth || ++count != atoi(nth)) return 0;
    errno = atoi(getenv("FAIL_ERRNO"));
    return 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(type, name, params, args) \
    type name params { return fails() ? (type)-1 : REAL(name) args; }
int openat(int, const char *, int, ...);
int openat(int d, const char *p, int f, ...)
{
    va_list a; va_start(a, f); mode_t m = va_arg(a, mode_t); va_end(a);
    return fails() ? -1 : REAL(openat)(d, p, f, m);
}
int open(const char *, int, ...);
int open(const char *p, int f, ...)
{
    va_list a; va_start(a, f); mode_t m = va_arg(a, mode_t); va_end(a);
    return fails() ? -1 : REAL(open)(p, f, m);
}
struct stat;
WRAP(int, mkdirat, (int d, const char *p, mode_t m), (d, p, m))
WRAP(int, renameat, (int a, const char *p, int b, const char *q), (a, p, b, q))
WRAP(int, unlinkat, (int d, const char *p, int f), (d, p, f))
WRAP(int, fsync, (int f), (f))
WRAP(int, flock, (int f, int o), (f, o))
WRAP(int, memfd_create, (const char *n, unsigned f), (n, f))
WRAP(int, pipe2, (int *p, int f), (p, f))
WRAP(int, fchdir, (int f), (f))
WRAP(int, fstat, (int f, struct stat *s), (f, s))
WRAP(int, fstatat, (int d, const char *p, struct stat *s, int f), (d, p, s, f))
WRAP(ssize_t, write, (int f, const void *p, size_t n), (f, p, n))
WRAP(ssize_t, read, (int f, void *p, size_t n), (f, p, n))
WRAP(ssize_t, getrandom, (void *p, size_t n, unsigned f), (p, n, f))
"""


def test_every_call_may_fail(tool):
    """One failing system call: the right value or a clean error, no torn
    entry, and all is well again in the next process."""
    source = tool.source(SHIM, "shim.c")
    shim = tool.folder / "shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", str(source), "-o", str(shim)],
                   check=True)
    path = tool.source(kernel())
    errors = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE]
    values = 0
    for nth in range(1, 112):
        if nth % 2:
            tool("clear")
        got = tool("build", path, LD_PRELOAD=str(shim), FAIL_NTH=str(nth),
                   FAIL_ERRNO=str(errors[nth % 5]))
        assert got.get("value") == "42" or got["error"].strip(), nth
        values += "value" in got
        assert tool("verify")["bad"] == "0", nth
    assert values > 75
    assert tool.build()["value"] == "42"
    assert tool.build()["from_cache"] == "1"


def test_standard_files_closed(tool):
    closed = {"preexec_fn": lambda: (os.close(0), os.close(2))}
    assert tool("build", tool.source(kernel()), options=closed)["value"] == "42"


def test_cache_removed_between(tool):
    assert tool.build()["value"] == "42"
    shutil.rmtree(tool.cache)
    assert tool.build()["from_cache"] == "0"
    assert tool.build()["from_cache"] == "1"
