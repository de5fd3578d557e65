/* Random expressions over the names in scope, with the checks that lowered
 * Python has before them.
 */
#include "tests/unit/passes_expr.h"

/* --- random numbers ------------------------------------------------------ */

static uint64_t state;

void
gen_seed(uint64_t seed)
{
    state = seed * 0x9E3779B97F4A7C15u + 1;
}

unsigned
gen_pick(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

bool
gen_chance(unsigned percent)
{
    return gen_pick(100) < percent;
}

/* --- the function under construction ------------------------------------- */

Names
gen_names_of(const Gen *g)
{
    Names names = {g->nints, g->nfloats, g->nrecent};
    return names;
}

void
gen_restore(Gen *g, Names names)
{
    g->nints = names.ints;
    g->nfloats = names.floats;
    g->nrecent = names.recent;
}

Expr *
gen_num(Gen *g, int64_t value)
{
    return ir_int(g->arena, DT_I64, value);
}

void
gen_push(Gen *g, Block *out, Stmt *s)
{
    vec_push(g->arena, out, s);
}

void
gen_show_int(Gen *g, Var *var)
{
    if (g->nints < MAX_VARS) {
        g->ints[g->nints++] = var;
    }
}

void
gen_show_float(Gen *g, Var *var)
{
    if (g->nfloats < MAX_VARS) {
        g->floats[g->nfloats++] = var;
    }
}

void
gen_check(Gen *g, Block *out, Expr *cond, Exc exc)
{
    gen_push(g, out, ir_check(g->arena, cond, exc, ACT_REPLAY, PLACE));
}


Expr *
gen_let_int(Gen *g, Block *out, Expr *value)
{
    Var *var = ir_var(g->func, "n", DT_I64, 0);
    gen_push(g, out, ir_let(g->arena, var, value, PLACE));
    gen_show_int(g, var);
    return ir_ref(g->arena, var);
}

/* 'index' wrapped and checked against axis 'axis' of 'buf'. */
Expr *
gen_checked_index(Gen *g, Block *out, Buf *buf, int axis, Expr *index)
{
    Arena *arena = g->arena;
    Expr *dim = ir_dim(arena, buf, axis);
    index = gen_let_int(g, out, index);
    if (gen_chance(60)) {
        Expr *below = ir_binary(arena, E_LT, index, gen_num(g, 0));
        Expr *moved = ir_binary(arena, E_ADD, index, dim);
        index = gen_let_int(g, out, ir_select(arena, below, moved, index));
    }
    Expr *low = ir_binary(arena, E_LE, gen_num(g, 0), index);
    Expr *high = ir_binary(arena, E_LT, index, dim);
    gen_check(g, out, ir_binary(arena, E_AND, low, high), X_INDEX);
    return index;
}

/* lhs op rhs after a test of its overflow, as Python integers have it. */
static Expr *
gen_tested(Gen *g, Block *out, Op op, Expr *lhs, Expr *rhs)
{
    Op test = op == E_ADD ? E_ADDO : op == E_SUB ? E_SUBO : E_MULO;
    Expr *over = ir_binary(g->arena, test, lhs, rhs);
    gen_check(g, out, ir_unary(g->arena, E_NOT, over), X_OVERFLOW);
    return gen_let_int(g, out, ir_binary(g->arena, op, lhs, rhs));
}

/* Some Var, brought into range. */
static Expr *
tame_index(Gen *g, Buf *buf, int axis)
{
    Expr *dim = ir_dim(g->arena, buf, axis);
    Expr *index = ir_ref(g->arena, g->ints[gen_pick((unsigned)g->nints)]);
    if (gen_chance(50)) {
        return ir_binary(g->arena, E_MOD, index, gen_num(g, 1 + gen_pick(3)));
    }
    Expr *last = ir_binary(g->arena, E_SUB, dim, gen_num(g, 1));
    index = ir_binary(g->arena, E_MIN, index, last);
    return ir_binary(g->arena, E_MAX, index, gen_num(g, 0));
}

/* An index as programs have them: a loop's Var plus or minus little. */
static Expr *
index_expr(Gen *g, Block *out, Buf *buf, int axis)
{
    Expr *index = gen_num(g, (int64_t)gen_pick(3) - (gen_chance(20) ? 1 : 0));
    if (g->nrounds > 0 && gen_chance(60)) {
        unsigned back = 1 + gen_pick(g->nrounds > 2 ? 2 : (unsigned)g->nrounds);
        index = ir_ref(g->arena, g->rounds[g->nrounds - (int)back]);
    } else if (gen_chance(65)) {
        index = tame_index(g, buf, axis);
    } else if (gen_chance(20)) {
        index = ir_ref(g->arena, g->ints[gen_pick((unsigned)g->nints)]);
    }
    if (gen_chance(25)) {
        Op op = gen_chance(50) ? E_ADD : E_SUB;
        Expr *little = gen_chance(80) ? gen_num(g, gen_pick(3))
                                  : ir_ref(g->arena, g->ints[0]);
        index = gen_tested(g, out, op, index, little);
    }
    if (g->nrounds > 1 && gen_chance(10)) {
        Expr *width = gen_chance(50) ? gen_num(g, 2) : ir_ref(g->arena,
                                                              g->ints[0]);
        Expr *row = ir_ref(g->arena, g->rounds[0]);
        index = gen_tested(g, out, E_ADD, gen_tested(g, out, E_MUL, row, width),
                       index);
    }
    return gen_checked_index(g, out, buf, axis, index);
}

/* The indices of an element of 'buf', half of the time one touched before. */
void
gen_element(Gen *g, Block *out, Buf *buf, Expr **index)
{
    for (int i = 0; i < 4 && g->nrecent > 0; i++) {
        const Element *old = &g->recent[gen_pick((unsigned)g->nrecent)];
        if (old->buf == buf && gen_chance(70)) {
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

Expr *
gen_load(Gen *g, Block *out, Buf *buf)
{
    Expr *index[2];
    gen_element(g, out, buf, index);
    Expr *value = ir_load(g->arena, buf, index, buf->rank, 0);
    if (gen_chance(70)) {
        Var *var = ir_var(g->func, "v", buf->dtype, 0);
        gen_push(g, out, ir_let(g->arena, var, value, PLACE));
        if (buf->dtype == DT_F64) {
            gen_show_float(g, var);
        } else if (buf->dtype == DT_I64) {
            gen_show_int(g, var);
        }
        value = ir_ref(g->arena, var);
    }
    return value;
}

/* --- expressions --------------------------------------------------------- */

/* A u64: a Python int seen as one, so that -1 is its greatest, or a constant at
 * either end of i64. */
static Expr *
gen_long_leaf(Gen *g, Block *out)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, -1, 0, 3};
    if (gen_chance(25)) {
        return ir_int(g->arena, DT_U64, ends[gen_pick(5)]);
    }
    Expr *e = ir_cast(g->arena, DT_U64, gen_int_leaf(g, out));
    if (!gen_chance(40)) {
        return e;
    }
    Var *var = ir_var(g->func, "u", DT_U64, 0);
    gen_push(g, out, ir_let(g->arena, var, e, PLACE));
    return ir_ref(g->arena, var);
}


Expr *
gen_bool_expr(Gen *g, Block *out, int depth)
{
    static const Op compares[] = {E_EQ, E_NE, E_LT, E_LE};
    if (depth > 0 && gen_chance(25)) {
        Expr *lhs = gen_bool_expr(g, out, depth - 1);
        if (gen_chance(30)) {
            return ir_unary(g->arena, E_NOT, lhs);
        }
        return ir_binary(g->arena, gen_chance(50) ? E_AND : E_OR, lhs,
                         gen_bool_expr(g, out, depth - 1));
    }
    Op op = compares[gen_pick(4)];
    if (gen_chance(12)) {
        Expr *lhs = gen_long_leaf(g, out);
        return ir_binary(g->arena, op, lhs, gen_long_leaf(g, out));
    }
    if (gen_chance(25)) {
        Expr *lhs = gen_float_expr(g, out, depth - 1);
        return ir_binary(g->arena, op, lhs, gen_float_expr(g, out, depth - 1));
    }
    Expr *lhs = gen_int_expr(g, out, depth - 1);
    return ir_binary(g->arena, op, lhs, gen_int_expr(g, out, depth - 1));
}

Expr *
gen_int_leaf(Gen *g, Block *out)
{
    unsigned kind = gen_pick(10);
    if (kind < 5 && g->nints > 0) {
        return ir_ref(g->arena, g->ints[gen_pick((unsigned)g->nints)]);
    }
    if (kind == 5) {
        return ir_dim(g->arena, g->a, (int)gen_pick(2));
    }
    if (kind == 6 && g->depth < 4) {
        Expr *value = gen_load(g, out, gen_chance(50) ? g->b : g->out);
        return ir_cast(g->arena, DT_I64, value);
    }
    return gen_num(g, (int64_t)gen_pick(7) - 2);
}

static Expr *
divided(Gen *g, Block *out, Op op, Expr *lhs)
{
    if (gen_chance(70)) {
        return ir_binary(g->arena, op, lhs, gen_num(g, 1 + gen_pick(4)));
    }
    Expr *rhs = gen_let_int(g, out, gen_int_leaf(g, out));
    gen_check(g, out, ir_binary(g->arena, E_NE, rhs, gen_num(g, 0)),
          X_ZERO_DIVISION);
    gen_check(g, out, ir_binary(g->arena, E_NE, rhs, gen_num(g, -1)),
              X_OVERFLOW);
    return ir_binary(g->arena, op, lhs, rhs);
}

static Expr *
narrowed(Gen *g, Expr *e)
{
    static const DType dtypes[] = {DT_I8, DT_U8, DT_I32, DT_U64, DT_U16};
    Expr *narrow = ir_cast(g->arena, dtypes[gen_pick(5)], e);
    if (gen_chance(40)) {
        Expr *one = ir_int(g->arena, narrow->dtype, 1 + gen_pick(3));
        narrow = ir_binary(g->arena, gen_chance(50) ? E_ADD : E_SUB, narrow,
                           one);
    }
    return ir_cast(g->arena, DT_I64, narrow);
}

/* An operation of u64 on numbers of which many are above the range of i64; a
 * divisor is a constant, or anything. */
static Expr *
gen_long(Gen *g, Block *out, int depth)
{
    static const Op ops[] = {E_ADD, E_SUB, E_MUL, E_MIN, E_MAX, E_AND,
                             E_OR,  E_MIN, E_MAX, E_SUB, E_IDIV, E_MOD};
    Expr *lhs = gen_long_leaf(g, out);
    Expr *rhs = gen_long_leaf(g, out);
    switch (gen_pick(6)) {
    case 0:
        return ir_select(g->arena, gen_bool_expr(g, out, depth - 1), lhs, rhs);
    case 1:
        return ir_binary(g->arena, gen_chance(50) ? E_SHL : E_SHR, lhs,
                         ir_int(g->arena, DT_U64, gen_pick(5)));
    case 2:
        return ir_binary(g->arena, gen_chance(50) ? E_IDIV : E_MOD, lhs,
                         ir_int(g->arena, DT_U64, 1 + gen_pick(4)));
    default:
        return ir_binary(g->arena, ops[gen_pick(12)], lhs, rhs);
    }
}

Expr *
gen_int_expr(Gen *g, Block *out, int depth)
{
    static const Op ops[] = {E_ADD, E_SUB, E_MUL, E_MIN, E_MAX,
                             E_AND, E_OR,  E_XOR, E_ADD, E_SUB};
    if (depth <= 0 || gen_chance(30)) {
        return gen_int_leaf(g, out);
    }
    Expr *lhs = gen_int_expr(g, out, depth - 1);
    if (gen_chance(10)) {
        return ir_cast(g->arena, DT_I64, gen_long(g, out, depth));
    }
    switch (gen_pick(8)) {
    case 0:
        return divided(g, out, gen_chance(50) ? E_IDIV : E_MOD, lhs);
    case 1:
        return ir_select(g->arena, gen_bool_expr(g, out, depth - 1), lhs,
                         gen_int_expr(g, out, depth - 1));
    case 2:
        return narrowed(g, lhs);
    case 3:
        return ir_unary(g->arena, gen_chance(50) ? E_ABS : E_NEG, lhs);
    case 4:
        return ir_binary(g->arena, gen_chance(50) ? E_SHL : E_SHR, lhs,
                         gen_num(g, gen_pick(5)));
    default:
        return ir_binary(g->arena, ops[gen_pick(10)], lhs,
                         gen_int_expr(g, out, depth - 1));
    }
}

Expr *
gen_float_expr(Gen *g, Block *out, int depth)
{
    static const Op ops[] = {E_ADD, E_SUB, E_MUL, E_DIV};
    static const double values[] = {0.0, 1.0, -0.0, 0.5, 2.0};
    if (depth > 0 && gen_chance(45)) {
        Expr *lhs = gen_float_expr(g, out, depth - 1);
        if (gen_chance(15)) {
            return ir_unary(g->arena, gen_chance(50) ? E_ABS : E_NEG, lhs);
        }
        return ir_binary(g->arena, ops[gen_pick(4)], lhs,
                         gen_float_expr(g, out, depth - 1));
    }
    if (g->nfloats > 0 && gen_chance(60)) {
        return ir_ref(g->arena, g->floats[gen_pick((unsigned)g->nfloats)]);
    }
    if (gen_chance(40) && g->depth < 4) {
        return gen_load(g, out, g->a);
    }
    if (gen_chance(30)) {
        return ir_cast(g->arena, DT_F64, gen_int_leaf(g, out));
    }
    return ir_float(g->arena, DT_F64, values[gen_pick(5)]);
}
