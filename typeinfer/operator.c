/* Operators and comparisons: a + b, -a, a < b < c, a is None.
 *
 * Each operator is tried in this order, and the first that applies decides:
 * lists and tuples (`[0] * n`, `shape[:2] + (3,)`), complex numbers, known
 * values, which are folded (known.c), and at last numbers and arrays by their
 * tables.  An operand that may be None is the number here: None would raise,
 * so lower tests for it and Python repeats the call.
 *
 *     mask is None      decided by the type, or by the flag of a maybe-type
 *     2 < 1 < f(x)      cut after what is known to be false: f is never typed
 *     2 ** n            an int if n can't be negative, so an argument's value
 *                       becomes part of the signature (settle_exponent)
 *     a + b, small      arrays of one small axis are operands in registers; if
 *                       an argument's axis decides that, its size is pinned
 */
#include "typeinfer/list.h"

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
    out->type = e->type->kind == TY_EITHER
                    ? e->type->items[0]
                    : type_with_alt(I->arena, e->type, ALT_NEVER);
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

/* What None can't do raises whenever it is reached; other types are refused. */
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
    if (type->kind == TY_NUM ||
        (type->kind == TY_COMPLEX && type->alt == ALT_NEVER)) {
        return without_none(I, type);
    }
    if (type->kind != TY_ARRAY) {
        infer_refuse(I, unsupported(type), e->loc, NULL,
                     "`%s` is not translated for %s", op_text(op),
                     type_text(I->arena, type));
    }
    check_reach(I, type, e->loc);
    if (type->rank == 1 && type_lanes(type) == 0 &&
        !dtype_is_complex(type->dtype)) {
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

/* The type of 'lhs' op 'rhs' for typed operands; 'e' is where a refusal points.
 * Comparisons too. Arrays that are small and have a rule for lanes stay in
 * registers, others are computed into memory. */
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
    BinRule rule = rule_binop(I->arena, op, a, b, floats_meet(I));
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
 * number? `total + px` with total = 0: the 0 stands in all lanes. */
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

/* A value that may be None, or a number instead of a vector, where it must be
 * the array: the branch in which it is none is split off (split.c), so that the
 * code for the array needs no flag. */
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

/* A tuple or list of numbers, as NumPy makes an array of it? */
static bool
is_row(const Type *type)
{
    bool row = type->kind == TY_TUPLE && type->class == 0 &&
               type->alt == ALT_NEVER && type->rank > 0;
    for (int i = 0; row && i < type->rank; i++) {
        const Type *item = type->items[i];
        row = item->kind == TY_NUM && item->alt == ALT_NEVER;
    }
    return row;
}

/* `img + (1, 2, 3)`: NumPy makes an array of what it meets. */
static void
settle_rows(Infer *I, AExpr *e)
{
    if (e->lhs->type->kind == TY_ARRAY && is_row(e->rhs->type)) {
        e->rhs = array_of(I, e->rhs);
    } else if (e->rhs->type->kind == TY_ARRAY && is_row(e->lhs->type)) {
        e->lhs = array_of(I, e->lhs);
    }
}

/* a + b */
AExpr *
infer_binop(Infer *I, const AExpr *e)
{
    if (e->op == AO_MATMUL) {
        return infer_matmul(I, e);
    }
    AExpr *small = small_constant(I, e);
    if (small != NULL) {
        return small;
    }
    AExpr *out = node_like(I, e);
    if (!big_operands(I, e->op, e->lhs, e->rhs, &out->lhs, &out->rhs)) {
        out->lhs = infer_operand(I, e->lhs);
        out->rhs = infer_operand(I, e->rhs);
    }
    AExpr *own = class_binop(I, e, out->lhs, out->rhs);
    if (own != NULL) {
        return own;
    }
    settle_rows(I, out);
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
AExpr *
infer_unary(Infer *I, const AExpr *e)
{
    if (e->op == AO_NOT) {
        return infer_not(I, e);
    }
    AExpr *out = node_like(I, e);
    out->lhs = infer_expr(I, e->lhs);
    AExpr *own = class_unary(I, e, out->lhs);
    if (own != NULL) {
        return own;
    }
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
    record_compare(I, e, is, lhs->type, rhs->type);
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

/* The value of a chain: the first comparison that is false, or the last;
 * NumPy's bools and Python's are told apart. */
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
    const Type *joined = join_types(I, so_far, next);
    return joined ? joined : type_bool(I->arena);
}

/* A chain is cut after a comparison that is known to be false; what follows it
 * is never evaluated by Python. */
AExpr *
infer_compare(Infer *I, const AExpr *e)
{
    AExpr *out = node_like(I, e);
    bool is = e->ops.at[0] == AO_IS || e->ops.at[0] == AO_ISNOT;
    out->lhs = is ? infer_maybe(I, e->lhs) : infer_expr(I, e->lhs);
    AExpr *big = big_compare(I, e, out->lhs);
    if (big != NULL) {
        return big;
    }
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
