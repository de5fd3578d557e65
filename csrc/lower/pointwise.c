/* Functions that work element by element, by the rules of
 * typeinfer/pointwise.c.
 *
 *     np.sqrt(a)               for each element sqrt
 *     np.where(c, a, 0)        for each element c ? a : 0
 *
 * One piece of code computes an element of an array, the lanes of a vector and
 * a number alike: only the operands differ.  Functions of NumPy give what its
 * inner loops give and never raise; nan and inf come with a warning, for which
 * the host watches the FPU.
 *
 * What the loops do with zeros of both signs and with nan is part of the
 * result: of two equal operands np.minimum takes the second, np.sign(-0.0) is
 * 0.0, a bound of np.clip that is nan wins.
 */
#include <math.h>
#include <string.h>

#include "csrc/lower/state.h"

/* A call under way: what an element is computed from. */
typedef struct Ufunc {
    BuiltinId id;
    UfuncRule rule;
    unsigned given;    /* bit per argument that is there */
    unsigned arrays;   /* bit per argument that is an array */
    int decimals;      /* of np.round */
    unsigned no_nan;   /* bit per argument that surely isn't nan */
} Ufunc;

/* --- one operand ---------------------------------------------------------- */

/* A number of the dtype of 'x'. */
static Expr *
number(Lower *L, const Expr *x, double value)
{
    return num_const(L, x->dtype, value);
}

/* isnan and its kin; integers are finite, so the answer is the same for all
 * lanes. */
static Expr *
test_float(Lower *L, BuiltinId id, Expr *x)
{
    if (dtype_is_float(x->dtype)) {
        return call_fn(L, (Fn)builtin_row(id)->fn, DT_BOOL, x, NULL);
    }
    Expr *holds = ir_bool(L->arena, id == BUILTIN_NP_ISFINITE);
    return x->lanes ? ir_splat(L->arena, holds, x->lanes) : holds;
}

/* -1, 0 or 1; nan stays, and -0.0 becomes 0.0, as in NumPy's loop. */
static Expr *
sign_of(Lower *L, Expr *x, Loc loc)
{
    x = reuse(L, x, loc);
    Expr *zero = number(L, x, 0);
    Expr *one = number(L, x, 1);
    Expr *r = dtype_is_float(x->dtype)
                  ? ir_select(L->arena, op2(L, E_EQ, x, zero), zero, x)
                  : zero;
    if (dtype_is_float(x->dtype) || dtype_is_signed(x->dtype)) {
        Expr *minus = number(L, x, -1);
        r = ir_select(L->arena, op2(L, E_LT, x, zero), minus, r);
    }
    return ir_select(L->arena, op2(L, E_LT, zero, x), one, r);
}

/* Rounded to decimals: scaled, rounded half to even, scaled back. */
static Expr *
round_to(Lower *L, Expr *x, int decimals, Loc loc)
{
    if (!dtype_is_float(x->dtype)) {
        return x;
    }
    Expr *scale = number(L, x, pow(10.0, fabs((double)decimals)));
    if (decimals != 0) {
        x = op2(L, decimals > 0 ? E_MUL : E_DIV, x, scale);
        x = with_warnings(L, x, sym(decimals > 0 ? "multiply" : "divide"), NULL,
                          loc);
    }
    x = call_fn(L, FN_RINT, x->dtype, x, NULL);
    if (decimals != 0) {
        x = op2(L, decimals > 0 ? E_DIV : E_MUL, x, scale);
        x = with_warnings(L, x, sym(decimals > 0 ? "divide" : "multiply"), NULL,
                          loc);
    }
    return x;
}

/* A function of one argument in the dtype of the computation. */
static Expr *
unary(Lower *L, const Ufunc *u, Expr *x, Loc loc)
{
    bool is_float = dtype_is_float(x->dtype);
    switch ((int)u->id) {
    case BUILTIN_NP_ABS:
    case BUILTIN_NP_FABS:
        return x->dtype == DT_BOOL ? x : op1(L, E_ABS, x);
    case BUILTIN_NP_SIGN:
        return sign_of(L, x, loc);
    case BUILTIN_NP_SQUARE:
        x = reuse(L, x, loc);
        return op2(L, E_MUL, x, x);
    case BUILTIN_NP_RECIPROCAL:
        return op2(L, E_DIV, number(L, x, 1), x);
    case BUILTIN_NP_SIGNBIT: {
        Expr *sign = call_fn(L, FN_COPYSIGN, x->dtype, number(L, x, 1), x);
        return op2(L, E_LT, sign, number(L, x, 0));
    }
    case BUILTIN_NP_NOT:
        return not_(L, vec_cast(L, DT_BOOL, x, loc));
    case BUILTIN_NP_ISNAN:
    case BUILTIN_NP_ISINF:
    case BUILTIN_NP_ISFINITE:
        return test_float(L, u->id, x);
    case BUILTIN_NP_ROUND:
    case BUILTIN_NP_AROUND:
    case BUILTIN_ROUND_OF:
        return round_to(L, x, u->decimals, loc);
    default: /* integers are whole */
        return is_float
                   ? call_fn(L, (Fn)builtin_row(u->id)->fn, x->dtype, x, NULL)
                   : x;
    }
}

/* --- several operands ----------------------------------------------------- */

/* minimum and maximum: nan wins, the second operand where both are equal.
 * 'skip': fmin and fmax, where nan loses.  For min the first operand is taken
 * if
 *
 *     x < y  or  x is nan          (skip: y is nan)
 *
 * so of a nan and a number the nan is taken whichever it is: if y is nan,
 * neither holds, and y is. */
static Expr *
extreme(Lower *L, bool min, bool skip, Expr *x, Expr *y, Loc loc)
{
    if (dtype_is_int(x->dtype)) {
        return op2(L, min ? E_MIN : E_MAX, x, y);
    }
    if (x->dtype == DT_BOOL) {
        return op2(L, min ? E_AND : E_OR, x, y);
    }
    x = reuse(L, x, loc);
    y = reuse(L, y, loc);
    Expr *first = min ? op2(L, E_LT, x, y) : op2(L, E_LT, y, x);
    Expr *nan = is_nan(L, skip ? y : x);
    return ir_select(L->arena, op2(L, E_OR, first, nan), x, y);
}

/* Both bounds: the element stays where it equals one; a bound that is nan
 * wins. */
static Expr *
clip(Lower *L, const Ufunc *u, Expr *x, Expr *lo, Expr *hi, Loc loc)
{
    if (!dtype_is_float(x->dtype)) {
        return op2(L, E_MIN, op2(L, E_MAX, x, lo), hi);
    }
    x = reuse(L, x, loc);
    lo = reuse(L, lo, loc);
    hi = reuse(L, hi, loc);
    Expr *r = ir_select(L->arena, op2(L, E_LT, x, lo), lo, x);
    r = reuse(L, r, loc);
    r = ir_select(L->arena, op2(L, E_LT, hi, r), hi, r);
    if (!(u->no_nan & 4)) {
        r = ir_select(L->arena, is_nan(L, hi), hi, r);
    }
    if (!(u->no_nan & 2)) {
        r = ir_select(L->arena, is_nan(L, lo), lo, r);
    }
    return r;
}

/* Checks that zeros of both signs don't meet: NumPy's loop for bounds that are
 * one number keeps the element, the other one the bound, and which of the two
 * runs is not known here. */
static void
check_zeros(Lower *L, Expr *x, Expr *bound, Loc loc)
{
    Expr *zero = number(L, x, 0);
    Expr *one = number(L, x, 1);
    Expr *apart = either(L, op2(L, E_NE, x, zero), op2(L, E_NE, bound, zero));
    Expr *same = op2(L, E_EQ, call_fn(L, FN_COPYSIGN, x->dtype, one, x),
                     call_fn(L, FN_COPYSIGN, x->dtype, one, bound));
    Expr *meet = any_lane(L, not_(L, either(L, apart, same)), loc);
    emit_check(L, not_(L, meet), X_SPECULATE, loc);
}

/* fmin and fmax: of zeros of both signs NumPy's loop takes one or the other,
 * depending on where in an array they stand. */
static Expr *
extreme_number(Lower *L, bool min, Expr *x, Expr *y, Loc loc)
{
    if (dtype_is_float(x->dtype)) {
        x = reuse(L, x, loc);
        y = reuse(L, y, loc);
        check_zeros(L, x, y, loc);
    }
    return extreme(L, min, true, x, y, loc);
}

/* Bounds that are arrays: another loop of NumPy's, in which the element is
 * taken only where it is strictly inside, so a bound of the same value is, with
 * its sign of zero. */
static Expr *
clip_between(Lower *L, Expr *x, Expr *lo, Expr *hi, Loc loc)
{
    x = reuse(L, x, loc);
    lo = reuse(L, lo, loc);
    hi = reuse(L, hi, loc);
    check_zeros(L, x, lo, loc);
    Expr *keeps = op2(L, E_OR, op2(L, E_LT, lo, x), is_nan(L, x));
    Expr *r = reuse(L, ir_select(L->arena, keeps, x, lo), loc);
    check_zeros(L, r, hi, loc);
    keeps = op2(L, E_OR, op2(L, E_LT, r, hi), is_nan(L, r));
    return ir_select(L->arena, keeps, r, hi);
}

/* np.clip with one bound left out is np.minimum or np.maximum. */
static Expr *
clip_any(Lower *L, const Ufunc *u, Expr *const *args, Loc loc)
{
    if (u->given == 7 && u->arrays & 6 && dtype_is_float(args[0]->dtype)) {
        return clip_between(L, args[0], args[1], args[2], loc);
    }
    if (u->given == 7) {
        return clip(L, u, args[0], args[1], args[2], loc);
    }
    bool min = (u->given & 4) != 0;
    return extreme(L, min, false, args[0], args[min ? 2 : 1], loc);
}

/* A function of more than one argument. */
static Expr *
several(Lower *L, const Ufunc *u, Expr *const *args, Loc loc)
{
    Expr *x = args[0];
    Expr *y = args[1];
    switch ((int)u->id) {
    case BUILTIN_NP_CLIP:
    case BUILTIN_CLIP_OF:
        return clip_any(L, u, args, loc);
    case BUILTIN_NP_WHERE:
        return ir_select(L->arena, vec_cast(L, DT_BOOL, x, loc), y, args[2]);
    case BUILTIN_NP_MINIMUM:
    case BUILTIN_NP_MAXIMUM:
        return extreme(L, u->id == BUILTIN_NP_MINIMUM, false, x, y, loc);
    case BUILTIN_NP_FMIN:
    case BUILTIN_NP_FMAX:
        return extreme_number(L, u->id == BUILTIN_NP_FMIN, x, y, loc);
    case BUILTIN_NP_AND:
    case BUILTIN_NP_OR:
    case BUILTIN_NP_XOR: {
        Op op = u->id == BUILTIN_NP_AND  ? E_AND
                : u->id == BUILTIN_NP_OR ? E_OR
                                         : E_XOR;
        return op2(L, op, vec_cast(L, DT_BOOL, x, loc),
                   vec_cast(L, DT_BOOL, y, loc));
    }
    default:
        return call_fn(L, (Fn)builtin_row(u->id)->fn, x->dtype, x, y);
    }
}

/* The element, of arguments that have been converted: an operator by another
 * name, a function of NumPy's own loops, or one of those above. */
static Expr *
compute(Lower *L, const Ufunc *u, Expr *const *args, Loc loc)
{
    AOp op = ufunc_op(u->id);
    if (op >= AO_NEG && op <= AO_INVERT) {
        return vec_unary(L, op, args[0]);
    }
    if (op != AO_IS) {
        return u->rule.own
                   ? compare_signs(L, op, args[0], args[1], loc)
                   : element_binop(L, op, u->rule.compute, args[0], args[1],
                                   loc);
    }
    if (runs_loop(u->id)) {
        bool single = (u->arrays & 2) == 0;
        return loop_element(L, u->id, args[0], args[1], single, loc);
    }
    Expr *r = u->given == 1 ? unary(L, u, args[0], loc)
                            : several(L, u, args, loc);
    const char *name = strrchr(builtin_row(u->id)->name, '.');
    return with_warnings(L, r, name ? sym(name + 1) : NULL, NULL, loc);
}

/* --- operands ------------------------------------------------------------- */

/* The dtype that argument 'i' is converted to. */
static DType
dtype_of(const Ufunc *u, int i, DType own)
{
    DType dt = u->rule.compute;
    if (op_is_compare(ufunc_op(u->id)) && dt == DT_BOOL) {
        dt = DT_I64;
    }
    return u->rule.own >> i & 1 ? own : dt;
}

/* A bound of np.clip for integers: NumPy leaves out a lower one that is below
 * all of them, and an upper one above; others must fit. np.clip(a, -1, 300) of
 * uint8 changes nothing, of a lower bound of 300 it is OverflowError. */
static Value
clip_bound(Lower *L, const Ufunc *u, int i, Value v, Loc loc)
{
    bool clips = u->id == BUILTIN_NP_CLIP || u->id == BUILTIN_CLIP_OF;
    DType dt = u->rule.compute;
    if (!clips || i == 0 || v.type->kind != TY_NUM || !v.type->weak ||
        v.expr->dtype != DT_I64 || dtype_is_float(dt)) {
        return v;
    }
    if (i == 1 && dtype_min(dt) > INT64_MIN) {
        v.expr = op2(L, E_MAX, v.expr, int_const(L, dtype_min(dt)));
    } else if (i == 2 && dt != DT_I64 && dt != DT_U64) {
        v.expr = op2(L, E_MIN, v.expr, int_const(L, (int64_t)dtype_max(dt)));
    }
    v.expr = reuse(L, v.expr, loc);
    v.type = type_int(L->arena);
    return v;
}

/* The argument as a number or lanes, in the dtype of the computation: numbers
 * are converted once, before the loops. */
static Expr *
value_of(Lower *L, const Ufunc *u, int i, Value v, Loc loc)
{
    DType dt = dtype_of(u, i, v.type->dtype);
    if (v.type->kind == TY_ARRAY) {
        return vec_cast(L, dt, vector_of(L, v, loc), loc);
    }
    AOp op = ufunc_op(u->id) == AO_IS ? AO_ADD : ufunc_op(u->id);
    return vec_operand(L, op, clip_bound(L, u, i, v, loc), dt, loc);
}

/* For a tree: "data" is the Ufunc. Arguments that were left out are no operands
 * of the tree, so operand n is the n-th argument that is given. */
static Expr *
element(Lower *L, const Lazy *z, Expr *const *operands)
{
    const Ufunc *u = z->data;
    Expr *args[MOST_UFUNC_ARGS] = {NULL};
    int n = 0;
    for (int i = 0; i < MOST_UFUNC_ARGS; i++) {
        if (u->given >> i & 1) {
            Expr *e = operands[n++];
            args[i] = vec_cast(L, dtype_of(u, i, e->dtype), e, z->loc);
        }
    }
    return compute(L, u, args, z->loc);
}

/* The inner loop of NumPy's that computes a whole row of this tree, or -1. What
 * it does to one element by number, np.power(a, 2), has a row of its own. */
int
lazy_loop(const Lazy *z)
{
    const Ufunc *u = z->data;
    if (z->element != element || !runs_loop(u->id)) {
        return pair_lazy_loop(z);
    }
    bool single = (u->arrays & 2) == 0;
    return u->id == BUILTIN_NP_POWER && single ? FN_NP_POWER_BY
                                               : builtin_row(u->id)->fn;
}

/* --- calls ---------------------------------------------------------------- */

/* The call as a tree. */
static Lazy *
tree(Lower *L, const Ufunc *u, const Value *values, Loc loc)
{
    const Lazy *args[MOST_UFUNC_ARGS];
    int n = 0;
    for (int i = 0; i < MOST_UFUNC_ARGS; i++) {
        if (u->given >> i & 1) {
            Value v = values[i];
            bool array = v.type->kind == TY_ARRAY;
            args[n++] = array ? lazy_of(L, v, loc)
                              : lazy_number(L, value_of(L, u, i, v, loc), loc);
        }
    }
    Ufunc *data = arena_copy(L->arena, u, sizeof(*u));
    Lazy *z = lazy_map(L, element, (int)u->id, u->rule.compute, u->rule.dtype,
                       args, n, loc);
    z->data = data;
    return z;
}

/* All arguments of the combination are their alternatives; NULL: one of them
 * surely isn't. */
static Expr *
all_alts(Lower *L, unsigned combo, const Value *values)
{
    Expr *all = NULL;
    for (int i = 0; i < MOST_UFUNC_ARGS; i++) {
        if (combo >> i & 1) {
            if (values[i].flag == NULL) {
                return NULL;
            }
            all = both(L, all, values[i].flag);
        }
    }
    return all;
}

/* Numbers that may be Python's are NumPy's, unless that is all the same. */
static void
settle_flags(Lower *L, const Ufunc *u, const Type *const *types, Value *values,
             Loc loc)
{
    unsigned refused = ufunc_refused(L->arena, u->id, types);
    for (unsigned combo = 1; combo < 1u << MOST_UFUNC_ARGS; combo++) {
        Expr *bad =
            refused >> combo & 1 ? all_alts(L, combo, values) : NULL;
        if (bad != NULL) {
            emit_check(L, not_(L, bad), X_SPECULATE, loc);
        }
    }
    for (int i = 0; i < MOST_UFUNC_ARGS; i++) {
        Plain alt;
        if (types[i] != NULL && types[i]->kind == TY_NUM &&
            type_plain_alt(types[i], &alt)) {
            values[i].flag = NULL;
        }
    }
}

/* Evaluates the arguments from left to right, fills in 'u'. */
static void
open_call(Lower *L, const AExpr *e, bool lazy, Ufunc *u, Value *values)
{
    const Type *types[MOST_UFUNC_ARGS] = {NULL};
    for (int i = 0; i < ufunc_arity(u->id); i++) {
        const AExpr *arg = e->items.at[i];
        if (arg == NULL || arg->type->kind == TY_NONE) {
            continue;
        }
        for (int k = 0; k < i && has_user_call(arg); k++) {
            values[k] = hold_value(L, values[k], e->loc);
        }
        values[i] = lazy ? lower_lazy(L, arg) : lower_expr(L, arg);
        values[i] = some(L, values[i], e->loc);
        types[i] = values[i].type;
        bool known = arg->type->kind == TY_NUM && arg->type->known &&
                     arg->type->fval == arg->type->fval;
        u->given |= 1u << i;
        u->arrays |= types[i]->kind == TY_ARRAY ? 1u << i : 0;
        u->no_nan |= (known || !dtype_is_float(types[i]->dtype)) ? 1u << i : 0;
    }
    u->rule = rule_ufunc(L->arena, u->id, types);
    settle_flags(L, u, types, values, e->loc);
    for (int i = 0; runs_loop(u->id) && i < MOST_UFUNC_ARGS; i++) {
        if (values[i].view != NULL) {
            check_forward(L, values[i].view, e->loc);
        }
    }
    bool rounds = u->id == BUILTIN_NP_ROUND || u->id == BUILTIN_NP_AROUND ||
                  u->id == BUILTIN_ROUND_OF;
    if (rounds) {
        int64_t decimals = 0;
        if (e->items.at[1] != NULL) {
            type_is_known_int(e->items.at[1]->type, &decimals);
        }
        u->decimals = (int)decimals;
        u->given = 1;
    }
}

/* A number or lanes are computed here, an array where it is needed. */
Value
lower_ufunc(Lower *L, const AExpr *e, BuiltinId id)
{
    Value values[MOST_UFUNC_ARGS] = {{.type = NULL}};
    Ufunc u = {.id = id};
    if (id == BUILTIN_NP_WHERE && e->items.at[1] == NULL) {
        return lower_nonzero(L, e, id);
    }
    const AExpr *out = ufunc_out(e, id);
    bool lazy = type_is_memory(e->type);
    open_call(L, e, lazy, &u, values);
    if (lazy) {
        Value v = lazy_value(e->type, tree(L, &u, values, e->loc));
        if (out != NULL) {
            Value to = lower_expr(L, out);
            if (runs_loop(id) && to.view != NULL) {
                check_forward(L, to.view, e->loc);
            }
            store_lazy(L, to.view, v.lazy, e->loc);
            return to;
        }
        return v;
    }
    Expr *args[MOST_UFUNC_ARGS] = {NULL};
    for (int i = 0; i < MOST_UFUNC_ARGS; i++) {
        if (u.given >> i & 1) {
            args[i] = value_of(L, &u, i, values[i], e->loc);
            args[i] = hold(L, args[i], e->loc);
        }
    }
    return num_value(e->type, compute(L, &u, args, e->loc));
}
