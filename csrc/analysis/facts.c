/* Learning: definitions, loops, conditions.
 *
 *     check or(le(n, 0), le(n, dim(a, 0)))      pending: one of the two
 *     for i in 0 .. n {                         n >= 1: so n <= dim(a, 0)
 *         check lt(i, dim(a, 0))                proved
 *
 * A condition is split into comparisons of integers, each of which becomes
 * facts "form >= 0".  A fact also narrows the ranges of the Vars in it, one
 * round of interval propagation.  Conditions of other kinds (floats, flags)
 * are remembered as they stand.
 */
#include "csrc/analysis/bounds.h"

/* Narrow the range of the Var that term 'i' of 'fact' names, if it does.
 *
 *     c*v + others >= 0   ->   c*v >= -most,  most = max(others)
 *     c > 0:  v >= ceil(-most / c) = -floor(most / c)
 *     c < 0:  v <= floor(most / -c)
 *
 * Others that are unbounded say nothing of v. A range that would become empty
 * is left alone: the place is never reached, and an empty range is nothing to
 * compute with. The old range is kept for bounds_pop. */
static void
narrow_term(Bounds *b, const Linear *fact, int i)
{
    const Term *term = &fact->terms.at[i];
    Var *var = bounds_atom_var(term->atom);
    if (var == NULL) {
        return;
    }
    VarInfo *info = bounds_info(b, var);
    Wide most = fact->constant;
    for (int j = 0; j < fact->terms.n; j++) {
        Linear part = {0};
        if (j != i) {
            part.terms.at = &fact->terms.at[j];
            part.terms.n = 1;
            most = wide_add(most, bounds_form_range(b, &part).hi);
        }
    }
    if (most >= WIDE_INF) {
        return;
    }
    Range range = info->range;
    Wide size = term->coef < 0 ? -(Wide)term->coef : term->coef;
    if (term->coef > 0) {
        range.lo = wide_max(range.lo, -wide_floor_div(most, size));
    } else {
        range.hi = wide_min(range.hi, wide_floor_div(most, size));
    }
    if (range.lo <= range.hi && !range_inside(info->range, range)) {
        Saved saved = {info, info->range};
        vec_push(b->arena, &b->saved, saved);
        info->range = range;
        bounds_forget(b);
    }
}

/* Is the very same form among the facts? */
static bool
is_known_fact(const Bounds *b, const Linear *form)
{
    for (int i = 0; i < b->facts.n; i++) {
        if (linear_equal(&b->facts.at[i], form)) {
            return true;
        }
    }
    return false;
}

/* select(c, x, 0) >= 1: then c holds. The number of rounds of a loop with a
 * step is such a choice, and where it has rounds its end is known. */
static void
learn_choice(Bounds *b, const Linear *form)
{
    const Term *term = &form->terms.at[0];
    if (form->terms.n != 1 || term->atom->op != E_SELECT) {
        return;
    }
    for (int arm = 0; arm < 2; arm++) {
        int64_t value;
        Linear other = bounds_form(b, term->atom->args[1 + arm]);
        if (linear_is_const(&other, &value) &&
            wide_add(wide_mul(term->coef, value), form->constant) < 0) {
            bounds_assume_in(b, term->atom->args[0], arm != 0);
            return;
        }
    }
}

/* Notes form >= 0. Constants say nothing (or that this place is never
 * reached). When there are too many facts the old ones stay: they are of outer
 * scopes and serve more queries.
 *
 * Narrowing goes once over the terms, without a fixpoint; the prover uses the
 * fact itself where that is not enough. */
void
bounds_add_fact(Bounds *b, const Linear *form)
{
    if (form->terms.n == 0 || b->facts.n >= MAX_FACTS ||
        is_known_fact(b, form)) {
        return;
    }
    vec_push(b->arena, &b->facts, *form);
    for (int i = 0; i < form->terms.n; i++) {
        narrow_term(b, form, i);
    }
    learn_choice(b, form);
}

/* The fact lhs - rhs - 'gap' >= 0; dropped where it overflows, which is only a
 * loss. */
static void
add_difference(Bounds *b, const Linear *lhs, const Linear *rhs, int64_t gap)
{
    Linear diff;
    if (linear_sum(b->arena, lhs, 1, rhs, -1, &diff) &&
        !__builtin_sub_overflow(diff.constant, gap, &diff.constant)) {
        bounds_add_fact(b, &diff);
    }
}

/* lhs != rhs is no form >= 0, but becomes one where one side is known not to
 * be the smaller: then it is the greater by 1 at least. The proofs are kept
 * short, since conditions of this kind are frequent (x != 0). */
static void
add_distinct(Bounds *b, const Linear *lhs, const Linear *rhs)
{
    Linear diff;
    Linear back;
    if (!linear_sum(b->arena, lhs, 1, rhs, -1, &diff) ||
        !linear_sum(b->arena, rhs, 1, lhs, -1, &back)) {
        return;
    }
    if (prove_nonneg(b, &diff, 4)) {
        add_difference(b, lhs, rhs, 1);
    } else if (prove_nonneg(b, &back, 4)) {
        add_difference(b, rhs, lhs, 1);
    }
}

/* lhs < rhs is rhs - lhs - 1 >= 0, and so on: comparisons of integers become
 * differences. That a condition does not hold is the opposite comparison,
 * !(lhs < rhs) is lhs - rhs >= 0; an equality is two facts. Floats are left to
 * "known", since nan makes their opposites differ, but for integers made
 * floats. */
static void
assume_compare(Bounds *b, const Expr *cond, bool holds)
{
    if (!bounds_is_number(cond->args[0])) {
        Expr *whole = floats_as_ints(b, cond);
        if (whole != NULL) {
            assume_compare(b, whole, holds);
        }
        return;
    }
    Linear lhs = bounds_form(b, cond->args[0]);
    Linear rhs = bounds_form(b, cond->args[1]);
    switch (cond->op) {
    case E_LT:
        add_difference(b, holds ? &rhs : &lhs, holds ? &lhs : &rhs, holds);
        return;
    case E_LE:
        add_difference(b, holds ? &rhs : &lhs, holds ? &lhs : &rhs, !holds);
        return;
    default:
        break;
    }
    if ((cond->op == E_EQ) != holds) {
        add_distinct(b, &lhs, &rhs);
        return;
    }
    add_difference(b, &lhs, &rhs, 0);
    add_difference(b, &rhs, &lhs, 0);
}

/* One of the two is 'holds'. Which one is not known yet: it waits in "pending"
 * until the other is refuted. */
static void
assume_either(Bounds *b, Expr *lhs, Expr *rhs, bool holds)
{
    Pending pending = {{lhs, holds}, {rhs, holds}, false};
    vec_push(b->arena, &b->pending, pending);
}

void
bounds_know(Bounds *b, Expr *cond, bool holds)
{
    Known known = {cond, holds};
    vec_push(b->arena, &b->known, known);
    bounds_forget(b);
}

/* "lhs and rhs", or "or" if not 'both', holds or does not. */
static void
assume_two(Bounds *b, Expr *lhs, Expr *rhs, bool both, bool holds)
{
    if (both == holds) {
        bounds_assume_in(b, lhs, holds);
        bounds_assume_in(b, rhs, holds);
    } else {
        assume_either(b, lhs, rhs, holds);
    }
}

static bool
is_negation(const Expr *lhs, const Expr *rhs)
{
    return (lhs->op == E_NOT && ir_equal(lhs->args[0], rhs)) ||
           (rhs->op == E_NOT && ir_equal(rhs->args[0], lhs));
}

/* select(a, b, a) is "a and b", select(a, a, b) is "a or b", and so is
 * select(not a, b, a): an `and` or `or` of which the second operand needs
 * checks is a branch, and this what it hands out. */
static void
assume_select(Bounds *b, const Expr *cond, bool holds)
{
    Expr *test = cond->args[0];
    Expr *yes = cond->args[1];
    Expr *no = cond->args[2];
    if (ir_equal(test, no)) {
        assume_two(b, no, yes, true, holds);
    } else if (ir_equal(test, yes) || is_negation(test, no)) {
        assume_two(b, yes, no, false, holds);
    }
}

/* Takes 'cond' apart by its operator. It is remembered as a whole too, for
 * conditions that no arithmetic covers.
 *
 *     a and b holds,  a or b does not       both operands, each for itself
 *     a and b does not,  a or b holds       an alternative
 *     a Var                                 its definition too
 *     an overflow test that is false        the operation is exact
 *
 * The caller has frozen the loads in 'cond', or takes the knowledge back
 * before memory can change. Fuel is the caller's. */
void
bounds_assume_in(Bounds *b, Expr *cond, bool holds)
{
    if (cond->dtype != DT_BOOL || cond->lanes != 0 || cond->op == E_CONST) {
        return;
    }
    bounds_know(b, cond, holds);
    switch (cond->op) {
    case E_NOT:
        bounds_assume_in(b, cond->args[0], !holds);
        break;
    case E_AND:
    case E_OR:
        assume_two(b, cond->args[0], cond->args[1], cond->op == E_AND, holds);
        break;
    case E_SELECT:
        assume_select(b, cond, holds);
        break;
    case E_VAR: {
        Expr *value = bounds_info(b, cond->var)->value;
        if (value != NULL) {
            bounds_assume_in(b, value, holds);
        }
        break;
    }
    case E_EQ:
    case E_NE:
    case E_LT:
    case E_LE:
        assume_compare(b, cond, holds);
        break;
    case E_ADDO:
    case E_SUBO:
    case E_MULO:
        if (!holds) {
            vec_push(b->arena, &b->exact, cond);
        }
        break;
    default:
        break;
    }
}

/* Looks for alternatives of which one side is refuted by now and assumes the
 * other. What is learned so may refute more: as the list is walked once, from
 * the oldest, later ones profit at once and earlier ones at the next call.
 *
 * "waking" keeps the proofs made here from starting the same again. Each proof
 * gets fuel of its own, and the caller's is as before. The mark "done" is
 * taken back with the scope. */
void
bounds_wake(Bounds *b)
{
    int fuel = b->fuel;
    if (b->waking) {
        return;
    }
    b->waking = true;
    for (int i = 0; i < b->pending.n; i++) {
        Known lhs = b->pending.at[i].lhs;
        Known rhs = b->pending.at[i].rhs;
        if (b->pending.at[i].done) {
            continue;
        }
        b->fuel = FUEL / 4;
        bool no_lhs = prove_cond(b, lhs.cond, !lhs.holds);
        bool no_rhs = !no_lhs && prove_cond(b, rhs.cond, !rhs.holds);
        if (no_lhs || no_rhs) {
            b->pending.at[i].done = true;
            vec_push(b->arena, &b->woken, i);
            Known known = no_lhs ? rhs : lhs;
            b->fuel = FUEL;
            bounds_assume_in(b, known.cond, known.holds);
        }
    }
    b->waking = false;
    b->fuel = fuel;
}

/* Loads in 'cond' are frozen: what was read then may be different when it
 * is read again. */
void
bounds_assume(Bounds *b, Expr *cond, bool holds)
{
    b->fuel = FUEL;
    bounds_assume_in(b, bounds_freeze(b, cond), holds);
    bounds_wake(b);
}

/* --- definitions --------------------------------------------------------- */

/* Nodes of a choice that is still worth taking apart case by case. */
enum { MAX_CHOICE = 64 };

/* What is left of 'most' nodes after those of 'e'; 0: it has as many. */
static int
nodes_left(const Expr *e, int most)
{
    most--;
    for (int i = 0; i < e->nargs && most > 0; i++) {
        most = nodes_left(e->args[i], most);
    }
    return most > 0 ? most : 0;
}

/* Does an atom say more than the Var that it defines would? Names, extents and
 * operations that the prover takes apart do; a frozen load, whose name is used
 * once, and operations without bounds of their own do not.
 *
 * Neither does a large choice. In
 *
 *     if v == 0: t += 5
 *     elif v == 1: t += 7 ...
 *
 * each t is a choice between a sum and the t of the next branch; written out,
 * the first would hold all others, and each query would go through them. */
static bool
is_telling(const Expr *atom)
{
    switch (atom->op) {
    case E_VAR:
        return atom->var->id >= 0;
    case E_CAST:
        return atom->args[0]->op == E_VAR && atom->args[0]->var->id >= 0;
    case E_DIM:
    case E_MUL:
    case E_IDIV:
    case E_MOD:
    case E_MIN:
    case E_MAX:
    case E_ABS:
        return true;
    case E_SELECT:
        return nodes_left(atom, MAX_CHOICE) > 0;
    default:
        return false;
    }
}

/* A form that is one opaque atom is worth less than the Var's own name,
 * under which facts about it meet. */
static bool
is_telling_form(const Linear *form)
{
    return form->terms.n != 1 || form->constant != 0 ||
           form->terms.at[0].coef != 1 || is_telling(form->terms.at[0].atom);
}

/* The form and range of the value that 'info' has.  The form is made now, with
 * the facts of now: they hold as long as the Var is visible, because scopes
 * nest. (Outside of them nobody can name it but a join, which is described
 * under the branch's condition, or a form that looks through it.) */
static void
describe_number(Bounds *b, VarInfo *info)
{
    Linear form = bounds_form(b, info->value);
    Range range = bounds_form_range(b, &form);
    info->range = range_meet(info->range, range);
    info->range =
        range_meet(info->range, bounds_node_range(b, info->value));
    if (is_telling_form(&form)) {
        info->form = form;
        info->has_form = true;
    }
}

/* 'var' is 'value' from here on, for ever: the definition is not taken back by
 * bounds_pop. */
void
bounds_define(Bounds *b, Var *var, Expr *value)
{
    VarInfo *info = bounds_info(b, var);
    b->fuel = FUEL;
    info->seq = ++b->seq;
    info->defined = true;
    info->value = bounds_freeze(b, value);
    info->has_form = false;
    info->has_lo = false;
    info->has_hi = false;
    info->range = bounds_dtype_range(var->dtype);
    if (bounds_is_number(value)) {
        describe_number(b, info);
    }
    bounds_forget(b);
}

/* lo <= var <= hi - 1 as forms and as a range. A loop whose ends differ by one
 * has a variable that is just lo. An end that would overflow at hi - 1 leaves
 * the variable without that bound. */
static void
define_loop_var(Bounds *b, const Stmt *loop)
{
    VarInfo *info = bounds_info(b, loop->var);
    b->fuel = FUEL;
    info->seq = ++b->seq;
    info->defined = true;
    info->value = NULL;
    info->lo = bounds_form(b, bounds_freeze(b, loop->lo));
    info->hi = bounds_form(b, bounds_freeze(b, loop->hi));
    info->has_lo = true;
    info->has_hi = !__builtin_sub_overflow(info->hi.constant, 1,
                                           &info->hi.constant);
    Range lo = bounds_form_range(b, &info->lo);
    Range hi = bounds_form_range(b, &info->hi);
    Range range = range_of(lo.lo, info->has_hi ? hi.hi : INT64_MAX);
    info->range = range_meet(bounds_dtype_range(loop->var->dtype), range);
    info->has_form = info->has_hi && linear_equal(&info->lo, &info->hi);
    info->form = info->lo;
    bounds_forget(b);
}

/* Inside the loop there is a round: lo <= hi - 1. */
static void
assume_round(Bounds *b, const Stmt *loop)
{
    const VarInfo *info = bounds_info(b, loop->var);
    if (info->has_hi) {
        add_difference(b, &info->hi, &info->lo, 0);
    }
}

/* Describes the carries again, knowing that there is a round. That holds
 * inside; of what the loop hands out the first description stays. */
static void
induct_inside(Bounds *b, const Stmt *loop)
{
    VarInfo *outs = ARENA_ARRAY(b->arena, VarInfo, loop->ncarries);
    for (int i = 0; i < loop->ncarries; i++) {
        outs[i] = *bounds_info(b, loop->carries[i].out);
    }
    induct_carries(b, loop);
    for (int i = 0; i < loop->ncarries; i++) {
        *bounds_info(b, loop->carries[i].out) = outs[i];
    }
    bounds_forget(b);
}

/* Extents are not negative: those of what a name stands for are those of some
 * array. */
static void
assume_extents(Bounds *b, const Buf *ref)
{
    for (int i = 0; ref != NULL && i < ref->rank; i++) {
        Expr *zero = ir_int(b->arena, DT_I64, 0);
        bounds_assume(b, ir_binary(b->arena, E_LE, zero, ref->dims[i]), true);
    }
}

/* The caller has pushed a scope; for a WHILE it assumes the condition
 * itself, after what "pre" defines.
 *
 * What the loop hands out is described for good and must hold if no round ran:
 * the fact that there is one comes after that, and the scope ends it. */
void
bounds_loop(Bounds *b, const Stmt *loop)
{
    if (loop->kind == S_FOR) {
        define_loop_var(b, loop);
    }
    if (loop->ncarries > 0) {
        induct_carries(b, loop);
    }
    if (loop->kind == S_FOR) {
        assume_round(b, loop);
        if (loop->ncarries > 0) {
            induct_inside(b, loop);
        }
    }
    for (int i = 0; i < loop->nbinds; i++) {
        assume_extents(b, loop->binds[i].var);
    }
    bounds_wake(b);
}

/* The joins of 's' are selects of what the branches hand out. A branch's
 * values are visible to nobody else, and were described under the branch's
 * condition, which is the select's. Vectors have no bounds. */
static void
define_joins(Bounds *b, const Stmt *s)
{
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        if (join->out->lanes == 0) {
            bounds_define(b, join->out,
                          ir_select(b->arena, s->value, join->then_val,
                                    join->else_val));
        }
    }
}

/* A WHILE that ends by its condition alone: that is false of what the loop
 * hands out, also where it ran no round. The condition is about the carries
 * inside, so their outs are put in their place. With "pre" it could speak of
 * Vars that are gone, and with "until" the loop may end while it is true. */
static void
assume_exit(Bounds *b, const Stmt *loop)
{
    Map map = map_new(b->arena);
    if (loop->until != NULL || loop->pre.n > 0) {
        return;
    }
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        map_set(&map, carry->var, ir_ref(b->arena, carry->out));
    }
    bounds_assume(b, ir_subst(b->arena, loop->value, &map), false);
}

/* What 's' hands out is some array. */
static void
assume_outs(Bounds *b, const Stmt *s)
{
    for (int i = 0; i < s->nbinds; i++) {
        assume_extents(b, s->binds[i].out);
    }
}

/* What holds behind 's', whichever way the walk went through it. A check that
 * failed has ended the call, so behind it its condition holds. Loops define
 * what they hand out when they are entered; a walk that skipped one enters it
 * here, for that alone. */
void
bounds_after(Bounds *b, const Stmt *s)
{
    switch (s->kind) {
    case S_LET:
        bounds_define(b, s->var, s->value);
        return;
    case S_CHECK:
        bounds_assume(b, s->value, true);
        return;
    case S_VIEW:
        assume_extents(b, s->buf);
        return;
    case S_IF:
        define_joins(b, s);
        assume_outs(b, s);
        return;
    case S_FOR:
    case S_WHILE:
        if (s->ncarries > 0 && !bounds_info(b, s->carries[0].out)->defined) {
            int mark = bounds_push(b);
            bounds_loop(b, s);
            bounds_pop(b, mark);
        }
        if (s->kind == S_WHILE) {
            assume_exit(b, s);
        }
        assume_outs(b, s);
        return;
    default:
        return;
    }
}
