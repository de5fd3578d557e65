/* One frame of the maze figure: rectangle, figure, three dots, a ghost. */
#include "real.h"

typedef struct {
    REAL *p;
    idx n0, n1;
} img;

static inline void
put(img m, idx a, idx b, REAL r, REAL g, REAL bl)
{
    REAL *q = m.p + (a * m.n1 + b) * 3;
    q[0] = r;
    q[1] = g;
    q[2] = bl;
}

static void
disc(img m, idx x, idx y, idx r, REAL cr, REAL cg, REAL cb)
{
    idx y1 = imin(y + r, m.n0 - 1);
    for (idx j = imax(0, y - r); j < y1; j++) {
        double s = sqrt((double)(r * r - (y - j) * (y - j)));
        for (idx i = (idx)(x - s), e = (idx)(x + s); i < e; i++) {
            put(m, i, j, cr, cg, cb);
        }
    }
}

static void
figure(img m, idx x, idx y, idx r, double ma)
{
    idx y1 = imin(y + r, m.n0 - 1);
    double sn = sin(ma), cs = cos(ma);
    for (idx j = imax(0, y - r); j < y1; j++) {
        double s = sqrt((double)(r * r - (y - j) * (y - j)));
        idx a = (idx)(x - s), b = (idx)(x + s);
        if (j > y - r * sn && j <= y) {
            b = (idx)(x + (y - j) / sn * cs);
        } else if (j < y + r * sn && j > y) {
            b = (idx)(x + (j - y) / sn * cs);
        }
        for (idx i = a; i < b; i++) {
            put(m, i, j, 1, 1, 0);
        }
    }
    disc(m, x, y - r / 2, r / 10, 0, 0, 0);
}

static void
rect(img m, double x, double y, double w, double h)
{
    idx y0 = y > 0 ? (idx)y : 0,
        y1 = y + h < m.n0 - 1 ? (idx)(y + h) : m.n0 - 1;
    idx x0 = x > 0 ? (idx)x : 0,
        x1 = x + w < m.n1 - 1 ? (idx)(x + w) : m.n1 - 1;
    for (idx j = y0; j < y1; j++) {
        if (x1 > x0) {
            memset(m.p + (j * m.n1 + x0) * 3, 0, (x1 - x0) * 3 * sizeof(REAL));
        }
    }
}

static void
ghost(img m, idx x, idx y, idx r, double tf, int blink)
{
    idx y1 = imin(y + r, m.n1 - 1);
    for (idx j = imax(0, y - r); j < y1; j++) {
        double s = sqrt((double)(r * r - (y - j) * (y - j)));
        idx a = (idx)(x - s), b = (idx)(x + s);
        if (j > y) {
            a = imax(0, x - r);
            b = imin(x + r, m.n0 - 1);
        }
        for (idx i = a; i < b; i++) {
            if (j <= y + tf * r || i < x - r * 5 / 7.
                || (i > x - r * 3 / 7. && i < x - r * 1 / 7.)
                || (i > x + r * 1 / 7. && i < x + r * 3 / 7.)
                || i > x + r * 5 / 7.) {
                put(m, i, j, 0, 1, 1);
            }
        }
    }
    if (!blink) {
        disc(m, x - r / 4, y - r / 2, r / 5, 1, 1, 1);
        disc(m, x + r / 4, y - r / 2, r / 5, 1, 1, 1);
        disc(m, x - r / 8, y - r / 2, r / 9, 0, 0, 1);
        disc(m, x + r * 3 / 8, y - r / 2, r / 9, 0, 0, 1);
    } else {
        rect(m, y - r / 2, x - r / 4, r / 8., r / 4.);
        rect(m, y - r / 2, x + r / 4, r / 8., r / 4.);
    }
}

void
pacman(REAL *out, idx n0, idx n1, double time)
{
    img m = {out, n0, n1};
    long ma = (long)time % 16;
    if (ma > 7) {
        ma = 8 - (ma - 8);
    }
    rect(m, 0, 0, n1, n0);
    figure(m, 100, 100, 50, ma * M_PI / 32);
    disc(m, 200, 100, 15, 1, 1, 1);
    disc(m, 275, 100, 15, 1, 1, 1);
    disc(m, 350, 100, 15, 1, 1, 1);
    ghost(m, 500, 100, 50, 0.75, ma == 7);
}
