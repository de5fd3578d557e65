/* Propose splits that free the interior of boundary conditions.
 *
 *     for y in 0..h                        regions 1 1 1
 *       for x in 0..w                      regions 2 1 1
 *         if y > 0 and x < w - 1 ...
 *
 * Every comparison in a loop's body that is affine in the loop's variable x
 * is brought to  a*x + rest >= 0.  Where "rest" differs from the loop's lower
 * or upper end by a constant, solving for x tells how many first or last
 * rounds must be set apart until the comparison has one answer in all others:
 *
 *     x - 1 >= 0,   x from 0      true from round 1 on         head 1
 *     w - 2 - x >= 0, x below w   true up to w - 2             tail 1
 *     x + 3 - n == 0, x below n   false up to n - 4            tail 3
 *
 * A strip of a larger loop begins where no boundary is; there the conditions
 * themselves say from where to count: x >= 1 from 0, x < w - 1 from w.  All
 * must then agree but for a constant, the "origin".
 *
 * Variables of inner loops are put at the end of their range that is the
 * worst.  The split takes the maximum over all comparisons, so any radius and
 * any number of conditions are served.  Clamps (min, max) and wrapped indices
 * (mod) count as comparisons too.  split.c applies the proposal.
 */
#include "transforms/transforms.h"

enum {
    MAX_EDGE = 64,      /* rounds set apart at one end, at most */
    MAX_COPIED = 20000, /* nodes of a body that may be doubled */
};

/* One end of a loop: rounds to set apart, counted from "end".
 *   "end"     lo, or hi - 1, as a form
 *   "origin"  in a strip: from where to count instead, a form without its
 *             constant
 *   "found"   some comparison gave an origin
 *   "at_end"  some comparison was solved from "end"
 *   "rounds"  how many, the maximum over all comparisons */
typedef struct Edge {
    Linear end;
    Linear origin;
    bool found;
    bool at_end; /* some comparison was solved from "end" */
    int64_t rounds;
} Edge;

/* The loop looked at and what was found so far.
 *   "pass"     remarks, directives, scratch
 *   "b"        what is known where the walk stands
 *   "loop"     the FOR in question, with x its variable
 *   "inner"    Var * -> Stmt * of the inner FOR that counts it
 *   "inside"   Var * defined in the body -> itself
 *   "head" "tail"  its two ends
 *   "decided"  comparisons that the interior is free of
 *   "open"     comparisons with x that stay; "open_at" the first of them
 *   "loc"      of what is being looked at */
typedef struct Regions {
    Pass *pass;
    Bounds *b;
    const Stmt *loop;
    Map inner;  /* Var * -> Stmt * of the inner FOR that counts it */
    Map inside; /* Var * defined in the body -> itself */
    Edge head;
    Edge tail;
    int decided;
    int open; /* comparisons with x that stay */
    Loc open_at;
    Loc loc;
} Regions;

/* --- solving ------------------------------------------------------------- */

/* ceil(num / den), 0 when negative; den > 0. */
static int64_t
rounds_needed(int64_t num, int64_t den)
{
    return num <= 0 ? 0 : (num - 1) / den + 1;
}

/* 'form' with every inner loop's variable at the end of its range that makes
 * the form least ('least') or greatest. With a positive coefficient the form
 * is least at lo, else at hi - 1. The ends may bring in variables of loops
 * further out, which go in turn; eight are more than a nest has. False when an
 * end has no form. */
static bool
remove_inner(Regions *r, const Linear *form, bool least, Linear *out)
{
    Arena *arena = r->pass->scratch;
    *out = *form;
    for (int round = 0; round < 8; round++) {
        const Term *found = NULL;
        const Stmt *loop = NULL;
        for (int i = 0; i < out->terms.n && found == NULL; i++) {
            Expr *atom = out->terms.at[i].atom;
            if (atom->op == E_VAR) {
                loop = map_get(&r->inner, atom->var);
                found = loop != NULL ? &out->terms.at[i] : NULL;
            }
        }
        if (found == NULL) {
            return true;
        }
        bool low = (found->coef > 0) == least;
        int64_t coef = found->coef;
        Linear atom = linear_atom(arena, found->atom);
        Linear end;
        if (!bounds_linear(r->b, low ? loop->lo : loop->hi, &end) ||
            !linear_sum(arena, out, 1, &atom, -coef, out) ||
            !linear_sum(arena, out, 1, &end, coef, out)) {
            return false;
        }
        if (!low) {
            out->constant -= coef;
        }
    }
    return false;
}

/* Is 'e' known only inside the body, or only at one moment? */
static bool
uses_inside(const Regions *r, const Expr *e)
{
    if (e->op == E_VAR) {
        return map_has(&r->inside, e->var) || e->var->id < 0;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (uses_inside(r, e->args[i])) {
            return true;
        }
    }
    return ir_reads(e);
}

/* a*x + 'form' >= 0 from a round on that 'origin' names: for a strip, whose
 * own ends say nothing. Gives the rounds from the origin, or -1.
 *
 *     head, a = 1:   x >= -form           tail, a = -1:  x < form + 1
 *
 * The origin is the bound without its constant, so x >= 1 and x >= 2 share the
 * origin 0 and take 1 and 2 rounds. All comparisons of an edge must name the
 * same one. A loop with a constant end is no strip, and an origin that speaks
 * of what the strip's own end is made of, extents aside, would move with the
 * strip: both are refused. */
static int64_t
solve_origin(Regions *r, const Linear *form, int64_t a, Edge *edge)
{
    Arena *arena = r->pass->scratch;
    Linear start;
    Linear zero = linear_const(0);
    if ((a != 1 && a != -1) || edge->at_end || edge->end.terms.n == 0 ||
        !linear_sum(arena, form, -a, &zero, 0, &start)) {
        return -1;
    }
    /* head: x >= start; tail: x <= start, that is x < start + 1. */
    int64_t rounds = a > 0 ? start.constant : -(start.constant + 1);
    start.constant = 0;
    for (int i = 0; i < start.terms.n; i++) {
        if (linear_coef(&edge->end, start.terms.at[i].atom) != 0 &&
            start.terms.at[i].atom->op != E_DIM) {
            return -1;
        }
    }
    if (rounds < 0 || (edge->found && !linear_equal(&edge->origin, &start))) {
        return -1;
    }
    edge->origin = start;
    edge->found = true;
    return rounds;
}

/* How many rounds at the end where a*x + 'form' is worst must be set apart so
 * that it is >= 0 in all others?  -1: unknown. */
static int64_t
solve_end(Regions *r, const Linear *form, int64_t a)
{
    Linear value;
    int64_t constant;
    Edge *edge = a > 0 ? &r->head : &r->tail;
    if (!linear_sum(r->pass->scratch, form, 1, &edge->end, a, &value) ||
        !linear_is_const(&value, &constant)) {
        return solve_origin(r, form, a, edge);
    }
    if (edge->found || constant < -MAX_COPIED || constant > MAX_COPIED) {
        return -1;
    }
    int64_t rounds = rounds_needed(-constant, a > 0 ? a : -a);
    edge->at_end = edge->at_end || rounds > 0;
    return rounds;
}

/* How many rounds must be set apart for 'form' = a*x + rest to be >= 0 in the
 * others ('sign' 1), or < 0 (-1); -1: unknown. All but x must be the same in
 * every round, after inner variables are put where they are worst. */
static int64_t
solve_side(Regions *r, const Linear *form, int64_t sign)
{
    Linear value;
    Linear zero = linear_const(0);
    if (!linear_sum(r->pass->scratch, form, sign, &zero, 0, &value)) {
        return -1;
    }
    if (sign < 0) {
        value.constant -= 1; /* f < 0 is -f - 1 >= 0 */
    }
    Linear worst;
    if (!remove_inner(r, &value, true, &worst)) {
        return -1;
    }
    Expr *x = ir_ref(r->pass->scratch, r->loop->var);
    int64_t a = linear_coef(&worst, x);
    Linear atom = linear_atom(r->pass->scratch, x);
    if (a == 0 || a > MAX_EDGE || a < -MAX_EDGE ||
        !linear_sum(r->pass->scratch, &worst, 1, &atom, -a, &worst)) {
        return -1;
    }
    for (int i = 0; i < worst.terms.n; i++) {
        const Expr *term = worst.terms.at[i].atom;
        if (uses_inside(r, term) || ir_uses(term, r->loop->var)) {
            return -1;
        }
    }
    int64_t rounds = solve_end(r, &worst, a);
    return rounds > MAX_EDGE ? -1 : rounds;
}

/* '*most' becomes 'value' if that is more. */
static void
raise_to(int64_t *most, int64_t value)
{
    *most = value > *most ? value : *most;
}

/* Note what deciding "form >= 0" takes: true in the interior, or false,
 * whichever sets fewer rounds apart. 'branches': it is a condition that the
 * program wrote, so it is worth a remark if it stays. A form without x is not
 * this loop's. */
static void
solve(Regions *r, const Linear *form, bool branches)
{
    Expr *x = ir_ref(r->pass->scratch, r->loop->var);
    int64_t a = linear_coef(form, x);
    if (a == 0) {
        return;
    }
    int64_t yes = solve_side(r, form, 1);
    int64_t no = solve_side(r, form, -1);
    if (yes < 0 && no < 0) {
        branches &= r->loc.line != 0;
        r->open_at = branches && r->open == 0 ? r->loc : r->open_at;
        r->open += branches;
        return;
    }
    bool as_true = no < 0 || (yes >= 0 && yes <= no);
    raise_to((a > 0) == as_true ? &r->head.rounds : &r->tail.rounds,
             as_true ? yes : no);
    r->decided++;
}

/* rhs - lhs - strict >= 0 */
static void
solve_order(Regions *r, Expr *lhs, Expr *rhs, int64_t strict, bool branches)
{
    Linear low;
    Linear high;
    Linear form;
    if (!bounds_linear(r->b, lhs, &low) || !bounds_linear(r->b, rhs, &high) ||
        !linear_sum(r->pass->scratch, &high, 1, &low, -1, &form)) {
        return;
    }
    form.constant -= strict;
    solve(r, &form, branches);
}

/* --- finding the comparisons --------------------------------------------- */

/* Every comparison counts, also one whose value is stored: deciding it is
 * never wrong and often a gain. x mod n is free of the division where 0 <= x <
 * n, a MIN or MAX is one side where the order is fixed; an equality is decided
 * where one side is larger. */
static void
look_expr(Regions *r, Expr *e)
{
    for (int i = 0; i < e->nargs; i++) {
        look_expr(r, e->args[i]);
    }
    if (e->lanes > 0 || e->nargs != 2 || !dtype_is_int(e->args[0]->dtype)) {
        return;
    }
    Expr *lhs = e->args[0];
    Expr *rhs = e->args[1];
    Loc outer = r->loc;
    r->loc = e->loc.line ? e->loc : outer;
    switch (e->op) {
    case E_LT:
        solve_order(r, lhs, rhs, 1, true);
        break;
    case E_LE:
        solve_order(r, lhs, rhs, 0, true);
        break;
    case E_MIN:
    case E_MAX:
        solve_order(r, lhs, rhs, 0, false);
        break;
    case E_EQ:
    case E_NE:
        solve_order(r, lhs, rhs, 0, true);
        solve_order(r, rhs, lhs, 0, true);
        break;
    case E_MOD:
        solve_order(r, ir_int(r->pass->scratch, lhs->dtype, 0), lhs, 0, false);
        solve_order(r, lhs, rhs, 1, false);
        break;
    default:
        break;
    }
    r->loc = outer;
}

/* For ir_each_expr; a slot may be empty. */
static void
look_slot(void *data, Expr **slot)
{
    if (*slot != NULL) {
        look_expr(data, *slot);
    }
}

/* Vars of the body have no place in a form that must hold in all rounds. */
static void
note_defined(Regions *r, Stmt *s)
{
    if (s->kind == S_LET || s->kind == S_FOR) {
        map_set(&r->inside, s->var, s->var);
    }
    for (int i = 0; i < s->njoins; i++) {
        map_set(&r->inside, s->joins[i].out, s->joins[i].out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        map_set(&r->inside, s->carries[i].var, s->carries[i].var);
        map_set(&r->inside, s->carries[i].out, s->carries[i].out);
    }
}

static void look_block(Regions *r, const Block *block);

/* Conditions inside a branch are solved under its condition, so what is
 * impossible there does not widen the edges. */
static void
look_branches(Regions *r, Stmt *s)
{
    int mark = bounds_push(r->b);
    bounds_assume(r->b, s->value, true);
    look_block(r, &s->body);
    bounds_pop(r->b, mark);
    mark = bounds_push(r->b);
    bounds_assume(r->b, s->value, false);
    look_block(r, &s->els);
    bounds_pop(r->b, mark);
}

/* Inner loops are looked at with their variable in its range; their own
 * comparisons of it are eliminated by remove_inner. */
static void
look_stmt(Regions *r, Stmt *s)
{
    note_defined(r, s);
    int mark = bounds_push(r->b);
    if (s->kind == S_IF) {
        look_branches(r, s);
    } else if (s->kind == S_FOR) {
        map_set(&r->inner, s->var, s);
        bounds_loop(r->b, s);
        look_block(r, &s->body);
    } else if (s->kind == S_WHILE) {
        look_block(r, &s->pre);
        look_block(r, &s->body);
    }
    bounds_pop(r->b, mark);
    r->loc = s->loc;
    if (s->kind != S_FOR) {
        ir_each_expr(s, look_slot, r); /* the ends of a FOR are no branches */
    }
    bounds_after(r->b, s);
}

/* Statements in order, while the Bounds go along. */
static void
look_block(Regions *r, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        look_stmt(r, block->at[i]);
    }
}

/* --- the proposal -------------------------------------------------------- */

/* Is the interior worth it: not less than half of a loop of known length? */
static bool
is_worth(const Regions *r)
{
    int64_t trips = loop_trips(r->loop);
    int64_t apart = r->head.rounds + r->tail.rounds;
    return apart > 0 && r->loop->until == NULL && r->loop->nbinds == 0 &&
           (trips < 0 || 2 * apart <= trips) &&
           ir_size(&r->loop->body) <= MAX_COPIED;
}

/* The directive, with a remark; or a remark why conditions stay. */
static void
propose(Regions *r)
{
    if (is_worth(r)) {
        sched_add(r->pass->arena, r->pass->sched, DIR_REGIONS, r->loop->id,
                  r->head.rounds, r->tail.rounds);
        diag_remark(r->pass->diags, DIAG_REGIONS, r->loop->loc,
                    "the first %lld and last %lld rounds run apart; the others "
                    "are free of %d condition%s",
                    (long long)r->head.rounds, (long long)r->tail.rounds,
                    r->decided, r->decided == 1 ? "" : "s");
    } else if (r->open > 0) {
        diag_remark(r->pass->diags, DIAG_NOT_REGIONS, r->loop->loc,
                    "%d condition%s on `%s` do%s not end a constant number of "
                    "rounds from either end",
                    r->open, r->open == 1 ? "" : "s", r->loop->var->name,
                    r->open == 1 ? "es" : "");
        diag_sites(r->pass->diags, r->open_at, (Loc){0});
    }
}

/* Looks at all comparisons of 'loop'; false when its ends have no form. */
static bool
look_at_loop(Pass *pass, Bounds *b, const Stmt *loop, Regions *r)
{
    *r = (Regions){.pass = pass, .b = b, .loop = loop};
    if (!bounds_may_shift(b, loop) ||
        !bounds_linear(b, loop->lo, &r->head.end) ||
        !bounds_linear(b, loop->hi, &r->tail.end)) {
        return false;
    }
    r->tail.end.constant -= 1;
    r->inner = map_new(pass->scratch);
    r->inside = map_new(pass->scratch);
    int mark = bounds_push(b);
    bounds_loop(b, loop);
    look_block(r, &loop->body);
    bounds_pop(b, mark);
    return true;
}

/* From where REGIONS counts: the loop's own ends, or for a strip the origins
 * that its conditions name. */
void
regions_origin(Pass *pass, Bounds *b, const Stmt *loop, Expr **lo, Expr **hi)
{
    Regions r;
    *lo = NULL;
    *hi = NULL;
    if (!look_at_loop(pass, b, loop, &r)) {
        return;
    }
    if (r.head.found && !r.head.at_end) {
        *lo = linear_expr(pass->arena, &r.head.origin);
    }
    if (r.tail.found && !r.tail.at_end) {
        *hi = linear_expr(pass->arena, &r.tail.origin);
    }
}

/* What the visitor needs: where to propose, and the function walked. */
typedef struct Proposer {
    Pass *pass;
    const Func *func;
} Proposer;

/* Can the origin be computed before the loop? */
static bool
is_visible(const Proposer *p, const Regions *r, const Edge *edge)
{
    if (!edge->found || edge->at_end) {
        return true;
    }
    Arena *scratch = p->pass->scratch;
    return loop_sees(scratch, p->func, r->loop,
                     linear_expr(scratch, &edge->origin));
}

/* Whole nests in rounds that depend on each other, such as the levels of a
 * pyramid?  Threads share the nests then, not the rounds; in the copies, which
 * stay as they are, they would not, and the first or last level may well be
 * most of the work. */
static bool
drives_nests(const Proposer *p, Bounds *b, const Stmt *loop)
{
    bool nests = false;
    for (int i = 0; i < loop->body.n; i++) {
        const Stmt *s = loop->body.at[i];
        nests |= s->kind == S_FOR && block_has_loop(&s->body);
    }
    DependWhy why;
    return nests && p->pass->opts->parallel &&
           !depend_independent(p->pass->scratch, p->func, b, loop, &why);
}

/* For bounds_visit: looks at every FOR, inner ones too, since each has
 * boundaries of its own. */
static bool
visit(void *data, Bounds *b, Stmt *s)
{
    Proposer *p = data;
    Regions r;
    if (s->kind == S_FOR && look_at_loop(p->pass, b, s, &r) &&
        is_visible(p, &r, &r.head) && is_visible(p, &r, &r.tail) &&
        !drives_nests(p, b, s)) {
        propose(&r);
    }
    return true;
}

/* Nothing is rewritten here; 'schedule' splits. */
Func *
pass_regions(Pass *pass, Func *func)
{
    Proposer proposer = {pass, func};
    bounds_visit(pass->scratch, func, visit, &proposer);
    return func;
}
