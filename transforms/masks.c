/* Branches that store, in the form that SIMD has for them.
 *
 *     if v < k {                             let t = a[y, x] * 2
 *         store out[y, x] = a[y, x] * 2      if v < k { store out[y, x] = t }
 *     } else {                          ->   let m = not(v < k)
 *         if w { store b[y, x] = v }         if and(m, w) { store b[y, x] = v }
 *     }
 *
 * All is computed in every round, and each store has a condition of its own.
 * The C compiler makes masks of these: nothing is written where the condition
 * doesn't hold, so other threads' elements are as safe as with the branch.
 *
 * What is computed in vain must not trap, warn or take long (vectorize.c), and
 * what is loaded must be in range whatever the condition.  The order of loads
 * and stores stays, and whether rounds are independent is asked of this form: a
 * load in vain counts there like any other.  (Threads around may store to what
 * is loaded in vain; nobody looks at it then.)
 */
#include "transforms/transforms.h"

/* One loop while it is rewritten.
 *   "b"     outside of the branches, at the statement at hand
 *   "loop"  as it was
 *   "ok"    nothing stood in the way so far */
typedef struct Masks {
    Arena *arena;
    Func *func;
    Bounds *b;
    const Stmt *loop;
    bool ok;
} Masks;

/* --- what may be computed in vain ----------------------------------------- */

/* Is the load in range?  Arrays that the loop makes anew are left out. */
static bool
is_safe_load(Masks *m, const Expr *e)
{
    return e->op == E_LOAD && e->lanes == 0 && e->nargs == e->buf->rank &&
           !loop_makes(m->loop, e->buf) &&
           bounds_in_range(m->b, e->buf, e->args, e->nargs);
}

static bool
is_safe(Masks *m, const Expr *e)
{
    bool safe = ir_reads(e) ? is_safe_load(m, e)
                            : select_is_free(e, m->func->deaf);
    for (int i = 0; i < e->nargs && safe; i++) {
        safe = is_safe(m, e->args[i]);
    }
    return safe;
}

/* --- masks ---------------------------------------------------------------- */

/* Appends 's', and knows of it. */
static void
push(Masks *m, Block *out, Stmt *s)
{
    vec_push(m->arena, out, s);
    bounds_after(m->b, s);
}

/* 'e' by a name, at the end of 'out'. */
static Expr *
bind(Masks *m, Block *out, const char *name, Expr *e, Loc loc)
{
    if (e->op == E_VAR || e->op == E_CONST) {
        return e;
    }
    Var *var = ir_var(m->func, name, e->dtype, e->lanes);
    push(m, out, ir_let(m->arena, var, e, loc));
    return ir_ref(m->arena, var);
}

static void mask_block(Masks *m, const Block *block, Expr *cond, Block *out);

/* Both sides, each under its condition, then what they hand out. */
static void
mask_if(Masks *m, const Stmt *s, Expr *cond, Block *out)
{
    Arena *arena = m->arena;
    m->ok &= s->nbinds == 0 && is_safe(m, s->value);
    Expr *here = bind(m, out, "c", s->value, s->loc);
    Expr *yes = cond ? ir_binary(arena, E_AND, cond, here) : here;
    Expr *no = ir_unary(arena, E_NOT, here);
    no = cond ? ir_binary(arena, E_AND, cond, no) : no;
    mask_block(m, &s->body, bind(m, out, "c", yes, s->loc), out);
    if (s->els.n > 0) {
        mask_block(m, &s->els, bind(m, out, "c", no, s->loc), out);
    }
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        m->ok &= is_safe(m, join->then_val) && is_safe(m, join->else_val);
        Expr *value = ir_select(arena, here, join->then_val, join->else_val);
        push(m, out, ir_let(arena, join->out, value, s->loc));
    }
}

/* A store under its condition.  Its value is computed in any case. */
static void
mask_store(Masks *m, const Stmt *s, Expr *cond, Block *out)
{
    Stmt *store = ir_copy_stmt(m->arena, s);
    Stmt *branch = ir_stmt(m->arena, S_IF, s->loc);
    m->ok &= is_safe(m, s->value) && s->value->lanes == 0;
    for (int i = 0; i < s->nindex; i++) {
        m->ok &= !ir_has_load(s->index[i]);
    }
    store->value = bind(m, out, "t", s->value, s->loc);
    branch->value = cond;
    vec_push(m->arena, &branch->body, store);
    push(m, out, branch);
}

static void
mask_block(Masks *m, const Block *block, Expr *cond, Block *out)
{
    for (int i = 0; i < block->n && m->ok; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_IF) {
            mask_if(m, s, cond, out);
        } else if (s->kind == S_STORE && cond != NULL) {
            mask_store(m, s, cond, out);
        } else {
            m->ok &= cond == NULL || (s->kind == S_LET && is_safe(m, s->value));
            push(m, out, s);
        }
    }
}

Stmt *
mask_form(Arena *arena, Func *func, Bounds *b, const Stmt *loop)
{
    enum { MOST = 200 }; /* nodes of a body that is worth it */
    Masks m = {arena, func, b, loop, ir_size(&loop->body) <= MOST};
    Stmt *copy = ir_copy_stmt(arena, loop);
    copy->body = (Block){0};
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    mask_block(&m, &loop->body, NULL, &copy->body);
    bounds_pop(b, mark);
    return m.ok ? copy : NULL;
}
