/* Constructors of the IR.
 *
 * They fold nothing, so that a test can write any tree and a pass gets what it
 * asked for, but they keep the invariants on which everything else rests:
 *
 *   dtype, lanes  follow from the operator and its operands
 *   constants     are normal: ints wrapped to their dtype, float32 rounded,
 *                 bool 0 or 1; so equal values have equal fields
 *   hash          equal trees have equal hashes.  Vars and Bufs enter by id and
 *                 not by address, so hashes are the same in every run
 *
 * Operands of unequal dtype are a bug of the caller and fatal here, where the
 * stack still shows who it was.  ir_node alone takes anything: ir_read builds
 * broken trees with it for the tests of ir_verify.
 */
#include <string.h>

#include "csrc/ir/ir.h"

/* A row of node.def.
 *
 *   "text"  the operator's word in the text form.
 *   "arity"  how many operands; -1: varies.
 *   "kind"  L, U, B, C, P or X: how dtype and lanes follow from the operands.
 */
typedef struct OpRow {
    const char *text;
    int arity;
    char kind;
} OpRow;

static const OpRow ops[E_COUNT] = {
#define NODE(op, text, arity, kind) {text, arity, kind},
#include "csrc/ir/node.def"
#undef NODE
};

/* The columns of fn.def. */
static const char *const fns[FN_COUNT] = {
#define FN(id, text, arity, origin) text,
#include "csrc/ir/fn.def"
#undef FN
};

static const int fn_arities[FN_COUNT] = {
#define FN(id, text, arity, origin) arity,
#include "csrc/ir/fn.def"
#undef FN
};

static const char fn_origins[FN_COUNT] = {
#define FN(id, text, arity, origin) origin,
#include "csrc/ir/fn.def"
#undef FN
};

const char *
ir_op_name(Op op)
{
    return ops[op].text;
}

char
ir_op_kind(Op op)
{
    return ops[op].kind;
}

int
ir_op_arity(Op op)
{
    return ops[op].arity;
}

const char *
ir_fn_name(Fn fn)
{
    return fns[fn];
}

int
ir_fn_arity(Fn fn)
{
    return fn_arities[fn];
}

char
ir_fn_origin(Fn fn)
{
    return fn_origins[fn];
}

/* --- hashes ------------------------------------------------------------- */

/* One step of a multiplicative hash; the shift brings the high bits, which the
 * product has mixed best, down to where the next step reads. The constant is
 * 2^64 divided by the golden ratio, made odd, as in Fibonacci hashing (Knuth,
 * volume 3, 6.4). */
static uint64_t
mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

/* Constants enter by their bits, so 0.0 and -0.0 differ as they do in ir_equal.
 * They go through memcpy since "ival" and "fval" share their bytes: for a float
 * this is its pattern, not its value.  A Fn is hashed by number: it need only
 * be the same in one run of one build. */
static uint64_t
hash_payload(const Expr *e, uint64_t h)
{
    uint64_t bits;
    switch ((int)e->op) {
    case E_CONST:
        memcpy(&bits, &e->ival, sizeof(bits));
        return mix(h, bits);
    case E_VAR:
        return mix(h, (uint64_t)e->var->id);
    case E_LOAD:
        return mix(h, (uint64_t)e->buf->id);
    case E_DIM:
    case E_STRIDE:
    case E_SUM:
        return mix(mix(h, (uint64_t)e->buf->id), (uint64_t)e->axis);
    case E_DISJOINT:
        return mix(mix(h, (uint64_t)e->buf->id), (uint64_t)e->buf2->id);
    case E_CALL:
        return mix(h, (uint64_t)e->fn);
    default:
        return h;
    }
}

/* Sets the hash of a node whose other fields are done. The operands' hashes are
 * done already, so this is O(nargs) and not a walk of the tree; their order
 * matters, so a - b and b - a differ.  The Loc stays out: equal code of two
 * lines must be found equal. */
static Expr *
seal(Expr *e)
{
    uint64_t h = mix(17, (uint64_t)e->op);
    h = mix(h, (uint64_t)e->dtype * 64 + (uint64_t)e->lanes);
    h = hash_payload(e, h);
    for (int i = 0; i < e->nargs; i++) {
        h = mix(h, e->args[i]->hash);
    }
    e->hash = h;
    return e;
}

/* --- nodes -------------------------------------------------------------- */

/* A node with a copy of its operands; dtype, lanes, payload and hash are still
 * to be set. The list is copied because callers pass local arrays. */
static Expr *
new_node(Arena *arena, Op op, Expr *const *args, int n)
{
    Expr *e = ARENA_NEW(arena, Expr);
    e->op = op;
    e->nargs = n;
    if (n > 0) {
        e->args = arena_copy(arena, args, sizeof(Expr *) * (size_t)n);
    }
    return e;
}

/* A node without operands. */
static Expr *
leaf(Arena *arena, Op op, DType dtype)
{
    Expr *e = new_node(arena, op, NULL, 0);
    e->dtype = dtype;
    return e;
}

/* Lanes of an element-wise result: those of the first vector operand. 0 where
 * all are scalars.  Vectors of unequal lanes are refused by 'need', or by
 * ir_verify where the node was read from text. */
static int
lanes_of(const Expr *e)
{
    for (int i = 0; i < e->nargs; i++) {
        if (e->args[i]->lanes) {
            return e->args[i]->lanes;
        }
    }
    return 0;
}

/* Sets dtype and lanes where they follow from the operands; the others keep
 * what they have. Of the X nodes CAST, CALL and SPLAT can't know all by
 * themselves: a cast's dtype, a call's dtype and a splat's lanes are set
 * before, and so is all of LOAD.  A SELECT has the lanes of any of its three
 * operands: a vector condition between scalars gives a vector. */
static void
derive(Expr *e)
{
    if (e->nargs < ops[e->op].arity) {
        return; /* broken; ir_verify says so */
    }
    switch (ops[e->op].kind) {
    case 'U':
    case 'B':
        e->dtype = e->args[0]->dtype;
        e->lanes = lanes_of(e);
        return;
    case 'C':
    case 'P':
        e->dtype = DT_BOOL;
        e->lanes = lanes_of(e);
        return;
    default:
        break;
    }
    switch ((int)e->op) {
    case E_SELECT:
        e->dtype = e->args[1]->dtype;
        e->lanes = lanes_of(e);
        break;
    case E_CAST:
    case E_CALL:
        e->lanes = lanes_of(e);
        break;
    case E_ELEM:
    case E_SPLAT:
        e->dtype = e->args[0]->dtype;
        break;
    case E_INSERT:
        e->dtype = e->args[0]->dtype;
        e->lanes = e->args[0]->lanes;
        break;
    default:
        break;
    }
}

/* Takes any operands, so a broken node gets the dtype of what it has, or
 * none. */
Expr *
ir_node(Arena *arena, Op op, Expr *const *args, int n)
{
    Expr *e = new_node(arena, op, args, n);
    derive(e);
    return seal(e);
}

/* Dies of operands that don't fit; the message names both. Fatal and not a
 * diagnostic: no program of a user can lead here, only a pass with a bug. */
static void
need(bool ok, Op op, const Expr *lhs, const Expr *rhs)
{
    if (!ok) {
        fatal("ir: %s of %s x%d and %s x%d", ops[op].text,
              dtype_short(lhs->dtype), lhs->lanes, dtype_short(rhs->dtype),
              rhs->lanes);
    }
}

/* Equal lanes, or one a scalar. */
static bool
lanes_fit(const Expr *lhs, const Expr *rhs)
{
    return lhs->lanes == rhs->lanes || !lhs->lanes || !rhs->lanes;
}

/* Wraps: a pass may compute in 64 bits and need not think of the dtype. */
Expr *
ir_int(Arena *arena, DType dtype, int64_t value)
{
    if (dtype_is_float(dtype)) {
        fatal("ir: an integer constant of %s", dtype_short(dtype));
    }
    Expr *e = leaf(arena, E_CONST, dtype);
    e->ival = ir_wrap(dtype, value);
    return seal(e);
}

/* Shifts the value's top bit to bit 63 and back: arithmetic for signed types,
 * which repeats the sign, logical for the others. The left shift is on unsigned
 * values, where losing bits is defined; the right shift of a negative number
 * repeats the sign in gcc and clang, which C leaves to the implementation. */
int64_t
ir_wrap(DType dtype, int64_t value)
{
    int shift = 64 - dtype_size(dtype) * 8;
    uint64_t bits = (uint64_t)value << shift;
    if (dtype == DT_BOOL) {
        return value != 0;
    }
    if (dtype_is_signed(dtype)) {
        return (int64_t)bits >> shift;
    }
    return (int64_t)(bits >> shift);
}

/* Rounds for float32: a constant has the value that the kernel sees. The double
 * that is kept is then exactly a float32, so that folding in double and
 * rounding again gives what float arithmetic gives. */
Expr *
ir_float(Arena *arena, DType dtype, double value)
{
    if (!dtype_is_float(dtype)) {
        fatal("ir: a float constant of %s", dtype_short(dtype));
    }
    Expr *e = leaf(arena, E_CONST, dtype);
    e->fval = dtype == DT_F32 ? (double)(float)value : value;
    return seal(e);
}

Expr *
ir_zero(Arena *arena, DType dtype)
{
    return dtype_is_float(dtype) ? ir_float(arena, dtype, 0)
                                 : ir_int(arena, dtype, 0);
}

Expr *
ir_bool(Arena *arena, bool value)
{
    return ir_int(arena, DT_BOOL, value);
}

/* A reference has the type of its Var at the time it is made. Two references to
 * one Var are equal nodes, not one. */
Expr *
ir_ref(Arena *arena, Var *var)
{
    Expr *e = leaf(arena, E_VAR, var->dtype);
    e->var = var;
    e->lanes = var->lanes;
    return seal(e);
}

/* The extent of an axis as the array has it at run time; never negative. */
Expr *
ir_dim(Arena *arena, Buf *buf, int axis)
{
    Expr *e = leaf(arena, E_DIM, DT_I64);
    e->buf = buf;
    e->axis = axis;
    return seal(e);
}

/* The step of an axis in bytes, which may be negative or 0. */
Expr *
ir_stride(Arena *arena, Buf *buf, int axis)
{
    Expr *e = leaf(arena, E_STRIDE, DT_I64);
    e->buf = buf;
    e->axis = axis;
    return seal(e);
}

/* The dtype is the buffer's; with 'lanes' the last axis is read whole and
 * has no index. */
Expr *
ir_load(Arena *arena, Buf *buf, Expr *const *index, int n, int lanes)
{
    Expr *e = new_node(arena, E_LOAD, index, n);
    e->dtype = buf->dtype;
    e->buf = buf;
    e->lanes = lanes;
    return seal(e);
}

/* See SumKind; the operands are as ir.h says. */
Expr *
ir_sum(Arena *arena, SumKind kind, DType dtype, Buf *buf, Expr *const *args,
       int n)
{
    Expr *e = new_node(arena, E_SUM, args, n);
    e->dtype = dtype;
    e->buf = buf;
    e->axis = (int)kind;
    return seal(e);
}

int
ir_sum_axes(const Expr *e)
{
    return (e->nargs - e->buf->rank - (e->axis == SUM_SQUARES)) / 3;
}

const char *
ir_routine_name(Routine routine)
{
    static const char *const names[ROUTINE_COUNT] = {
        "dot", "vecmul", "matmul",  "inv",            "solve",
        "det", "sort",   "argsort", "argsort_stable", "loop",
    };
    return names[routine];
}

/* Asked at the entry of a fast kernel.  Symmetric in meaning, but the two
 * orders are unequal nodes. */
Expr *
ir_disjoint(Arena *arena, Buf *lhs, Buf *rhs)
{
    Expr *e = leaf(arena, E_DISJOINT, DT_BOOL);
    e->buf = lhs;
    e->buf2 = rhs;
    return seal(e);
}

Expr *
ir_unary(Arena *arena, Op op, Expr *arg)
{
    return ir_node(arena, op, &arg, 1);
}

/* Also comparisons and the overflow predicates, whose result is a bool of the
 * operands' lanes. */
Expr *
ir_binary(Arena *arena, Op op, Expr *lhs, Expr *rhs)
{
    Expr *args[] = {lhs, rhs};
    need(lhs->dtype == rhs->dtype && lanes_fit(lhs, rhs), op, lhs, rhs);
    return ir_node(arena, op, args, 2);
}

/* A scalar condition chooses between vectors as a whole, a vector one lane
 * by lane. */
Expr *
ir_select(Arena *arena, Expr *cond, Expr *yes, Expr *no)
{
    Expr *args[] = {cond, yes, no};
    need(cond->dtype == DT_BOOL && lanes_fit(cond, yes) && lanes_fit(cond, no),
         E_SELECT, cond, yes);
    need(yes->dtype == no->dtype && lanes_fit(yes, no), E_SELECT, yes, no);
    return ir_node(arena, E_SELECT, args, 3);
}

/* Never folds, not even a cast to the dtype that 'arg' has. */
Expr *
ir_cast(Arena *arena, DType dtype, Expr *arg)
{
    Expr *e = new_node(arena, E_CAST, &arg, 1);
    e->dtype = dtype;
    derive(e);
    return seal(e);
}

/* The caller gives the dtype: it does not follow from the arguments for
 * FINITE and the like. */
Expr *
ir_call(Arena *arena, Fn fn, DType dtype, Expr *const *args, int n)
{
    Expr *e = new_node(arena, E_CALL, args, n);
    e->fn = fn;
    e->dtype = dtype;
    derive(e);
    return seal(e);
}

/* One lane; the index is an i64 as that of an array is, and within the lanes by
 * the caller's word. */
Expr *
ir_elem(Arena *arena, Expr *vec, Expr *index)
{
    Expr *args[] = {vec, index};
    need(vec->lanes && index->dtype == DT_I64 && !index->lanes, E_ELEM, vec,
         index);
    return ir_node(arena, E_ELEM, args, 2);
}

/* A new vector: 'vec' but for lane 'index'.  Nothing is changed in place. */
Expr *
ir_insert(Arena *arena, Expr *vec, Expr *index, Expr *value)
{
    Expr *args[] = {vec, index, value};
    need(vec->lanes && index->dtype == DT_I64 && !index->lanes, E_INSERT, vec,
         index);
    need(vec->dtype == value->dtype && !value->lanes, E_INSERT, vec, value);
    return ir_node(arena, E_INSERT, args, 3);
}

/* Lanes and operand are left to ir_verify, so that the reader can make
 * broken ones. */
Expr *
ir_splat(Arena *arena, Expr *scalar, int lanes)
{
    Expr *e = new_node(arena, E_SPLAT, &scalar, 1);
    e->lanes = lanes;
    derive(e);
    return seal(e);
}

/* dtype and lanes are worked out again: a vector may have taken the place of a
 * scalar. 'args' has as many as 'e'.  The Loc stays that of 'e', so messages
 * still point at the user's text. */
Expr *
ir_with_args(Arena *arena, const Expr *e, Expr *const *args)
{
    Expr *copy = arena_copy(arena, e, sizeof(Expr));
    if (e->nargs > 0) {
        copy->args = arena_copy(arena, args, sizeof(Expr *) * (size_t)e->nargs);
    }
    derive(copy);
    return seal(copy);
}

/* For nodes just built only: a shared node would get its Loc changed for
 * everyone. */
Expr *
ir_at(Expr *e, Loc loc)
{
    e->loc = loc;
    return e;
}

/* --- functions, names, statements --------------------------------------- */

Func *
ir_func(Arena *arena, Sym name, Level level)
{
    Func *func = ARENA_NEW(arena, Func);
    func->arena = arena;
    func->name = name;
    func->level = level;
    return func;
}

/* Ids are given in order, so equal runs make equal names. */
Var *
ir_var(Func *func, const char *name, DType dtype, int lanes)
{
    Var *var = ARENA_NEW(func->arena, Var);
    var->name = sym(name);
    var->id = func->next_id++;
    var->dtype = dtype;
    var->lanes = lanes;
    return var;
}

/* The dims of an argument are its own E_DIMs, and those of another name until
 * more is known; any others are the caller's to set.  What is made here is
 * C-contiguous, an argument may be anything, and so may what is named. */
Buf *
ir_buf(Func *func, const char *name, DType dtype, int rank, BufKind kind)
{
    if (rank < 0 || rank > MAX_RANK) {
        fatal("ir: a buffer of rank %d", rank);
    }
    Buf *buf = ARENA_NEW(func->arena, Buf);
    buf->name = sym(name);
    buf->id = func->next_id++;
    buf->dtype = dtype;
    buf->kind = kind;
    buf->rank = rank;
    /* the caller numbers arguments and results, when it lists them */
    buf->arg = -1;
    bool foreign = kind == BUF_ARG || kind == BUF_REF;
    buf->layout = foreign ? LAYOUT_ANY : LAYOUT_C;
    for (int i = 0; i < rank && foreign; i++) {
        buf->dims[i] = ir_dim(func->arena, buf, i);
    }
    return buf;
}

Buf *
ir_stack_row(Func *func, const char *name, DType dtype, int64_t n, Loc loc)
{
    Buf *buf = ir_buf(func, name, dtype, 1, BUF_LOCAL);
    buf->space = SPACE_STACK;
    buf->layout = LAYOUT_C;
    buf->dims[0] = ir_int(func->arena, DT_I64, n);
    buf->loc = loc;
    return buf;
}

/* All other fields are zero: no buffer, no value, serial, not logged. */
Stmt *
ir_stmt(Arena *arena, StmtKind kind, Loc loc)
{
    Stmt *s = ARENA_NEW(arena, Stmt);
    s->kind = kind;
    s->loc = loc;
    return s;
}

Stmt *
ir_let(Arena *arena, Var *var, Expr *value, Loc loc)
{
    Stmt *s = ir_stmt(arena, S_LET, loc);
    s->var = var;
    s->value = value;
    return s;
}

Expr *
ir_named(Func *func, Block *out, const char *name, Expr *value, Loc loc)
{
    Var *var = ir_var(func, name, value->dtype, value->lanes);
    vec_push(func->arena, out, ir_let(func->arena, var, value, loc));
    return ir_ref(func->arena, var);
}

Stmt *
ir_set(Arena *arena, Var *var, Expr *value, Loc loc)
{
    Stmt *s = ir_let(arena, var, value, loc);
    s->kind = S_SET;
    return s;
}

/* The number of indices is not compared with the rank: one less stores a vector
 * over the last axis, and ir_verify judges the rest. */
Stmt *
ir_store(Arena *arena, Buf *buf, Expr *const *index, int n, Expr *value,
         Loc loc)
{
    Stmt *s = ir_stmt(arena, S_STORE, loc);
    s->buf = buf;
    s->nindex = n;
    s->index = arena_copy(arena, index, sizeof(Expr *) * (size_t)n);
    s->value = value;
    return s;
}

/* 'cond' is what must hold, not what must not. */
Stmt *
ir_check(Arena *arena, Expr *cond, Exc exc, Action action, Loc loc)
{
    Stmt *s = ir_stmt(arena, S_CHECK, loc);
    s->value = cond;
    s->exc = exc;
    s->action = action;
    return s;
}
