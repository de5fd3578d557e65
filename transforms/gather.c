/* Loops over threads whose rounds gather something: a count, a maximum.
 *
 *     for y in lo..hi {                  for k in 0..n parallel {
 *         carry %c = c0                      for y in block k {
 *         ...                                    carry %c = 0
 *         next %c = (add %c d) -> %t  ->         ...
 *     }                                          next %c = (add %c d) -> %u }
 *                                            store part[k] = %u }
 *                                        for k in 0..n {
 *                                            carry %s = c0
 *                                            next %s =
 *                                                (add %s part[k]) -> %t }
 *
 * Each block of rounds gathers for itself, and what they found is put together
 * in their order, so the result doesn't depend on the number of threads.
 * Integers wrap: their sums and the like are those of the loop in any grouping.
 * A maximum of floats begins in each block with what the loop began with.  It
 * is the first of the greatest, in a block and then among the blocks, unless
 * the beginning is as great or a nan: then it is the beginning in all of them.
 *
 * There are at most BLOCKS blocks, so that what they found fits on the stack.
 */
#include "transforms/transforms.h"

enum {
    BLOCKS = 256,
    LEAST = 1024, /* rounds of a block without a loop in it */
};

bool
gathers_only(Arena *arena, const Stmt *loop)
{
    for (int i = 0; i < loop->ncarries; i++) {
        if (ir_gathers(arena, loop, i) == TALLY_NONE) {
            return false;
        }
    }
    return true;
}

bool
rounds_independent(Arena *arena, const Func *func, Bounds *b, const Stmt *loop,
                   DependWhy *why)
{
    Stmt rounds = *loop;
    if (loop->ncarries > 0 && gathers_only(arena, loop)) {
        rounds.ncarries = 0; /* no round uses what the others gathered */
    }
    return depend_independent(arena, func, b, &rounds, why);
}

/* What stands before the blocks.
 *   "lo", "hi"  of the loop
 *   "size"      rounds of a block
 *   "n"         blocks */
typedef struct Plan {
    Func *func;
    const Stmt *loop;
    Expr *lo;
    Expr *hi;
    Expr *size;
    Expr *n;
} Plan;

/* A name for 'e', whose LET goes to 'out'. */
static Expr *
name(const Plan *plan, Block *out, const char *text, Expr *e)
{
    Arena *arena = plan->func->arena;
    if (ir_is_const(e) || e->op == E_VAR) {
        return e;
    }
    Var *var = ir_var(plan->func, text, e->dtype, 0);
    vec_push(arena, out, ir_let(arena, var, e, plan->loop->loc));
    return ir_ref(arena, var);
}

static Expr *
int64(const Plan *plan, int64_t value)
{
    return ir_int(plan->func->arena, DT_I64, value);
}

/* Rounds and blocks: size = max(ceil(span / BLOCKS), least). */
static void
measure(Plan *plan, Block *out)
{
    Arena *arena = plan->func->arena;
    const Stmt *loop = plan->loop;
    int64_t least = block_has_loop(&loop->body) ? 1 : LEAST;
    plan->lo = name(plan, out, "lo", loop->lo);
    plan->hi = name(plan, out, "hi", loop->hi);
    Expr *span = ir_binary(arena, E_SUB, plan->hi, plan->lo);
    span = name(plan, out, "span",
                ir_binary(arena, E_MAX, span, int64(plan, 0)));
    Expr *size = ir_binary(arena, E_ADD, span, int64(plan, BLOCKS - 1));
    size = ir_binary(arena, E_IDIV, size, int64(plan, BLOCKS));
    plan->size = name(plan, out, "size",
                      ir_binary(arena, E_MAX, size, int64(plan, least)));
    Expr *up = ir_binary(arena, E_SUB, plan->size, int64(plan, 1));
    up = ir_binary(arena, E_ADD, span, up);
    plan->n = name(plan, out, "n",
                   ir_binary(arena, E_IDIV, up, plan->size));
}

/* An array for what the blocks find for 'carry', made in 'out'. */
static Buf *
make_part(const Plan *plan, const Carry *carry, Block *out)
{
    Arena *arena = plan->func->arena;
    Buf *part = ir_buf(plan->func, carry->var->name, carry->var->dtype, 1,
                       BUF_LOCAL);
    part->dims[0] = int64(plan, BLOCKS);
    part->space = SPACE_STACK;
    Stmt *alloc = ir_stmt(arena, S_ALLOC, plan->loop->loc);
    alloc->buf = part;
    vec_push(arena, out, alloc);
    return part;
}

/* What a block begins with: nothing for a sum, else what the loop does. */
static Expr *
begin(const Plan *plan, const Carry *carry, Tally what)
{
    return what == TALLY_ADD
               ? ir_int(plan->func->arena, carry->var->dtype, 0)
               : carry->init;
}

/* Two of what was gathered, the earlier one first. */
static Expr *
put_together(Arena *arena, Tally what, Expr *one, Expr *two)
{
    static const Op op_of[] = {
        [TALLY_ADD] = E_ADD, [TALLY_OR] = E_OR,   [TALLY_AND] = E_AND,
        [TALLY_MIN] = E_MIN, [TALLY_MAX] = E_MAX,
    };
    if (!dtype_is_float(one->dtype)) {
        return ir_binary(arena, op_of[what], one, two);
    }
    Expr *better = what == TALLY_MAX ? ir_binary(arena, E_LT, one, two)
                                     : ir_binary(arena, E_LT, two, one);
    return ir_select(arena, better, two, one);
}

/* The loop over blocks; its last statement but the stores is the rounds of one,
 * for which the caller's directives hold. */
static Stmt *
make_blocks(const Plan *plan, Stmt *rounds, Buf *const *parts)
{
    Arena *arena = plan->func->arena;
    const Stmt *loop = plan->loop;
    Stmt *blocks = ir_stmt(arena, S_FOR, loop->loc);
    blocks->var = ir_var(plan->func, "block", DT_I64, 0);
    blocks->id = plan->func->next_id++;
    blocks->lo = int64(plan, 0);
    blocks->hi = plan->n;
    Expr *k = ir_ref(arena, blocks->var);
    Expr *first = ir_binary(arena, E_MUL, k, plan->size);
    first = name(plan, &blocks->body, "first",
                 ir_binary(arena, E_ADD, plan->lo, first));
    Expr *end = ir_binary(arena, E_ADD, first, plan->size);
    rounds->lo = first;
    rounds->hi = name(plan, &blocks->body, "end",
                      ir_binary(arena, E_MIN, end, plan->hi));
    vec_push(arena, &blocks->body, rounds);
    for (int i = 0; i < loop->ncarries; i++) {
        Expr *found = ir_ref(arena, rounds->carries[i].out);
        vec_push(arena, &blocks->body,
                 ir_store(arena, parts[i], &k, 1, found, loop->loc));
    }
    return blocks;
}

/* The loop that puts the parts together. */
static Stmt *
make_whole(const Plan *plan, Buf *const *parts, const Tally *what)
{
    Arena *arena = plan->func->arena;
    Stmt *whole = ir_stmt(arena, S_FOR, plan->loop->loc);
    whole->var = ir_var(plan->func, "block", DT_I64, 0);
    whole->id = plan->func->next_id++;
    whole->lo = int64(plan, 0);
    whole->hi = plan->n;
    whole->ncarries = plan->loop->ncarries;
    whole->carries = ARENA_ARRAY(arena, Carry, whole->ncarries);
    Expr *k = ir_ref(arena, whole->var);
    for (int i = 0; i < whole->ncarries; i++) {
        const Carry *carry = &plan->loop->carries[i];
        Var *var = ir_var(plan->func, carry->var->name, carry->var->dtype, 0);
        Expr *part = name(plan, &whole->body, "part",
                          ir_load(arena, parts[i], &k, 1, 0));
        Expr *next = put_together(arena, what[i], ir_ref(arena, var), part);
        whole->carries[i] = (Carry){var, carry->init, next, carry->out};
    }
    return whole;
}

Block
gather_blocks(Func *func, const Stmt *loop, Stmt **blocks)
{
    Arena *arena = func->arena;
    Plan plan = {.func = func, .loop = loop};
    Block out = {0};
    measure(&plan, &out);
    Stmt *rounds = ir_copy_stmt(arena, loop);
    Buf **parts = ARENA_ARRAY(arena, Buf *, loop->ncarries);
    Tally *what = ARENA_ARRAY(arena, Tally, loop->ncarries);
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &rounds->carries[i];
        what[i] = ir_gathers(arena, loop, i);
        parts[i] = make_part(&plan, carry, &out);
        carry->init = begin(&plan, carry, what[i]);
        carry->out = ir_var(func, carry->out->name, carry->out->dtype, 0);
    }
    *blocks = make_blocks(&plan, rounds, parts);
    vec_push(arena, &out, *blocks);
    vec_push(arena, &out, make_whole(&plan, parts, what));
    return out;
}
