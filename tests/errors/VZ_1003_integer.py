"""VZ-1003: an integer that 63 bits don't hold."""
import numpy as np

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def subject(a):
    total = 0
    for v in a:
        total ^= int(v) * 0x9E3779B97F4A7C15
    return total


def changed(a):
    total = np.uint64(0)
    for v in a:
        total ^= v * MULTIPLIER
    return total


def arguments():
    return (np.arange(4, dtype=np.uint64),)


# >>> refusal
# VZ_1003_integer.py:10:27  VZ-1003  an integer of more than 63 bits is not translated
# <<<
