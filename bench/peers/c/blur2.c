/* Box of three rows, then box of three columns, fused row by row. */
#include "real.h"

void
blur2(const REAL *in, REAL *out, idx h, idx w, idx ch)
{
    idx n = w * ch, last = h > 8 ? h - 8 : 0;
    #pragma omp parallel
    {
        REAL *t = malloc(n * sizeof(REAL));
        idx lo, hi;
        share(last, &lo, &hi);
        for (idx r = lo; r < hi; r++) {
            const REAL *a = in + r * n, *b = a + n, *c = b + n;
            REAL *o = out + r * n;
            for (idx i = 0; i < n; i++) {
                t[i] = (a[i] + b[i] + c[i]) / K(3);
            }
            for (idx i = 0; i < n - 2 * ch; i++) {
                o[i] = (t[i] + t[i + ch] + t[i + 2 * ch]) / K(3);
            }
            for (idx i = n - 2 * ch; i < n; i++) {
                o[i] = 0;
            }
        }
        free(t);
    }
    memset(out + last * n, 0, (h - last) * n * sizeof(REAL));
}
