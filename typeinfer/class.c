/* Classes of one's own: attributes, methods and operators of their objects, and
 * objects that are made here.
 *
 *     v.x                  item 0 of the object `v`
 *     v.dot(w)             dot(v, w)
 *     v + w                __add__(v, w)
 *     Vec(a, b)            the tuple that the maker of `Vec` gives, an OBJECT
 *
 * An object that is made in the call and not assigned to afterwards (else it
 * is made.c's) is a value like a tuple: what its attributes hold is known.
 * Nobody can tell it from another one with equal attributes before the call is
 * over.  Only then the object itself is made.  A named tuple is a tuple with a
 * name.
 *
 * Special methods are looked up in the class, as Python does; those of classes
 * that are not written in Python are Python's own. */
#include <string.h>

#include "typeinfer/list.h"

const AClass *
class_of(const Infer *I, const Type *type)
{
    if (type->kind == TY_RECORD && type->ival > 0) {
        return &I->unit->classes.at[type->func];
    }
    bool own = type_is_pack(type) && type->class > 0;
    return own ? &I->unit->classes.at[type->class - 1] : NULL;
}

/* What the class itself has by this name; NULL. */
static const AClassAttr *
find_attr(const AClass *class, Sym name)
{
    for (int i = 0; i < class->attrs.n; i++) {
        if (class->attrs.at[i].name == name) {
            return &class->attrs.at[i];
        }
    }
    return NULL;
}

/* --- calls ---------------------------------------------------------------- */

/* The function as a value. */
static const Type *
type_of_func(Infer *I, int func)
{
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->func = func;
    type->name = I->unit->funcs.at[func]->qualname;
    return type;
}

/* func(self, *items) with the typed 'self', NULL: none. */
static AExpr *
call_func(Infer *I, const AExpr *e, int func, AExpr *self,
          const AExprVec *items, const Sym *keys)
{
    ABlock block = {0};
    AExpr *call = ast_expr(I->arena, A_CALL, e->loc);
    if (self != NULL) {
        self = as_untyped(I, take_seq(I, self, &block), &block);
        vec_push(I->arena, &call->items, self);
        vec_push(I->arena, &call->keys, NULL);
    }
    for (int i = 0; items != NULL && i < items->n; i++) {
        vec_push(I->arena, &call->items, items->at[i]);
        vec_push(I->arena, &call->keys, keys[i]);
    }
    AExpr *out = ast_expr(I->arena, A_CALL, e->loc);
    const Type *type = type_of_func(I, func);
    out->lhs = ast_expr(I->arena, A_CONST, e->loc);
    out->lhs->type = type;
    return typed_seq(I, block, call_user(I, call, out, type));
}

/* t._replace(x=1): a named tuple with other items. */
static AExpr *
call_replace(Infer *I, const AExpr *e, AExpr *self, const AClass *class)
{
    ABlock block = {0};
    AExprVec items = held_items(I, self, &block);
    for (int i = 0; i < e->items.n; i++) {
        int at = 0;
        while (at < class->fields.n && class->fields.at[at] != e->keys.at[i]) {
            at++;
        }
        if (at == class->fields.n) {
            refuse_call(I, e, "_replace", "does not fit the fields");
        }
        AExpr *value = infer_maybe(I, e->items.at[i]);
        alias_value(I, value);
        items.at[at] = hold_typed(I, value, &block);
    }
    AExpr *out = typed_display(I, &items, false, e->loc);
    out->type = type_like(I->arena, out->type->items, self->type);
    return typed_seq(I, block, out);
}

AExpr *
class_call(Infer *I, const AExpr *e, AExpr *self)
{
    const AClass *class = class_of(I, self->type);
    const AClassAttr *attr = class ? find_attr(class, e->lhs->name) : NULL;
    if (class == NULL) {
        return NULL;
    }
    if (attr != NULL && attr->func >= 0 && !attr->is_property) {
        ABlock block = {0};
        if (!attr->binds) {
            keep_effects(I, take_seq(I, self, &block), &block);
            self = NULL;
        }
        AExpr *value = call_func(I, e, attr->func, self, &e->items,
                                 e->keys.at);
        return typed_seq(I, block, value);
    }
    bool own = attr != NULL && attr->own;
    if (class->is_tuple && !own) {
        self = record_value(I, self);
        return strcmp(e->lhs->name, "_replace") == 0
                   ? call_replace(I, e, self, class)
                   : sequence_method(I, e, self);
    }
    infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                 "method `%s` of %s is not translated", e->lhs->name,
                 type_text(I->arena, self->type));
}

/* --- attributes ----------------------------------------------------------- */

/* Attribute 'name' of an object that was made here; NULL: it has none. */
static AExpr *
item_of(Infer *I, const AClass *class, AExpr *base, Sym name, ABlock *out)
{
    for (int i = 0; type_is_pack(base->type) && i < class->fields.n; i++) {
        if (class->fields.at[i] == name) {
            return typed_item(I, hold_typed(I, base, out), i);
        }
    }
    return NULL;
}

AExpr *
class_attr(Infer *I, const AExpr *e, AExpr *base)
{
    ABlock block = {0};
    const AClass *class = class_of(I, base->type);
    const AClassAttr *attr = find_attr(class, e->name);
    base = take_seq(I, base, &block);
    AExpr *value = NULL;
    if (attr != NULL && attr->is_property && attr->func >= 0) {
        value = call_func(I, e, attr->func, base, NULL, NULL);
    } else if (base->type->kind == TY_RECORD) {
        keep_effects(I, base, &block);
        value = record_field(I, e, base->type);
    } else {
        value = item_of(I, class, base, e->name, &block);
    }
    if (value == NULL) {
        bool method = attr != NULL && attr->func >= 0;
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "attribute `%s` of %s %s", e->name,
                     type_text(I->arena, base->type),
                     method ? "is translated only where it is called"
                            : "is not a plain value");
    }
    return typed_seq(I, block, value);
}

/* --- objects that are made ------------------------------------------------ */

AExpr *
class_make(Infer *I, const AExpr *e, AExpr *out, const Type *callee)
{
    const AClass *called = class_of(I, callee);
    int makes = called != NULL ? called->makes : -1;
    const AClass *class = makes >= 0 ? &I->unit->classes.at[makes] : NULL;
    if (class == NULL || class->maker < 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`%s` is not translated", callee->name);
    }
    call_user(I, e, out, type_of_func(I, class->maker));
    if (out->type->kind != TY_TUPLE || out->type->rank != class->fields.n) {
        infer_refuse(I, DIAG_UNSUPPORTED_CALL, e->loc, NULL,
                     "`%s` does not always set its attributes", class->name);
    }
    AExpr *made = made_object(I, out, makes);
    if (made != NULL) {
        return made;
    }
    Type *type = arena_copy(I->arena, out->type, sizeof(*type));
    type->kind = class->is_tuple ? TY_TUPLE : TY_OBJECT;
    type->class = makes + 1;
    type->name = class->name;
    type->object = class->is_tuple ? 0 : object_new(I, NULL, e->loc, false);
    out->type = type;
    return out;
}

/* --- operators ------------------------------------------------------------ */

const char *
op_special(AOp op)
{
    switch ((int)op) {
    case AO_ADD:
        return "add";
    case AO_SUB:
        return "sub";
    case AO_MUL:
        return "mul";
    case AO_DIV:
        return "truediv";
    case AO_FLOORDIV:
        return "floordiv";
    case AO_MOD:
        return "mod";
    case AO_POW:
        return "pow";
    case AO_LSHIFT:
        return "lshift";
    case AO_RSHIFT:
        return "rshift";
    case AO_BITAND:
        return "and";
    case AO_BITOR:
        return "or";
    case AO_BITXOR:
        return "xor";
    case AO_MATMUL:
        return "matmul";
    case AO_NEG:
        return "neg";
    case AO_POS:
        return "pos";
    case AO_INVERT:
        return "invert";
    default:
        return "none";
    }
}

/* The special method as the class defines it; NULL: it does not. */
static const AClassAttr *
special(Infer *I, const AClass *class, const char *prefix, AOp op)
{
    if (class == NULL) {
        return NULL;
    }
    const char *name =
        str_printf(I->arena, "__%s%s__", prefix, op_special(op));
    const AClassAttr *attr = find_attr(class, sym(name));
    return attr != NULL && attr->own ? attr : NULL;
}

/* Is the operand one that knows nothing of the other's class? */
static bool
is_plain_operand(const Type *type)
{
    return type->kind == TY_NUM && type->weak;
}

AExpr *
class_binop(Infer *I, const AExpr *e, AExpr *lhs, AExpr *rhs)
{
    const AClass *left = class_of(I, lhs->type);
    const AClass *right = class_of(I, rhs->type);
    const AClassAttr *ahead = special(I, left, "", e->op);
    const AClassAttr *behind = special(I, right, "r", e->op);
    const AClassAttr *used = ahead ? ahead : behind;
    if (used == NULL) {
        return NULL;
    }
    bool first = ahead != NULL && (right == NULL || right == left);
    bool second = ahead == NULL && left == NULL
                  && is_plain_operand(lhs->type);
    bool known = lhs->type->alt == ALT_NEVER && rhs->type->alt == ALT_NEVER;
    if ((!first && !second) || !known || used->func < 0 || !used->binds) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "`%s` is not translated for %s and %s", op_text(e->op),
                     type_text(I->arena, lhs->type),
                     type_text(I->arena, rhs->type));
    }
    ABlock block = {0};
    AExprVec other = {0};
    Sym key = NULL;
    lhs = as_untyped(I, take_seq(I, lhs, &block), &block);
    rhs = as_untyped(I, take_seq(I, rhs, &block), &block);
    vec_push(I->arena, &other, first ? rhs : lhs);
    AExpr *self = infer_maybe(I, first ? lhs : rhs);
    AExpr *value = call_func(I, e, used->func, self, &other, &key);
    return typed_seq(I, block, value);
}

/* a op= b: does a class have a say in it? */
bool
class_aug(Infer *I, const AStmt *s, const AExpr *lhs, const AExpr *rhs)
{
    const AClass *left = class_of(I, lhs->type);
    const AClass *right = class_of(I, rhs->type);
    if (special(I, left, "i", s->op) != NULL) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, s->loc, NULL,
                     "`%s=` is not translated for %s", op_text(s->op),
                     type_text(I->arena, lhs->type));
    }
    return special(I, left, "", s->op) || special(I, right, "r", s->op);
}

AExpr *
class_unary(Infer *I, const AExpr *e, AExpr *arg)
{
    const AClassAttr *attr = special(I, class_of(I, arg->type), "", e->op);
    if (attr == NULL || attr->func < 0 || !attr->binds
        || arg->type->alt != ALT_NEVER) {
        return NULL;
    }
    return call_func(I, e, attr->func, arg, NULL, NULL);
}
