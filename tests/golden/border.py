"""Boundary conditions leave the interior."""
import numpy as np

from vizgen import accelerate


@accelerate
def run(img, out):
    rows, cols = img.shape[0], img.shape[1]
    for r in range(rows):
        for c in range(cols):
            total = img[r, c]
            weight = 1.0
            if r > 0:
                total += img[r - 1, c]
                weight += 1.0
            if c < cols - 1:
                total += img[r, c + 1]
                weight += 1.0
            out[r, c] = total / weight
    return None


def arguments():
    return np.arange(200.0).reshape(10, 20), np.zeros((10, 20))


def main():
    img, out = arguments()
    run(img, out)
    print(out[0, 0], out[0, 19], out[9, 19], out[5, 5])


# >>> run
# 0.5 19.0 189.0 98.66666666666667
# <<<
# >>> stats
# native_calls 1
# python_calls 0
# <<<
# >>> remark
# 8  VZ-3008
# 10  VZ-3001
# 10  VZ-3005
# 11  VZ-3003
# 11  VZ-3005
# <<<
