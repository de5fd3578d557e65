/* Never slower than Python: signatures that lose are given up.
 *
 *     repeated   in most of the last calls a check failed, so Python did the
 *                work again                                          VZ-4004
 *     slower     two trials in a row found the Python function faster VZ-4005
 *
 * Such a signature stays in Python from then on, with a FallbackWarning that
 * says why; explain() says so too.  Not where the user insists on native code
 * (strict) or has chosen the compiler's options by hand, and no trials where
 * VIZGEN_TRIALS=0.
 *
 * A trial is a few calls in a row that are timed from end to end, some of them
 * native, the others left to Python.  Trials are rare: the first after TRIAL
 * calls of the function, then GROWTH times as many later each.  A call is left
 * to Python only if that is expected to take less than a millisecond; before
 * the first one nothing is known of Python, and a loop is taken to be LOOP
 * times slower there.
 */
#include "csrc/py/tell.h"

#include <time.h>

enum { TRIAL = 64, GROWTH = 8, MOST_APART = 1 << 22 };

/* Calls of a trial, and which of them Python does (a bit each): in an order
 * that no rhythm of large and small calls goes along with. */
enum { CALLS = 8, PYTHONS = 0x96, ENOUGH = 3 };

/* Nanoseconds that a call that is left to Python may take. */
#define PATIENCE 1e6

/* How much slower Python is thought to be with and without loops, and what a
 * call takes beside its kernel. */
#define LOOP 30.0
#define STRAIGHT 4.0
#define OVERHEAD 100.0

/* Python wins where it takes less than this part of the native time, and that
 * by so many nanoseconds. */
#define MARGIN 0.8
#define WORTHWHILE 200.0

/* Trials that must be lost in a row; repeated calls among the last eight. */
enum { LOST = 2, REPEATED = 6, WINDOW = 8 };

/* --- giving up ----------------------------------------------------------- */

/* From now on a Spec like one that was refused.  Running calls hold the kernels
 * by their Loaded.  -1 with an exception when warnings are errors. */
static int
give_up(Accel *f, Spec *spec, DiagId code, PyObject *text)
{
    if (text == NULL) {
        PyErr_Clear();
        return 0;
    }
    spec->code = code;
    spec->record.given_up = true;
    Py_XSETREF(spec->refusal, text);
    return fallback_tell(f, code, text, NULL, NULL, 0);
}

/* Must the function stay native whatever it costs?  A part of another one is
 * looked after by part.c. */
static bool
is_fixed(const Accel *f)
{
    return f->strict || f->core->strict || f->opts_text != NULL || f->silent;
}

/* What failed, in the user's words, and what may be done. */
static const char *
advice(Exc exc)
{
    switch (exc) {
    case X_INDEX:
        return "an index was out of range; test it before it is used";
    case X_ZERO_DIVISION:
        return "a divisor was zero; test it before";
    case X_OVERFLOW:
        return "an integer left the range of 64 bits, or that of the NumPy "
               "integer or array that it meets; mask it (`& 0xFFFFFFFF`, "
               "`& 0xFF`) or use NumPy integers, which wrap";
    case X_VALUE:
        return "a value was outside of a function's domain, or shapes differed";
    case X_TYPE:
        return "a value was None that is used as a number";
    case X_UNBOUND:
        return "a name was read that had no value yet";
    case X_ASSERT:
        return "an assertion failed";
    case X_RAISE:
        return "an exception was raised; return a value for frequent cases";
    case X_MEMORY:
        return "an array would be too large, or have a negative size";
    default:
        return "a value was of another kind than this code is compiled for; "
               "give the name one type on all paths";
    }
}

/* Points at the check that failed last. */
static PyObject *
repeated_text(const Loaded *l, const Record *record, int times)
{
    char message[300];
    snprintf(message, sizeof(message),
             "left in Python: %d of the last %d calls were repeated there%s: "
             "%s", times, WINDOW,
             record->same ? "" : ", for several reasons, this one at last",
             advice(record->failed->exc));
    Diag diag = {
        .id = DIAG_REPEATED,
        .severity = SEV_REFUSAL,
        .loc = record->failed->loc,
        .message = message,
    };
    return diag_text(&l->diags, &diag);
}

/* Shapes that differ may be due to an axis of one element, which NumPy repeats;
 * the next such call is compiled for it. */
int
trial_repeated(Call *call)
{
    Record *record = &call->spec->record;
    const Stmt *failed = ir_site(call->kernel->result->func, S_CHECK,
                                 call->ctx.failed);
    if (failed == NULL) {
        return 0;
    }
    if (failed->exc == X_VALUE && !call->spec->no_singles &&
        spec_sees_single(call->spec, call->args)) {
        call->spec->no_singles = true;
        return 0;
    }
    record->same = record->recent == 0 || (record->same &&
                                           record->failed == failed);
    record->failed = failed;
    record->recent = (uint8_t)(record->recent << 1 | 1);
    int times = __builtin_popcount(record->recent);
    if (times < REPEATED || call->spec->calls < WINDOW || is_fixed(call->f) ||
        call->spec->refusal != NULL) {
        return 0;
    }
    return give_up(call->f, call->spec, DIAG_REPEATED,
                   repeated_text(call->loaded, record, times));
}

/* --- what a call is worth ------------------------------------------------ */

static bool block_loops(const ABlock *block);

/* Does the statement loop, or something in it? */
static bool
stmt_loops(const AStmt *s)
{
    return s->kind == AS_FOR || s->kind == AS_WHILE || block_loops(&s->body) ||
           block_loops(&s->orelse);
}

static bool
block_loops(const ABlock *block)
{
    bool loops = false;
    for (int i = 0; i < block->n && !loops; i++) {
        loops = stmt_loops(block->at[i]);
    }
    return loops;
}

/* Is there a loop in what Python would run?  NumPy's functions are its own. */
static bool
unit_loops(const Loaded *l)
{
    bool loops = false;
    for (int i = 0; i < l->unit->funcs.n && !loops; i++) {
        const AFunc *func = l->unit->funcs.at[i];
        const char *path = l->diags.sources.at[func->loc.file].path;
        loops = strstr(path, "/vizgen/library/") == NULL
                && block_loops(&func->body);
    }
    return loops;
}

/* Of all arrays. */
static double
count_elements(PyObject *const *bound, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (PyArray_Check(bound[i])) {
            sum += (double)PyArray_SIZE((PyArrayObject *)bound[i]);
        }
    }
    return sum;
}

/* Nanoseconds that Python may take for the call. */
static double
python_estimate(const Trial *trial)
{
    const Record *record = &trial->spec->record;
    double per = trial->elements + 1;
    if (record->python_seen > 0) {
        return record->python_seen * per / (record->elements + 1);
    }
    double native = trial->spec->cost * per + OVERHEAD;
    return native * (unit_loops(trial->loaded) ? LOOP : STRAIGHT);
}

/* --- a trial ------------------------------------------------------------- */

bool
trial_begin(Accel *f, Trial *trial)
{
    if (f->trial_apart == 0) { /* the function's first call */
        bool never = is_fixed(f) || !f->trials;
        f->trial_apart = never ? 0 : TRIAL;
        f->until_trial = never ? INT_MAX : TRIAL;
        return false;
    }
    if (f->trial_left == 0) {
        f->trial_left = CALLS;
        f->trial_apart = f->trial_apart < MOST_APART ? f->trial_apart * GROWTH
                                                     : MOST_APART;
    }
    f->trial_left--;
    f->until_trial = f->trial_left > 0 ? 1 : f->trial_apart;
    *trial = (Trial){
        .python = (PYTHONS >> f->trial_left & 1) != 0 && !is_fixed(f),
        .start = (double)clock_ns(),
    };
    return true;
}

bool
trial_takes(Trial *trial, Loaded *l, Spec *spec, PyObject *const *bound, int n)
{
    trial->loaded = loaded_keep(l);
    trial->spec = spec;
    trial->elements = count_elements(bound, n);
    trial->python &= spec->calls > 0 && python_estimate(trial) < PATIENCE;
    return trial->python;
}

/* Begins to collect times for calls of another size. */
static void
start_record(Record *record, double elements)
{
    record->elements = elements;
    record->natives = record->pythons = 0;
    record->native = record->python = 0;
}

/* Are the sizes of two calls too different to compare their times? */
static bool
is_other_size(double lhs, double rhs)
{
    return lhs > 1.25 * rhs + 1 || rhs > 1.25 * lhs + 1;
}

/* The least of the times counts: others were disturbed. */
static void
add_time(double *least, int *n, double time)
{
    *least = *n == 0 || time < *least ? time : *least;
    ++*n;
}

/* Has Python won often enough?  What it took is kept for estimates. */
static bool
is_lost(Record *record)
{
    bool lost = record->python < MARGIN * record->native &&
                record->native - record->python > WORTHWHILE;
    record->lost = lost ? record->lost + 1 : 0;
    record->python_seen = record->python;
    record->natives = record->pythons = 0;
    return record->lost >= LOST;
}

/* In microseconds. */
static PyObject *
slower_text(const Accel *f, const Loaded *l, const Record *record)
{
    char message[200];
    snprintf(message, sizeof(message),
             "a call takes %.2f us in native code and %.2f us in Python; give "
             "it more to do per call",
             record->native * 1e-3, record->python * 1e-3);
    return function_text(f, l, DIAG_SLOWER, message);
}

int
trial_end(Accel *f, Trial *trial, Outcome out)
{
    Spec *spec = trial->spec;
    int status = 0;
    if (spec != NULL && spec->refusal == NULL && !is_fixed(f) &&
        (out == OUT_DONE || (out == OUT_PYTHON && trial->python))) {
        double time = (double)clock_ns() - trial->start;
        Record *record = &spec->record;
        if (is_other_size(record->elements, trial->elements)) {
            start_record(record, trial->elements);
        }
        if (out == OUT_PYTHON) {
            add_time(&record->python, &record->pythons, time);
        } else {
            add_time(&record->native, &record->natives, time);
        }
        if (record->natives >= ENOUGH && record->pythons >= ENOUGH &&
            is_lost(record)) {
            status = give_up(f, spec, DIAG_SLOWER,
                             slower_text(f, trial->loaded, record));
        }
    }
    loaded_drop(trial->loaded);
    return status;
}
