"""Takes events from whatever thread they happen on to one thread that may wait for a terminal or a pipe."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from types import TracebackType

import structlog

from flows.session_events import SessionEvent

__all__ = ["Delivery"]

BOUND = 4096
CLOSE_S = 2.0
"""A reader that does not read must not keep a saved take from ending."""

_log = structlog.get_logger(__name__)


class Delivery:
    """Hands events, in order, to ``show`` on a thread of its own.

    `put` is for any thread, the tick thread too: it never blocks; where the reader stands still for thousands of
    events, the newest are dropped and counted in `dropped`. ``show`` that raises OSError (terminal or pipe closed)
    is not called again; the recording goes on.
    """

    def __init__(self, show: Callable[[SessionEvent], None]) -> None:
        self._show = show
        self._queue: queue.Queue[SessionEvent | threading.Event | None] = queue.Queue(BOUND)
        self._thread = threading.Thread(target=self._run, name="event-delivery", daemon=True)
        self.dropped = 0

    def __enter__(self) -> Delivery:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._queue.put(None, timeout=CLOSE_S)
        except queue.Full:
            return
        self._thread.join(CLOSE_S)
        if self.dropped:
            _log.warning("events were not shown: their reader stood still", dropped=self.dropped)

    def put(self, event: SessionEvent) -> None:
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self.dropped += 1

    def flush(self) -> None:
        """Wait until everything put so far has been shown, at most two seconds."""
        shown = threading.Event()
        try:
            self._queue.put(shown, timeout=CLOSE_S)
        except queue.Full:
            return
        shown.wait(CLOSE_S)

    def _run(self) -> None:
        closed = False
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            if closed:
                continue
            try:
                self._show(item)
            except OSError as error:
                closed = True
                _log.warning("events cannot be shown any more, recording goes on", reason=str(error))
            except Exception:  # noqa: BLE001 - one event that cannot be shown must not keep the next ones from it
                _log.exception("an event could not be shown", shown=type(item).__name__)
