"""How the interpreter is tuned while something is recorded."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator

__all__ = ["tuned_for_recording"]

SWITCH_S = 0.0005
"""How long a busy thread may keep the tick thread waiting for the GIL; the default of 5 ms is most of a late tick."""

_lock = threading.Lock()
_users = 0
_before_s = 0.005


@contextlib.contextmanager
def tuned_for_recording() -> Iterator[None]:
    """Short switch interval, and a garbage collector that passes over all that was there before the take.

    Takes of several sessions share it: the first one sets it, the last one puts it back. `gc.freeze` keeps a full
    collection, which stops every thread, from walking the modules and the rig; the take's own garbage is collected
    as ever.
    """
    global _users, _before_s
    with _lock:
        _users += 1
        if _users == 1:
            _before_s = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_S)
            gc.collect()
            gc.freeze()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.setswitchinterval(_before_s)
                gc.unfreeze()
