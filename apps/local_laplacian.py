"""Local contrast of a colour picture by local Laplacian filtering.

The picture's luminance is remapped by eight curves, each around a brightness
of its own.  Of every result a Laplacian pyramid is made; a coefficient of the
output's pyramid is taken from the two curves next to the local brightness.
"""
import numpy as np

import images
from vizgen import accelerate


LEVELS = 8      # curves


def make_remap(top):
    """The curves: a bump that is added, by 1/256ths of brightness."""
    alpha = 1.0 / (LEVELS - 1)
    remap = np.zeros(2 * top + 1)
    for i in range(-top, top + 1):
        fx = i / 256.0
        remap[i + top] = alpha * fx * np.exp(-fx * fx / 2)
    return remap


def remapped(gray, gPyramid):
    """The finest level: the picture under each curve."""
    beta = 1.0
    rows = gray.shape[0]
    cols = gray.shape[1]
    top = 256 * (LEVELS - 1)
    remap = make_remap(top)
    for r in range(rows):
        for c in range(cols):
            idx = int(gray[r, c] * (LEVELS - 1) * 256.0)
            idx = np.clip(idx, 0, top)
            for k in range(LEVELS):
                level = k * (1.0 / (LEVELS - 1))
                gPyramid[r, c, k, 0] = (beta * (gray[r, c] - level) + level
                                        + remap[idx - 256 * k + top])


def halve(gPyramid, inGPyramid, j):
    """Level j of both from the one above, with 1-3-3-1 along both axes."""
    rows = inGPyramid.shape[0]
    cols = inGPyramid.shape[1]
    h = rows // 2 ** j
    w = cols // 2 ** j
    for r in range(h):
        r0 = 2 * r - 1
        if r0 < 0:
            r0 = 0
        r1 = 2 * r
        r2 = 2 * r + 1
        r3 = 2 * r + 2
        if r3 > 2 * h - 1:
            r3 = 2 * h - 1
        for c in range(w):
            c0 = 2 * c - 1
            if c0 < 0:
                c0 = 0
            c1 = 2 * c
            c2 = 2 * c + 1
            c3 = 2 * c + 2
            if c3 > 2 * w - 1:
                c3 = 2 * w - 1
            gPyramid[r, c, :, j] = (
                gPyramid[r0, c0, :, j - 1]
                + 3.0 * gPyramid[r0, c1, :, j - 1]
                + 3.0 * gPyramid[r0, c2, :, j - 1]
                + gPyramid[r0, c3, :, j - 1]
                + 3.0 * gPyramid[r1, c0, :, j - 1]
                + 9.0 * gPyramid[r1, c1, :, j - 1]
                + 9.0 * gPyramid[r1, c2, :, j - 1]
                + 3.0 * gPyramid[r1, c3, :, j - 1]
                + 3.0 * gPyramid[r2, c0, :, j - 1]
                + 9.0 * gPyramid[r2, c1, :, j - 1]
                + 9.0 * gPyramid[r2, c2, :, j - 1]
                + 3.0 * gPyramid[r2, c3, :, j - 1]
                + gPyramid[r3, c0, :, j - 1]
                + 3.0 * gPyramid[r3, c1, :, j - 1]
                + 3.0 * gPyramid[r3, c2, :, j - 1]
                + gPyramid[r3, c3, :, j - 1]) / 64.0
            inGPyramid[r, c, j] = (
                inGPyramid[r0, c0, j - 1]
                + 3.0 * inGPyramid[r0, c1, j - 1]
                + 3.0 * inGPyramid[r0, c2, j - 1]
                + inGPyramid[r0, c3, j - 1]
                + 3.0 * inGPyramid[r1, c0, j - 1]
                + 9.0 * inGPyramid[r1, c1, j - 1]
                + 9.0 * inGPyramid[r1, c2, j - 1]
                + 3.0 * inGPyramid[r1, c3, j - 1]
                + 3.0 * inGPyramid[r2, c0, j - 1]
                + 9.0 * inGPyramid[r2, c1, j - 1]
                + 9.0 * inGPyramid[r2, c2, j - 1]
                + 3.0 * inGPyramid[r2, c3, j - 1]
                + inGPyramid[r3, c0, j - 1]
                + 3.0 * inGPyramid[r3, c1, j - 1]
                + 3.0 * inGPyramid[r3, c2, j - 1]
                + inGPyramid[r3, c3, j - 1]) / 64.0


def laplacian(gPyramid, lPyramid, J):
    """A level less the next one doubled with 1-3 / 3-9."""
    rows = gPyramid.shape[0]
    cols = gPyramid.shape[1]
    lPyramid[:, :, :, J - 1] = gPyramid[:, :, :, J - 1]
    for j in range(J - 2, -1, -1):
        h = rows // 2 ** j
        w = cols // 2 ** j
        for r in range(h):
            r0 = (r + 1) // 2 - 1
            if r0 < 0:
                r0 = 0
            r1 = r // 2
            for c in range(w):
                c0 = (c + 1) // 2 - 1
                if c0 < 0:
                    c0 = 0
                c1 = c // 2
                lPyramid[r, c, :, j] = gPyramid[r, c, :, j] - (
                    gPyramid[r0, c0, :, j + 1]
                    + 3.0 * gPyramid[r0, c1, :, j + 1]
                    + 3.0 * gPyramid[r1, c0, :, j + 1]
                    + 9.0 * gPyramid[r1, c1, :, j + 1]) / 16.0


def blend(inGPyramid, lPyramid, outLPyramid, J):
    """Between the two curves next to the brightness of each place."""
    rows = inGPyramid.shape[0]
    cols = inGPyramid.shape[1]
    for j in range(J):
        for r in range(rows // 2 ** j):
            for c in range(cols // 2 ** j):
                level = inGPyramid[r, c, j] * (LEVELS - 1)
                li = np.clip(int(level), 0, LEVELS - 2)
                lf = level - li
                outLPyramid[r, c, j] = (
                    (1.0 - lf) * lPyramid[r, c, li, j]
                    + lf * lPyramid[r, c, li + 1, j])


def collapse(outLPyramid, outGPyramid, J):
    """The picture whose Laplacian pyramid is given."""
    rows = outLPyramid.shape[0]
    cols = outLPyramid.shape[1]
    outGPyramid[:, :, J - 1] = outLPyramid[:, :, J - 1]
    for j in range(J - 2, -1, -1):
        h = rows // 2 ** j
        w = cols // 2 ** j
        for r in range(h):
            r0 = (r + 1) // 2 - 1
            if r0 < 0:
                r0 = 0
            r1 = r // 2
            for c in range(w):
                c0 = (c + 1) // 2 - 1
                if c0 < 0:
                    c0 = 0
                c1 = c // 2
                outGPyramid[r, c, j] = outLPyramid[r, c, j] + (
                    outGPyramid[r0, c0, j + 1]
                    + 3.0 * outGPyramid[r0, c1, j + 1]
                    + 3.0 * outGPyramid[r1, c0, j + 1]
                    + 9.0 * outGPyramid[r1, c1, j + 1]) / 16.0


@accelerate
def local_laplacian(input_img):
    eps = 0.01
    rows = input_img.shape[0]
    cols = input_img.shape[1]
    # Pyramids of eight levels, or until one side is a single pixel.
    J = 8
    while J > 1 and min(rows, cols) // 2 ** (J - 1) < 1:
        J -= 1

    gray = (0.299 * input_img[:, :, 0] + 0.587 * input_img[:, :, 1]
            + 0.114 * input_img[:, :, 2])

    # A level j of a pyramid fills the upper left part of [:, :, ..., j];
    # the rest is zero.
    gPyramid = np.zeros([rows, cols, LEVELS, J])
    lPyramid = np.zeros([rows, cols, LEVELS, J])
    inGPyramid = np.zeros([rows, cols, J])
    outLPyramid = np.zeros([rows, cols, J])
    outGPyramid = np.zeros([rows, cols, J])

    remapped(gray, gPyramid)
    inGPyramid[:, :, 0] = gray
    for j in range(1, J):
        halve(gPyramid, inGPyramid, j)
    laplacian(gPyramid, lPyramid, J)
    blend(inGPyramid, lPyramid, outLPyramid, J)
    collapse(outLPyramid, outGPyramid, J)

    # Put the colours back on.
    output_img = np.zeros(input_img.shape)
    for r in range(rows):
        for c in range(cols):
            output_img[r, c, :] = (
                outGPyramid[r, c, 0] * (input_img[r, c, :] + eps)
                / (gray[r, c] + eps))
    output_img = np.clip(output_img, 0, 1)
    return output_img


def test(n=None):
    """Filter one colour picture, 'n' times; the indicative workload."""
    img = images.workload(101, 160, 3)
    for _ in range(n or 1):
        output_img = local_laplacian(img)
    return output_img


if __name__ == "__main__":
    images.main(test)
