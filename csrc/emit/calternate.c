/* Products that gcc would fuse although it was told not to.
 *
 *     z[0] = a * c - b * d        vfmaddsub: a * c is not rounded
 *     z[1] = a * d + b * c
 *
 * Where differences and sums stand side by side and go to neighbours in memory,
 * gcc (12 to 14 at least) makes one vector instruction of them that subtracts
 * and adds in turn.  If the first operands are products, it takes the one that
 * multiplies as well, with one rounding, whatever -ffp-contract says.  So in
 * functions where that could be, a product from which something is subtracted
 * gets a -0.0 added that gcc does not see through: that changes no number, and
 * it is no product any more.
 *
 * Likewise gcc takes -fma(a, b, c) for one operation, -(a * b) - c, which is
 * 0.0 where the other is -0.0.  So where there are fused operations, what is
 * negated is hidden in the same way.
 */
#include "csrc/emit/cgen.h"

typedef struct Search {
    bool *products;  /* by Var.id: is a product of floats */
    bool neighbours; /* something goes to neighbours in memory */
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

/* For ir_each_stmt. */
static void
look_at_stmt(void *data, Stmt *s)
{
    Search *search = data;
    bool lanes = s->kind == S_STORE && s->value->lanes > 1;
    search->neighbours |= lanes || stores_twice(&s->body) ||
                          stores_twice(&s->els) || stores_twice(&s->pre);
    ir_each_expr(s, look_at_slot, search);
}

const bool *
c_alternates(Arena *arena, const Func *func)
{
    Search search = {.neighbours = stores_twice(&func->body)};
    search.products = ARENA_ARRAY(arena, bool, func->next_id + 1);
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
