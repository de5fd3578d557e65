"""VZ-2014: an operation that always raises."""
import numpy as np


def subject(a, other):
    if other > 0.0:
        return a[0, 1, 2]
    return a[0]


def changed(a, other):
    if other > 0.0:
        return a[1]
    return a[0]


def arguments():
    return (np.arange(4.0), 0.0)


# >>> remark
# VZ_2014_always.py:7:16  VZ-2014  too many indices for float64[:]: this raises
#     IndexError
# <<<
