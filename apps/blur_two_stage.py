"""Two-stage box blur: the mean of three rows, then of three columns.

Works on gray (h, w) and colour (h, w, channels) pictures alike: with a
channel axis, `input_img[r, c]` is a small vector.  The last eight rows and
two columns of the result stay zero.
"""
import numpy as np

import images
from vizgen import accelerate


@accelerate
def two_stage_blur(input_img):
    rows = input_img.shape[0]
    cols = input_img.shape[1]
    temp_img = np.zeros(input_img.shape)
    output_img = np.zeros(input_img.shape)

    for r in range(rows - 8):
        for c in range(cols):
            temp_img[r, c] = (
                input_img[r, c] + input_img[r + 1, c] + input_img[r + 2, c]
            ) / 3.0

    for r in range(rows - 8):
        for c in range(cols - 2):
            output_img[r, c] = (
                temp_img[r, c] + temp_img[r, c + 1] + temp_img[r, c + 2]
            ) / 3.0

    return output_img


def test(n=None):
    """Blur one colour picture, 'n' times; the indicative workload."""
    img = images.workload(405, 640, 3)
    for _ in range(n or 1):
        output_img = two_stage_blur(img)
    return output_img


if __name__ == "__main__":
    images.main(test)
