"""VZ-2005: an operation without a translation for its types."""


def subject(mode):
    return len(mode * 2)


def changed(mode):
    return len(mode) * 2


def arguments():
    return ("clamp",)


# >>> refusal
# VZ_2005_operation.py:5:16  VZ-2005  `*` is not translated for str
# <<<
