"""A thread that works off what the tick thread hands to it, behind a bounded queue."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["RowThread"]

T = TypeVar("T")
CLOSE_S = 60.0


class RowThread(Generic[T]):
    """Hands items, in order, to ``work`` on a thread of its own; the one that puts never waits.

    Args:
        work: takes the items that wait. bound: items that may wait.
        interval_s: how often ``work`` is called, with all that wait; 0 for at once, with one item.
        on_error: told once, on the thread, when ``work`` raised; no item is taken after that.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[list[T]], None],
        *,
        bound: int,
        interval_s: float,
        on_error: Callable[[Exception], None],
    ) -> None:
        self._work = work
        self._bound = bound
        self._interval_s = interval_s
        self._most = bound if interval_s else 1
        self._on_error = on_error
        self._items: deque[T] = deque()
        self._room = threading.Condition()
        self._wake = threading.Event()
        self._closing = False
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Items in the queue."""
        return len(self._items)

    def has_room(self) -> bool:
        """Whether `put` may be called now; one thread puts, so room does not vanish."""
        return self.error is None and len(self._items) < self._bound

    def wait_for_room(self) -> bool:
        """Wait for a place; False when the work has failed."""
        with self._room:
            while len(self._items) >= self._bound and self.error is None:
                self._wake.set()
                self._room.wait(0.1)
        return self.error is None

    def put(self, item: T) -> None:
        self._items.append(item)
        if not self._interval_s:
            self._wake.set()

    def close(self) -> None:
        """Work off what waits, and end."""
        self._closing = True
        self._wake.set()
        self._thread.join(CLOSE_S)

    def _run(self) -> None:
        while True:
            closing = self._closing
            if not closing:
                if self._interval_s or not self._items:
                    self._wake.wait(self._interval_s or None)
                self._wake.clear()
            # Only what waits now: the queue may grow for ever while it is emptied.
            items = [self._items.popleft() for _ in range(min(len(self._items), self._most))]
            if items and self.error is None:
                try:
                    self._work(items)
                except Exception as error:  # noqa: BLE001 - whatever fails ends the take, and is told
                    self.error = error
                    self._on_error(error)
            with self._room:
                self._room.notify_all()
            if closing and not self._items:
                return
