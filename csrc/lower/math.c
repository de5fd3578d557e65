/* Library functions on numbers.
 *
 * math.* follows CPython: the argument becomes a float, and a result that is
 * not finite although the argument is raises (ValueError, OverflowError), so a
 * check stands after the call; where the domain is simple, before it.
 *
 *     math.sqrt(x)   check not x < 0; sqrt(x)        nan passes, as in CPython
 *     math.exp(x)    let r = exp(x); check finite(r) or x is not finite
 *
 * int(x), float(x) and np.uint8(x) convert: Python's int() of a float cuts off
 * towards zero and raises for nan and infinities; NumPy's scalars cast as C
 * does, with a warning, and raise only for Python ints that do not fit.
 *
 * min and max are the builtins: they return one of their arguments, type and
 * all, and compare as Python compares, which is not what np.minimum does with
 * nan.
 */
#include "csrc/lower/state.h"

Expr *
is_nan(Lower *L, Expr *e)
{
    return call_fn(L, FN_ISNAN, DT_BOOL, e, NULL);
}

/* x is inf or -inf */
static Expr *
is_inf(Lower *L, Expr *e)
{
    return call_fn(L, FN_ISINF, DT_BOOL, e, NULL);
}

/* x is neither inf nor nan */
static Expr *
is_finite(Lower *L, Expr *e)
{
    return call_fn(L, FN_FINITE, DT_BOOL, e, NULL);
}

/* float(x): correctly rounded from any integer, as C's cast. */
static Expr *
float_arg(Lower *L, const AExpr *e, Loc loc)
{
    Value v = some(L, lower_expr(L, e), loc);
    return cast_to(L, DT_F64, v.expr);
}

/* --- math ----------------------------------------------------------------- */

/* The condition on the argument for which the function is defined and its
 * result needs no test; NULL: the result must be tested; "true" constants are
 * dropped by emit_check. */
static Expr *
domain_of(Lower *L, BuiltinId id, Expr *x)
{
    Expr *zero = ir_float(L->arena, DT_F64, 0.0);
    Expr *one = ir_float(L->arena, DT_F64, 1.0);
    switch ((int)id) {
    case BUILTIN_MATH_SQRT:
        return not_(L, op2(L, E_LT, x, zero));
    case BUILTIN_MATH_LOG:
    case BUILTIN_MATH_LOG2:
    case BUILTIN_MATH_LOG10:
        return not_(L, op2(L, E_LE, x, zero));
    case BUILTIN_MATH_SIN:
    case BUILTIN_MATH_COS:
    case BUILTIN_MATH_TAN:
        return not_(L, is_inf(L, x));
    case BUILTIN_MATH_ASIN:
    case BUILTIN_MATH_ACOS:
        return not_(L, op2(L, E_LT, one, op1(L, E_ABS, x)));
    case BUILTIN_MATH_ATAN:
    case BUILTIN_MATH_TANH:
    case BUILTIN_MATH_ASINH:
    case BUILTIN_MATH_CBRT:
    case BUILTIN_MATH_ERF:
    case BUILTIN_MATH_ERFC:
        return ir_bool(L->arena, true);
    default:
        return NULL;
    }
}

/* A function of one float. Without a domain of its own it is judged by its
 * result, as CPython judges it: nan from a number is a domain error, infinity
 * from a finite number an overflow. "odd": the argument explains the result. */
static Expr *
math_one(Lower *L, BuiltinId id, Expr *x, Loc loc)
{
    x = reuse(L, x, loc);
    Fn fn = (Fn)builtin_row(id)->fn;
    Expr *domain = domain_of(L, id, x);
    if (domain != NULL) {
        emit_check(L, domain, X_VALUE, loc);
        return call_fn(L, fn, DT_F64, x, NULL);
    }
    Expr *r = reuse(L, call_fn(L, fn, DT_F64, x, NULL), loc);
    Expr *odd = both(L, is_inf(L, x), not_(L, is_nan(L, r)));
    odd = either(L, is_nan(L, x), odd);
    emit_check(L, either(L, is_finite(L, r), odd), X_VALUE, loc);
    return r;
}

/* atan2 and copysign are defined everywhere; fmod and pow are judged by their
 * result. */
static Expr *
math_two(Lower *L, BuiltinId id, Expr *x, Expr *y, Loc loc)
{
    x = reuse(L, x, loc);
    y = reuse(L, y, loc);
    Fn fn = (Fn)builtin_row(id)->fn;
    Expr *r = call_fn(L, fn, DT_F64, x, y);
    if (id == BUILTIN_MATH_ATAN2 || id == BUILTIN_MATH_COPYSIGN) {
        return r;
    }
    r = reuse(L, r, loc);
    Expr *ok;
    if (id == BUILTIN_MATH_FMOD) {
        ok = either(L, not_(L, is_nan(L, r)),
                    either(L, is_nan(L, x), is_nan(L, y)));
    } else {
        ok = either(L, is_finite(L, r),
                    not_(L, both(L, is_finite(L, x), is_finite(L, y))));
    }
    emit_check(L, ok, X_VALUE, loc);
    return r;
}

/* Arguments are converted with float(); degrees and radians multiply by the
 * constant that CPython multiplies by. */
Value
lower_math(Lower *L, const AExpr *e, BuiltinId id)
{
    if (id == BUILTIN_MATH_LOG && e->items.at[1] != NULL) {
        return lower_log_base(L, e);
    }
    Expr *x = float_arg(L, e->items.at[0], e->loc);
    if (builtin_row(id)->kind == BK_TEST) {
        Fn fn = (Fn)builtin_row(id)->fn;
        return num_value(e->type, call_fn(L, fn, DT_BOOL, x, NULL));
    }
    Expr *r;
    double pi = 3.14159265358979323846;
    switch ((int)id) {
    case BUILTIN_MATH_FABS:
        r = op1(L, E_ABS, x);
        break;
    case BUILTIN_MATH_DEGREES:
        r = op2(L, E_MUL, x, ir_float(L->arena, DT_F64, 180.0 / pi));
        break;
    case BUILTIN_MATH_RADIANS:
        r = op2(L, E_MUL, x, ir_float(L->arena, DT_F64, pi / 180.0));
        break;
    default:
        if (ir_fn_arity((Fn)builtin_row(id)->fn) == 2) {
            x = reuse(L, x, e->loc);
            Expr *y = float_arg(L, e->items.at[1], e->loc);
            r = math_two(L, id, x, y, e->loc);
        } else {
            r = math_one(L, id, x, e->loc);
        }
        break;
    }
    return num_value(e->type, r);
}

/* math.floor, round, ...: an int. A float beyond the int64s would be a big int:
 * Python makes it.  round(x) is half to even, in the default mode of the FPU.
 */
Value
lower_round(Lower *L, const AExpr *e, BuiltinId id)
{
    Value v = some(L, lower_expr(L, e->items.at[0]), e->loc);
    bool by_float = id != BUILTIN_ROUND && !v.type->weak; /* no __floor__ */
    if (!dtype_is_float(v.expr->dtype) &&
        !(by_float && v.expr->dtype == DT_I64)) {
        return num_value(e->type, cast_to(L, DT_I64, v.expr));
    }
    Expr *x = reuse(L, cast_to(L, DT_F64, v.expr), e->loc);
    emit_check(L, float_in_range(L, x, DT_I64), X_OVERFLOW, e->loc);
    Fn fn = id == BUILTIN_ROUND ? FN_RINT : (Fn)builtin_row(id)->fn;
    Expr *whole = call_fn(L, fn, DT_F64, x, NULL);
    return num_value(e->type, cast_to(L, DT_I64, whole));
}

/* --- conversions ---------------------------------------------------------- */

/* int(x): of NumPy's numbers too. A uint64 or a float may be out of range. */
static Expr *
to_int(Lower *L, Value v, Loc loc)
{
    Expr *e = v.expr;
    if (e->dtype == DT_BOOL) {
        return cast_to(L, DT_I64, e);
    }
    e = reuse(L, e, loc);
    check_range_of(L, e, e->dtype, DT_I64, NULL, loc);
    return cast_to(L, DT_I64, e);
}

/* np.uint8(x): Python's numbers must fit, those of NumPy are cast. */
static Expr *
to_strong(Lower *L, Value v, DType dtype, Loc loc)
{
    if (v.flag != NULL && !dtype_is_float(dtype)) {
        bool same = v.type->dtype == dtype && v.type->alt == ALT_INT;
        emit_check(L, same ? NULL : not_(L, v.flag), X_SPECULATE, loc);
    }
    if (!v.type->weak) {
        return cast_with_warnings(L, dtype, v.expr, loc);
    }
    if (dtype_is_float(dtype)) {
        return operand_as(L, v, dtype, loc);
    }
    Expr *e = reuse(L, v.expr, loc);
    if (e->dtype != DT_BOOL) {
        check_range_of(L, e, e->dtype, dtype, NULL, loc);
    }
    return cast_to(L, dtype, e);
}

/* int(x), float(x), bool(x), np.float32(x) ... */
Value
lower_convert(Lower *L, const AExpr *e)
{
    const Type *to = e->lhs->type;
    if (e->type->kind == TY_ARRAY) {
        const AExpr *from = e->items.at[0];
        return e->type == from->type ? lower_expr(L, from) : lower_copy(L, e);
    }
    Value v = lower_expr(L, e->items.at[0]);
    if (v.type->kind == TY_STR) {
        return value_of_type(L, e->type);
    }
    if (to->dtype == DT_BOOL && to->weak) {
        return num_value(e->type, truth_of(L, v, e->loc));
    }
    v = some(L, v, e->loc);
    if (to->dtype == DT_BOOL) {
        return num_value(e->type, cast_to(L, DT_BOOL, v.expr));
    }
    if (!to->weak) {
        return num_value(e->type, to_strong(L, v, to->dtype, e->loc));
    }
    Expr *r =
        to->dtype == DT_F64 ? cast_to(L, DT_F64, v.expr) : to_int(L, v, e->loc);
    return num_value(e->type, r);
}

/* --- min, max ------------------------------------------------------------- */

/* The better of two candidates for min or max. The later one wins only if it
 * is strictly better, as in CPython, which also decides about nan and about
 * 0.0 against -0.0. */
static Value
better(Lower *L, Value best, Value item, bool min, const Type *type, Loc loc)
{
    bool ints = best.type->dtype == item.type->dtype &&
                best.type->weak == item.type->weak &&
                dtype_is_int(item.type->dtype) && !best.flag && !item.flag;
    if (ints) {
        return num_value(type_forget(L->arena, best.type),
                         op2(L, min ? E_MIN : E_MAX, best.expr, item.expr));
    }
    best = hold_value(L, best, loc);
    best.expr = reuse(L, best.expr, loc);
    item.expr = reuse(L, item.expr, loc);
    Value beats = num_binop(L, min ? AO_LT : AO_GT, item, best, loc);
    Expr *cond = reuse(L, beats.expr, loc);
    Value a = convert(L, item, type, loc);
    Value b = convert(L, best, type, loc);
    Value out = num_value(type, ir_select(L->arena, cond, a.expr, b.expr));
    if (a.flag != NULL || b.flag != NULL) {
        out.flag = ir_select(L->arena, cond, flag_or_false(L, a.flag),
                             flag_or_false(L, b.flag));
        out.flag = reuse(L, out.flag, loc);
    }
    return out;
}

/* Candidates from left to right. All are kept in the type that holds any of
 * them; a flag says whether it is the alternative: max(0, a[i]) is a float64
 * scalar or the int 0. */
Value
lower_minmax(Lower *L, const AExpr *e, BuiltinId id)
{
    int n = e->items.n;
    Value *items = ARENA_ARRAY(L->arena, Value, n + 1);
    lower_items(L, &e->items, items);
    if (e->type->known) {
        return value_of_type(L, e->type);
    }
    if (n == 1) {
        n = items[0].type->rank;
        items = items[0].items;
    }
    const Type *type = type_with_alt(
        L->arena, type_forget(L->arena, e->type), e->type->alt);
    Value best = some(L, items[0], e->loc);
    for (int i = 1; i < n; i++) {
        Value item = some(L, items[i], e->loc);
        best = better(L, best, item, id == BUILTIN_MIN, type, e->loc);
    }
    return convert(L, best, type, e->loc);
}
