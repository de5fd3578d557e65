/* C text of what NumPy itself computes: sums over boxes of arrays, and its
 * inner loops for one element.
 *
 *     (sum f64 &a.0 0 i j  1 n 1)
 *
 *     ctx->host->sum(0, &a_0[i * a_0n1 + j], 'd', 1,
 *                    (const int64_t[]){n, 1 * 8}, 0)
 *
 *     (call np_exp:f64 x)          vz_np1_f64(np_exp, x)
 *
 *     routine loop square &row of [in]
 *                           vz_row_square(libm_pow, pow_slack, n, row, &in[0]);
 *
 * The order of additions depends on the strides that an array has at run time,
 * so it is the host that adds (csrc/base/sum.c).  The address of an empty box
 * may lie behind the array; nothing is read there.
 */
#include "csrc/emit/cgen.h"

/* NumPy's characters of the dtypes. */
static const char kind_of[DT_COUNT] = {'?', 'b', 'h', 'i', 'l', 'B',
                                       'H', 'I', 'L', 'f', 'd'};

/* '&element, kind, rank, (const int64_t[]){extent, step, ...}' */
static void
add_box(Gen *g, const Expr *e, Str *out)
{
    const Buf *buf = e->buf;
    int n = ir_sum_axes(e);
    str_addf(out, "&%s, '%c', %d, (const int64_t[]){",
             c_place(g, buf, e->args, buf->rank, 0), kind_of[buf->dtype], n);
    for (int k = 0; k < n; k++) {
        Expr *const *part = &e->args[buf->rank + 3 * k];
        str_addf(out, "%s%s, %s * %s", k ? ", " : "",
                 c_expr(g, part[1], 0, P_COND),
                 c_expr(g, part[2], 0, P_UNARY),
                 c_stride(g, buf, (int)part[0]->ival));
    }
    str_addf(out, n ? "}" : "0}");
}

/* host->sum(what, box, mean). */
Piece
c_sum(Gen *g, const Expr *e)
{
    bool single = e->dtype == DT_F32;
    g->narrows |= single;
    Str text = str_new(g->arena);
    if (e->axis == SUM_BOX) {
        fatal("emit: a box as a number");
    }
    str_addf(&text, "%sctx->host->sum(%s%s, ", single ? "(float)" : "",
             single ? "VZ_SUM_SINGLE" : "0",
             e->axis == SUM_SQUARES ? " | VZ_SUM_SQUARES"
             : e->axis == SUM_PARTS ? " | VZ_SUM_PARTS"
                                    : "");
    add_box(g, e, &text);
    const char *mean = e->axis == SUM_SQUARES
                           ? c_expr(g, e->args[e->nargs - 1], 0, P_COND)
                           : "0";
    str_addf(&text, ", %s)", mean);
    return (Piece){text.at, single ? P_UNARY : P_ATOM};
}

/* ', &element, step' of a vector. */
static void
add_row(Gen *g, const Expr *e, Str *out)
{
    Expr *const *part = &e->args[e->buf->rank];
    str_addf(out, ", &%s, %s * %s",
             c_place(g, e->buf, e->args, e->buf->rank, 0),
             c_expr(g, part[2], 0, P_UNARY),
             c_stride(g, e->buf, (int)part[0]->ival));
}

/* vz_row_square(libm_pow, pow_slack, n, out, &in[0]); rows are packed. */
static void
write_own_row(Gen *g, const Stmt *s)
{
    const Expr *in = s->index[0];
    g->frame->fns[FN_SQUARE] = g->frame->fns[FN_POW] = true;
    LINE(g, "vz_row_%s(libm_pow, pow_slack, %s, %s, &%s);", ir_fn_name(s->fn),
         c_expr(g, in->args[2], 0, P_COND), c_buf(g, s->buf),
         c_place(g, in->buf, in->args, in->buf->rank, 0));
}

/* vz_row1(loop, n, out, size, in, step); */
static void
write_row(Gen *g, const Stmt *s)
{
    if (ir_fn_origin(s->fn) == 'P') {
        write_own_row(g, s);
        return;
    }
    Str text = str_new(g->arena);
    const Expr *first = s->index[0];
    DType dt = s->buf->dtype;
    int size = dtype_size(dt) * (s->buf->rank > 1 ? 2 : 1); /* complex */
    g->frame->fns[s->fn] = true;
    str_addf(&text, "vz_row%d(%s%s, %s, %s, %d", s->nindex, ir_fn_name(s->fn),
             dt == DT_F32 ? " + 1" : "",
             c_expr(g, first->args[first->buf->rank + 1], 0, P_COND),
             c_buf(g, s->buf), size);
    for (int i = 0; i < s->nindex; i++) {
        add_row(g, s->index[i], &text);
    }
    LINE(g, "%s);", text.at);
}

/* host->routine(number, out, boxes); it fails only for want of memory. */
void
c_routine(Gen *g, const Stmt *s)
{
    if (s->routine == ROUTINE_LOOP) {
        write_row(g, s);
        return;
    }
    Str text = str_new(g->arena);
    str_addf(&text, "ctx->host->routine(%d, %s, (const VzBox[]){",
             (int)s->routine, c_buf(g, s->buf));
    for (int i = 0; i < s->nindex; i++) {
        str_add(&text, i ? ", {" : "{");
        add_box(g, s->index[i], &text);
        str_add(&text, "}");
    }
    str_add(&text, "})");
    c_exit_if(g, text.at, "VZ_NOMEM");
}

/* --- inner loops ---------------------------------------------------------- */

/* The bytes between second operands, by which NumPy knows an exponent that is
 * one number. */
static int
loop_step(const Expr *e)
{
    return e->fn == FN_NP_POWER_BY ? 0 : dtype_size(e->dtype);
}

/* "vz_np1_f64(np_exp, "; the loop of float32 comes second. */
const char *
c_loop_name(Gen *g, const Expr *e)
{
    bool single = e->dtype == DT_F32;
    g->frame->fns[e->fn] = true;
    Str text = str_new(g->arena);
    str_addf(&text, "vz_np%d_%s(%s%s, ", e->nargs, dtype_short(e->dtype),
             ir_fn_name(e->fn), single ? " + 1" : "");
    if (e->nargs == 2) {
        str_addf(&text, "%d, ", loop_step(e));
    }
    return text.at;
}
