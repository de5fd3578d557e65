#ifndef VZ_TYPEINFER_RULES_H
#define VZ_TYPEINFER_RULES_H
/* The rules of Python's and NumPy's types, used twice: by inference for the
 * types and by csrc/lower for the code, so that the two always agree.
 *
 * A *plain* type is one of Python's bool, int, float (weak) or a NumPy scalar
 * (strong).  A maybe-type is two plain types, of which a flag chooses at run
 * time; rules on maybe-types try all combinations.
 */
#include "csrc/ast/ast.h"

/* --- types.c -------------------------------------------------------------- */

/* "origin" of an exponent of which inference assumes that it is not negative,
 * so that the power is an int; lower checks it. */
enum { ORIGIN_COUNT = -1 };

typedef struct Plain {
    DType dtype;
    bool weak;
} Plain;

const Type *type_kind(Arena *arena, TypeKind kind);
/* A tuple of these items, of the same length and class as 'like'. */
const Type *type_like(Arena *arena, const Type *const *items, const Type *like);
const Type *type_num(Arena *arena, DType dtype, bool weak);
const Type *type_bool(Arena *arena); /* Python's, unknown */
const Type *type_int(Arena *arena);
const Type *type_float(Arena *arena);
const Type *type_known_bool(Arena *arena, bool value);
const Type *type_known_int(Arena *arena, int64_t value);
const Type *type_known_float(Arena *arena, double value);
const Type *type_complex(Arena *arena); /* Python's */
/* What two numbers are in arithmetic, of which one is complex. */
const Type *complex_common(Arena *arena, const Type *lhs, const Type *rhs);
/* Python's or, if it is not 'weak', a scalar of NumPy's. */
const Type *type_pair(Arena *arena, DType dtype, bool weak);
const Type *type_tuple(Arena *arena, const Type *const *items, int n,
                       bool is_list);
/* A vector of 'lanes' elements, part of no object yet. */
const Type *type_vector(Arena *arena, DType dtype, int lanes);
/* 'type' without known value and origin, and without alternative. */
const Type *type_forget(Arena *arena, const Type *type);
const Type *type_with_alt(Arena *arena, const Type *type, Alt alt);
/* What a reader is told: "`x` is int" style words in the arena. */
const char *type_text(Arena *arena, const Type *type);

/* The main and the alternative part of a NUM; false when 'alt' is none of
 * BOOL, INT, FLOAT. */
Plain type_plain(const Type *num);
bool type_plain_alt(const Type *num, Plain *out);
bool type_is_vector(const Type *type); /* fresh small array in registers */
bool type_is_memory(const Type *type);
/* A 1-D array of known size that can be read as a vector: its size, else 0. */
int type_lanes(const Type *type);
bool type_is_known_int(const Type *type, int64_t *out);
/* Is 'type' an int or NumPy integer (or, if 'or_bool', a Python bool)? */
bool type_is_integer(const Type *type, bool or_bool);
/* May it be the size of an axis: an integer, NumPy's or Python's or either? */
bool type_is_size(const Type *type);
/* A number that may be one of Python's, of one and the same dtype in NumPy. */
bool type_is_one_dtype(const Type *num);
/* Known truth of a value; false when it depends on the run. */
bool type_truth(const Type *type, bool *out);

/* The type that holds values of both; NULL when there is none.  NULL as an
 * argument stands for an unbound name.  "meet": float32 and float64 have one,
 * which is float64. */
const Type *type_join(Arena *arena, const Type *lhs, const Type *rhs,
                      bool meet);
/* The array of 'type' as one of which only the run knows which it is; the
 * caller gives it an object. */
Type *type_ref(Arena *arena, const Type *type);
/* Where a slice of 'size' items begins and how many it has; false: that is not
 * known. */
bool known_slice(const Type *slice, int64_t size, int64_t *first, int64_t *n);
/* Can 'joined' keep the number, if it is known?  -1 is no uint8. */
bool type_keeps(const Type *known, const Type *joined);

/* --- rules.c -------------------------------------------------------------- */

/* NEP 50: the type in which two plain numbers meet. */
Plain plain_common(Plain lhs, Plain rhs);

/* Combinations of main (0) and alternative (1) of two operands. */
enum { COMBO_MAIN = 0, COMBO_LHS = 1, COMBO_RHS = 2, COMBO_BOTH = 3 };

/* What a binary operator or comparison gives.
 *  "type"     of the result, NULL: TypeError or not translated
 *  "compute"  dtype to which both operands are converted
 *  "flagged"  bit per combination in which the result is its alternative
 *  "apart"    ... of a comparison in float32 that is then one of doubles
 *  "refused"  bit per combination that must not occur (speculation)
 *  "mixed"    comparison of uint64 with a signed integer */
typedef struct BinRule {
    const Type *type;
    DType compute;
    unsigned flagged;
    unsigned apart;
    unsigned refused;
    bool mixed;
} BinRule;

bool op_is_compare(AOp op);
const char *op_text(AOp op);
/* "add" of `__add__`; "none": it has no special method. */
const char *op_special(AOp op);
/* '**' too; for it 'rhs' may have a known value.  "meet": see type_join. */
BinRule rule_binop(Arena *arena, AOp op, const Type *lhs, const Type *rhs,
                   bool meet);

/* The same for element-wise arithmetic, where at least one operand is an
 * array: "type" is that of an element. */
BinRule rule_array(Arena *arena, AOp op, const Type *lhs, const Type *rhs);
/* What can be done in registers: the arrays have lanes, of one number. */
BinRule rule_vector(Arena *arena, AOp op, const Type *lhs, const Type *rhs);
/* May a result of dtype 'from' be written into an array of 'to' by an
 * in-place operator? */
bool rule_same_kind(DType from, DType to);

/* -a +a ~a of a NUM or of elements ('not' has no need of a rule); NULL as
 * above. '*only_main': the alternative must not occur. */
const Type *rule_unary(Arena *arena, AOp op, const Type *arg, bool *only_main);

/* --- known.c -------------------------------------------------------------- */

/* The value of an operator on known weak numbers, or NULL. */
const Type *fold_binop(Arena *arena, AOp op, const Type *lhs, const Type *rhs);
const Type *fold_unary(Arena *arena, AOp op, const Type *arg);

/* Can the weak number 'from' be kept in a 'to' without a check? */
bool weak_fits(const Type *from, DType to);

/* --- builtins.def --------------------------------------------------------- */

/* How a function of builtins.def is inferred and lowered. */
typedef enum BuiltinKind {
    BK_CONST, /* a number: math.pi */
    BK_DTYPE, /* np.float32, float: converts, or names a dtype */
    BK_MATH,  /* math.sin: float(s) -> float, checked */
    BK_ROUND, /* math.floor: float -> int */
    BK_TEST,  /* math.isnan: float -> bool */
    BK_PAIRS, /* of complex numbers only: np.conj */
    BK_UFUNC, /* element by element: np.sqrt, np.minimum, np.where */
    BK_MINMAX,
    BK_MAKE,    /* np.zeros */
    BK_REDUCE,  /* np.sum, a.max: see ReduceKind */
    BK_PYMATH,  /* math.hypot: CPython's own */
    BK_LINALG,  /* np.dot, np.sort: a routine of NumPy's */
    BK_SEQUENCE, /* sum: written out, or a loop */
    BK_LIST,    /* list(x), lst.append(x): see typeinfer/list.h */
    BK_VIEW,    /* the same memory under other axes: np.transpose */
    BK_RESHAPE, /* the same elements in another shape: np.ravel */
    BK_CONCAT,  /* arrays side by side: np.concatenate */
    BK_SPECIAL, /* rules of its own */
} BuiltinKind;

typedef enum BuiltinId {
    BUILTIN_NONE,
#define BUILTIN(id, name, kind, fn, params) BUILTIN_##id,
#include "typeinfer/builtins.def"
#undef BUILTIN
    BUILTIN_COUNT
} BuiltinId;

/* "fn" is an Fn of csrc/ir or -1; "params" are the names of the parameters
 * by position, separated by spaces, '*' for any number of positional ones;
 * a name ending in '?' may be left out. */
typedef struct Builtin {
    const char *name;
    BuiltinKind kind;
    int fn;
    const char *params;
} Builtin;

const Builtin *builtin_row(BuiltinId id);
BuiltinId builtin_find(Sym name);
/* The builtin that a typed callee (A_GLOBAL or method) names. */
BuiltinId builtin_of(const AExpr *callee);
/* Where a typed call has the argument of the parameter 'word'; -1: the row has
 * no such parameter. */
int builtin_slot(BuiltinId id, const char *word);

/* Is it a call of a method that changes its list? */
bool list_changes(const AExpr *call);
/* The array that a function by element is given as 'out', or NULL. */
const AExpr *ufunc_out(const AExpr *call, BuiltinId id);
/* User functions and methods of lists may change memory, so what was loaded
 * before such a call must be held. Other library functions store only into an
 * `out`. */
bool has_user_call(const AExpr *e);

/* What sort of thing a TY_DTYPE is ("rank"): np.uint8, a.dtype, and what
 * np.iinfo and np.finfo give, which is no dtype. */
enum { DTYPE_CLASS = 0, DTYPE_OBJECT = 1, DTYPE_IINFO = 2, DTYPE_FINFO = 3 };

/* The dtype that a type or a text names; DT_COUNT: none. */
DType dtype_named(const Type *type);

/* --- numpy.c -------------------------------------------------------------- */

/* What is known of the NumPy that is installed: its version, and whether sums
 * of floats are added in the order that is implemented here. */
#define NUMPY(major, minor) ((major) * 1000 + (minor))
void numpy_set(int major, int minor);
int numpy_version(void);
bool numpy_sums_known(void);
/* The longest float vectors for which NumPy's dot adds the products from left
 * to right, and whether product and sum are rounded at once. */
typedef struct {
    int longest;
    bool fused;
} DotOrder;
void numpy_set_dot(DType dtype, bool strided, DotOrder order);
DotOrder numpy_dot_order(DType dtype, bool strided);
/* Has NumPy's loop 'fn' (an Fn) of float64 or float32 the same bits for one
 * element as for many? */
void numpy_set_loop(int fn, bool single, bool ok);
bool numpy_loop_known(int fn, DType dtype);
/* The products of complex arrays by NumPy's loops, and whether absolute values
 * are computed in the steps that are known (lower/pairs.c). */
typedef enum MulForm { MUL_UNKNOWN, MUL_PLAIN, MUL_FUSED } MulForm;
void numpy_set_pairs(DType dtype, MulForm mul, bool backwards, bool absolute);
MulForm numpy_mul_form(DType dtype);
bool numpy_mul_known(DType dtype);
/* Is it the same for arrays that run backwards in memory? */
bool numpy_mul_backwards(DType dtype);
bool numpy_abs_known(DType dtype);
/* Have NumPy's linear algebra and sorting been found? */
void numpy_set_routines(bool found);
bool numpy_has_routines(void);

/* --- make.c --------------------------------------------------------------- */

/* Types of start, stop and step of np.arange; NULL: left out. */
void arange_args(const AExpr *call, const Type **out);

/* --- concat.c ------------------------------------------------------------- */

/* Operands of fewer than "rank" axes get "axis". */
typedef struct ConcatPlan {
    int axis;
    int rank;
} ConcatPlan;

/* False: operands that are not translated. */
bool concat_plan(const AExpr *call, BuiltinId id, ConcatPlan *plan);

/* --- gather.c ------------------------------------------------------------- */

/* Most index arrays of one subscript. */
enum { MAX_GATHER = 4 };

/* Where the axes of the index arrays stand among those of the result: at
 * "place", counted in the axes that are not indexed by arrays. */
typedef struct GatherPlan {
    int place;
    int narrays;
    bool in_front; /* slices between the arrays */
} GatherPlan;

/* Items of a subscript by their types; `...` is a TY_RANGE. */
void gather_plan(const Type *const *items, int n, int rank, GatherPlan *plan);
/* How many axes an item that is an array takes; 0: it is none. */
int index_array_axes(const Type *item);

/* --- views.c -------------------------------------------------------------- */

/* How the axes of a view come from those of an array.
 *  "from"     axis of the array, -1: a new one of one element
 *  "dropped"  axes of the array that must have one element
 *  "others_more"  all other axes must have more than one */
typedef struct ViewPlan {
    int rank;
    int from[MAX_RANK];
    bool dropped[MAX_RANK];
    bool others_more;
} ViewPlan;

/* False: the axes are not known or not valid. */
bool rule_view(BuiltinId id, const AExpr *call, const Type *array,
               ViewPlan *plan);
/* The sizes that a BK_RESHAPE is given; 0: all in one axis, -1: not known. */
int reshape_dims(const AExpr *call, BuiltinId id, const Type **out);
/* Does a BK_RESHAPE of 'base' to 'rank' axes give a view? */
bool reshape_is_view(BuiltinId id, const Type *base, int rank);

/* --- pairs.c -------------------------------------------------------------- */

/* The dtype in which operands meet in an element-wise function. */
DType pairs_common(const Type *const *ops, int n);
/* The loop of NumPy's that computes the function for complex numbers, an Fn;
 * -1: none. */
int pairs_loop(BuiltinId id);
/* Is NumPy's power of complex numbers known? */
bool pairs_power_known(DType dtype);
/* Is it a function of Python's cmath? */
bool is_cmath(BuiltinId id);

/* --- loop functions: ufunc.c ---------------------------------------------- */

/* Is the function computed by an inner loop of NumPy's? */
bool runs_loop(BuiltinId id);
/* The dtype in which NumPy computes it for 'n' operands, numbers and elements
 * of arrays; DT_COUNT: one that is not translated. */
DType loop_dtype(BuiltinId id, const Type *const *ops, int n);

/* --- pointwise.c ---------------------------------------------------------- */

enum { MOST_UFUNC_ARGS = 3 };

/* What an element-wise function computes.
 *  "dtype"    of the result; DT_COUNT: not translated
 *  "compute"  dtype of the computation
 *  "own"      bit per argument that keeps its own dtype */
typedef struct UfuncRule {
    DType dtype;
    DType compute;
    unsigned own;
} UfuncRule;

/* The operator that the function is, or AO_IS. */
AOp ufunc_op(BuiltinId id);
/* The number of arguments but 'out'. */
int ufunc_arity(BuiltinId id);
/* NULL in 'args' is an argument left out or None. */
UfuncRule rule_ufunc(Arena *arena, BuiltinId id, const Type *const *args);
/* A bit per combination of numbers that are their alternatives (bit i of its
 * number: argument i is) in which something else is computed; only the least
 * of them. */
unsigned ufunc_refused(Arena *arena, BuiltinId id, const Type *const *args);

/* --- linalg.c ------------------------------------------------------------- */

/* Of a typed call of np.sort or np.argsort: 0 the fastest way, 1 a stable one,
 * -1 not known. */
int sort_kind(const AExpr *call);
/* Is a typed call of np.dot one of two vectors that are added from left to
 * right (dot.c)? */
bool is_short_dot(const AExpr *call, bool any_order);

/* --- reduce.c ------------------------------------------------------------- */

/* What a row of BK_REDUCE computes. */
typedef enum ReduceKind {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_ANY,
    REDUCE_ALL,
    REDUCE_ARGMIN,
    REDUCE_ARGMAX,
    REDUCE_MEAN,
    REDUCE_VAR,
    REDUCE_STD,
    REDUCE_PTP,
    REDUCE_COUNT,
} ReduceKind;

ReduceKind reduce_kind(BuiltinId id);
/* The axes of a typed call, a bit each; false: not known or not valid. */
bool reduce_axes(const AExpr *call, BuiltinId id, unsigned *axes);
/* The argument for the parameter 'word', or NULL. */
const AExpr *reduce_argument(const AExpr *call, BuiltinId id,
                             const char *word);
bool reduce_keeps(const AExpr *call, BuiltinId id);

/* --- listcall.c ----------------------------------------------------------- */

/* Does the loop over 'iter' have no round, as a list is always empty? */
bool list_iterates_none(const AExpr *iter);
#endif
