"""What a compiled function uses may change between calls; the next call sees
it, as it would in Python."""

import importlib.util
import itertools
import math
import os
import sys
import textwrap
import warnings

import numpy as np
import pytest

import vizgen

numbers = itertools.count()


@pytest.fixture
def module(tmp_path):
    """module(text) imports a file with that text under a fresh name."""
    names = []

    def make(text):
        name = f"guarded_{next(numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text("import math\nimport numpy as np\n"
                        "from vizgen import accelerate\n"
                        + textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made
        names.append(name)
        spec.loader.exec_module(made)
        return made

    yield make
    for name in names:
        del sys.modules[name]


def native(f, *args):
    """The result of a call that must run native, and be Python's."""
    before = f.stats.native_calls
    result = f(*args)
    assert f.stats.native_calls == before + 1, f.explain()
    want = f.py_func(*args)
    assert type(result) is type(want) and result == want
    return result


# --- globals -----------------------------------------------------------------


def test_number(module):
    m = module("""
        GAIN = 2.0
        @accelerate
        def f(a):
            return a * GAIN
        """)
    assert native(m.f, 3.0) == 6.0
    m.GAIN = 5.0
    assert native(m.f, 3.0) == 15.0
    m.GAIN = 5
    assert native(m.f, 3) == 15


def test_equal_value_is_not_a_change(module):
    m = module("""
        GAIN = 1000000
        @accelerate
        def f(a):
            return a * GAIN
        """)
    native(m.f, 3)
    compiled = m.f.stats
    m.GAIN = int("1000000")
    assert native(m.f, 3) == 3000000
    assert m.f.stats.compiles == compiled.compiles
    assert m.f.stats.cache_hits == compiled.cache_hits
    m.GAIN = 1000000.0
    assert isinstance(m.f(3), float)


def test_signed_zero_is_a_change(module):
    m = module("""
        ZERO = 0.0
        @accelerate
        def f(a):
            return a * ZERO
        """)
    assert math.copysign(1, native(m.f, 3.0)) == 1
    m.ZERO = -0.0
    assert math.copysign(1, native(m.f, 3.0)) == -1


def test_global_removed(module):
    m = module("""
        GAIN = 2.0
        @accelerate
        def f(a):
            return a * GAIN
        """)
    native(m.f, 3.0)
    del m.GAIN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(NameError, match="GAIN"):
            m.f(3.0)
    m.GAIN = 4.0
    assert native(m.f, 3.0) == 12.0


def test_helper_rebound(module):
    m = module("""
        def helper(a):
            return a + 1.0
        def other(a):
            return a - 1.0
        @accelerate
        def f(a):
            return helper(a)
        """)
    assert native(m.f, 3.0) == 4.0
    m.helper = m.other
    assert native(m.f, 3.0) == 2.0


def test_helper_of_a_helper(module):
    m = module("""
        STEP = 1.0
        def inner(a):
            return a + STEP
        @accelerate
        def outer(a):
            return inner(a)
        @accelerate
        def f(a):
            return outer(a) * 2.0
        """)
    assert native(m.f, 3.0) == 8.0
    m.STEP = 2.0
    assert native(m.f, 3.0) == 10.0


def test_helper_code_replaced(module):
    m = module("""
        def helper(a):
            return a + 1.0
        def other(a):
            return a - 1.0
        @accelerate
        def f(a):
            return helper(a)
        """)
    native(m.f, 3.0)
    m.helper.__code__ = m.other.__code__
    assert m.f(3.0) == 2.0


def test_defaults_changed(module):
    m = module("""
        def helper(a, by=1.0):
            return a + by
        @accelerate
        def f(a, gain=2.0):
            return helper(a) * gain
        """)
    assert native(m.f, 3.0) == 8.0
    m.helper.__defaults__ = (2.0,)
    assert native(m.f, 3.0) == 10.0
    m.f.__defaults__ = (3.0,)
    assert m.f.py_func.__defaults__ == (3.0,)
    assert native(m.f, 3.0) == 15.0


def test_own_code_replaced(module):
    m = module("""
        @accelerate
        def f(a):
            return a + 1.0
        def g(a):
            return a - 1.0
        """)
    native(m.f, 3.0)
    m.f.__code__ = m.g.__code__
    assert m.f(3.0) == 2.0


# --- library functions -------------------------------------------------------


def test_patched_math_function(module, monkeypatch):
    m = module("""
        @accelerate
        def f(a):
            return math.sqrt(a)
        """)
    assert native(m.f, 4.0) == 2.0
    monkeypatch.setattr(math, "sqrt", lambda a: -1.0)
    assert m.f(4.0) == -1.0
    monkeypatch.undo()
    assert native(m.f, 4.0) == 2.0


def test_patched_before_the_first_call(module, monkeypatch):
    monkeypatch.setattr(math, "sin", math.cos)
    m = module("""
        @accelerate
        def f(a):
            return math.sin(a)
        """)
    assert m.f(0.0) == 1.0


def test_builtin_shadowed_later(module):
    m = module("""
        @accelerate
        def f(a):
            return abs(a)
        """)
    assert native(m.f, -4.0) == 4.0
    m.abs = lambda a: 17.0
    assert m.f(-4.0) == 17.0
    del m.abs
    assert native(m.f, -4.0) == 4.0


def test_patched_numpy_function(module, monkeypatch):
    m = module("""
        @accelerate
        def f(n):
            return np.zeros(n)
        """)
    assert m.f(3).tolist() == [0.0] * 3
    monkeypatch.setattr(np, "zeros", np.ones)
    assert m.f(3).tolist() == [1.0] * 3


def test_module_constant(module):
    m = module("""
        import types, sys
        settings = types.ModuleType("settings")
        settings.R = 2
        @accelerate
        def f(a):
            return a + settings.R
        """)
    assert native(m.f, 3) == 5
    m.settings.R = 7
    assert native(m.f, 3) == 10


# --- global arrays -----------------------------------------------------------


LUT = """
    LUT = np.arange(4.0)
    @accelerate
    def f(i):
        return LUT[i] + 0.0
    """


def test_array_contents(module):
    m = module(LUT)
    assert native(m.f, 2) == 2.0
    m.LUT[2] = 20.0
    assert native(m.f, 2) == 20.0


def test_array_rebound(module):
    m = module(LUT)
    native(m.f, 2)
    compiled = m.f.stats.compiles + m.f.stats.cache_hits
    m.LUT = np.full(9, 5.0)
    assert native(m.f, 8) == 5.0
    assert m.f.stats.compiles + m.f.stats.cache_hits == compiled
    m.LUT = np.arange(10, dtype=np.float32)
    assert native(m.f, 3) == 3.0
    m.LUT = [7.0, 8.0]
    assert m.f(1) == 8.0
    m.LUT = {1: 9.0, 2: object()}
    with pytest.warns(vizgen.FallbackWarning, match="VZ-"):
        assert m.f(1) == 9.0


def test_array_written(module):
    m = module("""
        STATE = np.zeros(3)
        @accelerate
        def f(i):
            STATE[i] = STATE[i] + 1.0
            return 0
        """)
    m.f(1)
    m.f(1)
    assert m.STATE.tolist() == [0.0, 2.0, 0.0]
    assert m.f.stats.native_calls == 2
    with pytest.raises(IndexError):
        m.f(3)
    assert m.STATE.tolist() == [0.0, 2.0, 0.0]


# --- odd objects -------------------------------------------------------------

ODD = """
    class Meta(type):
        def __eq__(self, other):
            raise ZeroDivisionError
        def __hash__(self):
            raise ZeroDivisionError

    class Odd(metaclass=Meta):
        __eq__, __hash__ = Meta.__eq__, Meta.__hash__
        def __getattr__(self, name):
            raise ZeroDivisionError
        def __call__(self, x):
            return x

    class Text(str):
        __eq__, __hash__ = Meta.__eq__, Meta.__hash__

    odd = Odd()
    inside = {1: odd}, (Text("a"),)

    @accelerate
    def f(a, *, last=%s):
        total = 0.0
        for i in range(len(a)):
            total += %s
        return total
"""


@pytest.mark.parametrize("last, what", [
    ("0", "odd(a[i])"), ("0", "Odd()(a[i])"), ("0", "inside[0][1](a[i])"),
    ("0", "len(inside[1]) * a[i]"), ("odd", "a[i]"), ("inside", "a[i]")])
def test_objects_that_raise_when_asked_what_they_are(module, last, what):
    """They are the program's business: it runs in Python, and says why."""
    m = module(ODD % (last, what))
    with pytest.warns(vizgen.FallbackWarning):
        assert m.f(np.arange(4.0)) == 6.0


class Mute(Exception):
    def __str__(self):
        raise ZeroDivisionError


class Broken(Exception):
    def __str__(self):
        return "\ud800"


@pytest.mark.parametrize("name", [None, 5, "", "numpy"])
def test_helper_of_a_module_with_an_odd_name(module, name):
    m = module("""
        def helper(x):
            return 2 * x

        @accelerate
        def f(a):
            total = 0.0
            for i in range(len(a)):
                total += helper(a[i])
            return total
    """)
    space = {**vars(m), "__name__": name}
    m.helper = type(m.helper)(m.helper.__code__, space)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert m.f(np.arange(4.0)) == 12.0
    assert m.f.stats.native_calls or m.f.stats.mixed_calls or told


@pytest.mark.parametrize("error", [RecursionError("deep"), OSError(24, "files")])
def test_what_may_pass_is_not_remembered(module, monkeypatch, error):
    m = module("""
        @accelerate
        def f(a):
            return a[0] + 1
    """)

    def find(function):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("vizgen.source.find", find)
        assert m.f(np.arange(4.0)) == 1.0
    assert m.f(np.arange(4.0)) == 1.0
    assert m.f.stats.python_calls == m.f.stats.native_calls == 1


@pytest.mark.parametrize("error, told", [
    (LookupError("gone"), "raised LookupError: gone"),
    (Mute(), "raised Mute"), (Broken(), "raised Broken")])
def test_whatever_goes_wrong_in_reading_is_told(module, monkeypatch, error,
                                                told):
    m = module("""
        @accelerate
        def f(a):
            return a[0] + 1
    """)

    def find(function):
        raise error

    monkeypatch.setattr("vizgen.source.find", find)
    with pytest.warns(vizgen.FallbackWarning, match=told):
        assert m.f(np.arange(4.0)) == 1.0


# --- closures ----------------------------------------------------------------


def test_closure_changed(module):
    m = module("""
        def make(gain):
            def change(value):
                nonlocal gain
                gain = value
            @accelerate
            def f(a):
                return a * gain
            return f, change
        """)
    f, change = m.make(2.0)
    assert native(f, 3.0) == 6.0
    change(5.0)
    assert native(f, 3.0) == 15.0
    other, _ = m.make(7.0)
    assert native(other, 3.0) == 21.0
    assert native(f, 3.0) == 15.0


def test_closure_array(module):
    m = module("""
        def make(table):
            @accelerate
            def f(i):
                return table[i] + 0.0
            return f
        """)
    table = np.arange(3.0)
    f = m.make(table)
    assert native(f, 1) == 1.0
    table[1] = 9.0
    assert native(f, 1) == 9.0


# --- the file ----------------------------------------------------------------


def test_file_edited_after_import(module):
    m = module("""
        @accelerate
        def f(a):
            return a + 1.0
        """)
    with open(m.__file__) as file:
        text = file.read()
    with open(m.__file__, "w") as file:
        file.write(text.replace("a + 1.0", "a + 2.0"))
    with pytest.warns(vizgen.FallbackWarning, match="VZ-1002"):
        assert m.f(3.0) == 4.0


def test_lines_moved_after_import(module):
    m = module("""
        @accelerate
        def f(a):
            return a + 1.0
        """)
    with open(m.__file__) as file:
        text = file.read()
    with open(m.__file__, "w") as file:
        file.write("# one more line\n" + text)
    with pytest.warns(vizgen.FallbackWarning, match="VZ-1002"):
        assert m.f(3.0) == 4.0


def test_another_function_edited(module):
    m = module("""
        @accelerate
        def f(a):
            return a + 1.0
        def g(a):
            return a
        """)
    with open(m.__file__) as file:
        text = file.read()
    with open(m.__file__, "w") as file:
        file.write(text.replace("return a\n", "return a * 3\n"))
    assert native(m.f, 3.0) == 4.0


def test_file_removed(module):
    m = module("""
        @accelerate
        def f(a):
            return a + 1.0
        """)
    os.unlink(m.__file__)
    with pytest.warns(vizgen.FallbackWarning, match="VZ-1001"):
        assert m.f(3.0) == 4.0


def test_reloaded_module(module):
    m = module("""
        @accelerate
        def f(a):
            return a + 1.0
        """)
    native(m.f, 3.0)
    with open(m.__file__) as file:
        text = file.read()
    with open(m.__file__, "w") as file:
        file.write(text.replace("a + 1.0", "a + 22.0"))
    m.__spec__.loader.exec_module(m)
    assert native(m.f, 3.0) == 25.0


def test_globals_that_never_rest(module):
    m = module("""
        GAIN = 0
        @accelerate
        def f(a):
            return a + GAIN
        """)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for gain in range(60):
            m.GAIN = gain
            assert m.f(1) == 1 + gain
    assert len(caught) == 1 and "VZ-4003" in str(caught[0].message)
    assert m.f.stats.python_calls > 20
