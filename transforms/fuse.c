/* Pass fuse: nests over the same rows become one.
 *
 *     alloc t[h, w]                        for y in 0..h {
 *     for y in 0..h {                          alloc t[w]
 *         for x in 0..w { t[y, x] = ... }      for x in 0..w { t[x] = ... }
 *     }                                ->      for x in 0..w {
 *     for y in 0..h {                              out[y, x] = t[x] ...
 *         for x in 0..w {                      }
 *             out[y, x] = t[y, x] ...      }
 *
 * A row that the first nest has written is read while it is in the cache, and
 * where nothing else uses the array it never is more than that row.  Pipes do
 * this better, but not for nests with checks or with branches.
 *
 * It is allowed if the rounds of the one loop are independent: then what the
 * second nest reads of the first is of the same round, where the first comes
 * before it as ever.  Checks move, as they may.  What stands between the nests
 * goes in front of both if it neither reads nor changes what the first does.
 *
 * Only nests of which the second reads what the first writes: else nothing is
 * gained.  Only loops with loops inside: innermost ones are better left apart,
 * so that each runs in lanes or not by itself.
 */
#include "transforms/box.h"
#include "transforms/transforms.h"

/* --- are two loops one? --------------------------------------------------- */

/* A loop with loops inside, of which nothing is carried or handed out. */
static bool
is_nest(const Stmt *s)
{
    return s->kind == S_FOR && s->until == NULL && s->ncarries == 0 &&
           s->nbinds == 0 && block_has_loop(&s->body);
}

/* Arrays that a nest stores to. */
typedef struct Stored {
    Arena *arena;
    VEC(Buf *) list;
} Stored;

/* For ir_each_stmt. */
static void
note_store(void *data, Stmt *s)
{
    Stored *stored = data;
    bool known = s->kind != S_STORE;
    for (int i = 0; i < stored->list.n && !known; i++) {
        known = stored->list.at[i] == s->buf;
    }
    if (!known) {
        vec_push(stored->arena, &stored->list, s->buf);
    }
}

/* An array that 'first' stores to and 'second' reads; NULL: there is none.  An
 * array that is cleared is none: what of it need not be is better seen of nests
 * that only write it. */
static const Buf *
passed(Arena *arena, const Func *func, Stmt *first, Stmt *second)
{
    Stored stored = {.arena = arena};
    const Buf *found = NULL;
    Block one = {.at = &first, .n = 1, .cap = 1};
    Block other = {.at = &second, .n = 1, .cap = 1};
    ir_each_stmt(&one, note_store, &stored);
    for (int i = 0; i < stored.list.n; i++) {
        const Buf *buf = stored.list.at[i];
        if (effects_reads(&other, buf)) {
            if (uses_in(func, buf).fills > 0) {
                return NULL;
            }
            found = buf;
        }
    }
    return found;
}

/* For ir_each_node: is there a load? */
static void
note_load(void *data, const Expr *e)
{
    bool *loads = data;
    *loads |= ir_reads(e);
}

/* May 's' be done before the nest 'first', which stands before it?  It makes an
 * array, computes, or asks for what no array holds. */
static bool
is_movable(Stmt *s, Stmt *first)
{
    Block one = {.at = &first, .n = 1, .cap = 1};
    bool loads = false;
    bool simple = s->kind == S_LET || s->kind == S_CHECK ||
                  s->kind == S_ALLOC || s->kind == S_FILL;
    ir_each_node(s, note_load, &loads);
    return simple && !loads &&
           (s->kind != S_FILL || (!effects_reads(&one, s->buf) &&
                                  !effects_writes(&one, s->buf)));
}

/* Both nests as one, with fresh names for all that is in the second. */
static Stmt *
joined(Arena *arena, Func *func, const Stmt *first, const Stmt *second)
{
    Stmt *one = ir_copy_stmt(arena, first);
    Block body = {0};
    Map map = map_new(arena);
    map_set(&map, second->var, ir_ref(arena, first->var));
    Block tail = ir_clone(func, &second->body, &map);
    for (int i = 0; i < first->body.n; i++) {
        vec_push(arena, &body, first->body.at[i]);
    }
    for (int i = 0; i < tail.n; i++) {
        vec_push(arena, &body, tail.at[i]);
    }
    one->body = body;
    return one;
}

/* --- arrays of one row ---------------------------------------------------- */

/* The array "old", of which each round of the loop over "row" uses one row, and
 * "fresh", which is that row.  "apart": an access to another row is there. */
typedef struct Narrow {
    Arena *arena;
    const Buf *old;
    Buf *fresh;
    const Var *row;
    bool apart;
} Narrow;

static void
see_index(Narrow *narrow, Expr *const *index)
{
    narrow->apart |=
        index[0]->op != E_VAR || index[0]->var != narrow->row;
}

/* For ir_each_node. */
static void
see_node(void *data, const Expr *e)
{
    Narrow *narrow = data;
    if (e->op == E_LOAD && e->buf == narrow->old) {
        see_index(narrow, e->args);
    }
}

/* For ir_each_stmt. */
static void
see_stmt(void *data, Stmt *s)
{
    Narrow *narrow = data;
    if (s->kind == S_STORE && s->buf == narrow->old) {
        see_index(narrow, s->index);
    }
    ir_each_node(s, see_node, data);
}

/* For ir_map: the element of the row. */
static Expr *
narrow_load(void *data, Expr *e)
{
    const Narrow *narrow = data;
    if (e->op != E_LOAD || e->buf != narrow->old) {
        return e;
    }
    Expr *load = ir_load(narrow->arena, narrow->fresh, e->args + 1,
                         e->nargs - 1, e->lanes);
    return ir_at(load, e->loc);
}

static void
narrow_slot(void *data, Expr **slot)
{
    const Narrow *narrow = data;
    if (*slot != NULL) {
        *slot = ir_map(narrow->arena, *slot, narrow_load, data);
    }
}

/* For ir_map_block; the old array is no longer made. */
static void
narrow_stmt(void *data, Block *out, Stmt *s)
{
    const Narrow *narrow = data;
    ir_each_expr(s, narrow_slot, data);
    if (s->buf == narrow->old && s->kind == S_ALLOC) {
        return;
    }
    if (s->buf == narrow->old) {
        s->buf = narrow->fresh;
        s->index++;
        s->nindex--;
    }
    vec_push(narrow->arena, out, s);
}

/* Is 'loop' all that uses 'buf', in each round the row of its number? */
static bool
is_narrow(const Func *func, Stmt *loop, const Buf *buf)
{
    Block one = {.at = &loop, .n = 1, .cap = 1};
    if (buf->kind != BUF_LOCAL || buf->space != SPACE_HEAP ||
        buf->layout != LAYOUT_C || buf->growable || buf->group != NULL ||
        buf->rank < 2) {
        return false;
    }
    Uses all = uses_in(func, buf);
    Narrow narrow = {.old = buf, .row = loop->var};
    ir_each_stmt(&one, see_stmt, &narrow);
    return !narrow.apart && !all.other && !all.extent && all.fills == 0 &&
           all.touches == uses_of(loop, buf).touches &&
           !uses_at_end(func, buf);
}

/* 'loop' with an array of one row in place of 'buf', made in every round. */
static void
narrow_buf(Arena *arena, Func *func, Stmt *loop, const Buf *buf)
{
    int rank = buf->rank - 1;
    Buf *row = ir_buf(func, buf->name, buf->dtype, rank, BUF_LOCAL);
    row->layout = LAYOUT_C;
    row->loc = buf->loc;
    for (int i = 0; i < rank; i++) {
        row->dims[i] = buf->dims[i + 1];
    }
    Stmt *alloc = ir_stmt(arena, S_ALLOC, buf->loc);
    alloc->buf = row;
    Block body = {0};
    vec_push(arena, &body, alloc);
    for (int i = 0; i < loop->body.n; i++) {
        vec_push(arena, &body, loop->body.at[i]);
    }
    loop->body = body;
    Narrow narrow = {arena, buf, row, loop->var, false};
    func->body = ir_map_block(arena, &func->body, narrow_stmt, &narrow);
}

/* --- the walk ------------------------------------------------------------- */

/* "func" is being rewritten; "old" is how it was; "loops" are the ids of the
 * new ones. */
typedef struct Fuse {
    Pass *pass;
    Func *func;
    const Func *old;
    VEC(int) loops;
} Fuse;

/* Both nests as one loop, where that is allowed and pays; else NULL.  'b' is
 * just before the second. */
static Stmt *
fuse_pair(Fuse *fuse, Bounds *b, Stmt *first, Stmt *second)
{
    Arena *arena = fuse->pass->arena;
    DependWhy why = {0};
    const Buf *buf = passed(fuse->pass->scratch, fuse->old, first, second);
    if (buf == NULL || !ir_equal(first->lo, second->lo) ||
        !ir_equal(first->hi, second->hi)) {
        return NULL;
    }
    Stmt *one = joined(arena, fuse->func, first, second);
    if (!depend_independent(fuse->pass->scratch, fuse->old, b, one, &why)) {
        return NULL;
    }
    diag_remark(fuse->pass->diags, DIAG_PIPE, second->loc,
                "each round follows that of the loop of line %d, which writes "
                "`%s`",
                (int)first->loc.line, buf->name);
    return one;
}

static Block fuse_block(Fuse *fuse, Bounds *b, const Block *block);

/* The blocks inside of 's', which is a copy. */
static void
fuse_inside(Fuse *fuse, Bounds *b, Stmt *s)
{
    int mark = bounds_push(b);
    if (s->kind == S_FOR || s->kind == S_WHILE) {
        bounds_loop(b, s);
        s->body = fuse_block(fuse, b, &s->body);
    }
    bounds_pop(b, mark);
}

/* One block, in which nests follow each other: out->at[last] is the last one,
 * and all after it may be done before it. */
static Block
fuse_block(Fuse *fuse, Bounds *b, const Block *block)
{
    Arena *arena = fuse->pass->arena;
    Block out = {0};
    int last = -1;
    for (int i = 0; i < block->n; i++) {
        Stmt *s = ir_copy_stmt(arena, block->at[i]);
        fuse_inside(fuse, b, s);
        Stmt *one = last >= 0 && is_nest(s)
                        ? fuse_pair(fuse, b, out.at[last], s)
                        : NULL;
        if (one != NULL) {
            for (int k = last; k + 1 < out.n; k++) {
                out.at[k] = out.at[k + 1];
            }
            out.at[out.n - 1] = one;
            vec_push(fuse->pass->scratch, &fuse->loops, one->id);
            last = out.n - 1;
        } else {
            bool stays = last >= 0 && is_movable(s, out.at[last]);
            vec_push(arena, &out, s);
            last = is_nest(s) ? out.n - 1 : stays ? last : -1;
        }
        bounds_after(b, s);
    }
    return out;
}

/* The loop "id" of a function. */
typedef struct Find {
    int id;
    Stmt *loop;
} Find;

/* For ir_each_stmt. */
static void
find_loop(void *data, Stmt *s)
{
    Find *find = data;
    find->loop = s->kind == S_FOR && s->id == find->id ? s : find->loop;
}

/* An array that only the new loop 'id' uses becomes a row; false: there is
 * none.  The function's statements are new ones then. */
static bool
narrow_one(Fuse *fuse, int id)
{
    Stored stored = {.arena = fuse->pass->scratch};
    Find find = {.id = id};
    ir_each_stmt(&fuse->func->body, find_loop, &find);
    if (find.loop == NULL) {
        return false;
    }
    Block one = {.at = &find.loop, .n = 1, .cap = 1};
    ir_each_stmt(&one, note_store, &stored);
    for (int i = 0; i < stored.list.n; i++) {
        if (is_narrow(fuse->func, find.loop, stored.list.at[i])) {
            narrow_buf(fuse->pass->arena, fuse->func, find.loop,
                       stored.list.at[i]);
            return true;
        }
    }
    return false;
}

Func *
pass_fuse(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Fuse fuse = {.pass = pass, .func = out, .old = func};
    out->body = fuse_block(&fuse, bounds_new(pass->scratch, func),
                           &func->body);
    if (fuse.loops.n == 0) {
        return func;
    }
    for (int i = 0; i < fuse.loops.n; i++) {
        while (narrow_one(&fuse, fuse.loops.at[i])) {
        }
    }
    return simplify(pass, out);
}
