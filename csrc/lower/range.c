/* Ranges: does a number fit the dtype of an operation?
 *
 *     uint8 scalar + 300      300 is no uint8: OverflowError, in Python
 *     float32 scalar * 1e300  would be inf, with a warning: left to Python
 *     1 < 2.5                 the int as a float, exact up to 2**53
 *     arr[i] = n              n must be in the range of the elements
 *
 * Each question is answered by a condition, which is NULL if it always holds;
 * constants and dtypes that include the other are answered here, and need no
 * code.  What is not so is a check, after which Python raises or warns.
 */
#include <math.h>

#include "csrc/lower/state.h"

/* 2**53: up to here every integer is a float64. */
static const int64_t exact_f64 = INT64_C(1) << 53;
static const int64_t exact_f32 = INT64_C(1) << 24;

/* The condition under which the integer is exactly a float of 'dtype'; NULL:
 * always.  Up to 2**53 (2**24 for float32) all are; beyond, some are, but the
 * programs that get there are rare, so the test is the simple one. */
Expr *
exact_int(Lower *L, Expr *e, DType dtype)
{
    int64_t limit = dtype == DT_F32 ? exact_f32 : exact_f64;
    if (dtype_is_float(e->dtype) || dtype_size(e->dtype) <= 2 ||
        (dtype_size(e->dtype) == 4 && dtype == DT_F64)) {
        return NULL;
    }
    if (e->op == E_CONST && e->dtype == DT_I64) {
        bool exact = e->ival <= limit && e->ival >= -limit;
        return exact ? NULL : ir_bool(L->arena, false);
    }
    Expr *high = op2(L, E_LE, e, ir_int(L->arena, e->dtype, limit));
    if (!dtype_is_signed(e->dtype)) {
        return high;
    }
    return both(L, op2(L, E_LE, ir_int(L->arena, e->dtype, -limit), e), high);
}

/* Is trunc('e') a value of the integer 'dtype'?  False for nan.  The bounds are
 * doubles themselves: for a signed dtype of n bits
 *
 *     -2**(n-1) - 1 < e < 2**(n-1)
 *
 * and for int64, where the left one is no double, -2**63 <= e. */
Expr *
float_in_range(Lower *L, Expr *e, DType dtype)
{
    e = cast_to(L, DT_F64, e);
    double top = ldexp(1.0, 8 * dtype_size(dtype) - dtype_is_signed(dtype));
    Expr *high = op2(L, E_LT, e, ir_float(L->arena, DT_F64, top));
    Expr *low;
    if (!dtype_is_signed(dtype)) {
        low = op2(L, E_LT, ir_float(L->arena, DT_F64, -1.0), e);
    } else if (dtype == DT_I64) {
        low = op2(L, E_LE, ir_float(L->arena, DT_F64, -top), e);
    } else {
        low = op2(L, E_LT, ir_float(L->arena, DT_F64, -top - 1.0), e);
    }
    return both(L, low, high);
}

/* Is every value of 'from' one of 'to'?  Integers and bool. A signed dtype
 * holds an unsigned one only if it is wider. */
static bool
is_subrange(DType from, DType to)
{
    if (from == DT_BOOL || from == to) {
        return true;
    }
    if (to == DT_BOOL) {
        return false;
    }
    bool sign = dtype_is_signed(from);
    if (sign && !dtype_is_signed(to)) {
        return false;
    }
    return sign == dtype_is_signed(to) ? dtype_size(from) <= dtype_size(to)
                                       : dtype_size(from) < dtype_size(to);
}

/* 'e' of an integer dtype lies in the range of the integer 'to'; NULL: always.
 * Only the ends that 'to' cuts off are tested. */
static Expr *
int_in_range(Lower *L, Expr *e, DType to)
{
    if (is_subrange(e->dtype, to)) {
        return NULL;
    }
    Expr *low = NULL;
    if (dtype_is_signed(e->dtype) && dtype_min(to) > dtype_min(e->dtype)) {
        low = op2(L, E_LE, ir_int(L->arena, e->dtype, dtype_min(to)), e);
    }
    Expr *high = NULL;
    if (dtype_max(to) < dtype_max(e->dtype)) {
        Expr *top = ir_int(L->arena, e->dtype, (int64_t)dtype_max(to));
        high = op2(L, E_LE, e, top);
    }
    return both(L, low, high);
}

/* A constant Python int that fits needs no check. */
static bool
const_in_range(const Expr *e, DType to)
{
    return e->op == E_CONST && e->dtype == DT_I64 && e->ival >= dtype_min(to) &&
           (e->ival < 0 || (uint64_t)e->ival <= dtype_max(to));
}

/* 'unless' holds: no check. A NumPy scalar raises OverflowError for a Python
 * int that it can't hold. */
void
check_range_of(Lower *L, Expr *e, DType from, DType dtype, Expr *unless,
               Loc loc)
{
    if (const_in_range(e, dtype)) {
        return;
    }
    Expr *inside = dtype_is_float(from) ? float_in_range(L, e, dtype)
                                        : int_in_range(L, e, dtype);
    if (inside != NULL) {
        emit_check(L, unless ? either(L, unless, inside) : inside, X_OVERFLOW,
                   loc);
    }
}

/* --- operands ------------------------------------------------------------- */

/* A Python int meets a NumPy float by way of double, which rounds twice for
 * float32, as NumPy does; it must fit a NumPy integer. A float that is too
 * large for float32 warns if it is a constant, else it is left to Python. */
Expr *
operand_as(Lower *L, Value v, DType dtype, Loc loc)
{
    Expr *e = v.expr;
    if (!v.type->weak || e->dtype == dtype || e->dtype == DT_BOOL) {
        return cast_to(L, dtype, e);
    }
    if (!dtype_is_float(e->dtype)) {
        if (dtype_is_float(dtype)) { /* as Python does: by way of double */
            return cast_to(L, dtype, cast_to(L, DT_F64, e));
        }
        e = reuse(L, e, loc);
        check_range_of(L, e, DT_I64, dtype, NULL, loc);
        return cast_to(L, dtype, e);
    }
    if (e->op == E_CONST) {
        return cast_with_warnings(L, dtype, e, loc);
    }
    if (dtype == DT_F32 && !weak_fits(v.type, dtype)) {
        e = reuse(L, e, loc);
        Expr *narrow = reuse(L, cast_to(L, DT_F32, e), loc);
        Expr *odd = not_(L, call_fn(L, FN_FINITE, DT_BOOL, e, NULL));
        Expr *fits = call_fn(L, FN_FINITE, DT_BOOL, narrow, NULL);
        emit_check(L, either(L, odd, fits), X_SPECULATE, loc);
        return narrow;
    }
    return cast_to(L, dtype, e);
}
