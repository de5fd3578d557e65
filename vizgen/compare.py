"""Copies of arguments that keep how they overlap, and comparison by bits."""
import copy
import sys
import types

import numpy as np

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def clone(values):
    """A deep copy of a tuple of arguments.

    Arrays keep dtype, shape and strides; arrays that share memory in
    'values' share memory in the copy, at the same distances.
    """
    return _clone(values, {})


def _clone(value, known):
    if isinstance(value, np.ndarray):
        return _clone_array(value, known)
    if type(value) in (tuple, list):
        return type(value)(_clone(item, known) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = tuple(_clone(item, known) for item in value)
        return tuple.__new__(type(value), items)
    if type(value) is dict:
        return {key: _clone(item, known) for key, item in value.items()}
    if is_stream(value):    # two may draw from one bit generator
        return copy.deepcopy(value, known.setdefault("streams", {}))
    return _clone_object(value, known) if is_plain_object(value) else value


def is_stream(value):
    """Is it one of NumPy's random generators?"""
    random = sys.modules.get("numpy.random")
    return random is not None and isinstance(
        value, (random.Generator, random.RandomState))


def stream_state(stream):
    """What the next numbers depend on."""
    if hasattr(stream, "bit_generator"):
        return stream.bit_generator.state
    return stream.get_state(legacy=False)


def is_plain_object(value):
    """Is it an object whose attributes are all that it is?"""
    bases = type(value).__mro__[:-1]
    return not isinstance(value, type) and bool(bases) and all(
        base.__flags__ & _HEAP_TYPE or base is types.SimpleNamespace
        for base in bases)


def attributes(value):
    """The attributes of an object and its slots by name."""
    names = dict(getattr(value, "__dict__", ()))
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                names[name] = getattr(value, name)
    return names


def _clone_object(value, known):
    if id(value) not in known:
        try:
            out = object.__new__(type(value))
        except TypeError:  # a class of C's
            return value
        known[id(value)] = out, value
        for name, item in attributes(value).items():
            object.__setattr__(out, name, _clone(item, known))
    return known[id(value)][0]


def _clone_array(array, known):
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    whole = owner.flags.c_contiguous or owner.flags.f_contiguous
    if type(array) is not np.ndarray or array.dtype.hasobject or not whole:
        return array.copy(order="K")
    if id(owner) not in known:
        flat = np.array(owner.T if owner.flags.f_contiguous else owner)
        # The second element keeps 'owner' alive, so that its id stays its own.
        known[id(owner)] = flat.reshape(-1).view(np.uint8), owner
    memory = known[id(owner)][0]
    out = np.ndarray(array.shape, array.dtype, memory,
                     address(array) - address(owner), array.strides)
    out.flags.writeable = array.flags.writeable
    return out


def address(array):
    """Where the first element of 'array' lies."""
    return array.__array_interface__["data"][0]


def difference(got, want, place="result", seen=()):
    """None when 'got' is 'want' in types, dtypes, shapes and bits, else the
    first difference in words.  Any NaN equals any other."""
    if type(got) is not type(want):
        return (f"{place}: type {type(got).__name__} "
                f"instead of {type(want).__name__}")
    if isinstance(want, (np.ndarray, np.generic)):
        return _numpy_difference(got, want, place)
    if isinstance(want, float):
        return _numpy_difference(np.float64(got), np.float64(want), place)
    if isinstance(want, complex):
        return _numpy_difference(np.complex128(got), np.complex128(want),
                                 place)
    if isinstance(want, (tuple, list)):
        return _sequence_difference(got, want, place, seen)
    if isinstance(want, dict):
        if list(got) != list(want):
            return f"{place}: other keys"
        return _sequence_difference(list(got.values()), list(want.values()),
                                    place, seen)
    if is_stream(want):
        return difference(stream_state(got), stream_state(want),
                          place + " (its state)")
    if is_plain_object(want):
        return _object_difference(got, want, place, seen)
    return None if got == want else f"{place}: {got!r} instead of {want!r}"


def _object_difference(got, want, place, seen):
    if (id(got), id(want)) in seen:
        return None
    mine, theirs = attributes(got), attributes(want)
    if list(mine) != list(theirs):
        return f"{place}: other attributes"
    seen = seen + ((id(got), id(want)),)
    for name, value in theirs.items():
        words = difference(mine[name], value, f"{place}.{name}", seen)
        if words:
            return words
    return None


def _sequence_difference(got, want, place, seen):
    if len(got) != len(want):
        return f"{place}: length {len(got)} instead of {len(want)}"
    for k, (mine, theirs) in enumerate(zip(got, want)):
        words = difference(mine, theirs, f"{place}[{k}]", seen)
        if words:
            return words
    return None


def _numpy_difference(got, want, place):
    if got.dtype != want.dtype:
        return f"{place}: dtype {got.dtype} instead of {want.dtype}"
    if got.shape != want.shape:
        return f"{place}: shape {got.shape} instead of {want.shape}"
    if want.dtype.kind == "c":
        return (_numpy_difference(got.real, want.real, place + ".real")
                or _numpy_difference(got.imag, want.imag, place + ".imag"))
    bad = got != want
    if want.dtype.kind == "f":
        signs = np.signbit(got) != np.signbit(want)
        bad = (bad | signs) & ~(np.isnan(got) & np.isnan(want))
    if not np.any(bad):
        return None
    spot = tuple(int(i) for i in np.argwhere(bad)[0]) if want.ndim else ()
    where = place + (str(list(spot)) if spot else "")
    return (f"{where}: {got[spot]!r} instead of {want[spot]!r} "
            f"({np.count_nonzero(bad)} of {np.size(want)} differ)")
