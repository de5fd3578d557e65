/* Indices and slices: which part of an array a subscript is.
 *
 * An index i of an axis with n elements becomes i, or i + n when it is
 * negative; then checks say that it lies in [0, n).  Where the sign is known
 * nothing is selected.  Each check carries the place of its subscript.
 *
 *     a[i]      let j = select(lt(i, 0), i + n, i); check 0 <= j; check j < n
 *     a[r + 1]  for a loop variable r >= 0: check r + 1 < n, which is affine,
 *               so that pass 'checks' can test it once, before the loop
 *
 * A slice never fails: its bounds are cut off at the ends of the axis.  As far
 * as that makes no difference it is left out, because `a[1:-1]` should be seen
 * to begin at 1 and to have n - 2 elements: a begin that lies behind the end
 * means no elements, and then nobody asks where they begin.
 *
 *     a[lo:hi]      offset lo          max(min(hi, n) - lo, 0) elements
 *     a[lo:hi:s]    offset lo, step s  as many as fit, rounded up
 *     a[::-1]       offset n - 1, step -1
 *     a[..., None]  axes in between are free; one axis of size 1 more
 *
 * "count" keeps the number of elements before it was cut off at 0: comparing
 * two slices of one shape asks whether n - 2 equals n - 2, which a maximum
 * would hide.
 */
#include "csrc/lower/index.h"

/* --- indices -------------------------------------------------------------- */

/* An index as an i64; maybe-types are tested to be an integer, NumPy's or
 * Python's. */
static Expr *
index_value(Lower *L, Value index, Loc loc)
{
    if (dtype_is_float(index.type->dtype)) {
        emit_check(L, flag_or_false(L, index.flag), X_SPECULATE, loc);
        return cast_to(L, DT_I64, index.expr);
    }
    if (index.flag != NULL && index.type->alt != ALT_INT) {
        emit_check(L, not_(L, index.flag), X_SPECULATE, loc);
    }
    if (index.expr->dtype == DT_U64) {
        Expr *e = reuse(L, index.expr, loc);
        Expr *top = ir_int(L->arena, DT_U64, INT64_MAX);
        emit_check(L, op2(L, E_LE, e, top), X_INDEX, loc);
        return cast_to(L, DT_I64, e);
    }
    return cast_to(L, DT_I64, index.expr);
}

/* 'n' is the size of the axis. The three cases: a constant, an index that is
 * known not to be negative, and any other. A constant in an axis of known size
 * is decided here. */
Expr *
index_in(Lower *L, Value index, Expr *n, Loc loc)
{
    Expr *i = reuse(L, index_value(L, index, loc), loc);
    Expr *zero = int_const(L, 0);
    int64_t size = -1;
    ir_const_int(n, &size);
    if (i->op == E_CONST) {
        int64_t at = i->ival;
        if (size >= 0) {
            at += at < 0 ? size : 0;
            bool inside = at >= 0 && at < size;
            emit_check(L, ir_bool(L->arena, inside), X_INDEX, loc);
            return int_const(L, at);
        }
        Expr *wrapped = at < 0 ? op2(L, E_ADD, n, i) : i;
        emit_check(L, op2(L, E_LE, zero, wrapped), X_INDEX, loc);
        emit_check(L, op2(L, E_LT, wrapped, n), X_INDEX, loc);
        return wrapped;
    }
    if (!is_nonnegative(L, i)) {
        Expr *wrapped = op2(L, E_ADD, i, n);
        i = ir_select(L->arena, op2(L, E_LT, i, zero), wrapped, i);
        i = reuse(L, i, loc);
        emit_check(L, op2(L, E_LE, zero, i), X_INDEX, loc);
    }
    emit_check(L, op2(L, E_LT, i, n), X_INDEX, loc);
    return i;
}

/* --- slices --------------------------------------------------------------- */

/* A bound as it is written, with the size added if it is negative; NULL where
 * it is left out. '*low' says that it may still be below 0. */
static Expr *
raw_bound(Lower *L, const Item *s, Value bound, Expr *n, bool *low)
{
    *low = false;
    if (bound.type == NULL) {
        return NULL;
    }
    Expr *i = index_value(L, bound, s->loc);
    i = reuse(L, hold(L, i, s->loc), s->loc);
    if (i->op == E_CONST) {
        *low = i->ival < 0;
        return i->ival < 0 ? op2(L, E_ADD, n, i) : i;
    }
    if (is_nonnegative(L, i)) {
        return i;
    }
    *low = true;
    Expr *wrapped = op2(L, E_ADD, i, n);
    Expr *below = op2(L, E_LT, i, int_const(L, 0));
    return reuse(L, ir_select(L->arena, below, wrapped, i), s->loc);
}

/* Is 'e' at most 'n' because it is 'n' or 'n' minus something? Then cutting off
 * at n changes nothing. */
static bool
is_below(const Expr *e, const Expr *n)
{
    return ir_equal(e, n) || (e->op == E_ADD && ir_equal(e->args[0], n) &&
                              e->args[1]->op == E_CONST &&
                              e->args[1]->ival < 0);
}

/* A bound of an axis of 'n' elements as a constant, if it is one. */
static bool
constant_bound(const Expr *e, int64_t n, int64_t dflt, int64_t *out)
{
    *out = dflt;
    if (e == NULL) {
        return true;
    }
    if (e->op == E_ADD) { /* n + i */
        *out = n + e->args[1]->ival;
        return e->args[1]->op == E_CONST;
    }
    return ir_const_int(e, out);
}

/* The number of elements from 'lo' up to 'hi' in steps, perhaps negative: (hi -
 * lo + step - 1) // step, the quotient rounded up. */
static Expr *
count_steps(Lower *L, Expr *lo, Expr *hi, int64_t step, Loc loc)
{
    Expr *span = op2(L, E_SUB, hi, lo);
    if (lo->op == E_CONST && lo->ival == 0) {
        span = hi;
    }
    if (step != 1) {
        span = op2(L, E_ADD, span, int_const(L, step - 1));
        span = op2(L, E_IDIV, span, int_const(L, step));
    }
    return reuse(L, span, loc);
}

/* Where a slice with a positive step begins. Bounds that lie below 0 are cut
 * off; of those above the size only the end matters. */
static Expr *
upward(Lower *L, const Item *s, Expr *n, Expr **count)
{
    bool low;
    bool end_low;
    Expr *zero = int_const(L, 0);
    Expr *lo = raw_bound(L, s, s->lo, n, &low);
    Expr *hi = raw_bound(L, s, s->hi, n, &end_low);
    int64_t size;
    int64_t from;
    int64_t to;
    if (ir_const_int(n, &size) && constant_bound(lo, size, 0, &from) &&
        constant_bound(hi, size, size, &to)) {
        from = from < 0 ? 0 : from;
        to = to > size ? size : to;
        int64_t span = to > from ? (to - from + s->step - 1) / s->step : 0;
        *count = int_const(L, span);
        return int_const(L, span > 0 ? from : 0);
    }
    lo = lo == NULL ? zero : low ? op2(L, E_MAX, lo, zero) : lo;
    lo = reuse(L, lo, s->loc);
    hi = hi == NULL ? n : is_below(hi, n) ? hi : op2(L, E_MIN, hi, n);
    *count = count_steps(L, lo, hi, s->step, s->loc);
    return lo;
}

/* Where a slice with a negative step begins: at most at the last element. It
 * ends before 'hi', at -1 at the lowest. */
static Expr *
downward(Lower *L, const Item *s, Expr *n, Expr **count)
{
    bool low;
    bool end_low;
    Expr *minus = int_const(L, -1);
    int64_t size;
    Expr *last = ir_const_int(n, &size) ? int_const(L, size - 1)
                                        : op2(L, E_ADD, n, minus);
    last = reuse(L, last, s->loc);
    Expr *lo = raw_bound(L, s, s->lo, n, &low);
    Expr *hi = raw_bound(L, s, s->hi, n, &end_low);
    if (lo == NULL && hi == NULL && s->step == -1) {
        *count = n;
        return last;
    }
    lo = lo == NULL ? last : op2(L, E_MIN, lo, last);
    hi = hi == NULL ? minus : end_low ? op2(L, E_MAX, hi, minus) : hi;
    lo = reuse(L, lo, s->loc);
    *count = count_steps(L, hi, lo, -s->step, s->loc);
    return lo;
}

/* Cuts a count off at 0. */
static Expr *
extent_of(Lower *L, Expr *count, Loc loc)
{
    int64_t known;
    if (ir_const_int(count, &known) || is_nonnegative(L, count)) {
        return count;
    }
    return reuse(L, op2(L, E_MAX, count, int_const(L, 0)), loc);
}

/* old * step: a slice of a slice. */
static Expr *
step_by(Lower *L, Expr *old, int64_t step)
{
    int64_t own = 1;
    if (old == NULL || ir_const_int(old, &own)) {
        return own * step == 1 ? NULL : int_const(L, own * step);
    }
    return step == 1 ? old : op2(L, E_MUL, old, int_const(L, step));
}

/* Restricts free axis 'k' to a slice: a new offset, step and extent, no copy.
 * 'size' is what inference knows of the result, -1: nothing; it may have
 * assumed it of an argument's value, so it is checked. */
void
slice_axis(Lower *L, View *view, int k, const Item *s, int64_t size)
{
    int axis = view->axis[k];
    if (s->lo.type == NULL && s->hi.type == NULL && s->step == 1) {
        return;
    }
    Expr *n = view_extent(L, view, k);
    Expr *count;
    Expr *first =
        s->step > 0 ? upward(L, s, n, &count) : downward(L, s, n, &count);
    int64_t known;
    size = axis < 0 ? 1 : size;
    if (size >= 0 && (!ir_const_int(count, &known) || known != size)) {
        Expr *same = op2(L, E_EQ, count, int_const(L, size));
        emit_check(L, same, X_SPECULATE, s->loc);
        count = int_const(L, size);
    }
    if (axis < 0) {
        return;
    }
    if (!ir_const_int(first, &known) || known != 0) {
        view->offset[axis] = view_place(L, view, axis, first);
        map_set(&L->nonnegative, view->offset[axis], L);
    }
    view->extent[axis] = extent_of(L, count, s->loc);
    view->count[axis] = count == view->extent[axis] ? NULL : count;
    view->step[axis] = step_by(L, view->step[axis], s->step);
}

/* --- subscripts ----------------------------------------------------------- */

/* One more free axis of one element, at place 'k'. */
void
view_new_axis(View *view, int k)
{
    for (int i = view->rank; i > k; i--) {
        view->axis[i] = view->axis[i - 1];
    }
    view->axis[k] = -1;
    view->rank++;
}

/* slice(b), slice(a, b), slice(a, b, c): its three parts. */
Value
lower_slice(Lower *L, const AExpr *e)
{
    Value parts[3] = {{.type = NULL}};
    Value out = {.type = e->type};
    bool one = e->items.at[1] == NULL;
    lower_items(L, &e->items, parts);
    out.items = ARENA_ARRAY(L->arena, Value, 3);
    for (int i = 0; i < 3; i++) {
        int from = one ? (i == 1 ? 0 : 2) : i;
        out.items[i] = parts[from].type != NULL
                           ? parts[from]
                           : value_of_type(L, e->type->items[i]);
    }
    return out;
}

/* A bound of a slice; none is left out. */
static Value
bound_of(Value v)
{
    return v.type->kind == TY_NONE ? (Value){.type = NULL} : v;
}

/* One item of an index that is a value. */
static void
value_item(Value v, Item *out)
{
    out->value = v;
    if (v.type->kind == TY_SLICE) {
        out->slice = true;
        out->step = 1;
        out->lo = bound_of(v.items[0]);
        out->hi = bound_of(v.items[1]);
        type_is_known_int(v.type->items[2], &out->step);
    }
}

/* The items of a tuple that is the index. */
static Item *
tuple_items(Lower *L, const AExpr *e, int *n)
{
    Value v = lower_expr(L, e);
    Item *items = ARENA_ARRAY(L->arena, Item, v.type->rank + 1);
    for (int i = 0; i < v.type->rank; i++) {
        items[i].loc = e->loc;
        value_item(v.items[i], &items[i]);
    }
    *n = v.type->rank;
    return items;
}

/* A slice with its bounds; the step is a constant, as inference made sure. */
static void
slice_item(Lower *L, const AExpr *e, Item *out)
{
    out->slice = true;
    out->step = 1;
    if (e->items.at[0] != NULL) {
        out->lo = lower_expr(L, e->items.at[0]);
    }
    if (e->items.at[1] != NULL) {
        if (has_user_call(e->items.at[1]) && out->lo.type != NULL) {
            out->lo = hold_value(L, out->lo, e->loc);
        }
        out->hi = lower_expr(L, e->items.at[1]);
    }
    type_is_known_int(e->type->items[2], &out->step);
}

/* What was read before a call of a user function. */
static void
hold_items(Lower *L, Item *items, int n, Loc loc)
{
    for (int i = 0; i < n; i++) {
        Value *parts[] = {&items[i].value, &items[i].lo, &items[i].hi};
        for (int k = 0; k < 3; k++) {
            if (parts[k]->type != NULL) {
                *parts[k] = hold_value(L, *parts[k], loc);
            }
        }
    }
}

/* The items of a subscript, evaluated from left to right. */
Item *
subscript_items(Lower *L, const AExpr *subscript, int *n)
{
    const AExpr *first = subscript->items.at[0];
    *n = subscript->items.n;
    if (*n == 1 && first->type->kind == TY_TUPLE && !first->type->is_list) {
        return tuple_items(L, first, n);
    }
    Item *items = ARENA_ARRAY(L->arena, Item, *n + 1);
    for (int i = 0; i < *n; i++) {
        const AExpr *e = subscript->items.at[i];
        if (has_user_call(e)) {
            hold_items(L, items, i, e->loc);
        }
        items[i].loc = e->loc;
        items[i].dots = e->kind == A_OTHER;
        if (e->kind == A_SLICE) {
            slice_item(L, e, &items[i]);
        } else if (!items[i].dots) {
            value_item(lower_lazy(L, e), &items[i]);
        }
    }
    return items;
}

/* How many axes of the array the items take; `...` and None take none. What is
 * left is what `...` stands for. */
int
axes_taken(const Item *items, int n)
{
    int taken = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].slice) {
            taken++;
        } else if (!items[i].dots) {
            int axes = index_array_axes(items[i].value.type);
            taken += axes > 0 ? axes : items[i].value.type->kind == TY_NUM;
        }
    }
    return taken;
}

/* Applies the indices and slices of a subscript to the free axes from the
 * left. Axes that are left over stay free. */
View *
view_part(Lower *L, const View *view, const AExpr *subscript)
{
    View *part = arena_copy(L->arena, view, sizeof(*view));
    int n;
    const Item *items = subscript_items(L, subscript, &n);
    int spare = view->rank - axes_taken(items, n);
    const int64_t *sizes = subscript->type->size;
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].slice) {
            slice_axis(L, part, k, &items[i], sizes[k]);
            k++;
        } else if (items[i].dots) {
            k += spare;
        } else if (items[i].value.type->kind == TY_NONE) {
            view_new_axis(part, k);
            k++;
        } else {
            Expr *size = view_extent(L, part, k);
            Expr *at = index_in(L, items[i].value, size, subscript->loc);
            view_fix(L, part, k, at);
        }
    }
    return part;
}
