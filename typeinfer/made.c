/* Objects that are made in the call and assigned to afterwards.
 *
 *     r = Random(seed)       h = (seed,);  Random 1.state = h[0]
 *     r.state += 1           Random 1.state = Random 1.state + 1
 *     return r               the values of its cells, as an OBJECT
 *
 * Such an object is a RECORD as an argument is, with a number beyond those of
 * the arguments, and its attributes are cells.  One run of inference through
 * the call that makes it stands for one object only if that call is in no loop;
 * then all names of the object are of one type, whatever functions they are
 * in.  How many there will be, and of which classes, is found out by running
 * into them: each asks for its cells and inference begins again. */
#include "typeinfer/list.h"

/* Such objects in a program. */
enum { MOST_MADE = 16 };

int
made_number(const Infer *I, const Type *record)
{
    int64_t number = record->ival - 1 - I->sig->nargs;
    return record->kind == TY_RECORD && number >= 0 ? (int)number : -1;
}

/* Is what runs now run more than once? */
static bool
is_repeated(const Infer *I)
{
    bool loop = I->conditional > 0 || I->aside > 0;
    for (const Frame *f = I->frame; f != NULL; f = f->caller) {
        loop |= f->loop != NULL;
    }
    return loop;
}

/* Does the source assign to an attribute of this name? */
static bool
is_assigned(const Infer *I, const AClass *class)
{
    bool assigned = false;
    for (int i = 0; i < class->fields.n; i++) {
        assigned |= map_has(&I->unit->stores, class->fields.at[i]);
    }
    return assigned;
}

/* The number of the object that is made now, whose cells are there; -1: they
 * are those of another class, since types were others before. */
static int
take_number(Infer *I, int class)
{
    int number = I->nmade++;
    if (number == I->made.n) {
        vec_push(I->arena, &I->made, class);
        infer_again(I);
    }
    return I->made.at[number] == class ? number : -1;
}

/* cell = value, in 'out'. */
static void
set_cell(Infer *I, const Cell *cell, AExpr *value, ABlock *out)
{
    AExpr *target = ast_expr(I->arena, A_NAME, value->loc);
    target->name = cell->name;
    target->type = value->type;
    target->version =
        &env_bind(I, cell->name, value->type, value->loc)->base;
    alias_value(I, value);
    push_assign(I, target, value, out);
}

AExpr *
made_object(Infer *I, AExpr *call, int class)
{
    const AClass *known = &I->unit->classes.at[class];
    if (known->is_tuple || !is_assigned(I, known) || is_repeated(I)
        || I->nmade == MOST_MADE) {
        return NULL;
    }
    ABlock block = {0};
    int number = take_number(I, class);
    if (number < 0) {
        return NULL;
    }
    AExpr *items = hold_typed(I, call, &block);
    for (int i = 0; i < known->fields.n; i++) {
        const Cell *cell = cell_of_made(I, number, known->fields.at[i]);
        set_cell(I, cell, typed_item(I, items, i), &block);
    }
    AExpr *out = ast_expr(I->arena, A_CONST, call->loc);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_RECORD), sizeof(*type));
    type->ival = I->sig->nargs + 1 + number;
    type->func = class;
    type->name = known->name;
    out->type = type;
    return typed_seq(I, block, out);
}

/* Nothing can assign to it any more. */
AExpr *
made_returned(Infer *I, AExpr *e)
{
    int number = made_number(I, e->type);
    if (number < 0 || I->frame->caller != NULL) {
        return e;
    }
    ABlock block = {0};
    AExprVec items = {0};
    const AClass *class = class_of(I, e->type);
    keep_effects(I, take_seq(I, e, &block), &block);
    for (int i = 0; i < class->fields.n; i++) {
        AExpr *name = ast_expr(I->arena, A_NAME, e->loc);
        name->name = cell_of_made(I, number, class->fields.at[i])->name;
        vec_push(I->arena, &items, infer_maybe(I, name));
    }
    AExpr *out = typed_display(I, &items, false, e->loc);
    Type *type = arena_copy(I->arena, out->type, sizeof(*type));
    type->kind = TY_OBJECT;
    type->class = e->type->func + 1;
    type->name = class->name;
    type->object = number + 1;
    out->type = type;
    return typed_seq(I, block, out);
}
