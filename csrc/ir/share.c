/* Which buffers may be names of the same memory.
 *
 * A Buf is a name.  Memory has several where a view is taken of it, or where an
 * IF or a loop hands it on; which of several arrays a name stands for may depend
 * on the run.  All names that are linked in this way form a "group":
 *
 *     view &r.3 = &a.0 ...                    a, r
 *     carry &x.4 = &a.0                       a, r, x, t, y
 *       alloc &t.5 ...
 *     next &x.4 = &t.5 -> &y.6
 *
 * Two of one group are taken to overlap, two of different groups never do.  So
 * the question costs one comparison, at the price that a group which ties two
 * arguments together ties all their names.  It is a forest of disjoint sets
 * over the ids of Bufs, with links to the smaller representative.
 */
#include "csrc/ir/ir.h"

/* By Buf.id: the buffer itself, once it was met, and its parent in the forest
 * (itself: it represents its set). */
typedef struct Forest {
    Buf **bufs;
    int *parent;
} Forest;

/* Who represents the set of number 'id'. Paths are halved on the way. */
static int
find(Forest *f, int id)
{
    while (f->parent[id] != id) {
        f->parent[id] = f->parent[f->parent[id]];
        id = f->parent[id];
    }
    return id;
}

/* 'buf' is there: a set of its own when it is met first. */
static void
meet(Forest *f, Buf *buf)
{
    if (buf && !f->bufs[buf->id]) {
        f->bufs[buf->id] = buf;
        f->parent[buf->id] = buf->id;
        buf->group = NULL;
    }
}

/* Arguments represent before results, results before all others: whoever asks
 * what a group may touch asks its representative. */
static int
rank_of(const Buf *buf)
{
    return buf->kind == BUF_ARG ? 0 : buf->kind == BUF_RESULT ? 1 : 2;
}

/* The two are in one group. NULL in a broken function, or for want of a
 * "var". */
static void
join(Forest *f, Buf *lhs, Buf *rhs)
{
    meet(f, lhs);
    meet(f, rhs);
    if (!lhs || !rhs) {
        return;
    }
    int a = find(f, lhs->id);
    int b = find(f, rhs->id);
    int first = rank_of(f->bufs[a]) - rank_of(f->bufs[b]);
    if (first < 0 || (first == 0 && a < b)) {
        f->parent[b] = a;
    } else {
        f->parent[a] = b;
    }
}

/* For ir_each_stmt. */
static void
join_stmt(void *data, Stmt *s)
{
    Forest *f = data;
    meet(f, s->buf);
    if (s->kind == S_VIEW || s->kind == S_BIND) {
        join(f, s->buf, s->src);
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        join(f, bind->out, bind->init);
        join(f, bind->out, bind->next);
        join(f, bind->out, bind->var);
    }
}

/* A set of one is no group. */
void
ir_set_groups(Func *func)
{
    Forest f = {ARENA_ARRAY(func->arena, Buf *, func->next_id),
                ARENA_ARRAY(func->arena, int, func->next_id)};
    for (int i = 0; i < func->params.n; i++) {
        meet(&f, func->params.at[i].buf);
    }
    ir_each_stmt(&func->body, join_stmt, &f);
    for (int i = 0; i < func->next_id; i++) {
        if (f.bufs[i] && find(&f, i) != i) {
            Buf *first = f.bufs[find(&f, i)];
            f.bufs[i]->group = first;
            first->group = first;
        }
    }
}

bool
ir_may_share(const Buf *lhs, const Buf *rhs)
{
    return lhs == rhs || (lhs->group != NULL && lhs->group == rhs->group);
}

bool
ir_is_visible(const Buf *buf)
{
    return buf->kind == BUF_ARG ||
           (buf->kind == BUF_REF && buf->group && buf->group->kind == BUF_ARG);
}

/* There is no cycle: a buffer gets its extents after those from which it has
 * them. */
Expr *
ir_extent(const Buf *buf, int axis)
{
    Expr *e = buf->dims[axis];
    while (e && e->op == E_DIM && (e->buf != buf || e->axis != axis)) {
        buf = e->buf;
        axis = e->axis;
        e = buf->dims[axis];
    }
    return e;
}
