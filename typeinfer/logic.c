/* `and`, `or`, `if`-`else`, and conditions.
 *
 * A condition is not typed as a value: `mask is None or mask[y, x]` needs no
 * common type of its two sides, only the truth of each.  As a value the same
 * expression is one of its sides, so they must have a type in common.
 *
 *     True and x        x
 *     False and x       False; x is never typed
 *     a or b            as a condition: bool; as a value: type_join(a, b)
 *     p if c else q     one side if c is known, else type_join(p, q)
 *
 * Where there is no common type, the argument that decides the condition is
 * pinned, so that only one side is left in the next attempt.
 */
#include "typeinfer/list.h"

/* --- and, or, if-else ----------------------------------------------------- */

/* Infers the items that may be evaluated; "decided" tells that the last one
 * ends the evaluation. */
static AExpr *
infer_items_of(Infer *I, const AExpr *e, bool as_cond, bool *decided)
{
    AExpr *out = node_like(I, e);
    *decided = false;
    int outer = I->conditional;
    for (int i = 0; i < e->items.n && !*decided; i++) {
        I->conditional = outer + (i > 0);
        AExpr *item = as_cond ? infer_cond(I, e->items.at[i])
                              : infer_maybe(I, e->items.at[i]);
        settle_some(I, item);
        bool truth;
        bool known = type_truth(item->type, &truth);
        *decided = known && truth == (e->op == AO_OR);
        bool last = i + 1 == e->items.n;
        if (known && !*decided && !last && is_simple(item)) {
            continue; /* `True and x` is `x` */
        }
        vec_push(I->arena, &out->items, item);
    }
    I->conditional = outer;
    return out;
}

/* No common type for the two sides of a choice: pins the argument that decides
 * it, if there is one, or refuses (VZ-2006). */
static _Noreturn void
refuse_join(Infer *I, const AExpr *e, const AExpr *cond, const Type *lhs,
            const Type *rhs)
{
    infer_pin(I, cond_origin(cond));
    list_settle(I, lhs, rhs);
    infer_refuse(I, DIAG_TYPE_CONFLICT, e->loc,
                 "Write an `if` statement with a name of its own on each path.",
                 "the value may be %s or %s here, and no type holds both",
                 type_text(I->arena, lhs), type_text(I->arena, rhs));
}

/* The type of a value that is 'lhs' or 'rhs'. Both arrays get a further name
 * by it. */
const Type *
join_values(Infer *I, const AExpr *e, const AExpr *cond, const AExpr *lhs,
            const AExpr *rhs)
{
    const Type *type = join_types(I, lhs->type, rhs->type);
    if (type == NULL) {
        refuse_join(I, e, cond, lhs->type, rhs->type);
    }
    if (type_is_vector(type)) {
        alias_value(I, lhs);
        alias_value(I, rhs);
    }
    return join_objects(I, type, lhs->type, rhs->type);
}

/* What `a or b` gives of `a`: a tuple is not None then. */
static const AExpr *
without_falsy(Infer *I, const AExpr *e)
{
    if (!type_is_pack(e->type) || e->type->alt != ALT_NONE ||
        e->type->kind == TY_EITHER) {
        return e;
    }
    AExpr *copy = arena_copy(I->arena, e, sizeof(*e));
    copy->type = type_with_alt(I->arena, e->type, ALT_NEVER);
    return copy;
}

/* `a and b` as a value: one of the operands, so all must have a common type. */
AExpr *
infer_boolop(Infer *I, const AExpr *e)
{
    bool decided;
    AExpr *out = infer_items_of(I, e, false, &decided);
    if (out->items.n == 1) {
        return out->items.at[0];
    }
    out->type = out->items.at[0]->type;
    const AExpr *so_far = out->items.at[0];
    for (int i = 1; i < out->items.n; i++) {
        AExpr *both = node_like(I, e);
        so_far = e->op == AO_OR ? without_falsy(I, so_far) : so_far;
        both->type = join_values(I, e, so_far, so_far, out->items.at[i]);
        so_far = both;
    }
    out->type = type_forget(I->arena, so_far->type);
    if (so_far->type->alt != ALT_NEVER) {
        out->type = so_far->type;
    }
    return out;
}

/* `a and b` as a condition: the types of a and b may have nothing in common. */
static AExpr *
cond_boolop(Infer *I, const AExpr *e)
{
    bool decided;
    AExpr *out = infer_items_of(I, e, true, &decided);
    if (out->items.n == 1) {
        return out->items.at[0];
    }
    out->type = decided ? type_known_bool(I->arena, e->op == AO_OR)
                        : type_bool(I->arena);
    return out;
}

/* The types of conditions are bool where they are `and`, `or` and `not`; a
 * plain expression keeps its own. */
AExpr *
infer_cond(Infer *I, const AExpr *e)
{
    if (e->kind == A_BOOLOP) {
        return cond_boolop(I, e);
    }
    AExpr *out = dict_sized(I, infer_maybe(I, e));
    settle_some(I, out);
    bool small = type_lanes(out->type) == 1;
    if (out->type->kind == TY_ARRAY && !small) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "%s as a condition is not translated",
                     type_text(I->arena, out->type));
    }
    return out;
}

/* A known condition leaves one side, which alone is typed. */
AExpr *
infer_ifexp(Infer *I, const AExpr *e)
{
    AExpr *cond = infer_cond(I, e->items.at[0]);
    AExpr *out = node_like(I, e);
    vec_push(I->arena, &out->items, cond);
    bool truth;
    if (type_truth(cond->type, &truth)) {
        AExpr *taken = infer_expr(I, e->items.at[truth ? 1 : 2]);
        if (is_simple(cond)) {
            return taken;
        }
        vec_push(I->arena, &out->items, truth ? taken : NULL);
        vec_push(I->arena, &out->items, truth ? NULL : taken);
        out->type = taken->type;
        return out;
    }
    I->conditional++;
    AExpr *yes = infer_maybe(I, e->items.at[1]);
    AExpr *no = infer_maybe(I, e->items.at[2]);
    I->conditional--;
    vec_push(I->arena, &out->items, yes);
    vec_push(I->arena, &out->items, no);
    demand_choice(I, e, cond, yes->type, no->type);
    out->type = join_values(I, e, cond, yes, no);
    return out;
}
