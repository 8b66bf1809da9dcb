"""What is told of a take once it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from episodes.drop_stats import total_lost

__all__ = ["SlotSummary", "TakeSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSummary:
    """One video slot of a take.

    Attributes:
        slot: its name. frames: in its file, as many as rows. fresh: of these, not repeated.
        fps: fresh frames a second of the take.
        repeats: rows that show the frame of an earlier row. dropped: frames that came and got no row, counted.
        wrong_size: frames that came in another size than at the start, each replaced by the one before.
        gap_count, gap_ms, gap_max_ms: holes of 100 ms and more between fresh frames, beyond the device's period; ms.
        late_max_ms: the greatest age of a frame when its row was made; ms.
        clock_residual_ns: the largest distance of a device stamp from the fitted clock, ns; None for host clocks.
    """

    slot: str
    frames: int
    fresh: int
    fps: float
    repeats: int = 0
    dropped: int = 0
    wrong_size: int = 0
    gap_count: int = 0
    gap_ms: float = 0.0
    gap_max_ms: float = 0.0
    late_max_ms: float = 0.0
    clock_residual_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSummary:
    """A take that was committed.

    Attributes:
        k: its number, 0-based. reason: why it ended (a value of `flows.session_events.EndReason`). message: in words,
            where the reason is a failure.
        rows: length. seconds: from the first to the last tick, plus a period. fps: rows a second, measured.
        skipped_ticks: deadlines without a row. late_p99_ms, late_max_ms: lateness of the ticks, ms.
        slots: one summary a video slot. drop_stats: as in the episodes row.
        drain_s: from the wish to stop to the last row. commit_s: from the last row (from the call, where the
            take had ended before) to the committed episode.
        warnings: what was warned of during the take, in order.
        data_path: the episode's data parquet.
    """

    k: int
    task: str
    reason: str
    message: str
    rows: int
    seconds: float
    fps: float
    skipped_ticks: int
    late_p99_ms: float
    late_max_ms: float
    slots: tuple[SlotSummary, ...]
    drop_stats: Mapping[str, int]
    drain_s: float
    commit_s: float
    warnings: tuple[str, ...]
    data_path: str

    @property
    def lost(self) -> int:
        """Frames and samples lost, all counted: the one sanctioned total of ``drop_stats``."""
        return total_lost(self.drop_stats)

    @property
    def gap_max_ms(self) -> float:
        """The largest hole of any slot, ms."""
        return max((slot.gap_max_ms for slot in self.slots), default=0.0)
