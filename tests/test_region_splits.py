"""Every accepted split, checked by brute force.

Functions with a boundary of each kind and of radius 1 to 3, run for all sizes
from nothing to four more than both borders together, against Python: a round
that is left out, done twice or given to the wrong side of a split shows in the
counts, which the functions add up in place.
"""
import itertools

import numpy as np
import pytest

from vizgen import accelerate

TEMPLATE = """
def run(a):
    h, w = a.shape
    out = np.zeros((h, w))
    count = np.zeros((h, w), dtype=np.int64)
    for y in range(h):
        for x in range(w):
            total = 0.0
            {body}
            out[y, x] = total
            count[y, x] += 1
    return out, count
"""
BODIES = {
    "guard": """if {r} <= y < h - {r} and {r} <= x < w - {r}:
                total = a[y - {r}, x] + a[y, x + {r}] * 3.0""",
    "sides": """if y >= {r}:
                total += a[y - {r}, x]
            if y < h - {r}:
                total += a[y + {r}, x] * 2.0
            if x > {r} - 1:
                total += a[y, x - {r}] * 3.0
            if x + {r} < w:
                total += a[y, x + {r}] * 5.0""",
    "clamp": """total = (a[max(y - {r}, 0), x] + a[min(y + {r}, h - 1), x] * 2.0
                     + a[y, max(x - {r}, 0)] * 3.0
                     + a[y, min(x + {r}, w - 1)] * 5.0)""",
    "wrap": """total = (a[(y - {r}) % h, x] + a[(y + {r}) % h, x] * 2.0
                     + a[y, (x - {r}) % w] * 3.0
                     + a[y, (x + {r}) % w] * 5.0)""",
    "mirror": """up = y - {r} if y >= {r} else {r} - y - 1
            left = x - {r} if x >= {r} else {r} - x - 1
            total = a[min(up, h - 1), min(left, w - 1)] * 3.0""",
    "window": """for d in range(-{r}, {r} + 1):
                if 0 <= y + d < h and 0 <= x - d < w:
                    total = total * 2.0 + a[y + d, x - d]""",
    "one_side": """if x == 0 or y == h - 1:
                total = 1.0
            elif x < {r} + 1:
                total = a[y + 1, x - 1]
            else:
                total = a[y + 1, x - {r}]""",
}


@pytest.mark.parametrize("radius", [1, 2, 3])
@pytest.mark.parametrize("kind", sorted(BODIES))
def test_all_sizes(kind, radius, tmp_path):
    path = tmp_path / f"split_{kind}_{radius}.py"
    path.write_text("import numpy as np\n" + TEMPLATE.format(
        body=BODIES[kind].format(r=radius)))
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    run = space["run"]
    fn = accelerate(run)
    text = fn.explain(np.ones((30, 40)))
    assert "VZ-3005" in text, text
    rng = np.random.default_rng(radius)
    for h, w in itertools.product(range(2 * radius + 5), repeat=2):
        a = rng.random((h, w))
        got, want = fn(a), run(a)
        assert got[0].tobytes() == want[0].tobytes(), (h, w)
        assert np.array_equal(got[1], want[1]), (h, w)
    assert fn.stats.python_calls == 0
