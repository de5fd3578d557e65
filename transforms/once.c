/* Pass once: functions of what a loop doesn't change are called before it.
 *
 *     for y { for x {                        let c = cos(t)
 *         store out[y, x] = x * cos(t)  ->   for y { for x {
 *     }}                                         store out[y, x] = x * c }}
 *
 * The C compiler can't: to it a function that it reaches by a pointer may do
 * anything.  And a loop that calls none can run by SIMD.
 *
 * Only calls that every round makes move, out of loops that count, one loop at
 * a time from the inside out.  Of a loop that may have no round the arguments
 * are 1.0 then, of which no function warns:
 *
 *     let c = cos(select(lo < hi, t, 1.0))
 *
 * A check of such an argument, that it isn't infinite, goes the same way: it
 * fails in the first round or never, and what that round has done is undone.
 */
#include "transforms/transforms.h"

enum { MOST_CALLS = 64 };

/* The pass's state, and that of one loop.
 *   "defs"   Var * -> Stmt * that defines it in the loop
 *   "calls"  what has moved, and the names for it
 *   "out"    where it goes */
typedef struct Once {
    Pass *pass;
    Func *func;
    const Stmt *loop;
    Map defs;
    ExprVec calls;
    ExprVec names;
    Block *out;
} Once;

/* Does every round compute the same? */
static bool
is_fixed(const Once *o, const Expr *e)
{
    bool fixed = !ir_reads(e) && e->lanes == 0 &&
                 !(e->op == E_VAR && map_has(&o->defs, e->var)) &&
                 !((e->op == E_DIM || e->op == E_STRIDE) &&
                   loop_makes(o->loop, e->buf));
    for (int i = 0; i < e->nargs && fixed; i++) {
        fixed = is_fixed(o, e->args[i]);
    }
    return fixed;
}

/* A call of floats that is worth it, of which 1.0 gives no warning. */
static bool
is_costly(const Expr *e)
{
    bool costly = e->op == E_CALL && dtype_is_float(e->dtype) &&
                  (ir_fn_origin(e->fn) == 'L' || ir_fn_origin(e->fn) == 'N') &&
                  e->fn != FN_ATANH && e->fn != FN_NP_ARCTANH;
    for (int i = 0; i < e->nargs && costly; i++) {
        costly = dtype_is_float(e->args[i]->dtype);
    }
    return costly;
}

/* The call before the loop; its arguments are harmless where that has no
 * round. */
static Expr *
call_before(const Once *o, Expr *call)
{
    Arena *a = o->func->arena;
    if (loop_trips(o->loop) > 0) {
        return call;
    }
    Expr **args = ARENA_ARRAY(a, Expr *, call->nargs);
    Expr *some = ir_binary(a, E_LT, o->loop->lo, o->loop->hi);
    for (int i = 0; i < call->nargs; i++) {
        Expr *arg = call->args[i];
        Expr *harmless = ir_float(a, arg->dtype, 1.0);
        args[i] = ir_select(a, some, arg, harmless);
    }
    return ir_with_args(a, call, args);
}

/* For ir_map: a name for a call that is fixed. */
static Expr *
move_call(void *data, Expr *e)
{
    Once *o = data;
    if (!is_costly(e) || o->calls.n == MOST_CALLS) {
        return e;
    }
    Arena *a = o->func->arena;
    Expr *whole = loop_spelled_out(a, &o->defs, e);
    if (!is_fixed(o, whole)) {
        return e;
    }
    for (int i = 0; i < o->calls.n; i++) {
        if (ir_equal(o->calls.at[i], whole)) {
            return o->names.at[i];
        }
    }
    Expr *name = ir_named(o->func, o->out, ir_fn_name(e->fn),
                          call_before(o, whole), o->loop->loc);
    vec_push(a, &o->calls, whole);
    vec_push(a, &o->names, name);
    return name;
}

/* For ir_each_expr. */
static void
move_slot(void *data, Expr **slot)
{
    const Once *o = data;
    *slot = ir_map(o->func->arena, *slot, move_call, data);
}

/* For ir_each_node: is there a call? */
static void
note_call(void *data, const Expr *e)
{
    *(bool *)data |= e->op == E_CALL;
}

/* Is it a check by a function, of which pass 'checks' moves none, that each
 * round makes alike?  Then it is made before the loop, if that has a round. */
static bool
move_check(Once *o, const Stmt *s)
{
    Arena *a = o->func->arena;
    bool calls = false;
    if (s->kind != S_CHECK) {
        return false;
    }
    ir_each_node_of(s->value, note_call, &calls);
    Expr *whole = loop_spelled_out(a, &o->defs, s->value);
    if (!calls || !is_fixed(o, whole)) {
        return false;
    }
    Stmt *check = ir_copy_stmt(a, s);
    check->value = whole;
    vec_push(a, o->out, check_before(a, check, o->loop));
    return true;
}

/* The statements of the body that stay; what moves goes to "out". */
static Block
move_from(Once *o, const Block *body)
{
    Block rest = {0};
    for (int i = 0; i < body->n; i++) {
        Stmt *s = body->at[i];
        if (move_check(o, s)) {
            continue;
        }
        if (s->kind == S_LET || s->kind == S_STORE) {
            ir_each_expr(s, move_slot, o);
        }
        vec_push(o->func->arena, &rest, s);
    }
    return rest;
}

static Block once_block(Once *o, const Block *block);

/* 'loop' behind the calls that all its rounds would make. */
static void
once_loop(Once *o, Stmt *loop, Block *out)
{
    loop->body = once_block(o, &loop->body);
    bool counts = loop->kind == S_FOR && !ir_has_load(loop->lo) &&
                  !ir_has_load(loop->hi);
    if (counts) {
        Block self = {0};
        vec_push(o->pass->scratch, &self, loop);
        o->loop = loop;
        o->defs = loop_defs(o->pass->scratch, &self);
        o->calls = (ExprVec){0};
        o->names = (ExprVec){0};
        o->out = out;
        loop->body = move_from(o, &loop->body);
    }
    vec_push(o->func->arena, out, loop);
}

/* Copies of the statements, with the loops among them behind their calls. */
static Block
once_block(Once *o, const Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = ir_copy_stmt(o->func->arena, block->at[i]);
        if (s->kind == S_FOR || s->kind == S_WHILE) {
            once_loop(o, s, &out);
            continue;
        }
        s->body = once_block(o, &s->body);
        s->els = once_block(o, &s->els);
        vec_push(o->func->arena, &out, s);
    }
    return out;
}

Func *
pass_once(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Once o = {.pass = pass, .func = out};
    out->body = once_block(&o, &func->body);
    return out;
}
