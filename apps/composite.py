"""Alpha blending: a foreground over a background, one alpha per pixel."""
import numpy as np

import images
from vizgen import accelerate


@accelerate
def composite(background, foreground, foreground_alpha, output_img):
    """Write (1 - alpha) * background + alpha * foreground to output_img."""
    for r in range(output_img.shape[0]):
        for c in range(output_img.shape[1]):
            alpha = foreground_alpha[r, c]
            output_img[r, c] = (
                (1 - alpha) * background[r, c] + alpha * foreground[r, c]
            )
    return output_img


def test(n=None):
    """Blend two colour pictures, 'n' times; the indicative workload."""
    foreground = images.workload(405, 640, 3)
    background = images.picture(*foreground.shape, seed=1)
    alpha = images.picture(*foreground.shape[:2], seed=2)
    output_img = np.zeros(foreground.shape)
    for _ in range(n or 1):
        composite(background, foreground, alpha, output_img)
    return output_img


if __name__ == "__main__":
    images.main(test)
