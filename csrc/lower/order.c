/* The order of axes in memory, where it decides bits.
 *
 *     d = a * b        NumPy gives d the order of its operands' axes
 *     np.sum(d)        and adds in the order of memory
 *
 * Arrays made here are in C order.  That is what NumPy would have made if all
 * operands are in that order, which for arguments of any strides is known only
 * at run time.  So it is remembered of which views an array was computed, and
 * where floats are added, checks test their strides.  A call that fails them is
 * repeated in Python.
 */
#include "csrc/lower/state.h"

/* One of the views that decided the order of an array. */
typedef struct Model {
    const View *view;
    const struct Model *next;
} Model;

/* --- what decides --------------------------------------------------------- */

/* Are the axes in the buffer's own order, and that is C's? */
bool
order_is_plain(const Lower *L, const View *view)
{
    int last = -1;
    for (int k = 0; k < view->rank; k++) {
        int axis = view->axis[k];
        if (axis >= 0 && axis < last) {
            return false;
        }
        last = axis >= 0 ? axis : last;
    }
    const Buf *buf = view->buf;
    bool rows = buf->layout == LAYOUT_C || map_has(&L->in_rows, buf);
    return rows && !map_has(&L->orders, buf);
}

/* The order of 'buf' follows that of 'view'. */
void
order_follows(Lower *L, const Buf *buf, const View *view)
{
    bool exact = map_has(&L->fortran, buf);
    if (view->rank < 2 || exact || order_is_plain(L, view)) {
        return;
    }
    Model *model = ARENA_NEW(L->arena, Model);
    model->view = arena_copy(L->arena, view, sizeof(*view));
    model->next = map_get(&L->orders, buf);
    map_set(&L->orders, buf, model);
}

/* The same for all arrays that 'z' reads. */
void
order_follows_lazy(Lower *L, const Buf *buf, const Lazy *z)
{
    if (z->view != NULL) {
        order_follows(L, buf, z->view);
    }
    for (int i = 0; i < z->nargs; i++) {
        order_follows_lazy(L, buf, z->args[i]);
    }
}

View *
order_reversed(Lower *L, Buf *buf, Expr *unless, Loc loc)
{
    Expr *dims[MAX_RANK];
    int n = buf->rank;
    for (int k = 0; k < n; k++) {
        dims[k] = buf->dims[k];
        if (buf->kind == BUF_RESULT) {
            Expr *more = op2(L, E_LE, int_const(L, 2), dims[k]);
            emit_check(L, unless ? either(L, unless, more) : more, X_SPECULATE,
                       loc);
        }
    }
    for (int k = 0; k < n; k++) {
        buf->dims[k] = dims[n - 1 - k];
    }
    map_set(&L->fortran, buf, buf);
    return view_transposed(L, view_whole(L, buf));
}

/* --- checks --------------------------------------------------------------- */

/* The size of an axis' step in bytes. */
static Expr *
distance(Lower *L, const View *view, int k)
{
    int axis = view->axis[k];
    Expr *stride = ir_stride(L->arena, view->buf, axis);
    Expr *step = view->step[axis];
    return op1(L, E_ABS, step ? op2(L, E_MUL, stride, step) : stride);
}

Expr *
axis_is_single(Lower *L, const View *view, int k)
{
    return op2(L, E_LE, view_extent(L, view, k), int_const(L, 1));
}

/* Does axis 'k' lie within axis 'outer', as NumPy sorts them?  Steps of 0 say
 * nothing. */
Expr *
order_within(Lower *L, const View *view, int k, int outer)
{
    Expr *inner = distance(L, view, k);
    Expr *wide = distance(L, view, outer);
    Expr *known = op2(L, E_LT, int_const(L, 0), inner);
    Expr *less = outer < k ? op2(L, E_LE, inner, wide)
                           : op2(L, E_LT, inner, wide);
    return op2(L, E_AND, known, less);
}

/* Replays if some axis repeats its elements: it could lie anywhere. */
void
check_no_repeats(Lower *L, const View *view, Loc loc)
{
    Expr *zero = int_const(L, 0);
    for (int k = 0; k < view->rank; k++) {
        if (view->axis[k] >= 0) {
            Expr *moves = op2(L, E_LT, zero, distance(L, view, k));
            emit_check(L, op2(L, E_OR, axis_is_single(L, view, k), moves),
                       X_SPECULATE, loc);
        }
    }
}

/* Memory is walked from the last axis to the first. */
static void
check_axes(Lower *L, const View *view, Loc loc)
{
    for (int i = 0; i < view->rank; i++) {
        for (int k = i + 1; k < view->rank; k++) {
            if (view->axis[i] < 0 || view->axis[k] < 0) {
                continue;
            }
            Expr *few = op2(L, E_OR, axis_is_single(L, view, i),
                            axis_is_single(L, view, k));
            emit_check(L, op2(L, E_OR, few, order_within(L, view, k, i)),
                       X_SPECULATE, loc);
        }
    }
}

/* The array is one that NumPy would have made in C order too. */
void
check_made_in_order(Lower *L, const View *view, Loc loc)
{
    const Model *model = map_get(&L->orders, view->buf);
    if (view->buf->kind == BUF_REF && L->orders.n > 0 && view->rank > 1) {
        emit_check(L, ir_bool(L->arena, false), X_SPECULATE, loc);
        return;
    }
    for (; model != NULL; model = model->next) {
        check_axes(L, model->view, loc);
        check_made_in_order(L, model->view, loc);
    }
}

/* 'view' is walked in C order. */
void
check_in_order(Lower *L, const View *view, Loc loc)
{
    if (view->rank > 1 && !order_is_plain(L, view)) {
        check_axes(L, view, loc);
        check_made_in_order(L, view, loc);
    }
}
