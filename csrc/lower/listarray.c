/* np.array of lists and tuples: an array that is made, and filled item by item.
 *
 *     np.array(points)    check 0 < n;  alloc out[n, 2]
 *                         for k in [0, n): out[k, 0] = ..; out[k, 1] = ..
 *
 * Items are stored as by out[i] = item, which is also how NumPy converts them.
 *
 * NumPy looks at all items to find the dtype: [1, 2.5] is float64, [1, 2]
 * int64, [] float64.  Inference has taken the widest kind that the list can
 * hold; so where the list may turn out to hold none of it ("float or int", all
 * of them ints) the run looks whether it does, and if not, Python makes the
 * array.
 */
#include "csrc/lower/list.h"

/* The extents of a value, from axis 'at' on; rows must not be empty where that
 * would show in the dtype. */
static void
extents_of(Lower *L, Value v, bool fixed, Expr **dims, int at, Loc loc)
{
    if (v.type->kind == TY_TUPLE && v.type->rank == 0) {
        dims[at] = int_const(L, 0);
    } else if (v.type->kind == TY_TUPLE) {
        dims[at] = int_const(L, v.type->rank);
        extents_of(L, v.items[0], fixed, dims, at + 1, loc);
    } else if (v.type->kind == TY_ARRAY) {
        const Lazy *z = lazy_of(L, v, loc);
        for (int i = 0; i < z->rank; i++) {
            dims[at + i] = reuse(L, hold(L, z->extent[i], loc), loc);
        }
    }
    if (v.type->kind != TY_LIST) {
        return;
    }
    const List *list = list_some(L, v, loc);
    dims[at] = list_length(L, list, loc);
    if (v.type->rank == 0) {
        return;
    }
    const Type *item = v.type->items[0];
    bool flat = item->kind == TY_NUM;
    if (!flat || (!fixed && (item->dtype != DT_F64 || item->alt))) {
        Expr *zero = int_const(L, 0);
        emit_check(L, op2(L, E_LT, zero, dims[at]), X_SPECULATE, loc);
    }
    Value first = list_load(L, list, int_const(L, 0));
    extents_of(L, first, fixed, dims, at + 1, loc);
}

/* What has been seen of the numbers: one whose kind is that of the array. */
typedef struct Kinds {
    Var *seen; /* NULL: there surely is one */
    Loc loc;
} Kinds;

/* An array becomes a part of another, of the same shape. */
static void
store_array(Lower *L, const View *to, Value v, Loc loc)
{
    const Lazy *z = lazy_of(L, v, loc);
    for (int i = 0; i < z->rank; i++) {
        Expr *same = op2(L, E_EQ, z->extent[i], view_extent(L, to, i));
        emit_check(L, same, X_VALUE, loc);
    }
    lazy_store(L, to, z, loc);
}

/* Does the type have a number that is surely of 'dtype'? */
static bool
has_kind(const Type *type, DType dtype)
{
    Plain alt;
    if (type->kind == TY_COMPLEX) {
        return type->dtype == dtype && type->alt == ALT_NEVER;
    }
    if (type->kind == TY_NUM) {
        bool maybe = type_plain_alt(type, &alt) && alt.dtype != dtype;
        return type->dtype == dtype && !maybe;
    }
    if (type->rank == 0 || type->kind == TY_ARRAY) {
        return type->rank == 0 || type->dtype == dtype;
    }
    for (int i = 0; i < type->rank; i++) {
        if (has_kind(type->items[i], dtype)) {
            return true;
        }
    }
    return false;
}

/* to[...] = v, item by item. Lists are loops, tuples are written out. */
static void
store_value(Lower *L, const View *to, Value v, Kinds *kinds)
{
    Loc loc = kinds->loc;
    DType dtype = view_dtype(to);
    if (v.type->kind == TY_NUM || v.type->kind == TY_COMPLEX) {
        if (kinds->seen != NULL && v.type->dtype == dtype) {
            Expr *is = not_(L, flag_or_false(L, v.flag));
            Expr *seen = ir_ref(L->arena, kinds->seen);
            emit_set(L, kinds->seen, either(L, seen, is), loc);
        }
        view_store(L, to, stored_as(L, v, dtype, loc), loc);
        return;
    }
    if (v.type->kind == TY_ARRAY) {
        store_array(L, to, v, loc);
        return;
    }
    if (v.type->kind == TY_TUPLE) {
        for (int i = 0; i < v.type->rank; i++) {
            Expr *at = int_const(L, i);
            store_value(L, view_at(L, to, at), v.items[i], kinds);
        }
        return;
    }
    if (v.type->rank == 0) {
        return;
    }
    Block *outer = L->out;
    const List *list = list_some(L, v, loc);
    Expr *n = view_extent(L, to, 0);
    if (list->heap != NULL) {
        emit_check(L, op2(L, E_EQ, n, list->length), X_VALUE, loc);
    }
    Expr *k = list_loop(L, int_const(L, 0), n, loc);
    Value item = list_load(L, list, k);
    if (item.type->kind != TY_LIST && item.lazy == NULL) {
        item = hold_value(L, item, loc);
    }
    store_value(L, view_at(L, to, k), item, kinds);
    L->out = outer;
}

/* The extents are those of the first items; that the others are as long is part
 * of the type, for tuples, or of how lists of an argument are kept, and is
 * tested of lists of a heap. */
Value
lower_list_array(Lower *L, const AExpr *e, Value v)
{
    const AExpr *dtype = e->items.at[1];
    bool fixed = dtype != NULL && dtype->type->kind != TY_NONE;
    Expr *dims[MAX_RANK];
    Kinds kinds = {.loc = e->loc};
    v = hold_value(L, v, e->loc);
    extents_of(L, v, fixed, dims, 0, e->loc);
    if (!fixed && !has_kind(v.type, e->type->dtype)) {
        kinds.seen = set_var(L, "seen", DT_BOOL, 0);
        emit_set(L, kinds.seen, ir_bool(L->arena, false), e->loc);
    }
    Value out = make_array(L, e, dims);
    store_value(L, out.view, v, &kinds);
    if (kinds.seen != NULL) {
        emit_check(L, ir_ref(L->arena, kinds.seen), X_SPECULATE, e->loc);
    }
    return out;
}
