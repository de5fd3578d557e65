"""`vizgen check`: what can be said about a file without running it.

The file is parsed, never imported.  So neither types nor values are known;
found are statements and expressions that have no translation (VZ-1003),
calls of library functions that have none (VZ-2003), functions that call
themselves (VZ-2011) and globals of kinds that have none (VZ-1004).  A clean
check does not promise that a function will compile; `vizgen explain` knows.
What is found keeps the function in Python, but not the loops before or after
it, which are compiled by themselves (vizgen/parts.py).
"""
import ast
import math
import tokenize
import types

import numpy

from .source import parse

STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.For, ast.While,
    ast.If, ast.Return, ast.Break, ast.Continue, ast.Pass, ast.Assert,
    ast.Raise, ast.FunctionDef, ast.Try, ast.With, ast.Delete, ast.Global,
    ast.Nonlocal)
EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.Subscript, ast.Attribute,
    ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Tuple, ast.List,
    ast.Slice, ast.IfExp, ast.Starred, ast.ListComp, ast.GeneratorExp,
    ast.Lambda, ast.NamedExpr, ast.Dict)
LIBRARIES = ("numpy", "math")


def check_file(path, every=False):
    """Diagnostics of the accelerated functions in the file ('every': of all
    functions): dicts with code, message, file, line, col and text."""
    source = ""
    try:
        with tokenize.open(path) as file:   # sees a cookie, and skips a BOM
            source = file.read()
        tree = parse(source, path)
    except UnicodeDecodeError as error:
        return [_item(path, source, "syntax", str(error), 1, 0, 1)]
    except SyntaxError as error:
        return [_item(path, source, "syntax", error.msg, error.lineno or 1,
                      (error.offset or 1) - 1, (error.offset or 1))]
    names = _Names(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (
                every or names.is_accelerated(node)):
            for code, message, at in _Function(node, names).found:
                found.append(_item(path, source, code, message, at.lineno,
                                   at.col_offset, at.end_col_offset
                                   if at.end_lineno == at.lineno else None))
                _add_loops(found[-1], node, at)
    return sorted(found, key=lambda item: (item["line"], item["col"]))


def _add_loops(item, node, at):
    """Adds what runs native though 'at' keeps the function in Python."""
    loops = [(loop.lineno, loop.end_lineno) for loop in _loops(node)
             if not loop.lineno <= at.lineno <= loop.end_lineno]
    item["loops"] = loops
    if loops:
        lines = ", ".join(f"{first}-{last}" for first, last in loops)
        *text, more = item["text"].split("\n")
        text.append(f"   loops outside of it run by themselves: lines {lines}")
        item["text"] = "\n".join([*text, more])


def _loops(node):
    """The outermost loops of a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.For, ast.While)):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _loops(child)


class _Names:
    """What the names of a module's top level are."""

    def __init__(self, tree):
        self.modules = {}       # name -> library
        self.imported = {}      # name -> "library.name"
        self.decorators = set()
        self.functions = {}     # name -> node
        self.other = {}         # name -> kind that has no translation
        for node in ast.walk(tree):
            self._import(node)
        for node in tree.body:
            self._define(node)

    def _import(self, node):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                if root in LIBRARIES:
                    bound = alias.asname or root
                    self.modules[bound] = alias.name if alias.asname else root
                elif alias.name == "vizgen":
                    self.decorators.add((alias.asname or "vizgen")
                                        + ".accelerate")
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                bound = alias.asname or alias.name
                if node.module == "vizgen" and alias.name == "accelerate":
                    self.decorators.add(bound)
                elif node.module.split(".")[0] in LIBRARIES:
                    self.imported[bound] = f"{node.module}.{alias.name}"

    def _define(self, node):
        if isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            self.other[node.name] = "a class"
        elif isinstance(node, ast.Assign) and isinstance(
                node.value, (ast.Set, ast.DictComp, ast.SetComp)):
            kind = type(node.value).__name__.lower()
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.other[target.id] = f"a {kind}"

    def is_accelerated(self, node):
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                decorator = decorator.func
            if ast.unparse(decorator) in self.decorators:
                return True
        return False

    def library_name(self, node):
        """"numpy.zeros" for a chain of names that leads into a library."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id) or self.modules.get(node.id)
        if isinstance(node, ast.Attribute):
            above = self.library_name(node.value)
            return above and f"{above}.{node.attr}"
        return None


class _Function:
    """The diagnostics of one function, and of those it calls by name."""

    def __init__(self, node, names):
        self.names = names
        self.found = []
        self.local = {arg.arg for arg in ast.walk(node.args)
                      if isinstance(arg, ast.arg)}
        self.local |= {n.id for n in ast.walk(node)
                       if isinstance(n, ast.Name)
                       and isinstance(n.ctx, ast.Store)}
        self.name = node.name
        for arg in (node.args.vararg, node.args.kwarg):
            if arg is not None:
                self.add("VZ-2001", f"`{arg.arg}` collects arguments, which "
                                    "is not translated", arg)
        self.block(node.body)

    def add(self, code, message, node):
        self.found.append((code, message, node))

    def block(self, body):
        for node in body:
            if not isinstance(node, STATEMENTS):
                self.add("VZ-1003", f"`{_word(node)}` is not translated",
                         node)
                continue
            for child in ast.iter_child_nodes(node):
                told = isinstance(node, ast.Raise) \
                    or child is getattr(node, "msg", None)
                if isinstance(child, ast.expr) and not told:
                    self.expression(child)
            for part in ("body", "orelse", "finalbody"):
                self.block(getattr(node, part, ()))
            for handler in getattr(node, "handlers", ()):
                self.block(handler.body)

    def expression(self, node):
        if not isinstance(node, EXPRESSIONS):
            self.add("VZ-1003", f"`{_word(node)}` is not translated", node)
            return
        library = self.library(node)
        if library:
            if not _is_translated(library):
                self.add("VZ-2003", f"`{ast.unparse(node)}` is not "
                                    "translated", node)
            return
        if isinstance(node, ast.Name):
            self.name_used(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.keyword)):
                self.expression(child.value if isinstance(child, ast.keyword)
                                else child)

    def library(self, node):
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self.local:
            return None
        return self.names.library_name(node)

    def name_used(self, node):
        if node.id in self.local:
            return
        if node.id in self.names.other:
            self.add("VZ-1004", f"`{node.id}` is {self.names.other[node.id]}"
                                ", which has no translation", node)
        elif node.id == self.name:
            self.add("VZ-2011", f"`{node.id}` calls itself", node)


def _word(node):
    """What the user would call a kind of node."""
    return {"ClassDef": "class", "Import": "import", "ImportFrom": "import",
            "Match": "match", "DictComp": "{... for ...}",
            "SetComp": "{... for ...}", "Set": "{...}",
            "JoinedStr": "f'...'", "Yield": "yield",
            "YieldFrom": "yield from", "Await": "await",
            }.get(type(node).__name__, type(node).__name__)


def _is_translated(name):
    """Whether the compiler has a row for the library object 'name', such as
    numpy.zeros; numbers and modules on the way to one count as well."""
    from vizgen import _core, library, source

    value = {"numpy": numpy, "math": math}.get(name.split(".")[0])
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    if isinstance(value, (bool, int, float, types.ModuleType)) \
            or value is None and name == "numpy.newaxis":
        return True
    canonical = source.known_name(value) or ""
    return _core.is_translated(canonical) or canonical in library.TABLE


def _item(path, source, code, message, line, col, end):
    """One diagnostic with its text as the compiler would print it."""
    lines = source.splitlines()
    text = [f"{path}:{line}:{col + 1}  {code}  {message}"]
    for number in (line - 1, line):
        if 1 <= number <= len(lines):
            text.append(f"{number:5} | {lines[number - 1]}")
    if 1 <= line <= len(lines):
        row = lines[line - 1].encode()
        before = row[:col].decode(errors="replace").expandtabs()
        width = len(row[col:end].decode(errors="replace").rstrip()) or 1
        text.append("      | " + " " * len(before) + "^" * width)
    if code != "syntax":
        text.append(f"   more: vizgen explain {code}")
    return {"code": code, "message": message, "file": path, "line": line,
            "col": col + 1, "text": "\n".join(text)}
