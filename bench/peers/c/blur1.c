/* 3x3 binomial blur, weights renormalised at the border. */
#include "real.h"

static void
edge_pixel(const REAL *in, REAL *out, idx h, idx w, idx ch, idx r, idx c)
{
    static const REAL wt[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
    for (idx k = 0; k < ch; k++) {
        REAL s = 4 * in[(r * w + c) * ch + k], n = 4;
        for (idx i = -1; i <= 1; i++) {
            for (idx j = -1; j <= 1; j++) {
                idx y = r + i, x = c + j;
                if ((!i && !j) || y < 0 || x < 0 || y >= h || x >= w) {
                    continue;
                }
                s += wt[i + 1][j + 1] * in[(y * w + x) * ch + k];
                n += wt[i + 1][j + 1];
            }
        }
        out[(r * w + c) * ch + k] = s / n;
    }
}

void
blur1(const REAL *in, REAL *out, idx h, idx w, idx ch)
{
    idx n = w * ch;
    #pragma omp parallel for schedule(static)
    for (idx r = 0; r < h; r++) {
        if (r == 0 || r == h - 1) {
            for (idx c = 0; c < w; c++) {
                edge_pixel(in, out, h, w, ch, r, c);
            }
            continue;
        }
        edge_pixel(in, out, h, w, ch, r, 0);
        const REAL *u = in + (r - 1) * n, *m = u + n, *d = m + n;
        REAL *restrict o = out + r * n;
        for (idx i = ch; i < n - ch; i++) {
            REAL s = 4 * m[i];
            s += u[i - ch];
            s += 2 * u[i];
            s += u[i + ch];
            s += 2 * m[i - ch];
            s += 2 * m[i + ch];
            s += d[i - ch];
            s += 2 * d[i];
            s += d[i + ch];
            o[i] = s * K(0.0625);
        }
        edge_pixel(in, out, h, w, ch, r, w - 1);
    }
}
