"""pow(x, 2) without the call (FN_SQUARE) is libm's, bit for bit.

tests/unit/prelude_square.c draws the numbers: random bits, ordinary sizes,
and squares constructed to lie near a midpoint of two doubles or where
vz_square begins to call pow.
"""
import ctypes
import ctypes.util
import math
import pathlib
import platform
import shutil
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ("-std=gnu11 -O3 -march=native -ffp-contract=off -fno-math-errno "
         "-fno-trapping-math -fwrapv -fno-strict-aliasing -fopenmp-simd "
         "-fPIC -shared -Wall -Wextra -Werror").split()
# The versions that csrc/run/host.c lists.
KNOWN = platform.libc_ver()[0] == "glibc"
KINDS = {"bits": 0, "ordinary": 1, "midpoint": 2, "margin": 3}
POINTER = ctypes.POINTER(ctypes.c_double)
SPECIALS = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324,
            1e-308, 2.0**-100, 2.0**-99.5, 2.0**100, 1.5e-162, 1.3407807929942596e154,
            1.3407807929942599e154, 1e300, -1e300, 3.0, 2.0**53 + 2, 1 + 2.0**-52]

pytestmark = pytest.mark.skipif(not KNOWN, reason="needs glibc")


def libm_pow():
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    return ctypes.cast(libm.pow, ctypes.c_void_p)


@pytest.fixture(scope="module", params=["gcc", "clang"])
def library(request, tmp_path_factory):
    if not shutil.which(request.param):
        pytest.skip(f"needs {request.param}")
    path = tmp_path_factory.mktemp("powers") / "square.so"
    subprocess.run([request.param, *FLAGS, f"-I{ROOT}",
                    str(ROOT / "tests/unit/prelude_square.c"), "-o",
                    str(path), "-lm"], check=True)
    library = ctypes.CDLL(str(path))
    library.check_square.restype = ctypes.c_long
    library.check_square.argtypes = [
        ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_long,
        ctypes.POINTER(ctypes.c_long), POINTER]
    library.check_vector.restype = ctypes.c_long
    library.check_vector.argtypes = [
        ctypes.c_void_p, POINTER, POINTER, ctypes.POINTER(ctypes.c_uint8),
        ctypes.c_long]
    library.fill_numbers.argtypes = [ctypes.c_int, ctypes.c_uint64, POINTER,
                                     ctypes.c_long]
    library.one_square.restype = ctypes.c_double
    library.one_square.argtypes = [ctypes.c_void_p, ctypes.c_double]
    return library


def address(array, kind=ctypes.c_double):
    return array.ctypes.data_as(ctypes.POINTER(kind))


def numbers(library, kind, n, seed):
    out = np.empty(n)
    library.fill_numbers(KINDS[kind], seed, address(out), n)
    return out


@pytest.mark.parametrize("kind, n", [("bits", 6_000_000),
                                     ("ordinary", 8_000_000),
                                     ("midpoint", 2_000_000),
                                     ("margin", 2_000_000)])
def test_square_is_libms_pow(library, kind, n):
    called, worst = ctypes.c_long(0), ctypes.c_double(1.0)
    bad = library.check_square(libm_pow(), KINDS[kind], 2026 + n, n,
                               ctypes.byref(called), ctypes.byref(worst))
    assert bad == 0
    if library.has_fma() and kind == "ordinary":
        # x*x is not pow(x, 2) only close to a midpoint, as documented, and
        # the call is rare.
        assert worst.value > 0.4857
        assert called.value < 0.05 * n


@pytest.mark.parametrize("kind", KINDS)
def test_vector_form_decides_alike(library, kind):
    x = numbers(library, kind, 200_001, 7)
    out, sure = np.empty_like(x), np.empty(len(x), np.uint8)
    bad = library.check_vector(libm_pow(), address(x), address(out),
                               address(sure, ctypes.c_uint8), len(x))
    assert bad == 0
    assert set(np.unique(sure)) <= {0, 1}


def same(a, b):
    return (a != a and b != b) or (a == b and
                                   math.copysign(1, a) == math.copysign(1, b))


def python_square(x):
    try:
        return x**2.0
    except OverflowError:
        return math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_square_is_pythons(library, kind):
    pow_ = libm_pow()
    values = [*SPECIALS, *numbers(library, kind, 10_000, 99).tolist()]
    for x in values:
        assert same(library.one_square(pow_, x), python_square(x)), x.hex()


def test_square_is_that_of_numpys_scalars(library):
    pow_ = libm_pow()
    with np.errstate(all="ignore"):
        for x in numbers(library, "ordinary", 10_000, 5):
            assert same(library.one_square(pow_, float(x)), float(x**2.0))
            assert same(library.one_square(pow_, float(x)),
                        float(np.float64(x) ** 2))
