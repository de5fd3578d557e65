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

PATCH = 16
MAX_OFFSET = 11


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


def guess(a, b, nnf):
    """A random match for every patch: its column and row in b, its
    distance."""
    eh = nnf.shape[0]
    ew = nnf.shape[1]
    for ay in range(eh):
        for ax in range(ew):
            seed = ay << 16 | ax
            bx = util.randrange(seed, max(ax - MAX_OFFSET, 0),
                                min(ax + MAX_OFFSET + 1, ew))
            by = util.randrange(seed + 1, max(ay - MAX_OFFSET, 0),
                                min(ay + MAX_OFFSET + 1, eh))
            dist = 0.0
            for dy in range(PATCH):
                for dx in range(PATCH):
                    for c in range(a.shape[2]):
                        dist += (b[by + dy, bx + dx, c]
                                 - a[ay + dy, ax + dx, c]) ** 2
            nnf[ay, ax, 0] = bx
            nnf[ay, ax, 1] = by
            nnf[ay, ax, 2] = dist


def try_row(a, b, nnf, ax, ay, step, add, gone, best_x, best_y, best):
    """The better of a match and that of the neighbour in the row, moved along
    by one: it gains the column 'add' and loses 'gone'."""
    ew = nnf.shape[1]
    px = ax - step
    if px >= 0 and px < ew:
        bx = int(nnf[ay, px, 0]) + step
        by = int(nnf[ay, px, 1])
        if (bx >= 0 and bx < ew and abs(ax - bx) <= MAX_OFFSET
                and abs(ay - by) <= MAX_OFFSET):
            dist = nnf[(ay, px, 2)]
            for dy in range(PATCH):
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
    return best_x, best_y, best


def try_column(a, b, nnf, ax, ay, step, add, gone, best_x, best_y, best):
    """The better of a match and that of the neighbour in the column."""
    eh = nnf.shape[0]
    py = ay - step
    if py >= 0 and py < eh:
        bx = int(nnf[py, ax, 0])
        by = int(nnf[py, ax, 1]) + step
        if (by >= 0 and by < eh and abs(ax - bx) <= MAX_OFFSET
                and abs(ay - by) <= MAX_OFFSET):
            dist = nnf[(py, ax, 2)]
            for dx in range(PATCH):
                for c in range(3):
                    dist -= (b[by + gone, bx + dx, c]
                             - a[ay + gone, ax + dx, c]) ** 2
            for dx in range(PATCH):
                for c in range(3):
                    dist += (b[by + add, bx + dx, c]
                             - a[ay + add, ax + dx, c]) ** 2
            if dist < best:
                best_x = bx
                best_y = by
                best = dist
    return best_x, best_y, best


def try_random(a, b, nnf, ax, ay, best_x, best_y, best):
    """The best of a match and of random ones around it."""
    eh = nnf.shape[0]
    ew = nnf.shape[1]
    seed = ay << 16 | ax
    tries = int(math.ceil(math.log2(2 * MAX_OFFSET)))
    for i in range(tries):
        bx = util.randrange(
            seed,
            max(max(best_x - 2 * MAX_OFFSET, ax - MAX_OFFSET), 0),
            min(min(best_x + 2 * MAX_OFFSET + 1,
                    ax + MAX_OFFSET + 1), ew))
        by = util.randrange(
            seed + 1,
            max(max(best_y - 2 * MAX_OFFSET, ay - MAX_OFFSET), 0),
            min(min(best_y + 2 * MAX_OFFSET + 1,
                    ay + MAX_OFFSET + 1), eh))
        dist = 0.0
        for dy in range(PATCH):
            for dx in range(PATCH):
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
    return best_x, best_y, best


def improve(a, b, nnf, sweep):
    """One sweep over all patches, forwards or backwards."""
    eh = nnf.shape[0]
    ew = nnf.shape[1]
    if sweep % 2 == 0:
        y_start = 0
        y_end = eh
        x_start = 0
        x_end = ew
        step = 1
        add = PATCH - 1
        gone = -1
    else:
        y_start = eh - 1
        y_end = -1
        x_start = ew - 1
        x_end = -1
        step = -1
        add = 0
        gone = PATCH

    for ay in range(y_start, y_end, step):
        for ax in range(x_start, x_end, step):
            best_x = int(nnf[ay, ax, 0])
            best_y = int(nnf[ay, ax, 1])
            best = nnf[(ay, ax, 2)]
            best_x, best_y, best = try_row(
                a, b, nnf, ax, ay, step, add, gone, best_x, best_y, best)
            best_x, best_y, best = try_column(
                a, b, nnf, ax, ay, step, add, gone, best_x, best_y, best)
            best_x, best_y, best = try_random(
                a, b, nnf, ax, ay, best_x, best_y, best)
            nnf[(ay, ax, 0)] = best_x
            nnf[(ay, ax, 1)] = best_y
            nnf[(ay, ax, 2)] = best


@accelerate
def optical_flow(a, b, output_img):
    """Draw the flow from 'a' to 'b' into output_img."""
    iterations = 2
    assert a.shape[0] == b.shape[0] and a.shape[1] == b.shape[1]
    ew = a.shape[1] - PATCH + 1
    eh = a.shape[0] - PATCH + 1
    nnf = np.zeros([eh, ew, 3])
    guess(a, b, nnf)
    for sweep in range(iterations):
        improve(a, b, nnf, sweep)

    for ay in range(MAX_OFFSET, eh - MAX_OFFSET, 10):
        for ax in range(MAX_OFFSET, ew - MAX_OFFSET, 10):
            u = nnf[ay, ax, 0] - ax
            v = nnf[ay, ax, 1] - ay
            length = (u * u + v * v) ** 0.5 / MAX_OFFSET
            color = find_color_value(u / MAX_OFFSET, v / MAX_OFFSET, length)
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
