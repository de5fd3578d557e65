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
 * began; the others are cells.  Methods are functions of the unit: `self.f(x)`
 * is `f(self, x)`. */
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

/* A method, or NULL. */
static const AClassAttr *
find_method(const Infer *I, const Type *record, Sym name)
{
    if (record->ival <= 0) {
        return NULL;
    }
    const AClass *class = &I->unit->classes.at[record->func];
    for (int i = 0; i < class->attrs.n; i++) {
        const AClassAttr *attr = &class->attrs.at[i];
        if (attr->name == name && attr->func >= 0) {
            return attr;
        }
    }
    return NULL;
}

static _Noreturn void
refuse_attr(Infer *I, const AExpr *e, const Type *record, const char *why)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                 "attribute `%s` of %s %s", e->name,
                 type_text(I->arena, record), why);
}

/* --- reading -------------------------------------------------------------- */

/* The attribute as a name, typed or not. */
static AExpr *
read_field(Infer *I, const AExpr *e, const Type *record, int field)
{
    SigArg *arg = &I->sig->args[field];
    const Cell *cell = cell_of(I, field);
    AExpr *name = ast_expr(I->arena, A_NAME, e->loc);
    arg->used = true;
    if (arg->type->kind == TY_RECORD && arg->type->ival == 0 && !cell) {
        refuse_attr(I, e, record, "is of a type that is not translated");
    }
    if (cell != NULL) {
        name->name = cell->name;
        AExpr *out = infer_maybe(I, name);
        if (out->type->kind == TY_RECORD && out->type->ival == 0) {
            refuse_attr(I, e, record, "is of a type that is not translated");
        }
        return out;
    }
    if (arg->type->kind == TY_RECORD && arg->type->ival < 0) {
        read_unbound(I); /* AttributeError */
    }
    name->name = arg->attr;
    name->version = I->hidden[field - I->unit->funcs.at[0]->params.n];
    name->type = name->version->type;
    return name;
}

/* The value of 'base' for its effects, then that of the attribute. */
AExpr *
record_attr(Infer *I, const AExpr *e, AExpr *base)
{
    ABlock block = {0};
    base = take_seq(I, base, &block);
    keep_effects(I, base, &block);
    int field = find_field(I, base->type, e->name);
    if (field < 0) {
        refuse_attr(I, e, base->type,
                    find_method(I, base->type, e->name)
                        ? "is a method, which is translated where it is called"
                        : "is not a plain value");
    }
    AExpr *value = read_field(I, e, base->type, field);
    return typed_seq(I, block, value);
}

/* --- assigning ------------------------------------------------------------ */

/* The name to assign in place of 'target'. */
AExpr *
record_target(Infer *I, const AExpr *target)
{
    AExpr *base = infer_expr(I, target->lhs);
    int field = base->type->kind == TY_RECORD && is_simple(base)
                    ? find_field(I, base->type, target->name)
                    : -1;
    Cell *cell = field >= 0 ? cell_of(I, field) : NULL;
    if (cell == NULL || !I->sig->args[field].writable) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, target->loc, NULL,
                     "an assignment to attribute `%s` of %s is not translated",
                     target->name, type_text(I->arena, base->type));
    }
    I->sig->args[field].used = true;
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
    if (lhs->type->kind != TY_RECORD || rhs->type->kind != TY_RECORD) {
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
    bool record = lhs->kind == TY_RECORD || rhs->kind == TY_RECORD;
    bool none = lhs->kind == TY_NONE || rhs->kind == TY_NONE;
    if (record && !(is && none)) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "this comparison of %s and %s is not translated",
                     type_text(I->arena, lhs), type_text(I->arena, rhs));
    }
}

/* --- methods -------------------------------------------------------------- */

/* self.f(x) as f(self, x). */
AExpr *
record_call(Infer *I, const AExpr *e, AExpr *self)
{
    ABlock block = {0};
    self = take_seq(I, self, &block);
    const AClassAttr *method = find_method(I, self->type, e->lhs->name);
    if (method == NULL) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "method `%s` of %s is not translated", e->lhs->name,
                     type_text(I->arena, self->type));
    }
    AExpr *call = node_like(I, e);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->func = method->func;
    type->name = I->unit->funcs.at[method->func]->qualname;
    if (method->binds) {
        vec_push(I->arena, &call->items, as_untyped(I, self, &block));
        vec_push(I->arena, &call->keys, NULL);
    } else {
        keep_effects(I, self, &block);
    }
    for (int i = 0; i < e->items.n; i++) {
        vec_push(I->arena, &call->items, e->items.at[i]);
        vec_push(I->arena, &call->keys, e->keys.at[i]);
    }
    AExpr *out = node_like(I, e);
    out->lhs = ast_expr(I->arena, A_CONST, e->lhs->loc);
    out->lhs->type = type;
    return typed_seq(I, block, call_user(I, call, out, type));
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
