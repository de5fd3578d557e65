"""Random programs in the style of image code, for comparison with CPython.

`program(seed)` gives the text of a self-contained Python file: helpers, an
entry function `run`, and `arguments()`, which makes fresh arguments.  The
same seed gives the same text.  Most programs run to their end; some raise,
warn, read unbound names, exceed 64 bits or write into overlapping views,
because that is where compiled code goes wrong.

Values are kept tame where they would make Python itself slow: what a loop
carries is never multiplied by itself while it may be an int, and every while
loop has a counter.
"""
import random

from tests.fuzz import stencils

DTYPES = ("float64", "float64", "float64", "float32", "float32", "uint8",
          "int64", "int32", "int16", "int8", "uint16", "uint32", "uint64",
          "bool")
SIZES = (0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7, 8, 11)
LAYOUTS = ("c", "c", "c", "c", "f", "t", "reversed", "strided", "offset")
MOST_DEPTH = 3      # of loops
MOST_WORK = 3000    # rounds of all nested loops together


class Array:
    """'dims' are the names of its axes' sizes: H, W or a constant."""

    def __init__(self, name, dims, dtype, fresh=False):
        self.name = name
        self.dims = dims
        self.dtype = dtype
        self.fresh = fresh


class Loop:
    """A loop variable over axis 'dim'; it stays 'low' above the axis's
    beginning and 'high' below its end."""

    def __init__(self, name, dim, low, high):
        self.name = name
        self.dim = dim
        self.low = low
        self.high = high


class Scope:
    """Names that may be used where the text is being written."""

    def __init__(self):
        self.ints = []       # Python ints: never carried by a loop
        self.floats = []
        self.nums = []       # any number; may be an int that a loop carries
        self.fixed = []      # numbers that are never assigned again
        self.bools = []
        self.vectors = {}    # name -> length
        self.maybe = []      # numbers that may be unbound
        self.loops = []
        self.arrays = []

    def copy(self):
        other = Scope()
        for field, value in vars(self).items():
            setattr(other, field, value.copy())
        return other

    def numbers(self):
        return self.ints + self.floats + self.nums + self.fixed


class Writer:
    """Writes one function."""

    def __init__(self, rng, sizes, helpers):
        self.rng = rng
        self.sizes = sizes           # {"H": 5, "W": 3}
        self.helpers = helpers
        self.lines = []
        self.scope = Scope()
        self.count = 0
        self.work = 1
        self.depth = 0
        self.tame = 0                # no carried ints while above 0
        self.statements = 0

    # --- small choices ---

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, items):
        return self.rng.choice(items)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    # --- expressions ---

    def constant(self):
        return self.pick(("0", "1", "2", "3", "5", "0.5", "0.25", "1.0",
                          "2.0", "-1.0", "0.1", "7", "100", "1.5", "-0.0"))

    def leaf(self):
        scope, roll = self.scope, self.rng.random()
        names = scope.ints + scope.floats + scope.fixed
        names += [] if self.tame else scope.nums
        if roll < 0.03 and scope.maybe:
            return self.pick(scope.maybe)
        if roll < 0.35 and names:
            return self.pick(names)
        if roll < 0.50 and scope.loops:
            return self.pick(scope.loops).name
        if roll < 0.85 and scope.arrays:
            return self.element(self.pick(scope.arrays))
        return self.constant()

    def number(self, depth):
        """Text of any numeric expression."""
        if depth <= 0 or self.chance(0.2):
            return self.leaf()
        return self.pick(NUMBER_RULES)(self, depth - 1)

    def sum_rule(self, depth):
        op = self.pick("++-")
        return f"({self.number(depth)} {op} {self.number(depth)})"

    def product_rule(self, depth):
        self.tame += 1
        text = f"({self.number(depth)} * {self.number(depth)})"
        self.tame -= 1
        return text

    def quotient_rule(self, depth):
        op = self.pick(("/", "/", "//", "%"))
        divisor = self.pick(("2", "3", "4.0", "3.0", "0.7", "-2", "5"))
        if self.chance(0.15):
            divisor = self.number(depth)
        return f"({self.number(depth)} {op} {divisor})"

    def power_rule(self, depth):
        self.tame += 1
        base = self.number(depth)
        self.tame -= 1
        if self.chance(0.4):
            return f"(abs(float({base})) ** {self.pick(('0.5', '2.0'))})"
        return f"({base} ** {self.pick(('2', '2', '3'))})"

    def unary_rule(self, depth):
        return self.pick(("(-{})", "abs({})", "(+{})")).format(
            self.number(depth))

    def alike(self, depth):
        """Two numbers of one kind, as image code has where paths meet; now
        and then of any kinds."""
        roll = self.rng.random()
        if roll < 0.06:
            return self.number(depth), self.number(depth)
        if roll < 0.3:
            return self.integer(depth), self.integer(depth)
        return f"float({self.number(depth)})", f"float({self.number(depth)})"

    def choice_rule(self, depth):
        left, right = self.alike(depth)
        return f"({left} if {self.boolean(depth)} else {right})"

    def extreme_rule(self, depth):
        left, right = self.alike(depth)
        return f"{self.pick(('min', 'max'))}({left}, {right})"

    def convert_rule(self, depth):
        name = self.pick(("float", "float", "int"))
        return f"{name}({self.number(depth)})"

    def root_rule(self, depth):
        name = self.pick(("math.sqrt", "math.sqrt", "np.sqrt"))
        return f"{name}(abs(float({self.number(depth)})))"

    def floor_rule(self, depth):
        name = self.pick(("math.floor", "math.ceil", "np.floor"))
        return f"{name}(float({self.number(depth)}))"

    def bits_rule(self, depth):
        op = self.pick(("&", "|", "^", "<<", ">>"))
        right = self.pick(("1", "2", "3"))
        return f"({self.integer(depth)} {op} {right})"

    def call_rule(self, depth):
        plain = [h for h in self.helpers if h.kind == "scalar"]
        if not plain:
            return self.number(depth)
        helper = self.pick(plain)
        self.tame += 1
        args = ", ".join(self.number(depth - 1) for _ in range(helper.arity))
        self.tame -= 1
        return f"{helper.name}({args})"

    def integer(self, depth):
        """Text of a Python int that stays small."""
        scope = self.scope
        if depth <= 0 or self.chance(0.4):
            names = scope.ints + [loop.name for loop in scope.loops]
            names += list(self.sizes)
            if names and self.chance(0.75):
                return self.pick(names)
            return str(self.rng.randint(-3, 6))
        left, right = self.integer(depth - 1), self.integer(depth - 1)
        form = self.pick(("({0} + {1})", "({0} - {1})", "({0} * 2)",
                          "({0} // 2)", "({0} % 3)", "min({0}, {1})",
                          "max({0}, {1})", "(-{0})"))
        return form.format(left, right)

    def boolean(self, depth):
        roll = self.rng.random()
        if depth > 0 and roll < 0.2:
            op = self.pick(("and", "or"))
            return f"({self.boolean(depth - 1)} {op} {self.boolean(0)})"
        if roll < 0.27:
            return f"(not {self.boolean(depth - 1)})"
        if roll < 0.32 and self.scope.bools:
            return self.pick(self.scope.bools)
        op = self.pick(("<", "<=", ">", ">=", "==", "!="))
        if roll < 0.65:
            return f"{self.integer(1)} {op} {self.integer(1)}"
        return f"{self.number(1)} {op} {self.number(1)}"

    def index(self, dim):
        """Text of an index into an axis of size 'dim'."""
        loops = [loop for loop in self.scope.loops if loop.dim == dim]
        roll = self.rng.random()
        if loops and roll < 0.82:
            loop = self.pick(loops)
            low = -loop.low - (self.chance(0.002))
            high = loop.high + (self.chance(0.002))
            return _shifted(loop.name, self.rng.randint(low, high))
        if isinstance(dim, int):
            return str(self.rng.randrange(-dim, dim))
        if roll < 0.90:
            return f"({self.integer(1)}) % max({dim}, 1)"
        if roll < 0.995:
            return self.pick(("0", "-1", f"{dim} - 1", f"{dim} // 2"))
        return self.integer(1)

    def element(self, array):
        inner = ", ".join(self.index(dim) for dim in array.dims)
        return f"{array.name}[{inner}]"

    def pixel(self, length):
        """Text of a vector of 'length': part of an array or a name; None
        where there is none."""
        found = [name for name, n in self.scope.vectors.items()
                 if n == length]
        arrays = [a for a in self.scope.arrays
                  if len(a.dims) == 3 and a.dims[2] == length]
        if found and (not arrays or self.chance(0.4)):
            return self.pick(found)
        if not arrays:
            return None
        array = self.pick(arrays)
        first, second = self.index(array.dims[0]), self.index(array.dims[1])
        return f"{array.name}[{first}, {second}]"

    def vector(self, length, depth):
        """Text of a fresh vector of 'length', or None."""
        left = self.pixel(length)
        if left is None:
            return None
        if depth <= 0:
            return f"({left} * {self.pick(('0.5', '2.0', '1.0'))})"
        op = self.pick("++-*")
        if self.chance(0.4):
            self.tame += 1
            other = self.number(1)
            self.tame -= 1
            return f"({left} {op} {other})"
        if self.chance(0.2):
            return f"({left} / {self.pick(('2.0', '3.0', '4'))})"
        return f"({left} {op} {self.vector(length, depth - 1)})"

    def value(self, name, depth):
        """Text of a value for the variable 'name', of the kind that its first
        letter stands for: v a float, w an int, z an array's own kind, u
        anything."""
        kind = name[0]
        if kind == "w":
            return f"({self.integer(depth)} + {self.integer(1)})"
        if kind == "z":
            plain = [a for a in self.scope.arrays if a.dtype == "float64"]
            if plain:
                return (f"{self.element(self.pick(plain))} * "
                        f"{self.pick(('0.5', '2.0', '1.5', '3'))}")
        if kind == "u":
            return self.number(depth)
        return f"float({self.number(depth)})"

    # --- statements ---

    def block(self, indent, budget):
        """Between 1 and 'budget' statements; names made inside are mostly
        forgotten afterwards."""
        outer = self.scope
        self.scope = outer.copy()
        for _ in range(self.rng.randint(1, budget)):
            self.statement(indent)
        inner, self.scope = self.scope, outer
        new = [n for n in inner.numbers() if n not in outer.numbers()]
        if new and self.chance(0.15):
            outer.maybe.append(self.pick(new))

    def statement(self, indent):
        self.statements += 1
        roll = self.rng.random()
        small = self.statements > 40
        if roll < 0.22 and not small and self.depth < MOST_DEPTH:
            self.for_loop(indent)
        elif roll < 0.25 and not small and self.depth < MOST_DEPTH:
            self.while_loop(indent)
        elif roll < 0.37 and not small:
            self.branch(indent)
        elif roll < 0.55:
            self.store(indent)
        elif roll < 0.70:
            self.augment(indent)
        elif roll < 0.76:
            self.make_vector(indent)
        elif roll < 0.78:
            self.fail(indent)
        elif roll < 0.80:
            self.call_writer(indent)
        else:
            self.assign(indent)

    def assign(self, indent):
        scope, roll = self.scope, self.rng.random()
        if roll < 0.15:
            name = self.name("k")
            self.line(indent, f"{name} = {self.integer(2)}")
            scope.ints.append(name)
        elif roll < 0.25:
            name = self.name("q")
            self.line(indent, f"{name} = {self.boolean(1)}")
            scope.bools.append(name)
        elif roll < 0.55 and scope.nums:
            name = self.pick(scope.nums)
            self.line(indent, f"{name} = {self.value(name, 2)}")
        else:
            name = self.name(self.pick("vvvvwzzu"))
            self.line(indent, f"{name} = {self.value(name, 3)}")
            scope.nums.append(name)

    def augment(self, indent):
        scope = self.scope
        if scope.floats and self.chance(0.3):
            name, op = self.pick(scope.floats), self.pick(("+=", "-=", "*="))
            self.line(indent, f"{name} {op} float({self.number(1)})")
        elif scope.nums and self.chance(0.7):
            name, op = self.pick(scope.nums), self.pick(("+=", "+=", "-="))
            self.line(indent, f"{name} {op} {self.value(name, 2)}")
        elif scope.arrays:
            array = self.pick(scope.arrays)
            op = self.pick(("+=", "-=", "+=", "*="))
            value = self.number(1)
            self.line(indent, f"{self.element(array)} {op} {value}")
        else:
            self.assign(indent)

    def store(self, indent):
        arrays = self.scope.arrays
        if not arrays:
            self.assign(indent)
            return
        fresh = [a for a in arrays if a.fresh] or arrays
        array = self.pick(fresh if self.chance(0.6) else arrays)
        if len(array.dims) == 3 and self.chance(0.5):
            first, second = map(self.index, array.dims[:2])
            value = self.vector(array.dims[2], 2) or self.number(1)
            self.line(indent, f"{array.name}[{first}, {second}] = {value}")
            return
        value = self.number(3)
        if array.dtype in ("uint8", "int8", "int16", "uint16", "bool"):
            value = self.pick(("{}", "int({}) % 100", "abs(int({})) % 128")
                              ).format(value)
        self.line(indent, f"{self.element(array)} = {value}")

    def make_vector(self, indent):
        lengths = [a.dims[2] for a in self.scope.arrays if len(a.dims) == 3]
        if not lengths:
            self.assign(indent)
            return
        length = self.pick(lengths)
        if self.scope.vectors and self.chance(0.4):
            name = self.pick(list(self.scope.vectors))
            value = self.vector(self.scope.vectors[name], 1)
            self.line(indent, f"{name} += {value}")
            return
        name, value = self.name("p"), self.vector(length, 2)
        self.line(indent, f"{name} = {value}")
        self.scope.vectors[name] = length

    def fail(self, indent):
        if self.chance(0.5):
            self.line(indent, f"assert {self.boolean(1)} or "
                              f"{self.integer(1)} < 4, 'told so'")
        else:
            self.line(indent, f"if {self.boolean(1)} and "
                              f"{self.integer(1)} > 4:")
            self.line(indent + 1, "raise ValueError('too large')")

    def call_writer(self, indent):
        writers = [h for h in self.helpers if h.kind == "writer"]
        targets = [a for a in self.scope.arrays if len(a.dims) == 2]
        if not writers or not targets:
            self.assign(indent)
            return
        array, helper = self.pick(targets), self.pick(writers)
        first, second = map(self.index, array.dims)
        self.line(indent, f"{helper.name}({array.name}, {first}, {second}, "
                          f"{self.number(1)})")

    def branch(self, indent):
        self.line(indent, f"if {self.boolean(2)}:")
        self.block(indent + 1, 3)
        if self.depth and self.chance(0.12):
            self.line(indent + 1, self.pick(("continue", "break")))
        if self.chance(0.2):
            self.line(indent, f"elif {self.boolean(1)}:")
            self.block(indent + 1, 2)
        if self.chance(0.4):
            self.line(indent, "else:")
            self.block(indent + 1, 3)

    def for_loop(self, indent):
        dim = self.pick(list(self.sizes) + [self.rng.randint(1, 4)])
        rounds = max(self.sizes.get(dim, dim), 1)
        if self.work * rounds > MOST_WORK:
            self.assign(indent)
            return
        name = self.name("i")
        bounds, low, high = self.range_of(dim)
        self.line(indent, f"for {name} in range({bounds}):")
        before = self.scope.loops
        self.scope.loops = before + [Loop(name, dim, low, high)]
        self.work *= rounds
        self.depth += 1
        self.block(indent + 1, 4)
        self.depth -= 1
        self.work //= rounds
        self.scope.loops = before
        if self.chance(0.06):
            self.scope.maybe.append(name)

    def range_of(self, dim):
        """(arguments of range, how far indices may go below, above)."""
        roll = self.rng.random()
        if roll < 0.45:
            return str(dim), 0, 0
        if roll < 0.70:
            low, high = self.rng.randint(0, 2), self.rng.randint(0, 2)
            return f"{low}, {dim} - {high}", low, high
        if roll < 0.82:
            step = self.rng.randint(2, 3)
            return f"0, {dim}, {step}", 0, 0
        if roll < 0.94:
            step = self.pick(("-1", "-1", "-2"))
            return f"{dim} - 1, -1, {step}", 0, 0
        names = self.scope.ints
        step = self.pick(names) if names else "2"
        return f"0, {dim}, {step}", 0, 0

    def while_loop(self, indent):
        if self.work * 6 > MOST_WORK:
            self.assign(indent)
            return
        name = self.name("n")
        self.line(indent, f"{name} = 0")
        self.line(indent, f"while {name} < {self.rng.randint(1, 6)} and "
                          f"{self.boolean(1)}:")
        self.work *= 6
        self.depth += 1
        before = self.scope.loops
        self.scope.loops = before + [Loop(name, None, 0, 0)]
        self.line(indent + 1, f"{name} += 1")
        self.block(indent + 1, 3)
        self.scope.loops = before
        self.depth -= 1
        self.work //= 6


NUMBER_RULES = (
    [Writer.sum_rule] * 5 + [Writer.product_rule] * 3
    + [Writer.quotient_rule] * 2 + [Writer.unary_rule]
    + [Writer.choice_rule] + [Writer.extreme_rule] + [Writer.convert_rule]
    + [Writer.root_rule] + [Writer.floor_rule] + [Writer.bits_rule]
    + [Writer.call_rule] * 2 + [Writer.power_rule])


def _shifted(name, offset):
    if offset == 0:
        return name
    return f"{name} {'+' if offset > 0 else '-'} {abs(offset)}"


class Helper:
    """A function that the entry calls."""

    def __init__(self, name, kind, arity):
        self.name = name
        self.kind = kind
        self.arity = arity


def _scalar_helper(rng, number, helpers):
    """A function of numbers, with branches and perhaps early returns."""
    arity = rng.randint(1, 3)
    params = [f"x{k}" for k in range(arity)]
    name = f"helper{number}"
    writer = Writer(rng, {}, helpers)
    writer.tame = 1
    writer.scope.floats = list(params)
    writer.line(0, f"def {name}({', '.join(params)}):")
    if rng.random() < 0.5:
        writer.line(1, f"if {writer.boolean(1)}:")
        writer.line(2, f"return float({writer.number(1)})")
    if rng.random() < 0.5:
        writer.line(1, f"t = float({writer.number(2)})")
        writer.scope.floats.append("t")
    writer.line(1, f"return float({writer.number(2)})")
    return writer.lines, Helper(name, "scalar", arity)


def _writer_helper(number):
    name = f"helper{number}"
    lines = [f"def {name}(a, r, c, v):",
             "    if r >= 0:",
             "        a[r, c] = v",
             "    return None"]
    return lines, Helper(name, "writer", 4)


def _array_text(rng, name, shape, dtype, layout):
    """Statements that make one argument."""
    size = "".join(f"{n}, " for n in shape)
    if layout == "t":
        size = "".join(f"{n}, " for n in reversed(shape))
    if layout in ("strided", "offset"):
        size = "".join(f"{2 * n + 1}, " for n in shape)
    if dtype == "bool":
        values = f"rng.uniform(0, 1, ({size})) < 0.5"
    elif dtype.startswith("float"):
        spread = rng.choice(("0, 1", "-3, 3", "-100, 100"))
        values = f"rng.uniform({spread}, ({size})).astype(np.{dtype})"
    else:
        low = "0" if dtype.startswith("u") else "-20"
        values = f"rng.randint({low}, 100, ({size})).astype(np.{dtype})"
    view = {
        "c": "", "f": "", "t": ".T",
        "reversed": "[" + ", ".join(["::-1"] * len(shape)) + "]",
        "strided": "[" + ", ".join(f":{2 * n}:2" for n in shape) + "]",
        "offset": "[" + ", ".join(f"1:{n + 1}" for n in shape) + "]",
    }[layout]
    if layout == "f":
        values = f"np.asfortranarray({values})"
    elif view:
        values = f"({values}){view}"
    return f"    {name} = {values}"


def _parameters(rng, writer, sizes):
    """Choose the entry's parameters; returns (names, lines of arguments)."""
    names, lines = [], []
    channels = rng.randint(1, 4)
    for k in range(rng.randint(1, 3)):
        name = f"a{k}"
        dims = rng.choice((["H", "W"], ["H", "W"], ["H"], ["W"],
                           ["H", "W", channels]))
        shape = [sizes.get(d, d) for d in dims]
        same = [a for a in writer.scope.arrays if a.dims == dims]
        if same and rng.random() < 0.25:
            other = rng.choice(same)
            view = rng.choice(("", "[::-1]"))
            lines.append(f"    {name} = {other.name}{view}")
            dtype = other.dtype
        else:
            dtype = rng.choice(DTYPES)
            lines.append(_array_text(rng, name, shape, dtype,
                                     rng.choice(LAYOUTS)))
        names.append(name)
        writer.scope.arrays.append(Array(name, dims, dtype))
    for k in range(rng.randint(0, 2)):
        name = f"s{k}"
        kind = rng.choice(("int", "int", "float", "bool", "numpy"))
        value = {"int": str(rng.randint(-2, 6)),
                 "float": rng.choice(("0.5", "-1.25", "3.0")),
                 "bool": rng.choice(("True", "False")),
                 "numpy": rng.choice(("np.float32(1.5)", "np.int32(3)",
                                      "np.float64(0.25)"))}[kind]
        target = {"int": writer.scope.ints, "bool": writer.scope.bools}
        target.get(kind, writer.scope.fixed).append(name)
        names.append(name)
        lines.append(f"    {name} = {value}")
    return names, lines


def _sizes_from(writer):
    """How the entry learns its sizes: from the first array that has them."""
    for name in list(writer.sizes):
        for array in writer.scope.arrays:
            if name in array.dims:
                axis = array.dims.index(name)
                writer.line(1, f"{name} = {array.name}.shape[{axis}]")
                break
        else:
            del writer.sizes[name]


def _results(rng, writer):
    """Arrays of the entry's own."""
    for _ in range(rng.randint(0, 2)):
        dims = [d for d in writer.sizes] or [3]
        dims = rng.choice((dims, dims[:1], dims + [rng.randint(1, 4)]))
        if len(dims) == 3 and isinstance(dims[1], int):
            dims = dims[:2]
        dtype = rng.choice(("float64", "float64", "float32", "uint8",
                            "int64", "int32"))
        name = writer.name("out")
        shape = "(" + "".join(f"{d}, " for d in dims).rstrip() + ")"
        kind = "" if dtype == "float64" else f", dtype=np.{dtype}"
        writer.line(1, f"{name} = np.zeros({shape}{kind})")
        writer.scope.arrays.append(Array(name, dims, dtype, fresh=True))


def _return(rng, writer):
    scope = writer.scope
    options = [a.name for a in scope.arrays if a.fresh] + scope.numbers()
    rng.shuffle(options)
    if rng.random() < 0.15 and scope.arrays:
        options.insert(0, rng.choice(scope.arrays).name)
    if rng.random() < 0.1 and scope.maybe:
        options.insert(0, rng.choice(scope.maybe))
    count = rng.randint(0, min(3, len(options)))
    if count == 0:
        return
    text = ", ".join(options[:count])
    writer.line(1, f"return {text}")


MAIN = '''
if __name__ == "__main__":
    from vizgen import accelerate
    for fn in (run, accelerate(run)):
        args = arguments()
        try:
            print(fn(*args))
        except Exception as error:
            print(type(error).__name__, error, error.__traceback__.tb_lineno)
        print(*args, sep="\\n")
'''


def program(seed):
    """The text of program number 'seed': every second one is a pipeline."""
    if seed % 2 == 0:
        return stencils.program(seed) + "\n" + MAIN
    rng = random.Random(seed)
    sizes = {"H": rng.choice(SIZES), "W": rng.choice(SIZES)}
    texts, helpers = [], []
    for number in range(rng.randint(0, 2)):
        if rng.random() < 0.8:
            lines, helper = _scalar_helper(rng, number, list(helpers))
        else:
            lines, helper = _writer_helper(number)
        texts += lines + ["", ""]
        helpers.append(helper)
    writer = Writer(rng, dict(sizes), helpers)
    names, made = _parameters(rng, writer, sizes)
    writer.line(0, f"def run({', '.join(names)}):")
    _sizes_from(writer)
    _results(rng, writer)
    for _ in range(rng.randint(1, 2)):
        name = writer.name(rng.choice("vwz"))
        start = {"v": "0.0", "w": "1", "z": "0"}[name[0]]
        writer.line(1, f"{name} = {start}")
        writer.scope.nums.append(name)
    for _ in range(rng.randint(1, 4)):
        writer.statement(1)
    while writer.statements < 4:
        writer.for_loop(1)
        writer.statements += 1
    _return(rng, writer)
    return "\n".join(
        [f'"""Random program {seed}."""', "import math", "",
         "import numpy as np", "", "", *texts, *writer.lines, "", "",
         "def arguments():", f"    rng = np.random.RandomState({seed})",
         *made, f"    return ({', '.join(names)},)", ""]) + "\n" + MAIN
