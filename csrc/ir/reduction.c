/* Carries that only gather: the order of the rounds does not matter to them.
 *
 *     carry %n = 0                 next %n = select(c, add(%n, 1), %n)     add
 *     carry %any = false           next %any = or(%any, e)                 or
 *                                  next %any = select(e, true, %any)       or
 *     carry %best = e0             next %best = select(lt(%best, e), e, %best)
 *                                                                          max
 *     carry %s = 0.0               next %s = plus(%s, e)                   add
 *
 * PLUS of floats may be done in any order by what it is, as a product that is
 * added by MULADD; other sums of floats may not.  Integers wrap, so their sums
 * may be taken in any order.  The least or greatest float is the same in any
 * order but for two cases, in which the rounds must be gone through in order:
 * the result is a zero, whose sign is that of the first one, or the first value
 * is a nan, which stays.
 *
 * What a carry has gathered so far may be used for nothing but the next step:
 * not stored, not asked for, not an index.  The steps may stand in branches and
 * inner loops, which hand it out and carry it:
 *
 *     carry %n = 0 { for ... carry %m = %n { ... } next %m = add(%m, 1) -> %k }
 *                                  next %n = %k                            add
 */
#include "csrc/ir/ir.h"

/* A name that is made of what was gathered: the value of a LET, the two of a
 * Join, the first and the next one of an inner loop's Carry, of which "var" and
 * "out" share one. */
typedef struct Step {
    const Expr *at[2]; /* the second may be NULL */
    bool walked;       /* has been looked at */
} Step;

/* The search along one carry.
 *   "acc"    its Var
 *   "defs"   Var * -> Step *, the names that are made of it
 *   "found"  what the steps do so far
 *   "loose"  some step takes the later one of two equal floats
 *   "seen"   uses of the gathered value that are part of the steps
 *   "uses"   all of them */
typedef struct Chain {
    Arena *arena;
    const Var *acc;
    Map defs;
    Tally found;
    bool loose;
    int seen;
    int uses;
} Chain;

/* Is the gathered value in 'e'? */
static bool
holds_it(const Chain *chain, const Expr *e)
{
    if (e->op == E_VAR) {
        return e->var == chain->acc || map_has(&chain->defs, e->var);
    }
    for (int i = 0; i < e->nargs; i++) {
        if (holds_it(chain, e->args[i])) {
            return true;
        }
    }
    return false;
}

/* For ir_each_expr. */
static void
count_uses(void *data, Expr **slot)
{
    Chain *chain = data;
    const Expr *e = *slot;
    chain->uses += e->op == E_VAR && holds_it(chain, e);
    for (int i = 0; i < e->nargs; i++) {
        count_uses(chain, &(*slot)->args[i]);
    }
}

static bool is_step(Chain *chain, const Expr *e);

/* All steps do the same. */
static bool
does(Chain *chain, Tally what)
{
    bool same = chain->found == TALLY_NONE || chain->found == what;
    chain->found = what;
    return same;
}

static Tally
tally_of(const Expr *e)
{
    switch (e->op) {
    case E_ADD:
    case E_PLUS:
        return TALLY_ADD;
    case E_OR:
        return TALLY_OR;
    case E_AND:
        return TALLY_AND;
    case E_MIN:
        return TALLY_MIN;
    case E_MAX:
        return TALLY_MAX;
    default:
        return TALLY_NONE;
    }
}

/* a * b + the gathered value, with which neither a nor b has to do. */
static bool
adds_product(Chain *chain, const Expr *e)
{
    return e->op == E_CALL && e->fn == FN_MULADD && does(chain, TALLY_ADD) &&
           !holds_it(chain, e->args[0]) && !holds_it(chain, e->args[1]) &&
           is_step(chain, e->args[2]);
}

/* One operand is the gathered value, the other has nothing to do with it. */
static bool
is_operation(Chain *chain, const Expr *e)
{
    Tally what = tally_of(e);
    bool exact = dtype_is_float(e->dtype) && e->op != E_PLUS;
    if (what == TALLY_NONE || exact || !does(chain, what)) {
        return adds_product(chain, e);
    }
    bool left = holds_it(chain, e->args[0]);
    return !holds_it(chain, e->args[left ? 1 : 0]) &&
           is_step(chain, e->args[left ? 0 : 1]);
}

/* select(acc < e, e, acc): the greater; select(e < acc, e, acc): the lesser. */
static bool
is_extreme(Chain *chain, const Expr *e)
{
    const Expr *test = e->args[0];
    const Expr *old = e->args[2];
    if ((test->op != E_LT && test->op != E_LE) || old->op != E_VAR ||
        holds_it(chain, e->args[1])) {
        return false;
    }
    bool greater = ir_equal(test->args[0], old) &&
                   ir_equal(test->args[1], e->args[1]);
    bool lesser = ir_equal(test->args[1], old) &&
                  ir_equal(test->args[0], e->args[1]);
    chain->seen++;
    chain->loose |= test->op == E_LE && dtype_is_float(old->dtype);
    return (greater || lesser) &&
           does(chain, greater ? TALLY_MAX : TALLY_MIN) &&
           is_step(chain, old);
}

/* The choice of whether there is a step must not depend on it. */
static bool
is_choice(Chain *chain, const Expr *e)
{
    return holds_it(chain, e->args[0])
               ? is_extreme(chain, e)
               : is_step(chain, e->args[1]) && is_step(chain, e->args[2]);
}

/* Is 'e' the gathered value, with or without one more step?  A flag that is set
 * whatever it was takes part in an or, one that is cleared in an and. */
static bool
is_step(Chain *chain, const Expr *e)
{
    if (e->op == E_SELECT) {
        return is_choice(chain, e);
    }
    if (e->op == E_CONST && e->dtype == DT_BOOL) {
        return does(chain, e->ival ? TALLY_OR : TALLY_AND);
    }
    if (e->op != E_VAR) {
        return is_operation(chain, e);
    }
    chain->seen++;
    Step *step = map_get(&chain->defs, e->var);
    if (step == NULL || step->walked) {
        return step != NULL || e->var == chain->acc;
    }
    step->walked = true;
    return is_step(chain, step->at[0]) &&
           (step->at[1] == NULL || is_step(chain, step->at[1]));
}

/* "var" is one of the two values; NULL for the second: there is but one. */
static Step *
define(Chain *chain, const Var *var, const Expr *one, const Expr *two)
{
    Step *step = ARENA_NEW(chain->arena, Step);
    *step = (Step){.at = {one, two}};
    map_set(&chain->defs, var, step);
    return step;
}

/* Names are noted before what uses them is met. */
static void
note_defs(Chain *chain, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_LET && holds_it(chain, s->value)) {
            define(chain, s->var, s->value, NULL);
        }
        for (int k = 0; k < s->ncarries; k++) {
            const Carry *carry = &s->carries[k];
            if (holds_it(chain, carry->init)) {
                Step *step =
                    define(chain, carry->var, carry->init, carry->next);
                map_set(&chain->defs, carry->out, step);
            }
        }
        note_defs(chain, &s->pre);
        note_defs(chain, &s->body);
        note_defs(chain, &s->els);
        for (int k = 0; k < s->njoins; k++) {
            const Join *join = &s->joins[k];
            if (holds_it(chain, join->then_val) ||
                holds_it(chain, join->else_val)) {
                define(chain, join->out, join->then_val, join->else_val);
            }
        }
    }
}

/* For ir_each_stmt. */
static void
count_uses_of(void *data, Stmt *s)
{
    ir_each_expr(s, count_uses, data);
}

/* What the carry gathers, whatever is in the body. */
static Tally
follow(Chain *chain, Arena *arena, const Stmt *loop, int carry)
{
    *chain = (Chain){.arena = arena, .acc = loop->carries[carry].var};
    chain->defs = map_new(arena);
    if (chain->acc->lanes > 0) {
        return TALLY_NONE;
    }
    note_defs(chain, &loop->body);
    ir_each_stmt(&loop->body, count_uses_of, chain);
    for (int i = 0; i < loop->ncarries; i++) {
        count_uses(chain, &loop->carries[i].next);
    }
    bool steps = is_step(chain, loop->carries[carry].next);
    return steps && chain->seen == chain->uses ? chain->found : TALLY_NONE;
}

bool
ir_is_mask(const Stmt *s)
{
    bool ok = s->kind == S_IF && s->els.n == 0 && s->njoins == 0 &&
              s->nbinds == 0;
    for (int i = 0; ok && i < s->body.n; i++) {
        const Stmt *store = s->body.at[i];
        ok = store->kind == S_STORE &&
             (store->value->op == E_VAR || store->value->op == E_CONST);
        for (int k = 0; ok && k < store->nindex; k++) {
            ok = !ir_has_load(store->index[k]);
        }
    }
    return ok;
}

/* What is carried on is read last. */
bool
ir_only_checks(const Stmt *loop)
{
    bool only = true;
    bool asked = false;
    for (int i = 0; i < loop->body.n && only; i++) {
        const Stmt *s = loop->body.at[i];
        only = s->kind == S_LET || s->kind == S_CHECK;
        only = only && !(asked && ir_has_load(s->value));
        asked |= s->kind == S_CHECK;
    }
    for (int i = 0; i < loop->ncarries && only; i++) {
        only = !(asked && ir_has_load(loop->carries[i].next));
    }
    return only;
}

/* Only a body that computes and stores, perhaps under conditions, runs in
 * lanes. */
static bool
is_straight(const Block *body)
{
    for (int i = 0; i < body->n; i++) {
        StmtKind kind = body->at[i]->kind;
        if (kind != S_LET && kind != S_STORE && kind != S_CHECK &&
            !ir_is_mask(body->at[i])) {
            return false;
        }
    }
    return true;
}

Tally
ir_tally(Arena *arena, const Stmt *loop, int carry)
{
    Chain chain;
    return is_straight(&loop->body) ? follow(&chain, arena, loop, carry)
                                    : TALLY_NONE;
}

Tally
ir_gathers(Arena *arena, const Stmt *loop, int carry)
{
    Chain chain;
    Tally what = follow(&chain, arena, loop, carry);
    bool sum = what == TALLY_ADD &&
               dtype_is_float(loop->carries[carry].var->dtype);
    return chain.loose || sum ? TALLY_NONE : what;
}

bool
ir_only_tallies(Arena *arena, const Stmt *loop)
{
    bool floats = false;
    for (int i = 0; i < loop->ncarries; i++) {
        Tally what = ir_tally(arena, loop, i);
        if (what == TALLY_NONE) {
            return false;
        }
        floats |= dtype_is_float(loop->carries[i].var->dtype) &&
                  what != TALLY_ADD;
    }
    for (int i = 0; i < loop->body.n && floats; i++) {
        if (loop->body.at[i]->kind == S_STORE ||
            loop->body.at[i]->kind == S_IF) {
            return false;
        }
    }
    return true;
}
