/* A planned Pipe -> the statements that take the place of its last nest.
 *
 *     for y in lo..hi                      for y in lo..hi
 *       for x in lo..hi                ->    for k in chunks of C columns
 *         out[y, x] = tmp[y, x] +              x0 = lo + k*C
 *                     tmp[y, x + 1]            x1 = min(x0 + C, hi)
 *                                              alloc tile[1, C + 1]
 *                                              for a in x0 .. x1 + 1
 *                                                tile[0, a - x0] = f(a)
 *                                              for x in x0..x1
 *                                                out[y, x] = tile[0, x - x0]
 *                                                  + tile[0, x + 1 - x0]
 *
 * Per axis the last stage runs over [first, end): one round of its own loop
 * where the axis has no block, else a strip of it.  A producer runs over what
 * those rounds read, [first + min, end + max), cut to its own box: it never
 * computes an element that the program did not.  Every stage appears once, so
 * Vars and loop ids are kept.
 *
 * What the last stage gathers, a count say, is handed through all these loops:
 * each begins with what the one around has so far.
 */
#include "csrc/pipe/pipe.h"

/* What lowering works with.
 *   "arena"  of the new statements
 *   "func"   that gets new Vars and buffers
 *   "pipe"   with its plan
 *   "last"   the stage whose loops stay
 *   "first" "end"  per axis, the rounds of the last stage that a block runs:
 *               [first, end), set as the loops are opened
 *   "now"     per carry of the last stage, what is gathered where statements
 *               are being added */
typedef struct Lower {
    Arena *arena;
    Func *func;
    const Pipe *pipe;
    const Stage *last;
    Expr *first[MAX_DEPTH_PIPE];
    Expr *end[MAX_DEPTH_PIPE];
    Expr **now;
} Lower;

/* 'e' + 'by', without a sum for 0. */
static Expr *
plus(Lower *lower, Expr *e, int64_t by)
{
    return by == 0 ? e
                   : ir_binary(lower->arena, E_ADD, e,
                               ir_int(lower->arena, DT_I64, by));
}

/* 'e' under a name, evaluated in 'out'; what is a leaf needs none. */
static Expr *
name_it(Lower *lower, Block *out, const char *name, Expr *e, Loc loc)
{
    if (e->op == E_CONST || e->op == E_VAR || e->op == E_DIM) {
        return e;
    }
    Var *var = ir_var(lower->func, name, DT_I64, 0);
    vec_push(lower->arena, out, ir_let(lower->arena, var, e, loc));
    return ir_ref(lower->arena, var);
}

/* --- reads --------------------------------------------------------------- */

/* Where the array's element at 'index' lies in the tile of 'stage': the tile's
 * element 0 is the first one that the block reads, first + min. */
static Expr **
tile_index(Lower *lower, const Stage *stage, Expr *const *index)
{
    Expr **out = ARENA_ARRAY(lower->arena, Expr *, stage->depth);
    for (int d = 0; d < stage->depth; d++) {
        Expr *start = plus(lower, lower->first[d], stage->min[d]);
        out[d] = ir_binary(lower->arena, E_SUB, index[d], start);
    }
    return out;
}

static Expr *redirect(void *data, Expr *e);

/* The producer's expression for the element that 'load' reads: its level's
 * variable is the index less the shift of its store. Loads in it may be of
 * fused producers again. */
static Expr *
inline_value(Lower *lower, const Stage *stage, const Expr *load)
{
    Map map = map_new(lower->arena);
    for (int d = 0; d < stage->depth; d++) {
        map_set(&map, stage->axes[d].loop->var,
                plus(lower, load->args[d], -stage->shift[d]));
    }
    Expr *value = ir_subst(lower->arena, stage->value, &map);
    return ir_map(lower->arena, value, redirect, lower);
}

/* A load of a fused producer becomes one of its tile, or its expression;
 * operands are done already. */
static Expr *
redirect(void *data, Expr *e)
{
    Lower *lower = data;
    const Stage *stage =
        e->op == E_LOAD ? pipe_producer(lower->pipe, e->buf) : NULL;
    if (stage == NULL || stage->compute == COMPUTE_ROOT) {
        return e;
    }
    if (stage->compute == COMPUTE_INLINE) {
        return inline_value(lower, stage, e);
    }
    return ir_load(lower->arena, stage_output(stage, e->buf)->tile,
                   tile_index(lower, stage, e->args), stage->depth, e->lanes);
}

/* For ir_each_expr; a slot may be empty. */
static void
redirect_slot(void *data, Expr **slot)
{
    Lower *lower = data;
    if (*slot != NULL) {
        *slot = ir_map(lower->arena, *slot, redirect, lower);
    }
}

/* An ALLOC's extents belong to its buffer and are left alone. */
static void
redirect_stmt(void *data, Block *out, Stmt *s)
{
    Lower *lower = data;
    if (s->kind != S_ALLOC) {
        ir_each_expr(s, redirect_slot, lower);
    }
    const Stage *stage =
        s->kind == S_STORE ? pipe_producer(lower->pipe, s->buf) : NULL;
    if (stage != NULL && stage->compute == COMPUTE_TILE) {
        s->index = tile_index(lower, stage, s->index);
        s->buf = stage_output(stage, s->buf)->tile;
    }
    vec_push(lower->arena, out, s);
}

/* Appends 'block' with its loads, and stores to tiles, led to where the values
 * now are. */
static void
push_redirected(Lower *lower, Block *out, const Block *block)
{
    Block done = ir_map_block(lower->arena, block, redirect_stmt, lower);
    for (int i = 0; i < done.n; i++) {
        vec_push(lower->arena, out, done.at[i]);
    }
}

/* --- producers ----------------------------------------------------------- */

/* An array on the stack of as many rows and columns as a block can need, block
 * + max - min; a vector's axis whole. Sizes are constants, whatever is left of
 * the last block. */
static Buf *
make_tile(Lower *lower, const Stage *stage, const Buf *whole)
{
    int rank = whole->rank;
    Buf *tile = ir_buf(lower->func, whole->name, whole->dtype, rank, BUF_LOCAL);
    tile->space = SPACE_STACK;
    tile->layout = LAYOUT_C;
    tile->loc = whole->loc;
    for (int d = 0; d < rank; d++) {
        int64_t size = d < stage->depth ? lower->pipe->block[d] +
                                              stage->max[d] - stage->min[d]
                                        : 0;
        tile->dims[d] = d < stage->depth ? ir_int(lower->arena, DT_I64, size)
                                         : whole->dims[d];
    }
    return tile;
}

/* Axis 'd' of a producer over what the block reads of it, then the axes
 * within. Its rounds are those of its own loop that the block needs: the range
 * of reads, less the shift of its store, cut to its own ends. */
static Stmt *
producer_axis(Lower *lower, const Stage *stage, int d)
{
    Arena *arena = lower->arena;
    const Axis *axis = &stage->axes[d];
    Stmt *loop = ir_copy_stmt(arena, axis->loop);
    Expr *from = plus(lower, lower->first[d], stage->min[d] - stage->shift[d]);
    Expr *to = plus(lower, lower->end[d], stage->max[d] - stage->shift[d]);
    Block body = {0};
    loop->lo = ir_binary(arena, E_MAX, loop->lo, from);
    loop->hi = ir_binary(arena, E_MIN, loop->hi, to);
    push_redirected(lower, &body, &axis->prefix);
    if (d + 1 < stage->depth) {
        vec_push(arena, &body, producer_axis(lower, stage, d + 1));
    } else {
        push_redirected(lower, &body, &stage->body);
    }
    loop->body = body;
    return loop;
}

/* In program order: a producer reads tiles that are there already. */
static void
push_producers(Lower *lower, Block *out)
{
    for (int i = 0; i < lower->pipe->stages.n - 1; i++) {
        Stage *stage = lower->pipe->stages.at[i];
        if (stage->compute != COMPUTE_TILE) {
            continue;
        }
        for (int k = 0; k < stage->nouts; k++) {
            Stmt *alloc = ir_stmt(lower->arena, S_ALLOC, stage->nest->loc);
            alloc->buf = make_tile(lower, stage, stage->outs[k].buf);
            stage->outs[k].tile = alloc->buf;
            vec_push(lower->arena, out, alloc);
        }
        vec_push(lower->arena, out, producer_axis(lower, stage, 0));
    }
}

/* --- what the last stage gathers ----------------------------------------- */

/* The innermost level, whose rounds do the gathering. */
static const Stmt *
innermost(const Lower *lower)
{
    return lower->last->axes[lower->last->depth - 1].loop;
}

/* 'loop' goes on with what there is now. */
static void
open_carries(Lower *lower, Stmt *loop)
{
    loop->ncarries = innermost(lower)->ncarries;
    loop->carries = ARENA_ARRAY(lower->arena, Carry, loop->ncarries);
    for (int i = 0; i < loop->ncarries; i++) {
        const Var *old = innermost(lower)->carries[i].var;
        Var *var = ir_var(lower->func, old->name, old->dtype, 0);
        loop->carries[i] = (Carry){.var = var, .init = lower->now[i]};
        lower->now[i] = ir_ref(lower->arena, var);
    }
}

/* Its body is complete. */
static void
close_carries(Lower *lower, Stmt *loop)
{
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &loop->carries[i];
        carry->next = lower->now[i];
        carry->out = ir_var(lower->func, carry->var->name, carry->var->dtype,
                            0);
        lower->now[i] = ir_ref(lower->arena, carry->out);
    }
}

/* 'var' is what is gathered now. */
static void
push_name(Lower *lower, Block *out, Var *var, int carry)
{
    Loc loc = innermost(lower)->loc;
    vec_push(lower->arena, out,
             ir_let(lower->arena, var, lower->now[carry], loc));
}

/* --- the last stage ------------------------------------------------------ */

/* The body of its innermost level, and what that gathers. */
static void
push_round(Lower *lower, Block *out)
{
    const Stmt *loop = innermost(lower);
    for (int i = 0; i < loop->ncarries; i++) {
        push_name(lower, out, loop->carries[i].var, i);
    }
    push_redirected(lower, out, &lower->last->body);
    for (int i = 0; i < loop->ncarries; i++) {
        lower->now[i] =
            ir_map(lower->arena, loop->carries[i].next, redirect, lower);
    }
}

/* Its loops over the strips of blocked axes, from axis 'd' inwards. */
static void
push_last(Lower *lower, Block *out, int d)
{
    if (d == lower->last->depth) {
        push_round(lower, out);
        return;
    }
    const Axis *axis = &lower->last->axes[d];
    if (lower->pipe->block[d] == 1) {
        push_last(lower, out, d + 1);
        return;
    }
    Stmt *loop = ir_copy_stmt(lower->arena, axis->loop);
    Block body = {0};
    loop->lo = lower->first[d];
    loop->hi = lower->end[d];
    open_carries(lower, loop);
    push_redirected(lower, &body, &axis->prefix);
    push_last(lower, &body, d + 1);
    close_carries(lower, loop);
    loop->body = body;
    vec_push(lower->arena, out, loop);
}

/* for k in 0 .. ceil((hi - lo) / size), with the block's ends named. */
static Stmt *
strip_loop(Lower *lower, const Axis *axis, int d, Block *before, Block *body)
{
    Arena *arena = lower->arena;
    Loc loc = axis->loop->loc;
    Expr *size = ir_int(arena, DT_I64, lower->pipe->block[d]);
    Expr *lo = name_it(lower, before, "lo", axis->loop->lo, loc);
    Expr *hi = name_it(lower, before, "hi", axis->loop->hi, loc);
    Stmt *loop = ir_stmt(arena, S_FOR, loc);
    Expr *span = ir_binary(arena, E_SUB, hi, lo);
    loop->var = ir_var(lower->func, axis->loop->var->name, DT_I64, 0);
    loop->id = lower->func->next_id++;
    loop->lo = ir_int(arena, DT_I64, 0);
    loop->hi = ir_binary(arena, E_IDIV,
                         plus(lower, span, lower->pipe->block[d] - 1), size);
    Expr *k = ir_ref(arena, loop->var);
    Expr *first = ir_binary(arena, E_ADD, lo, ir_binary(arena, E_MUL, k, size));
    lower->first[d] = name_it(lower, body, "first", first, loc);
    Expr *end = ir_binary(arena, E_ADD, lower->first[d], size);
    lower->end[d] =
        name_it(lower, body, "end", ir_binary(arena, E_MIN, end, hi), loc);
    return loop;
}

/* The loops around the tiles, from axis 'd' inwards. */
static void
push_axes(Lower *lower, Block *out, int d)
{
    if (d == lower->last->depth) {
        push_producers(lower, out);
        push_last(lower, out, 0);
        return;
    }
    const Axis *axis = &lower->last->axes[d];
    Block body = {0};
    Stmt *loop;
    if (lower->pipe->block[d] == 1) {
        loop = ir_copy_stmt(lower->arena, axis->loop);
        lower->first[d] = ir_ref(lower->arena, loop->var);
        lower->end[d] = plus(lower, lower->first[d], 1);
        push_redirected(lower, &body, &axis->prefix);
    } else {
        loop = strip_loop(lower, axis, d, out, &body);
    }
    open_carries(lower, loop);
    push_axes(lower, &body, d + 1);
    close_carries(lower, loop);
    loop->body = body;
    vec_push(lower->arena, out, loop);
}

/* All of them; then the old loop's results have their values. */
static void
push_blocks(Lower *lower, Block *out)
{
    const Stmt *loop = lower->last->axes[0].loop;
    lower->now = ARENA_ARRAY(lower->arena, Expr *, loop->ncarries);
    for (int i = 0; i < loop->ncarries; i++) {
        lower->now[i] = loop->carries[i].init;
    }
    push_axes(lower, out, 0);
    for (int i = 0; i < loop->ncarries; i++) {
        push_name(lower, out, loop->carries[i].out, i);
    }
}

/* Only inlined producers: the nest as it is, with their expressions. */
static bool
has_tiles(const Pipe *pipe)
{
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        if (pipe->stages.at[i]->compute == COMPUTE_TILE) {
            return true;
        }
    }
    return false;
}

/* Without tiles the loops stay as they are. */
Block
pipe_lower(Func *func, const Pipe *pipe)
{
    Lower lower = {.arena = func->arena, .func = func, .pipe = pipe};
    lower.last = vec_last(&pipe->stages);
    Block out = {0};
    if (has_tiles(pipe)) {
        push_blocks(&lower, &out);
    } else {
        Block nest = {0};
        vec_push(func->arena, &nest, lower.last->nest);
        push_redirected(&lower, &out, &nest);
    }
    return out;
}
