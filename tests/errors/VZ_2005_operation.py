"""VZ-2005: an operation without a translation for its types."""
import numpy as np


def subject(a):
    return a @ a


def changed(a):
    total = a[0] * a[0]
    for i in range(1, a.shape[0]):
        total += a[i] * a[i]
    return total


def arguments():
    return (np.array([1.0, 2.0, 4.0]),)


# >>> refusal
# VZ_2005_operation.py:6:12  VZ-2005  `@` is not translated for float64[3] and
#     float64[3]
# <<<
