"""One frame of an animation, drawn by scan conversion.

A round figure opens and closes its mouth before three dots and a ghost,
which blinks when the mouth is widest.
"""
import math

import numpy as np

import images
from vizgen import accelerate


@accelerate
def draw_circle(img, x, y, r, color_r, color_g, color_b):
    for j in range(int(max(0, y - r)), int(min(y + r, img.shape[0] - 1))):
        span = math.sqrt(r * r - (y - j) * (y - j))
        for i in range(int(x - span), int(x + span)):
            img[i, j, 0] = color_r
            img[i, j, 1] = color_g
            img[i, j, 2] = color_b


@accelerate
def draw_rect(img, x, y, w, h, color_r, color_g, color_b):
    for j in range(int(max(0, y)), int(min(y + h, img.shape[0] - 1))):
        for i in range(int(max(0, x)), int(min(x + w, img.shape[1] - 1))):
            img[j, i, 0] = color_r
            img[j, i, 1] = color_g
            img[j, i, 2] = color_b


@accelerate
def draw_pacman(img, x, y, r, mouth_angle):
    for j in range(int(max(0, y - r)), int(min(y + r, img.shape[0] - 1))):
        span = math.sqrt(r * r - (y - j) * (y - j))
        left = int(x - span)
        right = int(x + span)
        if j > y - r * math.sin(mouth_angle) and j <= y:
            right = int(
                x + (y - j) / math.sin(mouth_angle) * math.cos(mouth_angle))
        elif j < y + r * math.sin(mouth_angle) and j > y:
            right = int(
                x + (j - y) / math.sin(mouth_angle) * math.cos(mouth_angle))
        for i in range(left, right):
            img[i, j, 0] = 1.0
            img[i, j, 1] = 1.0
            img[i, j, 2] = 0.0
    draw_circle(img, x, y - r // 2, r // 10, 0.0, 0.0, 0.0)


@accelerate
def draw_ghost(img, x, y, r, skirt, blinks):
    """'skirt': the part of the lower half that isn't cut into fringes."""
    for j in range(int(max(0, y - r)), int(min(y + r, img.shape[1] - 1))):
        span = math.sqrt(r * r - (y - j) * (y - j))
        left = int(x - span)
        right = int(x + span)
        if j > y:
            left = int(max(0, x - r))
            right = int(min(x + r, img.shape[0] - 1))
        for i in range(left, right):
            if (j <= y + skirt * r or i < x - r * 5 / 7.
                    or (i > x - r * 3 / 7. and i < x - r * 1 / 7.)
                    or (i > x + r * 1 / 7. and i < x + r * 3 / 7.)
                    or i > x + r * 5 / 7.):
                img[i, j, 0] = 0.0
                img[i, j, 1] = 1.0
                img[i, j, 2] = 1.0
    if not blinks:
        draw_circle(img, x - r // 4, y - r // 2, r // 5, 1.0, 1.0, 1.0)
        draw_circle(img, x + r // 4, y - r // 2, r // 5, 1.0, 1.0, 1.0)
        draw_circle(img, x - r // 8, y - r // 2, r // 9, 0.0, 0.0, 1.0)
        draw_circle(img, x + r * 3 // 8, y - r // 2, r // 9, 0.0, 0.0, 1.0)
    else:
        draw_rect(img, y - r // 2, x - r // 4, r / 8., r / 4., 0.0, 0.0, 0.0)
        draw_rect(img, y - r // 2, x + r // 4, r / 8., r / 4., 0.0, 0.0, 0.0)


@accelerate
def render_1_frame(input_img, output_img, time):
    """Draw the frame at 'time' into output_img; input_img is not used."""
    ma = int(time) % 16
    if ma > 7:
        ma = 8 - (ma - 8)
    draw_rect(output_img, 0, 0, output_img.shape[1], output_img.shape[0],
              0.0, 0.0, 0.0)
    draw_pacman(output_img, 100, 100, 50, ma * math.pi / 32)
    draw_circle(output_img, 200, 100, 15, 1.0, 1.0, 1.0)
    draw_circle(output_img, 275, 100, 15, 1.0, 1.0, 1.0)
    draw_circle(output_img, 350, 100, 15, 1.0, 1.0, 1.0)
    draw_ghost(output_img, 500, 100, 50, 0.75, ma == 7)


def test(time=0.0, n=None):
    """The frame at 'time', 'n' times; the indicative workload."""
    input_img = np.zeros([600, 200, 3])
    output_img = np.zeros([600, 200, 3])
    for _ in range(n or 1):
        render_1_frame(input_img, output_img, time)
    return output_img


if __name__ == "__main__":
    images.main(test)
