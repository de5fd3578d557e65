/* What is known of other names for memory: groups and layouts.
 *
 *     view &r.3:f64[%n.1] ref = &a.0 at [%i.2, 0] over [1: %n.1 by 1]
 *     carry &x.4:f64[%n.1] ref = &r.3         packed, if "a" is
 *     next &x.4 = &r.5 -> ...
 *
 * A packed array is addressed without strides, and rows of it are runs of
 * memory for SIMD.  A view is packed where it is whole but for its first axis;
 * a name is packed if all arrays are that it may stand for.  Names that loops
 * carry depend on themselves, so all are taken to be packed first and those
 * disproved taken out until nothing changes: what remains is packed in the
 * first round and, if so in one round, in the next.
 *
 * Called again when code has changed, for extents that were not known to be
 * equal may be so now, and names that are gone tie nothing together.
 */
#include "transforms/transforms.h"

/* Are axes 'k' of the view and of its source alike: all of it, in steps of 1?
 * The first axis of the view may be a part of its source's. */
static bool
is_whole_axis(const Stmt *view, int k)
{
    int axis = view->axes[k];
    Expr *const *over = view->index + view->src->rank + 2 * k;
    int64_t step = 0;
    int64_t start = -1;
    if (!ir_const_int(over[1], &step) || step != 1) {
        return false;
    }
    const Expr *extent = ir_extent(view->buf, k);
    return k == 0 || (ir_const_int(view->index[axis], &start) && start == 0 &&
                      ir_equal(extent, ir_extent(view->src, axis)));
}

/* Is the part that 'view' names packed, if the whole is? Its axes must be the
 * last ones of the whole, in order. */
static bool
keeps_packed(const Stmt *view)
{
    if (view->buf->rank > 0 && view->axes[0] == AXIS_PACKED) {
        return true;
    }
    int skipped = view->src->rank - view->buf->rank;
    bool packed = true;
    for (int k = 0; k < view->buf->rank && packed; k++) {
        packed = view->axes[k] == skipped + k && is_whole_axis(view, k);
    }
    return packed;
}

/* For ir_each_stmt: all names are taken to be packed, but views that are not
 * even if their sources are; what was known before is true still. */
static void
assume_packed(void *data, Stmt *s)
{
    (void)data;
    if (s->kind == S_VIEW && keeps_packed(s)) {
        s->buf->layout = LAYOUT_C;
    }
    for (int i = 0; i < s->nbinds; i++) {
        if (s->binds[i].var != NULL) {
            s->binds[i].var->layout = LAYOUT_C;
        }
        s->binds[i].out->layout = LAYOUT_C;
    }
}

/* 'ref' names 'src', among others: it is packed only if that is. */
static void
restrict_layout(bool *changed, Buf *ref, const Buf *src)
{
    if (ref->layout == LAYOUT_C && src->layout != LAYOUT_C) {
        ref->layout = LAYOUT_ANY;
        *changed = true;
    }
}

/* For ir_each_stmt. */
static void
restrict_stmt(void *data, Stmt *s)
{
    if (s->kind == S_VIEW) {
        restrict_layout(data, s->buf, s->src);
    }
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        Buf *first = bind->var != NULL ? bind->var : bind->out;
        restrict_layout(data, first, bind->init);
        restrict_layout(data, first, bind->next);
        restrict_layout(data, bind->out, first);
    }
}

void
names_refine(Func *func)
{
    bool changed = true;
    ir_set_groups(func);
    ir_each_stmt(&func->body, assume_packed, NULL);
    while (changed) {
        changed = false;
        ir_each_stmt(&func->body, restrict_stmt, &changed);
    }
}
