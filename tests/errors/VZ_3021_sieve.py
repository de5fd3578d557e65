"""VZ-3021: where a branch finds nothing, rounds are passed over."""
import numpy as np


def subject(a, out):
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 0.9:
            out[n] = i
            n += 1
    return n


def changed(a, out):
    n = 0
    for i in range(a.shape[0]):
        if i % 7 == 3:
            out[n] = i
            n += 1
    return n


def arguments():
    return np.ones(40), np.zeros(40)


# >>> remark
# VZ_3021_sieve.py:8:9  VZ-3021  asked for 64 rounds at a time: where it never holds,
#     they are passed over
# <<<
