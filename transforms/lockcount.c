/* Carries of an inner loop that count its rounds.
 *
 *     n' = n + 1        or    if stop { n' = n } else { n' = n + 1 }
 *
 * In lanes, n' = n + (1 if the lane made the round, or goes on, else 0): the
 * same without a choice.  Where several rounds follow each other, gcc makes
 * branches again of choices between what one hands to the next, and then no
 * SIMD.
 *
 * A counter that starts from the same number in all lanes and goes up by one is
 * the same in all lanes that are in.  So a test n < limit, where the limit is
 * the same in all, need not be made in lanes: how many rounds are left is known
 * to all at once.
 */
#include "transforms/lockstep.h"

Join *
lockstep_join(const Stmt *branch, const Expr *name)
{
    for (int i = 0; i < branch->njoins; i++) {
        if (ir_is_var(name, branch->joins[i].out)) {
            return &branch->joins[i];
        }
    }
    return NULL;
}

/* What 'e', a name that 'block' defines, stands for; NULL: another name. */
static Expr *
value_in(const Block *block, const Expr *e)
{
    for (int i = 0; i < block->n && e->op == E_VAR; i++) {
        if (block->at[i]->kind == S_LET && block->at[i]->var == e->var) {
            return block->at[i]->value;
        }
    }
    return NULL;
}

/* Is 'e' carry + k or carry - -k, k a constant?  Then k. */
static Expr *
step_in(Arena *arena, const Block *block, const Expr *e, const Carry *carry)
{
    const Expr *sum = value_in(block, e);
    bool step = sum != NULL && (sum->op == E_ADD || sum->op == E_SUB) &&
                ir_is_var(sum->args[0], carry->var) &&
                sum->args[1]->op == E_CONST && dtype_is_int(sum->dtype);
    if (!step || sum->op == E_ADD) {
        return step ? sum->args[1] : NULL;
    }
    return ir_unary(arena, E_NEG, sum->args[1]);
}

/* A carry's next value in a round that ends the loop, and in one that doesn't.
 */
typedef struct Choice {
    Expr *stays;
    Expr *goes;
} Choice;

/* From the joins of the last branch, where one of them is "until". */
static bool
choice_of_joins(const Stmt *s, const Carry *carry, Choice *out)
{
    const Stmt *last = s->body.n > 0 ? vec_last(&s->body) : NULL;
    const Join *stop = last != NULL ? lockstep_join(last, s->until) : NULL;
    const Join *next = last != NULL ? lockstep_join(last, carry->next) : NULL;
    int64_t then_stop = 0;
    int64_t else_stop = 0;
    if (stop == NULL || next == NULL ||
        !ir_const_int(stop->then_val, &then_stop) ||
        !ir_const_int(stop->else_val, &else_stop) || then_stop == else_stop) {
        return false;
    }
    *out = then_stop ? (Choice){next->then_val, next->else_val}
                     : (Choice){next->else_val, next->then_val};
    return true;
}

/* From a select by what "until" says. */
static bool
choice_of_select(const Stmt *s, const Carry *carry, Choice *out)
{
    const Expr *next = value_in(&s->body, carry->next);
    const Expr *stop = value_in(&s->body, s->until);
    if (next == NULL || next->op != E_SELECT ||
        !ir_equal(next->args[0], stop != NULL ? stop : s->until)) {
        return false;
    }
    *out = (Choice){next->args[1], next->args[2]};
    return true;
}

Expr *
lockstep_tally(Arena *arena, const Stmt *s, const Carry *carry,
               bool *unless_last)
{
    Choice choice;
    Expr *step = step_in(arena, &s->body, carry->next, carry);
    *unless_last = step == NULL;
    if (step != NULL || s->until == NULL ||
        !(choice_of_joins(s, carry, &choice) ||
          choice_of_select(s, carry, &choice)) ||
        !ir_is_var(choice.stays, carry->var)) {
        return step;
    }
    const Stmt *last = vec_last(&s->body);
    const Block *blocks[] = {&s->body, &last->body, &last->els};
    for (int i = 0; i < 3 && step == NULL; i++) {
        step = step_in(arena, blocks[i], choice.goes, carry);
    }
    return step;
}

/* --- tests that are the same in all lanes --------------------------------- */

/* 'e' in names from outside the lanes, if it is the same in all of them; NULL:
 * it may differ.  Behind the straight part that defines the names it may be
 * computed: what it needs to be checked was. */
static Expr *
common_value(const Lockstep *m, Expr *e, int *fuel)
{
    const Block *part = e->op == E_VAR ? map_get(&m->defined, e->var) : NULL;
    if (ir_reads(e) || (e->op == E_VAR && e->var == m->loop->var) ||
        (*fuel)-- <= 0) {
        return NULL;
    }
    if (part != NULL) {
        Expr *value = value_in(part, e);
        return value != NULL ? common_value(m, value, fuel) : NULL;
    }
    Expr **args = ARENA_ARRAY(m->arena, Expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = common_value(m, e->args[i], fuel);
        if (args[i] == NULL) {
            return NULL;
        }
    }
    return e->nargs > 0 ? ir_with_args(m->arena, e, args) : e;
}

/* max(limit, start) - start: with a start of zero or more nothing overflows. */
static Expr *
rounds_between(const Lockstep *m, Expr *start, Expr *limit)
{
    enum { MOST = 64 }; /* nodes that a limit may be spelled out to */
    int64_t first;
    int fuel = MOST;
    Expr *common = common_value(m, limit, &fuel);
    if (!ir_const_int(start, &first) || first < 0 || common == NULL ||
        limit->dtype != DT_I64 || start->dtype != DT_I64) {
        return NULL;
    }
    Expr *last = ir_binary(m->arena, E_MAX, common, start);
    return ir_binary(m->arena, E_SUB, last, start);
}

Expr *
lockstep_left(const Lockstep *m, const Stmt *s)
{
    if (s->kind == S_FOR) {
        return rounds_between(m, s->lo, s->hi);
    }
    for (int i = 0; i < s->ncarries && s->pre.n == 0; i++) {
        const Carry *carry = &s->carries[i];
        int64_t step = 0;
        bool unless_last;
        if (s->value->op == E_LT && ir_is_var(s->value->args[0], carry->var)) {
            Expr *by = lockstep_tally(m->arena, s, carry, &unless_last);
            return by != NULL && ir_const_int(by, &step) && step == 1
                       ? rounds_between(m, carry->init, s->value->args[1])
                       : NULL;
        }
    }
    return NULL;
}
