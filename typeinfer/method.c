/* Methods that are calls of something else.
 *
 *     a.cumsum(axis=1)       the library's cumsum(a, axis=1)
 *     np.add.reduce(a)       np.sum(a, axis=0)
 *
 * Which functions of vizgen.library stand for methods of arrays is found when
 * the source is loaded; whether the object is an array, here.
 */
#include <string.h>

#include "typeinfer/state.h"

/* An untyped argument in front of those of the call. */
static AExpr *
call_with(Infer *I, const AExpr *e, AExpr *first)
{
    AExpr *call = ast_expr(I->arena, A_CALL, e->loc);
    vec_push(I->arena, &call->items, first);
    vec_push(I->arena, &call->keys, NULL);
    for (int i = 0; i < e->items.n; i++) {
        vec_push(I->arena, &call->items, e->items.at[i]);
        vec_push(I->arena, &call->keys, e->keys.at[i]);
    }
    return call;
}

/* A method of an array that is written in Python; NULL: another one. */
AExpr *
infer_library_method(Infer *I, const AExpr *e, const AExpr *self)
{
    if (e->lhs->binding == NULL || self->type->kind != TY_ARRAY) {
        return NULL;
    }
    AExpr *call = call_with(I, e, e->lhs->lhs);
    call->lhs = ast_expr(I->arena, A_GLOBAL, e->lhs->loc);
    call->lhs->binding = e->lhs->binding;
    return infer_call(I, call);
}

/* The reduction that a ufunc's `reduce` is: np.add.reduce(a) is np.sum(a,
 * axis=0). */
static BuiltinId
reduction_of(Sym ufunc)
{
    static const struct {
        const char *ufunc;
        BuiltinId id;
    } rows[] = {
        {"numpy.add", BUILTIN_NP_SUM},
        {"numpy.multiply", BUILTIN_NP_PROD},
        {"numpy.minimum", BUILTIN_NP_MIN},
        {"numpy.maximum", BUILTIN_NP_MAX},
        {"numpy.logical_and", BUILTIN_NP_ALL},
        {"numpy.logical_or", BUILTIN_NP_ANY},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].ufunc, ufunc) == 0) {
            return rows[i].id;
        }
    }
    return BUILTIN_NONE;
}

/* Is an axis given? */
static bool
has_axis(const AExpr *e)
{
    bool found = e->items.n > 1 && e->keys.at[1] == NULL;
    for (int i = 0; i < e->items.n; i++) {
        found |= e->keys.at[i] != NULL && strcmp(e->keys.at[i], "axis") == 0;
    }
    return found;
}

/* np.add.reduce(a, axis=0): the first axis is the default.  NULL: not that. */
AExpr *
infer_ufunc_method(Infer *I, const AExpr *e, const AExpr *self)
{
    bool reduces = self->type->kind == TY_FUNC && self->type->name != NULL &&
                   strcmp(e->lhs->name, "reduce") == 0;
    BuiltinId id = reduces ? reduction_of(self->type->name) : BUILTIN_NONE;
    if (id == BUILTIN_NONE || e->items.n == 0) {
        return NULL;
    }
    AExpr *call = arena_copy(I->arena, e, sizeof(*e));
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->name = sym(builtin_row(id)->name);
    call->lhs = ast_expr(I->arena, A_GLOBAL, e->lhs->loc);
    call->lhs->type = type;
    if (!has_axis(e)) {
        AExpr *axis = ast_expr(I->arena, A_CONST, e->loc);
        axis->type = type_known_int(I->arena, 0);
        call->items = (AExprVec){0};
        memset(&call->keys, 0, sizeof(call->keys));
        for (int i = 0; i < e->items.n; i++) {
            vec_push(I->arena, &call->items, e->items.at[i]);
            vec_push(I->arena, &call->keys, e->keys.at[i]);
        }
        vec_push(I->arena, &call->items, axis);
        vec_push(I->arena, &call->keys, sym("axis"));
    }
    AExpr *out = node_like(I, call);
    out->lhs = call->lhs;
    return call_builtin(I, call, out, id);
}
