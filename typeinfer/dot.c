/* Types of np.dot of two short vectors.
 *
 *     np.dot(ray, normal)    float64[3] each: a float64 scalar
 *
 * NumPy hands this to its BLAS, whose order of additions is nobody's promise.
 * For a few elements it is found out when vizgen is imported (csrc/py/dots.c),
 * for either float type: the longest vectors up to which products are added
 * from left to right and how they are rounded, contiguous ones and others.
 * Longer vectors and matrices are for the routine itself (linalg.c).  Integers
 * wrap, so that their order does not matter; nor does that of floats where
 * approx= says so.
 */
#include "csrc/base/approx.h"
#include "typeinfer/state.h"

/* The lanes of a 1-D array; an axis of an argument is pinned for it.  0:
 * none. */
static int
lanes_of(Infer *I, const AExpr *call, int k)
{
    const Type *type = call->items.at[k]->type;
    if (type->kind != TY_ARRAY || type->rank != 1 || type->alt != ALT_NEVER) {
        return 0;
    }
    check_reach(I, type, call->loc);
    if (type_lanes(type) == 0) {
        infer_pin(I, size_origin(type->size[0]));
    }
    return type_lanes(type);
}

/* Two vectors whose products are added from left to right. */
bool
is_short_dot(const AExpr *call, bool any_order)
{
    const Type *a = call->items.at[0]->type;
    const Type *b = call->items.at[1]->type;
    if (a->kind != TY_ARRAY || b->kind != TY_ARRAY || a->rank != 1 ||
        b->rank != 1) {
        return false;
    }
    int n = type_lanes(a);
    DType dtype = dtype_promote(a->dtype, b->dtype);
    bool known = !dtype_is_float(dtype) || any_order ||
                 n <= numpy_dot_order(dtype, false).longest;
    return n > 0 && n == type_lanes(b) && dtype != DT_BOOL && known;
}

const Type *
type_of_dot(Infer *I, AExpr *call, BuiltinId id)
{
    int n = lanes_of(I, call, 0);
    int other = lanes_of(I, call, 1);
    if (n != other && n != 0 && other != 0) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, call->loc, NULL,
                     "`dot` of %d and %d elements: this raises ValueError",
                     n, other);
    }
    if (!is_short_dot(call, I->unit->approx & RELAX_REASSOC)) {
        return type_of_linalg(I, call, id);
    }
    DType dtype = dtype_promote(call->items.at[0]->type->dtype,
                                call->items.at[1]->type->dtype);
    return type_num(I->arena, dtype, false);
}
