/* Functions of Python's cmath, by CPython's own formulas.
 *
 *     cmath.exp(z)    l = exp(z.real);  l * cos(z.imag), l * sin(z.imag)
 *     cmath.sqrt(z)   Kahan's, scaled by 8 so that hypot can't overflow
 *
 * CPython treats infinities and nan, and what is very large or very small, in
 * ways of their own: checks leave those to Python, as well as results that are
 * infinite, which are errors there.
 */
#include <float.h>
#include <math.h>

#include "csrc/lower/state.h"

/* log(DBL_MAX / 4), beyond which CPython scales. */
#define LARGE 708.3964185322641

/* A call under way. */
typedef struct Cmath {
    Lower *L;
    Loc loc;
    Expr *re;
    Expr *im;
} Cmath;

static Expr *
real(Lower *L, double value)
{
    return ir_float(L->arena, DT_F64, value);
}

/* A function of libm's. */
static Expr *
libm(const Cmath *c, Fn fn, Expr *x)
{
    return reuse(c->L, call_fn(c->L, fn, DT_F64, x, NULL), c->loc);
}

static Expr *
magnitude(const Cmath *c, Expr *x)
{
    return reuse(c->L, op1(c->L, E_ABS, x), c->loc);
}

static void
check_finite(const Cmath *c, Expr *x)
{
    emit_check(c->L, call_fn(c->L, FN_FINITE, DT_BOOL, x, NULL), X_SPECULATE,
               c->loc);
}

/* The result, which must be finite. */
static Value
result(const Cmath *c, const Type *type, Expr *re, Expr *im)
{
    Value v = value_of_type(c->L, type);
    v.items[0].expr = reuse(c->L, re, c->loc);
    v.items[1].expr = reuse(c->L, im, c->loc);
    check_finite(c, v.items[0].expr);
    check_finite(c, v.items[1].expr);
    return v;
}

/* x < limit, or Python does it. */
static void
check_below(const Cmath *c, Expr *x, double limit)
{
    emit_check(c->L, op2(c->L, E_LE, x, real(c->L, limit)), X_SPECULATE,
               c->loc);
}

static Value
lower_exp(const Cmath *c, const Type *type)
{
    Lower *L = c->L;
    check_below(c, c->re, LARGE);
    Expr *l = libm(c, FN_EXP, c->re);
    return result(c, type, op2(L, E_MUL, l, libm(c, FN_COS, c->im)),
                  op2(L, E_MUL, l, libm(c, FN_SIN, c->im)));
}

/* cosh(x + iy), sinh(x + iy); cos z is cosh(iz), and sin z is -i sinh(iz). */
static Value
lower_hyperbolic(const Cmath *c, const Type *type, bool sine, bool circular)
{
    Lower *L = c->L;
    Expr *x = circular ? reuse(L, op1(L, E_NEG, c->im), c->loc) : c->re;
    Expr *y = circular ? c->re : c->im;
    check_below(c, magnitude(c, x), LARGE);
    Expr *re = op2(L, E_MUL, libm(c, FN_COS, y),
                   libm(c, sine ? FN_SINH : FN_COSH, x));
    Expr *im = op2(L, E_MUL, libm(c, FN_SIN, y),
                   libm(c, sine ? FN_COSH : FN_SINH, x));
    return sine && circular ? result(c, type, im, op1(L, E_NEG, re))
                            : result(c, type, re, im);
}

/* s = 2 * sqrt(|x| / 8 + hypot(|x| / 8, |y| / 8)); |y| / 2s is the other. */
static Value
lower_sqrt(const Cmath *c, const Type *type)
{
    Lower *L = c->L;
    Expr *zero = real(L, 0);
    Expr *x = magnitude(c, c->re);
    Expr *y = magnitude(c, c->im);
    Expr *null = both(L, op2(L, E_EQ, x, zero), op2(L, E_EQ, y, zero));
    null = reuse(L, null, c->loc);
    Expr *least = real(L, DBL_MIN);
    Expr *usual = either(L, op2(L, E_LE, least, x), op2(L, E_LE, least, y));
    emit_check(L, either(L, null, usual), X_SPECULATE, c->loc);
    Expr *eight = real(L, 8);
    Expr *ax = reuse(L, op2(L, E_DIV, x, eight), c->loc);
    Expr *ay = reuse(L, op2(L, E_DIV, y, eight), c->loc);
    Expr *far = call_fn(L, FN_HYPOT, DT_F64, ax, ay);
    Expr *root = libm(c, FN_SQRT, op2(L, E_ADD, ax, far));
    Expr *s = reuse(L, op2(L, E_MUL, real(L, 2), root), c->loc);
    Expr *twice = op2(L, E_MUL, real(L, 2), s);
    Expr *by = ir_select(L->arena, null, real(L, 1), twice);
    Expr *d = reuse(L, op2(L, E_DIV, y, by), c->loc);
    Expr *right = reuse(L, op2(L, E_LE, zero, c->re), c->loc);
    Expr *re = ir_select(L->arena, right, s, d);
    Expr *im = call_fn(L, FN_COPYSIGN, DT_F64,
                       ir_select(L->arena, right, d, s), c->im);
    return result(c, type, ir_select(L->arena, null, zero, re),
                  ir_select(L->arena, null, c->im, im));
}

/* Near 1 the logarithm of |z| is that of 1 + what is above. */
static Value
lower_log(const Cmath *c, const Type *type)
{
    Lower *L = c->L;
    Expr *x = magnitude(c, c->re);
    Expr *y = magnitude(c, c->im);
    Expr *one = real(L, 1);
    Expr *least = real(L, DBL_MIN);
    check_below(c, x, DBL_MAX / 4);
    check_below(c, y, DBL_MAX / 4);
    emit_check(L, either(L, op2(L, E_LE, least, x), op2(L, E_LE, least, y)),
               X_SPECULATE, c->loc);
    Expr *h = reuse(L, call_fn(L, FN_HYPOT, DT_F64, x, y), c->loc);
    Expr *less = reuse(L, op2(L, E_LT, y, x), c->loc);
    Expr *am = reuse(L, ir_select(L->arena, less, x, y), c->loc);
    Expr *an = reuse(L, ir_select(L->arena, less, y, x), c->loc);
    Expr *above = op2(L, E_ADD,
                      op2(L, E_MUL, op2(L, E_SUB, am, one),
                          op2(L, E_ADD, am, one)),
                      op2(L, E_MUL, an, an));
    Expr *near = both(L, op2(L, E_LE, real(L, 0.71), h),
                      op2(L, E_LE, h, real(L, 1.73)));
    near = reuse(L, near, c->loc);
    above = ir_select(L->arena, near, above, one);
    Expr *close = op2(L, E_DIV, libm(c, FN_LOG1P, above), real(L, 2));
    Expr *re = ir_select(L->arena, near, close, libm(c, FN_LOG, h));
    return result(c, type, re, call_fn(L, FN_ATAN2, DT_F64, c->im, c->re));
}

/* An angle so small that libm says so is an error for CPython. */
static Expr *
lower_phase(const Cmath *c)
{
    Lower *L = c->L;
    Expr *phase = call_fn(L, FN_ATAN2, DT_F64, c->im, c->re);
    phase = reuse(L, phase, c->loc);
    Expr *usual = op2(L, E_LE, real(L, DBL_MIN), op1(L, E_ABS, phase));
    Expr *flat = op2(L, E_EQ, c->im, real(L, 0));
    emit_check(L, either(L, usual, flat), X_SPECULATE, c->loc);
    return phase;
}

/* cmath.rect(r, phi) */
static Value
lower_rect(const Cmath *c, const Type *type)
{
    Lower *L = c->L;
    Expr *null = op2(L, E_EQ, c->im, real(L, 0));
    null = reuse(L, null, c->loc);
    Expr *re = op2(L, E_MUL, c->re, libm(c, FN_COS, c->im));
    Expr *im = op2(L, E_MUL, c->re, libm(c, FN_SIN, c->im));
    return result(c, type, ir_select(L->arena, null, c->re, re),
                  ir_select(L->arena, null, op2(L, E_MUL, c->re, c->im), im));
}

/* The parts of the argument, or the two arguments of cmath.rect. */
static void
open_call(Cmath *c, const AExpr *e, BuiltinId id)
{
    Lower *L = c->L;
    Value values[2];
    lower_items(L, &e->items, values);
    if (id == BUILTIN_CMATH_RECT) {
        c->re = reuse(L, cast_to(L, DT_F64, values[0].expr), e->loc);
        c->im = reuse(L, cast_to(L, DT_F64, values[1].expr), e->loc);
    } else {
        complex_parts(L, values[0], &c->re, &c->im, e->loc);
    }
    check_finite(c, c->re);
    check_finite(c, c->im);
}

Value
lower_cmath(Lower *L, const AExpr *e, BuiltinId id)
{
    Cmath c = {.L = L, .loc = e->loc};
    open_call(&c, e, id);
    switch ((int)id) {
    case BUILTIN_CMATH_EXP:
        return lower_exp(&c, e->type);
    case BUILTIN_CMATH_LOG:
        return lower_log(&c, e->type);
    case BUILTIN_CMATH_SQRT:
        return lower_sqrt(&c, e->type);
    case BUILTIN_CMATH_SINH:
    case BUILTIN_CMATH_COSH:
        return lower_hyperbolic(&c, e->type, id == BUILTIN_CMATH_SINH, false);
    case BUILTIN_CMATH_SIN:
    case BUILTIN_CMATH_COS:
        return lower_hyperbolic(&c, e->type, id == BUILTIN_CMATH_SIN, true);
    case BUILTIN_CMATH_RECT:
        return lower_rect(&c, e->type);
    default:
        break;
    }
    Expr *phase = lower_phase(&c);
    if (id == BUILTIN_CMATH_PHASE) {
        return num_value(e->type, phase);
    }
    Value out = value_of_type(L, e->type);
    out.items[0].expr = complex_length(L, c.re, c.im, e->loc);
    out.items[1].expr = phase;
    return out;
}
