/* Escape-time picture: 'mandelbrot' scalar, 'mandelbrot_simd' with many
 * columns at a time and lane masks; the same operations per pixel. */
#include "real.h"

void
mandelbrot(REAL *out, idx rows, idx cols, REAL x0, REAL y0, idx maxit,
           REAL ppu)
{
    #pragma omp parallel for schedule(dynamic, 8)
    for (idx r = 0; r < rows; r++) {
        for (idx c = 0; c < cols; c++) {
            REAL cr = c / ppu + x0, ci = (rows - r) / ppu + y0;
            REAL zr = 0, zi = 0;
            idx n = 0;
            for (; n < maxit; n++) {
                REAL r2 = zr * zr, i2 = zi * zi;
                if (r2 + i2 > 4) {
                    break;
                }
                zi = 2 * zr * zi + ci;
                zr = r2 - i2 + cr;
            }
            out[r * cols + c] = (REAL)n / maxit;
        }
    }
}

#if defined(SINGLE)
typedef int32_t ireal;
#else
typedef int64_t ireal;
#endif
enum { WIDE = 32 / sizeof(REAL), PARTS = 4, LANES = WIDE * PARTS, ROUNDS = 4 };
typedef REAL vec __attribute__((vector_size(32)));
typedef ireal ivec __attribute__((vector_size(32)));

static inline int
any(ivec v)
{
    uint64_t w[4];
    memcpy(w, &v, sizeof w);
    return (w[0] | w[1] | w[2] | w[3]) != 0;
}

/* A lane that has left diverges on to inf or nan, so its test stays false
 * and its count stands still; whether all have left is asked every ROUNDS
 * rounds. */
void
mandelbrot_simd(REAL *out, idx rows, idx cols, REAL x0, REAL y0, idx maxit,
                REAL ppu)
{
    #pragma omp parallel for schedule(dynamic, 8)
    for (idx r = 0; r < rows; r++) {
        REAL ci = (rows - r) / ppu + y0;
        for (idx c = 0; c < cols; c += LANES) {
            vec cr[PARTS], zr[PARTS], zi[PARTS];
            ivec n[PARTS];
            for (int p = 0; p < PARTS; p++) {
                zr[p] = zi[p] = (vec){0};
                n[p] = (ivec){0};
                for (int k = 0; k < WIDE; k++) {
                    cr[p][k] = (c + p * WIDE + k) / ppu + x0;
                }
            }
            for (idx it = 0; it < maxit; it++) {
                ivec alive = {0};
                for (int p = 0; p < PARTS; p++) {
                    vec r2 = zr[p] * zr[p], i2 = zi[p] * zi[p];
                    ivec in = r2 + i2 <= K(4);
                    n[p] -= in;
                    alive |= in;
                    zi[p] = 2 * zr[p] * zi[p] + ci;
                    zr[p] = r2 - i2 + cr[p];
                }
                if (it % ROUNDS == 0 && !any(alive)) {
                    break;
                }
            }
            for (int p = 0; p < PARTS; p++) {
                for (int k = 0; k < WIDE && c + p * WIDE + k < cols; k++) {
                    out[r * cols + c + p * WIDE + k] = (REAL)n[p][k] / maxit;
                }
            }
        }
    }
}
