/* Copies of code that share no definition with the original.
 *
 * Cloning serves two masters.  ir_clone duplicates code inside a function
 * (unrolling, region splitting), so all that the code defines must become
 * fresh, else a Var would be assigned twice.  ir_clone_func copies a function
 * into another arena, so nothing may be shared, and every id is kept: the copy
 * prints as the original does.
 *
 *     let %x.3 = (add %i.1 1)             let %x.7 = (add %i.1 1)
 *     store &a.0[%x.3] = 1.0       ->     store &a.0[%x.7] = 1.0
 *
 * Both go through the code in the order of its definitions, so that a use finds
 * in the map what its definition has become.
 */
#include <string.h>

#include "csrc/ir/ir.h"

/* "func" receives the clone.  "whole": a copy into another arena that keeps
 * ids and shares nothing; then "map" also leads from every Expr to its copy. */
typedef struct Clone {
    Func *func;
    Map *map;
    bool whole;
} Clone;

static Expr *clone_expr(Clone *c, Expr *e);

/* A new Var for 'var', entered in the map as a reference, so that one map
 * serves ir_subst as well.  The name stays, the id tells them apart in print. A
 * whole copy may have met it before its definition, as the extent of a buffer.
 * NULL for the Var of a WHILE. */
static Var *
fresh_var(Clone *c, Var *var)
{
    Expr *known = c->whole && var ? map_get(c->map, var) : NULL;
    if (!var || known) {
        return known ? known->var : NULL;
    }
    Var *fresh = c->whole ? arena_copy(c->func->arena, var, sizeof(Var))
                          : ir_var(c->func, var->name, var->dtype, var->lanes);
    map_set(c->map, var, ir_ref(c->func->arena, fresh));
    return fresh;
}

/* The Var that stands for 'var', which is not defined here (whole: perhaps not
 * yet). A map entry that is no reference (a constant in place of a SET
 * variable) is of no use as a target. */
static Var *
mapped_var(Clone *c, Var *var)
{
    Expr *ref = map_get(c->map, var);
    if (ref && ref->op == E_VAR) {
        return ref->var;
    }
    return c->whole ? fresh_var(c, var) : var;
}

static Buf *mapped_buf(Clone *c, Buf *buf);

/* The dims come last: those of an argument name the Buf itself. A whole copy
 * takes "dims" from the old arena to the new one in the same step, and "group",
 * which is only compared and else may stay that of the original. */
static Buf *
fresh_buf(Clone *c, Buf *buf)
{
    Buf *fresh = arena_copy(c->func->arena, buf, sizeof(Buf));
    if (!c->whole) {
        fresh->id = c->func->next_id++;
    }
    map_set(c->map, buf, fresh);
    for (int i = 0; i < buf->rank; i++) {
        fresh->dims[i] = clone_expr(c, buf->dims[i]);
    }
    fresh->group = c->whole ? mapped_buf(c, buf->group) : buf->group;
    int words = c->whole ? (buf->napart + 63) / 64 : 0;
    fresh->napart = c->whole ? buf->napart : 0;
    fresh->apart = words ? arena_copy(c->func->arena, buf->apart,
                                      sizeof(uint64_t) * (size_t)words)
                         : NULL;
    return fresh;
}

/* The Buf that stands for 'buf' in the clone. */
static Buf *
mapped_buf(Clone *c, Buf *buf)
{
    if (!buf) {
        return NULL;
    }
    Buf *other = map_get(c->map, buf);
    if (other) {
        return other;
    }
    return c->whole ? fresh_buf(c, buf) : buf;
}

/* The copy of a name that the clone defines. */
static Buf *
named_buf(Clone *c, Buf *buf)
{
    return c->whole ? mapped_buf(c, buf) : fresh_buf(c, buf);
}

/* In a whole copy every node is made anew, since the old arena may go. The hash
 * is copied with the rest. */
static Expr *
copy_node(Clone *c, const Expr *e)
{
    Arena *arena = c->func->arena;
    Expr *copy = arena_copy(arena, e, sizeof(Expr));
    copy->args = ARENA_ARRAY(arena, Expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        copy->args[i] = clone_expr(c, e->args[i]);
    }
    switch ((int)e->op) {
    case E_VAR:
        copy->var = mapped_var(c, e->var);
        break;
    case E_DISJOINT:
        copy->buf2 = mapped_buf(c, e->buf2);
        copy->buf = mapped_buf(c, e->buf);
        break;
    case E_LOAD:
    case E_SUM:
    case E_DIM:
    case E_STRIDE:
        copy->buf = mapped_buf(c, e->buf);
        break;
    default:
        break;
    }
    return copy;
}

/* Ids are kept in a whole copy, so the hash of a node remains right. Inside a
 * function an expression is immutable and may be shared with the original, so
 * only what names something cloned is built anew; the map of a whole copy also
 * keeps shared nodes shared. */
static Expr *
clone_expr(Clone *c, Expr *e)
{
    if (!e) {
        return NULL;
    }
    if (!c->whole) {
        return ir_subst(c->func->arena, e, c->map);
    }
    Expr *copy = map_get(c->map, e);
    if (!copy) {
        copy = copy_node(c, e);
        map_set(c->map, e, copy);
    }
    return copy;
}

static Block clone_block(Clone *c, const Block *block);

/* The Buf of a statement: what an ALLOC makes is new, and so is a VIEW's name.
 * But a result is made once in its function, so it stays itself: its clone is
 * there to replace the original, and its dims go over to the clone's names. */
static Buf *
clone_stmt_buf(Clone *c, const Stmt *s)
{
    if ((s->kind != S_ALLOC && s->kind != S_VIEW) || c->whole) {
        return mapped_buf(c, s->buf);
    }
    if (s->buf->kind != BUF_RESULT) {
        return fresh_buf(c, s->buf);
    }
    for (int i = 0; i < s->buf->rank; i++) {
        s->buf->dims[i] = clone_expr(c, s->buf->dims[i]);
    }
    return s->buf;
}

/* The values see the branches; the outs come into scope after both. Two loops,
 * since the values of all joins stand before the first out. */
static void
clone_joins(Clone *c, Stmt *copy)
{
    for (int i = 0; i < copy->njoins; i++) {
        Join *join = &copy->joins[i];
        join->then_val = clone_expr(c, join->then_val);
        join->else_val = clone_expr(c, join->else_val);
    }
    for (int i = 0; i < copy->nbinds; i++) {
        Bind *bind = &copy->binds[i];
        bind->init = mapped_buf(c, bind->init);
        bind->next = mapped_buf(c, bind->next);
    }
    for (int i = 0; i < copy->njoins; i++) {
        copy->joins[i].out = fresh_var(c, copy->joins[i].out);
    }
    for (int i = 0; i < copy->nbinds; i++) {
        copy->binds[i].out = named_buf(c, copy->binds[i].out);
    }
}

/* The parts of the Binds of a loop, each in its place as those of carries: the
 * first names, those inside, the next ones, those behind the loop. Extents may
 * be carried, so names follow the carries' Vars. */
static void
clone_inits(Clone *c, Stmt *copy)
{
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].init = clone_expr(c, copy->carries[i].init);
    }
    for (int i = 0; i < copy->nbinds; i++) {
        copy->binds[i].init = mapped_buf(c, copy->binds[i].init);
    }
}

static void
clone_vars(Clone *c, Stmt *copy)
{
    copy->var = fresh_var(c, copy->var);
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].var = fresh_var(c, copy->carries[i].var);
    }
    for (int i = 0; i < copy->nbinds; i++) {
        copy->binds[i].var = named_buf(c, copy->binds[i].var);
    }
}

static void
clone_nexts(Clone *c, Stmt *copy)
{
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].next = clone_expr(c, copy->carries[i].next);
    }
    for (int i = 0; i < copy->nbinds; i++) {
        copy->binds[i].next = mapped_buf(c, copy->binds[i].next);
    }
}

static void
clone_outs(Clone *c, Stmt *copy)
{
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].out = fresh_var(c, copy->carries[i].out);
    }
    for (int i = 0; i < copy->nbinds; i++) {
        copy->binds[i].out = named_buf(c, copy->binds[i].out);
    }
}

/* The parts of a loop in the order in which its Vars come into scope. "init" is
 * outside and sees none of them; "next" and "until" are inside and see the
 * body's; the outs come last. */
static void
clone_loop(Clone *c, Stmt *copy)
{
    if (!c->whole) {
        copy->id = c->func->next_id++;
    }
    clone_inits(c, copy);
    clone_vars(c, copy);
    copy->pre = clone_block(c, &copy->pre);
    if (copy->kind == S_WHILE) {
        copy->value = clone_expr(c, copy->value);
    }
    copy->body = clone_block(c, &copy->body);
    clone_nexts(c, copy);
    copy->until = clone_expr(c, copy->until);
    clone_outs(c, copy);
}

/* Values before definitions, so that a statement never sees its own. The values
 * of a loop other than its bounds are cloned by clone_loop, in their places
 * among its Vars. */
static Stmt *
clone_stmt(Clone *c, const Stmt *s)
{
    Stmt *copy = ir_copy_stmt(c->func->arena, s);
    copy->lo = clone_expr(c, s->lo);
    copy->hi = clone_expr(c, s->hi);
    for (int i = 0; i < s->nindex; i++) {
        copy->index[i] = clone_expr(c, s->index[i]);
    }
    copy->src = mapped_buf(c, s->src);
    copy->buf = clone_stmt_buf(c, s);
    if (s->kind == S_FOR || s->kind == S_WHILE) {
        clone_loop(c, copy);
        return copy;
    }
    copy->value = clone_expr(c, s->value);
    copy->body = clone_block(c, &s->body);
    copy->els = clone_block(c, &s->els);
    clone_joins(c, copy);
    if (s->kind == S_LET) {
        copy->var = fresh_var(c, s->var);
    } else if (s->kind == S_SET) {
        copy->var = mapped_var(c, s->var);
    }
    return copy;
}

/* 'block' with all below it; names of earlier statements are in the map when a
 * later one asks. */
static Block
clone_block(Clone *c, const Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        vec_push(c->func->arena, &out, clone_stmt(c, block->at[i]));
    }
    return out;
}

/* Who wants several copies of one block gives each a map of its own: the map
 * remembers the Vars of one copy. */
Block
ir_clone(Func *func, const Block *block, Map *map)
{
    Clone c = {func, map, false};
    return clone_block(&c, block);
}

/* Parameters first: their Vars and Bufs are what the body refers to. The rest
 * of Func is copied as it is, next_id included: nothing gets a new id. */
Func *
ir_clone_func(Arena *arena, const Func *func)
{
    Func *copy = arena_copy(arena, func, sizeof(Func));
    Map map = map_new(arena);
    Clone c = {copy, &map, true};
    copy->arena = arena;
    memset(&copy->params, 0, sizeof(copy->params));
    memset(&copy->rets, 0, sizeof(copy->rets));

    for (int i = 0; i < func->params.n; i++) {
        Param param = func->params.at[i];
        param.var = fresh_var(&c, param.var);
        param.buf = mapped_buf(&c, param.buf);
        vec_push(arena, &copy->params, param);
    }
    copy->body = clone_block(&c, &func->body);
    for (int i = 0; i < func->rets.n; i++) {
        Ret ret = func->rets.at[i];
        ret.value = clone_expr(&c, ret.value);
        ret.buf = mapped_buf(&c, ret.buf);
        vec_push(arena, &copy->rets, ret);
    }
    return copy;
}
