"""What several tests need: loading applications, layouts of arguments,
comparing a call with CPython's."""
import importlib
import pathlib
import sys
import warnings

import numpy as np

import vizgen
from vizgen.compare import clone, difference

ROOT = pathlib.Path(__file__).resolve().parent.parent
APPS = ROOT / "apps"


def app(name):
    """The module of an application."""
    if str(APPS) not in sys.path:
        sys.path.insert(0, str(APPS))
    return importlib.import_module(name)


def layouts(array):
    """{name: an array equal to 'array'} in every way memory can lie."""
    def inside(shape, key):
        whole = np.zeros(shape, array.dtype)
        view = whole[key]
        view[...] = array
        return view

    rows, cols = array.shape[:2]
    rest = array.shape[2:]
    turned = np.ascontiguousarray(np.swapaxes(array, 0, 1))
    return {
        "c": np.ascontiguousarray(array),
        "fortran": np.asfortranarray(array),
        "transposed": np.swapaxes(turned, 0, 1),
        "rows reversed": inside(array.shape, np.s_[::-1]),
        "columns reversed": inside(array.shape, np.s_[:, ::-1]),
        "every second": inside((2 * rows + 1, 2 * cols + 1, *rest),
                               np.s_[:2 * rows:2, :2 * cols:2]),
        "inner part": inside((rows + 3, cols + 2, *rest),
                             np.s_[2:rows + 2, 1:cols + 1]),
    }


def outcome(fn, args):
    """(result, exception, arguments afterwards, kinds of warnings)."""
    args = clone(args)
    result = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = fn(*args)
        except Exception as raised:
            error = raised
    kinds = {(w.category, str(w.message).split(" encountered")[0])
             for w in caught}
    return result, error, args, kinds


def user_lines(error):
    """The lines of an exception's traceback, outermost first, without the
    frames of this file."""
    lines, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != __file__:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines


def assert_same(fn, args, native=True):
    """'fn', an accelerated function, does with 'args' what Python does; where
    'native', without entering the interpreter."""
    want, want_error, want_args, want_kinds = outcome(fn.py_func, args)
    before = fn.stats
    got, error, got_args, kinds = outcome(fn, args)
    kinds = {k for k in kinds if k[0] is not vizgen.FallbackWarning}
    assert type(error) is type(want_error), (error, want_error)
    if error is not None:
        assert str(error) == str(want_error)
        assert user_lines(error) == user_lines(want_error)
    words = (difference((got,), (want,))
             or difference(got_args, want_args, "arguments"))
    assert words is None, words
    assert kinds == want_kinds
    if native:
        after = fn.stats
        assert after.native_calls == before.native_calls + 1, after
        assert after.python_calls == before.python_calls, after
    return got
