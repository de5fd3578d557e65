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

typedef struct NamesHere {
    Map map;
    const Frame *frame;
} NamesHere;

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
    if (e->kind == A_NAMED && e->lhs->kind == A_NAME) {
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

/* The lists that an expression may change by a method: `levels.append(x)` gives
 * the name a new version, if the list has a known length. */
static void
lists_of_expr(const AExpr *e, NameFn fn, void *data)
{
    if (e == NULL) {
        return;
    }
    bool method = e->kind == A_CALL && e->lhs->kind == A_ATTR &&
                  e->lhs->lhs->kind == A_NAME;
    if (method && e->lhs->lhs->name != NULL) {
        fn(data, e->lhs->lhs->name);
    }
    lists_of_expr(e->lhs, fn, data);
    lists_of_expr(e->rhs, fn, data);
    for (int i = 0; i < e->items.n; i++) {
        lists_of_expr(e->items.at[i], fn, data);
    }
}

/* Names of what a block may change without binding them, by a method or a store
 * into an item. */
static void
lists_of_block(const ABlock *block, NameFn fn, void *data)
{
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        for (int k = 0; k < s->targets.n; k++) {
            const AExpr *target = s->targets.at[k];
            if (target->kind == A_SUBSCRIPT && target->lhs->kind == A_NAME &&
                target->lhs->name != NULL) {
                fn(data, target->lhs->name);
            }
        }
        lists_of_expr(s->value, fn, data);
        lists_of_block(&s->body, fn, data);
        lists_of_block(&s->orelse, fn, data);
    }
}

/* For lists_of_block: a list of known length gets a new version when it is
 * changed. */
static void
note_list(void *data, Sym name)
{
    NamesHere *names = data;
    int number = name_number(names->frame, name);
    const Ver *ver = number >= 0 ? names->frame->env.at[number] : NULL;
    if (ver != NULL && ver->base.type->kind == TY_TUPLE &&
        ver->base.type->is_list) {
        map_set(&names->map, name, data);
    }
}

/* For names_of_block. */
static void
note_name(void *data, Sym name)
{
    NamesHere *names = data;
    map_set(&names->map, name, data);
}

/* All names that the loop may give a new version, by an assignment or by a
 * change of a list. */
Map
names_of_loop(Infer *I, const AStmt *s)
{
    NamesHere names = {.map = map_new(I->arena), .frame = I->frame};
    for (int i = 0; i < s->targets.n; i++) {
        names_of_target(s->targets.at[i], note_name, &names);
    }
    names_of_expr(s->kind == AS_WHILE ? s->value : NULL, note_name, &names);
    names_of_block(&s->body, note_name, &names);
    lists_of_block(&s->body, note_list, &names);
    cells_of_loop(I, s, note_name, &names);
    return names.map;
}
