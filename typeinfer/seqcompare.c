/* Comparisons with tuples, lists of fixed length and ranges, written out item
 * by item.
 *
 *     t == u           not not (t[0] == u[0] and t[1] == u[1])
 *     t < u            t[1] < u[1] if t[0] == u[0] else t[0] < u[0]
 *     x in (2, 3, n)   not not (x == 2 or x == 3 or x == n)
 *
 * Operands are held first, as in sequence.c.  `not not` makes a bool of `and`,
 * which would be one of its operands.
 *
 * Python compares items by identity before it compares them by value.  The two
 * differ for nan only, which is a number that is equal to itself if it is the
 * same object: where both sides are nan the call is repeated in Python.
 */
#include <string.h>

#include "typeinfer/list.h"

/* True or False. */
static AExpr *
const_bool(Infer *I, bool value, Loc loc)
{
    AExpr *e = ast_expr(I->arena, A_CONST, loc);
    e->type = type_known_bool(I->arena, value);
    return e;
}

/* not 'e', as a Python bool. */
static AExpr *
negation(Infer *I, AExpr *e)
{
    bool truth;
    if (type_truth(e->type, &truth)) {
        return const_bool(I, !truth, e->loc);
    }
    AExpr *out = ast_expr(I->arena, A_UNARY, e->loc);
    out->op = AO_NOT;
    out->lhs = e;
    out->type = type_bool(I->arena);
    return out;
}

/* The truth of 'op' over conditions; their effects have been held. Those that
 * are known decide, or vanish. */
AExpr *
combined(Infer *I, AOp op, const AExprVec *conds, Loc loc)
{
    AExpr *all = ast_expr(I->arena, A_BOOLOP, loc);
    all->op = op;
    all->type = type_bool(I->arena);
    for (int i = 0; i < conds->n; i++) {
        bool truth;
        if (!type_truth(conds->at[i]->type, &truth)) {
            vec_push(I->arena, &all->items, conds->at[i]);
        } else if (truth == (op == AO_OR)) {
            return const_bool(I, truth, loc);
        }
    }
    if (all->items.n == 0) {
        return const_bool(I, op == AO_AND, loc);
    }
    AExpr *one = all->items.n == 1 ? all->items.at[0] : all;
    return negation(I, negation(I, one));
}

/* --- comparisons ---------------------------------------------------------- */

/* A comparison of held operands. */
AExpr *
typed_compare(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, Loc loc)
{
    AExpr *e = ast_expr(I->arena, A_COMPARE, loc);
    e->lhs = lhs;
    vec_push(I->arena, &e->items, rhs);
    vec_push(I->arena, &e->ops, op);
    e->type = type_of_compare(I, e, op, lhs, rhs);
    return e;
}

/* May the number be nan? */
bool
may_be_nan(const Type *type)
{
    bool floats = dtype_is_float(type->dtype) || type->alt == ALT_FLOAT;
    return floats && !(type->known && type->fval == type->fval);
}

/* Python repeats the call if both are nan, for they may be one object: x == x
 * is false for a nan alone. */
static void
assert_not_both_nan(Infer *I, AExpr *lhs, AExpr *rhs, ABlock *out)
{
    AExprVec conds = {0};
    if (!may_be_nan(lhs->type) || !may_be_nan(rhs->type)) {
        return;
    }
    vec_push(I->arena, &conds, typed_compare(I, AO_EQ, lhs, lhs, lhs->loc));
    vec_push(I->arena, &conds, typed_compare(I, AO_EQ, rhs, rhs, rhs->loc));
    AStmt *s = ast_stmt(I->arena, AS_ASSERT, lhs->loc);
    s->value = combined(I, AO_OR, &conds, lhs->loc);
    vec_push(I->arena, out, s);
}

/* A number that may be NumPy's. */
static bool
is_strong(const Type *type)
{
    bool number = type->kind == TY_NUM || type->kind == TY_COMPLEX;
    return number && (!type->weak || type->alt != ALT_NEVER);
}

/* Are the items known to be no number and no sequence on at least one side, so
 * that equality is decided by what they are?  A number of NumPy's makes an
 * array of a tuple. */
static bool
differs_in_kind(const Type *lhs, const Type *rhs)
{
    bool texts = lhs->kind == TY_STR || rhs->kind == TY_STR;
    bool none = lhs->kind == TY_NONE || rhs->kind == TY_NONE;
    bool tuples = lhs->kind == TY_TUPLE || rhs->kind == TY_TUPLE;
    bool dtypes = lhs->kind == TY_DTYPE || rhs->kind == TY_DTYPE;
    bool own = lhs->kind == TY_RECORD || rhs->kind == TY_RECORD ||
               lhs->kind == TY_OBJECT || rhs->kind == TY_OBJECT; /* __eq__ */
    bool spread = tuples && (is_strong(lhs) || is_strong(rhs));
    return lhs->kind != rhs->kind && (texts || none || tuples) && !dtypes &&
           !own && !spread &&
           lhs->kind != TY_ARRAY && rhs->kind != TY_ARRAY &&
           lhs->kind != TY_LIST && rhs->kind != TY_LIST &&
           lhs->alt == ALT_NEVER && rhs->alt == ALT_NEVER;
}

/* 'lhs' is 'rhs' or 'lhs' == 'rhs', for held operands. */
AExpr *
same_item(Infer *I, AExpr *lhs, AExpr *rhs, ABlock *out)
{
    const Type *a = lhs->type;
    const Type *b = rhs->type;
    if (differs_in_kind(a, b)) {
        return const_bool(I, false, lhs->loc);
    }
    if (a->kind == TY_NUM && b->kind == TY_NUM) {
        assert_not_both_nan(I, lhs, rhs, out);
    }
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE) {
        return compare_tuples(I, AO_EQ, lhs, rhs, out);
    }
    return typed_compare(I, AO_EQ, lhs, rhs, lhs->loc);
}

/* 'op' of items that differ, tuples among them. */
static AExpr *
ordered_items(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, ABlock *out)
{
    const Type *a = lhs->type;
    const Type *b = rhs->type;
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE && a->alt == ALT_NEVER &&
        b->alt == ALT_NEVER && a->is_list == b->is_list) {
        return compare_tuples(I, op, lhs, rhs, out);
    }
    return typed_compare(I, op, lhs, rhs, lhs->loc);
}

/* The first items that differ decide; if there are none, the lengths do:
 *
 *     (a, b) < (c, d)      b < d if a == c else a < c
 */
static AExpr *
ordered(Infer *I, AOp op, const AExprVec *lhs, const AExprVec *rhs, int at,
        ABlock *out, Loc loc)
{
    if (at == lhs->n || at == rhs->n) {
        const Type *a = type_known_int(I->arena, lhs->n);
        const Type *b = type_known_int(I->arena, rhs->n);
        return const_bool(I, fold_binop(I->arena, op, a, b)->ival != 0, loc);
    }
    AExpr *same = same_item(I, lhs->at[at], rhs->at[at], out);
    bool truth = false;
    bool known = type_truth(same->type, &truth);
    if (known && truth) {
        return ordered(I, op, lhs, rhs, at + 1, out, loc);
    }
    AExpr *here = ordered_items(I, op, lhs->at[at], rhs->at[at], out);
    if (known) {
        return here;
    }
    AExpr *later = ordered(I, op, lhs, rhs, at + 1, out, loc);
    AExpr *e = ast_expr(I->arena, A_IFEXP, loc);
    vec_push(I->arena, &e->items, same);
    vec_push(I->arena, &e->items, later);
    vec_push(I->arena, &e->items, here);
    e->type = join_values(I, e, same, later, here);
    return e;
}

/* Two typed tuples or two lists; what must be evaluated first goes to 'out'. */
AExpr *
compare_tuples(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, ABlock *out)
{
    Loc loc = lhs->loc;
    bool equality = op == AO_EQ || op == AO_NE;
    AExprVec a = held_items(I, lhs, out);
    AExprVec b = held_items(I, rhs, out);
    if (!equality) {
        return ordered(I, op, &a, &b, 0, out, loc);
    }
    AExprVec conds = {0};
    bool may = a.n == b.n && lhs->type->is_list == rhs->type->is_list;
    for (int i = 0; may && i < a.n; i++) {
        vec_push(I->arena, &conds, same_item(I, a.at[i], b.at[i], out));
    }
    AExpr *same =
        may ? combined(I, AO_AND, &conds, loc) : const_bool(I, false, loc);
    return op == AO_EQ ? same : negation(I, same);
}

/* 'x' in a range of integers: lo <= x < hi, and x - lo a multiple of the step.
 */
static AExpr *
in_range(Infer *I, AExpr *x, AExpr *range, ABlock *out)
{
    AExpr *const *args = range->items.at;
    Loc loc = x->loc;
    int64_t step = 1;
    bool known = args[2] == NULL || type_is_known_int(args[2]->type, &step);
    if (!known || step <= 0 || !type_is_integer(x->type, true) ||
        x->type->alt != ALT_NEVER || !x->type->weak) {
        infer_refuse(I, DIAG_UNSUPPORTED_OPERATION, loc, NULL,
                     "`in` is translated for an int and a range upwards");
    }
    AExpr *lo = args[1] ? hold_typed(I, args[0], out) : const_int(I, 0, loc);
    AExpr *hi = hold_typed(I, args[1] ? args[1] : args[0], out);
    AExprVec conds = {0};
    vec_push(I->arena, &conds, typed_compare(I, AO_LE, lo, x, loc));
    vec_push(I->arena, &conds, typed_compare(I, AO_LT, x, hi, loc));
    if (step != 1) {
        AExpr *from = hold_typed(I, typed_binop(I, AO_SUB, x, lo, loc), out);
        AExpr *rest = typed_binop(I, AO_MOD, from, args[2], loc);
        AExpr *zero = const_int(I, 0, loc);
        vec_push(I->arena, &conds, typed_compare(I, AO_EQ, rest, zero, loc));
    }
    return combined(I, AO_AND, &conds, loc);
}

/* 'x' in 'where' of typed operands; NULL: not of this kind. */
static AExpr *
contained(Infer *I, AExpr *x, AExpr *where, ABlock *out)
{
    if (iter_builtin(where) == BUILTIN_RANGE) {
        check_iterable(I, where);
        return in_range(I, hold_typed(I, x, out), where, out);
    }
    if (where->type->kind == TY_DICT) {
        return dict_has(I, hold_typed(I, x, out), where, out);
    }
    if (where->type->kind == TY_STR && x->type->kind == TY_STR) {
        bool has = strstr(where->type->name, x->type->name) != NULL;
        return const_bool(I, has, x->loc);
    }
    if (where->type->kind == TY_LIST) {
        return list_has(I, x, where);
    }
    if (where->type->kind != TY_TUPLE || where->type->alt != ALT_NEVER) {
        return NULL;
    }
    AExprVec conds = {0};
    x = hold_typed(I, x, out);
    AExprVec items = held_items(I, where, out);
    for (int i = 0; i < items.n; i++) {
        vec_push(I->arena, &conds, same_item(I, items.at[i], x, out));
    }
    return combined(I, AO_OR, &conds, x->loc);
}

/* One comparison with sequences, written out; NULL: it is another one. */
AExpr *
compare_sequences(Infer *I, AOp op, AExpr *lhs, AExpr *rhs)
{
    ABlock block = {0};
    AExpr *value = NULL;
    if (op == AO_IN || op == AO_NOTIN) {
        value = contained(I, lhs, rhs, &block);
        if (value != NULL && op == AO_NOTIN) {
            value = negation(I, value);
        }
    } else if (op != AO_IS && op != AO_ISNOT) {
        bool both = lhs->type->kind == TY_TUPLE && rhs->type->kind == TY_TUPLE;
        bool some = lhs->type->alt == ALT_NEVER && rhs->type->alt == ALT_NEVER;
        bool equality = op == AO_EQ || op == AO_NE;
        if (both && some &&
            (equality || lhs->type->is_list == rhs->type->is_list)) {
            value = compare_tuples(I, op, lhs, rhs, &block);
        } else if (equality && differs_in_kind(lhs->type, rhs->type)) {
            hold_typed(I, lhs, &block);
            hold_typed(I, rhs, &block);
            value = const_bool(I, op == AO_NE, lhs->loc);
        }
    } else {
        value = record_is(I, op, lhs, rhs, &block);
    }
    return value ? typed_seq(I, block, value) : NULL;
}
