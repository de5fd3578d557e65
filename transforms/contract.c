/* Pass 'contract': a product that is added is one operation, where approx=
 * allows one rounding in place of two.
 *
 *     let p = mul(a, b)                (p is only added)
 *     let q = add(p, mul(c, d))   ->   let q = muladd(a, b, mul(c, d))
 *     let r = sub(e, p)           ->   let r = muladd(neg(a), b, e)
 *
 * It is done here and not by the C compiler, because that might decide in one
 * way for the lanes of a loop and in another for the rounds that are left over:
 * then a result would depend on where threads begin.
 */
#include "csrc/base/approx.h"
#include "transforms/transforms.h"

/* By Var.id: how often it is read, and how often as an operand of a sum; the
 * product that it is, NULL: none.  "fused" counts. */
typedef struct Contract {
    Pass *pass;
    Func *func;
    int n; /* of these tables */
    int *uses;
    int *sums;
    Expr **products;
    int fused;
} Contract;

static bool
is_float_sum(const Expr *e)
{
    return (e->op == E_ADD || e->op == E_SUB || e->op == E_PLUS) &&
           dtype_is_float(e->dtype);
}

/* A node and all below. */
static void
count_uses(Contract *c, const Expr *e)
{
    if (e->op == E_VAR) {
        c->uses[e->var->id]++;
    }
    for (int i = 0; i < e->nargs; i++) {
        const Expr *arg = e->args[i];
        if (is_float_sum(e) && arg->op == E_VAR) {
            c->sums[arg->var->id]++;
        }
        count_uses(c, arg);
    }
}

/* For ir_each_expr. */
static void
count_slot(void *data, Expr **slot)
{
    count_uses(data, *slot);
}

/* For ir_each_stmt. */
static void
count_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, count_slot, data);
}

/* The product that 'e' is, or NULL. */
static Expr *
product_of(const Contract *c, Expr *e)
{
    if (e->op == E_VAR) {
        return e->var->id < c->n ? c->products[e->var->id] : NULL;
    }
    return e->op == E_MUL ? e : NULL;
}

/* a * b + addend, or -(a * b) + addend. */
static Expr *
fuse(Contract *c, const Expr *sum, const Expr *product, bool minus,
     Expr *addend)
{
    Arena *a = c->pass->arena;
    Expr *first = product->args[0];
    Expr *args[] = {minus ? ir_unary(a, E_NEG, first) : first,
                    product->args[1], addend};
    c->fused++;
    return ir_at(ir_call(a, FN_MULADD, sum->dtype, args, 3), sum->loc);
}

/* For ir_map.  Of two products the first is fused. */
static Expr *
contract_node(void *data, Expr *e)
{
    Contract *c = data;
    if (!is_float_sum(e)) {
        return e;
    }
    Expr *lhs = product_of(c, e->args[0]);
    Expr *rhs = product_of(c, e->args[1]);
    bool minus = e->op == E_SUB;
    if (lhs != NULL) {
        Expr *addend = rhs ? rhs : e->args[1];
        addend = minus ? ir_unary(c->pass->arena, E_NEG, addend) : addend;
        return fuse(c, e, lhs, false, addend);
    }
    return rhs ? fuse(c, e, rhs, minus, e->args[0]) : e;
}

/* For ir_each_expr. */
static void
contract_slot(void *data, Expr **slot)
{
    Contract *c = data;
    *slot = ir_map(c->pass->arena, *slot, contract_node, c);
}

/* 'e', under a name if it reads memory: then it stays where it is. */
static Expr *
factor(Contract *c, Block *out, Expr *e, Loc loc)
{
    if (!ir_has_load(e)) {
        return e;
    }
    Arena *a = c->pass->arena;
    Var *var = ir_var(c->func, "factor", e->dtype, e->lanes);
    vec_push(a, out, ir_let(a, var, e, loc));
    return ir_ref(a, var);
}

/* The product 's' is only added: its factors keep names, and whoever adds it
 * multiplies.  Nobody reads 's' any more. */
static void
open_product(Contract *c, Block *out, Stmt *s)
{
    Expr *args[2];
    for (int i = 0; i < 2; i++) {
        args[i] = factor(c, out, s->value->args[i], s->loc);
    }
    c->products[s->var->id] = ir_with_args(c->pass->arena, s->value, args);
}

/* For ir_map_block: what stands before 's' is done. */
static void
contract_stmt(void *data, Block *out, Stmt *s)
{
    Contract *c = data;
    ir_each_expr(s, contract_slot, c);
    bool product = s->kind == S_LET && s->value->op == E_MUL &&
                   dtype_is_float(s->var->dtype);
    int uses = product ? c->uses[s->var->id] : 0;
    if (uses > 0 && uses == c->sums[s->var->id]) {
        open_product(c, out, s);
    } else {
        vec_push(c->pass->arena, out, s);
    }
}

Func *
pass_contract(Pass *pass, Func *func)
{
    if (!(pass->opts->approx & RELAX_FMA)) {
        return func;
    }
    Func *copy = arena_copy(pass->arena, func, sizeof(*func));
    Contract c = {.pass = pass, .func = copy, .n = func->next_id};
    c.uses = ARENA_ARRAY(pass->scratch, int, c.n + 1);
    c.sums = ARENA_ARRAY(pass->scratch, int, c.n + 1);
    c.products = ARENA_ARRAY(pass->scratch, Expr *, c.n + 1);
    ir_each_stmt(&func->body, count_stmt, &c);
    for (int i = 0; i < func->rets.n; i++) {
        if (func->rets.at[i].value != NULL) {
            count_uses(&c, func->rets.at[i].value);
        }
    }
    copy->body = ir_map_block(pass->arena, &func->body, contract_stmt, &c);
    for (int i = 0; i < copy->rets.n; i++) {
        if (copy->rets.at[i].value != NULL) {
            contract_slot(&c, &copy->rets.at[i].value);
        }
    }
    if (c.fused > 0) {
        diag_remark(pass->diags, DIAG_RELAXED, func->loc,
                    "%d product%s added without being rounded", c.fused,
                    c.fused == 1 ? " is" : "s are");
    }
    return copy;
}
