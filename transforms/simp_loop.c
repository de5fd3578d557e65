/* Loops in pass 'simplify'.
 *
 *     for i in 0 .. 0 { ... }        what it carries is what that starts with
 *     for i in 3 .. 4 { ... }        its body, with i = 3
 *     carry s = a ... next s = s     s is a
 *     carry s = a ... next s = 5     a in the first round, then 5
 *
 * Carries are looked at before the body is walked, so that the body is
 * simplified with what they turn out to be; "next" and "until" after it, at the
 * end of a round.
 */
#include "transforms/simplify.h"

/* Does carry 'i' hand on what it starts with, if the carries do that are
 * "same"? A leaf is the same in all rounds; of other starts only the carry
 * itself is known to be one. */
static bool
stays_same(const Stmt *loop, const bool *same, int i)
{
    const Carry *carry = &loop->carries[i];
    bool leaf = simp_is_leaf(carry->init);
    bool found = ir_is_var(carry->next, carry->var) ||
                 (leaf && ir_equal(carry->next, carry->init));
    for (int j = 0; leaf && !found && j < loop->ncarries; j++) {
        const Carry *other = &loop->carries[j];
        found = same[j] && ir_is_var(carry->next, other->var) &&
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
    Expr *init = simp_named(s, out, carry->init, carry->var->name, loop->loc);
    Expr *first = ir_binary(arena, E_EQ, ir_ref(arena, loop->var), loop->lo);
    map_set(&s->subst, carry->var,
            rules_apply(&s->rules,
                        ir_select(arena, first, init, carry->next)));
    Expr *ran = ir_binary(arena, E_LT, loop->lo, loop->hi);
    ran = rules_apply(&s->rules, ran);
    Expr *after = ir_select(arena, ran, carry->next, init);
    simp_define(s, out, carry->out, simp_node(s, after), loop->loc);
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
            simp_replace_buf(s, bind->var, bind->init);
            simp_replace_buf(s, bind->out, bind->init);
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
            found = found || ir_is_var(ref->dims[k], var);
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
            Expr *init = simp_named(s, out, carry->init, carry->var->name,
                               loop->loc);
            simp_replace_var(s, carry->var, init);
            simp_replace_var(s, carry->out, init);
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
    if (simp_is_bool(loop->until, false)) {
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
        simp_define(s, out, carry->out, simp_expr(s, carry->init), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        simp_replace_buf(s, loop->binds[i].out, loop->binds[i].init);
    }
    s->changes++;
}

/* A loop that runs once is its body: the variable is lo, carries are what they
 * start with, and what they would hand on is what comes out. */
static void
run_once(Simp *s, const Stmt *loop, Block *out)
{
    Expr *lo = simp_named(s, out, loop->lo, loop->var->name, loop->loc);
    simp_replace_var(s, loop->var, lo);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        simp_define(s, out, carry->var, simp_expr(s, carry->init), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        simp_replace_buf(s, loop->binds[i].var, loop->binds[i].init);
    }
    simp_block(s, &loop->body, out);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        simp_define(s, out, carry->out, simp_expr(s, carry->next), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        simp_replace_buf(s, loop->binds[i].out, loop->binds[i].next);
    }
    s->changes++;
}

/* Which carries of a loop are named inside it: "used" by carry. */
typedef struct Named {
    const Stmt *loop;
    bool *used;
} Named;

/* For ir_each_expr. */
static void
note_named(void *data, Expr **slot)
{
    const Named *named = data;
    const Expr *e = *slot;
    for (int i = 0; e->op == E_VAR && i < named->loop->ncarries; i++) {
        named->used[i] |= e->var == named->loop->carries[i].var;
    }
    for (int i = 0; i < e->nargs; i++) {
        note_named(data, &(*slot)->args[i]);
    }
}

/* For ir_each_stmt. */
static void
note_named_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, note_named, data);
}

/* A FOR that runs for sure, and in which nobody asks what a carry is: what it
 * starts with doesn't matter.  Where a name is assigned before each use, this
 * is what ends the chain from round to round of the loops around.
 *
 *     for y in 0..h { carry last = d          carry last = d
 *         for x in 0..16 { carry t = last     carry t = 0.0
 *             next t = f(x) -> u }       ->   next t = f(x) -> u
 *         next last = u }                     next last = u               */
static void
forget_inits(Simp *s, Stmt *loop)
{
    bool open = false;
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        open |= carry->init->op != E_CONST && carry->var->lanes == 0;
    }
    Expr *runs = ir_binary(s->scratch, E_LT, loop->lo, loop->hi);
    if (!open || !bounds_proves(s->rules.bounds, runs)) {
        return;
    }
    Named named = {loop, ARENA_ARRAY(s->scratch, bool, loop->ncarries)};
    ir_each_stmt(&loop->body, note_named_stmt, &named);
    for (int i = 0; i < loop->ncarries; i++) {
        note_named(&named, &loop->carries[i].next);
    }
    if (loop->until != NULL) {
        note_named(&named, &loop->until);
    }
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &loop->carries[i];
        if (!named.used[i] && carry->init->op != E_CONST &&
            carry->var->lanes == 0 && !is_extent(loop, carry->var)) {
            DType dt = carry->var->dtype;
            carry->init = ir_zero(s->arena, dt);
            s->changes++;
        }
    }
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
void
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
    forget_inits(s, loop);
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
        simp_define(s, out, carry->var, simp_expr(s, carry->init), loop->loc);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        simp_replace_buf(s, loop->binds[i].var, loop->binds[i].init);
        simp_replace_buf(s, loop->binds[i].out, loop->binds[i].init);
    }
    simp_block(s, &loop->pre, out);
    for (int i = 0; i < loop->ncarries; i++) {
        const Carry *carry = &loop->carries[i];
        Expr *last = simp_expr(s, ir_ref(s->arena, carry->var));
        simp_define(s, out, carry->out, last, loop->loc);
    }
    s->changes++;
}

/* "pre" is walked before the condition is known, the body after. */
void
simp_while(Simp *s, Stmt *loop, Block *out)
{
    Block pre = {0};
    Block body = {0};
    if (simp_is_bool(loop->value, false)) {
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
