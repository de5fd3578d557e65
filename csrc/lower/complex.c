/* Complex numbers as pairs of floats, by CPython's own formulas.
 *
 *     (a + bi)(c + di) = (ac - bd) + (ad + bc)i
 *
 * Quotients follow R. L. Smith (Algorithm 116, CACM 5, 1962), as CPython's do:
 * the larger part of the divisor divides the smaller one, so that nothing
 * overflows on the way.  For |c| >= |d|, with r = d / c and s = c + d r,
 *
 *     (a + bi) / (c + di)  =  (a + b r) / s  +  ((b - a r) / s) i
 *
 * which is the schoolbook formula with numerator and denominator divided by c.
 * The other case has the roles of the parts exchanged.
 *
 * Powers multiply in CPython's order, from the lowest bit of the exponent,
 * beginning with a product by 1; another order gives other bits.
 *
 * A product is not simplified for a factor that is real: CPython converts it to
 * (a, 0) first, and the terms with 0 matter for infinities, NaNs and the sign
 * of zero: complex(inf, 0) * 2 has a NaN.
 */
#include <string.h>

#include "csrc/lower/state.h"

static Expr *
zero(Lower *L)
{
    return ir_float(L->arena, DT_F64, 0.0);
}

/* Named, since every formula uses them more than once.  Python's numbers must
 * fit NumPy's float32. */
static Parts
parts_of(Lower *L, Value v, DType part, Loc loc)
{
    if (v.type->kind == TY_COMPLEX) {
        return (Parts){
            reuse(L, operand_as(L, v.items[0], part, loc), loc),
            reuse(L, operand_as(L, v.items[1], part, loc), loc)};
    }
    return (Parts){reuse(L, operand_as(L, v, part, loc), loc),
                   num_const(L, part, 0)};
}

/* The value of a complex type with these parts. */
static Value
value_of(Lower *L, const Type *type, Parts z)
{
    Value v = value_of_type(L, type);
    v.items[0].expr = z.re;
    v.items[1].expr = z.im;
    return v;
}

/* What may be a Python number must be complex. */
static void
need_complex(Lower *L, Value v, Loc loc)
{
    if (v.type->kind == TY_COMPLEX && v.flag != NULL) {
        emit_check(L, not_(L, v.flag), X_SPECULATE, loc);
    }
}

/* Neither part is the larger one if one is a NaN: then so is the result. */
static Parts
quotient(Lower *L, Parts x, Parts y, Loc loc)
{
    Ratio r = ratio_of(L, y, loc);
    Expr *null = both(L, r.by_re, op2(L, E_EQ, r.re, zero(L)));
    emit_check(L, not_(L, null), X_ZERO_DIVISION, loc);
    Parts z = ratio_times(L, x, &r, loc);
    Expr *nan = ir_float(L->arena, DT_F64, __builtin_nan(""));
    Expr *ordered = either(L, r.by_re, op2(L, E_LE, r.re, r.im));
    ordered = reuse(L, ordered, loc);
    return (Parts){
        ir_select(L->arena, ordered, op2(L, E_DIV, z.re, r.denom), nan),
        ir_select(L->arena, ordered, op2(L, E_DIV, z.im, r.denom), nan)};
}

/* 'result' times x to the power of 'n', from the lowest bit on. */
static Parts
power_from(Lower *L, Parts result, Parts x, int64_t n, Loc loc)
{
    Parts square = x;
    for (int64_t mask = 1; mask <= n; mask <<= 1) {
        if (n & mask) {
            result = plain_product(L, result, square);
            result.re = reuse(L, result.re, loc);
            result.im = reuse(L, result.im, loc);
        }
        if (mask << 1 <= n) {
            square = plain_product(L, square, square);
            square.re = reuse(L, square.re, loc);
            square.im = reuse(L, square.im, loc);
        }
    }
    return result;
}

/* An infinite result raises OverflowError. */
static Parts
power(Lower *L, Parts x, int64_t n, Loc loc)
{
    Parts result = {ir_float(L->arena, DT_F64, 1.0), zero(L)};
    result = power_from(L, result, x, n, loc);
    Expr *finite = both(L, call_fn(L, FN_FINITE, DT_BOOL, result.re, NULL),
                        call_fn(L, FN_FINITE, DT_BOOL, result.im, NULL));
    emit_check(L, finite, X_OVERFLOW, loc);
    return result;
}

/* NumPy's: the first powers are products, others chains as Python's; 0 has
 * none but 0. */
static Parts
numpy_power(Lower *L, Parts x, int64_t n, Loc loc)
{
    DType dt = x.re->dtype;
    Parts one = {num_const(L, dt, 1), num_const(L, dt, 0)};
    Parts z = x;
    if (n == 2 || n == 3) {
        z = plain_product(L, x, x);
        z = (Parts){reuse(L, z.re, loc), reuse(L, z.im, loc)};
        z = n == 3 ? plain_product(L, x, z) : z;
    } else if (n > 3) {
        z = power_from(L, one, x, n, loc);
    }
    Expr *null = both(L, op2(L, E_EQ, x.re, one.im),
                      op2(L, E_EQ, x.im, one.im));
    null = reuse(L, null, loc);
    return (Parts){ir_select(L->arena, null, one.im, z.re),
                   ir_select(L->arena, null, one.im, z.im)};
}

/* Is the operand of the kind that is the alternative of the result? */
static Expr *
side_flag(Lower *L, Value v, const Type *type)
{
    bool pythons = type->alt == ALT_COMPLEX && v.type->weak;
    return pythons ? ir_bool(L->arena, true) : flag_or_false(L, v.flag);
}

/* Two maybe-numbers make a maybe-number: as floats they are exact while they
 * are small, below 2**53, where the sum of two ints is the sum of the floats.
 * Else both must be what they mainly are: complex. */
static Expr *
common_flag(Lower *L, Value lhs, Value rhs, const Type *type, Parts z, Loc loc)
{
    if (type->alt == ALT_NEVER) {
        need_complex(L, lhs, loc);
        need_complex(L, rhs, loc);
        return NULL;
    }
    Expr *left = side_flag(L, lhs, type);
    Expr *right = side_flag(L, rhs, type);
    Expr *flag = reuse(L, both(L, left, right), loc);
    if (type->alt != ALT_COMPLEX) {
        Expr *limit = num_const(L, z.re->dtype, 0x1p24);
        if (z.re->dtype == DT_F64) {
            limit = ir_float(L->arena, DT_F64, 0x1p53);
        }
        Expr *small = op2(L, E_LT, op1(L, E_ABS, z.re), limit);
        emit_check(L, either(L, not_(L, flag), small), X_SPECULATE, loc);
    }
    return flag;
}

/* Is the other operand a NumPy scalar, or surely complex? */
static bool
decides(const Type *result, Value other)
{
    return other.flag == NULL &&
           (!other.type->weak ||
            (result->weak && other.type->kind == TY_COMPLEX));
}

/* Does it make no difference whether this operand is complex or a number? */
static bool
is_settled(Value v, Value other, const Type *result)
{
    return v.type->kind != TY_COMPLEX || v.flag == NULL ||
           decides(result, other);
}

/* The parts of the result, as Python or NumPy computes it. */
static Parts
binop_parts(Lower *L, AOp op, Parts x, Parts y, bool weak, int64_t power_of,
            Loc loc)
{
    switch ((int)op) {
    case AO_ADD:
        return (Parts){op2(L, E_ADD, x.re, y.re), op2(L, E_ADD, x.im, y.im)};
    case AO_SUB:
        return (Parts){op2(L, E_SUB, x.re, y.re), op2(L, E_SUB, x.im, y.im)};
    case AO_MUL:
        return plain_product(L, x, y);
    case AO_DIV:
        return weak ? quotient(L, x, y, loc) : numpy_quotient(L, x, y, loc);
    default:
        return weak ? power(L, x, power_of, loc)
                    : numpy_power(L, x, power_of, loc);
    }
}

/* The parts are computed as if both operands were complex, which for the ones
 * that may be plain numbers is right only where that makes no difference;
 * common_flag checks it. */
Value
complex_binop_of(Lower *L, AOp op, Value lhs, Value rhs, const Type *type,
                 Loc loc)
{
    DType part = dtype_part(type->dtype);
    Parts x = parts_of(L, lhs, part, loc);
    Parts y = parts_of(L, rhs, part, loc);
    bool chain = op == AO_POW;
    Parts z = binop_parts(L, op, x, y, type->weak,
                          chain ? rhs.type->ival : 0, loc);
    z.re = reuse(L, z.re, loc);
    z.im = reuse(L, z.im, loc);
    bool differs = op == AO_DIV || chain;
    Value out = value_of(L, type, z);
    if (type->alt != ALT_NEVER || differs || !is_settled(lhs, rhs, type) ||
        !is_settled(rhs, lhs, type)) {
        out.flag = common_flag(L, lhs, rhs, type, z, loc);
    }
    if (!type->weak) {
        finite_or_python(L, pair_make(L, z), loc);
    }
    return out;
}

/* z == w, whatever kind of number each is; z < w with NumPy's scalars, of whose
 * parts none may be a nan. */
Expr *
complex_compare(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    const Type *type = complex_common(L->arena, lhs.type, rhs.type);
    DType part = dtype_part(type->dtype);
    Parts x = parts_of(L, lhs, part, loc);
    Parts y = parts_of(L, rhs, part, loc);
    Value sides[] = {lhs, rhs};
    for (int i = 0; i < 2; i++) { /* an int beyond 2**53 compares exactly */
        Expr *e = sides[i].expr;
        if (type->weak && sides[i].type->kind == TY_NUM &&
            e->dtype == DT_I64) {
            emit_check(L, exact_int(L, e, DT_F64), X_SPECULATE, loc);
        }
    }
    Expr *parts[] = {x.re, x.im, y.re, y.im};
    for (int i = 0; op != AO_EQ && op != AO_NE && i < 4; i++) {
        Expr *nan = call_fn(L, FN_ISNAN, DT_BOOL, parts[i], NULL);
        emit_check(L, not_(L, nan), X_SPECULATE, loc);
    }
    return pair_compare(L, op, x, y, loc);
}

/* -z negates both parts, zeros and NaNs too; +z is z. */
Value
complex_unary_of(Lower *L, AOp op, Value arg, const Type *type, Loc loc)
{
    need_complex(L, arg, loc);
    Parts x = parts_of(L, arg, dtype_part(type->dtype), loc);
    Parts z = x;
    if (op == AO_NEG) {
        z = (Parts){op1(L, E_NEG, x.re), op1(L, E_NEG, x.im)};
    }
    return value_of(L, type, z);
}

/* Libm's hypot; infinite parts give inf, and if the absolute value of a finite
 * number is infinite Python's raises OverflowError. */
Expr *
complex_length(Lower *L, Expr *re, Expr *im, Loc loc)
{
    Expr *length = reuse(L, call_fn(L, FN_HYPOT, DT_F64, re, im), loc);
    Expr *finite = both(L, call_fn(L, FN_FINITE, DT_BOOL, re, NULL),
                        call_fn(L, FN_FINITE, DT_BOOL, im, NULL));
    Expr *fits = call_fn(L, FN_FINITE, DT_BOOL, length, NULL);
    emit_check(L, either(L, not_(L, finite), fits), X_OVERFLOW, loc);
    return length;
}

/* abs(z) */
Value
complex_abs(Lower *L, Value arg, const Type *type, Loc loc)
{
    if (arg.type->alt != ALT_COMPLEX) {
        need_complex(L, arg, loc);
    }
    Parts x = parts_of(L, arg, DT_F64, loc);
    Value out = num_value(type, complex_length(L, x.re, x.im, loc));
    out.flag = arg.type->alt == ALT_COMPLEX ? arg.flag : NULL;
    return out;
}

void
complex_parts(Lower *L, Value v, Expr **re, Expr **im, Loc loc)
{
    if (v.type->alt != ALT_COMPLEX) {
        need_complex(L, v, loc);
    }
    Parts z = parts_of(L, v, DT_F64, loc);
    *re = z.re;
    *im = z.im;
}

Value
complex_part(Lower *L, Value base, const AExpr *e)
{
    bool real = strcmp(e->name, "real") == 0;
    Value v = num_value(e->type, base.items[real ? 0 : 1].expr);
    if (base.type->alt == ALT_COMPLEX) {
        v.flag = base.flag;
    } else {
        need_complex(L, base, e->loc);
    }
    return v;
}

/* z is true unless it is 0; -0.0 is 0, a NaN is true. */
Expr *
complex_truth(Lower *L, Value v)
{
    Expr *null = num_const(L, v.items[0].expr->dtype, 0);
    return either(L, op2(L, E_NE, v.items[0].expr, null),
                  op2(L, E_NE, v.items[1].expr, null));
}

/* complex(x, y) */
Value
lower_complex(Lower *L, const AExpr *e)
{
    Parts z = {zero(L), zero(L)};
    for (int i = 0; i < e->items.n && i < 2; i++) {
        if (e->items.at[i] == NULL) {
            continue;
        }
        Value v = lower_expr(L, e->items.at[i]);
        if (v.type->kind == TY_COMPLEX) {
            need_complex(L, v, e->loc);
            return value_of(L, e->type, parts_of(L, v, DT_F64, e->loc));
        }
        v = some(L, v, e->loc);
        Expr *part = cast_to(L, DT_F64, hold(L, v.expr, e->loc));
        *(i == 0 ? &z.re : &z.im) = part;
    }
    return value_of(L, e->type, z);
}

/* The number must be exact. */
static Expr *
kept(Lower *L, Expr *e, DType part, Loc loc)
{
    e = reuse(L, e, loc);
    if (e->dtype == DT_I64) {
        emit_check(L, exact_int(L, e, part), X_SPECULATE, loc);
    }
    Expr *r = reuse(L, cast_to(L, part, e), loc);
    if (e->dtype == DT_F64 && part == DT_F32) {
        Expr *same = op2(L, E_EQ, cast_to(L, DT_F64, r), e);
        emit_check(L, either(L, same, call_fn(L, FN_ISNAN, DT_BOOL, e, NULL)),
                   X_SPECULATE, loc);
    }
    return r;
}

/* 'v' in the type that joins it with others: Python's numbers are the
 * alternative. */
Value
complex_convert(Lower *L, Value v, const Type *to, Loc loc)
{
    DType part = dtype_part(to->dtype);
    bool number = v.type->kind == TY_NUM;
    bool own = !number && v.type->weak == to->weak;
    Value out = v;
    out.type = to;
    if (own) {
        out.flag = to->alt != ALT_NEVER ? flag_or_false(L, v.flag) : NULL;
        return out;
    }
    Parts z = {kept(L, number ? v.expr : v.items[0].expr, part, loc),
               num_const(L, part, 0)};
    if (!number) {
        z.im = kept(L, v.items[1].expr, part, loc);
    }
    out = value_of(L, to, z);
    out.flag = ir_bool(L->arena, true);
    return out;
}
