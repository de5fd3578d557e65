/* Slices of lists of run-time length.
 *
 *     lst[lo:hi]       a copy: room for hi - lo;  for k in [0, hi - lo): store
 *     lst[::-1]        the same, each item from n - 1 - k
 *     lst[i::2]        from i + 2 * k
 *
 * Bounds are clamped as PySlice_AdjustIndices does it: for steps downwards the
 * one behind the last item is -1.  All numbers are small: a bound lies within
 * [-1, n], and a step is used only where there is a second item.
 */
#include "csrc/lower/list.h"

/* A slice of 'n' items: it has "count" items, the first is "from". */
typedef struct Cut {
    Expr *from;
    Expr *count;
    int64_t step;
} Cut;

/* A bound within the list; 'e' NULL: 'dflt'. */
static Expr *
bound(Lower *L, const AExpr *e, Expr *dflt, Expr *n, bool down)
{
    if (e == NULL) {
        return dflt;
    }
    Loc loc = e->loc;
    Value v = list_index_value(L, e);
    Expr *zero = int_const(L, 0);
    Expr *i = reuse(L, hold(L, cast_to(L, DT_I64, v.expr), loc), loc);
    if (v.type->dtype == DT_U64) {
        emit_check(L, op2(L, E_LE, zero, i), X_SPECULATE, loc);
    }
    Expr *least = int_const(L, down ? -1 : 0);
    Expr *most = down ? op2(L, E_SUB, n, int_const(L, 1)) : n;
    if (!is_nonnegative(L, i)) {
        Expr *wrapped = op2(L, E_MAX, op2(L, E_ADD, i, n), least);
        i = ir_select(L->arena, op2(L, E_LT, i, zero), wrapped, i);
        i = reuse(L, i, loc);
    }
    return reuse(L, op2(L, E_MIN, i, most), loc);
}

/* The bounds are evaluated here. */
static Cut
cut_of(Lower *L, const AExpr *slice, Expr *n)
{
    Loc loc = slice->loc;
    Expr *zero = int_const(L, 0);
    Expr *one = int_const(L, 1);
    Cut cut = {.step = 1};
    if (slice->items.at[2] != NULL) {
        type_is_known_int(slice->items.at[2]->type, &cut.step);
    }
    bool down = cut.step < 0;
    Expr *last = reuse(L, op2(L, E_SUB, n, one), loc);
    Expr *lo = bound(L, slice->items.at[0], down ? last : zero, n, down);
    Expr *hi = bound(L, slice->items.at[1], down ? int_const(L, -1) : n, n,
                     down);
    Expr *span = down ? op2(L, E_SUB, lo, hi) : op2(L, E_SUB, hi, lo);
    Expr *count = op2(L, E_MAX, span, zero);
    if (cut.step != 1 && cut.step != -1) {
        Expr *by = int_const(L, down ? -cut.step : cut.step);
        count = reuse(L, count, loc);
        Expr *rest = op2(L, E_IDIV, op2(L, E_SUB, count, one), by);
        count = ir_select(L->arena, op2(L, E_LT, zero, count),
                          op2(L, E_ADD, rest, one), zero);
    }
    cut.from = lo;
    cut.count = reuse(L, count, loc);
    if (cut.count->op == E_VAR) {
        map_set(&L->nonnegative, cut.count->var, L);
    }
    return cut;
}

/* list[lo:hi:step] */
Value
lower_list_slice(Lower *L, const List *from, const AExpr *e)
{
    Loc loc = e->loc;
    Expr *zero = int_const(L, 0);
    Expr *n = list_length(L, from, loc);
    Cut cut = cut_of(L, e->items.at[0], n);
    List *list = list_begin(L, e->type, loc);
    list_room(L, list, cut.count, loc);
    if (cut.step == 1) {
        Expr *end = reuse(L, op2(L, E_ADD, cut.from, cut.count), loc);
        list_move(L, list, zero, from, cut.from, end, loc);
    } else if (from->type->rank > 0) {
        Block *outer = L->out;
        Expr *k = list_loop(L, zero, cut.count, loc);
        Expr *at = op2(L, E_MUL, k, int_const(L, cut.step));
        at = reuse(L, op2(L, E_ADD, cut.from, at), loc);
        list_store(L, list, k, list_load(L, from, at), loc);
        L->out = outer;
    }
    list_set_length(L, list, cut.count, loc);
    return list_value(e->type, list);
}
