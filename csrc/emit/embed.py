"""Write prelude_text.inc: what every generated C file starts with, and
relaxed_text.inc, which follows where approx= allows something.

usage: python3 csrc/emit/embed.py [OUTPUT]

The text of csrc/run/abi.h and the preludes of csrc/emit, without their includes
of our own headers, as one C string literal per line, so that

    static const char prelude_text[] =
    #include "prelude_text.inc"
    ;

holds it.  The file is only touched when the text changed, so that nothing is
rebuilt in vain.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS = ("csrc/run/abi.h", "csrc/emit/prelude.h", "csrc/emit/prelude_pow.h")
RELAXED = ("csrc/emit/relaxed.h",)
OUTPUT = os.path.join(ROOT, "csrc", "emit", "prelude_text.inc")


def prelude(parts=PARTS):
    """The C text, own includes left out; parts that don't exist are empty."""
    lines = []
    for part in parts:
        path = os.path.join(ROOT, part)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines += file.read().splitlines()
    return [line for line in lines if not line.startswith('#include "csrc/')]


def literal(line):
    """'line' and a newline as a C string literal."""
    text = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return '"%s\\n"' % text.replace("??", '?""?')


def write(output=OUTPUT):
    """Make 'output' hold the prelude, and the file beside it the rest; return
    its path."""
    other = os.path.join(os.path.dirname(output), "relaxed_text.inc")
    _write(other, prelude(RELAXED))
    return _write(output, prelude())


def _write(output, lines):
    text = "\n".join(literal(line) for line in lines) + "\n"
    try:
        with open(output, encoding="utf-8") as file:
            if file.read() == text:
                return output
    except OSError:
        pass
    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    return output


if __name__ == "__main__":
    print(write(*sys.argv[1:2]))
