/* Pass unroll: loops of few constant rounds become straight code.
 *
 *     for c in 0 .. 3 {                   store out[y, x, 0] = ...
 *         store out[y, x, c] = ...   ->   store out[y, x, 1] = ...
 *     }                                   store out[y, x, 2] = ...
 *
 * Innermost first, so a 3 x 3 window becomes nine lines.  A loop around a loop
 * that stays is left alone: copying whole nests gains nothing.  What a loop
 * carries is handed from copy to copy; after a round with a true "until" the
 * rest must not happen, so the rest goes into an IF and what it hands out into
 * its joins.  pass simplify then folds the indices and conditions.
 */
#include "transforms/transforms.h"

enum {
    MAX_TRIPS = 8,
    MAX_COPIES = 400,     /* nodes of all copies of an ordinary body */
    MAX_FOLDING = 1200,   /* if the loop's variable picks lanes or branches */
    MAX_FUNCTION = 20000, /* nodes of the whole function */
};

/* The pass's state.
 *   "pass"  arenas and remarks
 *   "func"  the new function
 *   "size"  of the function in nodes, as it grows
 *   "done"  loops that were written out */
typedef struct Unroll {
    Pass *pass;
    Func *func;
    int size; /* of the function, as it grows */
    int done;
} Unroll;

/* --- match --------------------------------------------------------------- */

/* A search for uses of "var" that fold; "found" once there was one. */
typedef struct Folds {
    const Var *var;
    bool found;
} Folds;

/* Does a use of the loop's variable in 'e' fold to something better than a
 * number: a lane, a decided condition? */
static bool
expr_folds(const Expr *e, const Var *var)
{
    bool picks = e->op == E_ELEM || e->op == E_INSERT;
    bool decides = ir_op_kind(e->op) == 'C';
    if (picks && ir_uses(e->args[1], var)) {
        return true;
    }
    if (decides && ir_uses(e, var) &&
        (ir_is_const(e->args[0]) || ir_is_const(e->args[1]))) {
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (expr_folds(e->args[i], var)) {
            return true;
        }
    }
    return false;
}

/* For ir_each_expr. */
static void
slot_folds(void *data, Expr **slot)
{
    Folds *folds = data;
    folds->found = folds->found || expr_folds(*slot, folds->var);
}

/* For ir_each_stmt. */
static void
stmt_folds(void *data, Stmt *s)
{
    ir_each_expr(s, slot_folds, data);
}

/* Is a loop left in 'block'?  Inner ones that could be written out are gone
 * by now. */
static bool
has_loop(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_FOR || s->kind == S_WHILE || has_loop(&s->body) ||
            has_loop(&s->els)) {
            return true;
        }
    }
    return false;
}

/* May 'loop' be written out?  A loop that runs once is simplify's; what names a
 * loop gives to arrays in turn has no form outside of it. */
static bool
can_unroll(const Unroll *u, const Stmt *loop)
{
    int64_t trips = loop_trips(loop);
    if (trips < 1 || trips > MAX_TRIPS || has_loop(&loop->body) ||
        loop->nbinds > 0) {
        return false;
    }
    Folds folds = {loop->var, false};
    ir_each_stmt(&loop->body, stmt_folds, &folds);
    int size = (int)trips * ir_size(&loop->body);
    return size <= (folds.found ? MAX_FOLDING : MAX_COPIES) &&
           u->size + size <= MAX_FUNCTION;
}

/* --- rewrite ------------------------------------------------------------- */

/* Append the statements of 'block'. */
static void
push_all(Arena *arena, Block *out, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        vec_push(arena, out, block->at[i]);
    }
}

/* 'e' by a name, so that copies share it instead of growing it: the next round
 * may use a carry many times. A scalar that stands for a vector gets a name
 * with the carry's lanes. */
static Expr *
name_value(Unroll *u, Block *out, const Carry *carry, Expr *e, Loc loc)
{
    bool leaf = e->op == E_CONST || e->op == E_VAR;
    if (leaf && e->lanes == carry->var->lanes) {
        return e;
    }
    Var *var = ir_var(u->func, carry->var->name, carry->var->dtype,
                      carry->var->lanes);
    vec_push(u->pass->arena, out, ir_let(u->pass->arena, var, e, loc));
    return ir_ref(u->pass->arena, var);
}

/* if not 'until' { rest }, whose joins take the place of 'values': after the
 * rest where it ran, else as the last round left them. */
static void
guard_rest(Unroll *u, const Stmt *loop, Expr *until, const Block *rest,
           Expr **values, Expr *const *after, Block *out)
{
    Arena *arena = u->pass->arena;
    Stmt *guard = ir_stmt(arena, S_IF, loop->loc);
    guard->value = ir_unary(arena, E_NOT, until);
    guard->body = *rest;
    guard->njoins = loop->ncarries;
    guard->joins = ARENA_ARRAY(arena, Join, loop->ncarries);
    for (int i = 0; i < loop->ncarries; i++) {
        const Var *var = loop->carries[i].var;
        Join *join = &guard->joins[i];
        join->out = ir_var(u->func, var->name, var->dtype, var->lanes);
        join->then_val = after[i];
        join->else_val = values[i];
        values[i] = ir_ref(arena, join->out);
    }
    vec_push(arena, out, guard);
}

/* Append rounds 'from' and later to 'out'; 'values' are the carries before and
 * after. "next" is substituted with the carries as this round found them. With
 * "until" what is left nests: round by round, one IF within another. */
static void
write_rounds(Unroll *u, const Stmt *loop, int64_t from, Expr **values,
             Block *out)
{
    Arena *arena = u->pass->arena;
    int64_t lo = 0;
    int n = loop->ncarries;
    Map map = map_new(u->pass->scratch);
    ir_const_int(loop->lo, &lo);
    map_set(&map, loop->var, ir_int(arena, loop->var->dtype, lo + from));
    for (int i = 0; i < n; i++) {
        map_set(&map, loop->carries[i].var, values[i]);
    }
    Block body = ir_clone(u->func, &loop->body, &map);
    push_all(arena, out, &body);
    for (int i = 0; i < n; i++) {
        Expr *next = ir_subst(arena, loop->carries[i].next, &map);
        values[i] = name_value(u, out, &loop->carries[i], next, loop->loc);
    }
    if (from + 1 == loop_trips(loop)) {
        return;
    }
    if (loop->until == NULL) {
        write_rounds(u, loop, from + 1, values, out);
        return;
    }
    Expr *until = ir_subst(arena, loop->until, &map);
    Expr **after = arena_copy(arena, values, sizeof(Expr *) * (size_t)(n + 1));
    Block rest = {0};
    write_rounds(u, loop, from + 1, after, &rest);
    guard_rest(u, loop, until, &rest, values, after, out);
}

/* Inits by name, the rounds, and a LET for all that the loop hands out, under
 * the old names. */
static void
write_out(Unroll *u, const Stmt *loop, Block *out)
{
    Arena *arena = u->pass->arena;
    Expr **values = ARENA_ARRAY(arena, Expr *, loop->ncarries + 1);
    for (int i = 0; i < loop->ncarries; i++) {
        values[i] = loop->carries[i].init;
        values[i] = name_value(u, out, &loop->carries[i], values[i],
                               loop->loc);
    }
    write_rounds(u, loop, 0, values, out);
    for (int i = 0; i < loop->ncarries; i++) {
        vec_push(arena, out, ir_let(arena, loop->carries[i].out, values[i],
                                    loop->loc));
    }
}

/* For ir_map_block, which goes from the inside out. */
static void
unroll_stmt(void *data, Block *out, Stmt *s)
{
    Unroll *u = data;
    if (s->kind != S_FOR || !can_unroll(u, s)) {
        vec_push(u->pass->arena, out, s);
        return;
    }
    int64_t trips = loop_trips(s);
    u->size += (int)trips * ir_size(&s->body);
    u->done++;
    diag_remark(u->pass->diags, DIAG_UNROLLED, s->loc,
                "the loop's %d rounds are written out", (int)trips);
    write_out(u, s, out);
}

/* Left alone, 'func' is returned as it came. */
Func *
pass_unroll(Pass *pass, Func *func)
{
    Func *copy = arena_copy(pass->arena, func, sizeof(Func));
    Unroll u = {pass, copy, ir_size(&func->body), 0};
    copy->body = ir_map_block(pass->arena, &func->body, unroll_stmt, &u);
    return u.done > 0 ? simplify(pass, copy) : func;
}
