"""The strongest Numba versions of the rows that are reasonable to write.

RGB is written out as scalars or as flat rows, prange runs over rows or bands,
buffers are per band, borders peeled.  Every kernel is compiled twice: strict
('error_model=numpy', no fast-math) and with fast-math.
"""
import functools
import types

import numpy as np
from numba import get_num_threads, njit, prange

from bench.peers import numba_apps, numba_flow

STRICT = {"error_model": "numpy", "fastmath": False}
FAST = {"error_model": "numpy", "fastmath": True}


# --- composite ---------------------------------------------------------------

def composite_gray(bg, fg, al, out):
    for r in prange(bg.shape[0]):
        for c in range(bg.shape[1]):
            out[r, c] = (1 - al[r, c]) * bg[r, c] + al[r, c] * fg[r, c]
    return out


def composite_rgb(bg, fg, al, out):
    for r in prange(bg.shape[0]):
        for c in range(bg.shape[1]):
            a = al[r, c]
            b = 1 - a
            out[r, c, 0] = b * bg[r, c, 0] + a * fg[r, c, 0]
            out[r, c, 1] = b * bg[r, c, 1] + a * fg[r, c, 1]
            out[r, c, 2] = b * bg[r, c, 2] + a * fg[r, c, 2]
    return out


def composite_rgb_flat(bg, fg, al, out):
    h, w = bg.shape[0], bg.shape[1]
    b2, f2 = bg.reshape(h, w * 3), fg.reshape(h, w * 3)
    o2 = out.reshape(h, w * 3)
    bands = get_num_threads()
    for t in prange(bands):
        a3 = np.empty(w * 3)
        for r in range(h * t // bands, h * (t + 1) // bands):
            for c in range(w):
                a3[3 * c] = al[r, c]
                a3[3 * c + 1] = al[r, c]
                a3[3 * c + 2] = al[r, c]
            for i in range(w * 3):
                o2[r, i] = (1 - a3[i]) * b2[r, i] + a3[i] * f2[r, i]
    return out


# --- one-stage blur -----------------------------------------------------------

@njit(**STRICT)
def blur1_edge(img, out, r, c):
    h, w, ch = img.shape
    for k in range(ch):
        s, n = 4.0 * img[r, c, k], 4.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                y, x = r + i, c + j
                if (i == 0 and j == 0) or y < 0 or x < 0 or y >= h or x >= w:
                    continue
                f = float((2 - abs(i)) * (2 - abs(j)))
                s += f * img[y, x, k]
                n += f
        out[r, c, k] = s / n


def blur1(img, out):
    h, w = img.shape[0], img.shape[1]
    ch = img.size // (h * w)
    img3, out3 = img.reshape(h, w, ch), out.reshape(h, w, ch)
    img2, out2 = img.reshape(h, w * ch), out.reshape(h, w * ch)
    n = w * ch
    for r in prange(h):
        if r == 0 or r == h - 1:
            for c in range(w):
                blur1_edge(img3, out3, r, c)
        else:
            blur1_edge(img3, out3, r, 0)
            u, m, d, o = img2[r - 1], img2[r], img2[r + 1], out2[r]
            for i in range(ch, n - ch):
                s = 4.0 * m[i] + u[i - ch] + 2.0 * u[i] + u[i + ch]
                s = s + 2.0 * m[i - ch] + 2.0 * m[i + ch]
                o[i] = (s + d[i - ch] + 2.0 * d[i] + d[i + ch]) / 16.0
            blur1_edge(img3, out3, r, w - 1)
    return out


# --- two-stage blur -----------------------------------------------------------

def blur2(img):
    out = np.empty(img.shape)
    h, w = img.shape[0], img.shape[1]
    ch = img.size // (h * w)
    a, o = img.reshape(h, w * ch), out.reshape(h, w * ch)
    n, last = w * ch, h - 8
    bands = get_num_threads()
    for b in prange(bands):
        t = np.empty(n)
        for r in range(last * b // bands, last * (b + 1) // bands):
            x, y, z, q = a[r], a[r + 1], a[r + 2], o[r]
            for i in range(n):
                t[i] = (x[i] + y[i] + z[i]) / 3.0
            for i in range(n - 2 * ch):
                q[i] = (t[i] + t[i + ch] + t[i + 2 * ch]) / 3.0
            for i in range(n - 2 * ch, n):
                q[i] = 0.0
    o[last:] = 0.0
    return out


# --- mandelbrot ---------------------------------------------------------------

def mandelbrot(x0, x1, y0, y1, maxit, ppu, time):
    rows, cols = int((y1 - y0) * ppu), int((x1 - x0) * ppu)
    scale = 1.0 + 2.0 * time / 10.0
    x, y, p = x0 / scale, (y0 + time / 6.0) / scale, ppu * scale
    out = np.empty((rows, cols))
    for r in prange(rows):
        for c in range(cols):
            cr, ci = c / p + x, (rows - r) / p + y
            zr = zi = r2 = i2 = 0.0
            n = 0
            while n < maxit and r2 + i2 <= 4.0:
                zi = 2 * zr * zi + ci
                zr = r2 - i2 + cr
                r2, i2 = zr * zr, zi * zi
                n += 1
            # The last round may have been the one that left the circle.
            out[r, c] = n / maxit
    return out


LANES = 16


def mandelbrot_lanes(x0, x1, y0, y1, maxit, ppu, time):
    """Columns in groups; one buffer, so that LLVM sees no aliasing; the escape
    test is asked every fourth round (a lane that left never comes back)."""
    rows, cols = int((y1 - y0) * ppu), int((x1 - x0) * ppu)
    scale = 1.0 + 2.0 * time / 10.0
    x, y, p = x0 / scale, (y0 + time / 6.0) / scale, ppu * scale
    out = np.empty((rows, cols))
    for r in prange(rows):
        ci = (rows - r) / p + y
        b = np.empty(4 * LANES)
        for c in range(0, cols, LANES):
            for k in range(LANES):
                b[k] = 0.0
                b[k + LANES] = 0.0
                b[k + 2 * LANES] = (c + k) / p + x
                b[k + 3 * LANES] = 0.0
            for it in range(maxit):
                for k in range(LANES):
                    zr, zi = b[k], b[k + LANES]
                    r2, i2 = zr * zr, zi * zi
                    b[k + LANES] = 2 * zr * zi + ci
                    b[k] = r2 - i2 + b[k + 2 * LANES]
                    b[k + 3 * LANES] += 1.0 if r2 + i2 <= 4.0 else 0.0
                if it % 4 == 0:
                    alive = False
                    for k in range(LANES):
                        alive |= b[k + 3 * LANES] == it + 1.0
                    if not alive:
                        break
            for k in range(min(LANES, cols - c)):
                out[r, c + k] = b[k + 3 * LANES] / maxit
    return out


ROWS = {
    "composite_gray": [composite_gray],
    "composite_rgb": [composite_rgb, composite_rgb_flat],
    "mandelbrot": [mandelbrot, mandelbrot_lanes],
    "blur1_gray": [blur1], "blur1_rgb": [blur1],
    "blur2_gray": [blur2], "blur2_rgb": [blur2],
    "bilateral_grid": [numba_apps.bilateral_grid],
    "camera_pipe": [numba_apps.camera_pipe], "harris": [numba_apps.harris],
    "interpolate": [numba_apps.interpolate],
    "local_laplacian": [numba_apps.local_laplacian],
    "optical_flow": [numba_flow.optical_flow],
    "pacman": [numba_apps.pacman], "raytracer": [numba_apps.raytracer],
}
SERIAL = {"pacman"}


@functools.cache
def compiled(fn, fast):
    """fn compiled and kept on disk; the fast twin under a name of its own,
    because Numba's cache does not tell options apart."""
    if fast:
        name = fn.__name__ + "_fast"
        code = fn.__code__.replace(co_name=name, co_qualname=name)
        fn = types.FunctionType(code, fn.__globals__, name)
    serial = fn.__name__.removesuffix("_fast") in SERIAL
    call = njit(parallel=not serial, cache=True,
                **(FAST if fast else STRICT))(fn)
    if fn.__name__.startswith("local_laplacian"):
        return lambda img: call(img, remap_table())
    return call


def remap_table():
    """The curve of the local Laplacian, with NumPy's exp."""
    fx = np.arange(-1792, 1793) / 256.0
    return 1.0 / 7 * fx * np.exp(-fx * fx / 2)


def variants(row):
    """(name, dtype, strict, callable) for each version of a row."""
    for fn in ROWS[row]:
        yield "numba " + fn.__name__, np.float64, True, compiled(fn, False)
        yield ("numba " + fn.__name__ + " fast", np.float64, False,
               compiled(fn, True))
