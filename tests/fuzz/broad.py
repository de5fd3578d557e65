"""Random programs of the whole language, for comparison with CPython.

`program(seed)` is as in generate.py, which writes loops over pixels; this
one writes what is around them: expressions of whole arrays, slices with
steps, masks, reductions, lists and tuples, names that are None or of several
kinds, helpers and nested functions, loops over everything.

Each expression carries its value (tests/fuzz/live.py), so that most programs
run to their end; a few are left as they raise.  arguments(0) are the values
that the program was written for, the others have other sizes and values.
"""
import math
import random
import re

import numpy as np

from tests.fuzz import phrases as say
from tests.fuzz.accept import Acceptor
from tests.fuzz.generate import LAYOUTS, MAIN, _array_text
from tests.fuzz.live import Live, evaluate

VARIANTS = 3
DTYPES = ("float64", "float64", "float64", "float32", "uint8", "int64",
          "int32", "int16", "bool", "uint16", "int8", "uint32", "uint64")
TRIES = 6
REFUSED = 0.002     # of the statements may be those that aren't translated
ANYTHING = 0.04     # of the programs are of any statements


# Templates whose values can be very large.
GROWS = re.compile(r"\*\*|<<|pow|range\(|zeros\(|ones\(|full\(|linspace|eye"
                   r"|\] \*")


def shifted(lines):
    return ["    " + line for line in lines]


class Node:
    """An expression: its text, and its value now."""

    def __init__(self, text, value):
        self.text = text
        self.value = value


def is_number(value):
    return isinstance(value, (bool, int, float, np.generic))


def is_int(value):
    return type(value) is int


def is_modest(value):
    """May it be an exponent, a shift or a size?"""
    return not is_number(value) or abs(float(value)) <= 70


def is_array(value):
    return isinstance(value, np.ndarray)


def is_flat_list(value):
    return isinstance(value, list) and all(is_number(x) for x in value)


class Writer:
    """Writes the statements of one function."""

    def __init__(self, rng, live, helpers, prefix=""):
        self.rng = rng
        self.live = live
        self.accept = None           # of the lines that 'whole' gives
        self.whole = None            # lines here -> lines of the function
        self.top = False             # neither in a block nor in a helper
        self.helpers = helpers       # (name, kinds of its arguments)
        self.lines = []
        self.prefix = prefix
        self.count = 0
        self.depth = 0               # of loops
        self.outer = set()           # names that are only read

    # --- small choices ---

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, items):
        return items[self.rng.randrange(len(items))]

    def fresh(self, stem="v"):
        self.count += 1
        return f"{self.prefix}{stem}{self.count}"

    # --- expressions ---

    def make(self, template, *nodes):
        """The template filled in; None if it raises."""
        if None in nodes or (GROWS.search(template) and not
                             all(is_modest(n.value) for n in nodes)):
            return None
        text = template.format(*(n.text for n in nodes))
        holes = template.format(*(f"_{k}" for k in range(len(nodes))))
        values = dict(self.live.names)
        values.update({f"_{k}": n.value for k, n in enumerate(nodes)})
        try:
            return Node(text, evaluate(holes, values))
        except Exception:
            return None

    def named(self, test):
        """Names whose value is of the kind."""
        return [Node(name, value) for name, value in self.live.names.items()
                if test(value)]

    def constant(self):
        rare = self.chance(0.06)
        text = self.pick(say.RARE_CONSTANTS if rare else say.CONSTANTS)
        return Node(text, evaluate(text, {}))

    def small(self):
        """A small int that may be a size."""
        found = self.named(lambda v: is_int(v) and 0 <= v < 9)
        if found and self.chance(0.7):
            return self.pick(found)
        arrays = self.named(lambda v: is_array(v) and v.ndim > 0)
        if arrays and self.chance(0.5):
            return self.make("{0}.shape[0]", self.pick(arrays))
        return self.make(self.pick("2345"))

    def element(self, array):
        """An element of an array that has some."""
        words = []
        loops = self.named(is_int)
        for size in array.value.shape:
            fitting = [n.text for n in loops if -size <= n.value < size]
            if fitting and self.chance(0.8):
                words.append(self.pick(fitting))
            else:
                words.append(str(self.rng.randrange(-size, size)))
        return self.make("{0}[" + ", ".join(words) + "]", array)

    def scalar_leaf(self):
        roll = self.rng.random()
        if roll < 0.45:
            found = self.named(is_number)
            if found:
                return self.pick(found)
        if roll < 0.7:
            found = self.named(lambda v: is_array(v) and v.size and v.ndim)
            if found:
                return self.element(self.pick(found))
        if roll < 0.78:
            found = self.named(lambda v: isinstance(v, (list, tuple)) and v)
            if found:
                made = self.make(self.pick(say.OF_LIST), self.pick(found))
                if made and is_number(made.value):
                    return made
        return self.constant()

    def first_good(self, test, *ways):
        """The first of some tries that gives a value of the kind."""
        for _ in range(TRIES):
            made = self.pick(ways)()
            if made is not None and test(made.value):
                return made
        return None

    def scalar(self, depth=2):
        if depth <= 0 or self.chance(0.15):
            return self.scalar_leaf()
        node = self.first_good(
            is_number, *[lambda: self.scalar_op(depth)] * 5,
            lambda: self.reduction(depth), lambda: self.helper_call(is_number))
        return node or self.scalar_leaf()

    def scalar_op(self, depth):
        roll = self.rng.random()
        one = self.scalar(depth - 1)
        if roll < 0.25:
            return self.make(self.pick(say.SCALAR_1), one)
        two = self.scalar(depth - 1)
        if roll < 0.65:
            return self.make(f"({{0}} {self.pick(say.BINARY)} {{1}})", one,
                             two)
        if roll < 0.72:
            return self.make(f"({{0}} {self.pick(say.COMPARE)} {{1}})", one,
                             two)
        if roll < 0.88:
            return self.make(self.pick(say.SCALAR_2), one, two)
        return self.make(self.pick(say.SCALAR_3), one, two,
                         self.scalar(depth - 1))

    def reduction(self, depth):
        if self.chance(0.25):
            found = self.named(is_flat_list)
            if found:
                return self.make(self.pick(say.OF_LIST), self.pick(found))
        return self.make(self.pick(say.REDUCE), self.array(depth - 1))

    def condition(self):
        return (self.first_good(
            lambda v: isinstance(v, (bool, np.bool_)),
            lambda: self.make(f"{{0}} {self.pick(say.COMPARE)} {{1}}",
                              self.scalar(1), self.scalar(1)),
            lambda: self.make(f"({{0}} {self.pick(say.COMPARE)} {{1}} "
                              f"{self.pick(('and', 'or'))} {{2}} > 0)",
                              self.scalar(1), self.scalar(0), self.scalar(1)),
            self.is_none) or Node("True", True))

    def is_none(self):
        found = self.named(lambda v: v is None)
        if not found:
            return None
        return self.make("({0} is None)", self.pick(found))

    def array_leaf(self):
        found = self.named(is_array)
        if not found:
            return self.make("np.ones(4)")
        node = self.pick(found)
        if self.chance(0.35):
            return self.sliced(node) or node
        return node

    def sliced(self, node):
        """A part of the array, by any mixture of indices."""
        words = [self.index_word(size) for size in node.value.shape]
        if words and self.chance(0.3):
            words = words[:-1] or words
        if self.chance(0.06):
            words.insert(self.rng.randint(0, len(words)), "None")
        if not words:
            return None
        made = self.make("{0}[" + ", ".join(words) + "]", node)
        return made if made and is_array(made.value) else None

    def index_word(self, size):
        roll = self.rng.random()
        if roll < 0.3:
            return ":"
        ints = [n.text for n in self.named(is_int) if abs(n.value) <= size]
        if roll < 0.45 and size:
            return (self.pick(ints) if ints and self.chance(0.6)
                    else str(self.rng.randrange(-size, size)))
        bound = [""] * 3 + ints[:4] + [str(self.rng.randint(-size - 1,
                                                            size + 1))] * 3
        step = ("", "", "", ":2", ":-1", ":3", ":-2", ":1")
        return f"{self.pick(bound)}:{self.pick(bound)}{self.pick(step)}"

    def array(self, depth=2):
        if depth <= 0 or self.chance(0.15):
            return self.array_leaf()
        node = self.first_good(
            is_array, *[lambda: self.array_op(depth)] * 6,
            lambda: self.helper_call(is_array))
        return node or self.array_leaf()

    def array_op(self, depth):
        roll = self.rng.random()
        if roll < 0.08:
            return self.make(self.pick(say.FRESH), self.small(),
                             self.scalar(0))
        one = self.array(depth - 1)
        if roll < 0.30:
            return self.make(self.pick(say.ARRAY_1), one)
        if roll < 0.36:
            return self.make(f"{{0}}.astype({self.pick(say.DTYPES)})", one)
        two = (self.array(depth - 1) if self.chance(0.5)
               else self.scalar(depth - 1))
        if roll < 0.75:
            return self.make(f"({{0}} {self.pick(say.BINARY)} {{1}})",
                             *self.either(one, two))
        if roll < 0.83:
            return self.make(f"({{0}} {self.pick(say.COMPARE)} {{1}})",
                             *self.either(one, two))
        if roll < 0.93:
            return self.make(self.pick(say.ARRAY_2), one, two)
        return self.make(f"np.where({{0}} {self.pick(say.COMPARE)} {{1}}, "
                         "{2}, {1})", one, two, self.array(depth - 1))

    def either(self, one, two):
        return (one, two) if self.chance(0.7) else (two, one)

    def list_(self):
        found = self.named(is_flat_list)
        if found and self.chance(0.4):
            return self.make(self.pick(say.LIST_1), self.pick(found))
        return self.make(self.pick(say.LIST_0), self.small(), self.scalar(1),
                         self.scalar(1))

    def tuple_(self):
        return self.make(self.pick(say.TUPLE_0), self.scalar(1),
                         self.scalar(1), self.scalar(1))

    def helper_call(self, test):
        if not self.helpers:
            return None
        name, kinds = self.pick(self.helpers)
        nodes = [self.array_leaf() if kind == "a" else self.scalar(0)
                 for kind in kinds]
        text = f"{name}({', '.join(n.text for n in nodes)})"
        try:
            value = self.live.call(text)
        except Exception:
            return None
        return Node(text, value) if test(value) else None

    # --- statements ---

    def attempt(self, lines, keep_raising=0.01):
        """Take the statements if they run; returns whether it did."""
        after = self.live.run(lines)
        if after is None:
            if not self.chance(keep_raising):
                return False
        else:
            if not self.is_taken(lines):
                return False
            self.live = after
        self.lines += lines
        return True

    def is_taken(self, lines):
        """Are the statements translated?  Once some that aren't are taken,
        nothing is asked any more."""
        if self.whole is None or self.accept(self.whole(self.lines + lines)):
            return True
        if self.top and self.chance(REFUSED):
            self.whole = None
            return True
        return False

    def statement(self):
        for _ in range(TRIES):
            ways = STATEMENTS if self.depth < 2 else SIMPLE
            if self.pick(ways)(self):
                return True
        return False

    def assign(self):
        node = self.first_good(
            lambda v: True, self.scalar, self.scalar, self.array, self.array,
            self.list_, self.tuple_)
        if node is None:
            return False
        mine = [n for n, v in self.live.names.items()
                if n not in self.outer and type(v) is type(node.value)]
        name = (self.pick(mine) if mine and self.chance(0.35)
                else self.fresh())
        return self.attempt([f"{name} = {node.text}"])

    def none_join(self):
        """A name that is None at first."""
        name = self.fresh("m")
        value, found = self.scalar(1), self.named(is_array)
        if found and self.chance(0.5):
            array = self.pick(found)
            return self.attempt(
                [f"{name} = None", f"for x{name} in {array.text}:",
                 f"    if {name} is None or x{name} {self.pick('<>')} {name}:",
                 f"        {name} = x{name}"], 0)
        return self.attempt([f"{name} = None",
                             f"if {self.condition().text}:",
                             f"    {name} = {value.text}"], 0)

    def augment(self):
        mine = [n for n in self.named(lambda v: is_number(v) or is_array(v))
                if n.text not in self.outer]
        if not mine:
            return False
        target = self.pick(mine)
        value = (self.array(1) if is_array(target.value) and self.chance(0.6)
                 else self.scalar(2))
        op = self.pick(("+=", "-=", "*=", "+=", "/=", "//=", "%=", "&=",
                        "|=", "^=", "**=", ">>="))
        if op == "**=" and not (is_modest(value.value)
                                and is_modest(target.value)):
            return False
        return self.attempt([f"{target.text} {op} {value.text}"])

    def store(self):
        found = self.named(lambda v: is_array(v) and v.size and v.ndim
                           or isinstance(v, list) and v)
        if not found:
            return False
        target = self.pick(found)
        op = self.pick(("=", "=", "=", "+=", "-=", "*="))
        roll = self.rng.random()
        if isinstance(target.value, list):
            place = f"{target.text}[{self.rng.randrange(len(target.value))}]"
            value = self.scalar(1)
        elif roll < 0.4:
            place = self.element(target).text
            value = self.scalar(2)
        elif roll < 0.55:
            mask = self.make(f"{{0}} {self.pick(say.COMPARE)} {{1}}", target,
                             self.scalar(1))
            if mask is None:
                return False
            place = f"{target.text}[{mask.text}]"
            value = self.scalar(1)
        else:
            part = self.sliced(target)
            if part is None:
                return False
            place = part.text
            value = self.array(2) if self.chance(0.6) else self.scalar(2)
        return self.attempt([f"{place} {op} {value.text}"])

    def change_list(self):
        mine = self.named(is_flat_list)
        if not mine:
            return False
        name = self.pick(mine).text
        line = self.pick((f"{name}.append({self.scalar(1).text})",
                          f"{name}.append({self.scalar(1).text})",
                          f"v0 = {name}.pop()", f"{name}.sort()",
                          f"{name}.reverse()", f"{name}.pop(0)",
                          f"{name}.insert(0, {self.scalar(0).text})",
                          f"{name}.extend([1, 2])", f"{name} += [3]",
                          f"{name}.clear()", f"del {name}[0]"))
        return self.attempt([line])

    def unpack(self):
        one, two = self.scalar(1), self.scalar(1)
        first, second = self.fresh(), self.fresh()
        form = self.rng.random()
        arrays = self.named(lambda v: is_array(v) and v.ndim == 2)
        if form < 0.3 and arrays:
            line = f"{first}, {second} = {self.pick(arrays).text}.shape"
        elif form < 0.5:
            line = f"{first}, {second} = divmod({one.text}, {two.text})"
        else:
            line = f"{first}, {second} = {one.text}, {two.text}"
        return self.attempt([line])

    def body(self, head, first, most=3, before=()):
        """Lines of a block under 'head'; its names have the values that
        'first' gives them.  The lines 'before' are of the same statement."""
        inner = Writer(self.rng, self.live.copy(), self.helpers, self.prefix)
        inner.live.names.update(first)
        inner.count = self.count
        inner.depth = self.depth + 1
        inner.outer = self.outer
        inner.accept = self.accept
        if self.whole:
            inner.whole = lambda lines: self.whole(
                [*self.lines, *before, head, *shifted(lines or ["pass"])])
        for _ in range(self.rng.randint(1, most)):
            inner.statement()
        if first and self.chance(0.12):
            inner.lines.append(f"if {inner.condition().text}:")
            inner.lines.append("    " + self.pick(("break", "continue")))
        self.count = inner.count
        return [*before, head, *shifted(inner.lines or ["pass"])]

    def branch(self):
        lines = self.body(f"if {self.condition().text}:", {})
        if self.chance(0.2):
            lines = self.body(f"elif {self.condition().text}:", {},
                              before=lines)
        if self.chance(0.5):
            lines = self.body("else:", {}, before=lines)
        return self.attempt(lines, 0)

    def for_loop(self):
        name, other = self.fresh("i"), self.fresh("x")
        found = self.named(lambda v: is_array(v) and v.ndim)
        lists = self.named(lambda v: isinstance(v, (list, tuple)) and v)
        roll = self.rng.random()
        if roll < 0.5 or not found:
            head, first = self.range_head(name)
        elif roll < 0.65:
            node = self.pick(found + lists)
            head, first = f"for {name} in {node.text}:", {}
            if len(node.value):
                first = {name: node.value[0]}
        elif roll < 0.8:
            node = self.pick(found + lists)
            head = f"for {name}, {other} in enumerate({node.text}):"
            first = {name: 0}
            if len(node.value):
                first[other] = node.value[0]
        elif roll < 0.9:
            one, two = self.pick(found + lists), self.pick(found + lists)
            head = f"for {name}, {other} in zip({one.text}, {two.text}):"
            first = {name: 0}
            if len(one.value) and len(two.value):
                first = {name: one.value[0], other: two.value[0]}
        else:
            node = self.pick(found)
            head = f"for {name} in np.ndindex({node.text}.shape):"
            first = {name: (0,) * node.value.ndim}
        lines = self.body(head, first, 4)
        if self.chance(0.06):
            lines = self.body("else:", {}, before=lines)
        return self.attempt(lines)

    def range_head(self, name):
        size = self.small().text
        found = self.named(lambda v: is_array(v) and v.ndim)
        if found and self.chance(0.7):
            array = self.pick(found)
            axis = self.rng.randrange(array.value.ndim)
            size = self.pick((f"{array.text}.shape[{axis}]",
                              f"len({array.text})"))
        words, first = self.pick((
            (size, 0), (size, 0), (size, 0), (f"1, {size}", 1),
            (f"1, {size} - 1", 1), (f"0, {size}, 2", 0),
            (f"{size} - 1, -1, -1", 0), (f"{size}, 0, -2", 1)))
        return f"for {name} in range({words}):", {name: first}

    def while_loop(self):
        name = self.fresh("n")
        head = f"while {name} < {self.rng.randint(1, 5)}"
        if self.chance(0.6):
            head += f" and {self.condition().text}"
        lines = self.body(head + ":", {name: 0},
                          before=[f"{name} = 0"])
        at = 2 if self.chance(0.6) else len(lines)
        if any("continue" in line for line in lines):
            at = 2
        lines.insert(at, f"    {name} += 1")
        return self.attempt(lines)

    def fail(self):
        if self.chance(0.6):
            return self.attempt([f"assert {self.condition().text}, 'told'"],
                                0.3)
        return self.attempt([f"if {self.condition().text}:",
                             "    raise ValueError('so')"], 0.1)

    def nested(self):
        """A function inside, which reads names around it."""
        if self.prefix or self.depth:
            return False
        name = self.fresh("f")
        lines, kinds = function(self.rng, name, self.live, self.helpers)
        if not self.attempt(lines, 0):
            return False
        self.helpers = self.helpers + [(name, kinds)]
        return True


SIMPLE = ([Writer.assign] * 6 + [Writer.store] * 4 + [Writer.augment] * 4
          + [Writer.change_list, Writer.unpack])
STATEMENTS = (SIMPLE + [Writer.for_loop] * 4 + [Writer.branch] * 2
              + [Writer.while_loop, Writer.none_join, Writer.fail,
                 Writer.nested])


def function(rng, name, live, helpers, accept=None):
    """(lines, kinds of its arguments) of a helper; without 'accept' it is a
    nested one, which reads the names around it."""
    kinds = rng.choice(("s", "ss", "a", "as", "aa", "sss"))
    params = [f"{name}p{k}" for k in range(len(kinds))]
    inner = Live(live.functions) if accept else live.copy()
    outer = set(inner.names)
    for param, kind in zip(params, kinds):
        inner.names[param] = (np.arange(1.0, 5.0) if kind == "a"
                              else rng.choice((2, 1.5, -1, 3)))
    writer = Writer(rng, inner, helpers if accept else [], prefix=name)
    writer.outer = outer
    writer.depth = 1
    head = f"def {name}({', '.join(params)}):"
    if accept:
        accept.args = [inner.names[param] for param in params]
        writer.accept = lambda lines: accept(name, lines)
        writer.whole = lambda lines: [head, *shifted(lines or ["pass"])]
    for _ in range(rng.randint(0, 2)):
        writer.statement()
    if rng.random() < 0.3:
        writer.lines += [f"if {writer.condition().text}:",
                         f"    return {writer.scalar(1).text}"]
    for _ in range(TRIES):
        node = writer.array(2) if rng.random() < 0.3 else writer.scalar(2)
        lines = [head, *shifted([*writer.lines, f"return {node.text}"])]
        if not accept or accept(name, lines):
            break
    return lines, kinds


class Arguments:
    """The entry's parameters and the text that makes their values."""

    def __init__(self, rng, seed):
        self.rng = rng
        self.names = []
        self.lines = ["def arguments(which=0):"]
        sizes = [self.sizes(k) for k in range(VARIANTS)]
        self.emit(f"H, W, seed = {tuple(sizes)}[which]")
        self.emit(f"rng = np.random.RandomState({seed % 10000} + seed)")
        for k in range(rng.randint(1, 3)):
            self.array(f"a{k}")
        for k in range(rng.randint(0, 2)):
            self.other(f"s{k}")
        self.emit(f"return ({', '.join(self.names)},)")

    def sizes(self, variant):
        low, high = ((2, 7), (1, 9), (0, 2))[variant]
        return self.rng.randint(low, high), self.rng.randint(low, high), variant

    def emit(self, text):
        self.lines.append("    " + text)

    def array(self, name):
        rng = self.rng
        if self.names and rng.random() < 0.12:
            view = rng.choice(("", "[::-1]", "[1:]", "[:-1]"))
            self.emit(f"{name} = {self.names[0]}{view}")
        else:
            dims = rng.choice((("H", "W"), ("H", "W"), ("H",), ("W",),
                               ("H", "W", str(rng.randint(1, 4))), ("H", "H")))
            self.lines.append(array_text(rng, name, dims))
        self.names.append(name)

    def other(self, name):
        text = self.rng.choice((
            "2", "3", "-1", "0.5", "-1.25", "3.0", "True", "None", "5",
            "np.float32(1.5)", "np.int32(3)", "np.float64(0.25)",
            "np.uint8(7)", "[1, 2, 3]", "[0.5, 1.5]", "(1, 2)", "(0.5, 2)",
            "[3, 1, 2, 5]", "W", "H + 1"))
        self.emit(f"{name} = {text}")
        self.names.append(name)


def array_text(rng, name, dims):
    """As generate._array_text, with sizes that are known later."""
    layout = rng.choice(LAYOUTS)
    dtype = rng.choice(DTYPES)
    marks = (70001, 80003, 90007)[:len(dims)]
    text = _array_text(rng, name, marks, dtype, layout)
    for mark, dim in zip(marks, dims):
        text = (text.replace(str(2 * mark + 1), f"2 * {dim} + 1")
                .replace(str(2 * mark), f"2 * {dim}")
                .replace(str(mark + 1), f"{dim} + 1")
                .replace(str(mark), dim))
    return text


def program(seed, candidate=None):
    """The text of program number 'seed'; 'candidate' is for accept.py."""
    rng = random.Random(f"broad {seed}")
    given = Arguments(rng, seed)
    space = {"np": np}
    exec("\n".join(given.lines), space)
    live = Live({})
    accept = Acceptor([], (), candidate)
    helpers = []
    for k in range(rng.randint(0, 2)):
        name = f"h{k}"
        lines, kinds = function(rng, name, live, helpers, accept)
        define(lines, live.functions)
        accept.texts = accept.texts + lines + ["", ""]
        helpers.append((name, kinds))
    accept.args = space["arguments"]()
    live.names = dict(zip(given.names, space["arguments"]()))
    writer = Writer(rng, live, helpers)
    head = f"def run({', '.join(given.names)}):"
    writer.accept = lambda lines: accept("run", lines)
    writer.whole = lambda lines: [head, *shifted(lines or ["pass"])]
    writer.top = True
    if rng.random() < ANYTHING:
        writer.whole = None
    for _ in range(rng.randint(2, 7)):
        writer.statement()
    writer.lines.append(returned(rng, writer))
    return "\n".join(
        [f'"""Random program {seed}."""', "import math", "",
         "import numpy as np", "", f"VARIANTS = {VARIANTS}", "", "",
         *accept.texts, head, *shifted(writer.lines), "", "", *given.lines,
         ""]) + "\n" + MAIN


def define(lines, functions):
    """Adds a helper, which calls those there are."""
    space = {"np": np, "math": math, **functions}
    exec("\n".join(lines), space)
    name = lines[0][4:].split("(")[0]
    functions[name] = space[name]


def returned(rng, writer):
    """A statement that returns up to six of the names."""
    names = [n for n, v in writer.live.names.items() if not callable(v)]
    rng.shuffle(names)
    taken = names[:6]
    if not writer.is_taken([f"return ({', '.join(taken)},)"]):
        taken = [name for name in taken
                 if writer.is_taken([f"return ({name},)"])]
    return f"return ({', '.join(taken)},)" if taken else "return"
