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
 * Where small integers from memory are compared with one that doesn't change,
 * it is brought near their range before the loop, and the comparison needs 32
 * bits in place of 64: twice the lanes.
 *
 *     for x in 0..w {                      let %k = cast i32 (t in -1..256)
 *         let %c = t < cast i64 a[x] -->   for x in 0..w {
 *                                              let %c = %k < cast i32 a[x]
 *
 * A check that is the same in every round fails in the first one or never.
 * Failing it earlier than what else that round does is no matter, since all of
 * it is undone then.
 */
#include "transforms/transforms.h"

/* The pass's state.
 *   "pass"   arenas; "func"  the new one
 *   "inner"  Vars and Bufs that change in the loop at hand, each with something
 *            that is not NULL; a Var whose LET has moved is set back to NULL */
typedef struct Walk {
    Pass *pass;
    Func *func;
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

/* --- comparisons of small integers --------------------------------------- */

/* Comparisons in a loop, of which "defs" are the names; what goes before it is
 * appended to "out". */
typedef struct Small {
    Walk *w;
    Map defs;
    Block *out;
} Small;

/* The integer of 8 or 16 bits that 'e' widens; NULL: it does something else. */
static Expr *
widened(const Small *s, const Expr *e)
{
    const Stmt *def = e->op == E_VAR ? map_get(&s->defs, e->var) : NULL;
    e = def != NULL && def->kind == S_LET ? def->value : e;
    Expr *arg = e->op == E_CAST && e->dtype == DT_I64 ? e->args[0] : NULL;
    bool small = arg != NULL && arg->lanes == 0 && dtype_is_int(arg->dtype) &&
                 dtype_size(arg->dtype) <= 2;
    return small ? arg : NULL;
}

/* 'e', or where that is outside of all values of 'dtype', the nearest integer
 * that is. */
static Expr *
brought_near(Small *s, Expr *e, DType dtype)
{
    Arena *a = s->w->pass->arena;
    int bits = 8 * dtype_size(dtype);
    bool sign = dtype_is_signed(dtype);
    Expr *above = ir_int(a, DT_I64, (int64_t)1 << (bits - sign));
    int64_t least = sign ? -((int64_t)1 << (bits - 1)) : 0;
    Expr *below = ir_int(a, DT_I64, least - 1);
    e = ir_binary(a, E_MAX, ir_binary(a, E_MIN, e, above), below);
    return ir_named(s->w->func, s->out, "near", ir_cast(a, DT_I32, e), e->loc);
}

/* For ir_map. */
static Expr *
compare_small(void *data, Expr *e)
{
    Small *s = data;
    Arena *a = s->w->pass->arena;
    bool compares = e->op == E_LT || e->op == E_LE || e->op == E_EQ ||
                    e->op == E_NE;
    for (int i = 0; i < 2 && compares; i++) {
        Expr *arg = widened(s, e->args[i]);
        Expr *other = e->args[1 - i];
        if (arg != NULL && other->op != E_CONST && is_fixed(s->w, other)) {
            Expr *args[2];
            args[i] = ir_cast(a, DT_I32, arg);
            args[1 - i] = brought_near(s, other, arg->dtype);
            return ir_at(ir_binary(a, e->op, args[0], args[1]), e->loc);
        }
    }
    return e;
}

/* For ir_each_expr. */
static void
compare_slot(void *data, Expr **slot)
{
    Small *s = data;
    *slot = ir_map(s->w->pass->arena, *slot, compare_small, s);
}

/* For ir_each_stmt. */
static void
compare_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, compare_slot, data);
}

/* --- what moves ----------------------------------------------------------- */

Stmt *
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
    Small small = {w, loop_defs(w->pass->scratch, &loop->body), out};
    ir_each_stmt(&loop->body, compare_stmt, &small);
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
    Walk w = {.pass = pass, .func = func};
    walk_block(&w, &func->body);
    return func;
}
