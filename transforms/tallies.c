/* Pass tallies: rounds that only add to elements of an array add to copies.
 *
 *     for y in 0..h {                   let n = how many blocks pay
 *         for x in 0..w {               let ok = n > 1, and no sum can wrap
 *             let t = hist[i]           alloc copies[ok ? n : 0, bins]
 *             warn (addo t 1)           if ok {
 *             store hist[i] = t + 1         for k in 0..n {
 *         }                                     copies[k] = 0
 *     }                          ->             for y in block k { for x {
 *                                                   copies[k, i] += 1 }}}
 *                                           for k in 0..n {
 *                                               for j { hist[j] +=
 *                                                       copies[k, j] }}
 *                                       } else { the loop as it was }
 *
 * Histograms, votes, sums by label: two rounds may add to one element, so the
 * loop is not parallel, but the order in which integers are added doesn't
 * matter.  Blocks of rounds add to a copy each, are independent of each other
 * and make a parallel loop; the sums are those of the program whatever the
 * number of blocks and threads.
 *
 * Nor does an addition of the program wrap, and NumPy never warn, if it can't:
 * the element that there was and all that is added to any element,
 *
 *     |hist[j]|        and   sum over the additions of  |most of one| * rounds,
 *
 * are both below half of what the element holds.  The second is known from the
 * loops' bounds, in doubles; the first is looked up before.  So the blocks have
 * no warnings to count, which alone makes a histogram on one thread faster.
 * And where the array is the caller's, nothing is stored before the last check,
 * so nothing must be kept to be undone.
 *
 * Rounds are worth a block if they are ROUNDS_PER_ELEMENT times the elements
 * that are zeroed and added for it.  Sums of floats depend on their order: they
 * are left.
 */
#include "transforms/tallies.h"

enum {
    BLOCKS = 64,
    ROUNDS_PER_ELEMENT = 16,
    LEAST_ELEMENTS = 64,     /* a block costs as much as so many */
    MOST_ELEMENTS = 1 << 21, /* of all copies */
};

/* --- blocks -------------------------------------------------------------- */

/* An empty loop over 0..n. */
static Stmt *
new_loop(const Tallies *w, const char *name, Expr *n)
{
    Stmt *loop = ir_stmt(w->func->arena, S_FOR, w->loop->loc);
    loop->var = ir_var(w->func, name, DT_I64, 0);
    loop->id = w->func->next_id++;
    loop->lo = tally_int(w, 0);
    loop->hi = n;
    return loop;
}

/* Loops over all elements of an array.
 *   "outer"  the outermost
 *   "inner"  the block of the innermost
 *   "at"     the index there, behind room for one more */
typedef struct Each {
    Stmt *outer;
    Block *inner;
    Expr *at[MAX_RANK + 1];
} Each;

static Each
each_element(const Tallies *w, const Buf *buf)
{
    Each each = {0};
    for (int k = 0; k < buf->rank; k++) {
        Stmt *loop = new_loop(w, "j", ir_extent(buf, k));
        each.at[k + 1] = ir_ref(w->func->arena, loop->var);
        if (each.inner == NULL) {
            each.outer = loop;
        } else {
            vec_push(w->func->arena, each.inner, loop);
        }
        each.inner = &loop->body;
    }
    return each;
}

/* Elements of all arrays, f64. */
static Expr *
elements(const Tallies *w)
{
    Expr *all = NULL;
    for (int i = 0; i < w->n; i++) {
        Expr *one = NULL;
        for (int k = 0; k < w->list[i].buf->rank; k++) {
            Expr *dim = ir_extent(w->list[i].buf, k);
            one = tally_times(w, one, ir_cast(w->func->arena, DT_F64, dim));
        }
        all = tally_plus(w, all, one);
    }
    return all;
}

/* The lesser of two numbers, none of them a nan. */
static Expr *
lesser(const Tallies *w, Expr *lhs, Expr *rhs)
{
    Arena *arena = w->func->arena;
    return ir_select(arena, ir_binary(arena, E_LT, lhs, rhs), lhs, rhs);
}

/* How many blocks pay, f64: none to BLOCKS. */
static Expr *
blocks_that_pay(const Tallies *w, Block *out)
{
    Arena *arena = w->func->arena;
    Expr *rounds = NULL;
    for (int i = 0; i < w->n; i++) {
        rounds = tally_plus(w, rounds, w->list[i].rounds);
    }
    Expr *least = tally_number(w, LEAST_ELEMENTS);
    Expr *size = tally_named(w, out, "size", elements(w));
    size = ir_select(arena, ir_binary(arena, E_LT, size, least), least, size);
    size = tally_named(w, out, "size", size);
    Expr *by = tally_times(w, size, tally_number(w, ROUNDS_PER_ELEMENT));
    Expr *n = tally_named(w, out, "n", ir_binary(arena, E_DIV, rounds, by));
    Expr *fit = ir_binary(arena, E_DIV, tally_number(w, MOST_ELEMENTS), size);
    n = tally_named(w, out, "n", lesser(w, n, tally_named(w, out, "fit", fit)));
    n = tally_named(w, out, "n", lesser(w, n, w->span));
    return tally_named(w, out, "n", lesser(w, n, tally_number(w, BLOCKS)));
}

/* Half of what an element of 'dt' holds. */
static int64_t
half_of(DType dt)
{
    return (int64_t)(dtype_max(dt) / 2);
}

/* Is all that is added to an element of 't' surely below half of it? */
static Expr *
is_little(const Tallies *w, const Tallied *t)
{
    const double exact = 1 - 0x1p-20; /* the sum of doubles is, about */
    double half = (double)half_of(t->buf->dtype) * exact;
    return ir_binary(w->func->arena, E_LE, t->added, tally_number(w, half));
}

/* Is an element at 'at' below that half, too? */
static Expr *
is_small(const Tallies *w, const Tallied *t, Expr *const *at, Block *out)
{
    Arena *arena = w->func->arena;
    DType dt = t->buf->dtype;
    Expr *e = ir_load(arena, t->buf, at, t->buf->rank, 0);
    e = tally_named(w, out, "e", e);
    Expr *half = ir_int(arena, dt, half_of(dt));
    Expr *small = ir_binary(arena, E_LE, e, half);
    if (dtype_is_signed(dt)) {
        Expr *low = ir_int(arena, dt, -half_of(dt));
        low = ir_binary(arena, E_LE, low, e);
        small = ir_binary(arena, E_AND, low, small);
    }
    return tally_named(w, out, "small", small);
}

/* Are all elements, from axis 'k' on?  They are looked at if 'ok', up to the
 * first that isn't. */
static Expr *
are_small(const Tallies *w, const Tallied *t, int k, Expr **at, Expr *ok,
          Block *out)
{
    Arena *arena = w->func->arena;
    Expr *n = ir_select(arena, ok, ir_extent(t->buf, k), tally_int(w, 0));
    Stmt *loop = new_loop(w, "j", k == 0 ? tally_named(w, out, "n", n)
                                         : ir_extent(t->buf, k));
    Carry *carry = ARENA_NEW(arena, Carry);
    carry->var = ir_var(w->func, "ok", DT_BOOL, 0);
    carry->init = ok;
    carry->out = ir_var(w->func, "ok", DT_BOOL, 0);
    at[k] = ir_ref(arena, loop->var);
    carry->next = k + 1 < t->buf->rank
                      ? are_small(w, t, k + 1, at,
                                  ir_ref(arena, carry->var), &loop->body)
                      : is_small(w, t, at, &loop->body);
    loop->ncarries = 1;
    loop->carries = carry;
    loop->until = ir_unary(arena, E_NOT, carry->next);
    vec_push(arena, out, loop);
    return ir_ref(arena, carry->out);
}

/* Whether there are to be blocks, behind '*n', how many. */
static Expr *
decide(const Tallies *w, Block *out, Expr **n)
{
    Arena *arena = w->func->arena;
    Expr *many = blocks_that_pay(w, out);
    Expr *ok = ir_binary(arena, E_LE, tally_number(w, 2), many);
    for (int i = 0; i < w->n; i++) {
        ok = ir_binary(arena, E_AND, ok, is_little(w, &w->list[i]));
    }
    ok = tally_named(w, out, "ok", ok);
    for (int i = 0; i < w->n; i++) {
        Expr *at[MAX_RANK];
        ok = are_small(w, &w->list[i], 0, at, ok, out);
    }
    Expr *blocks = ir_cast(arena, DT_I64, many);
    blocks = ir_binary(arena, E_MIN, blocks, tally_int(w, BLOCKS));
    blocks = ir_select(arena, ok, blocks, tally_int(w, 0));
    *n = tally_named(w, out, "n", blocks);
    return ok;
}

/* Room for 'n' copies of an array. */
static void
make_copies(const Tallies *w, Tallied *t, Expr *n, Block *out)
{
    Arena *arena = w->func->arena;
    t->copies = ir_buf(w->func, t->buf->name, t->buf->dtype, t->buf->rank + 1,
                       BUF_LOCAL);
    t->copies->loc = w->loop->loc;
    t->copies->dims[0] = n;
    for (int k = 0; k < t->buf->rank; k++) {
        t->copies->dims[k + 1] = ir_extent(t->buf, k);
    }
    Stmt *alloc = ir_stmt(arena, S_ALLOC, w->loop->loc);
    alloc->buf = t->copies;
    vec_push(arena, out, alloc);
}

/* The index of an element, behind the number of the block. */
static Expr **
in_copies(const Tallies *w, Expr *const *index, int n)
{
    Expr **at = ARENA_ARRAY(w->func->arena, Expr *, n + 1);
    at[0] = w->block;
    for (int k = 0; k < n; k++) {
        at[k + 1] = index[k];
    }
    return at;
}

/* For ir_map: elements of the copies. */
static Expr *
load_copies(void *data, Expr *e)
{
    Tallies *w = data;
    const Tallied *t = e->op == E_LOAD ? tally_array(w, e->buf) : NULL;
    return t ? ir_load(w->func->arena, t->copies,
                       in_copies(w, e->args, e->nargs), e->nargs + 1, 0)
             : e;
}

/* For ir_each_expr. */
static void
load_slot(void *data, Expr **slot)
{
    const Tallies *w = data;
    *slot = ir_map(w->func->arena, *slot, load_copies, data);
}

/* Is it the warning that a sum of such an element wraps?  No other one may name
 * the element. */
static bool
is_idle(Tallies *w, const Stmt *s)
{
    bool idle = false;
    for (int i = 0; s->kind == S_WARN && i < s->value->nargs && !idle; i++) {
        const Expr *load = tally_value(w, s->value->args[i]);
        idle = load && load->op == E_LOAD && tally_array(w, load->buf);
    }
    return idle;
}

/* For ir_map_block: additions are made to the copies, and don't warn. */
static void
add_to_copies(void *data, Block *out, Stmt *s)
{
    Tallies *w = data;
    if (is_idle(w, s)) {
        return;
    }
    ir_each_expr(s, load_slot, data);
    const Tallied *t = s->kind == S_STORE ? tally_array(w, s->buf) : NULL;
    if (t != NULL) {
        s->index = in_copies(w, s->index, s->nindex);
        s->nindex++;
        s->buf = t->copies;
    }
    vec_push(w->func->arena, out, s);
}

/* The rounds of block "block", of 'size' rounds. */
static void
add_rounds(Tallies *w, Expr *lo, Expr *size, Block *out)
{
    Arena *arena = w->func->arena;
    Expr *first = tally_times(w, w->block, size);
    first = tally_named(w, out, "first", ir_binary(arena, E_ADD, lo, first));
    Expr *end = ir_binary(arena, E_ADD, first, size);
    end = tally_named(w, out, "end", ir_binary(arena, E_MIN, end, w->loop->hi));
    Stmt *loop = ir_copy_stmt(arena, w->loop);
    loop->lo = first;
    loop->hi = end;
    loop->body = ir_map_block(arena, &loop->body, add_to_copies, w);
    Block rounds = {0};
    vec_push(arena, &rounds, loop);
    Map map = map_new(w->pass->scratch);
    rounds = ir_clone(w->func, &rounds, &map);
    vec_push(arena, out, rounds.at[0]);
}

/* The loop over 'n' blocks, each of which begins with zeros. */
static Stmt *
block_loop(Tallies *w, Expr *n, Expr *lo, Expr *size)
{
    Arena *arena = w->func->arena;
    Stmt *blocks = new_loop(w, "block", n);
    w->block = ir_ref(arena, blocks->var);
    for (int i = 0; i < w->n; i++) {
        const Tallied *t = &w->list[i];
        Each each = each_element(w, t->buf);
        each.at[0] = w->block;
        vec_push(arena, each.inner,
                 ir_store(arena, t->copies, each.at, t->buf->rank + 1,
                          ir_zero(arena, t->buf->dtype), w->loop->loc));
        vec_push(arena, &blocks->body, each.outer);
    }
    add_rounds(w, lo, size, &blocks->body);
    return blocks;
}

/* The loop that adds the copies of all blocks to the array. */
static Stmt *
sum_loop(Tallies *w, const Tallied *t, Expr *n)
{
    Arena *arena = w->func->arena;
    Stmt *blocks = new_loop(w, "block", n);
    Each each = each_element(w, t->buf);
    each.at[0] = ir_ref(arena, blocks->var);
    int rank = t->buf->rank;
    Expr *old = ir_load(arena, t->buf, each.at + 1, rank, 0);
    Expr *part = ir_load(arena, t->copies, each.at, rank + 1, 0);
    Expr *sum = ir_binary(arena, E_ADD, tally_named(w, each.inner, "old", old),
                          tally_named(w, each.inner, "part", part));
    vec_push(arena, each.inner,
             ir_store(arena, t->buf, each.at + 1, rank, sum, w->loop->loc));
    vec_push(arena, &blocks->body, each.outer);
    return blocks;
}

/* What takes the place of the loop; '*branch' is the IF at its end. */
static Block
make_blocks(Tallies *w, Stmt **branch)
{
    Arena *arena = w->func->arena;
    Block out = w->before;
    Expr *n;
    Expr *lo = tally_named(w, &out, "lo", w->loop->lo);
    Expr *span = ir_binary(arena, E_SUB, w->loop->hi, lo);
    Expr *ok = decide(w, &out, &n);
    for (int i = 0; i < w->n; i++) {
        make_copies(w, &w->list[i], n, &out);
    }
    Stmt *s = ir_stmt(arena, S_IF, w->loop->loc);
    s->value = ok;
    Block *body = &s->body;
    n = ir_binary(arena, E_MAX, n, tally_int(w, 2)); /* as it is, provably */
    n = tally_named(w, body, "n", n);
    Expr *size = ir_binary(arena, E_SUB, n, tally_int(w, 1));
    size = ir_binary(arena, E_ADD, tally_named(w, body, "span", span), size);
    size = tally_named(w, body, "size", ir_binary(arena, E_IDIV, size, n));
    vec_push(arena, body, block_loop(w, n, lo, size));
    for (int i = 0; i < w->n; i++) {
        vec_push(arena, body, sum_loop(w, &w->list[i], n));
    }
    vec_push(arena, &s->els, ir_copy_stmt(arena, w->loop));
    vec_push(arena, &out, s);
    *branch = s;
    return out;
}

/* --- which loops? -------------------------------------------------------- */

/* Are the blocks independent?  'b' stands before 'out'. */
static bool
is_gain(const Tallies *w, Bounds *b, const Block *out, const Stmt *branch)
{
    DependWhy why = {0};
    const Block *body = &branch->body;
    int i = 0;
    int mark = bounds_push(b);
    for (int k = 0; k < out->n - 1; k++) {
        bounds_after(b, out->at[k]);
    }
    bounds_assume(b, branch->value, true);
    for (; body->at[i]->kind != S_FOR; i++) {
        bounds_after(b, body->at[i]);
    }
    bool ok = depend_independent(w->pass->scratch, w->func, b, body->at[i],
                                 &why);
    bounds_pop(b, mark);
    return ok;
}

/* Notes the blocks of 'loop' if it only adds and they would be independent. */
static bool
find_blocks(Tallies *w, Bounds *b, const Stmt *loop)
{
    Stmt *branch;
    w->loop = loop;
    tally_find(w, b);
    if (w->n == 0) {
        return false;
    }
    Block out = make_blocks(w, &branch);
    if (!is_gain(w, b, &out, branch)) {
        return false;
    }
    map_set(&w->instead, loop->var,
            arena_copy(w->pass->scratch, &out, sizeof(out)));
    for (int i = 0; i < w->n; i++) {
        diag_remark(w->pass->diags, DIAG_TALLIES, loop->loc,
                    "`%s` is only added to: blocks of rounds add to copies "
                    "of it, where they have much to add",
                    w->list[i].buf->name);
    }
    return true;
}

/* Does it count its rounds, and hand nothing on?  Few rounds are made by a loop
 * within another that has none in it. */
static bool
may_have_blocks(const Stmt *loop, bool inside)
{
    return loop->kind == S_FOR && loop->nbinds == 0 && loop->ncarries == 0 &&
           loop->until == NULL && !ir_has_load(loop->lo) &&
           !ir_has_load(loop->hi) && (!inside || block_has_loop(&loop->body));
}

static void visit_block(Tallies *w, Bounds *b, const Block *block, bool inside);

/* From the outside in, to the first loop that is parallel as it is or by
 * blocks. */
static void
visit_loop(Tallies *w, Bounds *b, const Stmt *loop, bool inside)
{
    DependWhy why = {0};
    if (loop->kind == S_FOR &&
        rounds_independent(w->pass->scratch, w->func, b, loop, &why)) {
        return;
    }
    if (may_have_blocks(loop, inside) && bounds_may_shift(b, loop) &&
        find_blocks(w, b, loop)) {
        return;
    }
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    visit_block(w, b, &loop->body, true);
    bounds_pop(b, mark);
}

/* One side of an IF, under its condition. */
static void
visit_branch(Tallies *w, Bounds *b, const Stmt *s, bool taken, bool inside)
{
    int mark = bounds_push(b);
    bounds_assume(b, s->value, taken);
    visit_block(w, b, taken ? &s->body : &s->els, inside);
    bounds_pop(b, mark);
}

static void
visit_block(Tallies *w, Bounds *b, const Block *block, bool inside)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_IF) {
            visit_branch(w, b, s, true, inside);
            visit_branch(w, b, s, false, inside);
        } else if (s->kind == S_FOR || s->kind == S_WHILE) {
            visit_loop(w, b, s, inside);
        }
        bounds_after(b, s);
    }
}

/* Changes 'func' in place. */
Func *
pass_tallies(Pass *pass, Func *func)
{
    Tallies w = {.pass = pass, .func = func};
    w.uses = ir_count_uses(pass->scratch, func);
    w.instead = map_new(pass->scratch);
    visit_block(&w, bounds_new(pass->arena, func), &func->body, false);
    split_replace(func, &w.instead);
    return func;
}
