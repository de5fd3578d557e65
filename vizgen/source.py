"""Finding the source of a loaded function, and knowing library objects.

A function is compiled from text, so the text must be what Python runs: the
file is compiled again and must hold a code object that equals the function's.
Then the function's node is picked from the file's syntax tree, so positions
are those of the file.
"""

import ast
import builtins
import collections
import itertools
import linecache
import math
import os
import sys
import tokenize
import types
import warnings
import weakref

import numpy

from . import _core, lazy

# Modules whose Python functions are never translated by reading them.
OPAQUE = set(sys.stdlib_module_names) - {"colorsys", "bisect"} | {
    "numpy", "scipy", "vizgen",
}
MOST_FILES = 16

# Functions that vizgen.parts has made -> what find() gives for them.
outlined = weakref.WeakKeyDictionary()

_parsed = {}  # path -> (text, tree, codes); the last few files


class SourceError(Exception):
    """Why there is no usable source: args are (code, message)."""


def find(function):
    """(path, text of the file, node) of a function; SourceError if there is
    none that matches the loaded code."""
    if function in outlined:
        return outlined[function]
    code = function.__code__
    path = code.co_filename
    text = _text(function)
    if text is None:
        raise SourceError("VZ-1001", f"the source of `{function.__qualname__}` "
                                     "can't be read")
    try:
        tree, codes = _parse(path, text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise SourceError("VZ-1002", f"`{path}` no longer compiles: {error}")
    key = code.co_name, code.co_firstlineno
    if not any(same_code(code, other) for other in codes.get(key, ())):
        raise SourceError(
            "VZ-1002",
            f"`{path}` no longer matches the loaded `{function.__qualname__}`")
    node = _node(tree, code)
    if node is None:
        raise SourceError("VZ-1001", f"`{function.__qualname__}` can't be told "
                                     "apart from its neighbours")
    return path, text, node


def _text(function):
    """The whole text of the function's file as it is now, or None."""
    path = function.__code__.co_filename
    if os.path.isfile(path):
        try:
            with tokenize.open(path) as file:
                return file.read()
        except (OSError, SyntaxError, UnicodeDecodeError):
            return None
    lines = linecache.getlines(path, function.__globals__)
    return "".join(lines) or None


def quietly(function, *args, **keywords):
    """Calls what compiles a source once more: Python gave the warnings of the
    source (`"\\d"`, `n is 1`) when it was compiled for the first time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return function(*args, **keywords)


def parse(text, path):
    return quietly(ast.parse, text, path)


def _parse(path, text):
    known = _parsed.get(path)
    if known is not None and known[0] == text:
        return known[1:]
    tree = parse(text, path)
    codes = {}
    _collect(quietly(compile, text, path, "exec", dont_inherit=True), codes)
    while len(_parsed) >= MOST_FILES:
        _parsed.pop(next(iter(_parsed)), None)
    _parsed[path] = text, tree, codes
    return tree, codes


def _collect(code, out):
    out.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _collect(constant, out)


def same_code(lhs, rhs):
    """Do two code objects do the same?"""
    return (
        lhs.co_code == rhs.co_code
        and lhs.co_names == rhs.co_names
        and lhs.co_varnames == rhs.co_varnames
        and lhs.co_freevars == rhs.co_freevars
        and lhs.co_cellvars == rhs.co_cellvars
        and lhs.co_flags == rhs.co_flags
        and lhs.co_firstlineno == rhs.co_firstlineno
        and _same_constants(lhs.co_consts, rhs.co_consts)
    )


def _same_constants(lhs, rhs):
    if type(lhs) is not type(rhs):
        return False
    if isinstance(lhs, tuple):
        return len(lhs) == len(rhs) and all(map(_same_constants, lhs, rhs))
    if isinstance(lhs, types.CodeType):
        return same_code(lhs, rhs)
    if isinstance(lhs, (float, complex, frozenset)):
        return repr(lhs) == repr(rhs)  # signed zeros, NaN
    return lhs == rhs


def _node(tree, code):
    """The FunctionDef or Lambda of 'code', or None when it isn't clear."""
    if code.co_name == "<lambda>":
        nodes = [node for node in ast.walk(tree)
                 if isinstance(node, ast.Lambda)
                 and node.lineno == code.co_firstlineno]
        return _lambda_of(nodes, code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            if node.name == code.co_name and first == code.co_firstlineno:
                return node
    return None


def _lambda_of(nodes, code):
    """The lambda whose body spans all positions of 'code', innermost first."""
    spans = [(p[0], p[2], p[1], p[3]) for p in code.co_positions()
             if None not in p and p[2] != p[3]]
    if not spans:
        return nodes[0] if len(nodes) == 1 else None
    first = min(span[:2] for span in spans)
    last = max(span[2:] for span in spans)
    fit = [node for node in nodes
           if (node.body.lineno, node.body.col_offset) <= first
           and (node.body.end_lineno, node.body.end_col_offset) >= last]
    fit.sort(key=lambda node: node.end_col_offset - node.col_offset)
    return fit[0] if fit else None


# --- names of nested functions ------------------------------------------------

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LAZY = (ast.Yield, ast.YieldFrom, ast.Await)


def names_bound(node):
    """The names that the FunctionDef or Lambda 'node' binds; None for a
    generator or coroutine."""
    names, free = set(), set()
    names_of(node.args, names)
    body = node.body if isinstance(node.body, list) else [node.body]
    lazy = [_bind(child, names, free, False) for child in body]
    return None if any(lazy) else names - free


def names_of(args, names):
    """Adds the names of the parameters 'args' to 'names'."""
    every = args.posonlyargs + args.args + args.kwonlyargs
    names.update(arg.arg for arg in every + [args.vararg, args.kwarg] if arg)


def _bind(node, names, free, inner):
    """Adds what 'node' binds to 'names', what it declares to be free to 'free';
    'inner': in a comprehension, where only `:=` binds.  Is it lazy?"""
    name = getattr(node, "name", None)  # def, class, except, match
    if isinstance(name, str):
        names.add(name)
    if isinstance(node, FUNCTIONS):
        return False
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        free.update(node.names)
    elif isinstance(node, ast.Name):
        if not inner and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    elif isinstance(node, ast.NamedExpr):
        names.add(node.target.id)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        names.update((item.asname or item.name).split(".")[0]
                     for item in node.names)
    inner = inner or isinstance(node, COMPREHENSIONS)
    lazy = [_bind(child, names, free, inner)
            for child in ast.iter_child_nodes(node)]
    return isinstance(node, LAZY) or any(lazy)


def imports_of(node):
    """{name: (module, attribute or None)} for what imports among the statements
    of the FunctionDef 'node' bind, of modules that are loaded already and to
    names that nothing else binds."""
    found, names, free = {}, set(), set()
    names_of(node.args, names)
    for child in node.body:
        if not isinstance(child, (ast.Import, ast.ImportFrom)):
            _bind(child, names, free, False)
            continue
        for item in child.names:
            name = item.asname or item.name.split(".")[0]
            if name in found:
                names.add(name)
            found[name] = _imported(child, item)
    return {name: row for name, row in found.items()
            if row and name not in names | free}


def _imported(node, item):
    """(module, attribute or None) of one alias; None: it isn't loaded."""
    name = item.name if isinstance(node, ast.Import) else node.module
    if name in ("cmath", "heapq"):  # no code of the program's
        lazy.load(name)
    if isinstance(node, ast.Import):
        module = item.name if item.asname else item.name.split(".")[0]
        return (module, None) if item.name in sys.modules else None
    known = vars(sys.modules.get(node.module, object)).keys()
    loaded = not node.level and node.module in sys.modules
    return (node.module, item.name) if loaded and item.name in known else None


# --- library objects ---------------------------------------------------------


def known_name(value):
    """The canonical name of a function or type of the builtins, of math and its
    like, or of NumPy; None for anything else.

    The name comes from the object, not from where it was found, and the object
    must have been in its module when that was first seen: what a program has
    put in place of a library function is not mistaken for it.  The exact type
    of an object says what it may be, before any of its attributes is looked at.
    """
    if value is itertools.product:
        return "itertools.product"
    if value is collections.deque:
        return "collections.deque"
    kind = type(value)
    state = sys.modules.get("numpy.random.mtrand")
    if kind in (types.MethodType, types.BuiltinFunctionType) \
            and state is not None \
            and value.__self__ is getattr(state, "_rand", state):
        return _held_in(["numpy.random"], value, by_key=True)
    if kind is types.BuiltinFunctionType:
        return _known_builtin(value)
    if kind is types.FunctionType:
        home = dict.get(value.__globals__, "__name__")
        held = _is_of_numpy(home) and home in sys.modules \
            and vars(sys.modules[home]) is value.__globals__
        return _held_in(NUMPY, value) if held else None
    if kind in (numpy.ufunc, type(numpy.sum)):
        return _held_in(NUMPY, value)
    if kind in (type, type(numpy.dtype)):
        return _known_type(value)
    if state is not None and kind is type(getattr(state, "seed", None)) \
            and _is_of_numpy(value.__module__):
        return _held_in(["numpy.random"], value)
    return None


NUMPY = ["numpy", "numpy.linalg", "numpy.random"]
STATIC = 1 << 9  # not among a type's flags: it was made by C
_at_first = {module: dict(vars(sys.modules[module]))
             for module in ("builtins", "math", "numpy", "numpy.linalg")}
_seen = {}  # module -> {id: (object, name)}, as it was then or is at first


def _held_in(modules, value, by_key=False):
    """The name of 'value' in the first of the modules that has it; None.
    'by_key': as it goes there, not as it calls itself."""
    for module in modules:
        if module not in _seen and module in sys.modules:
            _see(module)
        row = _seen.get(module, {}).get(id(value))
        if row is not None:
            return f"{module}.{row[1] if by_key else value.__name__}"
    return None


def _see(module):
    _seen[module] = table = {}
    names = _at_first.get(module) or vars(sys.modules[module])
    for key, value in list(names.items()):
        table.setdefault(id(value), (value, key))


def _is_of_numpy(module):
    return type(module) is str and f"{module}.".startswith("numpy.")


def _known_builtin(value):
    """A function of C's."""
    module = value.__module__
    if type(module) is str and module in BUILTINS:
        return _held_in([BUILTINS[module]], value)
    if _is_of_numpy(module):
        return _held_in(NUMPY, value)
    return None


BUILTINS = {"builtins": "builtins", "math": "math", "cmath": "cmath",
            "_heapq": "heapq"}


def _known_type(value):
    """A class written in Python is no array or number of NumPy's."""
    module = value.__module__
    static = not value.__flags__ & STATIC
    if type(module) is str and module == "builtins" and static:
        return _held_in(["builtins"], value)
    plain = static or not issubclass(value, (numpy.generic, numpy.ndarray))
    return _held_in(NUMPY, value) if plain and _is_of_numpy(module) else None


def canonical(name):
    """The canonical name of a library's function that is written 'name';
    True for a module or a constant, False where nothing is."""
    root, *parts = name.split(".")
    value = {"builtins": builtins, "cmath": lazy.load("cmath"), "math": math,
             "numpy": numpy}.get(root)
    for part in parts:
        value = getattr(value, part, None)
    if isinstance(value, (types.ModuleType, int, float)):
        return True
    return known_name(value) or False


def is_opaque(function):
    """Is the function part of a library that is not read?"""
    name = function.__globals__.get("__name__")
    return (type(name) is str and name.split(".")[0] in OPAQUE
            and not name.startswith("vizgen.library."))


def plain_function(value):
    """The function that 'value' is, or that is accelerated in it; else None.
    Attributes of other objects may be the user's code, so only the type is
    looked at."""
    if type(value) is _core.Accelerated:
        value = value.py_func
    return value if type(value) is types.FunctionType else None


def dataclass_fields(class_):
    """(name, has a default, default, keyword only) for each field of a dataclass
    whose __init__ does nothing but assign the fields; else None."""
    dataclasses = lazy.load("dataclasses")  # slow, were it not loaded
    rows = []
    if hasattr(class_, "__post_init__"):
        return None
    for field in class_.__dataclass_fields__.values():
        kind = field._field_type
        if kind is dataclasses._FIELD_CLASSVAR:
            continue
        if kind is not dataclasses._FIELD or not field.init:
            return None
        has = field.default is not dataclasses.MISSING
        rows.append((field.name, has, field.default if has else None,
                     field.kw_only))
    return rows
