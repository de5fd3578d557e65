"""VZ-3007: an index that depends on data."""
import numpy as np


def subject(a, table, out):
    for i in range(a.shape[0]):
        out[i] = table[a[i]]
    return None


def changed(a, table, out):
    for i in range(a.shape[0]):
        out[i] = table[i]
    return None


def arguments():
    return (np.arange(50), np.ones(50), np.zeros(50))


# >>> remark
# VZ_3007_check.py:7:18  VZ-3007  the check of an index is made in every round
# <<<
