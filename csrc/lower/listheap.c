/* Heaps of lists: storage of lists that are items of lists.
 *
 *     row = [0] * w         id = lists;  start[id] = used;  length[id] = 0
 *     row.append(v)         room[id] < n?  then move it to the end, with twice
 *                           the room;  data[start[id] + n - 1] = v
 *     row[x]                data[start[id] + x],  after x < length[id]
 *
 * A heap has one column for the items of all its lists, and for each list where
 * its items begin, how many there are and for how many there is room.  The
 * value of a list is its number, so a list of lists is a column of numbers, and
 * two values that are the same list have the same number.
 *
 * A list that outgrows its room moves to the end of the column, or grows where
 * it is if it is the last; what it leaves behind is never used again, which at
 * most doubles the column.  Nor is a list that nobody names any more: a program
 * that makes lists without end comes to the limit MOST_ITEMS, and Python, which
 * frees them, repeats the call.
 */
#include "csrc/lower/list.h"

#define MOST_ITEMS (INT64_C(1) << 28)

/* The buffers of a heap are made at the beginning of the function. */
Heap *
heap_find(Lower *L, const Type *type)
{
    const void *key = (const void *)(intptr_t)type->object;
    Heap *heap = map_get(&L->heaps, key);
    if (heap != NULL) {
        return heap;
    }
    Block *outer = L->out;
    Loc loc = L->func->loc;
    L->out = &L->prologue;
    heap = ARENA_NEW(L->arena, Heap);
    map_set(&L->heaps, key, heap);
    heap->start = list_buffer(L, "start", DT_I64, loc);
    heap->length = list_buffer(L, "length", DT_I64, loc);
    heap->room = list_buffer(L, "room", DT_I64, loc);
    heap->lists = set_var(L, "lists", DT_I64, 0);
    heap->used = set_var(L, "used", DT_I64, 0);
    map_set(&L->nonnegative, heap->lists, L);
    map_set(&L->nonnegative, heap->used, L);
    emit_set(L, heap->lists, int_const(L, 0), loc);
    emit_set(L, heap->used, int_const(L, 0), loc);
    heap->items.type = type;
    if (type->rank > 0) {
        heap->items.column = list_column(L, type->items[0], "items", loc);
    }
    heap->ret = -1;
    L->out = outer;
    return heap;
}

/* What is known of list 'id', as it is when it is read. */
static Expr *
load_of(Lower *L, Buf *buf, Expr *id)
{
    Expr *e = ir_load(L->arena, buf, &id, 1, 0);
    map_set(&L->nonnegative, e, L);
    return e;
}

List *
heap_list(Lower *L, const Type *type, Expr *id, Loc loc)
{
    Heap *heap = heap_find(L, type);
    List *list = ARENA_NEW(L->arena, List);
    list->type = type;
    list->column = heap->items.column;
    list->heap = heap;
    list->id = reuse(L, hold(L, id, loc), loc);
    list->length = load_of(L, heap->length, list->id);
    list->ret = -1;
    list->arg = -1;
    return list;
}

Expr *
heap_place(Lower *L, const List *list, Expr *k)
{
    return op2(L, E_ADD, load_of(L, list->heap->start, list->id), k);
}

/* buf[id] = e */
static void
store_of(Lower *L, Buf *buf, Expr *id, Expr *e, Loc loc)
{
    emit(L, ir_store(L->arena, buf, &id, 1, e, loc));
}

void
heap_set_length(Lower *L, const List *list, Expr *n, Loc loc)
{
    store_of(L, list->heap->length, list->id, n, loc);
}

/* Room for 'n' elements in a buffer of the heap. */
static void
grow(Lower *L, Buf *buf, Expr *n, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_GROW, loc);
    s->buf = buf;
    s->value = n;
    emit(L, s);
}

/* A new list without items, each time that this is run. */
List *
heap_begin(Lower *L, const Type *type, Loc loc)
{
    Heap *heap = heap_find(L, type);
    Expr *lists = ir_ref(L->arena, heap->lists);
    Expr *id = hold(L, lists, loc);
    Expr *n = reuse(L, op2(L, E_ADD, id, int_const(L, 1)), loc);
    Expr *zero = int_const(L, 0);
    emit_check(L, op2(L, E_LT, id, int_const(L, MOST_ITEMS)), X_MEMORY, loc);
    grow(L, heap->start, n, loc);
    grow(L, heap->length, n, loc);
    grow(L, heap->room, n, loc);
    store_of(L, heap->start, id, ir_ref(L->arena, heap->used), loc);
    store_of(L, heap->length, id, zero, loc);
    store_of(L, heap->room, id, zero, loc);
    emit_set(L, heap->lists, n, loc);
    return heap_list(L, type, id, loc);
}

/* The list has 'room', which is too little for 'n' items. */
static void
move_list(Lower *L, const List *list, Expr *room, Expr *n, Loc loc)
{
    Heap *heap = list->heap;
    Block *outer = L->out;
    Expr *zero = int_const(L, 0);
    Expr *used = hold(L, ir_ref(L->arena, heap->used), loc);
    Expr *from = hold(L, load_of(L, heap->start, list->id), loc);
    Expr *twice = op2(L, E_MUL, room, int_const(L, 2));
    Expr *want = reuse(L, op2(L, E_MAX, n, twice), loc);
    Expr *last = op2(L, E_EQ, op2(L, E_ADD, from, room), used);
    last = reuse(L, last, loc);
    Expr *at = reuse(L, ir_select(L->arena, last, from, used), loc);
    Expr *end = reuse(L, op2(L, E_ADD, at, want), loc);
    emit_check(L, op2(L, E_LT, end, int_const(L, MOST_ITEMS)), X_MEMORY, loc);
    list_room(L, &heap->items, end, loc);
    Expr *moved = ir_select(L->arena, last, zero, list->length);
    Expr *k = list_loop(L, zero, hold(L, moved, loc), loc);
    Value v = list_load_raw(L, &heap->items, op2(L, E_ADD, from, k));
    list_store_raw(L, &heap->items, op2(L, E_ADD, at, k), v, loc);
    L->out = outer;
    store_of(L, heap->start, list->id, at, loc);
    store_of(L, heap->room, list->id, want, loc);
    emit_set(L, heap->used, end, loc);
}

void
heap_room(Lower *L, const List *list, Expr *n, Loc loc)
{
    n = reuse(L, hold(L, n, loc), loc);
    emit_check(L, op2(L, E_LT, n, int_const(L, MOST_ITEMS)), X_MEMORY, loc);
    Expr *room = hold(L, load_of(L, list->heap->room, list->id), loc);
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = op2(L, E_LT, room, n);
    Block *outer = L->out;
    L->out = &s->body;
    move_list(L, list, room, n, loc);
    L->out = outer;
    emit(L, s);
}
