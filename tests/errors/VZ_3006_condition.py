"""VZ-3006: a condition on data stays in the loop."""
import numpy as np


def subject(a, out):
    for i in range(1, a.shape[0]):
        total = a[i]
        if a[i - 1] > 0.5:
            total = total + a[i - 1]
        out[i] = total
    return None


def changed(a, out):
    for i in range(a.shape[0]):
        total = a[i]
        if i > 0:
            total = total + a[i - 1]
        out[i] = total
    return None


def arguments():
    return (np.ones(500), np.zeros(500))


# >>> remark
# ?
# <<<
