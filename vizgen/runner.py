"""Running a user's program as Python itself would.

`vizgen run app.py ARGS` and the worker of `vizgen tune` start programs here:
the same `__name__`, `sys.argv`, `sys.path[0]`, exit status and tracebacks as
`python app.py ARGS`, none of vizgen's own frames among them.
"""
import builtins
import io
import os
import sys
import types


def load(path):
    """The compiled program in the file 'path'.  OSError or SyntaxError."""
    path = os.path.abspath(path)
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def prepare(path, argv, name="__main__"):
    """Make a module for the program in 'path', as Python's start-up does, and
    put it in sys.modules.  Returns the module."""
    from importlib.machinery import SourceFileLoader

    module = types.ModuleType(name)
    full = os.path.abspath(path)
    module.__dict__.update(
        __file__=full, __builtins__=builtins, __spec__=None,
        __loader__=SourceFileLoader(name, full), __annotations__={},
        __cached__=None)
    sys.modules[name] = module
    sys.argv[:] = [path, *argv]
    folder = os.path.dirname(os.path.realpath(path))
    if not sys.flags.safe_path:
        # 'python -m vizgen' has put the current folder here.
        sys.path[0:1] = [folder]
    return module


def run(path, argv, on_failure=lambda error: None):
    """Run the program and return its exit status.  SystemExit passes
    through; other exceptions are reported as Python reports them, and told
    to 'on_failure'."""
    try:
        code = load(path)
    except OSError as error:
        print(f"vizgen: can't open file {path!r}: {error.strerror}",
              file=sys.stderr)
        return 2
    except SyntaxError as error:
        error.__traceback__ = None
        sys.excepthook(type(error), error, None)
        return 1
    module = prepare(path, argv)
    try:
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except KeyboardInterrupt as error:
        _report(error)
        sys.excepthook = _silent
        raise
    except BaseException as error:
        _report(error)
        on_failure(error)
        return 1
    return 0


def _report(error):
    """Show 'error' through the program's own excepthook, without the frame
    of run() above."""
    trace = error.__traceback__.tb_next
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)


def _silent(*_):
    pass
