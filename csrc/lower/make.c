/* Arrays that are made: np.zeros, np.array, copies.
 *
 * In registers a fresh array is a value; in memory it is an ALLOC and a FILL.
 * A negative size raises ValueError and a huge one MemoryError, so both are
 * tested; the product of the sizes stays below 2**47.
 *
 * All elements of np.zeros are written by a FILL here; pass 'prealloc' drops
 * what is overwritten anyway.  Buffers are named after the variable that gets
 * them, for the remarks that speak of them.
 *
 * Values are converted in two ways, as in NumPy: np.array and a[i] = v test
 * what Python's numbers are (stored_as), np.full casts everything but Python
 * ints.
 */
#include "csrc/lower/list.h"

static const int64_t most_elements = INT64_C(1) << 47;

/* Bytes up to which an array of constant size goes on the stack. */
enum { STACK_BYTES = 2048 };

/* --- shapes --------------------------------------------------------------- */

/* A size as an i64 that is not negative and does not change. */
static Expr *
size_expr(Lower *L, Value v, Loc loc)
{
    Expr *e = reuse(L, hold(L, cast_to(L, DT_I64, v.expr), loc), loc);
    if (!is_nonnegative(L, e)) {
        emit_check(L, op2(L, E_LE, int_const(L, 0), e), X_VALUE, loc);
        if (e->op == E_VAR) {
            map_set(&L->nonnegative, e->var, e->var);
        }
    }
    return e;
}

/* The number of elements fits in the address space. Each product is checked
 * before it is used, so none of them wraps. Constant shapes were tested by
 * inference. */
static void
check_product(Lower *L, Expr *const *dims, int rank, Loc loc)
{
    Expr *product = NULL;
    int64_t size;
    bool constant = true;
    for (int i = 0; i < rank; i++) {
        constant &= ir_const_int(dims[i], &size);
    }
    Expr *most = int_const(L, most_elements);
    for (int i = 0; i < rank && !constant; i++) {
        if (product == NULL) {
            product = dims[i];
            continue;
        }
        emit_check(L, not_(L, op2(L, E_MULO, product, dims[i])), X_MEMORY, loc);
        product = reuse(L, op2(L, E_MUL, product, dims[i]), loc);
    }
    if (product != NULL) {
        emit_check(L, op2(L, E_LE, product, most), X_MEMORY, loc);
    }
}

/* A shape is an int or a tuple of ints. */
static void
shape_exprs(Lower *L, Value shape, Expr **dims, Loc loc)
{
    if (shape.type->kind == TY_NUM) {
        dims[0] = size_expr(L, shape, loc);
        return;
    }
    for (int i = 0; i < shape.type->rank; i++) {
        dims[i] = size_expr(L, shape.items[i], loc);
    }
}

/* The shape of an array as expressions. */
static void
shape_like(Lower *L, Value array, Expr **dims)
{
    for (int i = 0; i < array.type->rank; i++) {
        dims[i] = array.view != NULL ? view_extent(L, array.view, i)
                                     : int_const(L, array.type->size[i]);
    }
}

/* --- memory --------------------------------------------------------------- */

/* Small arrays of constant size are kept on the stack, where the C compiler may
 * turn them into registers. Empty ones are not: C has none. */
static Space
space_for(const Type *type, Expr *const *dims)
{
    int64_t bytes = dtype_size(type->dtype);
    for (int i = 0; i < type->rank; i++) {
        int64_t size;
        if (!ir_const_int(dims[i], &size) || size == 0 ||
            __builtin_mul_overflow(bytes, size, &bytes)) {
            return SPACE_HEAP;
        }
    }
    return bytes <= STACK_BYTES ? SPACE_STACK : SPACE_HEAP;
}

/* A buffer for a fresh array. It is a result if its object is among those
 * returned; the object's number is the link between inference and lower. */
Value
new_array(Lower *L, const Type *type, Expr *const *dims, bool joint, Loc loc)
{
    const void *number = (const void *)(intptr_t)type->object;
    bool result = map_has(&L->returned, number);
    Buf *buf = new_buf(L, L->hint ? L->hint : "array", type->dtype,
                       type->rank, result ? BUF_RESULT : BUF_LOCAL);
    buf->loc = loc;
    if (!result) {
        buf->space = space_for(type, dims);
    }
    for (int i = 0; i < type->rank; i++) {
        buf->dims[i] = reuse(L, hold(L, dims[i], loc), loc);
    }
    if (joint) {
        check_product(L, buf->dims, type->rank, loc);
    }
    bool turned = type->layout == LAYOUT_F && !type->view;
    View *view = turned ? order_reversed(L, buf, NULL, loc)
                        : view_whole(L, buf);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    if (result) {
        map_set(&L->returned, number, buf);
    }
    which_made(L, buf, type->object, loc);
    return (Value){.type = type, .view = view};
}

/* The array that 'e' makes, of any size. */
Value
make_array(Lower *L, const AExpr *e, Expr *const *dims)
{
    return new_array(L, e->type, dims, true, e->loc);
}

/* Sets all elements to one value. */
static void
fill(Lower *L, Value array, Expr *value, Loc loc)
{
    if (value->lanes > 0) {
        lazy_store(L, array.view, lazy_number(L, value, loc), loc);
        return;
    }
    Stmt *s = ir_stmt(L->arena, S_FILL, loc);
    s->buf = array.view->buf;
    s->value = value;
    emit(L, s);
}

/* np.full casts what np.array makes of the value; only Python ints that don't
 * fit raise. np.full(n, 300, np.uint8) is OverflowError, of 300.0 it is 44. */
static Expr *
full_value(Lower *L, Value v, DType dtype, Loc loc)
{
    if (dtype_is_complex(dtype)) {
        return pair_operand(L, v, dtype, loc);
    }
    v = some(L, v, loc);
    if (v.flag != NULL && dtype != v.type->dtype) {
        emit_check(L, not_(L, v.flag), X_SPECULATE, loc);
    }
    bool weak_int = v.type->weak && v.type->dtype == DT_I64;
    if (weak_int && dtype != DT_BOOL) {
        return operand_as(L, v, dtype, loc);
    }
    return cast_with_warnings(L, dtype, v.expr, loc);
}

/* np.zeros and its kin. np.empty is not filled: whatever it holds, NumPy could
 * have given the same. */
Value
lower_make(Lower *L, const AExpr *e, BuiltinId id)
{
    const Type *type = e->type;
    Expr *dims[MAX_RANK];
    Value first = lower_expr(L, e->items.at[0]);
    bool full = id == BUILTIN_NP_FULL || id == BUILTIN_NP_FULL_LIKE;
    bool ones = id == BUILTIN_NP_ONES || id == BUILTIN_NP_ONES_LIKE;
    bool empty = id == BUILTIN_NP_EMPTY || id == BUILTIN_NP_EMPTY_LIKE;
    Expr *value = num_const(L, dtype_part(type->dtype), ones);
    if (ones && dtype_is_complex(type->dtype)) {
        value = pair_cast(L, type->dtype, value, e->loc);
    }
    if (full) {
        Value v = lower_expr(L, e->items.at[1]);
        value = reuse(L, full_value(L, v, type->dtype, e->loc), e->loc);
    }
    if (type_is_vector(type)) {
        return num_value(type, ir_splat(L->arena, value, type_lanes(type)));
    }
    if (first.type->kind == TY_ARRAY) {
        shape_like(L, first, dims);
    } else {
        shape_exprs(L, first, dims, e->loc);
    }
    Value out = make_array(L, e, dims);
    if (first.type->kind == TY_ARRAY && first.view != NULL) {
        order_follows(L, out.view->buf, first.view);
    }
    if (!empty) {
        fill(L, out, value, e->loc);
    }
    return out;
}

/* --- np.array ------------------------------------------------------------- */

/* np.array of numbers in a buffer, element by element. */
static Value
array_in_memory(Lower *L, const AExpr *e, Expr *const *items, int n)
{
    Expr *dims[] = {int_const(L, n)};
    Value out = make_array(L, e, dims);
    for (int i = 0; i < n; i++) {
        View *at = view_at(L, out.view, int_const(L, i));
        view_store(L, at, items[i], e->loc);
    }
    return out;
}

/* np.array([a, b, c]): items are stored as into an array of the result's
 * dtype, which is also how NumPy converts them. */
Value
lower_array(Lower *L, const AExpr *e)
{
    Value list = lower_expr(L, e->items.at[0]);
    if (list.type->kind == TY_ARRAY) {
        return lower_copy(L, e);
    }
    bool flat = list.type->kind == TY_TUPLE && e->type->rank == 1 &&
                (type_lanes(e->type) > 0 || dtype_is_complex(e->type->dtype));
    if (!flat) {
        return lower_list_array(L, e, list);
    }
    int n = list.type->rank;
    Expr **items = ARENA_ARRAY(L->arena, Expr *, n + 1);
    for (int i = 0; i < n; i++) {
        items[i] = stored_as(L, list.items[i], e->type->dtype, e->loc);
    }
    if (type_is_memory(e->type)) {
        return array_in_memory(L, e, items, n);
    }
    Expr *vec = ir_splat(L->arena, items[0], n);
    for (int i = 1; i < n; i++) {
        vec = ir_insert(L->arena, vec, int_const(L, i), items[i]);
    }
    return num_value(e->type, vec);
}

/* --- copies --------------------------------------------------------------- */

/* A nest over all axes. The two arrays are different buffers, so the order does
 * not matter, and every loop of it is parallel. */
void
copy_elements(Lower *L, const View *to, const View *from, Loc loc)
{
    if (to->rank == 0) {
        Expr *e = view_load(L, from);
        bool same = to->pairs && from->pairs;
        DType dt = same ? to->buf->dtype : view_dtype(to);
        view_store(L, to, cast_with_warnings(L, dt, e, loc), loc);
        return;
    }
    Stmt *s = ir_stmt(L->arena, S_FOR, loc);
    s->id = L->func->next_id++;
    s->var = ir_var(L->func, "k", DT_I64, 0);
    s->lo = int_const(L, 0);
    s->hi = view_extent(L, to, 0);
    map_set(&L->nonnegative, s->var, s->var);
    Block *outer = L->out;
    L->out = &s->body;
    Expr *k = ir_ref(L->arena, s->var);
    copy_elements(L, view_at(L, to, k), view_at(L, from, k), loc);
    L->out = outer;
    emit(L, s);
}

/* a.copy(), a.astype(dtype), np.array(a): a tree that reads `a` and casts. */
Value
lower_copy(Lower *L, const AExpr *e)
{
    const Type *type = e->type;
    if (type->kind == TY_NUM) {
        Value from = lower_expr(L, e->items.at[0]);
        return num_value(type, vec_cast(L, type->dtype, from.expr, e->loc));
    }
    if (type_is_vector(type)) {
        Value from = lower_expr(L, e->items.at[0]);
        Expr *vec = vector_of(L, from, e->loc);
        return num_value(type, vec_cast(L, type->dtype, vec, e->loc));
    }
    Value from = lower_lazy(L, e->items.at[0]);
    const Lazy *z = lazy_of(L, from, e->loc);
    return lazy_value(type, lazy_cast(L, z, type->dtype, e->loc));
}
