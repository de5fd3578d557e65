"""The applications against plain Python: sizes, layouts, dtypes, threads."""
import numpy as np
import pytest

from tests.support import app, assert_same, layouts
from vizgen import accelerate

SIZES = ((12, 9), (9, 3), (8, 2), (1, 1), (1, 7), (7, 1), (0, 5), (5, 0),
         (31, 17))
CHANNELS = (1, 3, 4)
THREADS = (1, 2, 5)


def shape(size, channels):
    return size if channels == 1 else (*size, channels)


def blur2_args(size, channels, dtype=np.float64):
    picture = app("images").picture
    return (picture(*size, channels, dtype),)


def blur1_args(size, channels, dtype=np.float64):
    picture = app("images").picture
    return (picture(*size, channels, dtype),
            np.zeros(shape(size, channels), dtype))


def composite_args(size, channels, dtype=np.float64):
    picture = app("images").picture
    alpha = np.float32 if dtype == np.uint8 else dtype
    return (picture(*size, channels, dtype, seed=1),
            picture(*size, channels, dtype),
            picture(*size, 1, alpha, seed=2),
            np.zeros(shape(size, channels), dtype))


ROWS = {
    "blur2": ("blur_two_stage", "two_stage_blur", blur2_args),
    "blur1": ("blur_one_stage", "gaussian_blur", blur1_args),
    "composite": ("composite", "composite", composite_args),
}


def function(row):
    module, name, _ = ROWS[row]
    return getattr(app(module), name)


def arguments(row, *rest):
    return ROWS[row][2](*rest)


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("row", ROWS)
def test_sizes(row, channels):
    for size in SIZES:
        assert_same(function(row), arguments(row, size, channels))


@pytest.mark.parametrize("dtype", (np.float32, np.uint8))
@pytest.mark.parametrize("channels", (1, 3))
@pytest.mark.parametrize("row", ROWS)
def test_dtypes(row, channels, dtype):
    # Sums of uint8 wrap with a warning, which may take a second run.
    assert_same(function(row), arguments(row, (13, 11), channels, dtype),
                native=dtype is not np.uint8)
    assert function(row).stats.python_calls == 0


@pytest.mark.parametrize("channels", (1, 3))
@pytest.mark.parametrize("row", ROWS)
def test_layouts(row, channels):
    args = arguments(row, (14, 11), channels)
    for k in range(len(args)):
        for layout in layouts(args[k]).values():
            changed = args[:k] + (layout,) + args[k + 1:]
            assert_same(function(row), changed)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("row", ROWS)
def test_threads(row, threads):
    fn = accelerate(function(row).py_func, threads=threads)
    for channels in (1, 3):
        assert_same(fn, arguments(row, (97, 61), channels))


def test_blur_in_place():
    """Input and output are one array, or overlap: order matters."""
    fn = app("blur_one_stage").gaussian_blur
    whole = app("images").picture(20, 15)
    assert_same(fn, (whole, whole))
    assert_same(fn, (whole[1:], whole[:-1]))
    assert_same(fn, (whole[:-1], whole[1:]))


def test_composite_in_place():
    fn = app("composite").composite
    back, front, alpha, _ = composite_args((15, 12), 3)
    assert_same(fn, (back, front, alpha, back))
    assert_same(fn, (back[1:], front[1:], alpha[1:], back[:-1]))


def test_composite_does_not_fit():
    """The output is larger than the pictures: IndexError, rows before it
    written."""
    fn = app("composite").composite
    back, front, alpha, _ = composite_args((6, 5), 1)
    assert_same(fn, (back, front, alpha, np.zeros((7, 5))), native=False)
    assert_same(fn, (back, front, alpha, np.zeros((6, 8))), native=False)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("time", (0.0, 1.5, 2))
def test_mandelbrot(threads, time):
    fn = accelerate(app("mandelbrot").mandelbrot.py_func, threads=threads)
    assert_same(fn, (-2.5, 1.5, -1.5, 1.5, 60, 21.0, time))


def test_mandelbrot_arguments():
    fn = app("mandelbrot").mandelbrot
    assert_same(fn, (-2.5, 1.5, -1.5, 1.5, 20, 11.0))
    assert_same(fn, (-2, 2, -1, 1, 20, 9))
    assert_same(fn, (0.0, 0.0, 0.0, 0.0, 5, 10.0))
    # Division by zero.
    assert_same(fn, (-2.0, 1.0, -1.0, 1.0, 0, 5.0), native=False)


@pytest.mark.parametrize("name", ("blur_two_stage", "blur_one_stage",
                                  "composite"))
def test_workload(name):
    """test() returns a picture and runs native."""
    module = app(name)
    fn = next(f for f in vars(module).values() if hasattr(f, "py_func"))
    before = fn.stats.native_calls
    result = module.test(2)
    assert result.shape == (405, 640, 3)
    assert fn.stats.native_calls == before + 2


@pytest.mark.parametrize("channels", CHANNELS)
def test_picture_files(tmp_path, channels):
    images = app("images")
    img = images.picture(21, 34, channels, np.uint8)
    path = str(tmp_path / "picture.png")
    images.write(path, img)
    assert np.array_equal(images.read(path), img)
    if channels in (1, 3):
        path = str(tmp_path / "picture.ppm")
        images.write(path, img)
        assert np.array_equal(images.read(path), img)


def test_pictures_are_deterministic():
    images = app("images")
    img = images.picture(20, 30, 3)
    assert np.array_equal(img, images.picture(20, 30, 3))
    assert img.min() >= 0.0 and img.max() <= 1.0
    assert images.picture(0, 4).shape == (0, 4)
