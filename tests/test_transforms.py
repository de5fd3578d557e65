"""Transforms that can be switched off, and the table of what each is worth."""
import math
import pathlib
import re

import numpy as np
import pytest

from bench import rows, transforms
from vizgen import _core, accelerate

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEEDED = {"exits", "ssa", "checks", "schedule", "commit"}


def test_every_pass_but_the_needed_ones_has_a_switch():
    text = (ROOT / "transforms" / "passes.def").read_text()
    rows = re.findall(r"^PASS\('\w',\s+(\w+),\s+\w+,\s+\w+,\s+'(.)'", text,
                      re.M)
    passes = [name for name, mode in rows if mode != "A"]  # approx= is theirs
    assert {*passes} - NEEDED == {*_core.transforms()} - {"flatten"}


def smooth(a):
    b = np.zeros(a.shape)
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            total = a[y, x]
            if x > 0 and y < h - 1:
                total += a[y + 1, x - 1]
            b[y, x] = total
    return b


@pytest.mark.parametrize("name", _core.transforms())
def test_a_switch_changes_no_bit(name):
    a = np.random.default_rng(1).random((9, 13))
    fn = accelerate(smooth)
    fn._set_variant(f"{name}=0")
    assert fn(a).tobytes() == smooth(a).tobytes()
    assert (fn.stats.native_calls, fn.stats.python_calls) == (1, 0)


def test_table_of_a_row(monkeypatch):
    monkeypatch.setenv("VIZGEN_TRIALS", "0")
    row = rows.Row("small", "-", "-", lambda: (np.ones((20, 30)),), 1)
    monkeypatch.setattr(rows.Row, "fn", accelerate(smooth))
    ratios, seconds = transforms.measure(row, 2)
    assert seconds > 0 and set(ratios) == set(_core.transforms())
    assert ratios["pipes"] is None, "there is nothing to fuse"
    assert ratios["parallel"] > 0
    assert [transforms.cell(r) for r in (None, math.nan, 1.5)] \
        == [".", "x", "1.50"]
