"""What the tests of csrc/run need: its test programs, built once, and
run_tool with an environment and a cache of its own."""
import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
SANITIZED = ("run_sha", "run_manifest", "run_undo")
CC = ["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{ROOT}", "-fopenmp", "-g"]

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
needs_root = pytest.mark.skipif(not IS_ROOT, reason="needs root to give away files")

KERNEL = """
typedef struct { const void *a, *b; long *out; } C;
#define EXPORT __attribute__((visibility("default")))
EXPORT const unsigned vz_abi = %(abi)d;
EXPORT int vz_kernel(C *c) { %(body)s return 0; }
"""


def abi():
    text = (ROOT / "csrc/run/abi.h").read_text()
    return int(re.search(r"#define VZ_ABI (\d+)", text)[1])


def kernel(value=42, body=""):
    """A translation unit whose kernel gives 'value'."""
    return KERNEL % {"abi": abi(), "body": f"{body} c->out[0] = {value};"}


def compile_objects(folder, flags):
    """The objects of csrc/run and what it needs, two at a time."""
    folder.mkdir()
    sources = sorted((ROOT / "csrc/run").glob("*.c"))
    sources += [ROOT / "csrc/base" / name
                for name in ("arena.c", "clock.c", "str.c", "sum.c")]
    objects = [folder / (path.stem + ".o") for path in sources]

    def one(pair):
        subprocess.run([*CC, *flags, "-c", str(pair[0]), "-o", str(pair[1])],
                       check=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, zip(sources, objects)))
    return objects


@functools.cache
def keep():
    """A folder that lives as long as the test process."""
    return tempfile.TemporaryDirectory(prefix="vizgen-programs-")


@functools.cache
def programs():
    """{name: path} of the programs of tests/unit/run_*.c."""
    folder = pathlib.Path(keep().name)
    sets = {}
    result = {}
    for path in sorted((ROOT / "tests/unit").glob("run_*.c")):
        flags = ("-O1",)
        if path.stem in SANITIZED:
            flags = ("-O1", "-fsanitize=address,undefined",
                     "-fno-sanitize-recover=undefined")
        if flags not in sets:
            sets[flags] = compile_objects(folder / str(len(sets)), flags)
        result[path.stem] = folder / path.stem
        subprocess.run([*CC, *flags, str(path), *map(str, sets[flags]), "-lm",
                        "-ldl", "-o", str(result[path.stem])], check=True)
    return result


class Tool:
    """run_tool with an environment and a cache of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.cache = folder / "cache"
        self.temp = folder / "temp"
        self.temp.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder),
                    "TMPDIR": str(self.temp),
                    "VIZGEN_CACHE_DIR": str(self.cache)}

    def command(self, *args):
        return [str(self.program), *map(str, args)]

    def __call__(self, *args, timeout=30, options=None, **env):
        """Its output as {name: value}; an error's text may have lines."""
        done = subprocess.run(
            self.command(*args), env={**self.env, **env}, timeout=timeout,
            capture_output=True, cwd=self.folder, **(options or {}))
        text = done.stdout.decode(errors="replace")
        assert done.returncode == 0, (done.returncode, text, done.stderr)
        if text.startswith("error "):
            return {"error": text[6:]}
        return dict(line.partition(" ")[::2] for line in text.splitlines())

    def source(self, text, name="kernel.c"):
        path = self.folder / name
        path.write_text(text)
        return path

    def build(self, text=None, **env):
        return self("build", self.source(text or kernel()), **env)

    def fake(self, script, name="fake-gcc"):
        """A compiler that says it is gcc and then runs 'script'."""
        path = self.folder / name
        path.write_text(
            "#!/bin/sh\n"
            'case "$*" in --version) echo "gcc (fake) 1"; exit 0;; esac\n'
            'case "$*" in *--help=target*) exit 0;; esac\n' + script + "\n")
        path.chmod(0o755)
        return str(path)

    def entries(self):
        return sorted(self.cache.glob("??/*"))

    def temps(self):
        return [*self.cache.glob("tmp-*"), *self.cache.glob("lock-*")]


@pytest.fixture(name="tool")
def tool_fixture(tmp_path):
    """run_tool in a folder of its own."""
    return Tool(programs()["run_tool"], tmp_path)
