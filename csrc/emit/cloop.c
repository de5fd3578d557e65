/* What is decided of a loop before it is written: whether '#pragma omp simd'
 * may stand in front of it, and what one round of it may cost.
 *
 * A pass has proved that the rounds of a LOOP_VECTOR loop are independent. In
 * such a loop a check that fails only sets a flag, and the rest of the round
 * still runs.  That is harmless unless the check guards an access to memory:
 * then the loop is written as an ordinary one.
 *
 *   for i { check i*i no overflow; out[i] = ... }       simd, flag
 *   for i { check 0 <= k[i] < n; out[k[i]] = ... }      an ordinary loop
 */
#include "csrc/emit/cgen.h"

/* --- may it be a SIMD loop? ---------------------------------------------- */

/* What is known of a loop so far.
 *
 *   "tainted"  by Var.id, values that come from memory or from floats, so that
 *       a check may be what keeps them in bounds.
 *   "check", "index_check"  some check is there; one of them is of an index.
 *   "gathers"  some index is tainted.
 *   "blocked"  has what can't stand in a SIMD loop.
 *   "changed"  "tainted" has grown in this round of the scan. */
typedef struct Scan {
    bool *tainted;
    bool check;       /* some check is there */
    bool index_check; /* one of them is of an index */
    bool gathers;     /* some index is tainted */
    bool blocked;     /* has what can't stand in a SIMD loop */
    bool changed;     /* "tainted" has grown */
} Scan;

/* Adds to what is tainted, never takes away: the scan ends at a fixed point. */
static void
taint(Scan *scan, const Var *var, bool yes)
{
    scan->changed |= yes && !scan->tainted[var->id];
    scan->tainted[var->id] |= yes;
}

/* A LOAD is data whatever its index; a CALL is of floats; a CAST from float may
 * give any integer when its argument is out of range.  All else is as good as
 * its operands. */
static bool
is_tainted(Scan *scan, const Expr *e)
{
    bool found = ir_reads(e) || e->op == E_CALL ||
                 (e->op == E_CAST && dtype_is_float(e->args[0]->dtype)) ||
                 (e->op == E_VAR && scan->tainted[e->var->id]);
    for (int i = 0; i < e->nargs && !found; i++) {
        found = is_tainted(scan, e->args[i]);
    }
    return found;
}

/* Does an index depend on data? Affine indices of loop variables were proved or
 * are tested at the entry, so a failing check of this loop can't be what keeps
 * them inside. */
static void
scan_index(Scan *scan, Expr *const *index, int n)
{
    for (int i = 0; i < n; i++) {
        scan->gathers |= is_tainted(scan, index[i]);
    }
}

/* Loads at any depth of '*slot', also within the index of another load. */
static void
scan_expr(void *data, Expr **slot)
{
    Scan *scan = data;
    Expr *e = *slot;
    if (ir_reads(e)) {
        scan_index(scan, e->args, e->nargs);
    }
    for (int i = 0; i < e->nargs; i++) {
        scan_expr(scan, &e->args[i]);
    }
}

/* What an IF or a loop hands out depends on its condition too. A carry of a
 * loop with an early exit is tainted whole: how many rounds it had depends on
 * data. */
static void
taint_outs(Scan *scan, const Stmt *s)
{
    bool by_test = s->kind == S_IF && is_tainted(scan, s->value);
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        taint(scan, join->out, by_test || is_tainted(scan, join->then_val) ||
                                   is_tainted(scan, join->else_val));
    }
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        taint(scan, carry->var, s->until || is_tainted(scan, carry->init) ||
                                    is_tainted(scan, carry->next));
        taint(scan, carry->out, scan->tainted[carry->var->id]);
    }
}

/* A WHILE has no number of rounds that SIMD could share. Polls, logs and
 * shadows leave the loop in the middle; an allocation may fail there. */
static void
scan_stmt(void *data, Stmt *s)
{
    Scan *scan = data;
    if (s->kind == S_LET) {
        taint(scan, s->var, is_tainted(scan, s->value));
    }
    if (s->kind == S_WHILE) {
        scan->blocked = true;
    }
    taint_outs(scan, s);
    scan->check |= s->kind == S_CHECK;
    scan->index_check |= s->kind == S_CHECK && s->exc == X_INDEX;
    scan->blocked |= s->kind == S_SHADOW || s->kind == S_ALLOC ||
                     s->kind == S_GROW || s->kind == S_VIEW ||
                     s->kind == S_ROUTINE ||
                     s->nbinds > 0 || s->poll || s->logged;
    if (s->kind == S_STORE) {
        scan_index(scan, s->index, s->nindex);
    }
    ir_each_expr(s, scan_expr, scan);
}

/* Carries flow backwards, so the scan is repeated until nothing new is tainted.
 * An index check stands for an access that follows it, if any does. */
bool
c_vectorises(Arena *arena, const Func *func, const Stmt *loop)
{
    if (!ir_only_tallies(arena, loop) || loop->nbinds > 0 || loop->until ||
        loop->poll) {
        return false;
    }
    Scan scan = {0};
    scan.tainted = ARENA_ARRAY(arena, bool, func->next_id + 1);
    do {
        scan.changed = false;
        ir_each_stmt(&loop->body, scan_stmt, &scan);
    } while (scan.changed);
    return !scan.blocked && !(scan.index_check && !ir_only_checks(loop)) &&
           !(scan.check && scan.gathers);
}

/* Buffers that vz_reuse would make, and the bytes of those on the stack. */
typedef struct Reused {
    int count;
    int64_t stack;
} Reused;

/* Asks as c_alloc will: an array is on the stack while there is room for it. */
static void
note_reused(void *data, Stmt *s)
{
    Reused *reused = data;
    if (s->kind != S_ALLOC || s->buf->kind != BUF_LOCAL) {
        return;
    }
    int64_t bytes = c_stack_size(s->buf);
    reused->stack += bytes;
    reused->count += bytes == 0 || reused->stack > C_STACK_LIMIT;
}

/* Of the kernel: growable buffers, and allocations in its loops, but not those
 * of parallel loops, which have functions of their own. */
static void
note_loop_allocs(void *data, Stmt *s)
{
    bool loop = s->kind == S_WHILE ||
                (s->kind == S_FOR && s->mode != LOOP_PARALLEL);
    if (loop) {
        ir_each_stmt(&s->pre, note_reused, data);
        ir_each_stmt(&s->body, note_reused, data);
    } else {
        Reused *reused = data;
        reused->stack += s->kind == S_ALLOC ? c_stack_size(s->buf) : 0;
        reused->count += s->kind == S_ALLOC && s->buf->growable;
    }
}

bool
c_reuses(const Func *func, const Stmt *parallel)
{
    Reused reused = {0};
    if (parallel) {
        ir_each_stmt(&parallel->body, note_reused, &reused);
    } else {
        ir_each_stmt(&func->body, note_loop_allocs, &reused);
    }
    return reused.count > 0;
}

/* --- cost ---------------------------------------------------------------- */

/* Nanoseconds, roughly, of one core; only the order of magnitude matters. */
static const double cost_load = 0.5;
static const double cost_simple = 0.3;
static const double cost_divide = 2.0;
static const double cost_call = 15.0;
static const double cost_sum = 60.0;

/* No sharing is seen: a bound from above.  FN_EXP is the first row that is a
 * call of libm; the rows before it are inline code. */
static double
expr_cost(const Expr *e)
{
    double cost = e->op == E_CONST || e->op == E_VAR ? 0 : cost_simple;
    if (e->op == E_LOAD) {
        cost = cost_load;
    } else if (e->op == E_SUM) {
        cost = cost_sum;
    } else if (e->op == E_DIV || e->op == E_IDIV || e->op == E_MOD) {
        cost = cost_divide;
    } else if (e->op == E_CALL) {
        bool far = e->fn >= FN_EXP && e->fn != FN_SQUARE && e->fn != FN_ROOT &&
                   ir_fn_origin(e->fn) != 'A';
        cost = far ? cost_call : cost_divide;
    }
    cost *= e->lanes > 1 ? e->lanes : 1;
    for (int i = 0; i < e->nargs; i++) {
        cost += expr_cost(e->args[i]);
    }
    return cost;
}

/* For ir_each_expr: one expression of a statement. */
static void
add_expr_cost(void *data, Expr **slot)
{
    double *sum = data;
    *sum += expr_cost(*slot);
}

/* "inside": by Var.id, defined in the loop, so not to be named outside. */
typedef struct Costs {
    Gen *g;
    const bool *inside;
} Costs;

/* Can 'e' be computed where the parallel loop starts? It has to name nothing
 * that the loop defines, and read no memory, which the loop may write. */
static bool
is_outside(const Costs *costs, const Expr *e)
{
    bool ok = !ir_reads(e) &&
              !(e->op == E_VAR && costs->inside[e->var->id]);
    for (int i = 0; i < e->nargs && ok; i++) {
        ok = is_outside(costs, e->args[i]);
    }
    return ok;
}

static void add_costs(Costs *costs, const Block *block, Str *out);

/* ' + rounds * (one round)' A vector loop does about four rounds in the time of
 * one; a loop that may end early is guessed to do a quarter of them. */
static void
add_loop_cost(Costs *costs, const Stmt *s, Str *out)
{
    Gen *g = costs->g;
    bool known = s->kind == S_FOR && is_outside(costs, s->lo) &&
                 is_outside(costs, s->hi);
    if (known) {
        str_addf(out, " + vz_trips(%s, %s)", c_expr(g, s->lo, 0, P_ANY),
                 c_expr(g, s->hi, 0, P_ANY));
    } else {
        str_add(out, " + 16");
    }
    str_addf(out, "%s * (", s->mode == LOOP_VECTOR || s->until ? " / 4" : "");
    add_costs(costs, &s->pre, out);
    str_add(out, " + ");
    add_costs(costs, &s->body, out);
    str_add(out, ")");
}

/* Appends a sum: what the statements of 'block' cost themselves, as a number
 * with one decimal (printf's %f would follow the locale), then a term for each
 * nested block.  Both branches of an IF count: a bound from above. */
static void
add_costs(Costs *costs, const Block *block, Str *out)
{
    double sum = cost_simple;
    for (int i = 0; i < block->n; i++) {
        ir_each_expr(block->at[i], add_expr_cost, &sum);
    }
    str_addf(out, "%d.%d", (int)sum, (int)(sum * 10) % 10);
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            add_loop_cost(costs, s, out);
        } else if (s->kind == S_IF) {
            str_add(out, " + ");
            add_costs(costs, &s->body, out);
            str_add(out, " + ");
            add_costs(costs, &s->els, out);
        }
    }
}

/* Loops whose bounds are known before the loop starts count with their
 * rounds, others with a guess; a loop with an early exit with a quarter. */
const char *
c_cost(Gen *g, const Stmt *loop)
{
    Costs costs = {.g = g, .inside = c_defined(g, &loop->body, loop->var)};
    Str text = str_new(g->arena);
    add_costs(&costs, &loop->body, &text);
    return text.at;
}
