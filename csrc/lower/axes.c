/* Reductions over some of the axes.
 *
 *     a.max(axis=1)     for i: fold a[i, :]; out[i] = ...
 *     a.sum(axis=0)     out = 0; for i: for j: out[j] += a[i, j]
 *
 * The first form folds a part of the array for each element of the result, the
 * second walks the array in its own order and keeps the sums in the result; it
 * is taken where the last axis stays and one accumulator is enough.
 *
 * For sums of floats the choice is NumPy's.  Its iterator sorts the axes by
 * their strides, the smallest innermost.  Where memory is walked along the axis
 * that is summed, its elements are added pairwise; where another axis lies
 * inside of it, they are added one after the other:
 *
 *     a in C order   sum(axis=1)   pairwise, each row by itself
 *                    sum(axis=0)   row after row added to the result
 *     a.T            the other way round
 *
 * Which it is depends on strides and extents, so that both forms may be there,
 * and an IF between them.  Sums over several axes are translated where these
 * are the last ones, or all before the last; the array must then be in C order.
 */
#include "csrc/lower/reduce.h"

/* One call: the array, the axes that go, the result. */
typedef struct Axes {
    const View *view;
    unsigned axes;
    bool keeps; /* keepdims */
    const Reduction *r;
    Loc loc;
} Axes;

/* Does axis 'k' go? */
static bool
goes(const Axes *x, int k)
{
    return x->axes >> k & 1;
}

/* --- a fold for each element of the result -------------------------------- */

/* The view with the axes that stay in front, so that the first loops are over
 * the elements of the result. */
static View *
split_axes(Lower *L, const Axes *x, int *nkept)
{
    View *out = arena_copy(L->arena, x->view, sizeof(*x->view));
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < x->view->rank; k++) {
            if (goes(x, k) == (pass == 1)) {
                out->axis[n++] = x->view->axis[k];
            }
        }
        *nkept = pass == 0 ? n : *nkept;
    }
    return out;
}

/* out[i] = fold a[i, :], for each element of the result. With keepdims the axes
 * that went are there with one element. */
static void
fold_each(Lower *L, const Axes *x, const View *out)
{
    int nkept;
    Block *outer = L->out;
    const View *view = split_axes(L, x, &nkept);
    for (int k = 0; k < x->view->rank; k++) {
        if (!goes(x, k)) {
            Expr *i = open_loop(L, view_extent(L, view, 0), x->loc);
            view = view_at(L, view, i);
            out = view_at(L, out, i);
        } else if (x->keeps) {
            out = view_at(L, out, int_const(L, 0));
        }
    }
    Elements in = {.view = view, .loc = x->loc, .parts = x->r->parts};
    view_store(L, out, fold_all(L, &in, x->r), x->loc);
    L->out = outer;
}

/* The same for a result in registers: a fold for each lane. */
static Expr *
fold_lanes(Lower *L, const Axes *x, int n)
{
    int nkept;
    const View *view = split_axes(L, x, &nkept);
    Elements in = {.view = view, .loc = x->loc};
    Expr *vec = NULL;
    for (int i = 0; i < n; i++) {
        Expr *at = int_const(L, i);
        in.view = nkept ? view_at(L, view, at) : view;
        Expr *one = fold_all(L, &in, x->r);
        vec = vec == NULL ? ir_splat(L->arena, one, n)
                          : ir_insert(L->arena, vec, at, one);
    }
    return vec;
}

/* --- one walk over the array ---------------------------------------------- */

/* What an empty reduction gives; NULL: it needs an element. */
static Expr *
identity(Lower *L, const Reduction *r)
{
    switch (r->kind) {
    case REDUCE_ALL:
        return ir_bool(L->arena, true);
    case REDUCE_PROD:
        return num_const(L, r->to, 1);
    case REDUCE_SUM:
    case REDUCE_COUNT:
    case REDUCE_ANY:
    case REDUCE_MEAN:
    case REDUCE_VAR:
    case REDUCE_STD:
        return num_const(L, r->to, 0);
    default:
        return NULL;
    }
}

/* Is one accumulator per element of the result enough, and is the last axis
 * among those that stay? Then the inner loop walks memory in order and is free
 * of dependences: it runs with SIMD, which a fold can't. */
static bool
is_walk(const Axes *x)
{
    bool adds = dtype_is_float(x->r->to) == dtype_is_float(x->r->from);
    return !goes(x, x->view->rank - 1) && adds &&
           (x->r->kind == REDUCE_SUM || x->r->kind == REDUCE_PROD ||
            x->r->kind == REDUCE_ANY || x->r->kind == REDUCE_ALL ||
            x->r->kind == REDUCE_COUNT || x->r->kind == REDUCE_MEAN);
}

/* (e - mean) ** 2, or e itself. */
static Expr *
term_of(Lower *L, const Axes *x, Expr *e, const View *mean)
{
    if (mean == NULL) {
        return e;
    }
    Expr *off = op2(L, E_SUB, cast_to(L, x->r->to, e), view_load(L, mean));
    off = reuse(L, off, x->loc);
    return op2(L, E_MUL, off, off);
}

/* All of an array that was just made, or every other float of it. */
static void
fill_with(Lower *L, const View *out, Expr *e, Loc loc)
{
    if (out->rank < out->buf->rank) {
        lazy_store(L, out, lazy_number(L, e, loc), loc);
        return;
    }
    Stmt *fill = ir_stmt(L->arena, S_FILL, loc);
    fill->buf = out->buf;
    fill->value = e;
    emit(L, fill);
}

/* out[j] = out[j] op a[i, j]; with 'mean' of squares of a[i, j] - mean[j]. */
static void
walk(Lower *L, const Axes *x, const View *out, const View *mean)
{
    fill_with(L, out, identity(L, x->r), x->loc);
    Block *outer = L->out;
    const View *view = x->view;
    for (int k = 0; k < x->view->rank; k++) {
        Expr *i = open_loop(L, view_extent(L, view, 0), x->loc);
        view = view_at(L, view, i);
        Expr *at = goes(x, k) ? int_const(L, 0) : i;
        if (!goes(x, k) || x->keeps) {
            out = view_at(L, out, at);
            mean = mean ? view_at(L, mean, at) : NULL;
        }
    }
    Expr *e = term_of(L, x, view_load(L, view), mean);
    Expr *next = fold_step(L, x->r->kind, x->r->to, view_load(L, out), e);
    next = with_warnings(L, next, sym("reduce"), NULL, x->loc);
    view_store(L, out, next, x->loc);
    L->out = outer;
}

/* The number of elements that go into one of the result. */
static Expr *
count_gone(Lower *L, const Axes *x)
{
    Expr *count = NULL;
    for (int k = 0; k < x->view->rank; k++) {
        if (goes(x, k)) {
            Expr *n = view_extent(L, x->view, k);
            count = count ? op2(L, E_MUL, count, n) : n;
        }
    }
    return reuse(L, count, x->loc);
}

/* out[...] /= n, and its root for np.std; 'n' must not be 0: that is a warning
 * and nan, by Python. */
static void
divide_all(Lower *L, const Axes *x, const View *out, Expr *n)
{
    emit_check(L, op2(L, E_LT, int_const(L, 0), n), X_VALUE, x->loc);
    Block *outer = L->out;
    while (out->rank > 0) {
        Expr *i = open_loop(L, view_extent(L, out, 0), x->loc);
        out = view_at(L, out, i);
    }
    Expr *sum = reuse(L, hold(L, view_load(L, out), x->loc), x->loc);
    Expr *e = divide_sum(L, sum, n);
    bool root = x->r->kind == REDUCE_STD;
    e = root ? call_fn(L, FN_SQRT, e->dtype, e, NULL) : e;
    view_store(L, out, e, x->loc);
    L->out = outer;
}

/* Integers are summed as float64 here, exactly if there are not too many. */
static void
check_exact(Lower *L, const Axes *x)
{
    if (!dtype_is_float(x->r->from)) {
        int bits = dtype_size(x->r->from) * 8;
        Expr *most = int_const(L, (int64_t)1 << (53 - bits));
        emit_check(L, op2(L, E_LE, count_gone(L, x), most), X_SPECULATE,
                   x->loc);
    }
}

/* np.var and np.std row after row: the means, then the squares, as NumPy does;
 * the difference of sums of squares would lose digits, and have other bits. */
static void
walk_twice(Lower *L, const Axes *x, const View *out)
{
    Reduction means = *x->r;
    means.kind = REDUCE_MEAN;
    Axes first = *x;
    first.r = &means;
    Buf *buf = ir_buf(L->func, "means", x->r->to, out->rank, BUF_LOCAL);
    buf->loc = x->loc;
    for (int k = 0; k < out->rank; k++) {
        buf->dims[k] = out->buf->dims[k];
    }
    Stmt *s = ir_stmt(L->arena, S_ALLOC, x->loc);
    s->buf = buf;
    emit(L, s);
    View *mean = view_whole(L, buf);
    Expr *n = count_gone(L, x);
    check_exact(L, x);
    walk(L, &first, mean, NULL);
    divide_all(L, &first, mean, n);
    walk(L, x, out, mean);
    Expr *freedom = op2(L, E_SUB, n, int_const(L, x->r->ddof));
    divide_all(L, x, out, reuse(L, freedom, x->loc));
}

/* --- sums of floats ------------------------------------------------------- */

/* The last axis that goes, or with 'last' false the first. */
static int
axis_that_goes(const Axes *x, bool last)
{
    int found = -1;
    for (int k = 0; k < x->view->rank; k++) {
        found = goes(x, k) && (last || found < 0) ? k : found;
    }
    return found;
}

/* Is the one axis that goes the innermost in memory? For each other axis: it
 * has one element, or a larger stride. */
static Expr *
is_innermost(Lower *L, const Axes *x)
{
    int gone = axis_that_goes(x, true);
    Expr *inner = NULL;
    for (int k = 0; k < x->view->rank; k++) {
        if (k == gone || x->view->axis[k] < 0 || x->view->axis[gone] < 0) {
            continue;
        }
        Expr *within = order_within(L, x->view, gone, k);
        Expr *single = axis_is_single(L, x->view, k);
        inner = both(L, inner, op2(L, E_OR, single, within));
    }
    return inner;
}

/* All axes that stay behind the last one that goes are single: the C order is
 * known. */
static Expr *
is_last(Lower *L, const Axes *x)
{
    Expr *last = NULL;
    for (int k = axis_that_goes(x, true) + 1; k < x->view->rank; k++) {
        last = both(L, last, axis_is_single(L, x->view, k));
    }
    return last;
}

/* Do the axes that go follow each other? */
static bool
are_adjacent(const Axes *x)
{
    int n = 0;
    for (int k = 0; k < x->view->rank; k++) {
        n += goes(x, k);
    }
    int first = axis_that_goes(x, false);
    return axis_that_goes(x, true) - first + 1 == n;
}

/* Both forms, of which 'pairwise' chooses (NULL: surely the first). An order of
 * memory that the walk has no form for is Python's. */
static void
sum_axes(Lower *L, const Axes *x, const View *out)
{
    int gone = axis_that_goes(x, true);
    bool one = axis_that_goes(x, false) == gone;
    Expr *pairwise;
    if (one && !order_is_plain(L, x->view)) {
        check_made_in_order(L, x->view, x->loc);
        check_no_repeats(L, x->view, x->loc);
        pairwise = is_innermost(L, x);
    } else {
        check_in_order(L, x->view, x->loc);
        pairwise = is_last(L, x);
    }
    if (pairwise == NULL) {
        fold_each(L, x, out);
        return;
    }
    Stmt *s = ir_stmt(L->arena, S_IF, x->loc);
    s->value = pairwise;
    emit(L, s);
    Block *outer = L->out;
    L->out = &s->body;
    if (one || are_adjacent(x)) {
        fold_each(L, x, out);
    } else {
        emit_check(L, ir_bool(L->arena, false), X_SPECULATE, x->loc);
    }
    L->out = &s->els;
    if (x->r->kind == REDUCE_VAR || x->r->kind == REDUCE_STD) {
        walk_twice(L, x, out);
    } else {
        walk(L, x, out, NULL);
        if (x->r->kind == REDUCE_MEAN) {
            divide_all(L, x, out, count_gone(L, x));
        }
    }
    L->out = outer;
}

/* --- all together --------------------------------------------------------- */

/* Does the order of additions matter? */
static bool
adds_floats(const Reduction *r)
{
    bool sums = r->kind == REDUCE_SUM || r->kind == REDUCE_MEAN;
    return r->kind == REDUCE_VAR || r->kind == REDUCE_STD ||
           (sums && dtype_is_float(r->from));
}

/* A result in registers is summed in memory first where NumPy adds row by
 * row. */
static Value
sum_to_lanes(Lower *L, const Axes *x, const AExpr *e, int n)
{
    Buf *buf = ir_buf(L->func, "sums", x->r->to, 1, BUF_LOCAL);
    buf->loc = x->loc;
    buf->space = SPACE_STACK;
    buf->dims[0] = int_const(L, n);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, x->loc);
    s->buf = buf;
    emit(L, s);
    View *out = view_whole(L, buf);
    sum_axes(L, x, out);
    Expr *vec = hold(L, view_load_vector(L, out), x->loc);
    return num_value(e->type, vec);
}

Value
rest_array(Lower *L, const AExpr *e, BuiltinId id, Value a, unsigned axes)
{
    Expr *dims[MAX_RANK];
    int rank = 0;
    for (int k = 0; k < a.type->rank; k++) {
        if (!(axes >> k & 1)) {
            dims[rank++] = view_extent(L, a.view, k);
        } else if (reduce_keeps(e, id)) {
            dims[rank++] = int_const(L, 1);
        }
    }
    Value out = make_array(L, e, dims);
    order_follows(L, out.view->buf, a.view);
    return out;
}

void
sum_into(Lower *L, const View *view, unsigned axes, bool keeps,
         const Reduction *r, const View *out, Loc loc)
{
    Axes x = {view, axes, keeps, r, loc};
    if (axes == (1u << view->rank) - 1) {
        fold_each(L, &x, out);
    } else {
        sum_axes(L, &x, out);
    }
}

/* One or several axes of an array in memory: 'e' is of array type. */
Value
fold_axes(Lower *L, const AExpr *e, BuiltinId id, Value a, unsigned axes,
          const Reduction *r)
{
    Axes x = {a.view, axes, reduce_keeps(e, id), r, e->loc};
    bool whole = axes == (1u << a.type->rank) - 1;
    if (type_is_vector(e->type)) {
        int n = type_lanes(e->type);
        return adds_floats(r) && !whole
                   ? sum_to_lanes(L, &x, e, n)
                   : num_value(e->type, fold_lanes(L, &x, n));
    }
    if (identity(L, r) == NULL) { /* also where there is no result to make */
        Expr *some = op2(L, E_LT, int_const(L, 0), count_gone(L, &x));
        emit_check(L, some, X_VALUE, x.loc);
    }
    Value out = rest_array(L, e, id, a, axes);
    if (adds_floats(r) && !whole) {
        sum_axes(L, &x, out.view);
    } else if (is_walk(&x)) {
        if (r->kind == REDUCE_PROD && dtype_is_float(r->to)) {
            check_in_order(L, x.view, x.loc);
        }
        walk(L, &x, out.view, NULL);
    } else {
        fold_each(L, &x, out.view);
    }
    return out;
}
