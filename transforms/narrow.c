/* Pass 'narrow': float64 that nobody sees becomes float32, where approx= allows
 * it.
 *
 *     alloc &t:f64[h, w] local              alloc &t:f32[h, w] local
 *     store &t[i] = (mul &a[i] 0.5)   ->    store &t[i] = (cast f32 (mul ...))
 *     let %v:f64 = (add &t[i] 0.1)          let %v:f32 = (add &t[i] 0.1:f32)
 *     store &out[i] = %v                    store &out[i] = (cast f64 %v)
 *
 * Arguments and results keep their dtype.  What stays float64 ("wide"):
 *
 *  - what is computed from float64 in memory: conversions would cost more than
 *    they save.  Where it is stored in scratch memory, that ends;
 *  - from what an int64 is made by conversion, and all scalars that lead there
 *    ("exact"): an index that is off by one is another pixel;
 *  - what a loop adds up: its rounding errors would grow with its rounds;
 *  - everything, where a constant is no float32 (1e-300, which keeps a divisor
 *    from being 0, would be 0).
 *
 * A value beyond 3.4e38 becomes infinite.
 */
#include <float.h>
#include <math.h>

#include "csrc/base/approx.h"
#include "transforms/sums.h"
#include "transforms/transforms.h"

/* By id: "wide" Vars stay as they are, "exact" ones among them also ask that
 * of what they are made of; "narrow" Bufs become float32, "bound" ones are used
 * by something that needs their dtype; "params" are parameters.
 *
 * "grown": some table has.  "huge": the first constant that is no float32;
 * NULL: none.  "loc": of the statement at hand, or that of "huge".  "scalars"
 * counts those that became narrow. */
typedef struct Narrow {
    Pass *pass;
    Func *func;
    Sums sums;
    bool *wide;
    bool *exact;
    bool *narrow;
    bool *bound;
    bool *params;
    bool grown;
    const Expr *huge;
    Loc loc;
    int scalars;
} Narrow;

/* --- memory -------------------------------------------------------------- */

/* For ir_each_node. */
static void
bind_node(void *data, const Expr *e)
{
    Narrow *n = data;
    if (e->op == E_SUM || e->op == E_STRIDE || e->op == E_DISJOINT) {
        n->bound[e->buf->id] = true;
    }
    if (e->op == E_DISJOINT) {
        n->bound[e->buf2->id] = true;
    }
}

/* For ir_each_stmt. */
static void
bind_stmt(void *data, Stmt *s)
{
    Narrow *n = data;
    ir_each_node(s, bind_node, n);
    if (s->kind == S_VIEW || s->kind == S_ROUTINE || s->kind == S_GROW) {
        n->bound[s->buf->id] = true;
    }
    if (s->kind == S_VIEW) {
        n->bound[s->src->id] = true;
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        n->bound[bind->init->id] = n->bound[bind->next->id] = true;
        n->bound[bind->out->id] = true;
    }
}

/* For ir_each_stmt: scratch memory whose dtype nobody needs. */
static void
choose_buf(void *data, Stmt *s)
{
    Narrow *n = data;
    const Buf *buf = s->kind == S_ALLOC ? s->buf : NULL;
    if (buf != NULL && buf->kind == BUF_LOCAL && buf->dtype == DT_F64 &&
        !buf->growable && buf->group == NULL && !n->bound[buf->id]) {
        n->narrow[buf->id] = true;
    }
}

/* --- scalars that stay --------------------------------------------------- */

static void
set(Narrow *n, bool *table, const Var *var)
{
    if (var->dtype == DT_F64 && !table[var->id]) {
        table[var->id] = true;
        n->grown = true;
    }
}

/* An exact one is wide. */
static void
set_exact(Narrow *n, const Var *var)
{
    set(n, n->exact, var);
    set(n, n->wide, var);
}

/* All scalars of which 'e' is made; what is in memory is as it is. */
static void
keep_exact(Narrow *n, const Expr *e)
{
    if (e->op == E_VAR) {
        set_exact(n, e->var);
    }
    for (int i = 0; i < e->nargs && e->op != E_LOAD; i++) {
        keep_exact(n, e->args[i]);
    }
}

/* Is 'e' computed from something that is float64 and stays it?  Parameters are
 * converted once, and a comparison says nothing of what it chooses. */
static bool
is_wide(const Narrow *n, const Expr *e)
{
    if (e->op == E_VAR) {
        return e->var->dtype == DT_F64 && n->wide[e->var->id] &&
               !n->params[e->var->id];
    }
    if (e->op == E_LOAD) {
        return e->buf->dtype == DT_F64 && !n->narrow[e->buf->id];
    }
    bool found = e->op == E_SUM && e->dtype == DT_F64;
    for (int i = e->op == E_SELECT; i < e->nargs && !found; i++) {
        found = is_wide(n, e->args[i]);
    }
    return found;
}

/* For ir_each_node: constants, and integers that are made of floats. */
static void
look_node(void *data, const Expr *e)
{
    Narrow *n = data;
    if (e->op == E_CAST && e->dtype == DT_I64 && e->args[0]->dtype == DT_F64) {
        keep_exact(n, e->args[0]);
    }
    double size = e->op == E_CONST && e->dtype == DT_F64 ? fabs(e->fval) : 0;
    bool fits = size == 0 || !isfinite(size) ||
                (size <= (double)FLT_MAX && size >= (double)FLT_MIN);
    if (!fits && n->huge == NULL) {
        n->huge = e;
        n->loc = e->loc.line ? e->loc : n->loc;
    }
}

static bool
is_added(const Narrow *n, Var *var)
{
    Expr self = {.op = E_VAR, .dtype = var->dtype, .var = var};
    return sums_level(&n->sums, &self) == SUM_ADDED;
}

/* 'var' gets the value of 'a' or of 'b' (NULL: there is one). */
static void
look_value(Narrow *n, Var *var, const Expr *a, const Expr *b)
{
    if (is_added(n, var) || is_wide(n, a) || (b != NULL && is_wide(n, b))) {
        set(n, n->wide, var);
    }
    if (n->exact[var->id]) {
        keep_exact(n, a);
        keep_exact(n, b != NULL ? b : a);
    }
}

/* The name after a loop is as that inside. */
static void
look_carry(Narrow *n, const Carry *carry)
{
    bool *tables[] = {n->wide, n->exact};
    look_value(n, carry->var, carry->init, carry->next);
    for (int i = 0; i < 2; i++) {
        if (tables[i][carry->var->id] || tables[i][carry->out->id]) {
            set(n, tables[i], carry->var);
            set(n, tables[i], carry->out);
        }
    }
}

/* For ir_each_stmt.  A test may compare with what is no float32. */
static void
look_stmt(void *data, Stmt *s)
{
    Narrow *n = data;
    const Expr *huge = n->huge;
    n->loc = huge ? n->loc : s->loc;
    ir_each_node(s, look_node, n);
    if (s->kind == S_CHECK || s->kind == S_WARN) {
        n->huge = huge;
    }
    if (s->kind == S_LET) {
        look_value(n, s->var, s->value, NULL);
    }
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        look_value(n, join->out, join->then_val, join->else_val);
    }
    for (int i = 0; i < s->ncarries; i++) {
        look_carry(n, &s->carries[i]);
    }
}

/* Until nothing more is found to stay. */
static void
look_all(Narrow *n)
{
    for (int i = 0; i < n->func->params.n; i++) {
        const Var *var = n->func->params.at[i].var;
        if (var != NULL) {
            n->params[var->id] = n->wide[var->id] = true;
        }
    }
    ir_each_stmt(&n->func->body, bind_stmt, n);
    ir_each_stmt(&n->func->body, choose_buf, n);
    do {
        n->grown = false;
        ir_each_stmt(&n->func->body, look_stmt, n);
    } while (n->grown);
}

/* --- what changes --------------------------------------------------------- */

static void
narrow_var(Narrow *n, Var *var)
{
    if (var != NULL && var->dtype == DT_F64 && !n->wide[var->id]) {
        var->dtype = DT_F32;
        n->scalars++;
    }
}

/* For ir_each_stmt.  The names of 'func' are changed where they stand: nobody
 * has another function with them. */
static void
narrow_names(void *data, Stmt *s)
{
    Narrow *n = data;
    narrow_var(n, s->kind == S_LET ? s->var : NULL);
    for (int i = 0; i < s->njoins; i++) {
        narrow_var(n, s->joins[i].out);
    }
    for (int i = 0; i < s->ncarries; i++) {
        narrow_var(n, s->carries[i].var);
        narrow_var(n, s->carries[i].out);
    }
    if (s->kind == S_ALLOC && n->narrow[s->buf->id]) {
        s->buf->dtype = DT_F32;
        diag_remark(n->pass->diags, DIAG_RELAXED, s->loc,
                    "`%s` holds float32", s->buf->name);
    }
}

static Expr *rewrite(Narrow *n, const Expr *e, bool wide);

/* 'e' as 'dtype', which differs only between the floats. */
static Expr *
as(Narrow *n, Expr *e, DType dtype)
{
    return e->dtype == dtype ? e : ir_cast(n->pass->arena, dtype, e);
}

/* The operands of 'e', those that were float64 in the dtype asked for.  What is
 * added to a wide sum is computed as it would be by itself. */
static Expr **
operands(Narrow *n, const Expr *e, bool wide)
{
    bool sum = sums_level(&n->sums, e) == SUM_ADDED;
    Expr **args = ARENA_ARRAY(n->pass->arena, Expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        bool apart = sum && wide && !is_wide(n, e->args[i]);
        args[i] = rewrite(n, e->args[i], wide && !apart);
        if (e->args[i]->dtype == DT_F64) {
            args[i] = as(n, args[i], wide ? DT_F64 : DT_F32);
        }
    }
    return args;
}

/* Has the function a form for float32?  Squares and roots are products and
 * roots there. */
static bool
has_single(Fn fn)
{
    char origin = ir_fn_origin(fn);
    return fn == FN_SQUARE || fn == FN_ROOT || fn == FN_NPMOD ||
           fn == FN_NPFLOORDIV || origin == 'M' || origin == 'N' ||
           origin == 'A';
}

static Expr *
rewrite_call(Narrow *n, const Expr *e, bool wide)
{
    Arena *a = n->pass->arena;
    wide |= !has_single(e->fn);
    Expr **args = operands(n, e, wide);
    DType dtype = e->dtype != DT_F64 ? e->dtype : wide ? DT_F64 : DT_F32;
    if (!wide && e->fn == FN_ROOT) {
        return ir_call(a, FN_POWHALF, dtype, args, 1);
    }
    if (!wide && e->fn == FN_SQUARE) {
        Expr *both[] = {args[0], ir_float(a, dtype, 2.0)};
        return ir_call(a, FN_POWI, dtype, both, 2);
    }
    return ir_call(a, e->fn, dtype, args, e->nargs);
}

/* Conversions of floats take what they convert as it is best computed. */
static Expr *
rewrite_cast(Narrow *n, const Expr *e, bool wide)
{
    const Expr *arg = e->args[0];
    if (e->dtype == DT_F64) {
        return as(n, rewrite(n, arg, wide), wide ? DT_F64 : DT_F32);
    }
    bool index = arg->dtype == DT_F64 && e->dtype == DT_I64;
    return as(n, rewrite(n, arg, index || is_wide(n, arg)), e->dtype);
}

static Expr *
rewrite_load(Narrow *n, const Expr *e)
{
    Expr **args = operands(n, e, true);
    return ir_load(n->pass->arena, e->buf, args, e->nargs, e->lanes);
}

/* Comparisons and tests say nothing of the dtype of their operands. */
static bool
is_wide_inside(const Narrow *n, const Expr *e, bool wide)
{
    return e->dtype == DT_F64 ? wide : is_wide(n, e);
}

/* The new form of 'e'; of a float64, in float64 or float32 as 'wide' says,
 * but for names and loads, which have the dtype they have. */
static Expr *
rewrite(Narrow *n, const Expr *e, bool wide)
{
    Arena *a = n->pass->arena;
    switch (e->op) {
    case E_CONST:
        return e->dtype == DT_F64 && !wide
                   ? ir_at(ir_float(a, DT_F32, e->fval), e->loc)
                   : ir_with_args(a, e, NULL);
    case E_VAR:
        return ir_at(ir_ref(a, e->var), e->loc);
    case E_LOAD:
        return ir_at(rewrite_load(n, e), e->loc);
    case E_CAST:
        return ir_at(rewrite_cast(n, e, wide), e->loc);
    case E_CALL:
        return ir_at(rewrite_call(n, e, is_wide_inside(n, e, wide)), e->loc);
    case E_SUM:
        return ir_with_args(a, e, operands(n, e, true));
    case E_DIM:
    case E_STRIDE:
    case E_DISJOINT:
        return ir_with_args(a, e, NULL);
    case E_SPLAT:
        return ir_at(ir_splat(a, operands(n, e, wide)[0], e->lanes), e->loc);
    default:
        return ir_at(ir_node(a, e->op,
                             operands(n, e, is_wide_inside(n, e, wide)),
                             e->nargs),
                     e->loc);
    }
}

/* Is something in 'e' float32? */
static bool
is_narrow(const Expr *e)
{
    bool found = (e->op == E_VAR && e->var->dtype == DT_F32) ||
                 (e->op == E_LOAD && e->buf->dtype == DT_F32);
    for (int i = 0; i < e->nargs && !found; i++) {
        found = is_narrow(e->args[i]);
    }
    return found;
}

/* An expression whose value goes to 'dtype'. */
static Expr *
assigned(Narrow *n, const Expr *e, DType dtype)
{
    if (e->dtype != DT_F64) {
        return rewrite(n, e, true);
    }
    bool wide = is_wide(n, e) || (dtype == DT_F64 && !is_narrow(e));
    return as(n, as(n, rewrite(n, e, wide), wide ? DT_F64 : DT_F32), dtype);
}

/* For ir_each_expr: what is no float64 that goes somewhere. */
static void
rewrite_slot(void *data, Expr **slot)
{
    Narrow *n = data;
    *slot = assigned(n, *slot, (*slot)->dtype);
}

/* For ir_map_block. */
static void
rewrite_stmt(void *data, Block *out, Stmt *s)
{
    Narrow *n = data;
    Stmt old = *ir_copy_stmt(n->pass->arena, s);
    ir_each_expr(s, rewrite_slot, n);
    if (s->kind == S_LET) {
        s->value = assigned(n, old.value, s->var->dtype);
    } else if (s->kind == S_STORE || s->kind == S_FILL) {
        s->value = assigned(n, old.value, s->buf->dtype);
    }
    for (int i = 0; i < s->njoins; i++) {
        DType dtype = s->joins[i].out->dtype;
        s->joins[i].then_val = assigned(n, old.joins[i].then_val, dtype);
        s->joins[i].else_val = assigned(n, old.joins[i].else_val, dtype);
    }
    for (int i = 0; i < s->ncarries; i++) {
        DType dtype = s->carries[i].var->dtype;
        s->carries[i].init = assigned(n, old.carries[i].init, dtype);
        s->carries[i].next = assigned(n, old.carries[i].next, dtype);
    }
    vec_push(n->pass->arena, out, s);
}

/* --- the pass ------------------------------------------------------------- */

static void
rewrite_all(Narrow *n)
{
    Func *func = n->func;
    ir_each_stmt(&func->body, narrow_names, n);
    func->body = ir_map_block(n->pass->arena, &func->body, rewrite_stmt, n);
    for (int i = 0; i < func->rets.n; i++) {
        if (func->rets.at[i].value != NULL) {
            rewrite_slot(n, &func->rets.at[i].value);
        }
    }
    if (n->scalars > 0) {
        diag_remark(n->pass->diags, DIAG_RELAXED, func->loc,
                    "%d scalar%s computed in float32", n->scalars,
                    n->scalars == 1 ? " is" : "s are");
    }
}

Func *
pass_narrow(Pass *pass, Func *func)
{
    if (!(pass->opts->approx & RELAX_F32)) {
        return func;
    }
    Func *copy = arena_copy(pass->arena, func, sizeof(*func));
    Narrow n = {.pass = pass, .func = copy};
    bool **tables[] = {&n.wide, &n.exact, &n.narrow, &n.bound, &n.params};
    for (int i = 0; i < 5; i++) {
        *tables[i] = ARENA_ARRAY(pass->scratch, bool, copy->next_id + 1);
    }
    sums_find(pass->scratch, copy, &n.sums);
    look_all(&n);
    if (n.huge != NULL) {
        diag_remark(pass->diags, DIAG_RELAXED, n.loc,
                    "float64 stays: %g is no float32", n.huge->fval);
        return func;
    }
    rewrite_all(&n);
    return copy;
}
