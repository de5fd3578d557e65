/* Nests -> Pipe: which nests before this one can be computed beside it?
 *
 *     for y for x { tmp[y, x] = (in[y, x] + in[y+1, x]) / 2 }     producer
 *     ...
 *     for y for x { out[y, x] = tmp[y, x] + tmp[y, x+1] }         last stage
 *
 * A producer joins when
 *   - its buffer is fresh, and every access in the whole function is its own
 *     store, a fill, or a load by a stage that has joined;
 *   - those loads are at the reader's loop variables plus constants, and lie
 *     inside the box that the producer writes, so neither the fill nor a
 *     value of an earlier round of some outer loop is ever seen;
 *   - nothing between it and the last stage, nor the last stage itself,
 *     writes what it reads: it may run later, and in pieces.
 * Reads that cannot be proved, gathers, and stages that read themselves stay
 * as they are, with a remark.
 */
#include "csrc/pipe/lift.h"

enum { MAX_STAGES = 32 };

/* --- producers ----------------------------------------------------------- */

/* What a producer's body is made of.
 *   "stores"  how many, at any depth
 *   "other"   something a producer may not contain */
typedef struct Contents {
    int stores;
    bool other; /* something a producer may not contain */
} Contents;

/* For ir_each_stmt. No checks, warnings, loops without end or memory of its
 * own: a producer runs later than it did, and parts of it more than once. */
static void
note_contents(void *data, Stmt *s)
{
    Contents *contents = data;
    contents->stores += s->kind == S_STORE;
    contents->other =
        contents->other || !(s->kind == S_LET || s->kind == S_IF ||
                             s->kind == S_FOR || s->kind == S_STORE) ||
        s->nbinds > 0;
}

/* The stores, at the top of the innermost body, to a buffer each; false where
 * there are others. */
static bool
find_stores(Stage *stage)
{
    Contents contents = {0};
    ir_each_stmt(&stage->body, note_contents, &contents);
    if (contents.other || contents.stores > MAX_OUTPUTS) {
        return false;
    }
    for (int i = 0; i < stage->body.n; i++) {
        Stmt *s = stage->body.at[i];
        if (s->kind == S_STORE && stage_output(stage, s->buf) == NULL) {
            stage->outs[stage->nouts++] = (Output){.store = s, .buf = s->buf};
        }
    }
    return stage->nouts > 0 && stage->nouts == contents.stores;
}

/* Takes the nodes of 'e', written out, from 'left'; false when that is used up:
 * what is shared by LETs can be as large as 2 to their number. */
static bool
is_within(const Expr *e, int *left)
{
    bool within = --*left >= 0;
    for (int i = 0; i < e->nargs && within; i++) {
        within = is_within(e->args[i], left);
    }
    return within;
}

/* The stored value with the LETs of prefixes and body put in, for computing it
 * in place of a read; NULL where the body is more than LETs and the store, or
 * it would be too large. */
static Expr *
whole_value(Arena *arena, const Stage *stage)
{
    Map map = map_new(arena);
    for (int d = 0; d <= stage->depth; d++) {
        const Block *block =
            d < stage->depth ? &stage->axes[d].prefix : &stage->body;
        for (int i = 0; i < block->n; i++) {
            Stmt *s = block->at[i];
            if (s->kind == S_STORE) {
                Expr *value = ir_subst(arena, s->value, &map);
                int left = MOST_NODES;
                return is_within(value, &left) ? value : NULL;
            }
            if (s->kind != S_LET) {
                return NULL;
            }
            map_set(&map, s->var, ir_subst(arena, s->value, &map));
        }
    }
    return NULL;
}

/* Operations of one value, roughly; a load's index is not counted. A division
 * or call counts for many. */
static int
count_ops(const Expr *e)
{
    int n =
        e->nargs > 0 && e->op != E_LOAD && e->op != E_SPLAT && e->op != E_CAST;
    for (int i = 0; i < e->nargs && e->op != E_LOAD; i++) {
        n += count_ops(e->args[i]);
    }
    if (e->op == E_CALL || e->op == E_DIV || e->op == E_SUM) {
        n += 8;
    }
    return n;
}

/* For ir_each_expr; 'data' is the sum. */
static void
count_op(void *data, Expr **slot)
{
    if (*slot != NULL) {
        *(int *)data += count_ops(*slot);
    }
}

/* For ir_each_stmt; 'data' is the sum. */
static void
count_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, count_op, data);
}

/* Loads in 'e' whose last index 'var' counts. */
static int
count_along(const Expr *e, const Var *var)
{
    int n = e->op == E_LOAD && e->nargs > 0 &&
            ir_uses(e->args[e->nargs - 1], var);
    for (int i = 0; i < e->nargs; i++) {
        n += count_along(e->args[i], var);
    }
    return n;
}

/* Does it read along its rows rather than its columns? */
static bool
is_turned(const Stage *stage)
{
    if (stage->value == NULL || stage->depth < 2) {
        return false;
    }
    const Axis *last = &stage->axes[stage->depth - 1];
    return count_along(stage->value, last[-1].loop->var) >
           count_along(stage->value, last->loop->var);
}

/* Can 'store' be a producer's?  Each index must be the variable of its own
 * level plus a constant, so that levels and axes correspond in order and every
 * element is written once; all stores have the same constants. */
static bool
is_output(Lift *lift, Stage *stage, const Stmt *store, bool first)
{
    const Buf *buf = store->buf;
    if (buf->kind != BUF_LOCAL || buf->growable || buf->group != NULL ||
        store->nindex != stage->depth) {
        return false;
    }
    for (int d = 0; d < stage->depth; d++) {
        int64_t min;
        int64_t max;
        if (!stage_offset(lift->arena, lift->b, stage, store->index[d], d,
                          &min, &max) ||
            max != min || (!first && min != stage->shift[d])) {
            return false;
        }
        stage->shift[d] = min;
    }
    return true;
}

/* Reads the stores of a nest that may be a producer; false: it is none.  A nest
 * that reads a buffer of its own would see values of other rounds. */
static bool
as_producer(Lift *lift, Stage *stage)
{
    if (stage->axes[0].loop->ncarries > 0 || !find_stores(stage)) {
        return false;
    }
    int mark = bounds_push(lift->b);
    bool simple = true;
    for (int d = 0; d < stage->depth; d++) {
        bounds_loop(lift->b, stage->axes[d].loop);
    }
    for (int i = 0; i < stage->nouts && simple; i++) {
        simple = is_output(lift, stage, stage->outs[i].store, i == 0);
    }
    bounds_pop(lift->b, mark);
    stage->value = stage->nouts == 1 ? whole_value(lift->arena, stage) : NULL;
    stage->turned = is_turned(stage);
    ir_each_stmt(&stage->body, count_stmt, &stage->ops);
    return simple && !stage_feeds(stage, stage);
}

/* --- who touches the buffer ---------------------------------------------- */

/* How often "buf" is used in some code.
 *   "loads"   E_LOADs of it
 *   "extent"  its E_DIM, or its overlap, is asked for
 *   "stores"  S_STOREs to it; fills don't count */
typedef struct Uses {
    const Buf *buf;
    int loads;
    bool extent; /* its E_DIM is used */
    int stores;
} Uses;

/* For ir_each_node. */
static void
count_uses_node(void *data, const Expr *e)
{
    Uses *uses = data;
    uses->loads += ir_reads(e) && e->buf == uses->buf;
    uses->extent =
        uses->extent || (e->op == E_DIM && e->buf == uses->buf) ||
        (e->op == E_STRIDE && e->buf == uses->buf) ||
        (e->op == E_DISJOINT && (e->buf == uses->buf || e->buf2 == uses->buf));
}

static void
count_uses_stmt(void *data, Stmt *s)
{
    Uses *uses = data;
    uses->stores += s->kind == S_STORE && s->buf == uses->buf;
    ir_each_node(s, count_uses_node, uses);
}

/* What the results say of 'buf'. */
static Uses
uses_in_rets(const Func *func, const Buf *buf)
{
    Uses uses = {.buf = buf};
    for (int i = 0; i < func->rets.n; i++) {
        if (func->rets.at[i].value != NULL) {
            ir_each_node_of(func->rets.at[i].value, count_uses_node, &uses);
        }
    }
    return uses;
}

/* What 'block' and below do with 'buf'. */
static Uses
uses_in(const Block *block, const Buf *buf)
{
    Uses uses = {.buf = buf};
    ir_each_stmt(block, count_uses_stmt, &uses);
    return uses;
}

/* Are all accesses in the function those of the Pipe and this stage? Counted,
 * not looked for: as many loads as its stages make, one store, and nobody asks
 * for its size. Fills may stand anywhere, since no read sees one. */
static bool
is_private(Lift *lift, const Buf *buf)
{
    Uses all = uses_in(&lift->func->body, buf);
    Uses returned = uses_in_rets(lift->func, buf);
    int loads = 0;
    for (int i = 0; i < lift->pipe->stages.n; i++) {
        Block nest = stage_block(lift->arena, lift->pipe->stages.at[i]);
        loads += uses_in(&nest, buf).loads;
    }
    return all.loads == loads && all.stores == 1 && !all.extent &&
           returned.loads == 0 && !returned.extent;
}

/* All that it writes is. */
static bool
are_private(Lift *lift, const Stage *stage)
{
    bool private = true;
    for (int i = 0; i < stage->nouts && private; i++) {
        private = is_private(lift, stage->outs[i].buf);
    }
    return private;
}

/* --- moving the producer down -------------------------------------------- */

/* The search for a writer of what a nest touches.
 *   "func"    for questions of overlap
 *   "loaded"  what the nest reads, and what it has written
 *   "arena"   of the list
 *   "found"   a writer was met */
typedef struct Clash {
    const Func *func;
    VEC(const Buf *) loaded;
    Arena *arena;
    bool found;
} Clash;

/* Adds every buffer that 'e' loads from, once for each load. */
static void
note_loaded(Clash *clash, const Expr *e)
{
    if (ir_reads(e)) {
        vec_push(clash->arena, &clash->loaded, e->buf);
    }
    for (int i = 0; i < e->nargs; i++) {
        note_loaded(clash, e->args[i]);
    }
}

static void
note_loaded_slot(void *data, Expr **slot)
{
    if (*slot != NULL) {
        note_loaded(data, *slot);
    }
}

static void
note_loaded_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, note_loaded_slot, data);
}

/* Does 's' write one of the buffers, or one that may overlap? A fill or a new
 * allocation changes what was there as a store does. */
static void
find_writer(void *data, Stmt *s)
{
    Clash *clash = data;
    if (!ir_writes(s) && s->kind != S_ALLOC) {
        return;
    }
    for (int i = 0; i < clash->loaded.n; i++) {
        clash->found = clash->found || effects_may_alias(clash->func, s->buf,
                                                         clash->loaded.at[i]);
    }
}

/* Is the statement at 'position' a stage of the Pipe already? */
static bool
has_joined(const Pipe *pipe, int position)
{
    for (int i = 0; i < pipe->stages.n; i++) {
        if (pipe->stages.at[i]->position == position) {
            return true;
        }
    }
    return false;
}

/* Does nothing that the producer would move past, nor the last stage that it
 * would be mixed with, write what it reads or has written? Stages between that
 * have joined write buffers nobody else reads. What the producer has written
 * may not be filled either: that would have cleared it. */
static bool
can_move(Lift *lift, const Stage *producer)
{
    const Pipe *pipe = lift->pipe;
    const Stage *last = vec_last(&pipe->stages);
    Clash clash = {.func = lift->func, .arena = lift->arena};
    Block nest = stage_block(lift->arena, producer);
    ir_each_stmt(&nest, note_loaded_stmt, &clash);
    for (int i = 0; i < producer->nouts; i++) {
        vec_push(lift->arena, &clash.loaded, producer->outs[i].buf);
    }
    for (int i = producer->position + 1; i <= last->position; i++) {
        if (!has_joined(pipe, i) || i == last->position) {
            Block one = {0};
            vec_push(lift->arena, &one, lift->block->at[i]);
            ir_each_stmt(&one, find_writer, &clash);
        }
    }
    return !clash.found;
}

/* --- the Pipe ------------------------------------------------------------ */

/* Does a stage of the Pipe load what the producer writes? */
static bool
is_read(Lift *lift, const Stage *producer)
{
    bool read = false;
    for (int i = 0; i < lift->pipe->stages.n && !read; i++) {
        read = stage_feeds(producer, lift->pipe->stages.at[i]);
    }
    return read;
}

/* NULL, or why the producer can't join. The first producer decides how many
 * levels the last stage has: deeper loops of it become part of its body. The
 * cheap questions come first. */
static const char *
join_why_not(Lift *lift, Stage *producer)
{
    Pipe *pipe = lift->pipe;
    Stage *last = vec_last(&pipe->stages);
    const char *why = NULL;
    if (pipe->stages.n == 1 && last->depth >= producer->depth) {
        stage_trim(last, producer->depth);
        pipe->depth = producer->depth;
    }
    if (last->depth != producer->depth) {
        return "has another number of axes than its reader has loops";
    }
    if (!are_private(lift, producer)) {
        return "is used elsewhere too";
    }
    if (!reads_proved(lift, producer, &why)) {
        return why;
    }
    return can_move(lift, producer) ? NULL
                                    : "depends on memory written meanwhile";
}

/* Every later nest asks again why the producer can't join; once is enough. */
static void
say_why_not(Lift *lift, const Stage *producer, const char *why)
{
    const Loc loc = producer->nest->loc;
    for (int i = 0; i < lift->diags->list.n; i++) {
        const Diag *diag = &lift->diags->list.at[i];
        if (diag->id == DIAG_NOT_PIPE && diag->loc.line == loc.line &&
            diag->loc.col == loc.col) {
            return;
        }
    }
    diag_remark(lift->diags, DIAG_NOT_PIPE, loc, "`%s` %s",
                producer->outs[0].buf->name, why);
}

/* Puts 'producer' before the stages that it feeds. */
static void
join(Arena *arena, Pipe *pipe, Stage *producer)
{
    vec_push(arena, &pipe->stages, producer);
    for (int i = pipe->stages.n - 1; i > 0; i--) {
        pipe->stages.at[i] = pipe->stages.at[i - 1];
    }
    pipe->stages.at[0] = producer;
}

/* May the rows of the last stage, its second level from within, run in any
 * order? Blocks of rows run its rounds in another order than the program.
 * Loops further out are known to stand at one round. */
static bool
has_free_rows(Lift *lift)
{
    const Stage *last = vec_last(&lift->pipe->stages);
    DependWhy why;
    if (last->depth < 2) {
        return false;
    }
    int mark = bounds_push(lift->b);
    for (int d = 0; d < last->depth - 2; d++) {
        bounds_loop(lift->b, last->axes[d].loop);
        for (int i = 0; i < last->axes[d].prefix.n; i++) {
            bounds_after(lift->b, last->axes[d].prefix.at[i]);
        }
    }
    Stmt rounds = *last->axes[last->depth - 2].loop;
    rounds.ncarries = 0; /* no round uses what the others gathered */
    bool free =
        depend_independent(lift->arena, lift->func, lift->b, &rounds, &why);
    bounds_pop(lift->b, mark);
    return free;
}

/* Goes backwards from the last stage; a producer of a producer is met after its
 * reader has joined. */
Pipe *
pipe_lift(Arena *arena, const Func *func, Bounds *b, const Block *block,
          int position, Diags *diags)
{
    Pipe *pipe = ARENA_NEW(arena, Pipe);
    Lift lift = {arena, func, b, block, diags, pipe};
    Stage *last = stage_take(arena, block, position);
    if (last == NULL) {
        return NULL;
    }
    for (int d = 0; d < last->depth; d++) {
        if (!bounds_may_shift(b, last->axes[d].loop)) {
            return NULL;
        }
    }
    vec_push(arena, &pipe->stages, last);
    for (int i = position - 1; i >= 0 && pipe->stages.n < MAX_STAGES; i--) {
        Stage *producer = stage_take(arena, block, i);
        if (producer == NULL || !as_producer(&lift, producer) ||
            !is_read(&lift, producer)) {
            continue;
        }
        const char *why = join_why_not(&lift, producer);
        if (why == NULL) {
            join(arena, pipe, producer);
        } else {
            say_why_not(&lift, producer, why);
        }
    }
    if (pipe->stages.n == 1) {
        return NULL;
    }
    pipe->rows_free = has_free_rows(&lift);
    return pipe;
}

const Output *
stage_output(const Stage *stage, const Buf *buf)
{
    for (int i = 0; i < stage->nouts; i++) {
        if (stage->outs[i].buf == buf) {
            return &stage->outs[i];
        }
    }
    return NULL;
}

bool
stage_feeds(const Stage *stage, const Stage *reader)
{
    bool feeds = false;
    for (int i = 0; i < stage->nouts && !feeds; i++) {
        feeds = effects_reads(&reader->nest->body, stage->outs[i].buf);
    }
    return feeds;
}

/* The last stage is no producer, whatever it writes. */
Stage *
pipe_producer(const Pipe *pipe, const Buf *buf)
{
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        if (stage_output(pipe->stages.at[i], buf) != NULL) {
            return pipe->stages.at[i];
        }
    }
    return NULL;
}
