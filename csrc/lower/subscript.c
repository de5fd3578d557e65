/* Subscripts, attributes, and items of what is iterated.
 *
 *     t[1]          the item's Value itself; nothing is left of the tuple
 *     TAPS[k]       an element of a table (table.c), after a check of k
 *     v[k], v[1:3]  lanes of a vector in registers
 *     img[r, c]     a load, or a view of the axes that are left (index.c)
 *     lst[k]        list.c
 *     a.shape[0]    the extent, an expression that every pass understands
 *
 * Tuples have no memory.  An index that is known picks an item when the program
 * is compiled; one that is not picks a lane of a constant vector, a table, so
 * that loops over offsets or filter taps keep their form and can be unrolled
 * later: then the index is constant, and so is the lane.
 */
#include <string.h>

#include "csrc/lower/index.h"
#include "csrc/lower/list.h"

/* --- items --------------------------------------------------------------- */

/* Item 'k' of something iterated, with 'k' in range: an element, a view of the
 * part, or a row of tables. */
Value
item_at(Lower *L, Value v, const Type *type, Expr *k, Loc loc)
{
    if (v.type->kind == TY_LIST) {
        Value item = list_load(L, list_some(L, v, loc), k);
        return list_settle_items(L, item, loc);
    }
    if (v.type->kind == TY_TUPLE) {
        v = hold_value(L, v, loc);
        return table_item(L, v.items, v.type->rank, type, k, loc);
    }
    if (v.view == NULL) {
        return num_value(type, ir_elem(L->arena, v.expr, k));
    }
    return view_value(L, view_at(L, v.view, k), type);
}

/* --- subscripts ----------------------------------------------------------- */

/* A known index picks the Value itself, but is evaluated, as it may have
 * effects. Any other index is checked and picks from a table, for which all
 * items have one type. */
static Value
subscript_tuple(Lower *L, Value base, const AExpr *e)
{
    const AExpr *item = e->items.at[0];
    int64_t k;
    if (type_is_known_int(item->type, &k)) {
        lower_expr(L, item);
        return base.items[k < 0 ? k + base.type->rank : k];
    }
    base = hold_value(L, base, e->loc);
    Value index = lower_expr(L, item);
    Expr *n = int_const(L, base.type->rank);
    Expr *at = index_in(L, index, n, e->loc);
    return table_item(L, base.items, base.type->rank, e->type, at, e->loc);
}

/* Element or slice of a vector in registers: the lanes that are kept, one by
 * one. */
static Value
subscript_vector(Lower *L, Value base, const AExpr *e)
{
    const AExpr *item = e->items.at[0];
    Expr *vec = base.expr;
    if (e->type->kind == TY_NUM) {
        Value index = lower_expr(L, item);
        if (index.type->kind == TY_TUPLE) {
            index = index.items[0];
        }
        Expr *n = int_const(L, vec->lanes);
        Expr *at = index_in(L, index, n, e->loc);
        return num_value(e->type, ir_elem(L->arena, vec, at));
    }
    int64_t first;
    int64_t n;
    int64_t step = 1;
    known_slice(item->type, vec->lanes, &first, &n);
    type_is_known_int(item->type->items[2], &step);
    vec = reuse(L, vec, e->loc);
    Expr *out =
        ir_splat(L->arena, ir_elem(L->arena, vec, int_const(L, first)), (int)n);
    for (int i = 1; i < n; i++) {
        Expr *one = ir_elem(L->arena, vec, int_const(L, first + i * step));
        out = ir_insert(L->arena, out, int_const(L, i), one);
    }
    return num_value(e->type, out);
}

/* 'base' subscripted. Memory gives an element by a load and any other part as
 * a view, which is read when it is used. */
Value
element_of(Lower *L, Value base, const AExpr *e)
{
    if (type_is_pack(base.type)) {
        return subscript_tuple(L, base, e);
    }
    if (base.type->kind == TY_LIST) {
        return lower_list_subscript(L, base, e);
    }
    if (base.view == NULL) {
        return subscript_vector(L, base, e);
    }
    if (has_index_arrays(e)) {
        return gather_read(L, base.view, e);
    }
    Value part = view_value(L, view_part(L, base.view, e), e->type);
    if (part.expr != NULL && part.expr->op == E_LOAD) {
        ir_at(part.expr, e->loc); /* remarks name single accesses */
    }
    return part;
}

/* Does evaluating the indices call user functions? */
static bool
any_user_call(const AExprVec *items)
{
    for (int i = 0; i < items->n; i++) {
        if (has_user_call(items->at[i])) {
            return true;
        }
    }
    return false;
}

/* Base, then indices, as Python has it. */
Value
lower_subscript(Lower *L, const AExpr *e)
{
    Value element;
    if (list_item_element(L, e, &element)) {
        return element;
    }
    Value base = lower_expr(L, e->lhs);
    if (any_user_call(&e->items)) {
        base = hold_value(L, base, e->loc);
    }
    return element_of(L, base, e);
}

/* --- attributes ----------------------------------------------------------- */

/* The size of axis 'k' of an array of either kind. */
static Expr *
extent_of(Lower *L, Value array, int k)
{
    return array.lazy != NULL   ? array.lazy->extent[k]
           : array.view != NULL ? view_extent(L, array.view, k)
                                : int_const(L, array.expr->lanes);
}

/* a.shape as a tuple of extents. */
static Value
shape_of(Lower *L, Value array, const Type *type)
{
    Value out = {.type = type};
    out.items = ARENA_ARRAY(L->arena, Value, type->rank + 1);
    for (int i = 0; i < type->rank; i++) {
        out.items[i] = num_value(type->items[i], extent_of(L, array, i));
    }
    return out;
}

/* The product can't overflow: the array exists. */
static Expr *
count_of(Lower *L, Value array)
{
    Expr *count = int_const(L, 1);
    for (int i = 0; i < array.type->rank; i++) {
        Expr *n = extent_of(L, array, i);
        count = i ? op2(L, E_MUL, count, n) : n;
    }
    map_set(&L->nonnegative, count, L);
    return count;
}

/* Attributes that inference knows vanish; the others ask the array. */
Value
lower_attr(Lower *L, const AExpr *e)
{
    bool shape = strcmp(e->name, "shape") == 0 || strcmp(e->name, "size") == 0;
    Value base = shape && is_list_item(e->lhs) ? lower_lazy(L, e->lhs)
                                               : lower_expr(L, e->lhs);
    if (base.type->kind == TY_COMPLEX && e->type->kind == TY_NUM &&
        !e->type->known) {
        return complex_part(L, base, e);
    }
    bool real = strcmp(e->name, "real") == 0;
    if (real || strcmp(e->name, "imag") == 0) {
        return (Value){.type = e->type,
                       .view = pair_view(L, base.view, !real)};
    }
    if (e->type->kind == TY_DTYPE || e->type->kind == TY_STR ||
        (e->type->kind == TY_NUM && e->type->known)) {
        return value_of_type(L, e->type);
    }
    if (strcmp(e->name, "shape") == 0) {
        return shape_of(L, base, e->type);
    }
    if (strcmp(e->name, "T") == 0 || strcmp(e->name, "flat") == 0) {
        return lower_view_attr(L, e, base);
    }
    Expr *count = count_of(L, base);
    if (strcmp(e->name, "nbytes") == 0) {
        count = op2(L, E_MUL, count,
                    int_const(L, dtype_size(base.type->dtype)));
    }
    return num_value(e->type, count);
}
