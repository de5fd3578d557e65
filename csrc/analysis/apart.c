/* Do two accesses on one axis ever meet in different rounds?
 *
 * An index is brought to the form
 *
 *     coef * i  +  rest  +  [low, high]
 *
 * over values that no round changes.  The interval is what inner loops add: a
 * variable that runs over [lo, hi) is lo + k with 0 <= k < hi - lo, so blocks
 * such as  for r in [8i, min(8i + 8, h))  are seen to stay 8 apart, and
 * y*w + x  with  0 <= x < w  to stay in its row.  Of everything else (loads,
 * joins, quotients) the interval counts; where that is unbounded, the axis is
 * useless, never wrong.
 *
 * Accesses with coefs a and b meet in rounds i and i' where
 *
 *     a*i - b*i'  =  gap + something in [low, high]
 *
 * a == b:  no nonzero multiple of a lies in that range, or only such as are
 *          further apart than the loop has rounds;
 * a != b:  a common divisor of a and b does not divide it, or the left side
 *          stays below or above it for all rounds there are.
 */
#include <stdlib.h>

#include "csrc/analysis/depend.h"

/* Beyond the first a constant counts as unbounded; beyond the second it says
 * less than a form. */
#define FAR ((int64_t)1 << 40)
#define WIDE ((int64_t)1 << 20)

/* 'form' += 'scale' * 'other'; false when a coefficient leaves 64 bits, and
 * then 'form' is as before. Whoever gets false gives up the whole question,
 * which reads as "they may meet". */
static bool
add_form(Depend *d, Linear *form, const Linear *other, int64_t scale)
{
    return linear_sum(d->arena, form, 1, other, scale, form);
}

/* Is 'form' + 'constant' > 0 in every run? Over the integers f > 0 is f - 1 >=
 * 0, which is what the prover answers. */
static bool
proves_positive(Depend *d, const Linear *form, int64_t constant)
{
    Linear sum = linear_const(constant - 1);
    return add_form(d, &sum, form, 1) && bounds_nonneg(d->b, &sum);
}

/* Is 'form' the number 0: no term and no constant? */
static bool
is_zero(const Linear *form)
{
    return form->terms.n == 0 && form->constant == 0;
}

/* --- what changes from round to round ------------------------------------ */

static bool varies(Depend *d, const Expr *e);

/* The Vars by which the prover names values of loads (id < 0) stand for one
 * moment, so they vary wherever they come from. */
static bool
var_varies(Depend *d, const Var *var)
{
    Inside *in = map_get(&d->inside, var);
    if (var == d->loop->var || var->id < 0) {
        return true;
    }
    if (in == NULL || in->value == NULL) {
        return in != NULL;
    }
    if (in->state == ST_UNKNOWN) {
        in->state = varies(d, in->value) ? ST_VARIES : ST_STEADY;
    }
    return in->state == ST_VARIES;
}

/* May 'e' have different values in two rounds?  A load may, since what it
 * reads may be written meanwhile; so may the extent of a private array. */
static bool
varies(Depend *d, const Expr *e)
{
    if (ir_reads(e)) {
        return true;
    }
    if ((e->op == E_DIM || e->op == E_STRIDE) && map_has(&d->own, e->buf)) {
        return true;
    }
    if (e->op == E_VAR) {
        return var_varies(d, e->var);
    }
    for (int i = 0; i < e->nargs; i++) {
        if (varies(d, e->args[i])) {
            return true;
        }
    }
    return false;
}

/* Does some atom of 'form' change from round to round? If none does, the form
 * means the same number in round i and in round i', and two such forms may be
 * subtracted. */
static bool
form_varies(Depend *d, const Linear *form)
{
    for (int i = 0; i < form->terms.n; i++) {
        if (varies(d, form->terms.at[i].atom)) {
            return true;
        }
    }
    return false;
}

/* --- forms of indices ---------------------------------------------------- */

static bool place_form(Depend *d, DependAxis *axis, const Linear *form,
                       int64_t scale, int depth);

/* An inner loop's variable v is its lower end plus 0 .. last, so coef*v is
 * coef*lo plus an interval: [0, coef*last] for coef > 0, [coef*last, 0] for
 * coef < 0. Only one end moves; "lo" is placed like any other form and may
 * itself speak of the loop's variable.
 *
 * last >= 0 is noted as a thing that holds where the access is reached, since
 * a loop that runs no round makes no access. Constants are clamped to that
 * already. */
static bool
place_inner(Depend *d, DependAxis *axis, const Inside *in, int64_t coef,
            int depth)
{
    Linear *end = coef < 0 ? &axis->low : &axis->high;
    if (in->bounded && in->last.terms.n > 0) {
        vec_push(d->arena, &axis->runs, in->last);
    }
    return in->bounded && add_form(d, end, &in->last, coef) &&
           place_form(d, axis, &in->lo, coef, depth);
}

/* A product with the loop's variable i as one factor: i * w * h is brought to
 * "coef" = w * h, provided nothing else in it changes. Products are nested to
 * the left (linear.c), so the last factor is peeled off args[1] until a factor
 * that is no product is left. i * i finds i twice: the second counts as a
 * value that varies, and the product is refused. */
static bool
place_product(Depend *d, DependAxis *axis, Expr *atom, int64_t coef)
{
    Linear product = linear_const(coef);
    bool found = false;
    for (Expr *e = atom; e != NULL;) {
        bool more = e->op == E_MUL && e->dtype == DT_I64;
        Expr *factor = more ? e->args[1] : e;
        e = more ? e->args[0] : NULL;
        if (!found && ir_is_var(factor, d->loop->var)) {
            found = true;
            continue;
        }
        Linear form = linear_atom(d->arena, factor);
        if (varies(d, factor) ||
            !linear_product(d->arena, &product, &form, &product)) {
            return false;
        }
    }
    return found && add_form(d, &axis->coef, &product, 1);
}

/* What varies in any other way (a load, i mod 2, c // 2 of an inner loop's c)
 * is any number of its interval, in either of the two rounds. The interval is
 * that of the place where the access stands, of constants, and so holds in all
 * rounds that come there. */
static bool
place_range(Depend *d, DependAxis *axis, Expr *atom, int64_t coef)
{
    int64_t low;
    int64_t high;
    bounds_interval(d->b, atom, &low, &high);
    if (low <= -FAR || high >= FAR || coef <= -FAR || coef >= FAR) {
        return false;
    }
    Linear from = linear_const(coef < 0 ? high : low);
    Linear to = linear_const(coef < 0 ? low : high);
    return add_form(d, &axis->low, &from, coef) &&
           add_form(d, &axis->high, &to, coef);
}

/* Puts 'coef' * 'atom' in its place in 'axis'; false: it has none.
 *
 *     i                           coef
 *     variable of an inner loop   place_inner
 *     a value that stays          rest
 *     i * value that stays        coef, a form
 *     anything else               place_range */
static bool
place_term(Depend *d, DependAxis *axis, Expr *atom, int64_t coef, int depth)
{
    if (ir_is_var(atom, d->loop->var)) {
        Linear one = linear_const(1);
        return add_form(d, &axis->coef, &one, coef);
    }
    if (atom->op == E_VAR) {
        const Inside *in = map_get(&d->inside, atom->var);
        if (in != NULL && in->loop != NULL) {
            return place_inner(d, axis, in, coef, depth);
        }
    }
    if (!varies(d, atom)) {
        Linear form = linear_atom(d->arena, atom);
        return add_form(d, &axis->rest, &form, coef);
    }
    return (atom->op == E_MUL && place_product(d, axis, atom, coef)) ||
           place_range(d, axis, atom, coef);
}

/* Adds 'scale' * 'form' to 'axis', term by term. 'depth' bounds the chain of
 * inner loops whose ends speak of one another. */
static bool
place_form(Depend *d, DependAxis *axis, const Linear *form, int64_t scale,
           int depth)
{
    Linear constant = linear_const(form->constant);
    if (depth > 16 || !add_form(d, &axis->rest, &constant, scale)) {
        return false;
    }
    for (int i = 0; i < form->terms.n; i++) {
        const Term *term = &form->terms.at[i];
        int64_t coef;
        if (__builtin_mul_overflow(term->coef, scale, &coef) ||
            !place_term(d, axis, term->atom, coef, depth + 1)) {
            return false;
        }
    }
    return true;
}

/* The form of 'index' in one round; not ok where it has none. Must be called
 * where the access stands: the operations in 'index' are taken apart by what
 * is known there, and the form is right wherever the access is made. */
DependAxis
depend_axis(Depend *d, Expr *index)
{
    DependAxis axis = {0};
    Linear form = {0};
    axis.ok =
        bounds_linear(d->b, index, &form) && place_form(d, &axis, &form, 1, 0);
    return axis;
}

/* --- inner loops --------------------------------------------------------- */

/* Later notes of one Var replace earlier ones; a Var is defined once, so there
 * is only the refinement from "defined" to "counted by a loop". */
Inside *
depend_inside(Depend *d, Var *var, Expr *value)
{
    Inside *in = ARENA_NEW(d->arena, Inside);
    in->value = value;
    map_set(&d->inside, var, in);
    return in;
}

/* The definition of 'e' where it is a Var set inside the loop: from a name to
 * the MIN or MAX that split_strips and clipping by hand put in the ends of
 * inner loops. */
static Expr *
see_through(Depend *d, Expr *e)
{
    while (e->op == E_VAR) {
        const Inside *in = map_get(&d->inside, e->var);
        if (in == NULL || in->value == NULL) {
            break;
        }
        e = in->value;
    }
    return e;
}

/* 'hi' - 'lo' - 1 as a form: the last value of k where the variable is lo + k.
 * False where an end has no form or their difference overflows. */
static bool
last_form(Depend *d, Expr *lo, Expr *hi, Linear *out)
{
    Linear start;
    if (!bounds_linear(d->b, hi, out) || !bounds_linear(d->b, lo, &start) ||
        !add_form(d, out, &start, -1)) {
        return false;
    }
    out->constant -= 1;
    return true;
}

/* An upper bound of 'hi' - 'lo' - 1 that holds in every round, FAR when none
 * is found. A min above or a max below may be cut by either of its sides:
 *
 *     lo = 8*i, hi = min(8*i + 8, h)    8*i + 8 - 8*i - 1 = 7
 *
 * min(a, b) - lo - 1 is at most a - lo - 1 and at most b - lo - 1, so the
 * least of what the sides give is a bound; 'depth' keeps nested ones in check.
 * What the interval of hi - lo says is taken where it is smaller. */
static int64_t
most_last(Depend *d, Expr *lo, Expr *hi, int depth)
{
    Expr *above = see_through(d, hi);
    Expr *below = see_through(d, lo);
    int64_t most = FAR;
    int64_t last = FAR;
    for (int i = 0; i < 2 && depth < 4; i++) {
        if (above->op == E_MIN) {
            last = most_last(d, lo, above->args[i], depth + 1);
            most = last < most ? last : most;
        }
        if (below->op == E_MAX) {
            last = most_last(d, below->args[i], hi, depth + 1);
            most = last < most ? last : most;
        }
    }
    Linear form;
    if (last_form(d, lo, hi, &form) && linear_is_const(&form, &last)) {
        most = last < most ? last : most;
    }
    int64_t low;
    int64_t high;
    bounds_interval(d->b, ir_binary(d->arena, E_SUB, hi, lo), &low, &high);
    return high < most ? high - 1 : most;
}

/* The same as a form that no round changes, in '*out':
 *
 *     lo = size*i, hi = min(size*i + size, h)    size - 1
 */
static bool
steady_last(Depend *d, Expr *lo, Expr *hi, int depth, Linear *out)
{
    Expr *above = see_through(d, hi);
    Expr *below = see_through(d, lo);
    bool found = last_form(d, lo, hi, out) && !form_varies(d, out);
    for (int i = 0; i < 2 && depth < 4 && !found; i++) {
        found = (above->op == E_MIN &&
                 steady_last(d, lo, above->args[i], depth + 1, out)) ||
                (below->op == E_MAX &&
                 steady_last(d, below->args[i], hi, depth + 1, out));
    }
    return found;
}

/* The width of an inner loop is taken exactly, as a form, where no round
 * changes it (x in 0..w), else as a constant that it never exceeds, or as such
 * a form. A form may be negative where the loop does not run; see assume_runs.
 * A constant is never below 0. Called before the loop's own facts are known,
 * for these hold inside it only while the width is used outside. */
void
depend_loop(Depend *d, const Stmt *s)
{
    Inside *in = depend_inside(d, s->var, NULL);
    in->loop = s;
    in->bounded = bounds_linear(d->b, s->lo, &in->lo);
    int64_t last = most_last(d, s->lo, s->hi, 0);
    Linear form;
    bool exact = last_form(d, s->lo, s->hi, &form) && !form_varies(d, &form);
    if (exact && form.terms.n > 0) {
        in->last = form;
    } else if (last > WIDE && steady_last(d, s->lo, s->hi, 0, &form)) {
        in->last = form;
    } else {
        in->last = linear_const(last > 0 ? last : 0);
        in->bounded = in->bounded && last < FAR;
    }
}

/* --- the test ------------------------------------------------------------ */

/* Rounds towards minus infinity; 'den' > 0. */
static int64_t
floor_div(int64_t num, int64_t den)
{
    int64_t quotient = num / den;
    return num % den < 0 ? quotient - 1 : quotient;
}

/* Of any two numbers, never negative; gcd(0, n) = |n|. */
static int64_t
gcd(int64_t lhs, int64_t rhs)
{
    while (rhs != 0) {
        int64_t rest = lhs % rhs;
        lhs = rhs;
        rhs = rest;
    }
    return llabs(lhs);
}

/* Is 'distance' >= 'coef' * (number of rounds)? Two rounds of one loop are at
 * most trips - 1 apart, so coef * |i - i'| is below that product. A loop whose
 * ends make trips negative has no two rounds, and the answer does not
 * matter. */
static bool
beyond_trips(Depend *d, const Linear *distance, const Linear *coef)
{
    Linear trips;
    Linear lo;
    Linear slack = linear_const(0);
    return bounds_linear(d->b, d->loop->hi, &trips) &&
           bounds_linear(d->b, d->loop->lo, &lo) &&
           add_form(d, &trips, &lo, -1) &&
           linear_product(d->arena, &trips, coef, &trips) &&
           add_form(d, &slack, distance, 1) &&
           add_form(d, &slack, &trips, -1) && proves_positive(d, &slack, 1);
}

/* coef * (i - i') in [low, high] with i != i': is there no such pair?
 *
 * The whole multiples of coef in the range are least .. most, rounded inwards;
 * the sign of coef does not matter since i and i' may change places when it is
 * turned. None at all, or only 0, which is i = i': apart. Otherwise the
 * smallest distance that is not 0 must be more than the loop has rounds; a
 * range with numbers on both sides of 0 has the distance 1 in it. */
static bool
no_distance(Depend *d, int64_t coef, int64_t low, int64_t high)
{
    Linear one = linear_const(1);
    coef = llabs(coef);
    int64_t least = -floor_div(-low, coef);
    int64_t most = floor_div(high, coef);
    if (least > most || (least == 0 && most == 0)) {
        return true;
    }
    Linear distance = linear_const(least > 0 ? least : most < 0 ? -most : 1);
    return beyond_trips(d, &distance, &one);
}

/* The same where forms are not constant; 'coef' > 0 for certain.
 *
 * Apart if -coef < low and high < coef, for then no multiple but 0 fits; or if
 * all of the range lies above the largest distance, coef * (trips - 1), or
 * below its negative.
 *
 *     a[y*w + x], 0 <= x < w      coef w, range [-(w-1), w-1]: apart */
static bool
no_distance_form(Depend *d, const Linear *coef, const Linear *low,
                 const Linear *high)
{
    Linear above = linear_const(0);
    Linear below = linear_const(0);
    Linear back = linear_const(0);
    if (!add_form(d, &back, high, -1)) {
        return false;
    }
    bool within =
        add_form(d, &above, coef, 1) && add_form(d, &above, high, -1) &&
        proves_positive(d, &above, 0) && add_form(d, &below, coef, 1) &&
        add_form(d, &below, low, 1) && proves_positive(d, &below, 0);
    return within || beyond_trips(d, low, coef) || beyond_trips(d, &back, coef);
}

/* One coefficient: 'coef' * (i - i') in [low, high]. Constants are decided by
 * arithmetic. Forms need a known sign; for coef < 0 the equation is negated,
 * which turns the range round to [-high, -low]. Numbers of FAR and more are
 * left to the forms, so that no_distance can't overflow. */
static bool
same_apart(Depend *d, const Linear *coef, const Linear *low, const Linear *high)
{
    int64_t step;
    int64_t from;
    int64_t to;
    Linear minus = linear_const(0);
    if (linear_is_const(coef, &step) && linear_is_const(low, &from) &&
        linear_is_const(high, &to) && llabs(from) < FAR && llabs(to) < FAR &&
        llabs(step) < FAR) {
        return no_distance(d, step, from, to);
    }
    if (proves_positive(d, coef, 0)) {
        return no_distance_form(d, coef, low, high);
    }
    Linear back_low = linear_const(0);
    Linear back_high = linear_const(0);
    return add_form(d, &minus, coef, -1) && proves_positive(d, &minus, 0) &&
           add_form(d, &back_low, high, -1) &&
           add_form(d, &back_high, low, -1) &&
           no_distance_form(d, &minus, &back_low, &back_high);
}

/* Adds to 'sum' the least value of 'scale' * (the loop's variable): at lo for
 * scale > 0, at hi - 1 for scale < 0. Both are reached only by a loop that
 * runs, which never_meet assumes. */
static bool
add_least(Depend *d, Linear *sum, int64_t scale)
{
    Linear end = {0};
    if (scale == 0) {
        return true;
    }
    if (!bounds_linear(d->b, scale < 0 ? d->loop->hi : d->loop->lo, &end)) {
        return false;
    }
    if (scale < 0) {
        end.constant -= 1;
    }
    return add_form(d, sum, &end, scale);
}

/* lhs*i - rhs*i' outside [low, high] for all rounds of a loop that runs. The
 * two rounds are bounded each for itself, so i = i' is not excluded: an upper
 * bound of the left side is sought that is below "low", or a lower bound above
 * "high".
 *
 *     a[i], a[n-1-i] for i < n/2:   i + i' <= 2*(n/2 - 1) < n - 1 */
static bool
never_meet(Depend *d, int64_t lhs, int64_t rhs, const Linear *low,
           const Linear *high)
{
    Linear above = *low;
    Linear below = linear_const(0);
    int mark = bounds_push(d->b);
    bounds_assume(d->b, ir_binary(d->arena, E_LT, d->loop->lo, d->loop->hi),
                  true);
    bool apart = add_least(d, &above, -lhs) && add_least(d, &above, rhs) &&
                 proves_positive(d, &above, 0);
    apart =
        apart || (add_form(d, &below, high, -1) && add_least(d, &below, lhs) &&
                  add_least(d, &below, -rhs) && proves_positive(d, &below, 0));
    bounds_pop(d->b, mark);
    return apart;
}

/* A common divisor of both coefs that does not divide the one gap there is:
 * lhs*i - rhs*i' is always a multiple of it.
 *
 *     a[2*i] and a[4*i + 1]     gcd 2, gap 1: never */
static bool
indivisible(int64_t lhs, int64_t rhs, const Linear *low, const Linear *high)
{
    int64_t step = gcd(lhs, rhs);
    return step > 1 && linear_equal(low, high) && low->terms.n == 0 &&
           low->constant % step != 0;
}

/* The inner loops around an access run, or it is none: for each, last >= 0.
 * This is what makes [0, last] an interval. */
static void
assume_runs(Depend *d, const DependAxis *axis)
{
    Expr *zero = ir_int(d->arena, DT_I64, 0);
    for (int i = 0; i < axis->runs.n; i++) {
        Expr *last = linear_expr(d->arena, &axis->runs.at[i]);
        bounds_assume(d->b, ir_binary(d->arena, E_LE, zero, last), true);
    }
}

/* The gap is what 'rhs' adds more than 'lhs', as an interval of forms: with
 * index = coef*i + rest + [low, high] on both sides, equal elements mean
 *
 *     lhs.coef*i - rhs.coef*i'  in  rhs.rest - lhs.rest
 *                                   + [rhs.low - lhs.high, rhs.high - lhs.low]
 *
 * Equal coefs are a question of the distance between two rounds; different
 * ones must be constants, 0 included (a store to a[0] in every round and a
 * load of a[i]). */
static bool
forms_apart(Depend *d, const DependAxis *lhs, const DependAxis *rhs)
{
    Linear low = linear_const(0);
    Linear high = linear_const(0);
    int64_t from;
    int64_t to;
    if (!lhs->ok || !rhs->ok || !add_form(d, &low, &rhs->rest, 1) ||
        !add_form(d, &low, &lhs->rest, -1)) {
        return false;
    }
    high = low;
    if (!add_form(d, &low, &rhs->low, 1) ||
        !add_form(d, &low, &lhs->high, -1) ||
        !add_form(d, &high, &rhs->high, 1) ||
        !add_form(d, &high, &lhs->low, -1)) {
        return false;
    }
    if (!is_zero(&lhs->coef) && linear_equal(&lhs->coef, &rhs->coef)) {
        return same_apart(d, &lhs->coef, &low, &high);
    }
    return linear_is_const(&lhs->coef, &from) &&
           linear_is_const(&rhs->coef, &to) && llabs(from) < FAR &&
           llabs(to) < FAR &&
           (indivisible(from, to, &low, &high) ||
            never_meet(d, from, to, &low, &high));
}

/* Facts that hold because both accesses are reached make the proofs possible
 * where an extent may be zero. */
bool
depend_apart(Depend *d, const DependAxis *lhs, const DependAxis *rhs)
{
    int mark = bounds_push(d->b);
    assume_runs(d, lhs);
    assume_runs(d, rhs);
    bool apart = forms_apart(d, lhs, rhs);
    bounds_pop(d->b, mark);
    return apart;
}
