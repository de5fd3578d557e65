/* Operations on constants.
 *
 * Integers wrap to their dtype.  Floats are computed in their own dtype, in
 * round to nearest, as the kernel computes them.  Only finite results of
 * finite operands are folded: all others may raise a flag that the run time
 * looks at.
 *
 * Not folded: division by zero, shifts out of range, casts out of range,
 * anything of libm.
 */
#include <math.h>

#include "transforms/simplify.h"

/* Of integers of one dtype. u64 constants are kept by their bits. */
static bool
is_less(const Expr *lhs, const Expr *rhs)
{
    return lhs->dtype == DT_U64 ? (uint64_t)lhs->ival < (uint64_t)rhs->ival
                                : lhs->ival < rhs->ival;
}

/* The comparison 'e' of two constants; false: not decided. Comparisons of nans
 * raise a flag and are left alone. */
static bool
compare_consts(const Expr *e, bool *out)
{
    const Expr *lhs = e->args[0];
    const Expr *rhs = e->args[1];
    bool floats = dtype_is_float(lhs->dtype);
    bool less = floats ? lhs->fval < rhs->fval : is_less(lhs, rhs);
    bool equal = floats ? !(lhs->fval < rhs->fval || lhs->fval > rhs->fval)
                        : lhs->ival == rhs->ival;
    if (floats && (isnan(lhs->fval) || isnan(rhs->fval))) {
        return false;
    }
    switch (e->op) {
    case E_EQ:
        *out = equal;
        return true;
    case E_NE:
        *out = !equal;
        return true;
    case E_LT:
        *out = less;
        return true;
    case E_LE:
        *out = less || equal;
        return true;
    default:
        return false;
    }
}

/* Floor division and remainder of signed values: C truncates, so the quotient
 * is one less where the signs differ and something is left. False for what has
 * no value in i64. */
static bool
divide(Op op, int64_t lhs, int64_t rhs, int64_t *out)
{
    if (rhs == 0 || (rhs == -1 && lhs == INT64_MIN)) {
        return false;
    }
    int64_t quotient = lhs / rhs;
    int64_t rest = lhs % rhs;
    if (rest != 0 && (rest < 0) != (rhs < 0)) {
        quotient--;
        rest += rhs;
    }
    *out = op == E_IDIV ? quotient : rest;
    return true;
}

/* Of u64 by bits; other unsigned values fit a signed division. */
static bool
divide_unsigned(Op op, uint64_t lhs, uint64_t rhs, int64_t *out)
{
    if (rhs == 0) {
        return false;
    }
    *out = (int64_t)(op == E_IDIV ? lhs / rhs : lhs % rhs);
    return true;
}

/* Shifting right keeps the sign of signed dtypes; narrow unsigned values
 * are kept as positive numbers. */
static bool
shift(const Expr *e, int64_t lhs, int64_t count, int64_t *out)
{
    if (count < 0 || count >= 8 * dtype_size(e->dtype)) {
        return false;
    }
    if (e->op == E_SHL) {
        *out = (int64_t)((uint64_t)lhs << count);
    } else {
        *out = e->dtype == DT_U64 ? (int64_t)((uint64_t)lhs >> count)
                                  : lhs >> count;
    }
    return true;
}

/* The value of an integer operation of two operands, before it is wrapped to
 * its dtype. Sums and products are computed modulo 2^64, which any narrower
 * wrapping agrees with. */
static bool
int_binary(const Expr *e, int64_t *out)
{
    const Expr *left = e->args[0];
    const Expr *right = e->args[1];
    uint64_t lhs = (uint64_t)left->ival;
    uint64_t rhs = (uint64_t)right->ival;
    switch (e->op) {
    case E_ADD:
        *out = (int64_t)(lhs + rhs);
        return true;
    case E_SUB:
        *out = (int64_t)(lhs - rhs);
        return true;
    case E_MUL:
        *out = (int64_t)(lhs * rhs);
        return true;
    case E_IDIV:
    case E_MOD:
        return e->dtype == DT_U64
            ? divide_unsigned(e->op, lhs, rhs, out)
            : divide(e->op, left->ival, right->ival, out);
    case E_MIN:
        *out = is_less(left, right) ? left->ival : right->ival;
        return true;
    case E_MAX:
        *out = is_less(left, right) ? right->ival : left->ival;
        return true;
    case E_AND:
        *out = (int64_t)(lhs & rhs);
        return true;
    case E_OR:
        *out = (int64_t)(lhs | rhs);
        return true;
    case E_XOR:
        *out = (int64_t)(lhs ^ rhs);
        return true;
    case E_SHL:
    case E_SHR:
        return shift(e, left->ival, right->ival, out);
    default:
        return false;
    }
}

/* The value before it is wrapped: -(-128) of an i8 is 128, wrapped to -128. */
static bool
int_unary(const Expr *e, int64_t *out)
{
    uint64_t arg = (uint64_t)e->args[0]->ival;
    switch (e->op) {
    case E_NEG:
        *out = (int64_t)(0 - arg);
        return true;
    case E_ABS:
        *out = dtype_is_signed(e->dtype) && (int64_t)arg < 0
            ? (int64_t)(0 - arg) : (int64_t)arg;
        return true;
    case E_INV:
        *out = (int64_t)~arg;
        return true;
    case E_NOT:
        *out = arg == 0;
        return true;
    default:
        return false;
    }
}

/* A float operation in its own dtype; false: not folded. Sums of f32 values in
 * f32 round once, as the kernel does. Signs are changed without rounding or
 * flags, so nans and infinities are fine there. */
static bool
float_operation(const Expr *e, double *out)
{
    double lhs = e->args[0]->fval;
    double rhs = e->nargs > 1 ? e->args[1]->fval : 0;
    bool narrow = e->dtype == DT_F32;
    switch (e->op) {
    case E_ADD:
        *out = narrow ? (double)((float)lhs + (float)rhs) : lhs + rhs;
        break;
    case E_SUB:
        *out = narrow ? (double)((float)lhs - (float)rhs) : lhs - rhs;
        break;
    case E_MUL:
        *out = narrow ? (double)((float)lhs * (float)rhs) : lhs * rhs;
        break;
    case E_DIV:
        *out = narrow ? (double)((float)lhs / (float)rhs) : lhs / rhs;
        break;
    case E_NEG:
        *out = -lhs;
        return true;
    case E_ABS:
        *out = fabs(lhs);
        return true;
    default:
        return false;
    }
    return isfinite(lhs) && isfinite(rhs) && isfinite(*out);
}

/* --- casts --------------------------------------------------------------- */

/* Directly to f32: through double it would round twice. */
static Expr *
int_to_float(Arena *arena, DType dtype, const Expr *arg)
{
    double value = 0;
    if (dtype == DT_F32) {
        value = arg->dtype == DT_U64 ? (double)(float)(uint64_t)arg->ival
                                     : (double)(float)arg->ival;
    } else {
        value = arg->dtype == DT_U64 ? (double)(uint64_t)arg->ival
                                     : (double)arg->ival;
    }
    return ir_float(arena, dtype, value);
}

/* Towards zero, where the result fits into 53 bits and the dtype. */
static Expr *
float_to_int(Arena *arena, DType dtype, double value)
{
    double limit = 9007199254740992.0; /* 2^53 */
    double whole = trunc(value);
    if (!(whole > -limit && whole < limit)) {
        return NULL;
    }
    int64_t result = (int64_t)whole;
    if (dtype == DT_BOOL || ir_wrap(dtype, result) != result) {
        return NULL;
    }
    return ir_int(arena, dtype, result);
}

/* Overflow to infinity raises a flag and stays. */
static Expr *
float_to_float(Arena *arena, DType dtype, double value)
{
    double rounded = dtype == DT_F32 ? (double)(float)value : value;
    if (isnan(value) || (isfinite(value) && !isfinite(rounded))) {
        return NULL;
    }
    return ir_float(arena, dtype, value);
}

/* Between integers the bits are wrapped, as C does. */
static Expr *
fold_cast(Arena *arena, const Expr *e)
{
    const Expr *arg = e->args[0];
    if (dtype_is_float(arg->dtype)) {
        return dtype_is_float(e->dtype)
            ? float_to_float(arena, e->dtype, arg->fval)
            : float_to_int(arena, e->dtype, arg->fval);
    }
    if (dtype_is_float(e->dtype)) {
        return int_to_float(arena, e->dtype, arg);
    }
    return ir_int(arena, e->dtype, arg->ival);
}

/* Vector constants are SPLATs and are not folded. */
static bool
all_constant(const Expr *e)
{
    for (int i = 0; i < e->nargs; i++) {
        if (e->args[i]->op != E_CONST || e->args[i]->lanes != 0) {
            return false;
        }
    }
    return e->nargs > 0 && e->lanes == 0;
}

/* The constant that 'e' is; NULL: its operands are not all constant, or it is
 * one of those not folded. Exact or not at all. */
Expr *
fold_constants(Arena *arena, const Expr *e)
{
    bool truth = false;
    int64_t whole = 0;
    double real = 0;
    if (!all_constant(e)) {
        return NULL;
    }
    if (e->op == E_CAST) {
        return fold_cast(arena, e);
    }
    if (ir_op_kind(e->op) == 'C') {
        return compare_consts(e, &truth) ? ir_bool(arena, truth) : NULL;
    }
    if (dtype_is_float(e->dtype)) {
        return float_operation(e, &real) ? ir_float(arena, e->dtype, real)
                                         : NULL;
    }
    if (e->nargs == 2 && int_binary(e, &whole)) {
        return ir_int(arena, e->dtype, whole);
    }
    if (e->nargs == 1 && int_unary(e, &whole)) {
        return ir_int(arena, e->dtype, whole);
    }
    return NULL;
}
