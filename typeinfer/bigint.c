/* Constants of more than 63 bits, which Python's ints may be.
 *
 *     h & 0xFFFFFFFFFFFFFFFF      h an np.uint64: the constant becomes one
 *     v != 2**63                  v an int or a NumPy integer: always true
 *     2**63 - 1                   folded as a whole: it fits again
 *
 * Others are refused, or their computation is checked and fails.
 */
#include "typeinfer/forms.h"

__extension__ typedef __int128 Wide;

/* Wide enough for whatever one operator makes of 64 bits. */
static const Wide most = (Wide)1 << 100;

/* a ** b or a << b within bounds. */
static bool
wide_power(Wide a, Wide b, Wide *out)
{
    *out = 1;
    if (b < 0 || b > 100) {
        return false;
    }
    for (; b > 0; b--) {
        if (*out > most || *out < -most || a > INT32_MAX || a < -INT32_MAX) {
            return false;
        }
        *out *= a;
    }
    return true;
}

static bool
wide_binop(AOp op, Wide a, Wide b, Wide *out)
{
    switch ((int)op) {
    case AO_ADD:
        *out = a + b;
        return true;
    case AO_SUB:
        *out = a - b;
        return true;
    case AO_POW:
        return wide_power(a, b, out);
    case AO_LSHIFT:
        return a >= 0 && a <= INT32_MAX && wide_power(2, b, out) &&
               (*out *= a, true);
    default:
        return false;
    }
}

/* The value of an expression of literals. */
static bool
wide_value(const AExpr *e, Wide *out)
{
    Wide a;
    Wide b;
    int64_t small;
    if (e->kind == A_CONST) {
        bool known = e->type->kind == TY_NUM && e->type->weak &&
                     type_is_known_int(e->type, &small);
        *out = known ? small : 0;
        return known;
    }
    if (e->kind == A_OTHER && e->type != NULL) {
        *out = (Wide)(uint64_t)e->type->ival;
        return true;
    }
    if (e->kind == A_UNARY && e->op == AO_NEG && wide_value(e->lhs, &a)) {
        *out = -a;
        return true;
    }
    return e->kind == A_BINOP && wide_value(e->lhs, &a) &&
           wide_value(e->rhs, &b) && wide_binop(e->op, a, b, out) &&
           *out < most && *out > -most;
}

/* Such a value that is no int64. */
static bool
is_big(const AExpr *e, Wide *out)
{
    return (e->kind == A_BINOP || e->kind == A_OTHER || e->kind == A_UNARY) &&
           wide_value(e, out) && (*out > INT64_MAX || *out < INT64_MIN);
}

AExpr *
small_constant(Infer *I, const AExpr *e)
{
    Wide value;
    bool is = wide_value(e, &value) && value <= INT64_MAX &&
              value >= INT64_MIN;
    return is ? const_int(I, (int64_t)value, e->loc) : NULL;
}

/* The constant as an np.uint64, beside another one. */
static AExpr *
as_uint64(Infer *I, Wide value, Loc loc)
{
    Type *type = arena_copy(I->arena, type_num(I->arena, DT_U64, false),
                            sizeof(*type));
    type->known = true;
    type->ival = (int64_t)(uint64_t)value;
    AExpr *e = ast_expr(I->arena, A_CONST, loc);
    e->type = type;
    return e;
}

/* An array or number of NumPy's, surely. */
static bool
is_uint64(const Type *type)
{
    bool num = type->kind == TY_NUM && !type->weak;
    return (num || type->kind == TY_ARRAY) && type->dtype == DT_U64 &&
           type->alt == ALT_NEVER;
}

/* Operators for which np.uint64's constant does what Python's does. */
static bool
is_alike(AOp op)
{
    return op == AO_ADD || op == AO_SUB || op == AO_MUL || op == AO_FLOORDIV ||
           op == AO_MOD || op == AO_BITAND || op == AO_BITOR ||
           op == AO_BITXOR || op_is_compare(op);
}

bool
big_operands(Infer *I, AOp op, const AExpr *left, const AExpr *right,
             AExpr **lhs, AExpr **rhs)
{
    Wide value;
    bool first = is_big(left, &value);
    if (!first && !is_big(right, &value)) {
        return false;
    }
    if (value < 0 || value > (Wide)UINT64_MAX || !is_alike(op)) {
        return false;
    }
    const AExpr *constant = first ? left : right;
    AExpr *other = infer_operand(I, first ? right : left);
    AExpr *big = is_uint64(other->type) ? as_uint64(I, value, constant->loc)
                                        : infer_maybe(I, constant);
    *lhs = first ? big : other;
    *rhs = first ? other : big;
    return true;
}

/* `v < 2**63` is `v <= 2**63 - 1`, and the like: the comparison with the last
 * integer that is always true, or always false. */
AExpr *
big_compare(Infer *I, const AExpr *e, AExpr *lhs)
{
    Wide value;
    AOp op = e->ops.at[0];
    if (e->items.n != 1 || !is_big(e->items.at[0], &value) ||
        op < AO_EQ || op > AO_GE) {
        return NULL;
    }
    Loc loc = e->items.at[0]->loc;
    if (lhs->type->kind == TY_NUM && is_uint64(lhs->type) && value > 0 &&
        value <= (Wide)UINT64_MAX) {
        return typed_compare(I, op, lhs, as_uint64(I, value, loc), e->loc);
    }
    if (!type_is_size(lhs->type) || lhs->type->dtype == DT_U64) {
        return NULL;
    }
    bool above = value > 0;
    bool holds = op == AO_NE || (above ? op == AO_LT || op == AO_LE
                                       : op == AO_GT || op == AO_GE);
    AExpr *edge = const_int(I, above ? INT64_MAX : INT64_MIN, loc);
    AOp with = above ? (holds ? AO_LE : AO_GT) : (holds ? AO_GE : AO_LT);
    return typed_compare(I, with, lhs, edge, e->loc);
}
