/* Numbers: operators of one operand, and truth.
 *
 *     -a  +a  ~a  abs(a)      the dtype stays, and the flag of a maybe-type
 *     bool(a)                 a comparison with zero
 *
 * The least integer has no positive counterpart: Python's ints are checked not
 * to be it, NumPy's warn and wrap.  An integer that may be either is checked
 * where its flag says that it is Python's.
 */
#include "csrc/lower/list.h"

/* If the number is Python's int, 'holds' must be true: Python then repeats the
 * call with integers that have no bounds. */
void
check_if_int(Lower *L, Expr *flag, Expr *holds, Loc loc)
{
    emit_check(L, either(L, not_(L, flag), holds), X_OVERFLOW, loc);
}

/* --- one operand ---------------------------------------------------------- */

/* -x of an int kept as a float must not become -0.0. */
static Expr *
negate(Lower *L, const Value *arg, Expr *x, Loc loc)
{
    DType dt = x->dtype;
    if (dtype_is_float(dt)) {
        if (arg->type->alt == ALT_INT && arg->flag != NULL) {
            Expr *zero = ir_float(L->arena, dt, 0.0);
            return ir_select(L->arena, arg->flag, op2(L, E_SUB, zero, x),
                             op1(L, E_NEG, x));
        }
        return op1(L, E_NEG, x);
    }
    Expr *edge = ir_int(L->arena, dt, dtype_min(dt));
    if (arg->flag != NULL) {
        Op fits = dtype_is_signed(dt) ? E_NE : E_EQ;
        check_if_int(L, arg->flag, op2(L, fits, x, edge), loc);
    }
    if (arg->type->weak) {
        if (!is_nonnegative(L, x)) {
            emit_check(L, op2(L, E_NE, x, edge), X_OVERFLOW, loc);
        }
    } else {
        Op op = dtype_is_signed(dt) ? E_EQ : E_NE;
        emit_warn(L, op2(L, op, x, edge), WARN_OVERFLOW,
                  warn_name(L, AO_NEG, arg->type, NULL), loc);
    }
    return op1(L, E_NEG, x);
}

/* Checks that the alternative is none where the rule did not keep it. */
static Value
main_unless_kept(Lower *L, Value arg, const Type *type, Loc loc)
{
    arg = some(L, arg, loc);
    if (type->alt == ALT_NEVER && arg.flag != NULL) {
        emit_check(L, not_(L, arg.flag), X_SPECULATE, loc);
        arg.flag = NULL;
    }
    return arg;
}

/* -a, +a, ~a of a number; 'type' is the result's. */
Value
num_unary(Lower *L, AOp op, Value arg, const Type *type, Loc loc)
{
    arg = main_unless_kept(L, arg, type, loc);
    Expr *x = reuse(L, cast_to(L, type->dtype, arg.expr), loc);
    Value out = {.type = type, .flag = arg.flag, .expr = x};
    if (op == AO_NEG) {
        out.expr = negate(L, &arg, x, loc);
    } else if (op == AO_INVERT) {
        out.expr = op1(L, x->dtype == DT_BOOL ? E_NOT : E_INV, x);
    }
    return out;
}

/* abs(a). The least integer has no positive counterpart. */
Value
num_abs(Lower *L, Value arg, const Type *type, Loc loc)
{
    arg = main_unless_kept(L, arg, type, loc);
    Expr *x = reuse(L, cast_to(L, type->dtype, arg.expr), loc);
    Value out = {.type = type, .flag = arg.flag, .expr = x};
    DType dt = x->dtype;
    if (dt == DT_BOOL || (dtype_is_int(dt) && is_nonnegative(L, x))) {
        return out;
    }
    out.expr = op1(L, E_ABS, x);
    if (dtype_is_int(dt)) {
        Expr *edge = ir_int(L->arena, dt, dtype_min(dt));
        if (arg.flag != NULL) {
            check_if_int(L, arg.flag, op2(L, E_NE, x, edge), loc);
        }
        if (type->weak) {
            emit_check(L, op2(L, E_NE, x, edge), X_OVERFLOW, loc);
            map_set(&L->nonnegative, out.expr, out.expr);
        } else {
            emit_warn(L, op2(L, E_EQ, x, edge), WARN_OVERFLOW,
                      sym("scalar_absolute"), loc);
        }
    }
    return out;
}

/* bool(v) as a condition: numbers are compared with zero, None is false. */
Expr *
truth_of(Lower *L, Value v, Loc loc)
{
    bool known;
    if (type_truth(v.type, &known)) {
        return ir_bool(L->arena, known);
    }
    if (v.type->kind == TY_LIST) {
        bool row = v.type->ref;
        const List *list = row      ? heap_list(L, v.type, v.expr, loc)
                           : v.list ? v.list
                                    : list_of(L, v.type);
        Expr *some = op2(L, E_LT, int_const(L, 0), list->length);
        bool none = v.type->alt == ALT_NONE && v.flag != NULL;
        return none ? both(L, not_(L, v.flag), some) : some;
    }
    if (v.type->kind == TY_EITHER) {
        Expr *is = truth_of(L, v.items[0], loc);
        return v.flag ? both(L, not_(L, v.flag), is) : is;
    }
    if (type_is_pack(v.type)) { /* or None */
        Expr *none = flag_or_false(L, v.flag);
        bool empty = v.type->kind == TY_TUPLE && v.type->rank == 0;
        return empty ? ir_bool(L->arena, false) : not_(L, none);
    }
    if (v.type->kind == TY_ARRAY) {
        Expr *zero = int_const(L, 0);
        return cast_to(L, DT_BOOL,
                       ir_elem(L->arena, vector_of(L, v, loc), zero));
    }
    if (v.type->kind == TY_COMPLEX) {
        return complex_truth(L, v);
    }
    Expr *truth = cast_to(L, DT_BOOL, v.expr);
    if (v.type->alt == ALT_NONE && v.flag != NULL) {
        truth = both(L, not_(L, v.flag), truth);
    }
    return truth;
}
