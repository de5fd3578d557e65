/* Commit or replay: putting back what a kernel wrote to visible memory.
 *
 *     a[0] = 1; a[1] = 2; check fails    =>   a as it was before the call
 *
 * A kernel notes the old bytes of every store it may have to take back.  The
 * log costs a call and 24 bytes per store, so when it has grown to about the
 * size of the arrays that may be written it is exchanged for *shadows*,
 * packed copies of those arrays as they were before the call; from then on
 * stores cost nothing (ctx->logging is 0).
 *
 * Arrays may be strided, reversed, broadcast (stride 0) and may overlap one
 * another, as two views of one base do.  That needs no care: all shadows are
 * taken at one moment, so whatever order they are written back in, every
 * byte gets the value it had at that moment.
 *
 * Nothing here is locked.  Stores are noted by one thread only: parallel
 * loops that may fail take the shadow first (pass 'commit').
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/run/parts.h"

/* A log below this many entries is never worth a shadow. */
enum { SMALL_LOG = 256, MAX_AXES = 64 };
#define TOO_LARGE ((size_t)PTRDIFF_MAX / 4)

/* The memory of an array as nested loops over runs of contiguous bytes:
 * positive strides, outermost largest, neighbours joined where they touch. */
typedef struct Runs {
    char *base;
    size_t run; /* bytes */
    int n;
    int64_t dim[MAX_AXES];
    int64_t stride[MAX_AXES];
    bool empty;
} Runs;

/* Add an axis in order of falling stride. */
static void
add_axis(Runs *runs, int64_t dim, int64_t stride)
{
    int at = runs->n++;
    while (at > 0 && runs->stride[at - 1] < stride) {
        runs->dim[at] = runs->dim[at - 1];
        runs->stride[at] = runs->stride[at - 1];
        at--;
    }
    runs->dim[at] = dim;
    runs->stride[at] = stride;
}

/* Join an axis with the one inside it where one step of it equals the whole
 * of that, and the innermost axis with the run of bytes:
 *
 *     f64[3, 4], strides 32 and 8   =>   12 steps of 8   =>   one run of 96
 */
static void
join_axes(Runs *runs)
{
    int n = 0;
    for (int i = 0; i < runs->n; i++) {
        int64_t span = runs->stride[i] * runs->dim[i];
        if (n > 0 && runs->stride[n - 1] == span) {
            runs->dim[n - 1] *= runs->dim[i];
            runs->stride[n - 1] = runs->stride[i];
        } else {
            runs->dim[n] = runs->dim[i];
            runs->stride[n] = runs->stride[i];
            n++;
        }
    }
    if (n > 0 && runs->stride[n - 1] == (int64_t)runs->run) {
        n--;
        runs->run *= (size_t)runs->dim[n];
    }
    runs->n = n;
}

/* An axis of stride 0 shows one element many times: once is enough. */
static Runs
runs_of(const UndoArray *array)
{
    Runs runs = {.base = array->data, .run = (size_t)array->itemsize};
    for (int i = 0; i < array->rank; i++) {
        int64_t dim = array->dims[i];
        int64_t stride = array->strides[i];
        runs.empty |= dim == 0;
        if (dim <= 1 || stride == 0) {
            continue;
        }
        if (stride < 0) {
            runs.base += (dim - 1) * stride;
            stride = -stride;
        }
        add_axis(&runs, dim, stride);
    }
    join_axes(&runs);
    return runs;
}

/* Bytes of a packed copy, TOO_LARGE when a view that overlaps itself would
 * need more than there can be. */
static size_t
runs_size(const Runs *runs)
{
    size_t size = runs->empty ? 0 : runs->run;
    for (int i = 0; i < runs->n; i++) {
        if (__builtin_mul_overflow(size, (size_t)runs->dim[i], &size)) {
            return TOO_LARGE;
        }
    }
    return size < TOO_LARGE ? size : TOO_LARGE;
}

/* 'n' runs of 'size' bytes, 'stride' apart in the array at 'at', to or from
 * packed bytes.  Where the size is known a run is a few moves, not a call. */
static inline __attribute__((always_inline)) void
copy_runs(char *at, int64_t stride, int64_t n, size_t size, char *packed,
          bool restore)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(restore ? at : packed, restore ? packed : at, size);
        at += stride;
        packed += size;
    }
}

/* The innermost axis: elements and pixels of usual sizes are many and short. */
static char *
copy_axis(char *at, int64_t stride, int64_t n, size_t size, char *packed,
          bool restore)
{
    switch (size) {
    case 1:
        copy_runs(at, stride, n, 1, packed, restore);
        break;
    case 3:
        copy_runs(at, stride, n, 3, packed, restore);
        break;
    case 4:
        copy_runs(at, stride, n, 4, packed, restore);
        break;
    case 8:
        copy_runs(at, stride, n, 8, packed, restore);
        break;
    case 12:
        copy_runs(at, stride, n, 12, packed, restore);
        break;
    case 24:
        copy_runs(at, stride, n, 24, packed, restore);
        break;
    default:
        copy_runs(at, stride, n, size, packed, restore);
    }
    return packed + (size_t)n * size;
}

/* Copy axis 'axis' and those inside it between the array at 'at' and the
 * packed bytes; returns where the packed bytes go on. */
static char *
runs_copy(const Runs *runs, int axis, char *at, char *packed, bool restore)
{
    if (axis == runs->n) {
        return copy_axis(at, 0, 1, runs->run, packed, restore);
    }
    if (axis == runs->n - 1) {
        return copy_axis(at, runs->stride[axis], runs->dim[axis], runs->run,
                         packed, restore);
    }
    for (int64_t i = 0; i < runs->dim[axis]; i++) {
        packed = runs_copy(runs, axis + 1, at, packed, restore);
        at += runs->stride[axis];
    }
    return packed;
}

/* Those that were taken; the others are NULL. */
static void
drop_shadows(Undo *undo)
{
    for (int i = 0; i < undo->narrays; i++) {
        free(undo->arrays[i].shadow);
        undo->arrays[i].shadow = NULL;
    }
}

/* All arrays at one moment; false, with some taken, when memory is out. */
static bool
take_shadows(Undo *undo)
{
    for (int i = 0; i < undo->narrays; i++) {
        UndoArray *array = &undo->arrays[i];
        if (array->rank > MAX_AXES) {
            return false;
        }
        Runs runs = runs_of(array);
        size_t size = runs_size(&runs);
        array->shadow = size < TOO_LARGE ? malloc(size + 1) : NULL;
        if (!array->shadow) {
            return false;
        }
        if (!runs.empty) {
            runs_copy(&runs, 0, runs.base, array->shadow, false);
        }
    }
    return true;
}

/* Every byte of every array, changed or not: who called the kernel holds the
 * arrays, and no other writer is expected during a call. */
static void
put_shadows_back(const Undo *undo)
{
    for (int i = 0; i < undo->narrays; i++) {
        Runs runs = runs_of(&undo->arrays[i]);
        if (!runs.empty) {
            runs_copy(&runs, 0, runs.base, undo->arrays[i].shadow, true);
        }
    }
}

/* Exchange the logged bytes with those in memory.  Applied to all entries
 * from last to first it takes the stores back; from first to last, again, it
 * repeats them. */
static void
swap_entry(UndoEntry *entry)
{
    char now[8];
    size_t size = (size_t)entry->size;
    memcpy(now, entry->at, size);
    memcpy(entry->at, &entry->old, size);
    memcpy(&entry->old, now, size);
}

/* Turn the log into shadows: go back to the state before the call, copy, and
 * come forward again.  Memory holds the old values for a moment, which only a
 * thread that reads an array while another one writes it could see.  Without
 * memory for the copies the log stays as it is, good for a rollback. */
int
undo_shadow(Undo *undo, VzCtx *ctx)
{
    if (undo->shadowed) {
        ctx->logging = 0;
        return VZ_OK;
    }
    for (size_t i = undo->n; i > 0; i--) {
        swap_entry(&undo->log[i - 1]);
    }
    bool taken = take_shadows(undo);
    for (size_t i = 0; i < undo->n; i++) {
        swap_entry(&undo->log[i]);
    }
    if (!taken) {
        drop_shadows(undo);
        return VZ_NOMEM;
    }
    undo->n = 0;
    undo->shadowed = true;
    ctx->logging = 0;
    return VZ_OK;
}

/* Would shadows take less memory than the log has by now? */
static bool
log_too_large(const Undo *undo)
{
    size_t limit = SMALL_LOG * sizeof(UndoEntry);
    for (int i = 0; i < undo->narrays; i++) {
        if (undo->arrays[i].rank > MAX_AXES) {
            return false;
        }
        Runs runs = runs_of(&undo->arrays[i]);
        size_t size = runs_size(&runs);
        limit = size < TOO_LARGE - limit ? limit + size : TOO_LARGE;
    }
    return undo->n * sizeof(UndoEntry) >= limit;
}

/* Double the log, or give it up for shadows.  Asked only when the log is
 * full, so the sizes of the arrays are looked at a few times per call.  When
 * shadows would pay but there is no memory for them, the log may still grow. */
static int
make_room(Undo *undo, VzCtx *ctx)
{
    if (undo->n > 0 && log_too_large(undo)) {
        if (undo_shadow(undo, ctx) == VZ_OK) {
            return VZ_OK;
        }
    }
    size_t cap = undo->cap ? undo->cap * 2 : SMALL_LOG;
    UndoEntry *log = realloc(undo->log, cap * sizeof(*log));
    if (!log) {
        return VZ_NOMEM;
    }
    undo->log = log;
    undo->cap = cap;
    return VZ_OK;
}

/* Keep the 'size' bytes at 'at'.  VZ_NOMEM, before the store happened, when
 * they can't be kept. */
int
undo_note(Undo *undo, VzCtx *ctx, void *at, int size)
{
    assert(!threads_inside() && size > 0 && size <= 8);
    if (undo->shadowed) {
        ctx->logging = 0;
        return VZ_OK;
    }
    if (undo->n == undo->cap) {
        int status = make_room(undo, ctx);
        if (status != VZ_OK || undo->shadowed) {
            return status;
        }
    }
    UndoEntry *entry = &undo->log[undo->n++];
    entry->at = at;
    entry->size = size;
    memcpy(&entry->old, at, (size_t)size);
    return VZ_OK;
}

/* Make every byte what it was when the call began.  Stores after the shadow
 * are covered by it, those before it are in it. */
void
undo_rollback(Undo *undo)
{
    if (undo->shadowed) {
        put_shadows_back(undo);
        return;
    }
    while (undo->n > 0) {
        swap_entry(&undo->log[--undo->n]);
    }
}

/* Safe after a rollback, a shadow that failed, or nothing at all. */
void
undo_free(Undo *undo)
{
    drop_shadows(undo);
    free(undo->log);
    undo->log = NULL;
    undo->n = 0;
    undo->cap = 0;
    undo->shadowed = false;
}
