/* Nests that feed each other become Pipes, planned and lowered.
 *
 *     alloc tmp; fill tmp = 0                 for y in 0..h
 *     for y for x { tmp[y, x] = f(in) }   ->    for chunks of x
 *     for y for x { out[y, x] = g(tmp) }          tile = f(in); out = g(tile)
 *
 * Blocks are worked from the last statement to the first, so that a nest
 * takes in all its producers before it is itself looked at as a producer.
 * What was fused goes, with its buffer and the fills of it; the rest stays
 * where it was.  csrc/pipe says when fusing is legal and how it is done.
 */
#include "csrc/pipe/pipe.h"
#include "transforms/transforms.h"

/* The pass's state.
 *   "pass"  arenas and remarks
 *   "func"  the new function
 *   "b"     what is known where the block at hand begins
 *   "gone"  nests (Stmt *) and buffers (Buf *) that were fused away */
typedef struct Pipes {
    Pass *pass;
    Func *func;
    Bounds *b;
    Map gone; /* nests (Stmt *) and buffers (Buf *) that were fused away */
} Pipes;

/* Adds what becomes of a producer's outputs to the list in 'text'. */
static void
list_outputs(Str *text, const Stage *stage)
{
    bool in_place = stage->compute == COMPUTE_INLINE;
    for (int i = 0; i < stage->nouts; i++) {
        str_addf(text, "%s`%s` is %s", text->n > 0 ? ", " : "",
                 stage->outs[i].buf->name,
                 in_place ? "put in place" : "computed in tiles");
    }
}

/* One remark for what was fused, one for each producer that stays. */
static void
remark(Pipes *p, const Pipe *pipe)
{
    const Stage *last = vec_last(&pipe->stages);
    Str text = str_new(p->pass->scratch);
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        const Stage *stage = pipe->stages.at[i];
        if (stage->compute == COMPUTE_ROOT) {
            diag_remark(p->pass->diags, DIAG_NOT_PIPE, stage->nest->loc,
                        "`%s` %s", stage->outs[0].buf->name, stage->why);
        } else {
            list_outputs(&text, stage);
        }
    }
    if (text.n > 0) {
        diag_remark(p->pass->diags, DIAG_PIPE, last->nest->loc, "%s", text.at);
    }
}

/* Notes what pipe_lower has taken in: the nests of all producers but those at
 * root, and their buffers. They are dropped when the block is rebuilt. */
static void
drop_stages(Pipes *p, const Pipe *pipe)
{
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        Stage *stage = pipe->stages.at[i];
        if (stage->compute != COMPUTE_ROOT) {
            map_set(&p->gone, stage->nest, stage);
            for (int k = 0; k < stage->nouts; k++) {
                map_set(&p->gone, stage->outs[k].buf, stage);
            }
        }
    }
}

/* The replacement of block->at[position], in 'out'; false: none. What stands
 * before it is known meanwhile; the remarks name producers that stay, also
 * where nothing is fused. */
static bool
try_pipe(Pipes *p, const Block *block, int position, Block *out)
{
    int mark = bounds_push(p->b);
    for (int i = 0; i < position; i++) {
        bounds_after(p->b, block->at[i]);
    }
    Pipe *pipe = pipe_lift(p->pass->arena, p->func, p->b, block, position,
                           p->pass->diags);
    bounds_pop(p->b, mark);
    bool fuse = pipe != NULL && pipe_plan(pipe);
    if (pipe != NULL) {
        remark(p, pipe);
    }
    if (!fuse) {
        return false;
    }
    *out = pipe_lower(p->func, pipe);
    drop_stages(p, pipe);
    return true;
}

static Block pipes_block(Pipes *p, const Block *block);

/* Blocks inside a statement that is no Pipe itself: a nest whose levels hold
 * other nests, or a branch. */
static Stmt *
pipes_inside(Pipes *p, const Stmt *old)
{
    Stmt *s = ir_copy_stmt(p->pass->arena, old);
    int mark = bounds_push(p->b);
    if (s->kind == S_IF) {
        bounds_assume(p->b, s->value, true);
    } else {
        bounds_loop(p->b, s);
    }
    s->body = pipes_block(p, &s->body);
    bounds_pop(p->b, mark);
    if (s->kind == S_IF) {
        mark = bounds_push(p->b);
        bounds_assume(p->b, s->value, false);
        s->els = pipes_block(p, &s->els);
        bounds_pop(p->b, mark);
    }
    return s;
}

/* May there be nests inside 's'? */
static bool
has_blocks(const Stmt *s)
{
    return s->kind == S_IF || s->kind == S_FOR || s->kind == S_WHILE;
}

/* Appends the statements of 'from' to 'out'. */
static void
append(Pipes *p, Block *out, const Block *from)
{
    for (int i = 0; i < from->n; i++) {
        vec_push(p->pass->arena, out, from->at[i]);
    }
}

/* Fused nests are found from the end; then the block is put together again
 * from its start, where the Bounds grow as the program runs. The first
 * statement has nothing before it that could feed it. Old statements are what
 * the Bounds learn from: their definitions are those of the new ones. */
static Block
pipes_block(Pipes *p, const Block *block)
{
    Arena *arena = p->pass->arena;
    Block *fused = ARENA_ARRAY(arena, Block, block->n + 1);
    bool *is_fused = ARENA_ARRAY(arena, bool, block->n + 1);
    for (int i = block->n - 1; i > 0; i--) {
        Stmt *s = block->at[i];
        if (s->kind == S_FOR && !map_has(&p->gone, s)) {
            is_fused[i] = try_pipe(p, block, i, &fused[i]);
        }
    }
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (is_fused[i]) {
            append(p, &out, &fused[i]);
        } else if (!map_has(&p->gone, s)) {
            vec_push(arena, &out, has_blocks(s) ? pipes_inside(p, s) : s);
        }
        bounds_after(p->b, s);
    }
    return out;
}

/* For ir_map_block. Drops the ALLOCs and FILLs of buffers that are gone;
 * nothing else speaks of these any more. */
static void
drop_memory(void *data, Block *out, Stmt *s)
{
    Pipes *p = data;
    bool memory = s->kind == S_ALLOC || s->kind == S_FILL;
    if (!memory || !map_has(&p->gone, s->buf)) {
        vec_push(p->pass->arena, out, s);
    }
}

/* Loop ids survive, so directives given as text mean the same loops as long as
 * the same pipes are found. */
Func *
pass_pipes(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Pipes p = {.pass = pass, .func = out};
    p.b = bounds_new(pass->arena, out);
    p.gone = map_new(pass->arena);
    out->body = pipes_block(&p, &func->body);
    if (p.gone.n == 0) {
        return func;
    }
    out->body = ir_map_block(pass->arena, &out->body, drop_memory, &p);
    return simplify(pass, out);
}
