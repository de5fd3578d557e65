/* np.dot of two short vectors.
 *
 *     np.dot(a, b)    ((a0 * b0 + a1 * b1) + a2 * b2) + 0.0
 *                     fma(a2, b2, fma(a1, b1, fma(a0, b0, 0.0)))
 *
 * Order and rounding are those of typeinfer/dot.c.  The BLAS begins at 0.0, so
 * that no result is -0.0; NumPy multiplies vectors of one element without it.
 * float32 is multiplied in float32 and added in float64.  A sum that is not
 * finite may have warned, once for all operations; that is Python's.
 */
#include "csrc/base/approx.h"
#include "csrc/lower/state.h"
#include "typeinfer/rules.h"

/* A strided vector goes through another routine than a contiguous one.  Is its
 * order the same, or the view surely contiguous? */
static bool
is_known(const Lower *L, const Value *v, DType dtype, int n)
{
    const View *view = v->view;
    DotOrder strided = numpy_dot_order(dtype, true);
    bool same = strided.fused == numpy_dot_order(dtype, false).fused;
    if (view == NULL || !dtype_is_float(dtype) || n == 1 ||
        (L->approx & RELAX_REASSOC) || (same && n <= strided.longest)) {
        return true;
    }
    int axis = view->axis[0];
    return axis >= 0 && axis == view->buf->rank - 1 &&
           view->buf->layout == LAYOUT_C && view->step[axis] == NULL;
}

/* The lanes of an operand in the dtype of the products. */
static Expr *
operand(Lower *L, Value v, DType dtype, Loc loc)
{
    return reuse(L, vec_cast(L, dtype, vector_of(L, v, loc), loc), loc);
}

/* The sum of 'n' products from left to right. */
static Expr *
sum_of_products(Lower *L, Expr *x, Expr *y, int n, DType dtype)
{
    bool from_zero = dtype_is_float(dtype) && n > 1;
    bool fused = from_zero && numpy_dot_order(dtype, false).fused;
    DType wide = dtype == DT_F32 && n > 1 ? DT_F64 : dtype;
    Expr *zero = from_zero ? ir_float(L->arena, wide, 0.0) : NULL;
    Expr *sum = fused ? zero : NULL;
    for (int i = 0; i < n; i++) {
        Expr *k = int_const(L, i);
        Expr *args[] = {ir_elem(L->arena, x, k), ir_elem(L->arena, y, k), sum};
        if (fused) {
            sum = ir_call(L->arena, FN_FMA, wide, args, 3);
            continue;
        }
        Expr *term = cast_to(L, wide, op2(L, E_MUL, args[0], args[1]));
        sum = sum == NULL ? term : op2(L, E_ADD, sum, term);
    }
    if (from_zero && !fused) {
        sum = op2(L, E_ADD, sum, zero);
    }
    return cast_to(L, dtype, sum);
}

Value
lower_dot(Lower *L, const AExpr *e, BuiltinId id)
{
    Value args[2];
    lower_items(L, &e->items, args);
    DType dtype = e->type->dtype;
    int n = type_lanes(args[0].type);
    if (!is_known(L, &args[0], dtype, n) ||
        !is_known(L, &args[1], dtype, n)) {
        return product_of(L, e, id, args);
    }
    Expr *x = operand(L, args[0], dtype, e->loc);
    Expr *y = operand(L, args[1], dtype, e->loc);
    Expr *sum = sum_of_products(L, x, y, n, dtype);
    if (dtype_is_float(dtype)) {
        sum = finite_or_python(L, sum, e->loc);
    }
    return num_value(e->type, reuse(L, sum, e->loc));
}
