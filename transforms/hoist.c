/* One check taken out of the loops around it.
 *
 *     for y in 0 .. h {                     check or(le(h, 0),
 *         for x in 0 .. w {                          le(h, dim(b, 0))) bail
 *             check lt(y, dim(b, 0))   ->
 *
 * The condition is a conjunction; each part that is a comparison of integers
 * is a form >= 0, for which bounds_weaken finds what must hold at a place
 * outside: the entry of the function if possible, else before the outermost
 * loop where all atoms are known.  Such a condition may ask for more than the
 * program needs, so failing it means BAIL: the general kernel decides.  It
 * must not fail for good where the program is right, therefore a loop that
 * runs no round and a branch not taken excuse it ("or").
 *
 * What is computed early must not wrap, else it would pass by mistake: scalar
 * parameters of unknown size first get a check of their own (|k| <= 2^30).
 */
#include "transforms/hoist.h"


/* --- what can be computed at a place ------------------------------------- */

/* A place, for the callbacks of bounds_weaken: its number in "h". */
typedef struct Where {
    Hoist *h;
    int place;
} Where;

/* Can 'e' be computed at the place: no memory, no unknown Var, no division
 * that might trap? */
static bool
is_computable(void *data, const Expr *e)
{
    const Where *where = data;
    int64_t divisor = 0;
    switch (e->op) {
    case E_VAR:
        return scope_sees(&where->h->scope,
                          where->h->places.at[where->place].visible, e);
    case E_DIM:
    case E_STRIDE:
        return e->buf->kind == BUF_ARG;
    case E_LOAD:
    case E_SUM:
    case E_CALL:
    case E_DIV:
        return false;
    case E_IDIV:
    case E_MOD:
        if (!ir_const_int(e->args[1], &divisor) || divisor <= 0) {
            return false;
        }
        break;
    default:
        break;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_computable(data, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* All atoms of 'form' can be computed at the place. */
static bool
is_form_computable(Where *where, const Linear *form)
{
    for (int i = 0; i < form->terms.n; i++) {
        if (!is_computable(where, form->terms.at[i].atom)) {
            return false;
        }
    }
    return true;
}

/* Comparisons and logic of visible values: no arithmetic of floats, which
 * could raise a flag. */
static bool
is_plain(Where *where, const Expr *e)
{
    bool logic = e->dtype == DT_BOOL || dtype_is_int(e->dtype);
    if (!is_computable(where, e) || e->lanes != 0) {
        return false;
    }
    if (!logic) {
        return e->op == E_VAR || e->op == E_CONST;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_plain(where, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* --- putting checks at a place ------------------------------------------- */

/* What holds at the place: the checks of the entry and those put there since.
 * Made when it is first asked for; it knows nothing of the loops around, which
 * is only a loss. */
static Bounds *
known_at(Hoist *h, int place)
{
    Place *target = &h->places.at[place];
    if (target->known == NULL) {
        const Block *entry = &h->places.at[0].checks;
        target->known = bounds_new(h->arena, h->func);
        for (int i = 0; i < entry->n; i++) {
            bounds_assume(target->known, entry->at[i]->value, true);
        }
    }
    return target->known;
}

/* Adds the check 'cond' at 'place' unless it is implied by those already
 * there. It holds from the place on, so also where the walk stands. */
static void
put_check(Hoist *h, int place, const Stmt *check, Expr *cond)
{
    Bounds *known = known_at(h, place);
    if (!bounds_proves(known, cond)) {
        vec_push(h->arena, &h->places.at[place].checks,
                 ir_check(h->arena, cond, check->exc, ACT_BAIL, check->loc));
        bounds_assume(known, cond, true);
    }
    bounds_assume(h->here, cond, true);
}

/* Is 'part' one of the alternatives of 'sum' already? */
static bool
has_part(const Expr *sum, const Expr *part)
{
    return ir_equal(sum, part) ||
           (sum->op == E_OR &&
            (has_part(sum->args[0], part) || has_part(sum->args[1], part)));
}

/* Excuses of a nest repeat themselves; each is written once. */
static Expr *
either(Hoist *h, Expr *lhs, Expr *rhs)
{
    if (lhs == NULL || has_part(lhs, rhs)) {
        return lhs == NULL ? rhs : lhs;
    }
    return ir_binary(h->arena, E_OR, lhs, rhs);
}

/* Only what the caller passes is assumed to be of moderate size. */
static bool
is_param(const Hoist *h, const Var *var)
{
    for (int i = 0; i < h->func->params.n; i++) {
        if (h->func->params.at[i].var == var) {
            return true;
        }
    }
    return false;
}

/* Does the exact value of 'e' surely fit i64 at the place?  What might wrap
 * has all of i64 as its interval; the end of a loop, asked for by name, is
 * there already, and so has fitted. */
static bool
is_moderate(Hoist *h, int place, Expr *e)
{
    int64_t lo = 0;
    int64_t hi = 0;
    if (h->by_name && e->op == E_VAR && !is_param(h, e->var)) {
        return true;
    }
    bounds_interval(known_at(h, place), e, &lo, &hi);
    return lo > INT64_MIN && hi < INT64_MAX;
}

/* A check that every parameter of unknown size in 'e' is moderate, that is
 * within 2^30 of 0: products of two such, and sums of a few, are far from the
 * ends of i64. A larger one is the general kernel's. */
static void
put_moderate(Hoist *h, int place, const Stmt *check, Expr *e)
{
    if (e->op == E_VAR && e->dtype == DT_I64 && is_param(h, e->var) &&
        !is_moderate(h, place, e)) {
        Arena *arena = h->arena;
        Expr *least = ir_int(arena, DT_I64, -MODERATE);
        Expr *most = ir_int(arena, DT_I64, MODERATE);
        Expr *cond = ir_binary(arena, E_AND,
                               ir_binary(arena, E_LE, least, e),
                               ir_binary(arena, E_LE, e, most));
        put_check(h, place, check, cond);
    }
    for (int i = 0; i < e->nargs; i++) {
        put_moderate(h, place, check, e->args[i]);
    }
}

/* The positive (negative) terms of 'form', negated where they were negative,
 * as an expression without subtractions. */
static Expr *
side_of(Hoist *h, const Linear *form, bool positive)
{
    Linear side = linear_const(0);
    if ((form->constant > 0) == positive) {
        side.constant = positive ? form->constant : -form->constant;
    }
    for (int i = 0; i < form->terms.n; i++) {
        Term term = form->terms.at[i];
        if ((term.coef > 0) == positive) {
            term.coef = positive ? term.coef : -term.coef;
            vec_push(h->arena, &side.terms, term);
        }
    }
    return linear_expr(h->arena, &side);
}

/* Can all its numbers be negated? */
static bool
is_negatable(const Linear *form)
{
    bool ok = form->constant != INT64_MIN;
    for (int i = 0; i < form->terms.n; i++) {
        ok = ok && form->terms.at[i].coef != INT64_MIN;
    }
    return ok;
}

/* 'form' >= 0 as negative terms <= positive terms; NULL: a side might wrap,
 * and a wrapped side would decide anything. May put checks of the size of
 * parameters first ('may_put').
 *
 *     h - 2 - i >= 0   ->   le(add(i, 2), h) */
static Expr *
form_test(Hoist *h, int place, const Stmt *check, const Linear *form,
          bool may_put)
{
    if (!is_negatable(form)) {
        return NULL;
    }
    Expr *more = side_of(h, form, true);
    Expr *less = side_of(h, form, false);
    bool fits = is_moderate(h, place, more) && is_moderate(h, place, less);
    if (!fits && may_put) {
        put_moderate(h, place, check, more);
        put_moderate(h, place, check, less);
        fits = is_moderate(h, place, more) && is_moderate(h, place, less);
    }
    return fits ? ir_binary(h->arena, E_LE, less, more) : NULL;
}

/* --- excuses ------------------------------------------------------------- */

/* The loop runs no round: hi <= lo, as a condition at the place; NULL: can't
 * be said there, or the loop is known to run. Leaving an excuse out is safe:
 * the check then fails a little more often, and BAIL decides. */
static Expr *
no_rounds(Hoist *h, int place, const Stmt *check, const Stmt *loop)
{
    Where where = {h, place};
    Linear lo;
    Linear hi;
    Linear empty;
    if (loop->kind != S_FOR || !bounds_linear(h->here, loop->lo, &lo) ||
        !bounds_linear(h->here, loop->hi, &hi) ||
        !linear_sum(h->arena, &lo, 1, &hi, -1, &empty) ||
        !is_form_computable(&where, &empty)) {
        return NULL;
    }
    Expr *cond = form_test(h, place, check, &empty, false);
    bool runs = cond != NULL && bounds_refutes(known_at(h, place), cond);
    return runs ? NULL : cond;
}

/* As no_rounds, with the ends by the names that the loop has for them. */
static Expr *
no_rounds_by_name(Hoist *h, int place, const Stmt *loop)
{
    Where where = {h, place};
    bool named = loop->kind == S_FOR && is_plain(&where, loop->lo) &&
                 is_plain(&where, loop->hi) && loop->lo->nargs == 0 &&
                 loop->hi->nargs == 0;
    return named ? ir_binary(h->arena, E_LE, loop->hi, loop->lo) : NULL;
}

/* Why a check inside may fail to matter: a loop without rounds, a branch not
 * taken; NULL: no excuse. */
static Expr *
excuses(Hoist *h, int place, const Stmt *check)
{
    Where where = {h, place};
    Expr *sum = NULL;
    for (int i = place; i < h->places.n; i++) {
        const Stmt *loop = h->places.at[i].loop;
        Expr *cond = loop != NULL ? no_rounds(h, place, check, loop) : NULL;
        if (cond == NULL && loop != NULL) {
            cond = no_rounds_by_name(h, place, loop);
        }
        if (cond != NULL) {
            sum = either(h, sum, cond);
        }
    }
    for (int i = h->places.at[place].conds; i < h->conds.n; i++) {
        Taken taken = h->conds.at[i];
        if (is_plain(&where, taken.cond)) {
            Expr *not_taken = taken.holds
                ? ir_unary(h->arena, E_NOT, taken.cond) : taken.cond;
            sum = either(h, sum, not_taken);
        }
    }
    return sum;
}

/* --- parts of a condition ------------------------------------------------ */

/* rhs - lhs - gap as a form, through definitions. */
static bool
push_difference(Hoist *h, Expr *lhs, Expr *rhs, int64_t gap, LinearVec *out)
{
    Linear left;
    Linear right;
    Linear form;
    if (!bounds_linear(h->here, lhs, &left) ||
        !bounds_linear(h->here, rhs, &right) ||
        !linear_sum(h->arena, &right, 1, &left, -1, &form) ||
        __builtin_sub_overflow(form.constant, gap, &form.constant)) {
        return false;
    }
    vec_push(h->arena, out, form);
    return true;
}

/* The exact result of an i64 overflow test's operation is within half of the
 * dtype: limit - exact >= 0 and limit + exact >= 0. Half is asked for so that
 * the forms' own constants stay clear of the ends of i64. */
static bool
push_overflow(Hoist *h, const Expr *test, LinearVec *out)
{
    DType dtype = test->args[0]->dtype;
    Linear lhs;
    Linear rhs;
    Linear exact;
    if (dtype != DT_I64 || !bounds_linear(h->here, test->args[0], &lhs) ||
        !bounds_linear(h->here, test->args[1], &rhs)) {
        return false;
    }
    bool ok = test->op == E_MULO
        ? linear_product(h->arena, &lhs, &rhs, &exact)
        : linear_sum(h->arena, &lhs, 1, &rhs, test->op == E_ADDO ? 1 : -1,
                     &exact);
    Linear limit = linear_const(INT64_MAX / 2);
    Linear below;
    Linear above;
    if (!ok || !linear_sum(h->arena, &limit, 1, &exact, -1, &below) ||
        !linear_sum(h->arena, &limit, 1, &exact, 1, &above)) {
        return false;
    }
    vec_push(h->arena, out, below);
    vec_push(h->arena, out, above);
    return true;
}

/* 'cond' as forms that must be >= 0; false: it is no comparison of integers,
 * and 'out' may hold a part. Inequality is none, being one of two. */
static bool
forms_of(Hoist *h, const Expr *cond, LinearVec *out)
{
    switch (cond->op) {
    case E_LT:
        return push_difference(h, cond->args[0], cond->args[1], 1, out);
    case E_LE:
        return push_difference(h, cond->args[0], cond->args[1], 0, out);
    case E_EQ:
        return push_difference(h, cond->args[0], cond->args[1], 0, out) &&
               push_difference(h, cond->args[1], cond->args[0], 0, out);
    case E_NOT: {
        Op op = cond->args[0]->op;
        return (op == E_ADDO || op == E_SUBO || op == E_MULO) &&
               push_overflow(h, cond->args[0], out);
    }
    default:
        return false;
    }
}

/* Can the form be >= 0 for empty arrays only?  Then the test is of no use: it
 * fails in every call that does anything. */
static bool
is_for_empty(const Linear *form)
{
    bool empty = form->terms.n > 0 && form->constant <= 0;
    for (int i = 0; empty && i < form->terms.n; i++) {
        const Term *term = &form->terms.at[i];
        empty = term->coef < 0 && term->atom->op == E_DIM;
    }
    return empty;
}

/* Notes that the pictures among the arguments in 'e' have 8 rows and columns or
 * more. */
static void
assume_pictures(Hoist *h, const Expr *e)
{
    if (e->op == E_DIM && e->axis < 2 && e->buf->rank >= 2) {
        Expr *least = ir_int(h->arena, DT_I64, 8);
        Expr *dim = ir_dim(h->arena, e->buf, e->axis);
        bounds_assume(h->here, ir_binary(h->arena, E_LE, least, dim), true);
    }
    for (int i = 0; i < e->nargs; i++) {
        assume_pictures(h, e->args[i]);
    }
}

/* The condition of the first SELECT in 'e'; NULL: there is none. */
static Expr *
choice_in(const Expr *e)
{
    Expr *cond = e->op == E_SELECT ? e->args[0] : NULL;
    for (int i = 0; i < e->nargs && cond == NULL; i++) {
        cond = choice_in(e->args[i]);
    }
    return cond;
}

/* What SELECTs by "cond" give where it is "holds". */
typedef struct Choice {
    Arena *arena;
    const Expr *cond;
    bool holds;
} Choice;

/* For ir_map. */
static Expr *
choose(void *data, Expr *e)
{
    const Choice *choice = data;
    if (e->op == E_SELECT && ir_equal(e->args[0], choice->cond)) {
        return e->args[choice->holds ? 1 : 2];
    }
    return e;
}

/* Would the test fail whenever the check is reached, but for tiny pictures, or
 * whenever one of its conditions is decided so or so?  It asks for more than
 * the program needs, and then for too much: the fast kernel would never come to
 * its loops. */
static bool
is_hopeless(Hoist *h, Expr *test)
{
    int scope = bounds_push(h->here);
    assume_pictures(h, test);
    bool hopeless = bounds_refutes(h->here, test);
    Choice choice = {h->arena, choice_in(test), true};
    if (choice.cond != NULL) {
        hopeless |= bounds_refutes(h->here, ir_map(h->arena, test, choose,
                                                   &choice));
        choice.holds = false;
        hopeless |= bounds_refutes(h->here, ir_map(h->arena, test, choose,
                                                   &choice));
    }
    bounds_pop(h->here, scope);
    return hopeless;
}

/* Put at 'place' what makes all of 'forms' >= 0 here; false: nothing but
 * perhaps checks of moderate size was put. All tests are made before the first
 * is put, so that a part of a condition never leaves alone. */
static bool
hoist_forms(Hoist *h, int place, const Stmt *check, const LinearVec *forms)
{
    Where where = {h, place};
    LinearVec needed = {0};
    ExprVec tests = {0};
    for (int i = 0; i < forms->n; i++) {
        if (!bounds_weaken(h->here, &forms->at[i], is_computable, &where,
                           check->exc == X_OVERFLOW, &needed)) {
            return false;
        }
    }
    for (int i = 0; i < needed.n; i++) {
        if (is_for_empty(&needed.at[i])) {
            return false;
        }
        Expr *test = form_test(h, place, check, &needed.at[i], true);
        if (test == NULL || is_hopeless(h, test)) {
            return false;
        }
        vec_push(h->arena, &tests, test);
    }
    for (int i = 0; i < tests.n; i++) {
        Expr *excuse = excuses(h, place, check);
        put_check(h, place, check, either(h, excuse, tests.at[i]));
    }
    return true;
}

/* 'form' with the variable of the place's loop at the end where the form is
 * least, by the name that the loop has for that end; false: there is none.
 *
 *     dim(a, 0) - 1 - i >= 0   ->   dim(a, 0) - hi >= 0 */
static bool
at_named_end(Hoist *h, int place, const Linear *form, Linear *out)
{
    Where where = {h, place};
    const Stmt *loop = h->places.at[place].loop;
    Linear var = linear_atom(h->arena, ir_ref(h->arena, loop->var));
    int64_t coef = linear_coef(form, var.terms.at[0].atom);
    Expr *end = coef < 0 ? loop->hi : loop->lo;
    Linear last = linear_atom(h->arena, end);
    last.constant = coef < 0 ? -1 : 0;
    return coef != 0 && coef > -MODERATE && coef < MODERATE &&
           end->op == E_VAR && is_computable(&where, end) &&
           linear_sum(h->arena, form, 1, &var, -coef, out) &&
           linear_sum(h->arena, out, 1, &last, coef, out) &&
           is_form_computable(&where, out);
}

/* Put at 'place' what makes all of 'forms' >= 0 in every round of its loop,
 * where bounds_weaken finds nothing since it sees through the name of an end
 * to what is not visible there: the sides of a branch, a float. Of such an end
 * nothing is known, so a condition around the check may well be what keeps the
 * program right: then the check stays. */
static bool
hoist_ends(Hoist *h, int place, const Stmt *check, const LinearVec *forms)
{
    const Stmt *loop = h->places.at[place].loop;
    bool always = h->conds.n == h->places.at[place].conds;
    ExprVec tests = {0};
    if (loop == NULL || loop->kind != S_FOR || loop->until != NULL || !always) {
        return false;
    }
    for (int i = 0; i < forms->n; i++) {
        Linear end;
        Expr *test = NULL;
        if (at_named_end(h, place, &forms->at[i], &end)) {
            h->by_name = true;
            test = form_test(h, place, check, &end, true);
            h->by_name = false;
        }
        if (test == NULL || is_hopeless(h, test)) {
            return false;
        }
        vec_push(h->arena, &tests, test);
    }
    for (int i = 0; i < tests.n; i++) {
        Expr *excuse = excuses(h, place, check);
        put_check(h, place, check, either(h, excuse, tests.at[i]));
    }
    return tests.n > 0;
}

/* Is it known at 'place' which branches around the check are taken?  A divisor
 * that is 0 where nothing is divided by it must not fail. */
static bool
knows_branches(Hoist *h, int place)
{
    Where where = {h, place};
    for (int i = h->places.at[place].conds; i < h->conds.n; i++) {
        if (!is_plain(&where, h->conds.at[i].cond)) {
            return false;
        }
    }
    return true;
}

/* By forms, else as it stands where all it needs is known there. */
static bool
hoist_part_to(Hoist *h, int place, const Stmt *check, Expr *part)
{
    Where where = {h, place};
    LinearVec forms = {0};
    if (forms_of(h, part, &forms) &&
        (hoist_forms(h, place, check, &forms) ||
         hoist_ends(h, place, check, &forms))) {
        return true;
    }
    if (!is_plain(&where, part) || !knows_branches(h, place)) {
        return false;
    }
    Expr *excuse = excuses(h, place, check);
    put_check(h, place, check, either(h, excuse, part));
    return true;
}

/* True if 'part' need not be tested here any more: it is proved, or tested at
 * the outermost place where that can be done. Outside of loops only checks
 * after visible stores are worth moving (to the entry), so that these stores
 * need not be undone. */
static bool
hoist_part(Hoist *h, const Stmt *check, Expr *part)
{
    if (bounds_proves(h->here, part)) {
        return true;
    }
    if (part->op == E_CONST || (h->places.n == 1 && !h->stored)) {
        return false;
    }
    for (int place = 0; place < h->places.n; place++) {
        if (hoist_part_to(h, place, check, part)) {
            h->hoisted++;
            return true;
        }
    }
    return false;
}

/* What is left of the conjunction 'cond'; NULL: nothing. */
static Expr *
hoist_cond(Hoist *h, const Stmt *check, Expr *cond)
{
    if (cond->op == E_VAR) {
        Expr *value = map_get(&h->lets, cond->var);
        cond = value != NULL ? value : cond;
    }
    if (cond->op != E_AND) {
        return hoist_part(h, check, cond) ? NULL : cond;
    }
    Expr *lhs = hoist_cond(h, check, cond->args[0]);
    Expr *rhs = hoist_cond(h, check, cond->args[1]);
    if (lhs == NULL || rhs == NULL) {
        return lhs != NULL ? lhs : rhs;
    }
    return lhs == cond->args[0] && rhs == cond->args[1]
        ? cond : ir_binary(h->arena, E_AND, lhs, rhs);
}

/* The check is changed in place: the walk has copied it. */
Stmt *
hoist_check(Hoist *h, Stmt *check)
{
    Expr *left = hoist_cond(h, check, check->value);
    if (left == NULL) {
        return NULL;
    }
    check->value = left;
    return check;
}
