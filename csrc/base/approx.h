#ifndef VZ_BASE_APPROX_H
#define VZ_BASE_APPROX_H
/* What a user who doesn't need the last bit allows, see approx.c for the text
 * form.  Nothing of it is ever assumed: without that text results are exact.
 */
#include <stdbool.h>
#include <stddef.h>

/* Relaxations, as bits.
 *
 *   FMA      a * b + c rounded once
 *   REASSOC  sums of floats in any fixed order, powers by products, quotients
 *            by constants as products
 *   VECMATH  functions of libm and NumPy by vector code, within 4 ulp
 *   F32      float64 that nobody sees is float32 */
typedef enum Relax {
    RELAX_FMA = 1,
    RELAX_REASSOC = 2,
    RELAX_VECMATH = 4,
    RELAX_F32 = 8,
    RELAX_ALL = 15,
} Relax;

/* How an error is measured. */
typedef enum Measure {
    MEASURE_NONE,
    MEASURE_PSNR, /* decibels, at least */
    MEASURE_MAXERR, /* the largest difference, at most */
    MEASURE_ULP, /* units in the last place, at most */
} Measure;

/* "relax": bits of Relax.  With a "measure" these are only tried, and those are
 * kept with which the error of the first call is within "limit". */
typedef struct Approx {
    unsigned relax;
    Measure measure;
    double limit;
} Approx;

enum { APPROX_WHY = 200, APPROX_WORDS = 40 };

/* False, and in 'why' (of APPROX_WHY bytes) what is wrong with 'text'. */
bool approx_parse(const char *text, Approx *out, char *why);

/* The words of 'relax' into 'out' (of APPROX_WORDS bytes): "fma,f32", ""; the
 * word of a measure, "" for none. */
void approx_words(unsigned relax, char *out);
const char *approx_measure(Measure measure);
#endif
