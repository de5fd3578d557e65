/* Walks over trees: comparing, searching, substituting, rewriting.
 *
 * Expressions are immutable and may be shared, so every rewrite returns the
 * very node it was given where nothing below has changed: a pass can compare
 * pointers to see whether it did anything, and untouched parts cost no memory.
 */
#include <string.h>

#include "csrc/ir/ir.h"

/* --- questions about expressions ---------------------------------------- */

/* Constants are compared as bits: 0.0 and -0.0 differ, a nan equals itself. So
 * two nodes are equal exactly when a kernel can't tell their values apart: a
 * -0.0 may not stand in for a 0.0. */
static bool
equal_payload(const Expr *lhs, const Expr *rhs)
{
    switch ((int)lhs->op) {
    case E_CONST:
        return memcmp(&lhs->ival, &rhs->ival, sizeof(lhs->ival)) == 0;
    case E_VAR:
        return lhs->var == rhs->var;
    case E_LOAD:
        return lhs->buf == rhs->buf;
    case E_DIM:
    case E_STRIDE:
    case E_SUM:
        return lhs->buf == rhs->buf && lhs->axis == rhs->axis;
    case E_DISJOINT:
        return lhs->buf == rhs->buf && lhs->buf2 == rhs->buf2;
    case E_CALL:
        return lhs->fn == rhs->fn;
    default:
        return true;
    }
}

/* Hashes first, so unequal trees nearly always part at the root; the walk that
 * follows makes a collision harmless. A shared subtree costs one pointer
 * comparison. */
bool
ir_equal(const Expr *lhs, const Expr *rhs)
{
    if (lhs == rhs) {
        return true;
    }
    if (!lhs || !rhs || lhs->hash != rhs->hash || lhs->op != rhs->op ||
        lhs->dtype != rhs->dtype || lhs->lanes != rhs->lanes ||
        lhs->nargs != rhs->nargs || !equal_payload(lhs, rhs)) {
        return false;
    }
    for (int i = 0; i < lhs->nargs; i++) {
        if (!ir_equal(lhs->args[i], rhs->args[i])) {
            return false;
        }
    }
    return true;
}

bool
ir_reads(const Expr *e)
{
    return e->op == E_LOAD || e->op == E_SUM;
}

/* Stops at the first LOAD.  Shared parts are visited once per use: trees here
 * are small, budgets bound the rest. */
bool
ir_has_load(const Expr *e)
{
    if (ir_reads(e)) {
        return true;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (ir_has_load(e->args[i])) {
            return true;
        }
    }
    return false;
}

bool
ir_warns(const Block *block)
{
    for (int i = 0; i < block->n; i++) {
        const Stmt *s = block->at[i];
        if (s->kind == S_WARN || ir_warns(&s->pre) || ir_warns(&s->body) ||
            ir_warns(&s->els)) {
            return true;
        }
    }
    return false;
}

bool
ir_is_var(const Expr *e, const Var *var)
{
    return e->op == E_VAR && e->var == var;
}

bool
ir_uses(const Expr *e, const Var *var)
{
    if (e->op == E_VAR) {
        return e->var == var;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (ir_uses(e->args[i], var)) {
            return true;
        }
    }
    return false;
}

/* For ir_each_node. */
static void
count_use(void *data, const Expr *e)
{
    int *uses = data;
    if (e->op == E_VAR) {
        uses[e->var->id]++;
    }
}

/* For ir_each_stmt. */
static void
count_uses(void *data, Stmt *s)
{
    ir_each_node(s, count_use, data);
}

int *
ir_count_uses(Arena *arena, const Func *func)
{
    int *uses = ARENA_ARRAY(arena, int, func->next_id + 1);
    ir_each_stmt(&func->body, count_uses, uses);
    return uses;
}

/* A GROW keeps all elements, but what is known of a place in memory ends with
 * it. */
bool
ir_writes(const Stmt *s)
{
    return s->kind == S_STORE || s->kind == S_FILL || s->kind == S_GROW ||
           s->kind == S_ROUTINE;
}

bool
ir_is_const(const Expr *e)
{
    return e->op == E_CONST;
}

/* NULL is allowed, since bounds and 'until' may be missing.  '*out' keeps its
 * value when the answer is no. */
bool
ir_const_int(const Expr *e, int64_t *out)
{
    if (!e || e->op != E_CONST || dtype_is_float(e->dtype)) {
        return false;
    }
    *out = e->ival;
    return true;
}

/* --- rewriting expressions ---------------------------------------------- */

/* The operands are copied when the first of them changes, and not before. 'fn'
 * is called for each node, shared ones once per use, after the operands; what
 * it returns is not visited again. */
Expr *
ir_map(Arena *arena, Expr *e, ExprFn fn, void *data)
{
    Expr **args = NULL; /* made when the first operand changes */
    for (int i = 0; i < e->nargs; i++) {
        Expr *arg = ir_map(arena, e->args[i], fn, data);
        if (arg != e->args[i] && !args) {
            args =
                arena_copy(arena, e->args, sizeof(Expr *) * (size_t)e->nargs);
        }
        if (args) {
            args[i] = arg;
        }
    }
    return fn(data, args ? ir_with_args(arena, e, args) : e);
}

/*   "map"  Var * -> Expr * and Buf * -> Buf *; "arena"  for what is built anew.
 */
typedef struct Subst {
    Arena *arena;
    const Map *map;
} Subst;

/* 'buf', or what 'map' has in its place. */
static Buf *
subst_buf(const Map *map, Buf *buf)
{
    Buf *other = map_get(map, buf);
    return other ? other : buf;
}

/* A node that names a Buf, built again if 'map' replaces the Buf. The operands
 * are done already.  A LOAD keeps its lanes; its dtype becomes that of the new
 * Buf, which is the caller's affair. */
static Expr *
subst_bufs(Subst *s, Expr *e)
{
    Buf *buf = subst_buf(s->map, e->buf);
    Expr *made = e;
    if (e->op == E_DISJOINT) {
        Buf *buf2 = subst_buf(s->map, e->buf2);
        if (buf != e->buf || buf2 != e->buf2) {
            made = ir_disjoint(s->arena, buf, buf2);
        }
    } else if (buf != e->buf && e->op == E_DIM) {
        made = ir_dim(s->arena, buf, e->axis);
    } else if (buf != e->buf && e->op == E_STRIDE) {
        made = ir_stride(s->arena, buf, e->axis);
    } else if (buf != e->buf && e->op == E_SUM) {
        made = ir_sum(s->arena, (SumKind)e->axis, e->dtype, buf, e->args,
                      e->nargs);
    } else if (buf != e->buf) {
        made = ir_load(s->arena, buf, e->args, e->nargs, e->lanes);
    }
    return made == e ? e : ir_at(made, e->loc);
}

/* One rule for all maps: a key that is no operand's Var or Buf has no
 * effect. */
static Expr *
subst_node(void *data, Expr *e)
{
    Subst *s = data;
    switch ((int)e->op) {
    case E_VAR: {
        Expr *other = map_get(s->map, e->var);
        return other ? other : e;
    }
    case E_LOAD:
    case E_SUM:
    case E_DIM:
    case E_STRIDE:
    case E_DISJOINT:
        return subst_bufs(s, e);
    default:
        return e;
    }
}

/* Bottom-up, so what a Var is replaced by is not searched again. So {x -> x +
 * 1} is a legal map, and {x -> y, y -> x} exchanges two names. A clone in whose
 * map nothing stands costs nothing. */
Expr *
ir_subst(Arena *arena, Expr *e, const Map *map)
{
    Subst s = {arena, map};
    return map->n ? ir_map(arena, e, subst_node, &s) : e;
}

/* --- statements --------------------------------------------------------- */

/* The extents of a buffer that a statement makes or names; not those asked of
 * the buffer itself. NULL is for a Bind without "var". */
static void
each_dim(Buf *buf, void (*fn)(void *data, Expr **slot), void *data)
{
    for (int i = 0; buf && i < buf->rank; i++) {
        Expr *dim = buf->dims[i];
        if (dim && (dim->op != E_DIM || dim->buf != buf)) {
            fn(data, &buf->dims[i]);
        }
    }
}

/* The dims of what an ALLOC makes belong to it: who counts uses or renames must
 * see them. They are slots and not values, so 'fn' may put another expression
 * there; in a statement that other code shares it must not (ir_copy_stmt
 * first).  So do those of other names, where they get them. */
void
ir_each_expr(Stmt *s, void (*fn)(void *data, Expr **slot), void *data)
{
    Expr **slots[] = {&s->value, &s->lo, &s->hi, &s->until};
    for (int i = 0; i < (int)(sizeof(slots) / sizeof(slots[0])); i++) {
        if (*slots[i]) {
            fn(data, slots[i]);
        }
    }
    for (int i = 0; i < s->nindex; i++) {
        fn(data, &s->index[i]);
    }
    for (int i = 0; i < s->njoins; i++) {
        fn(data, &s->joins[i].then_val);
        fn(data, &s->joins[i].else_val);
    }
    for (int i = 0; i < s->ncarries; i++) {
        fn(data, &s->carries[i].init);
        fn(data, &s->carries[i].next);
    }
    if (s->kind == S_ALLOC || s->kind == S_VIEW) {
        each_dim(s->buf, fn, data);
    }
    for (int i = 0; i < s->nbinds; i++) {
        each_dim(s->binds[i].var, fn, data);
        each_dim(s->binds[i].out, fn, data);
    }
}

void
ir_each_node_of(const Expr *e, NodeFn *fn, void *data)
{
    fn(data, e);
    for (int i = 0; i < e->nargs; i++) {
        ir_each_node_of(e->args[i], fn, data);
    }
}

void
ir_note_var(void *map, const Expr *e)
{
    if (e->op == E_VAR) {
        map_set(map, e->var, e->var);
    }
}

typedef struct NodeVisit {
    NodeFn *fn;
    void *data;
} NodeVisit;

/* A slot may be empty. */
static void
visit_slot(void *data, Expr **slot)
{
    const NodeVisit *visit = data;
    if (*slot != NULL) {
        ir_each_node_of(*slot, visit->fn, visit->data);
    }
}

void
ir_each_node(Stmt *s, NodeFn *fn, void *data)
{
    NodeVisit visit = {fn, data};
    ir_each_expr(s, visit_slot, &visit);
}

/* 'pre' before 'body': the order of the text. */
void
ir_each_stmt_of(Stmt *s, EachFn *fn, void *data)
{
    fn(data, s);
    ir_each_stmt(&s->pre, fn, data);
    ir_each_stmt(&s->body, fn, data);
    ir_each_stmt(&s->els, fn, data);
}

void
ir_each_stmt(const Block *block, EachFn *fn, void *data)
{
    for (int i = 0; i < block->n; i++) {
        ir_each_stmt_of(block->at[i], fn, data);
    }
}

/* NULL for none, so that an empty list takes no memory. */
static void *
copy_array(Arena *arena, const void *from, int n, size_t size)
{
    return n > 0 ? arena_copy(arena, from, (size_t)n * size) : NULL;
}

/* The Buf of an ALLOC is shared too, and with it the dims. */
Stmt *
ir_copy_stmt(Arena *arena, const Stmt *s)
{
    Stmt *copy = arena_copy(arena, s, sizeof(Stmt));
    copy->index = copy_array(arena, s->index, s->nindex, sizeof(Expr *));
    copy->joins = copy_array(arena, s->joins, s->njoins, sizeof(Join));
    copy->carries = copy_array(arena, s->carries, s->ncarries, sizeof(Carry));
    copy->binds = copy_array(arena, s->binds, s->nbinds, sizeof(Bind));
    return copy;
}

/* Nested blocks first: 'fn' sees a statement that is done inside. 'fn' may thus
 * build on "body" without meeting a statement that is still to be replaced.
 * Pushing nothing deletes the statement. */
Block
ir_map_block(Arena *arena, const Block *block, StmtFn fn, void *data)
{
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = ir_copy_stmt(arena, block->at[i]);
        s->pre = ir_map_block(arena, &s->pre, fn, data);
        s->body = ir_map_block(arena, &s->body, fn, data);
        s->els = ir_map_block(arena, &s->els, fn, data);
        fn(data, &out, s);
    }
    return out;
}

/* For ir_map_block, which has copied it. */
static void
keep_stmt(void *data, Block *out, Stmt *s)
{
    vec_push((Arena *)data, out, s);
}

Block
ir_copy_block(Arena *arena, const Block *block)
{
    return ir_map_block(arena, block, keep_stmt, arena);
}

/* A counter for ir_each_stmt: of "kind", "n" so far. */
typedef struct Count {
    StmtKind kind;
    int n;
} Count;

static void
count_kind(void *data, Stmt *s)
{
    Count *count = data;
    count->n += s->kind == count->kind;
}

int
ir_count(const Func *func, StmtKind kind)
{
    Count count = {kind, 0};
    ir_each_stmt(&func->body, count_kind, &count);
    return count.n;
}

/* Shared nodes count each time: it is the size of the text that budgets are
 * about. */
static int
expr_size(const Expr *e)
{
    int n = 1;
    for (int i = 0; i < e->nargs; i++) {
        n += expr_size(e->args[i]);
    }
    return n;
}

static void
add_expr_size(void *data, Expr **slot)
{
    int *n = data;
    *n += expr_size(*slot);
}

static void
add_stmt_size(void *data, Stmt *s)
{
    int *n = data;
    *n += 1;
    ir_each_expr(s, add_expr_size, data);
}

int
ir_size(const Block *block)
{
    int n = 0;
    ir_each_stmt(block, add_stmt_size, &n);
    return n;
}
