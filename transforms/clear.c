/* Pass clear: large zeroed arrays are cleared where they come into use.
 *
 *     alloc pyr[levels, h, w]            alloc pyr[levels, h, w]
 *     fill pyr = 0.0                     alloc done[levels, h]; fill done = 0
 *     for l in 1..levels {               for l in 1..levels {
 *       for y in 0..h >> l {        ->     for y in rows that the nest touches
 *         for x in 0..w >> l {               columns done[l, y] .. w >> l = 0.0
 *           pyr[l, y, x] = ...               done[l, y] = w >> l
 *                                          for y in 0..h >> l { ...
 *
 * To clear an array of which a program uses a part, such as the levels of a
 * pyramid, may cost more than all the rest.  So a buffer remembers for every
 * row how many of its first columns hold a value, cleared or written, and
 * before a nest that touches it the rows of the nest are cleared up to the
 * last column that it touches.  What the nest surely writes before any read
 * (box.c) is not cleared but only noted.
 *
 * A nest that copies the columns of rows copies those that hold a value; the
 * others are left as they are in the array copied to (clearcopy.c).
 *
 * Rows are all axes but the last one of variable extent; constant axes behind
 * that, channels, belong to a column.  A nest is a statement of the function's
 * block, or of a loop that stands there where the rows can't be told before
 * that loop.  Done only where some nest touches one slab of the array, at an
 * index that is not constant: else the whole array is in use.
 */
#include <string.h>

#include "transforms/clear.h"

enum {
    MAX_NESTS = 24,  /* that touch one buffer: each gets code of its own */
    MAX_COLUMN = 30, /* elements of a column */
};

/* --- code ---------------------------------------------------------------- */

Expr *
clear_number(const Clear *clear, int64_t value)
{
    return ir_int(clear->arena, DT_I64, value);
}

/* min(max(value, least), most), where least <= most. */
static Expr *
clamp(const Clear *clear, Expr *value, Expr *least, Expr *most)
{
    Expr *above = ir_binary(clear->arena, E_MAX, value, least);
    return ir_binary(clear->arena, E_MIN, above, most);
}

/* 'value' under a name of its own. */
Expr *
clear_named(Clear *clear, Block *out, const char *name, Expr *value)
{
    Var *var = ir_var(clear->func, name, DT_I64, 0);
    vec_push(clear->arena, out,
             ir_let(clear->arena, var, value, clear->target->fill->loc));
    return ir_ref(clear->arena, var);
}

/* for name in lo..hi, with an empty body. */
Stmt *
clear_loop(Clear *clear, const char *name, Expr *lo, Expr *hi)
{
    Stmt *loop = ir_stmt(clear->arena, S_FOR, clear->target->fill->loc);
    loop->var = ir_var(clear->func, name, DT_I64, 0);
    loop->id = clear->func->next_id++;
    loop->lo = lo;
    loop->hi = hi;
    return loop;
}

/* Proposes that the loop over columns runs over elements, by SIMD. */
void
clear_propose(Clear *clear, const Stmt *columns)
{
    const Target *target = clear->target;
    Pass *pass = clear->pass;
    if (target->column + 1 < target->buf->rank) {
        sched_add(pass->arena, pass->sched, DIR_FLATTEN, columns->id, 0, 0);
    }
    sched_add(pass->arena, pass->sched, DIR_VECTORIZE, columns->id, 0, 0);
}

/* The value in all elements of the columns from..to of the row 'index'. */
static Stmt *
clear_columns(Clear *clear, Expr *const *index, Expr *from, Expr *to)
{
    const Target *target = clear->target;
    Expr *at[MAX_RANK];
    Stmt *columns = clear_loop(clear, "column", from, to);
    Stmt *inner = columns;
    int rank = target->buf->rank;
    int64_t lanes = 0;
    Expr *value = target->fill->value;
    for (int i = 0; i < target->column; i++) {
        at[i] = index[i];
    }
    at[target->column] = ir_ref(clear->arena, columns->var);
    if (target->column + 1 < rank &&
        ir_const_int(target->buf->dims[rank - 1], &lanes)) {
        rank--;
        value = ir_splat(clear->arena, value, (int)lanes);
    }
    for (int i = target->column + 1; i < rank; i++) {
        Stmt *loop = clear_loop(clear, "channel", clear_number(clear, 0),
                               target->buf->dims[i]);
        vec_push(clear->arena, &inner->body, loop);
        at[i] = ir_ref(clear->arena, loop->var);
        inner = loop;
    }
    vec_push(clear->arena, &inner->body,
             ir_store(clear->arena, target->buf, at, rank, value,
                      target->fill->loc));
    if (columns == inner) {
        clear_propose(clear, columns);
    }
    return columns;
}

/* Is the row 'index' inside the box? */
static Expr *
in_box(const Clear *clear, Expr *const *index, const Side *box)
{
    Arena *arena = clear->arena;
    Expr *all = ir_bool(arena, true);
    for (int i = 0; i < clear->target->column; i++) {
        Expr *lo = linear_expr(arena, &box[i].lo);
        Expr *hi = linear_expr(arena, &box[i].hi);
        all = ir_binary(arena, E_AND, all,
                        ir_binary(arena, E_LE, lo, index[i]));
        all = ir_binary(arena, E_AND, all,
                        ir_binary(arena, E_LT, index[i], hi));
    }
    return all;
}

/* What is done for one row: columns from "done" up to 'need' are cleared but
 * for those of 'box' (NULL: none), if the row is in it. */
static Block
clear_row(Clear *clear, Expr *const *index, Expr *need, const Side *box)
{
    Arena *arena = clear->arena;
    const Target *target = clear->target;
    const Loc loc = target->fill->loc;
    Block out = {0};
    Expr *from = clear_named(clear, &out, "done",
                       ir_load(arena, target->done, index, target->column, 0));
    Stmt *test = ir_stmt(arena, S_IF, loc);
    Block *body = &test->body;
    test->value = ir_binary(arena, E_LT, from, need);
    Expr *begin = from;
    int64_t first = 0;
    if (box != NULL) {
        const Side *side = &box[target->column];
        Expr *kept = in_box(clear, index, box);
        if (!linear_is_const(&side->lo, &first) || first != 0) {
            Expr *lo = clamp(clear, linear_expr(arena, &side->lo), from, need);
            begin = clear_named(clear, body, "end",
                          ir_select(arena, kept, lo, from));
            vec_push(arena, body, clear_columns(clear, index, from, begin));
        }
        Expr *hi = clamp(clear, linear_expr(arena, &side->hi), begin, need);
        begin = clear_named(clear, body, "begin",
                      ir_select(arena, kept, hi, begin));
    }
    vec_push(arena, body, clear_columns(clear, index, begin, need));
    vec_push(arena, body, ir_store(arena, target->done, index, target->column,
                                   need, loc));
    vec_push(arena, &out, test);
    return out;
}

/* The least (greatest) of all ends. */
static Expr *
extreme(const Clear *clear, const Ends *ends, Op op)
{
    Expr *all = ends->at[0];
    for (int i = 1; i < ends->n; i++) {
        all = ir_binary(clear->arena, op, all, ends->at[i]);
    }
    return all;
}

/* The ends of axis 'i' as [lo, hi) within the array. */
static void
ends_of(Clear *clear, Block *out, const Reach *reach, int i, Expr **lo,
        Expr **hi)
{
    Expr *zero = clear_number(clear, 0);
    Expr *dim = clear->target->buf->dims[i];
    *lo = zero;
    *hi = dim;
    if (!reach->unknown) {
        Expr *first = extreme(clear, &reach->lo, E_MIN);
        Expr *end = ir_binary(clear->arena, E_ADD,
                              extreme(clear, &reach->hi, E_MAX),
                              clear_number(clear, 1));
        *lo = clear_named(clear, out, "lo", clamp(clear, first, zero, dim));
        *hi = clear_named(clear, out, "hi", clamp(clear, end, zero, dim));
    }
}

/* The loops over the rows that the nest touches; an axis of which it touches
 * one slab goes inside, so that threads find rows to share. */
static void
push_clearing(Clear *clear, const Reach *reach, const Side *box)
{
    const Target *target = clear->target;
    Expr *index[MAX_RANK];
    Stmt *loops[MAX_RANK];
    Expr *lo;
    Expr *hi;
    int n = 0;
    for (int thin = 0; thin <= 1; thin++) {
        for (int i = 0; i < target->column; i++) {
            if (reach_is_one(&reach[i]) == (thin == 1)) {
                ends_of(clear, clear->out, &reach[i], i, &lo, &hi);
                loops[n] = clear_loop(clear, "row", lo, hi);
                index[i] = ir_ref(clear->arena, loops[n++]->var);
            }
        }
    }
    ends_of(clear, clear->out, &reach[target->column], target->column, &lo,
            &hi);
    loops[n - 1]->body = clear_row(clear, index, hi, box);
    for (int i = n - 1; i > 0; i--) {
        vec_push(clear->arena, &loops[i - 1]->body, loops[i]);
    }
    vec_push(clear->arena, clear->out, loops[0]);
}

/* --- the walk ------------------------------------------------------------ */

/* Is the slab of 'group' surely outside of the box? */
static bool
is_apart(const Clear *clear, const Group *group, const Side *box)
{
    Arena *arena = clear->arena;
    Linear slab;
    Linear gap;
    int64_t n = 0;
    if (group->axis < 0 ||
        !bounds_linear(clear->at.bounds, group->slab, &slab)) {
        return false;
    }
    const Side *side = &box[group->axis];
    bool below = linear_sum(arena, &side->lo, 1, &slab, -1, &gap) &&
                 linear_is_const(&gap, &n) && n > 0;
    return below || (linear_sum(arena, &side->hi, 1, &slab, -1, &gap) &&
                     linear_is_const(&gap, &n) && n <= 0);
}

/* Does the nest read nothing of the box? */
static bool
reads_apart(const Clear *clear, const Groups *groups, const Side *box)
{
    bool apart = true;
    for (int i = 0; i < groups->n && apart; i++) {
        const Group *group = &groups->at[i];
        apart = !group->reads || is_apart(clear, group, box);
    }
    return apart;
}

/* Before 's', which touches the buffer: what it touches is cleared, slab by
 * slab. */
static void
clear_before(Clear *clear, Stmt *s, const Groups *groups)
{
    Target *target = clear->target;
    Side box[MAX_RANK];
    target->nests++;
    if (clear->out == NULL) {
        return;
    }
    bool keeps = s->kind == S_FOR &&
                 box_written(&clear->at, s, target->buf, box) &&
                 reads_apart(clear, groups, box);
    for (int i = target->column + 1; i < target->buf->rank; i++) {
        keeps = keeps && box_is_whole(&clear->at, target->buf, box, i);
    }
    for (int i = 0; i < groups->n; i++) {
        const Group *group = &groups->at[i];
        push_clearing(clear, group->reach,
                      keeps && !group->reads ? box : NULL);
    }
}

/* Can the definitions between its nests be made again in a loop of their own?
 */
static bool
is_repeatable(const Stmt *loop)
{
    bool plain = loop->ncarries == 0 && loop->nbinds == 0;
    for (int i = 0; i < loop->body.n && plain; i++) {
        const Stmt *s = loop->body.at[i];
        plain = s->njoins == 0 && s->ncarries == 0 && s->nbinds == 0 &&
                s->kind != S_VIEW && s->kind != S_ALLOC &&
                !(s->kind == S_LET && ir_has_load(s->value));
    }
    return plain;
}

/* Are its rounds to go to threads? */
static bool
is_parallel(const Clear *clear, const Stmt *loop)
{
    return sched_has(clear->pass->sched, DIR_PARALLEL, loop->id, NULL);
}

/* May the rows be told in each round of 's' better than before it?  Not where
 * single elements are touched between its nests: a row would be asked for each
 * of them. */
static bool
is_driver(const Clear *clear, const Stmt *s)
{
    bool nests = s->kind == S_FOR;
    if (nests && is_parallel(clear, s)) {
        nests = is_repeatable(s);
    }
    for (int i = 0; i < s->body.n && nests; i++) {
        const Stmt *inner = s->body.at[i];
        Uses uses = uses_of(inner, clear->target->buf);
        nests = uses.touches == 0 || inner->kind == S_FOR;
    }
    return nests;
}

/* Are all rows' ends known? */
static bool
rows_known(const Clear *clear, const Groups *groups)
{
    bool known = true;
    for (int i = 0; i < groups->n; i++) {
        for (int k = 0; k < clear->target->column; k++) {
            known = known && !groups->at[i].reach[k].unknown;
        }
    }
    return known;
}

static void walk(Clear *clear, const Block *block, bool inside);

/* Proposes anew for loops over columns that were copied. */
static void
propose_again(void *data, Stmt *s)
{
    if (s->kind == S_FOR && s->body.n == 1 && s->body.at[0]->kind == S_STORE) {
        clear_propose(data, s);
    }
}

/* A loop of its own that only clears, before 'loop', whose rounds threads
 * share: two rounds may use the same rows. */
static void
push_apart(Clear *clear, const Stmt *loop, const Block *body)
{
    Stmt *copy = ir_copy_stmt(clear->arena, loop);
    Stmt *old = ir_copy_stmt(clear->arena, loop);
    copy->body = *body;
    Block one = {.at = &copy, .n = 1, .cap = 1};
    Map map = map_new(clear->arena);
    Block fresh = ir_clone(clear->func, &one, &map);
    ir_each_stmt(&fresh, propose_again, clear);
    vec_push(clear->arena, clear->out, fresh.at[0]);
    vec_push(clear->arena, clear->out, old);
}

/* One round of 's', into "out". */
static void
walk_driver(Clear *clear, const Stmt *s)
{
    Block *outer = clear->out;
    Stmt *copy = ir_copy_stmt(clear->arena, s);
    Block body = {0};
    int visible = clear->scope.visible.n;
    int mark = bounds_push(clear->at.bounds);
    scope_show_inside(&clear->scope, s);
    bounds_loop(clear->at.bounds, s);
    clear->out = outer == NULL ? NULL : &body;
    clear->apart = is_parallel(clear, s);
    walk(clear, &s->body, true);
    clear->out = outer;
    bounds_pop(clear->at.bounds, mark);
    clear->scope.visible.n = visible;
    if (outer != NULL && clear->apart) {
        push_apart(clear, s, &body);
    } else if (outer != NULL) {
        copy->body = body;
        vec_push(clear->arena, outer, copy);
    }
    clear->apart = false;
}

/* The statement of the block, with what must be cleared before it. */
static void
walk_stmt(Clear *clear, Stmt *s, bool inside)
{
    Groups groups;
    if (uses_of(s, clear->target->buf).touches > 0) {
        bool slab = clear->target->slab;
        reach_collect(clear, s, &groups);
        if (!inside && !rows_known(clear, &groups) && is_driver(clear, s)) {
            clear->target->slab = slab;
            walk_driver(clear, s);
            return;
        }
        Stmt *copy = clear_copy(clear, s);
        if (copy != NULL) {
            s = copy;
            clear->target->nests++;
        } else {
            clear_before(clear, s, &groups);
        }
    }
    if (clear->out != NULL && (!clear->apart || s->kind == S_LET)) {
        vec_push(clear->arena, clear->out, s);
    }
}

/* All that is in a row of "done": nothing yet. */
static void
push_done(Clear *clear)
{
    const Target *target = clear->target;
    Stmt *alloc = ir_stmt(clear->arena, S_ALLOC, target->fill->loc);
    Stmt *fill = ir_stmt(clear->arena, S_FILL, target->fill->loc);
    alloc->buf = target->done;
    fill->buf = target->done;
    fill->value = clear_number(clear, 0);
    vec_push(clear->arena, clear->out, alloc);
    vec_push(clear->arena, clear->out, fill);
}

static void
walk(Clear *clear, const Block *block, bool inside)
{
    bool filled = inside;
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s == clear->target->fill) {
            filled = true;
            if (clear->out != NULL) {
                push_done(clear);
            }
        } else if (filled) {
            walk_stmt(clear, s, inside);
        } else if (clear->out != NULL) {
            vec_push(clear->arena, clear->out, s);
        }
        bounds_after(clear->at.bounds, s);
        scope_show_after(&clear->scope, s);
    }
}

/* --- the pass ------------------------------------------------------------ */

/* The last axis of variable extent, if there is one before it and what is
 * behind it makes a column. */
bool
clear_column(Target *target)
{
    const Buf *buf = target->buf;
    int64_t size = 1;
    int64_t dim = 0;
    target->column = buf->rank - 1;
    while (target->column > 0 &&
           ir_const_int(buf->dims[target->column], &dim)) {
        size = dim < 0 || dim > MAX_COLUMN ? MAX_COLUMN + 1 : size * dim;
        if (size > MAX_COLUMN) {
            return false;
        }
        target->column--;
    }
    return target->column > 0;
}

/* Could 'fill' be spread?  Its array is seen by no one else, and every use of
 * it is of elements, from the fill on. */
static bool
is_target(const Func *func, const Stmt *fill, Target *target)
{
    *target = (Target){.fill = fill, .buf = fill->buf};
    const Buf *buf = fill->buf;
    if (buf->kind != BUF_LOCAL || buf->space != SPACE_HEAP ||
        buf->layout != LAYOUT_C || buf->growable || buf->group != NULL ||
        !ir_is_const(fill->value) || fill->value->lanes > 0 ||
        !clear_column(target)) {
        return false;
    }
    Uses all = uses_in(func, buf);
    return !all.other && all.fills == 1 && all.touches > 0 &&
           !uses_at_end(func, buf);
}

/* The function walked with 'target'; into 'out' unless that is NULL. */
static void
walk_func(Pass *pass, Func *func, Target *target, Tails *tails, Block *out)
{
    Clear clear = {.pass = pass, .func = func, .arena = pass->arena,
                   .target = target, .tails = tails, .out = out};
    clear.scope = scope_new(pass->scratch, func);
    clear.at = (Place){pass->arena, bounds_new(pass->arena, func),
                       &clear.scope};
    walk(&clear, &func->body, false);
}

/* Tries the fill at func->body[i]; true when the body is a new one. */
static bool
try_fill(Pass *pass, Func *func, int i, Tails *tails)
{
    Target target;
    Block out = {0};
    if (!is_target(func, func->body.at[i], &target)) {
        return false;
    }
    walk_func(pass, func, &target, tails, NULL);
    if (!target.slab || target.nests > MAX_NESTS) {
        return false;
    }
    target.done = ir_buf(func, "done", DT_I64, target.column, BUF_LOCAL);
    target.done->layout = LAYOUT_C;
    target.done->loc = target.fill->loc;
    for (int d = 0; d < target.column; d++) {
        target.done->dims[d] = target.buf->dims[d];
    }
    walk_func(pass, func, &target, tails, &out);
    diag_remark(pass->diags, DIAG_ZERO_FILL, target.fill->loc,
                "`%s` is cleared row by row, where it comes into use",
                target.buf->name);
    func->body = out;
    return true;
}

/* One fill after the other: each rebuilds the body.  Those of "done" that this
 * puts in have later ids, and stay. */
Func *
pass_clear(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    bool changed = false;
    Tails tails = {0};
    for (int i = 0; i < out->body.n; i++) {
        const Stmt *s = out->body.at[i];
        changed |= s->kind == S_FILL && s->buf->id < func->next_id &&
                   try_fill(pass, out, i, &tails);
    }
    return changed ? simplify(pass, out) : func;
}
