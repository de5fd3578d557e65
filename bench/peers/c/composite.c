/* out = (1-a)*bg + a*fg with one alpha per pixel; three ways for colour. */
#include "real.h"

/* Alpha spread over three channels, so that the blend is one flat loop. */
void
composite(const REAL *restrict bg, const REAL *restrict fg,
          const REAL *restrict al, REAL *restrict out, idx h, idx w, idx ch)
{
    if (ch == 1) {
        idx n = h * w;
        #pragma omp parallel for simd schedule(static)
        for (idx i = 0; i < n; i++) {
            out[i] = (1 - al[i]) * bg[i] + al[i] * fg[i];
        }
        return;
    }
    #pragma omp parallel
    {
        REAL *a3 = malloc(3 * w * sizeof(REAL));
        #pragma omp for schedule(static)
        for (idx r = 0; r < h; r++) {
            const REAL *a = al + r * w;
            for (idx c = 0; c < w; c++) {
                a3[3 * c] = a3[3 * c + 1] = a3[3 * c + 2] = a[c];
            }
            const REAL *b = bg + 3 * r * w, *f = fg + 3 * r * w;
            REAL *o = out + 3 * r * w;
            #pragma omp simd
            for (idx i = 0; i < 3 * w; i++) {
                o[i] = (1 - a3[i]) * b[i] + a3[i] * f[i];
            }
        }
        free(a3);
    }
}

void
composite_direct(const REAL *restrict bg, const REAL *restrict fg,
                 const REAL *restrict al, REAL *restrict out,
                 idx h, idx w, idx ch)
{
    idx n = h * w;
    #pragma omp parallel for schedule(static)
    for (idx i = 0; i < n; i++) {
        for (idx k = 0; k < ch; k++) {
            out[ch * i + k] =
                (1 - al[i]) * bg[ch * i + k] + al[i] * fg[ch * i + k];
        }
    }
}

/* The three channels written out; compilers vectorise the stride-3 groups. */
void
composite_rgb_scalars(const REAL *restrict bg, const REAL *restrict fg,
                      const REAL *restrict al, REAL *restrict out,
                      idx h, idx w)
{
    idx n = h * w;
    #pragma omp parallel for schedule(static)
    for (idx i = 0; i < n; i++) {
        REAL a = al[i], b = 1 - a;
        out[3 * i] = b * bg[3 * i] + a * fg[3 * i];
        out[3 * i + 1] = b * bg[3 * i + 1] + a * fg[3 * i + 1];
        out[3 * i + 2] = b * bg[3 * i + 2] + a * fg[3 * i + 2];
    }
}
