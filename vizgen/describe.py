"""Texts about what was compiled: f.explain() and f.inspect_c()."""

def explain(function, args, kwargs):
    """One block per signature: native or why not, and the remarks by line.

    With arguments, compiles for them and tells of that signature only.
    """
    name = function.py_func.__qualname__
    blocks = [_block(name, item) for item in _items(function, args, kwargs)]
    if not blocks:
        return f"{name}: not called or compiled yet"
    return "\n".join(blocks)


def inspect_c(function, args, kwargs):
    """The C text of the latest signature, or of the one for the arguments."""
    for item in _items(function, args, kwargs):
        if item["c"] is not None:
            return item["c"]
        return f"/* left in Python: {item['refusal']} */".replace("\n", "\n   ")
    return "/* not called or compiled yet */"


def _items(function, args, kwargs):
    """Descriptions of the specialisations, most recently used first."""
    code = function.py_func.__code__
    takes_none = not (code.co_argcount or code.co_kwonlyargcount)
    if not (args or kwargs or takes_none):
        return function._describe()
    item = function._describe_call(*args, **kwargs)
    return [] if item is None else [item]


def _block(name, item):
    signature = item["signature"]
    head = name if signature is None else f"{name}({signature})"
    if not item["native"]:
        return f"{head}  left in Python\n{_indented(item['refusal'])}"
    how = "from the cache" if item["from_cache"] else "compiled"
    lines = [f"{head}  native, {how} in {item['seconds']:.2f} s"]
    remarks = sorted({(r["line"], r["code"], r["message"])
                      for r in item["remarks"]})
    lines += [f"  line {line:<4} {code}  {message}"
              for line, code, message in remarks]
    return "\n".join(lines)


def _indented(text):
    return "\n".join("  " + line for line in text.splitlines())
