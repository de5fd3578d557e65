/* Medians and what can be said about them.
 *
 * Times of a kernel have a hard lower edge and a long tail, so means and
 * normal distributions say little.  The interval here assumes nothing about
 * the distribution: with n independent values the number below the true
 * median is Binomial(n, 1/2), so the true median lies between the k-th
 * smallest and the k-th largest value unless fewer than k of them fell on one
 * side, which has probability 2 P(B < k).  The largest k for which that is at
 * most 5 % gives the narrowest such interval.
 *
 * Two kernels are compared by the ratios of neighbouring measurements, so
 * that whatever slows the machine down slows both.
 */
#include <math.h>
#include <stdlib.h>

#include "autotune/tune.h"

static int
by_value(const void *a, const void *b)
{
    double lhs = *(const double *)a;
    double rhs = *(const double *)b;
    return (lhs > rhs) - (lhs < rhs);
}

/* The largest k with 2 P(Binomial(n, 1/2) < k) <= 5 %; 0 below 6 values. */
static int
interval_rank(int n)
{
    double log_term = -n * log(2.0);
    double below = 0;
    int k = 0;
    while (k < n / 2) {
        below += exp(log_term);
        if (2 * below > 0.05) {
            break;
        }
        k++;
        log_term += log((double)(n - k + 1) / k);
    }
    return k;
}

/* Set '*out' from 'n' > 0 values.  Below 6 values nothing is certain: the
 * limits are 0 and infinity. */
void
stats_interval(Arena *arena, const double *values, int n, Interval *out)
{
    double *sorted =
        arena_copy(arena, values, sizeof(double) * (size_t)n);
    qsort(sorted, (size_t)n, sizeof(double), by_value);
    int k = interval_rank(n);
    out->median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    out->low = k > 0 ? sorted[k - 1] : 0;
    out->high = k > 0 ? sorted[n - k] : INFINITY;
}

/* The interval of base[i] / candidate[i]: above 1 the candidate is faster. */
void
stats_ratio(Arena *arena, const double *base, const double *candidate, int n,
            Interval *out)
{
    double *ratios = ARENA_ARRAY(arena, double, n);
    for (int i = 0; i < n; i++) {
        ratios[i] = base[i] / candidate[i];
    }
    stats_interval(arena, ratios, n, out);
}
