/* Types of linear algebra: a @ b, np.dot, np.linalg.inv ...
 *
 *     np.dot(v, w)           a NumPy scalar
 *     H @ np.array([x, y, 1.0])       float64[3]
 *     np.linalg.solve(M, b)  as b
 *
 * Floats go to NumPy's own routines (csrc/py/routines.c), integers, whose sums
 * wrap, are added by loops.  Operands of another dtype than the result's are
 * cast first, lists become arrays; both are written into the tree as calls of
 * astype and np.array, so that csrc/lower sees operands that fit.
 *
 * np.dot of matrices calls the BLAS as `@` does as long as both lie in C order
 * without gaps, which is checked.
 */
#include <string.h>

#include "typeinfer/state.h"

/* --- operands ------------------------------------------------------------- */

/* The call of a library function on typed arguments, made here. */
static AExpr *
call_of(Infer *I, const AExpr *at, BuiltinId id, AExpr *first, AExpr *second)
{
    AExpr *call = ast_expr(I->arena, A_CALL, at->loc);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_FUNC), sizeof(*type));
    type->name = sym(builtin_row(id)->name);
    call->lhs = ast_expr(I->arena, A_GLOBAL, at->loc);
    call->lhs->type = type;
    AExpr *args[] = {first, second, NULL};
    for (int i = 0; i < 3; i++) {
        vec_push(I->arena, &call->items, args[i]);
        vec_push(I->arena, &call->keys, NULL);
    }
    call->type = type_of_builtin(I, call, id);
    return call;
}

/* Lists and tuples become arrays. */
AExpr *
array_of(Infer *I, AExpr *e)
{
    bool list = e->type->kind == TY_TUPLE;
    return list ? call_of(I, e, BUILTIN_NP_ARRAY, e, NULL) : e;
}

/* A dtype as an argument. */
static AExpr *
dtype_node(Infer *I, const AExpr *at, DType dtype)
{
    AExpr *e = ast_expr(I->arena, A_GLOBAL, at->loc);
    Type *type =
        arena_copy(I->arena, type_kind(I->arena, TY_DTYPE), sizeof(*type));
    type->dtype = dtype;
    type->name = sym(str_printf(I->arena, "numpy.%s", dtype_name(dtype)));
    e->type = type;
    return e;
}

/* np.float64(e) of a number. */
static AExpr *
as_double(Infer *I, AExpr *e)
{
    AExpr *call = ast_expr(I->arena, A_CALL, e->loc);
    call->lhs = dtype_node(I, e, DT_F64);
    vec_push(I->arena, &call->items, e);
    vec_push(I->arena, &call->keys, NULL);
    call->type = type_num(I->arena, DT_F64, false);
    return call;
}

/* An integer of NumPy's to the power of Python's float is what it is in an
 * array. */
static bool
is_power_of_array(const Type *lhs, const Type *rhs)
{
    return lhs->kind == TY_NUM && !lhs->weak && dtype_is_int(lhs->dtype) &&
           rhs->kind == TY_NUM && rhs->weak && rhs->dtype == DT_F64;
}

/* `a ** x` by np.power, whose loop takes the same short cuts for exponents that
 * are one number; NULL: another case, which an operator's rule has. */
AExpr *
infer_power(Infer *I, const AExpr *e, AExpr *lhs, AExpr *rhs)
{
    const Type *ops[] = {lhs->type, rhs->type};
    bool array = false;
    for (int i = 0; i < 2; i++) {
        bool is_array = ops[i]->kind == TY_ARRAY;
        if ((!is_array && ops[i]->kind != TY_NUM) || ops[i]->alt != ALT_NEVER) {
            return NULL;
        }
        array |= is_array;
    }
    if (is_power_of_array(ops[0], ops[1])) {
        lhs = as_double(I, lhs);
        ops[0] = lhs->type;
    } else if (!array ||
               rule_array(I->arena, AO_POW, ops[0], ops[1]).type != NULL) {
        return NULL;
    }
    return loop_dtype(BUILTIN_NP_POWER, ops, 2) == DT_COUNT
               ? NULL
               : call_of(I, e, BUILTIN_NP_POWER, lhs, rhs);
}

/* Part of a small array with a step: its elements are not neighbours, and BLAS
 * would be given a stride. */
static bool
has_step(const AExpr *e)
{
    if (e->kind != A_SUBSCRIPT) {
        return true;
    }
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        const AExpr *step = item->kind == A_SLICE ? item->items.at[2] : NULL;
        int64_t by;
        if (step != NULL && (!type_is_known_int(step->type, &by) || by != 1)) {
            return true;
        }
    }
    return false;
}

/* Operand 'i' as an array of one or two axes. */
static const Type *
need_array(Infer *I, AExpr *call, BuiltinId id, int i)
{
    AExpr *e = array_of(I, call->items.at[i]);
    call->items.at[i] = e;
    const Type *type = e->type;
    if (type->kind != TY_ARRAY || type->rank < 1 || type->rank > 2) {
        refuse_type(I, call, id, type);
    }
    check_reach(I, type, call->loc);
    if (type_is_vector(type) && type->view && has_step(e)) {
        demote_vector(I, type);
        refuse_type(I, call, id, type);
    }
    return type;
}

/* Casts operand 'i' if it has another dtype. */
static void
cast_operand(Infer *I, AExpr *call, int i, DType dtype)
{
    AExpr *e = call->items.at[i];
    if (e->type->dtype != dtype) {
        AExpr *to = dtype_node(I, e, dtype);
        call->items.at[i] = call_of(I, e, BUILTIN_ASTYPE, e, to);
    }
}

/* --- shapes --------------------------------------------------------------- */

/* Sizes that must be equal: refused if they surely aren't. */
static void
check_equal(Infer *I, const AExpr *call, int64_t lhs, int64_t rhs)
{
    if (lhs >= 0 && rhs >= 0 && lhs != rhs) {
        infer_refuse(I, DIAG_ALWAYS_FAILS, call->loc, NULL,
                     "axes of %lld and %lld elements don't fit together: this "
                     "raises ValueError",
                     (long long)lhs, (long long)rhs);
    }
}

/* A fresh array of up to two axes. */
static const Type *
fresh(Infer *I, const AExpr *call, DType dtype, int rank, const int64_t *sizes)
{
    Type *type = arena_copy(I->arena, type_kind(I->arena, TY_ARRAY),
                            sizeof(*type));
    type->dtype = dtype;
    type->layout = LAYOUT_C;
    type->rank = rank;
    memcpy(type->size, sizes, sizeof(*sizes) * (size_t)rank);
    return type_new_array(I, call, type, LAYOUT_C);
}

/* a @ b and its kin: vectors give a number, else the axes that are not summed
 * stand in the result. */
static const Type *
type_of_product(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *a = need_array(I, call, id, 0);
    const Type *b = need_array(I, call, id, 1);
    DType dtype = dtype_promote(a->dtype, b->dtype);
    bool vectors = a->rank == 1 && b->rank == 1;
    bool only_vectors = id == BUILTIN_NP_VDOT || id == BUILTIN_NP_INNER;
    if (dtype == DT_BOOL || (only_vectors && !vectors) ||
        (dtype_is_float(dtype) && !numpy_has_routines())) {
        refuse_type(I, call, id, dtype == DT_BOOL ? a : b);
    }
    check_equal(I, call, a->size[a->rank - 1], b->size[0]);
    cast_operand(I, call, 0, dtype);
    cast_operand(I, call, 1, dtype);
    if (vectors) {
        return type_num(I->arena, dtype, false);
    }
    int64_t sizes[2];
    int rank = 0;
    if (a->rank == 2) {
        sizes[rank++] = a->size[0];
    }
    if (b->rank == 2) {
        sizes[rank++] = b->size[1];
    }
    return fresh(I, call, dtype, rank, sizes);
}

/* np.linalg's functions of a square matrix compute in float64, and give
 * float32 only for float32. */
static const Type *
type_of_square(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *a = need_array(I, call, id, 0);
    bool solves = id == BUILTIN_NP_SOLVE;
    const Type *b = solves ? need_array(I, call, id, 1) : a;
    bool single = a->dtype == DT_F32 && b->dtype == DT_F32;
    DType dtype = single ? DT_F32 : DT_F64;
    if (a->rank != 2 || !numpy_has_routines()) {
        refuse_type(I, call, id, a);
    }
    check_equal(I, call, a->size[0], a->size[1]);
    check_equal(I, call, a->size[0], b->size[0]);
    cast_operand(I, call, 0, DT_F64);
    if (id == BUILTIN_NP_DET) {
        return type_num(I->arena, dtype, false);
    }
    if (solves) {
        cast_operand(I, call, 1, DT_F64);
    }
    return fresh(I, call, dtype, b->rank, b->size);
}

/* np.sort and np.argsort of one axis. */
static const Type *
type_of_sort(Infer *I, AExpr *call, BuiltinId id)
{
    const Type *a = need_array(I, call, id, 0);
    bool positions = id == BUILTIN_NP_ARGSORT || id == BUILTIN_ARGSORT_OF;
    const AExpr *axis = call->items.at[1];
    int64_t k = -1;
    if (a->rank != 1 || !numpy_has_routines() ||
        (axis != NULL && (!type_is_known_int(axis->type, &k) ||
                          (k != 0 && k != -1))) ||
        sort_kind(call) < 0) {
        refuse_type(I, call, id, a);
    }
    return fresh(I, call, positions ? DT_I64 : a->dtype, 1, a->size);
}

/* 0: whatever is fastest; 1: stable; -1: not known. */
int
sort_kind(const AExpr *call)
{
    const AExpr *kind = call->items.at[2];
    const AExpr *stable = call->items.at[3];
    bool truth;
    if (stable != NULL && stable->type->kind != TY_NONE) {
        return type_truth(stable->type, &truth) && truth ? 1 : -1;
    }
    if (kind == NULL || kind->type->kind == TY_NONE) {
        return 0;
    }
    if (kind->type->kind != TY_STR) {
        return -1;
    }
    const char *name = kind->type->name;
    if (strcmp(name, "stable") == 0 || strcmp(name, "mergesort") == 0) {
        return 1;
    }
    return strcmp(name, "quicksort") == 0 ? 0 : -1;
}

/* A call of BK_LINALG. */
const Type *
type_of_linalg(Infer *I, AExpr *call, BuiltinId id)
{
    switch ((int)id) {
    case BUILTIN_NP_INV:
    case BUILTIN_NP_DET:
    case BUILTIN_NP_SOLVE:
        return type_of_square(I, call, id);
    case BUILTIN_NP_SORT:
    case BUILTIN_NP_ARGSORT:
    case BUILTIN_ARGSORT_OF:
        return type_of_sort(I, call, id);
    default:
        return type_of_product(I, call, id);
    }
}

/* `a @ b` is np.matmul(a, b). */
AExpr *
infer_matmul(Infer *I, const AExpr *e)
{
    AExpr *lhs = infer_expr(I, e->lhs);
    AExpr *rhs = infer_expr(I, e->rhs);
    return call_of(I, e, BUILTIN_NP_MATMUL, lhs, rhs);
}
