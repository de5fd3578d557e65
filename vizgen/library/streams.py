"""Random generators as arguments: what compiled code sees of them.

    default_rng(1)         Generator(low, ..., half)    see generators.py
    RandomState(1)         RandomState(words, gauss)    see random.py

The words are the memory of the generator itself; the second normal number of a
pair, which a RandomState keeps where nobody can reach it, is fetched before
compiled code runs ("enter") and given back after it ("leave").  A generator of
another kind, or one of a NumPy whose numbers are not those that were written
down here, has no such view; calls with it are Python's.
"""

import collections
import ctypes
import hashlib
import os
import threading

import numpy as np
import numpy.random

from . import generators, random

# Of what _sample draws, with the NumPy that all this was compared with.
_SAMPLE = "32691a53905a1ae7b7a0ed8f73e28387eb7902ae70110e1c2bf3f233091f8241"
_RLOCK = type(threading.RLock())
_MOST_KEPT = 64             # as many as a call may have arguments

_views = collections.OrderedDict()
_views_lock = threading.Lock()
_known = None


def _forked():
    """Another thread may have held the lock when this process was made."""
    global _views_lock
    _views_lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)


def _sample():
    """A digest of some of everything."""
    rng = np.random.Generator(np.random.PCG64(20240229))
    draws = [rng.random(500), rng.uniform(-1.1, 2.3, 500),
             rng.standard_normal(2000), rng.normal(0.1, 0.7, 500),
             rng.exponential(0.3, 2000), rng.integers(0, 10, 501),
             rng.integers(0, 3 * 2**61, 500), rng.permutation(100)]
    draws += [rng.integers(0, 200, 301, np.uint8), rng.random(100, np.float32),
              rng.integers(-9, 9999, 301, np.int16), rng.choice(7),
              rng.choice(4, p=[0.1, 0.2, 0.3, 0.4])]
    digest = hashlib.sha256()
    for draw in draws:
        digest.update(np.asarray(draw).astype("<f8").tobytes())
    return digest.hexdigest()


def known():
    """Are NumPy's numbers the ones that are known?"""
    global _known
    if _known is None:
        _known = generators.usable() and _sample() == _SAMPLE
    return _known


def view(source):
    """What compiled code sees of the generator; None: it sees nothing."""
    if type(source) is np.random.Generator:
        bits, make = source.bit_generator, _pcg64_view
    elif type(source) is np.random.RandomState:
        bits, make = source._bit_generator, random.view
    else:
        return None
    if random.GLOBAL and random.GLOBAL._source == (source, bits):
        return random.GLOBAL
    with _views_lock:
        kept = _views.get(id(source))
        if kept and kept._source[0] is source and kept._source[1] is bits:
            return kept
        made = make(source)
        if made is not None:
            _views[id(source)] = made
        if len(_views) > _MOST_KEPT:
            _views.popitem(last=False)
    return made


def sources():
    """The generators that have views."""
    with _views_lock:
        views = [*_views.values(), random.GLOBAL]
    return [one._source[0] for one in views if one is not None]


def memory():
    """The ids of the arrays that views have."""
    with _views_lock:
        views = [*_views.values(), random.GLOBAL]
    return {id(getattr(one, name)) for one in views if one is not None
            for name in one.__slots__ if name != "_source"}


def _pcg64_view(source):
    bits = source.bit_generator
    if type(bits) is not np.random.PCG64 or not known():
        return None
    at = bits.ctypes.state_address
    words = np.frombuffer((ctypes.c_uint64 * 4).from_address(
        ctypes.c_void_p.from_address(at).value), np.uint64)
    half = np.frombuffer((ctypes.c_uint32 * 2).from_address(
        at + ctypes.sizeof(ctypes.c_void_p)), np.uint32)
    state = bits.state
    number = [int(word) for word in words]
    if (number[0] | number[1] << 64 != state["state"]["state"]
            or number[2] | number[3] << 64 != state["state"]["inc"]
            or half.tolist() != [state["has_uint32"], state["uinteger"]]):
        return None
    made = generators.Generator(words[:1], words[1:2], words[2:], half)
    made._source = source, bits
    return made


# --- around a call ------------------------------------------------------------


def enter(views):
    """Takes the locks of all, always in the same order; None: one of them is
    not what it was made for."""
    locks = {id(lock): lock for lock in
             (one._source[1].lock for one in views)}
    taken = [locks[key] for key in sorted(locks)]
    states = [one for one in views if isinstance(one, random.RandomState)]
    if not all(type(lock) is _RLOCK for lock in taken):
        states = _fetched(states)  # NumPy takes the locks itself
    for lock in taken:
        lock.acquire()
    if states and all(type(lock) is _RLOCK for lock in taken):
        states = _fetched(states)
    if states is None:
        _release(taken)
        return None
    return states, taken


def leave(entered):
    states, taken = entered
    reentrant = all(type(lock) is _RLOCK for lock in taken)
    if not reentrant:
        _release(taken)
    for one in states:
        source, _ = one._source
        state = source.get_state(legacy=False)
        state["has_gauss"] = int(one._mt19937_gauss[0])
        state["gauss"] = float(one._mt19937_gauss[1])
        source.set_state(state)
    if reentrant:
        _release(taken)


def _release(locks):
    for lock in locks:
        lock.release()


def _fetched(states):
    """RandomStates whose second normal number is fetched; None: one has
    another bit generator by now."""
    for one in states:
        source, bits = one._source
        if source._bit_generator is not bits:
            return None
        state = source.get_state(legacy=False)
        one._mt19937_gauss[0] = state["has_gauss"]
        one._mt19937_gauss[1] = state["gauss"]
    return states
