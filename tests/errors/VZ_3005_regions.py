"""VZ-3005: a loop is split where a condition changes."""
import numpy as np


def subject(a, out):
    for i in range(a.shape[0]):
        total = a[i]
        if i > 0:
            total = total + a[i - 1]
        out[i] = total
    return None


def changed(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i]
    return None


def arguments():
    return (np.ones(500), np.zeros(500))


# >>> remark
# VZ_3005_regions.py:6:5  VZ-3005  the first 1 and last 0 rounds run apart; the others
#     are free of 1 condition
# <<<
