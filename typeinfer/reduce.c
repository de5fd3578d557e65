/* Types of reductions: np.sum(a), a.max(axis=0), np.argmin(a) ...
 *
 *     np.sum(a)            a NumPy scalar
 *     a.sum(axis=1)        an array without that axis
 *     np.count_nonzero(a)  the same; a Python int before NumPy 2.3
 *
 * The axes must be known when the program is compiled, because the rank of the
 * result depends on them.  What dtype comes out is NumPy's rule: sums and
 * products of integers and bools grow to 64 bits, means of them are float64,
 * and whatever picks an element keeps its dtype.
 *
 * Which bits a sum of floats has depends on the order in which NumPy adds; see
 * csrc/lower/reduce.c.
 */
#include <string.h>

#include "typeinfer/state.h"

/* Functions and methods share their rules: a row each in builtins.def. */
static const struct {
    BuiltinId id;
    ReduceKind kind;
} kinds[] = {
    {BUILTIN_NP_SUM, REDUCE_SUM},       {BUILTIN_SUM_OF, REDUCE_SUM},
    {BUILTIN_NP_PROD, REDUCE_PROD},     {BUILTIN_PROD_OF, REDUCE_PROD},
    {BUILTIN_NP_AMIN, REDUCE_MIN},      {BUILTIN_MIN_OF, REDUCE_MIN},
    {BUILTIN_NP_AMAX, REDUCE_MAX},      {BUILTIN_MAX_OF, REDUCE_MAX},
    {BUILTIN_NP_MIN, REDUCE_MIN},       {BUILTIN_NP_MAX, REDUCE_MAX},
    {BUILTIN_NP_ANY, REDUCE_ANY},       {BUILTIN_ANY_OF, REDUCE_ANY},
    {BUILTIN_NP_ALL, REDUCE_ALL},       {BUILTIN_ALL_OF, REDUCE_ALL},
    {BUILTIN_NP_ARGMIN, REDUCE_ARGMIN}, {BUILTIN_ARGMIN_OF, REDUCE_ARGMIN},
    {BUILTIN_NP_ARGMAX, REDUCE_ARGMAX}, {BUILTIN_ARGMAX_OF, REDUCE_ARGMAX},
    {BUILTIN_NP_MEAN, REDUCE_MEAN},     {BUILTIN_MEAN_OF, REDUCE_MEAN},
    {BUILTIN_NP_VAR, REDUCE_VAR},       {BUILTIN_VAR_OF, REDUCE_VAR},
    {BUILTIN_NP_STD, REDUCE_STD},       {BUILTIN_STD_OF, REDUCE_STD},
    {BUILTIN_NP_PTP, REDUCE_PTP},       {BUILTIN_NP_COUNT, REDUCE_COUNT},
};

/* What the row 'id' computes; it must be one of BK_REDUCE. */
ReduceKind
reduce_kind(BuiltinId id)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].id == id) {
            return kinds[i].kind;
        }
    }
    fatal("typeinfer: `%s` is no reduction", builtin_row(id)->name);
}

/* NULL also for None. */
const AExpr *
reduce_argument(const AExpr *call, BuiltinId id, const char *word)
{
    int slot = builtin_slot(id, word);
    const AExpr *arg = slot >= 0 ? call->items.at[slot] : NULL;
    return arg != NULL && arg->type->kind == TY_NONE ? NULL : arg;
}

/* --- axes ----------------------------------------------------------------- */

/* Adds the axis that 'type' is to the set; false if it is not a known int in
 * range, or there already: NumPy refuses an axis that is given twice. */
static bool
add_axis(const Type *type, int rank, unsigned *axes)
{
    int64_t axis;
    if (!type_is_known_int(type, &axis)) {
        return false;
    }
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || (*axes >> axis & 1)) {
        return false;
    }
    *axes |= 1u << axis;
    return true;
}

/* The axes over which the call reduces, a bit each; false when they are not
 * known or not valid. */
bool
reduce_axes(const AExpr *call, BuiltinId id, unsigned *axes)
{
    int rank = call->items.at[0]->type->rank;
    const AExpr *arg = reduce_argument(call, id, "axis");
    *axes = 0;
    if (arg == NULL) {
        *axes = (1u << rank) - 1;
        return true;
    }
    if (arg->type->kind != TY_TUPLE) {
        return add_axis(arg->type, rank, axes);
    }
    bool ok = true;
    for (int i = 0; i < arg->type->rank; i++) {
        ok &= add_axis(arg->type->items[i], rank, axes);
    }
    return ok && !arg->type->is_list;
}

/* Are the reduced axes kept with size 1? */
bool
reduce_keeps(const AExpr *call, BuiltinId id)
{
    const AExpr *arg = reduce_argument(call, id, "keepdims");
    bool keeps = false;
    return arg != NULL && type_truth(arg->type, &keeps) && keeps;
}

/* --- dtypes --------------------------------------------------------------- */

/* The dtype of a sum or product: the default integer of its signedness, so that
 * sums of uint8 don't wrap at 256. */
static DType
grown(DType dtype)
{
    if (dtype == DT_BOOL || (dtype_is_int(dtype) && dtype_is_signed(dtype))) {
        return DT_I64;
    }
    return dtype_is_int(dtype) ? DT_U64 : dtype; /* floats, complex */
}

/* The dtype of the result for elements of 'dtype'. */
static DType
result_dtype(ReduceKind kind, DType dtype)
{
    switch (kind) {
    case REDUCE_SUM:
    case REDUCE_PROD:
        return grown(dtype);
    case REDUCE_MEAN:
    case REDUCE_VAR:
    case REDUCE_STD:
        return dtype_is_float(dtype) || dtype_is_complex(dtype) ? dtype
                                                                : DT_F64;
    case REDUCE_ANY:
    case REDUCE_ALL:
        return DT_BOOL;
    case REDUCE_ARGMIN:
    case REDUCE_ARGMAX:
    case REDUCE_COUNT:
        return DT_I64;
    default:
        return dtype;
    }
}

/* Refuses (VZ-2003) what is not translated of a reduction. */
static _Noreturn void
refuse(Infer *I, const AExpr *call, BuiltinId id, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                 "`%s` of %s is not translated%s", builtin_row(id)->name,
                 type_text(I->arena, call->items.at[0]->type), why);
}

/* The dtype in which the call computes, if that is translated: that which comes
 * out anyway, any of integers for integers, float64 for sums of what is
 * narrower. In other cases the order of casts and additions would matter. */
static DType
given_dtype(Infer *I, const AExpr *call, BuiltinId id, DType dtype)
{
    const AExpr *given = reduce_argument(call, id, "dtype");
    ReduceKind kind = reduce_kind(id);
    DType from = call->items.at[0]->type->dtype;
    if (given == NULL) {
        return dtype;
    }
    DType to = need_dtype(I, given);
    bool sums = kind == REDUCE_SUM || kind == REDUCE_MEAN;
    bool wraps = (kind == REDUCE_SUM || kind == REDUCE_PROD) &&
                 dtype_is_int(to) && !dtype_is_float(from);
    bool widens = sums && to == DT_F64 && from != DT_F64;
    if (to != dtype && (dtype_is_complex(from) || (!wraps && !widens))) {
        refuse(I, call, id, " with this dtype");
    }
    return to;
}

/* Arguments that must be constants. */
static void
check_arguments(Infer *I, const AExpr *call, BuiltinId id)
{
    const AExpr *ddof = reduce_argument(call, id, "ddof");
    int64_t freedom;
    if (ddof != NULL && !type_is_known_int(ddof->type, &freedom)) {
        refuse(I, call, id, " with a `ddof` that is not a constant int");
    }
    const AExpr *keeps = reduce_argument(call, id, "keepdims");
    bool truth;
    if (keeps != NULL && !type_truth(keeps->type, &truth)) {
        refuse(I, call, id, " with a `keepdims` that is not a constant");
    }
}

/* Does the result depend on the order in which floats are added? */
static bool
adds_floats(ReduceKind kind, DType dtype)
{
    bool sums = kind == REDUCE_SUM || kind == REDUCE_MEAN;
    return kind == REDUCE_VAR || kind == REDUCE_STD ||
           (sums && (dtype_is_float(dtype) || dtype_is_complex(dtype)));
}

/* --- the type ------------------------------------------------------------- */

/* The array that is left when the 'axes' are gone, or have one element. Its
 * memory order follows that of the operand. */
static const Type *
rest_of(Infer *I, const AExpr *call, BuiltinId id, unsigned axes, DType dtype)
{
    const Type *from = call->items.at[0]->type;
    Type *type = arena_copy(I->arena, type_kind(I->arena, TY_ARRAY),
                            sizeof(*type));
    bool keeps = reduce_keeps(call, id);
    type->dtype = dtype;
    type->layout = LAYOUT_C;
    for (int i = 0; i < from->rank; i++) {
        if (!(axes >> i & 1)) {
            type->size[type->rank++] = from->size[i];
        } else if (keeps) {
            type->size[type->rank++] = 1;
        }
    }
    bool any_order = type->rank > 1 && has_any_order(from);
    return type_new_array(I, call, type, any_order ? LAYOUT_ANY : LAYOUT_C);
}

/* Is the order of additions known?  One axis, the last axes, or all axes before
 * some that stay; not the first and the last: there NumPy's iterator merges
 * axes by their strides, and which it merges depends on extents. */
static bool
are_summable(unsigned axes, int rank)
{
    int first = 0;
    while (!(axes >> first & 1)) {
        first++;
    }
    bool one = axes == 1u << first;
    bool last = axes >> (rank - 1) & 1;
    bool tail = axes == (((1u << rank) - 1) & ~((1u << first) - 1));
    return one || tail || !last;
}

/* The type of a call of BK_REDUCE. */
const Type *
type_of_reduce(Infer *I, AExpr *call, BuiltinId id)
{
    call->items.at[0] = array_of(I, call->items.at[0]);
    const Type *from = call->items.at[0]->type;
    ReduceKind kind = reduce_kind(id);
    if (from->kind != TY_ARRAY || from->rank == 0) {
        refuse(I, call, id, "");
    }
    check_reach(I, from, call->loc);
    DType dtype = result_dtype(kind, from->dtype);
    if (adds_floats(kind, from->dtype) && !numpy_sums_known()) {
        refuse(I, call, id, ": the order of NumPy's additions is not known");
    }
    if (kind == REDUCE_PTP && from->dtype == DT_BOOL) {
        refuse(I, call, id, "");
    }
    check_arguments(I, call, id);
    dtype = given_dtype(I, call, id, dtype);
    unsigned axes;
    if (!reduce_axes(call, id, &axes) || axes == 0) {
        refuse(I, call, id, " over axes that are not constants in range");
    }
    bool whole = axes == (1u << from->rank) - 1;
    bool spreads = kind == REDUCE_VAR || kind == REDUCE_STD;
    bool wide = from->dtype == DT_I64 || from->dtype == DT_U64;
    bool casts = adds_floats(kind, from->dtype) && from->dtype != dtype;
    if (!whole && ((spreads && wide) || (casts && !spreads))) {
        refuse(I, call, id, " over some axes");
    }
    if (!whole && adds_floats(kind, from->dtype) &&
        !are_summable(axes, from->rank)) {
        refuse(I, call, id, " over these axes");
    }
    if (!whole || reduce_keeps(call, id)) {
        return rest_of(I, call, id, axes, dtype);
    }
    if (kind == REDUCE_COUNT && numpy_version() < NUMPY(2, 3)) {
        return type_int(I->arena);
    }
    return type_num(I->arena, dtype, false);
}
