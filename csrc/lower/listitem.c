/* Arrays as items of lists of run-time length.
 *
 *     frames.append(u)      grow &data to used + h * w;  store all of u there
 *                           grow &start; store &start[n] = used; the same for
 *                           h and w;  set used = used + h * w
 *     frames[k][y, x]       &data[&start[k] + y * &w[k] + x]
 *     last = frames[-1]     alloc &last[h, w]; its elements are copied
 *
 * Inference has made sure that no array changes while it is in a list, so a
 * copy is as good.  An array that is taken out and named is copied once more,
 * because the data may move when the list grows.
 *
 * NumPy's results may depend on where elements lie, so what is put in must lie
 * in C order without gaps, as it does here.
 *
 * Room is used again when the list is empty, when the last item is taken out,
 * and when an item gives way to one of the same shape.
 */
#include "csrc/lower/index.h"
#include "csrc/lower/list.h"

/* Elements in one list beyond which Python does the work: 2 GiB of doubles. */
static const int64_t most_elements = INT64_C(1) << 28;

/* --- storage -------------------------------------------------------------- */

Buf *
list_buffer(Lower *L, const char *name, DType dtype, Loc loc)
{
    Buf *buf = ir_buf(L->func, name, dtype, 1, BUF_LOCAL);
    buf->growable = true;
    buf->loc = loc;
    buf->dims[0] = int_const(L, 0);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    return buf;
}

/* The column's type is set. */
void
array_column(Lower *L, Column *column, const char *name, Loc loc)
{
    const Type *type = column->type;
    column->buf = list_buffer(L, name, type->dtype, loc);
    column->start = list_buffer(L, "start", DT_I64, loc);
    for (int i = 0; i < type->rank; i++) {
        if (type->size[i] < 0) {
            column->extent[i] = list_buffer(L, "extent", DT_I64, loc);
        }
    }
    column->used = set_var(L, "used", DT_I64, 0);
    map_set(&L->nonnegative, column->used, L);
}

/* Element 'k' of a buffer that holds what is never negative, as it is now. */
static Expr *
load_count(Lower *L, Buf *buf, Expr *k, Loc loc)
{
    Expr *e = hold(L, ir_load(L->arena, buf, &k, 1, 0), loc);
    if (e->op == E_VAR) {
        map_set(&L->nonnegative, e->var, L);
    }
    return e;
}

/* --- reading -------------------------------------------------------------- */

/* Where the array lies. */
typedef struct Place {
    const Column *column;
    Expr *start;
} Place;

/* The element at 'at': "data" is the Place. */
static Expr *
stored_at(Lower *L, const Lazy *z, Expr *const *at)
{
    const Place *place = z->data;
    Expr *i = NULL;
    for (int k = 0; k < z->rank; k++) {
        i = i ? op2(L, E_ADD, op2(L, E_MUL, i, z->extent[k]), at[k]) : at[k];
    }
    i = op2(L, E_ADD, place->start, i);
    return ir_load(L->arena, place->column->buf, &i, 1, 0);
}

Value
array_column_load(Lower *L, const Column *column, Expr *k)
{
    Loc loc = column->buf->loc;
    const Type *type = column->type;
    Place *place = ARENA_NEW(L->arena, Place);
    place->column = column;
    place->start = load_count(L, column->start, k, loc);
    Lazy *z = lazy_found(L, type->dtype, stored_at, place, loc);
    z->joint = false;
    z->rank = type->rank;
    for (int i = 0; i < type->rank; i++) {
        z->extent[i] = column->extent[i]
                           ? load_count(L, column->extent[i], k, loc)
                           : int_const(L, type->size[i]);
    }
    return lazy_value(type, z);
}

Value
list_settle_items(Lower *L, Value v, Loc loc)
{
    v = settle(L, v, loc);
    for (int i = 0; v.type->kind == TY_TUPLE && i < v.type->rank; i++) {
        v.items[i] = list_settle_items(L, v.items[i], loc);
    }
    return v;
}

bool
is_list_item(const AExpr *e)
{
    return e->kind == A_SUBSCRIPT && e->lhs->type->kind == TY_LIST &&
           e->items.n == 1 && e->items.at[0]->kind != A_SLICE &&
           type_is_memory(e->type);
}

/* Are all items of the subscript integers, one for each axis? */
static bool
is_element(const AExpr *e)
{
    bool all = e->type->kind == TY_NUM && e->items.n == e->lhs->type->rank;
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        all &= item->kind != A_SLICE && item->type->kind == TY_NUM &&
               !has_user_call(item);
    }
    return all;
}

bool
list_item_element(Lower *L, const AExpr *e, Value *out)
{
    Expr *at[MAX_RANK];
    Value index[MAX_RANK];
    if (!is_list_item(e->lhs) || !is_element(e)) {
        return false;
    }
    const Lazy *z = lower_lazy(L, e->lhs).lazy;
    lower_items(L, &e->items, index);
    for (int i = 0; i < z->rank; i++) {
        at[i] = index_in(L, index[i], z->extent[i], e->loc);
    }
    *out = num_value(e->type, lazy_at(L, z, at));
    return true;
}

/* --- writing -------------------------------------------------------------- */

/* The view has its elements in C order, one after the other. */
static void
check_packed(Lower *L, const View *view, Loc loc)
{
    Expr *run = int_const(L, dtype_size(view->buf->dtype));
    Expr *one = int_const(L, 1);
    for (int k = view->rank - 1; k >= 0; k--) {
        Expr *n = view_extent(L, view, k);
        int axis = view->axis[k];
        if (axis >= 0) {
            Expr *stride = ir_stride(L->arena, view->buf, axis);
            Expr *step = view->step[axis];
            stride = step ? op2(L, E_MUL, stride, step) : stride;
            Expr *fits = op2(L, E_OR, op2(L, E_LE, n, one),
                             op2(L, E_EQ, stride, run));
            emit_check(L, fits, X_SPECULATE, loc);
        }
        run = op2(L, E_MUL, run, n);
    }
}

/* Is the view all of a buffer in C order? */
static bool
is_whole(const View *view)
{
    bool whole = view->buf->layout == LAYOUT_C && view->rank == view->buf->rank;
    for (int k = 0; whole && k < view->rank; k++) {
        whole = view->axis[k] == k && view->step[k] == NULL &&
                view->offset[k] == NULL &&
                view->extent[k] == view->buf->dims[k];
    }
    return whole;
}

/* Makes sure that NumPy would keep the array as it is kept here. */
static void
check_order(Lower *L, Value v, Loc loc)
{
    if (v.view != NULL) {
        if (!is_whole(v.view)) {
            check_packed(L, v.view, loc);
        }
        if (v.view->rank > 1) {
            check_made_in_order(L, v.view, loc);
        }
    }
}

/* Where to store the array: its old place if it is as large, else the end. */
static Expr *
place_for(Lower *L, const Column *column, Expr *k, const Lazy *z, bool over,
          Loc loc)
{
    Expr *count = int_const(L, 1);
    Expr *same = NULL;
    for (int i = 0; i < z->rank; i++) {
        count = i ? op2(L, E_MUL, count, z->extent[i]) : z->extent[i];
        if (over && column->extent[i] != NULL) {
            Expr *old = load_count(L, column->extent[i], k, loc);
            same = both(L, same, op2(L, E_EQ, old, z->extent[i]));
        }
    }
    Expr *used = hold(L, ir_ref(L->arena, column->used), loc);
    Expr *end = reuse(L, op2(L, E_ADD, used, count), loc);
    Expr *start = used;
    if (over) {
        Expr *old = load_count(L, column->start, k, loc);
        same = same ? reuse(L, same, loc) : ir_bool(L->arena, true);
        start = reuse(L, ir_select(L->arena, same, old, used), loc);
        end = reuse(L, ir_select(L->arena, same, used, end), loc);
    }
    Expr *most = int_const(L, most_elements);
    emit_check(L, op2(L, E_LE, end, most), X_MEMORY, loc);
    Stmt *s = ir_stmt(L->arena, S_GROW, loc);
    s->buf = column->buf;
    s->value = end;
    emit(L, s);
    emit_set(L, column->used, end, loc);
    return start;
}

void
array_column_store(Lower *L, const Column *column, Expr *k, Value v, bool over,
                   Loc loc)
{
    Block *outer = L->out;
    Expr *at[MAX_RANK];
    check_order(L, v, loc);
    const Lazy *z = lazy_of(L, v, loc);
    Lazy *held = arena_copy(L->arena, z, sizeof(*z));
    for (int i = 0; i < z->rank; i++) {
        held->extent[i] = reuse(L, hold(L, z->extent[i], loc), loc);
    }
    Expr *start = place_for(L, column, k, held, over, loc);
    emit(L, ir_store(L->arena, column->start, &k, 1, start, loc));
    for (int i = 0; i < z->rank; i++) {
        if (column->extent[i] != NULL) {
            emit(L, ir_store(L->arena, column->extent[i], &k, 1,
                             held->extent[i], loc));
        }
    }
    Expr *place = NULL;
    for (int i = 0; i < z->rank; i++) {
        at[i] = open_for(L, int_const(L, 0), held->extent[i], loc);
        place = place ? op2(L, E_ADD,
                            op2(L, E_MUL, place, held->extent[i]), at[i])
                      : at[i];
    }
    place = reuse(L, op2(L, E_ADD, start, place), loc);
    Expr *e = lazy_at(L, z, at);
    emit(L, ir_store(L->arena, column->buf, &place, 1, e, loc));
    L->out = outer;
}

/* --- changes of places ---------------------------------------------------- */

Value
array_column_raw(Lower *L, const Column *column, Expr *k)
{
    const Type *types[MAX_RANK + 1];
    int n = 1 + column->type->rank;
    Value v = {.items = ARENA_ARRAY(L->arena, Value, n)};
    for (int i = 0; i < n; i++) {
        Buf *buf = i ? column->extent[i - 1] : column->start;
        types[i] = type_int(L->arena);
        v.items[i] = num_value(types[i],
                               buf ? ir_load(L->arena, buf, &k, 1, 0)
                                   : int_const(L, 0));
    }
    v.type = type_tuple(L->arena, types, n, false);
    return v;
}

void
array_column_put(Lower *L, const Column *column, Expr *k, Value v, Loc loc)
{
    for (int i = 0; i <= column->type->rank; i++) {
        Buf *buf = i ? column->extent[i - 1] : column->start;
        if (buf != NULL) {
            emit(L, ir_store(L->arena, buf, &k, 1, v.items[i].expr, loc));
        }
    }
}

void
array_column_clear(Lower *L, const Column *column, Expr *n, Loc loc)
{
    Expr *zero = int_const(L, 0);
    Expr *used = zero;
    if (n->op != E_CONST) {
        used = ir_select(L->arena, op2(L, E_EQ, n, zero), zero,
                         ir_ref(L->arena, column->used));
    }
    emit_set(L, column->used, used, loc);
}

void
array_column_drop(Lower *L, const Column *column, Expr *last, Loc loc)
{
    Expr *start = load_count(L, column->start, last, loc);
    Expr *count = NULL;
    for (int i = 0; i < column->type->rank; i++) {
        Expr *n = column->extent[i]
                      ? load_count(L, column->extent[i], last, loc)
                      : int_const(L, column->type->size[i]);
        count = count ? op2(L, E_MUL, count, n) : n;
    }
    Expr *used = ir_ref(L->arena, column->used);
    Expr *top = op2(L, E_EQ, op2(L, E_ADD, start, count), used);
    emit_set(L, column->used, ir_select(L->arena, top, start, used), loc);
}
