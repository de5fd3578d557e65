"""np.random's functions on the global state, and RandomState: the same numbers,
and the same state afterwards.

The state of NumPy's Mersenne Twister (624 words and a position) is memory,
which a RandomState as compiled code sees it has as an array; so compiled code
draws from it as from any array, and a call that must be repeated finds it as it
was.  The second number of a pair of normal ones is kept by NumPy in a place of
its own; an array of two numbers holds it while compiled code runs (see
streams.py).  The functions of np.random are methods of one RandomState.

The algorithms are those of NumPy's legacy generator: M. Matsumoto and
T. Nishimura, "Mersenne Twister", ACM TOMACS 8, 1998; 53 bits of two words for
a double; Marsaglia's polar method for normal numbers; rejection under a mask
for integers.
"""

import ctypes
import math

import numpy as np
import numpy.random

WORDS = 624


# --- words -------------------------------------------------------------------


def _mixed(mt, at, following, far):
    word = (mt[at] & 0x80000000) | (mt[following] & 0x7FFFFFFF)
    mt[at] = mt[far] ^ (word >> 1) ^ ((word & 1) * np.uint32(0x9908B0DF))


def _refill(mt):
    for k in range(227):
        _mixed(mt, k, k + 1, k + 397)
    for k in range(227, 623):
        _mixed(mt, k, k + 1, k - 227)
    _mixed(mt, 623, 0, 396)
    mt[624] = 0


def _word(mt):
    if mt[624] == 624:
        _refill(mt)
    at = int(mt[624])
    mt[624] = at + 1
    y = mt[at]
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    return y ^ (y >> 18)


def _double(mt):
    high = int(_word(mt)) >> 5
    low = int(_word(mt)) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


def _gauss(mt, kept):
    if kept[0] != 0.0:
        second = float(kept[1])
        kept[0] = 0.0
        kept[1] = 0.0
        return second
    r2 = 0.0
    x1 = 0.0
    x2 = 0.0
    while r2 >= 1.0 or r2 == 0.0:
        x1 = 2.0 * _double(mt) - 1.0
        x2 = 2.0 * _double(mt) - 1.0
        r2 = x1 * x1 + x2 * x2
    f = math.sqrt(-2.0 * math.log(r2) / r2)
    kept[0] = 1.0
    kept[1] = f * x1
    return f * x2


def _mask(most):
    mask = most
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    return mask


def _below(mt, most):
    """0 to 'most', which must be less than 2**32 - 1."""
    if most == 0:
        return 0
    mask = _mask(most)
    value = int(_word(mt)) & mask
    while value > most:
        value = int(_word(mt)) & mask
    return value


def is_spread(scale):
    """May it be one?  -0.0 may not."""
    return scale > 0.0 or (scale == 0.0 and math.copysign(1.0, scale) > 0.0)


def place(p, x):
    """Which of the weights of 'p' a number from 0 to 1 falls upon."""
    total = 0.0
    sure = 0.0
    lost = 0.0
    for k in range(p.shape[0]):
        weight = float(p[k])
        assert weight >= 0.0
        total += weight
        part = weight - lost
        new = sure + part
        lost = (new - sure) - part
        sure = new
    assert abs(sure - 1.0) <= 1e-8
    at = 0
    sofar = float(p[0])
    while sofar / total <= x:
        at += 1
        sofar += float(p[at])
    return at


# --- RandomState -------------------------------------------------------------


class Draws:
    """What RandomState and Generator draw by methods of their own: _choose(many,
    p), a number below 'many', and shuffle(x)."""

    __slots__ = ()

    def choice(self, a, size=None, replace=True, p=None):
        assert replace
        if isinstance(a, int):
            if size is None:
                return self._choose(a, p)
            out = np.empty(size, dtype=np.int64)
            flat = out.reshape(-1)
            assert p is None or flat.shape[0] > 0
            for k in range(flat.shape[0]):
                flat[k] = self._choose(a, p)
            return out
        items = np.asarray(a)
        assert items.ndim == 1
        if size is None:
            return items[self._choose(items.shape[0], p)]
        out = np.empty(size, dtype=items.dtype)
        flat = out.reshape(-1)
        assert p is None or flat.shape[0] > 0
        for k in range(flat.shape[0]):
            flat[k] = items[self._choose(items.shape[0], p)]
        return out

    def permutation(self, x):
        if isinstance(x, int):
            out = np.arange(x)
        else:
            assert x.ndim == 1
            out = x.copy()
        self.shuffle(out)
        return out


class RandomState(Draws):
    """What compiled code sees of numpy.random.RandomState."""

    __slots__ = ("_mt19937_words", "_mt19937_gauss", "_source")

    def __init__(self, words, gauss):
        self._mt19937_words = words
        self._mt19937_gauss = gauss

    def seed(self, seed=None):
        assert seed is not None and 0 <= seed <= 0xFFFFFFFF
        mt = self._mt19937_words
        word = int(seed)
        for k in range(624):
            mt[k] = word
            word = ((word ^ (word >> 30)) * 1812433253 + k + 1) & 0xFFFFFFFF
        mt[624] = 624
        self._mt19937_gauss[0] = 0.0
        self._mt19937_gauss[1] = 0.0

    def random_sample(self, size=None):
        mt = self._mt19937_words
        if size is None:
            return _double(mt)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = _double(mt)
        return out

    def random(self, size=None):
        return self.random_sample(size)

    def rand(self, d0=None, d1=None, d2=None):
        if d0 is None:
            return _double(self._mt19937_words)
        if d1 is None:
            return self.random_sample((d0,))
        if d2 is None:
            return self.random_sample((d0, d1))
        return self.random_sample((d0, d1, d2))

    def uniform(self, low=0.0, high=1.0, size=None):
        mt = self._mt19937_words
        low = float(low)
        width = float(high) - low
        assert math.isfinite(width)
        if size is None:
            return low + width * _double(mt)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = low + width * _double(mt)
        return out

    def randint(self, low, high=None, size=None):
        mt = self._mt19937_words
        if high is None:
            high = low
            low = 0
        most = int(high) - 1 - int(low)
        assert 0 <= most < 0xFFFFFFFF
        if size is None:
            return int(low) + _below(mt, most)
        out = np.empty(size, dtype=np.int64)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = low + _below(mt, most)
        return out

    def standard_normal(self, size=None):
        mt = self._mt19937_words
        kept = self._mt19937_gauss
        if size is None:
            return _gauss(mt, kept)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = _gauss(mt, kept)
        return out

    def randn(self, d0=None, d1=None, d2=None):
        if d0 is None:
            return _gauss(self._mt19937_words, self._mt19937_gauss)
        if d1 is None:
            return self.standard_normal((d0,))
        if d2 is None:
            return self.standard_normal((d0, d1))
        return self.standard_normal((d0, d1, d2))

    def normal(self, loc=0.0, scale=1.0, size=None):
        mt = self._mt19937_words
        kept = self._mt19937_gauss
        loc = float(loc)
        scale = float(scale)
        assert is_spread(scale)
        if size is None:
            return loc + scale * _gauss(mt, kept)
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = loc + scale * _gauss(mt, kept)
        return out

    def exponential(self, scale=1.0, size=None):
        mt = self._mt19937_words
        scale = float(scale)
        assert is_spread(scale)
        if size is None:
            return scale * -math.log(1.0 - _double(mt))
        out = np.empty(size)
        flat = out.reshape(-1)
        for k in range(flat.shape[0]):
            flat[k] = scale * -math.log(1.0 - _double(mt))
        return out

    def _choose(self, many, p):
        """A number below 'many', all alike or by the weights 'p'."""
        assert 0 < many <= 0xFFFFFFFF
        if p is None:
            return _below(self._mt19937_words, many - 1)
        assert len(p) == many
        return place(np.asarray(p), _double(self._mt19937_words))

    def shuffle(self, x):
        mt = self._mt19937_words
        assert x.ndim == 1
        for k in range(x.shape[0] - 1, 0, -1):
            j = _below(mt, k)
            other = x[j]
            x[j] = x[k]
            x[k] = other


def random_state(seed):
    made = RandomState(np.zeros(625, np.uint32), np.zeros(2))
    made.seed(seed)
    return made


# --- NumPy's functions -------------------------------------------------------


def view(source):
    """What compiled code sees of a RandomState of NumPy's, or None."""
    bits = source._bit_generator
    if type(bits) is not numpy.random.MT19937:
        return None
    words = (ctypes.c_uint32 * (WORDS + 1)).from_address(
        bits.ctypes.state_address)
    made = RandomState(np.frombuffer(words, np.uint32), np.zeros(2))
    made._source = source, bits
    return made


GLOBAL = view(numpy.random.mtrand._rand)


def seed(seed=None):
    GLOBAL.seed(seed)


def random_sample(size=None):
    return GLOBAL.random_sample(size)


def random(size=None):
    return GLOBAL.random_sample(size)


def ranf(size=None):
    return GLOBAL.random_sample(size)


def sample(size=None):
    return GLOBAL.random_sample(size)


def rand(d0=None, d1=None, d2=None):
    return GLOBAL.rand(d0, d1, d2)


def uniform(low=0.0, high=1.0, size=None):
    return GLOBAL.uniform(low, high, size)


def randint(low, high=None, size=None):
    return GLOBAL.randint(low, high, size)


def standard_normal(size=None):
    return GLOBAL.standard_normal(size)


def randn(d0=None, d1=None, d2=None):
    return GLOBAL.randn(d0, d1, d2)


def normal(loc=0.0, scale=1.0, size=None):
    return GLOBAL.normal(loc, scale, size)


def exponential(scale=1.0, size=None):
    return GLOBAL.exponential(scale, size)


def choice(a, size=None, replace=True, p=None):
    return GLOBAL.choice(a, size, replace, p)


def shuffle(x):
    GLOBAL.shuffle(x)


def permutation(x):
    return GLOBAL.permutation(x)
