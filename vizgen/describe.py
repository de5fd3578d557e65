"""Texts about what was compiled: f.explain() and f.inspect_c()."""
import ast
import linecache
import os

PARALLEL, NOT_PARALLEL = "VZ-3001", "VZ-3002"
VECTOR, NOT_VECTOR = "VZ-3003", "VZ-3004"
CHECK, ALLOCATED = "VZ-3007", "VZ-3015"
CALL = "VZ-2003"

# What a remark is about, in a word or two.
WORDS = {
    PARALLEL: "parallel", NOT_PARALLEL: "not parallel",
    VECTOR: "SIMD", NOT_VECTOR: "no SIMD",
    "VZ-3005": "split", "VZ-3006": "not split",
    CHECK: "check left", "VZ-3008": "checked once",
    "VZ-3009": "fused", "VZ-3010": "not fused", "VZ-3011": "unrolled",
    "VZ-3012": "zero-fill", "VZ-3013": "undo", "VZ-3014": "directive",
    ALLOCATED: "memory", "VZ-3016": "axes",
    "VZ-3017": "interchanged", "VZ-3018": "relaxed",
    "VZ-3019": "bands", "VZ-3020": "answers",
    "VZ-3021": "passed over", "VZ-3022": "copies",
    "VZ-5006": "optimised less",
}


def explain(function, args, kwargs):
    """One block per signature: native or why not, how many loops are parallel
    and run with SIMD, and the remarks by line.

    With arguments, compiles for them and tells of that signature only.
    """
    name = function.py_func.__qualname__
    items = _items(function, args, kwargs)
    if not items:
        return f"{name}: not called or compiled yet"
    file = function.py_func.__code__.co_filename
    blocks = [_block(name, item, file) for item in items]
    if not all(item["native"] for item in items):
        blocks += _parts(function)
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


def _block(name, item, own):
    """What is said of one signature; 'own' is the function's file."""
    signature = item["signature"]
    head = name if signature is None else f"{name}({signature})"
    if not item["native"]:
        return f"{head}  left in Python\n{_indented(item['refusal'])}"
    how = "from the cache" if item["from_cache"] else "compiled"
    lines = [f"{head}  native, {how} in {item['seconds']:.2f} s"]
    if item.get("approx"):
        lines.append(f"  approx: {item['approx']}")
    if item["bails"]:
        lines.append(f"  {_many(item['bails'], 'call')} failed a test at the "
                     "entry (arrays that overlap, an index that may\n"
                     "  lie outside) and ran in program order, one thread, "
                     "without SIMD")
    remarks = sorted({(r["file"], r["line"], r["code"], r["message"],
                       tuple(r["sites"])) for r in item["remarks"]})
    lines += _summary([remark[2] for remark in remarks])
    place = None
    for file, line, code, message, sites in remarks:
        if place != (file, line):
            place = file, line
            text = linecache.getline(file, line).strip()
            where = str(line)
            if os.path.basename(file) != os.path.basename(own):
                where += f" of {os.path.basename(file)}"
            lines.append(f"  line {where:<4} {text}".rstrip())
        lines.append(f"    {code}  {WORDS.get(code, ''):13} {message}".rstrip())
        lines += [f"             at {_site(*site)}"
                  for site in dict.fromkeys(sites)]
    return "\n".join(lines)


def _site(file, line, col, end_line, end_col):
    """'12:9  a[y - 1, x]': what stands in the way, as it was written; all of
    the line where that is a name only."""
    source = linecache.getline(file or "", line)
    text = source.encode()[col:end_col].decode(errors="replace")
    if end_line != line or not text or text.isidentifier():
        text = source
    return f"{line}:{col + 1}  {text.strip()}".rstrip()


def _summary(codes):
    """The counts that matter most, in a line."""
    count = codes.count
    loops = count(PARALLEL) + count(NOT_PARALLEL)
    inner = count(VECTOR) + count(NOT_VECTOR)
    facts = []
    if loops:
        facts.append(f"{count(PARALLEL)} of {_many(loops, 'loop')} in parallel")
    if inner:
        facts.append(f"{count(VECTOR)} of {_many(inner, 'inner loop')} with SIMD")
    facts.append(f"{_many(count(CHECK), 'check')} in loops")
    facts.append(f"{_many(count(ALLOCATED), 'array')} allocated")
    return [f"  {', '.join(facts)}"]


def _many(number, word):
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"


def _parts(function):
    """What became of the loops of a function that is left in Python, and of
    the functions that it calls."""
    lines, native = [], []
    for part in function._parts(True) or ():
        first, last = _lines(part)
        if any(start <= first and last <= end for start, end in native):
            continue
        if part.runs and not part.whole:
            native.append((first, last))
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        if part.whole:
            where = f"calls of `{part.accelerated.py_func.__name__}`"
        lines += [f"  {text}" for text in _part(part, where)]
    if lines:
        lines.insert(0, "  its parts, each by itself:")
    return lines


def _lines(part):
    """First and last line of a loop; none for a function."""
    from . import source

    if part.whole:
        return 0, 0
    _, _, node = source.outlined[part.accelerated.py_func]
    return node.lines


def _part(part, where):
    function = part.accelerated.py_func
    items = part.accelerated._describe()
    native = [item for item in items if item["native"]]
    refused = [item for item in items if not item["native"]]
    if part.phase == "off" and (native or not refused):
        return [f"{where}  in Python, which takes no longer"]
    for item in native:
        block = _block(where, item, function.__code__.co_filename).splitlines()
        return [block[0].replace(f"{where}(", f"{where}  (", 1), *block[1:]]
    reason = refused[0]["refusal"] if refused else part.reason
    if reason:
        return [f"{where}  in Python: {_in_short(reason)}{_cost(part, reason)}",
                *(_parts(part.accelerated) if part.whole else ())]
    return [f"{where}  not met yet"]


def _cost(part, refusal):
    """How often Python makes a call that keeps a loop from being compiled."""
    from . import source

    place, code, _ = refusal.split("\n")[0].split("  ", 2)
    if part.whole or code != CALL:
        return ""
    file, line, _ = place.rsplit(":", 2)
    line = int(line)
    own, _, node = source.outlined[part.accelerated.py_func]
    depth = sum(isinstance(child, (ast.For, ast.While))
                and child.lineno <= line <= child.end_lineno
                for child in ast.walk(node))
    if not depth or file != own:
        return ""
    rounds = "each round" if depth < 2 else f"each round of {depth} loops"
    return f": a call of Python in {rounds}"


def _in_short(refusal):
    """"line 12, VZ-2003 ..." of a refusal's text."""
    place, code, words = refusal.split("\n")[0].split("  ", 2)
    words = words.removeprefix("left in Python: ")
    return f"{code} at line {place.rsplit(':', 2)[1]}, {words}"


def _indented(text):
    return "\n".join("  " + line for line in text.splitlines())
