/* What do stages read of a producer, and has it been written there?
 *
 *     a[y, x] for y in 0..h-8          producer: the box [0, h-8) x [0, w)
 *     out = a[y, x] + a[y, x + 2]      reader, x in 0..w-2: offsets 0 .. 2,
 *                                      x + 2 < w holds inside its loops
 *
 * A read's index minus the reader's own loop variable must be a constant, or
 * lie between two near constants (a clamped index, an inner loop's window).
 * The prover must know, under all conditions around the read, that the index
 * is inside the producer's box.  Offsets of a reader that is itself computed
 * in blocks add to what its own readers need of it.
 */
#include "csrc/pipe/lift.h"

enum {
    MAX_OFFSET = 64, /* of a read from the reader's own place */
    MAX_NEAR = 8,    /* the same where the index is no linear form */
};

bool
stage_uses_vars(const Stage *stage, const Expr *e)
{
    for (int i = 0; i < stage->depth; i++) {
        if (ir_uses(e, stage->axes[i].loop->var)) {
            return true;
        }
    }
    return false;
}

Block
stage_block(Arena *arena, const Stage *stage)
{
    Block one = {0};
    vec_push(arena, &one, stage->nest);
    return one;
}

/* The greatest (least) constant that 'index' - 'var' is proved not below (not
 * above); false when none near 0 is: for clamped indices, such as min(x + 1, w
 * - 1), which is between x and x + 1. Tried from the tightest on, so the first
 * proof is the best. */
static bool
near_offset(Arena *arena, Bounds *b, Expr *index, Expr *var, int64_t *min,
            int64_t *max)
{
    *min = -MAX_NEAR - 1;
    *max = MAX_NEAR + 1;
    for (int64_t k = MAX_NEAR; k >= -MAX_NEAR && *min < -MAX_NEAR; k--) {
        Expr *low = ir_binary(arena, E_ADD, var, ir_int(arena, DT_I64, k));
        if (bounds_proves(b, ir_binary(arena, E_LE, low, index))) {
            *min = k;
        }
    }
    for (int64_t k = *min; k <= MAX_NEAR && *max > MAX_NEAR; k++) {
        Expr *high = ir_binary(arena, E_ADD, var, ir_int(arena, DT_I64, k));
        if (bounds_proves(b, ir_binary(arena, E_LE, index, high))) {
            *max = k;
        }
    }
    return *min >= -MAX_NEAR && *max <= MAX_NEAR;
}

/* 'index' minus the variable of axis 'd' as an interval of constants. */
bool
stage_offset(Arena *arena, Bounds *b, const Stage *stage, Expr *index, int d,
             int64_t *min, int64_t *max)
{
    Linear form;
    Expr *var = ir_ref(arena, stage->axes[d].loop->var);
    Linear atom = linear_atom(arena, var);
    if (!bounds_linear(b, index, &form) || linear_coef(&form, var) != 1 ||
        !linear_sum(arena, &form, 1, &atom, -1, &form)) {
        return near_offset(arena, b, index, var, min, max);
    }
    if (!linear_is_const(&form, min)) {
        Expr *rest = linear_expr(arena, &form);
        if (stage_uses_vars(stage, rest)) {
            return near_offset(arena, b, index, var, min, max);
        }
        bounds_interval(b, rest, min, max);
    } else {
        *max = *min;
    }
    return *min >= -MAX_OFFSET && *max <= MAX_OFFSET;
}

/* --- proving reads ------------------------------------------------------- */

/* One producer's reads by one stage.
 *   "lift"      what is known
 *   "reader"    whose reads
 *   "producer"  of what; its needs are widened on the way
 *   "loops"     loops of the reader's body around the place
 *   "seen"      loads met, to count different ones
 *   "conds"     branches around the place
 *   "min" "max" offsets of all reads by this reader
 *   "n"         how many reads
 *   "why"       what could not be proved; NULL: all was */
typedef struct Reads {
    Lift *lift;
    const Stage *reader;
    Stage *producer;
    int loops; /* loops of the reader's body around the place */
    VEC(Expr *) seen;
    int conds;                   /* branches around it */
    int64_t min[MAX_DEPTH_PIPE]; /* offsets of all reads by this reader */
    int64_t max[MAX_DEPTH_PIPE];
    int n;
    const char *why;
} Reads;

/* Does index 'e' lie in what the producer writes on axis 'd', [lo + shift, hi
 * + shift)? By all that is known where the read stands. */
static bool
inside_box(Reads *reads, Bounds *b, Expr *e, int d)
{
    Arena *arena = reads->lift->arena;
    const Stage *producer = reads->producer;
    const Stmt *loop = producer->axes[d].loop;
    Linear index;
    Linear lo;
    Linear hi;
    Linear above;
    Linear below;
    if (!bounds_linear(b, e, &index) || !bounds_linear(b, loop->lo, &lo) ||
        !bounds_linear(b, loop->hi, &hi) ||
        !linear_sum(arena, &index, 1, &lo, -1, &above) ||
        !linear_sum(arena, &hi, 1, &index, -1, &below)) {
        return false;
    }
    above.constant -= producer->shift[d];
    below.constant += producer->shift[d] - 1;
    return bounds_nonneg(b, &above) && bounds_nonneg(b, &below);
}

/* The same load again costs nothing, but must be proved again: it may stand
 * under another condition. */
static bool
is_seen(const Reads *reads, const Expr *load)
{
    for (int i = 0; i < reads->seen.n; i++) {
        if (ir_equal(reads->seen.at[i], load)) {
            return true;
        }
    }
    return false;
}

/* Do reads at the reader's variables plus 'min' .. 'max' reach all that the
 * producer writes?  Then none of its values is dropped, nor a warning. */
static bool
covers(const Reads *reads, const int64_t *min, const int64_t *max)
{
    Arena *arena = reads->lift->arena;
    Bounds *b = reads->lift->b;
    for (int d = 0; d < reads->producer->depth; d++) {
        const Stmt *reader = reads->reader->axes[d].loop;
        const Stmt *writer = reads->producer->axes[d].loop;
        int64_t shift = reads->producer->shift[d];
        Linear from;
        Linear to;
        Linear first;
        Linear end;
        if (!bounds_linear(b, writer->lo, &from) ||
            !bounds_linear(b, writer->hi, &to) ||
            !bounds_linear(b, reader->lo, &first) ||
            !bounds_linear(b, reader->hi, &end) ||
            !linear_sum(arena, &from, 1, &first, -1, &from) ||
            !linear_sum(arena, &end, 1, &to, -1, &to)) {
            return false;
        }
        from.constant += shift - min[d];
        to.constant += max[d] - shift;
        if (!bounds_nonneg(b, &from) || !bounds_nonneg(b, &to)) {
            return false;
        }
    }
    return true;
}

/* Makes 'least' .. 'most' hold 'min' .. 'max' too; the first interval is taken
 * as it is. */
static void
widen(int64_t *least, int64_t *most, int64_t min, int64_t max, bool first)
{
    *least = first || min < *least ? min : *least;
    *most = first || max > *most ? max : *most;
}

/* Widens what is needed of the producer by the reads at offsets 'min' .. 'max'
 * on axis 'd'. "min" and "max" of a stage are relative to the last stage's
 * place, so for a reader that is a producer itself its own needs are added: it
 * runs over those, less the shift of its store. */
static void
note_offset(Reads *reads, int d, int64_t min, int64_t max, bool first)
{
    Stage *producer = reads->producer;
    const Stage *reader = reads->reader;
    widen(&reads->min[d], &reads->max[d], min, max, reads->n == 0);
    if (reader->nouts > 0) {
        min += reader->min[d] - reader->shift[d];
        max += reader->max[d] - reader->shift[d];
    }
    widen(&producer->min[d], &producer->max[d], min, max, first);
}

/* One load: its offsets, and that it reads what was written. */
static void
note_read(Reads *reads, Bounds *b, Expr *load)
{
    Stage *producer = reads->producer;
    bool first = producer->sites == 0;
    bool once = reads->conds == 0 && reads->loops == 0;
    int64_t min[MAX_DEPTH_PIPE];
    int64_t max[MAX_DEPTH_PIPE];
    for (int d = 0; d < producer->depth; d++) {
        if (!stage_offset(reads->lift->arena, b, reads->reader, load->args[d],
                          d, &min[d], &max[d])) {
            reads->why = "is read at other places than the reader's own";
            return;
        }
        if (!inside_box(reads, b, load->args[d], d)) {
            reads->why = "may be read where its loop does not write";
            return;
        }
        once = once && min[d] == max[d];
        note_offset(reads, d, min[d], max[d], first);
    }
    reads->n++;
    producer->covered_once =
        producer->covered_once || (once && covers(reads, min, max));
    producer->in_loop = producer->in_loop || reads->loops > 0;
    if (!is_seen(reads, load)) {
        producer->sites++;
        vec_push(reads->lift->arena, &reads->seen, load);
    }
}

/* Notes every load from the producer in 'e', operands first. A load of whole
 * small vectors is fine if the store is of such too; another number of indices
 * is not. */
static void
find_reads(Reads *reads, Bounds *b, Expr *e)
{
    for (int i = 0; i < e->nargs; i++) {
        find_reads(reads, b, e->args[i]);
    }
    if (!ir_reads(e) || stage_output(reads->producer, e->buf) == NULL ||
        reads->why != NULL) {
        return;
    }
    if (e->op == E_SUM) {
        reads->why = "is summed as a whole";
        return;
    }
    if (e->nargs != reads->producer->depth) {
        reads->why = "is read in another form than it is written";
        return;
    }
    note_read(reads, b, e);
}

/* What find_slot needs. */
typedef struct SlotReads {
    Reads *reads;
    Bounds *b;
} SlotReads;

static void
find_slot(void *data, Expr **slot)
{
    SlotReads *at = data;
    if (*slot != NULL && at->reads->why == NULL) {
        find_reads(at->reads, at->b, *slot);
    }
}

/* Is 's' one of the loops that the nest itself consists of? */
static bool
is_level(const Stage *stage, const Stmt *s)
{
    for (int d = 0; d < stage->depth; d++) {
        if (stage->axes[d].loop->var == s->var) {
            return true;
        }
    }
    return false;
}

static bool find_stmt(void *data, Bounds *b, Stmt *s);

/* For single expressions, which may be NULL. */
static void
find_slot_in(Reads *reads, Bounds *b, Expr *e)
{
    SlotReads at = {reads, b};
    find_slot(&at, &e);
}

/* One side of an IF, with what it hands out at its end. */
static void
find_branch(Reads *reads, Bounds *b, const Stmt *s, bool taken)
{
    int mark = bounds_push(b);
    bounds_assume(b, s->value, taken);
    reads->conds++;
    bounds_visit_block(b, taken ? &s->body : &s->els, find_stmt, reads);
    for (int i = 0; i < s->njoins; i++) {
        find_slot_in(reads, b,
                     taken ? s->joins[i].then_val : s->joins[i].else_val);
    }
    reads->conds--;
    bounds_pop(b, mark);
}

/* A loop of the reader's body, with what it carries to the next round. */
static void
find_loop(Reads *reads, Bounds *b, const Stmt *s)
{
    bool level = is_level(reads->reader, s);
    find_slot_in(reads, b, s->lo);
    find_slot_in(reads, b, s->hi);
    for (int i = 0; i < s->ncarries; i++) {
        find_slot_in(reads, b, s->carries[i].init);
    }
    int mark = bounds_push(b);
    bounds_loop(b, s);
    reads->loops += !level;
    bounds_visit_block(b, &s->pre, find_stmt, reads);
    find_slot_in(reads, b, s->value);
    bounds_visit_block(b, &s->body, find_stmt, reads);
    for (int i = 0; i < s->ncarries; i++) {
        find_slot_in(reads, b, s->carries[i].next);
    }
    find_slot_in(reads, b, s->until);
    reads->loops -= !level;
    bounds_pop(b, mark);
}

/* Goes into blocks itself, to see what branches and loops hand on where their
 * own facts hold. */
static bool
find_stmt(void *data, Bounds *b, Stmt *s)
{
    Reads *reads = data;
    if (s->kind == S_IF) {
        find_slot_in(reads, b, s->value);
        find_branch(reads, b, s, true);
        find_branch(reads, b, s, false);
        return false;
    }
    if (s->kind == S_FOR || s->kind == S_WHILE) {
        find_loop(reads, b, s);
        return false;
    }
    SlotReads at = {reads, b};
    ir_each_expr(s, find_slot, &at);
    return reads->why == NULL;
}

/* Goes through all stages that have joined; false with a word in 'why'. A
 * producer that no stage reads is none. What a failed attempt widened stays
 * with a stage that is then dropped. */
bool
reads_proved(Lift *lift, Stage *producer, const char **why)
{
    for (int i = 0; i < lift->pipe->stages.n; i++) {
        Reads reads = {.lift = lift, .producer = producer};
        reads.reader = lift->pipe->stages.at[i];
        Block nest = stage_block(lift->arena, reads.reader);
        if (stage_feeds(producer, reads.reader)) {
            bounds_visit_block(lift->b, &nest, find_stmt, &reads);
        }
        if (reads.why != NULL) {
            *why = reads.why;
            return false;
        }
        producer->covered =
            producer->covered ||
            (reads.n > 0 && covers(&reads, reads.min, reads.max));
    }
    return producer->sites > 0;
}
