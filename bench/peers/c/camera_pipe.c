/* Raw sensor picture to RGB, in 24x40 blocks: suppress hot pixels, demosaic by
 * gradient, colour matrix, tone table.  Planes of a block are 16x24. */
#include "real.h"

enum { BH = 24, BW = 40, PH = 16, PW = 24 };
typedef REAL plane[PH][PW];
struct block {
    plane raw[4], red[4], green[4], blue[4];
};
enum { AT_GR = 0, AT_R = 1, AT_B = 2, AT_GB = 3 };

static void
tone(REAL *lut, double contrast, int black, double gamma)
{
    double inv = 1.0 / (1023 - black), b = 2 - pow(2.0, contrast / 100.0);
    double a = 2 - 2 * b;
    for (int i = 0; i < 1024; i++) {
        double y = 0;
        if (i > black) {
            y = pow((i - black) * inv, 1.0 / gamma);
            if (y > 0.5) {
                y = 1 - y;
                y = 1 - (a * y * y + b * y);
            } else {
                y = a * y * y + b * y;
            }
            y = floor(y * 255 + 0.5);
            y = y < 0 ? 0 : y > 255 ? 255 : y;
        }
        lut[i] = K(y / 256.0);
    }
}

static void
matrix(REAL *m, double kelvin)
{
    static const double warm[12] = {2.2997,  -0.4478, 0.1706,  -39.0923,
                                    -0.3826, 1.5906,  -0.2080, -25.4311,
                                    -0.0888, -0.7344, 2.2832,  -20.0826};
    static const double day[12] = {1.6697,  -0.2693, -0.4004, -42.4346,
                                   -0.3576, 1.0615,  1.5949,  -37.1158,
                                   -0.2175, -1.8751, 6.9640,  -26.6970};
    double t = (1.0 / kelvin - 1.0 / 3200.0) / (1.0 / 7000.0 - 1.0 / 3200.0);
    for (int i = 0; i < 12; i++) {
        m[i] = K(t * day[i] + (1 - t) * warm[i]);
    }
}

static inline REAL
big(REAL a, REAL b)
{
    return a > b ? a : b;
}

static inline REAL
small(REAL a, REAL b)
{
    return a < b ? a : b;
}

static inline REAL
mag(REAL a)
{
    return a < 0 ? -a : a;
}

static inline void
quiet(plane dst, plane src)
{
    for (int y = 1; y < PH - 1; y++) {
        for (int x = 1; x < PW - 1; x++) {
            dst[y][x] =
                small(src[y][x], big(big(src[y - 1][x], src[y + 1][x]),
                                     big(src[y][x + 1], src[y][x - 1])));
        }
    }
}

static inline int
level(REAL v)
{
    return (int)((v < 0 ? 0 : v > 1023 ? 1023 : v) + K(0.5));
}

static void
demosaic(struct block *s)
{
    quiet(s->green[AT_GR], s->raw[AT_GR]);
    quiet(s->red[AT_R], s->raw[AT_R]);
    quiet(s->blue[AT_B], s->raw[AT_B]);
    quiet(s->green[AT_GB], s->raw[AT_GB]);
    REAL(*gr)[PW] = s->green[AT_GR], (*gb)[PW] = s->green[AT_GB];
    REAL(*gar)[PW] = s->green[AT_R], (*gab)[PW] = s->green[AT_B];
    REAL(*rr)[PW] = s->red[AT_R], (*bb)[PW] = s->blue[AT_B];
    for (int y = 1; y < PH - 1; y++) {
#pragma omp simd
        for (int x = 1; x < PW - 1; x++) {
            REAL v = (gb[y - 1][x] + gb[y][x]) / 2;
            REAL dv = mag(gb[y - 1][x] - gb[y][x]);
            REAL h = (gr[y][x] + gr[y][x + 1]) / 2;
            REAL dh = mag(gr[y][x] - gr[y][x + 1]) / 2;
            gar[y][x] = dh < dv ? h : v;
            v = (gr[y + 1][x] + gr[y][x]) / 2;
            dv = mag(gr[y + 1][x] - gr[y][x]);
            h = (gb[y][x] + gb[y][x - 1]) / 2;
            dh = mag(gb[y][x] - gb[y][x - 1]);
            gab[y][x] = dh < dv ? h : v;
        }
    }
    for (int y = 1; y < PH - 1; y++) {
#pragma omp simd
        for (int x = 1; x < PW - 1; x++) {
            s->red[AT_GR][y][x] = (rr[y][x - 1] + rr[y][x]) / 2 + gr[y][x]
                                  - (gar[y][x - 1] + gar[y][x]) / 2;
            s->blue[AT_GR][y][x] = (bb[y - 1][x] + bb[y][x]) / 2 + gr[y][x]
                                   - (gab[y - 1][x] + gab[y][x]) / 2;
            s->red[AT_GB][y][x] = (rr[y][x] + rr[y + 1][x]) / 2 + gb[y][x]
                                  - (gar[y][x] + gar[y + 1][x]) / 2;
            s->blue[AT_GB][y][x] = (bb[y][x] + bb[y][x + 1]) / 2 + gb[y][x]
                                   - (gab[y][x] + gab[y][x + 1]) / 2;
        }
    }
    for (int y = 1; y < PH - 1; y++) {
#pragma omp simd
        for (int x = 1; x < PW - 1; x++) {
            REAL p = (rr[y + 1][x - 1] + rr[y][x]) / 2 + gab[y][x]
                     - (gar[y + 1][x - 1] + gar[y][x]) / 2;
            REAL n = (rr[y][x - 1] + rr[y + 1][x]) / 2 + gab[y][x]
                     - (gar[y][x - 1] + gar[y + 1][x]) / 2;
            s->red[AT_B][y][x] = mag(rr[y + 1][x - 1] - rr[y][x])
                                         < mag(rr[y][x - 1] - rr[y + 1][x])
                                     ? p
                                     : n;
            p = (bb[y - 1][x + 1] + bb[y][x]) / 2 + gar[y][x]
                - (gab[y - 1][x + 1] + gab[y][x]) / 2;
            n = (bb[y][x + 1] + bb[y - 1][x]) / 2 + gar[y][x]
                - (gab[y][x + 1] + gab[y - 1][x]) / 2;
            s->blue[AT_R][y][x] = mag(bb[y - 1][x + 1] - bb[y][x])
                                          < mag(bb[y][x + 1] - bb[y - 1][x])
                                      ? p
                                      : n;
        }
    }
}

/* in is 0..1; times 65536 it is the sensor's count. */
void
camera_pipe(const REAL *in, REAL *out, idx h, idx w, idx oh, idx ow)
{
    REAL lut[1024], m[12];
    tone(lut, 50, 25, 2.0);
    matrix(m, 3700);
    idx nh = imin(h - 48, oh) / BH, nw = imin(w - 32, ow) / BW;
    memset(out, 0, oh * ow * 3 * sizeof(REAL));
#pragma omp parallel
    {
        struct block s;
        memset(&s, 0, sizeof s); /* the rims stay zero */
#pragma omp for collapse(2) schedule(static)
        for (idx by = 0; by < nh; by++) {
            for (idx bx = 0; bx < nw; bx++) {
                for (int y = 0; y < PH; y++) {
                    const REAL *a = in + (by * BH + 2 * y) * w + bx * BW;
                    const REAL *b = a + w;
                    for (int x = 0; x < PW; x++) {
                        s.raw[AT_GR][y][x] = a[2 * x] * K(65536);
                        s.raw[AT_R][y][x] = a[2 * x + 1] * K(65536);
                        s.raw[AT_B][y][x] = b[2 * x] * K(65536);
                        s.raw[AT_GB][y][x] = b[2 * x + 1] * K(65536);
                    }
                }
                demosaic(&s);
                for (int k = 0; k < 4; k++) {
                    for (int y = 2; y < PH - 2; y++) {
                        int lr[3][PW];
#pragma omp simd
                        for (int x = 2; x < PW - 2; x++) {
                            REAL r = s.red[k][y][x], g = s.green[k][y][x];
                            REAL b = s.blue[k][y][x];
                            lr[0][x] =
                                level(m[0] * r + m[1] * g + m[2] * b + m[3]);
                            lr[1][x] =
                                level(m[4] * r + m[5] * g + m[6] * b + m[7]);
                            lr[2][x] =
                                level(m[8] * r + m[9] * g + m[10] * b + m[11]);
                        }
                        idx oy = by * BH + (y - 2) * 2 + k / 2;
                        REAL *o = out + (oy * ow + bx * BW + k % 2) * 3;
                        for (int x = 2; x < PW - 2; x++, o += 6) {
                            o[0] = lut[lr[0][x]];
                            o[1] = lut[lr[1][x]];
                            o[2] = lut[lr[2][x]];
                        }
                    }
                }
            }
        }
    }
}
