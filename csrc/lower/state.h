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

typedef struct Lower Lower;

enum { MAX_LAZY_ARGS = 6 };

/* Part of a buffer.  Every axis of the buffer is fixed at an index, or free:
 * element i of it is element offset + i * step of the buffer's (NULL: 0 and 1),
 * for i below the extent.  "axis" lists the free ones in the order of the view;
 * -1 is an axis of one element that the buffer does not have.  "count" is the
 * extent of a slice before it was cut off at 0, NULL where that is the same.
 * "pairs": the buffer's last axis, of two, is that of complex elements, and not
 * among the free ones (pairs.c). */
typedef struct View {
    Buf *buf;
    int rank;
    bool pairs;
    int axis[MAX_RANK];
    Expr *fixed[MAX_RANK];
    Expr *offset[MAX_RANK];
    Expr *step[MAX_RANK];
    Expr *extent[MAX_RANK];
    Expr *count[MAX_RANK];
} View;

typedef struct Table Table;

/* Storage of a list of run-time length: see list.c. */
typedef struct List List;

/* A buffer that has the elements of "of" in another shape. */
typedef struct Packed {
    View *of;
    Expr *dims[MAX_RANK];
} Packed;

/* An array that is computed, element by element, when somebody needs it: a
 * tree over arrays in memory and numbers, lowered as one nest of loops.
 *
 *   "dtype", "rank", "extent"  of the result.
 *   "view"  a leaf: an array in memory.
 *   "expr"  a leaf: a number (rank 0) or a vector (rank 1), held.
 *   "element"  else: the element, given those of "args", which are broadcast;
 *       "id" and "compute" are for its use.
 *   "index"  if it is set: rewrites an index of this array to one of args[0].
 *   "at"  if it is set: the element at an index, in a way of its own.
 *   "own"  so many of "args" are read at the index of the result.
 *   "place", "lead"  the axes [place, place + lead) come first in the memory of
 *       the array when it is settled.
 *   "joint"  the shape is not that of any one operand. */
typedef struct Lazy Lazy;
struct Lazy {
    DType dtype;
    int rank;
    Expr *extent[MAX_RANK];
    const View *view;
    Expr *expr;
    Expr *(*element)(Lower *L, const Lazy *z, Expr *const *args);
    void (*index)(Lower *L, const Lazy *z, Expr *const *at, Expr **out);
    int id;
    DType compute;
    int nargs;
    const Lazy *args[MAX_LAZY_ARGS];
    Expr *(*at)(Lower *L, const Lazy *z, Expr *const *at);
    int own;
    int place;
    int lead;
    const void *data;
    bool joint;
    Loc loc;
};

/* "expr" of a NUM or vector; "flag" of a maybe-type: true means it is the
 * alternative, NULL that it surely isn't; "view" of memory, or "lazy", which
 * only lower_lazy gives; "items" of a tuple; "list" of a list.  None, strings,
 * dtypes and functions are their type. */
typedef struct Value {
    const Type *type;
    Expr *expr;
    Expr *flag;
    View *view;
    const Lazy *lazy;
    struct Value *items;
    List *list;
} Value;

/* A loop whose 'else' asks whether it was left by 'break'. */
typedef struct LowerLoop {
    struct LowerLoop *outer;
    Var *broke; /* NULL: nobody asks */
} LowerLoop;

/* A scope being lowered: "s" is its statement, NULL for a function's body.
 * "passed" are those further out that are left through it; "left" is set when
 * this one is left from inside another. */
typedef struct LowerScope {
    struct LowerScope *outer;
    const AStmt *s;
    Stmt *stmt;
    Block *block;
    Var *left;
    VEC(struct LowerScope *) passed;
} LowerScope;

struct Lower {
    Arena *arena;
    Diags *diags;
    Func *func;
    Lowered *result;
    Block *out;
    Map values;      /* Version -> Value * */
    Map used;        /* Version that is read */
    Map changed;     /* Version of a vector that is changed in place */
    Map changeable;  /* Var that is SET */
    Map pinned;      /* Var of a view's index -> what it was */
    Map nonnegative; /* Var or Expr that is never below 0 */
    Map returned;    /* number of an array object -> it is a result */
    Map pairs;       /* Buf of complex elements */
    Map packed;      /* BUF_REF of another shape -> its Packed */
    Map arg_of;      /* Buf of an argument -> signature number + 1 */
    struct Rows *rows; /* the strip that is being computed; NULL */
    Map fortran;     /* Buf with the axes of its array in reverse */
    Map in_rows;     /* Buf with gaps, its axes in the order of C */
    Map which;       /* Buf -> number of its array (which.c) */
    Var *made;       /* how many arrays were made, negative */
    bool tells;      /* such numbers are asked for */
    Map orders;      /* Buf made here -> whose order of axes it would have */
    LowerLoop *loop;
    LowerScope *scope;
    Map lists;         /* number of a list object -> List * */
    Map heaps;         /* number of a heap's object -> Heap * */
    Map asides; /* List -> a copy from before the conversions of a join */
    Table *tables;     /* long tables of constants */
    Block prologue;    /* storage that exists from the beginning */
    const AStmt *tail; /* the return that ends the body by itself */
    Sym hint;          /* the name that gets the array being made; NULL */
    bool general;      /* arguments may overlap */
    bool count;        /* float arithmetic that warns gets WARNs */
    unsigned approx;   /* bits of Relax */
    bool divmod;       /* // and % are those of divmod */
    unsigned ignored;  /* bit per Warn: np.errstate ignores it here */
};

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

/* --- lower.c --- */
/* One more result of the Func; its number. */
int add_ret(Lower *L, Expr *value, Buf *buf);

/* --- version.c --- */
void version_bind(Lower *L, const Version *version, Value v, Loc loc);
void version_convert(Lower *L, const Version *to, const Version *from, Loc loc);
Value version_read(Lower *L, const Version *version, Loc loc);
Value *version_value(Lower *L, const Version *version);
/* The view as an array of which only the run knows where it is. */
View *view_as_ref(Lower *L, const Type *type, const View *view, Loc loc);
/* A view, or an index, that can be read wherever the buffer is. */
View *pin_view(Lower *L, const View *view, Loc loc);
Expr *pin_index(Lower *L, Expr *e, const Buf *buf, Loc loc);
/* Storage of SET variables for values of 'type'. */
Value storage_new(Lower *L, const Type *type, const char *name);
void storage_set(Lower *L, const Value *to, Value v, Loc loc);
/* 'v' as a value of type 'to', which is a join of it with others. */
Value convert(Lower *L, Value v, const Type *to, Loc loc);

/* --- which.c --- */
/* Is part of the result an array of which only the run knows which it is? */
bool which_asked(const Type *result);
/* 'buf' has been made; a BUF_REF; 'ref' has been bound; 'copy' is 'ref' now. */
void which_made(Lower *L, const Buf *buf, int object, Loc loc);
void which_named(Lower *L, const Buf *ref);
void which_bound(Lower *L, const Buf *ref, const Buf *to, Loc loc);
void which_same(Lower *L, const Buf *copy, const Buf *ref, Loc loc);
/* The number of the array that 'v', a BUF_REF, is at the end, and the result
 * that has its elements if it is fresh. */
Expr *which_result(Lower *L, Value v, Buf **out, Loc loc);

/* --- with.c --- */
void lower_with(Lower *L, const AStmt *s);

/* --- pymath.c --- */
Value lower_pymath(Lower *L, const AExpr *e, BuiltinId id);
Value lower_log_base(Lower *L, const AExpr *e);

/* --- table.c --- */
Value table_item(Lower *L, const Value *items, int n, const Type *type, Expr *k,
                 Loc loc);

/* --- scope.c --- */
void scope_begin(Lower *L, LowerScope *scope, const AStmt *s, Loc loc);
void scope_end(Lower *L, LowerScope *scope);
void scope_leave(Lower *L, const AStmt *s, Loc loc);

/* --- num.c --- */
/* 'v' known not to be None. */
Value some(Lower *L, Value v, Loc loc);
Value num_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
/* One of the combinations of 'set' occurs; NULL: none can. */
Expr *any_combo(Lower *L, unsigned set, const Value *lhs, const Value *rhs);
/* An operand in the dtype of the computation. */
Expr *convert_operand(Lower *L, AOp op, const BinRule *rule, const Value *v,
                      const Value *other, Loc loc);

/* --- unary.c --- */
/* Unless 'flag' says that it is no Python int, 'holds' is checked. */
void check_if_int(Lower *L, Expr *flag, Expr *holds, Loc loc);
Value num_unary(Lower *L, AOp op, Value arg, const Type *type, Loc loc);
Value num_abs(Lower *L, Value arg, const Type *type, Loc loc);
Expr *truth_of(Lower *L, Value v, Loc loc);

/* --- compare.c --- */
Expr *compare_exprs(Lower *L, AOp op, Expr *x, Expr *y);
/* A comparison of uint64 with a signed integer, exactly. */
Expr *compare_signs(Lower *L, AOp op, Expr *lhs, Expr *rhs, Loc loc);
Expr *compare_apart(Lower *L, AOp op, const BinRule *rule, const Value *lhs,
                    const Value *rhs, Expr *holds, Loc loc);

/* --- range.c --- */
/* An operand converted to the dtype of an operation. */
Expr *operand_as(Lower *L, Value v, DType dtype, Loc loc);
/* Checks that a weak int is in the range of 'dtype'. */
void check_range_of(Lower *L, Expr *e, DType from, DType dtype, Expr *unless,
                    Loc loc);
Expr *float_in_range(Lower *L, Expr *e, DType dtype);
Expr *exact_int(Lower *L, Expr *e, DType dtype); /* NULL: always exact */

/* --- warn.c --- */
/* Does any lane of the condition hold? */
Expr *any_lane(Lower *L, Expr *cond, Loc loc);
/* 'cond' holds: NumPy's operation 'what' warns. */
void emit_warn(Lower *L, Expr *cond, Warn warn, Sym what, Loc loc);
/* 'cond' holds in any lane, but not if 'unless' (NULL: never). */
void warn_if(Lower *L, Expr *cond, Warn warn, Sym what, Expr *unless, Loc loc);
/* NumPy's name of an operation on numbers of these types ('rhs' NULL: one
 * operand), on arrays, and that of a power of an array. */
Sym warn_name(const Lower *L, AOp op, const Type *lhs, const Type *rhs);
Sym array_warn_name(const Lower *L, AOp op);
Sym power_warn_name(DType base, const Type *exponent);
bool is_scalar_name(Sym what);
/* 'e', an operation of NumPy's on floats, just made, with its warnings unless
 * 'unless' (may be NULL). */
Expr *with_warnings(Lower *L, Expr *e, Sym what, Expr *unless, Loc loc);
/* 'e' of many operations, which all are finite if it is.  If it is not, and
 * flags were set, Python does the call and warns. */
Expr *finite_or_python(Lower *L, Expr *e, Loc loc);
/* 'e' cast as NumPy casts, with its warnings. */
Expr *cast_with_warnings(Lower *L, DType dtype, Expr *e, Loc loc);
/* The float 'e' does not warn when it is cast to the integer 'dtype'. */
Expr *cast_fits(Lower *L, Expr *e, DType dtype);

/* --- complex.c --- */
Value complex_binop_of(Lower *L, AOp op, Value lhs, Value rhs,
                       const Type *type, Loc loc);
Expr *complex_compare(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
Value complex_unary_of(Lower *L, AOp op, Value arg, const Type *type, Loc loc);
Value complex_abs(Lower *L, Value arg, const Type *type, Loc loc);
Value complex_part(Lower *L, Value base, const AExpr *e);
Expr *complex_truth(Lower *L, Value v);
Value lower_complex(Lower *L, const AExpr *e);
Value complex_convert(Lower *L, Value v, const Type *to, Loc loc);
/* 'v' as Python's complex number, its parts named. */
void complex_parts(Lower *L, Value v, Expr **re, Expr **im, Loc loc);
/* The absolute value of a number, which must be finite if the number is. */
Expr *complex_length(Lower *L, Expr *re, Expr *im, Loc loc);

/* --- cmath.c --- */
Value lower_cmath(Lower *L, const AExpr *e, BuiltinId id);

/* --- pairs.c --- */
/* The parts of a complex number. */
typedef struct Parts {
    Expr *re;
    Expr *im;
} Parts;

Expr *pair_make(Lower *L, Parts z);
Parts pair_parts(Lower *L, Expr *e, Loc loc);
Expr *pair_cast(Lower *L, DType dtype, Expr *e, Loc loc);
Expr *pair_operand(Lower *L, Value v, DType dtype, Loc loc);
Value pair_value(Lower *L, const Type *type, Expr *e, Loc loc);
Buf *new_buf(Lower *L, const char *name, DType dtype, int rank, BufKind kind);
DType view_dtype(const View *view);
View *pair_view(Lower *L, const View *view, int k);
Value view_value(Lower *L, View *view, const Type *type);
Parts plain_product(Lower *L, Parts x, Parts y);

/* A divisor: the absolute values of its parts, which is the larger, and what
 * both of Smith's formulas have in common. */
typedef struct Ratio {
    Expr *re;
    Expr *im;
    Expr *by_re;
    Expr *ratio;
    Expr *denom;
} Ratio;

Ratio ratio_of(Lower *L, Parts y, Loc loc);
Parts ratio_times(Lower *L, Parts x, const Ratio *r, Loc loc);
Parts numpy_quotient(Lower *L, Parts x, Parts y, Loc loc);
/* A comparison; NumPy orders by the real parts, then the imaginary ones. */
Expr *pair_compare(Lower *L, AOp op, Parts x, Parts y, Loc loc);
Expr *pair_binop(Lower *L, AOp op, Expr *x, Expr *y, Loc loc);
const Lazy *lazy_pair_power(Lower *L, Value base, Value exponent, DType dtype,
                            Loc loc);
const Lazy *lazy_product(Lower *L, DType dtype, const Lazy *lhs,
                         const Lazy *rhs, bool in_place, Loc loc);
void check_product_apart(Lower *L, const View *to, Value by, Loc loc);
bool call_has_pairs(const AExpr *e);
/* The loop of NumPy's that computes the elements of 'z', an Fn; -1: none. */
int pair_lazy_loop(const Lazy *z);
Value lower_pairs(Lower *L, const AExpr *e, BuiltinId id);

/* --- pow.c --- */
Value num_power(Lower *L, Value lhs, Value rhs, const BinRule *rule, Loc loc);

/* --- lazy.c --- */
typedef Expr *LazyElement(Lower *L, const Lazy *z, Expr *const *args);
typedef Expr *LazyAt(Lower *L, const Lazy *z, Expr *const *at);
typedef void LazyIndex(Lower *L, const Lazy *z, Expr *const *at, Expr **out);
const Lazy *lazy_number(Lower *L, Expr *e, Loc loc);
const Lazy *lazy_of(Lower *L, Value v, Loc loc); /* an array */
const Lazy *lazy_view(Lower *L, const View *view, Loc loc);
Lazy *lazy_map(Lower *L, LazyElement *element, int id, DType compute,
               DType dtype, const Lazy *const *args, int n, Loc loc);
Lazy *lazy_remap(Lower *L, const Lazy *from, LazyIndex *index,
                 const void *data, Loc loc);
/* An array whose elements 'at' finds; the caller sets the shape and "args". */
Lazy *lazy_found(Lower *L, DType dtype, LazyAt *at, const void *data, Loc loc);
/* The index of an operand that is broadcast, for the index 'at' of 'rank'
 * axes. */
void lazy_index(Lower *L, const Lazy *arg, Expr *const *at, int rank,
                Expr **out);
/* The element at 'at'; statements that it needs are emitted. */
Expr *lazy_at(Lower *L, const Lazy *z, Expr *const *at);
/* Could storing into 'to' in order change what 'z' has still to read? 'moved':
 * the elements are asked for in another order than they are stored. */
bool is_disturbed(const Lower *L, const View *to, const Lazy *z, bool moved);
/* 'z' as an array that can be broadcast to a shape; checks are emitted. */
const Lazy *lazy_fitted(Lower *L, Expr *const *shape, int rank, const Lazy *z,
                        Loc loc);
/* 'z' as an array in memory, of another dtype. */
const Lazy *lazy_computed(Lower *L, const Lazy *z, DType dtype, Loc loc);
/* Stores all elements into a view that 'z' does not read elsewhere. */
void lazy_store(Lower *L, const View *to, const Lazy *z, Loc loc);
Value lazy_value(const Type *type, const Lazy *z);
/* The value as an array that exists. */
Value settle(Lower *L, Value v, Loc loc);
/* A loop that is emitted, and whose body is written next. */
Expr *open_for(Lower *L, Expr *lo, Expr *hi, Loc loc);

/* --- elementwise.c --- */
/* An element, or lanes where both are not divided or shifted, of operands in
 * the dtype of the computation. */
Expr *element_binop(Lower *L, AOp op, DType dt, Expr *x, Expr *y, Loc loc);
/* An array, or a number in the dtype of the computation. */
const Lazy *lazy_operand(Lower *L, AOp op, Value v, DType dtype, Loc loc);
const Lazy *lazy_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
/* Of an operator that changes 'lhs' in place. */
const Lazy *lazy_augment(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
const Lazy *lazy_unop(Lower *L, AOp op, Value arg, Loc loc);
const Lazy *lazy_abs(Lower *L, Value arg, Loc loc);
const Lazy *lazy_cast(Lower *L, const Lazy *from, DType dtype, Loc loc);
/* As a value of 'type': a vector if that is one. */
Value array_binop(Lower *L, AOp op, Value lhs, Value rhs, const Type *type,
                  Loc loc);

/* --- pointwise.c --- */
Value lower_ufunc(Lower *L, const AExpr *e, BuiltinId id);
/* The loop of NumPy's that computes the elements of 'z', an Fn; -1: none. */
int lazy_loop(const Lazy *z);

/* --- assign.c --- */
/* Stores a number everywhere, or an array that is broadcast, as if it had been
 * computed before. */
void store_into(Lower *L, const View *part, Value v, Loc loc);
void store_lazy(Lower *L, const View *to, const Lazy *z, Loc loc);

/* --- vec.c --- */
Expr *vector_of(Lower *L, Value v, Loc loc);
/* A number that meets an array in an operation on 'dtype'. */
typedef BinRule ArrayRule(Arena *arena, AOp op, const Type *lhs,
                          const Type *rhs);
Value vec_settle(Lower *L, AOp op, Value v, const Type *other, ArrayRule *rule);
Expr *vec_operand(Lower *L, AOp op, Value v, DType dtype, Loc loc);
/* One operator on lanes or elements of dtype 'dt'. */
Expr *vec_compute(Lower *L, AOp op, DType dt, Expr *x, Expr *y);
Expr *vec_power(Lower *L, const Type *exponent, Expr *x, Loc loc);
Value vec_binop(Lower *L, AOp op, Value lhs, Value rhs, Loc loc);
Expr *vec_unary(Lower *L, AOp op, Expr *x);
Expr *vec_cast(Lower *L, DType dtype, Expr *e, Loc loc);

/* --- view.c --- */
View *view_whole(Lower *L, Buf *buf);
Expr *view_extent(Lower *L, const View *view, int k);
/* offset + index * step of a buffer's axis. */
Expr *view_place(Lower *L, const View *view, int axis, Expr *index);
/* Fixes free axis 'k' at 'index', which is in range. */
void view_fix(Lower *L, View *view, int k, Expr *index);
Buf *view_buf(Lower *L, const View *view, Loc loc);
View *view_at(Lower *L, const View *view, Expr *k); /* first axis at 'k' */
View *view_transposed(Lower *L, const View *view);
/* The element at 'index', one per free axis. */
Expr *view_element(Lower *L, const View *view, Expr *const *index);
Expr *view_load(Lower *L, const View *view);        /* rank 0 */
Expr *view_load_vector(Lower *L, const View *view); /* rank 1, known size */
void view_store(Lower *L, const View *view, Expr *e, Loc loc);
void view_store_vector(Lower *L, const View *view, Expr *e, Loc loc);
/* Stores one number everywhere. */
void view_fill(Lower *L, const View *view, Expr *e, Loc loc);
/* 'v' as it is stored into an element of 'dtype'. */
Expr *stored_as(Lower *L, Value v, DType dtype, Loc loc);
Value element_of(Lower *L, Value base, const AExpr *subscript);

/* --- index.c --- */
/* The index as an i64 within [0, n); checks are emitted. */
Expr *index_in(Lower *L, Value index, Expr *n, Loc loc);
Value lower_slice(Lower *L, const AExpr *e); /* slice(a, b, c) */
View *view_part(Lower *L, const View *view, const AExpr *subscript);
void view_new_axis(View *view, int k); /* one more free axis */

/* --- views.c --- */
Value lower_view(Lower *L, const AExpr *e, BuiltinId id);
Value lower_reshape(Lower *L, const AExpr *e, BuiltinId id);
Value lower_view_attr(Lower *L, const AExpr *e, Value base);
/* A view without gaps as a buffer of another shape. */
View *view_packed(Lower *L, const View *view, Expr *const *dims, int rank,
                  Loc loc);

/* --- arange.c --- */
Value lower_arange(Lower *L, const AExpr *e);
Value lower_fill(Lower *L, const AExpr *e); /* a.fill(v) */

/* --- concat.c --- */
Value lower_joined(Lower *L, const AExpr *e, BuiltinId id);

/* --- mask.c --- */
Value lower_nonzero(Lower *L, const AExpr *e, BuiltinId id);

/* --- make.c --- */
Value lower_make(Lower *L, const AExpr *e, BuiltinId id);
Value lower_array(Lower *L, const AExpr *e);
Value lower_copy(Lower *L, const AExpr *e);
/* Memory for an array of 'type', not filled; 'joint': its size is not that of
 * an array that exists. */
Value new_array(Lower *L, const Type *type, Expr *const *dims, bool joint,
                Loc loc);
/* The same for the array that 'e' makes. */
Value make_array(Lower *L, const AExpr *e, Expr *const *dims);

/* --- rows.c --- */
/* Stores a tree with loops of NumPy's by rows; false: not done. */
bool rows_store(Lower *L, const View *to, const Lazy *z, Loc loc);
Expr *row_element(Lower *L, const Lazy *z);

/* --- order.c --- */
/* An axis of one element, or none, has no place in the order. */
Expr *axis_is_single(Lower *L, const View *view, int k);
/* NumPy gives 'buf' the order of axes that 'view' (all views in 'z') has. */
void order_follows(Lower *L, const Buf *buf, const View *view);
void order_follows_lazy(Lower *L, const Buf *buf, const Lazy *z);
/* Turns the axes of 'buf', not yet made, round: an array in Fortran's order,
 * which is given as it should be.  Replays if an axis of a result has less than
 * two elements, which would have a place of its own among the strides
 * ('unless', may be NULL). */
View *order_reversed(Lower *L, Buf *buf, Expr *unless, Loc loc);
/* Replays unless NumPy would have made the viewed array in C order, as here. */
void check_made_in_order(Lower *L, const View *view, Loc loc);
/* Replays unless the memory of 'view' is walked in C order. */
void check_in_order(Lower *L, const View *view, Loc loc);
/* Replays if an axis of several elements has a stride of 0. */
void check_no_repeats(Lower *L, const View *view, Loc loc);
/* Is the view surely in C order, by itself and in NumPy? */
bool order_is_plain(const Lower *L, const View *view);
/* Does NumPy sort axis 'k' of 'view' inside of axis 'outer'? */
Expr *order_within(Lower *L, const View *view, int k, int outer);

/* --- ufunc.c --- */
/* An element of a function that runs_loop; 'y' NULL or, with 'single', one for
 * all elements. */
Expr *loop_element(Lower *L, BuiltinId id, Expr *x, Expr *y, bool single,
                   Loc loc);
/* Replays if an axis of 'view' runs backwards in memory. */
void check_forward(Lower *L, const View *view, Loc loc);

/* --- linalg.c --- */
Value lower_linalg(Lower *L, const AExpr *e, BuiltinId id);
/* a @ b, np.dot(a, b) and their kin, of operands that have been lowered. */
Value product_of(Lower *L, const AExpr *e, BuiltinId id, const Value *values);

/* --- reduce.c --- */
Value lower_reduce(Lower *L, const AExpr *e, BuiltinId id);
Value lower_dot(Lower *L, const AExpr *e, BuiltinId id);
/* 'from' into 'to', of equal extents and with no memory in common. */
void copy_elements(Lower *L, const View *to, const View *from, Loc loc);

/* --- math.c, call.c --- */
Expr *is_nan(Lower *L, Expr *e);
Value lower_math(Lower *L, const AExpr *e, BuiltinId id);
Value lower_round(Lower *L, const AExpr *e, BuiltinId id);
Value lower_convert(Lower *L, const AExpr *e);
Value lower_minmax(Lower *L, const AExpr *e, BuiltinId id);
Value lower_call(Lower *L, const AExpr *e);
void lower_body(Lower *L, const AFunc *func);

/* --- expr.c --- */
Value lower_expr(Lower *L, const AExpr *e);
/* The same, but an array may be a tree that is still to be computed. */
Value lower_lazy(Lower *L, const AExpr *e);
Expr *lower_cond(Lower *L, const AExpr *e);
void lower_items(Lower *L, const AExprVec *items, Value *out);

/* --- subscript.c --- */
Value lower_subscript(Lower *L, const AExpr *e);
Value lower_attr(Lower *L, const AExpr *e);
Value item_at(Lower *L, Value v, const Type *type, Expr *k, Loc loc);

/* --- stmt.c, loop.c --- */
void lower_block(Lower *L, const ABlock *block);
void assign_target(Lower *L, const AExpr *target, Value v);
const Type *item_type_of(Lower *L, const Type *type);
void lower_for(Lower *L, const AStmt *s);
void lower_while(Lower *L, const AStmt *s);

/* --- uses.c --- */
void find_uses(Lower *L, const AFunc *func);
#endif
