/* Expressions: the typed copy of each.
 *
 * Known values are folded on the way, so that `len(img.shape) == 2` is a known
 * bool; what a known condition cuts off is never typed.  A condition is not
 * typed as a value: `mask is None or mask[y, x]` needs no common type of its
 * two sides.  Names that may be unbound are tested where they are read, so
 * no other rule knows of that.
 *
 * Whatever can't be translated is refused where it is reached, with the types
 * at hand in the message.  Because dead branches are never reached, a function
 * may well contain what has no translation, as long as this specialisation does
 * not run it.
 */
#include <string.h>

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
 * must be evaluated; a name must be if it may be unbound. */
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
        return e->lhs->type->kind == TY_TUPLE && is_simple(e->lhs) &&
               all_simple(&e->items) && e->type->kind != TY_ARRAY;
    case A_SLICE:
        return all_simple(&e->items);
    default:
        return false;
    }
}

/* Found in the condition's left-most part that is an axis or value of an
 * argument, which is what a user's flag or size is. */
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

/* --- operands ------------------------------------------------------------- */

/* The statement raises TypeError if the value is None. */
AExpr *
need_some(Infer *I, AExpr *e)
{
    if (e->type->kind == TY_NONE) {
        read_unbound(I);
    }
    if (e->type->alt != ALT_NONE) {
        return e;
    }
    AExpr *out = ast_expr(I->arena, A_SOME, e->loc);
    out->lhs = e;
    out->type = type_with_alt(I->arena, e->type, ALT_NEVER);
    return out;
}

/* What an operation sees of a number: None can't be operated on, so lower
 * tests that it isn't. */
static const Type *
without_none(Infer *I, const Type *type)
{
    return type->alt == ALT_NONE ? type_with_alt(I->arena, type, ALT_NEVER)
                                 : type;
}

DiagId
unsupported(const Type *type)
{
    bool none = type->kind == TY_NONE && type->alt == ALT_NEVER;
    return none ? DIAG_ALWAYS_FAILS : DIAG_UNSUPPORTED_OPERATION;
}

/* The type without None: lower tests that the value is not None. */
const Type *
need_num(Infer *I, const AExpr *e, const char *what)
{
    if (e->type->kind != TY_NUM) {
        infer_refuse(I, unsupported(e->type), e->loc, NULL,
                     "%s is %s and not a number", what,
                     type_text(I->arena, e->type));
    }
    return without_none(I, e->type);
}

/* Arrays of one small axis are operands in registers: if an argument's axis
 * decides it, the size is pinned and inference begins again. */
const Type *
need_operand(Infer *I, const AExpr *e, AOp op)
{
    const Type *type = e->type;
    if (type->kind == TY_NUM) {
        return without_none(I, type);
    }
    if (type->kind != TY_ARRAY) {
        infer_refuse(I, unsupported(type), e->loc, NULL,
                     "`%s` is not translated for %s", op_text(op),
                     type_text(I->arena, type));
    }
    check_reach(I, type, e->loc);
    if (type->rank == 1 && type_lanes(type) == 0) {
        infer_pin(I, size_origin(type->size[0]));
    }
    return type;
}

/* --- operators ------------------------------------------------------------ */

/* `img.shape[:2] + (3,)` */
static const Type *
tuple_sum(Infer *I, const Type *lhs, const Type *rhs)
{
    int n = lhs->rank + rhs->rank;
    const Type **items = ARENA_ARRAY(I->arena, const Type *, n + 1);
    for (int i = 0; i < n; i++) {
        items[i] = i < lhs->rank ? lhs->items[i] : rhs->items[i - lhs->rank];
    }
    return type_tuple(I->arena, items, n, lhs->is_list);
}

/* Refuses (VZ-2005) an operator for the types of its operands. */
static _Noreturn void
refuse_binop(Infer *I, const AExpr *e, AOp op, const Type *lhs, const Type *rhs)
{
    infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                 "`%s` is not translated for %s and %s", op_text(op),
                 type_text(I->arena, lhs), type_text(I->arena, rhs));
}

/* The type of 'lhs' op 'rhs' for typed operands; 'e' is where a refusal
 * points. Comparisons too. */
const Type *
type_of_binop(Infer *I, const AExpr *e, AOp op, const AExpr *lhs,
              const AExpr *rhs)
{
    bool tuples = lhs->type->kind == TY_TUPLE && rhs->type->kind == TY_TUPLE &&
                  lhs->type->is_list == rhs->type->is_list;
    if (tuples && op == AO_ADD) {
        return tuple_sum(I, lhs->type, rhs->type);
    }
    const Type *pair = complex_binop(I, e, op, lhs->type, rhs->type);
    if (pair != NULL) {
        return pair;
    }
    const Type *a = need_operand(I, lhs, op);
    const Type *b = need_operand(I, rhs, op);
    if (a->kind == TY_ARRAY || b->kind == TY_ARRAY) {
        const Type *ops[] = {a, b};
        bool vector = rule_vector(I->arena, op, a, b).type != NULL;
        BinRule rule = rule_array(I->arena, op, a, b);
        if (rule.type == NULL) {
            refuse_binop(I, e, op, a, b);
        }
        return type_elementwise(I, e, rule.type->dtype, ops, 2, !vector);
    }
    const Type *known = fold_binop(I->arena, op, a, b);
    if (known != NULL) {
        return known;
    }
    BinRule rule = rule_binop(I->arena, op, a, b);
    if (rule.type == NULL) {
        refuse_binop(I, e, op, a, b);
    }
    return rule.type;
}

/* Could the exponent be meant to be negative?  `2 ** -k`, `3 ** (1 - n)` */
static bool
looks_negative(const AExpr *e)
{
    bool minus = (e->kind == A_UNARY && e->op == AO_NEG) ||
                 (e->kind == A_BINOP && e->op == AO_SUB);
    return minus || (e->lhs != NULL && looks_negative(e->lhs)) ||
           (e->rhs != NULL && looks_negative(e->rhs));
}

/* Of an int to an unknown int: the value of an argument is pinned; others are
 * taken to be counts unless a minus says otherwise. */
static void
settle_exponent(Infer *I, const AExpr *lhs, AExpr *rhs)
{
    const Type *base = lhs->type;
    const Type *type = rhs->type;
    bool ints = base->kind == TY_NUM && base->weak && type->kind == TY_NUM &&
                type->weak && !dtype_is_float(base->dtype) &&
                type->dtype == DT_I64 && !type->known && type->alt == ALT_NEVER;
    if (!ints) {
        return;
    }
    infer_pin(I, type->origin);
    if (!looks_negative(rhs)) {
        Type *count = arena_copy(I->arena, type, sizeof(*count));
        count->origin = ORIGIN_COUNT;
        rhs->type = count;
    }
}

/* Is the result the same vector if 'mixed', a vector or a number, is the
 * number? */
static bool
number_is_lanes(Infer *I, AOp op, const Type *mixed, const Type *other)
{
    Plain alt;
    if (!type_is_vector(mixed) || other->kind != TY_ARRAY ||
        other->alt != ALT_NEVER || type_lanes(other) != type_lanes(mixed) ||
        op == AO_POW || op_is_compare(op) || !type_plain_alt(mixed, &alt)) {
        return false;
    }
    const Type *num = type_num(I->arena, alt.dtype, true);
    BinRule as_vector = rule_vector(I->arena, op, mixed, other);
    BinRule as_number = rule_vector(I->arena, op, num, other);
    return as_vector.type != NULL && as_number.type != NULL &&
           as_vector.compute == as_number.compute &&
           as_vector.type->dtype == as_number.type->dtype;
}

void
settle_some(Infer *I, AExpr *e)
{
    if (e->type->kind != TY_ARRAY || e->type->alt == ALT_NEVER) {
        return;
    }
    if (e->kind != A_NAME) {
        infer_refuse(I, DIAG_TYPE_CONFLICT, e->loc,
                     "Give it a name first, and test that.",
                     "this may be %s or no array",
                     type_text(I->arena,
                               type_with_alt(I->arena, e->type, ALT_NEVER)));
    }
    demand_split(I, e);
    e->type = type_with_alt(I->arena, e->type, ALT_NEVER);
}

/* Operands that may be None, or a number instead of a vector, must not be,
 * unless that makes no difference. */
void
settle_numbers(Infer *I, AOp op, AExpr *lhs, AExpr *rhs)
{
    bool left = number_is_lanes(I, op, lhs->type, rhs->type);
    bool right = number_is_lanes(I, op, rhs->type, lhs->type);
    if (!left) {
        settle_some(I, lhs);
    }
    if (!right) {
        settle_some(I, rhs);
    }
}

/* a + b */
static AExpr *
infer_binop(Infer *I, const AExpr *e)
{
    if (e->op == AO_MATMUL) {
        return infer_matmul(I, e);
    }
    AExpr *out = node_like(I, e);
    out->lhs = infer_maybe(I, e->lhs);
    out->rhs = infer_maybe(I, e->rhs);
    out->type = list_binop(I, e, out->lhs, out->rhs);
    if (out->type != NULL) {
        return out;
    }
    AExpr *repeated = e->op == AO_MUL
                          ? repeat_tuple(I, out->lhs, out->rhs, e->loc)
                          : NULL;
    if (repeated != NULL) {
        return repeated;
    }
    settle_numbers(I, e->op, out->lhs, out->rhs);
    if (e->op == AO_POW) {
        AExpr *power = infer_power(I, e, out->lhs, out->rhs);
        if (power != NULL) {
            return power;
        }
        settle_exponent(I, out->lhs, out->rhs);
    }
    out->type = type_of_binop(I, e, e->op, out->lhs, out->rhs);
    return out;
}

/* `not a` needs the truth of `a` only. */
static AExpr *
infer_not(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    out->lhs = infer_cond(I, e->lhs);
    bool truth;
    out->type = type_truth(out->lhs->type, &truth)
                    ? type_known_bool(I->arena, !truth)
                    : type_bool(I->arena);
    return out;
}

/* -a +a ~a */
static AExpr *
infer_unary(Infer *I, const AExpr *e)
{
    if (e->op == AO_NOT) {
        return infer_not(I, e);
    }
    AExpr *out = node_like(I, e);
    out->lhs = infer_expr(I, e->lhs);
    out->type = complex_unary(I, e, out->lhs->type);
    if (out->type != NULL) {
        return out;
    }
    const Type *arg = need_operand(I, out->lhs, e->op);
    out->type = fold_unary(I->arena, e->op, arg);
    if (out->type != NULL) {
        return out;
    }
    bool only_main;
    out->type = rule_unary(I->arena, e->op, arg, &only_main);
    if (out->type == NULL) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "unary `%s` is not translated for %s", op_text(e->op),
                     type_text(I->arena, arg));
    }
    if (arg->kind == TY_ARRAY) {
        out->type = type_elementwise(I, e, out->type->dtype, &arg, 1, false);
    }
    return out;
}

/* --- comparisons ---------------------------------------------------------- */

/* 'a is None': decided, or by the flag. */
static const Type *
type_of_is(Infer *I, const AExpr *e, AOp op, const Type *lhs, const Type *rhs)
{
    const Type *other = lhs->kind == TY_NONE ? rhs : lhs;
    if (lhs->kind != TY_NONE && rhs->kind != TY_NONE) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc,
                     "Compare with `==`.",
                     "`is` is translated for None only, not for %s and %s",
                     type_text(I->arena, lhs), type_text(I->arena, rhs));
    }
    if (other->alt == ALT_NONE) {
        return type_bool(I->arena);
    }
    bool same = other->kind == TY_NONE;
    return type_known_bool(I->arena, same == (op == AO_IS));
}

/* '==' and '!=' of values that are no numbers; NULL: not that case. */
static const Type *
type_of_plain_equal(Infer *I, AOp op, const Type *lhs, const Type *rhs)
{
    bool strings = lhs->kind == TY_STR && rhs->kind == TY_STR;
    bool text = lhs->kind == TY_STR || rhs->kind == TY_STR;
    bool none = lhs->kind == TY_NONE || rhs->kind == TY_NONE;
    bool arrays = lhs->kind == TY_ARRAY || rhs->kind == TY_ARRAY;
    if ((op != AO_EQ && op != AO_NE) || (!text && !none) || arrays ||
        lhs->alt != ALT_NEVER || rhs->alt != ALT_NEVER) {
        return NULL;
    }
    bool same = strings ? lhs->name == rhs->name
                        : lhs->kind == TY_NONE && rhs->kind == TY_NONE;
    return type_known_bool(I->arena, same == (op == AO_EQ));
}

/* One comparison of a chain. */
const Type *
type_of_compare(Infer *I, const AExpr *e, AOp op, const AExpr *lhs,
                const AExpr *rhs)
{
    bool is = op == AO_IS || op == AO_ISNOT;
    if (!is && (lhs->type->kind == TY_DTYPE || rhs->type->kind == TY_DTYPE)) {
        const Type *equal = type_of_dtype_equal(I, op, lhs, rhs);
        if (equal != NULL) {
            return equal;
        }
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "`%s` is not translated for %s and %s", op_text(op),
                     type_text(I->arena, lhs->type),
                     type_text(I->arena, rhs->type));
    }
    if (is) {
        return type_of_is(I, e, op, lhs->type, rhs->type);
    }
    const Type *plain = type_of_plain_equal(I, op, lhs->type, rhs->type);
    if (plain != NULL) {
        return plain;
    }
    return type_of_binop(I, e, op, lhs, rhs);
}

/* The value of a chain: the first comparison that is false, or the last. */
static const Type *
join_chain(Infer *I, const AExpr *e, const Type *so_far, const Type *next)
{
    bool truth;
    if (so_far == NULL) {
        return next;
    }
    if (type_truth(so_far, &truth)) {
        return truth ? next : so_far;
    }
    if (next->kind == TY_ARRAY || so_far->kind == TY_ARRAY) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "a chain of comparisons of arrays is not translated");
    }
    const Type *joined = type_join(I->arena, so_far, next);
    return joined ? joined : type_bool(I->arena);
}

/* A chain is cut after a comparison that is known to be false; what follows it
 * is never evaluated by Python. */
static AExpr *
infer_compare(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    bool is = e->ops.at[0] == AO_IS || e->ops.at[0] == AO_ISNOT;
    out->lhs = is ? infer_maybe(I, e->lhs) : infer_expr(I, e->lhs);
    const AExpr *lhs = out->lhs;
    const Type *type = NULL;
    for (int i = 0; i < e->items.n; i++) {
        bool truth;
        if (type != NULL && type_truth(type, &truth) && !truth) {
            break; /* 2 < 1 < f(x): f is never called */
        }
        I->conditional += i > 0;
        AExpr *rhs = infer_expr(I, e->items.at[i]);
        I->conditional -= i > 0;
        AExpr *other = e->items.n > 1 ? NULL
                                      : compare_sequences(I, e->ops.at[0],
                                                          out->lhs, rhs);
        if (other != NULL) {
            return other;
        }
        const Type *one = type_of_compare(I, e, e->ops.at[i], lhs, rhs);
        vec_push(I->arena, &out->items, rhs);
        vec_push(I->arena, &out->ops, e->ops.at[i]);
        type = join_chain(I, e, type, one);
        lhs = rhs;
    }
    out->type = type;
    return out;
}

/* --- and, or, if-else ----------------------------------------------------- */

/* Infers the items that may be evaluated; "decided" tells that the last one
 * ends the evaluation. */
static AExpr *
infer_items_of(Infer *I, const AExpr *e, bool as_cond, bool *decided)
{
    AExpr *out = node_like(I, e);
    *decided = false;
    int outer = I->conditional;
    for (int i = 0; i < e->items.n && !*decided; i++) {
        I->conditional = outer + (i > 0);
        AExpr *item = as_cond ? infer_cond(I, e->items.at[i])
                              : infer_maybe(I, e->items.at[i]);
        settle_some(I, item);
        bool truth;
        bool known = type_truth(item->type, &truth);
        *decided = known && truth == (e->op == AO_OR);
        bool last = i + 1 == e->items.n;
        if (known && !*decided && !last && is_simple(item)) {
            continue; /* `True and x` is `x` */
        }
        vec_push(I->arena, &out->items, item);
    }
    I->conditional = outer;
    return out;
}

/* No common type for the two sides of a choice: pins the argument that decides
 * it, if there is one, or refuses (VZ-2006). */
static _Noreturn void
refuse_join(Infer *I, const AExpr *e, const AExpr *cond, const Type *lhs,
            const Type *rhs)
{
    infer_pin(I, cond_origin(cond));
    list_settle(I, lhs, rhs);
    infer_refuse(I, DIAG_TYPE_CONFLICT, e->loc, NULL, "the value is %s or %s",
                 type_text(I->arena, lhs), type_text(I->arena, rhs));
}

/* The type of a value that is 'lhs' or 'rhs'. Both arrays get a further name
 * by it. */
const Type *
join_values(Infer *I, const AExpr *e, const AExpr *cond, const AExpr *lhs,
            const AExpr *rhs)
{
    const Type *type = type_join(I->arena, lhs->type, rhs->type);
    if (type == NULL) {
        refuse_join(I, e, cond, lhs->type, rhs->type);
    }
    if (type_is_vector(type)) {
        alias_value(I, lhs);
        alias_value(I, rhs);
    }
    return join_objects(I, type, lhs->type, rhs->type);
}

/* What `a or b` gives of `a`: a tuple is not None then. */
static const AExpr *
without_falsy(Infer *I, const AExpr *e)
{
    if (e->type->kind != TY_TUPLE || e->type->alt != ALT_NONE) {
        return e;
    }
    AExpr *copy = arena_copy(I->arena, e, sizeof(*e));
    copy->type = type_with_alt(I->arena, e->type, ALT_NEVER);
    return copy;
}

/* `a and b` as a value: one of the operands, so all must have a common type. */
static AExpr *
infer_boolop(Infer *I, const AExpr *e)
{
    bool decided;
    AExpr *out = infer_items_of(I, e, false, &decided);
    if (out->items.n == 1) {
        return out->items.at[0];
    }
    out->type = out->items.at[0]->type;
    const AExpr *so_far = out->items.at[0];
    for (int i = 1; i < out->items.n; i++) {
        AExpr *both = node_like(I, e);
        so_far = e->op == AO_OR ? without_falsy(I, so_far) : so_far;
        both->type = join_values(I, e, so_far, so_far, out->items.at[i]);
        so_far = both;
    }
    out->type = type_forget(I->arena, so_far->type);
    if (so_far->type->alt != ALT_NEVER) {
        out->type = so_far->type;
    }
    return out;
}

/* `a and b` as a condition: the types of a and b may have nothing in common. */
static AExpr *
cond_boolop(Infer *I, const AExpr *e)
{
    bool decided;
    AExpr *out = infer_items_of(I, e, true, &decided);
    if (out->items.n == 1) {
        return out->items.at[0];
    }
    out->type = decided ? type_known_bool(I->arena, e->op == AO_OR)
                        : type_bool(I->arena);
    return out;
}

/* The types of conditions are bool where they are `and`, `or` and `not`; a
 * plain expression keeps its own. */
AExpr *
infer_cond(Infer *I, const AExpr *e)
{
    if (e->kind == A_BOOLOP) {
        return cond_boolop(I, e);
    }
    AExpr *out = infer_maybe(I, e);
    settle_some(I, out);
    bool small = type_lanes(out->type) == 1;
    if (out->type->kind == TY_ARRAY && !small) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, e->loc, NULL,
                     "%s as a condition is not translated",
                     type_text(I->arena, out->type));
    }
    return out;
}

/* A known condition leaves one side, which alone is typed. */
static AExpr *
infer_ifexp(Infer *I, const AExpr *e)
{
    AExpr *cond = infer_cond(I, e->items.at[0]);
    AExpr *out = node_like(I, e);
    vec_push(I->arena, &out->items, cond);
    bool truth;
    if (type_truth(cond->type, &truth)) {
        AExpr *taken = infer_expr(I, e->items.at[truth ? 1 : 2]);
        if (is_simple(cond)) {
            return taken;
        }
        vec_push(I->arena, &out->items, truth ? taken : NULL);
        vec_push(I->arena, &out->items, truth ? NULL : taken);
        out->type = taken->type;
        return out;
    }
    I->conditional++;
    AExpr *yes = infer_maybe(I, e->items.at[1]);
    AExpr *no = infer_maybe(I, e->items.at[2]);
    I->conditional--;
    vec_push(I->arena, &out->items, yes);
    vec_push(I->arena, &out->items, no);
    out->type = join_values(I, e, cond, yes, no);
    return out;
}

/* --- names and displays --------------------------------------------------- */

/* Reading an unbound name raises: the statement ends here. */
void
read_unbound(Infer *I)
{
    longjmp(*I->raise, 1);
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
        out->type = type_with_alt(I->arena, out->type, ALT_NEVER);
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

/* Refuses (VZ-1003) what has no row in the Ast. */
static _Noreturn void
refuse_syntax(Infer *I, const AExpr *e)
{
    infer_refuse(I, DIAG_UNSUPPORTED_SYNTAX, e->loc, NULL,
                 "%s is not translated",
                 e->kind == A_STARRED  ? "`*` in an expression"
                 : e->kind == A_SLICE  ? "a slice here"
                 : e->kind == A_COMP   ? "a comprehension"
                 : e->kind == A_LAMBDA ? "a nested function"
                 : e->kind == A_NAMED  ? "`:=`"
                 : e->kind == A_DICT   ? "a dict"
                 : e->name            ? e->name
                                      : "this expression");
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

/* The typed copy of any expression. */
AExpr *
infer_maybe(Infer *I, const AExpr *e)
{
    return list_made(I, e, infer_any(I, e));
}

AExpr *
infer_expr(Infer *I, const AExpr *e)
{
    AExpr *out = infer_maybe(I, e);
    settle_some(I, out);
    return out->type->kind == TY_TUPLE ? need_some(I, out) : out;
}
