"""Functions that make arrays of others by moving elements, and sums along an
axis.  Nothing is computed but indices, so the bits are those of the elements.

Where NumPy knows more forms than are written here (other modes, more axes,
lists of arrays), an `assert` fails and Python does the call.
"""

import numpy as np


def eye(N, M=None, k=0, dtype=float):
    rows = N
    cols = N if M is None else M
    out = np.zeros((rows, cols), dtype)
    for i in range(rows):
        if 0 <= i + k < cols:
            out[i, i + k] = 1
    return out


def identity(n, dtype=float):
    return eye(n, None, 0, dtype)


def flip(m, axis=None):
    if axis is None:
        assert m.ndim <= 2
        return m[::-1] if m.ndim == 1 else m[::-1, ::-1]
    assert axis == 0 or axis == 1
    return m[::-1] if axis == 0 else m[:, ::-1]


def flipud(m):
    return m[::-1]


def fliplr(m):
    return m[:, ::-1]


def _rolled(a, shift):
    out = np.empty_like(a)
    n = a.shape[0]
    for i in range(n):
        out[(i + shift) % n] = a[i]
    return out


def roll(a, shift, axis=None):
    if a.ndim == 1:
        assert axis is None or axis == 0 or axis == -1
        return _rolled(a, int(shift))
    assert a.ndim == 2 and axis is not None
    if axis == 0 or axis == -2:
        return _rolled(a, int(shift))
    assert axis == 1 or axis == -1
    out = np.empty_like(a)
    n = a.shape[1]
    shift = int(shift)
    for i in range(a.shape[0]):
        for k in range(n):
            out[i, (k + shift) % n] = a[i, k]
    return out


def _source(i, n, mode):
    """The element that stands at index i of an axis of n elements."""
    if mode == "edge":
        return 0 if i < 0 else n - 1 if i >= n else i
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        i = i % (2 * n)
        return i if i < n else 2 * n - 1 - i
    if n == 1:
        return 0
    i = i % (2 * n - 2)
    return i if i < n else 2 * n - 2 - i


def _widths(pad_width, axis):
    """What is added before and after."""
    if isinstance(pad_width, int):
        return pad_width, pad_width
    if isinstance(pad_width[0], int):
        return pad_width[0], pad_width[1]
    return pad_width[axis][0], pad_width[axis][1]


def _filled(array, top, bottom, left, right, constant_values):
    rows, cols = array.shape[0], array.shape[1]
    shape = (rows + top + bottom, cols + left + right) + array.shape[2:]
    out = np.zeros(shape, array.dtype)
    if constant_values != 0:
        out[...] = constant_values
    out[top:top + rows, left:left + cols] = array
    return out


def pad(array, pad_width, mode="constant", constant_values=0):
    assert array.ndim == 2 or array.ndim == 3
    top, bottom = _widths(pad_width, 0)
    left, right = _widths(pad_width, 1)
    if array.ndim == 3:
        assert not isinstance(pad_width, int)
        assert _widths(pad_width, 2) == (0, 0)
    assert min(top, bottom, left, right) >= 0
    if mode == "constant":
        return _filled(array, top, bottom, left, right, constant_values)
    assert mode in ("edge", "wrap", "symmetric", "reflect")
    rows, cols = array.shape[0], array.shape[1]
    assert rows > 0 and cols > 0
    shape = (rows + top + bottom, cols + left + right) + array.shape[2:]
    out = np.empty(shape, array.dtype)
    for y in range(shape[0]):
        for x in range(shape[1]):
            out[y, x] = array[_source(y - top, rows, mode),
                              _source(x - left, cols, mode)]
    return out


def array_equal(a1, a2):
    if a1.ndim != a2.ndim or a1.shape != a2.shape:
        return False
    return bool((a1 == a2).all())


def outer(a, b):
    assert a.ndim == 1 and b.ndim == 1
    return a[:, None] * b[None, :]


def sort_in_place(a, axis=-1):
    """The method of arrays."""
    assert a.ndim > 0 and axis is not None
    a[...] = np.sort(a, axis)
