"""NumPy's functions of complex numbers that are made of others."""

import numpy as np


def angle(z, deg=False):
    out = np.arctan2(z.imag, z.real)
    return out * (180 / np.pi) if deg else out
