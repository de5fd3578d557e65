/* What the emitter must know before it writes: which variables are used, what
 * a function needs from its caller, what a round of a loop may cost.
 *
 * The generated C compiles without a warning under -Wall -Wextra, so nothing
 * unused is declared: expressions have no effects, hence a variable whose
 * value reaches no store, check, bound or result is left out.
 */
#include "csrc/emit/cgen.h"

/* --- liveness ------------------------------------------------------------ */

/* The search for what is used.
 *
 *   "arena"  for its lists.
 *   "live"  by Var.id: some use is reached.
 *   "deps"  by Var.id, the expressions that the value is made of.
 *   "work"  live Vars whose "deps" are still to be marked. */
typedef struct Live {
    Arena *arena;
    bool *live;
    ExprVec *deps;
    VarVec work;
} Live;

/* Marks the variables of 'e' as used; their definitions are looked at later. A
 * Var is pushed once, when it becomes live. */
static void
mark_expr(Live *lv, const Expr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->op == E_VAR && !lv->live[e->var->id]) {
        lv->live[e->var->id] = true;
        vec_push(lv->arena, &lv->work, e->var);
    }
    for (int i = 0; i < e->nargs; i++) {
        mark_expr(lv, e->args[i]);
    }
}

/* Notes that the value of 'var' is made of 'e', among others. */
static void
depend(Live *lv, const Var *var, Expr *e)
{
    vec_push(lv->arena, &lv->deps[var->id], e);
}

/* A carry is made of its first and its next value; what it is called behind the
 * loop is made of the carry. So a carry that only feeds itself, a counter
 * nobody looks at, is not live. */
static void
note_carries(Live *lv, const Stmt *s)
{
    for (int i = 0; i < s->ncarries; i++) {
        const Carry *carry = &s->carries[i];
        depend(lv, carry->var, carry->init);
        depend(lv, carry->var, carry->next);
        depend(lv, carry->out, ir_ref(lv->arena, carry->var));
    }
}

/* The extents of a buffer that is made or named; NULL is none. */
static void
mark_extents(Live *lv, const Buf *buf)
{
    for (int i = 0; buf && i < buf->rank; i++) {
        mark_expr(lv, buf->dims[i]);
    }
}

/* Notes what a statement defines and marks what it uses at once. Here "value"
 * is a stored value, a condition or a fill's: always used. */
static void
note_stmt(void *data, Stmt *s)
{
    Live *lv = data;
    if (s->kind == S_LET) {
        depend(lv, s->var, s->value);
    } else {
        mark_expr(lv, s->value);
    }
    mark_expr(lv, s->lo);
    mark_expr(lv, s->hi);
    mark_expr(lv, s->until);
    for (int i = 0; i < s->nindex; i++) {
        mark_expr(lv, s->index[i]);
    }
    if (s->kind == S_ALLOC || s->kind == S_VIEW) {
        mark_extents(lv, s->buf);
    }
    for (int i = 0; i < s->nbinds; i++) {
        mark_extents(lv, s->binds[i].var);
        mark_extents(lv, s->binds[i].out);
    }
    for (int i = 0; i < s->njoins; i++) {
        depend(lv, s->joins[i].out, s->joins[i].then_val);
        depend(lv, s->joins[i].out, s->joins[i].else_val);
    }
    note_carries(lv, s);
}

/* Nothing is used but what stores, checks, warnings, conditions, bounds, sizes
 * and results need, directly or through definitions. The reverse of a walk from
 * definitions to uses: every Var is taken off the list once, so the time is
 * that of reading the function. */
const bool *
c_live(Arena *arena, const Func *func)
{
    Live lv = {.arena = arena};
    lv.live = ARENA_ARRAY(arena, bool, func->next_id + 1);
    lv.deps = ARENA_ARRAY(arena, ExprVec, func->next_id + 1);
    ir_each_stmt(&func->body, note_stmt, &lv);
    for (int i = 0; i < func->rets.n; i++) {
        mark_expr(&lv, func->rets.at[i].value);
    }
    while (lv.work.n > 0) {
        const Var *var = lv.work.at[--lv.work.n];
        for (int i = 0; i < lv.deps[var->id].n; i++) {
            mark_expr(&lv, lv.deps[var->id].at[i]);
        }
    }
    return lv.live;
}


/* An ALLOC counts: its pointer must not be one to const. What is true of one
 * name is noted of its group. */
static void
note_stored(void *data, Stmt *s)
{
    bool *stored = data;
    if (ir_writes(s) || s->kind == S_ALLOC) {
        stored[s->buf->id] = true;
        stored[s->buf->group ? s->buf->group->id : s->buf->id] = true;
    }
}

/* 'buf' is written if its group is. */
static void
share_stored(bool *stored, const Buf *buf)
{
    if (buf && buf->group) {
        stored[buf->id] |= stored[buf->group->id];
    }
}

/* All names that 's' gives. */
static void
share_stmt(void *data, Stmt *s)
{
    share_stored(data, s->buf);
    for (int i = 0; i < s->nbinds; i++) {
        share_stored(data, s->binds[i].var);
        share_stored(data, s->binds[i].out);
    }
}

const bool *
c_stored(Arena *arena, const Func *func)
{
    bool *stored = ARENA_ARRAY(arena, bool, func->next_id + 1);
    ir_each_stmt(&func->body, note_stored, stored);
    for (int i = 0; i < func->params.n; i++) {
        share_stored(stored, func->params.at[i].buf);
    }
    ir_each_stmt(&func->body, share_stmt, stored);
    return stored;
}

/* --- needs --------------------------------------------------------------- */

/* The search for what comes from outside.
 *
 *   "g"  the emitter, for what is live and named.
 *   "inside"  by id of Vars and Bufs, defined by the code at hand.
 *   "seen"  by id, one bit per Need of a Var or Buf: 1 for it, 4 << axis for
 *       extents, 1024 << axis for strides.
 *   "out"  the list, in the order of first use: the same for equal functions.
 */
typedef struct Needs {
    Gen *g;
    const bool *inside;
    uint32_t *seen;
    NeedVec out;
} Needs;

/* Joins and carries' outs are defined in the block around the statement,
 * the loop variable and carries inside; ids tell them apart well enough. */
static void
define_stmt(void *data, Stmt *s)
{
    bool *inside = data;
    if (s->kind == S_LET || s->kind == S_FOR) {
        inside[s->var->id] = true;
    }
    if (s->kind == S_ALLOC || s->kind == S_VIEW) {
        inside[s->buf->id] = true;
    }
    for (int i = 0; i < s->nbinds; i++) {
        inside[s->binds[i].out->id] = true;
        inside[(s->binds[i].var ? s->binds[i].var : s->binds[i].out)->id] =
            true;
    }
    for (int i = 0; i < s->njoins; i++) {
        inside[s->joins[i].out->id] = true;
    }
    for (int i = 0; i < s->ncarries; i++) {
        inside[s->carries[i].var->id] = true;
        inside[s->carries[i].out->id] = true;
    }
}

/* Lists 'what' once, unless the code at hand defines it itself. */
static void
need(Needs *needs, NeedKind kind, int id, Need what)
{
    uint32_t bit = kind == NEED_EXTENT   ? UINT32_C(4) << what.axis
                   : kind == NEED_STRIDE ? UINT32_C(4) << (8 + what.axis)
                                         : 1u;
    if (needs->inside[id] || (needs->seen[id] & bit) != 0) {
        return;
    }
    needs->seen[id] |= bit;
    what.kind = kind;
    vec_push(needs->g->arena, &needs->out, what);
}

/* 'var', unless it is defined inside or listed already. */
static void
need_var(Needs *needs, const Var *var)
{
    need(needs, NEED_VAR, var->id, (Need){.var = var});
}

/* By way of what the extent is: a constant needs nothing, an extent that is
 * a variable needs the variable. */
static void
need_extent(Needs *needs, const Buf *buf, int axis)
{
    const Expr *e = c_extent_of(&buf, &axis);
    if (e->op == E_VAR) {
        need_var(needs, e->var);
    } else if (e->op != E_CONST) {
        need(needs, NEED_EXTENT, buf->id, (Need){.buf = buf, .axis = axis});
    }
}

/* Of packed memory it is made of extents, or it is known. */
static void
need_stride(Needs *needs, const Buf *buf, int axis)
{
    if (!c_packed(buf) && buf->steps[axis] == 0) {
        need(needs, NEED_STRIDE, buf->id, (Need){.buf = buf, .axis = axis});
    }
    for (int k = axis + 1; c_packed(buf) && k < buf->rank; k++) {
        need_extent(needs, buf, k);
    }
}

/* What the address of an element is computed from. A packed buffer's first
 * extent is no part of any address. */
static void
need_element(Needs *needs, const Buf *buf)
{
    need(needs, NEED_DATA, buf->id, (Need){.buf = buf});
    for (int k = 0; k < buf->rank; k++) {
        if (!c_packed(buf)) {
            need_stride(needs, buf, k);
        } else if (k > 0) {
            need_extent(needs, buf, k);
        }
    }
}

/* All that the C text of 'e' names.  DISJOINT asks the call's table itself. */
static void
need_expr(Needs *needs, const Expr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->op == E_VAR) {
        need_var(needs, e->var);
    } else if (e->op == E_DIM) {
        need_extent(needs, e->buf, e->axis);
    } else if (e->op == E_STRIDE) {
        need_stride(needs, e->buf, e->axis);
    } else if (ir_reads(e)) {
        need_element(needs, e->buf);
    }
    for (int i = 0; i < e->nargs; i++) {
        need_expr(needs, e->args[i]);
    }
}

/* Joins and carries that are not live are not written, nor needed. */
static void
need_outs(Needs *needs, const Stmt *s)
{
    const bool *live = needs->g->live;
    for (int i = 0; i < s->njoins; i++) {
        if (live[s->joins[i].out->id]) {
            need_expr(needs, s->joins[i].then_val);
            need_expr(needs, s->joins[i].else_val);
        }
    }
    for (int i = 0; i < s->ncarries; i++) {
        if (live[s->carries[i].var->id]) {
            need_expr(needs, s->carries[i].init);
            need_expr(needs, s->carries[i].next);
        }
    }
}

/* What names are given: with the address goes what strides are made of. */
static void
need_names(Needs *needs, const Stmt *s)
{
    if (s->kind == S_VIEW) {
        need_element(needs, s->src);
    }
    for (int i = 0; i < s->nbinds; i++) {
        need_element(needs, s->binds[i].init);
        need_element(needs, s->binds[i].next);
    }
}

/* As c_statements writes it: an unused LET is not there. */
static void
need_stmt(void *data, Stmt *s)
{
    Needs *needs = data;
    if (s->kind == S_LET && !needs->g->live[s->var->id]) {
        return;
    }
    need_expr(needs, s->value);
    need_expr(needs, s->lo);
    need_expr(needs, s->hi);
    need_expr(needs, s->until);
    for (int i = 0; i < s->nindex; i++) {
        need_expr(needs, s->index[i]);
    }
    need_outs(needs, s);
    need_names(needs, s);
    if (s->kind == S_STORE || s->kind == S_FILL || s->kind == S_ROUTINE) {
        need_element(needs, s->buf);
    }
    for (int k = 0; (s->kind == S_FILL || s->kind == S_ALLOC) &&
                    k < s->buf->rank; k++) {
        need_extent(needs, s->buf, k);
        need_expr(needs, s->kind == S_ALLOC ? s->buf->dims[k] : NULL);
    }
}

const bool *
c_defined(Gen *g, const Block *block, const Var *also)
{
    bool *inside = ARENA_ARRAY(g->arena, bool, g->func->next_id + 1);
    ir_each_stmt(block, define_stmt, inside);
    if (also) {
        inside[also->id] = true;
    }
    return inside;
}

NeedVec
c_needs(Gen *g, const Block *block, const Stmt *loop)
{
    Needs needs = {.g = g};
    needs.inside = c_defined(g, block, loop ? loop->var : NULL);
    needs.seen = ARENA_ARRAY(g->arena, uint32_t, g->func->next_id + 1);
    ir_each_stmt(block, need_stmt, &needs);
    for (int i = 0; !loop && i < g->func->rets.n; i++) {
        need_expr(&needs, g->func->rets.at[i].value);
    }
    return needs.out;
}

/* Through casts between integers and choices, which the C compiler sees through
 * too. bool is a comparison by then, which hides nothing. */
bool
c_comes_from_float(const bool *truncated, const Expr *e)
{
    if (dtype_is_float(e->dtype) || e->dtype == DT_BOOL) {
        return false;
    }
    if (e->op == E_VAR) {
        return truncated[e->var->id];
    }
    if (e->op != E_CAST && e->op != E_SELECT && e->op != E_MIN &&
        e->op != E_MAX) {
        return false;
    }
    bool found = e->op == E_CAST && dtype_is_float(e->args[0]->dtype);
    for (int i = e->op == E_SELECT; i < e->nargs && !found; i++) {
        found = c_comes_from_float(truncated, e->args[i]);
    }
    return found;
}

/* Joins and carries by what they are made of, as far as that is known yet. */
static void
note_truncated(void *data, Stmt *s)
{
    bool *truncated = data;
    if (s->kind == S_LET) {
        truncated[s->var->id] = c_comes_from_float(truncated, s->value);
    }
    for (int i = 0; i < s->ncarries; i++) {
        truncated[s->carries[i].var->id] |=
            c_comes_from_float(truncated, s->carries[i].init) ||
            c_comes_from_float(truncated, s->carries[i].next);
        truncated[s->carries[i].out->id] = truncated[s->carries[i].var->id];
    }
    for (int i = 0; i < s->njoins; i++) {
        truncated[s->joins[i].out->id] =
            c_comes_from_float(truncated, s->joins[i].then_val) ||
            c_comes_from_float(truncated, s->joins[i].else_val);
    }
}

/* Twice, because joins and carries are seen before what is inside. */
const bool *
c_truncated(Arena *arena, const Func *func)
{
    bool *truncated = ARENA_ARRAY(arena, bool, func->next_id + 1);
    ir_each_stmt(&func->body, note_truncated, truncated);
    ir_each_stmt(&func->body, note_truncated, truncated);
    return truncated;
}

/* For ir_each_stmt. */
static void
note_value(void *data, Stmt *s)
{
    Expr **values = data;
    if (s->kind == S_LET) {
        values[s->var->id] = s->value;
    }
}

Expr *const *
c_values(Arena *arena, const Func *func)
{
    Expr **values = ARENA_ARRAY(arena, Expr *, func->next_id + 1);
    ir_each_stmt(&func->body, note_value, values);
    return values;
}
