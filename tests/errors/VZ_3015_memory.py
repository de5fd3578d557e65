"""VZ-3015: an array that is made in every call."""
import numpy as np


def subject(a):
    best = np.zeros(a.shape[1])
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            best[c] = max(best[c], a[r, c])
    total = 0.0
    for c in range(a.shape[1]):
        total += best[c]
    return total


def changed(a, best):
    for c in range(a.shape[1]):
        best[c] = 0.0
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            best[c] = max(best[c], a[r, c])
    total = 0.0
    for c in range(a.shape[1]):
        total += best[c]
    return total


def arguments():
    return (np.arange(42.0).reshape(6, 7),)


def changed_arguments():
    return np.arange(42.0).reshape(6, 7), np.zeros(7)


# >>> remark
# VZ_3015_memory.py:6:12  VZ-3015  `best` (float64, 1 axis) is allocated in every call
# <<<
