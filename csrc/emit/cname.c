/* Other names for arrays in C.
 *
 *     carry &x.7:f64[%h.1, %w.2] ref c = &a.0      double *x_7 = a_0;
 *     carry &y.8:f64[%h.1, %w.2] ref = &b.3        char *y_8 = b_3;
 *                                                  int64_t y_8s0 = b_3s0;
 *                                                  int64_t y_8s1 = b_3s1;
 *     view &r.9:f64[%w.2] ref c =                  double *const r_9 =
 *       &x.7 at [1, 0] over [1: %w.2 by 1]             &x_7[w_2];
 *
 * A name is a pointer to its first element and, unless all its arrays are
 * packed, a byte stride for each axis; its extents are Vars that have names of
 * their own.  What a loop carries and what it hands out share the variables, as
 * carries do.
 *
 * "refs" of the frame are the names in scope.  They tell an allocation in a
 * loop which blocks of earlier rounds are still in use: all that is alive has
 * one.
 */
#include <string.h>

#include "csrc/emit/cgen.h"

/* 'double *' or, where strides count bytes, 'char *'. */
static const char *
pointer_type(const Gen *g, const Buf *ref)
{
    return str_printf(g->arena, "%s%s *", g->stored[ref->id] ? "" : "const ",
                      c_packed(ref) ? c_type(ref->dtype) : "char");
}

/* The pointer to the first element of 'src', as 'ref' has it. */
static const char *
pointer_text(Gen *g, const Buf *ref, const Buf *src)
{
    const char *name = c_buf(g, src);
    return c_packed(ref) == c_packed(src)
               ? name
               : str_printf(g->arena, "(%s)%s", pointer_type(g, ref), name);
}

/* How many strides 'ref' has in C. */
static int
strides_of(const Buf *ref)
{
    return c_packed(ref) ? 0 : ref->rank;
}

/* From here to the end of the block, 'ref' holds on to its memory. */
static void
show(Gen *g, const Buf *ref)
{
    vec_push(g->arena, &g->frame->refs, ref);
}

/* The stride of axis 'k' of a view that is packed, as its source can't be seen
 * to be. */
static const char *
packed_stride(Gen *g, const Buf *ref, int k)
{
    Str text = str_new(g->arena);
    str_addf(&text, "%d", dtype_size(ref->dtype));
    for (int i = k + 1; i < ref->rank; i++) {
        str_addf(&text, " * %s", c_extent(g, ref, i));
    }
    return text.at;
}

void
c_view(Gen *g, const Stmt *s)
{
    const Buf *ref = s->buf;
    const char *name = c_buf(g, ref);
    const char *place = c_place(g, s->src, s->index, s->src->rank, 0);
    const char *type = pointer_type(g, ref);
    LINE(g, "%sconst %s = %s&%s;", type, name,
         c_packed(ref) ? "" : str_printf(g->arena, "(%s)", type), place);
    for (int k = 0; k < strides_of(ref); k++) {
        int axis = s->axes[k];
        if (axis == AXIS_PACKED) {
            LINE(g, "const int64_t %ss%d = %s;", name, k,
                 packed_stride(g, ref, k));
            continue;
        }
        const Expr *step = s->index[s->src->rank + 2 * k + 1];
        LINE(g, "const int64_t %ss%d = %s * %s;", name, k,
             axis < 0 ? "0" : c_expr(g, step, 0, P_UNARY),
             axis < 0 ? "0" : c_stride(g, s->src, axis));
    }
    show(g, ref);
}

/* 'ref' as 'src', in variables that are declared ('declare') or only set. */
static void
write_name(Gen *g, const Buf *ref, const Buf *src, bool declare)
{
    const char *name = c_buf(g, ref);
    LINE(g, "%s%s = %s;", declare ? pointer_type(g, ref) : "", name,
         pointer_text(g, ref, src));
    for (int k = 0; k < strides_of(ref); k++) {
        LINE(g, "%s%ss%d = %s;", declare ? "int64_t " : "", name, k,
             c_stride(g, src, k));
    }
}

/* --- branches ------------------------------------------------------------ */

void
c_binds_declare(Gen *g, const Stmt *s)
{
    for (int i = 0; i < s->nbinds; i++) {
        const Buf *out = s->binds[i].out;
        LINE(g, "%s%s;", pointer_type(g, out), c_buf(g, out));
        for (int k = 0; k < strides_of(out); k++) {
            LINE(g, "int64_t %ss%d;", c_buf(g, out), k);
        }
    }
}

void
c_binds_assign(Gen *g, const Stmt *s, bool then)
{
    for (int i = 0; i < s->nbinds; i++) {
        const Bind *bind = &s->binds[i];
        write_name(g, bind->out, then ? bind->init : bind->next, false);
    }
}

/* Behind the IF or loop, when what was inside is out of scope. */
void
c_binds_show(Gen *g, const Stmt *s)
{
    for (int i = 0; i < s->nbinds; i++) {
        show(g, s->binds[i].out);
    }
}

/* --- loops --------------------------------------------------------------- */

/* Inside, the names are those of the round. */
void
c_binds_open(Gen *g, const Stmt *loop)
{
    for (int i = 0; i < loop->nbinds; i++) {
        const Bind *bind = &loop->binds[i];
        g->names[bind->out->id] = c_buf(g, bind->var);
        write_name(g, bind->var, bind->init, true);
    }
    for (int i = 0; i < loop->nbinds; i++) {
        show(g, loop->binds[i].var);
    }
}

/* What the names will be in the next round, in variables of their own: strides
 * may be made of carried extents, and names may change places. "next" is per
 * Bind. */
void
c_binds_save(Gen *g, const Stmt *loop, Buf *const *next)
{
    for (int i = 0; i < loop->nbinds; i++) {
        const Buf *ref = loop->binds[i].var;
        if (next[i] == ref) {
            continue;
        }
        LINE(g, "%sconst %snext = %s;", pointer_type(g, ref), c_buf(g, ref),
             pointer_text(g, ref, next[i]));
        for (int k = 0; k < strides_of(ref); k++) {
            LINE(g, "const int64_t %snexts%d = %s;", c_buf(g, ref), k,
                 c_stride(g, next[i], k));
        }
    }
}

/* The names become what was saved. */
void
c_binds_update(Gen *g, const Stmt *loop, Buf *const *next)
{
    for (int i = 0; i < loop->nbinds; i++) {
        const Buf *ref = loop->binds[i].var;
        if (next[i] == ref) {
            continue;
        }
        const char *name = c_buf(g, ref);
        LINE(g, "%s = %snext;", name, name);
        for (int k = 0; k < strides_of(ref); k++) {
            LINE(g, "%ss%d = %snexts%d;", name, k, name, k);
        }
    }
}

/* --- what is alive ------------------------------------------------------- */

const char *
c_live_names(Gen *g, const Buf *buf)
{
    Str list = str_new(g->arena);
    int n = 0;
    for (int i = 0; i < g->frame->refs.n; i++) {
        const Buf *ref = g->frame->refs.at[i];
        if (ir_may_share(ref, buf)) {
            str_addf(&list, "%s%s", n > 0 ? ", " : "", c_buf(g, ref));
            n++;
        }
    }
    return n == 0 ? "0, 0"
                  : str_printf(g->arena, "%d, (const void *const[]){%s}", n,
                               list.at);
}
