"""VZ-1003: a statement that is not translated."""
import numpy as np


def subject(a):
    match a.shape[0]:
        case 4:
            total = a[0] + a[1]
        case _:
            total = -1.0
    return total


def changed(a):
    total = -1.0
    if a.shape[0] == 4:
        total = a[0] + a[1]
    return total


def arguments():
    return (np.arange(4.0),)


# >>> refusal
# VZ_1003_match.py:6:5  VZ-1003  a `match` statement is not translated
# <<<
