"""accelerate: what the decorator does before the C side takes over.

The object it returns, vizgen._core.Accelerated, loads and compiles at the
first call.  The functions with a leading underscore are called from C.  What
every first call needs is imported here, so that it has nothing to wait for; the
rest goes through vizgen.lazy.
"""

import functools
import os
import sys
import types

from . import _core, lazy, source  # noqa: F401

GENERATOR = 0x20
COROUTINE = 0x80 | 0x100 | 0x200  # coroutine, iterable coroutine, async gen


def accelerate(fn=..., *, strict=False, approx=None, target="cpu", threads=None):
    """Compile 'fn' to native code for the argument types it is called with.

    @accelerate, accelerate(f), or with options: @accelerate(strict=True).

    strict   raise vizgen.CompileError instead of running in Python
    approx   None: results are bit for bit Python's; else what need not be, words
             of "fma,reassoc,vecmath,f32", or a bound such as "psnr>=50"
    target   "cpu"
    threads  how many threads to use at most; None: as many as the machine has
    """
    options = dict(strict=strict, approx=approx, target=target, threads=threads)
    _check_options(options)
    if fn is ...:
        return functools.partial(accelerate, **options)
    if isinstance(fn, _core.Accelerated):
        return fn if fn.options == options else accelerate(fn.py_func, **options)
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(accelerate(fn.__func__, **options))
    if isinstance(fn, types.MethodType):
        return types.MethodType(accelerate(fn.__func__, **options), fn.__self__)
    if not callable(fn):
        raise TypeError(f"accelerate() needs a function, not {type(fn).__name__!r}")
    reason = _not_compiled(fn)
    if reason:
        _refuse(fn, reason, strict)
        return fn
    accelerated = _core.Accelerated(fn, options)
    functools.update_wrapper(accelerated, fn)
    return accelerated


def _check_options(options):
    threads = options["threads"]
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ValueError("threads must be a positive int or None")
    if options["target"] != "cpu":
        raise ValueError("target must be 'cpu'")
    if options["approx"] is not None:
        if not isinstance(options["approx"], str):
            raise ValueError("approx must be a str or None")
        _core.approx(options["approx"])


def _not_compiled(fn):
    """Why a callable is left as it is; None for an ordinary function."""
    if not isinstance(fn, types.FunctionType):
        kind = "class" if isinstance(fn, type) else type(fn).__name__
        return f"a {kind} is not compiled, only Python functions are"
    if fn.__code__.co_flags & COROUTINE:
        return "async functions are not compiled"
    if fn.__code__.co_flags & GENERATOR:
        return "generators are not compiled"
    return None


def _refuse(fn, reason, strict):
    """Tell that 'fn' is passed through."""
    import warnings

    from .errors import CompileError, FallbackWarning

    code = getattr(fn, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}  " if code else ""
    name = getattr(fn, "__qualname__", type(fn).__name__)
    text = f"{place}VZ-1003  `{name}` is left in Python: {reason}"
    if strict or _core.settings()["strict"]:
        raise CompileError(text, "VZ-1003")
    warnings.warn(FallbackWarning(text), stacklevel=3)


def _reduce(accelerated):
    """__reduce__: the qualified name where that leads back to the object.

    cloudpickle carries functions of __main__ to processes that have another
    __main__, so it is given the function itself.
    """
    module = accelerated.py_func.__module__
    name = accelerated.py_func.__qualname__
    by_value = module == "__main__" and _called_by("cloudpickle")
    if not by_value and _find(module, name) is accelerated:
        return name
    return _rebuild, (accelerated.py_func, accelerated.options)


def _rebuild(py_func, options):
    return accelerate(py_func, **options)


def _find(module, name):
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _called_by(package):
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] == package:
            return True
        frame = frame.f_back
    return False


def _tuned(py_func):
    """(options, compiler) that tuning chose for the function, or None.

    Without a folder of choices, the usual case, nothing more is imported.
    """
    root = os.environ.get("VIZGEN_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "vizgen")
    if not os.path.isdir(os.path.join(root, "tuned")):
        return None
    return lazy.load("vizgen.tuned").choice(py_func)


def _solver():
    """The path of Z3's library in the z3-solver wheel; "" without one."""
    for folder in sys.path:
        path = os.path.join(folder, "z3", "lib", "libz3.so")
        if os.path.isabs(path) and os.path.isfile(path):
            return path
    return ""
