/* How NumPy's loops multiply complex numbers, and take absolute values.
 *
 *     np.multiply   'DD->D'    with fused operations, where the processor has
 *                              them; one by one if the result's step is 0
 *     np.absolute   'D->d'     larger * sqrt(1 + ratio ** 2), no hypot
 *
 * Both differ from CPython's numbers in the last bit, and from each other by
 * release and processor.  Kernels compute them by the formulas of lower/pairs.c
 * and not by calls, so each loop is tried here with a few dozen numbers, in
 * rows of several lengths and steps.  What fits no formula is not translated.
 */
#include "csrc/py/pairs.h"

#include <fenv.h>
#include <math.h>

#include "typeinfer/rules.h"

enum { TRIALS = 40, SPREAD = 3 };

/* Rows of less than a vector, of one, of a few and some more numbers. */
static const int lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 17, 35};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/* A row of numbers: parts lie "size" bytes apart, numbers "step". */
typedef struct Row {
    char *at;
    int64_t step;
} Row;

typedef struct Loops {
    bool single;
    VzLoop mul;
    VzLoop square;
    VzLoop absolute;
} Loops;

/* --- numbers -------------------------------------------------------------- */

/* Part 'k' of number 'i': of many sizes and both signs. */
static double
number(int i, int k)
{
    static const double base[] = {0.3, 1.7, 0.011, 42.5, 0.93, 3.1, 1e-6, 650};
    double x = base[(i + 3 * k) % 8] * (1 + (i + k) / 8 * 0.137);
    return (i + k) % 3 == 2 ? -x : x;
}

static void
put(const Loops *t, char *at, int k, double x)
{
    if (t->single) {
        ((float *)(void *)at)[k] = (float)x;
    } else {
        ((double *)(void *)at)[k] = x;
    }
}

static double
get(const Loops *t, const char *at, int k)
{
    return t->single ? (double)((const float *)(const void *)at)[k]
                     : ((const double *)(const void *)at)[k];
}

/* Fills a row with the numbers from 'first' on. */
static void
fill(const Loops *t, Row row, int n, int first)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            put(t, row.at + i * row.step, k, number(first + i, k));
        }
    }
}

/* --- formulas ------------------------------------------------------------- */

/* x * y + z or x * y - z, in one rounding or in two. */
static double
mul_add(const Loops *t, bool fused, double x, double y, double z)
{
    if (t->single) {
        volatile float product = (float)x * (float)y;
        volatile float sum = product + (float)z;
        return fused ? (double)fmaf((float)x, (float)y, (float)z)
                     : (double)sum;
    }
    volatile double product = x * y;
    volatile double sum = product + z;
    return fused ? fma(x, y, z) : sum;
}

static double
times(const Loops *t, double x, double y)
{
    volatile float narrow = (float)x * (float)y;
    volatile double wide = x * y;
    return t->single ? (double)narrow : wide;
}

/* Is 'z' the product of 'x' and 'y' in this form? */
static bool
is_product(const Loops *t, bool fused, const char *x, const char *y,
           const char *z)
{
    double a = get(t, x, 0);
    double b = get(t, x, 1);
    double c = get(t, y, 0);
    double d = get(t, y, 1);
    return get(t, z, 0) == mul_add(t, fused, a, c, -times(t, b, d)) &&
           get(t, z, 1) == mul_add(t, fused, a, d, times(t, b, c));
}

/* Is 'r' the absolute value of 'z'? */
static bool
is_absolute(const Loops *t, const char *z, const char *r)
{
    double re = fabs(get(t, z, 0));
    double im = fabs(get(t, z, 1));
    double large = re > im ? re : im;
    double small = re > im ? im : re;
    double got = get(t, r, 0);
    if (t->single) {
        volatile float ratio = (float)small / (float)large;
        volatile float root = sqrtf(fmaf(ratio, ratio, 1.0f));
        volatile float value = root * (float)large;
        return (float)got == value;
    }
    volatile double ratio = small / large;
    volatile double root = sqrt(fma(ratio, ratio, 1.0));
    volatile double value = root * large;
    return got == value;
}

/* --- trying --------------------------------------------------------------- */

/* Multiplies 'n' numbers; in which of the forms (a bit each)? */
static unsigned
forms_of(const Loops *t, Row x, Row y, Row z, int64_t n)
{
    int64_t size = t->single ? 8 : 16;
    fill(t, x, x.step ? (int)n : 1, 0);
    fill(t, y, y.step ? (int)n : 1, 5);
    char copy[2 * sizeof(double) * TRIALS * SPREAD];
    Row from = x;
    if (x.at == z.at) {
        memcpy(copy, x.at, (size_t)(n * (x.step ? x.step : size)));
        from.at = copy;
    }
    char *args[] = {x.at, y.at, z.at};
    int64_t steps[] = {x.step, y.step, z.step};
    t->mul.run(args, &n, steps, t->mul.data);
    unsigned forms = 3;
    for (int64_t i = 0; i < n; i++) {
        for (int form = 0; form < 2; form++) {
            bool is = is_product(t, form == 1, from.at + i * x.step,
                                 y.at + i * y.step, z.at + i * z.step);
            forms &= is ? 3u : ~(1u << form);
        }
    }
    return forms;
}

/* Rows of all lengths and some steps; in place, with one number for all. */
static unsigned
try_rows(const Loops *t)
{
    static double memory[3][2 * TRIALS * SPREAD];
    static const int steps[][3] = {{1, 1, 1}, {3, 1, 1}, {1, 3, 1}, {1, 1, 2},
                                   {2, 3, 1}, {0, 1, 1}, {1, 0, 1}, {0, 2, 1},
                                   {3, 0, 2}};
    int64_t size = t->single ? 8 : 16;
    unsigned forms = 3;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        for (int l = 1; l < LENGTHS; l++) {
            Row rows[3];
            int n = lengths[l];
            for (int k = 0; k < 3; k++) {
                rows[k] = (Row){(char *)memory[k], steps[i][k] * size};
            }
            forms &= forms_of(t, rows[0], rows[1], rows[2], n);
            if (steps[i][0] == steps[i][2]) {
                forms &= forms_of(t, rows[0], rows[1], rows[0], n);
            }
        }
    }
    return forms;
}

/* Rows that run backwards, one of the two or both. */
static unsigned
try_backwards(const Loops *t)
{
    static double memory[3][2 * TRIALS * SPREAD];
    static const int steps[][2] = {{-1, 1}, {1, -1}, {-1, -1}, {-3, 2}, {0, -1},
                                   {-2, 0}};
    int64_t size = t->single ? 8 : 16;
    unsigned forms = 3;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        for (int l = 0; l < LENGTHS; l++) {
            Row rows[2];
            int n = lengths[l];
            for (int k = 0; k < 2; k++) {
                int step = steps[i][k];
                int64_t first = step < 0 ? -(n - 1) * step : 0;
                rows[k] = (Row){(char *)memory[k] + first * size, step * size};
            }
            forms &= forms_of(t, rows[0], rows[1],
                              (Row){(char *)memory[2], size}, n);
        }
    }
    return forms;
}

/* One element that is changed in place has a step of 0, and is plain. */
static bool
single_is_plain(const Loops *t)
{
    double memory[2][2];
    bool plain = true;
    for (int i = 0; i < TRIALS; i++) {
        Row x = {(char *)memory[0], 0};
        Row y = {(char *)memory[1], 0};
        plain &= (forms_of(t, x, y, x, 1) & 1) != 0;
    }
    return plain;
}

/* np.square multiplies in the same way; also backwards? */
static bool
square_fits(const Loops *t, bool fused, bool backwards)
{
    double memory[2][2 * TRIALS];
    int64_t size = t->single ? 8 : 16;
    bool fits = true;
    for (int l = 0; l < LENGTHS; l++) {
        int64_t n = lengths[l];
        fill(t, (Row){(char *)memory[0], size}, (int)n, (int)n);
        int64_t first = backwards ? (n - 1) * size : 0;
        char *args[] = {(char *)memory[0] + first, (char *)memory[1]};
        int64_t steps[] = {backwards ? -size : size, size};
        t->square.run(args, &n, steps, t->square.data);
        for (int64_t i = 0; i < n; i++) {
            const char *x = args[0] + i * steps[0];
            fits &= is_product(t, fused, x, x, args[1] + i * size);
        }
    }
    return fits;
}

/* Rows of all lengths, with and without gaps. */
static bool
absolute_fits(const Loops *t)
{
    static double in[2 * TRIALS * SPREAD];
    double out[TRIALS];
    int64_t size = t->single ? 8 : 16;
    bool fits = true;
    for (int l = 0; l < LENGTHS; l++) {
        int64_t n = lengths[l];
        for (int64_t spread = 1; spread <= SPREAD; spread++) {
            Row row = {(char *)in, size * spread};
            fill(t, row, (int)n, (int)n);
            char *args[] = {(char *)in, (char *)out};
            int64_t steps[] = {row.step, size / 2};
            t->absolute.run(args, &n, steps, t->absolute.data);
            for (int64_t i = 0; i < n; i++) {
                fits &= is_absolute(t, row.at + i * row.step,
                                    args[1] + i * size / 2);
            }
        }
    }
    return fits;
}

/* --- functions ------------------------------------------------------------ */

/* A function gives the same for one number as for many, with gaps or not; a
 * second operand is one number for all. */
static bool
function_fits(const VzLoop *loop, const Loops *t, int nin)
{
    static double in[2 * TRIALS * SPREAD];
    double out[2 * TRIALS];
    double by[2];
    double one[2];
    int64_t size = t->single ? 8 : 16;
    bool fits = true;
    for (int64_t spread = 1; spread <= SPREAD; spread += SPREAD - 1) {
        Row row = {(char *)in, size * spread};
        int64_t n = TRIALS;
        fill(t, row, TRIALS, 0);
        fill(t, (Row){(char *)by, size}, 1, 1);
        char *args[] = {(char *)in, (char *)by, (char *)by};
        int64_t steps[] = {row.step, 0, 0};
        args[nin] = (char *)out;
        steps[nin] = size;
        loop->run(args, &n, steps, loop->data);
        for (int64_t i = 0; i < TRIALS; i++) {
            args[0] = (char *)in + i * row.step;
            args[nin] = (char *)one;
            n = 1;
            loop->run(args, &n, steps, loop->data);
            fits &= memcmp(one, (char *)out + i * size, (size_t)size) == 0;
        }
    }
    return fits;
}

void
pairs_add_row(PyObject *numpy, int fn, const char *name, int nin, VzLoop *out)
{
    for (int single = 0; single < 2; single++) {
        Loops t = {.single = single};
        int own = single ? NPY_CFLOAT : NPY_CDOUBLE;
        bool ok = loops_find(numpy, name, own, nin, &out[single]) &&
                  function_fits(&out[single], &t, nin);
        numpy_set_loop(fn, single, ok);
    }
}

/* --- the tables ----------------------------------------------------------- */

static void
try_dtype(PyObject *numpy, DType dtype)
{
    Loops t = {.single = dtype == DT_C64};
    int own = t.single ? NPY_CFLOAT : NPY_CDOUBLE;
    int part = t.single ? NPY_FLOAT : NPY_DOUBLE;
    MulForm form = MUL_UNKNOWN;
    unsigned backwards = 0;
    if (loops_find(numpy, "multiply", own, 2, &t.mul) &&
        loops_find(numpy, "square", own, 1, &t.square)) {
        unsigned forms = try_rows(&t);
        backwards = try_backwards(&t) & forms;
        bool plain = single_is_plain(&t);
        bool fused = forms == 2;
        bool known = (forms == 1 || fused) && plain &&
                     square_fits(&t, fused, false);
        form = !known ? MUL_UNKNOWN : fused ? MUL_FUSED : MUL_PLAIN;
        backwards = square_fits(&t, fused, true) ? backwards : 0;
    }
    bool absolute =
        loops_find_to(numpy, "absolute", own, part, 1, &t.absolute) &&
        absolute_fits(&t);
    numpy_set_pairs(dtype, form, backwards != 0, absolute);
}

int
pairs_setup(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        return -1;
    }
    fenv_t before;
    feholdexcept(&before);
    try_dtype(numpy, DT_C128);
    try_dtype(numpy, DT_C64);
    fesetenv(&before);
    Py_DECREF(numpy);
    return 0;
}
