/* Pass bands: rounds that meet at one index run behind each other, in a loop
 * of their own.
 *
 *     for y in 0..h {                     for k in 0 .. (h - 1) // 8 + 1 {
 *         let i = y // 8                      for y in max(0, 8 * k) ..
 *         for x in 0..w {          ->                  min(8 * k + 8, h) {
 *             store s[i, x] =                     for x in 0..w {
 *                 s[i, x] + a[y, x]                   store s[k, x] = ...
 *         }                                       }
 *     }                                       }
 *                                         }
 *
 * Sums over blocks, histograms by rows, coarse grids: two rounds of y may write
 * one element, so y is not parallel.  But only rounds with one y // 8 do.  They
 * are a run of neighbours, a *band*, since y // 8 never falls as y grows; and
 * bands are independent.  All rounds run once, and within a band, as among
 * bands, in the order of the program: so sums of floats have the same bits.
 *
 * The index e(y) is made of y by steps that never fall: adding what the loop
 * doesn't change, dividing by a positive constant, the least or the greatest of
 * that and what the loop doesn't change.  The first round with e(y) >= k is
 * then found by taking the steps back,
 *
 *     e = min((y + 4) // 8, last):    y = 8 * k - 4      for k <= last,
 *
 * which holds for all k that occur but the first; that band begins where the
 * loop does, and the last one ends where the loop does.  What stands for e(y)
 * in the body may be called k since all else in it is the same in all rounds.
 */
#include "transforms/transforms.h"

enum { MOST_TRIES = 4 };

/* The pass's state.
 *   "banded"  Var * that a loop counts -> Block * that takes its place */
typedef struct Bands {
    Pass *pass;
    Func *func;
    Map banded;
} Bands;

/* One loop, while an index is looked for.
 *   "b"     outside of the loop
 *   "defs"  what its body defines
 *   "tried" indices that were looked at, with all names spelled out */
typedef struct Search {
    Bands *bands;
    Bounds *b;
    const Stmt *loop;
    Map defs;
    ExprVec tried;
} Search;

/* --- steps back ---------------------------------------------------------- */

/* May it stand before the loop, and does the loop leave it alone? */
static bool
is_fixed(const Search *s, const Expr *e)
{
    Func *func = s->bands->func;
    return !ir_has_load(e) && loop_invariant(func, s->loop, e) &&
           loop_sees(s->bands->pass->scratch, func, s->loop, e);
}

/* Surely computed without a wrap, in each round?  "b" is inside the loop. */
static bool
is_exact(const Search *s, Expr *e)
{
    enum { ROOM = 61 };
    int64_t lo;
    int64_t hi;
    bounds_interval(s->b, e, &lo, &hi);
    return lo >= -((int64_t)1 << ROOM) && hi <= (int64_t)1 << ROOM;
}

/* The divisor of 'e', a quotient or a shift by a constant; else 0. */
static int64_t
divisor_of(const Expr *e)
{
    enum { MOST = 30 };
    int64_t value = 0;
    if ((e->op != E_IDIV && e->op != E_SHR) ||
        !ir_const_int(e->args[1], &value)) {
        return 0;
    }
    if (e->op == E_SHR) {
        return value >= 0 && value <= MOST ? (int64_t)1 << value : 0;
    }
    return value > 0 && value <= (int64_t)1 << MOST ? value : 0;
}

/* The least y with e(y) >= k, as far as that depends on y; NULL where 'e' is
 * not made of y in the steps above.  "*steps" counts the quotients. */
static Expr *
step_back(const Search *s, Expr *e, Expr *k, int *steps)
{
    Arena *arena = s->bands->pass->arena;
    int64_t divisor = divisor_of(e);
    if (e->op == E_VAR) {
        return e->var == s->loop->var ? k : NULL;
    }
    if (e->dtype != DT_I64 || e->lanes > 0 || !is_exact(s, e)) {
        return NULL;
    }
    if (divisor > 0) {
        Expr *by = ir_int(arena, DT_I64, divisor);
        *steps += 1;
        return step_back(s, e->args[0], ir_binary(arena, E_MUL, k, by), steps);
    }
    bool either = e->op == E_ADD || e->op == E_MIN || e->op == E_MAX;
    if (!either && e->op != E_SUB) {
        return NULL;
    }
    int fixed = either && is_fixed(s, e->args[0]) ? 0 : 1;
    if (!is_fixed(s, e->args[fixed])) {
        return NULL;
    }
    if (e->op == E_ADD || e->op == E_SUB) {
        k = ir_binary(arena, e->op == E_ADD ? E_SUB : E_ADD, k, e->args[fixed]);
    }
    return step_back(s, e->args[1 - fixed], k, steps);
}

/* --- bands --------------------------------------------------------------- */

/* What is replaced in the body: "index" spelled out, by "k". */
typedef struct Named {
    Arena *arena;
    const Map *defs;
    const Expr *index;
    Expr *k;
} Named;

/* For ir_map. */
static Expr *
name_node(void *data, Expr *e)
{
    const Named *n = data;
    bool alike = e->dtype == DT_I64 && e->lanes == 0 && e->nargs == 2 &&
                 ir_equal(loop_spelled_out(n->arena, n->defs, e), n->index);
    return alike ? n->k : e;
}

/* For ir_each_expr. */
static void
name_slot(void *data, Expr **slot)
{
    const Named *n = data;
    *slot = ir_map(n->arena, *slot, name_node, data);
}

/* For ir_map_block. */
static void
name_stmt(void *data, Block *out, Stmt *s)
{
    const Named *n = data;
    ir_each_expr(s, name_slot, data);
    vec_push(n->arena, out, s);
}

/* 'e' for the round 'y'. */
static Expr *
in_round(const Search *s, Expr *e, Expr *y)
{
    Arena *arena = s->bands->pass->arena;
    Map map = map_new(s->bands->pass->scratch);
    map_set(&map, s->loop->var, y);
    return ir_subst(arena, e, &map);
}

/* A name for 'e' at the end of 'out'. */
static Expr *
bind(const Search *s, Block *out, const char *name, Expr *e)
{
    return ir_named(s->bands->func, out, name, e, s->loop->loc);
}

/* The loop over bands by 'index', spelled out, behind the LETs of its ends in
 * 'out'; NULL: it is no such index. */
static Stmt *
make_bands(Search *s, Expr *index, Block *out)
{
    Func *func = s->bands->func;
    Arena *arena = func->arena;
    const Stmt *loop = s->loop;
    Stmt *outer = ir_stmt(arena, S_FOR, loop->loc);
    outer->var = ir_var(func, loop->var->name, DT_I64, 0);
    Expr *k = ir_ref(arena, outer->var);
    Expr *one = ir_int(arena, DT_I64, 1);
    Expr *next = ir_binary(arena, E_ADD, k, one);
    int steps = 0;
    int mark = bounds_push(s->b);
    bounds_loop(s->b, loop);
    Expr *start = step_back(s, index, k, &steps);
    Expr *stop = start ? step_back(s, index, next, &steps) : NULL;
    bounds_pop(s->b, mark);
    if (start == NULL || steps == 0) {
        return NULL;
    }
    Expr *first = bind(s, out, "first", in_round(s, index, loop->lo));
    Expr *end = ir_binary(arena, E_SUB, loop->hi, one);
    Expr *last = bind(s, out, "last", in_round(s, index, end));
    Stmt *inner = ir_copy_stmt(arena, loop);
    Named named = {arena, &s->defs, index, k};
    inner->body = ir_map_block(arena, &loop->body, name_stmt, &named);
    inner->lo = bind(s, &outer->body, "from",
                     ir_select(arena, ir_binary(arena, E_EQ, k, first),
                               loop->lo, start));
    inner->hi = bind(s, &outer->body, "to",
                     ir_select(arena, ir_binary(arena, E_EQ, k, last),
                               loop->hi, stop));
    vec_push(arena, &outer->body, inner);
    outer->id = func->next_id++;
    outer->lo = first;
    outer->hi = bind(s, out, "end", ir_binary(arena, E_ADD, last, one));
    vec_push(arena, out, outer);
    return outer;
}

/* --- which index? -------------------------------------------------------- */

/* Was it looked at before? */
static bool
is_known(const Search *s, const Expr *e)
{
    for (int i = 0; i < s->tried.n; i++) {
        if (ir_equal(s->tried.at[i], e)) {
            return true;
        }
    }
    return false;
}

/* For ir_each_stmt: notes the indices of what is stored. */
static void
note_indices(void *data, Stmt *stmt)
{
    Search *s = data;
    Pass *pass = s->bands->pass;
    bool stores = stmt->kind == S_STORE && !loop_makes(s->loop, stmt->buf);
    for (int i = 0; stores && i < stmt->nindex; i++) {
        Expr *e = loop_spelled_out(pass->arena, &s->defs, stmt->index[i]);
        if (s->tried.n < MOST_TRIES && ir_uses(e, s->loop->var) &&
            !ir_is_var(e, s->loop->var) && !is_known(s, e)) {
            vec_push(pass->scratch, &s->tried, e);
        }
    }
}

/* Are the bands independent?  'before' has the names of their ends. */
static bool
is_gain(const Search *s, const Block *before, const Stmt *outer)
{
    DependWhy why = {0};
    int mark = bounds_push(s->b);
    for (int i = 0; i < before->n - 1; i++) {
        bounds_after(s->b, before->at[i]);
    }
    bool ok = depend_independent(s->bands->pass->scratch, s->bands->func, s->b,
                                 outer, &why);
    bounds_pop(s->b, mark);
    return ok;
}

/* Notes the bands of 'loop', if it has any. */
static bool
find_bands(Bands *bands, Bounds *b, const Stmt *loop)
{
    Pass *pass = bands->pass;
    Search s = {bands, b, loop, loop_defs(pass->scratch, &loop->body), {0}};
    ir_each_stmt(&loop->body, note_indices, &s);
    for (int i = 0; i < s.tried.n; i++) {
        Block out = {0};
        Stmt *outer = make_bands(&s, s.tried.at[i], &out);
        if (outer != NULL && is_gain(&s, &out, outer)) {
            map_set(&bands->banded, loop->var,
                    arena_copy(pass->scratch, &out, sizeof(out)));
            diag_remark(pass->diags, DIAG_BANDS, loop->loc,
                        "rounds of `%s` that write at one index form bands",
                        loop->var->name);
            return true;
        }
    }
    return false;
}

/* For bounds_visit: from the outside in, to the first loop that is parallel as
 * it is or by its bands.  An innermost loop is left: bands of a few rounds
 * would cost more than they bring. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Bands *bands = data;
    DependWhy why = {0};
    if (s->kind != S_FOR || s->ncarries > 0 || s->nbinds > 0 ||
        s->until != NULL || ir_has_load(s->lo) || ir_has_load(s->hi)) {
        return true;
    }
    return block_has_loop(&s->body) &&
           !depend_independent(bands->pass->scratch, bands->func, b, s, &why) &&
           !(bounds_may_shift(b, s) && find_bands(bands, b, s));
}

/* Changes 'func' in place. */
Func *
pass_bands(Pass *pass, Func *func)
{
    Bands bands = {.pass = pass, .func = func};
    bands.banded = map_new(pass->scratch);
    bounds_visit(pass->scratch, func, visit, &bands);
    split_replace(func, &bands.banded);
    return func;
}
