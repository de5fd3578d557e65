"""The loops of everyday.py, each with what makes its arguments for pictures of
so many rows and columns."""
import math

import numpy as np

LOOPS = []


def loop(make):
    """Notes a function with make(rng, rows, cols) -> its arguments."""
    def note(function):
        LOOPS.append((function, make))
        return function
    return note


def gray(rng, h, w):
    return rng.rand(h, w)


def byte(rng, h, w):
    return (rng.rand(h, w) * 255).astype(np.uint8)


def to_floats(rng, h, w):
    return gray(rng, h, w), np.zeros((h, w))


def to_bytes(rng, h, w):
    return gray(rng, h, w), np.zeros((h, w), np.uint8)


@loop(lambda rng, h, w: (byte(rng, h, w), np.zeros(256, np.int64)))
def histogram(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[img[y, x]] += 1


@loop(lambda rng, h, w: (gray(rng, h, w), np.zeros(64, np.int64)))
def float_histogram(img, h):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            h[int(img[y, x] * h.shape[0])] += 1


@loop(lambda rng, h, w: (byte(rng, h, w), rng.rand(256), np.zeros((h, w))))
def table(img, lut, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = lut[img[y, x]]


@loop(lambda rng, h, w: (byte(rng, h, w), 128, np.zeros((h, w), np.uint8)))
def threshold(img, t, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = 255 if img[y, x] > t else 0


@loop(to_bytes)
def quantised(img, out):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x] * 255.0 + 0.5
            if v < 0:
                v = 0.0
            if v > 255:
                v = 255.0
            out[y, x] = int(v)


@loop(lambda rng, h, w: (gray(rng, h, w), np.zeros((h, w)), 0.955, 0.296))
def rotated(img, out, c, s):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            u = c * (x - w / 2) - s * (y - h / 2) + w / 2
            v = s * (x - w / 2) + c * (y - h / 2) + h / 2
            i = int(math.floor(u))
            k = int(math.floor(v))
            if i >= 0 and k >= 0 and i < w - 1 and k < h - 1:
                fu = u - i
                fv = v - k
                out[y, x] = ((img[k, i] * (1 - fu) + img[k, i + 1] * fu)
                             * (1 - fv)
                             + (img[k + 1, i] * (1 - fu)
                                + img[k + 1, i + 1] * fu) * fv)
            else:
                out[y, x] = 0.0


@loop(lambda rng, h, w: (gray(rng, h, w),))
def dithered(img):
    for y in range(img.shape[0] - 1):
        for x in range(1, img.shape[1] - 1):
            old = img[y, x]
            new = 1.0 if old > 0.5 else 0.0
            img[y, x] = new
            err = old - new
            img[y, x + 1] += err * 7 / 16
            img[y + 1, x - 1] += err * 3 / 16
            img[y + 1, x] += err * 5 / 16
            img[y + 1, x + 1] += err * 1 / 16


@loop(to_floats)
def integral(img, out):
    for y in range(img.shape[0]):
        s = 0.0
        for x in range(img.shape[1]):
            s += img[y, x]
            out[y, x] = s + (out[y - 1, x] if y > 0 else 0.0)


@loop(to_floats)
def gradient(img, out):
    for y in range(1, img.shape[0] - 1):
        for x in range(1, img.shape[1] - 1):
            gx = (img[y - 1, x + 1] + 2 * img[y, x + 1] + img[y + 1, x + 1]
                  - img[y - 1, x - 1] - 2 * img[y, x - 1] - img[y + 1, x - 1])
            gy = (img[y + 1, x - 1] + 2 * img[y + 1, x] + img[y + 1, x + 1]
                  - img[y - 1, x - 1] - 2 * img[y - 1, x] - img[y - 1, x + 1])
            out[y, x] = math.sqrt(gx * gx + gy * gy)


@loop(lambda rng, h, w: (gray(rng, h, w), np.zeros((h * w, 2), np.int64), 0.95))
def peaks(img, found, t):
    n = 0
    for y in range(1, img.shape[0] - 1):
        for x in range(1, img.shape[1] - 1):
            v = img[y, x]
            if (v > t and v > img[y, x - 1] and v > img[y, x + 1]
                    and v > img[y - 1, x] and v > img[y + 1, x]):
                found[n, 0] = y
                found[n, 1] = x
                n += 1
    return n


@loop(lambda rng, h, w: (gray(rng, h, w), np.zeros(h * w, np.int64), 0.999))
def listed(img, found, t):
    n = 0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            if img[y, x] > t:
                found[n] = y * img.shape[1] + x
                n += 1
    return n


@loop(lambda rng, h, w: (rng.rand(h * w // 24, 3), rng.rand(16, 3),
                         np.zeros(h * w // 24, np.int64)))
def nearest_centre(points, centres, label):
    for i in range(points.shape[0]):
        best = 1e30
        at = 0
        for k in range(centres.shape[0]):
            d = 0.0
            for j in range(points.shape[1]):
                t = points[i, j] - centres[k, j]
                d += t * t
            if d < best:
                best = d
                at = k
        label[i] = at


@loop(lambda rng, h, w: (gray(rng, h, w), rng.rand(5, 5), np.zeros((h, w))))
def filtered(img, k, out):
    r = k.shape[0] // 2
    for y in range(r, img.shape[0] - r):
        for x in range(r, img.shape[1] - r):
            s = 0.0
            for i in range(k.shape[0]):
                for j in range(k.shape[1]):
                    s += img[y + i - r, x + j - r] * k[i, j]
            out[y, x] = s


@loop(lambda rng, h, w: (gray(rng, h, w) > 0.6, np.zeros((h, w), np.int64)))
def labelled(mask, label):
    n = 0
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            if mask[y, x]:
                a = label[y, x - 1] if x > 0 else 0
                b = label[y - 1, x] if y > 0 else 0
                if a > 0:
                    label[y, x] = a
                elif b > 0:
                    label[y, x] = b
                else:
                    n += 1
                    label[y, x] = n
    return n
