"""Asks the compiler's front end whether a function is translated.

Random programs would mostly hold some statement that stays in Python, and
then nothing of them would be compiled.  Their writer therefore asks for each
statement, and takes what is refused only now and then.  So the programs
follow the language: what is translated tomorrow is written tomorrow.
"""
import linecache
import math

import numpy as np

import vizgen
from vizgen import _core
from vizgen.compare import clone

PATH = "<random program>"
HEAD = ["import math", "import numpy as np", ""]


class Acceptor:
    """'texts' are the lines of helpers; 'candidate', if given, is the file
    that holds what is being asked, in case the compiler ends the process."""

    def __init__(self, texts, args, candidate=None):
        self.texts = texts
        self.args = args
        self.candidate = candidate

    def __call__(self, entry, lines):
        """Is the function 'entry', whose lines these are, translated?"""
        text = "\n".join(HEAD + self.texts + lines) + "\n"
        if self.candidate:
            self.candidate.write_text(text)
        space = {"np": np, "math": math, "__name__": "random_program"}
        exec(compile(text, PATH, "exec"), space)
        linecache.cache[PATH] = (len(text), None, text.splitlines(True), PATH)
        function = vizgen.accelerate(space[entry])
        found = _core.compile_info(function, clone(tuple(self.args)),
                                   front_only=True)
        return found["ok"]
