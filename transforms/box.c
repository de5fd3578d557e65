/* The box of a buffer that a nest surely writes.
 *
 *     for y in 1..h-1 {                     [1, h - 1) x [0, w)
 *         for x in 0..w { out[y, x] = ... }
 *
 *     for y in 0..h {                       [0, h) x [0, w): two stores whose
 *         out[y, 0] = ...                   boxes lie side by side
 *         for x in 1..w { out[y, x] = ... }
 *
 * A store counts when every round makes it: no IF, no WHILE, no "until" around
 * it.  Each index must be a loop's variable plus something that is known
 * before the nest.  Loops of the nest that no index uses must surely run.  If
 * a loop runs no round, its side of the box is empty.
 */
#include <string.h>

#include "transforms/box.h"

enum { MAX_STORES = 32 };

/* The way from the nest's outermost loop down to a store.
 *   "loops"  from the outside in
 *   "used"   the loop's variable spans an axis of the box
 *   "n"      how many */
typedef struct Chain {
    const Stmt *loops[MAX_RANK];
    bool used[MAX_RANK];
    int n;
} Chain;

/* Stores to "buf" in program order, each with the way to it; those after
 * MAX_STORES are not looked at. */
typedef struct Stores {
    const Buf *buf;
    const Stmt *at[MAX_STORES];
    Chain chain[MAX_STORES];
    int n;
} Stores;

/* Notes the stores to the buffer that every round of the loops around makes;
 * 'chain' is the way to 'block'.  IFs, WHILEs and loops that may end early are
 * not entered. */
static void
find_stores(const Block *block, Stores *stores, Chain chain)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        bool room = stores->n < MAX_STORES;
        if (s->kind == S_STORE && s->buf == stores->buf && room) {
            stores->chain[stores->n] = chain;
            stores->at[stores->n++] = s;
        }
        if (s->kind == S_FOR && s->until == NULL && chain.n < MAX_RANK) {
            Chain inner = chain;
            inner.loops[inner.n++] = s;
            find_stores(&s->body, stores, inner);
        }
    }
}

/* Can 'form' be computed before the nest, without wrapping?  Forms look
 * through definitions, so their Vars need not be visible there.  Memory may
 * have changed until then.  The limits are half of i64's, for who clamps the
 * ends adds and compares. */
static bool
is_fixed(const Place *at, const Linear *form)
{
    int64_t lo = 0;
    int64_t hi = 0;
    for (int i = 0; i < form->terms.n; i++) {
        const Expr *atom = form->terms.at[i].atom;
        if (ir_has_load(atom) ||
            !scope_sees(at->scope, at->scope->visible.n, atom)) {
            return false;
        }
    }
    bounds_interval(at->bounds, linear_expr(at->arena, form), &lo, &hi);
    return lo > INT64_MIN / 2 && hi < INT64_MAX / 2;
}

/* The chain's loop whose variable is in 'form' with coefficient 1, alone. */
static int
find_axis_loop(const Chain *chain, const Linear *form)
{
    for (int i = 0; i < chain->n; i++) {
        for (int j = 0; j < form->terms.n; j++) {
            const Term *term = &form->terms.at[j];
            if (term->atom->op == E_VAR && term->coef == 1 &&
                term->atom->var == chain->loops[i]->var) {
                return i;
            }
        }
    }
    return -1;
}

/* 'e' itself as a form, for what may be anything: it can't wrap. */
static bool
as_it_stands(const Place *at, Expr *e, Linear *out)
{
    *out = linear_atom(at->arena, e);
    return !ir_has_load(e) && !uses_made_extent(e) &&
           scope_sees(at->scope, at->scope->visible.n, e);
}

/* An index that is the same in all rounds.  Should lo + 1 wrap, the box is
 * empty. */
static bool
side_of_fixed(const Place *at, Expr *index, const Linear *form, Side *out)
{
    Linear one = linear_const(1);
    out->lo = *form;
    return (is_fixed(at, form) || as_it_stands(at, index, &out->lo)) &&
           linear_sum(at->arena, &out->lo, 1, &one, 1, &out->hi);
}

/* What 'index' covers over all rounds: lo + k .. hi + k for a loop's variable
 * plus k, one element for a fixed index.  A loop spans one axis only: the
 * diagonal a[i, i] is no box.  The ends of an inner loop must be fixed too, so
 * triangles are refused. */
static bool
side_of(const Place *at, Chain *chain, Expr *index, Side *out)
{
    Linear form;
    if (!bounds_linear(at->bounds, index, &form)) {
        return false;
    }
    int which = find_axis_loop(chain, &form);
    if (which < 0) {
        return side_of_fixed(at, index, &form, out);
    }
    const Stmt *loop = chain->loops[which];
    Linear var;
    Linear lo;
    Linear hi;
    int64_t shift = 0;
    if (chain->used[which] ||
        !bounds_linear(at->bounds, ir_ref(at->arena, loop->var), &var) ||
        !bounds_linear(at->bounds, loop->lo, &lo) ||
        !bounds_linear(at->bounds, loop->hi, &hi) ||
        !linear_sum(at->arena, &form, 1, &var, -1, &form) ||
        !linear_sum(at->arena, &form, 1, &lo, 1, &out->lo) ||
        !linear_sum(at->arena, &form, 1, &hi, 1, &out->hi)) {
        return false;
    }
    chain->used[which] = true;
    bool whole = linear_is_const(&form, &shift) && shift == 0;
    return is_fixed(at, &out->lo) &&
           (is_fixed(at, &out->hi) ||
            (whole && as_it_stands(at, loop->hi, &out->hi)));
}

/* Does 'loop' run one round at least, by what is known?  Asked of loops that no
 * axis uses: if such a loop ran none, nothing would be written. */
static bool
surely_runs(const Place *at, const Stmt *loop)
{
    return bounds_proves(at->bounds,
                         ir_binary(at->arena, E_LT, loop->lo, loop->hi));
}

/* The box that one store covers.  Axes without an index belong to a small
 * vector and are covered whole.  Loops that span an axis may be empty, and then
 * so is the box; any other must run. */
static bool
box_of_store(const Place *at, const Stmt *store, Chain *chain, Side *box)
{
    const Buf *buf = store->buf;
    for (int i = 0; i < store->nindex; i++) {
        if (!side_of(at, chain, store->index[i], &box[i])) {
            return false;
        }
    }
    for (int i = store->nindex; i < buf->rank; i++) {
        box[i].lo = linear_const(0);
        if (!bounds_linear(at->bounds, buf->dims[i], &box[i].hi)) {
            return false;
        }
    }
    for (int i = 0; i < chain->n; i++) {
        if (!chain->used[i] && !surely_runs(at, chain->loops[i])) {
            return false;
        }
    }
    return true;
}

/* Adds 'next' to 'box' where it begins on one axis where 'box' ends, and is the
 * same on all others.  Should 'next' be empty its end may lie before that of
 * 'box': then the sum is less than what is written, which is allowed. */
static bool
add_neighbour(Side *box, const Side *next, int rank)
{
    int differ = -1;
    for (int i = 0; i < rank; i++) {
        if (!linear_equal(&box[i].lo, &next[i].lo) ||
            !linear_equal(&box[i].hi, &next[i].hi)) {
            if (differ >= 0) {
                return false;
            }
            differ = i;
        }
    }
    if (differ < 0) {
        return true;
    }
    if (!linear_equal(&box[differ].hi, &next[differ].lo)) {
        return false;
    }
    box[differ].hi = next[differ].hi;
    return true;
}

/* Puts boxes that lie side by side together, the elements of a pixel before
 * the columns of a row; gives how many are left.  Each keeps its place. */
static int
join_boxes(Side (*boxes)[MAX_RANK], int n, int rank)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (i == j || !add_neighbour(boxes[i], boxes[j], rank)) {
                continue;
            }
            int to = i < j ? i : j;
            int gone = i < j ? j : i;
            memmove(boxes[to], boxes[i], sizeof(boxes[i]));
            memmove(boxes[gone], boxes[gone + 1],
                    sizeof(boxes[0]) * (size_t)(n - 1 - gone));
            return join_boxes(boxes, n - 1, rank);
        }
    }
    return n;
}

/* Know the LETs in the loops of the nest, through which indices are seen;
 * facts of branches are not learned, nor needed, for stores in branches don't
 * count, and those of one loop don't hold in the next. */
static void
learn_nest(const Place *at, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_LET) {
            bounds_after(at->bounds, s);
        } else if (s->kind == S_FOR) {
            int mark = bounds_push(at->bounds);
            bounds_loop(at->bounds, s);
            learn_nest(at, &s->body);
            bounds_pop(at->bounds, mark);
        }
    }
}

/* Definitions last when the facts are forgotten, so the box can be found from
 * outside. */
bool
box_written(const Place *at, const Stmt *nest, Buf *buf, Side *box)
{
    int inside = bounds_push(at->bounds);
    bounds_loop(at->bounds, nest);
    learn_nest(at, &nest->body);
    bounds_pop(at->bounds, inside);
    Chain outer = {.n = 1};
    outer.loops[0] = nest;
    Stores stores = {.buf = buf};
    if (nest->kind == S_FOR && nest->until == NULL) {
        find_stores(&nest->body, &stores, outer);
    }
    Side boxes[MAX_STORES][MAX_RANK];
    int n = 0;
    for (int i = 0; i < stores.n; i++) {
        bool known = box_of_store(at, stores.at[i], &stores.chain[i], boxes[n]);
        if (i == 0 && !known) {
            return false;
        }
        n += known;
    }
    if (n > 0) {
        join_boxes(boxes, n, buf->rank);
        memcpy(box, boxes[0], sizeof(boxes[0]));
    }
    return n > 0;
}

bool
box_is_whole(const Place *at, const Buf *buf, const Side *box, int axis)
{
    int64_t lo = 0;
    Linear dim;
    return linear_is_const(&box[axis].lo, &lo) && lo == 0 &&
           bounds_linear(at->bounds, buf->dims[axis], &dim) &&
           linear_equal(&box[axis].hi, &dim);
}
