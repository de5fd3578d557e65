/* np.arange: sequences of numbers, computed where they are needed.
 *
 *     np.arange(h)[:, None] * 2        no memory: the index itself
 *
 * NumPy computes the first two elements and goes on by their difference, in the
 * dtype of the result: element i is first + i * (second - first).  For floats
 * that is not first + i * step to the last bit.  How many there are is the
 * quotient of distance and step, rounded up, in doubles; below 2**53 that is
 * the exact number for integers.
 */
#include "csrc/lower/state.h"

/* A sequence under way. "n" is the number of elements; the others are in the
 * dtype of the result, or i64 for integers. */
typedef struct Arange {
    DType dtype;
    Expr *first;
    Expr *second;
    Expr *delta;
    Expr *n;
    bool exact; /* first + i * delta is right for all i */
} Arange;

/* --- integers ------------------------------------------------------------- */

/* Checks that the integer is one that doubles hold. */
static void
check_moderate(Lower *L, Expr *e, Loc loc)
{
    int64_t most = INT64_C(1) << 52;
    if (e->op == E_CONST && e->ival <= most && e->ival >= -most) {
        return;
    }
    emit_check(L, op2(L, E_LE, e, int_const(L, most)), X_SPECULATE, loc);
    if (!is_nonnegative(L, e)) {
        emit_check(L, op2(L, E_LE, int_const(L, -most), e), X_SPECULATE, loc);
    }
}

/* Elements from 'a' up to 'b' in steps of 'by' > 0. */
static Expr *
count_up(Lower *L, Expr *a, Expr *b, Expr *by)
{
    Expr *span = op2(L, E_SUB, b, a);
    span = op2(L, E_ADD, span, op2(L, E_SUB, by, int_const(L, 1)));
    return op2(L, E_MAX, op2(L, E_IDIV, span, by), int_const(L, 0));
}

/* The number of elements for integer bounds. */
static Expr *
count_ints(Lower *L, Expr *start, Expr *stop, Expr *step, Loc loc)
{
    Expr *zero = int_const(L, 0);
    int64_t by;
    int64_t from;
    if (ir_const_int(step, &by) && by == 1 && ir_const_int(start, &from) &&
        from == 0) {
        return is_nonnegative(L, stop) ? stop : op2(L, E_MAX, stop, zero);
    }
    if (ir_const_int(step, &by) && by > 0) {
        return count_up(L, start, stop, step);
    }
    emit_check(L, op2(L, E_NE, step, zero), X_ZERO_DIVISION, loc);
    Expr *up = reuse(L, op2(L, E_LT, zero, step), loc);
    Expr *a = reuse(L, ir_select(L->arena, up, start, stop), loc);
    Expr *b = reuse(L, ir_select(L->arena, up, stop, start), loc);
    return count_up(L, a, b, reuse(L, op1(L, E_ABS, step), loc));
}

/* --- floats --------------------------------------------------------------- */

/* The number of elements for bounds in double. */
static Expr *
count_floats(Lower *L, Expr *start, Expr *stop, Expr *step, Loc loc)
{
    Expr *zero = ir_float(L->arena, DT_F64, 0.0);
    Expr *most = ir_float(L->arena, DT_F64, 0x1p47);
    emit_check(L, op2(L, E_NE, step, zero), X_ZERO_DIVISION, loc);
    Expr *span = reuse(L, op2(L, E_SUB, stop, start), loc);
    Expr *value = reuse(L, op2(L, E_DIV, span, step), loc);
    emit_check(L, op2(L, E_LT, op1(L, E_ABS, value), most), X_MEMORY, loc);
    Expr *none = either(L, op2(L, E_NE, value, zero), op2(L, E_EQ, span, zero));
    emit_check(L, none, X_SPECULATE, loc);
    Expr *n = cast_to(L, DT_I64, call_fn(L, FN_CEIL, DT_F64, value, NULL));
    return op2(L, E_MAX, n, int_const(L, 0));
}

/* --- elements ------------------------------------------------------------- */

/* Element 'i'. */
static Expr *
element(Lower *L, const Arange *r, Expr *i)
{
    if (!dtype_is_float(r->dtype)) {
        Expr *by = r->delta->op == E_CONST && r->delta->ival == 1
                       ? i
                       : op2(L, E_MUL, i, r->delta);
        bool zero = r->first->op == E_CONST && r->first->ival == 0;
        return cast_to(L, r->dtype, zero ? by : op2(L, E_ADD, r->first, by));
    }
    Expr *by = op2(L, E_MUL, cast_to(L, r->dtype, i), r->delta);
    Expr *e = op2(L, E_ADD, r->first, by);
    if (r->exact) {
        return e;
    }
    Expr *one = op2(L, E_EQ, i, int_const(L, 1));
    Expr *zero = op2(L, E_EQ, i, int_const(L, 0));
    e = ir_select(L->arena, one, r->second, e);
    return ir_select(L->arena, zero, r->first, e);
}

/* For a tree: "data" is the Arange. */
static Expr *
element_at(Lower *L, const Lazy *z, Expr *const *at)
{
    return element(L, z->data, at[0]);
}

/* --- calls ---------------------------------------------------------------- */

/* Integer bounds and step, and what the elements are made of. */
static void
open_ints(Lower *L, Value *args, DType dtype, Arange *r, Loc loc)
{
    Expr *part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = args[i].type ? cast_to(L, DT_I64, args[i].expr)
                               : int_const(L, i == 2);
        part[i] = reuse(L, hold(L, part[i], loc), loc);
        check_moderate(L, part[i], loc);
    }
    r->n = count_ints(L, part[0], part[1], part[2], loc);
    r->first = part[0];
    r->delta = part[2];
    r->exact = dtype == DT_F64;
    Expr *next = reuse(L, op2(L, E_ADD, part[0], part[2]), loc);
    r->second = next;
    if (dtype_is_float(dtype)) {
        Expr *wide = cast_to(L, DT_F64, part[0]);
        r->first = reuse(L, cast_to(L, dtype, wide), loc);
        wide = cast_to(L, DT_F64, next);
        r->second = reuse(L, cast_to(L, dtype, wide), loc);
        r->delta = reuse(L, op2(L, E_SUB, r->second, r->first), loc);
    } else if (dtype != DT_I64) {
        check_range_of(L, part[0], DT_I64, dtype, NULL, loc);
        check_range_of(L, next, DT_I64, dtype, NULL, loc);
    }
}

/* The same when one of them is a float. */
static void
open_floats(Lower *L, Value *args, DType dtype, Arange *r, Loc loc)
{
    Expr *part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = args[i].type ? cast_to(L, DT_F64, args[i].expr)
                               : ir_float(L->arena, DT_F64, i == 2);
        part[i] = reuse(L, hold(L, part[i], loc), loc);
    }
    r->n = count_floats(L, part[0], part[1], part[2], loc);
    Expr *next = reuse(L, op2(L, E_ADD, part[0], part[2]), loc);
    r->first = reuse(L, cast_to(L, dtype, part[0]), loc);
    r->second = reuse(L, cast_to(L, dtype, next), loc);
    r->delta = reuse(L, op2(L, E_SUB, r->second, r->first), loc);
}

/* np.arange(...): lanes of a vector, or a tree. */
Value
lower_arange(Lower *L, const AExpr *e)
{
    Value values[4] = {{.type = NULL}};
    lower_items(L, &e->items, values);
    const Type *types[3];
    arange_args(e, types);
    Value args[3] = {values[0], values[1], values[2]};
    if (types[0] == NULL) {
        args[1] = values[0];
    }
    bool floats = false;
    for (int i = 0; i < 3; i++) {
        args[i].type = types[i];
        floats |= types[i] != NULL && dtype_is_float(types[i]->dtype);
    }
    Arange r = {.dtype = e->type->dtype};
    if (floats) {
        open_floats(L, args, r.dtype, &r, e->loc);
    } else {
        open_ints(L, args, r.dtype, &r, e->loc);
    }
    if (type_is_vector(e->type)) {
        int n = type_lanes(e->type);
        Expr *vec = ir_splat(L->arena, element(L, &r, int_const(L, 0)), n);
        for (int i = 1; i < n; i++) {
            Expr *k = int_const(L, i);
            vec = ir_insert(L->arena, vec, k, element(L, &r, k));
        }
        return num_value(e->type, vec);
    }
    Lazy *z = lazy_found(L, r.dtype, element_at,
                         arena_copy(L->arena, &r, sizeof(r)), e->loc);
    z->rank = 1;
    z->extent[0] = e->type->size[0] >= 0 ? int_const(L, e->type->size[0])
                                         : reuse(L, r.n, e->loc);
    if (z->extent[0]->op == E_VAR) {
        map_set(&L->nonnegative, z->extent[0]->var, L);
    }
    return lazy_value(e->type, z);
}

/* a.fill(v) */
Value
lower_fill(Lower *L, const AExpr *e)
{
    Value values[2];
    lower_items(L, &e->items, values);
    store_into(L, values[0].view, values[1], e->loc);
    return value_of_type(L, e->type);
}
