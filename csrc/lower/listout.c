/* Lists of run-time length as results: columns that are copied.
 *
 *     [(3, 0.5), (4, None)]     results: 2 | 3 4 | 0.5 0.0 | false true
 *     [[1, 2], [3]]             results: 2 3 | 0 2 3 ...
 *
 * A list is its length and one array for each number of an item; csrc/py reads
 * them in the same order (listout.c).  Lists that are items of lists are
 * numbers of a heap, which is handed over once, whatever holds its lists, and
 * of which Python's lists are made once: two that are the same list here are
 * one list there.
 */
#include "csrc/lower/list.h"

/* A column of a list as a result of its own: a copy of 'n' rows. */
static void
add_column(Lower *L, Buf *column, Expr *n)
{
    Buf *buf = ir_buf(L->func, column->name, column->dtype, 1, BUF_RESULT);
    buf->dims[0] = n;
    buf->loc = column->loc;
    buf->arg = add_ret(L, NULL, buf);
    Loc loc = L->func->loc;
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    Block *outer = L->out;
    Expr *k = list_loop(L, int_const(L, 0), n, loc);
    Expr *e = ir_load(L->arena, column, &k, 1, 0);
    emit(L, ir_store(L->arena, buf, &k, 1, e, loc));
    L->out = outer;
}

/* All columns, each before its flags; of arrays the elements of all, then where
 * each begins, then its extents as far as they are not known. */
static void
add_columns(Lower *L, const Column *column, Expr *n)
{
    if (column->start != NULL) {
        Loc loc = L->func->loc;
        add_column(L, column->buf, hold(L, ir_ref(L->arena, column->used),
                                        loc));
        add_column(L, column->start, n);
        for (int i = 0; i < column->type->rank; i++) {
            if (column->extent[i] != NULL) {
                add_column(L, column->extent[i], n);
            }
        }
        return;
    }
    if (column->buf != NULL) {
        add_column(L, column->buf, n);
    }
    if (column->flag != NULL) {
        add_column(L, column->flag, n);
    }
    for (int i = 0; i < column->nitems; i++) {
        add_columns(L, &column->items[i], n);
    }
}

/* The heaps of the lists in 'type', each once: how many lists there are, where
 * each begins and its length, then the columns of their items. */
static void
add_heaps(Lower *L, const Type *type)
{
    if (type->kind != TY_LIST) {
        return;
    }
    if (type->rank > 0) {
        add_heaps(L, type->items[0]);
    }
    if (!type->ref) {
        return;
    }
    Heap *heap = heap_find(L, type);
    if (heap->ret >= 0) {
        return;
    }
    Loc loc = L->func->loc;
    Expr *n = hold(L, ir_ref(L->arena, heap->lists), loc);
    Expr *used = hold(L, ir_ref(L->arena, heap->used), loc);
    heap->ret = add_ret(L, n, NULL);
    HeapLeaf leaf = {.object = type->object, .ret = heap->ret};
    vec_push(L->arena, &L->result->heaps, leaf);
    add_column(L, heap->start, n);
    add_column(L, heap->length, n);
    if (type->rank > 0) {
        add_columns(L, &heap->items.column, used);
    }
}

/* A list of a heap is its number there. */
static Leaf
row_leaf(Lower *L, Value v)
{
    Leaf leaf = {.kind = LEAF_ROW, .type = v.type, .flag = -1, .arg = -1};
    add_heaps(L, v.type);
    leaf.ret = add_ret(L, hold(L, v.expr, L->func->loc), NULL);
    return leaf;
}

/* A list of run-time length: its length, then the columns. The same list twice
 * is told by equal numbers. */
Leaf
lower_list_result(Lower *L, Value v)
{
    Leaf leaf = {.kind = LEAF_LIST, .type = v.type, .flag = -1, .arg = -1};
    if (v.type->ref) {
        return row_leaf(L, v);
    }
    List *list = v.list ? v.list : list_of(L, v.type);
    if (list->arg >= 0) {
        leaf.kind = LEAF_ARG;
        leaf.ret = -1;
        leaf.arg = list->arg;
        return leaf;
    }
    leaf.ret = list->ret;
    if (leaf.ret >= 0) {
        return leaf;
    }
    Expr *n = list_length(L, list, L->func->loc);
    leaf.ret = list->ret = add_ret(L, n, NULL);
    if (list->type->rank > 0) {
        add_heaps(L, v.type->items[0]);
        leaf.ret = list->ret = add_ret(L, n, NULL);
        add_columns(L, &list->column, n);
    }
    return leaf;
}

