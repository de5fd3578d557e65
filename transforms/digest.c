/* Pass digest: arrays of which only one question is asked are kept as its
 * answers.
 *
 *     for y, x {                           for y, x {
 *         store d[y, x] = u                    let q = u, let r = v
 *         store t[y, x] = v                    store a[y, x] = q - k*r > 0.5
 *     }                                ->  }
 *     for y, x {                           for y, x {
 *         if d[y, x] - k*t[y, x] > 0.5         if a[y, x]
 *
 * A detector stores what it measures, decides by it which pixels count, and
 * looks at the numbers again to list them: sixteen bytes of each pixel are
 * written and read for one bit, and more than the caches hold.
 *
 * A question is a condition computed from elements of private arrays, all at
 * one index, and from what is known where these are stored.  It may be answered
 * there if the loops that store come before those that read, all in the block
 * that makes the arrays, and if each block that stores an element of one stores
 * that of all others at the same index, each once: then the answer that was
 * stored last belongs to the elements that were.  It is computed where nobody
 * may ask, so nothing in it may be an error or leave a floating-point flag.
 * Only bool, and one question of an array: of one of np.empty, elements that
 * were never written may be asked for, and then no bool is a wrong one.  When
 * all loads are questions, nothing but the answers is left of the arrays; if
 * one was overlooked, both stay, which costs memory and nothing else.
 */
#include "transforms/box.h"
#include "transforms/transforms.h"

enum { MOST_FROM = 4, MOST_QUESTIONS = 4, GAIN = 4 };

/* A question of arrays.
 *   "key"   the condition, with its loads at element 0, 0, ...
 *   "from"  the arrays, "n" of them; "answers" is that of the answers */
typedef struct Question {
    Expr *key;
    Buf *from[MOST_FROM];
    int n;
    Buf *answers;
} Question;

/* One block that makes arrays.
 *   "defs"    what defines the Vars of the block and below
 *   "late"    the same from the first statement on that stores
 *   "bufs"    candidates; "spoiled": Buf *, those with another use
 *   "needed"  Var *, LETs that somebody needs for more than a question
 *   "loc"     of the statement at hand */
typedef struct Digest {
    Pass *pass;
    Func *func;
    Block *block;
    Map defs;
    Map late;
    VEC(Buf *) bufs;
    Map spoiled;
    Map needed;
    Question questions[MOST_QUESTIONS];
    int n;
} Digest;

static void
spoil(Digest *d, Buf *buf)
{
    map_set(&d->spoiled, buf, buf);
}

static bool
is_candidate(const Digest *d, const Buf *buf)
{
    for (int i = 0; i < d->bufs.n; i++) {
        if (d->bufs.at[i] == buf) {
            return !map_has(&d->spoiled, buf);
        }
    }
    return false;
}

/* --- questions ------------------------------------------------------------ */

/* An expression that is looked at: the first load of a candidate in it, the
 * arrays of all; "ok": it may be a question so far. */
typedef struct Look {
    const Digest *d;
    const Expr *load;
    Question *question;
    bool ok;
} Look;

static void
look_at_load(Look *look, const Expr *e)
{
    Question *q = look->question;
    look->ok &= is_candidate(look->d, e->buf) && e->lanes == 0;
    for (int i = 0; i < e->nargs; i++) {
        look->ok &=
            !ir_has_load(e->args[i]) &&
            (look->load == NULL || (e->nargs == look->load->nargs &&
                                    ir_equal(e->args[i], look->load->args[i])));
    }
    int k = 0;
    while (k < q->n && q->from[k] != e->buf) {
        k++;
    }
    if (k == q->n && q->n < MOST_FROM) {
        q->from[q->n++] = e->buf;
    }
    look->ok &= k < q->n;
    look->load = look->load ? look->load : e;
}

/* 'e' and below, but not the indices of loads. */
static void
look_at(Look *look, const Expr *e)
{
    if (e->op == E_LOAD) {
        look_at_load(look, e);
        return;
    }
    look->ok &= select_is_free(e, look->d->func->deaf) && e->lanes == 0;
    look->ok &= e->op != E_VAR || !map_has(&look->d->late, e->var);
    for (int i = 0; i < e->nargs && look->ok; i++) {
        look_at(look, e->args[i]);
    }
}

/* For ir_map. */
static Expr *
at_zero(void *data, Expr *e)
{
    Arena *arena = data;
    if (e->op != E_LOAD) {
        return e;
    }
    Expr *index[MAX_RANK];
    for (int i = 0; i < e->nargs; i++) {
        index[i] = ir_zero(arena, DT_I64);
    }
    return ir_load(arena, e->buf, index, e->nargs, 0);
}

/* Is 'e' a question?  Then '*out' is it, and '*load' one of its loads. */
static bool
asks(const Digest *d, Expr *e, Question *out, const Expr **load)
{
    Arena *arena = d->pass->arena;
    *out = (Question){0};
    if (e->dtype != DT_BOOL || e->lanes != 0 || e->op == E_VAR ||
        e->op == E_CONST) {
        return false;
    }
    Expr *all = loop_spelled_out(arena, &d->defs, e);
    Look look = {.d = d, .question = out, .ok = !uses_made_extent(all)};
    look_at(&look, all);
    if (!look.ok || look.load == NULL) {
        return false;
    }
    *load = look.load;
    out->key = ir_map(arena, all, at_zero, arena);
    return true;
}

/* The one of the table with that key; NULL. */
static Question *
known(Digest *d, const Question *q)
{
    for (int i = 0; i < d->n; i++) {
        if (ir_equal(d->questions[i].key, q->key)) {
            return &d->questions[i];
        }
    }
    return NULL;
}

/* --- what is asked -------------------------------------------------------- */

/* All that somebody needs of 'e': questions are noted, what else reads a
 * candidate spoils it. */
static void
need(Digest *d, Expr *e)
{
    Question q;
    const Expr *load;
    if (asks(d, e, &q, &load)) {
        if (known(d, &q) == NULL && d->n < MOST_QUESTIONS) {
            d->questions[d->n++] = q;
        }
        if (known(d, &q) != NULL) {
            return;
        }
    }
    if (ir_reads(e) && is_candidate(d, e->buf)) {
        spoil(d, e->buf);
    }
    const Stmt *def = e->op == E_VAR ? map_get(&d->defs, e->var) : NULL;
    if (def != NULL && def->kind == S_LET && !map_has(&d->needed, e->var)) {
        map_set(&d->needed, e->var, e->var);
        need(d, def->value);
    }
    for (int i = 0; i < e->nargs; i++) {
        need(d, e->args[i]);
    }
}

/* For ir_each_expr. */
static void
need_slot(void *data, Expr **slot)
{
    need(data, *slot);
}

/* For ir_each_stmt.  A LET is needed by who names it. */
static void
need_stmt(void *data, Stmt *s)
{
    if (s->kind != S_LET) {
        ir_each_expr(s, need_slot, data);
    }
}

/* --- where it can be answered --------------------------------------------- */

static bool
is_from(const Question *q, const Buf *buf)
{
    bool found = false;
    for (int i = 0; i < q->n && !found; i++) {
        found = q->from[i] == buf;
    }
    return found;
}

static bool
writes_any(Stmt *s, const Question *q)
{
    Block one = {.at = &s, .n = 1, .cap = 1};
    bool found = false;
    for (int i = 0; i < q->n && !found; i++) {
        found = effects_writes(&one, q->from[i]);
    }
    return found;
}

/* The stores of 'block' itself to the arrays of 'q', in 'stores' in the order
 * of these; '*last' is where the last one is, -1: there is none.  False: they
 * are not one to each, at one index. */
static bool
find_stores(const Question *q, const Block *block, Stmt **stores, int *last)
{
    const Stmt *first = NULL;
    int found = 0;
    *last = -1;
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        if (s->kind != S_STORE || !is_from(q, s->buf)) {
            /* in between, nothing inside may store either */
            if (found > 0 && found < q->n && writes_any(s, q)) {
                return false;
            }
            continue;
        }
        bool same = s->value->lanes == 0 && found < q->n;
        first = first ? first : s;
        for (int k = 0; k < s->nindex && same; k++) {
            same = ir_equal(s->index[k], first->index[k]) &&
                   !ir_has_load(s->index[k]);
        }
        for (int k = 0; k < q->n && same; k++) {
            if (q->from[k] == s->buf) {
                stores[k] = s;
            }
        }
        if (!same) {
            return false;
        }
        found++;
        *last = i;
    }
    bool ok = true;
    for (int k = 0; k < q->n && ok; k++) {
        ok = found == 0 || stores[k] != NULL;
    }
    return ok;
}

/* Can 'q' be answered wherever 'block' and below store? */
static bool
is_answered(const Question *q, const Block *block)
{
    Stmt *stores[MOST_FROM] = {NULL};
    int last;
    bool ok = find_stores(q, block, stores, &last);
    for (int i = 0; i < block->n && ok; i++) {
        const Stmt *s = block->at[i];
        ok = is_answered(q, &s->body) && is_answered(q, &s->els) &&
             is_answered(q, &s->pre);
    }
    return ok;
}

/* Does the question compute with what it is asked of? */
static bool
computes(const Expr *key)
{
    bool does = key->op == E_CAST || (key->nargs > 0 && key->op != E_LOAD &&
                                      dtype_is_float(key->dtype));
    for (int i = 0; i < key->nargs && !does && key->op != E_LOAD; i++) {
        does = computes(key->args[i]);
    }
    return does;
}

/* Is 'e' made of memory, on all ways?  Names of the body are seen through. */
static bool
is_from_memory(const Digest *d, const Expr *e)
{
    const Stmt *def = e->op == E_VAR ? map_get(&d->defs, e->var) : NULL;
    if (def != NULL && def->kind == S_LET) {
        return is_from_memory(d, def->value);
    }
    if (e->op == E_SELECT) {
        return is_from_memory(d, e->args[1]) && is_from_memory(d, e->args[2]);
    }
    bool from = ir_reads(e);
    for (int i = 0; i < e->nargs && !from; i++) {
        from = is_from_memory(d, e->args[i]);
    }
    return from;
}

/* Of a constant the answer would be one as well, and no operation be made that
 * leaves a floating-point flag, where somebody may listen. */
static bool
is_silenced(const Digest *d, const Question *q, const Block *block)
{
    bool silenced = false;
    for (int i = 0; i < block->n && !silenced; i++) {
        const Stmt *s = block->at[i];
        silenced = (s->kind == S_STORE && is_from(q, s->buf) &&
                    !is_from_memory(d, s->value)) ||
                   is_silenced(d, q, &s->body) || is_silenced(d, q, &s->els) ||
                   is_silenced(d, q, &s->pre);
    }
    return silenced;
}

/* Is something else asked of one of its arrays?  Of elements that were never
 * written two answers might contradict each other. */
static bool
is_shared(const Digest *d, const Question *q)
{
    bool shared = false;
    for (int i = 0; i < d->n && !shared; i++) {
        for (int k = 0; k < q->n && q != &d->questions[i] && !shared; k++) {
            shared = is_from(&d->questions[i], q->from[k]);
        }
    }
    return shared;
}

/* Arrays that are asked what can't be answered are spoiled, and with them what
 * else is asked of them; until nothing changes. */
static void
judge(Digest *d)
{
    int kept;
    do {
        kept = 0;
        for (int i = 0; i < d->n; i++) {
            Question *q = &d->questions[i];
            bool ok = is_answered(q, d->block) && !is_shared(d, q) &&
                      (d->func->deaf || !computes(q->key) ||
                       !is_silenced(d, q, d->block));
            for (int k = 0; k < q->n; k++) {
                ok &= is_candidate(d, q->from[k]);
            }
            for (int k = 0; k < q->n && !ok; k++) {
                spoil(d, q->from[k]);
            }
            if (ok) {
                d->questions[kept++] = *q;
            }
        }
    } while (kept < d->n && (d->n = kept, true));
}

/* Do the answers take much less memory than what is asked? */
static bool
pays(const Digest *d)
{
    int bytes = 0;
    for (int i = 0; i < d->bufs.n; i++) {
        bool asked = false;
        for (int k = 0; k < d->n; k++) {
            asked |= is_from(&d->questions[k], d->bufs.at[i]);
        }
        bytes += asked ? dtype_size(d->bufs.at[i]->dtype) : 0;
    }
    return d->n > 0 && bytes >= GAIN * d->n;
}

/* --- the change ----------------------------------------------------------- */

/* 'e' with questions replaced, outermost first. */
static Expr *
answered(Digest *d, Expr *e)
{
    Arena *arena = d->pass->arena;
    Question q;
    const Expr *load;
    const Question *found = asks(d, e, &q, &load) ? known(d, &q) : NULL;
    if (found != NULL) {
        return ir_at(ir_load(arena, found->answers, load->args, load->nargs, 0),
                     e->loc);
    }
    Expr **args = ARENA_ARRAY(arena, Expr *, e->nargs + 1);
    bool changed = false;
    for (int i = 0; i < e->nargs; i++) {
        args[i] = answered(d, e->args[i]);
        changed |= args[i] != e->args[i];
    }
    return changed ? ir_with_args(arena, e, args) : e;
}

/* For ir_each_expr. */
static void
answer_slot(void *data, Expr **slot)
{
    *slot = answered(data, *slot);
}

/* For ir_each_stmt. */
static void
answer_stmt(void *data, Stmt *s)
{
    ir_each_expr(s, answer_slot, data);
}

/* What the stores put there, by array; for ir_map. */
typedef struct Values {
    const Question *q;
    Expr **value;
} Values;

static Expr *
use_value(void *data, Expr *e)
{
    const Values *values = data;
    for (int k = 0; k < values->q->n && e->op == E_LOAD; k++) {
        if (values->q->from[k] == e->buf) {
            return values->value[k];
        }
    }
    return e;
}

/* The answer stands behind the last of the stores, whose values get names. */
static void
store_answers(Digest *d, const Question *q, Block *block)
{
    Arena *arena = d->pass->arena;
    Stmt *stores[MOST_FROM] = {NULL};
    Expr *value[MOST_FROM] = {NULL};
    int last;
    find_stores(q, block, stores, &last);
    Block out = {0};
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        store_answers(d, q, &s->body);
        store_answers(d, q, &s->els);
        store_answers(d, q, &s->pre);
        for (int k = 0; k < q->n; k++) {
            if (stores[k] == s) {
                s->value =
                    ir_named(d->func, &out, s->buf->name, s->value, s->loc);
                value[k] = s->value;
            }
        }
        vec_push(arena, &out, s);
        if (i == last) {
            Values values = {q, value};
            Expr *answer = ir_map(arena, q->key, use_value, &values);
            vec_push(arena, &out,
                     ir_store(arena, q->answers, s->index, s->nindex, answer,
                              s->loc));
        }
    }
    *block = out;
}

/* The array of the answers, like that of the first load. */
static Buf *
answers_of(Digest *d, const Question *q)
{
    const Buf *from = q->from[0];
    Buf *buf = ir_buf(d->func, from->name, DT_BOOL, from->rank, BUF_LOCAL);
    buf->layout = from->layout;
    buf->loc = from->loc;
    for (int i = 0; i < from->rank; i++) {
        buf->dims[i] = from->dims[i];
    }
    return buf;
}

/* Made where the first array of 'q' is. */
static void
make_answers(Digest *d, const Question *q)
{
    Arena *arena = d->pass->arena;
    Block out = {0};
    for (int i = 0; i < d->block->n; i++) {
        Stmt *s = d->block->at[i];
        vec_push(arena, &out, s);
        if (s->kind == S_ALLOC && s->buf == q->from[0]) {
            Stmt *alloc = ir_stmt(arena, S_ALLOC, s->loc);
            alloc->buf = q->answers;
            vec_push(arena, &out, alloc);
        }
    }
    *d->block = out;
}

static void
change(Digest *d)
{
    for (int i = 0; i < d->n; i++) {
        d->questions[i].answers = answers_of(d, &d->questions[i]);
    }
    ir_each_stmt(d->block, answer_stmt, d);
    for (int i = 0; i < d->n; i++) {
        const Question *q = &d->questions[i];
        store_answers(d, q, d->block);
        make_answers(d, q);
        Str names = str_new(d->pass->scratch);
        for (int k = 0; k < q->n; k++) {
            str_addf(&names, "%s`%s`", k == 0 ? "" : " and ", q->from[k]->name);
        }
        diag_remark(d->pass->diags, DIAG_DIGEST, q->from[0]->loc,
                    "%s: only the answers to a condition are kept", names.at);
    }
}

/* --- the walk ------------------------------------------------------------- */

/* An array that 's' makes, of which nothing is known elsewhere. */
static Buf *
made_by(const Func *func, const Stmt *s)
{
    Buf *buf = s->kind == S_ALLOC ? s->buf : NULL;
    if (buf == NULL || buf->kind != BUF_LOCAL || buf->space != SPACE_HEAP ||
        buf->growable || buf->group != NULL || buf->dtype == DT_BOOL ||
        buf->rank == 0) {
        return NULL;
    }
    Uses uses = uses_in(func, buf);
    bool plain = uses.touches > 0 && uses.fills == 0 && !uses.other &&
                 !uses.extent && !uses_at_end(func, buf);
    return plain ? buf : NULL;
}

/* Of the candidate 'buf', all stores must come before all loads; '*first' gets
 * less if a store comes before. */
static void
look_at_order(Digest *d, Buf *buf, int *first)
{
    bool read = false;
    for (int i = 0; i < d->block->n; i++) {
        Stmt *s = d->block->at[i];
        Block one = {.at = &s, .n = 1, .cap = 1};
        bool writes = effects_writes(&one, buf);
        read |= effects_reads(&one, buf);
        *first = writes && i < *first ? i : *first;
        if (writes && read) {
            spoil(d, buf);
        }
    }
}

/* The arrays that 'block' itself makes. */
static bool
digest_block(Pass *pass, Func *func, Block *block)
{
    Digest d = {.pass = pass, .func = func, .block = block};
    d.spoiled = map_new(pass->scratch);
    d.needed = map_new(pass->scratch);
    for (int i = 0; i < block->n; i++) {
        Buf *buf = made_by(func, block->at[i]);
        if (buf != NULL) {
            vec_push(pass->scratch, &d.bufs, buf);
        }
    }
    int first = block->n;
    for (int i = 0; i < d.bufs.n; i++) {
        look_at_order(&d, d.bufs.at[i], &first);
    }
    if (d.bufs.n == 0 || first == block->n) {
        return false;
    }
    Block rest = {.at = block->at + first, .n = block->n - first};
    d.defs = loop_defs(pass->scratch, block);
    d.late = loop_defs(pass->scratch, &rest);
    ir_each_stmt(&rest, need_stmt, &d);
    judge(&d);
    if (!pays(&d)) {
        return false;
    }
    change(&d);
    return true;
}

static bool
digest_all(Pass *pass, Func *func, Block *block)
{
    bool changed = false;
    for (int i = 0; i < block->n; i++) {
        Stmt *s = block->at[i];
        Block *inside[] = {&s->body, &s->els, &s->pre};
        for (int k = 0; k < 3; k++) {
            changed |= digest_all(pass, func, inside[k]);
        }
    }
    return digest_block(pass, func, block) || changed;
}

/* For ir_each_stmt: is there an array that may be asked? */
typedef struct Search {
    const Func *func;
    bool found;
} Search;

static void
search_stmt(void *data, Stmt *s)
{
    Search *search = data;
    search->found = search->found || made_by(search->func, s) != NULL;
}

Func *
pass_digest(Pass *pass, Func *func)
{
    Search search = {.func = func};
    ir_each_stmt(&func->body, search_stmt, &search);
    if (!search.found) {
        return func;
    }
    Func *copy = arena_copy(pass->arena, func, sizeof(*func));
    copy->body = ir_copy_block(pass->arena, &func->body);
    return digest_all(pass, copy, &copy->body) ? simplify(pass, copy) : func;
}
