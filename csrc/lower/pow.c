/* Powers.
 *
 * Python and NumPy's scalars call libm's pow; squares are FN_SQUARE and roots
 * FN_ROOT, which give the same bits.  Integers multiply.  Where Python raises
 * or leaves the reals, a check stands before:
 *
 *     0.0 ** -1        ZeroDivisionError
 *     (-8.0) ** 0.5    complex
 *     1e200 ** 2.0     OverflowError
 *
 * An int to the power of an int whose sign is not known is the one operator
 * whose type depends on a value.  If the exponent is an argument, inference has
 * pinned it.  Otherwise the power is taken to be an int, or, where the exponent
 * is written with a minus, a float that a flag may declare an int.
 */
#include "csrc/lower/state.h"

/* Is the operand known to be 'value'? Then a cheaper form may do. */
static bool
is_value(const Value *v, double value)
{
    const Type *type = v->type;
    if (!type->known || !type->weak) {
        return false;
    }
    return dtype_is_float(type->dtype) ? type->fval == value
                                       : (double)type->ival == value;
}

/* Neither infinite nor nan. */
static Expr *
is_finite(Lower *L, Expr *e)
{
    return call_fn(L, FN_FINITE, DT_BOOL, e, NULL);
}

/* pow(x, y) of doubles; 'rhs' is where y comes from. */
static Expr *
float64_power(Lower *L, Value rhs, Expr *x, Expr *y)
{
    if (is_value(&rhs, 2.0) || is_value(&rhs, 0.5)) {
        Fn fn = is_value(&rhs, 2.0) ? FN_SQUARE : FN_ROOT;
        return call_fn(L, fn, DT_F64, x, NULL);
    }
    return call_fn(L, FN_POW, DT_F64, x, y);
}

/* --- weak floats ---------------------------------------------------------- */

/* The cases in which float_pow does not return libm's answer: a negative power
 * of zero, and a broken power of a negative number, which is complex. */
static void
check_float_power(Lower *L, Expr *x, Expr *y, Loc loc)
{
    bool const_y = y->op == E_CONST;
    Expr *zero = ir_float(L->arena, DT_F64, 0.0);
    if (!const_y || y->fval < 0) {
        Expr *ok = either(L, op2(L, E_NE, x, zero), op2(L, E_LE, zero, y));
        emit_check(L, ok, X_ZERO_DIVISION, loc);
    }
    bool whole = const_y && y->fval == (double)(int64_t)y->fval;
    if (!whole) {
        Expr *floor = call_fn(L, FN_FLOOR, DT_F64, y, NULL);
        Expr *real =
            either(L, not_(L, op2(L, E_LT, x, zero)), op2(L, E_EQ, floor, y));
        emit_check(L, real, X_VALUE, loc);
    }
}

/* Python's float ** float. A result that is not finite although both operands
 * are is an overflow; a base or exponent that is not finite gives what C
 * gives. */
static Expr *
float_power(Lower *L, Value rhs, Expr *x, Expr *y, Loc loc)
{
    x = reuse(L, x, loc);
    y = reuse(L, y, loc);
    bool square = is_value(&rhs, 2.0);
    if (!square) {
        check_float_power(L, x, y, loc);
    }
    Expr *r = float64_power(L, rhs, x, y);
    r = reuse(L, r, loc);
    Expr *odd = not_(L, is_finite(L, x));
    if (!square && y->op != E_CONST) {
        odd = either(L, odd, not_(L, is_finite(L, y)));
    }
    emit_check(L, either(L, is_finite(L, r), odd), X_OVERFLOW, loc);
    return r;
}

/* --- integers ------------------------------------------------------------- */

/* Python's int ** int for exponents that are not negative; the exponent was
 * assumed to be so where it isn't known. IPOWO tells whether the product leaves
 * 64 bits. */
static Expr *
int_power(Lower *L, Value rhs, Expr *x, Expr *y, Loc loc)
{
    x = reuse(L, x, loc);
    if (is_value(&rhs, 2.0)) {
        emit_check(L, not_(L, op2(L, E_MULO, x, x)), X_OVERFLOW, loc);
        Expr *square = op2(L, E_MUL, x, x);
        map_set(&L->nonnegative, square, square);
        return square;
    }
    if (is_value(&rhs, 1.0)) {
        return x;
    }
    y = reuse(L, y, loc);
    if (!is_nonnegative(L, y)) {
        emit_check(L, op2(L, E_LE, int_const(L, 0), y), X_SPECULATE, loc);
    }
    Expr *over = call_fn(L, FN_IPOWO, DT_BOOL, x, y);
    emit_check(L, not_(L, over), X_OVERFLOW, loc);
    Expr *r = call_fn(L, FN_IPOW, DT_I64, x, y);
    if (is_nonnegative(L, x)) {
        map_set(&L->nonnegative, r, r);
    }
    return r;
}

/* The sign of the exponent decides between int and float: both are computed as
 * a float, and the flag says which it is. The int must be exact as a float, so
 * it is below 2**53, and is computed by IPOW, since pow need not be exact. */
static Value
maybe_int_power(Lower *L, Value lhs, Value rhs, const Type *type, Loc loc)
{
    Expr *x = reuse(L, cast_to(L, DT_I64, lhs.expr), loc);
    Expr *y = reuse(L, cast_to(L, DT_I64, rhs.expr), loc);
    Expr *zero = int_const(L, 0);
    Expr *is_int = reuse(L, op2(L, E_LE, zero, y), loc);
    Expr *fx = reuse(L, cast_to(L, DT_F64, x), loc);
    Expr *fy = cast_to(L, DT_F64, y);
    emit_check(L, exact_int(L, x, DT_F64), X_SPECULATE, loc);
    emit_check(L, either(L, op2(L, E_NE, x, zero), is_int), X_ZERO_DIVISION,
               loc);
    Expr *r = reuse(L, call_fn(L, FN_POW, DT_F64, fx, fy), loc);
    Expr *limit = ir_float(L->arena, DT_F64, 9007199254740992.0);
    Expr *small = op2(L, E_LE, op1(L, E_ABS, r), limit);
    emit_check(L, small, X_SPECULATE, loc);
    Expr *count = ir_select(L->arena, is_int, y, zero);
    Expr *exact = cast_to(L, DT_F64, call_fn(L, FN_IPOW, DT_I64, x, count));
    Value out = num_value(type, ir_select(L->arena, is_int, exact, r));
    out.flag = is_int;
    return out;
}

/* --- NumPy's scalars ------------------------------------------------------ */

/* Wraps without a warning; a negative exponent raises ValueError. The power
 * modulo 2**64 is cast to the dtype, which is the power modulo its bits. */
static Expr *
strong_int_power(Lower *L, Value lhs, Value rhs, DType dt, Loc loc)
{
    Expr *x = reuse(L, operand_as(L, lhs, dt, loc), loc);
    if (is_value(&rhs, 2.0)) {
        return op2(L, E_MUL, x, x);
    }
    Expr *y = reuse(L, operand_as(L, rhs, dt, loc), loc);
    Expr *count = reuse(L, cast_to(L, DT_I64, y), loc);
    if (!is_nonnegative(L, count)) {
        emit_check(L, op2(L, E_LE, int_const(L, 0), count), X_VALUE, loc);
    }
    Expr *wide = call_fn(L, FN_IPOW, DT_I64, cast_to(L, DT_I64, x), count);
    return cast_to(L, dt, wide);
}

/* NumPy's scalars: float32 has its own powf. */
static Expr *
strong_float_power(Lower *L, Value lhs, Value rhs, DType dt, Loc loc)
{
    Sym what = warn_name(L, AO_POW, lhs.type, rhs.type);
    Expr *x = operand_as(L, lhs, dt, loc);
    Expr *y = operand_as(L, rhs, dt, loc);
    Expr *r = dt == DT_F32 ? call_fn(L, FN_POWF, dt, x, y)
                           : float64_power(L, rhs, x, y);
    return with_warnings(L, r, what, NULL, loc);
}

/* One of the four kinds by the result's type: NumPy's with a flag, NumPy's,
 * Python's of unknown kind, Python's. */
Value
num_power(Lower *L, Value lhs, Value rhs, const BinRule *rule, Loc loc)
{
    const Type *type = rule->type;
    DType dt = rule->compute;
    if (!type->weak && type->alt == ALT_INT) {
        lhs.expr = reuse(L, lhs.expr, loc);
        Expr *one = num_const(L, lhs.expr->dtype, 1);
        Expr *small = op2(L, E_LE, op1(L, E_ABS, lhs.expr), one);
        Value base = lhs;
        base.flag = NULL;
        Value out =
            num_value(type, strong_float_power(L, base, rhs, dt, loc));
        out.flag = flag_or_false(L, lhs.flag);
        emit_check(L, either(L, not_(L, out.flag), small), X_SPECULATE, loc);
        return out;
    }
    if (!type->weak) {
        Expr *r = dtype_is_float(dt) ? strong_float_power(L, lhs, rhs, dt, loc)
                                     : strong_int_power(L, lhs, rhs, dt, loc);
        return num_value(type, r);
    }
    if (type->alt == ALT_INT) {
        return maybe_int_power(L, lhs, rhs, type, loc);
    }
    Expr *x = operand_as(L, lhs, dt, loc);
    Expr *y = operand_as(L, rhs, dt, loc);
    Expr *r = dt == DT_I64 ? int_power(L, rhs, x, y, loc)
                           : float_power(L, rhs, x, y, loc);
    return num_value(type, r);
}
