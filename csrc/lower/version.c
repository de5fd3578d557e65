/* Versions: where their values are kept, and conversions at joins.
 *
 *     if cheap:
 *         x = 1                set x = 1.0; set alt = true    an int as a float
 *     else:
 *         x = a[0] * 0.5       let x.2 = mul(a[0], 0.5)
 *                              set x = x.2; set alt = false
 *     y = x + 1                reads the pair (x, alt)
 *
 * A version that one assignment makes is a LET.  One that several paths convert
 * to is a SET variable, with a second one for the flag of a maybe-type; so is a
 * vector that is changed in place.  Pass 'ssa' makes joins and carries of the
 * SETs; here they are the simplest way to say it.
 *
 * Memory is never moved: its Value is a View whose indices are kept in
 * variables.  A version that is one array on one path and another on the other
 * is a BUF_REF, which every path binds; what is read of it later must be read
 * through a snapshot, since the name may be bound again.
 *
 * A join of a Python number into a NumPy type keeps the number in the dtype of
 * the latter.  That it fits is checked at the join, in the path that brings the
 * Python number, which is seldom the hot one: `total = 0` before the loop.
 */
#include "csrc/lower/list.h"

/* --- storage -------------------------------------------------------------- */

/* A buffer that can be bound to any array of this type. Extents that the type
 * does not know are asked of whatever it is bound to.  Of a part of another
 * buffer only the order of its axes is known to the IR. */
static View *
new_ref(Lower *L, const Type *type, const char *name)
{
    Buf *buf = new_buf(L, name, type->dtype, type->rank, BUF_REF);
    bool part = type->view && type->layout == LAYOUT_C;
    buf->layout = part ? LAYOUT_ROWS : type->layout;
    for (int i = 0; i < type->rank; i++) {
        buf->dims[i] = type->size[i] >= 0 ? int_const(L, type->size[i])
                                          : ir_dim(L->arena, buf, i);
    }
    if (buf->layout == LAYOUT_ROWS) {
        map_set(&L->in_rows, buf, buf);
    }
    which_named(L, buf);
    return view_whole(L, buf);
}

/* 'buf' by a name that has the extents which inference knows, where the code
 * has computed them. */
static Buf *
with_extents(Lower *L, const Buf *to, Buf *buf, Loc loc)
{
    View *view = NULL;
    for (int i = 0; i < to->rank; i++) {
        int64_t n;
        if (ir_const_int(to->dims[i], &n) && !ir_const_int(buf->dims[i], &n)) {
            Expr *same = op2(L, E_EQ, buf->dims[i], to->dims[i]);
            emit_check(L, same, X_SPECULATE, loc);
            view = view ? view : view_whole(L, buf);
            view->extent[i] = to->dims[i];
        }
    }
    if (view == NULL) {
        return buf;
    }
    Buf *name = view_buf(L, view, loc);
    name->layout = buf->layout;
    return name;
}

/* 'to', a whole BUF_REF, is 'view' from here on. */
static void
bind_ref(Lower *L, const View *to, const View *view, Loc loc)
{
    view->buf->space = SPACE_HEAP; /* a stack array has one name */
    Buf *src = with_extents(L, to->buf, view_buf(L, view, loc), loc);
    Stmt *s = ir_stmt(L->arena, S_BIND, loc);
    s->buf = to->buf;
    s->src = src;
    emit(L, s);
    which_bound(L, to->buf, view->buf, loc);
}

View *
view_as_ref(Lower *L, const Type *type, const View *view, Loc loc)
{
    View *ref = new_ref(L, type, view->buf->name);
    bind_ref(L, ref, view, loc);
    return ref;
}

/* A view that stays what it is when its BUF_REF is bound again: `old = cur` in
 * a loop that exchanges `cur` and `nxt`.  It is another name, bound once, here.
 */
static View *
snapshot(Lower *L, const View *view, Loc loc)
{
    if (view->buf->kind != BUF_REF) {
        return arena_copy(L->arena, view, sizeof(*view));
    }
    Buf *buf = ir_buf(L->func, view->buf->name, view->buf->dtype,
                      view->buf->rank, BUF_REF);
    buf->layout = view->buf->layout;
    View *copy = arena_copy(L->arena, view, sizeof(*view));
    copy->buf = buf;
    for (int i = 0; i < buf->rank; i++) {
        Expr *dim = view->buf->dims[i];
        buf->dims[i] = dim->op == E_CONST ? dim : ir_dim(L->arena, buf, i);
        bool whole = copy->extent[i] && ir_equal(copy->extent[i], dim);
        copy->extent[i] = whole ? buf->dims[i] : copy->extent[i];
    }
    Stmt *s = ir_stmt(L->arena, S_BIND, loc);
    s->buf = buf;
    s->src = view->buf;
    emit(L, s);
    if (map_has(&L->pairs, view->buf)) {
        map_set(&L->pairs, buf, buf);
    }
    if (map_has(&L->in_rows, view->buf)) {
        map_set(&L->in_rows, buf, buf);
    }
    which_same(L, buf, view->buf, loc);
    if (map_has(&L->packed, view->buf)) {
        map_set(&L->packed, buf, map_get(&L->packed, view->buf));
    }
    return copy;
}

/* Variables for a number or vector and its flag, item by item for tuples. What
 * is known needs none, and memory has its view. Every maybe-type has a flag of
 * its own, of whatever kind its main part is. */
Value
storage_new(Lower *L, const Type *type, const char *name)
{
    Value v = value_of_type(L, type);
    if (v.expr != NULL) {
        return v; /* a known number */
    }
    bool tuple = type_is_pack(type) || type->kind == TY_NONE;
    if (tuple && type->alt != ALT_NEVER) {
        v.flag = ir_ref(L->arena, set_var(L, "alt", DT_BOOL, 0));
    }
    if (type->kind == TY_NUM || type_is_vector(type)) {
        int lanes = type->kind == TY_NUM ? 0 : type_lanes(type);
        v.expr = ir_ref(L->arena, set_var(L, name, type->dtype, lanes));
        if (type->alt != ALT_NEVER) {
            v.flag = ir_ref(L->arena, set_var(L, "alt", DT_BOOL, 0));
        }
    }
    if (type->kind == TY_LIST) {
        if (type->ref) {
            v.expr = ir_ref(L->arena, set_var(L, name, DT_I64, 0));
        } else {
            v.list = list_of(L, type);
        }
        if (type->alt != ALT_NEVER) {
            v.flag = ir_ref(L->arena, set_var(L, "alt", DT_BOOL, 0));
        }
    }
    if (type_is_memory(type) && type->ref) {
        v.view = new_ref(L, type, name);
        if (type->alt != ALT_NEVER) {
            v.flag = ir_ref(L->arena, set_var(L, "alt", DT_BOOL, 0));
        }
    }
    bool pair = type->kind == TY_COMPLEX;
    for (int i = 0; v.items != NULL && i < type->rank; i++) {
        v.items[i] = storage_new(L, type->items[i], name);
    }
    if (pair && type->alt != ALT_NEVER) {
        v.flag = ir_ref(L->arena, set_var(L, "alt", DT_BOOL, 0));
    }
    return v;
}

/* 'v' has the type of the storage. Items are set one by one; what a later item
 * reads was held, or is a SET of the same join, which all read the old values
 * (convert is called on held values). */
void
storage_set(Lower *L, const Value *to, Value v, Loc loc)
{
    if (to->expr != NULL && to->expr->op == E_VAR) {
        emit_set(L, to->expr->var, v.expr, loc);
    }
    if (to->type->kind == TY_ARRAY && to->type->ref) {
        bind_ref(L, to->view, v.view, loc);
    }
    if (to->flag != NULL) {
        emit_set(L, to->flag->var, flag_or_false(L, v.flag), loc);
    }
    for (int i = 0; to->items != NULL && i < to->type->rank; i++) {
        storage_set(L, &to->items[i], v.items[i], loc);
    }
}

/* --- conversions ---------------------------------------------------------- */

/* The same kind of number: no conversion. */
static bool
same_plain(const Type *lhs, const Type *rhs)
{
    return lhs->dtype == rhs->dtype && lhs->weak == rhs->weak;
}

/* A float32 of NumPy's as a float64? */
static bool
widens(const Type *from, const Type *to)
{
    return from->dtype == DT_F32 && to->dtype == DT_F64 && !to->weak;
}

/* The condition under which the weak number 'e' is kept exactly in 'to'; NULL:
 * always.  An int in a float: exact_int.  Else the number must come back from
 * the conversion; a float in an integer must not be -0.0 either, whose sign
 * would be lost, and a nan may become any nan of float32. */
static Expr *
fits_exactly(Lower *L, Expr *e, DType to)
{
    if (e->dtype == DT_BOOL || e->dtype == to ||
        (e->dtype == DT_F32 && to == DT_F64)) {
        return NULL;
    }
    if (!dtype_is_float(e->dtype) && dtype_is_float(to)) {
        return exact_int(L, e, to);
    }
    Expr *back = cast_to(L, e->dtype, cast_to(L, to, e));
    Expr *same = op2(L, E_EQ, back, e);
    if (!dtype_is_float(e->dtype)) {
        if (to == DT_U64) {
            return op2(L, E_LE, int_const(L, 0), e);
        }
        return same;
    }
    if (to == DT_F32) {
        return either(L, same, call_fn(L, FN_ISNAN, DT_BOOL, e, NULL));
    }
    Expr *one = ir_float(L->arena, DT_F64, 1.0);
    Expr *sign = call_fn(L, FN_COPYSIGN, DT_F64, one, e);
    Expr *zero = ir_float(L->arena, DT_F64, 0.0);
    Expr *plus = either(L, op2(L, E_NE, e, zero), op2(L, E_LT, zero, sign));
    return both(L, float_in_range(L, e, to), both(L, same, plus));
}

/* What a name holds on a path where it is None or unbound: an array without
 * elements, which nobody reads. */
static View *
no_array(Lower *L, const Type *type, Loc loc)
{
    Buf *buf = new_buf(L, "none", type->dtype, type->rank, BUF_LOCAL);
    buf->loc = loc;
    for (int i = 0; i < type->rank; i++) {
        buf->dims[i] = int_const(L, type->size[i] >= 0 ? type->size[i] : 0);
    }
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    return view_whole(L, buf);
}

/* None as a maybe-type is a zero under a flag that is set. */
static Value
convert_none(Lower *L, Value v, const Type *to, Loc loc)
{
    Value out = {.type = to};
    if (to->kind == TY_LIST) {
        out.list = to->ref ? NULL : list_of(L, to);
        out.expr = to->ref ? int_const(L, 0) : NULL;
        out.flag = ir_bool(L->arena, true);
    } else if (type_is_memory(to)) {
        out.view = no_array(L, to, loc);
        out.flag = ir_bool(L->arena, true);
    } else if (type_is_vector(to)) {
        Expr *zero = num_const(L, to->dtype, 0);
        out.expr = ir_splat(L->arena, zero, type_lanes(to));
        out.flag = ir_bool(L->arena, true);
    } else if (type_is_pack(to)) {
        out.items = ARENA_ARRAY(L->arena, Value, to->rank + 1);
        for (int i = 0; i < to->rank; i++) {
            out.items[i] = convert_none(L, v, to->items[i], loc);
        }
        out.flag = ir_bool(L->arena, true);
    } else if (to->kind == TY_NUM) {
        out.expr = num_const(L, to->dtype, 0);
        out.flag = ir_bool(L->arena, true);
    } else if (to->alt != ALT_NEVER) {
        out.flag = flag_or_false(L, v.flag);
    }
    return out;
}

/* A number into a type that joins it with others: it is the main part, or the
 * alternative, whose value must fit in the main part's dtype.
 *
 *     int 3   into  float64 or int    3.0, flag set
 *     0.1     into  float32 or float  check: 0.1 is no float32, Python repeats
 *
 * A float32 gets into a float64 with approx="f32" only (type_join).  It may be
 * a Python float then whose value is a float32's; its flag stays.
 */
static Value
convert_num(Lower *L, Value v, const Type *to, Loc loc)
{
    Value out = {.type = to};
    Plain alt;
    bool has_alt = type_plain_alt(to, &alt);
    if (to->alt == ALT_NEVER && v.type->alt != ALT_NEVER && v.flag != NULL) {
        emit_check(L, not_(L, v.flag), X_SPECULATE, loc);
        v.flag = NULL;
    }
    if (same_plain(v.type, to) || widens(v.type, to)) {
        out.expr = cast_to(L, to->dtype, v.expr);
        out.flag = to->alt != ALT_NEVER ? flag_or_false(L, v.flag) : NULL;
        return out;
    }
    if (!has_alt || alt.dtype != v.type->dtype || !v.type->weak) {
        fatal("lower: %s is converted to %s", type_text(L->arena, v.type),
              type_text(L->arena, to));
    }
    Expr *e = reuse(L, v.expr, loc);
    emit_check(L, fits_exactly(L, e, to->dtype), X_SPECULATE, loc);
    out.expr = cast_to(L, to->dtype, e);
    out.flag = ir_bool(L->arena, true);
    return out;
}

/* A number, maybe one of two kinds, into one that may be None or unbound too.
 * Where it is that now, its number is any that fits. */
static Value
convert_either(Lower *L, Value v, const Type *to, Loc loc)
{
    Value out = {.type = to, .items = ARENA_NEW(L->arena, Value)};
    Value number = v;
    bool absent = v.type->alt == ALT_NONE || v.type->alt == ALT_UNBOUND;
    if (v.type->kind == TY_EITHER) {
        number = v.items[0];
        number.type = v.type->items[0];
    } else if (absent) {
        number.type = type_with_alt(L->arena, v.type, ALT_NEVER);
        number.flag = NULL;
    }
    if (absent && v.flag != NULL) {
        Expr *zero = num_const(L, number.type->dtype, 0);
        number.expr = ir_select(L->arena, v.flag, zero, number.expr);
    }
    out.items[0] = convert_num(L, number, to->items[0], loc);
    out.flag = flag_or_false(L, absent ? v.flag : NULL);
    return out;
}

/* Only upwards in the lattice of joins: a value of a type
 * that the join was made from. */
Value
convert(Lower *L, Value v, const Type *to, Loc loc)
{
    if (v.type->kind == TY_NONE) {
        return convert_none(L, v, to, loc);
    }
    if (to->kind == TY_NUM) {
        return convert_num(L, v, to, loc);
    }
    if (to->kind == TY_EITHER) {
        return convert_either(L, v, to, loc);
    }
    Value out = v;
    out.type = to;
    if (type_is_pack(to)) {
        out.items = ARENA_ARRAY(L->arena, Value, to->rank + 1);
        for (int i = 0; i < to->rank; i++) {
            out.items[i] = convert(L, v.items[i], to->items[i], loc);
        }
        out.flag = to->alt != ALT_NEVER ? flag_or_false(L, v.flag) : NULL;
    } else if (type_is_vector(to) && v.type->kind == TY_NUM) {
        Expr *e = reuse(L, v.expr, loc);
        emit_check(L, fits_exactly(L, e, to->dtype), X_SPECULATE, loc);
        Expr *lane = cast_to(L, to->dtype, e);
        out.expr = ir_splat(L->arena, lane, type_lanes(to));
        out.flag = ir_bool(L->arena, true);
    } else if (to->kind == TY_COMPLEX) {
        out = complex_convert(L, v, to, loc);
    } else if (to->kind == TY_ARRAY || to->kind == TY_LIST) {
        out.flag = to->alt != ALT_NEVER ? flag_or_false(L, v.flag) : NULL;
    }
    return out;
}

/* --- versions ------------------------------------------------------------- */

/* NULL: nothing was bound yet. */
Value *
version_value(Lower *L, const Version *version)
{
    return map_get(&L->values, version);
}

/* Gives the version its value. */
static Value *
new_value(Lower *L, const Version *version, Value v)
{
    Value *copy = ARENA_NEW(L->arena, Value);
    *copy = v;
    map_set(&L->values, version, copy);
    return copy;
}

/* 'e' as a constant or a variable that nothing changes; a LET, if it is
 * neither. */
static Expr *
name_expr(Lower *L, Expr *e, const char *name, Loc loc)
{
    bool leaf = e->nargs == 0 && e->op != E_LOAD;
    if (leaf && hold(L, e, loc) == e) {
        return e;
    }
    Var *var = ir_var(L->func, name, e->dtype, e->lanes);
    emit(L, ir_let(L->arena, var, e, loc));
    if (e->lanes == 0 && is_nonnegative(L, e)) {
        map_set(&L->nonnegative, var, var);
    }
    return ir_ref(L->arena, var);
}

/* A view's indices in SET variables: they are visible wherever the buffer
 * is, even where a block between has ended. */
Expr *
pin_index(Lower *L, Expr *e, const Buf *buf, Loc loc)
{
    bool dim = e != NULL && e->op == E_DIM &&
               (e->buf == buf || e->buf->kind != BUF_REF);
    if (e == NULL || e->op == E_CONST || dim) {
        return e;
    }
    Var *var = set_var(L, "at", DT_I64, 0);
    emit_set(L, var, e, loc);
    map_set(&L->pinned, var, e);
    if (is_nonnegative(L, e)) {
        map_set(&L->nonnegative, var, var);
    }
    return ir_ref(L->arena, var);
}

/* A view whose indices can be read anywhere. */
View *
pin_view(Lower *L, const View *view, Loc loc)
{
    View *copy = snapshot(L, view, loc);
    for (int i = 0; i < view->buf->rank; i++) {
        copy->fixed[i] = pin_index(L, copy->fixed[i], copy->buf, loc);
        copy->offset[i] = pin_index(L, copy->offset[i], copy->buf, loc);
        copy->step[i] = pin_index(L, copy->step[i], copy->buf, loc);
        copy->extent[i] = pin_index(L, copy->extent[i], copy->buf, loc);
        copy->count[i] = pin_index(L, copy->count[i], copy->buf, loc);
    }
    return copy;
}

/* A value whose parts are all named, so that it can be used any number of
 * times and stays what it is. */
static Value
name_value(Lower *L, Value v, const char *name, Loc loc)
{
    if (v.view != NULL) {
        v.view = pin_view(L, v.view, loc);
    }
    if (v.expr != NULL) {
        v.expr = name_expr(L, v.expr, name, loc);
    }
    v.list = list_pinned(L, v.list, loc);
    if (v.flag != NULL) {
        v.flag = name_expr(L, v.flag, "alt", loc);
    }
    if (v.items != NULL) {
        Value *items = ARENA_ARRAY(L->arena, Value, v.type->rank + 1);
        for (int i = 0; i < v.type->rank; i++) {
            items[i] = name_value(L, v.items[i], name, loc);
        }
        v.items = items;
    }
    return v;
}

/* The one assignment of a version. Its name goes into the IR for the reader.
 * One that is never read is not kept: its value was evaluated for its effects.
 */
void
version_bind(Lower *L, const Version *version, Value v, Loc loc)
{
    if (!map_has(&L->used, version)) {
        return;
    }
    v.type = version->type;
    if (map_has(&L->changed, version)) {
        Value to = storage_new(L, version->type, version->name);
        storage_set(L, &to, v, loc);
        new_value(L, version, to);
        return;
    }
    new_value(L, version, name_value(L, v, version->name, loc));
}

/* Storage of a version that is joined; memory is the same on all paths. The
 * path that is lowered first makes it. */
static Value *
joined_value(Lower *L, const Version *to)
{
    Value *value = version_value(L, to);
    return value ? value : new_value(L, to, storage_new(L, to->type, to->name));
}

/* On this path the name has no value. */
static void
set_unbound(Lower *L, const Value *to, Loc loc)
{
    if (to->type->kind == TY_ARRAY && to->type->ref) {
        bind_ref(L, to->view, no_array(L, to->type, loc), loc);
    }
    if (to->flag != NULL) {
        emit_set(L, to->flag->var, ir_bool(L->arena, true), loc);
    }
}

/* One index of a joined view, which the first path has pinned. */
static void
share_index(Lower *L, Expr *to, Expr *from, Loc loc)
{
    bool pinned = to != NULL && to->op == E_VAR && map_has(&L->pinned, to->var);
    if (pinned && from != NULL && !ir_equal(to, from)) {
        emit_set(L, to->var, from, loc);
    }
}

/* The first path makes variables of a view's indices, the others set them: each
 * has named them for itself. */
static void
share_view(Lower *L, Value *to, View *from, Loc loc)
{
    if (from == NULL || from->buf->kind == BUF_REF) {
        to->view = from;
        return;
    }
    if (to->view == NULL || to->view->buf != from->buf) {
        to->view = pin_view(L, from, loc);
        return;
    }
    for (int i = 0; i < from->buf->rank; i++) {
        share_index(L, to->view->fixed[i], from->fixed[i], loc);
        share_index(L, to->view->offset[i], from->offset[i], loc);
        share_index(L, to->view->step[i], from->step[i], loc);
        share_index(L, to->view->extent[i], from->extent[i], loc);
        share_index(L, to->view->count[i], from->count[i], loc);
    }
}

/* Memory has no storage: the joined name means what each of them means. */
static void
share_memory(Lower *L, Value *to, Value from, Loc loc)
{
    if (type_is_memory(to->type) && !to->type->ref) {
        share_view(L, to, from.view, loc);
    }
    bool tuples = to->items != NULL && from.items != NULL;
    for (int i = 0; tuples && i < to->type->rank; i++) {
        share_memory(L, &to->items[i], from.items[i], loc);
    }
}

/* At the end of a path to a join. All paths to one join are lowered before the
 * joined version is read, but for the way back of a loop, whose storage the
 * way in has made. */
void
version_convert(Lower *L, const Version *to, const Version *from, Loc loc)
{
    if (!map_has(&L->used, to)) {
        return;
    }
    Value *value = joined_value(L, to);
    if (from == NULL) {
        set_unbound(L, value, loc);
        return;
    }
    const Value *source = version_value(L, from);
    Value none = value_of_type(L, from->type);
    if (source == NULL && from->type->kind == TY_NONE) {
        source = &none; /* falling off the end */
    }
    if (source == NULL) {
        fatal("lower: `%s.%d` is joined before it has a value", from->name,
              from->id);
    }
    bool lists = to->type->kind == TY_LIST && from->type->kind == TY_LIST;
    if (lists && !to->type->ref && value->list != source->list) {
        list_convert(L, value->list, source->list, loc);
    }
    share_memory(L, value, *source, loc);
    storage_set(L, value, convert(L, *source, to->type, loc), loc);
}

/* The value of a name. Reading an unbound one raises, so the flag is tested
 * here and nowhere else. */
Value
version_read(Lower *L, const Version *version, Loc loc)
{
    const Value *value = version_value(L, version);
    if (value == NULL) {
        fatal("lower: `%s.%d` has no value", version->name, version->id);
    }
    Value v = *value;
    if (version->type->alt == ALT_UNBOUND) {
        emit_check(L, not_(L, v.flag), X_UNBOUND, loc);
        v.type = type_with_alt(L->arena, version->type, ALT_NEVER);
        v.flag = NULL;
    }
    return v;
}
