"""How many versions of a function there are: small axes and flags that change
from call to call must not use the signatures up."""
import random
import warnings

import numpy as np
import pytest

import vizgen
from vizgen import accelerate
from vizgen.compare import difference

RANDOM = random.Random(3)
CALLS = 200


def size():
    return RANDOM.randint(1, 30)


def flag():
    return RANDOM.random() < 0.5


def image(*more):
    return np.random.RandomState(size()).rand(size(), size(), *more)


def flags(img, a, b, c, d, e):
    s = 0.0
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            v = img[y, x]
            if a:
                v = v * 2
            if b:
                v = -v
            if c:
                v = v + 1
            if d:
                s += v
            if e:
                s -= 1
    return s


def crop(img, y0, x0, h, w):
    out = np.zeros_like(img[y0:y0 + h, x0:x0 + w])
    for y in range(h):
        for x in range(w):
            out[y, x] = img[y0 + y, x0 + x]
    return out.sum()


def halves(img):
    out = np.zeros(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            out[y, x] = img[y, x] * 0.5
    return out


def rows(img):
    out = np.zeros(img.shape)
    for y in range(img.shape[0]):
        out[y] = img[y] * 2.0 + 1.0
    return out


def faded(img):
    acc = np.zeros(img.shape[2])
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            acc = acc * 0.5 + img[y, x]
    return acc


def power(a, n):
    s = 0
    for i in range(a.shape[0]):
        s += int(a[i]) ** n
    return s


def added(a, b):
    return a + b


def doubled(a):
    out = np.zeros_like(a)
    for i in range(len(a)):
        out[i] = a[i] * 2
    return out


def view():
    """Part of an image, in one of the layouts that parts have."""
    whole = image()
    return RANDOM.choice([whole, whole[::2], whole[:, ::2], whole.T])


def parts():
    return (view(),)


def some_or_one():
    n = size()
    return np.ones(n), np.ones(RANDOM.choice([1, n]))


PROGRAMS = [
    (flags, lambda: (image(), flag(), flag(), flag(), flag(), flag())),
    (crop, lambda: (np.ones((60, 60)), size(), size(), size(), size())),
    (halves, lambda: (image(size()),)),
    (rows, lambda: (image(),)),
    (rows, parts),
    (faded, lambda: (image(size()),)),
    (power, lambda: (np.arange(1, 4), RANDOM.randint(0, 12))),
    (added, lambda: (np.ones((size(), 1)), np.ones(size()))),
    (added, some_or_one),
    (doubled, lambda: (np.ones(size()),)),
]


def run(fn, arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(CALLS):
            args = arguments()
            words = difference(fn(*args), fn.py_func(*args))
            assert words is None, words
    return [str(w.message) for w in caught
            if issubclass(w.category, vizgen.FallbackWarning)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function, arguments", PROGRAMS,
                         ids=[f"{i}-{p[0].__name__}"
                              for i, p in enumerate(PROGRAMS)])
def test_few_signatures(function, arguments):
    """Eight do for all shapes and flags; layouts may add two."""
    fn = accelerate(function)
    assert run(fn, arguments) == []
    stats = fn.stats
    most = 10 if arguments is parts else 8
    assert stats.compiles + stats.cache_hits <= most
    assert stats.python_calls == 0 and stats.replays <= 1
    assert len(fn.signatures) <= most


def decided(a, f1, f2, f3, f4, f5):
    t = a if f1 else 1.0
    u = a if f2 else 2.0
    v = a if f3 else 3.0
    w = a if f4 else 4.0
    x = a if f5 else 5.0
    return t + u + v * w - x


def test_flags_that_decide_on_types():
    """They must be known, so not all signatures are compiled."""
    fn = accelerate(decided)
    messages = run(fn, lambda: (np.ones(5), flag(), flag(), flag(), flag(),
                                flag()))
    assert len(messages) == 1 and "VZ-4003" in messages[0]
    assert "VZ-2006" in messages[0]
    first = decided.__code__.co_firstlineno
    assert f"test_signatures.py:{first + 6}:12  VZ-2006" in messages[0]
    assert fn.stats.native_calls > 50 and fn.stats.python_calls > 0


def named(a, mode):
    return a[0] if mode == "k3" else a[1]


def test_strings_that_differ():
    fn = accelerate(named)
    messages = run(fn, lambda: (np.arange(2.0), f"k{size()}"))
    assert len(messages) == 1 and "16 signatures came" in messages[0]
    assert "strings" in messages[0]
