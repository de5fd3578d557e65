/* Pass prealloc: zero-fill only what is not overwritten.
 *
 *     alloc out[h, w]                       alloc out[h, w]
 *     fill out = 0.0                        fill out = 0.0
 *     for y in 1 .. h - 1 {            ->     keep [1, h - 1, 1, w - 1]
 *         for x in 1 .. w - 1 {             for y in 1 .. h - 1 { ...
 *             store out[y, x] = ...
 *
 * The first nest that touches a filled buffer may write a whole box of it, one
 * loop per axis, before anything reads it (box.c); then only the border around
 * the box needs filling, or nothing.  If a loop runs no round, its side of the
 * box is empty and all is filled.  The bounds of the box are clamped to the
 * array and put in order with MIN and MAX, which simplify removes where they
 * are known.
 *
 * The fill moves down to just before the nest, so that it may use what is
 * computed in between.
 *
 * Also here: fresh buffers of small constant size that are made inside a loop
 * and seen by nobody else live on the stack.
 */
#include "transforms/box.h"
#include "transforms/transforms.h"

enum { MAX_STACK = 4096 }; /* bytes of one buffer */

/* The pass's state.
 *   "pass"    remarks
 *   "arena"   of the new statements
 *   "func"    the function as it came
 *   "bounds"  what is known before the nest looked at
 *   "scope"   Vars that are visible there
 *   "done"    fills that were reduced */
typedef struct Prealloc {
    Pass *pass;
    Arena *arena;
    Func *func;
    Bounds *bounds; /* what is known before the nest looked at */
    Scope scope;
    int done;
} Prealloc;

/* --- rewrite ------------------------------------------------------------- */

/* Is the box [0, dim) on each axis, literally? */
static bool
is_whole(const Place *at, const Buf *buf, const Side *box)
{
    for (int i = 0; i < buf->rank; i++) {
        if (!box_is_whole(at, buf, box, i)) {
            return false;
        }
    }
    return true;
}

/* min(max(value, least), most), where least <= most. */
static Expr *
clamp(Prealloc *p, Expr *value, Expr *least, Expr *most)
{
    Expr *above = ir_binary(p->arena, E_MAX, value, least);
    return ir_binary(p->arena, E_MIN, above, most);
}

/* The fill with its box: 0 <= lo <= hi <= dim on every axis, for whatever the
 * ends come out as. An axis that is empty makes the box empty, and all is
 * filled. */
static Stmt *
with_box(Prealloc *p, const Stmt *fill, const Side *box)
{
    Stmt *copy = ir_copy_stmt(p->arena, fill);
    int rank = fill->buf->rank;
    copy->has_keep = true;
    copy->nindex = 2 * rank;
    copy->index = ARENA_ARRAY(p->arena, Expr *, 2 * rank);
    for (int i = 0; i < rank; i++) {
        Expr *zero = ir_int(p->arena, DT_I64, 0);
        Expr *dim = fill->buf->dims[i];
        Expr *lo = clamp(p, linear_expr(p->arena, &box[i].lo), zero, dim);
        Expr *hi = clamp(p, linear_expr(p->arena, &box[i].hi), lo, dim);
        copy->index[2 * i] = lo;
        copy->index[2 * i + 1] = hi;
    }
    return copy;
}

/* Does 's' or what is in it read 'buf' (write it)? */
static bool
uses(const Stmt *s, const Buf *buf, bool write)
{
    Stmt copy = *s;
    Stmt *slot = &copy;
    Block block = {0};
    block.at = &slot;
    block.n = 1;
    return write ? effects_writes(&block, buf) : effects_reads(&block, buf);
}

/* Makes, reads or writes 'buf'. */
static bool
touches(const Stmt *s, const Buf *buf)
{
    bool makes = s->kind == S_ALLOC && s->buf == buf;
    return makes || uses(s, buf, true) || uses(s, buf, false);
}

/* The first statement from 'from' on that touches 'buf'; block->n: none. The
 * fill may move down to there, since nobody sees the buffer in between. */
static int
first_touch(const Block *block, int from, const Buf *buf)
{
    int at = from;
    while (at < block->n && !touches(block->at[at], buf)) {
        at++;
    }
    return at;
}

/* Know everything that stands in block[from] .. block[to - 1], as one who
 * stands before block[to]. */
static void
learn(Prealloc *p, const Block *block, int from, int to)
{
    for (int i = from; i < to; i++) {
        bounds_after(p->bounds, block->at[i]);
        scope_show_after(&p->scope, block->at[i]);
    }
}

/* The fill at block[at], which is followed by its first user: what to put
 * before that nest, NULL if nothing; '*same' if it stays as it is. */
static Stmt *
reduce_fill(Prealloc *p, const Block *block, int at, int user, bool *same)
{
    const Stmt *fill = block->at[at];
    Side box[MAX_RANK];
    *same = true;
    if (user == block->n || block->at[user]->kind != S_FOR ||
        fill->has_keep || fill->buf->kind == BUF_ARG ||
        fill->buf->kind == BUF_REF) {
        return NULL;
    }
    const Stmt *nest = block->at[user];
    if (uses(nest, fill->buf, false)) {
        return NULL;
    }
    int visible = p->scope.visible.n;
    int scope = bounds_push(p->bounds);
    learn(p, block, at, user);
    const Place before = {p->arena, p->bounds, &p->scope};
    Stmt *result = NULL;
    if (box_written(&before, nest, fill->buf, box)) {
        *same = false;
        if (!is_whole(&before, fill->buf, box)) {
            result = with_box(p, fill, box);
        }
        diag_remark(p->pass->diags, DIAG_ZERO_FILL, nest->loc,
                    result == NULL ? "`%s` is not cleared: all is written"
                                   : "only the border of `%s` is cleared",
                    fill->buf->name);
        p->done++;
    }
    bounds_pop(p->bounds, scope);
    p->scope.visible.n = visible;
    return result;
}

/* A buffer outside of loops may be shared by threads, and stays on the heap; so
 * does one with other names, which may outlive its round. */
static void
note_space(Buf *buf, bool in_loop)
{
    int64_t bytes = dtype_size(buf->dtype);
    for (int i = 0; i < buf->rank; i++) {
        int64_t dim = 0;
        if (!ir_const_int(buf->dims[i], &dim) || dim < 0 || dim > MAX_STACK) {
            return;
        }
        bytes *= dim;
        if (bytes > MAX_STACK) {
            return;
        }
    }
    if (in_loop && buf->kind == BUF_LOCAL && !buf->growable &&
        buf->group == NULL) {
        buf->space = SPACE_STACK;
    }
}

static Block walk(Prealloc *p, const Block *block, bool in_loop);

/* Names of one branch are not visible in the other. */
static Stmt *
walk_inside(Prealloc *p, const Stmt *s, bool in_loop)
{
    Stmt *copy = ir_copy_stmt(p->arena, s);
    bool loop = s->kind == S_FOR || s->kind == S_WHILE;
    int visible = p->scope.visible.n;
    int scope = bounds_push(p->bounds);
    if (loop) {
        scope_show_inside(&p->scope, s);
        bounds_loop(p->bounds, s);
    }
    copy->pre = walk(p, &s->pre, in_loop || loop);
    copy->body = walk(p, &s->body, in_loop || loop);
    p->scope.visible.n = loop ? p->scope.visible.n : visible;
    copy->els = walk(p, &s->els, in_loop || loop);
    p->scope.visible.n = visible;
    bounds_pop(p->bounds, scope);
    return copy;
}

/* Fills wait in "moved" until the nest that they were moved to. */
static Block
walk(Prealloc *p, const Block *block, bool in_loop)
{
    Block out = {0};
    Block *moved = ARENA_ARRAY(p->pass->scratch, Block, block->n + 1);
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        for (int j = 0; j < moved[i].n; j++) {
            vec_push(p->arena, &out, moved[i].at[j]);
        }
        if (s->kind == S_ALLOC) {
            note_space(s->buf, in_loop);
        }
        if (s->kind == S_FILL) {
            int user = first_touch(block, i + 1, s->buf);
            bool same = true;
            Stmt *fill = reduce_fill(p, block, i, user, &same);
            if (fill != NULL) {
                vec_push(p->arena, &moved[user], fill);
            }
            if (!same) {
                continue;
            }
        }
        vec_push(p->arena, &out, walk_inside(p, s, in_loop));
        bounds_after(p->bounds, s);
        scope_show_after(&p->scope, s);
    }
    return out;
}

/* simplify makes the bounds of boxes readable. */
Func *
pass_prealloc(Pass *pass, Func *func)
{
    Prealloc p = {.pass = pass, .arena = pass->arena, .func = func};
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    p.bounds = bounds_new(pass->arena, func);
    p.scope = scope_new(pass->scratch, func);
    copy->body = walk(&p, &func->body, false);
    return p.done > 0 ? simplify(pass, copy) : copy;
}
