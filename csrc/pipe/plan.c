/* Decide where each producer of a Pipe is computed, and in what blocks.
 *
 * Three ways, from cheap to general:
 *   inline   the expression in place of every read: for producers that are
 *            read once, or whose reads all together cost next to nothing
 *   tile     a block of the producer beside the block of its consumer
 *   root     the whole producer before, as it was written; also where its
 *            reader needs only part of it
 *
 * Rows: a producer that is read above and below (min < max on an outer axis)
 * is computed again by the next block of rows, so rows come in blocks: 2*span
 * of them, at most MAX_ROWS (as many where the producer reads columns, of which
 * a cache line holds several rows); more than MAX_SPAN rows of overlap stay at
 * root, where they are computed once.  Columns: as many as keep all tiles of
 * the Pipe within TILE_BYTES of the first-level cache; the few columns of
 * overlap between chunks cost less than a hundredth.  Where what is computed
 * again would still be more than AGAIN_OPS operations a value, blocks are twice
 * or four times as high and the tiles lie in the second-level cache.
 */
#include "csrc/pipe/pipe.h"

enum {
    MAX_ROWS = 8,
    MAX_SPAN = 8,
    MAX_COLUMNS = 512,
    MIN_COLUMNS = 32,
    TILE_BYTES = 28 * 1024,
    HIGH_BYTES = 112 * 1024, /* tiles of high blocks */
    MOST_ROWS = 16,
    AGAIN_OPS = 12,
    CHEAP_OPS = 4,  /* of all reads of one element */
    LOOP_READS = 8, /* what a read inside a loop counts for */
};

/* Rows (columns) of overlap between neighbouring blocks. */
static int64_t
span_of(const Stage *stage, int d)
{
    return stage->max[d] - stage->min[d];
}

/* Operations of one value, those of what it takes in included: producers that
 * are already to be computed in place, once for each read. */
static int
total_ops(const Pipe *pipe, int which)
{
    const Stage *stage = pipe->stages.at[which];
    int ops = stage->ops;
    for (int i = 0; i < which; i++) {
        const Stage *taken = pipe->stages.at[i];
        if (taken->compute == COMPUTE_INLINE && stage_feeds(taken, stage)) {
            ops += taken->sites * total_ops(pipe, i);
        }
    }
    return ops;
}

/* Nodes of 'e' once what is computed in place stands there. */
static int64_t
nodes_of(const Pipe *pipe, const Expr *e)
{
    int64_t n = 1;
    for (int i = 0; i < pipe->stages.n && e->op == E_LOAD; i++) {
        const Stage *stage = pipe->stages.at[i];
        if (stage->compute == COMPUTE_INLINE && stage->outs[0].buf == e->buf) {
            n = stage->nodes;
        }
    }
    for (int i = 0; i < e->nargs && n <= MOST_NODES; i++) {
        n += nodes_of(pipe, e->args[i]);
    }
    return n;
}

/* Loads of 'buf' in 'e'. */
static int
loads_of(const Expr *e, const Buf *buf)
{
    int n = e->op == E_LOAD && e->buf == buf;
    for (int i = 0; i < e->nargs; i++) {
        n += loads_of(e->args[i], buf);
    }
    return n;
}

/* Would the values that read it stay small?  One that is read twice by the
 * next, and so on, doubles with every stage. */
static bool
stays_small(const Pipe *pipe, const Stage *stage)
{
    int64_t most = stage->nodes;
    for (int i = 0; i < pipe->stages.n; i++) {
        const Stage *reader = pipe->stages.at[i];
        if (reader->value != NULL) {
            int64_t n = loads_of(reader->value, stage->outs[0].buf);
            n *= stage->nodes;
            most = n > most ? n : most;
        }
    }
    return most <= MOST_NODES;
}

/* Computed in place only if that reaches every element once, and costs nothing
 * worth naming: one read, or few operations in all. Only a value without
 * statements can be. */
static bool
is_inline(const Pipe *pipe, int which)
{
    const Stage *stage = pipe->stages.at[which];
    if (stage->value == NULL || !stage->covered_once ||
        !stays_small(pipe, stage)) {
        return false;
    }
    int reads = stage->sites * (stage->in_loop ? LOOP_READS : 1);
    return reads == 1 || reads * total_ops(pipe, which) <= CHEAP_OPS;
}

/* Too much would be computed again: rows or planes far apart. Only rows are
 * blocked, and only if they may run in any order; overlap on any axis further
 * out would be computed again in every round. */
static bool
overlaps_too_much(const Pipe *pipe, const Stage *stage)
{
    for (int d = 0; d < pipe->depth - 1; d++) {
        bool rows = d == pipe->depth - 2 && pipe->rows_free;
        int64_t most = rows ? MAX_SPAN : 0;
        if (span_of(stage, d) > most) {
            return true;
        }
    }
    return false;
}

/* Bytes of all that is written for one place. */
static int64_t
place_bytes(const Stage *stage)
{
    int64_t bytes = 0;
    for (int i = 0; i < stage->nouts; i++) {
        int lanes = stage->outs[i].store->value->lanes;
        bytes += dtype_size(stage->outs[i].buf->dtype) *
                 (lanes > 0 ? lanes : 1);
    }
    return bytes;
}

/* Bytes of one column of all tiles, and of what they overlap. */
static int64_t
tile_bytes(const Pipe *pipe)
{
    int last = pipe->depth - 1;
    int64_t bytes = 0;
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        const Stage *stage = pipe->stages.at[i];
        if (stage->compute != COMPUTE_TILE) {
            continue;
        }
        int64_t size = place_bytes(stage);
        for (int d = 0; d < last; d++) {
            size *= pipe->block[d] + span_of(stage, d);
        }
        bytes += size * (pipe->block[last] + span_of(stage, last));
    }
    return bytes;
}

/* Is every reader computed in blocks?  A stage at root reads whole arrays, so
 * what it reads stays at root too. */
static bool
readers_join(const Pipe *pipe, int which)
{
    for (int i = which + 1; i < pipe->stages.n - 1; i++) {
        const Stage *reader = pipe->stages.at[i];
        if (reader->compute == COMPUTE_ROOT &&
            stage_feeds(pipe->stages.at[which], reader)) {
            return false;
        }
    }
    return true;
}

/* The stage stays where it was; 'why' goes into the remark. */
static void
keep_root(Stage *stage, const char *why)
{
    stage->compute = COMPUTE_ROOT;
    stage->why = why;
}

static void
choose_compute(const Pipe *pipe, int which)
{
    Stage *stage = pipe->stages.at[which];
    stage->nodes = stage->value ? nodes_of(pipe, stage->value) : 0;
    if (is_inline(pipe, which)) {
        stage->compute = COMPUTE_INLINE;
    } else if (!stage->covered) {
        keep_root(stage, "is read only in part");
    } else if (overlaps_too_much(pipe, stage)) {
        keep_root(stage, "is read in rows too far apart");
    } else {
        stage->compute = COMPUTE_TILE;
    }
}

/* First each stage for itself, producers before readers; then, from the end,
 * back to root what a stage at root reads. */
static void
choose_computes(Pipe *pipe)
{
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        choose_compute(pipe, i);
    }
    for (int i = pipe->stages.n - 2; i >= 0; i--) {
        if (!readers_join(pipe, i)) {
            keep_root(pipe->stages.at[i], "is read by a loop that stays whole");
        }
    }
}

/* Operations that are done again for each value of the last stage, where rows
 * come in blocks of so many. */
static int64_t
ops_again(const Pipe *pipe, int64_t rows)
{
    int64_t ops = 0;
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        const Stage *stage = pipe->stages.at[i];
        if (stage->compute == COMPUTE_TILE) {
            ops += total_ops(pipe, i) * span_of(stage, pipe->depth - 2) / rows;
        }
    }
    return ops;
}

/* Rows first, since tiles get higher by them; then as many columns as fit, in
 * powers of two.  Gives the bytes that tiles were to keep within. */
static int64_t
choose_blocks(Pipe *pipe)
{
    int last = pipe->depth - 1;
    int64_t bytes = TILE_BYTES;
    for (int d = 0; d < last; d++) {
        pipe->block[d] = 1;
    }
    pipe->block[last] = MAX_COLUMNS;
    for (int i = 0; i < pipe->stages.n - 1 && last > 0; i++) {
        const Stage *stage = pipe->stages.at[i];
        int64_t rows =
            stage->turned && pipe->rows_free ? MAX_ROWS
                                             : 2 * span_of(stage, last - 1);
        rows = rows > MAX_ROWS ? MAX_ROWS : rows;
        if (stage->compute == COMPUTE_TILE && rows > pipe->block[last - 1]) {
            pipe->block[last - 1] = rows;
        }
    }
    while (last > 0 && pipe->block[last - 1] > 1 &&
           pipe->block[last - 1] < MOST_ROWS &&
           ops_again(pipe, pipe->block[last - 1]) > AGAIN_OPS) {
        pipe->block[last - 1] *= 2;
        bytes = HIGH_BYTES;
    }
    while (pipe->block[last] > MIN_COLUMNS && tile_bytes(pipe) > bytes) {
        pipe->block[last] /= 2;
    }
    return bytes;
}

/* How many producers do not stay at root. */
static int
count_joined(const Pipe *pipe)
{
    int n = 0;
    for (int i = 0; i < pipe->stages.n - 1; i++) {
        n += pipe->stages.at[i]->compute != COMPUTE_ROOT;
    }
    return n;
}

/* The choice depends on the Pipe alone, so it is the same in every run. */
bool
pipe_plan(Pipe *pipe)
{
    choose_computes(pipe);
    int64_t most = choose_blocks(pipe);
    if (tile_bytes(pipe) > 2 * most) {
        for (int i = 0; i < pipe->stages.n - 1; i++) {
            keep_root(pipe->stages.at[i], "would need too large a tile");
        }
    }
    return count_joined(pipe) > 0;
}
