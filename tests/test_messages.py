"""What is said, and not said, to users: refusals and warnings in their words."""
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import vizgen
from tests.support import assert_same
from vizgen import accelerate, check


def refusal(function, *args):
    with pytest.warns(vizgen.FallbackWarning) as seen:
        function(*args)
    return str(seen[0].message)


def items(pair):
    return len(pair)


@pytest.mark.parametrize("value, words", (
    ((1, np.ones(3)), "a tuple whose item 1 is an array"),
    ((1, {}), "a tuple whose item 1 is of type `dict`"),
    ((1, (2, {3})), "a tuple whose item 1 is a tuple whose item 1 is of type `set`"),
))
def test_tuples(value, words):
    assert words in refusal(accelerate(items), value)


def test_long_long():
    twin = np.longlong if np.dtype(np.longlong).char != "l" else np.int_
    assert "astype(np.int64)" in refusal(accelerate(items), np.ones(3, twin))


def lowered(image, k):
    for i in range(len(image)):
        image[i] += k
    return image


def test_narrow_integers():
    function = accelerate(lowered)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(12):
            with pytest.raises(OverflowError):
                function(np.zeros(3, np.uint8), -1)
    told = [str(w.message) for w in seen if "VZ-4004" in str(w.message)]
    assert "or that of the NumPy integer or array that it meets" in told[0]


def dozen(a):
    return (a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9,
            a + 10, a + 11, a + 12)


def test_many_small_arrays():
    function = accelerate(dozen)
    for size in (1, 2, 11, 30, 31):
        assert_same(function, (np.arange(float(size)),))


SOURCE = r'''from vizgen import accelerate
@accelerate
def slow(n):
    "a text with \d"
    s = {}
    for i in range(n):
        if n is 1:
            s[i] = n
    t = 0
    for i in range(n):
        t += i
    return s, t
'''


def test_warnings_of_the_source(tmp_path):
    """They came when the module was compiled, and don't come again."""
    (tmp_path / "warned.py").write_text(SOURCE)
    program = (
        "import warnings; warnings.simplefilter('ignore'); import warned\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always'); warned.slow(3)\n"
        "print([w.category.__name__ for w in seen\n"
        "       if w.category.__name__ != 'FallbackWarning'])\n")
    env = {**os.environ, "PYTHONPATH": ":".join(
        [str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], env=env, text=True,
                          capture_output=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


CHECKED = "from vizgen import accelerate\n@accelerate\ndef f(n):\n    return {n}\n"


@pytest.mark.parametrize("text", (
    b"\xef\xbb\xbf" + CHECKED.encode(),
    b"# -*- coding: latin-1 -*-\nx = '\xe9'\n" + CHECKED.encode(),
))
def test_encodings(tmp_path, text):
    path = tmp_path / "coded.py"
    path.write_bytes(text)
    assert [item["code"] for item in check.check_file(str(path))] == ["VZ-1003"]


@pytest.mark.parametrize("text", (b"x = '\xe9'\n", b"# coding: nothing\nx = 1\n",
                                  b"x = '''" + b"a" * 9000 + b"\xe9'''\n"))
def test_broken_encodings(tmp_path, text):
    path = tmp_path / "coded.py"
    path.write_bytes(text)
    assert [item["code"] for item in check.check_file(str(path))] == ["syntax"]
    assert json.dumps(check.check_file(str(path)))


def summed(a):
    return np.cumsum(a, axis=(0, 1))[-1]


def test_a_refusal_in_the_library_shows_the_call():
    compiled = accelerate(summed)
    with pytest.warns(vizgen.FallbackWarning) as seen:
        with pytest.raises(TypeError):
            compiled(np.ones((3, 4)))
    text = str(seen[0].message)
    first = text.split("\n")[0]
    assert "test_messages.py" in first and "`cumsum` is not translated" in first
    assert "vizgen/library/numeric.py:" in first
    assert "    return np.cumsum(a, axis=(0, 1))[-1]\n" in text


def named_iterator(a):
    total = 0.0
    pairs = enumerate(a)
    for i, v in pairs:
        total += v * i
    return total


def inner_generator(a):
    def squares(x):
        for v in x:
            yield v * v
    total = 0.0
    for v in squares(a):
        total += v
    return total


def texts_by_return(a):
    if a[0] > 1:
        return "more", 1
    return "less", 2


def shape_with_gaps(a):
    return a.reshape(2, -1).sum()


@pytest.mark.parametrize("function, a, words", (
    (named_iterator, np.ones(3), ("an iterator that has a name", "the `for`")),
    (inner_generator, np.ones(3), ("function inside of another", "module")),
    (texts_by_return, np.ones(3), ("returns", "a number that stands for")),
    (shape_with_gaps, np.ones((4, 6))[:, ::2], ("may have gaps", "copy()")),
))
def test_what_to_do(function, a, words):
    text = " ".join(refusal(accelerate(function), a).split())
    assert all(word in text for word in words), text
