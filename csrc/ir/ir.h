#ifndef VZ_IR_IR_H
#define VZ_IR_IR_H
/* THE intermediate representation: one tree language, three levels.
 *
 *   L_ARRAY  names may be reassigned (SET), control flow may BREAK, CONTINUE
 *            and LEAVE, arrays may be filled as a whole.
 *   L_LOOPS  every Var is assigned once.  What an IF or a loop hands out or
 *            carries round is named on the node ("joins", "carries").  No
 *            BREAK, CONTINUE, LEAVE, SCOPE, SET.
 *   L_SCHED  as L_LOOPS, and loops carry the mode in which they run.
 *
 * Nodes are immutable once built and live in an arena.  A Var is identified
 * by its address, so no renaming is ever needed when code moves; a pass that
 * duplicates code makes fresh Vars (ir_clone does).
 *
 * Semantics in three rules.
 *  1. Expressions have no effects and never trap.  E_LOAD reads memory, so an
 *     expression with a load may not move over a store that may alias.
 *     Integer arithmetic wraps.  IDIV, MOD by zero, shifts out of range and
 *     casts out of range give some value, not a trap; where Python would
 *     raise, an S_CHECK stands before.
 *  2. S_CHECK that fails ends the call: everything written to memory of the
 *     caller is undone and the call is repeated (REPLAY: in Python; BAIL: by
 *     the general version of the kernel).  So checks commute with everything
 *     but visible effects that can't be undone, of which there are none.
 *  3. Index expressions are in elements per axis and already within bounds.
 *     At L_SCHED the last index of a LAYOUT_C buffer may run on over the end
 *     of its axis, as long as the address stays within the buffer.
 *
 * A vector Var or Expr ("lanes" > 0) is a small array of constant size held
 * in registers; arithmetic on it is element by element, and a scalar operand
 * (lanes 0) is broadcast.
 */
#include "csrc/base/diag.h"
#include "csrc/base/map.h"
#include "csrc/base/vec.h"
#include "csrc/ir/type.h"

typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef struct Func Func;

typedef enum Level { L_ARRAY, L_LOOPS, L_SCHED } Level;

/* A scalar or small vector.  "name" is for readers only and need not be
 * unique; "id" is unique in its Func and makes the printed name so. */
typedef struct Var {
    Sym name;
    int id;
    DType dtype;
    int lanes; /* 0: a scalar */
} Var;

typedef enum BufKind {
    BUF_ARG,    /* an array argument: visible to the caller */
    BUF_RESULT, /* fresh and returned */
    BUF_LOCAL,  /* fresh and dropped at the end */
} BufKind;

typedef enum Space {
    SPACE_HEAP,
    SPACE_STACK, /* constant size, small, private to one iteration */
} Space;

/* An array in memory.  "dims" has one i64 expression per axis: for BUF_ARG
 * they are E_DIM of the buffer itself or constants, else what S_ALLOC was
 * given (invariant scalars, evaluated there).  "arg" numbers it among
 * Func.params or, for BUF_RESULT, Func.rets; -1 for BUF_LOCAL. */
typedef struct Buf {
    Sym name;
    int id;
    DType dtype;
    BufKind kind;
    Space space;
    Layout layout;
    int rank;
    Expr *dims[MAX_RANK];
    int arg;
    Loc loc;
} Buf;

typedef enum Op {
#define NODE(op, name, arity, kind) E_##op,
#include "csrc/ir/node.def"
#undef NODE
    E_COUNT
} Op;

/* Functions that E_CALL names; fn.def says what each computes. */
typedef enum Fn {
#define FN(id, text, arity, origin) FN_##id,
#include "csrc/ir/fn.def"
#undef FN
    FN_COUNT
} Fn;

/* An expression.  "dtype" and "lanes" describe its value.
 *   CONST  "ival" (bool, ints; u64 by bits) or "fval" (floats)
 *   VAR    "var"
 *   LOAD   "buf", args = index per axis.  lanes > 0: the last axis is read
 *          whole, args has rank - 1 entries (trailing index left out)
 *   DIM    "buf", "axis"
 *   DISJOINT  "buf", "buf2": no byte is shared by elements of both
 *   CALL   "fn", args
 *   others: args as node.def says */
struct Expr {
    Op op;
    DType dtype;
    int lanes;
    int nargs;
    Expr **args;
    union {
        int64_t ival;
        double fval;
        Var *var;
        struct {
            Buf *buf;
            Buf *buf2;
            int axis;
        };
        Fn fn;
    };
    uint64_t hash; /* equal trees have equal hashes */
    Loc loc;
};

typedef VEC(Expr *) ExprVec;
typedef VEC(Stmt *) Block;
typedef VEC(Var *) VarVec;

/* What an S_IF hands out: "out" is "then_val" or "else_val", evaluated at the
 * end of the branch taken. */
typedef struct Join {
    Var *out;
    Expr *then_val;
    Expr *else_val;
} Join;

/* What a loop carries: inside, "var" is "init" in the first round and "next"
 * of the round before afterwards; "out" names it after the loop: the last
 * "next", or if there was none, or if a WHILE's test failed, what "var" was. */
typedef struct Carry {
    Var *var;
    Expr *init;
    Expr *next; /* evaluated at the end of the body */
    Var *out;
} Carry;

typedef enum StmtKind {
    S_LET,      /* let "var" = "value" */
    S_STORE,    /* "buf"["index"] = "value" */
    S_CHECK,    /* "value" must hold */
    S_WARN,     /* if "value": note a warning of "warn" */
    S_IF,       /* "value" ? "then" : "els", "joins" */
    S_FOR,      /* "var" in ["lo", "hi") step 1, "carries", "until" */
    S_WHILE,    /* "pre" then test "value" then "body"; "carries", "until" */
    S_ALLOC,    /* make "buf" */
    S_FILL,     /* set all of "buf" to "value", but not the box "keep" */
    /* L_ARRAY only */
    S_SET,      /* "var" = "value", may be repeated; 0 before the first */
    S_SCOPE,    /* "body"; LEAVE inside ends it; Vars of it live on */
    S_LEAVE,    /* leave the innermost S_SCOPE */
    S_BREAK,
    S_CONTINUE,
    /* L_SCHED only */
    S_SHADOW,   /* keep a copy of all visible written buffers */
    S_COUNT
} StmtKind;

/* Why a check stands there; REPLAY decides the true exception. */
typedef enum Exc {
    X_INDEX,
    X_ZERO_DIVISION,
    X_OVERFLOW,
    X_VALUE,
    X_TYPE,
    X_UNBOUND,
    X_ASSERT,
    X_RAISE,
    X_MEMORY,     /* negative or huge dimensions */
    X_SPECULATE,  /* nothing raised: the native form would differ */
    X_COUNT
} Exc;

typedef enum Action { ACT_REPLAY, ACT_BAIL } Action;

typedef enum Warn { WARN_DIVIDE, WARN_OVERFLOW, WARN_INVALID } Warn;

typedef enum LoopMode {
    LOOP_SERIAL,
    LOOP_PARALLEL, /* iterations over threads */
    LOOP_VECTOR,   /* iterations proved independent: '#pragma omp simd' */
} LoopMode;

/* A statement; the comment of StmtKind says which fields it uses.
 *  "index"  STORE: as LOAD's args; FILL with "has_keep": lo0, hi0, lo1, ...
 *           of the box that is left alone
 *  "carries", "ncarries"; "joins", "njoins"
 *  "until"  FOR, WHILE: evaluated at the end of the body, where a carry's
 *           "var" is still that of this round; true ends the loop.
 *           NULL: never
 *  "id"     FOR, WHILE: stable number of the loop, named by directives
 *  "logged" STORE at L_SCHED: keep the old value for undo
 *  "poll"   loops at L_SCHED: ask now and then whether to stop */
struct Stmt {
    StmtKind kind;
    Loc loc;
    Var *var;
    Expr *value;
    Expr *lo;
    Expr *hi;
    Expr *until;
    Buf *buf;
    int nindex;
    Expr **index;
    int njoins;
    Join *joins;
    int ncarries;
    Carry *carries;
    Block body; /* FOR, WHILE, SCOPE; IF: the branch taken if true */
    Block els;  /* IF */
    Block pre;  /* WHILE */
    Exc exc;
    Action action;
    Warn warn;
    LoopMode mode;
    int id;
    bool has_keep;
    bool logged;
    bool poll;
};

/* A parameter: a scalar ("var") or an array ("buf"). */
typedef struct Param {
    Sym name;
    Var *var;
    Buf *buf;
} Param;

/* One returned value, flattened: "value" (a scalar or vector, evaluated at
 * the end of the body; at L_ARRAY it reads a SET variable), or "buf", a
 * BUF_RESULT whose "arg" is the number of this ret. */
typedef struct Ret {
    Expr *value;
    Buf *buf;
} Ret;

struct Func {
    Arena *arena;
    Sym name;
    Level level;
    bool general; /* program order; arguments may overlap */
    VEC(Param) params;
    VEC(Ret) rets;
    Block body;
    int next_id; /* for Vars, Bufs and loops */
    Loc loc;
};

/* --- build.c: constructors.  They fold nothing but keep every invariant - */
/* The columns of node.def and fn.def. */
const char *ir_op_name(Op op);
char ir_op_kind(Op op);
int ir_op_arity(Op op);
const char *ir_fn_name(Fn fn);
int ir_fn_arity(Fn fn);
/* 'value' reduced to the range of an integer or bool 'dtype' (u64 by bits),
 * as every CONST has it. */
int64_t ir_wrap(DType dtype, int64_t value);
Func *ir_func(Arena *arena, Sym name, Level level);
Var *ir_var(Func *func, const char *name, DType dtype, int lanes);
Buf *ir_buf(Func *func, const char *name, DType dtype, int rank, BufKind kind);
Expr *ir_int(Arena *arena, DType dtype, int64_t value);
Expr *ir_float(Arena *arena, DType dtype, double value);
Expr *ir_bool(Arena *arena, bool value);
Expr *ir_ref(Arena *arena, Var *var);
Expr *ir_dim(Arena *arena, Buf *buf, int axis);
Expr *ir_load(Arena *arena, Buf *buf, Expr *const *index, int n, int lanes);
Expr *ir_disjoint(Arena *arena, Buf *lhs, Buf *rhs);
/* Any operator of node.def; the result's dtype and lanes follow from it and
 * the operands. */
Expr *ir_unary(Arena *arena, Op op, Expr *arg);
Expr *ir_binary(Arena *arena, Op op, Expr *lhs, Expr *rhs);
Expr *ir_select(Arena *arena, Expr *cond, Expr *yes, Expr *no);
Expr *ir_cast(Arena *arena, DType dtype, Expr *arg);
Expr *ir_call(Arena *arena, Fn fn, DType dtype, Expr *const *args, int n);
Expr *ir_elem(Arena *arena, Expr *vec, Expr *index);
Expr *ir_insert(Arena *arena, Expr *vec, Expr *index, Expr *value);
Expr *ir_splat(Arena *arena, Expr *scalar, int lanes);
/* A node without payload (not CAST, CALL, LOAD, SPLAT), of any operands
 * whatever: what the others refuse is left to ir_verify. */
Expr *ir_node(Arena *arena, Op op, Expr *const *args, int n);
/* 'e' with other operands (same op, payload and Loc). */
Expr *ir_with_args(Arena *arena, const Expr *e, Expr *const *args);
Expr *ir_at(Expr *e, Loc loc); /* sets the Loc of a node just built */

Stmt *ir_stmt(Arena *arena, StmtKind kind, Loc loc);
Stmt *ir_let(Arena *arena, Var *var, Expr *value, Loc loc);
Stmt *ir_set(Arena *arena, Var *var, Expr *value, Loc loc);
Stmt *ir_store(Arena *arena, Buf *buf, Expr *const *index, int n, Expr *value,
               Loc loc);
Stmt *ir_check(Arena *arena, Expr *cond, Exc exc, Action action, Loc loc);

/* --- walk.c ------------------------------------------------------------- */
bool ir_equal(const Expr *lhs, const Expr *rhs); /* structural, Loc ignored */
bool ir_has_load(const Expr *e);
bool ir_uses(const Expr *e, const Var *var);
bool ir_is_const(const Expr *e);
bool ir_const_int(const Expr *e, int64_t *out); /* CONST of int or bool */
/* 'e' with Vars and Bufs replaced: 'map' Var * -> Expr *, Buf * -> Buf *. */
Expr *ir_subst(Arena *arena, Expr *e, const Map *map);
/* Rewrites bottom-up: 'fn' is given a node whose operands are done and
 * returns it or its replacement. */
typedef Expr *(*ExprFn)(void *data, Expr *e);
Expr *ir_map(Arena *arena, Expr *e, ExprFn fn, void *data);
/* Every direct sub-expression slot of 's' (value, index, bounds, joins,
 * carries, until; ALLOC: the dims of its buf), not those of nested
 * statements. */
void ir_each_expr(Stmt *s, void (*fn)(void *data, Expr **slot), void *data);
/* Every statement in 'block' and below, outer before inner. */
void ir_each_stmt(const Block *block, void (*fn)(void *data, Stmt *s),
                  void *data);
/* A copy of 's' with index, joins and carries of its own, so that its slots
 * may be rewritten; nested statements are shared. */
Stmt *ir_copy_stmt(Arena *arena, const Stmt *s);
/* Rewrites statements bottom-up: 'fn' is given a copy whose nested blocks are
 * done, and pushes what takes its place (itself, nothing, several) on 'out'. */
typedef void (*StmtFn)(void *data, Block *out, Stmt *s);
Block ir_map_block(Arena *arena, const Block *block, StmtFn fn, void *data);
/* A deep copy with fresh Vars, local Bufs and loop ids for all that 'block'
 * defines; 'map' (Var * -> Expr *, Buf * -> Buf *) may hold replacements of
 * free Vars and Bufs and receives the fresh ones.  A SET variable stays
 * itself unless 'map' gives another; so does a BUF_RESULT, whose dims then
 * name what the clone defines. */
Block ir_clone(Func *func, const Block *block, Map *map);
/* A deep copy of a whole function that shares nothing with it and keeps all
 * ids. */
Func *ir_clone_func(Arena *arena, const Func *func);
int ir_count(const Func *func, StmtKind kind);
int ir_size(const Block *block); /* nodes, for budgets */

/* --- print.c, read.c, verify.c, eval.c ---------------------------------- */
void ir_print(const Func *func, Str *out);
void ir_print_expr(const Expr *e, Str *out);
void ir_print_stmt(const Stmt *s, Str *out);
/* NULL and a message with line and column when 'text' is not a function. */
Func *ir_read(Arena *arena, const char *text, const char **error);
/* NULL when 'func' keeps every rule of its level, else what is broken. */
const char *ir_verify(Arena *arena, const Func *func);

/* A value and an array for the reference interpreter; strides in bytes.  A
 * Slot holds bool and integers as "i", wrapped as ir_wrap does, float32 and
 * float64 as "f". */
typedef union Slot {
    int64_t i;
    double f;
    void *p;
} Slot;

typedef struct EvalArray {
    char *data;
    int64_t dims[MAX_RANK];
    int64_t strides[MAX_RANK];
} EvalArray;

typedef struct Eval {
    EvalArray *arrays; /* per param, used where it is an array */
    Slot *scalars;     /* per param, used where it is a scalar */
    Slot *rets;        /* values, at ir_ret_slot: one Slot per lane */
    EvalArray *ret_arrays; /* per ret: filled with arena memory */
    long steps;        /* budget; negative when it ran out */
    unsigned warnings; /* bit per Warn */
} Eval;

typedef enum EvalStatus {
    EVAL_OK,
    EVAL_BAIL,
    EVAL_REPLAY,
    EVAL_STEPS, /* ran out of budget */
    EVAL_FAULT, /* an index out of bounds or a broken rule: a compiler bug */
} EvalStatus;

/* Where the value of ret number 'ret' begins among the Slots: a scalar takes
 * one, a vector one per lane, a buffer none.  Of Func.rets.n: their sum. */
int ir_ret_slot(const Func *func, int ret);
/* The value of one lane of an operator, CAST, SELECT or CALL, given those of
 * its operands: what generated code computes.  Also for constant folding. */
Slot ir_compute(const Expr *e, const Slot *args);
/* Runs 'func' (any level) in program order on 'state'. */
EvalStatus ir_eval(Arena *arena, const Func *func, Eval *state);
#endif
