"""What a loop carries keeps its order: no parallel loop, no SIMD."""
import numpy as np

from vizgen import accelerate


@accelerate
def run(a):
    total = 0
    for i in range(a.shape[0]):
        total += a[i]
    return total


def arguments():
    return (np.full(1000, 0.1),)


def main():
    print(repr(run(*arguments())), repr(run(np.zeros(0))))


# >>> run
# np.float64(99.9999999999986) 0
# <<<
# >>> stats
# native_calls 2
# python_calls 0
# <<<
# >>> remark
# 10  VZ-3002
# 10  VZ-3004
# <<<
