/* Branches in pass 'simplify'.
 *
 *     if lt(i, 0) { ... }  i >= 0 is known       its other side alone
 *     if c { let x = a + 1 } join y = x, b   ->  y = select(c, a + 1, b)
 *     if c { } else { ... }                  ->  if not(c) { ... }
 *     join y = v, v                          ->  y is v
 *
 * What both sides only compute is computed in any case where that is cheap and
 * raises no flag; a join of buffers keeps its IF, for a buffer is no value.
 */
#include "transforms/simplify.h"

enum { MAX_SPECULATED = 16 /* nodes of a branch that becomes a select */ };

/* Nodes of 'e' if it may be evaluated although the program would not: no
 * load, call or division, no float arithmetic (flags); else a large number. */
static int
speculation_cost(const Expr *e)
{
    bool moves = e->op == E_SELECT || e->op == E_VAR || e->op == E_CONST;
    bool ints = dtype_is_int(e->dtype) || e->dtype == DT_BOOL;
    if (ir_reads(e) || e->op == E_CALL || e->op == E_IDIV ||
        e->op == E_MOD || (!moves && !ints)) {
        return MAX_SPECULATED + 1;
    }
    int cost = 1;
    for (int i = 0; i < e->nargs; i++) {
        bool from_float = dtype_is_float(e->args[i]->dtype);
        cost += from_float && !moves ? MAX_SPECULATED + 1
                                     : speculation_cost(e->args[i]);
    }
    return cost;
}

/* Is 'block' made of LETs only that may be evaluated in any case? */
static int
block_cost(const Block *block)
{
    int cost = 0;
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        cost += s->kind == S_LET ? speculation_cost(s->value)
                                 : MAX_SPECULATED + 1;
    }
    return cost;
}

/* Conditions that read memory stay where they are: the body may write it. */
static bool
becomes_selects(const Stmt *s)
{
    int cost = block_cost(&s->body) + block_cost(&s->els);
    if (ir_has_load(s->value) || s->nbinds > 0) {
        return false;
    }
    for (int i = 0; i < s->njoins; i++) {
        cost += speculation_cost(s->joins[i].then_val);
        cost += speculation_cost(s->joins[i].else_val);
    }
    return cost <= MAX_SPECULATED;
}

/* Append the statements of 'block'. */
static void
push_block(Simp *s, Block *out, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        vec_push(s->arena, out, block->at[i]);
    }
}

/* Both branches in a row, joins as selects. What the branches define is never
 * used but by these. */
static void
emit_selects(Simp *s, const Stmt *branch, Block *out)
{
    push_block(s, out, &branch->body);
    push_block(s, out, &branch->els);
    for (int i = 0; i < branch->njoins; i++) {
        const Join *join = &branch->joins[i];
        Expr *value = ir_select(s->arena, branch->value, join->then_val,
                                join->else_val);
        value = simp_node(s, ir_at(value, branch->loc));
        simp_define(s, out, join->out, value, branch->loc);
    }
    s->changes++;
}

/* The branch that is always taken. */
static void
simp_decided(Simp *s, const Stmt *branch, bool yes, Block *out)
{
    simp_block(s, yes ? &branch->body : &branch->els, out);
    for (int i = 0; i < branch->njoins; i++) {
        const Join *join = &branch->joins[i];
        Expr *value = yes ? join->then_val : join->else_val;
        simp_define(s, out, join->out, simp_expr(s, value), branch->loc);
    }
    for (int i = 0; i < branch->nbinds; i++) {
        const Bind *bind = &branch->binds[i];
        simp_replace_buf(s, bind->out, yes ? bind->init : bind->next);
    }
    s->changes++;
}

/* The branch's own block and the joins' values at its end, both in its scope:
 * what is known and at hand inside is forgotten behind it. */
static Block
simp_branch(Simp *s, Stmt *branch, bool yes)
{
    Block out = {0};
    int scope = bounds_push(s->rules.bounds);
    int mark = avail_push(&s->avail);
    bounds_assume(s->rules.bounds, branch->value, yes);
    simp_block(s, yes ? &branch->body : &branch->els, &out);
    for (int i = 0; i < branch->njoins; i++) {
        Join *join = &branch->joins[i];
        Expr **slot = yes ? &join->then_val : &join->else_val;
        *slot = simp_expr(s, *slot);
    }
    for (int i = 0; i < branch->nbinds; i++) {
        Buf **slot = yes ? &branch->binds[i].init : &branch->binds[i].next;
        *slot = simp_buf(s, *slot);
    }
    avail_pop(&s->avail, mark);
    bounds_pop(s->rules.bounds, scope);
    return out;
}

/* Joins whose two values are one leaf need no join: what both branches see
 * is visible outside. So it is with one array. */
static void
drop_equal_joins(Simp *s, Stmt *branch)
{
    int n = 0;
    for (int i = 0; i < branch->njoins; i++) {
        const Join *join = &branch->joins[i];
        if (simp_is_leaf(join->then_val) &&
            join->then_val->lanes == join->out->lanes &&
            ir_equal(join->then_val, join->else_val)) {
            simp_replace_var(s, join->out, join->then_val);
        } else {
            branch->joins[n++] = *join;
        }
    }
    branch->njoins = n;
    n = 0;
    for (int i = 0; i < branch->nbinds; i++) {
        const Bind *bind = &branch->binds[i];
        if (bind->init == bind->next) {
            simp_replace_buf(s, bind->out, bind->init);
        } else {
            simp_extents(s, bind->out);
            branch->binds[n++] = *bind;
        }
    }
    branch->nbinds = n;
}

/* if c { } else { X }  ->  if !c { X } */
static void
turn_round(Simp *s, Stmt *branch)
{
    if (branch->body.n > 0 || branch->els.n == 0) {
        return;
    }
    Block empty = branch->body;
    branch->body = branch->els;
    branch->els = empty;
    for (int i = 0; i < branch->njoins; i++) {
        Join *join = &branch->joins[i];
        Expr *then_val = join->then_val;
        join->then_val = join->else_val;
        join->else_val = then_val;
    }
    for (int i = 0; i < branch->nbinds; i++) {
        Bind *bind = &branch->binds[i];
        Buf *init = bind->init;
        bind->init = bind->next;
        bind->next = init;
    }
    Expr *cond = ir_unary(s->arena, E_NOT, branch->value);
    branch->value = rules_apply(&s->rules, ir_at(cond, branch->value->loc));
    s->changes++;
}

/* Memory that either branch may write is forgotten after both. */
void
simp_if(Simp *s, Stmt *branch, Block *out)
{
    branch->value = simp_expr(s, branch->value);
    bool yes = bounds_proves(s->rules.bounds, branch->value);
    if (yes || bounds_refutes(s->rules.bounds, branch->value)) {
        simp_decided(s, branch, yes, out);
        return;
    }
    Block then = simp_branch(s, branch, true);
    Block els = simp_branch(s, branch, false);
    avail_forget(&s->avail, &then);
    avail_forget(&s->avail, &els);
    branch->body = then;
    branch->els = els;
    drop_equal_joins(s, branch);
    if (becomes_selects(branch)) {
        emit_selects(s, branch, out);
        return;
    }
    turn_round(s, branch);
    vec_push(s->arena, out, branch);
    bounds_after(s->rules.bounds, branch);
}
