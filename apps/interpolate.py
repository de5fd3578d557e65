"""Pull-push interpolation: fills the transparent parts of an RGBA picture.

Pull: the picture, multiplied by its alpha, is halved again and again.  Push:
from coarse to fine, what is missing in a level's alpha comes from the level
below it.  The colours, divided by their alpha, are the result.
"""
import numpy as np

import images
from vizgen import accelerate


def pull(downsampled, downx, l):
    """Level l of 'downsampled' from the level above, halved along columns,
    then along rows."""
    rows = downsampled.shape[1]
    cols = downsampled.shape[2]
    prev = downsampled[l - 1, :, :, :]
    h = int(rows * 2 ** (-l + 1))
    h_half = int(rows * 2 ** (-l))
    w_half = int(cols * 2 ** (-l))

    for x in range(h):
        downx[l, x, 0, :] = (3 * prev[x, 0, :] + prev[x, 1, :]) * 0.25
        for y in range(1, w_half):
            downx[l, x, y, :] = (
                prev[x, 2 * y - 1, :] + 2 * prev[x, 2 * y, :]
                + prev[x, 2 * y + 1, :]) * 0.25

    for y in range(w_half):
        downsampled[l, 0, y, :] = (
            downx[l, 0, y, :] * 3 + downx[l, 1, y, :]) * 0.25
    for x in range(1, h_half):
        for y in range(w_half):
            downsampled[l, x, y, :] = (
                downx[l, 2 * x - 1, y, :] + 2 * downx[l, 2 * x, y, :]
                + downx[l, 2 * x + 1, y, :]) * 0.25


def push(interpolated, downsampled, upsampledx, upsampled, l):
    """Level l of 'interpolated': what its alpha lacks is taken from the level
    below, doubled along columns, then along rows."""
    rows = downsampled.shape[1]
    cols = downsampled.shape[2]
    h = int(rows * 2 ** (-l))
    w = int(cols * 2 ** (-l))
    h_half = int(rows * 2 ** (-l - 1))
    w_half = int(cols * 2 ** (-l - 1))

    for x in range(h_half):
        for y in range(w - 1):
            upsampledx[l, x, y, :] = (
                interpolated[l + 1, x, int(y / 2), :]
                + interpolated[l + 1, x, int((y + 1) / 2), :]) / 2.0
        upsampledx[l, x, w - 1, :] = interpolated[l + 1, x, w_half - 1, :]

    for x in range(h - 1):
        for y in range(w):
            upsampled[l, x, y, :] = (
                upsampledx[l, int(x / 2), y, :]
                + upsampledx[l, int((x + 1) / 2), y, :]) / 2.0
    for y in range(w):
        upsampled[l, h - 1, y, :] = upsampledx[l, h_half - 1, y, :]

    for x in range(h):
        for y in range(w):
            alpha = 1.0 - downsampled[l, x, y, 3]
            interpolated[l, x, y, :] = (
                downsampled[l, x, y, :] + alpha * upsampled[l, x, y, :])


@accelerate
def interpolate(input_img):
    rows = input_img.shape[0]
    cols = input_img.shape[1]
    # No more levels than until one side is a single pixel.
    levels = 10
    while levels > 1 and int(min(rows, cols) * 2 ** (-levels + 1)) < 1:
        levels -= 1

    # Level l fills the upper left part of [l, :, :, :]; the rest is zero.
    downsampled = np.zeros([levels, rows, cols, 4])
    downx = np.zeros([levels, rows, cols, 4])
    interpolated = np.zeros([levels, rows, cols, 4])
    upsampledx = np.zeros([levels, rows, cols, 4])
    upsampled = np.zeros([levels, rows, cols, 4])
    final = np.zeros([rows, cols, 3])

    for x in range(rows):
        for y in range(cols):
            downsampled[0, x, y, :] = (
                float(input_img[x, y, 3]) * input_img[x, y, :])
    for l in range(1, levels):
        pull(downsampled, downx, l)

    interpolated[levels - 1, :, :, :] = downsampled[levels - 1, :, :, :]
    for l in range(levels - 2, -1, -1):
        push(interpolated, downsampled, upsampledx, upsampled, l)

    for x in range(rows):
        for y in range(cols):
            final[x, y, :] = np.clip(
                interpolated[0, x, y, 0:3] / interpolated[0, x, y, 3], 0, 1)
    return final


def with_holes(img):
    """A colour picture with an alpha channel that is mostly zero."""
    rows, cols = img.shape[:2]
    alpha = images.picture(rows, cols, seed=9)
    alpha = np.where(alpha > 0.6, alpha, 0.0)
    alpha[::7, ::5] = 1.0
    return np.dstack([img, alpha])


def test(n=None):
    """Fill the holes of one picture, 'n' times; the indicative workload."""
    img = with_holes(images.workload(512, 307, 3))
    for _ in range(n or 1):
        output_img = interpolate(img)
    return output_img


if __name__ == "__main__":
    images.main(test)
