"""The process in which tuning runs the user's program.

    python -m vizgen.worker FD PROGRAM ARGS...

It runs the program's workload once in plain Python and keeps the calls of
accelerated functions: copies of their arguments, what Python returned and
what it did to the arguments.  Then it serves requests, JSON lines over the
socket FD: every variant is compiled, compared with Python and timed in a
process forked for it, which may crash or hang without losing the calls.

This process itself never runs native code, so no thread pool exists when it
forks.
"""
import functools
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time

import vizgen
from vizgen import compare, runner, tuned

MOST_CALLS = 3        # kept per function
PATIENCE = 30.0       # seconds of plain Python after which calls suffice
MOST_PAIRS = 61
LEAST_PAIRS = 9
SAMPLE = 2e-3         # seconds that one measured value should last
MEMORY = 8 << 30      # bytes that a variant may map beyond what there is

real_accelerate = vizgen.accelerate


class Enough(BaseException):
    """Ends a workload of which enough calls were seen."""


class Call:
    """One call of an accelerated function and what Python made of it."""

    def __init__(self, args, kwargs):
        self.args = args
        self.kwargs = kwargs
        self.after = None       # the arguments after the call
        self.result = None
        self.error = None       # type of the exception it raised
        self.seconds = 0.0


class Session:
    """Everything captured in this process."""

    def __init__(self):
        self.functions = []
        self.depth = 0
        self.start = time.monotonic()
        self.threads = None     # of this process before the workload

    def full(self):
        return time.monotonic() - self.start > PATIENCE


session = Session()


class Captured:
    """Stands in for an accelerated function while the workload runs."""

    def __init__(self, py_func, options):
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.options = options
        self.calls = []
        session.functions.append(self)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        if session.depth or len(self.calls) >= MOST_CALLS:
            return self.py_func(*args, **kwargs)
        if session.full() and self.calls:
            raise Enough
        return self._record(args, kwargs)

    def _record(self, args, kwargs):
        call = Call(*compare.clone((args, kwargs)))
        self.calls.append(call)
        session.depth += 1
        start = time.perf_counter()
        try:
            result = self.py_func(*args, **kwargs)
        except Exception as error:
            call.error = type(error)
            raise
        finally:
            call.seconds = time.perf_counter() - start
            session.depth -= 1
            call.after = compare.clone((args, kwargs))
        call.result = compare.clone((result,))
        return result

    def compile(self, *args, **kwargs):
        return True


def capture(fn=None, **options):
    """What `accelerate` is during the workload."""
    if fn is None:
        return functools.partial(capture, **options)
    return Captured(fn, options)


# --- the workload ----------------------------------------------------------

def run_workload(path, argv):
    """Run the program's test() if it has one, else the program itself."""
    vizgen.accelerate = capture
    code = runner.load(path)
    has_test = "test" in code.co_names and _defines_test(code)
    module = runner.prepare(path, argv,
                            _module_name(path) if has_test else "__main__")
    try:
        exec(code, module.__dict__)
        if has_test:
            module.test()
    except (Enough, SystemExit):
        pass
    finally:
        vizgen.accelerate = real_accelerate
    _uncover()


def _defines_test(code):
    return any(getattr(const, "co_name", "") == "test"
               for const in code.co_consts)


def _module_name(path):
    return os.path.splitext(os.path.basename(path))[0]


def _uncover():
    """Put the plain functions back where stand-ins were bound, so that a
    compiled function finds helpers it can read."""
    spaces = {id(f.py_func.__globals__): f.py_func.__globals__
              for f in session.functions}
    for names in spaces.values():
        for name, value in list(names.items()):
            if isinstance(value, Captured):
                names[name] = value.py_func
    for captured in session.functions:
        for cell in captured.py_func.__closure__ or ():
            if isinstance(cell.cell_contents, Captured):
                cell.cell_contents = cell.cell_contents.py_func


def describe(captured):
    """What the parent needs to know of one function."""
    py_func = captured.py_func
    return {
        "name": tuned.name_of(py_func),
        "source": tuned.source_hash(py_func),
        "calls": len(captured.calls),
        "python_ms": 1e3 * sum(call.seconds for call in captured.calls),
    }


# --- one variant, in a process of its own ----------------------------------

def accelerated(captured, opts, compiler):
    """The real accelerated function with fixed options; exact, since it is
    compared with Python."""
    options = {**captured.options, "approx": "exact"}
    fn = real_accelerate(captured.py_func, **options)
    fn._set_variant(opts, compiler)
    return fn


def verify(fn, calls):
    """None when 'fn' does to every call what Python did, else the first
    difference in words."""
    for number, call in enumerate(calls):
        args, kwargs = compare.clone((call.args, call.kwargs))
        error, result = None, None
        try:
            result = fn(*args, **kwargs)
        except Exception as raised:
            error = type(raised)
        if error is not call.error:
            return f"call {number}: raised {error} instead of {call.error}"
        words = compare.difference((args, kwargs), call.after,
                                   f"call {number}, arguments")
        if not words and error is None:
            words = compare.difference((result,), call.result,
                                       f"call {number}, result")
        if words:
            return words
    return None


def in_python(fn):
    return bool(fn.stats.python_calls or fn.stats.mixed_calls)


def sample(fn, calls, repeat):
    """Seconds for one round of all calls, each on fresh arguments."""
    total = 0.0
    for call in calls:
        for _ in range(repeat):
            args, kwargs = compare.clone((call.args, call.kwargs))
            start = time.perf_counter()
            fn(*args, **kwargs)
            total += time.perf_counter() - start
    return total / repeat


def measure(request):
    """Compile, verify and time one variant against the baseline."""
    captured = session.functions[request["function"]]
    calls = [call for call in captured.calls if call.error is None]
    base = accelerated(captured, *request["base"])
    trouble = verify(base, captured.calls)
    if trouble:
        return {"status": "mismatch", "why": "the default: " + trouble}
    if in_python(base):
        return {"status": "refused", "why": "the function runs in Python"}
    fn = accelerated(captured, *request["variant"])
    trouble = verify(fn, captured.calls)
    if trouble:
        return {"status": "mismatch", "why": trouble}
    if in_python(fn):
        return {"status": "python", "why": "it does not run native"}
    return {"status": "ok", **time_pairs(base, fn, calls, request["seconds"])}


def time_pairs(base, fn, calls, seconds):
    """Interleaved times, in pairs whose order alternates."""
    once = min(sample(fn, calls, 1), sample(base, calls, 1))
    repeat = max(1, min(1000, int(SAMPLE / max(once, 1e-7))))
    both = ([], [])
    start = time.monotonic()
    gc.disable()
    while len(both[0]) < MOST_PAIRS:
        first = len(both[0]) % 2
        for which in (first, 1 - first):
            both[which].append(sample((base, fn)[which], calls, repeat))
        late = time.monotonic() - start > seconds
        if late and len(both[0]) >= LEAST_PAIRS:
            break
    return {"base": both[0], "times": both[1]}


def in_child(request):
    """Answer 'request' in a forked process within its limit."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(request, writer)
    os.close(writer)
    try:
        return _await_answer(pid, reader, request["limit"])
    finally:
        os.close(reader)


def _child(request, writer):
    """The forked process; never returns."""
    try:
        os.setpgid(0, 0)
        if _count_threads() == session.threads:
            vizgen._core.tune_trust_fork()
        _set_limits(request["limit"])
        answer = measure(request)
    except MemoryError:
        answer = {"status": "memory", "why": "out of memory"}
    except BaseException as error:
        answer = {"status": "error", "why": f"{type(error).__name__}: {error}"}
    try:
        with os.fdopen(writer, "w") as out:
            json.dump(answer, out)
    finally:
        os._exit(0)


def _count_threads():
    return len(os.listdir("/proc/self/task"))


def _set_limits(seconds):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cores = os.cpu_count() or 1
    cpu = int(seconds * cores) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    top = mapped + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (top, top))


def _await_answer(pid, reader, limit):
    """The forked process's answer, or how it ended without one."""
    deadline = time.monotonic() + limit
    text = b""
    late = False
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            late = True
            break
        block = os.read(reader, 1 << 16)
        if not block:
            break
        text += block
    if late:
        _kill(pid)
    _, status = os.waitpid(pid, 0)
    if late:
        return {"status": "timeout", "why": f"longer than {limit:.0f} s"}
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return {"status": "crash", "why": f"killed by {name}"}
    return json.loads(text)


def _kill(pid):
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


# --- serving ---------------------------------------------------------------

def main(argv):
    link = socket.socket(fileno=int(argv[0]))
    stream = link.makefile("rw", encoding="utf-8")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    failure = None
    session.threads = _count_threads()
    try:
        run_workload(argv[1], argv[2:])
    except BaseException as error:
        failure = f"{type(error).__name__}: {error}"
    _send(stream, {"failure": failure,
                   "functions": [describe(f) for f in session.functions]})
    for line in stream:
        _send(stream, in_child(json.loads(line)))


def _send(stream, message):
    stream.write(json.dumps(message) + "\n")
    stream.flush()


if __name__ == "__main__":
    # Programs import 'vizgen.worker' never, but stand-ins must be this
    # module's, so it goes by one name only.
    sys.modules["vizgen.worker"] = sys.modules["__main__"]
    main(sys.argv[1:])
