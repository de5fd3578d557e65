/* What is said in full where it is used, for the C compiler makes more of it.
 *
 *     let %c = (lt %x 0.5)
 *     let %v = (select %c 1.0 0.0)     ->  (select (lt %x 0.5) 1.0 0.0)
 *
 *     let %j = (add %i 1)
 *     let %d = (sub &a[%j] &a[%i])     ->  (sub &a[(add %i 1)] &a[%i])
 *
 * A choice by a comparison needs no flag (cpick.c).  Elements a constant number
 * of places apart have one address and constants (cplace.c): eight neighbours
 * in a grid need two.
 */
#include "csrc/emit/cgen.h"

/* "values": c_values; "counts": by Var.id, is a FOR's variable. */
typedef struct Spell {
    Arena *arena;
    Expr *const *values;
    bool *counts;
} Spell;

/* For ir_each_stmt. */
static void
note_counter(void *data, Stmt *s)
{
    Spell *sp = data;
    if (s->kind == S_FOR) {
        sp->counts[s->var->id] = true;
    }
}

/* Does a name never change once it is there?  Those of carries do. */
static bool
is_lasting(const Spell *sp, const Var *var)
{
    return sp->values[var->id] != NULL || sp->counts[var->id];
}

/* Is it a comparison of scalar floats that last? */
static bool
is_lasting_compare(const Spell *sp, const Expr *e)
{
    bool lasting = e != NULL && (e->op == E_LT || e->op == E_LE) &&
                   e->lanes == 0 && dtype_is_float(e->args[0]->dtype);
    for (int i = 0; i < 2 && lasting; i++) {
        const Expr *arg = e->args[i];
        lasting = arg->op == E_CONST ||
                  (arg->op == E_VAR && is_lasting(sp, arg->var));
    }
    return lasting;
}

/* 'index' is i + k, i a name that lasts: so, or else 'index' itself. */
static Expr *
as_sum(const Spell *sp, Expr *index)
{
    Expr *value = index->op == E_VAR ? sp->values[index->var->id] : NULL;
    bool sum = value != NULL && value->dtype == DT_I64 &&
               (value->op == E_ADD || value->op == E_SUB) &&
               value->args[0]->op == E_VAR && value->args[1]->op == E_CONST;
    return sum && is_lasting(sp, value->args[0]->var) ? value : index;
}

/* For ir_map. */
static Expr *
spell_expr(void *data, Expr *e)
{
    const Spell *sp = data;
    if (e->op != E_SELECT && e->op != E_LOAD) {
        return e;
    }
    Expr **args = arena_copy(sp->arena, e->args,
                             sizeof(Expr *) * (size_t)e->nargs);
    if (e->op == E_SELECT && e->args[0]->op == E_VAR) {
        Expr *cond = sp->values[e->args[0]->var->id];
        args[0] = is_lasting_compare(sp, cond) ? cond : args[0];
    }
    for (int i = 0; i < e->nargs && e->op == E_LOAD; i++) {
        args[i] = as_sum(sp, args[i]);
    }
    return ir_with_args(sp->arena, e, args);
}

/* For ir_each_expr. */
static void
spell_slot(void *data, Expr **slot)
{
    Spell *sp = data;
    *slot = ir_map(sp->arena, *slot, spell_expr, sp);
}

/* For ir_map_block. */
static void
spell_stmt(void *data, Block *out, Stmt *s)
{
    Spell *sp = data;
    ir_each_expr(s, spell_slot, sp);
    for (int i = 0; i < s->nindex && s->kind == S_STORE; i++) {
        s->index[i] = as_sum(sp, s->index[i]);
    }
    vec_push(sp->arena, out, s);
}

const Func *
c_spelled(Arena *arena, const Func *func)
{
    Spell sp = {arena, c_values(arena, func),
                ARENA_ARRAY(arena, bool, func->next_id + 1)};
    ir_each_stmt(&func->body, note_counter, &sp);
    Func *copy = arena_copy(arena, func, sizeof(*func));
    copy->body = ir_map_block(arena, &func->body, spell_stmt, &sp);
    return copy;
}
