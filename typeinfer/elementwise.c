/* Element-wise results: shapes that are broadcast, and where they live.
 *
 *     img * 2.0                 float64[:, :]      as img
 *     img - img.mean(axis=0)    [:, :] and [:]     axes meet from the right
 *     img[r, c] * gains         float64[3]         a vector in registers
 *
 * Sizes that are known decide at once: 1 is broadcast, equal ones agree, others
 * raise.  Where a size is not known, lower checks that the two are equal.  An
 * axis of an argument that has one element in this call while the other side
 * has more is made part of the signature, so that it is seen to be broadcast.
 *
 * A result stays in registers if all operands can be read as vectors of one
 * size; everything else is a fresh array in memory.  Its strides follow those
 * of the operands, as NumPy's do (Object.order).
 */
#include <string.h>

#include "typeinfer/state.h"

/* The size that an axis has in this call; -1 where that is not known. */
int64_t
actual_size(const Infer *I, int64_t size)
{
    int origin = size_origin(size);
    if (size >= 0 || origin == 0) {
        return size >= 0 ? size : -1;
    }
    const SigArg *arg = &I->sig->args[(origin - 1) / (MAX_RANK + 1)];
    int axis = (origin - 1) % (MAX_RANK + 1);
    return axis == MAX_RANK ? arg->ival : arg->sizes[axis];
}

/* One of two sizes that are not both known: an axis of size 1 in this call is
 * pinned. */
static void
pin_single(Infer *I, int64_t lhs, int64_t rhs)
{
    int64_t a = actual_size(I, lhs);
    int64_t b = actual_size(I, rhs);
    if (a == 1 && b != 1) {
        infer_pin_anyhow(I, size_origin(lhs));
    } else if (b == 1 && a != 1) {
        infer_pin_anyhow(I, size_origin(rhs));
    }
}

/* The size of an axis in which two operands meet. If one is known, that is
 * taken for both, and lower checks it; of two unknown ones that which is an
 * argument's. */
static int64_t
meet_sizes(Infer *I, const AExpr *e, int64_t lhs, int64_t rhs)
{
    if (lhs == 1) {
        return rhs;
    }
    if (rhs == 1 || lhs == rhs) {
        return lhs;
    }
    if (lhs >= 0 && rhs >= 0) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, e->loc, NULL,
                     "axes of %lld and %lld elements don't fit together: this "
                     "raises ValueError",
                     (long long)lhs, (long long)rhs);
    }
    pin_single(I, lhs, rhs);
    return lhs >= 0 || (rhs < 0 && size_origin(lhs)) ? lhs : rhs;
}

/* Rank and sizes of 'n' operands broadcast together. Numbers have rank 0. */
void
broadcast_sizes(Infer *I, const AExpr *e, const Type *const *ops, int n,
                Type *out)
{
    out->rank = 0;
    for (int i = 0; i < n; i++) {
        bool array = ops[i]->kind == TY_ARRAY;
        out->rank = array && ops[i]->rank > out->rank ? ops[i]->rank
                                                      : out->rank;
    }
    for (int k = 0; k < out->rank; k++) {
        out->size[k] = 1;
    }
    for (int i = 0; i < n; i++) {
        int rank = ops[i]->kind == TY_ARRAY ? ops[i]->rank : 0;
        for (int k = 0; k < rank; k++) {
            int64_t *size = &out->size[out->rank - rank + k];
            *size = meet_sizes(I, e, *size, ops[i]->size[k]);
        }
    }
}

/* Can every array among the operands be read as a vector of the same size? */
static bool
are_vectors(const Type *const *ops, int n)
{
    int lanes = 0;
    for (int i = 0; i < n; i++) {
        if (ops[i]->kind != TY_ARRAY) {
            continue;
        }
        int own = type_lanes(ops[i]);
        if (own == 0 || (lanes != 0 && own != lanes)) {
            return false;
        }
        lanes = own;
    }
    return lanes > 0;
}

/* Could the strides of an operand have another order than C's? */
bool
has_any_order(const Type *type)
{
    return type->kind == TY_ARRAY && type->rank > 1 &&
           (type->layout == LAYOUT_ANY || type->layout == LAYOUT_F);
}

/* Has the operand an element for each of the result, so that it has a say in
 * the order of its axes? */
static bool
is_full(const Type *op, const Type *result)
{
    bool full = op->kind == TY_ARRAY && op->rank == result->rank;
    for (int k = 0; full && k < result->rank; k++) {
        full = op->size[k] != 1 || result->size[k] == 1;
    }
    return full;
}

/* Has it two axes at least that might be sorted? */
static bool
has_order(const Type *op)
{
    int axes = 0;
    for (int k = 0; op->kind == TY_ARRAY && k < op->rank; k++) {
        axes += op->size[k] != 1;
    }
    return axes > 1;
}

Layout
layout_of_result(const Type *const *ops, int n, const Type *result)
{
    bool any = false;
    bool reversed = false;
    bool others = false;
    for (int i = 0; i < n; i++) {
        bool full = is_full(ops[i], result);
        bool fortran = full && ops[i]->layout == LAYOUT_F;
        if (full && !has_any_order(ops[i])) {
            return LAYOUT_C;
        }
        any |= has_any_order(ops[i]);
        reversed |= fortran;
        others |= ops[i]->layout != LAYOUT_F && has_order(ops[i]);
    }
    bool fortran = reversed && !others && !dtype_is_complex(result->dtype);
    return !any      ? LAYOUT_C
           : fortran ? LAYOUT_F
                     : LAYOUT_ANY;
}

/* The fresh array that 'e' computes from 'ops', of which one is an array at
 * least. */
const Type *
type_elementwise(Infer *I, const AExpr *e, DType dtype, const Type *const *ops,
                 int n, bool in_memory)
{
    Type type = {.kind = TY_ARRAY, .dtype = dtype, .layout = LAYOUT_C};
    type.func = -1;
    broadcast_sizes(I, e, ops, n, &type);
    if (type.rank == 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "arithmetic on arrays without axes is not translated");
    }
    check_axes(I, e, &type);
    type.layout = layout_of_result(ops, n, &type);
    Type *copy = arena_copy(I->arena, &type, sizeof(type));
    if (in_memory || !are_vectors(ops, n)) {
        int object = object_new(I, NULL, e->loc, true);
        I->objects.at[object].order = type.layout;
        return type_of_object(I, copy, object);
    }
    return type_new_array(I, e, copy, LAYOUT_C);
}

/* Does an array of 'from' fit into one of 'to', as `to[...] = from` has it?
 * Leading axes of one element are dropped. */
void
check_fits(Infer *I, const AExpr *e, const Type *from, const Type *to)
{
    int drop = from->rank - to->rank;
    for (int k = 0; k < from->rank; k++) {
        int64_t size = from->size[k];
        int64_t into = k < drop ? 1 : to->size[k - drop];
        if (size == 1 || size == into) {
            continue;
        }
        if (size >= 0 && into >= 0) {
            infer_refuse(I, DIAG_ALWAYS_FAILS, e->loc, NULL,
                         "%s can't be stored into %s: this raises ValueError",
                         type_text(I->arena, from), type_text(I->arena, to));
        }
        if (actual_size(I, size) == 1) {
            infer_pin(I, size_origin(size));
        }
    }
}

/* An array in registers for which that won't do goes to memory, and inference
 * begins again; returns if its place can't be told. */
void
demote_vector(Infer *I, const Type *type)
{
    if (type_is_vector(type)) {
        demote_object(I, type->object);
    }
}
