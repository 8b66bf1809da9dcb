"""The summary after a take, as a person reads it."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from flows.session_events import EndReason
from flows.summary import SlotSummary, TakeSummary
from launcher.words import printable

__all__ = ["take_table"]

NS_PER_US = 1000
FPS_SHORT = 0.95
"""Below this share of the rows' rate a slot's own rate is marked: one row in twenty repeats a frame."""


def take_table(summary: TakeSummary, notes: Sequence[str] = ()) -> RenderableType:
    """What became of a take: whether it is whole first, then the numbers that say so.

    Real fps, skipped ticks, repeats, drops, largest gap and clock residual; a number that is not as it should be is
    yellow, a failure red.

    Args:
        notes: what else an operator should know of the take.
    """
    parts: list[RenderableType] = [_facts(summary), _slots(summary)]
    losses = _losses(summary)
    if losses is not None:
        parts.append(losses)
    parts += [Text(printable(f"! {warning}"), style="yellow") for warning in notes]
    failed = _is_failure(summary.reason)
    if failed:
        parts.append(
            Text(printable(summary.message) or f"the take ended by itself: {summary.reason}", style="bold red")
        )
    return Panel(
        Group(*parts),
        title=Text.assemble("episode ", (str(summary.k), "bold"), f" of {printable(summary.task)} saved"),
        title_align="left",
        border_style="red" if failed else "yellow" if notes or _is_flawed(summary) else "green",
        box=box.ROUNDED,
    )


def _facts(summary: TakeSummary) -> RenderableType:
    gap = summary.gap_max_ms
    late = f"ticks late by {summary.late_p99_ms:.1f} ms (p99), {summary.late_max_ms:.1f} ms at most"
    return Text.assemble(
        (f"{summary.rows} rows", "bold"),
        f" in {summary.seconds:.2f} s, real fps {summary.fps:.2f}, skipped ticks ",
        _count(summary.skipped_ticks),
        ", lost ",
        _count(summary.lost),
        ", largest gap ",
        Text(_gap(gap) if gap else "none", "yellow" if gap else "green"),
        "\n",
        (late, "dim"),
        (f"; stop to last row {summary.drain_s:.2f} s, commit {summary.commit_s:.2f} s", "dim"),
    )


def _slots(summary: TakeSummary) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("slot", no_wrap=True)
    for name in ("frames", "real fps", "repeats", "drops", "gap", "oldest", "residual"):
        table.add_column(name, justify="right", no_wrap=True)
    wrong = any(slot.wrong_size for slot in summary.slots)
    if wrong:
        table.add_column("wrong size", justify="right")
    for slot in summary.slots:
        cells = [
            Text(slot.slot),
            Text(str(slot.frames)),
            Text(f"{slot.fps:.2f}", "yellow" if slot.fps < FPS_SHORT * summary.fps else ""),
            _count(slot.repeats),
            _count(slot.dropped),
            Text(_gap(slot.gap_max_ms), "yellow" if slot.gap_max_ms else ""),
            Text(f"{slot.late_max_ms:.0f} ms"),
            Text(_residual(slot)),
        ]
        table.add_row(*cells, *([_count(slot.wrong_size)] if wrong else []))
    return table


def _losses(summary: TakeSummary) -> RenderableType | None:
    # What the table above says already is left out.
    told = ("_ms", "_ns", "_repeat_count", "_gap_count", "tick_skip_count", *(slot.slot for slot in summary.slots))
    shown = {key: n for key, n in summary.drop_stats.items() if n and not key.endswith(told)}
    if not shown:
        return None
    words = ", ".join(f"{printable(key)} {value}" for key, value in sorted(shown.items()))
    return Text.assemble(("counted: ", "dim"), words)


def _count(value: int) -> Text:
    return Text(str(value), "yellow" if value else "green")


def _gap(value_ms: float) -> str:
    return f"{value_ms:.0f} ms" if value_ms else "–"


def _residual(slot: SlotSummary) -> str:
    if slot.clock_residual_ns is None:
        return "–"
    return f"{slot.clock_residual_ns / NS_PER_US:.1f} µs"


def _is_failure(reason: str) -> bool:
    return reason in EndReason.__members__.values() and EndReason(reason).is_failure


def _is_flawed(summary: TakeSummary) -> bool:
    return bool(summary.lost or summary.skipped_ticks)
