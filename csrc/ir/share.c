/* Which buffers may be names of the same memory.
 *
 * A Buf is a name.  Memory has several where a view is taken of it, or where an
 * IF or a loop hands it on; which of several arrays a name stands for may
 * depend on the run.  All names that are linked in this way form a "group":
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
 *
 * Names of one group that exist at one time may still be surely different
 * memory: two arrays that change places in every round are two in each.  That
 * is found as the least relation "may be the same" that holds for what names
 * are bound to.  Of two names, the one that was bound later decides:
 *
 *     an array just made      the same as nothing before
 *     a view of s             whatever s may be the same as
 *     a Bind's                whatever its sources may be the same as; two that
 *                             one statement binds, if their first sources or
 *                             their second ones may be the same
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
        buf->apart = NULL;
        buf->napart = 0;
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

static void find_apart(Func *func);

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
    bool any = false;
    for (int i = 0; i < func->next_id; i++) {
        if (f.bufs[i] && find(&f, i) != i) {
            Buf *first = f.bufs[find(&f, i)];
            f.bufs[i]->group = first;
            first->group = first;
            any = true;
        }
    }
    if (any) {
        find_apart(func);
    }
}

/* --- names that are apart ------------------------------------------------ */

/* More names than this in one function are not told apart. */
enum { MOST_NAMES = 256 };

/* How a name comes to be: "at" numbers the bindings in order; "src" and "other"
 * are the sources of a view (one) or a Bind (two); "by" is the statement whose
 * Bind it is. */
typedef struct Name {
    Buf *buf;
    int at;
    const Buf *src;
    const Buf *other;
    const Stmt *by;
} Name;

typedef struct Names {
    Arena *arena;
    Name *list;
    int n;
    int *number; /* by Buf.id, of "list"; -1: none */
    bool *same;  /* n * n */
} Names;

static void
add_name(Names *names, Buf *buf, const Buf *src, const Buf *other,
         const Stmt *by)
{
    if (buf != NULL && buf->group != NULL && names->n < MOST_NAMES &&
        names->number[buf->id] < 0) {
        names->number[buf->id] = names->n;
        names->list[names->n] = (Name){buf, names->n, src, other, by};
        names->n++;
    }
}

/* In program order: what a loop carries before its body, what it or an IF hands
 * out after. */
static void
add_names(Names *names, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        bool whole = s->kind == S_ALLOC;
        if (whole || s->kind == S_VIEW) {
            add_name(names, s->buf, whole ? NULL : s->src, NULL, NULL);
        }
        for (int k = 0; k < s->nbinds; k++) {
            const Bind *bind = &s->binds[k];
            add_name(names, bind->var, bind->init, bind->next, s);
        }
        add_names(names, &s->pre);
        add_names(names, &s->body);
        add_names(names, &s->els);
        for (int k = 0; k < s->nbinds; k++) {
            const Bind *bind = &s->binds[k];
            add_name(names, bind->out, bind->init, bind->next, s);
        }
    }
}

/* What is known so far; names that were not listed may be anything. */
static bool
known_same(const Names *names, const Buf *lhs, const Buf *rhs)
{
    if (lhs == NULL || rhs == NULL || lhs == rhs) {
        return lhs != NULL && rhs != NULL;
    }
    int a = names->number[lhs->id];
    int b = names->number[rhs->id];
    return a < 0 || b < 0 ? lhs->group != NULL && lhs->group == rhs->group
                          : names->same[a * names->n + b];
}

/* One look at a pair. */
static bool
may_be_same(const Names *names, const Name *early, const Name *late)
{
    if (early->by != NULL && early->by == late->by) {
        return known_same(names, early->src, late->src) ||
               known_same(names, early->other, late->other);
    }
    return known_same(names, early->buf, late->src) ||
           known_same(names, early->buf, late->other);
}

/* The least relation: pairs are added until none follows from the others. */
static void
relate(Names *names)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < names->n; i++) {
            for (int k = 0; k < i; k++) {
                bool *at = &names->same[i * names->n + k];
                if (!*at && may_be_same(names, &names->list[k],
                                        &names->list[i])) {
                    *at = true;
                    names->same[k * names->n + i] = true;
                    changed = true;
                }
            }
        }
    }
}

/* Pairs that never were added are apart. */
static void
set_apart(Names *names, int next_id)
{
    int words = (next_id + 63) / 64;
    for (int i = 0; i < names->n; i++) {
        Buf *buf = names->list[i].buf;
        uint64_t *bits = ARENA_ARRAY(names->arena, uint64_t, words);
        for (int k = 0; k < names->n; k++) {
            int id = names->list[k].buf->id;
            bool apart = k != i && !names->same[i * names->n + k];
            bits[id / 64] |= (uint64_t)apart << (id % 64);
        }
        buf->apart = bits;
        buf->napart = next_id;
    }
}

/* Arguments come first. They are apart from each other as far as the kernel's
 * entry tests that, which is the caller's affair (effects_may_alias), and from
 * all that is made here. */
static void
find_apart(Func *func)
{
    Names names = {
        .arena = func->arena,
        .list = ARENA_ARRAY(func->arena, Name, MOST_NAMES),
        .number = ARENA_ARRAY(func->arena, int, func->next_id),
    };
    for (int i = 0; i < func->next_id; i++) {
        names.number[i] = -1;
    }
    for (int i = 0; i < func->params.n; i++) {
        add_name(&names, func->params.at[i].buf, NULL, NULL, NULL);
    }
    add_names(&names, &func->body);
    if (names.n == MOST_NAMES) {
        return;
    }
    names.same = ARENA_ARRAY(func->arena, bool, names.n * names.n + 1);
    relate(&names);
    set_apart(&names, func->next_id);
}

bool
ir_may_overlap(const Buf *lhs, const Buf *rhs)
{
    bool apart = rhs->id < lhs->napart &&
                 (lhs->apart[rhs->id / 64] >> (rhs->id % 64) & 1) != 0;
    return ir_may_share(lhs, rhs) && !apart;
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
