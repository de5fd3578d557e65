/* Are the rounds of a loop independent of each other?
 *
 * Two accesses to one buffer, of which one writes, conflict when they touch
 * the same element in different rounds.  It is enough that one axis keeps them
 * apart; apart.c says when it does.
 *
 *     out[y, x] = a[y + 1, x]     other buffers                independent
 *     a[2*i] = a[2*i + 1]         1 is no multiple of 2        independent
 *     a[i] = a[i + n]             n >= the number of rounds    independent
 *     a[i] = a[i - 1]             distance 1                   refused
 *     a[i], a[n-1-i] for i < n/2  i + i' < n - 1               independent
 *
 * Whatever a loop allocates inside is private to a round, and so are the names
 * that stand for nothing else.  A name that gets its memory inside and may
 * stand for what is outside is another one in each round: its indices tell
 * nothing. Two names of one group may overlap in any way.  A small vector
 * covers its last axis whole, so that axis can't tell two accesses apart.
 * Checks inside are no obstacle: the first that fails ends the call, and the
 * host puts back what was written, whichever round got there first.
 */
#include "csrc/analysis/depend.h"

#include <string.h>

/* One place in the loop's body that touches memory.
 *   "buf"     whose; a private one is never noted
 *   "store"   it writes (STORE, FILL)
 *   "naxes"   how many axes have an index: 0 for a FILL, one less than the
 *             rank where a small vector is read or written
 *   "axes"    the forms of the indices, in the words of the loop
 *   "index"   the indices themselves, to drop repeated accesses
 *   "loc"     for the remark */
typedef struct Access {
    Buf *buf;
    bool store;
    int naxes;
    DependAxis *axes;
    Expr **index; /* to drop repeated accesses */
    Loc loc;
} Access;

/* The loop and what was found in it.
 *   "d"       the loop, and what its body defines
 *   "outer"   groups that have memory from outside of the loop
 *   "list"    all accesses to memory that outlives a round */
typedef struct Collect {
    Depend d;
    Map outer;
    VEC(Access) list;
} Collect;

/* --- collecting accesses ------------------------------------------------- */

/* Do 'access' and the 'n' expressions at 'index' name one element? By the text
 * of the indices: each Var is assigned once, so in one round equal text is an
 * equal value unless it loads, and a load among the indices makes the axis
 * useless in both. */
static bool
same_index(const Access *access, Expr *const *index, int n)
{
    if (access->naxes != n) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (!ir_equal(access->index[i], index[i])) {
            return false;
        }
    }
    return true;
}

/* Adds an access with the forms of its indices, as they are at this place: the
 * Bounds know the branches and loops around it. Private buffers and repeated
 * accesses add nothing, which keeps the number of pairs small where one
 * element is read many times. */
static void
note_access(Collect *c, Buf *buf, Expr **index, int n, bool store, Loc loc)
{
    if (map_has(&c->d.own, buf) &&
        (buf->kind != BUF_REF || !map_has(&c->outer, buf->group))) {
        return;
    }
    for (int i = 0; i < c->list.n; i++) {
        const Access *old = &c->list.at[i];
        if (old->buf == buf && old->store == store &&
            same_index(old, index, n)) {
            return;
        }
    }
    Access access = {
        .buf = buf, .store = store, .naxes = n, .index = index, .loc = loc};
    access.axes = ARENA_ARRAY(c->d.arena, DependAxis, n > 0 ? n : 1);
    for (int i = 0; i < n; i++) {
        access.axes[i] = depend_axis(&c->d, index[i]);
    }
    vec_push(c->d.arena, &c->list, access);
}

/* Every load in 'e', those in the indices of loads too; 'loc' stands in for
 * nodes without a place of their own. */
static void
note_loads(Collect *c, Expr *e, Loc loc)
{
    if (e->op == E_LOAD) {
        note_access(c, e->buf, e->args, e->nargs, false,
                    e->loc.line != 0 ? e->loc : loc);
    } else if (e->op == E_SUM) { /* any element */
        note_access(c, e->buf, NULL, 0, false, loc);
    }
    for (int i = 0; i < e->nargs; i++) {
        note_loads(c, e->args[i], loc);
    }
}

/* What note_slot needs: where to note loads, and the statement's place. */
typedef struct SlotWalk {
    Collect *c;
    Loc loc;
} SlotWalk;

/* For ir_each_expr; a slot may be empty (a loop without "until"). */
static void
note_slot(void *data, Expr **slot)
{
    SlotWalk *walk = data;
    if (*slot != NULL) {
        note_loads(walk->c, *slot, walk->loc);
    }
}

static void collect_block(Collect *c, const Block *block);

/* The indices of a branch profit from its condition, which holds whenever they
 * are reached. */
static void
collect_branch(Collect *c, const Stmt *s, bool taken)
{
    int mark = bounds_push(c->d.b);
    bounds_assume(c->d.b, s->value, taken);
    collect_block(c, taken ? &s->body : &s->els);
    bounds_pop(c->d.b, mark);
}

/* The names that 's' gives are of this round. */
static void
own_binds(Collect *c, const Stmt *s)
{
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        map_set(&c->d.own, bind->out, bind->out);
        if (bind->var != NULL) {
            map_set(&c->d.own, bind->var, bind->var);
        }
    }
}

/* Inner carries and what they hand out may be anything; the range of an inner
 * loop's variable is all that is used of it. */
static void
collect_loop(Collect *c, const Stmt *s)
{
    own_binds(c, s);
    for (int i = 0; i < s->ncarries; i++) {
        depend_inside(&c->d, s->carries[i].var, NULL);
        depend_inside(&c->d, s->carries[i].out, NULL);
    }
    int mark = bounds_push(c->d.b);
    if (s->kind == S_FOR) {
        depend_loop(&c->d, s);
        bounds_loop(c->d.b, s);
    } else {
        collect_block(c, &s->pre);
    }
    collect_block(c, &s->body);
    bounds_pop(c->d.b, mark);
}

/* The loop's own expressions are looked at after its body: its carries and
 * 'until' speak of Vars that the body defines. */
static void
collect_stmt(Collect *c, Stmt *s)
{
    switch (s->kind) {
    case S_LET:
        depend_inside(&c->d, s->var, s->value);
        break;
    case S_ALLOC:
    case S_VIEW:
        map_set(&c->d.own, s->buf, s->buf);
        break;
    case S_STORE:
        note_access(c, s->buf, s->index, s->nindex, true, s->loc);
        break;
    case S_FILL:
    case S_GROW:
    case S_ROUTINE:
        note_access(c, s->buf, NULL, 0, true, s->loc);
        break;
    case S_IF:
        own_binds(c, s);
        for (int i = 0; i < s->njoins; i++) {
            depend_inside(&c->d, s->joins[i].out, NULL);
        }
        collect_branch(c, s, true);
        collect_branch(c, s, false);
        break;
    case S_FOR:
    case S_WHILE:
        collect_loop(c, s);
        break;
    default:
        break;
    }
    SlotWalk walk = {c, s->loc};
    ir_each_expr(s, note_slot, &walk);
    bounds_after(c->d.b, s);
}

/* Statements in order, so that each is seen with what those before it say. */
static void
collect_block(Collect *c, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        collect_stmt(c, block->at[i]);
    }
}

/* Notes the groups of arguments and of what is allocated in 'block', but not in
 * the loop in question. */
static void
note_outer_block(Collect *c, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s == c->d.loop) {
            continue;
        }
        if (s->kind == S_ALLOC && s->buf->group != NULL) {
            map_set(&c->outer, s->buf->group, s->buf);
        }
        note_outer_block(c, &s->pre);
        note_outer_block(c, &s->body);
        note_outer_block(c, &s->els);
    }
}

static void
note_outer(Collect *c)
{
    for (int i = 0; i < c->d.func->params.n; i++) {
        const Buf *buf = c->d.func->params.at[i].buf;
        if (buf != NULL && buf->group != NULL) {
            map_set(&c->outer, buf->group, (void *)(uintptr_t)buf);
        }
    }
    note_outer_block(c, &c->d.func->body);
}

/* --- pairs --------------------------------------------------------------- */

/* Are all rounds i != i' of the two accesses free of a common element? One
 * axis that keeps them apart is enough, since elements differ if one index
 * does. Shared axes are compared from the first on; a vector's last axis has
 * no index and so never helps, and a FILL, which has no axis at all, conflicts
 * with every other access to its buffer. Buffers that may overlap can't be
 * compared by their indices, nor names that are others in each round. */
static bool
accesses_apart(Collect *c, const Access *lhs, const Access *rhs)
{
    bool own = map_has(&c->d.own, lhs->buf) || map_has(&c->d.own, rhs->buf);
    if (lhs->buf != rhs->buf) {
        return !effects_may_alias(c->d.func, lhs->buf, rhs->buf) &&
               !(own && ir_may_share(lhs->buf, rhs->buf));
    }
    if (own) {
        return false;
    }
    int naxes = lhs->naxes < rhs->naxes ? lhs->naxes : rhs->naxes;
    for (int i = 0; i < naxes; i++) {
        if (depend_apart(&c->d, &lhs->axes[i], &rhs->axes[i])) {
            return true;
        }
    }
    return false;
}

/* --- words --------------------------------------------------------------- */

/* Where the value of 'e' comes about in a round: the LET that is reached
 * through joins and the outs of inner loops. 'defs': what the body defines. */
static Loc
changed_at(const Map *defs, const Expr *e, int depth)
{
    const Stmt *s = e->op == E_VAR ? map_get(defs, e->var) : NULL;
    const Expr *from = NULL;
    if (s == NULL || depth > 16) {
        return e->loc;
    }
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        bool passes = join->then_val->op == E_VAR &&
                      !map_has(defs, join->then_val->var);
        if (join->out == e->var) {
            from = passes ? join->else_val : join->then_val;
        }
    }
    for (int i = 0; i < s->ncarries; i++) {
        from = s->carries[i].out == e->var ? s->carries[i].next : from;
    }
    Loc inner = from != NULL ? changed_at(defs, from, depth + 1) : s->loc;
    return inner.line ? inner : s->loc;
}

/* Is carry 'n' worth a name of its own?  Not if an earlier one has the same, as
 * the parts of one value have, nor if it is the flag that goes with a number of
 * two types. */
static bool
is_new_name(const Stmt *loop, int n)
{
    const Var *var = loop->carries[n].var;
    for (int i = 0; i < n; i++) {
        if (strcmp(loop->carries[i].var->name, var->name) == 0) {
            return false;
        }
    }
    return n == 0 || var->dtype != DT_BOOL || strcmp(var->name, "alt") != 0;
}

/* The names of the first few carries; an array stands before its extents. The
 * first one's change is the place. Always false, for the caller to return. */
static bool
refuse_carry(Arena *arena, const Stmt *loop, DependWhy *why)
{
    enum { FEW = 3 };
    Map defs = loop_defs(arena, &loop->body);
    Str names = str_new(arena);
    int named = 0;
    if (loop->nbinds > 0) {
        why->first = loop->loc;
        str_addf(&names, "`%s`", loop->binds[0].var->name);
    } else {
        why->first = changed_at(&defs, loop->carries[0].next, 0);
    }
    for (int i = 0; loop->nbinds == 0 && i < loop->ncarries; i++) {
        if (is_new_name(loop, i) && named++ < FEW) {
            str_addf(&names, "%s`%s`", names.n > 0 ? ", " : "",
                     loop->carries[i].var->name);
        }
    }
    why->second = (Loc){0};
    why->text =
        str_printf(arena, "carries %s%s from round to round", names.at,
                   named > FEW ? " and more" : "");
    return false;
}

/* Which round is the last is known only after it has run, so later ones may
 * not start. WHILE loops are refused with these words too. */
static bool
refuse_until(Arena *arena, const Stmt *loop, DependWhy *why)
{
    Map defs = loop_defs(arena, &loop->body);
    why->first = (Loc){0};
    if (loop->until != NULL) {
        why->first = changed_at(&defs, loop->until, 0);
    }
    why->second = (Loc){0};
    why->text = "may end early, depending on what a round finds";
    return false;
}

/* Which two places conflict, in the order in which they are written. */
static bool
refuse_pair(Arena *arena, const Access *lhs, const Access *rhs, DependWhy *why)
{
    why->first = lhs->loc;
    why->second = rhs->loc;
    if (lhs->buf != rhs->buf) {
        why->text = str_printf(arena, "`%s` and `%s` may overlap",
                               lhs->buf->name, rhs->buf->name);
    } else if (lhs == rhs || (lhs->store && rhs->store)) {
        why->text = str_printf(arena,
                               "two rounds may write one element of `%s` "
                               "(lines %u and %u)",
                               lhs->buf->name, lhs->loc.line, rhs->loc.line);
    } else {
        const Access *store = lhs->store ? lhs : rhs;
        const Access *load = lhs->store ? rhs : lhs;
        why->text =
            str_printf(arena,
                       "`%s`, written in line %u, may be read by "
                       "another round in line %u",
                       store->buf->name, store->loc.line, load->loc.line);
    }
    return false;
}

/* The solver is asked only here, for the one pair that stands in the way. */
static bool
solve_apart(Collect *c, const Access *lhs, const Access *rhs)
{
    bounds_hard(c->d.b, true);
    bool apart = lhs->buf == rhs->buf && accesses_apart(c, lhs, rhs);
    bounds_hard(c->d.b, false);
    return apart;
}

/* Every pair of which one writes, a store with itself included: two rounds may
 * both write one element. The first pair that may meet is the one that is
 * named. */
static bool
test_pairs(Collect *c, DependWhy *why)
{
    for (int i = 0; i < c->list.n; i++) {
        for (int j = 0; j <= i; j++) {
            const Access *lhs = &c->list.at[j];
            const Access *rhs = &c->list.at[i];
            if ((lhs->store || rhs->store) && !accesses_apart(c, lhs, rhs) &&
                !solve_apart(c, lhs, rhs)) {
                return refuse_pair(c->d.arena, lhs, rhs, why);
            }
        }
    }
    return true;
}

/* Proves that rounds of 'loop' may run in any order and at once. Collects all
 * accesses with 'b' standing inside, then tests the pairs with 'b' standing
 * outside, where nothing speaks of one round. */
bool
depend_independent(Arena *arena, const Func *func, Bounds *b, const Stmt *loop,
                   DependWhy *why)
{
    if (loop->kind != S_FOR || loop->until != NULL) {
        return refuse_until(arena, loop, why);
    }
    if (loop->ncarries > 0 || loop->nbinds > 0) {
        return refuse_carry(arena, loop, why);
    }
    Collect c = {0};
    c.d = (Depend){.arena = arena, .func = func, .b = b, .loop = loop};
    c.d.inside = map_new(arena);
    c.d.own = map_new(arena);
    c.outer = map_new(arena);
    note_outer(&c);
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    collect_block(&c, &loop->body);
    bounds_pop(b, mark);
    return test_pairs(&c, why);
}
