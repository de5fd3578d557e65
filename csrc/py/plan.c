/* The plan of a kernel: which argument goes to which of its parameters.
 *
 *     f(img, (3, 2.5), None)    signature  float32[:, :], (int, float), None
 *         parameters                buf 0, and as 3 and 2.5 are known no more
 *         fills                     array, arg 0
 *
 * Parameters follow the arguments; constants have none.  Slots are laid out in
 * the same order, an array taking 1 + 2 * rank of them.  What else is to be
 * known of a kernel before a call is found out here, too: whether it may be run
 * twice, and which warnings it counts.
 */
#include "csrc/py/core.h"

typedef struct Planner {
    Arena *arena;
    const CompileResult *result;
    Kernel *kernel;
    int cap;
    int slots;
} Planner;

/* Lowering and the plan must agree about every parameter. */
static bool
fits_param(const Param *param, const Type *type)
{
    if (type->kind == TY_ARRAY) {
        bool pairs = dtype_is_complex(type->dtype);
        return param->buf != NULL && param->buf->rank == type->rank + pairs
               && param->buf->dtype == dtype_part(type->dtype);
    }
    return param->var != NULL && param->var->dtype == type->dtype;
}

/* The length of a list, then its columns. */
static bool
plan_list(Planner *p, const Type *type, Fill fill)
{
    DType dtypes[MAX_IN];
    const Func *func = p->result->lowered->func;
    int rank = list_rank(type);
    int n = list_layout(type, NULL);
    if (p->kernel->nfills + n >= func->params.n || n > MAX_IN) {
        return false;
    }
    list_layout(type, dtypes);
    fill.dtype = DT_I64;
    fill.list = type;
    p->kernel->fills[p->kernel->nfills++] = fill;
    p->slots += 1 + n * (1 + 2 * rank);
    for (int i = 0; i < n; i++) {
        const Buf *buf = func->params.at[p->kernel->nfills].buf;
        if (buf == NULL || buf->rank != rank || buf->dtype != dtypes[i]) {
            return false;
        }
        Fill column = {.is_column = true, .rank = rank, .dtype = dtypes[i]};
        p->kernel->fills[p->kernel->nfills++] = column;
    }
    return true;
}

/* Adds what 'type', found along 'fill', contributes to the parameters. */
static bool
plan_type(Planner *p, const Type *type, Fill fill)
{
    if (type->kind == TY_TUPLE) {
        bool ok = fill.depth < 3;
        for (int i = 0; ok && i < type->rank; i++) {
            Fill item = fill;
            item.path[item.depth++] = i;
            ok = plan_type(p, type->items[i], item);
        }
        return ok || type->rank == 0;
    }
    if (type->kind == TY_LIST) {
        return plan_list(p, type, fill);
    }
    for (int i = 0; type->kind == TY_COMPLEX && i < 2; i++) {
        fill.part = 1 + i;
        if (!plan_type(p, type->items[i], fill)) {
            return false;
        }
    }
    bool scalar = type->kind == TY_NUM && !type->known;
    if (!scalar && type->kind != TY_ARRAY) {
        return true;
    }
    const Func *func = p->result->lowered->func;
    int n = p->kernel->nfills;
    if (n >= func->params.n || !fits_param(&func->params.at[n], type)) {
        return false;
    }
    fill.is_array = !scalar;
    fill.dtype = type->dtype;
    fill.rank = scalar ? 0 : type->rank + dtype_is_complex(type->dtype);
    fill.turned = !scalar && type->layout == LAYOUT_F;
    fill.writes = !scalar && p->result->lowered->writes[fill.arg];
    p->slots += 1 + 2 * fill.rank;
    p->kernel->writes |= fill.writes;
    p->kernel->fills[p->kernel->nfills++] = fill;
    return true;
}

/* Where each returned scalar or vector lies in VzCtx.out. */
static bool
plan_results(Arena *arena, const Func *func, Kernel *out)
{
    int at = 0;
    out->out_at = ARENA_ARRAY(arena, int, func->rets.n + 1);
    for (int i = 0; i < func->rets.n; i++) {
        const Ret *ret = &func->rets.at[i];
        out->out_at[i] = ret->buf ? -1 : at;
        if (ret->buf == NULL) {
            at += ret->value->lanes > 0 ? ret->value->lanes : 1;
        }
    }
    return at <= MAX_OUT && func->rets.n <= MAX_RESULTS;
}

/* Which rets are arrays of complex numbers: to the kernel they are floats. */
static void
plan_pairs(Arena *arena, const Lowered *lowered, Kernel *out)
{
    out->pairs = ARENA_ARRAY(arena, bool, lowered->func->rets.n + 1);
    for (int i = 0; i < lowered->func->rets.n; i++) {
        const Buf *buf = lowered->func->rets.at[i].buf;
        out->pairs[i] = buf != NULL && lowered->pairs[i];
    }
}

/* Looks for loads of arguments that are also written. */
typedef struct ReadSearch {
    const Kernel *kernel;
    bool any_arg; /* in a general kernel arguments may overlap */
    bool found;
} ReadSearch;

/* Buf.arg numbers parameters, and so fills. */
static void
search_expr(ReadSearch *search, const Expr *e)
{
    if (ir_reads(e) && e->buf->kind == BUF_ARG) {
        const Fill *fill = &search->kernel->fills[e->buf->arg];
        search->found |= search->any_arg || fill->writes;
    } else if (ir_reads(e)) {
        search->found |= ir_is_visible(e->buf); /* one of several, perhaps */
    }
    for (int i = 0; i < e->nargs; i++) {
        search_expr(search, e->args[i]);
    }
}

/* For ir_each_expr. */
static void
search_slot(void *data, Expr **slot)
{
    search_expr(data, *slot);
}

/* For ir_each_stmt. */
static void
search_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, search_slot, data);
}

/* May the kernel be run twice with the same effect?  Only if it reads
 * nothing that it wrote. */
static bool
reads_written(const Func *func, const Kernel *kernel)
{
    ReadSearch search = {.kernel = kernel, .any_arg = func->general};
    ir_each_stmt(&func->body, search_stmt, &search);
    for (int i = 0; i < func->rets.n; i++) {
        if (func->rets.at[i].value != NULL) {
            search_expr(&search, func->rets.at[i].value);
        }
    }
    return search.found;
}

_Static_assert(VZ_MORE == IR_WARNS - IR_WARN_BITS, "numbers have bits");

/* For ir_each_stmt: how many numbers of WARNs there are, bits included. */
static void
count_warns(void *data, Stmt *s)
{
    int *n = data;
    if (s->kind == S_WARN) {
        *n = *n < IR_WARN_BITS ? IR_WARN_BITS : *n;
        *n = *n <= s->id ? s->id + 1 : *n;
    }
}

/* For ir_each_stmt: WARNs by their number, the first of each; of those without
 * a bit of their own one by the bit they share, too. */
static void
note_warn(void *data, Stmt *s)
{
    Kernel *kernel = data;
    if (s->kind != S_WARN) {
        return;
    }
    int ids[] = {s->id, ir_warn_bit(s)};
    for (int i = 0; i < 2; i++) {
        if (kernel->warns[ids[i]] == NULL) {
            kernel->warns[ids[i]] = s;
        }
    }
}

static void
plan_warns(Arena *arena, const Block *body, Kernel *out)
{
    ir_each_stmt(body, count_warns, &out->nwarns);
    if (out->nwarns > 0) {
        out->warns = ARENA_ARRAY(arena, const Stmt *, out->nwarns);
        ir_each_stmt(body, note_warn, out);
    }
}

/* All limits on sizes of a Call are tested here and never later. */
bool
kernel_plan(Arena *arena, const CompileResult *result, const Signature *sig,
            Kernel *out)
{
    const Lowered *lowered = result->lowered;
    Planner p = {.arena = arena, .result = result, .kernel = out};
    out->result = result;
    out->run = result->lib->kernel;
    out->fills = ARENA_ARRAY(arena, Fill, lowered->func->params.n + 1);
    for (int i = 0; i < sig->nargs; i++) {
        if (!plan_type(&p, sig->args[i].type, (Fill){.arg = i})) {
            return false;
        }
    }
    out->by_flags = lowered->may_warn;
    out->floats = lowered->may_warn || lowered->floats;
    plan_pairs(arena, lowered, out);
    plan_warns(arena, &result->func->body, out);
    out->logs = result->needs_undo;
    out->rereads = out->writes && reads_written(result->func, out);
    return out->nfills == lowered->func->params.n && p.slots <= MAX_IN
           && plan_results(arena, result->func, out);
}
