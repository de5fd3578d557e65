"""Values that are known while a random program is being written.

A program is written statement by statement, and each statement is run at
once on a copy of the names there are.  What raises, grows without end or
takes too long is dropped, so that what the writer may put together needs no
rules for what is valid: nearly every program runs to its end, and its names
have values whose kinds are known.

`Live` holds those names.  `evaluate` is for expressions, `Live.run` for
statements.
"""
import copy
import math
import sys
import warnings

import numpy as np

MOST_ELEMENTS = 600
MOST_BITS = 100
MOST_LINES = 4000


class TooMuch(Exception):
    """A value or a loop that would grow too large."""


def is_small(value, depth=0):
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    if isinstance(value, np.ndarray):
        return value.size <= MOST_ELEMENTS and value.ndim <= 4
    if isinstance(value, (list, tuple)):
        return (len(value) <= 60 and depth < 3
                and all(is_small(item, depth + 1) for item in value))
    return True


def has_known_kind(value, depth=0):
    """Is it of a kind that programs here work with?"""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "buif" and type(value) is np.ndarray
    if isinstance(value, np.generic):
        return value.dtype.kind in "buif"
    if isinstance(value, (list, tuple)):
        return depth < 2 and all(has_known_kind(item, depth + 1)
                                 for item in value)
    return value is None or isinstance(value, (bool, int, float))


_compiled = {}


def evaluate(text, values):
    """The value of an expression; raises what it raises."""
    code = _compiled.get(text)
    if code is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = _compiled[text] = compile(text, "live", "eval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            value = eval(code, {"np": np, "math": math, **values})
    if not (is_small(value) and has_known_kind(value)):
        raise TooMuch
    return value


class Live:
    """'names' has the values of the names; 'functions' those of helpers."""

    def __init__(self, functions):
        self.functions = functions
        self.names = {}

    def copy(self):
        other = Live(self.functions)
        other.names = copy.deepcopy(self.names)
        return other

    def call(self, text):
        """The value of a helper's call; raises what it raises."""
        after = self.run([f"called = {text}"])
        if after is None:
            raise TooMuch
        return after.names["called"]

    def run(self, lines):
        """This after the statements; None if they raise or exceed a
        limit."""
        names = copy.deepcopy(self.names)
        space = {"np": np, "math": math, "__builtins__": __builtins__,
                 **self.functions, **names}
        own = set(space)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = compile("\n".join(lines), "live", "exec")
                with np.errstate(all="ignore"):
                    _run_limited(code, space)
        except Exception:
            return None
        after = Live(self.functions)
        for name, value in space.items():
            if name in names or name not in own:
                after.names[name] = value
        if all(is_small(v) and (has_known_kind(v) or callable(v))
               for v in after.names.values()):
            return after
        return None


def _run_limited(code, space):
    """exec() that raises TooMuch after many lines or with large values."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        if count > MOST_LINES:
            raise TooMuch
        if count % 4 == 0:
            for name, value in frame.f_locals.items():
                if type(value) in (int, list) and not is_small(value):
                    raise TooMuch(name)
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(code, space)
    finally:
        sys.settrace(before)
