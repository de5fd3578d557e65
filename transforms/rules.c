/* The rules of rules.def.
 *
 *     select(lt(i, 0), add(i, n), i)   ->  i      where bounds know i >= 0
 *
 * One small function per row.  The engine below applies the rules of a node's
 * operator until none fits; the requirements that every rule keeps are at the
 * top of rules.def.
 */
#include <math.h>

#include "transforms/simplify.h"

/* gcc must neither fold nor replace it. */
static double (*volatile libm_pow)(double, double) = pow;

/* Integers without bool. */
static bool
is_int(const Expr *e)
{
    return dtype_is_int(e->dtype);
}

/* A constant integer or bool of that value. */
static bool
is_const_value(const Expr *e, int64_t value)
{
    int64_t found = 0;
    return ir_const_int(e, &found) && found == value;
}

/* A constant float of that value and sign: 0.0 is not -0.0. */
static bool
is_float_const(const Expr *e, double value)
{
    return e->op == E_CONST && dtype_is_float(e->dtype) &&
           e->fval == value && !signbit(e->fval) == !signbit(value);
}

/* 'value', a scalar perhaps, with the lanes of the node that it replaces: an
 * operand of a vector operation may be a scalar that goes for all lanes. */
static Expr *
as_wide(Rules *r, const Expr *e, Expr *value)
{
    return value->lanes == e->lanes ? value
                                    : ir_splat(r->arena, value, e->lanes);
}

/* A new node, simplified. */
static Expr *
make_binary(Rules *r, Op op, Expr *lhs, Expr *rhs)
{
    return rules_apply(r, ir_binary(r->arena, op, lhs, rhs));
}

/* The negation of 'arg', simplified. */
static Expr *
make_not(Rules *r, Expr *arg)
{
    return rules_apply(r, ir_unary(r->arena, E_NOT, arg));
}

/* See fold.c. */
static Expr *
fold_constant(Rules *r, Expr *e)
{
    return fold_constants(r->arena, e);
}

/* --- order and constants ------------------------------------------------- */

/* Constants stand right, where the other rules look for them. Commutative
 * operators only; x + 1.0 and 1.0 + x are the same float, but for which of two
 * nans comes out, and a constant is none. */
static Expr *
const_right(Rules *r, Expr *e)
{
    if (e->args[0]->op != E_CONST || e->args[1]->op == E_CONST) {
        return NULL;
    }
    return ir_binary(r->arena, e->op, e->args[1], e->args[0]);
}

/* Integers: 0.0 + -0.0 is 0.0. */
static Expr *
add_zero(Rules *r, Expr *e)
{
    return is_const_value(e->args[1], 0) ? as_wide(r, e, e->args[0]) : NULL;
}

/* x + c or x - c with a constant c: its operand and the signed constant. */
static Expr *
split_sum(const Expr *e, uint64_t *constant)
{
    int64_t value = 0;
    if ((e->op != E_ADD && e->op != E_SUB) ||
        !ir_const_int(e->args[1], &value)) {
        return NULL;
    }
    *constant = e->op == E_ADD ? (uint64_t)value : 0 - (uint64_t)value;
    return e->args[0];
}

/* (x + a) + b -> x + (a + b), with the constants added as the dtype wraps,
 * which is exact modulo 2^n. Also the normal form of one constant: x + -1 -> x
 * - 1. */
static Expr *
add_chain(Rules *r, Expr *e)
{
    uint64_t outer = 0;
    uint64_t inner = 0;
    Expr *arg = split_sum(e, &outer);
    if (arg == NULL || !is_int(e)) {
        return NULL;
    }
    Expr *base = split_sum(arg, &inner);
    int64_t sum = ir_wrap(e->dtype, (int64_t)(outer + inner));
    bool minus = dtype_is_signed(e->dtype) && sum < 0 &&
                 sum != dtype_min(e->dtype);
    if (base == NULL && (e->op == E_SUB) == minus) {
        return NULL;
    }
    base = base == NULL ? arg : base;
    Expr *constant = ir_int(r->arena, e->dtype, minus ? -sum : sum);
    return ir_binary(r->arena, minus ? E_SUB : E_ADD, base, constant);
}

/* (x - y) + y and y + (x - y). */
static Expr *
add_of_sub(Rules *r, Expr *e)
{
    for (int i = 0; i < 2 && is_int(e); i++) {
        const Expr *sub = e->args[i];
        if (sub->op == E_SUB && ir_equal(sub->args[1], e->args[1 - i])) {
            return as_wide(r, e, sub->args[0]);
        }
    }
    return NULL;
}

/* (x + y) - y is x even where x + y wrapped. */
static Expr *
sub_of_add(Rules *r, Expr *e)
{
    const Expr *add = e->args[0];
    for (int i = 0; i < 2 && is_int(e) && add->op == E_ADD; i++) {
        if (ir_equal(add->args[i], e->args[1])) {
            return as_wide(r, e, add->args[1 - i]);
        }
    }
    return NULL;
}

/* x - 0 keeps x for floats too: -0.0 - 0.0 is -0.0. */
static Expr *
sub_zero(Rules *r, Expr *e)
{
    bool zero = is_const_value(e->args[1], 0) ||
                is_float_const(e->args[1], 0.0);
    return zero ? as_wide(r, e, e->args[0]) : NULL;
}

/* Integers: inf - inf is nan. */
static Expr *
sub_self(Rules *r, Expr *e)
{
    if (!is_int(e) || !ir_equal(e->args[0], e->args[1])) {
        return NULL;
    }
    return as_wide(r, e, ir_int(r->arena, e->dtype, 0));
}

/* Exact for floats too, nans included. */
static Expr *
mul_one(Rules *r, Expr *e)
{
    bool one = is_const_value(e->args[1], 1) ||
               is_float_const(e->args[1], 1.0);
    return one ? as_wide(r, e, e->args[0]) : NULL;
}

/* Integers: 0 * inf is nan, 0 * -1 is -0.0. */
static Expr *
mul_zero(Rules *r, Expr *e)
{
    return is_const_value(e->args[1], 0) ? as_wide(r, e, e->args[1]) : NULL;
}

/* Exact for floats. */
static Expr *
div_one(Rules *r, Expr *e)
{
    return is_float_const(e->args[1], 1.0) ? as_wide(r, e, e->args[0]) : NULL;
}

/* --- division and bits --------------------------------------------------- */

/* Is 0 <= e < limit known? */
static bool
is_below(Rules *r, Expr *e, int64_t limit)
{
    int64_t lo = 0;
    int64_t hi = 0;
    if (r->bounds == NULL || e->lanes != 0) {
        return false;
    }
    bounds_interval(r->bounds, e, &lo, &hi);
    return lo >= 0 && hi < limit && hi < INT64_MAX;
}

/* Divisor 1, or a dividend that the divisor exceeds. */
static Expr *
idiv_small(Rules *r, Expr *e)
{
    int64_t divisor = 0;
    if (!ir_const_int(e->args[1], &divisor) || divisor < 1) {
        return NULL;
    }
    if (divisor == 1) {
        return as_wide(r, e, e->args[0]);
    }
    return is_below(r, e->args[0], divisor) ? ir_int(r->arena, e->dtype, 0)
                                            : NULL;
}

/* Divisor 1, or a dividend that is the remainder already. */
static Expr *
mod_small(Rules *r, Expr *e)
{
    int64_t divisor = 0;
    if (!ir_const_int(e->args[1], &divisor) || divisor < 1) {
        return NULL;
    }
    if (divisor == 1) {
        return as_wide(r, e, ir_int(r->arena, e->dtype, 0));
    }
    return is_below(r, e->args[0], divisor) ? e->args[0] : NULL;
}

/* Either way. */
static Expr *
shift_zero(Rules *r, Expr *e)
{
    return is_const_value(e->args[1], 0) ? as_wide(r, e, e->args[0]) : NULL;
}

/* AND, OR, XOR with 0; with true. */
static Expr *
bits_constant(Rules *r, Expr *e)
{
    Expr *lhs = e->args[0];
    Expr *rhs = e->args[1];
    if (is_const_value(rhs, 0)) {
        return as_wide(r, e, e->op == E_AND ? rhs : lhs);
    }
    if (e->dtype != DT_BOOL || !is_const_value(rhs, 1)) {
        return NULL;
    }
    if (e->op == E_XOR) {
        return as_wide(r, e, make_not(r, lhs));
    }
    return as_wide(r, e, e->op == E_AND ? lhs : rhs);
}

/* AND and OR; x ^ x is rare. */
static Expr *
bits_self(Rules *r, Expr *e)
{
    return ir_equal(e->args[0], e->args[1]) ? as_wide(r, e, e->args[0]) : NULL;
}

/* NEG, INV and NOT undo themselves. */
static Expr *
double_unary(Rules *r, Expr *e)
{
    (void)r;
    return e->args[0]->op == e->op ? e->args[0]->args[0] : NULL;
}

/* --- conditions ---------------------------------------------------------- */

/* Nans make !(x < y) differ from y <= x, but not !(x == y) from x != y. */
static Expr *
not_compare(Rules *r, Expr *e)
{
    const Expr *arg = e->args[0];
    if (arg->op == E_EQ || arg->op == E_NE) {
        return ir_binary(r->arena, arg->op == E_EQ ? E_NE : E_EQ,
                         arg->args[0], arg->args[1]);
    }
    if ((arg->op != E_LT && arg->op != E_LE) ||
        dtype_is_float(arg->args[0]->dtype)) {
        return NULL;
    }
    return ir_binary(r->arena, arg->op == E_LT ? E_LE : E_LT, arg->args[1],
                     arg->args[0]);
}

/* A comparison with a constant bool is the bool or its negation. */
static Expr *
equal_bool(Rules *r, Expr *e)
{
    int64_t value = 0;
    if (e->args[0]->dtype != DT_BOOL || !ir_const_int(e->args[1], &value)) {
        return NULL;
    }
    Expr *arg = as_wide(r, e, e->args[0]);
    return (e->op == E_EQ) == (value != 0) ? arg : make_not(r, arg);
}

/* Integers and bools, by all that is known here. Not floats: a comparison with
 * nan raises a flag that must stay. */
static Expr *
compare_decided(Rules *r, Expr *e)
{
    const Expr *arg = e->args[0];
    if (r->bounds == NULL || e->lanes != 0 ||
        (!is_int(arg) && arg->dtype != DT_BOOL)) {
        return NULL;
    }
    if (bounds_proves(r->bounds, e)) {
        return ir_bool(r->arena, true);
    }
    return bounds_refutes(r->bounds, e) ? ir_bool(r->arena, false) : NULL;
}

/* One side is never the larger; clamps vanish so in the interior of a loop.
 * Equal sides are one for floats too. */
static Expr *
min_max_decided(Rules *r, Expr *e)
{
    Expr *lhs = e->args[0];
    Expr *rhs = e->args[1];
    if (ir_equal(lhs, rhs)) {
        return as_wide(r, e, lhs);
    }
    if (r->bounds == NULL || e->lanes != 0) {
        return NULL;
    }
    Expr *order = ir_binary(r->arena, E_LE, lhs, rhs);
    if (bounds_proves(r->bounds, order)) {
        return e->op == E_MIN ? lhs : rhs;
    }
    order = ir_binary(r->arena, E_LE, rhs, lhs);
    if (bounds_proves(r->bounds, order)) {
        return e->op == E_MIN ? rhs : lhs;
    }
    return NULL;
}

/* |x| = x for x >= 0; |-x| = |x| for floats, where NEG loses nothing. */
static Expr *
abs_decided(Rules *r, Expr *e)
{
    Expr *arg = e->args[0];
    if (arg->op == E_ABS) {
        return arg;
    }
    if (arg->op == E_NEG && dtype_is_float(e->dtype)) {
        return ir_unary(r->arena, E_ABS, arg->args[0]);
    }
    return is_int(e) && is_below(r, arg, INT64_MAX) ? arg : NULL;
}

/* The condition is known outright. */
static Expr *
select_constant(Rules *r, Expr *e)
{
    int64_t cond = 0;
    if (!ir_const_int(e->args[0], &cond)) {
        return NULL;
    }
    return as_wide(r, e, e->args[cond != 0 ? 1 : 2]);
}

/* Whatever the condition is. */
static Expr *
select_same(Rules *r, Expr *e)
{
    return ir_equal(e->args[1], e->args[2]) ? as_wide(r, e, e->args[1]) : NULL;
}

/* Selects of bools are logic where an arm is constant or the condition
 * itself, as 'a and b' and 'a or b' make them; both sides of AND and OR
 * are evaluated, as both arms of a SELECT are. */
static Expr *
select_bool(Rules *r, Expr *e)
{
    Expr *cond = e->args[0];
    Expr *yes = e->args[1];
    Expr *no = e->args[2];
    if (e->dtype != DT_BOOL || cond->lanes != e->lanes) {
        return NULL;
    }
    if (yes->op == E_CONST) {
        return yes->ival != 0 ? make_binary(r, E_OR, cond, no)
            : make_binary(r, E_AND, make_not(r, cond), no);
    }
    if (no->op == E_CONST) {
        return no->ival == 0 ? make_binary(r, E_AND, cond, yes)
            : make_binary(r, E_OR, make_not(r, cond), yes);
    }
    if (ir_equal(cond, no)) {
        return make_binary(r, E_AND, cond, yes);
    }
    return ir_equal(cond, yes) ? make_binary(r, E_OR, cond, no) : NULL;
}

/* One form of the condition for rules and equality. */
static Expr *
select_not(Rules *r, Expr *e)
{
    const Expr *cond = e->args[0];
    if (cond->op != E_NOT) {
        return NULL;
    }
    return ir_select(r->arena, cond->args[0], e->args[2], e->args[1]);
}

/* The condition is known by bounds. */
static Expr *
select_decided(Rules *r, Expr *e)
{
    if (r->bounds == NULL || e->args[0]->lanes != 0) {
        return NULL;
    }
    if (bounds_proves(r->bounds, e->args[0])) {
        return as_wide(r, e, e->args[1]);
    }
    return bounds_refutes(r->bounds, e->args[0]) ? as_wide(r, e, e->args[2])
                                                 : NULL;
}

/* --- casts --------------------------------------------------------------- */

/* A cast to the dtype that it has already. */
static Expr *
cast_same(Rules *r, Expr *e)
{
    (void)r;
    return e->args[0]->dtype == e->dtype ? e->args[0] : NULL;
}

/* Does every value of 'from' survive in 'to'? */
static bool
holds_all(DType from, DType to)
{
    if (from == to) {
        return true;
    }
    if (dtype_is_float(from)) {
        return from == DT_F32 && to == DT_F64;
    }
    if (dtype_is_float(to)) {
        int bits = 8 * dtype_size(from) - (dtype_is_signed(from) ? 1 : 0);
        return from == DT_BOOL || bits <= (to == DT_F32 ? 24 : 53);
    }
    return to != DT_BOOL && dtype_min(from) >= dtype_min(to) &&
           dtype_max(from) <= dtype_max(to);
}

/* The inner cast is dropped if it keeps every value.  f64 -> f32 -> f64 and
 * the like round and stay; so does a cast through float to a narrower int,
 * whose result out of range is not the wrapped one. */
static Expr *
cast_chain(Rules *r, Expr *e)
{
    const Expr *inner = e->args[0];
    if (inner->op != E_CAST) {
        return NULL;
    }
    DType from = inner->args[0]->dtype;
    bool safe = !dtype_is_float(inner->dtype) || dtype_is_float(e->dtype) ||
                holds_all(from, e->dtype);
    if (!holds_all(from, inner->dtype) || !safe) {
        return NULL;
    }
    return ir_at(ir_cast(r->arena, e->dtype, inner->args[0]), e->loc);
}

/* Half a coordinate, as where pictures are made twice as large. */
static Expr *
cast_of_quotient(Rules *r, Expr *e)
{
    int shift = 0;
    Var *var =
        r->bounds != NULL ? bounds_halved(r->bounds, e, &shift) : NULL;
    if (var == NULL) {
        return NULL;
    }
    Expr *by = ir_int(r->arena, DT_I64, INT64_C(1) << shift);
    return ir_binary(r->arena, E_IDIV, ir_ref(r->arena, var), by);
}

/* Integers only: a float's comparison with 0 may raise a flag for nan. */
static Expr *
cast_to_bool(Rules *r, Expr *e)
{
    Expr *arg = e->args[0];
    if (e->dtype != DT_BOOL || !is_int(arg)) {
        return NULL;
    }
    return make_binary(r, E_NE, arg, ir_int(r->arena, arg->dtype, 0));
}

/* --- memory, calls ------------------------------------------------------- */

/* Arguments keep theirs as E_DIM; what was made has it in Vars that are
 * visible wherever the buffer is, or as the extent of an argument. */
static Expr *
dim_known(Rules *r, Expr *e)
{
    Expr *dim = ir_extent(e->buf, e->axis);
    (void)r;
    return dim->op == E_DIM && dim->buf == e->buf && dim->axis == e->axis
               ? NULL
               : dim;
}

/* Functions that are one exact instruction, and raise nothing for these
 * arguments; powers where the result is exact, by libm itself. */
static bool
call_value(Fn fn, double x, double *out)
{
    switch (fn) {
    case FN_SQRT:
        *out = sqrt(x);
        return x >= 0;
    case FN_FLOOR:
        *out = floor(x);
        return true;
    case FN_CEIL:
        *out = ceil(x);
        return true;
    case FN_TRUNC:
        *out = trunc(x);
        return true;
    case FN_RINT:
        *out = rint(x);
        return true;
    case FN_SQUARE:
        *out = libm_pow(x, 2.0);
        return *out > 1e-200 && fma(x, x, -*out) == 0;
    case FN_ROOT:
        *out = libm_pow(x, 0.5);
        return *out > 1e-100 && fma(*out, *out, -x) == 0;
    default:
        return false;
    }
}

/* sqrt of an f32 through double is correctly rounded: 53 >= 2*24 + 2. */
static Expr *
fold_call(Rules *r, Expr *e)
{
    double value = 0;
    if (e->nargs != 1 || e->args[0]->op != E_CONST || e->lanes != 0 ||
        !dtype_is_float(e->args[0]->dtype)) {
        return NULL;
    }
    double arg = e->args[0]->fval;
    switch (e->fn) {
    case FN_FINITE:
        return ir_bool(r->arena, isfinite(arg));
    case FN_ISINF:
        return ir_bool(r->arena, isinf(arg));
    case FN_ISNAN:
        return ir_bool(r->arena, isnan(arg));
    default:
        break;
    }
    if (!isfinite(arg) || !call_value(e->fn, arg, &value)) {
        return NULL;
    }
    return ir_float(r->arena, e->dtype, value);
}

/* --- the engine ---------------------------------------------------------- */

typedef Expr *(*RuleFn)(Rules *r, Expr *e);

/* A row of rules.def: for nodes of "op", a function that gives a better node,
 * or NULL where it does not fit. */
typedef struct RuleRow {
    Op op;
    RuleFn apply;
} RuleRow;

/* Sorted by operator, as rules.def is. */
static const RuleRow rows[] = {
#define RULE(op, function, purpose) {E_##op, function},
#include "transforms/rules.def"
#undef RULE
};

enum {
    ROW_COUNT = (int)(sizeof(rows) / sizeof(rows[0])),
    MAX_APPLIED = 16 /* more rules than any node needs */
};

/* The first rule of e's operator that fits; NULL: none. */
static Expr *
apply_one(Rules *r, Expr *e)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].op == e->op) {
            Expr *better = rows[i].apply(r, e);
            if (better != NULL) {
                return better;
            }
        }
    }
    return NULL;
}

/* A rule's result is looked at again until none fits. New nodes get the
 * place of the one that they replace. */
Expr *
rules_apply(Rules *r, Expr *e)
{
    for (int n = 0; n < MAX_APPLIED; n++) {
        Expr *better = apply_one(r, e);
        if (better == NULL) {
            return e;
        }
        if (better->loc.line == 0) {
            better->loc = e->loc;
        }
        r->changes++;
        e = better;
    }
    return e;
}
