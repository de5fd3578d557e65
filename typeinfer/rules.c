/* Operators on numbers and small arrays: Python's rules for weak operands,
 * NumPy 2's (NEP 50) as soon as one is strong.
 *
 *     int + float             float                both weak
 *     float32 scalar * 2.5    float32 scalar       the weak one gives way
 *     uint8 scalar / 2        float64 scalar       true division of integers
 *     int64 & uint64 scalars  float64              no common integer
 *
 * A maybe-type is tried in all combinations.  The combination of the main parts
 * decides; another one is harmless if the result has the same type and is
 * computed in the same dtype, or if it is the same number as a weak int or
 * float, which the result's own flag then says.  All others must not occur:
 * lower speculates on that with a check.
 *
 *     (float64 or int) + 1.5     int + float is a float, not float64's scalar:
 *                                the result is float64 or float, flagged by the
 *                                operand's flag
 *     (uint8 or int) + uint8     int + uint8 is uint8 as well: harmless
 *     (uint8 or int) << 1        an int is not cut off at 8 bits: refused
 *
 * The tables behind this were taken from NumPy 2 and CPython 3.11 by trying all
 * pairs of types; tests/test_infer.py tries them again.  The oddities worth
 * knowing: a Python int that does not fit the NumPy scalar raises; comparisons
 * with it don't, they are exact; the power of integers wraps without a warning;
 * int8 / int8 is float64.
 */
#include "typeinfer/rules.h"

/* == != < <= > >= */
bool
op_is_compare(AOp op)
{
    return op >= AO_EQ && op <= AO_GE;
}

/* The operator as it is written. */
const char *
op_text(AOp op)
{
    static const char *const words[] = {
        "+",  "-", "*",  "/", "//", "%",  "**",     "@",   "<<",     ">>",
        "|",  "^", "&",  "-", "+",  "~",  "not",    "and", "or",     "==",
        "!=", "<", "<=", ">", ">=", "is", "is not", "in",  "not in",
    };
    return words[op];
}

/* --- plain operands ------------------------------------------------------- */

/* Python's own order: bool, int, float. */
static DType
weak_common(DType lhs, DType rhs)
{
    return lhs > rhs ? lhs : rhs; /* bool < int64 < float64 */
}

/* NEP 50: a Python number takes the type of the NumPy scalar, unless its kind
 * is higher: then the default type of its kind. */
static DType
strong_with_weak(DType strong, DType weak)
{
    if (weak == DT_BOOL) {
        return strong;
    }
    if (weak == DT_I64) {
        return strong == DT_BOOL ? DT_I64 : strong;
    }
    if (weak == DT_C128) {
        return strong == DT_F32 || strong == DT_C64 ? DT_C64 : DT_C128;
    }
    return dtype_is_float(strong) || dtype_is_complex(strong) ? strong
                                                              : DT_F64;
}

/* The type in which two numbers meet: two of Python's by its order, two of
 * NumPy's by promotion, else NumPy's unless the kind of Python's is higher. */
Plain
plain_common(Plain lhs, Plain rhs)
{
    if (lhs.weak && rhs.weak) {
        return (Plain){weak_common(lhs.dtype, rhs.dtype), true};
    }
    if (lhs.weak) {
        return (Plain){strong_with_weak(rhs.dtype, lhs.dtype), false};
    }
    if (rhs.weak) {
        return (Plain){strong_with_weak(lhs.dtype, rhs.dtype), false};
    }
    return (Plain){dtype_promote(lhs.dtype, rhs.dtype), false};
}

/* One combination of plain operands. */
typedef struct PlainRule {
    Plain type;
    DType compute;
    bool mixed;
} PlainRule;

/* uint64 and a signed type have no common integer, so a comparison needs care
 * for the sign. */
static bool
is_mixed(Plain lhs, Plain rhs)
{
    return (lhs.dtype == DT_U64 && dtype_is_signed(rhs.dtype)) ||
           (rhs.dtype == DT_U64 && dtype_is_signed(lhs.dtype));
}

/* NumPy compares integers of any two types exactly, Python numbers too. The
 * dtype is one that holds both values, or the comparison is mixed. */
static bool
compare_rule(Plain lhs, Plain rhs, PlainRule *out)
{
    Plain common = plain_common(lhs, rhs);
    out->type = (Plain){DT_BOOL, common.weak};
    bool floats = dtype_is_float(lhs.dtype) || dtype_is_float(rhs.dtype);
    if (!floats && is_mixed(lhs, rhs)) {
        out->compute = DT_U64;
        out->mixed = true;
    } else if (floats || (!lhs.weak && !rhs.weak)) {
        out->compute = common.dtype;
    } else {
        bool unsigned64 = lhs.dtype == DT_U64 || rhs.dtype == DT_U64;
        bool bools = lhs.dtype == DT_BOOL && rhs.dtype == DT_BOOL;
        out->compute = unsigned64 ? DT_U64 : bools ? DT_BOOL : DT_I64;
    }
    return true;
}

/* True division of integers is done in float64. */
static bool
divide_rule(Plain common, PlainRule *out)
{
    DType dt = dtype_is_float(common.dtype) ? common.dtype : DT_F64;
    out->type = (Plain){dt, common.weak};
    out->compute = dt;
    return true;
}

/* + - * // %: True + True is 2, but for NumPy's bools + is `or` and * is
 * `and`; what else there is of them is left to Python. */
static bool
arith_rule(AOp op, Plain common, PlainRule *out)
{
    if (common.weak && common.dtype == DT_BOOL) {
        common.dtype = DT_I64;
    }
    out->type = common;
    out->compute = common.dtype;
    return common.dtype != DT_BOOL || op == AO_ADD || op == AO_MUL;
}

/* & | ^ << >> of integers and bools; shifts of NumPy's bools give int8 and are
 * left out. */
static bool
bits_rule(AOp op, Plain common, PlainRule *out)
{
    bool shift = op == AO_LSHIFT || op == AO_RSHIFT;
    if (shift && common.weak && common.dtype == DT_BOOL) {
        common.dtype = DT_I64;
    }
    out->type = common;
    out->compute = common.dtype;
    return !dtype_is_float(common.dtype) && !(shift && common.dtype == DT_BOOL);
}

/* NumPy's scalars call libm's pow only if the result has the type of one of
 * them; else it is that of arrays, whose bits are not known. */
static bool
power_rule(Plain lhs, Plain rhs, Plain common, PlainRule *out)
{
    if (common.weak && common.dtype == DT_BOOL) {
        common.dtype = DT_I64;
    }
    out->type = common;
    out->compute = common.dtype;
    bool of_operand = (!lhs.weak && lhs.dtype == common.dtype) ||
                      (!rhs.weak && rhs.dtype == common.dtype);
    bool plain = common.weak || of_operand || !dtype_is_float(common.dtype);
    return plain && common.dtype != DT_BOOL;
}

/* + - * / and comparisons of complex numbers; Python's have no order. */
static bool
complex_rule(AOp op, Plain common, PlainRule *out)
{
    bool equal = op_is_compare(op) &&
                 (!common.weak || op == AO_EQ || op == AO_NE);
    out->type = equal ? (Plain){DT_BOOL, common.weak} : common;
    out->compute = common.dtype;
    if (op == AO_MUL && !common.weak && !numpy_mul_known(common.dtype)) {
        return false;
    }
    return equal || op == AO_ADD || op == AO_SUB || op == AO_MUL ||
           op == AO_DIV;
}

/* The type and the dtype of computation for plain operands; false: TypeError
 * or not translated. */
static bool
plain_rule(AOp op, Plain lhs, Plain rhs, PlainRule *out)
{
    Plain common = plain_common(lhs, rhs);
    *out = (PlainRule){.mixed = false};
    if (dtype_is_complex(common.dtype)) {
        return complex_rule(op, common, out);
    }
    switch ((int)op) {
    case AO_ADD:
    case AO_SUB:
    case AO_MUL:
    case AO_FLOORDIV:
    case AO_MOD:
        return arith_rule(op, common, out);
    case AO_DIV:
        return divide_rule(common, out);
    case AO_POW:
        return power_rule(lhs, rhs, common, out);
    case AO_LSHIFT:
    case AO_RSHIFT:
    case AO_BITAND:
    case AO_BITOR:
    case AO_BITXOR:
        return bits_rule(op, common, out);
    default:
        return op_is_compare(op) && compare_rule(lhs, rhs, out);
    }
}

/* --- maybe-types ---------------------------------------------------------- */

/* The same kind of number? */
static bool
same_plain(Plain lhs, Plain rhs)
{
    return lhs.dtype == rhs.dtype && lhs.weak == rhs.weak;
}

/* A NumPy integer that may be an int: every operator but powers gives the same
 * as long as nothing overflows. */
static bool
is_flaggable_int(AOp op, const PlainRule *base, const PlainRule *other)
{
    return op != AO_POW && other->type.dtype == DT_I64 && !base->type.weak &&
           dtype_is_int(base->compute);
}

/* Is 'other' the number 'base' seen as another Python number, so that the
 * result's flag can tell?  The value is computed as 'base' computes it; lower
 * checks that this makes no difference. */
static bool
is_flaggable(AOp op, const PlainRule *base, const PlainRule *other)
{
    if (op_is_compare(op)) {
        return other->type.weak && !base->type.weak && !base->mixed &&
               !other->mixed;
    }
    if (!other->type.weak || !dtype_is_float(base->compute)) {
        return other->type.weak && is_flaggable_int(op, base, other);
    }
    bool divides = op == AO_FLOORDIV || op == AO_MOD;
    bool same_number = op == AO_ADD || op == AO_SUB || op == AO_MUL ||
                       (divides && base->type.weak);
    bool is_int = other->type.dtype == DT_I64;
    bool is_float = other->type.dtype == DT_F64 && !base->type.weak;
    return (same_number && (is_int || is_float)) || (op == AO_DIV && is_float);
}

/* The alternative that a weak kind of number is. */
static Alt
alt_for(Plain weak)
{
    return weak.dtype == DT_BOOL  ? ALT_BOOL
           : weak.dtype == DT_I64 ? ALT_INT
                                  : ALT_FLOAT;
}

/* Operators whose result is decided by type and dtype alone. Those that can
 * fail do so differently for NumPy's numbers. */
static bool
is_uniform(AOp op, const PlainRule *base, const PlainRule *other)
{
    bool divides = op == AO_FLOORDIV || op == AO_MOD;
    bool weak = base->type.weak && other->type.weak;
    bool errors_differ = (divides && !weak) || op == AO_POW ||
                         op == AO_LSHIFT || op == AO_RSHIFT;
    return same_plain(base->type, other->type) &&
           base->compute == other->compute && !base->mixed && !other->mixed &&
           !errors_differ;
}

/* A float32 that is as good as the float64: 0.1, which may be a float64 or
 * Python's, less a float32.  Where float32 or a Python float may come out, it
 * is float64 or a Python float. */
static bool
is_met(AOp op, const PlainRule *base, const PlainRule *other)
{
    return !op_is_compare(op) && !base->type.weak && !other->type.weak &&
           base->type.dtype == DT_F64 && other->type.dtype == DT_F32;
}

/* Marks combination 'combo' as harmless, flagged or refused.  The value of an
 * alternative is kept exactly, so comparing does not ask which it is. */
static void
place_combo(AOp op, int combo, const PlainRule *base, const PlainRule *other,
            Alt *alt, BinRule *out)
{
    bool exact = base->compute == DT_F64 ||
                 (dtype_is_int(base->compute) && !base->mixed);
    bool compare_int = op_is_compare(op) &&
                       same_plain(base->type, other->type) && exact;
    if (is_uniform(op, base, other) || compare_int) {
        return;
    }
    Alt as = alt_for(other->type);
    if (is_flaggable(op, base, other) && (*alt == ALT_NEVER || *alt == as)) {
        *alt = as;
        out->flagged |= 1u << combo;
        bool apart = op_is_compare(op) && base->compute != other->compute;
        out->apart |= (unsigned)(apart && base->compute == DT_F32) << combo;
    } else {
        out->refused |= 1u << combo;
    }
}

/* The operands' parts by combination: bit 0 of 'combo' takes the left one's
 * alternative, bit 1 the right one's. */
static bool
pick_combo(const Type *lhs, const Type *rhs, int combo, Plain *a, Plain *b)
{
    *a = type_plain(lhs);
    *b = type_plain(rhs);
    return (!(combo & COMBO_LHS) || type_plain_alt(lhs, a)) &&
           (!(combo & COMBO_RHS) || type_plain_alt(rhs, b));
}

/* A weak int to a weak int power: an int, a float or, as the sign of the
 * exponent is not known, a float that may be an int. */
static const Type *
int_power_type(Arena *arena, const Type *rhs)
{
    int64_t exponent;
    if (!type_is_known_int(rhs, &exponent)) {
        return rhs->dtype == DT_BOOL || rhs->origin == ORIGIN_COUNT
                   ? type_int(arena)
                   : type_with_alt(arena, type_float(arena), ALT_INT);
    }
    return exponent >= 0 ? type_int(arena) : type_float(arena);
}

/* `max(v, 0) ** 30`: NumPy's power of a float, or Python's of an int, which is
 * an int for a constant exponent.  Lower tests that it is 0, 1 or -1. */
static bool
is_int_power(AOp op, const PlainRule *base, Plain lhs, const Type *rhs)
{
    int64_t exponent;
    return op == AO_POW && !base->type.weak &&
           dtype_is_float(base->type.dtype) && lhs.weak &&
           lhs.dtype == DT_I64 && rhs->weak &&
           type_is_known_int(rhs, &exponent) && exponent > 0;
}

/* The main parts decide; the other combinations are placed after that. */
BinRule
rule_binop(Arena *arena, AOp op, const Type *lhs, const Type *rhs, bool meet)
{
    BinRule out = {.type = NULL};
    PlainRule base;
    Plain a;
    Plain b;
    pick_combo(lhs, rhs, COMBO_MAIN, &a, &b);
    if (!plain_rule(op, a, b, &base)) {
        return out;
    }
    Alt alt = ALT_NEVER;
    for (int combo = COMBO_LHS; combo <= COMBO_BOTH; combo++) {
        PlainRule other;
        if (!pick_combo(lhs, rhs, combo, &a, &b)) {
            continue;
        }
        if (combo == COMBO_LHS && is_int_power(op, &base, a, rhs)) {
            alt = ALT_INT;
            out.flagged |= 1u << combo;
        } else if (!plain_rule(op, a, b, &other)) {
            out.refused |= 1u << combo;
        } else if (!meet || !is_met(op, &base, &other)) {
            place_combo(op, combo, &base, &other, &alt, &out);
        }
    }
    out.compute = base.compute;
    out.mixed = base.mixed;
    if (meet && alt == ALT_FLOAT && base.type.dtype == DT_F32) {
        base.type.dtype = base.compute = out.compute = DT_F64;
    }
    out.type = type_num(arena, base.type.dtype, base.type.weak);
    if (op == AO_POW && base.type.weak && base.compute == DT_I64) {
        out.type = int_power_type(arena, rhs);
        out.compute = out.type->dtype;
    }
    if (alt != ALT_NEVER) {
        out.type = type_with_alt(arena, out.type, alt);
    }
    return out;
}

/* Powers of integers up to this are chains of products. */
enum { MAX_POWER = 64 };

/* --- arrays --------------------------------------------------------- */

/* An array counts as strong, as a NumPy scalar does. */
static Plain
element_plain(const Type *type)
{
    return (Plain){type->dtype, type->kind != TY_ARRAY && type->weak};
}

/* NumPy squares arrays by multiplication, takes roots by sqrt and divides for
 * a power of -1; integers are multiplied and wrap.  Other powers are loops
 * whose bits are not known. */
static bool
power_is_known(const Type *lhs, const Type *rhs)
{
    if (rhs->kind != TY_NUM || !rhs->weak || !rhs->known ||
        lhs->dtype == DT_BOOL) {
        return false;
    }
    bool pair = dtype_is_complex(lhs->dtype);
    if (rhs->dtype == DT_I64 && !dtype_is_float(lhs->dtype) && !pair) {
        return rhs->ival >= 0 && rhs->ival <= MAX_POWER;
    }
    double e = rhs->dtype == DT_I64 ? (double)rhs->ival : rhs->fval;
    bool number = rhs->dtype == DT_I64 || rhs->dtype == DT_F64;
    if (pair) { /* others are 1, roots and reciprocals */
        return number && e != 0.0 && e != 0.5 && e != -1.0 &&
               (e == 2.0 || e == 1.0 || pairs_power_known(lhs->dtype));
    }
    return number && (e == 2.0 || e == 0.5 || e == -1.0 || e == 1.0);
}

/* Integers to a power that only the run knows: products that wrap, if it is not
 * negative. */
static bool
power_of_ints(const Type *lhs, const Type *rhs)
{
    bool number = rhs->kind == TY_NUM && rhs->alt == ALT_NEVER &&
                  dtype_is_int(rhs->dtype) && !rhs->known;
    Plain common = plain_common(element_plain(lhs), element_plain(rhs));
    return number && lhs->kind == TY_ARRAY && dtype_is_int(lhs->dtype) &&
           dtype_is_int(common.dtype);
}

/* Integer division of arrays warns where a divisor is zero: only a constant
 * is surely none. */
static bool
division_is_known(DType compute, const Type *rhs)
{
    return dtype_is_float(compute) ||
           (rhs->kind == TY_NUM && rhs->known && rhs->ival > 0);
}

/* Operators whose element-wise loop is known to the bit and can't warn in a
 * way that the FPU does not show. */
static bool
vector_op_is_known(AOp op, DType compute, const Type *lhs, const Type *rhs)
{
    switch ((int)op) {
    case AO_POW:
        return power_is_known(lhs, rhs);
    case AO_FLOORDIV:
    case AO_MOD:
        return division_is_known(compute, rhs);
    case AO_LSHIFT:
    case AO_RSHIFT:
        return rhs->kind == TY_NUM && rhs->known && rhs->ival >= 0 &&
               rhs->ival < 8 * dtype_size(compute);
    default:
        return true;
    }
}

/* Element by element, a number with every element. Of powers only those that
 * need no loop of NumPy's. */
BinRule
rule_array(Arena *arena, AOp op, const Type *lhs, const Type *rhs)
{
    BinRule out = {.type = NULL};
    PlainRule rule;
    if (op == AO_POW) {
        Plain common = plain_common(element_plain(lhs), element_plain(rhs));
        rule = (PlainRule){.type = common, .compute = common.dtype};
    }
    if (op == AO_POW ? !power_is_known(lhs, rhs) && !power_of_ints(lhs, rhs)
                     : !plain_rule(op, element_plain(lhs), element_plain(rhs),
                                   &rule)) {
        return out;
    }
    out.compute = rule.compute;
    out.mixed = rule.mixed;
    out.type = type_num(arena, rule.type.dtype, false);
    return out;
}

/* Can the operator be done on lanes?  'fits': NumPy would broadcast a size of
 * 1, which memory does. */
BinRule
rule_vector(Arena *arena, AOp op, const Type *lhs, const Type *rhs)
{
    int lanes = type_lanes(lhs) ? type_lanes(lhs) : type_lanes(rhs);
    bool fits = lhs->kind == TY_NUM   ? type_lanes(rhs) > 0
                : rhs->kind == TY_NUM ? type_lanes(lhs) > 0
                                      : type_lanes(lhs) == type_lanes(rhs);
    BinRule out = rule_array(arena, op, lhs, rhs);
    if (out.type == NULL || lanes == 0 || !fits || out.mixed ||
        dtype_is_complex(out.compute) ||
        !vector_op_is_known(op, out.compute, lhs, rhs)) {
        return (BinRule){.type = NULL};
    }
    out.type = type_vector(arena, out.type->dtype, lanes);
    return out;
}

/* NumPy's kinds in the order of its 'same_kind' casts. */
static int
kind_rank(DType dt)
{
    return dt == DT_BOOL          ? 0
           : dtype_is_complex(dt) ? 4
           : dtype_is_float(dt)   ? 3
           : dtype_is_signed(dt)  ? 2
                                  : 1;
}

/* An in-place operator casts within a kind and upwards: float64 into float32,
 * int64 into int8, never float into int. */
bool
rule_same_kind(DType from, DType to)
{
    return kind_rank(from) <= kind_rank(to);
}

/* --- one operand ---------------------------------------------------------- */

/* -True is -1; NumPy's bools have only ~. */
static bool
plain_unary(AOp op, Plain arg, Plain *out)
{
    bool is_bool = arg.dtype == DT_BOOL;
    *out = arg;
    if (arg.weak && is_bool) {
        out->dtype = DT_I64;
    }
    if (op == AO_INVERT) {
        return !dtype_is_float(arg.dtype) && !dtype_is_complex(arg.dtype);
    }
    return arg.weak || !is_bool;
}

/* A float64 that may be an int or a float stays one: only the flag differs; so
 * does an integer, but ~5 is no uint8.  Other maybe-types must be what they
 * mainly are. */
const Type *
rule_unary(Arena *arena, AOp op, const Type *arg, bool *only_main)
{
    Plain out;
    *only_main = false;
    if (!plain_unary(op, element_plain(arg), &out)) {
        return NULL;
    }
    const Type *type = type_num(arena, out.dtype, out.weak);
    if (arg->kind == TY_ARRAY) {
        return type;
    }
    bool keeps = arg->alt == ALT_FLOAT || arg->alt == ALT_INT;
    bool is_int = dtype_is_int(arg->dtype) && arg->alt == ALT_INT &&
                  (op != AO_INVERT || dtype_is_signed(arg->dtype));
    if ((keeps && arg->dtype == DT_F64) || is_int) {
        return type_with_alt(arena, type, arg->alt);
    }
    *only_main = arg->alt != ALT_NEVER;
    return type;
}
