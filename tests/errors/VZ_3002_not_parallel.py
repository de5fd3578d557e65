"""VZ-3002: a loop that carries a value."""
import numpy as np


def subject(a, out):
    total = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            total = total * 0.5 + a[r, c]
            out[r, c] = total
    return None


def changed(a, out):
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2.0
    return None


def arguments():
    return (np.ones((50, 60)), np.zeros((50, 60)))


# >>> remark
# VZ_3002_not_parallel.py:7:5  VZ-3002  carries `total` from round to round
# <<<
