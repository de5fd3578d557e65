"""VZ-2001: an array of a dtype that is not handled."""
import numpy as np


def subject(a):
    return a[0]


def changed(a):
    return a[0]


def arguments():
    return (np.ones(4, np.float16),)


def changed_arguments():
    return (np.ones(4),)


# >>> refusal
# VZ_2001_half.py:5:1  VZ-2001  left in Python: `a` is an array of the dtype kind
#     'f2'
# <<<
