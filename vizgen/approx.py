"""How far an approximation is from the exact result."""
import math

import numpy as np


def psnr(got, want):
    """Decibels: the largest size of the exact values over the root of the
    mean square difference; inf where there is none."""
    got, want = _finite(got, want)
    if got is None:
        return -math.inf
    error = math.sqrt(np.mean(np.square(got - want))) if want.size else 0.0
    peak = np.max(np.abs(want)) if want.size else 0.0
    if error == 0.0:
        return math.inf
    return 20.0 * math.log10(peak / error) if peak > 0.0 else -math.inf


def maxerr(got, want):
    """The largest difference."""
    got, want = _finite(got, want)
    if got is None:
        return math.inf
    return float(np.max(np.abs(got - want))) if want.size else 0.0


def ulp(got, want):
    """The largest difference in units in the last place of the exact value."""
    spacing = np.abs(np.spacing(np.asarray(want)))
    got, want = _finite(got, want)
    if got is None:
        return math.inf
    spacing = np.asarray(spacing, np.longdouble)
    spacing = spacing[np.isfinite(spacing)].reshape(-1)
    if not want.size:
        return 0.0
    return float(np.max(np.abs(got - want) / spacing))


def _finite(got, want):
    """The finite values of both as long doubles; (None, None) where one is
    finite and the other is not, or is another infinity."""
    got = np.asarray(got, np.longdouble).reshape(-1)
    want = np.asarray(want, np.longdouble).reshape(-1)
    finite = np.isfinite(want)
    if (np.isfinite(got) != finite).any() or not np.array_equal(
            got[~finite], want[~finite], equal_nan=True):
        return None, None
    return got[finite], want[finite]
