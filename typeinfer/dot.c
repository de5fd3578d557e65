/* Types of np.dot of two short vectors.
 *
 *     np.dot(ray, normal)    float64[3] each: a float64 scalar
 *
 * NumPy hands this to its BLAS, whose order of additions is nobody's promise.
 * For a few elements it is found out when vizgen is imported (csrc/py/dots.c),
 * for either float type: the longest vectors up to which products are added
 * from left to right, contiguous ones and others.  Longer vectors and matrices
 * stay in Python.  Integers wrap, so that their order does not matter.
 */
#include "typeinfer/state.h"

/* Not translated. */
static _Noreturn void
refuse_dot(Infer *I, const AExpr *call, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc,
                 "Short vectors of one axis are translated.",
                 "`dot` of %s and %s is not translated%s",
                 type_text(I->arena, call->items.at[0]->type),
                 type_text(I->arena, call->items.at[1]->type), why);
}

/* The lanes of a 1-D array; an axis of an argument is pinned for it. */
static int
lanes_of(Infer *I, const AExpr *call, int k)
{
    const Type *type = call->items.at[k]->type;
    if (type->kind != TY_ARRAY || type->rank != 1 || type->alt != ALT_NEVER ||
        type->dtype == DT_BOOL) {
        refuse_dot(I, call, "");
    }
    check_reach(I, type, call->loc);
    if (type_lanes(type) == 0) {
        infer_pin(I, size_origin(type->size[0]));
    }
    return type_lanes(type);
}

const Type *
type_of_dot(Infer *I, const AExpr *call)
{
    int n = lanes_of(I, call, 0);
    int other = lanes_of(I, call, 1);
    if (n == 0 || other == 0) {
        refuse_dot(I, call, "");
    }
    if (n != other) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, call->loc, NULL,
                     "`dot` of %d and %d elements: this raises ValueError",
                     n, other);
    }
    DType dtype = dtype_promote(call->items.at[0]->type->dtype,
                                call->items.at[1]->type->dtype);
    if (dtype_is_float(dtype) && n > numpy_dot_known(dtype, false)) {
        refuse_dot(I, call, ": the order of NumPy's additions is not known");
    }
    return type_num(I->arena, dtype, false);
}
