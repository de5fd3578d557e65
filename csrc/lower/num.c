/* Numbers: operators with their checks, by the rules of typeinfer/rules.c.
 *
 *     a + b   ints            check !addo(a, b);  add(a, b)
 *             uint8 scalars   warn addo(a, b);    add(a, b)
 *             floats          add(a, b)
 *     a / b   floats          check b != 0;       div(a, b)
 *             NumPy floats    div(a, b)           warns, see warn.c
 *
 * A maybe-type is a number with a flag: `total = 0` before a loop that adds
 * float64 scalars is a float64 that may be an int.  The rule has tried all
 * combinations of the operands' parts.  One that it refuses becomes a check
 * that it does not occur; one that it flags sets the flag of the result.  For
 * "float64 or int" + int these are
 *
 *     main   float64 + int   float64        the type of the result
 *     lhs    int + int       int            flagged: the sum, kept as a float,
 *                                           exact while it is below 2**53
 *
 * Why checks rather than wide arithmetic?  Python's ints have no bounds, but
 * the programs that are worth compiling stay within 64 bits; a check that never
 * fails is removed where bounds.c can prove it, and costs next to nothing where
 * it can't.  When it fails the call is repeated in Python, which then computes
 * the big integer, raises the exception or warns.
 *
 * "nonnegative" collects what is surely not below 0: sums, products and
 * remainders of such numbers.  An index that is known not to be negative needs
 * no select for counting from the end, and that keeps it affine.
 */
#include "csrc/base/approx.h"
#include "csrc/lower/list.h"

/* 'v' known not to be None: every operation on None raises TypeError. */
Value
some(Lower *L, Value v, Loc loc)
{
    if (v.type->kind != TY_NONE && v.type->alt == ALT_NONE) {
        emit_check(L, not_(L, v.flag), X_TYPE, loc);
        v.flag = NULL;
        v.type = type_with_alt(L->arena, v.type, ALT_NEVER);
    }
    if (v.type->kind == TY_EITHER) {
        Value number = v.items[0];
        number.type = v.type->items[0];
        return number;
    }
    return v;
}

/* --- combinations of alternatives ----------------------------------------- */

/* The condition under which combination 'combo' occurs. An operand without a
 * flag surely is its main part, so combinations with its alternative are false.
 */
static Expr *
combo_cond(Lower *L, int combo, const Value *lhs, const Value *rhs)
{
    Expr *cond = NULL;
    if (lhs->flag != NULL) {
        cond = combo & COMBO_LHS ? lhs->flag : not_(L, lhs->flag);
    } else if (combo & COMBO_LHS) {
        return ir_bool(L->arena, false);
    }
    if (rhs->flag != NULL) {
        Expr *other = combo & COMBO_RHS ? rhs->flag : not_(L, rhs->flag);
        return both(L, cond, other);
    }
    return combo & COMBO_RHS ? ir_bool(L->arena, false) : cond;
}

Expr *
any_combo(Lower *L, unsigned set, const Value *lhs, const Value *rhs)
{
    Expr *any = NULL;
    for (int combo = COMBO_LHS; combo <= COMBO_BOTH; combo++) {
        if (set >> combo & 1) {
            any = either(L, any, combo_cond(L, combo, lhs, rhs));
        }
    }
    return any;
}

/* --- the operators -------------------------------------------------------- */

/* One operation under way. */
typedef struct Operation {
    AOp op;
    const BinRule *rule;
    bool weak;
    Sym what;  /* NumPy's name of it; weak: NULL */
    Expr *lhs; /* the operands as they are */
    Expr *rhs;
    Expr *x; /* in the dtype of the computation, reusable */
    Expr *y;
    Expr *flag; /* of the result, or NULL */
    Loc loc;
} Operation;

/* The alternative is an int kept as a float: it must be exact, and never be
 * -0.0 ('signs': the operation can make one of two ints). 0 * -3 is 0 for ints
 * and -0.0 for floats; adding 0.0 makes 0.0 of both zeros. */
static Expr *
as_int_too(Lower *L, const Operation *o, bool signs, Expr *r)
{
    DType dt = r->dtype;
    int64_t most = INT64_C(1) << (dt == DT_F32 ? 24 : 53);
    Expr *limit = ir_float(L->arena, dt, (double)most);
    Expr *small = op2(L, E_LE, op1(L, E_ABS, r), limit);
    emit_check(L, either(L, not_(L, o->flag), small), X_SPECULATE, o->loc);
    if (signs) {
        Expr *zero = ir_float(L->arena, dt, 0.0);
        r = ir_select(L->arena, o->flag, op2(L, E_ADD, r, zero), r);
    }
    return r;
}

/* The alternative is a Python float, whose result must be a float32: the
 * operation in float64 must give the same number, or Python does the call. */
static void
check_narrow(Lower *L, const Operation *o, Op op, Expr *r)
{
    Expr *wide =
        op2(L, op, cast_to(L, DT_F64, o->lhs), cast_to(L, DT_F64, o->rhs));
    Expr *same = op2(L, E_EQ, cast_to(L, DT_F64, r), wide);
    emit_check(L, either(L, not_(L, o->flag), same), X_SPECULATE, o->loc);
}

/* An operation of floats. NumPy's warns; under the flag the result is also
 * Python's, which must be the same number. */
static Expr *
float_arith(Lower *L, const Operation *o, Op op)
{
    Expr *r = op2(L, op, o->x, o->y);
    if (!o->weak) {
        r = with_warnings(L, r, o->what, o->flag, o->loc);
    }
    if (o->flag == NULL) {
        return r;
    }
    r = reuse(L, r, o->loc);
    if (o->rule->type->alt == ALT_INT) {
        return as_int_too(L, o, op == E_MUL, r);
    }
    if (r->dtype == DT_F32) {
        check_narrow(L, o, op, r);
    }
    return r;
}

/* + - * in one dtype. Python's ints check for overflow, NumPy's wrap, and its
 * scalars' own arithmetic warns; bools are logic. */
static Expr *
arith(Lower *L, const Operation *o, Op op, Op overflow)
{
    DType dt = o->rule->compute;
    if (dtype_is_float(dt)) {
        return float_arith(L, o, op);
    }
    if (dt == DT_BOOL) {
        return op2(L, op == E_ADD ? E_OR : E_AND, o->x, o->y);
    }
    Expr *over = op2(L, overflow, o->x, o->y);
    Expr *r = op2(L, op, o->x, o->y);
    if (o->flag != NULL) {
        over = reuse(L, over, o->loc);
        check_if_int(L, o->flag, not_(L, over), o->loc);
    }
    if (o->weak) {
        emit_check(L, not_(L, over), X_OVERFLOW, o->loc);
        if (op != E_SUB && is_nonnegative(L, o->x) && is_nonnegative(L, o->y)) {
            map_set(&L->nonnegative, r, r);
        }
    } else if (is_scalar_name(o->what)) {
        emit_warn(L, over, WARN_OVERFLOW, o->what, o->loc);
    }
    return r;
}

/* A constant divisor other than zero. */
static bool
is_nonzero(const Expr *e)
{
    if (e->op != E_CONST) {
        return false;
    }
    return dtype_is_float(e->dtype) ? e->fval != 0 : e->ival != 0;
}

/* Division by zero raises for Python's numbers ('unless' NULL), and under a
 * flag for a NumPy number that may be one of Python's. */
static void
check_nonzero(Lower *L, const Operation *o, Expr *unless)
{
    if (is_nonzero(o->y)) {
        return;
    }
    Expr *cond = op2(L, E_NE, o->y, num_const(L, o->y->dtype, 0));
    emit_check(L, either(L, unless, cond), X_ZERO_DIVISION, o->loc);
}

/* True division in floats; NumPy's gives inf or nan and a warning. */
static Expr *
divide(Lower *L, const Operation *o)
{
    if (o->weak) {
        check_nonzero(L, o, NULL);
    } else if (o->flag != NULL) {
        check_nonzero(L, o, not_(L, o->flag));
    }
    return float_arith(L, o, E_DIV);
}

/* MIN // -1 overflows, and nothing else does. */
static void
check_quotient(Lower *L, const Operation *o)
{
    DType dt = o->y->dtype;
    bool safe = !dtype_is_signed(dt) ||
                (o->y->op == E_CONST && o->y->ival != -1) ||
                is_nonnegative(L, o->x) || is_nonnegative(L, o->y);
    if (!safe) {
        Expr *minus_one = ir_int(L->arena, dt, -1);
        Expr *least = ir_int(L->arena, dt, dtype_min(dt));
        Expr *ok =
            either(L, op2(L, E_NE, o->y, minus_one), op2(L, E_NE, o->x, least));
        emit_check(L, ok, X_OVERFLOW, o->loc);
    }
}

/* // and %. For NumPy's integers a zero divisor gives 0 and a warning; that is
 * left to Python by a check. Floats follow the algorithm of the side that they
 * come from; that of Python is exact for ints kept as floats. */
static Expr *
floor_divide(Lower *L, const Operation *o)
{
    bool div = o->op == AO_FLOORDIV;
    DType dt = o->rule->compute;
    if (!dtype_is_float(dt)) {
        check_nonzero(L, o, NULL);
        if (div) {
            check_quotient(L, o);
        }
        return op2(L, div ? E_IDIV : E_MOD, o->x, o->y);
    }
    if (o->weak) {
        check_nonzero(L, o, NULL);
        Fn fn = div ? FN_PYFLOORDIV : FN_PYMOD;
        Expr *r = call_fn(L, fn, dt, o->x, o->y);
        return o->flag ? as_int_too(L, o, true, reuse(L, r, o->loc)) : r;
    }
    Expr *r = call_fn(L, div ? FN_NPFLOORDIV : FN_NPMOD, dt, o->x, o->y);
    return with_warnings(L, r, o->what, o->flag, o->loc);
}

/* Python's shifts: the count must not be negative, nothing may be lost. x >> n
 * for n >= 63 is the sign, as x >> 63.  x << n lost nothing if x comes back. */
static Expr *
shift_weak(Lower *L, const Operation *o)
{
    Expr *zero = int_const(L, 0);
    Expr *most = int_const(L, 63);
    if (!is_nonnegative(L, o->y)) {
        emit_check(L, op2(L, E_LE, zero, o->y), X_VALUE, o->loc);
    }
    if (o->op == AO_RSHIFT) {
        Expr *r = op2(L, E_SHR, o->x, op2(L, E_MIN, o->y, most));
        if (is_nonnegative(L, o->x)) {
            map_set(&L->nonnegative, r, r);
        }
        return r;
    }
    if (o->y->op != E_CONST || o->y->ival > 62) {
        emit_check(L, op2(L, E_LT, o->y, most), X_OVERFLOW, o->loc);
    }
    Expr *r = reuse(L, op2(L, E_SHL, o->x, o->y), o->loc);
    Expr *back = op2(L, E_SHR, r, o->y);
    emit_check(L, op2(L, E_EQ, back, o->x), X_OVERFLOW, o->loc);
    return r;
}

/* NumPy's: a count outside of the width shifts everything out. */
static Expr *
shift_strong(Lower *L, const Operation *o)
{
    DType dt = o->rule->compute;
    int bits = 8 * dtype_size(dt);
    Op op = o->op == AO_LSHIFT ? E_SHL : E_SHR;
    if (o->y->op == E_CONST && o->y->ival >= 0 && o->y->ival < bits) {
        return op2(L, op, o->x, o->y);
    }
    Expr *zero = ir_int(L->arena, dt, 0);
    Expr *inside = op2(L, E_LT, o->y, ir_int(L->arena, dt, bits));
    if (dtype_is_signed(dt)) {
        inside = both(L, op2(L, E_LE, zero, o->y), inside);
    }
    inside = reuse(L, inside, o->loc);
    if (op == E_SHR && dtype_is_signed(dt)) {
        Expr *last = ir_int(L->arena, dt, bits - 1);
        return op2(L, op, o->x, ir_select(L->arena, inside, o->y, last));
    }
    Expr *count = ir_select(L->arena, inside, o->y, zero);
    return ir_select(L->arena, inside, op2(L, op, o->x, count), zero);
}

/* NumPy's, but under the flag Python's: the count is not negative and nothing
 * is lost. */
static Expr *
shift_maybe(Lower *L, const Operation *o, Expr *r)
{
    DType dt = o->rule->compute;
    r = reuse(L, r, o->loc);
    if (dtype_is_signed(dt)) {
        Expr *zero = ir_int(L->arena, dt, 0);
        check_if_int(L, o->flag, op2(L, E_LE, zero, o->y), o->loc);
    }
    if (o->op == AO_LSHIFT) {
        Expr *bits = ir_int(L->arena, dt, 8 * dtype_size(dt) - 1);
        check_if_int(L, o->flag, op2(L, E_LT, o->y, bits), o->loc);
        Expr *back = op2(L, E_SHR, r, op2(L, E_MIN, o->y, bits));
        check_if_int(L, o->flag, op2(L, E_EQ, back, o->x), o->loc);
    }
    return r;
}

/* The operation on operands that have been converted. */
static Expr *
compute(Lower *L, const Operation *o)
{
    switch ((int)o->op) {
    case AO_ADD:
        return arith(L, o, E_ADD, E_ADDO);
    case AO_SUB:
        return arith(L, o, E_SUB, E_SUBO);
    case AO_MUL:
        return arith(L, o, E_MUL, E_MULO);
    case AO_DIV:
        return divide(L, o);
    case AO_FLOORDIV:
    case AO_MOD:
        return floor_divide(L, o);
    case AO_LSHIFT:
    case AO_RSHIFT:
        return o->weak ? shift_weak(L, o)
               : o->flag ? shift_maybe(L, o, shift_strong(L, o))
                         : shift_strong(L, o);
    case AO_BITAND: {
        Expr *r = op2(L, E_AND, o->x, o->y);
        if (o->x->dtype == DT_I64 &&
            (is_nonnegative(L, o->x) || is_nonnegative(L, o->y))) {
            map_set(&L->nonnegative, r, r);
        }
        return r;
    }
    case AO_BITOR:
        return op2(L, E_OR, o->x, o->y);
    case AO_BITXOR:
        return op2(L, E_XOR, o->x, o->y);
    default:
        return compare_exprs(L, o->op, o->x, o->y);
    }
}

/* --- operands of one operation -------------------------------------------- */

/* A Python int, which may be larger than a double can tell. */
static bool
is_int_operand(const Value *v)
{
    return v->type->weak && v->type->dtype == DT_I64;
}

/* Could the operand be a Python int, as int or bool? Then an operation with an
 * int is one of two ints, which Python does exactly. */
static bool
may_be_int(const Value *v)
{
    bool is_bool = v->type->weak && v->type->dtype == DT_BOOL;
    return is_int_operand(v) || is_bool || v->type->alt == ALT_INT ||
           v->type->alt == ALT_BOOL;
}

/* Python compares an int with a float, and divides two ints, exactly; that is
 * what doubles do only up to 2**53: 2**53 + 1 == 2.0**53 is false, but as
 * doubles they are equal. */
static bool
must_be_exact(AOp op, const BinRule *rule, const Value *v, const Value *other)
{
    if (!is_int_operand(v) || !dtype_is_float(rule->compute)) {
        return false;
    }
    if (rule->type->alt == ALT_INT) {
        return true;
    }
    if (op == AO_DIV) {
        return may_be_int(other);
    }
    bool weak_float = other->type->weak && dtype_is_float(other->type->dtype);
    return op_is_compare(op) && (weak_float || other->type->alt == ALT_INT ||
                                 other->type->alt == ALT_FLOAT);
}

/* A NumPy integer, of which doubles are told, that may be Python's int, which
 * divides and compares exactly. */
static void
check_maybe_int(Lower *L, AOp op, const BinRule *rule, const Value *v,
                Expr *e, Loc loc)
{
    if (v->flag == NULL || v->type->alt != ALT_INT || v->type->weak ||
        !dtype_is_int(v->type->dtype) || !dtype_is_float(rule->compute) ||
        (op != AO_DIV && !op_is_compare(op))) {
        return;
    }
    Expr *exact = exact_int(L, e, rule->compute);
    if (exact != NULL) {
        emit_check(L, either(L, not_(L, v->flag), exact), X_SPECULATE, loc);
    }
}

/* Comparisons of integers convert without a range check: they are exact for any
 * size. */
Expr *
convert_operand(Lower *L, AOp op, const BinRule *rule, const Value *v,
                const Value *other, Loc loc)
{
    DType dt = rule->compute;
    Value copy = *v;
    if (op_is_compare(op) && dt == DT_BOOL) {
        dt = DT_I64;
    }
    if (must_be_exact(op, rule, v, other)) {
        copy.expr = reuse(L, v->expr, loc);
        emit_check(L, exact_int(L, copy.expr, dt), X_SPECULATE, loc);
    }
    check_maybe_int(L, op, rule, v, copy.expr, loc);
    Expr *e = op_is_compare(op) && !dtype_is_float(dt)
                  ? cast_to(L, dt, copy.expr)
                  : operand_as(L, copy, dt, loc);
    return reuse(L, e, loc);
}

/* The rule gives the result's type and what must not occur; the operands are
 * evaluated, named and converted; then one operator is left. */
Value
num_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    lhs = some(L, lhs, loc);
    rhs = some(L, rhs, loc);
    BinRule rule = rule_binop(L->arena, op, lhs.type, rhs.type,
                              (L->approx & RELAX_F32) != 0);
    if (rule.type == NULL) {
        fatal("lower: no rule for `%s`", op_text(op));
    }
    Expr *bad = any_combo(L, rule.refused, &lhs, &rhs);
    if (bad != NULL) {
        emit_check(L, not_(L, bad), X_SPECULATE, loc);
    }
    if (op == AO_POW) {
        return num_power(L, lhs, rhs, &rule, loc);
    }
    if (rule.mixed) {
        Expr *holds = compare_signs(L, op, lhs.expr, rhs.expr, loc);
        return num_value(rule.type, holds);
    }
    Operation o = {.op = op, .rule = &rule, .loc = loc};
    o.weak = rule.type->weak;
    o.what = o.weak ? NULL : warn_name(L, op, lhs.type, rhs.type);
    if (rule.type->alt != ALT_NEVER) {
        o.flag = reuse(
            L, flag_or_false(L, any_combo(L, rule.flagged, &lhs, &rhs)), loc);
    }
    o.lhs = lhs.expr = reuse(L, lhs.expr, loc);
    o.rhs = rhs.expr = reuse(L, rhs.expr, loc);
    o.x = convert_operand(L, op, &rule, &lhs, &rhs, loc);
    o.y = convert_operand(L, op, &rule, &rhs, &lhs, loc);
    Expr *e = compute(L, &o);
    e = rule.apart ? compare_apart(L, op, &rule, &lhs, &rhs, e, loc) : e;
    Value out = num_value(rule.type, e);
    out.flag = o.flag;
    return out;
}
