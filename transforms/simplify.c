/* Pass simplify: fold, share, forward and drop scalar code.
 *
 *     let rows: i64 = dim(img, 0)
 *     for r in 0 .. rows {                for r in 0 .. dim(img, 0) {
 *         let i: i64 = add(r, 0)              store out[r] = mul(img[r], 2)
 *         if lt(i, 0) { ... }        ->   }
 *         store out[i] = mul(2, img[i])
 *     }
 *
 * One walk in program order knows, at every point,
 *   Bounds   what conditions, loop ranges and definitions say (analysis.h);
 *   Avail    which expressions a Var already holds, loads included;
 *   subst    Vars that are copies of another Var, a constant or an extent, and
 *            names that stand for one array only.
 * Expressions are rewritten bottom-up by the rules of rules.def.  Statements
 * have a handler each, below; branches are in simp_if.c, loops in simp_loop.c.
 * After the walk dead_code drops what nothing visible needs.  Both are repeated
 * until nothing changes, so that simplify is idempotent; the walk sees what the
 * last one did (a carry that is constant, a branch that became empty).
 *
 * Not done here: code motion out of loops (the C compiler does it for pure
 * arithmetic), float algebra that changes a bit, if-conversion of anything
 * that may raise a floating-point flag or read memory.
 */
#include "transforms/simplify.h"

enum { MAX_ROUNDS = 6 };

/* --- expressions --------------------------------------------------------- */

/* What a name stands for where that is known; NULL stays NULL. */
Buf *
simp_buf(const Simp *s, Buf *buf)
{
    Buf *other = buf != NULL ? map_get(&s->subst, buf) : NULL;
    return other != NULL ? other : buf;
}

/* 'e' with what its buffer's name stands for. */
static Expr *
simp_place(Simp *s, Expr *e)
{
    Buf *buf = simp_buf(s, e->buf);
    if (buf == e->buf) {
        return e;
    }
    Map map = map_new(s->scratch);
    map_set(&map, e->buf, buf);
    return ir_subst(s->arena, e, &map);
}

/* For ir_map: 'e' with operands done. */
Expr *
simp_node(void *data, Expr *e)
{
    Simp *s = data;
    if (e->op == E_VAR) {
        Expr *other = map_get(&s->subst, e->var);
        return other != NULL ? other : e;
    }
    if (ir_reads(e) || e->op == E_DIM) {
        e = simp_place(s, e);
    }
    e = rules_apply(&s->rules, e);
    if (e->nargs == 0) {
        return e;
    }
    Expr *held = avail_find(&s->avail, e);
    return held != NULL ? held : e;
}

/* NULL stays NULL. */
Expr *
simp_expr(Simp *s, Expr *e)
{
    return e == NULL ? NULL : ir_map(s->arena, e, simp_node, s);
}

/* For ir_each_expr. */
static void
simp_slot(void *data, Expr **slot)
{
    *slot = simp_expr(data, *slot);
}

/* Worth no name of its own. */
bool
simp_is_leaf(const Expr *e)
{
    return e->op == E_CONST || e->op == E_VAR || e->op == E_DIM;
}

/* Is 'e' the constant 'value'?  NULL is not. */
bool
simp_is_bool(const Expr *e, bool value)
{
    int64_t found = 0;
    return e != NULL && ir_const_int(e, &found) && (found != 0) == value;
}

/* 'var' is from now on 'e', a leaf. */
void
simp_replace_var(Simp *s, Var *var, Expr *e)
{
    map_set(&s->subst, var, e);
    bounds_define(s->rules.bounds, var, e);
    s->changes++;
}

/* The value is available from here on, and known to Bounds. */
static void
emit_let(Simp *s, Block *out, Var *var, Expr *value, Loc loc)
{
    vec_push(s->arena, out, ir_let(s->arena, var, value, loc));
    avail_add(&s->avail, value, ir_ref(s->arena, var));
    if (value->op == E_SPLAT || value->op == E_INSERT) {
        map_set(&s->rules.vectors, var, value);
    }
    bounds_define(s->rules.bounds, var, value);
}

/* The name 'ref' stands for 'buf' alone from now on. */
void
simp_replace_buf(Simp *s, Buf *ref, Buf *buf)
{
    map_set(&s->subst, ref, simp_buf(s, buf));
    s->changes++;
}

/* The extents of a name, after what they may speak of was simplified. */
void
simp_extents(Simp *s, Buf *ref)
{
    for (int i = 0; i < ref->rank; i++) {
        ref->dims[i] = simp_expr(s, ref->dims[i]);
    }
}

/* let var = value, or a substitution where the value is a leaf with the same
 * lanes: a scalar can't stand for a vector everywhere. */
void
simp_define(Simp *s, Block *out, Var *var, Expr *value, Loc loc)
{
    if (simp_is_leaf(value) && value->lanes == var->lanes) {
        simp_replace_var(s, var, value);
    } else {
        emit_let(s, out, var, value, loc);
    }
}

/* 'e' as a leaf; a LET names it where it is none. */
Expr *
simp_named(Simp *s, Block *out, Expr *e, const char *name, Loc loc)
{
    if (simp_is_leaf(e)) {
        return e;
    }
    Var *var = ir_var(s->func, name, e->dtype, e->lanes);
    emit_let(s, out, var, e, loc);
    return ir_ref(s->arena, var);
}

/* --- memory -------------------------------------------------------------- */

/* What a load of this element would now give: the value stored.  A value that
 * is no leaf gets a name first, if anything loads from the buffer.  An index
 * that is itself loaded may have changed by the store. */
static void
simp_store(Simp *s, Stmt *store, Block *out)
{
    Buf *buf = store->buf;
    bool whole = store->nindex == buf->rank || store->value->lanes > 0;
    ir_each_expr(store, simp_slot, s);
    for (int i = 0; i < store->nindex; i++) {
        whole = whole && !ir_has_load(store->index[i]);
    }
    if (map_has(&s->loaded, buf) && !simp_is_leaf(store->value) && whole) {
        store->value = simp_named(s, out, store->value, "kept", store->loc);
        s->changes++;
    }
    avail_store(&s->avail, s->rules.bounds, buf, store->index, store->nindex);
    if (map_has(&s->loaded, buf) && whole && simp_is_leaf(store->value)) {
        Expr *load = ir_load(s->arena, buf, store->index, store->nindex,
                             store->value->lanes);
        if (load->dtype == store->value->dtype) {
            avail_add(&s->avail, load, store->value);
        }
    }
    vec_push(s->arena, out, store);
}

/* All loads of the buffer are forgotten. */
static void
simp_fill(Simp *s, Stmt *fill, Block *out)
{
    ir_each_expr(fill, simp_slot, s);
    avail_store(&s->avail, s->rules.bounds, fill->buf, NULL, 0);
    vec_push(s->arena, out, fill);
}

/* Extents stay leaves: what a buffer was made with may be no leaf. */
static void
simp_view(Simp *s, Stmt *view, Block *out)
{
    ir_each_expr(view, simp_slot, s);
    for (int k = 0; k < view->buf->rank; k++) {
        Expr **extent = &view->index[view->src->rank + 2 * k];
        *extent = simp_named(s, out, *extent, view->buf->name, view->loc);
        view->buf->dims[k] = *extent;
    }
    vec_push(s->arena, out, view);
    bounds_after(s->rules.bounds, view);
}

/* --- checks -------------------------------------------------------------- */

/* A check that always fails stays: it ends the call. Behind it, its
 * condition may be relied on. */
static void
simp_check(Simp *s, Stmt *check, Block *out)
{
    check->value = simp_expr(s, check->value);
    bounds_hard(s->rules.bounds, s->pass->hard);
    bool holds = bounds_proves(s->rules.bounds, check->value);
    bounds_hard(s->rules.bounds, false);
    if (holds) {
        s->changes++;
        return;
    }
    bool known_false = simp_is_bool(check->value, false);
    if (!known_false && bounds_refutes(s->rules.bounds, check->value)) {
        check->value = ir_bool(s->arena, false);
        s->changes++;
    }
    vec_push(s->arena, out, check);
    bounds_assume(s->rules.bounds, check->value, true);
}

/* A warning that is never given goes. */
static void
simp_warn(Simp *s, Stmt *warn, Block *out)
{
    warn->value = simp_expr(s, warn->value);
    if (bounds_refutes(s->rules.bounds, warn->value)) {
        s->changes++;
        return;
    }
    vec_push(s->arena, out, warn);
}

/* --- the walk ------------------------------------------------------------ */

/* Copies 'original'; handlers own the copy. */
static void
simp_stmt(Simp *s, const Stmt *original, Block *out)
{
    Stmt *stmt = ir_copy_stmt(s->arena, original);
    stmt->buf = simp_buf(s, stmt->buf);
    stmt->src = simp_buf(s, stmt->src);
    switch (stmt->kind) {
    case S_LET:
        simp_define(s, out, stmt->var, simp_expr(s, stmt->value), stmt->loc);
        return;
    case S_STORE:
        simp_store(s, stmt, out);
        return;
    case S_FILL:
        simp_fill(s, stmt, out);
        return;
    case S_ALLOC:
    case S_GROW:
    case S_ROUTINE:
        ir_each_expr(stmt, simp_slot, s);
        avail_store(&s->avail, s->rules.bounds, stmt->buf, NULL, 0);
        vec_push(s->arena, out, stmt);
        return;
    case S_VIEW:
        simp_view(s, stmt, out);
        return;
    case S_CHECK:
        simp_check(s, stmt, out);
        return;
    case S_WARN:
        simp_warn(s, stmt, out);
        return;
    case S_IF:
        simp_if(s, stmt, out);
        return;
    case S_FOR:
        simp_for(s, stmt, out);
        return;
    case S_WHILE:
        simp_while(s, stmt, out);
        return;
    default:
        vec_push(s->arena, out, stmt);
        return;
    }
}

/* Appends what 'in' becomes to 'out'. */
void
simp_block(Simp *s, const Block *in, Block *out)
{
    for (int i = 0; i < in->n; i++) {
        simp_stmt(s, in->at[i], out);
    }
}

/* One walk; the number of changes. */
static int
simp_round(Pass *pass, Func *func)
{
    Simp s = {.pass = pass, .arena = pass->arena, .scratch = pass->scratch};
    Block body = {0};
    s.func = func;
    s.rules.arena = s.arena;
    s.rules.bounds = bounds_new(s.scratch, func);
    s.rules.vectors = map_new(s.scratch);
    s.subst = map_new(s.scratch);
    s.loaded = avail_loaded(s.scratch, &func->body);
    avail_init(&s.avail, s.scratch, func);
    simp_block(&s, &func->body, &body);
    for (int i = 0; i < func->rets.n; i++) {
        func->rets.at[i].value = simp_expr(&s, func->rets.at[i].value);
    }
    func->body = body;
    return s.changes + s.rules.changes + dead_code(s.arena, s.scratch, func);
}

/* A shallow copy whose results and body may be changed. */
static Func *
copy_func(Arena *arena, const Func *func)
{
    Func *copy = arena_copy(arena, func, sizeof(Func));
    copy->rets.at = NULL;
    copy->rets.n = 0;
    copy->rets.cap = 0;
    for (int i = 0; i < func->rets.n; i++) {
        vec_push(arena, &copy->rets, func->rets.at[i]);
    }
    return copy;
}

/* Rounds until nothing changes; few functions need more than three. */
Func *
simplify(Pass *pass, Func *func)
{
    Func *copy = copy_func(pass->arena, func);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (simp_round(pass, copy) == 0) {
            break;
        }
        names_refine(copy);
    }
    names_refine(copy);
    return copy;
}

/* The pass of the table. */
Func *
pass_simplify(Pass *pass, Func *func)
{
    return simplify(pass, func);
}
