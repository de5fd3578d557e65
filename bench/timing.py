"""Interleaved timing: every round times every contender once."""
import gc
import time

from vizgen import _core

SAMPLE = 5e-3    # seconds that one measured value should last


def ratio(mine, theirs):
    """(median, low, high) of mine over theirs, pair by pair, with 95 %
    limits: below 1, mine is faster."""
    return _core.tune_ratio(mine, theirs)


def _batch(call):
    """How often 'call' fits into one sample; 'call' is warm afterwards."""
    call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    return max(1, min(10000, round(SAMPLE / once)))


def interleaved(contenders, pairs):
    """{name: [seconds per call]} for {name: callable}, 'pairs' values each.
    Neighbouring values are taken one after the other, in an order that
    rotates, so that a slow moment of the machine hits all alike."""
    names = list(contenders)
    batches = {name: _batch(contenders[name]) for name in names}
    times = {name: [] for name in names}
    gc.disable()
    try:
        for round_ in range(pairs):
            shift = round_ % len(names)
            for name in names[shift:] + names[:shift]:
                call, batch = contenders[name], batches[name]
                start = time.perf_counter()
                for _ in range(batch):
                    call()
                times[name].append((time.perf_counter() - start) / batch)
    finally:
        gc.enable()
    return times
