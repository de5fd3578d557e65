/* Passes 'interchange' and 'turn': loops run along the last axis of what they
 * access.
 *
 *     for r {                              for c {
 *         for c {                   -->        for r {
 *             out[c, r] = a[c, r]                  out[c, r] = a[c, r]
 *
 * An array in Fortran's order is to the IR one with its axes reversed, so a
 * program that walks rows walks down its columns.  In a perfect nest of loops
 * whose rounds are all independent any order is right; the loop that counts the
 * last index of most accesses goes to the inside, where neighbouring rounds
 * touch neighbouring elements.  A nest that writes along the last axis already
 * stays, since a Pipe may come of it.  After the Pipes, 'turn' looks at those:
 *
 *     for r {                              for k in strips of 32 rows {
 *         for c {                              for c {
 *             out[r, c] = a[c, r]   -->            for r in strip k {
 *                                                      out[r, c] = a[c, r]
 *
 * So all of a cache line that is read is used while it is there, a strip of
 * what is written stays in the cache, and SIMD loads whole vectors.  What goes
 * to a tile on the stack is in the cache anyway: it needs no strips.
 *
 * LETs between the loops go to the inside too; gcc takes them out again as far
 * as they don't change.  Bounds that they compute are spelled out.
 */
#include "transforms/transforms.h"

enum {
    MOST_LEVELS = 4,
    SHORT = 16, /* a loop of so few rounds is no better on the inside */
    STRIP = 32,
    UNCLEAR = 1 << MOST_LEVELS,
};

/* A perfect nest: but for LETs each loop's body is the next loop.
 *   "loop" "n"  from the outside in
 *   "body"      the innermost body
 *   "defs"      Var * -> Stmt * that defines it, for all in the nest
 *   "stores"    accesses that write and whose last index a loop counts, for
 *               each of the loops
 *   "loads"     those that read
 *   "tile"      all stores go to the stack */
typedef struct Nest {
    Stmt *loop[MOST_LEVELS];
    int n;
    Block body;
    Map defs;
    int stores[MOST_LEVELS];
    int loads[MOST_LEVELS];
    bool tile;
} Nest;

/* A pass's state; "strips": loops (Stmt *) to be split, each with its Nest. */
typedef struct Interchange {
    Pass *pass;
    Func *func;
    Map strips;
} Interchange;

/* --- the nest ------------------------------------------------------------ */

/* A FOR that carries nothing and runs to its end. */
static bool
is_plain(const Stmt *s)
{
    return s->kind == S_FOR && s->ncarries == 0 && s->nbinds == 0 &&
           s->until == NULL;
}

/* May the LET be computed once a round of an inner loop instead? It must be
 * cheap, and what it reads must not be written in between. */
static bool
is_movable(const Interchange *x, const Stmt *nest, const Expr *e)
{
    bool ok = e->op != E_CALL && e->op != E_SUM && e->op != E_DIV &&
              (e->op != E_LOAD ||
               (!effects_writes(&nest->body, e->buf) &&
                e->buf->group == NULL && !loop_makes(nest, e->buf)));
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = is_movable(x, nest, e->args[i]);
    }
    return ok;
}

/* May a bound be computed before the nest?  Not if it reads memory: where the
 * nest has no round, that need not be in range. */
static bool
is_bound(const Interchange *x, const Stmt *nest, const Expr *e)
{
    return !ir_has_load(e) && loop_invariant(x->func, nest, e);
}

/* The one loop at the end of the body of 'outer', LETs before it; NULL. */
static Stmt *
next_loop(const Interchange *x, const Nest *in, const Stmt *outer)
{
    const Stmt *nest = in->loop[0];
    for (int i = 0; i < outer->body.n - 1; i++) {
        const Stmt *s = outer->body.at[i];
        if (s->kind != S_LET || !is_movable(x, nest, s->value)) {
            return NULL;
        }
    }
    Stmt *last = outer->body.n > 0 ? vec_last(&outer->body) : NULL;
    if (last == NULL || !is_plain(last)) {
        return NULL;
    }
    Arena *arena = x->pass->arena;
    const Expr *lo = loop_spelled_out(arena, &in->defs, last->lo);
    const Expr *hi = loop_spelled_out(arena, &in->defs, last->hi);
    return is_bound(x, nest, lo) && is_bound(x, nest, hi) ? last : NULL;
}

/* As deep as it goes. */
static Nest
take_nest(const Interchange *x, Stmt *outer)
{
    Nest nest = {.tile = true};
    nest.defs = loop_defs(x->pass->scratch, &outer->body);
    for (Stmt *s = outer; s != NULL && nest.n < MOST_LEVELS;
         s = next_loop(x, &nest, s)) {
        nest.loop[nest.n++] = s;
        nest.body = s->body;
    }
    return nest;
}

/* --- which loop counts the last index? ------------------------------------ */

/* A bit for each loop of the nest that 'e' depends on; UNCLEAR: on what is in
 * memory, or on what an IF or a loop hands out. */
static int
loops_of(const Nest *nest, const Expr *e)
{
    if (ir_reads(e)) {
        return UNCLEAR;
    }
    int found = 0;
    if (e->op == E_VAR) {
        for (int i = 0; i < nest->n; i++) {
            found |= nest->loop[i]->var == e->var ? 1 << i : 0;
        }
        const Stmt *def = map_get(&nest->defs, e->var);
        if (found == 0 && def != NULL) {
            return def->kind == S_LET   ? loops_of(nest, def->value)
                   : def->kind == S_FOR ? 0
                                        : UNCLEAR;
        }
    }
    for (int i = 0; i < e->nargs; i++) {
        found |= loops_of(nest, e->args[i]);
    }
    return found;
}

/* Of a small vector the last axis has no index, and each lane counts. */
static void
vote(const Nest *nest, const Buf *buf, Expr *const *index, int n, int lanes,
     int *votes)
{
    if (n == 0 || n < buf->rank - 1) {
        return;
    }
    int found = loops_of(nest, index[n - 1]);
    for (int i = 0; i < nest->n; i++) {
        votes[i] += found == 1 << i ? (lanes > 0 ? lanes : 1) : 0;
    }
}

/* For ir_each_node. */
static void
vote_node(void *data, const Expr *e)
{
    Nest *nest = data;
    if (e->op == E_LOAD) {
        vote(nest, e->buf, e->args, e->nargs, e->lanes, nest->loads);
    }
}

/* For ir_each_stmt. */
static void
vote_stmt(void *data, Stmt *s)
{
    Nest *nest = data;
    ir_each_node(s, vote_node, nest);
    if (s->kind == S_STORE) {
        vote(nest, s->buf, s->index, s->nindex, s->value->lanes,
             nest->stores);
        nest->tile = nest->tile && s->buf->space == SPACE_STACK;
    }
}

/* May a loop of so many rounds be the innermost one? */
static bool
is_long(const Stmt *loop)
{
    int64_t trips = loop_trips(loop);
    return trips < 0 || trips > SHORT;
}

/* The loop that should be the innermost one; the last of the nest: it is. */
static int
best_inside(Nest *nest)
{
    int last = nest->n - 1;
    int best = last;
    ir_each_stmt(&nest->body, vote_stmt, nest);
    for (int i = 0; i < last && nest->stores[last] == 0; i++) {
        if (is_long(nest->loop[i]) && nest->stores[i] + nest->loads[i] >
                                          nest->stores[best] +
                                              nest->loads[best]) {
            best = i;
        }
    }
    return best;
}

/* The loop that should run on the inside though the stores are along the last
 * one: it counts the last index of twice as many accesses, for stores that are
 * far apart cost more than loads. */
static int
best_turned(Nest *nest)
{
    int last = nest->n - 1;
    int best = last;
    ir_each_stmt(&nest->body, vote_stmt, nest);
    int least = nest->loads[last] + (nest->tile ? 1 : nest->stores[last]);
    least *= nest->tile ? 1 : 2;
    for (int i = 0; i < last; i++) {
        if (is_long(nest->loop[i]) && nest->stores[i] == 0 &&
            nest->loads[i] >= least && nest->loads[i] > nest->loads[best]) {
            best = i;
        }
    }
    return nest->stores[last] > 0 ? best : last;
}

/* --- the change ---------------------------------------------------------- */

/* Are the rounds of all loops from 'first' on independent?  'b' stands before
 * the nest.  Warnings are counted in the order of the program. */
static bool
is_free(const Interchange *x, Bounds *b, const Nest *nest, int first)
{
    DependWhy why;
    bool ok = !ir_warns(&nest->body);
    int mark = bounds_push(b);
    for (int i = 0; i < nest->n && ok; i++) {
        const Stmt *loop = nest->loop[i];
        ok = i < first ||
             depend_independent(x->pass->scratch, x->func, b, loop, &why);
        bounds_loop(b, loop);
        for (int k = 0; k < loop->body.n - 1 && i < nest->n - 1; k++) {
            bounds_after(b, loop->body.at[k]);
        }
    }
    bounds_pop(b, mark);
    return ok;
}

/* What makes one loop another: the body stays where it is. */
static void
take_head(const Interchange *x, const Nest *nest, Stmt *to, const Stmt *from)
{
    Arena *arena = x->pass->arena;
    to->var = from->var;
    to->lo = loop_spelled_out(arena, &nest->defs, from->lo);
    to->hi = loop_spelled_out(arena, &nest->defs, from->hi);
    to->id = from->id;
    to->loc = from->loc;
}

/* Loop 'first' goes to the inside, those below it go one level up, all LETs
 * between them into the innermost body. */
static void
move_inside(const Interchange *x, Nest *nest, int first)
{
    Block body = {0};
    int last = nest->n - 1;
    Stmt head = *nest->loop[first];
    for (int i = first; i < last; i++) {
        Stmt *loop = nest->loop[i];
        for (int k = 0; k < loop->body.n - 1; k++) {
            vec_push(x->pass->arena, &body, loop->body.at[k]);
        }
        Block below = {0};
        vec_push(x->pass->arena, &below, nest->loop[i + 1]);
        loop->body = below;
        take_head(x, nest, loop, nest->loop[i + 1]);
    }
    for (int k = 0; k < nest->body.n; k++) {
        vec_push(x->pass->arena, &body, nest->body.at[k]);
    }
    take_head(x, nest, nest->loop[last], &head);
    nest->loop[last]->body = body;
}

static void
remark(const Interchange *x, const Nest *nest, int first, Loc loc)
{
    diag_remark(x->pass->diags, DIAG_INTERCHANGED, loc,
                "the loop over `%s` runs on the inside",
                nest->loop[first]->var->name);
}

/* For bounds_visit. What is inside a nest that was changed is looked at again:
 * there may be nests in its body. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    const Interchange *x = data;
    if (!is_plain(s)) {
        return true;
    }
    Nest nest = take_nest(x, s);
    int first = best_inside(&nest);
    if (first < nest.n - 1 && is_free(x, b, &nest, first)) {
        remark(x, &nest, first, s->loc);
        move_inside(x, &nest, first);
    }
    return true;
}

/* Changes 'func' in place; statements only move. */
Func *
pass_interchange(Pass *pass, Func *func)
{
    Interchange x = {.pass = pass, .func = func};
    bounds_visit(pass->scratch, func, visit, &x);
    return func;
}

/* --- strips -------------------------------------------------------------- */

/* For bounds_visit. Nests of which all goes to a tile are changed at once. */
static bool
visit_turned(void *data, Bounds *b, Stmt *s)
{
    Interchange *x = data;
    if (!is_plain(s)) {
        return true;
    }
    Nest nest = take_nest(x, s);
    int first = best_turned(&nest);
    if (first == nest.n - 1 || !bounds_may_shift(b, nest.loop[first]) ||
        !is_free(x, b, &nest, first)) {
        return true;
    }
    if (nest.tile) {
        move_inside(x, &nest, first);
        return true;
    }
    remark(x, &nest, first, s->loc);
    map_set(&x->strips, nest.loop[first],
            arena_copy(x->pass->scratch, &nest, sizeof(nest)));
    return false;
}

/* The strips of 'loop', the loops below it in 'nest' around each. */
static Block
turn_loop(const Interchange *x, const Stmt *loop, const Nest *nest)
{
    Nest inner = *nest;
    int first = 0;
    while (nest->loop[first] != loop) {
        first++;
    }
    Block strips = split_strips(x->func, loop, STRIP);
    inner.loop[first] = vec_last(&vec_last(&strips)->body);
    move_inside(x, &inner, first);
    return strips;
}

/* Puts strips in the place of the loops that were noted. */
static void
turn_block(const Interchange *x, Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        const Nest *nest = map_get(&x->strips, s);
        Block strips = {0};
        if (nest != NULL) {
            strips = turn_loop(x, s, nest);
        } else {
            turn_block(x, &s->pre);
            turn_block(x, &s->body);
            turn_block(x, &s->els);
            vec_push(x->pass->arena, &strips, s);
        }
        for (int k = 0; k < strips.n; k++) {
            vec_push(x->pass->arena, &out, strips.at[k]);
        }
    }
    *block = out;
}

/* Changes 'func' in place. */
Func *
pass_turn(Pass *pass, Func *func)
{
    Interchange x = {.pass = pass, .func = func};
    x.strips = map_new(pass->scratch);
    bounds_visit(pass->scratch, func, visit_turned, &x);
    if (x.strips.n > 0) {
        turn_block(&x, &func->body);
    }
    return func;
}
