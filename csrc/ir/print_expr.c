/* Names, places, expressions and buffers as text; print.c has the statements.
 *
 *     %x.1:f64   &a.0[%i.2, 0]   (add %x.1 1.5)   &t.3:f64[%n.4, 3] local
 *
 * Prefix form with all parentheses: what is printed is the tree.  A Var shows
 * its type, another name for memory all that it is, at its first mention.
 */
#include <math.h>
#include <string.h>

#include "csrc/ir/print.h"
#include "csrc/ir/text.h"

/* --- names and places --------------------------------------------------- */

/* The characters of names that the reader takes for one word. Others become
 * '_', which may make two names alike: the id keeps them apart. */
void
print_name(Printer *p, const char *name)
{
    if (!name || !*name) {
        str_add(p->out, "_");
        return;
    }
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = c == '_' || c >= 0x80 || (c >= '0' && c <= '9') ||
                     (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        str_add_n(p->out, plain ? name : "_", 1);
    }
}

/* ':f64' or ':f64x3'. */
static void
print_type(Printer *p, DType dtype, int lanes)
{
    str_addf(p->out, ":%s", dtype_short(dtype));
    if (lanes) {
        str_addf(p->out, "x%d", lanes);
    }
}

/* '%name.id', and the type at the first mention. */
void
print_var(Printer *p, const Var *var)
{
    if (!var) {
        str_add(p->out, "%null");
        return;
    }
    str_add(p->out, "%");
    print_name(p, var->name);
    str_addf(p->out, ".%d", var->id);
    if (p->seen && !map_has(p->seen, var)) {
        map_set(p->seen, var, NULL);
        print_type(p, var->dtype, var->lanes);
    }
}

/* '&name.id'. A missing one is shown, as all that is broken. */
static void
print_buf_name(Printer *p, const Buf *buf)
{
    if (!buf) {
        str_add(p->out, "&null");
        return;
    }
    str_add(p->out, "&");
    print_name(p, buf->name);
    str_addf(p->out, ".%d", buf->id);
}

/* What a buffer is stands where it is made; what another name is at its first
 * mention, as the type of a Var. */
void
print_buf(Printer *p, const Buf *buf)
{
    if (buf && buf->kind == BUF_REF && p->seen && !map_has(p->seen, buf)) {
        print_buf_whole(p, buf, -1);
    } else {
        print_buf_name(p, buf);
    }
}

/* ' @line:col', the end in the shortest of its three forms, the file unless
 * it is the first. */
void
print_loc(Printer *p, Loc loc)
{
    str_addf(p->out, " @%u:%d", (unsigned)loc.line, loc.col);
    if (loc.end_line != loc.line && (loc.end_line || loc.end_col)) {
        str_addf(p->out, "-%u:%d", (unsigned)loc.end_line, loc.end_col);
    } else if (loc.end_line) {
        str_addf(p->out, "-%d", loc.end_col);
    }
    if (loc.file) {
        str_addf(p->out, "/%d", loc.file);
    }
}

/* Field by field: the struct may have padding. */
bool
print_same_loc(Loc lhs, Loc rhs)
{
    return lhs.line == rhs.line && lhs.end_line == rhs.end_line &&
           lhs.col == rhs.col && lhs.end_col == rhs.end_col &&
           lhs.file == rhs.file;
}

/* Nothing for a statement without a place. */
void
print_some_loc(Printer *p, Loc loc)
{
    if (!print_same_loc(loc, (Loc){0})) {
        print_loc(p, loc);
    }
}

/* --- expressions -------------------------------------------------------- */

/* nan has many bit patterns; the usual one is 'nan'. Reading back must give the
 * same bits, because constants are compared as bits. */
static void
print_float(Printer *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (isnan(value) && bits != UINT64_C(0x7ff8000000000000)) {
        str_addf(p->out, "nan#%016llx", (unsigned long long)bits);
    } else {
        str_add_double(p->out, value);
    }
}

/* Without a type for int64 and float64, which are most. float32 is printed by
 * the shortest decimal of the double that holds it. */
static void
print_const(Printer *p, const Expr *e)
{
    if (e->dtype == DT_BOOL) {
        str_add(p->out, e->ival ? "true" : "false");
        return;
    }
    if (dtype_is_float(e->dtype)) {
        print_float(p, e->fval);
    } else if (e->dtype == DT_U64) {
        str_addf(p->out, "%llu", (unsigned long long)e->ival);
    } else {
        str_addf(p->out, "%lld", (long long)e->ival);
    }
    if (e->dtype != DT_F64 && e->dtype != DT_I64) {
        print_type(p, e->dtype, 0);
    }
}

/* 'a, b, c' */
void
print_list(Printer *p, Expr *const *list, int n)
{
    for (int i = 0; i < n; i++) {
        str_add(p->out, i ? ", " : "");
        print_expr(p, list[i]);
    }
}

/* The lanes tell a vector's load from one that lacks an index. */
static void
print_load(Printer *p, const Expr *e)
{
    print_buf(p, e->buf);
    str_add(p->out, "[");
    print_list(p, e->args, e->nargs);
    str_add(p->out, "]");
    if (e->lanes) {
        str_addf(p->out, "<%d>", e->lanes);
    }
}

/* What stands between the operator and the operands. */
static void
print_payload(Printer *p, const Expr *e)
{
    switch ((int)e->op) {
    case E_SUM:
        str_addf(p->out, " %s", dtype_short(e->dtype));
        /* fall through */
    case E_DIM:
    case E_STRIDE:
        str_add(p->out, " ");
        print_buf(p, e->buf);
        str_addf(p->out, " %d", e->axis);
        break;
    case E_DISJOINT:
        str_add(p->out, " ");
        print_buf(p, e->buf);
        str_add(p->out, " ");
        print_buf(p, e->buf2);
        break;
    case E_CAST:
        str_addf(p->out, " %s", dtype_short(e->dtype));
        break;
    case E_CALL:
        str_addf(p->out, " %s", ir_fn_name(e->fn));
        print_type(p, e->dtype, 0);
        break;
    case E_SPLAT:
        str_addf(p->out, " %d", e->lanes);
        break;
    default:
        break;
    }
}

/* Prefix form: no precedence to get wrong, and the tree shows. */
void
print_expr(Printer *p, const Expr *e)
{
    if (!e) {
        str_add(p->out, "(null)");
        return;
    }
    if (e->op == E_CONST) {
        print_const(p, e);
    } else if (e->op == E_VAR) {
        print_var(p, e->var);
    } else if (e->op == E_LOAD) {
        print_load(p, e);
    } else {
        str_addf(p->out, "(%s", ir_op_name(e->op));
        print_payload(p, e);
        for (int i = 0; i < e->nargs; i++) {
            str_add(p->out, " ");
            print_expr(p, e->args[i]);
        }
        str_add(p->out, ")");
    }
}

void
ir_print_expr(const Expr *e, Str *out)
{
    Printer p = {.out = out};
    print_expr(&p, e);
}

/* --- buffers ------------------------------------------------------------ */

/* An axis whose extent is asked of the array itself: ':'. */
static bool
is_own_dim(const Buf *buf, int axis)
{
    const Expr *e = buf->dims[axis];
    return e && e->op == E_DIM && e->buf == buf && e->axis == axis;
}

/* The steps of 'buf' that are known, 0 for the others. */
static void
print_steps(Printer *p, const Buf *buf)
{
    bool known = false;
    for (int i = 0; i < buf->rank; i++) {
        known |= buf->steps[i] != 0;
    }
    for (int i = 0; known && i < buf->rank; i++) {
        str_addf(p->out, "%s %d", i ? "," : " steps", buf->steps[i]);
    }
}

/* The whole of 'buf'; 'number' is what "arg" is expected to be. Every property
 * that the reader would assume is left out: kind and number of a parameter, C
 * order of what is made here and any order of other memory, the heap. */
void
print_buf_whole(Printer *p, const Buf *buf, int number)
{
    bool foreign = buf && (buf->kind == BUF_ARG || buf->kind == BUF_REF);
    print_buf_name(p, buf);
    if (!buf) {
        return;
    }
    if (p->seen) {
        map_set(p->seen, buf, NULL);
    }
    print_type(p, buf->dtype, 0);
    str_add(p->out, "[");
    for (int i = 0; i < buf->rank; i++) {
        str_add(p->out, i ? ", " : "");
        if (is_own_dim(buf, i)) {
            str_add(p->out, ":");
        } else {
            print_expr(p, buf->dims[i]);
        }
    }
    str_add(p->out, "]");
    if (buf->kind != BUF_ARG || number < 0) {
        str_addf(p->out, " %s", text_kinds[buf->kind]);
    }
    if ((buf->layout == LAYOUT_C) == foreign) {
        str_add(p->out, buf->layout == LAYOUT_C ? " c" : " any");
    }
    print_steps(p, buf);
    str_add(p->out, buf->space == SPACE_STACK ? " stack" : "");
    str_add(p->out, buf->growable ? " grows" : "");
    if (buf->arg != number) {
        str_addf(p->out, " number=%d", buf->arg);
    }
}
