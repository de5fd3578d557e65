"""What the README shows works as shown."""
import pathlib
import re

import numpy as np

from tests.fuzz.harness import load
from tests.support import assert_same

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_first_program(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
    path = tmp_path / "readme.py"
    path.write_text(blocks[0])
    blur = load(path).blur
    assert_same(blur, (np.random.RandomState(0).uniform(size=(20, 30)),))
    assert_same(blur, (np.ones((5, 4, 3)),))


def test_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:^|`)make (\w[\w-]*)", README,
                             re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
    cli = (ROOT / "vizgen" / "cli.py").read_text()
    for command in re.findall(r"-m vizgen (\w+)", README):
        assert f'"{command}"' in cli, command


def test_variables_exist():
    """Every variable of the table is read somewhere, and the other way."""
    folders = ("csrc", "vizgen")
    code = "\n".join(p.read_text() for folder in folders
                     for p in (ROOT / folder).rglob("*")
                     if p.suffix in (".c", ".py"))
    named = set(re.findall(r"`(VIZGEN_[A-Z_]+)", README))
    read = re.findall(r"""(?:getenv\(|environ\.get\(|environ\[)["'](VIZGEN_\w+)""",
                      code)
    for name in named:
        assert name in code, name
    assert set(read) <= named
