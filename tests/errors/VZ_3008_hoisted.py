"""VZ-3008: an index that is tested once before the loop."""
import numpy as np


def subject(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i]
    return None


def changed(a, out):
    for i in range(out.shape[0]):
        out[i] = 1.0
    return None


def arguments():
    return (np.ones(500), np.zeros(500))


# >>> remark
# VZ_3008_hoisted.py:5:1  VZ-3008  1 check is made once, before the loops
# <<<
