"""np.random's functions on the global state: the same numbers, and the same
state afterwards.

The state of NumPy's Mersenne Twister (624 words and a position) is memory,
which STATE names as an array; so compiled code draws from it as from any array
of a module, and a call that must be repeated finds it as it was.  The second
number of a pair of normal ones is kept by NumPy in a place of its own: GAUSS
holds it while compiled code runs (enter, leave).

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
GLOBAL = numpy.random.mtrand._rand
SOURCE = GLOBAL._bit_generator


def _state():
    address = SOURCE.ctypes.state_address
    words = (ctypes.c_uint32 * (WORDS + 1)).from_address(address)
    return np.frombuffer(words, np.uint32)


STATE = _state()
GAUSS = np.zeros(2)  # is there a number, and which


def usable():
    """Is the global state still the one that STATE names?"""
    return (GLOBAL._bit_generator is SOURCE
            and type(SOURCE).__name__ == "MT19937")


def enter():
    """Takes the kept normal number over; False: leave it all to NumPy."""
    if not usable():
        return False
    state = GLOBAL.get_state(legacy=False)
    SOURCE.lock.acquire()
    GAUSS[0] = state["has_gauss"]
    GAUSS[1] = state["gauss"]
    return True


def leave():
    """Gives it back."""
    SOURCE.lock.release()
    state = GLOBAL.get_state(legacy=False)
    state["has_gauss"] = int(GAUSS[0])
    state["gauss"] = float(GAUSS[1])
    GLOBAL.set_state(state)


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


def _word():
    mt = STATE
    if mt[624] == 624:
        _refill(mt)
    at = int(mt[624])
    mt[624] = at + 1
    y = mt[at]
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    return y ^ (y >> 18)


def _double():
    high = int(_word()) >> 5
    low = int(_word()) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


def _gauss():
    if GAUSS[0] != 0.0:
        kept = float(GAUSS[1])
        GAUSS[0] = 0.0
        GAUSS[1] = 0.0
        return kept
    r2 = 0.0
    x1 = 0.0
    x2 = 0.0
    while r2 >= 1.0 or r2 == 0.0:
        x1 = 2.0 * _double() - 1.0
        x2 = 2.0 * _double() - 1.0
        r2 = x1 * x1 + x2 * x2
    f = math.sqrt(-2.0 * math.log(r2) / r2)
    GAUSS[0] = 1.0
    GAUSS[1] = f * x1
    return f * x2


def _mask(most):
    mask = most
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    return mask


def _below(most):
    """0 to 'most', which must be less than 2**32 - 1."""
    if most == 0:
        return 0
    mask = _mask(most)
    value = int(_word()) & mask
    while value > most:
        value = int(_word()) & mask
    return value


# --- NumPy's functions -------------------------------------------------------


def seed(seed=None):
    assert seed is not None and 0 <= seed <= 0xFFFFFFFF
    mt = STATE
    word = int(seed)
    for k in range(624):
        mt[k] = word
        word = ((word ^ (word >> 30)) * 1812433253 + k + 1) & 0xFFFFFFFF
    mt[624] = 624
    GAUSS[0] = 0.0
    GAUSS[1] = 0.0


def random_sample(size=None):
    if size is None:
        return _double()
    out = np.empty(size)
    flat = out.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = _double()
    return out


def random(size=None):
    return random_sample(size)


def ranf(size=None):
    return random_sample(size)


def sample(size=None):
    return random_sample(size)


def rand(d0=None, d1=None, d2=None):
    if d0 is None:
        return _double()
    if d1 is None:
        return random_sample((d0,))
    if d2 is None:
        return random_sample((d0, d1))
    return random_sample((d0, d1, d2))


def uniform(low=0.0, high=1.0, size=None):
    low = float(low)
    width = float(high) - low
    assert math.isfinite(width)
    if size is None:
        return low + width * _double()
    out = np.empty(size)
    flat = out.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = low + width * _double()
    return out


def randint(low, high=None, size=None):
    if high is None:
        high = low
        low = 0
    most = int(high) - 1 - int(low)
    assert 0 <= most < 0xFFFFFFFF
    if size is None:
        return int(low) + _below(most)
    out = np.empty(size, dtype=np.int64)
    flat = out.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = low + _below(most)
    return out


def standard_normal(size=None):
    if size is None:
        return _gauss()
    out = np.empty(size)
    flat = out.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = _gauss()
    return out


def randn(d0=None, d1=None, d2=None):
    if d0 is None:
        return _gauss()
    if d1 is None:
        return standard_normal((d0,))
    if d2 is None:
        return standard_normal((d0, d1))
    return standard_normal((d0, d1, d2))


def normal(loc=0.0, scale=1.0, size=None):
    loc = float(loc)
    scale = float(scale)
    assert scale >= 0.0
    if size is None:
        return loc + scale * _gauss()
    out = np.empty(size)
    flat = out.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = loc + scale * _gauss()
    return out


def choice(a, size=None):
    assert size is None and a.ndim == 1
    return a[_below(a.shape[0] - 1)]


def shuffle(x):
    assert x.ndim == 1
    for k in range(x.shape[0] - 1, 0, -1):
        j = _below(k)
        other = x[j]
        x[j] = x[k]
        x[k] = other
