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

enum { MAX_VARS = 64 };

/* --- random numbers ------------------------------------------------------ */

static uint64_t state;

static unsigned
pick(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static bool
chance(unsigned percent)
{
    return pick(100) < percent;
}

/* --- the function under construction ------------------------------------- */

/* An element that was read or written: worth touching again. */
typedef struct Element {
    Buf *buf;
    Expr *index[2];
} Element;

/* "ints" and "floats" are the Vars in scope, "rounds" the loops' Vars,
 * "recent" elements whose indices are in scope. */
typedef struct Gen {
    Arena *arena;
    Func *func;
    Buf *a;
    Buf *b;
    Buf *out;
    Buf *fresh;
    Buf *scratch;
    Var *ints[MAX_VARS];
    Var *floats[MAX_VARS];
    Var *rounds[MAX_VARS];
    Element recent[MAX_VARS];
    int nrecent;
    int nrounds;
    int nints;
    int nfloats;
    int depth;
    int budget;
} Gen;

/* How much is in scope. */
typedef struct Names {
    int ints;
    int floats;
    int recent;
} Names;

static Names
names_of(const Gen *g)
{
    Names names = {g->nints, g->nfloats, g->nrecent};
    return names;
}

static void
restore(Gen *g, Names names)
{
    g->nints = names.ints;
    g->nfloats = names.floats;
    g->nrecent = names.recent;
}

static const Loc PLACE = {.line = 1};

static Expr *
num(Gen *g, int64_t value)
{
    return ir_int(g->arena, DT_I64, value);
}

static void
push(Gen *g, Block *out, Stmt *s)
{
    vec_push(g->arena, out, s);
}

static void
show_int(Gen *g, Var *var)
{
    if (g->nints < MAX_VARS) {
        g->ints[g->nints++] = var;
    }
}

static void
show_float(Gen *g, Var *var)
{
    if (g->nfloats < MAX_VARS) {
        g->floats[g->nfloats++] = var;
    }
}

static void
check(Gen *g, Block *out, Expr *cond, Exc exc)
{
    push(g, out, ir_check(g->arena, cond, exc, ACT_REPLAY, PLACE));
}

static Expr *int_expr(Gen *g, Block *out, int depth);
static Expr *float_expr(Gen *g, Block *out, int depth);

static Expr *
let_int(Gen *g, Block *out, Expr *value)
{
    Var *var = ir_var(g->func, "n", DT_I64, 0);
    push(g, out, ir_let(g->arena, var, value, PLACE));
    show_int(g, var);
    return ir_ref(g->arena, var);
}

/* 'index' wrapped and checked against axis 'axis' of 'buf'. */
static Expr *
checked_index(Gen *g, Block *out, Buf *buf, int axis, Expr *index)
{
    Arena *arena = g->arena;
    Expr *dim = ir_dim(arena, buf, axis);
    index = let_int(g, out, index);
    if (chance(60)) {
        Expr *below = ir_binary(arena, E_LT, index, num(g, 0));
        Expr *moved = ir_binary(arena, E_ADD, index, dim);
        index = let_int(g, out, ir_select(arena, below, moved, index));
    }
    Expr *low = ir_binary(arena, E_LE, num(g, 0), index);
    Expr *high = ir_binary(arena, E_LT, index, dim);
    check(g, out, ir_binary(arena, E_AND, low, high), X_INDEX);
    return index;
}

/* lhs op rhs after a test of its overflow, as Python integers have it. */
static Expr *
tested(Gen *g, Block *out, Op op, Expr *lhs, Expr *rhs)
{
    Op test = op == E_ADD ? E_ADDO : op == E_SUB ? E_SUBO : E_MULO;
    Expr *over = ir_binary(g->arena, test, lhs, rhs);
    check(g, out, ir_unary(g->arena, E_NOT, over), X_OVERFLOW);
    return let_int(g, out, ir_binary(g->arena, op, lhs, rhs));
}

/* Some Var, brought into range. */
static Expr *
tame_index(Gen *g, Buf *buf, int axis)
{
    Expr *dim = ir_dim(g->arena, buf, axis);
    Expr *index = ir_ref(g->arena, g->ints[pick((unsigned)g->nints)]);
    if (chance(50)) {
        return ir_binary(g->arena, E_MOD, index, num(g, 1 + pick(3)));
    }
    Expr *last = ir_binary(g->arena, E_SUB, dim, num(g, 1));
    index = ir_binary(g->arena, E_MIN, index, last);
    return ir_binary(g->arena, E_MAX, index, num(g, 0));
}

/* An index as programs have them: a loop's Var plus or minus little. */
static Expr *
index_expr(Gen *g, Block *out, Buf *buf, int axis)
{
    Expr *index = num(g, (int64_t)pick(3) - (chance(20) ? 1 : 0));
    if (g->nrounds > 0 && chance(60)) {
        unsigned back = 1 + pick(g->nrounds > 2 ? 2 : (unsigned)g->nrounds);
        index = ir_ref(g->arena, g->rounds[g->nrounds - (int)back]);
    } else if (chance(65)) {
        index = tame_index(g, buf, axis);
    } else if (chance(20)) {
        index = ir_ref(g->arena, g->ints[pick((unsigned)g->nints)]);
    }
    if (chance(25)) {
        Op op = chance(50) ? E_ADD : E_SUB;
        Expr *little = chance(80) ? num(g, pick(3))
                                  : ir_ref(g->arena, g->ints[0]);
        index = tested(g, out, op, index, little);
    }
    if (g->nrounds > 1 && chance(10)) {
        Expr *width = chance(50) ? num(g, 2) : ir_ref(g->arena, g->ints[0]);
        Expr *row = ir_ref(g->arena, g->rounds[0]);
        index = tested(g, out, E_ADD, tested(g, out, E_MUL, row, width),
                       index);
    }
    return checked_index(g, out, buf, axis, index);
}

/* The indices of an element of 'buf', half of the time one touched before. */
static void
element(Gen *g, Block *out, Buf *buf, Expr **index)
{
    for (int i = 0; i < 4 && g->nrecent > 0; i++) {
        const Element *old = &g->recent[pick((unsigned)g->nrecent)];
        if (old->buf == buf && chance(70)) {
            index[0] = old->index[0];
            index[1] = old->index[1];
            return;
        }
    }
    for (int i = 0; i < buf->rank; i++) {
        index[i] = index_expr(g, out, buf, i);
    }
    if (g->nrecent < MAX_VARS) {
        Element fresh = {buf, {index[0], buf->rank > 1 ? index[1] : NULL}};
        g->recent[g->nrecent++] = fresh;
    }
}

static Expr *
load(Gen *g, Block *out, Buf *buf)
{
    Expr *index[2];
    element(g, out, buf, index);
    Expr *value = ir_load(g->arena, buf, index, buf->rank, 0);
    if (chance(70)) {
        Var *var = ir_var(g->func, "v", buf->dtype, 0);
        push(g, out, ir_let(g->arena, var, value, PLACE));
        if (buf->dtype == DT_F64) {
            show_float(g, var);
        } else if (buf->dtype == DT_I64) {
            show_int(g, var);
        }
        value = ir_ref(g->arena, var);
    }
    return value;
}

/* --- expressions --------------------------------------------------------- */

static Expr *
bool_expr(Gen *g, Block *out, int depth)
{
    static const Op compares[] = {E_EQ, E_NE, E_LT, E_LE};
    if (depth > 0 && chance(25)) {
        Expr *lhs = bool_expr(g, out, depth - 1);
        if (chance(30)) {
            return ir_unary(g->arena, E_NOT, lhs);
        }
        return ir_binary(g->arena, chance(50) ? E_AND : E_OR, lhs,
                         bool_expr(g, out, depth - 1));
    }
    Op op = compares[pick(4)];
    if (chance(25)) {
        Expr *lhs = float_expr(g, out, depth - 1);
        return ir_binary(g->arena, op, lhs, float_expr(g, out, depth - 1));
    }
    Expr *lhs = int_expr(g, out, depth - 1);
    return ir_binary(g->arena, op, lhs, int_expr(g, out, depth - 1));
}

static Expr *
int_leaf(Gen *g, Block *out)
{
    unsigned kind = pick(10);
    if (kind < 5 && g->nints > 0) {
        return ir_ref(g->arena, g->ints[pick((unsigned)g->nints)]);
    }
    if (kind == 5) {
        return ir_dim(g->arena, g->a, (int)pick(2));
    }
    if (kind == 6 && g->depth < 4) {
        Expr *value = load(g, out, chance(50) ? g->b : g->out);
        return ir_cast(g->arena, DT_I64, value);
    }
    return num(g, (int64_t)pick(7) - 2);
}

static Expr *
divided(Gen *g, Block *out, Op op, Expr *lhs)
{
    if (chance(70)) {
        return ir_binary(g->arena, op, lhs, num(g, 1 + pick(4)));
    }
    Expr *rhs = let_int(g, out, int_leaf(g, out));
    check(g, out, ir_binary(g->arena, E_NE, rhs, num(g, 0)),
          X_ZERO_DIVISION);
    check(g, out, ir_binary(g->arena, E_NE, rhs, num(g, -1)), X_OVERFLOW);
    return ir_binary(g->arena, op, lhs, rhs);
}

static Expr *
narrowed(Gen *g, Expr *e)
{
    static const DType dtypes[] = {DT_I8, DT_U8, DT_I32, DT_U64, DT_U16};
    Expr *narrow = ir_cast(g->arena, dtypes[pick(5)], e);
    if (chance(40)) {
        Expr *one = ir_int(g->arena, narrow->dtype, 1 + pick(3));
        narrow = ir_binary(g->arena, chance(50) ? E_ADD : E_SUB, narrow, one);
    }
    return ir_cast(g->arena, DT_I64, narrow);
}

static Expr *
int_expr(Gen *g, Block *out, int depth)
{
    static const Op ops[] = {E_ADD, E_SUB, E_MUL, E_MIN, E_MAX,
                             E_AND, E_OR,  E_XOR, E_ADD, E_SUB};
    if (depth <= 0 || chance(30)) {
        return int_leaf(g, out);
    }
    Expr *lhs = int_expr(g, out, depth - 1);
    switch (pick(8)) {
    case 0:
        return divided(g, out, chance(50) ? E_IDIV : E_MOD, lhs);
    case 1:
        return ir_select(g->arena, bool_expr(g, out, depth - 1), lhs,
                         int_expr(g, out, depth - 1));
    case 2:
        return narrowed(g, lhs);
    case 3:
        return ir_unary(g->arena, chance(50) ? E_ABS : E_NEG, lhs);
    case 4:
        return ir_binary(g->arena, chance(50) ? E_SHL : E_SHR, lhs,
                         num(g, pick(5)));
    default:
        return ir_binary(g->arena, ops[pick(10)], lhs,
                         int_expr(g, out, depth - 1));
    }
}

static Expr *
float_expr(Gen *g, Block *out, int depth)
{
    static const Op ops[] = {E_ADD, E_SUB, E_MUL, E_DIV};
    static const double values[] = {0.0, 1.0, -0.0, 0.5, 2.0};
    if (depth > 0 && chance(45)) {
        Expr *lhs = float_expr(g, out, depth - 1);
        if (chance(15)) {
            return ir_unary(g->arena, chance(50) ? E_ABS : E_NEG, lhs);
        }
        return ir_binary(g->arena, ops[pick(4)], lhs,
                         float_expr(g, out, depth - 1));
    }
    if (g->nfloats > 0 && chance(60)) {
        return ir_ref(g->arena, g->floats[pick((unsigned)g->nfloats)]);
    }
    if (chance(40) && g->depth < 4) {
        return load(g, out, g->a);
    }
    if (chance(30)) {
        return ir_cast(g->arena, DT_F64, int_leaf(g, out));
    }
    return ir_float(g->arena, DT_F64, values[pick(5)]);
}

/* --- statements ---------------------------------------------------------- */

static void gen_block(Gen *g, Block *out, int n);

static void
gen_let(Gen *g, Block *out)
{
    bool whole = chance(60);
    Expr *value = whole ? int_expr(g, out, 3) : float_expr(g, out, 3);
    Var *var = ir_var(g->func, whole ? "i" : "f", value->dtype, 0);
    push(g, out, ir_let(g->arena, var, value, PLACE));
    if (whole) {
        show_int(g, var);
    } else {
        show_float(g, var);
    }
}

static void
gen_store(Gen *g, Block *out)
{
    Buf *bufs[] = {g->out, g->fresh, g->scratch};
    Buf *buf = bufs[pick(3)];
    Expr *index[2];
    element(g, out, buf, index);
    Expr *value = buf->dtype == DT_F64 ? float_expr(g, out, 2)
                                       : int_expr(g, out, 2);
    push(g, out, ir_store(g->arena, buf, index, buf->rank, value, PLACE));
}

/* A comparison whose outcome shows in memory: were bounds wrong, it would be
 * decided wrongly.  Newest Vars first: they are what loops carry. */
static void
gen_probe(Gen *g, Block *out)
{
    static const Op compares[] = {E_EQ, E_NE, E_LT, E_LE};
    Expr *index[2];
    element(g, out, g->fresh, index);
    unsigned newest = g->nints > 5 ? 5 : (unsigned)g->nints;
    Var *var = g->ints[g->nints - 1 - (int)pick(newest)];
    Expr *lhs = ir_ref(g->arena, var);
    Expr *rhs = chance(40) ? num(g, (int64_t)pick(12) - 2)
        : chance(40) ? ir_ref(g->arena, g->ints[0]) : int_leaf(g, out);
    if (chance(50)) {
        Expr *swap = lhs;
        lhs = rhs;
        rhs = swap;
    }
    Expr *cond = ir_binary(g->arena, compares[pick(4)], lhs, rhs);
    Expr *value = ir_select(g->arena, cond, ir_float(g->arena, DT_F64, 1.5),
                            ir_float(g->arena, DT_F64, 2.5));
    push(g, out, ir_store(g->arena, g->fresh, index, 2, value, PLACE));
}

static void
gen_load(Gen *g, Block *out)
{
    Buf *bufs[] = {g->a, g->scratch, g->fresh, g->out};
    load(g, out, bufs[pick(4)]);
}

static void
gen_branch(Gen *g, Block *out, Expr **whole, Expr **real)
{
    Names names = names_of(g);
    gen_block(g, out, 1 + (int)pick(3));
    *whole = int_expr(g, out, 1);
    *real = float_expr(g, out, 1);
    restore(g, names);
}

static void
gen_if(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_IF, PLACE);
    s->value = bool_expr(g, out, 2);
    s->njoins = 2;
    s->joins = ARENA_ARRAY(g->arena, Join, 2);
    gen_branch(g, &s->body, &s->joins[0].then_val, &s->joins[1].then_val);
    gen_branch(g, &s->els, &s->joins[0].else_val, &s->joins[1].else_val);
    s->joins[0].out = ir_var(g->func, "p", DT_I64, 0);
    s->joins[1].out = ir_var(g->func, "q", DT_F64, 0);
    push(g, out, s);
    show_int(g, s->joins[0].out);
    show_float(g, s->joins[1].out);
}

/* init, and what a loop's step does to it. */
static Expr *
gen_next(Gen *g, Block *out, Var *var)
{
    Expr *ref = ir_ref(g->arena, var);
    switch (pick(9)) {
    case 0:
        return ref;
    case 1:
        return num(g, pick(3));
    case 2:
        return ir_binary(g->arena, chance(50) ? E_MAX : E_MIN, ref,
                         int_expr(g, out, 1));
    case 3:
        return chance(50) ? int_expr(g, out, 2)
            : ir_binary(g->arena, E_ADD, ref,
                        ir_cast(g->arena, DT_I64, load(g, out, g->b)));
    case 4:
        /* What an inner loop or a branch made of the carry, most likely. */
        return ir_ref(g->arena, g->ints[g->nints - 1]);
    case 5:
        return ir_binary(g->arena, E_ADD, ref, ir_ref(g->arena, g->ints[0]));
    default:
        return ir_binary(g->arena, chance(60) ? E_ADD : E_SUB, ref,
                         num(g, pick(3)));
    }
}

static void
gen_carries(Gen *g, Block *out, Stmt *s)
{
    s->ncarries = 2;
    s->carries = ARENA_ARRAY(g->arena, Carry, 2);
    s->carries[0].init = chance(40)
        ? ir_ref(g->arena, g->ints[g->nints - 1])
        : chance(30) ? ir_ref(g->arena, g->ints[0]) : int_expr(g, out, 1);
    s->carries[0].var = ir_var(g->func, "c", DT_I64, 0);
    s->carries[0].out = ir_var(g->func, "c_out", DT_I64, 0);
    s->carries[1].init = float_expr(g, out, 1);
    s->carries[1].var = ir_var(g->func, "d", DT_F64, 0);
    s->carries[1].out = ir_var(g->func, "d_out", DT_F64, 0);
}

static void
gen_body(Gen *g, Stmt *s)
{
    gen_block(g, &s->body, 1 + (int)pick(4));
    s->carries[0].next = gen_next(g, &s->body, s->carries[0].var);
    s->carries[1].next = float_expr(g, &s->body, 2);
    if (chance(25)) {
        s->until = bool_expr(g, &s->body, 1);
    }
}

static Expr *
gen_bound(Gen *g, Block *out)
{
    if (chance(60)) {
        Expr *dim = ir_dim(g->arena, chance(70) ? g->a : g->out, 0);
        return ir_binary(g->arena, E_SUB, dim, num(g, pick(3)));
    }
    if (chance(50)) {
        return num(g, pick(5));
    }
    return ir_binary(g->arena, E_MIN, int_leaf(g, out), num(g, 5));
}

static void
gen_for(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_FOR, PLACE);
    s->lo = chance(70) ? num(g, pick(3)) : int_leaf(g, out);
    s->hi = gen_bound(g, out);
    gen_carries(g, out, s);
    if (chance(80)) {
        Expr *low = ir_binary(g->arena, E_LE, num(g, -8), s->lo);
        check(g, out, low, X_VALUE);
    }
    Names names = names_of(g);
    s->id = g->func->next_id++;
    s->var = ir_var(g->func, "r", DT_I64, 0);
    g->rounds[g->nrounds++] = s->var;
    show_int(g, s->var);
    show_int(g, s->carries[0].var);
    show_float(g, s->carries[1].var);
    gen_body(g, s);
    g->nrounds--;
    restore(g, names);
    show_int(g, s->carries[0].out);
    show_float(g, s->carries[1].out);
    push(g, out, s);
}

/* while c < limit: ...; c += 1 + something not negative, tested. */
static void
gen_while(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_WHILE, PLACE);
    Arena *arena = g->arena;
    gen_carries(g, out, s);
    Expr *limit = let_int(g, out, gen_bound(g, out));
    Names names = names_of(g);
    s->id = g->func->next_id++;
    Expr *count = ir_ref(arena, s->carries[0].var);
    s->value = ir_binary(arena, E_LT, count, limit);
    g->rounds[g->nrounds++] = s->carries[0].var;
    show_int(g, s->carries[0].var);
    show_float(g, s->carries[1].var);
    gen_body(g, s);
    g->nrounds--;
    Expr *step = num(g, 1 + pick(2));
    if (chance(50)) {
        Expr *over = ir_binary(arena, E_ADDO, count, step);
        check(g, &s->body, ir_unary(arena, E_NOT, over), X_OVERFLOW);
    }
    s->carries[0].next = ir_binary(arena, E_ADD, count, step);
    restore(g, names);
    show_int(g, s->carries[0].out);
    show_float(g, s->carries[1].out);
    push(g, out, s);
}

static void
gen_warn(Gen *g, Block *out)
{
    Stmt *s = ir_stmt(g->arena, S_WARN, PLACE);
    s->value = bool_expr(g, out, 1);
    s->warn = (Warn)pick(3);
    push(g, out, s);
}

static void
gen_stmt(Gen *g, Block *out)
{
    unsigned kind = pick(20);
    if (kind < 4) {
        gen_let(g, out);
    } else if (kind < 7) {
        gen_store(g, out);
    } else if (kind < 9) {
        gen_load(g, out);
    } else if (kind == 11) {
        Expr *cond = bool_expr(g, out, 1);
        cond = ir_binary(g->arena, E_OR, cond, bool_expr(g, out, 1));
        check(g, out, cond, X_ASSERT);
    } else if (kind == 12 && chance(40)) {
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
    switch (pick(8)) {
    case 0:
        outer->until = ir_binary(g->arena, E_EQ,
                                 ir_ref(g->arena, outer->var),
                                 num(g, pick(4)));
        return into;
    case 1:
        load(g, into, g->fresh);
        return into;
    case 2: {
        Stmt *s = ir_stmt(g->arena, S_IF, PLACE);
        s->value = bool_expr(g, into, 1);
        push(g, into, s);
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
    Names names = names_of(g);
    for (int i = 0; i < 2; i++) {
        Stmt *s = ir_stmt(g->arena, S_FOR, PLACE);
        Expr *dim = ir_dim(g->arena, g->a, i);
        int64_t edge = pick(3);
        s->lo = num(g, edge);
        s->hi = ir_binary(g->arena, E_SUB, dim, num(g, pick(3)));
        s->id = g->func->next_id++;
        s->var = ir_var(g->func, "y", DT_I64, 0);
        push(g, into, s);
        into = &s->body;
        index[i] = ir_ref(g->arena, s->var);
        if (edge > 0 && chance(40)) {
            index[i] = ir_binary(g->arena, E_SUB, index[i], num(g, 1));
        }
    }
    for (int i = 0; i < 2; i++) {
        index[i] = checked_index(g, into, g->fresh, i, index[i]);
    }
    into = gen_twist(g, out, into);
    push(g, into, ir_store(g->arena, g->fresh, index, 2,
                           float_expr(g, into, 1), PLACE));
    restore(g, names);
}

static Buf *
gen_buf(Gen *g, const char *name, BufKind kind, Block *out)
{
    Buf *buf = ir_buf(g->func, name, DT_F64, 2, kind);
    buf->dims[0] = ir_dim(g->arena, g->a, 0);
    buf->dims[1] = chance(70) ? ir_dim(g->arena, g->a, 1) : num(g, 3);
    Stmt *alloc = ir_stmt(g->arena, S_ALLOC, PLACE);
    alloc->buf = buf;
    push(g, out, alloc);
    Stmt *fill = ir_stmt(g->arena, S_FILL, PLACE);
    fill->buf = buf;
    fill->value = ir_float(g->arena, DT_F64, 0.0);
    push(g, out, fill);
    return buf;
}

Func *
passes_gen(Arena *arena, uint64_t seed, bool general)
{
    Gen g = {.arena = arena, .budget = 26};
    state = seed * 0x9E3779B97F4A7C15u + 1;
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
    show_int(&g, k);
    show_float(&g, x);
    g.fresh = gen_buf(&g, "fresh", BUF_RESULT, &func->body);
    g.scratch = gen_buf(&g, "scratch", BUF_LOCAL, &func->body);
    if (chance(70)) {
        gen_cover(&g, &func->body);
    }
    gen_block(&g, &func->body, 4 + (int)pick(5));
    Ret rets[] = {{NULL, g.fresh},
                  {int_expr(&g, &func->body, 1), NULL},
                  {float_expr(&g, &func->body, 1), NULL}};
    g.fresh->arg = 0;
    for (int i = 0; i < 3; i++) {
        vec_push(arena, &func->rets, rets[i]);
    }
    return func;
}
