/* Propose the outermost loops whose rounds are proved independent.
 *
 *     for t in 0..steps {          not parallel: `a`, written ..., may be read
 *       for y in 1..h-1 {          parallel 2
 *         for x in 1..w-1 { b[y, x] = f(a[y-1, x], a[y, x+1] ...) } }
 *       ... }
 *
 * The walk goes from the outside in and stops at the first loop that is
 * proved.  Below a loop that is not, an inner loop is worth a start of the
 * threads only if it has much to do: another loop inside, or an outer loop of
 * few rounds.
 *
 *     for l in 0..levels                    one of the few rounds has most of
 *       for y in 0..h // 2 ** l             the work: parallel 2, though the
 *         for x in 0..w // 2 ** l { ... }   levels are independent as well
 *
 * How much work makes a start pay is decided at run time, from
 * the number of rounds and the emitter's estimate of one.
 */
#include "transforms/transforms.h"

enum { FEW_ROUNDS = 16 };

/* The walk's state.
 *   "pass"   receives directives and remarks
 *   "func"   looked at, not changed
 *   "below"  loops around that are not parallel and not short */
typedef struct Parallel {
    Pass *pass;
    const Func *func;
    int below; /* loops around that are not parallel and not short */
} Parallel;

static void visit_block(Parallel *p, Bounds *b, const Block *block);

/* --- loops over levels ---------------------------------------------------- */

/* What a round's definitions have of the loop's variable: Var * -> true for
 * those that vary with it, and for those that it changes by a factor.
 * "found" is an answer while an expression is looked through. */
typedef struct Levels {
    const Var *x;
    Map varies;
    Map scales;
    bool found;
} Levels;

/* For ir_each_node_of. */
static void
note_varying(void *data, const Expr *e)
{
    Levels *levels = data;
    levels->found |= e->op == E_VAR &&
                     (e->var == levels->x ||
                      map_get(&levels->varies, e->var) != NULL);
}

static bool
varies(Levels *levels, const Expr *e)
{
    levels->found = false;
    ir_each_node_of(e, note_varying, levels);
    return levels->found;
}

/* Is 'e' a shift, a power or a quotient by its second operand? */
static bool
is_scaling(const Expr *e)
{
    return e->op == E_SHL || e->op == E_SHR || e->op == E_IDIV ||
           e->op == E_DIV ||
           (e->op == E_CALL && (e->fn == FN_IPOW || e->fn == FN_POW));
}

/* What note_scaling asks of each node of an expression. */
typedef struct Scaling {
    Levels *levels;
    bool found;
} Scaling;

/* For ir_each_node_of. */
static void
note_scaling(void *data, const Expr *e)
{
    Scaling *scaling = data;
    Levels *levels = scaling->levels;
    scaling->found |=
        (e->op == E_VAR && map_get(&levels->scales, e->var) != NULL) ||
        (is_scaling(e) && varies(levels, e->args[1]));
}

static bool
scales(Levels *levels, const Expr *e)
{
    Scaling scaling = {levels, false};
    ir_each_node_of(e, note_scaling, &scaling);
    return scaling.found;
}

/* Is the work of a round of 'loop' in nests each of which has independent
 * rounds, and their number a factor of that of the round before? */
static bool
is_over_levels(Parallel *p, Bounds *b, const Stmt *loop)
{
    Arena *arena = p->pass->scratch;
    Levels levels = {loop->var, map_new(arena), map_new(arena), false};
    DependWhy why = {0};
    bool scaled = false;
    bool all = true;
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    for (int i = 0; i < loop->body.n && all; i++) {
        Stmt *s = loop->body.at[i];
        if (s->kind == S_LET && varies(&levels, s->value)) {
            map_set(&levels.varies, s->var, s->var);
        }
        if (s->kind == S_LET && scales(&levels, s->value)) {
            map_set(&levels.scales, s->var, s->var);
        }
        if (s->kind == S_FOR) {
            scaled |= scales(&levels, s->hi) || scales(&levels, s->lo);
            all = block_has_loop(&s->body) &&
                  depend_independent(arena, p->func, b, s, &why);
        }
        all = all && s->kind != S_WHILE;
        bounds_after(b, s);
    }
    bounds_pop(b, mark);
    return all && scaled;
}

/* --- the walk ------------------------------------------------------------- */

/* Could starting threads for 'loop' pay? One round does not; below a serial
 * loop of many rounds the threads would start as many times, which only a nest
 * makes up for. */
static bool
is_worth(const Parallel *p, const Stmt *loop)
{
    bool nested = block_has_loop(&loop->body);
    int64_t trips = loop_trips(loop);
    return (p->below == 0 || nested) && (trips < 0 || trips > 1);
}

/* True when 'loop' was proposed. */
static bool
propose(Parallel *p, Bounds *b, const Stmt *loop)
{
    Pass *pass = p->pass;
    DependWhy why = {0};
    if (!is_worth(p, loop)) {
        return false;
    }
    if (!rounds_independent(pass->scratch, p->func, b, loop, &why)) {
        diag_remark(pass->diags, DIAG_NOT_PARALLEL, loop->loc, "%s", why.text);
        diag_sites(pass->diags, why.first, why.second);
        return false;
    }
    if (is_over_levels(p, b, loop)) {
        return false;
    }
    sched_add(pass->arena, pass->sched, DIR_PARALLEL, loop->id, 0, 0);
    diag_remark(pass->diags, DIAG_PARALLEL, loop->loc,
                "the rounds of `%s` are independent%s (about %d operations in "
                "each round of its body)",
                loop->var->name,
                loop->ncarries > 0 ? " but for what they gather" : "",
                ir_size(&loop->body));
    return true;
}

/* Short loops (a few channels, levels) do not count as being below one: their
 * inner loops are started rarely. */
static void
visit_loop(Parallel *p, Bounds *b, Stmt *loop)
{
    if (loop->kind == S_FOR && propose(p, b, loop)) {
        return;
    }
    if (loop->kind == S_WHILE && p->below == 0) {
        diag_remark(p->pass->diags, DIAG_NOT_PARALLEL, loop->loc,
                    "each round of a `while` decides whether there is a next");
    }
    int64_t trips = loop_trips(loop);
    bool few = loop->kind == S_FOR && trips >= 0 && trips <= FEW_ROUNDS;
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    p->below += !few;
    visit_block(p, b, &loop->body);
    p->below -= !few;
    bounds_pop(b, mark);
}

/* One side of an IF, under its condition. */
static void
visit_branch(Parallel *p, Bounds *b, const Stmt *s, bool taken)
{
    int mark = bounds_push(b);
    bounds_assume(b, s->value, taken);
    visit_block(p, b, taken ? &s->body : &s->els);
    bounds_pop(b, mark);
}

/* Statements in order, while the Bounds go along. Loops that were proposed are
 * not entered: there is one level of threads. */
static void
visit_block(Parallel *p, Bounds *b, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_IF) {
            visit_branch(p, b, s, true);
            visit_branch(p, b, s, false);
        } else if (s->kind == S_FOR || s->kind == S_WHILE) {
            visit_loop(p, b, s);
        }
        bounds_after(b, s);
    }
}

/* Proposes, and leaves 'func' as it is. */
Func *
pass_parallel(Pass *pass, Func *func)
{
    Parallel p = {.pass = pass, .func = func};
    visit_block(&p, bounds_new(pass->scratch, func), &func->body);
    return func;
}
