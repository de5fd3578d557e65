/* A nest as a Stage: which of its loops are levels?
 *
 *     for y in lo..hi                      level 0
 *         let %a = ...                     its prefix
 *         for x in lo..hi { ... }          level 1, with the stage's body
 *
 * The rounds of levels may run in blocks, so levels carry nothing but what they
 * gather in any order.
 */
#include "csrc/pipe/lift.h"

/* A level of a nest runs to its end. */
static bool
is_plain_loop(const Stmt *s)
{
    return s->kind == S_FOR && s->nbinds == 0 && s->until == NULL;
}

/* A loop whose rounds may gather what they do in any order: it carries counts,
 * sums and extremes of integers, or nothing. */
static bool
gathers_freely(Arena *arena, const Stmt *loop)
{
    for (int i = 0; i < loop->ncarries; i++) {
        if (dtype_is_float(loop->carries[i].var->dtype) ||
            ir_gathers(arena, loop, i) == TALLY_NONE) {
            return false;
        }
    }
    return true;
}

/* Do both gather the same, the inner loop for the outer one? */
static bool
hands_on(const Stmt *outer, const Stmt *inner)
{
    bool same = inner->ncarries == outer->ncarries;
    for (int i = 0; i < outer->ncarries && same; i++) {
        const Carry *around = &outer->carries[i];
        const Carry *carry = &inner->carries[i];
        same = ir_is_var(carry->init, around->var) &&
               ir_is_var(around->next, carry->out);
    }
    return same;
}

/* Can 'loop' be the next level of 'stage'? */
static bool
is_level(Arena *arena, const Stage *stage, const Stmt *loop)
{
    return is_plain_loop(loop) && gathers_freely(arena, loop) &&
           (stage->depth == 0 ||
            hands_on(stage->axes[stage->depth - 1].loop, loop));
}

/* 'e' with the LETs of the levels around replaced by what they are, so that it
 * can be computed outside of these levels. */
static Expr *
through_lets(Arena *arena, const Stage *stage, Expr *e)
{
    for (int d = stage->depth - 1; d >= 0; d--) {
        const Block *prefix = &stage->axes[d].prefix;
        for (int i = prefix->n - 1; i >= 0; i--) {
            if (ir_uses(e, prefix->at[i]->var)) {
                Map map = map_new(arena);
                map_set(&map, prefix->at[i]->var, prefix->at[i]->value);
                e = ir_subst(arena, e, &map);
            }
        }
    }
    return e;
}

/* A bound that is the same in all rounds of the levels around: without their
 * variables, and without a load, which would be made again and might see
 * something else. The outermost level's bound is evaluated once and may
 * load. */
static bool
is_plain_bound(const Stage *stage, const Expr *e)
{
    return !stage_uses_vars(stage, e) && (stage->depth == 0 || !ir_has_load(e));
}

/* Does 'e' read a buffer that the nest writes? */
static bool
reads_own_store(const Block *nest, const Expr *e)
{
    bool found = ir_reads(e) && effects_writes(nest, e->buf);
    for (int i = 0; i < e->nargs && !found; i++) {
        found = reads_own_store(nest, e->args[i]);
    }
    return found;
}

/* May the LETs before the inner loop be evaluated again for every block of it?
 * Not if they read what an earlier block has stored by then. */
static bool
is_repeatable(Arena *arena, const Stage *stage, const Block *lets, int n)
{
    Block nest = stage_block(arena, stage);
    for (int i = 0; i < n; i++) {
        if (lets->at[i]->kind != S_LET ||
            reads_own_store(&nest, lets->at[i]->value)) {
            return false;
        }
    }
    return true;
}

/* Adds the level 'loop' and, while its body is LETs and one more loop, the
 * levels below, at most 'most'. Levels are copies whose bounds see through the
 * LETs between them, for the box must be known outside; the nest itself is not
 * changed. */
static void
take_levels(Arena *arena, Stage *stage, Stmt *loop, int most)
{
    while (stage->depth < most && is_level(arena, stage, loop)) {
        loop = ir_copy_stmt(arena, loop);
        loop->lo = through_lets(arena, stage, loop->lo);
        loop->hi = through_lets(arena, stage, loop->hi);
        if (!is_plain_bound(stage, loop->lo) ||
            !is_plain_bound(stage, loop->hi)) {
            return;
        }
        Axis *axis = &stage->axes[stage->depth++];
        int n = loop->body.n;
        axis->loop = loop;
        stage->body = loop->body;
        if (!is_repeatable(arena, stage, &loop->body, n - 1)) {
            return;
        }
        if (n == 0 || loop->body.at[n - 1]->kind != S_FOR) {
            return;
        }
        axis->prefix = loop->body;
        axis->prefix.n = n - 1;
        axis->prefix.cap = n - 1;
        loop = loop->body.at[n - 1];
    }
}

/* Makes 'stage' one of 'depth' levels; what is below belongs to its body. The
 * innermost level's body was noted as a prefix when the walk stopped for its
 * loop; only levels with a level below have one. */
void
stage_trim(Stage *stage, int depth)
{
    stage->depth = depth;
    Axis *last = &stage->axes[depth - 1];
    last->prefix.n = 0;
    stage->body = last->loop->body;
}

/* The nest at block->at[position] as a stage, as deep as it goes. NULL when
 * the statement is no nest, or its outer loop carries something but what it
 * gathers. */
Stage *
stage_take(Arena *arena, const Block *block, int position)
{
    Stage *stage = ARENA_NEW(arena, Stage);
    stage->position = position;
    stage->nest = block->at[position];
    if (stage->nest->kind != S_FOR) {
        return NULL;
    }
    take_levels(arena, stage, stage->nest, MAX_DEPTH_PIPE);
    if (stage->depth == 0) {
        return NULL;
    }
    stage_trim(stage, stage->depth);
    return stage;
}
