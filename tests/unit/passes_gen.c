/* Random functions at L_LOOPS, as lowered Python looks.
 *
 * Statements and expressions are drawn at random over the names in scope.  An
 * index is a loop's Var plus or minus little, a constant, or anything brought
 * into range; it is wrapped where negative and then checked, so the function
 * never faults.  Elements that were touched before are touched again half of
 * the time, which is what forwarding and its limits are about.  Probes store
 * the outcome of comparisons, preferably of what loops carry: were the bounds
 * wrong, the comparison would be decided wrongly.
 */
#include "tests/unit/passes_gen.h"
#include "tests/unit/passes_expr.h"

/* --- statements ---------------------------------------------------------- */

static void gen_block(Gen *g, Block *out, int n);

static void
gen_let(Gen *g, Block *out)
{
    bool whole = gen_chance(60);
    Expr *value = whole ? gen_int_expr(g, out, 3) : gen_float_expr(g, out, 3);
    Var *var = ir_var(g->func, whole ? "i" : "f", value->dtype, 0);
    gen_push(g, out, ir_let(g->arena, var, value, PLACE));
    if (whole) {
        gen_show_int(g, var);
    } else {
        gen_show_float(g, var);
    }
}

static void
gen_store(Gen *g, Block *out)
{
    Buf *bufs[] = {g->out, g->fresh, g->scratch};
    Buf *buf = bufs[gen_pick(3)];
    Expr *index[2];
    gen_element(g, out, buf, index);
    Expr *value = buf->dtype == DT_F64 ? gen_float_expr(g, out, 2)
                                       : gen_int_expr(g, out, 2);
    gen_push(g, out, ir_store(g->arena, buf, index, buf->rank, value, PLACE));
}

/* A comparison whose outcome shows in memory: were bounds wrong, it would be
 * decided wrongly.  Newest Vars first: they are what loops carry. */
static void
gen_probe(Gen *g, Block *out)
{
    static const Op compares[] = {E_EQ, E_NE, E_LT, E_LE};
    Expr *index[2];
    gen_element(g, out, g->fresh, index);
    unsigned newest = g->nints > 5 ? 5 : (unsigned)g->nints;
    Var *var = g->ints[g->nints - 1 - (int)gen_pick(newest)];
    Expr *lhs = ir_ref(g->arena, var);
    Expr *rhs = gen_chance(40) ? gen_num(g, (int64_t)gen_pick(12) - 2)
        : gen_chance(40) ? ir_ref(g->arena, g->ints[0]) : gen_int_leaf(g, out);
    if (gen_chance(50)) {
        Expr *swap = lhs;
        lhs = rhs;
        rhs = swap;
    }
    Expr *cond = ir_binary(g->arena, compares[gen_pick(4)], lhs, rhs);
    Expr *value = ir_select(g->arena, cond, ir_float(g->arena, DT_F64, 1.5),
                            ir_float(g->arena, DT_F64, 2.5));
    gen_push(g, out, ir_store(g->arena, g->fresh, index, 2, value, PLACE));
}

static void
gen_any_load(Gen *g, Block *out)
{
    Buf *bufs[] = {g->a, g->scratch, g->fresh, g->out};
    gen_load(g, out, bufs[gen_pick(4)]);
}

static void
gen_branch(Gen *g, Block *out, Expr **whole, Expr **real)
{
    Names names = gen_names_of(g);
    gen_block(g, out, 1 + (int)gen_pick(3));
    *whole = gen_int_expr(g, out, 1);
    *real = gen_float_expr(g, out, 1);
    gen_restore(g, names);
}

static void
gen_if(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_IF, PLACE);
    s->value = gen_bool_expr(g, out, 2);
    s->njoins = 2;
    s->joins = ARENA_ARRAY(g->arena, Join, 2);
    gen_branch(g, &s->body, &s->joins[0].then_val, &s->joins[1].then_val);
    gen_branch(g, &s->els, &s->joins[0].else_val, &s->joins[1].else_val);
    s->joins[0].out = ir_var(g->func, "p", DT_I64, 0);
    s->joins[1].out = ir_var(g->func, "q", DT_F64, 0);
    gen_push(g, out, s);
    gen_show_int(g, s->joins[0].out);
    gen_show_float(g, s->joins[1].out);
}

/* init, and what a loop's step does to it. */
static Expr *
gen_next(Gen *g, Block *out, Var *var)
{
    Expr *ref = ir_ref(g->arena, var);
    switch (gen_pick(9)) {
    case 0:
        return ref;
    case 1:
        return gen_num(g, gen_pick(3));
    case 2:
        return ir_binary(g->arena, gen_chance(50) ? E_MAX : E_MIN, ref,
                         gen_int_expr(g, out, 1));
    case 3:
        return gen_chance(50) ? gen_int_expr(g, out, 2)
            : ir_binary(g->arena, E_ADD, ref,
                        ir_cast(g->arena, DT_I64, gen_load(g, out, g->b)));
    case 4:
        /* What an inner loop or a branch made of the carry, most likely. */
        return ir_ref(g->arena, g->ints[g->nints - 1]);
    case 5:
        return ir_binary(g->arena, E_ADD, ref, ir_ref(g->arena, g->ints[0]));
    default:
        return ir_binary(g->arena, gen_chance(60) ? E_ADD : E_SUB, ref,
                         gen_num(g, gen_pick(3)));
    }
}

static void
gen_carries(Gen *g, Block *out, Stmt *s)
{
    s->ncarries = 2;
    s->carries = ARENA_ARRAY(g->arena, Carry, 2);
    s->carries[0].init = gen_chance(40)
        ? ir_ref(g->arena, g->ints[g->nints - 1])
        : gen_chance(30) ? ir_ref(g->arena, g->ints[0]) : gen_int_expr(g, out,
                                                                       1);
    s->carries[0].var = ir_var(g->func, "c", DT_I64, 0);
    s->carries[0].out = ir_var(g->func, "c_out", DT_I64, 0);
    s->carries[1].init = gen_float_expr(g, out, 1);
    s->carries[1].var = ir_var(g->func, "d", DT_F64, 0);
    s->carries[1].out = ir_var(g->func, "d_out", DT_F64, 0);
}

static void
gen_body(Gen *g, Stmt *s)
{
    gen_block(g, &s->body, 1 + (int)gen_pick(4));
    s->carries[0].next = gen_next(g, &s->body, s->carries[0].var);
    s->carries[1].next = gen_float_expr(g, &s->body, 2);
    if (gen_chance(25)) {
        s->until = gen_bool_expr(g, &s->body, 1);
    }
}

static Expr *
gen_bound(Gen *g, Block *out)
{
    if (gen_chance(60)) {
        Expr *dim = ir_dim(g->arena, gen_chance(70) ? g->a : g->out, 0);
        return ir_binary(g->arena, E_SUB, dim, gen_num(g, gen_pick(3)));
    }
    if (gen_chance(50)) {
        return gen_num(g, gen_pick(5));
    }
    return ir_binary(g->arena, E_MIN, gen_int_leaf(g, out), gen_num(g, 5));
}

static void
gen_for(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_FOR, PLACE);
    s->lo = gen_chance(70) ? gen_num(g, gen_pick(3)) : gen_int_leaf(g, out);
    s->hi = gen_bound(g, out);
    gen_carries(g, out, s);
    if (gen_chance(80)) {
        Expr *low = ir_binary(g->arena, E_LE, gen_num(g, -8), s->lo);
        gen_check(g, out, low, X_VALUE);
    }
    Names names = gen_names_of(g);
    s->id = g->func->next_id++;
    s->var = ir_var(g->func, "r", DT_I64, 0);
    g->rounds[g->nrounds++] = s->var;
    gen_show_int(g, s->var);
    gen_show_int(g, s->carries[0].var);
    gen_show_float(g, s->carries[1].var);
    gen_body(g, s);
    g->nrounds--;
    gen_restore(g, names);
    gen_show_int(g, s->carries[0].out);
    gen_show_float(g, s->carries[1].out);
    gen_push(g, out, s);
}

/* while c < limit: ...; c += 1 + something not negative, tested. */
static void
gen_while(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_WHILE, PLACE);
    Arena *arena = g->arena;
    gen_carries(g, out, s);
    Expr *limit = gen_let_int(g, out, gen_bound(g, out));
    Names names = gen_names_of(g);
    s->id = g->func->next_id++;
    Expr *count = ir_ref(arena, s->carries[0].var);
    s->value = ir_binary(arena, E_LT, count, limit);
    g->rounds[g->nrounds++] = s->carries[0].var;
    gen_show_int(g, s->carries[0].var);
    gen_show_float(g, s->carries[1].var);
    gen_body(g, s);
    g->nrounds--;
    Expr *step = gen_num(g, 1 + gen_pick(2));
    if (gen_chance(50)) {
        Expr *over = ir_binary(arena, E_ADDO, count, step);
        gen_check(g, &s->body, ir_unary(arena, E_NOT, over), X_OVERFLOW);
    }
    s->carries[0].next = ir_binary(arena, E_ADD, count, step);
    gen_restore(g, names);
    gen_show_int(g, s->carries[0].out);
    gen_show_float(g, s->carries[1].out);
    gen_push(g, out, s);
}

static void
gen_warn(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_WARN, PLACE);
    s->value = gen_bool_expr(g, out, 1);
    s->warn = (Warn)gen_pick(3);
    gen_push(g, out, s);
}

static void
gen_stmt(Gen *g, Block *out)
{
    unsigned kind = gen_pick(20);
    if (kind < 4) {
        gen_let(g, out);
    } else if (kind < 7) {
        gen_store(g, out);
    } else if (kind < 9) {
        gen_any_load(g, out);
    } else if (kind == 11) {
        Expr *cond = gen_bool_expr(g, out, 1);
        cond = ir_binary(g->arena, E_OR, cond, gen_bool_expr(g, out, 1));
        gen_check(g, out, cond, X_ASSERT);
    } else if (kind == 12 && gen_chance(40)) {
        gen_warn(g, out);
    } else if (kind <= 12) {
        gen_probe(g, out);
    } else if (kind < 15 && g->depth < 4) {
        gen_if(g, out);
    } else if (kind == 15 && g->depth < 3) {
        gen_while(g, out);
    } else if (g->depth < 3) {
        gen_for(g, out);
    }
}

static void
gen_block(Gen *g, Block *out, int n)
{
    g->depth++;
    for (int i = 0; i < n && g->budget > 0; i++) {
        g->budget--;
        gen_stmt(g, out);
    }
    g->depth--;
}

/* --- the whole function -------------------------------------------------- */

static void
add_param(Gen *g, const char *name, Var *var, Buf *buf)
{
    Param param = {sym(name), var, buf};
    if (buf != NULL) {
        buf->arg = g->func->params.n;
    }
    vec_push(g->arena, &g->func->params, param);
}

/* What may make a nest not cover its box: it ends early, reads what it has not
 * written, or stores only sometimes.  Where the store goes. */
static Block *
gen_twist(Gen *g, Block *out, Block *into)
{
    Stmt *outer = out->at[out->n - 1];
    switch (gen_pick(8)) {
    case 0:
        outer->until = ir_binary(g->arena, E_EQ,
                                 ir_ref(g->arena, outer->var),
                                 gen_num(g, gen_pick(4)));
        return into;
    case 1:
        gen_load(g, into, g->fresh);
        return into;
    case 2: {
        Stmt *s = ir_stmt(g->arena, S_IF, PLACE);
        s->value = gen_bool_expr(g, into, 1);
        gen_push(g, into, s);
        return &s->body;
    }
    default:
        return into;
    }
}

/* A nest over all of the fresh buffer, or nearly, before anything else. */
static void
gen_cover(Gen *g, Block *out)
{
    Block *into = out;
    Expr *index[2];
    Names names = gen_names_of(g);
    for (int i = 0; i < 2; i++) {
        Stmt *s = ir_stmt(g->arena, S_FOR, PLACE);
        Expr *dim = ir_dim(g->arena, g->a, i);
        int64_t edge = gen_pick(3);
        s->lo = gen_num(g, edge);
        s->hi = ir_binary(g->arena, E_SUB, dim, gen_num(g, gen_pick(3)));
        s->id = g->func->next_id++;
        s->var = ir_var(g->func, "y", DT_I64, 0);
        gen_push(g, into, s);
        into = &s->body;
        index[i] = ir_ref(g->arena, s->var);
        if (edge > 0 && gen_chance(40)) {
            index[i] = ir_binary(g->arena, E_SUB, index[i], gen_num(g, 1));
        }
    }
    for (int i = 0; i < 2; i++) {
        index[i] = gen_checked_index(g, into, g->fresh, i, index[i]);
    }
    into = gen_twist(g, out, into);
    gen_push(g, into, ir_store(g->arena, g->fresh, index, 2,
                           gen_float_expr(g, into, 1), PLACE));
    gen_restore(g, names);
}

static Buf *
gen_buf(Gen *g, const char *name, BufKind kind, Block *out)
{
    Buf *buf = ir_buf(g->func, name, DT_F64, 2, kind);
    buf->dims[0] = ir_dim(g->arena, g->a, 0);
    buf->dims[1] = gen_chance(70) ? ir_dim(g->arena, g->a, 1) : gen_num(g, 3);
    Stmt *alloc = ir_stmt(g->arena, S_ALLOC, PLACE);
    alloc->buf = buf;
    gen_push(g, out, alloc);
    Stmt *fill = ir_stmt(g->arena, S_FILL, PLACE);
    fill->buf = buf;
    fill->value = ir_float(g->arena, DT_F64, 0.0);
    gen_push(g, out, fill);
    return buf;
}

Func *
passes_gen(Arena *arena, uint64_t seed, bool general)
{
    Gen g = {.arena = arena, .budget = 26};
    gen_seed(seed);
    Func *func = ir_func(arena, sym("f"), L_LOOPS);
    g.func = func;
    func->general = general;
    func->loc = PLACE;
    g.a = ir_buf(func, "a", DT_F64, 2, BUF_ARG);
    g.b = ir_buf(func, "b", DT_U8, 1, BUF_ARG);
    g.out = ir_buf(func, "out", DT_I64, 1, BUF_ARG);
    Var *k = ir_var(func, "k", DT_I64, 0);
    Var *x = ir_var(func, "x", DT_F64, 0);
    add_param(&g, "a", NULL, g.a);
    add_param(&g, "b", NULL, g.b);
    add_param(&g, "out", NULL, g.out);
    add_param(&g, "k", k, NULL);
    add_param(&g, "x", x, NULL);
    gen_show_int(&g, k);
    gen_show_float(&g, x);
    g.fresh = gen_buf(&g, "fresh", BUF_RESULT, &func->body);
    g.scratch = gen_buf(&g, "scratch", BUF_LOCAL, &func->body);
    if (gen_chance(70)) {
        gen_cover(&g, &func->body);
    }
    gen_block(&g, &func->body, 4 + (int)gen_pick(5));
    Ret rets[] = {{NULL, g.fresh},
                  {gen_int_expr(&g, &func->body, 1), NULL},
                  {gen_float_expr(&g, &func->body, 1), NULL}};
    g.fresh->arg = 0;
    for (int i = 0; i < 3; i++) {
        vec_push(arena, &func->rets, rets[i]);
    }
    return func;
}
