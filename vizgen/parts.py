"""Splitting a function that can't be compiled as a whole.

    def f(img):                        def f(img):
        out = load()                       out = load()
        for y in range(...):       ->      .r0 = .on0 and .part0(img, out)
            ...                            if not .r0:
        print(out)                             for y in range(...):
                                                   ...
                                           print(out)

Each loop, and each assignment with a comprehension, becomes a *part*, a function
of the names that it reads, giving those that it binds and that are read later.
A part runs native or not at all: then it answers None and the loop runs where
it always stood, in Python, with its own lines, exceptions and unbound names.
There the loops inside it are parts as well.  What is made here is the rest of
the function, with the names, cells and positions of the original; names that
begin with a dot can't be the user's.

Of a `return` in a loop the part says which one it is, and Python evaluates it:

    for y in range(...):               .l0, y = .r0
        if ...: return y, z    ->      if .l0 == 1: return y, z

A part answers False to have the loop's time in Python measured; the time is
over when the rest calls .part0.done().  See csrc/py/part.c.
"""
import __future__

import ast
import builtins
import copy
import dis
import functools
import operator
import types

from . import _core, flow, hoist, source
from .leaves import Leaves, placed, returns

MOST_PARTS = 64
MOST_ARGS, MOST_RESULTS = 40, 16
FEW_ROUNDS = 8              # a loop of so few iterations is not worth a call
FRAMES = {"locals", "vars", "dir", "eval", "exec", "_getframe",
          "currentframe", "f_locals", "stack"}
FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag
                   for name in __future__.all_feature_names))
NESTED = 0x10               # CO_NESTED
LAZY = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines


def split(accelerated):
    """(the rest of the function, its parts), or None if there is no loop that
    could be a part."""
    if accelerated.py_func in source.outlined:
        return None
    try:
        return _Split(accelerated).make()
    except (source.SourceError, SyntaxError, ValueError, RecursionError):
        return None


class _Split:
    """The work on one function."""

    def __init__(self, accelerated):
        self.owner = accelerated
        self.function = accelerated.py_func
        self.code = self.function.__code__
        path, text, self.node = source.find(self.function)
        self.place = path, text
        self.parts = []
        self.cells = dict(zip(self.code.co_freevars,
                              self.function.__closure__ or ()))
        self.cells[".get"] = types.CellType(_core.plain_attr)

    def make(self):
        if not isinstance(self.node, ast.FunctionDef) or _sees_frames(self.node):
            return None
        tree, _ = source._parse(*self.place)
        self.around = _class_around(tree, self.node)
        self.imports = _imports(tree)
        rest = _stripped(self.node)
        if not self.is_same(rest):
            return None
        names = _Names(rest, self.code)
        rest.body = _Outline(self, names).block(rest.body)
        _Calls(self, names).visit_body(rest)
        if not self.parts:
            return None
        return self.build(rest, self.cells, kw=True), tuple(self.parts)

    def is_same(self, node):
        """Does the function, compiled again, do what it did?"""
        code = self.compile(node, self.cells)
        return source.same_code(code, self.code)

    def compile(self, node, free):
        """The code of a FunctionDef whose free variables are 'free'."""
        args = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=name) for name in free],
            kwonlyargs=[], kw_defaults=[], defaults=[])
        inner = copy.copy(node)
        inner.name = ".inner"   # its own name would be the outer one's local
        body = ast.FunctionDef(name=".outer", args=args, body=[inner],
                               decorator_list=[], type_params=[])
        if self.around:     # the class decides what __names are
            body = ast.ClassDef(name=self.around, bases=[], keywords=[],
                                body=[body], decorator_list=[], type_params=[])
        module = ast.Module([*self.imports, body], [])
        ast.fix_missing_locations(module)
        code = source.quietly(
            compile, module, self.code.co_filename, "exec",
            flags=self.code.co_flags & FUTURE, dont_inherit=True)
        while code.co_name != inner.name:
            code = _last_code(code)
        return _renamed(code, code.co_qualname, self.code.co_qualname).replace(
            co_name=node.name,
            co_flags=code.co_flags & ~NESTED | self.code.co_flags & NESTED)

    def build(self, node, cells, kw=False):
        """The function of a FunctionDef in place of the original."""
        code = self.compile(node, cells)
        closure = tuple(cells[name] for name in code.co_freevars)
        made = types.FunctionType(code, self.function.__globals__,
                                  self.function.__name__, None, closure)
        made.__module__ = self.function.__module__
        made.__doc__ = self.function.__doc__
        if kw:
            made.__defaults__ = self.function.__defaults__
            made.__kwdefaults__ = self.function.__kwdefaults__
            made.__annotations__ = self.function.__annotations__
            made.__dict__.update(self.function.__dict__)
        return made

    def add(self, node, free, cold, costly):
        """Make a part of a FunctionDef; its number."""
        cells = {name: self.cells[name] for name in free}
        function = self.build(node, cells)
        source.outlined[function] = *self.place, node
        return self.add_function(function, cold, costly, False)

    def add_function(self, function, cold, costly, whole):
        number = len(self.parts)
        on = types.CellType(True)
        part = _core.Part(self.owner, function, on, cold, costly, whole)
        self.parts.append(part)
        self.cells[f".part{number}"] = types.CellType(part)
        self.cells[f".on{number}"] = on
        return number


def _last_code(code):
    return next(constant for constant in reversed(code.co_consts)
                if isinstance(constant, types.CodeType))


def _renamed(code, old, new):
    """'code' and those in it with other qualified names."""
    constants = tuple(
        _renamed(constant, old, new) if isinstance(constant, types.CodeType)
        else constant for constant in code.co_consts)
    return code.replace(co_consts=constants,
                        co_qualname=new + code.co_qualname.removeprefix(old))


def _sees_frames(node):
    """May the function look at its own frame or locals?"""
    return any(isinstance(child, ast.Name) and child.id in FRAMES
               or isinstance(child, ast.Attribute) and child.attr in FRAMES
               for child in ast.walk(node))


def _class_around(tree, node):
    """The name of the innermost class that 'node' stands in, or None."""
    def search(at, name):
        for child in ast.iter_child_nodes(at):
            if child is node:
                return [name]
            found = search(child, child.name
                           if isinstance(child, ast.ClassDef) else name)
            if found:
                return found
        return None

    return search(tree, None)[0]


def _imports(tree):
    """Imports of the names that the file imports: the compiler makes other
    code for calls of what is imported."""
    names = set()
    left = list(tree.body)
    while left:
        node = left.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0]
                      for alias in node.names if alias.name != "*"}
        elif not isinstance(node, flow.FUNCTIONS + (ast.ClassDef,)):
            left.extend(ast.iter_child_nodes(node))
    return [ast.Import([ast.alias(name)]) for name in sorted(names)]


def _stripped(node):
    """A copy without what is evaluated outside of the function.  A decorator
    stays, since the code's first line is that of the first one."""
    out = copy.copy(node)
    out.body = copy.deepcopy(node.body)
    out.returns = None
    out.type_params = []
    out.decorator_list = [ast.copy_location(ast.Constant(None), decorator)
                          for decorator in node.decorator_list[:1]]
    out.args = copy.deepcopy(node.args)
    out.args.defaults = [_none(node) for _ in node.args.defaults]
    out.args.kw_defaults = [default and _none(node)
                            for default in node.args.kw_defaults]
    for arg in ast.walk(out.args):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    return out


def _none(node):
    return ast.copy_location(ast.Constant(None), node)


# --- names -------------------------------------------------------------------


class _Names:
    """What is known about a function's names."""

    def __init__(self, node, code):
        self.cells = set(code.co_cellvars)
        self.local = set(code.co_varnames) | self.cells
        self.free = set(code.co_freevars)
        self.params = code.co_varnames[:code.co_argcount
                                       + code.co_kwonlyargcount
                                       + bool(code.co_flags & 0x04)
                                       + bool(code.co_flags & 0x08)]
        self.outer = {name for child in ast.walk(node)
                      if isinstance(child, (ast.Global, ast.Nonlocal))
                      for name in child.names}
        marks = {child for child in ast.walk(node)
                 if isinstance(child, flow.LOOPS + (ast.Return,))
                 or _gathers(child)}
        self.flow = flow.Flow(node.body, self.params, marks).solve()

    def interface(self, loop, body, places, given):
        """(arguments, may they be unbound, results, those of them that are read
        behind the loop, free variables) of a loop as a part, or None when it
        can't be one.

        'body' is the loop with the names of 'places' instead of attributes;
        'given' are names that are results for its returns.
        """
        step = self.flow.before.get(loop)
        if step is None or step.sure is None:
            return None
        bound = flow.binds(body)
        if bound & (self.outer | self.free):
            return None
        sure, maybe = step.sure - self.outer, step.maybe | self.outer
        later = self.flow.after[loop].live | self.cells | set(places)
        results = bound & later
        first = flow.Flow([body]).solve().entry.live
        once = flow.Flow([body], once=True).solve().exit.sure or frozenset()
        wanted = (first | (results - once)) & self.local
        wanted |= (flow.reads(body) - bound) & self.local
        bases = {base for base, _, _ in places.values()} - set(places)
        if not (wanted - bound | bases & self.local) <= maybe:
            return None
        wanted &= maybe
        unsure = not wanted <= sure or not bases <= sure
        wanted |= (flow.reads(body) | bound) & set(places)
        free = flow.reads(body) & self.free
        if len(wanted) > MOST_ARGS:
            return None
        ends = results
        results = sorted(results | given & bound)
        if len(results) > MOST_RESULTS:
            return None
        return sorted(wanted), unsure, results, ends, free


# --- outlining ---------------------------------------------------------------


class _Outline:
    """Replaces loops by calls of parts, the outermost first."""

    def __init__(self, work, names):
        self.work = work
        self.names = names
        self.depth = 0

    def block(self, body):
        out = []
        for node in body:
            made = None
            if isinstance(node, flow.LOOPS) or _gathers(node):
                made = self.outline(node)
            self.inside(node)
            out += made(node) if made else [node]
        return out

    def inside(self, node):
        """The statements in a statement of this function."""
        if isinstance(node, flow.FUNCTIONS + (ast.ClassDef,)):
            return
        loop = isinstance(node, flow.LOOPS)
        self.depth += loop
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, self.block(getattr(node, field)))
        for part in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
            part.body = self.block(part.body)
        self.depth -= loop

    def outline(self, loop):
        """Makes a part; a function from the loop to the statements in its
        place, or None."""
        nest = any(isinstance(child, flow.LOOPS)
                   for child in ast.walk(loop) if child is not loop)
        tiny = not nest and _rounds(loop) is not None
        if (self.depth and tiny or len(self.work.parts) >= MOST_PARTS
                or _is_bound_to_place(loop)):
            return None
        hoisted = hoist.Hoisted(copy.deepcopy(loop), self.look_up,
                                self.work.around)
        places = hoisted.places if hoisted.loop else {}
        body = hoisted.loop or copy.deepcopy(loop)
        leaves = Leaves(loop, body, self.names.flow)
        kept = self.names.cells | set(places)
        interface = self.names.interface(loop, body, places, leaves.names(kept))
        if interface is None:
            return None
        wanted, unsure, results, ends, free = interface
        leaves.give(results, ends, kept)
        node = _function(self.work.node.name, body, wanted, leaves)
        node.lines = loop.lineno, loop.end_lineno
        cold = tiny or bool(self.depth and not nest)
        number = self.work.add(node, free, cold, _is_costly(loop))
        apart = hoisted.apart if places else ()
        return _Call(number, wanted, unsure, results, places, apart,
                     leaves).statements

    def look_up(self, name):
        """What a name means, None if it is not a global."""
        if name in self.names.local | self.names.free:
            return None
        space = self.work.function.__globals__
        return space.get(name, getattr(builtins, name, None))


def _gathers(node):
    """Is it an assignment to names with a comprehension in it?"""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    else:
        return False
    return (all(isinstance(target, ast.Name) for target in targets)
            and any(isinstance(child, flow.COMPREHENSIONS)
                    for child in ast.walk(node)))


def _is_bound_to_place(loop):
    """Does the loop have statements that only work where they stand?"""
    for child in ast.walk(loop):
        if isinstance(child, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global,
                              ast.Nonlocal)):
            return True
    return _jumps(getattr(loop, "orelse", []))


def _jumps(body):
    """Is there a 'break' or 'continue' for a loop around 'body'?"""
    for node in body:
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, flow.LOOPS):
            if _jumps(node.orelse):
                return True
        elif not isinstance(node, flow.FUNCTIONS + (ast.ClassDef,)):
            if _jumps([child for child in ast.walk(node) if child is not node
                       and isinstance(child, ast.stmt)]):
                return True
    return False


def _is_costly(loop):
    """Does the loop do what NumPy may do faster, as far as one can see?"""
    return any(isinstance(child, ast.Slice)
               or isinstance(child, ast.BinOp)
               and isinstance(child.op, ast.MatMult)
               or isinstance(child, ast.Call)
               and isinstance(child.func, ast.Attribute)
               for child in ast.walk(loop))


def _rounds(loop):
    """How many iterations a loop over few constants has, else None."""
    if not isinstance(loop, ast.For):
        return None
    if isinstance(loop.iter, (ast.Tuple, ast.List)):
        count = len(loop.iter.elts)
    else:
        if not (isinstance(loop.iter, ast.Call)
                and isinstance(loop.iter.func, ast.Name)
                and loop.iter.func.id == "range" and loop.iter.args):
            return None
        try:
            count = len(range(*map(ast.literal_eval, loop.iter.args)))
        except (ValueError, TypeError):
            return None
    return count if count <= FEW_ROUNDS else None


def _function(name, loop, wanted, leaves):
    """The FunctionDef of a part."""
    body = [loop]
    if leaves.end is not None:
        body.append(ast.Return(ast.Tuple(elts=leaves.end, ctx=ast.Load())))
    args = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=name) for name in wanted],
        kwonlyargs=[], kw_defaults=[], defaults=[])
    node = ast.FunctionDef(name=name, args=args, body=body,
                           decorator_list=[], type_params=[])
    return placed(node, loop)


class _Call:
    """The statements in place of a loop."""

    def __init__(self, number, wanted, unsure, results, places, apart, leaves):
        self.answer, self.part = f".r{number}", f".part{number}"
        self.left, self.value_left = f".l{number}", f".v{number}"
        self.leaves = leaves
        self.on = f".on{number}"
        self.wanted, self.unsure = wanted, unsure
        self.results, self.places, self.apart = results, places, apart

    def statements(self, loop):
        return [placed(node, loop) for node in (self.ask(), self.choose(loop))]

    def ask(self):
        """.r0 = .on0 and .part0(a, .get(self, "gain", False))"""
        args = [self.value(name) for name in self.wanted]
        call = ast.Call(_load(self.part), args, [])
        apart = [ast.Compare(self.value(base), [ast.IsNot()], [self.value(other)])
                 for base, other in self.apart]
        ask = _store(self.answer, ast.BoolOp(
            ast.And(), [_load(self.on), *apart, call]))
        if not self.unsure:
            return ask
        give_up = ast.ExceptHandler(
            _load("NameError"), None, [_store(self.answer, ast.Constant(None))])
        return ast.Try([ask], [give_up], [], [])

    def value(self, name):
        if name not in self.places:
            return _load(name)
        base, attr, written = self.places[name]
        return ast.Call(_load(".get"), [self.value(base), ast.Constant(attr),
                                        ast.Constant(written)], [])

    def target(self, name):
        if name not in self.places:
            return ast.Name(id=name, ctx=ast.Store())
        base, attr, _ = self.places[name]
        return ast.Attribute(self.value(base), attr, ast.Store())

    def choose(self, loop):
        """The loop, or what the part has made of its names."""
        answer = _load(self.answer)
        names = [self.target(name) for name in self.results]
        if self.leaves.values:
            names.insert(0, ast.Name(id=self.left, ctx=ast.Store()))
            for block, place in returns(loop):
                block[place:place + 1] = self.leave(block[place])
        taken = []
        if names:
            taken = [ast.Assign([ast.Tuple(names, ast.Store())], answer),
                     _store(self.answer, ast.Constant(None))]
        for number, value in enumerate(self.leaves.values, 1):
            is_this = ast.Compare(_load(self.left), [ast.Eq()],
                                  [ast.Constant(number)])
            taken.append(ast.copy_location(
                ast.If(is_this, [ast.copy_location(ast.Return(value), value)],
                       []), value))
        return ast.If(ast.UnaryOp(ast.Not(), answer), [loop, self.timed()],
                      taken)

    def timed(self):
        done = ast.Call(ast.Attribute(_load(self.part), "done", ast.Load()),
                        [], [])
        is_timed = ast.Compare(_load(self.answer), [ast.Is()],
                               [ast.Constant(False)])
        return ast.If(is_timed, [ast.Expr(done)], [])

    def leave(self, node):
        """A `return` in Python's loop, whose time is over as well."""
        value = _store(self.value_left, node.value or ast.Constant(None))
        new = [value, self.timed(), ast.Return(_load(self.value_left))]
        return [placed(statement, node) for statement in new]


def _load(name):
    return ast.Name(id=name, ctx=ast.Load())


def _store(name, value):
    return ast.Assign([ast.Name(id=name, ctx=ast.Store())], value)


# --- calls -------------------------------------------------------------------


class _Calls(ast.NodeTransformer):
    """Replaces calls of functions that have loops."""

    def __init__(self, work, names):
        self.work = work
        self.known = {}         # function -> number of its part, or None
        self.taken = names.local | names.free

    def visit_body(self, node):
        self.taken |= {child.id for child in ast.walk(node)
                       if isinstance(child, ast.Name)
                       and isinstance(child.ctx, ast.Store)}
        node.body = [self.visit(child) for child in node.body]

    def visit_FunctionDef(self, node):
        return node             # may be accelerated by itself

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node):
        self.generic_visit(node)
        function = self.function(node.func)
        if type(function) is not types.FunctionType:
            return node
        if function not in self.known:
            self.known[function] = self.part(function)
        number = self.known[function]
        if number is not None:
            node.func = placed(_choice(number, node.func), node.func)
        return node

    def function(self, node):
        """The function that a name or attribute of a module is, or None."""
        if isinstance(node, ast.Name) and node.id not in self.taken:
            return self.work.function.__globals__.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self.function(node.value)
            if type(module) is types.ModuleType:
                return vars(module).get(node.attr)
        return None

    def part(self, function):
        if (len(self.work.parts) >= MOST_PARTS
                or function.__code__.co_flags & LAZY
                or source.is_opaque(function)):
            return None
        reached = _reached(function)
        if (function in reached or self.work.function in reached
                or function is self.work.function
                or not any(map(_has_loop, [function, *reached]))):
            return None
        number = self.work.add_function(function, False, True, True)
        self.work.cells[f".fun{number}"] = types.CellType(function)
        return number


def _choice(number, function):
    """The part instead of 'function', if that still is what it was."""
    def load(name):
        return ast.Name(id=f".{name}{number}", ctx=ast.Load())

    same = ast.Compare(copy.deepcopy(function), [ast.Is()], [load("fun")])
    return ast.IfExp(ast.BoolOp(ast.And(), [load("on"), same]), load("part"),
                     function)


def _codes(code):
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _has_loop(function):
    return any(instruction.opname.startswith(("FOR_ITER", "JUMP_BACKWARD"))
               for code in _codes(function.__code__)
               for instruction in dis.get_instructions(code))


def _reached(function):
    """The functions that 'function' may call by global names."""
    found, left = set(), [function]
    while left:
        at = left.pop()
        for code in _codes(at.__code__):
            for name in code.co_names:
                called = source.plain_function(at.__globals__.get(name))
                if called is not None and called not in found:
                    found.add(called)
                    left.append(called)
    return found


# --- what is said ------------------------------------------------------------


def told(text, parts):
    """A reason to stay in Python, with the number of native loops in it."""
    ran = [part for part in parts if part.runs]
    if not ran:
        return text
    loops = sum(not part.whole for part in ran)
    calls = sorted({part.accelerated.py_func.__name__ for part in ran if part.whole})
    native = [f"{loops} loop{'s' * (loops > 1)}"] if loops else []
    native += [f"`{name}`" for name in calls]
    many = len(native) > 1 or loops > 1
    native = " and ".join(filter(None, [", ".join(native[:-1]), native[-1]]))
    native += " run native" if many else " runs native"
    head, *rest = text.split("\n")
    place, code, words = head.split("  ", 2)
    line = place.rsplit(":", 2)[1]
    words = words.removeprefix("left in Python: ")
    head = f"{place}  {code}  line {line} stays in Python: {words}; {native}"
    return "\n".join([head, *rest])
