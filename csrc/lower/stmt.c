/* Statements but loops.
 *
 * The order within a statement is Python's: the right side, then the targets
 * from left to right, each with its indices.  In `a[i] += f(x)` the old element
 * is read before f is called and stored after, at an index computed once:
 *
 *     let at: i64 = ...i wrapped and checked
 *     let old: f64 = a[at]           held if f could change `a`
 *     let by: f64 = ...the body of f
 *     store a[at] = add(old, by)
 *
 * An expression is a tree that is evaluated where it is printed, so "before"
 * has to be said: hold() names a value at this point of the program, reuse()
 * names it so that it is computed once.  Both are left out where nothing can
 * tell the difference, which is most of the time: code that is easy to read
 * leaves the C compiler more freedom.
 *
 * Arrays in memory are written element by element from trees (Lazy); whether
 * the source may be read while it is overwritten is asked in assign.c.
 */
#include "csrc/lower/index.h"
#include "csrc/lower/list.h"

/* --- stores --------------------------------------------------------------- */

/* v[i] = x of a vector in registers: a new value of its variable.  The vector
 * has no address; in C this is an array of a few elements, or a shuffle. */
static void
store_lane(Lower *L, const AExpr *target, Value v)
{
    const Value *base = version_value(L, target->lhs->version);
    if (target->lhs->version->type->alt == ALT_UNBOUND) {
        version_read(L, target->lhs->version, target->loc);
    }
    Value index = lower_expr(L, target->items.at[0]);
    if (index.type->kind == TY_TUPLE) {
        index = index.items[0];
    }
    Expr *vec = base->expr;
    Expr *at = index_in(L, index, int_const(L, vec->lanes), target->loc);
    Expr *e = reuse(L, stored_as(L, v, vec->dtype, target->loc), target->loc);
    emit_set(L, vec->var, ir_insert(L->arena, vec, at, e), target->loc);
}

/* a[i] = v. The value comes first, as in Python, then base and indices. A value
 * that is only a tree must be held if an index calls a function, which could
 * store into what the tree loads. */
static void
store_subscript(Lower *L, const AExpr *target, Value v)
{
    if (target->lhs->kind == A_NAME && type_is_vector(target->lhs->type)) {
        store_lane(L, target, v);
        return;
    }
    if (target->lhs->type->kind == TY_LIST) {
        lower_list_store(L, target, v);
        return;
    }
    bool calls = has_user_call(target);
    if (calls) {
        v = hold_value(L, v, target->loc);
    }
    Value base = lower_expr(L, target->lhs);
    if (has_index_arrays(target)) {
        gather_store(L, base.view, target, v);
        return;
    }
    View *part = view_part(L, base.view, target);
    store_into(L, part, v, target->loc);
}

/* --- targets -------------------------------------------------------------- */

/* a, b, c = row: the sizes must agree, and all elements are read before
 * anything is assigned: `row[0], row[1] = row[1::-1]` swaps. */
static void
unpack_array(Lower *L, const AExpr *target, Value v)
{
    int n = target->items.n;
    if (v.view != NULL) {
        Expr *size = view_extent(L, v.view, 0);
        Expr *same = op2(L, E_EQ, size, int_const(L, n));
        if (size->op != E_CONST) {
            emit_check(L, same, X_VALUE, target->loc);
        }
    } else {
        v.expr = reuse(L, hold(L, v.expr, target->loc), target->loc);
    }
    Value *items = ARENA_ARRAY(L->arena, Value, n + 1);
    for (int i = 0; i < n; i++) {
        const Type *type = target->items.at[i]->type;
        if (v.type->rank == 1) {
            type = type_num(L->arena, v.type->dtype, false);
        }
        Expr *k = int_const(L, i);
        items[i] =
            hold_value(L, item_at(L, v, type, k, target->loc), target->loc);
    }
    for (int i = 0; i < n; i++) {
        assign_target(L, target->items.at[i], items[i]);
    }
}

/* a, *b = ... */
static bool
has_star(const AExpr *target)
{
    for (int i = 0; i < target->items.n; i++) {
        if (target->items.at[i]->kind == A_STARRED) {
            return true;
        }
    }
    return false;
}

/* An array whose first axis is known as the tuple of its items, which is what a
 * starred target takes a part of. */
static Value
items_of_array(Lower *L, Value v, Loc loc)
{
    int n = (int)v.type->size[0];
    Value out = {.type = NULL};
    const Type **types = ARENA_ARRAY(L->arena, const Type *, n + 1);
    out.items = ARENA_ARRAY(L->arena, Value, n + 1);
    if (v.expr != NULL) {
        v.expr = reuse(L, hold(L, v.expr, loc), loc);
    }
    for (int i = 0; i < n; i++) {
        types[i] = item_type_of(L, v.type);
        out.items[i] = item_at(L, v, types[i], int_const(L, i), loc);
    }
    out.type = type_tuple(L->arena, types, n, false);
    return out;
}

/* A tuple of numbers as the vector that is stored: (r, g, b) into img[y, x].
 * The first number fills all lanes, the others replace theirs. */
static Value
row_of_tuple(Lower *L, const AExpr *target, Value v)
{
    DType dtype = target->lhs->type->dtype;
    int n = v.type->rank;
    Expr *vec = NULL;
    for (int i = 0; i < n; i++) {
        Expr *item = stored_as(L, v.items[i], dtype, target->loc);
        vec = vec ? ir_insert(L->arena, vec, int_const(L, i), item)
                  : ir_splat(L->arena, item, n);
    }
    return num_value(type_vector(L->arena, dtype, n), vec);
}

/* Binds or stores 'v'. The items of a tuple are held first: in `a[0], a[1] =
 * a[1], a[0]` the second load must not see the first store. */
void
assign_target(Lower *L, const AExpr *target, Value v)
{
    switch ((int)target->kind) {
    case A_NAME:
        version_bind(L, target->version, v, target->loc);
        return;
    case A_SUBSCRIPT:
        if (v.type->kind == TY_TUPLE && target->lhs->type->kind == TY_ARRAY) {
            v = row_of_tuple(L, target, v);
        }
        store_subscript(L, target, v);
        return;
    default:
        break;
    }
    if (v.type->kind == TY_ARRAY && !has_star(target)) {
        unpack_array(L, target, v);
        return;
    }
    if (v.type->kind == TY_LIST) {
        lower_list_unpack(L, target, v);
        return;
    }
    v = v.type->kind == TY_ARRAY ? items_of_array(L, v, target->loc) : v;
    v = hold_value(L, v, target->loc);
    int k = 0;
    for (int i = 0; i < target->items.n; i++) {
        const AExpr *part = target->items.at[i];
        if (part->kind == A_STARRED) {
            Value rest = {.type = part->type, .items = v.items + k};
            assign_target(L, part->lhs, rest);
            k += part->type->rank;
        } else {
            assign_target(L, part, v.items[k++]);
        }
    }
}

/* A value that goes to several targets is evaluated once.  "hint" is the name
 * that an array made on the right side gets in the C text.  A right side that
 * is stored into one subscript may stay a tree over arrays (lower_lazy), so
 * that no array is made for it:
 *
 *     out[1:-1] = (a[:-2] + a[2:]) * 0.5     one nest of loops
 */
static void
lower_assign(Lower *L, const AStmt *s)
{
    const AExpr *first = s->targets.at[0];
    bool makes = s->value->callee == NULL && s->value->kind != A_NAME;
    bool direct = first->kind == A_NAME && makes;
    bool stores = first->kind == A_SUBSCRIPT && s->targets.n == 1;
    L->hint = direct ? first->name : NULL;
    Value v = stores ? lower_lazy(L, s->value) : lower_expr(L, s->value);
    L->hint = NULL;
    if (s->targets.n > 1) {
        v = hold_value(L, v, s->loc);
        if (v.expr != NULL) {
            v.expr = reuse(L, v.expr, s->loc);
        }
    }
    for (int i = 0; i < s->targets.n; i++) {
        assign_target(L, s->targets.at[i], v);
    }
}

/* --- augmented assignment ------------------------------------------------- */

/* old op by: a tree over arrays unless both are vectors of registers or
 * numbers. */
static Value
augmented(Lower *L, const AStmt *s, Value old, Value by)
{
    if (old.type->kind != TY_ARRAY && by.type->kind != TY_ARRAY) {
        bool pair = old.type->kind == TY_COMPLEX || by.type->kind == TY_COMPLEX;
        return !pair ? num_binop(L, s->op, old, by, s->loc)
                     : complex_binop_of(
                           L, s->op, old, by,
                           complex_common(L->arena, old.type, by.type),
                           s->loc);
    }
    if (s->op == AO_MUL && old.view != NULL && old.view->pairs) {
        check_product_apart(L, old.view, by, s->loc);
    }
    bool lazy = old.lazy != NULL || by.lazy != NULL ||
                rule_vector(L->arena, s->op, old.type, by.type).type == NULL;
    if (!lazy) {
        return vec_binop(L, s->op, old, by, s->loc);
    }
    const Lazy *z = lazy_augment(L, s->op, old, by, s->loc);
    return lazy_value(old.type, z);
}

/* a op= b of an array: written into the array itself, so that other names for
 * it see the change; a vector gets a new value of its variable. */
static void
aug_array(Lower *L, const AStmt *s, const AExpr *target)
{
    Value old = lower_expr(L, target);
    Value by = old.view != NULL ? lower_lazy(L, s->value)
                                : lower_expr(L, s->value);
    Value r = augmented(L, s, old, by);
    if (old.view != NULL) {
        store_into(L, old.view, r, s->loc);
        return;
    }
    Expr *vec = vec_cast(L, target->type->dtype, r.expr, s->loc);
    const Value *base = version_value(L, target->version);
    emit_set(L, base->expr->var, vec, s->loc);
}

/* v[i] op= b of a vector in registers: the lane is taken out before b is
 * evaluated. */
static void
aug_lane(Lower *L, const AStmt *s, const AExpr *target)
{
    Value base = version_read(L, target->lhs->version, target->loc);
    Value index = lower_expr(L, target->items.at[0]);
    if (index.type->kind == TY_TUPLE) {
        index = index.items[0];
    }
    Expr *vec = base.expr;
    Expr *at = index_in(L, index, int_const(L, vec->lanes), target->loc);
    at = reuse(L, at, target->loc);
    Value old = num_value(target->type, ir_elem(L->arena, vec, at));
    old = hold_value(L, old, s->loc);
    Value by = lower_expr(L, s->value);
    Value r = augmented(L, s, old, by);
    Expr *e = reuse(L, stored_as(L, r, vec->dtype, s->loc), s->loc);
    emit_set(L, vec->var, ir_insert(L->arena, vec, at, e), s->loc);
}

/* a[i] op= b: the index is evaluated once, the old value before b.  The indices
 * are named, because the part is used twice; the old element is held only if b
 * calls a function, which may store to it. */
static void
aug_element(Lower *L, const AStmt *s, const AExpr *target)
{
    Value base = lower_expr(L, target->lhs);
    if (has_index_arrays(target)) {
        gather_augment(L, base.view, s);
        return;
    }
    View *part = view_part(L, base.view, target);
    for (int i = 0; i < part->buf->rank; i++) {
        if (part->fixed[i] != NULL) {
            part->fixed[i] = reuse(L, part->fixed[i], target->loc);
        }
    }
    Value old = view_value(L, part, target->type);
    if (part->rank == 0 && has_user_call(s->value)) {
        old = hold_value(L, old, s->loc);
    }
    Value by = part->rank > 0 ? lower_lazy(L, s->value)
                              : lower_expr(L, s->value);
    store_into(L, part, augmented(L, s, old, by), s->loc);
}

/* Only arrays and subscripts are left: inference has made `n += 1` of a number
 * an assignment. */
static void
lower_aug(Lower *L, const AStmt *s)
{
    const AExpr *target = s->targets.at[0];
    if (target->kind != A_SUBSCRIPT) {
        aug_array(L, s, target);
    } else if (target->lhs->type->kind == TY_LIST) {
        lower_list_aug(L, s, target);
    } else if (type_is_vector(target->lhs->type)) {
        aug_lane(L, s, target);
    } else {
        aug_element(L, s, target);
    }
}

/* --- the others ----------------------------------------------------------- */

/* The conversions of the join after it stand at the ends of the branches
 * already, put there by inference: a name that is an int on one path and a
 * float on the other is converted where it is still one of them. */
static void
lower_if(Lower *L, const AStmt *s)
{
    Stmt *out = ir_stmt(L->arena, S_IF, s->loc);
    out->value = lower_cond(L, s->value);
    Block *outer = L->out;
    L->out = &out->body;
    lower_block(L, &s->body);
    L->out = &out->els;
    lower_block(L, &s->orelse);
    L->out = outer;
    emit(L, out);
}

/* Sets the result and its joins, then leaves the body, unless it ends there
 * anyway.  Functions are inlined, so a return is a jump behind the body
 * (scope.c), not the end of the kernel. */
static void
lower_return(Lower *L, const AStmt *s)
{
    Value v = lower_expr(L, s->value);
    version_bind(L, s->to, v, s->loc);
    list_converts(L, &s->body);
    if (s != L->tail) {
        scope_leave(L, NULL, s->loc);
    }
}

/* The flag tells the `else` of the loop, which runs unless there was a break.
 */
static void
lower_break(Lower *L, const AStmt *s)
{
    if (L->loop->broke != NULL) {
        emit_set(L, L->loop->broke, ir_bool(L->arena, true), s->loc);
    }
    emit(L, ir_stmt(L->arena, S_BREAK, s->loc));
}

/* What follows is never reached: the call ends here, and Python repeats it up
 * to this point and raises. */
static void
lower_fail(Lower *L, Exc exc, Loc loc)
{
    emit(L, ir_check(L->arena, ir_bool(L->arena, false), exc, ACT_REPLAY, loc));
}

/* A loop that is written out, or a round of one. */
static void
lower_scope(Lower *L, const AStmt *s)
{
    LowerScope scope;
    scope_begin(L, &scope, s, s->loc);
    lower_block(L, &s->body);
    scope_end(L, &scope);
}

/* A statement by its kind. */
static void
lower_stmt(Lower *L, const AStmt *s)
{
    switch ((int)s->kind) {
    case AS_EXPR:
        if (s->value->kind == A_BOOLOP) {
            lower_cond(L, s->value); /* it may be typed as a condition */
        } else {
            lower_expr(L, s->value);
        }
        break;
    case AS_ASSIGN:
        lower_assign(L, s);
        break;
    case AS_AUG:
        lower_aug(L, s);
        break;
    case AS_IF:
        lower_if(L, s);
        break;
    case AS_FOR:
        lower_for(L, s);
        break;
    case AS_WHILE:
        lower_while(L, s);
        break;
    case AS_RETURN:
        lower_return(L, s);
        break;
    case AS_BREAK:
        lower_break(L, s);
        break;
    case AS_CONTINUE:
        emit(L, ir_stmt(L->arena, S_CONTINUE, s->loc));
        break;
    case AS_ASSERT:
        emit_check(L, lower_cond(L, s->value), X_ASSERT, s->loc);
        break;
    case AS_RAISE:
        if (s->name != NULL) {
            diag_remark(L->diags, DIAG_ALWAYS_FAILS, s->loc, "%s", s->name);
        }
        lower_fail(L, X_RAISE, s->loc);
        break;
    case AS_SCOPE:
        lower_scope(L, s);
        break;
    case AS_WITH:
        lower_with(L, s);
        break;
    case AS_LEAVE:
        scope_leave(L, s->scope, s->loc);
        break;
    case AS_CONVERT:
        version_convert(L, s->to, s->from, s->loc);
        break;
    default:
        list_converts(L, &s->body); /* of a join */
        break;
    }
}

/* Statements in order. */
void
lower_block(Lower *L, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        lower_stmt(L, block->at[i]);
    }
}
