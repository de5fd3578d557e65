#ifndef VZ_BASE_SUM_H
#define VZ_BASE_SUM_H
/* Sums of floats in the order in which NumPy adds them (see sum.c).
 */
#include <stdint.h>

enum { SUM_RANK = 8 };

/* A box of elements in memory: "kind" is NumPy's character of their dtype
 * (?bBhHiIlLfd), "shape" has for each axis its extent and its step in bytes. */
typedef struct SumBox {
    const void *data;
    int kind;
    int rank;
    const int64_t *shape;
} SumBox;

/* Bytes of an element. */
int sum_kind_size(int kind);
/* np.sum of the box, computed in float32 if 'single', else in float64.
 * 'parts': of the real or imaginary parts of complex numbers. */
double sum_all(const SumBox *box, int single, int parts);
/* The sum of the squares of x - mean, as np.var computes it. */
double sum_squares(const SumBox *box, int single, double mean);
#endif
