/* Bilateral grid: scatter to (h/8+1, w/8+1, 11) cells of (sum, count), three
 * 1-4-6-4-1 passes, trilinear lookup.  Border samples weigh 5, corners 17. */
#include "real.h"

enum { CELL = 8, DEPTH = 11, SLOTS = 2 * DEPTH };

static inline void
add(REAL *grid, REAL v, REAL weight)
{
    v = unit(v);
    idx z = (idx)(v * 10 + K(0.5));
    grid[2 * z] += v * weight;
    grid[2 * z + 1] += weight;
}

static inline idx
cell(idx x)
{
    return (x + CELL / 2) / CELL;
}

static void
scatter(const REAL *in, REAL *grid, idx h, idx w, idx gh, idx gw)
{
#pragma omp for schedule(dynamic, 8)
    for (idx gx = 0; gx < gh; gx++) {
        REAL *g = grid + gx * gw * SLOTS;
        memset(g, 0, gw * SLOTS * sizeof(REAL));
        idx lo = imax(CELL * gx - CELL / 2, 1),
            hi = imin(CELL * gx + CELL / 2, h - 1);
        for (idx x = lo; x < hi; x++) {
            const REAL *p = in + x * w;
            for (idx y = 1; y < w - 1; y++) {
                add(g + cell(y) * SLOTS, p[y], 1);
            }
            add(g, p[0], 5);
            add(g + (gw - 1) * SLOTS, p[w - 1], 5);
        }
        if (gx == 0) {
            for (idx y = 1; y < w - 1; y++) {
                add(g + cell(y) * SLOTS, in[y], 5);
            }
        }
        if (gx == gh - 1) {
            for (idx y = 1; y < w - 1; y++) {
                add(g + cell(y) * SLOTS, in[(h - 1) * w + y], 5);
            }
        }
        if (gx == 0) {
            add(g, in[0], 17);
            add(g + (gw - 1) * SLOTS, in[w - 1], 17);
        }
        if (gx == gh - 1) {
            add(g, in[(h - 1) * w], 17);
            add(g + (gw - 1) * SLOTS, in[h * w - 1], 17);
        }
    }
}

/* n runs of m adjacent values; out-of-range neighbours are left out. */
static void
blur(const REAL *in, REAL *out, idx n, idx m, idx i)
{
    const REAL *p = in + i * m;
    REAL *o = out + i * m;
    if (i >= 2 && i < n - 2) {
        for (idx k = 0; k < m; k++) {
            o[k] = p[k - 2 * m] + 4 * p[k - m] + 6 * p[k] + 4 * p[k + m]
                   + p[k + 2 * m];
        }
    } else if (i == 0) {
        for (idx k = 0; k < m; k++) {
            o[k] = 6 * p[k] + 4 * p[k + m] + p[k + 2 * m];
        }
    } else if (i == 1) {
        for (idx k = 0; k < m; k++) {
            o[k] = 4 * p[k - m] + 6 * p[k] + 4 * p[k + m] + p[k + 2 * m];
        }
    } else if (i == n - 2) {
        for (idx k = 0; k < m; k++) {
            o[k] = p[k - 2 * m] + 4 * p[k - m] + 6 * p[k] + 4 * p[k + m];
        }
    } else {
        for (idx k = 0; k < m; k++) {
            o[k] = p[k - 2 * m] + 4 * p[k - m] + 6 * p[k];
        }
    }
}

/* A cell's (sum, count) as one vector. */
typedef REAL two __attribute__((vector_size(2 * sizeof(REAL)),
                                aligned(sizeof(REAL)), may_alias));

static inline two
mix(two a, two b, REAL f)
{
    return a * (1 - f) + b * f;
}

static void
lookup(const REAL *in, const REAL *grid, REAL *out, idx w, idx gh, idx gw,
       idx x)
{
    idx gx = x / CELL;
    REAL fx = (REAL)(x % CELL) / CELL;
    if (gx == gh - 1) {
        gx--, fx = 1;
    }
    const two *g0 = (const two *)grid + gx * gw * DEPTH, *g1 = g0 + gw * DEPTH;
    for (idx y = 0; y < w; y++) {
        REAL z = unit(in[y]) * 10;
        idx gz = (idx)z, gy = y / CELL;
        REAL fz = z - gz, fy = (REAL)(y % CELL) / CELL;
        if (gy == gw - 1) {
            gy--, fy = 1;
        }
        if (gz == DEPTH - 1) {
            gz--, fz = 1;
        }
        const two *a = g0 + gy * DEPTH + gz, *b = a + DEPTH;
        const two *c = g1 + gy * DEPTH + gz, *d = c + DEPTH;
        two lo = mix(mix(a[0], b[0], fy), mix(c[0], d[0], fy), fx);
        two hi = mix(mix(a[1], b[1], fy), mix(c[1], d[1], fy), fx);
        two v = mix(lo, hi, fz);
        out[y] = v[0] / v[1];
    }
}

void
bilateral_grid(const REAL *in, REAL *out, idx h, idx w)
{
    idx gh = h / CELL + 1, gw = w / CELL + 1, slab = gw * SLOTS;
    REAL *a = malloc(gh * slab * sizeof(REAL)),
         *b = malloc(gh * slab * sizeof(REAL));
#pragma omp parallel
    {
        REAL *t = malloc(slab * sizeof(REAL));
        scatter(in, a, h, w, gh, gw);
#pragma omp for schedule(static)
        for (idx x = 0; x < gh; x++) {
            REAL *s = a + x * slab;
            for (idx y = 0; y < gw; y++) {
                for (idx z = 0; z < DEPTH; z++) {
                    blur(s + y * SLOTS, t + y * SLOTS, DEPTH, 2, z);
                }
            }
            for (idx y = 0; y < gw; y++) {
                blur(t, b + x * slab, gw, SLOTS, y);
            }
        }
#pragma omp for schedule(static)
        for (idx x = 0; x < gh; x++) {
            blur(b, a, gh, slab, x);
        }
#pragma omp for schedule(static)
        for (idx x = 0; x < h; x++) {
            lookup(in + x * w, a, out + x * w, w, gh, gw, x);
        }
        free(t);
    }
    free(a);
    free(b);
}
