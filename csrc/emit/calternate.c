/* Products that gcc would fuse although it was told not to.
 *
 *     z[0] = a * c - b * d        vfmaddsub: a * c is not rounded
 *     z[1] = a * d + b * c
 *
 * Where differences and sums stand side by side and go to neighbours in memory,
 * or are added up in turn, gcc (12 at least) makes one vector instruction of
 * them that subtracts and adds in turn.  If the first operands are products, it
 * takes the one that multiplies as well, with one rounding, whatever
 * -ffp-contract says.  So in functions where that could be, a product from
 * which something is subtracted gets a -0.0 added that gcc does not see
 * through: that changes no number, and it is no product any more.
 *
 * Likewise gcc takes -fma(a, b, c) for one operation, -(a * b) - c, which is
 * 0.0 where the other is -0.0.  So where there are fused operations, what is
 * negated is hidden in the same way.
 */
#include "csrc/emit/cgen.h"

typedef struct Search {
    const Expr **lets; /* by Var.id: its value */
    bool *products;  /* by Var.id: is a product of floats */
    bool neighbours; /* something goes to neighbours, or is added up */
    bool sums;       /* something is added to a product */
    bool differences; /* and subtracted from one */
} Search;

/* Is it a product of floats, perhaps under a name? */
bool
c_is_product(const bool *products, const Expr *e)
{
    return e->op == E_VAR ? products[e->var->id]
                          : e->op == E_MUL && dtype_is_float(e->dtype);
}

/* For ir_each_stmt. */
static void
note_product(void *data, Stmt *s)
{
    Search *search = data;
    if (s->kind == S_LET) {
        search->lets[s->var->id] = s->value;
        search->products[s->var->id] =
            c_is_product(search->products, s->value);
    }
}

static void
look_at(Search *search, const Expr *e)
{
    if (e->op == E_ADD || e->op == E_SUB) {
        bool first = c_is_product(search->products, e->args[0]);
        bool second = c_is_product(search->products, e->args[1]);
        search->differences |= e->op == E_SUB && first;
        search->sums |= e->op == E_ADD && (first || second);
    }
    for (int i = 0; i < e->nargs; i++) {
        look_at(search, e->args[i]);
    }
}

/* For ir_each_expr. */
static void
look_at_slot(void *data, Expr **slot)
{
    look_at(data, *slot);
}

/* Two stores into one array, one after the other. */
static bool
stores_twice(const Block *block)
{
    const Buf *last = NULL;
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_STORE && s->buf == last) {
            return true;
        }
        last = s->kind == S_STORE ? s->buf : last;
    }
    return false;
}

/* How many additions lead from 'var' to 'e'; -1: something else. */
static int
additions(const Search *search, const Expr *e, const Var *var)
{
    if (e->op == E_VAR) {
        const Expr *value = search->lets[e->var->id];
        return e->var == var ? 0
               : value       ? additions(search, value, var)
                             : -1;
    }
    int most = -1;
    for (int i = 0; (e->op == E_ADD || e->op == E_SUB) && i < 2; i++) {
        int n = additions(search, e->args[i], var);
        most = n > most ? n : most;
    }
    return most < 0 ? -1 : most + 1;
}

/* For ir_each_stmt. */
static void
look_at_stmt(void *data, Stmt *s)
{
    Search *search = data;
    bool lanes = s->kind == S_STORE && s->value->lanes > 1;
    search->neighbours |= lanes || stores_twice(&s->body) ||
                          stores_twice(&s->els) || stores_twice(&s->pre);
    for (int i = 0; i < s->ncarries; i++) { /* s += re * re; s += im * im */
        const Carry *carry = &s->carries[i];
        search->neighbours |= dtype_is_float(carry->var->dtype) &&
                              additions(search, carry->next, carry->var) > 1;
    }
    ir_each_expr(s, look_at_slot, search);
}

const bool *
c_alternates(Arena *arena, const Func *func)
{
    Search search = {.neighbours = stores_twice(&func->body)};
    search.products = ARENA_ARRAY(arena, bool, func->next_id + 1);
    search.lets = ARENA_ARRAY(arena, const Expr *, func->next_id + 1);
    ir_each_stmt(&func->body, note_product, &search);
    ir_each_stmt(&func->body, look_at_stmt, &search);
    int floats = 0;
    for (int i = 0; i < func->rets.n; i++) {
        const Expr *value = func->rets.at[i].value;
        if (value != NULL && dtype_is_float(value->dtype)) {
            floats += value->lanes ? value->lanes : 1;
            look_at(&search, value);
        }
    }
    search.neighbours |= floats > 1;
    bool all = search.neighbours && search.sums && search.differences;
    return all ? search.products : NULL;
}

/* For ir_each_expr: 'data' is a bool. */
static void
look_for_fma(void *data, Expr **slot)
{
    const Expr *e = *slot;
    *(bool *)data |= e->op == E_CALL && e->fn == FN_FMA;
    for (int i = 0; i < e->nargs; i++) {
        look_for_fma(data, &e->args[i]);
    }
}

/* For ir_each_stmt. */
static void
look_for_fma_in(void *data, Stmt *s)
{
    ir_each_expr(s, look_for_fma, data);
}

bool
c_fuses(const Func *func)
{
    bool found = false;
    ir_each_stmt(&func->body, look_for_fma_in, &found);
    for (int i = 0; i < func->rets.n; i++) {
        if (func->rets.at[i].value != NULL) {
            look_for_fma(&found, &func->rets.at[i].value);
        }
    }
    return found;
}
