#ifndef VZ_EMIT_CGEN_H
#define VZ_EMIT_CGEN_H
/* Inside the C emitter: what its files share.
 *
 *   c.c      the translation unit: functions, their heads, entry and exits
 *   cuse.c   which variables are used, what a function needs from outside
 *   cloop.c  what is decided of a loop before it is written
 *   cstmt.c  statements
 *   cnest.c  loops
 *   cmem.c   allocating and filling buffers
 *   cname.c  other names for buffers
 *   cexpr.c  expressions
 *   cplace.c names and places in memory
 *   crow.c   row pointers
 *   cspell.c what is said in full where it is used
 *
 * Names in C.  A Var or Buf is 'name_id'.  All else that is generated does
 * not end in '_' and digits, so no name of the user can collide: lanes are
 * 'v_7v0', extents and byte strides of a Buf 'img_3n1' and 'img_3s0'.
 */
#include "csrc/emit/emit.h"

/* How tightly an operator binds; a smaller operand is put in parentheses. */
enum {
    /* A Piece that binds less than its place asks is put in parentheses.  The
     * order is C's, but that & | ^ and shifts, whose precedence nobody
     * remembers and compilers warn of, share one level and take operands that
     * need no thought. */
    P_ANY,
    P_COND,
    P_BITS, /* & | ^ and shifts, whose operands always are P_UNARY */
    P_EQUAL,
    P_LESS,
    P_ADD,
    P_MUL,
    P_UNARY,
    P_ATOM,
};

enum {
    C_INDENT = 4,
    C_LINE = 64, /* bytes from which on a local array is aligned to as many */
    C_STACK_LIMIT = 16 * 1024, /* bytes of local arrays in one function */
};

/* Appends a line to the function at hand. */
#define LINE(g, ...) str_line(&(g)->frame->text, __VA_ARGS__)

/* C text of an expression, "text", and how tightly its outermost operator
 * binds, "prec": {"a_1 + b_2", P_ADD}. */
typedef struct Piece {
    const char *text;
    int prec;
} Piece;

/* What sort of thing a function is given: a scalar or vector, or one of the
 * three parts of a buffer.  A packed buffer has no strides. */
typedef enum NeedKind {
    NEED_VAR,
    NEED_DATA,   /* pointer to a Buf's elements */
    NEED_EXTENT, /* extent of "axis" */
    NEED_STRIDE, /* byte stride of "axis" */
} NeedKind;

/* Something that a function is given by its caller, as a parameter.
 *
 *   "kind"  which sort.
 *   "var"  of NEED_VAR; a vector is as many parameters as it has lanes.
 *   "buf", "axis"  of the others; "axis" of extents and strides. */
typedef struct Need {
    NeedKind kind;
    const Var *var;
    const Buf *buf;
    int axis;
} Need;

typedef VEC(Need) NeedVec;

/* A pointer to a row of a packed buffer, see crow.c: "name" is a C variable
 * that points at element "index"[0], ..., "index"[rank - 2], 0 of "buf". */
typedef struct Row {
    const Buf *buf;
    Expr *const *index;
    const char *name;
} Row;

/* One C function under construction.  What its statements turn out to use is
 * noted here while they are written, and its head and locals are written
 * afterwards. */
typedef struct Frame {
    Str text;             /* its statements so far */
    const Stmt *parallel; /* the loop it runs a range of; NULL: the kernel */
    const Stmt *vector;   /* the LOOP_VECTOR loop being written */
    int loops;            /* loops around the statement being written */
    bool serial;          /* rounds of the innermost one wait for each other */
    int stack;            /* bytes of local arrays */
    int row_count;        /* rows ever named */
    VEC(Row) rows;        /* of "vector" */
    bool unwinds;         /* exits pass by 'done:', which frees memory */
    bool warns;           /* has the local 'warn' */
    bool polls;           /* has the local 'fuel' */
    bool none;            /* has the locals 'none_f64' and 'none_f32' */
    bool fns[FN_COUNT];   /* functions called through the host's table */
    VEC(const Buf *) reused; /* allocated inside loops, see VzMem */
    VEC(const Buf *) refs;   /* names in scope, see cname.c */
    size_t mark;          /* "text" up to here is counted in "line" */
    uint32_t line;        /* line of the source that #line makes of "mark" */
    uint16_t file;
} Frame;

/* The translation unit under construction: facts of the Func, made once before
 * anything is written, then "units" and the "frame" at hand. */
typedef struct Gen {
    Arena *arena;
    const Func *func;
    const Diags *diags;
    bool people;        /* inspect_c: comments in place of #line */
    bool lanes;         /* the prelude's forms for SIMD loops are used */
    const char *prefix; /* of the functions' names: 'k_blur' */
    const bool *live;   /* by Var.id: its value is used */
    const bool *stored; /* by Buf.id: some element is stored to */
    bool narrows; /* doubles to float; "widens": the other way */
    bool widens;
    const bool *chained;   /* by Var.id: see c_chained */
    const bool *truncated; /* by Var.id: an integer made of a float */
    const bool *products;  /* by Var.id, or NULL: see calternate.c */
    bool fuses; /* has FN_FMA */
    bool relaxed; /* some function of relaxed.h is used */
    unsigned char vm[FN_COUNT]; /* such of f64: bit 0, of f32: bit 1 */
    const char **names; /* by id; NULL: not asked for yet */
    Str units;          /* finished functions */
    Frame *frame;
} Gen;

/* --- cspell.c */
/* A copy of 'func' in which SELECTs that ask for a comparison of floats by name
 * have it themselves, and indices that are a name and a constant, too. */
const Func *c_spelled(Arena *arena, const Func *func);

/* --- cpick.c */
/* By Var.id: is it a choice of floats that another choice compares, or that is
 * made an integer? */
const bool *c_chained(Arena *arena, const Func *func);
Piece c_select(Gen *g, const Expr *e, int lane); /* as c_piece */

/* --- cplace.c */
const char *c_type(DType dt); /* of an element in memory */
const char *c_function_name(Arena *arena, Sym name); /* 'k_blur' */
const char *c_name(Gen *g, const Var *var); /* without the lane */
/* One lane of 'var' as a C name; 'lane' counts only where it has lanes. */
const char *c_var(Gen *g, const Var *var, int lane);
/* The pointer to the elements of 'buf'; its extents and strides are this name
 * with 'n' or 's' and the axis. */
const char *c_buf(Gen *g, const Buf *buf);
/* What the extent of an axis is: E_CONST, E_VAR, or else the extent of its own
 * of the Buf and axis that are set, which has a name in C. */
const Expr *c_extent_of(const Buf **buf, int *axis);
/* C text of an extent: a number or a name, never in need of parentheses. */
const char *c_extent(Gen *g, const Buf *buf, int axis);
/* C text of the bytes from one index of an axis to the next: a product. */
const char *c_stride(Gen *g, const Buf *buf, int axis);
/* Elements lie in C order without gaps, and may be addressed so. */
bool c_packed(const Buf *buf);
/* The lvalue of an element of 'buf'; 'n' indices; 'lane' is the last one when
 * 'n' is rank - 1. */
const char *c_place(Gen *g, const Buf *buf, Expr *const *index, int n,
                    int lane);

/* --- cexpr.c */
/* The C text of lane 'lane' of 'e', or of 'e' itself if it is a scalar. */
Piece c_piece(Gen *g, const Expr *e, int lane);
/* An operand 'e' of an operator whose other operand is 'other'. */
const char *c_beside(Gen *g, const Expr *e, const Expr *other, int lane,
                     int prec);
/* 'e', or its 'lane', as an operand of something that binds like 'prec'. */
const char *c_expr(Gen *g, const Expr *e, int lane, int prec);
/* Declares what the frame's expressions call through the host's tables. */
void c_fn_locals(Gen *g, Str *out);

/* --- cnumpy.c */
Piece c_sum(Gen *g, const Expr *e);
void c_routine(Gen *g, const Stmt *s);
/* What stands before the arguments of a loop of NumPy's. */
const char *c_loop_name(Gen *g, const Expr *e);

/* --- c.c */
/* Where in VzCtx.in the argument 'buf' begins. */
int c_slot(const Gen *g, const Buf *buf);
/* Writes the function for the parallel 'loop' and its call. */
void c_parallel(Gen *g, const Stmt *loop);

/* --- cuse.c */
/* By Var.id: does its value reach anything that counts? */
const bool *c_live(Arena *arena, const Func *func);
/* By Buf.id: is it written? */
const bool *c_stored(Arena *arena, const Func *func);
/* By Var.id: is it a float converted to an integer, as it is or chosen? */
const bool *c_truncated(Arena *arena, const Func *func);
/* By Var.id: what a LET says it is; NULL: it is no LET's. */
Expr *const *c_values(Arena *arena, const Func *func);
bool c_comes_from_float(const bool *truncated, const Expr *e);
/* By id: the Vars and Bufs that 'block' defines, and 'also' (may be NULL). */
const bool *c_defined(Gen *g, const Block *block, const Var *also);
/* What 'block' uses and does not define: the body of the parallel 'loop', or
 * with NULL that of the kernel, which also computes the results. */
NeedVec c_needs(Gen *g, const Block *block, const Stmt *loop);

/* --- calternate.c */
/* By Var.id: is it a product of floats?  NULL: none could be fused. */
const bool *c_alternates(Arena *arena, const Func *func);
bool c_is_product(const bool *products, const Expr *e);
/* Are there fused operations? */
bool c_fuses(const Func *func);

/* --- cloop.c */
/* May the rounds of 'loop' be written as '#pragma omp simd'? */
bool c_vectorises(Arena *arena, const Func *func, const Stmt *loop);
/* Has the function of 'parallel' (NULL: the kernel) memory to free? */
bool c_reuses(const Func *func, const Stmt *parallel);
/* C text of an estimate, in nanoseconds, of one round of 'loop'. */
const char *c_cost(Gen *g, const Stmt *loop);

/* --- cstmt.c */
/* All statements of 'block', at the indentation of the frame. */
void c_block(Gen *g, const Block *block);
/* The statements of 'block' before position 'end'. */
void c_statements(Gen *g, const Block *block, int end);
void c_open(Gen *g); /* indents */
void c_close(Gen *g); /* and writes the brace */
int c_lanes(const Var *var); /* how many C variables it is */
const char *c_var_type(const Var *var);
const char *c_not(Gen *g, const Expr *e); /* the condition that 'e' is false */
/* Leaves the kernel or range with 'status' if 'condition', a C text, holds. */
void c_exit_if(Gen *g, const char *condition, const char *status);
/* The same where that is rare and due to the check with the number 'check'. */
void c_fail_if(Gen *g, const char *condition, const char *status, int check);
/* Stores 'value' at 'place', both C texts, for the STORE or FILL 's'. */
void c_put(Gen *g, const Stmt *s, const char *place, const char *value);
/* '#line' or a comment, where the source's line changes. */
void c_line(Gen *g, Loc loc);

/* --- cmem.c */
/* Writes an ALLOC; 'next' is the statement behind it or NULL.  True: 'next',
 * which clears the buffer, is done too. */
bool c_alloc(Gen *g, const Stmt *s, const Stmt *next);
void c_fill(Gen *g, const Stmt *s);
void c_grow(Gen *g, const Stmt *s); /* of a growable buffer */
/* Bytes of a local array of constant size; 0: not for the stack. */
int64_t c_stack_size(const Buf *buf);

/* --- cname.c */
void c_view(Gen *g, const Stmt *s);
/* What an IF hands out: variables before it, set at the end of each branch. */
void c_binds_declare(Gen *g, const Stmt *s);
void c_binds_assign(Gen *g, const Stmt *s, bool then);
void c_binds_show(Gen *g, const Stmt *s); /* of an IF or loop, behind it */
/* What a loop carries: variables before it, saved and set at the end of a
 * round; 'next' is per Bind. */
void c_binds_open(Gen *g, const Stmt *loop);
void c_binds_save(Gen *g, const Stmt *loop, Buf *const *next);
void c_binds_update(Gen *g, const Stmt *loop, Buf *const *next);
/* How many names in scope may be of the memory of 'buf', and where they point:
 * '2, (const void *const[]){a_1, b_2}'. */
const char *c_live_names(Gen *g, const Buf *buf);

/* --- cnest.c */
/* A FOR or WHILE in the form that its mode and place allow. */
void c_loop(Gen *g, const Stmt *s);
/* The FOR statement 's' alone, from 'lo' up to 'hi', both C texts. */
void c_rounds(Gen *g, const Stmt *s, const char *lo, const char *hi);

/* --- crow.c */
/* Declares pointers to rows that 'loop', an innermost one, reads and writes:
 * all of them, or, if it is not 'vector', those of elements found by data. */
void c_rows_open(Gen *g, const Stmt *loop, bool vector);
void c_rows_close(Gen *g);
/* The pointer to the element's row, or NULL. */
const char *c_row(Gen *g, const Buf *buf, Expr *const *index, int n);
#endif
