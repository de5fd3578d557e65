"""Random functions at level 'array' about names of memory, as text for vz-opt.

They bind names in branches and loops, exchange them, take views of views, hand
on arrays that a round has made, write by one name what another one reads, and
let lists grow.  Every access is inside: a loop runs over the very axis, or an
IF stands around it.  Numbers of rounds and sizes are small, whatever the
arguments are.
"""
import random


class Program:
    """'text' is a function; 'args' are arguments for --eval."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.depth = 1
        self.ids = 0
        self.line = 1
        self.names = []   # (name, rank) that have an array here
        self.bound = []   # those that BIND may give another one
        self.late = []    # (name, rank, flag): bound under a flag only
        self.lists = []   # (buffer, length)
        self.ints = ["%n.0"]
        self.loops = 0
        self.budget = self.rng.randint(6, 26)
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
        kept = [list(part) for part in (self.names, self.ints, self.lists)]
        body()
        self.names, self.ints, self.lists = kept
        self.depth -= 1
        self.emit("}", loc=False)

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def name(self, rank=None):
        """Some name that has an array."""
        fit = [n for n in self.names if rank in (None, n[1])]
        return self.rng.choice(fit)

    # --- numbers -------------------------------------------------------------

    def whole(self):
        """A small integer, perhaps negative."""
        value = self.rng.choice(self.ints)
        shift = self.rng.randint(-2, 3)
        return self.pick(value, f"(add {value} {shift})", str(shift))

    def cond(self):
        name, rank = self.name()
        dim = f"(dim {name} {self.rng.randrange(rank)})"
        value = self.rng.choice(self.ints)
        return self.pick(f"(lt {self.whole()} {dim})",
                         f"(eq (mod {value} 2) {self.rng.randrange(2)})",
                         f"(eq (mod {value} 3) {self.rng.randrange(3)})")

    def inside(self, name, index):
        """The condition that 'index' lies in the array."""
        parts = [f"(and (le 0 {i}) (lt {i} (dim {name} {axis})))"
                 for axis, i in enumerate(index)]
        return parts[0] if len(parts) == 1 else f"(and {parts[0]} {parts[1]})"

    def term(self, loads):
        """A float of constants, integers and what 'loads' offers."""
        base = self.rng.choice(loads) if loads else "1.0"
        other = self.pick(*loads, "0.5", "1.5",
                          f"(cast f64 {self.rng.choice(self.ints)})")
        return self.pick(f"(add (mul {base} 0.5) {other})",
                         f"(sub {base} {other})", base)

    # --- names ---------------------------------------------------------------

    def alloc(self, rank=None):
        """A filled array; its extents are those of others, or small."""
        rank = rank or self.pick(1, 1, 2)
        buf = "&" + self.fresh("t")
        dims = []
        for _ in range(rank):
            other, r = self.name()
            dim = f"(dim {other} {self.rng.randrange(r)})"
            dims.append(self.pick(dim, dim, str(self.rng.randint(0, 4)),
                                  f"(min (add {dim} 1) 9)"))
        self.emit(f"alloc {buf}:f64[{', '.join(dims)}]")
        self.emit(f"fill {buf} = {self.rng.randint(0, 9)}.0")
        self.names.append((buf, rank))
        return buf, rank

    def view(self, of=None):
        """A part of some array."""
        src, rank = of or self.name()
        dims = [f"(dim {src} {k})" for k in range(rank)]
        d = dims[0]
        half = f"(idiv (add {d} 1) 2)"
        less = f"(max 0 (sub {d} 1))"
        if rank == 1:
            start, axes = self.pick(
                ("0", [f"0: {half} by 2"]),
                ("0", [f"0: {less} by 1"]),
                (f"(sub {d} 1)", [f"0: {d} by -1"]),
                (f"(min 1 {d})", [f"0: {less} by 1"]),
                ("0", ["-1: 1 by 1", f"0: {d} by 1"]))
        else:
            e = dims[1]
            row = f"(mod {self.whole()} (max 1 {d}))"
            col = f"(mod {self.whole()} (max 1 {e}))"
            start, axes = self.pick(
                (f"{row}, 0", [f"1: (select (lt 0 {d}) {e} 0) by 1"]),
                (f"0, {col}", [f"0: (select (lt 0 {e}) {d} 0) by 1"]),
                ("0, 0", [f"1: {e} by 1", f"0: {d} by 1"]),
                (f"(min 1 {d}), 0", [f"0: {less} by 1", f"1: {e} by 1"]),
                ("0, 0", [f"0: {half} by 2", f"1: {e} by 1"]),
                (f"0, (sub {e} 1)", [f"0: {d} by 1", f"1: {e} by -1"]))
        name = "&" + self.fresh("v")
        colons = ", ".join(":" * len(axes))
        self.emit(f"view {name}:f64[{colons}] ref = {src} at [{start}] "
                  f"over [{', '.join(axes)}]")
        self.names.append((name, len(axes)))
        return name, len(axes)

    def bind(self):
        """A name gets the array of another, or two exchange theirs."""
        name, rank = self.rng.choice(self.bound)
        if self.chance(30) and len([b for b in self.bound if b[1] == rank]) > 1:
            other = self.rng.choice([b[0] for b in self.bound if b[1] == rank])
            keep = "&" + self.fresh("k")
            self.emit(f"bind {keep}:f64[{', '.join(':' * rank)}] ref = {name}")
            self.emit(f"bind {name} = {other}")
            self.emit(f"bind {other} = {keep}")
        else:
            self.emit(f"bind {name} = {self.name(rank)[0]}")

    def bind_view(self):
        """A name gets a part of some array."""
        view, rank = self.view()
        names = [name for name, r in self.bound if r == rank]
        self.emit(f"bind {self.rng.choice(names)} = {view}")

    def bind_late(self):
        name, rank, flag = self.rng.choice(self.late)
        self.emit(f"bind {name} = {self.name(rank)[0]}")
        self.emit(f"set {flag} = true")

    def read_late(self):
        name, rank, flag = self.rng.choice(self.late)
        self.block(f"if {flag}", lambda: self.access(name, rank))

    # --- accesses ------------------------------------------------------------

    def access(self, name, rank):
        """One element, where there is one."""
        index = [f"(mod {self.whole()} (max 1 (dim {name} {k})))"
                 for k in range(rank)]
        place = f"{name}[{', '.join(index)}]"

        def touch():
            if self.chance(50):
                self.emit(f"store {place} = {self.term([place, '%sum.1'])}")
            else:
                self.emit(f"set %sum.1 = {self.term([place, '%sum.1'])}")
        self.block(f"if {self.inside(name, index)}", touch)

    def nest(self):
        """Loops over an array that is read or written, others guarded."""
        name, rank = self.name()
        variables = []
        self.other = self.view((name, rank)) if self.chance(30) else self.name()

        def level(axis):
            if axis == rank:
                self.nest_body(name, variables)
                return
            var = "%" + self.fresh("i")
            variables.append(var)
            self.ids += 1

            def body():
                self.ints.append(var)
                level(axis + 1)
            self.block(f"for {var}:i64 in 0, (dim {name} {axis}) #{self.ids}",
                       body)
        level(0)

    def nest_body(self, name, variables):
        place = f"{name}[{', '.join(variables)}]"
        other, rank = self.other
        index = [self.pick(self.rng.choice(variables),
                           f"(sub {self.rng.choice(variables)} 1)")
                 for _ in range(rank)]
        there = f"{other}[{', '.join(index)}]"
        if self.chance(40):
            self.emit(f"store {place} = {self.term([place])}")

        def touch():
            kind = self.rng.randrange(4)
            if kind == 0:
                self.emit(f"store {place} = {self.term([there, place])}")
            elif kind == 1:
                self.emit(f"store {there} = {self.term([place, there])}")
            else:
                self.emit(f"set %sum.1 = {self.term(['%sum.1', there])}")
        self.block(f"if {self.inside(other, index)}", touch)
        if self.chance(40):
            self.emit(f"set %sum.1 = {self.term(['%sum.1', place])}")

    def probe(self):
        """Reads by one name, writes by another, reads again."""
        name, rank = self.name()
        other = (self.view((name, rank)) if self.chance(50)
                 else self.name(rank))[0]
        ranks = dict(self.names)
        index = [self.pick("0", "1", self.rng.choice(self.ints))
                 for _ in range(rank)]
        there = index[:ranks[other]] + ["0"] * (ranks[other] - rank)
        if self.chance(30):
            there = there[::-1]
        place = f"{name}[{', '.join(index)}]"
        place2 = f"{other}[{', '.join(there)}]"

        def touch():
            self.emit(f"set %sum.1 = {self.term(['%sum.1', place])}")
            self.emit(f"store {place2} = {self.term([place, place2])}")
            self.emit(f"set %sum.1 = (add (mul %sum.1 0.5) {place})")
            if self.chance(50):
                self.emit(f"store {place} = {self.term([place2])}")
                self.emit(f"set %sum.1 = (add (mul %sum.1 0.5) {place2})")
        self.block(f"if (and {self.inside(name, index)} "
                   f"{self.inside(other, there)})", touch)

    def step(self):
        """x = f(x): an array made of the one that a name has, which it gets."""
        name, rank = self.rng.choice(self.bound)
        fresh, also = "&" + self.fresh("t"), self.name(rank)[0]
        dims = [f"(dim {name} {k})" for k in range(rank)]
        self.emit(f"alloc {fresh}:f64[{', '.join(dims)}]")
        self.emit(f"fill {fresh} = {self.rng.randint(0, 9)}.0")
        variables = ["%" + self.fresh("i") for _ in range(rank)]
        index = [self.pick(v, f"(sub (sub {d} 1) {v})", f"(mod (add {v} 1) {d})")
                 for v, d in zip(variables, dims)]
        loads = [f"{name}[{', '.join(index)}]", f"{name}[{', '.join(variables)}]"]
        place = f"{fresh}[{', '.join(variables)}]"

        def level(axis):
            if axis < rank:
                self.ids += 1
                self.block(f"for {variables[axis]}:i64 in 0, {dims[axis]} "
                           f"#{self.ids}", lambda: level(axis + 1))
                return
            self.emit(f"store {place} = {self.term(loads)}")
            if self.chance(30):
                there = f"{also}[{', '.join(variables)}]"
                self.block(f"if {self.inside(also, variables)}",
                           lambda: self.emit(f"store {there} = "
                                             f"{self.term([place, there])}"))
        level(0)
        if self.chance(30):
            other = self.rng.choice([b for b, r in self.bound if r == rank])
            self.emit(f"bind {other} = {name}")
        self.emit(f"bind {name} = {fresh}")
        self.names.append((fresh, rank))

    def evolve(self):
        """A loop in which one array is made of another, and names change."""
        rank = self.pick(1, 2)
        (p, _), (q, _) = [b for b in self.bound if b[1] == rank]
        var = "%" + self.fresh("r")
        self.ids += 1
        loop = self.ids

        def exchange():
            keep = "&" + self.fresh("k")
            self.emit(f"bind {keep}:f64[{', '.join(':' * rank)}] ref = {p}")
            self.emit(f"bind {p} = {q}")
            self.emit(f"bind {q} = {keep}")

        def both():
            name = self.alloc(rank)[0]
            self.emit(f"bind {p} = {name}")
            self.emit(f"bind {q} = {name}")

        def change():
            self.pick(exchange, exchange, both, lambda: self.emit(
                f"bind {self.pick(p, q)} = {self.pick(p, q)}"))()

        def body():
            first = self.chance(50)
            if first:
                change()
            self.sweep(p, q, rank)
            if self.chance(40):
                self.block(f"if {self.cond()}", change)
            if not first:
                change()
        self.block(f"for {var}:i64 in 0, {self.pick('%n.0', '3')} #{loop}",
                   body)
        self.access(q, rank)

    def sweep(self, p, q, rank):
        """q[...] = f(p), the first axis upside down."""
        index = ["%" + self.fresh("i") for _ in range(rank)]
        turned = [f"(sub (sub (dim {p} 0) 1) {index[0]})"] + index[1:]
        loads = [f"{p}[{', '.join(turned)}]"]

        def level(axis):
            if axis == rank:
                store = (f"store {q}[{', '.join(index)}] = (add "
                         f"{self.term(loads)} (cast f64 {index[0]}))")
                self.block(f"if {self.inside(q, index)}",
                           lambda: self.emit(store))
                return
            self.ids += 1
            self.block(f"for {index[axis]}:i64 in 0, (dim {p} {axis}) "
                       f"#{self.ids}", lambda: level(axis + 1))
        level(0)

    def slide(self):
        """Rounds whose names for parts move against their indices."""
        name, _ = self.name(1)
        var, part = "%" + self.fresh("i"), "&" + self.fresh("p")
        d = f"(dim {name} 0)"
        rest = f"(sub {d} {var})"
        self.ids += 1

        def body():
            self.ints.append(var)
            self.emit(f"view {part}:f64[:] ref = {name} at [{var}] over "
                      f"[0: {rest} by 1]")
            at = self.pick(f"(sub {rest} 1)", "0", f"(idiv {rest} 2)")
            place = f"{part}[{at}]"
            loads = [place, f"{name}[{var}]", f"(cast f64 {var})"]
            self.emit(f"store {place} = {self.term(loads)}")
        self.block(f"for {var}:i64 in 0, {d} #{self.ids}", body)

    def rows(self):
        """Rounds that name a row, or one of two arrays, and write there."""
        name, rank = self.name(2)
        var, j = "%" + self.fresh("i"), "%" + self.fresh("j")
        row = "&" + self.fresh("r")
        d, e = f"(dim {name} 0)", f"(dim {name} 1)"
        at = self.pick(var, var, f"(idiv {var} 2)", f"(sub (sub {d} 1) {var})",
                       "0", f"(mod (mul {var} 2) {d})")
        self.ids += 2
        first, second = self.ids - 1, self.ids
        line = self.name(1)[0]
        which = self.rng.randrange(3)

        def inner():
            self.ints.append(j)
            place = f"{row}[{j}]"
            other = f"{name}[{var}, {j}]"
            self.emit(f"store {place} = {self.term([place, other])}")
            if self.chance(30):
                self.emit(f"set %sum.1 = {self.term(['%sum.1', other])}")

        def body():
            self.ints.append(var)
            self.emit(f"view {row}:f64[:] ref = {name} at [{at}, 0] "
                      f"over [1: {e} by 1]")
            if which == 0:
                keep = "&" + self.fresh("k")
                self.emit(f"bind {keep}:f64[:] ref = {row}")
                self.block(f"if (eq (mod {var} 2) 0)",
                           lambda: self.emit(f"bind {keep} = {line}"))
                self.block(f"if {self.inside(keep, [var])}",
                           lambda: self.emit(f"store {keep}[{var}] = "
                                             f"{self.term([f'{keep}[{var}]'])}"))
            self.block(f"for {j}:i64 in 0, {e} #{second}", inner)
        self.block(f"for {var}:i64 in 0, {d} #{first}", body)

    def grow(self):
        """One more element for each of an array, or the sum of all."""
        buf, length = self.rng.choice(self.lists)
        name, _ = self.name(1)
        var = "%" + self.fresh("i")
        self.ids += 1

        def more():
            self.emit(f"grow {buf} to (add {length} 1)")
            self.emit(f"store {buf}[{length}] = "
                      f"{self.term(['%sum.1', f'{name}[{var}]'])}")
            self.emit(f"set {length} = (add {length} 1)")
        if self.chance(50):
            self.block(f"for {var}:i64 in 0, (dim {name} 0) #{self.ids}", more)
            return
        self.block(f"for {var}:i64 in 0, {length} #{self.ids}",
                   lambda: self.emit(f"set %sum.1 = (add (mul %sum.1 0.5) "
                                     f"{buf}[{var}])"))

    def new_list(self):
        buf, length = "&" + self.fresh("l"), "%" + self.fresh("m")
        self.emit(f"alloc {buf}:f64[{self.rng.randint(0, 2)}] grows")
        self.emit(f"set {length}:i64 = 0")
        self.lists.append((buf, length))

    # --- control -------------------------------------------------------------

    def branch(self):
        self.block(f"if {self.cond()}", self.some)
        if self.chance(40):
            self.emit("else {", loc=False)
            self.lines[-2:] = [self.lines[-2] + " else {"]
            self.depth += 1
            kept = [list(part) for part in (self.names, self.ints, self.lists)]
            self.some()
            self.names, self.ints, self.lists = kept
            self.depth -= 1
            self.emit("}", loc=False)

    def loop(self):
        var = "%" + self.fresh("r")
        self.ids += 1
        self.loops += 1

        def body():
            self.ints.append(var)
            self.some()
            if self.chance(25):
                self.block(f"if {self.cond()}",
                           lambda: self.emit(self.pick("break", "continue")))
                self.some()
        self.block(f"for {var}:i64 in 0, {self.pick('%n.0', '2', '3')} "
                   f"#{self.ids}", body)
        self.loops -= 1

    def some(self):
        for _ in range(self.rng.randint(1, 4)):
            self.statement()

    def statement(self):
        self.budget -= 1
        kinds = [self.alloc, self.view, self.probe, self.probe, self.rows,
                 self.step, self.step, self.evolve, self.slide, self.bind_view,
                 self.bind, self.bind, self.nest, self.nest, self.bind_late,
                 self.read_late, lambda: self.access(*self.name()),
                 self.grow, self.new_list]
        if self.budget > 0:
            kinds += [self.branch, self.branch]
            if self.loops < 3:
                kinds += [self.loop, self.loop, self.loop]
        self.rng.choice(kinds)()

    def build(self):
        layouts = [self.pick("", " c") for _ in range(3)]
        self.emit("set %sum.1:f64 = 0.0")
        self.emit("let %n.0:i64 = (mod %k.2 5)")
        self.ids = 10
        self.new_list()
        self.names = [("&a.3", 1), ("&b.4", 2), ("&c.5", 1)]
        for rank in (1, 1, 2, 2):
            name = "&" + self.fresh("x")
            buf = self.alloc(rank)[0] if self.chance(50) else self.name(rank)[0]
            self.emit(f"bind {name}:f64[{', '.join(':' * rank)}] ref = {buf}")
            self.names.append((name, rank))
            self.bound.append((name, rank))
        for rank in (1, 2):
            name, flag = "&" + self.fresh("y"), "%" + self.fresh("f")
            self.emit(f"set {flag}:b1 = false")
            self.emit(f"if {flag} {{", loc=False)
            self.emit(f"bind {name}:f64[{', '.join(':' * rank)}] ref = "
                      f"{self.name(rank)[0]}")
            self.emit("}", loc=False)
            self.late.append((name, rank, flag))
        while self.budget > 0:
            self.statement()
        name = self.rng.choice(self.bound[:2])[0]
        self.emit(f"alloc &out.6:f64[(dim {name} 0)] result number=1")
        self.emit(f"for %i.7:i64 in 0, (dim {name} 0) #8 {{", loc=False)
        self.emit(f"store &out.6[%i.7] = {name}[%i.7]")
        self.emit("}", loc=False)
        self.text = "\n".join([
            "func names array @1:0 {",
            f"  param a &a.3:f64[:]{layouts[0]}",
            f"  param b &b.4:f64[:, :]{layouts[1]}",
            f"  param c &c.5:f64[:]{layouts[2]}",
            "  param k %k.2:i64",
            *self.lines, "  ret %sum.1", "  ret &out.6", "}", ""])
        sizes = [self.rng.randint(0, 5) for _ in range(4)]
        self.args = [f"--arg=f64[{sizes[0]}]=ramp",
                     f"--arg=f64[{sizes[1]},{sizes[2]}]=ramp",
                     f"--arg=f64[{sizes[3]}]=ramp",
                     f"--arg=i64={self.rng.randint(0, 9)}"]


if __name__ == "__main__":
    import sys
    print(Program(int(sys.argv[1])).text)
