"""Builds the hand-written C peers and calls them through ctypes.

Every source is compiled for four columns: gcc and clang double strict (no
contraction, same order of operations as the app), gcc double with fast-math,
gcc float with fast-math.  `variants(row)` yields (name, dtype, strict, call);
call takes the arguments of the app's entry function.

Two OpenMP runtimes in one process (gcc's and clang's) disturb each other: a
process asks for the flavours of one compiler only.
"""
import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent
COMPILE = ["-O3", "-march=native", "-fopenmp", "-fPIC", "-std=gnu11"]
LOOSE = ["-ffast-math", "-fno-finite-math-only"]   # nan and inf stay
FLAVOURS = {
    "gcc f64": ("gcc", ["-ffp-contract=off"], np.float64, True),
    "clang f64": ("clang", ["-ffp-contract=off", "-fno-math-errno"],
                  np.float64, True),
    "gcc f64 fast": ("gcc", LOOSE, np.float64, False),
    "gcc f32 fast": ("gcc", [*LOOSE, "-DREAL=float", "-DSINGLE"],
                     np.float32, False),
}


def cache_dir():
    """Where built peers are kept: a private folder of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    where = pathlib.Path(base) / "vizgen-bench"
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    return where


@functools.cache
def build(flavour):
    """The loaded library of one flavour; None when its compiler is missing."""
    cc, flags, _, _ = FLAVOURS[flavour]
    if not shutil.which(cc):
        return None
    sources = sorted(HERE.glob("*.c"))
    text = b"".join(p.read_bytes() for p in sources + [HERE / "real.h"])
    key = hashlib.sha256(text + repr((cc, COMPILE, flags)).encode())
    where = cache_dir()
    so = where / f"peers-{key.hexdigest()[:16]}.so"
    if not so.exists():
        # Linked without the flags: -ffast-math on a link line would add a
        # start-up object that flushes denormals in the whole process.
        with tempfile.TemporaryDirectory(dir=where) as tmp:
            subprocess.run([cc, *COMPILE, *flags, "-c", *map(str, sources)],
                           check=True, cwd=tmp, capture_output=True)
            subprocess.run([cc, "-shared", "-fopenmp", "-o", "peers.so",
                            *(p.with_suffix(".o").name for p in sources),
                            "-lm"], check=True, cwd=tmp, capture_output=True)
            os.replace(f"{tmp}/peers.so", so)
    return ctypes.CDLL(str(so))


def _call(lib, name, *values):
    out = []
    for v in values:
        if isinstance(v, np.ndarray):
            assert v.flags.c_contiguous
            out.append(ctypes.c_void_p(v.ctypes.data))
        else:
            out.append(ctypes.c_long(v) if isinstance(v, int) else v)
    getattr(lib, name)(*out)


def _channels(a):
    return a.shape[2] if a.ndim == 3 else 1


# One maker per row: (library, dtype) -> {C function: callable}.

def _blur2(lib, dt):
    def run(img):
        out = np.empty_like(img)
        _call(lib, "blur2", img, out, *img.shape[:2], _channels(img))
        return out
    return {"": run}


def _blur1(lib, dt):
    def run(img, out):
        _call(lib, "blur1", img, out, *img.shape[:2], _channels(img))
        return out
    return {"": run}


def _composite(lib, dt, rgb=False):
    def maker(name):
        def run(bg, fg, alpha, out):
            _call(lib, name, bg, fg, alpha, out, *bg.shape[:2], _channels(bg))
            return out
        return run

    def scalars(bg, fg, alpha, out):
        _call(lib, "composite_rgb_scalars", bg, fg, alpha, out, *bg.shape[:2])
        return out

    out = {"": maker("composite"), "direct": maker("composite_direct")}
    return out | ({"scalars": scalars} if rgb else {})


def _mandelbrot(lib, dt):
    real = ctypes.c_double if dt == np.float64 else ctypes.c_float

    def maker(name):
        def run(x0, x1, y0, y1, maxit, ppu, time=0.0):
            rows, cols = int((y1 - y0) * ppu), int((x1 - x0) * ppu)
            scale = 1.0 + 2.0 * time / 10.0
            x, y = x0 / scale, (y0 + time / 6.0) / scale
            out = np.empty((rows, cols), dt)
            _call(lib, name, out, rows, cols, real(x), real(y), int(maxit),
                  real(ppu * scale))
            return out
        return run
    return {"": maker("mandelbrot"), "simd": maker("mandelbrot_simd")}


def _harris(lib, dt):
    def run(img, out):
        _call(lib, "harris", img, out, *img.shape)
        return out
    return {"": run}


def _raytracer(lib, dt):
    def maker(name):
        def run(time=0.0):
            out = np.empty((320, 480, 3), dt)
            _call(lib, name, out, ctypes.c_double(time))
            return out
        return run
    return {"": maker("raytracer"), "pow50": maker("raytracer_pow50")}


def _camera_pipe(lib, dt):
    def run(img):
        h, w = img.shape
        out = np.empty((((h - 24) // 32) * 32, ((w - 32) // 32) * 32, 3), dt)
        _call(lib, "camera_pipe", img, out, h, w, *out.shape[:2])
        return out
    return {"": run}


def _pacman(lib, dt):
    def run(_, out, time):
        _call(lib, "pacman", out, *out.shape[:2], ctypes.c_double(time))
        return out
    return {"": run}


def _local_laplacian(lib, dt):
    def run(img):
        out = np.empty(img.shape, dt)
        fx = np.arange(-1792, 1793) / 256.0
        remap = (1.0 / 7 * fx * np.exp(-fx * fx / 2)).astype(dt)
        _call(lib, "local_laplacian", img, out, remap, *img.shape[:2])
        return out
    return {"": run}


def _to_image(name, channels):
    def maker(lib, dt):
        def run(img):
            out = np.empty(img.shape[:2] + channels, dt)
            _call(lib, name, img, out, *img.shape[:2])
            return out
        return {"": run}
    return maker


def _optical_flow(lib, dt):
    def run(a, b, out):
        _call(lib, "optical_flow", a, b, out, *a.shape[:2])
        return out
    return {"": run}


MAKERS = {
    "blur2_rgb": _blur2, "blur2_gray": _blur2,
    "blur1_rgb": _blur1, "blur1_gray": _blur1,
    "composite_rgb": functools.partial(_composite, rgb=True),
    "composite_gray": _composite,
    "mandelbrot": _mandelbrot, "harris": _harris, "raytracer": _raytracer,
    "camera_pipe": _camera_pipe, "pacman": _pacman,
    "local_laplacian": _local_laplacian,
    "interpolate": _to_image("interpolate", (3,)),
    "optical_flow": _optical_flow,
    "bilateral_grid": _to_image("bilateral_grid", ()),
}


def variants(row, compiler="gcc"):
    """(name, dtype, strict, callable) for each compiled version of a row."""
    for flavour, (cc, _, dtype, strict) in FLAVOURS.items():
        lib = build(flavour) if cc == compiler else None
        if lib is None:
            continue
        for extra, call in MAKERS[row](lib, dtype).items():
            yield (f"{flavour} {extra}".strip(), dtype,
                   strict and extra != "pow50", call)


def copies(compiler="gcc"):
    """{name: copy(source, target)} of the copy limits."""
    lib = build(f"{compiler} f64")
    if lib is None:
        return {}

    def maker(name):
        return lambda src, dst: _call(lib, name, src, dst, src.nbytes)
    return {"memcpy": maker("copy_memcpy"),
            "non-temporal": maker("copy_nontemporal")}
