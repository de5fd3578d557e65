"""Returns from a loop that becomes a part of its function (parts.py).

    for y in range(n):                    for y in range(n):
        if a[y] > t:               ->         if a[y] > t:
            return y, words                       return 1, y
    print(y)                              return 0, y

The part says which return was met and gives the names that are read after it;
the return itself stays in Python.
"""
import ast
import copy

from . import flow


class Leaves:
    """The returns of a loop and of its copy that becomes a part, in the same
    order; those of the copy give names only.  A `finally` around the loop may
    read more of them than the return itself."""

    def __init__(self, loop, body, graph):
        nodes = [block[place] for block, place in returns(loop)]
        bound = flow.binds(body)
        self.values = [copy.deepcopy(node.value) or ast.copy_location(
            ast.Constant(None), node) for node in nodes]
        self.reads = [graph.before[node].live & bound for node in nodes]
        self.places = returns(body)
        self.end = None     # what the part gives in the end; None: nothing

    def names(self, kept):
        """What is read behind the returns; the part's copies say so, too."""
        for (block, place), reads in zip(self.places, self.reads):
            _give(block, place, _some(sorted(reads), reads))
        return set().union(kept if self.reads else (), *self.reads)

    def give(self, results, ends, kept):
        """Each return gives its number and the names that are read after it, or
        None in their place."""
        for number, (block, place) in enumerate(self.places, 1):
            wanted = self.reads[number - 1] | kept
            _give(block, place, [ast.Constant(number), *_some(results, wanted)])
        if self.places:
            self.end = [ast.Constant(0), *_some(results, ends)]
        elif results:
            self.end = _some(results, ends)


def _some(names, wanted):
    return [ast.Name(id=name, ctx=ast.Load()) if name in wanted
            else ast.Constant(None) for name in names]


def _give(block, place, items):
    node = ast.Return(ast.Tuple(elts=items, ctx=ast.Load()))
    block[place] = placed(node, block[place])


def _blocks(node):
    """The lists of statements in 'node', but not those of inner functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, flow.FUNCTIONS + (ast.ClassDef,)):
            yield from _blocks(child)
    for field in ("body", "orelse", "finalbody"):
        if isinstance(getattr(node, field, None), list):
            yield getattr(node, field)


def returns(loop):
    """(block, place in it) of the loop's returns, the last of a block first."""
    return [(block, place) for block in _blocks(loop)
            for place in reversed(range(len(block)))
            if isinstance(block[place], ast.Return)]


def placed(node, loop):
    """'node', its new nodes at the first line of the loop."""
    for child in ast.walk(node):
        if not hasattr(child, "lineno"):
            child.lineno = child.end_lineno = loop.lineno
            child.col_offset = loop.col_offset
            child.end_col_offset = loop.col_offset + 3
    return node
