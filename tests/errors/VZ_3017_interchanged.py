"""VZ-3017: pictures in Fortran's order are walked down their columns."""
import numpy as np


def subject(a, out):
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2.0
    return None


def changed(a, out):
    for c in range(a.shape[1]):
        for r in range(a.shape[0]):
            out[r, c] = a[r, c] * 2.0
    return None


def arguments():
    return (np.asfortranarray(np.ones((40, 30))),
            np.zeros((40, 30), order="F"))


# >>> remark
# VZ_3017_interchanged.py:6:5  VZ-3017  the loop over `r` runs on the inside
# <<<
