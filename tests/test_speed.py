"""What makes generated code fast, and that it stays exact.

Each program is run accelerated and plain and compared bit for bit; what it is
an example of is asked of the remarks or of the counters.
"""
import numpy as np
import pytest

from bench import rows
from vizgen import accelerate

pytestmark = pytest.mark.usefixtures("usual_compiler")

ROWS = [row for row in rows.all_rows() if row.name != "mandelbrot"]


def both(function, *args):
    """The accelerated function after one call that gave Python's bits."""
    f = accelerate(function)
    results = []
    for call in (f, function):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        results.append([call(*own), *own])
    for got, want in zip(*results):
        if want is not None:
            got, want = np.asarray(got), np.asarray(want)
            assert got.dtype == want.dtype and got.shape == want.shape
            assert got.tobytes() == want.tobytes()
    assert f.stats.native_calls == 1 and f.stats.python_calls == 0
    return f


def remarks(f, *args):
    return str(f.explain(*args))


def bails(f):
    return sum(one["bails"] for one in f._describe())


# --- tests at the entry are such that they can hold -------------------------

@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_applications_run_by_the_fast_kernel(row):
    args = row.args()
    before = bails(row.fn)  # of calls by other tests
    row.fn(*args)
    assert bails(row.fn) == before


def corners(img, k):
    """As many rows as were counted: their number bounds no loop."""
    count = 0
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            if img[r, c] > k:
                count += 1
    found = np.zeros((count, 2))
    n = 0
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            if img[r, c] > k:
                found[n, 0] = r / img.shape[0]
                found[n, 1] = c
                n += 1
    return found


def halves(img):
    """Levels whose sizes come out of floats."""
    rows, cols = img.shape
    out = np.zeros((4, rows, cols))
    out[0] = img
    for level in range(1, 4):
        h = int(rows * 2.0 ** -level)
        w = int(cols * 2.0 ** -level)
        for r in range(1, h):
            for c in range(w):
                out[level, r, c] = (out[level - 1, 2 * r - 1, c]
                                    + out[level - 1, 2 * r, c])
    return out


def to_and_fro(img):
    """Steps and offsets that change their sign from sweep to sweep."""
    out = np.zeros(img.shape)
    n = img.shape[1] - 4
    for sweep in range(2):
        if sweep == 0:
            start, end, step, add = 0, n, 1, 4
        else:
            start, end, step, add = n - 1, -1, -1, 0
        for r in range(img.shape[0]):
            for c in range(start, end, step):
                before = c - step
                if before >= 0 and before < n:
                    out[r, c] += img[r, c + add] - img[r, before]
    return out


@pytest.mark.parametrize("function, more", [
    (corners, (0.5,)), (halves, ()), (to_and_fro, ())])
@pytest.mark.parametrize("shape", [(40, 31), (9, 8), (8, 5), (64, 64)])
def test_entries_do_not_ask_too_much(function, more, shape):
    img = np.random.default_rng(1).random(shape)
    assert bails(both(function, img, *more)) == 0


# --- rounds that only seem to hang on each other -----------------------------

def rays(out):
    ray = np.zeros(3)
    eye = np.array([3.0, 4.0, -8.0])
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            ray[0] = r * 0.5
            ray[1] = c + 0.25
            ray[2] = 0
            d = ray - eye
            out[r, c] = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]


def rays_with_a_past(out):
    ray = np.zeros(3)
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            ray[0] = r
            ray[1] += c
            ray[2] = ray[1] * 0.5
            out[r, c] = ray[0] + ray[1] + ray[2]
    return ray


def test_vectors_that_are_set_anew():
    out = np.zeros((30, 40))
    f = both(rays, out)
    assert "are independent" in remarks(f, out)
    f = both(rays_with_a_past, out)
    assert "are independent" not in remarks(f, out)
    both(rays, np.zeros((0, 3)))


# --- what lanes gather each for itself ---------------------------------------

def gathers(a):
    count = 0
    top = a[0]
    low = a[0]
    some = False
    for i in range(a.shape[0]):
        if a[i] > 0:
            count += 1
        if a[i] > top:
            top = a[i]
        if a[i] < low:
            low = a[i]
        some = some or a[i] == 3
    return count, top, low, some


def twice(a):
    top = a[0]
    for i in range(1, a.shape[0] - 1):
        if a[i - 1] >= top:
            top = a[i - 1]
        if a[i + 1] >= top:
            top = a[i + 1]
    return top


def running(a, out):
    """What is gathered is used before the end."""
    top = a[0]
    total = a[0] * 0
    for i in range(a.shape[0]):
        total = total + a[i]
        if a[i] > top:
            top = a[i]
        out[i] = top
    return total, top


def reduced(a):
    return (np.max(a), np.min(a), np.any(a), np.all(a), np.sum(a > 1),
            np.count_nonzero(a), np.argmax(a))


def specials(dtype, n):
    """Arrays of 'n' elements; of floats with zeros of both signs and nans."""
    rng = np.random.default_rng(n)
    if np.dtype(dtype) == np.bool_:
        return [np.zeros(n, bool), np.ones(n, bool), rng.random(n) > 0.5]
    arrays = [(rng.random(n) * 100).astype(dtype), np.zeros(n, dtype),
              np.full(n, 100, dtype) - np.arange(n).astype(dtype)]
    if np.issubdtype(dtype, np.floating):
        for value in (np.nan, np.inf, -np.inf, -0.0):
            for at in (0, n // 2, n - 1):
                for base in (-rng.random(n), np.full(n, -np.inf),
                             np.zeros(n), rng.random(n) - 0.5):
                    arrays.append(base.astype(dtype))
                    arrays[-1][at] = value
        signs = np.where(rng.random(n) > 0.5, 0.0, -0.0).astype(dtype)
        arrays += [signs, -np.abs(signs), np.minimum(signs, -rng.random(n))]
    return arrays


DTYPES = [bool, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32,
          np.float64]


def equal(got, want):
    got, want = np.asarray(got), np.asarray(want)
    return got.dtype == want.dtype and got.tobytes() == want.tobytes()


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [gathers, twice])
def test_gathered_by_lanes(function, dtype):
    f = accelerate(function)
    for n in (1, 3, 40, 257):
        for a in specials(dtype, n):
            for view in (a, a[::-1], np.repeat(a, 2)[::2]):
                got, want = f(view), function(view)
                got = got if isinstance(got, tuple) else (got,)
                want = want if isinstance(want, tuple) else (want,)
                assert all(map(equal, got, want)), (view, got, want)
    assert f.stats.native_calls > 0
    if function is twice and a.dtype != np.bool_:
        assert "several rounds at a time" in remarks(f, a)


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_by_lanes(dtype):
    f = accelerate(reduced)
    for n in (1, 40, 257):
        for a in specials(dtype, n):
            got, want = f(a), reduced(a)
            assert all(map(equal, got, want)), (a, got, want)
    assert "several rounds at a time" in remarks(f, a)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_what_is_used_on_the_way_is_not_gathered(dtype):
    a = np.random.default_rng(5).integers(0, 99, 300).astype(dtype)
    f = both(running, a, np.zeros(300, dtype))
    assert "several rounds" not in remarks(f, a, a)


def test_strips_ask_nothing():
    """The loop that spreads a number over a pixel's channels runs over a strip
    of the row: the loop around asks whether to stop."""
    @accelerate
    def blend(a, b, alpha, out):
        for r in range(out.shape[0]):
            for c in range(out.shape[1]):
                k = alpha[r, c]
                out[r, c] = (1 - k) * a[r, c] + k * b[r, c]

    rgb = np.zeros((4, 5, 3))
    text = blend.inspect_c(rgb, rgb + 1, rgb[:, :, 0], rgb + 2)
    assert text.count("= vz_refuel") == 2, text
