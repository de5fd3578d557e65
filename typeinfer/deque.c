/* collections.deque: a list of run-time length that is taken from in front.
 *
 *     queue = deque([(y, x)])
 *     while queue:
 *         y, x = queue.popleft()     the items stay where they are, and the
 *         ...                        list begins one further on
 *         queue.append((ny, nx))
 *
 * What a deque can't do, or does in another way than a list, is refused.  Its
 * iterator raises when the deque has been changed, so a loop over it must leave
 * it alone.
 */
#include <string.h>

#include "typeinfer/list.h"

bool
is_deque(const Type *type)
{
    return type->kind == TY_LIST && type->name != NULL;
}

void
deque_refuse(Infer *I, const AExpr *e, const char *what)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                 "Use a list, or make one of it: `list(d)`.",
                 "%s is not translated for a deque or a dict", what);
}

/* deque() and deque(iterable) */
AExpr *
call_deque(Infer *I, const AExpr *e)
{
    ABlock block = {0};
    AExprVec none = {0};
    AExpr *from = typed_display(I, &none, true, e->loc);
    if (e->items.n > 1 || (e->items.n == 1 && e->keys.at[0] != NULL)) {
        refuse_call(I, e, "deque", "has arguments that are not translated");
    }
    if (e->items.n == 1) {
        const AExpr *arg = e->items.at[0];
        from = arg->kind == A_COMP ? list_comp(I, arg) : infer_expr(I, arg);
        from = take_seq(I, from, &block);
    }
    AExpr *call = list_call(I, e->loc, BUILTIN_LIST_OF, from);
    const Type *made = list_new(I, e);
    I->objects.at[made->object].list->kind = sym("deque");
    list_put_all(I, made, from);
    call->type = list_type(I, made);
    return typed_seq(I, block, call);
}

void
deque_check_method(Infer *I, const AExpr *e, const Type *self)
{
    static const char *const lists[] = {"sort", "copy"};
    const char *name = e->lhs->name;
    if (is_deque(self) && strcmp(self->name, "deque") != 0) {
        deque_refuse(I, e, "this method");
    }
    bool front = strcmp(name, "popleft") == 0 ||
                 strcmp(name, "appendleft") == 0;
    bool other = is_deque(self) ? strcmp(name, lists[0]) == 0 ||
                                      strcmp(name, lists[1]) == 0 ||
                                      (strcmp(name, "pop") == 0 &&
                                       e->items.n > 0)
                                : front;
    if (other) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "this call of `%s` is not translated for a %s", name,
                     is_deque(self) ? "deque" : "list");
    }
}

void
deque_check_change(Infer *I, const Type *list, Loc loc)
{
    for (int i = 0; is_deque(list) && i < I->iterated.n; i++) {
        if (I->iterated.at[i]->object == list->object) {
            infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc,
                         "Loop over a copy: `for x in list(d)`.",
                         "a deque or dict is changed while a loop goes "
                         "through it");
        }
    }
}
