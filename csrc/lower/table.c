/* Tables: items of one type, of which only the run knows which is read.
 *
 *     TAPS[k]        5 items    element k of a constant vector
 *     ZIGZAG[k]     64 items    &table[k], filled when the function begins
 *
 * Short ones stay in registers, so that a loop over them can be unrolled later.
 * A long one lies in a buffer; equal constants share one.
 */
#include "csrc/lower/state.h"

/* A long table of constants. */
struct Table {
    const Expr **items;
    int n;
    Buf *buf;
    Table *next;
};

/* Are these the constants of the table? */
static bool
same_items(const Table *table, const Value *items, int n)
{
    bool same = table->n == n;
    for (int i = 0; same && i < n; i++) {
        same = ir_equal(table->items[i], items[i].expr);
    }
    return same;
}

/* Allocates and fills a buffer here; items that are not constant are stored in
 * every round of the loop that reads them. */
static Buf *
fill(Lower *L, const Value *items, int n, Loc loc)
{
    DType dt = items[0].expr->dtype;
    Buf *buf = ir_buf(L->func, "table", dt, 1, BUF_LOCAL);
    buf->loc = loc;
    buf->dims[0] = int_const(L, n);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    for (int i = 0; i < n; i++) {
        Expr *at = int_const(L, i);
        emit(L, ir_store(L->arena, buf, &at, 1, items[i].expr, loc));
    }
    return buf;
}

/* The buffer with these constants, made before everything else: once a call,
 * not once a round. */
static Buf *
constant_table(Lower *L, const Value *items, int n, Loc loc)
{
    for (Table *t = L->tables; t != NULL; t = t->next) {
        if (same_items(t, items, n)) {
            return t->buf;
        }
    }
    Table *table = ARENA_NEW(L->arena, Table);
    Block *outer = L->out;
    L->out = &L->prologue;
    table->buf = fill(L, items, n, loc);
    L->out = outer;
    table->n = n;
    table->items = ARENA_ARRAY(L->arena, const Expr *, n);
    for (int i = 0; i < n; i++) {
        table->items[i] = items[i].expr;
    }
    table->next = L->tables;
    L->tables = table;
    return table->buf;
}

/* Number 'k' of a long table. */
static Expr *
from_memory(Lower *L, const Value *items, int n, Expr *k, Loc loc)
{
    bool constant = true;
    for (int i = 0; i < n; i++) {
        constant &= items[i].expr->op == E_CONST;
    }
    Buf *buf = constant ? constant_table(L, items, n, loc)
                        : fill(L, items, n, loc);
    return ir_load(L->arena, buf, &k, 1, 0);
}

/* Number 'k' of a short one. */
static Expr *
from_lanes(Lower *L, const Value *items, int n, Expr *k)
{
    Expr *vec = ir_splat(L->arena, items[0].expr, n);
    for (int i = 1; i < n; i++) {
        if (!ir_equal(items[i].expr, items[0].expr)) {
            vec = ir_insert(L->arena, vec, int_const(L, i), items[i].expr);
        }
    }
    return ir_elem(L->arena, vec, k);
}

/* Item 'k', within range, of 'n' items of one 'type'; tuples column by column.
 * Of no items: the check of the index has failed, and this is never seen. */
Value
table_item(Lower *L, const Value *items, int n, const Type *type, Expr *k,
           Loc loc)
{
    if (type->kind != TY_TUPLE && type->kind != TY_COMPLEX) {
        return num_value(type, n == 0 ? ir_zero(L->arena, type->dtype)
                               : n > MAX_LANES
                                   ? from_memory(L, items, n, k, loc)
                                   : from_lanes(L, items, n, k));
    }
    Value out = {.type = type};
    out.items = ARENA_ARRAY(L->arena, Value, type->rank + 1);
    Value *column = ARENA_ARRAY(L->arena, Value, n + 1);
    k = reuse(L, k, loc);
    for (int i = 0; i < type->rank; i++) {
        for (int r = 0; r < n; r++) {
            column[r] = items[r].items[i];
        }
        out.items[i] = table_item(L, column, n, type->items[i], k, loc);
    }
    return out;
}
