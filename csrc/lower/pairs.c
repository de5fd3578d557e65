/* Complex numbers in arrays.
 *
 *     z[i, j]         two floats of memory: a load of two lanes
 *     z * w           for each element a product, which is two lanes
 *     z.imag          every other float: a view of the same memory
 *
 * To the IR an array of complex128 is one of float64 with one more axis, of
 * two, behind the others.  View.pairs says that this axis belongs to the
 * elements: it is not among the free ones.  A complex element of a tree (Lazy)
 * is a vector of two lanes; a complex scalar is two numbers (complex.c).  So
 * nothing below lower knows of complex numbers.
 *
 * The formulas are NumPy's.  Its vectorised loops multiply with fused
 * operations where the processor has them,
 *
 *     re = fma(a, c, -(b * d))      im = fma(a, d, b * c)
 *
 * but its scalar loop, which is taken for a single element that is changed in
 * place, does not.  Absolute values are larger * sqrt(1 + ratio ** 2).  Which
 * form this NumPy has is tried when vizgen is imported (csrc/py/pairs.c).
 *
 * Overflows and nan make NumPy warn.  If the result is finite nothing has
 * happened on the way; else the kernel that counts lets Python do the call.
 */
#include <string.h>

#include "csrc/lower/state.h"

/* --- parts ---------------------------------------------------------------- */

/* Two lanes from the parts of a number. */
Expr *
pair_make(Lower *L, Parts z)
{
    Expr *vec = ir_splat(L->arena, z.re, 2);
    return ir_insert(L->arena, vec, int_const(L, 1), z.im);
}

/* The parts of two lanes, or of a real number of their dtype. */
Parts
pair_parts(Lower *L, Expr *e, Loc loc)
{
    if (e->lanes == 0) {
        return (Parts){reuse(L, e, loc), num_const(L, e->dtype, 0)};
    }
    e = reuse(L, e, loc);
    return (Parts){ir_elem(L->arena, e, int_const(L, 0)),
                   ir_elem(L->arena, e, int_const(L, 1))};
}

/* An element in a complex dtype, cast as NumPy casts. */
Expr *
pair_cast(Lower *L, DType dtype, Expr *e, Loc loc)
{
    DType part = dtype_part(dtype);
    if (e->lanes > 0) {
        return cast_with_warnings(L, part, e, loc);
    }
    Expr *re = cast_with_warnings(L, part, e, loc);
    return pair_make(L, (Parts){re, num_const(L, part, 0)});
}

/* A complex or real number as an element of a complex dtype. */
Expr *
pair_operand(Lower *L, Value v, DType dtype, Loc loc)
{
    DType part = dtype_part(dtype);
    v = some(L, v, loc);
    if (v.flag != NULL && v.type->alt != ALT_COMPLEX) {
        emit_check(L, not_(L, v.flag), X_SPECULATE, loc);
    }
    if (v.type->kind != TY_COMPLEX) {
        Expr *re = v.type->weak ? operand_as(L, v, part, loc)
                                : cast_with_warnings(L, part, v.expr, loc);
        return pair_make(L, (Parts){re, num_const(L, part, 0)});
    }
    Expr *parts[2];
    for (int i = 0; i < 2; i++) {
        parts[i] = v.type->weak
                       ? operand_as(L, v.items[i], part, loc)
                       : cast_with_warnings(L, part, v.items[i].expr, loc);
    }
    return pair_make(L, (Parts){parts[0], parts[1]});
}

/* Two lanes as a scalar. */
Value
pair_value(Lower *L, const Type *type, Expr *e, Loc loc)
{
    Value v = value_of_type(L, type);
    Parts z = pair_parts(L, hold(L, e, loc), loc);
    v.items[0].expr = z.re;
    v.items[1].expr = z.im;
    return v;
}

/* --- memory --------------------------------------------------------------- */

/* A buffer of elements of any dtype; the caller sets the extents of the 'rank'
 * axes. */
Buf *
new_buf(Lower *L, const char *name, DType dtype, int rank, BufKind kind)
{
    bool pairs = dtype_is_complex(dtype);
    Buf *buf = ir_buf(L->func, name, dtype_part(dtype), rank + pairs, kind);
    if (pairs) {
        buf->dims[rank] = int_const(L, 2);
        map_set(&L->pairs, buf, buf);
    }
    return buf;
}

DType
view_dtype(const View *view)
{
    DType part = view->buf->dtype;
    return view->pairs ? dtype_of_parts(part) : part;
}

/* The real or imaginary parts: 'k' is 0 or 1. */
View *
pair_view(Lower *L, const View *view, int k)
{
    View *part = arena_copy(L->arena, view, sizeof(*view));
    part->fixed[view->buf->rank - 1] = int_const(L, k);
    part->pairs = false;
    return part;
}

/* What stands at the view, as a value of 'type': a number is loaded. */
Value
view_value(Lower *L, View *view, const Type *type)
{
    Value v = {.type = type};
    if (type->kind == TY_COMPLEX) {
        v = value_of_type(L, type);
        for (int i = 0; i < 2; i++) {
            v.items[i].expr = view_load(L, pair_view(L, view, i));
        }
    } else if (type->kind == TY_NUM) {
        v.expr = view_load(L, view);
    } else {
        v.view = view;
    }
    return v;
}

/* --- products and quotients ----------------------------------------------- */

/* x * y + z in one rounding. */
static Expr *
fused(Lower *L, Expr *x, Expr *y, Expr *z)
{
    Expr *args[] = {x, y, z};
    return ir_call(L->arena, FN_FMA, x->dtype, args, 3);
}

Parts
plain_product(Lower *L, Parts x, Parts y)
{
    Parts z;
    z.re = op2(L, E_SUB, op2(L, E_MUL, x.re, y.re), op2(L, E_MUL, x.im, y.im));
    z.im = op2(L, E_ADD, op2(L, E_MUL, x.re, y.im), op2(L, E_MUL, x.im, y.re));
    return z;
}

/* In the form of NumPy's loops. */
static Parts
loop_product(Lower *L, Parts x, Parts y)
{
    if (numpy_mul_form(dtype_of_parts(x.re->dtype)) != MUL_FUSED) {
        return plain_product(L, x, y);
    }
    Expr *odd = op2(L, E_MUL, x.im, y.im);
    Expr *cross = op2(L, E_MUL, x.im, y.re);
    return (Parts){fused(L, x.re, y.re, op1(L, E_NEG, odd)),
                   fused(L, x.re, y.im, cross)};
}

/* y.im / y.re or the other way round, whichever is smaller, and what follows of
 * it: both are one formula with the parts exchanged, so that nothing is divided
 * by a part that happens to be 0. */
Ratio
ratio_of(Lower *L, Parts y, Loc loc)
{
    Ratio r;
    r.re = reuse(L, op1(L, E_ABS, y.re), loc);
    r.im = reuse(L, op1(L, E_ABS, y.im), loc);
    r.by_re = reuse(L, op2(L, E_LE, r.im, r.re), loc);
    Expr *large = reuse(L, ir_select(L->arena, r.by_re, y.re, y.im), loc);
    Expr *small = reuse(L, ir_select(L->arena, r.by_re, y.im, y.re), loc);
    r.ratio = reuse(L, op2(L, E_DIV, small, large), loc);
    r.denom = op2(L, E_ADD, large, op2(L, E_MUL, small, r.ratio));
    r.denom = reuse(L, r.denom, loc);
    return r;
}

/* What is divided by the denominator. */
Parts
ratio_times(Lower *L, Parts x, const Ratio *r, Loc loc)
{
    Expr *p = reuse(L, ir_select(L->arena, r->by_re, x.re, x.im), loc);
    Expr *q = reuse(L, ir_select(L->arena, r->by_re, x.im, x.re), loc);
    Expr *scaled = reuse(L, op2(L, E_MUL, p, r->ratio), loc);
    return (Parts){op2(L, E_ADD, p, op2(L, E_MUL, q, r->ratio)),
                   ir_select(L->arena, r->by_re, op2(L, E_SUB, q, scaled),
                             op2(L, E_SUB, scaled, q))};
}

/* Smith's algorithm with one reciprocal; by 0 the parts are divided. */
Parts
numpy_quotient(Lower *L, Parts x, Parts y, Loc loc)
{
    Ratio r = ratio_of(L, y, loc);
    DType dt = y.re->dtype;
    Expr *zero = num_const(L, dt, 0);
    Expr *one = num_const(L, dt, 1);
    Expr *null = both(L, op2(L, E_EQ, r.re, zero), op2(L, E_EQ, r.im, zero));
    null = reuse(L, null, loc);
    if (L->count) { /* a finite result tells nothing if it was scaled by 0 */
        emit_check(L, call_fn(L, FN_FINITE, DT_BOOL, r.denom, NULL),
                   X_SPECULATE, loc);
    }
    Expr *scale = reuse(L, op2(L, E_DIV, one, r.denom), loc);
    Parts z = ratio_times(L, x, &r, loc);
    Expr *by = reuse(L, ir_select(L->arena, null, r.re, one), loc);
    return (Parts){ir_select(L->arena, null, op2(L, E_DIV, x.re, by),
                             op2(L, E_MUL, z.re, scale)),
                   ir_select(L->arena, null, op2(L, E_DIV, x.im, by),
                             op2(L, E_MUL, z.im, scale))};
}

/* larger * sqrt(1 + (smaller / larger) ** 2): an infinite part counts more than
 * a nan. */
static Expr *
loop_abs(Lower *L, Expr *e, Loc loc)
{
    Parts z = pair_parts(L, e, loc);
    DType dt = z.re->dtype;
    Expr *inf = ir_float(L->arena, dt, __builtin_inf());
    Expr *nan = ir_float(L->arena, dt, __builtin_nan(""));
    Expr *zero = num_const(L, dt, 0);
    Expr *one = num_const(L, dt, 1);
    Expr *re = reuse(L, op1(L, E_ABS, z.re), loc);
    Expr *im = reuse(L, op1(L, E_ABS, z.im), loc);
    Expr *less = reuse(L, op2(L, E_LT, re, im), loc);
    Expr *large = reuse(L, ir_select(L->arena, less, im, re), loc);
    Expr *small = ir_select(L->arena, less, re, im);
    Expr *null = op2(L, E_EQ, large, zero);
    Expr *by = ir_select(L->arena, null, one, large);
    Expr *ratio = reuse(L, op2(L, E_DIV, small, by), loc);
    Expr *square = fused(L, ratio, ratio, one);
    Expr *r = op2(L, E_MUL, call_fn(L, FN_SQRT, dt, square, NULL), large);
    Expr *odd = either(L, call_fn(L, FN_ISNAN, DT_BOOL, re, NULL),
                       call_fn(L, FN_ISNAN, DT_BOOL, im, NULL));
    Expr *infinite = either(L, op2(L, E_EQ, re, inf), op2(L, E_EQ, im, inf));
    r = ir_select(L->arena, odd, nan, r);
    return ir_select(L->arena, infinite, inf, r);
}

/* --- elements of trees ---------------------------------------------------- */

/* A product by the scalar loop if "data", an Expr, holds. */
static Expr *
product_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Parts x = pair_parts(L, pair_cast(L, z->compute, args[0], z->loc), z->loc);
    Parts y = pair_parts(L, pair_cast(L, z->compute, args[1], z->loc), z->loc);
    Parts r = loop_product(L, x, y);
    Expr *plain = (Expr *)(uintptr_t)z->data;
    if (plain != NULL) {
        Parts p = plain_product(L, x, y);
        r = (Parts){ir_select(L->arena, plain, p.re, r.re),
                    ir_select(L->arena, plain, p.im, r.im)};
    }
    return finite_or_python(L, pair_make(L, r), z->loc);
}

Expr *
pair_compare(Lower *L, AOp op, Parts x, Parts y, Loc loc)
{
    Expr *same = op2(L, E_EQ, x.re, y.re);
    if (op == AO_EQ || op == AO_NE) {
        same = both(L, same, op2(L, E_EQ, x.im, y.im));
        return op == AO_EQ ? same : not_(L, same);
    }
    bool less = op == AO_LT || op == AO_LE;
    Parts lo = less ? x : y;
    Parts hi = less ? y : x;
    bool strict = op == AO_LT || op == AO_GT;
    Expr *nan = either(L, call_fn(L, FN_ISNAN, DT_BOOL, x.im, NULL),
                       call_fn(L, FN_ISNAN, DT_BOOL, y.im, NULL));
    Expr *first = both(L, op2(L, E_LT, lo.re, hi.re), not_(L, nan));
    Expr *then = op2(L, strict ? E_LT : E_LE, lo.im, hi.im);
    (void)loc;
    return either(L, first, both(L, same, then));
}

/* + - / and comparisons of elements in the dtype of the computation. */
Expr *
pair_binop(Lower *L, AOp op, Expr *x, Expr *y, Loc loc)
{
    if (op == AO_ADD || op == AO_SUB) {
        Expr *r = op2(L, op == AO_ADD ? E_ADD : E_SUB, x, y);
        return with_warnings(L, r, array_warn_name(L, op), NULL, loc);
    }
    Parts a = pair_parts(L, x, loc);
    Parts b = pair_parts(L, y, loc);
    if (op_is_compare(op)) {
        return pair_compare(L, op, a, b, loc);
    }
    Expr *r = pair_make(L, numpy_quotient(L, a, b, loc));
    return finite_or_python(L, r, loc);
}

/* z * z by the loop of np.square. */
static Expr *
pair_square(Lower *L, Expr *e, Loc loc)
{
    Parts z = pair_parts(L, e, loc);
    return finite_or_python(L, pair_make(L, loop_product(L, z, z)), loc);
}

/* isnan and its kin. */
static Expr *
test_pair(Lower *L, BuiltinId id, Expr *e, Loc loc)
{
    Parts z = pair_parts(L, e, loc);
    Fn fn = (Fn)builtin_row(id)->fn;
    Expr *re = call_fn(L, fn, DT_BOOL, z.re, NULL);
    Expr *im = call_fn(L, fn, DT_BOOL, z.im, NULL);
    return id == BUILTIN_NP_ISFINITE ? both(L, re, im) : either(L, re, im);
}

/* Memory for one number. */
static Buf *
single_buf(Lower *L, DType dtype, Loc loc)
{
    Buf *buf = new_buf(L, "one", dtype, 1, BUF_LOCAL);
    buf->loc = loc;
    buf->space = SPACE_STACK;
    buf->dims[0] = int_const(L, 1);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    return buf;
}

/* One number by a loop of NumPy's with 'n' operands.  Which flags libm sets on
 * the way can't be seen from the result: if any were, Python does the call. */
static Expr *
loop_function(Lower *L, Fn fn, Expr *const *args, int n, Loc loc)
{
    DType dtype = dtype_of_parts(args[0]->dtype);
    Expr *zero = int_const(L, 0);
    Expr *one = int_const(L, 1);
    Expr *box[] = {zero, zero, zero, one, one};
    Stmt *s = ir_stmt(L->arena, S_ROUTINE, loc);
    s->routine = ROUTINE_LOOP;
    s->fn = fn;
    s->nindex = n;
    s->index = ARENA_ARRAY(L->arena, Expr *, n);
    for (int i = 0; i < n; i++) {
        Buf *from = single_buf(L, dtype, loc);
        emit(L, ir_store(L->arena, from, &zero, 1, args[i], loc));
        s->index[i] = ir_sum(L->arena, SUM_BOX, from->dtype, from, box, 5);
    }
    Buf *to = s->buf = single_buf(L, dtype, loc);
    emit(L, s);
    L->result->may_warn = true;
    if (L->count) {
        emit_check(L, ir_bool(L->arena, false), X_SPECULATE, loc);
    }
    return hold(L, ir_load(L->arena, to, &zero, 1, 2), loc);
}

/* A function of one complex number. */
static Expr *
pair_function(Lower *L, BuiltinId id, Expr *e, Loc loc)
{
    int loop = pairs_loop(id);
    if (loop >= 0) {
        return loop_function(L, (Fn)loop, &e, 1, loc);
    }
    switch ((int)id) {
    case BUILTIN_ABS:
    case BUILTIN_NP_ABS:
        return loop_abs(L, e, loc);
    case BUILTIN_NP_SQUARE:
        return pair_square(L, e, loc);
    case BUILTIN_NP_NEGATIVE:
        return op1(L, E_NEG, e);
    case BUILTIN_NP_CONJ:
    case BUILTIN_CONJ_OF:
    case BUILTIN_CONJUGATE_OF: {
        Parts z = pair_parts(L, e, loc);
        return pair_make(L, (Parts){z.re, op1(L, E_NEG, z.im)});
    }
    case BUILTIN_NP_POSITIVE:
        return e;
    default:
        return test_pair(L, id, e, loc);
    }
}

/* For a tree: "id" is the function. */
static Expr *
function_element(Lower *L, const Lazy *z, Expr *const *args)
{
    return pair_function(L, (BuiltinId)z->id, args[0], z->loc);
}

/* Has it one element. */
static Expr *
is_single(Lower *L, const Lazy *z)
{
    Expr *single = NULL;
    for (int k = 0; k < z->rank; k++) {
        single = both(L, single,
                      op2(L, E_EQ, z->extent[k], int_const(L, 1)));
    }
    return reuse(L, single, z->loc);
}

/* NumPy's vectorised loops take arrays that run forward in memory, by steps
 * that are not too far; others go through scalar loops. */
static void
check_steps(Lower *L, const Lazy *z, DType dtype)
{
    const View *view = z->view;
    if (view == NULL || view_dtype(view) != dtype) {
        return;
    }
    Expr *zero = int_const(L, 0);
    Expr *far = int_const(L, (int64_t)1 << 28);
    for (int k = 0; k < view->rank; k++) {
        int axis = view->axis[k];
        Expr *step = axis >= 0 ? view->step[axis] : NULL;
        if (axis < 0 || (view->buf->layout == LAYOUT_C && step == NULL)) {
            continue;
        }
        Expr *stride = ir_stride(L->arena, view->buf, axis);
        stride = step ? op2(L, E_MUL, stride, step) : stride;
        stride = reuse(L, stride, z->loc);
        Expr *few = op2(L, E_LE, view_extent(L, view, k), int_const(L, 1));
        Expr *moves = either(L, op2(L, E_LT, zero, stride), few);
        emit_check(L, both(L, op2(L, E_LE, zero, stride), moves), X_SPECULATE,
                   z->loc);
        emit_check(L, op2(L, E_LE, stride, far), X_SPECULATE, z->loc);
    }
}

/* z to a power that is the same for all. */
static Expr *
power_element(Lower *L, const Lazy *z, Expr *const *args)
{
    Expr *operands[] = {pair_cast(L, z->compute, args[0], z->loc), args[1]};
    return loop_function(L, FN_NPC_POWER, operands, 2, z->loc);
}

static Expr *
square_element(Lower *L, const Lazy *z, Expr *const *args)
{
    return pair_square(L, pair_cast(L, z->compute, args[0], z->loc), z->loc);
}

/* The exponent is known: 1 is a copy, 2 a square. */
const Lazy *
lazy_pair_power(Lower *L, Value base, Value exponent, DType dtype, Loc loc)
{
    const Type *type = exponent.type;
    double e = type->dtype == DT_I64 ? (double)type->ival : type->fval;
    const Lazy *args[2] = {lazy_of(L, base, loc)};
    if (e == 1.0) {
        return lazy_cast(L, args[0], dtype, loc);
    }
    if (e == 2.0) {
        if (!numpy_mul_backwards(dtype)) {
            check_steps(L, args[0], dtype);
        }
        return lazy_map(L, square_element, 0, dtype, dtype, args, 1, loc);
    }
    args[1] = lazy_number(L, pair_operand(L, exponent, dtype, loc), loc);
    return lazy_map(L, power_element, 0, dtype, dtype, args, 2, loc);
}

int
pair_lazy_loop(const Lazy *z)
{
    if (z->element == power_element) {
        return FN_NPC_POWER;
    }
    return z->element == function_element ? pairs_loop((BuiltinId)z->id) : -1;
}

/* where(c, x, y) */
static Expr *
where_element(Lower *L, const Lazy *z, Expr *const *args)
{
    return ir_select(L->arena, vec_cast(L, DT_BOOL, args[0], z->loc),
                     pair_cast(L, z->compute, args[1], z->loc),
                     pair_cast(L, z->compute, args[2], z->loc));
}

/* --- trees ---------------------------------------------------------------- */

/* Is the shape of all arrays among the operands of one rank?  Then NumPy calls
 * its loop by itself, else through an iterator. */
static bool
same_ranks(const Lazy *lhs, const Lazy *rhs)
{
    return lhs->rank == rhs->rank || lhs->rank == 0 || rhs->rank == 0;
}

/* 'lhs' * 'rhs'; a real factor makes no difference between the forms. */
const Lazy *
lazy_product(Lower *L, DType dtype, const Lazy *lhs, const Lazy *rhs,
             bool in_place, Loc loc)
{
    const Lazy *args[] = {lhs, rhs};
    Lazy *z = lazy_map(L, product_element, AO_MUL, dtype, dtype, args, 2, loc);
    bool complexes = dtype_is_complex(lhs->dtype) &&
                     dtype_is_complex(rhs->dtype);
    if (numpy_mul_form(dtype) != MUL_FUSED || !complexes) {
        return z;
    }
    if (!numpy_mul_backwards(dtype)) {
        check_steps(L, lhs, dtype);
        check_steps(L, rhs, dtype);
    }
    if (in_place || !same_ranks(lhs, rhs)) {
        z->data = is_single(L, z);
    }
    return z;
}

/* Do the two surely have no range of memory in common? */
static bool
are_apart(const Lower *L, const Buf *lhs, const Buf *rhs)
{
    bool refs = lhs->kind == BUF_REF || rhs->kind == BUF_REF;
    bool args = lhs->kind == BUF_ARG && rhs->kind == BUF_ARG;
    bool packed = lhs->layout == LAYOUT_C && rhs->layout == LAYOUT_C;
    return lhs != rhs && !refs && (!args || (packed && !L->general));
}

/* Where what is changed in place lies among the factors, NumPy takes its scalar
 * loop, or copies.  Python does it. */
void
check_product_apart(Lower *L, const View *to, Value by, Loc loc)
{
    if (by.view == NULL || !by.view->pairs) {
        return;
    }
    const Lazy *z = lazy_of(L, by, loc);
    bool same = by.view->buf == to->buf && !is_disturbed(L, to, z, false);
    if (!same && !are_apart(L, to->buf, by.view->buf)) {
        emit_check(L, ir_bool(L->arena, false), X_SPECULATE, loc);
    }
}

/* --- calls ---------------------------------------------------------------- */

bool
call_has_pairs(const AExpr *e)
{
    for (int i = 0; i < e->items.n; i++) {
        const AExpr *arg = e->items.at[i];
        if (arg != NULL && arg->type->kind != TY_NUM &&
            dtype_is_complex(arg->type->dtype)) {
            return true;
        }
    }
    return false;
}

/* np.where(c, x, y) */
static Value
lower_where(Lower *L, const AExpr *e, const Value *values)
{
    const Type *ops[] = {values[1].type, values[2].type};
    DType dtype = pairs_common(ops, 2);
    const Lazy *args[3];
    for (int i = 0; i < 3; i++) {
        bool array = values[i].type->kind == TY_ARRAY;
        args[i] = array ? lazy_of(L, values[i], e->loc)
                  : i == 0
                      ? lazy_number(L, truth_of(L, values[0], e->loc), e->loc)
                      : lazy_number(
                            L, pair_operand(L, values[i], dtype, e->loc),
                            e->loc);
    }
    return lazy_value(e->type, lazy_map(L, where_element, 0, dtype, dtype, args,
                                        3, e->loc));
}

/* A function of one complex array or number; of Python's own number it is
 * Python's. */
Value
lower_pairs(Lower *L, const AExpr *e, BuiltinId id)
{
    Value values[3] = {{.type = NULL}};
    AOp op = ufunc_op(id);
    for (int i = 0; i < e->items.n && i < 3; i++) {
        if (e->items.at[i] != NULL && e->items.at[i]->type->kind != TY_NONE) {
            for (int k = 0; k < i && has_user_call(e->items.at[i]); k++) {
                values[k] = hold_value(L, values[k], e->loc);
            }
            values[i] = lower_lazy(L, e->items.at[i]);
        }
    }
    if (id == BUILTIN_NP_WHERE) {
        return lower_where(L, e, values);
    }
    if (op != AO_IS && values[1].type != NULL) {
        return lazy_value(e->type,
                          lazy_binop(L, op, values[0], values[1], e->loc));
    }
    if (e->type->kind == TY_ARRAY) {
        const Lazy *from = lazy_of(L, values[0], e->loc);
        bool square = id == BUILTIN_NP_SQUARE &&
                      !numpy_mul_backwards(from->dtype);
        if (square || id == BUILTIN_ABS || id == BUILTIN_NP_ABS) {
            check_steps(L, from, from->dtype);
        }
        return lazy_value(e->type, lazy_map(L, function_element, (int)id,
                                            from->dtype, e->type->dtype, &from,
                                            1, e->loc));
    }
    DType dtype = values[0].type->dtype;
    Expr *arg = pair_operand(L, values[0], dtype, e->loc);
    Expr *r = pair_function(L, id, arg, e->loc);
    return e->type->kind == TY_COMPLEX ? pair_value(L, e->type, r, e->loc)
                                       : num_value(e->type, r);
}
