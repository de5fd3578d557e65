/* Methods and operators of lists of run-time length.
 *
 *     stack.pop()       check 0 < n;  let k = n - 1;  item k;  set n = k
 *     stack.pop(i)      the items behind it move down by one
 *     lst.insert(i, x)  they move up, from the last to the first
 *     [0] * n           room for n;  for k in [0, n): store
 *     a[lo:hi]          a copy
 *
 * Whatever raises in Python -- an index out of range, an empty list -- is a
 * check.  The value of a method is held: its list may be changed again before
 * it is used.
 *
 * The order of the steps of each method is always the same, and matters: first
 * the arguments are evaluated, since they may change the list; then its length
 * is read; then there is made room (list_room), after which the buffers may lie
 * elsewhere; then items are stored; and the new length is set last, so that a
 * check that fails on the way leaves the list as long as it was.
 */
#include "csrc/lower/list.h"

/* --- making lists --------------------------------------------------------- */

/* Appends the items of a tuple, or of a list, perhaps the same: in
 * `a.extend(a)` the length of 'from' is read before that of 'list' is set, so
 * the loop copies the items that there were, and ends. */
static void
push_value(Lower *L, List *list, Value v, Loc loc)
{
    if (v.type->kind == TY_TUPLE && v.type->rank > 0) {
        list_push_all(L, list, v.items, v.type->rank, loc);
    }
    if (v.type->kind == TY_LIST) {
        const List *from = list_some(L, v, loc);
        Expr *n = list_length(L, list, loc);
        Expr *count = list_length(L, from, loc);
        Expr *more = reuse(L, op2(L, E_ADD, n, count), loc);
        list_room(L, list, more, loc);
        list_move(L, list, n, from, int_const(L, 0), count, loc);
        list_set_length(L, list, more, loc);
    }
}

/* Appends what an iterable gives.  The number of rounds is known before the
 * first item is computed, so room is made once; a range may count downwards to
 * nothing, whence the maximum with 0. */
static void
push_all(Lower *L, List *list, const AExpr *e)
{
    if (e->type->kind == TY_TUPLE || e->type->kind == TY_LIST) {
        Value v = hold_value(L, lower_expr(L, e), e->loc);
        push_value(L, list, v, e->loc);
        return;
    }
    Iter *it = open_iter(L, e);
    if (list_iterates_none(e)) {
        return; /* its items have no type */
    }
    Expr *count = reuse(L, iter_rounds(L, it, e->loc), e->loc);
    Expr *n = list_length(L, list, e->loc);
    Expr *zero = int_const(L, 0);
    count = reuse(L, op2(L, E_MAX, count, zero), e->loc);
    Expr *more = reuse(L, op2(L, E_ADD, n, count), e->loc);
    list_room(L, list, more, e->loc);
    Block *outer = L->out;
    Expr *k = list_loop(L, zero, count, e->loc);
    list_store(L, list, op2(L, E_ADD, n, k), iter_item(L, it, k), e->loc);
    L->out = outer;
    list_set_length(L, list, more, e->loc);
}

/* A new list of all that an iterable gives.  A value is evaluated before the
 * list is begun, because `a = list(a)` may use the same storage. */
static Value
lower_list(Lower *L, const AExpr *e)
{
    const AExpr *from = e->items.at[0];
    bool value = from->type->kind == TY_TUPLE || from->type->kind == TY_LIST;
    Value v = {.type = NULL};
    if (value) {
        v = hold_value(L, lower_expr(L, from), e->loc);
    }
    List *list = list_begin(L, e->type, e->loc);
    if (value) {
        push_value(L, list, v, e->loc);
    } else {
        push_all(L, list, from);
    }
    return list_value(e->type, list);
}

/* An integer as an index: of which kind makes no difference.  What may be a
 * float (of `n ** k`, say) must be the int: Python would raise. */
Value
list_index_value(Lower *L, const AExpr *e)
{
    Value v = some(L, lower_expr(L, e), e->loc);
    if (dtype_is_float(v.type->dtype)) {
        emit_check(L, flag_or_false(L, v.flag), X_SPECULATE, e->loc);
        v.expr = cast_to(L, DT_I64, v.expr);
        v.type = type_int(L->arena);
    }
    v.flag = NULL;
    return v;
}

/* --- methods -------------------------------------------------------------- */

/* An item that is taken out.  Without an index the new length is the place of
 * the item, and is known not to be negative, which spares later uses of it a
 * test.  With one, the items [k + 1, n) move to [k, n - 1), first to last, so
 * that none is overwritten before it was moved. */
static Value
lower_pop(Lower *L, const AExpr *e, List *list)
{
    Loc loc = e->loc;
    const AExpr *index = e->items.at[1];
    Expr *n = list_length(L, list, loc);
    Expr *one = int_const(L, 1);
    Expr *last = reuse(L, op2(L, E_SUB, n, one), loc);
    if (index == NULL) {
        emit_check(L, op2(L, E_LT, int_const(L, 0), n), X_INDEX, loc);
        map_set(&L->nonnegative, last->var, L);
        Value v = hold_value(L, list_load(L, list, last), loc);
        list_drop_last(L, list, last, loc);
        return v;
    }
    Expr *k = index_in(L, list_index_value(L, index), n, loc);
    k = reuse(L, hold(L, k, loc), loc);
    Value v = hold_value(L, list_load(L, list, k), loc);
    Expr *from = reuse(L, op2(L, E_ADD, k, one), loc);
    list_shift(L, list, k, from, n, loc);
    list_set_length(L, list, last, loc);
    return v;
}

/* Where list.insert puts an item, and where a slice begins or ends: never out
 * of range.  As PySlice_AdjustIndices has it, for n items
 *
 *     i < 0    max(i + n, 0)
 *     i >= 0   min(i, n)
 */
static Expr *
insert_place(Lower *L, Value index, Expr *n, Loc loc)
{
    Expr *zero = int_const(L, 0);
    Expr *i = reuse(L, hold(L, cast_to(L, DT_I64, index.expr), loc), loc);
    if (!is_nonnegative(L, i)) {
        Expr *wrapped = op2(L, E_MAX, op2(L, E_ADD, i, n), zero);
        i = ir_select(L->arena, op2(L, E_LT, i, zero), wrapped, i);
        i = reuse(L, i, loc);
    }
    return reuse(L, op2(L, E_MIN, i, n), loc);
}

/* Round k moves item n - 1 - k up by one, so from the last to the first; the
 * other way round each would overwrite the next. */
static void
lower_insert(Lower *L, const AExpr *e, List *list)
{
    Loc loc = e->loc;
    Value index = hold_value(L, list_index_value(L, e->items.at[1]), loc);
    Value item = hold_value(L, lower_expr(L, e->items.at[2]), loc);
    Expr *one = int_const(L, 1);
    Expr *n = list_length(L, list, loc);
    Expr *at = insert_place(L, index, n, loc);
    Expr *more = reuse(L, op2(L, E_ADD, n, one), loc);
    list_room(L, list, more, loc);
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), op2(L, E_SUB, n, at), loc);
    Expr *from = reuse(L, op2(L, E_SUB, op2(L, E_SUB, n, one), k), loc);
    Value v = list_load_raw(L, list, from);
    list_store_raw(L, list, op2(L, E_ADD, from, one), v, loc);
    L->out = outer;
    list_store(L, list, at, item, loc);
    list_set_length(L, list, more, loc);
}

/* Items change places in pairs: k and n - 1 - k for k < n // 2. Both are held
 * before either is stored. */
static void
lower_reverse(Lower *L, List *list, Loc loc)
{
    if (list->type->rank == 0) {
        return;
    }
    Expr *n = list_length(L, list, loc);
    Expr *half = op2(L, E_IDIV, n, int_const(L, 2));
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), half, loc);
    Expr *last = op2(L, E_SUB, n, int_const(L, 1));
    Expr *other = reuse(L, op2(L, E_SUB, last, k), loc);
    Value lhs = list_load_raw(L, list, k);
    Value rhs = list_load_raw(L, list, other);
    list_store_raw(L, list, k, rhs, loc);
    list_store_raw(L, list, other, lhs, loc);
    L->out = outer;
}

/* The first item that is equal to the argument is taken out. */
static void
lower_remove(Lower *L, const AExpr *e, List *list)
{
    Loc loc = e->loc;
    Expr *one = int_const(L, 1);
    Expr *at = list_find(L, list, lower_expr(L, e->items.at[1]), loc);
    emit_check(L, op2(L, E_LE, int_const(L, 0), at), X_VALUE, loc);
    Expr *n = list_length(L, list, loc);
    Expr *last = reuse(L, op2(L, E_SUB, n, one), loc);
    Expr *from = reuse(L, op2(L, E_ADD, at, one), loc);
    list_shift(L, list, at, from, n, loc);
    list_set_length(L, list, last, loc);
}

/* lst.index(x), lst.count(x) */
static Value
lower_search(Lower *L, const AExpr *e, BuiltinId id)
{
    Value args[2];
    lower_items(L, &e->items, args);
    List *list = list_some(L, args[0], e->loc);
    if (id == BUILTIN_LIST_COUNT) {
        return num_value(e->type, list_count(L, list, args[1], e->loc));
    }
    Expr *at = list_find(L, list, args[1], e->loc);
    emit_check(L, op2(L, E_LE, int_const(L, 0), at), X_VALUE, e->loc);
    if (at->op == E_VAR) {
        map_set(&L->nonnegative, at->var, L);
    }
    return num_value(e->type, at);
}

/* A flag that inference knows; it may be left out. */
static bool
is_true(const AExpr *e)
{
    bool truth = false;
    return e != NULL && type_truth(e->type, &truth) && truth;
}

/* Methods; those that change their list give None. */
static void
lower_change(Lower *L, const AExpr *e, BuiltinId id, List *list)
{
    switch ((int)id) {
    case BUILTIN_LIST_APPEND:
        list_push(L, list, lower_expr(L, e->items.at[1]), e->loc);
        break;
    case BUILTIN_DICT_PUT:
        hash_put(L, list, lower_expr(L, e->items.at[1]), e->loc);
        break;
    case BUILTIN_APPENDLEFT:
        lower_appendleft(L, list, lower_expr(L, e->items.at[1]), e->loc);
        break;
    case BUILTIN_LIST_EXTEND:
        push_all(L, list, e->items.at[1]);
        break;
    case BUILTIN_LIST_INSERT:
        lower_insert(L, e, list);
        break;
    case BUILTIN_LIST_CLEAR:
        list_set_length(L, list, int_const(L, 0), e->loc);
        break;
    case BUILTIN_LIST_SORT:
    case BUILTIN_LIST_BY_KEY:
        list_sort(L, list, is_true(e->items.at[1]), id == BUILTIN_LIST_BY_KEY,
                  e->loc);
        break;
    case BUILTIN_LIST_REMOVE:
        lower_remove(L, e, list);
        break;
    case BUILTIN_LIST_REVERSE:
        lower_reverse(L, list, e->loc);
        break;
    default:
        fatal("lower: `%s`", builtin_row(id)->name);
    }
}

/* A call by the row of its function: what makes a list, then what asks one,
 * then what changes one. */
Value
lower_list_call(Lower *L, const AExpr *e, BuiltinId id)
{
    if (id == BUILTIN_LIST_OF || id == BUILTIN_LIST_SORTED) {
        Value v = lower_list(L, e);
        if (id == BUILTIN_LIST_SORTED) {
            List *list = list_some(L, v, e->loc);
            list_sort(L, list, is_true(e->items.at[1]), false, e->loc);
        }
        return v;
    }
    if (id == BUILTIN_LIST_HAS) {
        Value args[2];
        lower_items(L, &e->items, args);
        if (e->type->known) {
            return value_of_type(L, e->type);
        }
        List *where = list_some(L, args[0], e->loc);
        Expr *found = list_find(L, where, args[1], e->loc);
        found = op2(L, E_LE, int_const(L, 0), found);
        return num_value(e->type, found);
    }
    if (id == BUILTIN_DICT_FIND) {
        Value args[2];
        lower_items(L, &e->items, args);
        List *keys = list_some(L, args[0], e->loc);
        return num_value(e->type, hash_find(L, keys, args[1], e->loc));
    }
    if (id == BUILTIN_LIST_INDEX || id == BUILTIN_LIST_COUNT) {
        return lower_search(L, e, id);
    }
    if (id == BUILTIN_LIST_COPY) {
        List *copy = list_begin(L, e->type, e->loc);
        push_all(L, copy, e->items.at[0]);
        return list_value(e->type, copy);
    }
    Value self = lower_expr(L, e->items.at[0]);
    List *list = list_some(L, self, e->loc);
    if (id == BUILTIN_LIST_POP) {
        return lower_pop(L, e, list);
    }
    if (id == BUILTIN_POPLEFT) {
        return lower_popleft(L, list, e->loc);
    }
    lower_change(L, e, id, list);
    return value_of_type(L, e->type);
}

/* --- operators ------------------------------------------------------------ */

/* Tuples of known length are multiplied by known counts in inference; what is
 * left here for a list display is a count that only the run knows. */
bool
list_operator(const AExpr *e)
{
    const Type *lhs = e->lhs->type;
    const Type *rhs = e->rhs->type;
    bool lists = lhs->kind == TY_LIST || rhs->kind == TY_LIST;
    bool tuple = (lhs->kind == TY_TUPLE && lhs->is_list) ||
                 (rhs->kind == TY_TUPLE && rhs->is_list);
    return lists || (e->op == AO_MUL && tuple);
}

/* 'times' copies of the items of a fixed list: copy k has its item i at k * n +
 * i.  The product is checked, for a length beyond 63 bits would be a small one
 * here, and MemoryError in Python. */
static void
repeat_items(Lower *L, List *list, Value items, Expr *times, Loc loc)
{
    int n = items.type->rank;
    Expr *each = int_const(L, n);
    emit_check(L, not_(L, op2(L, E_MULO, times, each)), X_MEMORY, loc);
    Expr *total = reuse(L, op2(L, E_MUL, times, each), loc);
    list_room(L, list, total, loc);
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), times, loc);
    Expr *first = n == 1 ? k : reuse(L, op2(L, E_MUL, k, each), loc);
    for (int i = 0; i < n; i++) {
        Expr *at = i ? op2(L, E_ADD, first, int_const(L, i)) : first;
        list_store(L, list, at, items.items[i], loc);
    }
    L->out = outer;
    list_set_length(L, list, total, loc);
}

/* 'times' copies of a list: copy k begins at k * n. */
static void
repeat_list(Lower *L, List *list, const List *from, Expr *times, Loc loc)
{
    Expr *n = list_length(L, from, loc);
    Expr *zero = int_const(L, 0);
    emit_check(L, not_(L, op2(L, E_MULO, times, n)), X_MEMORY, loc);
    Expr *total = reuse(L, op2(L, E_MUL, times, n), loc);
    list_room(L, list, total, loc);
    Block *outer = L->out;
    Expr *k = list_loop(L, zero, times, loc);
    Expr *first = reuse(L, op2(L, E_MUL, k, n), loc);
    list_move(L, list, first, from, zero, n, loc);
    L->out = outer;
    list_set_length(L, list, total, loc);
}

/* a * n: a negative count is none.  Both sides are evaluated in the order in
 * which they stand, whichever is the list. */
static Value
lower_repeat(Lower *L, const AExpr *e)
{
    Loc loc = e->loc;
    bool left = e->lhs->type->kind != TY_NUM;
    Value lhs = left ? lower_expr(L, e->lhs) : list_index_value(L, e->lhs);
    lhs = hold_value(L, lhs, loc);
    Value rhs = left ? list_index_value(L, e->rhs) : lower_expr(L, e->rhs);
    rhs = hold_value(L, rhs, loc);
    Value items = left ? lhs : rhs;
    Expr *times = cast_to(L, DT_I64, left ? rhs.expr : lhs.expr);
    times = reuse(L, times, loc);
    if (!is_nonnegative(L, times)) {
        times = reuse(L, op2(L, E_MAX, times, int_const(L, 0)), loc);
        map_set(&L->nonnegative, times->var, L);
    }
    List *list = list_begin(L, e->type, loc);
    if (items.type->kind == TY_LIST) {
        repeat_list(L, list, list_some(L, items, loc), times, loc);
    } else if (items.type->rank > 0) {
        repeat_items(L, list, items, times, loc);
    }
    return list_value(e->type, list);
}

/* a + b: a new list. Both are held, for the new one may use the storage of a
 * list that the right side made. */
static Value
lower_concat(Lower *L, const AExpr *e)
{
    Value lhs = hold_value(L, lower_expr(L, e->lhs), e->loc);
    Value rhs = hold_value(L, lower_expr(L, e->rhs), e->loc);
    List *list = list_begin(L, e->type, e->loc);
    push_value(L, list, lhs, e->loc);
    push_value(L, list, rhs, e->loc);
    return list_value(e->type, list);
}

Value
lower_list_binop(Lower *L, const AExpr *e)
{
    return e->op == AO_MUL ? lower_repeat(L, e) : lower_concat(L, e);
}

/* --- subscripts ----------------------------------------------------------- */

Value
lower_list_subscript(Lower *L, Value base, const AExpr *e)
{
    List *list = list_some(L, base, e->loc);
    const AExpr *item = e->items.at[0];
    if (item->kind == A_SLICE) {
        return lower_list_slice(L, list, e);
    }
    Value index = list_index_value(L, item);
    Expr *n = list_length(L, list, e->loc);
    Expr *at = index_in(L, index, n, e->loc);
    Value v = list_load(L, list, hold(L, at, e->loc));
    return v.lazy ? v : list_settle_items(L, v, e->loc);
}

/* a[i] = v: the value comes first, then the list and the index. */
void
lower_list_store(Lower *L, const AExpr *target, Value v)
{
    Loc loc = target->loc;
    v = hold_value(L, v, loc);
    List *list = list_some(L, lower_expr(L, target->lhs), loc);
    Value index = list_index_value(L, target->items.at[0]);
    Expr *n = list_length(L, list, loc);
    Expr *at = hold(L, index_in(L, index, n, loc), loc);
    list_replace(L, list, at, v, loc);
}

/* a[i] op= v: the old item is read before v is evaluated.  v may call a
 * function that pops from the list, so that item i is gone when the result is
 * stored; should the length differ then, Python decides. */
void
lower_list_aug(Lower *L, const AStmt *s, const AExpr *target)
{
    Loc loc = target->loc;
    List *list = list_some(L, lower_expr(L, target->lhs), loc);
    Value index = list_index_value(L, target->items.at[0]);
    Expr *n = list_length(L, list, loc);
    Expr *at = reuse(L, hold(L, index_in(L, index, n, loc), loc), loc);
    Value old = hold_value(L, list_load(L, list, at), loc);
    Value by = lower_expr(L, s->value);
    if (has_user_call(s->value)) {
        Expr *same = op2(L, E_EQ, n, list->length);
        emit_check(L, same, X_SPECULATE, loc);
    }
    list_replace(L, list, at, num_binop(L, s->op, old, by, s->loc), loc);
}

/* a, b = list: the lengths must agree (ValueError), and all items are read
 * before anything is assigned, since a target may be an item of the list. */
void
lower_list_unpack(Lower *L, const AExpr *target, Value v)
{
    Loc loc = target->loc;
    int n = target->items.n;
    List *list = list_some(L, v, loc);
    Expr *same = op2(L, E_EQ, list->length, int_const(L, n));
    emit_check(L, same, X_VALUE, loc);
    Value *items = ARENA_ARRAY(L->arena, Value, n + 1);
    for (int i = 0; i < n; i++) {
        items[i] = hold_value(L, list_load(L, list, int_const(L, i)), loc);
    }
    for (int i = 0; i < n; i++) {
        assign_target(L, target->items.at[i], items[i]);
    }
}
