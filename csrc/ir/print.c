/* IR as text; text.h shows the form.
 *
 * Printing never fails: a broken function is printed too, because that is when
 * one wants to see it.  Everything that a function holds is printed, except the
 * Locs of expressions, so reading the text back gives an equal function. What a
 * field has by default is left out.
 *
 * Which Vars have been printed with their type is kept in "seen": the first
 * mention in the text is the definition in a sound function, so each type
 * stands once and where it is wanted.
 */
#include <math.h>
#include <string.h>

#include "csrc/ir/ir.h"
#include "csrc/ir/print.h"
#include "csrc/ir/text.h"

const char *const text_levels[] = {"array", "loops", "sched", NULL};
const char *const text_actions[] = {"replay", "bail", NULL};
const char *const text_excs[] = {
    "index",  "zero_division", "overflow", "value",     "type", "unbound",
    "assert", "raise",         "memory",   "speculate", NULL,
};
const char *const text_warns[] = {"divide", "overflow", "invalid", NULL};
const char *const text_modes[] = {"serial", "parallel", "vector", NULL};
const char *const text_kinds[] = {"arg", "result", "local", "ref", NULL};

_Static_assert(sizeof(text_excs) / sizeof(char *) == X_COUNT + 1,
               "words of Exc");

static void print_block(Printer *p, const Block *block);

/* --- statements --------------------------------------------------------- */

/* Indentation and the first word of a line. */
static void
start(Printer *p, const char *word)
{
    for (int i = 0; i < p->depth; i++) {
        str_add(p->out, "  ");
    }
    str_add(p->out, word);
}

/* The place, if there is one, is the last thing on a line. */
static void
end_line(Printer *p, Loc loc)
{
    print_some_loc(p, loc);
    str_add(p->out, "\n");
}

/* ' {', the block one step deeper, '}' without the end of the line. */
static void
print_braces(Printer *p, const Block *block)
{
    str_add(p->out, " {\n");
    p->depth++;
    print_block(p, block);
    p->depth--;
    start(p, "}");
}

/* A line of a word and an expression. */
static void
print_word(Printer *p, const char *word, const Expr *e)
{
    start(p, word);
    str_add(p->out, " ");
    print_expr(p, e);
    str_add(p->out, "\n");
}

/* Joins follow the IF: they are definitions of the block around it. An empty
 * 'else' is left out even where joins follow. */
static void
print_if(Printer *p, const Stmt *s)
{
    start(p, "if ");
    print_expr(p, s->value);
    print_some_loc(p, s->loc);
    print_braces(p, &s->body);
    if (s->els.n) {
        str_add(p->out, " else");
        print_braces(p, &s->els);
    }
    str_add(p->out, "\n");
    for (int i = 0; i < s->njoins; i++) {
        start(p, "join ");
        print_var(p, s->joins[i].out);
        str_add(p->out, " = ");
        print_expr(p, s->joins[i].then_val);
        str_add(p->out, ", ");
        print_expr(p, s->joins[i].else_val);
        str_add(p->out, "\n");
    }
    for (int i = 0; i < s->nbinds; i++) {
        start(p, "join ");
        print_buf(p, s->binds[i].out);
        str_add(p->out, " = ");
        print_buf(p, s->binds[i].init);
        str_add(p->out, ", ");
        print_buf(p, s->binds[i].next);
        str_add(p->out, "\n");
    }
}

/* '#id mode poll charged @loc {' */
static void
print_loop_head(Printer *p, const Stmt *s)
{
    str_addf(p->out, " #%d", s->id);
    if (s->mode != LOOP_SERIAL) {
        str_addf(p->out, " %s", text_modes[s->mode]);
    }
    str_add(p->out, s->poll ? " poll" : "");
    str_add(p->out, s->charged ? " charged" : "");
    print_some_loc(p, s->loc);
    str_add(p->out, " {\n");
    p->depth++;
    for (int i = 0; i < s->ncarries; i++) {
        start(p, "carry ");
        print_var(p, s->carries[i].var);
        str_add(p->out, " = ");
        print_expr(p, s->carries[i].init);
        str_add(p->out, "\n");
    }
    for (int i = 0; i < s->nbinds; i++) {
        start(p, "carry ");
        print_buf(p, s->binds[i].var);
        str_add(p->out, " = ");
        print_buf(p, s->binds[i].init);
        str_add(p->out, "\n");
    }
}

/* 'next' and 'until' stand at the end of the body, where they are evaluated
 * and where its names are known. */
static void
print_loop_tail(Printer *p, const Stmt *s)
{
    print_block(p, &s->body);
    for (int i = 0; i < s->ncarries; i++) {
        start(p, "next ");
        print_var(p, s->carries[i].var);
        str_add(p->out, " = ");
        print_expr(p, s->carries[i].next);
        if (s->carries[i].out) {
            str_add(p->out, " -> ");
            print_var(p, s->carries[i].out);
        }
        str_add(p->out, "\n");
    }
    for (int i = 0; i < s->nbinds; i++) {
        start(p, "next ");
        print_buf(p, s->binds[i].var);
        str_add(p->out, " = ");
        print_buf(p, s->binds[i].next);
        str_add(p->out, " -> ");
        print_buf(p, s->binds[i].out);
        str_add(p->out, "\n");
    }
    if (s->until) {
        print_word(p, "until", s->until);
    }
    p->depth--;
    start(p, "}\n");
}

/* Its variable, like all definitions, is a first mention. */
static void
print_for(Printer *p, const Stmt *s)
{
    start(p, "for ");
    print_var(p, s->var);
    str_add(p->out, " in ");
    print_expr(p, s->lo);
    str_add(p->out, ", ");
    print_expr(p, s->hi);
    print_loop_head(p, s);
    print_loop_tail(p, s);
}

/* The test follows what it needs, 'pre'. */
static void
print_while(Printer *p, const Stmt *s)
{
    start(p, "while");
    print_loop_head(p, s);
    if (s->pre.n) {
        start(p, "pre");
        print_braces(p, &s->pre);
        str_add(p->out, "\n");
    }
    print_word(p, "test", s->value);
    print_loop_tail(p, s);
}

/* A target for LEAVE. */
static void
print_scope(Printer *p, const Stmt *s)
{
    start(p, "scope");
    print_some_loc(p, s->loc);
    print_braces(p, &s->body);
    str_add(p->out, "\n");
}

/* LET and SET. */
static void
print_assign(Printer *p, const char *word, const Stmt *s)
{
    start(p, word);
    print_var(p, s->var);
    str_add(p->out, " = ");
    print_expr(p, s->value);
}

static void
print_store(Printer *p, const Stmt *s)
{
    start(p, "store ");
    print_buf(p, s->buf);
    str_add(p->out, "[");
    print_list(p, s->index, s->nindex);
    str_add(p->out, "] = ");
    print_expr(p, s->value);
    str_add(p->out, s->logged ? " logged" : "");
}

/* The box that is left alone, if any: lo, hi per axis. */
static void
print_fill(Printer *p, const Stmt *s)
{
    start(p, "fill ");
    print_buf(p, s->buf);
    str_add(p->out, " = ");
    print_expr(p, s->value);
    if (s->has_keep) {
        str_add(p->out, " keep [");
        print_list(p, s->index, s->nindex);
        str_add(p->out, "]");
    }
}

/* BIND, and VIEW, which goes on with where the part begins and, for each axis
 * of it, the axis of the whole, the extent and the step. */
static void
print_name_of(Printer *p, const Stmt *s)
{
    bool view = s->kind == S_VIEW;
    start(p, view ? "view " : "bind ");
    print_buf(p, s->buf);
    str_add(p->out, " = ");
    print_buf(p, s->src);
    if (!view || !s->src || !s->buf ||
        s->nindex != s->src->rank + 2 * s->buf->rank) {
        return;
    }
    Expr *const *over = s->index + s->src->rank;
    str_add(p->out, " at [");
    print_list(p, s->index, s->src->rank);
    str_add(p->out, "] over [");
    for (int k = 0; k < s->buf->rank; k++) {
        str_addf(p->out, "%s%d: ", k ? ", " : "", s->axes[k]);
        print_expr(p, over[2 * k]);
        str_add(p->out, " by ");
        print_expr(p, over[2 * k + 1]);
    }
    str_add(p->out, "]");
}

/* The place of the buffer is printed if it is not the statement's. */
static void
print_alloc(Printer *p, const Stmt *s)
{
    start(p, "alloc ");
    print_buf_whole(p, s->buf, -1);
    if (s->buf && !print_same_loc(s->buf->loc, s->loc)) {
        str_add(p->out, " made");
        print_loc(p, s->buf->loc);
    }
}

/* Statements of one line, without its end. */
static void
print_simple(Printer *p, const Stmt *s)
{
    switch ((int)s->kind) {
    case S_LET:
        print_assign(p, "let ", s);
        break;
    case S_SET:
        print_assign(p, "set ", s);
        break;
    case S_STORE:
        print_store(p, s);
        break;
    case S_CHECK:
        start(p, "check ");
        print_expr(p, s->value);
        str_addf(p->out, " %s %s", text_excs[s->exc], text_actions[s->action]);
        break;
    case S_WARN:
        start(p, "warn ");
        print_expr(p, s->value);
        str_addf(p->out, " %s", text_warns[s->warn]);
        if (s->what) {
            str_addf(p->out, " of %s", s->what);
        }
        break;
    case S_ALLOC:
        print_alloc(p, s);
        break;
    case S_FILL:
        print_fill(p, s);
        break;
    case S_GROW:
        start(p, "grow ");
        print_buf(p, s->buf);
        str_add(p->out, " to ");
        print_expr(p, s->value);
        break;
    case S_ROUTINE:
        start(p, "routine ");
        str_addf(p->out, "%s ", ir_routine_name(s->routine));
        if (s->routine == ROUTINE_LOOP) {
            str_addf(p->out, "%s ", ir_fn_name(s->fn));
        }
        print_buf(p, s->buf);
        str_add(p->out, " of [");
        print_list(p, s->index, s->nindex);
        str_add(p->out, "]");
        break;
    case S_VIEW:
    case S_BIND:
        print_name_of(p, s);
        break;
    case S_LEAVE:
        start(p, "leave");
        break;
    case S_BREAK:
        start(p, "break");
        break;
    case S_CONTINUE:
        start(p, "continue");
        break;
    case S_SHADOW:
        start(p, "shadow");
        break;
    default:
        start(p, "; unknown statement");
        break;
    }
}

/* One statement a line, blocks indented. */
static void
print_block(Printer *p, const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        switch ((int)s->kind) {
        case S_IF:
            print_if(p, s);
            break;
        case S_FOR:
            print_for(p, s);
            break;
        case S_WHILE:
            print_while(p, s);
            break;
        case S_SCOPE:
            print_scope(p, s);
            break;
        default:
            print_simple(p, s);
            end_line(p, s->loc);
            break;
        }
    }
}

/* For messages: Vars are printed without types. */
void
ir_print_stmt(const Stmt *s, Str *out)
{
    Printer p = {.out = out};
    Stmt *list[1];
    memcpy(list, &s, sizeof(s));
    print_block(&p, &(Block){list, 1, 1});
}

/* The name that the caller uses, then the Var or Buf. */
static void
print_param(Printer *p, const Param *param, int number)
{
    start(p, "param ");
    print_name(p, param->name);
    if (param->var) {
        str_add(p->out, " ");
        print_var(p, param->var);
    }
    if (param->buf) {
        str_add(p->out, " ");
        print_buf_whole(p, param->buf, number);
        print_some_loc(p, param->buf->loc);
    }
    str_add(p->out, "\n");
}

/* A value or a buffer. */
static void
print_ret(Printer *p, const Ret *ret)
{
    start(p, "ret");
    if (ret->value) {
        str_add(p->out, " ");
        print_expr(p, ret->value);
    }
    if (ret->buf) {
        str_add(p->out, " ");
        print_buf(p, ret->buf);
    }
    str_add(p->out, "\n");
}

/* Names are shown as they are defined: parameters, body, results. */
void
ir_print(const Func *func, Str *out)
{
    Map seen = map_new(out->arena);
    Printer p = {.out = out, .seen = &seen};
    str_add(out, "func ");
    print_name(&p, func->name);
    str_addf(out, " %s", text_levels[func->level]);
    str_add(out, func->general ? " general" : "");
    print_some_loc(&p, func->loc);
    str_add(out, " {\n");
    p.depth = 1;
    for (int i = 0; i < func->params.n; i++) {
        print_param(&p, &func->params.at[i], i);
    }
    print_block(&p, &func->body);
    for (int i = 0; i < func->rets.n; i++) {
        print_ret(&p, &func->rets.at[i]);
    }
    str_add(out, "}\n");
}
