/* Walks over trees: comparing, searching, substituting, rewriting, cloning.
 *
 * Expressions are immutable and may be shared, so every rewrite returns the
 * very node it was given where nothing below has changed: a pass can compare
 * pointers to see whether it did anything, and untouched parts cost no memory.
 *
 * Cloning serves two masters.  ir_clone duplicates code inside a function
 * (unrolling, region splitting), so all that the code defines must become
 * fresh, else a Var would be assigned twice.  ir_clone_func copies a function
 * into another arena, so nothing may be shared, and every id is kept: the copy
 * prints as the original does.
 */
#include <string.h>

#include "csrc/ir/ir.h"

/* --- questions about expressions ---------------------------------------- */

/* Constants are compared as bits: 0.0 and -0.0 differ, a nan equals itself. So
 * two nodes are equal exactly when a kernel can't tell their values apart: a
 * -0.0 may not stand in for a 0.0. */
static bool
equal_payload(const Expr *lhs, const Expr *rhs)
{
    switch ((int)lhs->op) {
    case E_CONST:
        return memcmp(&lhs->ival, &rhs->ival, sizeof(lhs->ival)) == 0;
    case E_VAR:
        return lhs->var == rhs->var;
    case E_LOAD:
        return lhs->buf == rhs->buf;
    case E_DIM:
    case E_SUM:
        return lhs->buf == rhs->buf && lhs->axis == rhs->axis;
    case E_DISJOINT:
        return lhs->buf == rhs->buf && lhs->buf2 == rhs->buf2;
    case E_CALL:
        return lhs->fn == rhs->fn;
    default:
        return true;
    }
}

/* Hashes first, so unequal trees nearly always part at the root; the walk that
 * follows makes a collision harmless. A shared subtree costs one pointer
 * comparison. */
bool
ir_equal(const Expr *lhs, const Expr *rhs)
{
    if (lhs == rhs) {
        return true;
    }
    if (!lhs || !rhs || lhs->hash != rhs->hash || lhs->op != rhs->op ||
        lhs->dtype != rhs->dtype || lhs->lanes != rhs->lanes ||
        lhs->nargs != rhs->nargs || !equal_payload(lhs, rhs)) {
        return false;
    }
    for (int i = 0; i < lhs->nargs; i++) {
        if (!ir_equal(lhs->args[i], rhs->args[i])) {
            return false;
        }
    }
    return true;
}

bool
ir_reads(const Expr *e)
{
    return e->op == E_LOAD || e->op == E_SUM;
}

/* Stops at the first LOAD.  Shared parts are visited once per use: trees here
 * are small, budgets bound the rest. */
bool
ir_has_load(const Expr *e)
{
    if (ir_reads(e)) {
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (ir_has_load(e->args[i])) {
            return true;
        }
    }
    return false;
}

bool
ir_uses(const Expr *e, const Var *var)
{
    if (e->op == E_VAR) {
        return e->var == var;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (ir_uses(e->args[i], var)) {
            return true;
        }
    }
    return false;
}

bool
ir_may_share(const Buf *lhs, const Buf *rhs)
{
    return lhs == rhs || (lhs->group != NULL && lhs->group == rhs->group);
}

/* A GROW keeps all elements, but what is known of a place in memory ends with
 * it. */
bool
ir_writes(const Stmt *s)
{
    return s->kind == S_STORE || s->kind == S_FILL || s->kind == S_GROW;
}

bool
ir_is_const(const Expr *e)
{
    return e->op == E_CONST;
}

/* NULL is allowed, since bounds and 'until' may be missing.  '*out' keeps its
 * value when the answer is no. */
bool
ir_const_int(const Expr *e, int64_t *out)
{
    if (!e || e->op != E_CONST || dtype_is_float(e->dtype)) {
        return false;
    }
    *out = e->ival;
    return true;
}

/* --- rewriting expressions ---------------------------------------------- */

/* The operands are copied when the first of them changes, and not before. 'fn'
 * is called for each node, shared ones once per use, after the operands; what
 * it returns is not visited again. */
Expr *
ir_map(Arena *arena, Expr *e, ExprFn fn, void *data)
{
    Expr **args = NULL; /* made when the first operand changes */
    for (int i = 0; i < e->nargs; i++) {
        Expr *arg = ir_map(arena, e->args[i], fn, data);
        if (arg != e->args[i] && !args) {
            args =
                arena_copy(arena, e->args, sizeof(Expr *) * (size_t)e->nargs);
        }
        if (args) {
            args[i] = arg;
        }
    }
    return fn(data, args ? ir_with_args(arena, e, args) : e);
}

/*   "map"  Var * -> Expr * and Buf * -> Buf *; "arena"  for what is built anew.
 */
typedef struct Subst {
    Arena *arena;
    const Map *map;
} Subst;

/* 'buf', or what 'map' has in its place. */
static Buf *
subst_buf(const Map *map, Buf *buf)
{
    Buf *other = map_get(map, buf);
    return other ? other : buf;
}

/* A node that names a Buf, built again if 'map' replaces the Buf. The operands
 * are done already.  A LOAD keeps its lanes; its dtype becomes that of the new
 * Buf, which is the caller's affair. */
static Expr *
subst_bufs(Subst *s, Expr *e)
{
    Buf *buf = subst_buf(s->map, e->buf);
    Expr *made = e;
    if (e->op == E_DISJOINT) {
        Buf *buf2 = subst_buf(s->map, e->buf2);
        if (buf != e->buf || buf2 != e->buf2) {
            made = ir_disjoint(s->arena, buf, buf2);
        }
    } else if (buf != e->buf && e->op == E_DIM) {
        made = ir_dim(s->arena, buf, e->axis);
    } else if (buf != e->buf && e->op == E_SUM) {
        made = ir_sum(s->arena, (SumKind)e->axis, e->dtype, buf, e->args,
                      e->nargs);
    } else if (buf != e->buf) {
        made = ir_load(s->arena, buf, e->args, e->nargs, e->lanes);
    }
    return made == e ? e : ir_at(made, e->loc);
}

/* One rule for all maps: a key that is no operand's Var or Buf has no
 * effect. */
static Expr *
subst_node(void *data, Expr *e)
{
    Subst *s = data;
    switch ((int)e->op) {
    case E_VAR: {
        Expr *other = map_get(s->map, e->var);
        return other ? other : e;
    }
    case E_LOAD:
    case E_SUM:
    case E_DIM:
    case E_DISJOINT:
        return subst_bufs(s, e);
    default:
        return e;
    }
}

/* Bottom-up, so what a Var is replaced by is not searched again. So {x -> x +
 * 1} is a legal map, and {x -> y, y -> x} exchanges two names. A clone in whose
 * map nothing stands costs nothing. */
Expr *
ir_subst(Arena *arena, Expr *e, const Map *map)
{
    Subst s = {arena, map};
    return map->n ? ir_map(arena, e, subst_node, &s) : e;
}

/* --- statements --------------------------------------------------------- */

/* The dims of what an ALLOC makes belong to it: who counts uses or renames must
 * see them. They are slots and not values, so 'fn' may put another expression
 * there; in a statement that other code shares it must not (ir_copy_stmt
 * first). */
void
ir_each_expr(Stmt *s, void (*fn)(void *data, Expr **slot), void *data)
{
    Expr **slots[] = {&s->value, &s->lo, &s->hi, &s->until};
    for (int i = 0; i < (int)(sizeof(slots) / sizeof(slots[0])); i++) {
        if (*slots[i]) {
            fn(data, slots[i]);
        }
    }
    for (int i = 0; i < s->nindex; i++) {
        fn(data, &s->index[i]);
    }
    for (int i = 0; i < s->njoins; i++) {
        fn(data, &s->joins[i].then_val);
        fn(data, &s->joins[i].else_val);
    }
    for (int i = 0; i < s->ncarries; i++) {
        fn(data, &s->carries[i].init);
        fn(data, &s->carries[i].next);
    }
    for (int i = 0; s->kind == S_ALLOC && i < s->buf->rank; i++) {
        fn(data, &s->buf->dims[i]);
    }
}

/* 'pre' before 'body': the order of the text. */
void
ir_each_stmt(const Block *block, void (*fn)(void *data, Stmt *s), void *data)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        fn(data, s);
        ir_each_stmt(&s->pre, fn, data);
        ir_each_stmt(&s->body, fn, data);
        ir_each_stmt(&s->els, fn, data);
    }
}

/* NULL for none, so that an empty list takes no memory. */
static void *
copy_array(Arena *arena, const void *from, int n, size_t size)
{
    return n > 0 ? arena_copy(arena, from, (size_t)n * size) : NULL;
}

/* The Buf of an ALLOC is shared too, and with it the dims. */
Stmt *
ir_copy_stmt(Arena *arena, const Stmt *s)
{
    Stmt *copy = arena_copy(arena, s, sizeof(Stmt));
    copy->index = copy_array(arena, s->index, s->nindex, sizeof(Expr *));
    copy->joins = copy_array(arena, s->joins, s->njoins, sizeof(Join));
    copy->carries = copy_array(arena, s->carries, s->ncarries, sizeof(Carry));
    return copy;
}

/* Nested blocks first: 'fn' sees a statement that is done inside. 'fn' may thus
 * build on "body" without meeting a statement that is still to be replaced.
 * Pushing nothing deletes the statement. */
Block
ir_map_block(Arena *arena, const Block *block, StmtFn fn, void *data)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = ir_copy_stmt(arena, block->at[i]);
        s->pre = ir_map_block(arena, &s->pre, fn, data);
        s->body = ir_map_block(arena, &s->body, fn, data);
        s->els = ir_map_block(arena, &s->els, fn, data);
        fn(data, &out, s);
    }
    return out;
}

/* A counter for ir_each_stmt: of "kind", "n" so far. */
typedef struct Count {
    StmtKind kind;
    int n;
} Count;

static void
count_kind(void *data, Stmt *s)
{
    Count *count = data;
    count->n += s->kind == count->kind;
}

int
ir_count(const Func *func, StmtKind kind)
{
    Count count = {kind, 0};
    ir_each_stmt(&func->body, count_kind, &count);
    return count.n;
}

/* Shared nodes count each time: it is the size of the text that budgets are
 * about. */
static int
expr_size(const Expr *e)
{
    int n = 1;
    for (int i = 0; i < e->nargs; i++) {
        n += expr_size(e->args[i]);
    }
    return n;
}

static void
add_expr_size(void *data, Expr **slot)
{
    int *n = data;
    *n += expr_size(*slot);
}

static void
add_stmt_size(void *data, Stmt *s)
{
    int *n = data;
    *n += 1;
    ir_each_expr(s, add_expr_size, data);
}

int
ir_size(const Block *block)
{
    int n = 0;
    ir_each_stmt(block, add_stmt_size, &n);
    return n;
}

/* --- cloning ------------------------------------------------------------ */

/* "func" receives the clone.  "whole": a copy into another arena that keeps
 * ids and shares nothing; then "map" also leads from every Expr to its copy. */
typedef struct Clone {
    Func *func;
    Map *map;
    bool whole;
} Clone;

static Expr *clone_expr(Clone *c, Expr *e);

/* A new Var for 'var', entered in the map as a reference, so that one map
 * serves ir_subst as well.  The name stays, the id tells them apart in print.
 * NULL for the Var of a WHILE. */
static Var *
fresh_var(Clone *c, Var *var)
{
    if (!var) {
        return NULL;
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

/* The dims come last: those of an argument name the Buf itself. A whole copy
 * takes "dims" from the old arena to the new one in the same step. */
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

/* In a whole copy every node is made anew, since the old arena may go. The hash
 * is copied with the rest. */
static Expr *
copy_node(Clone *c, const Expr *e)
{
    Arena *arena = c->func->arena;
    Expr *copy = arena_copy(arena, e, sizeof(Expr));
    copy->args = copy_array(arena, e->args, e->nargs, sizeof(Expr *));
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

/* The Buf of a statement: what an ALLOC makes is new.  But a result is made
 * once in its function, so it stays itself: its clone is there to replace the
 * original, and its dims go over to the clone's names. */
static Buf *
clone_stmt_buf(Clone *c, const Stmt *s)
{
    if (s->kind != S_ALLOC || c->whole) {
        return mapped_buf(c, s->buf);
    }
    if (s->buf->kind == BUF_LOCAL) {
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
    for (int i = 0; i < copy->njoins; i++) {
        copy->joins[i].out = fresh_var(c, copy->joins[i].out);
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
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].init = clone_expr(c, copy->carries[i].init);
    }
    copy->var = fresh_var(c, copy->var);
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].var = fresh_var(c, copy->carries[i].var);
    }
    copy->pre = clone_block(c, &copy->pre);
    if (copy->kind == S_WHILE) {
        copy->value = clone_expr(c, copy->value);
    }
    copy->body = clone_block(c, &copy->body);
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].next = clone_expr(c, copy->carries[i].next);
    }
    copy->until = clone_expr(c, copy->until);
    for (int i = 0; i < copy->ncarries; i++) {
        copy->carries[i].out = fresh_var(c, copy->carries[i].out);
    }
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
