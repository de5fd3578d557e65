/* Subscripts and attributes.
 *
 *     img[r, c]        of rank 2: an element, a NumPy scalar
 *                      of rank 3: a view of one pixel
 *     img.shape[2]     an int that knows which axis it is
 *     TAPS[k + 2]      an element of a tuple of equal numbers
 *
 * Views stay in memory: they are read where they are used, so what is stored
 * through another name in the meantime is seen, as in NumPy.
 *
 * Sizes: what is left of an array after a subscript keeps the sizes of its
 * axes, constant or not, so that the last axis of an image is known to be 3 in
 * a view of a view as well.  A slice has a known size if its bounds and the
 * axis have. Two places demand a size: arithmetic on a part, and a slice with
 * constant bounds like `img[r, c, 0:3]`.
 */
#include <string.h>

#include "typeinfer/list.h"

/* --- indices -------------------------------------------------------------- */

/* A float as an index raises IndexError; bools, arrays, None and `...` mean
 * other things than one element. */
static _Noreturn void
refuse_index(Infer *I, const AExpr *e, const Type *type)
{
    bool fails = type->kind == TY_NUM && dtype_is_float(type->dtype);
    infer_refuse(I, fails ? DIAG_ALWAYS_FAILS : DIAG_UNSUPPORTED_INDEX, e->loc,
                 fails ? "Convert it with `int(...)`." : NULL,
                 "an index of type %s %s", type_text(I->arena, type),
                 fails ? "raises IndexError" : "is not translated");
}

/* An integer, or a float that may be one (lower tests that it is). */
void
check_index(Infer *I, const AExpr *e, const Type *type, bool or_bool)
{
    bool maybe_int = type->kind == TY_NUM && type->alt == ALT_INT;
    if (!type_is_integer(type, or_bool) && !maybe_int) {
        refuse_index(I, e, type);
    }
}

/* A bound of a slice of 'size' items as PySlice_AdjustIndices has it for a step
 * upwards: counted from behind if it is negative, then cut off at 0 and 'size';
 * clears '*known' if it depends on the run. */
static int64_t
clamp_bound(const Type *type, int64_t dflt, int64_t size, bool *known)
{
    int64_t value = dflt;
    if (type->kind == TY_NONE) {
        return dflt;
    }
    if (!type_is_known_int(type, &value)) {
        *known = false;
        return 0;
    }
    value = value < 0 ? value + size : value;
    return value < 0 ? 0 : value > size ? size : value;
}

/* The constant step of a slice. */
static int64_t
step_of(const Type *slice)
{
    int64_t step = 1;
    type_is_known_int(slice->items[2], &step);
    return step;
}

/* Is it `x:x + 1` for a name `x`?  Such a slice has one element unless it lies
 * outside, which lower checks. */
static bool
is_single(const AExpr *e)
{
    const AExpr *lo = e->kind == A_SLICE ? e->items.at[0] : NULL;
    const AExpr *hi = e->kind == A_SLICE ? e->items.at[1] : NULL;
    int64_t one;
    return lo != NULL && hi != NULL && lo->kind == A_NAME &&
           hi->kind == A_BINOP && hi->op == AO_ADD &&
           hi->lhs->kind == A_NAME && hi->lhs->version == lo->version &&
           type_is_known_int(hi->rhs->type, &one) && one == 1 &&
           step_of(e->type) == 1;
}

/* Where a slice of 'size' items, which is known, begins, and how many it has;
 * false when that depends on the run. With a step the number is the distance
 * divided by it, rounded up. */
bool
known_slice(const Type *slice, int64_t size, int64_t *first, int64_t *n)
{
    bool known = true;
    int64_t step = step_of(slice);
    int64_t lo;
    int64_t hi;
    if (step > 0) {
        lo = clamp_bound(slice->items[0], 0, size, &known);
        hi = clamp_bound(slice->items[1], size, size, &known);
        *n = hi > lo ? (hi - lo + step - 1) / step : 0;
    } else { /* counted from behind, where the first item is at -1 */
        lo = size - 1;
        hi = -1;
        known = slice->items[0]->kind == TY_NONE ||
                type_is_known_int(slice->items[0], &lo);
        known &= slice->items[1]->kind == TY_NONE ||
                 type_is_known_int(slice->items[1], &hi);
        lo = lo < 0 && slice->items[0]->kind != TY_NONE ? lo + size : lo;
        hi = hi < 0 && slice->items[1]->kind != TY_NONE ? hi + size : hi;
        lo = lo < size - 1 ? lo : size - 1;
        hi = hi < -1 ? -1 : hi;
        *n = lo > hi ? (lo - hi - step - 1) / -step : 0;
    }
    *first = lo;
    return known;
}

/* The size of 'size' elements sliced by item 'e' of 'type', as Type.size. A
 * small constant end of the last axis pins its size: `rgba[:3]` is a vector
 * then. */
static int64_t
sliced_size(Infer *I, const AExpr *e, const Type *type, int64_t size,
            bool last)
{
    bool full = type->items[0]->kind == TY_NONE &&
                type->items[1]->kind == TY_NONE;
    int64_t step = step_of(type);
    if (full && (step == 1 || step == -1)) {
        return size;
    }
    int64_t hi = 0;
    bool small =
        type_is_known_int(type->items[1], &hi) && hi <= MAX_LANES;
    if (size < 0 && last && small) {
        infer_pin(I, size_origin(size)); /* img[r, c, 0:3] */
    }
    int64_t first;
    int64_t n;
    if (size >= 0 && known_slice(type, size, &first, &n)) {
        return n;
    }
    return is_single(e) ? 1 : -1;
}

/* Does the subscript consist of one name for a tuple of indices? */
static bool
is_index_tuple(const AExpr *e)
{
    return e->items.n == 1 && e->items.at[0]->type->kind == TY_TUPLE &&
           !e->items.at[0]->type->is_list;
}

/* --- arrays --------------------------------------------------------------- */

/* Refuses (VZ-2014) more indices than axes. */
static _Noreturn void
refuse_too_many(Infer *I, const AExpr *e, const Type *base)
{
    for (int i = 0; i < e->items.n; i++) {
        if (e->items.at[i]->type->kind != TY_SLICE) {
            check_index(I, e->items.at[i], e->items.at[i]->type, true);
        }
    }
    infer_refuse(I, DIAG_ALWAYS_FAILS, e->loc, NULL,
                 "too many indices for %s: this raises IndexError",
                 type_text(I->arena, base));
}

/* Is the item of a subscript `...`? */
static bool
is_dots(const AExpr *e)
{
    return e->kind == A_OTHER && e->name == sym("ellipsis");
}

/* The typed indices and slices of 'e', in order. */
static void
infer_indices(Infer *I, const AExpr *e, AExpr *out)
{
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        AExpr *typed;
        if (is_dots(item)) {
            typed = node_like(I, item);
            typed->type = type_kind(I->arena, TY_RANGE);
        } else {
            typed = item->kind == A_SLICE
                        ? infer_slice(I, item, out->lhs->type)
                        : infer_expr(I, item);
        }
        if (out->lhs->type->kind == TY_ARRAY) {
            typed = index_of_list(I, typed);
        }
        vec_push(I->arena, &out->items, typed);
    }
}

/* The type of item 'i' of a subscript; a tuple's items count one by one. */
static const Type *
index_type(const AExpr *out, int i)
{
    return is_index_tuple(out) ? out->items.at[0]->type->items[i]
                               : out->items.at[i]->type;
}

/* How many axes the items of the subscript take. There may be one `...`. */
static int
axes_taken(Infer *I, const AExpr *out, int n)
{
    int taken = 0;
    int dots = 0;
    for (int i = 0; i < n; i++) {
        bool is = !is_index_tuple(out) && is_dots(out->items.at[i]);
        dots += is;
        taken += !is && index_type(out, i)->kind != TY_NONE;
    }
    if (dots > 1) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, out->loc, NULL,
                     "an index with two `...` raises IndexError");
    }
    return taken;
}

/* A part of an array under construction: "axis" is the next of the base, the
 * sizes so far are those of "type". */
typedef struct Part {
    const Type *base;
    Type *type;
    int axis;
    bool gaps; /* the elements don't follow each other in memory */
    bool fresh; /* it has axes that the base has not */
} Part;

/* One more axis of the part. */
static void
add_axis(Infer *I, Part *part, const AExpr *out, int64_t size)
{
    if (part->type->rank == MAX_RANK - dtype_is_complex(part->type->dtype)) {
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, out->loc, NULL,
                     "an array of more than %d axes is not translated",
                     MAX_RANK);
    }
    part->type->size[part->type->rank++] = size;
}

/* 'n' axes as they are. */
static void
keep_axes(Infer *I, Part *part, const AExpr *out, int n)
{
    for (; n > 0; n--, part->axis++) {
        add_axis(I, part, out, part->base->size[part->axis]);
    }
}

/* Does the slice leave elements out? */
static bool
cuts(const Type *slice)
{
    return slice->items[0]->kind != TY_NONE ||
           slice->items[1]->kind != TY_NONE || step_of(slice) != 1;
}

/* More indices than this are too many for any array. */
enum { MAX_INDICES = 4 * MAX_RANK };

/* What is left of 'base' after the indices; rank 0 is an element. Whether its
 * elements still follow each other in memory depends on where axes were left: a
 * slice or an index behind an axis that was left makes gaps.
 *
 *     img[2:5] of LAYOUT_C      LAYOUT_C: whole rows that follow each other
 *     img[:, 2:5], img[:, 0]    LAYOUT_ROWS: gaps between the rows
 */
static const Type *
part_type(Infer *I, const AExpr *out, const Type *base)
{
    Part part = {.base = base};
    part.type = arena_copy(I->arena, base, sizeof(*base));
    part.type->rank = 0;
    memset(part.type->size, 0, sizeof(part.type->size));
    bool tuple = is_index_tuple(out);
    const Type **all = ARENA_ARRAY(I->arena, const Type *, MAX_INDICES + 1);
    bool sliced = false; /* an axis was left, of which there may be many */
    int n = tuple ? out->items.at[0]->type->rank : out->items.n;
    for (int i = 0; i < n && i < MAX_INDICES; i++) {
        all[i] = index_type(out, i);
    }
    if (n <= MAX_INDICES && is_gather(all, n)) {
        return type_of_gather(I, out, base, all, n);
    }
    int taken = axes_taken(I, out, n);
    if (taken > base->rank) {
        refuse_too_many(I, out, base);
    }
    for (int i = 0; i < n; i++) {
        const AExpr *item = tuple ? out->items.at[0] : out->items.at[i];
        const Type *type = index_type(out, i);
        if (!tuple && is_dots(item)) {
            keep_axes(I, &part, out, base->rank - taken);
            sliced |= base->rank > taken;
        } else if (type->kind == TY_NONE) {
            part.fresh = true;
            add_axis(I, &part, out, 1);
        } else if (type->kind == TY_SLICE) {
            bool last = part.axis == base->rank - 1;
            int64_t size = base->size[part.axis++];
            part.gaps |= cuts(type) && (sliced || step_of(type) != 1);
            sliced = true;
            add_axis(I, &part, out, sliced_size(I, item, type, size, last));
        } else {
            check_index(I, item, type, false);
            part.gaps |= sliced;
            part.axis++;
        }
    }
    keep_axes(I, &part, out, base->rank - part.axis);
    part.type->view = true;
    bool packed = base->layout == LAYOUT_C && !part.gaps;
    bool turned = base->layout == LAYOUT_F && part.type->rank > 1;
    part.type->layout = base->layout == LAYOUT_ANY ? LAYOUT_ANY
                        : turned && part.fresh     ? LAYOUT_ANY
                        : turned                   ? LAYOUT_F
                        : packed                   ? LAYOUT_C
                                                   : LAYOUT_ROWS;
    return part.type;
}

/* `a[..., 0, 0]` is no element but an array without axes. */
static void
refuse_no_axes(Infer *I, const AExpr *out)
{
    for (int i = 0; i < out->items.n; i++) {
        if (is_dots(out->items.at[i])) {
            infer_refuse(I, DIAG_UNSUPPORTED_INDEX, out->loc,
                         "Leave the `...` out.",
                         "an array without axes is not translated");
        }
    }
}

/* An element, or a view of the same object. A slice of a vector in registers
 * counts as a further name of it. */
static const Type *
subscript_array(Infer *I, AExpr *out)
{
    const Type *base = out->lhs->type;
    check_reach(I, base, out->loc);
    const Type *part = part_type(I, out, base);
    if (part->rank == 0) {
        refuse_no_axes(I, out);
        pin_channels(I, out);
        return type_num(I->arena, base->dtype, false);
    }
    if (type_is_vector(base) && part->object == base->object) {
        int64_t first;
        int64_t n;
        const AExpr *item = out->items.at[0];
        if (type_lanes(part) == 0 || item->kind != A_SLICE ||
            !known_slice(item->type, base->size[0], &first, &n)) {
            demote_vector(I, base);
            refuse_index(I, out->items.at[0], type_int(I->arena));
        }
        I->objects.at[object_root(I, base->object)].aliased = true;
    }
    return part;
}

/* --- tuples --------------------------------------------------------------- */

static const Type *tuple_item_type(Infer *I, const Type *type, Loc loc);

/* With a known index the item itself, with its own type; else the type that
 * all items share. */
static const Type *
subscript_tuple(Infer *I, AExpr *out)
{
    const Type *base = out->lhs->type;
    const AExpr *item = out->items.at[0];
    if (out->items.n != 1) {
        refuse_index(I, item, item->type);
    }
    check_index(I, item, item->type, true);
    int64_t k;
    if (!type_is_known_int(item->type, &k)) {
        return tuple_item_type(I, base, out->loc);
    }
    k = k < 0 ? k + base->rank : k;
    if (k < 0 || k >= base->rank) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, out->loc, NULL,
                     "index %lld of %s raises IndexError",
                     (long long)item->type->ival, type_text(I->arena, base));
    }
    return base->items[k];
}

/* An item of a tuple of several types, where only the run knows which: a chain
 * of choices. NULL: the items have one type, or the index is known. */
static AExpr *
unknown_item(Infer *I, AExpr *out)
{
    AExpr *index = out->items.at[0];
    int64_t k;
    if (out->items.n != 1 || type_is_known_int(index->type, &k) ||
        uniform_item(I, out->lhs->type) != NULL) {
        return NULL;
    }
    infer_pin(I, cond_origin(index));
    return choose_item(I, out->lhs, index);
}

/* a[i, j], t[k]; a[t] with a tuple t is a[t[0], t[1]]. */
AExpr *
infer_subscript(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    out->lhs = infer_indexed(I, e->lhs);
    infer_indices(I, e, out);
    check_flat_index(I, e, out);
    const Type *base = out->lhs->type;
    AExpr *other;
    if (base->kind == TY_DICT) {
        AExpr *key = out->items.n == 1
                         ? out->items.at[0]
                         : typed_display(I, &out->items, false, out->loc);
        return dict_item(I, out->lhs, key);
    }
    switch ((int)base->kind) {
    case TY_ARRAY:
        out->type = subscript_array(I, out);
        break;
    case TY_TUPLE:
        if (out->items.n == 1 && out->items.at[0]->kind == A_SLICE) {
            return slice_sequence(I, out->lhs, out->items.at[0]);
        }
        other = unknown_item(I, out);
        if (other != NULL) {
            return other;
        }
        out->type = subscript_tuple(I, out);
        break;
    case TY_LIST:
        out->type = list_subscript(I, out);
        break;
    default:
        infer_refuse(I, unsupported(base), e->loc, NULL,
                     "%s can't be indexed here", type_text(I->arena, base));
    }
    return out;
}

/* --- iteration ------------------------------------------------------------ */

/* Items of a tuple as one type: numbers of one kind, or tuples of such. A table
 * has columns of one dtype, so no flags. */
static const Type *
uniform_type(Infer *I, const Type *lhs, const Type *rhs)
{
    if (lhs == NULL || lhs->kind != rhs->kind || lhs->alt != ALT_NEVER ||
        rhs->alt != ALT_NEVER) {
        return NULL;
    }
    if (lhs->kind == TY_NUM) {
        bool same = lhs->dtype == rhs->dtype && lhs->weak == rhs->weak;
        return same ? type_forget(I->arena, lhs) : NULL;
    }
    if (lhs->kind == TY_COMPLEX) {
        return type_equal(lhs, rhs) ? lhs : NULL;
    }
    if (lhs->kind != TY_TUPLE || lhs->rank != rhs->rank ||
        lhs->class != rhs->class || lhs->is_list != rhs->is_list) {
        return NULL;
    }
    const Type **items = ARENA_ARRAY(I->arena, const Type *, lhs->rank + 1);
    for (int i = 0; i < lhs->rank; i++) {
        items[i] = uniform_type(I, lhs->items[i], rhs->items[i]);
        if (items[i] == NULL) {
            return NULL;
        }
    }
    return type_like(I->arena, items, lhs);
}

/* Longer tables are refused. */
enum { MOST_TABLE = 1024 };

/* The type of an item that is chosen at run time, from a table; NULL: they have
 * no type in common. */
const Type *
uniform_item(Infer *I, const Type *type)
{
    const Type *item = type->rank ? type->items[0] : type_int(I->arena);
    item = uniform_type(I, item, item);
    for (int i = 1; i < type->rank; i++) {
        item = uniform_type(I, item, type->items[i]);
    }
    return type->rank > MOST_TABLE ? NULL : list_held_in(I, item, type->object);
}

/* The same, refused if there is none. */
static const Type *
tuple_item_type(Infer *I, const Type *type, Loc loc)
{
    const Type *item = uniform_item(I, type);
    if (item == NULL) {
        list_instead(I, type);
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Give all items the same kind of number.",
                     "%s with an index that is not known is not translated",
                     type_text(I->arena, type));
    }
    return item;
}

/* What iteration and unpacking give: elements of rank 1, else views of the
 * parts along the first axis. */
const Type *
item_type(Infer *I, const Type *type, Loc loc)
{
    if (type->kind == TY_TUPLE) {
        return tuple_item_type(I, type, loc);
    }
    if (type->kind == TY_LIST) {
        list_reach(I, type);
        return list_item(I, type);
    }
    if (type->kind != TY_ARRAY || type->rank == 0) {
        refuse_iteration(I, type, loc);
    }
    check_reach(I, type, loc);
    if (type->rank == 1) {
        return type_num(I->arena, type->dtype, false);
    }
    Type *part = arena_copy(I->arena, type, sizeof(*part));
    part->rank--;
    memmove(part->size, type->size + 1, sizeof(int64_t) * (MAX_RANK - 1));
    part->size[MAX_RANK - 1] = 0;
    part->view = true;
    part->layout = type->layout;
    return part;
}

/* --- attributes ----------------------------------------------------------- */

/* The size of an axis as an int. */
static const Type *
axis_type(Infer *I, const Type *array, int axis)
{
    if (array->size[axis] >= 0) {
        return type_known_int(I->arena, array->size[axis]);
    }
    Type *type = arena_copy(I->arena, type_int(I->arena), sizeof(*type));
    type->origin = size_origin(array->size[axis]);
    return type;
}

/* a.shape */
static const Type *
shape_type(Infer *I, const Type *array)
{
    const Type *items[MAX_RANK];
    for (int i = 0; i < array->rank; i++) {
        items[i] = axis_type(I, array, i);
    }
    return type_tuple(I->arena, items, array->rank, false);
}

/* a.size */
static const Type *
count_type(Infer *I, const Type *array)
{
    int64_t count = 1;
    for (int i = 0; i < array->rank; i++) {
        if (array->size[i] < 0 ||
            __builtin_mul_overflow(count, array->size[i], &count)) {
            return type_int(I->arena);
        }
    }
    return type_known_int(I->arena, count);
}

/* NULL: an attribute that is not translated. */
static const Type *
array_attr(Infer *I, const AExpr *e, const AExpr *array)
{
    const Type *base = array->type;
    const char *name = e->name;
    if (strcmp(name, "shape") == 0) {
        return shape_type(I, base);
    }
    if (strcmp(name, "ndim") == 0) {
        return type_known_int(I->arena, base->rank);
    }
    if (strcmp(name, "size") == 0) {
        return count_type(I, base);
    }
    if (strcmp(name, "dtype") == 0) {
        return dtype_object(I, base->dtype);
    }
    if (strcmp(name, "itemsize") == 0) {
        return type_known_int(I->arena, dtype_size(base->dtype));
    }
    if (strcmp(name, "nbytes") == 0) {
        const Type *count = count_type(I, base);
        int64_t size = dtype_size(base->dtype);
        return !count->known ? count
                             : type_known_int(I->arena, count->ival * size);
    }
    if (strcmp(name, "T") == 0) {
        return type_of_transposed(I, e, array);
    }
    if (strcmp(name, "flat") == 0) {
        return type_of_flat(I, e, array);
    }
    return NULL;
}

/* The same for a scalar of NumPy's. */
static const Type *
scalar_attr(Infer *I, const Type *base, const char *name)
{
    bool bytes = strcmp(name, "itemsize") == 0 || strcmp(name, "nbytes") == 0;
    return strcmp(name, "dtype") == 0  ? dtype_object(I, base->dtype)
           : bytes                     ? type_known_int(I->arena,
                                                        dtype_size(base->dtype))
           : strcmp(name, "size") == 0 ? type_known_int(I->arena, 1)
           : strcmp(name, "ndim") == 0 ? type_known_int(I->arena, 0)
                                       : NULL;
}

/* Attributes of arrays and of NumPy's scalars. */
AExpr *
infer_attr(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    out->lhs = infer_object(I, e->lhs);
    const Type *base = out->lhs->type;
    if (class_of(I, base) != NULL) {
        return class_attr(I, e, out->lhs);
    }
    if (base->kind == TY_ARRAY) {
        out->type = array_attr(I, e, out->lhs);
        out->type = out->type ? out->type : complex_part_type(I, base, e->name);
    } else if ((base->kind == TY_NUM || base->kind == TY_COMPLEX) &&
               !base->weak && base->alt == ALT_NEVER) {
        out->type = scalar_attr(I, base, e->name);
    }
    if (base->kind == TY_DTYPE) {
        out->type = dtype_attr(I, base, e->name);
    }
    out->type = out->type ? out->type : complex_attr(I, base, e->name);
    if (out->type == NULL) {
        infer_refuse(I, unsupported(base), e->loc, NULL,
                     "attribute `%s` of %s is not translated", e->name,
                     type_text(I->arena, base));
    }
    return out;
}
