/* The verifier's rules for other names of memory; see verify.c for the whole.
 *
 *     view &r.2:f64[%n.1] ref = &a.0 ...        a single name, like an ALLOC's
 *     carry &x.4:f64[:] ref = &a.0              name-dims: extents are leaves
 *     join &y.5:f64[%n.1] ref = &a.0, &i.3      bind-type: f64 and i64
 *
 * A name is given once, but by BIND at L_ARRAY, where its extents are its own.
 * Nothing that moves (a growable buffer) or ends with a round (one on the
 * stack) gets another name.
 */
#include "csrc/ir/verify.h"

/* Extents of a name: at L_ARRAY its own, or what the view was given; later
 * leaves, of which passes need not fear that they were changed meanwhile. */
static void
verify_name_dim(Verify *v, const Buf *ref, int axis)
{
    const Expr *e = ref->dims[axis];
    bool own = e && e->op == E_DIM && e->buf == ref;
    bool array = v->func->level == L_ARRAY;
    if (own ? !array : !array && e && e->nargs > 0) {
        verify_broken(v, "name-dims", "axis %d of &%s.%d", axis, ref->name,
                      ref->id);
    } else if (!own) {
        verify_scalar(v, e, DT_I64, "an extent");
    }
}

void
verify_name(Verify *v, const Buf *ref)
{
    if (!ref) {
        verify_broken(v, "buffer-null", "a buffer is missing");
        return;
    }
    if (ref->kind != BUF_REF) {
        verify_broken(v, "name-kind", "&%s.%d is memory and no name of it",
                      ref->name, ref->id);
    }
    if (map_has(&v->assigned, ref) || map_has(&v->sets, ref)) {
        verify_broken(v, "single-name", "&%s.%d is named twice", ref->name,
                      ref->id);
    }
    for (int i = 0; i < ref->rank && !v->error; i++) {
        verify_name_dim(v, ref, i);
    }
    verify_id(v, ref->id, ref);
    map_set(&v->assigned, ref, NULL);
    verify_show(v, ref);
}

/* What holds of views, too. */
static void
verify_memory(Verify *v, const Buf *ref, const Buf *src)
{
    verify_use_buf(v, src);
    if (!ref) {
        verify_broken(v, "buffer-null", "a buffer is missing");
    }
    if (v->error) {
        return;
    }
    if (src->growable || src->space == SPACE_STACK) {
        verify_broken(v, "name-source", "&%s.%d has no other names", src->name,
                      src->id);
    }
    if (ref->layout == LAYOUT_C && src->layout != LAYOUT_C) {
        verify_broken(v, "name-layout", "&%s.%d is in C order, &%s.%d is not",
                      ref->name, ref->id, src->name, src->id);
    }
    if (ref->dtype != src->dtype) {
        verify_broken(v, "bind-type", "&%s.%d of %s names one of %s", ref->name,
                      ref->id, dtype_short(ref->dtype),
                      dtype_short(src->dtype));
    }
}

/* A constant extent of the name is that of all its arrays. */
void
verify_source(Verify *v, const Buf *ref, const Buf *src)
{
    verify_memory(v, ref, src);
    if (!v->error && ref->rank != src->rank) {
        verify_broken(v, "bind-rank", "&%s.%d of rank %d names one of rank %d",
                      ref->name, ref->id, ref->rank, src->rank);
    }
    for (int i = 0; !v->error && i < ref->rank; i++) {
        int64_t want = 0;
        int64_t have = 0;
        if (ir_const_int(ref->dims[i], &want) &&
            (!ir_const_int(ir_extent(src, i), &have) || want != have)) {
            verify_broken(v, "bind-dims", "axis %d of &%s.%d is no constant",
                          i, src->name, src->id);
        }
    }
}

/* Axes of the whole are named once at most: two indices of a view are two
 * elements. */
static void
verify_axes(Verify *v, const Stmt *s)
{
    bool seen[MAX_RANK] = {false};
    bool packed = s->buf->rank > 0 && s->axes[0] == AXIS_PACKED;
    for (int k = 0; k < s->buf->rank; k++) {
        int axis = s->axes[k];
        if (packed && axis == AXIS_PACKED) {
            continue;
        }
        if (axis < -1 || axis >= s->src->rank || (axis >= 0 && seen[axis])) {
            verify_broken(v, "view-axes", "axis %d of &%s.%d", axis,
                          s->src->name, s->src->id);
            return;
        }
        if (axis >= 0) {
            seen[axis] = true;
        }
    }
}

void
verify_view(Verify *v, const Stmt *s)
{
    verify_memory(v, s->buf, s->src);
    if (v->error) {
        return;
    }
    if (s->nindex != s->src->rank + 2 * s->buf->rank) {
        verify_broken(v, "view-count", "%d numbers from rank %d to rank %d",
                      s->nindex, s->src->rank, s->buf->rank);
        return;
    }
    verify_axes(v, s);
    for (int i = 0; i < s->nindex; i++) {
        verify_scalar(v, s->index[i], DT_I64, "a number of a view");
    }
    verify_name(v, s->buf);
}

/* The name is visible everywhere, what it names need be so here only. */
void
verify_bind(Verify *v, const Stmt *s)
{
    if (!s->buf || s->buf->kind != BUF_REF) {
        verify_broken(v, "name-kind", "only a name can be bound");
        return;
    }
    verify_id(v, s->buf->id, s->buf);
    verify_source(v, s->buf, s->src);
    for (int i = 0; i < s->buf->rank && !v->error; i++) {
        const Expr *e = s->buf->dims[i];
        bool own = e && e->op == E_DIM && e->buf == s->buf && e->axis == i;
        if (!own && !ir_is_const(e)) {
            verify_broken(v, "name-dims", "axis %d of &%s.%d", i, s->buf->name,
                          s->buf->id);
        }
    }
}
