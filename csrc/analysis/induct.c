/* What a loop carries round, by simple induction.
 *
 *     for i in 0 .. n carry (k: i64 = 0 next add(k, 2) out k_end)
 *         -> inside k = 2*i; k_end = 2*n where n >= 0
 *     carry (best: i64 = 0 next select(c, i, best))
 *         -> 0 <= best <= n - 1
 *     carry (s: i64 = 0 next add(s, cast<i64>(pixel)))   pixel: u8
 *         -> 0 <= s <= 255 * most rounds: it can't overflow
 *
 * Two shapes of "next" are understood, each through LETs, joins, selects and
 * inner loops:
 *   a walk    next = var + step, the step in an interval.  In a FOR of at most
 *             T rounds the value stays within init + T * steps; if that fits
 *             the dtype nothing wraps, and if the step is one constant the
 *             value is linear in the loop's variable.  Where the rounds are
 *             not bounded, a walk that only goes up and whose additions are
 *             tested never falls below init.
 *   a choice  next is var or a value whose range does not depend on var: the
 *             range is that of init and of all the choices.
 */
#include "csrc/analysis/induct.h"

/* --- choices ------------------------------------------------------------- */

/* lhs - rhs >= 0? With little fuel: it is asked of every choice. */
static bool
is_ordered(Induct *in, const Linear *lhs, const Linear *rhs)
{
    Linear diff;
    in->b->fuel = FUEL / 8;
    return linear_sum(in->b->arena, lhs, 1, rhs, -1, &diff) &&
           prove_nonneg(in->b, &diff, 6);
}

/* Compares the choice 'e' with the values of the FOR's variable: "below" and
 * "above" stay true as long as every choice lies on that side. For
 *
 *     best = i if c else best
 *
 * the choice i is not above the last round, nor below the first. */
static void
place_choice(Induct *in, Expr *e)
{
    if (in->loop->kind != S_FOR || (!in->below && !in->above)) {
        return;
    }
    const VarInfo *index = bounds_info(in->b, in->loop->var);
    Linear form = bounds_form(in->b, bounds_freeze(in->b, e));
    in->below = in->below && index->has_hi &&
                is_ordered(in, &index->hi, &form);
    in->above = in->above && index->has_lo &&
                is_ordered(in, &form, &index->lo);
}

/* Join into 'range' all that 'e' can be besides the carry itself; false: 'e'
 * is something else. The carry alone adds nothing. A value that does not
 * depend on it adds its range; selects, mins and maxes add both sides, since
 * each gives one of them.
 *
 * What an inner loop hands out is what it starts from, or what its rounds
 * choose; there the inner carry plays the part of "var". That it may also be
 * the outer carry is covered by init, where it must come from. */
static bool
choices_of(Induct *in, Expr *e, Range *range)
{
    if (in->fuel-- <= 0) {
        return false;
    }
    if (ir_is_var(e, in->var)) {
        return true;
    }
    Range value;
    if (steps_value_range(in, e, &value)) {
        *range = range_join(*range, value);
        place_choice(in, e);
        return true;
    }
    if (e->op == E_SELECT) {
        return choices_of(in, e->args[1], range) &&
               choices_of(in, e->args[2], range);
    }
    if (e->op == E_MIN || e->op == E_MAX) {
        return choices_of(in, e->args[0], range) &&
               choices_of(in, e->args[1], range);
    }
    const Local *local = e->op == E_VAR ? steps_local(in, e->var) : NULL;
    if (local == NULL) {
        return false;
    }
    if (local->value != NULL) {
        return choices_of(in, local->value, range);
    }
    const Var *outer = in->var;
    bool ok = choices_of(in, local->carry->init, range);
    in->var = local->carry->var;
    ok = ok && choices_of(in, local->carry->next, range);
    in->var = outer;
    return ok;
}

/* --- conclusions --------------------------------------------------------- */

/* Until induction says more, a carried Var can be anything. */
static void
reset_info(Bounds *b, const Var *var)
{
    VarInfo *info = bounds_info(b, var);
    info->seq = ++b->seq;
    info->defined = true;
    info->has_form = false;
    info->has_lo = false;
    info->has_hi = false;
    info->value = NULL;
    info->range = bounds_dtype_range(var->dtype);
    bounds_forget(b);
}

/* The Var inside and what the loop hands out (which may be init alone) stay in
 * 'range'. A FOR that runs no round hands out init, so 'range' must hold that
 * too. */
static void
narrow_both(Induct *in, const Carry *carry, Range range)
{
    VarInfo *inside = bounds_info(in->b, carry->var);
    VarInfo *after = bounds_info(in->b, carry->out);
    inside->range = range_meet(inside->range, range);
    after->range = range_meet(after->range, range);
}

/* var = init + step * (i - lo), exactly: each round adds 'step' and nothing
 * wraps. After the last round out = init + step * n where n = hi - lo is not
 * negative; for negative n the loop ran no round and out is init, which is no
 * linear form. With "until" the number of rounds is not known, while inside
 * the form still holds. */
static void
set_linear(Induct *in, const Carry *carry, const Linear *init, int64_t step)
{
    Bounds *b = in->b;
    VarInfo *index = bounds_info(b, in->loop->var);
    VarInfo *inside = bounds_info(b, carry->var);
    VarInfo *after = bounds_info(b, carry->out);
    Expr *ref = ir_ref(b->arena, in->loop->var);
    Linear rounds = bounds_form(b, ref);
    if (!index->has_lo || in->loop->var->dtype != DT_I64 ||
        !linear_sum(b->arena, &rounds, 1, &index->lo, -1, &rounds) ||
        !linear_sum(b->arena, init, 1, &rounds, step, &inside->form)) {
        return;
    }
    inside->has_form = true;
    if (in->loop->until != NULL) {
        return;
    }
    Linear hi = bounds_form(b, in->loop->hi);
    after->has_form =
        !ir_has_load(in->loop->hi) &&
        linear_sum(b->arena, &hi, 1, &index->lo, -1, &rounds) &&
        bounds_form_range(b, &rounds).lo >= 0 &&
        linear_sum(b->arena, init, 1, &rounds, step, &after->form);
}

/* What is chosen among rounds of the loop is within them, if init is; after
 * the loop, which may not have run, it may also be init. */
static void
set_between(Induct *in, const Carry *carry)
{
    const VarInfo *index = bounds_info(in->b, in->loop->var);
    VarInfo *inside = bounds_info(in->b, carry->var);
    if (in->below) {
        inside->has_hi = true;
        inside->hi = index->hi;
    }
    if (in->above) {
        inside->has_lo = true;
        inside->lo = index->lo;
    }
}

/* All choices, and init, joined; and their place among the loop's rounds.
 * Sound by induction: the carry is init in the first round, and in every later
 * one what the round before chose, or unchanged. */
static void
conclude_choice(Induct *in, const Carry *carry)
{
    in->fuel = FUEL / 4;
    in->b->fuel = FUEL;
    in->below = true;
    in->above = true;
    Range range = bounds_range(in->b, carry->init);
    if (!choices_of(in, carry->next, &range)) {
        return;
    }
    narrow_both(in, carry, range);
    place_choice(in, carry->init);
    if (in->loop->kind == S_FOR) {
        set_between(in, carry);
    }
}

/* Are all Vars of 'e' defined before the loop? Vars of the body and carries
 * have a later "seq" or none; names of loaded values are not "defined" and so
 * never count. */
static bool
is_outer_expr(Induct *in, const Expr *e)
{
    if (e->op == E_VAR) {
        const VarInfo *info = bounds_info(in->b, e->var);
        return info->defined && info->seq < in->seq &&
               loop_invariant(in->b->func, in->loop, e);
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_outer_expr(in, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* A form of one round holds in all rounds if nothing in it changes. */
static bool
is_outer_form(Induct *in, const Linear *form)
{
    for (int i = 0; i < form->terms.n; i++) {
        if (!is_outer_expr(in, form->terms.at[i].atom)) {
            return false;
        }
    }
    return true;
}

/* The forms of one round hold in every round if nothing in them changes. */
static bool
has_outer_forms(Induct *in, const Step *step)
{
    return step->has_forms && in->loop->kind == S_FOR &&
           is_outer_form(in, &step->most) && is_outer_form(in, &step->least);
}

/* Does init + (all rounds' steps) fit the dtype by what is known? Where
 * intervals say too little, for instance 255 * w * h of 2^31 rows and columns,
 * a check before the loop may have bounded the product.
 *
 *     room above:  max - init - most  >= 0
 *     room below:  init + least - (min + 1)  >= 0
 *
 * "most" is not negative and "least" not positive (steps_repeat), so every sum
 * on the way is between the two. The least value of the dtype is given away,
 * to keep the constants in i64. u64 is left out. */
static bool
fits_by_forms(Induct *in, const Carry *carry, const Linear *init,
              const Step *step)
{
    Arena *arena = in->b->arena;
    Range dtype = bounds_dtype_range(carry->var->dtype);
    Step all = *step;
    Linear room;
    if (!has_outer_forms(in, step) || dtype.hi > INT64_MAX) {
        return false;
    }
    steps_repeat(in, &all, in->loop);
    Linear most = linear_const((int64_t)dtype.hi);
    Linear least = linear_const((int64_t)(dtype.lo + 1));
    return all.has_forms && is_outer_form(in, &all.most) &&
           is_outer_form(in, &all.least) &&
           linear_sum(arena, &most, 1, init, -1, &room) &&
           linear_sum(arena, &room, 1, &all.most, -1, &room) &&
           prove_nonneg(in->b, &room, MAX_DEPTH) &&
           linear_sum(arena, init, 1, &least, -1, &room) &&
           linear_sum(arena, &room, 1, &all.least, 1, &room) &&
           prove_nonneg(in->b, &room, MAX_DEPTH);
}

/* Replaces what was known on that side; a failed attempt clears it. "form" is
 * not looked at unless "has_lo" or "has_hi" says so. */
static void
set_bound(VarInfo *info, bool upper, bool ok, const Linear *form)
{
    if (upper) {
        info->has_hi = ok;
        info->hi = *form;
    } else {
        info->has_lo = ok;
        info->lo = *form;
    }
}

/* init + step * (rounds so far) as a bound of the carry inside the loop, init
 * + step * (all rounds) after it. The rounds so far are i - lo; 'upper' says
 * which of the step's forms is meant. A bound of a product needs factors of
 * known sign, which steps_times_rounds sees to. */
static void
set_moving(Induct *in, const Carry *carry, const Linear *init,
           const Step *step, bool upper)
{
    Bounds *b = in->b;
    const Linear *each = upper ? &step->most : &step->least;
    VarInfo *index = bounds_info(b, in->loop->var);
    Linear rounds = bounds_form(b, ir_ref(b->arena, in->loop->var));
    Linear so_far;
    bool ok = index->has_lo &&
              linear_sum(b->arena, &rounds, 1, &index->lo, -1, &rounds) &&
              steps_times_rounds(in, each, upper, &rounds, &so_far) &&
              linear_sum(b->arena, init, 1, &so_far, 1, &so_far);
    set_bound(bounds_info(b, carry->var), upper, ok, &so_far);
    ok = steps_rounds_form(in, in->loop, &rounds) &&
         steps_times_rounds(in, each, upper, &rounds, &so_far) &&
         linear_sum(b->arena, init, 1, &so_far, 1, &so_far);
    set_bound(bounds_info(b, carry->out), upper, ok, &so_far);
}

/* A walk that only goes up (down) and does not wrap stays on its side of init;
 * on the other side it is as far as its steps took it. Both holds of the Var
 * inside and of what the loop hands out. Forms are bounds only if nothing in
 * them changes from round to round. */
static void
set_sides(Induct *in, const Carry *carry, const Linear *init,
          const Step *step)
{
    VarInfo *infos[2] = {bounds_info(in->b, carry->var),
                         bounds_info(in->b, carry->out)};
    Range start = bounds_form_range(in->b, init);
    bool forms = has_outer_forms(in, step);
    if (forms && step->range.hi > 0) {
        set_moving(in, carry, init, step, true);
    }
    if (forms && step->range.lo < 0) {
        set_moving(in, carry, init, step, false);
    }
    for (int i = 0; i < 2; i++) {
        VarInfo *info = infos[i];
        if (step->range.lo >= 0) {
            set_bound(info, false, true, init);
            info->range.lo = wide_max(info->range.lo, start.lo);
        }
        if (step->range.hi <= 0) {
            set_bound(info, true, true, init);
            info->range.hi = wide_min(info->range.hi, start.hi);
        }
    }
}

/* What a walk by 'step' says about the carry. In order:
 *
 *   1. By intervals: init + [0, T] * step fits the dtype for T rounds, and is
 *      then the range. By induction nothing wraps: the value after each round
 *      is the exact sum, modulo 2^n, and the exact sum fits.
 *   2. By forms and facts, where intervals are too wide.
 *   3. Neither: then every addition must be tested or have room, else the
 *      carry may wrap and nothing is known.
 *
 * A constant step in a FOR makes the carry linear in the loop's variable. */
static void
conclude_walk(Induct *in, const Carry *carry, Step step)
{
    Bounds *b = in->b;
    b->fuel = FUEL;
    Linear init = bounds_form(b, bounds_freeze(b, carry->init));
    Wide rounds = steps_most_rounds(in, in->loop);
    b->fuel = FUEL;
    bool fits = false;
    if (rounds < WIDE_INF) {
        Range walk = range_mul(step.range, range_of(0, rounds));
        Range range = range_add(bounds_form_range(b, &init), walk);
        fits = range_inside(range, bounds_dtype_range(carry->var->dtype));
        if (fits) {
            narrow_both(in, carry, range);
        }
    }
    fits = fits || fits_by_forms(in, carry, &init, &step);
    if (!fits && step.may_wrap) {
        return;
    }
    set_sides(in, carry, &init, &step);
    Wide size = wide_max(step.range.hi, -step.range.hi);
    if (fits && step.range.lo == step.range.hi && size < INT32_MAX &&
        in->loop->kind == S_FOR) {
        set_linear(in, carry, &init, (int64_t)step.range.lo);
    }
}

/* The most that the carry can be while the loop's condition 'cond' holds: var
 * < x and x has a range, or any part of a conjunction that says so. WIDE_INF:
 * no limit. Used for additions in the body only, which run after the test. */
static Wide
most_while(Induct *in, const Expr *cond)
{
    const Local *local = cond->op == E_VAR ? steps_local(in, cond->var) : NULL;
    if (local != NULL && local->value != NULL) {
        return most_while(in, local->value);
    }
    if (cond->op == E_AND) {
        return wide_min(most_while(in, cond->args[0]),
                        most_while(in, cond->args[1]));
    }
    Range range;
    if ((cond->op == E_LT || cond->op == E_LE) &&
        cond->args[0]->op == E_VAR && cond->args[0]->var == in->var &&
        steps_value_range(in, cond->args[1], &range)) {
        return cond->op == E_LT ? range.hi - 1 : range.hi;
    }
    return WIDE_INF;
}

/* A walk if it is one, else a choice if it is one; else the carry can be
 * anything. */
static void
look_at(Induct *in, const Carry *carry)
{
    in->var = carry->var;
    in->fuel = FUEL / 4;
    in->most = in->loop->kind == S_WHILE ? most_while(in, in->loop->value)
                                         : WIDE_INF;
    Step step = steps_of(in, carry->next);
    if (step.ok) {
        conclude_walk(in, carry, step);
    } else {
        conclude_choice(in, carry);
    }
    bounds_forget(in->b);
}

/* Describes what 'loop' carries, inside and after, starting from nothing.
 * Floats and vectors are carried too, but have no bounds. All carries are
 * reset before any is looked at. Called right after the loop's variable was
 * defined, in the loop's scope. */
void
induct_carries(Bounds *b, const Stmt *loop)
{
    Induct in = {
        .b = b,
        .loop = loop,
        .seq = b->seq,
        .locals = map_new(b->arena),
        .tested = map_new(b->arena),
        .untested = map_new(b->arena),
    };
    bool any = false;
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        reset_info(b, carry->var);
        reset_info(b, carry->out);
        any = any || (carry->var->lanes == 0 &&
                      dtype_is_int(carry->var->dtype));
    }
    if (!any) {
        return;
    }
    if (loop->kind == S_FOR) {
        in.seq = bounds_info(b, loop->var)->seq;
    }
    steps_scan(&in);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        if (carry->var->lanes == 0 && dtype_is_int(carry->var->dtype)) {
            look_at(&in, carry);
        }
    }
}
