/* Pass 'regroup': what a round adds is added up before it meets what the rounds
 * before have gathered, where approx= lets sums be regrouped.
 *
 *     carry s                               carry s
 *     let p = plus(s, r)                    let p = r
 *     let q = plus(p, g)              ->    let q = plus(p, g)
 *     let t = plus(q, b)                    let t = plus(s, plus(q, b))
 *     next s = t                            next s = t
 *
 * A round waits for the one before: in the first form for three sums, in the
 * second for one.  PLUS (see relax.c) says that the order is free; p and q must
 * not be used elsewhere.  It comes after loops were written out and joined,
 * which is where such sums come from.
 */
#include "csrc/base/approx.h"
#include "transforms/transforms.h"

enum { MOST_TERMS = 64 };

/* The pass's state.
 *   "uses"   by Var.id: how often it is read
 *   "made"   by Var.id: the LET of the body at hand that makes it; NULL: none
 *   "carry"  what is gathered */
typedef struct Regroup {
    Pass *pass;
    int *uses;
    Stmt **made; /* by Var.id: the LET of the body at hand that makes it */
    const Var *carry;
} Regroup;

/* For ir_each_node. */
static void
count_use(void *data, const Expr *e)
{
    int *uses = data;
    if (e->op == E_VAR) {
        uses[e->var->id]++;
    }
}

/* For ir_each_stmt. */
static void
count_uses(void *data, Stmt *s)
{
    ir_each_node(s, count_use, data);
}

/* How many sums stand between 'e' and the carry, by names that nobody else
 * uses; -1: it is not what the carry was with something added. */
static int
terms_of(const Regroup *r, const Expr *e, int left)
{
    if (left == 0) {
        return -1;
    }
    if (e->op == E_PLUS) {
        int lhs = terms_of(r, e->args[0], left - 1);
        int rhs = terms_of(r, e->args[1], left - 1);
        int most = lhs > rhs ? lhs : rhs;
        return most < 0 || (lhs >= 0 && rhs >= 0) ? -1 : most + 1;
    }
    if (e->op != E_VAR || e->var == r->carry) {
        return e->op == E_VAR ? 0 : -1;
    }
    const Stmt *let = r->made[e->var->id];
    return let && r->uses[e->var->id] == 1 ? terms_of(r, let->value, left - 1)
                                           : -1;
}

/* 'e' without the carry, which is in it; NULL: nothing is left. */
static Expr *
without(Regroup *r, Expr *e)
{
    if (e->op == E_VAR && e->var == r->carry) {
        return NULL;
    }
    if (e->op == E_VAR) {
        Stmt *let = r->made[e->var->id];
        Expr *rest = without(r, let->value);
        let->value = rest != NULL ? rest : let->value;
        return rest != NULL ? e : NULL;
    }
    int side = terms_of(r, e->args[0], MOST_TERMS) >= 0 ? 0 : 1;
    Expr *rest = without(r, e->args[side]);
    Expr *other = e->args[1 - side];
    return rest == NULL
               ? other
               : ir_at(ir_binary(r->pass->arena, E_PLUS, rest, other), e->loc);
}

/* What the loop 's' gathers by one of its carries. */
static void
regroup_carry(Regroup *r, const Carry *carry)
{
    const Expr *next = carry->next;
    Stmt *let = next->op == E_VAR ? r->made[next->var->id] : NULL;
    r->carry = carry->var;
    if (let != NULL && let->value->op == E_PLUS &&
        terms_of(r, let->value, MOST_TERMS) > 1) {
        Loc loc = let->value->loc;
        Expr *rest = without(r, let->value);
        Expr *gathered = ir_ref(r->pass->arena, (Var *)carry->var);
        let->value =
            ir_at(ir_binary(r->pass->arena, E_PLUS, gathered, rest), loc);
    }
}

/* For ir_map_block: inner blocks are done. */
static void
regroup_stmt(void *data, Block *out, Stmt *s)
{
    Regroup *r = data;
    for (int i = 0; s->ncarries > 0 && i < s->body.n; i++) {
        Stmt *let = s->body.at[i];
        if (let->kind == S_LET) {
            r->made[let->var->id] = let;
        }
    }
    for (int i = 0; i < s->ncarries; i++) {
        if (dtype_is_float(s->carries[i].var->dtype)) {
            regroup_carry(r, &s->carries[i]);
        }
    }
    for (int i = 0; s->ncarries > 0 && i < s->body.n; i++) {
        if (s->body.at[i]->kind == S_LET) {
            r->made[s->body.at[i]->var->id] = NULL;
        }
    }
    vec_push(r->pass->arena, out, s);
}

Func *
pass_regroup(Pass *pass, Func *func)
{
    if (!(pass->opts->approx & RELAX_REASSOC)) {
        return func;
    }
    Regroup r = {.pass = pass};
    r.uses = ARENA_ARRAY(pass->scratch, int, func->next_id + 1);
    r.made = ARENA_ARRAY(pass->scratch, Stmt *, func->next_id + 1);
    ir_each_stmt(&func->body, count_uses, r.uses);
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    out->body = ir_map_block(pass->arena, &func->body, regroup_stmt, &r);
    return out;
}
