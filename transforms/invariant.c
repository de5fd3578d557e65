/* Pass 'invariant': scalars that don't change in a loop move before it, and so
 * do checks.
 *
 *     for x in 0..w {                      let %r1 = r + 1
 *         let %r1 = r + 1          -->     check or(w <= 0, r1 < h)
 *         check r1 < h                     for x in 0..w {
 *         out[x] = a[r1, x]                    out[x] = a[r1, x]
 *     }                                    }
 *
 * The C compiler would do the same; what it gains here is that the emitter
 * sees which rows of an array a loop runs along (csrc/emit/crow.c).
 * Expressions have no effects and never trap, so a LET may be computed though
 * the loop runs zero times.  Only LETs without loads and calls move, out of
 * serial and vector loops, one loop at a time from the inside out.
 *
 * A check that is the same in every round fails in the first one or never.
 * Failing it earlier than what else that round does is no matter, since all of
 * it is undone then.
 */
#include "transforms/transforms.h"

/* The pass's state.
 *   "pass"   arenas
 *   "inner"  Vars and Bufs that change in the loop at hand, each with something
 *            that is not NULL; a Var whose LET has moved is set back to NULL */
typedef struct Walk {
    Pass *pass;
    Map inner;
} Walk;

static void walk_block(Walk *w, Block *block);

/* Notes what 's' defines by itself. For ir_each_stmt. */
static void
note_defined(void *data, Stmt *s)
{
    Walk *w = data;
    if (s->var != NULL) {
        map_set(&w->inner, s->var, s->var);
    }
    for (int i = 0; i < s->njoins; i++) {
        map_set(&w->inner, s->joins[i].out, s);
    }
    for (int i = 0; i < s->ncarries; i++) {
        map_set(&w->inner, s->carries[i].var, s);
        map_set(&w->inner, s->carries[i].out, s);
    }
    if (s->kind == S_ALLOC || s->kind == S_VIEW || s->kind == S_GROW) {
        map_set(&w->inner, s->buf, s);
    }
    for (int i = 0; i < s->nbinds; i++) {
        map_set(&w->inner, s->binds[i].out, s);
        if (s->binds[i].var != NULL) {
            map_set(&w->inner, s->binds[i].var, s);
        }
    }
}

/* Does the node itself ask for a Var of the loop, or for the extents or the
 * place of a Buf that is not there before it? */
static bool
is_inner(const Walk *w, const Expr *e)
{
    bool of_buf = e->op == E_DIM || e->op == E_STRIDE || e->op == E_DISJOINT;
    return (e->op == E_VAR && map_get(&w->inner, e->var) != NULL) ||
           (of_buf && map_get(&w->inner, e->buf) != NULL) ||
           (e->op == E_DISJOINT && map_get(&w->inner, e->buf2) != NULL);
}

/* Is 'e' the same in every round, and cheap: nothing of the loop in it, no
 * load, no call? Loads could see what the loop writes; calls would be paid for
 * where the loop runs no round. */
static bool
is_fixed(const Walk *w, const Expr *e)
{
    bool fixed = !ir_reads(e) && e->op != E_CALL && !is_inner(w, e);
    for (int i = 0; i < e->nargs && fixed; i++) {
        fixed = is_fixed(w, e->args[i]);
    }
    return fixed;
}

/* 'check', which is fixed in 'loop', before it: a loop without rounds doesn't
 * make it. */
static Stmt *
check_before(Arena *a, const Stmt *check, const Stmt *loop)
{
    Stmt *s = ir_copy_stmt(a, check);
    if (loop_trips(loop) < 1) {
        Expr *none = ir_binary(a, E_LE, loop->hi, loop->lo);
        s->value = ir_binary(a, E_OR, none, s->value);
    }
    return s;
}

/* Is 's' a check that may move?  The loop's ends are evaluated once more. */
static bool
is_fixed_check(const Walk *w, const Stmt *s, const Stmt *loop)
{
    return s->kind == S_CHECK && is_fixed(w, s->value) &&
           !ir_has_load(loop->lo) && !ir_has_load(loop->hi);
}

/* Moves what is fixed in 'loop' to the end of 'out', in order: a LET may use
 * one that has just moved. */
static void
move_fixed(Walk *w, Stmt *loop, Block *out)
{
    Arena *a = w->pass->arena;
    Block rest = {0};
    w->inner = map_new(w->pass->scratch);
    note_defined(w, loop);
    ir_each_stmt(&loop->body, note_defined, w);
    for (int i = 0; i < loop->body.n; i++) {
        Stmt *s = loop->body.at[i];
        if (s->kind == S_LET && is_fixed(w, s->value)) {
            vec_push(a, out, s);
            map_set(&w->inner, s->var, NULL);
        } else if (is_fixed_check(w, s, loop)) {
            vec_push(a, out, check_before(a, s, loop));
        } else {
            vec_push(a, &rest, s);
        }
    }
    loop->body = rest;
}

/* From the inside out, so that a LET may leave several loops, one after
 * another. */
static void
walk_block(Walk *w, Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        walk_block(w, &s->body);
        walk_block(w, &s->els);
        if (s->kind == S_FOR && s->mode != LOOP_PARALLEL) {
            move_fixed(w, s, &out);
        }
        vec_push(w->pass->arena, &out, s);
    }
    *block = out;
}

/* Changes 'func' in place. */
Func *
pass_invariant(Pass *pass, Func *func)
{
    Walk w = {.pass = pass};
    walk_block(&w, &func->body);
    return func;
}
