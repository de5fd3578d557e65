/* Nearest-patch field (16x16 patches, offset at most 11, two sweeps) and its
 * drawing as coloured arrows. */
#include "real.h"

enum { PATCH = 16, REACH = 11, SWEEPS = 2, TRIES = 5, CH = 3 };
typedef struct {
    const REAL *a, *b;
    idx h, w;
} pair;

static idx
pick(uint32_t seed, idx lo, idx hi)
{
    uint32_t u = seed ^ (seed << 16), v = ~seed;
    v = 36969u * (v & 65535) + (v >> 16);
    u = 18000u * (u & 65535) + (u >> 16);
    return lo
           + (idx)((uint32_t)((v << 16) + (u & 65535)) % (uint32_t)(hi - lo));
}

static REAL
patch(pair p, idx ay, idx ax, idx by, idx bx)
{
    REAL s = 0;
    for (idx dy = 0; dy < PATCH; dy++) {
        const REAL *a = p.a + ((ay + dy) * p.w + ax) * CH;
        const REAL *b = p.b + ((by + dy) * p.w + bx) * CH;
        for (idx i = 0; i < PATCH * CH; i++) {
            s += (b[i] - a[i]) * (b[i] - a[i]);
        }
    }
    return s;
}

/* As above, but may stop after any pixel once the sum exceeds 'best'. */
static REAL
patch_until(pair p, idx ay, idx ax, idx by, idx bx, REAL best)
{
    REAL s = 0;
    for (idx dy = 0; dy < PATCH; dy++) {
        const REAL *a = p.a + ((ay + dy) * p.w + ax) * CH;
        const REAL *b = p.b + ((by + dy) * p.w + bx) * CH;
        for (idx i = 0; i < PATCH * CH; i += CH) {
            for (idx k = i; k < i + CH; k++) {
                s += (b[k] - a[k]) * (b[k] - a[k]);
            }
            if (s > best) {
                return s;
            }
        }
    }
    return s;
}

static inline REAL
apart(pair p, idx ay, idx ax, idx by, idx bx, idx k)
{
    REAL d = p.b[(by * p.w + bx) * CH + k] - p.a[(ay * p.w + ax) * CH + k];
    return d * d;
}

static void
init(pair p, REAL *f, idx eh, idx ew)
{
#pragma omp parallel for schedule(static)
    for (idx ay = 0; ay < eh; ay++) {
        for (idx ax = 0; ax < ew; ax++) {
            uint32_t seed = ay << 16 | ax;
            idx bx = pick(seed, imax(ax - REACH, 0), imin(ax + REACH + 1, ew));
            idx by =
                pick(seed + 1, imax(ay - REACH, 0), imin(ay + REACH + 1, eh));
            REAL *o = f + (ay * ew + ax) * 3;
            o[0] = bx;
            o[1] = by;
            o[2] = patch(p, ay, ax, by, bx);
        }
    }
}

static int
near(idx ay, idx ax, idx by, idx bx)
{
    return labs(ax - bx) <= REACH && labs(ay - by) <= REACH;
}

static void
sweep(pair p, REAL *f, idx eh, idx ew, idx step)
{
    idx add = step > 0 ? PATCH - 1 : 0, gone = step > 0 ? -1 : PATCH;
    for (idx i = 0; i < eh; i++) {
        for (idx j = 0; j < ew; j++) {
            idx ay = step > 0 ? i : eh - 1 - i, ax = step > 0 ? j : ew - 1 - j;
            REAL *o = f + (ay * ew + ax) * 3, best = o[2];
            idx bx0 = (idx)o[0], by0 = (idx)o[1];
            if (ax - step >= 0 && ax - step < ew) {
                const REAL *q = f + (ay * ew + ax - step) * 3;
                idx bx = (idx)q[0] + step, by = (idx)q[1];
                if (bx >= 0 && bx < ew && near(ay, ax, by, bx)) {
                    REAL s = q[2];
                    for (idx d = 0; d < PATCH; d++) {
                        for (idx k = 0; k < CH; k++) {
                            s -= apart(p, ay + d, ax + gone, by + d, bx + gone,
                                       k);
                        }
                        for (idx k = 0; k < CH; k++) {
                            s +=
                                apart(p, ay + d, ax + add, by + d, bx + add, k);
                        }
                    }
                    if (s < best) {
                        best = s, bx0 = bx, by0 = by;
                    }
                }
            }
            if (ay - step >= 0 && ay - step < eh) {
                const REAL *q = f + ((ay - step) * ew + ax) * 3;
                idx bx = (idx)q[0], by = (idx)q[1] + step;
                if (by >= 0 && by < eh && near(ay, ax, by, bx)) {
                    REAL s = q[2];
                    for (idx d = 0; d < PATCH; d++) {
                        for (idx k = 0; k < CH; k++) {
                            s -= apart(p, ay + gone, ax + d, by + gone, bx + d,
                                       k);
                        }
                    }
                    for (idx d = 0; d < PATCH; d++) {
                        for (idx k = 0; k < CH; k++) {
                            s +=
                                apart(p, ay + add, ax + d, by + add, bx + d, k);
                        }
                    }
                    if (s < best) {
                        best = s, bx0 = bx, by0 = by;
                    }
                }
            }
            uint32_t seed = ay << 16 | ax;
            for (int t = 0; t < TRIES; t++) {
                idx bx =
                    pick(seed, imax(imax(bx0 - 2 * REACH, ax - REACH), 0),
                         imin(imin(bx0 + 2 * REACH + 1, ax + REACH + 1), ew));
                idx by =
                    pick(seed + 1, imax(imax(by0 - 2 * REACH, ay - REACH), 0),
                         imin(imin(by0 + 2 * REACH + 1, ay + REACH + 1), eh));
                REAL s = patch_until(p, ay, ax, by, bx, best);
                if (s < best) {
                    best = s, bx0 = bx, by0 = by;
                }
            }
            o[0] = bx0;
            o[1] = by0;
            o[2] = best;
        }
    }
}

static void
line(double x0, double y0, double x1, double y1, REAL *img, idx h, idx w,
     const double *col)
{
    int steep = !(fabs(y1 - y0) < fabs(x1 - x0));
    double t;
    if (steep) {
        t = x0;
        x0 = y0;
        y0 = t;
        t = x1;
        x1 = y1;
        y1 = t;
    }
    if (!(x1 > x0)) {
        t = x0;
        x0 = x1;
        x1 = t;
        t = y0;
        y0 = y1;
        y1 = t;
    }
    double dx = x1 - x0, dy = fabs(y1 - y0), err = dx / 2;
    idx sign = y0 < y1 ? 1 : -1, y = (idx)y0;
    for (idx x = (idx)x0; x < (idx)x1 + 1; x++) {
        idx a = steep ? y : x, b = steep ? x : y;
        if (a >= 0 && b >= 0 && a < h && b < w) {
            for (int k = 0; k < 3; k++) {
                img[(a * w + b) * 3 + k] = K(col[k]);
            }
        }
        err -= dy;
        if (err < 0) {
            y += sign;
            err += dx;
        }
    }
}

static void
wheel(double d0, double d1, double r, double *col)
{
    double a = atan2(d0, d1), third = 2.0 * M_PI / 3.0, s;
    col[0] = col[1] = col[2] = 0;
    if (a >= 0 && a <= third) {
        s = a * 3.0 / (2.0 * M_PI);
        col[0] = 1 - s;
        col[1] = s;
    }
    if (a > third || a < -third) {
        s = ((a < 0 ? a + 2.0 * M_PI : a) - third) * 3.0 / (2.0 * M_PI);
        col[1] = 1 - s;
        col[2] = s;
    }
    if (a < 0 && a >= -third) {
        s = (a + 2.0 * M_PI - 4.0 * M_PI / 3.0) * 3.0 / (2.0 * M_PI);
        col[2] = 1 - s;
        col[0] = s;
    }
    for (int k = 0; k < 3; k++) {
        col[k] *= pow(r, 0.25);
    }
}

void
optical_flow(const REAL *a, const REAL *b, REAL *img, idx h, idx w)
{
    pair p = {a, b, h, w};
    idx ew = w - PATCH + 1, eh = h - PATCH + 1;
    REAL *f = malloc(eh * ew * 3 * sizeof(REAL));
    init(p, f, eh, ew);
    for (int s = 0; s < SWEEPS; s++) {
        sweep(p, f, eh, ew, s % 2 ? -1 : 1);
    }
    for (idx ay = REACH; ay < eh - REACH; ay += 10) {
        for (idx ax = REACH; ax < ew - REACH; ax += 10) {
            double u = f[(ay * ew + ax) * 3] - ax,
                   v = f[(ay * ew + ax) * 3 + 1] - ay;
            double col[3], q = 0.25 * pow(3, -0.5);
            wheel(u / REACH, v / REACH, pow(u * u + v * v, 0.5) / REACH, col);
            double x0 = ay, y0 = ax, x1 = ay + v, y1 = ax + u;
            double dx = x1 - x0, dy = y1 - y0;
            line(x0, y0, x1, y1, img, h, w, col);
            line(x0 + 0.75 * dx + q * dy, y0 + 0.75 * dy - q * dx, x1, y1, img,
                 h, w, col);
            line(x0 + 0.75 * dx - q * dy, y0 + 0.75 * dy + q * dx, x1, y1, img,
                 h, w, col);
        }
    }
    free(f);
}
