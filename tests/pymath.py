"""Programs with functions of Python's math, for test_forms.py."""
import math

import numpy as np

from tests.forms import NAN, program

AWKWARD = [0.0, -0.0, 1.0, -1.5, 0.5, 2.675, 1e-5, 1e300, -1e308, 5e-324, 1e-310,
           math.inf, -math.inf, NAN, 0.125, 2.5, 1 / 3, 123456.789, 2.0 ** 52, 1e16]
PAIRS = [(x, y) for x in AWKWARD for y in (0.0, -3.0, 1e-308, 1e308, NAN, math.inf)]
RANDOM = [tuple(v) for v in np.random.RandomState(1).standard_cauchy((200, 3)).tolist()]


@program(*PAIRS, replays=6)
def hypot_of_two(x, y):
    return math.hypot(x, y)


@program(*RANDOM)
def hypot_and_dist(x, y, z):
    return (math.hypot(x, y), math.hypot(x, y, z), math.hypot(x), math.hypot(),
            math.dist((x, y), (z, 1)), math.hypot(int(x), y))


@program(*[(x,) for x in AWKWARD])
def rounded(x):
    return round(x, 2), round(x, 1), round(x, 0), round(x, 5)


@program(*[(x,) for x, _, _ in RANDOM])
def rounded_randomly(x):
    return round(x, 2), round(x, 3), round(x * 100, 1), round(x / 7, 12)


@program((3, np.float64(2.675), np.float32(2.675), np.int16(7), True),
         (-12, np.float64(-0.001), np.float32(1234.5678), np.int16(-7), False))
def rounded_kinds(n, x, y, k, b):
    return (round(n, 2), round(x, 2), round(y, 1), round(k, 1), round(b, 3),
            round(x, None))


@program((8, 2), (1000, 10), (2 ** 62, 7), (5, 0.5))
def logarithms(n, base):
    return math.log(n), math.log2(n), math.log10(n), math.log(n, base), math.log(n, 3)


@program(*[(x,) for x in AWKWARD], *[(x,) for x, _, _ in RANDOM], (3,), (True,))
def defined_everywhere(x):
    return (math.cbrt(x), math.erf(x), math.erfc(x), math.atan(x), math.tanh(x),
            math.asinh(x))


@program((0,), (-3,), replays=2)
def logarithm_of_none(n):
    return math.log(n)


@program((12, 18), (0, 5), (-4, 6), (2 ** 62, 3 * 2 ** 40), (0, 0))
def divisors(a, b):
    return math.gcd(a, b), math.gcd(b, a)


@program(*[(n,) for n in (0, 1, 2, 3, 4, 15, 16, 17, 2 ** 52, 2 ** 62 - 1, 2 ** 63 - 1,
                          3037000499 ** 2, 3037000499 ** 2 - 1)])
def integer_roots(n):
    return math.isqrt(n)


@program((1.0, 1.0 + 1e-10), (1.0, 1.1), (math.inf, math.inf), (math.inf, 1.0),
         (NAN, NAN), (0.0, 1e-12))
def close(a, b):
    return (math.isclose(a, b), math.isclose(a, b, rel_tol=0.2),
            math.isclose(a, b, abs_tol=1e-9))


@program((2.75,), (-2.75,), (math.inf,), (-math.inf,), (-0.0,), (3,))
def fractions(x):
    return math.modf(x), math.trunc(x) if math.isfinite(x) else 0


@program((np.arange(1.0, 5.0), 3), (np.zeros(0), 2))
def products_of(a, n):
    return (math.prod(a), math.prod((n, 2, 2.5)), math.prod([n] * 3, start=2),
            math.prod(range(1, n + 4)), math.prod(v + 1 for v in a))
