/* Tuples, lists of fixed length and small arrays: what operators and builtins
 * do to all of their items.
 *
 *     sum(t)           0 + t[0] + t[1] + t[2]
 *     [x] * 3          [x, x, x]
 *     sorted(v)        a network of min and max
 *
 * All of these are written out as typed trees of the simpler operations, so
 * that csrc/lower has no need to know them.  Operands are held first: they are
 * evaluated once, whatever becomes of their items.  Comparisons are in
 * seqcompare.c.
 */
#include <string.h>

#include "typeinfer/list.h"

/* Longer tuples are not made, sorted, or added up without a loop. */
enum { MOST_REPEATED = 1024, MOST_SORTED = 30, MOST_SUMMED = 16 };

/* --- items ---------------------------------------------------------------- */

/* Is 'type' a sequence whose items are known one by one? */
static bool
has_items(const Type *type)
{
    return (type->kind == TY_TUPLE && type->alt == ALT_NEVER) ||
           (type_lanes(type) > 0 && type->alt == ALT_NEVER);
}

/* The held items of a typed sequence. */
AExprVec
held_items(Infer *I, AExpr *e, ABlock *out)
{
    AExprVec items = {0};
    e = take_seq(I, e, out);
    bool display = e->kind == A_TUPLE || e->kind == A_LIST;
    AExpr *base = display ? e : hold_typed(I, e, out);
    int n = e->type->kind == TY_TUPLE ? e->type->rank : type_lanes(e->type);
    for (int i = 0; i < n; i++) {
        AExpr *item = display ? e->items.at[i] : typed_item(I, base, i);
        vec_push(I->arena, &items, hold_typed(I, item, out));
    }
    return items;
}

/* --- repetition ----------------------------------------------------------- */

/* (a, b) * 2; NULL: neither operand is a tuple. */
AExpr *
repeat_tuple(Infer *I, AExpr *lhs, AExpr *rhs, Loc loc)
{
    bool swapped = rhs->type->kind == TY_TUPLE;
    AExpr *base = swapped ? rhs : lhs;
    AExpr *by = swapped ? lhs : rhs;
    int64_t n;
    if (base->type->kind != TY_TUPLE || by->type->kind != TY_NUM) {
        return NULL;
    }
    if (!type_is_known_int(by->type, &n)) {
        infer_pin(I, cond_origin(by));
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                     "Make an array, or repeat a constant number of times.",
                     "%s is repeated a number of times that is not known",
                     type_text(I->arena, base->type));
    }
    ABlock block = {0};
    AExprVec items = {0};
    by = hold_typed(I, by, &block);
    AExprVec once = held_items(I, base, &block);
    if (n > MOST_REPEATED || n * once.n > MOST_REPEATED) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc, "Make an array.",
                     "a %s of more than %d items is not translated",
                     base->type->is_list ? "list" : "tuple", MOST_REPEATED);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < once.n; k++) {
            vec_push(I->arena, &items, once.at[k]);
        }
    }
    AExpr *display = typed_display(I, &items, base->type->is_list, loc);
    alias_value(I, display);
    return typed_seq(I, block, display);
}

/* --- builtins ------------------------------------------------------------- */

/* From Python 3.12 on, `sum` keeps the bits that sums of floats lose; from 3.14
 * on those of complex numbers, too. */
void
check_sum(Infer *I, const Type *sum, Loc loc)
{
    bool floats = sum->kind == TY_NUM && sum->weak &&
                  (dtype_is_float(sum->dtype) || sum->alt == ALT_FLOAT);
    bool pairs = sum->kind == TY_COMPLEX && I->unit->minor >= 14;
    if (pairs || (floats && I->unit->minor >= 12)) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, loc, "Write a loop that adds.",
                     "`sum` of floats is not translated for this version of "
                     "Python");
    }
}

/* start + t[0] + t[1] ..., or the product of them, from left to right as Python
 * does: floats are not associative. */
static AExpr *
fold_items(Infer *I, BuiltinId id, const AExprVec *items, AExpr *start, Loc loc)
{
    bool sum = id == BUILTIN_SUM;
    AExpr *so_far = start ? start : const_int(I, sum ? 0 : 1, loc);
    for (int i = 0; i < items->n; i++) {
        so_far = typed_binop(I, sum ? AO_ADD : AO_MUL, so_far, items->at[i],
                             loc);
    }
    if (sum) {
        check_sum(I, so_far->type, loc);
    }
    return so_far;
}

/* The truth of each item, as a condition. */
static AExpr *
any_items(Infer *I, const AExprVec *items, BuiltinId id, Loc loc)
{
    for (int i = 0; i < items->n; i++) {
        if (items->at[i]->type->kind == TY_ARRAY) {
            infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc, NULL,
                         "%s as a condition is not translated",
                         type_text(I->arena, items->at[i]->type));
        }
    }
    return combined(I, id == BUILTIN_ANY ? AO_OR : AO_AND, items, loc);
}

/* The builtin `min` or `max` of typed numbers. */
static AExpr *
extreme_of(Infer *I, const AExpr *call, BuiltinId id, AExpr *lhs, AExpr *rhs)
{
    AExpr *e = ast_expr(I->arena, A_CALL, call->loc);
    e->lhs = ast_expr(I->arena, A_GLOBAL, call->loc);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->name = sym(builtin_row(id)->name);
    e->lhs->type = type;
    vec_push(I->arena, &e->items, lhs);
    vec_push(I->arena, &e->keys, NULL);
    vec_push(I->arena, &e->items, rhs);
    vec_push(I->arena, &e->keys, NULL);
    e->type = type_of_builtin(I, e, id);
    return e;
}

/* The first item that no later one beats. */
static AExpr *
minmax_items(Infer *I, const AExpr *call, BuiltinId id, const AExprVec *items)
{
    if (items->n == 0) {
        read_unbound(I); /* ValueError */
    }
    AExpr *out = items->at[0];
    if (items->n > 1) {
        out = extreme_of(I, call, id, items->at[0], items->at[1]);
        for (int i = 2; i < items->n; i++) {
            vec_push(I->arena, &out->items, items->at[i]);
            vec_push(I->arena, &out->keys, NULL);
        }
        out->type = type_of_builtin(I, out, id);
    }
    return out;
}

/* All items must be of one kind of number, and none may be nan. */
static void
check_sortable(Infer *I, const AExpr *call, const AExprVec *items, ABlock *out)
{
    for (int i = 0; i < items->n; i++) {
        const Type *type = items->at[i]->type;
        const Type *first = items->at[0]->type;
        if (type->kind != TY_NUM || type->alt != ALT_NEVER ||
            type->dtype != first->dtype || type->weak != first->weak ||
            items->n > MOST_SORTED) {
            infer_refuse(I, DIAG_UNSUPPORTED_CALL, call->loc, NULL,
                         "`sorted` is translated for at most %d numbers of "
                         "one type",
                         MOST_SORTED);
        }
        if (may_be_nan(type)) {
            AStmt *s = ast_stmt(I->arena, AS_ASSERT, call->loc);
            AExpr *item = items->at[i];
            s->value = typed_compare(I, AO_EQ, item, item, call->loc);
            vec_push(I->arena, out, s);
        }
    }
}

/* Neighbours change places if the second is less, in rounds that begin at the
 * first and the second item in turn (odd-even transposition sort): n rounds
 * sort n items.  A stable sort, as Python's is: min returns its first argument
 * when both are equal.  For a median of nine that is 36 pairs of min and max,
 * which the C compiler runs without a branch. */
static AExpr *
sort_items(Infer *I, const AExpr *call, AExprVec items, bool down, ABlock *out)
{
    check_sortable(I, call, &items, out);
    BuiltinId first = down ? BUILTIN_MAX : BUILTIN_MIN;
    BuiltinId second = down ? BUILTIN_MIN : BUILTIN_MAX;
    for (int round = 0; round < items.n; round++) {
        for (int i = round % 2; i + 1 < items.n; i += 2) {
            AExpr *a = items.at[i];
            AExpr *b = items.at[i + 1];
            items.at[i] = hold_typed(I, extreme_of(I, call, first, a, b), out);
            items.at[i + 1] =
                hold_typed(I, extreme_of(I, call, second, b, a), out);
        }
    }
    return typed_display(I, &items, true, call->loc);
}

/* The typed argument as something with items, perhaps after statements; NULL
 * when its length is not known. */
static AExpr *
as_items(Infer *I, const AExpr *arg, BuiltinId id, ABlock *out)
{
    bool list = id == BUILTIN_LIST || id == BUILTIN_SORTED;
    bool keeps = list || id == BUILTIN_TUPLE;
    if (arg->kind == A_COMP) {
        return comp_display(I, arg, list, keeps ? MOST_REPEATED : MOST_SUMMED);
    }
    AExpr *e = dict_keys(I, take_seq(I, infer_expr(I, arg), out));
    if (e->type->kind == TY_RANGE && iter_builtin(e) != BUILTIN_NONE) {
        AExprVec items = {0};
        check_iterable(I, e);
        int most = keeps ? MOST_REPEATED : MOST_SUMMED;
        return iter_items(I, e, most, out, &items)
                   ? typed_display(I, &items, list, arg->loc)
                   : NULL;
    }
    if (e->type->alt == ALT_NONE) {
        e = need_some(I, e);
    }
    if (id == BUILTIN_TUPLE && e->type->kind == TY_ARRAY &&
        e->type->rank == 1 && type_lanes(e->type) == 0) {
        infer_pin(I, size_origin(e->type->size[0]));
    }
    return has_items(e->type) ? e : NULL;
}

/* The argument named 'key', or the second by position; NULL. */
static const AExpr *
second_argument(const AExpr *e, const char *key)
{
    for (int i = 1; i < e->items.n; i++) {
        if (e->keys.at[i] == NULL || strcmp(e->keys.at[i], key) == 0) {
            return e->items.at[i];
        }
    }
    return NULL;
}

/* What the second argument of the builtin is called. */
static const char *
second_name(BuiltinId id)
{
    switch ((int)id) {
    case BUILTIN_SUM:
    case BUILTIN_MATH_PROD:
        return "start";
    case BUILTIN_SORTED:
        return "reverse";
    case BUILTIN_MIN:
    case BUILTIN_MAX:
        return "default";
    default:
        return "";
    }
}

/* Only arguments that are understood: one sequence, and perhaps a second one.
 */
static bool
has_only_known(const AExpr *e, BuiltinId id)
{
    if (e->items.n < 1 || e->items.n > 2 || e->keys.at[0] != NULL ||
        e->items.at[0]->kind == A_STARRED) {
        return false;
    }
    if (e->items.n == 1) {
        return true;
    }
    Sym key = e->keys.at[1];
    return key == NULL ? id == BUILTIN_SUM && e->items.at[1]->kind != A_STARRED
                       : strcmp(key, second_name(id)) == 0;
}

/* sorted(items, reverse=...) */
static AExpr *
call_sorted(Infer *I, const AExpr *e, AExpr *seq, ABlock *out)
{
    const AExpr *arg = second_argument(e, "reverse");
    AExprVec items = held_items(I, seq, out);
    bool down = false;
    if (arg != NULL) {
        AExpr *typed = infer_expr(I, arg);
        typed = has_user_call(typed) ? hold_typed(I, typed, out) : typed;
        if (!type_truth(typed->type, &down)) {
            infer_pin(I, cond_origin(typed));
            infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                         "`sorted` with an unknown `reverse`");
        }
    }
    return sort_items(I, e, items, down, out);
}

/* The value of the builtin for items that are held. */
static AExpr *
value_of_items(Infer *I, const AExpr *e, BuiltinId id, const AExprVec *items,
               AExpr *second)
{
    switch ((int)id) {
    case BUILTIN_SUM:
    case BUILTIN_MATH_PROD:
        return fold_items(I, id, items, second, e->loc);
    case BUILTIN_ANY:
    case BUILTIN_ALL:
        return any_items(I, items, id, e->loc);
    case BUILTIN_MIN:
    case BUILTIN_MAX:
        return items->n == 0 && second ? second : minmax_items(I, e, id, items);
    default:
        break;
    }
    AExpr *display = typed_display(I, items, id == BUILTIN_LIST, e->loc);
    alias_value(I, display);
    return display;
}

/* Would evaluating all elements be more than Python does?  A generator in any()
 * or all() stops at the first that decides, unless that is known already: then
 * it is a loop with a break. */
static bool
stops_early(const AExpr *arg, BuiltinId id, const AExpr *seq)
{
    bool search = id == BUILTIN_ANY || id == BUILTIN_ALL;
    const AExpr *display = seq->kind == A_SEQ ? seq->lhs : seq;
    bool truth;
    if (!search || arg->kind != A_COMP || arg->is_list) {
        return false;
    }
    for (int i = 0; i < display->items.n; i++) {
        if (!type_truth(display->items.at[i]->type, &truth)) {
            return true;
        }
    }
    return false;
}

/* The builtin on a sequence of known length; NULL: it isn't known. */
static AExpr *
call_on_items(Infer *I, const AExpr *e, BuiltinId id)
{
    ABlock block = {0};
    const AExpr *arg = e->items.at[0];
    AExpr *seq = as_items(I, arg, id, &block);
    if (seq == NULL || stops_early(arg, id, seq)) {
        return NULL;
    }
    AExpr *value;
    if (id == BUILTIN_SORTED) {
        value = call_sorted(I, e, seq, &block);
    } else {
        AExprVec items = held_items(I, seq, &block);
        const AExpr *given = second_argument(e, second_name(id));
        AExpr *second = given ? infer_expr(I, given) : NULL;
        second = hold_typed(I, second, &block);
        value = value_of_items(I, e, id, &items, second);
    }
    return typed_seq(I, block, value);
}

/* The builtin as a loop that gathers in the call's own name: sum(a) is the sum
 * of the comprehension (v for v in a). */
static AExpr *
call_as_loop(Infer *I, const AExpr *e, BuiltinId id)
{
    const AExpr *comp = e->items.at[0];
    if (comp->kind != A_COMP) {
        AExpr *one = ast_expr(I->arena, A_COMP, comp->loc);
        AFor part = {.iter = e->items.at[0]};
        one->name = e->name;
        one->lhs = part.target = hidden_new(I, comp->loc);
        vec_push(I->arena, &one->fors, part);
        comp = one;
    }
    const AExpr *given = second_argument(e, second_name(id));
    AExpr *second = given ? infer_expr(I, given) : NULL;
    bool folds = id == BUILTIN_SUM || id == BUILTIN_MATH_PROD;
    return comp_reduce(I, comp, id, folds ? second : NULL,
                       folds ? NULL : second);
}

/* sum, any, all, min, max, sorted, list and tuple of one iterable; NULL: the
 * call is none of these, but one like min(a, b). */
AExpr *
call_on_sequence(Infer *I, const AExpr *e, BuiltinId id)
{
    bool makes = id == BUILTIN_LIST || id == BUILTIN_TUPLE;
    bool by_key = id == BUILTIN_SORTED || id == BUILTIN_MIN ||
                  id == BUILTIN_MAX;
    if (by_key && has_key(e) && e->name != NULL) {
        return call_with_key(I, e, id);
    }
    if (makes && e->items.n == 0) {
        AExprVec none = {0};
        return typed_display(I, &none, id == BUILTIN_LIST, e->loc);
    }
    if (!has_only_known(e, id)) {
        return NULL;
    }
    bool list = id == BUILTIN_LIST || id == BUILTIN_SORTED;
    AExpr *value =
        list && list_is_site(I, e) ? NULL : call_on_items(I, e, id);
    if (value == NULL && list) {
        return list_gather(I, e, id);
    }
    if (value == NULL && e->name != NULL) {
        value = call_as_loop(I, e, id);
    }
    if (value == NULL) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc,
                     "Write a loop that fills an array.",
                     "`%s` of something whose length is not known is not "
                     "translated",
                     strrchr(builtin_row(id)->name, '.') + 1);
    }
    return value;
}
