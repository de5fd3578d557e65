#ifndef VZ_LOWER_STATE_H
#define VZ_LOWER_STATE_H
/* What the files of lower share.
 *
 * Lowering walks the typed tree once and emits statements into Lower.out.  An
 * expression becomes a Value: trees of IR for its number and flag, or a
 * description of the part of a buffer that it is.
 */
#include "csrc/lower/lower.h"
#include "typeinfer/rules.h"

/* Part of a buffer.  Every axis of the buffer is fixed at an index, or free
 * with an offset (NULL: 0) and an extent; "axis" lists the free ones in the
 * order of the view. */
typedef struct View {
    Buf *buf;
    int rank;
    int axis[MAX_RANK];
    Expr *fixed[MAX_RANK];
    Expr *offset[MAX_RANK];
    Expr *extent[MAX_RANK];
} View;

/* "expr" of a NUM or vector; "flag" of a maybe-type: true means it is the
 * alternative, NULL that it surely isn't; "view" of memory; "items" of a
 * tuple.  None, strings, dtypes and functions are their type. */
typedef struct Value {
    const Type *type;
    Expr *expr;
    Expr *flag;
    View *view;
    struct Value *items;
} Value;

/* A loop whose 'else' asks whether it was left by 'break'. */
typedef struct LowerLoop {
    struct LowerLoop *outer;
    Var *broke; /* NULL: nobody asks */
} LowerLoop;

typedef struct Lower {
    Arena *arena;
    Diags *diags;
    Func *func;
    Lowered *result;
    Block *out;
    Map values;      /* Version -> Value * */
    Map used;        /* Version that is read */
    Map changed;     /* Version of a vector that is changed in place */
    Map changeable;  /* Var that is SET */
    Map nonnegative; /* Var or Expr that is never below 0 */
    Map returned;    /* number of an array object -> it is a result */
    Map arg_of;      /* Buf of an argument -> signature number + 1 */
    LowerLoop *loop;
    const AStmt *tail; /* the return that ends the body by itself */
    Sym hint;          /* the name that gets the array being made; NULL */
} Lower;

/* --- value.c --- */
void emit(Lower *L, Stmt *s);
void emit_check(Lower *L, Expr *cond, Exc exc, Loc loc);
Expr *op1(Lower *L, Op op, Expr *arg);
Expr *op2(Lower *L, Op op, Expr *lhs, Expr *rhs);
Expr *int_const(Lower *L, int64_t value);
Expr *num_const(Lower *L, DType dtype, double value);
Expr *cast_to(Lower *L, DType dtype, Expr *e);
Expr *call_fn(Lower *L, Fn fn, DType dtype, Expr *x, Expr *y);
Expr *not_(Lower *L, Expr *e);
/* Conjunction and disjunction; NULL counts as true and false. */
Expr *both(Lower *L, Expr *lhs, Expr *rhs);
Expr *either(Lower *L, Expr *lhs, Expr *rhs);
/* 'e' named, so that it may be used several times. */
Expr *reuse(Lower *L, Expr *e, Loc loc);
/* 'e' as it is now, whatever is stored or SET later. */
Expr *hold(Lower *L, Expr *e, Loc loc);
Value hold_value(Lower *L, Value v, Loc loc);
Var *set_var(Lower *L, const char *name, DType dtype, int lanes);
void emit_set(Lower *L, Var *var, Expr *e, Loc loc);
bool is_nonnegative(const Lower *L, const Expr *e);
Value value_of_type(Lower *L, const Type *type); /* known, None, str ... */
Value num_value(const Type *type, Expr *e);
Expr *flag_or_false(Lower *L, Expr *flag);

/* --- version.c --- */
void version_bind(Lower *L, const Version *version, Value v, Loc loc);
void version_convert(Lower *L, const Version *to, const Version *from, Loc loc);
Value version_read(Lower *L, const Version *version, Loc loc);
Value *version_value(Lower *L, const Version *version);
/* Storage of SET variables for values of 'type'. */
Value storage_new(Lower *L, const Type *type, const char *name);
void storage_set(Lower *L, const Value *to, Value v, Loc loc);
/* 'v' as a value of type 'to', which is a join of it with others. */
Value convert(Lower *L, Value v, const Type *to, Loc loc);

/* --- num.c --- */
/* 'v' known not to be None. */
Value some(Lower *L, Value v, Loc loc);
/* An operand converted to the dtype of an operation. */
Expr *operand_as(Lower *L, Value v, DType dtype, Loc loc);
Value num_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
Value num_unary(Lower *L, AOp op, Value arg, const Type *type, Loc loc);
Value num_abs(Lower *L, Value arg, const Type *type, Loc loc);
Expr *truth_of(Lower *L, Value v, Loc loc);
/* Checks that a weak int is in the range of 'dtype'. */
void check_range_of(Lower *L, Expr *e, DType from, DType dtype, Expr *unless,
                    Loc loc);
Expr *float_in_range(Lower *L, Expr *e, DType dtype);
Expr *exact_int(Lower *L, Expr *e, DType dtype); /* NULL: always exact */

/* --- pow.c --- */
Value num_power(Lower *L, Value lhs, Value rhs, const BinRule *rule, Loc loc);

/* --- vec.c --- */
Expr *vector_of(Lower *L, Value v, Loc loc);
Value vec_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
Value vec_unary(Lower *L, AOp op, Value arg, Loc loc);
Expr *vec_cast(Lower *L, DType dtype, Expr *e);

/* --- view.c --- */
View *view_whole(Lower *L, Buf *buf);
Expr *view_extent(Lower *L, const View *view, int k);
/* The index as an i64 within [0, n); checks are emitted. */
Expr *index_in(Lower *L, Value index, Expr *n, Loc loc);
View *view_at(Lower *L, const View *view, Expr *k); /* first axis at 'k' */
View *view_part(Lower *L, const View *view, const AExpr *subscript);
View *view_transposed(Lower *L, const View *view);
Expr *view_load(Lower *L, const View *view);        /* rank 0 */
Expr *view_load_vector(Lower *L, const View *view); /* rank 1, known size */
void view_store(Lower *L, const View *view, Expr *e, Loc loc);
void view_store_vector(Lower *L, const View *view, Expr *e, Loc loc);
/* Stores one number everywhere. */
void view_fill(Lower *L, const View *view, Expr *e, Loc loc);
/* 'v' as it is stored into an element of 'dtype'. */
Expr *stored_as(Lower *L, Value v, DType dtype, Loc loc);
Value element_of(Lower *L, Value base, const AExpr *subscript);

/* --- make.c --- */
Value lower_make(Lower *L, const AExpr *e, BuiltinId id);
Value lower_array(Lower *L, const AExpr *e);
Value lower_copy(Lower *L, const AExpr *e);
/* Memory for the array that 'e' makes, not filled. */
Value make_array(Lower *L, const AExpr *e, Expr *const *dims);

/* --- reduce.c --- */
Value lower_reduce(Lower *L, const AExpr *e, BuiltinId id);

/* --- math.c, call.c --- */
Value lower_math(Lower *L, const AExpr *e, BuiltinId id);
Value lower_round(Lower *L, const AExpr *e, BuiltinId id);
Value lower_ufunc(Lower *L, const AExpr *e, BuiltinId id);
Value lower_extreme(Lower *L, const AExpr *e, BuiltinId id);
Value lower_clip(Lower *L, const AExpr *e);
Value lower_convert(Lower *L, const AExpr *e);
Value lower_minmax(Lower *L, const AExpr *e, BuiltinId id);
Value lower_call(Lower *L, const AExpr *e);
void lower_body(Lower *L, const AFunc *func);

/* --- expr.c --- */
Value lower_expr(Lower *L, const AExpr *e);
Expr *lower_cond(Lower *L, const AExpr *e);
void lower_items(Lower *L, const AExprVec *items, Value *out);
bool has_user_call(const AExpr *e);

/* --- subscript.c --- */
Value lower_subscript(Lower *L, const AExpr *e);
Value lower_attr(Lower *L, const AExpr *e);
Value item_at(Lower *L, Value v, const Type *type, Expr *k, Loc loc);

/* --- stmt.c, loop.c --- */
void lower_block(Lower *L, const ABlock *block);
void assign_target(Lower *L, const AExpr *target, Value v);
void lower_for(Lower *L, const AStmt *s);
void lower_while(Lower *L, const AStmt *s);

/* --- uses.c --- */
void find_uses(Lower *L, const AFunc *func);
#endif
