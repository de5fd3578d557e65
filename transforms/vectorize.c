/* Propose loops for SIMD, and flat rows for small-vector pixels.
 *
 *     for x in 0..w { store out[y, x] = a[y, x] + a[y, x+1] }
 *                                               vectorize 2
 *     for x in 0..w { store out[y, x] <3> = ... }
 *                                               flatten 2, vectorize 2
 *
 * A loop qualifies when its rounds are proved independent, its body is
 * straight-line code (selects allowed), and neighbouring rounds touch
 * neighbouring elements.  Since the bodies of interiors are straight-line
 * only once regions have been split, the question is put to a copy of the
 * function to which the proposed splits have been applied.
 *
 * Branches that only compute, from values at hand, are replaced by selects:
 *
 *     if v < 0 { u = v * 2 } join z = u, v   ->   u = v * 2
 *                                                 z = select(v < 0, u, v)
 *
 * A branch that loads stays one: its index may be in range only there.
 *
 * A pixel that fills a register is left to the C compiler, which makes a vector
 * of its lanes: several such pixels at a time would have to be transposed.
 * What has calls of libm, such branches, checks or mostly strided accesses is
 * left to the C compiler, which may still find something to do in it.
 */
#include <math.h>

#include "transforms/transforms.h"

enum { MAX_BRANCH = 80 }; /* nodes of a branch worth computing in vain */

/* Origin by function. */
static const char fn_origin[] = {
#define FN(id, text, arity, origin) [FN_##id] = origin,
#include "csrc/ir/fn.def"
#undef FN
};

/* Machine instructions, and what has a form for lanes in the prelude. */
bool
fn_has_lanes(Fn fn)
{
    return fn_origin[fn] == 'M' || fn_origin[fn] == 'A' || fn == FN_SQUARE ||
           fn == FN_ROOT;
}

/* --- branches to selects -------------------------------------------------- */

/* What turns branches into selects: new nodes are of "arena"; "deaf": nobody
 * listens to the floating-point flags that it may set. */
typedef struct Selects {
    Arena *arena;
    bool deaf;
} Selects;

/* Is 'e' itself likely to leave a floating-point flag where its branch is not
 * taken? */
static bool
is_loud(const Expr *e)
{
    bool from_float = e->op == E_CAST && dtype_is_float(e->args[0]->dtype);
    return e->op == E_DIV || (from_float && !dtype_is_float(e->dtype)) ||
           (e->op == E_CALL && fn_has_lanes(e->fn));
}

/* What is likely to leave a floating-point flag where its branch is not taken
 * may not be computed there: the host would look for a warning. */
bool
select_is_free(const Expr *e, bool deaf)
{
    bool loud = is_loud(e);
    return !ir_reads(e) && e->op != E_IDIV && e->op != E_MOD &&
           (deaf || !loud) && (e->op != E_CALL || loud);
}

/* May 'e' be computed where its branch is not taken? */
static bool
is_free(const Selects *to, const Expr *e)
{
    if (!select_is_free(e, to->deaf)) {
        return false;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_free(to, e->args[i])) {
            return false;
        }
    }
    return true;
}

/* LETs only, all of them free, and not too many to be computed in vain. */
static bool
is_free_block(const Selects *to, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind != S_LET || !is_free(to, s->value)) {
            return false;
        }
    }
    return ir_size(block) <= MAX_BRANCH;
}

/* The joins are evaluated in vain too. */
static bool
is_free_if(const Selects *to, const Stmt *s)
{
    if (s->nbinds > 0) {
        return false; /* a buffer is no value that a lane could choose */
    }
    for (int i = 0; i < s->njoins; i++) {
        if (!is_free(to, s->joins[i].then_val) ||
            !is_free(to, s->joins[i].else_val)) {
            return false;
        }
    }
    return is_free_block(to, &s->body) && is_free_block(to, &s->els);
}

/* Appends the statements of 'from' to 'out'. */
static void
push_all(Arena *arena, Block *out, const Block *from)
{
    for (int i = 0; i < from->n; i++) {
        vec_push(arena, out, from->at[i]);
    }
}

/* Called from the inside out, so that nested branches are selects already. */
static void
convert_stmt(void *data, Block *out, Stmt *s)
{
    Selects *to = data;
    Arena *arena = to->arena;
    if (s->kind != S_IF || !is_free_if(to, s)) {
        vec_push(arena, out, s);
        return;
    }
    push_all(arena, out, &s->body);
    push_all(arena, out, &s->els);
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        Expr *value =
            ir_select(arena, s->value, join->then_val, join->else_val);
        vec_push(arena, out, ir_let(arena, join->out, value, s->loc));
    }
}

/* A branch that warns is left one: it is not free (is_free_block). */
Block
select_form(Arena *arena, const Block *block, bool deaf)
{
    Selects to = {arena, deaf};
    return ir_map_block(arena, block, convert_stmt, &to);
}

Stmt *
vector_form(Arena *arena, const Stmt *loop)
{
    Stmt *copy = ir_copy_stmt(arena, loop);
    copy->body = select_form(arena, &loop->body, false);
    return copy;
}

/* --- may this loop run in lanes? ----------------------------------------- */

/* The question whether a loop may run in lanes: "x" is its variable; "why" the
 * last reason found against it, NULL: none; "at" where that is.  "near" and
 * "far" count accesses of which neighbouring rounds touch neighbouring
 * elements, and elements a constant number of rows apart; "strided" is one of
 * the latter.  "lets" holds the Vars of the body, "checked" the place of a
 * check (line 0: none), "seen" what is stored into is visible, "gathers" an
 * index is computed from more than the loop's variable. */
typedef struct Lanes {
    Arena *arena;
    Bounds *b;
    Expr *x; /* the loop's variable */
    Map lets;
    Loc checked;
    bool seen;
    bool gathers;
    const char *why;
    Loc at;
    int near;
    int far;
    const Buf *strided;
    Loc strided_at;
} Lanes;

/* 'why' is against it; 'at' without a line is where 'else_at' is. */
static void
object(Lanes *lanes, const char *why, Loc at, Loc else_at)
{
    lanes->why = why;
    lanes->at = at.line ? at : else_at;
}

/* Names of functions, for remarks. */
static const char *const fn_text[] = {
#define FN(id, text, arity, origin) [FN_##id] = text,
#include "csrc/ir/fn.def"
#undef FN
};

static void
refuse_walk(Lanes *lanes, const Buf *buf, Loc loc)
{
    object(lanes,
           str_printf(lanes->arena, "`%s` is not walked along its last axis",
                      buf->name),
           loc, loc);
}

/* Is 'e' made of what the body defines? */
static bool
is_of_body(const Lanes *lanes, const Expr *e)
{
    bool found = ir_reads(e) ||
                 (e->op == E_VAR && map_has(&lanes->lets, e->var));
    for (int i = 0; i < e->nargs && !found; i++) {
        found = is_of_body(lanes, e->args[i]);
    }
    return found;
}

/* One index may be x plus what does not change.  On the last axis neighbouring
 * rounds are neighbouring elements, and a SIMD access is one run of memory; on
 * another one it is put together from lanes. In an access to small vectors the
 * last axis has no index, and the one before it counts as last. What x is
 * hidden in (a product, a quotient, a value from memory) is refused. */
static void
look_index(Lanes *lanes, const Buf *buf, Expr *const *index, int n, Loc loc)
{
    int uses = 0;
    for (int i = 0; i < n; i++) {
        Linear form;
        bool known = bounds_linear(lanes->b, index[i], &form);
        int64_t coef = known ? linear_coef(&form, lanes->x) : 0;
        for (int j = 0; known && j < form.terms.n; j++) {
            Expr *atom = form.terms.at[j].atom;
            known = ir_equal(atom, lanes->x) || !ir_uses(atom, lanes->x->var);
            known = known && (atom->op != E_VAR || atom->var->id >= 0);
            lanes->gathers |= is_of_body(lanes, atom);
        }
        bool last = i == buf->rank - 1 || (i == n - 1 && n == buf->rank - 1);
        uses += coef == 1;
        lanes->near += coef == 1 && last;
        lanes->far += coef == 1 && !last;
        if (coef == 1 && !last) {
            lanes->strided = buf;
            lanes->strided_at = loc;
        }
        if (!known || coef < 0 || coef > 1 || uses > 1) {
            refuse_walk(lanes, buf, loc);
        }
    }
}

/* Integer division has no SIMD form on this machine, and functions of libm are
 * calls; either would be taken apart lane by lane. */
static void
look_expr(Lanes *lanes, Expr *e, Loc loc)
{
    loc = e->loc.line ? e->loc : loc;
    if (e->op == E_LOAD) {
        look_index(lanes, e->buf, e->args, e->nargs, loc);
    }
    if (e->op == E_SUM) {
        object(lanes, "sums an array", loc, loc);
    }
    if (e->op == E_CALL && !fn_has_lanes(e->fn)) {
        object(lanes,
               str_printf(lanes->arena, "calls `%s`", fn_text[e->fn]), loc,
               loc);
    }
    if ((e->op == E_IDIV || e->op == E_MOD) && e->lanes == 0) {
        object(lanes, "divides integers", loc, loc);
    }
    for (int i = 0; i < e->nargs; i++) {
        look_expr(lanes, e->args[i], loc);
    }
}

/* In words, why a body with 's' in it can't run in lanes. */
static const char *
what_stops(const Stmt *s)
{
    switch (s->kind) {
    case S_IF:
        return "a branch is left in it";
    case S_FOR:
    case S_WHILE:
        return "another loop is in it";
    case S_CHECK:
        return "a check is left in it";
    case S_WARN:
        return "it counts warnings";
    default:
        return "it does more than compute and store";
    }
}

/* Does 'e' say nothing of integers, as x != 0.0, or as a limit beyond 2^53?  A
 * smaller one might be for an integer that was made a float (floats.c), and
 * what keeps an index in range. */
static bool
compares_floats(const Expr *e)
{
    if (e->op == E_AND || e->op == E_OR) {
        return compares_floats(e->args[0]) && compares_floats(e->args[1]);
    }
    bool order = e->op == E_LT || e->op == E_LE;
    bool far = e->op == E_NE;
    for (int i = 0; i < e->nargs && order; i++) {
        far |= e->args[i]->op == E_CONST &&
               dtype_is_float(e->args[i]->dtype) &&
               fabs(e->args[i]->fval) >= 0x1p53;
    }
    return far && e->lanes == 0 && dtype_is_float(e->args[0]->dtype);
}

bool
is_float_check(const Stmt *s)
{
    return s->kind == S_CHECK && s->exc != X_INDEX && compares_floats(s->value);
}

/* Masked stores must be of neighbours: there is no other instruction. */
static void
look_mask(Lanes *lanes, const Stmt *branch)
{
    look_expr(lanes, branch->value, branch->loc);
    for (int i = 0; i < branch->body.n; i++) {
        const Stmt *s = branch->body.at[i];
        int near = lanes->near;
        look_index(lanes, s->buf, s->index, s->nindex, s->loc);
        lanes->seen |= ir_is_visible(s->buf);
        if (lanes->near == near && lanes->why == NULL) {
            object(lanes, "a branch is left in it", branch->value->loc,
                   branch->loc);
        }
    }
}

/* LETs and stores only, perhaps masked, and checks of floats, which set a flag:
 * then the rest of the round still runs, so what is checked must not be the
 * place of an access, nor stores go where they would have to be undone.  Where
 * checks are all that there is, they may be of anything.  Definitions are noted
 * as the walk goes on, so that indices are seen through them. */
static void
look_body(Lanes *lanes, const Stmt *loop)
{
    const Block *body = &loop->body;
    bool any = ir_only_checks(loop);
    for (int i = 0; i < body->n && lanes->why == NULL; i++) {
        Stmt *s = body->at[i];
        bool check = is_float_check(s) || (any && s->kind == S_CHECK);
        if (ir_is_mask(s)) {
            look_mask(lanes, s);
            continue;
        }
        if (s->kind != S_LET && s->kind != S_STORE && !check) {
            object(lanes, what_stops(s),
                   s->kind == S_IF ? s->value->loc : s->loc, s->loc);
            return;
        }
        look_expr(lanes, s->value, s->loc);
        for (int j = 0; j < s->nindex; j++) {
            look_expr(lanes, s->index[j], s->loc);
        }
        if (flatten_is_wide(s)) {
            object(lanes,
                   str_printf(lanes->arena, "a pixel of `%s` is a vector",
                              s->buf->name),
                   s->loc, s->loc);
        } else if (s->kind == S_STORE) {
            look_index(lanes, s->buf, s->index, s->nindex, s->loc);
            lanes->seen |= ir_is_visible(s->buf);
        } else if (s->kind == S_LET) {
            map_set(&lanes->lets, s->var, s->var);
        } else {
            lanes->checked = s->loc;
        }
        bounds_after(lanes->b, s);
    }
    if (lanes->why == NULL && lanes->checked.line != 0 &&
        (lanes->seen || lanes->gathers)) {
        object(lanes, "a check is left in it", lanes->checked,
               body->at[0]->loc);
    }
}

/* May 'loop' run in SIMD lanes?  If not, 'why' says so. The cheap tests come
 * first. */
bool
vector_allowed(Arena *arena, const Func *func, Bounds *b, const Stmt *loop,
               DependWhy *why)
{
    Lanes lanes = {.arena = arena, .b = b, .lets = map_new(arena)};
    lanes.x = ir_ref(arena, loop->var);
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    look_body(&lanes, loop);
    bounds_pop(b, mark);
    if (lanes.why == NULL && lanes.far > lanes.near) {
        refuse_walk(&lanes, lanes.strided, lanes.strided_at);
    }
    Stmt rounds = *loop;
    if (lanes.why == NULL && ir_only_tallies(arena, loop)) {
        rounds.ncarries = 0; /* what was gathered is used in no round */
    }
    if (lanes.why == NULL) {
        return depend_independent(arena, func, b, &rounds, why);
    }
    *why = (DependWhy){.first = lanes.at, .text = lanes.why};
    return false;
}

Stmt *
vector_body(Arena *arena, Func *func, Bounds *b, const Stmt *loop,
            DependWhy *why)
{
    DependWhy masked;
    Stmt *straight = vector_form(arena, loop);
    if (vector_allowed(arena, func, b, straight, why)) {
        return straight;
    }
    Stmt *masks = mask_form(arena, func, b, straight);
    return masks != NULL && vector_allowed(arena, func, b, masks, &masked)
               ? masks
               : NULL;
}

/* --- the proposal -------------------------------------------------------- */

/* The visitor's state.
 *   "pass"  directives and remarks
 *   "func"  the split copy
 *   "ids"   loops from here on are copies */
typedef struct Vectorize {
    Pass *pass;
    Func *func; /* the split copy */
    int ids;          /* loops from here on are copies */
} Vectorize;

/* A remark of kind 'id' at the loop. */
static void
remark(Vectorize *v, DiagId id, const Stmt *loop, const char *text)
{
    diag_remark(v->pass->diags, id, loop->loc, "%s", text);
}

/* Sums of floats that each lane takes for itself: approx= has allowed it. */
static void
remark_sums(Vectorize *v, const Stmt *loop)
{
    for (int i = 0; i < loop->ncarries; i++) {
        const Var *sum = loop->carries[i].var;
        if (dtype_is_float(sum->dtype) &&
            ir_tally(v->pass->scratch, loop, i) == TALLY_ADD) {
            diag_remark(v->pass->diags, DIAG_RELAXED, loop->loc,
                        "`%s` is summed in an order of its own", sum->name);
        }
    }
}

/* Elements of whole rows are tried before lanes over pixels. */
static void
propose(Vectorize *v, Bounds *b, const Stmt *loop)
{
    Pass *pass = v->pass;
    if (pass->opts->flatten &&
        flatten_why_not(pass->scratch, v->func, b, loop) == NULL) {
        sched_add(pass->arena, pass->sched, DIR_FLATTEN, loop->id, 0, 0);
        sched_add(pass->arena, pass->sched, DIR_VECTORIZE, loop->id, 0, 0);
        remark(v, DIAG_VECTOR, loop, "runs over the elements of whole rows");
        return;
    }
    DependWhy why;
    const Stmt *straight = vector_body(pass->scratch, v->func, b, loop, &why);
    if (straight == NULL) {
        remark(v, DIAG_NOT_VECTOR, loop, why.text);
        diag_sites(pass->diags, why.first, why.second);
        return;
    }
    sched_add(pass->arena, pass->sched, DIR_VECTORIZE, loop->id, 0, 0);
    remark(v, DIAG_VECTOR, loop, "several rounds at a time");
    remark_sums(v, straight);
}

/* Rounds that go side by side through loops inside, with an exit or without. */
static void
propose_lockstep(Vectorize *v, Bounds *b, const Stmt *loop)
{
    Pass *pass = v->pass;
    bool uneven = lockstep_fits(loop);
    const char *why = NULL;
    if (uneven) {
        why = lockstep_why_not(pass->scratch, v->func, b, loop);
    } else {
        (void)abreast_loop(v->func, b, loop, &why);
    }
    if (why != NULL) {
        remark(v, DIAG_NOT_VECTOR, loop, why);
        return;
    }
    sched_add(pass->arena, pass->sched, DIR_LOCKSTEP, loop->id, 0, 0);
    remark(v, DIAG_VECTOR, loop,
           uneven ? "several rounds at a time, until all have left the loop "
                    "inside"
                  : "several rounds at a time through the loop inside");
}

/* For bounds_visit: innermost FORs that the real function has too, and those
 * around loops with an exit, or that carry. Copies made by splitting, the
 * borders, are left alone. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Vectorize *v = data;
    if (s->kind != S_FOR || s->id >= v->ids) {
        return true;
    }
    if (!block_has_loop(&s->body)) {
        propose(v, b, s);
    } else if (lockstep_fits(s) || abreast_fits(s)) {
        propose_lockstep(v, b, s);
    }
    return true;
}

/* The function itself stays as it is; the copy, with its regions split and
 * simplified, lives until the end of the pass. */
Func *
pass_vectorize(Pass *pass, Func *func)
{
    Diags quiet;
    diags_init(&quiet, pass->scratch);
    Pass inner = *pass;
    inner.arena = pass->scratch;
    inner.diags = &quiet;
    Func *copy = ir_clone_func(pass->scratch, func);
    copy = simplify(&inner, split_regions(&inner, copy, pass->sched));
    Vectorize v = {.pass = pass, .func = copy, .ids = func->next_id};
    bounds_visit(pass->arena, copy, visit, &v);
    return func;
}
