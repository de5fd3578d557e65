/* Pull-push interpolation of an RGBA picture, ten levels.  Levels below the
 * smallest count as zero, and so does one padding row and column per level
 * (odd sizes read it).  Level 0 is never stored: premultiplied on the fly. */
#include "real.h"

enum { LEVELS = 10 };
typedef REAL px __attribute__((vector_size(4 * sizeof(REAL)),
                               aligned(sizeof(REAL)), may_alias));

static void
premultiply(const px *in, px *out, idx n)
{
    for (idx i = 0; i < n; i++) {
        px v = in[i];
        out[i] = v[3] * v;
    }
}

/* One coarse row from up to three fine rows a,b,c (a unused when first). */
static inline px
narrow(const px *p, idx y)
{
    return y ? (p[2 * y - 1] + 2 * p[2 * y] + p[2 * y + 1]) * K(0.25)
             : (3 * p[0] + p[1]) * K(0.25);
}

static void
down(const px *img, px *const *d, int l, idx h, idx w)
{
    idx hl = h >> l, wl = w >> l, wp = w >> (l - 1);
#pragma omp for
    for (idx x = 0; x < hl; x++) {
        const px *row[3];
        px *buf = 0;
        if (l == 1) {
            buf = malloc(3 * w * sizeof(px));
            for (int i = x ? 0 : 1; i < 3; i++) {
                premultiply(img + (2 * x - 1 + i) * w, buf + i * w, w);
            }
        }
        for (int i = 0; i < 3; i++) {
            row[i] = buf ? buf + i * w : d[l - 1] + (2 * x - 1 + i) * (wp + 1);
        }
        px *o = d[l] + x * (wl + 1);
        for (idx y = 0; y < wl; y++) {
            o[y] = x ? (narrow(row[0], y) + 2 * narrow(row[1], y)
                        + narrow(row[2], y))
                           * K(0.25)
                     : (narrow(row[1], y) * 3 + narrow(row[2], y)) * K(0.25);
        }
        free(buf);
    }
}

/* Widen one coarse row to wl columns; no coarse row means zero. */
static void
widen(const px *coarse, idx wc, px *o, idx wl)
{
    for (idx y = 0; y < wl - 1; y++) {
        o[y] = (coarse[y / 2] + coarse[(y + 1) / 2]) / 2;
    }
    o[wl - 1] = wc ? coarse[wc - 1] : (px){0};
}

void
interpolate(const REAL *image, REAL *out, idx h, idx w)
{
    const px *img = (const px *)image;
    px *d[LEVELS];
    for (int l = 1; l < LEVELS; l++) {
        d[l] = calloc(((h >> l) + 1) * ((w >> l) + 1), sizeof(px));
    }
#pragma omp parallel
    {
        px *buf = calloc(3 * (w + 1), sizeof(px));
        for (int l = 1; l < LEVELS; l++) {
            down(img, d, l, h, w);
        }
        for (int l = LEVELS - 2; l >= 0; l--) {
            idx hl = h >> l, wl = w >> l, hc = h >> (l + 1), wc = w >> (l + 1);
            px *ring[2] = {buf, buf + w + 1}, *own = buf + 2 * (w + 1);
            idx held[2] = {-1, -1};
            if (hl == 0 || wl == 0) {
                continue;
            }
#pragma omp for schedule(static)
            for (idx x = 0; x < hl; x++) {
                /* Last fine row repeats the last coarse one. */
                idx k0 = x / 2, k1 = (x + 1) / 2;
                if (x == hl - 1) {
                    k0 = k1 = hc - 1;
                }
                for (idx k = k0; k <= k1; k++) {
                    if (held[k & 1] != k) {
                        if (k < hc) {
                            widen(d[l + 1] + k * (wc + 1), wc, ring[k & 1], wl);
                        } else {
                            memset(ring[k & 1], 0, wl * sizeof(px));
                        }
                        held[k & 1] = k;
                    }
                }
                const px *u = ring[k0 & 1], *v = ring[k1 & 1];
                px *row = l ? d[l] + x * (wl + 1) : own;
                if (!l) {
                    premultiply(img + x * w, own, w);
                }
                for (idx y = 0; y < wl; y++) {
                    px s = (u[y] + v[y]) / 2;
                    row[y] = row[y] + (1 - row[y][3]) * s;
                }
                if (!l) {
                    for (idx y = 0; y < w; y++) {
                        px s = row[y] / row[y][3];
                        REAL *o = out + (x * w + y) * 3;
                        o[0] = unit(s[0]);
                        o[1] = unit(s[1]);
                        o[2] = unit(s[2]);
                    }
                }
            }
        }
        free(buf);
    }
    for (int l = 1; l < LEVELS; l++) {
        free(d[l]);
    }
}
