"""Small domains, tried whole: slices, integers, promotion, casts, extremes.

A table is one call: its function loops over all rows, so that it costs one
compilation, and what it writes or returns is compared with CPython's.  With
VIZGEN_FULL=1 (make test-full) the tables are whole, else parts of them.

The functions are written here as text, in one file a table.
"""
import importlib.util
import itertools
import shutil
import sys

import numpy as np
import pytest

from tests import FULL
from tests.fuzz.accept import Acceptor
from tests.support import assert_same
from vizgen import accelerate

SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
DTYPES = (np.bool_, *SIGNED, *UNSIGNED, np.float32, np.float64)
NAMES = {dtype: np.dtype(dtype).name for dtype in DTYPES}

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning"),
]


@pytest.fixture
def load(tmp_path):
    """Makes the function 'f' of a text."""
    def load(lines):
        path = tmp_path / f"table_{len(sys.modules)}.py"
        path.write_text("import numpy as np\n\n" + "\n".join(lines) + "\n")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return accelerate(module.f)
    return load


def same(fn, args, native=True):
    """As assert_same, where warnings are not asked for: a call that warns of
    much is repeated in Python, and then shows nothing."""
    with np.errstate(all="ignore"):
        assert_same(fn, args, native)


# --- slices ---

STEPS = (None, 1, 2, 3, -1, -2, -3)


def slice_lines(steps, keep):
    """Loops over all pairs of bounds; row after row of 'out' has the length
    of the part and what is in it."""
    lines = ["def f(a, lows, highs, out):", "    row = 0"]
    for step, (low, high) in itertools.product(
            steps, itertools.product(("low", ""), ("high", ""))):
        by = "" if step is None else f":{step}"
        lines += ["    for low in lows:", "        for high in highs:",
                  f"            part = a[{low}:{high}{by}]",
                  "            out[row, 0] = len(part)",
                  *(f"            {line}" for line in keep),
                  "            row += 1"]
    return [*lines, "    return row"]


def bounds(n):
    reach = n + 2
    return np.arange(-reach, reach + 1)


@pytest.mark.parametrize("n", range(6 if FULL else 4))
def test_slices_of_arrays(load, n):
    fn = load(slice_lines(STEPS, ["for j in range(part.shape[0]):",
                                  "    out[row, 1 + j] = part[j]"]))
    ends = bounds(n)
    rows = 4 * len(STEPS) * len(ends) ** 2
    assert_same(fn, (np.arange(n) + 10.0, ends, ends, np.zeros((rows, 7))))


@pytest.mark.parametrize("n", range(6 if FULL else 4))
def test_slices_that_are_stored(load, n):
    fn = load(slice_lines(STEPS, [
        "part[:] = row", "for j in range(a.shape[0]):",
        "    out[row, 1 + j] = a[j]"]))
    ends = bounds(n)
    rows = 4 * len(STEPS) * len(ends) ** 2
    assert_same(fn, (np.arange(n) + 10.0, ends, ends, np.zeros((rows, 7))))


@pytest.mark.parametrize("n", range(6 if FULL else 4))
def test_slices_of_lists(load, n):
    fn = load(slice_lines((None, 1), ["for j in range(len(part)):",
                                      "    out[row, 1 + j] = part[j]"]))
    ends = bounds(n)
    rows = 8 * len(ends) ** 2
    items = [10.0 + k for k in range(n)]
    ends = ends.tolist()
    assert_same(fn, (items, ends, ends, np.zeros((rows, 7))), native=n > 0)


# --- integers ---

INTEGER_OPS = ("//", "%", "<<", ">>", "**", "+", "-", "*", "&", "|", "^")


def small_integers(dtype):
    info = np.iinfo(dtype)
    if FULL and info.bits == 8:
        return np.arange(info.min, info.max + 1, dtype=dtype)
    low, high = info.min, info.max
    values = [low, low + 1, low // 2, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 9,
              info.bits - 1, info.bits, info.bits + 1, high // 2, high - 1,
              high]
    return np.array([v for v in values if low <= v <= high], dtype)


def integer_lines(kinds):
    """Each operator on all pairs, as scalars and as arrays.  Zeros are not in
    'd': scalars that are divided by zero are Python's."""
    lines = ["def f(a, b, c, d, out, wide):"]
    for k, op in enumerate(kinds):
        right = "c" if op in ("**", "<<", ">>") else "b"
        scalar = "d" if op in ("//", "%") else right
        whole = f"a[:, None] {op} {right}[None, :]"
        lines += [
            f"    wide[{k}, :, :{right}.shape[0]] = {whole}"
            if op != "**" else "",
            "    for i in range(a.shape[0]):",
            f"        for j in range({scalar}.shape[0]):",
            f"            out[{k}, i, j] = a[i] {op} {scalar}[j]"]
    return [*lines, "    return out.sum()"]


PAIRS = [(np.int8, np.int8), (np.uint8, np.uint8), (np.int8, np.uint8),
         (np.int16, np.int8), (np.int64, np.int64), (np.uint32, np.int32),
         (np.int32, np.int32), (np.uint64, np.uint64), (np.uint16, np.uint16)]


@pytest.mark.parametrize("pair", PAIRS if FULL else PAIRS[:3],
                         ids=lambda pair: f"{pair[0].__name__}-"
                                          f"{pair[1].__name__}")
def test_integers_of_numpy(load, pair):
    """Divisors of arrays have all values, and exponents and shifts those that
    NumPy takes.  Of scalars, quotients that wrap are Python's too."""
    fn = load(integer_lines(INTEGER_OPS))
    a, b = map(small_integers, pair)
    c = b[(b >= 0) & (b <= 70)]
    kind = (a[:1] + b[:1]).dtype
    rest = b[(b != 0) & (b + 1 != 0)]
    for first, right, divisors in ((a, rest, rest), (a[1:], b, b[b != 0])):
        shape = len(INTEGER_OPS), len(first), len(b)
        same(fn, (first, right, c, divisors, np.zeros(shape, kind),
                  np.zeros(shape, kind)))


@pytest.mark.parametrize("dtype", SIGNED, ids=NAMES.get)
def test_the_smallest_by_minus_one(load, dtype):
    """The one quotient that wraps."""
    fn = load(["def f(a, b, x):", "    return (a // b, a % b, a[0] // b[0], "
               "a[0] % b[0], int(a[0]) // int(b[0]), -a, abs(a), -a[0])"])
    a = np.array([np.iinfo(dtype).min, 5, -5], dtype)
    same(fn, (a, np.array([-1, -1, 2], dtype), 2), native=False)
    same(fn, (a[1:], np.array([-1, 2], dtype), 2))


def python_lines(ops):
    lines = ["def f(a, b, c, out):"]
    for k, op in enumerate(ops):
        right = "c" if op in ("**", "<<", ">>") else "b"
        lines += [
            "    for i in range(a.shape[0]):",
            f"        for j in range({right}.shape[0]):",
            f"            out[{k}, i, j] = int(a[i]) {op} int({right}[j])"]
    return [*lines, "    return out.sum()"]


def test_integers_of_python(load):
    fn = load(python_lines(INTEGER_OPS))
    a = small_integers(np.int8)
    b = a[a != 0]
    c = np.arange(8, dtype=np.int8)
    out = np.zeros((len(INTEGER_OPS), len(a), len(a)), np.int64)
    assert_same(fn, (a, b, c, out))


EDGES = [0, 1, -1, 2, -2, 3, 62, 63, 64, 2**31, -2**31, 2**32, 3037000500,
         -3037000500, 2**62, 2**63 - 1, -2**63, -2**63 + 1]


@pytest.mark.parametrize("op", ("+", "-", "*", "//", "%", "<<", ">>"))
def test_integers_beyond_64_bits(load, op):
    """Whatever Python makes of two numbers near the ends; a call each."""
    plain = load(["def f(x, y):", f"    return x {op} y"]).py_func
    edges = EDGES if FULL else EDGES[::2] + EDGES[-2:]
    calls = 0
    for x in edges:
        fn = accelerate(plain)   # many repeated calls would stay in Python
        for y in edges:
            if op != "<<" or y <= 64:
                assert_same(fn, (x, y), native=False)
        calls += fn.stats.native_calls
    assert calls > 10


DIVISORS = (1, 2, 3, 4, 7, 8, 64, -1, -2, -4, -5)


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int64), ids=NAMES.get)
def test_constant_divisors(load, dtype):
    """Shifts and masks for powers of two."""
    divisors = [d for d in DIVISORS if d > 0 or dtype is not np.uint8]
    lines = ["def f(a, out, wide, mine):"]
    for k, (d, op) in enumerate(itertools.product(divisors, ("//", "%"))):
        lines += [f"    wide[{k}, :] = a {op} {d}",
                  "    for i in range(a.shape[0]):",
                  f"        out[{k}, i] = a[i] {op} {d}",
                  f"        mine[{k}, i] = int(a[i]) {op} {d}"]
    a = small_integers(dtype)
    a = a[1:] if dtype is not np.uint8 else a
    shape = 2 * len(divisors), len(a)
    same(load(lines), (a, np.zeros(shape, dtype), np.zeros(shape, dtype),
                       np.zeros(shape, np.int64)))


# --- promotion ---

OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>",
             "<", "==")
KINDS = {"scalar": "{0}[0]", "array": "{0}"}


def promotion_terms(op):
    """(names, expressions): 'x' of every kind with all others."""
    names = [*(f"y{k}" for k in range(len(DTYPES))), "n", "r", "q"]
    terms = []
    for left, right in itertools.product(("scalar", "array"), repeat=2):
        x = KINDS[left].format("x")
        for name in names:
            plain = name in ("n", "r", "q")
            if plain and right == "array":
                continue
            other = name if plain else KINDS[right].format(name)
            terms += [f"{x} {op} {other}", f"{other} {op} {x}"]
    return ["x", *names], terms


def translated(names, args, terms):
    """Those that Python does not refuse and that are translated."""
    head = f"def f({', '.join(names)}):"
    accept = Acceptor([], args)
    good = []
    for term in terms:
        try:
            eval(term, dict(zip(names, args), np=np))
        except (TypeError, ValueError):
            continue
        if accept("f", [head, f"    return {term}"]):
            good.append(term)
    return good


PROMOTIONS = list(itertools.product(DTYPES, OPERATORS))


@pytest.mark.parametrize("dtype, op", PROMOTIONS if FULL else PROMOTIONS[::17],
                         ids=lambda word: getattr(word, "__name__", word))
def test_promotion(load, dtype, op):
    """NEP 50: every dtype with every other, and with Python's numbers."""
    args = [np.array([3, 2, 5]).astype(dtype)]
    args += [np.array([2, 3, 1]).astype(other) for other in DTYPES]
    args += [2, 1.5, True]
    names, terms = promotion_terms(op)
    terms = translated(names, args, terms)
    for start in range(0, len(terms), 30):
        fn = load([f"def f({', '.join(names)}):",
                   f"    return ({', '.join(terms[start:start + 30])},)"])
        same(fn, tuple(args))


# --- casts and stores ---

SPECIALS = {
    "b": [False, True],
    "i": [0, 1, -1, 2, 100, 127, -128],
    "u": [0, 1, 2, 100, 127, 200, 255],
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, 126.9, 100.0, 127.0,
          3.4e38, 1e-40, 1e-46],
}
WIDE = {
    "i": [2**15 - 1, -2**15, 2**31 - 1, -2**31, 2**53 + 1, 2**63 - 1, -2**63],
    "u": [2**16 - 1, 2**32 - 1, 2**53 + 1, 2**63, 2**64 - 1],
    "f": [np.inf, -np.inf, np.nan, 1e300, -1e300, 2.0**31, 2.0**53 + 2,
          16777217.0, 1e39],
}


def special_values(dtype, wide):
    """Values of the dtype; 'wide' ones too, as far as it has them."""
    kind = np.dtype(dtype).kind
    values = SPECIALS[kind] + (WIDE.get(kind, []) if wide else [])
    if kind in "iu":
        info = np.iinfo(dtype)
        values = [v for v in values if info.min <= v <= info.max]
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


def cast_lines(dtypes):
    outs = [f"out{k}" for k in range(len(dtypes))]
    lines = [f"def f(a, n, {', '.join(outs)}):",
             "    for i in range(a.shape[0]):"]
    lines += [f"        {out}[i] = a[i]" for out in outs]
    casts = [f"a.astype(np.{NAMES[d]})" for d in dtypes]
    casts += [f"np.{NAMES[d]}(a[1])" for d in dtypes]
    casts += ["int(a[1])", "float(a[1])", "bool(a[1])"]
    return [*lines, f"    return ({', '.join(casts)},)"]


@pytest.mark.parametrize("source", DTYPES, ids=NAMES.get)
def test_casts(load, source):
    """From one dtype into all, by stores, astype and conversions.  Casts that
    C does not define are Python's, and so are stores that may raise."""
    fn = load(cast_lines(DTYPES))
    values = special_values(source, True)
    for k in range(0, len(values), 1 if FULL else 3):
        a = np.array([values[1], values[k]])
        outs = [np.zeros(len(a), t) for t in DTYPES]
        same(fn, (a, 3, *outs), native=False)
    assert fn.stats.native_calls >= 1


@pytest.mark.parametrize("source", (np.float32, np.float64), ids=NAMES.get)
def test_casts_among_floats(load, source):
    targets = (np.bool_, np.float32, np.float64)
    fn = load([*cast_lines(targets)[:-1],
               "    return a.astype(np.float32), a.astype(np.float64)"])
    a = special_values(source, True)
    same(fn, (a, 3, *(np.zeros(len(a), t) for t in targets)))


WHOLE = ("int(a[0])", *(f"np.{NAMES[d]}(a[0])" for d in (*SIGNED, *UNSIGNED)))


@pytest.mark.parametrize("source", (np.float32, np.float64), ids=NAMES.get)
@pytest.mark.parametrize("form", WHOLE)
def test_floats_to_integers(load, source, form):
    """One conversion a function, so that no other one's check hides it."""
    plain = load(["def f(a):", f"    return {form}"]).py_func
    for value in special_values(source, True):
        same(accelerate(plain), (np.array([value]),), native=False)


STORED = [0, 1, -1, 127, 128, -128, -129, 255, 256, 65535, 65536, 2**31,
          -2**31 - 1, 2**32, 2**63 - 1, -2**63]


@pytest.mark.parametrize("target", DTYPES, ids=NAMES.get)
def test_stores_of_python_ints(load, target):
    """A number that does not fit raises OverflowError."""
    fn = load(["def f(out, n):", "    out[1] = n", "    out[0] = out[1] + n"])
    for n in STORED:
        assert_same(fn, (np.zeros(3, target), n), native=False)
    assert fn.stats.native_calls > 2


# --- the smallest and the largest ---

ODD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1.5, 1e-40]
EXTREMES = ("min({0}, {1})", "max({0}, {1})", "np.minimum({0}, {1})",
            "np.maximum({0}, {1})", "np.fmin({0}, {1})", "np.fmax({0}, {1})",
            "({0} if {0} < {1} else {1})", "({0} if {0} >= {1} else {1})",
            "min({1}, {0}, 1.0)", "max(0.5, {0}, {1})", "abs({0})",
            "np.sign({0})", "np.clip({0}, {1}, 1.0)", "np.clip({0}, 0.5, {1})",
            "min(max({0}, {1}), 1.0)", "np.copysign({0}, {1})")


def extreme_lines(forms):
    lines = ["def f(a, out, wide):", "    n = a.shape[0]"]
    for k, form in enumerate(forms):
        lines += [
            "    for i in range(n):", "        for j in range(n):",
            f"            out[{k}, i, j] = {form.format('a[i]', 'a[j]')}"]
        if form.startswith("np."):
            whole = form.format("a[:, None]", "a[None, :]")
            lines.append(f"    wide[{k}, :, :] = {whole}")
    return lines


@pytest.mark.parametrize("dtype", (np.float64, np.float32), ids=NAMES.get)
def test_extremes_of_pairs(load, dtype):
    """NaNs come through or lose as NumPy and Python have it; of two zeros,
    NumPy's choice depends on the machine, so they don't meet."""
    a = np.array(ODD).astype(dtype)
    for zeros in ([0.0], [-0.0]):
        chosen = np.array([x for x in a if x != 0] + zeros, dtype)
        shape = (len(EXTREMES), len(chosen), len(chosen))
        fn = load(extreme_lines(EXTREMES))
        same(fn, (chosen, np.zeros(shape, dtype),
                  np.zeros(shape, dtype)))


@pytest.mark.parametrize("dtype", (np.float64, np.float32), ids=NAMES.get)
def test_python_extremes_of_zeros(load, dtype):
    """Python keeps the first of two equal numbers."""
    forms = [form for form in EXTREMES if "np." not in form]
    a = np.array(ODD).astype(dtype)
    shape = (len(forms), len(a), len(a))
    same(load(extreme_lines(forms)),
         (a, np.zeros(shape, dtype), np.zeros(shape, dtype)))


def reduction_lines():
    words = ("min()", "max()", "argmin()", "argmax()", "sum()", "prod()",
             "any()", "all()")
    lines = ["def f(rows, out):", "    for k in range(rows.shape[0]):",
             "        a = rows[k]"]
    lines += [f"        out[k, {n}] = a.{word}"
              for n, word in enumerate(words)]
    return lines


@pytest.mark.parametrize("dtype", (np.float64, np.float32), ids=NAMES.get)
@pytest.mark.parametrize("length", (1, 2, 3))
@pytest.mark.parametrize("compiler", ("gcc", "clang"))
def test_extremes_of_rows(load, dtype, length, compiler, monkeypatch):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    monkeypatch.setenv("VIZGEN_CC", compiler)
    values = [0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    rows = np.array(list(itertools.product(values, repeat=length)), dtype)
    same(load(reduction_lines()), (rows, np.zeros((len(rows), 8))))


# --- floats ---

NEUTRAL = ("{0} + 0.0", "{0} - 0.0", "0.0 - {0}", "{0} * 1.0", "{0} * 0.0",
           "{0} / 1.0", "{0} - {0}", "{0} * -1.0", "-{0}", "{0} + -0.0", "{0} - -0.0",
           "0.0 + {0}", "{0} / {0}", "abs({0})", "{0} * 0.5 * 2.0",
           "{0} + 1.0 - 1.0", "-(-{0})", "-({0} - {0})", "0.0 * {0} + {0}")


@pytest.mark.parametrize("dtype", (np.float64, np.float32), ids=NAMES.get)
def test_floats_that_look_neutral(load, dtype):
    """What is x for most x, but not for all."""
    lines = ["def f(a, out, wide):"]
    for k, form in enumerate(NEUTRAL):
        lines += ["    for i in range(a.shape[0]):",
                  f"        out[{k}, i] = {form.format('a[i]')}",
                  f"    wide[{k}, :] = {form.format('a')}"]
    a = special_values(dtype, True)
    shape = len(NEUTRAL), len(a)
    same(load(lines), (a, np.zeros(shape, dtype), np.zeros(shape, dtype)))


def test_products_are_rounded(load):
    """a * b + c is rounded twice."""
    fn = load(["def f(a, b, c, out):", "    for i in range(a.shape[0]):",
               "        out[i] = a[i] * b[i] + c[i]",
               "    return a * b - c, float(a[0]) * float(b[0]) + float(c[0])"])
    a, b, c = np.random.RandomState(7).uniform(-1, 1, (3, 999))
    assert_same(fn, (a, b, c, np.zeros(999)))


# --- sums ---


@pytest.mark.parametrize("dtype", (np.float64, np.float32), ids=NAMES.get)
def test_sums_of_all_lengths(load, dtype):
    """NumPy's order: eight at a time, and pairs of blocks of 128."""
    fn = load(["def f(a, out):", "    for n in range(out.shape[0]):",
               "        out[n] = a[:n].sum()"])
    most = 1200 if FULL else 300
    a = np.random.RandomState(5).uniform(-1, 1, most).astype(dtype)
    a *= 10.0 ** (np.arange(most) % 7)
    assert_same(fn, (a, np.zeros(most)))
