"""What Python evaluates is evaluated, whether its value is needed or not."""
import numpy as np
import pytest

from tests.support import assert_same
from vizgen import accelerate


def nothing(a):
    a[0] += 1


def zero(a):
    a[0] += 1
    return 0


def dtype(a):
    a[0] += 1
    return np.float32


def fails(a):
    a[0] += 1
    raise ValueError("told")


def doubled(a):
    a[0] *= 2
    return 3


def head(a):
    a[0] += 1
    return int(a[0])


def some(x, y=None):
    return x


def which(a):
    a[0] += 1
    return some


# The type of an argument tells its value: None, a constant, a dtype, a text.
TOLD = (
    lambda a, v: np.clip(v, 0, nothing(a)),
    lambda a, v: np.clip(v + a[0], nothing(a), 4),
    lambda a, v: np.clip(a[0], zero(a), a[0]),
    lambda a, v: np.clip(v, a[0], nothing(a)),
    lambda a, v: v.clip(0, nothing(a)),
    lambda a, v: np.sqrt(v, out=nothing(a)),
    lambda a, v: a[0] + a.sum(axis=nothing(a)) + a[0],
    lambda a, v: np.mean(v, zero(a)),
    lambda a, v: np.var(v, ddof=zero(a)),
    lambda a, v: np.ones(3, nothing(a)),
    lambda a, v: np.zeros_like(v, dtype(a)),
    lambda a, v: v.astype(dtype(a)),
    lambda a, v: dtype(a)(3),
    lambda a, v: which(a)(a[0]),
    lambda a, v: np.asarray(v, nothing(a)),
    lambda a, v: round(2.5, nothing(a)),
    lambda a, v: np.concatenate((v, a), zero(a)),
    lambda a, v: np.stack((v, a), zero(a)),
    lambda a, v: np.argsort(v, zero(a), nothing(a)),
    lambda a, v: sorted([3, 1], reverse=zero(a)),
    lambda a, v: sorted([k for k in range(3)], reverse=zero(a)),
    lambda a, v: np.clip(v, 0, fails(a)),
    lambda a, v: v.sum(axis=fails(a)),
    lambda a, v: np.clip(v, 0, np.diff(a[:, None, None])),
    lambda a, v: np.clip(v, 0, fails(a)) if a[0] > 5 else a[0],
)
SLICES = (
    lambda a, v: v[nothing(a):],
    lambda a, v: v[:nothing(a)],
    lambda a, v: v[::nothing(a)],
    lambda a, v: v[zero(a):],
    lambda a, v: (1, 2, 3)[zero(a):],
    lambda a, v: [k for k in range(3)][:zero(a)],
    lambda a, v: np.array([1.0, a[1], 3.0])[zero(a):],
    lambda a, v: v[int(a[0]):head(a)],
    lambda a, v: v[fails(a):],
)
# NumPy's functions have their arguments in another order than the call.
ORDER = (
    lambda a, v: np.clip(v, a_max=doubled(a), a_min=zero(a)),
    lambda a, v: np.zeros(dtype=dtype(a), shape=doubled(a)),
    lambda a, v: np.full(fill_value=a[0], shape=doubled(a)),
    lambda a, v: some(y=zero(a), x=doubled(a)),
)


@pytest.mark.filterwarnings("ignore::vizgen.FallbackWarning")
@pytest.mark.parametrize("part", TOLD + SLICES + ORDER)
def test_calls_in_arguments(part):
    def run(a, v):
        x = part(a, v)
        return x, a[0]

    fast = accelerate(run)
    for _ in range(2):
        assert_same(fast, (np.array([1.0, 2, 3]), np.array([3.0, 5, 4])),
                    native=False)


def test_calls_in_arguments_are_native():
    def run(a, v):
        return np.clip(v, 0, nothing(a)), v.sum(axis=zero(a)), a[0]

    fast = accelerate(run, strict=True)
    assert_same(fast, (np.array([1.0, 2, 3]), np.array([3.0, 5, 4])))
