"""Random functions in IR text, for comparing ir_eval with generated C.

    text = function(seed)

Every operator, statement and loop mode that L_SCHED allows can occur.
Indices are loop variables of the buffer's own axes or are taken modulo the
axis, so that most calls are free of faults; the rest is skipped by emit_run.
"""
import random

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f32", "f64"]
TYPES = ["b1", *INTS, *FLOATS]
COMMON = ["i64", "i64", "f64", "f64", *TYPES]
INT_OPS = ["add", "sub", "mul", "idiv", "mod", "min", "max", "and", "or",
           "xor", "shl", "shr"]
CALLS = ["sqrt", "floor", "ceil", "trunc", "rint", "exp", "log", "sin",
         "square"]
CALLS2 = ["pow", "pyround", "pymod", "pyfloordiv", "npmod", "npfloordiv", "atan2",
          "fmod"]


class Function:
    """Text under construction: "scope" holds (reference, type, lanes) of the
    variables in sight, "buffers" (name, type, rank, extents, writable)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.lines = []
        self.scope = []
        self.buffers = []
        self.loops = 0
        self.logs = self.random.random() < 0.3

    def fresh(self, name="v"):
        self.count += 1
        return f"{name}.{self.count}"

    def add(self, text, line=True):
        at = f" @{self.random.randrange(1, 9)}:4" if line else ""
        self.lines.append(text.replace(" {", at + " {") if text.endswith("{")
                          else text + at)

    # --- expressions

    def constant(self, dtype):
        r = self.random
        if dtype == "b1":
            return r.choice(["true", "false"])
        if dtype in FLOATS:
            value = r.choice(["0.0", "-0.0", "1.0", "0.5", "-2.5", "3.0",
                              "1e10", "0.1", "255.5"])
            return value if dtype == "f64" else value + ":f32"
        value = r.choice([0, 1, 2, 3, 5, 7, 8, 100, 127])
        if dtype[0] == "i" and r.random() < 0.3:
            value = -value
        if dtype == "i64":
            return str(r.choice([value, value, 2**40, -2**63]))
        return f"{value}:{dtype}"

    def leaf(self, dtype, lanes):
        fits = [v for v, t, n in self.scope if t == dtype and n in (0, lanes)]
        if fits and self.random.random() < 0.75:
            return self.random.choice(fits)
        return self.constant(dtype)

    def load(self, dtype, depth):
        fits = [b for b in self.buffers if b[1] == dtype]
        if not fits:
            return None
        name, _, rank, extents, _ = self.random.choice(fits)
        index = [self.index(extents[k], depth) for k in range(rank)]
        return f"&{name}[{', '.join(index)}]"

    def index(self, extent, depth):
        return f"(mod {self.expr('i64', depth - 2)} {extent})"

    def expr(self, dtype, depth, lanes=0):
        r = self.random
        if depth <= 0 or r.random() < 0.1:
            return self.leaf(dtype, lanes)
        pick = r.random()
        if pick < 0.12:
            return (f"(select {self.expr('b1', depth - 1)} "
                    f"{self.expr(dtype, depth - 1, lanes)} "
                    f"{self.expr(dtype, depth - 1, lanes)})"
                    if lanes == 0 else self.leaf(dtype, lanes))
        if pick < 0.24:
            source = r.choice(COMMON)
            if source != dtype:
                return (f"(cast {dtype} "
                        f"{self.expr(source, depth - 1, lanes)})")
        if pick < 0.4 and lanes == 0:
            text = self.load(dtype, depth)
            if text:
                return text
        if dtype == "b1":
            return self.boolean(depth, lanes)
        return self.arithmetic(dtype, depth, lanes)

    def boolean(self, depth, lanes):
        r = self.random
        dtype = r.choice(TYPES)
        pair = (f"{self.expr(dtype, depth - 1, lanes)} "
                f"{self.expr(dtype, depth - 1, lanes)}")
        pick = r.random()
        if pick < 0.5:
            return f"({r.choice(['eq', 'ne', 'lt', 'le'])} {pair})"
        if pick < 0.65 and dtype in INTS:
            return f"({r.choice(['addo', 'subo', 'mulo'])} {pair})"
        if pick < 0.75:
            name = r.choice(["finite", "isinf", "isnan"])
            return f"(call {name}:b1 {self.expr('f64', depth - 1, lanes)})"
        if pick < 0.85:
            return f"(not {self.expr('b1', depth - 1, lanes)})"
        return (f"({r.choice(['and', 'or', 'xor'])} "
                f"{self.expr('b1', depth - 1, lanes)} "
                f"{self.expr('b1', depth - 1, lanes)})")

    def arithmetic(self, dtype, depth, lanes):
        r = self.random
        one = self.expr(dtype, depth - 1, lanes)
        if r.random() < 0.15:
            names = ["neg", "abs"] if dtype in FLOATS else ["neg", "abs", "inv"]
            return f"({r.choice(names)} {one})"
        if dtype == "f64" and r.random() < 0.25:
            if r.random() < 0.5:
                return f"(call {r.choice(CALLS)}:f64 {one})"
            other = self.expr(dtype, depth - 1, lanes)
            return f"(call {r.choice(CALLS2)}:f64 {one} {other})"
        if dtype == "f32" and r.random() < 0.15:
            return f"(call {r.choice(CALLS[:5])}:f32 {one})"
        ops = ["add", "sub", "mul", "div"] if dtype in FLOATS else INT_OPS
        return f"({r.choice(ops)} {one} {self.expr(dtype, depth - 1, lanes)})"

    # --- statements

    def let(self, dtype=None, depth=3):
        lanes = 3 if self.random.random() < 0.15 else 0
        dtype = dtype or self.random.choice(COMMON)
        name = self.fresh()
        value = self.expr(dtype, depth, lanes)
        size = f"x{lanes}" if lanes else ""
        if lanes:
            value = f"(add (splat 3 {self.constant(dtype)}) {value})"
            if dtype == "b1":
                value = f"(splat 3 {self.expr(dtype, depth)})"
        self.add(f"let %{name}:{dtype}{size} = {value}")
        self.scope.append((f"%{name}", dtype, lanes))
        if lanes:
            self.lane_of(name, dtype)

    def lane_of(self, name, dtype):
        one = self.fresh("lane")
        index = self.random.choice(["0", "2", f"(mod {self.expr('i64', 1)} 3)"])
        self.add(f"let %{one}:{dtype} = (elem (insert %{name} "
                 f"(mod {self.expr('i64', 1)} 3) {self.expr(dtype, 1)}) {index})")
        self.scope.append((f"%{one}", dtype, 0))

    def store(self):
        fits = [b for b in self.buffers if b[4]]
        if not fits:
            return
        name, dtype, rank, extents, _ = self.random.choice(fits)
        index = ", ".join(self.index(extents[k], 3) for k in range(rank))
        value = self.expr(dtype, 3)
        self.add(f"store &{name}[{index}] = {value}"
                 + (" logged" if self.logs else ""))

    def branch(self, depth):
        dtypes = [self.random.choice(COMMON)
                  for _ in range(self.random.randrange(3))]
        self.add(f"if {self.expr('b1', 2)} {{")
        first = self.block(depth, dtypes)
        self.add("} else {", line=False)
        second = self.block(depth, dtypes)
        self.lines.append("}")
        for dtype, yes, no in zip(dtypes, first, second):
            name = self.fresh("join")
            self.add(f"join %{name}:{dtype} = {yes}, {no}", line=False)
            self.scope.append((f"%{name}", dtype, 0))

    def block(self, depth, dtypes):
        """Statements of a scope of their own, then an expression per dtype."""
        scope, buffers = self.scope, self.buffers
        self.scope, self.buffers = list(scope), list(buffers)
        self.statements(depth)
        values = [self.expr(dtype, 2) for dtype in dtypes]
        self.scope, self.buffers = scope, buffers
        return values

    def loop(self, depth):
        r = self.random
        dtypes = [r.choice(COMMON) for _ in range(r.randrange(3))]
        names = [self.fresh("carry") for _ in dtypes]
        inits = [self.expr(dtype, 2) for dtype in dtypes]
        number = self.fresh("l").split(".")[1]
        scope, buffers = self.scope, self.buffers
        self.scope, self.buffers = list(scope), list(buffers)
        counted = r.random() < 0.7
        if counted:
            var = self.fresh("i")
            hi = r.choice(["3", "(mod %s 4)" % self.expr("i64", 1)])
            poll = r.choice(["", " poll"])
            self.add(f"for %{var}:i64 in {r.choice(['0', '1', '-1'])}, {hi} "
                     f"#{number}{poll} {{")
            self.scope.append((f"%{var}", "i64", 0))
        else:
            names.append(self.fresh("round"))
            dtypes.append("i64")
            inits.append("0")
            self.add(f"while #{number} {{")
        for name, dtype, value in zip(names, dtypes, inits):
            self.add(f"carry %{name}:{dtype} = {value}", line=False)
            self.scope.append((f"%{name}", dtype, 0))
        if not counted:
            self.add("pre {", line=False)
            if r.random() < 0.5:
                self.let(depth=2)
            self.lines.append("}")
            self.add(f"test (and (lt %{names[-1]} 4) "
                     f"{self.expr('b1', 1)})", line=False)
        self.statements(depth)
        self.finish_loop(names, dtypes, scope, buffers, counted)

    def finish_loop(self, names, dtypes, scope, buffers, counted):
        r = self.random
        until = r.random() < 0.5
        if until and r.random() < 0.7:
            self.deciding(names, dtypes)
        outs = []
        for k, (name, dtype) in enumerate(zip(names, dtypes)):
            out = self.fresh("out")
            step = not counted and k == len(names) - 1
            value = f"(add %{name} 1)" if step else self.expr(dtype, 2)
            self.add(f"next %{name} = {value} -> %{out}:{dtype}", line=False)
            outs.append((f"%{out}", dtype, 0))
        if until:
            stops = [v for v, t, n in self.scope if t == "b1" and n == 0]
            self.add("until " + (r.choice(stops[-2:]) if stops
                                 else self.expr("b1", 2)), line=False)
        self.lines.append("}")
        self.scope, self.buffers = scope + outs, buffers

    def deciding(self, names, dtypes):
        """An IF at the end of a loop that settles whether it ends."""
        self.add(f"if {self.expr('b1', 2)} {{")
        first = self.block(0, dtypes)
        self.add("} else {", line=False)
        second = self.block(0, dtypes)
        self.lines.append("}")
        joins = []
        for dtype, yes, no in zip(dtypes, first, second):
            name = self.fresh("join")
            self.add(f"join %{name}:{dtype} = {yes}, {no}", line=False)
            joins.append((f"%{name}", dtype, 0))
        stop = self.fresh("stop")
        pair = self.random.choice(["true, false", "false, true",
                                   f"true, {self.expr('b1', 1)}"])
        self.add(f"join %{stop}:b1 = {pair}", line=False)
        self.scope += [*joins, (f"%{stop}", "b1", 0)]

    def nest(self):
        """A parallel, perhaps vector loop over a writable array of rank 2."""
        r = self.random
        fits = [b for b in self.buffers if b[4] and b[2] == 2]
        if self.loops or not fits:
            return
        name, dtype, _, extents, _ = r.choice(fits)
        whole, self.scope_before = self.buffers, self.scope
        self.buffers = [b for b in whole if b[0] != name]
        scope, self.scope = self.scope, list(self.scope)
        y, x, yl, xl = (self.fresh(k) for k in ("y", "x", "l", "l"))
        self.add(f"for %{y}:i64 in 0, {extents[0]} #{yl.split('.')[1]} "
                 f"parallel{r.choice(['', ' poll'])} {{")
        self.scope.append((f"%{y}", "i64", 0))
        if r.random() < 0.5:
            self.alloc()
        self.buffers = [(*b[:4], False) for b in self.buffers]
        mode = r.choice(["", " vector"])
        self.add(f"for %{x}:i64 in 0, {extents[1]} #{xl.split('.')[1]}"
                 f"{mode} {{")
        self.scope.append((f"%{x}", "i64", 0))
        for _ in range(r.randrange(4)):
            self.let()
        if r.random() < 0.3:
            self.check()
        value = self.expr(dtype, 3)
        self.add(f"store &{name}[%{y}, %{x}] = {value}")
        self.lines += ["}", "}"]
        self.scope, self.buffers = scope, whole

    def check(self):
        r = self.random
        cond = r.choice([f"(or {self.expr('b1', 2)} {self.expr('b1', 2)})",
                         f"(le {self.expr('i64', 1)} 1000)"])
        self.add(f"check {cond} {r.choice(['value', 'overflow'])} "
                 f"{r.choice(['replay', 'bail'])}")

    def alloc(self):
        r = self.random
        dtype, rank = r.choice(COMMON), r.randrange(1, 3)
        name = self.fresh("buf")
        stack = r.random() < 0.3
        extents = [str(r.randrange(1, 5)) if stack or r.random() < 0.5
                   else f"(add (and {self.expr('i64', 1)} 3) 1)"
                   for _ in range(rank)]
        self.add(f"alloc &{name}:{dtype}[{', '.join(extents)}] local"
                 + (" stack" if stack else ""))
        self.add(f"fill &{name} = {self.expr(dtype, 1)}")
        if r.random() < 0.5:
            box = ", ".join(self.expr("i64", 1) for _ in range(2 * rank))
            self.add(f"fill &{name} = {self.constant(dtype)} keep [{box}]")
        dims = [f"(dim &{name} {k})" for k in range(rank)]
        self.buffers.append((name, dtype, rank, dims, True))

    def statements(self, depth):
        r = self.random
        for _ in range(r.randrange(1, 5)):
            pick = r.random()
            if pick < 0.45 or depth == 0:
                self.let()
            elif pick < 0.6:
                self.store()
            elif pick < 0.7:
                self.loops += 1
                self.loop(depth - 1)
                self.loops -= 1
            elif pick < 0.8:
                self.branch(depth - 1)
            elif pick < 0.85:
                self.add(f"warn {self.expr('b1', 2)} "
                         f"{r.choice(['divide', 'overflow', 'invalid'])}")
            elif pick < 0.87:
                self.check()
            elif pick < 0.93:
                self.alloc()
            else:
                self.nest()

    # --- the whole

    def params(self):
        r = self.random
        for k in range(r.randrange(4)):
            name, dtype = self.fresh(f"p{k}"), r.choice(COMMON)
            self.lines.append(f"param p{k} %{name}:{dtype}")
            self.scope.append((f"%{name}", dtype, 0))
        for k in range(r.randrange(1, 4)):
            name, dtype = self.fresh(f"a{k}"), r.choice(COMMON)
            rank = r.randrange(1, 4)
            dims = [":"] * rank
            if rank == 3:
                dims[2] = r.choice([":", "3"])
            layout = r.choice(["c", "any"])
            self.lines.append(f"param a{k} &{name}:{dtype}"
                              f"[{', '.join(dims)}] {layout}")
            sizes = [f"(dim &{name} {i})" for i in range(rank)]
            self.buffers.append((name, dtype, rank, sizes, r.random() < 0.7))

    def text(self):
        r = self.random
        general = r.choice(["", " general"])
        self.params()
        for _ in range(3):
            self.statements(3)
        self.nest()
        scalars = [v for v, _, _ in self.scope]
        for value in scalars[-8:]:
            self.lines.append(f"ret {value}")
        body = "\n".join(self.lines)
        return f"func random sched{general} @1:0 {{\n{body}\n}}\n"


def function(seed):
    """The IR text of random function number 'seed'."""
    return Function(seed).text()
