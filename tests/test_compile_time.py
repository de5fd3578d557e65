"""What the compiler itself takes for programs that are long in one way.

Seconds are those of the processor, and far above what is needed: the point is
that no pass takes time by the square of the length, or worse.
"""
import time

import numpy as np
import pytest

from vizgen import accelerate

pytestmark = pytest.mark.usefixtures("usual_compiler")

SECONDS = 8


def function(tmp_path, body):
    """The function 'f' of a file, since source is read from there."""
    path = tmp_path / "long_program.py"
    path.write_text("import numpy as np\n\n\ndef f(a):\n" + body)
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["f"]


def branches(n):
    lines = "".join(f"        elif v == {i}:\n            t += {i * 7 % 13}\n"
                    for i in range(1, n))
    return ("    t = 0\n    for v in a:\n        if v == 0:\n"
            f"            t += 5\n{lines}    return t\n")


def keys(n):
    items = ",\n         ".join(f"{7 * i % 1009}: {3 * i}" for i in range(n))
    return (f"    d = {{{items}}}\n    t = 0\n    for v in a:\n"
            "        t += d.get(v, 0)\n    return t\n")


def names(n):
    lines = "".join(f"    x{i + 1} = a[{i % 5}] * {i} + x{i}\n"
                    for i in range(n))
    return f"    x0 = 0\n{lines}    return x{n}\n"


@pytest.mark.parametrize("body, n", [(branches, 200), (keys, 200),
                                     (names, 200)])
def test_no_pass_is_slow(tmp_path, body, n):
    fast = accelerate(function(tmp_path, body(n)))
    start = time.process_time()
    text = fast.inspect_c(np.arange(8))
    assert time.process_time() - start < SECONDS
    assert "k_f(" in text


def test_room_for_a_list_is_made_once(tmp_path):
    items = ", ".join(str(7 * i % 101) for i in range(200))
    body = (f"    d = [{items}]\n    for v in a:\n        d.append(v)\n"
            "    return d\n")
    text = accelerate(function(tmp_path, body)).inspect_c(np.arange(8))
    assert text.count("vz_extend(") < 10


def sorted_again(a, s):
    v = [k * np.int16(1 in s) for k in range(a.shape[0])]
    for i in v:
        w = sorted(v)
        v = sorted(w)
    total = 0.5 - np.floor(np.sum(np.abs(a)))
    return i, w, total


@pytest.mark.timeout(120)
def test_sorting_networks_in_a_loop():
    """Their values share parts, so that there are exponentially many paths
    from one to its operands."""
    fast = accelerate(sorted_again)
    for n in (6, 5, 12):
        a = np.arange(n, dtype=np.uint8)
        start = time.process_time()
        assert fast(a, (1, 2))[1] == list(range(n))
        assert time.process_time() - start < SECONDS
    assert fast.stats.native_calls == 3
