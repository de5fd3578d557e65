/* Memory: views, indices, loads and stores.
 *
 *     img[r + 1, c]   of an RGB image: buffer img, axis 0 fixed at r + 1,
 *                     axis 1 at c, axis 2 free
 *
 * An index i of an axis with n elements becomes i, or i + n when it is
 * negative; then checks say that it lies in [0, n).  Where the sign is known
 * nothing is selected.  Each check carries the place of its subscript.
 *
 * Views are descriptions for the compiler, not objects of the program: `row =
 * img[r]` costs nothing but a name for r.  Slices and transposes only change
 * offsets, extents and the order of axes.  Because loads happen at the use, a
 * view sees what is stored into its base in the meantime.
 *
 * What is stored where follows NumPy 2 to the letter, odd as it is: signed
 * arrays test NumPy's scalars as they test Python's numbers, unsigned ones cast
 * them.
 */
#include "csrc/lower/state.h"

/* --- views ---------------------------------------------------------------- */

/* All axes free, in the buffer's own order. */
View *
view_whole(Lower *L, Buf *buf)
{
    View *view = ARENA_NEW(L->arena, View);
    view->buf = buf;
    view->rank = buf->rank;
    for (int i = 0; i < buf->rank; i++) {
        view->axis[i] = i;
        view->extent[i] = buf->dims[i];
    }
    return view;
}

/* The size of free axis 'k'. */
Expr *
view_extent(Lower *L, const View *view, int k)
{
    (void)L;
    return view->extent[view->axis[k]];
}

/* Fixes free axis 'k' at 'index', counted from the view's own start. */
static void
fix_axis(Lower *L, View *view, int k, Expr *index)
{
    int axis = view->axis[k];
    Expr *offset = view->offset[axis];
    view->fixed[axis] = offset ? op2(L, E_ADD, offset, index) : index;
    if (offset && is_nonnegative(L, index)) {
        map_set(&L->nonnegative, view->fixed[axis], L);
    }
    view->rank--;
    for (int i = k; i < view->rank; i++) {
        view->axis[i] = view->axis[i + 1];
    }
}

/* The part at index 'k' of the first free axis; 'k' is in range. */
View *
view_at(Lower *L, const View *view, Expr *k)
{
    View *copy = arena_copy(L->arena, view, sizeof(*view));
    fix_axis(L, copy, 0, k);
    return copy;
}

/* The same elements, free axes in reverse. */
View *
view_transposed(Lower *L, const View *view)
{
    View *copy = arena_copy(L->arena, view, sizeof(*view));
    for (int i = 0; i < view->rank; i++) {
        copy->axis[i] = view->axis[view->rank - 1 - i];
    }
    return copy;
}

/* --- indices -------------------------------------------------------------- */

/* An index as an i64; maybe-types are tested to be the integer. */
static Expr *
index_value(Lower *L, Value index, Loc loc)
{
    if (dtype_is_float(index.type->dtype)) {
        emit_check(L, flag_or_false(L, index.flag), X_SPECULATE, loc);
        return cast_to(L, DT_I64, index.expr);
    }
    if (index.flag != NULL) {
        emit_check(L, not_(L, index.flag), X_SPECULATE, loc);
    }
    if (index.expr->dtype == DT_U64) {
        Expr *e = reuse(L, index.expr, loc);
        Expr *top = ir_int(L->arena, DT_U64, INT64_MAX);
        emit_check(L, op2(L, E_LE, e, top), X_INDEX, loc);
        return cast_to(L, DT_I64, e);
    }
    return cast_to(L, DT_I64, index.expr);
}

/* 'n' is the size of the axis. The three cases: a constant, an index that is
 * known not to be negative, and any other. */
Expr *
index_in(Lower *L, Value index, Expr *n, Loc loc)
{
    Expr *i = reuse(L, index_value(L, index, loc), loc);
    Expr *zero = int_const(L, 0);
    int64_t size = -1;
    ir_const_int(n, &size);
    if (i->op == E_CONST) {
        int64_t at = i->ival;
        if (size >= 0) {
            at += at < 0 ? size : 0;
            bool inside = at >= 0 && at < size;
            emit_check(L, ir_bool(L->arena, inside), X_INDEX, loc);
            return int_const(L, at);
        }
        Expr *wrapped = at < 0 ? op2(L, E_ADD, n, i) : i;
        emit_check(L, op2(L, E_LE, zero, wrapped), X_INDEX, loc);
        emit_check(L, op2(L, E_LT, wrapped, n), X_INDEX, loc);
        return wrapped;
    }
    if (!is_nonnegative(L, i)) {
        Expr *wrapped = op2(L, E_ADD, i, n);
        i = ir_select(L->arena, op2(L, E_LT, i, zero), wrapped, i);
        i = reuse(L, i, loc);
        emit_check(L, op2(L, E_LE, zero, i), X_INDEX, loc);
    }
    emit_check(L, op2(L, E_LT, i, n), X_INDEX, loc);
    return i;
}

/* Where a slice begins or ends, as PySlice_AdjustIndices has it. */
static Expr *
slice_bound(Lower *L, const AExpr *e, Expr *dflt, Expr *n)
{
    if (e == NULL) {
        return dflt;
    }
    Expr *i = reuse(L, index_value(L, lower_expr(L, e), e->loc), e->loc);
    int64_t size;
    if (i->op == E_CONST && ir_const_int(n, &size)) {
        int64_t at = i->ival < 0 ? i->ival + size : i->ival;
        return int_const(L, at < 0 ? 0 : at > size ? size : at);
    }
    if (!is_nonnegative(L, i)) {
        Expr *zero = int_const(L, 0);
        Expr *wrapped =
            op2(L, E_MAX, reuse(L, op2(L, E_ADD, i, n), e->loc), zero);
        i = ir_select(L->arena, op2(L, E_LT, i, zero), wrapped, i);
        i = reuse(L, i, e->loc);
        map_set(&L->nonnegative, i, L);
    }
    Expr *bound = reuse(L, op2(L, E_MIN, i, n), e->loc);
    map_set(&L->nonnegative, bound, L);
    return bound;
}

/* Restricts free axis 'k' to a slice with step 1: a new offset and a new
 * extent, no copy. */
static void
slice_axis(Lower *L, View *view, int k, const AExpr *slice)
{
    const AExpr *lo_arg = slice->items.at[0];
    const AExpr *hi_arg = slice->items.at[1];
    if (lo_arg == NULL && hi_arg == NULL) {
        return;
    }
    int axis = view->axis[k];
    Expr *n = view->extent[axis];
    Expr *zero = int_const(L, 0);
    Expr *lo = slice_bound(L, lo_arg, zero, n);
    Expr *hi = slice_bound(L, hi_arg, n, n);
    int64_t from;
    int64_t to;
    if (ir_const_int(lo, &from) && ir_const_int(hi, &to)) {
        hi = int_const(L, to > from ? to - from : 0);
    } else if (lo_arg != NULL) {
        hi = op2(L, E_MAX, op2(L, E_SUB, hi, lo), zero);
    }
    view->extent[axis] = reuse(L, hi, slice->loc);
    if (lo_arg != NULL && !(ir_const_int(lo, &from) && from == 0)) {
        Expr *offset = view->offset[axis];
        view->offset[axis] = offset ? op2(L, E_ADD, offset, lo) : lo;
        map_set(&L->nonnegative, view->offset[axis], L);
    }
}

/* Applies the indices and slices of a subscript to the free axes from the
 * left. Axes that are left over stay free. */
View *
view_part(Lower *L, const View *view, const AExpr *subscript)
{
    View *part = arena_copy(L->arena, view, sizeof(*view));
    int n = subscript->items.n;
    Value *index = ARENA_ARRAY(L->arena, Value, n + MAX_RANK + 1);
    bool tuple = n == 1 && subscript->items.at[0]->type->kind == TY_TUPLE;
    if (tuple) {
        Value v = lower_expr(L, subscript->items.at[0]);
        n = v.type->rank;
        index = v.items;
    }
    int k = 0;
    for (int i = 0; i < n; i++) {
        const AExpr *item = tuple ? NULL : subscript->items.at[i];
        if (item != NULL && item->kind == A_SLICE) {
            slice_axis(L, part, k, item);
            k++;
            continue;
        }
        Value v = tuple ? index[i] : lower_expr(L, item);
        Loc loc = subscript->loc;
        fix_axis(L, part, k, index_in(L, v, view_extent(L, part, k), loc));
    }
    return part;
}

/* --- loads ---------------------------------------------------------------- */

/* The element when all axes are fixed. */
Expr *
view_load(Lower *L, const View *view)
{
    Buf *buf = view->buf;
    return ir_load(L->arena, buf, view->fixed, buf->rank, 0);
}

/* Is the one free axis the buffer's last, and whole? */
static bool
is_whole_row(const View *view)
{
    int last = view->buf->rank - 1;
    int64_t size;
    return view->rank == 1 && view->axis[0] == last &&
           view->offset[last] == NULL &&
           view->extent[last] == view->buf->dims[last] &&
           ir_const_int(view->buf->dims[last], &size) && size >= 1 &&
           size <= MAX_LANES;
}

/* The size of a view of rank 1 that inference found small and constant. */
static int
lanes_of(const View *view)
{
    int64_t size;
    if (!ir_const_int(view->extent[view->axis[0]], &size)) {
        fatal("lower: a vector of unknown size");
    }
    return (int)size;
}

/* A whole last axis is one load of all lanes; any other part is gathered. */
Expr *
view_load_vector(Lower *L, const View *view)
{
    int n = lanes_of(view);
    if (is_whole_row(view)) {
        return ir_load(L->arena, view->buf, view->fixed, view->buf->rank - 1,
                       n);
    }
    Expr *vec = NULL;
    for (int i = 0; i < n; i++) {
        Expr *at = int_const(L, i);
        Expr *e = view_load(L, view_at(L, view, at));
        vec = vec == NULL ? ir_splat(L->arena, e, n)
                          : ir_insert(L->arena, vec, at, e);
    }
    return vec;
}

/* --- stores --------------------------------------------------------------- */

/* Arguments that are written are told to the dispatcher, which must be able to
 * undo it. */
static void
note_write(Lower *L, const Buf *buf)
{
    intptr_t number = (intptr_t)map_get(&L->arg_of, buf);
    if (number > 0) {
        L->result->writes[number - 1] = true;
    }
}

/* Stores an element; 'e' has the buffer's dtype. */
void
view_store(Lower *L, const View *view, Expr *e, Loc loc)
{
    Buf *buf = view->buf;
    note_write(L, buf);
    emit(L, ir_store(L->arena, buf, view->fixed, buf->rank, e, loc));
}

/* Stores lanes, or one number into all of them. Where the row is not stored at
 * once the value is held first: it may be loaded from it. */
void
view_store_vector(Lower *L, const View *view, Expr *e, Loc loc)
{
    int n = lanes_of(view);
    note_write(L, view->buf);
    if (is_whole_row(view)) {
        e = e->lanes ? e : ir_splat(L->arena, e, n);
        emit(L, ir_store(L->arena, view->buf, view->fixed, view->buf->rank - 1,
                         e, loc));
        return;
    }
    e = reuse(L, hold(L, e, loc), loc);
    for (int i = 0; i < n; i++) {
        Expr *at = int_const(L, i);
        Expr *one = e->lanes ? ir_elem(L->arena, e, at) : e;
        view_store(L, view_at(L, view, at), one, loc);
    }
}

/* Small rows are stored at once, others by a loop. */
void
view_fill(Lower *L, const View *view, Expr *e, Loc loc)
{
    if (view->rank == 0) {
        view_store(L, view, e, loc);
        return;
    }
    int64_t size;
    bool small = view->rank == 1 &&
                 ir_const_int(view->extent[view->axis[0]], &size) &&
                 size >= 1 && size <= MAX_LANES;
    if (small) {
        view_store_vector(L, view, e, loc);
        return;
    }
    e = reuse(L, hold(L, e, loc), loc);
    Stmt *s = ir_stmt(L->arena, S_FOR, loc);
    s->id = L->func->next_id++;
    s->var = ir_var(L->func, "k", DT_I64, 0);
    s->lo = int_const(L, 0);
    s->hi = view_extent(L, view, 0);
    map_set(&L->nonnegative, s->var, s->var);
    Block *outer = L->out;
    L->out = &s->body;
    view_fill(L, view_at(L, view, ir_ref(L->arena, s->var)), e, loc);
    L->out = outer;
    emit(L, s);
}

/* --- what is stored ------------------------------------------------------- */

/* NumPy casts floats to unsigned integers through the next wider signed one
 * (uint64 in two halves) and warns where that does not hold the value.  The
 * processor does not tell: out-of-range values take another way here. */
static void
warn_of_cast(Lower *L, Expr *e, DType dtype, Loc loc)
{
    DType through = dtype_size(dtype) <= 2 ? DT_I32 : DT_I64;
    Expr *fits = float_in_range(L, e, through);
    if (dtype == DT_U64) {
        fits = either(L, fits, float_in_range(L, e, DT_U64));
    }
    Stmt *s = ir_stmt(L->arena, S_WARN, loc);
    s->value = not_(L, fits);
    s->warn = WARN_INVALID;
    emit(L, s);
}

/* Strong numbers are cast into unsigned arrays, and tested like Python's for
 * signed ones: so it is in NumPy 2. */
static Expr *
stored_int(Lower *L, Value v, DType dtype, Loc loc)
{
    DType from = v.expr->dtype;
    bool always = v.type->weak || dtype_is_signed(dtype);
    if (!always && v.flag == NULL) {
        Expr *e = dtype_is_float(from) ? reuse(L, v.expr, loc) : v.expr;
        if (dtype_is_float(from)) {
            warn_of_cast(L, e, dtype, loc);
        }
        return cast_to(L, dtype, e);
    }
    if (from == DT_BOOL) {
        return cast_to(L, dtype, v.expr);
    }
    Expr *e = reuse(L, v.expr, loc);
    check_range_of(L, e, from, dtype, always ? NULL : not_(L, v.flag), loc);
    L->result->may_warn |= !always && dtype_is_float(from);
    return cast_to(L, dtype, e);
}

/* What a[i] = v does to v: bool takes the truth, floats round, integers are
 * cast or tested. */
Expr *
stored_as(Lower *L, Value v, DType dtype, Loc loc)
{
    v = some(L, v, loc);
    if (dtype == DT_BOOL) {
        return cast_to(L, DT_BOOL, v.expr);
    }
    if (dtype_is_float(dtype)) {
        L->result->may_warn |= !v.type->weak && dtype_is_float(v.expr->dtype) &&
                               v.expr->dtype != dtype;
        return operand_as(L, v, dtype, loc);
    }
    return stored_int(L, v, dtype, loc);
}
