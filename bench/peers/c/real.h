#ifndef REAL_H
#define REAL_H
/* Shared by the hand-written peers: the element type and a few helpers.
 * Compiled for double, strict and with fast-math, and for float.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef REAL
#define REAL double
#endif
#define K(x) ((REAL)(x))

typedef long idx;

static inline idx
imin(idx a, idx b)
{
    return a < b ? a : b;
}

static inline idx
imax(idx a, idx b)
{
    return a > b ? a : b;
}

/* 'v' between 0 and 1. */
static inline REAL
unit(REAL v)
{
    return v < K(0) ? K(0) : v > K(1) ? K(1) : v;
}

/* The contiguous share [*lo, *hi) of n items of the calling thread. */
static inline void
share(idx n, idx *lo, idx *hi)
{
    idx t = omp_get_thread_num();
    idx k = omp_get_num_threads();
    *lo = n * t / k;
    *hi = n * (t + 1) / k;
}
#endif
