"""A camera's pipeline: from the raw mosaic of a sensor to a colour picture.

The sensor's cells alternate green-red and blue-green.  The picture is made
in blocks of 24 x 40 pixels: isolated hot cells are suppressed, the two
missing colours of each cell are interpolated along the smaller gradient,
colours are corrected for the light's temperature, and a tone curve ends it.
"""
import numpy as np

import images
from vizgen import accelerate

BLOCK_HEIGHT = 24
BLOCK_WIDTH = 40

# Channels: the two greens share rows with red and with blue.
G = 0
GR = 0
R = 1
B = 2
GB = 3


@accelerate
def make_lut(contrast, black_level, gamma, lut):
    """Fill 'lut' with the tone curve over the sensor's 1024 levels."""
    max_raw = 1023
    inverse_range = 1.0 / (max_raw - black_level)
    b = 2 - 2.0 ** (contrast / 100.0)
    a = 2 - 2 * b

    for i in range(black_level + 1):
        lut[i] = 0

    for i in range(black_level + 1, max_raw + 1):
        y = (i - black_level) * inverse_range
        y = y ** (1.0 / gamma)
        if y > 0.5:
            y = 1 - y
            y = 1 - (a * y * y + b * y)
        else:
            y = a * y * y + b * y
        val = np.floor(y * 255 + 0.5)
        if val < 0:
            val = 0
        elif val > 255:
            val = 255
        lut[i] = val

    return lut


@accelerate
def make_color_matrix(color_temp, color_matrix):
    """Blend the matrices of 3200 K and 7000 K light, in mireds."""
    alpha = ((1.0 / color_temp - 1.0 / 3200.0)
             / (1.0 / 7000.0 - 1.0 / 3200.0))

    color_matrix[0, 0] = alpha * 1.6697 + (1 - alpha) * 2.2997
    color_matrix[0, 1] = alpha * -0.2693 + (1 - alpha) * -0.4478
    color_matrix[0, 2] = alpha * -0.4004 + (1 - alpha) * 0.1706
    color_matrix[0, 3] = alpha * -42.4346 + (1 - alpha) * -39.0923

    color_matrix[1, 0] = alpha * -0.3576 + (1 - alpha) * -0.3826
    color_matrix[1, 1] = alpha * 1.0615 + (1 - alpha) * 1.5906
    color_matrix[1, 2] = alpha * 1.5949 + (1 - alpha) * -0.2080
    color_matrix[1, 3] = alpha * -37.1158 + (1 - alpha) * -25.4311

    color_matrix[2, 0] = alpha * -0.2175 + (1 - alpha) * -0.0888
    color_matrix[2, 1] = alpha * -1.8751 + (1 - alpha) * -0.7344
    color_matrix[2, 2] = alpha * 6.9640 + (1 - alpha) * 2.2832
    color_matrix[2, 3] = alpha * -26.6970 + (1 - alpha) * -20.0826

    return color_matrix


def split_planes(input, by, bx, inp):
    """The four planes of the mosaic's block at (by, bx)."""
    for y in range(16):
        for x in range(24):
            inp[GR, y, x] = input[2 * y + by, 2 * x + bx]
            inp[R, y, x] = input[2 * y + by, 2 * x + bx + 1]
            inp[B, y, x] = input[2 * y + by + 1, 2 * x + bx]
            inp[GB, y, x] = input[2 * y + by + 1, 2 * x + bx + 1]


def suppress(inp, linear, denoise):
    """No cell is brighter than the brightest of its neighbours."""
    if denoise:
        for y in range(1, 15):
            for x in range(1, 23):
                linear[G, GR, y, x] = min(inp[GR, y, x], max(
                    max(inp[GR, y - 1, x], inp[GR, y + 1, x]),
                    max(inp[GR, y, x + 1], inp[GR, y, x - 1])))
                linear[R, R, y, x] = min(inp[R, y, x], max(
                    max(inp[R, y - 1, x], inp[R, y + 1, x]),
                    max(inp[R, y, x + 1], inp[R, y, x - 1])))
                linear[B, B, y, x] = min(inp[B, y, x], max(
                    max(inp[B, y - 1, x], inp[B, y + 1, x]),
                    max(inp[B, y, x + 1], inp[B, y, x - 1])))
                linear[G, GB, y, x] = min(inp[GB, y, x], max(
                    max(inp[GB, y - 1, x], inp[GB, y + 1, x]),
                    max(inp[GB, y, x + 1], inp[GB, y, x - 1])))
    else:
        for y in range(1, 15):
            for x in range(1, 23):
                linear[G, GR, y, x] = inp[GR, y, x]
                linear[R, R, y, x] = inp[R, y, x]
                linear[B, B, y, x] = inp[B, y, x]
                linear[G, GB, y, x] = inp[GB, y, x]


def green(linear):
    """Green where red and blue cells are."""
    for y in range(1, 15):
        for x in range(1, 23):
            gv_r = (linear[G, GB, y - 1, x]
                    + linear[G, GB, y, x]) / 2
            gvd_r = abs(linear[G, GB, y - 1, x]
                        - linear[G, GB, y, x])
            gh_r = (linear[G, GR, y, x]
                    + linear[G, GR, y, x + 1]) / 2
            ghd_r = abs(linear[G, GR, y, x]
                        - linear[G, GR, y, x + 1]) / 2
            if ghd_r < gvd_r:
                linear[G, R, y, x] = gh_r
            else:
                linear[G, R, y, x] = gv_r

            gv_b = (linear[G, GR, y + 1, x]
                    + linear[G, GR, y, x]) / 2
            gvd_b = abs(linear[G, GR, y + 1, x]
                        - linear[G, GR, y, x])
            gh_b = (linear[G, GB, y, x]
                    + linear[G, GB, y, x - 1]) / 2
            ghd_b = abs(linear[G, GB, y, x]
                        - linear[G, GB, y, x - 1])
            if ghd_b < gvd_b:
                linear[G, B, y, x] = gh_b
            else:
                linear[G, B, y, x] = gv_b


def red_and_blue(linear):
    """Red and blue at the greens, corrected by green."""
    for y in range(1, 15):
        for x in range(1, 23):
            linear[R, GR, y, x] = (
                (linear[R, R, y, x - 1] + linear[R, R, y, x]) / 2
                + linear[G, GR, y, x]
                - (linear[G, R, y, x - 1] + linear[G, R, y, x]) / 2)
            linear[B, GR, y, x] = (
                (linear[B, B, y - 1, x] + linear[B, B, y, x]) / 2
                + linear[G, GR, y, x]
                - (linear[G, B, y - 1, x] + linear[G, B, y, x]) / 2)
            linear[R, GB, y, x] = (
                (linear[R, R, y, x] + linear[R, R, y + 1, x]) / 2
                + linear[G, GB, y, x]
                - (linear[G, R, y, x] + linear[G, R, y + 1, x]) / 2)
            linear[B, GB, y, x] = (
                (linear[B, B, y, x] + linear[B, B, y, x + 1]) / 2
                + linear[G, GB, y, x]
                - (linear[G, B, y, x] + linear[G, B, y, x + 1]) / 2)


def red_at_blue(linear):
    """Along the better diagonal."""
    for y in range(1, 15):
        for x in range(1, 23):
            rp_b = (
                (linear[R, R, y + 1, x - 1] + linear[R, R, y, x]) / 2
                + linear[G, B, y, x]
                - (linear[G, R, y + 1, x - 1]
                   + linear[G, R, y, x]) / 2)
            rpd_b = abs(linear[R, R, y + 1, x - 1]
                        - linear[R, R, y, x])
            rn_b = (
                (linear[R, R, y, x - 1] + linear[R, R, y + 1, x]) / 2
                + linear[G, B, y, x]
                - (linear[G, R, y, x - 1]
                   + linear[G, R, y + 1, x]) / 2)
            rnd_b = abs(linear[R, R, y, x - 1]
                        - linear[R, R, y + 1, x])
            if rpd_b < rnd_b:
                linear[R, B, y, x] = rp_b
            else:
                linear[R, B, y, x] = rn_b


def blue_at_red(linear):
    """Along the better diagonal."""
    for y in range(1, 15):
        for x in range(1, 23):
            bp_r = (
                (linear[B, B, y - 1, x + 1] + linear[B, B, y, x]) / 2
                + linear[G, R, y, x]
                - (linear[G, B, y - 1, x + 1]
                   + linear[G, B, y, x]) / 2)
            bpd_r = abs(linear[B, B, y - 1, x + 1]
                        - linear[B, B, y, x])
            bn_r = (
                (linear[B, B, y, x + 1] + linear[B, B, y - 1, x]) / 2
                + linear[G, R, y, x]
                - (linear[G, B, y, x + 1]
                   + linear[G, B, y - 1, x]) / 2)
            bnd_r = abs(linear[B, B, y, x + 1]
                        - linear[B, B, y - 1, x])
            if bpd_r < bnd_r:
                linear[B, R, y, x] = bp_r
            else:
                linear[B, R, y, x] = bn_r


def write_block(linear, color_matrix, lut, by, bx, out):
    """Correct colours, map tones, put the planes back together."""
    for c in range(4):
        for y in range(2, 14):
            for x in range(2, 22):
                r = linear[R, c, y, x]
                g = linear[G, c, y, x]
                b = linear[B, c, y, x]
                rr = (color_matrix[0, 0] * r + color_matrix[0, 1] * g
                      + color_matrix[0, 2] * b + color_matrix[0, 3])
                gg = (color_matrix[1, 0] * r + color_matrix[1, 1] * g
                      + color_matrix[1, 2] * b + color_matrix[1, 3])
                bb = (color_matrix[2, 0] * r + color_matrix[2, 1] * g
                      + color_matrix[2, 2] * b + color_matrix[2, 3])
                ri = int(np.clip(rr, 0, 1023) + 0.5)
                gi = int(np.clip(gg, 0, 1023) + 0.5)
                bi = int(np.clip(bb, 0, 1023) + 0.5)
                oy = by + (y - 2) * 2 + c // 2
                ox = bx + (x - 2) * 2 + c % 2
                out[oy, ox, 0] = lut[ri]
                out[oy, ox, 1] = lut[gi]
                out[oy, ox, 2] = lut[bi]


@accelerate
def demosaic(input, out, color_temp, contrast, denoise, black_level, gamma):
    lut = np.zeros(1024)
    lut = make_lut(contrast, black_level, gamma, lut)
    color_matrix = np.zeros([3, 4])
    color_matrix = make_color_matrix(color_temp, color_matrix)

    out_height = min(input.shape[0] - 48, out.shape[0])
    out_height = out_height // BLOCK_HEIGHT
    out_height *= BLOCK_HEIGHT
    out_width = min(input.shape[1] - 32, out.shape[1])
    out_width = out_width // BLOCK_WIDTH
    out_width *= BLOCK_WIDTH

    for by in range(0, out_height, BLOCK_HEIGHT):
        for bx in range(0, out_width, BLOCK_WIDTH):
            inp = np.zeros([4, 16, 24])
            linear = np.zeros([3, 4, 16, 24])
            split_planes(input, by, bx, inp)
            suppress(inp, linear, denoise)
            green(linear)
            red_and_blue(linear)
            red_at_blue(linear)
            blue_at_red(linear)
            write_block(linear, color_matrix, lut, by, bx, out)


@accelerate
def camera_pipe(input_img):
    """The mosaic as 0..1 of 16 bits; the result is 0..1, too."""
    input_img = input_img * (256.0 * 256.0)
    out = np.zeros([((input_img.shape[0] - 24) // 32) * 32,
                    ((input_img.shape[1] - 32) // 32) * 32, 3])
    demosaic(input_img, out, 3700, 50, True, 25, 2.0)
    out /= 256.0
    return out


def mosaic(img):
    """The sensor's raw picture of a colour picture: 0..1023 of 65536."""
    raw = img[:, :, 1].copy()
    raw[0::2, 1::2] = img[0::2, 1::2, 0]
    raw[1::2, 0::2] = img[1::2, 0::2, 2]
    return np.floor(raw * 1023.0) / 65536.0


def test(n=None):
    """Develop one raw picture, 'n' times; the indicative workload."""
    raw = mosaic(images.workload(344, 256, 3))
    for _ in range(n or 1):
        output_img = camera_pipe(raw)
    return output_img


if __name__ == "__main__":
    images.main(test)
