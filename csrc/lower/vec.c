/* Small arrays: element-wise operators on vectors.
 *
 *     img[r, c] * 0.5 + bias   of an RGB image: three lanes each in
 *                              add(mul(img[r, c], 0.5), bias)
 *
 * NumPy's arrays wrap without a warning, convert by C's casts and square by
 * multiplication; a Python number that meets one must fit its dtype.  Floats
 * warn, see warn.c.
 *
 * Operands are whole vectors: a view is loaded just before, a scalar is
 * broadcast by the IR itself.  The result is a value; storing it back is the
 * business of stmt.c.  So `img[r, c] = img[r, c] * 2` reads all lanes before it
 * writes one, as NumPy does.
 *
 * Why vectors at all?  A pixel of three floats as an array in memory would be
 * allocated, filled and read back per pixel.  As lanes it is three numbers for
 * the C compiler, and pass 'vectorize' can run such a loop over the elements of
 * whole rows.
 */
#include "csrc/lower/state.h"

/* Lanes cast as NumPy casts arrays, without checks. */
Expr *
vec_cast(Lower *L, DType dtype, Expr *e, Loc loc)
{
    if (dtype_is_complex(dtype)) {
        return pair_cast(L, dtype, e, loc);
    }
    if (dtype == DT_BOOL && e->dtype != DT_BOOL) {
        return op2(L, E_NE, e, num_const(L, e->dtype, 0));
    }
    return cast_with_warnings(L, dtype, e, loc);
}

/* The lanes of an array: loaded now, or the register itself. */
Expr *
vector_of(Lower *L, Value v, Loc loc)
{
    (void)loc;
    return v.view != NULL ? view_load_vector(L, v.view) : v.expr;
}

/* A number that may be one of Python's: where that gives the same result, the
 * flag need not be looked at. Both readings must have a rule with one dtype of
 * computation and of result. */
Value
vec_settle(Lower *L, AOp op, Value v, const Type *other, ArrayRule *rule)
{
    Plain alt;
    if (v.flag == NULL || v.type->kind != TY_NUM ||
        !type_plain_alt(v.type, &alt)) {
        return v;
    }
    const Type *main = type_num(L->arena, v.type->dtype, v.type->weak);
    const Type *number = type_num(L->arena, alt.dtype, alt.weak);
    BinRule one = rule(L->arena, op, main, other);
    BinRule two = rule(L->arena, op, number, other);
    bool same = one.type != NULL && two.type != NULL && !one.mixed &&
                !two.mixed && one.compute == two.compute &&
                one.type->dtype == two.type->dtype;
    v.flag = same ? NULL : v.flag;
    return v;
}

/* A number that fits, in the dtype of the operation. */
Expr *
vec_operand(Lower *L, AOp op, Value v, DType dtype, Loc loc)
{
    if (dtype_is_complex(dtype)) {
        return pair_operand(L, v, dtype, loc);
    }
    v = some(L, v, loc);
    if (v.flag != NULL) {
        emit_check(L, not_(L, v.flag), X_SPECULATE, loc);
    }
    return op_is_compare(op) && !dtype_is_float(dtype)
               ? cast_to(L, dtype, v.expr)
               : operand_as(L, v, dtype, loc);
}

/* A vector's lanes, or a number. */
static Expr *
operand_of(Lower *L, AOp op, Value v, DType dtype, Loc loc)
{
    if (v.type->kind == TY_ARRAY) {
        return vec_cast(L, dtype, vector_of(L, v, loc), loc);
    }
    return vec_operand(L, op, v, dtype, loc);
}

/* x * x * ... of integers, which wrap; 'n' is not negative. By squaring: any
 * order of factors gives the same modulo 2**bits. */
static Expr *
product(Lower *L, Expr *x, int64_t n, Loc loc)
{
    Expr *one = num_const(L, x->dtype, 1);
    Expr *r = x->lanes ? ir_splat(L->arena, one, x->lanes) : one;
    for (bool first = true; n > 0; n >>= 1) {
        if (n & 1) {
            r = first ? x : reuse(L, op2(L, E_MUL, r, x), loc);
            first = false;
        }
        x = n > 1 ? reuse(L, op2(L, E_MUL, x, x), loc) : x;
    }
    return r;
}

/* x to a known power that inference lets through: those that NumPy computes by
 * another function than its pow (2: square, 0.5: sqrt, -1: reciprocal). */
Expr *
vec_power(Lower *L, const Type *exponent, Expr *x, Loc loc)
{
    bool whole = exponent->dtype == DT_I64;
    double n = whole ? (double)exponent->ival : exponent->fval;
    x = reuse(L, x, loc);
    if (!dtype_is_float(x->dtype)) {
        return product(L, x, exponent->ival, loc);
    }
    if (n == 0.5) {
        return call_fn(L, FN_SQRT, x->dtype, x, NULL);
    }
    if (n == -1.0) {
        return op2(L, E_DIV, num_const(L, x->dtype, 1), x);
    }
    return n == 1.0 ? x : op2(L, E_MUL, x, x);
}

/* One element-wise operator on lanes of dtype 'dt'; either operand may be a
 * scalar. */
Expr *
vec_compute(Lower *L, AOp op, DType dt, Expr *x, Expr *y)
{
    bool floats = dtype_is_float(dt);
    switch ((int)op) {
    case AO_ADD:
        return op2(L, dt == DT_BOOL ? E_OR : E_ADD, x, y);
    case AO_SUB:
        return op2(L, E_SUB, x, y);
    case AO_MUL:
        return op2(L, dt == DT_BOOL ? E_AND : E_MUL, x, y);
    case AO_DIV:
        return op2(L, E_DIV, x, y);
    case AO_FLOORDIV:
        return floats ? call_fn(L, FN_NPFLOORDIV, dt, x, y)
                      : op2(L, E_IDIV, x, y);
    case AO_MOD:
        return floats ? call_fn(L, FN_NPMOD, dt, x, y) : op2(L, E_MOD, x, y);
    case AO_LSHIFT:
        return op2(L, E_SHL, x, y);
    case AO_RSHIFT:
        return op2(L, E_SHR, x, y);
    case AO_BITAND:
        return op2(L, E_AND, x, y);
    case AO_BITOR:
        return op2(L, E_OR, x, y);
    case AO_BITXOR:
        return op2(L, E_XOR, x, y);
    case AO_EQ:
    case AO_NE:
    case AO_LT:
    case AO_LE:
    case AO_GT:
    case AO_GE:
        return compare_exprs(L, op, x, y);
    default:
        fatal("lower: no element-wise `%s`", op_text(op));
    }
}

/* At least one operand is an array. Comparisons of bools are done on integers,
 * since bool has no order in the IR. */
Value
vec_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    BinRule rule = rule_vector(L->arena, op, lhs.type, rhs.type);
    if (rule.type == NULL) {
        fatal("lower: no rule for element-wise `%s`", op_text(op));
    }
    DType dt = rule.compute;
    if (op_is_compare(op) && dt == DT_BOOL) {
        dt = DT_I64;
    }
    Value x_value = vec_settle(L, op, lhs, rhs.type, rule_vector);
    Value y_value = vec_settle(L, op, rhs, lhs.type, rule_vector);
    Expr *x = operand_of(L, op, x_value, dt, loc);
    Expr *r;
    if (op == AO_POW) {
        r = vec_power(L, rhs.type, x, loc);
    } else {
        r = vec_compute(L, op, dt, x, operand_of(L, op, y_value, dt, loc));
    }
    if (!op_is_compare(op)) {
        Sym what = op == AO_POW && lhs.type->kind == TY_ARRAY
                       ? power_warn_name(lhs.type->dtype, rhs.type)
                       : array_warn_name(L, op);
        r = with_warnings(L, r, what, NULL, loc);
    }
    return num_value(rule.type, r);
}

/* -a wraps for unsigned integers, as in NumPy. */
Expr *
vec_unary(Lower *L, AOp op, Expr *x)
{
    Op node = op == AO_NEG ? E_NEG : x->dtype == DT_BOOL ? E_NOT : E_INV;
    return op == AO_POS ? x : op1(L, node, x);
}
