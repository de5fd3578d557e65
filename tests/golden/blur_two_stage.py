"""Two box blurs in a row become one pipeline over parallel rows."""
import numpy as np

from vizgen import accelerate


@accelerate
def run(img):
    rows, cols = img.shape[0], img.shape[1]
    tmp = np.zeros(img.shape)
    out = np.zeros(img.shape)
    for r in range(rows - 2):
        for c in range(cols):
            tmp[r, c] = (img[r, c] + img[r + 1, c] + img[r + 2, c]) / 3.0
    for r in range(rows - 2):
        for c in range(cols - 2):
            out[r, c] = (tmp[r, c] + tmp[r, c + 1] + tmp[r, c + 2]) / 3.0
    return out


def arguments():
    return (np.arange(30.0 * 40.0).reshape(30, 40),)


def main():
    out = run(*arguments())
    print(out[0, 0], out[27, 37], out[28, 0], out.sum())


# >>> run
# 41.0 1158.0 0.0 637868.0
# <<<
# >>> stats
# native_calls 1
# python_calls 0
# <<<
# >>> remark
# 11  VZ-3015
# 12  VZ-3012
# 13  VZ-3003
# 15  VZ-3001
# 15  VZ-3009
# 15  VZ-3012
# 16  VZ-3003
# <<<
