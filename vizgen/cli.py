"""The command line: vizgen run | check | explain | tune | doctor | ...

Results go to standard output, everything else to standard error.  Exit
status: 0 fine, 1 the program failed (`run` passes its own status through),
2 usage, 3 something stayed in Python under --strict, 4 a result differed
from Python's, 5 the tool chain is missing, 130 interrupted.
"""
import argparse
import json
import os
import re
import sys

import vizgen

EXIT_USAGE = 2
EXIT_IN_PYTHON = 3
EXIT_MISMATCH = 4
EXIT_TOOLS = 5
EXIT_INTERRUPTED = 130


def parser():
    top = argparse.ArgumentParser(
        prog="vizgen", description="Plain Python loops at the speed of C.")
    top.add_argument("--version", action="version",
                     version=f"vizgen {vizgen.__version__}")
    commands = top.add_subparsers(dest="command", required=True,
                                  metavar="COMMAND")
    _add_run(commands)
    _add_check(commands)
    _add_explain(commands)
    _add_tune(commands)
    _add_doctor(commands)
    _add_cache(commands)
    demo = commands.add_parser("demo", help="a first look: apps on a photo")
    demo.set_defaults(action=demo_command)
    return top


def _add_run(commands):
    run = commands.add_parser(
        "run", help="run a program, as 'python PROGRAM ARGS' does",
        description="Run a program exactly as 'python PROGRAM ARGS' does.")
    run.add_argument("--strict", action="store_true",
                     help="exit 3 when a function can't be compiled")
    run.add_argument("--check", action="store_true",
                     help="compare every native call with Python; exit 4 "
                          "when one differs")
    run.add_argument("--disable", action="store_true",
                     help="run everything in Python")
    _add_program(run)
    run.set_defaults(action=run_command)


def _add_program(command):
    command.add_argument("program", metavar="PROGRAM")
    command.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER)


def _add_check(commands):
    check = commands.add_parser(
        "check", help="say what can't be compiled, without running the file",
        description="Parse a file and say what in its accelerated functions "
                    "can't be compiled.  Nothing is imported or run, so what "
                    "depends on the types of arguments is not found here; "
                    "'explain' finds it.")
    check.add_argument("program", metavar="PROGRAM")
    check.add_argument("--all", action="store_true",
                       help="check every function, decorated or not")
    check.add_argument("--strict", action="store_true",
                       help="exit 3 when something was found")
    check.add_argument("--json", action="store_true")
    check.set_defaults(action=check_command)


def _add_explain(commands):
    explain = commands.add_parser(
        "explain", help="what was done to a function, or a code's page",
        description="PROGRAM[:FUNCTION] runs the program's workload and says "
                    "what the compiler did and what it could not do; "
                    "VZ-1234 prints the page of a diagnostic, VZ lists them.")
    explain.add_argument("what", metavar="PROGRAM[:FUNCTION] | VZ-CODE | VZ")
    explain.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER)
    explain.set_defaults(action=explain_command)


def _seconds(text):
    match = re.fullmatch(r"([0-9.]+)(s|m|min)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"no duration: {text!r}")
    return float(match[1]) * (60.0 if match[2] in ("m", "min") else 1.0)


def _add_tune(commands):
    tune = commands.add_parser(
        "tune", help="search for the fastest variant and keep it",
        description="Run the program's test() (or the program), try variants "
                    "of its accelerated functions on the calls it makes, and "
                    "keep the fastest that gives Python's result.")
    tune.add_argument("--budget", type=_seconds, default=60.0, metavar="TIME",
                      help="time for the search, such as 30s or 2m "
                           "(default 60s; the Python run is extra)")
    tune.add_argument("--function", metavar="NAME",
                      help="tune this function only")
    tune.add_argument("--resume", action="store_true",
                      help="go on with the last tuning of this program")
    tune.add_argument("--json", action="store_true")
    tune.add_argument("-q", "--quiet", action="store_true",
                      help="no progress")
    tune.add_argument("-v", "--verbose", action="store_true",
                      help="show what the program prints")
    _add_program(tune)
    tune.set_defaults(action=tune_command)


def _add_doctor(commands):
    doctor = commands.add_parser(
        "doctor", help="compiler, threads, prover, processor, cache")
    doctor.add_argument("--json", action="store_true")
    doctor.add_argument("--require", action="append", default=[],
                        metavar="PART", help="exit 5 unless PART is ok")
    doctor.set_defaults(action=doctor_command)


def _add_cache(commands):
    cache = commands.add_parser("cache", help="the folder of compiled code")
    cache.add_argument("what", choices=("dir", "ls", "verify", "clear"))
    cache.set_defaults(action=cache_command)


# --- the commands ----------------------------------------------------------

def _need_environment(wanted):
    """Start anew with the variables 'wanted' set, unless they are: the core
    has read the environment when vizgen was imported."""
    if wanted.items() <= os.environ.items():
        return
    from subprocess import _args_from_interpreter_flags as flags

    sys.stdout.flush()
    os.execve(sys.executable,
              [sys.executable, *flags(), "-m", "vizgen", *sys.argv[1:]],
              {**os.environ, **wanted})


def run_command(options):
    from vizgen import runner

    _need_environment({
        f"VIZGEN_{name.upper()}": "1"
        for name in ("strict", "check", "disable") if getattr(options, name)})
    failure = []
    status = runner.run(options.program, options.args, failure.append)
    if failure and isinstance(failure[0], vizgen.MismatchError):
        return EXIT_MISMATCH
    if failure and isinstance(failure[0], vizgen.CompileError):
        return EXIT_IN_PYTHON
    return status


def check_command(options):
    from vizgen import check

    try:
        found = check.check_file(options.program, options.all)
    except OSError as error:
        return complain(f"can't open file {options.program!r}: "
                        f"{error.strerror}")
    for item in found:
        print(json.dumps(item) if options.json else item["text"])
    if not found and not options.json:
        print(f"{options.program}: nothing found; types are only known when "
              "the program runs")
    if any(item["code"] == "syntax" for item in found):
        return 1
    return EXIT_IN_PYTHON if found and options.strict else 0


def explain_command(options):
    from vizgen import explain

    code = options.what.upper()
    if code == "VZ":
        print(explain.index())
        return 0
    if re.fullmatch(r"VZ-\d{4}", code):
        page = explain.page(code)
        if page is None:
            return complain(f"there is no diagnostic {code}; "
                            "`vizgen explain VZ` lists them")
        print(page)
        return 0
    path, _, name = options.what.partition(":")
    return explain.explain(path, name or None, options.args, print)


def tune_command(options):
    from vizgen import tune

    def say(record, text):
        print(json.dumps(record) if options.json else text, flush=True)
    return tune.tune(options.program, options.args, options, say)


def doctor_command(options):
    from vizgen import doctor

    parts = doctor.examine()
    if options.json:
        print(json.dumps({"schema": 1, "parts": parts}))
    else:
        print(doctor.text(parts))
    unknown = set(options.require) - {part["name"] for part in parts}
    if unknown:
        return complain(f"no part {sorted(unknown)[0]!r}")
    bad = [p for p in parts if p["name"] in options.require and not p["ok"]]
    return EXIT_TOOLS if bad else 0


def cache_command(options):
    from vizgen import cachecmd

    return getattr(cachecmd, options.what)()


def demo_command(_):
    from vizgen import demo

    return demo.main()


def complain(words):
    print(f"vizgen: {words}", file=sys.stderr)
    return EXIT_USAGE


def main():
    options = parser().parse_args()
    try:
        return options.action(options)
    except BrokenPipeError:
        # The reader of standard output left; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
