"""A session on fake devices, with everything that it tells kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from episodes.validator import validate_task
from flows.device import DeviceFlow
from flows.rig import Rig
from flows.session import Session, SessionOptions
from flows.session_events import SessionEvent

__all__ = ["Told", "deep_findings", "open_session", "threads", "wait_until"]

E = TypeVar("E", bound=SessionEvent)


class Told:
    """The events of a session, in order."""

    def __init__(self, session: Session) -> None:
        self.events: list[SessionEvent] = []
        session.events.subscribe(self.events.append)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in tuple(self.events) if isinstance(event, kind)]

    def names(self) -> list[str]:
        """The names of what concerns takes, not devices."""
        return [name for event in self.events if (name := type(event).__name__) not in ("DeviceChanged", "Warned")]


def open_session(
    flows: Sequence[DeviceFlow], root: Path, task: str = "pour water", *, fps: float = 30, **fields: Any
) -> tuple[Session, Told]:
    """A session, not yet open, with small reserves."""
    options = {"disk_reserve": 1, "disk_warning": 1, "app_version": "0.0.0", **fields}
    rig = Rig("bench", flows, fps=fps, video_codec="libx264", depth_codec="ffv1")
    session = Session(rig, root, task, options=SessionOptions(**options))
    return session, Told(session)


def wait_until(condition: Callable[[], object], timeout_s: float = 20) -> None:
    """Wait for a condition that another thread brings about."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.01)


def threads() -> set[str]:
    """Names of the threads that run now."""
    return {thread.name for thread in threading.enumerate()}


def deep_findings(task_dir: Path) -> list[str]:
    """What the validator has against a task, every frame decoded."""
    report = validate_task(task_dir, deep=True)
    return [f"{finding.severity} {finding.rule}: {finding.message}" for finding in report.findings]
