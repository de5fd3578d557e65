/* Walk a function while knowing what holds at every place.
 *
 *     if y > 0 {            the visitor is called for the if before y > 0 is
 *         out[y] = ...      known, for the store while it is
 *     }
 *
 * What a statement leaves behind (a definition, a check that passed) is noted
 * by bounds_after when the walk goes on to the next one.
 */
#include "csrc/analysis/analysis.h"

/* The condition is a fact inside, and forgotten after. */
static void
visit_branch(Bounds *b, const Stmt *s, bool taken, VisitFn fn, void *data)
{
    int mark = bounds_push(b);
    bounds_assume(b, s->value, taken);
    bounds_visit_block(b, taken ? &s->body : &s->els, fn, data);
    bounds_pop(b, mark);
}

/* The blocks of 's', with what holds in them. A WHILE's "pre" runs before its
 * test, so nothing is assumed of that, nor, for simplicity, in the body. */
static void
visit_inside(Bounds *b, const Stmt *s, VisitFn fn, void *data)
{
    if (s->kind == S_IF) {
        visit_branch(b, s, true, fn, data);
        visit_branch(b, s, false, fn, data);
        return;
    }
    int mark = bounds_push(b);
    if (s->kind == S_FOR || s->kind == S_WHILE) {
        bounds_loop(b, s);
    }
    bounds_visit_block(b, &s->pre, fn, data);
    bounds_visit_block(b, &s->body, fn, data);
    bounds_pop(b, mark);
}

/* Calls 'fn' for each statement and then, unless 'fn' refused, for what is in
 * it. What the statement leaves behind is known in either case. */
void
bounds_visit_block(Bounds *b, const Block *block, VisitFn fn, void *data)
{
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (fn(data, b, s)) {
            visit_inside(b, s, fn, data);
        }
        bounds_after(b, s);
    }
}

/* Walks all of 'func' with fresh Bounds in 'arena'. */
void
bounds_visit(Arena *arena, const Func *func, VisitFn fn, void *data)
{
    bounds_visit_block(bounds_new(arena, func), &func->body, fn, data);
}

static void
note_loop(void *data, Stmt *s)
{
    bool *found = data;
    *found = *found || s->kind == S_FOR || s->kind == S_WHILE;
}

/* Is there a FOR or WHILE in 'block' or below? */
bool
block_has_loop(const Block *block)
{
    bool found = false;
    ir_each_stmt(block, note_loop, &found);
    return found;
}
