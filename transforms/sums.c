/* What loops add up, by the names under which it goes.
 *
 *     carry %s = 0.0                         base
 *       let %t = (sub %s %v)                 added
 *       if %c { } else { }
 *       join %u = %t, %s                     added
 *     next %s = %u -> %out                   so %s and %out are added, too
 *
 * A product of what is carried, as in a recurrence, is no sum.
 */
#include "transforms/sums.h"

static char base_mark;
static char added_mark;

static SumLevel
larger(SumLevel a, SumLevel b)
{
    return a > b ? a : b;
}

SumLevel
sums_level(const Sums *sums, const Expr *e)
{
    SumLevel level = SUM_NOT;
    void *mark = e->op == E_VAR ? map_get(&sums->levels, e->var) : NULL;
    switch (e->op) {
    case E_VAR:
        return mark == &added_mark ? SUM_ADDED : mark ? SUM_BASE : SUM_NOT;
    case E_ADD:
    case E_PLUS:
        level = larger(sums_level(sums, e->args[0]),
                       sums_level(sums, e->args[1]));
        return level == SUM_NOT ? SUM_NOT : SUM_ADDED;
    case E_SUB:
        level = sums_level(sums, e->args[0]);
        return level == SUM_NOT ? SUM_NOT : SUM_ADDED;
    case E_SELECT:
        return larger(sums_level(sums, e->args[1]),
                      sums_level(sums, e->args[2]));
    default:
        return SUM_NOT;
    }
}

/* Levels only rise, so that the search ends. */
static void
raise_level(Sums *sums, Var *var, SumLevel level)
{
    void *mark = level == SUM_ADDED ? &added_mark : &base_mark;
    void *old = map_get(&sums->levels, var);
    if (level != SUM_NOT && dtype_is_float(var->dtype) && old != mark &&
        old != &added_mark) {
        map_set(&sums->levels, var, mark);
        sums->grown = true;
    }
}

/* For ir_each_stmt. */
static void
note_sums(void *data, Stmt *s)
{
    Sums *sums = data;
    if (s->kind == S_LET) {
        raise_level(sums, s->var, sums_level(sums, s->value));
    }
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        SumLevel next = sums_level(sums, carry->next);
        raise_level(sums, carry->var, larger(SUM_BASE, next));
        raise_level(sums, carry->out, next);
    }
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        raise_level(sums, join->out,
                    larger(sums_level(sums, join->then_val),
                           sums_level(sums, join->else_val)));
    }
}

/* Loops carry sums from their end to their beginning: until nothing changes. */
void
sums_find(Arena *arena, const Func *func, Sums *out)
{
    out->levels = map_new(arena);
    do {
        out->grown = false;
        ir_each_stmt(&func->body, note_sums, out);
    } while (out->grown);
}
