"""Numbers for tests of complex arrays, and how they are compared."""
import itertools

import numpy as np

from tests.support import assert_same
from vizgen import accelerate

DTYPES = ("complex128", "complex64")


def numbers(*shape, dtype="complex128", seed=0):
    random = np.random.RandomState(seed)
    parts = random.randn(2, *shape) * np.exp(random.randn(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(dtype)


def corners(dtype="complex128"):
    """All pairs of parts that are special."""
    inf, nan = np.inf, np.nan
    parts = (0.0, -0.0, 1.5, -2.25, inf, -inf, nan)
    out = np.zeros(len(parts) ** 2, dtype)
    for i, (re, im) in enumerate(itertools.product(parts, parts)):
        out[i] = complex(re, im)
    return out


def native(fn, *calls):
    """Every call runs native and agrees with Python's."""
    fast = accelerate(fn, strict=True)
    for args in calls:
        assert_same(fast, args)
    return fast
