"""Linear algebra and sorting, against NumPy, bit by bit."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate

FLOATS = ("float64", "float32")


def numbers(shape, dtype, seed=0):
    random = np.random.RandomState(seed)
    if np.dtype(dtype).kind in "iu":
        return random.randint(0, 100, shape).astype(dtype)
    return random.randn(*shape).astype(dtype)


def products(a, b):
    return np.dot(a, b), a @ b, np.vdot(a, b), np.inner(a, b), a.dot(b)


@pytest.mark.parametrize("dtype", FLOATS + ("int32", "int8", "uint16"))
def test_vectors(dtype):
    fn = accelerate(products)
    for n in (1, 2, 3, 7, 16, 31, 33, 100, 1000):
        a, b = numbers((2 * n,), dtype, 1), numbers((2 * n,), dtype, 2)
        for x, y in ((a[:n], b[:n]), (a[::2], b[:n]), (a[::2], b[::2]),
                     (a[:n][::-1], b[:n]), (a[:n], b[n - 1::-1]),
                     (a[:n], a[:n])):
            assert_same(fn, (x, y))
    assert_same(fn, (a[:0], b[:0]))
    assert_same(fn, (a[:3], b[:2]), native=False)


def test_one_element():
    fn = accelerate(products)
    assert_same(fn, (np.array([-0.0]), np.array([1.0])))


def small(x, y, z, s):
    v = np.array([x, y, z])
    w = np.array([1.0, s, 2.0])
    n = v / np.sqrt(np.dot(v, v))
    return np.dot(v, w), n, v @ w, np.dot(v[:2], w[1:]), np.dot([x, y], w[:2])


def test_small_vectors():
    assert_same(accelerate(small), (1.5, -2.25, 3.125, 0.1))
    assert_same(accelerate(small), (1, 2, 3, 0.1))


def each_pixel(img, to_gray):
    h, w = img.shape[:2]
    out = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            out[y, x] = np.dot(img[y, x], to_gray)
    return out


def test_pixels():
    img = numbers((9, 8, 3), "float64", 1)
    gray = np.array([0.2, 0.7, 0.1])
    assert_same(accelerate(each_pixel), (img, gray))
    assert_same(accelerate(each_pixel), (img[:, ::-1, ::-1], gray))
    assert_same(accelerate(each_pixel), (img[..., :2], gray[::2].copy()))


def matrices(a, b):
    return a @ b


def dot_of_matrices(a, b):
    return np.dot(a, b)


SHAPES = [((3, 3), (3,)), ((3, 3), (3, 3)), ((4,), (4, 2)), ((1, 5), (5, 1)),
          ((5, 1), (1, 3)), ((7, 6), (6, 9)), ((20, 30), (30, 25)),
          ((64, 70), (70,)), ((33,), (33, 8)), ((2, 0), (0, 3)), ((1, 1), (1,))]


@pytest.mark.parametrize("dtype", FLOATS + ("int64", "uint8"))
@pytest.mark.parametrize("program", [matrices, dot_of_matrices])
def test_matrices(program, dtype):
    fn = accelerate(program)
    for left, right in SHAPES:
        assert_same(fn, (numbers(left, dtype, 1), numbers(right, dtype, 2)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_matrices_of_any_strides(dtype):
    fn = accelerate(matrices)
    a, b = numbers((12, 10), dtype, 1), numbers((14, 16), dtype, 2)
    for x, y in ((a[:, 3:], b[:7, ::2]), (a.T, b[:12]), (a[::2], b[:10].copy()),
                 (a, a.T), (a.T, a), (a[::-1], b[:10]), (a, b[9::-1, 1]),
                 (a[0], b[:10]), (a[:, 0], b[:12, 3:4])):
        assert_same(fn, (x, y))
    fn = accelerate(dot_of_matrices)
    assert_same(fn, (a, b[:10].T[:, :10].T), native=False)
    assert_same(fn, (a, a.T), native=False)
    assert_same(fn, (a[::-1], b[:10].copy()), native=False)


def norms(a, b):
    v = np.array([a[0], b[0], 1.0])
    return np.linalg.norm(a), np.linalg.norm(a - b), np.linalg.norm(v)


@pytest.mark.parametrize("dtype", FLOATS + ("int32",))
def test_norm(dtype):
    fn = accelerate(norms)
    for n in (1, 2, 3, 17, 33, 200):
        a, b = numbers((2 * n,), dtype, 1), numbers((2 * n,), dtype, 2)
        for x, y in ((a[:n], b[:n]), (a[::2], b[1::2]), (a[::-1], b)):
            assert_same(fn, (x, y))


def warp(points, H):
    out = np.zeros((points.shape[0], 2))
    inv = np.linalg.inv(H)
    for i in range(points.shape[0]):
        x, y = points[i]
        p = np.matmul(inv, np.array([x, y, 1]))
        q = H @ np.array([x, y, 1.0])
        out[i] = p[:2] / p[2] + q[0]
    return out, inv


@pytest.mark.parametrize("dtype", FLOATS)
def test_homography(dtype):
    points = numbers((30, 2), dtype, 3)
    H = (np.eye(3) + numbers((3, 3), dtype, 4) * 0.1).astype(dtype)
    assert_same(accelerate(warp), (points, H))
    for h in (np.asfortranarray(H), H[::-1]):
        assert_same(accelerate(warp), (points, h), native=dtype == "float64")
    H[2] = H[1]
    assert_same(accelerate(warp), (points, H * 0), native=False)


def systems(M, b):
    return np.linalg.solve(M, b), np.linalg.det(M)


@pytest.mark.parametrize("dtype", FLOATS + ("int32",))
def test_solve(dtype):
    fn = accelerate(systems)
    for n in (1, 2, 3, 6, 20):
        M = numbers((n, n), dtype, n) + 3 * np.eye(n).astype(dtype)
        for b in (numbers((n,), dtype, 1), numbers((n, 4), dtype, 2)):
            assert_same(fn, (M, b))
            assert_same(fn, (M.T, b[::-1]))
    assert_same(fn, (np.zeros((2, 2)), np.ones(2)), native=False)
    assert_same(fn, (np.zeros((2, 3)), np.ones(2)), native=False)


def sorted_copies(a):
    return (np.sort(a), np.argsort(a, kind="stable"), np.argsort(a),
            a.argsort(kind="mergesort"), np.sort(a * 2)[0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", FLOATS + ("bool", "int8", "uint8", "int16",
                                            "int32", "int64", "uint64"))
def test_sort(dtype):
    fn = accelerate(sorted_copies)
    for n in (1, 2, 3, 16, 17, 100, 1000):
        a = numbers((2 * n,), "int64", n).astype(dtype)
        for array in (a, a[::2], a[::-1]):
            assert_same(fn, (array,), native=dtype != "bool")
    if dtype in FLOATS:
        a = np.array([3, np.nan, -0.0, 0.0, -np.inf, np.nan, 0.0, -0.0, 1])
        assert_same(fn, (a.astype(dtype),))


def top_scores(scores, k):
    order = np.argsort(-scores, kind="mergesort")
    total = 0.0
    for i in order[:k]:
        total += scores[i]
    return total, order


def test_order():
    assert_same(accelerate(top_scores), (numbers((50,), "float64", 9), 7))


# --- sorted in place ---------------------------------------------------------------


def in_place(a):
    b = a.copy()
    none = b.sort()
    a[::2].sort()
    return b, none


def in_place_by_axis(a):
    b = a.copy()
    b.sort(0)
    a.sort(axis=-1)
    a[0].sort()
    return b


def median_filtered(a):
    out = np.zeros_like(a)
    for i in range(2, a.shape[0] - 2):
        w = np.zeros(5, a.dtype)
        for j in range(5):
            w[j] = a[i + j - 2]
        w.sort()
        out[i] = w[2]
    return out


def refused(a):
    a.sort(axis=7)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_sorted_in_place(dtype):
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 40, 1000):
        a = rng.integers(-9, 9, n).astype(dtype)
        if n > 1 and a.dtype.kind == "f":
            a[[0, n // 2]] = -0.0, np.nan
        for make in (lambda x: x, lambda x: x[::-1]):
            assert_same(accelerate(in_place), (make(a),))
            assert_same(accelerate(median_filtered), (make(a),))
    table = rng.integers(0, 99, (7, 9)).astype(dtype)
    for array in (table, table.T):
        assert_same(accelerate(in_place_by_axis), (array,), native=False)
    assert_same(accelerate(refused), (table,), native=False)
