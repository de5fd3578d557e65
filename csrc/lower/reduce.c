/* Reductions: sums, extremes, counts and positions of the elements of arrays.
 *
 *     np.sum(a)         set acc = 0                       over all axes
 *                       for i, for j: set acc = acc + a[i, j]
 *     np.max(a, axis=1) for i: best = ...; for j: ...; out[i] = best
 *
 * Everything here but sums of floats (sum.c) has a result that does not depend
 * on the order in which the elements are visited, so plain loops will do, which
 * every later pass can analyse.  Where NumPy's result could depend on its order
 * after all, a check leads to a replay: extremes that are 0.0 and -0.0 both
 * (vector units pick one), means of integers too large for exact partial sums.
 *
 * A nan wins against every number, in NumPy as in its result here; but a
 * comparison with nan is false, so that a plain "if e < best" would pass over
 * it.  A flag remembers that one was seen, and is asked at the end: the loop
 * has no branch.
 *
 * An empty array has no least element, and its mean is a warning: Python says
 * which.
 */
#include "csrc/lower/reduce.h"

/* --- visiting elements ---------------------------------------------------- */

/* The result is its variable. */
Expr *
open_loop(Lower *L, Expr *n, Loc loc)
{
    Stmt *s = ir_stmt(L->arena, S_FOR, loc);
    s->id = L->func->next_id++;
    s->var = ir_var(L->func, "k", DT_I64, 0);
    s->lo = int_const(L, 0);
    s->hi = n;
    map_set(&L->nonnegative, s->var, s->var);
    emit(L, s);
    L->out = &s->body;
    return ir_ref(L->arena, s->var);
}

/* Calls 'visit' for every element in C order: once, inside of a nest of loops,
 * or for each lane of a vector. */
void
each_element(Lower *L, const Elements *in, Visit *visit, void *data)
{
    if (in->view == NULL) {
        for (int i = 0; i < in->vec->lanes; i++) {
            visit(L, ir_elem(L->arena, in->vec, int_const(L, i)), data);
        }
        return;
    }
    Block *outer = L->out;
    const View *view = in->view;
    while (view->rank > 0) {
        Expr *k = open_loop(L, view_extent(L, view, 0), in->loc);
        view = view_at(L, view, k);
    }
    visit(L, view_load(L, view), data);
    L->out = outer;
}

/* How many elements there are. */
Expr *
count_elements(Lower *L, const Elements *in)
{
    if (in->view == NULL) {
        return int_const(L, in->vec->lanes);
    }
    Expr *count = NULL;
    for (int i = 0; i < in->view->rank; i++) {
        Expr *n = view_extent(L, in->view, i);
        count = count == NULL ? n : op2(L, E_MUL, count, n);
    }
    count = reuse(L, count, in->loc);
    if (count->op == E_VAR) {
        map_set(&L->nonnegative, count->var, L);
    }
    return count;
}

/* The first one; there must be one. */
static Expr *
first_element(Lower *L, const Elements *in)
{
    Expr *zero = int_const(L, 0);
    if (in->view == NULL) {
        return ir_elem(L->arena, in->vec, zero);
    }
    const View *view = in->view;
    while (view->rank > 0) {
        view = view_at(L, view, zero);
    }
    return view_load(L, view);
}

/* Empty arrays are Python's. */
void
check_some(Lower *L, const Elements *in)
{
    Expr *n = count_elements(L, in);
    emit_check(L, op2(L, E_LT, int_const(L, 0), n), X_VALUE, in->loc);
}

/* --- accumulators --------------------------------------------------------- */

/* Variables of a reduction, and what it does with an element. */
typedef struct Fold {
    ReduceKind kind;
    DType dtype;
    Loc loc;
    Var *acc;
    Var *nan;      /* a nan was seen */
    Var *plus;     /* 0.0 was seen, */
    Var *minus;    /* and -0.0 */
    Var *where;    /* of the best element */
    Var *at;       /* number of the next element */
} Fold;

/* A variable that starts as 'e'. */
static Var *
start_as(Lower *L, const char *name, Expr *e, Loc loc)
{
    Var *var = set_var(L, name, e->dtype, 0);
    emit_set(L, var, e, loc);
    return var;
}

/* What the variable is now, whatever becomes of it. */
static Expr *
value_now(Lower *L, Var *var, Loc loc)
{
    return hold(L, ir_ref(L->arena, var), loc);
}

/* Sums and products grow to the dtype of the result before. */
Expr *
fold_step(Lower *L, ReduceKind kind, DType dtype, Expr *acc, Expr *e)
{
    switch (kind) {
    case REDUCE_PROD:
        return op2(L, E_MUL, acc, cast_to(L, dtype, e));
    case REDUCE_MIN:
    case REDUCE_MAX:
        return op2(L, kind == REDUCE_MIN ? E_MIN : E_MAX, acc, e);
    case REDUCE_ANY:
    case REDUCE_ALL:
        return op2(L, kind == REDUCE_ANY ? E_OR : E_AND, acc,
                   cast_to(L, DT_BOOL, e));
    case REDUCE_COUNT:
        e = cast_to(L, DT_I64, cast_to(L, DT_BOOL, e));
        return op2(L, E_ADD, acc, e);
    default:
        return op2(L, E_ADD, acc, cast_to(L, dtype, e));
    }
}

/* acc = acc op e */
static void
visit_plain(Lower *L, Expr *e, void *data)
{
    Fold *f = data;
    Expr *acc = ir_ref(L->arena, f->acc);
    emit_set(L, f->acc, fold_step(L, f->kind, f->dtype, acc, e), f->loc);
}

/* Reductions with one accumulator and a value to begin with. */
static Expr *
fold_plain(Lower *L, const Elements *in, ReduceKind kind, Expr *first)
{
    Fold f = {.kind = kind, .dtype = first->dtype, .loc = in->loc};
    f.acc = start_as(L, "acc", first, in->loc);
    each_element(L, in, visit_plain, &f);
    return value_now(L, f.acc, in->loc);
}

/* --- extremes ------------------------------------------------------------- */

/* if e < acc: acc = e; nan is remembered. */
static void
visit_extreme(Lower *L, Expr *e, void *data)
{
    Fold *f = data;
    e = reuse(L, e, f->loc);
    Expr *acc = ir_ref(L->arena, f->acc);
    Expr *better = f->kind == REDUCE_MIN ? op2(L, E_LT, e, acc)
                                         : op2(L, E_LT, acc, e);
    emit_set(L, f->acc, ir_select(L->arena, better, e, acc), f->loc);
    emit_set(L, f->nan, op2(L, E_OR, ir_ref(L->arena, f->nan), is_nan(L, e)),
             f->loc);
}

/* Which zeros there are. */
static void
visit_zero(Lower *L, Expr *e, void *data)
{
    Fold *f = data;
    e = reuse(L, e, f->loc);
    Expr *zero = ir_float(L->arena, e->dtype, 0.0);
    Expr *one = ir_float(L->arena, e->dtype, 1.0);
    Expr *is_zero = reuse(L, op2(L, E_EQ, e, zero), f->loc);
    Expr *sign = call_fn(L, FN_COPYSIGN, e->dtype, one, e);
    Expr *negative = reuse(L, op2(L, E_LT, sign, zero), f->loc);
    Expr *minus = op2(L, E_AND, is_zero, negative);
    Expr *plus = op2(L, E_AND, is_zero, not_(L, negative));
    emit_set(L, f->minus, op2(L, E_OR, ir_ref(L->arena, f->minus), minus),
             f->loc);
    emit_set(L, f->plus, op2(L, E_OR, ir_ref(L->arena, f->plus), plus),
             f->loc);
}

/* An extreme that is zero: NumPy gives whichever zero its vector unit comes
 * upon last, so they must all have one sign. Only then are the elements visited
 * a second time. */
static void
settle_zero(Lower *L, const Elements *in, Fold *f)
{
    Expr *acc = ir_ref(L->arena, f->acc);
    Expr *zero = ir_float(L->arena, f->dtype, 0.0);
    Stmt *s = ir_stmt(L->arena, S_IF, in->loc);
    s->value = op2(L, E_EQ, acc, zero);
    emit(L, s);
    Block *outer = L->out;
    L->out = &s->body;
    f->plus = start_as(L, "plus", ir_bool(L->arena, false), in->loc);
    f->minus = start_as(L, "minus", ir_bool(L->arena, false), in->loc);
    each_element(L, in, visit_zero, f);
    Expr *both_signs = op2(L, E_AND, ir_ref(L->arena, f->plus),
                           ir_ref(L->arena, f->minus));
    emit_check(L, not_(L, both_signs), X_SPECULATE, in->loc);
    Expr *minus = ir_float(L->arena, f->dtype, -0.0);
    emit_set(L, f->acc,
             ir_select(L->arena, ir_ref(L->arena, f->minus), minus, zero),
             in->loc);
    L->out = outer;
}

/* The least or greatest element; nan wins. Of bools they are `all` and `any`.
 */
static Expr *
fold_extreme(Lower *L, const Elements *in, ReduceKind kind)
{
    check_some(L, in);
    Expr *first = first_element(L, in);
    DType dt = first->dtype;
    if (dt == DT_BOOL) {
        ReduceKind same = kind == REDUCE_MIN ? REDUCE_ALL : REDUCE_ANY;
        return fold_plain(L, in, same, first);
    }
    if (!dtype_is_float(dt)) {
        return fold_plain(L, in, kind, first);
    }
    Fold f = {.kind = kind, .dtype = dt, .loc = in->loc};
    f.acc = start_as(L, "best", first, in->loc);
    f.nan = start_as(L, "nan", ir_bool(L->arena, false), in->loc);
    each_element(L, in, visit_extreme, &f);
    settle_zero(L, in, &f);
    Expr *nan = ir_float(L->arena, dt, __builtin_nan(""));
    return hold(L, ir_select(L->arena, ir_ref(L->arena, f.nan), nan,
                             ir_ref(L->arena, f.acc)),
                in->loc);
}

/* np.ptp */
static Expr *
fold_spread(Lower *L, const Elements *in)
{
    Expr *max = fold_extreme(L, in, REDUCE_MAX);
    Expr *min = fold_extreme(L, in, REDUCE_MIN);
    return with_warnings(L, op2(L, E_SUB, max, min), sym("subtract"), NULL,
                         in->loc);
}

/* if e < best: best, where = e, at; the first nan beats everything. Strictly
 * less, so that of equal elements the first one stays. */
static void
visit_position(Lower *L, Expr *e, void *data)
{
    Fold *f = data;
    e = e->dtype == DT_BOOL ? cast_to(L, DT_U8, e) : e;
    e = reuse(L, e, f->loc);
    Expr *best = ir_ref(L->arena, f->acc);
    Expr *where = ir_ref(L->arena, f->where);
    Expr *at = ir_ref(L->arena, f->at);
    Expr *better = f->kind == REDUCE_ARGMIN ? op2(L, E_LT, e, best)
                                            : op2(L, E_LT, best, e);
    if (dtype_is_float(e->dtype)) {
        better = op2(L, E_AND, op2(L, E_OR, better, is_nan(L, e)),
                     not_(L, is_nan(L, best)));
    }
    better = hold(L, better, f->loc);
    emit_set(L, f->where, ir_select(L->arena, better, at, where), f->loc);
    emit_set(L, f->acc, ir_select(L->arena, better, e, best), f->loc);
    emit_set(L, f->at, op2(L, E_ADD, at, int_const(L, 1)), f->loc);
}

/* np.argmin, np.argmax */
static Expr *
fold_position(Lower *L, const Elements *in, ReduceKind kind)
{
    check_some(L, in);
    Expr *first = first_element(L, in);
    first = first->dtype == DT_BOOL ? cast_to(L, DT_U8, first) : first;
    Fold f = {.kind = kind, .loc = in->loc};
    f.acc = start_as(L, "best", first, in->loc);
    f.where = start_as(L, "where", int_const(L, 0), in->loc);
    f.at = start_as(L, "at", int_const(L, 0), in->loc);
    each_element(L, in, visit_position, &f);
    return value_now(L, f.where, in->loc);
}

/* --- means of integers ---------------------------------------------------- */

/* Integers up to this many bits are summed exactly by float64 as long as there
 * are no more than 2 ** (53 - bits). */
enum { EXACT_BITS = 53, WIDE_BITS = 31 };

/* big = big or not -2**31 <= e <= 2**31 */
static void
visit_wide(Lower *L, Expr *e, void *data)
{
    Fold *f = data;
    e = reuse(L, e, f->loc);
    Expr *top = ir_int(L->arena, e->dtype, (int64_t)1 << WIDE_BITS);
    Expr *big = op2(L, E_LT, top, e);
    if (dtype_is_signed(e->dtype)) {
        Expr *low = ir_int(L->arena, e->dtype, -((int64_t)1 << WIDE_BITS));
        big = op2(L, E_OR, big, op2(L, E_LT, e, low));
    }
    Expr *any = ir_ref(L->arena, f->acc);
    emit_set(L, f->acc, op2(L, E_OR, any, big), f->loc);
}

/* NumPy sums them as float64, which is exact while all partial sums are: n
 * elements of b bits are below n * 2**b in size, so for n <= 2**(53 - b) no
 * order of additions rounds.  Of int64 it is tested that they are below 2**31.
 */
Expr *
sum_of_ints(Lower *L, const Elements *in, DType from, Expr *n)
{
    int bits = dtype_size(from) * 8;
    if (bits == 64) {
        Fold f = {.loc = in->loc};
        f.acc = start_as(L, "big", ir_bool(L->arena, false), in->loc);
        each_element(L, in, visit_wide, &f);
        emit_check(L, not_(L, ir_ref(L->arena, f.acc)), X_SPECULATE, in->loc);
        bits = WIDE_BITS + 1;
    }
    Expr *most = int_const(L, (int64_t)1 << (EXACT_BITS - bits));
    emit_check(L, op2(L, E_LE, n, most), X_SPECULATE, in->loc);
    Expr *sum = fold_plain(L, in, REDUCE_SUM, int_const(L, 0));
    return cast_to(L, DT_F64, sum);
}

/* --- all together --------------------------------------------------------- */

/* Products of floats go from left to right. */
Expr *
fold_all(Lower *L, const Elements *in, const Reduction *r)
{
    ReduceKind kind = r->kind;
    Expr *out;
    switch (kind) {
    case REDUCE_MIN:
    case REDUCE_MAX:
        return fold_extreme(L, in, kind);
    case REDUCE_ARGMIN:
    case REDUCE_ARGMAX:
        return fold_position(L, in, kind);
    case REDUCE_PTP:
        return fold_spread(L, in);
    case REDUCE_MEAN:
        return fold_mean(L, in, r);
    case REDUCE_VAR:
    case REDUCE_STD:
        return fold_variance(L, in, r);
    case REDUCE_ALL:
        return fold_plain(L, in, kind, ir_bool(L->arena, true));
    case REDUCE_ANY:
        return fold_plain(L, in, kind, ir_bool(L->arena, false));
    case REDUCE_PROD:
        if (dtype_is_float(r->to) && in->view != NULL) {
            check_in_order(L, in->view, in->loc);
        }
        out = fold_plain(L, in, kind, num_const(L, r->to, 1));
        return dtype_is_float(r->to) ? finite_or_python(L, out, in->loc) : out;
    case REDUCE_SUM:
        if (dtype_is_float(r->from)) {
            return fold_sum(L, in, r->to);
        }
        if (dtype_is_float(r->to)) {
            return sum_of_ints(L, in, r->from, count_elements(L, in));
        }
        return fold_plain(L, in, kind, num_const(L, r->to, 0));
    default:
        return fold_plain(L, in, kind, num_const(L, r->to, 0));
    }
}

/* The bits of the axes from the last one on. */
static unsigned
reversed_axes(unsigned axes, int rank)
{
    unsigned out = 0;
    for (int k = 0; k < rank; k++) {
        out |= (axes >> k & 1) << (rank - 1 - k);
    }
    return out;
}

/* A call of BK_REDUCE. */
Value
lower_reduce(Lower *L, const AExpr *e, BuiltinId id)
{
    bool truths = reduce_kind(id) == REDUCE_ANY ||
                  reduce_kind(id) == REDUCE_ALL ||
                  reduce_kind(id) == REDUCE_COUNT;
    if (call_has_pairs(e) && !truths) {
        return lower_pair_reduce(L, e, id);
    }
    Value a = call_has_pairs(e) ? pair_truths(L, e->items.at[0])
                                : lower_expr(L, e->items.at[0]);
    unsigned axes;
    reduce_axes(e, id, &axes);
    Reduction r = {.kind = reduce_kind(id), .from = a.type->dtype};
    bool first = r.kind == REDUCE_ARGMIN || r.kind == REDUCE_ARGMAX;
    if (a.view != NULL && a.type->layout == LAYOUT_F && !first &&
        e->type->rank < 2) { /* as the array that lies in C order */
        a.view = view_transposed(L, a.view);
        axes = reversed_axes(axes, a.type->rank);
    }
    r.to = e->type->dtype;
    const AExpr *ddof = reduce_argument(e, id, "ddof");
    if (ddof != NULL) {
        type_is_known_int(ddof->type, &r.ddof);
    }
    if (e->type->kind == TY_ARRAY && a.view != NULL) {
        return fold_axes(L, e, id, a, axes, &r);
    }
    Elements in = {.view = a.view, .loc = e->loc};
    if (a.view == NULL) {
        in.vec = reuse(L, hold(L, a.expr, e->loc), e->loc);
    }
    Expr *out = fold_all(L, &in, &r);
    if (e->type->kind == TY_ARRAY) { /* keepdims */
        return num_value(e->type, ir_splat(L->arena, out, 1));
    }
    return num_value(e->type, out);
}
