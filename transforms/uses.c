/* How a buffer is used: element by element, or otherwise?
 *
 * Who changes where the elements of a private array lie, or when they are
 * cleared, must know every use of it.  Touches are loads and stores; what else
 * there is, views, sums, routines, other names, ends the matter.
 */
#include "transforms/box.h"

/* For ir_each_node. */
static void
note_node(void *data, const Expr *e)
{
    Uses *uses = data;
    uses->touches += e->op == E_LOAD && e->buf == uses->buf;
    uses->extent |= e->op == E_DIM && e->buf == uses->buf;
    uses->other = uses->other || (e->op == E_SUM && e->buf == uses->buf) ||
                  (e->op == E_STRIDE && e->buf == uses->buf) ||
                  (e->op == E_DISJOINT &&
                   (e->buf == uses->buf || e->buf2 == uses->buf));
}

/* For ir_each_stmt. */
static void
note_stmt(void *data, Stmt *s)
{
    Uses *uses = data;
    bool its = s->buf == uses->buf;
    uses->touches += its && s->kind == S_STORE;
    uses->fills += its && s->kind == S_FILL;
    uses->other |= its && s->kind != S_STORE && s->kind != S_FILL &&
                   s->kind != S_ALLOC;
    uses->other |= s->src == uses->buf;
    for (int i = 0; i < s->nbinds; i++) {
        uses->other |= s->binds[i].init == uses->buf ||
                       s->binds[i].next == uses->buf;
    }
    ir_each_node(s, note_node, uses);
}

Uses
uses_of(const Stmt *s, const Buf *buf)
{
    Uses uses = {.buf = buf};
    Stmt copy = *s;
    Stmt *slot = &copy;
    Block block = {.at = &slot, .n = 1, .cap = 1};
    ir_each_stmt(&block, note_stmt, &uses);
    return uses;
}

/* The results are evaluated at the end of the body. */
bool
uses_at_end(const Func *func, const Buf *buf)
{
    Uses uses = {.buf = buf};
    for (int i = 0; i < func->rets.n; i++) {
        const Expr *value = func->rets.at[i].value;
        if (value != NULL) {
            ir_each_node_of(value, note_node, &uses);
        }
        uses.other |= func->rets.at[i].buf == buf;
    }
    return uses.touches > 0 || uses.extent || uses.other;
}

Uses
uses_in(const Func *func, const Buf *buf)
{
    Uses uses = {.buf = buf};
    ir_each_stmt(&func->body, note_stmt, &uses);
    return uses;
}

bool
uses_made_extent(const Expr *e)
{
    bool asks = e->op == E_DIM || e->op == E_STRIDE || e->op == E_DISJOINT;
    bool made = asks && (e->buf->kind != BUF_ARG ||
                         (e->op == E_DISJOINT && e->buf2->kind != BUF_ARG));
    for (int i = 0; i < e->nargs && !made; i++) {
        made = uses_made_extent(e->args[i]);
    }
    return made;
}
