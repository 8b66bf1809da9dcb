"""Listens to a source in a test: what it emitted, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import reactivex as rx

from operators.events import Event, Frame, Point

__all__ = ["Listener"]

TIMEOUT_S = 30.0


class Listener:
    """Subscribes for the length of a ``with`` block.

    Attributes:
        events: so far. error: what the source failed with, or None. completed: whether it came to its end.
    """

    def __init__(self, source: rx.Observable[Event]) -> None:
        self._source = source
        self._changed = threading.Condition()
        self.events: list[Event] = []
        self.error: Exception | None = None
        self.completed = False

    def __enter__(self) -> Listener:
        self._subscription = self._source.subscribe(self._on_next, self._on_error, self._on_completed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._subscription.dispose()

    def until(self, holds: Callable[[Listener], bool]) -> Listener:
        """Wait until something holds, or the source has ended."""
        with self._changed:
            met = self._changed.wait_for(lambda: holds(self) or self.ended, TIMEOUT_S)
        assert met, f"nothing of the kind within {TIMEOUT_S} s, {len(self.events)} events"
        return self

    def until_count(self, count: int) -> Listener:
        return self.until(lambda listener: len(listener.events) >= count)

    def until_end(self) -> Listener:
        return self.until(lambda _listener: False)

    @property
    def ended(self) -> bool:
        return self.completed or self.error is not None

    def items(self, port: str) -> list[Any]:
        return [event.item for event in self.events if event.port == port]

    def frames(self, port: str) -> list[Frame]:
        return self.items(port)

    @property
    def points(self) -> list[Point]:
        return self.items("trajectory")

    def _on_next(self, event: Event) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def _on_error(self, error: Exception) -> None:
        with self._changed:
            self.error = error
            self._changed.notify_all()

    def _on_completed(self) -> None:
        with self._changed:
            self.completed = True
            self._changed.notify_all()
