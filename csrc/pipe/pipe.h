#ifndef VZ_PIPE_PIPE_H
#define VZ_PIPE_PIPE_H
/* Stage graphs lifted from nests: lift, plan, lower.
 *
 * A Pipe is one nest, its last stage, with the nests before it that compute
 * what only it and its other producers read, through fresh buffers nobody else
 * sees.  A producer is a rectangular nest
 *
 *     for a0 in lo0..hi0 for a1 ... : out[a0 + k0, a1 + k1, ...] = f(...)
 *
 * with one unconditional store, or a few to as many buffers at the same place,
 * no check left and nothing carried; a consumer
 * reads it at its own loop variables plus constants, and every such read is
 * proved to see a value that the producer wrote.  The last stage may do
 * anything inside its loops, and they may gather what doesn't depend on the
 * order of their rounds: counts, sums and extremes of integers.
 *
 * Lowered, the producers run beside the last stage, block by block:
 *
 *     for blocks of rows y0..y1 of the last stage          (may be parallel)
 *       for chunks x0..x1 of its innermost axis            (in sequence)
 *         tile: an array of constant size on the stack
 *         for y in y0+min .. y1+max for x in x0+min .. x1+max
 *           tile[y - y0 - min, x - x0 - min] = f(...)
 *         for y in y0..y1 for x in x0..x1
 *           ... tile[y + k - y0 - min, ...] ...
 *
 * A tile lives in one round of the chunk loop, so it needs neither the heap
 * nor a thread's name, stays in the first-level cache, and its rows are
 * computed anew by the next block: rows are blocked in such a way that this
 * costs at most half.
 */
#include "csrc/analysis/analysis.h"
#include "csrc/base/opts.h"
#include "csrc/ir/ir.h"

enum { MAX_DEPTH_PIPE = 4, MAX_OUTPUTS = 6 };

/* Of an expression that is computed in place of a read. */
enum { MOST_NODES = 400 };

typedef enum Compute {
    COMPUTE_ROOT,   /* the whole stage before its consumer, as it was */
    COMPUTE_INLINE, /* its expression in place of every read */
    COMPUTE_TILE,   /* a tile beside the consumer's loops */
} Compute;

/* One level of a nest: a FOR, and the LETs between it and the next level. */
typedef struct Axis {
    Stmt *loop;
    Block prefix;
} Axis;

/* What a producer writes: "store" to "buf", in whose place a "tile" comes. */
typedef struct Output {
    Stmt *store;
    Buf *buf;
    Buf *tile;
} Output;

/* "axes" from the outside in; "body" is the innermost one's.  Producers only:
 * "outs" are written at axis variable + "shift"; "value" is what the only one
 * is given, with all LETs substituted, NULL where the body is more than LETs.
 * "min" and "max" span, per axis, what is read of the array for one element of
 * the last stage, relative to that element's loop variables.  "sites" counts
 * different reads, "ops" the operations of one value.  "covered": one reader's
 * reads together reach every element that is written; "covered_once": those of
 * one unconditional read do.  Else computing only what is read would drop
 * elements, and with them a warning that NumPy gives.  "turned": rows
 * count the last axis of more of what it reads than columns do. */
typedef struct Stage {
    int position; /* of the nest in its block */
    Stmt *nest;
    int depth;
    Axis axes[MAX_DEPTH_PIPE];
    Block body;
    Output outs[MAX_OUTPUTS];
    int nouts;
    int64_t shift[MAX_DEPTH_PIPE];
    Expr *value;
    int64_t nodes; /* of "value" with what is computed in place there */
    int64_t min[MAX_DEPTH_PIPE];
    int64_t max[MAX_DEPTH_PIPE];
    int sites;
    int ops;
    bool in_loop; /* read inside a loop of the consumer's body */
    bool covered;
    bool covered_once;
    bool turned;
    Compute compute;
    const char *why; /* ROOT: why it stays */
} Stage;

/* "stages": producers in program order, then the last stage.  "block": the
 * rounds of a block per axis, set by the plan; 1: no block, which keeps the
 * order of the last stage's rounds as it was. */
typedef struct Pipe {
    VEC(Stage *) stages;
    int depth;
    bool rows_free; /* rows of the last stage may run in any order */
    int64_t block[MAX_DEPTH_PIPE];
} Pipe;

/* The Pipe whose last stage is block->at[position]; NULL where no producer
 * can join.  'b' stands just before that statement.  Remarks say why a nest
 * that feeds it does not join. */
Pipe *pipe_lift(Arena *arena, const Func *func, Bounds *b, const Block *block,
                int position, Diags *diags);
/* Sets "compute" of every producer and the block sizes; false: nothing is to
 * be fused. */
bool pipe_plan(Pipe *pipe);
/* The statements that replace the last stage's nest.  The nests of producers
 * that are not COMPUTE_ROOT are to be dropped, with their buffers. */
Block pipe_lower(Func *func, const Pipe *pipe);

/* What 'stage' writes to 'buf'; NULL. */
const Output *stage_output(const Stage *stage, const Buf *buf);
/* Does 'reader' load from a buffer that 'stage' writes? */
bool stage_feeds(const Stage *stage, const Stage *reader);
/* The producer that writes 'buf'; NULL. */
Stage *pipe_producer(const Pipe *pipe, const Buf *buf);
#endif
