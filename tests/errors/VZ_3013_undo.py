"""VZ-3013: stores are kept so that they can be undone."""
import numpy as np


def subject(a, table):
    for i in range(a.shape[0]):
        a[i] = table[a[i]]
    return None


def changed(a, table):
    for i in range(a.shape[0]):
        a[i] = table[i]
    return None


def arguments():
    return np.arange(50), np.ones(50, dtype=np.int64)


# >>> remark
# VZ_3013_undo.py:6:5  VZ-3013  written arguments are copied first: a check in or
#     after this loop may fail
# <<<
