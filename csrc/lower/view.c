/* Memory: views, loads and stores.
 *
 *     img[r + 1, c]   of an RGB image: buffer img, axis 0 fixed at r + 1,
 *                     axis 1 at c, axis 2 free
 *     img[::-1, 2:]   axis 0 free from offset n - 1 with step -1, axis 1 from
 *                     offset 2
 *
 * Views are descriptions for the compiler, not objects of the program: `row =
 * img[r]` costs nothing but a name for r.  Slices and transposes only change
 * offsets, extents and the order of axes.  Because loads happen at the use, a
 * view sees what is stored into its base in the meantime, as NumPy's do.
 *
 * Views compose: element i of free axis k lies at offset + i * step of the
 * buffer's axis, so a slice of a slice has offset + lo * step and step * s.  In
 * the end every load names the buffer and one index per axis of it, an affine
 * form of the loop variables wherever the program's was.
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
    view->pairs = map_has(&L->pairs, buf);
    view->rank = buf->rank - view->pairs;
    for (int i = 0; i < buf->rank; i++) {
        view->axis[i] = i < view->rank ? i : 0;
        view->extent[i] = buf->dims[i];
    }
    return view;
}

/* The size of free axis 'k'. */
Expr *
view_extent(Lower *L, const View *view, int k)
{
    int axis = view->axis[k];
    return axis < 0 ? int_const(L, 1) : view->extent[axis];
}

/* Takes free axis 'k' out of the list. */
static void
drop_axis(View *view, int k)
{
    view->rank--;
    for (int i = k; i < view->rank; i++) {
        view->axis[i] = view->axis[i + 1];
    }
}

/* offset + index * step of a buffer's axis. It is an index in range, so it is
 * not negative, even if the step is. */
Expr *
view_place(Lower *L, const View *view, int axis, Expr *index)
{
    Expr *offset = view->offset[axis];
    Expr *step = view->step[axis];
    Expr *by = step ? op2(L, E_MUL, index, step) : index;
    Expr *at = offset ? op2(L, E_ADD, offset, by) : by;
    if (at != index && (step || is_nonnegative(L, index))) {
        map_set(&L->nonnegative, at, L);
    }
    return at;
}

/* Fixes free axis 'k' at 'index', counted from the view's own start. */
void
view_fix(Lower *L, View *view, int k, Expr *index)
{
    int axis = view->axis[k];
    if (axis >= 0) {
        view->fixed[axis] = view_place(L, view, axis, index);
    }
    drop_axis(view, k);
}

/* The part at index 'k' of the first free axis; 'k' is in range. */
View *
view_at(Lower *L, const View *view, Expr *k)
{
    View *copy = arena_copy(L->arena, view, sizeof(*view));
    view_fix(L, copy, 0, k);
    return copy;
}

/* The element at 'index', one per free axis. */
Expr *
view_element(Lower *L, const View *view, Expr *const *index)
{
    View at = *view;
    for (int k = 0; k < view->rank; k++) {
        int axis = view->axis[k];
        if (axis >= 0) {
            at.fixed[axis] = view_place(L, view, axis, index[k]);
        }
    }
    at.rank = 0;
    return view_load(L, &at);
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

/* Is this the extent of the buffer's axis, perhaps under a name of a view?
 * Variables that keep a view's indices lead back to what they were. */
static bool
is_extent(const Lower *L, const Expr *e, const Expr *dim)
{
    while (e->op == E_VAR && map_has(&L->pinned, e->var)) {
        e = map_get(&L->pinned, e->var);
    }
    return ir_equal(e, dim);
}

/* All of its buffer, in the buffer's own order? */
static bool
is_whole(const Lower *L, const View *view)
{
    bool whole = view->rank + view->pairs == view->buf->rank;
    for (int i = 0; whole && i < view->rank; i++) {
        whole = view->axis[i] == i && view->fixed[i] == NULL &&
                view->offset[i] == NULL && view->step[i] == NULL &&
                is_extent(L, view->extent[i], view->buf->dims[i]);
    }
    return whole;
}

/* A buffer that is this part of another: a name (S_VIEW), for what must be one
 * buffer, such as the operand of a BUF_REF. The whole array is itself. */
Buf *
view_buf(Lower *L, const View *view, Loc loc)
{
    if (is_whole(L, view)) {
        return view->buf;
    }
    const Buf *src = view->buf;
    Buf *buf = new_buf(L, src->name, view_dtype(view), view->rank, BUF_REF);
    Stmt *s = ir_stmt(L->arena, S_VIEW, loc);
    s->buf = buf;
    s->src = view->buf;
    s->nindex = src->rank + 2 * buf->rank;
    s->index = ARENA_ARRAY(L->arena, Expr *, s->nindex + 1);
    for (int i = 0; i < src->rank; i++) {
        Expr *at = view->fixed[i] ? view->fixed[i] : view->offset[i];
        s->index[i] = at ? at : int_const(L, 0);
    }
    for (int i = 0; i < view->rank; i++) {
        Expr *n = view_extent(L, view, i);
        buf->dims[i] = n->op == E_CONST ? n : buf->dims[i];
        s->axes[i] = view->axis[i];
        Expr *extent = view_extent(L, view, i);
        s->index[src->rank + 2 * i] = extent;
        buf->dims[i] = extent->op == E_CONST ? extent : buf->dims[i];
        Expr *step = view->axis[i] < 0 ? NULL : view->step[view->axis[i]];
        s->index[src->rank + 2 * i + 1] = step ? step : int_const(L, 1);
    }
    if (view->pairs) {
        s->axes[view->rank] = src->rank - 1;
        s->index[s->nindex - 2] = int_const(L, 2);
        s->index[s->nindex - 1] = int_const(L, 1);
    }
    emit(L, s);
    return buf;
}

/* --- loads ---------------------------------------------------------------- */

/* The element when all axes are fixed; two lanes if it is complex. */
Expr *
view_load(Lower *L, const View *view)
{
    Buf *buf = view->buf;
    return ir_load(L->arena, buf, view->fixed, buf->rank - view->pairs,
                   view->pairs ? 2 : 0);
}

/* Is the one free axis the buffer's last, and whole? */
static bool
is_whole_row(const View *view)
{
    int last = view->buf->rank - 1;
    int64_t size;
    return view->rank == 1 && last >= 0 && view->axis[0] == last &&
           view->offset[last] == NULL && view->step[last] == NULL &&
           view->extent[last] == view->buf->dims[last] &&
           ir_const_int(view->buf->dims[last], &size) && size >= 1 &&
           size <= MAX_LANES;
}

/* The size of a view of rank 1 that inference found small and constant. */
static int
lanes_of(Lower *L, const View *view)
{
    int64_t size;
    if (!ir_const_int(view_extent(L, view, 0), &size)) {
        fatal("lower: a vector of unknown size");
    }
    return (int)size;
}

/* A whole last axis is one load of all lanes; any other part is gathered. A
 * column of a matrix has its lanes apart in memory. */
Expr *
view_load_vector(Lower *L, const View *view)
{
    int n = lanes_of(L, view);
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

/* Stores an element; 'e' has the buffer's dtype. */
void
view_store(Lower *L, const View *view, Expr *e, Loc loc)
{
    Buf *buf = view->buf;
    emit(L, ir_store(L->arena, buf, view->fixed, buf->rank - view->pairs, e,
                     loc));
}

/* Stores lanes, or one number into all of them. Where the row is not stored at
 * once the value is held first: it may be loaded from it. */
void
view_store_vector(Lower *L, const View *view, Expr *e, Loc loc)
{
    int n = lanes_of(L, view);
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
    bool small = view->rank == 1 && !view->pairs &&
                 ir_const_int(view_extent(L, view, 0), &size) &&
                 size >= 1 && size <= MAX_LANES;
    if (small) {
        view_store_vector(L, view, e, loc);
        return;
    }
    lazy_store(L, view, lazy_number(L, e, loc), loc);
}

/* --- what is stored ------------------------------------------------------- */

/* Strong numbers are cast into unsigned arrays, and tested like Python's for
 * signed ones: so it is in NumPy 2. */
static Expr *
stored_int(Lower *L, Value v, DType dtype, Loc loc)
{
    DType from = v.expr->dtype;
    bool always = v.type->weak || dtype_is_signed(dtype);
    if (!always && v.flag == NULL) {
        return cast_with_warnings(L, dtype, v.expr, loc);
    }
    if (from == DT_BOOL) {
        return cast_to(L, dtype, v.expr);
    }
    Expr *e = reuse(L, v.expr, loc);
    check_range_of(L, e, from, dtype, always ? NULL : not_(L, v.flag), loc);
    if (!always && dtype_is_float(from)) {
        emit_warn(L, not_(L, either(L, v.flag, cast_fits(L, e, dtype))),
                  WARN_INVALID, sym("cast"), loc);
    }
    return cast_to(L, dtype, e);
}

/* What a[i] = v does to v: bool takes the truth, floats round, integers are
 * cast or tested. None raises. */
Expr *
stored_as(Lower *L, Value v, DType dtype, Loc loc)
{
    if (dtype_is_complex(dtype)) {
        return pair_operand(L, v, dtype, loc);
    }
    v = some(L, v, loc);
    if (dtype == DT_BOOL) {
        return cast_to(L, DT_BOOL, v.expr);
    }
    if (dtype == DT_F32 && v.flag != NULL && v.type->alt == ALT_INT) {
        v.expr = reuse(L, v.expr, loc); /* Python's go by way of double */
        Expr *exact = exact_int(L, v.expr, DT_F64);
        emit_check(L, exact ? either(L, not_(L, v.flag), exact) : NULL,
                   X_SPECULATE, loc);
    }
    if (dtype_is_float(dtype)) {
        return v.type->weak ? operand_as(L, v, dtype, loc)
                            : cast_with_warnings(L, dtype, v.expr, loc);
    }
    return stored_int(L, v, dtype, loc);
}
