"""NumPy's functions that are loops over one or two axes.

Sums that run along an axis, tables and interpolation: each is NumPy's own
algorithm, in its order of operations.  What is not handled here fails an
`assert`, or is an operation that the compiler refuses, and Python runs the true
function.
"""

import numpy as np

_range = range


# --- shapes ------------------------------------------------------------------


def _flat(a):
    """All elements in C order."""
    if a.ndim == 1:
        return a
    out = np.zeros(a.size, a.dtype)
    n = 0
    if a.ndim == 2:
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                out[n] = a[i, k]
                n += 1
    else:
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(a.shape[2]):
                    out[n] = a[i, k, j]
                    n += 1
    return out


# --- running sums ------------------------------------------------------------


def _sum_dtype(a, dtype):
    """A zero of the dtype in which 'a' is summed."""
    if dtype is None:
        return np.zeros(1, a.dtype).sum()
    return np.zeros(1, dtype)[0]


def _accumulate(a, axis, zero, product):
    item = np.zeros(1, zero.dtype)
    out = np.zeros_like(a, dtype=zero.dtype)
    with np.errstate(all="ignore"):
        if a.ndim == 1:
            for i in range(a.shape[0]):
                item[0] = a[i]
                if i == 0:
                    out[i] = item[0]
                elif product:
                    out[i] = out[i - 1] * item[0]
                else:
                    out[i] = out[i - 1] + item[0]
        elif axis == 0 or axis == -2:
            for i in range(a.shape[0]):
                for k in range(a.shape[1]):
                    item[0] = a[i, k]
                    if i == 0:
                        out[i, k] = item[0]
                    elif product:
                        out[i, k] = out[i - 1, k] * item[0]
                    else:
                        out[i, k] = out[i - 1, k] + item[0]
        else:
            for i in range(a.shape[0]):
                for k in range(a.shape[1]):
                    item[0] = a[i, k]
                    if k == 0:
                        out[i, k] = item[0]
                    elif product:
                        out[i, k] = out[i, k - 1] * item[0]
                    else:
                        out[i, k] = out[i, k - 1] + item[0]
    assert np.all(np.isfinite(out))
    return out


def cumsum(a, axis=None, dtype=None):
    zero = _sum_dtype(a, dtype)
    if axis is None:
        return _accumulate(_flat(a), 0, zero, False)
    assert -a.ndim <= axis < a.ndim
    return _accumulate(a, axis, zero, False)


def cumprod(a, axis=None, dtype=None):
    zero = _sum_dtype(a, dtype)
    if axis is None:
        return _accumulate(_flat(a), 0, zero, True)
    assert -a.ndim <= axis < a.ndim
    return _accumulate(a, axis, zero, True)


# --- differences -------------------------------------------------------------


def diff(a, n=1, axis=-1):
    assert n == 1
    if a.ndim == 1:
        assert axis == -1 or axis == 0
        return a[1:] - a[:-1]
    assert axis == 0 or axis == 1 or a.ndim == 2
    if axis == 0 or axis == -2:
        return a[1:] - a[:-1]
    assert axis == 1 or axis == -1
    return a[:, 1:] - a[:, :-1]


def _gradient(f, out, axis):
    n = f.shape[axis]
    assert n >= 2
    if f.ndim == 1:
        out[1:-1] = (f[2:] - f[:-2]) / 2.0
        out[0] = (f[1] - f[0]) / 1.0
        out[-1] = (f[-1] - f[-2]) / 1.0
    elif axis == 0:
        out[1:-1] = (f[2:] - f[:-2]) / 2.0
        out[0] = (f[1] - f[0]) / 1.0
        out[-1] = (f[-1] - f[-2]) / 1.0
    else:
        out[:, 1:-1] = (f[:, 2:] - f[:, :-2]) / 2.0
        out[:, 0] = (f[:, 1] - f[:, 0]) / 1.0
        out[:, -1] = (f[:, -1] - f[:, -2]) / 1.0
    return out


def gradient(f, axis=None):
    assert f.ndim <= 2 and f.dtype != np.bool_
    assert axis is None or -f.ndim <= axis < f.ndim
    if f.dtype != np.float32 and f.dtype != np.float64:
        f = f.astype(np.float64)
    if f.ndim == 1:
        return _gradient(f, np.zeros_like(f), 0)
    if axis is None:
        rows = _gradient(f, np.zeros_like(f), 0)
        return rows, _gradient(f, np.zeros_like(f), 1)
    return _gradient(f, np.zeros_like(f), axis % 2)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    assert axis == -1 and y.ndim == 1
    if x is None:
        return (dx * (y[1:] + y[:-1]) / 2.0).sum()
    return ((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2.0).sum()


# --- products of vectors -----------------------------------------------------


def trace(a):
    n = min(a.shape[0], a.shape[1])
    diagonal = np.zeros(n, a.dtype)
    for i in range(n):
        diagonal[i] = a[i, i]
    return np.sum(diagonal)


def polyval(p, x):
    y = np.zeros_like(x)
    for k in range(len(p)):
        y = y * x + p[k]
    return y


def _average(a, weights):
    scale = weights.sum()
    assert scale != 0
    return (a * weights).sum() / scale


def average(a, axis=None, weights=None):
    assert axis is None
    if weights is None:
        return np.mean(a)
    if a.dtype != np.float32 and a.dtype != np.float64:
        return _average(a * 1.0, weights * 1.0)
    if weights.dtype != np.float32 and weights.dtype != np.float64:
        assert a.dtype == np.float64
        return _average(a, weights * 1.0)
    return _average(a, weights)


# --- nan ---------------------------------------------------------------------


def nansum(a, axis=None):
    return np.sum(np.where(np.isnan(a), 0, a), axis=axis)


def nanmean(a, axis=None):
    assert axis is None
    if a.dtype != np.float64 and a.dtype != np.float32:
        return np.mean(a)
    known = ~np.isnan(a)
    n = np.sum(known)
    assert n > 0
    total = np.sum(np.where(known, a, 0))
    if a.dtype == np.float32:
        return np.float32(total / n)
    return total / n


def nanmin(a, axis=None):
    assert axis is None
    if a.dtype != np.float64 and a.dtype != np.float32:
        return np.min(a)
    known = ~np.isnan(a)
    assert np.any(known)
    return np.min(np.where(known, a, np.inf))


def nanmax(a, axis=None):
    assert axis is None
    if a.dtype != np.float64 and a.dtype != np.float32:
        return np.max(a)
    known = ~np.isnan(a)
    assert np.any(known)
    return np.max(np.where(known, a, -np.inf))


# --- filters -----------------------------------------------------------------


def _slide(a, v, left, right):
    """Products of 'v' with every part of 'a', which is no shorter; so many more
    parts hang over its ends."""
    n = v.shape[0]
    inner = a.shape[0] - n + 1
    out = np.zeros(left + inner + right, a.dtype)
    for i in range(left):
        m = n - left + i
        out[i] = np.vdot(a[:m], v[n - m:])
    for i in range(inner):
        if n > 11 or (a.dtype != np.float64 and a.dtype != np.float32):
            out[left + i] = np.vdot(a[i:i + n], v)
        else:
            total = np.zeros(1, a.dtype)[0]
            for k in range(n):
                total = total + a[i + k] * v[k]
            out[left + i] = total
    for i in range(right):
        m = n - 1 - i
        out[left + inner + i] = np.vdot(a[inner + i:], v[:m])
    return out


def _filter(a, v, mode):
    n = v.shape[0]
    assert n > 0
    assert np.all(np.isfinite(a)) and np.all(np.isfinite(v))
    with np.errstate(all="ignore"):
        if mode == "valid":
            return _slide(a, v, 0, 0)
        if mode == "same":
            return _slide(a, v, n // 2, n - n // 2 - 1)
        assert mode == "full"
        return _slide(a, v, n - 1, n - 1)


def convolve(a, v, mode="full"):
    dtype = (a[:1] * v[:1]).dtype
    if v.shape[0] > a.shape[0]:
        return _filter(v.astype(dtype), a[::-1].astype(dtype), mode)
    return _filter(a.astype(dtype), v[::-1].astype(dtype), mode)


def correlate(a, v, mode="valid"):
    dtype = (a[:1] * v[:1]).dtype
    assert v.shape[0] <= a.shape[0]
    return _filter(a.astype(dtype), v.astype(dtype), mode)


# --- comparisons and indices -------------------------------------------------


def isclose(a, b, rtol=1e-05, atol=1e-08):
    b = b * 1.0                 # integers are compared as floats
    with np.errstate(invalid="ignore"):
        near = abs(a - b) <= atol + rtol * abs(b)
        return near & np.isfinite(b) | (a == b)


def allclose(a, b, rtol=1e-05, atol=1e-08):
    return bool(np.all(isclose(a, b, rtol, atol)))


def unravel_index(indices, shape):
    k = np.int64(indices)
    assert k >= 0
    if len(shape) == 1:
        assert k < shape[0]
        return (k,)
    if len(shape) == 2:
        assert k < shape[0] * shape[1]
        return k // shape[1], k % shape[1]
    assert len(shape) == 3 and k < shape[0] * shape[1] * shape[2]
    rest = k // shape[2]
    return rest // shape[1], rest % shape[1], k % shape[2]


# --- sets --------------------------------------------------------------------


def _distinct(ordered):
    """Which elements differ from the one before."""
    first = np.ones(ordered.shape[0], bool)
    for i in range(1, ordered.shape[0]):
        first[i] = ordered[i] != ordered[i - 1]
    return first


def unique(ar, return_index=False, return_inverse=False, return_counts=False):
    assert not return_index and not return_inverse
    ordered = np.sort(_flat(ar))
    n = ordered.shape[0]
    if ar.dtype == np.float32 or ar.dtype == np.float64:
        assert n == 0 or not np.isnan(ordered[-1])
        for i in range(n):
            assert ordered[i] != 0 or not np.signbit(ordered[i])
    first = _distinct(ordered)
    if not return_counts:
        return ordered[first]
    counts = np.zeros(np.sum(first), np.int64)
    k = -1
    for i in range(n):
        if first[i]:
            k += 1
        counts[k] += 1
    return ordered[first], counts


def append(arr, values, axis=None):
    assert axis is None
    if np.ndim(values) == 0:
        return np.concatenate((_flat(arr), np.full(1, values)))
    return np.concatenate((_flat(arr), _flat(np.asarray(values))))


# --- order statistics --------------------------------------------------------


def _middle(ordered):
    n = ordered.shape[0]
    assert n > 0
    if np.isnan(ordered[-1]):
        return ordered[-1] * 1.0
    k = n // 2
    if n % 2 == 1:
        return np.mean(ordered[k:k + 1])
    return np.mean(ordered[k - 1:k + 1])


def median(a, axis=None):
    if axis is None or a.ndim == 1:
        return _middle(np.sort(_flat(a)))
    assert a.ndim == 2 and -2 <= axis < 2
    n = a.shape[1 - axis % 2]
    out = np.zeros(n, (a[0, :1] / 1.0).dtype)
    for i in range(n):
        if axis % 2 == 0:
            out[i] = _middle(np.sort(a[:, i]))
        else:
            out[i] = _middle(np.sort(a[i]))
    return out


def _quantile(ordered, q):
    n = ordered.shape[0]
    assert n > 0
    assert 0 <= q <= 1
    if np.isnan(ordered[-1]):
        return ordered[-1] * 1.0
    at = (n - 1) * q
    lower = int(at)
    if at >= n - 1:
        return ordered[n - 1] * 1.0
    t = at - lower
    a = ordered[lower]
    step = ordered[lower + 1] - a
    if t >= 0.5:
        return ordered[lower + 1] - step * (1 - t)
    return a + step * t


def percentile(a, q, axis=None):
    assert axis is None and a.dtype != np.float32
    ordered = np.sort(_flat(a))
    if np.ndim(q) == 1:
        return np.array([_quantile(ordered, x / 100) for x in q])
    return _quantile(ordered, q / 100)


def quantile(a, q, axis=None):
    assert axis is None and a.dtype != np.float32
    ordered = np.sort(_flat(a))
    if np.ndim(q) == 1:
        return np.array([_quantile(ordered, x * 1.0) for x in q])
    return _quantile(ordered, q * 1.0)


# --- tables ------------------------------------------------------------------


def _place(key, table, guess):
    """Where 'key' lies in a sorted table, as np.interp searches it."""
    n = table.shape[0]
    if key > table[n - 1]:
        return n
    if key < table[0]:
        return -1
    if n <= 4:
        i = 1
        while i < n and key >= table[i]:
            i += 1
        return i - 1
    low = 0
    high = n
    if guess > n - 3:
        guess = n - 3
    if guess < 1:
        guess = 1
    if key < table[guess]:
        if key >= table[guess - 1]:
            return guess - 1
        high = guess - 1
        if guess > 8 and key >= table[guess - 8]:
            low = guess - 8
    else:
        if key < table[guess + 1]:
            return guess
        if key < table[guess + 2]:
            return guess + 1
        low = guess + 2
        if guess < n - 9 and key < table[guess + 8]:
            high = guess + 8
    while low < high:
        middle = low + ((high - low) >> 1)
        if key >= table[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


def _between(x, xp, fp, k, left, right):
    n = xp.shape[0]
    if k == -1:
        return left
    if k == n:
        return right
    if k == n - 1 or xp[k] == x:
        return float(fp[k])
    slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    y = slope * (x - xp[k]) + fp[k]
    if np.isnan(y):
        y = slope * (x - xp[k + 1]) + fp[k + 1]
        if np.isnan(y) and fp[k] == fp[k + 1]:
            y = fp[k]
    return float(y)


def interp(x, xp, fp, left=None, right=None):
    assert len(xp) == len(fp) and len(xp) > 1
    xp = np.array(xp, dtype=np.float64)
    fp = np.array(fp, dtype=np.float64)
    low = float(fp[0]) if left is None else float(left)
    high = float(fp[-1]) if right is None else float(right)
    return _interp(x, xp, fp, low, high)


def _interp(x, xp, fp, low, high):
    with np.errstate(all="ignore"):
        if np.ndim(x) == 0:
            x = float(x)
            if x != x:
                return np.float64(x)
            k = _place(x, xp, 0)
            return np.float64(_between(x, xp, fp, k, low, high))
        out = np.zeros(x.shape)
        k = 0
        if x.ndim == 1:
            for i in range(x.shape[0]):
                item = float(x[i])
                if item != item:
                    out[i] = item
                else:
                    k = _place(item, xp, k)
                    out[i] = _between(item, xp, fp, k, low, high)
            return out
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                item = float(x[i, j])
                if item != item:
                    out[i, j] = item
                else:
                    k = _place(item, xp, k)
                    out[i, j] = _between(item, xp, fp, k, low, high)
        return out


def searchsorted(a, v, side="left"):
    assert side == "left" or side == "right"
    n = a.shape[0]
    if np.ndim(v) == 0:
        low = 0
        high = n
        while low < high:
            middle = low + ((high - low) >> 1)
            if _below(a[middle], v, side):
                low = middle + 1
            else:
                high = middle
        return np.int64(low)
    out = np.zeros(v.shape[0], np.int64)
    low = 0
    high = n
    for i in range(v.shape[0]):
        if i == 0 or _below(v[i - 1], v[i], side):
            high = n
        else:
            low = 0
            high = high + 1 if high < n else n
        while low < high:
            middle = low + ((high - low) >> 1)
            if _below(a[middle], v[i], side):
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


def _below(x, y, side):
    """Is x before y?  nan comes last."""
    if side == "left":
        return x < y or (y != y and x == x)
    return not (y < x or (x != x and y == y))


def bincount(x, weights=None, minlength=0):
    assert minlength >= 0
    n = minlength
    for i in range(x.shape[0]):
        assert x[i] >= 0
        if x[i] >= n:
            n = int(x[i]) + 1
    if weights is None:
        counts = np.zeros(n, np.int64)
        for i in range(x.shape[0]):
            counts[x[i]] += 1
        return counts
    assert len(weights) == len(x)
    sums = np.zeros(n)
    for i in range(x.shape[0]):
        sums[x[i]] += weights[i]
    return sums


def _edges(a, range):
    if range is not None:
        return float(range[0]), float(range[1])
    assert a.size > 0
    return float(np.min(a)), float(np.max(a))


def histogram(a, bins=10, range=None):
    assert a.dtype != np.float32 and bins >= 1
    values = _flat(a)
    first, last = _edges(values, range)
    assert first <= last and np.isfinite(first) and np.isfinite(last)
    if first == last:
        first = first - 0.5
        last = last + 0.5
    span = last - first
    step = span / bins
    assert step != 0
    edges = np.zeros(bins + 1)
    for k in _range(bins):
        edges[k] = k * step + first
    edges[bins] = last
    counts = np.zeros(bins, np.int64)
    for i in _range(values.shape[0]):
        x = float(values[i])
        if x >= first and x <= last:
            k = int((x - first) / span * bins)
            if k == bins:
                k -= 1
            if x < edges[k]:
                k -= 1
            if x >= edges[k + 1] and k != bins - 1:
                k += 1
            counts[k] += 1
    return counts, edges
