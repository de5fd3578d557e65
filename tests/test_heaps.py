"""heapq's functions, item by item as in CPython, ties included."""
import heapq
from heapq import heappop, heappush

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def shortest(img):
    """Dijkstra's distances, by a heap of tuples."""
    h, w = img.shape
    dist = np.full((h, w), np.inf)
    dist[0, 0] = 0
    heap = [(0.0, 0, 0)]
    taken = 0
    while heap:
        d, y, x = heapq.heappop(heap)
        if d > dist[y, x]:
            continue
        taken += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            ny, nx = y + dy, x + dx
            if 0 <= ny < h and 0 <= nx < w:
                nd = d + img[ny, nx]
                if nd < dist[ny, nx]:
                    dist[ny, nx] = nd
                    heapq.heappush(heap, (nd, ny, nx))
    return dist, taken


def all_of_them(numbers, k):
    queue = list(numbers)
    heapq.heapify(queue)
    seen = []
    for i in range(k):
        seen.append(heapq.heapreplace(queue, i))
        seen.append(heapq.heappushpop(queue, 2 * i))
    order = []
    while queue:
        order.append(heappop(queue))
    for v in order:
        heappush(queue, -v)
    return seen, order, queue


def kept_smallest(a, k):
    """The k largest numbers of an array."""
    best = []
    for v in a:
        if len(best) < k:
            heapq.heappush(best, v)
        else:
            heapq.heappushpop(best, v)
    return best


def nested(a):
    """Items that are tuples with tuples inside."""
    heap = []
    for i in range(len(a)):
        heappush(heap, (a[i] % 3, (i % 5, a[i])))
    order = []
    while heap:
        rank, (place, value) = heappop(heap)
        order.append((rank, place, value))
    return order


def compared(a, b, c):
    x, y = (a, (b, c)), (b, (a, 1.5))
    return x < y, x <= y, x > y, x >= y, (x, 1) < (x, 2), x < (a, (b, c, 0))


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_distances(dtype):
    compiled = accelerate(shortest)
    values = np.random.RandomState(2).randint(1, 9, (11, 13)).astype(dtype)
    for img in (values, values.T, values[::-1, ::2], values[:1, :1]):
        assert_same(compiled, (img,))


def test_functions():
    compiled = accelerate(all_of_them)
    random = np.random.RandomState(5)
    for n in (1, 2, 3, 10, 100):
        assert_same(compiled, (random.randint(0, 9, n).tolist(), 4))
        assert_same(compiled, (random.uniform(0, 9, n).tolist(), 4))
    assert_same(compiled, ([], 1), native=False)  # IndexError
    assert_same(compiled, ([], 0))


def test_numbers_of_numpy():
    compiled = accelerate(kept_smallest)
    for dtype in ("float32", "float64", "int16"):
        a = np.random.RandomState(6).uniform(0, 99, 50).astype(dtype)
        assert_same(compiled, (a, 5))
        assert_same(compiled, (a[:3], 5))


def test_nested_tuples():
    a = np.random.RandomState(7).randint(0, 50, 40)
    assert_same(accelerate(nested), (a,))
    assert_same(accelerate(nested), (a * 0.5,))
    ordered = accelerate(compared)
    for args in ((1, 1, 1.5), (1, 2, 0.0), (2, 1, 3.0)):
        assert_same(ordered, args)
    assert_same(ordered, (1, 1, float("nan")), native=False)
