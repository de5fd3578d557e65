"""Helpers that several applications may call."""


def randrange(seed, a, b):
    """A number of a .. b - 1 that depends on 'seed' only: a hash of its 32
    bits, by two halves that are multiplied and carried."""
    upper = (seed & 0xFFFFFFFF) ^ ((seed & 0xFFFF) << 16)
    lower = (seed & 0xFFFFFFFF) ^ 0xFFFFFFFF
    lower = 36969 * (lower & 65535) + (lower >> 16)
    upper = 18000 * (upper & 65535) + (upper >> 16)
    return a + (((lower << 16) + (upper & 65535)) & 0xFFFFFFFF) % (b - a)
