/* Expressions as linear forms, through definitions.
 *
 *     let j: i64 = sub(mul(i, 2), 1)
 *     idiv(add(j, 5), 2)             ->  i + 2
 *
 * bounds_form(e) is an exact integer form whose value is that of 'e'.  An
 * operation is taken apart when its exact result provably fits its dtype
 * (then the wrapping IR operation computes just that); otherwise 'e' becomes
 * one opaque atom.  Operands of atoms are themselves written as forms, so
 * that equal values have equal atoms more often.
 *
 * Atoms are i64 expressions: a value of a narrower dtype appears as its CAST
 * to i64.  The one exception is a u64 that may exceed i64.
 */
#include "csrc/analysis/bounds.h"

/* 'e' itself as the only atom, cast to i64. A product that may wrap hides in a
 * CAST, even of i64 to i64: a bare E_MUL among atoms means the product of
 * integers without end. A u64 can't be cast without loss and stays what it
 * is. */
static Linear
opaque(Bounds *b, Expr *e)
{
    if (e->dtype == DT_U64) {
        bool hide = e->op == E_MUL;
        return linear_atom(b->arena,
                           hide ? ir_cast(b->arena, DT_U64, e) : e);
    }
    if (e->dtype != DT_I64 || e->op == E_MUL) {
        e = ir_cast(b->arena, DT_I64, e);
    }
    return linear_atom(b->arena, e);
}

/* Is the overflow test of 'e' known to be false? Then the operation gives its
 * exact result, whatever the ranges say. The test is of the same two operands
 * in the same order, as lower writes it. */
static bool
is_exact(Bounds *b, const Expr *e)
{
    Op test = e->op == E_ADD ? E_ADDO : e->op == E_SUB ? E_SUBO : E_MULO;
    for (int i = 0; i < b->exact.n; i++) {
        const Expr *known = b->exact.at[i];
        if (known->op == test && ir_equal(known->args[0], e->args[0]) &&
            ir_equal(known->args[1], e->args[1])) {
            return true;
        }
    }
    return false;
}

/* 'form', the exact result of 'e', if 'e' can't wrap; else an atom. */
static Linear
unless_wraps(Bounds *b, Expr *e, const Linear *form)
{
    Range range = bounds_form_range(b, form);
    if (range_inside(range, bounds_dtype_range(e->dtype))) {
        return *form;
    }
    bool tested = e->op == E_ADD || e->op == E_SUB || e->op == E_MUL;
    return tested && is_exact(b, e) ? *form : opaque(b, e);
}

/* Sums, differences and products of the forms of both sides. What overflows
 * the analysis's own arithmetic, or has too many factors, is an atom. */
static Linear
form_binary(Bounds *b, Expr *e)
{
    Linear lhs = bounds_form(b, e->args[0]);
    Linear rhs = bounds_form(b, e->args[1]);
    Linear out;
    bool ok = e->op == E_MUL
        ? linear_product(b->arena, &lhs, &rhs, &out)
        : linear_sum(b->arena, &lhs, 1, &rhs, e->op == E_ADD ? 1 : -1, &out);
    return ok ? unless_wraps(b, e, &out) : opaque(b, e);
}

/* -x and ~x = -x - 1. */
static Linear
form_negative(Bounds *b, Expr *e)
{
    Linear one = linear_const(e->op == E_INV ? -1 : 0);
    Linear arg = bounds_form(b, e->args[0]);
    Linear out;
    if (e->op == E_INV && !dtype_is_signed(e->dtype)) {
        return opaque(b, e);
    }
    return linear_sum(b->arena, &one, 1, &arg, -1, &out)
        ? unless_wraps(b, e, &out) : opaque(b, e);
}

/* An atom of 'op' whose operands are the forms 'lhs' and 'rhs', in i64. */
static Linear
atom_of(Bounds *b, Op op, const Linear *lhs, const Linear *rhs)
{
    Expr *left = linear_expr(b->arena, lhs);
    Expr *right = linear_expr(b->arena, rhs);
    return linear_atom(b->arena, ir_binary(b->arena, op, left, right));
}

/* Does the form's value fit i64? Only then may it be an operand of an i64
 * atom, which wraps as all IR does. */
static bool
fits_i64(Bounds *b, const Linear *form)
{
    return range_inside(bounds_form_range(b, form),
                        bounds_dtype_range(DT_I64));
}

/* The same of the form of 'e', whose value is that of 'e': only a u64 can be
 * too large, and the ranges of the others need not be looked at. */
static bool
value_fits_i64(Bounds *b, const Expr *e, const Linear *form)
{
    return e->dtype != DT_U64 || fits_i64(b, form);
}

/* Of 64-bit values; INT64_MIN / -1 does not occur, divisors are positive. */
static int64_t
floor_div(int64_t lhs, int64_t rhs)
{
    return (int64_t)wide_floor_div(lhs, rhs);
}

/* 'form' = divisor * 'whole' + 'part', all coefficients of 'part' in [0,
 * divisor), by floor division term by term.
 *
 *     (4*i + 5*j - 1) / 4    whole i + j - 1, part j + 3 */
static bool
split_form(Bounds *b, const Linear *form, int64_t divisor, Linear *whole,
           Linear *part)
{
    Linear quotient = linear_const(floor_div(form->constant, divisor));
    for (int i = 0; i < form->terms.n; i++) {
        Term term = form->terms.at[i];
        term.coef = floor_div(term.coef, divisor);
        if (term.coef != 0) {
            vec_push(b->arena, &quotient.terms, term);
        }
    }
    *whole = quotient;
    return linear_sum(b->arena, form, 1, &quotient, -divisor, part);
}

/* floor(form / divisor) and form mod divisor, divisor > 0. With form = d*W +
 * P:
 *
 *     floor((d*W + P) / d) = W + floor(P / d)
 *     (d*W + P) mod d      = P mod d
 *
 * If the range of P lies within one multiple of d, floor(P / d) is a constant
 * q, and the remainder is P - q*d. Otherwise the quotient, or the remainder,
 * of P is an atom, and W is still outside of it: (2*i + j) / 2 and j / 2 then
 * differ by i. The atom is an i64 operation, so P must fit. */
static Linear
form_divided(Bounds *b, Expr *e, const Linear *form, int64_t divisor, Op op)
{
    Linear whole;
    Linear part;
    Linear out;
    if (!value_fits_i64(b, e->args[0], form) ||
        !split_form(b, form, divisor, &whole, &part)) {
        return opaque(b, e);
    }
    Range range = bounds_form_range(b, &part);
    Wide low = wide_floor_div(range.lo, divisor);
    Linear rest;
    if (low == wide_floor_div(range.hi, divisor) && low < INT64_MAX &&
        low > INT64_MIN) {
        Linear constant = linear_const((int64_t)low);
        if (op == E_IDIV) {
            return linear_sum(b->arena, &whole, 1, &constant, 1, &out)
                ? out : opaque(b, e);
        }
        return linear_sum(b->arena, &part, 1, &constant, -divisor, &out)
            ? out : opaque(b, e);
    }
    if (!fits_i64(b, &part)) {
        return opaque(b, e);
    }
    Linear by = linear_const(divisor);
    rest = atom_of(b, op, &part, &by);
    if (op == E_MOD) {
        return rest;
    }
    return linear_sum(b->arena, &whole, 1, &rest, 1, &out) ? out
                                                           : opaque(b, e);
}

/* Division by a positive constant is taken apart; any other is an atom
 * whose operands are forms, for i64 only, where the atom's own arithmetic
 * is the IR's. */
static Linear
form_div_mod(Bounds *b, Expr *e)
{
    Linear lhs = bounds_form(b, e->args[0]);
    Linear rhs = bounds_form(b, e->args[1]);
    int64_t divisor = 0;
    if (linear_is_const(&rhs, &divisor) && divisor > 0) {
        return form_divided(b, e, &lhs, divisor, e->op);
    }
    if (e->dtype == DT_I64) {
        return atom_of(b, e->op, &lhs, &rhs);
    }
    return opaque(b, e);
}

/* Shifts by a constant are products and quotients; x & (2^k - 1) = x mod 2^k
 * for negative x too. */
static Linear
form_bits(Bounds *b, Expr *e)
{
    Linear lhs = bounds_form(b, e->args[0]);
    Linear rhs = bounds_form(b, e->args[1]);
    int64_t count = 0;
    Linear out;
    if (!linear_is_const(&rhs, &count)) {
        return opaque(b, e);
    }
    if (e->op == E_AND) {
        bool ones = count > 0 && count < INT64_MAX &&
                    (count & (count + 1)) == 0;
        return ones ? form_divided(b, e, &lhs, count + 1, E_MOD)
                    : opaque(b, e);
    }
    if (count < 0 || count > 61) {
        return opaque(b, e);
    }
    int64_t factor = (int64_t)1 << count;
    if (e->op == E_SHR) {
        return form_divided(b, e, &lhs, factor, E_IDIV);
    }
    Linear zero = linear_const(0);
    return linear_sum(b->arena, &lhs, factor, &zero, 0, &out)
        ? unless_wraps(b, e, &out) : opaque(b, e);
}

/* The smaller (larger) side where the ranges of their difference decide it. */
static Linear
form_min_max(Bounds *b, Expr *e)
{
    Linear lhs = bounds_form(b, e->args[0]);
    Linear rhs = bounds_form(b, e->args[1]);
    Linear diff;
    if (linear_sum(b->arena, &rhs, 1, &lhs, -1, &diff)) {
        Range range = bounds_form_range(b, &diff);
        if (range.lo >= 0) {
            return e->op == E_MIN ? lhs : rhs;
        }
        if (range.hi <= 0) {
            return e->op == E_MIN ? rhs : lhs;
        }
    }
    return value_fits_i64(b, e, &lhs) && value_fits_i64(b, e, &rhs)
        ? atom_of(b, e->op, &lhs, &rhs) : opaque(b, e);
}

/* The arm of a known condition; both arms equal: that. Otherwise one atom,
 * whose arms are forms; the prover takes it apart by cases. The arms of a join
 * were described under the condition, and are looked at only in that case. */
static Linear
form_select(Bounds *b, Expr *e)
{
    if (e->args[0]->op == E_CONST) {
        return bounds_form(b, e->args[e->args[0]->ival ? 1 : 2]);
    }
    Linear yes = bounds_form(b, e->args[1]);
    Linear no = bounds_form(b, e->args[2]);
    if (linear_equal(&yes, &no)) {
        return yes;
    }
    if (!value_fits_i64(b, e, &yes) || !value_fits_i64(b, e, &no)) {
        return opaque(b, e);
    }
    Expr *select = ir_select(b->arena, e->args[0], linear_expr(b->arena, &yes),
                             linear_expr(b->arena, &no));
    return linear_atom(b->arena, select);
}

/* |x| is x or -x where the sign is known; |INT64_MIN| wraps and so is left
 * alone unless excluded. Of unknown sign, the ABS is an atom, with its operand
 * as it stands. */
static Linear
form_abs(Bounds *b, Expr *e)
{
    Linear arg = bounds_form(b, e->args[0]);
    Linear zero = linear_const(0);
    Linear out;
    Range range = bounds_form_range(b, &arg);
    if (range.lo >= 0) {
        return arg;
    }
    if (range.hi <= 0 && linear_sum(b->arena, &zero, 0, &arg, -1, &out)) {
        return unless_wraps(b, e, &out);
    }
    return opaque(b, e);
}

/* A CAST that keeps the value is looked through: the exact range of the
 * operand's form fits the new dtype. One that may wrap, or comes from a float,
 * is an atom; a cast to bool is a test, not the number. */
static Linear
form_cast(Bounds *b, Expr *e)
{
    Expr *arg = e->args[0];
    if (!dtype_is_int(arg->dtype) || arg->lanes != 0 ||
        e->dtype == DT_BOOL) {
        return opaque(b, e);
    }
    Linear form = bounds_form(b, arg);
    Range range = bounds_form_range(b, &form);
    return range_inside(range, bounds_dtype_range(e->dtype)) ? form
                                                             : opaque(b, e);
}

/* Constants, Vars through their definition, extents of fresh buffers
 * through what they were made with; anything else is an atom. */
static Linear
form_leaf(Bounds *b, Expr *e)
{
    if (e->op == E_CONST && (e->dtype != DT_U64 || e->ival >= 0)) {
        return linear_const(e->ival);
    }
    if (e->op == E_VAR) {
        VarInfo *info = bounds_info(b, e->var);
        return info->has_form ? info->form : opaque(b, e);
    }
    if (e->op == E_DIM) {
        Expr *dim = ir_extent(e->buf, e->axis);
        return dim == NULL || dim->op == E_DIM ? opaque(b, dim ? dim : e)
                                               : bounds_form(b, dim);
    }
    return opaque(b, e);
}

/* By the operator, with what is left of the fuel. */
static Linear
form_operation(Bounds *b, Expr *e)
{
    switch (e->op) {
    case E_ADD:
    case E_SUB:
    case E_MUL:
        return form_binary(b, e);
    case E_NEG:
    case E_INV:
        return form_negative(b, e);
    case E_IDIV:
    case E_MOD:
        return form_div_mod(b, e);
    case E_SHL:
    case E_SHR:
    case E_AND:
        return e->dtype == DT_BOOL ? opaque(b, e) : form_bits(b, e);
    case E_MIN:
    case E_MAX:
        return form_min_max(b, e);
    case E_SELECT:
        return form_select(b, e);
    case E_ABS:
        return form_abs(b, e);
    case E_CAST:
        return form_cast(b, e);
    default:
        return form_leaf(b, e);
    }
}

/* 'e' as an exact form, spending the caller's fuel: one unit a node. Running
 * out of fuel makes 'e' an atom, which is always right. 'e' must be a scalar
 * number. */
Linear
bounds_form(Bounds *b, Expr *e)
{
    if (b->fuel-- <= 0) {
        return opaque(b, e);
    }
    const Memo *known = bounds_recall(b, e);
    if (known != NULL && known->has_form) {
        return known->form;
    }
    Linear form = form_operation(b, e);
    if (e->nargs > 0 && b->fuel > 0) {
        Memo *memo = bounds_memo(b, e);
        memo->has_form = true;
        memo->form = form;
    }
    return form;
}

/* Public form of bounds_form: starts with full fuel. */
bool
bounds_linear(Bounds *b, Expr *e, Linear *out)
{
    b->fuel = FUEL;
    if (!bounds_is_number(e)) {
        return false;
    }
    *out = bounds_form(b, e);
    return true;
}

/* Halves of i64 are far more than any loop runs; an end may also be computed by
 * the program, though, and then be anything. */
bool
bounds_may_shift(Bounds *b, const Stmt *loop)
{
    enum { ROOM = 61 };
    int64_t least;
    int64_t most;
    int64_t unused;
    bounds_interval(b, loop->lo, &unused, &most);
    bounds_interval(b, loop->hi, &least, &unused);
    return most <= (int64_t)1 << ROOM && least >= -((int64_t)1 << ROOM);
}

/* Saturates: an end outside of i64 reads as "unknown". */
void
bounds_interval(Bounds *b, Expr *e, int64_t *lo, int64_t *hi)
{
    b->fuel = FUEL;
    Range range = bounds_is_number(e) ? bounds_range(b, e)
                                      : range_of(-WIDE_INF, WIDE_INF);
    *lo = range.lo < INT64_MIN ? INT64_MIN : (int64_t)range.lo;
    *hi = range.hi > INT64_MAX ? INT64_MAX : (int64_t)range.hi;
}
