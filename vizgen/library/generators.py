"""numpy.random.Generator on PCG64: the same numbers, and the same state
afterwards.

The state of a PCG64 is memory: four words of 64 bits, the state and the
increment as 128-bit numbers with the low half first, and two of 32 bits, a flag
and the half of a draw that is kept for the next number of 32 bits.  To compiled
code a Generator is an object that has them as arrays (see streams.py), so a
call that must be repeated finds the state as it was.

The algorithms: M. O'Neill, "PCG", 2014, with output function XSL-RR;
SeedSequence after M. O'Neill's seed_seq_fe; 53 bits for a double; ziggurats for
normal and exponential numbers; D. Lemire, "Fast random integer generation in an
interval", ACM TOMACS 29, 2019.
"""

import math

import numpy as np

from . import ziggurat
from .random import Draws, is_spread, place

_M32 = 0xFFFFFFFF
# The factor of a step, low half first.  Not as constants: gcc takes seconds to
# find out that products with them are nothing for vectors.
_FACTOR = np.array([0x4385DF649FCCF645, 0x2360ED051FC65DA4], np.uint64)
_TABLES = ziggurat.read() or {}
_NORMAL_BELOW = _TABLES.get("NORMAL_BELOW")
_NORMAL_WIDTH = _TABLES.get("NORMAL_WIDTH")
_NORMAL_HEIGHT = _TABLES.get("NORMAL_HEIGHT")
_EXPONENTIAL_BELOW = _TABLES.get("EXPONENTIAL_BELOW")
_EXPONENTIAL_WIDTH = _TABLES.get("EXPONENTIAL_WIDTH")
_EXPONENTIAL_HEIGHT = _TABLES.get("EXPONENTIAL_HEIGHT")
_NORMAL_R = 3.6541528853610087963519472518
_NORMAL_INVERSE_R = 0.27366123732975827203338247596
_EXPONENTIAL_R = 7.6971174701310497140446280481


def usable():
    """Are the tables known?"""
    return bool(_TABLES)


# --- words -------------------------------------------------------------------


def _high(a, b):
    """The upper 64 bits of a product."""
    a0 = a & _M32
    a1 = a >> 32
    b0 = b & _M32
    b1 = b >> 32
    mid = ((a0 * b0) >> 32) + ((a0 * b1) & _M32) + ((a1 * b0) & _M32)
    return a1 * b1 + ((a0 * b1) >> 32) + ((a1 * b0) >> 32) + (mid >> 32)


def _step(rng):
    """One more state, as (low, high)."""
    low = rng._pcg64_low[0]
    high = rng._pcg64_high[0]
    step = rng._pcg64_step
    with np.errstate(over="ignore"):
        factor = _FACTOR[0]
        product = low * factor
        high = (_high(low, factor) + low * _FACTOR[1] + high * factor
                + step[1])
        low = product + step[0]
        if low < product:
            high = high + np.uint64(1)
    rng._pcg64_low[0] = low
    rng._pcg64_high[0] = high
    return low, high


def _next64(rng):
    low, high = _step(rng)
    x = high ^ low
    turn = high >> 58
    return (x >> turn) | (x << ((np.uint64(64) - turn) & np.uint64(63)))


def _next32(rng):
    """Of 32 bits, as a uint64."""
    half = rng._pcg64_half
    if half[0] != 0:
        half[0] = 0
        return np.uint64(half[1])
    word = _next64(rng)
    half[0] = 1
    half[1] = word >> 32
    return word & _M32


def _double(rng):
    return _unit(_next64(rng))


def _single(rng):
    """Of 24 bits."""
    return float(_next32(rng) >> 8) * (1.0 / 16777216.0)


# --- seeds -------------------------------------------------------------------


def _hashed(value, factor):
    """'value' mixed with a factor that changes with every use."""
    value = value ^ factor[0]
    factor[0] = (factor[0] * factor[1]) & _M32
    value = (value * factor[0]) & _M32
    return value ^ (value >> 16)


def _mixed(x, y):
    value = (np.uint64(0xCA01F9DD) * x - np.uint64(0x4973F715) * y) & _M32
    return value ^ (value >> 16)


def _pool(seed, pool):
    """SeedSequence's pool of four words for an int."""
    factor = np.array([0x43B0D7E5, 0x931E8875], np.uint64)
    words = np.zeros(4, np.uint64)
    words[0] = seed & _M32
    words[1] = seed >> 32
    for k in range(4):
        pool[k] = _hashed(words[k], factor)
    for source in range(4):
        for k in range(4):
            if source != k:
                pool[k] = _mixed(pool[k], _hashed(pool[source], factor))


def _seeded(seed):
    """A new PCG64."""
    pool = np.zeros(4, np.uint64)
    made = np.zeros(8, np.uint64)
    step = np.zeros(2, np.uint64)
    rng = PCG64(np.zeros(1, np.uint64), np.zeros(1, np.uint64), step,
                np.zeros(2, np.uint32))
    with np.errstate(over="ignore"):
        _pool(seed, pool)
        factor = np.array([0x8B51F9DD, 0x58F38DED], np.uint64)
        for k in range(8):
            made[k] = _hashed(pool[k & 3], factor)
        high = made[0] | (made[1] << 32)
        low = made[2] | (made[3] << 32)
        stream = made[4] | (made[5] << 32)
        below = made[6] | (made[7] << 32)
        step[0] = (below << 1) | np.uint64(1)
        step[1] = (stream << 1) | (below >> 63)
        before, above = _step(rng)
        low = before + low
        high = above + high
        if low < before:
            high = high + np.uint64(1)
        rng._pcg64_low[0] = low
        rng._pcg64_high[0] = high
        _step(rng)
    return rng


# --- distributions -----------------------------------------------------------


# One place that draws in each of them: calls are inlined, and the code of a draw
# is long.


def _unit(word):
    return float(word >> 11) * (1.0 / 9007199254740992.0)


def _gauss(rng):
    k = -1
    tail = 0.0
    x = 0.0
    negative = np.uint64(0)
    while True:
        r = _next64(rng)
        if k < 0:
            k = int(r & 0xFF)
            part = (r >> 9) & 0x000FFFFFFFFFFFFF
            x = float(part) * float(_NORMAL_WIDTH[k])
            if (r >> 8) & 1:
                x = -x
            if part < _NORMAL_BELOW[k]:
                return x
            negative = (part >> 8) & 1
        elif k > 0:  # in the wedge?
            low = float(_NORMAL_HEIGHT[k])
            wide = float(_NORMAL_HEIGHT[k - 1]) - low
            if wide * _unit(r) + low < math.exp(-0.5 * x * x):
                return x
            k = -1
        elif tail == 0.0:  # two numbers for one of the tail
            tail = 1.0
            x = -_NORMAL_INVERSE_R * math.log1p(-_unit(r))
        else:
            tail = 0.0
            y = -math.log1p(-_unit(r))
            if y + y > x * x:
                return -(_NORMAL_R + x) if negative else _NORMAL_R + x


def _exponential(rng):
    k = -1
    x = 0.0
    while True:
        r = _next64(rng)
        if k < 0:
            k = int((r >> 3) & 0xFF)
            part = r >> 11
            x = float(part) * float(_EXPONENTIAL_WIDTH[k])
            if part < _EXPONENTIAL_BELOW[k]:
                return x
        elif k == 0:
            return _EXPONENTIAL_R - math.log1p(-_unit(r))
        else:
            low = float(_EXPONENTIAL_HEIGHT[k])
            wide = float(_EXPONENTIAL_HEIGHT[k - 1]) - low
            if wide * _unit(r) + low < math.exp(-x):
                return x
            k = -1


def _below(rng, most):
    """0 to 'most'; nothing is drawn for 0."""
    if most == 0:
        return 0
    if most < _M32:
        return int(_below32(rng, np.uint64(most)))
    if most == _M32:
        return int(_next32(rng))
    return int(_below64(rng, np.uint64(most)))


def _below32(rng, most):
    with np.errstate(over="ignore"):
        many = most + np.uint64(1)
        while True:
            product = _next32(rng) * many
            rest = product & _M32
            if rest >= many or rest >= (np.uint64(_M32) - most) % many:
                return product >> 32


def _below64(rng, most):
    with np.errstate(over="ignore"):
        many = most + np.uint64(1)
        while True:
            word = _next64(rng)
            rest = word * many
            if (rest >= many
                    or rest >= (np.uint64(0xFFFFFFFFFFFFFFFF) - most) % many):
                return _high(word, many)


def _index(rng, most):
    """0 to 'most', by rejection under a mask."""
    mask = most
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    while True:
        value = int(_next32(rng)) & mask
        if value <= most:
            return value


def _range_of(number):
    """The least and greatest value of an integer's dtype, and its bits."""
    if isinstance(number, np.uint8):
        return 0, 0xFF, 8
    if isinstance(number, np.int8):
        return -0x80, 0x7F, 8
    if isinstance(number, np.uint16):
        return 0, 0xFFFF, 16
    if isinstance(number, np.int16):
        return -0x8000, 0x7FFF, 16
    if isinstance(number, np.uint32):
        return 0, 0xFFFFFFFF, 32
    if isinstance(number, np.int32):
        return -0x80000000, 0x7FFFFFFF, 32
    assert isinstance(number, (int, np.int64)) and not isinstance(number, bool)
    return -0x7FFFFFFFFFFFFFFF - 1, 0x7FFFFFFFFFFFFFFF, 64


def _small(rng, kept, most, bits):
    """0 to 'most' with 8 or 16 bits of a draw; 'kept' holds how many such parts
    of it are left, and these."""
    if bits >= 32:
        return _below(rng, most)
    if most == 0:
        return 0
    mask = (1 << bits) - 1
    many = most + 1
    while True:
        if kept[0] == 0:
            kept[0] = 32 // bits - 1
            kept[1] = _next32(rng)
        else:
            kept[0] = int(kept[0]) - 1
            kept[1] = kept[1] >> bits
        part = int(kept[1]) & mask
        if most == mask:
            return part
        rest = (part * many) & mask
        if rest >= many or rest >= (mask - most) % many:
            return (part * many) >> bits


def _span(low, high, endpoint):
    """The number of values less one; both ends must be integers."""
    most = int(high ^ 0) - int(low ^ 0)
    if not endpoint:
        most -= 1
    assert most >= 0
    return most


# --- NumPy's objects ---------------------------------------------------------


class PCG64:
    """Of numpy.random, made in the call."""

    __slots__ = ("_pcg64_low", "_pcg64_high", "_pcg64_step", "_pcg64_half")

    def __init__(self, low, high, step, half):
        self._pcg64_low = low
        self._pcg64_high = high
        self._pcg64_step = step
        self._pcg64_half = half


class Generator(Draws):
    """What compiled code sees of numpy.random.Generator."""

    __slots__ = ("_pcg64_low", "_pcg64_high", "_pcg64_step", "_pcg64_half",
                 "_source")

    def __init__(self, low, high, step, half):
        self._pcg64_low = low
        self._pcg64_high = high
        self._pcg64_step = step
        self._pcg64_half = half

    def random(self, size=None, dtype=np.float64):
        zero = dtype(0)
        single = isinstance(zero, np.float32)
        assert single or isinstance(zero, float)
        if size is None:
            return _single(self) if single else _double(self)
        out = np.empty(size, dtype=dtype)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = _single(self) if single else _double(self)
        return out

    def uniform(self, low=0.0, high=1.0, size=None):
        low = float(low)
        width = float(high) - low
        assert math.isfinite(width) and is_spread(width)
        if size is None:
            return low + width * _double(self)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = low + width * _double(self)
        return out

    def standard_normal(self, size=None):
        if size is None:
            return _gauss(self)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = _gauss(self)
        return out

    def normal(self, loc=0.0, scale=1.0, size=None):
        loc = float(loc)
        scale = float(scale)
        assert is_spread(scale)
        if size is None:
            return loc + scale * _gauss(self)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = loc + scale * _gauss(self)
        return out

    def standard_exponential(self, size=None):
        if size is None:
            return _exponential(self)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = _exponential(self)
        return out

    def exponential(self, scale=1.0, size=None):
        scale = float(scale)
        assert is_spread(scale)
        if size is None:
            return scale * _exponential(self)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = scale * _exponential(self)
        return out

    def integers(self, low, high=None, size=None, dtype=np.int64,
                 endpoint=False):
        if high is None:
            high = low
            low = 0
        most = _span(low, high, endpoint)
        first = int(low)
        least, greatest, bits = _range_of(dtype(0))
        assert first >= least and first + most <= greatest
        kept = np.zeros(2, np.uint64)
        if size is None:
            return dtype(first + _small(self, kept, most, bits))
        out = np.empty(size, dtype=dtype)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = first + _small(self, kept, most, bits)
        return out

    def _choose(self, many, p):
        """A number below 'many', all alike or by the weights 'p'."""
        assert 0 < many <= 0xFFFFFFFF
        if p is None:
            return _below(self, many - 1)
        assert len(p) == many
        return place(np.asarray(p), _double(self))

    def shuffle(self, x):
        assert x.ndim == 1 and x.shape[0] <= _M32
        for k in range(x.shape[0] - 1, 0, -1):
            j = _index(self, k)
            other = x[j]
            x[j] = x[k]
            x[k] = other


def pcg64(seed):
    seed = int(seed ^ 0)
    assert seed >= 0
    return _seeded(seed)


def generator(bit_generator):
    return Generator(bit_generator._pcg64_low, bit_generator._pcg64_high,
                     bit_generator._pcg64_step, bit_generator._pcg64_half)


def default_rng(seed):
    return generator(pcg64(seed))
