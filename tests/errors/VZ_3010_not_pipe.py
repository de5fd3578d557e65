"""VZ-3010: a loop reads what the one before did not write."""
import numpy as np


def subject(a):
    h, w = a.shape[0], a.shape[1]
    tmp = np.zeros((h, w))
    out = np.zeros((h, w))
    for r in range(h):
        for c in range(w):
            tmp[r, c] = a[r, c] * 0.5
    for r in range(h):
        for c in range(w):
            out[r, c] = tmp[r, int(a[r, c])]
    return out


def changed(a):
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


def arguments():
    return (np.ones((50, 60)),)


# >>> remark
# VZ_3010_not_pipe.py:9:5  VZ-3010  `tmp` is read at other places than the reader's
#     own
# <<<
