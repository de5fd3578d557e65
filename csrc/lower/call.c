/* Calls: library functions by their row, user functions inlined.
 *
 *     x = f(a, 2)      let v = a; let k = 2      the parameters' versions
 *                      scope { body of f }       return: set result; leave
 *                      let x = result
 *
 * A body whose only return is its last statement needs no scope.
 *
 * Inlining needs no renaming: every call has its own typed body, with versions
 * that occur nowhere else.  Arrays are passed as views, so a store in the
 * callee is a store into the caller's buffer, and numbers as expressions.
 *
 * Why inline everything?  A helper like `clamp(v)` or `dist(a, b)` is called
 * per element; only in place can its checks be proved by the loop around it and
 * its arithmetic run in SIMD lanes.  What grows too large is refused (VZ-2012),
 * and then calls stay in Python, each callee compiled by itself.
 */
#include "csrc/base/approx.h"
#include "csrc/lower/list.h"

/* --- user functions ------------------------------------------------------- */

/* Returns anywhere in the block. More than one, or one that does not stand at
 * the end, makes the body need a scope to leave. */
static int
count_returns(const ABlock *block)
{
    int n = 0;
    for (int i = 0; i < block->n; i++) {
        const AStmt *s = block->at[i];
        n += s->kind == AS_RETURN;
        n += count_returns(&s->body) + count_returns(&s->orelse);
    }
    return n;
}

/* The body of a function in place. Loops of the caller are out of reach for
 * its break and continue, so L->loop is put aside; its own returns leave the
 * scope made here. */
void
lower_body(Lower *L, const AFunc *func)
{
    const AStmt *outer_tail = L->tail;
    LowerLoop *outer_loop = L->loop;
    const ABlock *body = &func->body;
    int n = count_returns(body);
    const AStmt *last = body->n ? body->at[body->n - 1] : NULL;
    bool by_itself = last != NULL && last->kind == AS_RETURN && n == 1;
    L->loop = NULL;
    L->tail = by_itself ? last : NULL;
    if (n == 0 || by_itself) {
        lower_block(L, body);
    } else {
        LowerScope scope;
        scope_begin(L, &scope, NULL, func->loc);
        lower_block(L, body);
        scope_end(L, &scope);
    }
    L->tail = outer_tail;
    L->loop = outer_loop;
}

/* Arguments of a typed call carry the names of their parameters. */
static const AParam *
param_named(const AFunc *func, Sym name)
{
    for (int i = 0; i < func->params.n; i++) {
        if (func->params.at[i].name == name) {
            return &func->params.at[i];
        }
    }
    fatal("lower: no parameter `%s`", name);
}

/* Arguments are evaluated in the order of the source and only then bound,
 * because evaluating the next one may call another function. Defaults are
 * constants and come last. The result is read back through the version in
 * which all returns meet. */
static Value
call_user(Lower *L, const AExpr *e)
{
    const AFunc *func = e->callee;
    Value *args = ARENA_ARRAY(L->arena, Value, e->items.n + 1);
    lower_items(L, &e->items, args);
    for (int i = 0; i < e->items.n; i++) {
        const AParam *param = param_named(func, e->keys.at[i]);
        version_bind(L, param->version, args[i], e->loc);
    }
    for (int i = 0; i < func->params.n; i++) {
        const AParam *param = &func->params.at[i];
        if (param->dflt != NULL) {
            version_bind(L, param->version, lower_expr(L, param->dflt), e->loc);
        }
    }
    lower_body(L, func);
    if (version_value(L, func->returned) == NULL) {
        return value_of_type(L, e->type); /* it never returns */
    }
    Value v = version_read(L, func->returned, e->loc);
    v.type = e->type;
    return v;
}

/* --- library functions ---------------------------------------------------- */

/* The extent of the first axis; of tuples and vectors it is known. */
static Value
lower_len(Lower *L, const AExpr *e)
{
    Value v = lower_expr(L, e->items.at[0]);
    if (v.type->kind == TY_LIST) {
        return num_value(e->type, list_some(L, v, e->loc)->length);
    }
    if (v.view == NULL) {
        return value_of_type(L, e->type);
    }
    return num_value(e->type, view_extent(L, v.view, 0));
}

/* Both operators on operands that are evaluated once: a pair of the quotient
 * and the remainder. */
static Value
lower_divmod(Lower *L, const AExpr *e)
{
    Value args[2];
    lower_items(L, &e->items, args);
    for (int i = 0; i < 2; i++) {
        if (args[i].expr != NULL) {
            args[i].expr = reuse(L, args[i].expr, e->loc);
        }
    }
    Value out = {.type = e->type};
    out.items = ARENA_ARRAY(L->arena, Value, 2);
    bool vectors =
        args[0].type->kind == TY_ARRAY || args[1].type->kind == TY_ARRAY;
    L->divmod = true;
    for (int i = 0; i < 2; i++) {
        AOp op = i ? AO_MOD : AO_FLOORDIV;
        const Type *type = e->type->items[i];
        out.items[i] =
            vectors ? array_binop(L, op, args[0], args[1], type, e->loc)
                    : num_binop(L, op, args[0], args[1], e->loc);
        out.items[i] = settle(L, out.items[i], e->loc);
    }
    L->divmod = false;
    return out;
}

/* Element by element for vectors, where NumPy lets the least integer wrap in
 * silence; numbers are num_abs's. */
static Value
lower_abs(Lower *L, const AExpr *e)
{
    if (type_is_memory(e->type) && call_has_pairs(e)) {
        return lower_pairs(L, e, BUILTIN_ABS);
    }
    if (type_is_memory(e->type)) {
        Value v = lower_lazy(L, e->items.at[0]);
        return lazy_value(e->type, lazy_abs(L, v, e->loc));
    }
    Value v = lower_expr(L, e->items.at[0]);
    if (v.type->kind == TY_COMPLEX) {
        return complex_abs(L, v, e->type, e->loc);
    }
    if (v.type->kind == TY_ARRAY) {
        Expr *vec = vector_of(L, v, e->loc);
        bool plain = vec->dtype == DT_BOOL;
        return num_value(e->type, plain ? vec : op1(L, E_ABS, vec));
    }
    return num_abs(L, v, e->type, e->loc);
}

/* pow(a, b) without a modulus is a ** b, of numbers or of vectors. */
static Value
lower_power(Lower *L, const AExpr *e)
{
    Value args[2];
    lower_items(L, &e->items, args);
    bool vectors =
        args[0].type->kind == TY_ARRAY || args[1].type->kind == TY_ARRAY;
    return vectors ? array_binop(L, AO_POW, args[0], args[1], e->type, e->loc)
                   : num_binop(L, AO_POW, args[0], args[1], e->loc);
}

/* Functions with rules of their own. range, enumerate and zip never get here:
 * inference lets them stand in a `for` only. */
static Value
call_special(Lower *L, const AExpr *e, BuiltinId id)
{
    switch ((int)id) {
    case BUILTIN_NP_NDIM:
        lower_expr(L, e->items.at[0]);
        return value_of_type(L, e->type);
    case BUILTIN_LEN:
        return lower_len(L, e);
    case BUILTIN_ISINSTANCE:
        return value_of_type(L, e->type);
    case BUILTIN_COMPLEX:
        return lower_complex(L, e);
    case BUILTIN_ABS:
        return lower_abs(L, e);
    case BUILTIN_ROUND:
        return e->items.at[1] && e->items.at[1]->type->kind != TY_NONE
                   ? lower_pymath(L, e, id)
                   : lower_round(L, e, id);
    case BUILTIN_POW:
        return lower_power(L, e);
    case BUILTIN_DIVMOD:
        return lower_divmod(L, e);
    case BUILTIN_SLICE:
        return lower_slice(L, e);
    case BUILTIN_NP_ASARRAY:
        if (e->type == e->items.at[0]->type) {
            return lower_expr(L, e->items.at[0]);
        }
        return lower_array(L, e);
    case BUILTIN_STR:
    case BUILTIN_NP_DTYPE:
    case BUILTIN_NP_RESULT_TYPE:
    case BUILTIN_NP_IINFO:
    case BUILTIN_NP_FINFO:
        for (int i = 0; i < e->items.n; i++) {
            lower_expr(L, e->items.at[i]);
        }
        return value_of_type(L, e->type);
    case BUILTIN_NP_ARANGE:
        return lower_arange(L, e);
    case BUILTIN_ITEM: {
        Value v = lower_expr(L, e->items.at[0]);
        return num_value(e->type, cast_to(L, e->type->dtype, v.expr));
    }
    case BUILTIN_FILL:
        return lower_fill(L, e);
    case BUILTIN_NP_NONZERO:
    case BUILTIN_NONZERO_OF:
    case BUILTIN_NP_ARGWHERE:
    case BUILTIN_NP_FLATNONZERO:
        return lower_nonzero(L, e, id);
    case BUILTIN_NP_ARRAY:
        return lower_array(L, e);
    case BUILTIN_NP_DOT:
    case BUILTIN_NP_INNER:
    case BUILTIN_DOT_OF:
        return is_short_dot(e, L->approx & RELAX_REASSOC)
                   ? lower_dot(L, e, id)
                   : lower_linalg(L, e, id);
    case BUILTIN_COPY:
    case BUILTIN_ASTYPE:
        return lower_copy(L, e);
    default:
        fatal("lower: `%s` as a value", builtin_row(id)->name);
    }
}

/* A call by the row of its function, or inlined. */
Value
lower_call(Lower *L, const AExpr *e)
{
    if (e->callee != NULL) {
        return call_user(L, e);
    }
    BuiltinId id = builtin_of(e->lhs);
    switch (builtin_row(id)->kind) {
    case BK_DTYPE:
        return e->type->kind == TY_COMPLEX
                   ? pair_value(L, e->type,
                                pair_operand(L, lower_expr(L, e->items.at[0]),
                                             e->type->dtype, e->loc),
                                e->loc)
                   : lower_convert(L, e);
    case BK_MATH:
    case BK_TEST:
        return lower_math(L, e, id);
    case BK_ROUND:
        return lower_round(L, e, id);
    case BK_PAIRS:
        return is_cmath(id) ? lower_cmath(L, e, id) : lower_pairs(L, e, id);
    case BK_UFUNC:
        return call_has_pairs(e) ? lower_pairs(L, e, id)
                                 : lower_ufunc(L, e, id);
    case BK_MINMAX:
        return lower_minmax(L, e, id);
    case BK_LIST:
        return lower_list_call(L, e, id);
    case BK_CONCAT:
        return lower_joined(L, e, id);
    case BK_LINALG:
        return lower_linalg(L, e, id);
    case BK_REDUCE:
        return lower_reduce(L, e, id);
    case BK_VIEW:
        return lower_view(L, e, id);
    case BK_RESHAPE:
        return lower_reshape(L, e, id);
    case BK_PYMATH:
        return lower_pymath(L, e, id);
    case BK_MAKE:
        return lower_make(L, e, id);
    default:
        return call_special(L, e, id);
    }
}
