"""Other names for memory, and buffers that grow, from passes to C.

tests/ir/name_*.ir and grow_*.ir say what passes make of them and that these
keep their meaning; here the C text of the result is compared with the reference
interpreter, as tests/test_emit.py does for functions written at level 'sched'.
"""
import re
import subprocess

import pytest

from tests import vzopt
from tests.test_emit import compilers, run, tool  # noqa: F401

pytestmark = vzopt.needs_tools

FILES = sorted(path for word in ("name", "grow")
               for path in (vzopt.ROOT / "tests/ir").glob(f"{word}_*.ir"))


def lowered(path, folder, *flags):
    """The function in 'path' after all passes, in a file of its own."""
    done = subprocess.run([vzopt.path(), "--all", *flags, str(path)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    out = folder / f"{path.stem}{''.join(flags)}.ir"
    out.write_text(done.stdout)
    return out


@pytest.mark.parametrize("cc", compilers())
@pytest.mark.parametrize("flags", [[], ["--general"]], ids=" ".join)
def test_passes_and_c(tool, cc, flags, tmp_path):  # noqa: F811
    paths = [lowered(path, tmp_path, *flags) for path in FILES]
    out = run(tool, "--cc", cc, "--seeds", "40", *paths)
    equal = [int(n) for n in re.findall(r"(\d+) equal", out)]
    assert len(equal) == len(FILES)
    assert min(equal) >= 8
