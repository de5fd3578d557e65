/* Objects with attributes: instances, namespaces, classes as such.
 *
 *     def shade(self, x):           self     RECORD, argument 0
 *         return self.gain * x      self.gain  argument 2, whose parent is 0
 *
 * An object is no value at run time: its type says which argument it is, and
 * its attributes are arguments of their own, which the dispatcher reads before
 * the call.  So an object may have any number of names, and two names of one
 * object are one type.  Names that are one object on one path and another on
 * the other have no type in common.
 *
 * An attribute that nothing in the source assigns is what it was when the call
 * began; the others are cells. */
#include <string.h>

#include "typeinfer/list.h"

/* --- finding -------------------------------------------------------------- */

/* The argument that attribute 'name' of the object is; -1. */
static int
find_field(const Infer *I, const Type *record, Sym name)
{
    for (int i = 0; record->ival > 0 && i < I->sig->nargs; i++) {
        const SigArg *arg = &I->sig->args[i];
        if (arg->parent == record->ival && arg->attr == name) {
            return i;
        }
    }
    return -1;
}

/* --- reading -------------------------------------------------------------- */

/* Nothing is known of what the attribute holds. */
static bool
is_opaque(const Type *type)
{
    return type->kind == TY_RECORD && type->ival == 0;
}

static _Noreturn void
refuse_opaque(Infer *I, Loc loc, int field)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc, NULL,
                 "attribute `%s` is of a type that is not translated",
                 I->sig->args[field].attr);
}

/* What attribute 'field' was when the call began. */
static AExpr *
first_value(Infer *I, int field, Loc loc)
{
    SigArg *arg = &I->sig->args[field];
    AExpr *name = ast_expr(I->arena, A_NAME, loc);
    arg->used = true;
    if (is_opaque(arg->type)) {
        refuse_opaque(I, loc, field);
    }
    if (arg->type->kind == TY_RECORD && arg->type->ival < 0) {
        read_unbound(I); /* AttributeError */
    }
    name->name = arg->attr;
    name->version = I->hidden[field - I->unit->funcs.at[0]->params.n];
    name->type = name->version->type;
    return name;
}

AExpr *
record_field(Infer *I, const AExpr *e, const Type *record)
{
    int made = made_number(I, record);
    int field = made < 0 ? find_field(I, record, e->name) : -1;
    const Cell *cell = made < 0 ? cell_of(I, field)
                                : cell_of_made(I, made, e->name);
    if (field < 0 && cell == NULL) {
        return NULL;
    }
    if (cell == NULL) {
        return first_value(I, field, e->loc);
    }
    AExpr *name = ast_expr(I->arena, A_NAME, e->loc);
    name->name = cell->name;
    if (field >= 0) {
        I->sig->args[field].used = true;
    }
    AExpr *out = infer_maybe(I, name);
    if (is_opaque(out->type)) {
        refuse_opaque(I, e->loc, field);
    }
    return out;
}

bool
record_is_tuple(const Infer *I, const Type *type)
{
    const AClass *class =
        type->kind == TY_RECORD ? class_of(I, type) : NULL;
    bool known = class != NULL && class->is_tuple;
    for (int i = 0; known && i < class->fields.n; i++) {
        int field = find_field(I, type, class->fields.at[i]);
        const Type *item = I->sig->args[field].type;
        known = !is_opaque(item)
                && (class_of(I, item) == NULL || item->kind != TY_RECORD
                    || !class_of(I, item)->is_tuple
                    || record_is_tuple(I, item));
    }
    return known;
}

/* A named tuple is nothing but its items, so where it isn't only asked for one
 * of them it may as well have been made here. */
AExpr *
record_value(Infer *I, AExpr *e)
{
    const AClass *class = e->type->kind == TY_RECORD ? class_of(I, e->type)
                                                     : NULL;
    if (class == NULL || !class->is_tuple) {
        return e;
    }
    ABlock block = {0};
    AExprVec items = {0};
    e = take_seq(I, e, &block);
    keep_effects(I, e, &block);
    for (int i = 0; i < class->fields.n; i++) {
        int field = find_field(I, e->type, class->fields.at[i]);
        AExpr *item = first_value(I, field, e->loc);
        vec_push(I->arena, &items, record_value(I, item));
    }
    AExpr *out = typed_display(I, &items, false, e->loc);
    Type *type = arena_copy(I->arena, out->type, sizeof(*type));
    type->class = e->type->func + 1;
    type->name = class->name;
    out->type = type;
    return typed_seq(I, block, out);
}

/* --- assigning ------------------------------------------------------------ */

/* The cell that an assignment to 'target' is one to; NULL: there is none. */
static Cell *
cell_of_target(Infer *I, const AExpr *target, const AExpr *base)
{
    const Type *type = base->type;
    if (type->kind != TY_RECORD || !is_simple(base)) {
        return NULL;
    }
    int made = made_number(I, type);
    if (made >= 0) {
        return cell_of_made(I, made, target->name);
    }
    int field = find_field(I, type, target->name);
    if (field < 0 || !I->sig->args[field].writable) {
        return NULL;
    }
    I->sig->args[field].used = true;
    return cell_of(I, field);
}

AExpr *
record_target(Infer *I, const AExpr *target)
{
    AExpr *base = infer_object(I, target->lhs);
    Cell *cell = cell_of_target(I, target, base);
    if (cell == NULL) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, target->loc, NULL,
                     "an assignment to attribute `%s` of %s is not translated",
                     target->name, type_text(I->arena, base->type));
    }
    I->frame->env.at[name_number(I->frame, cell->flag)] = I->yes;
    cell->order = cell->order ? cell->order : ++I->stored;
    AExpr *name = ast_expr(I->arena, A_NAME, target->loc);
    name->name = cell->name;
    return name;
}

/* --- comparing ------------------------------------------------------------ */

AExpr *
record_is(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, ABlock *out)
{
    if (lhs->type->kind != TY_RECORD || rhs->type->kind != TY_RECORD
        || lhs->type->ival <= 0 || rhs->type->ival <= 0) {
        return NULL;
    }
    bool same = lhs->type->ival == rhs->type->ival;
    AExpr *value = ast_expr(I->arena, A_CONST, lhs->loc);
    value->type = type_known_bool(I->arena, same == (op == AO_IS));
    keep_effects(I, take_seq(I, lhs, out), out);
    keep_effects(I, take_seq(I, rhs, out), out);
    return value;
}

/* What `==` does is the class's matter. */
void
record_compare(Infer *I, const AExpr *e, bool is, const Type *lhs,
               const Type *rhs)
{
    bool record = lhs->kind == TY_RECORD || rhs->kind == TY_RECORD
                  || lhs->kind == TY_OBJECT || rhs->kind == TY_OBJECT;
    bool none = lhs->kind == TY_NONE || rhs->kind == TY_NONE;
    if (record && !(is && none)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "this comparison of %s and %s is not translated",
                     type_text(I->arena, lhs), type_text(I->arena, rhs));
    }
}

/* --- what was not needed -------------------------------------------------- */

void
records_prune(Signature *sig, Arena *arena)
{
    for (int i = 0; i < sig->nargs; i++) {
        SigArg *arg = &sig->args[i];
        bool record = arg->type->kind == TY_RECORD && arg->type->ival != 0;
        if (arg->parent > 0 && !arg->used && !record) {
            Type *type = ARENA_NEW(arena, Type);
            type->kind = TY_RECORD;
            arg->type = type;
            arg->pin_value = false;
            memset(arg->pin_size, 0, sizeof(arg->pin_size));
        }
    }
}
