/* Rows of elements for NumPy's inner loops.
 *
 *     out = np.exp(a * b) + 1     for each row, in strips of 256 elements:
 *                                     for k: x[k] = a[..] * b[..]
 *                                     routine loop np_exp &y of [x]
 *                                     for k: out[..] = y[k] + 1
 *
 * A loop of NumPy's costs as much for one element as for ten, so where a whole
 * array is computed its operands are gathered first.  The bits are those of
 * single elements, which is tested when the module is made (csrc/py/loops.c).
 * What stands between such functions in the tree is computed element by element
 * as ever, from the strips of those that are done: np.exp(np.sin(a)) has two
 * strips, the second one filled from the first.
 *
 * A strip is small enough to stay in the L1 cache together with its operands,
 * and large enough that calls don't matter.
 *
 * The kernel that counts warnings has no rows: there each element is looked at.
 */
#include "csrc/base/approx.h"
#include "csrc/ir/relaxed.h"
#include "csrc/lower/state.h"

enum { STRIP = 256, MOST_ROWS = 8, SHORT = 8 };

/* A function whose strip is in "buf". */
typedef struct Row {
    const Lazy *z;
    Buf *buf;
} Row;

/* The strip that is being computed: elements lo <= i < lo + m of the last axis,
 * of which "k" counts the one at hand. */
typedef struct Rows {
    Row at[MOST_ROWS];
    int n;
    const View *to;
    Expr *index[MAX_RANK];
    Expr *lo;
    Expr *m;
    Expr *k;
    Loc loc;
} Rows;

/* --- which functions ------------------------------------------------------ */

/* Does 'z' change along the last axis as the result does? Few elements are
 * cheaper one by one. */
static bool
is_long(const Lazy *z)
{
    int64_t n;
    return z->rank > 0 &&
           !(ir_const_int(z->extent[z->rank - 1], &n) && n < SHORT);
}

/* Adds the functions in 'z', operands first, each once; a tree that asks for
 * elements in another order is left alone. */
static void
find_rows(const Lower *L, const Lazy *z, Rows *rows)
{
    if (z->index != NULL || !is_long(z)) {
        return;
    }
    for (int i = 0; i < z->nargs; i++) {
        find_rows(L, z->args[i], rows);
    }
    for (int i = 0; i < rows->n; i++) {
        if (rows->at[i].z == z) {
            return;
        }
    }
    int fn = lazy_loop(z);
    bool relaxed = fn >= 0 && (L->approx & RELAX_VECMATH) != 0 &&
                   ir_fn_relaxed((Fn)fn) >= 0;
    if (rows->n < MOST_ROWS && fn >= 0 && !relaxed) {
        rows->at[rows->n++] = (Row){.z = z};
    }
}

/* --- strips --------------------------------------------------------------- */

/* Memory of 'n' elements that lives for one strip. */
static Buf *
strip_buf(Lower *L, DType dtype, int n, Loc loc)
{
    Buf *buf = new_buf(L, "row", dtype, 1, BUF_LOCAL);
    buf->loc = loc;
    buf->space = SPACE_STACK;
    buf->dims[0] = int_const(L, n);
    Stmt *s = ir_stmt(L->arena, S_ALLOC, loc);
    s->buf = buf;
    emit(L, s);
    return buf;
}

/* The index of 'z' for the element at hand: axes of one element are broadcast.
 */
static void
index_for(Lower *L, const Rows *rows, const Lazy *z, Expr **out)
{
    int rank = rows->to->rank;
    for (int k = 0; k < z->rank; k++) {
        int64_t n;
        bool one = ir_const_int(z->extent[k], &n) && n == 1;
        int from = rank - z->rank + k;
        out[k] = one ? int_const(L, 0) : rows->index[from];
    }
}

/* for k in [0, m): element k of the strip */
static Block *
open_strip(Lower *L, Rows *rows)
{
    Block *outer = L->out;
    rows->k = open_for(L, int_const(L, 0), rows->m, rows->loc);
    rows->index[rows->to->rank - 1] = op2(L, E_ADD, rows->lo, rows->k);
    return outer;
}

/* Elements of a strip as an operand of a routine; 'step' 0 repeats one. */
static Expr *
box(Lower *L, Buf *buf, const Rows *rows, int step)
{
    Expr *zero = int_const(L, 0); /* of complex numbers for two axes */
    Expr *args[] = {zero, zero, zero, rows->m, int_const(L, step)};
    int skip = 2 - buf->rank;
    return ir_sum(L->arena, SUM_BOX, buf->dtype, buf, args + skip, 5 - skip);
}

/* Operand 'arg' of a function, gathered in the dtype of its loop. One that is
 * itself such a function has its strip already; a number is stored once, and
 * repeated by a step of 0. */
static Expr *
gather(Lower *L, Rows *rows, const Lazy *arg, DType dtype)
{
    Loc loc = rows->loc;
    for (int i = 0; i < rows->n; i++) {
        if (rows->at[i].z == arg && arg->dtype == dtype) {
            return box(L, rows->at[i].buf, rows, 1);
        }
    }
    bool single = arg->rank == 0;
    Buf *buf = strip_buf(L, dtype, single ? 1 : STRIP, loc);
    Expr *at[MAX_RANK];
    if (single) {
        Expr *e = vec_cast(L, dtype, lazy_at(L, arg, at), loc);
        Expr *zero = int_const(L, 0);
        emit(L, ir_store(L->arena, buf, &zero, 1, e, loc));
        return box(L, buf, rows, 0);
    }
    Block *outer = open_strip(L, rows);
    index_for(L, rows, arg, at);
    Expr *e = vec_cast(L, dtype, lazy_at(L, arg, at), loc);
    emit(L, ir_store(L->arena, buf, &rows->k, 1, e, loc));
    L->out = outer;
    return box(L, buf, rows, 1);
}

/* One function over the strip. */
static void
run_row(Lower *L, Rows *rows, Row *row)
{
    const Lazy *z = row->z;
    Stmt *s = ir_stmt(L->arena, S_ROUTINE, rows->loc);
    s->routine = ROUTINE_LOOP;
    s->fn = (Fn)lazy_loop(z);
    s->nindex = z->nargs;
    s->index = ARENA_ARRAY(L->arena, Expr *, z->nargs);
    for (int i = 0; i < z->nargs; i++) {
        s->index[i] = gather(L, rows, z->args[i], z->compute);
    }
    row->buf = strip_buf(L, z->compute, STRIP, rows->loc);
    s->buf = row->buf;
    emit(L, s);
    L->result->may_warn = true;
}

/* --- the whole ------------------------------------------------------------ */

/* The element of a function that has been computed, or NULL. */
Expr *
row_element(Lower *L, const Lazy *z)
{
    const Rows *rows = L->rows;
    for (int i = 0; rows != NULL && i < rows->n; i++) {
        const Row *row = &rows->at[i];
        if (row->z == z && row->buf != NULL) {
            return ir_load(L->arena, row->buf, &rows->k, 1,
                           row->buf->rank > 1 ? 2 : 0);
        }
    }
    return NULL;
}

/* Strips of the last axis, with the other indices given. The last strip of a
 * row is as long as what is left. */
static void
store_strips(Lower *L, Rows *rows, View *at, const Lazy *z)
{
    const View *to = rows->to;
    Loc loc = rows->loc;
    int last = to->axis[to->rank - 1];
    Expr *n = reuse(L, view_extent(L, to, to->rank - 1), loc);
    Expr *strip = int_const(L, STRIP);
    Expr *count = op2(L, E_ADD, n, int_const(L, STRIP - 1));
    count = reuse(L, op2(L, E_IDIV, count, strip), loc);
    Block *outer = L->out;
    Expr *s = open_for(L, int_const(L, 0), count, loc);
    rows->lo = reuse(L, op2(L, E_MUL, s, strip), loc);
    rows->m = reuse(L, op2(L, E_MIN, op2(L, E_SUB, n, rows->lo), strip), loc);
    L->rows = rows;
    for (int i = 0; i < rows->n; i++) {
        run_row(L, rows, &rows->at[i]);
    }
    open_strip(L, rows);
    Expr *own[MAX_RANK];
    index_for(L, rows, z, own);
    at->fixed[last] = view_place(L, to, last, rows->index[to->rank - 1]);
    Expr *e = vec_cast(L, view_dtype(to), lazy_at(L, z, own), loc);
    view_store(L, at, e, loc);
    L->rows = NULL;
    L->out = outer;
}

/* Stores 'z' by rows if that is worth it. */
bool
rows_store(Lower *L, const View *to, const Lazy *z, Loc loc)
{
    Rows rows = {.to = to, .loc = loc};
    if (L->count || L->rows != NULL || to->rank == 0 ||
        to->axis[to->rank - 1] < 0) {
        return false;
    }
    find_rows(L, z, &rows);
    if (rows.n == 0) {
        return false;
    }
    Block *outer = L->out;
    View at = *to;
    for (int k = 0; k + 1 < to->rank; k++) {
        int axis = to->axis[k];
        rows.index[k] = int_const(L, 0);
        if (axis >= 0) {
            rows.index[k] = open_for(L, int_const(L, 0), to->extent[axis], loc);
            at.fixed[axis] = view_place(L, to, axis, rows.index[k]);
        }
    }
    at.rank = 0;
    store_strips(L, &rows, &at, z);
    L->out = outer;
    return true;
}
