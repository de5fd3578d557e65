/* Arrays to which a loop only adds.
 *
 *     let t = hist[i]
 *     warn (addo t by)
 *     let s = add(t, by)
 *     store hist[i] = s
 *
 * is an addition if nothing else uses t and s, and nothing is stored between:
 * then it matters neither when it is done nor what the element was.  A loop
 * only adds to an array if it touches its memory in no other way.
 */
#include "transforms/tallies.h"

enum { MOST_ADDED = 1 << 30 }; /* at a time */

Tallied *
tally_array(Tallies *w, const Buf *buf)
{
    for (int i = 0; i < w->n; i++) {
        if (w->list[i].buf == buf) {
            return &w->list[i];
        }
    }
    return NULL;
}

/* --- what only adds ------------------------------------------------------ */

Expr *
tally_value(const Tallies *w, const Expr *e)
{
    const Stmt *def = e->op == E_VAR ? map_get(&w->defs, e->var) : NULL;
    return def && def->kind == S_LET ? def->value : NULL;
}

/* Is 'e' the element that 'store' writes, or a name for it? */
static bool
is_old(const Tallies *w, const Expr *e, const Stmt *store)
{
    const Expr *load = e->op == E_LOAD ? e : tally_value(w, e);
    bool same = load && load->op == E_LOAD && load->buf == store->buf &&
                load->lanes == 0 && load->nargs == store->nindex;
    for (int i = 0; same && i < load->nargs; i++) {
        same = ir_equal(load->args[i], store->index[i]);
    }
    return same;
}

/* Is it the warning that just this sum wraps?  Operands of sums are in an order
 * of their own. */
static bool
warns_of(const Stmt *s, const Expr *sum)
{
    if (s->kind != S_WARN ||
        s->value->op != (sum->op == E_ADD ? E_ADDO : E_SUBO)) {
        return false;
    }
    Expr **lhs = s->value->args;
    Expr **rhs = sum->args;
    bool turned = sum->op == E_ADD && ir_equal(lhs[0], rhs[1]) &&
                  ir_equal(lhs[1], rhs[0]);
    return turned || (ir_equal(lhs[0], rhs[0]) && ir_equal(lhs[1], rhs[1]));
}

/* Is 'var', the element or the sum, computed before block->at[at] in this block
 * and used but once, warnings that 'sum' wraps aside, with no store between? */
static bool
is_between(const Tallies *w, const Block *block, int at, const Var *var,
           const Expr *sum)
{
    int uses = 1;
    for (int i = at - 1; i >= 0; i--) {
        const Stmt *s = block->at[i];
        if (s->var == var) {
            return w->uses[var->id] == uses;
        }
        if (s->kind != S_LET && s->kind != S_WARN && s->kind != S_CHECK) {
            return false;
        }
        uses += warns_of(s, sum) && ir_uses(s->value, var);
    }
    return false;
}

/* What the store block->at[at] adds to the element that there was; NULL: it
 * does something else.  Less is subtracted where an element may be negative. */
static Expr *
added_by(const Tallies *w, const Block *block, int at)
{
    const Stmt *store = block->at[at];
    const Expr *named = tally_value(w, store->value);
    const Expr *sum = named ? named : store->value;
    bool less = sum->op == E_SUB && dtype_is_signed(sum->dtype);
    if ((sum->op != E_ADD && !less) || sum->lanes > 0 ||
        !dtype_is_int(store->buf->dtype)) {
        return NULL;
    }
    int from = is_old(w, sum->args[0], store) ? 0 : 1;
    const Expr *old = sum->args[from];
    if (!is_old(w, old, store) || (less && from == 1) ||
        (named && !is_between(w, block, at, store->value->var, sum)) ||
        (old->op == E_VAR && !is_between(w, block, at, old->var, sum))) {
        return NULL;
    }
    return sum->args[1 - from];
}

/* --- how much is added --------------------------------------------------- */

Expr *
tally_number(const Tallies *w, double value)
{
    return ir_float(w->func->arena, DT_F64, value);
}

Expr *
tally_int(const Tallies *w, int64_t value)
{
    return ir_int(w->func->arena, DT_I64, value);
}

Expr *
tally_named(const Tallies *w, Block *out, const char *name, Expr *e)
{
    return ir_is_const(e) || e->op == E_VAR
               ? e
               : ir_named(w->func, out, name, e, w->loop->loc);
}

Expr *
tally_plus(const Tallies *w, Expr *lhs, Expr *rhs)
{
    return lhs ? ir_binary(w->func->arena, E_ADD, lhs, rhs) : rhs;
}

Expr *
tally_times(const Tallies *w, Expr *lhs, Expr *rhs)
{
    return lhs ? ir_binary(w->func->arena, E_MUL, lhs, rhs) : rhs;
}

/* Is 'e' known before the loop at hand? */
static bool
is_known_before(const Tallies *w, const Expr *e)
{
    return !ir_has_load(e) && loop_invariant(w->func, w->loop, e) &&
           loop_sees(w->pass->scratch, w->func, w->loop, e);
}

/* The rounds of 'loop', or more, f64 and known before the loop at hand; NULL:
 * not known. */
static Expr *
rounds_of(Tallies *w, Bounds *b, const Stmt *loop)
{
    Arena *arena = w->func->arena;
    if (is_known_before(w, loop->lo) && is_known_before(w, loop->hi)) {
        Expr *n = ir_binary(arena, E_SUB, loop->hi, loop->lo);
        n = tally_named(w, &w->before, "rounds", n);
        Expr *wraps = ir_binary(arena, E_LT, n, tally_int(w, 0));
        Expr *many = ir_select(arena, wraps, tally_number(w, 0x1p64),
                               ir_cast(arena, DT_F64, n));
        Expr *some = ir_binary(arena, E_LT, loop->lo, loop->hi);
        n = ir_select(arena, some, many, tally_number(w, 0));
        return tally_named(w, &w->before, "rounds", n);
    }
    int64_t lo;
    int64_t hi;
    bounds_interval(b, ir_binary(arena, E_SUB, loop->hi, loop->lo), &lo, &hi);
    return hi < MOST_ADDED ? tally_number(w, hi > 0 ? (double)hi : 0) : NULL;
}

/* Notes that 'by' is added to elements of 'buf' in each of 'rounds' rounds. */
static void
note_added(Tallies *w, Bounds *b, Buf *buf, Expr *by, Expr *rounds)
{
    int64_t lo;
    int64_t hi;
    Tallied *t = tally_array(w, buf);
    bounds_interval(b, by, &lo, &hi);
    bool small = lo >= -MOST_ADDED && hi <= MOST_ADDED &&
                 (lo >= 0 || dtype_is_signed(buf->dtype));
    if (!small || rounds == NULL || (t == NULL && w->n == MOST_ARRAYS)) {
        return;
    }
    if (t == NULL) {
        t = &w->list[w->n++];
        *t = (Tallied){.buf = buf};
    }
    Expr *most = tally_number(w, (double)(hi > -lo ? hi : -lo));
    t->places++;
    t->rounds = tally_plus(w, t->rounds, rounds);
    t->added = tally_plus(w, t->added, tally_times(w, most, rounds));
}

/* Notes the arrays that 'block' adds to; 'rounds' is how often it runs. */
static void
note_block(Tallies *w, Bounds *b, const Block *block, Expr *rounds)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        Expr *inner = rounds;
        bool outside = s->kind == S_STORE && !loop_makes(w->loop, s->buf);
        Expr *by = outside ? added_by(w, block, i) : NULL;
        if (by != NULL) {
            note_added(w, b, s->buf, by, rounds);
        }
        int mark = bounds_push(b);
        if (s->kind == S_FOR) {
            Expr *n = rounds ? rounds_of(w, b, s) : NULL;
            inner = n ? tally_times(w, rounds, n) : NULL;
        }
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            inner = s->kind == S_FOR ? inner : NULL;
            bounds_loop(b, s);
        }
        note_block(w, b, &s->pre, inner);
        note_block(w, b, &s->body, inner);
        note_block(w, b, &s->els, inner);
        bounds_pop(b, mark);
        bounds_after(b, s);
    }
}

/* How often a loop touches "buf", or what may share its memory. */
typedef struct Touches {
    const Func *func;
    const Buf *buf;
    int reads;
    int writes;
} Touches;

/* For ir_each_node. */
static void
count_reads(void *data, const Expr *e)
{
    Touches *t = data;
    t->reads += ir_reads(e) && effects_may_alias(t->func, e->buf, t->buf);
}

/* For ir_each_stmt. */
static void
count_touches(void *data, Stmt *s)
{
    Touches *t = data;
    const Buf *buf = s->kind == S_VIEW ? s->src : ir_writes(s) ? s->buf : NULL;
    t->writes += buf && effects_may_alias(t->func, buf, t->buf);
    ir_each_node(s, count_reads, t);
}

/* Does the loop do nothing with the array but add to it? */
static bool
only_adds(const Tallies *w, const Tallied *tallied)
{
    Touches t = {w->func, tallied->buf, 0, 0};
    ir_each_stmt(&w->loop->body, count_touches, &t);
    return t.reads == tallied->places && t.writes == tallied->places;
}

void
tally_find(Tallies *w, Bounds *b)
{
    Arena *scratch = w->pass->scratch;
    w->n = 0;
    w->defs = loop_defs(scratch, &w->loop->body);
    w->before = (Block){0};
    w->span = rounds_of(w, b, w->loop);
    int mark = bounds_push(b);
    bounds_loop(b, w->loop);
    note_block(w, b, &w->loop->body, w->span);
    bounds_pop(b, mark);
    int kept = 0;
    for (int i = 0; i < w->n; i++) {
        const Buf *buf = w->list[i].buf;
        if (buf->rank > 0 && buf->rank < MAX_RANK &&
            dtype_size(buf->dtype) > 1 && only_adds(w, &w->list[i])) {
            w->list[kept++] = w->list[i];
        }
    }
    w->n = kept;
}
