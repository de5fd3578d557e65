/* Targets of assignments: names, tuples of targets, elements, attributes.
 *
 *     a, (b, c) = x       x[0] -> a,  x[1][0] -> b,  x[1][1] -> c
 *     out[i, j] = v       is v sure to fit into out's dtype?  else a check
 *
 * The value has been typed already; a target says what becomes of it.  Names
 * get a new version, elements change an object that other names may hold too,
 * and everything else is refused: what is no element and no local name.
 */
#include "typeinfer/list.h"

/* --- targets -------------------------------------------------------------- */

/* A name gets a new version of the value's type. */
static AExpr *
target_name(Infer *I, const AExpr *target, const AExpr *value, const Type *type)
{
    if (value != NULL) {
        alias_value(I, value);
    }
    if (target->name == NULL) {
        return hidden_target(I, target, type);
    }
    if (name_number(I->frame, target->name) < 0) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, target->loc,
                     "Return the value instead.",
                     "an assignment to a name of the function around is not "
                     "translated");
    }
    AExpr *out = node_like(I, target);
    out->version = &env_bind(I, target->name, type, target->loc)->base;
    out->type = type;
    return out;
}

/* The type of item 'k' of what is unpacked into the target. The size of an
 * array need not be known: lower tests it. */
static const Type *
unpacked_type(Infer *I, const AExpr *target, const Type *type, int k)
{
    int64_t n = type->kind == TY_TUPLE   ? type->rank
                : type->kind == TY_ARRAY ? type->size[0]
                : type->kind == TY_LIST  ? -1
                                         : -2;
    if (n == -2) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, target->loc, NULL,
                     "%s is not translated as a sequence to unpack",
                     type_text(I->arena, type));
    }
    if (n >= 0 && n != target->items.n) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, target->loc, NULL,
                     "%d names for %s: this raises ValueError", target->items.n,
                     type_text(I->arena, type));
    }
    return type->kind == TY_TUPLE ? type->items[k]
                                  : item_type(I, type, target->loc);
}

/* (a, b) = value. The items of a display are paired with the targets, so that
 * `a, b = zeros(3), zeros(3)` aliases nothing; of any other tuple each target
 * is a further name of an item. */
static AExpr *
target_tuple(Infer *I, const AExpr *target, const AExpr *value,
             const Type *type)
{
    if (has_stars(&target->items)) {
        if (value != NULL) {
            alias_value(I, value);
        }
        return target_with_star(I, target, type);
    }
    AExpr *out = node_like(I, target);
    bool display =
        value != NULL && (value->kind == A_TUPLE || value->kind == A_LIST);
    out->type = type;
    for (int i = 0; i < target->items.n; i++) {
        const Type *item = unpacked_type(I, target, type, i);
        const AExpr *from = display                  ? value->items.at[i]
                            : type->kind == TY_TUPLE ? value
                                                     : NULL;
        AExpr *part = infer_target(I, target->items.at[i], from, item);
        vec_push(I->arena, &out->items, part);
    }
    return out;
}

/* --- stores --------------------------------------------------------------- */

/* Refuses (VZ-2005) a store for its types. */
static _Noreturn void
refuse_store(Infer *I, const AExpr *target, const Type *value)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, target->loc, NULL,
                 "a store of %s into %s is not translated",
                 type_text(I->arena, value), type_text(I->arena, target->type));
}

/* `img[r, c] = (0, g, 255)`: the numbers are stored one by one, as into an
 * array of the same dtype. */
static const Type *
row_of_tuple(Infer *I, const Type *value, const Type *to)
{
    bool row = value->kind == TY_TUPLE && value->rank > 0 &&
               value->rank <= MAX_LANES && value->alt == ALT_NEVER &&
               to->kind == TY_ARRAY && to->rank > 0;
    for (int i = 0; row && i < value->rank; i++) {
        row = value->items[i]->kind == TY_NUM;
    }
    return row ? type_vector(I->arena, to->dtype, value->rank) : value;
}

/* A number is stored everywhere; an array where its sizes fit. Small axes are
 * pinned, so that rows of pixels are stored at once. */
void
check_store(Infer *I, const AExpr *target, const Type *value)
{
    const Type *to = target->type;
    if (value->kind == TY_NUM ||
        (value->kind == TY_COMPLEX && dtype_is_complex(to->dtype))) {
        return;
    }
    value = row_of_tuple(I, value, to);
    bool drops = dtype_is_complex(value->dtype) && !dtype_is_complex(to->dtype);
    if (drops || value->kind != TY_ARRAY || to->kind != TY_ARRAY ||
        value->rank == 0) {
        refuse_store(I, target, value);
    }
    bool pairs = dtype_is_complex(to->dtype);
    if (!pairs && to->rank == 1 && type_lanes(to) == 0) {
        infer_pin(I, size_origin(to->size[0]));
    }
    if (!pairs && value->rank == 1 && type_lanes(value) == 0) {
        infer_pin(I, size_origin(value->size[0]));
    }
    check_fits(I, target, value, to);
}

/* a[i] of a vector is changed in the version of the name `a`; other parts are
 * changed in memory. */
void
check_vector_target(Infer *I, const AExpr *target)
{
    const AExpr *base = target->lhs;
    if (base->type->kind != TY_ARRAY) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, target->loc, NULL,
                     "a store into %s is not translated",
                     type_text(I->arena, base->type));
    }
    if (!type_is_vector(base->type)) {
        alias_mutate(I, base->type, target->loc);
        return;
    }
    if (base->kind != A_NAME || target->type->kind != TY_NUM) {
        demote_vector(I, base->type);
        infer_refuse(I, DIAG_UNSUPPORTED_INDEX, target->loc,
                     "Store the elements one by one.",
                     "a store into this part of a small array is not "
                     "translated");
    }
    alias_mutate(I, base->type, target->loc);
}

/* 'out' is what 'target' became when it was read: known items of dicts and of
 * tuples are expressions of other kinds, and global names are read-only. */
void
check_target(Infer *I, const AExpr *target, const AExpr *out)
{
    if (target->kind == A_SUBSCRIPT && out->kind != A_SUBSCRIPT) {
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, target->loc,
                     "Return the value, or store it into an array.",
                     "a store into this object is not translated");
    }
    if (out->kind != A_SUBSCRIPT && out->kind != A_NAME) {
        bool global = target->kind == A_GLOBAL;
        infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, target->loc,
                     global ? "Return the value instead." : NULL,
                     global
                         ? "an assignment to a global name is not translated"
                         : "this target of an assignment is not translated");
    }
}

/* a[i] = value: the value has been evaluated already. */
static AExpr *
target_subscript(Infer *I, const AExpr *target, const Type *type)
{
    AExpr *out = infer_subscript(I, target);
    check_target(I, target, out);
    if (list_like(out->lhs->type)) {
        return list_target(I, out, type);
    }
    check_vector_target(I, out);
    check_store(I, out, type);
    return out;
}

/* 'value' is what is assigned, NULL where there is no expression for it;
 * 'type' is its type. */
AExpr *
infer_target(Infer *I, const AExpr *target, const AExpr *value,
             const Type *type)
{
    AExpr *part;
    switch ((int)target->kind) {
    case A_NAME:
        return target_name(I, target, value, type);
    case A_TUPLE:
    case A_LIST:
        return target_tuple(I, target, value, type);
    case A_SUBSCRIPT:
        return target_subscript(I, target, type);
    case A_ATTR:
        part = part_target(I, target, type);
        return part != NULL
                   ? target_subscript(I, part, type)
                   : target_name(I, record_target(I, target), value, type);
    default:
        check_target(I, target, target);
        return NULL; /* not reached */
    }
}
