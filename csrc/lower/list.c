/* Lists of run-time length: their storage.
 *
 *     stack.append((y, x))   grow &y to n + 1;  store &y[n] = y
 *                            grow &x to n + 1;  store &x[n] = x;  set n = n + 1
 *     y, x = stack.pop()     check 0 < n;  set n = n - 1;  y = &y[n], x = &x[n]
 *
 * A list of tuples is kept by columns: one buffer for all first numbers, one
 * for all second ones, and one of flags for a number that may be None or of a
 * second type.  So every buffer has elements of one dtype, and a loop over one
 * of the numbers walks memory in order.
 *
 * The number of the object in the list's type leads to its storage, so two
 * names of one list are one storage without further ado.  It is made where the
 * list is, so that each round of a parallel loop has its own; or, if the list
 * is named outside of that block, at the beginning of the function.
 *
 * Where two lists meet under one name, the items of one are copied into the
 * other; inference has made sure that nobody can tell.  Several such copies at
 * one place happen at once: in `a, b = b, a` each list takes what the other had
 * before, so a list that is both read and overwritten is copied aside first.
 *
 * Lengths are Python's: they are read again whenever they are needed, as any
 * call in between may change them.
 */
#include <string.h>

#include "csrc/lower/list.h"

/* --- storage -------------------------------------------------------------- */

/* The columns of a tuple, of an object, of a complex number or of a small
 * array. */
static int
count_items(const Type *type)
{
    bool parts = type_is_pack(type) || type->kind == TY_COMPLEX;
    return parts ? type->rank : type_is_vector(type) ? type_lanes(type) : 0;
}

/* None needs none; a list of a heap is a number. */
Column
list_column(Lower *L, const Type *type, const char *name, Loc loc)
{
    Column column = {.type = type};
    if (type->kind == TY_NUM) {
        column.buf = list_buffer(L, name, type->dtype, loc);
        if (type->alt != ALT_NEVER) {
            column.flag = list_buffer(L, "alt", DT_BOOL, loc);
        }
    } else if (type->kind == TY_LIST) {
        column.buf = list_buffer(L, name, DT_I64, loc);
    } else if (type_is_memory(type)) {
        array_column(L, &column, name, loc);
        return column;
    }
    int n = count_items(type);
    column.nitems = n;
    column.items = n ? ARENA_ARRAY(L->arena, Column, n) : NULL;
    for (int i = 0; i < n; i++) {
        const Type *item = type->kind == TY_ARRAY
                               ? type_num(L->arena, type->dtype, false)
                               : type->items[i];
        column.items[i] = list_column(L, item, name, loc);
    }
    if (type->kind == TY_COMPLEX && type->alt != ALT_NEVER) {
        column.flag = list_buffer(L, "alt", DT_BOOL, loc);
    }
    return column;
}

/* Storage whose buffers are made where L->out is. The length is a variable that
 * is SET, and is never negative, which spares indices that are made of it a
 * test. */
static List *
new_list(Lower *L, const Type *type, Loc loc)
{
    List *list = ARENA_NEW(L->arena, List);
    list->type = type;
    list->ret = -1;
    list->arg = -1;
    list->var = set_var(L, "n", DT_I64, 0);
    list->length = ir_ref(L->arena, list->var);
    map_set(&L->nonnegative, list->var, L);
    if (type->name == sym("dict")) {
        list->size = set_var(L, "size", DT_I64, 0);
        list->table = list_buffer(L, "table", DT_I64, loc);
    }
    if (type->name == sym("deque")) {
        list->head = set_var(L, "head", DT_I64, 0);
        map_set(&L->nonnegative, list->head, L);
    }
    if (type->rank > 0) {
        const char *name = L->hint ? L->hint : "list";
        list->column = list_column(L, type->items[0], name, loc);
    }
    return list;
}

/* The same at the beginning of the function, where it is visible from
 * everywhere below: for a list that leaves the block in which it is made. */
static List *
new_list_early(Lower *L, const Type *type)
{
    Block *outer = L->out;
    L->out = &L->prologue;
    List *list = new_list(L, type, L->func->loc);
    L->out = outer;
    return list;
}

List *
list_scratch(Lower *L, const Type *type, Loc loc)
{
    return new_list(L, type, loc);
}

/* Objects are numbers, maps take pointers. */
static const void *
key_of(const Type *type)
{
    return (const void *)(intptr_t)type->object;
}

/* A list that is read before it was made here, as the target of a join, gets
 * its storage at the beginning of the function. */
List *
list_of(Lower *L, const Type *type)
{
    List *list = map_get(&L->lists, key_of(type));
    if (list == NULL) {
        list = new_list_early(L, type);
        map_set(&L->lists, key_of(type), list);
    }
    return list;
}

/* In a loop this runs once a round: the storage is the same, and is emptied.
 * Its buffers keep the memory that they have grown to. */
List *
list_begin(Lower *L, const Type *type, Loc loc)
{
    if (type->ref) {
        return heap_begin(L, type, loc);
    }
    List *list = map_get(&L->lists, key_of(type));
    if (list == NULL) {
        list = type->memory ? new_list_early(L, type) : new_list(L, type, loc);
        map_set(&L->lists, key_of(type), list);
    }
    list_set_length(L, list, int_const(L, 0), loc);
    return list;
}

List *
list_some(Lower *L, Value v, Loc loc)
{
    if (v.type->alt != ALT_NEVER && v.flag != NULL) {
        emit_check(L, not_(L, v.flag), X_TYPE, loc);
    }
    if (v.type->ref) {
        return heap_list(L, v.type, v.expr, loc);
    }
    return v.list ? v.list : list_of(L, v.type);
}

Value
list_value(const Type *type, List *list)
{
    if (type->ref) {
        return (Value){.type = type, .expr = list->id};
    }
    return (Value){.type = type, .list = list};
}

/* --- arguments ------------------------------------------------------------ */

/* A column of an argument with 'rank' axes. */
static Buf *
param_buffer(Lower *L, const char *name, DType dtype, int rank)
{
    Buf *buf = ir_buf(L->func, name, dtype, rank, BUF_ARG);
    buf->arg = L->func->params.n;
    buf->layout = LAYOUT_C;
    Param param = {.name = sym(name), .buf = buf};
    vec_push(L->arena, &L->func->params, param);
    return buf;
}

/* Columns in the order in which the dispatcher fills them. */
static Column
param_column(Lower *L, const Type *type, const char *name, int rank)
{
    Column column = {.type = type};
    if (type->kind == TY_NUM) {
        column.buf = param_buffer(L, name, type->dtype, rank);
        if (type->alt != ALT_NEVER) {
            column.flag = param_buffer(L, "alt", DT_BOOL, rank);
        }
    } else if (type_is_pack(type) || type->kind == TY_COMPLEX) {
        column.nitems = type->rank;
        column.items = ARENA_ARRAY(L->arena, Column, type->rank + 1);
        for (int i = 0; i < type->rank; i++) {
            column.items[i] = param_column(L, type->items[i], name, rank);
        }
    }
    return column;
}

/* A list argument is a length and a buffer per number of an item, filled by the
 * dispatcher (csrc/py/lists.c).  A list of lists of equal lengths is an array
 * with an axis for each, of which the extents are the lengths. */
List *
list_parameter(Lower *L, const Type *type, const char *name, int sig)
{
    Var *var = ir_var(L->func, "n", DT_I64, 0);
    Param param = {.name = sym(name), .var = var};
    vec_push(L->arena, &L->func->params, param);
    map_set(&L->nonnegative, var, var);
    List *list = ARENA_NEW(L->arena, List);
    list->type = type;
    list->ret = -1;
    list->arg = sig;
    list->length = ir_ref(L->arena, var);
    int rank = 0;
    const Type *item = type;
    for (; item->kind == TY_LIST && item->rank > 0; rank++) {
        item = item->items[0];
    }
    if (item->kind != TY_LIST) {
        list->column = param_column(L, item, name, rank);
    }
    map_set(&L->lists, key_of(type), list);
    return list;
}

/* In SET variables, which are visible wherever the row is named: the indices of
 * a row are Vars of loops, which end before the name does. */
List *
list_pinned(Lower *L, List *list, Loc loc)
{
    if (list == NULL || list->depth == 0) {
        return list;
    }
    List *copy = arena_copy(L->arena, list, sizeof(*copy));
    for (int i = 0; i < list->depth; i++) {
        if (list->at[i]->op != E_CONST) {
            Var *var = set_var(L, "at", DT_I64, 0);
            emit_set(L, var, list->at[i], loc);
            map_set(&L->nonnegative, var, var);
            copy->at[i] = ir_ref(L->arena, var);
        }
    }
    return copy;
}

/* --- items ---------------------------------------------------------------- */

static Value column_load(Lower *L, const Column *column, Expr *const *at,
                         int rank);

/* A small array of the numbers in the columns. */
static Value
load_vector(Lower *L, const Column *column, Expr *const *at, int rank)
{
    Expr *vec = NULL;
    for (int i = 0; i < column->nitems; i++) {
        Expr *e = column_load(L, &column->items[i], at, rank).expr;
        vec = vec ? ir_insert(L->arena, vec, int_const(L, i), e)
                  : ir_splat(L->arena, e, column->nitems);
    }
    return num_value(column->type, vec);
}

/* The item of a column at these indices. */
static Value
column_load(Lower *L, const Column *column, Expr *const *at, int rank)
{
    if (column->start != NULL) {
        return array_column_load(L, column, at[rank - 1]);
    }
    if (column->type->kind == TY_ARRAY) {
        return load_vector(L, column, at, rank);
    }
    Value v = value_of_type(L, column->type);
    if (column->buf != NULL) {
        v.expr = ir_load(L->arena, column->buf, at, rank, 0);
    }
    if (column->flag != NULL) {
        v.flag = ir_load(L->arena, column->flag, at, rank, 0);
    }
    for (int i = 0; i < column->nitems; i++) {
        v.items[i] = column_load(L, &column->items[i], at, rank);
    }
    return v;
}

/* Where item 'k' is. */
static Expr *
place_of(Lower *L, const List *list, Expr *k)
{
    if (list->heap != NULL) {
        return heap_place(L, list, k);
    }
    return list->head ? op2(L, E_ADD, ir_ref(L->arena, list->head), k) : k;
}

/* Any buffer of the column; NULL: it has none. */
static Buf *
any_buffer(const Column *column)
{
    Buf *buf = column->buf;
    for (int i = 0; i < column->nitems && !buf; i++) {
        buf = any_buffer(&column->items[i]);
    }
    return buf;
}

/* The list that item 'k' is: the same buffers, with one more index fixed.  Its
 * length is the extent of the next axis, since rows are as long as each other.
 */
static Value
load_row(Lower *L, const List *list, Expr *k)
{
    List *row = arena_copy(L->arena, list, sizeof(*row));
    Buf *buf = any_buffer(&list->column);
    row->type = list->type->items[0];
    row->at[row->depth++] = k;
    row->ret = -1;
    row->arg = -1;
    row->length = buf ? buf->dims[row->depth] : int_const(L, 0);
    return list_value(row->type, row);
}

/* Item 'k': a row of a list of lists, else the numbers of its columns. */
Value
list_load(Lower *L, const List *list, Expr *k)
{
    const Type *item = list->type->items[0];
    if (item->kind == TY_LIST && !item->ref) {
        return load_row(L, list, k);
    }
    Expr *at[MAX_RANK];
    memcpy(at, list->at, sizeof(at));
    at[list->depth] = place_of(L, list, k);
    return column_load(L, &list->column, at, list->depth + 1);
}

/* Item 'i' of a tuple or of a small array. */
static Value
part_of(Lower *L, Value v, int i, const Type *type, Loc loc)
{
    if (v.items != NULL) {
        return v.items[i];
    }
    Expr *vec = reuse(L, vector_of(L, v, loc), loc);
    return num_value(type, ir_elem(L->arena, vec, int_const(L, i)));
}

/* 'v' has the column's type and depends on no memory; 'over': there is an item
 * at 'k' already. */
static void
column_store(Lower *L, const Column *column, Expr *k, Value v, bool over,
             Loc loc)
{
    if (column->start != NULL) {
        array_column_store(L, column, k, v, over, loc);
        return;
    }
    if (column->buf != NULL) {
        emit(L, ir_store(L->arena, column->buf, &k, 1, v.expr, loc));
    }
    if (column->flag != NULL) {
        Expr *flag = flag_or_false(L, v.flag);
        emit(L, ir_store(L->arena, column->flag, &k, 1, flag, loc));
    }
    for (int i = 0; i < column->nitems; i++) {
        const Column *part = &column->items[i];
        column_store(L, part, k, part_of(L, v, i, part->type, loc), over, loc);
    }
}

/* The item is converted to what the list holds, which may be a maybe-type, and
 * is held: it may be an item of the same list. */
void
list_store(Lower *L, const List *list, Expr *k, Value v, Loc loc)
{
    v = hold_value(L, convert(L, v, list->column.type, loc), loc);
    column_store(L, &list->column, place_of(L, list, k), v, false, loc);
}

void
list_replace(Lower *L, const List *list, Expr *k, Value v, Loc loc)
{
    v = hold_value(L, convert(L, v, list->column.type, loc), loc);
    column_store(L, &list->column, place_of(L, list, k), v, true, loc);
}

/* What there is of the item as numbers. */
static Value
column_load_raw(Lower *L, const Column *column, Expr *k)
{
    if (column->start != NULL) {
        return array_column_raw(L, column, k);
    }
    if (column->nitems == 0) {
        return column_load(L, column, &k, 1);
    }
    int n = column->nitems;
    const Type **types = ARENA_ARRAY(L->arena, const Type *, n);
    Value v = {.items = ARENA_ARRAY(L->arena, Value, n)};
    for (int i = 0; i < n; i++) {
        v.items[i] = column_load_raw(L, &column->items[i], k);
        types[i] = v.items[i].type;
    }
    v.type = type_tuple(L->arena, types, n, false);
    return v;
}

static void
column_store_raw(Lower *L, const Column *column, Expr *k, Value v, Loc loc)
{
    if (column->start != NULL) {
        array_column_put(L, column, k, v, loc);
    } else if (column->nitems == 0) {
        column_store(L, column, k, v, true, loc);
    }
    for (int i = 0; i < column->nitems; i++) {
        column_store_raw(L, &column->items[i], k, v.items[i], loc);
    }
}

Value
list_load_raw(Lower *L, const List *list, Expr *k)
{
    k = place_of(L, list, k);
    return hold_value(L, column_load_raw(L, &list->column, k),
                      L->func->loc);
}

void
list_store_raw(Lower *L, const List *list, Expr *k, Value v, Loc loc)
{
    column_store_raw(L, &list->column, place_of(L, list, k), v, loc);
}

/* Each buffer grows by itself; the host doubles, so that n appends move at most
 * 2 n items. */
static void
column_room(Lower *L, const Column *column, Expr *n, Loc loc)
{
    Buf *bufs[MAX_RANK + 2] = {column->start ? NULL : column->buf,
                               column->start ? column->start : column->flag};
    memcpy(bufs + 2, column->extent, sizeof(column->extent));
    for (int i = 0; i < MAX_RANK + 2; i++) {
        if (bufs[i] != NULL) {
            Stmt *s = ir_stmt(L->arena, S_GROW, loc);
            s->buf = bufs[i];
            s->value = n;
            emit(L, s);
        }
    }
    for (int i = 0; i < column->nitems; i++) {
        column_room(L, &column->items[i], n, loc);
    }
}

void
list_room(Lower *L, const List *list, Expr *n, Loc loc)
{
    if (list->heap != NULL) {
        heap_room(L, list, n, loc);
    } else if (list->type->rank > 0) {
        n = list->head ? reuse(L, place_of(L, list, n), loc) : n;
        column_room(L, &list->column, n, loc);
    }
}

/* 'n' items are left in all arrays. */
static void
column_clear(Lower *L, const Column *column, Expr *n, Loc loc)
{
    if (column->start != NULL) {
        array_column_clear(L, column, n, loc);
    }
    for (int i = 0; i < column->nitems; i++) {
        column_clear(L, &column->items[i], n, loc);
    }
}

void
list_set_length(Lower *L, List *list, Expr *n, Loc loc)
{
    if (list->heap != NULL) {
        heap_set_length(L, list, n, loc);
        return;
    }
    emit_set(L, list->var, n, loc);
    if (list->size != NULL && n->op == E_CONST) {
        emit_set(L, list->size, int_const(L, 0), loc);
    }
    if (list->head != NULL && n->op == E_CONST) {
        emit_set(L, list->head, int_const(L, 0), loc);
    }
    if (list->type->rank > 0) {
        column_clear(L, &list->column, n, loc);
    }
}

/* The room of the last item is free. */
static void
column_drop(Lower *L, const Column *column, Expr *last, Loc loc)
{
    if (column->start != NULL) {
        array_column_drop(L, column, last, loc);
    }
    for (int i = 0; i < column->nitems; i++) {
        column_drop(L, &column->items[i], last, loc);
    }
}

void
list_drop_last(Lower *L, List *list, Expr *last, Loc loc)
{
    if (list->heap == NULL) {
        Expr *at = reuse(L, place_of(L, list, last), loc);
        column_drop(L, &list->column, at, loc);
    }
    list_set_length(L, list, last, loc);
}

Expr *
list_length(Lower *L, const List *list, Loc loc)
{
    return hold(L, list->length, loc);
}

/* The length is read after the items were computed, which may have changed the
 * list: `stack.append(stack.pop() + 1)`.  Room for all is made at once. */
void
list_push_all(Lower *L, List *list, const Value *items, int count, Loc loc)
{
    Value *held = ARENA_ARRAY(L->arena, Value, count);
    for (int i = 0; i < count; i++) {
        Value v = convert(L, items[i], list->column.type, loc);
        held[i] = hold_value(L, v, loc);
    }
    Expr *n = list_length(L, list, loc);
    Expr *more = reuse(L, op2(L, E_ADD, n, int_const(L, count)), loc);
    if (list->head != NULL) {
        deque_pack(L, list, loc);
    }
    list_room(L, list, more, loc);
    for (int i = 0; i < count; i++) {
        list_store(L, list, i ? op2(L, E_ADD, n, int_const(L, i)) : n,
                   held[i], loc);
    }
    if (list->heap != NULL) {
        heap_set_length(L, list, more, loc);
    } else {
        emit_set(L, list->var, more, loc);
    }
}

void
list_push(Lower *L, List *list, Value v, Loc loc)
{
    list_push_all(L, list, &v, 1, loc);
}

/* for k in [lo, hi), whose body is emitted until the caller puts L->out back.
 */
Expr *
list_loop(Lower *L, Expr *lo, Expr *hi, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_FOR, loc);
    s->id = L->func->next_id++;
    s->var = ir_var(L->func, "k", DT_I64, 0);
    s->lo = lo;
    s->hi = hi;
    if (is_nonnegative(L, lo)) {
        map_set(&L->nonnegative, s->var, s->var);
    }
    emit(L, s);
    L->out = &s->body;
    return ir_ref(L->arena, s->var);
}

/* Items [from, n) of the list go to [to, ...), one after the other from the
 * first on. */
void
list_shift(Lower *L, const List *list, Expr *to, Expr *from, Expr *n, Loc loc)
{
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), op2(L, E_SUB, n, from), loc);
    Value v = list_load_raw(L, list, op2(L, E_ADD, from, k));
    list_store_raw(L, list, op2(L, E_ADD, to, k), v, loc);
    L->out = outer;
}

/* The lists are different ones, or no item is read after it was written: items
 * are moved in the order of their indices, so within a list only downwards. */
void
list_move(Lower *L, const List *to, Expr *at, const List *from, Expr *lo,
          Expr *hi, Loc loc)
{
    if (from->type->rank == 0) {
        return;
    }
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), op2(L, E_SUB, hi, lo), loc);
    Value v = list_load(L, from, op2(L, E_ADD, lo, k));
    list_store(L, to, op2(L, E_ADD, at, k), v, loc);
    L->out = outer;
}

/* --- joins ---------------------------------------------------------------- */

/* 'from' may have been overwritten by an earlier conversion at the same place;
 * then there is a copy of what it was. */
void
list_convert(Lower *L, List *to, const List *from, Loc loc)
{
    const List *aside = map_get(&L->asides, from);
    from = aside ? aside : from;
    Expr *n = list_length(L, from, loc);
    Expr *zero = int_const(L, 0);
    list_set_length(L, to, zero, loc);
    list_room(L, to, n, loc);
    list_move(L, to, zero, from, zero, n, loc);
    list_set_length(L, to, n, loc);
}

/* The two lists of a conversion that is done; false: none, or the same. */
static bool
lists_of(Lower *L, const AStmt *s, List **to, List **from)
{
    bool lists = s->kind == AS_CONVERT && s->from != NULL &&
                 map_has(&L->used, s->to) && s->to->type->kind == TY_LIST &&
                 s->from->type->kind == TY_LIST &&
                 s->to->type->object != s->from->type->object;
    if (lists) {
        *to = list_of(L, s->to->type);
        *from = list_of(L, s->from->type);
    }
    return lists;
}

/* Does an earlier conversion of the block write 'list'? */
static bool
written_before(Lower *L, const ABlock *block, int at, const List *list)
{
    for (int i = 0; i < at; i++) {
        List *to;
        List *from;
        if (lists_of(L, block->at[i], &to, &from) && to == list) {
            return true;
        }
    }
    return false;
}

/* First those lists are copied aside that one conversion reads after another
 * has written them.  For `a, b = b, a` these are
 *
 *     aside = a;  b's items to a;  aside's items to b
 */
void
list_converts(Lower *L, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        List *to;
        List *from;
        if (!lists_of(L, block->at[i], &to, &from) ||
            !written_before(L, block, i, from)) {
            continue;
        }
        List *aside = new_list_early(L, from->type);
        list_convert(L, aside, from, block->at[i]->loc);
        map_set(&L->asides, from, aside);
    }
    lower_block(L, block);
    L->asides = map_new(L->arena);
}
