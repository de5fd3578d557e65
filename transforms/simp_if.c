/* Branches in pass 'simplify'.
 *
 *     if lt(i, 0) { ... }  i >= 0 is known       its other side alone
 *     if c { let x = a + 1 } join y = x, b   ->  y = select(c, a + 1, b)
 *     if c { } else { ... }                  ->  if not(c) { ... }
 *     join y = v, v                          ->  y is v
 *     if c { a[i] = x } else { a[i] = y }    ->  a[i] = select(c, x, y)
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

/* May 'e' read what a store to 'buf' writes? */
static bool
may_see(const Simp *s, const Expr *e, const Buf *buf)
{
    bool sees = ir_reads(e) && effects_may_alias(s->func, e->buf, buf);
    for (int i = 0; i < e->nargs && !sees; i++) {
        sees = may_see(s, e->args[i], buf);
    }
    return sees;
}

/* The number of the last statement of 'block' that is a store, if it could as
 * well be the last one of all; else -1. */
static int
last_store(const Simp *s, const Block *block)
{
    int at = block->n - 1;
    while (at >= 0 && block->at[at]->kind == S_LET) {
        at--;
    }
    bool moves = at >= 0 && block->at[at]->kind == S_STORE;
    for (int i = at + 1; i < block->n && moves; i++) {
        moves = !may_see(s, block->at[i]->value, block->at[at]->buf);
    }
    return moves ? at : -1;
}

/* Are the two stores to one element, wherever they stand?  An index that both
 * branches have is made of names that are visible outside. */
static bool
same_target(const Stmt *lhs, const Stmt *rhs)
{
    bool same = lhs->buf == rhs->buf && lhs->nindex == rhs->nindex &&
                lhs->value->lanes == rhs->value->lanes;
    for (int i = 0; i < lhs->nindex && same; i++) {
        same = ir_equal(lhs->index[i], rhs->index[i]) &&
               !ir_has_load(lhs->index[i]);
    }
    return same;
}

/* Does any of the joins' values read what a store to 'buf' writes?  It is read
 * at the end of the branch, and must not be before a store that leaves it. */
static bool
joins_see(const Simp *s, const Stmt *branch, const Buf *buf)
{
    bool found = false;
    for (int i = 0; i < branch->njoins; i++) {
        found |= may_see(s, branch->joins[i].then_val, buf) ||
                 may_see(s, branch->joins[i].else_val, buf);
    }
    return found;
}

/* Takes statement number 'at' out. */
static Stmt *
take_out(Block *block, int at)
{
    Stmt *s = block->at[at];
    for (int i = at + 1; i < block->n; i++) {
        block->at[i - 1] = block->at[i];
    }
    block->n--;
    return s;
}

/* Adds a join of the two values; it is handed out under the name returned. */
static Var *
add_join(Simp *s, Stmt *branch, Expr *then_val, Expr *else_val)
{
    Join *joins = ARENA_ARRAY(s->arena, Join, branch->njoins + 1);
    for (int i = 0; i < branch->njoins; i++) {
        joins[i] = branch->joins[i];
    }
    Var *var = ir_var(s->func, "stored", then_val->dtype, then_val->lanes);
    joins[branch->njoins++] = (Join){var, then_val, else_val};
    branch->joins = joins;
    return var;
}

/* Stores to one element at the end of both branches leave them, and are
 * appended to 'out' in the order in which they are to follow.
 *
 *     if c { store a[i] = x } else { store a[i] = y }
 *         ->   if c { } else { } join v = x, y   store a[i] = v */
static void
sink_stores(Simp *s, Stmt *branch, Block *out)
{
    Block sunk = {0};
    for (;;) {
        int then = last_store(s, &branch->body);
        int els = last_store(s, &branch->els);
        if (then < 0 || els < 0 ||
            !same_target(branch->body.at[then], branch->els.at[els]) ||
            joins_see(s, branch, branch->body.at[then]->buf)) {
            break;
        }
        Stmt *lhs = take_out(&branch->body, then);
        Stmt *rhs = take_out(&branch->els, els);
        Stmt *store = ir_copy_stmt(s->arena, lhs);
        Var *var = add_join(s, branch, lhs->value, rhs->value);
        store->value = ir_ref(s->arena, var);
        vec_push(s->arena, &sunk, store);
        s->changes++;
    }
    for (int i = sunk.n - 1; i >= 0; i--) {
        vec_push(s->arena, out, sunk.at[i]);
    }
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
    Block after = {0};
    sink_stores(s, branch, &after);
    drop_equal_joins(s, branch);
    if (becomes_selects(branch)) {
        emit_selects(s, branch, out);
    } else {
        turn_round(s, branch);
        vec_push(s->arena, out, branch);
        bounds_after(s->rules.bounds, branch);
    }
    for (int i = 0; i < after.n; i++) {
        after.at[i]->value = simp_expr(s, after.at[i]->value);
        vec_push(s->arena, out, after.at[i]);
    }
}
