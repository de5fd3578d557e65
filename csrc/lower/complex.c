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

/* The parts of a complex number or of a number that stands for one. */
typedef struct Parts {
    Expr *re;
    Expr *im;
} Parts;

/* 0.0 as a constant. */
static Expr *
zero(Lower *L)
{
    return ir_float(L->arena, DT_F64, 0.0);
}

/* Named, since every formula uses them more than once. A number is its real
 * part; the imaginary one is 0.0, not -0.0. */
static Parts
parts_of(Lower *L, Value v, Loc loc)
{
    if (v.type->kind == TY_COMPLEX) {
        return (Parts){reuse(L, v.items[0].expr, loc),
                       reuse(L, v.items[1].expr, loc)};
    }
    return (Parts){reuse(L, cast_to(L, DT_F64, v.expr), loc), zero(L)};
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

/* As above; each term is rounded by itself, for the C compiler must not
 * contract products and sums into fused operations (-ffp-contract=off). */
static Parts
product(Lower *L, Parts x, Parts y)
{
    Parts z;
    z.re = op2(L, E_SUB, op2(L, E_MUL, x.re, y.re), op2(L, E_MUL, x.im, y.im));
    z.im = op2(L, E_ADD, op2(L, E_MUL, x.re, y.im), op2(L, E_MUL, x.im, y.re));
    return z;
}

/* The quotient if 'big' is the larger part of the divisor: p and q are x's
 * parts in the order in which the two formulas differ. */
static Parts
quotient_by(Lower *L, Parts x, Expr *big, Expr *small, bool swapped, Loc loc)
{
    Expr *ratio = reuse(L, op2(L, E_DIV, small, big), loc);
    Expr *scaled = op2(L, E_MUL, swapped ? big : small, ratio);
    Expr *denom;
    Parts z;
    if (!swapped) {
        denom = reuse(L, op2(L, E_ADD, big, scaled), loc);
        z.re = op2(L, E_ADD, x.re, op2(L, E_MUL, x.im, ratio));
        z.im = op2(L, E_SUB, x.im, op2(L, E_MUL, x.re, ratio));
    } else {
        denom = reuse(
            L, op2(L, E_ADD, op2(L, E_MUL, small, ratio), big), loc);
        z.re = op2(L, E_ADD, op2(L, E_MUL, x.re, ratio), x.im);
        z.im = op2(L, E_SUB, op2(L, E_MUL, x.im, ratio), x.re);
    }
    z.re = op2(L, E_DIV, z.re, denom);
    z.im = op2(L, E_DIV, z.im, denom);
    return z;
}

/* The case is chosen by selects, so both are computed: a division by zero in
 * the other one gives an infinity that nobody sees, but no exception.  Neither
 * part is the larger one if one is a NaN: then so is the result. */
static Parts
quotient(Lower *L, Parts x, Parts y, Loc loc)
{
    Expr *re = reuse(L, op1(L, E_ABS, y.re), loc);
    Expr *im = reuse(L, op1(L, E_ABS, y.im), loc);
    Expr *by_re = reuse(L, op2(L, E_LE, im, re), loc);
    Expr *by_im = reuse(L, op2(L, E_LE, re, im), loc);
    Expr *null = both(L, by_re, op2(L, E_EQ, re, zero(L)));
    emit_check(L, not_(L, null), X_ZERO_DIVISION, loc);
    Parts a = quotient_by(L, x, y.re, y.im, false, loc);
    Parts b = quotient_by(L, x, y.im, y.re, true, loc);
    Expr *nan = ir_float(L->arena, DT_F64, __builtin_nan(""));
    return (Parts){
        ir_select(L->arena, by_re, a.re,
                  ir_select(L->arena, by_im, b.re, nan)),
        ir_select(L->arena, by_re, a.im,
                  ir_select(L->arena, by_im, b.im, nan))};
}

/* x ** n for a constant n >= 0 by squaring: for n = 5 = 0b101
 *
 *     1 * x,  x2 = x * x,  x4 = x2 * x2,  (1 * x) * x4
 *
 * Each product is named, so that its parts are computed once. An infinite
 * result raises OverflowError. */
static Parts
power(Lower *L, Parts x, int64_t n, Loc loc)
{
    Parts result = {ir_float(L->arena, DT_F64, 1.0), zero(L)};
    Parts square = x;
    for (int64_t mask = 1; mask <= n; mask <<= 1) {
        if (n & mask) {
            result = product(L, result, square);
            result.re = reuse(L, result.re, loc);
            result.im = reuse(L, result.im, loc);
        }
        if (mask << 1 <= n) {
            square = product(L, square, square);
            square.re = reuse(L, square.re, loc);
            square.im = reuse(L, square.im, loc);
        }
    }
    Expr *finite = both(L, call_fn(L, FN_FINITE, DT_BOOL, result.re, NULL),
                        call_fn(L, FN_FINITE, DT_BOOL, result.im, NULL));
    emit_check(L, finite, X_OVERFLOW, loc);
    return result;
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
    Expr *left = flag_or_false(L, lhs.flag);
    Expr *right = flag_or_false(L, rhs.flag);
    Expr *flag = reuse(L, both(L, left, right), loc);
    Expr *limit = ir_float(L->arena, DT_F64, 0x1p53);
    Expr *small = op2(L, E_LT, op1(L, E_ABS, z.re), limit);
    emit_check(L, either(L, not_(L, flag), small), X_SPECULATE, loc);
    return flag;
}

/* Does it make no difference whether this operand is complex or a number? */
static bool
is_settled(Value v, Value other)
{
    return v.type->kind != TY_COMPLEX || v.flag == NULL ||
           (other.type->kind == TY_COMPLEX && other.flag == NULL);
}

/* The parts are computed as if both operands were complex, which for the ones
 * that may be plain numbers is right only where that makes no difference;
 * common_flag checks it. */
Value
complex_binop_of(Lower *L, AOp op, Value lhs, Value rhs, const Type *type,
                 Loc loc)
{
    Parts x = parts_of(L, lhs, loc);
    Parts y = parts_of(L, rhs, loc);
    Parts z = x;
    switch ((int)op) {
    case AO_ADD:
        z = (Parts){op2(L, E_ADD, x.re, y.re), op2(L, E_ADD, x.im, y.im)};
        break;
    case AO_SUB:
        z = (Parts){op2(L, E_SUB, x.re, y.re), op2(L, E_SUB, x.im, y.im)};
        break;
    case AO_MUL:
        z = product(L, x, y);
        break;
    case AO_DIV:
        z = quotient(L, x, y, loc);
        break;
    default:
        z = power(L, x, rhs.type->ival, loc);
        break;
    }
    z.re = reuse(L, z.re, loc);
    z.im = reuse(L, z.im, loc);
    Value out = value_of(L, type, z);
    if (type->alt != ALT_NEVER || !is_settled(lhs, rhs) ||
        !is_settled(rhs, lhs) || op == AO_POW) {
        out.flag = common_flag(L, lhs, rhs, type, z, loc);
    }
    return out;
}

/* z == w, whatever kind of number each is. */
Expr *
complex_equal(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    Parts x = parts_of(L, lhs, loc);
    Parts y = parts_of(L, rhs, loc);
    Value sides[] = {lhs, rhs};
    for (int i = 0; i < 2; i++) { /* an int beyond 2**53 compares exactly */
        Expr *e = sides[i].expr;
        if (sides[i].type->kind == TY_NUM && e->dtype == DT_I64) {
            emit_check(L, exact_int(L, e, DT_F64), X_SPECULATE, loc);
        }
    }
    Expr *same = both(L, op2(L, E_EQ, x.re, y.re), op2(L, E_EQ, x.im, y.im));
    return op == AO_EQ ? same : not_(L, same);
}

/* -z negates both parts, zeros and NaNs too; +z is z. */
Value
complex_unary_of(Lower *L, AOp op, Value arg, const Type *type, Loc loc)
{
    need_complex(L, arg, loc);
    Parts x = parts_of(L, arg, loc);
    Parts z = x;
    if (op == AO_NEG) {
        z = (Parts){op1(L, E_NEG, x.re), op1(L, E_NEG, x.im)};
    }
    return value_of(L, type, z);
}

/* abs(z): libm's hypot; infinite parts give inf, and a finite number whose
 * absolute value is infinite raises OverflowError. */
Expr *
complex_abs(Lower *L, Value arg, Loc loc)
{
    need_complex(L, arg, loc);
    Parts x = parts_of(L, arg, loc);
    Expr *length =
        reuse(L, call_fn(L, FN_HYPOT, DT_F64, x.re, x.im), loc);
    Expr *finite = both(L, call_fn(L, FN_FINITE, DT_BOOL, x.re, NULL),
                        call_fn(L, FN_FINITE, DT_BOOL, x.im, NULL));
    Expr *fits = call_fn(L, FN_FINITE, DT_BOOL, length, NULL);
    emit_check(L, either(L, not_(L, finite), fits), X_OVERFLOW, loc);
    return length;
}

/* z.real, z.imag */
Value
complex_part(Lower *L, Value base, const AExpr *e)
{
    need_complex(L, base, e->loc);
    bool real = strcmp(e->name, "real") == 0;
    return num_value(e->type, base.items[real ? 0 : 1].expr);
}

/* z is true unless it is 0; -0.0 is 0, a NaN is true. */
Expr *
complex_truth(Lower *L, Value v)
{
    return either(L, op2(L, E_NE, v.items[0].expr, zero(L)),
                  op2(L, E_NE, v.items[1].expr, zero(L)));
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
            return value_of(L, e->type, parts_of(L, v, e->loc));
        }
        v = some(L, v, e->loc);
        Expr *part = cast_to(L, DT_F64, hold(L, v.expr, e->loc));
        *(i == 0 ? &z.re : &z.im) = part;
    }
    return value_of(L, e->type, z);
}

/* A number as the alternative of a complex one: exact, so an int is below
 * 2**53. */
Value
complex_from_number(Lower *L, Value v, const Type *to, Loc loc)
{
    Expr *e = reuse(L, v.expr, loc);
    if (e->dtype == DT_I64) {
        emit_check(L, exact_int(L, e, DT_F64), X_SPECULATE, loc);
    }
    Value out = value_of(L, to, (Parts){cast_to(L, DT_F64, e), zero(L)});
    out.flag = ir_bool(L->arena, true);
    return out;
}
