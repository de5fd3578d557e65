/* Views: the same elements under other axes.
 *
 *     a.T  np.transpose(a, axes)  a.swapaxes(0, 1)   axes in another order
 *     a[:, None]  np.expand_dims  np.squeeze         axes of one element
 *     a.reshape(h, w)  a.ravel()  a.flat             the elements in C order
 *
 * What such a function gives shares the memory of its argument, so the type is
 * that of the same object: who changes one changes the other, and alias.c sees
 * one array.  A plan (ViewPlan) says where the axes come from; it is made here
 * for the types and made again by csrc/lower for the code:
 *
 *     np.transpose(a, (2, 0, 1))    from = {2, 0, 1}
 *     a[:, None] of rank 2          from = {0, -1, 1}     -1: a new axis
 *
 * Elements in C order can be seen under any shape if they lie in that order
 * without gaps (LAYOUT_C).  Otherwise NumPy copies, if no strides describe the
 * new shape; where that is certain the result is a fresh array, checked to be
 * none that could be a view after all.
 */
#include <string.h>

#include "typeinfer/state.h"

/* --- axes ----------------------------------------------------------------- */

/* A known axis of 'rank', which may count from the end. */
static bool
axis_of(const Type *type, int rank, int *out)
{
    int64_t axis;
    if (!type_is_known_int(type, &axis)) {
        return false;
    }
    axis += axis < 0 ? rank : 0;
    *out = (int)axis;
    return axis >= 0 && axis < rank;
}

/* `img[r, c, 2]`: what a constant names behind two axes is a channel, and how
 * many a pixel has, if they are few, becomes known. Then pixels lie a constant
 * number of elements apart, and code that writes all channels is seen to. */
void
pin_channels(Infer *I, const AExpr *out)
{
    enum { MAX_CHANNELS = 8 };
    const Type *base = out->lhs->type;
    int axis = base->rank - 1;
    int origin = axis >= 2 ? size_origin(base->size[axis]) : 0;
    int64_t channel;
    if (out->items.n == base->rank &&
        origin_below(I, origin, MAX_CHANNELS + 1) &&
        type_is_known_int(out->items.at[axis]->type, &channel)) {
        infer_pin(I, origin);
    }
}

/* The axes of the array as they are. */
static void
plan_identity(const Type *array, ViewPlan *plan)
{
    *plan = (ViewPlan){.rank = array->rank};
    for (int k = 0; k < array->rank; k++) {
        plan->from[k] = k;
    }
}

/* Takes axis 'k' of the plan to place 'to'; those between move by one. */
static void
move_axis(ViewPlan *plan, int k, int to)
{
    int from = plan->from[k];
    for (int i = k; i + 1 < plan->rank; i++) {
        plan->from[i] = plan->from[i + 1];
    }
    for (int i = plan->rank - 1; i > to; i--) {
        plan->from[i] = plan->from[i - 1];
    }
    plan->from[to] = from;
}

/* One more axis of one element at place 'k'. */
static bool
add_axis(ViewPlan *plan, int k)
{
    if (plan->rank == MAX_RANK) {
        return false;
    }
    plan->from[plan->rank++] = -1;
    move_axis(plan, plan->rank - 1, k);
    return true;
}

/* All axes in the order that 'n' types give: each one once. */
static bool
permute(const Type *const *types, int n, ViewPlan *plan)
{
    unsigned seen = 0;
    bool ok = n == plan->rank;
    for (int k = 0; ok && k < n; k++) {
        int axis = 0;
        ok = axis_of(types[k], n, &axis) && !(seen >> axis & 1);
        seen |= 1u << axis;
        plan->from[k] = axis;
    }
    return ok;
}

/* a.transpose(2, 0, 1), a.transpose((2, 0, 1)), np.transpose(a) */
static bool
plan_transpose(const AExpr *call, ViewPlan *plan)
{
    const Type *types[MAX_RANK];
    int n = 0;
    for (int i = 1; i < call->items.n; i++) {
        const AExpr *arg = call->items.at[i];
        if (arg == NULL || arg->type->kind == TY_NONE) {
            continue;
        }
        if (arg->type->kind == TY_TUPLE) {
            return permute(arg->type->items, arg->type->rank, plan);
        }
        if (n == MAX_RANK) {
            return false;
        }
        types[n++] = arg->type;
    }
    for (int k = 0; n == 0 && k < plan->rank; k++) {
        plan->from[k] = plan->rank - 1 - k;
    }
    return n == 0 || permute(types, n, plan);
}

/* np.swapaxes(a, i, k), np.moveaxis(a, i, k) */
static bool
plan_two(const AExpr *call, BuiltinId id, ViewPlan *plan)
{
    int a;
    int b;
    if (!axis_of(call->items.at[1]->type, plan->rank, &a) ||
        !axis_of(call->items.at[2]->type, plan->rank, &b)) {
        return false;
    }
    if (id == BUILTIN_NP_MOVEAXIS) {
        move_axis(plan, a, b);
        return true;
    }
    int from = plan->from[a];
    plan->from[a] = plan->from[b];
    plan->from[b] = from;
    return true;
}

/* np.squeeze: axes of size 1 go; that the others have more is checked. */
static bool
plan_squeeze(const AExpr *call, const Type *array, ViewPlan *plan)
{
    const AExpr *arg = call->items.at[1];
    int axis = -1;
    bool all = arg == NULL || arg->type->kind == TY_NONE;
    if (!all && !axis_of(arg->type, array->rank, &axis)) {
        return false;
    }
    plan->rank = 0;
    plan->others_more = all;
    for (int k = 0; k < array->rank; k++) {
        bool drop = all ? array->size[k] == 1 : k == axis;
        plan->dropped[k] = drop;
        if (!drop) {
            plan->from[plan->rank++] = k;
        }
    }
    return plan->rank > 0;
}

/* np.atleast_2d puts an axis in front, np.atleast_3d one behind as well. */
static bool
plan_atleast(BuiltinId id, ViewPlan *plan)
{
    int least = id == BUILTIN_NP_ATLEAST_1D   ? 1
                : id == BUILTIN_NP_ATLEAST_2D ? 2
                                              : 3;
    if (plan->rank == 1 && least > 1) {
        add_axis(plan, 0);
    }
    if (plan->rank == 2 && least > 2) {
        add_axis(plan, 2);
    }
    return true;
}

/* The plan of a call; csrc/lower asks again and gets the same. */
bool
rule_view(BuiltinId id, const AExpr *call, const Type *array, ViewPlan *plan)
{
    int axis;
    plan_identity(array, plan);
    switch ((int)id) {
    case BUILTIN_NP_TRANSPOSE:
    case BUILTIN_TRANSPOSE_OF:
        return plan_transpose(call, plan);
    case BUILTIN_NP_SWAPAXES:
    case BUILTIN_SWAPAXES_OF:
    case BUILTIN_NP_MOVEAXIS:
        return plan_two(call, id, plan);
    case BUILTIN_NP_SQUEEZE:
    case BUILTIN_SQUEEZE_OF:
        return plan_squeeze(call, array, plan);
    case BUILTIN_NP_EXPAND_DIMS:
        return axis_of(call->items.at[1]->type, array->rank + 1, &axis) &&
               add_axis(plan, axis);
    case BUILTIN_NP_ATLEAST_1D:
    case BUILTIN_NP_ATLEAST_2D:
    case BUILTIN_NP_ATLEAST_3D:
        return plan_atleast(id, plan);
    default: /* np.asarray */
        return true;
    }
}

/* --- types ---------------------------------------------------------------- */

/* Does the plan keep the axes in order?  Those of one element have no place.
 * Then the result lies in memory as its base does. */
static bool
in_order(const Type *base, const ViewPlan *plan)
{
    int before = -1;
    for (int k = 0; k < plan->rank; k++) {
        int from = plan->from[k];
        if (from < 0 || base->size[from] == 1) {
            continue;
        }
        if (from < before) {
            return false;
        }
        before = from;
    }
    return true;
}

/* Does the plan turn all axes round?  The two parts of complex numbers stay
 * last, so arrays of these have no Fortran's order here. */
static bool
is_reversed(const Type *base, const ViewPlan *plan)
{
    bool turned = plan->rank == base->rank && plan->rank > 1 &&
                  !dtype_is_complex(base->dtype);
    for (int k = 0; turned && k < plan->rank; k++) {
        turned = plan->from[k] == plan->rank - 1 - k;
    }
    return turned;
}

/* The array of the axes of 'base' that the plan lists. It has no promise of a
 * layout if the axes change their order other than by turning round. */
static const Type *
planned_type(Infer *I, const Type *base, const ViewPlan *plan)
{
    Type *type = arena_copy(I->arena, base, sizeof(*type));
    memset(type->size, 0, sizeof(type->size));
    type->rank = plan->rank;
    for (int k = 0; k < plan->rank; k++) {
        type->size[k] = plan->from[k] < 0 ? 1 : base->size[plan->from[k]];
    }
    type->view = true;
    if (plan->rank == 1) {
        type->layout = base->rank == 1 ? base->layout : LAYOUT_ROWS;
    } else if (is_reversed(base, plan)) {
        type->layout = base->layout == LAYOUT_ANY ? LAYOUT_ANY
                       : base->layout == LAYOUT_F ? LAYOUT_ROWS
                                                  : LAYOUT_F;
    } else if (!in_order(base, plan) ||
               (base->layout == LAYOUT_F && plan->rank != base->rank)) {
        type->layout = LAYOUT_ANY;
    }
    return type;
}

/* An array whose memory can be seen in another way; small ones must be moved
 * there first. */
static const Type *
need_memory(Infer *I, const AExpr *call, const AExpr *e)
{
    const Type *type = e->type;
    if (type->kind != TY_ARRAY || type->rank == 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                     "a view of %s is not translated",
                     type_text(I->arena, type));
    }
    check_reach(I, type, call->loc);
    demote_vector(I, type);
    return type;
}

/* An argument `order` must be that of C. */
static void
check_order(Infer *I, const AExpr *call, BuiltinId id)
{
    int slot = builtin_slot(id, "order");
    const AExpr *order = slot >= 0 ? call->items.at[slot] : NULL;
    if (order != NULL && (order->type->kind != TY_STR ||
                          strcmp(order->type->name, "C") != 0)) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, order->loc, NULL,
                     "an order other than \"C\" is not translated");
    }
}

/* Axes of one element in this call, where np.squeeze asks for them: they become
 * part of the signature, since the rank of the result depends on them. */
static void
pin_singles(Infer *I, const Type *array)
{
    for (int k = 0; k < array->rank; k++) {
        if (array->size[k] < 0 && actual_size(I, array->size[k]) == 1) {
            infer_pin(I, size_origin(array->size[k]));
        }
    }
}

/* A call of BK_VIEW. */
const Type *
type_of_view(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *base = need_memory(I, call, call->items.at[0]);
    if (id == BUILTIN_NP_SQUEEZE || id == BUILTIN_SQUEEZE_OF) {
        pin_singles(I, base);
    }
    ViewPlan plan;
    bool maybe_same = id != BUILTIN_NP_TRANSPOSE &&
                      id != BUILTIN_TRANSPOSE_OF && id != BUILTIN_NP_SWAPAXES &&
                      id != BUILTIN_SWAPAXES_OF && id != BUILTIN_NP_MOVEAXIS;
    if (!rule_view(id, call, base, &plan)) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                     "`%s` of %s with these axes is not translated",
                     builtin_row(id)->name, type_text(I->arena, base));
    }
    bool same = maybe_same && plan.rank == base->rank &&
                in_order(base, &plan);
    return same ? base : planned_type(I, base, &plan);
}

/* a.T */
const Type *
type_of_transposed(Infer *I, const AExpr *e, const AExpr *array)
{
    const Type *base = need_memory(I, e, array);
    ViewPlan plan;
    plan_identity(base, &plan);
    for (int k = 0; k < plan.rank; k++) {
        plan.from[k] = plan.rank - 1 - k;
    }
    return planned_type(I, base, &plan);
}

/* --- other shapes --------------------------------------------------------- */

/* The product of the sizes; -1 where one is not known. */
static int64_t
count_of(const Type *type)
{
    int64_t count = 1;
    for (int k = 0; k < type->rank; k++) {
        if (type->size[k] < 0 ||
            __builtin_mul_overflow(count, type->size[k], &count)) {
            return -1;
        }
    }
    return count;
}

/* The sizes that are written, as a tuple or one by one. */
int
reshape_dims(const AExpr *call, BuiltinId id, const Type **out)
{
    int n = 0;
    if (id != BUILTIN_NP_RESHAPE && id != BUILTIN_RESHAPE_OF) {
        return 0;
    }
    int last = id == BUILTIN_NP_RESHAPE ? 2 : call->items.n;
    for (int i = 1; i < last; i++) {
        const Type *type = call->items.at[i]->type;
        if (type->kind == TY_TUPLE && last == 2) {
            for (int k = 0; k < type->rank && k < MAX_RANK; k++) {
                out[n++] = type->items[k];
            }
            return n > 0 && type->rank <= MAX_RANK ? n : -1;
        }
        if (n == MAX_RANK) {
            return -1;
        }
        out[n++] = type;
    }
    return n > 0 ? n : -1;
}

/* The sizes of the new shape in 'out'; a size of -1 that is written is what is
 * left: the number of elements by the product of the others. */
static void
reshaped_sizes(Infer *I, const AExpr *call, const Type *base,
               const Type *const *dims, int n, Type *out)
{
    int64_t others = 1;
    int open = -1;
    out->rank = n;
    for (int k = 0; k < n; k++) {
        const Type *dim = dims[k];
        int64_t size = -1;
        bool known = type_is_known_int(dim, &size);
        if (!type_is_size(dim) ||
            (known && size < 0 && open >= 0)) {
            infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                         "%s is not translated as a size here",
                         type_text(I->arena, dim));
        }
        open = known && size < 0 ? k : open;
        others = !known ? -1 : size < 0 || others < 0 ? others : others * size;
        out->size[k] = known ? (size < 0 ? -1 : size)
                       : dim->origin > 0 ? size_with_origin(dim->origin)
                                         : -1;
    }
    int64_t count = count_of(base);
    if (open >= 0 && count >= 0 && others > 0) {
        out->size[open] = count / others;
    }
}

/* Copies what is not contiguous, though a view of it would have the shape. */
static bool
is_ravel(BuiltinId id)
{
    return id == BUILTIN_NP_RAVEL || id == BUILTIN_RAVEL_OF;
}

/* Elements in C order without gaps have any shape; other arrays only their own
 * number of elements along one axis. */
bool
reshape_is_view(BuiltinId id, const Type *base, int rank)
{
    bool copies = id == BUILTIN_FLATTEN_OF;
    return !copies && (base->layout == LAYOUT_C ||
                       (!is_ravel(id) && base->rank == 1 && rank == 1));
}

/* A call of BK_RESHAPE: reshape, ravel, flatten. A copy is certain only where
 * the rank gets smaller, which strides can't follow over gaps. */
const Type *
type_of_reshape(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *base = need_memory(I, call, call->items.at[0]);
    const Type *dims[MAX_RANK];
    int n = reshape_dims(call, id, dims);
    check_order(I, call, id);
    Type *type = arena_copy(I->arena, base, sizeof(*type));
    memset(type->size, 0, sizeof(type->size));
    type->rank = 1;
    type->size[0] = base->rank == 1 ? base->size[0] : count_of(base);
    if (n != 0) {
        reshaped_sizes(I, call, base, dims, n < 0 ? 0 : n, type);
    }
    if (n >= 0 && reshape_is_view(id, base, type->rank)) {
        type->view = true;
        return type;
    }
    bool copies = id == BUILTIN_FLATTEN_OF || is_ravel(id);
    if (n < 0 || (!copies && type->rank >= base->rank)) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc,
                     "Copy the array first (`a.copy()`).",
                     n < 0 ? "this shape of %s is not translated"
                           : "another shape of %s that may have gaps is not "
                             "translated",
                     type_text(I->arena, base));
    }
    type->layout = LAYOUT_C;
    type->view = false;
    type->ref = false;
    int object = object_new(I, NULL, call->loc, true);
    return type_of_object(I, type, object);
}

/* --- a.flat --------------------------------------------------------------- */

/* NumPy's flatiter is no array: its slices are copies, it has no arithmetic,
 * and a loop over it goes on where the last one stopped.  What is translated is
 * where none of that is seen:
 *
 *     a.flat[i]    a.flat[i] = x
 *     for x in a.flat:    for i, x in enumerate(a.flat):    zip
 *
 * "I->flats" has the nodes that stand there. */

static void
allow_flat(Infer *I, const AExpr *e)
{
    if (e->kind == A_ATTR && strcmp(e->name, "flat") == 0) {
        map_set(&I->flats, e, I);
    }
}

AExpr *
infer_indexed(Infer *I, const AExpr *e)
{
    allow_flat(I, e);
    return infer_expr(I, e);
}

AExpr *
infer_iterable(Infer *I, const AExpr *e)
{
    bool call = e->kind == A_CALL && e->lhs->kind == A_GLOBAL;
    BuiltinId id = call ? builtin_of(infer_object(I, e->lhs)) : BUILTIN_NONE;
    bool goes = id == BUILTIN_ENUMERATE || id == BUILTIN_ZIP;
    for (int i = 0; i < e->items.n && goes; i++) {
        allow_flat(I, e->items.at[i]);
    }
    return infer_indexed(I, e);
}

void
check_flat_index(Infer *I, const AExpr *e, const AExpr *out)
{
    const AExpr *of = out->lhs->kind == A_ATTR ? out->lhs->lhs : NULL;
    bool flat = map_has(&I->flats, e->lhs) && of != NULL &&
                of->type->kind == TY_ARRAY;
    if (flat && (out->items.n != 1 ||
                 !type_is_integer(out->items.at[0]->type, false))) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                     "Take a part of `ravel()`, or a copy of one.",
                     "a part of `flat` is not translated");
    }
}

/* The elements in C order; refused where they may not lie so. */
const Type *
type_of_flat(Infer *I, const AExpr *e, const AExpr *array)
{
    const Type *base = need_memory(I, e, array);
    if (!map_has(&I->flats, e)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                     "Index it by a number, go through it by a loop, or use "
                     "`ravel()` or `reshape(-1)`.",
                     "`flat` is not translated here");
    }
    if (!reshape_is_view(BUILTIN_RESHAPE_OF, base, 1)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                     "Index the array by all its axes.",
                     "`flat` of an array that may have gaps is not translated");
    }
    Type *type = arena_copy(I->arena, base, sizeof(*type));
    memset(type->size, 0, sizeof(type->size));
    type->rank = 1;
    type->size[0] = base->rank == 1 ? base->size[0] : count_of(base);
    type->view = true;
    return type;
}
