/* np.array of lists and tuples: shape and dtype.
 *
 *     np.array(points)              of tuples (int, float): float64[:, 2]
 *     np.array([[1, 2], [3, 4]])    int64[2, 2]
 *
 * The dtype is what all numbers together have, so it may depend on the run: a
 * list of floats among which ints may be has float64 if there is a float.  That
 * is what is assumed, and tested by csrc/lower; as is that there are items, for
 * an empty list gives float64[0] whatever it could hold.
 */
#include <string.h>

#include "typeinfer/list.h"

/* What is gathered of all numbers. */
typedef struct Leaves {
    DType dtype;
    bool any;
    bool known; /* the dtype does not depend on the run */
} Leaves;

/* Refuses (VZ-2005) what gives no array of numbers. */
static _Noreturn void
refuse_items(Infer *I, const AExpr *e)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                 "Give all items the same kind of number and the same length.",
                 "np.array of %s is not translated",
                 type_text(I->arena, e->type));
}

/* One more kind of number. With a dtype given ('fixed') all will do. A
 * maybe-type will do if its main part holds the alternative, which is then
 * assumed to be none. */
static void
add_leaf(Infer *I, const AExpr *e, const Type *num, bool fixed, Leaves *leaves)
{
    Plain alt;
    bool maybe = type_plain_alt(num, &alt);
    bool holds = maybe && dtype_promote(num->dtype, alt.dtype) == num->dtype;
    if (num->alt != ALT_NEVER && !(maybe && (fixed || holds))) {
        refuse_items(I, e);
    }
    leaves->dtype = leaves->any ? dtype_promote(leaves->dtype, num->dtype)
                                : num->dtype;
    leaves->any = true;
    leaves->known |= !maybe || alt.dtype == num->dtype;
}

/* Are both shapes of the same size in every axis that is known? */
static bool
same_shape(const Type *lhs, const Type *rhs)
{
    return lhs->rank == rhs->rank &&
           memcmp(lhs->size, rhs->size, sizeof(lhs->size)) == 0;
}

/* The axes of an array are the last ones. */
static void
add_array(Infer *I, const AExpr *e, const Type *type, bool fixed, Type *out,
          Leaves *leaves)
{
    if (type->alt != ALT_NEVER || out->rank + type->rank > MAX_RANK) {
        refuse_items(I, e);
    }
    check_reach(I, type, e->loc);
    for (int i = 0; i < type->rank; i++) {
        out->size[out->rank++] = type->size[i] >= 0 ? type->size[i] : -1;
    }
    add_leaf(I, e, type_num(I->arena, type->dtype, false), fixed, leaves);
}

/* The shape of a value of 'type' goes to 'out', from axis out->rank on. All
 * items must have one shape, as far as it is known. */
static void
add_shape(Infer *I, const AExpr *e, const Type *type, bool fixed, Type *out,
          Leaves *leaves)
{
    if (type->kind == TY_NUM || type->kind == TY_COMPLEX) {
        add_leaf(I, e, type, fixed, leaves);
        return;
    }
    if (type->kind == TY_ARRAY) {
        add_array(I, e, type, fixed, out, leaves);
        return;
    }
    bool list = type->kind == TY_LIST && type->alt == ALT_NEVER;
    bool tuple = type->kind == TY_TUPLE && type->alt == ALT_NEVER;
    if ((!list && !tuple) || out->rank == MAX_RANK) {
        refuse_items(I, e);
    }
    out->size[out->rank++] = list ? -1 : type->rank;
    if (type->rank == 0) {
        add_leaf(I, e, type_float(I->arena), fixed, leaves);
    }
    Type before = *out;
    Type first = before;
    for (int i = 0; i < type->rank; i++) {
        Type part = before;
        add_shape(I, e, type->items[i], fixed, &part, leaves);
        if (i > 0 && !same_shape(&part, &first)) {
            refuse_items(I, e);
        }
        first = part;
    }
    *out = first;
}

/* np.array of nested lists and tuples: the shape is that of the nesting, the
 * dtype what all numbers have in common. */
const Type *
type_of_list_array(Infer *I, const AExpr *call)
{
    const AExpr *object = call->items.at[0];
    const AExpr *dtype = call->items.at[1];
    bool fixed = dtype != NULL && dtype->type->kind != TY_NONE;
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_ARRAY), sizeof(*type));
    Leaves leaves = {.any = false};
    type->layout = LAYOUT_C;
    list_reach(I, object->type);
    if (is_deque(object->type)) {
        deque_refuse(I, object, "np.array");
    }
    add_shape(I, object, object->type, fixed, type, &leaves);
    type->dtype = fixed ? need_dtype(I, dtype) : leaves.dtype;
    check_keeps(I, call, leaves.dtype, type->dtype);
    return type_new_array(I, call, type, LAYOUT_C);
}

/* Is it more than a flat display of few numbers, which is a vector? */
bool
list_is_array(const Type *type)
{
    bool flat = type->kind == TY_TUPLE && type->rank > 0 &&
                type->rank <= MAX_LANES &&
                (type->items[0]->kind == TY_NUM ||
                 type->items[0]->kind == TY_COMPLEX);
    return type->kind == TY_LIST || (type->kind == TY_TUPLE && !flat);
}
