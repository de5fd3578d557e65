"""Who may include whom: the include graph of csrc/README.md."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

CORE = ("csrc/base", "csrc/ir")
MAY_INCLUDE = {
    "csrc/base": (),
    "csrc/ir": ("csrc/base",),
    "csrc/ast": CORE,
    "csrc/analysis": CORE,
    "csrc/emit": CORE,
    "csrc/run": ("csrc/base",),
    "csrc/pipe": (*CORE, "csrc/analysis"),
    "transforms": (*CORE, "csrc/analysis", "csrc/pipe"),
    "typeinfer": (*CORE, "csrc/ast"),
    "csrc/lower": (*CORE, "csrc/ast", "typeinfer"),
    "csrc/driver": (*CORE, "csrc/ast", "csrc/analysis", "csrc/emit",
                    "csrc/run", "csrc/pipe", "csrc/lower", "transforms",
                    "typeinfer"),
}
MAY_INCLUDE["autotune"] = (*MAY_INCLUDE["csrc/driver"], "csrc/driver")
MAY_INCLUDE["csrc/py"] = (*MAY_INCLUDE["autotune"], "autotune")

# Tables that two layers share and that stand alone.
SHARED = {
    "csrc/emit/prelude.h": ("csrc/run/abi.h",),   # pasted into each kernel
    "csrc/emit/prelude_pow.h": ("csrc/emit/prelude.h",),
    "csrc/run/host.c": ("csrc/ir/fn.def",),       # the order of VzHost.libm
}

# System headers that only some places may use.
RESERVED = {
    r"Python\.h|numpy/.*": ("csrc/py/",),
    r"dlfcn\.h": ("csrc/run/", "csrc/analysis/solver.c"),
    r"spawn\.h": ("csrc/run/",),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def sources():
    folders = ("csrc", "typeinfer", "transforms", "autotune")
    return sorted(path for folder in folders
                  for path in (ROOT / folder).rglob("*")
                  if path.suffix in (".c", ".h", ".def"))


def layer(name):
    """The folder of MAY_INCLUDE that a file belongs to."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "csrc" else parts[0]


@pytest.mark.parametrize("folder", sorted(MAY_INCLUDE))
def test_includes(folder):
    bad = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        if layer(name) != folder:
            continue
        for mark, target in INCLUDE.findall(path.read_text()):
            if mark == "<" or target.endswith(".inc") \
                    or target in SHARED.get(name, ()):
                continue
            allowed = (folder, *MAY_INCLUDE[folder])
            if layer(target) not in allowed:
                bad.append(f"{name} includes {target}")
            elif not (ROOT / target).exists():
                bad.append(f"{name} includes {target}, which is not there")
    assert not bad, "\n".join(bad)


def test_every_file_has_a_layer():
    unknown = {layer(p.relative_to(ROOT).as_posix()) for p in sources()}
    unknown -= set(MAY_INCLUDE) | {"csrc/tools"}
    assert not unknown


@pytest.mark.parametrize("header", sorted(RESERVED))
def test_reserved_headers(header):
    bad = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for mark, target in INCLUDE.findall(path.read_text()):
            if mark == "<" and re.fullmatch(header, target) \
                    and not name.startswith(RESERVED[header]):
                bad.append(f"{name} includes <{target}>")
    assert not bad, "\n".join(bad)


def test_python_layers():
    """The compiler's Python side needs NumPy and the standard library."""
    import ast
    import sys

    apps = {path.stem for path in (ROOT / "apps").glob("*.py")}
    bad = []
    for path in (ROOT / "vizgen").glob("*.py"):
        allowed = set(sys.stdlib_module_names) | {"numpy", "vizgen"}
        allowed |= apps if path.name == "demo.py" else set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            else:
                continue
            bad += [f"{path.name}: {n}" for n in names
                    if n.split(".")[0] not in allowed]
    assert not bad, "\n".join(bad)
