/* A prover for  form >= 0  over the integers.
 *
 *     dim(a, 0) - 1 - i,   i <= dim(b, 0) - 1,   dim(a, 0) >= dim(b, 0)
 *     -> dim(a, 0) - dim(b, 0)  -> 0
 *
 * Fourier-Motzkin, aimed: the atom defined last is replaced by a lower bound
 * (where its coefficient is positive) or an upper bound (negative), scaled to
 * stay in integers; each bound known for it is tried in turn: of a loop's
 * variable, of a quotient or remainder, of a product through one factor, a
 * fact that mentions the atom, its range.  MIN, MAX, ABS and SELECT split into
 * cases, each with what the case adds.  A form whose range is not negative is
 * proved.
 *
 * Effort is bounded by Bounds.fuel and by depth; running out means "not
 * proved".  Every step only weakens, and the arithmetic is checked, so the
 * answer "proved" is never wrong.
 */
#include "csrc/analysis/bounds.h"

enum { MOST_RANKED = 256 }; /* nodes of an atom that give it its rank */

/* More candidates than fit are not worth trying. */
static void
add_candidate(Candidates *list, const Linear *form, int64_t mult)
{
    if (list->n < MAX_CANDIDATES) {
        Candidate one = {*form, mult};
        list->at[list->n++] = one;
    }
}

/* form + shift; dropped when it overflows. */
static void
add_shifted(Candidates *list, const Linear *form, int64_t shift, int64_t mult)
{
    Linear moved = *form;
    if (!__builtin_add_overflow(moved.constant, shift, &moved.constant)) {
        add_candidate(list, &moved, mult);
    }
}

/* Of at most '*nodes' nodes: expressions share their parts, of which a sorting
 * network has exponentially many paths. */
static int
rank_within(Bounds *b, const Expr *e, int *nodes)
{
    if (e->op == E_VAR) {
        return bounds_info(b, e->var)->seq;
    }
    int rank = 0;
    for (int i = 0; i < e->nargs && *nodes > 0; i++) {
        (*nodes)--;
        int arg = rank_within(b, e->args[i], nodes);
        rank = arg > rank ? arg : rank;
    }
    return rank;
}

/* How late the newest Var in 'e' was defined. Parameters and extents have rank
 * 0. Eliminating newest first moves outwards: bounds of inner Vars speak of
 * outer ones. A fact may bring in a newer atom again, so the length of a chain
 * is limited too. */
int
prove_rank(Bounds *b, const Expr *e)
{
    int nodes = MOST_RANKED;
    return rank_within(b, e, &nodes);
}

/* The term to eliminate: newest first, of equal ones the last (products and
 * other operations come after Vars and extents). */
static int
pick_term(Bounds *b, const Linear *form)
{
    int best = 0;
    int best_rank = -1;
    for (int i = 0; i < form->terms.n; i++) {
        int rank = prove_rank(b, form->terms.at[i].atom);
        if (rank >= best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* form - its term 'i', as a new form; 'form' stays as it is. */
Linear
prove_without(Bounds *b, const Linear *form, int i)
{
    Linear rest = linear_const(form->constant);
    for (int j = 0; j < form->terms.n; j++) {
        if (j != i) {
            vec_push(b->arena, &rest.terms, form->terms.at[j]);
        }
    }
    return rest;
}

/* Of two numbers that are not negative; gcd(0, b) = b. */
static int64_t
gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* g*F + c >= 0 is F >= -c/g, and for an integer F that is F + floor(c / g) >=
 * 0: the same goal with smaller numbers, and one that is easier to reach than
 * over the reals (2*i - 1 >= 0 becomes i - 1 >= 0). Also keeps coefficients
 * small over long chains of steps. */
void
prove_tighten(Bounds *b, Linear *form)
{
    int64_t divisor = 0;
    for (int i = 0; i < form->terms.n; i++) {
        int64_t coef = form->terms.at[i].coef;
        if (coef == INT64_MIN) {
            return;
        }
        divisor = gcd(divisor, coef < 0 ? -coef : coef);
    }
    if (divisor <= 1) {
        return;
    }
    Linear out = linear_const(
        (int64_t)wide_floor_div(form->constant, divisor));
    for (int i = 0; i < form->terms.n; i++) {
        Term term = form->terms.at[i];
        term.coef /= divisor;
        vec_push(b->arena, &out.terms, term);
    }
    *form = out;
}

/* --- candidates ---------------------------------------------------------- */

/* A loop's first and last value, or what induction found. The forms were made
 * where the Var was defined and are in terms of older ones. */
static void
var_bounds(Bounds *b, const Var *var, bool upper, Candidates *list)
{
    VarInfo *info = bounds_info(b, var);
    if (upper && info->has_hi) {
        add_candidate(list, &info->hi, 1);
    }
    if (!upper && info->has_lo) {
        add_candidate(list, &info->lo, 1);
    }
}

/* q = floor(x / d), d a positive constant: d*q <= x and d*q >= x - d + 1,
 * bounds with the factor d. For other divisors with x >= 0, d >= m >= 1:
 * m*q <= x. */
static void
idiv_bounds(Bounds *b, const Expr *atom, bool upper, Candidates *list)
{
    Linear lhs = bounds_form(b, atom->args[0]);
    Linear rhs = bounds_form(b, atom->args[1]);
    int64_t divisor = 0;
    if (linear_is_const(&rhs, &divisor) && divisor > 0) {
        add_shifted(list, &lhs, upper ? 0 : 1 - divisor, divisor);
        return;
    }
    Wide least = bounds_form_range(b, &rhs).lo;
    if (upper && least >= 1 && bounds_form_range(b, &lhs).lo >= 0) {
        add_candidate(list, &lhs, least < INT32_MAX ? (int64_t)least : 1);
    }
}

/* What share of an integer x >= 0 is cut to another: 2^k * atom <= x. */
static void
cast_bounds(Bounds *b, const Expr *atom, bool upper, Candidates *list)
{
    int shift = 0;
    Expr *whole = share_of(b, atom->args[0], &shift);
    if (upper && whole != NULL) {
        Linear form = bounds_form(b, whole);
        if (bounds_form_range(b, &form).lo >= 0) {
            add_candidate(list, &form, (int64_t)1 << shift);
        }
    }
}

/* d >= 1: 0 <= x mod d <= d - 1, and <= x where x >= 0. A divisor that may be
 * 0 or negative has a remainder of another sign, so d >= 1 is proved first, in
 * few steps. */
static void
mod_bounds(Bounds *b, const Expr *atom, bool upper, Candidates *list)
{
    Linear lhs = bounds_form(b, atom->args[0]);
    Linear rhs = bounds_form(b, atom->args[1]);
    Linear rest = linear_const(0);
    Linear above = rhs;
    above.constant = 0;
    if (__builtin_sub_overflow(rhs.constant, 1, &above.constant) ||
        !prove_nonneg(b, &above, 3)) {
        return;
    }
    if (!upper) {
        add_candidate(list, &rest, 1);
        return;
    }
    add_candidate(list, &above, 1);
    if (bounds_form_range(b, &lhs).lo >= 0) {
        add_candidate(list, &lhs, 1);
    }
}

/* min(x, y) <= x, y; max(x, y) >= x, y: each side is a bound by itself. The
 * other way round it takes both sides, which is a proof by cases. */
static void
side_bounds(Bounds *b, const Expr *atom, bool upper, Candidates *list)
{
    if ((atom->op == E_MIN) == upper) {
        for (int i = 0; i < 2; i++) {
            Linear side = bounds_form(b, atom->args[i]);
            add_candidate(list, &side, 1);
        }
    }
}

/* |x| >= x and |x| >= -x. Not for x = INT64_MIN, whose negative wraps. */
static void
abs_bounds(Bounds *b, const Expr *atom, bool upper, Candidates *list)
{
    Linear arg = bounds_form(b, atom->args[0]);
    Linear zero = linear_const(0);
    Linear negative;
    if (!upper && bounds_form_range(b, &arg).lo > INT64_MIN &&
        linear_sum(b->arena, &zero, 0, &arg, -1, &negative)) {
        add_candidate(list, &arg, 1);
        add_candidate(list, &negative, 1);
    }
}

/* Facts c*atom + g >= 0: c*atom >= -g is a lower bound where c > 0, (-c)*atom
 * <= g an upper one where c < 0. The atom must stand alone in a term; inside
 * of products and quotients it is another atom. */
static void
fact_bounds(Bounds *b, const Expr *atom, bool upper, Candidates *list)
{
    for (int i = 0; i < b->facts.n; i++) {
        const Linear *fact = &b->facts.at[i];
        for (int j = 0; j < fact->terms.n; j++) {
            int64_t coef = fact->terms.at[j].coef;
            if ((coef < 0) != upper || coef == INT64_MIN ||
                !ir_equal(fact->terms.at[j].atom, atom)) {
                continue;
            }
            Linear rest = prove_without(b, fact, j);
            Linear zero = linear_const(0);
            if (linear_sum(b->arena, &rest, upper ? 1 : -1, &zero, 0,
                           &rest)) {
                add_candidate(list, &rest, upper ? -coef : coef);
            }
        }
    }
}

/* x*y with y >= 0: a bound of x times y; with y <= 0, the opposite bound of x
 * times y, for the inequality turns round. mult * x >= f gives mult * x*y >=
 * f*y, and mult is kept. A factor of unknown sign gives nothing.
 *
 * Both factors are tried in the part of x, the first one only where it is not
 * the older of the two. */
static void
product_bounds(Bounds *b, Expr *atom, bool upper, Candidates *list)
{
    for (int i = 0; i < 2; i++) {
        Expr *factor = atom->args[i];
        Expr *other = atom->args[1 - i];
        Linear cofactor = linear_atom(b->arena, other);
        Range sign = bounds_form_range(b, &cofactor);
        bool later = prove_rank(b, factor) >= prove_rank(b, other);
        if ((!later && i == 0) || (sign.lo < 0 && sign.hi > 0)) {
            continue;
        }
        Candidates factors = {.n = 0};
        bool same = sign.lo >= 0;
        prove_collect(b, factor, same ? upper : !upper, &factors);
        prove_collect_range(b, factor, same ? upper : !upper, &factors);
        for (int j = 0; j < factors.n; j++) {
            Linear form;
            if (linear_product(b->arena, &factors.at[j].form, &cofactor,
                               &form)) {
                add_candidate(list, &form, factors.at[j].mult);
            }
        }
    }
}

/* Structure first, facts after: the former are the tighter bounds as a
 * rule. */
void
prove_collect(Bounds *b, Expr *atom, bool upper, Candidates *list)
{
    Var *var = bounds_atom_var(atom);
    if (var != NULL) {
        var_bounds(b, var, upper, list);
    }
    switch (atom->op) {
    case E_IDIV:
        idiv_bounds(b, atom, upper, list);
        break;
    case E_CAST:
        cast_bounds(b, atom, upper, list);
        break;
    case E_MOD:
        mod_bounds(b, atom, upper, list);
        break;
    case E_MIN:
    case E_MAX:
        side_bounds(b, atom, upper, list);
        break;
    case E_ABS:
        abs_bounds(b, atom, upper, list);
        break;
    case E_MUL:
        product_bounds(b, atom, upper, list);
        break;
    default:
        break;
    }
    fact_bounds(b, atom, upper, list);
}

/* The last resort, a constant. Numbers near the ends of i64 would overflow the
 * next step and are left out: they say nothing anyway. */
void
prove_collect_range(Bounds *b, Expr *atom, bool upper, Candidates *list)
{
    Linear self = linear_atom(b->arena, atom);
    Range range = bounds_form_range(b, &self);
    Wide value = upper ? range.hi : range.lo;
    if (value >= INT64_MIN / 2 && value <= INT64_MAX / 2) {
        Linear constant = linear_const((int64_t)value);
        add_candidate(list, &constant, 1);
    }
}

/* --- cases --------------------------------------------------------------- */

/* rest + coef * value >= 0? 'value' is what the atom is in the case at
 * hand. */
static bool
prove_case(Bounds *b, const Linear *rest, int64_t coef, const Linear *value,
           int depth)
{
    Linear form;
    return linear_sum(b->arena, rest, 1, value, coef, &form) &&
           prove_nonneg(b, &form, depth - 1);
}

/* min, max: each side, knowing that it is the one: for min(x, y) = x that y -
 * x >= 0. Both cases together cover all values, so both must be proved; equal
 * sides are in both. */
static bool
prove_sides(Bounds *b, const Linear *rest, const Term *term, int depth)
{
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        Linear value = bounds_form(b, term->atom->args[i]);
        Linear other = bounds_form(b, term->atom->args[1 - i]);
        int64_t sign = term->atom->op == E_MIN ? 1 : -1;
        Linear order;
        int mark = bounds_push(b);
        if (linear_sum(b->arena, &other, sign, &value, -sign, &order)) {
            bounds_add_fact(b, &order);
        }
        ok = prove_case(b, rest, term->coef, &value, depth);
        bounds_pop(b, mark);
    }
    return ok;
}

/* Does a fact about 'atom' say that it is not the number 'value'?  A loop that
 * runs up to select(c, n - 1, 0) has no rounds in the second case. */
static bool
is_excluded(Bounds *b, const Expr *atom, const Linear *value)
{
    int64_t number;
    if (!linear_is_const(value, &number)) {
        return false;
    }
    for (int i = 0; i < b->facts.n; i++) {
        const Linear *fact = &b->facts.at[i];
        if (fact->terms.n == 1 && ir_equal(fact->terms.at[0].atom, atom) &&
            wide_add(wide_mul(fact->terms.at[0].coef, number),
                     fact->constant) < 0) {
            return true;
        }
    }
    return false;
}

/* Each arm, knowing what the condition is then; the other arm never sees it.
 * Where another SELECT has decided the same condition, one arm is left. */
static bool
prove_select(Bounds *b, const Linear *rest, const Term *term, int depth)
{
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        if (prove_known(b, term->atom->args[0], i != 0)) {
            continue;
        }
        int mark = bounds_push(b);
        bounds_assume_in(b, term->atom->args[0], i == 0);
        Linear value = bounds_form(b, term->atom->args[1 + i]);
        ok = is_excluded(b, term->atom, &value) ||
             prove_case(b, rest, term->coef, &value, depth);
        bounds_pop(b, mark);
    }
    return ok;
}

/* x and -x, each in place of |x|: |x| is one of them, so rest + c*|x| >= 0
 * follows from both. Not where x may be INT64_MIN, whose ABS wraps. */
static bool
prove_abs(Bounds *b, const Linear *rest, const Term *term, int depth)
{
    Linear value = bounds_form(b, term->atom->args[0]);
    Linear zero = linear_const(0);
    Linear negative;
    return bounds_form_range(b, &value).lo > INT64_MIN &&
           linear_sum(b->arena, &zero, 0, &value, -1, &negative) &&
           prove_case(b, rest, term->coef, &value, depth) &&
           prove_case(b, rest, term->coef, &negative, depth);
}

/* The term's atom split into cases, where no single bound says it all: a MIN
 * from below (min >= f needs x >= f and y >= f), a MAX from above, |x| from
 * above, and a SELECT both ways. */
static bool
prove_cases(Bounds *b, const Linear *rest, const Term *term, int depth)
{
    bool upper = term->coef < 0;
    switch (term->atom->op) {
    case E_MIN:
    case E_MAX:
        return (term->atom->op == E_MIN) != upper &&
               prove_sides(b, rest, term, depth);
    case E_SELECT:
        return prove_select(b, rest, term, depth);
    case E_ABS:
        return upper && prove_abs(b, rest, term, depth);
    default:
        return false;
    }
}

/* The atom's dividend and divisor, where that is a positive constant. */
static bool
is_quotient(Bounds *b, const Expr *atom, Linear *dividend, int64_t *divisor)
{
    if (atom->op != E_IDIV) {
        return false;
    }
    Linear rhs = bounds_form(b, atom->args[1]);
    *dividend = bounds_form(b, atom->args[0]);
    return linear_is_const(&rhs, divisor) && *divisor > 0;
}

/* 'form' >= 0 is  rest + q >= 0 or rest - q >= 0 for q = floor(x / d), d a
 * positive constant, without loss: the bounds d*q <= x and d*q >= x - d + 1
 * forget that q is an integer.
 *
 *     q >= -rest  is  x >= -d*rest          q <= rest  is  x <= d*rest + d - 1
 *
 *     n/2 <= n - 1  is  n <= 2*n - 1, and so n >= 1 */
bool
prove_quotient(Bounds *b, const Linear *rest, const Term *term, Linear *form)
{
    int64_t divisor = 0;
    Linear lhs;
    return (term->coef == 1 || term->coef == -1) &&
           is_quotient(b, term->atom, &lhs, &divisor) &&
           linear_sum(b->arena, rest, divisor, &lhs, term->coef, form) &&
           !__builtin_add_overflow(form->constant,
                                   term->coef < 0 ? divisor - 1 : 0,
                                   &form->constant);
}

/* The goal rest + coef*atom >= 0 through one bound of the atom, in whichever
 * direction coef asks for:
 *
 *     mult * (rest + coef*atom)  >=  mult*rest + coef*form
 *
 * mult > 0, so the right side >= 0 proves the left. */
static bool
prove_by(Bounds *b, const Linear *rest, int64_t coef, const Candidate *bound,
         int depth)
{
    Linear form;
    return linear_sum(b->arena, rest, bound->mult, &bound->form, coef,
                      &form) &&
           prove_nonneg(b, &form, depth - 1);
}

/* Quotients by one number are in the order of their dividends, which each of
 * them alone doesn't say:
 *
 *     x <= y + k*d   ->   x//d <= y//d + k          for k = 0 and k = 1
 *     x >= y - k*d   ->   x//d >= y//d - k
 *
 * Bounds of the term's atom by another one in 'rest', of the opposite sign. */
static void
quotient_order(Bounds *b, const Linear *rest, const Term *term, int depth,
               Candidates *list)
{
    int64_t sign = term->coef < 0 ? 1 : -1;
    Linear own;
    Linear other;
    int64_t divisor = 0;
    int64_t same = 0;
    if (!is_quotient(b, term->atom, &own, &divisor)) {
        return;
    }
    for (int i = 0; i < rest->terms.n; i++) {
        const Term *next = &rest->terms.at[i];
        Linear gap;
        if ((next->coef < 0) == (term->coef < 0) ||
            !is_quotient(b, next->atom, &other, &same) || same != divisor ||
            !linear_sum(b->arena, &other, sign, &own, -sign, &gap)) {
            continue;
        }
        for (int64_t k = 0; k <= 1; k++) {
            Linear room = gap;
            Linear bound = linear_atom(b->arena, next->atom);
            bound.constant = sign * k;
            if (!__builtin_add_overflow(room.constant, k * divisor,
                                        &room.constant) &&
                prove_nonneg(b, &room, depth < 4 ? depth - 1 : 4)) {
                add_candidate(list, &bound, 1);
                break;
            }
        }
    }
}

/* 'form' >= 0, spending the caller's fuel and at most 'depth' eliminations.
 * Ranges answer most goals at once, both ways: a form that is certainly
 * negative is given up. Then the newest atom is eliminated, by cases or by
 * each of its bounds in turn. A "no" says only that no proof was found. */
bool
prove_nonneg(Bounds *b, const Linear *form, int depth)
{
    Linear goal = *form;
    prove_tighten(b, &goal);
    if (goal.terms.n == 0) {
        return goal.constant >= 0;
    }
    if (b->fuel-- <= 0) {
        return false;
    }
    Range range = bounds_form_range(b, &goal);
    if (range.lo >= 0) {
        return true;
    }
    if (range.hi < 0 || depth <= 0) {
        return false;
    }
    int picked = pick_term(b, &goal);
    Term term = goal.terms.at[picked];
    Linear rest = prove_without(b, &goal, picked);
    Candidates list = {.n = 0};
    Linear exact;
    if (prove_cases(b, &rest, &term, depth) ||
        (prove_quotient(b, &rest, &term, &exact) &&
         prove_nonneg(b, &exact, depth - 1))) {
        return true;
    }
    quotient_order(b, &rest, &term, depth, &list);
    prove_collect(b, term.atom, term.coef < 0, &list);
    prove_collect_range(b, term.atom, term.coef < 0, &list);
    for (int i = 0; i < list.n; i++) {
        if (prove_by(b, &rest, term.coef, &list.at[i], depth)) {
            return true;
        }
    }
    return false;
}

/* Public form of prove_nonneg: starts with full fuel. */
bool
bounds_nonneg(Bounds *b, const Linear *form)
{
    b->fuel = FUEL;
    bool proved = prove_nonneg(b, form, MAX_DEPTH);
    int effort = FUEL - b->fuel;
    return solver_wants(proved, b->hard)
               ? solver_settle(b->arena, smt_form(b, form), proved, b->hard,
                               effort)
               : proved;
}
