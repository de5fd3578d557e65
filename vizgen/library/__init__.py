"""Library functions written in the Python that vizgen compiles.

A function of NumPy, or of heapq, that is no more than loops needs no rule of its
own in the compiler: it is written here once, and each call of it is specialised and
inlined like that of a user's function.  What stands here must do exactly what
theirs does, in values, types and exceptions; where it can't, an `assert`
fails, and the call is repeated in Python.

TABLE maps the name of a function to (module, function).
"""

from vizgen import lazy

_RANDOM = ("seed", "random", "random_sample", "ranf", "sample", "rand",
           "uniform", "randint", "randn", "standard_normal", "normal",
           "choice", "shuffle", "exponential", "permutation")

TABLE = {f"numpy.random.{name}": ("random", name) for name in _RANDOM}
TABLE["numpy.random.RandomState"] = ("random", "random_state")
_STREAMS = {f"numpy.random.{name}": ("generators", function)
            for name, function in (("default_rng", "default_rng"),
                                   ("Generator", "generator"),
                                   ("PCG64", "pcg64"))}
TABLE |= _STREAMS
TABLE |= {f"heapq.{name}": ("heaps", name)
          for name in ("heappush", "heappop", "heapify", "heapreplace",
                       "heappushpop")}
TABLE["numpy.linalg.norm"] = ("linalg", "norm")
TABLE["numpy.cross"] = ("linalg", "cross")
TABLE["numpy.angle"] = ("pairs", "angle")
TABLE |= {f"numpy.{name}": ("shapes", name)
          for name in ("eye", "identity", "flip", "flipud", "fliplr", "roll",
                       "pad", "array_equal", "outer")}
TABLE |= {f"numpy.{name}": ("numeric", name)
          for name in ("cumsum", "cumprod", "diff", "gradient", "trapezoid",
                       "trace", "polyval", "average", "nansum", "nanmean",
                       "nanmin", "nanmax", "median", "percentile", "quantile",
                       "interp", "searchsorted", "bincount", "histogram",
                       "convolve", "correlate", "isclose", "allclose",
                       "unravel_index", "unique", "append")}
TABLE |= {f"numpy.ndarray.{name}": ("numeric", name)
          for name in ("cumsum", "cumprod", "trace")}
TABLE["numpy.ndarray.sort"] = ("shapes", "sort_in_place")


def find(name):
    """The function that stands for library function 'name', or None."""
    row = TABLE.get(name)
    if row is None:
        return None
    if name in _STREAMS and not _streams_known():
        return None
    module = lazy.load(f"{__name__}.{row[0]}")
    return getattr(module, row[1])


def _streams_known():
    return lazy.load(f"{__name__}.streams").known()  # slow to import
