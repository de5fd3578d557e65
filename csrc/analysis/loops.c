/* Loops: how often they run and what stays the same in every round.
 *
 * Two questions are asked of an expression here. Invariance is about values:
 * would it give the same in every round, though it stands inside? A load
 * counts only if the loop writes nothing that it could see. Visibility is
 * about names: are its Vars defined where it is to be moved? Linear forms look
 * through definitions and so may speak of Vars whose block has ended, or of
 * none that the new place knows; "Scope" follows a walk through the function
 * to tell. */
#include "csrc/analysis/analysis.h"

/* hi - lo, 0 for hi <= lo, -1 where that is not a constant or does not fit.
 * Bounds that are no constants are for Bounds to judge. */
int64_t
loop_trips(const Stmt *loop)
{
    int64_t lo = 0;
    int64_t hi = 0;
    if (loop->kind != S_FOR || !ir_const_int(loop->lo, &lo) ||
        !ir_const_int(loop->hi, &hi)) {
        return -1;
    }
    if (hi <= lo) {
        return 0;
    }
    int64_t trips = 0;
    return __builtin_sub_overflow(hi, lo, &trips) ? -1 : trips;
}

/* --- what a loop defines ------------------------------------------------- */

/* LETs, loop variables, joins, carries inside and out. */
static void
add_stmt_defs(void *data, Stmt *s)
{
    Map *defs = data;
    if (s->var != NULL) {
        map_set(defs, s->var, s);
    }
    for (int i = 0; i < s->njoins; i++) {
        map_set(defs, s->joins[i].out, s);
    }
    for (int i = 0; i < s->ncarries; i++) {
        map_set(defs, s->carries[i].var, s);
        map_set(defs, s->carries[i].out, s);
    }
}

/* In program order, outer before inner. */
Map
loop_defs(Arena *arena, const Block *block)
{
    Map defs = map_new(arena);
    ir_each_stmt(block, add_stmt_defs, &defs);
    return defs;
}

/* "defs": what defines the Vars of a loop; "left": so many may be replaced. */
typedef struct Spell {
    Arena *arena;
    const Map *defs;
    int left;
} Spell;

/* For ir_map. */
static Expr *
spell_var(void *data, Expr *e)
{
    Spell *s = data;
    const Stmt *def = e->op == E_VAR ? map_get(s->defs, e->var) : NULL;
    return def != NULL && def->kind == S_LET && s->left-- > 0
               ? ir_map(s->arena, def->value, spell_var, data) : e;
}

Expr *
loop_spelled_out(Arena *arena, const Map *defs, Expr *e)
{
    enum { MOST_NAMES = 16 };
    Spell s = {arena, defs, MOST_NAMES};
    return ir_map(arena, e, spell_var, &s);
}

/* Does 's' or a statement below define 'var'? */
static bool
defines(const Stmt *s, const Var *var);

/* Does any statement of 'block' or below define 'var'? */
static bool
block_defines(const Block *block, const Var *var)
{
    for (int i = 0; i < block->n; i++) {
        if (defines(block->at[i], var)) {
            return true;
        }
    }
    return false;
}

static bool
defines(const Stmt *s, const Var *var)
{
    if (s->var == var) {
        return true;
    }
    for (int i = 0; i < s->njoins; i++) {
        if (s->joins[i].out == var) {
            return true;
        }
    }
    for (int i = 0; i < s->ncarries; i++) {
        if (s->carries[i].var == var || s->carries[i].out == var) {
            return true;
        }
    }
    return block_defines(&s->pre, var) || block_defines(&s->body, var) ||
           block_defines(&s->els, var);
}

/* A buffer made or named inside the loop is another one in every round. */
static bool
block_makes(const Block *block, const Buf *buf)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (effects_makes(s, buf) || block_makes(&s->pre, buf) ||
            block_makes(&s->body, buf) || block_makes(&s->els, buf)) {
            return true;
        }
    }
    return false;
}

bool
loop_makes(const Stmt *loop, const Buf *buf)
{
    return effects_makes(loop, buf) || block_makes(&loop->pre, buf) ||
           block_makes(&loop->body, buf);
}

/* Does 'block' write memory that a load of 'buf' may see? */
static bool
overwrites(const Func *func, const Block *block, const Buf *buf)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if ((ir_writes(s) && effects_may_alias(func, s->buf, buf)) ||
            overwrites(func, &s->pre, buf) ||
            overwrites(func, &s->body, buf) ||
            overwrites(func, &s->els, buf)) {
            return true;
        }
    }
    return false;
}

/* Vars must come from outside, memory must not be written in the loop, and a
 * buffer made or named in it is another one in each round. Whether 'e' may be
 * evaluated before the loop, which might run no round, is another question. */
bool
loop_invariant(const Func *func, const Stmt *loop, const Expr *e)
{
    if (e->op == E_VAR && defines(loop, e->var)) {
        return false;
    }
    if (ir_reads(e) && (overwrites(func, &loop->body, e->buf) ||
                            overwrites(func, &loop->pre, e->buf))) {
        return false;
    }
    if ((ir_reads(e) || e->op == E_DIM || e->op == E_STRIDE) &&
        loop_makes(loop, e->buf)) {
        return false;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!loop_invariant(func, loop, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* --- scopes -------------------------------------------------------------- */

/* What is visible at the entry of 'func'. */
Scope
scope_new(Arena *arena, const Func *func)
{
    Scope scope = {.arena = arena};
    scope.rank = map_new(arena);
    for (int i = 0; i < func->params.n; i++) {
        if (func->params.at[i].var != NULL) {
            scope_show(&scope, func->params.at[i].var);
        }
    }
    return scope;
}

/* A Var that comes into scope again (its loop was walked before) gets its new
 * position. Positions count from 1 in the map, where 0 is "none". */
void
scope_show(Scope *scope, Var *var)
{
    vec_push(scope->arena, &scope->visible, var);
    map_set(&scope->rank, var, (void *)(intptr_t)scope->visible.n);
}

/* LETs, joins, and what loops hand out. */
void
scope_show_after(Scope *scope, const Stmt *s)
{
    if (s->kind == S_LET) {
        scope_show(scope, s->var);
    }
    for (int i = 0; i < s->njoins; i++) {
        scope_show(scope, s->joins[i].out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        scope_show(scope, s->carries[i].out);
    }
}

/* The loop's variable and what it carries. */
void
scope_show_inside(Scope *scope, const Stmt *loop)
{
    if (loop->kind == S_FOR) {
        scope_show(scope, loop->var);
    }
    for (int i = 0; i < loop->ncarries; i++) {
        scope_show(scope, loop->carries[i].var);
    }
}

/* A Var that went out of scope may still have a rank; then another Var
 * stands at its position, or none. */
bool
scope_sees(const Scope *scope, int n, const Expr *e)
{
    if (e->op == E_VAR) {
        intptr_t at = (intptr_t)map_get(&scope->rank, e->var) - 1;
        return at >= 0 && at < n && scope->visible.at[at] == e->var;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!scope_sees(scope, n, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* Walks to 'loop'; true once it is found, with 'scope' as it is before it.
 * Names of one branch are hidden before the other is walked, those of a body
 * before what follows the loop. */
static bool
scope_reach(Scope *scope, const Block *block, const Stmt *loop)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        int n = scope->visible.n;
        if (s == loop) {
            return true;
        }
        scope_show_inside(scope, s);
        if (scope_reach(scope, &s->pre, loop) ||
            scope_reach(scope, &s->body, loop)) {
            return true;
        }
        scope->visible.n = n;
        if (scope_reach(scope, &s->els, loop)) {
            return true;
        }
        scope->visible.n = n;
        scope_show_after(scope, s);
    }
    return false;
}

/* May 'e' be computed right before 'loop'?  Forms look through definitions
 * and can name Vars of blocks that have ended. */
bool
loop_sees(Arena *arena, const Func *func, const Stmt *loop, const Expr *e)
{
    Scope scope = scope_new(arena, func);
    return scope_reach(&scope, &func->body, loop) &&
           scope_sees(&scope, scope.visible.n, e);
}
