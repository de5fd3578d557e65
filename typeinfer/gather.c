/* Arrays as indices.
 *
 *     lut[img]           an array like `img` of elements of `lut`
 *     a[rows, cols]      elements at pairs of indices, broadcast
 *     img[..., [2, 1, 0]]   axes that are not indexed keep their place
 *     a[mask]            the elements where the mask is true, one axis
 *
 * What comes out is a fresh array.  Its axes are those of the indices,
 * broadcast together, in the place of the axes that they index -- or in front,
 * if there are slices between them.  For a of shape (5, 6, 7), rows of shape
 * (3):
 *
 *     a[rows]            (3, 6, 7)        a[:, rows]          (5, 3, 7)
 *     a[rows, :, rows]   (3, 6)           a[:, rows, rows]    (5, 3)
 *
 * In memory they are always in front: NumPy gathers first and gives a view with
 * the axes moved, which strides show.
 *
 * A mask stands for as many index arrays as it has axes, the positions of its
 * true elements.  How many there are is known only when the program runs.
 */
#include <string.h>

#include "typeinfer/state.h"

/* A list of integers that is written in the index, or has few items. */
static bool
is_index_list(const Type *type)
{
    bool is = type->kind == TY_TUPLE && type->is_list && type->rank > 0 &&
              type->rank <= MAX_LANES;
    for (int i = 0; is && i < type->rank; i++) {
        is = type_is_size(type->items[i]);
    }
    return is;
}

/* How many axes an item that is an array takes; 0: it is none. */
int
index_array_axes(const Type *item)
{
    if (item->kind == TY_ARRAY && item->rank > 0) {
        return item->dtype == DT_BOOL     ? item->rank
               : dtype_is_int(item->dtype) ? 1
                                           : 0;
    }
    return is_index_list(item) ? 1 : 0;
}

/* Is the subscript one with arrays as indices? */
bool
is_gather(const Type *const *items, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        any |= index_array_axes(items[i]) > 0;
    }
    return any;
}

/* The shape of an index: a mask has one axis of unknown size. */
static const Type *
index_shape(Infer *I, const Type *item)
{
    Type *type = ARENA_NEW(I->arena, Type);
    type->kind = TY_ARRAY;
    type->rank = 1;
    if (item->kind == TY_TUPLE) {
        type->size[0] = item->rank;
    } else if (item->dtype == DT_BOOL) {
        type->size[0] = -1;
    } else {
        return item;
    }
    return type;
}

/* How many axes the items take; `...` and None take none. */
static int
axes_of_items(const Type *const *items, int n)
{
    int taken = 0;
    for (int i = 0; i < n; i++) {
        int axes = index_array_axes(items[i]);
        bool none = items[i]->kind == TY_RANGE || items[i]->kind == TY_NONE;
        taken += axes ? axes : !none;
    }
    return taken;
}

/* Numbers count as index arrays of no axis: they can stand between two arrays
 * without a split, and take part in the place of the first. */
void
gather_plan(const Type *const *items, int n, int rank, GatherPlan *plan)
{
    bool seen = false;
    bool left = false; /* behind the first run of indices */
    bool split = false;
    int basic = 0;
    plan->place = 0;
    plan->narrays = 0;
    for (int i = 0; i < n; i++) {
        bool number = items[i]->kind == TY_NUM;
        bool array = index_array_axes(items[i]) > 0;
        plan->narrays += array;
        if (array || number) {
            split |= left;
            plan->place = seen ? plan->place : basic;
            seen = true;
        } else {
            left |= seen;
            basic += items[i]->kind == TY_RANGE
                         ? rank - axes_of_items(items, n)
                         : 1;
        }
    }
    plan->in_front = split;
    plan->place = split ? 0 : plan->place;
}

/* Refuses (VZ-2007) what is not translated of an index. */
static _Noreturn void
refuse(Infer *I, const AExpr *e, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_INDEX, e->loc, NULL,
                 "an index with arrays %s is not translated", why);
}

/* Indices that are arrays, broadcast; '*odd' tells of one whose strides have an
 * order of their own. */
static void
lead_sizes(Infer *I, const AExpr *out, const Type *const *items, int n,
           Type *lead, bool *odd)
{
    const Type *ops[MAX_RANK];
    int nops = 0;
    for (int i = 0; i < n; i++) {
        if (index_array_axes(items[i]) == 0) {
            continue;
        }
        if (nops == MAX_GATHER) {
            refuse(I, out, "in so many places");
        }
        if (items[i]->kind == TY_ARRAY) {
            check_reach(I, items[i], out->loc);
            *odd |= has_any_order(items[i]) && items[i]->dtype != DT_BOOL;
        }
        ops[nops++] = index_shape(I, items[i]);
    }
    broadcast_sizes(I, out, ops, nops, lead);
}

/* The size of an axis under a slice; nothing is assumed. */
static int64_t
slice_size(const Type *slice, int64_t size)
{
    int64_t first;
    int64_t n;
    int64_t step = 1;
    type_is_known_int(slice->items[2], &step);
    bool full = slice->items[0]->kind == TY_NONE &&
                slice->items[1]->kind == TY_NONE;
    if (full && (step == 1 || step == -1)) {
        return size;
    }
    return size >= 0 && known_slice(slice, size, &first, &n) ? n : -1;
}

/* The sizes of the axes that are not indexed by arrays, in 'rest'. `...` stands
 * for all that no item takes, and so does the end of the index. */
static void
rest_sizes(Infer *I, const AExpr *out, const Type *const *items, int n,
           const Type *base, Type *rest)
{
    int taken = axes_of_items(items, n);
    int axis = 0;
    if (taken > base->rank) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, out->loc, NULL,
                     "too many indices for %s: this raises IndexError",
                     type_text(I->arena, base));
    }
    int spare = base->rank - taken;
    for (int i = 0; i <= n; i++) {
        bool dots = i == n || items[i]->kind == TY_RANGE;
        for (; dots && spare > 0; spare--) {
            rest->size[rest->rank++] = base->size[axis++];
        }
        if (i == n || dots) {
            continue;
        }
        if (items[i]->kind == TY_NONE) {
            rest->size[rest->rank++] = 1;
        } else if (items[i]->kind == TY_SLICE) {
            rest->size[rest->rank++] = slice_size(items[i], base->size[axis++]);
        } else {
            int axes = index_array_axes(items[i]);
            axis += axes ? axes : 1;
        }
        if (rest->rank > MAX_RANK - 2) {
            refuse(I, out, "and so many axes");
        }
    }
}

/* base[items], of which one is an array at least: the sizes of the arrays stand
 * at the plan's place among the others. */
const Type *
type_of_gather(Infer *I, const AExpr *out, const Type *base,
               const Type *const *items, int n)
{
    GatherPlan plan;
    Type lead = {.kind = TY_ARRAY};
    Type rest = {.kind = TY_ARRAY};
    bool odd = false;
    demote_vector(I, base);
    for (int i = 0; i < n; i++) {
        bool known = items[i]->kind == TY_SLICE || items[i]->kind == TY_NONE ||
                     items[i]->kind == TY_RANGE ||
                     index_array_axes(items[i]) > 0 ||
                     type_is_size(items[i]);
        if (!known) {
            infer_refuse(I, DIAG_UNSUPPORTED_INDEX, out->loc, NULL,
                         "an index of type %s is not translated",
                         type_text(I->arena, items[i]));
        }
    }
    lead_sizes(I, out, items, n, &lead, &odd);
    rest_sizes(I, out, items, n, base, &rest);
    gather_plan(items, n, base->rank, &plan);
    if (lead.rank + rest.rank > MAX_RANK) {
        refuse(I, out, "and so many axes");
    }
    Type *type = arena_copy(I->arena, type_kind(I->arena, TY_ARRAY),
                            sizeof(*type));
    type->dtype = base->dtype;
    for (int k = 0; k < rest.rank + lead.rank; k++) {
        int at = k - plan.place;
        type->size[type->rank++] = at < 0            ? rest.size[k]
                                   : at < lead.rank ? lead.size[at]
                                                    : rest.size[k - lead.rank];
    }
    bool any_order = (odd && rest.rank == 0 && lead.rank > 1) ||
                     (rest.rank > 1 && has_any_order(base));
    type->view = plan.place > 0;
    type->layout = any_order || type->view ? LAYOUT_ANY : LAYOUT_C;
    int object = object_new(I, NULL, out->loc, true);
    I->objects.at[object].order = any_order ? LAYOUT_ANY : LAYOUT_C;
    return type_of_object(I, type, object);
}

/* --- positions ------------------------------------------------------------ */

/* np.nonzero(a): an index array per axis, columns of one array. */
const Type *
type_of_nonzero(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *from = call->items.at[0]->type;
    if (from->kind != TY_ARRAY || from->rank == 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                     "`%s` is not translated for %s", builtin_row(id)->name,
                     type_text(I->arena, from));
    }
    check_reach(I, from, call->loc);
    Type *type = arena_copy(I->arena, type_kind(I->arena, TY_ARRAY),
                            sizeof(*type));
    type->dtype = DT_I64;
    type->rank = 1;
    type->size[0] = -1;
    type->view = true;
    type->layout = from->rank > 1 ? LAYOUT_ROWS : LAYOUT_C;
    bool where = id == BUILTIN_NP_ARGWHERE;
    if (where) {
        type->rank = 2;
        type->size[1] = from->rank;
        type->layout = LAYOUT_ANY;
    } else if (id == BUILTIN_NP_FLATNONZERO) {
        type->layout = LAYOUT_C;
    }
    int object = object_new(I, NULL, call->loc, true);
    const Type *one = type_of_object(I, type, object);
    if (where || id == BUILTIN_NP_FLATNONZERO) {
        return one;
    }
    const Type *items[MAX_RANK];
    for (int i = 0; i < from->rank; i++) {
        items[i] = one;
    }
    return type_tuple(I->arena, items, from->rank, false);
}
