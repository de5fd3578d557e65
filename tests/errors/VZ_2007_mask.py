"""VZ-2007: a way of indexing that is not translated."""
import numpy as np


def subject(a):
    b = a[a > 1.0]
    return b[0]


def changed(a):
    for i in range(a.shape[0]):
        if a[i] > 1.0:
            return a[i]
    return a[0]


def arguments():
    return (np.arange(4.0),)


# >>> refusal
# VZ_2007_mask.py:6:11  VZ-2007  an index of type bool[4] is not translated
# <<<
