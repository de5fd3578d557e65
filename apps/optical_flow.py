"""Optical flow between two pictures by PatchMatch, drawn as arrows.

For every patch of 'a' the most similar patch of 'b' nearby is searched: from
a random guess, matches are improved by what fits the neighbouring patches
and by more random tries, once forwards and once backwards.
"""
import math

import numpy as np

import images
import util
from vizgen import accelerate


@accelerate
def draw_line(x0, y0, x1, y1, img, color):
    """A line of one pixel's width, by Bresenham's method."""
    is_steep = False
    if not abs(y1 - y0) < abs(x1 - x0):
        is_steep = True
        temp = x0
        x0 = y0
        y0 = temp
        temp = x1
        x1 = y1
        y1 = temp
    is_forward = x1 > x0
    if not is_forward:
        temp = x0
        x0 = x1
        x1 = temp
        temp = y0
        y0 = y1
        y1 = temp

    dx = x1 - x0
    dy = abs(y1 - y0)
    err = dx / 2.0
    y = int(y0)
    y_step = 1 if y0 < y1 else -1
    for x in range(int(x0), int(x1) + 1):
        if is_steep:
            if y >= 0 and x >= 0 and y < img.shape[0] and x < img.shape[1]:
                img[y, x, 0:3] = color
        else:
            if x >= 0 and y >= 0 and x < img.shape[0] and y < img.shape[1]:
                img[x, y, 0:3] = color
        err -= dy
        if err < 0:
            y += y_step
            err += dx


@accelerate
def draw_arrow(x0, y0, x1, y1, img, color):
    """A line with two short ones at its end."""
    dx = x1 - x0
    dy = y1 - y0
    q = 0.25 * 3 ** -0.5
    draw_line(x0, y0, x1, y1, img, color)
    draw_line(x0 + 0.75 * dx + q * dy, y0 + 0.75 * dy - q * dx, x1, y1,
              img, color)
    draw_line(x0 + 0.75 * dx - q * dy, y0 + 0.75 * dy + q * dx, x1, y1,
              img, color)


@accelerate
def find_color_value(d0, d1, r):
    """The colour wheel: hue by direction, brightness by length."""
    angle = np.arctan2(d0, d1)
    third = 2.0 * np.pi / 3.0
    color = np.zeros(3)
    if angle >= 0 and angle <= third:
        scale = angle * 3.0 / (2.0 * np.pi)
        color[0] = 1 - scale
        color[1] = scale
    if angle > third:
        scale = (angle - third) * 3.0 / (2.0 * np.pi)
        color[1] = 1 - scale
        color[2] = scale
    if angle < -third:
        scale = (angle + 2.0 * np.pi - third) * 3.0 / (2.0 * np.pi)
        color[1] = 1 - scale
        color[2] = scale
    if angle < 0 and angle >= -third:
        scale = (angle + 2.0 * np.pi - 4.0 * np.pi / 3.0) * 3.0 / (2.0 * np.pi)
        color[2] = 1 - scale
        color[0] = scale
    color *= r ** 0.25
    return color


@accelerate
def optical_flow(a, b, output_img):
    """Draw the flow from 'a' to 'b' into output_img."""
    patch = 16
    max_offset = 11
    iterations = 2
    assert a.shape[0] == b.shape[0] and a.shape[1] == b.shape[1]
    tries = int(math.ceil(math.log2(2 * max_offset)))

    # A patch's best match so far: its column and row in b, its distance.
    ew = a.shape[1] - patch + 1
    eh = a.shape[0] - patch + 1
    nnf = np.zeros([eh, ew, 3])
    for ay in range(eh):
        for ax in range(ew):
            seed = ay << 16 | ax
            bx = util.randrange(seed, max(ax - max_offset, 0),
                                min(ax + max_offset + 1, ew))
            by = util.randrange(seed + 1, max(ay - max_offset, 0),
                                min(ay + max_offset + 1, eh))
            dist = 0.0
            for dy in range(patch):
                for dx in range(patch):
                    for c in range(a.shape[2]):
                        dist += (b[by + dy, bx + dx, c]
                                 - a[ay + dy, ax + dx, c]) ** 2
            nnf[ay, ax, 0] = bx
            nnf[ay, ax, 1] = by
            nnf[ay, ax, 2] = dist

    for sweep in range(iterations):
        # Forwards, then backwards; a patch that moves along gains the
        # column (or row) 'add' and loses 'gone'.
        if sweep % 2 == 0:
            y_start = 0
            y_end = eh
            x_start = 0
            x_end = ew
            step = 1
            add = patch - 1
            gone = -1
        else:
            y_start = eh - 1
            y_end = -1
            x_start = ew - 1
            x_end = -1
            step = -1
            add = 0
            gone = patch

        for ay in range(y_start, y_end, step):
            for ax in range(x_start, x_end, step):
                best_x = int(nnf[ay, ax, 0])
                best_y = int(nnf[ay, ax, 1])
                best = nnf[(ay, ax, 2)]

                # The neighbour's match in the row, moved along by one.
                px = ax - step
                if px >= 0 and px < ew:
                    bx = int(nnf[ay, px, 0]) + step
                    by = int(nnf[ay, px, 1])
                    if (bx >= 0 and bx < ew and abs(ax - bx) <= max_offset
                            and abs(ay - by) <= max_offset):
                        dist = nnf[(ay, px, 2)]
                        for dy in range(patch):
                            for c in range(3):
                                dist -= (b[by + dy, bx + gone, c]
                                         - a[ay + dy, ax + gone, c]) ** 2
                            for c in range(3):
                                dist += (b[by + dy, bx + add, c]
                                         - a[ay + dy, ax + add, c]) ** 2
                        if dist < best:
                            best_x = bx
                            best_y = by
                            best = dist

                # The neighbour's match in the column.
                py = ay - step
                if py >= 0 and py < eh:
                    bx = int(nnf[py, ax, 0])
                    by = int(nnf[py, ax, 1]) + step
                    if (by >= 0 and by < eh and abs(ax - bx) <= max_offset
                            and abs(ay - by) <= max_offset):
                        dist = nnf[(py, ax, 2)]
                        for dx in range(patch):
                            for c in range(3):
                                dist -= (b[by + gone, bx + dx, c]
                                         - a[ay + gone, ax + dx, c]) ** 2
                        for dx in range(patch):
                            for c in range(3):
                                dist += (b[by + add, bx + dx, c]
                                         - a[ay + add, ax + dx, c]) ** 2
                        if dist < best:
                            best_x = bx
                            best_y = by
                            best = dist

                # Random tries around the best match.
                seed = ay << 16 | ax
                for i in range(tries):
                    bx = util.randrange(
                        seed,
                        max(max(best_x - 2 * max_offset, ax - max_offset), 0),
                        min(min(best_x + 2 * max_offset + 1,
                                ax + max_offset + 1), ew))
                    by = util.randrange(
                        seed + 1,
                        max(max(best_y - 2 * max_offset, ay - max_offset), 0),
                        min(min(best_y + 2 * max_offset + 1,
                                ay + max_offset + 1), eh))
                    dist = 0.0
                    for dy in range(patch):
                        for dx in range(patch):
                            for c in range(3):
                                dist += (b[by + dy, bx + dx, c]
                                         - a[ay + dy, ax + dx, c]) ** 2
                            if dist > best:
                                break
                        if dist > best:
                            break
                    if dist < best:
                        best_x = bx
                        best_y = by
                        best = dist

                nnf[(ay, ax, 0)] = best_x
                nnf[(ay, ax, 1)] = best_y
                nnf[(ay, ax, 2)] = best

    for ay in range(max_offset, eh - max_offset, 10):
        for ax in range(max_offset, ew - max_offset, 10):
            u = nnf[ay, ax, 0] - ax
            v = nnf[ay, ax, 1] - ay
            length = (u * u + v * v) ** 0.5 / max_offset
            color = find_color_value(u / max_offset, v / max_offset, length)
            draw_arrow(float(ay), float(ax), ay + v, ax + u, output_img,
                       color)


def moved(img):
    """The picture a little later: all of it drifts, a part turns away."""
    later = np.roll(img, (2, -3), axis=(0, 1))
    rows, cols = img.shape[:2]
    part = np.s_[rows // 3:rows // 2, cols // 3:cols // 2]
    later[part] = np.roll(img, (-4, 1), axis=(0, 1))[part]
    return later


def test(n=None):
    """The flow between two small pictures, 'n' times; the indicative
    workload."""
    a = images.workload(75, 100, 3)
    b = moved(a)
    for _ in range(n or 1):
        output_img = np.zeros(a.shape)
        optical_flow(a, b, output_img=output_img)
    return output_img


if __name__ == "__main__":
    images.main(test)
