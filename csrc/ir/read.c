/* IR from text (text.h shows the form), by recursive descent.
 *
 * The reader checks only what it needs to build nodes: words, names, types of
 * literals.  Whether the function makes sense is for ir_verify to say, and the
 * tests of ir_verify are written in this text, so nearly every broken function
 * can be read: operands of unequal types, a Var assigned twice or used before
 * its definition (it then carries its type at the first mention), a loop
 * without its parts.
 */
#include <stdlib.h>
#include <string.h>

#include "csrc/ir/text.h"

static Expr *read_expr(Reader *r);
static void read_stmts(Reader *r, Block *out, Stmt *loop);

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
static Buf *
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
    buf->layout = buf->kind == BUF_ARG ? LAYOUT_ANY : LAYOUT_C;
    if (token_take_word(r, "c")) {
        buf->layout = LAYOUT_C;
    } else if (token_take_word(r, "any")) {
        buf->layout = LAYOUT_ANY;
    }
    buf->space = token_take_word(r, "stack") ? SPACE_STACK : SPACE_HEAP;
    buf->growable = token_take_word(r, "grows");
    buf->arg = token_take_word(r, "number") && token_take(r, "=")
                   ? (int)token_int(r, -1, MAX_ID)
                   : number;
    return known ? known : buf;
}

/* --- expressions -------------------------------------------------------- */

/* Operands up to 'close', apart by 'comma' (or by blanks when it is ""). Ends
 * at an error too, or a text without 'close' would never end. */
static ExprVec
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
    Buf *buf = token_buf(r);
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
static Fn
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

/* '(dim &b.0 1)' */
static Expr *
read_dim(Reader *r)
{
    Buf *buf = token_buf(r);
    int axis = (int)token_int(r, 0, MAX_ID);
    token_expect(r, ")");
    return r->error ? NULL : ir_dim(r->arena, buf, axis);
}

/* '(sum f64 &b.0 0 E E E E)', see SumKind */
static Expr *
read_sum(Reader *r)
{
    DType dtype = token_type(r, NULL);
    Buf *buf = token_buf(r);
    int kind = (int)token_int(r, 0, SUM_SQUARES);
    ExprVec args = read_list(r, "", ")");
    return r->error ? NULL
                    : ir_sum(r->arena, (SumKind)kind, dtype, buf, args.at,
                             args.n);
}

/* '(disjoint &a.0 &b.1)' */
static Expr *
read_disjoint(Reader *r)
{
    Buf *lhs = token_buf(r);
    Buf *rhs = token_buf(r);
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
        return read_dim(r);
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
static Expr *
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

/* --- statements --------------------------------------------------------- */

/* '{ statements }'; 'loop' lets 'next' and 'until' in. */
static void
read_block(Reader *r, Block *out, Stmt *loop)
{
    token_expect(r, "{");
    if (++r->depth > MAX_TEXT_DEPTH) {
        token_fail(r, "nested too deeply");
    }
    read_stmts(r, out, loop);
    r->depth--;
}

/* The joins are read here, though they stand behind the block. */
static void
read_if(Reader *r, Stmt *s)
{
    VEC(Join) joins = {0};
    s->value = read_expr(r);
    s->loc = token_loc(r);
    read_block(r, &s->body, NULL);
    if (token_take_word(r, "else")) {
        read_block(r, &s->els, NULL);
    }
    while (token_take_word(r, "join")) {
        Join join = {0};
        join.out = token_var(r);
        token_expect(r, "=");
        join.then_val = read_expr(r);
        token_expect(r, ",");
        join.else_val = read_expr(r);
        vec_push(r->arena, &joins, join);
    }
    s->joins = joins.at;
    s->njoins = joins.n;
}

/* Before the body: 'carry %x = init'. "next" and "out" come with the 'next'
 * lines at the end of the body. */
static void
read_carries(Reader *r, Stmt *s)
{
    VEC(Carry) carries = {0};
    while (token_take_word(r, "carry")) {
        Carry carry = {0};
        carry.var = token_var(r);
        token_expect(r, "=");
        carry.init = read_expr(r);
        vec_push(r->arena, &carries, carry);
    }
    s->carries = carries.at;
    s->ncarries = carries.n;
}

/* Finds the carry by its Var, so their order does not matter. */
static void
read_next(Reader *r, Stmt *loop)
{
    Var *var = token_var(r);
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &loop->carries[i];
        if (carry->var == var && var) {
            token_expect(r, "=");
            carry->next = read_expr(r);
            carry->out = token_take(r, "->") ? token_var(r) : NULL;
            return;
        }
    }
    token_fail(r, "'next' of what is not carried");
}

/* From '#id' to the closing brace. A second 'test' or 'until' would overwrite
 * the first; a missing one is NULL, which ir_verify refuses where it must be
 * there. */
static void
read_loop(Reader *r, Stmt *s)
{
    token_expect(r, "#");
    s->id = (int)token_int(r, 0, MAX_ID);
    if (s->id >= r->func->next_id) {
        r->func->next_id = s->id + 1;
    }
    int mode = token_take_any(r, text_modes);
    s->mode = mode < 0 ? LOOP_SERIAL : (LoopMode)mode;
    s->poll = token_take_word(r, "poll");
    s->loc = token_loc(r);
    token_expect(r, "{");
    read_carries(r, s);
    if (s->kind == S_WHILE) {
        if (token_take_word(r, "pre")) {
            read_block(r, &s->pre, NULL);
        }
        if (token_take_word(r, "test")) {
            s->value = read_expr(r);
        }
    }
    if (++r->depth > MAX_TEXT_DEPTH) {
        token_fail(r, "nested too deeply");
    }
    read_stmts(r, &s->body, s);
    r->depth--;
}

/* '%i in lo, hi' and what all loops have. */
static void
read_for(Reader *r, Stmt *s)
{
    s->var = token_var(r);
    if (!token_take_word(r, "in")) {
        token_fail(r, "'in' expected");
    }
    s->lo = read_expr(r);
    token_expect(r, ",");
    s->hi = read_expr(r);
    read_loop(r, s);
}

/* LET and SET. */
static void
read_assign(Reader *r, Stmt *s)
{
    s->var = token_var(r);
    token_expect(r, "=");
    s->value = read_expr(r);
}

/* '&b[i, j] = value', perhaps 'logged'. */
static void
read_store(Reader *r, Stmt *s)
{
    s->buf = token_buf(r);
    token_expect(r, "[");
    ExprVec index = read_list(r, ",", "]");
    s->index = index.at;
    s->nindex = index.n;
    token_expect(r, "=");
    s->value = read_expr(r);
    s->logged = token_take_word(r, "logged");
}

/* '&b = value', perhaps 'keep [lo, hi, ...]'. */
static void
read_fill(Reader *r, Stmt *s)
{
    s->buf = token_buf(r);
    token_expect(r, "=");
    s->value = read_expr(r);
    s->has_keep = token_take_word(r, "keep");
    if (s->has_keep) {
        token_expect(r, "[");
        ExprVec index = read_list(r, ",", "]");
        s->index = index.at;
        s->nindex = index.n;
    }
}

/* '&b to room' */
static void
read_grow(Reader *r, Stmt *s)
{
    s->buf = token_buf(r);
    token_expect(r, "to");
    s->value = read_expr(r);
}

/* 'cond exception action' */
static void
read_check(Reader *r, Stmt *s)
{
    s->value = read_expr(r);
    s->exc = (Exc)token_any(r, text_excs, "an exception");
    s->action = (Action)token_any(r, text_actions, "'replay' or 'bail'");
}

/* 'cond warning' */
static void
read_warn(Reader *r, Stmt *s)
{
    s->value = read_expr(r);
    s->warn = (Warn)token_any(r, text_warns, "a warning");
}

/* The buffer's own place is given if it differs. */
static void
read_alloc(Reader *r, Stmt *s)
{
    s->buf = read_buf_whole(r, BUF_LOCAL, -1);
    bool apart = token_take_word(r, "made");
    Loc made = apart ? token_loc(r) : (Loc){0};
    s->loc = token_loc(r);
    s->buf->loc = apart ? made : s->loc;
}

static void
read_scope(Reader *r, Stmt *s)
{
    s->loc = token_loc(r);
    read_block(r, &s->body, NULL);
}

/* A statement word and what reads the rest.
 *
 *   "word"  as text.h shows it; "kind"  of the Stmt that it makes.
 *   "read"  takes the text behind the word; NULL: there is none.
 *   "loc"  a Loc ends the statement; else "read" takes it where it stands. */
typedef struct StmtRow {
    const char *word;
    StmtKind kind;
    void (*read)(Reader *r, Stmt *s);
    bool loc;
} StmtRow;

static const StmtRow stmt_rows[] = {
    {"let", S_LET, read_assign, true},     {"set", S_SET, read_assign, true},
    {"store", S_STORE, read_store, true},  {"check", S_CHECK, read_check, true},
    {"warn", S_WARN, read_warn, true},     {"if", S_IF, read_if, false},
    {"for", S_FOR, read_for, false},       {"while", S_WHILE, read_loop, false},
    {"alloc", S_ALLOC, read_alloc, false}, {"fill", S_FILL, read_fill, true},
    {"scope", S_SCOPE, read_scope, false}, {"leave", S_LEAVE, NULL, true},
    {"break", S_BREAK, NULL, true},        {"continue", S_CONTINUE, NULL, true},
    {"shadow", S_SHADOW, NULL, true},      {"grow", S_GROW, read_grow, true},
    {NULL, S_COUNT, NULL, false},
};

/* One statement; false when none begins here. */
static bool
read_stmt(Reader *r, Block *out)
{
    const StmtRow *row = stmt_rows;
    while (row->word && !token_take_word(r, row->word)) {
        row++;
    }
    if (!row->word) {
        return false;
    }
    Stmt *s = ir_stmt(r->arena, row->kind, (Loc){0});
    if (row->read) {
        row->read(r, s);
    }
    if (row->loc) {
        s->loc = token_loc(r);
    }
    vec_push(r->arena, out, s);
    return true;
}

/* Statements up to the '}' ; of a 'loop' also its 'next' and 'until'. */
static void
read_stmts(Reader *r, Block *out, Stmt *loop)
{
    while (!r->error && !token_take(r, "}")) {
        if (loop && token_take_word(r, "next")) {
            read_next(r, loop);
        } else if (loop && token_take_word(r, "until")) {
            loop->until = read_expr(r);
        } else if (!read_stmt(r, out)) {
            token_fail(r, "a statement expected");
        }
    }
}

/* --- functions ---------------------------------------------------------- */

/* 'name %var' or 'name &buf[...]'; neither is for ir_verify to refuse. Its
 * number is its position, so the host's order is that of the text. */
static void
read_param(Reader *r)
{
    Param param = {0};
    param.name = token_name(r);
    token_skip(r);
    if (*r->at == '%') {
        param.var = token_var(r);
    }
    token_skip(r);
    if (*r->at == '&') {
        param.buf = read_buf_whole(r, BUF_ARG, r->func->params.n);
        param.buf->loc = token_loc(r);
    }
    vec_push(r->arena, &r->func->params, param);
}

/* 'ret &b.0' returns the buffer, 'ret &b.0[i]' an element. A lone 'ret' (or one
 * before the next 'ret') has neither, for ir_verify to refuse. */
static void
read_ret(Reader *r)
{
    Ret ret = {0};
    token_skip(r);
    const char *start = r->at;
    if (*start == '&') {
        ret.buf = token_buf(r);
        token_skip(r);
        if (*r->at == '[') {
            ret.buf = NULL;
            r->at = start;
        }
    }
    if (!ret.buf && *r->at != '}' && !r->error &&
        strncmp(r->at, "ret", 3) != 0) {
        ret.value = read_expr(r);
    }
    vec_push(r->arena, &r->func->rets, ret);
}

/* Parameters, statements, rets, in this order. */
static void
read_func(Reader *r)
{
    Func *func = r->func;
    token_expect(r, "func");
    func->name = token_name(r);
    func->level = (Level)token_any(r, text_levels, "a level");
    func->general = token_take_word(r, "general");
    func->loc = token_loc(r);
    token_expect(r, "{");
    while (token_take_word(r, "param")) {
        read_param(r);
    }
    while (read_stmt(r, &func->body)) {
        continue;
    }
    while (token_take_word(r, "ret")) {
        read_ret(r);
    }
    token_expect(r, "}");
    token_skip(r);
    if (*r->at) {
        token_fail(r, "text after the function");
    }
}

/* The ids of the text are kept; next_id is one more than the largest. */
Func *
ir_read(Arena *arena, const char *text, const char **error)
{
    Reader r = {.arena = arena, .text = text, .at = text};
    r.func = ir_func(arena, sym(""), L_ARRAY);
    read_func(&r);
    if (r.error) {
        *error = r.error;
        return NULL;
    }
    return r.func;
}
