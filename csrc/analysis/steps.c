/* The walk of a carried value: what one round adds to it.
 *
 *     for j in 0 .. m carry (t = s next add(t, pixel) out u)      pixel: u8
 *     next s = u            step of s: 0 .. 255 * m
 *
 * "next" is followed through LETs, selects, joins and inner loops to the carry
 * itself.  A step has an interval and, where the bounds are simple, two linear
 * forms, which keep m where the interval has only "less than 2^31".
 *
 * Definitions in the loop's body are made known to Bounds as they are needed,
 * before anything about the carries is known, so what is said of them holds in
 * every round.
 */
#include "csrc/analysis/induct.h"

/* --- what the loop defines ----------------------------------------------- */

/* Was the overflow of this very addition tested before? By operands, in order;
 * names are assigned once, so what was tested is what is added. */
static bool
has_check(const Induct *in, const Expr *e)
{
    for (int i = 0; i < in->checks.n; i++) {
        const Expr *check = in->checks.at[i];
        if (ir_equal(check->args[0], e->args[0]) &&
            ir_equal(check->args[1], e->args[1])) {
            return true;
        }
    }
    return false;
}

/* Every addition in 'e' is noted as tested or not where it stands. Nodes may
 * be shared between places, so both can be true of one; is_tested asks for
 * tested everywhere. */
static void
note_tested(Induct *in, const Expr *e)
{
    if (e->op == E_ADD && has_check(in, e)) {
        map_set(&in->tested, e, in);
    } else if (e->op == E_ADD) {
        map_set(&in->untested, e, in);
    }
    for (int i = 0; i < e->nargs; i++) {
        note_tested(in, e->args[i]);
    }
}

/* Notes the ADDO tests that a check passes, each part of a conjunction. Tests
 * of values in memory don't count: the value may change. */
static void
note_check(Induct *in, const Expr *cond)
{
    if (cond->op == E_AND) {
        note_check(in, cond->args[0]);
        note_check(in, cond->args[1]);
    } else if (cond->op == E_NOT && cond->args[0]->op == E_ADDO &&
               !ir_has_load(cond)) {
        vec_push(in->b->arena, &in->checks, cond->args[0]);
    }
}

static void
add_local(Induct *in, const Var *var, Expr *value, const Stmt *loop,
          const Carry *carry)
{
    Local *local = ARENA_NEW(in->b->arena, Local);
    *local = (Local){value, loop, carry};
    map_set(&in->locals, var, local);
}

static void scan_block(Induct *in, const Block *block);

/* Checks of a branch hold in the branch, up to the values that it hands out. A
 * join is seen as a SELECT. Vectors are of no interest. */
static void
scan_if(Induct *in, const Stmt *s)
{
    int mark = in->checks.n;
    scan_block(in, &s->body);
    for (int i = 0; i < s->njoins; i++) {
        note_tested(in, s->joins[i].then_val);
    }
    in->checks.n = mark;
    scan_block(in, &s->els);
    for (int i = 0; i < s->njoins; i++) {
        note_tested(in, s->joins[i].else_val);
    }
    in->checks.n = mark;
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        if (join->out->lanes == 0) {
            add_local(in, join->out,
                      ir_select(in->b->arena, s->value, join->then_val,
                                join->else_val),
                      NULL, NULL);
        }
    }
}

/* What an inner loop hands out is followed by step_of_inner. Its checks are
 * made in its rounds, perhaps none, so they are forgotten behind it. */
static void
scan_loop(Induct *in, const Stmt *s)
{
    int mark = in->checks.n;
    scan_block(in, &s->pre);
    scan_block(in, &s->body);
    for (int i = 0; i < s->ncarries; i++) {
        note_tested(in, s->carries[i].next);
    }
    in->checks.n = mark;
    for (int i = 0; i < s->ncarries; i++) {
        add_local(in, s->carries[i].out, NULL, s, &s->carries[i]);
    }
}

/* Definitions of 'block' in order; checks of a block hold to its end only. */
static void
scan_block(Induct *in, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        switch (s->kind) {
        case S_LET:
            note_tested(in, s->value);
            add_local(in, s->var, s->value, NULL, NULL);
            break;
        case S_CHECK:
            note_check(in, s->value);
            break;
        case S_IF:
            scan_if(in, s);
            break;
        case S_FOR:
        case S_WHILE:
            scan_loop(in, s);
            break;
        default:
            break;
        }
    }
}

/* Statements in order, then what is evaluated at the end of a round. */
void
steps_scan(Induct *in)
{
    scan_block(in, &in->loop->pre);
    scan_block(in, &in->loop->body);
    for (int i = 0; i < in->loop->ncarries; i++) {
        note_tested(in, in->loop->carries[i].next);
    }
}

const Local *
steps_local(const Induct *in, const Var *var)
{
    return map_get(&in->locals, var);
}

/* --- ranges of values that do not depend on the carry -------------------- */

/* Make Bounds know the LETs that 'e' mentions, depth first; false: it depends
 * on the carry, or the fuel is spent. An inner loop's out or a Var from
 * outside is left as Bounds have it: its dtype's range if nothing was said of
 * it. */
static bool
define_locals(Induct *in, Expr *e)
{
    if (in->fuel-- <= 0) {
        return false;
    }
    if (e->op == E_VAR) {
        const Local *local = steps_local(in, e->var);
        if (e->var == in->var) {
            return false;
        }
        if (local == NULL || bounds_info(in->b, e->var)->defined) {
            return true;
        }
        if (local->value == NULL || !define_locals(in, local->value)) {
            return local->value == NULL;
        }
        bounds_define(in->b, e->var, local->value);
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!define_locals(in, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* The range of 'e' in every round, if it does not depend on the carry looked
 * at. Spends a part of the fuel: many values are asked for. */
bool
steps_value_range(Induct *in, Expr *e, Range *out)
{
    if (!define_locals(in, e)) {
        return false;
    }
    in->b->fuel = FUEL / 4;
    *out = bounds_range(in->b, e);
    return true;
}

/* At most how many rounds a FOR runs; 0 for one that never does. Bounds of the
 * loop that depend on the carry, or on memory, don't tell: their range is that
 * of the dtype. */
Wide
steps_most_rounds(Induct *in, const Stmt *loop)
{
    Range lo;
    Range hi;
    if (loop->kind != S_FOR || !steps_value_range(in, loop->lo, &lo) ||
        !steps_value_range(in, loop->hi, &hi)) {
        return WIDE_INF;
    }
    return wide_max(0, hi.hi - lo.lo);
}

/* --- walks --------------------------------------------------------------- */

static const Step NO_STEP = {.ok = false};

/* The one of two forms that is never below the other, by the range of their
 * difference; false where either may be the larger. */
static bool
larger_form(Induct *in, const Linear *lhs, const Linear *rhs, Linear *out)
{
    Linear diff;
    if (!linear_sum(in->b->arena, lhs, 1, rhs, -1, &diff)) {
        return false;
    }
    Range range = bounds_form_range(in->b, &diff);
    *out = range.lo >= 0 ? *lhs : *rhs;
    return range.lo >= 0 || range.hi <= 0;
}

/* Either step may happen: the interval covers both, and so do the forms
 * where one is never above the other. */
static Step
join_steps(Induct *in, Step lhs, Step rhs)
{
    Linear least;
    if (!lhs.ok || !rhs.ok) {
        return NO_STEP;
    }
    lhs.has_forms = lhs.has_forms && rhs.has_forms &&
                    larger_form(in, &lhs.most, &rhs.most, &lhs.most) &&
                    larger_form(in, &lhs.least, &rhs.least, &least);
    if (lhs.has_forms) {
        /* The smaller of the two is their sum without the larger. */
        lhs.has_forms =
            linear_sum(in->b->arena, &lhs.least, 1, &rhs.least, 1,
                       &lhs.least) &&
            linear_sum(in->b->arena, &lhs.least, 1, &least, -1, &lhs.least);
    }
    lhs.range = range_join(lhs.range, rhs.range);
    lhs.may_wrap = lhs.may_wrap || rhs.may_wrap;
    return lhs;
}

/* Add a value in 'range' to the step. The forms get the ends of the range, if
 * these are small; bounds from larger numbers would not fit the products to
 * come. */
static void
widen_step(Step *step, Range range)
{
    step->range = range_add(step->range, range);
    step->has_forms =
        step->has_forms && range.lo > INT32_MIN && range.hi < UINT32_MAX &&
        !__builtin_add_overflow(step->least.constant, (int64_t)range.lo,
                                &step->least.constant) &&
        !__builtin_add_overflow(step->most.constant, (int64_t)range.hi,
                                &step->most.constant);
}

/* Tested wherever it stands, and it stands somewhere. */
static bool
is_tested(const Induct *in, const Expr *e)
{
    return map_has(&in->tested, e) && !map_has(&in->untested, e);
}

/* Can the addition 'e' of the carry (plus 'before') and 'range' not wrap?
 * Tested, or the loop's condition leaves room: the carry itself is at most
 * "most", so carry + range.hi fits. That says nothing of the second addition
 * of a round, hence 'before' must be 0, and nothing of going down. */
static bool
has_room(const Induct *in, const Expr *e, Range before, Range range)
{
    Wide most = bounds_dtype_range(e->dtype).hi;
    bool below = e->op == E_ADD && before.lo == 0 && before.hi == 0 &&
                 range.lo >= 0 && wide_add(in->most, range.hi) <= most;
    return below || is_tested(in, e);
}

/* x + y where one side walks and the other has a range of its own; x - y where
 * x walks. (c - x turns the walk round and is none.) The sum may wrap unless
 * there is room for it or it is tested. */
static Step
step_of_sum(Induct *in, Expr *e)
{
    for (int side = 0; side < (e->op == E_ADD ? 2 : 1); side++) {
        Step step = steps_of(in, e->args[side]);
        Range range;
        if (!step.ok || !steps_value_range(in, e->args[1 - side], &range)) {
            continue;
        }
        if (e->op == E_SUB) {
            range = range_of(-range.hi, -range.lo);
        }
        step.may_wrap = step.may_wrap || !has_room(in, e, step.range, range);
        widen_step(&step, range);
        return step;
    }
    return NO_STEP;
}

/* A form that is not below the number of rounds. hi - lo may be negative, and
 * then the rounds are 0: a small negative end is lifted, so that the form is
 * too large by less than 1000, for any other it is a MAX atom. Loops over what
 * memory says have none. */
bool
steps_rounds_form(Induct *in, const Stmt *loop, Linear *out)
{
    Bounds *b = in->b;
    if (loop->kind != S_FOR || ir_has_load(loop->lo) ||
        ir_has_load(loop->hi)) {
        return false;
    }
    Linear lo = bounds_form(b, loop->lo);
    Linear hi = bounds_form(b, loop->hi);
    if (!linear_sum(b->arena, &hi, 1, &lo, -1, out)) {
        return false;
    }
    Range range = bounds_form_range(b, out);
    if (range.lo > -1000) {
        int64_t lift = range.lo < 0 ? (int64_t)-range.lo : 0;
        return !__builtin_add_overflow(out->constant, lift, &out->constant);
    }
    Expr *rounds = linear_expr(b->arena, out);
    Expr *zero = ir_int(b->arena, DT_I64, 0);
    *out = linear_atom(b->arena, ir_binary(b->arena, E_MAX, rounds, zero));
    return range_inside(range, bounds_dtype_range(DT_I64));
}

/* A step's bound over all rounds: the product of two forms that are not
 * negative (or of one that is not positive and one that is not negative), so
 * bounds multiply. A step that does not go that way adds nothing on that side:
 * its bound is 0, also if the loop runs no round. A step of unknown sign has
 * no product. */
bool
steps_times_rounds(Induct *in, const Linear *step, bool positive,
             const Linear *rounds, Linear *out)
{
    Range range = bounds_form_range(in->b, step);
    if (positive ? range.hi <= 0 : range.lo >= 0) {
        *out = linear_const(0);
        return true;
    }
    return (positive ? range.lo >= 0 : range.hi <= 0) &&
           linear_product(in->b->arena, step, rounds, out);
}

/* One round's forms times the rounds; lost if they can't be multiplied.
 * Afterwards "most" >= 0 >= "least". */
void
steps_repeat(Induct *in, Step *step, const Stmt *loop)
{
    Linear rounds;
    step->has_forms =
        step->has_forms && steps_rounds_form(in, loop, &rounds) &&
        steps_times_rounds(in, &step->most, true, &rounds, &step->most) &&
        steps_times_rounds(in, &step->least, false, &rounds, &step->least);
}

/* Bounds of a sum are sums of bounds. */
static void
add_forms(Induct *in, Step *step, const Step *other)
{
    Arena *arena = in->b->arena;
    step->has_forms =
        step->has_forms && other->has_forms &&
        linear_sum(arena, &step->most, 1, &other->most, 1, &step->most) &&
        linear_sum(arena, &step->least, 1, &other->least, 1, &step->least);
}

/* What an inner loop hands out: its own init, seen from the outer carry, and
 * up to T inner steps.
 *
 *     u = t_init + (0 .. T) * inner step
 *
 * The inner carry plays the part of "var" meanwhile; the outer loop's
 * condition does not bound it, so "most" is set aside. An init that is no walk
 * of the outer carry (t = 0) makes the whole no walk. */
static Step
step_of_inner(Induct *in, const Local *local)
{
    const Var *outer = in->var;
    Step init = steps_of(in, local->carry->init);
    Wide rounds = steps_most_rounds(in, local->loop);
    if (!init.ok || rounds >= WIDE_INF) {
        return NO_STEP;
    }
    Wide most = in->most;
    in->var = local->carry->var;
    in->most = WIDE_INF;
    Step step = steps_of(in, local->carry->next);
    in->var = outer;
    in->most = most;
    if (!step.ok) {
        return NO_STEP;
    }
    step.range = range_mul(step.range, range_of(0, rounds));
    step.range = range_add(step.range, init.range);
    step.may_wrap = step.may_wrap || init.may_wrap;
    steps_repeat(in, &step, local->loop);
    add_forms(in, &step, &init);
    return step;
}

/* The carry itself has step 0; names are followed to their definitions; a Var
 * from outside the loop is no walk. */
static Step
step_of_var(Induct *in, const Var *var)
{
    Step zero = {.ok = true, .has_forms = true};
    if (var == in->var) {
        return zero;
    }
    const Local *local = steps_local(in, var);
    if (local == NULL) {
        return NO_STEP;
    }
    return local->value != NULL ? steps_of(in, local->value)
                                : step_of_inner(in, local);
}

/* next - var, followed through sums, selects and names. Anything else ends the
 * walk. A SELECT may take either arm, whatever its condition: joining both is
 * enough. */
Step
steps_of(Induct *in, Expr *e)
{
    if (in->fuel-- <= 0) {
        return NO_STEP;
    }
    switch (e->op) {
    case E_VAR:
        return step_of_var(in, e->var);
    case E_ADD:
    case E_SUB:
        return step_of_sum(in, e);
    case E_SELECT:
        return join_steps(in, steps_of(in, e->args[1]),
                          steps_of(in, e->args[2]));
    default:
        return NO_STEP;
    }
}
