/* Stores of arrays into parts of arrays.
 *
 *     out[1:-1] = a[2:] - a[:-2]    one nest, straight into `out`
 *     a[1:] = a[:-1]                through a temporary: the right side is
 *                                   evaluated completely before the store
 *     a += b                        straight: each element is read where it is
 *                                   stored
 *
 * The value is a tree (lazy.c) that may read the memory that is written.  It is
 * computed in place only if that makes no difference: it reads other buffers,
 * or of this one the very element that is stored next.  Arguments may overlap
 * each other in a general kernel; the fast one has tested that they don't.
 *
 * An array fits if its axes have the sizes of the part or one element; axes of
 * one element before those are dropped.
 */
#include "csrc/lower/state.h"

/* --- overlap -------------------------------------------------------------- */

/* Equal expressions, or none on both sides. */
static bool
same_expr(const Expr *lhs, const Expr *rhs)
{
    return lhs == rhs || (lhs != NULL && rhs != NULL && ir_equal(lhs, rhs));
}

/* Do both views of one buffer have the same element at every index? */
static bool
same_elements(const View *lhs, const View *rhs)
{
    bool same = lhs->rank == rhs->rank;
    for (int k = 0; same && k < lhs->rank; k++) {
        int axis = lhs->axis[k];
        same = axis == rhs->axis[k] &&
               (axis < 0 || (same_expr(lhs->offset[axis], rhs->offset[axis]) &&
                             same_expr(lhs->step[axis], rhs->step[axis]) &&
                             same_expr(lhs->extent[axis], rhs->extent[axis])));
    }
    for (int i = 0; same && i < lhs->buf->rank; i++) {
        same = same_expr(lhs->fixed[i], rhs->fixed[i]);
    }
    return same;
}

/* Could the two buffers share memory? */
static bool
may_overlap(const Lower *L, const Buf *lhs, const Buf *rhs)
{
    if (lhs == rhs || lhs->kind == BUF_REF || rhs->kind == BUF_REF) {
        return true;
    }
    return L->general && lhs->kind == BUF_ARG && rhs->kind == BUF_ARG;
}

bool
is_disturbed(const Lower *L, const View *to, const Lazy *z, bool moved)
{
    if (z->view != NULL) {
        bool other = !may_overlap(L, to->buf, z->view->buf);
        bool same = !moved && to->buf == z->view->buf &&
                    same_elements(to, z->view);
        return !other && !same;
    }
    bool any = false;
    for (int i = 0; i < z->nargs; i++) {
        any |= is_disturbed(L, to, z->args[i], moved || i >= z->own);
    }
    return any;
}

/* --- shapes --------------------------------------------------------------- */

/* Leading axes of one element in front of the index. */
static void
index_behind(Lower *L, const Lazy *z, Expr *const *at, Expr **out)
{
    int drop = z->args[0]->rank - z->rank;
    for (int k = 0; k < z->args[0]->rank; k++) {
        out[k] = k < drop ? int_const(L, 0) : at[k - drop];
    }
}

/* Checks that the extent is 'size', unless it surely is one. */
static void
check_extent(Lower *L, Expr *extent, Expr *size, Loc loc)
{
    int64_t n;
    bool one = ir_const_int(extent, &n) && n == 1;
    if (!one && !ir_equal(extent, size)) {
        emit_check(L, op2(L, E_EQ, extent, size), X_VALUE, loc);
    }
}

/* 'z' as an array of at most 'rank' axes that can be broadcast to a shape. */
const Lazy *
lazy_fitted(Lower *L, Expr *const *shape, int rank, const Lazy *z, Loc loc)
{
    int drop = z->rank - rank;
    for (int k = 0; k < z->rank; k++) {
        Expr *size = drop > k ? int_const(L, 1) : shape[k - drop];
        check_extent(L, z->extent[k], size, loc);
    }
    if (drop <= 0) {
        return z;
    }
    Lazy *rest = lazy_remap(L, z, index_behind, NULL, loc);
    rest->rank = rank;
    for (int k = 0; k < rank; k++) {
        rest->extent[k] = z->extent[k + drop];
    }
    return rest;
}

/* --- stores --------------------------------------------------------------- */

/* 'z' in fresh memory, in the dtype in which it will be stored. */
const Lazy *
lazy_computed(Lower *L, const Lazy *z, DType dtype, Loc loc)
{
    Type *type = ARENA_NEW(L->arena, Type);
    type->kind = TY_ARRAY;
    type->dtype = dtype;
    type->rank = z->rank;
    type->memory = true;
    return lazy_of(L, settle(L, lazy_value(type, z), loc), loc);
}

/* to[...] = z */
void
store_lazy(Lower *L, const View *to, const Lazy *z, Loc loc)
{
    Expr *shape[MAX_RANK];
    for (int k = 0; k < to->rank; k++) {
        shape[k] = view_extent(L, to, k);
    }
    z = lazy_fitted(L, shape, to->rank, z, loc);
    bool stretched = z->rank < to->rank;
    for (int k = 0; k < z->rank; k++) {
        Expr *size = view_extent(L, to, to->rank - z->rank + k);
        stretched |= !ir_equal(z->extent[k], size);
    }
    if (is_disturbed(L, to, z, stretched)) {
        z = lazy_computed(L, z, view_dtype(to), loc);
    }
    lazy_store(L, to, z, loc);
}

/* Can the value be stored as the lanes of a vector? */
static bool
has_lanes_of(Lower *L, const View *part, Value v)
{
    int64_t size;
    return part->rank == 1 && !part->pairs && v.lazy == NULL &&
           type_is_vector(v.type) &&
           ir_const_int(view_extent(L, part, 0), &size) &&
           size == type_lanes(v.type);
}

/* Stores into part of a buffer: an element, a small part from a vector, a
 * number everywhere, or an array. */
void
store_into(Lower *L, const View *part, Value v, Loc loc)
{
    DType dt = view_dtype(part);
    if (v.type->kind != TY_ARRAY) {
        Expr *e = stored_as(L, v, dt, loc);
        if (part->rank == 0) {
            view_store(L, part, e, loc);
        } else {
            view_fill(L, part, e, loc);
        }
    } else if (has_lanes_of(L, part, v)) {
        Expr *vec = vec_cast(L, dt, vector_of(L, v, loc), loc);
        view_store_vector(L, part, vec, loc);
    } else {
        store_lazy(L, part, lazy_of(L, v, loc), loc);
    }
}
