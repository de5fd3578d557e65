/* The reference interpreter: the oracle for every transform.
 *
 * Runs a function of any level in program order, as slowly and plainly as
 * possible.  What a correct function never does ends the run with EVAL_FAULT:
 * an index outside its array, a Var read before it is defined, a buffer used
 * before it is made.  Fresh memory is filled with 0xA5, so that reading what
 * was never written shows.
 *
 * Values.  A Slot per lane (see Slot in ir.h).  Vars and buffers are found by
 * id, in tables.  Results: values in Eval.rets at ir_ret_slot, one Slot per
 * lane, rets in order; arrays in Eval.ret_arrays by number of the ret.
 *
 * LEAVE, BREAK and CONTINUE travel upwards as the Flow that running a block
 * returns; the end of the call does too, with the status in the machine.
 *
 * Budget: every statement and every round costs one step, so a loop without end
 * is EVAL_STEPS and not a hanging test.  Memory is the arena's; Vars keep their
 * Slots from round to round, local arrays of a loop do not.
 */
#include <string.h>

#include "csrc/ir/eval.h"

/* SELECT has the most operands of the nodes that work lane by lane. */
enum { MAX_OPERANDS = 3 };

static Flow run_block(Machine *m, const Block *block);

Flow
eval_end(Machine *m, EvalStatus status)
{
    m->status = status;
    return FLOW_END;
}

/* Ends the evaluation of an expression.  Returns false for the caller to
 * hand on. */
static bool
fault(Machine *m)
{
    m->status = EVAL_FAULT;
    return false;
}

/* A scalar takes one Slot. Lanes as Expr and Var have them, 0 for a scalar. */
static int
slots_of(int lanes)
{
    return lanes > 0 ? lanes : 1;
}

/* The buffer has room for a
 * vector, so that a broken function can't write past it: that a scalar is meant
 * is only ir_verify's word. */
bool
eval_int(Machine *m, const Expr *e, int64_t *out)
{
    Slot slot[MAX_LANES];
    if (!eval_expr(m, e, slot)) {
        return false;
    }
    *out = slot[0].i;
    return true;
}

/* The array of 'buf' and the address of element 'args'; with 'lanes' that of
 * its first lane, and in 'step' the bytes from lane to lane.  NULL when the run
 * has ended.  The first and the last lane must be inside; the others lie
 * between them. */
static char *
locate(Machine *m, const Buf *buf, Expr *const *args, int n, int lanes,
       int64_t *step)
{
    const EvalArray *array = m->bufs[buf->id];
    /* one more: index[n] is written below even where n is the rank */
    int64_t index[MAX_RANK + 1] = {0};
    if (!array || n + (lanes > 0) != buf->rank) {
        fault(m);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (!eval_int(m, args[i], &index[i])) {
            return NULL;
        }
    }
    *step = 0;
    if (lanes > 0) {
        index[n] = lanes - 1;
        *step = array->strides[n];
    }
    bool ok = mem_inside(m->func->level, buf, array, index);
    index[n] = lanes > 0 ? 0 : index[n];
    if (!ok || !mem_inside(m->func->level, buf, array, index)) {
        fault(m);
        return NULL;
    }
    return mem_address(buf, array, index);
}

/* A scalar, or the last axis whole. The dtype is that of the expression, which
 * is the buffer's. */
static bool
eval_load(Machine *m, const Expr *e, Slot *out)
{
    int64_t step = 0;
    const char *at = locate(m, e->buf, e->args, e->nargs, e->lanes, &step);
    for (int i = 0; at && i < slots_of(e->lanes); i++) {
        out[i] = mem_read(e->dtype, at + i * step);
    }
    return at != NULL;
}

/* --- expressions -------------------------------------------------------- */

/* At L_ARRAY a variable that was not SET yet is zero.  A name that may be
 * unbound has a flag beside it, which lowering checks before the value
 * counts. */
static bool
eval_var(Machine *m, const Var *var, Slot *out)
{
    size_t size = sizeof(Slot) * (size_t)slots_of(var->lanes);
    const Slot *value = m->vars[var->id];
    if (value) {
        memcpy(out, value, size);
        return true;
    }
    memset(out, 0, size);
    return m->func->level == L_ARRAY || fault(m);
}

/* Nodes without operands. DISJOINT is the default case: it is the one left. */
static bool
eval_leaf(Machine *m, const Expr *e, Slot *out)
{
    switch ((int)e->op) {
    case E_CONST:
        if (dtype_is_float(e->dtype)) {
            out->f = e->fval;
        } else {
            out->i = e->ival;
        }
        return true;
    case E_VAR:
        return eval_var(m, e->var, out);
    case E_DIM:
        if (!m->bufs[e->buf->id]) {
            return fault(m);
        }
        out->i = m->bufs[e->buf->id]->dims[e->axis];
        return true;
    case E_STRIDE:
        if (!m->bufs[e->buf->id]) {
            return fault(m);
        }
        out->i = m->bufs[e->buf->id]->strides[e->axis];
        return true;
    default:
        if (!m->bufs[e->buf->id] || !m->bufs[e->buf2->id]) {
            return fault(m);
        }
        out->i = mem_disjoint(m->arena, e->buf, m->bufs[e->buf->id], e->buf2,
                              m->bufs[e->buf2->id]);
        return true;
    }
}

/* All operands are scalars: indices, extents, steps, a mean. */
static bool
eval_sum(Machine *m, const Expr *e, Slot *out)
{
    Slot *args = ARENA_ARRAY(m->arena, Slot, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        if (!eval_expr(m, e->args[i], &args[i])) {
            return false;
        }
    }
    const EvalArray *array = m->bufs[e->buf->id];
    if (!array || !mem_sum(m->func->level, e, array, args, &out->f)) {
        return fault(m);
    }
    return true;
}

/* ELEM and INSERT; the index must be a lane. The vector is evaluated whole,
 * also for ELEM: plainness goes before speed. */
static bool
eval_lane(Machine *m, const Expr *e, Slot *out)
{
    Slot value[MAX_LANES];
    int64_t index = 0;
    int lanes = e->args[0]->lanes;
    if (!eval_expr(m, e->args[0], value) || !eval_int(m, e->args[1], &index)) {
        return false;
    }
    if (index < 0 || index >= lanes) {
        return fault(m);
    }
    if (e->op == E_ELEM) {
        *out = value[index];
        return true;
    }
    memcpy(out, value, sizeof(Slot) * (size_t)lanes);
    Slot inserted[MAX_LANES];
    if (!eval_expr(m, e->args[2], inserted)) {
        return false;
    }
    out[index] = inserted[0];
    return true;
}

/* Element-wise nodes; a scalar operand serves all lanes. Both branches of a
 * SELECT are evaluated, as the IR says; no value of either can trap. */
static bool
eval_lanes(Machine *m, const Expr *e, Slot *out)
{
    Slot values[MAX_OPERANDS][MAX_LANES];
    for (int k = 0; k < e->nargs; k++) {
        if (!eval_expr(m, e->args[k], values[k])) {
            return false;
        }
    }
    for (int i = 0; i < slots_of(e->lanes); i++) {
        Slot args[MAX_OPERANDS] = {{0}};
        for (int k = 0; k < e->nargs; k++) {
            args[k] = values[k][e->args[k]->lanes ? i : 0];
        }
        out[i] = ir_compute(e, args);
    }
    return true;
}

bool
eval_expr(Machine *m, const Expr *e, Slot *out)
{
    switch ((int)e->op) {
    case E_LOAD:
        return eval_load(m, e, out);
    case E_SUM:
        return eval_sum(m, e, out);
    case E_ELEM:
    case E_INSERT:
        return eval_lane(m, e, out);
    default:
        break;
    }
    return e->nargs == 0 ? eval_leaf(m, e, out) : eval_lanes(m, e, out);
}

/* --- statements --------------------------------------------------------- */

/* The memory of a Var is made once and reused in every round of a loop. That
 * also gives carries and the loop variable their new values without a new
 * definition. */
static void
set_var(Machine *m, const Var *var, const Slot *value)
{
    size_t size = sizeof(Slot) * (size_t)slots_of(var->lanes);
    if (!m->vars[var->id]) {
        m->vars[var->id] = arena_alloc(m->arena, size);
    }
    memcpy(m->vars[var->id], value, size);
}

/* LET and SET: the value is complete before the Var changes, so 'set %x = (add
 * %x 1)' reads the old one. */
static Flow
run_assign(Machine *m, const Var *var, const Expr *e)
{
    Slot value[MAX_LANES];
    if (!eval_expr(m, e, value)) {
        return FLOW_END;
    }
    set_var(m, var, value);
    return FLOW_ON;
}

/* Value before index, as Python evaluates them; neither has effects, but either
 * may be what faults. Lanes are written in ascending order; the value was read
 * whole before. */
static Flow
run_store(Machine *m, const Stmt *s)
{
    Slot value[MAX_LANES];
    int lanes = s->value->lanes;
    int64_t step = 0;
    if (!eval_expr(m, s->value, value)) {
        return FLOW_END;
    }
    char *at = locate(m, s->buf, s->index, s->nindex, lanes, &step);
    for (int i = 0; at && i < slots_of(lanes); i++) {
        mem_write(s->buf->dtype, at + i * step, value[i]);
    }
    return at ? FLOW_ON : FLOW_END;
}

/* A failing check ends the call with what the host would do next. Nothing is
 * undone here: whoever compares results throws this call's away. */
static Flow
run_check(Machine *m, const Stmt *s)
{
    int64_t holds = 0;
    if (!eval_int(m, s->value, &holds)) {
        return FLOW_END;
    }
    if (holds) {
        return FLOW_ON;
    }
    return eval_end(m, s->action == ACT_BAIL ? EVAL_BAIL : EVAL_REPLAY);
}

/* Only noted; the host issues warnings after the call. */
static Flow
run_warn(Machine *m, const Stmt *s)
{
    int64_t noted = 0;
    if (!eval_int(m, s->value, &noted)) {
        return FLOW_END;
    }
    m->state->warnings |= noted ? 1u << s->warn : 0;
    return FLOW_ON;
}

/* All values first, then all names: a join may not see another one. */
static Flow
run_joins(Machine *m, const Stmt *s, bool taken)
{
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        Flow flow =
            run_assign(m, join->out, taken ? join->then_val : join->else_val);
        if (flow != FLOW_ON) {
            return flow;
        }
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        const Buf *from = taken ? bind->init : bind->next;
        if (!eval_name(m, bind->out, m->bufs[from->id])) {
            return FLOW_END;
        }
    }
    return FLOW_ON;
}

/* The joins are evaluated where the branch taken ends, with its names. A jump
 * out of the branch skips them: what they define is not visible where it
 * lands. */
static Flow
run_if(Machine *m, const Stmt *s)
{
    int64_t taken = 0;
    if (!eval_int(m, s->value, &taken)) {
        return FLOW_END;
    }
    Flow flow = run_block(m, taken ? &s->body : &s->els);
    return flow == FLOW_ON ? run_joins(m, s, taken != 0) : flow;
}

/* What goes from round to round: "values" has MAX_LANES Slots for each carry,
 * "arrays" one for each Bind. */
typedef struct Carried {
    Slot *values;
    EvalArray **arrays;
} Carried;

/* The values for the first round or the next one. */
static Flow
carry_values(Machine *m, const Stmt *s, bool first, Carried *now)
{
    for (int i = 0; i < s->ncarries; i++) {
        const Expr *e = first ? s->carries[i].init : s->carries[i].next;
        if (!eval_expr(m, e, now->values + i * MAX_LANES)) {
            return FLOW_END;
        }
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        now->arrays[i] = m->bufs[first ? bind->init->id : bind->next->id];
    }
    return FLOW_ON;
}

/* Gives the values in 'now' their names, inside the loop or after it. "after"
 * is true once, when the loop is over; the last round's Vars keep their values,
 * which nobody can name any more. Arrays come last, for their extents may be
 * carried values. */
static Flow
name_carries(Machine *m, const Stmt *s, const Carried *now, bool after)
{
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        set_var(m, after ? carry->out : carry->var,
                now->values + i * MAX_LANES);
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        if (!eval_name(m, after ? bind->out : bind->var, now->arrays[i])) {
            return FLOW_END;
        }
    }
    return FLOW_ON;
}

/* The part of a round after 'pre' and the test: body, next, until.  "more" is
 * cleared when the loop ends here. A BREAK leaves "now" as it was at the start
 * of the round; at L_ARRAY, where alone there is one, loops carry nothing.  A
 * CONTINUE goes on with next and until, as the end of the body does.  "until"
 * is evaluated after the nexts but with the old Vars: "now" is not named before
 * the next round begins. */
static Flow
run_round(Machine *m, const Stmt *s, Carried *now, bool *more)
{
    Flow flow = run_block(m, &s->body);
    if (flow == FLOW_BREAK) {
        *more = false;
        return FLOW_ON;
    }
    if (flow != FLOW_ON && flow != FLOW_CONTINUE) {
        return flow;
    }
    int64_t stop = 0;
    if (carry_values(m, s, false, now) == FLOW_END ||
        (s->until && !eval_int(m, s->until, &stop))) {
        return FLOW_END;
    }
    *more = !stop;
    return FLOW_ON;
}

/* The bounds are evaluated once, before the first round. The variable is the
 * interpreter's: that the body can't assign it is the IR's rule.  'i++' can't
 * overflow, since i < hi. */
static Flow
run_for(Machine *m, const Stmt *s, Carried *now)
{
    int64_t lo = 0;
    int64_t hi = 0;
    bool more = true;
    if (!eval_int(m, s->lo, &lo) || !eval_int(m, s->hi, &hi)) {
        return FLOW_END;
    }
    for (int64_t i = lo; more && i < hi; i++) {
        if (--m->state->steps < 0) {
            return eval_end(m, EVAL_STEPS);
        }
        set_var(m, s->var, &(Slot){.i = i});
        Flow flow = name_carries(m, s, now, false);
        if (flow == FLOW_ON) {
            flow = run_round(m, s, now, &more);
        }
        if (flow != FLOW_ON) {
            return flow;
        }
    }
    return FLOW_ON;
}

/* When the test fails the carries keep the values with which the round
 * began. */
static Flow
run_while(Machine *m, const Stmt *s, Carried *now)
{
    for (bool more = true; more;) {
        int64_t test = 0;
        if (--m->state->steps < 0) {
            return eval_end(m, EVAL_STEPS);
        }
        Flow flow = name_carries(m, s, now, false);
        if (flow == FLOW_ON) {
            flow = run_block(m, &s->pre);
        }
        if (flow == FLOW_ON && !eval_int(m, s->value, &test)) {
            flow = FLOW_END;
        }
        if (flow != FLOW_ON) {
            return flow;
        }
        if (!test) {
            break;
        }
        flow = run_round(m, s, now, &more);
        if (flow != FLOW_ON) {
            return flow;
        }
    }
    return FLOW_ON;
}

/* What is carried lives in 'now' between rounds: a 'next' may read every
 * carry, so none may change before all are known. */
static Flow
run_loop(Machine *m, const Stmt *s)
{
    Carried now;
    now.values = ARENA_ARRAY(m->arena, Slot, s->ncarries * MAX_LANES);
    now.arrays = ARENA_ARRAY(m->arena, EvalArray *, s->nbinds);
    Flow flow = carry_values(m, s, true, &now);
    if (flow == FLOW_ON) {
        flow = s->kind == S_FOR ? run_for(m, s, &now) : run_while(m, s, &now);
    }
    return flow == FLOW_ON ? name_carries(m, s, &now, true) : flow;
}

/* The one place that a LEAVE reaches. */
static Flow
run_scope(Machine *m, const Stmt *s)
{
    Flow flow = run_block(m, &s->body);
    return flow == FLOW_LEAVE ? FLOW_ON : flow;
}

/* SHADOW and unknown kinds do nothing: an undo log is the host's, and no result
 * depends on it. */
static Flow
run_stmt(Machine *m, const Stmt *s)
{
    switch (s->kind) {
    case S_LET:
    case S_SET:
        return run_assign(m, s->var, s->value);
    case S_STORE:
        return run_store(m, s);
    case S_CHECK:
        return run_check(m, s);
    case S_WARN:
        return run_warn(m, s);
    case S_IF:
        return run_if(m, s);
    case S_FOR:
    case S_WHILE:
        return run_loop(m, s);
    case S_ALLOC:
        return run_alloc(m, s->buf);
    case S_FILL:
        return run_fill(m, s);
    case S_GROW:
        return run_grow(m, s);
    case S_VIEW:
        return run_view(m, s);
    case S_ROUTINE:
        return run_routine(m, s);
    case S_BIND:
        return eval_name(m, s->buf, m->bufs[s->src->id]) ? FLOW_ON : FLOW_END;
    case S_SCOPE:
        return run_scope(m, s);
    case S_LEAVE:
        return FLOW_LEAVE;
    case S_BREAK:
        return FLOW_BREAK;
    case S_CONTINUE:
        return FLOW_CONTINUE;
    default:
        return FLOW_ON;
    }
}

/* In order; the first statement that does not fall through ends it. */
static Flow
run_block(Machine *m, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        if (--m->state->steps < 0) {
            return eval_end(m, EVAL_STEPS);
        }
        Flow flow = run_stmt(m, block->at[i]);
        if (flow != FLOW_ON) {
            return flow;
        }
    }
    return FLOW_ON;
}

/* --- calls -------------------------------------------------------------- */

/* Counted anew each time: functions have few results. */
int
ir_ret_slot(const Func *func, int ret)
{
    int slot = 0;
    for (int i = 0; i < ret; i++) {
        const Expr *value = func->rets.at[i].value;
        slot += value ? slots_of(value->lanes) : 0;
    }
    return slot;
}

/* Arrays are not copied: the function works on the caller's memory. */
static void
bind_params(Machine *m)
{
    for (int i = 0; i < m->func->params.n; i++) {
        const Param *param = &m->func->params.at[i];
        if (param->var) {
            set_var(m, param->var, &m->state->scalars[i]);
        } else {
            m->bufs[param->buf->id] = &m->state->arrays[i];
        }
    }
}

/* After the body, with its names still defined. A result that was never made
 * (its ALLOC was in a branch not taken) is a fault. */
static EvalStatus
give_results(Machine *m)
{
    for (int i = 0; i < m->func->rets.n; i++) {
        const Ret *ret = &m->func->rets.at[i];
        if (ret->buf) {
            if (!m->bufs[ret->buf->id]) {
                return EVAL_FAULT;
            }
            m->state->ret_arrays[i] = *m->bufs[ret->buf->id];
        } else if (!eval_expr(m, ret->value,
                         m->state->rets + ir_ret_slot(m->func, i))) {
            return m->status;
        }
    }
    return EVAL_OK;
}

/* A flow that nobody caught (LEAVE outside a scope) is a broken rule. */
EvalStatus
ir_eval(Arena *arena, const Func *func, Eval *state)
{
    Machine m = {.arena = arena, .func = func, .state = state};
    m.vars = ARENA_ARRAY(arena, Slot *, func->next_id);
    m.bufs = ARENA_ARRAY(arena, EvalArray *, func->next_id);
    m.rooms = ARENA_ARRAY(arena, int64_t, func->next_id);
    bind_params(&m);
    Flow flow = run_block(&m, &func->body);
    if (flow != FLOW_ON) {
        return flow == FLOW_END ? m.status : EVAL_FAULT;
    }
    return give_results(&m);
}
