"""VZ-3009: two loops become one pipeline."""
import numpy as np


def subject(a):
    h, w = a.shape[0], a.shape[1]
    tmp = np.zeros((h, w))
    out = np.zeros((h, w))
    for r in range(h):
        for c in range(w):
            tmp[r, c] = a[r, c] * 0.5
    for r in range(h - 1):
        for c in range(w):
            out[r, c] = tmp[r, c] + tmp[r + 1, c]
    return out


def changed(a):
    h, w = a.shape[0], a.shape[1]
    out = np.zeros((h, w))
    for r in range(h - 1):
        for c in range(w):
            out[r, c] = a[r, c] * 0.5 + a[r + 1, c] * 0.5
    return out


def arguments():
    return (np.ones((50, 60)),)


# >>> remark
# VZ_3009_pipe.py:12:5  VZ-3009  `tmp` is computed in tiles
# <<<
