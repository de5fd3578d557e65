"""Small programs that once gave a wrong result or ended the process.

Most were found by random programs and made smaller by tests/fuzz/shrink.py.
Each runs with several options of the compiler.
"""
import math
import threading
import time
import warnings

import numpy as np
import pytest

from tests.support import assert_same
from vizgen import FallbackWarning, accelerate

OPTIONS = ("", "vectorize=0 regions=0", "pipes=0 unroll=0", "parallel=0")


def numbers(seed, shape, dtype):
    values = np.random.RandomState(seed).uniform(0, 100, shape)
    return values.astype(dtype)


def stored_then_read(a, b):
    """An integer that wraps warns after memory of the caller was written."""
    for i in range(1):
        a[0] = b[0, i]
        b[0, i] = 7 - a[1]


def wrapped_index(img):
    """A last index that is a choice, in front of a vector's lanes."""
    out = np.zeros(img.shape, dtype=np.float32)
    for r in range(img.shape[0]):
        for c in range(img.shape[1]):
            left = c - 1
            out[r, c] = img[1, left]
    return out


def chained_copies(img):
    """Three stages, of which two only copy."""
    rows, cols = img.shape[0], img.shape[1]
    t1 = np.zeros(img.shape)
    for r in range(rows):
        for c in range(cols):
            left = c - 1
            t1[r, c] = img[1, left]
    t2 = np.zeros(img.shape)
    for r in range(rows):
        for c in range(cols):
            t2[r, c] = t1[r, c]
    t3 = np.zeros(img.shape, dtype=np.float32)
    for r in range(rows):
        for c in range(cols):
            total = t2[r, c]
            t3[r, c] = total
    return t3


def unused_condition(a, b, out, limit):
    """A loop whose branches do nothing but one store."""
    cols = a.shape[1]
    for i in range(2, cols - 2):
        if not 6 <= a.shape[0]:
            pass
        else:
            for k in range(cols):
                out[i % a.shape[0], k] = (
                    2 if not k + 6 <= min(i, a.shape[0]) or b[i] >= limit
                    else 1)


def unused_branch(a, s):
    cols = a.shape[1]
    for i in range(cols - 1, -1, -2):
        for k in range(0, cols, 3):
            if s >= s % 3:
                pass
            elif i // 2 == s:
                a[i % a.shape[0], k] = 1.0


def wrapped_power(a, b):
    """A power of an unsigned number wraps; later stores are in place."""
    a[0] = 0
    n = int(math.sqrt(abs(float(b[1])))) - a[1] ** 2
    for i in range(b.shape[0] - 1, -1, -1):
        b[i] *= 0.25
    return n


def invariant_root(a, out):
    """A root in an inner loop that does not depend on it."""
    z = 0
    for i in range(a.shape[0]):
        for k in range(2, -1, -2):
            for n in range(2):
                if 0.5 < i * i:
                    pass
                elif max(3, a.shape[1]) >= i + k or \
                        a[i, n % a.shape[1]] >= np.sqrt(
                            abs(float(a[i, (k - 3) % a.shape[1]]))):
                    out[i] += z


def changed_while_iterated(a):
    """A small array is one object for the loop and for its body."""
    v = a[0].astype(np.int64)
    s = 0
    for k, x in enumerate(v):
        v -= 7
        v[k] = s
        s += x
    for x in v:
        v = v * 2
    return s, x, v


def changed_by_another_name(a):
    v = np.zeros(3)
    w = v
    s = 0.0
    for x, y in zip(v, reversed(v)):
        for z in v:
            w[2] += a[0, 0]
            s += 3 * x + 2 * y + z
    return s


def one_view_of_two_returns(a, n):
    """Each return has named where the view begins for itself."""
    v = a[1:]
    if n > 3:
        return 1, v
    return 2, v


def view_beside_a_split(a):
    t = 1.5
    v = a[-3:]
    if np.uint8(200) > 3:
        t = np.uint8(3)
    return t, v


def copies_of_parts(a):
    """ravel() copies what has gaps, reshape(-1) and flat do not."""
    r = np.ravel(a[::2])
    r[0] = 8
    s = a[::-1].ravel()
    s[1] = 9
    a[::2].flat[1] = 7
    return r, s, a[::-1].reshape(-1)


def closeness(a, b):
    return (np.isclose(np.uint8(3), np.uint8(250), atol=20),
            np.isclose(a, b), np.allclose(a, b), np.nanmean(a))


def along_axes(a):
    return np.diff(a, axis=0), np.diff(a, axis=1), np.flip(a, 0)


def of_bools(a, p, q):
    """A bool is no number that takes another's dtype."""
    return np.arctan2(p, q), np.sin(p), np.hypot(a[0], p), np.exp(a * q)


def stored_into_nothing(a, b):
    a[0:0] = (7 ^ a)[None, :]
    b[0:0, ::2] = b[:, :1]
    return a.sum() + b[1:1].sum()


def wrapped_byte(a, n, at):
    """An index that is a choice, on an axis whose step is one byte."""
    for i in range(1, n):
        for _ in range(1, a.shape[0] - 1):
            a[i, at] -= 5


def wrapped_only_row(n, at):
    """Likewise, in front of an axis with one index."""
    t = np.zeros((n, 1), np.int64)
    for i in range(n):
        for k in range(t.shape[1]):
            t[at, k] += i
            t[at - i, k] += 1
    return t


CASES = {
    stored_then_read: lambda: (np.array([1, 200], np.uint8),
                               np.array([[9]], np.uint8)),
    wrapped_byte: lambda: (numbers(12, (15, 15), np.uint8)[1:8, 1:8], 6, 5),
    wrapped_only_row: lambda: (6, 2),
    wrapped_index: lambda: (numbers(1, (6, 5, 3), np.float32),),
    chained_copies: lambda: (numbers(2, (20, 15, 3), np.float32),),
    unused_condition: lambda: (numbers(3, (7, 7), np.float64),
                               numbers(4, 7, np.int16),
                               np.zeros((7, 7)), 6),
    unused_branch: lambda: (np.asfortranarray(numbers(5, (5, 1), np.uint16)),
                            5),
    wrapped_power: lambda: (numbers(6, 3, np.uint64)[::-1],
                            numbers(7, 3, np.uint32)),
    invariant_root: lambda: (numbers(8, (13, 3), np.int32)[1:7, 1:2],
                             np.zeros(6, np.float32)),
    one_view_of_two_returns: lambda: (np.arange(6.0), 5),
    view_beside_a_split: lambda: (np.arange(6.0),),
    copies_of_parts: lambda: (np.arange(7.0),),
    closeness: lambda: (np.array([2**62, 2**63 - 1], np.uint64),
                        np.array([7, 5], np.uint64)),
    along_axes: lambda: (numbers(11, (3, 4, 2), np.float32),),
    of_bools: lambda: (np.ones(3, np.float32), True, False),
    stored_into_nothing: lambda: (np.arange(1), np.ones((1, 4))),
    changed_while_iterated: lambda: (numbers(9, (2, 6), np.uint8),),
    changed_by_another_name: lambda: (numbers(10, (2, 2), np.float32),),
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_found(fn, options):
    fast = accelerate(fn)
    fast._set_variant(options)
    for _ in range(3):
        assert_same(fast, CASES[fn](), native=False)
    assert fast.stats.python_calls == 0 or fn is of_bools


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("fn", [
    lambda a, c: a[()], lambda a, c: np.where(True, c, 0),
    lambda a, c: np.where(a[0] > 0, a[0], 1j), lambda a, c: a[..., None][()],
    lambda a, c: a[:1].reshape(()), lambda a, c: a.reshape(()),
    lambda a, c: a.reshape(), lambda a, c: np.flip(a[None, None]),
    lambda a, c: np.diff(a[None, None] + a[:, None]),
    lambda a, c: np.gradient(a, axis=1), lambda a, c: np.gradient(a > 1)])
def test_left_to_python(fn):
    args = np.array([3.0, 1, 2, 5]), 2 + 1j
    assert_same(accelerate(fn), args, native=False)


# --- arguments and warnings as errors ---------------------------------------


def first_of(a, scale):
    return a[0]


@pytest.mark.parametrize("value", [2**63, -2**63 - 1, 10**400])
def test_int_beyond_64_bits_in_a_first_call(value):
    """It has the key of an int, but no native value."""
    for fn in (accelerate(first_of), accelerate(first_of)):
        assert fn(np.zeros(3), value) == 0.0
        assert fn(np.zeros(3), scale=value) == 0.0
    fn.compile(np.zeros(3), value)
    assert fn(np.zeros(3), 1) == 0.0


def divide(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] / b[i]


def double(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] + a[i]


def stopped(fn, args, how):
    """The exception's text and what was written before it."""
    with warnings.catch_warnings(), np.errstate(
            all="raise" if how == "errstate" else "warn"):
        warnings.simplefilter("error")
        with pytest.raises((FloatingPointError, RuntimeWarning)) as caught:
            fn(*args)
    return str(caught.value), args[-1].tobytes()


@pytest.mark.parametrize("how", ["errstate", "filter"])
@pytest.mark.parametrize("fn, dtype", [(divide, float), (double, np.uint8)])
def test_error_stops_half_way(fn, dtype, how):
    """Also where the argument is only written, in every call."""
    def arguments():
        return (np.array([1, 200, 3], dtype), np.array([1, 0, 3], dtype),
                np.full(3, 9, dtype))
    native = accelerate(fn)
    for _ in range(3):
        assert stopped(native, arguments(), how) == stopped(
            fn, arguments(), how)


# --- numbers ------------------------------------------------------------------


def store_first(a, out):
    out[0] = a[0]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_cast_to_unsigned_warns(source, dtype):
    """Where the integer that NumPy converts through does not hold the value."""
    values = [0.0, -0.5, 300.7, -1.0, 2.0**31 - 1, 2.0**31, -2.0**31, 1e10,
              -1e10, 2.0**63, -2.0**63, -2.0**64, 2.0**64, 1e30, math.inf]
    for value in values:
        seen = []
        for fn in (accelerate(store_first), store_first):
            out = np.zeros(1, dtype)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fn(np.array([value], source), out)
            seen.append((out.tobytes(), [w.category for w in caught]))
        assert seen[0] == seen[1], value


def low_bits(a):
    return int(a[0]) % 256, int(a[0]) & 255, int(a[0]) + 1


@pytest.mark.parametrize("value", [5, 2**63 + 7, 2**64 - 1])
def test_int_of_uint64(value):
    a = np.array([value], np.uint64)
    fn = accelerate(low_bits, strict=True)
    assert fn(a) == low_bits(a)


# --- loops without rounds -----------------------------------------------------


def chosen_after(a, n):
    k = n
    for i in range(n):
        if k < 9:
            k = 7
        else:
            k = i
    return a[k]


def walked_after(n):
    k = 0
    for i in range(n):
        k = k + 2
    return k if k <= 2 * n else -1


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n", [-30, -21, -20, -5, -1, 0, 1, 3, 12])
def test_what_a_loop_without_rounds_hands_out(n, options, monkeypatch):
    """Nothing may be concluded from the rounds that it did not run."""
    monkeypatch.setenv("VIZGEN_OPTS", options)
    fn = accelerate(chosen_after)
    if n < -20:
        with pytest.raises(IndexError):
            fn(np.arange(20.0), n)
    else:
        assert fn(np.arange(20.0), n) == chosen_after(np.arange(20.0), n)
    assert accelerate(walked_after)(n) == walked_after(n)


def row_start_kept(img, out):
    """The value before the inner loop is stored over by the row itself."""
    h, w = img.shape
    tmp = np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            tmp[y, x] = img[y, x] * 2.0 + img[y, x] * img[y, x] + 1.0
    for y in range(1, h - 1):
        first = out[y, 0]
        for x in range(w):
            out[y, x] = tmp[y - 1, x] + tmp[y, x] + tmp[y + 1, x] + first


def test_value_before_the_inner_loop_is_read_once():
    assert_same(accelerate(row_start_kept),
                (numbers(0, (40, 1500), float), numbers(1, (40, 1500), float)))


def border_of(o, n):
    for i in range(n):
        if i + 1 < n:
            o[0] = 1.0
        else:
            o[1] = 1.0


@pytest.mark.parametrize("n", [-2**63, -2**63 + 1, -2**40 - 1, -1, 0, 1, 2])
def test_ends_at_the_ends_of_int64(n):
    """The end of the interior may not wrap round."""
    assert_same(accelerate(border_of), (np.zeros(2), n))


# --- loads that a store may have overwritten ----------------------------------


def index_of_index(a, b, i, k):
    """The first store changes the index of the second load."""
    first = a[a[i] + 5]
    a[a[i] + 3] = k
    second = a[a[i] + 5]
    b[a[i] + 3] = k
    return first, second, a[a[i] + 5]


@pytest.mark.parametrize("overlap", [False, True])
def test_loads_within_indices_are_read_again(overlap):
    def arguments():
        a = np.arange(30)
        a[4] = 1
        return a, a[:20] if overlap else np.arange(20), 4, 9
    for options in OPTIONS:
        fast = accelerate(index_of_index)
        fast._set_variant(options)
        for _ in range(2):
            got, want = arguments(), arguments()
            assert fast(*got) == index_of_index(*want)
            assert got[0].tolist() == want[0].tolist()
        assert fast.stats.python_calls == 0


# --- another thread meanwhile -------------------------------------------------


def test_global_that_changes_while_another_thread_compiles(tmp_path):
    """Who waited for the lock doesn't run what was made of the old value."""
    path = tmp_path / "scaled.py"
    path.write_text("""
def scaled(a):
    out = 0.0
    for i in range(a.shape[0]):
        out += a[i] * FACTOR
    return out
""")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    fn = accelerate(space["scaled"])
    arrays = [np.ones(1, dt) for dt in (np.float64, np.float32, np.int16)]
    for factor in range(6):
        space["FACTOR"] = float(factor)
        seen = []

        def work(a):
            for _ in range(20):
                seen.append(float(fn(a)))
        threads = [threading.Thread(target=work, args=(a,)) for a in arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(seen) == {float(factor)}


def add_then_check(a, rounds, index):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            a[i, k] = a[i, k] + 1
    x = 0
    for i in range(rounds[0]):
        x = (x * 3 + i) & 1023
    return index[x + a.shape[0]]


def test_new_shape_while_a_kernel_runs():
    """What is put back goes by the shape that the array had."""
    fn = accelerate(add_then_check)
    fn(np.zeros((2, 2)), np.array([3]), np.zeros(5000))
    a = np.zeros((40, 30))
    rounds = np.array([100_000_000])

    def reshape():
        time.sleep(0.03)
        a.shape = (1200, 1)
        rounds[0] = 1
    thread = threading.Thread(target=reshape)
    thread.start()
    with pytest.raises(IndexError):
        fn(a, rounds, np.zeros(3))
    thread.join()
    assert fn.stats.replays == 1 and a.shape == (1200, 1)
    assert (a == 1).all()


# --- numbers above the range of int64 ------------------------------------------


def long_extremes(a, k):
    x = a[0]
    y = a[1]
    small = min(x, y)
    large = max(x, y)
    out = 0
    for i in range(k):
        if small <= large:
            out += 1
        if x - y < large:
            out += 10
        if (x if x < y else y) == small:
            out += 100
        if x < a[2]:
            out += 1000
    return out, small, large, np.minimum(x, y), np.maximum(x, y)


def long_quotients(a, b, k):
    x = a[0]
    y = a[1]
    q = x // 3
    r = x % 7
    out = b[int(r)]
    for i in range(k):
        if q * 3 <= x:
            out += b[int((x + y) % 5)]
        if x // (y | 1) <= x:
            out += b[int(q % 6)]
        out += b[int(x >> 61)]
    return out, q, r, x & 15, ~x, x ^ y


def long_loop(a, b):
    """The counter's limit, and what is compared with it, are uint64."""
    total = 0.0
    for i in range(b.shape[0]):
        if i < a[0] and a[1] - a[0] > i:
            total += b[int((a[0] + i) % b.shape[0])]
    return total


LONG = [0, 1, 2, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1]


@pytest.mark.parametrize("options", OPTIONS)
def test_uint64(options):
    functions = [accelerate(f) for f in (long_extremes, long_quotients,
                                         long_loop)]
    for fn in functions:
        fn._set_variant(options)
    b = np.arange(8.0)
    for x in LONG:
        for y in LONG:
            a = np.array([x, y, 2**63], np.uint64)
            assert_same(functions[0], (a, 2), native=False)
            assert_same(functions[1], (a, b, 2), native=False)
            assert_same(functions[2], (a, b), native=False)
    assert all(fn.stats.python_calls == 0 for fn in functions)
    assert functions[1].stats.native_calls > 40


def counted(m):
    n = s = 0
    while (n := n + 1) < m:
        s += n
    return n, s


def test_names_bound_by_a_while_test():
    """The test that fails binds the name, too."""
    fast = accelerate(counted)
    for m in (0, 1, 9):
        assert_same(fast, (m,), native=False)


# --- what random programs of the whole language found ---


def bool_left(a, b):
    """np.bool leaves arithmetic to the ufunc, whose integers wrap silently."""
    return a[0] - b, b - a[0], a[0] + b, b + a[0], a[0] * b, b * a[0]


@pytest.mark.parametrize("number", [
    np.uint8(255), np.uint8(7), np.int8(-128), np.int64(-2**63),
    np.int64(2**63 - 1)], ids=repr)
def test_bool_of_numpy_with_integers(number):
    fn = accelerate(bool_left)
    for value in (True, False):
        assert_same(fn, (np.array([value]), number))


def dots_of_all(a):
    return a[..., 0, 1]


def dots_of_vector(a):
    return (a[0] * 2)[..., 1]


def dots_at_the_end(a):
    return a[0, 1, ...]


def larger_than_none(a):
    limit = None
    return np.maximum(a[0], limit)


def remainder_of_none(a):
    return np.remainder(np.ones(3), returns_none(a))


def returns_none(a):
    a[0] = 1


@pytest.mark.parametrize("fn", [
    dots_of_all, dots_of_vector, dots_at_the_end, larger_than_none,
    remainder_of_none], ids=lambda fn: fn.__name__)
def test_what_is_left_to_python(fn):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert_same(accelerate(fn), (numbers(1, (2, 3), np.float64),),
                    native=False)
