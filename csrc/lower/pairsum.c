/* Sums and means of complex numbers.
 *
 *     z.sum(axis=0)     out.real = z.real summed; out.imag = z.imag summed
 *     z.mean()          the sum / n
 *
 * NumPy adds complex numbers part by part, in blocks of its own
 * (csrc/base/sum.c) but over axes as floats are.  So each part is summed by
 * itself.  A mean is a quotient of complex numbers, computed in complex128.
 */
#include "csrc/lower/reduce.h"

/* A sum divided by 'n', which is not 0. */
static Parts
divided(Lower *L, Parts sum, Expr *n, Loc loc)
{
    DType own = sum.re->dtype;
    Parts x = {reuse(L, cast_to(L, DT_F64, sum.re), loc),
               reuse(L, cast_to(L, DT_F64, sum.im), loc)};
    Parts y = {reuse(L, cast_to(L, DT_F64, n), loc), num_const(L, DT_F64, 0)};
    Parts z = numpy_quotient(L, x, y, loc);
    return (Parts){cast_to(L, own, z.re), cast_to(L, own, z.im)};
}

/* For a tree: "data" is the number of elements. */
static Expr *
mean_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Expr *n = (Expr *)(uintptr_t)z->data;
    Parts sum = pair_parts(L, args[0], z->loc);
    return finite_or_python(
        L, pair_make(L, divided(L, sum, n, z->loc)), z->loc);
}

/* How many elements go into one of the result; there must be one. */
static Expr *
count_gone(Lower *L, const View *view, unsigned axes, Loc loc)
{
    Expr *count = NULL;
    for (int k = 0; k < view->rank; k++) {
        if (axes >> k & 1) {
            Expr *n = view_extent(L, view, k);
            count = count ? op2(L, E_MUL, count, n) : n;
        }
    }
    count = reuse(L, count, loc);
    emit_check(L, op2(L, E_LT, int_const(L, 0), count), X_VALUE, loc);
    return count;
}

/* Over some axes, or over all that are kept. */
static Value
pair_axes(Lower *L, const AExpr *e, BuiltinId id, Value a, unsigned axes,
          const Reduction *r)
{
    Value out = rest_array(L, e, id, a, axes);
    for (int k = 0; k < 2; k++) {
        sum_into(L, pair_view(L, a.view, k), axes, reduce_keeps(e, id), r,
                 pair_view(L, out.view, k), e->loc);
    }
    if (reduce_kind(id) == REDUCE_MEAN) {
        const Lazy *sums = lazy_view(L, out.view, e->loc);
        Lazy *z = lazy_map(L, mean_element, 0, e->type->dtype, e->type->dtype,
                           &sums, 1, e->loc);
        z->data = count_gone(L, a.view, axes, e->loc);
        lazy_store(L, out.view, z, e->loc);
    }
    return out;
}

Value
lower_pair_reduce(Lower *L, const AExpr *e, BuiltinId id)
{
    Value a = lower_expr(L, e->items.at[0]);
    DType part = dtype_part(a.type->dtype);
    unsigned axes;
    reduce_axes(e, id, &axes);
    Reduction r = {
        .kind = REDUCE_SUM, .from = part, .to = part, .parts = true};
    if (e->type->kind == TY_ARRAY) {
        return pair_axes(L, e, id, a, axes, &r);
    }
    Expr *sums[2];
    for (int k = 0; k < 2; k++) {
        Elements in = {
            .view = pair_view(L, a.view, k), .loc = e->loc, .parts = true};
        sums[k] = fold_sum(L, &in, part);
    }
    Parts z = {sums[0], sums[1]};
    if (reduce_kind(id) == REDUCE_MEAN) {
        z = divided(L, z, count_gone(L, a.view, axes, e->loc), e->loc);
    }
    Expr *out = finite_or_python(L, pair_make(L, z), e->loc);
    return pair_value(L, e->type, out, e->loc);
}

/* For a tree. */
static Expr *
truth_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Parts x = pair_parts(L, args[0], z->loc);
    Expr *zero = num_const(L, x.re->dtype, 0);
    return either(L, op2(L, E_NE, x.re, zero), op2(L, E_NE, x.im, zero));
}

Value
pair_truths(Lower *L, const AExpr *e)
{
    const Lazy *from = lazy_of(L, lower_lazy(L, e), e->loc);
    Lazy *z = lazy_map(L, truth_element, 0, DT_BOOL, DT_BOOL, &from, 1, e->loc);
    Type *type = arena_copy(L->arena, e->type, sizeof(*type));
    type->dtype = DT_BOOL;
    type->object = 0;
    return settle(L, lazy_value(type, z), e->loc);
}
