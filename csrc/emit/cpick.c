/* Choices by a comparison of floats.
 *
 *     let %c = (lt %x 0.5)
 *     let %v = (select %c 1.0 0.0)
 *
 *     const double v = vz_pick_lt_f64(x, 0.5, 1.0, 0.0);
 */
#include "csrc/emit/cgen.h"

/* --- comparisons where they are asked ------------------------------------ */

/* "values": by Var.id, of LETs. */
typedef struct Conds {
    Arena *arena;
    Expr **values;
} Conds;

/* For ir_each_stmt. */
static void
note_value(void *data, Stmt *s)
{
    Conds *c = data;
    if (s->kind == S_LET) {
        c->values[s->var->id] = s->value;
    }
}

/* Is it a comparison of scalar floats that never change once they have a name?
 * Carries do. */
static bool
is_lasting_compare(const Conds *c, const Expr *e)
{
    bool lasting = e != NULL && (e->op == E_LT || e->op == E_LE) &&
                   e->lanes == 0 && dtype_is_float(e->args[0]->dtype);
    for (int i = 0; i < 2 && lasting; i++) {
        const Expr *arg = e->args[i];
        lasting = arg->op == E_CONST ||
                  (arg->op == E_VAR && c->values[arg->var->id] != NULL);
    }
    return lasting;
}

/* For ir_map. */
static Expr *
ask_in_place(void *data, Expr *e)
{
    const Conds *c = data;
    Expr *cond = e->op == E_SELECT && e->args[0]->op == E_VAR
                     ? c->values[e->args[0]->var->id]
                     : NULL;
    return is_lasting_compare(c, cond)
               ? ir_with_args(c->arena, e,
                              (Expr *[]){cond, e->args[1], e->args[2]})
               : e;
}

/* For ir_each_expr. */
static void
ask_slot(void *data, Expr **slot)
{
    Conds *c = data;
    *slot = ir_map(c->arena, *slot, ask_in_place, c);
}

/* For ir_map_block. */
static void
ask_stmt(void *data, Block *out, Stmt *s)
{
    Conds *c = data;
    ir_each_expr(s, ask_slot, c);
    vec_push(c->arena, out, s);
}

const Func *
c_with_conds(Arena *arena, const Func *func)
{
    Conds c = {arena, ARENA_ARRAY(arena, Expr *, func->next_id + 1)};
    ir_each_stmt(&func->body, note_value, &c);
    Func *copy = arena_copy(arena, func, sizeof(*func));
    copy->body = ir_map_block(arena, &func->body, ask_stmt, &c);
    return copy;
}

/* --- choices ------------------------------------------------------------- */

/* Does a comparison choose between two floats that are there, in a loop that
 * has no lanes?  It often depends on data that nobody foresees, and gcc makes a
 * branch of it if it can. */
static bool
is_pick(const Gen *g, const Expr *e)
{
    const Expr *cond = e->args[0];
    bool compares = (cond->op == E_LT || cond->op == E_LE) &&
                    cond->args[0]->dtype == e->dtype &&
                    dtype_is_float(e->dtype);
    return compares && e->lanes == 0 && g->frame->serial &&
           e->args[1]->nargs == 0 && e->args[2]->nargs == 0 &&
           !(ir_equal(cond->args[0], e->args[1]) &&
             ir_equal(cond->args[1], e->args[2])) &&
           !(ir_equal(cond->args[0], e->args[2]) &&
             ir_equal(cond->args[1], e->args[1]));
}

/* The one that is not chosen need not be computed: expressions neither trap nor
 * do anything. gcc and clang turn '?:' into a blend or a conditional move, if
 * they don't think better of it. */
Piece
c_select(Gen *g, const Expr *e, int lane)
{
    const Expr *cond = e->args[0];
    const Expr *yes = e->args[1];
    const Expr *no = e->args[2];
    if (!is_pick(g, e)) {
        return (Piece){str_printf(g->arena, "%s ? %s : %s",
                                  c_expr(g, cond, lane, P_EQUAL),
                                  c_beside(g, yes, no, lane, P_BITS),
                                  c_beside(g, no, yes, lane, P_COND)),
                       P_COND};
    }
    return (Piece){str_printf(g->arena, "vz_pick_%s_%s(%s, %s, %s, %s)",
                              cond->op == E_LT ? "lt" : "le",
                              dtype_short(e->dtype),
                              c_expr(g, cond->args[0], 0, P_ANY),
                              c_expr(g, cond->args[1], 0, P_ANY),
                              c_expr(g, yes, 0, P_ANY),
                              c_expr(g, no, 0, P_ANY)),
                   P_ATOM};
}
