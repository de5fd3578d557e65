"""Random choices of transforms: which may run at all, and on which loop.

Options of the compiler (csrc/base/opts.h) forbid passes, and a list of
directives takes the place of what the passes propose.  Whatever a choice
says, the result must have the same bits: `draw` makes some for a program,

    "regions=0 invariant=0 directives=parallel 3\nregions 5 2 0"

of what the compiler would propose by itself (some of it dropped) and of
directives that nobody proposed, most of them for loops that don't allow them.
"""
import contextlib
import random
import re

import vizgen
from vizgen import _core

SWITCHES = tuple(_core.transforms())
DIRECTIVES = ("parallel", "vectorize", "unroll", "flatten", "regions")
# A directive has fired where it was proposed, another transform where it
# changed the code.
TRANSFORMS = sorted({"checks", *SWITCHES, *DIRECTIVES})
THREADS = (1, 2, 5)
PASS = re.compile(r"^; after (\w+)( \(unchanged\))?$", re.M)
LOOP = re.compile(r"^ *(?:for|while)\b.* #(\d+)\b", re.M)


@contextlib.contextmanager
def threads(count):
    """Kernels run by so many; 0: as before."""
    before = _core.threads()
    if count:
        _core.threads(count)
    try:
        yield
    finally:
        _core.threads(before)


def chosen(function, text):
    """The function by one choice."""
    fn = vizgen.accelerate(function)
    fn._set_variant(text)
    return fn


def draw(name, function, args, count):
    """([transforms that fired], ['count' texts of options]): the same for
    the same name."""
    fn = vizgen.accelerate(function)
    try:
        info = _core.compile_info(fn, args, opts="dump=*", front_only=True)
    except TypeError:      # an argument that no kernel takes
        info = {}
    dump, sched = info.get("dump") or "", info.get("sched") or ""
    fired = {word for word, same in PASS.findall(dump) if not same}
    fired |= {line.split()[0] for line in sched.splitlines()}
    loops = sorted({int(n) for n in LOOP.findall(dump)})
    rng = random.Random(f"{name.rsplit('_', 1)[-1]} {count}")
    texts = [_text(rng, loops, sched.splitlines()) for _ in range(count)]
    return sorted(fired.intersection(TRANSFORMS)), texts


def _text(rng, loops, proposed):
    words = [f"{switch}=0" for switch in SWITCHES if rng.random() < 0.35]
    if rng.random() < 0.1:
        words.append("general=1")
    if rng.random() < 0.7:
        kept = [line for line in proposed if rng.random() < 0.6]
        kept += [_directive(rng, loop) for loop in loops
                 if rng.random() < 0.4]
        words.append("directives=" + "\n".join(kept))
    return " ".join(words)


def _directive(rng, loop):
    kind = rng.choice(DIRECTIVES)
    if kind != "regions":
        return f"{kind} {loop}"
    return f"regions {loop} {rng.randint(0, 3)} {rng.randint(0, 3)}"
