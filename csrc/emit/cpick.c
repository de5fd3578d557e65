/* Choices by a comparison of floats.
 *
 *     let %v = (select (lt %x 0.5) 1.0 0.0)
 *
 *     const double v = vz_pick_lt_f64(x, 0.5, 1.0, 0.0);
 *
 * In SIMD loops gcc makes one choice of several with masks for each outcome,
 * and of an integer's three the three integers' choice: a value that is cut to
 * 0..255 takes twenty instructions, not eight.  -0.0, which changes nothing
 * but which gcc does not know, is added between.
 */
#include <math.h>

#include "csrc/emit/cgen.h"

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

/* --- choices of choices --------------------------------------------------- */

/* "values": c_values; "chained": by Var.id, see c_chained. */
typedef struct Chain {
    Expr *const *values;
    bool *chained;
} Chain;

/* Does arithmetic give 'e', or is it a number?  Then it is no signalling nan,
 * which an addition would make a quiet one of. */
static bool
is_quiet(Expr *const *values, const Expr *e)
{
    switch (e->op) {
    case E_CONST:
        return !isnan(e->fval);
    case E_VAR:
        return values[e->var->id] != NULL &&
               is_quiet(values, values[e->var->id]);
    case E_SELECT:
        return is_quiet(values, e->args[1]) && is_quiet(values, e->args[2]);
    case E_ADD:
    case E_SUB:
    case E_MUL:
    case E_DIV:
        return true;
    default:
        return e->op == E_CAST && !dtype_is_float(e->args[0]->dtype);
    }
}

/* Notes that 'e', if it is the name of a choice, is compared or cut. */
static void
note_chained(Chain *c, const Expr *e)
{
    Expr *value = e->op == E_VAR ? c->values[e->var->id] : NULL;
    if (value != NULL && value->op == E_SELECT && value->lanes == 0 &&
        dtype_is_float(value->dtype) && is_quiet(c->values, value)) {
        c->chained[e->var->id] = true;
    }
}

/* For ir_each_node. */
static void
look_at_node(void *data, const Expr *e)
{
    Chain *c = data;
    const Expr *cond = e->op == E_SELECT ? e->args[0] : e;
    if (e->op == E_SELECT && (cond->op == E_LT || cond->op == E_LE)) {
        note_chained(c, cond->args[0]);
        note_chained(c, cond->args[1]);
    } else if (e->op == E_CAST && dtype_is_int(e->dtype)) {
        note_chained(c, e->args[0]);
    }
}

/* For ir_each_stmt. */
static void
look_at_stmt(void *data, Stmt *s)
{
    ir_each_node(s, look_at_node, data);
}

const bool *
c_chained(Arena *arena, const Func *func)
{
    Chain c = {c_values(arena, func),
               ARENA_ARRAY(arena, bool, func->next_id + 1)};
    ir_each_stmt(&func->body, look_at_stmt, &c);
    return c.chained;
}
