"""Modules that are imported when they are first needed.

A process may fork while another of its threads is importing.  That thread
doesn't exist in the child, so whoever needs the module there would wait for
its end for ever.  Hence a fork waits for an import that goes through load(),
and load() for a fork.  Neither waits longer than PATIENCE seconds: an import
may be waiting for a module whose own import is what forks, and no wait of
ours may then be the one that never ends.
"""

import _thread  # as threading does; that is slow to import
import importlib
import os

PATIENCE = 1.0

_lock = _thread.RLock()
_held = {}  # of each thread that forks: did it get the lock?


def load(name):
    """The module 'name', imported where it isn't yet."""
    lock = _lock  # in the child of a fork by the import there is another one
    got = lock.acquire(timeout=PATIENCE)
    try:
        return importlib.import_module(name)
    finally:
        if got:
            lock.release()


def _before_fork():
    _held[_thread.get_ident()] = _lock.acquire(timeout=PATIENCE)


def _in_parent():
    if _held.pop(_thread.get_ident()):
        _lock.release()


def _in_child():
    global _lock, _held
    _lock, _held = _thread.RLock(), {}


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent,
                    after_in_child=_in_child)
