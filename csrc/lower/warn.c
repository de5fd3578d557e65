/* Warnings of NumPy's arithmetic, as WARN statements.
 *
 *     np.float64 a / b    let r = div(a, b)
 *                         if not finite(r) {
 *                             warn nan(r) and a == a and b == b    invalid
 *                             warn inf(r) and finite(a, b), b == 0 divide
 *                             warn inf(r) and finite(a, b), b != 0 overflow
 *                         }
 *
 * Only a kernel that counts ("Lower.count") has these for floats.  In all
 * others the FPU's sticky flags say that something may have happened, and the
 * host then asks the counting kernel: it undoes what was written, runs that one
 * on the same arguments, and gives the warnings that it found, in the order of
 * the program.  So programs without warnings pay nothing.  Where warnings are
 * to be errors that kernel is run at once, since flags say nothing of an
 * operation whose value nobody uses.  Integers have no
 * flags: their WARNs stand in every kernel, and the places that emit them call
 * emit_warn.
 *
 * The name in a warning is that of the operation in NumPy ("overflow
 * encountered in scalar multiply"), which depends on whether scalars or arrays
 * met.
 *
 * Python's own floats never warn, so what is made of them is not passed through
 * here, and a number that may be Python's warns only if it is not.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "csrc/lower/state.h"

/* 'cond' holds: a warning. np.errstate may have switched it off for this part
 * of the program (emit). */
void
emit_warn(Lower *L, Expr *cond, Warn warn, Sym what, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_WARN, loc);
    s->value = cond;
    s->warn = warn;
    s->what = what;
    emit(L, s);
}

/* --- names ---------------------------------------------------------------- */

/* The ufunc behind an operator; NULL: it never warns.  That of both operators
 * of divmod is one. */
static const char *
ufunc_of(const Lower *L, AOp op)
{
    if (L->divmod && (op == AO_MOD || op == AO_FLOORDIV)) {
        return "divmod";
    }
    static const struct {
        AOp op;
        const char *name;
    } rows[] = {
        {AO_ADD, "add"},          {AO_SUB, "subtract"},
        {AO_MUL, "multiply"},     {AO_DIV, "divide"},
        {AO_MOD, "remainder"},    {AO_FLOORDIV, "floor_divide"},
        {AO_POW, "power"},        {AO_NEG, "negative"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].op == op) {
            return rows[i].name;
        }
    }
    return NULL;
}

/* A scalar of NumPy does the operation itself if it need not convert to a
 * third type, else it asks the ufunc.  np.bool always asks. */
static bool
is_scalar_op(const Type *lhs, const Type *rhs)
{
    if (rhs == NULL) {
        return lhs->dtype != DT_BOOL;
    }
    if (lhs->weak || rhs->weak) {
        const Type *own = lhs->weak ? rhs : lhs;
        const Type *other = lhs->weak ? lhs : rhs;
        return own->dtype != DT_BOOL &&
               (!dtype_is_float(other->dtype) || dtype_is_float(own->dtype));
    }
    DType common = dtype_promote(lhs->dtype, rhs->dtype);
    return lhs->dtype != DT_BOOL &&
           (common == lhs->dtype || common == rhs->dtype);
}

Sym
array_warn_name(const Lower *L, AOp op)
{
    const char *ufunc = ufunc_of(L, op);
    return ufunc ? sym(ufunc) : NULL;
}

/* Powers of arrays are other ufuncs where the exponent is a simple one; but of
 * integers only the square is. */
Sym
power_warn_name(DType base, const Type *exponent)
{
    const char *ufunc = "power";
    if (exponent->known) {
        bool whole = dtype_is_int(base) || base == DT_BOOL;
        double n = dtype_is_float(exponent->dtype) ? exponent->fval
                                                   : (double)exponent->ival;
        ufunc = n == 2 ? "square" : whole ? ufunc : n == 0.5 ? "sqrt"
                : n == -1 ? "reciprocal" : ufunc;
    }
    return sym(ufunc);
}

/* "multiply" of arrays, "scalar_multiply" of scalars that do it themselves. */
Sym
warn_name(const Lower *L, AOp op, const Type *lhs, const Type *rhs)
{
    const char *ufunc = ufunc_of(L, op);
    if (ufunc == NULL) {
        return NULL;
    }
    char name[40];
    snprintf(name, sizeof(name), "%s%s",
             is_scalar_op(lhs, rhs) ? "scalar_" : "", ufunc);
    return sym(name);
}

/* Is it a scalar's own arithmetic?  Only that warns of integers that wrap. */
bool
is_scalar_name(Sym what)
{
    return what != NULL && strncmp(what, "scalar_", 7) == 0;
}

/* --- floats --------------------------------------------------------------- */

/* Does any lane of the condition hold? NumPy warns once for a whole array. */
Expr *
any_lane(Lower *L, Expr *cond, Loc loc)
{
    if (cond->lanes == 0) {
        return cond;
    }
    Expr *any = NULL;
    cond = reuse(L, cond, loc);
    for (int i = 0; i < cond->lanes; i++) {
        any = either(L, any, ir_elem(L->arena, cond, int_const(L, i)));
    }
    return any;
}

void
warn_if(Lower *L, Expr *cond, Warn warn, Sym what, Expr *unless, Loc loc)
{
    cond = any_lane(L, cond, loc);
    emit_warn(L, unless ? both(L, not_(L, unless), cond) : cond, warn, what,
              loc);
}

/* Every lane finite, or not a nan. */
static Expr *
all_args(Lower *L, const Expr *e, Fn fn)
{
    Expr *all = NULL;
    for (int i = 0; i < e->nargs; i++) {
        Expr *test = call_fn(L, fn, DT_BOOL, e->args[i], NULL);
        all = both(L, all, fn == FN_ISNAN ? not_(L, test) : test);
    }
    return all;
}

static bool
is_power(const Expr *e)
{
    return e->fn == FN_POW || e->fn == FN_POWF || e->fn == FN_NP_POWER ||
           e->fn == FN_NP_POWER_BY;
}

/* When an infinity out of finite numbers comes of a division by zero; NULL:
 * never, it is an overflow.  A logarithm's is always. */
static Expr *
divides(Lower *L, const Expr *e)
{
    Expr *zero = ir_float(L->arena, e->dtype, 0.0);
    if (e->op == E_DIV) {
        return op2(L, E_EQ, e->args[1], zero);
    }
    if (e->op != E_CALL) {
        return NULL;
    }
    switch ((int)e->fn) {
    case FN_LOG:
    case FN_LOG2:
    case FN_LOG10:
    case FN_LOG1P:
    case FN_ATANH:
    case FN_NP_LOG:
    case FN_NP_LOG2:
    case FN_NP_LOG10:
    case FN_NP_LOG1P:
    case FN_NP_ARCTANH:
        return ir_bool(L->arena, true);
    case FN_NPFLOORDIV:
        return op2(L, E_EQ, e->args[1], zero);
    default:
        return is_power(e) ? op2(L, E_EQ, e->args[0], zero) : NULL;
    }
}

/* Is a nan among the operands compared with something, which is invalid? */
static bool
compares_args(const Expr *e)
{
    return e->op == E_CALL &&
           (e->fn == FN_NP_LOGADDEXP || e->fn == FN_NP_LOGADDEXP2);
}

/* An infinity out of finite numbers, or one on the way to 'r', which is 'e':
 * logaddexp takes the difference of its operands, nextafter looks at no more
 * than the sign of the second one's.  Whether powers by infinities overflow
 * depends on the processor. */
static Expr *
overflows(Lower *L, const Expr *e, Expr *r, Loc loc)
{
    Expr *far = call_fn(L, FN_ISINF, DT_BOOL, r, NULL);
    Expr *finite = all_args(L, e, FN_FINITE);
    if (e->op != E_CALL) {
        return both(L, far, finite);
    }
    if (compares_args(e)) {
        Expr *gap = op2(L, E_SUB, e->args[0], e->args[1]);
        far = either(L, far, call_fn(L, FN_ISINF, DT_BOOL, gap, NULL));
    } else if (e->fn == FN_NP_NEXTAFTER) {
        finite = call_fn(L, FN_FINITE, DT_BOOL, e->args[0], NULL);
    } else if (is_power(e)) {
        Expr *odd = both(L, call_fn(L, FN_FINITE, DT_BOOL, e->args[0], NULL),
                         call_fn(L, FN_ISINF, DT_BOOL, e->args[1], NULL));
        emit_check(L, not_(L, any_lane(L, odd, loc)), X_SPECULATE, loc);
    }
    return both(L, far, finite);
}

/* Does 'e' warn of no result that is finite, and check nothing?  One test is
 * nearly all that its warnings cost then. */
static bool
is_calm_where_finite(const Expr *e)
{
    return e->lanes == 0 && !(e->op == E_CALL &&
                              (compares_args(e) || is_power(e)));
}

/* 'r' is 'e', whose operands may be used again. The three conditions exclude
 * each other: an infinity out of finite numbers is divide or overflow, a nan
 * out of numbers is invalid.  NumPy's floor_divide subtracts once more, so an
 * overflow of it is invalid, too. */
static void
warn_of_float(Lower *L, const Expr *e, Expr *r, Sym what, Expr *unless,
              Loc loc)
{
    Block *outer = L->out;
    if (is_calm_where_finite(e)) {
        Stmt *odd = ir_stmt(L->arena, S_IF, loc);
        odd->value = not_(L, call_fn(L, FN_FINITE, DT_BOOL, r, NULL));
        emit(L, odd);
        L->out = &odd->body;
    }
    Expr *infinite = reuse(L, overflows(L, e, r, loc), loc);
    Expr *by_zero = divides(L, e);
    Expr *over = infinite;
    if (by_zero != NULL) {
        warn_if(L, both(L, infinite, by_zero), WARN_DIVIDE, what, unless, loc);
        over = both(L, infinite, not_(L, by_zero));
    }
    int64_t value;
    if (!ir_const_int(over, &value) || value) {
        warn_if(L, over, WARN_OVERFLOW, what, unless, loc);
    }
    Expr *invalid = call_fn(L, FN_ISNAN, DT_BOOL, r, NULL);
    if (!compares_args(e)) {
        invalid = both(L, invalid, all_args(L, e, FN_ISNAN));
    }
    if (e->op == E_CALL && e->fn == FN_NPFLOORDIV) {
        invalid = either(L, invalid, over);
    }
    warn_if(L, invalid, WARN_INVALID, what, unless, loc);
    L->out = outer;
}

/* 'e' over operands that have names. */
static Expr *
with_names(Lower *L, const Expr *e, Loc loc)
{
    Expr *args[3];
    for (int i = 0; i < e->nargs; i++) {
        args[i] = reuse(L, e->args[i], loc);
    }
    return ir_with_args(L->arena, e, args);
}

/* 'e' with the warnings of the one operation that it is, in a counting kernel;
 * else it is only noted that flags are to be looked at. */
Expr *
with_warnings(Lower *L, Expr *e, Sym what, Expr *unless, Loc loc)
{
    bool arith = e->op == E_ADD || e->op == E_SUB || e->op == E_MUL ||
                 e->op == E_DIV || e->op == E_CALL;
    if (!arith || !dtype_is_float(e->dtype)) {
        return e;
    }
    L->result->may_warn = true;
    if (!L->count) {
        return e;
    }
    e = with_names(L, e, loc);
    Expr *r = reuse(L, e, loc);
    warn_of_float(L, e, r, what, unless, loc);
    return r;
}

/* For results of many operations, whose warnings would need a test after each:
 * where all is finite, nothing warned. */
Expr *
finite_or_python(Lower *L, Expr *e, Loc loc)
{
    L->result->may_warn = true;
    if (L->count) {
        e = reuse(L, e, loc);
        Expr *finite = call_fn(L, FN_FINITE, DT_BOOL, e, NULL);
        emit_check(L, not_(L, any_lane(L, not_(L, finite), loc)), X_SPECULATE,
                   loc);
    }
    return e;
}

/* --- casts ---------------------------------------------------------------- */

/* NumPy casts floats to narrow integers through int32, to others through int64
 * (uint64 in two halves), and warns where that does not hold the value. */
Expr *
cast_fits(Lower *L, Expr *e, DType dtype)
{
    DType through = dtype_size(dtype) <= 2 || dtype == DT_I32 ? DT_I32 : DT_I64;
    Expr *fits = float_in_range(L, e, through);
    return dtype == DT_U64 ? either(L, fits, float_in_range(L, e, DT_U64))
                           : fits;
}

/* NumPy's loops to uint32 give other bits for what is out of range than its
 * scalars do, and not the same for all elements. */
static Expr *
like_scalar(Lower *L, Expr *e, Loc loc)
{
    Expr *low = op2(L, E_LT, num_const(L, e->dtype, -0x1p31 - 1.0), e);
    Expr *high = op2(L, E_LT, e, num_const(L, e->dtype, 0x1p32));
    return not_(L, any_lane(L, not_(L, both(L, low, high)), loc));
}

/* A known double as a single.  If it is too large no flag tells, since the C
 * compiler makes the infinity. */
static Expr *
narrow_constant(Lower *L, Expr *e, Loc loc)
{
    if (isfinite(e->fval) && isinf((float)e->fval)) {
        emit_warn(L, ir_bool(L->arena, true), WARN_OVERFLOW, sym("cast"), loc);
    }
    return cast_to(L, DT_F32, e);
}

/* Between floats only the way from double to single can overflow. */
Expr *
cast_with_warnings(Lower *L, DType dtype, Expr *e, Loc loc)
{
    bool narrows = e->dtype == DT_F64 && dtype == DT_F32;
    bool whole = dtype_is_float(e->dtype) && dtype_is_int(dtype);
    if (!narrows && !whole) {
        return cast_to(L, dtype, e);
    }
    if (narrows && e->op == E_CONST) {
        return narrow_constant(L, e, loc);
    }
    L->result->may_warn = true;
    if (whole && dtype == DT_U32) {
        e = reuse(L, e, loc);
        emit_check(L, like_scalar(L, e, loc), X_SPECULATE, loc);
    }
    if (!L->count) {
        return cast_to(L, dtype, e);
    }
    Sym what = sym("cast");
    e = reuse(L, e, loc);
    Expr *r = reuse(L, cast_to(L, dtype, e), loc);
    if (whole) {
        warn_if(L, not_(L, cast_fits(L, e, dtype)), WARN_INVALID, what, NULL,
                loc);
    } else {
        Expr *infinite = both(L, call_fn(L, FN_ISINF, DT_BOOL, r, NULL),
                              call_fn(L, FN_FINITE, DT_BOOL, e, NULL));
        warn_if(L, infinite, WARN_OVERFLOW, what, NULL, loc);
    }
    return r;
}
