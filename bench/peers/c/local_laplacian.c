/* Local Laplacian filter, eight remapped curves.  The curves of one pixel are
 * adjacent; only the two curves that a pixel blends are collapsed.  Each level
 * has one zero row and column of padding, which odd sizes read.  "remap" is the
 * table of the curve, by 1/256ths, as the caller's exp() makes it. */
#include "real.h"

enum { CURVES = 8, LEVELS = 8, RANGE = 256 * (CURVES - 1) };
typedef REAL curves[CURVES];

static idx
at(idx n, int level)
{
    return n >> level;
}

/* Gray values of row 'r' and the remapped curves of each. */
static inline void
remap_row(const REAL *img, const REAL *remap, REAL *gray, curves *g, idx r,
          idx w)
{
    for (idx c = 0; c < w; c++) {
        const REAL *p = img + (r * w + c) * 3;
        REAL v = K(0.299) * p[0] + K(0.587) * p[1] + K(0.114) * p[2];
        idx q = (idx)(v * (CURVES - 1) * 256);
        q = q < 0 ? 0 : q > RANGE ? RANGE : q;
        gray[r * (w + 1) + c] = v;
        REAL *t = g[r * (w + 1) + c];
        for (int k = 0; k < CURVES; k++) {
            REAL lev = K(k * (1.0 / (CURVES - 1)));
            t[k] = (v - lev) + lev + remap[q - 256 * k + RANGE];
        }
    }
}

/* Row 'r' of the next level: a weighted mean of 4 x 4 of 's' and 'b', whose
 * rows have 'up' elements. */
static inline void
shrink_row(const curves *s, const REAL *b, curves *g, REAL *base, idx r, idx hl,
           idx wl, idx up)
{
    static const REAL wt[4] = {1, 3, 3, 1};
    for (idx c = 0; c < wl; c++) {
        idx y[4] = {r ? 2 * r - 1 : 0, 2 * r, 2 * r + 1,
                    r == hl - 1 ? 2 * hl - 1 : 2 * r + 2};
        idx x[4] = {c ? 2 * c - 1 : 0, 2 * c, 2 * c + 1,
                    c == wl - 1 ? 2 * wl - 1 : 2 * c + 2};
        curves acc = {0};
        REAL one = 0;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                REAL f = wt[i] * wt[j];
                const REAL *p = s[y[i] * up + x[j]];
                for (int k = 0; k < CURVES; k++) {
                    acc[k] += f * p[k];
                }
                one += f * b[y[i] * up + x[j]];
            }
        }
        for (int k = 0; k < CURVES; k++) {
            g[r * (wl + 1) + c][k] = acc[k] / 64;
        }
        base[r * (wl + 1) + c] = one / 64;
    }
}

/* The blended curves 'a' and 'b' less those of the coarser level 'g', plus its
 * result 'o'; 'f' is the share of 'b'. */
static inline REAL
add_coarse(const curves *g, const REAL *o, REAL a, REAL b, REAL f, int k, idx r,
           idx c, idx dn)
{
    idx y0 = r ? (r + 1) / 2 - 1 : 0, y1 = r / 2;
    idx x0 = c ? (c + 1) / 2 - 1 : 0, x1 = c / 2;
    const REAL *p = g[y0 * dn + x0] + k;
    const REAL *q = g[y0 * dn + x1] + k;
    const REAL *s = g[y1 * dn + x0] + k;
    const REAL *t = g[y1 * dn + x1] + k;
    a -= (p[0] + 3 * q[0] + 3 * s[0] + 9 * t[0]) / 16;
    b -= (p[1] + 3 * q[1] + 3 * s[1] + 9 * t[1]) / 16;
    return ((1 - f) * a + f * b)
           + (o[y0 * dn + x0] + 3 * o[y0 * dn + x1] + 3 * o[y1 * dn + x0]
              + 9 * o[y1 * dn + x1])
                 / 16;
}

/* Row 'r' of level 'l', from the coarser one; the colours of level 0. */
static inline void
blend_row(curves *const *g, REAL *const *base, REAL *const *res,
          const REAL *img, REAL *out, int l, idx r, idx w)
{
    idx wl = at(w, l), dn = l < LEVELS - 1 ? at(w, l + 1) + 1 : 0;
    for (idx c = 0; c < wl; c++) {
        REAL lev = base[l][r * (wl + 1) + c] * (CURVES - 1);
        idx k = (idx)lev;
        k = k < 0 ? 0 : k > CURVES - 2 ? CURVES - 2 : k;
        REAL f = lev - k, *here = g[l][r * (wl + 1) + c] + k;
        REAL v = l == LEVELS - 1
                     ? (1 - f) * here[0] + f * here[1]
                     : add_coarse(g[l + 1], res[l + 1], here[0], here[1], f,
                                  (int)k, r, c, dn);
        res[l][r * (wl + 1) + c] = v;
        for (int i = 0; l == 0 && i < 3; i++) {
            out[(r * w + c) * 3 + i] =
                unit(v * (img[(r * w + c) * 3 + i] + K(0.01))
                     / (base[0][r * (w + 1) + c] + K(0.01)));
        }
    }
}

void
local_laplacian(const REAL *img, REAL *out, const REAL *remap, idx h, idx w)
{
    REAL *base[LEVELS], *res[LEVELS];
    curves *g[LEVELS];
    for (int l = 0; l < LEVELS; l++) {
        idx n = (at(h, l) + 1) * (at(w, l) + 1);
        g[l] = calloc(n, sizeof(curves));
        base[l] = calloc(n, sizeof(REAL));
        res[l] = calloc(n, sizeof(REAL));
    }
#pragma omp parallel
    {
#pragma omp for
        for (idx r = 0; r < h; r++) {
            remap_row(img, remap, base[0], g[0], r, w);
        }
        for (int l = 1; l < LEVELS; l++) {
#pragma omp for
            for (idx r = 0; r < at(h, l); r++) {
                shrink_row((const curves *)g[l - 1], base[l - 1], g[l], base[l],
                           r, at(h, l), at(w, l), at(w, l - 1) + 1);
            }
        }
        for (int l = LEVELS - 1; l >= 0; l--) {
#pragma omp for
            for (idx r = 0; r < at(h, l); r++) {
                blend_row(g, base, res, img, out, l, r, w);
            }
        }
    }
    for (int l = 0; l < LEVELS; l++) {
        free(g[l]);
        free(base[l]);
        free(res[l]);
    }
}
