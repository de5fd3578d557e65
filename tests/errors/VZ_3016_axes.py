"""VZ-3016: a private array lies as its loops go through it."""
import numpy as np


def subject(a):
    s = np.zeros((a.shape[0], a.shape[1], 2))
    for k in range(2):
        for r in range(a.shape[0]):
            for c in range(a.shape[1]):
                s[r, c, k] += a[r, c] + k
    total = 0.0
    for k in range(2):
        for r in range(a.shape[0]):
            for c in range(a.shape[1]):
                total += s[r, c, k] * c
    return total


def changed(a):
    s = np.zeros((2, a.shape[0], a.shape[1]))
    for k in range(2):
        for r in range(a.shape[0]):
            for c in range(a.shape[1]):
                s[k, r, c] += a[r, c] + k
    total = 0.0
    for k in range(2):
        for r in range(a.shape[0]):
            for c in range(a.shape[1]):
                total += s[k, r, c] * c
    return total


def arguments():
    return (np.arange(42.0).reshape(6, 7),)


# >>> remark
# VZ_3016_axes.py:6:9  VZ-3016  `s` lies in memory with its axes in the order 2, 0, 1
# <<<
