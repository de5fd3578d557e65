"""VZ-3020: of an array that is only compared, what the comparison says."""
import numpy as np


def subject(a, t):
    level = np.zeros(a.shape[0])
    n = 0
    for i in range(a.shape[0]):
        level[i] = a[i] * 3.0
    for i in range(a.shape[0]):
        if level[i] > t:
            n = n * 2 % 1001 + i
    return n


def changed(a, t):
    level = np.zeros(a.shape[0])
    n = 0
    for i in range(a.shape[0]):
        level[i] = a[i] * 3.0
    for i in range(a.shape[0]):
        if level[i] > t:
            n = n * 2 % 1001 + int(level[i])
    return n


def arguments():
    return np.ones(40), 0.5


# >>> remark
# VZ_3020_digest.py:6:13  VZ-3020  `level`: only the answers to a condition are kept
# <<<
