"""VZ-1003: an expression that is not translated."""


def subject(n):
    squares = {i * i for i in range(n)}
    return len(squares)


def changed(n):
    square = 0
    for i in range(n):
        if i == 2:
            square = i * i
    return square


def arguments():
    return (5,)


# >>> refusal
# VZ_1003_comprehension.py:5:15  VZ-1003  a set is not translated
# <<<
