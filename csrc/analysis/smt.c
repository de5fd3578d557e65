/* A goal and all that bears on it, as a script in SMT-LIB.
 *
 *     goal  i <= dim(a, 0) - 2        (declare-const a0 Int) ; %i.3
 *     where 0 <= i < dim(a, 0) - 1    (declare-const a1 Int) ; (dim &a.0 0)
 *                                     (assert (<= 0 a0))
 *                                     (assert (<= a0 (+ a1 (- 2))))
 *                                     (assert (not (<= a0 (+ a1 (- 2)))))
 *
 * The script is unsatisfiable if the goal follows.  Atoms of forms are integer
 * constants, of which is said what the affine prover would use too: ranges and
 * every bound that prove_collect finds, so products stay atoms and all is
 * linear.  What it lacks, and a solver has, are alternatives: either side of a
 * MIN, MAX, SELECT or ABS, and conditions of which one of two holds.
 *
 * Everything said is true wherever the place is reached, so leaving something
 * out can only lose a proof.  The text is the same in every run.
 */
#include "csrc/analysis/bounds.h"

/* Atoms beyond so many are declared, but nothing is said of them; alternatives
 * beyond so many are left out. */
enum { MAX_ATOMS = 40, MAX_ALTERNATIVES = 12 };

/* The script so far.
 *   "atoms"  a0, a1 ... : what each constant stands for
 *   "flags"  f0, f1 ... : conditions that say nothing about integers
 *   "lines"  declarations and assertions, in order */
typedef struct Smt {
    Bounds *b;
    Str lines;
    VEC(Expr *) atoms;
    VEC(Expr *) flags;
} Smt;

static const char *cond_text(Smt *smt, Expr *cond);
static void say_all(Smt *smt, int number, Expr *atom);

/* --- words --------------------------------------------------------------- */

/* SMT-LIB has no negative literals. */
static const char *
number_text(Smt *smt, int64_t value)
{
    Arena *arena = smt->b->arena;
    return value < 0 ? str_printf(arena, "(- %llu)",
                                  0ULL - (unsigned long long)value)
                     : str_printf(arena, "%lld", (long long)value);
}

/* The number of the constant for 'atom', declared when it is first met. What
 * it stands for is a comment. */
static int
atom_number(Smt *smt, Expr *atom)
{
    for (int i = 0; i < smt->atoms.n; i++) {
        if (ir_equal(smt->atoms.at[i], atom)) {
            return i;
        }
    }
    int number = smt->atoms.n;
    vec_push(smt->b->arena, &smt->atoms, atom);
    str_addf(&smt->lines, "(declare-const a%d Int) ; ", number);
    ir_print_expr(atom, &smt->lines);
    str_add(&smt->lines, "\n");
    if (number < MAX_ATOMS) {
        say_all(smt, number, atom);
    }
    return number;
}

static const char *
form_text(Smt *smt, const Linear *form)
{
    Arena *arena = smt->b->arena;
    Str text = str_new(arena);
    str_addf(&text, "(+ %s", number_text(smt, form->constant));
    for (int i = 0; i < form->terms.n; i++) {
        const Term *term = &form->terms.at[i];
        int number = atom_number(smt, term->atom);
        str_addf(&text, " (* %s a%d)", number_text(smt, term->coef), number);
    }
    str_add(&text, ")");
    return text.at;
}

/* The exact value of 'e' as text. Each has fuel of its own, as each query of
 * the affine prover has. */
static const char *
value_text(Smt *smt, Expr *e)
{
    smt->b->fuel = FUEL;
    Linear form = bounds_form(smt->b, e);
    return form_text(smt, &form);
}

/* --- what is known of an atom -------------------------------------------- */

/* Bounds known as forms, on one side. */
static void
say_bounds(Smt *smt, int number, Expr *atom, bool upper)
{
    Candidates list = {.n = 0};
    smt->b->fuel = FUEL;
    prove_collect(smt->b, atom, upper, &list);
    for (int i = 0; i < list.n; i++) {
        const Candidate *bound = &list.at[i];
        const char *form = form_text(smt, &bound->form);
        str_addf(&smt->lines, "(assert (%s (* %s a%d) %s))\n",
                 upper ? "<=" : ">=", number_text(smt, bound->mult), number,
                 form);
    }
}

/* The ends of its range, where 64 bits hold them. */
static void
say_range(Smt *smt, int number, Expr *atom)
{
    Linear self = linear_atom(smt->b->arena, atom);
    smt->b->fuel = FUEL;
    Range range = bounds_form_range(smt->b, &self);
    if (range.lo >= INT64_MIN && range.lo <= INT64_MAX) {
        str_addf(&smt->lines, "(assert (>= a%d %s))\n", number,
                 number_text(smt, (int64_t)range.lo));
    }
    if (range.hi >= INT64_MIN && range.hi <= INT64_MAX) {
        str_addf(&smt->lines, "(assert (<= a%d %s))\n", number,
                 number_text(smt, (int64_t)range.hi));
    }
}

/* x mod d = x - d*q for some q, d a positive constant. */
static void
say_mod(Smt *smt, int number, Expr *atom)
{
    Linear by = bounds_form(smt->b, atom->args[1]);
    int64_t divisor = 0;
    if (!linear_is_const(&by, &divisor) || divisor <= 0) {
        return;
    }
    const char *value = value_text(smt, atom->args[0]);
    str_addf(&smt->lines,
             "(declare-const q%d Int)\n"
             "(assert (= %s (+ a%d (* %lld q%d))))\n",
             number, value, number, (long long)divisor, number);
}

/* The atom is one of two values, and which one. Its operands are forms that
 * fit i64 (atom_of in forms.c), but for those of an ABS. */
static void
say_cases(Smt *smt, int number, Expr *atom)
{
    const char *cond = NULL;
    const char *yes;
    const char *no;
    if (atom->op == E_MIN || atom->op == E_MAX) {
        yes = value_text(smt, atom->args[0]);
        no = value_text(smt, atom->args[1]);
        cond = str_printf(smt->b->arena, "(%s %s %s)",
                          atom->op == E_MIN ? "<=" : ">=", yes, no);
    } else if (atom->op == E_SELECT) {
        yes = value_text(smt, atom->args[1]);
        no = value_text(smt, atom->args[2]);
        cond = cond_text(smt, atom->args[0]);
    }
    if (cond != NULL) {
        str_addf(&smt->lines, "(assert (= a%d (ite %s %s %s)))\n", number,
                 cond, yes, no);
    }
}

/* |x| is not below x and -x (say_bounds) and is one of them, unless x is
 * INT64_MIN, whose negative wraps. */
static void
say_abs(Smt *smt, int number, Expr *atom)
{
    smt->b->fuel = FUEL;
    if (bounds_range(smt->b, atom->args[0]).lo > INT64_MIN) {
        const char *value = value_text(smt, atom->args[0]);
        str_addf(&smt->lines, "(assert (or (= a%d %s) (= a%d (- %s))))\n",
                 number, value, number, value);
    }
}

static void
say_all(Smt *smt, int number, Expr *atom)
{
    say_range(smt, number, atom);
    say_bounds(smt, number, atom, false);
    say_bounds(smt, number, atom, true);
    smt->b->fuel = FUEL;
    if (atom->op == E_MOD) {
        say_mod(smt, number, atom);
    } else if (atom->op == E_ABS) {
        say_abs(smt, number, atom);
    } else {
        say_cases(smt, number, atom);
    }
}

/* --- conditions ---------------------------------------------------------- */

/* A condition without integers to speak of: equal ones are one flag. */
static const char *
flag_text(Smt *smt, Expr *cond)
{
    Arena *arena = smt->b->arena;
    int i = 0;
    while (i < smt->flags.n && !ir_equal(smt->flags.at[i], cond)) {
        i++;
    }
    if (i == smt->flags.n) {
        vec_push(arena, &smt->flags, cond);
        str_addf(&smt->lines, "(declare-const f%d Bool) ; ", i);
        ir_print_expr(cond, &smt->lines);
        str_add(&smt->lines, "\n");
    }
    return str_printf(arena, "f%d", i);
}

/* Does the exact result not fit the dtype? NULL: it has no form. */
static const char *
overflow_text(Smt *smt, Expr *cond)
{
    Bounds *b = smt->b;
    b->fuel = FUEL;
    Linear lhs = bounds_form(b, cond->args[0]);
    Linear rhs = bounds_form(b, cond->args[1]);
    Linear exact;
    Range fits = bounds_dtype_range(cond->args[0]->dtype);
    bool ok = cond->op == E_MULO
                  ? linear_product(b->arena, &lhs, &rhs, &exact)
                  : linear_sum(b->arena, &lhs, 1, &rhs,
                               cond->op == E_ADDO ? 1 : -1, &exact);
    if (!ok || fits.hi > INT64_MAX) {
        return NULL;
    }
    const char *value = form_text(smt, &exact);
    return str_printf(b->arena, "(or (< %s %s) (> %s %s))", value,
                      number_text(smt, (int64_t)fits.lo), value,
                      number_text(smt, (int64_t)fits.hi));
}

/* The condition of two operands that 'cond' is; NULL: of none. */
static const char *
binary_text(Smt *smt, Expr *cond)
{
    const char *op = cond->op == E_LT ? "<" : cond->op == E_LE ? "<=" : "=";
    const char *lhs;
    const char *rhs;
    switch (cond->op) {
    case E_AND:
    case E_OR:
        lhs = cond_text(smt, cond->args[0]);
        rhs = cond_text(smt, cond->args[1]);
        return str_printf(smt->b->arena, "(%s %s %s)",
                          cond->op == E_AND ? "and" : "or", lhs, rhs);
    case E_EQ:
    case E_NE:
    case E_LT:
    case E_LE:
        if (!bounds_is_number(cond->args[0])) {
            return NULL;
        }
        lhs = value_text(smt, cond->args[0]);
        rhs = value_text(smt, cond->args[1]);
        return str_printf(smt->b->arena,
                          cond->op == E_NE ? "(not (%s %s %s))" : "(%s %s %s)",
                          op, lhs, rhs);
    case E_ADDO:
    case E_SUBO:
    case E_MULO:
        return bounds_is_number(cond->args[0]) ? overflow_text(smt, cond)
                                               : NULL;
    default:
        return NULL;
    }
}

/* A Var is what it was defined as. */
static const char *
cond_text(Smt *smt, Expr *cond)
{
    Arena *arena = smt->b->arena;
    while (cond->op == E_VAR && cond->dtype == DT_BOOL &&
           bounds_info(smt->b, cond->var)->value != NULL) {
        cond = bounds_info(smt->b, cond->var)->value;
    }
    if (cond->dtype != DT_BOOL || cond->lanes != 0) {
        return flag_text(smt, cond);
    }
    if (cond->op == E_CONST) {
        return cond->ival ? "true" : "false";
    }
    if (cond->op == E_NOT) {
        return str_printf(arena, "(not %s)", cond_text(smt, cond->args[0]));
    }
    const char *text = binary_text(smt, cond);
    return text != NULL ? text : flag_text(smt, cond);
}

/* Of which at least one of two sides holds, newest first. */
static void
say_alternatives(Smt *smt)
{
    int said = 0;
    for (int i = smt->b->pending.n - 1; i >= 0 && said < MAX_ALTERNATIVES;
         i--, said++) {
        Known lhs = smt->b->pending.at[i].lhs;
        Known rhs = smt->b->pending.at[i].rhs;
        const char *first = cond_text(smt, lhs.cond);
        const char *second = cond_text(smt, rhs.cond);
        str_addf(&smt->lines, "(assert (or (= %s %s) (= %s %s)))\n", first,
                 lhs.holds ? "true" : "false", second,
                 rhs.holds ? "true" : "false");
    }
}

/* Integers that are known to differ: no bound of either, so the atoms do not
 * say it. Newest first. */
static void
say_distinct(Smt *smt)
{
    int said = 0;
    for (int i = smt->b->known.n - 1; i >= 0 && said < MAX_ALTERNATIVES; i--) {
        Known known = smt->b->known.at[i];
        bool differ = known.cond->op == E_NE ? known.holds
                      : known.cond->op == E_EQ && !known.holds;
        if (differ && bounds_is_number(known.cond->args[0])) {
            const char *lhs = value_text(smt, known.cond->args[0]);
            const char *rhs = value_text(smt, known.cond->args[1]);
            str_addf(&smt->lines, "(assert (not (= %s %s)))\n", lhs, rhs);
            said++;
        }
    }
}

/* --- the script ---------------------------------------------------------- */

const char *
smt_form(Bounds *b, const Linear *form)
{
    Smt smt = {.b = b, .lines = str_new(b->arena)};
    const char *text = form_text(&smt, form);
    str_addf(&smt.lines, "(assert (< %s 0)) ; the goal fails\n", text);
    say_alternatives(&smt);
    say_distinct(&smt);
    return smt.lines.at;
}

const char *
smt_cond(Bounds *b, Expr *cond, bool holds)
{
    Smt smt = {.b = b, .lines = str_new(b->arena)};
    const char *text = cond_text(&smt, cond);
    str_addf(&smt.lines, "(assert (= %s %s)) ; the goal fails\n", text,
             holds ? "false" : "true");
    say_alternatives(&smt);
    say_distinct(&smt);
    return smt.lines.at;
}
