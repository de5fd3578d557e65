/* Corner response det - k*trace over a 3x3 binomial window, corners kept in
 * scan order, discs drawn.  A band of rows per thread, three rows of gradient
 * products in a ring. */
#include "real.h"

static void
products(const REAL *in, idx h, idx w, idx r, REAL *xx, REAL *yy, REAL *xy)
{
    const REAL *u = in + imax(r - 1, 0) * w, *m = in + r * w;
    const REAL *d = in + imin(r + 1, h - 1) * w;
#define ONE(a, c, b)                                                           \
    do {                                                                       \
        REAL gx = -u[a] - 2 * u[c] - u[b] + d[a] + 2 * d[c] + d[b];            \
        REAL gy = -u[a] - 2 * m[a] - d[a] + u[b] + 2 * m[b] + d[b];            \
        xx[c] = gx * gx;                                                       \
        yy[c] = gy * gy;                                                       \
        xy[c] = gx * gy;                                                       \
    } while (0)
    ONE(0, 0, imin(1, w - 1));
#pragma omp simd
    for (idx c = 1; c < w - 1; c++) {
        ONE(c - 1, c, c + 1);
    }
    ONE(w - 2, w - 1, w - 1);
#undef ONE
}

static inline REAL
window(const REAL *u, const REAL *m, const REAL *d, idx a, idx c, idx b)
{
    return (u[a] + 2 * u[c] + u[b] + 2 * m[a] + 4 * m[c] + 2 * m[b] + d[a]
            + 2 * d[c] + d[b])
           / 16;
}

/* rows[0..8]: xx,yy,xy of the upper, middle, lower row. */
static void
response_row(REAL *restrict res, idx w, REAL *const *rows)
{
#define ONE(a, c, b)                                                           \
    do {                                                                       \
        REAL sx = window(rows[0], rows[3], rows[6], a, c, b);                  \
        REAL sy = window(rows[1], rows[4], rows[7], a, c, b);                  \
        REAL sz = window(rows[2], rows[5], rows[8], a, c, b);                  \
        res[c] = (sx * sy - sz * sz) - K(0.05) * (sx + sy);                    \
    } while (0)
    ONE(0, 0, imin(1, w - 1));
#pragma omp simd
    for (idx c = 1; c < w - 1; c++) {
        ONE(c - 1, c, c + 1);
    }
    ONE(w - 2, w - 1, w - 1);
#undef ONE
}

static idx
corners(const REAL *in, idx h, idx w, idx lo, idx hi, int32_t *list)
{
    REAL *buf = malloc(10 * w * sizeof(REAL)), *res = buf + 9 * w;
    idx found = 0;
#define SLOT(r, k) (buf + (((r) % 3) * 3 + (k)) * w)
    for (idx r = imax(lo - 1, 0); r < imin(lo + 1, h); r++) {
        products(in, h, w, r, SLOT(r, 0), SLOT(r, 1), SLOT(r, 2));
    }
    for (idx r = lo; r < hi; r++) {
        idx a = imax(r - 1, 0), b = imin(r + 1, h - 1);
        if (b > r) {
            products(in, h, w, b, SLOT(b, 0), SLOT(b, 1), SLOT(b, 2));
        }
        REAL *rows[9] = {SLOT(a, 0), SLOT(a, 1), SLOT(a, 2),
                         SLOT(r, 0), SLOT(r, 1), SLOT(r, 2),
                         SLOT(b, 0), SLOT(b, 1), SLOT(b, 2)};
        response_row(res, w, rows);
        for (idx c = 0; c < w; c++) {
            if (res[c] > K(0.5)) {
                list[2 * found] = r;
                list[2 * found + 1] = c;
                found++;
            }
        }
    }
    free(buf);
    return found;
}

static void
disc(REAL *out, idx h, idx w, double fr, double fc, REAL colour)
{
    double cy = fr * h, cx = fc * w;
    idx x0 = cx - 5 > 0 ? (idx)(cx - 5) : 0,
        x1 = cx + 5 < w ? (idx)(cx + 5) : w;
    idx y0 = cy - 5 > 0 ? (idx)(cy - 5) : 0,
        y1 = cy + 5 < h ? (idx)(cy + 5) : h;
    for (idx r = y0; r < y1; r++) {
        for (idx c = x0; c < x1; c++) {
            idx dy = r - y0 - 5, dx = c - x0 - 5;
            if (dy * dy + dx * dx <= 25) {
                out[r * w + c] = colour;
            }
        }
    }
}

/* Gray path: colour 255, or 1 when the picture's maximum is at most 1. */
idx
harris(const REAL *in, REAL *out, idx h, idx w)
{
    int32_t *list = malloc(2 * h * w * sizeof(int32_t));
    idx start[65] = {0}, count[64] = {0}, total = 0;
    int teams = 1;
    REAL top = in[0];
#pragma omp parallel reduction(max : top)
    {
        int t = omp_get_thread_num();
        idx lo, hi;
        share(h, &lo, &hi);
#pragma omp single
        teams = omp_get_num_threads();
        start[t] = lo * w;
        count[t] = corners(in, h, w, lo, hi, list + 2 * lo * w);
#pragma omp simd reduction(max : top)
        for (idx i = lo * w; i < hi * w; i++) {
            top = top > in[i] ? top : in[i];
        }
    }
    REAL colour = top <= 1 ? 1 : 255;
    for (int t = 0; t < teams; t++) {
        for (idx i = 0; i < count[t]; i++) {
            const int32_t *p = list + 2 * (start[t] + i);
            disc(out, h, w, (double)p[0] / h, (double)p[1] / w, colour);
        }
    }
    for (int t = 0; t < teams; t++) {
        total += count[t];
    }
    free(list);
    return total;
}
