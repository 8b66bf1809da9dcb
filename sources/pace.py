"""The pace of what is played as a live device: waits to absolute deadlines, interruptible."""

from __future__ import annotations

import threading
import time

__all__ = ["wait_until"]


def wait_until(due_ns: int, stop: threading.Event) -> bool:
    """Wait until ``due_ns`` of the host's monotonic clock; False once ``stop`` is set. A past moment is no wait."""
    while (rest_ns := due_ns - time.monotonic_ns()) > 0:
        # In slices, so that no moment however far overflows the wait.
        if stop.wait(min(rest_ns / 1e9, 3600.0)):
            return False
    return not stop.is_set()
