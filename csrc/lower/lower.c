/* Typed Ast -> Func@ARRAY: the entry, its parameters and results.
 *
 *     def f(img, k=2, mode="a")     params  &img, %k      mode has vanished
 *         ...
 *         return total, out         rets    %total  [%alt]  &out
 *
 * Results are flattened in the order of the tuple; a maybe-type has its flag as
 * the ret after its value.  A leaf tells csrc/py/result.c what to make of the
 * rets that belong to it:
 *
 *     LEAF_NUM     a number            LEAF_FRESH  an array made here
 *     LEAF_ARG     the argument        LEAF_VIEW   a part: offsets and steps
 *     LEAF_VECTOR  an array of lanes   LEAF_CONST  its type says all
 *
 * What vanishes: known values, None, text, types and functions have no
 * parameter and no ret; the dispatcher's guard has made sure of them, and a
 * leaf says what they are.  Hidden arguments (arrays among the globals) are the
 * last ones.
 *
 * A fresh array that is returned is a BUF_RESULT from the start, so that it is
 * written where Python will find it.  An array that is one or another on
 * different paths is copied at the end into a result of its own.
 */
#include "csrc/lower/list.h"

/* --- parameters ----------------------------------------------------------- */

/* What is known of the steps of an argument with gaps. */
static void
note_steps(Buf *buf, const Type *type)
{
    int64_t channels;
    buf->steps[buf->rank - 1] = type->step;
    if (type->pixel != 0 && buf->rank > 1 &&
        ir_const_int(buf->dims[buf->rank - 1], &channels)) {
        buf->steps[buf->rank - 2] = (int)(type->pixel * channels);
    }
}

/* A buffer for an array argument. Axes whose size is part of the
 * specialisation are constants; others are asked of the array.  One in
 * Fortran's order is seen as what it is with its axes reversed. */
static Value
param_array(Lower *L, const Type *type, const char *name, int sig)
{
    Buf *buf = new_buf(L, name, type->dtype, type->rank, BUF_ARG);
    buf->arg = L->func->params.n;
    bool turned = type->layout == LAYOUT_F;
    bool packed = type->layout == LAYOUT_C || (turned && type->packed);
    buf->layout = packed ? LAYOUT_C : LAYOUT_ANY;
    for (int i = 0; i < type->rank; i++) {
        if (type->size[i] >= 0) {
            int axis = turned ? type->rank - 1 - i : i;
            buf->dims[axis] = int_const(L, type->size[i]);
        }
    }
    if (buf->layout == LAYOUT_ANY && !dtype_is_complex(type->dtype)) {
        note_steps(buf, type);
    }
    Param param = {.name = sym(name), .buf = buf};
    vec_push(L->arena, &L->func->params, param);
    map_set(&L->arg_of, buf, (void *)(intptr_t)(sig + 1));
    View *view = view_whole(L, buf);
    if (type->layout == LAYOUT_ROWS) {
        map_set(&L->in_rows, buf, buf);
    }
    if (turned) {
        map_set(&L->fortran, buf, buf);
        view = view_transposed(L, view);
    }
    return (Value){.type = type, .view = view};
}

/* The parameters that one argument contributes, in the order in which the
 * dispatcher fills them. What is known has none. */
static Value
param_value(Lower *L, const Type *type, const char *name, int sig)
{
    if (type->kind == TY_ARRAY) {
        return param_array(L, type, name, sig);
    }
    Value v = value_of_type(L, type);
    if (type->kind == TY_LIST) {
        v.list = list_parameter(L, type, name, sig);
    }
    if (type->kind == TY_NUM && !type->known) {
        Var *var = ir_var(L->func, name, type->dtype, 0);
        Param param = {.name = sym(name), .var = var};
        vec_push(L->arena, &L->func->params, param);
        v.expr = ir_ref(L->arena, var);
    }
    for (int i = 0; v.items != NULL && i < type->rank; i++) {
        v.items[i] = param_value(L, type->items[i], name, sig);
    }
    return v;
}

/* Parameters of the entry, then the hidden ones. */
static void
lower_params(Lower *L, const AFunc *entry)
{
    for (int i = 0; i < entry->params.n; i++) {
        const AParam *param = &entry->params.at[i];
        Value v = param_value(L, param->version->type, param->name, i);
        version_bind(L, param->version, v, entry->loc);
    }
}

/* --- results -------------------------------------------------------------- */

/* Objects that are returned must be results where they are made. */
static void
note_returned(Lower *L, const Type *type)
{
    if (type_is_memory(type)) {
        const void *number = (const void *)(intptr_t)type->object;
        map_set(&L->returned, number, NULL);
    }
    for (int i = 0; type_is_pack(type) && i < type->rank; i++) {
        note_returned(L, type->items[i]);
    }
}

/* One more result of the Func; its number. */
int
add_ret(Lower *L, Expr *value, Buf *buf)
{
    Ret ret = {.value = value, .buf = buf};
    vec_push(L->arena, &L->func->rets, ret);
    return L->func->rets.n - 1;
}

/* A fresh array as a result, if it is none yet. */
static int
array_ret(Lower *L, Buf *buf)
{
    if (buf->arg < 0) {
        buf->arg = add_ret(L, NULL, buf);
        if (map_has(&L->fortran, buf)) {
            vec_push(L->arena, &L->result->fortran, buf->arg);
        }
    }
    return buf->arg;
}

/* A number by value. */
static Leaf
number_leaf(Lower *L, Value v)
{
    Leaf leaf = {.kind = LEAF_NUM, .type = v.type, .flag = -1, .arg = -1};
    leaf.ret = add_ret(L, v.expr, NULL);
    return leaf;
}

/* One more number of the step, a ret unless it is constant; NULL stands for
 * 'dflt'. */
static void
add_number(Lower *L, LeafStep *step, Expr *e, int64_t dflt)
{
    LeafNumber number = {.ret = -1, .value = dflt};
    if (e != NULL && !ir_const_int(e, &number.value)) {
        number.ret = add_ret(L, e, NULL);
    }
    step->numbers[step->n++] = number;
}

/* The numbers of the step from the buffer of 'view' to the view: an index for
 * each axis that is fixed, offset, extent and step for the others. */
static void
add_step(Lower *L, Leaf *leaf, const View *view)
{
    bool pairs = map_has(&L->pairs, view->buf);
    LeafStep step = {.nbase = view->buf->rank - pairs, .rank = view->rank};
    if (pairs && !view->pairs) {
        step.part = 1 + (int)view->fixed[step.nbase]->ival;
    }
    for (int k = 0; k < view->rank; k++) {
        step.axis[k] = view->axis[k];
    }
    for (int i = 0; i < step.nbase; i++) {
        step.fixed[i] = view->fixed[i] != NULL;
        if (step.fixed[i]) {
            add_number(L, &step, view->fixed[i], 0);
            continue;
        }
        add_number(L, &step, view->offset[i], 0);
        add_number(L, &step, view->extent[i], 0);
        add_number(L, &step, view->step[i], 1);
    }
    vec_push(L->arena, &leaf->steps, step);
}

/* The steps from memory that has an owner to 'view'; returns that memory. A
 * view of a reshaped view has three: to the first view, to the shape, to the
 * part. Python makes the same chain of views, so that base and strides are
 * NumPy's. */
static Buf *
add_steps(Lower *L, Leaf *leaf, const View *view)
{
    const Packed *packed = map_get(&L->packed, view->buf);
    Buf *base = view->buf;
    if (packed != NULL) {
        base = add_steps(L, leaf, packed->of);
        bool pairs = map_has(&L->pairs, view->buf);
        LeafStep step = {.packed = true, .rank = view->buf->rank - pairs};
        for (int k = 0; k < step.rank; k++) {
            add_number(L, &step, packed->dims[k], 0);
        }
        vec_push(L->arena, &leaf->steps, step);
        bool whole = view->rank == step.rank && view->pairs == pairs;
        for (int i = 0; i < step.rank; i++) {
            whole &= view->axis[i] == i && view->fixed[i] == NULL &&
                     view->offset[i] == NULL && view->step[i] == NULL &&
                     view->extent[i] == view->buf->dims[i];
        }
        if (whole) {
            return base;
        }
    }
    add_step(L, leaf, view);
    return base;
}

/* A part of an array, which Python makes a view of. The array itself may be a
 * result for that reason only. */
static Leaf
view_leaf(Lower *L, Value v)
{
    Leaf leaf = {.kind = LEAF_VIEW, .type = v.type, .flag = -1, .arg = -1};
    leaf.ret = -1;
    Buf *base = add_steps(L, &leaf, v.view);
    intptr_t sig = (intptr_t)map_get(&L->arg_of, base);
    if (sig > 0) {
        leaf.arg = (int)sig - 1;
    }
    leaf.ret = sig > 0 ? -1 : array_ret(L, base);
    return leaf;
}

/* An array of which only the run knows which it is. */
static Leaf
ref_leaf(Lower *L, Value v)
{
    Leaf leaf = {.kind = LEAF_REF, .type = v.type, .flag = -1, .arg = -1};
    Buf *buf;
    Expr *which = which_result(L, v, &buf, L->func->loc);
    leaf.ret = array_ret(L, buf);
    leaf.which = add_ret(L, which, NULL);
    return leaf;
}

/* A vector by value, an argument as the object it is, a fresh buffer by the
 * number that its allocation is told. */
static Leaf
array_leaf(Lower *L, Value v)
{
    Leaf leaf = {.type = v.type, .ret = -1, .flag = -1, .arg = -1};
    if (v.view == NULL) {
        leaf.kind = LEAF_VECTOR;
        leaf.ret = add_ret(L, v.expr, NULL);
        return leaf;
    }
    if (v.type->view) {
        return view_leaf(L, v);
    }
    Buf *buf = v.view->buf;
    if (buf->kind == BUF_REF) {
        return ref_leaf(L, v);
    }
    intptr_t sig = (intptr_t)map_get(&L->arg_of, buf);
    if (sig > 0) {
        leaf.kind = LEAF_ARG;
        leaf.arg = (int)sig - 1;
        return leaf;
    }
    leaf.kind = LEAF_FRESH;
    leaf.ret = array_ret(L, buf); /* the same object if it is returned twice */
    leaf.which = WHICH_RESULT + v.type->object;
    return leaf;
}

/* The leaves of a result from left to right, depth first. A tuple or None has a
 * leaf of its own for the flag, before those of its items. */
static void
add_leaves(Lower *L, Value v)
{
    const Type *type = v.type;
    Leaf leaf = {
        .kind = LEAF_CONST, .type = type, .ret = -1, .flag = -1, .arg = -1};
    if (type_is_pack(type)) {
        if (type->alt == ALT_NONE) {
            leaf.flag = add_ret(L, flag_or_false(L, v.flag), NULL);
            vec_push(L->arena, &L->result->leaves, leaf);
        }
        for (int i = 0; i < type->rank; i++) {
            add_leaves(L, v.items[i]);
        }
        return;
    }
    if (type->kind == TY_RECORD) {
        leaf.kind = LEAF_ARG;
        leaf.arg = (int)type->ival - 1;
    } else if (type->kind == TY_COMPLEX) {
        leaf.kind = LEAF_COMPLEX;
        leaf.ret = add_ret(L, v.items[0].expr, NULL);
        add_ret(L, v.items[1].expr, NULL);
    } else if (type->kind == TY_ARRAY) {
        leaf = array_leaf(L, v);
    } else if (type->kind == TY_LIST) {
        leaf = lower_list_result(L, v);
    } else if (type->kind == TY_NUM && !type->known) {
        leaf = number_leaf(L, v);
    }
    if (leaf.kind != LEAF_CONST && type->alt != ALT_NEVER) {
        leaf.flag = add_ret(L, flag_or_false(L, v.flag), NULL);
    }
    vec_push(L->arena, &L->result->leaves, leaf);
}

/* What an attribute is set to, like one more result. */
static void
add_commit(Lower *L, const ACommit *from)
{
    Commit commit = {.arg = from->arg, .type = from->value->type, .flag = -1};
    const Value *value = version_value(L, from->value);
    if (from->flag != NULL) {
        const Value *flag = version_value(L, from->flag);
        commit.flag = add_ret(L, flag->expr, NULL);
    }
    commit.leaf = L->result->leaves.n;
    add_leaves(L, value ? *value : value_of_type(L, commit.type));
    vec_push(L->arena, &L->result->commits, commit);
}

/* The arguments that are returned or not, and what never returns. */
static void
lower_results(Lower *L, const AFunc *entry)
{
    const Value *value = version_value(L, entry->returned);
    Value v = value ? *value : value_of_type(L, entry->result);
    v.type = entry->result;
    for (int i = 0; type_is_pack(v.type) && i < v.type->rank; i++) {
        v.items[i].type = v.type->items[i];
    }
    L->result->result = entry->result;
    add_leaves(L, v);
    for (int i = 0; i < entry->commits.n; i++) {
        add_commit(L, &entry->commits.at[i]);
    }
}

/* Storage of lists is made before anything runs. */
static void
add_prologue(Lower *L)
{
    Block body = L->func->body;
    L->func->body = L->prologue;
    for (int i = 0; i < body.n; i++) {
        vec_push(L->arena, &L->func->body, body.at[i]);
    }
}

/* Results whose floats are the parts of complex numbers. */
static void
note_pairs(Lower *L)
{
    L->result->pairs = ARENA_ARRAY(L->arena, bool, L->func->rets.n + 1);
    for (int i = 0; i < L->func->rets.n; i++) {
        const Buf *buf = L->func->rets.at[i].buf;
        L->result->pairs[i] = buf != NULL && map_has(&L->pairs, buf);
    }
}

/* --- the entry ------------------------------------------------------------ */

/* For ir_each_stmt: arguments that are written, by whatever name, are told to
 * the dispatcher, which must be able to undo it. */
static void
note_write(void *data, Stmt *s)
{
    Lower *L = data;
    for (int i = 0; ir_writes(s) && i < L->func->params.n; i++) {
        const Buf *buf = L->func->params.at[i].buf;
        bool other = s->buf != buf && s->buf->kind != BUF_REF;
        if (buf != NULL && !other && ir_may_share(s->buf, buf)) {
            intptr_t number = (intptr_t)map_get(&L->arg_of, buf);
            L->result->writes[number - 1] = true;
        }
    }
}

/* One walk over the typed tree. Which versions are read and which buffers are
 * returned must be known before it begins. */
Lowered *
lower_func(Arena *arena, Diags *diags, const AFunc *entry, bool general,
           bool count, unsigned approx)
{
    Lower *L = ARENA_NEW(arena, Lower);
    L->arena = arena;
    L->diags = diags;
    L->general = general;
    L->count = count;
    L->approx = approx;
    L->func = ir_func(arena, entry->name, L_ARRAY);
    L->func->loc = entry->loc;
    L->result = ARENA_NEW(arena, Lowered);
    L->result->func = L->func;
    L->result->writes = ARENA_ARRAY(arena, bool, entry->params.n + 1);
    L->out = &L->func->body;
    L->values = map_new(arena);
    L->used = map_new(arena);
    L->changed = map_new(arena);
    L->changeable = map_new(arena);
    L->pinned = map_new(arena);
    L->nonnegative = map_new(arena);
    L->returned = map_new(arena);
    L->pairs = map_new(arena);
    L->packed = map_new(arena);
    L->arg_of = map_new(arena);
    L->fortran = map_new(arena);
    L->in_rows = map_new(arena);
    L->which = map_new(arena);
    L->orders = map_new(arena);
    L->lists = map_new(arena);
    L->heaps = map_new(arena);
    L->asides = map_new(arena);
    find_uses(L, entry);
    note_returned(L, entry->result);
    L->tells = which_asked(entry->result);
    for (int i = 0; i < entry->commits.n; i++) {
        const Type *type = entry->commits.at[i].value->type;
        note_returned(L, type);
        L->tells |= which_asked(type);
    }
    lower_params(L, entry);
    lower_body(L, entry);
    lower_results(L, entry);
    add_prologue(L);
    note_pairs(L);
    ir_set_groups(L->func);
    ir_each_stmt(&L->func->body, note_write, L);
    L->func->deaf = !L->result->may_warn;
    /* once for all users: a fault here would end the process in a later pass */
    const char *broken = ir_verify(arena, L->func);
    if (broken != NULL) {
        fatal("lower: %s", broken);
    }
    return L->result;
}
