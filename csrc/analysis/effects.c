/* What a statement reads, writes and may end.
 *
 * A check that fails ends the call, and everything the call wrote is undone
 * before it is repeated.  So a check may move up over anything that neither
 * defines a Var it uses nor writes memory it reads; it may not move down, for
 * what follows it relies on it (an index in range).
 */
#include "csrc/analysis/analysis.h"

/* Notes whether the expression reads memory. For ir_each_expr. */
static void
add_loads(void *data, Expr **slot)
{
    Effects *effects = data;
    effects->load = effects->load || ir_has_load(*slot);
}

/* What 's' does by itself, without the blocks in it: ir_each_stmt goes into
 * these. Only a store to what may be an argument is visible to the caller; a
 * fresh buffer, returned or not, is thrown away with a call that fails. */
static void
add_stmt(Effects *effects, Stmt *s)
{
    switch (s->kind) {
    case S_STORE:
    case S_FILL:
        effects->store = true;
        effects->visible_store =
            effects->visible_store || ir_is_visible(s->buf);
        break;
    case S_GROW:
    case S_ROUTINE:
        effects->store = true;
        effects->alloc = true;
        break;
    case S_CHECK:
        effects->check = true;
        break;
    case S_WARN:
        effects->warn = true;
        break;
    case S_ALLOC:
        effects->alloc = true;
        break;
    case S_WHILE:
        effects->loop_forever = true;
        break;
    default:
        break;
    }
    ir_each_expr(s, add_loads, effects);
}

/* For ir_each_stmt. */
static void
add_below(void *data, Stmt *s)
{
    add_stmt(data, s);
}

/* The union over all statements of 'block' and below. */
Effects
effects_of_block(const Block *block)
{
    Effects effects = {0};
    ir_each_stmt(block, add_below, &effects);
    return effects;
}

/* A block that holds just the statement in '*slot'. */
static Block
block_of(Stmt **slot)
{
    Block block = {0};
    block.at = slot;
    block.n = 1;
    block.cap = 1;
    return block;
}

/* Of 's' and all that is in it. The walkers want a block of statements that
 * may be changed, so they get a copy of the outermost one; nothing is written
 * to it. */
Effects
effects_of(const Stmt *s)
{
    Stmt copy = *s;
    Stmt *slot = &copy;
    Block block = block_of(&slot);
    return effects_of_block(&block);
}

/* --- who touches a buffer ------------------------------------------------ */

/* Two Bufs of no common group are two pieces of memory, but for arguments of
 * general kernels and what may be a name of one. */
bool
effects_may_alias(const Func *func, const Buf *lhs, const Buf *rhs)
{
    return ir_may_overlap(lhs, rhs) ||
           (func->general && ir_is_visible(lhs) && ir_is_visible(rhs));
}

/* By STORE, FILL or GROW of this buffer or another name of its memory; overlap
 * of arguments is for the caller to add. */
bool
effects_writes(const Block *block, const Buf *buf)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if ((ir_writes(s) && ir_may_overlap(s->buf, buf)) ||
            effects_writes(&s->pre, buf) || effects_writes(&s->body, buf) ||
            effects_writes(&s->els, buf)) {
            return true;
        }
    }
    return false;
}

/* Does 'e' read this buffer, by this or another name? */
static bool
loads_from(const Expr *e, const Buf *buf)
{
    if (ir_reads(e) && ir_may_overlap(e->buf, buf)) {
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (loads_from(e->args[i], buf)) {
            return true;
        }
    }
    return false;
}

/* A search for loads of "buf"; "found" once there was one. */
typedef struct ReadQuery {
    const Buf *buf;
    bool found;
} ReadQuery;

/* For ir_each_expr. */
static void
query_expr(void *data, Expr **slot)
{
    ReadQuery *query = data;
    query->found = query->found || loads_from(*slot, query->buf);
}

/* For ir_each_stmt. */
static void
query_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, query_expr, data);
}

/* By any expression of 'block' and below. */
bool
effects_reads(const Block *block, const Buf *buf)
{
    ReadQuery query = {buf, false};
    ir_each_stmt(block, query_stmt, &query);
    return query.found;
}

/* An ALLOC or VIEW, or an IF or loop that hands the name out or carries it. */
bool
effects_makes(const Stmt *s, const Buf *buf)
{
    bool found =
        (s->kind == S_ALLOC || s->kind == S_VIEW) && s->buf == buf;
    for (int i = 0; i < s->nbinds; i++) {
        found = found || s->binds[i].var == buf || s->binds[i].out == buf;
    }
    return found;
}
