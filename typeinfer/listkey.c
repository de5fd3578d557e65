/* sorted, list.sort, min and max with a key.
 *
 *     sorted(items, key=f)
 *       -->  all = list(items)
 *            pairs = [(f(v), k) for k, v in enumerate(all)]
 *            pairs.sort()                        by the first parts only
 *            [all[p[1]] for p in pairs]
 *
 *     lst.sort(key=f)    the same of a copy; the list is empty meanwhile
 *     min(items, key=f)  the first pair whose first part no other's is less
 *                        than
 *
 * So a key is computed once for each item, in their order, as in Python; a sort
 * by the first parts that keeps the order of equal ones never looks at items.
 */
#include <string.h>

#include "typeinfer/list.h"

/* The argument 'name' of the call; NULL: there is none, or it is None. */
static const AExpr *
keyword(const AExpr *e, const char *name)
{
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        bool none = item->kind == A_CONST && item->type->kind == TY_NONE;
        if (e->keys.at[i] != NULL && strcmp(e->keys.at[i], name) == 0) {
            return none ? NULL : item;
        }
    }
    return NULL;
}

bool
has_key(const AExpr *e)
{
    return keyword(e, "key") != NULL;
}

/* Refuses (VZ-2004) other arguments than 'nplain' ones, `key` and 'second'. */
static void
check_arguments(Infer *I, const AExpr *e, int nplain, const char *second,
                const char *name)
{
    for (int i = 0; i < e->items.n; i++) {
        Sym key = e->keys.at[i];
        bool known = i < nplain ? key == NULL
                                : key != NULL && (strcmp(key, "key") == 0 ||
                                                  strcmp(key, second) == 0);
        if (!known || e->items.at[i]->kind == A_STARRED) {
            refuse_call(I, e, name, "has arguments that are not translated");
        }
    }
}

/* An untyped call of one argument. */
static AExpr *
call_of(Infer *I, AExpr *callee, AExpr *arg)
{
    AExpr *call = ast_expr(I->arena, A_CALL, arg->loc);
    call->lhs = callee;
    vec_push(I->arena, &call->items, arg);
    vec_push(I->arena, &call->keys, NULL);
    return call;
}

/* The untyped [lhs for ... ], to be gathered in the call's own name. */
static AExpr *
comp_in(Infer *I, const AExpr *call, AExpr *lhs, Loc loc)
{
    AExpr *comp = ast_expr(I->arena, A_COMP, loc);
    comp->lhs = lhs;
    comp->name = call->name;
    comp->is_list = true;
    return comp;
}

/* The key as something to call; what is evaluated goes to 'out'. */
static AExpr *
key_of_call(Infer *I, const AExpr *call, ABlock *out)
{
    const AExpr *key = keyword(call, "key");
    AExpr *typed = take_seq(I, infer_expr(I, key), out);
    if (typed->type->kind != TY_FUNC && typed->type->kind != TY_DTYPE) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, key->loc, NULL,
                     "%s as `key` is not translated",
                     type_text(I->arena, typed->type));
    }
    return as_untyped(I, typed, out);
}

/* The untyped pair (key(v), item) of a comprehension over 'part'. */
static AExpr *
pairs_in(Infer *I, const AExpr *call, AExpr *key, AExpr *item, AFor part)
{
    AExpr *pair = ast_expr(I->arena, A_TUPLE, call->loc);
    AExpr *comp = comp_in(I, call, pair, keyword(call, "key")->loc);
    vec_push(I->arena, &pair->items, key);
    vec_push(I->arena, &pair->items, item);
    vec_push(I->arena, &comp->fors, part);
    return comp;
}

/* A list of its own of what 'iter' gives. */
static AExpr *
list_from(Infer *I, const AExpr *iter, Loc loc, ABlock *out)
{
    AExpr *list;
    if (iter->kind == A_COMP) {
        AExpr *comp = arena_copy(I->arena, iter, sizeof(*iter));
        comp->is_list = true;
        list = list_comp(I, comp);
    } else {
        AExpr *call = ast_expr(I->arena, A_CALL, loc);
        AExpr *arg = arena_copy(I->arena, iter, sizeof(*iter));
        vec_push(I->arena, &call->items, arg);
        vec_push(I->arena, &call->keys, NULL);
        list = list_gather(I, call, BUILTIN_LIST);
    }
    return hold_typed(I, take_seq(I, list, out), out);
}

/* for k, v in enumerate(list) */
static AFor
numbered(Infer *I, AExpr *k, AExpr *v, AExpr *list)
{
    Binding *binding = ARENA_NEW(I->arena, Binding);
    binding->name = sym("enumerate");
    binding->kind = BIND_KNOWN;
    binding->known = sym(builtin_row(BUILTIN_ENUMERATE)->name);
    AExpr *callee = ast_expr(I->arena, A_GLOBAL, list->loc);
    callee->binding = binding;
    AFor part = {.target = ast_expr(I->arena, A_TUPLE, list->loc)};
    vec_push(I->arena, &part.target->items, k);
    vec_push(I->arena, &part.target->items, v);
    part.iter = call_of(I, callee, list);
    return part;
}

/* [list[p[1]] for p in pairs], where pairs are the sorted (key, number) of the
 * items of the typed 'list'. */
static AExpr *
in_order(Infer *I, const AExpr *call, AExpr *list, ABlock *out)
{
    AExpr *key = key_of_call(I, call, out);
    AExpr *items = as_untyped(I, list, out);
    AExpr *v = hidden_new(I, call->loc);
    AExpr *k = hidden_new(I, call->loc);
    AExpr *pairs = pairs_in(I, call, call_of(I, key, v), k,
                            numbered(I, k, v, items));
    pairs = hold_typed(I, take_seq(I, list_comp(I, pairs), out), out);
    const AExpr *arg = keyword(call, "reverse");
    AExpr *down = arg ? infer_expr(I, arg) : NULL;
    if (has_user_call(down)) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, arg->loc,
                     "Give it a name first.",
                     "`reverse` that a call returns is not translated beside "
                     "`key`");
    }
    AExpr *sort = list_call(I, call->loc, BUILTIN_LIST_BY_KEY, pairs);
    vec_push(I->arena, &sort->items, down);
    vec_push(I->arena, &sort->keys, NULL);
    sort->type = type_of_list(I, sort, BUILTIN_LIST_BY_KEY);
    AStmt *s = ast_stmt(I->arena, AS_EXPR, call->loc);
    s->value = sort;
    vec_push(I->arena, out, s);
    AExpr *number = ast_expr(I->arena, A_SUBSCRIPT, call->loc);
    number->lhs = hidden_new(I, call->loc);
    vec_push(I->arena, &number->items, const_int(I, 1, call->loc));
    AExpr *item = ast_expr(I->arena, A_SUBSCRIPT, call->loc);
    item->lhs = items;
    vec_push(I->arena, &item->items, number);
    AExpr *comp = comp_in(I, call, item, call->loc);
    AFor part = {.target = number->lhs, .iter = as_untyped(I, pairs, out)};
    vec_push(I->arena, &comp->fors, part);
    return take_seq(I, list_comp(I, comp), out);
}

/* lst.sort(key=...): the list is taken out and put back. */
AExpr *
list_sort_by_key(Infer *I, const AExpr *e, AExpr *self)
{
    ABlock block = {0};
    check_arguments(I, e, 0, "reverse", "sort");
    self = hold_typed(I, take_seq(I, self, &block), &block);
    AExpr *copy = list_call(I, e->lhs->loc, BUILTIN_LIST_COPY, self);
    copy->type = type_of_list(I, copy, BUILTIN_LIST_COPY);
    copy = hold_typed(I, copy, &block);
    AExpr *clear = list_call(I, e->loc, BUILTIN_LIST_CLEAR, self);
    clear->type = type_of_list(I, clear, BUILTIN_LIST_CLEAR);
    AStmt *s = ast_stmt(I->arena, AS_EXPR, e->loc);
    s->value = clear;
    vec_push(I->arena, &block, s);
    AExpr *items = in_order(I, e, copy, &block);
    AExpr *extend = list_call(I, e->loc, BUILTIN_LIST_EXTEND, self);
    vec_push(I->arena, &extend->items, items);
    vec_push(I->arena, &extend->keys, NULL);
    extend->type = type_of_list(I, extend, BUILTIN_LIST_EXTEND);
    return typed_seq(I, block, extend);
}

/* sorted, min and max of one iterable with a key. */
AExpr *
call_with_key(Infer *I, const AExpr *e, BuiltinId id)
{
    ABlock block = {0};
    bool sort = id == BUILTIN_SORTED;
    AExpr *iter = e->items.at[0];
    check_arguments(I, e, 1, sort ? "reverse" : "key",
                    strrchr(builtin_row(id)->name, '.') + 1);
    if (sort) {
        AExpr *list = list_from(I, iter, e->lhs->loc, &block);
        return typed_seq(I, block, in_order(I, e, list, &block));
    }
    if (iter->kind == A_COMP) {
        AExpr *list = list_from(I, iter, iter->loc, &block);
        iter = as_untyped(I, list, &block);
    }
    AExpr *key = key_of_call(I, e, &block);
    AExpr *v = hidden_new(I, e->loc);
    AFor part = {.target = v, .iter = iter};
    AExpr *comp = pairs_in(I, e, call_of(I, key, v), v, part);
    comp->op = id == BUILTIN_MIN ? AO_LT : AO_GT;
    AExpr *pair = comp_reduce(I, comp, id, NULL, NULL);
    pair = hold_typed(I, take_seq(I, pair, &block), &block);
    return typed_seq(I, block, typed_item(I, pair, 1));
}
