/* What an inner loop in lockstep needs to have computed before it.
 *
 *     while t < a[r, c] {                let limit = a[r, c]
 *         t = t * 2 + (r % 3)      ->    let rest = r % 3
 *     }                                  while t < limit { t = t * 2 + rest }
 *
 * Elements and integer quotients have no form for lanes; those that are the
 * same in all rounds get a name before the loop, one for each lane.  It then
 * is computed even if the loop has no round, or not that branch in it: so an
 * element must be proved to exist where the loop begins.  The loop stores
 * nothing, so it stays what it was.
 */
#include "transforms/lockstep.h"

/* The rewriting of one inner loop.
 *   "func"   for new names; NULL: it is only asked for, any Var will do
 *   "b"      what holds before the loop
 *   "inner"  Var * -> Stmt *, all that the loop defines; NULL once it moved
 *   "names" "values"  what was moved, and what it is called
 *   "out"    where the LETs go */
typedef struct Hoist {
    Arena *arena;
    Func *func;
    Bounds *b;
    Map inner;
    VEC(Expr *) values;
    VEC(Expr *) names;
    Block *out;
    Loc loc;
} Hoist;

/* Nothing of the loop is in it. */
static bool
is_fixed(const Hoist *h, const Expr *e)
{
    bool fixed = !(e->op == E_VAR && map_get(&h->inner, e->var));
    for (int i = 0; i < e->nargs && fixed; i++) {
        fixed = is_fixed(h, e->args[i]);
    }
    return fixed;
}

/* Is every element that 'e' reads surely there? */
static bool
is_there(Hoist *h, const Expr *e)
{
    bool there = e->op != E_SUM;
    for (int i = 0; i < e->nargs && there; i++) {
        there = is_there(h, e->args[i]);
    }
    return there && (e->op != E_LOAD ||
                     bounds_in_range(h->b, e->buf, e->args, e->nargs));
}

/* Must it, and may it, be computed before the loop? */
static bool
moves(Hoist *h, const Expr *e)
{
    bool must = e->op == E_LOAD || e->op == E_IDIV || e->op == E_MOD;
    return must && e->lanes == 0 && is_fixed(h, e) && is_there(h, e);
}

/* The name of 'e', defined when it is first asked for. */
static Expr *
name_of(Hoist *h, Expr *e)
{
    for (int i = 0; i < h->values.n; i++) {
        if (ir_equal(h->values.at[i], e)) {
            return h->names.at[i];
        }
    }
    Var *var = NULL;
    if (h->func != NULL) {
        var = ir_var(h->func, "fixed", e->dtype, 0);
        vec_push(h->arena, h->out, ir_let(h->arena, var, e, h->loc));
    } else {
        var = ARENA_NEW(h->arena, Var);
        var->name = sym("fixed");
        var->id = -1;
        var->dtype = e->dtype;
    }
    vec_push(h->arena, &h->values, e);
    vec_push(h->arena, &h->names, ir_ref(h->arena, var));
    return vec_last(&h->names);
}

/* The largest parts of 'e' that move. */
static Expr *
rewrite(Hoist *h, Expr *e)
{
    if (moves(h, e)) {
        return name_of(h, e);
    }
    bool changed = false;
    Expr **args = ARENA_ARRAY(h->arena, Expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = rewrite(h, e->args[i]);
        changed |= args[i] != e->args[i];
    }
    return changed ? ir_with_args(h->arena, e, args) : e;
}

/* For ir_each_expr. */
static void
rewrite_slot(void *data, Expr **slot)
{
    *slot = rewrite(data, *slot);
}

/* An integer that is the same in all rounds goes out with its name: there may
 * be a quotient of it. */
static bool
moves_whole(Hoist *h, const Stmt *s)
{
    return s->kind == S_LET && dtype_is_int(s->var->dtype) &&
           s->var->lanes == 0 && s->value->op != E_CALL &&
           s->value->op != E_CAST && is_fixed(h, s->value) &&
           is_there(h, s->value);
}

/* For ir_map_block: 's' is a copy, and what stands before it is done. */
static void
rewrite_stmt(void *data, Block *out, Stmt *s)
{
    Hoist *h = data;
    ir_each_expr(s, rewrite_slot, h);
    if (!moves_whole(h, s)) {
        vec_push(h->arena, out, s);
        return;
    }
    map_set(&h->inner, s->var, NULL);
    if (h->out != NULL) {
        vec_push(h->arena, h->out, s);
    }
}

Stmt *
lockstep_hoist(Arena *arena, Func *func, Bounds *b, const Stmt *inner,
               Block *out)
{
    Block whole = {0};
    vec_push(arena, &whole, ir_copy_stmt(arena, inner));
    Hoist h = {.arena = arena, .func = func, .b = b, .out = out};
    h.inner = loop_defs(arena, &whole);
    h.loc = inner->loc;
    return ir_map_block(arena, &whole, rewrite_stmt, &h).at[0];
}
