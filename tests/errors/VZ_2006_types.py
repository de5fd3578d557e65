"""VZ-2006: one name for values of different kinds."""
import numpy as np


def subject(a, n):
    state = "none"
    for i in range(n):
        state = a[i]
    return state


def changed(a, n):
    state = -1.0
    for i in range(n):
        state = float(a[i])
    return state


def arguments():
    return (np.arange(4.0), 3)


# >>> refusal
# VZ_2006_types.py:9:12  VZ-2006  `state` may be str (line 6) or float64 scalar (line
#     8) here, and no type holds both
# <<<
