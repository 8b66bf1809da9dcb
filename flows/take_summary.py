"""Sums a committed take up."""

from __future__ import annotations

from flows.recording import RunningTake
from flows.session_events import EndReason
from flows.summary import SlotSummary, TakeSummary
from flows.take import Take
from flows.take_port import VideoPort
from sinks.commit import Committed

__all__ = ["take_summary"]

MS = 1e6


def take_summary(running: RunningTake, committed: Committed, *, task: str, commit_s: float) -> TakeSummary:
    """What is told of a take.

    Args:
        running: over. committed: what became of it. commit_s: from the last row to here.
    """
    take = running.take
    seconds = (take.last_row_ns - take.first_row_ns + take.period_ns) / 1e9
    late_p99_ms, late_max_ms = take.late_ms()
    return TakeSummary(
        k=running.k,
        task=task,
        reason=str(take.reason or EndReason.STOPPED),
        message="; ".join(part for part in (take.message, _cut(committed)) if part),
        rows=committed.rows,
        seconds=seconds,
        fps=take.rows / seconds,
        skipped_ticks=take.skipped,
        late_p99_ms=late_p99_ms,
        late_max_ms=late_max_ms,
        slots=tuple(_slot(port, take, committed, seconds) for port in take.videos),
        drop_stats=committed.drop_stats,
        drain_s=running.drain_s,
        commit_s=commit_s,
        warnings=(*running.warnings, *committed.warnings),
        data_path=str(committed.data_path),
    )


def _cut(committed: Committed) -> str:
    if not committed.cut_rows:
        return ""
    return f"{committed.cut_rows} rows that were not whole in every file are left out"


def _slot(port: VideoPort, take: Take, committed: Committed, seconds: float) -> SlotSummary:
    gap = take.gaps[port.key]
    repeats: int = getattr(port.cell, "repeated", 0)
    fresh = max(0, take.rows - repeats)
    late_ns: int = getattr(port.cell, "late_max_ns", 0)
    return SlotSummary(
        slot=port.key,
        frames=committed.rows,
        fresh=fresh,
        fps=fresh / seconds,
        repeats=repeats,
        dropped=port.lost,
        wrong_size=port.wrong_size,
        gap_count=gap.count,
        gap_ms=gap.total_ns / MS,
        gap_max_ms=gap.max_ns / MS,
        late_max_ms=late_ns / MS,
        clock_residual_ns=committed.clock_residual_ns.get(port.key),
    )
