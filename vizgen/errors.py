"""The exceptions and warnings of vizgen, and the counters of a function."""

import collections

Stats = collections.namedtuple(
    "Stats",
    "native_calls mixed_calls python_calls replays compiles cache_hits"
    " compile_seconds",
)


class CompileError(Exception):
    """A function can't be compiled, under strict=True or VIZGEN_STRICT=1.

    code         the diagnostic's stable name, such as "VZ-2003"
    diagnostics  all refusals: dicts with code, message, file, line, col
    """

    def __init__(self, text, code=None, diagnostics=()):
        super().__init__(text)
        self.code = code
        self.diagnostics = list(diagnostics)

    def __reduce__(self):
        return type(self), (self.args[0], self.code, self.diagnostics)


class FallbackWarning(UserWarning):
    """A function runs in Python; the text says why and where."""


class MismatchError(AssertionError):
    """Under VIZGEN_CHECK=1: native and Python results differ.

    saved  path of the .npz file that holds the arguments, or None
    """

    def __init__(self, text, saved=None):
        super().__init__(text)
        self.saved = saved
