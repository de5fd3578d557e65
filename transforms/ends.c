/* Between which ends does an index stay, in terms of what is known before?
 *
 *     for x in 0..h {                     int(x / 2):  from int(0 / 2)
 *         ... a[int(x / 2)] ...                        to   int((h - 1) / 2)
 *
 * Most operations of indices never fall as an operand grows, so the ends of
 * the result are the operation of the operands' ends.  A loop's variable goes
 * from its lo to its hi - 1, a definition is looked through, and what is
 * visible before the statement stands for itself.
 *
 * Wrapping would break the order, so beside each end goes a number that it
 * does not pass, and no sum or product may leave LIMIT.  A loop of more than
 * MAX_ROUNDS rounds does not end in a month: whatever is said of its further
 * rounds, no one will see it.
 */
#include <math.h>

#include "transforms/box.h"

enum { MAX_STEPS = 256 };

#define LIMIT 0x1p62
#define MAX_ROUNDS 0x1p52

/* lo <= the value <= hi in every round; all three are within min .. max. */
typedef struct Ends {
    Expr *lo;
    Expr *hi;
    double min;
    double max;
} Ends;

/* The search: "steps" bounds its effort. */
typedef struct Finder {
    const Place *at;
    const Map *defs;
    int steps;
} Finder;

static bool find_ends(Finder *f, Expr *e, Ends *out);

/* 'e' in terms of what is visible before the statement, where it is the same
 * in all rounds; NULL: it is not. */
static Expr *
outside(Finder *f, Expr *e)
{
    const Place *at = f->at;
    if (f->steps-- <= 0 || ir_reads(e) || uses_made_extent(e)) {
        return NULL;
    }
    if (e->op == E_VAR && !scope_sees(at->scope, at->scope->visible.n, e)) {
        const Stmt *def = map_get(f->defs, e->var);
        return def != NULL && def->kind == S_LET ? outside(f, def->value)
                                                 : NULL;
    }
    if (e->nargs == 0 || (scope_sees(at->scope, at->scope->visible.n, e) &&
                          !ir_has_load(e))) {
        return e;
    }
    Expr **args = ARENA_ARRAY(at->arena, Expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = outside(f, e->args[i]);
        if (args[i] == NULL) {
            return NULL;
        }
    }
    return ir_with_args(at->arena, e, args);
}

static bool
ends_of_outside(const Finder *f, Expr *e, Ends *out)
{
    *out = (Ends){e, e, -INFINITY, INFINITY};
    if (dtype_is_int(e->dtype)) {
        int64_t min = 0;
        int64_t max = 0;
        bounds_interval(f->at->bounds, e, &min, &max);
        out->min = (double)min;
        out->max = (double)max;
    } else if (e->op == E_CONST) {
        out->min = out->max = e->fval;
    }
    return true;
}

/* From the least lo to the greatest hi - 1, which is cut where it could be
 * beyond all rounds; for a loop that may be empty it is not below lo. */
static bool
ends_of_loop(Finder *f, const Stmt *loop, Ends *out)
{
    Arena *arena = f->at->arena;
    Ends lo;
    Ends hi;
    if (!find_ends(f, loop->lo, &lo) || !find_ends(f, loop->hi, &hi) ||
        lo.min < -MAX_ROUNDS || lo.max > MAX_ROUNDS) {
        return false;
    }
    Expr *one = ir_int(arena, DT_I64, 1);
    if (hi.max > MAX_ROUNDS) {
        Expr *most = ir_int(arena, DT_I64, (int64_t)MAX_ROUNDS);
        hi.hi = ir_binary(arena, E_MIN, hi.hi, most);
        hi.max = MAX_ROUNDS;
    }
    if (hi.min <= lo.max) {
        Expr *first = ir_binary(arena, E_ADD, lo.lo, one);
        hi.hi = ir_binary(arena, E_MAX, hi.hi, first);
    }
    out->lo = lo.lo;
    out->hi = ir_binary(arena, E_SUB, hi.hi, one);
    out->min = lo.min;
    out->max = fmax(lo.max, hi.max - 1);
    return true;
}

/* What the statement itself defines. */
static bool
ends_of_var(Finder *f, const Var *var, Ends *out)
{
    const Stmt *def = map_get(f->defs, var);
    if (def == NULL || def->var != var) {
        return false;
    }
    return def->kind == S_FOR ? ends_of_loop(f, def, out)
                              : def->kind == S_LET &&
                                    find_ends(f, def->value, out);
}

/* The same operation of both lower and of both upper ends. */
static void
both(const Finder *f, Op op, const Ends *lhs, const Ends *rhs, Ends *out)
{
    out->lo = ir_binary(f->at->arena, op, lhs->lo, rhs->lo);
    out->hi = ir_binary(f->at->arena, op, lhs->hi, rhs->hi);
}

/* 'e' scaled by its constant second operand: products, quotients and shifts
 * grow with the first one if that is positive. */
static bool
ends_of_scaled(Finder *f, const Expr *e, Ends *out)
{
    Ends of;
    Ends by;
    if (e->args[1]->op != E_CONST || !find_ends(f, e->args[0], &of) ||
        !ends_of_outside(f, e->args[1], &by)) {
        return false;
    }
    bool times = e->op == E_MUL;
    bool shift = e->op == E_SHR;
    if (by.min < (shift ? 0 : 1) || by.min > MAX_ROUNDS) {
        return false;
    }
    both(f, e->op, &of, &by, out);
    out->min = fmin(of.min, times ? of.min * by.min : of.min < 0 ? -1 : 0);
    out->max = fmax(of.max, times ? of.max * by.min : 0);
    return !times || (out->min > -LIMIT && out->max < LIMIT);
}

static bool
ends_of_binary(Finder *f, const Expr *e, Ends *out)
{
    Ends lhs;
    Ends rhs;
    if (!find_ends(f, e->args[0], &lhs) || !find_ends(f, e->args[1], &rhs)) {
        return false;
    }
    switch (e->op) {
    case E_ADD:
        both(f, E_ADD, &lhs, &rhs, out);
        out->min = lhs.min + rhs.min;
        out->max = lhs.max + rhs.max;
        break;
    case E_SUB:
        out->lo = ir_binary(f->at->arena, E_SUB, lhs.lo, rhs.hi);
        out->hi = ir_binary(f->at->arena, E_SUB, lhs.hi, rhs.lo);
        out->min = lhs.min - rhs.max;
        out->max = lhs.max - rhs.min;
        break;
    default:
        both(f, e->op, &lhs, &rhs, out);
        out->min = fmin(lhs.min, rhs.min);
        out->max = fmax(lhs.max, rhs.max);
        break;
    }
    return out->min > -LIMIT && out->max < LIMIT;
}

/* Is 'cond' a test for being negative of what never is, such as Python's for
 * an index that counts from the end? */
static bool
is_negative_test(Finder *f, const Expr *cond)
{
    Ends of;
    int64_t zero = 0;
    return cond->op == E_LT && ir_const_int(cond->args[1], &zero) &&
           zero == 0 && cond->args[0]->dtype == DT_I64 &&
           find_ends(f, cond->args[0], &of) && of.min >= 0;
}

/* Either one may be chosen. */
static bool
ends_of_select(Finder *f, const Expr *e, Ends *out)
{
    Arena *arena = f->at->arena;
    Ends yes;
    Ends no;
    if (is_negative_test(f, e->args[0])) {
        return find_ends(f, e->args[2], out);
    }
    if (!find_ends(f, e->args[1], &yes) || !find_ends(f, e->args[2], &no)) {
        return false;
    }
    out->lo = ir_binary(arena, E_MIN, yes.lo, no.lo);
    out->hi = ir_binary(arena, E_MAX, yes.hi, no.hi);
    out->min = fmin(yes.min, no.min);
    out->max = fmax(yes.max, no.max);
    return true;
}

/* i64 to f64 and back, rounding and cutting in order. */
static bool
ends_of_cast(Finder *f, const Expr *e, Ends *out)
{
    Ends of;
    DType from = e->args[0]->dtype;
    bool known = (e->dtype == DT_I64 && from == DT_F64) ||
                 (e->dtype == DT_F64 && from == DT_I64);
    if (!known || !find_ends(f, e->args[0], &of) || of.min < -LIMIT ||
        of.max > LIMIT) {
        return false;
    }
    *out = of;
    out->lo = ir_cast(f->at->arena, e->dtype, of.lo);
    out->hi = ir_cast(f->at->arena, e->dtype, of.hi);
    return true;
}

static bool
find_ends(Finder *f, Expr *e, Ends *out)
{
    if (e->lanes > 0 || f->steps-- <= 0) {
        return false;
    }
    Expr *fixed = outside(f, e);
    if (fixed != NULL) {
        return ends_of_outside(f, fixed, out);
    }
    bool number = e->dtype == DT_I64;
    switch (e->op) {
    case E_VAR:
        return ends_of_var(f, e->var, out);
    case E_ADD:
    case E_SUB:
    case E_MIN:
    case E_MAX:
        return number && ends_of_binary(f, e, out);
    case E_MUL:
    case E_IDIV:
    case E_SHR:
        return number && ends_of_scaled(f, e, out);
    case E_DIV:
        return e->dtype == DT_F64 && ends_of_scaled(f, e, out);
    case E_SELECT:
        return number && ends_of_select(f, e, out);
    case E_CAST:
        return ends_of_cast(f, e, out);
    default:
        return false;
    }
}

Expr *
box_end(const Place *at, const Map *defs, Expr *index, bool upper)
{
    Finder f = {at, defs, MAX_STEPS};
    Ends ends;
    if (!find_ends(&f, index, &ends)) {
        return NULL;
    }
    return upper ? ends.hi : ends.lo;
}
