/* Pass axes: private arrays lie in memory as their loops go through them.
 *
 *     alloc pyr[h, w, levels]            alloc pyr[levels, h, w]
 *     for l                        ->    for l
 *       for y for x                        for y for x
 *         pyr[y, x, l] = ...                 pyr[l, y, x] = ...
 *
 * Nobody but the function sees how the elements of an array lie that it made
 * and drops, if it only loads and stores them.  So its axes are put in the
 * order in which loops change its indices: what changes in the innermost loop
 * goes last.  An axis of constant extent whose elements are named one by one,
 * the channels of an unrolled loop, changes faster than any loop.
 *
 * Accesses count by how deep they are, as an estimate of how often they
 * happen.  Axes change places only where one is clearly slower: a nearly even
 * vote is none.
 */
#include "transforms/box.h"
#include "transforms/transforms.h"

enum {
    ROUNDS = 8,    /* that a loop is guessed to have */
    MAX_FACTOR = 4 /* loops that count */
};

/* By how much an axis must be slower to go before another, in loops. */
#define CLEARLY 0.3

/* The votes on one buffer.
 *   "depth"   Var * -> one more than the depth of the loop that changes it
 *   "speed"   per axis: depth of the loop that changes its index, weighted
 *   "weight"  of all accesses
 *   "pinned"  the last axis is read as a vector, and stays
 *   "inside"  depth of the walk
 *   "block"   that the walk is in */
typedef struct Votes {
    Arena *arena;
    Buf *buf;
    Map depth;
    double speed[MAX_RANK];
    double weight;
    bool pinned;
    int inside;
    const Block *block;
} Votes;

/* --- what changes an index ----------------------------------------------- */

/* The depth of the innermost loop that changes 'e': 0 is none. */
static int
depth_of(const Votes *v, const Expr *e)
{
    int depth = 0;
    if (e->op == E_VAR) {
        intptr_t known = (intptr_t)map_get(&v->depth, e->var);
        return (int)known;
    }
    for (int i = 0; i < e->nargs; i++) {
        int arg = depth_of(v, e->args[i]);
        depth = arg > depth ? arg : depth;
    }
    return depth;
}

static void
set_depth(Votes *v, const Var *var, int depth)
{
    map_set(&v->depth, var, (void *)(intptr_t)depth);
}

/* The search for another constant on one axis. */
typedef struct Other {
    const Votes *v;
    int axis;
    int64_t value;
    bool found;
} Other;

static void
compare_index(Other *other, Expr *const *index)
{
    int64_t value = 0;
    other->found |= ir_const_int(index[other->axis], &value) &&
                    value != other->value;
}

static void
find_other(void *data, const Expr *e)
{
    Other *other = data;
    if (e->op == E_LOAD && e->buf == other->v->buf && other->axis < e->nargs) {
        compare_index(other, e->args);
    }
}

/* Does the block at hand name the buffer at another constant on that axis? */
static bool
is_spelled_out(const Votes *v, int axis, const Expr *index)
{
    Other other = {.v = v, .axis = axis};
    if (!ir_const_int(index, &other.value)) {
        return false;
    }
    for (int i = 0; i < v->block->n && !other.found; i++) {
        Stmt *s = v->block->at[i];
        if (s->kind == S_STORE && s->buf == v->buf && axis < s->nindex) {
            compare_index(&other, s->index);
        }
        ir_each_node(s, find_other, &other);
    }
    return other.found;
}

/* --- votes --------------------------------------------------------------- */

/* One access: every axis by what changes its index. An axis that is spelled out
 * before the one that the innermost loop changes is one of planes, whose rows
 * are for SIMD: it stays before. */
static void
vote(Votes *v, Expr *const *index, int n)
{
    double weight = 1;
    bool planes = false;
    for (int i = 0; i < v->inside && i < MAX_FACTOR; i++) {
        weight *= ROUNDS;
    }
    v->pinned |= n < v->buf->rank;
    v->weight += weight;
    for (int i = n - 1; i >= 0; i--) {
        int depth = depth_of(v, index[i]);
        planes |= depth > 0 && depth == v->inside;
        bool channel = !planes && is_spelled_out(v, i, index[i]);
        v->speed[i] += weight * (channel ? v->inside + 1 : depth);
    }
}

static void
vote_node(void *data, const Expr *e)
{
    Votes *v = data;
    if (e->op == E_LOAD && e->buf == v->buf) {
        vote(v, e->args, e->nargs);
    }
}

static void vote_block(Votes *v, const Block *block);

/* What a loop carries changes with it, and so may what an IF hands out. */
static void
note_outputs(Votes *v, const Stmt *s, bool inside)
{
    for (int i = 0; i < s->ncarries; i++) {
        set_depth(v, inside ? s->carries[i].var : s->carries[i].out,
                  v->inside);
    }
    for (int i = 0; i < s->njoins && !inside; i++) {
        set_depth(v, s->joins[i].out, v->inside);
    }
}

static void
vote_stmt(Votes *v, Stmt *s)
{
    bool loop = s->kind == S_FOR || s->kind == S_WHILE;
    if (s->kind == S_STORE && s->buf == v->buf) {
        vote(v, s->index, s->nindex);
    }
    ir_each_node(s, vote_node, v);
    v->inside += loop;
    if (s->kind == S_FOR) {
        set_depth(v, s->var, v->inside);
    }
    note_outputs(v, s, true);
    vote_block(v, &s->pre);
    vote_block(v, &s->body);
    vote_block(v, &s->els);
    v->inside -= loop;
    note_outputs(v, s, false);
    if (s->kind == S_LET) {
        set_depth(v, s->var, depth_of(v, s->value));
    }
}

static void
vote_block(Votes *v, const Block *block)
{
    const Block *outer = v->block;
    v->block = block;
    for (int i = 0; i < block->n; i++) {
        vote_stmt(v, block->at[i]);
    }
    v->block = outer;
}

/* The new order of axes, slowest first; false: the old one is as good. */
static bool
choose_order(const Votes *v, int *order)
{
    int n = v->buf->rank - v->pinned;
    double least = CLEARLY * v->weight;
    bool moved = false;
    for (int i = 0; i < v->buf->rank; i++) {
        int at = i;
        while (i < n && at > 0 &&
               v->speed[order[at - 1]] > v->speed[i] + least) {
            order[at] = order[at - 1];
            at--;
            moved = true;
        }
        order[at] = i;
    }
    return moved;
}

/* --- the rewriting ------------------------------------------------------- */

/* "old" with its axes in "order" is "fresh". */
typedef struct Turn {
    Arena *arena;
    const Buf *old;
    Buf *fresh;
    int order[MAX_RANK];
} Turn;

static Expr **
turn_index(const Turn *turn, Expr *const *index, int n)
{
    Expr **out = ARENA_ARRAY(turn->arena, Expr *, n);
    for (int i = 0; i < n; i++) {
        out[i] = index[turn->order[i]];
    }
    return out;
}

/* Pairs of ends, one for each axis. */
static Expr **
turn_box(const Turn *turn, Expr *const *index, int n)
{
    Expr **out = ARENA_ARRAY(turn->arena, Expr *, 2 * n);
    for (int i = 0; i < n; i++) {
        out[2 * i] = index[2 * turn->order[i]];
        out[2 * i + 1] = index[2 * turn->order[i] + 1];
    }
    return out;
}

static Expr *
turn_load(void *data, Expr *e)
{
    const Turn *turn = data;
    if (e->op != E_LOAD || e->buf != turn->old) {
        return e;
    }
    Expr **index = turn_index(turn, e->args, e->nargs);
    Expr *load = ir_load(turn->arena, turn->fresh, index, e->nargs, e->lanes);
    return ir_at(load, e->loc);
}

static void
turn_slot(void *data, Expr **slot)
{
    const Turn *turn = data;
    if (*slot != NULL) {
        *slot = ir_map(turn->arena, *slot, turn_load, data);
    }
}

static void
turn_stmt(void *data, Block *out, Stmt *s)
{
    const Turn *turn = data;
    ir_each_expr(s, turn_slot, data);
    if (s->buf == turn->old) {
        s->buf = turn->fresh;
        if (s->kind == S_STORE) {
            s->index = turn_index(turn, s->index, s->nindex);
        } else if (s->kind == S_FILL && s->has_keep) {
            s->index = turn_box(turn, s->index, s->nindex / 2);
        }
    }
    vec_push(turn->arena, out, s);
}

static void
turn_buf(Pass *pass, Func *func, Turn *turn, const Buf *buf)
{
    turn->arena = pass->arena;
    turn->old = buf;
    turn->fresh = ir_buf(func, buf->name, buf->dtype, buf->rank, buf->kind);
    turn->fresh->layout = LAYOUT_C;
    turn->fresh->loc = buf->loc;
    for (int i = 0; i < buf->rank; i++) {
        turn->fresh->dims[i] = buf->dims[turn->order[i]];
    }
    func->body = ir_map_block(pass->arena, &func->body, turn_stmt, turn);
    Str text = str_new(pass->scratch);
    for (int i = 0; i < buf->rank; i++) {
        str_addf(&text, "%s%d", i > 0 ? ", " : "", turn->order[i]);
    }
    diag_remark(pass->diags, DIAG_AXES, buf->loc,
                "`%s` lies in memory with its axes in the order %s", buf->name,
                text.at);
}

/* --- the pass ------------------------------------------------------------ */

/* May the elements of 'buf' lie as one likes? */
static bool
is_free(const Func *func, const Buf *buf)
{
    if (buf->kind != BUF_LOCAL || buf->layout != LAYOUT_C || buf->growable ||
        buf->group != NULL || buf->rank < 2) {
        return false;
    }
    Uses uses = uses_in(func, buf);
    return !uses.other && !uses.extent && uses.touches > 0 &&
           !uses_at_end(func, buf);
}

/* The arrays that are made somewhere. */
typedef struct Allocs {
    Arena *arena;
    VEC(Buf *) list;
} Allocs;

/* For ir_each_stmt. */
static void
find_alloc(void *data, Stmt *s)
{
    Allocs *allocs = data;
    if (s->kind == S_ALLOC && s->buf->rank > 1) {
        vec_push(allocs->arena, &allocs->list, s->buf);
    }
}

/* One array after the other; loads and stores of the others stay. */
Func *
pass_axes(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Allocs allocs = {.arena = pass->scratch};
    bool changed = false;
    ir_each_stmt(&func->body, find_alloc, &allocs);
    for (int i = 0; i < allocs.list.n; i++) {
        Turn turn;
        Votes votes = {.arena = pass->scratch, .buf = allocs.list.at[i]};
        votes.depth = map_new(pass->scratch);
        if (!is_free(out, votes.buf)) {
            continue;
        }
        vote_block(&votes, &out->body);
        if (choose_order(&votes, turn.order)) {
            turn_buf(pass, out, &turn, votes.buf);
            changed = true;
        }
    }
    return changed ? simplify(pass, out) : func;
}
