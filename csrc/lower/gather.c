/* Arrays as indices: what is read is gathered, what is stored is scattered.
 *
 *     b = lut[img]         for i: for k: b[i, k] = lut[img[i, k]]
 *     a[rows, cols] = v    for i: a[rows[i], cols[i]] = v[i]
 *
 * The index arrays are broadcast against each other; their "lead" axes stand in
 * the result at "place", among the axes of the base that slices leave:
 *
 *     a[:, rows, cols]     (axis 0 of a), (axes of rows and cols)
 *     a[rows, :, cols]     arrays apart: their axes come first
 *
 * Reading is a tree like any other (lazy.c), so that `lut[img] * 2` is one
 * nest; each index is checked where it is used.  A store runs in the order of
 * the indices, since of equal ones the last wins.  Its value and its indices
 * are computed before if they read what is written.
 *
 * A mask that is not alone is turned into positions first.
 */
#include "csrc/lower/index.h"

/* --- taking a subscript apart --------------------------------------------- */

/* The type of an item of the index; `...` is TY_RANGE. */
static const Type *
index_type_of(const AExpr *e, int i, bool tuple)
{
    return tuple ? e->items.at[0]->type->items[i] : e->items.at[i]->type;
}

/* Is the index one tuple that is a value? */
static bool
is_tuple_index(const AExpr *e)
{
    const AExpr *first = e->items.at[0];
    return e->items.n == 1 && first->type->kind == TY_TUPLE &&
           !first->type->is_list;
}

/* Does a subscript of an array have an array among its items? */
bool
has_index_arrays(const AExpr *e)
{
    bool tuple = is_tuple_index(e);
    int n = tuple ? e->items.at[0]->type->rank : e->items.n;
    bool any = false;
    for (int i = 0; i < n && e->lhs->type->kind == TY_ARRAY; i++) {
        any |= index_array_axes(index_type_of(e, i, tuple)) > 0;
    }
    return any;
}

/* `a[mask]`, which has its own code: nothing needs the positions. */
const AExpr *
only_mask(const AExpr *e)
{
    const AExpr *first = e->items.at[0];
    bool mask = e->items.n == 1 && first->type->kind == TY_ARRAY &&
                first->type->dtype == DT_BOOL;
    return mask ? first : NULL;
}

/* Integers of a list as the lanes of a vector. */
static Value
list_lanes(Lower *L, Value v)
{
    Expr *vec = NULL;
    for (int i = 0; i < v.type->rank; i++) {
        Expr *e = cast_to(L, DT_I64, v.items[i].expr);
        vec = vec ? ir_insert(L->arena, vec, int_const(L, i), e)
                  : ir_splat(L->arena, e, v.type->rank);
    }
    return num_value(type_vector(L->arena, DT_I64, v.type->rank), vec);
}

/* An array item: one index array, or one per axis of a mask, whose extents must
 * be those of the base. */
static void
add_arrays(Lower *L, Gather *g, const Item *item, int axis)
{
    Value v = item->value;
    int n = index_array_axes(v.type);
    if (v.type->kind == TY_TUPLE) {
        v = list_lanes(L, v);
    }
    if (g->n + n > MAX_GATHER) {
        fatal("lower: too many index arrays");
    }
    if (v.type->dtype == DT_BOOL) {
        for (int k = 0; k < n; k++) {
            const Lazy *mask = lazy_of(L, v, item->loc);
            Expr *size = view_extent(L, g->base, axis + k);
            if (!ir_equal(mask->extent[k], size)) {
                emit_check(L, op2(L, E_EQ, mask->extent[k], size), X_INDEX,
                           item->loc);
            }
        }
        mask_positions(L, v, &g->arrays[g->n], item->loc);
    } else {
        g->arrays[g->n] = lazy_of(L, v, item->loc);
    }
    for (int k = 0; k < n; k++) {
        g->axes[g->n++] = axis + k;
    }
}

/* Applies what is no array to the base, and gathers the arrays.  "k" is the
 * axis of the base as it is by then: an integer takes its axis away, None adds
 * one, `...` passes those that no item takes. */
static void
apply_items(Lower *L, const Item *items, int n, Gather *g, Loc loc)
{
    int spare = g->base->rank - axes_taken(items, n);
    int k = 0;
    for (int i = 0; i < n; i++) {
        int axes = items[i].slice || items[i].dots
                       ? 0
                       : index_array_axes(items[i].value.type);
        if (axes > 0) {
            add_arrays(L, g, &items[i], k);
            k += axes;
        } else if (items[i].slice) {
            slice_axis(L, g->base, k, &items[i], -1);
            k++;
        } else if (items[i].dots) {
            k += spare;
        } else if (items[i].value.type->kind == TY_NONE) {
            view_new_axis(g->base, k);
            k++;
        } else {
            Expr *size = view_extent(L, g->base, k);
            Expr *at = index_in(L, items[i].value, size, loc);
            view_fix(L, g->base, k, at);
        }
    }
}

/* Takes the subscript apart.  Where the axes of the arrays stand is the plan
 * that inference made of the same items. */
void
gather_open(Lower *L, const View *base, const AExpr *e, Gather *g)
{
    int n;
    const Item *items = subscript_items(L, e, &n);
    const Type **types = ARENA_ARRAY(L->arena, const Type *, n + 1);
    bool tuple = is_tuple_index(e);
    *g = (Gather){.base = arena_copy(L->arena, base, sizeof(*base))};
    for (int i = 0; i < n; i++) {
        types[i] = index_type_of(e, i, tuple);
    }
    GatherPlan plan;
    gather_plan(types, n, base->rank, &plan);
    g->place = plan.place;
    apply_items(L, items, n, g, e->loc);
    for (int i = 0; i < g->n; i++) {
        g->lead = g->arrays[i]->rank > g->lead ? g->arrays[i]->rank : g->lead;
    }
}

/* --- elements ------------------------------------------------------------- */

/* Is axis 'k' of the base indexed by an array?  Its number, or -1. */
static int
array_of_axis(const Gather *g, int k)
{
    for (int i = 0; i < g->n; i++) {
        if (g->axes[i] == k) {
            return i;
        }
    }
    return -1;
}

/* The index of the base for index 'at' of the result; checks are emitted.  For
 * lut[rows, :] with one axis of rows (place 0, lead 1)
 *
 *     at (i, k)   ->   (rows[i] in range of axis 0, k)
 */
static void
base_index(Lower *L, const Gather *g, Expr *const *at, Expr **out, Loc loc)
{
    int basic = 0;
    for (int k = 0; k < g->base->rank; k++) {
        int number = array_of_axis(g, k);
        if (number < 0) {
            out[k] = at[basic < g->place ? basic : basic + g->lead];
            basic++;
            continue;
        }
        const Lazy *array = g->arrays[number];
        Expr *index[MAX_RANK];
        lazy_index(L, array, at + g->place, g->lead, index);
        Expr *e = lazy_at(L, array, index);
        Value v = num_value(type_num(L->arena, e->dtype, false), e);
        out[k] = index_in(L, v, view_extent(L, g->base, k), loc);
    }
}

/* For a tree: "data" is the Gather. */
static Expr *
gathered_at(Lower *L, const Lazy *z, Expr *const *at)
{
    const Gather *g = z->data;
    Expr *index[MAX_RANK];
    base_index(L, g, at, index, z->loc);
    return view_element(L, g->base, index);
}

/* The shape of the result, from that of the arrays and the axes left. */
static void
result_shape(Lower *L, const Gather *g, Lazy *z)
{
    const Lazy *lead = lazy_map(L, NULL, 0, DT_I64, DT_I64, g->arrays, g->n,
                                z->loc);
    z->rank = 0;
    for (int k = 0; k < g->base->rank; k++) {
        if (array_of_axis(g, k) < 0) {
            z->extent[z->rank++] = view_extent(L, g->base, k);
        }
    }
    for (int k = z->rank - 1; k >= g->place; k--) {
        z->extent[k + g->lead] = z->extent[k];
    }
    for (int k = 0; k < g->lead; k++) {
        z->extent[g->place + k] = lead->extent[k];
    }
    z->rank += g->lead;
}

/* The gathered array as a tree. */
const Lazy *
gather_lazy(Lower *L, const Gather *g, Loc loc)
{
    Lazy *z = lazy_found(L, view_dtype(g->base), gathered_at,
                         arena_copy(L->arena, g, sizeof(*g)), loc);
    result_shape(L, g, z);
    for (int i = 0; i < g->n; i++) {
        z->args[z->nargs++] = g->arrays[i];
    }
    z->own = z->rank == g->lead ? g->n : 0;
    z->args[z->nargs++] = lazy_view(L, g->base, loc);
    z->place = g->place;
    z->lead = g->lead;
    return z;
}

/* base[items] */
Value
gather_read(Lower *L, const View *base, const AExpr *e)
{
    if (only_mask(e) != NULL) {
        return mask_read(L, base, e);
    }
    Gather g;
    gather_open(L, base, e, &g);
    return lazy_value(e->type, gather_lazy(L, &g, e->loc));
}

/* --- stores --------------------------------------------------------------- */

/* The value that is stored as a tree that the store can't change: a tree over
 * the same memory is computed first. */
static const Lazy *
stored_value(Lower *L, const Gather *g, Value v, const Lazy *shape, Loc loc)
{
    DType dt = view_dtype(g->base);
    if (v.type->kind != TY_ARRAY) {
        return lazy_number(L, stored_as(L, v, dt, loc), loc);
    }
    const Lazy *z = lazy_fitted(L, shape->extent, shape->rank,
                                lazy_of(L, v, loc), loc);
    return is_disturbed(L, g->base, z, true) ? lazy_computed(L, z, dt, loc) : z;
}

/* base[items] = v, in the order of the indices, as NumPy walks them: the axes
 * of the arrays are the outer loops, wherever they stand in the result.  So the
 * last of equal indices wins here as there. */
static void
scatter(Lower *L, const Gather *g, Value v, Loc loc)
{
    Gather own = *g;
    for (int i = 0; i < g->n; i++) {
        if (is_disturbed(L, g->base, g->arrays[i], true)) {
            own.arrays[i] = lazy_computed(L, g->arrays[i], g->arrays[i]->dtype,
                                          loc);
        }
    }
    const Lazy *shape = gather_lazy(L, &own, loc);
    const Lazy *z = stored_value(L, &own, v, shape, loc);
    Block *outer = L->out;
    Expr *at[MAX_RANK];
    for (int i = 0; i < shape->rank; i++) {
        int k = i < own.lead               ? own.place + i
                : i < own.lead + own.place ? i - own.lead
                                           : i;
        at[k] = open_for(L, int_const(L, 0), shape->extent[k], loc);
    }
    Expr *index[MAX_RANK];
    Expr *value[MAX_RANK];
    base_index(L, &own, at, index, loc);
    lazy_index(L, z, at, shape->rank, value);
    Expr *e = vec_cast(L, view_dtype(own.base), lazy_at(L, z, value), loc);
    View *to = own.base;
    while (to->rank > 0) {
        View *next = arena_copy(L->arena, to, sizeof(*to));
        view_fix(L, next, 0, index[own.base->rank - to->rank]);
        to = next;
    }
    view_store(L, to, e, loc);
    L->out = outer;
}

/* base[items] = v */
void
gather_store(Lower *L, const View *base, const AExpr *target, Value v)
{
    if (only_mask(target) != NULL) {
        mask_store(L, base, target, v);
        return;
    }
    Gather g;
    gather_open(L, base, target, &g);
    scatter(L, &g, v, target->loc);
}

/* base[items] op= by: gathered, computed, and only then stored.  So an index
 * that occurs twice counts once, as in NumPy: a[[0, 0]] += 1 adds 1. */
void
gather_augment(Lower *L, const View *base, const AStmt *s)
{
    const AExpr *target = s->targets.at[0];
    Gather g;
    if (only_mask(target) != NULL) {
        mask_augment(L, base, s);
        return;
    }
    gather_open(L, base, target, &g);
    Value old = lazy_value(target->type, gather_lazy(L, &g, s->loc));
    if (has_user_call(s->value)) {
        old = settle(L, old, s->loc);
    }
    Value by = lower_lazy(L, s->value);
    const Lazy *z = lazy_augment(L, s->op, old, by, s->loc);
    z = lazy_computed(L, z, view_dtype(g.base), s->loc);
    scatter(L, &g, lazy_value(target->type, z), s->loc);
}
