/* Pieces of trees that inference makes itself.
 *
 *     sum(f(i) for i in range(3))
 *       -->  (h.7 = f(0); h.8 = f(1); h.9 = f(2); 0 + h.7 + h.8 + h.9)
 *
 * A value that is needed more than once gets a hidden version: it is bound like
 * a name, but no environment knows it.  In trees that are still to be inferred
 * a hidden name is a NAME without a name, told from others by its address.
 * What it is bound to is the last binding that was inferred, so it may be read
 * only where that has surely just been run, and never round a loop.
 *
 * A SEQ is an expression with statements before it.  They are run where the
 * expression is evaluated, each time and only then. */
#include "typeinfer/state.h"

/* A NAME for infer_target to bind and infer_name to read: one node. */
AExpr *
hidden_new(Infer *I, Loc loc)
{
    return ast_expr(I->arena, A_NAME, loc);
}

/* Binds a hidden name. */
AExpr *
hidden_target(Infer *I, const AExpr *hidden, const Type *type)
{
    Ver *ver = ver_new(I, sym("h"), type, hidden->loc);
    map_set(&I->bound, hidden, ver);
    return hidden_value(I, hidden);
}

/* What it was bound to last. */
AExpr *
hidden_value(Infer *I, const AExpr *hidden)
{
    const Ver *ver = map_get(&I->bound, hidden);
    AExpr *out = ast_expr(I->arena, A_NAME, hidden->loc);
    out->name = ver->base.name;
    out->version = &ver->base;
    out->type = ver->base.type;
    return out;
}

/* An int, as it is before and after inference. */
AExpr *
const_int(Infer *I, int64_t value, Loc loc)
{
    AExpr *e = ast_expr(I->arena, A_CONST, loc);
    e->type = type_known_int(I->arena, value);
    return e;
}

/* The typed "target" = 'value'. */
void
push_assign(Infer *I, AExpr *target, AExpr *value, ABlock *out)
{
    AStmt *s = ast_stmt(I->arena, AS_ASSIGN, value->loc);
    s->value = value;
    vec_push(I->arena, &s->targets, target);
    vec_push(I->arena, out, s);
}

/* The typed 'e' as something that may be evaluated many times and later: itself
 * if it is a constant or a name, else a hidden name bound in 'out'. */
AExpr *
hold_typed(Infer *I, AExpr *e, ABlock *out)
{
    if (e == NULL || e->kind == A_CONST || e->kind == A_NAME ||
        e->kind == A_GLOBAL) {
        return e;
    }
    AExpr *target = hidden_target(I, hidden_new(I, e->loc), e->type);
    push_assign(I, target, e, out);
    return target;
}

/* An untyped name for the typed 'e', bound in 'out'. */
AExpr *
as_untyped(Infer *I, AExpr *e, ABlock *out)
{
    if (e->kind == A_CONST) {
        return e;
    }
    AExpr *hidden = hidden_new(I, e->loc);
    push_assign(I, hidden_target(I, hidden, e->type), e, out);
    return hidden;
}

/* The value of 'e' after its statements, which go to 'out'. */
AExpr *
take_seq(Infer *I, AExpr *e, ABlock *out)
{
    for (; e->kind == A_SEQ; e = e->lhs) {
        for (int i = 0; i < e->block.n; i++) {
            vec_push(I->arena, out, e->block.at[i]);
        }
    }
    return e;
}

/* 'value' after the statements, if there are any. */
AExpr *
typed_seq(Infer *I, ABlock block, AExpr *value)
{
    if (block.n == 0) {
        return value;
    }
    AExpr *e = ast_expr(I->arena, A_SEQ, value->loc);
    e->block = block;
    e->lhs = value;
    e->type = value->type;
    return e;
}

/* A display of typed items. */
AExpr *
typed_display(Infer *I, const AExprVec *items, bool is_list, Loc loc)
{
    int n = items->n;
    const Type **types = ARENA_ARRAY(I->arena, const Type *, n + 1);
    AExpr *e = ast_expr(I->arena, is_list ? A_LIST : A_TUPLE, loc);
    for (int i = 0; i < n; i++) {
        vec_push(I->arena, &e->items, items->at[i]);
        types[i] = items->at[i]->type;
    }
    e->type = type_tuple(I->arena, types, n, is_list);
    return e;
}

/* Item 'k' of a typed tuple or array. */
AExpr *
typed_item(Infer *I, AExpr *base, int64_t k)
{
    AExpr *e = ast_expr(I->arena, A_SUBSCRIPT, base->loc);
    e->lhs = base;
    vec_push(I->arena, &e->items, const_int(I, k, base->loc));
    e->type = type_is_pack(base->type)
                  ? base->type->items[k]
                  : item_type(I, base->type, base->loc);
    return e;
}

/* 'lhs' op 'rhs' of typed operands; comparisons too. */
AExpr *
typed_binop(Infer *I, AOp op, AExpr *lhs, AExpr *rhs, Loc loc)
{
    AExpr *e = ast_expr(I->arena, A_BINOP, loc);
    e->op = op;
    e->lhs = lhs;
    e->rhs = rhs;
    e->type = type_of_binop(I, e, op, lhs, rhs);
    return e;
}
