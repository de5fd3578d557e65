/* In which order NumPy adds the products of two short vectors.
 *
 *     DOUBLE_dot  ->  cblas_ddot  ->  a kernel for this CPU
 *
 * A BLAS adds in blocks, with or without fused multiply-add, and that differs
 * between libraries and CPUs.  All that are known add the rest that is less
 * than a block from left to right.  So the routine itself is asked, with
 * numbers for which any other order gives other bits sooner or later: vectors
 * of 2, 3, ... elements, until one differs.  The longest length up to which
 * all agreed, for contiguous and for strided vectors, is what the compiler may
 * use.  It decides bits, so it is a part of the cache's keys (module.c).
 */
#include "csrc/py/core.h"

#include <fenv.h>

#include "typeinfer/rules.h"

enum { TRIALS = 64, WIDEST = 3 };

/* A number with random digits, of one of a few sizes and either sign. */
static double
next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    double x = 1.0 + (double)(*seed >> 12) * 0x1p-52;
    x *= (double)(1 << (*seed >> 8 & 3));
    return *seed >> 11 & 1 ? -x : x;
}

/* What is expected of 'n' > 1 products, as csrc/lower/dot.c has it. */
static bool
agrees(const double *x, const double *y, int n, bool single, const void *got)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        volatile float narrow = (float)x[i] * (float)y[i];
        volatile double wide = x[i] * y[i]; /* no fused multiply-add */
        sum += single ? (double)narrow : wide;
    }
    float narrow = (float)sum;
    return single ? memcmp(&narrow, got, sizeof(narrow)) == 0
                  : memcmp(&sum, got, sizeof(sum)) == 0;
}

/* One call of the routine, with vectors 'a' and 'b' elements apart. */
static bool
try_once(PyArray_DotFunc *dot, int n, bool single, int a, int b,
         uint64_t *seed)
{
    double x[MAX_LANES];
    double y[MAX_LANES];
    double space[2][MAX_LANES * WIDEST] = {{0}};
    npy_intp size = single ? sizeof(float) : sizeof(double);
    for (int i = 0; i < n; i++) {
        x[i] = single ? (float)next(seed) : next(seed);
        y[i] = single ? (float)next(seed) : next(seed);
        if (single) {
            ((float *)space[0])[i * a] = (float)x[i];
            ((float *)space[1])[i * b] = (float)y[i];
        } else {
            space[0][i * a] = x[i];
            space[1][i * b] = y[i];
        }
    }
    double got = 0.0;
    dot(space[0], size * a, space[1], size * b, &got, n, NULL);
    return agrees(x, y, n, single, &got);
}

/* The longest vectors that agree. */
static int
longest(PyArray_DotFunc *dot, bool single, bool strided)
{
    static const int steps[][2] = {{1, 1}, {1, 2}, {3, 1}, {2, 2}, {3, 2}};
    uint64_t seed = 1;
    for (int n = 2; n <= MAX_LANES; n++) {
        for (int i = 0; i < TRIALS; i++) {
            const int *step = steps[strided ? 1 + i % 4 : 0];
            if (!try_once(dot, n, single, step[0], step[1], &seed)) {
                return n - 1;
            }
        }
    }
    return MAX_LANES;
}

/* Once, when the module is made. */
void
dots_setup(void)
{
    fenv_t before;
    feholdexcept(&before);
    for (int single = 0; single < 2; single++) {
        PyArray_Descr *descr =
            PyArray_DescrFromType(single ? NPY_FLOAT : NPY_DOUBLE);
        PyArray_DotFunc *dot = PyDataType_GetArrFuncs(descr)->dotfunc;
        for (int strided = 0; strided < 2; strided++) {
            numpy_set_dot(single ? DT_F32 : DT_F64, strided,
                          longest(dot, single, strided));
        }
        Py_DECREF(descr);
    }
    fesetenv(&before);
}
