"""VZ-2004: a call that does not fit the function."""
import numpy as np


def half(x):
    return x * 0.5


def subject(a, other):
    if other:
        return half(a[0], a[1])
    return half(a[0])


def changed(a, other):
    if other:
        return half(a[1])
    return half(a[0])


def arguments():
    return (np.arange(4.0), 0.0)


# >>> refusal
# VZ_2004_arguments.py:11:16  VZ-2004  the call of `half` does not fit its parameters
# <<<
