"""The beat of a virtual device: absolute deadlines on the host's monotonic clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from sources.pace import wait_until

__all__ = ["beats"]

MAX_BEHIND_NS = 1_000_000_000
"""A device that is less behind than this delivers late, in a burst, and loses nothing, like one with buffers."""


def beats(rate_hz: float, stop: threading.Event) -> Iterator[tuple[int, int]]:
    """Number and moment (host monotonic, ns) of each capture, from now on, until ``stop`` is set.

    A device that falls back more than a second skips what it missed: its numbers then have a hole, as those of a real
    device would.
    """
    start_ns, number = time.monotonic_ns(), 0
    while True:
        due_ns = start_ns + round(number * 1e9 / rate_hz)
        if not wait_until(due_ns, stop):
            return
        if time.monotonic_ns() - due_ns > MAX_BEHIND_NS:
            number = int((time.monotonic_ns() - start_ns) * rate_hz / 1e9)
            continue
        yield number, due_ns
        number += 1
