/* Memory in C: making buffers and filling them.
 *
 *     alloc &out.5:f64[(dim &img.0 0), 3] result number=0
 *
 *     const int64_t out_5dims[] = {img_0n0, 3};
 *     double *const out_5 = ctx->host->result(ctx, 0, 10, 2, out_5dims, 0);
 *     if (!out_5) {
 *         return VZ_NOMEM;
 *     }
 *
 * Local buffers: of constant size on the stack, up to a limit per function;
 * else scratch memory of the call; inside loops one block per buffer that
 * every round uses again (VzMem) and that the function frees at its end.  The
 * block of a growable buffer is exchanged for a larger one when it is full.  A
 * buffer in a loop that has other names may outlive its round: it gets a block
 * to which no name in scope points (VzBlock).
 */
#include <string.h>

#include "csrc/emit/cgen.h"

/* --- allocation ---------------------------------------------------------- */

/* The product is bounded at each step, so it can't overflow. */
int64_t
c_stack_size(const Buf *buf)
{
    int64_t bytes = dtype_size(buf->dtype);
    for (int k = 0; k < buf->rank; k++) {
        int64_t n;
        if (!ir_const_int(buf->dims[k], &n) || n > C_STACK_LIMIT || n < 0) {
            return 0;
        }
        bytes *= n;
        if (bytes > C_STACK_LIMIT) {
            return 0;
        }
    }
    return buf->space == SPACE_STACK && bytes > 0 ? bytes : 0;
}

/* Names the extents that have no name yet, and lists them all. An extent that
 * is itself a constant or variable needs no name of its own; one that is the
 * extent of another buffer goes by that buffer's name. */
static void
write_extents(Gen *g, const Buf *buf)
{
    Str list = str_new(g->arena);
    for (int k = 0; k < buf->rank; k++) {
        const Buf *own = buf;
        int axis = k;
        const Expr *e = c_extent_of(&own, &axis);
        if (own == buf && e->op != E_CONST && e->op != E_VAR) {
            LINE(g, "const int64_t %s = %s;", c_extent(g, buf, k),
                 c_expr(g, e, 0, P_ANY));
        }
        str_addf(&list, "%s%s", k ? ", " : "", c_extent(g, buf, k));
    }
    LINE(g, "const int64_t %sdims[] = {%s};", c_buf(g, buf),
         buf->rank ? list.at : "0");
}

/* Made once more in every round of some loop of this function? Without that a
 * loop of a million rounds would take a million blocks: scratch memory is freed
 * at the end of the call only. */
static bool
is_reused(const Gen *g, const Buf *buf)
{
    return buf->kind == BUF_LOCAL &&
           (g->frame->parallel != NULL || g->frame->loops > 0);
}

/* The call that gives the memory, for the three kinds of buffers that are not
 * on the stack. 'zero' asks for cleared memory, which the system often has at
 * no cost. */
static const char *
heap_source(Gen *g, const Buf *buf, bool zero)
{
    const char *name = c_buf(g, buf);
    if (buf->kind == BUF_RESULT) {
        return str_printf(g->arena,
                          "ctx->host->result(ctx, %d, %d, %d, %sdims, %d)",
                          buf->arg, (int)buf->dtype, buf->rank, name, zero);
    }
    const char *bytes = str_printf(g->arena, "vz_bytes(%d, %d, %sdims)",
                                   dtype_size(buf->dtype), buf->rank, name);
    if (is_reused(g, buf)) {
        vec_push(g->arena, &g->frame->reused, buf);
    }
    if (is_reused(g, buf) && buf->group != NULL) {
        return str_printf(g->arena, "vz_renew(ctx, &%spool, %s, %s)", name,
                          bytes, c_live_names(g, buf));
    }
    if (is_reused(g, buf)) {
        return str_printf(g->arena, "vz_reuse(ctx, &%smem, %s)", name, bytes);
    }
    return str_printf(g->arena, "vz_scratch(ctx, %s, %d)", bytes, zero);
}

/* All bits zero, so not -0.0. memcmp compares the sign, too. */
static bool
is_zero(const Expr *e)
{
    static const double zero = 0;
    if (e->op != E_CONST) {
        return false;
    }
    return dtype_is_float(e->dtype) ? memcmp(&e->fval, &zero, 8) == 0
                                    : e->ival == 0;
}

/* Is 'next' to clear the whole of 'buf'? With a box kept it must be written
 * around, so it is a fill of its own. */
static bool
clears(const Stmt *next, const Buf *buf)
{
    return next && next->kind == S_FILL && next->buf == buf &&
           !next->has_keep && is_zero(next->value);
}

/* How many elements the block of 'buf' has room for: all of it counts. */
static void
write_room(Gen *g, const Buf *buf, const char *type)
{
    const char *name = c_buf(g, buf);
    LINE(g, "%s%sroom = %smem.size / %d;", type, name, name,
         dtype_size(buf->dtype));
}

/* Its block is kept when the function is left, or the round of a loop, as that
 * of any buffer made in a loop. */
static void
alloc_growable(Gen *g, const Buf *buf)
{
    const char *name = c_buf(g, buf);
    write_extents(g, buf);
    vec_push(g->arena, &g->frame->reused, buf);
    LINE(g, "%s *%s = vz_reuse(ctx, &%smem, vz_bytes(%d, 1, %sdims));",
         c_type(buf->dtype), name, name, dtype_size(buf->dtype), name);
    c_exit_if(g, str_printf(g->arena, "!%s", name), "VZ_NOMEM");
    write_room(g, buf, "int64_t ");
}

/*     grow &l.3 to (add %n.4 1)
 *
 *     if (vz_rare(n_4 + 1 > l_3room)) {
 *         l_3 = vz_extend(ctx, &l_3mem, n_4 + 1, 8); ...
 *
 * Pointer and room are variables of their own, so that the C compiler may keep
 * them in registers while nothing grows. */
void
c_grow(Gen *g, const Stmt *s)
{
    const char *name = c_buf(g, s->buf);
    LINE(g, "{");
    c_open(g);
    LINE(g, "const int64_t want = %s;", c_expr(g, s->value, 0, P_ANY));
    LINE(g, "if (vz_rare(want > %sroom)) {", name);
    c_open(g);
    LINE(g, "%s = vz_extend(ctx, &%smem, want, %d);", name, name,
         dtype_size(s->buf->dtype));
    c_exit_if(g, str_printf(g->arena, "!%s", name), "VZ_NOMEM");
    write_room(g, s->buf, "");
    c_close(g);
    c_close(g);
}

/* Memory that is used again can't come cleared: it is dirty from the second
 * round on. A stack array may still be written where the loop is, once a round;
 * its bytes count for the whole function. A larger one begins a cache line:
 * where gcc 12 itself makes it an aligned one, with -O1, its place on the stack
 * may stay where it was. */
bool
c_alloc(Gen *g, const Stmt *s, const Stmt *next)
{
    const Buf *buf = s->buf;
    if (buf->growable) {
        alloc_growable(g, buf);
        return false;
    }
    const char *type = c_type(buf->dtype);
    int64_t bytes = c_stack_size(buf);
    if (bytes > 0 && g->frame->stack + bytes <= C_STACK_LIMIT) {
        g->frame->stack += (int)bytes;
        LINE(g, "%s%s %s[%lld];", bytes >= C_LINE ? "_Alignas(64) " : "", type,
             c_buf(g, buf), (long long)(bytes / dtype_size(buf->dtype)));
        return false;
    }
    bool zero = clears(next, buf) && !is_reused(g, buf);
    write_extents(g, buf);
    LINE(g, "%s *const %s = %s;", type, c_buf(g, buf),
         heap_source(g, buf, zero));
    c_exit_if(g, str_printf(g->arena, "!%s", c_buf(g, buf)), "VZ_NOMEM");
    return zero;
}

/* --- filling ------------------------------------------------------------- */

/* Elements [from, to), numbered in C order, of a packed buffer. 'from' may be
 * larger than 'to' nowhere: the bounds are clamped.  memset is as fast as the
 * machine allows; other values leave the loop to gcc's vectoriser. */
static void
write_span(Gen *g, const Stmt *s, const char *from, const char *to)
{
    const char *name = c_buf(g, s->buf);
    if (is_zero(s->value)) {
        LINE(g, "vz_clear(%s, %s, %s, %d);", name, from, to,
             dtype_size(s->buf->dtype));
        return;
    }
    LINE(g, "for (int64_t i = %s, end = %s; i < end; i++) {", from, to);
    c_open(g);
    LINE(g, "%s[i] = value;", name);
    c_close(g);
}

/* The product of the extents from axis 'k' on. */
static const char *
extent_product(Gen *g, const Buf *buf, int k)
{
    Str text = str_new(g->arena);
    for (int axis = k; axis < buf->rank; axis++) {
        str_addf(&text, "%s%s", axis > k ? " * " : "", c_extent(g, buf, axis));
    }
    return text.n > 0 ? text.at : "1";
}

/* Does the box reach over all of axis 'k'? Only what is plainly so counts; a
 * box that covers an axis in a way not seen here costs a loop, not a result. */
static bool
keeps_axis(const Stmt *s, int k)
{
    int64_t lo = -1;
    return ir_const_int(s->index[2 * k], &lo) && lo == 0 &&
           ir_equal(s->index[2 * k + 1], s->buf->dims[k]);
}

/* Is there an axis behind 'k' of which the box keeps only a part? If not, rows
 * of axis 'k' inside the box are kept whole, and nothing is to be written in
 * them. */
static bool
has_parts(const Stmt *s, int k)
{
    bool parts = false;
    for (int inner = k + 1; inner < s->buf->rank; inner++) {
        parts |= !keeps_axis(s, inner);
    }
    return parts;
}

/* The bounds of the box that is left alone, kept within the array. A box
 * outside the array becomes an empty one at its edge, and hi is never below lo,
 * so the spans around it cover the array once. */
static void
write_box(Gen *g, const Stmt *s, bool packed)
{
    for (int k = 0; k < s->buf->rank; k++) {
        const char *extent = c_extent(g, s->buf, k);
        if (packed && k > 0 && !has_parts(s, k - 1)) {
            break;
        }
        LINE(g, "const int64_t lo%d = vz_clamp(%s, 0, %s);", k,
             c_expr(g, s->index[2 * k], 0, P_ANY), extent);
        LINE(g, "const int64_t hi%d = vz_clamp(%s, lo%d, %s);", k,
             c_expr(g, s->index[2 * k + 1], 0, P_ANY), k, extent);
    }
}

/* '(base + at) * size', from pieces that may be empty or "1". The number of the
 * first element of a row: 'base' rows, 'at' further ones, of 'size' elements
 * each. */
static const char *
row_start(Gen *g, const char *base, const char *at, const char *size)
{
    bool one = strcmp(size, "1") == 0;
    if (strcmp(at, "0") == 0 && *base == '\0') {
        return at;
    }
    if (strcmp(at, "0") == 0) {
        return one ? base : str_printf(g->arena, "%s * %s", base, size);
    }
    if (*base == '\0') {
        return one ? at : str_printf(g->arena, "%s * %s", at, size);
    }
    return one ? str_printf(g->arena, "%s + %s", base, at)
               : str_printf(g->arena, "(%s + %s) * %s", base, at, size);
}

/* All of axis 'k' and inner ones but the box; 'base' is the number of the first
 * row of axis 'k', "" for 0. For rank 2, h by w, keeping [lo0, hi0) by [lo1,
 * hi1):
 *
 *   clear [0, lo0 * w)
 *   for at0 in [lo0, hi0):
 *       clear [at0 * w, at0 * w + lo1)
 *       clear [at0 * w + hi1, at0 * w + w)
 *   clear [hi0 * w, h * w)
 *
 * Neighbouring spans could be joined over the end of a row; memset of a few
 * bytes is cheap enough. */
static void
write_around(Gen *g, const Stmt *s, int k, const char *base)
{
    const char *size = extent_product(g, s->buf, k + 1);
    const char *lo = str_printf(g->arena, "lo%d", k);
    const char *hi = str_printf(g->arena, "hi%d", k);
    write_span(g, s, row_start(g, base, "0", size),
               row_start(g, base, lo, size));
    if (has_parts(s, k)) {
        const char *at = str_printf(g->arena, "at%d", k);
        const char *row = str_printf(g->arena, "row%d", k + 1);
        LINE(g, "for (int64_t %s = %s; %s < %s; %s++) {", at, lo, at, hi, at);
        c_open(g);
        LINE(g, "const int64_t %s = %s;", row,
             row_start(g, base, at, c_extent(g, s->buf, k + 1)));
        write_around(g, s, k + 1, row);
        c_close(g);
    }
    write_span(g, s, row_start(g, base, hi, size),
               row_start(g, base, c_extent(g, s->buf, k), size));
}

/* Element by element: arrays with strides, or whose old values are logged. The
 * index variables are made up here: their ids lie behind those of the function,
 * where "names" has room for MAX_RANK. */
static void
write_each(Gen *g, const Stmt *s)
{
    const Buf *buf = s->buf;
    Str inside = str_new(g->arena);
    Expr *index[MAX_RANK];
    for (int k = 0; k < buf->rank; k++) {
        Var *var = ARENA_NEW(g->arena, Var);
        *var = (Var){.dtype = DT_I64, .id = g->func->next_id + 1 + k};
        g->names[var->id] = str_printf(g->arena, "at%d", k);
        index[k] = ir_ref(g->arena, var);
        LINE(g, "for (int64_t at%d = 0; at%d < %s; at%d++) {", k, k,
             c_extent(g, buf, k), k);
        c_open(g);
        str_addf(&inside, "%sat%d >= lo%d && at%d < hi%d", k ? " && " : "", k,
                 k, k, k);
    }
    if (s->has_keep) {
        LINE(g, "if (%s) {", inside.at);
        c_open(g);
        LINE(g, "continue;");
        c_close(g);
    }
    c_put(g, s, c_place(g, buf, index, buf->rank, 0), "value");
    for (int k = 0; k < buf->rank; k++) {
        c_close(g);
    }
}

/* A packed buffer is filled by runs of elements, whole rows or blocks
 * wherever the box does not reach; others one by one. */
void
c_fill(Gen *g, const Stmt *s)
{
    bool spans = c_packed(s->buf) && !s->logged;
    bool value = !(spans && is_zero(s->value));
    bool braces = value || s->has_keep;
    if (braces) {
        LINE(g, "{");
        c_open(g);
    }
    if (value) {
        LINE(g, "const %s value = %s;", c_type(s->buf->dtype),
             c_expr(g, s->value, 0, P_ANY));
    }
    if (s->has_keep) {
        write_box(g, s, spans);
    }
    if (!spans) {
        write_each(g, s);
    } else if (s->has_keep && s->buf->rank > 0) {
        write_around(g, s, 0, "");
    } else {
        write_span(g, s, "0", extent_product(g, s->buf, 0));
    }
    if (braces) {
        c_close(g);
    }
}
