"""The Mandelbrot set in shades of gray, zooming and drifting with time.

A pixel's value is the share of max_iter steps of z = z*z + c that it takes
to leave the circle of radius 2.
"""
import numpy as np

import images
from vizgen import accelerate


@accelerate
def mandelbrot(x0, x1, y0, y1, max_iter, ppu, time=0.0):
    """The rectangle x0..x1, y0..y1 with ppu pixels per unit."""
    rows = int((y1 - y0) * ppu)
    cols = int((x1 - x0) * ppu)
    scale = 1.0 + 2.0 * time / 10.0
    y0 += time / 6.0
    x0 /= scale
    y0 /= scale
    ppu *= scale
    output_img = np.zeros((rows, cols))

    for r in range(rows):
        for c in range(cols):
            c_real = c / ppu + x0
            c_imag = (rows - r) / ppu + y0
            z_real = 0.0
            z_imag = 0.0
            n = 0
            while n < max_iter:
                real_squared = z_real * z_real
                imag_squared = z_imag * z_imag
                if real_squared + imag_squared > 4.0:
                    break
                z_imag = 2.0 * z_real * z_imag + c_imag
                z_real = real_squared - imag_squared + c_real
                n += 1
            output_img[r, c] = float(n) / max_iter

    return output_img


def test(time=0.0, n=None):
    """The whole set at 'time', 'n' times; the indicative workload."""
    for _ in range(n or 1):
        output_img = mandelbrot(-2.5, 1.5, -1.5, 1.5, 255, 200.0, time)
    return output_img


if __name__ == "__main__":
    images.main(test)
