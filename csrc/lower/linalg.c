/* Linear algebra and sorting, by NumPy's routines.
 *
 *     np.dot(v, w)      alloc &out[1]; routine dot &out of [v, w]; out[0]
 *     A @ B             routine matmul &out of [A, B]
 *
 * The bits of a product of floats depend on the order in which a BLAS adds, on
 * its blocking, the CPU and the number of threads.  None of that can be
 * imitated, so the kernel calls what NumPy calls, on memory that looks the same
 * to it: the same strides (a transposed operand takes another path of BLAS),
 * and the same dtype.  Where a view would reach NumPy in another form than it
 * has here, a check sends the call to Python.
 *
 * Operands are parts of arrays as they lie in memory; small arrays in registers
 * are put into memory first.  Products of integers are loops, as any order of
 * additions gives the same, modulo 2**n.
 *
 * A matrix that is singular gives nan, and then Python raises.
 */
#include "csrc/lower/reduce.h"

/* --- operands ------------------------------------------------------------- */

/* A fresh array for what is used up here: on the stack if it has few elements,
 * which are known, else on the heap. */
static View *
scratch(Lower *L, DType dtype, int rank, Expr *const *dims, Loc loc)
{
    Buf *buf = ir_buf(L->func, "part", dtype, rank, BUF_LOCAL);
    buf->loc = loc;
    bool small = true;
    int64_t count = 1;
    for (int k = 0; k < rank; k++) {
        int64_t n;
        buf->dims[k] = reuse(L, hold(L, dims[k], loc), loc);
        small &= ir_const_int(dims[k], &n) && n > 0 && n <= MAX_LANES;
        count = small ? count * n : count;
    }
    buf->space = small && count <= MAX_LANES ? SPACE_STACK : SPACE_HEAP;
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    return view_whole(L, buf);
}

/* The array in memory. */
static const View *
in_memory(Lower *L, Value v, Loc loc)
{
    if (v.view != NULL) {
        return v.view;
    }
    Expr *vec = reuse(L, hold(L, v.expr, loc), loc);
    Expr *dims[] = {int_const(L, vec->lanes)};
    View *view = scratch(L, vec->dtype, 1, dims, loc);
    view_store_vector(L, view, vec, loc);
    return view;
}

/* Elements lie in C order without gaps, and do in NumPy: the stride of each
 * axis is the size of all that is inside of it, unless the axis has one
 * element. */
static void
check_packed(Lower *L, const View *view, Loc loc)
{
    if (view->rank < 2) {
        return;
    }
    check_in_order(L, view, loc);
    Expr *size = int_const(L, dtype_size(view->buf->dtype));
    for (int k = 1; k >= 0; k--) {
        Expr *n = view_extent(L, view, k);
        int axis = view->axis[k];
        if (axis >= 0) {
            Expr *stride = ir_stride(L->arena, view->buf, axis);
            Expr *step = view->step[axis];
            stride = step ? op2(L, E_MUL, stride, step) : stride;
            Expr *few = op2(L, E_LE, n, int_const(L, 1));
            emit_check(L, op2(L, E_OR, few, op2(L, E_EQ, stride, size)),
                       X_SPECULATE, loc);
        }
        size = op2(L, E_MUL, size, n);
    }
}

/* Fills 'out' by a routine. The operands are boxes: a buffer with an offset, an
 * extent and a step per axis. */
static void
run(Lower *L, Routine routine, const View *out, const View *a, const View *b,
    Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_ROUTINE, loc);
    s->routine = routine;
    s->buf = out->buf;
    s->nindex = b != NULL ? 2 : 1;
    s->index = ARENA_ARRAY(L->arena, Expr *, s->nindex);
    s->index[0] = box_of_view(L, a, loc);
    if (b != NULL) {
        s->index[1] = box_of_view(L, b, loc);
    }
    emit(L, s);
}

/* Two extents that must be equal. */
static void
check_equal(Lower *L, Expr *lhs, Expr *rhs, Loc loc)
{
    if (!ir_equal(lhs, rhs)) {
        emit_check(L, op2(L, E_EQ, lhs, rhs), X_VALUE, loc);
    }
}

/* The result as inference has it: lanes are read at once, so that the memory of
 * 'out' may be used again. */
static Value
finish(Lower *L, const AExpr *e, View *out)
{
    if (type_is_vector(e->type)) {
        return num_value(e->type, hold(L, view_load_vector(L, out), e->loc));
    }
    return (Value){.type = e->type, .view = out};
}

/* Memory for the result. */
static View *
result(Lower *L, const AExpr *e, Expr *const *dims)
{
    return type_is_vector(e->type)
               ? scratch(L, e->type->dtype, e->type->rank, dims, e->loc)
               : make_array(L, e, dims).view;
}

/* --- products ------------------------------------------------------------- */

/* acc = 0; for k: acc += a[k] * b[k] */
static Expr *
dot_ints(Lower *L, const View *a, const View *b, Loc loc)
{
    DType dt = a->buf->dtype;
    Var *acc = set_var(L, "acc", dt, 0);
    emit_set(L, acc, num_const(L, dt, 0), loc);
    Block *outer = L->out;
    Expr *k = open_loop(L, view_extent(L, a, 0), loc);
    Expr *one = op2(L, E_MUL, view_load(L, view_at(L, a, k)),
                    view_load(L, view_at(L, b, k)));
    emit_set(L, acc, op2(L, E_ADD, ir_ref(L->arena, acc), one), loc);
    L->out = outer;
    return hold(L, ir_ref(L->arena, acc), loc);
}

/* The part of the matrix in which its last axis is fixed at 'k'. */
static const View *
column(Lower *L, const View *view, Expr *k)
{
    View *copy = arena_copy(L->arena, view, sizeof(*view));
    view_fix(L, copy, 1, k);
    return copy;
}

/* Rows of 'a' times columns of 'b', where these are matrices:
 *
 *     for i: for j: out[i, j] = sum of a[i, k] * b[k, j]
 */
static void
product_of_ints(Lower *L, const View *a, const View *b, const View *out,
                Loc loc)
{
    Block *outer = L->out;
    if (a->rank == 2) {
        Expr *i = open_loop(L, view_extent(L, a, 0), loc);
        a = view_at(L, a, i);
        out = view_at(L, out, i);
    }
    if (b->rank == 2) {
        Expr *i = open_loop(L, view_extent(L, b, 1), loc);
        b = column(L, b, i);
        out = view_at(L, out, i);
    }
    view_store(L, out, dot_ints(L, a, b, loc), loc);
    L->out = outer;
}

/* Two vectors: one number.  np.dot asks BLAS's dot, np.matmul and np.vdot go
 * through a loop of their own with other bits for long vectors, and matmul
 * warns where dot doesn't. */
static Value
dot(Lower *L, const AExpr *e, BuiltinId id, const View *a, const View *b)
{
    check_equal(L, view_extent(L, a, 0), view_extent(L, b, 0), e->loc);
    if (!dtype_is_float(e->type->dtype)) {
        return num_value(e->type, dot_ints(L, a, b, e->loc));
    }
    Expr *dims[] = {int_const(L, 1)};
    View *out = scratch(L, e->type->dtype, 1, dims, e->loc);
    Routine routine = id == BUILTIN_NP_MATMUL ? ROUTINE_VECMUL
                      : id == BUILTIN_NP_VDOT ? ROUTINE_VECMUL
                                              : ROUTINE_DOT;
    run(L, routine, out, a, b, e->loc);
    Expr *value = view_load(L, view_at(L, out, int_const(L, 0)));
    value = hold(L, value, e->loc);
    if (id == BUILTIN_NP_MATMUL) {
        value = finite_or_python(L, value, e->loc);
    }
    return num_value(e->type, value);
}

/* Where warnings are counted: Python says what NumPy warned of. */
static void
check_finite(Lower *L, const View *out, Loc loc)
{
    L->result->may_warn = true;
    if (!L->count) {
        return;
    }
    Block *outer = L->out;
    while (out->rank > 0) {
        Expr *k = open_loop(L, view_extent(L, out, 0), loc);
        out = view_at(L, out, k);
    }
    finite_or_python(L, view_load(L, out), loc);
    L->out = outer;
}

/* The operand in the dtype of the result; vectors that are not made by
 * inference into arrays of it may still have another. */
static Value
in_dtype(Lower *L, Value v, DType dtype, Loc loc)
{
    if (v.view == NULL || v.type->dtype == dtype) {
        v.expr = v.view == NULL ? vec_cast(L, dtype, v.expr, loc) : v.expr;
        return v;
    }
    Expr *vec = vec_cast(L, dtype, vector_of(L, v, loc), loc);
    return num_value(v.type, vec);
}

/* By rank: (k) (k), (m k) (k), (k) (k n) and (m k) (k n).  What is summed must
 * have one length on both sides; the result has the other axes.  np.dot copies
 * what isn't packed, with the bits of another path, so it must be here. */
Value
product_of(Lower *L, const AExpr *e, BuiltinId id, const Value *values)
{
    DType dtype = e->type->dtype;
    Value lhs = in_dtype(L, values[0], dtype, e->loc);
    Value rhs = in_dtype(L, values[1], dtype, e->loc);
    const View *a = in_memory(L, lhs, e->loc);
    const View *b = in_memory(L, rhs, e->loc);
    if (a->rank == 1 && b->rank == 1) {
        return dot(L, e, id, a, b);
    }
    Expr *dims[2];
    int rank = 0;
    if (a->rank == 2) {
        dims[rank++] = view_extent(L, a, 0);
    }
    if (b->rank == 2) {
        dims[rank++] = view_extent(L, b, 1);
    }
    check_equal(L, view_extent(L, a, a->rank - 1), view_extent(L, b, 0),
                e->loc);
    View *out = result(L, e, dims);
    if (!dtype_is_float(e->type->dtype)) {
        product_of_ints(L, a, b, out, e->loc);
        return finish(L, e, out);
    }
    bool dots = id != BUILTIN_NP_MATMUL;
    for (int i = 0; i < 2; i++) {
        const View *view = i ? b : a;
        check_made_in_order(L, view, e->loc);
        if (dots) {
            check_packed(L, view, e->loc);
            check_forward(L, view, e->loc);
        }
    }
    run(L, ROUTINE_MATMUL, out, a, b, e->loc);
    if (!dots) {
        check_finite(L, out, e->loc);
    }
    return finish(L, e, out);
}

/* --- np.linalg ------------------------------------------------------------ */

/* Singular matrices give nan everywhere: Python raises.  So do nans among the
 * elements, for which Python gives nans: the first element tells.  An empty
 * matrix is left to Python. */
static void
check_regular(Lower *L, const View *out, Loc loc)
{
    Expr *zero = int_const(L, 0);
    while (out->rank > 0) {
        emit_check(L, op2(L, E_LT, zero, view_extent(L, out, 0)), X_VALUE,
                   loc);
        out = view_at(L, out, zero);
    }
    Expr *first = hold(L, view_load(L, out), loc);
    emit_check(L, not_(L, call_fn(L, FN_ISNAN, DT_BOOL, first, NULL)), X_VALUE,
               loc);
}

/* The float64 result in the dtype of the matrices. */
static Value
narrowed(Lower *L, const AExpr *e, View *out, Expr *const *dims)
{
    if (e->type->dtype == DT_F64) {
        return finish(L, e, out);
    }
    if (type_is_vector(e->type)) {
        Expr *vec = hold(L, view_load_vector(L, out), e->loc);
        return num_value(e->type, cast_to(L, DT_F32, vec));
    }
    View *to = make_array(L, e, dims).view;
    copy_elements(L, to, out, e->loc);
    return (Value){.type = e->type, .view = to};
}

/* np.linalg.det */
static Value
lower_det(Lower *L, const AExpr *e)
{
    Loc loc = e->loc;
    const View *a = in_memory(L, lower_expr(L, e->items.at[0]), loc);
    check_equal(L, view_extent(L, a, 0), view_extent(L, a, 1), loc);
    Expr *dims[] = {int_const(L, 1)};
    View *out = scratch(L, DT_F64, 1, dims, loc);
    run(L, ROUTINE_DET, out, a, NULL, loc);
    Expr *value = view_load(L, view_at(L, out, int_const(L, 0)));
    value = hold(L, value, loc);
    check_finite(L, a, loc);
    value = finite_or_python(L, value, loc);
    return num_value(e->type, cast_to(L, e->type->dtype, value));
}

/* inv and solve; matrices of float32 are computed in float64, too, as np.linalg
 * does, and rounded at the end. */
static Value
lower_square(Lower *L, const AExpr *e, BuiltinId id)
{
    Value values[2];
    lower_items(L, &e->items, values);
    Loc loc = e->loc;
    const View *a = in_memory(L, values[0], loc);
    const View *b = id == BUILTIN_NP_SOLVE ? in_memory(L, values[1], loc)
                                           : NULL;
    Expr *dims[2];
    const View *like = b ? b : a;
    for (int k = 0; k < like->rank; k++) {
        dims[k] = view_extent(L, like, k);
    }
    check_equal(L, view_extent(L, a, 0), view_extent(L, a, 1), loc);
    check_equal(L, view_extent(L, a, 0), dims[0], loc);
    bool same = e->type->dtype == DT_F64;
    View *out = same ? result(L, e, dims)
                     : scratch(L, DT_F64, like->rank, dims, loc);
    run(L, b ? ROUTINE_SOLVE : ROUTINE_INV, out, a, b, loc);
    check_regular(L, out, loc);
    return narrowed(L, e, out, dims);
}

/* np.sort, np.argsort: for argsort the order of equal elements is part of the
 * result, so the kind of the sort is. */
static Value
lower_sort(Lower *L, const AExpr *e, BuiltinId id)
{
    Value v = lower_expr(L, e->items.at[0]);
    const View *a = in_memory(L, v, e->loc);
    Expr *dims[] = {view_extent(L, a, 0)};
    View *out = result(L, e, dims);
    Routine routine = id == BUILTIN_NP_SORT  ? ROUTINE_SORT
                      : sort_kind(e) == 1 ? ROUTINE_ARGSORT_STABLE
                                          : ROUTINE_ARGSORT;
    run(L, routine, out, a, NULL, e->loc);
    return finish(L, e, out);
}

/* A call of BK_LINALG. */
Value
lower_linalg(Lower *L, const AExpr *e, BuiltinId id)
{
    Value values[2];
    switch ((int)id) {
    case BUILTIN_NP_DET:
        return lower_det(L, e);
    case BUILTIN_NP_INV:
    case BUILTIN_NP_SOLVE:
        return lower_square(L, e, id);
    case BUILTIN_NP_SORT:
    case BUILTIN_NP_ARGSORT:
    case BUILTIN_ARGSORT_OF:
        return lower_sort(L, e, id);
    default:
        lower_items(L, &e->items, values);
        return product_of(L, e, id, values);
    }
}
