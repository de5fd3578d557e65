/* np.concatenate and its kin: arrays put side by side.
 *
 *     np.concatenate((a, b), axis=1)    along an axis that they have
 *     np.stack([a, b, c], axis=-1)      along one that they get
 *     np.vstack, np.hstack, np.column_stack, np.dstack
 *
 * The sequence is a tuple or list of known length.  Operands of fewer axes than
 * the result have one place on the new axis.  The dtype is the one in which all
 * meet; lists of numbers among the operands become arrays first.
 *
 * NumPy sorts the axes of the result as it does for arithmetic.
 */
#include <string.h>

#include "typeinfer/state.h"

/* Refuses (VZ-2003) the call. */
static _Noreturn void
refuse(Infer *I, const AExpr *call, BuiltinId id, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc,
                 "A tuple or a list display of arrays is translated.",
                 "`%s` is not translated for %s", builtin_row(id)->name, why);
}

/* The axis along which 'n' operands are put; false: there is none. */
static bool
plan_axis(const AExpr *call, BuiltinId id, const Type *list, int *axis)
{
    const AExpr *given = call->items.n > 1 ? call->items.at[1] : NULL;
    int64_t value = 0;
    int most = 0;
    for (int i = 0; i < list->rank; i++) {
        int rank = list->items[i]->rank;
        most = rank > most ? rank : most;
    }
    switch ((int)id) {
    case BUILTIN_NP_VSTACK:
        *axis = 0;
        return true;
    case BUILTIN_NP_HSTACK:
        *axis = most > 1;
        return true;
    case BUILTIN_NP_COLUMN_STACK:
        *axis = 1;
        return true;
    case BUILTIN_NP_DSTACK:
        *axis = 2;
        return most == 2 || most == 3;
    default:
        break;
    }
    int rank = most + (id == BUILTIN_NP_STACK);
    if (given != NULL && !type_is_known_int(given->type, &value)) {
        return false;
    }
    value += value < 0 ? rank : 0;
    *axis = (int)value;
    return value >= 0 && value < rank;
}

/* How many axes the result has. */
static int
rank_of(BuiltinId id, const Type *list)
{
    int most = 0;
    for (int i = 0; i < list->rank; i++) {
        int rank = list->items[i]->rank;
        most = rank > most ? rank : most;
    }
    bool two = id == BUILTIN_NP_VSTACK || id == BUILTIN_NP_COLUMN_STACK;
    return id == BUILTIN_NP_STACK       ? most + 1
           : id == BUILTIN_NP_DSTACK    ? 3
           : two && most < 2            ? 2
                                        : most;
}

bool
concat_plan(const AExpr *call, BuiltinId id, ConcatPlan *plan)
{
    const Type *list = call->items.at[0]->type;
    if (list->kind != TY_TUPLE || list->rank == 0 || list->alt != ALT_NEVER) {
        return false;
    }
    for (int i = 0; i < list->rank; i++) {
        const Type *item = list->items[i];
        if (item->kind != TY_ARRAY || item->rank == 0 ||
            item->alt != ALT_NEVER) {
            return false;
        }
    }
    if (!plan_axis(call, id, list, &plan->axis)) {
        return false;
    }
    plan->rank = rank_of(id, list);
    bool mixed = id != BUILTIN_NP_STACK && id != BUILTIN_NP_CONCATENATE &&
                 id != BUILTIN_NP_HSTACK;
    for (int i = 0; i < list->rank; i++) {
        int rank = list->items[i]->rank;
        bool full = rank == plan->rank;
        bool less = rank == plan->rank - 1;
        if (!(id == BUILTIN_NP_STACK ? less : full || (mixed && less))) {
            return false;
        }
    }
    return plan->rank <= MAX_RANK;
}

/* The lists among the items of a display as arrays. */
static void
settle_lists(Infer *I, AExpr *display)
{
    const Type *old = display->type;
    bool plain = display->kind == A_TUPLE || display->kind == A_LIST;
    if (!plain || old->kind != TY_TUPLE || display->items.n != old->rank) {
        return;
    }
    const Type **items = ARENA_ARRAY(I->arena, const Type *, old->rank + 1);
    for (int i = 0; i < old->rank; i++) {
        display->items.at[i] = array_of(I, display->items.at[i]);
        items[i] = display->items.at[i]->type;
    }
    display->type = type_tuple(I->arena, items, old->rank, old->is_list);
}

/* The sizes that are known, and the order in memory. */
static void
fill_type(Infer *I, const AExpr *call, const ConcatPlan *plan,
          const Type *list, Type *type)
{
    int64_t total = 0;
    bool rows = true;
    bool turned = true;
    for (int k = 0; k < plan->rank; k++) {
        type->size[k] = -1;
    }
    for (int i = 0; i < list->rank; i++) {
        const Type *item = list->items[i];
        bool full = item->rank == plan->rank;
        int64_t own = full ? item->size[plan->axis] : 1;
        check_reach(I, item, call->loc);
        total = total < 0 || own < 0 ? -1 : total + own;
        for (int k = 0; k < item->rank; k++) {
            int to = k + (!full && k >= plan->axis);
            int64_t size = item->size[k];
            bool better = type->size[to] < 0 && size != -1;
            type->size[to] = better ? size : type->size[to];
        }
        rows &= !has_any_order(item);
        turned &= full && item->layout == LAYOUT_F;
    }
    type->size[plan->axis] = total;
    type->layout = rows || plan->rank == 1 ? LAYOUT_C
                   : turned                ? LAYOUT_F
                                           : LAYOUT_ANY;
}

const Type *
type_of_joined(Infer *I, AExpr *call, BuiltinId id)
{
    ConcatPlan plan;
    settle_lists(I, call->items.at[0]);
    if (!concat_plan(call, id, &plan)) {
        refuse(I, call, id, type_text(I->arena, call->items.at[0]->type));
    }
    const Type *list = call->items.at[0]->type;
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_ARRAY), sizeof(*type));
    type->rank = plan.rank;
    type->dtype = list->items[0]->dtype;
    for (int i = 1; i < list->rank; i++) {
        type->dtype = dtype_promote(type->dtype, list->items[i]->dtype);
    }
    fill_type(I, call, &plan, list, type);
    int object = object_new(I, NULL, call->loc, true);
    I->objects.at[object].order = type->layout;
    return type_of_object(I, type, object);
}
