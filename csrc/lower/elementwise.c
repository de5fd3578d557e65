/* Element-wise operators on arrays in memory.
 *
 *     img * 0.5 + bias        map(+, map(*, img, 0.5), bias)
 *
 * The element of a result is computed by the same code as a lane of a vector
 * (vec.c), on scalars.  In addition there is what vectors leave out: integers
 * divided by zero, which give 0 and a warning, shifts by any count, and
 * comparisons of uint64 with signed integers.
 *
 * Numbers among the operands are converted once, before the loops.  A Python
 * int must fit the dtype of the array; where it may not, a check replays the
 * call, and Python raises OverflowError.
 */
#include "csrc/lower/state.h"

/* --- elements ------------------------------------------------------------- */

/* x // y and x % y of integers: 0 where y is, and the least integer by -1 is
 * itself. A constant divisor that is positive needs no care. */
static Expr *
divide_ints(Lower *L, AOp op, Expr *x, Expr *y, Loc loc)
{
    Op node = op == AO_FLOORDIV ? E_IDIV : E_MOD;
    if (y->op == E_CONST && y->ival > 0) {
        return op2(L, node, x, y);
    }
    DType dt = y->dtype;
    x = reuse(L, x, loc);
    y = reuse(L, y, loc);
    Expr *zero = ir_int(L->arena, dt, 0);
    Expr *one = ir_int(L->arena, dt, 1);
    Expr *none = reuse(L, op2(L, E_EQ, y, zero), loc);
    Expr *odd = none;
    Sym what = array_warn_name(L, op);
    emit_warn(L, none, WARN_DIVIDE, what, loc);
    if (dtype_is_signed(dt)) {
        Expr *least = ir_int(L->arena, dt, dtype_min(dt));
        Expr *over = both(L, op2(L, E_EQ, x, least),
                          op2(L, E_EQ, y, ir_int(L->arena, dt, -1)));
        over = reuse(L, over, loc);
        if (op == AO_FLOORDIV) {
            emit_warn(L, over, WARN_OVERFLOW, what, loc);
        }
        odd = reuse(L, either(L, none, over), loc);
    }
    Expr *by = ir_select(L->arena, odd, one, y);
    return ir_select(L->arena, none, zero, op2(L, node, x, by));
}

/* NumPy's: a count outside of the width shifts everything out. */
static Expr *
shift(Lower *L, AOp op, Expr *x, Expr *y, Loc loc)
{
    DType dt = x->dtype;
    int bits = 8 * dtype_size(dt);
    Op node = op == AO_LSHIFT ? E_SHL : E_SHR;
    if (y->op == E_CONST && y->ival >= 0 && y->ival < bits) {
        return op2(L, node, x, y);
    }
    y = reuse(L, y, loc);
    Expr *zero = ir_int(L->arena, dt, 0);
    Expr *inside = op2(L, E_LT, y, ir_int(L->arena, dt, bits));
    if (dtype_is_signed(dt)) {
        inside = both(L, op2(L, E_LE, zero, y), inside);
    }
    inside = reuse(L, inside, loc);
    if (node == E_SHR && dtype_is_signed(dt)) {
        Expr *last = ir_int(L->arena, dt, bits - 1);
        return op2(L, node, x, ir_select(L->arena, inside, y, last));
    }
    Expr *count = ir_select(L->arena, inside, y, zero);
    return ir_select(L->arena, inside, op2(L, node, x, count), zero);
}

/* An element of a binary operator, of operands in the dtype of computation. A
 * lane of a vector that would need care is no case for vectors. */
Expr *
element_binop(Lower *L, AOp op, DType dt, Expr *x, Expr *y, Loc loc)
{
    bool scalars = x->lanes == 0 && y->lanes == 0;
    bool ints = !dtype_is_float(dt);
    if (dtype_is_complex(dt)) {
        return pair_binop(L, op, x, y, loc);
    }
    if ((op == AO_FLOORDIV || op == AO_MOD) && ints && scalars) {
        return divide_ints(L, op, x, y, loc);
    }
    if ((op == AO_LSHIFT || op == AO_RSHIFT) && scalars) {
        return shift(L, op, x, y, loc);
    }
    Expr *r = vec_compute(L, op, dt, x, y);
    return op_is_compare(op)
               ? r
               : with_warnings(L, r, array_warn_name(L, op), NULL, loc);
}

/* The same of elements that are still to be converted, as C casts. */
static Expr *
binary_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Expr *x = vec_cast(L, z->compute, args[0], z->loc);
    Expr *y = vec_cast(L, z->compute, args[1], z->loc);
    return element_binop(L, (AOp)z->id, z->compute, x, y, z->loc);
}

/* A comparison of uint64 with a signed dtype: each as it is. */
static Expr *
mixed_element(Lower *L, const Lazy *z, Expr *const *args)
{
    return compare_signs(L, (AOp)z->id, args[0], args[1], z->loc);
}

/* -x, +x, ~x */
static Expr *
unary_element(Lower *L, const Lazy *z, Expr *const *args)
{
    return vec_unary(L, (AOp)z->id, args[0]);
}

/* x to a constant power; "data" is the Type of the exponent. */
static Expr *
power_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Expr *x = vec_cast(L, z->compute, args[0], z->loc);
    return with_warnings(L, vec_power(L, z->data, x, z->loc),
                         power_warn_name(args[0]->dtype, z->data), NULL,
                         z->loc);
}

/* x ** y of integers, which wraps: as that of int64, of which narrower ones are
 * the last bits. */
static Expr *
int_power_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Expr *x = cast_to(L, DT_I64, cast_to(L, z->compute, args[0]));
    Expr *y = cast_to(L, DT_I64, args[1]);
    Expr *e = call_fn(L, FN_IPOW, DT_I64, x, y);
    return cast_to(L, z->compute, e);
}

/* |x|; the least integer stays what it is. */
static Expr *
abs_element(Lower *L, const Lazy *z, Expr *const *args)
{
    (void)z;
    Expr *x = args[0];
    return x->dtype == DT_BOOL ? x : op1(L, E_ABS, x);
}

/* A cast, as by astype. */
static Expr *
cast_element(Lower *L, const Lazy *z, Expr *const *args)
{
    return vec_cast(L, z->dtype, args[0], z->loc);
}

/* --- trees ---------------------------------------------------------------- */

/* An operand: an array, or a number in the dtype of the computation. */
const Lazy *
lazy_operand(Lower *L, AOp op, Value v, DType dtype, Loc loc)
{
    if (v.type->kind == TY_ARRAY) {
        return lazy_of(L, v, loc);
    }
    return lazy_number(L, vec_operand(L, op, v, dtype, loc), loc);
}

/* Integers to a power of the run; a negative one is an error. */
static const Lazy *
int_power(Lower *L, Value lhs, Value rhs, DType dt, Loc loc)
{
    Value number = hold_value(L, rhs, loc);
    if (dtype_is_signed(number.type->dtype)) {
        Expr *zero = num_const(L, number.type->dtype, 0);
        emit_check(L, op2(L, E_LE, zero, number.expr), X_VALUE, loc);
    }
    const Lazy *args[] = {lazy_of(L, lhs, loc),
                          lazy_operand(L, AO_POW, number, dt, loc)};
    return lazy_map(L, int_power_element, AO_POW, dt, dt, args, 2, loc);
}

/* 'lhs' op 'rhs', at least one of them an array; 'in_place' into 'lhs'. */
static const Lazy *
binop_tree(Lower *L, AOp op, Value lhs, Value rhs, bool in_place, Loc loc)
{
    BinRule rule = rule_array(L->arena, op, lhs.type, rhs.type);
    if (rule.type == NULL) {
        fatal("lower: no rule for `%s` of arrays", op_text(op));
    }
    DType dt = rule.compute;
    if (op == AO_POW && dtype_is_complex(dt)) {
        return lazy_pair_power(L, lhs, rhs, dt, loc);
    }
    if (op == AO_POW && dtype_is_int(dt) && !rhs.type->known) {
        return int_power(L, lhs, rhs, dt, loc);
    }
    if (op == AO_POW) {
        const Lazy *base = lazy_of(L, lhs, loc);
        Lazy *z = lazy_map(L, power_element, (int)op, dt, rule.type->dtype,
                           &base, 1, loc);
        z->data = rhs.type;
        return z;
    }
    if (op_is_compare(op) && dt == DT_BOOL) {
        dt = DT_I64;
    }
    DType lhs_dt = rule.mixed ? lhs.type->dtype : dt;
    DType rhs_dt = rule.mixed ? rhs.type->dtype : dt;
    const Lazy *args[] = {
        lazy_operand(L, op, vec_settle(L, op, lhs, rhs.type, rule_array),
                     lhs_dt, loc),
        lazy_operand(L, op, vec_settle(L, op, rhs, lhs.type, rule_array),
                     rhs_dt, loc),
    };
    if (op == AO_MUL && dtype_is_complex(dt)) {
        return lazy_product(L, dt, args[0], args[1], in_place, loc);
    }
    return lazy_map(L, rule.mixed ? mixed_element : binary_element, (int)op, dt,
                    rule.type->dtype, args, 2, loc);
}

const Lazy *
lazy_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    return binop_tree(L, op, lhs, rhs, false, loc);
}

const Lazy *
lazy_augment(Lower *L, AOp op, Value lhs, Value rhs, Loc loc)
{
    return binop_tree(L, op, lhs, rhs, true, loc);
}

/* op 'arg' */
const Lazy *
lazy_unop(Lower *L, AOp op, Value arg, Loc loc)
{
    const Lazy *from = lazy_of(L, arg, loc);
    return lazy_map(L, unary_element, (int)op, from->dtype, from->dtype, &from,
                    1, loc);
}

/* The absolute values of 'arg'. */
const Lazy *
lazy_abs(Lower *L, Value arg, Loc loc)
{
    const Lazy *from = lazy_of(L, arg, loc);
    return lazy_map(L, abs_element, 0, from->dtype, from->dtype, &from, 1, loc);
}

/* 'from' in another dtype; also a copy of it. */
const Lazy *
lazy_cast(Lower *L, const Lazy *from, DType dtype, Loc loc)
{
    return lazy_map(L, cast_element, 0, dtype, dtype, &from, 1, loc);
}

/* A binary operator on arrays as a value of 'type': a vector if inference says
 * so. */
Value
array_binop(Lower *L, AOp op, Value lhs, Value rhs, const Type *type, Loc loc)
{
    if (type_is_vector(type)) {
        return vec_binop(L, op, lhs, rhs, loc);
    }
    return lazy_value(type, lazy_binop(L, op, lhs, rhs, loc));
}
