/* What must hold before a loop so that  form >= 0  holds in every round.
 *
 *     for i in 1 .. n - 1 {
 *         check lt(i + 1, dim(a, 0))       dim(a, 0) - 2 - i >= 0
 *     }                                    -> dim(a, 0) - n >= 0
 *
 * The prover of prove.c run with a second way out: a goal that is written in
 * allowed atoms alone (what can be computed before the loop) need not be
 * proved, it is handed out as a condition.  Atoms that are not allowed are
 * eliminated as there: a loop's variable by its first or last value, a
 * quotient, a product, cases.  In a case, what the case assumes helps to
 * prove; a condition that comes out must hold in all cases, which asks for
 * more than needed and never for less.
 *
 * A value that was loaded can be bounded by its dtype only, which says nothing
 * of what the program is about: t[label] with t of 5 and an uint8 label would
 * ask for 256 elements.  So that is done on demand only.
 */
#include "csrc/analysis/bounds.h"

/* One call of bounds_weaken.
 *   "b"         what is known in the loop
 *   "allowed"   may an atom stand in a condition? with "data"
 *   "by_range"  a loaded value may count as the worst of its dtype
 *   "out"       receives the conditions */
typedef struct Weaken {
    Bounds *b;
    AtomFn allowed;
    void *data;
    bool by_range;
    LinearVec *out;
} Weaken;

/* TELLING: a range that ends beyond comes from what an extent may be at most;
 * to ask that another be as large would fail always. */
enum { WEAKEN_DEPTH = 8, TELLING = 1 << 24 };

static bool weaken(Weaken *w, const Linear *form, int depth);

/* The newest term that is not allowed; -1: all are. */
static int
pick_foreign(Weaken *w, const Linear *form)
{
    int best = -1;
    int best_rank = -1;
    for (int i = 0; i < form->terms.n; i++) {
        const Expr *atom = form->terms.at[i].atom;
        int rank = prove_rank(w->b, atom);
        if (!w->allowed(w->data, atom) && rank >= best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* rest + coef * value >= 0, in the case at hand; what it takes is appended. */
static bool
weaken_case(Weaken *w, const Linear *rest, int64_t coef, Expr *value,
            int depth)
{
    Linear form;
    Linear part = bounds_form(w->b, value);
    return linear_sum(w->b->arena, rest, 1, &part, coef, &form) &&
           weaken(w, &form, depth - 1);
}

/* All cases of a SELECT, of a MIN from below, of a MAX from above. What each
 * of them needs is asked for without the case's condition: more than needed,
 * never less. The condition of a SELECT helps to prove a case, though. */
static bool
weaken_cases(Weaken *w, const Linear *rest, const Term *term, int depth)
{
    Expr *atom = term->atom;
    bool select = atom->op == E_SELECT;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        int mark = bounds_push(w->b);
        if (select) {
            bounds_assume_in(w->b, bounds_freeze(w->b, atom->args[0]),
                             i == 0);
        }
        ok = weaken_case(w, rest, term->coef, atom->args[select ? i + 1 : i],
                         depth);
        bounds_pop(w->b, mark);
    }
    return ok;
}

/* A MIN is bounded from above by either side alone, from below only by
 * both; a MAX the other way round. */
static bool
needs_cases(const Term *term)
{
    switch (term->atom->op) {
    case E_SELECT:
        return true;
    case E_MIN:
        return term->coef > 0;
    case E_MAX:
        return term->coef < 0;
    default:
        return false;
    }
}

/* May the term be replaced by its range?  A value from memory only if the
 * caller says so. */
static bool
allows_range(Weaken *w, Expr *atom, bool upper)
{
    const Var *var = bounds_atom_var(atom);
    Linear self = linear_atom(w->b->arena, atom);
    Range range = bounds_form_range(w->b, &self);
    if (upper ? range.hi > TELLING : range.lo < -TELLING) {
        return false;
    }
    if (var == NULL || w->by_range) {
        return w->by_range || !ir_has_load(atom);
    }
    const VarInfo *info = bounds_info(w->b, var);
    return info->has_lo || info->has_hi;
}

/* Is 'lhs' a tighter bound than 'rhs', by a constant? */
static bool
is_tighter(Weaken *w, const Candidate *lhs, const Candidate *rhs, bool upper)
{
    Linear gap;
    int64_t by;
    return lhs->mult == rhs->mult &&
           linear_sum(w->b->arena, &rhs->form, upper ? 1 : -1, &lhs->form,
                      upper ? -1 : 1, &gap) &&
           linear_is_const(&gap, &by) && by > 0;
}

/* Puts the tighter one of two bounds that differ by a constant in the place of
 * the first: x < w - 1 of a branch instead of the loop's x < w, which asks for
 * one element more than there may be. */
static void
tighten(Weaken *w, Candidates *list, bool upper)
{
    for (int i = 0; i < list->n; i++) {
        for (int k = i + 1; k < list->n; k++) {
            if (is_tighter(w, &list->at[k], &list->at[i], upper)) {
                list->at[i] = list->at[k];
            }
        }
    }
}

/* The form with its foreign term replaced by one bound after another; the
 * first that leads to conditions is taken, and what failed attempts appended
 * is dropped. The order of prove_collect decides: a loop's own ends come
 * first. */
static bool
weaken_term(Weaken *w, const Linear *form, int picked, int depth)
{
    Bounds *b = w->b;
    Term term = form->terms.at[picked];
    Linear rest = prove_without(b, form, picked);
    Candidates list = {.n = 0};
    Linear exact;
    if (needs_cases(&term)) {
        return weaken_cases(w, &rest, &term, depth);
    }
    int before = w->out->n;
    if (prove_quotient(b, &rest, &term, &exact) &&
        weaken(w, &exact, depth - 1)) {
        return true;
    }
    w->out->n = before;
    prove_collect(b, term.atom, term.coef < 0, &list);
    if (allows_range(w, term.atom, term.coef < 0)) {
        prove_collect_range(b, term.atom, term.coef < 0, &list);
    }
    tighten(w, &list, term.coef < 0);
    for (int i = 0; i < list.n; i++) {
        Linear next;
        int found = w->out->n;
        if (linear_sum(b->arena, &rest, list.at[i].mult, &list.at[i].form,
                       term.coef, &next) &&
            weaken(w, &next, depth - 1)) {
            return true;
        }
        w->out->n = found;
    }
    return false;
}

/* Is 'form' negative for all arrays that there are likely to be?  What a limit
 * of all extents was used for asks for more than that. */
static bool
is_hopeless(Weaken *w, const Linear *form)
{
    Wide likely = (Wide)1 << 26;
    Wide most = form->constant;
    for (int i = 0; i < form->terms.n; i++) {
        Linear part = {0};
        part.terms.at = &form->terms.at[i];
        part.terms.n = 1;
        Wide hi = bounds_form_range(w->b, &part).hi;
        bool extent = part.terms.at[0].atom->op == E_DIM;
        most = wide_add(most, extent && part.terms.at[0].coef == 1
                                  ? wide_min(hi, likely) : hi);
    }
    return most < 0;
}

/* What makes 'form' >= 0: proved, or handed out, or one foreign atom less.
 *
 * The prover gets a part of the fuel, so that one hard goal does not starve
 * the rest; what it spent is taken off. A form of allowed atoms that is
 * negative for certain would make the check fail always, so it is no
 * answer. */
static bool
weaken(Weaken *w, const Linear *form, int depth)
{
    if (depth <= 0 || w->b->fuel-- <= 0) {
        return false;
    }
    int fuel = w->b->fuel;
    w->b->fuel = fuel < FUEL / 8 ? fuel : FUEL / 8;
    int spent = w->b->fuel;
    bool proved = prove_nonneg(w->b, form, MAX_DEPTH);
    spent -= w->b->fuel > 0 ? w->b->fuel : 0;
    w->b->fuel = fuel - spent;
    if (proved) {
        return true;
    }
    int picked = pick_foreign(w, form);
    if (picked >= 0) {
        return weaken_term(w, form, picked, depth);
    }
    if (is_hopeless(w, form)) {
        return false;
    }
    Linear needed = *form;
    prove_tighten(w->b, &needed);
    vec_push(w->b->arena, w->out, needed);
    return true;
}

/* On failure 'out' is as before. */
bool
bounds_weaken(Bounds *b, const Linear *form, AtomFn allowed, void *data,
              bool by_range, LinearVec *out)
{
    Weaken w = {b, allowed, data, by_range, out};
    int found = out->n;
    b->fuel = 4 * FUEL;
    if (weaken(&w, form, WEAKEN_DEPTH)) {
        return true;
    }
    out->n = found;
    return false;
}
