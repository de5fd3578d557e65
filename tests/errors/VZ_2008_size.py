"""VZ-2008: arithmetic on a whole axis of unknown size."""
import numpy as np


def subject(a):
    out = np.zeros(a.shape)
    for r in range(a.shape[0]):
        out[r] = a[r] * 2.0
    return out


def changed(a):
    out = np.zeros(a.shape)
    for r in range(a.shape[0]):
        for c in range(a.shape[1]):
            out[r, c] = a[r, c] * 2.0
    return out


def arguments():
    return (np.ones((3, 100)),)


# >>> refusal
# VZ_2008_size.py:8:18  VZ-2008  `*` of float64[:]: only parts with at most 30
#     elements are translated
# <<<
