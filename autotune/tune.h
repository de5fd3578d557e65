#ifndef VZ_AUTOTUNE_TUNE_H
#define VZ_AUTOTUNE_TUNE_H
/* Tuning: what may vary, what is tried next, whether it is faster, the log.
 *
 * The program that is tuned, its captured calls and the child processes that
 * measure belong to vizgen/tune.py and vizgen/worker.py; here are the parts
 * that decide.  All are pure functions of what they are given, so a tuning
 * that was interrupted goes on from its log alone.
 */
#include <stdbool.h>
#include <stddef.h>

#include "csrc/base/arena.h"

/* --- space.c ------------------------------------------------------------ */

/* The variants of one function: every combination of the binary choices of
 * CHOICES in space.c with one of "compilers".  Index 0 is the compiler's own
 * choice for everything, with the first compiler. */
typedef struct Space {
    int ncompilers;
    const char *const *compilers;
} Space;

/* "opts" is text for opts_parse, "" where nothing deviates. */
typedef struct Variant {
    const char *opts;
    const char *compiler;
} Variant;

int space_axes(const Space *space);
int space_size(const Space *space);
/* How many choices 'axis' has, and which one variant 'index' makes. */
int space_choices(const Space *space, int axis);
int space_digit(const Space *space, int index, int axis);
/* Variant 'index' with choice 'digit' on 'axis' instead of its own. */
int space_replace(const Space *space, int index, int axis, int digit);
void space_variant(Arena *arena, const Space *space, int index, Variant *out);

/* --- search.c ------------------------------------------------------------- */

/* A variant that was measured.  "gain" is the baseline's time over its own;
 * 0 for one that failed. */
typedef struct Trial {
    int index;
    double gain;
} Trial;

/* The next variant to measure, -1 when there is none. */
int search_next(Arena *arena, const Space *space, const Trial *trials, int n);

/* --- stats.c -------------------------------------------------------------- */

/* A median and the limits between which it lies with 95 % confidence. */
typedef struct Interval {
    double median;
    double low;
    double high;
} Interval;

void stats_interval(Arena *arena, const double *values, int n, Interval *out);
void stats_ratio(Arena *arena, const double *base, const double *candidate,
                 int n, Interval *out);

/* --- log.c ---------------------------------------------------------------- */

int log_append(int dir_fd, const char *name, const char *text, size_t size);
#endif
