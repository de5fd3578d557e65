"""Numba versions of the larger applications; see numba_rows.py."""
import math

import numpy as np
from numba import get_num_threads, njit, prange

STRICT = {"error_model": "numpy", "fastmath": False}


@njit(inline="always", **STRICT)
def unit(v):
    return 0.0 if v < 0.0 else 1.0 if v > 1.0 else v


# --- harris -------------------------------------------------------------------

# One output and at most three input rows per loop: with more, LLVM's limit on
# run-time alias checks keeps it from vectorising.

@njit(**STRICT)
def harris_gx(u, d, out):
    w = out.size
    for c in range(1, w - 1):
        out[c] = -u[c - 1] - 2 * u[c] - u[c + 1] + d[c - 1] + 2 * d[c] + d[c + 1]
    for c in (0, w - 1):
        a, b = max(c - 1, 0), min(c + 1, w - 1)
        out[c] = -u[a] - 2 * u[c] - u[b] + d[a] + 2 * d[c] + d[b]


@njit(**STRICT)
def harris_gy(u, m, d, out):
    w = out.size
    for c in range(1, w - 1):
        out[c] = (-u[c - 1] - 2 * m[c - 1] - d[c - 1]
                  + u[c + 1] + 2 * m[c + 1] + d[c + 1])
    for c in (0, w - 1):
        a, b = max(c - 1, 0), min(c + 1, w - 1)
        out[c] = -u[a] - 2 * m[a] - d[a] + u[b] + 2 * m[b] + d[b]


@njit(**STRICT)
def product(a, b, out):
    for c in range(out.size):
        out[c] = a[c] * b[c]


@njit(**STRICT)
def harris_products(img, r, p, g):
    u, m, d = img[max(r - 1, 0)], img[r], img[min(r + 1, img.shape[0] - 1)]
    harris_gx(u, d, g[0])
    harris_gy(u, m, d, g[1])
    product(g[0], g[0], p[0])
    product(g[1], g[1], p[1])
    product(g[0], g[1], p[2])


@njit(**STRICT)
def harris_window(u, m, d, out):
    w = out.size
    for c in range(1, w - 1):
        out[c] = (u[c - 1] + 2.0 * u[c] + u[c + 1] + 2.0 * m[c - 1] + 4.0 * m[c]
                  + 2.0 * m[c + 1] + d[c - 1] + 2.0 * d[c] + d[c + 1]) / 16.0
    for c in (0, w - 1):
        a, b = max(c - 1, 0), min(c + 1, w - 1)
        out[c] = (u[a] + 2.0 * u[c] + u[b] + 2.0 * m[a] + 4.0 * m[c] + 2.0 * m[b]
                  + d[a] + 2.0 * d[c] + d[b]) / 16.0


@njit(**STRICT)
def harris_row(p, q, s, t, res):
    for k in range(3):
        harris_window(p[k], q[k], s[k], t[k])
    x, y, z = t[0], t[1], t[2]
    for c in range(res.size):
        res[c] = (x[c] * y[c] - z[c] * z[c]) - 0.05 * (x[c] + y[c])


def harris(img, out):
    h, w = img.shape
    bands = get_num_threads()
    count = np.zeros(bands, np.int64)
    tops = np.empty(bands)
    found = np.empty((h * w, 2), np.int32)
    for t in prange(bands):
        lo, hi = h * t // bands, h * (t + 1) // bands
        p, g = np.empty((3, 3, w)), np.empty((3, w))
        res = np.empty(w)
        for r in range(max(lo - 1, 0), min(lo + 1, h)):
            harris_products(img, r, p[r % 3], g)
        k = lo * w
        top = img[lo, 0]
        for r in range(lo, hi):
            a, b = max(r - 1, 0), min(r + 1, h - 1)
            if b > r:
                harris_products(img, b, p[b % 3], g)
            harris_row(p[a % 3], p[r % 3], p[b % 3], g, res)
            for c in range(w):
                top = max(top, img[r, c])
                if res[c] > 0.5:
                    found[k, 0] = r
                    found[k, 1] = c
                    k += 1
        count[t] = k - lo * w
        tops[t] = top
    colour = 1.0 if tops.max() <= 1 else 255.0
    for t in range(bands):
        first = (h * t // bands) * w
        for i in range(first, first + count[t]):
            cy, cx = found[i, 0] * 1.0 / h * h, found[i, 1] * 1.0 / w * w
            x0, x1 = int(max(0.0, cx - 5)), int(min(float(w), cx + 5))
            y0, y1 = int(max(0.0, cy - 5)), int(min(float(h), cy + 5))
            for r in range(y0, y1):
                for c in range(x0, x1):
                    if (r - y0 - 5) ** 2 + (c - x0 - 5) ** 2 <= 25:
                        out[r, c] = colour
    return out


# --- raytracer ----------------------------------------------------------------

def raytracer(time):
    out = np.zeros((320, 480, 3))
    lx = 160.0 + 150.0 * math.cos(math.pi * time / 2.0)
    ly = 240.0 + 150.0 * math.sin(math.pi * time / 2.0)
    lz = -400.0
    for r in prange(320):
        for c in range(480):
            dx, dy, dz = r - 160.0, c - 240.0, 800.0
            n = math.sqrt(dx * dx + dy * dy + dz * dz)
            dx, dy, dz = dx / n, dy / n, dz / n
            v = dz * 1050.0
            disc = 22500.0 - (1102500.0 - v * v)
            if disc >= 0.0:
                t = v - math.sqrt(disc)
                px, py, pz = 160.0 + t * dx, 240.0 + t * dy, -800.0 + t * dz
                nx, ny, nz = px - 160.0, py - 240.0, pz - 250.0
                n = math.sqrt(nx * nx + ny * ny + nz * nz)
                nx, ny, nz = nx / n, ny / n, nz / n
                ax, ay, az = lx - px, ly - py, lz - pz
                n = math.sqrt(ax * ax + ay * ay + az * az)
                ax, ay, az = ax / n, ay / n, az / n
                dif = ax * nx + ay * ny + az * nz
                spec = ((2.0 * dif * nx - ax) * dx + (2.0 * dif * ny - ay) * dy
                        + (2.0 * dif * nz - az) * dz) ** 50.0
                if dif < 0:
                    dif = 0.0
                    spec = 0.0
                out[r, c, 0] = min(0.1 + 0.6 * dif + 0.3 * spec, 1.0)
    return out


# --- camera pipe --------------------------------------------------------------

@njit(**STRICT)
def camera_tables():
    lut, m = np.empty(1024), np.empty(12)
    inv = 1.0 / (1023 - 25)
    b = 2 - 2.0 ** (50 / 100.0)
    a = 2 - 2 * b
    for i in range(1024):
        y = 0.0
        if i > 25:
            y = ((i - 25) * inv) ** (1.0 / 2.0)
            if y > 0.5:
                y = 1 - y
                y = 1 - (a * y * y + b * y)
            else:
                y = a * y * y + b * y
            y = min(max(math.floor(y * 255 + 0.5), 0.0), 255.0)
        lut[i] = y / 256.0
    t = (1.0 / 3700 - 1.0 / 3200.0) / (1.0 / 7000.0 - 1.0 / 3200.0)
    day = (1.6697, -0.2693, -0.4004, -42.4346, -0.3576, 1.0615, 1.5949,
           -37.1158, -0.2175, -1.8751, 6.9640, -26.6970)
    warm = (2.2997, -0.4478, 0.1706, -39.0923, -0.3826, 1.5906, -0.2080,
            -25.4311, -0.0888, -0.7344, 2.2832, -20.0826)
    for i in range(12):
        m[i] = t * day[i] + (1 - t) * warm[i]
    return lut, m


@njit(**STRICT)
def quiet(dst, src):
    for y in range(1, 15):
        for x in range(1, 23):
            dst[y, x] = min(src[y, x], max(max(src[y - 1, x], src[y + 1, x]),
                                           max(src[y, x + 1], src[y, x - 1])))


@njit(**STRICT)
def demosaic(raw, red, green, blue):
    gr, gar, gab, gb = green[0], green[1], green[2], green[3]
    rgr, rr, rb, rgb = red[0], red[1], red[2], red[3]
    bgr, br, bb, bgb = blue[0], blue[1], blue[2], blue[3]
    quiet(gr, raw[0])
    quiet(rr, raw[1])
    quiet(bb, raw[2])
    quiet(gb, raw[3])
    for y in range(1, 15):
        for x in range(1, 23):
            v = (gb[y - 1, x] + gb[y, x]) / 2.0
            dv = abs(gb[y - 1, x] - gb[y, x])
            h = (gr[y, x] + gr[y, x + 1]) / 2.0
            dh = abs(gr[y, x] - gr[y, x + 1]) / 2.0
            gar[y, x] = h if dh < dv else v
            v = (gr[y + 1, x] + gr[y, x]) / 2.0
            dv = abs(gr[y + 1, x] - gr[y, x])
            h = (gb[y, x] + gb[y, x - 1]) / 2.0
            dh = abs(gb[y, x] - gb[y, x - 1])
            gab[y, x] = h if dh < dv else v
    for y in range(1, 15):
        for x in range(1, 23):
            rgr[y, x] = ((rr[y, x - 1] + rr[y, x]) / 2.0 + gr[y, x]
                         - (gar[y, x - 1] + gar[y, x]) / 2.0)
            bgr[y, x] = ((bb[y - 1, x] + bb[y, x]) / 2.0 + gr[y, x]
                         - (gab[y - 1, x] + gab[y, x]) / 2.0)
            rgb[y, x] = ((rr[y, x] + rr[y + 1, x]) / 2.0 + gb[y, x]
                         - (gar[y, x] + gar[y + 1, x]) / 2.0)
            bgb[y, x] = ((bb[y, x] + bb[y, x + 1]) / 2.0 + gb[y, x]
                         - (gab[y, x] + gab[y, x + 1]) / 2.0)
    for y in range(1, 15):
        for x in range(1, 23):
            p = ((rr[y + 1, x - 1] + rr[y, x]) / 2.0 + gab[y, x]
                 - (gar[y + 1, x - 1] + gar[y, x]) / 2.0)
            n = ((rr[y, x - 1] + rr[y + 1, x]) / 2.0 + gab[y, x]
                 - (gar[y, x - 1] + gar[y + 1, x]) / 2.0)
            rb[y, x] = p if (abs(rr[y + 1, x - 1] - rr[y, x])
                             < abs(rr[y, x - 1] - rr[y + 1, x])) else n
            p = ((bb[y - 1, x + 1] + bb[y, x]) / 2.0 + gar[y, x]
                 - (gab[y - 1, x + 1] + gab[y, x]) / 2.0)
            n = ((bb[y, x + 1] + bb[y - 1, x]) / 2.0 + gar[y, x]
                 - (gab[y, x + 1] + gab[y - 1, x]) / 2.0)
            br[y, x] = p if (abs(bb[y - 1, x + 1] - bb[y, x])
                             < abs(bb[y, x + 1] - bb[y - 1, x])) else n


@njit(inline="always", **STRICT)
def tone_index(v):
    return int(min(max(v, 0.0), 1023.0) + 0.5)


def camera_pipe(img):
    h, w = img.shape
    oh, ow = ((h - 24) // 32) * 32, ((w - 32) // 32) * 32
    out = np.zeros((oh, ow, 3))
    lut, m = camera_tables()
    m0, m1, m2, m3, m4, m5 = m[0], m[1], m[2], m[3], m[4], m[5]
    m6, m7, m8, m9, m10, m11 = m[6], m[7], m[8], m[9], m[10], m[11]
    nh, nw = min(h - 48, oh) // 24, min(w - 32, ow) // 40
    for by in prange(nh):
        raw = np.empty((4, 16, 24))
        red, green, blue = (np.zeros((4, 16, 24)), np.zeros((4, 16, 24)),
                            np.zeros((4, 16, 24)))
        for bx in range(nw):
            for y in range(16):
                for x in range(24):
                    j, i = by * 24 + 2 * y, bx * 40 + 2 * x
                    raw[0, y, x] = img[j, i] * 65536.0
                    raw[1, y, x] = img[j, i + 1] * 65536.0
                    raw[2, y, x] = img[j + 1, i] * 65536.0
                    raw[3, y, x] = img[j + 1, i + 1] * 65536.0
            demosaic(raw, red, green, blue)
            for k in range(4):
                for y in range(2, 14):
                    oy = by * 24 + (y - 2) * 2 + k // 2
                    for x in range(2, 22):
                        r, g, b = red[k, y, x], green[k, y, x], blue[k, y, x]
                        ox = bx * 40 + (x - 2) * 2 + k % 2
                        out[oy, ox, 0] = lut[tone_index(m0 * r + m1 * g + m2 * b + m3)]
                        out[oy, ox, 1] = lut[tone_index(m4 * r + m5 * g + m6 * b + m7)]
                        out[oy, ox, 2] = lut[
                            tone_index(m8 * r + m9 * g + m10 * b + m11)]
    return out


# --- pacman -------------------------------------------------------------------

@njit(**STRICT)
def disc(img, x, y, r, cr, cg, cb):
    for j in range(max(0, y - r), min(y + r, img.shape[0] - 1)):
        s = math.sqrt(r * r - (y - j) * (y - j))
        for i in range(int(x - s), int(x + s)):
            img[i, j, 0] = cr
            img[i, j, 1] = cg
            img[i, j, 2] = cb


@njit(**STRICT)
def clear(img, y0, y1, x0, x1):
    for j in range(y0, y1):
        for i in range(x0, x1):
            img[j, i, 0] = 0.0
            img[j, i, 1] = 0.0
            img[j, i, 2] = 0.0


def pacman(_, img, time):
    ma = int(time) % 16
    if ma > 7:
        ma = 16 - ma
    n0, n1 = img.shape[0], img.shape[1]
    clear(img, 0, n0 - 1, 0, n1 - 1)
    x, y, r = 100, 100, 50
    sn, cs = math.sin(ma * math.pi / 32.0), math.cos(ma * math.pi / 32.0)
    for j in range(max(0, y - r), min(y + r, n0 - 1)):
        s = math.sqrt(r * r - (y - j) * (y - j))
        a, b = int(x - s), int(x + s)
        if j > y - r * sn and j <= y:
            b = int(x + (y - j) / sn * cs)
        elif j < y + r * sn and j > y:
            b = int(x + (j - y) / sn * cs)
        for i in range(a, b):
            img[i, j, 0] = 1.0
            img[i, j, 1] = 1.0
            img[i, j, 2] = 0.0
    disc(img, x, y - 25, 5, 0.0, 0.0, 0.0)
    disc(img, 200, 100, 15, 1.0, 1.0, 1.0)
    disc(img, 275, 100, 15, 1.0, 1.0, 1.0)
    disc(img, 350, 100, 15, 1.0, 1.0, 1.0)
    x = 500
    for j in range(max(0, y - r), min(y + r, n1 - 1)):
        s = math.sqrt(r * r - (y - j) * (y - j))
        a, b = int(x - s), int(x + s)
        if j > y:
            a, b = max(0, x - r), min(x + r, n0 - 1)
        solid = j <= y + 0.75 * r
        for i in range(a, b):
            if (solid or i < x - r * 5 / 7. or x - r * 3 / 7. < i < x - r * 1 / 7.
                    or x + r * 1 / 7. < i < x + r * 3 / 7. or i > x + r * 5 / 7.):
                img[i, j, 0] = 0.0
                img[i, j, 1] = 1.0
                img[i, j, 2] = 1.0
    if ma != 7:
        disc(img, x - 12, y - 25, 10, 1.0, 1.0, 1.0)
        disc(img, x + 12, y - 25, 10, 1.0, 1.0, 1.0)
        disc(img, x - 6, y - 25, 5, 0.0, 0.0, 1.0)
        disc(img, x + 18, y - 25, 5, 0.0, 0.0, 1.0)
    else:
        clear(img, x - 12, x - 12 + 12, y - 25, y - 25 + 6)
        clear(img, x + 12, x + 12 + 12, y - 25, y - 25 + 6)
    return img


# --- local Laplacian ----------------------------------------------------------

@njit(parallel=True, **STRICT)
def shrink(g, b, hl, wl):
    out, one = np.zeros((hl + 1, wl + 1, 8)), np.zeros((hl + 1, wl + 1))
    for r in prange(hl):
        y0, y3 = max(2 * r - 1, 0), 2 * hl - 1 if r == hl - 1 else 2 * r + 2
        for c in range(wl):
            x0, x3 = max(2 * c - 1, 0), 2 * wl - 1 if c == wl - 1 else 2 * c + 2
            y1, y2, x1, x2 = 2 * r, 2 * r + 1, 2 * c, 2 * c + 1
            for k in range(8):
                out[r, c, k] = (
                    g[y0, x0, k] + 3.0 * g[y0, x1, k]
                    + 3.0 * g[y0, x2, k] + g[y0, x3, k]
                    + 3.0 * g[y1, x0, k] + 9.0 * g[y1, x1, k]
                    + 9.0 * g[y1, x2, k] + 3.0 * g[y1, x3, k]
                    + 3.0 * g[y2, x0, k] + 9.0 * g[y2, x1, k]
                    + 9.0 * g[y2, x2, k] + 3.0 * g[y2, x3, k]
                    + g[y3, x0, k] + 3.0 * g[y3, x1, k] + 3.0 * g[y3, x2, k]
                    + g[y3, x3, k]) / 64.0
            one[r, c] = (
                b[y0, x0] + 3.0 * b[y0, x1] + 3.0 * b[y0, x2] + b[y0, x3]
                + 3.0 * b[y1, x0] + 9.0 * b[y1, x1] + 9.0 * b[y1, x2] + 3.0 * b[y1, x3]
                + 3.0 * b[y2, x0] + 9.0 * b[y2, x1] + 9.0 * b[y2, x2] + 3.0 * b[y2, x3]
                + b[y3, x0] + 3.0 * b[y3, x1] + 3.0 * b[y3, x2] + b[y3, x3]) / 64.0
    return out, one


@njit(parallel=True, **STRICT)
def collapse(g, b, gn, on, hl, wl):
    out = np.zeros((hl + 1, wl + 1))
    for r in prange(hl):
        y0, y1 = max((r + 1) // 2 - 1, 0), r // 2
        for c in range(wl):
            x0, x1 = max((c + 1) // 2 - 1, 0), c // 2
            lev = b[r, c] * 7.0
            k = min(max(int(lev), 0), 6)
            f = lev - k
            lo = g[r, c, k] - (gn[y0, x0, k] + 3.0 * gn[y0, x1, k]
                               + 3.0 * gn[y1, x0, k] + 9.0 * gn[y1, x1, k]) / 16.0
            k += 1
            hi = g[r, c, k] - (gn[y0, x0, k] + 3.0 * gn[y0, x1, k]
                               + 3.0 * gn[y1, x0, k] + 9.0 * gn[y1, x1, k]) / 16.0
            out[r, c] = ((1.0 - f) * lo + f * hi) + (
                on[y0, x0] + 3.0 * on[y0, x1] + 3.0 * on[y1, x0]
                + 9.0 * on[y1, x1]) / 16.0
    return out


def local_laplacian(img, remap):
    h, w = img.shape[0], img.shape[1]
    g, b = np.zeros((h + 1, w + 1, 8)), np.zeros((h + 1, w + 1))
    for r in prange(h):
        for c in range(w):
            v = 0.299 * img[r, c, 0] + 0.587 * img[r, c, 1] + 0.114 * img[r, c, 2]
            b[r, c] = v
            q = min(max(int(v * 7 * 256.0), 0), 1792)
            for k in range(8):
                lev = k * (1.0 / 7)
                g[r, c, k] = (v - lev) + lev + remap[q - 256 * k + 1792]
    gs, bs = [g], [b]
    for j in range(1, 8):
        g, b = shrink(gs[j - 1], bs[j - 1], h >> j, w >> j)
        gs.append(g)
        bs.append(b)
    # The lowest level is empty for these sizes, so its result is its zeros.
    res = np.zeros(((h >> 7) + 1, (w >> 7) + 1))
    for r in range(h >> 7):
        for c in range(w >> 7):
            lev = bs[7][r, c] * 7.0
            k = min(max(int(lev), 0), 6)
            res[r, c] = ((1.0 - (lev - k)) * gs[7][r, c, k]
                         + (lev - k) * gs[7][r, c, k + 1])
    for j in range(6, -1, -1):
        res = collapse(gs[j], bs[j], gs[j + 1], res, h >> j, w >> j)
    out = np.empty((h, w, 3))
    b = bs[0]
    for r in prange(h):
        for c in range(w):
            for i in range(3):
                out[r, c, i] = unit(res[r, c] * (img[r, c, i] + 0.01)
                                    / (b[r, c] + 0.01))
    return out


# --- interpolate --------------------------------------------------------------

@njit(parallel=True, **STRICT)
def pull(p, hl, wl):
    """The next coarser level of p, with a zero row and column of padding."""
    out = np.zeros((hl + 1, wl + 1, 4))
    for x in prange(hl):
        t = np.empty((3, wl, 4))
        first = 1 if x == 0 else 0
        for i in range(first, 3):
            a = p[2 * x - 1 + i]
            if wl > 0:
                for k in range(4):
                    t[i, 0, k] = (3.0 * a[0, k] + a[1, k]) * 0.25
            for y in range(1, wl):
                for k in range(4):
                    t[i, y, k] = (a[2 * y - 1, k] + 2.0 * a[2 * y, k]
                                  + a[2 * y + 1, k]) * 0.25
        for y in range(wl):
            for k in range(4):
                if x == 0:
                    out[x, y, k] = (t[1, y, k] * 3.0 + t[2, y, k]) * 0.25
                else:
                    out[x, y, k] = (t[0, y, k] + 2.0 * t[1, y, k]
                                    + t[2, y, k]) * 0.25
    return out


@njit(parallel=True, **STRICT)
def push(fine, coarse, hl, wl, hc, wc):
    """Blend the coarse level into the fine one, in place."""
    wide = np.zeros((hc + 1, wl, 4))
    for x in prange(hc):
        for y in range(wl - 1):
            for k in range(4):
                wide[x, y, k] = (coarse[x, y // 2, k]
                                 + coarse[x, (y + 1) // 2, k]) / 2.0
        if wl > 0 and wc > 0:
            for k in range(4):
                wide[x, wl - 1, k] = coarse[x, wc - 1, k]
    for x in prange(hl):
        u, v = x // 2, (x + 1) // 2
        if x == hl - 1:
            u = v = hc - 1
        for y in range(wl):
            keep = 1.0 - fine[x, y, 3]
            for k in range(4):
                fine[x, y, k] += keep * ((wide[u, y, k] + wide[v, y, k]) / 2.0)


def interpolate(img):
    h, w = img.shape[0], img.shape[1]
    top = np.zeros((h + 1, w + 1, 4))
    for x in prange(h):
        for y in range(w):
            a = img[x, y, 3]
            for k in range(4):
                top[x, y, k] = a * img[x, y, k]
    d = [top]
    for j in range(1, 10):
        d.append(pull(d[j - 1], h >> j, w >> j))
    for j in range(8, -1, -1):
        push(d[j], d[j + 1], h >> j, w >> j, h >> (j + 1), w >> (j + 1))
    out = np.empty((h, w, 3))
    top = d[0]
    for x in prange(h):
        for y in range(w):
            for k in range(3):
                out[x, y, k] = unit(top[x, y, k] / top[x, y, 3])
    return out


# --- bilateral grid -----------------------------------------------------------

@njit(inline="always", **STRICT)
def drop(cell, v, weight):
    v = unit(v)
    z = int(v * 10.0 + 0.5)
    cell[z, 0] += v * weight
    cell[z, 1] += weight


@njit(**STRICT)
def blur5(src, dst, i):
    """Row i of src (n, m) with its 1-4-6-4-1 neighbours into dst."""
    n, m = src.shape
    o = dst[i]
    if i >= 2 and i < n - 2:
        a, b, c, d, e = src[i - 2], src[i - 1], src[i], src[i + 1], src[i + 2]
        for k in range(m):
            o[k] = a[k] + 4.0 * b[k] + 6.0 * c[k] + 4.0 * d[k] + e[k]
    elif i == 0:
        for k in range(m):
            o[k] = 6.0 * src[0, k] + 4.0 * src[1, k] + src[2, k]
    elif i == 1:
        for k in range(m):
            o[k] = 4.0 * src[0, k] + 6.0 * src[1, k] + 4.0 * src[2, k] + src[3, k]
    elif i == n - 2:
        for k in range(m):
            o[k] = (src[i - 2, k] + 4.0 * src[i - 1, k] + 6.0 * src[i, k]
                    + 4.0 * src[i + 1, k])
    else:
        for k in range(m):
            o[k] = src[i - 2, k] + 4.0 * src[i - 1, k] + 6.0 * src[i, k]


@njit(inline="always", **STRICT)
def mix(a, b, f):
    return a * (1.0 - f) + b * f


def bilateral_grid(img):
    h, w = img.shape
    gh, gw = h // 8 + 1, w // 8 + 1
    grid = np.empty((gh, gw, 11, 2))
    for gx in prange(gh):
        g = grid[gx]
        g[:] = 0.0
        for x in range(max(8 * gx - 4, 1), min(8 * gx + 4, h - 1)):
            for y in range(1, w - 1):
                drop(g[(y + 4) // 8], img[x, y], 1.0)
            drop(g[0], img[x, 0], 5.0)
            drop(g[gw - 1], img[x, w - 1], 5.0)
        if gx == 0:
            for y in range(1, w - 1):
                drop(g[(y + 4) // 8], img[0, y], 5.0)
            drop(g[0], img[0, 0], 17.0)
            drop(g[gw - 1], img[0, w - 1], 17.0)
        if gx == gh - 1:
            for y in range(1, w - 1):
                drop(g[(y + 4) // 8], img[h - 1, y], 5.0)
            drop(g[0], img[h - 1, 0], 17.0)
            drop(g[gw - 1], img[h - 1, w - 1], 17.0)
    zy = np.empty((gh, gw, 22))
    for x in prange(gh):
        t = np.empty((gw, 11, 2))
        for y in range(gw):
            for z in range(11):
                blur5(grid[x, y], t[y], z)
        flat = t.reshape(gw, 22)
        for y in range(gw):
            blur5(flat, zy[x], y)
    src, dst = zy.reshape(gh, gw * 22), grid.reshape(gh, gw * 22)
    for x in prange(gh):
        blur5(src, dst, x)
    out = np.empty((h, w))
    for x in prange(h):
        gx, fx = x // 8, (x % 8) / 8
        if gx == gh - 1:
            gx -= 1
            fx = 1.0
        g0, g1 = grid[gx], grid[gx + 1]
        for y in range(w):
            zv = unit(img[x, y]) * 10.0
            z, gy = int(zv), y // 8
            fz, fy = zv - z, (y % 8) / 8
            if gy == gw - 1:
                gy -= 1
                fy = 1.0
            if z == 10:
                z = 9
                fz = 1.0
            lo = mix(mix(g0[gy, z, 0], g0[gy + 1, z, 0], fy),
                     mix(g1[gy, z, 0], g1[gy + 1, z, 0], fy), fx)
            hi = mix(mix(g0[gy, z + 1, 0], g0[gy + 1, z + 1, 0], fy),
                     mix(g1[gy, z + 1, 0], g1[gy + 1, z + 1, 0], fy), fx)
            total = mix(lo, hi, fz)
            lo = mix(mix(g0[gy, z, 1], g0[gy + 1, z, 1], fy),
                     mix(g1[gy, z, 1], g1[gy + 1, z, 1], fy), fx)
            hi = mix(mix(g0[gy, z + 1, 1], g0[gy + 1, z + 1, 1], fy),
                     mix(g1[gy, z + 1, 1], g1[gy + 1, z + 1, 1], fy), fx)
            out[x, y] = total / mix(lo, hi, fz)
    return out
