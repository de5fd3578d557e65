"""VZ-2003: a function that is not translated."""
import numpy as np


def subject(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += np.roots(a)[0]
    return total


def changed(a, middle):
    total = 0.0
    for i in range(a.shape[0]):
        total += middle
    return total


def arguments():
    return (np.arange(4.0),)


def changed_arguments():
    return (np.arange(4.0), 1.5)


# >>> refusal
# VZ_2003_function.py:8:18  VZ-2003  `np.roots` is not translated
# <<<
