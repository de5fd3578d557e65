/* Statements as C text, but for loops (cnest.c) and memory (cmem.c).
 *
 *     let %v.7:f64 = (mul %a.2 2.0)             const double v_7 = a_2 * 2.0;
 *     check (lt %i.4 %n.1) index replay         if (vz_rare(i_4 >= n_1)) {
 *                                                   return VZ_REPLAY;
 *                                               }
 *
 * Every SSA value is a constant of the smallest scope; what an IF hands out
 * is a variable assigned in both branches.
 */
#include <string.h>

#include "csrc/emit/cgen.h"

void
c_open(Gen *g)
{
    g->frame->text.indent += C_INDENT;
}

void
c_close(Gen *g)
{
    g->frame->text.indent -= C_INDENT;
    LINE(g, "}");
}

int
c_lanes(const Var *var)
{
    return var->lanes ? var->lanes : 1;
}

const char *
c_var_type(const Var *var)
{
    return var->dtype == DT_BOOL ? "_Bool" : c_type(var->dtype);
}

/* A function that has memory to free passes by its end. */
static void
leave(Gen *g, const char *status)
{
    if (g->frame->unwinds) {
        LINE(g, "status = %s;", status);
        LINE(g, "goto done;");
    } else {
        LINE(g, "return %s;", status);
    }
}

void
c_exit_if(Gen *g, const char *condition, const char *status)
{
    LINE(g, "if (%s) {", condition);
    c_open(g);
    leave(g, status);
    c_close(g);
}

void
c_fail_if(Gen *g, const char *condition, const char *status, int check)
{
    LINE(g, "if (vz_rare(%s)) {", condition);
    c_open(g);
    if (!g->people && check > 0) {
        LINE(g, "ctx->failed = %d;", check);
    }
    leave(g, status);
    c_close(g);
}

/* --- lines of the user's source ------------------------------------------ */

/* The source's line as a comment that can't end early. Neither may it become a
 * trigraph or, outside ASCII, turn the direction of the text that a reader
 * sees. */
static void
comment_line(Gen *g, Loc loc)
{
    const char *text = g->diags->sources.at[loc.file].text;
    for (uint32_t line = 1; text && line < loc.line; line++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    Str out = str_new(g->arena);
    while (text && (*text == ' ' || *text == '\t')) {
        text++;
    }
    for (; text && *text && *text != '\n'; text++) {
        char last = out.n > 0 ? out.at[out.n - 1] : ' ';
        bool ok = *text >= ' ' && *text <= '~' && *text != '?' &&
                  !(*text == '/' && last == '*') &&
                  !(*text == '*' && last == '/');
        str_add_n(&out, ok ? text : ".", 1);
    }
    LINE(g, "/* %s%u%s%s */", text ? "" : "line ", loc.line, text ? ": " : "",
         out.at);
}

/* The source line that the C compiler takes the next line of text for. Counts
 * the newlines since it was asked last, so that the whole of a function is
 * looked at once. */
static uint32_t
presumed_line(Frame *frame)
{
    const char *at = frame->text.at + frame->mark;
    for (at = strchr(at, '\n'); at; at = strchr(at + 1, '\n')) {
        frame->line++;
    }
    frame->mark = frame->text.n;
    return frame->line;
}

/* Nothing where the C compiler counts to the right line by itself: statements
 * of consecutive lines need no directive.  The file is kept plus one, so that a
 * fresh frame has none. */
void
c_line(Gen *g, Loc loc)
{
    Frame *frame = g->frame;
    bool known = g->diags && loc.line > 0 && loc.file < g->diags->sources.n;
    if (!known) {
        return;
    }
    bool same = frame->file == loc.file + 1;
    if (g->people) {
        if (!same || frame->line != loc.line) {
            comment_line(g, loc);
        }
    } else if (!same || presumed_line(frame) != loc.line) {
        str_addf(&frame->text, "#line %u ", loc.line);
        str_add_c_literal(&frame->text, g->diags->sources.at[loc.file].path);
        str_add(&frame->text, "\n");
        frame->mark = frame->text.n;
    }
    frame->line = loc.line;
    frame->file = (uint16_t)(loc.file + 1);
}

/* --- simple statements --------------------------------------------------- */

/* One C constant per lane; the C compiler keeps those it needs. _Bool for a
 * bool, whose value then is 0 or 1 for certain. */
static void
write_let(Gen *g, const Stmt *s)
{
    bool apart = g->chained[s->var->id] && g->frame->vector != NULL;
    g->frame->none |= apart;
    for (int lane = 0; lane < c_lanes(s->var); lane++) {
        const char *value =
            c_expr(g, s->value, lane, apart ? P_MUL : P_ANY);
        LINE(g, "const %s %s = %s%s%s;", c_var_type(s->var),
             c_var(g, s->var, lane), value, apart ? " + none_" : "",
             apart ? dtype_short(s->var->dtype) : "");
    }
}

/* The old value is noted before the store; the host may decide against it once
 * its log is as large as the arrays. 'place' is written twice, and has no
 * effects. */
void
c_put(Gen *g, const Stmt *s, const char *place, const char *value)
{
    if (s->logged) {
        c_exit_if(g,
                str_printf(g->arena,
                           "ctx->logging && ctx->host->undo(ctx, &%s, %d)",
                           place, dtype_size(s->buf->dtype)),
                "VZ_NOMEM");
    }
    LINE(g, "%s = %s;", place, value);
}

/* A vector is read whole before its first lane is stored. Else 'p[:] = p[::-1]'
 * would read lanes it has just written.  Without a load the lanes are values
 * already. */
static void
write_lanes(Gen *g, const Stmt *s)
{
    int lanes = (int)s->buf->dims[s->buf->rank - 1]->ival;
    bool copied = ir_has_load(s->value);
    if (copied) {
        LINE(g, "{");
        c_open(g);
    }
    for (int lane = 0; copied && lane < lanes; lane++) {
        LINE(g, "const %s v%d = %s;", c_type(s->buf->dtype), lane,
             c_expr(g, s->value, lane, P_ANY));
    }
    for (int lane = 0; lane < lanes; lane++) {
        c_put(g, s, c_place(g, s->buf, s->index, s->nindex, lane),
                    copied ? str_printf(g->arena, "v%d", lane)
                           : c_expr(g, s->value, lane, P_ANY));
    }
    if (copied) {
        c_close(g);
    }
}

/* With an index per axis one element, with one less a whole vector. */
static void
write_store(Gen *g, const Stmt *s)
{
    if (s->nindex < s->buf->rank) {
        write_lanes(g, s);
    } else {
        c_put(g, s, c_place(g, s->buf, s->index, s->nindex, 0),
                    c_expr(g, s->value, 0, P_ANY));
    }
}

/* 'e' is false. 'a < b' is turned into 'b <= a' for integers only: with a nan
 * both are false.  People read conditions without '!' more easily. */
const char *
c_not(Gen *g, const Expr *e)
{
    Expr *lhs = e->nargs == 2 ? e->args[0] : NULL;
    Expr *rhs = e->nargs == 2 ? e->args[1] : NULL;
    bool whole = lhs && !dtype_is_float(lhs->dtype);
    if (e->op == E_NOT) {
        return c_expr(g, e->args[0], 0, P_BITS);
    }
    if (e->op == E_EQ || e->op == E_NE) {
        Op op = e->op == E_EQ ? E_NE : E_EQ;
        return c_expr(g, ir_binary(g->arena, op, lhs, rhs), 0, P_BITS);
    }
    if (whole && (e->op == E_LT || e->op == E_LE)) {
        Op op = e->op == E_LT ? E_LE : E_LT;
        return c_expr(g, ir_binary(g->arena, op, rhs, lhs), 0, P_BITS);
    }
    return str_printf(g->arena, "!%s", c_expr(g, e, 0, P_ATOM));
}

/* In a vector loop no way leads out: a flag remembers the failure. Else the
 * rare way out is marked as such, which keeps it out of the loop's code. */
static void
write_check(Gen *g, const Stmt *s)
{
    bool bail = s->action == ACT_BAIL;
    if (g->frame->vector) {
        LINE(g, "loop%d_%s |= %s;", g->frame->vector->id,
             bail ? "bails" : "fails", c_not(g, s->value));
        return;
    }
    c_fail_if(g, c_not(g, s->value), bail ? "VZ_BAIL" : "VZ_REPLAY", s->id);
}

/* Integers of few bits may overflow each time; those of 64, and floats, nearly
 * never do. */
static bool
is_rare(const Expr *e)
{
    bool overflow = e->op == E_ADDO || e->op == E_SUBO || e->op == E_MULO;
    return !overflow || dtype_size(e->args[0]->dtype) == 8;
}

/* A bit per warning in a local, which ends in ctx->warn once the function
 * has done its work; where there are too many, the number besides. */
static void
write_warn(Gen *g, const Stmt *s)
{
    bool own = s->id < IR_WARN_OWN;
    g->frame->warns = true;
    if (own && (g->frame->vector || !is_rare(s->value))) {
        LINE(g, "warn |= (uint64_t)%s << %d;",
             c_expr(g, s->value, 0, P_UNARY), s->id);
        return;
    }
    LINE(g, "if (vz_rare(%s)) {", c_expr(g, s->value, 0, P_ANY));
    c_open(g);
    LINE(g, "warn |= (uint64_t)1 << %d;", ir_warn_bit(s));
    if (!own) {
        LINE(g, "vz_more(ctx, %d);", s->id - IR_WARN_BITS);
    }
    c_close(g);
}

/* --- branches ------------------------------------------------------------ */

/* What the branches will assign, without a value yet. */
static void
declare_joins(Gen *g, const Stmt *s)
{
    for (int i = 0; i < s->njoins; i++) {
        const Var *out = s->joins[i].out;
        for (int lane = 0; g->live[out->id] && lane < c_lanes(out); lane++) {
            LINE(g, "%s %s;", c_var_type(out), c_var(g, out, lane));
        }
    }
}

/* At the end of a branch; the joins see none of each other's values, which are
 * all names of the other side of the assignment. The branch's own names are in
 * scope, as it is in its braces. */
static void
assign_joins(Gen *g, const Stmt *s, bool then)
{
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        const Expr *value = then ? join->then_val : join->else_val;
        for (int lane = 0;
             g->live[join->out->id] && lane < c_lanes(join->out); lane++) {
            LINE(g, "%s = %s;", c_var(g, join->out, lane),
                 c_expr(g, value, lane, P_ANY));
        }
    }
}

/* Is anything written for this branch? */
static bool
has_branch(Gen *g, const Stmt *s, const Block *branch)
{
    bool joins = false;
    for (int i = 0; i < s->njoins; i++) {
        joins |= g->live[s->joins[i].out->id];
    }
    return joins || s->nbinds > 0 || branch->n > 0;
}

/* For ir_each_expr: is there a load? */
static void
note_load(void *data, Expr **slot)
{
    bool *loads = data;
    *loads |= *slot != NULL && ir_has_load(*slot);
}

/* For ir_each_stmt. */
static void
note_loads(void *data, Stmt *s)
{
    ir_each_expr(s, note_load, data);
}

/* Opens a branch.  gcc up to 12.3 and 13.2 makes masked vector loads of
 * adjacent conditional loads and then drops their permutation (its bug 114375;
 * wrong results at -O3 with AVX).  A branch that holds an empty asm is never
 * turned into masks; vector loops have no branches and lose nothing. */
static void
open_branch(Gen *g, const Block *branch)
{
    bool loads = false;
    ir_each_stmt(branch, note_loads, &loads);
    c_open(g);
    if (loads) {
        LINE(g, "VZ_BRANCH;");
    }
}

/* Is the branch there for warnings alone? */
static bool
only_warns(const Stmt *s)
{
    bool warns = s->els.n == 0 && s->njoins == 0 && s->nbinds == 0;
    for (int i = 0; i < s->body.n; i++) {
        StmtKind kind = s->body.at[i]->kind;
        warns &= kind == S_LET || kind == S_WARN;
    }
    return warns;
}

/* An IF without a first branch is written with the condition turned round. With
 * neither branch it is not written at all, see is_void. */
static void
write_if(Gen *g, const Stmt *s)
{
    bool then = has_branch(g, s, &s->body);
    bool els = has_branch(g, s, &s->els);
    declare_joins(g, s);
    c_binds_declare(g, s);
    const char *cond = then ? c_expr(g, s->value, 0, P_ANY)
                            : c_not(g, s->value);
    LINE(g, only_warns(s) ? "if (vz_rare(%s)) {" : "if (%s) {", cond);
    open_branch(g, then ? &s->body : &s->els);
    if (then) {
        c_block(g, &s->body);
        assign_joins(g, s, true);
        c_binds_assign(g, s, true);
    }
    if (then && els) {
        g->frame->text.indent -= C_INDENT;
        LINE(g, "} else {");
        open_branch(g, &s->els);
    }
    if (els) {
        c_block(g, &s->els);
        assign_joins(g, s, false);
        c_binds_assign(g, s, false);
    }
    c_close(g);
    c_binds_show(g, s);
}

/* --- all together -------------------------------------------------------- */

/* All kinds of L_SCHED; those of L_ARRAY alone are gone by now. */
static void
write_stmt(Gen *g, const Stmt *s)
{
    switch (s->kind) {
    case S_LET:
        write_let(g, s);
        break;
    case S_STORE:
        write_store(g, s);
        break;
    case S_CHECK:
        write_check(g, s);
        break;
    case S_WARN:
        write_warn(g, s);
        break;
    case S_IF:
        write_if(g, s);
        break;
    case S_FOR:
    case S_WHILE:
        c_loop(g, s);
        break;
    case S_ALLOC:
        c_alloc(g, s, NULL);
        break;
    case S_FILL:
        c_fill(g, s);
        break;
    case S_ROUTINE:
        c_routine(g, s);
        break;
    case S_GROW:
        c_grow(g, s);
        break;
    case S_VIEW:
        c_view(g, s);
        break;
    case S_SHADOW:
        c_exit_if(g, "ctx->host->shadow(ctx)", "VZ_NOMEM");
        break;
    default:
        fatal("no C for a statement of kind %d", (int)s->kind);
    }
}

/* Nothing is written for variables that are not used. A LET has no effect but
 * its name, an IF none but those of its branches. */
static bool
is_void(Gen *g, const Stmt *s)
{
    return (s->kind == S_LET && !g->live[s->var->id]) ||
           (s->kind == S_IF && !has_branch(g, s, &s->body) &&
            !has_branch(g, s, &s->els));
}

/* An ALLOC whose next statement clears the buffer takes cleared memory. */
void
c_statements(Gen *g, const Block *block, int end)
{
    for (int i = 0; i < end; i++) {
        const Stmt *s = block->at[i];
        if (is_void(g, s)) {
            continue;
        }
        c_line(g, s->loc);
        const Stmt *next = i + 1 < end ? block->at[i + 1] : NULL;
        if (s->kind == S_ALLOC && next && next->kind == S_FILL) {
            i += c_alloc(g, s, next);
        } else {
            write_stmt(g, s);
        }
    }
}

/* Names that the block gives are forgotten with its end. */
void
c_block(Gen *g, const Block *block)
{
    int names = g->frame->refs.n;
    c_statements(g, block, block->n);
    g->frame->refs.n = names;
}
