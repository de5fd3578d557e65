"""Random image pipelines: clean loop nests that feed each other.

The general generator seldom writes what parallel loops, SIMD, region
splitting and fusion are made for; this one does.  `program(seed)` is as in
generate.py.
"""
import random

KINDS = ("plain", "plain", "guarded", "clamped", "window", "running",
         "table", "escape", "point", "in_place", "turned", "masked")
NESTED = ("plain", "window", "in_place")     # leave a border as it is
# Nests beside the pipeline, each for a transform that it seldom asks for.
ASIDE = {"squares": 0.4, "channelwise": 0.4, "blocks": 0.3, "columns": 0.3,
         "across": 0.6, "toned": 0.3, "levels": 0.3, "long": 0.3, "recurrence": 0.65,
         "detector": 0.4, "bars": 1.0, "shaded": 0.4,
         "cut": 0.3, "tallied": 0.5, "waved": 0.3}


class Stage:
    """An array and where it is defined: rows and columns from 'low' to the
    size less 'high'; the rest is zero."""

    def __init__(self, name, low, high):
        self.name = name
        self.low = low
        self.high = high


class Pipeline:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.channels = self.rng.choice((0, 0, 0, 0, 1, 3, 3, 4))
        self.lines = []
        self.stages = [Stage("img", 0, 0)]
        self.more = []         # results that no stage reads
        self.uses_table = False
        self.uses_bars = False
        # Each stage is read by the next one alone, and only where it was
        # written: these can be fused.
        self.chained = self.rng.random() < 0.5

    def pick(self, items):
        return self.rng.choice(items)

    def weight(self):
        return self.pick(("0.25", "0.5", "2.0", "1.0", "0.125", "3"))

    def read(self, row="r", col="c", reach=1):
        """A read near the pixel of a stage made before."""
        stage = self.pick(self.stages[-1 if self.chained else -2:])
        dr, dc = (self.rng.randint(-reach, reach) for _ in range(2))
        return f"{stage.name}[{_at(row, dr)}, {_at(col, dc)}]"

    def sum_of_reads(self, reach):
        terms = [f"{self.weight()} * {self.read(reach=reach)}"
                 for _ in range(self.rng.randint(1, 4))]
        if self.chained:       # what is computed is all read
            source = self.stages[-1].name
            terms += [f"{source}[r - 1, c - 1]", f"{source}[r + 1, c + 1]"]
        text = self.pick((" + ", " + ", " - ")).join(terms)
        divisor = self.pick(("", "", " / 3.0", " / 4", " * 0.1"))
        return f"({text}){divisor}"

    def emit(self, *lines):
        self.lines += ["    " + line for line in lines]

    def stage(self):
        name = f"t{len(self.stages)}"
        kind = self.pick(KINDS)
        if self.chained and self.stages[-1].low:
            kind = self.pick(("plain", "plain", "window"))
        if self.channels and kind in ("table", "escape", "running"):
            kind = "guarded"
        shape = "img.shape" if self.channels else "(H, W)"
        dtype = self.pick(("", "", "", ", dtype=np.float32"))
        self.emit(f"{name} = np.zeros({shape}{dtype})")
        low = self.rng.randint(1, 2)
        high = self.rng.randint(low, 3)
        if self.chained:
            low, high = self.stages[-1].low + 1, self.stages[-1].high + 1
        getattr(self, kind)(name, low, high)
        whole = self.chained and kind not in NESTED
        self.stages.append(Stage(name, 0, 0) if whole
                           else Stage(name, low, high))

    def nest(self, low, high):
        loops = [f"for r in range({low}, H - {high}):",
                 f"for c in range({low}, W - {high}):"]
        if self.rng.random() < 0.15:
            loops.reverse()
        self.emit(loops[0], "    " + loops[1])

    def plain(self, name, low, high):
        self.nest(low, high)
        reach = 1 if self.chained else low
        self.emit(f"        {name}[r, c] = {self.sum_of_reads(reach)}")

    def point(self, name, low, high):
        source = self.stages[-1].name
        self.emit("for r in range(H):", "    for c in range(W):",
                  f"        {name}[r, c] = {source}[r, c] * {self.weight()}"
                  f" + {self.pick(('1', '0.5', '2.0'))}")

    def masked(self, name, low, high):
        """Branches that store."""
        source = self.stages[-1].name
        channel = ", 0" if self.channels else ""
        value = f"{source}[r, c{channel}]"
        place = f"{name}[r, c{channel}]"
        self.emit("for r in range(H):", "    for c in range(W):",
                  f"        if {value} > {self.weight()}:",
                  f"            {place} = {value} * {self.weight()}")
        other = self.pick(("else", f"elif {value} < 0.25", None))
        if other:
            self.emit(f"        {other}:", f"            {place} = 1.0")
        if self.rng.random() < 0.5:
            self.emit(f"        if c > {low} and {value} < {self.weight()}:",
                      f"            {place} += {source}[r, c - 1{channel}]")

    def turned(self, name, low, high):
        """By an array of its own, which is walked down its columns."""
        source = self.stages[-1].name
        shape = f"(W, H, {self.channels})" if self.channels else "(W, H)"
        self.emit(f"{name}u = np.zeros({shape})",
                  "for r in range(H):", "    for c in range(W):",
                  f"        {name}u[c, r] = {source}[r, c] * {self.weight()}",
                  "for r in range(H):", "    for c in range(W):",
                  f"        {name}[r, c] = {name}u[c, r] + "
                  f"{name}u[max(c - 1, 0), r]")

    def guarded(self, name, low, high):
        source = self.stages[-1].name
        self.emit("for r in range(H):", "    for c in range(W):",
                  f"        total = {self.weight()} * {source}[r, c]",
                  "        n = 1.0")
        tests = (("r > 0", "r - 1, c"), ("r < H - 1", "r + 1, c"),
                 ("c > 0", "r, c - 1"), ("c < W - 1", "r, c + 1"),
                 ("r > 1 and c > 1", "r - 2, c - 2"),
                 ("r >= 1 and c < W - 2", "r - 1, c + 2"))
        for test, place in self.rng.sample(tests, self.rng.randint(1, 4)):
            self.emit(f"        if {test}:",
                      f"            total += {self.weight()} * "
                      f"{source}[{place}]",
                      "            n += 1.0")
        self.emit(f"        {name}[r, c] = total / n")

    def clamped(self, name, low, high):
        source = self.stages[-1].name
        self.emit("for r in range(H):",
                  "    up = max(r - 1, 0)",
                  f"    down = min(r + {min(low, 2)}, H - 1)",
                  "    for c in range(W):",
                  "        left = c - 1 if c > 0 else 0",
                  f"        {name}[r, c] = ({source}[up, c] + "
                  f"{source}[down, left] + {source}[r, min(c + 1, W - 1)])"
                  f" * {self.weight()}")

    def window(self, name, low, high):
        source = self.stages[-1].name
        self.nest(low, high)
        start = f"{source}[r, c] * 0.0" if self.channels else "0.0"
        reach = 1 if self.chained else low
        col = "c + k" if self.chained else "c"
        self.emit(f"        acc = {start}",
                  f"        for k in range(-{reach}, {reach} + 1):",
                  f"            acc = acc + {source}[r + k, {col}] * "
                  f"{self.weight()}",
                  f"        {name}[r, c] = acc")

    def running(self, name, low, high):
        source = self.stages[-1].name
        by_rows = self.rng.random() < 0.5
        self.emit(f"for {'r' if by_rows else 'c'} in "
                  f"range({'H' if by_rows else 'W'}):",
                  "    acc = 0.0",
                  f"    for {'c' if by_rows else 'r'} in "
                  f"range({'W' if by_rows else 'H'}):",
                  f"        acc = acc * 0.5 + {source}[r, c]",
                  f"        {name}[r, c] = acc")

    def table(self, name, low, high):
        self.uses_table = True
        source = self.stages[-1].name
        top = self.pick(("% 16", "% 16", "% 17"))
        self.emit("for r in range(H):", "    for c in range(W):",
                  f"        key = int(abs({source}[r, c]) * 3.0) {top}",
                  f"        {name}[r, c] = table[key] + {source}[r, c]")

    def escape(self, name, low, high):
        source = self.stages[-1].name
        self.emit("for r in range(H):", "    for c in range(W):",
                  f"        x = float({source}[r, c])", "        n = 0",
                  "        while n < 12 and abs(x) < 50.0:",
                  "            x = x * 1.5 + 1.0", "            n += 1",
                  f"        {name}[r, c] = n * 0.5 + x")

    def in_place(self, name, low, high):
        self.plain(name, low, high)
        self.nest(low, high)
        shift = self.pick(("r, c", "r, c", "r - 1, c", "r, c + 1"))
        self.emit(f"        {name}[r, c] += {name}[{shift}] * 0.5")

    # --- aside ---

    def value(self):
        """Of the last stage, by a Python float where it has channels."""
        source = self.stages[-1].name
        channel = f", {self.rng.randrange(self.channels)}" \
            if self.channels else ""
        return f"{source}[r, c{channel}]"

    def array(self, name, shape="H, W"):
        """A result that no stage reads."""
        self.more.append(name)
        self.emit(f"{name} = np.zeros(({shape}))")

    def loops(self, first="r", second="c"):
        sizes = {"r": "H", "c": "W"}
        self.emit(f"for {first} in range({sizes[first]}):",
                  f"    for {second} in range({sizes[second]}):")

    def squares(self, name):
        self.array(name)
        self.loops()
        power = self.pick(("2", "2", "2", "0.5"))
        self.emit(f"        d = {self.value()} * {self.weight()} + 0.3",
                  f"        {name}[r, c] = d ** {power} + 1.0")

    def channelwise(self, name):
        """Of the picture, since with a stage it would be a pipeline."""
        count = self.channels if self.channels > 1 else 3
        self.array(name, f"H, W, {count}")
        self.loops()
        for k in range(count):
            channel = f", {k % self.channels}" if self.channels else ""
            self.emit(f"        {name}[r, c, {k}] = img[r, c{channel}] * "
                      f"{self.pick(('0.25', '0.5', '2.0'))} + 1.0")

    def blocks(self, name):
        size = self.rng.randint(2, 5)
        row = self.pick((f"r // {size}", f"(r + 1) // {size}",
                         f"min((r + {size}) // {size}, H // {size})"))
        self.array(name, f"H // {size} + 2, W // {size} + 2")
        self.loops()
        self.emit(f"        {name}[{row}, c // {size}] += {self.value()}")

    def tallied(self, name):
        """Counts and sums of integers, by what a pixel is."""
        channel = f", {self.rng.randrange(self.channels)}" \
            if self.channels else ""
        dtype = self.pick(("np.int64", "np.int64", "np.int32", "np.uint16"))
        bins = self.rng.choice((5, 7, 33, 40))
        self.more.append(name)
        self.emit(f"{name} = np.zeros({bins}, {dtype})")
        self.loops()
        self.emit("        for k in range(9):",
                  f"            i = c * k if img[r, c{channel}] > 0.5 else r",
                  f"            {name}[i % {bins}] += {self.pick(('1', 'k'))}")

    def waved(self, name):
        """Functions of what a row or the whole picture has in common."""
        self.array(name)
        self.loops()
        call = self.pick(("math.sin(0.5 * r)", "math.exp(-0.25 * H)",
                          "np.cos(r * 0.3)", "0.75 ** (r + 0.5)"))
        self.emit(f"        {name}[r, c] = {self.value()} * {call}")

    def columns(self, name):
        self.array(name)
        self.loops("c", "r")
        self.emit(f"        {name}[r, c] = {self.value()} * {self.weight()}")

    def across(self, name):
        """Reads more along other axes than it writes."""
        channel = ", 0" if self.channels else ""
        self.array(name, "W, H")
        self.loops("c", "r")
        self.emit(f"        {name}[c, r] = img[r, c{channel}] * "
                  f"{self.weight()} + img[r, max(c - 1, 0){channel}]")

    def toned(self, name):
        """Much arithmetic, a check and a look-up."""
        self.uses_table = True
        self.array(name)
        self.loops()
        self.emit(f"        u = float({self.value()})",
                  "        v = u * 0.75 + 0.3 * u * u - 0.25 * (u - 0.3) * "
                  "(u + 1.0)",
                  "        w = v * 4.0 + (u * u - v) * 0.3 + 2.0",
                  f"        {name}[r, W - 1 - c] = "
                  "table[int(np.clip(w, 0, 15))]")

    def long(self, name):
        """Sums too long to be written out, in order."""
        self.array(name)
        self.loops()
        start = self.pick(("0.0", self.value(), "float(c)"))
        step = self.value().replace("[r,", "[(r + k) % H,")
        self.emit(f"        acc = {start}",
                  f"        for k in range({self.rng.randint(9, 12)}):",
                  f"            acc = acc * 0.5 + {step} * {self.weight()}",
                  f"        {name}[r, c] = acc * {self.weight()}")

    def recurrence(self, name):
        """Reads what the round before has stored."""
        self.array(name)
        before = self.pick(("r, c - 1", "r, c - 1", "r - 1, c - 1"))
        self.emit("for r in range(1, H):", "    for c in range(1, W):",
                  f"        {name}[r, c] = {name}[{before}] * 0.5 + "
                  f"{self.value()}")
        if self.rng.random() < 0.3:
            self.emit(f"        if {self.value()} > {self.weight()}:",
                      f"            {name}[r, c] = {name}[r, c - 1] + 1")

    def detector(self, name):
        """Lists where a condition holds, of arrays that serve no more."""
        for part in "uv"[:self.rng.randint(1, 2)]:
            self.emit(f"{name}{part} = np.zeros((H, W))")
        two = f"{name}v" in self.lines[-1]
        self.array(name, "H * W + 1")
        self.loops()
        self.emit(f"        {name}u[r, c] = {self.value()} * {self.weight()}")
        if two:
            self.emit(f"        {name}v[r, c] = {self.value()} + 0.5")
        other = f"0.25 * {name}v[r, c]" if two else self.weight()
        self.emit("n = 0")
        self.loops()
        self.emit(f"        if {name}u[r, c] > {other}:",
                  f"            {name}[n] = r * W + c",
                  "            n += 1")

    def shaded(self, name):
        """Much arithmetic in a branch that some rounds take, and stores far
        apart."""
        self.array(name, "H, W, 3")
        self.loops()
        wrap = self.pick(("{}", "{}", "float({})", "np.float32({})"))
        limit = self.pick(("0", "0", "0.5", "100", "-1"))
        names = ["u"]
        self.emit(f"        u = {wrap.format(self.value())}",
                  f"        if u {self.pick(('>', '>', '!=', '<'))} {limit}:")
        for k in range(self.rng.randint(2, 5)):
            lhs, rhs = (self.pick(names) for _ in range(2))
            new = self.pick((
                f"({lhs} * {self.weight()} + 1.5) / {rhs}",
                f"{lhs} * {rhs} - {self.weight()} * ({lhs} + c)",
                f"np.sqrt({lhs} * {lhs} + {self.weight()}) / (u + 0.1)",
                f"({lhs} + {self.value()}) * ({rhs} - 0.5) / u"))
            self.emit(f"            v{k} = {new}")
            names.append(f"v{k}")
        self.emit(f"            {name}[r, c, 0] = {names[-1]}",
                  f"            {name}[r, c, 2] = "
                  f"{self.pick((names[-2], f'abs({names[-1]}) ** 1.5'))}")
        if self.rng.random() < 0.5:
            self.emit("        else:", f"            {name}[r, c, 1] = u")

    def cut(self, name):
        """Floats of the picture that are cut to a range and made integers,
        which are stored or looked up."""
        value = self.pick((
            "float({0})", "np.float32({0})", "-float({0}) * 3.0",
            "{0} * 64.5", "float({0}) / 3.0 + {0}", "abs({0}) * 2.5",
            "np.float64({0})", "float({0}) * 0.0 + 7.5"))
        value = value.format(self.value().replace(self.stages[-1].name, "img"))
        low, high = self.pick((("0.0", "15.0"), ("0.0", "255.0"),
                               ("1.0", "14.5"), ("-0.0", "3.0")))
        form = self.pick((
            "min(max({0}, {1}), {2})", "max(min({0}, {2}), {1})",
            "np.clip({0}, {1}, {2})", "min({2}, max({1}, {0}))", "v"))
        self.more.append(name)
        dtype = self.pick(("np.uint8", "np.uint8", "np.int16", "float"))
        self.emit(f"{name} = np.zeros((H, W), {dtype})")
        self.loops()
        if form == "v":
            self.emit(f"        v = {value}",
                      f"        if v < {low}:", f"            v = {low}",
                      f"        if v > {high}:", f"            v = {high}")
        cut = form.format(value, low, high)
        if high != "255.0" and self.rng.random() < 0.5:
            self.uses_table = True
            self.emit(f"        {name}[r, c] = table[int({cut})] * 0.0 + 1")
        else:
            self.emit(f"        {name}[r, c] = int({cut})")

    def levels(self, name):
        """A zeroed array of which each round of a loop uses a part."""
        self.array(name)
        self.emit(f"{name}l = np.zeros((3, H, W))")
        self.loops()
        self.emit(f"        {name}l[0, r, c] = {self.value()}",
                  "for l in range(1, 3):",
                  "    for r in range(H >> l):",
                  "        for c in range(W >> l):",
                  f"            {name}l[l, r, c] = {name}l[l - 1, 2 * r, "
                  f"2 * c] + 0.5 * {name}l[l - 1, 2 * r + 1, 2 * c]")
        self.loops()
        self.emit(f"        {name}[r, c] = {name}l[2, r // 4, c // 4]")

    def bars(self, name):
        """Stores to an argument, then checks of what only data tells."""
        self.uses_table = self.uses_bars = True
        self.emit("for c in range(bars.shape[1]):",
                  "    end = int(float(table[c % 16]) * 2.0 + 3.0)",
                  "    for r in range(end):",
                  "        bars[r, c] = c + 1.0")

    def text(self):
        for _ in range(self.rng.randint(2 if self.chained else 1, 4)):
            self.stage()
        # Checks are made first only where all read what is not made here.
        alone = self.rng.random() < 0.2
        for kind, share in ASIDE.items():
            if self.rng.random() < share and (kind == "bars" or not alone):
                getattr(self, kind)(f"{kind}0")
        params = "img, table" if self.uses_table else "img"
        params += ", bars" if self.uses_bars else ""
        results = [self.stages[-1].name]
        if not self.chained:
            results = self.rng.sample([s.name for s in self.stages[1:]],
                                      self.rng.randint(1, len(self.stages) - 1))
        results += self.more
        rows, cols = self.rng.randint(4, 40), self.rng.randint(4, 50)
        shape = f"{rows}, {cols}" + (f", {self.channels}" if self.channels
                                     else "")
        made = self.pick((
            f"rng.uniform(-2.0, 2.0, ({shape}))",
            f"rng.uniform(0.0, 1.0, ({shape})).astype(np.float32)",
            f"rng.randint(0, 200, ({shape})).astype(np.uint8)",
            f"rng.randint(-50, 50, ({shape})).astype(np.int32)"))
        view = self.pick(("", "", "", "[::-1]", "[:, ::-1]", ".copy('F')"))
        return [f"def run({params}):", "    H = img.shape[0]",
                "    W = img.shape[1]", *self.lines,
                f"    return {', '.join(results)}", "", "",
                "def arguments():",
                f"    rng = np.random.RandomState({self.seed})",
                f"    img = ({made}){view}",
                "    table = rng.uniform(-1.0, 1.0, 16)",
                f"    bars = np.zeros(({self.rng.randint(4, 9)}, 30))",
                f"    return ({params},)"]


def _at(name, offset):
    if offset == 0:
        return name
    return f"{name} {'+' if offset > 0 else '-'} {abs(offset)}"


def program(seed):
    """The text of pipeline number 'seed'."""
    return "\n".join([f'"""Random pipeline {seed}."""', "import math", "",
                      "import numpy as np", "", "",
                      *Pipeline(seed).text(), ""])
