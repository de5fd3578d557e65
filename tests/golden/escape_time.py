"""A while loop with a break, inside a parallel loop."""
import numpy as np

from vizgen import accelerate


@accelerate
def run(size, limit):
    out = np.zeros((size, size))
    for r in range(size):
        for c in range(size):
            x, y = 0.0, 0.0
            n = 0
            while n < limit:
                if x * x + y * y > 4.0:
                    break
                x, y = (x * x - y * y + 3.0 * c / size - 2.0,
                        2.0 * x * y + 2.0 * r / size - 1.0)
                n += 1
            out[r, c] = n
    return out


def arguments():
    return 40, 50


def main():
    out = run(*arguments())
    print(out.sum(), out.max(), out[20, 26])


# >>> run
# 27831.0 50.0 50.0
# <<<
# >>> stats
# native_calls 1
# python_calls 0
# <<<
# >>> remark
# 9  VZ-3015
# 10  VZ-3001
# 10  VZ-3012
# 11  VZ-3003
# <<<
