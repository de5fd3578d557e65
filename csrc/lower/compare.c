/* Comparisons of numbers.
 *
 *     n < u            int64 and uint64: exactly, a negative one is less
 *     max(0.0, x) < t  x float32, t a Python float: NumPy compares in float32,
 *                      but 0.0, if that is the greater, is a Python float and
 *                      compared with t as doubles
 *
 * Which of the two a maybe-type is, its flag tells when the program runs; so
 * both comparisons are made, and neither can fail. */
#include "csrc/lower/state.h"

/* Relations with > are turned round: the IR has only < and <=. */
Expr *
compare_exprs(Lower *L, AOp op, Expr *x, Expr *y)
{
    switch ((int)op) {
    case AO_EQ:
        return op2(L, E_EQ, x, y);
    case AO_NE:
        return op2(L, E_NE, x, y);
    case AO_LT:
        return op2(L, E_LT, x, y);
    case AO_LE:
        return op2(L, E_LE, x, y);
    case AO_GT:
        return op2(L, E_LT, y, x);
    default:
        return op2(L, E_LE, y, x);
    }
}

/* uint64 against a signed integer, exactly: a negative one is less. Others are
 * compared as uint64, where they have their value.  NumPy does the same since
 * 2.0; before, both became float64. */
Expr *
compare_signs(Lower *L, AOp op, Expr *lhs, Expr *rhs, Loc loc)
{
    bool swap = lhs->dtype != DT_U64;
    Expr *sign = reuse(L, swap ? lhs : rhs, loc);
    Expr *big = reuse(L, swap ? rhs : lhs, loc);
    Expr *zero = ir_int(L->arena, sign->dtype, 0);
    Expr *below = op2(L, E_LT, sign, zero);
    Expr *same = cast_to(L, DT_U64, sign);
    Expr *inside = swap ? compare_exprs(L, op, same, big)
                        : compare_exprs(L, op, big, same);
    bool less = op == AO_LT || op == AO_LE;
    bool greater = op == AO_GT || op == AO_GE;
    bool if_below = op == AO_NE || (swap ? less : greater);
    Expr *outside = ir_bool(L->arena, if_below);
    return ir_select(L->arena, below, outside, inside);
}

/* The comparison 'holds' of float32, but of doubles where Python would compare
 * the numbers. */
Expr *
compare_apart(Lower *L, AOp op, const BinRule *rule, const Value *lhs,
              const Value *rhs, Expr *holds, Loc loc)
{
    Expr *apart = any_combo(L, rule->apart, lhs, rhs);
    if (apart == NULL) {
        return holds;
    }
    BinRule wide = {.type = rule->type, .compute = DT_F64};
    Value a = *lhs;
    Value b = *rhs;
    a.type = type_with_alt(L->arena, lhs->type, ALT_FLOAT);
    b.type = type_with_alt(L->arena, rhs->type, ALT_FLOAT);
    Expr *x = convert_operand(L, op, &wide, &a, &b, loc);
    Expr *y = convert_operand(L, op, &wide, &b, &a, loc);
    return ir_select(L->arena, apart, compare_exprs(L, op, x, y), holds);
}
