"""The capture flow: devices opened once, takes armed, primed, recorded, stopped, committed or thrown away."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import reactivex as rx

from flows.live_view import LiveView, SessionState
from flows.rig import Rig
from flows.session_events import EndReason, SessionEvent
from flows.summary import TakeSummary

__all__ = ["Session", "SessionOptions"]

GIB = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """The numbers of a session.

    Attributes:
        prime_timeout_s: how long a take waits for a frame of every video slot.
        drain_s: how long ticks go on after the wish to stop.
        disk_reserve: bytes that always stay free; a take that reaches it is ended and saved. disk_warning: bytes above
            the reserve below which the operator is warned.
        silence_s: a device that sends nothing for so long is shown as silent.
        gap_min_ms: what counts as a hole between frames.
        app_version: written into info.json; by default that of the installed distribution.
    """

    prime_timeout_s: float = 5.0
    drain_s: float = 1.0
    disk_reserve: int = 2 * GIB
    disk_warning: int = 2 * GIB
    silence_s: float = 1.0
    gap_min_ms: float = 100.0
    app_version: str | None = None


class Session:
    """A rig at work on one task.

    ::

        with Session(rig, Path("data/recordings"), "pour water") as session:
            session.events.subscribe(show)
            session.start(seconds=20)
            session.wait()
            summary = session.stop()

    Devices are opened by ``with`` and stay open between the takes; what they send then is dropped, uncounted. All
    methods are for one thread, the caller's; `live`, `state` and `end_reason` for any. Events come on the thread on
    which they happen: the caller's, the watching one, a device's, never the tick thread; a subscriber that raises is
    cut off and logged.

    Raises:
        RigError, ContractError: the rig does not fit the task.
    """

    def __init__(self, rig: Rig, root: Path, task: str, *, options: SessionOptions | None = None) -> None:
        raise NotImplementedError

    @property
    def events(self) -> rx.Observable[SessionEvent]:
        """What happens; hot, never ends before the session is closed."""
        raise NotImplementedError

    @property
    def task_dir(self) -> Path:
        """The task's directory; it exists from the first take on."""
        raise NotImplementedError

    @property
    def state(self) -> SessionState:
        """Where the session is."""
        raise NotImplementedError

    @property
    def end_reason(self) -> EndReason | None:
        """Why the take ended by itself; None while it goes on, and between takes."""
        raise NotImplementedError

    def __enter__(self) -> Session:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError

    def open(self) -> None:
        """Recover what an earlier recorder left in the task, and open the devices; ``with`` does it."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the devices; a take that still goes on is stopped and saved before. ``with`` does it. Idempotent."""
        raise NotImplementedError

    def start(self, seconds: float | None = None) -> int:
        """Arm, prime and start to record; gives the take's number k.

        Args:
            seconds: the take ends by itself after so many; None: when it is stopped.

        Raises:
            TaskBusyError: another recorder works on the task. ContractError: fps or depth codec differ from what the
            task's first episode fixed. DeviceError: a video slot gave no frame in time. SessionError: no disk left.
        """
        raise NotImplementedError

    def wait(self, timeout_s: float | None = None) -> EndReason | None:
        """Wait until the take has ended by itself; None when ``timeout_s`` went by before."""
        raise NotImplementedError

    def stop(self) -> TakeSummary:
        """End the take (where it has not ended yet), and commit it.

        Raises:
            EpisodeError: it could not be committed; what was recorded stays in staging, for ``recover``.
        """
        raise NotImplementedError

    def discard(self) -> None:
        """End the take and throw it away; its number is free again."""
        raise NotImplementedError

    def live(self) -> LiveView:
        """The session, now; from any thread, cheap enough for ten times a second."""
        raise NotImplementedError
