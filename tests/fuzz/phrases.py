"""What random programs of tests/fuzz/broad.py say: templates by kind.

`{0}`, `{1}`, ... stand for operands.  Whether a phrase fits its operands is
found out by evaluating it (tests/fuzz/live.py), so these tables know nothing
of shapes and types.
"""

BINARY = ("+", "-", "*") * 4 + ("/", "//", "%") * 2 + ("**", "&", "|", "^",
                                                      "<<", ">>")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")

# Numbers of numbers.
SCALAR_1 = (
    "(-{0})", "abs({0})", "(+{0})", "float({0})", "int({0})", "bool({0})",
    "(not {0})", "(~{0})", "round({0})", "math.floor({0})", "math.ceil({0})",
    "math.sqrt(abs({0}))", "math.exp(-abs({0}))", "math.sin({0})",
    "np.sqrt({0})", "np.exp({0})", "np.log({0})", "np.sin({0})",
    "np.abs({0})", "np.floor({0})", "np.float32({0})", "np.float64({0})",
    "np.uint8({0})", "np.int32({0})", "np.int64({0})", "np.sign({0})",
    "math.isnan({0})", "np.isnan({0})", "np.isfinite({0})", "({0} ** 2)",
    "({0} ** 0.5)", "({0} * {0})", "math.trunc({0})", "np.int16({0})",
    "np.uint16({0})", "math.atan({0})", "np.square({0})", "np.rint({0})",
)
SCALAR_2 = (
    "min({0}, {1})", "max({0}, {1})", "({0} and {1})", "({0} or {1})",
    "math.atan2({0}, {1})", "math.hypot({0}, {1})", "np.minimum({0}, {1})",
    "np.maximum({0}, {1})", "divmod({0}, {1})[0]", "divmod({0}, {1})[1]",
    "math.copysign({0}, {1})", "np.fmod({0}, {1})", "np.hypot({0}, {1})",
    "np.arctan2({0}, {1})", "pow({0}, {1})", "math.fmod({0}, {1})",
    "np.power({0}, {1})", "np.floor_divide({0}, {1})", "np.add({0}, {1})",
    "np.remainder({0}, {1})", "np.less({0}, {1})",
)
SCALAR_3 = (
    "min({0}, {1}, {2})", "max({0}, {1}, {2})", "({0} if {1} else {2})",
    "({0} if {1} < {2} else {2})", "({0} < {1} <= {2})",
    "min(max({0}, {1}), {2})", "np.clip({0}, {1}, {2})",
    "({0} + {1} * {2})",
)

# Numbers of arrays.
REDUCE = (
    "{0}.sum()", "np.sum({0})", "{0}.mean()", "np.mean({0})", "{0}.min()",
    "{0}.max()", "np.max({0})", "np.min({0})", "{0}.any()", "np.all({0})",
    "np.prod({0})", "{0}.std()", "np.var({0})", "np.argmax({0})",
    "{0}.argmin()", "np.ptp({0})", "np.count_nonzero({0})", "len({0})",
    "{0}.size", "{0}.shape[0]", "{0}.ndim", "np.median({0})",
    "np.sum({0} > 1)", "np.sum({0} * {0})", "np.sum(np.abs({0}))",
    "np.mean({0} ** 2)", "{0}.sum(dtype=np.float64)", "sum({0}.shape)",
)

# Arrays of arrays.
ARRAY_1 = (
    "(-{0})", "np.abs({0})", "np.sqrt(np.abs({0}))", "np.exp(-np.abs({0}))",
    "np.sqrt({0})", "np.log({0})", "np.sin({0})", "np.floor({0})",
    "np.square({0})", "({0} ** 2)", "({0} ** 0.5)", "(~{0})", "{0}.copy()",
    "{0}.T", "{0}[::-1]", "{0}[1:]", "{0}[:-1]", "{0}[::2]", "{0}[..., 0]",
    "{0}[:, 0]", "{0}[0]", "{0}[-1]", "{0}[:, ::-1]", "{0}[1:-1]",
    "{0}[:, 1:-1]", "{0}[1:-1, 1:-1]", "{0}[:, None]", "{0}[None, :]",
    "{0}[::-2]", "{0}.reshape(-1)", "{0}.ravel()", "{0}.flatten()",
    "np.cumsum({0})", "np.diff({0})", "np.sort({0})", "np.argsort({0})",
    "np.flip({0})", "np.roll({0}, 1)", "np.isnan({0})", "np.isfinite({0})",
    "np.sign({0})", "np.rint({0})", "np.round({0}, 1)", "np.zeros_like({0})",
    "np.ones_like({0})", "np.nonzero({0})[0]", "np.flatnonzero({0})",
    "np.logical_not({0})", "np.zeros({0}.shape)",
    "(np.isnan(np.empty_like({0})) * 0)",
    "{0}.sum(axis=0)", "np.sum({0}, axis=1)", "{0}.mean(axis=0)",
    "{0}.max(axis=-1)", "np.min({0}, axis=0)", "{0}.any(axis=0)",
    "np.argmax({0}, axis=0)", "{0}.sum(axis=1, keepdims=True)",
    "np.std({0}, axis=0)", "np.cumsum({0}, axis=0)", "np.transpose({0})",
    "np.pad({0}, 1)",
    "np.pad({0}, 1, mode='edge')", "np.array({0})",
    "np.asarray({0})", "np.negative({0})", "np.reciprocal({0} + 1.0)",
    "{0}[{0} > 0]", "{0}[{0} != 0]", "np.unique({0})", "np.tanh({0})",
    "np.arctan({0})", "np.cbrt({0})", "np.log1p(np.abs({0}))", "{0}.round()",
)
DTYPES = ("np.float64", "np.float32", "np.int64", "np.int32", "np.uint8",
          "np.int16", "bool", "float", "int", "np.uint16", "np.int8",
          "np.uint32", "np.uint64")
ARRAY_2 = (
    "np.minimum({0}, {1})", "np.maximum({0}, {1})", "np.add({0}, {1})",
    "np.multiply({0}, {1})", "np.subtract({0}, {1})", "np.divide({0}, {1})",
    "np.hypot({0}, {1})", "np.arctan2({0}, {1})", "np.power({0}, {1})",
    "np.where({0} > {1}, {0}, {1})", "np.where({0} < 1, {0}, {1})",
    "np.logical_and({0}, {1})", "np.logical_or({0}, {1})",
    "(({0} > 0) & ({1} > 0))", "(({0} < 2) | ({1} >= 1))", "{0}[{1}]",
    "np.fmax({0}, {1})", "np.fmin({0}, {1})", "np.floor_divide({0}, {1})",
    "np.remainder({0}, {1})", "np.dot({0}, {1})", "({0} @ {1})",
    "np.outer({0}, {1})", "np.concatenate(({0}, {1}))", "{0}[{1} > 0]",
    "np.stack(({0}, {1}))", "np.full({0}.shape, {1})", "np.clip({0}, 0, {1})",
    "np.clip({0}, {1}, 100)", "np.copysign({0}, {1})", "np.fmod({0}, {1})",
)
FRESH = (
    "np.zeros({0})", "np.ones({0})", "np.full({0}, {1})",
    "np.zeros(({0}, {1}))", "np.ones(({0}, 2), dtype=np.float32)",
    "np.zeros(({0}, {1}), dtype=np.uint8)", "np.array([{0}, {1}])",
    "np.array([1.0, {0}, {1}])", "np.array([[{0}, 1], [{1}, 2]])",
    "np.eye({0})", "np.zeros({0}, dtype=np.int32)", "np.arange({0})",
    "np.array([{0}, {1}], dtype=np.float32)",
    "np.ones({0}, dtype=bool)",
)

# Lists and tuples.
LIST_0 = (
    "[]", "[{0}]", "[{0}, {1}]", "[{0}, {1}, {2}]", "([0] * {0})",
    "([0.0] * {0})", "list(range({0}))", "([{0}, {1}] * 2)",
    "[k for k in range({0})]", "[k * {1} for k in range({0})]",
    "[k for k in range({0}) if k % 2]", "[{1} for k in range({0})]",
    "[[k, {0}] for k in range(3)]", "[float(k) for k in range({0})]",
)
LIST_1 = (
    "{0}[1:]", "{0}[::-1]", "{0}[:2]", "{0}[:-1]", "{0}[::2]", "({0} + {0})",
    "({0} * 2)", "sorted({0})", "list({0})", "{0}.copy()",
    "[x * 2 for x in {0}]", "[x for x in {0} if x > 0]",
    "[abs(x) for x in {0}]", "[x + k for k, x in enumerate({0})]",
    "list(reversed({0}))", "sorted({0}, reverse=True)",
    "[x - y for x, y in zip({0}, {0}[1:])]",
)
OF_LIST = (
    "len({0})", "sum({0})", "min({0})", "max({0})", "{0}[0]", "{0}[-1]",
    "(1 in {0})", "(0 not in {0})", "any({0})", "all({0})", "{0}[len({0}) // 2]",
    "sum(x * x for x in {0})", "max(abs(x) for x in {0})", "(sum({0}) / len({0}))",
    "any(x > 2 for x in {0})", "sum([x for x in {0} if x > 0])",
)
TUPLE_0 = ("({0}, {1})", "({0},)", "({0}, {1}, {2})", "({0}, ({1}, {2}))",
           "divmod({0}, {1})")
OF_TUPLE = ("{0}[0]", "{0}[-1]", "len({0})", "sum({0})", "max({0})")

CONSTANTS = ("0", "1", "2", "3", "(-1)", "5", "7", "10", "100", "255", "0.5",
             "2.0", "1.0", "0.25", "(-1.5)", "3.0", "0.1", "1e-3", "True",
             "(-0.0)", "4", "6", "1000", "(-2)", "np.float32(0.5)")
RARE_CONSTANTS = ("1e300", "(2 ** 31)", "(2 ** 40)", "(-129)", "256", "65536",
                  "float('inf')", "float('nan')", "np.nan", "np.inf",
                  "math.pi", "(2 ** 62)", "np.uint8(200)", "np.int8(-128)",
                  "False", "1e-310", "np.int64(3)", "np.float64(2.5)")
