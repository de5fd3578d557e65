"""csrc/emit: generated C does what the reference interpreter does.

tests/unit/emit_run.c compiles functions in IR text and calls them; the files
are in tests/emit, more are made at random.  tests/unit/prelude_arrays.c gives
access to the helpers of prelude.h, which are compared with Python and NumPy.
"""
import ctypes
import ctypes.util
import itertools
import math
import os
import pathlib
import platform
import re
import shutil
import subprocess

import numpy as np
import pytest

from tests import vzopt
from tests.emit import generate

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "tests/emit").glob("*.ir"))
COUNT = int(os.environ.get("VIZGEN_EMIT_COUNT", "40"))
SEED = int(os.environ.get("VIZGEN_FUZZ_SEED", "1")) * 10_000
X86 = platform.machine() in ("x86_64", "AMD64")
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
NUMPY = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "f32": np.float32, "f64": np.float64}

FLOATS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 255.7, 256.0, 300.7, -300.2,
          2.0**31 - 1, 2.0**31 - 0.5, 2.0**31, 2.0**31 + 5, -2.0**31,
          -2.0**31 - 0.5, -2.0**31 - 1, 2.0**32 - 1, 2.0**32 + 5, 1e10, -1e10,
          2.0**63 - 1024, 2.0**63, 2.0**63 + 4096, -2.0**63, -2.0**63 - 4096,
          2.0**64 - 2048, 2.0**64, 1e20, -1e20, 1e300, math.inf, -math.inf,
          math.nan, 5e-324, 65535.9, 65536.5, -32768.9, -32769.0]

pytestmark = [pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc"),
              pytest.mark.usefixtures("usual_compiler")]


def compilers():
    return [cc for cc in ("gcc", "clang") if shutil.which(cc)]


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    """The program emit_run."""
    program = tmp_path_factory.mktemp("emit") / "emit_run"
    vzopt.link(program, sorted((ROOT / "tests/unit").glob("emit_*.c")),
               ("csrc/base", "csrc/ir", "csrc/emit"))
    return program


def run(tool, *args):
    done = subprocess.run([str(tool), *map(str, args)], capture_output=True,
                          text=True, env=vzopt.STRICT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


# --- whole functions ---------------------------------------------------------

@pytest.mark.sampled(2)
@pytest.mark.parametrize("cc", compilers())
def test_files(tool, cc):
    out = run(tool, "--cc", cc, *FILES)
    assert out.count("\nok ") + out.startswith("ok ") == len(FILES)
    equal = [int(n) for n in re.findall(r"(\d+) equal", out)]
    assert min(equal) >= 30


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cc", compilers())
def test_random_functions(tool, cc, tmp_path):
    paths = []
    for seed in range(SEED, SEED + COUNT):
        path = tmp_path / f"random{seed}.ir"
        path.write_text(generate.function(seed))
        paths.append(path)
    out = run(tool, "--cc", cc, "--seeds", "12", *paths)
    equal = [int(n) for n in re.findall(r"(\d+) equal", out)]
    assert sum(equal) >= 6 * COUNT


def test_optimised_and_sanitized(tool):
    """-O3 as kernels are compiled; without optimisation under UBSan."""
    base = ("-ffp-contract=off -fno-math-errno -fno-trapping-math "
            "-fno-strict-aliasing -fopenmp-simd -Wall -Wextra -Werror")
    run(tool, "--flags", f"-O3 -march=native -fwrapv {base}", *FILES)
    run(tool, "--flags", f"-O1 -fsanitize=shift,bounds,float-cast-overflow,"
        f"integer-divide-by-zero,null,alignment,bool "
        f"-fsanitize-undefined-trap-on-error {base} -fwrapv", *FILES)


def test_same_text_every_time(tool):
    path = ROOT / "tests/emit/memory.ir"
    assert run(tool, "--text", path) == run(tool, "--text", path)


# --- the text -----------------------------------------------------------------

def lines_by_name(text):
    """{variable: line that #line gives its declaration}."""
    found, line = {}, 0
    for row in text.splitlines():
        directive = re.match(r'#line (\d+) "(.*)"$', row)
        if directive:
            line = int(directive[1])
            continue
        declared = re.match(r"\s*const \w+ (\w+_\d+) = ", row)
        if declared:
            found[declared[1]] = line
        line += 1
    return found


def test_line_directives_name_the_source(tool):
    path = ROOT / "tests/emit/blur.ir"
    lines = lines_by_name(run(tool, "--text", path))
    expected = dict(re.findall(r"let %(\w+\.\d+):.* @(\d+):", path.read_text()))
    for name, line in expected.items():
        assert lines[name.replace(".", "_")] == int(line)


def test_a_path_can_t_break_out_of_its_string(tool, tmp_path):
    evil = 'a"b\\\n??/*/x\u202e.py'
    text = run(tool, "--text", "--path", evil, FILES[0])
    rows = re.findall(r"#line \d+ (.*)", text)
    assert rows and all(re.fullmatch(r'"[A-Za-z0-9_ ./\\-]*"', row)
                        for row in rows)
    source = tmp_path / "evil.c"
    source.write_text(text)
    subprocess.run(["gcc", "-std=gnu11", "-fopenmp-simd", "-fsyntax-only",
                    "-Wall", "-Werror", str(source)], check=True)


def test_a_loop_with_an_exit_is_the_loop_a_person_writes(tool):
    text = run(tool, "--show", "--seeds", "1",
               ROOT / "tests/emit/mandelbrot.ir")
    loop = text[text.index("for (int64_t n_11"):text.index("out_0[")]
    code = [line.strip() for line in loop.splitlines()
            if line.strip() and "/*" not in line]
    assert code == [
        "for (int64_t n_11 = 0; n_11 < maxit_1; n_11++) {",
        "const double r2_16 = zr_13 * zr_13;",
        "const double i2_17 = zi_14 * zi_14;",
        "if (vz_lt(4.0, r2_16 + i2_17)) {",
        "k_15 = n_11;",
        "break;",
        "}",
        "const double zi_18 = 2.0 * zr_13 * zi_14 + ci_10;",
        "const double zr_19 = r2_16 - i2_17 + cr_9;",
        "zr_13 = zr_19;",
        "zi_14 = zi_18;",
        "k_15 = maxit_1;",
        "}",
    ]


# --- the prelude ---------------------------------------------------------------

@pytest.fixture(scope="module", params=compilers())
def arrays(request, tmp_path_factory):
    """Helpers on arrays: arrays("idiv_i8", a, b) -> result."""
    path = tmp_path_factory.mktemp("arrays") / "arrays.so"
    subprocess.run([request.param, "-std=gnu11", "-O2", "-fPIC", "-shared",
                    "-ffp-contract=off", "-Wall", "-Wextra", "-Werror",
                    f"-I{ROOT}", str(ROOT / "tests/unit/prelude_arrays.c"),
                    "-o", str(path)], check=True)
    library = ctypes.CDLL(str(path))
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    fmod = ctypes.cast(libm.fmod, ctypes.c_void_p)

    def call(name, *inputs, out, floats=False):
        inputs = [np.ascontiguousarray(a) for a in inputs]
        result = np.empty(len(inputs[0]), out)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in inputs]
        getattr(library, "arrays_" + name)(
            *([fmod] if floats else []), *pointers,
            ctypes.c_void_p(result.ctypes.data),
            ctypes.c_long(len(result)))
        return result

    call.library = library
    return call


def pairs(dtype):
    """All pairs of 8 bits, else pairs of what is special."""
    info = np.iinfo(dtype)
    if info.bits == 8:
        values = range(info.min, info.max + 1)
    else:
        near = [0, 1, 2, 3, 5, 7, 8, 63, 64, 100, info.max // 2, info.max - 1,
                info.max]
        low = [info.min, info.min + 1, -1, -2, -3, -7, -100]
        values = [*near, *(low if info.min < 0 else [])]
        rng = np.random.default_rng(1)
        values += rng.integers(info.min, info.max, 40, dtype).tolist()
    both = list(itertools.product(values, values))
    return (np.array([p[0] for p in both], dtype),
            np.array([p[1] for p in both], dtype))


def wrapped(value, dtype):
    info = np.iinfo(dtype)
    value &= (1 << info.bits) - 1
    return value - (1 << info.bits) if value > info.max else value


def python_results(dtype, a, b):
    """{operation: what Python says, wrapped}; for overflow whether it does."""
    info = np.iinfo(dtype)
    shifts = 0 <= b < info.bits
    sums = {"addo": a + b, "subo": a - b, "mulo": a * b}
    return {
        "idiv": wrapped(a // b, dtype) if b else 0,
        "mod": a % b if b else 0,
        "min": min(a, b),
        "max": max(a, b),
        "shl": wrapped(a << b, dtype) if shifts else 0,
        "shr": a >> b if shifts else (-1 if a < 0 else 0),
        "abs": wrapped(abs(a), dtype),
        **{k: int(not info.min <= v <= info.max) for k, v in sums.items()},
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SIGNED + UNSIGNED)
def test_integers(arrays, name):
    dtype = NUMPY[name]
    a, b = pairs(dtype)
    rows = [python_results(dtype, int(x), int(y)) for x, y in zip(a, b)]
    for op in rows[0]:
        kind = np.uint8 if op in ("addo", "subo", "mulo") else dtype
        got = arrays(f"{op}_{name}", a, b, out=kind).tolist()
        assert got == [row[op] for row in rows], op


def test_vector_overflow_is_the_scalar_one(arrays):
    a, b = pairs(np.int64)
    for op in ("addo", "subo"):
        assert (arrays(f"v{op}_i64", a, b, out=np.uint8) ==
                arrays(f"{op}_i64", a, b, out=np.uint8)).all()


def test_integer_powers(arrays):
    bases = [0, 1, -1, 2, -2, 3, -3, 7, 10, 1000, 3037000499, 3037000500,
             -3037000500, 2**62, -2**63, 2**63 - 1]
    both = list(itertools.product(bases, [*range(70), 1000, 2**40]))
    a = np.array([p[0] for p in both])
    b = np.array([p[1] for p in both])
    true = [x**y if abs(x) < 2 or y < 1001 else None for x, y in both]
    over = arrays("ipowo", a, b, out=np.uint8).tolist()
    power = arrays("ipow", a, b, out=np.int64).tolist()
    for (x, y), value, o, p in zip(both, true, over, power):
        fits = value is not None and -2**63 <= value < 2**63
        assert o == (not fits), (x, y)
        assert p == (pow(x, y, 2**64) ^ 2**63) - 2**63, (x, y)


@pytest.mark.skipif(not X86, reason="what x86 gives")
@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("name", SIGNED + UNSIGNED)
def test_casts_are_numpys(arrays, source, name):
    with np.errstate(all="ignore"):
        values = np.array(FLOATS).astype(NUMPY[source])
        land = {"u64": "u64", "i64": "i64", "u32": "i64"}.get(name, "i32")
        got = arrays(f"{land}_{source}", values, out=NUMPY[land])
        expected = [int(v.astype(NUMPY[name])) for v in values]
        assert got.astype(NUMPY[name]).tolist() == expected


def float_pairs():
    rng = np.random.default_rng(3)
    values = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 3.0, 5e-324, 1e308, -1e308,
              math.inf, -math.inf, math.nan, 7.5, -7.5, 1e16, 2.0**53]
    values += (rng.standard_normal(25) * 10.0**rng.integers(-9, 9, 25)).tolist()
    return list(itertools.product(values, values))


def same(a, b):
    return (a != a and b != b) or (a == b and
                                   math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_floor_division_is_numpys(arrays, name):
    kind = NUMPY[name]
    with np.errstate(all="ignore"):
        both = [(kind(x), kind(y)) for x, y in float_pairs()]
        a, b = (np.array(side, kind) for side in zip(*both))
        mod = arrays(f"npmod_{name}", a, b, out=kind, floats=True)
        div = arrays(f"npfloordiv_{name}", a, b, out=kind, floats=True)
        for (x, y), m, d in zip(both, mod, div):
            assert same(m, x % y), (x, y)
            assert same(d, x // y), (x, y)


def test_floor_division_is_pythons(arrays):
    both = [(x, y) for x, y in float_pairs() if y != 0]
    a, b = (np.array(side) for side in zip(*both))
    mod = arrays("npmod_f64", a, b, out=np.float64, floats=True)
    div = arrays("pyfloordiv_f64", a, b, out=np.float64, floats=True)
    for (x, y), m, d in zip(both, mod.tolist(), div.tolist()):
        assert same(m, x % y), (x, y)
        assert same(d, x // y), (x, y)


# --- overlap ----------------------------------------------------------------------

def slots(array, base):
    """The argument table of a view: data, dims, strides."""
    data = array.__array_interface__["data"][0]
    values = [data, *array.shape, *array.strides]
    return (ctypes.c_int64 * len(values))(*values), base


def bytes_of(array):
    start = array.__array_interface__["data"][0]
    found = set()
    for index in itertools.product(*map(range, array.shape)):
        at = start + sum(i * s for i, s in zip(index, array.strides))
        found.update(range(at, at + array.itemsize))
    return found


def views(base):
    """Views of a (6, 8, 4) array."""
    rows = [np.s_[:], np.s_[::2], np.s_[1::2], np.s_[3:], np.s_[:3],
            np.s_[::-1], np.s_[2:2]]
    columns = [np.s_[:], np.s_[:4], np.s_[4:], np.s_[::2], np.s_[1::2],
               np.s_[::-1]]
    lanes = [np.s_[:], 0, 1, np.s_[:2], np.s_[2:], np.s_[3]]
    for key in itertools.product(rows, columns, lanes):
        yield base[key]
    yield base.T
    yield base[2]
    yield base[:, 3, 1]


def test_disjoint_is_never_wrong(arrays):
    base = np.zeros((6, 8, 4), np.int16)
    all_views = list(views(base))
    rng = np.random.default_rng(5)
    known = {id(v): bytes_of(v) for v in all_views}
    disjoint = arrays.library.arrays_disjoint
    proved = apart = 0
    for _ in range(4000):
        a, b = (all_views[k] for k in rng.integers(0, len(all_views), 2))
        said = disjoint(slots(a, base)[0], a.ndim, a.itemsize,
                        slots(b, base)[0], b.ndim, b.itemsize)
        truth = not known[id(a)] & known[id(b)]
        assert truth or not said
        proved += bool(said)
        apart += truth
    assert proved >= 0.9 * apart


def test_disjoint_knows_residues(arrays):
    image = np.zeros((5, 7, 3), np.uint8)
    disjoint = arrays.library.arrays_disjoint
    for a, b, expected in [
            (image[..., 0], image[..., 1], 1), (image[..., 0], image[..., 0], 0),
            (image[:, :3], image[:, 3:], 1), (image[:, :4], image[:, 3:], 0),
            (image[::2], image[1::2], 1), (image, image[:0], 1),
            (image[:, ::-1, 0], image[..., 2], 1), (image[:3], image[3:], 1)]:
        said = disjoint(slots(a, image)[0], a.ndim, 1, slots(b, image)[0],
                        b.ndim, 1)
        assert said == expected
