"""Harris' corner detector; each corner found is drawn as a filled circle.

The response is det - k * trace of the gradients' second moments under a
binomial window of 3 x 3.  A gray picture gets bright circles, a colour
picture blue ones, and its corners are those of its luminance.
"""
import numpy as np

import images
from vizgen import accelerate


def gradients(img, Ix2, Iy2, Ixy):
    """Products of Sobel's gradients; the border is repeated outwards."""
    rows = img.shape[0]
    cols = img.shape[1]
    for r in range(rows):
        for c in range(cols):
            prev_r = r - 1
            if prev_r < 0:
                prev_r = 0
            next_r = r + 1
            if next_r > rows - 1:
                next_r = rows - 1
            prev_c = c - 1
            if prev_c < 0:
                prev_c = 0
            next_c = c + 1
            if next_c > cols - 1:
                next_c = cols - 1

            Ix = (-img[prev_r, prev_c] - 2 * img[prev_r, c]
                  - img[prev_r, next_c] + img[next_r, prev_c]
                  + 2 * img[next_r, c] + img[next_r, next_c])
            Iy = (-img[prev_r, prev_c] - 2 * img[r, prev_c]
                  - img[next_r, prev_c] + img[prev_r, next_c]
                  + 2 * img[r, next_c] + img[next_r, next_c])
            Ix2[r, c] = Ix ** 2
            Iy2[r, c] = Iy ** 2
            Ixy[r, c] = Ix * Iy


def windowed(I, prev_r, r, next_r, prev_c, c, next_c):
    """A place of 'I' under the binomial window."""
    return (I[prev_r, prev_c] + 2 * I[prev_r, c]
            + I[prev_r, next_c] + 2 * I[r, prev_c] + 4 * I[r, c]
            + 2 * I[r, next_c] + I[next_r, prev_c]
            + 2 * I[next_r, c] + I[next_r, next_c]) / 16.0


def smooth(Ix2, Iy2, Ixy, Ix2_smooth, Iy2_smooth, Ixy_smooth):
    """All three products under the window."""
    rows = Ix2.shape[0]
    cols = Ix2.shape[1]
    for r in range(rows):
        for c in range(cols):
            prev_r = r - 1
            if prev_r < 0:
                prev_r = 0
            next_r = r + 1
            if next_r > rows - 1:
                next_r = rows - 1
            prev_c = c - 1
            if prev_c < 0:
                prev_c = 0
            next_c = c + 1
            if next_c > cols - 1:
                next_c = cols - 1
            Ix2_smooth[r, c] = windowed(Ix2, prev_r, r, next_r,
                                        prev_c, c, next_c)
            Iy2_smooth[r, c] = windowed(Iy2, prev_r, r, next_r,
                                        prev_c, c, next_c)
            Ixy_smooth[r, c] = windowed(Ixy, prev_r, r, next_r,
                                        prev_c, c, next_c)


@accelerate
def find_corners(img):
    """The corners of a gray picture in scan order, as an array of (row,
    column), each from 0 to 1."""
    k = 0.05
    threshold = 0.5
    rows = img.shape[0]
    cols = img.shape[1]
    Ix2 = np.zeros(img.shape)
    Iy2 = np.zeros(img.shape)
    Ixy = np.zeros(img.shape)
    Ix2_smooth = np.zeros(img.shape)
    Iy2_smooth = np.zeros(img.shape)
    Ixy_smooth = np.zeros(img.shape)
    gradients(img, Ix2, Iy2, Ixy)
    smooth(Ix2, Iy2, Ixy, Ix2_smooth, Iy2_smooth, Ixy_smooth)

    det = np.zeros(img.shape)
    trace = np.zeros(img.shape)
    count = 0
    for r in range(rows):
        for c in range(cols):
            det[r, c] = (Ix2_smooth[r, c] * Iy2_smooth[r, c]
                         - Ixy_smooth[r, c] ** 2)
            trace[r, c] = Ix2_smooth[r, c] + Iy2_smooth[r, c]
            if det[r, c] - k * trace[r, c] > threshold:
                count += 1

    corners = np.zeros([count, 2])
    n = 0
    for r in range(rows):
        for c in range(cols):
            if det[r, c] - k * trace[r, c] > threshold:
                corners[n, 0] = r * 1.0 / rows
                corners[n, 1] = c * 1.0 / cols
                n += 1
    return corners


@accelerate
def plot_circles(img, circle_list, output_img, circle_radius=5,
                 circle_color_r=0, circle_color_g=0, circle_color_b=255,
                 grayscale=False):
    """Draw a filled circle into output_img at every place of the list."""
    rows = img.shape[0]
    cols = img.shape[1]
    color = np.array([circle_color_r, circle_color_g, circle_color_b])
    if grayscale:
        color = np.max(color)
    if np.max(img) <= 1:
        color = color / 255.0

    for i in range(circle_list.shape[0]):
        center_r = circle_list[i, 0] * rows
        center_c = circle_list[i, 1] * cols
        min_r = int(max(0, center_r - circle_radius))
        max_r = int(min(rows, center_r + circle_radius))
        min_c = int(max(0, center_c - circle_radius))
        max_c = int(min(cols, center_c + circle_radius))
        for r in range(min_r, max_r):
            for c in range(min_c, max_c):
                dr = r - min_r - circle_radius
                dc = c - min_c - circle_radius
                if dr ** 2 + dc ** 2 <= circle_radius ** 2:
                    output_img[r, c] = color


@accelerate
def harris_corner(input_img, output_img):
    is_gray = True if len(input_img.shape) == 2 else False
    gray = input_img
    if not is_gray:
        gray = (0.2125 * input_img[:, :, 0] + 0.7154 * input_img[:, :, 1]
                + 0.0721 * input_img[:, :, 2])
    corners = find_corners(gray)
    plot_circles(input_img, corners, output_img, grayscale=is_gray)
    return output_img


def test(n=None):
    """Draw the corners of one gray picture, 'n' times; the indicative
    workload."""
    img = images.workload(1152, 956, 1)
    for _ in range(n or 1):
        output_img = img.copy()
        harris_corner(img, output_img=output_img)
    return output_img


if __name__ == "__main__":
    images.main(test)
