/* The rules of rules.def for small vectors.
 *
 *     let %v = (insert %u 0 1.0)
 *     (elem %v 0)                     ->  1.0
 *     (insert (insert %v 1 2.0) 2 b)  ->  (insert (insert (splat 3 1.0) 1 2.0)
 *                                          2 b)
 *
 * A vector is built element by element, each with a name of its own, so that
 * most rules look through names: Rules.vectors has what they stand for.  The
 * second example is why: where %u is what the last round of a loop left, the
 * rounds would hang on each other for nothing.
 */
#include "transforms/simplify.h"

/* An element of a vector with a name, where it is a constant, a Var or an
 * element of another name: looking through must not copy work. */
Expr *
elem_of_named(Rules *r, Expr *e)
{
    Expr *vec = e->args[0];
    if (vec->op != E_VAR) {
        return NULL;
    }
    Expr *value = map_get(&r->vectors, vec->var);
    if (value == NULL) {
        return NULL;
    }
    Expr *elem = rules_apply(r, ir_elem(r->arena, value, e->args[1]));
    bool leaf = elem->op == E_CONST || elem->op == E_VAR;
    bool other = elem->op == E_ELEM && elem->args[0]->op == E_VAR;
    return leaf || other ? elem : NULL;
}

/* An INSERT at a constant index is seen through by other constants. */
Expr *
elem_of(Rules *r, Expr *e)
{
    const Expr *vec = e->args[0];
    int64_t index = 0;
    int64_t other = 0;
    if (vec->op == E_SPLAT) {
        return vec->args[0];
    }
    if (vec->op != E_INSERT) {
        return NULL;
    }
    if (ir_equal(vec->args[1], e->args[1])) {
        return vec->args[2];
    }
    if (ir_const_int(vec->args[1], &index) &&
        ir_const_int(e->args[1], &other) && index != other) {
        return rules_apply(r, ir_elem(r->arena, vec->args[0], e->args[1]));
    }
    return NULL;
}

/* One element is read instead of all. */
Expr *
elem_of_load(Rules *r, Expr *e)
{
    const Expr *vec = e->args[0];
    int64_t index = 0;
    Expr *full[MAX_RANK];
    if (vec->op != E_LOAD || !ir_const_int(e->args[1], &index) || index < 0 ||
        index >= vec->lanes || vec->nargs >= MAX_RANK) {
        return NULL;
    }
    for (int i = 0; i < vec->nargs; i++) {
        full[i] = vec->args[i];
    }
    full[vec->nargs] = e->args[1];
    Expr *load = ir_load(r->arena, vec->buf, full, vec->nargs + 1, 0);
    return ir_at(load, e->loc);
}

/* The first value is never seen. */
Expr *
insert_twice(Rules *r, Expr *e)
{
    const Expr *inner = e->args[0];
    if (inner->op != E_INSERT || !ir_equal(inner->args[1], e->args[1])) {
        return NULL;
    }
    return ir_insert(r->arena, inner->args[0], e->args[1], e->args[2]);
}

/* What element 'index' of 'vec' was set to last, if that is a constant or a
 * name; NULL if it isn't, or nothing set it. */
static Expr *
element_set(const Rules *r, const Expr *vec, int64_t index)
{
    int64_t at = 0;
    while (vec != NULL && vec->op != E_SPLAT) {
        if (vec->op == E_VAR) {
            vec = map_get(&r->vectors, vec->var);
            continue;
        }
        if (vec->op != E_INSERT || !ir_const_int(vec->args[1], &at)) {
            return NULL;
        }
        if (at == index) {
            Expr *e = vec->args[2];
            return e->op == E_CONST || e->op == E_VAR ? e : NULL;
        }
        vec = vec->args[0];
    }
    return vec != NULL && simp_is_leaf(vec->args[0]) ? vec->args[0] : NULL;
}

/* Does 'vec' begin with something else than a splat? */
static bool
has_past(const Rules *r, const Expr *vec)
{
    while (vec != NULL && vec->op == E_INSERT) {
        vec = vec->args[0];
    }
    if (vec != NULL && vec->op == E_VAR) {
        const Expr *value = map_get(&r->vectors, vec->var);
        return value == NULL || has_past(r, value);
    }
    return vec == NULL || vec->op != E_SPLAT;
}

/* All elements are set: the first value is never seen. */
Expr *
insert_all(Rules *r, Expr *e)
{
    if (!has_past(r, e)) {
        return NULL;
    }
    for (int i = 0; i < e->lanes; i++) {
        if (element_set(r, e, i) == NULL) {
            return NULL;
        }
    }
    Expr *vec = ir_splat(r->arena, element_set(r, e, 0), e->lanes);
    for (int i = 1; i < e->lanes; i++) {
        Expr *at = ir_int(r->arena, DT_I64, i);
        vec = ir_insert(r->arena, vec, at, element_set(r, e, i));
    }
    return vec;
}
