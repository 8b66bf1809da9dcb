"""Views, summaries and a session that records nothing, for the tests of the launcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.live_view import DeviceView, LiveView, SessionState, SlotView
from flows.session_events import EndReason
from flows.summary import SlotSummary, TakeSummary


def slot_view(slot: str = "head_rgb", **changes: Any) -> SlotView:
    values: dict[str, Any] = {
        "slot": slot,
        "kind": "rgb",
        "device": "camera:0",
        "fps": 30.0,
        "waiting": 1,
        "age_s": 0.021,
        "repeats": 0,
        "dropped": 0,
        "wrong_size": 0,
        "encoder": "libx264",
        "encoder_load": 0.2,
        "encoder_waiting": 2,
    }
    return SlotView(**(values | changes))


def live_view(**changes: Any) -> LiveView:
    values: dict[str, Any] = {
        "state": SessionState.RECORDING,
        "task": "pour water",
        "k": 3,
        "rows": 219,
        "seconds": 7.3,
        "skipped_ticks": 0,
        "late_max_ms": 1.2,
        "disk_free": 50 << 30,
        "disk_minutes": 143.0,
        "slots": (slot_view(),),
        "columns": (),
        "devices": (device_view(),),
    }
    return LiveView(**(values | changes))


def device_view(**changes: Any) -> DeviceView:
    values: dict[str, Any] = {
        "key": "camera:0",
        "name": "head",
        "kind": "camera",
        "state": "connected",
        "reason": "",
        "failures": 0,
    }
    return DeviceView(**(values | changes))


def take_summary(k: int = 0, **changes: Any) -> TakeSummary:
    values: dict[str, Any] = {
        "k": k,
        "task": "pour water",
        "reason": "stopped",
        "message": "",
        "rows": 300,
        "seconds": 10.0,
        "fps": 30.0,
        "skipped_ticks": 0,
        "late_p99_ms": 0.4,
        "late_max_ms": 1.1,
        "slots": (SlotSummary(slot="head_rgb", frames=300, fresh=300, fps=30.0),),
        "drop_stats": {"imu_overflow": 0},
        "drain_s": 0.03,
        "commit_s": 0.2,
        "warnings": (),
        "data_path": "data/chunk-000/episode-000.parquet",
    }
    return TakeSummary(**(values | changes))


class PlayedSession:
    """Gives its reasons one a `wait`, and notes what it is asked for.

    ``reasons``: what each `wait` gives, None once they are used up.
    """

    def __init__(self, reasons: Sequence[EndReason | None] = ()) -> None:
        self.asked: list[str] = []
        self.reasons = list(reasons)
        self._k = 0
        self._reason = EndReason.STOPPED

    def start(self, seconds: float | None = None) -> int:
        self.asked.append("start")
        return self._k

    def wait(self, timeout_s: float | None = None) -> EndReason | None:
        reason = self.reasons.pop(0) if self.reasons else None
        self._reason = reason or EndReason.STOPPED
        return reason

    def stop(self) -> TakeSummary:
        self.asked.append("stop")
        self._k += 1
        return take_summary(self._k - 1, reason=self._reason.value)

    def discard(self) -> None:
        self.asked.append("discard")
