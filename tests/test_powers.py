"""pow(x, 2) and pow(x, 0.5) without the call (FN_SQUARE, FN_ROOT) are libm's,
bit for bit.

tests/unit/prelude_square.c draws the numbers: random bits, ordinary sizes,
and squares constructed to lie near a midpoint of two doubles or where
vz_square begins to call pow.
"""
import ctypes
import ctypes.util
import math
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

from vizgen import accelerate

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ("-std=gnu11 -O3 -march=native -ffp-contract=off -fno-math-errno "
         "-fno-trapping-math -fwrapv -fno-strict-aliasing -fopenmp-simd "
         "-fPIC -shared -Wall -Wextra -Werror").split()
# The versions that csrc/run/host.c lists.
KNOWN = platform.libc_ver()[0] == "glibc"
# VzHost.pow_slack of a libm whose pow is compiled without fma, or with it.
PLAIN, FUSED = 1.029, 1.0235
KINDS = {"bits": 0, "ordinary": 1, "midpoint": 2, "margin": 3, "root": 4}
POINTER = ctypes.POINTER(ctypes.c_double)
SPECIALS = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324,
            1e-308, 2.0**-100, 2.0**-99.5, 2.0**100, 1.5e-162, 1.3407807929942596e154,
            1.3407807929942599e154, 1e300, -1e300, 3.0, 2.0**53 + 2, 1 + 2.0**-52]

pytestmark = [pytest.mark.skipif(not KNOWN, reason="needs glibc"),
              pytest.mark.usefixtures("usual_compiler")]


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
    return load(path)


def load(path):
    """The functions of the library at 'path'."""
    library = ctypes.CDLL(str(path))
    library.check_square.restype = ctypes.c_long
    library.check_square.argtypes = [
        ctypes.c_void_p, ctypes.c_double, ctypes.c_int, ctypes.c_uint64,
        ctypes.c_long,
        ctypes.POINTER(ctypes.c_long), POINTER]
    library.check_vector.restype = ctypes.c_long
    library.check_vector.argtypes = [
        ctypes.c_void_p, ctypes.c_double, POINTER, POINTER,
        ctypes.POINTER(ctypes.c_uint8), ctypes.c_long]
    library.check_lanes.restype = ctypes.c_long
    library.check_lanes.argtypes = [ctypes.c_void_p, ctypes.c_double, POINTER,
                                    POINTER, ctypes.c_long]
    library.check_rows.restype = ctypes.c_long
    library.check_rows.argtypes = library.check_lanes.argtypes
    library.fill_numbers.argtypes = [ctypes.c_int, ctypes.c_uint64, POINTER,
                                     ctypes.c_long]
    library.one_square.restype = ctypes.c_double
    library.one_square.argtypes = [ctypes.c_void_p, ctypes.c_double,
                                   ctypes.c_double]
    library.slack = FUSED if library.has_fma() else PLAIN
    return library


def address(array, kind=ctypes.c_double):
    return array.ctypes.data_as(ctypes.POINTER(kind))


def numbers(library, kind, n, seed):
    out = np.empty(n)
    library.fill_numbers(KINDS[kind], seed, address(out), n)
    return out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind, n", [("bits", 6_000_000),
                                     ("ordinary", 8_000_000),
                                     ("midpoint", 2_000_000),
                                     ("margin", 2_000_000)])
def test_square_is_libms_pow(library, kind, n):
    called, worst = ctypes.c_long(0), ctypes.c_double(1.0)
    bad = library.check_square(libm_pow(), library.slack, KINDS[kind],
                               2026 + n, n, ctypes.byref(called),
                               ctypes.byref(worst))
    assert bad == 0
    if library.has_fma() and kind == "ordinary":
        # x*x is not pow(x, 2) only close to a midpoint, as documented, and
        # the call is rare.
        assert worst.value > 0.5 / FUSED
        assert called.value < 0.027 * n


@pytest.mark.parametrize("kind", KINDS)
def test_vector_form_decides_alike(library, kind):
    x = numbers(library, kind, 200_001, 7)
    out, sure = np.empty_like(x), np.empty(len(x), np.uint8)
    bad = library.check_vector(libm_pow(), library.slack, address(x), address(out),
                               address(sure, ctypes.c_uint8), len(x))
    assert bad == 0
    assert set(np.unique(sure)) <= {0, 1}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_forms_for_lanes_are_libms_pow(library, kind, known):
    slack = library.slack if known else math.nan
    x = np.concatenate([SPECIALS, numbers(library, kind, 1_000_003, 11)])
    for values in (x, np.abs(x), x[:7], x[:3], x[:0]):
        out = np.empty_like(values)
        assert library.check_lanes(libm_pow(), slack, address(values),
                                   address(out), len(values)) == 0
        assert library.check_rows(libm_pow(), slack, address(values),
                                  address(out), len(values)) == 0


IN_PLAIN = """
import ctypes, sys
import numpy as np
from tests import test_powers as t
library = t.load(sys.argv[1])
called, worst = ctypes.c_long(0), ctypes.c_double(1.0)
for kind in t.KINDS:
    assert library.check_square(t.libm_pow(), t.PLAIN, t.KINDS[kind], 77,
                                1_000_000, ctypes.byref(called),
                                ctypes.byref(worst)) == 0, kind
f = t.accelerate(t.moved)
img = np.random.default_rng(3).random((40, 3000))
got, want = np.zeros(img.shape), np.zeros(img.shape)
f(img, got)
t.moved(img, want)
assert got.tobytes() == want.tobytes() and f.stats.python_calls == 0
"""


def test_pow_without_fma(library):
    """glibc's other pow, which it takes on processors without FMA, has larger
    errors; a new process notices which one it has."""
    names = ("AVX2", "FMA", "AVX2_Usable", "FMA_Usable")
    tunables = "glibc.cpu.hwcaps=" + ",".join("-" + name for name in names)
    subprocess.run([sys.executable, "-c", IN_PLAIN, library._name], check=True,
                   cwd=ROOT, env={**os.environ, "GLIBC_TUNABLES": tunables,
                                  "PYTHONPATH": str(ROOT)})


def moved(img, out):
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            d = img[r, c] - 0.3
            out[r, c] = d ** 2 + img[r, c] ** 0.5


def weak(x):
    return x ** 2, x ** 0.5, (-x) ** 2.0


@pytest.mark.parametrize("shape", [(40, 301), (3, 5), (1, 1), (0, 4), (7, 8)])
def test_kernels_in_lanes(shape):
    f = accelerate(moved)
    rng = np.random.default_rng(3)
    img = rng.random(shape) * 10.0 ** rng.integers(-5, 5, shape)
    for view in (img, img[:, ::-1], np.asfortranarray(img)):
        got, want = np.zeros(shape), np.zeros(shape)
        f(view, got)
        moved(view, want)
        assert got.tobytes() == want.tobytes()
    assert f.stats.python_calls == 0
    if img.size:
        assert "several rounds" in str(f.explain(img, got))


def test_powers_of_python_floats():
    f = accelerate(weak)
    for x in (0.0, 0.25, 2.0, 1e-300, 1e150, math.inf, math.nan, 0.1, 3.3):
        assert all(map(same, f(x), weak(x)))
    assert f.stats.python_calls == 0


def test_warnings_of_powers_in_lanes():
    img = np.full((4, 40), 2.0)
    img[2, 17] = 1e200
    img[3, 3] = -1.0
    seen = []
    for call in (accelerate(moved), moved):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(img, np.zeros(img.shape))
        seen.append(sorted({str(w.message) for w in caught}))
    assert seen[0] == seen[1] != []


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
        got = library.one_square(pow_, library.slack, x)
        assert same(got, python_square(x)), x.hex()


def test_square_is_that_of_numpys_scalars(library):
    pow_ = libm_pow()
    with np.errstate(all="ignore"):
        for x in numbers(library, "ordinary", 10_000, 5):
            got = library.one_square(pow_, library.slack, float(x))
            assert same(got, float(x**2.0))
            assert same(got, float(np.float64(x) ** 2))
