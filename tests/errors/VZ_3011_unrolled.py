"""VZ-3011: a loop of few rounds becomes straight code."""
import numpy as np


def subject(a, out):
    for i in range(1, a.shape[0] - 1):
        total = 0.0
        for k in range(-1, 2):
            total += a[i + k]
        out[i] = total
    return None


def changed(a, out):
    for i in range(1, a.shape[0] - 1):
        out[i] = a[i - 1] + a[i] + a[i + 1]
    return None


def arguments():
    return (np.ones(500), np.zeros(500))


# >>> remark
# VZ_3011_unrolled.py:8:9  VZ-3011  the loop's 3 rounds are written out
# <<<
