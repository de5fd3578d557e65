/* In which order NumPy adds the products of two short vectors.
 *
 *     DOUBLE_dot  ->  cblas_ddot  ->  a kernel for this CPU
 *
 * A BLAS adds in blocks, with or without fused multiply-add, and that differs
 * between libraries and CPUs.  All that are known add the rest that is less
 * than a block from left to right.  So the routine itself is asked, with
 * numbers for which any other order gives other bits sooner or later: vectors
 * of 2, 3, ... elements, until one differs from sums whose products are
 * rounded, and from such that are not (float32 is added in float64, where
 * products are exact).  The longest length up to which all agreed, for
 * contiguous and for strided vectors, is what the compiler may use.  It
 * decides bits, so it is a part of the cache's keys (module.c).  Longer ones
 * are the routine's own business, on copies at need, unless its bits depend on
 * where a vector lies.
 */
#include "csrc/py/core.h"

#include <fenv.h>
#include <math.h>

#include "typeinfer/rules.h"

enum { TRIALS = 64, WIDEST = 3 };

/* What is tried: the vectors' dtype and how their sum is rounded. */
typedef struct {
    bool single;
    bool fused;
} Way;

/* A number with random digits, of one of a few sizes and either sign. */
static double
next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    double x = 1.0 + (double)(*seed >> 12) * 0x1p-52;
    x *= (double)(1 << (*seed >> 8 & 3));
    return *seed >> 11 & 1 ? -x : x;
}

/* x becomes element 'i' of the vector at 'to'. */
static void
put(void *to, int i, bool single, double x)
{
    if (single) {
        ((float *)to)[i] = (float)x;
    } else {
        ((double *)to)[i] = x;
    }
}

/* What is expected of 'n' > 1 products, as csrc/lower/dot.c has it. */
static bool
agrees(const double *x, const double *y, int n, Way way, const void *got)
{
    bool single = way.single;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        volatile float narrow = (float)x[i] * (float)y[i];
        volatile double wide = x[i] * y[i]; /* no fused multiply-add */
        sum = way.fused ? fma(x[i], y[i], sum)
                        : sum + (single ? (double)narrow : wide);
    }
    float narrow = (float)sum;
    return single ? memcmp(&narrow, got, sizeof(narrow)) == 0
                  : memcmp(&sum, got, sizeof(sum)) == 0;
}

/* One call of the routine, with vectors 'a' and 'b' elements apart. */
static bool
try_once(PyArray_DotFunc *dot, int n, Way way, int a, int b, uint64_t *seed)
{
    bool single = way.single;
    double x[MAX_LANES];
    double y[MAX_LANES];
    double space[2][MAX_LANES * WIDEST] = {{0}};
    npy_intp size = single ? sizeof(float) : sizeof(double);
    for (int i = 0; i < n; i++) {
        x[i] = single ? (float)next(seed) : next(seed);
        y[i] = single ? (float)next(seed) : next(seed);
        put(space[0], i * a, single, x[i]);
        put(space[1], i * b, single, y[i]);
    }
    double got = 0.0;
    dot(space[0], size * a, space[1], size * b, &got, n, NULL);
    return agrees(x, y, n, way, &got);
}

/* The longest vectors that agree. */
static int
longest(PyArray_DotFunc *dot, Way way, bool strided)
{
    static const int steps[][2] = {{1, 1}, {1, 2}, {3, 1}, {2, 2}, {3, 2}};
    uint64_t seed = 1;
    for (int n = 2; n <= MAX_LANES; n++) {
        for (int i = 0; i < TRIALS; i++) {
            const int *step = steps[strided ? 1 + i % 4 : 0];
            if (!try_once(dot, n, way, step[0], step[1], &seed)) {
                return n - 1;
            }
        }
    }
    return MAX_LANES;
}

/* Whichever of the two ways holds for longer. */
static DotOrder
order_of(PyArray_DotFunc *dot, bool single, bool strided)
{
    DotOrder order = {.longest = longest(dot, (Way){single, false}, strided)};
    if (!single && order.longest < 2) {
        order.longest = longest(dot, (Way){single, true}, strided);
        order.fused = order.longest > 1;
    }
    return order;
}

/* Are the bits those of other places in memory too?  Old kernels begin with
 * the elements before a multiple of 16 bytes, so that a sum's order depends on
 * where the vectors lie; a copy of a vector has other bits then. */
static bool
is_steady(PyArray_DotFunc *dot, bool single)
{
    enum { LONGEST = 40, SHIFTS = 4 };
    npy_intp size = single ? sizeof(float) : sizeof(double);
    double space[2][LONGEST + SHIFTS];
    double numbers[2][LONGEST];
    uint64_t seed = 1;
    for (int i = 0; i < LONGEST; i++) {
        numbers[0][i] = next(&seed);
        numbers[1][i] = next(&seed);
    }
    for (int n = 2; n <= LONGEST; n++) {
        double want = 0.0;
        for (int shift = 0; shift < SHIFTS * SHIFTS; shift++) {
            char *x = (char *)space[0] + shift / SHIFTS * size;
            char *y = (char *)space[1] + shift % SHIFTS * size;
            for (int i = 0; i < n; i++) {
                put(x, i, single, numbers[0][i]);
                put(y, i, single, numbers[1][i]);
            }
            double got = 0.0;
            dot(x, size, y, size, &got, n, NULL);
            want = shift == 0 ? got : want;
            if (memcmp(&got, &want, sizeof(got)) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Once, when the module is made. */
void
dots_setup(void)
{
    fenv_t before;
    feholdexcept(&before);
    bool steady = true;
    for (int single = 0; single < 2; single++) {
        PyArray_Descr *descr =
            PyArray_DescrFromType(single ? NPY_FLOAT : NPY_DOUBLE);
        PyArray_DotFunc *dot = PyDataType_GetArrFuncs(descr)->dotfunc;
        for (int strided = 0; strided < 2; strided++) {
            numpy_set_dot(single ? DT_F32 : DT_F64, strided,
                          order_of(dot, single, strided));
        }
        steady = steady && is_steady(dot, single);
        Py_DECREF(descr);
    }
    if (!steady) {
        numpy_set_routines(false);
    }
    fesetenv(&before);
}
