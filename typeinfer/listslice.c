/* Slices of lists, and lists as indices of arrays: their types.
 *
 *     lst[::-1], lst[i::2]    new lists, each of the place where it is made
 *     OFFSETS[:n]             a list of fixed length, but the run says how
 *                             much of it: a list of run-time length
 *     a[keep]                 a[np.array(keep)], an index array
 *
 * A slice copies the items, so nothing it gives is part of the old list.  For
 * an index NumPy makes an array of the list; it is made here in the same way,
 * and then indexes as any array does.  A list of bools becomes a mask, and an
 * empty one of these no mask at all, which lower tests. */
#include "typeinfer/list.h"

/* --- slices --------------------------------------------------------------- */

/* The type of lst[lo:hi:step]; the step is known. */
const Type *
list_slice(Infer *I, const AExpr *out)
{
    const AExpr *index = out->items.at[0];
    int64_t step = 1;
    if (index->items.at[2] != NULL) {
        type_is_known_int(index->items.at[2]->type, &step);
    }
    if (step == INT64_MIN) { /* has no opposite */
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, index->loc, NULL,
                     "a slice of a list with this step is not translated");
    }
    const Type *made = list_new(I, out);
    list_put_all(I, made, out->lhs);
    return list_type(I, made);
}

/* A slice of the fixed list 'base' whose bounds are known at run time only, as
 * that of a list of run-time length; NULL: such a list can't hold the items. */
AExpr *
slice_at_run_time(Infer *I, AExpr *base, AExpr *slice)
{
    const Type *type = base->type;
    const Type *item = uniform_item(I, type);
    if (!type->is_list || type->rank == 0 || item == NULL ||
        !list_holds_numbers(I, item)) {
        return NULL;
    }
    AExpr *all = list_call(I, base->loc, BUILTIN_LIST_OF, base);
    const Type *made = list_new(I, slice);
    list_put(I, made, item, NULL, base->loc);
    all->type = list_type(I, made);
    AExpr *out = ast_expr(I->arena, A_SUBSCRIPT, slice->loc);
    out->lhs = all;
    vec_push(I->arena, &out->items, slice);
    out->type = list_slice(I, out);
    return out;
}

/* --- indices -------------------------------------------------------------- */

/* Does a list of such items index as an array of integers, or as a mask? */
static bool
is_index_item(const Type *item)
{
    if (item->kind == TY_NUM) {
        return item->alt == ALT_NEVER && !dtype_is_float(item->dtype) &&
               item->dtype != DT_U64;
    }
    bool same = item->kind == TY_TUPLE && item->rank > 0 &&
                item->alt == ALT_NEVER;
    for (int i = 0; same && i < item->rank; i++) {
        same = is_index_item(item->items[i]) &&
               item->items[i]->kind == item->items[0]->kind &&
               (item->items[i]->dtype == DT_BOOL) ==
                   (item->items[0]->dtype == DT_BOOL);
    }
    return same;
}

/* The item's numbers are bools. */
static bool
is_mask_item(const Type *item)
{
    while (item->kind == TY_TUPLE) {
        item = item->items[0];
    }
    return item->dtype == DT_BOOL;
}

/* The typed 'e', an item of the index of an array, as an array if it is a list
 * of run-time length; else as it is. */
AExpr *
index_of_list(Infer *I, AExpr *e)
{
    const Type *list = e->type;
    bool empty = list->rank == 0; /* gives an index array without elements */
    if (list->kind != TY_LIST || !list->is_list || is_deque(list) ||
        list->alt != ALT_NEVER ||
        (!empty && !is_index_item(list->items[0]))) {
        return e;
    }
    AExpr *dtype = NULL;
    if (empty || !is_mask_item(list->items[0])) {
        Type *type = arena_copy(I->arena, type_kind(I->arena, TY_DTYPE),
                                sizeof(*type));
        type->dtype = DT_I64;
        type->name = sym("numpy.int64");
        dtype = ast_expr(I->arena, A_CONST, e->loc);
        dtype->type = type;
    }
    AExpr *call = list_call(I, e->loc, BUILTIN_NP_ARRAY, e);
    vec_push(I->arena, &call->items, dtype);
    vec_push(I->arena, &call->keys, NULL);
    call->type = type_of_list_array(I, call);
    return call;
}

/* --- deletion ------------------------------------------------------------- */

/* del lst[k] is lst.pop(k) without its value. */
bool
list_delete(Infer *I, const AExpr *target, ABlock *out)
{
    if (target->kind != A_SUBSCRIPT || target->items.n != 1 ||
        target->items.at[0]->kind == A_SLICE) {
        return false;
    }
    AExpr *list = infer_maybe(I, target->lhs);
    if (!list_like(list->type) || is_deque(list->type)) {
        return false;
    }
    if (list->type->kind == TY_TUPLE) {
        list_instead(I, list->type);
        return false;
    }
    AExpr *pop = list_call(I, target->loc, BUILTIN_LIST_POP, list);
    vec_push(I->arena, &pop->items, infer_expr(I, target->items.at[0]));
    vec_push(I->arena, &pop->keys, NULL);
    pop->type = type_of_list(I, pop, BUILTIN_LIST_POP);
    AStmt *s = ast_stmt(I->arena, AS_EXPR, target->loc);
    s->value = pop;
    vec_push(I->arena, out, s);
    return true;
}
