"""Lengths and products of vectors, as NumPy's functions of these names.

What is not covered here (matrices, other norms) fails an `assert`, which sends
the call to Python.
"""

import numpy as np


def norm(x, ord=None, axis=None, keepdims=False):
    """The Euclidean length of a vector, or of the vectors along an axis."""
    assert ord is None
    x = x * 1.0  # integers become floats, floats stay what they are
    if axis is None:
        assert x.ndim == 1 and not keepdims
        return np.sqrt(np.dot(x, x))
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def cross(a, b):
    """The product of two vectors of three elements."""
    assert a.ndim == 1 and b.ndim == 1 and len(a) == 3 and len(b) == 3
    plus = np.array([a[1], a[2], a[0]]) * np.array([b[2], b[0], b[1]])
    return plus - np.array([a[2], a[0], a[1]]) * np.array([b[1], b[2], b[0]])
