"""Edge-preserving smoothing of a gray picture through a bilateral grid.

The picture is scattered into a coarse grid over position and brightness,
each cell holding a sum of values and a sum of weights; the grid is blurred
along its three axes; every pixel then looks its own place up between eight
cells.  Samples at the border count five times, those in corners seventeen
times, as they stand for the missing part of their cell.
"""
import numpy as np

import images
from vizgen import accelerate


R_SIGMA = 0.1
S_SIGMA = 8


def add(histogram, xi, yi, value, weight):
    """Count 'value' in the cell of its brightness at (xi, yi)."""
    val = np.clip(value, 0, 1)
    zi = int(val * (1 / R_SIGMA) + 0.5)
    histogram[xi, yi, zi, 0] += val * weight
    histogram[xi, yi, zi, 1] += weight


def scatter(img, histogram):
    """The sums of values and of weights in every cell."""
    rows = img.shape[0]
    cols = img.shape[1]
    half = S_SIGMA // 2
    last_xi = histogram.shape[0] - 1
    last_yi = histogram.shape[1] - 1

    # The inside and the left and right borders, row by row.
    for x in range(1, rows - 1):
        xi = min((x + half) // S_SIGMA, last_xi)
        for y in range(1, cols - 1):
            yi = min((y + half) // S_SIGMA, last_yi)
            add(histogram, xi, yi, img[x, y], 1.0)
        add(histogram, xi, 0, img[x, 0], 5.0)
        add(histogram, xi, last_yi, img[x, cols - 1], 5.0)

    # The upper and lower borders.
    for y in range(1, cols - 1):
        yi = min((y + half) // S_SIGMA, last_yi)
        add(histogram, 0, yi, img[0, y], 5.0)
        add(histogram, last_xi, yi, img[rows - 1, y], 5.0)

    add(histogram, 0, 0, img[0, 0], 17.0)
    add(histogram, 0, last_yi, img[0, cols - 1], 17.0)
    add(histogram, last_xi, 0, img[rows - 1, 0], 17.0)
    add(histogram, last_xi, last_yi, img[rows - 1, cols - 1], 17.0)


def blur_brightness(histogram):
    """Blur the grid with 1-4-6-4-1 along brightness."""
    n = histogram.shape[2]
    blurz = np.zeros(histogram.shape)
    blurz[:, :, 0, :] = (6.0 * histogram[:, :, 0, :]
                         + 4.0 * histogram[:, :, 1, :]
                         + histogram[:, :, 2, :])
    blurz[:, :, 1, :] = (4.0 * histogram[:, :, 0, :]
                         + 6.0 * histogram[:, :, 1, :]
                         + 4.0 * histogram[:, :, 2, :]
                         + histogram[:, :, 3, :])
    for z in range(2, n - 2):
        blurz[:, :, z, :] = (histogram[:, :, z - 2, :]
                             + 4.0 * histogram[:, :, z - 1, :]
                             + 6.0 * histogram[:, :, z, :]
                             + 4.0 * histogram[:, :, z + 1, :]
                             + histogram[:, :, z + 2, :])
    blurz[:, :, n - 2, :] = (histogram[:, :, n - 4, :]
                             + 4.0 * histogram[:, :, n - 3, :]
                             + 6.0 * histogram[:, :, n - 2, :]
                             + 4.0 * histogram[:, :, n - 1, :])
    blurz[:, :, n - 1, :] = (histogram[:, :, n - 3, :]
                             + 4.0 * histogram[:, :, n - 2, :]
                             + 6.0 * histogram[:, :, n - 1, :])
    return blurz


def blur_columns(blurz):
    """Blur the grid with 1-4-6-4-1 along the columns."""
    n = blurz.shape[1]
    blury = np.zeros(blurz.shape)
    blury[:, 0, :, :] = (6.0 * blurz[:, 0, :, :]
                         + 4.0 * blurz[:, 1, :, :]
                         + blurz[:, 2, :, :])
    blury[:, 1, :, :] = (4.0 * blurz[:, 0, :, :]
                         + 6.0 * blurz[:, 1, :, :]
                         + 4.0 * blurz[:, 2, :, :]
                         + blurz[:, 3, :, :])
    for y in range(2, n - 2):
        blury[:, y, :, :] = (blurz[:, y - 2, :, :]
                             + 4.0 * blurz[:, y - 1, :, :]
                             + 6.0 * blurz[:, y, :, :]
                             + 4.0 * blurz[:, y + 1, :, :]
                             + blurz[:, y + 2, :, :])
    blury[:, n - 2, :, :] = (blurz[:, n - 4, :, :]
                             + 4.0 * blurz[:, n - 3, :, :]
                             + 6.0 * blurz[:, n - 2, :, :]
                             + 4.0 * blurz[:, n - 1, :, :])
    blury[:, n - 1, :, :] = (blurz[:, n - 3, :, :]
                             + 4.0 * blurz[:, n - 2, :, :]
                             + 6.0 * blurz[:, n - 1, :, :])
    return blury


def blur_rows(blury):
    """Blur the grid with 1-4-6-4-1 along the rows."""
    n = blury.shape[0]
    blurx = np.zeros(blury.shape)
    blurx[0, :, :, :] = (6.0 * blury[0, :, :, :]
                         + 4.0 * blury[1, :, :, :]
                         + blury[2, :, :, :])
    blurx[1, :, :, :] = (4.0 * blury[0, :, :, :]
                         + 6.0 * blury[1, :, :, :]
                         + 4.0 * blury[2, :, :, :]
                         + blury[3, :, :, :])
    for x in range(2, n - 2):
        blurx[x, :, :, :] = (blury[x - 2, :, :, :]
                             + 4.0 * blury[x - 1, :, :, :]
                             + 6.0 * blury[x, :, :, :]
                             + 4.0 * blury[x + 1, :, :, :]
                             + blury[x + 2, :, :, :])
    blurx[n - 2, :, :, :] = (blury[n - 4, :, :, :]
                             + 4.0 * blury[n - 3, :, :, :]
                             + 6.0 * blury[n - 2, :, :, :]
                             + 4.0 * blury[n - 1, :, :, :])
    blurx[n - 1, :, :, :] = (blury[n - 3, :, :, :]
                             + 4.0 * blury[n - 2, :, :, :]
                             + 6.0 * blury[n - 1, :, :, :])
    return blurx


def look_up(img, blurx):
    """Every pixel's sums, between its eight neighbouring cells; a pixel in the
    last cell of an axis lies at the far end of the cell before it."""
    rows = img.shape[0]
    cols = img.shape[1]
    last_xi = blurx.shape[0] - 1
    last_yi = blurx.shape[1] - 1
    interpolated = np.zeros([rows, cols, 2])
    for x in range(rows):
        for y in range(cols):
            val = np.clip(img[x, y], 0, 1) * (1 / R_SIGMA)
            xi = x // S_SIGMA
            yi = y // S_SIGMA
            zi = int(val)
            xf = float(x % S_SIGMA) / S_SIGMA
            yf = float(y % S_SIGMA) / S_SIGMA
            zf = val - zi
            if xi == last_xi:
                xi -= 1
                xf = 1.0
            if yi == last_yi:
                yi -= 1
                yf = 1.0
            if zi == blurx.shape[2] - 1:
                zi -= 1
                zf = 1.0

            near = ((blurx[xi, yi, zi, :] * (1 - yf)
                     + blurx[xi, yi + 1, zi, :] * yf) * (1 - xf)
                    + (blurx[xi + 1, yi, zi, :] * (1 - yf)
                       + blurx[xi + 1, yi + 1, zi, :] * yf) * xf)
            far = ((blurx[xi, yi, zi + 1, :] * (1 - yf)
                    + blurx[xi, yi + 1, zi + 1, :] * yf) * (1 - xf)
                   + (blurx[xi + 1, yi, zi + 1, :] * (1 - yf)
                      + blurx[xi + 1, yi + 1, zi + 1, :] * yf) * xf)
            interpolated[x, y, :] = near * (1 - zf) + far * zf
    return interpolated


@accelerate
def bilateral_grid(input_img):
    rows = input_img.shape[0]
    cols = input_img.shape[1]
    depth = int(1 / R_SIGMA) + 1
    histogram = np.zeros(
        [rows // S_SIGMA + 1, cols // S_SIGMA + 1, depth, 2])
    scatter(input_img, histogram)
    blurx = blur_rows(blur_columns(blur_brightness(histogram)))
    interpolated = look_up(input_img, blurx)
    output_img = np.zeros([rows, cols])
    for x in range(rows):
        for y in range(cols):
            output_img[x, y] = interpolated[x, y, 0] / interpolated[x, y, 1]
    return output_img


def test(n=None):
    """Smooth one large gray picture, 'n' times; the indicative workload."""
    img = images.workload(2560, 1536, 1)
    for _ in range(n or 1):
        output_img = bilateral_grid(img)
    return output_img


if __name__ == "__main__":
    images.main(test)
