/* Is a function well-formed?  Run after every pass in development builds.
 *
 * The rules have names, given where they are tested, as the second argument
 * of verify_broken, and put first in the message; tests/ir/broken.ir has a
 * function for each.
 * They say, in order: what a parameter, buffer, expression and statement must
 * look like; what each level allows; and that every Var is defined, once,
 * before each of its uses, by a statement whose block is still open there.
 *
 * Definitions come into scope as in the text form: a LET after itself; the
 * outs of an IF after it; a loop's variable and carries inside it (in 'pre'
 * and 'body', and in 'next' and 'until' after the body); its outs after it.
 * Two exceptions at L_ARRAY: a SET variable is visible everywhere, and a
 * SCOPE closes nothing, since it is only a target for LEAVE.
 *
 * An index of LOAD and STORE is judged by number and type only.  It is within
 * its axis by the contract of ir.h; at L_SCHED the last index of a LAYOUT_C
 * buffer may run on over the end of its axis, as long as the address stays
 * within the buffer (pass 'schedule', directive 'flatten').
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "csrc/ir/verify.h"

static void verify_block(Verify *v, const Block *block);

/* Keeps the first error: 'rule: what; at 3:4: statement'.  Of a statement with
 * blocks the first line is shown. */
void
verify_broken(Verify *v, const char *rule, const char *format, ...)
{
    if (v->error) {
        return;
    }
    char what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    Str text = str_new(v->arena);
    str_addf(&text, "%s: %s", rule, what);
    if (v->stmt) {
        Str where = str_new(v->arena);
        ir_print_stmt(v->stmt, &where);
        str_addf(&text, "; at %u:%d: ", (unsigned)v->stmt->loc.line,
                 v->stmt->loc.col);
        str_add_n(&text, where.at, strcspn(where.at, "\n"));
    }
    v->error = text.at;
}

/* --- definitions -------------------------------------------------------- */

/* Vars, Bufs and loops share one space of ids, below next_id. A Var that is
 * seen again, with the same id, is no second owner. */
void
verify_id(Verify *v, int id, const void *owner)
{
    const void *key = (const void *)((uintptr_t)id + 1);
    const void *other = map_get(&v->ids, key);
    if (id < 0 || id >= v->func->next_id) {
        verify_broken(v, "id-range", "id %d of %d", id, v->func->next_id);
    } else if (other && other != owner) {
        verify_broken(v, "id-unique", "id %d has two owners", id);
    } else {
        map_set(&v->ids, key, (void *)(uintptr_t)owner);
    }
}

/* 'thing' is visible from here on, until its block ends. The casts take the
 * const off for the Map, which never writes through a value. */
void
verify_show(Verify *v, const void *thing)
{
    map_set(&v->visible, thing, (void *)(uintptr_t)thing);
    vec_push(v->arena, &v->scope, thing);
}

/* Ends the scope of everything shown since 'mark'. 'mark' is v->scope.n as it
 * was when the block began. */
static void
hide_to(Verify *v, int mark)
{
    while (v->scope.n > mark) {
        map_set(&v->visible, v->scope.at[--v->scope.n], NULL);
    }
}

/* "lanes" and id are sound.  The dtype can't be wrong but by memory
 * corruption. */
static void
verify_var(Verify *v, const Var *var)
{
    if (var->lanes < 0 || var->lanes > MAX_LANES) {
        verify_broken(v, "lanes-range", "%s.%d has %d lanes", var->name,
                      var->id, var->lanes);
    }
    verify_id(v, var->id, var);
}

/* One definition per Var in the whole function, even in branches that
 * exclude each other: then no name is ever ambiguous when code moves. */
static void
verify_define(Verify *v, const Var *var)
{
    if (!var) {
        verify_broken(v, "define-null", "a definition without a Var");
        return;
    }
    verify_var(v, var);
    if (map_has(&v->assigned, var)) {
        verify_broken(v, "single-assignment", "%%%s.%d is defined twice",
                      var->name, var->id);
    }
    if (map_has(&v->sets, var)) {
        verify_broken(v, "set-only", "%%%s.%d is SET and defined otherwise",
                      var->name, var->id);
    }
    map_set(&v->assigned, var, NULL);
    verify_show(v, var);
}

/* A buffer exists after its ALLOC, where that is visible; one that BIND names
 * everywhere, as a SET variable. */
void
verify_use_buf(Verify *v, const Buf *buf)
{
    if (!buf) {
        verify_broken(v, "buffer-null", "a buffer is missing");
    } else if (!map_get(&v->visible, buf) && !map_has(&v->sets, buf)) {
        verify_broken(v, "buffer-scope",
                      "&%s.%d is used where it does not exist", buf->name,
                      buf->id);
    }
}

/* --- buffers ------------------------------------------------------------ */

/* The extent of an argument's axis is a constant or is asked of the array. */
static void
verify_arg_dim(Verify *v, const Buf *buf, int axis)
{
    const Expr *e = buf->dims[axis];
    int64_t size = -1;
    /* else it must be a constant that the signature fixed */
    bool own = e && e->op == E_DIM && e->buf == buf && e->axis == axis;
    if (!own && (!ir_const_int(e, &size) || size < 0)) {
        verify_broken(v, "param-dims", "axis %d of &%s.%d", axis, buf->name,
                      buf->id);
    }
}

/* A parameter numbers its buffer, so that host and kernel agree on where it
 * lies in the argument table. */
static void
verify_param(Verify *v, const Param *param, int number)
{
    if (!param->var == !param->buf) {
        verify_broken(v, "param-kind", "parameter %d is not one of Var and Buf",
                      number);
    } else if (param->var) {
        verify_define(v, param->var);
    } else {
        const Buf *buf = param->buf;
        if (buf->kind != BUF_ARG || buf->arg != number) {
            verify_broken(v, "param-buffer", "&%s.%d is not argument %d",
                          buf->name, buf->id, number);
        }
        verify_id(v, buf->id, buf);
        verify_show(v, buf);
        for (int i = 0; i < buf->rank; i++) {
            verify_arg_dim(v, buf, i);
        }
    }
}

/* Results are made once per call, hence not in a loop. The extents are judged
 * before the buffer is shown: it can't be as large as itself. */
static void
verify_alloc(Verify *v, const Buf *buf)
{
    if (!buf) {
        verify_broken(v, "buffer-null", "a buffer is missing");
        return;
    }
    if (map_has(&v->assigned, buf)) {
        verify_broken(v, "single-alloc", "&%s.%d is made twice", buf->name,
                      buf->id);
    }
    if (buf->kind == BUF_ARG || buf->kind == BUF_REF) {
        verify_broken(v, "alloc-kind", "other memory is not made here");
    }
    if (buf->kind == BUF_RESULT && v->loops > 0) {
        verify_broken(v, "alloc-result", "a result is made in a loop");
    }
    if (buf->growable && (buf->kind != BUF_LOCAL || buf->rank != 1 ||
                          buf->space != SPACE_HEAP)) {
        verify_broken(v, "growable-kind", "&%s.%d can't grow", buf->name,
                      buf->id);
    }
    for (int i = 0; i < buf->rank; i++) {
        int64_t size = 0;
        verify_scalar(v, buf->dims[i], DT_I64, "an extent");
        if (buf->space == SPACE_STACK && !ir_const_int(buf->dims[i], &size)) {
            verify_broken(v, "stack-size",
                          "an array on the stack of unknown size");
        }
    }
    verify_id(v, buf->id, buf);
    map_set(&v->assigned, buf, NULL);
    verify_show(v, buf);
}

/* Only room is asked for; a number that is too small, or negative, asks for
 * nothing. */
static void
verify_grow(Verify *v, const Stmt *s)
{
    verify_use_buf(v, s->buf);
    if (!v->error && !s->buf->growable) {
        verify_broken(v, "grow-fixed", "&%s.%d has a fixed size", s->buf->name,
                      s->buf->id);
    }
    verify_scalar(v, s->value, DT_I64, "the room");
}

/* The box has a lower and an upper bound per axis. They may reach outside the
 * array: the emitter clamps them. */
static void
verify_fill(Verify *v, const Stmt *s)
{
    verify_use_buf(v, s->buf);
    if (v->error) {
        return;
    }
    verify_scalar(v, s->value, s->buf->dtype, "the value of a fill");
    if (s->buf->growable) {
        verify_broken(v, "fill-growable", "all of &%s.%d is of no known size",
                      s->buf->name, s->buf->id);
    }
    if (s->nindex != (s->has_keep ? 2 * s->buf->rank : 0)) {
        verify_broken(v, "keep-count", "%d bounds of a box of rank %d",
                      s->nindex, s->buf->rank);
    }
    for (int i = 0; i < s->nindex; i++) {
        verify_scalar(v, s->index[i], DT_I64, "a bound of the box");
    }
}

/* A vector is stored over the whole last axis. The index is judged before the
 * value, in the order of the text. */
static void
verify_store(Verify *v, const Stmt *s)
{
    for (int i = 0; i < s->nindex; i++) {
        verify_expr(v, s->index[i]);
    }
    verify_expr(v, s->value);
    if (v->error) {
        return;
    }
    verify_access(v, s->buf, s->index, s->nindex, s->value->lanes);
    if (!v->error && s->value->dtype != s->buf->dtype) {
        verify_broken(v, "store-type", "%s is stored as %s",
                      dtype_short(s->value->dtype), dtype_short(s->buf->dtype));
    }
}

/* --- levels and statements ---------------------------------------------- */

/* What a level allows: the three rules of ir.h's first paragraph. LOOPS and
 * SCHED share all rules but the third. Loops that run in any order log nothing
 * (SHADOW stands before them), so threads_parallel_for needn't ask. */
static void
verify_level(Verify *v, const Stmt *s)
{
    Level level = v->func->level;
    bool free_form = s->kind == S_SET || s->kind == S_BIND ||
                     s->kind == S_SCOPE || s->kind == S_LEAVE ||
                     s->kind == S_BREAK || s->kind == S_CONTINUE;
    if (free_form && level != L_ARRAY) {
        verify_broken(v, "array-only", "a statement of level 'array' alone");
    }
    if (level == L_ARRAY && (s->njoins || s->ncarries || s->nbinds)) {
        verify_broken(v, "no-joins",
                      "level 'array' has no joins or carries");
    }
    if (level != L_SCHED && (s->kind == S_SHADOW || s->mode != LOOP_SERIAL ||
                             s->logged || s->poll || s->charged)) {
        verify_broken(v, "sched-only", "a statement of level 'sched' alone");
    }
    if (s->logged && v->parallels) {
        verify_broken(v, "log-in-order", "a log has no place for two writers");
    }
}

/* Statements that may end the call or change memory must say for whom. A
 * remark, a replay or a warning would otherwise point at line 0. */
static void
verify_loc(Verify *v, const Stmt *s)
{
    bool needed = s->kind == S_CHECK || s->kind == S_STORE || s->kind == S_WARN;
    if (needed && s->loc.line == 0) {
        verify_broken(v, "loc", "a check, store or warning without a place");
    }
}

/* Each branch of an IF with the joins' values at its end. Names of one branch
 * are hidden before the other begins, and before the outs are defined. */
static void
verify_branch(Verify *v, const Stmt *s, const Block *block)
{
    int mark = v->scope.n;
    verify_block(v, block);
    v->stmt = s;
    for (int i = 0; i < s->njoins; i++) {
        const Join *join = &s->joins[i];
        bool then = block == &s->body;
        verify_value(v, join->out, then ? join->then_val : join->else_val,
                     "a join");
    }
    for (int i = 0; i < s->nbinds && !v->error; i++) {
        const Bind *bind = &s->binds[i];
        verify_source(v, bind->out,
                      block == &s->body ? bind->init : bind->next);
    }
    hide_to(v, mark);
}

/* The outs are visible after the IF only. Both branches must define each of
 * them: a value of NULL is "an expression is missing". */
static void
verify_if(Verify *v, const Stmt *s)
{
    verify_scalar(v, s->value, DT_BOOL, "the condition");
    verify_branch(v, s, &s->body);
    verify_branch(v, s, &s->els);
    for (int i = 0; i < s->njoins; i++) {
        verify_define(v, s->joins[i].out);
    }
    for (int i = 0; i < s->nbinds && !v->error; i++) {
        verify_name(v, s->binds[i].out);
    }
}

/* A carry goes out as what it was inside. */
static void
verify_carry_types(Verify *v, const Carry *carry)
{
    const Var *var = carry->var;
    const Var *out = carry->out;
    if (var && out && (var->dtype != out->dtype || var->lanes != out->lanes)) {
        verify_broken(v, "carry-out", "%%%s.%d goes out as another type",
                      var->name, var->id);
    }
}

/* In the order in which things come into scope. "next" and "until" are
 * evaluated at the end of the body, so they see its definitions; no carry's out
 * is visible yet. */
static void
verify_loop_inside(Verify *v, const Stmt *s)
{
    for (int i = 0; i < s->ncarries; i++) {
        verify_define(v, s->carries[i].var);
    }
    for (int i = 0; i < s->nbinds && !v->error; i++) {
        verify_name(v, s->binds[i].var);
    }
    verify_block(v, &s->pre);
    v->stmt = s;
    if (s->kind == S_WHILE) {
        verify_scalar(v, s->value, DT_BOOL, "the test");
    }
    verify_block(v, &s->body);
    v->stmt = s;
    for (int i = 0; i < s->ncarries; i++) {
        verify_value(v, s->carries[i].var, s->carries[i].next, "the next");
        verify_carry_types(v, &s->carries[i]);
    }
    for (int i = 0; i < s->nbinds && !v->error; i++) {
        verify_source(v, s->binds[i].var, s->binds[i].next);
        verify_source(v, s->binds[i].out, s->binds[i].var);
    }
    if (s->until) {
        verify_scalar(v, s->until, DT_BOOL, "until");
    }
}

/* The bounds don't see the variable. Nor do they see the carries, which are
 * defined after it. */
static void
verify_for_head(Verify *v, const Stmt *s)
{
    verify_scalar(v, s->lo, DT_I64, "a bound");
    verify_scalar(v, s->hi, DT_I64, "a bound");
    verify_define(v, s->var);
    if (s->var && (s->var->dtype != DT_I64 || s->var->lanes)) {
        verify_broken(v, "loop-variable", "%%%s.%d is not a scalar i64",
                      s->var->name, s->var->id);
    }
}

/* Loops that run in parallel or by SIMD carry nothing, but for what lanes may
 * gather each for itself: their rounds may run in any order. A nested parallel
 * loop is refused because a thread's range may not start another team;
 * "parallels" counts vector loops too, which run in one thread. */
static void
verify_loop(Verify *v, const Stmt *s)
{
    int mark = v->scope.n;
    bool serial = s->mode == LOOP_SERIAL;
    verify_id(v, s->id, s);
    bool carries = s->ncarries && (s->mode != LOOP_VECTOR ||
                                   !ir_only_tallies(v->arena, s));
    if (!serial && (carries || s->nbinds || s->until || s->kind == S_WHILE)) {
        verify_broken(v, "independent", "a loop that carries runs in parallel");
    }
    if (s->mode == LOOP_PARALLEL && v->parallels) {
        verify_broken(v, "nested-parallel", "parallel inside a parallel loop");
    }
    for (int i = 0; i < s->ncarries; i++) {
        verify_value(v, s->carries[i].var, s->carries[i].init, "the init");
    }
    for (int i = 0; i < s->nbinds && !v->error; i++) {
        verify_source(v, s->binds[i].var, s->binds[i].init);
    }
    v->loops++;
    v->parallels += !serial;
    if (s->kind == S_FOR) {
        verify_for_head(v, s);
    }
    verify_loop_inside(v, s);
    v->loops--;
    v->parallels -= !serial;
    hide_to(v, mark);
    for (int i = 0; i < s->ncarries; i++) {
        verify_define(v, s->carries[i].out);
    }
    for (int i = 0; i < s->nbinds && !v->error; i++) {
        verify_name(v, s->binds[i].out);
    }
}

/* What a routine fills nobody else may see, and it reads boxes only. */
static void
verify_routine(Verify *v, const Stmt *s)
{
    verify_use_buf(v, s->buf);
    if (!v->error && (s->buf->kind == BUF_ARG || s->buf->layout != LAYOUT_C)) {
        verify_broken(v, "routine-buffer", "&%s.%d is filled by a routine",
                      s->buf->name, s->buf->id);
    }
    for (int i = 0; i < s->nindex && !v->error; i++) {
        const Expr *e = s->index[i];
        verify_expr(v, e);
        if (!v->error && (e->op != E_SUM || e->axis != SUM_BOX)) {
            verify_broken(v, "routine-operand", "operand %d is no box", i);
        }
    }
}

/* SET may be repeated and stands for no definition. */
static void
verify_set(Verify *v, const Stmt *s)
{
    verify_value(v, s->var, s->value, "the value");
    if (!s->var) {
        verify_broken(v, "define-null", "a definition without a Var");
    } else {
        verify_var(v, s->var);
    }
}

/* Statements without blocks.  A LET's value comes before its definition: it may
 * not use itself. */
static void
verify_simple(Verify *v, const Stmt *s)
{
    switch ((int)s->kind) {
    case S_LET:
        verify_value(v, s->var, s->value, "the value");
        verify_define(v, s->var);
        break;
    case S_SET:
        verify_set(v, s);
        break;
    case S_STORE:
        verify_store(v, s);
        break;
    case S_CHECK:
    case S_WARN:
        verify_scalar(v, s->value, DT_BOOL, "the condition");
        break;
    case S_ALLOC:
        verify_alloc(v, s->buf);
        break;
    case S_FILL:
        verify_fill(v, s);
        break;
    case S_GROW:
        verify_grow(v, s);
        break;
    case S_ROUTINE:
        verify_routine(v, s);
        break;
    case S_VIEW:
        verify_view(v, s);
        break;
    case S_BIND:
        verify_bind(v, s);
        break;
    case S_LEAVE:
        if (v->scopes == 0) {
            verify_broken(v, "leave-outside", "LEAVE outside a scope");
        }
        break;
    case S_BREAK:
    case S_CONTINUE:
        if (v->loops == 0) {
            verify_broken(v, "break-outside",
                          "BREAK or CONTINUE outside a loop");
        }
        break;
    default:
        break;
    }
}

/* "stmt" is set again after nested blocks, so that messages name the
 * statement at fault. */
static void
verify_stmt(Verify *v, const Stmt *s)
{
    v->stmt = s;
    verify_level(v, s);
    verify_loc(v, s);
    switch ((int)s->kind) {
    case S_IF:
        verify_if(v, s);
        break;
    case S_FOR:
    case S_WHILE:
        verify_loop(v, s);
        break;
    case S_SCOPE:
        v->scopes++;
        verify_block(v, &s->body);
        v->scopes--;
        break;
    default:
        verify_simple(v, s);
        break;
    }
}

/* Ends at the first error; later ones would mostly follow from it. */
static void
verify_block(Verify *v, const Block *block)
{
    for (int i = 0; i < block->n && !v->error; i++) {
        verify_stmt(v, block->at[i]);
    }
}

/* Seen from the end of the body. Only what the outermost block defined is
 * visible there, parameters included. */
static void
verify_ret(Verify *v, const Ret *ret, int number)
{
    if (!ret->value == !ret->buf) {
        verify_broken(v, "ret-kind", "result %d is not one of value and Buf",
                      number);
    } else if (ret->value) {
        verify_expr(v, ret->value);
    } else if (ret->buf->kind != BUF_RESULT || ret->buf->arg != number) {
        verify_broken(v, "ret-buffer", "&%s.%d is not result %d",
                      ret->buf->name, ret->buf->id, number);
    } else {
        verify_use_buf(v, ret->buf);
    }
}

/* Before the run, because a SET variable may be read in a line above its SET:
 * in the next round of a loop. */
static void
note_set(void *data, Stmt *s)
{
    if (s->kind == S_SET && s->var) {
        map_set(data, s->var, s->var);
    }
    if (s->kind == S_BIND && s->buf) {
        map_set(data, s->buf, s->buf);
    }
}

/* Tables by address of the thing; nothing of the function is changed. */
const char *
ir_verify(Arena *arena, const Func *func)
{
    Verify v = {.arena = arena, .func = func};
    v.visible = map_new(arena);
    v.assigned = map_new(arena);
    v.sets = map_new(arena);
    v.ids = map_new(arena);
    ir_each_stmt(&func->body, note_set, &v.sets);
    for (int i = 0; i < func->params.n; i++) {
        verify_param(&v, &func->params.at[i], i);
    }
    verify_block(&v, &func->body);
    v.stmt = NULL;
    for (int i = 0; i < func->rets.n && !v.error; i++) {
        verify_ret(&v, &func->rets.at[i], i);
    }
    return v.error;
}
