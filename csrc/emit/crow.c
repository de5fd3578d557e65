/* Row pointers of innermost loops.
 *
 *     out[y*w + x] = in[(y-1)*w + x] + in[y*w + x]
 * ->  const double *in_1r0 = in_1 + (y-1)*w;
 *     const double *in_1r1 = in_1 + y*w;
 *     out_2r2[x] = in_1r0[x] + in_1r1[x]
 *
 * An element of a packed array whose leading indices don't change in the loop
 * is addressed from its row.  gcc would find as much, but makes a pointer of
 * its own for every tap of a stencil, and spills: with rows, blurs of nine
 * taps run 10 to 25 % faster.
 *
 * Of loops without SIMD it is done for elements that are found by data,
 *
 *     counts[k*n + img[x]] += 1   ->   counts_1r0[img[x]] += 1
 *
 * of which gcc adds up the index in every round, even behind such a name, if it
 * knows what the name stands for: a histogram takes 1.7 times as long by that.
 */
#include "csrc/emit/cgen.h"

/*   "g"      the emitter
 *   "inner"  by id of Vars and Bufs: defined by the loop
 *   "found"  by id of Vars: comes from memory there; NULL: elements need not
 *            be found by data
 *   "loops"  how many loops there are, itself and in it */
typedef struct Scan {
    Gen *g;
    const bool *inner;
    bool *found;
    int loops;
} Scan;

/* Does 'e' change in the loop? Any LOAD counts as changing: the loop may write
 * what it reads. */
static bool
is_inner(const Scan *scan, const Expr *e)
{
    bool inner = ir_reads(e) || (e->op == E_VAR && scan->inner[e->var->id]);
    for (int i = 0; i < e->nargs && !inner; i++) {
        inner = is_inner(scan, e->args[i]);
    }
    return inner;
}

/* Does 'e' come from memory? */
static bool
is_found(const Scan *scan, const Expr *e)
{
    bool found = ir_reads(e) || (e->op == E_VAR && scan->found[e->var->id]);
    for (int i = 0; i < e->nargs && !found; i++) {
        found = is_found(scan, e->args[i]);
    }
    return found;
}

/* For ir_each_stmt. */
static void
note_found(void *data, Stmt *s)
{
    Scan *scan = data;
    scan->loops += s->kind == S_FOR || s->kind == S_WHILE;
    if (s->kind == S_LET && is_found(scan, s->value)) {
        scan->found[s->var->id] = true;
    }
}

/* Is the element addressed through a row?  One axis is its own row; a vector's
 * lanes (n < rank) are few and adjacent. */
static bool
is_row(Scan *scan, const Buf *buf, Expr *const *index, int n)
{
    if (!c_packed(buf) || buf->rank < 2 || n != buf->rank) {
        return false;
    }
    if (scan->inner[buf->id] ||
        (scan->found && !is_found(scan, index[n - 1]))) {
        return false;
    }
    bool inner = false;
    for (int i = 0; i + 1 < n; i++) {
        inner |= is_inner(scan, index[i]);
    }
    return !inner;
}

/* Compared by value: two loads of one row share its pointer. */
const char *
c_row(Gen *g, const Buf *buf, Expr *const *index, int n)
{
    for (int i = 0; i < g->frame->rows.n; i++) {
        const Row *row = &g->frame->rows.at[i];
        bool same = row->buf == buf && n == buf->rank;
        for (int k = 0; same && k + 1 < n; k++) {
            same = ir_equal(row->index[k], index[k]);
        }
        if (same) {
            return row->name;
        }
    }
    return NULL;
}

/* Declares the pointer to the row of this element unless there is one.  c_place
 * gives the address of its first element the long way, since the row is not in
 * the list yet. */
static void
add_row(Scan *scan, const Buf *buf, Expr *const *index, int n)
{
    Gen *g = scan->g;
    if (!is_row(scan, buf, index, n) || c_row(g, buf, index, n) != NULL) {
        return;
    }
    Expr **start = arena_copy(g->arena, index, sizeof(*index) * (size_t)n);
    start[n - 1] = ir_int(g->arena, DT_I64, 0);
    const char *place = c_place(g, buf, start, n, 0);
    const char *name = str_printf(g->arena, "%sr%d", c_buf(g, buf),
                                  g->frame->row_count++);
    LINE(g, "%s%s *%s = &%s;", g->stored[buf->id] ? "" : "const ",
         c_type(buf->dtype), name, place);
    if (scan->found) {
        LINE(g, "VZ_KEEP(%s);", name);
    }
    vec_push(g->arena, &g->frame->rows, ((Row){buf, start, name}));
}

/* For ir_each_node. */
static void
scan_node(void *data, const Expr *e)
{
    if (e->op == E_LOAD) {
        add_row(data, e->buf, e->args, e->nargs);
    }
}

/* Rows that one statement of the loop reads, then the one it writes. */
static void
scan_stmt(void *data, Stmt *s)
{
    Scan *scan = data;
    ir_each_node(s, scan_node, scan);
    if (s->kind == S_STORE) {
        add_row(scan, s->buf, s->index, s->nindex);
    }
}

/* Only the loop's own statements: rows of nested loops are theirs. */
void
c_rows_open(Gen *g, const Stmt *loop, bool vector)
{
    Block self = {0};
    vec_push(g->arena, &self, ir_copy_stmt(g->arena, loop));
    Scan scan = {.g = g, .inner = c_defined(g, &self, NULL)};
    if (!vector) {
        scan.found = ARENA_ARRAY(g->arena, bool, g->func->next_id + 1);
        ir_each_stmt(&self, note_found, &scan);
    }
    if (scan.loops > 1) {
        return;
    }
    for (int i = 0; i < loop->body.n; i++) {
        Stmt *s = loop->body.at[i];
        bool written = s->kind != S_LET || g->live[s->var->id];
        if (s->body.n == 0 && s->els.n == 0 && written) {
            scan_stmt(&scan, s);
        }
    }
}

/* Behind the loop the names are out of scope. */
void
c_rows_close(Gen *g)
{
    g->frame->rows.n = 0;
}
