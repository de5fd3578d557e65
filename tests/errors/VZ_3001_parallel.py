"""VZ-3001: a loop whose iterations are independent."""
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
# VZ_3001_parallel.py:6:5  VZ-3001  the rounds of `r` are independent (about 13
#     operations in each round of its body)
# <<<
