/* Expressions: the typed copy of each.
 *
 * Known values are folded on the way, so that `len(img.shape) == 2` is a known
 * bool; what a known condition cuts off is never typed.  Names that may be
 * unbound are tested where they are read, so no other rule knows of that.
 *
 * Whatever can't be translated is refused where it is reached, with the types
 * at hand in the message.  Because dead branches are never reached, a function
 * may well contain what has no translation, as long as this specialisation does
 * not run it.
 *
 * Here are names, displays and the choice of the rule by the kind of node.
 * Operators and comparisons are in operator.c, `and`, `or` and conditions in
 * logic.c, calls in call.c, subscripts in subscript.c.
 */
#include "typeinfer/list.h"

/* Beyond this many typed nodes the program is too large (VZ-2012). */
enum { MAX_TYPED = 400000 };

/* A copy of a node without its operands, for the typed tree. Counts nodes,
 * since inlining can make a small source very large. */
AExpr *
node_like(Infer *I, const AExpr *e)
{
    AExpr *copy = ast_expr(I->arena, e->kind, e->loc);
    copy->op = e->op;
    copy->name = e->name;
    copy->binding = e->binding;
    copy->type = e->type;
    if (++I->nodes > MAX_TYPED) {
        infer_refuse(I, DIAG_TOO_LARGE, I->unit->funcs.at[0]->loc, NULL,
                     "`%s` with all that it calls is too large to compile",
                     I->unit->funcs.at[0]->name);
    }
    return copy;
}

/* --- simple expressions --------------------------------------------------- */

/* Absent items (NULL) are simple. */
static bool
all_simple(const AExprVec *items)
{
    for (int i = 0; i < items->n; i++) {
        if (items->at[i] != NULL && !is_simple(items->at[i])) {
            return false;
        }
    }
    return true;
}

/* Is the value, or for other kinds than numbers its truth, known? */
static bool
is_known(const AExpr *e)
{
    bool truth;
    return e->type->kind == TY_NUM ? e->type->known && e->type->alt == ALT_NEVER
                                   : type_truth(e->type, &truth);
}

/* Subscripts of arrays may be out of range and calls may do anything, so both
 * must be evaluated; a name must be if it may be unbound. An operator of which
 * the result is known raises nothing. */
bool
is_simple(const AExpr *e)
{
    switch ((int)e->kind) {
    case A_CONST:
    case A_GLOBAL:
    case A_LAMBDA:
    case A_DICT:
        return true;
    case A_NAME:
        return e->version == NULL || e->version->type->alt != ALT_UNBOUND;
    case A_ATTR:
        return is_simple(e->lhs);
    case A_TUPLE:
    case A_LIST:
        return all_simple(&e->items);
    case A_BINOP:
        return is_known(e) && is_simple(e->lhs) && is_simple(e->rhs);
    case A_UNARY:
        return is_known(e) && is_simple(e->lhs);
    case A_COMPARE:
        return is_known(e) && is_simple(e->lhs) && all_simple(&e->items);
    case A_BOOLOP:
        return is_known(e) && all_simple(&e->items);
    case A_CALL:
        return is_known(e) && e->callee == NULL && !list_changes(e) &&
               all_simple(&e->items);
    case A_SUBSCRIPT:
        return type_is_pack(e->lhs->type) && is_simple(e->lhs) &&
               all_simple(&e->items) && e->type->kind != TY_ARRAY;
    case A_SLICE:
        return all_simple(&e->items);
    default:
        return false;
    }
}

/* Found in the condition's left-most part that is an axis or value of an
 * argument, which is what a user's flag or size is: in `mode == 1 and n > 3`
 * that is `mode`. */
int
cond_origin(const AExpr *e)
{
    if (e == NULL || e->type == NULL) {
        return 0;
    }
    if (e->type->kind == TY_NUM && e->type->origin) {
        return e->type->origin;
    }
    int found = 0;
    if (e->kind == A_UNARY || e->kind == A_COMPARE || e->kind == A_BINOP) {
        found = cond_origin(e->lhs);
        found = found ? found : cond_origin(e->rhs);
    }
    for (int i = 0; !found && e->kind != A_CALL && i < e->items.n; i++) {
        found = cond_origin(e->items.at[i]);
    }
    return found;
}

/* --- names and displays --------------------------------------------------- */

/* Reading an unbound name raises: the statement ends here. */
void
read_unbound(Infer *I)
{
    longjmp(*I->raise, 1);
}

/* What is surely bound of an EITHER. */
static AExpr *
number_of(Infer *I, AExpr *e, const Type *number)
{
    AExpr *out = ast_expr(I->arena, A_SOME, e->loc);
    out->lhs = e;
    out->type = number;
    return out;
}

/* The present version of a name. Only here do unbound names and conflicts of
 * joins matter. */
static AExpr *
infer_name(Infer *I, const AExpr *e)
{
    if (e->name == NULL) {
        return hidden_value(I, e);
    }
    int number = name_number(I->frame, e->name);
    Ver *ver = number >= 0 ? I->frame->env.at[number] : free_name(I, e->name);
    if (ver == NULL) {
        read_unbound(I);
    }
    if (ver->conflict != NULL) {
        report_conflict(I, e->name, ver, e->loc);
    }
    AExpr *out = node_like(I, e);
    out->version = &ver->base;
    out->type = ver->base.type;
    if (out->type->alt == ALT_UNBOUND) {
        bool either = out->type->kind == TY_EITHER;
        const Type *item = either ? out->type->items[0] : NULL;
        out->type = type_with_alt(I->arena, out->type, ALT_NEVER);
        if (either) {
            return number_of(I, out, item);
        }
    }
    check_reach(I, out->type, e->loc);
    return out;
}

/* (a, b) and [a, b]: tuples of fixed length. */
static AExpr *
infer_display(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    int n = e->items.n;
    const Type **items = ARENA_ARRAY(I->arena, const Type *, n + 1);
    for (int i = 0; i < n; i++) {
        AExpr *item = infer_maybe(I, e->items.at[i]);
        vec_push(I->arena, &out->items, item);
        alias_value(I, item);
        items[i] = item->type;
    }
    out->type = type_tuple(I->arena, items, n, e->kind == A_LIST);
    return out;
}

/* Constants have their type from the loader. */
static AExpr *
infer_const(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    if (out->type == NULL) {
        out->type = type_kind(I->arena, TY_NONE);
    }
    return out;
}

/* Refuses (VZ-1003) what has no row in the Ast, or none where it stands. */
static _Noreturn void
refuse_syntax(Infer *I, const AExpr *e)
{
    refuse_other(I,
                 e->kind == A_STARRED ? sym("`*` in an expression")
                 : e->kind == A_SLICE ? sym("a slice that is no subscript")
                 : e->name            ? e->name
                                      : sym("this expression"),
                 e->loc);
}

/* An expression by its kind. */
static AExpr *
infer_any(Infer *I, const AExpr *e)
{
    switch ((int)e->kind) {
    case A_CONST:
        return infer_const(I, e);
    case A_NAME:
        return infer_name(I, e);
    case A_GLOBAL:
        return infer_global(I, e);
    case A_BINOP:
        return infer_binop(I, e);
    case A_UNARY:
        return infer_unary(I, e);
    case A_BOOLOP:
        return infer_boolop(I, e);
    case A_COMPARE:
        return infer_compare(I, e);
    case A_CALL:
        return infer_call(I, e);
    case A_ATTR:
        return infer_attr(I, e);
    case A_SUBSCRIPT:
        return infer_subscript(I, e);
    case A_TUPLE:
    case A_LIST:
        return has_stars(&e->items) ? display_with_stars(I, e)
                                    : infer_display(I, e);
    case A_IFEXP:
        return infer_ifexp(I, e);
    case A_COMP:
        return infer_comp(I, e);
    case A_NAMED:
        return infer_named(I, e);
    case A_LAMBDA:
        return infer_lambda(I, e);
    case A_DICT:
        return infer_dict(I, e);
    default:
        refuse_syntax(I, e);
    }
}

/* The typed copy of any expression; a list that it makes gets its object. */
AExpr *
infer_maybe(Infer *I, const AExpr *e)
{
    return record_value(I, list_made(I, e, infer_any(I, e)));
}

AExpr *
infer_operand(Infer *I, const AExpr *e)
{
    AExpr *out = infer_maybe(I, e);
    return out->type->kind == TY_EITHER ? need_some(I, out) : out;
}

AExpr *
infer_object(Infer *I, const AExpr *e)
{
    AExpr *out = list_made(I, e, infer_any(I, e));
    settle_some(I, out);
    return type_is_pack(out->type) ? need_some(I, out) : out;
}

/* The same where an array is needed, or a tuple: what may be None must not be.
 */
AExpr *
infer_expr(Infer *I, const AExpr *e)
{
    AExpr *out = infer_maybe(I, e);
    settle_some(I, out);
    return type_is_pack(out->type) ? need_some(I, out) : out;
}
