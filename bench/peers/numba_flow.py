"""Numba version of optical_flow; see numba_rows.py."""
import math

import numpy as np
from numba import njit, prange

from bench.peers.numba_apps import STRICT


@njit(**STRICT)
def pick(seed, lo, hi):
    u = (seed & 0xFFFFFFFF) ^ ((seed & 0xFFFF) << 16)
    v = ~seed & 0xFFFFFFFF
    v = 36969 * (v & 0xFFFF) + (v >> 16)
    u = 18000 * (u & 0xFFFF) + (u >> 16)
    return lo + (((v << 16) + (u & 0xFFFF)) & 0xFFFFFFFF) % (hi - lo)


@njit(**STRICT)
def patch(a, b, ay, ax, by, bx, best):
    """Squared distance of two 16x16 patches; stops early above best."""
    s = 0.0
    for dy in range(16):
        for dx in range(16):
            for c in range(3):
                t = b[by + dy, bx + dx, c] - a[ay + dy, ax + dx, c]
                s += t * t
            if s > best:
                return s
    return s


@njit(**STRICT)
def whole_patch(a, b, ay, ax, by, bx):
    s = 0.0
    for dy in range(16):
        for dx in range(16):
            for c in range(3):
                t = b[by + dy, bx + dx, c] - a[ay + dy, ax + dx, c]
                s += t * t
    return s


@njit(**STRICT)
def flow_line(x0, y0, x1, y1, img, c0, c1, c2):
    h, w = img.shape[0], img.shape[1]
    steep = not abs(y1 - y0) < abs(x1 - x0)
    if steep:
        x0, y0, x1, y1 = y0, x0, y1, x1
    if not x1 > x0:
        x0, x1, y0, y1 = x1, x0, y1, y0
    dx, dy = x1 - x0, abs(y1 - y0)
    err = dx / 2.0
    y, sign = int(y0), 1 if y0 < y1 else -1
    for x in range(int(x0), int(x1) + 1):
        p, q = (y, x) if steep else (x, y)
        if p > -1 and q > -1 and p < h and q < w:
            img[p, q, 0] = c0
            img[p, q, 1] = c1
            img[p, q, 2] = c2
        err -= dy
        if err < 0:
            y += sign
            err += dx


@njit(**STRICT)
def wheel(d0, d1, r):
    a, third = math.atan2(d0, d1), 2.0 * math.pi / 3.0
    c0 = c1 = c2 = 0.0
    if a >= 0 and a <= third:
        s = a * 3.0 / (2.0 * math.pi)
        c0, c1 = 1.0 - s, s
    if a > third:
        s = (a - third) * 3.0 / (2.0 * math.pi)
        c1, c2 = 1.0 - s, s
    if a < -third:
        s = (a + 2.0 * math.pi - third) * 3.0 / (2.0 * math.pi)
        c1, c2 = 1.0 - s, s
    if a < 0 and a >= -third:
        s = (a + 2.0 * math.pi - 4.0 * math.pi / 3.0) * 3.0 / (2.0 * math.pi)
        c2, c0 = 1.0 - s, s
    f = r ** 0.25
    return c0 * f, c1 * f, c2 * f


@njit(**STRICT)
def flow_sweep(a, b, f, step):
    eh, ew = f.shape[0], f.shape[1]
    add, gone = (15, -1) if step > 0 else (0, 16)
    for i in range(eh):
        for j in range(ew):
            ay, ax = (i, j) if step > 0 else (eh - 1 - i, ew - 1 - j)
            bx0, by0, best = int(f[ay, ax, 0]), int(f[ay, ax, 1]), f[ay, ax, 2]
            px, py = ax - step, ay - step
            if px >= 0 and px < ew:
                bx, by = int(f[ay, px, 0]) + step, int(f[ay, px, 1])
                if bx >= 0 and bx < ew and abs(ax - bx) <= 11 and abs(ay - by) <= 11:
                    s = f[ay, px, 2]
                    for d in range(16):
                        for c in range(3):
                            t = b[by + d, bx + gone, c] - a[ay + d, ax + gone, c]
                            s -= t * t
                        for c in range(3):
                            t = b[by + d, bx + add, c] - a[ay + d, ax + add, c]
                            s += t * t
                    if s < best:
                        bx0, by0, best = bx, by, s
            if py >= 0 and py < eh:
                bx, by = int(f[py, ax, 0]), int(f[py, ax, 1]) + step
                if by >= 0 and by < eh and abs(ax - bx) <= 11 and abs(ay - by) <= 11:
                    s = f[py, ax, 2]
                    for d in range(16):
                        for c in range(3):
                            t = b[by + gone, bx + d, c] - a[ay + gone, ax + d, c]
                            s -= t * t
                    for d in range(16):
                        for c in range(3):
                            t = b[by + add, bx + d, c] - a[ay + add, ax + d, c]
                            s += t * t
                    if s < best:
                        bx0, by0, best = bx, by, s
            seed = ay << 16 | ax
            for _ in range(5):
                bx = pick(seed, max(max(bx0 - 22, ax - 11), 0),
                          min(min(bx0 + 23, ax + 12), ew))
                by = pick(seed + 1, max(max(by0 - 22, ay - 11), 0),
                          min(min(by0 + 23, ay + 12), eh))
                s = patch(a, b, ay, ax, by, bx, best)
                if s < best:
                    bx0, by0, best = bx, by, s
            f[ay, ax, 0] = bx0
            f[ay, ax, 1] = by0
            f[ay, ax, 2] = best


def optical_flow(a, b, out):
    h, w = a.shape[0], a.shape[1]
    eh, ew = h - 15, w - 15
    f = np.empty((eh, ew, 3))
    for ay in prange(eh):
        for ax in range(ew):
            seed = ay << 16 | ax
            bx = pick(seed, max(ax - 11, 0), min(ax + 12, ew))
            by = pick(seed + 1, max(ay - 11, 0), min(ay + 12, eh))
            f[ay, ax, 0] = bx
            f[ay, ax, 1] = by
            f[ay, ax, 2] = whole_patch(a, b, ay, ax, by, bx)
    flow_sweep(a, b, f, 1)
    flow_sweep(a, b, f, -1)
    q = 0.25 * 3 ** -0.5
    for ay in range(11, eh - 11, 10):
        for ax in range(11, ew - 11, 10):
            u, v = f[ay, ax, 0] - ax, f[ay, ax, 1] - ay
            c0, c1, c2 = wheel(u / 11, v / 11, (u * u + v * v) ** 0.5 / 11)
            x0, y0 = float(ay), float(ax)
            x1, y1 = float(ay + v), float(ax + u)
            dx, dy = x1 - x0, y1 - y0
            flow_line(x0, y0, x1, y1, out, c0, c1, c2)
            flow_line(x0 + 0.75 * dx + q * dy, y0 + 0.75 * dy - q * dx,
                      x1, y1, out, c0, c1, c2)
            flow_line(x0 + 0.75 * dx - q * dy, y0 + 0.75 * dy + q * dx,
                      x1, y1, out, c0, c1, c2)
    return out
