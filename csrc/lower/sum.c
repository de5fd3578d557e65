/* Sums of floats, and what is made of them: np.sum, np.mean, np.var, np.std.
 *
 *     np.sum(a[i])            (sum f64 &a 0  i 0  1 n 1)
 *     np.sum(a[y, x])         ((c0 + c1) + c2) + 0.0     a pixel's channels
 *
 * NumPy adds pairwise, in an order that depends on sizes and strides.  Arrays
 * in memory are summed by the host, which knows them (csrc/base/sum.c); the
 * lanes of a small vector are added here in the same order: eight running sums,
 * or from left to right when there are fewer than eight.  For 17 elements
 *
 *     r0 = x0 + x8,  r1 = x1 + x9, ...  r7 = x7 + x15
 *     ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)) + x16
 *
 * Every sum starts at 0.0, so that no sum is -0.0.
 *
 * A mean divides in float64 whatever the dtype, as NumPy's count is an int64.
 * np.var is the mean of the squares of x - mean, with n - ddof as the count.
 */
#include "csrc/lower/reduce.h"

enum { BLOCK_LANES = 8 };

/* --- lanes ---------------------------------------------------------------- */

/* Lane 'i' of a vector that has a name. */
static Expr *
lane(Lower *L, Expr *vec, int i)
{
    return ir_elem(L->arena, vec, int_const(L, i));
}

/* The lanes of a vector, pairwise. */
static Expr *
sum_lanes(Lower *L, Expr *vec, Loc loc)
{
    int n = vec->lanes;
    int whole = n - n % BLOCK_LANES;
    Expr *sum = NULL;
    if (whole > 0) {
        Expr *r[BLOCK_LANES];
        for (int k = 0; k < BLOCK_LANES; k++) {
            r[k] = lane(L, vec, k);
            for (int i = k + BLOCK_LANES; i < whole; i += BLOCK_LANES) {
                r[k] = op2(L, E_ADD, r[k], lane(L, vec, i));
            }
        }
        Expr *lhs = op2(L, E_ADD, op2(L, E_ADD, r[0], r[1]),
                        op2(L, E_ADD, r[2], r[3]));
        Expr *rhs = op2(L, E_ADD, op2(L, E_ADD, r[4], r[5]),
                        op2(L, E_ADD, r[6], r[7]));
        sum = op2(L, E_ADD, lhs, rhs);
    }
    for (int i = whole; i < n; i++) {
        Expr *x = lane(L, vec, i);
        sum = sum == NULL ? x : op2(L, E_ADD, sum, x);
    }
    Expr *zero = ir_float(L->arena, vec->dtype, 0.0);
    return reuse(L, op2(L, E_ADD, sum, zero), loc);
}

/* --- memory --------------------------------------------------------------- */

/* A view that is a row of few elements: its size, else 0. */
static int
small_row(Lower *L, const View *view)
{
    int64_t n;
    bool small = view->rank == 1 &&
                 ir_const_int(view_extent(L, view, 0), &n) && n >= 1 &&
                 n <= MAX_LANES;
    return small ? (int)n : 0;
}

/* The operands of a SUM over all of 'view'; how many there are: an index per
 * axis of the buffer, then axis, extent and step of each free one.  A new axis
 * of one element takes the place of any. */
static int
box_args(Lower *L, const View *view, Expr **args)
{
    int rank = view->buf->rank;
    int n = rank;
    for (int i = 0; i < rank; i++) {
        args[i] = view->fixed[i] ? view->fixed[i] : view->offset[i];
        args[i] = args[i] ? args[i] : int_const(L, 0);
    }
    for (int k = 0; k < view->rank; k++) {
        int axis = view->axis[k];
        Expr *step = axis >= 0 ? view->step[axis] : NULL;
        args[n++] = int_const(L, axis >= 0 ? axis : 0);
        args[n++] = view_extent(L, view, k);
        args[n++] = step ? step : int_const(L, 1);
    }
    return n;
}

/* A part of an array as an operand of a routine. */
Expr *
box_of_view(Lower *L, const View *view, Loc loc)
{
    Expr *args[4 * MAX_RANK + 1];
    Buf *buf = view->buf;
    int n = box_args(L, view, args);
    return ir_at(ir_sum(L->arena, SUM_BOX, buf->dtype, buf, args, n), loc);
}

/* The node for all elements of 'view'; 'mean' for squares; 'parts' of complex
 * numbers. */
static Expr *
sum_node(Lower *L, const View *view, DType dtype, Expr *mean, bool parts,
         Loc loc)
{
    Expr *args[4 * MAX_RANK + 1];
    if (view->rank > 1) {
        check_made_in_order(L, view, loc);
    }
    int n = box_args(L, view, args);
    if (mean != NULL) {
        args[n++] = mean;
    }
    SumKind kind = mean ? SUM_SQUARES : parts ? SUM_PARTS : SUM_PLAIN;
    Expr *e = ir_sum(L->arena, kind, dtype, view->buf, args, n);
    return finite_or_python(L, hold(L, ir_at(e, loc), loc), loc);
}

/* The elements as a vector, if they are few. */
static Expr *
as_vector(Lower *L, const Elements *in)
{
    if (in->view != NULL && (in->parts || small_row(L, in->view) == 0)) {
        return NULL;
    }
    Expr *vec = in->view ? view_load_vector(L, in->view) : in->vec;
    return reuse(L, hold(L, vec, in->loc), in->loc);
}

/* np.sum of floats. */
Expr *
fold_sum(Lower *L, const Elements *in, DType dtype)
{
    Expr *vec = as_vector(L, in);
    if (vec != NULL && vec->dtype != dtype) {
        vec = reuse(L, cast_to(L, dtype, vec), in->loc);
    }
    return vec != NULL
               ? finite_or_python(L, sum_lanes(L, vec, in->loc), in->loc)
               : sum_node(L, in->view, dtype, NULL, in->parts, in->loc);
}

/* 'sum' / 'n' in float64, then in the dtype of 'sum'. */
Expr *
divide_sum(Lower *L, Expr *sum, Expr *n)
{
    Expr *quotient = op2(L, E_DIV, cast_to(L, DT_F64, sum),
                         cast_to(L, DT_F64, n));
    return cast_to(L, sum->dtype, quotient);
}

/* np.mean; of an empty array it is a warning. */
Expr *
fold_mean(Lower *L, const Elements *in, const Reduction *r)
{
    Expr *n = count_elements(L, in);
    check_some(L, in);
    Expr *sum = dtype_is_float(r->from) ? fold_sum(L, in, r->to)
                                        : sum_of_ints(L, in, r->from, n);
    return divide_sum(L, sum, n);
}

/* The sum of (x - mean) ** 2 for a vector. */
static Expr *
square_lanes(Lower *L, Expr *vec, Expr *mean, Loc loc)
{
    Expr *off = op2(L, E_SUB, cast_to(L, mean->dtype, vec), mean);
    off = reuse(L, off, loc);
    return sum_lanes(L, reuse(L, op2(L, E_MUL, off, off), loc), loc);
}

/* np.var and np.std; too few elements are a warning. */
Expr *
fold_variance(Lower *L, const Elements *in, const Reduction *r)
{
    Expr *n = count_elements(L, in);
    Expr *freedom = op2(L, E_SUB, n, int_const(L, r->ddof));
    freedom = reuse(L, freedom, in->loc);
    emit_check(L, op2(L, E_LT, int_const(L, 0), freedom), X_VALUE, in->loc);
    Expr *mean = reuse(L, fold_mean(L, in, r), in->loc);
    Expr *vec = as_vector(L, in);
    Expr *sum = vec != NULL
                    ? square_lanes(L, vec, mean, in->loc)
                    : sum_node(L, in->view, r->to, mean, false, in->loc);
    Expr *out = finite_or_python(L, divide_sum(L, sum, freedom), in->loc);
    return r->kind == REDUCE_STD ? call_fn(L, FN_SQRT, r->to, out, NULL) : out;
}
