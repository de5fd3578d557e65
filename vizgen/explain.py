"""`vizgen explain`: what was done to a function, or a diagnostic's page."""
import os
import sys

from vizgen import _core, runner


def page(code):
    """The text about a diagnostic; None when there is none."""
    try:
        _, title, text = _core.page(code)
    except KeyError:
        return None
    return f"{code}: {title}\n\n{text}"


def index():
    """All diagnostics by code and title."""
    return "\n".join("  ".join(_core.page(code)[:2]) for code in _core.codes())


def explain(path, name, argv, say):
    """Run the program's workload and say what became of its accelerated
    functions, or of function 'name'.  Returns the exit status."""
    try:
        module = load_workload(path, argv)
    except OSError as error:
        print(f"vizgen: can't open file {path!r}: {error.strerror}",
              file=sys.stderr)
        return 2
    except SyntaxError as error:
        error.__traceback__ = None
        sys.excepthook(type(error), error, None)
        return 1
    chosen = {key: value for key, value in vars(module).items()
              if isinstance(value, _core.Accelerated)
              and name in (None, key)}
    if not chosen:
        what = f"function {name!r}" if name else "function"
        print(f"vizgen: {path} has no accelerated {what}", file=sys.stderr)
        return 2
    for value in dict.fromkeys(chosen.values()):
        say(value.explain())
    return 0


def load_workload(path, argv):
    """Run the program, and its test() if it has one, with its output on
    standard error.  Returns its module."""
    code = runner.load(path)
    has_test = any(getattr(const, "co_name", "") == "test"
                   for const in code.co_consts)
    stem = os.path.splitext(os.path.basename(path))[0]
    module = runner.prepare(path, argv, stem if has_test else "__main__")
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        exec(code, module.__dict__)
        if has_test:
            module.test()
    except SystemExit:
        pass
    finally:
        sys.stdout = out
    return module
