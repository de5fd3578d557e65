/* Expressions and buffers from text; read.c has the statements.
 *
 * Prefix form, one token ahead, so a descent by the first character:
 *
 *     %x.1  &a.0[...]  (op ...)  true  nan#...  or a number
 *
 * Only what is needed to build a node is checked; number, types and scope of
 * operands are for ir_verify.
 */
#include <stdlib.h>
#include <string.h>

#include "csrc/ir/text.h"

/* --- buffers ------------------------------------------------------------ */

/* '[:, n, 3]': ':' is the extent of the array itself. The expression of a
 * parameter's axis may be anything here; ir_verify wants a constant. */
static void
read_dims(Reader *r, Buf *buf)
{
    token_expect(r, "[");
    while (!r->error && !token_take(r, "]")) {
        if (buf->rank == MAX_RANK) {
            token_fail(r, "more than %d axes", MAX_RANK);
            return;
        }
        if (buf->rank > 0) {
            token_expect(r, ",");
        }
        int axis = buf->rank++;
        buf->dims[axis] =
            token_take(r, ":") ? ir_dim(r->arena, buf, axis) : read_expr(r);
    }
}

/* '&name.id:f64[dims] words'; 'kind' and 'number' are those it has if no word
 * says otherwise.  The same id again gives the same Buf, so that a second
 * ALLOC of it can be told from another buffer. */
Buf *
read_buf_whole(Reader *r, BufKind kind, int number)
{
    Buf *buf = ARENA_NEW(r->arena, Buf);
    token_expect(r, "&");
    buf->id = token_id(r, &buf->name);
    token_expect(r, ":");
    buf->dtype = token_type(r, NULL);
    if (r->error) {
        return buf;
    }
    while (r->bufs.n <= buf->id) {
        vec_push(r->arena, &r->bufs, NULL);
    }
    Buf *known = r->bufs.at[buf->id];
    r->bufs.at[buf->id] = known ? known : buf;
    read_dims(r, buf);

    int word = token_take_any(r, text_kinds);
    buf->kind = word < 0 ? kind : (BufKind)word;
    bool foreign = buf->kind == BUF_ARG || buf->kind == BUF_REF;
    buf->layout = foreign ? LAYOUT_ANY : LAYOUT_C;
    if (token_take_word(r, "c")) {
        buf->layout = LAYOUT_C;
    } else if (token_take_word(r, "any")) {
        buf->layout = LAYOUT_ANY;
    }
    bool steps = token_take_word(r, "steps");
    for (int i = 0; steps && i < buf->rank; i++) {
        if (i > 0) {
            token_expect(r, ",");
        }
        buf->steps[i] = (int)token_int(r, INT16_MIN, INT16_MAX);
    }
    buf->space = token_take_word(r, "stack") ? SPACE_STACK : SPACE_HEAP;
    buf->growable = token_take_word(r, "grows");
    buf->arg = token_take_word(r, "number") && token_take(r, "=")
                   ? (int)token_int(r, -1, MAX_ID)
                   : number;
    return known ? known : buf;
}

/* A buffer by its name, or whole: what another name for memory is stands where
 * it is mentioned first. */
Buf *
read_buf(Reader *r)
{
    token_skip(r);
    Sym name = NULL;
    const char *start = r->at;
    token_expect(r, "&");
    token_id(r, &name);
    bool whole = *r->at == ':';
    if (r->error) {
        return NULL;
    }
    r->at = start;
    return whole ? read_buf_whole(r, BUF_REF, -1) : token_buf(r);
}

/* --- expressions -------------------------------------------------------- */

/* Operands up to 'close', apart by 'comma' (or by blanks when it is ""). Ends
 * at an error too, or a text without 'close' would never end. */
ExprVec
read_list(Reader *r, const char *comma, const char *close)
{
    ExprVec list = {0};
    while (!r->error && !token_take(r, close)) {
        if (list.n > 0) {
            token_expect(r, comma);
        }
        Expr *e = read_expr(r);
        vec_push(r->arena, &list, e);
    }
    return list;
}

/* The buffer must be known; number and type of the indices are ir_verify's
 * affair. */
static Expr *
read_load(Reader *r)
{
    Buf *buf = read_buf(r);
    token_expect(r, "[");
    ExprVec index = read_list(r, ",", "]");
    int lanes = 0;
    if (*r->at == '<') {
        r->at++;
        lanes = (int)token_int(r, 0, MAX_ID);
        token_expect(r, ">");
    }
    return r->error ? NULL : ir_load(r->arena, buf, index.at, index.n, lanes);
}

/* The type after a literal; 'usual' when there is none. No blank may stand
 * before the ':'. */
static DType
literal_type(Reader *r, DType usual)
{
    if (*r->at != ':') {
        return usual;
    }
    r->at++;
    return token_type(r, NULL);
}

/* A literal with a point, an exponent, inf or nan. */
static Expr *
float_literal(Reader *r, double value)
{
    DType dtype = literal_type(r, DT_F64);
    if (!dtype_is_float(dtype)) {
        token_fail(r, "a float literal of an integer type");
    }
    return r->error ? NULL : ir_float(r->arena, dtype, value);
}

/* What follows 'nan#'. A nan of float32 is given by the bits of the double that
 * holds it. */
static Expr *
read_nan_bits(Reader *r)
{
    char *end = NULL;
    uint64_t bits = strtoull(r->at, &end, 16);
    double value;
    memcpy(&value, &bits, sizeof(value));
    r->at = end;
    return float_literal(r, value);
}

/* What looks like an integer is one, even before ':f64': '1:f64' is refused
 * rather than guessed at. The value is read unsigned, so that the largest u64
 * has room, and wrapped to its type by ir_int; '-' negates in unsigned
 * arithmetic, which also gives the least int64. */
static Expr *
read_number(Reader *r)
{
    size_t sign = strspn(r->at, "-+");
    size_t digits = strspn(r->at + sign, "0123456789");
    char after = r->at[sign + digits];
    if (digits == 0 || after == '.' || after == 'e') {
        const char *end = r->at;
        double value = str_to_double(r->at, &end);
        if (end == r->at) {
            token_fail(r, "an expression expected");
            return NULL;
        }
        r->at = end;
        return float_literal(r, value);
    }
    bool minus = *r->at == '-';
    char *end = NULL;
    uint64_t value = strtoull(r->at + sign, &end, 10);
    r->at = end;
    DType dtype = literal_type(r, DT_I64);
    if (dtype_is_float(dtype)) {
        token_fail(r, "an integer literal of a float type");
    }
    int64_t bits = (int64_t)(minus ? -value : value);
    return r->error ? NULL : ir_int(r->arena, dtype, bits);
}

/* The operator named by the 'n' bytes at 'word'. */
static bool
find_op(const char *word, size_t n, Op *out)
{
    for (int op = 0; op < E_COUNT; op++) {
        const char *name = ir_op_name((Op)op);
        if (strncmp(name, word, n) == 0 && name[n] == '\0') {
            *out = (Op)op;
            return true;
        }
    }
    return false;
}

/* A row of fn.def by its text. Linear, as all lookups of words here: texts are
 * short and read by tests. */
Fn
read_fn(Reader *r)
{
    size_t n = (token_skip(r), token_word_length(r->at));
    for (int fn = 0; fn < FN_COUNT; fn++) {
        const char *name = ir_fn_name((Fn)fn);
        if (strncmp(name, r->at, n) == 0 && name[n] == '\0') {
            r->at += n;
            return (Fn)fn;
        }
    }
    token_fail(r, "a function expected");
    return FN_SQRT;
}

/* '(dim &b.0 1)' and '(stride &b.0 1)' */
static Expr *
read_dim(Reader *r, Op op)
{
    Buf *buf = read_buf(r);
    int axis = (int)token_int(r, 0, MAX_ID);
    token_expect(r, ")");
    if (r->error) {
        return NULL;
    }
    return op == E_DIM ? ir_dim(r->arena, buf, axis)
                       : ir_stride(r->arena, buf, axis);
}

/* '(sum f64 &b.0 0 E E E E)', see SumKind */
static Expr *
read_sum(Reader *r)
{
    DType dtype = token_type(r, NULL);
    Buf *buf = read_buf(r);
    int kind = (int)token_int(r, 0, SUM_PARTS);
    ExprVec args = read_list(r, "", ")");
    return r->error ? NULL
                    : ir_sum(r->arena, (SumKind)kind, dtype, buf, args.at,
                             args.n);
}

/* '(disjoint &a.0 &b.1)' */
static Expr *
read_disjoint(Reader *r)
{
    Buf *lhs = read_buf(r);
    Buf *rhs = read_buf(r);
    token_expect(r, ")");
    return r->error ? NULL : ir_disjoint(r->arena, lhs, rhs);
}

/* '(call sin:f64 E)' */
static Expr *
read_call(Reader *r)
{
    Fn fn = read_fn(r);
    token_expect(r, ":");
    DType dtype = token_type(r, NULL);
    ExprVec args = read_list(r, "", ")");
    return r->error ? NULL : ir_call(r->arena, fn, dtype, args.at, args.n);
}

/* '(cast f32 E)' and '(splat 3 E)' */
static Expr *
read_cast(Reader *r)
{
    DType dtype = token_type(r, NULL);
    Expr *arg = read_expr(r);
    token_expect(r, ")");
    return r->error ? NULL : ir_cast(r->arena, dtype, arg);
}

/* '(splat 3 E)' */
static Expr *
read_splat(Reader *r)
{
    int lanes = (int)token_int(r, 0, MAX_ID);
    Expr *arg = read_expr(r);
    token_expect(r, ")");
    return r->error ? NULL : ir_splat(r->arena, arg, lanes);
}

/* What follows '('. CONST, VAR and LOAD have rows in node.def but a form of
 * their own. */
static Expr *
read_node(Reader *r)
{
    Op op = E_ADD;
    size_t n = (token_skip(r), token_word_length(r->at));
    if (!find_op(r->at, n, &op)) {
        token_fail(r, "an operator expected");
        return NULL;
    }
    r->at += n;
    switch ((int)op) {
    case E_CONST:
    case E_VAR:
    case E_LOAD:
        token_fail(r, "an operator expected");
        return NULL;
    case E_SUM:
        return read_sum(r);
    case E_DIM:
    case E_STRIDE:
        return read_dim(r, op);
    case E_DISJOINT:
        return read_disjoint(r);
    case E_CALL:
        return read_call(r);
    case E_CAST:
        return read_cast(r);
    case E_SPLAT:
        return read_splat(r);
    default: {
        ExprVec args = read_list(r, "", ")");
        return r->error ? NULL : ir_node(r->arena, op, args.at, args.n);
    }
    }
}

/* An expression that begins with no parenthesis, or what follows one. */
static Expr *
read_some_expr(Reader *r)
{
    if (*r->at == '%') {
        Var *var = token_var(r);
        return r->error ? NULL : ir_ref(r->arena, var);
    }
    if (*r->at == '&') {
        return read_load(r);
    }
    if (token_take_word(r, "true")) {
        return ir_bool(r->arena, true);
    }
    if (token_take_word(r, "false")) {
        return ir_bool(r->arena, false);
    }
    if (token_take(r, "nan#")) {
        return read_nan_bits(r);
    }
    return token_take(r, "(") ? read_node(r) : read_number(r);
}

/* Counts the depth, so that no text can exhaust the stack. */
Expr *
read_expr(Reader *r)
{
    token_skip(r);
    if (r->depth == MAX_TEXT_DEPTH) {
        token_fail(r, "nested too deeply");
    }
    if (r->error) {
        return NULL;
    }
    r->depth++;
    Expr *e = read_some_expr(r);
    r->depth--;
    return e;
}
