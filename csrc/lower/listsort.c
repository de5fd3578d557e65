/* Sorting lists of run-time length, and looking for an item.
 *
 *     for i in [lo + 1, hi):          runs of RUN items by insertion
 *     for w = RUN, 2 RUN, ... < n:    pairs of them are merged into other
 *                                     memory, and copied back
 *
 * Both steps keep the order of equal items, as Python's does; which of two
 * equal items comes first can be seen where they are 0.0 and -0.0, or True and
 * 1.  Every stable sort gives the same list, so it need not be Timsort.  A nan
 * has no place in an order, and the result would be that of Timsort's choice of
 * comparisons, so a list with one is left to Python.
 *
 * Insertion is the faster one for a few items, and merging takes n log n steps
 * in any case: 1000 items are 63 runs and 6 passes.
 */
#include "csrc/lower/list.h"

/* Items that are sorted by insertion. */
enum { RUN = 16 };

/* --- order ---------------------------------------------------------------- */

/* Two numbers compared, without an effect. */
static Expr *
compare(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    return num_binop(L, op, lhs, rhs, loc).expr;
}

/* Tuples are ordered by the first items that differ: (a, b) < (c, d) is a < c
 * or not c < a and b < d, from the last item to the first. */
static Expr *
less(Lower *L, Value lhs, Value rhs, Loc loc)
{
    if (lhs.type->kind != TY_TUPLE) {
        return compare(L, AO_LT, lhs, rhs, loc);
    }
    Expr *result = ir_bool(L->arena, false);
    for (int i = lhs.type->rank - 1; i >= 0; i--) {
        Expr *here = less(L, lhs.items[i], rhs.items[i], loc);
        Expr *above = less(L, rhs.items[i], lhs.items[i], loc);
        result = either(L, here, both(L, not_(L, above), result));
    }
    return result;
}

/* How the list is sorted: "by_key" by the first parts of pairs. */
typedef struct Order {
    bool down;
    bool by_key;
    Loc loc;
} Order;

/* What decides about item 'k', held. */
static Value
key_at(Lower *L, const List *list, Expr *k, const Order *o)
{
    Value v = list_load(L, list, k);
    return hold_value(L, o->by_key ? v.items[0] : v, o->loc);
}

/* Does 'lhs' come before 'rhs', whatever their order was? With 'down' the order
 * is turned round, but equal items keep theirs, as with reverse=True in Python.
 */
static Expr *
before(Lower *L, Value lhs, Value rhs, const Order *o)
{
    return o->down ? less(L, rhs, lhs, o->loc) : less(L, lhs, rhs, o->loc);
}

Expr *
list_equal(Lower *L, Value lhs, Value rhs, Loc loc)
{
    if (lhs.type->kind != TY_TUPLE) {
        return compare(L, AO_EQ, lhs, rhs, loc);
    }
    Expr *all = ir_bool(L->arena, true);
    for (int i = 0; i < lhs.type->rank; i++) {
        all = both(L, all, list_equal(L, lhs.items[i], rhs.items[i], loc));
    }
    return all;
}

/* No part of the item is a nan; NULL: none can be. */
static Expr *
no_nan(Lower *L, Value v)
{
    if (v.type->kind == TY_NUM) {
        return dtype_is_float(v.type->dtype)
                   ? not_(L, call_fn(L, FN_ISNAN, DT_BOOL, v.expr, NULL))
                   : NULL;
    }
    Expr *all = NULL;
    for (int i = 0; v.type->kind == TY_TUPLE && i < v.type->rank; i++) {
        all = both(L, all, no_nan(L, v.items[i]));
    }
    return all;
}

/* Leaves lists with a nan to Python. */
static void
check_no_nan(Lower *L, const List *list, Expr *n, const Order *o)
{
    Value any = list_load(L, list, int_const(L, 0));
    if (no_nan(L, o->by_key ? any.items[0] : any) == NULL) {
        return;
    }
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), n, o->loc);
    Value v = key_at(L, list, k, o);
    emit_check(L, no_nan(L, v), X_SPECULATE, o->loc);
    L->out = outer;
}

/* --- insertion ------------------------------------------------------------ */

/* while true { ... } until the caller puts L->out back. */
static void
forever(Lower *L, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_WHILE, loc);
    s->id = L->func->next_id++;
    s->value = ir_bool(L->arena, true);
    emit(L, s);
    L->out = &s->body;
}

/* if !cond { break } */
static void
break_unless(Lower *L, Expr *cond, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = not_(L, cond);
    vec_push(L->arena, &s->body, ir_stmt(L->arena, S_BREAK, loc));
    emit(L, s);
}

/* Puts item 'i' where it belongs among those from 'lo' on before it: the items
 * that are greater move up by one.  Strictly greater, so equal ones keep their
 * order. */
static void
insert_item(Lower *L, const List *list, Expr *lo, Expr *i, const Order *o)
{
    Loc loc = o->loc;
    Expr *one = int_const(L, 1);
    Value x = key_at(L, list, i, o);
    Value whole = list_load_raw(L, list, i);
    Var *at = set_var(L, "j", DT_I64, 0);
    emit_set(L, at, i, loc);
    Block *outer = L->out;
    forever(L, loc);
    Expr *j = hold(L, ir_ref(L->arena, at), loc);
    break_unless(L, op2(L, E_LT, lo, j), loc);
    Expr *prev = reuse(L, op2(L, E_SUB, j, one), loc);
    break_unless(L, before(L, x, key_at(L, list, prev, o), o), loc);
    list_store_raw(L, list, j, list_load_raw(L, list, prev), loc);
    emit_set(L, at, prev, loc);
    L->out = outer;
    list_store_raw(L, list, hold(L, ir_ref(L->arena, at), loc), whole, loc);
}

/* Sorts runs of RUN items each. */
static void
sort_runs(Lower *L, const List *list, Expr *n, const Order *o)
{
    Loc loc = o->loc;
    Block *outer = L->out;
    Expr *size = int_const(L, RUN);
    Expr *up = op2(L, E_ADD, n, int_const(L, RUN - 1));
    Expr *k = list_loop(L, int_const(L, 0), op2(L, E_IDIV, up, size), loc);
    Expr *lo = reuse(L, op2(L, E_MUL, k, size), loc);
    Expr *hi = reuse(L, op2(L, E_MIN, op2(L, E_ADD, lo, size), n), loc);
    Expr *first = op2(L, E_ADD, lo, int_const(L, 1));
    map_set(&L->nonnegative, first, L);
    Expr *i = list_loop(L, first, hi, loc);
    insert_item(L, list, lo, i, o);
    L->out = outer;
}

/* --- merging -------------------------------------------------------------- */

/* Merges [lo, mid) and [mid, hi) of 'from' into 'to'.  Round 'at' takes the
 * item at i of the left run or at j of the right one; of equal items the left
 * one. Both are loaded without a branch, whence the minimum with the last
 * index, and one select decides. */
static void
merge(Lower *L, const List *to, const List *from, Expr *lo, Expr *mid, Expr *hi,
      const Order *o)
{
    Loc loc = o->loc;
    Expr *last = reuse(L, op2(L, E_SUB, hi, int_const(L, 1)), loc);
    Var *left = set_var(L, "i", DT_I64, 0);
    Var *right = set_var(L, "j", DT_I64, 0);
    emit_set(L, left, lo, loc);
    emit_set(L, right, mid, loc);
    Expr *at = list_loop(L, lo, hi, loc);
    Expr *i = hold(L, ir_ref(L->arena, left), loc);
    Expr *j = hold(L, ir_ref(L->arena, right), loc);
    Value x = key_at(L, from, reuse(L, op2(L, E_MIN, i, last), loc), o);
    Value y = key_at(L, from, reuse(L, op2(L, E_MIN, j, last), loc), o);
    Expr *ahead = both(L, op2(L, E_LT, j, hi), before(L, y, x, o));
    Expr *second = reuse(L, either(L, op2(L, E_LE, mid, i), ahead), loc);
    Expr *taken = reuse(L, ir_select(L->arena, second, j, i), loc);
    list_store(L, to, at, list_load(L, from, taken), loc);
    Expr *step = reuse(L, cast_to(L, DT_I64, second), loc);
    emit_set(L, right, op2(L, E_ADD, j, step), loc);
    emit_set(L, left, op2(L, E_ADD, i, op2(L, E_SUB, int_const(L, 1), step)),
             loc);
}

/* Runs of RUN, 2 RUN, 4 RUN ... items are merged in pairs. */
static void
merge_runs(Lower *L, const List *list, Expr *n, const Order *o)
{
    Loc loc = o->loc;
    Block *outer = L->out;
    Expr *zero = int_const(L, 0);
    List *other = list_scratch(L, list->type, loc);
    list_room(L, other, n, loc);
    Var *width = set_var(L, "width", DT_I64, 0);
    emit_set(L, width, int_const(L, RUN), loc);
    forever(L, loc);
    Block *pass = L->out;
    Expr *w = hold(L, ir_ref(L->arena, width), loc);
    break_unless(L, op2(L, E_LT, w, n), loc);
    Expr *two = reuse(L, op2(L, E_ADD, w, w), loc);
    Expr *up = op2(L, E_ADD, n, op2(L, E_SUB, two, int_const(L, 1)));
    Expr *k = list_loop(L, zero, op2(L, E_IDIV, up, two), loc);
    Expr *lo = reuse(L, op2(L, E_MUL, k, two), loc);
    Expr *mid = reuse(L, op2(L, E_MIN, op2(L, E_ADD, lo, w), n), loc);
    Expr *hi = reuse(L, op2(L, E_MIN, op2(L, E_ADD, lo, two), n), loc);
    merge(L, other, list, lo, mid, hi, o);
    L->out = pass;
    list_move(L, list, zero, other, zero, n, loc);
    emit_set(L, width, two, loc);
    L->out = outer;
}

/* list.sort(), 'by_key' of pairs by their first parts: a list of up to RUN
 * items is sorted by insertion alone, and needs no other memory. */
void
list_sort(Lower *L, List *list, bool down, bool by_key, Loc loc)
{
    const Order order = {.down = down, .by_key = by_key, .loc = loc};
    if (list->type->rank == 0) {
        return;
    }
    Expr *n = list_length(L, list, loc);
    check_no_nan(L, list, n, &order);
    sort_runs(L, list, n, &order);
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = op2(L, E_LT, int_const(L, RUN), n);
    Block *outer = L->out;
    L->out = &s->body;
    merge_runs(L, list, n, &order);
    L->out = outer;
    emit(L, s);
}

/* --- search --------------------------------------------------------------- */

/* 'x', with no nan in it: that is equal to itself if it is the same object,
 * which only Python knows. */
static Value
sought(Lower *L, Value x, Loc loc)
{
    x = hold_value(L, x, loc);
    emit_check(L, no_nan(L, x), X_SPECULATE, loc);
    return x;
}

/* The number of the first item that is equal to 'x', -1: there is none. */
Expr *
list_find(Lower *L, List *list, Value x, Loc loc)
{
    Var *found = set_var(L, "found", DT_I64, 0);
    x = sought(L, x, loc);
    emit_set(L, found, int_const(L, -1), loc);
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), list_length(L, list, loc), loc);
    Value v = hold_value(L, list_load(L, list, k), loc);
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = list_equal(L, v, x, loc);
    vec_push(L->arena, &s->body, ir_set(L->arena, found, k, loc));
    vec_push(L->arena, &s->body, ir_stmt(L->arena, S_BREAK, loc));
    emit(L, s);
    L->out = outer;
    return hold(L, ir_ref(L->arena, found), loc);
}

/* How many items are equal to 'x'. */
Expr *
list_count(Lower *L, List *list, Value x, Loc loc)
{
    Var *count = set_var(L, "count", DT_I64, 0);
    emit_set(L, count, int_const(L, 0), loc);
    if (list->type->rank > 0) {
        x = sought(L, x, loc);
        Block *outer = L->out;
        Expr *n = list_length(L, list, loc);
        Expr *k = list_loop(L, int_const(L, 0), n, loc);
        Value v = hold_value(L, list_load(L, list, k), loc);
        Expr *one = cast_to(L, DT_I64, list_equal(L, v, x, loc));
        emit_set(L, count, op2(L, E_ADD, ir_ref(L->arena, count), one), loc);
        L->out = outer;
    }
    return hold(L, ir_ref(L->arena, count), loc);
}
