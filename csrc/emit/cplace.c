/* Names and places in C: how Vars, Bufs, extents and elements are called.
 *
 *     load(img, y, x)     img_1[y_4 * img_1n1 + x_5]                 LAYOUT_C
 *                         *(const double *)(img_1 + y_4 * img_1s0
 *                                           + x_5 * img_1s1)         LAYOUT_ANY
 *
 * Plain index arithmetic from the array's start: gcc and clang find the row
 * pointers and strides by themselves, and do so as well as for hand-written
 * row pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "csrc/emit/cgen.h"

/* Of elements in memory.  A bool there is a byte: reading another value than 0
 * or 1 as _Bool is undefined, and foreign memory may hold one. */
static const char *const c_types[DT_COUNT] = {
    [DT_BOOL] = "uint8_t", [DT_I8] = "int8_t",    [DT_I16] = "int16_t",
    [DT_I32] = "int32_t",  [DT_I64] = "int64_t",  [DT_U8] = "uint8_t",
    [DT_U16] = "uint16_t", [DT_U32] = "uint32_t", [DT_U64] = "uint64_t",
    [DT_F32] = "float",    [DT_F64] = "double",
};

const char *
c_type(DType dt)
{
    return c_types[dt];
}

/* --- names --------------------------------------------------------------- */

/* ASCII letters only; isalpha would follow the locale. */
static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Everything but ASCII letters and digits as '_'. Names in other scripts become
 * underscores; the id keeps them apart.  Longer ones are cut. */
static void
add_clean(Str *out, Sym name)
{
    enum { LONGEST = 40 };
    for (int i = 0; name && name[i] && i < LONGEST; i++) {
        bool keep = is_letter(name[i]) || (name[i] >= '0' && name[i] <= '9');
        str_add_n(out, keep ? &name[i] : "_", 1);
    }
}

/* 'k_' keeps it apart from C's keywords and from library functions. */
const char *
c_function_name(Arena *arena, Sym name)
{
    Str text = str_new(arena);
    str_add(&text, "k_");
    add_clean(&text, name);
    return text.at;
}

/* 'name_id', made once per id.  A name that does not begin with a letter gets a
 * 't' in front: '_' and digits at the start mean something else in C. */
static const char *
name_of(Gen *g, Sym name, int id)
{
    if (g->names[id] == NULL) {
        Str text = str_new(g->arena);
        str_add(&text, name && is_letter(*name) ? "" : "t");
        add_clean(&text, name);
        str_addf(&text, "_%d", id);
        g->names[id] = text.at;
    }
    return g->names[id];
}

const char *
c_name(Gen *g, const Var *var)
{
    return name_of(g, var->name, var->id);
}

const char *
c_var(Gen *g, const Var *var, int lane)
{
    const char *name = c_name(g, var);
    return var->lanes ? str_printf(g->arena, "%sv%d", name, lane) : name;
}

const char *
c_buf(Gen *g, const Buf *buf)
{
    return name_of(g, buf->name, buf->id);
}

/* --- places in memory ---------------------------------------------------- */

/* What the kernel allocates itself always is. */
bool
c_packed(const Buf *buf)
{
    bool made = buf->kind == BUF_LOCAL || buf->kind == BUF_RESULT;
    return made || buf->layout == LAYOUT_C;
}

/* Follows extents that are those of other buffers, as of np.empty_like(img), to
 * the one that has a value of its own; there is no cycle, since a buffer is
 * made after those that it is sized by. */
const Expr *
c_extent_of(const Buf **buf, int *axis)
{
    const Expr *e = (*buf)->dims[*axis];
    while (e->op == E_DIM && (e->buf != *buf || e->axis != *axis)) {
        *buf = e->buf;
        *axis = e->axis;
        e = (*buf)->dims[*axis];
    }
    return e;
}

/* Extents have the name of the variable that gave them where there is one. */
const char *
c_extent(Gen *g, const Buf *buf, int axis)
{
    const Expr *e = c_extent_of(&buf, &axis);
    if (e->op == E_CONST) {
        return str_printf(g->arena, "%lld", (long long)e->ival);
    }
    if (e->op == E_VAR) {
        return c_var(g, e->var, 0);
    }
    return str_printf(g->arena, "%sn%d", c_buf(g, buf), axis);
}

/* Of a packed buffer, the size of what lies in one index of the axis. */
const char *
c_stride(Gen *g, const Buf *buf, int axis)
{
    if (buf->steps[axis] != 0) {
        return str_printf(g->arena, "%d",
                          buf->steps[axis] * dtype_size(buf->dtype));
    }
    if (!c_packed(buf)) {
        return str_printf(g->arena, "%ss%d", c_buf(g, buf), axis);
    }
    Str text = str_new(g->arena);
    str_addf(&text, "%d", dtype_size(buf->dtype));
    for (int k = axis + 1; k < buf->rank; k++) {
        str_addf(&text, " * %s", c_extent(g, buf, k));
    }
    return text.at;
}

/* An index is computed in 64 bits. All index arithmetic is 64-bit: a product of
 * extents passes 2^31 soon. */
static Piece
index_piece(Gen *g, const Expr *e)
{
    if (e->op == E_CONST) {
        return (Piece){str_printf(g->arena, "%lld", (long long)e->ival),
                       e->ival < 0 ? P_UNARY : P_ATOM};
    }
    if (e->dtype != DT_I64) {
        return (Piece){str_printf(g->arena, "(int64_t)%s",
                                  c_expr(g, e, 0, P_UNARY)),
                       P_UNARY};
    }
    return c_piece(g, e, 0);
}

/* A part of a sum: `a ? b : c` in parentheses. */
static const char *
summand(Gen *g, Piece part)
{
    return part.prec < P_ADD ? str_printf(g->arena, "(%s)", part.text)
                             : part.text;
}

/* 'acc * factor' without what is one or zero. */
static Piece
multiply(Gen *g, Piece acc, const char *factor)
{
    if (strcmp(acc.text, "0") == 0 || strcmp(factor, "1") == 0) {
        return acc;
    }
    bool loose = acc.prec < P_MUL;
    return (Piece){str_printf(g->arena, loose ? "(%s) * %s" : "%s * %s",
                              acc.text, factor),
                   P_MUL};
}

/* 'acc * factor + next', likewise. Sums of indices may be regrouped freely, as
 * they wrap and are in range at the end. */
static Piece
multiply_add(Gen *g, Piece acc, const char *factor, Piece next)
{
    acc = multiply(g, acc, factor);
    if (strcmp(acc.text, "0") == 0) {
        return next;
    }
    if (strcmp(next.text, "0") == 0) {
        return acc;
    }
    return (Piece){str_printf(g->arena, "%s + %s", summand(g, acc),
                              summand(g, next)),
                   P_ADD};
}

/* A vector's lane as the last index. */
static Piece
lane_piece(Gen *g, int lane)
{
    return (Piece){str_printf(g->arena, "%d", lane), P_ATOM};
}

/* So few elements that no sum of some, nor their product with an extent, has
 * more than 64 bits. */
static bool
is_near(int64_t elements)
{
    return elements <= INT32_MAX && elements >= -INT32_MAX;
}

/* What is left of an index without what is constant in it, which is added to
 * '*far'. */
static Piece
variable_piece(Gen *g, const Expr *e, int64_t *far)
{
    int64_t k = 0;
    bool sum = e->dtype == DT_I64 && (e->op == E_ADD || e->op == E_SUB);
    if (!ir_const_int(sum ? e->args[1] : e, &k) || !is_near(k)) {
        return index_piece(g, e);
    }
    *far += sum && e->op == E_SUB ? -k : k;
    return sum ? index_piece(g, e->args[0]) : (Piece){"0", P_ATOM};
}

/* 'acc' and a number of elements. */
static Piece
add_number(Gen *g, Piece acc, int64_t far)
{
    if (far == 0) {
        return acc;
    }
    if (strcmp(acc.text, "0") == 0) {
        return (Piece){str_printf(g->arena, "%lld", (long long)far),
                       far < 0 ? P_UNARY : P_ATOM};
    }
    return (Piece){str_printf(g->arena, "%s %c %lld", summand(g, acc),
                              far < 0 ? '-' : '+', llabs((long long)far)),
                   P_ADD};
}

/* The element's number in C order. Horner's rule: ((i * n1) + j) * n2 + k.  The
 * first extent is not needed.  Constants go to the end as far as extents are
 * constants, too: of elements a constant number apart the C compiler then
 * computes one address. */
static const char *
packed_index(Gen *g, const Buf *buf, Expr *const *index, int n, int lane)
{
    Piece acc = {"0", P_ATOM};
    int64_t far = 0;
    for (int k = 0; k < buf->rank; k++) {
        const Buf *of = buf;
        int axis = k;
        int64_t size;
        if (k > 0 && ir_const_int(c_extent_of(&of, &axis), &size) &&
            is_near(size) && is_near(far)) {
            far *= size;
        } else {
            acc = add_number(g, acc, far);
            far = 0;
        }
        acc = multiply(g, acc, c_extent(g, buf, k));
        Piece next = k < n ? variable_piece(g, index[k], &far)
                           : (Piece){"0", P_ATOM};
        far += k < n ? 0 : lane;
        acc = multiply_add(g, acc, "1", next);
    }
    return add_number(g, acc, far).text;
}

/* The byte offset of an element. Strides may be negative or 0, so no order of
 * the axes is assumed. */
static const char *
strided_offset(Gen *g, const Buf *buf, Expr *const *index, int n, int lane)
{
    Str text = str_new(g->arena);
    for (int k = 0; k < buf->rank; k++) {
        Piece at = k < n ? index_piece(g, index[k]) : lane_piece(g, lane);
        Piece term = multiply(g, at, c_stride(g, buf, k));
        if (strcmp(term.text, "0") != 0) {
            str_addf(&text, " + %s", summand(g, term));
        }
    }
    return text.at;
}

/* The index or offset in full every time: the C compiler shares what
 * repeats. */
const char *
c_place(Gen *g, const Buf *buf, Expr *const *index, int n, int lane)
{
    const char *row = c_row(g, buf, index, n);
    if (row != NULL) {
        return str_printf(g->arena, "%s[%s]", row,
                          index_piece(g, index[n - 1]).text);
    }
    if (c_packed(buf)) {
        return str_printf(g->arena, "%s[%s]", c_buf(g, buf),
                          packed_index(g, buf, index, n, lane));
    }
    return str_printf(g->arena, "*(%s%s *)(%s%s)",
                      g->stored[buf->id] ? "" : "const ", c_type(buf->dtype),
                      c_buf(g, buf), strided_offset(g, buf, index, n, lane));
}
