/* Views under other axes: transposes, new axes, other shapes.
 *
 *     a.T, a[:, None]     the same buffer, axes listed in another order
 *     a.reshape(h, w)     a buffer of its own that names the same memory
 *                         (S_VIEW with AXIS_PACKED), as elements in C order
 *                         have no strides over the old axes
 *     b.ravel()           of an array with gaps: a copy
 *
 * Which of these it is was decided by typeinfer/views.c.  Where NumPy may give
 * a view although a copy is made here, a check has Python do it: the difference
 * is visible when one of the two is written.
 *
 * NumPy gives a view of another shape whenever there are strides for it.  For a
 * part a[:, :n] of a larger array there may be, depending on extents: two
 * neighbouring axes k - 1 and k can be walked as one if
 *
 *     stride[k - 1] == stride[k] * extent[k]
 *
 * so a copy is sure only where that holds for no pair (check_apart), or for
 * ravel, where the elements do not follow each other without gaps (check_gaps).
 */
#include <string.h>

#include "csrc/lower/state.h"

/* --- axes ----------------------------------------------------------------- */

/* The view with the axes of the plan. An axis that is dropped (np.squeeze) must
 * have one element; where others would be dropped if they had one, they must
 * have more, or the rank would be another. */
static View *
planned(Lower *L, const View *view, const ViewPlan *plan, Loc loc)
{
    View *out = arena_copy(L->arena, view, sizeof(*view));
    Expr *one = int_const(L, 1);
    out->rank = 0;
    for (int k = 0; k < plan->rank; k++) {
        int from = plan->from[k];
        out->axis[out->rank++] = from < 0 ? -1 : view->axis[from];
        if (from >= 0 && plan->others_more) {
            Expr *n = view_extent(L, view, from);
            emit_check(L, op2(L, E_NE, n, one), X_SPECULATE, loc);
        }
    }
    for (int k = 0; k < view->rank; k++) {
        int axis = view->axis[k];
        if (plan->dropped[k]) {
            Expr *n = view_extent(L, view, k);
            int64_t size;
            if (!ir_const_int(n, &size) || size != 1) {
                emit_check(L, op2(L, E_EQ, n, one), X_VALUE, loc);
            }
        }
        if (plan->dropped[k] && axis >= 0) {
            out->fixed[axis] = view_place(L, view, axis, int_const(L, 0));
        }
    }
    return out;
}

/* A call of BK_VIEW. */
Value
lower_view(Lower *L, const AExpr *e, BuiltinId id)
{
    Value values[MAX_RANK + 2] = {{.type = NULL}};
    lower_items(L, &e->items, values);
    ViewPlan plan;
    Value out = {.type = e->type};
    if (!rule_view(id, e, e->items.at[0]->type, &plan)) {
        fatal("lower: no plan for `%s`", builtin_row(id)->name);
    }
    out.view = planned(L, values[0].view, &plan, e->loc);
    return out;
}

/* --- other shapes --------------------------------------------------------- */

/* The memory of 'view', whose elements lie in C order without gaps, as a buffer
 * of 'rank' axes. It begins at the view's first element.  What is known of it
 * beyond that, whose memory it is, is kept as a Packed for those who ask. */
View *
view_packed(Lower *L, const View *view, Expr *const *dims, int rank, Loc loc)
{
    Buf *src = view->buf;
    Buf *buf = new_buf(L, src->name, view_dtype(view), rank, BUF_REF);
    Stmt *s = ir_stmt(L->arena, S_VIEW, loc);
    src->space = SPACE_HEAP; /* what is on the stack has no other names */
    s->buf = buf;
    s->src = src;
    s->nindex = src->rank + 2 * buf->rank;
    s->index = ARENA_ARRAY(L->arena, Expr *, s->nindex + 1);
    for (int i = 0; i < src->rank; i++) {
        Expr *at = view->fixed[i] ? view->fixed[i] : view->offset[i];
        s->index[i] = at ? at : int_const(L, 0);
    }
    for (int k = 0; k < rank; k++) {
        int64_t known;
        if (ir_const_int(dims[k], &known)) {
            buf->dims[k] = dims[k];
        }
        s->axes[k] = AXIS_PACKED;
        s->index[src->rank + 2 * k] = dims[k];
        s->index[src->rank + 2 * k + 1] = int_const(L, 1);
    }
    if (view->pairs) {
        s->axes[rank] = AXIS_PACKED;
        s->index[s->nindex - 2] = int_const(L, 2);
        s->index[s->nindex - 1] = int_const(L, 1);
    }
    emit(L, s);
    Packed *packed = ARENA_NEW(L->arena, Packed);
    packed->of = pin_view(L, view, loc);
    for (int k = 0; k < rank; k++) {
        packed->dims[k] = pin_index(L, dims[k], src, loc);
    }
    map_set(&L->packed, buf, packed);
    return view_whole(L, buf);
}

/* The number of elements. */
static Expr *
count_of(Lower *L, const View *view, Loc loc)
{
    Expr *count = int_const(L, 1);
    for (int k = 0; k < view->rank; k++) {
        Expr *n = view_extent(L, view, k);
        int64_t a;
        int64_t b;
        bool known = ir_const_int(count, &a) && ir_const_int(n, &b);
        count = known ? int_const(L, a * b)
                : k   ? op2(L, E_MUL, count, n)
                      : n;
    }
    count = reuse(L, hold(L, count, loc), loc);
    if (count->op == E_VAR) {
        map_set(&L->nonnegative, count->var, L);
    }
    return count;
}

/* The sizes that are written, and their product, which must not overflow;
 * '*open' is the axis that gets what is left (-1 in Python), -1: none. */
static Expr *
written_sizes(Lower *L, const Value *sizes, int n, Expr **dims, int *open,
              Loc loc)
{
    Expr *product = int_const(L, 1);
    *open = -1;
    for (int k = 0; k < n; k++) {
        int64_t known;
        Expr *e = cast_to(L, DT_I64, sizes[k].expr);
        if (ir_const_int(e, &known) && known < 0) {
            *open = k;
            continue;
        }
        dims[k] = reuse(L, hold(L, e, loc), loc);
        if (!is_nonnegative(L, dims[k])) {
            emit_check(L, op2(L, E_LE, int_const(L, 0), dims[k]), X_VALUE,
                       loc);
        }
        emit_check(L, not_(L, op2(L, E_MULO, product, dims[k])), X_VALUE, loc);
        product = reuse(L, op2(L, E_MUL, product, dims[k]), loc);
    }
    return product;
}

/* The extents of the new shape, which must have as many elements: ValueError.
 * An open axis gets count / rest, and rest must not be 0, since then any size
 * would do. */
static void
new_shape(Lower *L, const View *view, const Value *sizes, const Type *type,
          Expr **dims, Loc loc)
{
    Expr *count = count_of(L, view, loc);
    if (sizes == NULL) {
        dims[0] = count;
        return;
    }
    int open;
    Expr *rest = written_sizes(L, sizes, type->rank, dims, &open, loc);
    if (open >= 0) {
        Expr *some = op2(L, E_LT, int_const(L, 0), rest);
        emit_check(L, some, X_VALUE, loc);
        dims[open] = type->size[open] >= 0
                         ? int_const(L, type->size[open])
                         : reuse(L, op2(L, E_IDIV, count, rest), loc);
        if (dims[open]->op == E_VAR) {
            map_set(&L->nonnegative, dims[open]->var, L);
        }
        rest = op2(L, E_MUL, rest, dims[open]);
    }
    emit_check(L, op2(L, E_EQ, count, rest), X_VALUE, loc);
}

/* Bytes from an element to the next one of free axis 'k'. */
static Expr *
stride_of(Lower *L, const View *view, int k)
{
    int axis = view->axis[k];
    if (axis < 0) {
        return int_const(L, 0);
    }
    Expr *stride = ir_stride(L->arena, view->buf, axis);
    Expr *step = view->step[axis];
    return step ? op2(L, E_MUL, stride, step) : stride;
}

/* Checks that no two neighbouring axes could be one: then no strides describe
 * an array of fewer axes. */
static void
check_apart(Lower *L, const View *view, Loc loc)
{
    for (int k = 0; k < view->rank; k++) {
        Expr *n = view_extent(L, view, k);
        emit_check(L, op2(L, E_LT, int_const(L, 1), n), X_SPECULATE, loc);
        if (k > 0) {
            Expr *run = op2(L, E_MUL, stride_of(L, view, k), n);
            Expr *apart = op2(L, E_NE, stride_of(L, view, k - 1), run);
            emit_check(L, apart, X_SPECULATE, loc);
        }
    }
}

/* ravel copies what is not contiguous: some axis of more than one element has a
 * gap behind it. Of empty arrays all are contiguous. */
static void
check_gaps(Lower *L, const View *view, Loc loc)
{
    Expr *run = int_const(L, dtype_size(view_dtype(view)));
    Expr *gap = NULL;
    for (int k = view->rank - 1; k >= 0; k--) {
        Expr *n = view_extent(L, view, k);
        Expr *more = op2(L, E_LT, int_const(L, 1), n);
        Expr *odd = op2(L, E_NE, stride_of(L, view, k), run);
        gap = either(L, gap, both(L, more, odd));
        run = op2(L, E_MUL, run, n);
        emit_check(L, op2(L, E_LT, int_const(L, 0), n), X_SPECULATE, loc);
    }
    emit_check(L, gap, X_SPECULATE, loc);
}

/* A fresh array of the new shape that holds the elements of 'view': it is
 * filled through a name with the old shape, in the order of elements. */
static Value
copied(Lower *L, const AExpr *e, BuiltinId id, Value from, Expr *const *dims)
{
    const View *view = from.view;
    Expr *old[MAX_RANK];
    if (id == BUILTIN_NP_RAVEL || id == BUILTIN_RAVEL_OF) {
        check_gaps(L, view, e->loc);
    } else if (id != BUILTIN_FLATTEN_OF) {
        check_apart(L, view, e->loc);
    }
    for (int k = 0; k < view->rank; k++) {
        old[k] = reuse(L, hold(L, view_extent(L, view, k), e->loc), e->loc);
    }
    Value out = new_array(L, e->type, dims, false, e->loc);
    View *into = view_packed(L, out.view, old, view->rank, e->loc);
    lazy_store(L, into, lazy_of(L, from, e->loc), e->loc);
    return out;
}

/* The elements of 'from' in C order, in another shape. */
static Value
reshaped(Lower *L, const AExpr *e, BuiltinId id, Value from,
         const Value *sizes)
{
    Expr *dims[MAX_RANK];
    new_shape(L, from.view, sizes, e->type, dims, e->loc);
    if (!reshape_is_view(id, from.type, e->type->rank)) {
        return copied(L, e, id, from, dims);
    }
    Value out = {.type = e->type, .view = from.view};
    if (from.type->rank != 1 || e->type->rank != 1) {
        out.view = view_packed(L, from.view, dims, e->type->rank, e->loc);
    }
    return out;
}

/* A call of BK_RESHAPE. */
Value
lower_reshape(Lower *L, const AExpr *e, BuiltinId id)
{
    Value *values = ARENA_ARRAY(L->arena, Value, e->items.n + 1);
    const Type *dims[MAX_RANK];
    lower_items(L, &e->items, values);
    const Value *sizes = NULL;
    if (reshape_dims(e, id, dims) > 0) {
        bool tuple = values[1].type->kind == TY_TUPLE;
        sizes = tuple ? values[1].items : values + 1;
    }
    return reshaped(L, e, id, values[0], sizes);
}

/* a.T, a.flat */
Value
lower_view_attr(Lower *L, const AExpr *e, Value base)
{
    if (strcmp(e->name, "flat") == 0) {
        return reshaped(L, e, BUILTIN_RESHAPE_OF, base, NULL);
    }
    Value out = {.type = e->type};
    out.view = view_transposed(L, base.view);
    return out;
}
