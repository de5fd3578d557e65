"""VZ-1004: a global name that has no translation."""
import types

import numpy as np


SETTINGS = types.MappingProxyType({"gain": 2.0})


def subject(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * SETTINGS["gain"]
    return total


def changed(a, gain):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * gain
    return total


def arguments():
    return (np.arange(4.0),)


def changed_arguments():
    return (np.arange(4.0), 2.0)


# >>> refusal
# VZ_1004_global.py:13:25  VZ-1004  `SETTINGS` (mappingproxy) has no translation
# <<<
