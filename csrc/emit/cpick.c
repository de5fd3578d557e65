/* Choices by a comparison of floats.
 *
 *     let %c = (lt %x 0.5)
 *     let %v = (select %c 1.0 0.0)     const double v = vz_pick_lt_f64(x, 0.5,
 * 1.0, 0.0);
 *
 * A comparison whose value is only asked for by SELECTs is written where they
 * are, and has no variable.
 */
#include "csrc/emit/cgen.h"

/* --- comparisons without a variable --------------------------------------- */

/* By Var.id: how often it is used, how often as the condition of a SELECT, and
 * the value of a LET. */
typedef struct Picks {
    int *uses;
    int *conds;
    const Expr **values;
} Picks;

/* For ir_each_node. */
static void
count_cond(void *data, const Expr *e)
{
    Picks *p = data;
    if (e->op == E_VAR) {
        p->uses[e->var->id]++;
    }
    if (e->op == E_SELECT && e->args[0]->op == E_VAR) {
        p->conds[e->args[0]->var->id]++;
    }
}

/* For ir_each_stmt. */
static void
count_stmt(void *data, Stmt *s)
{
    Picks *p = data;
    ir_each_node(s, count_cond, p);
    if (s->kind == S_LET) {
        p->values[s->var->id] = s->value;
    }
}

/* Is it a comparison of scalar floats that never change once they have a name?
 * Carries do. */
static bool
is_lasting_compare(const Picks *p, const Expr *e)
{
    bool lasting = e != NULL && (e->op == E_LT || e->op == E_LE) &&
                   e->lanes == 0 && dtype_is_float(e->args[0]->dtype);
    for (int i = 0; i < 2 && lasting; i++) {
        const Expr *arg = e->args[i];
        lasting = arg->op == E_CONST ||
                  (arg->op == E_VAR && p->values[arg->var->id] != NULL);
    }
    return lasting;
}

const Expr **
c_conds(Arena *arena, const Func *func, bool *live)
{
    Picks p;
    p.uses = ARENA_ARRAY(arena, int, func->next_id + 1);
    p.conds = ARENA_ARRAY(arena, int, func->next_id + 1);
    p.values = ARENA_ARRAY(arena, const Expr *, func->next_id + 1);
    const Expr **conds = ARENA_ARRAY(arena, const Expr *, func->next_id + 1);
    ir_each_stmt(&func->body, count_stmt, &p);
    for (int i = 0; i < func->rets.n; i++) {
        if (func->rets.at[i].value != NULL) {
            ir_each_node_of(func->rets.at[i].value, count_cond, &p);
        }
    }
    for (int id = 0; id < func->next_id; id++) {
        if (live[id] && p.uses[id] == p.conds[id] &&
            is_lasting_compare(&p, p.values[id])) {
            conds[id] = p.values[id];
            live[id] = false;
        }
    }
    return conds;
}

/* The condition of a SELECT, as it is to be written. */
static const Expr *
cond_of(const Gen *g, const Expr *select)
{
    const Expr *cond = select->args[0];
    bool written = cond->op == E_VAR && g->conds[cond->var->id] != NULL;
    return written ? g->conds[cond->var->id] : cond;
}

/* --- choices ------------------------------------------------------------- */

/* Does a comparison choose between two floats that are there, in a loop that
 * has no lanes?  It often depends on data that nobody foresees, and gcc makes a
 * branch of it if it can. */
static bool
is_pick(const Gen *g, const Expr *cond, const Expr *e)
{
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
    const Expr *cond = cond_of(g, e);
    const Expr *yes = e->args[1];
    const Expr *no = e->args[2];
    if (!is_pick(g, cond, e)) {
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
