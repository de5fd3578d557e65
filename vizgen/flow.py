"""Which names are bound, and which are read later, at places of a function.

The statements become a graph of small steps; each step reads names, then
binds or unbinds some.  Three facts are wanted at a place:

    sure   names that are bound on every way there
    maybe  names that are bound on some way there
    live   names whose value may be read on some way from there

Where the graph says too much (every step of a `try` may raise, every `with`
may swallow what its body raises) fewer names are sure and more are live, and
that is the safe side.  Names of inner functions count as read where the
function is made.
"""
import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.While)


def reads(node):
    """Names whose value 'node' may read, those of inner functions among
    them, but not what a comprehension binds for itself."""
    found = set()
    _reads(node, found)
    return found


def _reads(node, found):
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    if isinstance(node, COMPREHENSIONS):
        first, inside = node.generators[0].iter, set()
        _reads(first, found)
        for child in ast.iter_child_nodes(node):
            _reads(child, inside)
        found |= inside - {child.id for generator in node.generators
                           for child in ast.walk(generator.target)
                           if isinstance(child, ast.Name)}
        return
    for child in ast.iter_child_nodes(node):
        _reads(child, found)


def binds(node):
    """Names that 'node' may bind or unbind in the function it stands in."""
    found = set()
    _binds(node, found)
    return found


def _binds(node, found):
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        found.add(node.id)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef,
                           ast.ClassDef)):
        found.add(node.name)
        for outer in node.decorator_list:
            _binds(outer, found)
        return
    elif isinstance(node, ast.Lambda):
        return
    elif isinstance(node, COMPREHENSIONS):
        found |= {child.target.id for child in ast.walk(node)
                  if isinstance(child, ast.NamedExpr)}
        return
    elif isinstance(node, ast.alias):
        found.add((node.asname or node.name).split(".")[0])
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        found.add(node.name)
    elif isinstance(node, ast.MatchMapping):
        found.add(node.rest)
    for child in ast.iter_child_nodes(node):
        _binds(child, found)
    found.discard(None)


class Step:
    """One step of the graph."""

    def __init__(self, uses=(), sets=(), may_set=(), unsets=()):
        self.uses = frozenset(uses)         # before anything is bound
        self.sets = frozenset(sets)         # bound when the step is done
        self.may_set = frozenset(may_set)   # perhaps bound
        self.unsets = frozenset(unsets)
        self.next = []
        self.sure = self.maybe = None       # when the step begins; None: never
        self.live = frozenset()


class Flow:
    """The graph of a list of statements.

    before, after   statement -> Step, for those in 'marks'
    once            of a loop among the statements itself only one iteration
                    is looked at
    """

    def __init__(self, body, params=(), marks=(), once=False):
        self.marks = set(marks)
        self.before, self.after = {}, {}
        self.steps = []
        self.once = set(body) if once else set()
        self.raising = []       # steps that an exception may lead to
        self.jumps = []         # of open loops: [breaks, continues]
        self.finals = []        # entries of 'finally', and the loops outside
        self.exit = Step()
        self.entry = self._step(sets=params)
        self.ends = self._block(body, [self.entry])
        self._link(self.ends, self.exit)
        self.steps.append(self.exit)

    # --- facts ---------------------------------------------------------------

    def solve(self, live=()):
        """Compute the facts; names in 'live' are read after the end."""
        self.entry.sure = self.entry.maybe = frozenset()
        work = [self.entry]
        while work:
            step = work.pop()
            gone = step.unsets
            sure = (step.sure | step.sets) - gone
            maybe = (step.maybe | step.sets | step.may_set) - gone
            for other in step.next:
                if other.sure is None:
                    fresh = sure, maybe
                else:
                    fresh = other.sure & sure, other.maybe | maybe
                if fresh != (other.sure, other.maybe):
                    other.sure, other.maybe = fresh
                    work.append(other)
        self._solve_live(frozenset(live))
        return self

    def _solve_live(self, live):
        before = {step: [] for step in self.steps}
        for step in self.steps:
            for other in step.next:
                before[other].append(step)
        self.exit.live = live
        work = list(self.steps)
        while work:
            step = work.pop()
            out = live if step is self.exit else frozenset()
            for other in step.next:
                out |= other.live
            fresh = step.uses | (out - step.sets - step.unsets)
            if fresh != step.live:
                step.live = fresh
                work.extend(before[step])

    # --- the graph -----------------------------------------------------------

    def _step(self, froms=(), **names):
        step = Step(**names)
        self.steps.append(step)
        self._link(froms, step)
        for handler in self.raising:
            step.next.append(handler)
        return step

    @staticmethod
    def _link(froms, step):
        for other in froms:
            other.next.append(step)

    def _value(self, node, froms):
        """The evaluation of an expression."""
        if node is None:
            return froms
        return [self._step(froms, uses=reads(node), may_set=binds(node))]

    def _target(self, node, froms):
        """Binding of an assignment's target."""
        names = {child.id for child in ast.walk(node)
                 if isinstance(child, ast.Name)
                 and isinstance(child.ctx, ast.Store)}
        return [self._step(froms, uses=reads(node), sets=names)]

    def _block(self, body, froms):
        for node in body:
            if node in self.marks:
                self.before[node] = self._step(froms)
                froms = [self.before[node]]
            froms = self._statement(node, froms)
            if node in self.marks:
                self.after[node] = self._step(froms)
                froms = [self.after[node]]
        return froms

    def _statement(self, node, froms):
        method = getattr(self, "_" + type(node).__name__, None)
        if method is not None:
            return method(node, froms)
        return [self._step(froms, uses=reads(node), may_set=binds(node))]

    def _Assign(self, node, froms):
        froms = self._value(node.value, froms)
        for target in node.targets:
            froms = self._target(target, froms)
        return froms

    def _AnnAssign(self, node, froms):
        froms = self._value(node.value, self._value(node.annotation, froms))
        if node.value is None:
            return self._value(node.target, froms)
        return self._target(node.target, froms)

    def _AugAssign(self, node, froms):
        froms = [self._step(froms, uses=reads(node), may_set=binds(node))]
        return self._target(node.target, froms)

    def _Delete(self, node, froms):
        names = {t.id for t in node.targets if isinstance(t, ast.Name)}
        return [self._step(froms, uses=reads(node), unsets=names)]

    def _FunctionDef(self, node, froms):
        froms = [self._step(froms, uses=reads(node))]
        return [self._step(froms, sets={node.name})]

    _ClassDef = _FunctionDef

    def _Import(self, node, froms):
        return [self._step(froms, sets=binds(node))]

    _ImportFrom = _Import

    def _If(self, node, froms):
        froms = self._value(node.test, froms)
        return (self._block(node.body, froms)
                + self._block(node.orelse, froms))

    def _Return(self, node, froms):
        self._leave(self._value(node.value, froms), self.exit, 0)
        return []

    def _Raise(self, node, froms):
        step = self._step(froms, uses=reads(node), may_set=binds(node))
        if not self.raising:
            step.next.append(self.exit)
        return []

    def _leave(self, froms, target, depth):
        """A jump out of the loops deeper than 'depth', by way of each
        'finally' between."""
        for entry, loops, targets in reversed(self.finals):
            if loops < depth:
                break
            self._link(froms, entry)
            targets.append((target, depth))
            return
        self._link(froms, target)

    def _Break(self, node, froms):
        froms = [self._step(froms)]
        self._leave(froms, self.jumps[-1][0], len(self.jumps))
        return []

    def _Continue(self, node, froms):
        froms = [self._step(froms)]
        self._leave(froms, self.jumps[-1][1], len(self.jumps))
        return []

    def _For(self, node, froms):
        froms = self._value(node.iter, froms)
        head = self._step(froms)
        bound = self._target(node.target, [head])
        return self._loop(node, head, bound, [head])

    def _While(self, node, froms):
        head = self._step(froms)
        test = self._value(node.test, [head])
        endless = isinstance(node.test, ast.Constant) and node.test.value
        return self._loop(node, head, test, [] if endless else test)

    def _loop(self, node, head, inside, done):
        """'head' begins every iteration, 'inside' are the steps before the
        body, 'done' those before the 'else'."""
        broken, again = self._step(), self._step()
        self.jumps.append((broken, again))
        self._link(self._block(node.body, inside), again)
        self.jumps.pop()
        if node in self.once:
            done = [again]
        else:
            again.next.append(head)
        return self._block(node.orelse, done) + [broken]

    def _With(self, node, froms):
        for item in node.items:
            froms = self._value(item.context_expr, froms)
            if item.optional_vars is not None:
                froms = self._target(item.optional_vars, froms)
        swallowed = self._step(froms)
        self.raising.append(swallowed)
        ends = self._block(node.body, [self._step(froms)])
        self.raising.pop()
        return ends + [swallowed]

    def _Try(self, node, froms):
        final = self._step() if node.finalbody else None
        targets = []
        if final:
            self.raising.append(final)
            self.finals.append((final, len(self.jumps), targets))
        caught = self._step()
        self.raising.append(caught)
        ends = self._block(node.body, [self._step(froms)])
        self.raising.pop()
        ends = self._block(node.orelse, ends)
        for handler in node.handlers:
            ends = ends + self._handler(handler, caught)
        if not final:
            return ends
        self.raising.pop()
        self.finals.pop()
        self._link(ends, final)
        ends = self._block(node.finalbody, [final])
        self._link(ends, self.exit)
        for target, depth in targets:
            self._leave(ends, target, depth)
        return ends

    _TryStar = _Try

    def _handler(self, handler, caught):
        froms = self._value(handler.type, [caught])
        names = {handler.name} - {None}
        ends = self._block(handler.body, [self._step(froms, sets=names)])
        return [self._step(ends, unsets=names)]

    def _Match(self, node, froms):
        froms = self._value(node.subject, froms)
        ends = list(froms)
        for case in node.cases:
            froms = [self._step(froms, uses=reads(case.pattern),
                                may_set=binds(case.pattern))]
            froms = self._value(case.guard, froms)
            ends += self._block(case.body, froms)
        return ends + froms
