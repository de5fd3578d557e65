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

static void read_stmts(Reader *r, Block *out, Stmt *loop);

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

typedef VEC(Bind) BindVec;

/* Does a buffer come next? */
static bool
at_buf(Reader *r)
{
    token_skip(r);
    return *r->at == '&';
}

/* '&out = &then, &else' */
static void
read_bind_join(Reader *r, BindVec *binds)
{
    Bind bind = {0};
    bind.out = read_buf(r);
    token_expect(r, "=");
    bind.init = read_buf(r);
    token_expect(r, ",");
    bind.next = read_buf(r);
    vec_push(r->arena, binds, bind);
}

/* The joins are read here, though they stand behind the block. */
static void
read_if(Reader *r, Stmt *s)
{
    VEC(Join) joins = {0};
    BindVec binds = {0};
    s->value = read_expr(r);
    s->loc = token_loc(r);
    read_block(r, &s->body, NULL);
    if (token_take_word(r, "else")) {
        read_block(r, &s->els, NULL);
    }
    while (token_take_word(r, "join")) {
        if (at_buf(r)) {
            read_bind_join(r, &binds);
            continue;
        }
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
    s->binds = binds.at;
    s->nbinds = binds.n;
}

/* Before the body: 'carry %x = init'. "next" and "out" come with the 'next'
 * lines at the end of the body. */
static void
read_carries(Reader *r, Stmt *s)
{
    VEC(Carry) carries = {0};
    BindVec binds = {0};
    while (token_take_word(r, "carry")) {
        Carry carry = {0};
        if (at_buf(r)) {
            Bind bind = {.var = read_buf(r)};
            token_expect(r, "=");
            bind.init = read_buf(r);
            vec_push(r->arena, &binds, bind);
            continue;
        }
        carry.var = token_var(r);
        token_expect(r, "=");
        carry.init = read_expr(r);
        vec_push(r->arena, &carries, carry);
    }
    s->carries = carries.at;
    s->ncarries = carries.n;
    s->binds = binds.at;
    s->nbinds = binds.n;
}

/* '&var = &next -> &out', after 'next'. */
static void
read_next_bind(Reader *r, Stmt *loop)
{
    const Buf *var = read_buf(r);
    for (int i = 0; i < loop->nbinds; i++) {
        Bind *bind = &loop->binds[i];
        if (bind->var == var && var) {
            token_expect(r, "=");
            bind->next = read_buf(r);
            token_expect(r, "->");
            bind->out = read_buf(r);
            return;
        }
    }
    token_fail(r, "'next' of what is not carried");
}

/* Finds the carry by its Var, so their order does not matter. */
static void
read_next(Reader *r, Stmt *loop)
{
    if (at_buf(r)) {
        read_next_bind(r, loop);
        return;
    }
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
    s->charged = token_take_word(r, "charged");
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
    s->buf = read_buf(r);
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
    s->buf = read_buf(r);
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

/* 'dot &b of [(sum ...), (sum ...)]' */
static void
read_routine(Reader *r, Stmt *s)
{
    int k = 0;
    while (k < ROUTINE_COUNT &&
           !token_take_word(r, ir_routine_name((Routine)k))) {
        k++;
    }
    if (k == ROUTINE_COUNT) {
        token_fail(r, "a routine expected");
        return;
    }
    s->routine = (Routine)k;
    if (k == ROUTINE_LOOP) {
        s->fn = read_fn(r);
    }
    s->buf = read_buf(r);
    token_expect(r, "of");
    token_expect(r, "[");
    ExprVec operands = read_list(r, ",", "]");
    s->index = operands.at;
    s->nindex = operands.n;
}

/* '&b = &src', then of a view ' at [starts] over [axis: extent by step, ...]';
 * its list of indices is the starts, then extents and steps. */
static void
read_name_of(Reader *r, Stmt *s)
{
    s->buf = read_buf(r);
    token_expect(r, "=");
    s->src = read_buf(r);
    if (s->kind != S_VIEW) {
        return;
    }
    token_expect(r, "at");
    token_expect(r, "[");
    ExprVec index = read_list(r, ",", "]");
    token_expect(r, "over");
    token_expect(r, "[");
    for (int k = 0; !r->error && !token_take(r, "]"); k++) {
        if (k > 0) {
            token_expect(r, ",");
        }
        if (k == MAX_RANK) {
            token_fail(r, "more than %d axes", MAX_RANK);
            return;
        }
        s->axes[k] = (int)token_int(r, AXIS_PACKED, MAX_RANK);
        token_expect(r, ":");
        Expr *extent = read_expr(r);
        vec_push(r->arena, &index, extent);
        token_expect(r, "by");
        Expr *step = read_expr(r);
        vec_push(r->arena, &index, step);
    }
    s->index = index.at;
    s->nindex = index.n;
}

/* '&b to room' */
static void
read_grow(Reader *r, Stmt *s)
{
    s->buf = read_buf(r);
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

/* 'cond warning', 'of' and the operation's name */
static void
read_warn(Reader *r, Stmt *s)
{
    s->value = read_expr(r);
    s->warn = (Warn)token_any(r, text_warns, "a warning");
    s->what = token_take_word(r, "of") ? token_name(r) : NULL;
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
    {"routine", S_ROUTINE, read_routine, true},
    {"view", S_VIEW, read_name_of, true},  {"bind", S_BIND, read_name_of, true},
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
        ret.buf = read_buf(r);
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
    if (!r->error) {
        ir_set_groups(func);
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
