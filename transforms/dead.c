/* Dead code: keeps what something visible depends on.
 *
 *     let t: f64 = mul(x, 2)             gone if t is not used
 *     for i in 0 .. n carry (s ...)      gone if s_out is not used and the
 *         let u: f64 = add(s, 1)         body writes, checks and warns nothing
 *
 * Mark and sweep.  Roots are stores to memory that is seen or loaded, checks,
 * warnings, WHILE loops (they may run for ever) and results.  A marked
 * statement marks the Vars it uses and the IFs and loops around it; a Var marks
 * what defines it: a LET, one join of an IF, one carry of a loop.  Joins and
 * carries live and die singly, even if carries use each other.
 */
#include "transforms/simplify.h"

/* What a Var is, so that its use keeps the right thing alive.
 *   "stmt"   that defines it
 *   "slot"   the number of its join or carry; -1: a LET or a loop's variable
 *   "live"   somebody uses it */
typedef struct Def {
    Stmt *stmt;
    int slot;
    bool live;
} Def;

/* A statement in the tree of blocks.
 *   "stmt"    itself
 *   "around"  the statement whose block it is in; NULL: the function
 *   "live"    marked: it stays */
typedef struct Node {
    Stmt *stmt;
    struct Node *around;
    bool live;
} Node;

/* The tables of one run.
 *   "arena"      of the new statements
 *   "scratch"    of the tables
 *   "func"       whose body is swept
 *   "defs"       Var * -> Def *
 *   "nodes"      Stmt * -> Node *
 *   "writers"    Buf * -> list of Node * that write a local buffer
 *   "live_bufs"  Buf * -> itself
 *   "todo"       expressions whose Vars and buffers are still to be marked
 *   "dropped"    statements, joins and carries that went */
typedef struct Dead {
    Arena *arena;   /* of the new statements */
    Arena *scratch;
    const Func *func;
    Map defs;       /* Var * -> Def * */
    Map nodes;      /* Stmt * -> Node * */
    Map writers;    /* Buf * -> list of Node * that write a local buffer */
    Map live_bufs;  /* Buf * -> itself */
    VEC(Expr *) todo;
    int dropped;
} Dead;

typedef VEC(Node *) NodeVec;

/* Carries share one Def between the Var inside and the one handed out. */
static Def *
add_def(Dead *d, const Var *var, Stmt *s, int slot)
{
    Def *def = ARENA_NEW(d->scratch, Def);
    def->stmt = s;
    def->slot = slot;
    map_set(&d->defs, var, def);
    return def;
}

/* Makes or changes a buffer. */
static bool
is_writer(const Stmt *s)
{
    return ir_writes(s) || s->kind == S_ALLOC;
}

/* Writers of local buffers wait until somebody loads from the buffer. */
static void
add_writer(Dead *d, const Buf *buf, Node *node)
{
    NodeVec *list = map_get(&d->writers, buf);
    if (list == NULL) {
        list = ARENA_NEW(d->scratch, NodeVec);
        map_set(&d->writers, buf, list);
    }
    vec_push(d->scratch, list, node);
}

static void collect_block(Dead *d, const Block *block, Node *around);

/* One Node and the Defs of 's', then of all that is in it. */
static void
collect(Dead *d, Stmt *s, Node *around)
{
    Node *node = ARENA_NEW(d->scratch, Node);
    node->stmt = s;
    node->around = around;
    map_set(&d->nodes, s, node);
    if (s->var != NULL) {
        add_def(d, s->var, s, -1);
    }
    for (int i = 0; i < s->njoins; i++) {
        add_def(d, s->joins[i].out, s, i);
    }
    for (int i = 0; i < s->ncarries; i++) {
        Def *def = add_def(d, s->carries[i].out, s, i);
        map_set(&d->defs, s->carries[i].var, def);
    }
    if (is_writer(s) && s->buf->kind == BUF_LOCAL) {
        add_writer(d, s->buf, node);
    }
    collect_block(d, &s->pre, node);
    collect_block(d, &s->body, node);
    collect_block(d, &s->els, node);
}

/* The statements of 'block', which are in 'around'. */
static void
collect_block(Dead *d, const Block *block, Node *around)
{
    for (int i = 0; i < block->n; i++) {
        collect(d, block->at[i], around);
    }
}

/* --- marking ------------------------------------------------------------- */

/* The Vars and buffers of 'e' are needed; NULL is no expression. Marking goes
 * by this list instead of recursion: definitions form long chains. */
static void
want(Dead *d, Expr *e)
{
    if (e != NULL) {
        vec_push(d->scratch, &d->todo, e);
    }
}

/* The expressions that make 's' happen as it does, without those of single
 * joins and carries, which are wanted by who uses them. A buffer needs its
 * extents. */
static void
want_control(Dead *d, Stmt *s)
{
    want(d, s->value);
    want(d, s->lo);
    want(d, s->hi);
    want(d, s->until);
    for (int i = 0; i < s->nindex; i++) {
        want(d, s->index[i]);
    }
    for (int i = 0; s->kind == S_ALLOC && i < s->buf->rank; i++) {
        want(d, s->buf->dims[i]);
    }
}

/* Marking goes outwards until something is marked already. */
static void
mark_stmt(Dead *d, Node *node)
{
    while (node != NULL && !node->live) {
        node->live = true;
        want_control(d, node->stmt);
        node = node->around;
    }
}

/* A local buffer that is read needs every statement that writes it. */
static void
mark_buf(Dead *d, Buf *buf)
{
    if (buf->kind != BUF_LOCAL || map_has(&d->live_bufs, buf)) {
        return;
    }
    map_set(&d->live_bufs, buf, buf);
    NodeVec *list = map_get(&d->writers, buf);
    for (int i = 0; list != NULL && i < list->n; i++) {
        mark_stmt(d, list->at[i]);
    }
}

/* Keeps what defines 'var': its statement and, of an IF or loop, one join or
 * carry only. Defs are marked before their operands, so carries that use each
 * other end. A loop's variable (slot -1) needs no more than its loop. */
static void
mark_var(Dead *d, const Var *var)
{
    Def *def = map_get(&d->defs, var);
    if (def == NULL || def->live) {
        return;
    }
    def->live = true;
    Stmt *s = def->stmt;
    mark_stmt(d, map_get(&d->nodes, s));
    if (s->kind == S_IF) {
        want(d, s->joins[def->slot].then_val);
        want(d, s->joins[def->slot].else_val);
    } else if (def->slot >= 0) {
        want(d, s->carries[def->slot].init);
        want(d, s->carries[def->slot].next);
    }
}

/* Operands of a shared node may be visited more than once; Vars only once. */
static void
mark_expr(Dead *d, const Expr *e)
{
    if (e->op == E_VAR) {
        mark_var(d, e->var);
    }
    if (ir_reads(e) || e->op == E_DIM || e->op == E_DISJOINT) {
        mark_buf(d, e->buf);
    }
    for (int i = 0; i < e->nargs; i++) {
        mark_expr(d, e->args[i]);
    }
}

/* What happens in the world, and what may never end. A WHILE is kept even
 * where it computes nothing: Python would not return either. */
static bool
is_root(const Stmt *s)
{
    switch (s->kind) {
    case S_STORE:
    case S_FILL:
    case S_GROW:
    case S_ALLOC:
        return s->buf->kind != BUF_LOCAL;
    case S_CHECK:
    case S_WARN:
    case S_WHILE:
    case S_SHADOW:
        return true;
    default:
        return false;
    }
}

/* Roots, results, and then whatever these want. */
static void
mark_all(Dead *d)
{
    for (int i = 0; i < d->nodes.n; i++) {
        Node *node = d->nodes.entries[i].value;
        if (is_root(node->stmt)) {
            mark_stmt(d, node);
        }
    }
    for (int i = 0; i < d->func->rets.n; i++) {
        want(d, d->func->rets.at[i].value);
        if (d->func->rets.at[i].buf != NULL) {
            mark_buf(d, d->func->rets.at[i].buf);
        }
    }
    while (d->todo.n > 0) {
        mark_expr(d, d->todo.at[--d->todo.n]);
    }
}

/* --- sweeping ------------------------------------------------------------ */

/* Joins and carries are in "defs" without exception. */
static bool
is_live_var(const Dead *d, const Var *var)
{
    const Def *def = map_get(&d->defs, var);
    return def->live;
}

/* The copy owns its joins, so they are moved up in place. */
static void
sweep_joins(Dead *d, Stmt *s)
{
    int n = 0;
    for (int i = 0; i < s->njoins; i++) {
        if (is_live_var(d, s->joins[i].out)) {
            s->joins[n++] = s->joins[i];
        }
    }
    d->dropped += s->njoins - n;
    s->njoins = n;
}

/* As sweep_joins. */
static void
sweep_carries(Dead *d, Stmt *s)
{
    int n = 0;
    for (int i = 0; i < s->ncarries; i++) {
        if (is_live_var(d, s->carries[i].out)) {
            s->carries[n++] = s->carries[i];
        }
    }
    d->dropped += s->ncarries - n;
    s->ncarries = n;
}

/* Copies of what is marked, in order. A statement is marked only with all that
 * is around it, so no live one is lost with its block. */
static Block
sweep(Dead *d, const Block *block)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        const Node *node = map_get(&d->nodes, s);
        if (!node->live) {
            d->dropped++;
            continue;
        }
        Stmt *copy = ir_copy_stmt(d->arena, s);
        sweep_joins(d, copy);
        sweep_carries(d, copy);
        copy->pre = sweep(d, &s->pre);
        copy->body = sweep(d, &s->body);
        copy->els = sweep(d, &s->els);
        vec_push(d->arena, &out, copy);
    }
    return out;
}

/* Drops from 'func' what nothing visible depends on and returns how much that
 * was, 0 if nothing. Tables live in 'scratch', statements in 'arena'. */
int
dead_code(Arena *arena, Arena *scratch, Func *func)
{
    Dead d = {.arena = arena, .scratch = scratch, .func = func};
    d.defs = map_new(scratch);
    d.nodes = map_new(scratch);
    d.writers = map_new(scratch);
    d.live_bufs = map_new(scratch);
    collect_block(&d, &func->body, NULL);
    mark_all(&d);
    func->body = sweep(&d, &func->body);
    return d.dropped;
}
