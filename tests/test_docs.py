"""Every rule of the page of semantics names tests that exist."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "semantics.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/\w+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize("path, name", NAMED)
def test_named_tests_exist(path, name):
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.M)


def test_every_rule_has_a_test():
    rows = [line for line in PAGE.splitlines()
            if line.startswith("|") and "---" not in line
            and not line.startswith("| rule")]
    assert rows and all("::" in row for row in rows)
