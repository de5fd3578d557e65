/* Methods and operators of lists of run-time length: their types.
 *
 *     stack.append((y, x))     None; the list holds tuples of ints
 *     y, x = stack.pop()       a tuple of ints
 *     [0] * n, a + b, a[1:]    new lists, each of the place where it is made
 *
 * A list begins as a tuple of known length ([] has none, [0, 1] has two items).
 * Where a method needs a LIST, its place becomes one of LISTs ("demoted") and
 * inference begins again; until it does, the statement counts for nothing, but
 * goes on as far as it makes sense, to find other such places in the same
 * attempt.
 *
 * What a list holds is found in the same way: every append widens the type of
 * its items, and everything that was inferred of a narrower one is inferred
 * again.  It ends because types only widen, and few are wider than a number.
 */
#include <string.h>

#include "typeinfer/list.h"

/* Items of a list that is repeated and keeps a fixed length. */
enum { MOST_FIXED = 32 };

/* --- methods -------------------------------------------------------------- */

/* Does the method give None? */
static bool
gives_none(const char *name)
{
    static const char *const names[] = {"append", "extend", "insert", "clear",
                                        "reverse", "sort"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A list of fixed length: this beginning is in vain, but goes on as far as it
 * makes sense, to find other such places. */
static AExpr *
method_of_tuple(Infer *I, const AExpr *e, AExpr *out, const AExpr *self)
{
    if (!list_demote(I, self->type)) {
        heap_demand(I, self->type);
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "method `%s` of this list is not translated",
                     e->lhs->name);
    }
    if (!gives_none(e->lhs->name)) {
        longjmp(*I->raise, 1);
    }
    out->type = type_kind(I->arena, TY_NONE);
    return out;
}

/* NULL: the call is '*id', with "self" as its first argument; else the call was
 * settled. */
AExpr *
list_method(Infer *I, const AExpr *e, AExpr *out, AExpr *self, BuiltinId *id)
{
    if (self->type->kind == TY_TUPLE) {
        return method_of_tuple(I, e, out, self);
    }
    *id = builtin_find(sym(str_printf(I->arena, "list.%s", e->lhs->name)));
    if (*id == BUILTIN_NONE) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "method `%s` of %s is not translated", e->lhs->name,
                     type_text(I->arena, self->type));
    }
    deque_check_method(I, e, self->type);
    return NULL;
}

/* --- what iterables give -------------------------------------------------- */

/* Does the iterable surely give nothing, as a list does that nothing was ever
 * put into?  Its items have no type, so the body of a loop over it is never
 * typed. */
bool
list_iterates_none(const AExpr *iter)
{
    if (iter->type->kind == TY_LIST || iter->type->kind == TY_TUPLE) {
        return iter->type->rank == 0;
    }
    BuiltinId id = iter->kind == A_CALL ? builtin_of(iter->lhs) : BUILTIN_NONE;
    bool one = id == BUILTIN_ENUMERATE || id == BUILTIN_REVERSED;
    int n = one ? 1 : id == BUILTIN_ZIP ? iter->items.n : 0;
    for (int i = 0; i < n; i++) {
        if (list_iterates_none(iter->items.at[i])) {
            return true;
        }
    }
    return false;
}

/* Puts all that 'iter' gives into the list: what it is must fit what others
 * have put there. */
void
list_put_all(Infer *I, const Type *list, const AExpr *iter)
{
    if (list_iterates_none(iter)) {
        return;
    }
    check_iterable(I, iter);
    if (iter->type->kind == TY_TUPLE) {
        for (int i = 0; i < iter->type->rank; i++) {
            bool display = iter->kind == A_LIST || iter->kind == A_TUPLE;
            list_put(I, list, iter->type->items[i],
                     display ? iter->items.at[i] : NULL, iter->loc);
        }
    } else {
        int before = I->puts.n;
        list_put(I, list, common_type(I, iter), NULL, iter->loc);
        for (int i = before; i < I->puts.n; i++) {
            I->puts.at[i].all = iter->type->kind == TY_LIST;
        }
    }
}

/* Items that have an order that is known here: numbers and tuples of such. */
static void
need_order(Infer *I, const AExpr *e, const Type *item)
{
    bool fine = item->kind == TY_TUPLE ||
                (item->kind == TY_NUM && item->alt == ALT_NEVER);
    for (int i = 0; item->kind == TY_TUPLE && i < item->rank; i++) {
        need_order(I, e, item->items[i]);
    }
    if (!fine) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "the order of %s is not translated",
                     type_text(I->arena, item));
    }
}

/* A flag that must be known. */
static void
need_known(Infer *I, const AExpr *e)
{
    bool truth;
    if (e != NULL && !type_truth(e->type, &truth)) {
        infer_pin(I, cond_origin(e));
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`reverse` must be known when the call is compiled");
    }
}

/* The iterable argument of list(...) and sorted(...), typed and held. The new
 * list is that of this call: each round of a loop around makes another one. */
AExpr *
list_gather(Infer *I, const AExpr *e, BuiltinId id)
{
    ABlock block = {0};
    const AExpr *arg = e->items.at[0];
    AExpr *from = arg->kind == A_COMP ? list_comp(I, arg) : infer_expr(I, arg);
    from = dict_keys(I, take_seq(I, from, &block));
    BuiltinId row = id == BUILTIN_LIST ? BUILTIN_LIST_OF : BUILTIN_LIST_SORTED;
    AExpr *call = list_call(I, e->loc, row, from);
    if (id == BUILTIN_SORTED) {
        AExpr *down = e->items.n > 1 ? infer_expr(I, e->items.at[1]) : NULL;
        need_known(I, down);
        vec_push(I->arena, &call->items, down);
        vec_push(I->arena, &call->keys, NULL);
    }
    const Type *list = list_new(I, e);
    list_put_all(I, list, from);
    list = list_type(I, list);
    if (id == BUILTIN_SORTED && list->rank > 0) {
        need_order(I, call, list->items[0]);
    }
    call->type = list;
    return typed_seq(I, block, hold_told(I, call));
}

/* Are numbers compared with numbers only, and tuples with such as long? */
static bool
are_alike(const Type *lhs, const Type *rhs)
{
    bool alike = lhs->kind == rhs->kind && lhs->alt == ALT_NEVER &&
                 rhs->alt == ALT_NEVER;
    if (!alike || lhs->kind != TY_TUPLE) {
        return alike && lhs->kind == TY_NUM;
    }
    alike = lhs->rank == rhs->rank && lhs->is_list == rhs->is_list;
    for (int i = 0; alike && i < lhs->rank; i++) {
        alike = are_alike(lhs->items[i], rhs->items[i]);
    }
    return alike;
}

void
list_need_equal(Infer *I, const AExpr *x, const Type *list)
{
    if (!are_alike(list->items[0], x->type)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, x->loc,
                     "Write a loop that compares the items.",
                     "looking for %s in %s is not translated",
                     type_text(I->arena, x->type), type_text(I->arena, list));
    }
}

/* `x in list` for numbers: a loop with a comparison. Of tuples and of what may
 * be None it would have to compare objects. */
AExpr *
list_has(Infer *I, AExpr *x, AExpr *list)
{
    AExpr *call = list_call(I, x->loc, BUILTIN_LIST_HAS, list);
    vec_push(I->arena, &call->items, x);
    vec_push(I->arena, &call->keys, NULL);
    if (list->type->rank == 0) {
        call->type = type_known_bool(I->arena, false);
        return call;
    }
    list_need_equal(I, x, list->type);
    call->type = type_bool(I->arena);
    return call;
}

/* An index that is an integer, or a bool; or a float that may be one, which
 * lower tests. */
static void
need_index(Infer *I, const AExpr *e)
{
    if (e == NULL) {
        return;
    }
    const Type *type = e->type;
    bool integer = type_is_integer(type, true) &&
                   (type->alt == ALT_NEVER || type->alt == ALT_INT ||
                    type->alt == ALT_BOOL || type->alt == ALT_NONE);
    bool maybe = type->kind == TY_NUM && type->alt == ALT_INT;
    if (!integer && !maybe) {
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, e->loc,
                     "Convert it with `int(...)`.",
                     "a list's index of type %s is not translated",
                     type_text(I->arena, e->type));
    }
}

/* Methods that change their list. What is put in widens the type of its items;
 * pop gives an item. */
static const Type *
type_of_change(Infer *I, const AExpr *call, BuiltinId id)
{
    const AExpr *self = call->items.at[0];
    const Type *none = type_kind(I->arena, TY_NONE);
    list_mutate(I, self->type, call->loc);
    switch ((int)id) {
    case BUILTIN_POPLEFT:
        return list_item(I, self->type);
    case BUILTIN_APPENDLEFT:
    case BUILTIN_DICT_PUT:
    case BUILTIN_LIST_APPEND:
        list_put(I, self->type, call->items.at[1]->type, call->items.at[1],
                 call->loc);
        return none;
    case BUILTIN_LIST_EXTEND:
        list_put_all(I, self->type, call->items.at[1]);
        return none;
    case BUILTIN_LIST_INSERT:
        need_index(I, call->items.at[1]);
        list_put(I, self->type, call->items.at[2]->type, call->items.at[2],
                 call->loc);
        return none;
    case BUILTIN_LIST_POP:
        need_index(I, call->items.at[1]);
        return list_item(I, self->type);
    case BUILTIN_LIST_SORT:
        need_known(I, call->items.at[1]);
        if (self->type->rank > 0) {
            need_order(I, self, self->type->items[0]);
        }
        return none;
    case BUILTIN_LIST_BY_KEY:
        need_known(I, call->items.at[1]);
        if (self->type->rank > 0) {
            need_order(I, self, self->type->items[0]->items[0]);
        }
        return none;
    case BUILTIN_LIST_REMOVE:
        if (self->type->rank == 0) {
            longjmp(*I->raise, 1); /* ValueError */
        }
        list_need_equal(I, call->items.at[1], self->type);
        return none;
    default:
        return none;
    }
}

/* The type of a call of BK_LIST. */
const Type *
type_of_list(Infer *I, AExpr *call, BuiltinId id)
{
    const AExpr *self = call->items.at[0];
    if (id == BUILTIN_LIST_INDEX || id == BUILTIN_LIST_COUNT) {
        bool none = self->type->rank == 0;
        if (none && id == BUILTIN_LIST_INDEX) {
            longjmp(*I->raise, 1); /* ValueError */
        }
        if (!none) {
            list_need_equal(I, call->items.at[1], self->type);
        }
        return type_int(I->arena);
    }
    if (id == BUILTIN_LIST_COPY) {
        const Type *list = list_new(I, call);
        list_put_all(I, list, self);
        return list_type(I, list);
    }
    return type_of_change(I, call, id);
}

/* --- operators ------------------------------------------------------------ */

/* [x] * n: of fixed length only if that is known and small, so that `[0] * 3`
 * is a tuple of three numbers in registers, and `[0] * 256` a list. */
static const Type *
type_of_repeat(Infer *I, const AExpr *e, const Type *list, const AExpr *count)
{
    int64_t n;
    need_index(I, count);
    bool small = list->kind == TY_TUPLE && type_is_known_int(count->type, &n) &&
                 n <= MOST_FIXED && n * list->rank <= MOST_FIXED;
    if (small && !list_is_site(I, e)) {
        return NULL;
    }
    const Type *made = list_new(I, e);
    for (int i = 0; i < list->rank; i++) {
        list_put(I, made, list->items[i], NULL, e->loc);
    }
    return list_type(I, made);
}

/* a + b, one of them of run-time length. */
static const Type *
type_of_concat(Infer *I, const AExpr *e, const AExpr *lhs, const AExpr *rhs)
{
    if (!list_like(lhs->type) || !list_like(rhs->type)) {
        return NULL;
    }
    const Type *made = list_new(I, e);
    list_put_all(I, made, lhs);
    list_put_all(I, made, rhs);
    return list_type(I, made);
}

/* Tuples of run-time length are only read. */
static void
need_list(Infer *I, const AExpr *e)
{
    if (e->type->kind == TY_LIST && !e->type->is_list) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                     "Make a list of it: `list(t)`.",
                     "this is not translated for a long tuple");
    }
}

/* a + b and a * n with a list; NULL: another operation. */
const Type *
list_binop(Infer *I, const AExpr *e, const AExpr *lhs, const AExpr *rhs)
{
    bool left = list_like(lhs->type);
    bool right = list_like(rhs->type);
    need_list(I, lhs);
    need_list(I, rhs);
    if (is_deque(lhs->type) || is_deque(rhs->type)) {
        deque_refuse(I, e, "this operator");
    }
    bool lists = lhs->type->kind == TY_LIST || rhs->type->kind == TY_LIST;
    if (e->op == AO_ADD && lists) {
        return type_of_concat(I, e, lhs, rhs);
    }
    if (e->op == AO_MUL && left != right) {
        const AExpr *count = left ? rhs : lhs;
        return type_of_repeat(I, e, left ? lhs->type : rhs->type, count);
    }
    return NULL;
}

/* a += b of a list changes it in place: it is a.extend(b). */
AExpr *
list_extend(Infer *I, const AStmt *s, AExpr *target, AExpr *value)
{
    if (s->op != AO_ADD || !list_like(target->type)) {
        return NULL;
    }
    if (target->type->kind == TY_TUPLE) {
        if (!list_demote(I, target->type)) {
            heap_demand(I, target->type);
            infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, s->loc, NULL,
                         "`+=` of this list is not translated");
        }
        longjmp(*I->raise, 1);
    }
    AExpr *call = list_call(I, s->loc, BUILTIN_LIST_EXTEND, target);
    vec_push(I->arena, &call->items, value);
    vec_push(I->arena, &call->keys, NULL);
    call->type = type_of_list(I, call, BUILTIN_LIST_EXTEND);
    return call;
}

/* --- subscripts ----------------------------------------------------------- */

/* An item, or a copy of a part. */
const Type *
list_subscript(Infer *I, AExpr *out)
{
    const Type *list = out->lhs->type;
    const AExpr *index = out->items.at[0];
    list_reach(I, list);
    if (is_deque(list) && list->name != sym("deque")) {
        deque_refuse(I, out, "an index");
    }
    if (out->items.n != 1) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, out->loc, NULL,
                     "a list with several indices raises TypeError");
    }
    if (index->kind == A_SLICE) {
        if (is_deque(list)) {
            deque_refuse(I, out, "a slice");
        }
        need_list(I, out->lhs);
        return list_slice(I, out);
    }
    need_index(I, index);
    return list_item(I, list);
}

/* a[i] = v: what is stored must fit what the list holds. */
AExpr *
list_target(Infer *I, AExpr *target, const Type *type)
{
    const Type *list = target->lhs->type;
    if (list->kind == TY_TUPLE) {
        if (!list_demote(I, list)) {
            heap_demand(I, list);
            infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, target->loc, NULL,
                         "a store into this list is not translated");
        }
        longjmp(*I->raise, 1);
    }
    list_mutate(I, list, target->loc);
    if (target->items.at[0]->kind == A_SLICE) {
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, target->loc,
                     "Write a loop over the items.",
                     "a store into part of a list is not translated");
    }
    list_put(I, list, type, NULL, target->loc);
    return target;
}
