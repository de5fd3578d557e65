/* Arithmetic on linear forms.
 *
 *     3 + 2*i - dim(a, 0)        constant 3, terms (i, 2) (dim(a, 0), -1)
 *
 * A form is an exact integer expression: it never wraps, whatever its atoms
 * are.  Every operation says whether the analysis's own 64-bit coefficients
 * sufficed; a caller that is told "no" must forget the form.
 *
 * Atoms are kept in one order, so that equal forms are equal term by term.
 * The order depends on ids and hashes only, never on addresses, and so is the
 * same in every run.
 *
 * Products of atoms are atoms themselves: an E_MUL of i64 factors, nested to
 * the left, factors in the same order (i*w*h is mul(mul(h, i), w)).  Such an
 * E_MUL stands for the mathematical product.  bounds.c hides an IR product
 * that may wrap in a CAST, so the two are never taken for each other.
 */
#include "csrc/analysis/analysis.h"

/* Of a product atom: a row, a plane and a stride still fit. */
enum { MAX_FACTORS = 4 };

/* The form that is just 'value'. */
Linear
linear_const(int64_t value)
{
    Linear form = {0};
    form.constant = value;
    return form;
}

/* The form 1 * 'atom'. */
Linear
linear_atom(Arena *arena, Expr *atom)
{
    Linear form = {0};
    Term term = {atom, 1};
    vec_push(arena, &form.terms, term);
    return form;
}

/* Vars first, by id, then extents, then the rest by hash. */
static int
order_class(const Expr *atom)
{
    return atom->op == E_VAR ? 0 : atom->op == E_DIM ? 1 : 2;
}

/* -1, 0 or 1 as 'lhs' is less than, equal to or greater than 'rhs'; a
 * difference could overflow. */
static int
compare_long(int64_t lhs, int64_t rhs)
{
    return lhs < rhs ? -1 : lhs > rhs;
}

/* The one order of atoms: < 0, 0, > 0. Two atoms that are not ir_equal but
 * have one hash compare equal; merging asks ir_equal as well, and a sum that
 * would have to put them side by side is refused. */
static int
compare_atoms(const Expr *lhs, const Expr *rhs)
{
    int lhs_class = order_class(lhs);
    int rhs_class = order_class(rhs);
    if (lhs == rhs) {
        return 0;
    }
    if (lhs_class != rhs_class) {
        return lhs_class - rhs_class;
    }
    if (lhs_class == 0) {
        return compare_long(lhs->var->id, rhs->var->id);
    }
    if (lhs_class == 1) {
        int by_buf = compare_long(lhs->buf->id, rhs->buf->id);
        return by_buf != 0 ? by_buf : lhs->axis - rhs->axis;
    }
    return lhs->hash < rhs->hash ? -1 : lhs->hash > rhs->hash;
}

/* Append factor * coefficient of 'from', unless that is zero; false on
 * overflow. */
static bool
push_scaled(Arena *arena, Linear *out, const Term *from, int64_t factor)
{
    Term term = {from->atom, 0};
    if (__builtin_mul_overflow(from->coef, factor, &term.coef)) {
        return false;
    }
    if (term.coef != 0) {
        vec_push(arena, &out->terms, term);
    }
    return true;
}

/* Append lhs_factor * lhs + rhs_factor * rhs, two terms of one atom, unless
 * they cancel. */
static bool
push_both(Arena *arena, Linear *out, const Term *lhs, int64_t lhs_factor,
          const Term *rhs, int64_t rhs_factor)
{
    int64_t from_lhs = 0;
    int64_t from_rhs = 0;
    Term term = {lhs->atom, 0};
    if (__builtin_mul_overflow(lhs->coef, lhs_factor, &from_lhs) ||
        __builtin_mul_overflow(rhs->coef, rhs_factor, &from_rhs) ||
        __builtin_add_overflow(from_lhs, from_rhs, &term.coef)) {
        return false;
    }
    if (term.coef != 0) {
        vec_push(arena, &out->terms, term);
    }
    return true;
}

/* Merge the sorted terms of both sides into 'out'. Terms of one atom meet
 * because both lists have the one order. False on overflow or when two atoms
 * can't be ordered. */
static bool
merge_terms(Arena *arena, const Linear *lhs, int64_t lhs_factor,
            const Linear *rhs, int64_t rhs_factor, Linear *out)
{
    int i = 0;
    int j = 0;
    bool ok = true;
    while (ok && (i < lhs->terms.n || j < rhs->terms.n)) {
        const Term *left = i < lhs->terms.n ? &lhs->terms.at[i] : NULL;
        const Term *right = j < rhs->terms.n ? &rhs->terms.at[j] : NULL;
        int order = left == NULL ? 1 : right == NULL ? -1
            : compare_atoms(left->atom, right->atom);
        if (order == 0 && !ir_equal(left->atom, right->atom)) {
            return false;
        }
        if (order == 0) {
            ok = push_both(arena, out, left, lhs_factor, right, rhs_factor);
            i++;
            j++;
        } else if (order < 0) {
            ok = push_scaled(arena, out, left, lhs_factor);
            i++;
        } else {
            ok = push_scaled(arena, out, right, rhs_factor);
            j++;
        }
    }
    return ok;
}

/* The sum is built aside, so 'out' may be one of the operands, and is left
 * alone when a coefficient overflows. A factor of 0 drops its side, which
 * makes this the multiplication by a constant too. */
bool
linear_sum(Arena *arena, const Linear *lhs, int64_t lhs_factor,
           const Linear *rhs, int64_t rhs_factor, Linear *out)
{
    int64_t from_lhs = 0;
    int64_t from_rhs = 0;
    Linear sum = {0};
    if (__builtin_mul_overflow(lhs->constant, lhs_factor, &from_lhs) ||
        __builtin_mul_overflow(rhs->constant, rhs_factor, &from_rhs) ||
        __builtin_add_overflow(from_lhs, from_rhs, &sum.constant)) {
        return false;
    }
    if (!merge_terms(arena, lhs, lhs_factor, rhs, rhs_factor, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

/* Appends the factors of a product atom, last one first, to the 'n' in
 * 'factors'; false when there are too many. Only i64 values can be operands of
 * the new product, so one with a u64 atom is refused. */
static bool
take_factors(Expr *atom, Expr **factors, int *n)
{
    while (atom->op == E_MUL && atom->dtype == DT_I64) {
        if (*n == MAX_FACTORS) {
            return false;
        }
        factors[(*n)++] = atom->args[1];
        atom = atom->args[0];
    }
    if (*n == MAX_FACTORS || atom->dtype != DT_I64) {
        return false;
    }
    factors[(*n)++] = atom;
    return true;
}

/* The atom that stands for lhs * rhs; NULL: too many factors. Factors are
 * sorted by insertion, so equal products are built alike whatever their order
 * was, and are one atom. */
static Expr *
product_atom(Arena *arena, Expr *lhs, Expr *rhs)
{
    Expr *factors[MAX_FACTORS];
    int n = 0;
    if (!take_factors(lhs, factors, &n) || !take_factors(rhs, factors, &n)) {
        return NULL;
    }
    for (int i = 1; i < n; i++) {
        Expr *moved = factors[i];
        int j = i;
        for (; j > 0 && compare_atoms(factors[j - 1], moved) > 0; j--) {
            factors[j] = factors[j - 1];
        }
        factors[j] = moved;
    }
    Expr *product = factors[0];
    for (int i = 1; i < n; i++) {
        product = ir_binary(arena, E_MUL, product, factors[i]);
    }
    return product;
}

/* 'out' += coef * atom * form, where 'term' is coef * atom: once for the
 * form's constant, once for each of its terms. */
static bool
add_product(Arena *arena, const Term *term, const Linear *form, Linear *out)
{
    Linear atom = linear_atom(arena, term->atom);
    int64_t coef = 0;
    if (__builtin_mul_overflow(term->coef, form->constant, &coef) ||
        !linear_sum(arena, out, 1, &atom, coef, out)) {
        return false;
    }
    for (int i = 0; i < form->terms.n; i++) {
        const Term *other = &form->terms.at[i];
        Expr *product = product_atom(arena, term->atom, other->atom);
        if (product == NULL ||
            __builtin_mul_overflow(term->coef, other->coef, &coef)) {
            return false;
        }
        atom = linear_atom(arena, product);
        if (!linear_sum(arena, out, 1, &atom, coef, out)) {
            return false;
        }
    }
    return true;
}

/* (a + A)(b + B) = a*(b + B) + A*b + A*B, one term of A after another.
 * False also when a product would have more than MAX_FACTORS factors. */
bool
linear_product(Arena *arena, const Linear *lhs, const Linear *rhs,
               Linear *out)
{
    Linear zero = {0};
    Linear sum;
    if (!linear_sum(arena, rhs, lhs->constant, &zero, 0, &sum)) {
        return false;
    }
    for (int i = 0; i < lhs->terms.n; i++) {
        if (!add_product(arena, &lhs->terms.at[i], rhs, &sum)) {
            return false;
        }
    }
    *out = sum;
    return true;
}

/* 'out' is set to the constant part in any case. */
bool
linear_is_const(const Linear *form, int64_t *out)
{
    *out = form->constant;
    return form->terms.n == 0;
}

/* Sorted terms and merged atoms make this a walk in step. */
bool
linear_equal(const Linear *lhs, const Linear *rhs)
{
    if (lhs->constant != rhs->constant || lhs->terms.n != rhs->terms.n) {
        return false;
    }
    for (int i = 0; i < lhs->terms.n; i++) {
        const Term *left = &lhs->terms.at[i];
        const Term *right = &rhs->terms.at[i];
        if (left->coef != right->coef || !ir_equal(left->atom, right->atom)) {
            return false;
        }
    }
    return true;
}

/* The coefficient of 'atom' standing alone; products that contain it don't
 * count. */
int64_t
linear_coef(const Linear *form, const Expr *atom)
{
    for (int i = 0; i < form->terms.n; i++) {
        if (ir_equal(form->terms.at[i].atom, atom)) {
            return form->terms.at[i].coef;
        }
    }
    return 0;
}

/* sum + coef * atom, written with the least arithmetic: no product with 1, and
 * a difference for a negative coefficient where there is something to subtract
 * from. -INT64_MIN does not exist, so that coefficient stays a factor.  A u64
 * atom goes in modulo 2^64, as all of this arithmetic does. */
static Expr *
add_term(Arena *arena, Expr *sum, const Term *term)
{
    Expr *atom = term->atom;
    if (atom->dtype == DT_U64) {
        atom = ir_cast(arena, DT_I64, atom);
    }
    int64_t coef = term->coef;
    bool negative = coef < 0 && coef != INT64_MIN && sum != NULL;
    if (negative) {
        coef = -coef;
    }
    if (coef != 1) {
        Expr *factor = ir_int(arena, DT_I64, coef);
        atom = ir_binary(arena, E_MUL, atom, factor);
    }
    if (sum == NULL) {
        return atom;
    }
    return ir_binary(arena, negative ? E_SUB : E_ADD, sum, atom);
}

/* Positive terms come first, so that h - 1 - i is not -1*i + h - 1. The i64
 * arithmetic of the result wraps where the form does not: it has the form's
 * value if that fits i64, whatever sums on the way do. */
Expr *
linear_expr(Arena *arena, const Linear *form)
{
    Expr *sum = NULL;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < form->terms.n; i++) {
            const Term *term = &form->terms.at[i];
            if ((term->coef > 0) == (sign > 0)) {
                sum = add_term(arena, sum, term);
            }
        }
    }
    if (sum == NULL) {
        return ir_int(arena, DT_I64, form->constant);
    }
    if (form->constant == 0) {
        return sum;
    }
    bool negative = form->constant < 0 && form->constant != INT64_MIN;
    int64_t size = negative ? -form->constant : form->constant;
    return ir_binary(arena, negative ? E_SUB : E_ADD, sum,
                     ir_int(arena, DT_I64, size));
}
