/* Which versions are read, and which vectors are changed in place.
 *
 *     for i in range(n):         x is read only after the loop: the join of its
 *         x = a[i]               version with the one before the loop is used
 *         y = x * 2              y is never read: no join, no variable
 *     return x
 *
 * Inference makes a version for every name at every join.  Only those that are
 * read, directly or through other joins, are lowered; so loops carry no
 * variables that nobody needs, which matters for more than speed: a carried
 * variable keeps a loop from running in parallel.
 *
 * The same walk finds the vectors that are changed in place.  Both facts must
 * be known before the first statement is lowered, because they decide whether a
 * version is a LET, a SET variable or nothing at all.
 */
#include "csrc/lower/state.h"

typedef struct Uses {
    Lower *L;
    Map sources; /* Version -> the first Edge into it */
    VEC(const Version *) pending;
} Uses;

/* A CONVERT from "from" into the version that has it in its list. */
typedef struct Edge {
    const Version *from;
    struct Edge *next;
} Edge;

static void use_block(Uses *u, const ABlock *block);
static void use_func(Uses *u, const AFunc *func);

/* A version that is read must have a value. */
static void
use_version(Uses *u, const Version *version)
{
    if (!map_has(&u->L->used, version)) {
        map_set(&u->L->used, version, u);
        vec_push(u->L->arena, &u->pending, version);
    }
}

/* Reads in an expression; the typed body of a callee is part of it. */
static void
use_expr(Uses *u, const AExpr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == A_NAME && e->version != NULL) {
        use_version(u, e->version);
    }
    use_expr(u, e->lhs);
    use_expr(u, e->rhs);
    for (int i = 0; i < e->items.n; i++) {
        use_expr(u, e->items.at[i]);
    }
    if (e->callee != NULL) {
        use_func(u, e->callee);
    }
    use_block(u, &e->block);
}

/* A vector under this name is changed in place, so its version must be a
 * variable that can be set again. */
static void
note_changed(Uses *u, const AExpr *name)
{
    if (name->kind == A_NAME && type_is_vector(name->type)) {
        map_set(&u->L->changed, name->version, u);
    }
}

/* Names that are targets are not read; a subscript's base is, since the rest of
 * the array keeps its elements. */
static void
use_target(Uses *u, const AExpr *e)
{
    if (e->kind == A_SUBSCRIPT) {
        note_changed(u, e->lhs);
        use_expr(u, e);
    }
    bool display = e->kind == A_TUPLE || e->kind == A_LIST;
    for (int i = 0; display && i < e->items.n; i++) {
        const AExpr *item = e->items.at[i];
        use_target(u, item->kind == A_STARRED ? item->lhs : item);
    }
}

/* Reading the joined version will read "from". */
static void
note_edge(Uses *u, const AStmt *s)
{
    Edge *edge = ARENA_NEW(u->L->arena, Edge);
    edge->from = s->from;
    edge->next = map_get(&u->sources, s->to);
    map_set(&u->sources, s->to, edge);
}

/* Conversions count only if what they convert to is read. */
static void
use_stmt(Uses *u, const AStmt *s)
{
    for (int i = 0; i < s->targets.n; i++) {
        const AExpr *target = s->targets.at[i];
        if (s->kind == AS_AUG) {
            use_expr(u, target);
            note_changed(u, target->kind == A_SUBSCRIPT ? target->lhs : target);
        } else {
            use_target(u, target);
        }
    }
    use_expr(u, s->value);
    if (s->kind == AS_CONVERT) {
        note_edge(u, s);
    }
    use_block(u, &s->body);
    use_block(u, &s->orelse);
}

/* All statements of a block. */
static void
use_block(Uses *u, const ABlock *block)
{
    for (int i = 0; i < block->n; i++) {
        use_stmt(u, block->at[i]);
    }
}

/* The result of a function is read by whoever calls it. */
static void
use_func(Uses *u, const AFunc *func)
{
    for (int i = 0; i < func->params.n; i++) {
        use_expr(u, func->params.at[i].dflt);
    }
    use_version(u, func->returned);
    use_block(u, &func->body);
}

/* Follows the joins backwards from what is read, until nothing is added:
 * reading a joined version reads all versions that are converted to it. */
void
find_uses(Lower *L, const AFunc *func)
{
    Uses u = {.L = L, .sources = map_new(L->arena)};
    use_func(&u, func);
    for (int i = 0; i < func->commits.n; i++) {
        const ACommit *commit = &func->commits.at[i];
        use_version(&u, commit->value);
        if (commit->flag != NULL) {
            use_version(&u, commit->flag);
        }
    }
    for (int i = 0; i < u.pending.n; i++) {
        const Edge *edge = map_get(&u.sources, u.pending.at[i]);
        for (; edge != NULL; edge = edge->next) {
            if (edge->from != NULL) {
                use_version(&u, edge->from);
            }
        }
    }
}
