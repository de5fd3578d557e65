/* Sizes that are a share of another: the levels of pyramids.
 *
 *     h = int(rows * 2 ** (-l))      0 <= l:  0 <= h <= rows
 *     h = rows // 2 ** l             0 <= l:  0 <= h <= rows
 *
 *     k = int(x / 2)                 0 <= x:  0 <= 2 * k <= x
 *
 * A power of two with an exponent not above 0 is a float from 0 to 1: libm's
 * pow is exact there or rounds a result that is no greater than 1.  What is
 * multiplied by such does not grow, nor does rounding take it over an integer
 * up to 2^53, to which casting to i64 cuts it.
 */
#include "csrc/analysis/bounds.h"

enum { MAX_DEPTH_SHARE = 8, MAX_SHIFT = 30 };

#define EXACT ((Wide)1 << 53)

/* sign * e >= 0?  By its range, or else proved: l - 1 - k for a k below l. */
static bool
has_sign(Bounds *b, Expr *e, int64_t sign)
{
    Range range = bounds_range(b, e);
    if (sign < 0 ? range.hi <= 0 : range.lo >= 0) {
        return true;
    }
    Linear form = bounds_form(b, e);
    Linear zero = linear_const(0);
    return linear_sum(b->arena, &form, sign, &zero, 0, &form) &&
           prove_nonneg(b, &form, MAX_DEPTH_SHARE);
}

/* The greatest that 'e' can be, an integer or one made a float, where that is
 * not above 0; else 1. */
static int
most_of(Bounds *b, Expr *e)
{
    e = bounds_definition(b, e);
    if (e->op == E_CAST && bounds_is_number(e->args[0])) {
        e = e->args[0];
    }
    if (!bounds_is_number(e) || !has_sign(b, e, -1)) {
        return 1;
    }
    Wide most = bounds_range(b, e).hi;
    return most > 0 ? 0 : most < -MAX_SHIFT ? -MAX_SHIFT : (int)most;
}

/* The float 'e' is surely from 0 to 2^-shift, shift >= 0; -1: perhaps not. */
static int
shift_of(Bounds *b, Expr *e, int depth)
{
    e = bounds_definition(b, e);
    if (depth == 0 || e->lanes > 0) {
        return -1;
    }
    if (e->op == E_CONST && e->dtype == DT_F64) {
        return e->fval >= 0 && e->fval <= 1 ? 0 : -1;
    }
    if (e->op == E_SELECT) {
        int yes = shift_of(b, e->args[1], depth - 1);
        int no = shift_of(b, e->args[2], depth - 1);
        return yes < no ? yes : no;
    }
    bool power = e->op == E_CALL && e->fn == FN_POW &&
                 e->args[0]->op == E_CONST && e->args[0]->fval == 2;
    if (power) {
        return -most_of(b, e->args[1]);
    }
    Expr *whole = e->op == E_CAST ? bounds_definition(b, e->args[0]) : e;
    bool one = whole->op == E_CALL && whole->fn == FN_IPOW &&
               whole->args[0]->op == E_CONST && whole->args[0]->ival == 2;
    return one && most_of(b, whole->args[1]) <= 0 ? 0 : -1;
}

/* The integer that the float 'e' is made of; NULL. */
static Expr *
whole_of(Bounds *b, Expr *e)
{
    e = bounds_definition(b, e);
    return e->op == E_CAST && e->dtype == DT_F64 &&
                   bounds_is_number(e->args[0])
               ? e->args[0]
               : NULL;
}

/* A product with a share, or a quotient by a number from 1 on; -1: neither. */
static int
shift_beside(Bounds *b, const Expr *e, int which)
{
    if (e->op == E_MUL) {
        return shift_of(b, e->args[1 - which], MAX_DEPTH_SHARE);
    }
    const Expr *by = e->args[1];
    bool grows = which > 0 || by->op != E_CONST || !(by->fval >= 1);
    return grows ? -1 : by->fval >= 4 ? 2 : by->fval >= 2 ? 1 : 0;
}

/* Both arms are shares of one integer. */
static Expr *
share_of_both(Bounds *b, const Expr *e, int *shift)
{
    int other = 0;
    Expr *yes = share_of(b, e->args[1], shift);
    Expr *no = yes != NULL ? share_of(b, e->args[2], &other) : NULL;
    *shift = other < *shift ? other : *shift;
    return no != NULL && ir_equal(yes, no) ? yes : NULL;
}

/* The integer, at most 2^53 from 0, of which the float 'e' is at most the
 * 2^shift-th part; NULL. */
Expr *
share_of(Bounds *b, Expr *e, int *shift)
{
    e = bounds_definition(b, e);
    if (e->dtype != DT_F64 || e->lanes > 0 || b->fuel-- <= 0) {
        return NULL;
    }
    if (e->op == E_SELECT) {
        return share_of_both(b, e, shift);
    }
    if (e->op == E_ADD && e->args[1]->op == E_CONST && e->args[1]->fval == 0) {
        return share_of(b, e->args[0], shift);
    }
    for (int i = 0; i < 2 && (e->op == E_MUL || e->op == E_DIV); i++) {
        Expr *whole = whole_of(b, e->args[i]);
        *shift = whole == NULL ? -1 : shift_beside(b, e, i);
        if (*shift >= 0) {
            Range of = bounds_range(b, whole);
            return of.lo >= -EXACT && of.hi <= EXACT ? whole : NULL;
        }
    }
    return NULL;
}

/* Where a float lies that is to be cast to an integer: a share of one. */
Range
share_range(Bounds *b, Expr *e)
{
    int shift = 0;
    Expr *whole = share_of(b, e, &shift);
    return whole == NULL ? range_of(-WIDE_INF, WIDE_INF)
                         : range_join(bounds_range(b, whole), range_of(0, 0));
}

/* Does a comparison of a share with a number beyond 2^53 hold? */
bool
share_proves(Bounds *b, const Expr *cond)
{
    int shift = 0;
    if ((cond->op != E_LE && cond->op != E_LT) || cond->lanes > 0 ||
        cond->args[0]->dtype != DT_F64) {
        return false;
    }
    Expr *lhs = cond->args[0];
    Expr *rhs = cond->args[1];
    if (lhs->op == E_CONST && lhs->fval < -(double)EXACT) {
        return share_of(b, rhs, &shift) != NULL;
    }
    return rhs->op == E_CONST && rhs->fval > (double)EXACT &&
           share_of(b, lhs, &shift) != NULL;
}

/* Was it tested that this very power fits? */
static bool
is_tested(Bounds *b, const Expr *power)
{
    for (int i = 0; i < b->known.n; i++) {
        const Expr *cond = b->known.at[i].cond;
        if (!b->known.at[i].holds && cond->op == E_CALL &&
            cond->fn == FN_IPOWO && ir_equal(cond->args[0], power->args[0]) &&
            ir_equal(cond->args[1], power->args[1])) {
            return true;
        }
    }
    return false;
}

/* A power of two by an exponent not below 0 is positive, if it fits. */
Range
share_power(Bounds *b, Expr *e)
{
    Range none = range_of(-WIDE_INF, WIDE_INF);
    if (e->fn != FN_IPOW || e->args[0]->op != E_CONST ||
        e->args[0]->ival != 2) {
        return none;
    }
    Range exp = bounds_range(b, e->args[1]);
    if (exp.lo < 0 && has_sign(b, e->args[1], 1)) {
        exp.lo = 0;
    }
    if (exp.lo < 0 || exp.lo > 62 || (exp.hi > 62 && !is_tested(b, e))) {
        return none;
    }
    Wide most = exp.hi < 62 ? exp.hi : 62;
    return range_of((Wide)1 << (int)exp.lo, (Wide)1 << (int)most);
}
