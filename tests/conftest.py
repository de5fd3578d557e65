"""Golden programs: tests/golden/*.py hold their own expectations.

A program defines `run(...)`, accelerated, and `arguments()`.  Below it stand
blocks in comments, each of which becomes a test:

    # >>> remark          # >>> count           # >>> run         # >>> stats
    # 12  VZ-3001         # check 0  par 1      # 3.5             # native_calls 1
    # <<<                 # <<<                 # <<<             # <<<

remark   lines of the source with the codes the compiler left there
count    words of the generated C and how often they occur
run      what main() prints
stats    counters after one call

--update-golden rewrites the blocks; read the difference before committing.

Most of the time of the tests is the C compiler's.  So tests with many costly
parameters are marked as sampled, and kernels are compiled by -O1 except where
a test asks for the usual compiler.  With VIZGEN_FULL=1 neither is so.
"""
import collections
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests import FULL
from tests.fuzz import soak

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
BLOCK = re.compile(r"^# >>> (\w+)\n((?:#.*\n)*?)# <<<$", re.M)


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true",
                     help="rewrite the expectations in tests/golden")


# Tests count native calls; tests/test_trial.py takes it away again.
os.environ["VIZGEN_TRIALS"] = "0"


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """Tests neither read nor fill the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("VIZGEN_CACHE_DIR")
    os.environ["VIZGEN_CACHE_DIR"] = str(folder)
    yield folder
    if before is None:
        del os.environ["VIZGEN_CACHE_DIR"]
    else:
        os.environ["VIZGEN_CACHE_DIR"] = before


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "sampled(n): of the test's parameters, one in n, and of "
        "combinations of several each value; all with VIZGEN_FULL=1")


def sampled_part(items, n):
    """One in 'n' of a test's items.  Where they are combinations of several
    parameters, each value is met, and the places shift with each turn."""
    indices = [item.callspec.indices for item in items]
    length = {name: len({at[name] for at in indices}) for name in indices[0]}
    met, taken = set(), []
    for number, (item, at) in enumerate(zip(items, indices)):
        values = {(name, k) for name, k in at.items()
                  if length[name] < len(items)}
        if values - met or (number + number // n) % n == 0:
            taken.append(item)
            met |= values
    return taken


def pytest_collection_modifyitems(config, items):
    tests = collections.defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and not FULL:
            tests[item.nodeid.split("[")[0], mark.args[0]].append(item)
    left = set()
    for (_, n), part in tests.items():
        left.update(set(part).difference(sampled_part(part, n)))
    if left and "::" not in " ".join(config.args):  # a test asked for by name
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session", autouse=True)
def quick_compiler(tmp_path_factory):
    """gcc with -O1 last, which takes three quarters of the time; loops marked
    as SIMD are vectorised still."""
    chosen = os.environ.get("VIZGEN_CC") or os.environ.get("CC")
    path = None
    if not FULL and not chosen:
        path = soak.write_quick_compiler(tmp_path_factory.mktemp("compiler"))
    if path is None:
        yield None
        return
    os.environ["VIZGEN_CC"] = path
    yield path
    os.environ.pop("VIZGEN_CC", None)


@pytest.fixture
def usual_compiler(monkeypatch, quick_compiler):
    """For tests of compilers, and of how fast kernels are."""
    if quick_compiler:
        monkeypatch.delenv("VIZGEN_CC")


def pytest_collect_file(file_path, parent):
    if file_path.parent == GOLDEN and file_path.suffix == ".py" \
            and not file_path.name.startswith("_"):
        return GoldenFile.from_parent(parent, path=file_path)
    return None


class GoldenFile(pytest.File):
    """One program; it runs once, in a process of its own."""

    _report = None

    def collect(self):
        for match in BLOCK.finditer(self.path.read_text()):
            want = [line[1:].strip() for line in match[2].splitlines()]
            item = GoldenItem.from_parent(self, name=match[1])
            item.want = want
            yield item

    def report(self):
        if self._report is None:
            done = subprocess.run(
                [sys.executable, "-m", "tests.golden._report",
                 str(self.path)], cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                raise AssertionError(done.stdout + done.stderr)
            self._report = json.loads(done.stdout.splitlines()[-1])
        return self._report


class GoldenItem(pytest.Item):
    """One block."""

    want = ()

    def runtest(self):
        got = self.parent.report()[self.name]
        if self.name == "count":
            got = self._counts(got)
        elif self.name == "stats":
            wanted = [line.split()[0] for line in self.want]
            got = [f"{name} {got[name]}" for name in wanted or sorted(got)]
        if got == self.want:
            return
        if self.config.getoption("--update-golden"):
            self._rewrite(got)
            return
        raise Differs("\n".join(difflib.unified_diff(
            self.want, got, "expected", "got", lineterm="")))

    def _counts(self, text):
        """The counted words are those that the block names."""
        lines = []
        for line in self.want:
            words = re.findall(r"(\S+) \d+", line)
            lines.append("  ".join(
                f"{word} {len(re.findall(rf'{re.escape(word)}', text))}"
                for word in words))
        return lines

    def _rewrite(self, lines):
        body = "".join(f"# {line}".rstrip() + "\n" for line in lines)

        def replace(match):
            if match[1] != self.name:
                return match[0]
            return f"# >>> {self.name}\n{body}# <<<"
        text = self.path.read_text()
        self.path.write_text(BLOCK.sub(replace, text))

    def repr_failure(self, excinfo):
        if isinstance(excinfo.value, (Differs, AssertionError)):
            return f"{self.path.name}: {self.name}\n{excinfo.value}"
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, f"{self.path.name}::{self.name}"


class Differs(Exception):
    """What a block expects and what is there differ."""
