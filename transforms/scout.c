/* Pass scout: checks are made in loops of their own, before anything is stored.
 *
 *     for j in 0 .. n {                    for j in 0 .. n {
 *         let r = f(j)                         let r = f(j)
 *         check le(r, dim(a, 0))               check le(r, dim(a, 0))
 *         for i in 0 .. r {         ->     }
 *             store a[i, j] = 1.0          for j in 0 .. n {
 *         }                                    let r = f(j)
 *     }                                        for i in 0 .. r {
 *                                                  store a[i, j] = 1.0
 *
 * A check that comes after a store to an argument makes pass 'commit' keep what
 * was there: a log, or a copy of the whole array, which may take longer than
 * the loops.  The scout is the function without its stores, and of that only
 * what the checks depend on.  It reads no memory that the function writes, so
 * each of its values is the one that the function computes at the same place,
 * and it fails in a check just if the function would.  Once it is through, no
 * check of the function can fail, and all of them go.
 *
 * What of an integer is asked that a float was cut to is asked of the float:
 * 0 <= int(t) <= 255 as -1 < t < 256.
 *
 * Where all that a nest of the scout asks is whether what has few values is
 * below a limit that stays the same, that is asked once of the largest of them.
 *
 * Done where that is all checks, where what the scout costs is little beside
 * the function and beside what is kept otherwise, or where it has lanes; rounds
 * that are not known are taken to be MANY.
 */
#include "transforms/simplify.h"

enum {
    MANY = 16,      /* rounds of a loop, where that is not known */
    CALL = 20,      /* what calling a function costs, in operations */
    STORE = 4,      /* what a store costs */
    KEEPING = 8,    /* what it costs to keep what a store overwrites */
    LANES = 8,      /* so many rounds at a time, by SIMD */
    SMALL_PART = 2, /* the scout takes one such part of the time at most */
};

/* --- what it costs ------------------------------------------------------- */

/* A search through expressions: the "cost" so far. */
typedef struct Cost {
    double cost;
} Cost;

/* For ir_each_node. */
static void
add_node(void *data, const Expr *e)
{
    Cost *sum = data;
    bool leaf = e->op == E_VAR || e->op == E_CONST || e->op == E_DIM;
    sum->cost += e->op == E_CALL ? CALL : leaf ? 0 : 1;
}

/* Operations of one run through 'block'; of those only what 'kept' stores cost
 * to be undone, if that is asked for. */
static double
cost_of(const Block *block, bool kept)
{
    Cost sum = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        bool loop = s->kind == S_FOR || s->kind == S_WHILE;
        int64_t trips = s->kind == S_FOR ? loop_trips(s) : -1;
        double rounds = !loop ? 1 : trips < 0 ? MANY : (double)trips;
        if (kept) {
            sum.cost += s->logged ? KEEPING : 0;
        } else {
            sum.cost += s->kind == S_STORE ? STORE : 1;
            ir_each_node(s, add_node, &sum);
        }
        sum.cost += rounds * (cost_of(&s->pre, kept) + cost_of(&s->body, kept) +
                              cost_of(&s->els, kept));
    }
    return sum.cost;
}

/* --- the scout ----------------------------------------------------------- */

/* For ir_map_block: what computes or checks stays. */
static void
drop_effects(void *data, Block *out, Stmt *s)
{
    bool stays = s->kind == S_LET || s->kind == S_CHECK || s->kind == S_IF ||
                 s->kind == S_FOR || s->kind == S_WHILE;
    s->nbinds = 0;
    if (stays) {
        vec_push((Arena *)data, out, s);
    }
}

/* For ir_map_block: all but checks. */
static void
drop_checks(void *data, Block *out, Stmt *s)
{
    if (s->kind != S_CHECK) {
        vec_push((Arena *)data, out, s);
    }
}

/* A walk over the scout.
 *   "func"  the function whose scout it is
 *   "ok"    it speaks of arguments only, and reads what nobody writes */
typedef struct Look {
    const Func *func;
    bool ok;
} Look;

/* For ir_each_node. Memory that the function makes is not there yet. */
static void
look_node(void *data, const Expr *e)
{
    Look *look = data;
    bool of_buf = ir_reads(e) || e->op == E_DIM || e->op == E_STRIDE;
    if (of_buf || e->op == E_DISJOINT) {
        look->ok &= e->buf->kind == BUF_ARG;
    }
    if (ir_reads(e)) {
        look->ok &= !effects_writes(&look->func->body, e->buf);
    }
}

/* For ir_each_stmt. A WHILE may run for ever, which it should do once. */
static void
look_stmt(void *data, Stmt *s)
{
    Look *look = data;
    look->ok &= s->kind != S_WHILE;
    ir_each_node(s, look_node, look);
}

/* The scout of 'func'; false: there is none. It shares Vars with 'func'. */
static bool
make_scout(Pass *pass, const Func *func, Block *out)
{
    Func scout = *func;
    scout.body = ir_map_block(pass->arena, &func->body, drop_effects,
                              pass->arena);
    scout.rets.n = 0;
    dead_code(pass->arena, pass->scratch, &scout);
    Look look = {func, true};
    ir_each_stmt(&scout.body, look_stmt, &look);
    *out = scout.body;
    return look.ok;
}

/* --- what a float is cut to ----------------------------------------------- */

/* The walk over a scout: "cuts" are integers made of floats, Var -> the float's
 * name. */
typedef struct Cuts {
    Arena *arena;
    Map cuts;
} Cuts;

/* For ir_each_stmt. */
static void
note_cut(void *data, Stmt *s)
{
    Cuts *cuts = data;
    const Expr *e = s->kind == S_LET ? s->value : NULL;
    if (e != NULL && e->op == E_CAST && e->dtype == DT_I64 && e->lanes == 0 &&
        e->args[0]->op == E_VAR && dtype_is_float(e->args[0]->dtype)) {
        map_set(&cuts->cuts, s->var, e->args[0]);
    }
}

/* Is 'e' a value that is at least or at most a constant?  'least': the constant
 * stands on the left side. */
static bool
is_limit(const Expr *e, bool least, const Var **what, int64_t *limit)
{
    if (e->op != E_LE || e->args[least]->op != E_VAR) {
        return false;
    }
    *what = e->args[least]->var;
    return ir_const_int(e->args[!least], limit);
}

/* low < t, or <=, and t < high. */
static Expr *
between(Arena *a, Op op, double low, Expr *t, double high)
{
    Expr *above = ir_binary(a, op, ir_float(a, t->dtype, low), t);
    Expr *below = ir_binary(a, E_LT, t, ir_float(a, t->dtype, high));
    return ir_binary(a, E_AND, above, below);
}

/* 0 <= int(t) and int(t) <= 255 as -1 < t and t < 256, which nan and what is
 * too large for an int fail as well; NULL: 'cond' is not of that kind.  The
 * limits and those beside them must be floats. */
static Expr *
as_floats(Cuts *cuts, const Expr *cond, Expr **t)
{
    const Var *low;
    const Var *high;
    int64_t least;
    int64_t most;
    if (cond->op != E_AND || !is_limit(cond->args[0], true, &low, &least) ||
        !is_limit(cond->args[1], false, &high, &most) || low != high) {
        return NULL;
    }
    *t = map_get(&cuts->cuts, low);
    int64_t far = INT64_C(1) << (*t && (*t)->dtype == DT_F32 ? 23 : 52);
    bool exact = least <= 0 && most >= 0 && least >= -far && most <= far;
    return *t && exact ? between(cuts->arena, E_LT, (double)(least - 1), *t,
                                 (double)(most + 1))
                       : NULL;
}

/* For ir_map_block.  The check before, if there are only definitions between,
 * fails where this one does. */
static void
ask_floats(void *data, Block *out, Stmt *s)
{
    Cuts *cuts = data;
    Expr *t;
    Expr *asked = s->kind == S_CHECK ? as_floats(cuts, s->value, &t) : NULL;
    int at = out->n - 1;
    while (asked != NULL && at >= 0 && out->at[at]->kind == S_LET) {
        at--;
    }
    Stmt *last = asked != NULL && at >= 0 ? out->at[at] : s;
    if (last != s && last->kind == S_CHECK && last->action == s->action &&
        ir_equal(last->value,
                 between(cuts->arena, E_LE, -0x1p63, t, 0x1p63))) {
        for (int i = at; i + 1 < out->n; i++) {
            out->at[i] = out->at[i + 1];
        }
        out->n--;
    }
    s->value = asked != NULL ? asked : s->value;
    vec_push(cuts->arena, out, s);
}

/* --- is there anything to look for? --------------------------------------- */

/* The walk that finds "answers": Stmt * of a CHECK, that what has few values is
 * below a limit -> Expr *, whether the limit is so low that one may fail. */
typedef struct Settle {
    Arena *arena;
    Map answers;
} Settle;

/* For bounds_visit. */
static bool
note_answer(void *data, Bounds *b, Stmt *s)
{
    enum { FEW = 1 << 16 }; /* values of a byte, or of two */
    Settle *settle = data;
    const Expr *cond = s->value;
    int64_t lo;
    int64_t hi;
    if (s->kind != S_CHECK || (cond->op != E_LT && cond->op != E_LE) ||
        cond->args[0]->dtype != DT_I64) {
        return true;
    }
    bounds_interval(b, cond->args[0], &lo, &hi);
    if (hi > -FEW && hi < FEW) {
        Op op = cond->op == E_LT ? E_LE : E_LT;
        Expr *most = ir_int(settle->arena, DT_I64, hi);
        map_set(&settle->answers, s,
                ir_binary(settle->arena, op, cond->args[1], most));
    }
    return true;
}

/* Whether a check of a nest may fail, as far as it was found.
 *   "defs"  what the nest defines
 *   "any"   one of those looked at; NULL: none so far
 *   "all"   there is an answer for each */
typedef struct Nest {
    const Settle *settle;
    Map defs;
    Expr *any;
    bool all;
} Nest;

static bool
is_outside(const Nest *nest, const Expr *e)
{
    bool outside = !ir_reads(e) &&
                   !(e->op == E_VAR && map_has(&nest->defs, e->var));
    for (int i = 0; i < e->nargs && outside; i++) {
        outside = is_outside(nest, e->args[i]);
    }
    return outside;
}

/* For ir_each_stmt. */
static void
add_answer(void *data, Stmt *s)
{
    Nest *nest = data;
    Expr *answer = map_get(&nest->settle->answers, s);
    if (s->kind != S_CHECK) {
        return;
    }
    nest->all = nest->all && answer != NULL && is_outside(nest, answer);
    if (nest->all) {
        nest->any = nest->any == NULL ? answer
                    : ir_equal(nest->any, answer)
                        ? answer
                        : ir_binary(nest->settle->arena, E_OR, nest->any,
                                    answer);
    }
}

/* 'scout' with nests in an IF that asks once whether a check may fail at all:
 * bytes are in range of any table of 256.  Not those that hand something on. */
static Block
settled(Pass *pass, const Func *func, const Block *scout)
{
    Func whole = *func;
    Block out = {0};
    Settle settle = {pass->arena, map_new(pass->scratch)};
    whole.body = *scout;
    bounds_visit(pass->scratch, &whole, note_answer, &settle);
    for (int i = 0; i < scout->n; i++) {
        Stmt *s = scout->at[i];
        Block one = {.at = &s, .n = 1, .cap = 1};
        Nest nest = {&settle, loop_defs(pass->scratch, &one), NULL, true};
        if (s->kind == S_FOR && s->ncarries == 0 && s->nbinds == 0) {
            ir_each_stmt_of(s, add_answer, &nest);
        }
        if (nest.all && nest.any != NULL) {
            Stmt *branch = ir_stmt(pass->arena, S_IF, s->loc);
            branch->value = nest.any;
            vec_push(pass->arena, &branch->body, s);
            s = branch;
        }
        vec_push(pass->arena, &out, s);
    }
    return out;
}

/* --- the pass ------------------------------------------------------------ */

/* The walk over the scout's loops: do all that have none inside go in lanes? */
typedef struct Lanes {
    Pass *pass;
    Func *scout;
    bool all;
} Lanes;

/* For bounds_visit. */
static bool
visit_loop(void *data, Bounds *b, Stmt *s)
{
    Lanes *lanes = data;
    DependWhy why;
    bool inner = s->kind == S_FOR && !block_has_loop(&s->body);
    lanes->all = lanes->all && (!inner || vector_body(lanes->pass->scratch,
                                                      lanes->scout, b, s,
                                                      &why) != NULL);
    return lanes->all;
}

static bool
goes_in_lanes(Pass *pass, const Func *func, const Block *body)
{
    Func scout = *func;
    scout.body = *body;
    Lanes lanes = {pass, &scout, pass->opts->vectorize};
    bounds_visit(pass->scratch, &scout, visit_loop, &lanes);
    return lanes.all;
}

/* Is the scout worth its time, where 'kept' has marks on what is undone?  With
 * checks in them, the function's own loops would have no lanes. */
static bool
pays(Pass *pass, const Func *func, const Block *scout, const Block *kept)
{
    double cost = cost_of(scout, false);
    double whole = cost_of(kept, false);
    double keeping = cost_of(kept, true);
    return (cost * SMALL_PART <= whole && cost <= keeping) ||
           (cost <= LANES * keeping && goes_in_lanes(pass, func, scout));
}

/* The scout, under names of its own, then the function without checks. */
Func *
pass_scout(Pass *pass, Func *func)
{
    Arena *a = pass->arena;
    Block scout = {0};
    Block kept = commit_mark(pass->scratch, &func->body);
    if (cost_of(&kept, true) == 0 || !make_scout(pass, func, &scout) ||
        !pays(pass, func, &scout, &kept)) {
        return func;
    }
    Block rest = ir_map_block(a, &func->body, drop_checks, a);
    Block left = commit_mark(pass->scratch, &rest);
    if (cost_of(&left, true) > 0) {
        return func; /* memory may run out, for one */
    }
    Func *copy = arena_copy(a, func, sizeof(Func));
    Map map = map_new(pass->scratch);
    Cuts cuts = {a, map_new(pass->scratch)};
    ir_each_stmt(&scout, note_cut, &cuts);
    scout = ir_map_block(a, &scout, ask_floats, &cuts);
    scout = settled(pass, func, &scout);
    copy->body = ir_clone(copy, &scout, &map);
    for (int i = 0; i < rest.n; i++) {
        vec_push(a, &copy->body, rest.at[i]);
    }
    diag_remark(pass->diags, DIAG_CHECKS_HOISTED, func->loc,
                "all checks are made first, before anything is stored");
    return simplify(pass, copy);
}
