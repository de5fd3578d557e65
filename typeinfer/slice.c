/* Slices as they are written: a[lo:hi:step].
 *
 *     a[i:]        the type (int, None, None)
 *     a[::2]       (None, None, 2): the step must be known
 *
 * What the type tells is taken from there, and its expression never lowered.
 * So a bound like f(x) that returns None or a constant is refused where f would
 * not be called.
 */
#include "typeinfer/state.h"

/* lo:hi:step as a type; the step must be known. */
const Type *
type_of_slice(Infer *I, const AExpr *e, AExpr *const *parts)
{
    const Type *items[3];
    int64_t step = 1;
    for (int i = 0; i < 3; i++) {
        items[i] = parts[i] ? parts[i]->type : type_kind(I->arena, TY_NONE);
        if (items[i]->kind != TY_NONE) {
            check_index(I, parts[i], items[i], false);
        }
    }
    bool known =
        items[2]->kind == TY_NONE || type_is_known_int(items[2], &step);
    if (!known) {
        infer_pin(I, cond_origin(parts[2]));
    }
    if (!known || step == 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, e->loc,
                     "Write a loop over the elements.",
                     "a slice with a step that is not a constant is not "
                     "translated");
    }
    Type *type = arena_copy(I->arena, type_tuple(I->arena, items, 3, false),
                            sizeof(*type));
    type->kind = TY_SLICE;
    return type;
}

/* None and a step are known by their types, and so are constant bounds for a
 * list, a tuple or a small array: nobody would evaluate them. */
static void
check_told(Infer *I, const AExpr *part, bool step, const Type *base)
{
    bool items = base->kind != TY_ARRAY || type_lanes(base) > 0;
    bool told = part->type->kind == TY_NONE || step ||
                (items && part->type->known);
    if (told && has_user_call(part)) {
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, part->loc,
                     "Give it a name first.",
                     "a slice with %s that a call returns is not translated",
                     step ? "a step" : "None or a constant");
    }
}

/* The typed bounds of a slice that is written in a subscript of 'base'; those
 * that are None are left out. */
AExpr *
infer_slice(Infer *I, const AExpr *e, const Type *base)
{
    AExpr *out = node_like(I, e);
    for (int i = 0; i < 3; i++) {
        AExpr *part = e->items.at[i] ? infer_expr(I, e->items.at[i]) : NULL;
        if (part != NULL) {
            check_told(I, part, i == 2, base);
        }
        bool none = part != NULL && part->type->kind == TY_NONE;
        vec_push(I->arena, &out->items, none ? NULL : part);
    }
    out->type = type_of_slice(I, e, out->items.at);
    return out;
}
