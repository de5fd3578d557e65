/* What floats can be: an interval, and whether nan.
 *
 *     let t = select(v < 0, 0, v)           0 <= t, or nan
 *     let u = select(1 < t, 1, t)           0 <= u <= 1, or nan
 *     let z = u * 10 + 0.5                  0.5 <= z <= 10.5, or nan
 *     check -2^63 <= z and z < 2^63         no nan from here on
 *     let k = cast i64 z                    0 <= k <= 10
 *
 * IEEE's operations, rounded to nearest, are monotonic in each operand: what
 * they give for the ends bounds what they give between.  They are computed as
 * the kernel will, in the dtype of the operation.  A case in which two ends
 * give nan (inf - inf, 0 * inf) is given up.
 *
 * A comparison that holds says that neither side is nan; of one that does not
 * hold, the opposite is true or one side is.
 */
#include <math.h>

#include "csrc/analysis/bounds.h"

static const double two_53 = 9007199254740992.0;
static const Reals anything = {-HUGE_VAL, HUGE_VAL, true};

static Reals
reals_of(double lo, double hi, bool nan)
{
    Reals out = {lo, hi, nan};
    return isnan(lo) || isnan(hi) ? anything : out;
}

static Reals
reals_join(Reals lhs, Reals rhs)
{
    return reals_of(fmin(lhs.lo, rhs.lo), fmax(lhs.hi, rhs.hi),
                    lhs.nan || rhs.nan);
}

/* --- conditions ---------------------------------------------------------- */

static Reals reals(Bounds *b, Expr *e);

/* 'cond', a comparison that 'holds' or not, is about 'e': what is left of
 * 'range'.  The ends stay in it, strictness is not looked at. */
static Reals
refine_compare(Bounds *b, Reals range, const Expr *e, const Expr *cond,
               bool holds)
{
    bool left = ir_equal(cond->args[0], e);
    bool right = !left && ir_equal(cond->args[1], e);
    if (!left && !right) {
        return range;
    }
    Reals other = reals(b, cond->args[left ? 1 : 0]);
    bool less = left == holds; /* 'e' is not above the other side */
    if (!holds && other.nan) {
        return range; /* it may be false for the other side's sake */
    }
    range.nan = range.nan && !holds;
    if (less) {
        range.hi = fmin(range.hi, other.hi);
    } else {
        range.lo = fmax(range.lo, other.lo);
    }
    return range;
}

/* Notes the comparisons that 'cond' comes to. */
static void
suppose(Bounds *b, Expr *cond, bool holds)
{
    cond = bounds_definition(b, cond); /* loads in it are as they were */
    switch (cond->op) {
    case E_NOT:
        suppose(b, cond->args[0], !holds);
        break;
    case E_AND:
    case E_OR:
        if ((cond->op == E_AND) == holds) {
            suppose(b, cond->args[0], holds);
            suppose(b, cond->args[1], holds);
        }
        break;
    case E_LT:
    case E_LE:
        bounds_know(b, cond, holds);
        break;
    default:
        break;
    }
}

/* What the conditions say that are known to hold here; nothing where that
 * would be a contradiction: the place is never reached. */
static Reals
refine_known(Bounds *b, Reals range, const Expr *e)
{
    Reals found = range;
    for (int i = 0; i < b->known.n && b->fuel > 0; i++) {
        const Known *known = &b->known.at[i];
        bool floats = (known->cond->op == E_LT || known->cond->op == E_LE) &&
                      dtype_is_float(known->cond->args[0]->dtype);
        if (floats) {
            found = refine_compare(b, found, e, known->cond, known->holds);
        }
    }
    return found.lo <= found.hi ? found : range;
}

/* --- operations ---------------------------------------------------------- */

/* As the kernel computes it, in its own dtype. */
static double
apply(Op op, bool single, double x, double y)
{
    float a = (float)x;
    float c = (float)y;
    switch (op) {
    case E_ADD:
    case E_PLUS:
        return single ? (double)(a + c) : x + y;
    case E_SUB:
        return single ? (double)(a - c) : x - y;
    case E_MUL:
        return single ? (double)(a * c) : x * y;
    default:
        return single ? (double)(a / c) : x / y;
    }
}

/* The hull of the four corners; a corner that is nan gives all up.  Division by
 * an interval with zero in it isn't monotonic. */
static Reals
corners(const Expr *e, Reals lhs, Reals rhs)
{
    bool single = e->dtype == DT_F32;
    if (e->op == E_DIV && rhs.lo <= 0 && rhs.hi >= 0) {
        return anything;
    }
    double at[] = {apply(e->op, single, lhs.lo, rhs.lo),
                   apply(e->op, single, lhs.lo, rhs.hi),
                   apply(e->op, single, lhs.hi, rhs.lo),
                   apply(e->op, single, lhs.hi, rhs.hi)};
    Reals out = reals_of(at[0], at[0], lhs.nan || rhs.nan);
    for (int i = 1; i < 4; i++) {
        out = isnan(at[i]) ? anything
                           : reals_join(out, reals_of(at[i], at[i], false));
    }
    /* 0 * inf within the intervals, none of whose ends is zero */
    bool wild = e->op == E_MUL && (isinf(lhs.lo) || isinf(lhs.hi) ||
                                   isinf(rhs.lo) || isinf(rhs.hi));
    out.nan |= wild;
    return out;
}

/* x * x: never negative, and nan only of nan. */
static Reals
reals_square(const Expr *e, Reals arg)
{
    bool single = e->dtype == DT_F32;
    double lo = apply(E_MUL, single, arg.lo, arg.lo);
    double hi = apply(E_MUL, single, arg.hi, arg.hi);
    bool around = arg.lo <= 0 && arg.hi >= 0;
    return reals_of(around ? 0 : fmin(lo, hi), fmax(lo, hi), arg.nan);
}

/* Functions that are monotonic, or whose values have ends of their own.  Of
 * what libm computes, the last digits are not known, so only the sign is sure.
 */
static Reals
reals_call(Bounds *b, Expr *e)
{
    if (e->fn == FN_SQUARE || e->fn == FN_EXP) {
        return reals_of(0, HUGE_VAL, reals(b, e->args[0]).nan);
    }
    bool known = e->fn == FN_SQRT || e->fn == FN_FLOOR || e->fn == FN_CEIL ||
                 e->fn == FN_TRUNC || e->fn == FN_RINT;
    if (!known || e->dtype == DT_F32) {
        return anything;
    }
    Reals arg = reals(b, e->args[0]);
    switch (e->fn) {
    case FN_SQRT:
        return arg.hi < 0 ? anything
                          : reals_of(sqrt(fmax(arg.lo, 0)), sqrt(arg.hi),
                                     arg.nan || arg.lo < 0);
    case FN_FLOOR:
        return reals_of(floor(arg.lo), floor(arg.hi), arg.nan);
    case FN_CEIL:
        return reals_of(ceil(arg.lo), ceil(arg.hi), arg.nan);
    case FN_TRUNC:
        return reals_of(trunc(arg.lo), trunc(arg.hi), arg.nan);
    default:
        return reals_of(rint(arg.lo), rint(arg.hi), arg.nan);
    }
}

/* Conversions round, which is monotonic too. */
static Reals
reals_cast(Bounds *b, Expr *e)
{
    Expr *arg = e->args[0];
    Reals out = anything;
    if (dtype_is_float(arg->dtype)) {
        out = reals(b, arg);
    } else if (bounds_is_number(arg)) {
        Range range = bounds_range(b, arg);
        bool single = e->dtype == DT_F32;
        double lo = single ? (double)(float)range.lo : (double)range.lo;
        double hi = single ? (double)(float)range.hi : (double)range.hi;
        return reals_of(lo, hi, false);
    }
    if (e->dtype == DT_F32) {
        out.lo = (double)(float)out.lo;
        out.hi = (double)(float)out.hi;
    }
    return out;
}

/* An arm of a SELECT under its condition. */
static Reals
reals_arm(Bounds *b, Expr *arm, Expr *cond, bool holds)
{
    int mark = bounds_push(b);
    suppose(b, cond, holds);
    Reals out = refine_known(b, reals(b, arm), arm);
    bounds_pop(b, mark);
    return out;
}

static Reals
reals_select(Bounds *b, Expr *e)
{
    return reals_join(reals_arm(b, e->args[1], e->args[0], true),
                      reals_arm(b, e->args[2], e->args[0], false));
}

static Reals
reals_var(Bounds *b, Expr *e)
{
    Expr *value = bounds_info(b, e->var)->value;
    Reals out = value != NULL ? reals(b, value) : anything;
    return refine_known(b, out, e);
}

/* By the operator; without fuel, anything. */
static Reals
reals(Bounds *b, Expr *e)
{
    if (e->lanes > 0 || !dtype_is_float(e->dtype) || b->fuel-- <= 0) {
        return anything;
    }
    switch (e->op) {
    case E_CONST:
        return reals_of(e->fval, e->fval, false);
    case E_VAR:
        return reals_var(b, e);
    case E_MUL:
        if (ir_equal(e->args[0], e->args[1])) {
            return reals_square(e, reals(b, e->args[0]));
        }
        return corners(e, reals(b, e->args[0]), reals(b, e->args[1]));
    case E_ADD:
    case E_PLUS:
    case E_SUB:
    case E_DIV:
        return corners(e, reals(b, e->args[0]), reals(b, e->args[1]));
    case E_NEG: {
        Reals arg = reals(b, e->args[0]);
        return reals_of(-arg.hi, -arg.lo, arg.nan);
    }
    case E_ABS: {
        Reals arg = reals(b, e->args[0]);
        double least = arg.lo > 0 ? arg.lo : arg.hi < 0 ? -arg.hi : 0;
        return reals_of(least, fmax(-arg.lo, arg.hi), arg.nan);
    }
    case E_SELECT:
        return reals_select(b, e);
    case E_CAST:
        return reals_cast(b, e);
    case E_CALL:
        return reals_call(b, e);
    default:
        return anything;
    }
}

/* --- questions ----------------------------------------------------------- */

/* A value that is used twice is looked at twice, so each question gets a share
 * of the fuel only. */
static Reals
ask(Bounds *b, Expr *e)
{
    enum { SHARE = 300 };
    int fuel = b->fuel;
    b->fuel = fuel < SHARE ? fuel : SHARE;
    int share = b->fuel;
    Reals out = reals(b, e);
    b->fuel = fuel - (share - b->fuel);
    return out;
}

/* lhs < rhs or lhs <= rhs: true of all values and no nan, or false of all.  Nan
 * differs from everything. */
bool
floats_prove(Bounds *b, const Expr *cond, bool holds)
{
    bool strict = cond->op == E_LT;
    Reals lhs = ask(b, cond->args[0]);
    Reals rhs = ask(b, cond->args[1]);
    if (!strict && cond->op != E_LE) {
        return (cond->op == E_EQ) != holds &&
               (lhs.hi < rhs.lo || lhs.lo > rhs.hi);
    }
    if (holds) {
        return !lhs.nan && !rhs.nan &&
               (strict ? lhs.hi < rhs.lo : lhs.hi <= rhs.lo);
    }
    return strict ? lhs.lo >= rhs.hi : lhs.lo > rhs.hi;
}

/* isnan(x), isinf(x), isfinite(x): only what the ends rule out or leave. */
bool
floats_prove_class(Bounds *b, const Expr *call, bool holds)
{
    if (call->fn != FN_ISNAN && call->fn != FN_ISINF && call->fn != FN_FINITE) {
        return false;
    }
    Reals arg = ask(b, call->args[0]);
    bool bounded = !isinf(arg.lo) && !isinf(arg.hi);
    switch (call->fn) {
    case FN_ISNAN:
        return !holds && !arg.nan;
    case FN_ISINF:
        return !holds && bounded;
    default:
        return holds && bounded && !arg.nan;
    }
}

/* --- is it only about nan? ----------------------------------------------- */

static bool
is_finite(const Expr *e)
{
    return e->op == E_CONST && dtype_is_float(e->dtype) && isfinite(e->fval);
}

/* Of a choice by a comparison that chooses 'e' where it doesn't hold, and holds
 * of no nan, the other one being a number: is 'e' the only way to nan? */
static Expr *
chosen_by_nan(Bounds *b, const Expr *select)
{
    const Expr *cond = bounds_definition(b, select->args[0]);
    Expr *no = select->args[2];
    bool about = (cond->op == E_LT || cond->op == E_LE) &&
                 (ir_equal(cond->args[0], no) || ir_equal(cond->args[1], no));
    return about && is_finite(select->args[1]) ? no : NULL;
}

/* The operand that is nan exactly where 'e' is; NULL: there is none. */
static Expr *
same_nan(Bounds *b, const Expr *e)
{
    bool right = e->nargs == 2 && is_finite(e->args[1]);
    switch (e->op) {
    case E_ADD:
    case E_SUB:
        return right ? e->args[0] : NULL;
    case E_MUL:
    case E_DIV:
        return right && e->args[1]->fval != 0.0 ? e->args[0] : NULL;
    case E_NEG:
    case E_ABS:
        return e->args[0];
    case E_CAST:
        return dtype_is_float(e->args[0]->dtype) ? e->args[0] : NULL;
    case E_SELECT:
        return chosen_by_nan(b, e);
    default:
        return NULL;
    }
}

/* Is it a name of the program?  What a definition read from memory has one that
 * only the analysis knows. */
static bool
is_name(const Expr *e)
{
    return e->op == E_VAR && e->var->id >= 0;
}

/* The name that is nan exactly where the name 'e' is, as few operations as
 * possible after the start. */
static Expr *
nan_source(Bounds *b, Expr *e)
{
    enum { STEPS = 16 };
    Expr *source = e;
    for (int i = 0; i < STEPS; i++) {
        Expr *value = e->op != E_VAR ? e
                      : is_name(e)   ? bounds_info(b, e->var)->value
                                     : NULL;
        e = value != NULL && dtype_is_float(value->dtype) ? same_nan(b, value)
                                                          : NULL;
        if (e == NULL || e->lanes > 0) {
            return source;
        }
        source = is_name(e) ? e : source;
    }
    return source;
}

/* Is the comparison true of every number that its sides may be?  Then which
 * side may be nan, a name; NULL: it is false of a number, or both may be. */
static Expr *
fails_by_nan(Bounds *b, const Expr *cond)
{
    Reals sides[2] = {ask(b, cond->args[0]), ask(b, cond->args[1])};
    bool less = cond->op == E_LT ? sides[0].hi < sides[1].lo
                                 : sides[0].hi <= sides[1].lo;
    int side = sides[0].nan ? 0 : 1;
    bool one = sides[0].nan != sides[1].nan && is_name(cond->args[side]) &&
               dtype_is_float(cond->args[side]->dtype);
    return less && one ? cond->args[side] : NULL;
}

Expr *
bounds_ask_nan(Bounds *b, const Expr *cond)
{
    bool both = cond->op == E_AND;
    Expr *asked = NULL;
    for (int i = 0; i < (both ? 2 : 1); i++) {
        const Expr *part = both ? cond->args[i] : cond;
        bool order = part->op == E_LT || part->op == E_LE;
        Expr *side = order ? fails_by_nan(b, part) : NULL;
        if (side == NULL || (asked != NULL && !ir_equal(side, asked))) {
            return NULL;
        }
        asked = side;
    }
    Expr *source = nan_source(b, asked);
    Expr *most = ir_float(b->arena, source->dtype, HUGE_VAL);
    return ir_binary(b->arena, E_LE, source, most);
}

/* --- integers ------------------------------------------------------------- */

/* The i64 that 'e' is the f64 of; NULL: it is something else. */
static Expr *
behind_cast(Bounds *b, Expr *e)
{
    e = bounds_definition(b, e);
    bool from = e->op == E_CAST && e->dtype == DT_F64 && e->lanes == 0 &&
                e->args[0]->dtype == DT_I64;
    return from ? e->args[0] : NULL;
}

/* The rounded i is on that side of c on which i is: where i is rounded at all,
 * both are beyond 2^53, and c is not.
 *
 *     f64(i) < 2.5   is   i < 3         2.5 < f64(i)   is   2 < i
 *     f64(i) <= 2.5  is   i <= 2        2.5 <= f64(i)  is   3 <= i       */
Expr *
floats_as_ints(Bounds *b, const Expr *cond)
{
    bool strict = cond->op == E_LT;
    bool left = cond->args[1]->op == E_CONST;
    const Expr *bound = cond->args[left ? 1 : 0];
    if ((!strict && cond->op != E_LE) || bound->op != E_CONST ||
        !(fabs(bound->fval) < two_53)) {
        return NULL;
    }
    Expr *number = behind_cast(b, cond->args[left ? 0 : 1]);
    if (number == NULL) {
        return NULL;
    }
    double end = left == strict ? ceil(bound->fval) : floor(bound->fval);
    Expr *whole = ir_int(b->arena, DT_I64, (int64_t)end);
    return ir_binary(b->arena, cond->op, left ? number : whole,
                     left ? whole : number);
}

/* What i64 comes out of 'e'; false: not known, it may be nan. */
bool
floats_to_int(Bounds *b, Expr *e, Range *out)
{
    Reals range = ask(b, e);
    if (range.nan || range.lo < -two_53 || range.hi > two_53) {
        return false;
    }
    *out = range_of((Wide)range.lo, (Wide)range.hi);
    return true;
}

/* Of a quotient by a power of two the exponent, 1 to 52: int(i / 4), or
 * int(i * 0.25).  0: it is none. */
static int
halvings(const Expr *e)
{
    bool quotient = e->op == E_DIV && e->dtype == DT_F64;
    bool product = e->op == E_MUL && e->dtype == DT_F64;
    if ((!quotient && !product) || e->args[1]->op != E_CONST) {
        return 0;
    }
    int exponent;
    double by = quotient ? e->args[1]->fval : 1.0 / e->args[1]->fval;
    bool power = by > 1.0 && frexp(by, &exponent) == 0.5;
    return power && exponent - 1 <= 52 ? exponent - 1 : 0;
}

/* With 0 <= i <= 2^53, i is a float64 and so is i / 2^k, since it has i's
 * digits; cut to a whole number it is what is left when i is shifted. */
Var *
bounds_halved(Bounds *b, const Expr *e, int *shift)
{
    bool cast = e->op == E_CAST && e->dtype == DT_I64 && e->lanes == 0 &&
                e->args[0]->dtype == DT_F64;
    const Expr *part = cast ? bounds_definition(b, e->args[0]) : NULL;
    *shift = part != NULL ? halvings(part) : 0;
    Expr *number = *shift > 0 ? behind_cast(b, part->args[0]) : NULL;
    if (number == NULL || !is_name(number)) {
        return NULL;
    }
    Range range = bounds_range(b, number);
    bool exact = range.lo >= 0 && range.hi <= (Wide)two_53;
    return exact ? number->var : NULL;
}
