/* Which parts of a buffer does a nest touch?  For pass clear.
 *
 *     for y in 0..h for x in 0..w            slab l: rows [0, h), columns
 *         p[l, y, x] = p[l - 1, 2*y, 2*x]            [0, w), written
 *                                            slab l - 1: rows [0, 2*h - 1),
 *                                                    columns [0, 2*w - 1), read
 *
 * Levels of a pyramid differ in size, so that each slab has a box of its own.
 */
#include <string.h>

#include "transforms/clear.h"

/* Collects what a statement touches, up to the column axis. */
typedef struct Collect {
    Clear *clear;
    Map defs;
    Groups *groups;
} Collect;

/* Adds 'end'; false: there are too many. */
static bool
add_end(Ends *ends, Expr *end)
{
    for (int i = 0; i < ends->n; i++) {
        if (ir_equal(ends->at[i], end)) {
            return true;
        }
    }
    if (ends->n == MAX_ENDS) {
        return false;
    }
    ends->at[ends->n++] = end;
    return true;
}

bool
reach_is_one(const Reach *reach)
{
    return !reach->unknown && reach->lo.n == 1 && reach->hi.n == 1 &&
           ir_equal(reach->lo.at[0], reach->hi.at[0]);
}

/* The group of accesses to 'slab' of 'axis' (NULL: of no single slab).  When
 * there are too many, the last one is of no single slab either. */
static Group *
group_of(Groups *groups, int axis, Expr *slab)
{
    for (int i = 0; i < groups->n; i++) {
        Group *group = &groups->at[i];
        if (group->axis == axis &&
            (slab == NULL || ir_equal(group->slab, slab))) {
            return group;
        }
    }
    if (groups->n < MAX_GROUPS) {
        Group *fresh = &groups->at[groups->n++];
        memset(fresh, 0, sizeof(*fresh));
        fresh->axis = axis;
        fresh->slab = slab;
        return fresh;
    }
    Group *last = &groups->at[MAX_GROUPS - 1];
    last->axis = -1;
    last->slab = NULL;
    return last;
}

/* One access.  The first index that is the same in all rounds names a slab. */
static void
collect_index(Collect *c, Expr *const *index, bool reads)
{
    Target *target = c->clear->target;
    Expr *lo[MAX_RANK];
    Expr *hi[MAX_RANK];
    int axis = -1;
    for (int i = target->column; i >= 0; i--) {
        lo[i] = box_end(&c->clear->at, &c->defs, index[i], false);
        hi[i] = box_end(&c->clear->at, &c->defs, index[i], true);
        bool one = i < target->column && lo[i] != NULL && hi[i] != NULL &&
                   ir_equal(lo[i], hi[i]);
        axis = one ? i : axis;
        target->slab |= one && !ir_is_const(lo[i]);
    }
    Group *group = group_of(c->groups, axis, axis < 0 ? NULL : lo[axis]);
    group->reads |= reads;
    for (int i = 0; i <= target->column; i++) {
        Reach *reach = &group->reach[i];
        reach->unknown = reach->unknown || lo[i] == NULL || hi[i] == NULL ||
                         !add_end(&reach->lo, lo[i]) ||
                         !add_end(&reach->hi, hi[i]);
    }
}

static void
collect_node(void *data, const Expr *e)
{
    Collect *c = data;
    if (e->op == E_LOAD && e->buf == c->clear->target->buf) {
        collect_index(c, e->args, true);
    }
}

static void
collect_stmt(void *data, Stmt *s)
{
    Collect *c = data;
    if (s->kind == S_STORE && s->buf == c->clear->target->buf) {
        collect_index(c, s->index, false);
    }
    ir_each_node(s, collect_node, c);
}

/* Definitions in the statement become known to the Bounds, as far as LETs go.
 */
void
reach_collect(Clear *clear, Stmt *s, Groups *groups)
{
    Block block = {.at = &s, .n = 1, .cap = 1};
    Collect c = {.clear = clear, .groups = groups};
    groups->n = 0;
    c.defs = loop_defs(clear->pass->scratch, &block);
    ir_each_stmt_of(s, collect_stmt, &c);
}
