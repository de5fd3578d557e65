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
    bytes it must at least move, and which peers decide."""

    def __init__(self, name, app, function, args, moved, limit, against):
        self.name = name
        self.app = app
        self.function = function
        self.make_args = args
        self.moved = moved
        self.limit = limit        # ours may take so many times the peer's
        self.against = against    # "strongest", or a part of a peer's name

    @property
    def fn(self):
        return getattr(importlib.import_module(self.app), self.function)

    def args(self):
        return self.make_args()


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


def all_rows():
    plane = ROWS * COLS * 8
    rows = []
    for channels, kind in ((1, "gray"), (3, "rgb")):
        whole = channels * plane
        rows += [
            Row(f"composite_{kind}", "composite", "composite",
                _composite(channels), 3 * whole + plane, 1.15, "strongest"),
            Row(f"blur1_{kind}", "blur_one_stage", "gaussian_blur",
                _blur1(channels), 2 * whole, 1.15, "strongest"),
            Row(f"blur2_{kind}", "blur_two_stage", "two_stage_blur",
                _blur2(channels), 2 * whole, 1.15, "strongest"),
        ]
    args = (-2.5, 1.5, -1.5, 1.5, 255, 200.0, 0.0)
    rows.append(Row("mandelbrot", "mandelbrot", "mandelbrot", lambda: args,
                    600 * 800 * 8, 1.1, "gcc f64"))
    return rows
