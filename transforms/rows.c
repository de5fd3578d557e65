/* Squares, roots and NumPy's functions of a loop's rounds are computed by rows.
 *
 *     for x in lo..hi vector {          for k in strips of 256 rounds {
 *         let %d = (sub &a[x] m)            for x in first..end vector {
 *         store &b[x] =                         store &in[x - first] =
 *             (add (call square %d) 1)  ->          (sub &a[x] m) }
 *     }                                     routine loop square &sq of [in]
 *                                           for x in first..end vector {
 *                                               store &b[x] =
 *                                                   (add &sq[x - first] 1) } }
 *
 * pow(x, 2) is x*x but for one x in some dozens, of which pow must be asked
 * (csrc/emit/prelude_pow.h).  Asked in the middle of a loop, it costs the loop
 * its registers and the processor its guesses; a row is computed without any,
 * and repaired afterwards.  Of a loop that carries, a sum of squares, the
 * squares no longer wait for the sum.
 *
 * NumPy's loops cost some 15 ns to call and take 1 to 5 for an element; for how
 * many they are called makes no difference to the bits (csrc/py/loops.c).
 *
 * What an operand is made of is computed a strip ahead.  That must see the same
 * memory: what it loads is written by no round, or, where the rounds are
 * independent, by no earlier statement of its own round.
 */
#include "transforms/transforms.h"

enum {
    STRIP = 256,
    MOST_ROWS = 3, /* of operands at a time */
    MOST_BUFS = 6, /* rows on the stack of a function */
    LEAST = 64,    /* rounds for which it pays */
    FEW = 8,       /* the same for NumPy's functions */
};

/* The rows of one function of C: those of a parallel loop's round are its own.
 * Loops use them one after another.
 *   "bufs"  made at the beginning, where a loop needed more than there were
 *   "used"  by the loop at hand */
typedef struct Frame {
    VEC(Buf *) bufs;
    int used;
} Frame;

/* A call that is computed by rows: all that are equal to "call". */
typedef struct Row {
    Expr *call;
    Buf *in;
    Buf *out;
} Row;

/* One loop.
 *   "late"  Var * -> Cut *, what depends on a carry or on such a call
 *   "rows"  the calls whose operands don't */
typedef struct Cut {
    Pass *pass;
    Func *func;
    Frame *frame;
    const Stmt *loop;
    Map late;
    Row rows[MOST_ROWS];
    int n;
    bool refused;
} Cut;

/* --- which calls ---------------------------------------------------------- */

static bool
is_numpy_call(const Expr *e)
{
    return ir_fn_origin(e->fn) == 'N' && ir_fn_arity(e->fn) == 1 &&
           e->dtype == DT_F64 && e->args[0]->dtype == DT_F64;
}

static bool
is_row_call(const Expr *e)
{
    return e->op == E_CALL && e->lanes == 0 &&
           (e->fn == FN_SQUARE || e->fn == FN_ROOT || is_numpy_call(e));
}

/* Is 'e' known only when the calls are done? */
static bool
is_late(const Cut *cut, const Expr *e)
{
    bool late = is_row_call(e) ||
                (e->op == E_VAR && map_has(&cut->late, e->var));
    for (int i = 0; i < e->nargs && !late; i++) {
        late = is_late(cut, e->args[i]);
    }
    return late;
}

/* Notes the calls in 'e' whose operand is at hand, each once. */
static void
find_calls(Cut *cut, Expr *e)
{
    for (int i = 0; i < e->nargs; i++) {
        find_calls(cut, e->args[i]);
    }
    if (!is_row_call(e) || is_late(cut, e->args[0])) {
        return;
    }
    for (int i = 0; i < cut->n; i++) {
        if (ir_equal(cut->rows[i].call, e)) {
            return;
        }
    }
    if (cut->n == MOST_ROWS) {
        cut->refused = true;
        return;
    }
    cut->rows[cut->n++].call = e;
}

/* Is 'call' in 'e'? */
static bool
holds(const Expr *e, const Expr *call)
{
    bool found = ir_equal(e, call);
    for (int i = 0; i < e->nargs && !found; i++) {
        found = holds(e->args[i], call);
    }
    return found;
}

/* Looks through the body, in order.  Straight code only; checks stand where the
 * loop doesn't run in lanes. */
static bool
find_rows(Cut *cut)
{
    const Stmt *loop = cut->loop;
    for (int i = 0; i < loop->ncarries; i++) {
        map_set(&cut->late, loop->carries[i].var, cut);
    }
    for (int i = 0; i < loop->body.n; i++) {
        Stmt *s = loop->body.at[i];
        if (s->kind != S_LET && s->kind != S_STORE && s->kind != S_CHECK) {
            return false;
        }
        find_calls(cut, s->value);
        if (s->kind == S_LET && is_late(cut, s->value)) {
            map_set(&cut->late, s->var, cut);
        }
    }
    for (int i = 0; i < loop->ncarries; i++) {
        find_calls(cut, loop->carries[i].next);
    }
    return cut->n > 0 && !cut->refused;
}

/* --- may they be computed ahead? ------------------------------------------ */

/* What is to be computed ahead, found from the end of the body.
 *   "wanted"  Var * -> Cut *, names that are used there
 *   "at"      where in the body the search is
 *   "late"    where the first check is that is made late
 *   "ok"      no load would be moved over a store, or over such a check, which
 *             may be what keeps it in range */
typedef struct Ahead {
    const Cut *cut;
    Map wanted;
    int at;
    int late;
    bool ok;
} Ahead;

/* For ir_each_node_of: wants a name; a load must see the same memory a strip
 * earlier. */
static void
want(void *data, const Expr *e)
{
    Ahead *ahead = data;
    const Stmt *loop = ahead->cut->loop;
    if (e->op == E_VAR) {
        map_set(&ahead->wanted, e->var, ahead);
    }
    for (int i = 0; ir_reads(e) && i < loop->body.n; i++) {
        const Stmt *s = loop->body.at[i];
        bool apart = s->kind != S_STORE || !ir_may_share(e->buf, s->buf);
        bool later = loop->mode == LOOP_VECTOR && i >= ahead->at;
        ahead->ok &= apart || later;
    }
    ahead->ok &= !ir_reads(e) || ahead->at <= ahead->late;
}

static int
first_late_check(const Cut *cut)
{
    const Block *body = &cut->loop->body;
    int at = 0;
    while (at < body->n && (body->at[at]->kind != S_CHECK ||
                            !is_late(cut, body->at[at]->value))) {
        at++;
    }
    return at;
}

/* Wants the operands of the rows that 'e' has. */
static void
want_operands(Ahead *ahead, const Expr *e)
{
    for (int k = 0; k < ahead->cut->n; k++) {
        Expr *call = ahead->cut->rows[k].call;
        if (holds(e, call)) {
            ir_each_node_of(call->args[0], want, ahead);
        }
    }
}

/* Sets 'needed' where a statement is computed ahead: what operands are made of,
 * and checks, which may guard that.  False when one may not be. */
static bool
find_needed(const Cut *cut, bool *needed)
{
    const Stmt *loop = cut->loop;
    Ahead ahead = {.cut = cut, .at = loop->body.n, .ok = true};
    ahead.wanted = map_new(cut->pass->scratch);
    ahead.late = first_late_check(cut);
    for (int i = 0; i < loop->ncarries; i++) {
        want_operands(&ahead, loop->carries[i].next);
    }
    for (int i = loop->body.n - 1; i >= 0; i--) {
        const Stmt *s = loop->body.at[i];
        ahead.at = i;
        want_operands(&ahead, s->value);
        needed[i] = s->kind == S_CHECK ? !is_late(cut, s->value)
                                       : s->kind == S_LET &&
                                             map_has(&ahead.wanted, s->var);
        if (needed[i]) {
            ir_each_node_of(s->value, want, &ahead);
        }
    }
    return ahead.ok;
}

/* --- the parts of a strip ------------------------------------------------- */

/* A row that the loop doesn't use yet. */
static Buf *
take_buf(const Cut *cut)
{
    Arena *arena = cut->func->arena;
    Frame *frame = cut->frame;
    if (frame->used == frame->bufs.n) {
        Buf *buf = ir_buf(cut->func, "row", DT_F64, 1, BUF_LOCAL);
        buf->dims[0] = ir_int(arena, DT_I64, STRIP);
        buf->space = SPACE_STACK;
        vec_push(arena, &frame->bufs, buf);
    }
    return frame->bufs.at[frame->used++];
}

/* x - first, the place in a row. */
static Expr *
place(const Cut *cut, Expr *first)
{
    Arena *arena = cut->func->arena;
    return ir_binary(arena, E_SUB, ir_ref(arena, cut->loop->var), first);
}

/* The rounds from 'first' on, as far as the operands go. */
static Stmt *
make_operands(const Cut *cut, const Stmt *rounds, const bool *needed)
{
    Arena *arena = cut->func->arena;
    Stmt *loop = ir_copy_stmt(arena, rounds);
    Expr *at = place(cut, rounds->lo);
    bool checks = false;
    loop->ncarries = 0;
    loop->body = (Block){0};
    for (int i = 0; i < rounds->body.n; i++) {
        checks |= needed[i] && rounds->body.at[i]->kind == S_CHECK;
        if (needed[i]) {
            vec_push(arena, &loop->body, rounds->body.at[i]);
        }
    }
    for (int k = 0; k < cut->n; k++) {
        vec_push(arena, &loop->body,
                 ir_store(arena, cut->rows[k].in, &at, 1,
                          cut->rows[k].call->args[0], loop->loc));
    }
    loop->mode = checks ? LOOP_SERIAL : LOOP_VECTOR;
    Block one = {0};
    Map map = map_new(cut->pass->scratch);
    vec_push(arena, &one, loop);
    return ir_clone(cut->func, &one, &map).at[0];
}

/* routine loop fn &out of [in]: the elements of one strip. */
static Stmt *
make_routine(const Cut *cut, const Row *row, const Stmt *rounds)
{
    Arena *arena = cut->func->arena;
    Expr *zero = ir_int(arena, DT_I64, 0);
    Expr *n = ir_binary(arena, E_SUB, rounds->hi, rounds->lo);
    Expr *box[] = {zero, zero, n, ir_int(arena, DT_I64, 1)};
    Stmt *s = ir_stmt(arena, S_ROUTINE, rounds->loc);
    s->routine = ROUTINE_LOOP;
    s->fn = row->call->fn;
    s->buf = row->out;
    s->nindex = 1;
    s->index = ARENA_ARRAY(arena, Expr *, 1);
    s->index[0] = ir_sum(arena, SUM_BOX, DT_F64, row->in, box, 4);
    return s;
}

/* For ir_map: what has been computed is loaded. */
typedef struct Load {
    const Cut *cut;
    Expr *at;
} Load;

static Expr *
load_row(void *data, Expr *e)
{
    const Load *load = data;
    Arena *arena = load->cut->func->arena;
    for (int k = 0; k < load->cut->n; k++) {
        const Row *row = &load->cut->rows[k];
        if (ir_equal(e, row->call)) {
            return ir_load(arena, row->out, &load->at, 1, 0);
        }
    }
    return e;
}

/* Is the LET's name an operand, so that its value lies in a row? */
static Buf *
operand_row(const Cut *cut, const Var *var)
{
    for (int k = 0; k < cut->n; k++) {
        const Expr *operand = cut->rows[k].call->args[0];
        if (ir_is_var(operand, var)) {
            return cut->rows[k].in;
        }
    }
    return NULL;
}

/* The rounds with the calls done.  Checks that were made ahead are left out. */
static void
finish_rounds(const Cut *cut, Stmt *rounds, const bool *needed)
{
    Arena *arena = cut->func->arena;
    Load load = {cut, place(cut, rounds->lo)};
    Block body = {0};
    for (int i = 0; i < rounds->body.n; i++) {
        Stmt *s = ir_copy_stmt(arena, rounds->body.at[i]);
        Buf *in = s->kind == S_LET ? operand_row(cut, s->var) : NULL;
        if (s->kind == S_CHECK && needed[i]) {
            continue;
        }
        s->value = in ? ir_load(arena, in, &load.at, 1, 0)
                      : ir_map(arena, s->value, load_row, &load);
        vec_push(arena, &body, s);
    }
    rounds->body = body;
    for (int i = 0; i < rounds->ncarries; i++) {
        Expr **next = &rounds->carries[i].next;
        *next = ir_map(arena, *next, load_row, &load);
    }
}

/* Are there such calls, and may they be computed ahead?  'needed' as above. */
static bool
look(Cut *cut, bool *needed)
{
    cut->late = map_new(cut->pass->scratch);
    return find_rows(cut) && find_needed(cut, needed) &&
           cut->frame->used + 2 * cut->n <= MOST_BUFS;
}

/* 'rounds', one strip, in parts; again while there are calls whose operands are
 * made of others. */
static void
cut_strip(Cut *cut, Stmt *rounds, Block *out)
{
    Arena *arena = cut->func->arena;
    bool *needed = ARENA_ARRAY(cut->pass->scratch, bool, rounds->body.n + 1);
    *cut = (Cut){cut->pass, cut->func, cut->frame, .loop = rounds};
    if (look(cut, needed)) {
        for (int k = 0; k < cut->n; k++) {
            cut->rows[k].in = take_buf(cut);
            cut->rows[k].out = take_buf(cut);
        }
        vec_push(arena, out, make_operands(cut, rounds, needed));
        for (int k = 0; k < cut->n; k++) {
            vec_push(arena, out, make_routine(cut, &cut->rows[k], rounds));
        }
        finish_rounds(cut, rounds, needed);
        cut_strip(cut, rounds, out);
    } else {
        vec_push(arena, out, rounds);
    }
}

/* --- the loop ------------------------------------------------------------- */

/* Is a function of NumPy's among the calls? */
static bool
has_numpy(const Cut *cut)
{
    bool numpy = false;
    for (int i = 0; i < cut->n; i++) {
        numpy |= is_numpy_call(cut->rows[i].call);
    }
    return numpy;
}

/* So many rounds are enough for it. */
static int
least_rounds(const Cut *cut)
{
    return has_numpy(cut) ? FEW : LEAST;
}

/* Do rows pay in this kind of loop?  NumPy's functions in any; but where a sum
 * waits for squares one of them a round is enough: operands of several are
 * seldom neighbours, and would be gathered one by one. */
static bool
is_kind(const Cut *cut)
{
    const Stmt *loop = cut->loop;
    return loop->mode == LOOP_VECTOR ||
           (loop->mode == LOOP_SERIAL &&
            (has_numpy(cut) || (loop->ncarries > 0 && cut->n == 1)));
}

/* Does it have rows that may be computed ahead? */
static bool
is_worth(Cut *cut)
{
    const Stmt *loop = cut->loop;
    int64_t trips = loop_trips(loop);
    bool *needed =
        ARENA_ARRAY(cut->pass->scratch, bool, loop->body.n + 1);
    return loop->kind == S_FOR && loop->until == NULL && loop->nbinds == 0 &&
           look(cut, needed) && is_kind(cut) &&
           (trips < 0 || trips >= least_rounds(cut));
}

/* The end of 'loop', but not below its beginning: then hi - lo doesn't wrap,
 * unless it has more rounds than can ever be run. */
static Expr *
end_of(const Cut *cut, const Stmt *loop)
{
    int64_t lo;
    return ir_const_int(loop->lo, &lo) && lo == 0
               ? loop->hi
               : ir_binary(cut->func->arena, E_MAX, loop->hi, loop->lo);
}

/* 'loop' in strips, each in parts; appended to 'out'. */
static void
cut_loop(Cut *cut, const Stmt *loop, Block *out)
{
    Func *func = cut->func;
    Stmt *known = ir_copy_stmt(func->arena, loop);
    known->hi = end_of(cut, loop);
    Block strips = split_strips(func, known, STRIP);
    Stmt *outer = vec_last(&strips);
    Stmt *rounds = vec_last(&outer->body);
    Block body = {0};
    for (int i = 0; i < outer->body.n - 1; i++) {
        vec_push(func->arena, &body, outer->body.at[i]);
    }
    cut_strip(cut, rounds, &body);
    outer->body = body;
    for (int i = 0; i < strips.n; i++) {
        vec_push(func->arena, out, strips.at[i]);
    }
}

/* A serial loop may be one of few rounds, for which rows are no gain:
 *
 *     if hi - lo < 64 { loop as it was } else { strips } join the carries */
static void
cut_or_not(Cut *cut, Stmt *loop, Block *out)
{
    Arena *arena = cut->func->arena;
    Map map = map_new(cut->pass->scratch);
    Block few = {0};
    Stmt *choice = ir_stmt(arena, S_IF, loop->loc);
    Expr *rounds = ir_binary(arena, E_SUB, end_of(cut, loop), loop->lo);
    choice->value =
        ir_binary(arena, E_LT, rounds,
                  ir_int(arena, DT_I64, least_rounds(cut)));
    vec_push(arena, &few, loop);
    choice->body = ir_clone(cut->func, &few, &map);
    const Carry *plain = choice->body.at[0]->carries;
    Stmt *many = ir_copy_stmt(arena, loop);
    choice->njoins = loop->ncarries;
    choice->joins = ARENA_ARRAY(arena, Join, loop->ncarries + 1);
    for (int i = 0; i < loop->ncarries; i++) {
        Carry *carry = &many->carries[i];
        const Var *old = carry->out;
        carry->out = ir_var(cut->func, old->name, old->dtype, old->lanes);
        choice->joins[i] = (Join){loop->carries[i].out,
                                  ir_ref(arena, plain[i].out),
                                  ir_ref(arena, carry->out)};
    }
    cut_loop(cut, many, &choice->els);
    vec_push(arena, out, choice);
}

/* --- the walk ------------------------------------------------------------- */

/* The state of the pass; "frame" is that of the statements at hand. */
typedef struct Walk {
    Pass *pass;
    Func *func;
    Frame *frame;
    bool changed;
} Walk;

static Block cut_frame(Walk *w, const Block *block);

/* Every loop, from the inside out. */
static Block
cut_block(Walk *w, const Block *block)
{
    Arena *arena = w->func->arena;
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = ir_copy_stmt(arena, block->at[i]);
        bool frame = s->kind == S_FOR && s->mode == LOOP_PARALLEL;
        s->pre = cut_block(w, &s->pre);
        s->body = frame ? cut_frame(w, &s->body) : cut_block(w, &s->body);
        s->els = cut_block(w, &s->els);
        Cut cut = {w->pass, w->func, w->frame, .loop = s};
        w->frame->used = 0;
        if (!is_worth(&cut)) {
            vec_push(arena, &out, s);
        } else if (s->mode == LOOP_VECTOR || loop_trips(s) > 0) {
            cut_loop(&cut, s, &out);
        } else {
            cut_or_not(&cut, s, &out);
        }
    }
    return out;
}

/* A block with rows of its own, which are made before all else. */
static Block
cut_frame(Walk *w, const Block *block)
{
    Arena *arena = w->func->arena;
    Frame frame = {0};
    Frame *outer = w->frame;
    Block out = {0};
    w->frame = &frame;
    Block body = cut_block(w, block);
    w->changed |= frame.bufs.n > 0;
    for (int i = 0; i < frame.bufs.n; i++) {
        Stmt *alloc = ir_stmt(arena, S_ALLOC, w->func->loc);
        alloc->buf = frame.bufs.at[i];
        vec_push(arena, &out, alloc);
    }
    for (int i = 0; i < body.n; i++) {
        vec_push(arena, &out, body.at[i]);
    }
    w->frame = outer;
    return out;
}

Func *
pass_rows(Pass *pass, Func *func)
{
    Func *out = arena_copy(pass->arena, func, sizeof(*func));
    Walk w = {.pass = pass, .func = out};
    out->body = cut_frame(&w, &out->body);
    return w.changed ? simplify(pass, out) : func;
}
