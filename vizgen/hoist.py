"""Attributes of objects in a loop that is to be compiled.

    for i in range(n):                     gain = self.gain      if it is plain
        out[i] = img[i] * self.gain   ->   for i in range(n):
                                               out[i] = img[i] * gain

The loop gets the value under a name with a dot in it, `self.gain`, and gives
it back where it writes it.  Whether an attribute is plain, so that reading it
once is the same, is seen when the loop is called (csrc/py/attr.c); the loop
itself, once it is compiled, runs no Python that could change it.
"""
import ast
import types

import numpy

from . import flow

VALUES = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType,
          numpy.ndarray, numpy.generic, numpy.dtype, numpy.ufunc, int, float)


class Hoisted:
    """A copy of 'loop' without attributes of objects.

    loop     the copy, or None when that can't be done
    places   name with a dot -> (base, attribute, written); a base is a name,
             perhaps one with a dot itself
    apart    pairs of bases that must not be one object
    """

    def __init__(self, loop, look_up, around):
        """'loop' is changed; 'look_up' gives what a name is, None if that is
        known only when the function runs; 'around' is the name of a class."""
        self.bound = flow.binds(loop) | _bound_inside(loop)
        self.look_up = look_up
        self.around = around
        self.places = {}
        self.objects = {
            child.value.id for child in ast.walk(loop)
            if isinstance(child, ast.Attribute)
            and isinstance(child.value, ast.Name)
            and not hasattr(numpy.ndarray, child.attr)}
        self.loop = _Rename(self).visit(loop)
        if any(isinstance(child, ast.Name) and isinstance(child.ctx, ast.Del)
               and child.id in self.places for child in ast.walk(loop)):
            self.loop = None
        bases = {base for base, _, _ in self.places.values()}
        if any(written and name in bases
               for name, (_, _, written) in self.places.items()):
            self.loop = None
        self.apart = sorted(
            {(base, other) for base, attr, written in self.places.values()
             for other, same, _ in self.places.values()
             if written and attr == same and base != other})

    def path(self, node, called):
        """The attributes of the chain 'node' that are an object's, outermost
        last, with the name that it begins with; None: none are."""
        chain = []
        while isinstance(node, ast.Attribute):
            chain.append(node)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.bound \
                or not self.is_object(node.id):
            return None
        chain.reverse()
        if called:
            chain.pop()             # of a method only the object is looked at
        for count, link in enumerate(chain):
            if count == 0 and node.id in self.objects:
                continue
            if hasattr(numpy.ndarray, link.attr):
                del chain[count:]
                break
        return (node.id, chain) if chain else None

    def is_object(self, name):
        """May 'name' be an object with attributes of its own?"""
        return not issubclass(type(self.look_up(name)), VALUES)

    def add(self, base, chain, written):
        """The name that stands for a chain of attributes."""
        for link in chain:
            last = link is chain[-1]
            name = f"{base}.{link.attr}"
            known = self.places.get(name,
                                    (base, self.mangled(link.attr), False))
            self.places[name] = *known[:2], known[2] or written and last
            base = name
        return base

    def mangled(self, attr):
        """An attribute's real name."""
        private = attr.startswith("__") and not attr.endswith("__")
        if not (private and self.around):
            return attr
        return f"_{self.around.lstrip('_')}{attr}"


def _bound_inside(node):
    """Names that comprehensions and inner functions have of their own."""
    return {child.id for child in ast.walk(node)
            if isinstance(child, ast.Name)
            and not isinstance(child.ctx, ast.Load)} \
        | {child.arg for child in ast.walk(node) if isinstance(child, ast.arg)}


class _Rename(ast.NodeTransformer):
    """Puts names in the places of attributes."""

    def __init__(self, hoisted):
        self.hoisted = hoisted

    def visit_Attribute(self, node, called=False):
        path = self.hoisted.path(node, called)
        if path is None:
            self.generic_visit(node)
            return node
        base, chain = path
        written = isinstance(chain[-1].ctx, ast.Store)
        name = ast.Name(id=self.hoisted.add(base, chain, written),
                        ctx=chain[-1].ctx)
        name = ast.copy_location(name, chain[-1])
        return _replace(node, chain[-1], name)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            node.func = self.visit_Attribute(node.func, True)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(child) for child in node.args]
        node.keywords = [self.visit(child) for child in node.keywords]
        return node


def _replace(node, old, new):
    """The chain 'node' with 'new' instead of 'old'."""
    if node is old:
        return new
    at = node
    while at.value is not old:
        at = at.value
    at.value = new
    return node
