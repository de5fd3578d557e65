"""VZ-3019: sums over blocks of rows run block by block."""
import numpy as np


def subject(a, out):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y // 8, x // 8] += a[y, x]
    return None


def changed(a, out):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x // 8] += a[y, x]
    return None


def arguments():
    return np.ones((40, 30)), np.zeros((40, 4))


# >>> remark
# VZ_3019_bands.py:6:5  VZ-3019  rounds of `y` that write at one index form bands
# <<<
