"""What can be seen of a running session, read directly, not through the ticks."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

__all__ = ["ColumnView", "DeviceView", "LiveView", "SessionState", "SlotView"]


class SessionState(enum.StrEnum):
    """Where a session is."""

    CLOSED = "closed"
    IDLE = "idle"
    ARMING = "arming"
    PRIMING = "priming"
    RECORDING = "recording"
    ENDED = "ended"
    """The take ended by itself; `Session.stop` saves it, `Session.discard` throws it away."""
    COMMITTING = "committing"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotView:
    """One video slot, now.

    Attributes:
        fps: frames received a second, over about the last second.
        waiting: frames that wait for their row. age_s: since the newest frame came; None before the first.
        repeats, dropped, wrong_size: of the running take.
        encoder: its name, "" before arming. encoder_load: busy share of the last second, 0 to 1 (more than 0.9 is a
            warning). encoder_waiting: frames in the encoder's queue.
    """

    slot: str
    kind: Literal["rgb", "depth"]
    device: str
    fps: float
    waiting: int
    age_s: float | None
    repeats: int
    dropped: int
    wrong_size: int
    encoder: str
    encoder_load: float
    encoder_waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnView:
    """One column that is not video, now: its rate over about the last second, and the age of its newest item."""

    column: str
    device: str
    rate: float
    age_s: float | None
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceView:
    """One device, now. ``reason``: why it is not connected, fit for an operator to read."""

    key: str
    name: str
    kind: str
    state: Literal["opening", "connected", "silent", "disconnected", "ended"]
    reason: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveView:
    """A session, now.

    Attributes:
        k: number of the running take, None between takes. rows: so far. seconds: since the first tick.
        skipped_ticks, late_max_ms: of the running take.
        disk_free: bytes above the reserve. disk_minutes: of recording that fit into it at the running take's rate; None
            while unknown.
    """

    state: SessionState
    task: str
    k: int | None
    rows: int
    seconds: float
    skipped_ticks: int
    late_max_ms: float
    disk_free: int
    disk_minutes: float | None
    slots: tuple[SlotView, ...]
    columns: tuple[ColumnView, ...]
    devices: tuple[DeviceView, ...]
