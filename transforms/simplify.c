/* Pass simplify: fold, share, forward and drop scalar code.
 *
 *     let rows: i64 = dim(img, 0)
 *     for r in 0 .. rows {                for r in 0 .. dim(img, 0) {
 *         let i: i64 = add(r, 0)              store out[r] = mul(img[r], 2)
 *         if lt(i, 0) { ... }        ->   }
 *         store out[i] = mul(2, img[i])
 *     }
 *
 * One walk in program order knows, at every point,
 *   Bounds   what conditions, loop ranges and definitions say (analysis.h);
 *   Avail    which expressions a Var already holds, loads included;
 *   subst    Vars that are copies of another Var, a constant or an extent, and
 *            names that stand for one array only.
 * Expressions are rewritten bottom-up by the rules of rules.def.  Statements
 * have a handler each, below.  After the walk dead_code drops what nothing
 * visible needs.  Both are repeated until nothing changes, so that simplify is
 * idempotent; the walk sees what the last one did (a carry that is constant, a
 * branch that became empty).
 *
 * Not done here: code motion out of loops (the C compiler does it for pure
 * arithmetic), float algebra that changes a bit, if-conversion of anything
 * that may raise a floating-point flag or read memory.
 */
#include "transforms/simplify.h"

enum {
    MAX_ROUNDS = 6,
    MAX_SPECULATED = 16 /* nodes of a branch that becomes a select */
};

typedef struct Simp {
    Pass *pass;
    Arena *arena;   /* of the new function */
    Arena *scratch;
    Func *func;
    Rules rules;
    Map subst;      /* Var * -> Expr *, Buf * -> Buf * */
    Map loaded;     /* Buf * that is loaded from anywhere */
    Avail avail;
    int changes;
} Simp;

static void simp_block(Simp *s, const Block *in, Block *out);

/* --- expressions --------------------------------------------------------- */

/* What a name stands for where that is known; NULL stays NULL. */
static Buf *
simp_buf(const Simp *s, Buf *buf)
{
    Buf *other = buf != NULL ? map_get(&s->subst, buf) : NULL;
    return other != NULL ? other : buf;
}

/* 'e' with what its buffer's name stands for. */
static Expr *
simp_place(Simp *s, Expr *e)
{
    Buf *buf = simp_buf(s, e->buf);
    if (buf == e->buf) {
        return e;
    }
    Map map = map_new(s->scratch);
    map_set(&map, e->buf, buf);
    return ir_subst(s->arena, e, &map);
}

/* For ir_map: 'e' with operands done. */
static Expr *
simp_node(void *data, Expr *e)
{
    Simp *s = data;
    if (e->op == E_VAR) {
        Expr *other = map_get(&s->subst, e->var);
        return other != NULL ? other : e;
    }
    if (ir_reads(e) || e->op == E_DIM) {
        e = simp_place(s, e);
    }
    e = rules_apply(&s->rules, e);
    if (e->nargs == 0) {
        return e;
    }
    Expr *held = avail_find(&s->avail, e);
    return held != NULL ? held : e;
}

/* NULL stays NULL. */
static Expr *
simp_expr(Simp *s, Expr *e)
{
    return e == NULL ? NULL : ir_map(s->arena, e, simp_node, s);
}

/* For ir_each_expr. */
static void
simp_slot(void *data, Expr **slot)
{
    *slot = simp_expr(data, *slot);
}

/* Worth no name of its own. */
static bool
is_leaf(const Expr *e)
{
    return e->op == E_CONST || e->op == E_VAR || e->op == E_DIM;
}

/* Is 'e' the constant 'value'?  NULL is not. */
static bool
is_const_bool(const Expr *e, bool value)
{
    int64_t found = 0;
    return e != NULL && ir_const_int(e, &found) && (found != 0) == value;
}

/* 'var' is from now on 'e', a leaf. */
static void
replace_var(Simp *s, Var *var, Expr *e)
{
    map_set(&s->subst, var, e);
    bounds_define(s->rules.bounds, var, e);
    s->changes++;
}

/* The value is available from here on, and known to Bounds. */
static void
emit_let(Simp *s, Block *out, Var *var, Expr *value, Loc loc)
{
    vec_push(s->arena, out, ir_let(s->arena, var, value, loc));
    avail_add(&s->avail, value, ir_ref(s->arena, var));
    if (value->op == E_SPLAT || value->op == E_INSERT) {
        map_set(&s->rules.vectors, var, value);
    }
    bounds_define(s->rules.bounds, var, value);
}

/* The name 'ref' stands for 'buf' alone from now on. */
static void
replace_buf(Simp *s, Buf *ref, Buf *buf)
{
    map_set(&s->subst, ref, simp_buf(s, buf));
    s->changes++;
}

/* The extents of a name, after what they may speak of was simplified. */
static void
simp_extents(Simp *s, Buf *ref)
{
    for (int i = 0; i < ref->rank; i++) {
        ref->dims[i] = simp_expr(s, ref->dims[i]);
    }
}

/* let var = value, or a substitution where the value is a leaf with the same
 * lanes: a scalar can't stand for a vector everywhere. */
static void
define(Simp *s, Block *out, Var *var, Expr *value, Loc loc)
{
    if (is_leaf(value) && value->lanes == var->lanes) {
        replace_var(s, var, value);
    } else {
        emit_let(s, out, var, value, loc);
    }
}

/* 'e' as a leaf; a LET names it where it is none. */
static Expr *
named(Simp *s, Block *out, Expr *e, const char *name, Loc loc)
{
    if (is_leaf(e)) {
        return e;
    }
    Var *var = ir_var(s->func, name, e->dtype, e->lanes);
    emit_let(s, out, var, e, loc);
    return ir_ref(s->arena, var);
}

/* --- memory -------------------------------------------------------------- */

/* What a load of this element would now give: the value stored.  A value that
 * is no leaf gets a name first, if anything loads from the buffer.  An index
 * that is itself loaded may have changed by the store. */
static void
simp_store(Simp *s, Stmt *store, Block *out)
{
    Buf *buf = store->buf;
    bool whole = store->nindex == buf->rank || store->value->lanes > 0;
    ir_each_expr(store, simp_slot, s);
    for (int i = 0; i < store->nindex; i++) {
        whole = whole && !ir_has_load(store->index[i]);
    }
    if (map_has(&s->loaded, buf) && !is_leaf(store->value) && whole) {
        store->value = named(s, out, store->value, "kept", store->loc);
        s->changes++;
    }
    avail_store(&s->avail, s->rules.bounds, buf, store->index, store->nindex);
    if (map_has(&s->loaded, buf) && whole && is_leaf(store->value)) {
        Expr *load = ir_load(s->arena, buf, store->index, store->nindex,
                             store->value->lanes);
        if (load->dtype == store->value->dtype) {
            avail_add(&s->avail, load, store->value);
        }
    }
    vec_push(s->arena, out, store);
}

/* All loads of the buffer are forgotten. */
static void
simp_fill(Simp *s, Stmt *fill, Block *out)
{
    ir_each_expr(fill, simp_slot, s);
    avail_store(&s->avail, s->rules.bounds, fill->buf, NULL, 0);
    vec_push(s->arena, out, fill);
}

/* Extents stay leaves: what a buffer was made with may be no leaf. */
static void
simp_view(Simp *s, Stmt *view, Block *out)
{
    ir_each_expr(view, simp_slot, s);
    for (int k = 0; k < view->buf->rank; k++) {
        Expr **extent = &view->index[view->src->rank + 2 * k];
        *extent = named(s, out, *extent, view->buf->name, view->loc);
        view->buf->dims[k] = *extent;
    }
    vec_push(s->arena, out, view);
    bounds_after(s->rules.bounds, view);
}

/* --- checks -------------------------------------------------------------- */

/* A check that always fails stays: it ends the call. Behind it, its
 * condition may be relied on. */
static void
simp_check(Simp *s, Stmt *check, Block *out)
{
    check->value = simp_expr(s, check->value);
    if (bounds_proves(s->rules.bounds, check->value)) {
        s->changes++;
        return;
    }
    bool known_false = is_const_bool(check->value, false);
    if (!known_false && bounds_refutes(s->rules.bounds, check->value)) {
        check->value = ir_bool(s->arena, false);
        s->changes++;
    }
    vec_push(s->arena, out, check);
    bounds_assume(s->rules.bounds, check->value, true);
}

/* A warning that is never given goes. */
static void
simp_warn(Simp *s, Stmt *warn, Block *out)
{
    warn->value = simp_expr(s, warn->value);
    if (bounds_refutes(s->rules.bounds, warn->value)) {
        s->changes++;
        return;
    }
    vec_push(s->arena, out, warn);
}

/* --- branches ------------------------------------------------------------ */

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
        define(s, out, join->out, value, branch->loc);
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
        define(s, out, join->out, simp_expr(s, value), branch->loc);
    }
    for (int i = 0; i < branch->nbinds; i++) {
        const Bind *bind = &branch->binds[i];
        replace_buf(s, bind->out, yes ? bind->init : bind->next);
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
        if (is_leaf(join->then_val) &&
            join->then_val->lanes == join->out->lanes &&
            ir_equal(join->then_val, join->else_val)) {
            replace_var(s, join->out, join->then_val);
        } else {
            branch->joins[n++] = *join;
        }
    }
    branch->njoins = n;
    n = 0;
    for (int i = 0; i < branch->nbinds; i++) {
        const Bind *bind = &branch->binds[i];
        if (bind->init == bind->next) {
            replace_buf(s, bind->out, bind->init);
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
static void
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

/* --- loops --------------------------------------------------------------- */

/* Is 'e' just 'var'? */
static bool
is_var(const Expr *e, const Var *var)
{
    return e->op == E_VAR && e->var == var;
}

/* Does carry 'i' hand on what it starts with, if the carries do that are
 * "same"? A leaf is the same in all rounds; of other starts only the carry
 * itself is known to be one. */
static bool
stays_same(const Stmt *loop, const bool *same, int i)
{
    const Carry *carry = &loop->carries[i];
    bool leaf = is_leaf(carry->init);
    bool found = is_var(carry->next, carry->var) ||
                 (leaf && ir_equal(carry->next, carry->init));
    for (int j = 0; leaf && !found && j < loop->ncarries; j++) {
        const Carry *other = &loop->carries[j];
        found = same[j] && is_var(carry->next, other->var) &&
                ir_equal(carry->init, other->init);
    }
    return found;
}

/* Carries that never change are what they start with: those that start with one
 * leaf and hand on only that leaf or each other, as two arrays of one size that
 * change places hand on their extents.  All of one start are taken to be
 * unchanged first, and those that hand on something else taken out until
 * nothing changes.  "same"[i] tells. */
static bool *
find_unchanged(Simp *s, const Stmt *loop)
{
    bool *same = ARENA_ARRAY(s->scratch, bool, loop->ncarries);
    for (int i = 0; i < loop->ncarries; i++) {
        same[i] = loop->carries[i].init->lanes == loop->carries[i].var->lanes;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < loop->ncarries; i++) {
            if (same[i] && !stays_same(loop, same, i)) {
                same[i] = false;
                changed = true;
            }
        }
    }
    return same;
}

/* A carry whose next is a constant c: init in the first round of a FOR, then
 * c.  After the loop: c if it ran at all. */
static void
spread_constant(Simp *s, const Stmt *loop, const Carry *carry, Block *out)
{
    Arena *arena = s->arena;
    Expr *init = named(s, out, carry->init, carry->var->name, loop->loc);
    Expr *first = ir_binary(arena, E_EQ, ir_ref(arena, loop->var), loop->lo);
    map_set(&s->subst, carry->var,
            rules_apply(&s->rules,
                        ir_select(arena, first, init, carry->next)));
    Expr *ran = ir_binary(arena, E_LT, loop->lo, loop->hi);
    ran = rules_apply(&s->rules, ran);
    Expr *after = ir_select(arena, ran, carry->next, init);
    define(s, out, carry->out, simp_node(s, after), loop->loc);
    s->changes++;
}

/* A Bind that never changes is the array that it starts with. The extents of
 * the others are those of the carries that are left. */
static void
simp_binds(Simp *s, Stmt *loop)
{
    int n = 0;
    for (int i = 0; i < loop->nbinds; i++) {
        Bind *bind = &loop->binds[i];
        bind->init = simp_buf(s, bind->init);
        if (bind->next == bind->var) {
            replace_buf(s, bind->var, bind->init);
            replace_buf(s, bind->out, bind->init);
        } else {
            simp_extents(s, bind->var);
            simp_extents(s, bind->out);
            loop->binds[n++] = *bind;
        }
    }
    loop->nbinds = n;
}

/* Is 'var' the extent of a name that 'loop' carries?  It stays a name then. */
static bool
is_extent(const Stmt *loop, const Var *var)
{
    bool found = false;
    for (int i = 0; i < loop->nbinds; i++) {
        const Buf *ref = loop->binds[i].var;
        for (int k = 0; k < ref->rank; k++) {
            found = found || is_var(ref->dims[k], var);
        }
    }
    return found;
}

/* Carries that need no carrying are dropped before the body is walked. */
static void
simp_inits(Simp *s, Stmt *loop, Block *out)
{
    int n = 0;
    for (int i = 0; i < loop->ncarries; i++) {
        loop->carries[i].init = simp_expr(s, loop->carries[i].init);
    }
    const bool *same = find_unchanged(s, loop);
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &loop->carries[i];
        if (same[i]) {
            Expr *init = named(s, out, carry->init, carry->var->name,
                               loop->loc);
            replace_var(s, carry->var, init);
            replace_var(s, carry->out, init);
        } else if (loop->kind == S_FOR && carry->next->op == E_CONST &&
                   carry->var->lanes == 0 && !ir_has_load(loop->lo) &&
                   !ir_has_load(loop->hi) && !is_extent(loop, carry->var)) {
            spread_constant(s, loop, carry, out);
        } else {
            loop->carries[n++] = *carry;
        }
    }
    loop->ncarries = n;
    simp_binds(s, loop);
}

/* "next" and "until" in the scope of the body's end, where its Vars are
 * seen. */
static void
simp_nexts(Simp *s, Stmt *loop)
{
    for (int i = 0; i < loop->ncarries; i++) {
        loop->carries[i].next = simp_expr(s, loop->carries[i].next);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        loop->binds[i].next = simp_buf(s, loop->binds[i].next);
    }
    loop->until = simp_expr(s, loop->until);
    if (is_const_bool(loop->until, false)) {
        loop->until = NULL;
        s->changes++;
    }
}

/* The outs of a loop that does not run. */
static void
skip_loop(Simp *s, const Stmt *loop, Block *out)
{
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        define(s, out, carry->out, simp_expr(s, carry->init), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        replace_buf(s, loop->binds[i].out, loop->binds[i].init);
    }
    s->changes++;
}

/* A loop that runs once is its body: the variable is lo, carries are what they
 * start with, and what they would hand on is what comes out. */
static void
run_once(Simp *s, const Stmt *loop, Block *out)
{
    Expr *lo = named(s, out, loop->lo, loop->var->name, loop->loc);
    replace_var(s, loop->var, lo);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        define(s, out, carry->var, simp_expr(s, carry->init), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        replace_buf(s, loop->binds[i].var, loop->binds[i].init);
    }
    simp_block(s, &loop->body, out);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        define(s, out, carry->out, simp_expr(s, carry->next), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        replace_buf(s, loop->binds[i].out, loop->binds[i].next);
    }
    s->changes++;
}

/* Is hi - lo = 1 for sure? */
static bool
runs_once(Simp *s, const Stmt *loop)
{
    Linear lo;
    Linear hi;
    Linear rounds;
    int64_t n = 0;
    return bounds_linear(s->rules.bounds, loop->lo, &lo) &&
           bounds_linear(s->rules.bounds, loop->hi, &hi) &&
           linear_sum(s->scratch, &hi, 1, &lo, -1, &rounds) &&
           linear_is_const(&rounds, &n) && n == 1;
}

/* Loads that the body may overwrite are forgotten before it is entered,
 * because a round follows on a round. */
static void
simp_for(Simp *s, Stmt *loop, Block *out)
{
    loop->lo = simp_expr(s, loop->lo);
    loop->hi = simp_expr(s, loop->hi);
    Expr *empty = ir_binary(s->scratch, E_LE, loop->hi, loop->lo);
    if (bounds_proves(s->rules.bounds, empty)) {
        skip_loop(s, loop, out);
        return;
    }
    if (runs_once(s, loop)) {
        run_once(s, loop, out);
        return;
    }
    simp_inits(s, loop, out);
    Block body = {0};
    int scope = bounds_push(s->rules.bounds);
    avail_forget(&s->avail, &loop->body);
    int mark = avail_push(&s->avail);
    bounds_loop(s->rules.bounds, loop);
    simp_block(s, &loop->body, &body);
    simp_nexts(s, loop);
    avail_pop(&s->avail, mark);
    bounds_pop(s->rules.bounds, scope);
    loop->body = body;
    avail_forget(&s->avail, &loop->body);
    vec_push(s->arena, out, loop);
}

/* A WHILE whose condition is known to be false runs its "pre" once. */
static void
skip_while(Simp *s, const Stmt *loop, Block *out)
{
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        define(s, out, carry->var, simp_expr(s, carry->init), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        replace_buf(s, loop->binds[i].var, loop->binds[i].init);
        replace_buf(s, loop->binds[i].out, loop->binds[i].init);
    }
    simp_block(s, &loop->pre, out);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        Expr *last = simp_expr(s, ir_ref(s->arena, carry->var));
        define(s, out, carry->out, last, loop->loc);
    }
    s->changes++;
}

/* "pre" is walked before the condition is known, the body after. */
static void
simp_while(Simp *s, Stmt *loop, Block *out)
{
    Block pre = {0};
    Block body = {0};
    if (is_const_bool(loop->value, false)) {
        skip_while(s, loop, out);
        return;
    }
    simp_inits(s, loop, out);
    int scope = bounds_push(s->rules.bounds);
    avail_forget(&s->avail, &loop->pre);
    avail_forget(&s->avail, &loop->body);
    int mark = avail_push(&s->avail);
    bounds_loop(s->rules.bounds, loop);
    simp_block(s, &loop->pre, &pre);
    loop->value = simp_expr(s, loop->value);
    bounds_assume(s->rules.bounds, loop->value, true);
    simp_block(s, &loop->body, &body);
    simp_nexts(s, loop);
    avail_pop(&s->avail, mark);
    bounds_pop(s->rules.bounds, scope);
    avail_forget(&s->avail, &pre);
    avail_forget(&s->avail, &body);
    loop->pre = pre;
    loop->body = body;
    vec_push(s->arena, out, loop);
    bounds_after(s->rules.bounds, loop);
}

/* --- the walk ------------------------------------------------------------ */

/* Copies 'original'; handlers own the copy. */
static void
simp_stmt(Simp *s, const Stmt *original, Block *out)
{
    Stmt *stmt = ir_copy_stmt(s->arena, original);
    stmt->buf = simp_buf(s, stmt->buf);
    stmt->src = simp_buf(s, stmt->src);
    switch (stmt->kind) {
    case S_LET:
        define(s, out, stmt->var, simp_expr(s, stmt->value), stmt->loc);
        return;
    case S_STORE:
        simp_store(s, stmt, out);
        return;
    case S_FILL:
        simp_fill(s, stmt, out);
        return;
    case S_ALLOC:
    case S_GROW:
    case S_ROUTINE:
        ir_each_expr(stmt, simp_slot, s);
        avail_store(&s->avail, s->rules.bounds, stmt->buf, NULL, 0);
        vec_push(s->arena, out, stmt);
        return;
    case S_VIEW:
        simp_view(s, stmt, out);
        return;
    case S_CHECK:
        simp_check(s, stmt, out);
        return;
    case S_WARN:
        simp_warn(s, stmt, out);
        return;
    case S_IF:
        simp_if(s, stmt, out);
        return;
    case S_FOR:
        simp_for(s, stmt, out);
        return;
    case S_WHILE:
        simp_while(s, stmt, out);
        return;
    default:
        vec_push(s->arena, out, stmt);
        return;
    }
}

/* Appends what 'in' becomes to 'out'. */
static void
simp_block(Simp *s, const Block *in, Block *out)
{
    for (int i = 0; i < in->n; i++) {
        simp_stmt(s, in->at[i], out);
    }
}

/* One walk; the number of changes. */
static int
simp_round(Pass *pass, Func *func)
{
    Simp s = {.pass = pass, .arena = pass->arena, .scratch = pass->scratch};
    Block body = {0};
    s.func = func;
    s.rules.arena = s.arena;
    s.rules.bounds = bounds_new(s.scratch, func);
    s.rules.vectors = map_new(s.scratch);
    s.subst = map_new(s.scratch);
    s.loaded = avail_loaded(s.scratch, &func->body);
    avail_init(&s.avail, s.scratch, func);
    simp_block(&s, &func->body, &body);
    for (int i = 0; i < func->rets.n; i++) {
        func->rets.at[i].value = simp_expr(&s, func->rets.at[i].value);
    }
    func->body = body;
    return s.changes + s.rules.changes + dead_code(s.arena, s.scratch, func);
}

/* A shallow copy whose results and body may be changed. */
static Func *
copy_func(Arena *arena, const Func *func)
{
    Func *copy = arena_copy(arena, func, sizeof(Func));
    copy->rets.at = NULL;
    copy->rets.n = 0;
    copy->rets.cap = 0;
    for (int i = 0; i < func->rets.n; i++) {
        vec_push(arena, &copy->rets, func->rets.at[i]);
    }
    return copy;
}

/* Rounds until nothing changes; few functions need more than three. */
Func *
simplify(Pass *pass, Func *func)
{
    Func *copy = copy_func(pass->arena, func);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (simp_round(pass, copy) == 0) {
            break;
        }
        names_refine(copy);
    }
    names_refine(copy);
    return copy;
}

/* The pass of the table. */
Func *
pass_simplify(Pass *pass, Func *func)
{
    return simplify(pass, func);
}
