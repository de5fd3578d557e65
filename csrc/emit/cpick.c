/* Choices by a comparison of floats.
 *
 *     let %v = (select (lt %x 0.5) 1.0 0.0)
 *
 *     const double v = vz_pick_lt_f64(x, 0.5, 1.0, 0.0);
 */
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
