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
 *  1. Expressions have no effects and never trap.  E_LOAD and E_SUM read
 *  memory,
 *     so an expression with one (a load, for short) may not move over a store
 *     that may alias. Integer arithmetic wraps.  IDIV, MOD by zero, shifts out
 *     of range and casts out of range give some value, not a trap; where Python
 *     would raise, an S_CHECK stands before.
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

/* The three levels, in the order in which a function passes through them; no
 * pass leads back.  The same source at each:
 *
 *   acc = 0.0                 set %acc.1 = 0.0               L_ARRAY
 *   for x in a:               for %i.2 in 0, (dim &a.0 0) #3 {
 *       acc += x                set %acc.1 = (add %acc.1 &a.0[%i.2])
 *                             }
 *
 *                             for %i.2 in 0, (dim &a.0 0) #3 {    L_LOOPS
 *                               carry %acc.4 = 0.0
 *                               next %acc.4 = (add %acc.4 &a.0[%i.2])
 *                                 -> %acc.5
 *                             }
 *
 *                             ... #3 poll { ... }            L_SCHED */
typedef enum Level { L_ARRAY, L_LOOPS, L_SCHED } Level;

/* A scalar or small vector.  Its identity is its address.
 *
 * "name" is what the user called it, for readers only; it need not be unique
 * and may be empty.  "id" is unique among the Vars, Bufs and loops of its Func
 * and makes the printed name so; tables of facts are indexed by it.  "dtype"
 * and "lanes" are those of every value it ever has. */
typedef struct Var {
    Sym name;
    int id;
    DType dtype;
    int lanes; /* 0: a scalar */
} Var;

/* Who made the memory, and with it who sees what is written there.  A check
 * that fails must undo stores to the first kind only: the others are dropped
 * with the call. */
typedef enum BufKind {
    BUF_ARG,    /* an array argument: visible to the caller */
    BUF_RESULT, /* fresh and returned */
    BUF_LOCAL,  /* fresh and dropped at the end */
    BUF_REF,    /* another name for memory that is made elsewhere */
} BufKind;

/* Where the memory of a BUF_LOCAL lies.  The stack is for a few elements that a
 * round of a loop fills and reads: no call of the host, and the C compiler may
 * keep them in registers. */
typedef enum Space {
    SPACE_HEAP, /* from the host, for one call */
    SPACE_STACK, /* constant size, small */
} Space;

/* An array in memory.  Its identity is its address, as a Var's.
 *
 *   "name", "id", "dtype"  as a Var's; "dtype" is that of an element.
 *   "kind", "space"  see there.  "layout" LAYOUT_C promises elements in C order
 *       without gaps; all but arguments have it.
 *   "rank"  number of axes, 0 to MAX_RANK.
 *   "dims"  one i64 expression per axis: for BUF_ARG they are E_DIM of the
 *       buffer itself or constants (part of the signature, tested by the
 *       dispatcher), for BUF_REF see below, else what S_ALLOC was given
 *       (invariant scalars, evaluated there).
 *   "steps"  of a BUF_ARG with gaps: elements from one index of the axis to the
 *       next, where the dispatcher tests that; 0: not known.
 *   "arg"  numbers it among Func.params or, for BUF_RESULT, Func.rets; -1 for
 *       others.
 *   "group"  buffers that may be names of the same memory have the same one,
 *       NULL: no other has (ir_may_share).  Set by pass 'ssa'.
 *   "apart"  a bit per id of other buffers of the group: while both names exist
 *       they are surely different memory ("napart" bits; ir_may_overlap).
 *   "growable"  a BUF_LOCAL of rank 1 whose memory S_GROW may move and enlarge;
 *       its extent is never asked, so accesses have checks of their own.
 *   "loc"  the parameter, or the call in the source that makes the array.
 *
 * A BUF_REF stands for an array whose memory depends on the run: the name that
 * two branches give to different arrays, one of two arrays that a loop
 * exchanges in every round, or a part of another array ("view").  At L_ARRAY it
 * is bound by S_BIND as often as one likes, and its extents are E_DIM of itself
 * or constants that all its arrays share; from L_LOOPS on each BUF_REF is bound
 * once: by S_VIEW or by a Bind of an IF or a loop, and then its extents are
 * constants, Vars or extents of arguments that are visible where it is, such as
 * what the same loop carries.  LAYOUT_C may be said of it only if all its
 * arrays have it. */
typedef struct Buf {
    Sym name;
    int id;
    DType dtype;
    BufKind kind;
    Space space;
    Layout layout;
    int rank;
    Expr *dims[MAX_RANK];
    int steps[MAX_RANK];
    int arg;
    struct Buf *group;
    const uint64_t *apart;
    int napart;
    bool growable;
    Loc loc;
} Buf;

/* One constant per row of node.def: E_CONST, E_ADD, ...  The row's text is the
 * operator in the IR's text form, its kind says how dtype and lanes follow from
 * the operands. */
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

/* What E_SUM gives of the elements x: their sum, or that of (x - mean) ** 2 in
 * the way of np.var; f32 or f64.  Elements of another dtype are converted. */
typedef enum SumKind {
    SUM_PLAIN,
    SUM_SQUARES,
    SUM_BOX, /* no number but the box itself: an operand of S_ROUTINE */
    SUM_PARTS, /* the real or imaginary parts of complex numbers */
} SumKind;

/* An expression: a node of a tree whose parts may be shared, since none ever
 * changes.  Every node has
 *
 *   "op"  the operator.
 *   "dtype", "lanes"  what its value is; lanes 0 is a scalar.
 *   "nargs", "args"  the operands, in the order of node.def.
 *   "hash"  of the whole tree: unequal hashes prove unequal trees.
 *   "loc"  where the source says so; not part of equality.
 *
 * and, by "op", one of
 *
 *   CONST     "ival" (bool, ints; u64 by bits) or "fval" (floats)
 *   VAR       "var"
 *   LOAD      "buf", args = index per axis.  lanes > 0: the last axis is read
 *             whole, args has rank - 1 entries (trailing index left out)
 *   SUM       "buf", "axis" (a SumKind), args = the index of the first element,
 *             then for each axis summed, in the array's order, its number
 *             (CONST), extent and step in elements; SQUARES: then the mean
 *   DIM, STRIDE  "buf", "axis"
 *   DISJOINT  "buf", "buf2": no byte is shared by elements of both
 *   CALL      "fn", args
 *   others    args as node.def says */
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

/* Lists that grow in an arena.  A Block is a list of statements in program
 * order; an empty one is {0}, so a Stmt fresh from ir_stmt has three. */
typedef VEC(Expr *) ExprVec;
typedef VEC(Stmt *) Block;
typedef VEC(Var *) VarVec;

/* What an S_IF hands out: "out" is "then_val" or "else_val", evaluated at the
 * end of the branch taken, where the names of that branch are visible.
 *
 *   if c:            if %c.0 {
 *       x = a + 1      let %x.3 = (add %a.1 1)
 *   else:            }
 *       x = b        join %x.4 = %x.3, %b.2
 *
 * In SSA with basic blocks this would be a phi of the block behind the IF. */
typedef struct Join {
    Var *out;
    Expr *then_val;
    Expr *else_val;
} Join;

/* What a loop carries: inside, "var" is "init" in the first round and "next" of
 * the round before afterwards; "out" names it after the loop: the last "next",
 * or if there was none, or if a WHILE's test failed, what "var" was.
 *
 * "init" is evaluated before the loop and sees none of its names; "next" is
 * evaluated at the end of the body, for all carries before any of them changes,
 * so two carries may exchange their values:
 *
 *   while b: a, b = b, a % b       carry %a.2 = %x.0  carry %b.3 = %y.1
 *                                  next %a.2 = %b.3 -> %a.4
 *                                  next %b.3 = (mod %a.2 %b.3) -> %b.5 */
typedef struct Carry {
    Var *var;
    Expr *init;
    Expr *next; /* evaluated at the end of the body */
    Var *out;
} Carry;

/* What an IF or a loop hands out or carries round in the way of Join and Carry,
 * for buffers.  All four are of one dtype and rank; "var" and "out" are
 * BUF_REFs.
 *
 *   IF     "out" is "init" after the branch taken, "next" after the other
 *          ("var" is NULL).
 *   loops  "var" is "init" in the first round and "next" of the round before
 *          afterwards; "out" as a Carry's.
 *
 *   a, b = b, a            bind &a.7 = &a.1 next &b.8 -> &a.9
 *                          bind &b.8 = &b.2 next &a.7 -> &b.10 */
typedef struct Bind {
    Buf *var;
    Buf *init;
    Buf *next;
    Buf *out;
} Bind;

/* The statements; each line names the fields of Stmt that it uses.  Blocks are
 * the only nesting, and the only ways out of one before its end are a failing
 * CHECK and, at L_ARRAY, LEAVE, BREAK and CONTINUE. */
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
    S_ROUTINE,  /* set all of "buf" to what "routine" makes of "index" */
    S_VIEW,     /* BUF_REF "buf" is a part of "src" */
    S_GROW,     /* growable "buf" has room for "value" elements from now on */
    /* L_ARRAY only */
    S_SET,      /* "var" = "value", may be repeated; 0 before the first */
    S_BIND,     /* BUF_REF "buf" is "src" from now on, may be repeated */
    S_SCOPE,    /* "body"; LEAVE inside ends it; Vars of it live on */
    S_LEAVE,    /* leave the innermost S_SCOPE */
    S_BREAK, /* leave the innermost loop */
    S_CONTINUE, /* end this round of it */
    /* L_SCHED only */
    S_SHADOW,   /* keep a copy of all visible written buffers */
    S_COUNT
} StmtKind;

/* Why a check stands there.  No exception is ever made from it: REPLAY lets
 * Python find the true one.  Passes, the emitter and remarks look at it.
 *
 *   INDEX          a[i]               i outside its axis
 *   ZERO_DIVISION  x / n              n == 0, x and n Python's own
 *   OVERFLOW       i * i              no room in int64; int(x) of a huge float
 *   VALUE          math.sqrt(x)       x outside the domain; shapes that differ
 *   TYPE           x + 1              x is None this time
 *   UNBOUND        return t           t was never assigned
 *   ASSERT         assert n > 0
 *   RAISE          raise ValueError(...)
 *   MEMORY         np.zeros((h, w))   negative or huge dimensions
 *   SPECULATE      nothing would be raised, but the native form would differ:
 *                  arguments overlap, a maybe-type is of the other kind */
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

/* How a check that fails ends.  BAIL is for what the fast kernel assumed and
 * the general one does not (no overlap, indices in range): still native. */
typedef enum Action { ACT_REPLAY, ACT_BAIL } Action;

/* The RuntimeWarnings that NumPy's arithmetic can give: 1/0, 1e308 * 10, inf -
 * inf.  A bit each in Eval.warnings, in this order. */
typedef enum Warn { WARN_DIVIDE, WARN_OVERFLOW, WARN_INVALID } Warn;

/* Routines of NumPy's, by which S_ROUTINE fills a fresh array; the operands are
 * SUMs of kind BOX.  Those of linear algebra are of f32 or f64; a matrix that
 * is singular gives nan.  Results are in C order. */
typedef enum Routine {
    ROUTINE_DOT,     /* np.dot of two vectors, one number */
    ROUTINE_VECMUL,  /* a @ b or np.vdot of two vectors */
    ROUTINE_MATMUL,  /* a @ b, one of them a matrix at least */
    ROUTINE_INV,     /* np.linalg.inv */
    ROUTINE_SOLVE,   /* np.linalg.solve */
    ROUTINE_DET,     /* np.linalg.det, one number */
    ROUTINE_SORT,    /* np.sort of one axis */
    ROUTINE_ARGSORT, /* np.argsort, kind=None, i64 */
    ROUTINE_ARGSORT_STABLE,
    ROUTINE_LOOP,    /* the loop "fn" of NumPy's, as far as the operands go */
    ROUTINE_COUNT
} Routine;

/* In which order the rounds of a FOR run.  All but SERIAL promise that the
 * rounds are independent: no carries (a VECTOR one may have those of
 * ir_only_tallies), no 'until', no round reads what another writes.  Only pass
 * 'schedule' sets them, after its legality test. */
typedef enum LoopMode {
    LOOP_SERIAL,
    LOOP_PARALLEL, /* iterations over threads */
    LOOP_VECTOR,   /* iterations proved independent: '#pragma omp simd' */
} LoopMode;

/* For Stmt.axes of a VIEW, beside the numbers of axes. */
enum { AXIS_NEW = -1, AXIS_PACKED = -2 };

/* A statement; the comment of StmtKind says which fields it uses, all others
 * are zero.
 *
 *   "kind", "loc"  always; stores, checks and warnings need a true "loc".
 *   "var"  LET, SET: what is defined; FOR: its variable, a scalar i64.
 *   "value"  what is assigned, stored, tested or filled in.
 *   "lo", "hi"  FOR: evaluated once, before the first round.
 *   "until"  FOR, WHILE: evaluated at the end of the body, where a carry's
 *       "var" is still that of this round; true ends the loop.  NULL: never.
 *   "buf"  STORE, FILL, ALLOC, ROUTINE (no argument, and none of its operands).
 *   "routine"  ROUTINE; its "index" are the operands; "fn"  of LOOP.
 *   "index", "nindex"  STORE: as LOAD's args; FILL with "has_keep": lo0, hi0,
 *       lo1, ... of the box that is left alone.
 *   "joins", "njoins", "carries", "ncarries", "binds", "nbinds"  what an IF or
 *       a loop hands out.
 *   "src", "axes"  VIEW, BIND: the array of which "buf" is a name; of a VIEW
 *       "index" holds the start in every axis of "src", then extent and step
 *       for every axis of "buf"; "axes" says which axis of "src" that is, -1: a
 *       new one of extent 1.  All elements lie inside "src" (or the extent is
 *       0), and two indices never name one of them: an axis of "src" is named
 *       once at most, and steps are not 0.  Or all axes are AXIS_PACKED: "buf"
 *       has the elements from the start on as they lie, in another shape.
 *   "body", "els", "pre"  nested blocks.
 *   "exc", "action"  CHECK; "warn"  WARN, and "what" NumPy's name of the
 *       operation, a word: "scalar_add", "cast"; NULL: not known.
 *   "mode"  FOR; "id"  FOR, WHILE: stable number of the loop, by which
 *       directives name it through all passes; CHECK, WARN: by which the host
 *       knows it after the call (ir_number_sites), 0 before.
 *   "logged"  STORE at L_SCHED: keep the old value for undo.
 *   "poll"  loops at L_SCHED: ask now and then whether to stop.
 *   "charged"  FOR at L_SCHED that doesn't: the next loop around that polls
 *       does so as if each round had been one of its own. */
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
    int nbinds;
    Bind *binds;
    Buf *src;
    int axes[MAX_RANK];
    Block body; /* FOR, WHILE, SCOPE; IF: the branch taken if true */
    Block els;  /* IF */
    Block pre;  /* WHILE */
    Exc exc;
    Action action;
    Warn warn;
    Routine routine;
    Fn fn;
    Sym what;
    LoopMode mode;
    int id;
    bool has_keep;
    bool logged;
    bool poll;
    bool charged;
};

/* A parameter as the kernel sees it: a scalar ("var") or an array ("buf"),
 * never both.  "name" is the argument's in Python; a tuple or a maybe-type
 * takes several. */
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

/* One function for one signature.
 *
 *   "arena"  holds all its nodes.  "name"  the Python function's.
 *   "level"  what its statements may be, see the head of this file.
 *   "general"  runs in program order and its arguments may overlap; else the
 *       fast kernel, whose assumptions the checks at its entry have tested.
 *   "deaf"  nobody looks at the FPU's flags afterwards, so speculated
 *       operations may set them; false where that isn't known.
 *   "params", "rets"  in the order of the host's tables; "body".
 *   "next_id"  the least number not yet given to a Var, Buf or loop; so also
 *       the size of a table that is indexed by any of them.
 *   "loc"  of the 'def'. */
struct Func {
    Arena *arena;
    Sym name;
    Level level;
    bool general; /* program order; arguments may overlap */
    bool deaf;    /* the FPU's flags don't matter */
    VEC(Param) params;
    VEC(Ret) rets;
    Block body;
    int next_id; /* for Vars, Bufs and loops */
    Loc loc;
};

/* --- build.c: constructors.  They fold nothing but keep every invariant - */
/* The columns of node.def and fn.def.  'op' and 'fn' must be rows. */
const char *ir_op_name(Op op);
char ir_op_kind(Op op);
int ir_op_arity(Op op);
const char *ir_fn_name(Fn fn);
int ir_fn_arity(Fn fn);
char ir_fn_origin(Fn fn);
/* 'value' reduced to the range of an integer or bool 'dtype' (u64 by bits),
 * as every CONST has it. */
int64_t ir_wrap(DType dtype, int64_t value);
/* Empty functions, and the things in them that have an identity: each call of
 * ir_var and ir_buf takes the next id of 'func'.  A Buf made for BUF_ARG asks
 * its extents of itself; of others the caller sets "dims". */
Func *ir_func(Arena *arena, Sym name, Level level);
Var *ir_var(Func *func, const char *name, DType dtype, int lanes);
Buf *ir_buf(Func *func, const char *name, DType dtype, int rank, BufKind kind);
/* A packed array of 'n' elements on the stack, for S_ALLOC to make. */
Buf *ir_stack_row(Func *func, const char *name, DType dtype, int64_t n,
                  Loc loc);
/* Leaves.  Constants are stored normal: 'value' is wrapped to an integer
 * 'dtype', rounded to float32, so equal constants have equal bits. */
Expr *ir_int(Arena *arena, DType dtype, int64_t value);
Expr *ir_float(Arena *arena, DType dtype, double value);
Expr *ir_zero(Arena *arena, DType dtype);
Expr *ir_bool(Arena *arena, bool value);
Expr *ir_ref(Arena *arena, Var *var);
Expr *ir_dim(Arena *arena, Buf *buf, int axis);
Expr *ir_stride(Arena *arena, Buf *buf, int axis);
Expr *ir_load(Arena *arena, Buf *buf, Expr *const *index, int n, int lanes);
Expr *ir_disjoint(Arena *arena, Buf *lhs, Buf *rhs);
Expr *ir_sum(Arena *arena, SumKind kind, DType dtype, Buf *buf,
             Expr *const *args, int n);
const char *ir_routine_name(Routine routine);
/* How many axes a SUM goes over. */
int ir_sum_axes(const Expr *e);
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

/* Statements, for the caller to push on a Block; ir_stmt leaves all fields but
 * these two zero.  Index lists are copied. */
Stmt *ir_stmt(Arena *arena, StmtKind kind, Loc loc);
Stmt *ir_let(Arena *arena, Var *var, Expr *value, Loc loc);
Stmt *ir_set(Arena *arena, Var *var, Expr *value, Loc loc);
Stmt *ir_store(Arena *arena, Buf *buf, Expr *const *index, int n, Expr *value,
               Loc loc);
Stmt *ir_check(Arena *arena, Expr *cond, Exc exc, Action action, Loc loc);
/* A LET of a new Var at the end of 'out'; the value by that name. */
Expr *ir_named(Func *func, Block *out, const char *name, Expr *value, Loc loc);

/* --- walk.c ------------------------------------------------------------- */
bool ir_equal(const Expr *lhs, const Expr *rhs); /* structural, Loc ignored */
/* Does 'e' read memory?  Then it may not move over a store that may alias. */
bool ir_has_load(const Expr *e);
/* Does this very node read elements of "buf"?  LOAD and SUM. */
bool ir_reads(const Expr *e);
/* Is a WARN in the block, at any depth? */
bool ir_warns(const Block *block);
/* Is 'e' just 'var'? */
bool ir_is_var(const Expr *e, const Var *var);
/* Does 'e' name 'var'? */
bool ir_uses(const Expr *e, const Var *var);
/* By Var.id: how often it is read in the body. */
int *ir_count_uses(Arena *arena, const Func *func);
/* May the two be names of the same memory?  Arguments among each other are
 * apart in the fast kernel; effects.c knows about the general one. */
bool ir_may_share(const Buf *lhs, const Buf *rhs);
/* Does the caller see what is written there?  Arguments, and names that may be
 * one of an argument. */
bool ir_is_visible(const Buf *buf);
/* Sets "group" of all Bufs of 'func' anew, by what is viewed and bound.  Its
 * representative is an argument if the group has one, else a result if it has
 * one. */
void ir_set_groups(Func *func);
/* May the two, both in scope, be the same memory at one time?  A buffer that is
 * made anew in each round, or that a loop binds, may well be now what the other
 * was in another round: then ask ir_may_share. */
bool ir_may_overlap(const Buf *lhs, const Buf *rhs);
/* The extent as an expression that is not E_DIM of a buffer that has it from
 * elsewhere. */
Expr *ir_extent(const Buf *buf, int axis);
/* reduction.c: is 's' stores under a condition, of what has a name, to places
 * that need no memory to be found?  SIMD has masks for these. */
bool ir_is_mask(const Stmt *s);
/* The same file: is the body LETs and checks, with no read behind a check? */
bool ir_only_checks(const Stmt *loop);
/* reduction.c: what a carry gathers whose steps may be taken in any order, as
 * far as one carry of a straight-line 'loop' goes; NONE: it may not. */
typedef enum Tally {
    TALLY_NONE,
    TALLY_ADD,
    TALLY_OR,
    TALLY_AND,
    TALLY_MIN,
    TALLY_MAX,
} Tally;
Tally ir_tally(Arena *arena, const Stmt *loop, int carry);
/* The same of a loop with any body, for rounds in blocks that are put together
 * in their order: of equal floats a step keeps the earlier one.  Not for sums
 * of floats, which must not depend on whether there are blocks. */
Tally ir_gathers(Arena *arena, const Stmt *loop, int carry);
/* All carries do, and where one is the least or greatest float the loop stores
 * nothing, so that it may be run again. */
bool ir_only_tallies(Arena *arena, const Stmt *loop);
/* Does 's' itself change what its "buf" holds, or where?  STORE, FILL, GROW. */
bool ir_writes(const Stmt *s);
bool ir_is_const(const Expr *e);
bool ir_const_int(const Expr *e, int64_t *out); /* CONST of int or bool */
/* 'e' with Vars and Bufs replaced: 'map' Var * -> Expr *, Buf * -> Buf *. */
Expr *ir_subst(Arena *arena, Expr *e, const Map *map);
/* Rewrites bottom-up: 'fn' is given a node whose operands are done and
 * returns it or its replacement. */
typedef Expr *(*ExprFn)(void *data, Expr *e);
Expr *ir_map(Arena *arena, Expr *e, ExprFn fn, void *data);
/* Every direct sub-expression slot of 's' (value, index, bounds, joins,
 * carries, until; the dims of Bufs that it makes or names), not those of nested
 * statements. */
void ir_each_expr(Stmt *s, void (*fn)(void *data, Expr **slot), void *data);
/* Every node of those expressions, operands and indices included, each before
 * its operands; the same of one expression. */
typedef void NodeFn(void *data, const Expr *e);
void ir_each_node(Stmt *s, NodeFn *fn, void *data);
void ir_each_node_of(const Expr *e, NodeFn *fn, void *data);
void ir_note_var(void *map, const Expr *e); /* for these: a Var, by itself */
/* Every statement in 'block' and below, outer before inner; 's' and below. */
typedef void EachFn(void *data, Stmt *s);
void ir_each_stmt(const Block *block, EachFn *fn, void *data);
void ir_each_stmt_of(Stmt *s, EachFn *fn, void *data);
/* A copy of 's' with index, joins, carries and binds of its own, so that its
 * slots may be rewritten; nested statements are shared. */
Stmt *ir_copy_stmt(Arena *arena, const Stmt *s);
/* Rewrites statements bottom-up: 'fn' is given a copy whose nested blocks are
 * done, and pushes what takes its place (itself, nothing, several) on 'out'. */
typedef void (*StmtFn)(void *data, Block *out, Stmt *s);
Block ir_map_block(Arena *arena, const Block *block, StmtFn fn, void *data);
Block ir_copy_block(Arena *arena, const Block *block); /* by ir_copy_stmt */
/* A deep copy with fresh Vars, local Bufs, other names of Bufs and loop ids for
 * all that 'block' defines; 'map' (Var * -> Expr *, Buf * -> Buf *) may hold
 * replacements of free Vars and Bufs and receives the fresh ones.  A SET
 * variable stays itself unless 'map' gives another; so does a BUF_RESULT, whose
 * dims then name what the clone defines. */
Block ir_clone(Func *func, const Block *block, Map *map);
/* A deep copy of a whole function that shares nothing with it and keeps all
 * ids. */
Func *ir_clone_func(Arena *arena, const Func *func);
/* How many statements of 'kind' there are, at any depth. */
int ir_count(const Func *func, StmtKind kind);
int ir_size(const Block *block); /* nodes, for budgets */

/* --- print.c, read.c, verify.c, eval.c ---------------------------------- */
/* Appends text in the form of text.h: a whole function, which ir_read reads
 * back to an equal one; an expression or a statement for a message, in which
 * Vars stand without types. */
void ir_print(const Func *func, Str *out);
void ir_print_expr(const Expr *e, Str *out);
void ir_print_stmt(const Stmt *s, Str *out);
/* NULL and a message with line and column when 'text' is not a function. */
Func *ir_read(Arena *arena, const char *text, const char **error);
/* NULL when 'func' keeps every rule of its level, else what is broken. */
const char *ir_verify(Arena *arena, const Func *func);

/* --- sites.c ------------------------------------------------------------ */
/* Numbers the CHECKs from 1 and the WARNs from 0; after the last pass. */
void ir_number_sites(Func *func);
enum { IR_WARN_BITS = 64, IR_WARN_OWN = 61, IR_WARNS = IR_WARN_BITS + 2048 };
/* The bit of a WARN: a number below IR_WARN_OWN, or the one of its kind. */
int ir_warn_bit(const Stmt *warn);
/* The CHECK or WARN with that number; NULL: there is none. */
const Stmt *ir_site(const Func *func, StmtKind kind, int id);

/* A Slot is read by the dtype that its user knows: it does not say itself. */
/* A value and an array for the reference interpreter; strides in bytes.  A
 * Slot holds bool and integers as "i", wrapped as ir_wrap does, float32 and
 * float64 as "f". */
typedef union Slot {
    int64_t i;
    double f;
    void *p;
} Slot;

/* An array: "data" is the address of element 0, 0, ...; of "dims" and "strides"
 * the first rank entries count.  Negative strides reach below "data". */
typedef struct EvalArray {
    char *data;
    int64_t dims[MAX_RANK];
    int64_t strides[MAX_RANK];
} EvalArray;

/* A call of the interpreter: what goes in and what comes out. */
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
