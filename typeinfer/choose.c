/* Items that only the run picks, of tuples whose items are of several types.
 *
 *     (1, 2.5, n)[k]    h[0] if k == 0 or k == -3 else h[1] if ... else None
 *     (red, green)[k]   the same with arrays
 *
 * Items of one type are looked up in a table instead (csrc/lower/subscript.c).
 * The last resort is None, where Python raises; that it isn't that is checked.
 */
#include "typeinfer/state.h"

/* Longer tuples are refused. */
enum { MOST_CHOSEN = 16 };

/* Have all items a type in common? */
static bool
all_join(Infer *I, const Type *tuple)
{
    const Type *joined = tuple->items[0];
    for (int i = 1; joined != NULL && i < tuple->rank; i++) {
        joined = join_types(I, joined, tuple->items[i]);
    }
    return joined != NULL;
}

/* None, typed. */
AExpr *
none_at(Infer *I, Loc loc)
{
    AExpr *none = ast_expr(I->arena, A_CONST, loc);
    none->type = type_kind(I->arena, TY_NONE);
    return none;
}

/* yes if cond else no, of typed operands. */
AExpr *
typed_ifexp(Infer *I, AExpr *cond, AExpr *yes, AExpr *no)
{
    bool truth;
    if (type_truth(cond->type, &truth)) {
        return truth ? yes : no;
    }
    AExpr *e = ast_expr(I->arena, A_IFEXP, cond->loc);
    vec_push(I->arena, &e->items, cond);
    vec_push(I->arena, &e->items, yes);
    vec_push(I->arena, &e->items, no);
    e->type = join_values(I, e, cond, yes, no);
    return e;
}

/* 'k' from the end as one from the beginning, held. */
static AExpr *
from_beginning(Infer *I, AExpr *k, int n, ABlock *out)
{
    k = hold_typed(I, k, out);
    AExpr *zero = const_int(I, 0, k->loc);
    AExpr *negative = typed_compare(I, AO_LT, k, zero, k->loc);
    AExpr *size = const_int(I, n, k->loc);
    AExpr *moved = typed_binop(I, AO_ADD, k, size, k->loc);
    return hold_typed(I, typed_ifexp(I, negative, moved, k), out);
}

/* base[index] for a typed tuple and index; NULL: its items share no type, or
 * are too many. */
AExpr *
choose_item(Infer *I, AExpr *base, AExpr *index)
{
    const Type *tuple = base->type;
    if (tuple->rank == 0 || tuple->rank > MOST_CHOSEN || !all_join(I, tuple) ||
        !type_is_integer(index->type, true)) {
        return NULL;
    }
    ABlock block = {0};
    AExprVec items = held_items(I, base, &block);
    AExpr *k = from_beginning(I, index, items.n, &block);
    AExpr *found = none_at(I, base->loc);
    for (int i = items.n - 1; i >= 0; i--) {
        AExpr *one = const_int(I, i, k->loc);
        AExpr *here = typed_compare(I, AO_EQ, k, one, k->loc);
        found = typed_ifexp(I, here, items.at[i], found);
    }
    found = need_some(I, found);
    settle_some(I, found);
    return typed_seq(I, block, found);
}
