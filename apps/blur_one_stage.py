"""One-stage 3x3 Gaussian blur, renormalised at the picture's border.

The weights are 1-2-1 / 2-4-2 / 1-2-1.  A neighbour outside of the picture is
left out, and the sum is divided by the weights that were used.
"""
import numpy as np

import images
from vizgen import accelerate


@accelerate
def gaussian_blur(input_img, output_img):
    rows = input_img.shape[0]
    cols = input_img.shape[1]

    for r in range(rows):
        for c in range(cols):
            total = 4.0 * input_img[r, c]
            weight = 4.0

            if r > 0 and c > 0:
                total += input_img[r - 1, c - 1]
                weight += 1.0
            if r > 0:
                total += 2.0 * input_img[r - 1, c]
                weight += 2.0
            if r > 0 and c < cols - 1:
                total += input_img[r - 1, c + 1]
                weight += 1.0

            if c > 0:
                total += 2.0 * input_img[r, c - 1]
                weight += 2.0
            if c < cols - 1:
                total += 2.0 * input_img[r, c + 1]
                weight += 2.0

            if r < rows - 1 and c > 0:
                total += input_img[r + 1, c - 1]
                weight += 1.0
            if r < rows - 1:
                total += 2.0 * input_img[r + 1, c]
                weight += 2.0
            if r < rows - 1 and c < cols - 1:
                total += input_img[r + 1, c + 1]
                weight += 1.0

            output_img[r, c] = total / weight

    return output_img


def test(n=None):
    """Blur one colour picture, 'n' times; the indicative workload."""
    img = images.workload(405, 640, 3)
    output_img = np.zeros(img.shape)
    for _ in range(n or 1):
        gaussian_blur(img, output_img)
    return output_img


if __name__ == "__main__":
    images.main(test)
