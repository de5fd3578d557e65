"""VZ-2010: a value that can't be returned."""
import numpy as np


def subject(a):
    kind = np.float64
    if a[0] < 0.0:
        kind = np.float64
    return a[0], kind


def changed(a):
    return a[0], a[1]


def arguments():
    return (np.arange(4.0),)


# >>> refusal
# VZ_2010_return.py:9:12  VZ-2010  the result holds dtype float64, which native code
#     can't make
# <<<
