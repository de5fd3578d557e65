"""VZ-2007: a way of indexing that is not translated."""
import numpy as np


def subject(a):
    step = len(a) // 2
    b = a[::step]
    return b[0]


def changed(a):
    b = a[::2]
    return b[0]


def arguments():
    return (np.arange(50.0),)


# >>> refusal
# VZ_2007_step.py:7:11  VZ-2007  a slice with a step that is not a constant is not
#     translated
# <<<
