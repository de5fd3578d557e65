"""The tables of NumPy's ziggurats, read where NumPy has them.

numpy.random draws normal and exponential numbers with the ziggurat method (G.
Marsaglia and W. W. Tsang, "The ziggurat method for generating random
variables", J. Stat. Softw. 5, 2000) from tables of 256 numbers each.  They
were computed once, in arithmetic that can't be repeated to the last bit, and
stand as constants in NumPy's own module.  There they are found by their first
two numbers, and known by a digest; a module that has others is one whose
streams are not known.
"""

import hashlib

import numpy as np
import numpy.random

_TABLES = {
    # name: (its dtype, how it begins, the digest of its 2048 bytes)
    "NORMAL_BELOW": (
        "<u8", "6aef25803df30e000000000000000000",
        "565295797825931547a1036f5b012a247be54abbe077c39fe06c8ed1e9d0a5a9"),
    "NORMAL_WIDTH": (
        "<f8", "79d915783b49cf3cc6f6fde30b8d8b3c",
        "33c6472209e1d09ea3548f0291e5e1ad67fb4f1d0305e9f1086689584b7bb7fa"),
    "NORMAL_HEIGHT": (
        "<f8", "000000000000f03f87f079c96a44ef3f",
        "acd898d9d87e212f657755ba43b21e40958090a7ff2103c9e79f4ea1b0fe2bc5"),
    "EXPONENTIAL_BELOW": (
        "<u8", "c697242714521c000000000000000000",
        "785bcf5a662793cf25870d33474a750da43f0e903fa734292e1eeefb38e8efce"),
    "EXPONENTIAL_WIDTH": (
        "<f8", "c15dbf94ec64d13c19415d8b9d58603c",
        "12751415cc5c2d3a76783f682d265bbfdd63c8775b4d3ded9926d3bb673871a1"),
    "EXPONENTIAL_HEIGHT": (
        "<f8", "000000000000f03f371188e54505ee3f",
        "1f4b2a07fcf8396e73fc378ce2199c83cf46da21f0d6469f43375c29cb2d8635"),
}

_BYTES = 2048


def read():
    """The tables by name, or None."""
    try:
        with open(numpy.random._generator.__file__, "rb") as file:
            module = file.read()
    except (OSError, AttributeError):
        return None
    found = {name: _find(module, *row) for name, row in _TABLES.items()}
    return found if all(t is not None for t in found.values()) else None


def _find(module, dtype, head, digest):
    """The table in the bytes of the module, or None."""
    head = bytes.fromhex(head)
    at = module.find(head)
    while at >= 0:
        text = module[at:at + _BYTES]
        if hashlib.sha256(text).hexdigest() == digest:
            return np.frombuffer(text, dtype).astype(dtype[1:])
        at = module.find(head, at + 1)
    return None
