"""The stream of a session's events: no subscriber can disturb the session or another subscriber."""

from __future__ import annotations

import threading

import reactivex as rx
import structlog
from reactivex import abc
from reactivex.disposable import Disposable

from flows.session_events import SessionEvent

__all__ = ["EventStream"]

_log = structlog.get_logger(__name__)


class EventStream:
    """Tells every event to every subscriber, one event at a time, on the thread that emits it.

    A subscriber that raises is cut off and logged; the others and the emitter go on.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._observers: list[abc.ObserverBase[SessionEvent]] = []
        self._closed = False
        self.events: rx.Observable[SessionEvent] = rx.Observable(self._subscribe)

    def emit(self, event: SessionEvent) -> None:
        with self._lock:
            for observer in tuple(self._observers):
                try:
                    observer.on_next(event)
                except Exception:  # noqa: BLE001 - whatever it raises, it must not end a take
                    self._remove(observer)
                    _log.exception("a subscriber of the session's events failed and is cut off")

    def close(self) -> None:
        """Complete the stream; later events are told to nobody. Idempotent."""
        with self._lock:
            observers, self._observers, self._closed = self._observers, [], True
            for observer in observers:
                try:
                    observer.on_completed()
                except Exception:  # noqa: BLE001 - as above
                    _log.exception("a subscriber of the session's events failed at its end")

    def _subscribe(
        self, observer: abc.ObserverBase[SessionEvent], scheduler: abc.SchedulerBase | None = None
    ) -> abc.DisposableBase:
        with self._lock:
            if self._closed:
                observer.on_completed()
            else:
                self._observers.append(observer)
        return Disposable(lambda: self._remove(observer))

    def _remove(self, observer: abc.ObserverBase[SessionEvent]) -> None:
        with self._lock:
            if observer in self._observers:
                self._observers.remove(observer)
