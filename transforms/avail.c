/* Expressions whose value a Var (or constant) already holds.
 *
 *     let t: f64 = load a[i]          entry  load a[i] -> t
 *     store b[i] = t                  entry  load b[i] -> t
 *     let u: f64 = load a[i]          u is t, unless b and a may overlap
 *
 * A hash table with scopes: what a branch or loop body adds goes when it ends,
 * for it does not dominate what follows.  Loads are stamped with the time at
 * which they were read; a write to a buffer raises the stamp of its memory (of
 * all names in its group), and entries older than that are dead.
 */
#include "transforms/simplify.h"

/* Stamp 1: a buffer that was never written has stamp 0. */
void
avail_init(Avail *avail, Arena *arena, const Func *func)
{
    Avail fresh = {.arena = arena, .func = func, .stamp = 1};
    *avail = fresh;
    avail->killed = map_new(arena);
}

/* The mark for avail_pop. Stamps need none: what was overwritten in a branch
 * stays overwritten after it. */
int
avail_push(const Avail *avail)
{
    return avail->entries.n;
}

/* The head of the chain that 'e' belongs to: an entry's number plus 1, so that
 * a zeroed table is an empty one. */
static int *
bucket(Avail *avail, const Expr *e)
{
    return &avail->heads[e->hash % AVAIL_BUCKETS];
}

/* Entries leave in the opposite order, so each is the head of its chain. */
void
avail_pop(Avail *avail, int mark)
{
    while (avail->entries.n > mark) {
        const AvailEntry *entry = &avail->entries.at[--avail->entries.n];
        *bucket(avail, entry->e) = entry->next + 1;
    }
}

/* A newer entry for an equal expression hides the older one. */
void
avail_add(Avail *avail, Expr *e, Expr *to)
{
    int *head = bucket(avail, e);
    AvailEntry entry = {e, to, *head - 1, avail->stamp};
    vec_push(avail->arena, &avail->entries, entry);
    *head = avail->entries.n;
}

/* What stands for the memory of 'buf' in "killed". */
static const Buf *
memory_of(const Buf *buf)
{
    return buf->group != NULL ? buf->group : buf;
}

/* Has no load in 'e' been overwritten since 'stamp'? Loads in indices and
 * operands count as well. */
static bool
is_fresh(const Avail *avail, const Expr *e, int stamp)
{
    if (ir_reads(e)) {
        intptr_t killed =
            (intptr_t)map_get(&avail->killed, memory_of(e->buf));
        if (killed > stamp) {
            return false;
        }
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_fresh(avail, e->args[i], stamp)) {
            return false;
        }
    }
    return true;
}

/* What holds the value of 'e'; NULL: nothing. The newest entry whose loads
 * would still give what they gave; older ones for an equal expression are
 * tried too, since keep_others may have renewed one of them. */
Expr *
avail_find(const Avail *avail, const Expr *e)
{
    int at = avail->heads[e->hash % AVAIL_BUCKETS] - 1;
    while (at >= 0) {
        const AvailEntry *entry = &avail->entries.at[at];
        if (ir_equal(entry->e, e) && is_fresh(avail, e, entry->stamp)) {
            return entry->to;
        }
        at = entry->next;
    }
    return NULL;
}

/* Is there an axis in which the two elements differ by a constant? One is
 * enough. A vector covers its last axis whole and has no index there, so only
 * axes that both have are compared. */
static bool
is_elsewhere(Arena *arena, Bounds *b, const Expr *load, Expr *const *index,
             int n)
{
    int common = load->nargs < n ? load->nargs : n;
    for (int i = 0; i < common; i++) {
        Linear lhs;
        Linear rhs;
        Linear diff;
        int64_t distance = 0;
        if (ir_equal(load->args[i], index[i])) {
            continue;
        }
        if (bounds_linear(b, load->args[i], &lhs) &&
            bounds_linear(b, index[i], &rhs) &&
            linear_sum(arena, &lhs, 1, &rhs, -1, &diff) &&
            linear_is_const(&diff, &distance) && distance != 0) {
            return true;
        }
    }
    return false;
}

/* Is 'e' a load whose indices read no memory?  A stamp speaks of all loads in
 * an expression, and those in indices may have been overwritten. */
static bool
is_plain_load(const Expr *e)
{
    bool plain = e->op == E_LOAD;
    for (int i = 0; i < e->nargs && plain; i++) {
        plain = !ir_has_load(e->args[i]);
    }
    return plain;
}

/* Loads of other elements of 'buf' that are still fresh get the stamp that the
 * store is about to take, and so survive it. Only plain loads: a load within a
 * larger expression is not looked for. */
static void
keep_others(Avail *avail, Bounds *b, const Buf *buf, Expr *const *index,
            int n)
{
    for (int i = 0; i < avail->entries.n; i++) {
        AvailEntry *entry = &avail->entries.at[i];
        if (is_plain_load(entry->e) && entry->e->buf == buf &&
            is_fresh(avail, entry->e, entry->stamp) &&
            is_elsewhere(avail->arena, b, entry->e, index, n)) {
            entry->stamp = avail->stamp + 1;
        }
    }
}

/* Loads of 'buf' that are older than now are dead. */
static void
kill(Avail *avail, const Buf *buf)
{
    map_set(&avail->killed, memory_of(buf), (void *)(intptr_t)avail->stamp);
}

/* Everything that may share memory with 'buf', 'buf' included. */
static void
kill_aliases(Avail *avail, const Buf *buf)
{
    const Func *func = avail->func;
    kill(avail, buf);
    for (int i = 0; i < func->params.n; i++) {
        const Buf *other = func->params.at[i].buf;
        if (other != NULL && other != buf &&
            effects_may_alias(func, buf, other)) {
            kill(avail, other);
        }
    }
}

/* First the loads that surely read elsewhere are renewed, then the buffer
 * and all that may overlap it are stamped. */
void
avail_store(Avail *avail, Bounds *b, Buf *buf, Expr *const *index, int n)
{
    if (index != NULL) {
        keep_others(avail, b, buf, index, n);
    }
    avail->stamp++;
    kill_aliases(avail, buf);
}

/* Forgets every load that something in 'block' may overwrite, wherever in it:
 * for a body that may run any number of times, and for branches of which one
 * ran. An ALLOC gives the buffer other contents. */
void
avail_forget(Avail *avail, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (ir_writes(s) || s->kind == S_ALLOC) {
            avail_store(avail, NULL, s->buf, NULL, 0);
        }
        avail_forget(avail, &s->pre);
        avail_forget(avail, &s->body);
        avail_forget(avail, &s->els);
    }
}

/* --- which buffers are loaded -------------------------------------------- */

/* "found" receives every buffer that 'e' loads from. */
static void
note_loads(Map *found, const Expr *e)
{
    if (ir_reads(e)) {
        map_set(found, e->buf, e->buf);
    }
    for (int i = 0; i < e->nargs; i++) {
        note_loads(found, e->args[i]);
    }
}

/* For ir_each_expr. */
static void
note_slot(void *data, Expr **slot)
{
    note_loads(data, *slot);
}

/* For ir_each_stmt. */
static void
note_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, note_slot, data);
}

/* Stores to other buffers need not be remembered. */
Map
avail_loaded(Arena *arena, const Block *block)
{
    Map found = map_new(arena);
    ir_each_stmt(block, note_stmt, &found);
    return found;
}
