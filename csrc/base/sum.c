/* Sums of floats, bit by bit as NumPy's.
 *
 * Additions of floats don't commute, so what np.sum gives depends on how NumPy
 * walks an array.  Three things decide:
 *
 *  - The axes are sorted by the size of their steps, so that memory is walked
 *    from low to high; axes that continue each other become one.
 *  - The inner loop adds a run of n elements pairwise: fewer than 8 from left
 *    to right, up to 128 in eight running sums, more by halves.
 *  - A run is what the iterator hands out at once: all elements, if there is
 *    only one axis left.  Else NumPy weighs the cost of copying: runs are rows
 *    where these are long, and otherwise as many rows as fit in a buffer of
 *    8192 elements.  Elements that must be converted are always buffered.
 *
 * The rule of the third part is that of NumPy's nditer since 2.3
 * (typeinfer/numpy.c lists the releases); tests/test_reduce.py holds it against
 * NumPy for many shapes.  np.var adds squares that lie in an array of their
 * own, without gaps, so they are one run.
 *
 * Complex numbers are added part by part, in blocks of as many floats: half as
 * many numbers in half as many running sums.
 */
#include "csrc/base/sum.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 8192, BLOCK = 128, LANES = 8 };

/* The axes from the innermost outwards. */
typedef struct Walk {
    const char *at;  /* the next element */
    int kind;
    int size;
    int lanes; /* running sums */
    int rank;
    int64_t n[SUM_RANK];
    int64_t step[SUM_RANK];
    int64_t index[SUM_RANK];
} Walk;

int
sum_kind_size(int kind)
{
    switch (kind) {
    case '?':
    case 'b':
    case 'B':
        return 1;
    case 'h':
    case 'H':
        return 2;
    case 'i':
    case 'I':
    case 'f':
        return 4;
    default:
        return 8;
    }
}

/* --- the order of the axes ------------------------------------------------ */

/* Inserts an axis as NumPy's stable insertion sort does: a step of 0 can't be
 * compared and stays where it is. */
static void
insert_axis(Walk *w, int64_t n, int64_t step)
{
    int place = w->rank;
    for (int i = w->rank - 1; i >= 0 && step != 0; i--) {
        if (w->step[i] == 0) {
            continue;
        }
        if (llabs(w->step[i]) <= llabs(step)) {
            break;
        }
        place = i;
    }
    for (int i = w->rank; i > place; i--) {
        w->n[i] = w->n[i - 1];
        w->step[i] = w->step[i - 1];
    }
    w->n[place] = n;
    w->step[place] = step;
    w->rank++;
}

/* Joins axes that continue each other. */
static void
join_axes(Walk *w)
{
    int rank = 0;
    for (int i = 0; i < w->rank; i++) {
        int64_t n = w->n[i];
        int64_t step = w->step[i];
        if (rank > 0 && w->n[rank - 1] * w->step[rank - 1] == step) {
            w->n[rank - 1] *= n;
            continue;
        }
        w->n[rank] = n;
        w->step[rank] = step;
        rank++;
    }
    w->rank = rank;
}

/* The elements of 'box' in NumPy's order; how many there are. */
static int64_t
walk_start(Walk *w, const SumBox *box)
{
    int64_t count = 1;
    *w = (Walk){.at = box->data, .kind = box->kind};
    w->size = sum_kind_size(box->kind);
    w->lanes = LANES;
    for (int i = box->rank - 1; i >= 0; i--) {
        int64_t n = box->shape[2 * i];
        count *= n;
        if (n != 1) {
            insert_axis(w, n, box->shape[2 * i + 1]);
        }
    }
    if (w->rank == 0) {
        insert_axis(w, 1, 0);
    }
    join_axes(w);
    return count;
}

/* --- runs ----------------------------------------------------------------- */

/* "run" elements are added pairwise at a time; a new run begins also after
 * "period" elements. */
typedef struct Plan {
    int64_t period;
    int64_t run;
} Plan;

/* npyiter_find_buffering_setup for an operand that is only read: of the axes
 * up to which a buffer may reach, the outermost whose buffers are no costlier.
 * 'converts': elements are copied in any case. */
static Plan
plan_runs(const Walk *w, int converts)
{
    double best_cost = converts ? 2 : 1;
    int64_t core = 1;
    int64_t size = w->n[0];
    int64_t best = size;
    int outer = 0;
    for (int i = 1; i < w->rank && size < BUFFER; i++) {
        int64_t inner = size;
        size *= w->n[i];
        double filled = size < BUFFER ? (double)size : BUFFER;
        if (2 * (double)best <= best_cost * filled) {
            best_cost = 2;
            core = inner;
            best = size;
            outer = i;
        }
    }
    Plan plan = {best, best};
    if ((converts || outer > 0) && best > BUFFER) {
        plan.run = core * (BUFFER / core);
    }
    return plan;
}

/* One element as a float64. */
static double
number_at(const char *at, int kind)
{
    switch (kind) {
    case '?':
    case 'B':
        return *(const uint8_t *)at;
    case 'b':
        return *(const int8_t *)at;
    case 'h':
        return *(const int16_t *)(const void *)at;
    case 'H':
        return *(const uint16_t *)(const void *)at;
    case 'i':
        return *(const int32_t *)(const void *)at;
    case 'I':
        return *(const uint32_t *)(const void *)at;
    case 'l':
        return (double)*(const int64_t *)(const void *)at;
    case 'L':
        return (double)*(const uint64_t *)(const void *)at;
    case 'f':
        return (double)*(const float *)(const void *)at;
    default:
        return *(const double *)(const void *)at;
    }
}

/* Elements that lie in one row from here on. */
static int64_t
row_left(const Walk *w)
{
    return w->n[0] - w->index[0];
}

/* Goes on by 'k' elements of the row. */
static void
walk_on(Walk *w, int64_t k)
{
    w->index[0] += k;
    w->at += k * w->step[0];
    for (int i = 0; i + 1 < w->rank && w->index[i] == w->n[i]; i++) {
        w->at += w->step[i + 1] - w->n[i] * w->step[i];
        w->index[i] = 0;
        w->index[i + 1]++;
    }
}

/* Where a run of n elements is cut: into two of as many floats, in whole
 * blocks. */
static int64_t
half_of(const Walk *w, int64_t n)
{
    return w->lanes == LANES ? n / 2 - n / 2 % LANES : (n - n % LANES) / 2;
}

/* For both float types: the next n <= BLOCK elements, without gaps; the sum of
 * such; and a run.  "mean" is NULL for plain sums. */
#define SUMS(NAME, T, KIND)                                                   \
    static const T *take_##NAME(Walk *w, int64_t n, T *room, const T *mean)   \
    {                                                                         \
        if (mean == NULL && w->kind == (KIND) && row_left(w) >= n &&          \
            (w->step[0] == (int64_t)sizeof(T) || n == 1)) {                   \
            const char *at = w->at;                                           \
            walk_on(w, n);                                                    \
            return (const T *)(const void *)at;                               \
        }                                                                     \
        for (int64_t k = 0; k < n;) {                                         \
            int64_t part = row_left(w) < n - k ? row_left(w) : n - k;         \
            for (int64_t i = 0; i < part; i++) {                              \
                const char *at = w->at + i * w->step[0];                      \
                T x = (T)number_at(at, w->kind);                              \
                T off = mean != NULL ? x - *mean : 0;                         \
                room[k + i] = mean != NULL ? off * off : x;                   \
            }                                                                 \
            walk_on(w, part);                                                 \
            k += part;                                                        \
        }                                                                     \
        return room;                                                          \
    }                                                                         \
    static T block_##NAME(const T *x, int64_t n, int lanes)                   \
    {                                                                         \
        if (n < lanes) {                                                      \
            T sum = (T)-0.0;                                                  \
            for (int64_t i = 0; i < n; i++) {                                 \
                sum += x[i];                                                  \
            }                                                                 \
            return sum;                                                       \
        }                                                                     \
        T r[LANES];                                                           \
        memcpy(r, x, sizeof(T) * (size_t)lanes);                              \
        int64_t i = lanes;                                                    \
        for (; i + lanes <= n; i += lanes) {                                  \
            for (int k = 0; k < lanes; k++) {                                 \
                r[k] += x[i + k];                                             \
            }                                                                 \
        }                                                                     \
        T sum = (r[0] + r[1]) + (r[2] + r[3]);                                \
        if (lanes == LANES) {                                                 \
            sum += (r[4] + r[5]) + (r[6] + r[7]);                             \
        }                                                                     \
        for (; i < n; i++) {                                                  \
            sum += x[i];                                                      \
        }                                                                     \
        return sum;                                                           \
    }                                                                         \
    static T run_##NAME(Walk *w, int64_t n, const T *mean)                    \
    {                                                                         \
        if (n * LANES <= BLOCK * w->lanes) {                                  \
            T room[BLOCK];                                                    \
            return block_##NAME(take_##NAME(w, n, room, mean), n, w->lanes);  \
        }                                                                     \
        int64_t half = half_of(w, n);                                         \
        T lhs = run_##NAME(w, half, mean);                                    \
        return lhs + run_##NAME(w, n - half, mean);                           \
    }                                                                         \
    static T sum_##NAME(Walk *w, int64_t count)                               \
    {                                                                         \
        Plan plan = plan_runs(w, w->kind != (KIND));                          \
        T sum = 0;                                                            \
        for (int64_t k = 0; k < count; k += plan.period) {                    \
            for (int64_t i = 0; i < plan.period; i += plan.run) {             \
                int64_t left = plan.period - i;                               \
                int64_t n = left < plan.run ? left : plan.run;                \
                sum += run_##NAME(w, n, NULL);                                \
            }                                                                 \
        }                                                                     \
        return sum;                                                           \
    }

SUMS(single, float, 'f')
SUMS(double, double, 'd')

/* An empty sum is 0; so is that of nothing but -0.0. */
double
sum_all(const SumBox *box, int single, int parts)
{
    Walk w;
    int64_t count = walk_start(&w, box);
    w.lanes = parts ? LANES / 2 : LANES;
    return single ? (double)sum_single(&w, count) : sum_double(&w, count);
}

/* Deviations are an array of their own. */
double
sum_squares(const SumBox *box, int single, double mean)
{
    Walk w;
    int64_t count = walk_start(&w, box);
    if (count == 0) {
        return 0;
    }
    if (single) {
        float m = (float)mean;
        return (double)(0 + run_single(&w, count, &m));
    }
    return 0 + run_double(&w, count, &mean);
}
