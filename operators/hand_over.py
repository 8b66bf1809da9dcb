"""hand_over: from a device's thread to the tick thread, bounded and counted."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import reactivex as rx
from reactivex.subject import Subject

__all__ = ["HandOver"]

T = TypeVar("T")


class HandOver(Generic[T]):
    """A bounded queue between two threads: ``put`` on the device's, ``drain`` on the tick thread.

    .. marble::

        put:    a-bc---d-e-|
        drain:  ---D-----D-|
        items:  ---(abc)-(de)-

    ``put`` never blocks and takes no lock that the other side holds. When ``bound`` items wait, the oldest goes and is
    counted in ``dropped``. One thread may put at a time, one may drain.
    """

    def __init__(self, bound: int) -> None:
        self._waiting: deque[T] = deque(maxlen=bound)
        self._bound = bound
        self._subject: Subject[T] = Subject()
        self._put = 0
        self._taken = 0
        self._cleared = 0

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
        """Items that went because the queue was full."""
        return max(0, self._put - self._taken - self._cleared - len(self._waiting))

    def put(self, item: T) -> None:
        # A deque with maxlen drops its oldest in the same step: no moment in which two threads see it overfull.
        self._waiting.append(item)
        self._put += 1

    def drain(self) -> int:
        """Push everything that waits into `items`, in order; gives how many."""
        waiting, subject, taken = self._waiting, self._subject, 0
        for _ in range(len(waiting)):
            try:
                item = waiting.popleft()
            except IndexError:
                break
            self._taken += 1
            taken += 1
            subject.on_next(item)
        return taken

    def clear(self) -> None:
        """Forget what waits and start to count anew: a new take."""
        self._waiting.clear()
        self._put = self._taken = self._cleared = 0
