/* Carries that only gather: the order of the rounds does not matter to them.
 *
 *     carry %n = 0                 next %n = select(c, add(%n, 1), %n)     add
 *     carry %any = false           next %any = or(%any, e)                 or
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
 * not stored, not asked for, not an index.
 */
#include "csrc/ir/ir.h"

/* The search along one carry.
 *   "acc"     its Var
 *   "defs"    Var * -> value, the body's LETs that are made of it
 *   "walked"  Vars of "defs" whose value has been looked at
 *   "found"   what the steps do so far
 *   "seen"    uses of the gathered value that are part of the steps
 *   "uses"    all of them */
typedef struct Chain {
    const Var *acc;
    Map defs;
    Map walked;
    Tally found;
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

/* Is 'e' the gathered value, with or without one more step? */
static bool
is_step(Chain *chain, const Expr *e)
{
    if (e->op == E_SELECT) {
        return is_choice(chain, e);
    }
    if (e->op != E_VAR) {
        return is_operation(chain, e);
    }
    chain->seen++;
    const Expr *value = map_get(&chain->defs, e->var);
    if (value == NULL || map_has(&chain->walked, e->var)) {
        return e->var == chain->acc || value != NULL;
    }
    map_set(&chain->walked, e->var, e->var);
    return is_step(chain, value);
}

/* Only a body that computes and stores is looked at. */
static bool
find_defs(Chain *chain, const Block *body)
{
    for (int i = 0; i < body->n; i++) {
        const Stmt *s = body->at[i];
        if (s->kind == S_LET && holds_it(chain, s->value)) {
            map_set(&chain->defs, s->var, s->value);
        } else if (s->kind != S_LET && s->kind != S_STORE &&
                   s->kind != S_CHECK) {
            return false;
        }
    }
    return true;
}

Tally
ir_tally(Arena *arena, const Stmt *loop, int carry)
{
    Chain chain = {.acc = loop->carries[carry].var};
    chain.defs = map_new(arena);
    chain.walked = map_new(arena);
    if (chain.acc->lanes > 0 || !find_defs(&chain, &loop->body)) {
        return TALLY_NONE;
    }
    for (int i = 0; i < loop->body.n; i++) {
        ir_each_expr(loop->body.at[i], count_uses, &chain);
    }
    for (int i = 0; i < loop->ncarries; i++) {
        count_uses(&chain, &loop->carries[i].next);
    }
    bool steps = is_step(&chain, loop->carries[carry].next);
    return steps && chain.seen == chain.uses ? chain.found : TALLY_NONE;
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
        if (loop->body.at[i]->kind == S_STORE) {
            return false;
        }
    }
    return true;
}
