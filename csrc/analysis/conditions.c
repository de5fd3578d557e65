/* Is a condition known to be true, or false?
 *
 *     i < n and n <= dim(a, 0)   known
 *     i < dim(a, 0)              dim(a, 0) - i - 1 >= 0: proved by prove.c
 *     i - n overflows            no: it is between -n and 0
 *
 * A condition is taken apart by its operator as bounds_assume_in does when it
 * is learned; comparisons of integers become goals for prove.c, and what no
 * arithmetic covers is looked up among what is known as a whole.
 */
#include "csrc/analysis/bounds.h"

/* Newest first: an inner branch's condition is asked for most. */
bool
prove_known(const Bounds *b, const Expr *cond, bool holds)
{
    for (int i = b->known.n - 1; i >= 0; i--) {
        const Known *known = &b->known.at[i];
        if (known->holds == holds && ir_equal(known->cond, cond)) {
            return true;
        }
    }
    return false;
}

/* lhs - rhs - gap >= 0? */
static bool
prove_difference(Bounds *b, const Linear *lhs, const Linear *rhs, int64_t gap)
{
    Linear diff;
    return linear_sum(b->arena, lhs, 1, rhs, -1, &diff) &&
           !__builtin_sub_overflow(diff.constant, gap, &diff.constant) &&
           prove_nonneg(b, &diff, MAX_DEPTH);
}

/* Have the two no value in common, by their ranges? Also tells numbers at the
 * ends of i64 apart, of which forms can't take the difference. */
static bool
ranges_differ(Bounds *b, const Linear *lhs, const Linear *rhs)
{
    Range left = bounds_form_range(b, lhs);
    Range right = bounds_form_range(b, rhs);
    return left.hi < right.lo || right.hi < left.lo;
}

/* Is 'diff' not 0? One side is greater in all cases, or in each of the cases of
 * a SELECT for itself: select(down, -1, 1) is no 0. */
static bool
prove_distinct(Bounds *b, const Linear *diff, int depth)
{
    Linear zero = linear_const(0);
    if (prove_difference(b, diff, &zero, 1) ||
        prove_difference(b, &zero, diff, 1)) {
        return true;
    }
    for (int i = 0; i < diff->terms.n && depth > 0; i++) {
        Term term = diff->terms.at[i];
        if (term.atom->op != E_SELECT) {
            continue;
        }
        Linear rest = prove_without(b, diff, i);
        bool ok = true;
        for (int arm = 0; arm < 2 && ok; arm++) {
            int mark = bounds_push(b);
            bounds_assume_in(b, term.atom->args[0], arm == 0);
            Linear value = bounds_form(b, term.atom->args[1 + arm]);
            ok = linear_sum(b->arena, &rest, 1, &value, term.coef, &value) &&
                 prove_distinct(b, &value, depth - 1);
            bounds_pop(b, mark);
        }
        return ok;
    }
    return false;
}

/* Equality is two goals, inequality either of two, also case by case. */
static bool
prove_compare(Bounds *b, const Expr *cond, bool holds)
{
    if (!bounds_is_number(cond->args[0])) {
        Expr *whole = floats_as_ints(b, cond);
        return (whole != NULL && prove_compare(b, whole, holds)) ||
               floats_prove(b, cond, holds);
    }
    Linear lhs = bounds_form(b, cond->args[0]);
    Linear rhs = bounds_form(b, cond->args[1]);
    if (cond->op == E_LT) {
        return holds ? prove_difference(b, &rhs, &lhs, 1)
                     : prove_difference(b, &lhs, &rhs, 0);
    }
    if (cond->op == E_LE) {
        return holds ? prove_difference(b, &rhs, &lhs, 0)
                     : prove_difference(b, &lhs, &rhs, 1);
    }
    if ((cond->op == E_EQ) == holds) {
        return prove_difference(b, &lhs, &rhs, 0) &&
               prove_difference(b, &rhs, &lhs, 0);
    }
    Linear diff;
    return ranges_differ(b, &lhs, &rhs) ||
           (linear_sum(b->arena, &lhs, 1, &rhs, -1, &diff) &&
            prove_distinct(b, &diff, 3));
}

/* end >= form ('above'), or form >= end?  An end of i64 leaves the prover's own
 * arithmetic no room, so a part of the way to it is tried as well. */
static bool
prove_end(Bounds *b, const Linear *form, Wide end, bool above)
{
    enum { PART = 64 };
    for (int part = PART; part >= 1; part /= PART) {
        Linear limit = linear_const((int64_t)(end / part));
        if (above ? prove_difference(b, &limit, form, 0)
                  : prove_difference(b, form, &limit, 0)) {
            return true;
        }
    }
    return false;
}

/* Does the exact result of an overflow test's operation fit (or never fit) its
 * dtype? By its range; that it fits also by what relates the operands, such as
 * n - i for i < n. */
static bool
prove_overflow(Bounds *b, const Expr *cond, bool holds)
{
    Linear lhs = bounds_form(b, cond->args[0]);
    Linear rhs = bounds_form(b, cond->args[1]);
    Linear result;
    bool ok = cond->op == E_MULO
        ? linear_product(b->arena, &lhs, &rhs, &result)
        : linear_sum(b->arena, &lhs, 1, &rhs, cond->op == E_ADDO ? 1 : -1,
                     &result);
    if (!ok || !bounds_is_number(cond->args[0])) {
        return false;
    }
    Range exact = bounds_form_range(b, &result);
    Range dtype = bounds_dtype_range(cond->args[0]->dtype);
    if (holds) {
        return exact.lo > dtype.hi || exact.hi < dtype.lo;
    }
    return range_inside(exact, dtype) ||
           (dtype.hi <= INT64_MAX &&
            (exact.lo >= dtype.lo || prove_end(b, &result, dtype.lo, false)) &&
            (exact.hi <= dtype.hi || prove_end(b, &result, dtype.hi, true)));
}

/* 'lhs' and 'rhs' both, each for itself. */
static bool
prove_both(Bounds *b, const Expr *cond, bool holds)
{
    return prove_cond(b, cond->args[0], holds) &&
           prove_cond(b, cond->args[1], holds);
}

/* One side, or the second where the first does not hold: a or b is proved by b
 * under the assumption of not a. */
static bool
prove_either(Bounds *b, const Expr *cond, bool holds)
{
    if (prove_cond(b, cond->args[0], holds)) {
        return true;
    }
    int mark = bounds_push(b);
    bounds_assume_in(b, bounds_freeze(b, cond->args[0]), !holds);
    bounds_wake(b);
    bool ok = prove_cond(b, cond->args[1], holds);
    bounds_pop(b, mark);
    return ok;
}

/* Is 'cond' known to be true ('holds') or false? Mirrors bounds_assume_in:
 * takes 'cond' apart and asks for the parts. A Var is asked for by its
 * definition; a SELECT must give the answer in both arms. */
bool
prove_cond(Bounds *b, Expr *cond, bool holds)
{
    if (cond->dtype != DT_BOOL || cond->lanes != 0 || b->fuel-- <= 0) {
        return false;
    }
    if (prove_known(b, cond, holds)) {
        return true;
    }
    switch (cond->op) {
    case E_CONST:
        return (cond->ival != 0) == holds;
    case E_NOT:
        return prove_cond(b, cond->args[0], !holds);
    case E_AND:
    case E_OR:
        return (cond->op == E_AND) == holds ? prove_both(b, cond, holds)
                                            : prove_either(b, cond, holds);
    case E_SELECT:
        return prove_cond(b, cond->args[1], holds) &&
               prove_cond(b, cond->args[2], holds);
    case E_VAR: {
        Expr *value = bounds_info(b, cond->var)->value;
        return value != NULL && prove_cond(b, value, holds);
    }
    case E_EQ:
    case E_NE:
    case E_LT:
    case E_LE:
        return (holds && share_proves(b, cond)) ||
               prove_compare(b, cond, holds);
    case E_ADDO:
    case E_SUBO:
    case E_MULO:
        return prove_overflow(b, cond, holds);
    case E_CALL:
        return floats_prove_class(b, cond, holds);
    default:
        return false;
    }
}

/* Is 'cond' true ('holds') or false here?  Loads are frozen for the solver, as
 * what is known speaks of frozen ones. */
static bool
settle(Bounds *b, Expr *cond, bool holds)
{
    b->fuel = FUEL;
    bool proved = prove_cond(b, cond, holds);
    int effort = FUEL - b->fuel;
    if (cond->dtype != DT_BOOL || cond->lanes != 0 ||
        !solver_wants(proved, b->hard)) {
        return proved;
    }
    const char *script = smt_cond(b, bounds_freeze(b, cond), holds);
    return solver_settle(b->arena, script, proved, b->hard, effort);
}

void
bounds_hard(Bounds *b, bool hard)
{
    b->hard = hard;
}

/* True only if 'cond' holds whenever this place is reached. */
bool
bounds_proves(Bounds *b, Expr *cond)
{
    return settle(b, cond, true);
}

/* True only if 'cond' is false whenever this place is reached. */
bool
bounds_refutes(Bounds *b, Expr *cond)
{
    return settle(b, cond, false);
}

/* The extents of a list that grows are those of its memory, not of what it
 * holds. */
bool
bounds_in_range(Bounds *b, const Buf *buf, Expr *const *index, int n)
{
    bool there = !buf->growable;
    for (int i = 0; i < n && there; i++) {
        Expr *zero = ir_int(b->arena, DT_I64, 0);
        Expr *above = ir_binary(b->arena, E_LE, zero, index[i]);
        Expr *below = ir_binary(b->arena, E_LT, index[i], ir_extent(buf, i));
        there = index[i]->dtype == DT_I64 && bounds_proves(b, above) &&
                bounds_proves(b, below);
    }
    return there;
}
