/* Pass checks: proved checks vanish, affine ones are tested once.
 *
 *     for y in 0 .. dim(a, 0) {           check disjoint(out, a)  bail
 *         for x in 0 .. dim(a, 1) {       check le(dim(a, 0), dim(b, 0)) bail
 *             check lt(y, dim(b, 0))      ...
 *             check lt(x, dim(b, 1))  ->  for y in 0 .. dim(a, 0) {
 *             store out[y, x] =               for x in 0 .. dim(a, 1) {
 *                 add(a[y, x], b[y, x])           store out[y, x] = ...
 *
 * In a general kernel only what is proved goes, which is simplify's work.  In
 * a fast one
 *   1. every argument that is written is tested to be disjoint from every
 *      other one, which all later passes rely on (effects_may_alias);
 *   2. every parameter that loops end at is tested to be moderate;
 *   3. the walk below takes checks out of loops (hoist.c), with what is known
 *      at each place;
 *   4. simplify runs again: what the entry tests say decides conditions in the
 *      loops, such as those of indices from the end.
 * What stays in a loop depends on data, and is named in a remark.
 */
#include "transforms/hoist.h"

enum { MAX_PRUNED = 48 }; /* pruning takes the square of this many proofs */

static void walk_block(Hoist *h, const Block *in, Block *out);

/* A place sees what is visible and decided right here. */
static void
open_place(Hoist *h, const Stmt *loop)
{
    Place place = {loop, h->scope.visible.n, h->conds.n, NULL, {0}};
    vec_push(h->arena, &h->places, place);
}

/* --- the walk ------------------------------------------------------------ */

/* One side of 's', rewritten. What the condition says is known inside, and an
 * excuse for checks that leave. Names that the branch defines are hidden
 * behind it. */
static Block
walk_branch(Hoist *h, const Stmt *s, bool taken)
{
    Block out = {0};
    Taken cond = {s->value, taken};
    int scope = bounds_push(h->here);
    int visible = h->scope.visible.n;
    vec_push(h->arena, &h->conds, cond);
    bounds_assume(h->here, s->value, taken);
    walk_block(h, taken ? &s->body : &s->els, &out);
    h->conds.n--;
    h->scope.visible.n = visible;
    bounds_pop(h->here, scope);
    return out;
}

/* Both sides start from the same "stored"; visible memory counts as written
 * after either branch. */
static void
walk_if(Hoist *h, Stmt *s, Block *out)
{
    bool stored = h->stored;
    Block then = walk_branch(h, s, true);
    bool then_stored = h->stored;
    h->stored = stored;
    s->els = walk_branch(h, s, false);
    s->body = then;
    h->stored = h->stored || then_stored;
    vec_push(h->arena, out, s);
    bounds_after(h->here, s);
    scope_show_after(&h->scope, s);
}

/* Pre and body of 'loop', in place. The same order as in simplify:
 * definitions, "pre", the condition, the body, so that nothing is assumed
 * before it holds. */
static void
walk_inside(Hoist *h, Stmt *loop)
{
    Block pre = {0};
    Block body = {0};
    scope_show_inside(&h->scope, loop);
    bounds_loop(h->here, loop);
    walk_block(h, &loop->pre, &pre);
    if (loop->kind == S_WHILE) {
        bounds_assume(h->here, loop->value, true);
    }
    walk_block(h, &loop->body, &body);
    loop->pre = pre;
    loop->body = body;
}

/* A check in a loop that stores comes after stores of earlier rounds, so
 * "stored" is set before the loop is entered. The checks that were put before
 * the loop are written out first; those meant for places further out wait
 * there. */
static void
walk_loop(Hoist *h, Stmt *loop, Block *out)
{
    int scope = bounds_push(h->here);
    int visible = h->scope.visible.n;
    bool writes = effects_of(loop).visible_store;
    h->stored = h->stored || writes;
    open_place(h, loop);
    walk_inside(h, loop);
    Block before = vec_last(&h->places).checks;
    h->places.n--;
    h->scope.visible.n = visible;
    bounds_pop(h->here, scope);
    for (int i = 0; i < before.n; i++) {
        vec_push(h->arena, out, before.at[i]);
    }
    vec_push(h->arena, out, loop);
    bounds_after(h->here, loop);
    scope_show_after(&h->scope, loop);
}

/* Is an integer in 'e' or the names in it?  What is made of integers is better
 * known as it stands, int(x / 2) for one. */
static bool
has_number(Hoist *h, const Expr *e, int depth)
{
    const Expr *value = e->op == E_VAR ? map_get(&h->lets, e->var) : NULL;
    bool found = depth == 0 || (dtype_is_int(e->dtype) && e->op != E_CONST);
    if (value != NULL && !found) {
        found = has_number(h, value, depth - 1);
    }
    for (int i = 0; i < e->nargs && !found && e->op != E_LOAD; i++) {
        found = has_number(h, e->args[i], depth - 1);
    }
    return found;
}

/* An integer out of a float that is within 32 bits comes by way of an int32:
 * most processors have no SIMD instruction to an int64. */
static Expr *
by_int32(Hoist *h, Expr *e)
{
    enum { DEPTH = 12 };
    int64_t lo;
    int64_t hi;
    if (e->op != E_CAST || e->dtype != DT_I64 || e->lanes > 0 ||
        !dtype_is_float(e->args[0]->dtype) ||
        has_number(h, e->args[0], DEPTH)) {
        return e;
    }
    bounds_interval(h->here, e, &lo, &hi);
    if (lo < INT32_MIN || hi > INT32_MAX) {
        return e;
    }
    Expr *small = ir_cast(h->arena, DT_I32, e->args[0]);
    return ir_at(ir_cast(h->arena, DT_I64, ir_at(small, e->loc)), e->loc);
}

/* A check that only a nan fails asks the number it comes from, by one
 * comparison: what was computed from it need not be known then. */
static Expr *
about_nan(Hoist *h, Expr *cond)
{
    Expr *ask = bounds_ask_nan(h->here, cond);
    return ask != NULL ? ir_at(ask, cond->loc) : cond;
}

/* Appends what 'original' becomes: nothing, for a check that is tested
 * elsewhere now. Works on copies, so that the function that came in stays as
 * it is. LETs without loads are kept by value, to see through the names of
 * conditions. */
static void
walk_stmt(Hoist *h, const Stmt *original, Block *out)
{
    Stmt *s = ir_copy_stmt(h->arena, original);
    switch (s->kind) {
    case S_IF:
        walk_if(h, s, out);
        return;
    case S_FOR:
    case S_WHILE:
        walk_loop(h, s, out);
        return;
    case S_CHECK:
        s = hoist_check(h, s);
        if (s == NULL) {
            return;
        }
        s->value = about_nan(h, s->value);
        break;
    case S_LET:
        scope_show_after(&h->scope, s);
        if (!ir_has_load(s->value)) {
            map_set(&h->lets, s->var, s->value);
        }
        break;
    case S_STORE:
    case S_FILL:
        h->stored = h->stored || ir_is_visible(s->buf);
        break;
    default:
        break;
    }
    vec_push(h->arena, out, s);
    bounds_after(h->here, s);
    if (s->kind == S_LET) {
        s->value = by_int32(h, s->value); /* the proofs see it as it was */
    }
}

/* Appends what 'in' becomes to 'out'. */
static void
walk_block(Hoist *h, const Block *in, Block *out)
{
    for (int i = 0; i < in->n; i++) {
        walk_stmt(h, in->at[i], out);
    }
}

/* --- overlap ------------------------------------------------------------- */

/* The place of the first statement that has one, for checks that stand for
 * the whole function. */
static Loc
loc_of(const Func *func)
{
    Loc loc = func->loc;
    for (int i = 0; i < func->body.n && loc.line == 0; i++) {
        loc = func->body.at[i]->loc;
    }
    loc.line = loc.line == 0 ? 1 : loc.line;
    return loc;
}

/* X_SPECULATE: nothing is wrong with overlap, it is only not for this
 * kernel. */
static void
put_disjoint(Hoist *h, Buf *written, Buf *other)
{
    Expr *cond = ir_disjoint(h->arena, written, other);
    Stmt *check = ir_check(h->arena, cond, X_SPECULATE, ACT_BAIL,
                           loc_of(h->func));
    vec_push(h->arena, &h->places.at[0].checks, check);
}

/* A test for every pair of arguments of which one is written. Two that are
 * only read may overlap. These stand before all other checks, for the proofs
 * of all passes rest on them. */
static void
put_all_disjoint(Hoist *h)
{
    const Func *func = h->func;
    int n = func->params.n;
    for (int i = 0; i < n; i++) {
        Buf *lhs = func->params.at[i].buf;
        for (int j = i + 1; j < n && lhs != NULL; j++) {
            Buf *rhs = func->params.at[j].buf;
            if (rhs != NULL && (effects_writes(&func->body, lhs) ||
                                effects_writes(&func->body, rhs))) {
                put_disjoint(h, lhs, rhs);
            }
        }
    }
}

/* Notes the parameters that 'e' is made of, through definitions. */
static void
note_params(const Map *defs, Map *found, const Expr *e)
{
    if (e->op == E_VAR && !map_has(found, e->var)) {
        const Stmt *def = map_get(defs, e->var);
        map_set(found, e->var, e->var);
        if (def != NULL && def->kind == S_LET) {
            note_params(defs, found, def->value);
        }
    }
    for (int i = 0; i < e->nargs; i++) {
        note_params(defs, found, e->args[i]);
    }
}

typedef struct Ends {
    Map defs;
    Map found;
} Ends;

static void
note_ends(void *data, Stmt *s)
{
    Ends *ends = data;
    if (s->kind == S_FOR) {
        note_params(&ends->defs, &ends->found, s->lo);
        note_params(&ends->defs, &ends->found, s->hi);
    }
}

/* A parameter that loops end at is moderate, or the general kernel does the
 * call: ends can then be moved and multiplied without wrapping. */
static void
put_all_moderate(Hoist *h)
{
    Arena *a = h->arena;
    Arena *scratch = h->pass->scratch;
    Ends ends = {loop_defs(scratch, &h->func->body), map_new(scratch)};
    ir_each_stmt(&h->func->body, note_ends, &ends);
    for (int i = 0; i < h->func->params.n; i++) {
        Var *var = h->func->params.at[i].var;
        if (var == NULL || var->dtype != DT_I64 || !map_has(&ends.found, var)) {
            continue;
        }
        Expr *ref = ir_ref(a, var);
        Expr *least = ir_int(a, DT_I64, -MODERATE);
        Expr *most = ir_int(a, DT_I64, MODERATE);
        Expr *cond = ir_binary(a, E_AND, ir_binary(a, E_LE, least, ref),
                               ir_binary(a, E_LE, ref, most));
        Stmt *check =
            ir_check(a, cond, X_SPECULATE, ACT_BAIL, loc_of(h->func));
        bounds_assume(h->here, cond, true);
        vec_push(a, &h->places.at[0].checks, check);
    }
}

/* Checks that all the others together imply are dropped, first ones first:
 * what a window asks for grows from one of its elements to the next.
 *
 *     le(h + 1, d), le(h + 2, d), le(h + 3, d)   ->   le(h + 3, d)
 *
 * One is dropped at a time and the rest judged anew, so that of two checks
 * that imply each other one stays. */
static Block
without_implied(Hoist *h, Block checks)
{
    for (int i = 0; i < checks.n && checks.n <= MAX_PRUNED; i++) {
        Bounds *others = bounds_new(h->pass->scratch, h->func);
        for (int j = 0; j < checks.n; j++) {
            if (j != i) {
                bounds_assume(others, checks.at[j]->value, true);
            }
        }
        if (bounds_proves(others, checks.at[i]->value)) {
            for (int j = i + 1; j < checks.n; j++) {
                checks.at[j - 1] = checks.at[j];
            }
            checks.n--;
            i--;
        }
    }
    return checks;
}

/* --- remarks ------------------------------------------------------------- */

/* The walk over what stays.
 *   "diags"   for the remarks
 *   "depth"   not used: the walk hands its depth on as an argument
 *   "last"    the place of the last remark */
typedef struct Left {
    Diags *diags;
    int depth;
    Loc last;
} Left;

/* The subject of a remark. */
static const char *
what_of(Exc exc)
{
    switch (exc) {
    case X_INDEX:
        return "an index";
    case X_ZERO_DIVISION:
        return "a divisor";
    case X_OVERFLOW:
        return "integer overflow";
    case X_SPECULATE:
        return "the kind of a number";
    default:
        return "a condition";
    }
}

/* One remark for a place in the source, however many checks it became. */
static void
remark_left(Left *left, const Block *block, int depth)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        bool loop = s->kind == S_FOR || s->kind == S_WHILE;
        bool same = s->loc.line == left->last.line &&
                    s->loc.col == left->last.col;
        if (s->kind == S_CHECK && depth > 0 && !same) {
            diag_remark(left->diags, DIAG_CHECK_LEFT, s->loc,
                        "the check of %s is made in every round",
                        what_of(s->exc));
            left->last = s->loc;
        }
        remark_left(left, &s->pre, depth + loop);
        remark_left(left, &s->body, depth + loop);
        remark_left(left, &s->els, depth + loop);
    }
}

/* --- the pass ------------------------------------------------------------ */

/* One walk over 'func'; "hoisted" grows by the conditions taken out. The
 * entry's checks come first in the new body. */
static Func *
hoist_all(Pass *pass, const Func *func, int *hoisted)
{
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    Hoist h = {.pass = pass, .arena = pass->arena, .func = copy};
    Block body = {0};
    h.here = bounds_new(pass->arena, func);
    h.scope = scope_new(pass->scratch, func);
    h.lets = map_new(pass->scratch);
    open_place(&h, NULL);
    put_all_disjoint(&h);
    put_all_moderate(&h);
    walk_block(&h, &func->body, &body);
    copy->body = without_implied(&h, h.places.at[0].checks);
    for (int i = 0; i < body.n; i++) {
        vec_push(h.arena, &copy->body, body.at[i]);
    }
    *hoisted += h.hoisted;
    return copy;
}

/* Is there anything left for a second walk? */
static bool
has_check_in_loop(const Block *block, bool inside)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        bool loop = inside || s->kind == S_FOR || s->kind == S_WHILE;
        if ((s->kind == S_CHECK && inside) ||
            has_check_in_loop(&s->pre, loop) ||
            has_check_in_loop(&s->body, loop) ||
            has_check_in_loop(&s->els, inside)) {
            return true;
        }
    }
    return false;
}

/* The second walk knows what the first one's tests say, for instance that
 * arithmetic with parameters does not overflow. */
static Func *
hoist_twice(Pass *pass, Func *func)
{
    int hoisted = 0;
    for (int round = 0; round < 2; round++) {
        int before = hoisted;
        func = simplify(pass, hoist_all(pass, func, &hoisted));
        if (hoisted == before || !has_check_in_loop(&func->body, false)) {
            break;
        }
    }
    if (hoisted > 0) {
        diag_remark(pass->diags, DIAG_CHECKS_HOISTED, loc_of(func),
                    hoisted == 1 ? "%d check is made once, before the loops"
                                 : "%d checks are made once, before the loops",
                    hoisted);
    }
    return func;
}

/* Remarks come last, when it is known what stays. */
Func *
pass_checks(Pass *pass, Func *func)
{
    func = simplify(pass, func);
    if (!func->general) {
        func = hoist_twice(pass, func);
    }
    if (pass->opts->solver != NULL && !func->general &&
        has_check_in_loop(&func->body, false)) {
        Pass hard = *pass;
        hard.hard = true;
        func = simplify(&hard, func);
    }
    Left left = {.diags = pass->diags};
    remark_left(&left, &func->body, 0);
    return func;
}
