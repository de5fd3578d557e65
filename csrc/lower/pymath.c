/* Functions of Python's math that CPython computes itself.
 *
 * hypot and dist are its vector_norm: scale by a power of two, add the squares
 * with the lost bits kept apart, and correct the root by one step of Newton's
 * method.  In detail, for x scaled so that the largest is in [0.5, 1):
 *
 *     x = hi + lo           hi has the upper 26 bits (Veltkamp's splitting), so
 *     x*x = hi*hi + 2*hi*lo + lo*lo       each product but the last is exact
 *     csum += p;  frac += (old - csum) + p     what the sum lost of p (the sum
 *                           begins with 1.0, so csum >= p holds throughout)
 *     h = sqrt(csum - 1.0 + fracs)
 *     h += (sum - h*h) / (2*h)            the residue, summed in the same way
 *
 * Python's round to n digits is that of the exact decimal value; with
 *
 *     p = x * 10**n rounded,  e = the rounding error (exact by FMA)
 *
 * the integer next to p + e is found exactly while p is below 2**52, and its
 * quotient by 10**n is the nearest double to the decimal.  NumPy's scalars
 * round as its arrays do: multiply, rint, divide.
 */
#include "csrc/lower/state.h"

/* A float constant. */
static Expr *
real(Lower *L, double value)
{
    return ir_float(L->arena, DT_F64, value);
}

/* The arguments as floats, each named. */
static Expr *
float_of(Lower *L, Value v, Loc loc)
{
    return reuse(L, cast_to(L, DT_F64, some(L, v, loc).expr), loc);
}

/* --- vector_norm ---------------------------------------------------------- */

/* Sums as CPython keeps them: csum, and what was lost in three places. */
typedef struct Norm {
    Expr *sum;
    Expr *lost[3];
    Loc loc;
} Norm;

/* csum += x, and the part of x that it lost: exact since |csum| >= |x|
 * (Dekker's fast two-sum). */
static void
add_part(Lower *L, Norm *norm, int where, Expr *x)
{
    x = reuse(L, x, norm->loc);
    Expr *old = norm->sum;
    norm->sum = reuse(L, op2(L, E_ADD, old, x), norm->loc);
    Expr *gone = op2(L, E_ADD, op2(L, E_SUB, old, norm->sum), x);
    norm->lost[where] =
        reuse(L, op2(L, E_ADD, norm->lost[where], gone), norm->loc);
}

/* The upper half of x's digits, by Veltkamp: with t = x * (2**27 + 1), the
 * difference t - (t - x) is x rounded to 26 bits. */
static Expr *
upper_half(Lower *L, Expr *x, Loc loc)
{
    Expr *t = reuse(L, op2(L, E_MUL, x, real(L, 134217729.0)), loc);
    return reuse(L, op2(L, E_SUB, t, op2(L, E_SUB, t, x)), loc);
}

/* Adds sign * x * x in its three parts.  The last of a coordinate is too small
 * for the sum; that of the root is not. */
static void
add_square(Lower *L, Norm *norm, Expr *x, bool root)
{
    Expr *hi = upper_half(L, x, norm->loc);
    Expr *lo = reuse(L, op2(L, E_SUB, x, hi), norm->loc);
    Expr *first = root ? op1(L, E_NEG, hi) : hi;
    Expr *two = real(L, root ? -2.0 : 2.0);
    add_part(L, norm, 0, op2(L, E_MUL, first, hi));
    add_part(L, norm, 1, op2(L, E_MUL, op2(L, E_MUL, two, hi), lo));
    if (root) {
        add_part(L, norm, 2, op2(L, E_MUL, op1(L, E_NEG, lo), lo));
        return;
    }
    Expr *rest = op2(L, E_MUL, lo, lo);
    norm->lost[2] = reuse(L, op2(L, E_ADD, norm->lost[2], rest), norm->loc);
}

/* csum - 1.0 + (frac1 + frac2 + frac3) */
static Expr *
total(Lower *L, const Norm *norm)
{
    Expr *lost = op2(L, E_ADD, norm->lost[0], norm->lost[1]);
    lost = op2(L, E_ADD, lost, norm->lost[2]);
    return op2(L, E_ADD, op2(L, E_SUB, norm->sum, real(L, 1.0)), lost);
}

/* For finite coordinates with the greatest size 'max', which is not tiny. The
 * scale is a power of two, so multiplying by it loses nothing. */
static Expr *
norm_of(Lower *L, Expr *const *x, int n, Expr *max, Loc loc)
{
    Norm norm = {.sum = real(L, 1.0), .loc = loc};
    for (int i = 0; i < 3; i++) {
        norm.lost[i] = real(L, 0.0);
    }
    Expr *scale =
        reuse(L, call_fn(L, FN_NORMSCALE, DT_F64, max, NULL), loc);
    for (int i = 0; i < n; i++) {
        Expr *scaled = reuse(L, op2(L, E_MUL, x[i], scale), loc);
        add_square(L, &norm, scaled, false);
    }
    Expr *h = call_fn(L, FN_SQRT, DT_F64, total(L, &norm), NULL);
    h = reuse(L, h, loc);
    add_square(L, &norm, h, true);
    Expr *twice = op2(L, E_MUL, real(L, 2.0), h);
    Expr *step = op2(L, E_DIV, total(L, &norm), twice);
    return op2(L, E_DIV, op2(L, E_ADD, h, step), scale);
}

/* The order of CPython's tests: infinity beats nan, and of zeros alone the norm
 * is 0.  A greatest coordinate that is subnormal is scaled in another way by
 * CPython, which is left to Python. */
static Expr *
vector_norm(Lower *L, Expr **x, int n, Loc loc)
{
    Expr *max = real(L, 0.0);
    Expr *nan = NULL;
    for (int i = 0; i < n; i++) {
        x[i] = reuse(L, op1(L, E_ABS, x[i]), loc);
        Expr *more = op2(L, E_LT, max, x[i]);
        max = reuse(L, ir_select(L->arena, more, x[i], max), loc);
        nan = either(L, nan, call_fn(L, FN_ISNAN, DT_BOOL, x[i], NULL));
    }
    if (n == 0) {
        return max;
    }
    nan = reuse(L, nan, loc);
    Expr *inf = call_fn(L, FN_ISINF, DT_BOOL, max, NULL);
    Expr *zero = op2(L, E_EQ, max, real(L, 0.0));
    Expr *plain = reuse(L, either(L, inf, zero), loc);
    Expr *normal = op2(L, E_LE, real(L, 0x1p-1022), max);
    emit_check(L, either(L, normal, either(L, plain, nan)), X_SPECULATE, loc);
    Expr *norm = n > 1 ? reuse(L, norm_of(L, x, n, max, loc), loc) : max;
    norm = ir_select(L->arena, plain, max, norm);
    Expr *quiet = real(L, __builtin_nan(""));
    return ir_select(L->arena, both(L, nan, not_(L, inf)), quiet, norm);
}

/* math.hypot(*coordinates), of any number of them. */
static Value
lower_hypot(Lower *L, const AExpr *e)
{
    int n = e->items.n;
    Value *args = ARENA_ARRAY(L->arena, Value, n + 1);
    Expr **x = ARENA_ARRAY(L->arena, Expr *, n + 1);
    lower_items(L, &e->items, args);
    for (int i = 0; i < n; i++) {
        x[i] = float_of(L, args[i], e->loc);
    }
    return num_value(e->type, vector_norm(L, x, n, e->loc));
}

/* math.dist(p, q): the norm of the differences. */
static Value
lower_dist(Lower *L, const AExpr *e)
{
    Value args[2];
    lower_items(L, &e->items, args);
    int n = args[0].type->rank;
    Expr **x = ARENA_ARRAY(L->arena, Expr *, n + 1);
    for (int i = 0; i < n; i++) {
        Expr *p = float_of(L, args[0].items[i], e->loc);
        Expr *q = float_of(L, args[1].items[i], e->loc);
        x[i] = reuse(L, op2(L, E_SUB, p, q), e->loc);
    }
    return num_value(e->type, vector_norm(L, x, n, e->loc));
}

/* --- round ---------------------------------------------------------------- */

/* NumPy's: an overflow of the product would warn. */
static Expr *
round_strong(Lower *L, Expr *x, double scale, Loc loc)
{
    DType dt = x->dtype;
    Expr *by = ir_float(L->arena, dt, scale);
    x = reuse(L, x, loc);
    Expr *p = reuse(L, op2(L, E_MUL, x, by), loc);
    Expr *fine = either(L, call_fn(L, FN_FINITE, DT_BOOL, p, NULL),
                        not_(L, call_fn(L, FN_FINITE, DT_BOOL, x, NULL)));
    emit_check(L, fine, X_SPECULATE, loc);
    return op2(L, E_DIV, call_fn(L, FN_RINT, dt, p, NULL), by);
}

/* Python's: from 2**52 on a float is whole, infinities and nan stay. Where x *
 * 10 ** n is too large for the exact way above, Python computes with its own
 * decimals. */
static Expr *
round_weak(Lower *L, Expr *x, double scale, Loc loc)
{
    x = reuse(L, x, loc);
    Expr *size = reuse(L, op1(L, E_ABS, x), loc);
    Expr *stays = reuse(L, not_(L, op2(L, E_LT, size, real(L, 0x1p52))), loc);
    Expr *scaled = op2(L, E_MUL, size, real(L, scale));
    Expr *small = op2(L, E_LT, scaled, real(L, 0x1p51));
    emit_check(L, either(L, stays, small), X_SPECULATE, loc);
    Expr *r = call_fn(L, FN_PYROUND, DT_F64, x, real(L, scale));
    return ir_select(L->arena, stays, x, r);
}

/* Integers have no digits to lose. 10 ** digits is exact as a double up to 10
 * ** 22, and inference allows no more. */
static Value
lower_digits(Lower *L, const AExpr *e)
{
    Value args[2];
    lower_items(L, &e->items, args);
    Value v = some(L, args[0], e->loc);
    int64_t digits = 0;
    double scale = 1.0;
    type_is_known_int(e->items.at[1]->type, &digits);
    for (int64_t i = 0; i < digits; i++) {
        scale *= 10.0;
    }
    if (!dtype_is_float(v.expr->dtype)) {
        return num_value(e->type, cast_to(L, e->type->dtype, v.expr));
    }
    Expr *r = v.type->weak ? round_weak(L, v.expr, scale, e->loc)
                           : round_strong(L, v.expr, scale, e->loc);
    return num_value(e->type, r);
}

/* --- the others ----------------------------------------------------------- */

/* |a - b| within a part of either, or an absolute distance. Equal infinities
 * are close, others never. */
static Value
lower_isclose(Lower *L, const AExpr *e)
{
    Value args[4] = {{.type = NULL}};
    Expr *x[4];
    lower_items(L, &e->items, args);
    for (int i = 0; i < 4; i++) {
        x[i] = e->items.at[i] ? float_of(L, args[i], e->loc)
                              : real(L, i == 2 ? 1e-9 : 0.0);
    }
    for (int i = 2; i < 4; i++) {
        Expr *negative = op2(L, E_LT, x[i], real(L, 0.0));
        emit_check(L, not_(L, negative), X_VALUE, e->loc);
    }
    Expr *gap = op1(L, E_ABS, op2(L, E_SUB, x[1], x[0]));
    gap = reuse(L, gap, e->loc);
    Expr *close = op2(L, E_LE, gap, x[3]);
    for (int i = 0; i < 2; i++) {
        Expr *part = op1(L, E_ABS, op2(L, E_MUL, x[2], x[1 - i]));
        close = op2(L, E_OR, close, op2(L, E_LE, gap, part));
    }
    Expr *inf = op2(L, E_OR, call_fn(L, FN_ISINF, DT_BOOL, x[0], NULL),
                    call_fn(L, FN_ISINF, DT_BOOL, x[1], NULL));
    Expr *same = op2(L, E_EQ, x[0], x[1]);
    return num_value(e->type,
                     op2(L, E_OR, same, op2(L, E_AND, not_(L, inf), close)));
}

/* The parts have the sign of x; of an infinity the fraction is 0, since inf -
 * inf would be nan. */
static Value
lower_modf(Lower *L, const AExpr *e)
{
    Expr *x = float_of(L, lower_expr(L, e->items.at[0]), e->loc);
    Expr *whole = reuse(L, call_fn(L, FN_TRUNC, DT_F64, x, NULL), e->loc);
    Expr *inf = call_fn(L, FN_ISINF, DT_BOOL, x, NULL);
    Expr *rest = ir_select(L->arena, inf, real(L, 0.0),
                           op2(L, E_SUB, x, whole));
    rest = call_fn(L, FN_COPYSIGN, DT_F64, reuse(L, rest, e->loc), x);
    Value out = {.type = e->type};
    out.items = ARENA_ARRAY(L->arena, Value, 2);
    out.items[0] = num_value(e->type->items[0], rest);
    out.items[1] = num_value(e->type->items[1], whole);
    return out;
}

/* An integer argument as an i64. */
static Expr *
int_of(Lower *L, Value v, Loc loc)
{
    Expr *e = reuse(L, v.expr, loc);
    check_range_of(L, e, e->dtype, DT_I64, NULL, loc);
    return reuse(L, cast_to(L, DT_I64, e), loc);
}

/* The least int64 has no absolute value, which the routine takes. */
static Value
lower_gcd(Lower *L, const AExpr *e)
{
    Value args[2];
    Expr *x[2];
    lower_items(L, &e->items, args);
    for (int i = 0; i < 2; i++) {
        x[i] = int_of(L, args[i], e->loc);
        Expr *least = int_const(L, INT64_MIN);
        emit_check(L, op2(L, E_NE, x[i], least), X_OVERFLOW, e->loc);
    }
    return num_value(e->type, call_fn(L, FN_GCD, DT_I64, x[0], x[1]));
}

/* The float's root is off by one at most: n rounded to 53 bits has a root that
 * differs from sqrt(n) by less than 2**-21 for n below 2**63.  3037000499 is
 * the root of the largest int64; its successor's square would overflow. */
static Value
lower_isqrt(Lower *L, const AExpr *e)
{
    Expr *n = int_of(L, lower_expr(L, e->items.at[0]), e->loc);
    Expr *most = int_const(L, 3037000499);
    emit_check(L, op2(L, E_LE, int_const(L, 0), n), X_VALUE, e->loc);
    Expr *f = call_fn(L, FN_SQRT, DT_F64, cast_to(L, DT_F64, n), NULL);
    Expr *r = op2(L, E_MIN, cast_to(L, DT_I64, f), most);
    r = reuse(L, r, e->loc);
    Expr *high = op2(L, E_LT, n, op2(L, E_MUL, r, r));
    r = reuse(L, op2(L, E_SUB, r, cast_to(L, DT_I64, high)), e->loc);
    Expr *next = reuse(L, op2(L, E_ADD, r, int_const(L, 1)), e->loc);
    Expr *low = op2(L, E_AND, op2(L, E_LT, r, most),
                    op2(L, E_LE, op2(L, E_MUL, next, next), n));
    return num_value(e->type, op2(L, E_ADD, r, cast_to(L, DT_I64, low)));
}

/* math.log(x, base): the quotient of the logarithms. A base of 1 divides by
 * zero. */
Value
lower_log_base(Lower *L, const AExpr *e)
{
    Value args[2];
    Expr *x[2];
    lower_items(L, &e->items, args);
    for (int i = 0; i < 2; i++) {
        x[i] = float_of(L, args[i], e->loc);
        Expr *bad = op2(L, E_LE, x[i], real(L, 0.0));
        emit_check(L, not_(L, bad), X_VALUE, e->loc);
        x[i] = reuse(L, call_fn(L, FN_LOG, DT_F64, x[i], NULL), e->loc);
    }
    emit_check(L, op2(L, E_NE, x[1], real(L, 0.0)), X_ZERO_DIVISION, e->loc);
    return num_value(e->type, op2(L, E_DIV, x[0], x[1]));
}

/* A call of BK_PYMATH, and round with digits. */
Value
lower_pymath(Lower *L, const AExpr *e, BuiltinId id)
{
    switch ((int)id) {
    case BUILTIN_MATH_HYPOT:
        return lower_hypot(L, e);
    case BUILTIN_MATH_DIST:
        return lower_dist(L, e);
    case BUILTIN_MATH_ISCLOSE:
        return lower_isclose(L, e);
    case BUILTIN_MATH_MODF:
        return lower_modf(L, e);
    case BUILTIN_MATH_GCD:
        return lower_gcd(L, e);
    case BUILTIN_MATH_ISQRT:
        return lower_isqrt(L, e);
    default:
        return lower_digits(L, e);
    }
}
