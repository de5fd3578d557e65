/* Calls that make arrays.
 *
 *     np.zeros(3)              a vector in registers, unless it was demoted
 *     np.zeros((h, w, 3))      memory; axis 2 is known to be 3
 *     np.array([x, y, 1.0])    a vector; its dtype is that of the items' join
 *     img.copy()               memory
 *
 * A shape is an int, or a tuple or list of ints.  Sizes that are an axis of an
 * argument remember it, so that it may be pinned later.
 *
 * Whether an array is a value or a buffer decides much of the code that comes
 * out: a vector of three lanes costs three registers, a buffer costs memory,
 * index checks and a dependence analysis.  So small arrays of constant size are
 * vectors wherever nobody can tell the difference (alias.c).
 *
 * `np.zeros_like(a)` keeps the memory order of `a`, as the strides of the
 * result show.  Inside of the function nobody sees them; a returned array whose
 * order is not that of C is refused.
 */
#include <string.h>

#include "typeinfer/list.h"

/* --- shapes --------------------------------------------------------------- */

/* The size of an axis as Type.size has it. */
static int64_t
size_of(const Type *type)
{
    if (type->known) {
        return type->ival;
    }
    return type->origin ? size_with_origin(type->origin) : -1;
}

/* Refuses (VZ-2005) what is no shape or has no dtype. */
static _Noreturn void
refuse_shape(Infer *I, const AExpr *e)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                 "%s is not translated as the shape of an array",
                 type_text(I->arena, e->type));
}

/* A size is an int; a bool is an error in NumPy, and so is a negative size. */
static bool
is_size(const Type *type)
{
    return type_is_size(type) &&
           !(type->known && type->ival < 0);
}

/* Rank and sizes of the array that has 'e' as its shape. */
static void
shape_of(Infer *I, const AExpr *e, Type *out)
{
    const Type *type = e->type;
    if (is_size(type)) {
        out->rank = 1;
        out->size[0] = size_of(type);
        return;
    }
    if (type->kind != TY_TUPLE || type->rank > MAX_RANK || type->rank == 0) {
        refuse_shape(I, e);
    }
    out->rank = type->rank;
    for (int i = 0; i < type->rank; i++) {
        if (!is_size(type->items[i])) {
            refuse_shape(I, e);
        }
        out->size[i] = size_of(type->items[i]);
    }
}

/* --- objects -------------------------------------------------------------- */

/* The call's place, which is the same in every round of inference. */
static Sym
site_of(Infer *I, const AExpr *call)
{
    return sym(str_printf(I->arena, "%u:%u:%u:%u", call->loc.file,
                          (unsigned)call->loc.line, call->loc.col,
                          call->loc.end_col));
}

/* The object belongs to the place of the call, which is what may be demoted. */
const Type *
type_new_array(Infer *I, const AExpr *call, const Type *type, Layout order)
{
    Sym site = site_of(I, call);
    check_axes(I, call, type);
    bool small = type_lanes(type) > 0 && !map_has(&I->demoted, site);
    int object = object_new(I, site, call->loc, !small);
    I->objects.at[object].order = order;
    Type *copy = arena_copy(I->arena, type, sizeof(*type));
    copy->layout = order == LAYOUT_C ? type->layout : order;
    return type_of_object(I, copy, object);
}

/* np.zeros_like and its kin. */
static bool
is_like(BuiltinId id)
{
    return id == BUILTIN_NP_ZEROS_LIKE || id == BUILTIN_NP_ONES_LIKE ||
           id == BUILTIN_NP_EMPTY_LIKE || id == BUILTIN_NP_FULL_LIKE;
}

/* The dtype that np.array(value) has. */
static DType
natural_dtype(const Type *num)
{
    return num->dtype;
}

/* An array of no rank yet, to be filled in. */
static Type *
blank_array(Infer *I, DType dtype)
{
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_ARRAY), sizeof(*type));
    type->dtype = dtype;
    type->layout = LAYOUT_C;
    return type;
}

/* np.zeros(shape, dtype), np.full(shape, value, dtype), np.zeros_like(a). */
const Type *
type_of_make(Infer *I, AExpr *call, BuiltinId id)
{
    const AExpr *first = call->items.at[0];
    bool like = is_like(id);
    bool full = id == BUILTIN_NP_FULL || id == BUILTIN_NP_FULL_LIKE;
    const AExpr *dtype = call->items.at[full ? 2 : 1];
    Type *type = blank_array(I, DT_F64);
    Layout order = LAYOUT_C;
    if (like) {
        if (first->type->kind != TY_ARRAY) {
            refuse_shape(I, first);
        }
        type->dtype = first->type->dtype;
        type->rank = first->type->rank;
        memcpy(type->size, first->type->size, sizeof(type->size));
        order = layout_of_result(&first->type, 1, type);
    } else {
        shape_of(I, first, type);
    }
    if (full) {
        bool pair = call->items.at[1]->type->kind == TY_COMPLEX;
        const Type *value =
            pair ? call->items.at[1]->type
                 : need_num(I, call->items.at[1], "the value");
        if (pair ? value->alt != ALT_NEVER : !type_is_one_dtype(value)) {
            refuse_shape(I, call->items.at[1]);
        }
        type->dtype = like ? type->dtype : natural_dtype(value);
    }
    if (dtype != NULL && dtype->type->kind != TY_NONE) {
        type->dtype = need_dtype(I, dtype);
    }
    if (full) {
        check_keeps(I, call, call->items.at[1]->type->dtype, type->dtype);
    }
    return type_new_array(I, call, type, order);
}

/* np.array of a flat list of numbers, or of an array. */
const Type *
type_of_array(Infer *I, AExpr *call)
{
    const AExpr *object = call->items.at[0];
    const AExpr *dtype = call->items.at[1];
    const Type *list = object->type;
    if (list->kind == TY_ARRAY) {
        return type_of_copy(I, call, BUILTIN_NP_ARRAY);
    }
    if (list_is_array(list)) {
        return type_of_list_array(I, call);
    }
    if (list->kind != TY_TUPLE || list->rank == 0 || list->rank > MAX_LANES) {
        refuse_shape(I, object);
    }
    DType common = DT_BOOL;
    for (int i = 0; i < list->rank; i++) {
        const Type *item = list->items[i];
        bool one = item->kind == TY_COMPLEX ? item->alt == ALT_NEVER
                                            : type_is_one_dtype(item);
        if ((item->kind != TY_NUM && item->kind != TY_COMPLEX) || !one) {
            infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, object->loc, NULL,
                         "np.array of %s is not translated",
                         type_text(I->arena, list));
        }
        common = i ? dtype_promote(common, natural_dtype(item))
                   : natural_dtype(item);
    }
    if (dtype != NULL && dtype->type->kind != TY_NONE) {
        check_keeps(I, call, common, need_dtype(I, dtype));
        common = need_dtype(I, dtype);
    }
    const Type *type = type_vector(I->arena, common, list->rank);
    return type_new_array(I, call, type, LAYOUT_C);
}

/* a.copy(), a.astype(dtype), np.array(a): np.array and astype keep the memory
 * order of `a`, its method copy makes one in C order. */
const Type *
type_of_copy(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *from = call->items.at[0]->type;
    if (from->kind == TY_NUM) { /* a NumPy scalar's astype */
        DType dt = need_dtype(I, call->items.at[1]);
        if (dtype_is_complex(dt)) {
            refuse_shape(I, call->items.at[1]);
        }
        return type_num(I->arena, dt, false);
    }
    const AExpr *dtype = id == BUILTIN_COPY ? NULL : call->items.at[1];
    check_reach(I, from, call->loc);
    Type *type = blank_array(I, from->dtype);
    type->rank = from->rank;
    memcpy(type->size, from->size, sizeof(type->size));
    if (dtype != NULL && dtype->type->kind != TY_NONE) {
        type->dtype = need_dtype(I, dtype);
    }
    check_keeps(I, call, from->dtype, type->dtype);
    bool keeps = id != BUILTIN_COPY;
    Layout order = keeps ? layout_of_result(&from, 1, type) : LAYOUT_C;
    return type_new_array(I, call, type, order);
}

/* x.item(): the number as one of Python's. */
const Type *
type_of_item(Infer *I, AExpr *call)
{
    const Type *from = call->items.at[0]->type;
    if (from->kind != TY_NUM || from->dtype == DT_U64) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                     "`item` of %s is not translated",
                     type_text(I->arena, from));
    }
    return dtype_is_float(from->dtype) ? type_float(I->arena)
           : from->dtype == DT_BOOL     ? type_bool(I->arena)
                                        : type_int(I->arena);
}

/* --- sequences of numbers ------------------------------------------------- */

void
arange_args(const AExpr *call, const Type **out)
{
    const AExpr *second = call->items.at[1];
    bool one = second == NULL || second->type->kind == TY_NONE;
    const AExpr *step = call->items.at[2];
    out[0] = one ? NULL : call->items.at[0]->type;
    out[1] = call->items.at[one ? 0 : 1]->type;
    out[2] = step == NULL || step->type->kind == TY_NONE ? NULL : step->type;
}

/* The dtype of np.arange; DT_COUNT: not translated. */
static DType
arange_dtype(const Type *const *args, DType given)
{
    DType common = DT_I64;
    for (int i = 0; i < 3; i++) {
        if (args[i] == NULL) {
            continue;
        }
        if (args[i]->kind != TY_NUM || args[i]->alt != ALT_NEVER ||
            args[i]->dtype == DT_BOOL || args[i]->dtype == DT_F32 ||
            args[i]->dtype == DT_U64) {
            return DT_COUNT;
        }
        common = dtype_promote(common, args[i]->dtype);
    }
    if (given == DT_COUNT) {
        return common;
    }
    bool narrows = dtype_is_float(common) && !dtype_is_float(given);
    return narrows || given == DT_BOOL || dtype_is_complex(given) ? DT_COUNT
                                                                  : given;
}

/* The size of np.arange as Type.size has it. */
static int64_t
arange_size(const Type *const *args)
{
    int64_t start = 0;
    int64_t stop;
    int64_t step = 1;
    bool from = args[0] == NULL || type_is_known_int(args[0], &start);
    bool by = args[2] == NULL || type_is_known_int(args[2], &step);
    if (!from || !by || step == 0 || dtype_is_float(args[1]->dtype)) {
        return -1;
    }
    int64_t most = INT64_C(1) << 40;
    if (type_is_known_int(args[1], &stop)) {
        bool small = start > -most && start < most && stop > -most &&
                     stop < most && step > -most && step < most;
        int64_t span = step > 0 ? stop - start : start - stop;
        int64_t width = step > 0 ? step : -step;
        return !small ? -1 : span <= 0 ? 0 : (span + width - 1) / width;
    }
    return start == 0 && step == 1 && args[1]->weak ? size_of(args[1]) : -1;
}

/* np.arange(stop), np.arange(start, stop, step, dtype) */
const Type *
type_of_arange(Infer *I, AExpr *call)
{
    const Type *args[3];
    arange_args(call, args);
    const AExpr *dtype = call->items.at[3];
    bool given = dtype != NULL && dtype->type->kind != TY_NONE;
    DType dt = arange_dtype(args, given ? need_dtype(I, dtype) : DT_COUNT);
    if (dt == DT_COUNT) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                     "`numpy.arange` of %s is not translated here",
                     type_text(I->arena, args[1]));
    }
    Type *type = blank_array(I, dt);
    type->rank = 1;
    type->size[0] = arange_size(args);
    return type_new_array(I, call, type, LAYOUT_C);
}

/* a.fill(v) changes `a`. */
const Type *
type_of_fill(Infer *I, AExpr *call)
{
    const AExpr *array = call->items.at[0];
    need_num(I, call->items.at[1], "the value");
    check_reach(I, array->type, call->loc);
    demote_vector(I, array->type);
    alias_mutate(I, array->type, call->loc);
    return type_kind(I->arena, TY_NONE);
}
