/* Names that a piece of a function binds.
 *
 *     (a, *b), c[i] = f(d := 1)     a b d
 *     [x * x for x in v]            x, under the name of its own
 *
 * A function's own names must be known before it is run, because an environment
 * is a table of them; a loop's, because what it may change is not known at its
 * head.  Nested functions have frames of their own, so their bodies are not
 * looked into; the defaults of their parameters belong to the function around.
 */
#include "typeinfer/state.h"

/* A starred target is a list of what is left. Subscripts bind no name, but may
 * have one assigned inside. */
void
names_of_target(const AExpr *target, NameFn fn, void *data)
{
    bool display = target->kind == A_TUPLE || target->kind == A_LIST;
    if (target->kind == A_NAME && target->name == NULL) {
        return; /* hidden */
    }
    if (target->kind == A_NAME) {
        fn(data, target->name);
    } else if (target->kind == A_STARRED) {
        names_of_target(target->lhs, fn, data);
    } else if (!display) {
        names_of_expr(target, fn, data);
    }
    for (int i = 0; display && i < target->items.n; i++) {
        names_of_target(target->items.at[i], fn, data);
    }
}

/* The parts of a comprehension are among its items, targets too. */
void
names_of_expr(const AExpr *e, NameFn fn, void *data)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == A_NAMED) {
        fn(data, e->lhs->name);
    }
    bool gathers = e->kind == A_COMP || e->kind == A_CALL;
    if (gathers && e->name != NULL) {
        fn(data, e->name);
    }
    for (int i = 0; i < e->fors.n; i++) {
        names_of_target(e->fors.at[i].target, fn, data);
    }
    names_of_expr(e->lhs, fn, data);
    names_of_expr(e->rhs, fn, data);
    for (int i = 0; i < e->items.n; i++) {
        names_of_expr(e->items.at[i], fn, data);
    }
}

/* Inner blocks included. */
void
names_of_block(const ABlock *block, NameFn fn, void *data)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        for (int k = 0; k < s->targets.n; k++) {
            names_of_target(s->targets.at[k], fn, data);
        }
        names_of_expr(s->value, fn, data);
        names_of_block(&s->body, fn, data);
        names_of_block(&s->orelse, fn, data);
    }
}
