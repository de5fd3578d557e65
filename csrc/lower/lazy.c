/* Arrays that are computed when somebody needs them.
 *
 *     d = np.sqrt(a * a + b * b)      for i: for k: d[i, k] = sqrt(...)
 *
 * Operators on arrays give trees (Lazy) instead of results.  Whoever needs the
 * result -- a name, a store, an argument of a function -- has the whole tree
 * computed element by element in one nest of loops, so that no memory is
 * written and read in between.  lower_expr settles what it returns; those who
 * can use the tree itself ask lower_lazy.  NumPy makes four arrays for the line
 * above, and walks memory nine times.
 *
 * A node has one of five forms, which lazy_at tells apart:
 *
 *     view      an array in memory: load the element
 *     expr      a number, or lanes of a vector
 *     element   a function of the operands' elements at the same index
 *     index     the operand's element at another index (a[::-1], np.roll)
 *     at        a way of its own (index arrays, tables)
 *
 * A tree must not outlive a store to what it reads: it is settled before a name
 * is bound to it, and held before a user function is called.
 *
 * Shapes are broadcast when a tree is built: axes that surely have one element
 * are read at 0, others must be equal, which is checked where it is not known.
 * A check that fails is no error yet: an axis of unknown size may well have one
 * element, and Python does what is right.
 */
#include <string.h>

#include "csrc/lower/state.h"

/* --- leaves --------------------------------------------------------------- */

/* A node of which all else is zero. */
static Lazy *
new_lazy(Lower *L, DType dtype, Loc loc)
{
    Lazy *z = ARENA_NEW(L->arena, Lazy);
    z->dtype = dtype;
    z->loc = loc;
    return z;
}

/* One number for every element: computed now, once. */
const Lazy *
lazy_number(Lower *L, Expr *e, Loc loc)
{
    DType dtype = e->lanes ? dtype_of_parts(e->dtype) : e->dtype;
    Lazy *z = new_lazy(L, dtype, loc);
    z->expr = reuse(L, hold(L, e, loc), loc);
    return z;
}

/* Part of an array in memory. */
const Lazy *
lazy_view(Lower *L, const View *view, Loc loc)
{
    Lazy *z = new_lazy(L, view_dtype(view), loc);
    z->view = view;
    z->rank = view->rank;
    for (int k = 0; k < z->rank; k++) {
        z->extent[k] = view_extent(L, view, k);
    }
    return z;
}

/* The array 'v', wherever it lives. Memory is read when the tree is computed,
 * a vector is what it is now. */
const Lazy *
lazy_of(Lower *L, Value v, Loc loc)
{
    if (v.lazy != NULL) {
        return v.lazy;
    }
    if (v.view == NULL) {
        Lazy *z = new_lazy(L, v.type->dtype, loc);
        z->rank = v.type->rank;
        z->expr = reuse(L, hold(L, v.expr, loc), loc);
        z->extent[0] = int_const(L, v.expr->lanes);
        return z;
    }
    return lazy_view(L, v.view, loc);
}

/* --- shapes --------------------------------------------------------------- */

/* Is the extent surely one? */
static bool
is_one(const Expr *extent)
{
    int64_t n;
    return ir_const_int(extent, &n) && n == 1;
}

/* The extent in which two meet: the other one if one of them is 1, else they
 * must be equal. A constant is preferred, as it says more. */
static Expr *
meet(Lower *L, Expr *lhs, Expr *rhs, Loc loc)
{
    if (lhs == NULL || is_one(lhs)) {
        return rhs;
    }
    if (is_one(rhs) || ir_equal(lhs, rhs)) {
        return lhs;
    }
    emit_check(L, op2(L, E_EQ, lhs, rhs), X_VALUE, loc);
    return lhs->op == E_CONST || rhs->op != E_CONST ? lhs : rhs;
}

/* Sets the shape of 'z' from its operands, whose axes are aligned at the last
 * one. "joint": no operand alone has this shape, so its size has never been
 * tested. */
static void
broadcast(Lower *L, Lazy *z)
{
    for (int i = 0; i < z->nargs; i++) {
        z->rank = z->args[i]->rank > z->rank ? z->args[i]->rank : z->rank;
    }
    for (int i = 0; i < z->nargs; i++) {
        const Lazy *arg = z->args[i];
        for (int k = 0; k < arg->rank; k++) {
            Expr **extent = &z->extent[z->rank - arg->rank + k];
            *extent = meet(L, *extent, arg->extent[k], z->loc);
        }
    }
    z->joint = true;
    for (int i = 0; i < z->nargs; i++) {
        const Lazy *arg = z->args[i];
        bool same = arg->rank == z->rank && !arg->joint;
        for (int k = 0; same && k < z->rank; k++) {
            same = arg->extent[k] == z->extent[k];
        }
        z->joint &= !same;
    }
}

/* An array computed from others, element by element. */
Lazy *
lazy_map(Lower *L, LazyElement *element, int id, DType compute, DType dtype,
         const Lazy *const *args, int n, Loc loc)
{
    Lazy *z = new_lazy(L, dtype, loc);
    z->element = element;
    z->id = id;
    z->compute = compute;
    z->nargs = n;
    z->own = n;
    for (int i = 0; i < n; i++) {
        z->args[i] = args[i];
    }
    broadcast(L, z);
    return z;
}

/* The elements of 'from' in another arrangement; the caller sets the shape. */
Lazy *
lazy_remap(Lower *L, const Lazy *from, LazyIndex *index, const void *data,
           Loc loc)
{
    Lazy *z = new_lazy(L, from->dtype, loc);
    z->index = index;
    z->data = data;
    z->nargs = 1;
    z->args[0] = from;
    z->joint = true;
    return z;
}

/* An array whose elements 'at' finds by itself. */
Lazy *
lazy_found(Lower *L, DType dtype, LazyAt *at, const void *data, Loc loc)
{
    Lazy *z = new_lazy(L, dtype, loc);
    z->at = at;
    z->data = data;
    z->joint = true;
    return z;
}

/* --- elements ------------------------------------------------------------- */

/* The index of an operand: the last axes of 'at', 0 where it has one element.
 */
void
lazy_index(Lower *L, const Lazy *arg, Expr *const *at, int rank, Expr **out)
{
    for (int k = 0; k < arg->rank; k++) {
        bool single = is_one(arg->extent[k]);
        out[k] = single ? int_const(L, 0) : at[rank - arg->rank + k];
    }
}

/* The index of an operand for the index 'at' of the result. */
static void
index_of_arg(Lower *L, const Lazy *z, const Lazy *arg, Expr *const *at,
             Expr **out)
{
    if (z->index != NULL) {
        z->index(L, z, at, out);
    } else {
        lazy_index(L, arg, at, z->rank, out);
    }
}

/* The element at 'at', which is in range. Statements that it needs are emitted
 * here, where its value is used. */
Expr *
lazy_at(Lower *L, const Lazy *z, Expr *const *at)
{
    if (z->view != NULL) {
        return view_element(L, z->view, at);
    }
    Expr *done = row_element(L, z);
    if (done != NULL) {
        return done;
    }
    if (z->expr != NULL) {
        return z->rank == 0 ? z->expr : ir_elem(L->arena, z->expr, at[0]);
    }
    if (z->at != NULL) {
        return z->at(L, z, at);
    }
    Expr *args[MAX_LAZY_ARGS] = {NULL};
    for (int i = 0; i < z->nargs; i++) {
        Expr *index[MAX_RANK];
        index_of_arg(L, z, z->args[i], at, index);
        args[i] = lazy_at(L, z->args[i], index);
    }
    return z->element != NULL ? z->element(L, z, args) : args[0];
}

/* --- nests ---------------------------------------------------------------- */

/* A loop over [lo, hi) that is emitted and whose body is written next. */
Expr *
open_for(Lower *L, Expr *lo, Expr *hi, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_FOR, loc);
    s->id = L->func->next_id++;
    s->var = ir_var(L->func, "k", DT_I64, 0);
    s->lo = lo;
    s->hi = hi;
    map_set(&L->nonnegative, s->var, s->var);
    emit(L, s);
    L->out = &s->body;
    return ir_ref(L->arena, s->var);
}

/* Opens the loop over free axis 'k' of 'to'; 'out' is its index from 0 on. The
 * loop counts in the buffer's own elements where it can, so that a slice is
 * stored by the loop that one would write by hand:
 *
 *     out[1:-1] = ...      for i in 1 .. n - 1: out[i] = ... at i - 1
 */
static void
open_axis(Lower *L, const View *to, View *at, int k, Expr **out, Loc loc)
{
    int axis = to->axis[k];
    if (axis < 0) {
        *out = int_const(L, 0);
        return;
    }
    Expr *count = to->count[axis] ? to->count[axis] : to->extent[axis];
    Expr *offset = to->offset[axis];
    if (to->step[axis] != NULL || offset == NULL) {
        *out = open_for(L, int_const(L, 0), count, loc);
        at->fixed[axis] = view_place(L, to, axis, *out);
        return;
    }
    Expr *i = open_for(L, offset, op2(L, E_ADD, offset, count), loc);
    *out = op2(L, E_SUB, i, offset);
    at->fixed[axis] = i;
}

/* Stores 'z', cast to the dtype of the array, into all of 'to', which has the
 * same shape but for axes of 'z' that are broadcast. What 'z' reads of 'to'
 * must be the very element that is stored. */
void
lazy_store(Lower *L, const View *to, const Lazy *z, Loc loc)
{
    if (rows_store(L, to, z, loc)) {
        return;
    }
    Block *outer = L->out;
    View at = *to;
    Expr *index[MAX_RANK];
    bool turned = map_has(&L->fortran, to->buf);
    for (int i = 0; i < to->rank; i++) {
        int k = turned ? to->rank - 1 - i : i; /* as memory lies */
        open_axis(L, to, &at, k, &index[k], loc);
    }
    at.rank = 0;
    Expr *own[MAX_RANK];
    lazy_index(L, z, index, to->rank, own);
    Expr *e = vec_cast(L, view_dtype(to), lazy_at(L, z, own), loc);
    view_store(L, &at, e, loc);
    L->out = outer;
}

/* --- values --------------------------------------------------------------- */

/* 'z' as a value of 'type', which is that of a fresh array. */
Value
lazy_value(const Type *type, const Lazy *z)
{
    return (Value){.type = type, .lazy = z};
}

/* The value as an array that exists: a tree is computed into a fresh one. Index
 * arrays put their axes first in memory, wherever they stand in the result. */
Value
settle(Lower *L, Value v, Loc loc)
{
    if (v.lazy == NULL) {
        return v;
    }
    const Lazy *z = v.lazy;
    Expr *dims[MAX_RANK];
    int order[MAX_RANK];
    for (int k = 0; k < z->rank; k++) {
        bool lead = k >= z->place && k < z->place + z->lead;
        order[k] = lead           ? k - z->place
                   : k < z->place ? k + z->lead
                                  : k;
        dims[order[k]] = z->extent[k];
    }
    Type type = *v.type;
    type.object = type.ref ? 0 : type.object; /* a result copies it */
    Value out = new_array(L, arena_copy(L->arena, &type, sizeof(type)), dims,
                          z->joint, loc);
    out.type = v.type;
    if (z->lead > 0) {
        memcpy(out.view->axis, order, sizeof(int) * (size_t)z->rank);
    }
    order_follows_lazy(L, out.view->buf, z);
    lazy_store(L, out.view, z, loc);
    if (v.type->ref) {
        out.view = view_as_ref(L, v.type, out.view, loc);
    }
    return out;
}
