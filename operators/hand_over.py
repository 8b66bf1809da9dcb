"""hand_over: from a device's thread to the tick thread, bounded and counted."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Generic, TypeVar

import reactivex as rx
from reactivex.subject import Subject

__all__ = ["HandOver"]

T = TypeVar("T")


class HandOver(Generic[T]):
    """A bounded queue between threads: ``put`` on the devices', ``drain`` on the tick thread.

    .. marble::

        put:    a-bc----d-e-----|
        drain:  ----D-------D---|
        items:  ----(abc)---(de)-

    ``put`` never waits for the tick thread. When ``bound`` items wait, the oldest goes and is counted in ``dropped``.
    Any thread may put; one drains and clears.

    Attributes:
        last_put_ns: when the newest item was put, host monotonic clock, ns; None before the first.

    Args:
        bound: items that may wait, ≥ 1.
    """

    def __init__(self, bound: int) -> None:
        if bound < 1:
            raise ValueError(f"bound must be at least 1, not {bound}")
        self._waiting: deque[T] = deque(maxlen=bound)
        self._subject: Subject[T] = Subject()
        # Between those who put, for the count; held for a microsecond, and never while items are handed on.
        self._lock = threading.Lock()
        self._put = 0
        self._taken = 0
        self.last_put_ns: int | None = None

    @property
    def items(self) -> rx.Observable[T]:
        """What `drain` pushes, on the thread that drains."""
        return self._subject

    @property
    def waiting(self) -> int:
        """Items that wait."""
        return len(self._waiting)

    @property
    def dropped(self) -> int:
        """Items that went because the queue was full; exact, at any time and on any thread."""
        with self._lock:
            return self._put - self._taken - len(self._waiting)

    def put(self, item: T) -> None:
        with self._lock:
            # A deque with maxlen drops its oldest in the same step.
            self._waiting.append(item)
            self._put += 1
            self.last_put_ns = time.monotonic_ns()

    def drain(self) -> int:
        """Push everything that waits into `items`, in order; gives how many.

        What comes meanwhile is for the next drain, so that a flood cannot keep the tick thread here.
        """
        drained = 0
        for _ in range(len(self._waiting)):
            with self._lock:
                if not self._waiting:
                    break
                item = self._waiting.popleft()
                self._taken += 1
            drained += 1
            self._subject.on_next(item)
        return drained

    def clear(self) -> None:
        """Forget what waits and start to count anew: a new take."""
        with self._lock:
            self._waiting.clear()
            self._put = self._taken = 0
            self.last_put_ns = None
