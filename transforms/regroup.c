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
 *   "pass"   arenas
 *   "uses"   by Var.id: how often it is read
 *   "made"   by Var.id: the LET of the body at hand that makes it; NULL: none
 *   "carry"  what is gathered */
typedef struct Regroup {
    Pass *pass;
    int *uses;
    Stmt **made;
    const Var *carry;
} Regroup;

/* From a sum to the carry: which operand of each PLUS leads there. */
typedef struct Way {
    unsigned char side[MOST_TERMS];
    int n;
} Way;

/* Is 'e' the carry with something added, by names that nobody else uses?  A
 * name that is used once is visited once. */
static bool
find_way(const Regroup *r, const Expr *e, Way *way)
{
    if (e->op == E_VAR && e->var != r->carry) {
        const Stmt *let = r->made[e->var->id];
        return let && r->uses[e->var->id] == 1 && find_way(r, let->value, way);
    }
    bool found = e->op == E_VAR;
    for (int side = 0;
         e->op == E_PLUS && way->n < MOST_TERMS && side < 2 && !found; side++) {
        way->side[way->n++] = (unsigned char)side;
        found = find_way(r, e->args[side], way);
        way->n -= !found;
    }
    return found;
}

/* 'e' without the carry, to which 'side' leads; NULL: nothing is left. */
static Expr *
without(Regroup *r, Expr *e, const unsigned char *side)
{
    if (e->op == E_VAR && e->var == r->carry) {
        return NULL;
    }
    if (e->op == E_VAR) {
        Stmt *let = r->made[e->var->id];
        Expr *rest = without(r, let->value, side);
        let->value = rest != NULL ? rest : let->value;
        return rest != NULL ? e : NULL;
    }
    Expr *rest = without(r, e->args[*side], side + 1);
    Expr *other = e->args[1 - *side];
    return rest == NULL
               ? other
               : ir_at(ir_binary(r->pass->arena, E_PLUS, rest, other), e->loc);
}

/* What a loop gathers by one of its carries. */
static void
regroup_carry(Regroup *r, const Carry *carry)
{
    const Expr *next = carry->next;
    Stmt *let = next->op == E_VAR ? r->made[next->var->id] : NULL;
    Way way = {.n = 0};
    r->carry = carry->var;
    bool sum = let != NULL && dtype_is_float(carry->var->dtype) &&
               let->value->op == E_PLUS && find_way(r, let->value, &way);
    if (sum && way.n > 1) {
        Expr *gathered = ir_ref(r->pass->arena, carry->var);
        Expr *rest = without(r, let->value, way.side);
        let->value = ir_at(ir_binary(r->pass->arena, E_PLUS, gathered, rest),
                           let->value->loc);
    }
}

/* For ir_map_block: inner blocks are done. */
static void
regroup_stmt(void *data, Block *out, Stmt *s)
{
    Regroup *r = data;
    vec_push(r->pass->arena, out, s);
    for (int i = 0; s->ncarries > 0 && i < s->body.n; i++) {
        Stmt *let = s->body.at[i];
        if (let->kind == S_LET) {
            r->made[let->var->id] = let;
        }
    }
    for (int i = 0; i < s->ncarries; i++) {
        regroup_carry(r, &s->carries[i]);
    }
}

Func *
pass_regroup(Pass *pass, Func *func)
{
    if (!(pass->opts->approx & RELAX_REASSOC)) {
        return func;
    }
    Regroup r = {.pass = pass};
    r.uses = ir_count_uses(pass->scratch, func);
    r.made = ARENA_ARRAY(pass->scratch, Stmt *, func->next_id + 1);
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    out->body = ir_map_block(pass->arena, &func->body, regroup_stmt, &r);
    return out;
}
