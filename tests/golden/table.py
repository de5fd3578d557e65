"""Indices that depend on data are tested in the loop."""
import numpy as np

from vizgen import accelerate


@accelerate
def run(img, table):
    out = np.zeros(img.shape, dtype=np.uint8)
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            out[r, c] = table[img[r, c]]
    return out


def arguments():
    img = np.arange(120, dtype=np.uint8).reshape(10, 12)
    return img, np.arange(256, dtype=np.uint8)[::-1].copy()


def main():
    out = run(*arguments())
    print(out.dtype, out[0, 0], out[9, 11], int(out.sum()))


# >>> run
# uint8 255 136 23460
# <<<
# >>> stats
# native_calls 1
# python_calls 0
# <<<
# >>> remark
# 9  VZ-3015
# 10  VZ-3001
# 10  VZ-3012
# 11  VZ-3004
# 12  VZ-3007
# <<<
