"""VZ-3006: a condition at an unknown distance from either end."""
import numpy as np


def subject(a, middle, out):
    for i in range(a.shape[0]):
        total = a[i]
        if i > middle:
            total = total * 2.0
        out[i] = total
    return None


def changed(a, middle, out):
    for i in range(a.shape[0]):
        total = a[i]
        if i > 2:
            total = total * 2.0
        out[i] = total
    return None


def arguments():
    return (np.ones(500), 250, np.zeros(500))


# >>> remark
# VZ_3006_condition.py:6:5  VZ-3006  1 condition on `i` does not end a constant number
#     of rounds from either end
# <<<
