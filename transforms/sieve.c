/* Pass sieve: rounds in which a branch is seldom taken are looked through by
 * SIMD first.
 *
 *     for x in 0..w {                     for k in blocks of BLOCK rounds {
 *         carry n                             carry n
 *         if a[y, x] > t {                    for x in block {
 *             store list[n] = x                   any |= a[y, x] > t
 *             next n = n + 1         ->       }
 *         }                                   if any {
 *     }                                           for x in block { as before }
 *                                             }
 *                                         }
 *
 * A loop that lists what it finds goes round by round, for its stores or checks
 * depend on what it found before; but most rounds find nothing, and to see that
 * takes lanes.  Where much is found, a condition more is computed for each
 * round, in lanes, beside a branch that is hard to foresee.
 *
 * The branch must be all that the loop does: carries and memory change in it
 * alone.  So where the condition, asked of all rounds of a block with the
 * carries and the memory as they are before it, holds for none, the first round
 * changes nothing, hence nor does the second, and so on: the block may be
 * passed over whatever the condition is made of.  It is computed in every round
 * as it is, and without checks, so it may be computed before; loads that
 * another condition guards must be in range without it.  Rounds that do not
 * depend on each other are left to threads and masks.
 */
#include "transforms/transforms.h"

enum { BLOCK = 64, MOST_READS = 2 };

/* --- is it one? ---------------------------------------------------------- */

/* Does 's' only compute? */
static bool
computes(const Stmt *s)
{
    const Block *inside[] = {&s->body, &s->els};
    bool ok = s->kind == S_LET || (s->kind == S_IF && s->nbinds == 0);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < inside[k]->n && ok; i++) {
            ok = computes(inside[k]->at[i]);
        }
    }
    return ok;
}

/* The branch, if 'loop' does nothing else but compute before it; or NULL. */
static const Stmt *
only_branch(const Stmt *loop)
{
    const Block *body = &loop->body;
    const Stmt *branch = body->n > 0 ? body->at[body->n - 1] : NULL;
    if (loop->until != NULL || loop->nbinds > 0 || branch == NULL ||
        branch->kind != S_IF || branch->els.n > 0 || branch->nbinds > 0) {
        return NULL;
    }
    for (int i = 0; i < body->n - 1; i++) {
        if (!computes(body->at[i])) {
            return NULL;
        }
    }
    return branch;
}

/* Is 'carry' as before where the branch isn't taken? */
static bool
stays(const Stmt *branch, const Carry *carry)
{
    for (int i = 0; i < branch->njoins; i++) {
        if (ir_is_var(carry->next, branch->joins[i].out)) {
            return ir_is_var(branch->joins[i].else_val, carry->var);
        }
    }
    return ir_is_var(carry->next, carry->var);
}

/* What a condition is made of: how many elements it reads, and whether only of
 * memory that stays where it is. */
typedef struct Reads {
    int n;
    bool ok;
} Reads;

/* For ir_each_node_of. */
static void
look_at_node(void *data, const Expr *e)
{
    Reads *reads = data;
    reads->n += e->op == E_LOAD;
    reads->ok &= !ir_reads(e) || (e->op == E_LOAD && !e->buf->growable);
}

/* For ir_each_stmt: all Vars of 's' go into the Map "data". */
static void
note_vars(void *data, Stmt *s)
{
    ir_each_node(s, ir_note_var, data);
}

/* What stands before the branch and its condition needs, in order. */
static Block
needed(Arena *arena, const Stmt *loop, const Expr *cond)
{
    Map vars = map_new(arena);
    Block back = {0};
    Block out = {0};
    ir_each_node_of(cond, ir_note_var, &vars);
    for (int i = loop->body.n - 2; i >= 0; i--) {
        Stmt *s = loop->body.at[i];
        bool used = s->var != NULL && map_has(&vars, s->var);
        for (int k = 0; k < s->njoins && !used; k++) {
            used = map_has(&vars, s->joins[k].out);
        }
        if (used) {
            ir_each_stmt_of(s, note_vars, &vars);
            vec_push(arena, &back, s);
        }
    }
    for (int i = back.n - 1; i >= 0; i--) {
        vec_push(arena, &out, back.at[i]);
    }
    return out;
}

/* For ir_each_stmt. */
static void
look_at_stmt(void *data, Stmt *s)
{
    ir_each_node(s, look_at_node, data);
}

/* Is the condition worth asking, and of arrays?  One of many parts is mostly
 * decided by the first, and to ask all of them takes longer. */
static bool
may_ask(Arena *arena, const Stmt *loop, const Stmt *branch)
{
    Reads reads = {.ok = true};
    Block before = needed(arena, loop, branch->value);
    ir_each_node_of(branch->value, look_at_node, &reads);
    ir_each_stmt(&before, look_at_stmt, &reads);
    return reads.ok && reads.n > 0 && reads.n <= MOST_READS;
}

/* --- two loops ------------------------------------------------------------ */

/* for x in lo..hi { any |= the condition }, with names of its own and the
 * carries as they are before. */
static Stmt *
asking(Func *func, const Stmt *loop, const Stmt *branch)
{
    Arena *arena = func->arena;
    Stmt *ask = ir_stmt(arena, S_FOR, branch->loc);
    Map map = map_new(arena);
    ask->var = ir_var(func, loop->var->name, DT_I64, 0);
    ask->id = func->next_id++;
    ask->lo = loop->lo;
    ask->hi = loop->hi;
    map_set(&map, loop->var, ir_ref(arena, ask->var));
    for (int i = 0; i < loop->ncarries; i++) {
        map_set(&map, loop->carries[i].var, loop->carries[i].init);
    }
    Block before = needed(arena, loop, branch->value);
    ask->body = ir_clone(func, &before, &map);
    Var *any = ir_var(func, "any", DT_BOOL, 0);
    Expr *cond = ir_subst(arena, branch->value, &map);
    ask->ncarries = 1;
    ask->carries = ARENA_ARRAY(arena, Carry, 1);
    ask->carries[0] = (Carry){any, ir_bool(arena, false),
                              ir_binary(arena, E_OR, ir_ref(arena, any), cond),
                              ir_var(func, "any", DT_BOOL, 0)};
    return ask;
}

/* The same for k in 0..BLOCK and round first + k: the C compiler makes the best
 * of a number that it knows. */
static Stmt *
asking_whole(Func *func, const Stmt *rounds)
{
    Arena *arena = func->arena;
    Stmt whole = *rounds;
    whole.var = ir_var(func, rounds->var->name, DT_I64, 0);
    whole.lo = ir_int(arena, DT_I64, 0);
    whole.hi = ir_int(arena, DT_I64, BLOCK);
    Map map = map_new(arena);
    map_set(&map, rounds->var,
            ir_binary(arena, E_ADD, rounds->lo, ir_ref(arena, whole.var)));
    whole.body = ir_clone(func, &rounds->body, &map);
    return asking(func, &whole, only_branch(&whole));
}

/* Is there something in the block of 'rounds'?  Of the last block, which is
 * shorter, that is taken for granted. */
static Stmt *
if_whole(Func *func, const Stmt *rounds)
{
    Arena *arena = func->arena;
    Stmt *whole = ir_stmt(arena, S_IF, (Loc){0}); /* nobody wrote it */
    Stmt *ask = asking_whole(func, rounds);
    Expr *n = ir_binary(arena, E_SUB, rounds->hi, rounds->lo);
    whole->value = ir_binary(arena, E_EQ, n, ir_int(arena, DT_I64, BLOCK));
    vec_push(arena, &whole->body, ask);
    whole->njoins = 1;
    whole->joins = ARENA_ARRAY(arena, Join, 1);
    whole->joins[0] =
        (Join){ir_var(func, "any", DT_BOOL, 0),
               ir_ref(arena, ask->carries[0].out), ir_bool(arena, true)};
    return whole;
}

/* 'rounds', of which 'strips' carries on, only where something was found. */
static Stmt *
if_any(Func *func, Stmt *strips, Stmt *rounds, const Stmt *whole)
{
    Arena *arena = func->arena;
    Stmt *branch = ir_stmt(arena, S_IF, rounds->loc);
    branch->value = ir_ref(arena, whole->joins[0].out);
    vec_push(arena, &branch->body, rounds);
    branch->njoins = rounds->ncarries;
    branch->joins = ARENA_ARRAY(arena, Join, rounds->ncarries + 1);
    for (int i = 0; i < rounds->ncarries; i++) {
        Var *last = rounds->carries[i].out;
        Var *out = ir_var(func, last->name, last->dtype, last->lanes);
        branch->joins[i] = (Join){out, ir_ref(arena, last),
                                  ir_ref(arena, strips->carries[i].var)};
        strips->carries[i].next = ir_ref(arena, out);
    }
    return branch;
}

/* What takes the place of 'loop'. */
static Block
sieved(Func *func, const Stmt *loop)
{
    Arena *arena = func->arena;
    Block out = split_strips(func, loop, BLOCK);
    Stmt *strips = out.at[out.n - 1];
    Stmt *rounds = strips->body.at[strips->body.n - 1];
    Stmt *whole = if_whole(func, rounds);
    strips->body.n--;
    vec_push(arena, &strips->body, whole);
    vec_push(arena, &strips->body, if_any(func, strips, rounds, whole));
    return out;
}

/* --- the walk ------------------------------------------------------------- */

/* "sieved": Var * -> Block *, what takes the place of the loop that counts
 * it. */
typedef struct Walk {
    Pass *pass;
    Func *func;
    Map sieved;
} Walk;

/* Must 'loop' go round by round, while its condition could go in lanes? */
static bool
is_gain(Walk *w, Bounds *b, const Stmt *loop, const Stmt *branch)
{
    DependWhy why;
    Arena *scratch = w->pass->scratch;
    return may_ask(scratch, loop, branch) &&
           bounds_may_shift(b, loop) &&
           !rounds_independent(scratch, w->func, b, loop, &why) &&
           vector_body(scratch, w->func, b, loop, &why) == NULL &&
           vector_body(scratch, w->func, b, asking(w->func, loop, branch),
                       &why) != NULL;
}

/* For bounds_visit. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Walk *w = data;
    const Stmt *branch = s->kind == S_FOR ? only_branch(s) : NULL;
    bool fits = branch != NULL;
    for (int i = 0; i < s->ncarries && fits; i++) {
        fits = stays(branch, &s->carries[i]);
    }
    if (!fits || !is_gain(w, b, s, branch)) {
        return true;
    }
    Block out = sieved(w->func, s);
    map_set(&w->sieved, s->var,
            arena_copy(w->pass->scratch, &out, sizeof(out)));
    diag_remark(w->pass->diags, DIAG_SIEVE, branch->loc,
                "asked for %d rounds at a time: where it never holds, they are "
                "passed over",
                BLOCK);
    return false;
}

/* Changes 'func' in place. */
Func *
pass_sieve(Pass *pass, Func *func)
{
    Walk w = {.pass = pass, .func = func};
    w.sieved = map_new(pass->scratch);
    bounds_visit(pass->scratch, func, visit, &w);
    split_replace(func, &w.sieved);
    return func;
}
