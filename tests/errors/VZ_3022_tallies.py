"""VZ-3022: a histogram is made of the copies of blocks of rows."""
import numpy as np


def subject(img, counts):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            counts[img[y, x]] += 1
    return None


def changed(img, counts):
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            counts[img[y, x]] *= 2
    return None


def arguments():
    return np.ones((40, 30), np.uint8), np.zeros(4, np.int64)


# >>> remark
# VZ_3022_tallies.py:6:5  VZ-3022  `counts` is only added to: blocks of rounds add to
#     copies of it, where they have much to add
# <<<
