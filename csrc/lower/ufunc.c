/* NumPy's functions of floats, by NumPy's own inner loops.
 *
 *     np.exp(x)          (call np_exp:f64 x)
 *     np.exp(v)          the same, lane by lane
 *
 * An element computed alone has the bits that it has in an array
 * (csrc/py/loops.c tests that).  np.power looks at its second operand as a
 * whole: one exponent of 2, 0.5 or -1 for all elements is a square, a root or a
 * reciprocal.  So a number as exponent is another function than an array.
 */
#include <string.h>

#include "csrc/lower/state.h"

/* 'y' is one exponent for all where 'single'. */
Expr *
loop_element(Lower *L, BuiltinId id, Expr *x, Expr *y, bool single, Loc loc)
{
    Fn fn = (Fn)builtin_row(id)->fn;
    if (fn == FN_NP_POWER && single) {
        fn = FN_NP_POWER_BY;
    }
    Sym what = sym(ir_fn_name((Fn)builtin_row(id)->fn) + strlen("np_"));
    return with_warnings(L, call_fn(L, fn, x->dtype, x, y), what, NULL, loc);
}

/* NumPy computes arrays that run backwards by other instructions. */
void
check_forward(Lower *L, const View *view, Loc loc)
{
    Expr *zero = int_const(L, 0);
    for (int k = 0; k < view->rank; k++) {
        int axis = view->axis[k];
        Expr *step = axis >= 0 ? view->step[axis] : NULL;
        if (axis < 0 || (view->buf->layout == LAYOUT_C && step == NULL)) {
            continue;
        }
        Expr *stride = ir_stride(L->arena, view->buf, axis);
        stride = step ? op2(L, E_MUL, stride, step) : stride;
        Expr *few = op2(L, E_LE, view_extent(L, view, k), int_const(L, 1));
        emit_check(L, op2(L, E_OR, op2(L, E_LE, zero, stride), few),
                   X_SPECULATE, loc);
    }
}
