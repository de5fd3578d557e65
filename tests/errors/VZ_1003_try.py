"""VZ-1003: a statement that is not translated."""
import numpy as np


def subject(a):
    total = 0.0
    try:
        total = a[0] + a[1]
    except IndexError:
        total = -1.0
    return total


def changed(a):
    total = -1.0
    if a.shape[0] > 1:
        total = a[0] + a[1]
    return total


def arguments():
    return (np.arange(4.0),)


# >>> refusal
# VZ_1003_try.py:7:5  VZ-1003  Try is not translated
# <<<
