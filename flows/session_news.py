"""What a session says: every event to its subscribers, and what matters to the log, with device, task and episode."""

from __future__ import annotations

import time
from pathlib import Path

import reactivex as rx
import structlog

from flows.device_link import DeviceLink
from flows.event_stream import EventStream
from flows.preflight import ArmedTake
from flows.session_events import (
    Aborted,
    Armed,
    Committed,
    DeviceChanged,
    Failed,
    Primed,
    Recording,
    RecoveredTake,
    SessionEvent,
)
from flows.summary import TakeSummary
from sinks.recovery import Recovered

__all__ = ["SessionNews"]

_log = structlog.get_logger(__name__)


class SessionNews:
    """Tells what happens in a session on one task."""

    def __init__(self, task: str, task_dir: Path) -> None:
        self._task = task
        self._task_dir = task_dir
        self._stream = EventStream()

    @property
    def events(self) -> rx.Observable[SessionEvent]:
        """Everything that is told."""
        return self._stream.events

    def tell(self, event: SessionEvent) -> None:
        """Tell an event as it is."""
        self._stream.emit(event)

    def close(self) -> None:
        """Nothing will be told any more."""
        self._stream.close()

    def armed(self, armed: ArmedTake) -> None:
        self.tell(
            Armed(
                at_ns=time.monotonic_ns(),
                k=armed.number.k,
                task_dir=str(self._task_dir),
                encoders=armed.encoders,
                disk_free=armed.disk_free,
            )
        )

    def primed(self, k: int, waited_s: float) -> None:
        self.tell(Primed(at_ns=time.monotonic_ns(), k=k, waited_s=waited_s))

    def recording(self, k: int, first_due_ns: int) -> None:
        self._bound(k).info("recording")
        self.tell(Recording(at_ns=time.monotonic_ns(), k=k, first_due_ns=first_due_ns))

    def committed(self, k: int, summary: TakeSummary) -> None:
        self._bound(k).info("episode committed", rows=summary.rows, lost=summary.lost, reason=summary.reason)
        self.tell(Committed(at_ns=time.monotonic_ns(), k=k, summary=summary))

    def aborted(self, k: int, message: str = "") -> None:
        self._bound(k).info("take thrown away", reason=message)
        self.tell(Aborted(at_ns=time.monotonic_ns(), k=k, message=message))

    def recovered(self, found: Recovered) -> None:
        self._bound(found.k).warning("an earlier take was recovered", outcome=found.action, rows=found.rows)
        self.tell(
            RecoveredTake(
                at_ns=time.monotonic_ns(), k=found.k, outcome=found.action, rows=found.rows, problem=found.message
            )
        )

    def failed(self, stage: str, error: Exception, k: int | None = None, kept: str = "") -> None:
        message = str(error) or type(error).__name__
        self._bound(k).error("the session cannot go on", stage=stage, problem=message, kept=kept)
        self.tell(Failed(at_ns=time.monotonic_ns(), stage=stage, message=message, k=k, kept=kept))

    def device(self, link: DeviceLink, k: int | None) -> None:
        """A device's state changed, on the thread on which it did; ``k``: of the running take."""
        # What plays before a take, only to be armed with, comes and goes without news.
        rehearsal = link.starts_with_take and k is None and link.state != "disconnected"
        if link.state == "opening" or rehearsal:
            return
        log = self._bound(k).bind(device=link.flow.key, slots=link.flow.slots)
        if link.state == "disconnected":
            log.warning("device lost", reason=link.reason)
        else:
            log.info("device changed", state=link.state)
        self.tell(
            DeviceChanged(
                at_ns=time.monotonic_ns(),
                device=link.flow.key,
                name=link.flow.name,
                state=link.state,
                reason=link.reason,
            )
        )

    def _bound(self, k: int | None) -> structlog.typing.FilteringBoundLogger:
        bound: structlog.typing.FilteringBoundLogger = _log.bind(task=self._task, episode=k)
        return bound
