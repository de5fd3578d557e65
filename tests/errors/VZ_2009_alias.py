"""VZ-2009: a small array that is changed under two names."""
import numpy as np


def subject(img):
    total = np.zeros(3)
    for r in range(img.shape[0]):
        colour = img[r] * 0.5
        other = colour
        other += 1.0
        total += colour
    return total


def changed(img):
    total = np.zeros(3)
    for r in range(img.shape[0]):
        colour = img[r] * 0.5
        other = colour + 1.0
        total += other
    return total


def arguments():
    return (np.ones((5, 3)),)


# >>> refusal
# VZ_2009_alias.py:10:9  VZ-2009  a small array that has two names is changed here
# <<<
