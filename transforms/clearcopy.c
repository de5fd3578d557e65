/* Copies of an array of which a part is in use.
 *
 *     for y in 0..h                      for y in 0..h
 *       for x in 0..w                      valid = min(done[l, y], w)
 *         out[l, y, x] = pyr[l, y, x]  ->  for x in 0..valid
 *                                            out[l, y, x] = pyr[l, y, x]
 *                                          for x in valid..w
 *                                            out[l, y, x] = 0.0
 *
 * Columns of 'pyr' from "done" on hold no value yet, so that they need neither
 * be cleared nor read.  The second loop, the tail, is shortened where 'out' is
 * such an array itself, filled with the same value: its own columns from "done"
 * on hold that already.
 *
 *     for x in valid..min(outdone[l, y], w)
 *       out[l, y, x] = 0.0
 *     outdone[l, y] = max(outdone[l, y], valid)
 */
#include "transforms/clear.h"

/* --- is it a copy? -------------------------------------------------------- */

/* The loop that is all of 'body' but for definitions that read nothing; NULL:
 * there is more in it. */
static const Stmt *
only_loop(const Block *body)
{
    const Stmt *last = body->n > 0 ? body->at[body->n - 1] : NULL;
    for (int i = 0; i + 1 < body->n; i++) {
        const Stmt *s = body->at[i];
        if (s->kind != S_LET || ir_has_load(s->value)) {
            return NULL;
        }
    }
    return last != NULL && last->kind == S_FOR ? last : NULL;
}

/* A loop of which nothing is carried, and that no round ends. */
static bool
is_plain(const Stmt *s)
{
    return s->kind == S_FOR && s->until == NULL && s->ncarries == 0 &&
           s->nbinds == 0;
}

/* The innermost loop of the perfect nest 'nest'; NULL: it is none, or there is
 * no loop around. */
static const Stmt *
innermost(const Stmt *nest)
{
    const Stmt *s = nest;
    while (is_plain(s)) {
        const Stmt *inner = only_loop(&s->body);
        if (inner == NULL) {
            return s != nest && !block_has_loop(&s->body) ? s : NULL;
        }
        s = inner;
    }
    return NULL;
}

/* 'index' in terms of what is known before the loop 'columns'; NULL: it changes
 * in that loop, or reads memory. */
static Expr *
outside(Arena *arena, const Stmt *columns, Expr *index)
{
    Map defs = map_new(arena);
    for (int i = 0; i < columns->body.n; i++) {
        const Stmt *s = columns->body.at[i];
        if (s->kind == S_LET && !ir_has_load(s->value)) {
            map_set(&defs, s->var, ir_subst(arena, s->value, &defs));
        }
    }
    Expr *e = ir_subst(arena, index, &defs);
    bool fixed = !ir_has_load(e) && !ir_uses(e, columns->var);
    for (int i = 0; i < columns->body.n && fixed; i++) {
        const Stmt *s = columns->body.at[i];
        fixed = s->kind != S_LET || !ir_uses(e, s->var);
    }
    return fixed ? e : NULL;
}

/* The row in which an access at 'index' runs over columns, one a round of the
 * loop 'columns'; NULL: it does not. */
static Expr **
row_of(Arena *arena, const Target *target, Expr *const *index,
       const Stmt *columns)
{
    const Expr *at = index[target->column];
    bool runs = ir_is_var(at, columns->var);
    Expr **row = ARENA_ARRAY(arena, Expr *, target->column);
    for (int i = 0; i < target->column && runs; i++) {
        row[i] = outside(arena, columns, index[i]);
        runs = row[i] != NULL;
    }
    return runs ? row : NULL;
}

/* The row of the target in which 'value', which is stored in the loop
 * 'columns', is loaded, perhaps by a name; NULL: it is something else. */
static Expr **
loaded_row(Arena *arena, const Target *target, const Stmt *columns,
           const Expr *value)
{
    for (int i = 0; i < columns->body.n && value->op == E_VAR; i++) {
        const Stmt *s = columns->body.at[i];
        value = s->kind == S_LET && s->var == value->var ? s->value : value;
    }
    return value->op == E_LOAD && value->buf == target->buf
               ? row_of(arena, target, value->args, columns)
               : NULL;
}

/* Are two rows the same? */
static bool
same_row(const Target *target, Expr *const *lhs, Expr *const *rhs)
{
    for (int i = 0; i < target->column; i++) {
        if (!ir_equal(lhs[i], rhs[i])) {
            return false;
        }
    }
    return true;
}

/* The row of the target that 'columns' copies to '*to', all that it does; NULL:
 * it does other things. */
static Expr **
copied_row(Arena *arena, const Target *target, const Stmt *columns, Buf **to)
{
    Expr **row = NULL;
    for (int i = 0; i < columns->body.n; i++) {
        const Stmt *s = columns->body.at[i];
        if (s->kind == S_LET) {
            continue;
        }
        Expr **next = s->kind == S_STORE && s->buf != target->buf
                          ? loaded_row(arena, target, columns, s->value)
                          : NULL;
        if (next == NULL || (row != NULL && (s->buf != *to ||
                                             !same_row(target, row, next)))) {
            return NULL;
        }
        *to = s->buf;
        row = next;
    }
    return row;
}

/* --- are whole columns written? ------------------------------------------- */

/* How many elements of a column 's' stores; 0: not known.  Those of a vector
 * are the last axis. */
static int64_t
stored(const Target *target, const Stmt *s)
{
    int64_t n = 1;
    for (int i = target->column + 1; i < s->nindex; i++) {
        if (!ir_is_const(s->index[i])) {
            return 0;
        }
    }
    for (int i = s->nindex; i < target->buf->rank; i++) {
        int64_t dim = 0;
        n *= ir_const_int(target->buf->dims[i], &dim) ? dim : 0;
    }
    return n;
}

/* Do two stores of one row go to different elements of its columns? */
static bool
differ(const Target *target, const Stmt *lhs, const Stmt *rhs)
{
    bool same = lhs->nindex == rhs->nindex;
    for (int i = target->column + 1; same && i < lhs->nindex; i++) {
        same = ir_equal(lhs->index[i], rhs->index[i]);
    }
    return lhs->nindex == rhs->nindex && !same;
}

/* How many elements a column has; 0: not known. */
static int64_t
column_size(const Target *target)
{
    int64_t size = 1;
    for (int i = target->column + 1; i < target->buf->rank; i++) {
        int64_t dim = 0;
        size *= ir_const_int(target->buf->dims[i], &dim) ? dim : 0;
    }
    return size;
}

/* Is the store body[at] to other elements than those before it? */
static bool
is_new(const Target *target, const Block *body, int at)
{
    bool is = true;
    for (int i = 0; i < at && is; i++) {
        const Stmt *s = body->at[i];
        is = s->kind != S_STORE || differ(target, s, body->at[at]);
    }
    return is;
}

/* The row of which the loop 'columns' writes whole columns, storing to nothing
 * else; NULL: it does not. */
static Expr **
filled_row(Arena *arena, const Target *target, const Stmt *columns)
{
    const Block *body = &columns->body;
    Expr **row = NULL;
    int64_t left = column_size(target);
    for (int i = 0; i < body->n; i++) {
        const Stmt *s = body->at[i];
        if (s->kind != S_STORE) {
            continue;
        }
        Expr **next = s->buf == target->buf
                          ? row_of(arena, target, s->index, columns)
                          : NULL;
        if (next == NULL || (row != NULL && !same_row(target, row, next)) ||
            !is_new(target, body, i)) {
            return NULL;
        }
        row = next;
        left -= stored(target, s);
    }
    return left == 0 ? row : NULL;
}

/* --- copies from the target ----------------------------------------------- */

/* What is put in place of the loop "columns" of "row". */
typedef struct Split {
    Clear *clear;
    const Stmt *columns;
    Expr *const *row;
} Split;

/* For ir_map_block: stores what the array copied from was filled with, and
 * reads nothing. */
static void
store_fill(void *data, Block *out, Stmt *s)
{
    Clear *clear = data;
    if (s->kind == S_STORE) {
        Stmt *store = ir_copy_stmt(clear->arena, s);
        Expr *value = clear->target->fill->value;
        int lanes = s->value->lanes;
        store->value =
            lanes > 0 ? ir_splat(clear->arena, value, lanes) : value;
        s = store;
    }
    if (s->kind == S_STORE || !ir_has_load(s->value)) {
        vec_push(clear->arena, out, s);
    }
}

/* Proposes elements or lanes for the loop of one store. */
static void
propose(const Clear *clear, const Stmt *tail)
{
    Pass *pass = clear->pass;
    const Stmt *s = tail->body.at[0];
    if (tail->body.n == 1 && s->nindex < s->buf->rank) {
        sched_add(pass->arena, pass->sched, DIR_FLATTEN, tail->id, 0, 0);
    }
    if (tail->body.n == 1) {
        sched_add(pass->arena, pass->sched, DIR_VECTORIZE, tail->id, 0, 0);
    }
}

/* The loop over the columns from 'valid' on. */
static Stmt *
tail_loop(const Split *split, Expr *valid)
{
    Clear *clear = split->clear;
    Stmt *columns = ir_copy_stmt(clear->arena, split->columns);
    Block one = {.at = &columns, .n = 1, .cap = 1};
    Map map = map_new(clear->arena);
    Block fresh = ir_clone(clear->func, &one, &map);
    Stmt *tail = ir_copy_stmt(clear->arena, fresh.at[0]);
    tail->lo = valid;
    tail->body = ir_map_block(clear->arena, &tail->body, store_fill, clear);
    Buf *buf = tail->body.at[tail->body.n - 1]->buf;
    const Tail known = {tail->id, valid, buf, clear->target->fill->value};
    vec_push(clear->arena, clear->tails, known);
    propose(clear, tail);
    return tail;
}

/* For ir_map_block: the loop over columns in two.  If it runs no round its row
 * may be outside of the array. */
static void
split_columns(void *data, Block *out, Stmt *s)
{
    const Split *split = data;
    Clear *clear = split->clear;
    if (s->id != split->columns->id || s->kind != S_FOR) {
        vec_push(clear->arena, out, s);
        return;
    }
    const Target *target = clear->target;
    Stmt *test = ir_stmt(clear->arena, S_IF, s->loc);
    test->value =
        ir_binary(clear->arena, E_LT, clear_number(clear, 0), s->hi);
    Expr *done =
        ir_load(clear->arena, target->done, split->row, target->column, 0);
    Expr *valid = clear_named(clear, &test->body, "valid",
                              ir_binary(clear->arena, E_MIN, done, s->hi));
    Stmt *head = ir_copy_stmt(clear->arena, s);
    head->hi = valid;
    vec_push(clear->arena, &test->body, head);
    vec_push(clear->arena, &test->body, tail_loop(split, valid));
    vec_push(clear->arena, out, test);
}

/* 's' with its 'columns', which copy from 'row', in two parts. */
static Stmt *
copy_used(Clear *clear, const Stmt *s, const Stmt *columns, Expr *const *row)
{
    Stmt *copy = ir_copy_stmt(clear->arena, s);
    Split split = {clear, columns, row};
    if (clear->out != NULL) {
        copy->body =
            ir_map_block(clear->arena, &s->body, split_columns, &split);
    }
    return copy;
}

/* --- copies to the target ------------------------------------------------- */

/* A tail of the target: "loop" is that in the nest; NULL: not found. */
typedef struct Find {
    Clear *clear;
    const Tail *tail;
    const Stmt *loop;
} Find;

/* For ir_each_stmt. */
static void
find_tail(void *data, Stmt *s)
{
    Find *find = data;
    const Clear *clear = find->clear;
    for (int i = 0; i < clear->tails->n && s->kind == S_FOR; i++) {
        const Tail *tail = &clear->tails->at[i];
        if (tail->loop == s->id && tail->buf == clear->target->buf &&
            ir_equal(tail->value, clear->target->fill->value)) {
            find->tail = tail;
            find->loop = s;
        }
    }
}

/* For ir_map_block: a shorter tail, and what the row then holds. */
static void
shorten_tail(void *data, Block *out, Stmt *s)
{
    const Find *find = data;
    Clear *clear = find->clear;
    Arena *arena = clear->arena;
    if (s->id != find->tail->loop || s->kind != S_FOR) {
        vec_push(arena, out, s);
        return;
    }
    const Target *target = clear->target;
    Expr *const *row = filled_row(arena, target, s);
    Expr *done = clear_named(
        clear, out, "done",
        ir_load(arena, target->done, row, target->column, 0));
    Stmt *tail = ir_copy_stmt(arena, s);
    tail->hi = ir_binary(arena, E_MIN, done, s->hi);
    vec_push(arena, out, tail);
    Expr *held = ir_binary(arena, E_MAX, done, find->tail->valid);
    vec_push(arena, out, ir_store(arena, target->done, row, target->column,
                                  held, target->fill->loc));
}

/* The copy that was split before, where all that it does to the target is to
 * write whole columns of a row, from the first on. */
static Stmt *
copy_into(Clear *clear, const Stmt *s)
{
    Find find = {.clear = clear};
    Stmt *copy = ir_copy_stmt(clear->arena, s);
    Block one = {.at = &copy, .n = 1, .cap = 1};
    ir_each_stmt(&one, find_tail, &find);
    if (find.loop == NULL || effects_reads(&one, clear->target->buf) ||
        filled_row(clear->arena, clear->target, find.loop) == NULL) {
        return NULL;
    }
    if (clear->out != NULL) {
        copy->body =
            ir_map_block(clear->arena, &s->body, shorten_tail, &find);
    }
    return copy;
}

/* --- all together --------------------------------------------------------- */

/* An array that is private to the function may be a target, too.  Then the
 * nest's box is no longer seen, and nothing is gained unless the tail can be
 * shortened. */
Stmt *
clear_copy(Clear *clear, const Stmt *s)
{
    const Target *target = clear->target;
    const Stmt *columns = innermost(s);
    Expr *const *row = NULL;
    Target other = {0};
    int64_t lo = -1;
    if (clear->apart || s->kind != S_FOR) {
        return NULL;
    }
    if (columns != NULL && ir_const_int(columns->lo, &lo) && lo == 0) {
        row = copied_row(clear->arena, target, columns, &other.buf);
    }
    if (row == NULL) {
        return copy_into(clear, s);
    }
    bool whole = clear_column(&other) &&
                 filled_row(clear->arena, &other, columns) != NULL;
    return whole || other.buf->kind != BUF_LOCAL
               ? copy_used(clear, s, columns, row)
               : NULL;
}
