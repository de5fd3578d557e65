/* Masks: the elements where an array of bools is true.
 *
 *     a[mask]          count, then copy what is counted
 *     a[mask] = 0      for i: a[i] = mask[i] ? 0 : a[i]
 *     a[mask] = b      for i: if mask[i]: a[i] = b[n]; n += 1
 *     a[mask] += b[mask]   for i: a[i] = mask[i] ? a[i] + b[i] : a[i]
 *     np.nonzero(a)    count, then store the positions
 *
 * A mask covers the first axes of the array; the others are copied whole.  The
 * number of true elements is known when they have been counted, so results get
 * their exact size.
 *
 * Where a number is stored, all elements are written, most of them with what
 * they hold: that is a loop without branches.  The same goes for a value that
 * is computed from elements under the same mask: then nothing is gathered.
 */
#include "csrc/lower/index.h"

/* --- visiting ------------------------------------------------------------- */

/* Loops over the axes of 'z', whose body is written next; 'at' is the index. */
static void
open_nest(Lower *L, const Lazy *z, Expr **at, Loc loc)
{
    for (int k = 0; k < z->rank; k++) {
        at[k] = open_for(L, int_const(L, 0), z->extent[k], loc);
    }
}

/* Is the element at 'at' true? */
static Expr *
truth_at(Lower *L, const Lazy *mask, Expr *const *at, Loc loc)
{
    return vec_cast(L, DT_BOOL, lazy_at(L, mask, at), loc);
}

/* A counter that starts at 0. */
static Var *
new_counter(Lower *L, Loc loc)
{
    Var *var = set_var(L, "n", DT_I64, 0);
    map_set(&L->nonnegative, var, var);
    emit_set(L, var, int_const(L, 0), loc);
    return var;
}

/* Adds 'e', a bool or an integer, to the counter. */
static void
count(Lower *L, Var *var, Expr *e, Loc loc)
{
    Expr *sum = op2(L, E_ADD, ir_ref(L->arena, var), cast_to(L, DT_I64, e));
    emit_set(L, var, sum, loc);
}

/* How many elements of the mask are true. This is a loop of its own without
 * branches, which SIMD does fast; the second one, with branches, then knows
 * where to put things. */
static Expr *
count_true(Lower *L, const Lazy *mask, Loc loc)
{
    Expr *at[MAX_RANK];
    Var *n = new_counter(L, loc);
    Block *outer = L->out;
    open_nest(L, mask, at, loc);
    count(L, n, truth_at(L, mask, at, loc), loc);
    L->out = outer;
    Expr *total = hold(L, ir_ref(L->arena, n), loc);
    if (total->op == E_VAR) {
        map_set(&L->nonnegative, total->var, L);
    }
    return total;
}

/* Opens the nest over the mask and the branch where it is true. The order is
 * that of C, which is the order of the results of np.nonzero. */
static void
open_true(Lower *L, const Lazy *mask, Expr **at, Loc loc)
{
    open_nest(L, mask, at, loc);
    Stmt *s = ir_stmt(L->arena, S_IF, loc);
    s->value = truth_at(L, mask, at, loc);
    emit(L, s);
    L->out = &s->body;
}

/* --- positions ------------------------------------------------------------ */

/* The positions as an array of 'type' with one row for each true element: row n
 * is the index (at[0], ..., at[rank - 1]) of the n-th one. */
static Value
positions(Lower *L, const Lazy *mask, const Type *type, Loc loc)
{
    Expr *at[MAX_RANK];
    Expr *dims[] = {count_true(L, mask, loc), int_const(L, mask->rank)};
    Value out = new_array(L, type, dims, true, loc);
    Var *n = new_counter(L, loc);
    Block *outer = L->out;
    open_true(L, mask, at, loc);
    View *row = view_at(L, out.view, ir_ref(L->arena, n));
    for (int k = 0; k < mask->rank; k++) {
        view_store(L, view_at(L, row, int_const(L, k)), at[k], loc);
    }
    count(L, n, int_const(L, 1), loc);
    L->out = outer;
    return out;
}

/* The type of such an array of 'object'. */
static const Type *
positions_type(Lower *L, int object)
{
    Type *type = ARENA_NEW(L->arena, Type);
    type->kind = TY_ARRAY;
    type->dtype = DT_I64;
    type->rank = 2;
    type->size[0] = -1;
    type->size[1] = -1;
    type->memory = true;
    type->object = object;
    return type;
}

/* Column 'k' of an array. */
static View *
column(Lower *L, const View *view, int k)
{
    View *copy = arena_copy(L->arena, view, sizeof(*view));
    view_fix(L, copy, 1, int_const(L, k));
    return copy;
}

/* The positions along each axis, as index arrays. */
void
mask_positions(Lower *L, Value mask, const Lazy **out, Loc loc)
{
    const Lazy *z = lazy_of(L, mask, loc);
    Value rows = positions(L, z, positions_type(L, 0), loc);
    for (int k = 0; k < z->rank; k++) {
        out[k] = lazy_view(L, column(L, rows.view, k), loc);
    }
}

/* np.argwhere has them the other way round in memory: it is the transpose of
 * what np.nonzero gives, and the strides show it. */
static Value
transposed_positions(Lower *L, const Lazy *mask, const AExpr *e)
{
    Expr *at[MAX_RANK];
    Loc loc = e->loc;
    Expr *dims[] = {int_const(L, mask->rank), count_true(L, mask, loc)};
    Value out = new_array(L, positions_type(L, e->type->object), dims, true,
                          loc);
    Var *n = new_counter(L, loc);
    Block *outer = L->out;
    open_true(L, mask, at, loc);
    for (int k = 0; k < mask->rank; k++) {
        View *row = view_at(L, out.view, int_const(L, k));
        view_store(L, view_at(L, row, ir_ref(L->arena, n)), at[k], loc);
    }
    count(L, n, int_const(L, 1), loc);
    L->out = outer;
    return (Value){.type = e->type, .view = view_transposed(L, out.view)};
}

/* The number of an element in C order from its index: ((i * n1) + j) * n2 + k.
 */
static Expr *
flat_index(Lower *L, const Lazy *z, Expr *const *at)
{
    Expr *flat = at[0];
    for (int k = 1; k < z->rank; k++) {
        flat = op2(L, E_ADD, op2(L, E_MUL, flat, z->extent[k]), at[k]);
    }
    return flat;
}

/* np.flatnonzero: a column of one. */
static Value
flat_positions(Lower *L, const Lazy *mask, const AExpr *e)
{
    Expr *at[MAX_RANK];
    Loc loc = e->loc;
    Expr *dims[] = {count_true(L, mask, loc), int_const(L, 1)};
    Value out = new_array(L, positions_type(L, e->type->object), dims, true,
                          loc);
    Var *n = new_counter(L, loc);
    Block *outer = L->out;
    open_true(L, mask, at, loc);
    View *row = view_at(L, out.view, ir_ref(L->arena, n));
    View *place = view_at(L, row, int_const(L, 0));
    view_store(L, place, flat_index(L, mask, at), loc);
    count(L, n, int_const(L, 1), loc);
    L->out = outer;
    return (Value){.type = e->type, .view = column(L, out.view, 0)};
}

/* np.nonzero, np.where with one argument, np.argwhere, np.flatnonzero. The
 * arrays of np.nonzero are columns of one array, as NumPy's are. */
Value
lower_nonzero(Lower *L, const AExpr *e, BuiltinId id)
{
    Value from = lower_lazy(L, e->items.at[0]);
    const Lazy *mask = lazy_of(L, from, e->loc);
    if (id == BUILTIN_NP_ARGWHERE) {
        return transposed_positions(L, mask, e);
    }
    if (id == BUILTIN_NP_FLATNONZERO) {
        return flat_positions(L, mask, e);
    }
    int object = e->type->items[0]->object;
    Value rows = positions(L, mask, positions_type(L, object), e->loc);
    Value out = {.type = e->type};
    out.items = ARENA_ARRAY(L->arena, Value, mask->rank + 1);
    for (int k = 0; k < mask->rank; k++) {
        out.items[k].type = e->type->items[k];
        out.items[k].view = column(L, rows.view, k);
    }
    return out;
}

/* --- reading -------------------------------------------------------------- */

/* The mask of the subscript as a tree, checked to have the sizes of the first
 * axes of the base. */
static const Lazy *
mask_of(Lower *L, const View *base, const AExpr *e)
{
    const AExpr *index = only_mask(e);
    const Lazy *mask = lazy_of(L, lower_lazy(L, index), e->loc);
    for (int k = 0; k < mask->rank; k++) {
        Expr *size = view_extent(L, base, k);
        if (!ir_equal(mask->extent[k], size)) {
            emit_check(L, op2(L, E_EQ, mask->extent[k], size), X_INDEX, e->loc);
        }
    }
    return mask;
}

/* The part of 'view' at an index of its first 'n' axes. */
static View *
part_at(Lower *L, const View *view, Expr *const *at, int n)
{
    View *part = arena_copy(L->arena, view, sizeof(*view));
    for (int k = 0; k < n; k++) {
        view_fix(L, part, 0, at[k]);
    }
    return part;
}

/* base[mask] as a fresh array of 'type': element n is the part of the base at
 * the n-th true element. */
static Value
compressed(Lower *L, const View *base, const Lazy *mask, const Type *type,
           Loc loc)
{
    Expr *at[MAX_RANK];
    Expr *dims[MAX_RANK] = {count_true(L, mask, loc)};
    int rest = base->rank - mask->rank;
    for (int k = 0; k < rest; k++) {
        dims[k + 1] = view_extent(L, base, mask->rank + k);
    }
    Value out = new_array(L, type, dims, true, loc);
    Var *n = new_counter(L, loc);
    Block *outer = L->out;
    open_true(L, mask, at, loc);
    View *to = view_at(L, out.view, ir_ref(L->arena, n));
    View *from = part_at(L, base, at, mask->rank);
    Block *inner = L->out;
    lazy_store(L, to, lazy_view(L, from, loc), loc);
    L->out = inner;
    count(L, n, int_const(L, 1), loc);
    L->out = outer;
    return out;
}

/* base[mask] */
Value
mask_read(Lower *L, const View *base, const AExpr *e)
{
    const Lazy *mask = mask_of(L, base, e);
    return compressed(L, base, mask, e->type, e->loc);
}

/* --- storing -------------------------------------------------------------- */

/* The mask as it was before the store: `a[a > 0] = -1` reads each element of
 * the mask before it writes there, and nowhere else, so it may stay a tree; a
 * mask that reads other elements of the base is computed first. */
static const Lazy *
steady(Lower *L, const View *base, const Lazy *mask, Loc loc)
{
    bool moved = mask->rank != base->rank;
    return is_disturbed(L, base, mask, moved)
               ? lazy_computed(L, mask, DT_BOOL, loc)
               : mask;
}

/* base[...] = mask ? z : base, where 'z' has the shape of the base or is one
 * number, and reads of the base what is stored at most. Every element is
 * written: without a branch the loop runs in SIMD lanes. */
static void
store_chosen(Lower *L, const View *base, const Lazy *mask, const Lazy *z,
             Loc loc)
{
    const Lazy *whole = lazy_view(L, base, loc);
    Expr *at[MAX_RANK];
    Expr *index[MAX_RANK];
    Block *outer = L->out;
    open_nest(L, whole, at, loc);
    Expr *truth = truth_at(L, mask, at, loc);
    lazy_index(L, z, at, base->rank, index);
    DType dt = view_dtype(base);
    Expr *e = vec_cast(L, dt, lazy_at(L, z, index), loc);
    Expr *old = view_element(L, base, at);
    e = ir_select(L->arena, truth, e, old);
    view_store(L, part_at(L, base, at, base->rank), e, loc);
    L->out = outer;
}

/* base[mask] = z, an array with a row for each true element, or one row for all
 * of them.  That there are as many rows as true elements is known at the end:
 * too few end the loop by a check, too many are found after it, and both are
 * ValueError, before which nothing may have been written: it is undone. */
static void
store_rows(Lower *L, const View *base, const Lazy *mask, const Lazy *z,
           Loc loc)
{
    Expr *at[MAX_RANK];
    int rest = base->rank - mask->rank;
    bool counted = z->rank == rest + 1 &&
                   !(z->extent[0]->op == E_CONST && z->extent[0]->ival == 1);
    for (int k = z->rank - rest < 0 ? 0 : z->rank - rest; k < z->rank; k++) {
        Expr *size = view_extent(L, base, base->rank - z->rank + k);
        int64_t one;
        if (!ir_equal(z->extent[k], size) &&
            !(ir_const_int(z->extent[k], &one) && one == 1)) {
            emit_check(L, op2(L, E_EQ, z->extent[k], size), X_VALUE, loc);
        }
    }
    Var *n = new_counter(L, loc);
    Block *outer = L->out;
    open_true(L, mask, at, loc);
    if (counted) {
        Expr *more = op2(L, E_LT, ir_ref(L->arena, n), z->extent[0]);
        emit_check(L, more, X_VALUE, loc);
    }
    Expr *row = hold(L, ir_ref(L->arena, n), loc);
    count(L, n, int_const(L, 1), loc);
    View *to = part_at(L, base, at, mask->rank);
    Expr *index[MAX_RANK] = {counted ? row : int_const(L, 0)};
    for (int k = 0; k < rest; k++) {
        Expr *size = view_extent(L, base, mask->rank + k);
        at[mask->rank + k] = open_for(L, int_const(L, 0), size, loc);
        index[k + 1] = at[mask->rank + k];
    }
    Expr *own[MAX_RANK];
    lazy_index(L, z, index, rest + 1, own);
    Expr *e = vec_cast(L, view_dtype(base), lazy_at(L, z, own), loc);
    view_store(L, part_at(L, to, at + mask->rank, rest), e, loc);
    L->out = outer;
    if (counted) {
        Expr *all = op2(L, E_EQ, ir_ref(L->arena, n), z->extent[0]);
        emit_check(L, all, X_VALUE, loc);
    }
}

/* Stores 'v' where the mask is true. */
static void
store_under(Lower *L, const View *base, const Lazy *mask, Value v, Loc loc)
{
    DType dt = view_dtype(base);
    if (v.type->kind != TY_ARRAY) {
        Expr *e = stored_as(L, v, dt, loc);
        store_chosen(L, base, mask, lazy_number(L, e, loc), loc);
        return;
    }
    const Lazy *z = lazy_of(L, v, loc);
    if (is_disturbed(L, base, z, true)) {
        z = lazy_computed(L, z, dt, loc);
    }
    store_rows(L, base, mask, z, loc);
}

/* base[mask] = v */
void
mask_store(Lower *L, const View *base, const AExpr *target, Value v)
{
    Loc loc = target->loc;
    const Lazy *mask = mask_of(L, base, target);
    store_under(L, base, steady(L, base, mask, loc), v, loc);
}

/* base[mask] op= by: a number meets every element where it is, and the mask
 * chooses what is kept; an array meets the elements that were taken out. */
void
mask_augment(Lower *L, const View *base, const AStmt *s)
{
    const AExpr *target = s->targets.at[0];
    const Lazy *mask = mask_of(L, base, target);
    bool calls = has_user_call(s->value);
    if (calls) {
        mask = lazy_computed(L, mask, DT_BOOL, s->loc);
    }
    bool product = s->op == AO_MUL && base->pairs;
    bool number = s->value->type->kind != TY_ARRAY && !calls && !product;
    Value old = {.type = target->type};
    if (number) {
        old = lazy_value(target->type, lazy_view(L, base, s->loc));
    } else {
        old = compressed(L, base, mask, target->type, s->loc);
    }
    Value by = lower_lazy(L, s->value);
    const Lazy *z = lazy_augment(L, s->op, old, by, s->loc);
    mask = steady(L, base, mask, s->loc);
    if (number) {
        store_chosen(L, base, mask, z, s->loc);
    } else {
        z = lazy_computed(L, z, view_dtype(base), s->loc);
        store_rows(L, base, mask, z, s->loc);
    }
}
