"""Inference and lowering: the language, compared with CPython.

Each program of language.py runs natively for each of its argument lists
(unless it is said to be replayed) and gives what Python gives: value, type,
exception and what it does to its arguments.
"""
import copy
import sys
import warnings

import numpy as np
import pytest

import vizgen
from tests import FULL
from tests.language import PROGRAMS
from vizgen.compare import difference


def outcome(function, args):
    args = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), args
        except Exception as error:
            return type(error).__name__, args


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c[0].__name__)
def test_program(case):
    function, argument_lists, replays, refused = case
    fast = vizgen.accelerate(function)
    for args in argument_lists:
        got, want = outcome(fast, args), outcome(function, args)
        assert difference(got[0], want[0]) is None, args
        assert difference(got[1], want[1]) is None, args
    refusals = [d["refusal"] for d in fast._describe() if d["refusal"]]
    if refused:
        assert refused in refusals[0]
        return
    assert not refusals, refusals[0]
    assert fast.stats.replays == replays


# --- all operators on all kinds of number ---

KINDS = ["bool", "int", "float"] + [
    np.dtype(code).type for code in "?bhilBHILfd"]

EXPRESSIONS = {
    "arithmetic": "(a + b, a * b)",
    "difference": "(a - b,)",
    "comparison": "(a < b, a <= b, a == b, a != b, a > b, a >= b)",
    "bits": "(a & b, a | b, a ^ b)",
    "quotient": "(a / b,)",
    "floor": "(a // b, a % b)",
    "shift": "(a << b, a >> b)",
    "unary": "(-a, abs(a))",
    "conversion": "(float(a), bool(a), not a, np.float32(a))",
    "integer": "(int(a),)",
    "small": "(np.uint8(a),)",
    "square": "(a ** 2,)",
    "rounded": "(math.floor(a), math.ceil(a))",
    "logarithm": "(math.log(a), math.log2(a), math.log10(a))",
}
UNARY = ("unary", "conversion", "integer", "small", "square", "rounded",
         "logarithm")


def sample(kind):
    """Values of a kind, the awkward ones among them."""
    if kind in ("bool", np.bool_):
        convert = bool if kind == "bool" else np.bool_
        return [convert(True), convert(False)]
    if kind == "int":
        return [0, 1, -1, 3, -7, 100, 300, 2 ** 53 + 1, -2 ** 63, 2 ** 63 - 1]
    if kind == "float" or np.dtype(kind).kind == "f":
        convert = float if kind == "float" else kind
        return [convert(x) for x in (0.0, -0.0, 1.5, -2.5, 1e30, np.inf,
                                     np.nan, 250.0)]
    info = np.iinfo(kind)
    return [kind(x) for x in sorted({0, 1, 3, info.min, info.max, 100})]


def write_operators(path):
    """One function for each expression and pair of kinds."""
    lines = ["import math", "import numpy as np"]
    rows = []
    for name, text in EXPRESSIONS.items():
        for i, left in enumerate(KINDS):
            for k, right in enumerate(KINDS[:1] if name in UNARY else KINDS):
                lines += [f"def {name}_{i}_{k}(a, b):", f"    return {text}"]
                rows.append((f"{name}_{i}_{k}", left, right))
    path.write_text("\n".join(lines) + "\n")
    return rows


def is_too_large(name, b):
    return name.startswith("shift") and not -300 < float(b) < 300


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_operators(name, tmp_path, monkeypatch):
    rows = [row for row in write_operators(tmp_path / "operators.py")
            if row[0].startswith(name + "_")]
    rows = rows if FULL else rows[len(name) % 5::5]
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "operators", raising=False)
    module = __import__("operators")
    for function_name, left, right in rows:
        function = getattr(module, function_name)
        fast = vizgen.accelerate(function)
        for a in sample(left):
            for b in sample(right):
                if is_too_large(function_name, b):
                    continue
                got, want = (outcome(f, (a, b))[0] for f in (fast, function))
                assert difference(got, want) is None, (function_name, a, b)
