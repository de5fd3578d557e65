/* Apply directives: the one place where loops are changed by them.
 *
 *     for y { for x { ... } }      for y parallel {
 *     regions 1 1 1                  if 1 <= y < h-1 {
 *     regions 2 1 1          ->        for x in 0..1 { ... }
 *     parallel 1                       for x in 1..w-1 vector { straight }
 *     vectorize 2                      for x in w-1..w { ... }
 *                                    } else { for x { ... } } }
 *
 * The directives are those that the passes before proposed, or the text of
 * Opts.directives instead.  Whoever wrote them, each is tested once more where
 * it would apply; what can't be proved legal is refused with a remark, so no
 * schedule can make a program wrong.  Order: regions, then from the outside
 * in parallel, unroll, flatten, vectorize.
 *
 * A general kernel runs in program order: it gets no directives at all.
 */
#include "transforms/transforms.h"

enum {
    STRIP = 1024, /* rounds of a loop that is both parallel and vector */
    SHORT_STRIP = 64, /* of one with loops inside */
    MAX_UNROLL = 64,
    MAX_UNROLLED = 20000, /* nodes that an unrolled loop may grow to */
};

/* The walk's state.
 *   "pass"      remarks, arenas
 *   "func"      the new function
 *   "sched"     the directives to apply
 *   "b"         what is known where the walk stands
 *   "parallel"  inside a parallel loop
 *   "changed"   there may be something to simplify */
typedef struct Schedule {
    Pass *pass;
    Func *func;
    const Sched *sched;
    Bounds *b;
    bool parallel; /* inside a parallel loop */
    bool changed;  /* there may be something to simplify */
} Schedule;

static Block apply_block(Schedule *sc, const Block *block);

/* The remark that 'directive' is not applied to 'loop', and why. */
static void
refuse(Schedule *sc, const Stmt *loop, const char *directive, const char *why)
{
    diag_remark(sc->pass->diags, DIAG_DIRECTIVE_REFUSED, loop->loc,
                "'%s %d': %s", directive, loop->id, why);
}

/* Is there a directive of 'kind' for 'loop'? */
static bool
wants(const Schedule *sc, DirKind kind, const Stmt *loop)
{
    return sched_has(sc->sched, kind, loop->id, NULL);
}

/* Appends the statements of 'from' to 'out'. */
static void
push_all(Schedule *sc, Block *out, const Block *from)
{
    for (int i = 0; i < from->n; i++) {
        vec_push(sc->pass->arena, out, from->at[i]);
    }
}

/* --- unroll -------------------------------------------------------------- */

/* NULL when 'loop' may be written out, or in words why not. */
static const char *
unroll_why_not(const Stmt *loop)
{
    int64_t trips = loop_trips(loop);
    if (trips < 0) {
        return "the number of rounds is not constant";
    }
    if (loop->until != NULL) {
        return "the loop may end early";
    }
    if (loop->nbinds > 0) {
        return "its rounds exchange arrays";
    }
    bool small =
        trips <= MAX_UNROLL && trips * ir_size(&loop->body) <= MAX_UNROLLED;
    return small ? NULL : "the code would grow too large";
}

/* The round of 'loop' in which its variable is 'value', appended to 'out';
 * 'carried' holds what it starts from and then what it hands on. All "next"
 * values are taken with the carries as the round found them, so swaps come out
 * right. Vars of the body are fresh in every round. */
static void
unroll_round(Schedule *sc, const Stmt *loop, int64_t value, Expr **carried,
             Block *out)
{
    Arena *arena = sc->pass->arena;
    Map map = map_new(arena);
    map_set(&map, loop->var, ir_int(arena, loop->var->dtype, value));
    for (int i = 0; i < loop->ncarries; i++) {
        map_set(&map, loop->carries[i].var, carried[i]);
    }
    Block round = ir_clone(sc->func, &loop->body, &map);
    push_all(sc, out, &round);
    for (int i = 0; i < loop->ncarries; i++) {
        const Var *old = loop->carries[i].var;
        Var *var = ir_var(sc->func, old->name, old->dtype, old->lanes);
        Expr *next = ir_subst(arena, loop->carries[i].next, &map);
        vec_push(arena, out, ir_let(arena, var, next, loop->loc));
        carried[i] = ir_ref(arena, var);
    }
}

/* What the last round hands on goes by the loop's out names. */
static Block
unroll_loop(Schedule *sc, const Stmt *loop)
{
    Arena *arena = sc->pass->arena;
    Block out = {0};
    int64_t lo = 0;
    ir_const_int(loop->lo, &lo);
    Expr **carried = ARENA_ARRAY(arena, Expr *, loop->ncarries + 1);
    for (int i = 0; i < loop->ncarries; i++) {
        carried[i] = loop->carries[i].init;
    }
    for (int64_t i = 0; i < loop_trips(loop); i++) {
        unroll_round(sc, loop, lo + i, carried, &out);
    }
    for (int i = 0; i < loop->ncarries; i++) {
        vec_push(arena, &out,
                 ir_let(arena, loop->carries[i].out, carried[i], loop->loc));
    }
    return out;
}

/* --- loops --------------------------------------------------------------- */

/* Makes the innermost 'loop', a copy, a vector loop if that is legal. Its body
 * is then the form with selects; refused, it keeps its branches. */
static void
try_vector(Schedule *sc, Stmt *loop)
{
    DependWhy why;
    const Stmt *straight =
        vector_body(sc->pass->arena, sc->func, sc->b, loop, &why);
    if (straight != NULL) {
        loop->body = straight->body;
        loop->mode = LOOP_VECTOR;
    } else {
        refuse(sc, loop, "vectorize", why.text);
        diag_sites(sc->pass->diags, why.first, why.second);
    }
}

/* Finds the loop that kept 'id' in what replaced it, and vectorises it. */
static void
vector_within(Schedule *sc, const Block *block, int id)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_FOR && s->id == id) {
            try_vector(sc, s);
        } else if (s->kind == S_FOR) {
            int mark = bounds_push(sc->b);
            bounds_loop(sc->b, s);
            vector_within(sc, &s->body, id);
            bounds_pop(sc->b, mark);
        }
        bounds_after(sc->b, s);
    }
}

/* 'flatten' replaces the loop; the element loop keeps its id, so 'vectorize'
 * now means that one. */
static bool
try_flatten(Schedule *sc, const Stmt *loop, Block *out)
{
    const char *why = flatten_why_not(sc->pass->scratch, sc->func, sc->b, loop);
    if (why != NULL) {
        refuse(sc, loop, "flatten", why);
        return false;
    }
    Block flat = flatten_loop(sc->func, sc->b, loop);
    if (wants(sc, DIR_VECTORIZE, loop)) {
        vector_within(sc, &flat, loop->id);
    }
    push_all(sc, out, &flat);
    sc->changed = true;
    return true;
}

/* The test is made where the directive applies, after the regions. Threads
 * within threads are refused. */
static bool
try_parallel(Schedule *sc, const Stmt *loop)
{
    DependWhy why;
    if (sc->parallel) {
        refuse(sc, loop, "parallel", "a loop around it runs in parallel");
        return false;
    }
    if (loop->ncarries > 0 && !bounds_may_shift(sc->b, loop)) {
        refuse(sc, loop, "parallel", "its ends are not known to be small");
        return false;
    }
    if (!rounds_independent(sc->pass->scratch, sc->func, sc->b, loop, &why)) {
        refuse(sc, loop, "parallel", why.text);
        diag_sites(sc->pass->diags, why.first, why.second);
        return false;
    }
    return true;
}

/* The loop itself, its body done. Loops inside a parallel one know that. */
static Stmt *
apply_inside(Schedule *sc, const Stmt *old, bool parallel)
{
    Stmt *loop = ir_copy_stmt(sc->pass->arena, old);
    bool outer = sc->parallel;
    int mark = bounds_push(sc->b);
    bounds_loop(sc->b, loop);
    sc->parallel = outer || parallel;
    loop->body = apply_block(sc, &loop->body);
    sc->parallel = outer;
    bounds_pop(sc->b, mark);
    if (parallel) {
        loop->mode = LOOP_PARALLEL;
    } else if (wants(sc, DIR_VECTORIZE, loop)) {
        try_vector(sc, loop);
    }
    return loop;
}

/* Appends the rounds of 'loop' to 'out', with the directives of what is in
 * them applied; false: refused. */
static bool
try_unroll(Schedule *sc, const Stmt *loop, Block *out)
{
    const char *why = unroll_why_not(loop);
    if (why != NULL) {
        refuse(sc, loop, "unroll", why);
        return false;
    }
    Block rounds = unroll_loop(sc, loop);
    rounds = apply_block(sc, &rounds);
    push_all(sc, out, &rounds);
    return true;
}

/* The rounds of 'loop' side by side, appended to 'out'; false: refused. */
static bool
try_lockstep(Schedule *sc, const Stmt *loop, Block *out)
{
    Arena *scratch = sc->pass->scratch;
    const char *why = "no loop in it ends early, or carries";
    Block strips = {0};
    if (lockstep_fits(loop)) {
        why = lockstep_why_not(scratch, sc->func, sc->b, loop);
        strips = why ? strips : lockstep_loop(sc->func, sc->b, loop);
    } else if (abreast_fits(loop)) {
        strips = abreast_loop(sc->func, sc->b, loop, &why);
    }
    if (why != NULL) {
        refuse(sc, loop, "lockstep", why);
        return false;
    }
    push_all(sc, out, &strips);
    sc->changed = true;
    return true;
}

/* What one thread's share of a loop becomes; also any loop that is not to run
 * over threads. */
static void
apply_serial(Schedule *sc, const Stmt *loop, Block *out)
{
    if ((wants(sc, DIR_UNROLL, loop) && try_unroll(sc, loop, out)) ||
        (wants(sc, DIR_FLATTEN, loop) && try_flatten(sc, loop, out)) ||
        (wants(sc, DIR_LOCKSTEP, loop) && try_lockstep(sc, loop, out))) {
        return;
    }
    vec_push(sc->pass->arena, out, apply_inside(sc, loop, false));
}

/* 'outer' is to be parallel; statement 'inner' of its body stands for a loop to
 * which the directives apply. */
static void
apply_within(Schedule *sc, Stmt *outer, const Stmt *inner)
{
    Block body = {0};
    int mark = bounds_push(sc->b);
    bounds_loop(sc->b, outer);
    for (int i = 0; i < outer->body.n; i++) {
        Stmt *s = outer->body.at[i];
        if (s == inner) {
            sc->parallel = true;
            apply_serial(sc, s, &body);
            sc->parallel = false;
        } else {
            vec_push(sc->pass->arena, &body, s);
        }
        bounds_after(sc->b, s);
    }
    bounds_pop(sc->b, mark);
    outer->body = body;
    outer->mode = LOOP_PARALLEL;
    sc->changed = true;
}

/* Appends 'block', in which 'outer' is to be parallel around 'inner'. */
static void
apply_around(Schedule *sc, const Block *block, Stmt *outer, const Stmt *inner,
             Block *out)
{
    int mark = bounds_push(sc->b);
    for (int i = 0; i < block->n && block->at[i] != outer; i++) {
        bounds_after(sc->b, block->at[i]);
    }
    apply_within(sc, outer, inner);
    bounds_pop(sc->b, mark);
    push_all(sc, out, block);
}

/* A loop that is to be both parallel and vector (or flat, or in lockstep)
 * becomes a parallel loop over strips of it. */
static void
apply_strips(Schedule *sc, const Stmt *loop, Block *out)
{
    bool uneven = block_has_loop(&loop->body);
    Block strips = split_strips(sc->func, loop, uneven ? SHORT_STRIP : STRIP);
    Stmt *outer = vec_last(&strips);
    apply_around(sc, &strips, outer, vec_last(&outer->body), out);
}

/* The rounds of one that gathers are in blocks. */
static void
apply_blocks(Schedule *sc, const Stmt *loop, Block *out)
{
    Stmt *outer;
    Block block = gather_blocks(sc->func, loop, &outer);
    apply_around(sc, &block, outer,
                 outer->body.at[outer->body.n - 1 - loop->ncarries], out);
}

/* Parallel wins over unroll; together with vectorize or flatten it makes
 * strips. */
static void
apply_loop(Schedule *sc, const Stmt *loop, Block *out)
{
    bool parallel =
        wants(sc, DIR_PARALLEL, loop) && try_parallel(sc, loop);
    bool fast = wants(sc, DIR_VECTORIZE, loop) || wants(sc, DIR_FLATTEN, loop);
    if (!parallel) {
        apply_serial(sc, loop, out);
    } else if (loop->ncarries > 0) {
        apply_blocks(sc, loop, out);
    } else if (((fast && !block_has_loop(&loop->body)) ||
                wants(sc, DIR_LOCKSTEP, loop)) &&
               bounds_may_shift(sc->b, loop)) {
        apply_strips(sc, loop, out);
    } else {
        vec_push(sc->pass->arena, out, apply_inside(sc, loop, true));
    }
}

/* All directives are for loops that count their rounds: a WHILE takes none. */
static Stmt *
apply_while(Schedule *sc, const Stmt *old)
{
    for (int i = 0; i < sc->sched->list.n; i++) {
        const Directive *dir = &sc->sched->list.at[i];
        if (dir->loop == old->id) {
            refuse(sc, old, sched_word(dir->kind),
                   "a `while` does not count its rounds");
        }
    }
    Stmt *loop = ir_copy_stmt(sc->pass->arena, old);
    int mark = bounds_push(sc->b);
    bounds_loop(sc->b, loop);
    loop->pre = apply_block(sc, &loop->pre);
    loop->body = apply_block(sc, &loop->body);
    bounds_pop(sc->b, mark);
    return loop;
}

/* Both sides of an IF, each under its condition. */
static Stmt *
apply_if(Schedule *sc, const Stmt *old)
{
    Stmt *s = ir_copy_stmt(sc->pass->arena, old);
    int mark = bounds_push(sc->b);
    bounds_assume(sc->b, s->value, true);
    s->body = apply_block(sc, &s->body);
    bounds_pop(sc->b, mark);
    mark = bounds_push(sc->b);
    bounds_assume(sc->b, s->value, false);
    s->els = apply_block(sc, &s->els);
    bounds_pop(sc->b, mark);
    return s;
}

/* The Bounds go along with the old statements: what these leave behind is also
 * true of what replaced them. */
static Block
apply_block(Schedule *sc, const Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind == S_FOR) {
            apply_loop(sc, s, &out);
        } else if (s->kind == S_WHILE) {
            vec_push(sc->pass->arena, &out, apply_while(sc, s));
        } else if (s->kind == S_IF) {
            vec_push(sc->pass->arena, &out, apply_if(sc, s));
        } else {
            vec_push(sc->pass->arena, &out, s);
        }
        bounds_after(sc->b, s);
    }
    return out;
}

/* The directives to apply; those of the options, where there are any, even
 * none at all ("" switches all off). What was read up to a bad line counts.
 * They replace the proposals, so that what is printed is what was applied. */
static const Sched *
choose(Pass *pass, const Func *func)
{
    const char *text = pass->opts->directives;
    const char *bad = NULL;
    if (text == NULL) {
        return pass->sched;
    }
    Sched *sched = ARENA_NEW(pass->arena, Sched);
    if (!sched_read(pass->arena, text, sched, &bad)) {
        diag_remark(pass->diags, DIAG_DIRECTIVE_REFUSED, func->loc,
                    "'%s' is no directive", bad);
    }
    *pass->sched = *sched;
    return pass->sched;
}

/* The last simplification drops what flattening left without use, at the level
 * where flat indices are allowed. */
Func *
pass_schedule(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    if (!func->general) {
        const Sched *sched = choose(pass, func);
        out = simplify(pass, split_regions(pass, out, sched));
        Schedule sc = {.pass = pass, .func = out, .sched = sched};
        sc.b = bounds_new(pass->arena, out);
        out->body = apply_block(&sc, &out->body);
        if (sc.changed) {
            out = simplify(pass, out);
        }
    }
    out->level = L_SCHED;
    return out;
}
