"""What a session tells while it works: small frozen records, in the order in which things happen."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from flows.summary import TakeSummary

__all__ = [
    "Aborted",
    "Armed",
    "Committed",
    "DeviceChanged",
    "EndReason",
    "Failed",
    "Primed",
    "Recording",
    "RecoveredTake",
    "SessionEvent",
    "Stopped",
    "Warned",
    "event_record",
]


class EndReason(enum.StrEnum):
    """Why a take ended. All but `STOPPED`, `SECONDS` and `SOURCE_ENDED` are failures, of which the operator is told."""

    STOPPED = "stopped"
    SECONDS = "seconds"
    SOURCE_ENDED = "source_ended"
    DISK_RESERVE = "disk_reserve"
    ENCODER_FAILED = "encoder_failed"
    ENCODER_TOO_SLOW = "encoder_too_slow"
    WRITER_FAILED = "writer_failed"

    @property
    def is_failure(self) -> bool:
        """Whether the take ended before anybody wanted it to; it is saved as far as it is good."""
        return self not in (EndReason.STOPPED, EndReason.SECONDS, EndReason.SOURCE_ENDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """Root of the events. ``at_ns``: host monotonic clock, ns."""

    at_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredTake(SessionEvent):
    """A take that an earlier recorder left behind was dealt with when the task was opened.

    ``k``: its number. ``outcome``: what became of it: ``rolled forward``, ``rebuilt`` or ``removed``. ``rows``:
    that were kept. ``problem``: more of it, for an operator.
    """

    k: int
    outcome: str
    rows: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed(SessionEvent):
    """Preflight passed and the number is reserved.

    ``encoders``: slot to encoder name. ``disk_free``: bytes free for recordings, above the reserve.
    """

    k: int
    task_dir: str
    encoders: Mapping[str, str]
    disk_free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Primed(SessionEvent):
    """Every video slot has a frame newer than the start. ``waited_s``: how long that took."""

    k: int
    waited_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording(SessionEvent):
    """The first tick is due at ``first_due_ns``, host monotonic clock, ns."""

    k: int
    first_due_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChanged(SessionEvent):
    """A device came, fell silent, went, or came to its end; the rows go on."""

    device: str
    name: str
    state: Literal["connected", "silent", "disconnected", "ended"]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(SessionEvent):
    """Something an operator should know while the take goes on.

    ``code``: stable, e.g. ``disk_low``, ``wrong_size``, ``gap``, ``channel_fault``, ``encoder_load``. ``about``: the
    slot, column or device, "" for the whole.
    """

    code: str
    message: str
    about: str = ""
    k: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(SessionEvent):
    """The last row is made; the commit follows. ``drain_s``: from the wish to stop to the last row."""

    k: int
    reason: EndReason
    rows: int
    drain_s: float
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed(SessionEvent):
    """The episode stands in the task."""

    k: int
    summary: TakeSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Aborted(SessionEvent):
    """The take was thrown away; its number is free again."""

    k: int
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(SessionEvent):
    """Something could not be done: arming, priming, committing. The same error is raised to the caller.

    ``stage``: ``open``, ``arm``, ``prime``, ``record`` or ``commit``. ``kept``: a staging folder that is still
    there, to be recovered, or "".
    """

    stage: str
    message: str
    k: int | None = None
    kept: str = field(default="")


def event_record(event: SessionEvent) -> dict[str, Any]:
    """The event as plain JSON values, ``event`` naming its class in lower case."""
    record: dict[str, Any] = msgspec.to_builtins(event)
    return {"event": type(event).__name__.lower(), **record}
