/* Memory in the reference interpreter: making, naming and filling arrays.
 *
 * Fresh memory comes from the arena and holds 0xA5 in every byte.  An array
 * made in a loop is another one in every round, as the IR says; nothing is ever
 * freed or used again, so a name that outlives its array's round still finds
 * it. That is what the reuse of blocks in generated code is compared with.
 */
#include <string.h>

#include "csrc/ir/eval.h"

/* The extents of 'buf'; "empty" tells whether one is 0. A negative extent is a
 * fault: lowering has checked it, as NumPy raises. */
static bool
eval_dims(Machine *m, const Buf *buf, int64_t *dims, bool *empty)
{
    *empty = false;
    for (int i = 0; i < buf->rank; i++) {
        if (!eval_int(m, buf->dims[i], &dims[i])) {
            return false;
        }
        if (dims[i] < 0) {
            eval_end(m, EVAL_FAULT);
            return false;
        }
        *empty |= dims[i] == 0;
    }
    return true;
}

/* Fresh memory for 'buf'; a size that no machine has counts as memory out. The
 * host would find the same when asked for the memory, and replay the call; a
 * limit makes it happen without the memory.  Strides of an empty array are
 * never used, so they are left at the element's size. */
Flow
run_alloc(Machine *m, const Buf *buf)
{
    EvalArray *array = ARENA_NEW(m->arena, EvalArray);
    int64_t bytes = dtype_size(buf->dtype);
    bool empty = false;
    if (!eval_dims(m, buf, array->dims, &empty)) {
        return FLOW_END;
    }
    for (int i = buf->rank - 1; i >= 0; i--) {
        array->strides[i] = bytes;
        if (!empty && (__builtin_mul_overflow(bytes, array->dims[i], &bytes) ||
                       bytes > LARGEST_ARRAY)) {
            return eval_end(m, EVAL_REPLAY);
        }
    }
    array->data = arena_alloc(m->arena, (size_t)bytes);
    memset(array->data, 0xA5, (size_t)bytes);
    m->bufs[buf->id] = array;
    m->rooms[buf->id] = buf->rank > 0 ? array->dims[0] : 1;
    return FLOW_ON;
}

/* More room for a growable array: the extent is what was asked for, so that an
 * access beyond it is a fault here; the memory grows by halves. */
Flow
run_grow(Machine *m, const Stmt *s)
{
    EvalArray *array = m->bufs[s->buf->id];
    int64_t size = dtype_size(s->buf->dtype);
    int64_t room = 0;
    if (!array || !s->buf->growable) {
        return eval_end(m, EVAL_FAULT);
    }
    if (!eval_int(m, s->value, &room)) {
        return FLOW_END;
    }
    if (room > LARGEST_ARRAY / size) {
        return eval_end(m, EVAL_REPLAY);
    }
    if (room > m->rooms[s->buf->id]) {
        int64_t more = room + room / 2;
        char *data = arena_alloc(m->arena, (size_t)(more * size));
        memset(data, 0xA5, (size_t)(more * size));
        memcpy(data, array->data, (size_t)(array->dims[0] * size));
        array->data = data;
        m->rooms[s->buf->id] = more;
    }
    array->dims[0] = room > array->dims[0] ? room : array->dims[0];
    return FLOW_ON;
}

/* Is 'index' inside lo <= i < hi of every axis? */
static bool
in_box(const int64_t *box, int rank, const int64_t *index)
{
    for (int i = 0; i < rank; i++) {
        if (index[i] < box[2 * i] || index[i] >= box[2 * i + 1]) {
            return false;
        }
    }
    return true;
}

/* With a box kept, every element outside it is set: passes may rely on no less.
 * The value and the box are evaluated once, before anything is written. */
Flow
run_fill(Machine *m, const Stmt *s)
{
    Slot value[MAX_LANES];
    int64_t box[2 * MAX_RANK] = {0};
    const EvalArray *array = m->bufs[s->buf->id];
    if (!array || s->nindex > 2 * MAX_RANK) {
        return eval_end(m, EVAL_FAULT);
    }
    if (!eval_expr(m, s->value, value)) {
        return FLOW_END;
    }
    for (int i = 0; i < s->nindex; i++) {
        if (!eval_int(m, s->index[i], &box[i])) {
            return FLOW_END;
        }
    }
    int64_t index[MAX_RANK] = {0};
    /* mem_step needs a first element */
    if (mem_count(array, s->buf->rank) == 0) {
        return FLOW_ON;
    }
    do {
        if (!s->has_keep || !in_box(box, s->buf->rank, index)) {
            mem_write(s->buf->dtype, mem_address(s->buf, array, index),
                      value[0]);
        }
    } while (mem_step(array, s->buf->rank, index));
    return FLOW_ON;
}


/* --- other names for arrays ---------------------------------------------- */

/* Elements in C order without gaps?  The stride of an axis of one element, or
 * of an array without elements, is never used. */
static bool
is_packed(const Buf *buf, const EvalArray *array)
{
    int64_t stride = dtype_size(buf->dtype);
    bool packed = true;
    for (int i = buf->rank - 1; i >= 0; i--) {
        packed &= array->dims[i] <= 1 || array->strides[i] == stride;
        stride *= array->dims[i];
    }
    return packed || mem_count(array, buf->rank) == 0;
}

/* What the function says of 'ref', extents and layout, must be true of the
 * array.  The name is given first: extents may be asked of itself. */
bool
eval_name(Machine *m, const Buf *ref, EvalArray *array)
{
    bool ok = array != NULL;
    m->bufs[ref->id] = array;
    for (int i = 0; ok && i < ref->rank; i++) {
        int64_t dim = -1;
        ok = eval_int(m, ref->dims[i], &dim) && dim == array->dims[i];
    }
    ok = ok && (ref->layout != LAYOUT_C || is_packed(ref, array));
    if (!ok) {
        eval_end(m, EVAL_FAULT);
    }
    return ok;
}

/* Extent and stride of axis 'k' of the view 's'; '*last' grows by what lies
 * between its first and its last element.  Two indices never name one element,
 * which passes rely on. */
static bool
view_axis(Machine *m, const Stmt *s, int k, EvalArray *view, int64_t *last)
{
    const EvalArray *src = m->bufs[s->src->id];
    Expr *const *index = s->index + s->src->rank + 2 * k;
    int64_t step = 0;
    int axis = s->axes[k];
    if (!eval_int(m, index[0], &view->dims[k]) ||
        !eval_int(m, index[1], &step)) {
        return false;
    }
    step = axis < 0 ? 0 : step;
    view->strides[k] = axis < 0 ? 0 : step * src->strides[axis];
    if (axis >= 0) {
        last[axis] += step * (view->dims[k] - 1);
    }
    return view->dims[k] >= 0 && (view->dims[k] <= 1 || step != 0);
}

/* The extents of a view that is packed, as its source must be; its strides are
 * those of C order. */
static bool
packed_axes(Machine *m, const Stmt *s, EvalArray *view)
{
    const EvalArray *src = m->bufs[s->src->id];
    int64_t stride = dtype_size(s->buf->dtype);
    int64_t size = 1;
    for (int k = s->buf->rank - 1; k >= 0; k--) {
        if (!eval_int(m, s->index[s->src->rank + 2 * k], &view->dims[k])) {
            return false;
        }
        view->strides[k] = stride;
        stride *= view->dims[k];
        size *= view->dims[k];
    }
    int64_t begin = (view->data - src->data) / dtype_size(s->buf->dtype);
    return size >= 0 &&
           (size == 0 || (is_packed(s->src, src) && begin >= 0 &&
                          begin + size <= mem_count(src, s->src->rank)));
}

/* A name for a part of an array.  All of a part that has elements lies
 * inside. */
Flow
run_view(Machine *m, const Stmt *s)
{
    EvalArray *view = ARENA_NEW(m->arena, EvalArray);
    const EvalArray *src = m->bufs[s->src->id];
    int64_t start[MAX_RANK] = {0};
    int64_t last[MAX_RANK] = {0};
    if (!src) {
        return eval_end(m, EVAL_FAULT);
    }
    view->data = src->data;
    for (int i = 0; i < s->src->rank; i++) {
        if (!eval_int(m, s->index[i], &start[i])) {
            return FLOW_END;
        }
        last[i] = start[i];
        view->data += start[i] * src->strides[i];
    }
    bool packed = s->buf->rank > 0 && s->axes[0] == AXIS_PACKED;
    bool ok = !packed || packed_axes(m, s, view);
    for (int k = 0; k < s->buf->rank && !packed; k++) {
        ok = view_axis(m, s, k, view, last) && ok;
    }
    bool empty = mem_count(view, s->buf->rank) == 0;
    for (int i = 0; i < s->src->rank && !empty && !packed; i++) {
        ok = ok && start[i] >= 0 && start[i] < src->dims[i] && last[i] >= 0 &&
             last[i] < src->dims[i];
    }
    if (!ok) {
        return eval_end(m, EVAL_FAULT);
    }
    return eval_name(m, s->buf, view) ? FLOW_ON : FLOW_END;
}

/* A row of squares or roots; what NumPy's own loops and routines make is left
 * as it was. */
Flow
run_routine(Machine *m, const Stmt *s)
{
    if (s->routine != ROUTINE_LOOP || ir_fn_origin(s->fn) != 'P') {
        return FLOW_ON;
    }
    const Expr *box = s->index[0];
    const EvalArray *in = m->bufs[box->buf->id];
    const EvalArray *out = m->bufs[s->buf->id];
    int64_t first;
    int64_t n;
    if (!eval_int(m, box->args[0], &first) ||
        !eval_int(m, box->args[2], &n)) {
        return FLOW_END;
    }
    if (first < 0 || first + n > in->dims[0] || n > out->dims[0]) {
        return eval_end(m, EVAL_FAULT);
    }
    Expr *none = ir_float(m->arena, DT_F64, 0.0);
    const Expr *call = ir_call(m->arena, s->fn, DT_F64, &none, 1);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = first + k;
        Slot x = mem_read(DT_F64, mem_address(box->buf, in, &at));
        mem_write(DT_F64, mem_address(s->buf, out, &k), ir_compute(call, &x));
    }
    return FLOW_ON;
}
