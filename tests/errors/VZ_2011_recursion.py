"""VZ-2011: a recursive function."""


def subject(n):
    if n < 2:
        return n
    return subject(n - 1) + subject(n - 2)


def changed(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def arguments():
    return (20,)


# >>> refusal
# VZ_2011_recursion.py:7:12  VZ-2011  `subject` calls itself here
# <<<
