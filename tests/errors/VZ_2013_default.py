"""VZ-2013: a default value that is not handled."""
import numpy as np


def weighted(x, weights=frozenset((1.0, 2.0))):
    return x * len(weights)


def weighted_by(x, weights=(1.0, 2.0)):
    return x * weights[1]


def subject(a):
    return weighted(a[0])


def changed(a):
    return weighted_by(a[0])


def arguments():
    return (np.arange(1.0, 4.0),)


# >>> refusal
# VZ_2013_default.py:5:25  VZ-2013  the default of parameter `weights` of `weighted`,
#     of type `frozenset`, is not handled
# <<<
