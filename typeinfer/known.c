/* Operators on known numbers, computed while types are inferred.
 *
 *     len(img.shape) == 2     True for a gray image: the other branch is
 *                             never typed
 *     2 * radius + 1          7 for a known radius: a size, so an array of
 *                             seven elements is kept in registers
 *
 * Only Python's numbers are folded: NumPy's may wrap or warn.  What raises, and
 * an int that leaves 64 bits, is not folded either, so that the check at run
 * time finds it and Python repeats the call.  Doubles are the compiler's own,
 * which are the program's: IEEE 754, rounded to nearest.  An int beyond 2**53
 * has no exact double, so it meets no float here.
 */
#include <math.h>

#include "typeinfer/rules.h"

/* Python's // and % of ints; the divisor isn't 0. */
static int64_t
floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/* a ** b for small counts; NULL on overflow. */
static const Type *
fold_power(Arena *arena, int64_t a, int64_t b)
{
    int64_t r = 1;
    if (b < 0 || b > 64) {
        return NULL;
    }
    for (; b > 0; b--) {
        if (__builtin_mul_overflow(r, a, &r)) {
            return NULL;
        }
    }
    return type_known_int(arena, r);
}

/* Ints within 64 bits; what raises or overflows isn't folded, so that the
 * check at run time says so. */
static const Type *
fold_ints(Arena *arena, AOp op, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool bad_division = b == 0 || (a == INT64_MIN && b == -1);
    switch ((int)op) {
    case AO_ADD:
        return __builtin_add_overflow(a, b, &r) ? NULL
                                                : type_known_int(arena, r);
    case AO_SUB:
        return __builtin_sub_overflow(a, b, &r) ? NULL
                                                : type_known_int(arena, r);
    case AO_MUL:
        return __builtin_mul_overflow(a, b, &r) ? NULL
                                                : type_known_int(arena, r);
    case AO_FLOORDIV:
        return bad_division ? NULL : type_known_int(arena, floor_div(a, b));
    case AO_MOD:
        return bad_division ? NULL
                            : type_known_int(arena, a - b * floor_div(a, b));
    case AO_POW:
        return fold_power(arena, a, b);
    case AO_LSHIFT:
        return b < 0 || b > 62 || a < 0 || a > (INT64_MAX >> b)
                   ? NULL
                   : type_known_int(arena, a << b);
    case AO_RSHIFT:
        return b < 0 || b > 63 ? NULL : type_known_int(arena, a >> b);
    case AO_BITAND:
        return type_known_int(arena, a & b);
    case AO_BITOR:
        return type_known_int(arena, a | b);
    case AO_BITXOR:
        return type_known_int(arena, a ^ b);
    default:
        return NULL;
    }
}

/* Does the relation hold between numbers of which it is known how they
 * compare? nan is none of the three. */
static bool
compare_holds(AOp op, bool less, bool equal, bool greater)
{
    switch ((int)op) {
    case AO_EQ:
        return equal;
    case AO_NE:
        return !equal;
    case AO_LT:
        return less;
    case AO_LE:
        return less || equal;
    case AO_GT:
        return greater;
    default:
        return greater || equal;
    }
}

/* Is a double exactly the number? */
static bool
is_exact(const Type *num)
{
    int64_t limit = INT64_C(1) << 53;
    return dtype_is_float(num->dtype) ||
           (num->ival <= limit && num->ival >= -limit);
}

/* A known number as a double. */
static double
as_double(const Type *num)
{
    return dtype_is_float(num->dtype) ? num->fval : (double)num->ival;
}

/* The compiler's doubles are the program's. */
static const Type *
fold_floats(Arena *arena, AOp op, double a, double b)
{
    switch ((int)op) {
    case AO_ADD:
        return type_known_float(arena, a + b);
    case AO_SUB:
        return type_known_float(arena, a - b);
    case AO_MUL:
        return type_known_float(arena, a * b);
    case AO_DIV:
        return b == 0 ? NULL : type_known_float(arena, a / b);
    default:
        return NULL;
    }
}

/* Only Python's numbers: NumPy's may wrap or warn. */
static bool
is_foldable(const Type *type)
{
    return type->kind == TY_NUM && type->weak && type->known &&
           type->alt == ALT_NEVER;
}

/* Also comparisons: `len(img.shape) == 2` is known here. */
const Type *
fold_binop(Arena *arena, AOp op, const Type *lhs, const Type *rhs)
{
    if (!is_foldable(lhs) || !is_foldable(rhs)) {
        return NULL;
    }
    bool floats = dtype_is_float(lhs->dtype) || dtype_is_float(rhs->dtype);
    if (op_is_compare(op) && !floats) {
        bool holds = compare_holds(
            op,
            lhs->ival<rhs->ival, lhs->ival == rhs->ival, lhs->ival> rhs->ival);
        return type_known_bool(arena, holds);
    }
    bool bools = lhs->dtype == DT_BOOL && rhs->dtype == DT_BOOL;
    if (!floats && op != AO_DIV) {
        return bools ? NULL : fold_ints(arena, op, lhs->ival, rhs->ival);
    }
    if (!is_exact(lhs) || !is_exact(rhs)) {
        return NULL;
    }
    double a = as_double(lhs);
    double b = as_double(rhs);
    if (op_is_compare(op)) {
        return type_known_bool(arena, compare_holds(op, a<b, a == b, a> b));
    }
    return fold_floats(arena, op, a, b);
}

/* -a +a ~a of known Python numbers. */
const Type *
fold_unary(Arena *arena, AOp op, const Type *arg)
{
    if (!is_foldable(arg)) {
        return NULL;
    }
    if (dtype_is_float(arg->dtype)) {
        return op == AO_INVERT
                   ? NULL
                   : type_known_float(arena,
                                      op == AO_NEG ? -arg->fval : arg->fval);
    }
    if (op == AO_NEG && arg->ival == INT64_MIN) {
        return NULL;
    }
    int64_t value = op == AO_NEG   ? -arg->ival
                    : op == AO_POS ? arg->ival
                                   : ~arg->ival;
    return type_known_int(arena, value);
}

/* For an operation with a NumPy scalar, which raises OverflowError (ints) or
 * warns (floats) where the number does not fit. */
bool
weak_fits(const Type *from, DType to)
{
    if (from->dtype == DT_BOOL || to == DT_F64) {
        return true;
    }
    if (!from->known) {
        return from->dtype == DT_I64 && to == DT_I64;
    }
    if (dtype_is_float(from->dtype)) {
        return to == DT_F32 &&
               (!isfinite(from->fval) || isfinite((float)from->fval));
    }
    if (to == DT_F32 || to == DT_BOOL) {
        return true;
    }
    return from->ival >= dtype_min(to) &&
           (from->ival < 0 || (uint64_t)from->ival <= dtype_max(to));
}
