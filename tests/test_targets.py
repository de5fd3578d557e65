"""What a function may not store into, and what must not crash for it: global
names, items of constants, attributes.  Python runs such functions."""
import copy
import types

import numpy as np
import pytest

from vizgen import accelerate

from .support import difference

STATE = {}


def fresh():
    STATE.clear()
    STATE.update(count=3, items=[1, 2, 3], table={"a": 1, "b": [1.0]},
                 pair=(1, 2), grid=np.arange(4.0), text="abc", lists=[[1], [2]],
                 box=types.SimpleNamespace(n=1, a=[1, 2]))
    globals().update({name.upper(): value for name, value in STATE.items()})


fresh()
COUNT, ITEMS, TABLE, PAIR, GRID, TEXT, LISTS, BOX = STATE.values()


def adds(n):
    global COUNT
    for i in range(n):
        COUNT += i
    return COUNT


def assigns(n):
    global COUNT
    COUNT = n
    return COUNT


def walrus(n):
    global COUNT
    if (COUNT := n) > 2:
        return n
    return 0


def unpacks(n):
    global COUNT
    COUNT, other = n, 1
    return other


def loops(n):
    global COUNT
    for COUNT in range(n):
        pass
    return n


def adds_to_array(n):
    global GRID
    GRID += n
    return n


def new_array(n):
    global GRID
    GRID = GRID + n
    return n


def deletes(n):
    global COUNT
    del COUNT
    return n


def dict_item(n):
    TABLE["a"] = n


def dict_new(n):
    TABLE["c"] = n


def dict_adds(n):
    TABLE["a"] += n
    return TABLE["a"]


def dict_list(n):
    TABLE["b"][0] = n


def list_item(n):
    ITEMS[0] = n


def list_adds(n):
    for i in range(3):
        ITEMS[i] += n
    return ITEMS[0]


def list_slice(n):
    ITEMS[:] = [n]


def list_part(n):
    ITEMS[1:] += [n]


def list_delete(n):
    del ITEMS[0]
    return n


def list_append(n):
    ITEMS.append(n)
    return len(ITEMS)


def list_deep(n):
    LISTS[0][0] = n


def list_extend(n):
    global ITEMS
    ITEMS += [n]
    return n


def tuple_item(n):
    PAIR[0] = n


def tuple_adds(n):
    PAIR[0] += n


def text_item(n):
    TEXT[0] = "x"


def attribute(n):
    BOX.n = n


def attribute_adds(n):
    BOX.n += n


def attribute_item(n):
    BOX.a[0] += n


def local_tuple(n):
    t = (n, 2)
    t[0] = 1
    return t


def local_slice(n):
    t = [n, 2, 3]
    t[0:2] = [7]
    return t


def local_slice_adds(n):
    t = [n, 2, 3]
    t[1:] += [7]
    return t


def local_dict(n):
    d = {"a": n}
    d["a"] += 1
    d["b"] = 2
    return d["a"]


def argument_tuple(n, pair=(1, 2)):
    pair[1] = n


def number(n):
    n[0] = 1


def number_adds(n):
    n[0] += 1


def call_item(n):
    abs(n)[0] = 1


def array_shape(n):
    a = np.zeros(4)
    a.shape = (2, 2)
    return a


FUNCTIONS = [f for f in list(globals().values())
             if isinstance(f, types.FunctionType) and f.__module__ == __name__
             and f is not fresh]


def outcome(function):
    """What three calls give, and the globals after them."""
    fresh()
    got = []
    for n in (5, 2, 5):
        try:
            got.append(copy.deepcopy(function(n)))
        except Exception as error:
            got.append((type(error).__name__, str(error)))
    state = {name: globals().get(name.upper(), "gone") for name in STATE}
    state["box"] = vars(state["box"])
    return got, copy.deepcopy(state)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_target(function):
    want = outcome(function)
    got = outcome(accelerate(function))
    fresh()
    assert difference(got[0], want[0]) is None
    assert got[1].keys() == want[1].keys()
    for name, value in want[1].items():
        assert difference(got[1][name], value) is None, name


@pytest.mark.filterwarnings("ignore")
def test_nonlocal():
    def counter():
        c = 0

        def inc(n):
            nonlocal c
            c += n
            return c

        return inc

    fast, slow = accelerate(counter()), counter()
    assert [fast(k) for k in (1, 5, 7)] == [slow(k) for k in (1, 5, 7)]
