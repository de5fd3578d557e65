"""VZ-3012: only what is not written is cleared."""
import numpy as np


def subject(a):
    out = np.zeros((a.shape[0], a.shape[1]))
    for r in range(1, a.shape[0] - 1):
        for c in range(1, a.shape[1] - 1):
            out[r, c] = a[r, c]
    return out


def changed(a, out):
    for r in range(1, a.shape[0] - 1):
        for c in range(1, a.shape[1] - 1):
            out[r, c] = a[r, c]
    return out


def arguments():
    return (np.ones((50, 60)),)


def changed_arguments():
    return (np.ones((50, 60)), np.zeros((50, 60)))


# >>> remark
# VZ_3012_zero_fill.py:7:5  VZ-3012  only the border of `out` is cleared
# <<<
