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
 * carries live and die singly, even if carries use each other.  The same goes
 * for buffers: one that is used needs its ALLOC, or what gives the name its
 * memory, and all that is written by any name of the memory.
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
 *   "names"      Buf * -> Def *: of names, whose slot is that of a Bind
 *   "allocs"     Buf * -> Node * of the ALLOC of a local buffer
 *   "writers"    Buf * -> list of Node * that write local memory
 *   "live_bufs"  Buf * -> itself; by memory, as "writers"
 *   "todo"       expressions whose Vars and buffers are still to be marked
 *   "bufs"       buffers that are still to be marked
 *   "dropped"    statements, joins and carries that went */
typedef struct Dead {
    Arena *arena;   /* of the new statements */
    Arena *scratch;
    const Func *func;
    Map defs;       /* Var * -> Def * */
    Map nodes;      /* Stmt * -> Node * */
    Map names;      /* Buf * -> Def * */
    Map allocs;     /* Buf * -> Node * of the ALLOC of a local buffer */
    Map writers;    /* Buf * -> list of Node * that write local memory */
    Map live_bufs;  /* Buf * -> itself */
    VEC(Expr *) todo;
    VEC(Buf *) bufs;
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

/* What stands for the memory of 'buf' in "writers": all names of a group wait
 * together, for any of them may be what is read. */
static const Buf *
memory_of(const Buf *buf)
{
    return buf->group != NULL ? buf->group : buf;
}

/* Does nobody see the memory but the function itself? */
static bool
is_local(const Buf *buf)
{
    const Buf *memory = memory_of(buf);
    return memory->kind == BUF_LOCAL || memory->kind == BUF_REF;
}

/* Writers of local buffers wait until somebody loads from the buffer. */
static void
add_writer(Dead *d, const Buf *buf, Node *node)
{
    const Buf *memory = memory_of(buf);
    NodeVec *list = map_get(&d->writers, memory);
    if (list == NULL) {
        list = ARENA_NEW(d->scratch, NodeVec);
        map_set(&d->writers, memory, list);
    }
    vec_push(d->scratch, list, node);
}

/* Where the name 'ref' gets its memory; 'slot' is the Bind, -1: a VIEW. */
static void
add_name(Dead *d, const Buf *ref, Stmt *s, int slot)
{
    Def *def = ARENA_NEW(d->scratch, Def);
    def->stmt = s;
    def->slot = slot;
    map_set(&d->names, ref, def);
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
    for (int i = 0; i < s->nbinds; i++) {
        add_name(d, s->binds[i].out, s, i);
        if (s->binds[i].var != NULL) {
            map_set(&d->names, s->binds[i].var,
                    map_get(&d->names, s->binds[i].out));
        }
    }
    if (s->kind == S_VIEW) {
        add_name(d, s->buf, s, -1);
    }
    if (s->kind == S_ALLOC && s->buf->kind == BUF_LOCAL) {
        map_set(&d->allocs, s->buf, node);
    }
    if (ir_writes(s) && is_local(s->buf)) {
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

/* A buffer is needed; NULL is none. */
static void
want_buf(Dead *d, Buf *buf)
{
    if (buf != NULL) {
        vec_push(d->scratch, &d->bufs, buf);
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
    want_buf(d, s->buf);
    want_buf(d, s->src);
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

/* A name that is needed needs what gives it its memory, and of an IF or loop
 * the one Bind. Its extents are needed with it. */
static void
mark_name(Dead *d, const Buf *ref)
{
    Def *def = map_get(&d->names, ref);
    if (def == NULL || def->live) {
        return;
    }
    def->live = true;
    mark_stmt(d, map_get(&d->nodes, def->stmt));
    const Bind *bind = def->slot >= 0 ? &def->stmt->binds[def->slot] : NULL;
    const Buf *names[] = {bind ? bind->var : ref, bind ? bind->out : NULL};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; names[k] != NULL && i < names[k]->rank; i++) {
            want(d, names[k]->dims[i]);
        }
    }
    want_buf(d, bind ? bind->init : NULL);
    want_buf(d, bind ? bind->next : NULL);
}

/* What makes or names the buffer; and local memory that is read, or written by
 * a statement that stays, needs every statement that writes it. */
static void
mark_buf(Dead *d, Buf *buf)
{
    const Buf *memory = memory_of(buf);
    mark_stmt(d, map_get(&d->allocs, buf));
    mark_name(d, buf);
    if (map_has(&d->live_bufs, memory)) {
        return;
    }
    map_set(&d->live_bufs, memory, buf);
    NodeVec *list = map_get(&d->writers, memory);
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
    if (ir_reads(e) || e->op == E_DIM || e->op == E_STRIDE ||
        e->op == E_DISJOINT) {
        want_buf(d, e->buf);
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
    case S_ROUTINE:
        return !is_local(s->buf);
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
        want_buf(d, d->func->rets.at[i].buf);
    }
    while (d->todo.n > 0 || d->bufs.n > 0) {
        if (d->todo.n > 0) {
            mark_expr(d, d->todo.at[--d->todo.n]);
        } else {
            mark_buf(d, d->bufs.at[--d->bufs.n]);
        }
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

/* As sweep_joins. */
static void
sweep_binds(Dead *d, Stmt *s)
{
    int n = 0;
    for (int i = 0; i < s->nbinds; i++) {
        const Def *def = map_get(&d->names, s->binds[i].out);
        if (def->live) {
            s->binds[n++] = s->binds[i];
        }
    }
    d->dropped += s->nbinds - n;
    s->nbinds = n;
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
        sweep_binds(d, copy);
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
    d.names = map_new(scratch);
    d.allocs = map_new(scratch);
    collect_block(&d, &func->body, NULL);
    mark_all(&d);
    func->body = sweep(&d, &func->body);
    return d.dropped;
}
