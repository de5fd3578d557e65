/* Stars: sequences of known length in the place of their items.
 *
 *     f(a, *t, k=1)     h = a; g = t;  f(h, g[0], g[1], k=1)
 *     (0, *t)           (0, t[0], t[1])
 *     f(**options)      f(scale=..., clip=...)     a dict with known keys
 *     a, *b = t         a = t[0]; b = [t[1], t[2]]
 *
 * Where a star stands among arguments, those before it are held first, so that
 * everything is evaluated in Python's order: with `f(g(), *t)` g is called
 * before t is looked at.  An array behind a star must have few elements, whose
 * number becomes part of the signature.
 */
#include "typeinfer/state.h"

/* Is there a star among the arguments or items? */
bool
has_stars(const AExprVec *items)
{
    for (int i = 0; i < items->n; i++) {
        if (items->at[i] != NULL && items->at[i]->kind == A_STARRED) {
            return true;
        }
    }
    return false;
}

/* The held items of what stands behind a star; refuses what has an unknown
 * number of them. */
static AExprVec
star_items(Infer *I, const AExpr *star, ABlock *out)
{
    AExprVec items = {0};
    AExpr *e = take_seq(I, infer_expr(I, star->lhs), out);
    e = e->type->alt == ALT_NONE ? need_some(I, e) : e;
    check_iterable(I, e);
    if (!iter_items(I, e, MAX_STARRED, out, &items)) {
        bool array = e->type->kind == TY_ARRAY && e->type->rank == 1;
        infer_pin(I, array ? size_origin(e->type->size[0]) : 0);
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, star->loc, NULL,
                     "`*` before %s, whose length is not known, is not "
                     "translated",
                     type_text(I->arena, e->type));
    }
    return items;
}

/* The entries of '**d' as arguments by name. */
static void
spread_dict(Infer *I, const AExpr *star, AExpr *copy, ABlock *out)
{
    AExpr *dict = take_seq(I, infer_expr(I, star->lhs), out);
    if (dict->type->kind != TY_DICT) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, star->loc, NULL,
                     "`**` before %s is not translated",
                     type_text(I->arena, dict->type));
    }
    const Record *record = dict_entries(I, dict);
    for (int i = 0; i < record->keys.n; i++) {
        AExpr *value = as_untyped(I, record->values.at[i], out);
        vec_push(I->arena, &copy->items, value);
        vec_push(I->arena, &copy->keys, record->keys.at[i]->name);
    }
}

/* The call with the items themselves. Arguments by name keep their places, and
 * what stands behind the last star need not be held. */
AExpr *
call_with_stars(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    AExpr *copy = arena_copy(I->arena, e, sizeof(*e));
    copy->items.n = copy->items.cap = 0;
    copy->items.at = NULL;
    copy->keys.n = copy->keys.cap = 0;
    copy->keys.at = NULL;
    int last = 0;
    for (int i = 0; i < e->items.n; i++) {
        last = e->items.at[i]->kind == A_STARRED ? i : last;
    }
    for (int i = 0; i < e->items.n; i++) {
        AExpr *arg = e->items.at[i];
        if (arg->kind == A_STARRED && arg->op == AO_POW) {
            spread_dict(I, arg, copy, &block);
            continue;
        }
        if (arg->kind == A_STARRED) {
            AExprVec items = star_items(I, arg, &block);
            for (int k = 0; k < items.n; k++) {
                AExpr *item = as_untyped(I, items.at[k], &block);
                vec_push(I->arena, &copy->items, item);
                vec_push(I->arena, &copy->keys, NULL);
            }
            continue;
        }
        if (i < last && arg->kind != A_CONST) {
            arg = as_untyped(I, infer_expr(I, arg), &block);
        }
        vec_push(I->arena, &copy->items, arg);
        vec_push(I->arena, &copy->keys, e->keys.at[i]);
    }
    return typed_seq(I, block, infer_call(I, copy));
}

/* A tuple or list display with stars. */
AExpr *
display_with_stars(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    AExprVec items = {0};
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        if (item->kind != A_STARRED) {
            AExpr *typed = infer_expr(I, item);
            vec_push(I->arena, &items, hold_typed(I, typed, &block));
            continue;
        }
        AExprVec more = star_items(I, item, &block);
        for (int k = 0; k < more.n; k++) {
            vec_push(I->arena, &items, hold_typed(I, more.at[k], &block));
        }
    }
    AExpr *display = typed_display(I, &items, e->kind == A_LIST, e->loc);
    alias_value(I, display);
    return typed_seq(I, block, display);
}

/* a, *b, c = value of 'type': the starred target takes what the others leave,
 * as a list of known length.  Of n targets the others take n - 1 items; too few
 * items raise ValueError. */
AExpr *
target_with_star(Infer *I, const AExpr *target, const Type *type)
{
    AExpr *out = node_like(I, target);
    int n = target->items.n;
    bool array = type->kind == TY_ARRAY && type->rank > 0;
    int64_t size = type->kind == TY_TUPLE ? type->rank
                   : array                ? type->size[0]
                                          : -1;
    if (array && size < 0) {
        infer_pin(I, size_origin(type->size[0]));
    }
    if (size < 0 || size > MAX_STARRED || type->alt != ALT_NEVER) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, target->loc, NULL,
                     "%s is not translated as a sequence to unpack with `*`",
                     type_text(I->arena, type));
    }
    if (size < n - 1) {
        read_unbound(I); /* ValueError */
    }
    int64_t k = 0;
    for (int i = 0; i < n; i++) {
        const AExpr *part = target->items.at[i];
        bool star = part->kind == A_STARRED;
        int64_t count = star ? size - (n - 1) : 1;
        const Type **types = ARENA_ARRAY(I->arena, const Type *, count + 1);
        for (int64_t j = 0; j < count; j++, k++) {
            types[j] = array ? item_type(I, type, target->loc) : type->items[k];
        }
        const Type *one =
            star ? type_tuple(I->arena, types, (int)count, true) : types[0];
        AExpr *typed = infer_target(I, star ? part->lhs : part, NULL, one);
        if (star) {
            AExpr *copy = node_like(I, part);
            copy->lhs = typed;
            copy->type = one;
            typed = copy;
        }
        vec_push(I->arena, &out->items, typed);
    }
    out->type = type;
    return out;
}
