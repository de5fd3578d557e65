"""VZ-2001: a kind of argument that is not handled."""
import numpy as np


def subject(a, options):
    return a[0] * options["gain"]


def changed(a, gain):
    return a[0] * gain


def arguments():
    return (np.arange(4.0), {'gain': 2.0})


def changed_arguments():
    return (np.arange(4.0), 2.0)


# >>> refusal
# VZ_2001_dict.py:5:1  VZ-2001  left in Python: `options` is of type `dict`
# <<<
