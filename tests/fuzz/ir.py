"""Random functions at level 'array', as text for vz-opt.

They have what lowered programs have: nests over the axes of arguments and
fresh arrays, sums that are SET, small vectors, conditions, early exits, inlined
scopes, index checks.  Every index is in range or checked, integers stay small,
every loop ends: the interpreter must never report a fault.
"""
import random

SCALARS = ("i64", "f64", "b1")


class Program:
    """'text' is a function; 'args' are arguments for --eval."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.depth = 1
        self.ids = 0
        self.line = 1
        self.lets = []     # (text, dtype), visible here
        self.sets = {}     # dtype -> names
        self.indices = []  # (variable, (buffer, axis), first, cut) of loops
        self.alike = {}    # (buffer, axis) -> the axis it was made like
        self.checks = []   # wanted in front of the statement being made
        self.loops = 0
        self.scopes = 0
        self.budget = self.rng.randint(8, 40)
        self.bufs = []     # (text, dtype, rank, last extent or None)
        self.build()

    # --- pieces --------------------------------------------------------------

    def fresh(self, stem):
        self.ids += 1
        return f"{stem}.{self.ids}"

    def emit(self, text, loc=True):
        self.line += 1
        self.lines.append("  " * self.depth + text
                          + (f" @{self.line}:0" if loc else ""))

    def block(self, head, body):
        """'head {', what 'body' emits, '}'; names of the body end with it."""
        self.emit(f"{head} @{self.line}:0 {{", loc=False)
        self.depth += 1
        lets, indices = list(self.lets), list(self.indices)
        body()
        self.lets, self.indices = lets, indices
        self.depth -= 1
        self.emit("}", loc=False)

    def pick(self, *choices):
        return self.rng.choice(choices)

    # --- expressions ---------------------------------------------------------

    def leaf(self, dtype):
        names = [text for text, kind in self.lets if kind == dtype]
        names += self.sets.get(dtype, [])
        if dtype == "i64":
            names += [entry[0] for entry in self.indices]
            names += [f"(dim &{b[0]} {self.rng.randrange(b[2])})"
                      for b in self.bufs]
        if names and self.rng.random() < 0.7:
            return self.rng.choice(names)
        number = self.rng.randint(-4, 9)
        return {"i64": str(number), "f64": f"{number / 2}",
                "b1": self.pick("true", "false"),
                "f64x3": f"(splat 3 {number / 2})"}[dtype]

    def expr(self, dtype, depth=2):
        if depth == 0 or self.rng.random() < 0.2:
            return self.leaf(dtype)
        make = {"i64": self.int_expr, "f64": self.float_expr,
                "b1": self.bool_expr, "f64x3": self.vector_expr}[dtype]
        return make(depth - 1)

    def int_expr(self, d):
        op = self.pick("add", "sub", "mul", "min", "max", "mod", "idiv",
                       "select", "cast")
        if op == "select":
            return (f"(select {self.expr('b1', d)} {self.expr('i64', d)} "
                    f"{self.expr('i64', d)})")
        if op == "cast":
            return f"(cast i64 {self.expr('b1', d)})"
        if op in ("mod", "idiv", "mul"):
            small = self.rng.choice([-3, -2, 2, 3, 5])
            return f"({op} (mod {self.expr('i64', d)} 1000) {small})"
        return f"({op} {self.expr('i64', d)} {self.expr('i64', d)})"

    def float_expr(self, d):
        kind = self.pick("op", "op", "load", "load", "select", "cast", "call",
                         "elem")
        if kind == "load":
            load = self.load(vector=False)
            return load or self.leaf("f64")
        if kind == "select":
            return (f"(select {self.expr('b1', d)} {self.expr('f64', d)} "
                    f"{self.expr('f64', d)})")
        if kind == "cast":
            return f"(cast f64 {self.expr('i64', d)})"
        if kind == "call":
            fn = self.pick("sqrt", "floor")
            return f"(call {fn}:f64 (abs {self.expr('f64', d)}))"
        if kind == "elem":
            return f"(elem {self.expr('f64x3', d)} {self.rng.randrange(3)})"
        op = self.pick("add", "sub", "mul", "div")
        return f"({op} {self.expr('f64', d)} {self.expr('f64', d)})"

    def bool_expr(self, d):
        op = self.pick("lt", "le", "eq", "ne", "and", "or", "not")
        if op == "not":
            return f"(not {self.expr('b1', d)})"
        dtype = "b1" if op in ("and", "or") else self.pick("i64", "f64")
        return f"({op} {self.expr(dtype, d)} {self.expr(dtype, d)})"

    def vector_expr(self, d):
        kind = self.pick("op", "load", "insert", "scaled")
        if kind == "load":
            return self.load(vector=True) or self.leaf("f64x3")
        if kind == "insert":
            return (f"(insert {self.expr('f64x3', d)} {self.rng.randrange(3)} "
                    f"{self.expr('f64', d)})")
        if kind == "scaled":
            return f"(mul {self.expr('f64x3', d)} {self.expr('f64', d)})"
        return f"(add {self.expr('f64x3', d)} {self.expr('f64x3', d)})"

    # --- memory --------------------------------------------------------------

    def index(self, buf, axis):
        """An index within the axis: a loop's variable over it, or one that
        a check in front of the statement holds in range."""
        over = [entry for entry in self.indices
                if (self.same_axis(entry[1]) == self.same_axis((buf[0], axis)))]
        if over and self.rng.random() < 0.9:
            var, _, low, cut = self.rng.choice(over)
            offset = self.rng.randint(-low, cut)
            return f"(add {var} {offset})" if offset else var
        if axis == buf[2] - 1 and buf[3]:
            return str(self.rng.randrange(buf[3]))
        extent = f"(dim &{buf[0]} {axis})"
        if over:
            index = f"(add {over[-1][0]} {self.rng.randint(-1, 1)})"
        else:
            index = self.expr("i64", 1)
        if self.rng.random() < 0.9:
            self.checks.append(f"check (lt 0 {extent}) zero_division replay")
            return f"(mod {index} {extent})"
        self.checks.append(f"check (and (le 0 {index}) (lt {index} {extent})) "
                           "index replay")
        return index

    def same_axis(self, axis):
        """Axes of equal extent have equal keys: those made alike."""
        return self.alike.get(axis, axis)

    def place(self, buf, vector):
        rank = buf[2] - vector
        indices = ", ".join(self.index(buf, k) for k in range(rank))
        return f"&{buf[0]}[{indices}]"

    def load(self, vector):
        bufs = [b for b in self.bufs
                if b[1] == "f64" and (b[3] == 3 or not vector)]
        if not bufs:
            return None
        return self.place(self.rng.choice(bufs), vector) + "<3>" * vector

    def with_checks(self, make):
        """Emits the checks that 'make' asks for, then its statement."""
        self.checks = []
        text = make()
        for check in self.checks:
            self.emit(check)
        self.emit(text)

    # --- statements ----------------------------------------------------------

    def let(self):
        dtype = self.pick(*SCALARS, "f64", "f64x3")
        name = "%" + self.fresh("t")
        self.with_checks(lambda: f"let {name}:{dtype} = {self.expr(dtype)}")
        self.lets.append((name, dtype))

    def set(self):
        dtype = self.pick(*self.sets)
        name = self.rng.choice(self.sets[dtype])
        self.with_checks(lambda: f"set {name} = {self.limited(dtype, name)}")

    def limited(self, dtype, name):
        """A new value, often made from the old; integers stay small."""
        value = self.expr(dtype)
        if dtype == "i64":
            return f"(mod (add {name} {value}) 997)"
        if dtype == "f64" and self.rng.random() < 0.6:
            return f"(add {name} {value})"
        return value

    def store(self):
        buf = self.rng.choice(self.bufs)
        vector = buf[3] == 3 and buf[1] == "f64" and self.rng.random() < 0.4
        value = ("f64x3" if vector else "f64") if buf[1] == "f64" else "i64"

        def make():
            what = self.expr(value)
            if buf[1] == "u8":
                what = f"(cast u8 {what})"
            return f"store {self.place(buf, vector)} = {what}"
        self.with_checks(make)

    def branch(self):
        self.block(f"if {self.expr_without_loads('b1')}", self.body)
        if self.rng.random() < 0.5:
            self.lines[-1] = self.lines[-1] + " else {"
            self.depth += 1
            lets = list(self.lets)
            self.body()
            self.lets = lets
            self.depth -= 1
            self.emit("}", loc=False)

    def expr_without_loads(self, dtype):
        bufs, self.bufs = self.bufs, []
        text = self.expr(dtype)
        self.bufs = bufs
        return text

    def loop(self):
        var = "%" + self.fresh("i")
        buf = self.rng.choice(self.bufs)
        axis = self.rng.randrange(buf[2])
        if self.rng.random() < 0.75:
            low, cut = self.pick((0, 0), (0, 0), (1, 1), (0, 1), (2, 1))
            high = f"(dim &{buf[0]} {axis})"
            high = f"(sub {high} {cut})" if cut else high
            entry = (var, (buf[0], axis), low, cut)
        else:
            low, high = self.rng.randint(-2, 2), self.rng.randint(0, 5)
            entry = None

        def body():
            if entry:
                self.indices.append(entry)
            else:
                self.lets.append((var, "i64"))
            self.loops += 1
            self.body()
            self.loops -= 1
        self.ids += 1
        self.block(f"for {var}:i64 in {low}, {high} #{self.ids}", body)

    def repeat(self):
        """A WHILE over a SET counter that nothing else changes."""
        count = "%" + self.fresh("count")
        self.emit(f"set {count}:i64 = {self.rng.randint(0, 5)}")
        self.ids += 1
        number = self.ids
        test = self.fresh("go")

        def body():
            self.emit("pre {", loc=False)
            self.emit(f"  let %{test}:b1 = (lt 0 {count})")
            self.emit("}", loc=False)
            self.emit(f"test %{test}", loc=False)
            self.emit(f"set {count} = (sub {count} 1)")
            self.loops += 1
            self.body()
            self.loops -= 1
        self.block(f"while #{number}", body)

    def scope(self):
        def body():
            self.scopes += 1
            self.body()
            self.scopes -= 1
        self.block("scope", body)

    def leave(self):
        """An exit under a condition."""
        words = ["break", "continue"] * bool(self.loops)
        words += ["leave"] * bool(self.scopes)
        if words:
            word = self.rng.choice(words)
            self.block(f"if {self.expr_without_loads('b1')}",
                       lambda: self.emit(word))

    def body(self):
        for _ in range(self.rng.randint(1, 4)):
            self.budget -= 1
            if self.budget < 0:
                break
            kinds = [self.let, self.set, self.store, self.store]
            if self.depth < 6:
                kinds += [self.loop, self.loop, self.branch, self.leave]
                kinds += [self.scope] if self.rng.random() < 0.3 else []
                kinds += [self.repeat] if self.rng.random() < 0.3 else []
            self.rng.choice(kinds)()

    # --- the whole -----------------------------------------------------------

    def build(self):
        rng = self.rng
        shape = [rng.choice([0, 1, 2, 3, 4, 5, 5]), rng.randint(1, 5)]
        self.args = []
        for number, (dtype, rank, last) in enumerate(rng.sample([
                ("f64", 2, None), ("f64", 3, 3), ("u8", 2, None),
                ("f64", 1, None)], 3)):
            name = self.fresh("a")
            dims = [":"] * (rank - bool(last)) + [str(last)] * bool(last)
            self.emit(f"param a{number} &{name}:{dtype}[{', '.join(dims)}]",
                      loc=False)
            sizes = (shape + [3])[:rank] if last or rank < 3 else shape
            layout = self.pick("", "@t", "@r", "@s")
            text = ",".join(map(str, sizes))
            self.args.append(f"--arg={dtype}[{text}]=rand:{number}{layout}")
            self.bufs.append((name, dtype, rank, last))
        for dtype, value in (("i64", rng.randint(-3, 9)), ("f64", 1.5)):
            name = "%" + self.fresh("k")
            self.emit(f"param k {name}:{dtype}", loc=False)
            self.lets.append((name, dtype))
            self.args.append(f"--arg={dtype}={value}")
        self.allocate()
        for dtype in SCALARS + ("f64x3",):
            name = "%" + self.fresh("s")
            self.emit(f"set {name}:{dtype} = {self.leaf(dtype)}")
            self.sets.setdefault(dtype, []).append(name)
        while self.budget > 0:
            self.body()
        for names in self.sets.values():
            self.emit(f"ret {names[0]}", loc=False)
        self.text = "\n".join(["func f array {", *self.lines, "}", ""])

    def allocate(self):
        """A result of the size of an argument, perhaps a scratch array."""
        like = self.bufs[0]
        name = self.fresh("out")
        dims = ", ".join(f"(dim &{like[0]} {k})" for k in range(like[2] - 1))
        dims = (dims + ", " if dims else "") + (
            str(like[3]) if like[3] else f"(dim &{like[0]} {like[2] - 1})")
        self.alike = {(name, k): (like[0], k) for k in range(like[2])}
        self.emit(f"alloc &{name}:f64[{dims}] local")
        self.emit(f"fill &{name} = 0.0")
        self.bufs.append((name, "f64", like[2], like[3]))
