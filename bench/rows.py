"""The rows that are measured: an application on one kind of picture."""
import importlib
import pathlib
import sys

APPS = pathlib.Path(__file__).resolve().parent.parent / "apps"
if str(APPS) not in sys.path:
    sys.path.insert(0, str(APPS))

import images
import numpy as np

ROWS, COLS = 405, 640


class Row:
    """'name', the app's accelerated function 'fn', its arguments 'args', the
    bytes it must at least move, which peers decide, the argument that is
    the result where none is returned, and how far peers may be from ours:
    not at all, but for rows that call the BLAS, whose order of a sum differs
    from processor to processor while peers have one."""

    def __init__(self, name, app, function, args, moved, limit=1.15,
                 against="strongest", output=None, apart=0.0):
        self.name = name
        self.app = app
        self.function = function
        self.make_args = args
        self.moved = moved
        self.limit = limit        # ours may take so many times the peer's
        self.against = against    # "strongest", or a part of a peer's name
        self.output = output
        self.apart = apart

    @property
    def fn(self):
        return getattr(importlib.import_module(self.app), self.function)

    def args(self):
        return self.make_args()

    def result(self):
        """What one call gives."""
        args = self.args()
        returned = self.fn(*args)
        return returned if self.output is None else args[self.output]


def _shape(channels):
    return (ROWS, COLS) if channels == 1 else (ROWS, COLS, channels)


def _blur2(channels):
    return lambda: (images.picture(ROWS, COLS, channels),)


def _blur1(channels):
    return lambda: (images.picture(ROWS, COLS, channels),
                    np.zeros(_shape(channels)))


def _composite(channels):
    return lambda: (images.picture(ROWS, COLS, channels, seed=1),
                    images.picture(ROWS, COLS, channels),
                    images.picture(ROWS, COLS, seed=2),
                    np.zeros(_shape(channels)))


def _harris():
    img = images.picture(1152, 956)
    return img, img.copy()


def _optical_flow():
    img = images.picture(75, 100, 3)
    moved = importlib.import_module("optical_flow").moved
    return img, moved(img), np.zeros(img.shape)


def _pacman():
    return np.zeros((600, 200, 3)), np.ones((600, 200, 3)), 0.0


def _camera_pipe():
    mosaic = importlib.import_module("camera_pipe").mosaic
    return (mosaic(images.picture(344, 256, 3)),)


def _interpolate():
    with_holes = importlib.import_module("interpolate").with_holes
    return (with_holes(images.picture(512, 307, 3)),)


def _image_rows():
    """Gray and colour pictures: composition and blurs."""
    plane = ROWS * COLS * 8
    rows = []
    for channels, kind in ((1, "gray"), (3, "rgb")):
        whole = channels * plane
        rows += [
            Row(f"composite_{kind}", "composite", "composite",
                _composite(channels), 3 * whole + plane),
            Row(f"blur1_{kind}", "blur_one_stage", "gaussian_blur",
                _blur1(channels), 2 * whole),
            Row(f"blur2_{kind}", "blur_two_stage", "two_stage_blur",
                _blur2(channels), 2 * whole),
        ]
    return rows


def all_rows():
    args = (-2.5, 1.5, -1.5, 1.5, 255, 200.0, 0.0)
    return _image_rows() + [
        Row("mandelbrot", "mandelbrot", "mandelbrot", lambda: args,
            600 * 800 * 8),
        Row("bilateral_grid", "bilateral_grid", "bilateral_grid",
            lambda: (images.picture(2560, 1536),), 2 * 2560 * 1536 * 8),
        Row("camera_pipe", "camera_pipe", "camera_pipe", _camera_pipe,
            (344 * 256 + 320 * 224 * 3) * 8),
        Row("harris", "harris_corner", "harris_corner", _harris,
            1152 * 956 * 8),
        Row("interpolate", "interpolate", "interpolate", _interpolate,
            512 * 307 * 7 * 8),
        Row("local_laplacian", "local_laplacian", "local_laplacian",
            lambda: (images.picture(101, 160, 3),), 2 * 101 * 160 * 3 * 8),
        Row("optical_flow", "optical_flow", "optical_flow", _optical_flow,
            3 * 75 * 100 * 3 * 8, output=2),
        Row("pacman", "pacman", "render_1_frame", _pacman,
            600 * 200 * 3 * 8, output=1),
        Row("raytracer", "raytracer", "raytracer", lambda: (0.0,),
            320 * 480 * 3 * 8, apart=1e-13),
    ]
