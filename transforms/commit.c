/* Pass commit: decide which stores are logged, where loops poll.
 *
 *     for i in 0 .. n {                     for i in 0 .. n poll {
 *         check lt(k[i], m)            ->       check lt(k[i], m)
 *         store out[k[i]] = 1.0                 store out[k[i]] = 1.0 logged
 *     }                                     }
 *
 * A store to an argument must be undone if a check may fail afterwards (in
 * program order, or in a later round of a loop around both), or memory may run
 * out.  Such a store is "logged": the old value is kept.
 *
 * Threads and vectors can't keep a log.  Where a parallel or vector loop would
 * have to, SHADOW copies all arguments that are written, once, before the
 * outermost loop around; after that nothing needs logging any more.
 *
 * Serial loops and outermost ones ask from time to time whether to stop, but
 * for innermost ones of few rounds, which are charged to the loop around.
 * Asked in each round, it would keep the C compiler from making anything of an
 * innermost loop; so those that may be long are cut to strips of few rounds.
 */
#include "transforms/transforms.h"

/* The pass's state.
 *   "pass"   for diagnostics
 *   "func"   the new one
 *   "arena"  of the new statements
 *   "noted"  the remark was made: one a function is enough
 *   "inner"  the Vars that loops in others count
 *   "few"    innermost loops (Stmt *) that are proved to take little time
 *   "cut"    the Vars that others count, which can be cut to strips */
typedef struct Commit {
    Pass *pass;
    Func *func;
    Arena *arena;
    bool noted;
    Map inner;
    Map few;
    Map cut;
} Commit;

enum { FEW = 4096 }; /* rounds that take no time to speak of */

/* --- what may end the call ----------------------------------------------- */

/* A check, or an allocation that may fail. */
static bool
may_end(const Stmt *s)
{
    return s->kind == S_CHECK || s->kind == S_GROW ||
           (s->kind == S_ROUTINE && s->routine != ROUTINE_LOOP) ||
           (s->kind == S_ALLOC && s->buf->space != SPACE_STACK);
}

/* Anywhere in 'block' or below. */
static bool
block_may_end(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (may_end(s) || block_may_end(&s->pre) || block_may_end(&s->body) ||
            block_may_end(&s->els)) {
            return true;
        }
    }
    return false;
}

/* FOR or WHILE. */
static bool
is_loop(const Stmt *s)
{
    return s->kind == S_FOR || s->kind == S_WHILE;
}

/* Writes memory of the caller. */
static bool
is_visible_store(const Stmt *s)
{
    return (s->kind == S_STORE || s->kind == S_FILL) && ir_is_visible(s->buf);
}

/* --- which stores are logged --------------------------------------------- */

static bool mark_block(Block *block, bool after);

/* Marks what is in 's', given whether the call may end after it; says whether
 * it may end in or after it.
 *
 *     loop     a check anywhere in it may fail in a later round, so it counts
 *              as "after" for every store inside
 *     branch   each side for itself; if either may end, that counts for what
 *              stands before the IF */
static bool
mark_stmt(Stmt *s, bool after)
{
    if (is_visible_store(s)) {
        s->logged = after;
        return after;
    }
    if (is_loop(s)) {
        bool ends = after || block_may_end(&s->pre) || block_may_end(&s->body);
        mark_block(&s->body, ends);
        mark_block(&s->pre, ends);
        return ends;
    }
    bool in_body = mark_block(&s->body, after);
    bool in_els = mark_block(&s->els, after);
    return may_end(s) || after || in_body || in_els;
}

/* Backwards; 'after' is what follows the block. Whether the call may end in
 * or after it. */
static bool
mark_block(Block *block, bool after)
{
    for (int i = block->n - 1; i >= 0; i--) {
        after = mark_stmt(block->at[i], after);
    }
    return after;
}

/* --- shadows ------------------------------------------------------------- */

/* Is there a logged store that can't be logged: in a loop that does not run in
 * order, a fill, or one by another name? Logs are lists in the order of the
 * stores; a fill would be as many entries as elements; and a name may stand for
 * memory of the kernel, which is gone when the old values are put back. */
static bool
needs_shadow(const Block *block, bool unordered)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        bool inside = unordered || (is_loop(s) && s->mode != LOOP_SERIAL);
        if ((s->logged && (unordered || s->kind == S_FILL ||
                           s->buf->kind == BUF_REF)) ||
            needs_shadow(&s->pre, inside) || needs_shadow(&s->body, inside) ||
            needs_shadow(&s->els, inside)) {
            return true;
        }
    }
    return false;
}

/* Is any store in 'block' or below logged? */
static bool
has_logged(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->logged || has_logged(&s->pre) || has_logged(&s->body) ||
            has_logged(&s->els)) {
            return true;
        }
    }
    return false;
}

/* For ir_each_stmt. */
static void
clear_logged(void *data, Stmt *s)
{
    (void)data;
    s->logged = false;
}

/* One remark a function: the first place tells enough. */
static void
remark(Commit *c, Loc loc, const char *text)
{
    if (!c->noted) {
        diag_remark(c->pass->diags, DIAG_UNDO, loc, "%s", text);
        c->noted = true;
    }
}

static bool place_shadows(Commit *c, Block *block, bool shadowed);

/* Appends 's' to 'out', with SHADOW before it if need be; says whether all
 * visible memory is shadowed after it.
 *
 * A shadow once taken covers the rest of the call, so nothing behind it is
 * logged. In an IF it may be taken on one side only; then it does not count
 * afterwards. What was logged before a SHADOW is exchanged for copies of the
 * state before the call (csrc/run/undo.c). */
static bool
shadow_stmt(Commit *c, Block *out, Stmt *s, bool shadowed)
{
    Block one = {0};
    vec_push(c->arena, &one, s);
    if (shadowed) {
        ir_each_stmt(&one, clear_logged, NULL);
    } else if (s->kind != S_IF && needs_shadow(&one, false)) {
        vec_push(c->arena, out, ir_stmt(c->arena, S_SHADOW, s->loc));
        ir_each_stmt(&one, clear_logged, NULL);
        remark(c, s->loc, "written arguments are copied first: a check in or "
                          "after this loop may fail");
        shadowed = true;
    } else if (s->kind == S_IF) {
        bool in_body = place_shadows(c, &s->body, false);
        bool in_els = place_shadows(c, &s->els, false);
        shadowed = in_body && in_els;
    } else if (has_logged(&one)) {
        remark(c, s->loc, "old values are kept: a later check may fail");
    }
    vec_push(c->arena, out, s);
    return shadowed;
}

/* Works on 'block' outside of all loops. */
static bool
place_shadows(Commit *c, Block *block, bool shadowed)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        shadowed = shadow_stmt(c, &out, block->at[i], shadowed);
    }
    *block = out;
    return shadowed;
}

/* --- polls --------------------------------------------------------------- */

/* For ir_each_node: the sum of an array takes as long as the array. */
static void
note_sum(void *data, const Expr *e)
{
    bool *lasts = data;
    *lasts |= e->op == E_SUM;
}

/* For ir_each_stmt: may 's' take long by itself? */
static void
note_long(void *data, Stmt *s)
{
    bool *lasts = data;
    *lasts |= s->kind != S_LET && s->kind != S_STORE && s->kind != S_CHECK &&
              s->kind != S_WARN && s->kind != S_IF;
    ir_each_node(s, note_sum, data);
}

/* A serial FOR of which the rounds take little time. */
static bool
is_brief(Stmt *s)
{
    bool lasts = s->kind != S_FOR || s->mode != LOOP_SERIAL;
    if (!lasts) {
        ir_each_stmt(&s->body, note_long, &lasts);
    }
    return !lasts;
}

/* The question whether the places of all accesses in "loop" are sums of
 * multiples of its variable.  "defs": of the names in it.  "counts": it changes
 * elements that it finds by data, as a histogram does. */
typedef struct Walk {
    const Func *func;
    const Stmt *loop;
    Map defs;
    bool even;
    bool counts;
} Walk;

static bool
is_even(const Walk *w, const Expr *e)
{
    if (loop_invariant(w->func, w->loop, e) || ir_is_var(e, w->loop->var)) {
        return true;
    }
    if (e->op == E_VAR) {
        const Stmt *def = map_get(&w->defs, e->var);
        return def != NULL && def->kind == S_LET && is_even(w, def->value);
    }
    return (e->op == E_ADD || e->op == E_SUB || e->op == E_MUL) &&
           is_even(w, e->args[0]) && is_even(w, e->args[1]);
}

/* For ir_each_node.  Bytes are not gathered by any instruction. */
static void
look_at_load(void *data, const Expr *e)
{
    Walk *w = data;
    for (int i = 0; e->op == E_LOAD && i < e->nargs; i++) {
        w->even &= dtype_size(e->dtype) < 4 || is_even(w, e->args[i]);
    }
}

/* For ir_each_stmt. */
static void
look_at_walk(void *data, Stmt *s)
{
    Walk *w = data;
    ir_each_node(s, look_at_load, data);
    for (int i = 0; s->kind == S_STORE && i < s->nindex; i++) {
        bool even = is_even(w, s->index[i]);
        w->even &= even;
        w->counts |= !even && effects_reads(&w->loop->body, s->buf);
    }
}

/* Is it better without polls?  If it steps evenly through memory: of others gcc
 * may make SIMD that is slower than none, for it gathers, and thinks little of
 * that.  Also if it has no lanes anyhow, since each round needs what the one
 * before has computed or counted. */
static bool
is_better_free(const Commit *c, const Stmt *loop)
{
    Walk w = {.func = c->func, .loop = loop, .even = true};
    for (int i = 0; i < loop->ncarries; i++) {
        if (ir_tally(c->pass->scratch, loop, i) == TALLY_NONE) {
            return true;
        }
    }
    w.defs = loop_defs(c->pass->scratch, &loop->body);
    ir_each_stmt(&loop->body, look_at_walk, &w);
    return w.even || w.counts;
}

/* For ir_each_stmt: loops in loops. */
static void
note_inner(void *data, Stmt *s)
{
    if (s->kind == S_FOR) {
        map_set(data, s->var, s);
    }
}

static void
note_loops(void *data, Stmt *s)
{
    if (is_loop(s)) {
        ir_each_stmt(&s->body, note_inner, data);
    }
}

/* A search for accesses along "axis" of "buf" by "x"; "calls": there are calls
 * of functions, which take long. */
typedef struct Along {
    const Buf *buf;
    int axis;
    const Var *x;
    bool found;
    bool calls;
} Along;

/* For ir_each_node. */
static void
look_along(void *data, const Expr *e)
{
    Along *along = data;
    along->calls |= e->op == E_CALL;
    along->found |= e->op == E_LOAD && e->buf == along->buf &&
                    along->axis < e->nargs &&
                    ir_is_var(e->args[along->axis], along->x);
}

/* For ir_each_stmt. */
static void
look_stmt_along(void *data, Stmt *s)
{
    Along *along = data;
    ir_each_node(s, look_along, along);
    along->found |= s->kind == S_STORE && s->buf == along->buf &&
                    along->axis < s->nindex &&
                    ir_is_var(s->index[along->axis], along->x);
}

/* Does 's', in another loop, go along an axis of an array to its end or near,
 * without calls?  That is a row of some thousand short rounds at most times,
 * and of as many as there are elements in memory at worst: to look each time
 * whether it is a long one costs more than short ones take. */
static bool
is_row(const Commit *c, Bounds *b, Stmt *s)
{
    Linear form;
    Expr *zero = ir_int(c->pass->scratch, DT_I64, 0);
    if (!map_has(&c->inner, s->var) || !bounds_linear(b, s->hi, &form) ||
        form.terms.n != 1 || form.constant > FEW ||
        form.terms.at[0].coef != 1 || form.terms.at[0].atom->op != E_DIM ||
        !is_better_free(c, s)) {
        return false;
    }
    const Expr *dim = form.terms.at[0].atom;
    Along along = {.buf = dim->buf, .axis = dim->axis, .x = s->var};
    ir_each_stmt(&s->body, look_stmt_along, &along);
    return along.found && !along.calls &&
           bounds_proves(b, ir_binary(c->pass->scratch, E_LE, zero, s->lo));
}

/* Is 's' such a loop, of few rounds? */
static bool
is_few(const Commit *c, Bounds *b, Stmt *s)
{
    if (!is_brief(s)) {
        return false;
    }
    if (is_row(c, b, s)) {
        return true;
    }
    Expr *few = ir_int(c->pass->scratch, DT_I64, FEW);
    Expr *end = ir_binary(c->pass->scratch, E_ADD, s->lo, few);
    return bounds_proves(b, ir_binary(c->pass->scratch, E_LE, s->hi, end));
}

/* For bounds_visit: notes serial loops that don't poll, which would keep them
 * from SIMD. */
static bool
note_few(void *data, Bounds *b, Stmt *s)
{
    Commit *c = data;
    if (is_few(c, b, s)) {
        map_set(&c->few, s, s);
    }
    return true;
}

/* For bounds_visit: notes those that may have more, and are better cut. */
static bool
note_cut(void *data, Bounds *b, Stmt *s)
{
    Commit *c = data;
    if (is_brief(s) && !is_few(c, b, s) && s->until == NULL &&
        s->nbinds == 0 && bounds_may_shift(b, s) && is_better_free(c, s)) {
        map_set(&c->cut, s->var, s);
    }
    return true;
}

/* For ir_map_block: strips in the place of these. */
static void
cut_loop(void *data, Block *out, Stmt *s)
{
    Commit *c = data;
    if (s->kind != S_FOR || !map_has(&c->cut, s->var)) {
        vec_push(c->arena, out, s);
        return;
    }
    Block strips = split_strips(c->func, s, FEW);
    for (int k = 0; k < strips.n; k++) {
        vec_push(c->arena, out, strips.at[k]);
    }
}

/* A loop that doesn't poll is charged to the one around, which would else ask
 * as seldom as if its rounds took no time; but for a handful of rounds.  Those
 * of SIMD count less each (csrc/emit/cnest.c). */
static void
poll_or_charge(const Commit *c, Stmt *s, bool outermost, bool in_lanes)
{
    enum { HANDFUL = 16 };
    bool serial = s->mode == LOOP_SERIAL;
    int64_t trips = s->kind == S_FOR ? loop_trips(s) : -1;
    s->poll = (serial && !map_has(&c->few, s)) ||
              (outermost && s->mode != LOOP_VECTOR);
    s->charged = s->kind == S_FOR && s->mode != LOOP_PARALLEL && !s->poll &&
                 !outermost && !in_lanes && (trips < 0 || trips > HANDFUL);
}

/* Serial loops poll if they may take long; other loops only where no loop is
 * around ('outermost'). Vector loops never do, nor what runs 'in_lanes'. */
static void
set_polls(const Commit *c, Block *block, bool outermost, bool in_lanes)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (is_loop(s)) {
            poll_or_charge(c, s, outermost, in_lanes);
        }
        bool below = outermost && !is_loop(s);
        bool lanes = in_lanes || s->mode == LOOP_VECTOR;
        set_polls(c, &s->pre, below, lanes);
        set_polls(c, &s->body, below, lanes);
        set_polls(c, &s->els, below, lanes);
    }
}

/* Says nothing of shadows. */
Block
commit_mark(Arena *arena, const Block *block)
{
    Block copy = ir_copy_block(arena, block);
    mark_block(&copy, false);
    return copy;
}

/* Marks first what would have to be logged, then finds what a shadow makes
 * needless. */
Func *
pass_commit(Pass *pass, Func *func)
{
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    Commit c = {.pass = pass, .func = copy, .arena = pass->arena};
    copy->body = commit_mark(pass->arena, &func->body);
    place_shadows(&c, &copy->body, false);
    c.inner = map_new(pass->scratch);
    ir_each_stmt(&copy->body, note_loops, &c.inner);
    c.few = map_new(pass->scratch);
    c.cut = map_new(pass->scratch);
    if (!func->general) {
        bounds_visit(pass->scratch, copy, note_cut, &c);
        copy->body = ir_map_block(pass->arena, &copy->body, cut_loop, &c);
    }
    bounds_visit(pass->scratch, copy, note_few, &c);
    set_polls(&c, &copy->body, true, false);
    return copy;
}
