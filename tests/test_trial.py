"""Never slower: signatures whose calls are repeated in Python, or are faster
there, are given up, with a warning that says why and where."""
import warnings

import numpy as np
import pytest

import vizgen
from vizgen import accelerate


@pytest.fixture(autouse=True)
def with_trials(monkeypatch):
    """Other tests count native calls and go without."""
    monkeypatch.delenv("VIZGEN_TRIALS", raising=False)


def told(fn, calls):
    """The FallbackWarnings of calls with these arguments; exceptions of the
    function are nothing to us."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for args in calls:
            try:
                fn(*args)
            except (ValueError, IndexError):
                pass
    return [str(w.message) for w in caught
            if issubclass(w.category, vizgen.FallbackWarning)]


def product(a):
    s = 1
    for i in range(a.shape[0]):
        s = s * int(a[i])
    return s


SMALL = np.full(3, 1000),
LARGE = np.full(30, 1000),


def line_of(fn, text):
    """'file:line:' of the line of 'fn' with this text."""
    with open(__file__) as file:
        lines = file.read().splitlines()
    first = fn.__code__.co_firstlineno
    number = next(n for n in range(first, first + 20) if text in lines[n - 1])
    return f"{__file__}:{number}:"


def test_repeated_calls_go_to_python():
    fn = accelerate(product)
    messages = told(fn, [LARGE] * 20)
    assert len(messages) == 1
    assert line_of(product, "s * int") in messages[0]
    assert "VZ-4004" in messages[0] and "8 of the last 8" in messages[0]
    assert "64 bits" in messages[0] and "^" in messages[0]
    assert fn.stats.replays == 8 and fn.stats.python_calls == 12
    assert fn.signatures == []
    assert "VZ-4004" in fn.explain() and "VZ-4004" in fn.explain(*LARGE)
    assert fn(*LARGE) == 1000**30


def test_most_of_the_last_calls():
    fn = accelerate(product)
    assert told(fn, [SMALL, SMALL, SMALL, LARGE, SMALL] * 8) == []
    assert fn.stats.native_calls == 32 and fn.stats.python_calls == 0
    messages = told(fn, [LARGE, LARGE, LARGE, SMALL] * 4)
    assert len(messages) == 1 and "6 of the last 8" in messages[0]
    assert fn.stats.python_calls > 0


def test_each_signature_for_itself():
    fn = accelerate(product)
    told(fn, [LARGE] * 12)
    other = np.full(3, 1000, np.int32)
    before = fn.stats
    assert fn(other) == 1000**3
    assert fn.stats.native_calls == before.native_calls + 1
    assert fn.signatures == ["int32[:]"]


def varied(a, k):
    if k == 0:
        return a[k + 5]
    if k == 1:
        raise ValueError(k)
    return a[0] * k


def test_several_reasons():
    fn = accelerate(varied)
    a = np.arange(3)
    messages = told(fn, [(a, k % 2) for k in range(12)])
    assert len(messages) == 1 and "several reasons" in messages[0]
    assert line_of(varied, "raise ValueError") in messages[0]


def test_checks_in_loops_are_named():
    """Vector and parallel loops too say which check it was."""
    def narrow(values, out):
        for i in range(values.shape[0]):
            for k in range(values.shape[1]):
                out[i, k] = int(values[i, k])
        return out

    fn = accelerate(narrow)
    values = np.full((300, 200), 300.0)
    values[:250] = 1.0

    def call():
        with pytest.raises(OverflowError):
            fn(values, np.zeros(values.shape, np.uint8))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(9):
            call()
    assert fn.stats.replays == 8
    assert line_of(narrow, "int(values") in str(caught[0].message)


def test_strict_stays_native():
    fn = accelerate(product, strict=True)
    assert told(fn, [LARGE] * 20) == []
    assert fn.stats.replays == 20


def test_warnings_as_errors():
    fn = accelerate(product)
    with warnings.catch_warnings():
        warnings.simplefilter("error", vizgen.FallbackWarning)
        for _ in range(7):
            assert fn(*LARGE) == 1000**30
        with pytest.raises(vizgen.FallbackWarning, match="VZ-4004"):
            fn(*LARGE)
    assert fn(*LARGE) == 1000**30


# --- slower -------------------------------------------------------------------


def largest(a):
    return np.argmax(a)


def mean_of(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i]
    return total / a.shape[0]


def test_slower_than_python():
    """NumPy has vector code for this; trials find it out."""
    fn = accelerate(largest)
    args = np.arange(200_000).astype(np.uint8),
    messages = told(fn, [args] * 900)
    if not messages:  # no longer slower
        assert fn.stats.python_calls < 20
        return
    assert len(messages) == 1 and "VZ-4005" in messages[0]
    assert "us in native code" in messages[0]
    assert "VZ-4005" in fn.explain()
    assert fn.stats.native_calls < 700


def test_faster_stays_native():
    fn = accelerate(mean_of)
    args = np.ones(100),
    assert told(fn, [args] * 1500) == []
    assert 0 < fn.stats.python_calls < 20
    assert fn.stats.native_calls + fn.stats.python_calls == 1500


def test_long_calls_are_not_tried_in_python():
    fn = accelerate(mean_of)
    assert told(fn, [(np.ones(100_000),)] * 300) == []
    assert fn.stats.native_calls == 300


def test_no_trials(monkeypatch):
    chosen = accelerate(mean_of)
    chosen._set_variant("parallel=0")
    monkeypatch.setenv("VIZGEN_TRIALS", "0")
    for fn in (chosen, accelerate(mean_of), accelerate(mean_of, strict=True)):
        for _ in range(200):
            fn(np.ones(10))
        assert fn.stats.native_calls == 200
