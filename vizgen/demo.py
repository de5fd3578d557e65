"""`make demo`: the applications on a photograph, plain, compiled and tuned.

The photograph comes with scikit-image, which is installed into the virtual
environment for it; without it a generated picture serves.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

from vizgen import term

APPS = pathlib.Path(__file__).resolve().parent.parent / "apps"
PICTURES = ("astronaut.png", "coffee.png", "chelsea.png")
TUNED = "blur_one_stage"
SECONDS = "20s"


def photograph():
    """The path of a photograph, or None."""
    if importlib.util.find_spec("skimage") is None:
        if sys.prefix == sys.base_prefix:
            return None
        print("installing scikit-image for its photographs ...",
              file=sys.stderr)
        subprocess.run([sys.executable, "-m", "pip", "install", "-q",
                        "scikit-image"], check=False)
        importlib.invalidate_caches()
    spec = importlib.util.find_spec("skimage")
    if spec is None:
        return None
    folder = pathlib.Path(spec.origin).parent / "data"
    found = [folder / name for name in PICTURES if (folder / name).exists()]
    return str(found[0]) if found else None


def jobs(picture):
    """{application: (accelerated function, maker of its arguments)}."""
    import blur_one_stage
    import blur_two_stage
    import composite
    import images
    import mandelbrot
    import numpy as np

    shape = picture.shape
    other = images.picture(*shape, seed=1)
    alpha = images.picture(*shape[:2], seed=2)
    return {
        "blur_one_stage": (blur_one_stage.gaussian_blur,
                           lambda: (picture, np.zeros(shape))),
        "blur_two_stage": (blur_two_stage.two_stage_blur,
                           lambda: (picture,)),
        "composite": (composite.composite,
                      lambda: (other, picture, alpha, np.zeros(shape))),
        "mandelbrot": (mandelbrot.mandelbrot,
                       lambda: (-2.5, 1.5, -1.5, 1.5, 100, 100.0)),
    }


def timed(fn, args):
    start = time.perf_counter()
    result = fn(*args)
    return 1e3 * (time.perf_counter() - start), result


def fastest(fn, make_args, seconds=0.5):
    """Milliseconds of the fastest of many calls."""
    best, start = float("inf"), time.monotonic()
    while time.monotonic() - start < seconds:
        best = min(best, timed(fn, make_args())[0])
    return best


def tune(name, path):
    env = dict(os.environ)
    if path:
        env["APP_PICTURE"] = path
    subprocess.run([sys.executable, "-m", "vizgen", "tune", "--budget",
                    SECONDS, str(APPS / f"{name}.py")], env=env,
                   cwd=APPS.parent, check=False)


def row(name, fn, make_args, accelerate):
    """One line of the table, and the native result."""
    python, want = timed(fn.py_func, make_args())
    fresh = accelerate(fn.py_func)
    first, got = timed(fresh, make_args())
    best = fastest(fresh, make_args)
    same = (got.dtype == want.dtype and got.shape == want.shape
            and got.tobytes() == want.tobytes())
    line = (f"{name:16} {python:10.1f} {first:12.1f} {best:10.3f} "
            f"{python / best:8.0f}x  {'yes' if same else 'NO'}")
    if fresh.stats.python_calls:
        line += "  (ran in Python)"
    return line, got, same


def main():
    if not APPS.is_dir():
        print("vizgen: the demo needs the folder apps/ of the repository",
              file=sys.stderr)
        return 2
    sys.path.insert(0, str(APPS))
    import images
    from vizgen import accelerate

    path = photograph()
    if path:
        os.environ["APP_PICTURE"] = path
    picture = images.workload(405, 640, 3)
    print(f"picture: {path or 'generated'}, {picture.shape}")
    print(f"tuning {TUNED} for {SECONDS} ...", file=sys.stderr)
    tune(TUNED, path)
    head = (f"{'application':16} {'Python ms':>10} {'1st call ms':>12} "
            f"{'then ms':>10} {'factor':>9}  identical")
    print(term.paint(head, "bold", sys.stdout))
    good = True
    for name, (fn, make_args) in jobs(picture).items():
        line, result, same = row(name, fn, make_args, accelerate)
        print(line, flush=True)
        good = good and same
        if name == TUNED:
            output = os.path.abspath("demo.png")
            images.write(output, result)
    print(f"wrote {output} ({TUNED})")
    return 0 if good else 4
