"""Objects that are made in the call and assigned to."""
import dataclasses
import warnings

import numpy as np
import pytest

from tests.test_objects import check
from vizgen import accelerate
from vizgen.compare import difference

class Lcg:
    def __init__(self, seed, scale=1.0):
        self.state = seed
        self.scale = scale

    def next(self):
        self.state = (self.state * 1103515245 + 12345) & 0x7fffffff
        return self.state * self.scale


@dataclasses.dataclass
class Body:
    x: float
    v: float = 0.5
    trail: object = None

    def move(self, dt):
        self.x += self.v * dt
        if self.x > 2:
            self.v = -self.v
            return True
        return False


def stateful(seed, n):
    r = Lcg(seed, scale=0.5)
    total = 0.0
    for i in range(n):
        total += r.next()
        if total > 1e9:
            r.scale *= 0.25
    return total, r.state, r


def make_lcg(seed):
    r = Lcg(seed)
    r.state += 1
    return r


def by_a_function(seed, n):
    a, b = make_lcg(seed), make_lcg(n)
    c = a
    for _ in range(n):
        c.next()
        b.state += a.state
    return a.state, b.state, c is a, c is b, a is not b


def with_arrays(x, n):
    body = Body(x)
    body.trail = np.zeros(4)
    for i in range(n):
        if body.move(0.75):
            body.trail[i % 4] += body.x
    body.x, body.v = body.v, body.x
    return body.trail, body.x, [body.v, (1, body.x)]


def returned_early(x, n):
    body = Body(x, v=2)
    while n > 0:
        if body.move(n):
            return body, n
        n -= 1
    body.x = -1.0
    return body, 0


@pytest.mark.parametrize("program", [
    stateful, by_a_function, with_arrays, returned_early])
def test_objects_that_change(program):
    for args in ((3, 5), (7, 1), (1, 0)):
        check(accelerate(program), program, lambda: args)


def two_kinds(x, n):
    body = Body(x) if n > 2 else Body(x + 1)
    body.x += 1
    return body.x


def made_in_a_loop(x, n):
    last = Body(x)
    for i in range(n):
        body = Body(i)
        body.x += last.x
        last = body
    return last.x


def put_into_a_list(x, n):
    body = Body(x)
    both = [body, body]
    body.x += 1
    return both[0].x, both


def kept_by_an_argument(x, holder):
    body = Body(x)
    holder.body = body
    body.x += 1
    return body.x


@pytest.mark.parametrize("program", [
    two_kinds, made_in_a_loop, put_into_a_list, kept_by_an_argument])
def test_changes_left_to_python(program):
    fn = accelerate(program)
    for k in (1, 4):
        args = [(2.0, Body(1.0) if program is kept_by_an_argument else k)
                for _ in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, want = fn(*args[0]), program(*args[1])
        assert difference((got, args[0]), (want, args[1])) is None
        if program is put_into_a_list:
            assert got[1][0] is got[1][1]
