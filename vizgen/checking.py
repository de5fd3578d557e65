"""VIZGEN_CHECK=1: every native call also runs in Python and is compared.

The caller gets what Python made; a difference in results, exceptions or
effects on arguments and global arrays is a MismatchError, and the arguments
are kept in a file.
"""

import os
import sys
import tempfile

import numpy as np

from .compare import clone, difference, stream_state
from .errors import MismatchError


class Outcome:
    """What a call did: result or exception, and the arrays afterwards."""

    def __init__(self, function, args, kwargs, arrays):
        self.result = self.error = None
        try:
            self.result = function(*args, **kwargs)
        except Exception as error:
            self.error = error
        self.after = args, kwargs, arrays


def call(function, args, kwargs):
    """The call of an accelerated function under VIZGEN_CHECK."""
    arrays = function._hidden()
    streams = _Streams()
    arrays = tuple(array for array in arrays if id(array) not in streams.memory)
    before = clone((args, kwargs, arrays))
    native = Outcome(function._call, *clone((args, kwargs)), arrays)
    native.after = native.after[:2] + clone((arrays,))
    _restore(arrays, before[2])
    drawn = streams.restore()
    python = Outcome(function.py_func, args, kwargs, arrays)
    words = _difference(native, python) or difference(
        drawn, streams.states(), "random generators")
    if words:
        saved = _save(function, before)
        where = f"; arguments in {saved}" if saved else ""
        raise MismatchError(f"`{function.py_func.__qualname__}`: {words}{where}",
                            saved)
    if python.error is not None:
        raise python.error
    return python.result


class _Streams:
    """The random generators that native code has views of, and their states at
    the beginning."""

    def __init__(self):
        module = sys.modules.get("vizgen.library.streams")
        self.sources = module.sources() if module else []
        self.memory = module.memory() if module else ()
        self.before = self.states()

    def states(self):
        return [stream_state(source) for source in self.sources]

    def restore(self):
        """Back to the beginning; what they were."""
        after = self.states()
        for source, state in zip(self.sources, self.before):
            if hasattr(source, "bit_generator"):
                source.bit_generator.state = state
            else:
                source.set_state(state)
        return after


def _restore(arrays, old):
    for array, values in zip(arrays, old):
        if array.flags.writeable:
            array[...] = values


def _difference(native, python):
    if type(native.error) is not type(python.error):
        return f"raised {native.error!r} instead of {python.error!r}"
    if python.error is None:
        words = difference(native.result, python.result)
        if words:
            return words
    after = native.after[:2] + (tuple(native.after[2]),)
    wanted = python.after[:2] + (tuple(python.after[2]),)
    return difference(after, wanted, "arguments afterwards")


def _save(function, before):
    """Write the arguments to an .npz file; its path, or None."""
    args, kwargs, arrays = before
    values = {f"arg{k}": value for k, value in enumerate(args)}
    values.update((f"arg_{name}", value) for name, value in kwargs.items())
    values.update((f"global{k}", value) for k, value in enumerate(arrays))
    kept = {name: value for name, value in values.items()
            if isinstance(value, (bool, int, float, np.generic, np.ndarray))}
    try:
        handle, path = tempfile.mkstemp(
            prefix=f"vizgen-{function.py_func.__name__.strip('<>')}-",
            suffix=".npz")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **kept)
    except OSError:
        return None
    return path
