/* Expressions: the typed tree -> Values.
 *
 * Operands are lowered from left to right; what an operand needs as statements
 * (checks above all) is emitted before it is used.  Where Python evaluates
 * something only sometimes -- the right side of `and`, a branch of `if-else` --
 * its statements go into an IF; if it needs none, it is evaluated always,
 * because expressions have no effects.
 *
 *     i > 0 and a[i] > t      set c = lt(0, i)
 *                             if c { check lt(i, n); set c = lt(t, a[i]) }
 *     i > 0 and i < n         and(lt(0, i), lt(i, n))
 *
 * To find out whether there are any, an operand is lowered "aside", into a
 * block of its own, which then is dropped into an IF or found empty.
 *
 * Two traps lie in the order of evaluation.  A value may be loaded before a
 * call of a user function that stores into the same array; then it is held in a
 * variable first.  And float arithmetic that Python would not have done must
 * not be done here either, because the FPU's flags tell of NumPy's warnings:
 * such an operand gets an IF even if it has no statements.
 */
#include "csrc/lower/list.h"

/* --- lazily evaluated parts ----------------------------------------------- */

/* Statements gathered apart. */
typedef struct Aside {
    Block block;
    Block *outer;
} Aside;

/* From here to aside_end statements are emitted into 'aside', which starts
 * empty, and the caller decides where they go: after the branch is known, into
 * an IF or in line. */
static void
aside_begin(Lower *L, Aside *aside)
{
    aside->block = (Block){0};
    aside->outer = L->out;
    L->out = &aside->block;
}

/* Emission goes on where it was. The aside keeps its statements. */
static void
aside_end(Lower *L, Aside *aside)
{
    L->out = aside->outer;
}

/* if 'cond' { body } else { els }; the blocks have been written already. */
static void
emit_if(Lower *L, Expr *cond, Block body, Block els, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = cond;
    s->body = body;
    s->els = els;
    emit(L, s);
}

/* Can 'e' be evaluated although Python would not?  Float arithmetic may set
 * the FPU's flags, which stand for NumPy's warnings. */
static bool
is_quiet(const Expr *e)
{
    if (e == NULL) {
        return true;
    }
    bool arith = e->op == E_ADD || e->op == E_SUB || e->op == E_MUL ||
                 e->op == E_DIV || e->op == E_CAST || e->op == E_CALL;
    if (arith && dtype_is_float(e->args[0]->dtype)) {
        return false;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_quiet(e->args[i])) {
            return false;
        }
    }
    return true;
}

/* --- conditions ----------------------------------------------------------- */

/* 'cond' and (or) what 'aside' found, which is not to be evaluated when 'cond'
 * decides: a variable takes the first answer, and the second one where it was
 * asked for. */
static Expr *
combine(Lower *L, bool is_and, Expr *cond, Aside *aside, Expr *other, Loc loc)
{
    if (aside->block.n == 0 && is_quiet(other)) {
        return is_and ? both(L, cond, other) : either(L, cond, other);
    }
    Var *var = set_var(L, "c", DT_BOOL, 0);
    emit_set(L, var, cond, loc);
    vec_push(L->arena, &aside->block, ir_set(L->arena, var, other, loc));
    Expr *go_on = ir_ref(L->arena, var);
    emit_if(L, is_and ? go_on : not_(L, go_on), aside->block, (Block){0}, loc);
    return go_on;
}

/* `a and b and c`: every item after the first is evaluated aside, and only
 * under the ones before it if it needs statements. */
static Expr *
cond_boolop(Lower *L, const AExpr *e)
{
    bool is_and = e->op == AO_AND;
    Expr *cond = lower_cond(L, e->items.at[0]);
    for (int i = 1; i < e->items.n; i++) {
        Aside aside;
        if (has_user_call(e->items.at[i])) {
            cond = hold(L, cond, e->loc);
        }
        aside_begin(L, &aside);
        Expr *other = lower_cond(L, e->items.at[i]);
        aside_end(L, &aside);
        cond = combine(L, is_and, cond, &aside, other, e->loc);
    }
    return cond;
}

/* 'a is None': known, or what the flag says. */
static Expr *
none_test(Lower *L, AOp op, Value lhs, Value rhs)
{
    Value v = lhs.type->kind == TY_NONE ? rhs : lhs;
    bool decided = v.type->alt != ALT_NONE;
    Expr *is_none = decided ? ir_bool(L->arena, v.type->kind == TY_NONE)
                            : flag_or_false(L, v.flag);
    return op == AO_IS ? is_none : not_(L, is_none);
}

/* Values that the operators of num.c and vec.c take. */
static bool
is_number_like(const Type *type)
{
    return type->kind == TY_NUM || type->kind == TY_ARRAY ||
           type->kind == TY_COMPLEX;
}

/* One comparison of a chain, as a value. Where types decide it -- text, None,
 * known numbers -- the value is known, exactly as inference found it, for
 * branches that it cut off are not there to be lowered. 'array' is the type of
 * the result if it is one. */
static Value
compare_one(Lower *L, AOp op, Value lhs, Value rhs, const Type *array, Loc loc)
{
    if (op == AO_IS || op == AO_ISNOT) {
        Expr *test = none_test(L, op, lhs, rhs);
        int64_t known;
        const Type *type = ir_const_int(test, &known)
                               ? type_known_bool(L->arena, known != 0)
                               : type_bool(L->arena);
        return num_value(type, test);
    }
    bool arrays = lhs.type->kind == TY_ARRAY || rhs.type->kind == TY_ARRAY;
    bool pair = lhs.type->kind == TY_COMPLEX || rhs.type->kind == TY_COMPLEX;
    if (pair && !arrays) {
        bool weak = complex_common(L->arena, lhs.type, rhs.type)->weak;
        return num_value(type_num(L->arena, DT_BOOL, weak),
                         complex_compare(L, op, lhs, rhs, loc));
    }
    if (!is_number_like(lhs.type) || !is_number_like(rhs.type)) {
        bool strings = lhs.type->kind == TY_STR && rhs.type->kind == TY_STR;
        bool dtypes =
            lhs.type->kind == TY_DTYPE || rhs.type->kind == TY_DTYPE;
        bool same = dtypes    ? dtype_named(lhs.type) == dtype_named(rhs.type)
                    : strings ? lhs.type->name == rhs.type->name
                            : lhs.type->kind == rhs.type->kind;
        bool holds = same == (op == AO_EQ);
        return value_of_type(L, type_known_bool(L->arena, holds));
    }
    if (arrays) {
        return array_binop(L, op, lhs, rhs, array, loc);
    }
    const Type *known = fold_binop(L->arena, op, lhs.type, rhs.type);
    return known ? value_of_type(L, known) : num_binop(L, op, lhs, rhs, loc);
}

/* An operand that the next comparison needs too. */
static Value
twice(Lower *L, Value v, Loc loc)
{
    if (v.expr != NULL) {
        v.expr = reuse(L, v.expr, loc);
    }
    return v;
}

/* The chain as a condition: 'a < b < c' is 'a < b and b < c', but b is
 * evaluated once, and c only if a < b holds. */
static Expr *
cond_compare(Lower *L, const AExpr *e)
{
    Value lhs = lower_expr(L, e->lhs);
    Expr *cond = NULL;
    for (int i = 0; i < e->items.n; i++) {
        Aside aside;
        bool last = i + 1 == e->items.n;
        if (has_user_call(e->items.at[i])) {
            lhs = hold_value(L, lhs, e->loc);
            cond = hold(L, cond, e->loc);
        }
        if (cond != NULL) {
            aside_begin(L, &aside);
        }
        Value rhs = lower_expr(L, e->items.at[i]);
        rhs = last ? rhs : twice(L, rhs, e->loc);
        Value one = compare_one(L, e->ops.at[i], lhs, rhs, e->type, e->loc);
        if (cond != NULL) {
            aside_end(L, &aside);
            cond = combine(L, true, cond, &aside, one.expr, e->loc);
        } else {
            cond = one.expr;
        }
        lhs = rhs;
    }
    return cond;
}

/* Mirrors infer_cond: `and`, `or`, `not` and chains are conditions down to
 * their leaves, of which only the truth is asked. A leaf has a type of its own,
 * and need not have one in common with others. */
Expr *
lower_cond(Lower *L, const AExpr *e)
{
    bool known;
    if (e->kind == A_BOOLOP) {
        return cond_boolop(L, e);
    }
    if (e->kind == A_UNARY && e->op == AO_NOT) {
        return not_(L, lower_cond(L, e->lhs));
    }
    if (e->kind == A_SEQ) {
        lower_block(L, &e->block);
        return lower_cond(L, e->lhs);
    }
    if (e->kind == A_COMPARE && e->type->kind == TY_NUM &&
        !type_truth(e->type, &known)) {
        return cond_compare(L, e);
    }
    return truth_of(L, lower_expr(L, e), e->loc);
}

/* --- values that are chosen ----------------------------------------------- */

/* 'cond' ? yes : no as a value of 'type'; each has its statements. A select, if
 * neither has any and both may be evaluated; else variables that are set in the
 * branches of an IF.  The conversions to the common type belong to the sides,
 * for their checks must hold only there. */
static Value
choose(Lower *L, Expr *cond, Aside *yes_aside, Value yes, Aside *no_aside,
       Value no, const Type *type, Loc loc)
{
    bool plain = type->kind == TY_NUM || type_is_vector(type);
    L->out = &yes_aside->block;
    yes = convert(L, yes, type, loc);
    L->out = &no_aside->block;
    no = convert(L, no, type, loc);
    L->out = yes_aside->outer;
    if (type_is_memory(type) && !type->ref) {
        return yes; /* the same array */
    }
    if (plain && yes_aside->block.n == 0 && no_aside->block.n == 0 &&
        is_quiet(yes.expr) && is_quiet(no.expr)) {
        cond = reuse(L, cond, loc);
        Value out =
            num_value(type, ir_select(L->arena, cond, yes.expr, no.expr));
        if (yes.flag != NULL || no.flag != NULL) {
            out.flag = ir_select(L->arena, cond, flag_or_false(L, yes.flag),
                                 flag_or_false(L, no.flag));
        }
        return out;
    }
    Value to = storage_new(L, type, "v");
    L->out = &yes_aside->block;
    storage_set(L, &to, yes, loc);
    L->out = &no_aside->block;
    storage_set(L, &to, no, loc);
    L->out = yes_aside->outer;
    emit_if(L, cond, yes_aside->block, no_aside->block, loc);
    return to;
}

/* Both sides are lowered aside from the place where the condition is known. A
 * side that inference cut off is NULL. */
static Value
lower_ifexp(Lower *L, const AExpr *e)
{
    Expr *cond = lower_cond(L, e->items.at[0]);
    const AExpr *yes = e->items.at[1];
    const AExpr *no = e->items.at[2];
    if (yes == NULL || no == NULL) { /* decided, but with effects */
        return lower_expr(L, yes ? yes : no);
    }
    if (has_user_call(yes) || has_user_call(no)) {
        cond = hold(L, cond, e->loc);
    }
    Aside yes_aside;
    Aside no_aside;
    aside_begin(L, &yes_aside);
    Value yes_value = lower_expr(L, yes);
    aside_end(L, &yes_aside);
    aside_begin(L, &no_aside);
    Value no_value = lower_expr(L, no);
    aside_end(L, &no_aside);
    return choose(L, cond, &yes_aside, yes_value, &no_aside, no_value, e->type,
                  e->loc);
}

/* 'a and b' as a value: the first item that decides, or the last. The rest of
 * the chain is the other side of a choice, so it is lowered recursively. */
static Value
lower_boolop_from(Lower *L, const AExpr *e, int at, const Type *type)
{
    Value v = lower_expr(L, e->items.at[at]);
    if (at + 1 == e->items.n) {
        return v;
    }
    v = twice(L, hold_value(L, v, e->loc), e->loc);
    Expr *truth = truth_of(L, v, e->loc);
    Aside none;
    Aside rest;
    aside_begin(L, &none);
    aside_end(L, &none);
    aside_begin(L, &rest);
    Value other = lower_boolop_from(L, e, at + 1, type);
    aside_end(L, &rest);
    if (e->op == AO_AND) {
        return choose(L, truth, &rest, other, &none, v, type, e->loc);
    }
    return choose(L, truth, &none, v, &rest, other, type, e->loc);
}

/* An operand of an operation whose result is of 'type': a tree where that is
 * one, too. */
static Value
lower_operand(Lower *L, const AExpr *e, const Type *type)
{
    return type_is_memory(type) ? lower_lazy(L, e) : lower_expr(L, e);
}

/* A chain of comparisons as a value, from the one whose left side is 'lhs'.
 * Where types decide a comparison the chain goes on or ends without a choice.
 */
static Value
lower_chain(Lower *L, const AExpr *e, int at, Value lhs)
{
    bool last = at + 1 == e->items.n;
    if (has_user_call(e->items.at[at])) {
        lhs = hold_value(L, lhs, e->loc);
    }
    Value rhs = lower_operand(L, e->items.at[at], e->type);
    rhs = last ? rhs : twice(L, rhs, e->loc);
    Value one = compare_one(L, e->ops.at[at], lhs, rhs, e->type, e->loc);
    bool holds = false;
    if (last || (type_truth(one.type, &holds) && !holds)) {
        return one;
    }
    if (holds) {
        return lower_chain(L, e, at + 1, rhs);
    }
    one = twice(L, hold_value(L, one, e->loc), e->loc);
    Expr *truth = truth_of(L, one, e->loc);
    Aside none;
    Aside rest;
    aside_begin(L, &none);
    aside_end(L, &none);
    aside_begin(L, &rest);
    Value other = lower_chain(L, e, at + 1, rhs);
    aside_end(L, &rest);
    return choose(L, truth, &rest, other, &none, one, e->type, e->loc);
}

/* --- the others ----------------------------------------------------------- */

/* Operands from left to right into 'out'; absent ones are skipped. An operand
 * with a user call lets those before it be held: f(a[0], g(a)) reads a[0]
 * before g may change it. */
void
lower_items(Lower *L, const AExprVec *items, Value *out)
{
    for (int i = 0; i < items->n; i++) {
        if (items->at[i] == NULL) {
            continue;
        }
        for (int k = 0; k < i && has_user_call(items->at[i]); k++) {
            if (items->at[k] != NULL) {
                out[k] = hold_value(L, out[k], items->at[k]->loc);
            }
        }
        out[i] = lower_expr(L, items->at[i]);
    }
}

/* A tuple is its items; nothing is made at run time. */
static Value
lower_display(Lower *L, const AExpr *e)
{
    Value v = {.type = e->type};
    v.items = ARENA_ARRAY(L->arena, Value, e->items.n + 1);
    lower_items(L, &e->items, v.items);
    return v;
}

/* The items of two tuples, which are Values already. */
static Value
concat(Lower *L, Value lhs, Value rhs, const Type *type)
{
    Value v = {.type = type};
    v.items = ARENA_ARRAY(L->arena, Value, type->rank + 1);
    for (int i = 0; i < type->rank; i++) {
        v.items[i] =
            i < lhs.type->rank ? lhs.items[i] : rhs.items[i - lhs.type->rank];
    }
    return v;
}

/* a + b of numbers, vectors or tuples. */
static Value
lower_binop(Lower *L, const AExpr *e)
{
    if (list_operator(e)) {
        return lower_list_binop(L, e);
    }
    Value lhs = lower_operand(L, e->lhs, e->type);
    if (has_user_call(e->rhs)) {
        lhs = hold_value(L, lhs, e->loc);
    }
    Value rhs = lower_operand(L, e->rhs, e->type);
    if (lhs.type->kind == TY_TUPLE) {
        return concat(L, lhs, rhs, e->type);
    }
    if (e->type->kind == TY_COMPLEX) {
        return complex_binop_of(L, e->op, lhs, rhs, e->type, e->loc);
    }
    if (lhs.type->kind == TY_ARRAY || rhs.type->kind == TY_ARRAY) {
        return array_binop(L, e->op, lhs, rhs, e->type, e->loc);
    }
    return num_binop(L, e->op, lhs, rhs, e->loc);
}

/* -a, ~a, not a. */
static Value
lower_unary(Lower *L, const AExpr *e)
{
    if (e->op == AO_NOT) {
        return num_value(e->type, lower_cond(L, e));
    }
    Value arg = lower_operand(L, e->lhs, e->type);
    if (arg.type->kind == TY_COMPLEX) {
        return complex_unary_of(L, e->op, arg, e->type, e->loc);
    }
    if (arg.type->kind != TY_ARRAY) {
        return num_unary(L, e->op, arg, e->type, e->loc);
    }
    if (type_is_memory(e->type)) {
        return lazy_value(e->type, lazy_unop(L, e->op, arg, e->loc));
    }
    return num_value(e->type, vec_unary(L, e->op, vector_of(L, arg, e->loc)));
}

/* Inference says where what may be None or a number must be the array. */
static Value
some_array(Lower *L, const AExpr *e, Value v)
{
    if (v.type->kind == TY_ARRAY && v.type->alt != ALT_NEVER &&
        e->type->alt == ALT_NEVER) {
        Exc exc = v.type->alt == ALT_NONE ? X_TYPE : X_SPECULATE;
        emit_check(L, not_(L, v.flag), exc, e->loc);
        v.type = e->type;
        v.flag = NULL;
    }
    return v;
}

/* An expression by its kind. Constants and all kinds of objects that exist at
 * compile time only are their type. */
static Value
lower_any(Lower *L, const AExpr *e)
{
    switch ((int)e->kind) {
    case A_NAME:
        return some_array(L, e, version_read(L, e->version, e->loc));
    case A_BINOP:
        return lower_binop(L, e);
    case A_UNARY:
        return lower_unary(L, e);
    case A_BOOLOP:
        return lower_boolop_from(L, e, 0, e->type);
    case A_COMPARE:
        return lower_chain(L, e, 0, lower_operand(L, e->lhs, e->type));
    case A_CALL:
        return lower_call(L, e);
    case A_ATTR:
        return lower_attr(L, e);
    case A_SUBSCRIPT:
        return lower_subscript(L, e);
    case A_TUPLE:
    case A_LIST:
        return lower_display(L, e);
    case A_IFEXP:
        return lower_ifexp(L, e);
    case A_SEQ:
        lower_block(L, &e->block);
        return lower_expr(L, e->lhs);
    case A_SOME:
        return some(L, lower_expr(L, e->lhs), e->loc);
    default:
        return value_of_type(L, e->type);
    }
}

/* Is the value a known number, made of nothing that could raise? Then its
 * operands need not be evaluated. */
static bool
is_constant(const AExpr *e)
{
    if (e == NULL || e->type == NULL) {
        return e == NULL;
    }
    if (e->kind == A_SEQ || e->kind == A_SOME) {
        return false;
    }
    bool known =
        e->type->kind == TY_NUM && e->type->known && e->type->alt == ALT_NEVER;
    if (e->kind == A_NAME) {
        return known && e->version->type->alt != ALT_UNBOUND;
    }
    bool all = known && e->kind != A_SUBSCRIPT && e->kind != A_CALL &&
               is_constant(e->lhs) && is_constant(e->rhs);
    for (int i = 0; all && i < e->items.n; i++) {
        all = is_constant(e->items.at[i]);
    }
    return all;
}

/* The type that inference found replaces the one that the rules of lower gave:
 * they are equal but for what inference knows besides, such as a known value.
 * What is known is used, but its parts have been evaluated, since they may
 * raise. */
Value
lower_lazy(Lower *L, const AExpr *e)
{
    if (is_constant(e)) {
        return value_of_type(L, e->type);
    }
    Value v = lower_any(L, e);
    if (e->type->kind == TY_NUM && e->type->known &&
        e->type->alt == ALT_NEVER) {
        return value_of_type(L, e->type);
    }
    if (e->type->kind == TY_NUM && v.expr != NULL) {
        v.type = e->type;
    } else if (e->type->kind == TY_ARRAY) {
        v.type = e->type;
    }
    return v;
}

/* A tree of array operations is computed here. */
Value
lower_expr(Lower *L, const AExpr *e)
{
    return settle(L, lower_lazy(L, e), e->loc);
}
