"""VZ-3003: a loop for SIMD."""
import numpy as np


def subject(a, out):
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2.0
    return None


def changed(a, out):
    total = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            total = total * 0.5 + a[r, c]
            out[r, c] = total
    return None


def arguments():
    return (np.ones((50, 60)), np.zeros((50, 60)))


# >>> remark
# VZ_3003_vector.py:7:9  VZ-3003  several rounds at a time
# <<<
