"""VZ-2012: a function too large to compile."""


def h0(x):
    return (x * 1.5 + x * 2.5) / (x * x + 1.0) + x * 0.5 - x / 3.0


def h1(x):
    return h0(x) + h0(x + 1) + h0(x + 2) + h0(x + 3) + h0(x + 4) + h0(x + 5)


def h2(x):
    return h1(x) + h1(x + 1) + h1(x + 2) + h1(x + 3) + h1(x + 4) + h1(x + 5)


def h3(x):
    return h2(x) + h2(x + 1) + h2(x + 2) + h2(x + 3) + h2(x + 4) + h2(x + 5)


def h4(x):
    return h3(x) + h3(x + 1) + h3(x + 2) + h3(x + 3) + h3(x + 4) + h3(x + 5)


def h5(x):
    return h4(x) + h4(x + 1) + h4(x + 2) + h4(x + 3) + h4(x + 4) + h4(x + 5)


def subject(x):
    return h5(x) + h5(x + 1) + h5(x + 2) + h5(x + 3) + h5(x + 4) + h5(x + 5)


def changed(x):
    total = h1(x)
    for k in range(1, 6):
        total = total + h1(x + k)
    return total


def arguments():
    return (1.0,)


# >>> refusal
# VZ_2012_size.py:28:1  VZ-2012  `subject` with all that it calls is too large to
#     compile
# <<<
